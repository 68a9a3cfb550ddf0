/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/pdf/pdf_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/chart/chart.h"
#include "reports/content/content.h"
#include "reports/format/format.h"

enum { LISTED_LINES = 12, LISTED_PLACES = 3, NUMBER_BYTES = 24 };

static const double label_room = 92, part_gap = 2, card_gap = 10, first_lines = 34, title_lines = 2;

static const struct tm_pdf_style title_style = { .face = TM_PDF_BOLD, .size = 10, .role = TM_ROLE_TEXT };

/* The label to the left of the content. */
static void put_label(struct tm_pdf *pdf, const char *label)
{
    pdf->y += part_gap;
    tm_pdf_reserve(pdf, 2 * tm_pdf_leading(&tm_pdf_body));
    tm_pdf_text_at(pdf, &tm_pdf_label, pdf->left, pdf->y + tm_pdf_body.size, label);
}

static void put_prose(struct tm_pdf *pdf, const char *text)
{
    tm_pdf_encode_prose(pdf, pdf->text, sizeof(pdf->text), text);
    tm_pdf_wrapped(pdf, &tm_pdf_body, label_room, pdf->text);
}

static void put_lines(struct tm_pdf *pdf, const char *label, const struct tm_value *list, bool is_numbered)
{
    const size_t n = tm_length(list), shown = n < LISTED_LINES ? n : LISTED_LINES;
    char sign[NUMBER_BYTES] = "\xe2\x80\xa2";

    for (size_t i = 0; i < shown; i++) {
        if (i == 0)
            put_label(pdf, label);
        tm_pdf_reserve(pdf, tm_pdf_leading(&tm_pdf_body));
        if (is_numbered)
            (void)snprintf(sign, sizeof(sign), "%zu.", i + 1);
        if (n > 1)
            tm_pdf_text_at(pdf, &tm_pdf_label, pdf->left + label_room - 11, pdf->y + tm_pdf_body.size, sign);
        put_prose(pdf, tm_text(tm_at(list, i)));
    }
    if (n > shown) {
        (void)snprintf(pdf->text, sizeof(pdf->text), "and %zu more, in %s.html", n - shown, pdf->document->file);
        tm_pdf_wrapped(pdf, &tm_pdf_quiet, label_room, pdf->text);
    }
}

/* Places, one after another. */
static void put_places(struct tm_pdf *pdf, const struct tm_value *where)
{
    struct tm_place place;
    char text[LISTED_PLACES * TM_FINDING_BYTES];
    size_t used = 0;

    for (size_t i = 0; i < tm_length(where) && i < LISTED_PLACES && used < sizeof(text); i++) {
        tm_place_make(&place, pdf->summary, tm_at(where, i));
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? "; " : "", place.text);
    }
    if (used == 0)
        return;
    put_label(pdf, "Where to look");
    tm_pdf_encode(pdf, pdf->text, sizeof(pdf->text), text);
    tm_pdf_wrapped(pdf, &tm_pdf_body, label_room, pdf->text);
}

static void put_section_link(struct tm_pdf *pdf, const struct tm_value *finding)
{
    const struct tm_section *section = tm_section_of_finding(pdf->summary, finding);
    struct tm_pdf_style style = tm_pdf_body;

    if (!section)
        return;
    style.role = TM_ROLE_SERIES;
    put_label(pdf, "More");
    (void)snprintf(pdf->text, sizeof(pdf->text), "Section \xe2\x80\x9c%s\xe2\x80\x9d", section->title);
    tm_pdf_add_link(pdf,
                    &(struct tm_pdf_box){ pdf->left + label_room, pdf->y,
                                          tm_pdf_width(pdf, &style, pdf->text, strlen(pdf->text)),
                                          tm_pdf_leading(&style) },
                    section->id, 0);
    tm_pdf_wrapped(pdf, &style, label_room, pdf->text);
}

