/* SPDX-License-Identifier: Apache-2.0 */
/* report.html: the frame of the page and the walk over the sections.  The page is self-contained. */
#include "reports/media.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "reports/content/content.h"
#include "reports/format/format.h"
#include "reports/html/html_page.h"

/* Facts: titles and values as a grid; facts without a value are listed below, once for each reason. */

/* One fact.  in: text  any bytes */
static void page_fact(struct tm_page *page, const char *title, const char *text)
{
    tm_htmlw_open(&page->w, "div");
    tm_htmlw_open(&page->w, "dt");
    tm_page_label(page, title);
    tm_htmlw_close(&page->w);
    tm_htmlw_open(&page->w, "dd");
    if (tm_format_length(text) > TM_NAME_FACT)
        tm_page_name(page, text, TM_NAME_FACT);
    else
        tm_htmlw_prose(&page->w, text);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void page_facts(void *to, const struct tm_table *facts)
{
    struct tm_page *page = to;
    struct tm_missing missing = { .count = 0 };
    bool is_open = false;

    for (size_t c = 0; c < facts->columns; c++) {
        const struct tm_cell cell = tm_table_cell(facts, 0, c);
        const char *title = facts->column[c].title;
        char text[TM_FORMAT_BYTES];

        if (tm_cell_is_empty(&cell)) {
            tm_missing_add(&missing, title, cell.from == TM_FROM_VALUE ? tm_why(cell.value) : "");
            continue;
        }
        if (!is_open) {
            tm_htmlw_class(&page->w, "dl", "facts");
            is_open = true;
        }
        page_fact(page, title, tm_cell_shown(&cell, page->summary, text));
    }
    if (is_open)
        tm_htmlw_close_line(&page->w);
    tm_page_missing(page, "Not recorded", &missing);
}

/* Key figures as cards: the value, its assessment in word and sign, and where it is on a scale of bad, warning, good.
 * A figure outside its band links to the finding with its savings, or says why it costs nothing and has no color.
 * Figures without a value share one line. */

/* The scale, in units of its view box. */
enum { SCALE_WIDTH = 300, SCALE_HEIGHT = 16, SCALE_GAP = 3, BAR_Y = 8, BAR_HEIGHT = 6, MARKER = 6, BANDS = 3 };

static void put_segment(struct tm_page *page, int band, bool has_value)
{
    static const char *const full[BANDS] = { "f-bad", "f-warning", "f-good" };
    static const char *const dim[BANDS] = { "f-bad dim", "f-warning dim", "f-good dim" };
    const int width = SCALE_WIDTH / BANDS;

    tm_htmlw_class(&page->w, "rect", has_value ? full[band] : dim[band]);
    tm_htmlw_attr_int(&page->w, "x", band * width);
    tm_htmlw_attr_int(&page->w, "y", BAR_Y);
    tm_htmlw_attr_int(&page->w, "width", band + 1 < BANDS ? width - SCALE_GAP : width);
    tm_htmlw_attr_int(&page->w, "height", BAR_HEIGHT);
    tm_htmlw_leaf(&page->w);
}

/* A triangle that points down at the value. */
static void put_marker(struct tm_page *page, double x)
{
    x = x < MARKER ? MARKER : x > SCALE_WIDTH - MARKER ? SCALE_WIDTH - MARKER : x;
    tm_htmlw_class(&page->w, "polygon", "f-text");
    tm_htmlw_begin_points(&page->w, "points");
    tm_htmlw_point(&page->w, x - MARKER, 0);
    tm_htmlw_point(&page->w, x + MARKER, 0);
    tm_htmlw_point(&page->w, x, BAR_Y - 1);
    tm_htmlw_end_points(&page->w);
    tm_htmlw_leaf(&page->w);
}

/* The words beside it say the same, so it is hidden from screen readers. */
static void put_scale(struct tm_page *page, const struct tm_key_figure *kpi)
{
    const enum tm_tone tone = tm_tone_of(kpi->band);

    tm_htmlw_open_with(&page->w, "svg", "class", "scale", "aria-hidden", "true", NULL);
    tm_htmlw_begin_points(&page->w, "viewBox");
    tm_htmlw_point(&page->w, 0, 0);
    tm_htmlw_point(&page->w, SCALE_WIDTH, SCALE_HEIGHT);
    tm_htmlw_end_points(&page->w);
    put_segment(page, 0, tone == TM_TONE_CRITICAL);
    put_segment(page, 1, tone == TM_TONE_WARNING);
    put_segment(page, 2, tone == TM_TONE_GOOD);
    put_marker(page, kpi->place * SCALE_WIDTH);
    tm_htmlw_close(&page->w);
}

static void put_limits(struct tm_page *page, const struct tm_key_figure *kpi)
{
    if (!*kpi->good && !*kpi->bad)
        return;
    tm_htmlw_class(&page->w, "p", "limits");
    if (*kpi->bad) {
        tm_htmlw_open(&page->w, "span");
        tm_htmlw_printf(&page->w, "critical %s", kpi->bad);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_text(&page->w, " ");
    if (*kpi->good) {
        tm_htmlw_open(&page->w, "span");
        tm_htmlw_printf(&page->w, "good %s", kpi->good);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close(&page->w);
}

static void open_definition(struct tm_page *page, const struct tm_key_figure *kpi, size_t index)
{
    tm_page_open_link(page, "definition", (int)index);
    tm_htmlw_attr(&page->w, "class", "term");
    tm_htmlw_attr(&page->w, "title", kpi->definition);
    tm_htmlw_text(&page->w, kpi->title);
    tm_htmlw_close(&page->w);
}

static void put_card(struct tm_page *page, const struct tm_key_figure *kpi, size_t index)
{
    const enum tm_tone tone = tm_tone_of(kpi->band);

    tm_htmlw_open(&page->w, "li");
    tm_htmlw_class(&page->w, "p", "title");
    open_definition(page, kpi, index);
    tm_htmlw_close(&page->w);
    tm_htmlw_class(&page->w, "p", "figure");
    tm_htmlw_element(&page->w, "span", "value", kpi->value);
    tm_page_kpi_marks(page, kpi->kpi);
    tm_htmlw_text(&page->w, " ");
    if (kpi->finding) {
        tm_page_open_link(page, "finding", (int)kpi->finding);
        tm_htmlw_attr(&page->w, "title",
                      tm_text(tm_get(tm_at(tm_get(page->summary, "findings"), kpi->finding - 1), "title")));
        tm_page_band(page, tone);
        tm_htmlw_close(&page->w);
    } else if (tone != TM_TONE_UNKNOWN) {
        tm_page_band(page, tone);
    }
    tm_htmlw_close(&page->w);
    if (kpi->place >= 0 && tone != TM_TONE_UNKNOWN)
        put_scale(page, kpi);
    put_limits(page, kpi);
    if (!*kpi->good && !*kpi->bad && *tm_text(tm_get(kpi->kpi, "note")))
        tm_htmlw_element(&page->w, "p", "why", tm_text(tm_get(kpi->kpi, "note")));
    else if (!*kpi->band)
        tm_htmlw_element(&page->w, "p", "why", kpi->why);
    tm_htmlw_close_line(&page->w);
}

/* --- tiles, and the rest in a fold --- */

struct tiles {
    size_t pick[TM_KPI_TILES_MOST], count;
};

static bool is_tile(const struct tiles *tiles, size_t place)
{
    for (size_t i = 0; i < tiles->count; i++)
        if (tiles->pick[i] == place)
            return true;
    return false;
}

static void put_tiles(struct tm_page *page, const struct tiles *tiles)
{
    struct tm_key_figure kpi;

    if (tiles->count == 0)
        return;
    tm_htmlw_class(&page->w, "ul", "kpis tiles");
    for (size_t i = 0; i < tiles->count; i++) {
        tm_kpi_at(&kpi, page->summary, tiles->pick[i]);
        put_card(page, &kpi, tiles->pick[i]);
    }
    tm_htmlw_close_line(&page->w);
}

/* Cards for the figures that have a value and are not tiles; those without a value are listed together. */
static void put_cards(struct tm_page *page, const struct tiles *tiles)
{
    struct tm_missing missing = { .count = 0 }, unjudged = { .count = 0 };
    struct tm_key_figure kpi;
    size_t cards = 0;

    for (size_t i = 0; i < tm_kpi_count(page->summary); i++) {
        tm_kpi_at(&kpi, page->summary, i);
        if (!kpi.has_value) {
            tm_missing_add(&missing, kpi.title, kpi.why);
            continue;
        }
        if (*kpi.why && *kpi.band)
            tm_missing_add(&unjudged, kpi.title, kpi.why);
        if (is_tile(tiles, i))
            continue;
        if (cards++ == 0)
            tm_htmlw_class(&page->w, "ul", "kpis");
        put_card(page, &kpi, i);
    }
    if (cards > 0)
        tm_htmlw_close_line(&page->w);
    tm_page_missing(page, "Not recorded", &missing);
    tm_page_missing(page, "Not evaluated", &unjudged);
}

static void page_kpis(struct tm_page *page)
{
    struct tiles tiles;

    if (tm_kpi_count(page->summary) == 0)
        return;
    tiles.count = tm_kpi_tiles(page->summary, tiles.pick);
    tm_htmlw_open_with(&page->w, "section", "id", "figures", NULL);
    tm_htmlw_element(&page->w, "h2", tiles.count > 0 ? NULL : "unseen", "Key figures");
    put_tiles(page, &tiles);
    tm_htmlw_class(&page->w, "details", "others");
    tm_htmlw_element(&page->w, "summary", NULL, "All key figures");
    put_cards(page, &tiles);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

/* --- findings: the first ones in a line each, and all of them in full --- */

enum { FIRST_MOST = 3, UNFOLDED_MOST = 8, FINDINGS_MOST = 100, WHERE_MOST = 5 };

static enum tm_tone tone_of(const struct tm_value *finding)
{
    return tm_tone_of(tm_text(tm_get(finding, "severity")));
}

/* on the first screen */

/* "80.6 % of the window, 1.35 s of device time" */
static void put_short_stake(struct tm_page *page, const struct tm_value *finding)
{
    char time[TM_FORMAT_BYTES], part[TM_FORMAT_BYTES];

    if (!*tm_finding_time(time, finding))
        return;
    tm_htmlw_class(&page->w, "span", "stake");
    if (*tm_finding_part(part, finding)) {
        tm_page_text(page, part);
        tm_htmlw_text(&page->w, ", ");
    }
    tm_page_text(page, time);
    tm_htmlw_class(&page->w, "span", "of");
    tm_htmlw_printf(&page->w, " of %s", page->document->stake_of);
    tm_htmlw_close(&page->w);
    tm_htmlw_close(&page->w);
}

/* in: behind  what comes after it */
static void put_file_anchor(struct tm_page *page, const struct tm_value *finding, const char *behind)
{
    const char *path = tm_finding_link(finding);

    if (!path)
        return;
    tm_htmlw_open_with(&page->w, "a", "href", path, NULL);
    tm_page_text(page, tm_text(tm_path(finding, "link.title")));
    tm_htmlw_close(&page->w);
    tm_htmlw_text(&page->w, behind);
}

/* "All 4 findings, by potential savings": beside the title, over the times. */
static void put_findings_note(struct tm_page *page, size_t count, size_t first, bool has_times)
{
    const char *order = has_times && page->document->findings_order ? page->document->findings_order : "";

    if (count == first && !*order)
        return;
    tm_htmlw_class(&page->w, "p", "note");
    if (count > first) {
        tm_page_open_link(page, "findings", -1);
        tm_htmlw_printf(&page->w, "All %zu findings", count);
        tm_htmlw_close(&page->w);
        tm_htmlw_text(&page->w, *order ? ", " : "");
    }
    tm_htmlw_text(&page->w, order);
    tm_htmlw_close(&page->w);
}

static void put_first(struct tm_page *page, const struct tm_value *finding, int number)
{
    const struct tm_value *fix = tm_at(tm_get(finding, "fix"), 0);

    tm_htmlw_open(&page->w, "li");
    tm_page_band(page, tone_of(finding));
    tm_page_open_link(page, "finding", number);
    tm_page_text(page, tm_text(tm_get(finding, "title")));
    tm_htmlw_close(&page->w);
    put_short_stake(page, finding);
    if (*tm_text(fix) || tm_finding_link(finding)) {
        tm_htmlw_class(&page->w, "span", *tm_text(fix) ? "fix" : "fix alone");
        put_file_anchor(page, finding, *tm_text(fix) ? ". " : "");
        tm_page_prose(page, tm_text(fix));
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

/* The first three, a line each. */
static void put_first_findings(struct tm_page *page)
{
    const struct tm_value *findings = tm_get(page->summary, "findings");
    const size_t count = tm_length(findings);
    size_t pick[FIRST_MOST], first = tm_front_findings(page->summary, FIRST_MOST, pick);
    char time[TM_FORMAT_BYTES];

    if (count == 0)
        return;
    tm_htmlw_class(&page->w, "section", "first");
    tm_htmlw_element(&page->w, "h2", NULL, page->document->findings_title);
    tm_htmlw_open(&page->w, "ol");
    for (size_t i = 0; i < first; i++)
        put_first(page, tm_at(findings, pick[i]), (int)pick[i] + 1);
    tm_htmlw_close_line(&page->w);
    put_findings_note(page, count, first, first > 0 && *tm_finding_time(time, tm_at(findings, pick[0])));
    tm_htmlw_close_line(&page->w);
}

/* in full */

/* in:     list  "ul", or "ol" if their order matters
 *     put   writes one of them */
static void put_texts(struct tm_page *page, const char *title, const char *list, const struct tm_value *texts,
                      void (*put)(struct tm_page *page, const char *text))
{
    if (tm_length(texts) == 0)
        return;
    tm_htmlw_element(&page->w, "h4", NULL, title);
    tm_htmlw_open(&page->w, list);
    for (size_t i = 0; i < tm_length(texts); i++) {
        tm_htmlw_open(&page->w, "li");
        put(page, tm_text(tm_at(texts, i)));
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

static void put_cause(struct tm_page *page, const char *cause)
{
    if (!*cause)
        return;
    tm_htmlw_element(&page->w, "h4", NULL, "Cause");
    tm_htmlw_open(&page->w, "p");
    tm_page_prose(page, cause);
    tm_htmlw_close_line(&page->w);
}

static void put_place(struct tm_page *page, const struct tm_value *where)
{
    struct tm_place place;

    tm_place_make(&place, page->summary, where);
    tm_htmlw_open(&page->w, "li");
    tm_htmlw_open(&page->w, "span");
    tm_page_text(page, place.text);
    tm_htmlw_close(&page->w);
    if (*place.sql) {
        tm_htmlw_class(&page->w, "code", "copy");
        tm_htmlw_text(&page->w, place.sql);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

static void put_places(struct tm_page *page, const struct tm_value *where)
{
    const size_t count = tm_length(where);

    if (count == 0)
        return;
    tm_htmlw_element(&page->w, "h4", NULL, "Where to look");
    tm_htmlw_class(&page->w, "ul", "where");
    for (size_t i = 0; i < count && i < WHERE_MOST; i++)
        put_place(page, tm_at(where, i));
    tm_htmlw_close(&page->w);
    if (count > WHERE_MOST)
        tm_htmlw_printf(&page->w, "%zu more ranges in %s.", count - WHERE_MOST, page->document->data);
}

static void put_more(struct tm_page *page, const struct tm_section *section)
{
    if (!section)
        return;
    tm_htmlw_class(&page->w, "p", "more");
    tm_htmlw_text(&page->w, "More: ");
    tm_page_open_link(page, section->id, -1);
    tm_htmlw_text(&page->w, section->title);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_file_link(struct tm_page *page, const struct tm_value *finding)
{
    if (!tm_finding_link(finding))
        return;
    tm_htmlw_class(&page->w, "p", "more");
    put_file_anchor(page, finding, "");
    tm_htmlw_close_line(&page->w);
}

static void put_finding(struct tm_page *page, const struct tm_value *finding, int number)
{
    const struct tm_value *fixes = tm_get(finding, "fix");
    char class_name[32], stake[TM_FINDING_BYTES];

    (void)snprintf(class_name, sizeof(class_name), "finding %s", tm_tone_class(tone_of(finding)));
    tm_htmlw_class(&page->w, "article", class_name);
    tm_page_id(page, "finding", number);
    tm_htmlw_open(&page->w, "h3");
    tm_page_band(page, tone_of(finding));
    tm_htmlw_text(&page->w, " ");
    tm_page_text(page, tm_text(tm_get(finding, "title")));
    tm_htmlw_close(&page->w);
    if (*tm_finding_stake(stake, finding)) {
        tm_htmlw_class(&page->w, "p", "stake");
        tm_page_text(page, stake);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_class(&page->w, "div", "why");
    tm_htmlw_open(&page->w, "div");
    put_texts(page, "Evidence", "ul", tm_get(finding, "evidence"), tm_page_text);
    put_cause(page, tm_text(tm_get(finding, "cause")));
    tm_htmlw_close(&page->w);
    tm_htmlw_open(&page->w, "div");
    put_texts(page, "Recommendations", tm_length(fixes) > 1 ? "ol" : "ul", fixes, tm_page_prose);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
    put_places(page, tm_get(finding, "where"));
    put_file_link(page, finding);
    put_more(page, tm_section_of_finding(page->summary, finding));
    tm_htmlw_close_line(&page->w);
}

/* Of many findings, those without potential savings, which come last, are folded. */
static void open_fold(struct tm_page *page, size_t left)
{
    tm_htmlw_class(&page->w, "details", "lower");
    tm_htmlw_open(&page->w, "summary");
    tm_htmlw_printf(&page->w, "%zu more without an estimate", left);
    tm_htmlw_close_line(&page->w);
    page->in_fold = true;
}

static void page_finding(void *to, const struct tm_value *finding, size_t number)
{
    struct tm_page *page = to;
    const size_t count = tm_length(tm_get(page->summary, "findings"));
    const bool is_fact = tm_int(tm_get(finding, "at_stake_ps")) <= 0;

    if (number > FINDINGS_MOST)
        return;
    if (!page->in_fold && is_fact && count > UNFOLDED_MOST && number > FIRST_MOST)
        open_fold(page, count - number + 1);
    put_finding(page, finding, (int)number);
}

static void end_findings(struct tm_page *page)
{
    const size_t count = tm_length(tm_get(page->summary, "findings"));

    if (page->in_fold)
        tm_htmlw_close_line(&page->w);
    page->in_fold = false;
    if (count > FINDINGS_MOST) {
        tm_htmlw_class(&page->w, "p", "note");
        tm_htmlw_printf(&page->w, "%zu more in %s.", count - FINDINGS_MOST, page->document->data);
        tm_htmlw_close_line(&page->w);
    }
}

/* The first screen: the run, its problems, the first actions, the key figures, the steps. */

enum { TITLE_CHARS = 96, PIECE_BYTES = 2000 };

static void put_partial(struct tm_page *page, const struct tm_front_page *front)
{
    if (!front->is_partial)
        return;
    tm_htmlw_open_with(&page->w, "p", "class", "banner", "role", "note", NULL);
    tm_htmlw_element(&page->w, "strong", NULL, "▲ ");
    tm_page_text(page, front->partial);
    tm_htmlw_text(&page->w, " ");
    if (tm_has(tm_get(page->summary, "coverage"))) {
        tm_page_open_link(page, "coverage", -1);
        tm_htmlw_text(&page->w, "Incomplete data");
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

static void put_title(struct tm_page *page, const struct tm_front_page *front)
{
    char shown[TM_FRONT_BYTES], cut[4 * TITLE_CHARS + 1];

    (void)tm_format_visible(shown, sizeof(shown), front->title, strlen(front->title));
    (void)tm_format_middle(cut, sizeof(cut), shown, TITLE_CHARS);
    tm_htmlw_element(&page->w, "h1", NULL, cut);
    tm_htmlw_class(&page->w, "p", "subtitle");
    tm_page_text(page, front->subtitle);
    tm_htmlw_close_line(&page->w);
}

static void put_facts(struct tm_page *page, const struct tm_front_page *front)
{
    tm_htmlw_class(&page->w, "dl", "facts");
    for (size_t i = 0; i < front->facts; i++)
        page_fact(page, front->fact[i].title, front->fact[i].text);
    tm_htmlw_close_line(&page->w);
}

/* A line of any length, in pieces that end between two characters. */
static void put_line(struct tm_page *page, const char *line, size_t length)
{
    while (length > 0) {
        size_t n = length < PIECE_BYTES ? length : PIECE_BYTES;

        while (n > 1 && n < length && ((unsigned char)line[n] & 0xc0) == 0x80)
            n--;
        tm_htmlw_printf(&page->w, "%.*s", (int)n, line);
        line += n;
        length -= n;
    }
}

/* Line by line, as given. */
static void put_note(struct tm_page *page, const struct tm_front_page *front)
{
    const char *line = front->note;

    if (!*line)
        return;
    tm_htmlw_class(&page->w, "p", "author");
    while (*line) {
        const size_t length = strcspn(line, "\n");

        put_line(page, line, length);
        line += length + (line[length] == '\n');
        if (*line) {
            tm_htmlw_open(&page->w, "br");
            tm_htmlw_leaf(&page->w);
        }
    }
    tm_htmlw_close_line(&page->w);
}

static void put_verdict(struct tm_page *page, const struct tm_front_page *front)
{
    char class_name[32];

    if (!*front->verdict)
        return;
    (void)snprintf(class_name, sizeof(class_name), "verdict %s", tm_tone_class(front->tone));
    tm_htmlw_open_with(&page->w, "section", "class", class_name, "aria-label", "Verdict", NULL);
    tm_htmlw_open(&page->w, "p");
    if (front->tone != TM_TONE_UNKNOWN) {
        tm_page_band(page, front->tone);
        tm_htmlw_text(&page->w, " ");
    }
    tm_page_text(page, front->verdict);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

/* Its heading is of the third level: if no finding precedes it, one of the second level comes first. */
static void put_first_chart(struct tm_page *page, enum tm_chart_kind kind)
{
    if (tm_length(tm_get(page->summary, "findings")) == 0)
        tm_htmlw_element(&page->w, "h2", NULL, "At a glance");
    page->chart.is_short = true;
    tm_page_charts(page, kind);
    page->chart.is_short = false;
}

static void page_front(struct tm_page *page, const struct tm_front_page *front)
{
    const size_t n = page->document->first_charts;

    tm_htmlw_open_with(&page->w, "header", "class", "page top", "id", "top", NULL);
    put_partial(page, front);
    put_title(page, front);
    put_note(page, front);
    put_verdict(page, front);
    put_first_findings(page);
    if (n > 0 && tm_charts_count(page->document->first_chart[n - 1], page->summary) > 0)
        put_first_chart(page, page->document->first_chart[n - 1]);
    page_kpis(page);
    put_facts(page, front);
    tm_htmlw_close_line(&page->w);
}

enum { CHART_WIDTH = 800, FULL_NAMES_BYTES = 320 << 10 };

/* --- content of the sections --- */

/* Losses of the input are not folded away. */
static bool is_open_at_once(const struct tm_page *page, const struct tm_section *section)
{
    return strcmp(section->id, "coverage") == 0 && tm_length(tm_path(page->summary, "coverage.marks")) > 0;
}

static void open_section(void *to, const struct tm_section *section)
{
    struct tm_page *page = to;

    page->section = section;
    tm_htmlw_open_with(&page->w, "section", "id", section->id, NULL);
    if (section->is_closing) {
        tm_htmlw_class(&page->w, "details", "closing");
        if (is_open_at_once(page, section))
            tm_htmlw_attr(&page->w, "open", "");
        tm_htmlw_open(&page->w, "summary");
    }
    tm_htmlw_open(&page->w, "h2");
    tm_htmlw_text(&page->w, section->title);
    tm_page_section_marks(page, section->key);
    tm_htmlw_close(&page->w);
    if (section->is_closing)
        tm_htmlw_close_line(&page->w);
}

static void end_section(void *to, const struct tm_section *section)
{
    struct tm_page *page = to;

    if (strcmp(section->id, "findings") == 0)
        end_findings(page);
    page->section = NULL;
    if (section->is_closing)
        tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_subheading(void *to, const char *text)
{
    struct tm_page *page = to;

    tm_htmlw_open(&page->w, "h3");
    tm_page_text(page, text);
    tm_htmlw_close_line(&page->w);
}

static void put_paragraph(void *to, enum tm_tone tone, const char *text)
{
    struct tm_page *page = to;

    tm_htmlw_open(&page->w, "p");
    if (tone == TM_TONE_QUIET)
        tm_htmlw_attr(&page->w, "class", "note");
    else if (tone != TM_TONE_PLAIN) {
        tm_page_band(page, tone);
        tm_htmlw_text(&page->w, " ");
    }
    tm_page_prose(page, text);
    tm_htmlw_close_line(&page->w);
}

static const struct tm_medium page_medium = {
    .room = { .rows = TM_HTML_ROWS_MOST },
    .has_charts = true,
    .section = open_section,
    .end_section = end_section,
    .subheading = put_subheading,
    .paragraph = put_paragraph,
    .facts = page_facts,
    .table = tm_page_table,
    .charts = tm_page_charts,
    .finding = page_finding,
};

/* --- the frame --- */

static void put_link(struct tm_page *page, const char *id, const char *title)
{
    tm_htmlw_open(&page->w, "li");
    tm_page_open_link(page, id, -1);
    tm_htmlw_text(&page->w, title);
    tm_htmlw_close(&page->w);
    tm_htmlw_close(&page->w);
}

static void put_links(struct tm_page *page)
{
    tm_htmlw_open_with(&page->w, "nav", "class", "sections", "aria-label", "Sections", NULL);
    tm_htmlw_open(&page->w, "ul");
    put_link(page, "top", "Overview");
    for (size_t i = 0; i < page->document->section_count; i++)
        if (tm_section_is_due(page->document->sections[i], page->summary))
            put_link(page, page->document->sections[i]->id, page->document->sections[i]->title);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_footer(struct tm_page *page)
{
    const struct tm_value *tool = tm_get(page->summary, "tool");

    tm_htmlw_class(&page->w, "footer", "page");
    tm_htmlw_open(&page->w, "p");
    tm_htmlw_printf(&page->w, "Created by %s %s. All figures are in %s, in exact units.", tm_text(tm_get(tool, "name")),
                    tm_text(tm_get(tool, "version")), page->document->data);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_skip(struct tm_page *page)
{
    tm_htmlw_open_with(&page->w, "a", "class", "skip", "href", "#top", NULL);
    tm_htmlw_printf(&page->w, "Skip to the %s", page->document->what);
    tm_htmlw_close_line(&page->w);
}

static void put_page(struct tm_page *page)
{
    struct tm_front_page front;
    const struct tm_content content = {
        .summary = page->summary, .medium = &page_medium, .to = page, .run = page->chart.run
    };

    tm_front_make(&front, page->summary);
    tm_html_head(&page->w, front.title, page->document->made_by, &tm_asset_script);
    tm_htmlw_open(&page->w, "body");
    put_skip(page);
    put_links(page);
    tm_htmlw_class(&page->w, "div", "frame");
    page_front(page, &front);
    tm_htmlw_open_with(&page->w, "main", "class", "page", "id", "main", NULL);
    tm_content_say(&content);
    tm_htmlw_close_line(&page->w);
    put_footer(page);
    tm_htmlw_close_line(&page->w); /* frame */
    tm_html_script(&page->w, &tm_asset_script);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

tm_status tm_html_write(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    struct tm_page page = { .w.to = to,
                            .summary = tm_doc_root(doc),
                            .full_bytes_left = FULL_NAMES_BYTES,
                            .document = tm_document_of(tm_doc_root(doc)) };

    tm_chart_init(&page.chart, run, CHART_WIDTH);
    put_page(&page);
    tm_chart_free(&page.chart);
    if (fflush(to) != 0 || ferror(to))
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the HTML report");
    return run->error.status;
}
