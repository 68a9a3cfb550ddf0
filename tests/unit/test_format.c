/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/format/format.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/strings.h"

static void times_have_three_digits_and_a_fitting_unit(void **state)
{
    static const struct {
        int64_t ps;
        const char *text;
    } table[] = {
        { 0, "0 s" },
        { 1, "1 ps" },
        { 999, "999 ps" },
        { 1000, "1.00 ns" },
        { 1234, "1.23 ns" },
        { 9994, "9.99 ns" },
        { 9995, "10.0 ns" }, /* rounding adds a digit */
        { 99949, "99.9 ns" },
        { 99950, "100 ns" },
        { 999499, "999 ns" },
        { 999500, "1.00 µs" }, /* rounding reaches the next unit */
        { INT64_C(1230000), "1.23 µs" },
        { INT64_C(999999999), "1.00 ms" },
        { INT64_C(12300000000), "12.3 ms" },
        { INT64_C(999499999999), "999 ms" },
        { INT64_C(999500000000), "1.00 s" },
        { INT64_C(599400000000000), "599 s" },
        { INT64_C(600000000000000), "10 min 00 s" },
        { INT64_C(754000000000000), "12 min 34 s" },
        { INT64_C(3600000000000000), "1 h 00 min" },
        { INT64_C(172800000000000000), "2 d 00 h" },
        { -1234, "-1.23 ns" },
        { INT64_MAX, "106 d 18 h" },
        { INT64_MIN, "-106 d 18 h" },
    };
    char out[TM_FORMAT_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_string_equal(tm_format_time(out, table[i].ps), table[i].text);
}

static void decimals_are_fixed_and_in_their_shortest_form(void **state)
{
    static const struct {
        double value;
        int decimals;
        const char *text;
    } table[] = {
        { 0, 2, "0" },
        { -0.0, 2, "0" },
        { 12, 2, "12" },
        { 12.5, 2, "12.5" },
        { -0.25, 2, "-0.25" },
        { 12.05, 2, "12.05" },
        { 0.005, 2, "0.01" },
        { -0.004, 2, "0" },
        { 0.999, 2, "1" },
        { 1.23456, 5, "1.23456" },
        { 100.00001, 5, "100.00001" },
        { 3.7, 0, "4" },
        { 999999999999.5, 1, "999999999999.5" },
        { 1e12, 2, "0" },
        { NAN, 2, "0" },
        { -INFINITY, 5, "0" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char out[TM_FIXED_TEXT + 1];

        out[tm_fixed_text(out, table[i].value, table[i].decimals)] = 0;
        assert_string_equal(out, table[i].text);
    }
}

static void rough_times_have_two_digits(void **state)
{
    static const struct {
        int64_t ps;
        const char *text;
    } table[] = {
        { 0, "0 s" },          { 7, "7 ps" },           { 128, "130 ps" },
        { 8388608, "8.4 µs" }, { 16777216, "17 µs" },   { 134217728, "130 µs" },
        { 999500, "1 µs" },    { 1000000, "1 µs" },     { 1073741824, "1.1 ms" },
        { 20000000, "20 µs" }, { -8388608, "-8.4 µs" }, { INT64_C(2199023255552), "2.2 s" },
    };
    char out[TM_FORMAT_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_string_equal(tm_format_time_roughly(out, table[i].ps), table[i].text);
    assert_string_equal(tm_format_time_roughly(out, INT64_MAX), "106 d 11 h");
}

static void moments_show_every_nanosecond(void **state)
{
    char out[TM_FORMAT_BYTES];

    (void)state;
    assert_string_equal(tm_format_moment(out, INT64_C(1234567890123)), "1.234567890 s");
    assert_string_equal(tm_format_moment(out, 499), "0.000000000 s");
    assert_string_equal(tm_format_moment(out, -1500), "-0.000000002 s");
    assert_string_equal(tm_format_moment(out, INT64_MIN), "-9223372.036854776 s");
}

static void dates_are_in_utc(void **state)
{
    char out[TM_FORMAT_BYTES];

    (void)state;
    assert_string_equal(tm_format_date(out, INT64_C(1790000000999999999)), "2026-09-21 14:13:20 UTC");
    assert_string_equal(tm_format_date(out, 0), "1970-01-01 00:00:00 UTC");
    assert_string_equal(tm_format_date(out, -1), "");
    assert_string_equal(tm_format_date(out, INT64_MAX), "2262-04-11 23:47:16 UTC");
}

static void sizes_and_rates_have_their_own_units(void **state)
{
    char out[TM_FORMAT_BYTES];

    (void)state;
    assert_string_equal(tm_format_bytes(out, 0), "0 B");
    assert_string_equal(tm_format_bytes(out, 1023), "1023 B");
    assert_string_equal(tm_format_bytes(out, 1024), "1.00 KiB");
    assert_string_equal(tm_format_bytes(out, 1023.7 * 1024), "1.00 MiB");
    assert_string_equal(tm_format_bytes(out, 1020.0 * 1024), "1020 KiB");
    assert_string_equal(tm_format_bytes(out, 3.2 * (1 << 30)), "3.20 GiB");
    assert_string_equal(tm_format_bytes(out, -2048), "-2.00 KiB");
    assert_string_equal(tm_format_bytes(out, NAN), "");
    assert_string_equal(tm_format_rate(out, 999), "999 B/s");
    assert_string_equal(tm_format_rate(out, 12.34e9), "12.3 GB/s");
    assert_string_equal(tm_format_rate(out, 999.9e9), "1.00 TB/s");
    assert_true(strlen(tm_format_bytes(out, 1e308)) < TM_FORMAT_BYTES);
    assert_true(strlen(tm_format_rate(out, 1e308)) < TM_FORMAT_BYTES);
}

static void counts_show_all_digits(void **state)
{
    char out[TM_FORMAT_BYTES];

    (void)state;
    assert_string_equal(tm_format_count(out, 0), "0");
    assert_string_equal(tm_format_count(out, 999), "999");
    assert_string_equal(tm_format_count(out, 1000), "1,000");
    assert_string_equal(tm_format_count(out, -1234567), "-1,234,567");
    assert_string_equal(tm_format_count(out, INT64_MIN), "-9,223,372,036,854,775,808");
}

static void shares_never_round_to_a_lie(void **state)
{
    char out[TM_FORMAT_BYTES];

    (void)state;
    assert_string_equal(tm_format_pct(out, 0), "0.0%");
    assert_string_equal(tm_format_pct(out, -0.0), "0.0%");
    assert_string_equal(tm_format_pct(out, 0.01), "< 0.1%");
    assert_string_equal(tm_format_pct(out, 45.25), "45.2%");
    assert_string_equal(tm_format_pct(out, 99.99), "> 99.9%");
    assert_string_equal(tm_format_pct(out, 100), "100.0%");
    assert_string_equal(tm_format_pct(out, INFINITY), "");
    assert_true(strlen(tm_format_pct(out, 1e300)) < TM_FORMAT_BYTES);
}

static void numbers_keep_three_digits(void **state)
{
    char out[TM_FORMAT_BYTES];

    (void)state;
    assert_string_equal(tm_format_number(out, 12), "12");
    assert_string_equal(tm_format_number(out, 1234567), "1,234,567");
    assert_string_equal(tm_format_number(out, 1234.5), "1,235");
    assert_string_equal(tm_format_number(out, 0.01234), "0.0123");
    assert_string_equal(tm_format_number(out, 9.996), "10.0");
    assert_string_equal(tm_format_number(out, 123.4), "123");
    assert_string_equal(tm_format_number(out, 0.00001), "1e-05");
    assert_string_equal(tm_format_number(out, NAN), "");
    assert_true(strlen(tm_format_number(out, -1.7976931348623157e308)) < TM_FORMAT_BYTES);
}

static void units_choose_the_form(void **state)
{
    char out[TM_FORMAT_BYTES];

    (void)state;
    assert_string_equal(tm_format_unit(out, 0.412, "ms"), "412 µs");
    assert_string_equal(tm_format_unit(out, 1.82, "s"), "1.82 s");
    assert_string_equal(tm_format_unit(out, 75, "%"), "75.0%");
    assert_string_equal(tm_format_unit(out, 3, "count"), "3");
    assert_string_equal(tm_format_unit(out, 2048, "bytes"), "2.00 KiB");
    assert_string_equal(tm_format_unit(out, 2.5, "TFLOP/s"), "2.50 TFLOP/s");
    assert_string_equal(tm_format_unit(out, 1e300, "s"), "1e+300 s");
    assert_true(strlen(tm_format_unit(out, -1e14, "a unit that is much longer than any unit")) < TM_FORMAT_BYTES);
}

static void what_cannot_be_seen_becomes_an_escape(void **state)
{
    static const struct {
        const char *from, *to;
    } table[] = {
        { "plain_name.1", "plain_name.1" },
        { "größe 漢字 😀", "größe 漢字 😀" },
        { "a\nb\tc\rd", "a\\nb\\tc\\rd" },
        { "\x1b[31m\x7f", "\\u001b[31m\\u007f" },
        { "\xc2\x85", "\\u0085" }, /* a C1 control */
        { "\xe2\x80\xae"
          "exe",
          "\\u202eexe" }, /* right-to-left override */
        { "a\xe2\x80\x8b"
          "b",
          "a\\u200bb" }, /* zero width space */
        { "\xef\xbb\xbf", "\\ufeff" },
        { "\xf3\xa0\x81\x81", "\\u{e0041}" }, /* a tag character */
        { "\xef\xbf\xbf", "\\uffff" },
        { "ab\xff\xc3(", "ab\\xff\\xc3(" },
        { "\xed\xa0\x80", "\\xed\\xa0\\x80" }, /* a surrogate */
    };
    char out[128];

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const size_t n = tm_format_visible(out, sizeof(out), table[i].from, strlen(table[i].from));

        assert_string_equal(out, table[i].to);
        assert_int_equal(n, strlen(table[i].to));
    }
    assert_int_equal(tm_format_visible(out, sizeof(out), "a\0b", 3), 8);
    assert_string_equal(out, "a\\u0000b");
}

static void visible_texts_end_at_whole_characters(void **state)
{
    static const char text[] = "é漢😀\n\x80z";
    char out[64];

    (void)state;
    for (size_t room = 1; room < sizeof(out); room++) {
        memset(out, '!', sizeof(out));
        const size_t n = tm_format_visible(out, room, text, sizeof(text) - 1);

        assert_true(n < room);
        assert_int_equal(out[n], 0);
        assert_true(tm_utf8_is_valid(out, n));
        assert_int_equal(out[room], '!');
    }
}

static void long_names_lose_their_middle(void **state)
{
    char out[128];

    (void)state;
    assert_false(tm_format_middle(out, sizeof(out), "short", 5));
    assert_string_equal(out, "short");
    assert_true(tm_format_middle(out, sizeof(out), "abcdefghij", 5));
    assert_string_equal(out, "ab…ij");
    assert_true(tm_format_middle(out, sizeof(out), "abcdefghij", 6));
    assert_string_equal(out, "abc…ij");
    assert_true(tm_format_middle(out, sizeof(out), "漢漢漢漢漢字字字字字", 7));
    assert_string_equal(out, "漢漢漢…字字字");
    for (size_t most = 5; most < 20; most++) {
        tm_format_middle(out, sizeof(out), "漢a漢a漢a漢a漢a漢a漢a漢a漢a漢a漢a漢a", most);
        assert_int_equal(tm_format_length(out), most);
        assert_true(tm_utf8_is_valid(out, strlen(out)));
    }
}

static void long_texts_keep_both_ends_of_any_bytes(void **state)
{
    char text[512], out[64];

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text, "\xe4\xb8\xad", 3);
    memcpy(text + sizeof(text) - 4, "\xe4\xb8\xad", 4);
    tm_format_text(out, sizeof(out), text);
    assert_true(tm_utf8_is_valid(out, strlen(out)));
    assert_non_null(strstr(out, "x\xe2\x80\xa6x"));
    assert_int_equal(strncmp(out, "\xe4\xb8\xad", 3), 0);
    assert_string_equal(out + strlen(out) - 3, "\xe4\xb8\xad");
    memset(text, 0xff, sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    tm_format_text(out, sizeof(out), text);
    assert_true(tm_utf8_is_valid(out, strlen(out)));
    tm_format_text(out, sizeof(out), "short\n");
    assert_string_equal(out, "short\\n");
    memset(text, 'y', sizeof(out) - 1);
    text[sizeof(out) - 1] = 0;
    tm_format_text(out, sizeof(out), text); /* fits exactly */
    assert_string_equal(out, text);
    text[sizeof(out) - 1] = 'y';
    text[sizeof(out)] = 0;
    tm_format_text(out, sizeof(out), text);
    assert_int_equal(strlen(out), sizeof(out) - 1); /* no room is left unused */
    memset(text, '\x01', 4 * sizeof(out));
    text[4 * sizeof(out)] = 0;
    for (size_t room = 16; room <= sizeof(out); room++) { /* an escape is whole or not there */
        tm_format_text(out, room, text);
        assert_true(strlen(out) < room && strlen(out) % 6 == 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_three_digits_and_a_fitting_unit),
        cmocka_unit_test(decimals_are_fixed_and_in_their_shortest_form),
        cmocka_unit_test(rough_times_have_two_digits),
        cmocka_unit_test(moments_show_every_nanosecond),
        cmocka_unit_test(dates_are_in_utc),
        cmocka_unit_test(sizes_and_rates_have_their_own_units),
        cmocka_unit_test(counts_show_all_digits),
        cmocka_unit_test(shares_never_round_to_a_lie),
        cmocka_unit_test(numbers_keep_three_digits),
        cmocka_unit_test(units_choose_the_form),
        cmocka_unit_test(what_cannot_be_seen_becomes_an_escape),
        cmocka_unit_test(visible_texts_end_at_whole_characters),
        cmocka_unit_test(long_texts_keep_both_ends_of_any_bytes),
        cmocka_unit_test(long_names_lose_their_middle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
