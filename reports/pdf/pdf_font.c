/* SPDX-License-Identifier: Apache-2.0 */
/* The faces of a document: the required properties of a font file, and the subset for the document.
 *
 * libharu could read the file as well, but it does so a byte at a time, embeds tables of all 65,536 codes and of all
 * glyphs of the file, and assigns a width to characters that it lacks: two thirds of the instructions of a short
 * report.  The subset made here has the glyphs of the drawn characters, numbered in order of occurrence, followed by
 * the glyphs that these are composed of.  Strings on pages are these numbers (Identity-H), so no map from codes to
 * glyphs is needed; a map to characters serves readers that search and copy.  Sources: the OpenType specification,
 * tables cmap (format 4), glyf, head, hhea, hmtx, loca, and maxp; all numbers are big-endian.  ISO 32000-1, 9.7.4
 * (CIDFontType2), 9.8 (descriptors), 9.9 (FontFile2), 9.10.3 (ToUnicode). */
#include "reports/pdf/pdf_page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <hpdf.h>

#include "pipeline/run.h"

enum {
    TABLES_AT = 12, /* the directory of tables starts here */
    TABLE_BYTES = 16,
    SUBTABLES_AT = 4,
    SUBTABLE_BYTES = 8,
    SEGMENTS_AT = 14, /* of a map of format 4 */
    UNICODE_PLATFORM = 3,
    UNICODE_BMP = 1,
    SEGMENT_FORMAT = 4,
    METRIC_BYTES = 4,
    HEAD_BYTES = 54, /* of these tables, at least */
    HHEA_BYTES = 36,
    MAXP_BYTES = 6,
    BMP_END = 0x10000,
};

/* Meaning of the flags of a component. */
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

struct table {
    size_t at, bytes; /* 0 = there is none; limited to what the file has */
};

static struct table find_table(const struct tm_pdf_font *font, const char *tag)
{
    const size_t count = u16(font, 4), end = font->file->length;

    for (size_t i = 0; i < count; i++) {
        const size_t entry = TABLES_AT + i * TABLE_BYTES, at = number_at(font, entry + 8, 4),
                     bytes = number_at(font, entry + 12, 4);

        if (entry + TABLE_BYTES <= end && at < end && memcmp(font->file->bytes + entry, tag, 4) == 0)
            return (struct table){ at, bytes < end - at ? bytes : end - at };
    }
    return (struct table){ 0 };
}