static void put_file_link(struct tm_pdf *pdf, const struct tm_value *finding)
{
    const char *path = tm_finding_link(finding);
    struct tm_pdf_style style = tm_pdf_body;

    if (!path)
        return;
    style.role = TM_ROLE_SERIES;
    put_label(pdf, "Report");
    tm_pdf_encode(pdf, pdf->text, sizeof(pdf->text), path);
    tm_pdf_add_file_link(pdf,
                         &(struct tm_pdf_box){ pdf->left + label_room, pdf->y, pdf->right - pdf->left - label_room,
                                               tm_pdf_leading(&style) },
                         path);
    tm_pdf_wrapped(pdf, &style, label_room, pdf->text);
}

double tm_pdf_finding_least(const struct tm_pdf *pdf)
{
    return title_lines * tm_pdf_leading(&title_style) + 2 * tm_pdf_leading(&tm_pdf_strong) + first_lines +
           (pdf->y > pdf->top ? card_gap : 0);
}

/* "critical: potential savings 1.51 s of device time, 80.6 % of the window" */
static void put_stake(struct tm_pdf *pdf, const struct tm_value *finding, enum tm_role role)
{
    const char *severity = tm_text(tm_get(finding, "severity"));
    struct tm_pdf_style style = tm_pdf_strong;
    char stake[TM_FINDING_BYTES], line[TM_FINDING_BYTES + NUMBER_BYTES];

    style.role = role;
    tm_finding_stake(stake, finding);
    (void)snprintf(line, sizeof(line), "%.16s%s%s", severity, *severity && *stake ? ": " : "", stake);
    tm_pdf_encode(pdf, pdf->text, sizeof(pdf->text), line);
    tm_pdf_wrapped(pdf, &style, 0, pdf->text);
}

void tm_pdf_finding(struct tm_pdf *pdf, const struct tm_value *finding, size_t number)
{
    const enum tm_role role = tm_pdf_role_of_tone(tm_tone_of(tm_text(tm_get(finding, "severity"))));
    const char *cause = tm_text(tm_get(finding, "cause"));
    char title[TM_FINDING_BYTES];

    (void)snprintf(title, sizeof(title), "%zu.  %s", number, tm_text(tm_get(finding, "title")));
    tm_pdf_begin_card(pdf, role);
    tm_pdf_add_place(pdf, 1, NULL, number, title);
    tm_pdf_begin_tag(pdf, TM_PDF_TAG_HEADING, NULL);
    tm_pdf_encode_prose(pdf, pdf->text, sizeof(pdf->text), title);
    tm_pdf_wrapped(pdf, &title_style, 0, pdf->text);
    tm_pdf_begin_tag(pdf, TM_PDF_TAG_TEXT, NULL);
    put_stake(pdf, finding, role);
    put_lines(pdf, "Evidence", tm_get(finding, "evidence"), false);
    if (*cause) {
        put_label(pdf, "Cause");
        put_prose(pdf, cause);
    }
    put_lines(pdf, "Recommendations", tm_get(finding, "fix"), true);
    put_places(pdf, tm_get(finding, "where"));
    put_file_link(pdf, finding);
    put_section_link(pdf, finding);
    tm_pdf_end_card(pdf);
    pdf->y += card_gap;
}

enum {
    TOP_FINDINGS = 5,
    FINDINGS_LEAST = 3,
    TITLE_LINES = 2,
    NOTE_LINES = 6,
    FACT_LINES = 3,
    VERDICT_LINES = 8,
    FIX_LINES = 2
};

static const double front_top = 44, fact_label = 66, fact_gap = 18, heading_gap = 13, heading_room = 17,
                    number_room = 16, chart_gap = 10, finding_room = 40;

static const struct tm_pdf_style kicker = { .face = TM_PDF_BOLD, .size = 7, .role = TM_ROLE_SERIES },
                                 cover_title_style = { .face = TM_PDF_BOLD, .size = 19, .role = TM_ROLE_TEXT },
                                 subtitle = { .face = TM_PDF_REGULAR, .size = 10, .role = TM_ROLE_QUIET },
                                 verdict_style = { .face = TM_PDF_BOLD, .size = 10.5, .role = TM_ROLE_TEXT },
                                 heading_style = { .face = TM_PDF_BOLD, .size = 10.5, .role = TM_ROLE_TEXT };

