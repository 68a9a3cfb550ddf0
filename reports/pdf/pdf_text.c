/* SPDX-License-Identifier: Apache-2.0 */
/* Texts on pages: made safe, measured, wrapped, cut, drawn. */
#include "reports/pdf/pdf_page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/strings.h"
#include "reports/format/format.h"

const struct tm_pdf_style tm_pdf_body = { .face = TM_PDF_REGULAR, .size = 8.2, .role = TM_ROLE_TEXT };

const struct tm_pdf_style tm_pdf_strong = { .face = TM_PDF_BOLD, .size = 8.2, .role = TM_ROLE_TEXT };

const struct tm_pdf_style tm_pdf_quiet = { .face = TM_PDF_REGULAR, .size = 7.2, .role = TM_ROLE_QUIET };

const struct tm_pdf_style tm_pdf_label = { .face = TM_PDF_REGULAR, .size = 7.6, .role = TM_ROLE_QUIET };

static const double code_size = 0.93; /* relative to the surrounding face */

static const double least_filled = 0.5; /* of a line that ends at a joint */

static const double inexact = 0.01; /* for rounding of sums: a text fits its own width */

static const char ellipsis[] = "\xe2\x80\xa6";

enum {
    CODE_ON = 0x0e, /* safe texts have no control characters */
    CODE_OFF = 0x0f,
    PIECE_BYTES = 16,
    REPLACEMENT = 0xfffd,
    NO_BREAK_SPACE = 0xa0,
    SOFT_HYPHEN = 0xad,
    BMP_LAST = 0xffff,
    LONGEST_ESCAPE = 3, /* bytes for each byte of a character */
    CUTS_MOST = 24,
};

/* --- safe --- */

static bool is_between(uint32_t code, uint32_t first, uint32_t last)
{
    return code >= first && code <= last;
}

static bool is_right_to_left(uint32_t code)
{
    return is_between(code, 0x0590, 0x08ff) || is_between(code, 0xfb1d, 0xfdff) || is_between(code, 0xfe70, 0xfeff);
}

/* Combining marks could be stacked, since they have no width. */
static bool is_drawable(const struct tm_pdf *pdf, uint32_t code)
{
    if (code > BMP_LAST || code == SOFT_HYPHEN || is_right_to_left(code) || is_between(code, 0xe000, 0xf8ff))
        return false;
    for (int face = 0; face < TM_PDF_FACES; face++)
        if (!tm_pdf_font_has(&pdf->font[face], code) || tm_pdf_font_advance(&pdf->font[face], code) <= 0)
            return false;
    return true;
}

/* A character, unchanged or as an escape.  in: piece  PIECE_BYTES */
static size_t spell(char *piece, const char *at, size_t bytes, uint32_t code, bool as_it_is)
{
    if (code == NO_BREAK_SPACE) {
        piece[0] = ' ';
        return 1;
    }
    if (as_it_is) {
        memcpy(piece, at, bytes);
        return bytes;
    }
    return tm_utf8_escape(piece, code);
}

static void encode(struct tm_pdf *pdf, char *out, size_t out_bytes, const char *text, bool is_outside)
{
    const size_t room = out_bytes / LONGEST_ESCAPE;
    size_t used = 0, length;

    tm_format_text(pdf->visible, room < sizeof(pdf->visible) ? room : sizeof(pdf->visible), text);
    length = strlen(pdf->visible);
    for (size_t i = 0; i < length;) {
        char piece[PIECE_BYTES];

        if (pdf->visible[i] >= ' ' && pdf->visible[i] <= '~') { /* every face has them */
            if (out_bytes - used <= 1)
                break;
            out[used++] = pdf->visible[i++];
            continue;
        }
        uint32_t code = REPLACEMENT;
        const size_t n = tm_utf8_next(pdf->visible + i, length - i, &code);
        const bool as_it_is = n > 0 && (is_outside ? code <= BMP_LAST : is_drawable(pdf, code));
        const size_t bytes = spell(piece, pdf->visible + i, n, code, as_it_is);

        if (bytes >= out_bytes - used)
            break;
        memcpy(out + used, piece, bytes);
        used += bytes;
        i += n ? n : 1;
    }
    out[used] = 0;
}

void tm_pdf_encode(struct tm_pdf *pdf, char *out, size_t out_bytes, const char *text)
{
    encode(pdf, out, out_bytes, text, false);
}

void tm_pdf_encode_outside(struct tm_pdf *pdf, char *out, size_t out_bytes, const char *text)
{
    encode(pdf, out, out_bytes, text, true);
}

