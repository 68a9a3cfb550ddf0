/* SPDX-License-Identifier: Apache-2.0 */
/* Pages and texts of a PDF.  The fonts are Helvetica of the fourteen that every PDF reader brings
 * along, in the encoding Windows-1252: nothing has to be installed, and the bytes are the same on
 * every machine.  A character outside of it is written as an escape, which loses nothing.  Widths
 * are asked of libharu once per character, so that measuring neither allocates nor fails. */
#include "reports/pdf/pdf_page.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/utf8.h"
#include "reports/pdf/pdf.h"

const double tm_pdf_page_height = 841.89;
const double tm_pdf_left = 48, tm_pdf_right = 595.28 - 48, tm_pdf_top = 62,
             tm_pdf_bottom = 841.89 - 54;

static const double leading = 1.34; /* distance of two lines, in font sizes */
static const double header_y = 36, footer_y = 841.89 - 32, small = 7.5;

enum {
    ELLIPSIS = 0x85,
    FIRST_C1 = 0x80,
    FIRST_LATIN = 0xa0,
    LAST_LATIN = 0xff,
    SOFT_HYPHEN = 0xad,
    REPLACEMENT = 0xfffd,
    SPELLED_BYTES = 16
};

/* libharu reports every failure here and goes on; the first one counts. */
static void on_error(HPDF_STATUS error, HPDF_STATUS detail, void *user)
{
    struct tm_pdf *pdf = user;

    (void)detail;
    if (pdf->status != TM_OK)
        return;
    if (error == HPDF_FAILD_TO_ALLOC_MEM)
        pdf->status = tm_fail(&pdf->run->error, TM_ERR_LIMIT, -1,
                              "cannot make the PDF report: no memory is left");
    else
        pdf->status = tm_fail(&pdf->run->error, TM_ERR_LIMIT, -1,
                              "cannot make the PDF report: a limit of the PDF library was reached");
    tm_hint(&pdf->run->error, "choose the other reports with --format html,json,text");
}

static void measure_font(struct tm_pdf *pdf, enum tm_pdf_face face)
{
    for (int c = 0; c < TM_PDF_CHARACTERS; c++) {
        const HPDF_BYTE text = (HPDF_BYTE)c;
        const HPDF_TextWidth width = HPDF_Font_TextWidth(pdf->font[face], &text, 1);

        pdf->advance[face][c] = (float)width.width / 1000;
    }
}

void tm_pdf_begin(struct tm_pdf *pdf)
{
    static const char *const names[TM_PDF_FACES] = { "Helvetica", "Helvetica-Bold" };

    pdf->doc = HPDF_New(on_error, pdf);
    if (!pdf->doc) {
        on_error(HPDF_FAILD_TO_ALLOC_MEM, 0, pdf);
        return;
    }
    (void)HPDF_SetCompressionMode(pdf->doc, HPDF_COMP_ALL);
    for (int face = 0; face < TM_PDF_FACES && pdf->status == TM_OK; face++) {
        pdf->font[face] = HPDF_GetFont(pdf->doc, names[face], "WinAnsiEncoding");
        if (pdf->status == TM_OK)
            measure_font(pdf, face);
    }
}

void tm_pdf_end(struct tm_pdf *pdf)
{
    if (pdf->doc)
        HPDF_Free(pdf->doc);
    pdf->doc = NULL;
    pdf->page = NULL;
}

bool tm_pdf_is_drawing(const struct tm_pdf *pdf)
{
    return pdf->status == TM_OK && pdf->page && !pdf->is_full;
}

void tm_pdf_new_page(struct tm_pdf *pdf)
{
    if (pdf->status != TM_OK || pdf->is_full)
        return;
    if (pdf->pages == TM_PDF_PAGES) {
        pdf->is_full = true;
        return;
    }
    pdf->page = HPDF_AddPage(pdf->doc);
    if (pdf->status != TM_OK)
        return;
    (void)HPDF_Page_SetSize(pdf->page, HPDF_PAGE_SIZE_A4, HPDF_PAGE_PORTRAIT);
    pdf->pages++;
    pdf->y = tm_pdf_top;
}

double tm_pdf_left_on_page(const struct tm_pdf *pdf)
{
    return tm_pdf_bottom - pdf->y;
}

void tm_pdf_reserve(struct tm_pdf *pdf, double height)
{
    if (!pdf->page || tm_pdf_left_on_page(pdf) < height)
        tm_pdf_new_page(pdf);
}

/* The byte of a character in Windows-1252, 0 where it has none. */
static unsigned char encoded(uint32_t code)
{
    static const uint16_t c1[32] = {
        0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
        0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
        0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178,
    };

    if (code >= ' ' && code < 0x7f)
        return (unsigned char)code;
    if (code > FIRST_LATIN && code <= LAST_LATIN && code != SOFT_HYPHEN)
        return (unsigned char)code;
    if (code == FIRST_LATIN)
        return ' ';
    for (size_t i = 0; i < sizeof(c1) / sizeof(c1[0]); i++)
        if (c1[i] && c1[i] == code)
            return (unsigned char)(FIRST_C1 + i);
    return 0;
}

