/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the tables of a TrueType file that tell which characters it has and how wide they are.  libharu could be
 * asked as well, but it embeds every glyph whose width was asked for, and has a width for characters that it lacks.
 * Source: the OpenType specification, tables cmap (format 4), glyf, head, hhea, hmtx and loca; all numbers are
 * big-endian. */
#include "reports/pdf/pdf_font.h"

#include <string.h>

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
