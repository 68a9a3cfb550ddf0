/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/pdf/pdf_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/media.h"
#include "tests/support/test_run.h"

static void open_font(struct tm_pdf_font *font, enum tm_pdf_face face)
{
    assert_true(tm_pdf_font_open(font, &tm_pdf_assets[face]));
}

static void every_face_has_what_reports_are_written_in(void **state)
{
    static const uint32_t characters[] = { 0xb5, 0xd7, 0xe9, 0x3bc, 0x3c9, 0x416, 0x451, 0x2022, 0x2026, 0x2192 };

    (void)state;
    for (int face = 0; face < TM_PDF_FACES; face++) {
        struct tm_pdf_font font;

        open_font(&font, (enum tm_pdf_face)face);
        for (uint32_t code = ' '; code <= '~'; code++)
            assert_true(tm_pdf_font_has(&font, code) && tm_pdf_font_advance(&font, code) > 0);
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

static void characters_are_numbered_as_they_are_met(void **state)
{
    static struct tm_pdf_subset subset;

    (void)state;
    assert_int_equal(tm_pdf_subset_number(&subset, 'b'), 1);
    assert_int_equal(tm_pdf_subset_number(&subset, 0x416), 2);
    assert_int_equal(tm_pdf_subset_number(&subset, 'b'), 1);
    assert_int_equal(tm_pdf_subset_number(&subset, 0x1f600), 0);
    assert_int_equal(subset.character[2], 0x416);
    for (uint32_t code = 0x1000; code < 0x1000 + TM_PDF_CHARACTERS; code++)
        (void)tm_pdf_subset_number(&subset, code);
    assert_int_equal(subset.characters, TM_PDF_CHARACTERS - 1);
    assert_int_equal(tm_pdf_subset_number(&subset, 0x9000), 0);
    assert_int_equal(tm_pdf_subset_number(&subset, 0x416), 2);
}

/* --- the file of a subset --- */

struct made {
    uint8_t *bytes;
    size_t length, glyphs;
};

static uint32_t number(const struct made *made, size_t at, int bytes)
{
    uint32_t n = 0;

    assert_true(at + (size_t)bytes <= made->length);
    for (int i = 0; i < bytes; i++)
        n = n << 8 | made->bytes[at + (size_t)i];
    return n;
}

static size_t table(const struct made *made, const char *tag)
{
    for (size_t i = 0; i < number(made, 4, 2); i++)
        if (memcmp(made->bytes + 12 + 16 * i, tag, 4) == 0)
            return number(made, 12 + 16 * i + 8, 4);
    fail_msg("the table '%s' is missing", tag);
    return 0;
}

static struct made make(struct tm_run *run, const struct tm_pdf_font *font, const uint32_t *codes, size_t count)
{
    static struct tm_pdf_subset subset;
    struct made made;

    memset(&subset, 0, sizeof(subset));
    for (size_t i = 0; i < count; i++)
        (void)tm_pdf_subset_number(&subset, codes[i]);
    made.bytes = tm_pdf_subset_make(run, font, &subset, &made.length);
    assert_non_null(made.bytes);
    made.glyphs = number(&made, table(&made, "maxp") + 4, 2);
    return made;
}

static void drop(struct tm_run *run, struct made *made)
{
    tm_give(&run->budget, TM_ACCOUNT_MODEL, made->bytes, made->length);
}

/* Offset of an outline; out: bytes of it */
static size_t outline(const struct made *made, size_t glyph, size_t *bytes)
{
    const size_t loca = table(made, "loca"), from = number(made, loca + 4 * glyph, 4);

    *bytes = number(made, loca + 4 * glyph + 4, 4) - from;
    return table(made, "glyf") + from;
}

/* out: glyphs that it is made of, and that these are made of */
static size_t parts_of(const struct made *made, size_t glyph)
{
    size_t bytes, parts = 0, at = outline(made, glyph, &bytes);
    uint32_t flags = 0x20;

    if (bytes == 0 || number(made, at, 2) < 0x8000)
        return 0;
    for (at += 10; flags & 0x20;) {
        const size_t part = number(made, at + 2, 2);

        flags = number(made, at, 2);
        assert_true(part < made->glyphs);
        parts += 1 + parts_of(made, part);
        at += 4 + (flags & 1 ? 4 : 2) + (flags & 8 ? 2 : flags & 0x40 ? 4 : flags & 0x80 ? 8 : 0);
    }
    return parts;
}

static void a_subset_has_its_characters_and_what_they_are_made_of(void **state)
{
    struct tm_pdf_font font;
    size_t deepest = 0;
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    open_font(&font, TM_PDF_MONO);
    for (uint32_t code = ' '; code < 0x3000; code++) {
        if (!tm_pdf_font_has(&font, code))
            continue;
        struct made made = make(&run, &font, &code, 1);
        const size_t parts = parts_of(&made, 1);

        assert_true(made.glyphs >= 2 && made.glyphs <= 2 + parts);
        assert_int_equal(number(&made, table(&made, "hmtx") + 4, 2),
                         lround(tm_pdf_font_advance(&font, code) * font.units));
        deepest = parts > deepest ? parts : deepest;
        drop(&run, &made);
    }
    assert_true(deepest >= 3); /* an accent that is a glyph made of another, on a letter that is */
    assert_ledger_is_even(&run);
}

static void the_sums_of_its_file_are_right(void **state)
{
    static const uint32_t codes[] = { 'T', 'e', 0xe9, 0x1ed, 0x416, ' ' };
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (int face = 0; face < TM_PDF_FACES; face++) {
        struct tm_pdf_font font;
        uint32_t sum = 0;

        open_font(&font, (enum tm_pdf_face)face);
        struct made made = make(&run, &font, codes, sizeof(codes) / sizeof(codes[0]));

        assert_true(made.length % 4 == 0 && made.length < 16384);
        for (size_t at = 0; at < made.length; at += 4)
            sum += number(&made, at, 4);
        assert_int_equal(sum, 0xb1b0afba);
        drop(&run, &made);
    }
}

static void a_damaged_file_is_refused_or_read_within_its_end(void **state)
{
    const struct tm_pdf_asset *whole = &tm_pdf_assets[TM_PDF_MONO];
    static const uint32_t codes[] = { 'A', 0x1ed, 0x416 };
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (size_t length = 0; length < whole->length; length += length < 400 ? 1 : 9973) {
        char *copy = malloc(length + 1); /* of its own, so that a sanitizer sees its end */
        const struct tm_pdf_asset part = { copy, length };
        struct tm_pdf_font font;

        assert_non_null(copy);
        memcpy(copy, whole->bytes, length);
        if (tm_pdf_font_open(&font, &part)) {
            (void)tm_pdf_font_advance(&font, 0x416);
            struct made made = make(&run, &font, codes, sizeof(codes) / sizeof(codes[0]));

            drop(&run, &made);
        }
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_face_has_what_reports_are_written_in),
        cmocka_unit_test(what_a_face_lacks_is_known),
        cmocka_unit_test(widths_are_those_of_the_file),
        cmocka_unit_test(characters_are_numbered_as_they_are_met),
        cmocka_unit_test(a_subset_has_its_characters_and_what_they_are_made_of),
        cmocka_unit_test(the_sums_of_its_file_are_right),
        cmocka_unit_test(a_damaged_file_is_refused_or_read_within_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
