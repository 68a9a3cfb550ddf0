/* SPDX-License-Identifier: Apache-2.0 */
/* Texts on pages: made safe, measured, wrapped, cut, drawn. */
#include "reports/pdf/pdf_page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hpdf.h>

#include "pipeline/strings.h"
#include "reports/format/format.h"

/* Reads the tables of a TrueType file that tell which characters it has and how wide they are.  libharu could be
 * asked as well, but it embeds every glyph whose width was asked for, and has a width for characters that it lacks.
 * Source: the OpenType specification, tables cmap (format 4), glyf, head, hhea, hmtx and loca; all numbers are
 * big-endian. */

enum {
    TABLES_AT = 12, /* the directory of tables begins here */
    TABLE_BYTES = 16,
    SUBTABLES_AT = 4,
    SUBTABLE_BYTES = 8,
    SEGMENTS_AT = 14, /* of a map of format 4 */
    UNICODE_PLATFORM = 3,
    UNICODE_BMP = 1,
    SEGMENT_FORMAT = 4,
    METRIC_BYTES = 4,
    BMP_END = 0x10000,
};

/* What the flags of a component say. */
enum { HAS_WORDS = 0x01, HAS_SCALE = 0x08, HAS_MORE = 0x20, HAS_TWO_SCALES = 0x40, HAS_MATRIX = 0x80 };

/* A number of the file; past its end is 0. */
static uint32_t number_at(const struct tm_pdf_font *font, size_t at, int bytes)
{
    uint32_t n = 0;

    if (at > font->file->length || font->file->length - at < (size_t)bytes)
        return 0;
    for (int i = 0; i < bytes; i++)
        n = n << 8 | (unsigned char)font->file->bytes[at + (size_t)i];
    return n;
}

static uint32_t u16(const struct tm_pdf_font *font, size_t at)
{
    return number_at(font, at, 2);
}

/* Where a table begins; 0 = there is none. */
static size_t find_table(const struct tm_pdf_font *font, const char *tag)
{
    const size_t count = u16(font, 4);

    for (size_t i = 0; i < count; i++) {
        const size_t at = TABLES_AT + i * TABLE_BYTES;

        if (at + TABLE_BYTES <= font->file->length && memcmp(font->file->bytes + at, tag, 4) == 0)
            return number_at(font, at + 8, 4);
    }
    return 0;
}

static bool find_map(struct tm_pdf_font *font)
{
    const size_t cmap = find_table(font, "cmap"), count = cmap ? u16(font, cmap + 2) : 0;

    for (size_t i = 0; i < count; i++) {
        const size_t at = cmap + SUBTABLES_AT + i * SUBTABLE_BYTES, map = cmap + number_at(font, at + 4, 4);

        if (u16(font, at) != UNICODE_PLATFORM || u16(font, at + 2) != UNICODE_BMP || u16(font, map) != SEGMENT_FORMAT)
            continue;
        font->map = map;
        font->segments = u16(font, map + 6) / 2;
        return font->segments > 0;
    }
    return false;
}

/* The glyph of a character, 0 = none.  The map has four columns: ends, beginnings, differences, offsets of lists. */
static uint32_t glyph_of(const struct tm_pdf_font *font, uint32_t code)
{
    const size_t ends = font->map + SEGMENTS_AT, starts = ends + 2 * font->segments + 2,
                 deltas = starts + 2 * font->segments, offsets = deltas + 2 * font->segments;
    size_t low = 0, high = font->segments;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (u16(font, ends + 2 * middle) < code)
            low = middle + 1;
        else
            high = middle;
    }
    const uint32_t start = u16(font, starts + 2 * low), delta = u16(font, deltas + 2 * low),
                   offset = u16(font, offsets + 2 * low);

    if (low == font->segments || code < start || code >= BMP_END)
        return 0;
    if (offset == 0)
        return (code + delta) % BMP_END;
    const uint32_t listed = u16(font, offsets + 2 * low + offset + 2 * (size_t)(code - start));

    return listed ? (listed + delta) % BMP_END : 0;
}

static double measure(const struct tm_pdf_font *font, uint32_t code)
{
    const size_t glyph = glyph_of(font, code), last = font->width_count - 1;

    return u16(font, font->widths + METRIC_BYTES * (glyph < last ? glyph : last)) / font->units;
}

