/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: ISO 32000-1, 9.10.3 (ToUnicode), 12.3.2 (destinations), 12.2 (viewer preferences), 14.9.2 (language). */
#include "reports/pdf/pdf_extras.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/utf8.h"

enum { ROWS_BEFORE = 256, ROWS_OF_BLOCK = 64, CODES = 1 << 16, SEGMENT_FORMAT = 4 };

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
static char *encode(HPDF_Encoder encoder, const char *text, HPDF_UINT length, HPDF_UINT *bytes)
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
    encoder->encode_text_fn = encode;
}

/* As libharu reads it: a list's entries are shifted, also those of 0. */
static HPDF_UINT16 glyph_in(const HPDF_TTF_CmapRange *map, HPDF_UINT segment, HPDF_UINT code)
{
    const HPDF_UINT segments = map->seg_count_x2 / 2, offset = map->id_range_offset[segment];
    const HPDF_UINT at = offset / 2 + (code - map->start_count[segment]) - (segments - segment);

    if (offset == 0)
        return (HPDF_UINT16)(code + (HPDF_UINT)map->id_delta[segment]);
    return at > map->glyph_id_array_count ? 0
                                          : (HPDF_UINT16)(map->glyph_id_array[at] + map->id_delta[segment]);
}

/* libharu goes through a font's segments one after the other for each of 65,536 characters.  One segment with a list of
 * all glyphs is a map of the same format. */
void tm_pdf_spread_map(HPDF_Doc doc, const char *name)
{
    HPDF_FontDef definition = HPDF_GetFontDef(doc, name);
    HPDF_TTFontDefAttr file =
        definition && definition->type == HPDF_FONTDEF_TYPE_TRUETYPE ? definition->attr : NULL;
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

void tm_pdf_set_language(HPDF_Doc doc)
{
    HPDF_Dict catalog = doc->catalog, wishes = HPDF_Dict_New(doc->mmgr);
    HPDF_String language = HPDF_String_New(doc->mmgr, "en", NULL);

    if (language)
        (void)HPDF_Dict_Add(catalog, "Lang", language);
    if (wishes && HPDF_Dict_Add(catalog, "ViewerPreferences", wishes) == HPDF_OK)
        (void)HPDF_Dict_AddBoolean(wishes, "DisplayDocTitle", HPDF_TRUE);
}