/* A text of at most this many lines at the pen, which moves below it. */
static void put(struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text, int lines)
{
    const struct tm_pdf_box box = { pdf->left, pdf->y, tm_pdf_column(pdf), 0 };

    tm_pdf_encode_prose(pdf, pdf->text, sizeof(pdf->text), text);
    tm_pdf_fit(pdf, style, pdf->text, box.width, lines);
    pdf->y += tm_pdf_text_in(pdf, style, &box, pdf->text);
}

static void put_heading(struct tm_pdf *pdf, const char *text)
{
    pdf->y += heading_gap;
    tm_pdf_begin_tag(pdf, TM_PDF_TAG_SECTION, NULL);
    tm_pdf_text_at(pdf, &heading_style, pdf->left, pdf->y + heading_style.size, text);
    tm_pdf_begin_tag(pdf, TM_PDF_TAG_TEXT, NULL);
    pdf->y += heading_room;
}

/* --- the run --- */

static void put_titles(struct tm_pdf *pdf)
{
    pdf->y = front_top;
    tm_pdf_begin_tag(pdf, TM_PDF_TAG_TEXT, NULL);
    put(pdf, &kicker, pdf->document->kicker, 1);
    pdf->y += 1;
    tm_pdf_begin_tag(pdf, TM_PDF_TAG_TITLE, NULL);
    put(pdf, &cover_title_style, pdf->front.title, TITLE_LINES);
    tm_pdf_begin_tag(pdf, TM_PDF_TAG_TEXT, NULL);
    put(pdf, &subtitle, pdf->front.subtitle, TITLE_LINES);
    pdf->y += 6;
}

static void put_partial(struct tm_pdf *pdf)
{
    const double height = 20;
    struct tm_pdf_style style = tm_pdf_strong;

    style.role = TM_ROLE_PAPER;
    tm_pdf_rect(pdf, TM_ROLE_BAD, &(struct tm_pdf_box){ pdf->left, pdf->y, tm_pdf_column(pdf), height });
    tm_pdf_encode(pdf, pdf->text, TM_PDF_CELL_BYTES, pdf->front.partial);
    tm_pdf_fit(pdf, &style, pdf->text, tm_pdf_column(pdf) - 16, 1);
    tm_pdf_text_at(pdf, &style, pdf->left + 8, pdf->y + 13, pdf->text);
    pdf->y += height + 8;
}

static void put_note(struct tm_pdf *pdf)
{
    tm_pdf_begin_card(pdf, TM_ROLE_GRID);
    put(pdf, &tm_pdf_body, pdf->front.note, NOTE_LINES);
    tm_pdf_end_card(pdf);
    pdf->y += 8;
}

/* A fact in its half of the page.  out: its height */
static double put_fact(struct tm_pdf *pdf, size_t at, double x, double width)
{
    const struct tm_pdf_box box = { x + fact_label, pdf->y, width - fact_label, 0 };

    tm_pdf_text_at(pdf, &tm_pdf_label, x, pdf->y + tm_pdf_body.size, pdf->front.fact[at].title);
    tm_pdf_encode(pdf, pdf->text, TM_PDF_CELL_BYTES, pdf->front.fact[at].text);
    tm_pdf_fit(pdf, &tm_pdf_body, pdf->text, box.width, FACT_LINES);
    return tm_pdf_text_in(pdf, &tm_pdf_body, &box, pdf->text);
}

/* In pairs. */
static void put_facts(struct tm_pdf *pdf)
{
    const double width = (tm_pdf_column(pdf) - fact_gap) / 2;

    for (size_t i = 0; i < pdf->front.facts; i += 2) {
        double height = put_fact(pdf, i, pdf->left, width);

        if (i + 1 < pdf->front.facts)
            height = fmax(height, put_fact(pdf, i + 1, pdf->left + width + fact_gap, width));
        pdf->y += height + 1;
    }
    pdf->y += 7;
}

