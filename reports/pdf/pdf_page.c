/* SPDX-License-Identifier: Apache-2.0 */
/* The document, its pages and shapes on them.  All measures derive from the size of the paper. */
#include "reports/pdf/pdf_page.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reports/pdf/pdf.h"
#include "reports/pdf/pdf_extras.h"

static const double side_margin = 50, top_margin = 64, bottom_margin = 58, edge_width = 3, edge_gap = 9;

enum { FULL = 255 }; /* of a part of a colour */

/* libharu reports every failure here and goes on; the first one counts. */
static void on_error(HPDF_STATUS error, HPDF_STATUS detail, void *user)
{
    struct tm_pdf *pdf = user;

    if (pdf->status != TM_OK)
        return;
    if (error == HPDF_FAILD_TO_ALLOC_MEM)
        pdf->status = tm_fail(&pdf->run->error, TM_ERR_LIMIT, -1, "cannot make the PDF report: no memory is left");
    else if (error == HPDF_FILE_OPEN_ERROR)
        pdf->status = tm_fail_system(&pdf->run->error, TM_ERR_LIMIT, -1, (int)detail,
                                     "cannot make the PDF report: no file for its font");
    else
        pdf->status = tm_fail(&pdf->run->error, TM_ERR_LIMIT, -1,
                              "cannot make the PDF report: a limit of the PDF library was reached");
    tm_hint(&pdf->run->error, "choose the other reports with --format html,json,text");
}

/* --- fonts --- */

/* A file in memory with the bytes of a font, since libharu reads fonts from files alone.  out: -1 = errno tells */
static int open_font_file(const struct tm_pdf_asset *asset)
{
    const int fd = memfd_create("font", MFD_CLOEXEC);
    size_t done = 0;

    while (fd >= 0 && done < asset->length) {
        const ssize_t n = write(fd, asset->bytes + done, asset->length - done);

        if (n <= 0 && errno != EINTR) {
            (void)close(fd);
            return -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return fd;
}

/* libharu keeps the file open for itself. */
static void load_font(struct tm_pdf *pdf, enum tm_pdf_face face)
{
    const int fd = open_font_file(&tm_pdf_assets[face]);
    char path[32];

    if (fd < 0 || !tm_pdf_font_open(&pdf->font[face], &tm_pdf_assets[face])) {
        pdf->status = tm_fail_system(&pdf->run->error, TM_ERR_LIMIT, -1, errno,
                                     "cannot make the PDF report: no file for its font");
    } else {
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (access(path, R_OK) != 0) {
            pdf->status = tm_fail_system(&pdf->run->error, TM_ERR_LIMIT, -1, errno,
                                         "cannot make the PDF report: no file for its font: '%s'", path);
            tm_hint(&pdf->run->error, "mount /proc, or choose the other reports with --format html,json,text");
        }
        const char *name = pdf->status ? NULL : HPDF_LoadTTFontFromFile(pdf->doc, path, HPDF_TRUE);

        if (name)
            tm_pdf_spread_map(pdf->doc, name);
        pdf->face[face] = name ? HPDF_GetFont(pdf->doc, name, "UTF-8") : NULL;
        if (pdf->face[face])
            tm_pdf_map_characters(pdf->face[face]);
    }
    if (fd >= 0)
        (void)close(fd);
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

void tm_pdf_begin(struct tm_pdf *pdf, enum tm_paper paper)
{
    set_paper(pdf, paper);
    pdf->doc = HPDF_New(on_error, pdf);
    if (!pdf->doc) {
        on_error(HPDF_FAILD_TO_ALLOC_MEM, 0, pdf);
        return;
    }
    (void)HPDF_SetCompressionMode(pdf->doc, HPDF_COMP_ALL);
    (void)HPDF_UseUTFEncodings(pdf->doc);
    (void)HPDF_SetCurrentEncoder(pdf->doc, "UTF-8"); /* of document information */
    pdf->encoder = pdf->status == TM_OK ? HPDF_GetEncoder(pdf->doc, "UTF-8") : NULL;
    if (pdf->encoder)
        tm_pdf_set_encoding(pdf->encoder);
    for (int face = 0; face < TM_PDF_FACES && pdf->status == TM_OK; face++)
        load_font(pdf, (enum tm_pdf_face)face);
}

void tm_pdf_complete(struct tm_pdf *pdf)
{
    if (HPDF_GetError(pdf->doc) != HPDF_NOERROR)
        on_error(HPDF_GetError(pdf->doc), 0, pdf);
    for (int face = 0; face < TM_PDF_FACES && pdf->status == TM_OK; face++) {
        size_t glyphs;
        uint8_t *used = tm_pdf_used_glyphs(pdf->face[face], &glyphs);

        if (used)
            tm_pdf_font_add_components(&pdf->font[face], used, glyphs);
    }
}

void tm_pdf_end(struct tm_pdf *pdf)
{
    if (pdf->doc)
        HPDF_Free(pdf->doc);
    pdf->doc = NULL;
    pdf->page = NULL;
}

/* --- pages --- */

bool tm_pdf_is_drawing(const struct tm_pdf *pdf)
{
    return pdf->status == TM_OK && pdf->page && !pdf->is_full;
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
    if (pdf->status != TM_OK || pdf->is_full)
        return;
    draw_edge(pdf);
    if (pdf->pages == TM_PDF_PAGES) {
        pdf->is_full = true;
        return;
    }
    pdf->page = HPDF_AddPage(pdf->doc);
    if (pdf->status != TM_OK)
        return;
    TM_PDF_CALL(pdf, HPDF_Page_SetWidth(pdf->page, (HPDF_REAL)pdf->page_width));
    TM_PDF_CALL(pdf, HPDF_Page_SetHeight(pdf->page, (HPDF_REAL)pdf->page_height));
    pdf->page_at = pdf->pages++;
    pdf->y = pdf->edge_y = pdf->top;
}

void tm_pdf_turn_to(struct tm_pdf *pdf, int page)
{
    if (pdf->status != TM_OK || page >= pdf->pages)
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

void tm_pdf_tint(struct tm_pdf *pdf, enum tm_role role, double share)
{
    TM_PDF_CALL(pdf, HPDF_Page_SetRGBFill(pdf->page, part_of(role, 16, share), part_of(role, 8, share),
                                          part_of(role, 0, share)));
}

void tm_pdf_fill(struct tm_pdf *pdf, enum tm_role role)
{
    tm_pdf_tint(pdf, role, 1);
}

void tm_pdf_stroke(struct tm_pdf *pdf, enum tm_role role, double thickness)
{
    TM_PDF_CALL(pdf, HPDF_Page_SetRGBStroke(pdf->page, part_of(role, 16, 1), part_of(role, 8, 1),
                                            part_of(role, 0, 1)));
    TM_PDF_CALL(pdf, HPDF_Page_SetLineWidth(pdf->page, (HPDF_REAL)thickness));
}

/* --- shapes --- */

void tm_pdf_tinted_rect(struct tm_pdf *pdf, enum tm_role role, double share, const struct tm_pdf_box *box)
{
    if (!tm_pdf_is_drawing(pdf))
        return;
    tm_pdf_tint(pdf, role, share);
    TM_PDF_CALL(pdf, HPDF_Page_Rectangle(pdf->page, (HPDF_REAL)box->x,
                                          (HPDF_REAL)(pdf->page_height - box->y - box->height), (HPDF_REAL)box->width,
                                          (HPDF_REAL)box->height));
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