static bool find_map(struct tm_pdf_font *font)
{
    const size_t cmap = find_table(font, "cmap").at, count = cmap ? u16(font, cmap + 2) : 0;

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

/* The glyph of a character, 0 = none.  The map has four columns: ends, starts, differences, offsets of lists. */
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

static uint32_t units_wide(const struct tm_pdf_font *font, size_t glyph)
{
    const size_t last = font->width_count - 1;

    return u16(font, font->widths + METRIC_BYTES * (glyph < last ? glyph : last));
}

double tm_pdf_font_measure(const struct tm_pdf_font *font, uint32_t code)
{
    return units_wide(font, glyph_of(font, code)) / font->units;
}

bool tm_pdf_font_open(struct tm_pdf_font *font, const struct tm_pdf_asset *file)
{
    *font = (struct tm_pdf_font){ .file = file };
    const struct table head = find_table(font, "head"), hhea = find_table(font, "hhea"),
                       maxp = find_table(font, "maxp");

    font->head = head.at;
    font->hhea = hhea.at;
    font->units = u16(font, font->head + 18);
    font->width_count = u16(font, font->hhea + 34);
    font->widths = find_table(font, "hmtx").at;
    font->glyphs = u16(font, maxp.at + 4);
    font->outlines = find_table(font, "glyf").at;
    font->offsets = find_table(font, "loca").at;
    font->offset_bytes = u16(font, font->head + 50) ? 4 : 2;
    if (head.bytes < HEAD_BYTES || hhea.bytes < HHEA_BYTES || maxp.bytes < MAXP_BYTES || !font->widths ||
        font->units < 1 || font->width_count == 0 || !find_map(font))
        return false;
    for (uint32_t code = 0; code < TM_PDF_ASCII; code++) {
        font->ascii[code] = (float)tm_pdf_font_measure(font, code);
        font->has_ascii[code] = glyph_of(font, code) != 0;
    }
    return true;
}

bool tm_pdf_font_has(const struct tm_pdf_font *font, uint32_t code)
{
    return code < TM_PDF_ASCII ? font->has_ascii[code] : glyph_of(font, code) != 0;
}

/* --- the subset that is drawn --- */

uint16_t tm_pdf_subset_number(struct tm_pdf_subset *subset, uint32_t code)
{
    uint16_t *number;

    if (code >= BMP_END)
        return 0;
    number = &subset->number[code];
    if (*number == 0 && subset->characters + 1 < TM_PDF_CHARACTERS) {
        *number = ++subset->characters;
        subset->character[*number] = (uint16_t)code;
    }
    return *number;
}

/* Tables of the subset, by their tags. */
enum { GLYF, HEAD, HHEA, HMTX, LOCA, MAXP, PART_TABLES, PART_TABLES_AT = TABLES_AT + PART_TABLES * TABLE_BYTES };

static const char part_tags[PART_TABLES][5] = { "glyf", "head", "hhea", "hmtx", "loca", "maxp" };

/* The glyphs of the subset. */
struct part {
    const struct tm_pdf_font *font;
    uint16_t *glyph;  /* of the file, by number */
    uint16_t *number; /* by glyph of the file; 0 = not in the subset */
    size_t count, room;
};

static size_t outline_of(const struct tm_pdf_font *font, size_t glyph)
{
    const size_t offset = number_at(font, font->offsets + glyph * (size_t)font->offset_bytes, font->offset_bytes);

    return font->outlines + (font->offset_bytes == 2 ? 2 * offset : offset);
}

static size_t outline_bytes(const struct tm_pdf_font *font, size_t glyph)
{
    const size_t from = outline_of(font, glyph), end = outline_of(font, glyph + 1);

    return glyph < font->glyphs && from < end && end <= font->file->length ? end - from : 0;
}

/* Bytes of a component: its flags and glyph, its place, its scale. */
static size_t component_bytes(uint32_t flags)
{
    const size_t scale = flags & HAS_SCALE ? 2 : flags & HAS_TWO_SCALES ? 4 : flags & HAS_MATRIX ? 8 : 0;

    return 4 + (flags & HAS_WORDS ? 4 : 2) + scale;
}

static void put_number(uint8_t *to, int bytes, size_t n)
{
    for (int i = bytes; i > 0; i--, n >>= 8)
        to[i - 1] = (uint8_t)n;
}

/* The number of a glyph that others are composed of; assigned if it has none. */
static size_t number_of(struct part *part, size_t glyph)
{
    if (glyph == 0 || glyph >= part->font->glyphs)
        return 0;
    if (part->number[glyph] == 0 && part->count < part->room) {
        part->number[glyph] = (uint16_t)part->count;
        part->glyph[part->count++] = (uint16_t)glyph;
    }
    return part->number[glyph];
}

/* Number the components of a glyph.  in: copy  of its outline, in which they replace the file's, or NULL */
static void number_components(struct part *part, size_t glyph, uint8_t *copy)
{
    const uint32_t negative = 0x8000;
    const struct tm_pdf_font *font = part->font;
    const size_t from = outline_of(font, glyph), end = from + outline_bytes(font, glyph);
    uint32_t flags = HAS_MORE;

    if (from == end || !(u16(font, from) & negative))
        return;
    for (size_t at = from + 10; (flags & HAS_MORE) && at + 4 <= end; at += component_bytes(flags)) {
        const size_t number = number_of(part, u16(font, at + 2));

        flags = u16(font, at);
        if (copy)
            put_number(copy + (at + 2 - from), 2, number);
    }
}

static void find_glyphs(struct part *part, const struct tm_pdf_subset *subset)
{
    for (size_t i = 1; i <= subset->characters; i++) {
        const size_t glyph = glyph_of(part->font, subset->character[i]);

        part->glyph[i] = (uint16_t)glyph;
        if (glyph < part->font->glyphs && part->number[glyph] == 0)
            part->number[glyph] = (uint16_t)i;
    }
    part->number[0] = 0;
    part->count = (size_t)subset->characters + 1;
    for (size_t i = 0; i < part->count; i++) /* components may have components */
        number_components(part, part->glyph[i], NULL);
}

static void put_glyphs(struct part *part, uint8_t *glyf, uint8_t *loca, uint8_t *hmtx)
{
    const struct tm_pdf_font *font = part->font;
    size_t used = 0;

    for (size_t i = 0; i < part->count; i++) {
        const size_t glyph = part->glyph[i], bytes = outline_bytes(font, glyph), last = font->width_count - 1,
                     bearing = glyph <= last ? METRIC_BYTES * glyph + 2 : METRIC_BYTES * last + 2 + 2 * (glyph - last);

        if (bytes > 0)
            memcpy(glyf + used, font->file->bytes + outline_of(font, glyph), bytes);
        number_components(part, glyph, glyf + used);
        put_number(loca + 4 * i, 4, used);
        used += bytes;
        put_number(hmtx + METRIC_BYTES * i, 2, units_wide(font, glyph));
        put_number(hmtx + METRIC_BYTES * i + 2, 2, u16(font, font->widths + bearing));
    }
    put_number(loca + 4 * part->count, 4, used);
}

static size_t padded(size_t bytes)
{
    return (bytes + 3) & ~(size_t)3;
}

/* Sum of words.  in: bytes  zeros follow up to the end of the last word */
static uint32_t sum_of(const uint8_t *bytes, size_t length)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < length; i += 4)
        sum += (uint32_t)bytes[i] << 24 | (uint32_t)bytes[i + 1] << 16 | (uint32_t)bytes[i + 2] << 8 | bytes[i + 3];
    return sum;
}

