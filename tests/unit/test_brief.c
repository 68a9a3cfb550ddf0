/* SPDX-License-Identifier: Apache-2.0 */
/* The brief fits into its bytes: what is given up first, and that a brief of any size is one. */
#include "reports/brief/brief.h"

#include "tests/support/test_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void rows_go_in_their_order(void **state)
{
    size_t rows[TM_BRIEF_LISTS];
    struct tm_brief_room room;
    int last = 0, steps = 0;

    (void)state;
    tm_brief_room_init(&room);
    for (size_t i = 0; i < TM_BRIEF_LISTS; i++)
        rows[i] = 3;
    while (rows[TM_BRIEF_FINDINGS] > 0) {
        const struct tm_brief_room before = room;
        int changed = -1;

        assert_true(tm_brief_room_shrink(&room, rows));
        for (int i = 0; i < TM_BRIEF_LISTS; i++) {
            if (room.rows[i] == before.rows[i])
                continue;
            assert_int_equal(changed, -1);
            changed = i;
        }
        assert_true(changed >= last);
        assert_int_equal(room.rows[changed], rows[changed] - 1);
        assert_int_equal(room.text_bytes, before.text_bytes);
        rows[changed] = room.rows[changed];
        last = changed;
        steps++;
    }
    assert_int_equal(rows[TM_BRIEF_SIDES], 2); /* a comparison has its two sides */
    assert_int_equal(steps, 3 * TM_BRIEF_LISTS - 2);
}

static void then_texts_get_shorter(void **state)
{
    const size_t rows[TM_BRIEF_LISTS] = { 0 };
    struct tm_brief_room room;
    size_t times = 0;

    (void)state;
    tm_brief_room_init(&room);
    for (size_t before = room.text_bytes; tm_brief_room_shrink(&room, rows); before = room.text_bytes, times++)
        assert_int_equal(room.text_bytes, before / 2);
    assert_true(times > 1 && room.text_bytes >= 16);
}

/* A run of many damaged files, key figures, findings and failed checks, with texts that are long in JSON and Markdown. */
static void fill(struct tm_value *summary, size_t rows, const char *text)
{
    struct tm_value *input = tm_add_object(summary, "input"), *files = tm_add_array(input, "files"),
                    *findings = tm_add_array(summary, "findings"), *checks = tm_add_array(summary, "checks"),
                    *kpis = tm_add_array(summary, "kpis"), *row = tm_add_object(summary, "verdict");

    tm_add_string(summary, "schema", "tracemill.summary");
    tm_add_string(input, "run", text);
    tm_add_string(row, "text", text);
    tm_add_string(row, "severity", "critical");
    for (size_t i = 0; i < rows; i++) {
        row = tm_add_object(files, NULL);
        tm_add_string(row, "path", text);
        tm_add_bool(row, "partial", true);
        row = tm_add_object(findings, NULL);
        tm_add_string(row, "id", "idle_input");
        tm_add_string(row, "severity", "critical");
        tm_add_string(row, "title", text);
        tm_add_string(tm_add_array(row, "evidence"), NULL, text);
        tm_add_string(tm_add_array(row, "fix"), NULL, text);
        row = tm_add_object(checks, NULL);
        tm_add_string(row, "id", "busy_and_idle");
        tm_add_string(row, "title", text);
        tm_add_bool(row, "holds", false);
        tm_add_string(row, "where", text);
    }
    for (size_t i = 0; i < rows && i < 100; i++) { /* each is looked up among the findings */
        row = tm_add_object(kpis, NULL);
        tm_add_string(row, "id", "step_time");
        tm_add_string(row, "title", "Step time");
        tm_add_double(row, "value", 1234567.123456789);
        tm_add_string(row, "unit", "ms");
        tm_add_string(row, "band", "bad");
    }
}

static void check_size(size_t rows, const char *text)
{
    struct tm_run held, *run = &held;
    struct tm_doc *doc;

    test_run_init(run);
    doc = tm_doc_new(run);
    assert_non_null(doc);
    tm_doc_set_most(doc, (size_t)64 << 20);
    fill(tm_doc_root(doc), rows, text);
    assert_int_equal(tm_doc_status(doc), TM_OK);
    const struct tm_brief_source source = { .root = tm_doc_root(doc), .operand = "run", .settings = "" };

    for (enum tm_brief_form form = TM_BRIEF_TEXT; form <= TM_BRIEF_MARKDOWN; form++) {
        char *bytes = NULL;
        size_t length = 0;
        FILE *to = open_memstream(&bytes, &length);

        assert_non_null(to);
        assert_int_equal(tm_brief_write(run, &source, form, to), TM_OK);
        assert_int_equal(fclose(to), 0);
        assert_in_range(length, 1, TM_BRIEF_BYTES);
        assert_int_equal(bytes[length - 1], '\n');
        if (rows > 100)
            assert_non_null(strstr(bytes, form == TM_BRIEF_JSON ? "\"left_out\": {\"" : "Omitted"));
        free(bytes);
    }
    tm_doc_free(doc);
    assert_ledger_is_even(run);
}

static void everything_fits(void **state)
{
    static const char *const pieces[] = {
        "a", "\"\\", "\x01", "\xe2\x80\xae", "<@#[`*|", "\xf0\x9f\x98\x80", "`", "%"
    };
    char text[3000];

    (void)state;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        size_t used = 0;

        while (used + strlen(pieces[i]) < sizeof(text)) {
            memcpy(text + used, pieces[i], strlen(pieces[i]));
            used += strlen(pieces[i]);
        }
        text[used] = '\0';
        check_size(0, text);
        check_size(5, text);
        text[300] = '\0'; /* what is behind it would be cut anyway */
        check_size(1000, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_in_their_order),
        cmocka_unit_test(then_texts_get_shorter),
        cmocka_unit_test(everything_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
