/* SPDX-License-Identifier: Apache-2.0 */
/* report.pdf: the sections of reports/content on pages. libharu keeps the entire document in memory until it is
 * written, hence the page limit; sheets limit the tables.  Nothing in it depends on the clock: libharu only dates a
 * document on request. */
#include "reports/media.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hpdf.h>

#include "pipeline/doc/doc.h"
#include "pipeline/options.h"
#include "pipeline/run.h"
#include "pipeline/strings.h"
#include "reports/content/content.h"
#include "reports/format/format.h"
#include "reports/pdf/pdf_page.h"

/* Facts, "title  value", in two columns if the values are short, otherwise in one. */
struct tm_pdf_facts {
    const struct tm_sheet *sheet; /* two columns */
    int columns, rows;            /* of the facts */
    double width, label;          /* of a column; of its titles */
};

/* All measures derive from the size of the paper. */
static const double side_margin = 46, top_margin = 56, bottom_margin = 48;

/* libharu reports every failure here and continues; the first one counts. */
static void on_error(HPDF_STATUS error, HPDF_STATUS detail, void *user)
{
    struct tm_pdf *pdf = user;

    (void)detail;
    if (tm_failed(pdf->run))
        return;
    if (error == HPDF_FAILD_TO_ALLOC_MEM)
        (void)tm_fail(&pdf->run->error, TM_ERR_LIMIT, -1, "cannot create the PDF report: out of memory");
    else
        (void)tm_fail(&pdf->run->error, TM_ERR_LIMIT, -1,
                      "cannot create the PDF report: a limit of the PDF library was reached");
    tm_hint(&pdf->run->error, "select the other formats with --format html,json,text");
}

/* --- document --- */

static void set_paper(struct tm_pdf *pdf, enum tm_paper paper)
{
    pdf->page_width = paper == TM_PAPER_LETTER ? 612 : 595.28;
    pdf->page_height = paper == TM_PAPER_LETTER ? 792 : 841.89;
    pdf->left = side_margin;
    pdf->right = pdf->page_width - side_margin;
    pdf->top = top_margin;
    pdf->bottom = pdf->page_height - bottom_margin;
}

static void begin_document(struct tm_pdf *pdf, enum tm_paper paper)
{
    set_paper(pdf, paper);
    pdf->doc = HPDF_New(on_error, pdf);
    if (!pdf->doc) {
        on_error(HPDF_FAILD_TO_ALLOC_MEM, 0, pdf);
        return;
    }
    pdf->fonts = tm_pdf_is_sound(pdf) ? HPDF_Dict_New(pdf->doc->mmgr) : NULL;
    TM_PDF_CALL(pdf, HPDF_Xref_Add(pdf->doc->xref, pdf->fonts));
    tm_pdf_tags_begin(pdf);
    for (int face = 0; face < TM_PDF_FACES; face++)
        if (!tm_pdf_font_open(&pdf->font[face], &tm_pdf_assets[face]))
            (void)tm_fail(&pdf->run->error, TM_ERR_LIMIT, -1,
                          "cannot create the PDF report: its fonts were not built correctly");
}

/* Call this when everything is drawn, before the document is saved. */
static void complete_document(struct tm_pdf *pdf)
{
    tm_pdf_finish_pages(pdf);
    tm_pdf_tags_finish(pdf);
    for (int face = 0; face < TM_PDF_FACES; face++)
        tm_pdf_embed(pdf, (enum tm_pdf_face)face);
    tm_pdf_pack_streams(pdf);
    if (HPDF_GetError(pdf->doc) != HPDF_NOERROR)
        on_error(HPDF_GetError(pdf->doc), 0, pdf);
}

static void end_document(struct tm_pdf *pdf)
{
    if (pdf->doc)
        HPDF_Free(pdf->doc);
    pdf->doc = NULL;
    pdf->page = NULL;
}

/* The language of the document, and the title of its window. */
static void pdf_set_language(HPDF_Doc doc)
{
    HPDF_Dict catalog = doc->catalog, wishes = HPDF_Dict_New(doc->mmgr);
    HPDF_String language = HPDF_String_New(doc->mmgr, "en", NULL);

    if (language)
        (void)HPDF_Dict_Add(catalog, "Lang", language);
    if (wishes && HPDF_Dict_Add(catalog, "ViewerPreferences", wishes) == HPDF_OK)
        (void)HPDF_Dict_AddBoolean(wishes, "DisplayDocTitle", HPDF_TRUE);
}

