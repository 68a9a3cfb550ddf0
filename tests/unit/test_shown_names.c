/* SPDX-License-Identifier: Apache-2.0 */
/* Names of hosts and devices in reports: short where nothing is lost by it. */
#include "reports/format/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

struct row {
    const char *hosts, *id, *shown;
};

static void check(const struct row *row, const char *(*show)(const struct tm_value *, const char *))
{
    struct tm_run run;
    struct tm_doc *doc;

    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    test_summary_load(tm_doc_root(doc), row->hosts);
    assert_string_equal(show(tm_doc_root(doc), row->id), row->shown);
    tm_doc_free(doc);
    assert_ledger_is_even(&run);
}

static void devices_are_named_without_what_all_share(void **state)
{
    static const char one[] = "{'input': {'hosts': ['vm']}}";
    static const char many[] = "{'input': {'hosts': ['train-2026-job-0', 'train-2026-job-11', 'train-2026-job-2']}}";
    static const struct row rows[] = {
        { one, "vm/gpu:0", "gpu:0" },
        { one, "vm", "vm" },
        { one, "vm/", "vm/" },
        { one, "vm2/gpu:0", "vm2/gpu:0" },
        { one, "host", "host" },
        { one, "", "" },
        { many, "train-2026-job-0/gpu:0", "job-0/gpu:0" },
        { many, "train-2026-job-11/gpu:3", "job-11/gpu:3" },
        { many, "host", "host" },
        { many, "", "" },
        { "{'input': {'hosts': ['vm0', 'vm1']}}", "vm1/gpu:0", "vm1/gpu:0" },
        { "{'input': {'hosts': ['node-0', 'node-1']}}", "node-1/gpu:0", "node-1/gpu:0" },
        { "{'input': {'hosts': ['a-long-name-of-one', 'another-host']}}", "another-host/gpu:0", "another-host/gpu:0" },
        { "{'input': {'hosts': ['long-common-name', 'long-common-name-1']}}", "long-common-name/gpu:0",
          "long-common-name/gpu:0" },
        { "{'input': {'hosts': []}}", "vm/gpu:0", "vm/gpu:0" },
        { "{}", "vm/gpu:0", "vm/gpu:0" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check(&rows[i], tm_shown_device);
}

static void hosts_keep_a_name(void **state)
{
    static const struct row rows[] = {
        { "{'input': {'hosts': ['a-very-long-name-of-a-host']}}", "a-very-long-name-of-a-host",
          "a-very-long-name-of-a-host" },
        { "{'input': {'hosts': ['cluster_a.rack_7.node_1', 'cluster_a.rack_7.node_2']}}", "cluster_a.rack_7.node_2",
          "node_2" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check(&rows[i], tm_shown_host);
}

static void one_host_may_be_named_as_its_run(void **state)
{
    static const struct {
        const char *json;
        bool is_named;
    } rows[] = {
        { "{'input': {'run': 'a', 'hosts': ['a']}}", true },
        { "{'input': {'run': 'a', 'hosts': ['b']}}", false },
        { "{'input': {'run': 'a', 'hosts': ['a', 'b']}}", false },
        { "{}", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_run run;
        struct tm_doc *doc;

        test_run_init(&run);
        doc = tm_doc_new(&run);
        assert_non_null(doc);
        test_summary_load(tm_doc_root(doc), rows[i].json);
        assert_int_equal(tm_is_named_as_run(tm_doc_root(doc)), rows[i].is_named);
        tm_doc_free(doc);
        assert_ledger_is_even(&run);
    }
}

/* Files that were given one by one: the run is called as the first. */
static void a_run_of_several_files_has_what_their_names_share(void **state)
{
    static const struct {
        const char *input, *shown;
    } rows[] = {
        { "{'input': {'run': 'tp8-megatron_rank_0', 'hosts': ['tp8-megatron_rank_0', 'tp8-megatron_rank_12']}}",
          "tp8-megatron_rank" },
        { "{'input': {'run': '2026_11_21', 'hosts': ['job-0', 'job-1']}}", "2026_11_21" },
        { "{'input': {'run': 'one', 'hosts': ['one', 'two']}}", "one" },
        { "{'input': {'run': 'job-0', 'hosts': ['job-0']}}", "job-0" },
        { "{'input': {'run': '--', 'hosts': ['--', '---']}}", "--" },
        { "{}", "" },
    };
    struct tm_run run;
    char out[32];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tm_doc *doc;

        test_run_init(&run);
        doc = tm_doc_new(&run);
        assert_non_null(doc);
        test_summary_load(tm_doc_root(doc), rows[i].input);
        assert_string_equal(tm_shown_run(tm_doc_root(doc), out, sizeof(out)), rows[i].shown);
        assert_int_equal(strlen(tm_shown_run(tm_doc_root(doc), out, 3)), *rows[i].shown ? 2 : 0);
        tm_doc_free(doc);
        assert_ledger_is_even(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_named_without_what_all_share),
        cmocka_unit_test(a_run_of_several_files_has_what_their_names_share),
        cmocka_unit_test(hosts_keep_a_name),
        cmocka_unit_test(one_host_may_be_named_as_its_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
