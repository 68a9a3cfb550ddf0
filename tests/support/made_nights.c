/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/made_nights.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/nightly/batch.h"
#include "pipeline/run.h"
#include "tests/support/summary_json.h"
#include "tests/support/test_run.h"

enum { STEPS = 20, JSON_BYTES = 2048 };

void made_nights_begin(struct made_nights *m)
{
    char path[MADE_NIGHT_PATH];

    memset(m, 0, sizeof(*m));
    test_run_init(&m->run);
    strcpy(m->out, "/var/tmp/tracemill-night-XXXXXX");
    assert_non_null(mkdtemp(m->out));
    (void)snprintf(m->gate, sizeof(m->gate), "%s/gates.json", m->out);
    (void)snprintf(path, sizeof(path), "%s/runs", m->out);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/history.db", m->out);
    assert_int_equal(tm_history_renew(&m->history, &m->run, path), TM_OK);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

void made_nights_end(struct made_nights *m)
{
    tm_history_close(m->history);
    if (m->doc)
        tm_doc_free(m->doc);
    assert_int_equal(nftw(m->out, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    assert_ledger_is_even(&m->run);
}

double made_nights_normal(struct made_nights *m)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += (double)(next_number(&m->random) >> 11) / 9007199254740992.0;
    return sum - 6;
}

/* --- a run --- */

static void fill_summary(struct made_nights *m, const struct made_night_run *of, const char *id, struct tm_value *root)
{
    const double step_ps = (of->step_ms > 0 ? of->step_ms : 100) * 1e9;
    char json[JSON_BYTES];

    (void)snprintf(
        json, sizeof(json),
        "{'schema': 'tracemill.summary', 'schema_version': 2, 'input': {'run': '%s', 'partial': %s,"
        " 'files': [{'xxh3': '%016llx'}]}, 'environment': {'devices': [{'model': 'GPU 1'}]},"
        " 'steps': {'source': 'host', 'basis': 'period', 'median_ps': %.0f, 'mean_ps': %.0f, 'samples_ps': []},"
        " 'ops': {'rows': [{'name': 'fusion.1', 'self_ps': 5}]}, 'memory': null,"
        " 'kpis': [{'id': 'device_utilization', 'title': 'Device utilization', 'value': 80, 'unit': '%%'},"
        " {'id': 'step_time', 'title': 'Step time', 'value': %.17g, 'unit': 'ms'}],"
        " 'why': {'memory': 'the profile has no memory events'}}",
        id, of->is_partial ? "true" : "false", of->is_copy ? 7 : (unsigned long long)next_number(&m->random), step_ps,
        step_ps, step_ps / 1e9);
    test_summary_load_changed(root, json, of->patch ? of->patch : "{}");
    struct tm_value *const samples = tm_member(tm_member(root, "steps"), "samples_ps");

    for (int i = 0; i < STEPS; i++) /* symmetric, all different, in no order: the median is step_ps */
        tm_add_int(
            samples, NULL,
            (int64_t)(step_ps * (1 + (of->step_noise > 0 ? of->step_noise : 0.02) * (2 * (i * 7 % STEPS) - 19) / 19)));
}

static void write_summary(struct made_nights *m, const struct made_night_run *of, const char *id)
{
    struct tm_doc *const doc = tm_doc_new(&m->run);
    char path[MADE_NIGHT_PATH * 3];
    FILE *file;

    assert_non_null(doc);
    fill_summary(m, of, id, tm_doc_root(doc));
    (void)snprintf(path, sizeof(path), "%s/runs/%s", m->out, id);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/runs/%s/summary.json", m->out, id);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(tm_doc_print(doc, &m->run, fileno(file)), TM_OK);
    (void)fclose(file);
    tm_doc_free(doc);
}

static const char * or (const char *text, const char *other)
{
    return text ? text : other;
}

void made_nights_add(struct made_nights *m, const struct made_night_run *of, char id[TM_KEY_BYTES])
{
    const char *status = or (of->status, of->is_partial ? "partial" : "done");
    const bool has_report = strcmp(status, "done") == 0 || strcmp(status, "partial") == 0;
    char report[TM_KEY_BYTES + 8], summary[TM_KEY_BYTES + 32], name[TM_KEY_BYTES];
    /* clang-format off */
    struct tm_history_run row = {
        .id = name, .name = "run", .path = "run", .status = status, .message = or(of->message, ""), .report = report, .summary = summary,
        .platform = "gpu", .model = or(of->model, "H100"), .hosts = 1, .devices = of->devices ? of->devices : 8,
        .verdict = "", .severity = "", .finding = "", .gates = or(of->gates, ""), .gates_text = "",
        .fingerprint = "f", .version = "v", .options = "o", .definitions = TM_SUMMARY_VERSION
    };
    /* clang-format on */

    (void)snprintf(name, sizeof(name), "run-%016llx", (unsigned long long)next_number(&m->random));
    (void)snprintf(report, sizeof(report), "%s%s", has_report && !of->is_pruned ? "runs/" : "",
                   has_report && !of->is_pruned ? name : "");
    (void)snprintf(summary, sizeof(summary), "%s%s", report, *report ? "/summary.json" : "");
    (void)snprintf(row.keys.job, sizeof(row.keys.job), "%s", or (of->job, "train"));
    (void)snprintf(row.keys.night, sizeof(row.keys.night), "2026-11-%02u", (unsigned)of->night % 32);
    (void)snprintf(row.keys.label, sizeof(row.keys.label), "%s", or (of->label, ""));
    (void)snprintf(row.keys.revision, sizeof(row.keys.revision), "abcdef%02d", of->night);
    row.keys.when_ns = (1793491200 + ((int64_t)of->night - 1) * 86400 + of->hour * 3600) * 1000000000;
    row.keys.step = -1;
    for (size_t i = 0; i < TM_FIGURES_MOST; i++)
        row.figure[i] = NAN;
    if (has_report)
        row.figure[0] = (of->step_ms > 0 ? of->step_ms : 100) * 1e9;
    assert_int_equal(tm_history_put(m->history, &row), TM_OK);
    if (*report && !of->has_no_file)
        write_summary(m, of, name);
    if (id)
        (void)snprintf(id, TM_KEY_BYTES, "%s", name);
}

/* --- judging --- */

tm_status made_nights_last(struct made_nights *m)
{
    m->judged = (struct tm_judged_night){ .until = "9999-12-31" };
    return tm_history_last_night(m->history, &m->judged);
}

tm_status made_nights_judge(struct made_nights *m, const char *gates, const char *baseline)
{
    FILE *file;

    m->run.error = (struct tm_error){ .status = TM_OK };
    m->options = (struct tm_options){ .gate = gates ? m->gate : NULL };
    if (baseline)
        m->options.baseline = (struct tm_texts){ .text = { baseline }, .count = 1 };
    if (gates) {
        file = fopen(m->gate, "w");
        assert_non_null(file);
        for (const char *at = gates; *at; at++)
            (void)fputc(*at == '\'' ? '"' : *at, file);
        (void)fclose(file);
    }
    if (m->doc)
        tm_doc_free(m->doc);
    m->doc = tm_doc_new(&m->run);
    assert_non_null(m->doc);
    tm_doc_set_most(m->doc, 32 << 20);
    m->run.budget.refuse_in = m->refuse_in;
    tm_status st = made_nights_last(m);

    if (st == TM_OK)
        st = tm_nightly_gates(&m->run, &m->options, m->out, m->history, &m->judged, tm_doc_root(m->doc), &m->verdict);

    m->run.budget.refuse_in = 0;
    return st;
}

const struct tm_value *made_nights_at(const struct made_nights *m, const char *path_of_result)
{
    return tm_path(tm_doc_root(m->doc), path_of_result);
}