/* A character as bytes of the font: its own, a usual spelling, or an escape.  in: piece  16 bytes
 */
static size_t spell(char *piece, uint32_t code)
{
    static const struct {
        uint32_t code;
        const char *text;
    } spelled[] = { { 0x2010, "-" },  { 0x2011, "-" },   { 0x2190, "<-" }, { 0x2192, "->" },
                    { 0x2212, "-" },  { 0x2248, "~" },   { 0x2260, "!=" }, { 0x2264, "<=" },
                    { 0x2265, ">=" }, { 0x03bc, "\xb5" } };

    piece[0] = (char)encoded(code);
    if (piece[0])
        return 1;
    for (size_t i = 0; i < sizeof(spelled) / sizeof(spelled[0]); i++)
        if (spelled[i].code == code)
            return (size_t)snprintf(piece, SPELLED_BYTES, "%s", spelled[i].text);
    return (size_t)snprintf(piece, SPELLED_BYTES, code <= 0xffff ? "\\u%04x" : "\\u{%x}",
                            (unsigned)code);
}

void tm_pdf_encode(struct tm_pdf *pdf, char *out, size_t out_bytes, const char *text)
{
    size_t used = 0, length;

    tm_sheet_visible(pdf->visible, sizeof(pdf->visible), text);
    length = strlen(pdf->visible);
    for (size_t i = 0; i < length;) {
        char piece[SPELLED_BYTES];
        uint32_t code = REPLACEMENT;
        const size_t n = tm_utf8_next(pdf->visible + i, length - i, &code);
        const size_t bytes = spell(piece, n ? code : REPLACEMENT);

        if (bytes >= out_bytes - used)
            break;
        memcpy(out + used, piece, bytes);
        used += bytes;
        i += n ? n : 1;
    }
    out[used] = 0;
}

double tm_pdf_width(const struct tm_pdf *pdf, enum tm_pdf_face face, double size, const char *text,
                    size_t bytes)
{
    double width = 0;

    for (size_t i = 0; i < bytes; i++)
        width += (double)pdf->advance[face][(unsigned char)text[i]];
    return width * size;
}

size_t tm_pdf_line_bytes(const struct tm_pdf *pdf, enum tm_pdf_face face, double size,
                         const char *text, double width)
{
    double used = 0;
    size_t most = 0, n;

    for (; text[most]; most++) {
        used += (double)pdf->advance[face][(unsigned char)text[most]] * size;
        if (used > width)
            break;
    }
    if (!text[most])
        return most;
    for (n = most; n > 0 && text[n] != ' ';)
        n--;
    if (n > 0)
        return n;
    return most > 0 ? most : 1;
}

void tm_pdf_cut_middle(const struct tm_pdf *pdf, enum tm_pdf_face face, double size, char *text,
                       double width)
{
    const size_t length = strlen(text);
    const double room = width - (double)pdf->advance[face][ELLIPSIS] * size;
    double used = 0;
    size_t head = 0, tail = length;

    if (tm_pdf_width(pdf, face, size, text, length) <= width)
        return;
    for (; head < length; head++) {
        used += (double)pdf->advance[face][(unsigned char)text[head]] * size;
        if (used > room / 2)
            break;
    }
    for (used = 0; tail > head + 1; tail--) {
        used += (double)pdf->advance[face][(unsigned char)text[tail - 1]] * size;
        if (used > room / 2)
            break;
    }
    if (length == 0 || head >= tail)
        return;
    text[head] = (char)ELLIPSIS;
    memmove(text + head + 1, text + tail, length - tail + 1);
}

static float part_of(uint32_t colour, int shift)
{
    return (float)(colour >> shift & 255) / 255;
}

void tm_pdf_fill(struct tm_pdf *pdf, enum tm_role role)
{
    const uint32_t colour = tm_palette[role].light;

    if (tm_pdf_is_drawing(pdf))
        (void)HPDF_Page_SetRGBFill(pdf->page, part_of(colour, 16), part_of(colour, 8),
                                   part_of(colour, 0));
}

void tm_pdf_stroke(struct tm_pdf *pdf, enum tm_role role, double thickness)
{
    const uint32_t colour = tm_palette[role].light;

    if (!tm_pdf_is_drawing(pdf))
        return;
    (void)HPDF_Page_SetRGBStroke(pdf->page, part_of(colour, 16), part_of(colour, 8),
                                 part_of(colour, 0));
    (void)HPDF_Page_SetLineWidth(pdf->page, (HPDF_REAL)thickness);
}