/* --- the verdict --- */

static void put_verdict(struct tm_pdf *pdf)
{
    const enum tm_role role = tm_pdf_role_of_tone(pdf->front.tone);
    const char *text = *pdf->front.verdict ? pdf->front.verdict
                                           : "No verdict: the profile does not contain enough "
                                             "data.";
    const double inner = tm_pdf_column(pdf) - 28;
    double height;

    tm_pdf_encode_prose(pdf, pdf->text, sizeof(pdf->text), text);
    tm_pdf_fit(pdf, &verdict_style, pdf->text, inner, VERDICT_LINES);
    height = tm_pdf_lines(pdf, &verdict_style, pdf->text, inner) * tm_pdf_leading(&verdict_style) + 16;
    tm_pdf_tinted_rect(pdf, role, 0.09, &(struct tm_pdf_box){ pdf->left, pdf->y, tm_pdf_column(pdf), height });
    tm_pdf_rect(pdf, role, &(struct tm_pdf_box){ pdf->left, pdf->y, 4, height });
    (void)tm_pdf_text_in(pdf, &verdict_style, &(struct tm_pdf_box){ pdf->left + 16, pdf->y + 7, inner, 0 }, pdf->text);
    pdf->y += height;
}

/* --- key figures --- */

/* The meaning of the letters beside the figures. */
static void put_marks(struct tm_pdf *pdf)
{
    const struct tm_value *marks = tm_path(pdf->summary, "coverage.marks"), *kpis = tm_get(pdf->summary, "kpis");
    char line[TM_FRONT_BYTES];

    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++) {
        bool is_shown = false;

        for (size_t k = 0; k < tm_length(kpis); k++)
            is_shown |= tm_mark_is_of_kpi(tm_at(marks, i), tm_at(kpis, k));
        if (!is_shown)
            continue;
        (void)snprintf(line, sizeof(line), "[%c] %s", tm_mark_letter(i), tm_text(tm_get(tm_at(marks, i), "text")));
        put(pdf, &tm_pdf_quiet, line, TITLE_LINES);
    }
}

static const double kpi_height = 13.4;

/* Parts of the column: their starts or ends. */
static const double value_end = 0.37, scale_begin = 0.40, scale_end = 0.58, word_begin = 0.605, rest_begin = 0.70;

static const double scale_height = 5, band_gap = 1, marker_width = 2.4, marker_over = 2.6, pale = 0.3;

/* Bad, warning, good from left to right; the part of the value is in full color. */
static void draw_scale(struct tm_pdf *pdf, const struct tm_key_figure *kpi, double y)
{
    static const enum tm_role roles[] = { TM_ROLE_BAD, TM_ROLE_WARNING, TM_ROLE_GOOD };
    static const char *const bands[] = { "critical", "warning", "good" };
    const double x = pdf->left + scale_begin * tm_pdf_column(pdf);
    const double width = (scale_end - scale_begin) * tm_pdf_column(pdf), part = (width - 2 * band_gap) / 3;

    for (int i = 0; i < 3; i++)
        tm_pdf_tinted_rect(pdf, roles[i], strcmp(bands[i], kpi->band) == 0 ? 0.85 : pale,
                           &(struct tm_pdf_box){ x + i * (part + band_gap), y, part, scale_height });
    tm_pdf_rect(pdf, TM_ROLE_PAPER,
                &(struct tm_pdf_box){ x + kpi->place * (width - marker_width) - 1, y - marker_over, marker_width + 2,
                                      scale_height + 2 * marker_over });
    tm_pdf_rect(pdf, TM_ROLE_TEXT,
                &(struct tm_pdf_box){ x + kpi->place * (width - marker_width), y - marker_over, marker_width,
                                      scale_height + 2 * marker_over });
}