/* The file of the subset.  in: source  its tables in the font file; bytes  of each in the subset, 0 = it has none */
static void put_file(struct part *part, uint8_t *file, const struct table source[PART_TABLES],
                     const size_t bytes[PART_TABLES])
{
    uint8_t *table[PART_TABLES];
    size_t count = 0, power = 1, shift = 0, at = PART_TABLES_AT;
    uint32_t sum = 0;

    for (int t = 0; t < PART_TABLES; at += padded(bytes[t]), t++) {
        count += bytes[t] > 0;
        table[t] = file + at;
        if (t != GLYF && t != HMTX && t != LOCA)
            memcpy(table[t], part->font->file->bytes + source[t].at, bytes[t]);
    }
    put_glyphs(part, table[GLYF], table[LOCA], table[HMTX]);
    put_number(table[HEAD] + 8, 4, 0);  /* the last number written */
    put_number(table[HEAD] + 50, 2, 1); /* offsets have 4 bytes */
    put_number(table[HHEA] + 34, 2, part->count);
    put_number(table[MAXP] + 4, 2, part->count);
    for (; 2 * power <= count; power *= 2)
        shift++;
    put_number(file, 4, 0x10000);
    put_number(file + 4, 2, count);
    put_number(file + 6, 2, power * TABLE_BYTES);
    put_number(file + 8, 2, shift);
    put_number(file + 10, 2, (count - power) * TABLE_BYTES);
    at = TABLES_AT;
    for (int t = 0; t < PART_TABLES; t++) {
        const uint32_t own = sum_of(table[t], bytes[t]);

        if (bytes[t] == 0)
            continue;
        memcpy(file + at, part_tags[t], 4);
        put_number(file + at + 4, 4, own);
        put_number(file + at + 8, 4, (size_t)(table[t] - file));
        put_number(file + at + 12, 4, bytes[t]);
        at += TABLE_BYTES;
        sum += own;
    }
    put_number(table[HEAD] + 8, 4, UINT32_C(0xb1b0afba) - sum - sum_of(file, PART_TABLES_AT));
}