enum { LEAST_TO_SPLIT = 5, WRAPS_MOST = 1, VALUE_LINES = 3 };

static const double gap = 16, label_gap = 8, label_most = 0.7, value_least = 70, row_gap = 1.2, below = 5;

static double width_of(struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text)
{
    tm_pdf_encode(pdf, pdf->cell[0], TM_PDF_CELL_BYTES, text);
    return tm_pdf_width(pdf, style, pdf->cell[0], strlen(pdf->cell[0]));
}

static void pdf_facts_make(struct tm_pdf *pdf, struct tm_pdf_facts *facts, const struct tm_sheet *sheet)
{
    const double half = (tm_pdf_column(pdf) - gap) / 2;
    double label = 0;
    int wraps = 0;

    for (int r = 0; r < sheet->rows; r++)
        label = fmax(label, width_of(pdf, &tm_pdf_label, sheet->text[r][0]) + label_gap);
    for (int r = 0; r < sheet->rows; r++)
        wraps += label + width_of(pdf, &tm_pdf_body, sheet->text[r][1]) > half;
    *facts = (struct tm_pdf_facts){ .sheet = sheet, .columns = 1, .rows = sheet->rows };
    if (sheet->rows >= LEAST_TO_SPLIT && (wraps == 0 || (wraps <= WRAPS_MOST && label + value_least <= half))) {
        facts->columns = 2;
        facts->rows = (sheet->rows + 1) / 2;
    }
    facts->width = facts->columns == 2 ? half : tm_pdf_column(pdf);
    facts->label = wraps == 0 ? label : fmin(label, facts->width * label_most);
}

/* points that must be free */
static double pdf_facts_least(const struct tm_pdf_facts *facts)
{
    return (facts->rows + 1) * (tm_pdf_leading(&tm_pdf_body) + row_gap);
}

/* out: its height */
static double draw_fact(struct tm_pdf *pdf, const struct tm_pdf_facts *facts, int row, double x)
{
    struct tm_pdf_style style = tm_pdf_body;
    const struct tm_pdf_box box = { x + facts->label, pdf->y, facts->width - facts->label, 0 };
    char *text = pdf->cell[0];

    style.role = tm_pdf_role_of_tone((enum tm_tone)facts->sheet->tone[row][1]);
    tm_pdf_encode_prose(pdf, text, TM_PDF_CELL_BYTES, facts->sheet->text[row][1]);
    tm_pdf_fit(pdf, &style, text, box.width, VALUE_LINES);
    tm_pdf_encode(pdf, pdf->cell[1], TM_PDF_CELL_BYTES, facts->sheet->text[row][0]);
    tm_pdf_fit(pdf, &tm_pdf_label, pdf->cell[1], facts->label - label_gap, 1);
    tm_pdf_text_at(pdf, &tm_pdf_label, x, pdf->y + tm_pdf_body.size, pdf->cell[1]);
    return tm_pdf_text_in(pdf, &style, &box, text);
}

/* Draw them at the pen, which moves below. */
static void pdf_facts_draw(struct tm_pdf *pdf, const struct tm_pdf_facts *facts)
{
    for (int r = 0; r < facts->rows && tm_pdf_is_drawing(pdf); r++) {
        double height;

        tm_pdf_reserve(pdf, VALUE_LINES * tm_pdf_leading(&tm_pdf_body));
        height = draw_fact(pdf, facts, r, pdf->left);
        if (facts->columns == 2 && r + facts->rows < facts->sheet->rows)
            height = fmax(height, draw_fact(pdf, facts, r + facts->rows, pdf->left + facts->width + gap));
        pdf->y += height + row_gap;
    }
    pdf->y += below;
}

/* Statements about the document itself. */

static const double header_y = 38, footer_below = 30;

/* The date of the document: SOURCE_DATE_EPOCH in seconds, UTC; none if it is not set or not a number. */
static void set_date(struct tm_pdf *pdf)
{
    const char *text = getenv("SOURCE_DATE_EPOCH");
    char *end = NULL;
    struct tm date;
    time_t seconds;
    HPDF_Date to = { .ind = 'Z' };

    if (!text || !*text)
        return;
    errno = 0;
    seconds = (time_t)strtoll(text, &end, 10);
    if (errno || *end || seconds < 0 || !gmtime_r(&seconds, &date) || date.tm_year + 1900 > 9999)
        return;
    to.year = date.tm_year + 1900;
    to.month = date.tm_mon + 1;
    to.day = date.tm_mday;
    to.hour = date.tm_hour;
    to.minutes = date.tm_min;
    to.seconds = date.tm_sec;
    TM_PDF_CALL(pdf, HPDF_SetInfoDateAttr(pdf->doc, HPDF_INFO_CREATION_DATE, to));
    TM_PDF_CALL(pdf, HPDF_SetInfoDateAttr(pdf->doc, HPDF_INFO_MOD_DATE, to));
}