/* The assessment and its limits, "critical", "good > 80%, critical < 50%". */
static void draw_words(struct tm_pdf *pdf, const struct tm_key_figure *kpi, double baseline)
{
    struct tm_pdf_style word = tm_pdf_strong;
    const double width = tm_pdf_column(pdf);
    char limits[4 * TM_FORMAT_BYTES] = "", see[TM_FORMAT_BYTES] = "";

    if (kpi->finding)
        (void)snprintf(see, sizeof(see), "; finding %zu", kpi->finding);
    word.role = tm_pdf_role_of_tone(tm_tone_of(kpi->band));
    tm_pdf_encode(pdf, pdf->cell[0], TM_PDF_CELL_BYTES, kpi->band);
    tm_pdf_fit(pdf, &word, pdf->cell[0], (rest_begin - word_begin) * width - 4, 1);
    tm_pdf_text_at(pdf, &word, pdf->left + word_begin * width, baseline, pdf->cell[0]);
    if (*kpi->good || *kpi->bad)
        (void)snprintf(limits, sizeof(limits), "%s%s%s%s%s%s", *kpi->good ? "good " : "", kpi->good,
                       *kpi->good && *kpi->bad ? ", " : "", *kpi->bad ? "critical " : "", kpi->bad, see);
    tm_pdf_encode(pdf, pdf->cell[0], TM_PDF_CELL_BYTES, limits);
    tm_pdf_fit(pdf, &tm_pdf_quiet, pdf->cell[0], (1 - rest_begin) * width, 1);
    tm_pdf_text_at(pdf, &tm_pdf_quiet, pdf->left + rest_begin * width, baseline, pdf->cell[0]);
}

static void draw_why(struct tm_pdf *pdf, const struct tm_key_figure *kpi, double baseline)
{
    const char *why = *kpi->why ? kpi->why : "no limit is set";

    tm_pdf_encode(pdf, pdf->cell[0], TM_PDF_CELL_BYTES, why);
    tm_pdf_fit(pdf, &tm_pdf_quiet, pdf->cell[0], (1 - scale_begin) * tm_pdf_column(pdf), 1);
    tm_pdf_text_at(pdf, &tm_pdf_quiet, pdf->left + scale_begin * tm_pdf_column(pdf), baseline, pdf->cell[0]);
}

/* A key figure in a row at the pen, which moves below it: title, value, a scale of three parts with the position of the
 * value, the assessment in words with its limits.  If there is no assessment, the reason is shown. */
static void put_kpi(struct tm_pdf *pdf, const struct tm_key_figure *kpi)
{
    const double width = tm_pdf_column(pdf), baseline = pdf->y + 9.4;
    const struct tm_pdf_style *value_style = kpi->has_value ? &tm_pdf_strong : &tm_pdf_quiet;
    char sign[TM_SIGN_BYTES], value[TM_FORMAT_BYTES + TM_SIGN_BYTES];

    (void)snprintf(value, sizeof(value), "%s%s", kpi->has_value ? kpi->value : "not recorded",
                   kpi->has_value ? tm_sign_of_kpi(sign, pdf->summary, kpi->kpi) : "");
    tm_pdf_encode(pdf, pdf->cell[0], TM_PDF_CELL_BYTES, value);
    tm_pdf_encode(pdf, pdf->cell[1], TM_PDF_CELL_BYTES, kpi->title);
    tm_pdf_fit(pdf, &tm_pdf_body, pdf->cell[1],
               value_end * width - tm_pdf_width(pdf, value_style, pdf->cell[0], strlen(pdf->cell[0])) - 6, 1);
    tm_pdf_text_at(pdf, &tm_pdf_body, pdf->left, baseline, pdf->cell[1]);
    tm_pdf_text_right(pdf, value_style, pdf->left + value_end * width, baseline, pdf->cell[0]);
    if (kpi->place >= 0 && tm_tone_of(kpi->band) != TM_TONE_UNKNOWN)
        draw_scale(pdf, kpi, baseline - scale_height - 0.6);
    if (*kpi->band && ((kpi->place >= 0 && tm_tone_of(kpi->band) != TM_TONE_UNKNOWN) || (kpi->has_value && !*kpi->why)))
        draw_words(pdf, kpi, baseline);
    else
        draw_why(pdf, kpi, baseline);
    pdf->y += kpi_height;
    tm_pdf_rule(pdf, TM_ROLE_GRID, 0.4, pdf->y - 1, pdf->right);
}