void tm_pdf_encode_prose(struct tm_pdf *pdf, char *out, size_t out_bytes, const char *text)
{
    encode(pdf, out, out_bytes, text, false);
    for (char *open = strchr(out, '`'); open; open = strchr(open, '`')) {
        char *close = strchr(open + 1, '`');

        if (!close)
            return;
        *open = CODE_ON;
        *close = CODE_OFF;
    }
}

/* --- measured --- */

static uint32_t character_at(const char *text, size_t *bytes)
{
    uint32_t code = REPLACEMENT;

    *bytes = 1;
    if ((unsigned char)*text < TM_PDF_ASCII)
        return (unsigned char)*text;
    *bytes = tm_utf8_next(text, strnlen(text, TM_UTF8_LONGEST), &code);
    *bytes += *bytes == 0;
    return code;
}

/* Width of the character at a place.  in: style  its in_code follows the marks; out: bytes of it */
static double step(const struct tm_pdf *pdf, struct tm_pdf_style *style, const char *text, size_t *bytes)
{
    const uint32_t code = character_at(text, bytes);

    if (code == CODE_ON || code == CODE_OFF) {
        style->in_code = code == CODE_ON;
        return 0;
    }
    return style->in_code ? tm_pdf_font_advance(&pdf->font[TM_PDF_MONO], code) * style->size * code_size
                          : tm_pdf_font_advance(&pdf->font[style->face], code) * style->size;
}

double tm_pdf_width(const struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text, size_t bytes)
{
    struct tm_pdf_style at = *style;
    double width = 0;

    for (size_t i = 0, n; i < bytes; i += n)
        width += step(pdf, &at, text + i, &n);
    return width;
}

/* Bytes of the next line: up to a space if there is one, else up to where a name has a joint, at least one
 * character.  A name is not broken at a space that would leave the line half empty. */
static size_t line_bytes(const struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text, double width)
{
    struct tm_pdf_style at = *style;
    double used = 0;
    size_t i = 0, n = 0, space = 0, joint = 0;

    for (; text[i]; i += n) {
        if (text[i] == ' ' && i > 0 && !tm_format_is_unit_blank(text, i) &&
            (style->face != TM_PDF_MONO || used > width * least_filled))
            space = i;
        else if (i > 0 && used > width * least_filled && strchr("_./:-,", text[i - 1]))
            joint = i;
        used += step(pdf, &at, text + i, &n);
        if (used > width + inexact && text[i] != ' ')
            break;
    }
    if (!text[i])
        return i;
    return space > 0 ? space : joint > 0 ? joint : i > 0 ? i : n;
}

/* Advance to the next line of a text.  in: style  its in_code follows the marks */
static const char *next_line(struct tm_pdf_style *style, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (text[i] == CODE_ON || text[i] == CODE_OFF)
            style->in_code = text[i] == CODE_ON;
    text += bytes;
    return text + strspn(text, " ");
}

int tm_pdf_lines(const struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text, double width)
{
    struct tm_pdf_style at = *style;
    int lines = 0;

    for (; *text; lines++)
        text = next_line(&at, text, line_bytes(pdf, &at, text, width));
    return lines;
}

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Cut a text in its middle so that it is at most `width` points wide. */
static void cut_middle(const struct tm_pdf *pdf, const struct tm_pdf_style *style, char *text, double width)
{
    const size_t length = strlen(text);
    struct tm_pdf_style at = *style;
    double used = 0, half;
    size_t head = 0, tail = length, n = 0;

    if (tm_pdf_width(pdf, style, text, length) <= width + inexact)
        return;
    half = (width - tm_pdf_width(pdf, style, ellipsis, sizeof(ellipsis) - 1)) / 2;
    for (; head < length; head += n) {
        used += step(pdf, &at, text + head, &n);
        if (used > half)
            break;
    }
    for (used = 0; tail > head; tail = n) {
        n = tail - 1;
        while (n > head && continues(text[n]))
            n--;
        used += step(pdf, &at, text + n, &(size_t){ 0 });
        if (used > half)
            break;
    }
    if (tail - head < sizeof(ellipsis) - 1)
        return; /* the ellipsis does not fit, or would save nothing */
    memcpy(text + head, ellipsis, sizeof(ellipsis) - 1);
    memmove(text + head + sizeof(ellipsis) - 1, text + tail, length - tail + 1);
}

void tm_pdf_fit(const struct tm_pdf *pdf, const struct tm_pdf_style *style, char *text, double width, int lines)
{
    double room = width * lines;

    if (lines == 1) {
        cut_middle(pdf, style, text, width);
        return;
    }
    for (int i = 0; i < CUTS_MOST && tm_pdf_lines(pdf, style, text, width) > lines; i++, room *= 0.9)
        cut_middle(pdf, style, text, room);
}

/* --- drawn --- */

