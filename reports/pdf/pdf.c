/* SPDX-License-Identifier: Apache-2.0 */
/* report.pdf: what reports/body says, on pages, with the charts of reports/chart.  libharu holds
 * the whole document in memory until it is written, hence the limit on pages; tables are capped by
 * their sheets.  Nothing in it depends on the clock: libharu dates a document only when it is told
 * to. */
#include "reports/pdf/pdf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reports/body/body.h"
#include "reports/chart/charts.h"
#include "reports/pdf/pdf_chart.h"
#include "reports/pdf/pdf_page.h"
#include "reports/pdf/pdf_table.h"

enum {
    KERNEL_ROWS = 20,
    CHARTS_MOST = 4, /* of a kind */
    FINDING_ROWS = 30,
    TOP_FINDINGS = 6,
    TOP_FINDING_HEIGHT = 24, /* points that one of them may take */
    ASCII_BYTES = 512,
    SAVE_BYTES = 1 << 16,
    ITEM_INDENT = 62,
};

static const enum tm_chart_kind first_chart = TM_CHART_DEVICES; /* the one on the first page */
static const double title_size = 17, heading_size = 13.5, subheading_size = 10, body_size = 9,
                    quiet_size = 7.8, above_chart = 6;

/* A bookmark that leads to the pen. */
static void bookmark(struct tm_pdf *pdf, const char *title)
{
    HPDF_Outline outline;
    HPDF_Destination place;

    if (!tm_pdf_is_drawing(pdf))
        return;
    outline = HPDF_CreateOutline(pdf->doc, NULL, title, NULL);
    place = HPDF_Page_CreateDestination(pdf->page);
    if (!outline || !place)
        return; /* the handler of errors was told */
    (void)HPDF_Destination_SetFitH(place, (HPDF_REAL)(tm_pdf_page_height - pdf->y + 8));
    (void)HPDF_Outline_SetDestination(outline, place);
}

static void put_text(struct tm_pdf *pdf, enum tm_pdf_face face, double size, enum tm_role role,
                     const char *text)
{
    tm_pdf_encode(pdf, pdf->text, sizeof(pdf->text), text);
    tm_pdf_wrapped(pdf, face, size, role, 0, pdf->text);
}

static void put_heading(void *to, const char *text)
{
    struct tm_pdf *pdf = to;

    tm_pdf_reserve(pdf, 90);
    if (pdf->y > tm_pdf_top)
        pdf->y += 12;
    bookmark(pdf, text);
    put_text(pdf, TM_PDF_BOLD, heading_size, TM_ROLE_TEXT, text);
    pdf->y += 3;
}

static void put_subheading(void *to, const char *text)
{
    struct tm_pdf *pdf = to;

    tm_pdf_reserve(pdf, 60);
    pdf->y += 4;
    put_text(pdf, TM_PDF_BOLD, subheading_size, TM_ROLE_TEXT, text);
    pdf->y += 1;
}

static void put_paragraph(void *to, enum tm_tone tone, const char *text)
{
    struct tm_pdf *pdf = to;

    if (tone == TM_TONE_QUIET) {
        put_text(pdf, TM_PDF_REGULAR, quiet_size, TM_ROLE_QUIET, text);
        pdf->y += 2;
        return;
    }
    tm_pdf_reserve(pdf, tone == TM_TONE_PLAIN ? 3 * body_size : 6 * body_size);
    if (pdf->y > tm_pdf_top && tone != TM_TONE_PLAIN)
        pdf->y += 3;
    if (tone == TM_TONE_PLAIN) {
        put_text(pdf, TM_PDF_REGULAR, body_size, TM_ROLE_TEXT, text);
    } else {
        tm_pdf_rect(pdf, tm_pdf_role_of_tone(tone), tm_pdf_left, pdf->y + 2, 6, 6);
        tm_pdf_encode(pdf, pdf->text, sizeof(pdf->text), text);
        tm_pdf_wrapped(pdf, TM_PDF_BOLD, body_size, TM_ROLE_TEXT, 11, pdf->text);
    }
    pdf->y += 3;
}

