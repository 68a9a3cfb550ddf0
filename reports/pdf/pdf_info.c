/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about the document itself. */
#include "reports/pdf/pdf_info.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reports/format/format.h"
#include "reports/pdf/pdf_extras.h"
#include "reports/pdf/pdf_text.h"

static const double header_y = 38, footer_below = 30;

/* The date of the document: SOURCE_DATE_EPOCH in seconds, UTC; none where it is not set or no number. */
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

static void set_text(struct tm_pdf *pdf, HPDF_InfoType type, const char *text)
{
    tm_pdf_encode_outside(pdf, pdf->text, TM_PDF_CELL_BYTES, text);
    if (*pdf->text)
        TM_PDF_CALL(pdf, HPDF_SetInfoAttr(pdf->doc, type, pdf->text));
}

/* "tracemill 0.3.0" of the program that made the summary. */
static const char *program(const struct tm_pdf *pdf, char out[TM_FORMAT_BYTES])
{
    (void)snprintf(out, TM_FORMAT_BYTES, "tracemill %.24s", tm_text(tm_path(pdf->summary, "tool.version")));
    return out;
}

void tm_pdf_set_info(struct tm_pdf *pdf)
{
    const char *platform = tm_text(tm_path(pdf->summary, "environment.platform"));
    char text[TM_FORMAT_BYTES];

    set_text(pdf, HPDF_INFO_TITLE, pdf->front.title);
    set_text(pdf, HPDF_INFO_SUBJECT, pdf->front.verdict);
    set_text(pdf, HPDF_INFO_CREATOR, program(pdf, text));
    (void)snprintf(text, sizeof(text), "performance, profile, XLA%s%.16s", *platform ? ", " : "", platform);
    set_text(pdf, HPDF_INFO_KEYWORDS, text);
    set_date(pdf);
    TM_PDF_CALL(pdf, HPDF_SetPageMode(pdf->doc, HPDF_PAGE_MODE_USE_OUTLINE));
    tm_pdf_set_language(pdf->doc);
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
        (void)snprintf(text, sizeof(text), "The PDF ends here: the rest is in %s.html and %s.",
                       pdf->document->file, pdf->document->data);
        tm_pdf_text_at(pdf, &style, pdf->left, y, text);
        return;
    }
    tm_pdf_encode(pdf, pdf->text, TM_PDF_CELL_BYTES, program(pdf, text));
    tm_pdf_text_at(pdf, &style, pdf->left, y, pdf->text);
}

void tm_pdf_head_pages(struct tm_pdf *pdf)
{
    const bool was_full = pdf->is_full;

    pdf->is_full = false;
    for (int i = 0; i < pdf->pages && pdf->status == TM_OK; i++) {
        tm_pdf_turn_to(pdf, i);
        head_page(pdf, i > 0);
        foot_page(pdf, was_full && i + 1 == pdf->pages);
    }
    pdf->is_full = was_full;
}