static void set_text(struct tm_pdf *pdf, const char *key, const char *text)
{
    tm_pdf_encode_outside(pdf, pdf->text, TM_PDF_CELL_BYTES, text);
    if (*pdf->text)
        tm_pdf_set_text(pdf, pdf->doc->info, key, pdf->text);
}

/* "tracemill 0.3.0" of the program that made the summary. */
static const char *program(const struct tm_pdf *pdf, char out[TM_FORMAT_BYTES])
{
    (void)snprintf(out, TM_FORMAT_BYTES, "tracemill %.24s", tm_text(tm_path(pdf->summary, "tool.version")));
    return out;
}

/* The facts that a reader's dialog shows: title, subject, keywords, the program; the date only if SOURCE_DATE_EPOCH
 * is set. */
static void pdf_set_info(struct tm_pdf *pdf)
{
    const char *platform = tm_text(tm_path(pdf->summary, "environment.platform"));
    char text[TM_FORMAT_BYTES];

    set_text(pdf, "Title", pdf->front.title);
    set_text(pdf, "Subject", pdf->front.verdict);
    set_text(pdf, "Creator", program(pdf, text));
    (void)snprintf(text, sizeof(text), "performance, profile, XLA%s%.16s", *platform ? ", " : "", platform);
    set_text(pdf, "Keywords", text);
    set_date(pdf);
    TM_PDF_CALL(pdf, HPDF_SetPageMode(pdf->doc, HPDF_PAGE_MODE_USE_OUTLINE));
    pdf_set_language(pdf->doc);
}

/* --- each page --- */

static const char *date_of(const struct tm_pdf *pdf)
{
    for (size_t i = 0; i < pdf->front.facts; i++)
        if (strcmp(pdf->front.fact[i].title, "Profiled") == 0)
            return pdf->front.fact[i].text;
    return "";
}

/* The first page has its title already. */
static void head_page(struct tm_pdf *pdf, bool has_title)
{
    struct tm_pdf_style bad = tm_pdf_quiet;

    bad.face = TM_PDF_BOLD;
    bad.role = TM_ROLE_BAD;
    if (pdf->front.is_partial)
        tm_pdf_text_right(pdf, &bad, pdf->right, header_y, "PARTIAL INPUT");
    else if (has_title)
        tm_pdf_text_right(pdf, &tm_pdf_quiet, pdf->right, header_y, date_of(pdf));
    if (!has_title)
        return;
    tm_pdf_encode(pdf, pdf->text, TM_PDF_CELL_BYTES, pdf->front.title);
    tm_pdf_fit(pdf, &tm_pdf_quiet, pdf->text, tm_pdf_column(pdf) * 0.7, 1);
    tm_pdf_text_at(pdf, &tm_pdf_quiet, pdf->left, header_y, pdf->text);
    tm_pdf_rule(pdf, TM_ROLE_GRID, 0.5, header_y + 6, pdf->right);
}

static void foot_page(struct tm_pdf *pdf, bool ends_here)
{
    const double y = pdf->page_height - footer_below;
    struct tm_pdf_style style = tm_pdf_quiet;
    char text[TM_FRONT_BYTES];

    (void)snprintf(text, sizeof(text), "page %d of %d", pdf->page_at + 1, pdf->pages);
    tm_pdf_text_right(pdf, &tm_pdf_quiet, pdf->right, y, text);
    if (ends_here) {
        style.face = TM_PDF_BOLD;
        style.role = TM_ROLE_BAD;
        (void)snprintf(text, sizeof(text), "The PDF ends here: the rest is in %s.html and %s.", pdf->document->file,
                       pdf->document->data);
        tm_pdf_text_at(pdf, &style, pdf->left, y, text);
        return;
    }
    tm_pdf_encode(pdf, pdf->text, TM_PDF_CELL_BYTES, program(pdf, text));
    tm_pdf_text_at(pdf, &style, pdf->left, y, pdf->text);
}