static void put_item(void *to, const char *label, const char *text)
{
    struct tm_pdf *pdf = to;

    tm_pdf_reserve(pdf, 2 * body_size);
    tm_pdf_text_at(pdf, TM_PDF_REGULAR, quiet_size, TM_ROLE_QUIET, tm_pdf_left + 11,
                   pdf->y + body_size - 0.5, label, strlen(label));
    tm_pdf_encode(pdf, pdf->text, sizeof(pdf->text), *text ? text : "-");
    tm_pdf_wrapped(pdf, TM_PDF_REGULAR, 8.5, TM_ROLE_TEXT, ITEM_INDENT, pdf->text);
    pdf->y += 1;
}

static void put_sheet(void *to, const struct tm_sheet *sheet)
{
    struct tm_pdf *pdf = to;

    if (pdf->y > tm_pdf_top)
        pdf->y += 2;
    tm_pdf_table(pdf, sheet);
}

static const struct tm_form pdf_form = {
    .heading = put_heading,
    .subheading = put_subheading,
    .paragraph = put_paragraph,
    .item = put_item,
    .sheet = put_sheet,
};

static void put_banner(struct tm_pdf *pdf)
{
    const double height = 18;

    tm_pdf_rect(pdf, TM_ROLE_BAD, tm_pdf_left, pdf->y, tm_pdf_right - tm_pdf_left, height);
    tm_pdf_text_at(pdf, TM_PDF_BOLD, body_size, TM_ROLE_PAPER, tm_pdf_left + 6, pdf->y + 12.2,
                   tm_body_partial_text, strlen(tm_body_partial_text));
    pdf->y += height + 6;
}

static void put_title(struct tm_pdf *pdf)
{
    memcpy(pdf->text, pdf->title, sizeof(pdf->title));
    tm_pdf_cut_middle(pdf, TM_PDF_BOLD, title_size, pdf->text, tm_pdf_right - tm_pdf_left);
    tm_pdf_wrapped(pdf, TM_PDF_BOLD, title_size, TM_ROLE_TEXT, 0, pdf->text);
    pdf->y += 4;
}

/* A chart on what is left of the first page, if it fits.  out: was it drawn? */
static bool put_first_chart(struct tm_pdf *pdf, const struct tm_value *summary)
{
    struct tm_chart chart;
    bool fits;

    if (tm_charts_count(first_chart, summary) == 0 || pdf->pages > 1)
        return false;
    tm_chart_init(&chart, pdf->run, tm_pdf_right - tm_pdf_left);
    tm_charts_draw(&chart, first_chart, 0, summary);
    pdf->status = tm_chart_status(&chart);
    fits = pdf->status == TM_OK &&
           tm_pdf_chart_height(pdf, &chart) + above_chart < tm_pdf_left_on_page(pdf);
    if (fits) {
        pdf->y += above_chart;
        tm_pdf_chart(pdf, &chart);
    }
    tm_chart_free(&chart);
    return fits;
}

/* The page that stands alone: what was run, the verdict, the key figures, as many findings as
 * fit, and a chart if there is room.  out: was the chart drawn? */
static bool put_first_page(struct tm_pdf *pdf, struct tm_body *body)
{
    int findings;

    bookmark(pdf, "Summary");
    put_title(pdf);
    if (pdf->is_partial)
        put_banner(pdf);
    tm_body_facts(body);
    put_subheading(pdf, "Verdict");
    tm_body_verdict(body);
    put_subheading(pdf, "Key figures");
    tm_body_kpis(body);
    findings = (int)(tm_pdf_left_on_page(pdf) / TOP_FINDING_HEIGHT) - 2;
    if (findings < 1)
        return false;
    put_subheading(pdf, "Findings by time at stake");
    tm_body_top_findings(body, findings < TOP_FINDINGS ? findings : TOP_FINDINGS);
    return put_first_chart(pdf, body->summary);
}

static void put_charts(struct tm_pdf *pdf, const struct tm_value *summary, bool has_first)
{
    struct tm_chart chart;
    bool is_first = true;
    char more[96];

    tm_chart_init(&chart, pdf->run, tm_pdf_right - tm_pdf_left);
    for (int kind = 0; kind < TM_CHART_KINDS; kind++) {
        const size_t n = tm_charts_count(kind, summary);

        for (size_t i = has_first && kind == (int)first_chart; i < n && i < CHARTS_MOST && tm_pdf_is_drawing(pdf);
             i++) {
            tm_charts_draw(&chart, kind, i, summary);
            pdf->status = tm_chart_status(&chart);
            if (pdf->status != TM_OK)
                break;
            if (is_first)
                put_heading(pdf, "Charts");
            is_first = false;
            tm_pdf_chart(pdf, &chart);
        }
        if (n > CHARTS_MOST && pdf->status == TM_OK) {
            (void)snprintf(more, sizeof(more), "%zu more of this kind are in report.html.", n - CHARTS_MOST);
            put_paragraph(pdf, TM_TONE_QUIET, more);
        }
    }
    tm_chart_free(&chart);
}