bool tm_pdf_font_open(struct tm_pdf_font *font, const struct tm_pdf_asset *file)
{
    *font = (struct tm_pdf_font){ .file = file };
    const size_t head = find_table(font, "head"), hhea = find_table(font, "hhea");

    font->units = u16(font, head + 18);
    font->width_count = u16(font, hhea + 34);
    font->widths = find_table(font, "hmtx");
    font->outlines = find_table(font, "glyf");
    font->offsets = find_table(font, "loca");
    font->offset_bytes = u16(font, head + 50) ? 4 : 2;
    if (!head || !hhea || !font->widths || font->units < 1 || font->width_count == 0 || !find_map(font))
        return false;
    for (uint32_t code = 0; code < TM_PDF_ASCII; code++) {
        font->ascii[code] = (float)measure(font, code);
        font->has_ascii[code] = glyph_of(font, code) != 0;
    }
    return true;
}

bool tm_pdf_font_has(const struct tm_pdf_font *font, uint32_t code)
{
    return code < TM_PDF_ASCII ? font->has_ascii[code] : glyph_of(font, code) != 0;
}

double tm_pdf_font_advance(const struct tm_pdf_font *font, uint32_t code)
{
    return code < TM_PDF_ASCII ? (double)font->ascii[code] : measure(font, code);
}

/* --- glyphs made of others --- */

static size_t outline_of(const struct tm_pdf_font *font, size_t glyph)
{
    const size_t offset = number_at(font, font->offsets + glyph * (size_t)font->offset_bytes, font->offset_bytes);

    return font->outlines + (font->offset_bytes == 2 ? 2 * offset : offset);
}

/* Bytes of a component: its flags and glyph, its place, its scale. */
static size_t component_bytes(uint32_t flags)
{
    const size_t scale = flags & HAS_SCALE ? 2 : flags & HAS_TWO_SCALES ? 4 : flags & HAS_MATRIX ? 8 : 0;

    return 4 + (flags & HAS_WORDS ? 4 : 2) + scale;
}

/* out: was one of them not marked yet? */
static bool mark_components(const struct tm_pdf_font *font, size_t glyph, uint8_t *used, size_t glyphs)
{
    const uint32_t negative = 0x8000;
    size_t at = outline_of(font, glyph);
    bool any = false;
    uint32_t flags = HAS_MORE;

    if (at == outline_of(font, glyph + 1) || !(u16(font, at) & negative))
        return false;
    for (at += 10; flags & HAS_MORE; at += component_bytes(flags)) {
        const uint32_t part = u16(font, at + 2);

        flags = u16(font, at);
        if (part >= glyphs || used[part])
            continue;
        used[part] = 1;
        any = true;
    }
    return any;
}

void tm_pdf_font_add_components(const struct tm_pdf_font *font, uint8_t *used, size_t glyphs)
{
    bool any = true;

    while (any) { /* components may have components */
        any = false;
        for (size_t glyph = 0; glyph < glyphs; glyph++)
            any |= used[glyph] && mark_components(font, glyph, used, glyphs);
    }
}

const struct tm_pdf_style tm_pdf_body = { .face = TM_PDF_REGULAR, .size = 8.4, .role = TM_ROLE_TEXT };

const struct tm_pdf_style tm_pdf_strong = { .face = TM_PDF_BOLD, .size = 8.4, .role = TM_ROLE_TEXT };

const struct tm_pdf_style tm_pdf_quiet = { .face = TM_PDF_REGULAR, .size = 7.2, .role = TM_ROLE_QUIET };

const struct tm_pdf_style tm_pdf_label = { .face = TM_PDF_REGULAR, .size = 7.6, .role = TM_ROLE_QUIET };

const struct tm_pdf_style tm_pdf_code = { .face = TM_PDF_MONO, .size = 7, .role = TM_ROLE_TEXT };

static const double code_size = 0.93; /* beside the face around it */

static const double least_filled = 0.5; /* of a line that ends at a joint */

static const double inexact = 0.01; /* of sums of widths: a text fits its own width */

static const char ellipsis[] = "\xe2\x80\xa6";

