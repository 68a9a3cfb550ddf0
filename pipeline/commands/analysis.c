/* SPDX-License-Identifier: Apache-2.0 */
/* The main job without its outputs: inputs -> events -> stages -> summary -> key figures, verdict and findings.
 * Hosts are read one after the other; what the stages keep of a host goes on to the next. */
#include "pipeline/commands/analysis.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/commands/host_run.h"
#include "pipeline/commands/inputs.h"
#include "pipeline/commands/registry.h"
#include "pipeline/version.h"
#include "reports/findings/findings.h"
#include "reports/findings/kpis.h"
#include "reports/findings/thresholds.h"
#include "stages/resolve/classes.h"

enum { STAGES_MOST = 16, WARNINGS_MOST = 100, WARNING_BYTES = 512 };

/* The sections of the summary, in its order. */
static const char *const sections[] = {
    "input", "environment", "coverage", "window", "steps", "devices", "unused", "total", "gaps", "kernels", "fusion",
    "occupancy", "transfers", "ops", "scopes", "collectives", "host", "compile", "memory", "roofline", "balance",
    "fallback", "kpis", "verdict", "findings", "thresholds",
};

struct warnings {
    char text[WARNINGS_MOST][WARNING_BYTES];
    uint32_t count;
};

struct analysis {
    struct tm_run *run;
    const struct tm_options *options;
    struct tm_value *root;
    struct tm_thresholds thresholds;
    struct tm_settings settings;
    struct tm_chosen_steps choice;
    struct tm_names *names;
    struct tm_inputs inputs;
    struct tm_stage stages[STAGES_MOST];
    size_t stage_count;               /* that were opened, the last one perhaps half */
    struct warnings *warnings;
    struct tm_value *file_list, *host_list;
    bool partial;
};

/* --- stages --- */

static tm_status open_stages(struct analysis *a)
{
    for (size_t i = 0; i < tm_registry_count && i < STAGES_MOST; i++) {
        struct tm_stage *stage = &a->stages[a->stage_count++];
        tm_status st;

        *stage = (struct tm_stage){ .type = tm_registry[i], .run = a->run, .settings = &a->settings };
        stage->state = tm_take(&a->run->budget, TM_ACCOUNT_MODEL, stage->type->state_bytes, &a->run->error);
        if (!stage->state)
            return a->run->error.status;
        st = stage->type->open(stage);
        if (st != TM_OK)
            return st;
    }
    return TM_OK;
}

static void close_stages(struct analysis *a)
{
    for (size_t i = 0; i < a->stage_count; i++) {
        if (a->stages[i].state)
            a->stages[i].type->close(&a->stages[i]);
        tm_give(&a->run->budget, TM_ACCOUNT_MODEL, a->stages[i].state, a->stages[i].type->state_bytes);
    }
}

static tm_status take_event(void *to, const struct tm_event *event)
{
    struct analysis *a = to;
    tm_status st = TM_OK;

    for (size_t i = 0; i < a->stage_count && st == TM_OK; i++)
        st = a->stages[i].type->take(&a->stages[i], event, 1);
    return st;
}

/* --- one host --- */

static void keep_warning(void *to, const char *text, size_t length)
{
    struct analysis *a = to;

    if (a->warnings->count < WARNINGS_MOST)
        tm_clean_text(a->warnings->text[a->warnings->count++], WARNING_BYTES, text, length);
}

static void add_file(struct analysis *a, const struct tm_host_run *host, const struct tm_found_file *found)
{
    const bool is_partial = host->input.partial || host->trace.partial;
    struct tm_value *file = tm_add_object(a->file_list, NULL), *problems;
    char fingerprint[20];

    (void)snprintf(fingerprint, sizeof(fingerprint), "%016llx", (unsigned long long)host->input.xxh3);
    tm_add_string(file, "path", found->path);
    tm_add_string(file, "kind", "xspace");
    tm_add_uint(file, "bytes", host->input.disk_bytes);
    tm_add_string(file, "xxh3", fingerprint);
    tm_add_string(file, "host", found->host);
    tm_add_uint(file, "events", host->events);
    tm_add_bool(file, "partial", is_partial);
    problems = tm_add_array(file, "problems");
    if (host->input.problem[0])
        tm_add_string(problems, NULL, host->input.problem);
    if (host->trace.problem[0])
        tm_add_string(problems, NULL, host->trace.problem);
    tm_add_string(a->host_list, NULL, found->host);
    a->partial |= is_partial;
}