/* The lines at the top and the bottom of every page, once all pages exist: title and date of the profile, program,
 * number of the page. */
static void pdf_head_pages(struct tm_pdf *pdf)
{
    const bool was_full = pdf->is_full;

    pdf->is_full = false;
    for (int i = 0; i < pdf->pages && !tm_failed(pdf->run); i++) {
        tm_pdf_turn_to(pdf, i);
        tm_pdf_begin_artifact(pdf);
        head_page(pdf, i > 0);
        foot_page(pdf, was_full && i + 1 == pdf->pages);
        tm_pdf_end_artifact(pdf);
    }
    pdf->is_full = was_full;
}

enum {
    CHARTS_MOST = 4, /* of a kind */
    FINDINGS_MOST = 30,
};

static const double above_section = 13, section_room = 22, above_closing = 9, closing_room = 18, above_subheading = 8,
                    subheading_room = 17, paragraph_gap = 4, above_figure = 7, mark_size = 6, mark_room = 12;

static const struct tm_pdf_style section_style = { .face = TM_PDF_BOLD, .size = 13, .role = TM_ROLE_TEXT },
                                 closing_style = { .face = TM_PDF_BOLD, .size = 10.5, .role = TM_ROLE_TEXT },
                                 subheading_style = { .face = TM_PDF_BOLD, .size = 10, .role = TM_ROLE_TEXT };

/* --- headings, which wait for the content that follows --- */

static void put_section_heading(struct tm_pdf *pdf)
{
    const bool is_closing = pdf->section->is_closing;
    const struct tm_pdf_style *const style = is_closing ? &closing_style : &section_style;
    char title[TM_PDF_PLACE_BYTES], sign[TM_SIGN_BYTES];

    (void)snprintf(title, sizeof(title), "%.80s%s", pdf->section->title,
                   pdf->section->key ? tm_sign_of_section(sign, pdf->summary, pdf->section->key) : "");
    if (pdf->y > pdf->top)
        pdf->y += is_closing ? above_closing : above_section;
    tm_pdf_add_place(pdf, 0, pdf->section->id, 0, pdf->section->title);
    tm_pdf_begin_tag(pdf, TM_PDF_TAG_SECTION, NULL);
    tm_pdf_encode(pdf, pdf->text, TM_PDF_CELL_BYTES, title);
    tm_pdf_fit(pdf, style, pdf->text, tm_pdf_column(pdf), 1);
    tm_pdf_text_at(pdf, style, pdf->left, pdf->y + style->size, pdf->text);
    if (!is_closing)
        tm_pdf_rule(pdf, TM_ROLE_SERIES, 1.2, pdf->y + style->size + 5, pdf->left + 28);
    pdf->y += is_closing ? closing_room : section_room;
    pdf->section = NULL;
}

static void put_waiting_subheading(struct tm_pdf *pdf)
{
    if (pdf->y > pdf->top)
        pdf->y += above_subheading;
    tm_pdf_add_place(pdf, 1, NULL, 0, pdf->subheading);
    tm_pdf_begin_tag(pdf, TM_PDF_TAG_HEADING, NULL);
    tm_pdf_encode(pdf, pdf->text, TM_PDF_CELL_BYTES, pdf->subheading);
    tm_pdf_fit(pdf, &subheading_style, pdf->text, tm_pdf_column(pdf), 1);
    tm_pdf_text_at(pdf, &subheading_style, pdf->left, pdf->y + subheading_style.size, pdf->text);
    pdf->y += subheading_room;
    pdf->subheading[0] = 0;
}

/* Points that the waiting headings take. */
static double headings_height(const struct tm_pdf *pdf)
{
    return (pdf->section ? above_section + section_room : 0) +
           (*pdf->subheading ? above_subheading + subheading_room : 0);
}

/* Make room for the start of a block and the headings that wait for it. */
static void begin_block(struct tm_pdf *pdf, double height)
{
    tm_pdf_reserve(pdf, height + headings_height(pdf));
    if (pdf->section)
        put_section_heading(pdf);
    if (*pdf->subheading)
        put_waiting_subheading(pdf);
    tm_pdf_begin_tag(pdf, TM_PDF_TAG_TEXT, NULL);
}

/* The same for a table or a chart, which has space above it, unless its heading is there. */
static void begin_figure(struct tm_pdf *pdf, double height)
{
    const bool is_headed = pdf->section || *pdf->subheading;

    begin_block(pdf, height + above_figure);
    pdf->y += pdf->y > pdf->top && !is_headed ? above_figure : 0;
}