uint8_t *tm_pdf_subset_make(struct tm_run *run, const struct tm_pdf_font *font, const struct tm_pdf_subset *subset,
                            size_t *length)
{
    const size_t room = (size_t)subset->characters + 1 + font->glyphs, most = UINT16_MAX;
    const size_t work_bytes = (room + font->glyphs + 1) * sizeof(uint16_t);
    uint16_t *work = tm_take(&run->budget, TM_ACCOUNT_MODEL, work_bytes, &run->error);
    struct part part = { .font = font, .glyph = work, .room = room < most ? room : most };
    struct table source[PART_TABLES];
    size_t bytes[PART_TABLES];
    uint8_t *file;

    *length = PART_TABLES_AT;
    if (!work)
        return NULL;
    part.number = work + room;
    find_glyphs(&part, subset);
    for (int t = 0; t < PART_TABLES; t++) {
        source[t] = find_table(font, part_tags[t]);
        bytes[t] = source[t].bytes;
    }
    bytes[GLYF] = 0;
    for (size_t i = 0; i < part.count; i++)
        bytes[GLYF] += outline_bytes(font, part.glyph[i]);
    bytes[LOCA] = 4 * (part.count + 1);
    bytes[HMTX] = METRIC_BYTES * part.count;
    for (int t = 0; t < PART_TABLES; t++)
        *length += padded(bytes[t]);
    file = tm_take(&run->budget, TM_ACCOUNT_MODEL, *length, &run->error);
    if (file)
        put_file(&part, file, source, bytes);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, work, work_bytes);
    return file;
}

/* --- in the document --- */

enum { FIXED_PITCH = 1, SYMBOLIC = 4, ROWS_OF_BLOCK = 100 };

/* Lengths in the document are thousandths of the font size. */
static HPDF_INT32 thousandths(const struct tm_pdf_font *font, int32_t length)
{
    return length * 1000 / (int32_t)font->units;
}

static HPDF_INT32 signed_at(const struct tm_pdf_font *font, size_t at)
{
    return thousandths(font, (int16_t)u16(font, at));
}

/* Nested objects.  If one cannot be created, the document is invalid, and it is not passed to any call. */
static HPDF_Dict new_part_of(struct tm_pdf *pdf, HPDF_Dict in, const char *key)
{
    HPDF_Dict made = tm_pdf_is_sound(pdf) ? HPDF_Dict_New(pdf->doc->mmgr) : NULL;

    TM_PDF_CALL(pdf, HPDF_Dict_Add(in, key, made));
    return made;
}

static HPDF_Array new_array(struct tm_pdf *pdf, HPDF_Dict in, const char *key)
{
    HPDF_Array made = tm_pdf_is_sound(pdf) ? HPDF_Array_New(pdf->doc->mmgr) : NULL;

    TM_PDF_CALL(pdf, HPDF_Dict_Add(in, key, made));
    return made;
}

static HPDF_Dict new_object(struct tm_pdf *pdf)
{
    HPDF_Dict made = tm_pdf_is_sound(pdf) ? HPDF_Dict_New(pdf->doc->mmgr) : NULL;

    TM_PDF_CALL(pdf, HPDF_Xref_Add(pdf->doc->xref, made));
    return made;
}

