/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/pdf/pdf_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reports/media.h"
#include "tests/support/test_run.h"

enum { GLYPHS_MOST = 1 << 16 };

static void open_font(struct tm_pdf_font *font, enum tm_pdf_face face)
{
    assert_true(tm_pdf_font_open(font, &tm_pdf_assets[face]));
}

static void every_face_has_what_reports_are_written_in(void **state)
{
    static const uint32_t characters[] = { ' ',   '~',   0xb5,  0xd7,   0xe9,   0x3bc,
                                           0x3c9, 0x416, 0x451, 0x2022, 0x2026, 0x2192 };

    (void)state;
    for (int face = 0; face < TM_PDF_FACES; face++) {
        struct tm_pdf_font font;

        open_font(&font, (enum tm_pdf_face)face);
        for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++)
            if (!tm_pdf_font_has(&font, characters[i]))
                fail_msg("face %d lacks U+%04X", face, (unsigned)characters[i]);
    }
}

static void what_a_face_lacks_is_known(void **state)
{
    static const uint32_t characters[] = { 0x07, 0x4e2d, 0xd800, 0xfffe, 0xffff, 0x1f600, 0x10ffff, UINT32_MAX };
    struct tm_pdf_font font;

    (void)state;
    open_font(&font, TM_PDF_REGULAR);
    for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++)
        if (tm_pdf_font_has(&font, characters[i]))
            fail_msg("U+%04X is there", (unsigned)characters[i]);
}

static void widths_are_those_of_the_file(void **state)
{
    struct tm_pdf_font font;

    (void)state;
    open_font(&font, TM_PDF_REGULAR);
    assert_float_equal(tm_pdf_font_advance(&font, 'i'), 0.2778, 0.0002); /* 569 of 2048 */
    assert_float_equal(tm_pdf_font_advance(&font, 0x41f), 0.7520, 0.0005);
    open_font(&font, TM_PDF_MONO);
    assert_float_equal(tm_pdf_font_advance(&font, 'i'), tm_pdf_font_advance(&font, 0x416), 0.0001);
}

static size_t count_used(const uint8_t *used)
{
    size_t n = 0;

    for (size_t i = 0; i < GLYPHS_MOST; i++)
        n += used[i];
    return n;
}

/* Each glyph that is used adds its parts and their parts: a second call finds nothing new. */
static void parts_of_parts_are_marked(void **state)
{
    static uint8_t used[GLYPHS_MOST];
    struct tm_pdf_font font;
    size_t deepest = 0;

    (void)state;
    open_font(&font, TM_PDF_MONO);
    for (size_t glyph = 0; glyph < 3000; glyph++) {
        memset(used, 0, sizeof(used));
        used[glyph] = 1;
        tm_pdf_font_add_components(&font, used, 3300);
        const size_t first = count_used(used);

        tm_pdf_font_add_components(&font, used, 3300);
        assert_int_equal(count_used(used), first);
        deepest = first > deepest ? first : deepest;
    }
    assert_true(deepest >= 4); /* an accent that is a glyph made of another, on a letter that is */
    memset(used, 0, sizeof(used));
    tm_pdf_font_add_components(&font, used, 3300);
    assert_int_equal(count_used(used), 0);
}

static void a_damaged_file_is_refused_or_read_within_its_end(void **state)
{
    const struct tm_pdf_asset *whole = &tm_pdf_assets[TM_PDF_MONO];
    static uint8_t used[GLYPHS_MOST];

    (void)state;
    for (size_t length = 0; length < whole->length; length += length < 400 ? 1 : 9973) {
        char *copy = malloc(length + 1); /* of its own, so that a sanitizer sees its end */
        const struct tm_pdf_asset part = { copy, length };
        struct tm_pdf_font font;

        assert_non_null(copy);
        memcpy(copy, whole->bytes, length);
        memset(used, 1, sizeof(used));
        if (tm_pdf_font_open(&font, &part)) {
            (void)tm_pdf_font_advance(&font, 0x416);
            tm_pdf_font_add_components(&font, used, GLYPHS_MOST);
        }
        free(copy);
    }
}

/* --- the map of libharu --- */

static const char *load_face(HPDF_Doc doc, enum tm_pdf_face face)
{
    const struct tm_pdf_asset *asset = &tm_pdf_assets[face];
    const int fd = memfd_create("font", 0);
    const char *name;
    char path[32];

    assert_true(fd >= 0 && write(fd, asset->bytes, asset->length) == (ssize_t)asset->length);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    name = HPDF_LoadTTFontFromFile(doc, path, HPDF_TRUE);
    (void)close(fd);
    assert_non_null(name);
    return name;
}

static void a_map_that_is_spread_says_the_same(void **state)
{
    static HPDF_UINT16 before[GLYPHS_MOST];
    HPDF_Doc doc = HPDF_New(NULL, NULL);

    (void)state;
    assert_non_null(doc);
    for (int face = 0; face < TM_PDF_FACES; face++) {
        const char *name = load_face(doc, (enum tm_pdf_face)face);
        HPDF_FontDef definition = HPDF_GetFontDef(doc, name);

        for (unsigned code = 0; code < GLYPHS_MOST; code++)
            before[code] = HPDF_TTFontDef_GetGlyphid(definition, (HPDF_UINT16)code);
        assert_true(before['a'] && before[0x3bc]);
        tm_pdf_spread_map(doc, name);
        assert_int_equal(((HPDF_TTFontDefAttr)definition->attr)->cmap.seg_count_x2, 2);
        for (unsigned code = 0; code < GLYPHS_MOST; code++)
            if (HPDF_TTFontDef_GetGlyphid(definition, (HPDF_UINT16)code) != before[code])
                fail_msg("face %d: another glyph for U+%04X", face, code);
    }
    HPDF_Free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_face_has_what_reports_are_written_in),
        cmocka_unit_test(what_a_face_lacks_is_known),
        cmocka_unit_test(widths_are_those_of_the_file),
        cmocka_unit_test(parts_of_parts_are_marked),
        cmocka_unit_test(a_map_that_is_spread_says_the_same),
        cmocka_unit_test(a_damaged_file_is_refused_or_read_within_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