/* Two bytes of a string: bytes that would end it are escaped, and so are those that readers treat as line ends. */
static char *put_byte(char *to, unsigned byte)
{
    if (byte == '(' || byte == ')' || byte == '\\' || byte == '\r')
        *to++ = '\\';
    *to++ = byte == '\r' ? 'r' : (char)byte;
    return to;
}

/* Characters of one face.  out: where it ends */
static double draw_run(struct tm_pdf *pdf, const struct tm_pdf_style *style, double x, double y, const char *text,
                       size_t bytes)
{
    const enum tm_pdf_face face = style->in_code ? TM_PDF_MONO : style->face;
    const double size = style->in_code ? style->size * code_size : style->size;
    struct tm_pdf_content *content = &pdf->content;

    if (bytes == 0)
        return x;
    tm_pdf_put(pdf, "BT\n", 3);
    if (!content->has_font || content->face != face || content->size != size) {
        tm_pdf_put(pdf, "/", 1);
        tm_pdf_put(pdf, tm_pdf_face_key[face], strlen(tm_pdf_face_key[face]));
        tm_pdf_put(pdf, " ", 1);
        TM_PDF_PUT(pdf, "Tf", size);
        content->has_font = true;
        content->face = face;
        content->size = size;
    }
    TM_PDF_PUT(pdf, "Td", x, pdf->page_height - y);
    tm_pdf_put(pdf, "(", 1);
    for (size_t i = 0, n; i < bytes; i += n) {
        const uint32_t code = character_at(text + i, &n);
        const uint16_t number = tm_pdf_subset_number(&pdf->subset[face], code);
        char pair[4];

        tm_pdf_put(pdf, pair, (size_t)(put_byte(put_byte(pair, number >> 8), number & 0xff) - pair));
        x += tm_pdf_font_advance(&pdf->font[face], code) * size;
    }
    tm_pdf_put(pdf, ") Tj\nET\n", 8);
    return x;
}

static void draw_line(struct tm_pdf *pdf, const struct tm_pdf_style *style, double x, double y, const char *text,
                      size_t bytes)
{
    struct tm_pdf_style at = *style;
    size_t from = 0;

    if (!tm_pdf_is_drawing(pdf) || bytes == 0)
        return;
    tm_pdf_fill(pdf, style->role);
    for (size_t i = 0; i <= bytes; i++) {
        const bool is_mark = i < bytes && (text[i] == CODE_ON || text[i] == CODE_OFF);

        if (!is_mark && i < bytes)
            continue;
        x = draw_run(pdf, &at, x, y, text + from, i - from);
        if (is_mark)
            at.in_code = text[i] == CODE_ON;
        from = i + 1;
    }
}

void tm_pdf_text_at(struct tm_pdf *pdf, const struct tm_pdf_style *style, double x, double y, const char *text)
{
    draw_line(pdf, style, x, y, text, strlen(text));
}

void tm_pdf_text_right(struct tm_pdf *pdf, const struct tm_pdf_style *style, double right, double y, const char *text)
{
    const size_t bytes = strlen(text);

    draw_line(pdf, style, right - tm_pdf_width(pdf, style, text, bytes), y, text, bytes);
}

static double draw_lines(struct tm_pdf *pdf, const struct tm_pdf_style *style, const struct tm_pdf_box *box,
                         const char *text, bool to_right)
{
    struct tm_pdf_style at = *style;
    double y = box->y;

    while (*text) {
        const size_t n = line_bytes(pdf, &at, text, box->width);
        const double indent = to_right ? box->width - tm_pdf_width(pdf, &at, text, n) : 0;

        draw_line(pdf, &at, box->x + indent, y + style->size, text, n);
        text = next_line(&at, text, n);
        y += tm_pdf_leading(style);
    }
    return y - box->y;
}

double tm_pdf_text_in(struct tm_pdf *pdf, const struct tm_pdf_style *style, const struct tm_pdf_box *box,
                      const char *text)
{
    return draw_lines(pdf, style, box, text, false);
}

double tm_pdf_text_in_right(struct tm_pdf *pdf, const struct tm_pdf_style *style, const struct tm_pdf_box *box,
                            const char *text)
{
    return draw_lines(pdf, style, box, text, true);
}

void tm_pdf_wrapped(struct tm_pdf *pdf, const struct tm_pdf_style *style, double indent, const char *text)
{
    struct tm_pdf_style at = *style;

    while (*text && !tm_failed(pdf->run) && !pdf->is_full) {
        const size_t n = line_bytes(pdf, &at, text, tm_pdf_column(pdf) - indent);

        tm_pdf_reserve(pdf, tm_pdf_leading(style));
        draw_line(pdf, &at, pdf->left + indent, pdf->y + style->size, text, n);
        text = next_line(&at, text, n);
        pdf->y += tm_pdf_leading(style);
    }
}