/* The date of the document: SOURCE_DATE_EPOCH in seconds, UTC; none where it is not set or no
 * number. */
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
    (void)HPDF_SetInfoDateAttr(pdf->doc, HPDF_INFO_CREATION_DATE, to);
    (void)HPDF_SetInfoDateAttr(pdf->doc, HPDF_INFO_MOD_DATE, to);
}

/* The facts that a reader's dialog shows.  Their encoding differs from that of the fonts past
 * ASCII. */
static void set_info(struct tm_pdf *pdf, const struct tm_value *summary)
{
    char text[ASCII_BYTES];
    size_t n = 0;

    for (const char *c = pdf->title; *c && n + 1 < sizeof(text); c++)
        text[n++] = *c >= ' ' && *c < 0x7f ? *c : '?';
    text[n] = 0;
    (void)HPDF_SetInfoAttr(pdf->doc, HPDF_INFO_TITLE, text);
    (void)snprintf(text, sizeof(text), "tracemill %.64s",
                   tm_text(tm_path(summary, "tool.version")));
    for (char *c = text; *c; c++)
        *c = *c >= ' ' && *c < 0x7f ? *c : '?';
    (void)HPDF_SetInfoAttr(pdf->doc, HPDF_INFO_CREATOR, text);
    set_date(pdf);
}

/* Hand the finished document over, piece by piece. */
static void save(struct tm_pdf *pdf, FILE *to)
{
    uint8_t piece[SAVE_BYTES];
    size_t size, done = 0;

    if (pdf->status != TM_OK)
        return;
    (void)HPDF_SaveToStream(pdf->doc);
    if (pdf->status != TM_OK)
        return;
    size = HPDF_GetStreamSize(pdf->doc);
    (void)HPDF_ResetStream(pdf->doc);
    while (done < size && pdf->status == TM_OK) {
        const size_t wanted = size - done < sizeof(piece) ? size - done : sizeof(piece);
        HPDF_UINT32 n = (HPDF_UINT32)wanted;

        (void)HPDF_ReadFromStream(pdf->doc, piece, &n);
        if (n != wanted || fwrite(piece, 1, wanted, to) != wanted)
            break;
        done += wanted;
    }
    if (pdf->status == TM_OK && (done < size || fflush(to) != 0 || ferror(to)))
        pdf->status = tm_fail(&pdf->run->error, TM_ERR_OUTPUT, -1,
                              "cannot write the PDF report: %s", strerror(errno));
}

static void make(struct tm_pdf *pdf, const struct tm_value *summary)
{
    struct tm_body body = {
        .summary = summary,
        .form = &pdf_form,
        .to = pdf,
        .sheet = &pdf->sheet,
        .kernel_rows = KERNEL_ROWS,
        .finding_rows = FINDING_ROWS,
    };
    char title[TM_BODY_TITLE_BYTES];
    bool has_first;

    pdf->version = tm_text(tm_path(summary, "tool.version"));
    tm_body_title(title, summary);
    tm_pdf_encode(pdf, pdf->title, sizeof(pdf->title), title);
    pdf->is_partial = tm_body_is_partial(&body);
    set_info(pdf, summary);
    tm_pdf_new_page(pdf);
    has_first = put_first_page(pdf, &body);
    tm_pdf_new_page(pdf);
    put_charts(pdf, summary, has_first);
    if (pdf->status == TM_OK)
        tm_body_sections(&body);
    tm_pdf_number_pages(pdf);
}

tm_status tm_pdf_write(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    struct tm_pdf *pdf = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*pdf), &run->error);
    tm_status st;

    if (!pdf)
        return TM_ERR_LIMIT;
    pdf->run = run;
    tm_pdf_begin(pdf);
    if (pdf->status == TM_OK)
        make(pdf, tm_doc_root(doc));
    save(pdf, to);
    tm_pdf_end(pdf);
    st = pdf->status;
    tm_give(&run->budget, TM_ACCOUNT_MODEL, pdf, sizeof(*pdf));
    return st;
}