static HPDF_Dict new_stream(struct tm_pdf *pdf, HPDF_Dict in, const char *key)
{
    HPDF_Dict made = tm_pdf_is_sound(pdf) ? HPDF_DictStream_New(pdf->doc->mmgr, pdf->doc->xref) : NULL;

    TM_PDF_CALL(pdf, HPDF_Dict_Add(in, key, made));
    return made;
}

static void put_text(struct tm_pdf *pdf, HPDF_Dict stream, const char *text)
{
    TM_PDF_CALL(pdf, HPDF_Stream_Write(stream->stream, (const HPDF_BYTE *)text, (HPDF_UINT)strlen(text)));
}

/* The map from codes to characters. */
static void add_characters(struct tm_pdf *pdf, HPDF_Dict font, const struct tm_pdf_subset *subset)
{
    HPDF_Dict map = new_stream(pdf, font, "ToUnicode");
    char row[48];

    put_text(pdf, map,
             "/CIDInit /ProcSet findresource begin\n"
             "12 dict begin\n"
             "begincmap\n"
             "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
             "/CMapName /Adobe-Identity-UCS def\n"
             "/CMapType 2 def\n"
             "1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n");
    for (unsigned i = 1; i <= subset->characters; i++) {
        const unsigned left = subset->characters - i + 1u;

        if (i % ROWS_OF_BLOCK == 1) {
            (void)snprintf(row, sizeof(row), "%u beginbfchar\n", left < ROWS_OF_BLOCK ? left : ROWS_OF_BLOCK);
            put_text(pdf, map, row);
        }
        (void)snprintf(row, sizeof(row), "<%04X> <%04X>\n%s", i, (unsigned)subset->character[i],
                       left == 1 || i % ROWS_OF_BLOCK == 0 ? "endbfchar\n" : "");
        put_text(pdf, map, row);
    }
    put_text(pdf, map, "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n");
}

static void add_widths(struct tm_pdf *pdf, HPDF_Dict glyphs, const struct tm_pdf_font *font,
                       const struct tm_pdf_subset *subset)
{
    HPDF_Array ranges = new_array(pdf, glyphs, "W"),
               widths = tm_pdf_is_sound(pdf) ? HPDF_Array_New(pdf->doc->mmgr) : NULL;

    TM_PDF_CALL(pdf, HPDF_Array_AddNumber(ranges, 1));
    TM_PDF_CALL(pdf, HPDF_Array_Add(ranges, widths));
    for (unsigned i = 1; i <= subset->characters; i++) {
        const size_t glyph = glyph_of(font, subset->character[i]);

        TM_PDF_CALL(pdf, HPDF_Array_AddNumber(widths, thousandths(font, (int32_t)units_wide(font, glyph))));
    }
}

static void add_file(struct tm_pdf *pdf, HPDF_Dict descriptor, const struct tm_pdf_font *font,
                     const struct tm_pdf_subset *subset)
{
    size_t bytes;
    uint8_t *file = tm_pdf_subset_make(pdf->run, font, subset, &bytes);
    HPDF_Dict stream = new_stream(pdf, descriptor, "FontFile2");

    TM_PDF_CALL(pdf, HPDF_Dict_AddNumber(stream, "Length1", (HPDF_INT32)bytes));
    TM_PDF_CALL(pdf, HPDF_Stream_Write(stream->stream, file, (HPDF_UINT)bytes));
    tm_give(&pdf->run->budget, TM_ACCOUNT_MODEL, file, bytes);
}

