/* SPDX-License-Identifier: Apache-2.0 */
/* Where findings lead: the section that tells more, the range of time, the SQL for a trace viewer, what is at stake. */
#include "reports/content/content.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reports/findings/findings.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

/* --- sections --- */

enum { IDS_MOST = 128, ID_BYTES = 64, LINE_BYTES = 4096 };

struct ids {
    char id[IDS_MOST][ID_BYTES];
    size_t count;
};

/* What stands in backticks in the first cell of a row of a table. */
static void take_row(struct ids *ids, const char *line)
{
    const char *end = strchr(line + 1, '|');

    for (const char *at = strchr(line, '`'); at && end && at < end; at = strchr(at + 1, '`')) {
        const char *stop = strchr(at + 1, '`');

        assert_true(stop && stop < end && stop - at <= ID_BYTES && ids->count < IDS_MOST);
        memcpy(ids->id[ids->count], at + 1, (size_t)(stop - at - 1));
        ids->id[ids->count++][stop - at - 1] = 0;
        at = stop;
    }
}

/* All findings, from the table that documents them. */
static void read_documented(struct ids *ids)
{
    FILE *file = fopen("docs/metrics.md", "re");
    char line[LINE_BYTES];
    bool is_inside = false;

    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (strncmp(line, "| findings |", 12) == 0)
            is_inside = true;
        else if (line[0] != '|')
            is_inside = false;
        else if (is_inside)
            take_row(ids, line);
    }
    assert_int_equal(fclose(file), 0);
}

static bool has_id(const struct ids *ids, const char *id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (strcmp(ids->id[i], id) == 0)
            return true;
    return false;
}

static void check_section(const char *id)
{
    const char *section = tm_finding_section(id);

    assert_non_null(section);
    for (size_t i = 0; i < tm_report_document.section_count; i++)
        if (strcmp(tm_report_document.sections[i]->id, section) == 0)
            return;
    fail_msg("the finding %s leads to the section '%s', which does not exist", id, section);
}

static void each_finding_leads_to_a_section(void **state)
{
    static struct ids ids;

    (void)state;
    read_documented(&ids);
    assert_true(ids.count > 50);
    for (size_t i = 0; i < ids.count; i++)
        check_section(ids.id[i]);
}

static void each_finding_of_the_table_is_documented_and_no_other(void **state)
{
    static struct ids ids;

    (void)state;
    read_documented(&ids);
    for (size_t i = 0; i < tm_finding_row_count; i++)
        if (!has_id(&ids, tm_finding_rows[i].id))
            fail_msg("docs/metrics.md does not have the finding %s", tm_finding_rows[i].id);
    for (size_t i = 0; i < ids.count; i++)
        if (!tm_finding_row(ids.id[i]))
            fail_msg("docs/metrics.md has the finding %s, which schemas/findings.json does not have", ids.id[i]);
}

