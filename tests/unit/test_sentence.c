/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences of the evidence: where their values come from, how they are written, and what is optional. */
#include "reports/findings/findings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

enum { SENTENCE_BYTES = 120 };

static const char summary_json[] =
    "{'gaps': {'count': 12345, 'total_ps': 1500000}, 'name': 'of the summary',"
    " 'row': {'name': 'kernel', 'dur_ps': 2000000, 'step': null, 'op': '', 'limiter': 'grid', 'waves': 1.257}}";

static void expect(const struct tm_sentence_part *parts, const struct tm_given *given, const char *text)
{
    struct tm_run run;
    struct tm_doc *doc;
    char out[SENTENCE_BYTES];

    test_run_init(&run);
    doc = tm_doc_new(&run);
    test_summary_load(tm_doc_root(doc), summary_json);
    tm_sentence_fill(out, sizeof(out), parts, tm_doc_root(doc), tm_get(tm_doc_root(doc), "row"), given);
    assert_string_equal(out, text);
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
}

static void values_are_of_the_call_the_row_or_the_summary(void **state)
{
    static const struct tm_sentence_part name[] = { { TM_SENTENCE_NAME, "name" }, { TM_SENTENCE_END, NULL } };
    static const struct tm_sentence_part count[] = { { TM_SENTENCE_COUNT, "gaps.count" }, { TM_SENTENCE_END, NULL } };
    const struct tm_given given[] = { tm_given_text("name", "of the call"), { .name = NULL } };

    (void)state;
    expect(name, given, "of the call");
    expect(name, NULL, "kernel");
    expect(count, given, "12,345");
}

static void values_are_written_as_their_kind(void **state)
{
    static const struct {
        struct tm_sentence_part part;
        const char *text;
    } rows[] = {
        { { TM_SENTENCE_TIME, "dur_ps" }, "2.00 µs" },      { { TM_SENTENCE_MOMENT, "dur_ps" }, "0.000002000 s" },
        { { TM_SENTENCE_INTEGER, "gaps.count" }, "12345" }, { { TM_SENTENCE_WHOLE, "waves" }, "1" },
        { { TM_SENTENCE_TENTHS, "waves" }, "1.3" },         { { TM_SENTENCE_HUNDREDTHS, "waves" }, "1.26" },
        { { TM_SENTENCE_PERCENT, "waves" }, "1.3%" },       { { TM_SENTENCE_PLURAL, "gaps.count" }, "s" },
        { { TM_SENTENCE_TEXT, "limiter" }, "grid" },        { { TM_SENTENCE_TEXT, "missing" }, "" },
        { { TM_SENTENCE_COUNT, "missing" }, "0" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_sentence_part parts[] = { rows[i].part, { TM_SENTENCE_END, NULL } };

        expect(parts, NULL, rows[i].text);
    }
}

static void a_part_is_left_out_where_its_value_is_not_there(void **state)
{
    static const struct {
        struct tm_sentence_part value;
        const char *text;
    } rows[] = {
        { { TM_SENTENCE_INTEGER, "step" }, "else." },         { { TM_SENTENCE_TEXT, "op" }, "else." },
        { { TM_SENTENCE_TEXT, "missing" }, "else." },         { { TM_SENTENCE_TEXT, "limiter" }, "by grid." },
        { { TM_SENTENCE_IS, "limiter=registers" }, "else." }, { { TM_SENTENCE_IS, "limiter=grid" }, "by ." },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tm_sentence_part parts[] = {
            { TM_SENTENCE_OPEN, NULL }, { TM_SENTENCE_PLAIN, "by " },  rows[i].value,
            { TM_SENTENCE_ELSE, NULL }, { TM_SENTENCE_PLAIN, "else" }, { TM_SENTENCE_CLOSE, NULL },
            { TM_SENTENCE_PLAIN, "." }, { TM_SENTENCE_END, NULL },
        };
        const struct tm_sentence_part alone[] = {
            { TM_SENTENCE_OPEN, NULL },  { TM_SENTENCE_PLAIN, "by " }, rows[i].value,
            { TM_SENTENCE_CLOSE, NULL }, { TM_SENTENCE_END, NULL },
        };
        char text[SENTENCE_BYTES] = "";

        expect(parts, NULL, rows[i].text);
        if (rows[i].text[0] == 'b')
            (void)snprintf(text, sizeof(text), "%.*s", (int)strlen(rows[i].text) - 1, rows[i].text);
        expect(alone, NULL, text);
    }
}

static void a_value_of_zero_is_there(void **state)
{
    static const struct tm_sentence_part parts[] = { { TM_SENTENCE_OPEN, NULL },
                                                     { TM_SENTENCE_COUNT, "count" },
                                                     { TM_SENTENCE_CLOSE, NULL },
                                                     { TM_SENTENCE_END, NULL } };
    const struct tm_given given[] = { tm_given_int("count", 0), { .name = NULL } };

    (void)state;
    expect(parts, given, "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_of_the_call_the_row_or_the_summary),
        cmocka_unit_test(values_are_written_as_their_kind),
        cmocka_unit_test(a_part_is_left_out_where_its_value_is_not_there),
        cmocka_unit_test(a_value_of_zero_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
