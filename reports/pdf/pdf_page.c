/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of the document, colors and shapes on them. */
#include "reports/pdf/pdf_page.h"

#include <stdbool.h>

#include <hpdf.h>

#include "pipeline/run.h"
#include "reports/chart/chart.h"
#include "reports/content/content.h"
#include "reports/media.h"

static const double edge_width = 3, edge_gap = 9;

enum { FULL = 255 }; /* of a part of a colour */

/* --- pages --- */

bool tm_pdf_is_drawing(const struct tm_pdf *pdf)
{
    return !tm_failed(pdf->run) && pdf->page && !pdf->is_full;
}

/* The edge of the card as far as it reaches on this page. */
static void draw_edge(struct tm_pdf *pdf)
{
    if (pdf->has_edge && pdf->y > pdf->edge_y)
        tm_pdf_rect(pdf, pdf->edge,
                    &(struct tm_pdf_box){ pdf->left - edge_gap, pdf->edge_y, edge_width, pdf->y - pdf->edge_y });
}

void tm_pdf_new_page(struct tm_pdf *pdf)
{
    if (tm_failed(pdf->run) || pdf->is_full)
        return;
    draw_edge(pdf);
    if (pdf->pages == TM_PDF_PAGES) {
        pdf->is_full = true;
        return;
    }
    pdf->page = HPDF_AddPage(pdf->doc);
    if (tm_failed(pdf->run))
        return;
    TM_PDF_CALL(pdf, HPDF_Page_SetWidth(pdf->page, (HPDF_REAL)pdf->page_width));
    TM_PDF_CALL(pdf, HPDF_Page_SetHeight(pdf->page, (HPDF_REAL)pdf->page_height));
    pdf->page_at = pdf->pages++;
    pdf->y = pdf->edge_y = pdf->top;
}

void tm_pdf_turn_to(struct tm_pdf *pdf, int page)
{
    if (tm_failed(pdf->run) || page >= pdf->pages)
        return;
    pdf->page = HPDF_GetPageByIndex(pdf->doc, (HPDF_UINT)page);
    pdf->page_at = page;
}

double tm_pdf_left_on_page(const struct tm_pdf *pdf)
{
    return pdf->bottom - pdf->y;
}

double tm_pdf_column(const struct tm_pdf *pdf)
{
    return pdf->right - pdf->left;
}

void tm_pdf_reserve(struct tm_pdf *pdf, double height)
{
    if (!pdf->page || tm_pdf_left_on_page(pdf) < height)
        tm_pdf_new_page(pdf);
}

void tm_pdf_begin_card(struct tm_pdf *pdf, enum tm_role role)
{
    pdf->has_edge = true;
    pdf->edge = role;
    pdf->edge_y = pdf->y;
    pdf->left += edge_gap;
}

void tm_pdf_end_card(struct tm_pdf *pdf)
{
    draw_edge(pdf);
    pdf->has_edge = false;
    pdf->left -= edge_gap;
}

/* --- colours --- */

enum tm_role tm_pdf_role_of_tone(enum tm_tone tone)
{
    switch (tone) {
    case TM_TONE_GOOD:
        return TM_ROLE_GOOD;
    case TM_TONE_WARNING:
        return TM_ROLE_WARNING;
    case TM_TONE_BAD:
    case TM_TONE_CRITICAL:
        return TM_ROLE_BAD;
    case TM_TONE_INFO:
    case TM_TONE_UNKNOWN:
        return TM_ROLE_UNKNOWN;
    case TM_TONE_QUIET:
        return TM_ROLE_QUIET;
    default:
        return TM_ROLE_TEXT;
    }
}

static float part_of(enum tm_role role, int shift, double share)
{
    const double part = (double)(tm_palette[role].light >> shift & FULL) / FULL;

    return (float)(1 - share * (1 - part));
}

/* The same mixed with white.  in: share  of the colour, 0 to 1 */
static void pdf_tint(struct tm_pdf *pdf, enum tm_role role, double share)
{
    TM_PDF_CALL(pdf, HPDF_Page_SetRGBFill(pdf->page, part_of(role, 16, share), part_of(role, 8, share),
                                          part_of(role, 0, share)));
}

void tm_pdf_fill(struct tm_pdf *pdf, enum tm_role role)
{
    pdf_tint(pdf, role, 1);
}

void tm_pdf_stroke(struct tm_pdf *pdf, enum tm_role role, double thickness)
{
    TM_PDF_CALL(pdf, HPDF_Page_SetRGBStroke(pdf->page, part_of(role, 16, 1), part_of(role, 8, 1), part_of(role, 0, 1)));
    TM_PDF_CALL(pdf, HPDF_Page_SetLineWidth(pdf->page, (HPDF_REAL)thickness));
}

/* --- shapes --- */

void tm_pdf_tinted_rect(struct tm_pdf *pdf, enum tm_role role, double share, const struct tm_pdf_box *box)
{
    if (!tm_pdf_is_drawing(pdf))
        return;
    pdf_tint(pdf, role, share);
    TM_PDF_CALL(pdf,
                HPDF_Page_Rectangle(pdf->page, (HPDF_REAL)box->x, (HPDF_REAL)(pdf->page_height - box->y - box->height),
                                    (HPDF_REAL)box->width, (HPDF_REAL)box->height));
    TM_PDF_CALL(pdf, HPDF_Page_Fill(pdf->page));
}

void tm_pdf_rect(struct tm_pdf *pdf, enum tm_role role, const struct tm_pdf_box *box)
{
    tm_pdf_tinted_rect(pdf, role, 1, box);
}

void tm_pdf_rule(struct tm_pdf *pdf, enum tm_role role, double thickness, double y, double right)
{
    if (!tm_pdf_is_drawing(pdf))
        return;
    tm_pdf_stroke(pdf, role, thickness);
    TM_PDF_CALL(pdf, HPDF_Page_MoveTo(pdf->page, (HPDF_REAL)pdf->left, (HPDF_REAL)(pdf->page_height - y)));
    TM_PDF_CALL(pdf, HPDF_Page_LineTo(pdf->page, (HPDF_REAL)right, (HPDF_REAL)(pdf->page_height - y)));
    TM_PDF_CALL(pdf, HPDF_Page_Stroke(pdf->page));
}