/* Without bands: two in a row. */
static void put_bare_kpis(struct tm_pdf *pdf)
{
    const size_t n = tm_kpi_count(pdf->summary);
    const double width = (tm_pdf_column(pdf) - fact_gap) / 2;
    struct tm_key_figure kpi;
    size_t shown = 0;

    put_heading(pdf, "Key figures");
    for (size_t i = 0; i < n; i++) {
        const double x = pdf->left + (double)(shown % 2) * (width + fact_gap);

        tm_kpi_at(&kpi, pdf->summary, i);
        if (!kpi.has_value)
            continue;
        tm_pdf_text_at(pdf, &tm_pdf_body, x, pdf->y + tm_pdf_body.size, kpi.title);
        tm_pdf_text_right(pdf, &tm_pdf_strong, x + width, pdf->y + tm_pdf_body.size, kpi.value);
        pdf->y += shown++ % 2 ? kpi_height : 0;
    }
    pdf->y += shown % 2 ? kpi_height : 0;
    put_marks(pdf);
}

static void put_kpis(struct tm_pdf *pdf)
{
    const size_t n = tm_kpi_count(pdf->summary);

    if (n == 0)
        return;
    if (pdf->front.is_slight) {
        put_bare_kpis(pdf);
        return;
    }
    put_heading(pdf, "Key figures");
    for (size_t i = 0; i < n && tm_pdf_left_on_page(pdf) > kpi_height; i++) {
        struct tm_key_figure kpi;

        tm_kpi_at(&kpi, pdf->summary, i);
        put_kpi(pdf, &kpi);
    }
    pdf->y += 3;
    put_marks(pdf);
}

/* --- findings --- */

/* Title with the potential savings, and the first action.  out: did it fit? */
static bool put_finding(struct tm_pdf *pdf, const struct tm_value *finding, size_t number)
{
    const enum tm_role role = tm_pdf_role_of_tone(tm_tone_of(tm_text(tm_get(finding, "severity"))));
    const struct tm_value *fix = tm_at(tm_get(finding, "fix"), 0);
    const double inner = tm_pdf_column(pdf) - number_room, from = pdf->y;
    struct tm_pdf_style stake_style = { .face = TM_PDF_BOLD, .size = tm_pdf_strong.size, .role = role };
    char stake[TM_FORMAT_BYTES] = "", sign[TM_FORMAT_BYTES];
    struct tm_pdf_box box = { pdf->left + number_room, pdf->y, inner, 0 };
    double stake_width;

    if (tm_pdf_left_on_page(pdf) < (1 + FIX_LINES) * tm_pdf_leading(&tm_pdf_body) + 4)
        return false;
    tm_finding_time(stake, finding);
    stake_width = tm_pdf_width(pdf, &stake_style, stake, strlen(stake));
    (void)snprintf(sign, sizeof(sign), "%zu.", number);
    tm_pdf_text_at(pdf, &stake_style, pdf->left, pdf->y + stake_style.size, sign);
    tm_pdf_text_right(pdf, &stake_style, pdf->right, pdf->y + stake_style.size, stake);
    tm_pdf_encode_prose(pdf, pdf->text, sizeof(pdf->text), tm_text(tm_get(finding, "title")));
    box.width = inner - stake_width - 12;
    tm_pdf_fit(pdf, &tm_pdf_strong, pdf->text, box.width, 1);
    box.y += tm_pdf_text_in(pdf, &tm_pdf_strong, &box, pdf->text);
    tm_pdf_encode_prose(pdf, pdf->text, sizeof(pdf->text), tm_text(fix));
    box.width = inner;
    tm_pdf_fit(pdf, &tm_pdf_label, pdf->text, box.width, FIX_LINES);
    box.y += tm_pdf_text_in(pdf, &tm_pdf_label, &box, pdf->text);
    pdf->y = box.y + 4;
    tm_pdf_add_link(pdf, &(struct tm_pdf_box){ pdf->left, from, tm_pdf_column(pdf), pdf->y - from - 2 }, NULL, number);
    return true;
}