static tm_status read_host(struct analysis *a, const struct tm_found_file *found, uint32_t number)
{
    struct tm_host_run host;
    tm_status st = tm_host_open(&host, a->run, a->names, found->path, found->host, number, &a->choice, keep_warning, a);

    for (size_t i = 0; i < a->stage_count && st == TM_OK; i++)
        st = a->stages[i].type->begin_host(&a->stages[i], &host.trace);
    if (st == TM_OK)
        st = tm_host_events(&host, take_event, a);
    for (size_t i = 0; i < a->stage_count && st == TM_OK; i++)
        st = a->stages[i].type->end_host(&a->stages[i]);
    if (st == TM_OK)
        add_file(a, &host, found);
    tm_host_close(&host);
    return st;
}

/* --- the summary --- */

static void begin_summary(struct analysis *a)
{
    struct tm_value *tool, *input;

    tm_add_string(a->root, "schema", "tracemill.summary");
    tm_add_int(a->root, "schema_version", 1);
    tool = tm_add_object(a->root, "tool");
    tm_add_string(tool, "name", "tracemill");
    tm_add_string(tool, "version", TM_VERSION);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        tm_add_null(a->root, sections[i], "not worked out by this version");
    input = tm_add_object(a->root, "input");
    tm_add_string(input, "run", a->inputs.run_name);
    a->host_list = tm_add_array(input, "hosts");
    a->file_list = tm_add_array(input, "files");
}

static tm_status finish_summary(struct analysis *a)
{
    struct tm_value *coverage, *warnings;
    tm_status st = TM_OK;

    tm_add_bool(tm_member(a->root, "input"), "partial", a->partial);
    for (size_t i = 0; i < a->stage_count && st == TM_OK; i++)
        st = a->stages[i].type->report(&a->stages[i], a->root);
    coverage = tm_member(a->root, "coverage");
    warnings = tm_add_array(coverage, "warnings");
    for (uint32_t i = 0; i < a->warnings->count; i++)
        tm_add_string(warnings, NULL, a->warnings->text[i]);
    if (st == TM_OK)
        st = tm_kpis_add(a->run, a->root, &a->thresholds);
    if (st == TM_OK)
        st = tm_findings_add(a->run, a->root, &a->thresholds);
    if (st == TM_OK)
        st = tm_verdict_add(a->run, a->root, &a->thresholds);
    tm_thresholds_add(&a->thresholds, a->root);
    return st;
}

static tm_status read_settings(struct analysis *a)
{
    const struct tm_options *o = a->options;
    tm_status st = tm_thresholds_init(&a->thresholds, &a->run->error);

    a->settings = (struct tm_settings){ .gap_min_ps = o->gap_min_ps, .table_rows = o->rows,
                                        .session_window = o->window == TM_WINDOW_SESSION };
    a->choice = (struct tm_chosen_steps){ .all = o->steps == TM_CHOOSE_ALL,
                                          .has_range = o->steps == TM_CHOOSE_RANGE,
                                          .begin = o->steps_begin, .end = o->steps_end,
                                          .has_skip = o->skip_steps >= 0, .skip = (uint64_t)o->skip_steps };
    return st == TM_OK && o->thresholds ? tm_thresholds_read(&a->thresholds, o->thresholds, &a->run->error) : st;
}

static tm_status work(struct analysis *a)
{
    struct tm_run *run = a->run;
    tm_status st = read_settings(a);

    if (st == TM_OK)
        st = tm_inputs_find(&a->inputs, run, a->options);
    if (st != TM_OK)
        return st;
    a->names = tm_names_new(run, tm_budget_share(&run->budget, TM_ACCOUNT_NAMES), tm_traits_of);
    a->warnings = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*a->warnings), &run->error);
    if (!a->names || !a->warnings)
        return run->error.status;
    begin_summary(a);
    st = open_stages(a);
    for (size_t i = 0; i < a->inputs.file_count && st == TM_OK; i++)
        st = read_host(a, a->inputs.files[i], (uint32_t)i);
    return st == TM_OK ? finish_summary(a) : st;
}

tm_status tm_analyze(struct tm_run *run, const struct tm_options *options, struct tm_doc *summary)
{
    struct analysis a = { .run = run, .options = options, .root = tm_doc_root(summary) };
    tm_status st = work(&a);

    close_stages(&a);
    tm_names_free(a.names);
    tm_inputs_free(&a.inputs);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a.warnings, a.warnings ? sizeof(*a.warnings) : 0);
    return st == TM_OK ? tm_doc_status(summary) : st;
}