static void add_descriptor(struct tm_pdf *pdf, HPDF_Dict glyphs, const char *name, enum tm_pdf_face face)
{
    const struct tm_pdf_font *font = &pdf->font[face];
    const size_t height_of_h = outline_of(font, glyph_of(font, 'H')) + 8;
    HPDF_Dict descriptor = new_object(pdf);
    HPDF_Array box;

    TM_PDF_CALL(pdf, HPDF_Dict_Add(glyphs, "FontDescriptor", descriptor));
    TM_PDF_CALL(pdf, HPDF_Dict_AddName(descriptor, "Type", "FontDescriptor"));
    TM_PDF_CALL(pdf, HPDF_Dict_AddName(descriptor, "FontName", name));
    TM_PDF_CALL(pdf, HPDF_Dict_AddNumber(descriptor, "Flags", SYMBOLIC + (face == TM_PDF_MONO ? FIXED_PITCH : 0)));
    box = new_array(pdf, descriptor, "FontBBox");
    for (size_t i = 0; i < 4; i++)
        TM_PDF_CALL(pdf, HPDF_Array_AddNumber(box, signed_at(font, font->head + 36 + 2 * i)));
    TM_PDF_CALL(pdf, HPDF_Dict_AddNumber(descriptor, "ItalicAngle", 0));
    TM_PDF_CALL(pdf, HPDF_Dict_AddNumber(descriptor, "Ascent", signed_at(font, font->hhea + 4)));
    TM_PDF_CALL(pdf, HPDF_Dict_AddNumber(descriptor, "Descent", signed_at(font, font->hhea + 6)));
    TM_PDF_CALL(pdf, HPDF_Dict_AddNumber(descriptor, "CapHeight", signed_at(font, height_of_h)));
    TM_PDF_CALL(pdf, HPDF_Dict_AddNumber(descriptor, "StemV", 0));
    add_file(pdf, descriptor, font, &pdf->subset[face]);
}

void tm_pdf_embed(struct tm_pdf *pdf, enum tm_pdf_face face)
{
    static const char *const names[TM_PDF_FACES] = { "TMPDFA+DejaVuSans", "TMPDFB+DejaVuSans-Bold",
                                                     "TMPDFC+DejaVuSansMono" };
    const struct tm_pdf_subset *subset = &pdf->subset[face];
    HPDF_Dict font, glyphs, system;
    HPDF_Array descendants;

    if (subset->characters == 0 || !tm_pdf_is_sound(pdf))
        return;
    font = new_object(pdf);
    glyphs = new_object(pdf);
    TM_PDF_CALL(pdf, HPDF_Dict_Add(pdf->fonts, tm_pdf_face_key[face], font));
    TM_PDF_CALL(pdf, HPDF_Dict_AddName(font, "Type", "Font"));
    TM_PDF_CALL(pdf, HPDF_Dict_AddName(font, "Subtype", "Type0"));
    TM_PDF_CALL(pdf, HPDF_Dict_AddName(font, "BaseFont", names[face]));
    TM_PDF_CALL(pdf, HPDF_Dict_AddName(font, "Encoding", "Identity-H"));
    descendants = new_array(pdf, font, "DescendantFonts");
    TM_PDF_CALL(pdf, HPDF_Array_Add(descendants, glyphs));
    add_characters(pdf, font, subset);
    TM_PDF_CALL(pdf, HPDF_Dict_AddName(glyphs, "Type", "Font"));
    TM_PDF_CALL(pdf, HPDF_Dict_AddName(glyphs, "Subtype", "CIDFontType2"));
    TM_PDF_CALL(pdf, HPDF_Dict_AddName(glyphs, "BaseFont", names[face]));
    TM_PDF_CALL(pdf, HPDF_Dict_AddName(glyphs, "CIDToGIDMap", "Identity"));
    system = new_part_of(pdf, glyphs, "CIDSystemInfo");
    TM_PDF_CALL(pdf, HPDF_Dict_Add(system, "Registry", HPDF_String_New(pdf->doc->mmgr, "Adobe", NULL)));
    TM_PDF_CALL(pdf, HPDF_Dict_Add(system, "Ordering", HPDF_String_New(pdf->doc->mmgr, "Identity", NULL)));
    TM_PDF_CALL(pdf, HPDF_Dict_AddNumber(system, "Supplement", 0));
    add_widths(pdf, glyphs, &pdf->font[face], subset);
    add_descriptor(pdf, glyphs, names[face], face);
}