static void put_findings(struct tm_pdf *pdf)
{
    const struct tm_value *findings = tm_get(pdf->summary, "findings");
    const size_t n = tm_length(findings);
    size_t pick[TOP_FINDINGS], count = tm_front_findings(pdf->summary, TOP_FINDINGS, pick), shown = 0;
    char more[2 * TM_FORMAT_BYTES];

    if (n == 0 || tm_pdf_left_on_page(pdf) < heading_gap + heading_room)
        return;
    put_heading(pdf, pdf->document->findings_title);
    if (tm_int(tm_get(tm_at(findings, 0), "at_stake_ps")) > 0)
        tm_pdf_text_right(pdf, &tm_pdf_quiet, pdf->right, pdf->y - heading_room + heading_style.size,
                          pdf->document->stake_of);
    while (shown < count &&
           (shown < FINDINGS_LEAST || tm_pdf_left_on_page(pdf) > tm_pdf_contents_height(pdf) + finding_room) &&
           put_finding(pdf, tm_at(findings, pick[shown]), pick[shown] + 1))
        shown++;
    if (shown == n || tm_pdf_left_on_page(pdf) < tm_pdf_leading(&tm_pdf_quiet))
        return;
    (void)snprintf(more, sizeof(more), "%zu more on the following pages.", n - shown);
    put(pdf, &tm_pdf_quiet, more, 1);
}

/* --- where time is spent --- */

/* Drawn for a column of this width, if it then fits.  out: was it drawn? */
static bool put_chart_of(struct tm_pdf *pdf, enum tm_chart_kind kind, double width)
{
    struct tm_chart chart;
    bool fits;

    tm_chart_init(&chart, pdf->run, width);
    chart.is_short = true;
    tm_charts_draw(&chart, kind, 0, pdf->summary);
    fits = !tm_failed(pdf->run) &&
           tm_pdf_chart_height(pdf, &chart) + 2 * chart_gap + tm_pdf_contents_height(pdf) < tm_pdf_left_on_page(pdf);
    if (fits) {
        pdf->y += chart_gap;
        tm_pdf_chart(pdf, &chart);
        pdf->is_drawn[kind] = true;
    }
    tm_chart_free(&chart);
    return fits;
}

/* A chart that is slightly too tall is scaled down. */
static void put_chart(struct tm_pdf *pdf, enum tm_chart_kind kind)
{
    static const double scales[] = { 1, 0.85 };
    bool is_drawn = tm_charts_count(kind, pdf->summary) == 0;

    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]) && !is_drawn && !tm_failed(pdf->run); i++)
        is_drawn = put_chart_of(pdf, kind, tm_pdf_column(pdf) / scales[i]);
}

/* --- terms --- */

static const struct tm_pdf_style term_style = { .face = TM_PDF_BOLD, .size = 6.3, .role = TM_ROLE_TEXT },
                                 meaning_style = { .face = TM_PDF_REGULAR, .size = 6.3, .role = TM_ROLE_TEXT };

static const double glossary_gap = 16, term_gap = 1.2;

/* An entry from y on, its term in bold before the text of its first line, a long one above it; drawn or only measured.
 * out: its height */