/* --- the medium --- */

static void take_section(void *to, const struct tm_section *section)
{
    struct tm_pdf *pdf = to;

    pdf->section = section;
    pdf->subheading[0] = 0;
}

static void take_subheading(void *to, const char *text)
{
    struct tm_pdf *pdf = to;

    (void)snprintf(pdf->subheading, sizeof(pdf->subheading), "%s", text);
}

static void take_paragraph(void *to, enum tm_tone tone, const char *text)
{
    struct tm_pdf *pdf = to;
    const struct tm_pdf_style *style = tone == TM_TONE_QUIET   ? &tm_pdf_quiet
                                       : tone == TM_TONE_PLAIN ? &tm_pdf_body
                                                               : &tm_pdf_strong;
    const bool has_mark = tone != TM_TONE_QUIET && tone != TM_TONE_PLAIN;

    begin_block(pdf, 2 * tm_pdf_leading(style));
    if (has_mark)
        tm_pdf_rect(pdf, tm_pdf_role_of_tone(tone),
                    &(struct tm_pdf_box){ pdf->left, pdf->y + 2.2, mark_size, mark_size });
    tm_pdf_encode_prose(pdf, pdf->text, sizeof(pdf->text), text);
    tm_pdf_wrapped(pdf, style, has_mark ? mark_room : 0, pdf->text);
    pdf->y += paragraph_gap;
}

static void put_note(struct tm_pdf *pdf, const char *text)
{
    tm_pdf_encode_prose(pdf, pdf->text, sizeof(pdf->text), text);
    tm_pdf_wrapped(pdf, &tm_pdf_quiet, 0, pdf->text);
}

static void take_facts(void *to, const struct tm_table *facts)
{
    struct tm_pdf *pdf = to;
    struct tm_pdf_facts laid_out;

    tm_sheet_fill_facts(&pdf->sheet, facts, pdf->summary);
    pdf_facts_make(pdf, &laid_out, &pdf->sheet);
    begin_block(pdf, pdf_facts_least(&laid_out));
    pdf_facts_draw(pdf, &laid_out);
}

static const struct tm_medium pdf_medium;

static void take_table(void *to, const struct tm_table *table)
{
    struct tm_pdf *pdf = to;
    struct tm_layout layout;
    struct tm_pdf_grid grid;
    char note[TM_NOTE_BYTES];

    if (table->glossary > 0) {
        begin_block(pdf, tm_pdf_leading(&tm_pdf_body) * 4);
        tm_pdf_glossary(pdf, table);
        return;
    }
    tm_sheet_fill(&pdf->sheet, &layout, table, pdf->summary, &pdf_medium.room);
    tm_pdf_grid_make(pdf, &grid, &pdf->sheet, table->caption ? table->caption : "");
    begin_figure(pdf, tm_pdf_grid_least(pdf, &grid));
    tm_pdf_grid_draw(pdf, &grid);
    for (size_t i = 0; tm_layout_note(&layout, i, note); i++)
        put_note(pdf, note);
    pdf->y += paragraph_gap;
}

/* Draw chart number `index` for the column; smaller if it only then fits on the rest of the page. */
static void make_chart(struct tm_pdf *pdf, struct tm_chart *chart, enum tm_chart_kind kind, size_t index)
{
    static const double scales[] = { 1, 0.9, 0.8, 0.7 };
    bool fits = false;

    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]) && !fits && !tm_failed(pdf->run); i++) {
        chart->width = tm_pdf_column(pdf) / scales[i];
        tm_charts_draw(chart, kind, index, pdf->summary);
        fits = tm_pdf_chart_height(pdf, chart) + above_figure + headings_height(pdf) <= tm_pdf_left_on_page(pdf);
    }
    if (fits || tm_failed(pdf->run))
        return;
    chart->width = tm_pdf_column(pdf);
    tm_charts_draw(chart, kind, index, pdf->summary);
}