enum {
    CODE_ON = 0x0e, /* no text has control characters once it is safe */
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

/* Marks that stand above others could be heaped up: they have no width. */
static bool is_drawable(const struct tm_pdf *pdf, uint32_t code)
{
    if (code > BMP_LAST || code == SOFT_HYPHEN || is_right_to_left(code) || is_between(code, 0xe000, 0xf8ff))
        return false;
    for (int face = 0; face < TM_PDF_FACES; face++)
        if (!tm_pdf_font_has(&pdf->font[face], code) || tm_pdf_font_advance(&pdf->font[face], code) <= 0)
            return false;
    return true;
}

/* A character as it is, or as an escape.  in: piece  PIECE_BYTES */
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

/* Width of the character at a place.  in: style  its in_code follows the marks; out: bytes of it */
static double step(const struct tm_pdf *pdf, struct tm_pdf_style *style, const char *text, size_t *bytes)
{
    uint32_t code = REPLACEMENT;

    *bytes = 1;
    if (*text == CODE_ON || *text == CODE_OFF) {
        style->in_code = *text == CODE_ON;
        return 0;
    }
    if ((unsigned char)*text < TM_PDF_ASCII)
        code = (unsigned char)*text;
    else
        *bytes = tm_utf8_next(text, strnlen(text, TM_UTF8_LONGEST), &code);
    *bytes += *bytes == 0;
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

double tm_pdf_word_width(const struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text)
{
    double widest = 0;

    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        const size_t bytes = strcspn(text, " ");
        const double width = tm_pdf_width(pdf, style, text, bytes);

        widest = width > widest ? width : widest;
        text += bytes;
    }
    return widest;
}

/* Bytes of the next line: up to a space where there is one, else up to where a name has a joint, at least one
 * character.  A name is not broken at a space that would leave the line half empty. */
static size_t line_bytes(const struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text, double width)
{
    struct tm_pdf_style at = *style;
    double used = 0;
    size_t i = 0, n = 0, space = 0, joint = 0;

    for (; text[i]; i += n) {
        if (text[i] == ' ' && i > 0 && (style->face != TM_PDF_MONO || used > width * least_filled))
            space = i;
        else if (i > 0 && strchr("_./:-,", text[i - 1]) && used > width * least_filled)
            joint = i;
        used += step(pdf, &at, text + i, &n);
        if (used > width + inexact && text[i] != ' ')
            break;
    }
    if (!text[i])
        return i;
    return space > 0 ? space : joint > 0 ? joint : i > 0 ? i : n;
}

/* Go on to the next line of a text.  in: style  its in_code follows the marks */
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
    const double half = (width - tm_pdf_width(pdf, style, ellipsis, sizeof(ellipsis) - 1)) / 2;
    struct tm_pdf_style at = *style;
    double used = 0;
    size_t head = 0, tail = length, n = 0;