static void findings_lead_where_their_figures_are(void **state)
{
    static const char *const rows[][2] = {
        { "idle_input", "gaps" },          { "idle_edges", "devices" },      { "transfer_repeated_h2d", "transfers" },
        { "kernel_short", "fusion" },      { "kernel_dominant", "kernels" }, { "op_short", "programs" },
        { "eager_dispatch", "fusion" },    { "op_dominant", "ops" },         { "op_repeated", "fusion" },
        { "op_memory_far", "roofline" },   { "precision_f32", "fusion" },    { "straggler", "collectives" },
        { "slow_device", "balance" },      { "layer_slow", "scopes" },       { "recomputed", "scopes" },
        { "memory_holders", "memory" },    { "cpu_one_thread", "host" },     { "round_trips", "fallback" },
        { "occupancy_tail", "occupancy" }, { "no_steps", "steps" },          { "events_lost", "coverage" },
        { "json_copy", "coverage" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(tm_finding_section(rows[i][0]), rows[i][1]);
}

/* --- places --- */

struct place {
    const char *summary, *where, *text, *sql;
};

static void check_place(const struct place *row)
{
    struct tm_run run;
    struct tm_doc *summary, *where;
    struct tm_place place;

    test_run_init(&run);
    summary = tm_doc_new(&run);
    where = tm_doc_new(&run);
    assert_true(summary && where);
    test_summary_load(tm_doc_root(summary), row->summary);
    test_summary_load(tm_doc_root(where), row->where);
    tm_place_make(&place, tm_doc_root(summary), tm_doc_root(where));
    assert_string_equal(place.text, row->text);
    assert_string_equal(place.sql, row->sql);
    tm_doc_free(summary);
    tm_doc_free(where);
    assert_ledger_is_even(&run);
}

#define COLUMNS "select id, ts, dur, track_id, name from slice"
#define SQL(before, after) COLUMNS " where ts < " before " and ts + dur > " after " order by dur desc"
/* A Chrome trace with a clock of its own: as recorded it reads `origin` or more. */
#define OWN(origin, zero, before, after)                                                                               \
    "with clock as (select case when max(ts) < " origin " then 0 else " zero " end as zero from slice) " COLUMNS       \
    ", clock where ts - zero < " before " and ts - zero + dur > " after " order by dur desc"
#define FILE_OF(host, origin, shift) "{'host':'" host "','origin_us':" origin ",'trace_ps':" shift "}"
#define ONE(origin) "{'input':{'hosts':['vm'],'files':[" FILE_OF("vm", origin, "0") "]}}"
#define TWO(a, b) "{'input':{'hosts':['a','b'],'files':[" a "," b ",{'host':null,'trace_ps':null}]}}"

static void places_tell_time_and_device_and_have_sql(void **state)
{
    static const char at[] = "{'begin_ps':367214627000,'end_ps':1717214627500,'device':'vm/gpu:0'}";
    static const char on_b[] = "{'begin_ps':1000,'end_ps':2000,'device':'b/gpu:1'}";
    static const struct place rows[] = {
        { ONE("0"), at, "at 0.367214627 s, for 1.35 s, gpu:0", SQL("1717214628", "367214627") },
        { ONE("1000"), at, "at 0.367214627 s, for 1.35 s, gpu:0",
          OWN("1000000", "1000000", "1717214628", "367214627") },
        { ONE("-1000"), at, "at 0.367214627 s, for 1.35 s, gpu:0", SQL("1717214628", "367214627") },
        { ONE("0"), "{'begin_ps':-1500,'end_ps':-500,'device':'vm'}", "at -0.000000002 s, for 1.00 ns, vm",
          SQL("0", "-2") },
        { ONE("0"), "{'begin_ps':0,'end_ps':0}", "at 0.000000000 s, for 0 s", SQL("0", "0") },
        { TWO(FILE_OF("a", "0", "7000000"), FILE_OF("b", "0", "5000")), on_b, "at 0.000000001 s, for 1.00 ns, b/gpu:1",
          SQL("7", "6") },
        { TWO(FILE_OF("a", "5", "0"), FILE_OF("b", "6", "1000000")), on_b, "at 0.000000001 s, for 1.00 ns, b/gpu:1",
          OWN("6000", "5000", "1002", "1001") },
        { TWO(FILE_OF("a", "0", "7000"), FILE_OF("b", "0", "5000")), "{'begin_ps':1000,'end_ps':2000,'device':'b2'}",
          "at 0.000000001 s, for 1.00 ns, b2", "" },
        { TWO(FILE_OF("a", "0", "7000"), FILE_OF("b", "0", "null")), "{'begin_ps':1000,'end_ps':2000}",
          "at 0.000000001 s, for 1.00 ns", SQL("9", "8") },
        { ONE("9223372036854775807"), "{'begin_ps':1000,'end_ps':2000}", "at 0.000000001 s, for 1.00 ns", "" },
        { "{}", "{'begin_ps':2000,'end_ps':1000}", "at 0.000000002 s, for ?", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_place(&rows[i]);
}

/* --- what is at stake --- */

static void check_stake(const char *finding, const char *expected)
{
    char text[TM_FINDING_BYTES];
    struct tm_run run;
    struct tm_doc *doc;

    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    test_summary_load(tm_doc_root(doc), finding);
    assert_string_equal(tm_finding_stake(text, tm_doc_root(doc)), expected);
    tm_doc_free(doc);
}

static void what_is_at_stake_is_told_once(void **state)
{
    (void)state;
    check_stake("{'at_stake_ps':1350000000000,'share_pct':80.6,'value':80.6,'unit':'%'}",
                "potential savings 1.35 s of device time, 80.6% of the window");
    check_stake("{'at_stake_ps':1350000000000,'share_pct':80.6,'value':80.6,'unit':'%','limit':3}",
                "potential savings 1.35 s of device time, 80.6% of the window");
    check_stake("{'at_stake_ps':1350000000000,'share_pct':80.6,'value':12,'unit':'count','limit':4}",
                "potential savings 1.35 s of device time, 80.6% of the window; measured 12, limit 4");
    check_stake("{'at_stake_ps':1350000000000,'share_pct':80.6,'devices':1}",
                "potential savings 1.35 s of device time, 80.6% of the window of 1 device");
    check_stake("{'at_stake_ps':1350000000000,'share_pct':80.6,'devices':1200}",
                "potential savings 1.35 s of device time, 80.6% of the windows of 1,200 devices");
    check_stake("{'at_stake_ps':1000000000,'share_pct':null}", "potential savings 1.00 ms of device time");
    check_stake("{'at_stake_ps':0,'value':12,'unit':'%','limit':3}", "measured 12.0%, limit 3%");
    check_stake("{'at_stake_ps':null,'value':null,'limit':3,'unit':'%'}", "");
    check_stake("{'at_stake_ps':null,'value':1,'unit':'count'}", "");
    check_stake("{}", "");
    check_stake("{'change_ps':1350000000000,'explains_pct':80.6}", "+1.35 s per step and device, 80.6% of the change");
    check_stake("{'change_ps':0,'explains_pct':80.6}", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_finding_leads_to_a_section),
        cmocka_unit_test(each_finding_of_the_table_is_documented_and_no_other),
        cmocka_unit_test(findings_lead_where_their_figures_are),
        cmocka_unit_test(places_tell_time_and_device_and_have_sql),
        cmocka_unit_test(what_is_at_stake_is_told_once),
    };

    return cmocka_run_group_tests_name("finding_places", tests, NULL, NULL);
}