void tm_pdf_text_at(struct tm_pdf *pdf, enum tm_pdf_face face, double size, enum tm_role role,
                    double x, double y, const char *text, size_t bytes)
{
    char line[TM_PDF_CELL_BYTES];

    if (!tm_pdf_is_drawing(pdf) || bytes == 0)
        return;
    bytes = bytes < sizeof(line) ? bytes : sizeof(line) - 1;
    memcpy(line, text, bytes);
    line[bytes] = 0;
    tm_pdf_fill(pdf, role);
    (void)HPDF_Page_BeginText(pdf->page);
    (void)HPDF_Page_SetFontAndSize(pdf->page, pdf->font[face], (HPDF_REAL)size);
    (void)HPDF_Page_TextOut(pdf->page, (HPDF_REAL)x, (HPDF_REAL)(tm_pdf_page_height - y), line);
    (void)HPDF_Page_EndText(pdf->page);
}

void tm_pdf_rect(struct tm_pdf *pdf, enum tm_role role, double x, double y, double width,
                 double height)
{
    if (!tm_pdf_is_drawing(pdf))
        return;
    tm_pdf_fill(pdf, role);
    (void)HPDF_Page_Rectangle(pdf->page, (HPDF_REAL)x, (HPDF_REAL)(tm_pdf_page_height - y - height),
                              (HPDF_REAL)width, (HPDF_REAL)height);
    (void)HPDF_Page_Fill(pdf->page);
}

void tm_pdf_rule(struct tm_pdf *pdf, enum tm_role role, double thickness, double y, double right)
{
    if (!tm_pdf_is_drawing(pdf))
        return;
    tm_pdf_stroke(pdf, role, thickness);
    (void)HPDF_Page_MoveTo(pdf->page, (HPDF_REAL)tm_pdf_left, (HPDF_REAL)(tm_pdf_page_height - y));
    (void)HPDF_Page_LineTo(pdf->page, (HPDF_REAL)right, (HPDF_REAL)(tm_pdf_page_height - y));
    (void)HPDF_Page_Stroke(pdf->page);
}

void tm_pdf_wrapped(struct tm_pdf *pdf, enum tm_pdf_face face, double size, enum tm_role role,
                    double indent, const char *text)
{
    const double width = tm_pdf_right - tm_pdf_left - indent;

    while (*text && pdf->status == TM_OK && !pdf->is_full) {
        const size_t n = tm_pdf_line_bytes(pdf, face, size, text, width);

        tm_pdf_reserve(pdf, size * leading);
        tm_pdf_text_at(pdf, face, size, role, tm_pdf_left + indent, pdf->y + size, text, n);
        pdf->y += size * leading;
        text += n;
        while (*text == ' ')
            text++;
    }
}

static void put_right(struct tm_pdf *pdf, enum tm_pdf_face face, enum tm_role role, double y,
                      const char *text)
{
    const size_t n = strlen(text);

    tm_pdf_text_at(pdf, face, small, role, tm_pdf_right - tm_pdf_width(pdf, face, small, text, n),
                   y, text, n);
}

void tm_pdf_number_pages(struct tm_pdf *pdf)
{
    static const char partial[] = "PARTIAL INPUT";
    static const char full[] = "The PDF ends here: the rest is in report.html and summary.json.";
    const bool was_full = pdf->is_full;
    char title[TM_PDF_TITLE_BYTES], number[64], maker[64];

    pdf->is_full = false;
    (void)snprintf(number, sizeof(number), "tracemill %.32s", pdf->version);
    tm_pdf_encode(pdf, maker, sizeof(maker), number);
    memcpy(title, pdf->title, sizeof(title));
    tm_pdf_cut_middle(pdf, TM_PDF_REGULAR, small, title, (tm_pdf_right - tm_pdf_left) * 3 / 4);
    for (int i = 0; i < pdf->pages && pdf->status == TM_OK; i++) {
        pdf->page = HPDF_GetPageByIndex(pdf->doc, (HPDF_UINT)i);
        tm_pdf_text_at(pdf, TM_PDF_REGULAR, small, TM_ROLE_QUIET, tm_pdf_left, header_y, title,
                       strlen(title));
        if (pdf->is_partial)
            put_right(pdf, TM_PDF_BOLD, TM_ROLE_BAD, header_y, partial);
        tm_pdf_rule(pdf, TM_ROLE_GRID, 0.5, header_y + 6, tm_pdf_right);
        (void)snprintf(number, sizeof(number), "page %d of %d", i + 1, pdf->pages);
        put_right(pdf, TM_PDF_REGULAR, TM_ROLE_QUIET, footer_y, number);
        if (was_full && i + 1 == pdf->pages)
            tm_pdf_text_at(pdf, TM_PDF_BOLD, small, TM_ROLE_BAD, tm_pdf_left, footer_y, full,
                           sizeof(full) - 1);
        else
            tm_pdf_text_at(pdf, TM_PDF_REGULAR, small, TM_ROLE_QUIET, tm_pdf_left, footer_y, maker,
                           strlen(maker));
    }
    pdf->is_full = was_full;
}