    if (tm_pdf_width(pdf, style, text, length) <= width + inexact)
        return;
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
        return; /* there is no room for the ellipsis, and nothing is won */
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

/* Characters of one face.  out: where it ends */
static double draw_run(struct tm_pdf *pdf, const struct tm_pdf_style *style, double x, double y, const char *text,
                       size_t bytes)
{
    const enum tm_pdf_face face = style->in_code ? TM_PDF_MONO : style->face;
    const double size = style->in_code ? style->size * code_size : style->size;
    char line[TM_PDF_CELL_BYTES];

    if (bytes == 0 || bytes >= sizeof(line))
        return x;
    memcpy(line, text, bytes);
    line[bytes] = 0;
    TM_PDF_CALL(pdf, HPDF_Page_BeginText(pdf->page));
    TM_PDF_CALL(pdf, HPDF_Page_SetFontAndSize(pdf->page, pdf->face[face], (HPDF_REAL)size));
    TM_PDF_CALL(pdf, HPDF_Page_TextOut(pdf->page, (HPDF_REAL)x, (HPDF_REAL)(pdf->page_height - y), line));
    TM_PDF_CALL(pdf, HPDF_Page_EndText(pdf->page));
    return x + tm_pdf_width(pdf, style, text, bytes);
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

/* What libharu has no function for: entries of its objects, set by hand. */

/* Sources: ISO 32000-1, 9.10.3 (ToUnicode), 12.3.2 (destinations), 12.2 (viewer preferences), 14.9.2 (language). */

enum { ROWS_BEFORE = 256, ROWS_OF_BLOCK = 64, CODES = 1 << 16 };

/* Nothing after what could not be written: as TM_PDF_CALL. */
static void write_text(HPDF_Stream to, const char *text)
{
    if (HPDF_Error_GetCode(to->error) == HPDF_OK)
        (void)HPDF_Stream_WriteStr(to, text);
}

static void write_ranges(HPDF_Stream to)
{
    char row[64];

    for (int high = 0; high < ROWS_BEFORE; high++) {
        if (high % ROWS_OF_BLOCK == 0)
            write_text(to, "64 beginbfrange\n");
        (void)snprintf(row, sizeof(row), "<%02X00> <%02XFF> <%02X00>\n", (unsigned)high, (unsigned)high,
                       (unsigned)high);
        write_text(to, row);
        if (high % ROWS_OF_BLOCK == ROWS_OF_BLOCK - 1)
            write_text(to, "endbfrange\n");
    }
}

void tm_pdf_map_characters(HPDF_Font font)
{
    HPDF_Dict map = HPDF_Dict_GetItem(font, "ToUnicode", HPDF_OCLASS_DICT);

    if (!map || !map->stream)
        return;
    HPDF_MemStream_FreeData(map->stream);
    write_text(map->stream, "/CIDInit /ProcSet findresource begin\n"
                            "12 dict begin\n"
                            "begincmap\n"
                            "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
                            "/CMapName /Adobe-Identity-UCS def\n"
                            "/CMapType 2 def\n"
                            "1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n");
    write_ranges(map->stream);
    write_text(map->stream, "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n");
}

/* owns: who calls it frees the text */
static char *to_utf16(HPDF_Encoder encoder, const char *text, HPDF_UINT length, HPDF_UINT *bytes)
{
    char *const to = malloc(2 * (size_t)length + 1);

    *bytes = 0;
    if (!to)
        (void)HPDF_SetError(encoder->error, HPDF_FAILD_TO_ALLOC_MEM, 0);
    for (size_t i = 0; to && i < length; *bytes += 2) {
        uint32_t code = '?';
        const size_t taken = tm_utf8_next(text + i, length - i, &code);

        i += taken ? taken : 1;
        to[*bytes] = (char)(code >> 8);
        to[*bytes + 1] = (char)code;
    }
    return to;
}

void tm_pdf_set_encoding(HPDF_Encoder encoder)
{
    encoder->encode_text_fn = to_utf16;
}

/* As libharu reads it: a list's entries are shifted, also those of 0. */
static HPDF_UINT16 glyph_in(const HPDF_TTF_CmapRange *map, HPDF_UINT segment, HPDF_UINT code)
{
    const HPDF_UINT segments = map->seg_count_x2 / 2, offset = map->id_range_offset[segment];
    const HPDF_UINT at = offset / 2 + (code - map->start_count[segment]) - (segments - segment);

    if (offset == 0)
        return (HPDF_UINT16)(code + (HPDF_UINT)map->id_delta[segment]);
    return at > map->glyph_id_array_count ? 0 : (HPDF_UINT16)(map->glyph_id_array[at] + map->id_delta[segment]);
}

/* libharu goes through a font's segments one after the other for each of 65,536 characters.  One segment with a list of
 * all glyphs is a map of the same format. */
void tm_pdf_spread_map(HPDF_Doc doc, const char *name)
{
    HPDF_FontDef definition = HPDF_GetFontDef(doc, name);
    HPDF_TTFontDefAttr file = definition && definition->type == HPDF_FONTDEF_TYPE_TRUETYPE ? definition->attr : NULL;
    HPDF_TTF_CmapRange *map = file ? &file->cmap : NULL;
    HPDF_UINT16 *glyphs;

    if (!map || map->format != SEGMENT_FORMAT || map->seg_count_x2 < 2)
        return;
    glyphs = HPDF_GetMem(definition->mmgr, CODES * sizeof(*glyphs));
    if (!glyphs)
        return;
    memset(glyphs, 0, CODES * sizeof(*glyphs));
    for (HPDF_UINT i = 0, code = 0; i < map->seg_count_x2 / 2u; i++) {
        code = code > map->start_count[i] ? code : map->start_count[i];
        for (; code <= map->end_count[i]; code++)
            glyphs[code] = glyph_in(map, i, code);
    }
    HPDF_FreeMem(definition->mmgr, map->glyph_id_array);
    map->glyph_id_array = glyphs;
    map->glyph_id_array_count = CODES;
    map->seg_count_x2 = 2;
    map->start_count[0] = 0;
    map->end_count[0] = CODES - 1;
    map->id_delta[0] = 0;
    map->id_range_offset[0] = 2; /* the list follows at once */
}

uint8_t *tm_pdf_used_glyphs(HPDF_Font font, size_t *glyphs)
{
    HPDF_FontAttr attributes = font->attr;
    HPDF_FontDef definition = attributes->fontdef;
    HPDF_TTFontDefAttr file = definition->type == HPDF_FONTDEF_TYPE_TRUETYPE ? definition->attr : NULL;

    *glyphs = file ? file->num_glyphs : 0;
    return file ? file->glyph_tbl.flgs : NULL;
}

void tm_pdf_aim(HPDF_Destination place, double y)
{
    HPDF_Real zoom;

    (void)HPDF_Destination_SetXYZ(place, 0, (HPDF_REAL)y, 1);
    zoom = HPDF_Array_GetItem(place, 4, HPDF_OCLASS_REAL);
    if (zoom)
        (void)HPDF_Real_SetValue(zoom, 0); /* as it is */
}