static void take_charts(void *to, enum tm_chart_kind kind)
{
    struct tm_pdf *pdf = to;
    const size_t n = tm_charts_count(kind, pdf->summary);
    struct tm_chart chart;
    char more[2 * TM_FORMAT_BYTES];

    if (pdf->is_drawn[kind])
        return;
    tm_chart_init(&chart, pdf->run, tm_pdf_column(pdf));
    chart.is_short = true;
    for (size_t i = 0; i < n && i < CHARTS_MOST && !tm_failed(pdf->run); i++) {
        make_chart(pdf, &chart, kind, i);
        if (tm_failed(pdf->run))
            break;
        begin_figure(pdf, tm_pdf_chart_height(pdf, &chart));
        tm_pdf_chart(pdf, &chart);
    }
    tm_chart_free(&chart);
    if (n <= CHARTS_MOST)
        return;
    (void)snprintf(more, sizeof(more), "%zu more of this kind are in %s.html.", n - CHARTS_MOST, pdf->document->file);
    put_note(pdf, more);
}

static void take_finding(void *to, const struct tm_value *finding, size_t number)
{
    struct tm_pdf *pdf = to;
    char more[TM_FRONT_BYTES];

    if (number > FINDINGS_MOST)
        return;
    begin_block(pdf, tm_pdf_finding_least(pdf));
    tm_pdf_finding(pdf, finding, number);
    if (number < FINDINGS_MOST || tm_length(tm_get(pdf->summary, "findings")) == FINDINGS_MOST)
        return;
    (void)snprintf(more, sizeof(more), "Further findings are in %s.html and %s.", pdf->document->file,
                   pdf->document->data);
    put_note(pdf, more);
}

/* The meaning of the letters in the heading of the section. */
static void end_section(void *to, const struct tm_section *section)
{
    struct tm_pdf *pdf = to;
    const struct tm_value *marks = tm_path(pdf->summary, "coverage.marks");
    char line[TM_FRONT_BYTES];

    for (size_t i = 0; section->key && !pdf->section && i < tm_length(marks) && i < TM_MARKS_SHOWN; i++) {
        if (!tm_mark_is_of_section(tm_at(marks, i), section->key))
            continue;
        (void)snprintf(line, sizeof(line), "[%c] %s", tm_mark_letter(i), tm_text(tm_get(tm_at(marks, i), "text")));
        put_note(pdf, line);
    }
    pdf->section = NULL;
    pdf->subheading[0] = 0;
}

static const struct tm_medium pdf_medium = {
    .room = { .is_paper = true, .is_short = true, .rows = TM_SHEET_ROOM },
    .has_charts = true,
    .section = take_section,
    .end_section = end_section,
    .subheading = take_subheading,
    .paragraph = take_paragraph,
    .facts = take_facts,
    .table = take_table,
    .charts = take_charts,
    .finding = take_finding,
};

/* --- the document --- */

/* Write the finished document, piece by piece. */
static void save(struct tm_pdf *pdf, FILE *to)
{
    if (tm_failed(pdf->run))
        return;
    (void)HPDF_SaveToStream(pdf->doc);
    for (HPDF_UINT i = 0, n; !tm_failed(pdf->run) && i < HPDF_MemStream_GetBufCount(pdf->doc->stream); i++) {
        const HPDF_BYTE *piece = HPDF_MemStream_GetBufPtr(pdf->doc->stream, i, &n);

        if (fwrite(piece, 1, n, to) != n)
            break;
    }
    if (!tm_failed(pdf->run) && (fflush(to) != 0 || ferror(to)))
        (void)tm_fail_system(&pdf->run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the PDF report");
}

static void make(struct tm_pdf *pdf)
{
    const struct tm_content content = { .summary = pdf->summary, .medium = &pdf_medium, .to = pdf, .run = pdf->run };

    tm_front_make(&pdf->front, pdf->summary);
    pdf_set_info(pdf);
    tm_pdf_front(pdf);
    if (!pdf->front.is_slight)
        tm_pdf_new_page(pdf);
    if (!tm_failed(pdf->run))
        tm_content_say(&content);
    tm_pdf_finish_places(pdf);
    pdf_head_pages(pdf);
    complete_document(pdf);
}

tm_status tm_pdf_write(struct tm_run *run, const struct tm_doc *doc, enum tm_paper paper, FILE *to)
{
    struct tm_pdf *pdf = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*pdf), &run->error);

    if (!pdf)
        return TM_ERR_LIMIT;
    pdf->run = run;
    pdf->summary = tm_doc_root(doc);
    pdf->document = tm_document_of(pdf->summary);
    begin_document(pdf, paper);
    if (!tm_failed(pdf->run))
        make(pdf);
    save(pdf, to);
    end_document(pdf);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, pdf, sizeof(*pdf));
    return run->error.status;
}