static double put_term(struct tm_pdf *pdf, const struct tm_table *table, size_t row, struct tm_pdf_box box,
                       bool is_drawn)
{
    enum { INDENT_MOST = 200, TERM_LINES = 4 };
    const struct tm_cell term = tm_table_cell(table, row, (size_t)table->glossary - 1),
                         meaning = tm_table_cell(table, row, table->columns - 1);
    const double blank = tm_pdf_width(pdf, &meaning_style, " ", 1);
    char text[TM_FORMAT_BYTES];
    double width, above = 0;
    size_t indent = 0;

    tm_pdf_encode(pdf, pdf->text, TM_PDF_CELL_BYTES, tm_cell_shown(&term, pdf->summary, text));
    width = tm_pdf_width(pdf, &term_style, pdf->text, strlen(pdf->text));
    if (width > box.width) {
        tm_pdf_fit(pdf, &term_style, pdf->text, box.width, TERM_LINES);
        above = is_drawn ? tm_pdf_text_in(pdf, &term_style, &box, pdf->text)
                         : tm_pdf_lines(pdf, &term_style, pdf->text, box.width) * tm_pdf_leading(&term_style);
        box.y += above;
    } else {
        if (is_drawn)
            tm_pdf_text_at(pdf, &term_style, box.x, box.y + term_style.size, pdf->text);
        indent = (size_t)(width / blank) + 3;
        indent = indent < INDENT_MOST ? indent : INDENT_MOST;
    }
    memset(pdf->cell[0], ' ', indent);
    tm_pdf_encode_prose(pdf, pdf->cell[0] + indent, TM_PDF_CELL_BYTES - INDENT_MOST,
                        tm_cell_shown(&meaning, pdf->summary, text));
    return term_gap + above +
           (is_drawn ? tm_pdf_text_in(pdf, &meaning_style, &box, pdf->cell[0])
                     : tm_pdf_lines(pdf, &meaning_style, pdf->cell[0], box.width) * tm_pdf_leading(&meaning_style));
}

/* The rows that fit into a column of the page, from a row on.  out: their height */
static double fill_column(struct tm_pdf *pdf, const struct tm_table *table, struct tm_pdf_box box, size_t *row,
                          double most)
{
    const double top = box.y;

    while (*row < tm_table_rows(table)) {
        const double height = put_term(pdf, table, *row, box, false);

        if (box.y > top && box.y + height > top + most)
            break;
        (void)put_term(pdf, table, *row, box, true);
        box.y += height;
        (*row)++;
    }
    return box.y - top;
}

void tm_pdf_glossary(struct tm_pdf *pdf, const struct tm_table *table)
{
    const double width = (tm_pdf_column(pdf) - glossary_gap) / 2;
    size_t row = 0;

    while (row < tm_table_rows(table) && tm_pdf_is_drawing(pdf)) {
        const struct tm_pdf_box left = { pdf->left, pdf->y, width, 0 },
                                right = { pdf->left + width + glossary_gap, pdf->y, width, 0 };
        double rest = 0, most, tallest;

        for (size_t r = row; r < tm_table_rows(table); r++)
            rest += put_term(pdf, table, r, left, false);
        most = fmin(tm_pdf_left_on_page(pdf), rest / 2 + 2 * tm_pdf_leading(&meaning_style));
        tallest = fill_column(pdf, table, left, &row, most);
        tallest = fmax(tallest, fill_column(pdf, table, right, &row, most));
        pdf->y += tallest;
        if (row < tm_table_rows(table))
            tm_pdf_new_page(pdf);
    }
    pdf->y += part_gap;
}

void tm_pdf_front(struct tm_pdf *pdf)
{
    tm_pdf_new_page(pdf);
    tm_pdf_add_place(pdf, 0, NULL, 0, "Summary");
    put_titles(pdf);
    if (pdf->front.is_partial)
        put_partial(pdf);
    if (*pdf->front.note)
        put_note(pdf);
    put_facts(pdf);
    put_verdict(pdf);
    put_kpis(pdf);
    put_findings(pdf);
    for (size_t i = 0; i < (pdf->front.is_slight ? 1 : pdf->document->first_charts); i++) /* the others repeat it */
        put_chart(pdf, pdf->document->first_chart[i]);
    pdf->front_end = pdf->y + chart_gap;
}
