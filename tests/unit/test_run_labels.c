/* SPDX-License-Identifier: Apache-2.0 */
/* What runs and groups of them are called. */
#include "pipeline/engine/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pipeline/strings.h"
#include "tests/support/test_run.h"

enum { RUNS_MOST = 8 };

struct fixture {
    struct tm_run run;
    struct tm_run_operand operand[RUNS_MOST];
    struct tm_loaded_run runs[RUNS_MOST];
    size_t count;
};

/* Operands in words of a text, with single blanks between them.  Each run calls itself "run". */
static void label(struct fixture *f, char *words)
{
    test_run_init(&f->run);
    f->count = 0;
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        struct tm_loaded_run *run = &f->runs[f->count];

        tm_run_operand_read(&f->operand[f->count], word);
        *run = (struct tm_loaded_run){ .path = f->operand[f->count].path, .doc = tm_doc_new(&f->run) };
        assert_non_null(run->doc);
        tm_add_string(tm_add_object(tm_doc_root(run->doc), "input"), "run", "run");
        f->count++;
    }
    tm_label_runs(f->runs, f->operand, f->count);
}

static void end(struct fixture *f)
{
    for (size_t i = 0; i < f->count; i++)
        tm_doc_free(f->runs[i].doc);
    assert_ledger_is_even(&f->run);
}

static void labels_are_the_shortest_ends_that_differ(void **state)
{
    static const char *const rows[][2] = {
        { "a b", "a|b" },
        { "logs/a/ logs/b/", "a|b" },
        { "x/a.xplane.pb y/b.trace.json.gz", "a|b" },
        { "/logs/1/vm.xplane.pb /logs/2/vm.xplane.pb", "1/vm|2/vm" },
        { "p/1/vm q/1/vm q/2/vm", "p/1/vm|q/1/vm|2/vm" },
        { "old.report new.report", "old|new" },
        { "old.report/summary.json new.report/summary.json", "old|new" },
        { "old/summary.json new/summary.json/", "old|new" },
        { "a/old.report b/old.report", "a/old|b/old" },
        { "summary.json old.report", "run|old" },
        { ". - ..", "run|run #2|run #3" },
        { "a a a", "a|a #2|a #3" },
        { "x/a x/a/ y/b", "a|a #2|b" },
        { "x/a x/a y/a", "x/a|x/a #2|y/a" },
        { "vm b/vm", "vm|b/vm" },
        { "/ //", "run|run #2" },
        { "base=a a", "base|a" },
        { "x=a x=b c", "x|x #2|c" },
        { "a x=a", "a|x" },
        { "a b=a", "a|b" },
        { "lr=0.1/x/vm y/vm", "lr|vm" },
        { "d/lr=1 d/lr=2", "lr=1|lr=2" },
        { "=a b=", "=a|b=" },
        { "4=a 8=b", "4|8" },
        { "nightly-h100-a_long_model_name nightly-mi300-a_long_model_name", "h100|mi300" },
        { "run_of_a_long_name-before_fix run_of_a_long_name-after_fix", "before|after" },
        { "nightly-h100-a_long_model_name nightly-h100-a_long_model_name", /* nothing would be left */
          "nightly-h100-a_long_model_name|nightly-h100-a_long_model_name #2" },
        { "nightly-a_long_model_name-b nightly-a_long_model_name-bc", "b|bc" },
        { "nightly-h100-model nightly-mi300-model", "nightly-h100-model|nightly-mi300-model" },
        { "x=nightly-h100-a_long_model_name nightly-h200-a_long_model_name", "x|nightly-h200-a_long_model_name" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char words[128], joined[256] = "";
        struct fixture f;

        (void)snprintf(words, sizeof(words), "%s", rows[i][0]);
        label(&f, words);
        for (size_t k = 0; k < f.count; k++) {
            (void)strcat(joined, k ? "|" : "");
            (void)strcat(joined, f.runs[k].label);
        }
        if (strcmp(joined, rows[i][1]) != 0)
            fail_msg("'%s' gives '%s', not '%s'", rows[i][0], joined, rows[i][1]);
        end(&f);
    }
}

static void a_name_with_a_sign_is_no_label_where_it_is_a_file(void **state)
{
    struct tm_run_operand operand;
    char path[] = "/var/tmp/tracemill=XXXXXX";
    const int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    tm_run_operand_read(&operand, path);
    assert_string_equal(operand.path, path);
    assert_int_equal(operand.label_length, 0);
    assert_int_equal(chdir("/var/tmp"), 0);
    tm_run_operand_read(&operand, path + strlen("/var/tmp/"));
    assert_int_equal(operand.label_length, 0);
    assert_int_equal(unlink(path), 0);
    tm_run_operand_read(&operand, path + strlen("/var/tmp/"));
    assert_int_equal(operand.label_length, strlen("tracemill"));
    (void)close(fd);
}

/* Whatever the operands are: labels are valid, printable, not empty, of their length, and distinct.
 */
static void labels_hold_whatever_is_given(void **state)
{
    static const char alphabet[] = "aab/=.#2 -\n\x7f\xff\xc3\xa9\xe2\x80\xa8";
    uint64_t random = 20261122;

    (void)state;
    for (int turn = 0; turn < 2000; turn++) {
        static char texts[RUNS_MOST][800];
        struct fixture f;

        test_run_init(&f.run);
        f.count = 1 + next_number(&random) % RUNS_MOST;
        for (size_t i = 0; i < f.count; i++) {
            const size_t most = turn % 10 == 0 ? sizeof(texts[0]) - 1 : 8;
            const size_t length = next_number(&random) % most + 1;

            for (size_t k = 0; k < length; k++)
                texts[i][k] = alphabet[next_number(&random) % (sizeof(alphabet) - 1)];
            texts[i][length] = '\0';
            tm_run_operand_read(&f.operand[i], texts[i]);
            f.runs[i] = (struct tm_loaded_run){ .path = f.operand[i].path, .doc = tm_doc_new(&f.run) };
            assert_non_null(f.runs[i].doc);
        }
        tm_label_runs(f.runs, f.operand, f.count);
        for (size_t i = 0; i < f.count; i++) {
            const char *text = f.runs[i].label;

            assert_true(text[0] != '\0');
            assert_true(strlen(text) < TM_LABEL_BYTES);
            assert_true(tm_utf8_is_valid(text, strlen(text)));
            for (const char *at = text; *at; at++)
                assert_true((unsigned char)*at >= ' ' && *at != 0x7f);
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(text, f.runs[k].label);
        }
        end(&f);
    }
}

static void groups_are_called_by_what_their_runs_share(void **state)
{
    static const char *const rows[][2] = {
        { "a", "a" },
        { "x/1 x/2 x/3", "1 and 2 more" }, /* the labels of these differ in their last part */
        { "x/1/vm x/2/vm y/1/vm", "x/1/vm and 2 more" },
        { "x/1 before=x/2 x/3", "before" },
        { "a b", "a and 1 more" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char words[128], text[TM_LABEL_BYTES];
        struct fixture f;

        (void)snprintf(words, sizeof(words), "%s", rows[i][0]);
        label(&f, words);
        tm_group_label(text, f.runs, f.count);
        assert_string_equal(text, rows[i][1]);
        end(&f);
    }
    { /* beside another group, labels have as many parts as they need */
        char words[] = "x/1 x/2 y/1 y/2", text[TM_LABEL_BYTES];
        struct fixture f;

        label(&f, words);
        tm_group_label(text, f.runs, 2);
        assert_string_equal(text, "x");
        tm_group_label(text, f.runs + 2, 2);
        assert_string_equal(text, "y");
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_the_shortest_ends_that_differ),
        cmocka_unit_test(a_name_with_a_sign_is_no_label_where_it_is_a_file),
        cmocka_unit_test(labels_hold_whatever_is_given),
        cmocka_unit_test(groups_are_called_by_what_their_runs_share),
    };

    return cmocka_run_group_tests_name("run labels", tests, NULL, NULL);
}
