/* SPDX-License-Identifier: Apache-2.0 */
/* The main job without its outputs: inputs -> events -> stages -> summary -> key figures, verdict and findings.
 * Hosts are read one after the other; what the stages keep of a host goes on to the next. */
#include "pipeline/commands/analysis.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/commands/host_run.h"
#include "pipeline/commands/inputs.h"
#include "pipeline/commands/partial_run.h"
#include "pipeline/commands/registry.h"
#include "pipeline/version.h"
#include "reports/findings/findings.h"
#include "reports/findings/kpis.h"
#include "reports/findings/thresholds.h"
#include "stages/resolve/classes.h"

enum { STAGES_MOST = 24 };

/* The sections of the summary, in its order. */
static const char *const sections[] = {
    "input", "environment", "coverage", "window", "steps", "devices", "unused", "total", "gaps", "kernels", "fusion",
    "occupancy", "programs", "transfers", "ops", "scopes", "collectives", "host", "compile", "memory", "roofline",
    "balance", "fallback", "kpis", "verdict", "findings", "thresholds",
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
    struct tm_warnings *warnings;
    struct tm_value *file_list, *host_list;
    struct tm_partial_file *loaded;   /* the file of a partial that is being read; NULL = no partial yet */
    struct tm_partial_writer **saved; /* NULL = not wanted */
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

    if (a->warnings->count < TM_WARNINGS_MOST)
        tm_clean_text(a->warnings->text[a->warnings->count++], TM_WARNING_BYTES, text, length);
}

static void add_file(struct analysis *a, const struct tm_host_run *host, const struct tm_found_file *found)
{
    const bool is_partial = host->input.partial || host->trace.partial || found->problem;
    struct tm_value *file = tm_add_object(a->file_list, NULL), *problems, *notes;
    char fingerprint[20], name[TM_FOUND_NAME_BYTES];

    (void)snprintf(fingerprint, sizeof(fingerprint), "%016llx", (unsigned long long)host->input.xxh3);
    tm_add_string(file, "path", tm_found_name(found, name));
    tm_add_string(file, "kind", tm_host_format(host));
    tm_add_uint(file, "bytes", host->input.disk_bytes);
    tm_add_string(file, "xxh3", fingerprint);
    tm_add_string(file, "host", found->host);
    tm_add_uint(file, "events", host->events);
    tm_add_int(file, "origin_us", host->trace.origin_us);
    tm_add_bool(file, "partial", is_partial);
    problems = tm_add_array(file, "problems");
    if (host->input.problem[0])
        tm_add_string(problems, NULL, host->input.problem);
    if (found->problem)
        tm_add_string(problems, NULL, found->problem);
    if (host->trace.problem[0])
        tm_add_string(problems, NULL, host->trace.problem);
    notes = tm_add_array(file, "notes");
    if (host->trace.note[0])
        tm_add_string(notes, NULL, host->trace.note);
    tm_add_string(a->host_list, NULL, found->host);
    a->partial |= is_partial;
}

static tm_status read_host(struct analysis *a, const struct tm_found_file *found, uint32_t number)
{
    struct tm_host_run host;
    tm_status st;

    tm_names_begin_host(a->names);
    st = tm_host_open(&host, a->run, a->names, found, number, &a->choice, keep_warning, a);

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

/* --- partials --- */

static const char *name_of_host(const void *of, uint32_t host)
{
    const struct tm_inputs *inputs = of;

    return inputs->hosts[host]->host;
}

static void add_loaded_file(struct analysis *a, uint32_t number)
{
    const struct tm_partial_file *file = a->loaded;
    struct tm_value *to = tm_add_object(a->file_list, NULL), *problems, *notes;

    tm_add_string(to, "path", file->path);
    tm_add_string(to, "kind", file->format);
    tm_add_uint(to, "bytes", file->bytes);
    tm_add_string(to, "xxh3", file->xxh3);
    tm_add_string(to, "host", name_of_host(&a->inputs, number));
    tm_add_uint(to, "events", file->events);
    tm_add_int(to, "origin_us", file->origin_us);
    tm_add_bool(to, "partial", file->is_partial);
    problems = tm_add_array(to, "problems");
    for (uint32_t i = 0; i < file->problem_count; i++)
        tm_add_string(problems, NULL, file->problems[i]);
    notes = tm_add_array(to, "notes");
    if (file->note[0])
        tm_add_string(notes, NULL, file->note);
    tm_add_string(a->host_list, NULL, name_of_host(&a->inputs, number));
    a->partial |= file->is_partial;
}

static tm_status load_files(struct analysis *a, struct tm_partial_reader *r, const struct tm_input_part *part)
{
    uint32_t count;
    tm_status st = tm_partial_load_file_count(r, &count);

    if (st == TM_OK && count != part->host_count)
        return tm_partial_damaged(r, "it has changed since it was opened");
    if (st == TM_OK && !a->loaded)
        a->loaded = tm_take(&a->run->budget, TM_ACCOUNT_MODEL, sizeof(*a->loaded), &a->run->error);
    if (!a->loaded)
        return a->run->error.status;
    for (uint32_t i = 0; i < count && st == TM_OK; i++) {
        st = tm_partial_load_file(r, a->loaded);
        if (st == TM_OK)
            add_loaded_file(a, part->first_host + i);
    }
    return st == TM_OK ? tm_partial_leave(r) : st;
}

/* What the stages put into the tables was tallied where the profile was read. */
static tm_status load_stages(struct analysis *a, struct tm_partial_reader *r)
{
    const struct tm_tallies tallies = a->run->tallies;
    tm_status st = TM_OK;

    for (size_t i = 0; i < a->stage_count && st == TM_OK; i++) {
        struct tm_stage *stage = &a->stages[i];

        st = tm_partial_enter(r, stage->type->name);
        if (st == TM_OK)
            st = stage->type->load(stage, r);
        if (st == TM_OK)
            st = tm_partial_leave(r);
    }
    a->run->tallies = tallies;
    return st;
}

static tm_status load_partial(struct analysis *a, const struct tm_found_file *found, const struct tm_input_part *part)
{
    struct tm_run *run = a->run;
    struct tm_partial_reader *r;
    char run_name[sizeof(a->inputs.partial_run_name)];
    tm_status st = tm_partial_open(&r, run, found->path);

    if (st != TM_OK)
        return st;
    run->bytes_read += found->bytes;
    tm_partial_bind(r, a->names, name_of_host, &a->inputs, part->first_host, part->host_count);
    st = tm_partial_load_settings(r, run, found->path, a->options, run_name, sizeof(run_name));
    if (st == TM_OK)
        st = load_files(a, r, part);
    if (st == TM_OK)
        st = load_stages(a, r);
    if (st == TM_OK)
        st = tm_partial_load_coverage(r, run, a->warnings);
    if (st == TM_OK)
        st = tm_partial_finish(r);
    tm_partial_close(r);
    return st == TM_OK ? st : tm_while(&run->error, "reading '%s'", found->path);
}

static tm_status save_stages(struct analysis *a, struct tm_partial_writer *w)
{
    tm_status st = TM_OK;

    for (size_t i = 0; i < a->stage_count && st == TM_OK; i++) {
        struct tm_stage *stage = &a->stages[i];

        tm_partial_begin(w, stage->type->name);
        st = stage->type->save(stage, w);
        if (st == TM_OK)
            st = tm_partial_end(w);
    }
    return st;
}

static tm_status save_partial(struct analysis *a)
{
    struct tm_partial_writer *w = tm_partial_writer_new(a->run, a->names, name_of_host, &a->inputs);
    tm_status st;

    if (!w)
        return a->run->error.status;
    *a->saved = w;
    st = tm_partial_save_settings(w, a->options, a->inputs.run_name);
    if (st == TM_OK)
        st = tm_partial_save_files(w, a->file_list, a->inputs.plain_hosts);
    if (st == TM_OK)
        st = save_stages(a, w);
    if (st == TM_OK)
        st = tm_partial_save_coverage(w, a->run, a->warnings);
    return st == TM_OK ? st : tm_while(&a->run->error, "making the partial");
}

static tm_status read_file(struct analysis *a, size_t number)
{
    const struct tm_input_part *part = &a->inputs.parts[number];

    if (part->is_partial)
        return load_partial(a, a->inputs.files[number], part);
    return read_host(a, a->inputs.files[number], part->first_host);
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
        st = read_file(a, i);
    if (st == TM_OK && a->saved)
        st = save_partial(a);
    return st == TM_OK ? finish_summary(a) : st;
}

tm_status tm_analyze(struct tm_run *run, const struct tm_options *options, struct tm_doc *summary,
                     struct tm_partial_writer **partial)
{
    struct analysis a = { .run = run, .options = options, .root = tm_doc_root(summary), .saved = partial };
    tm_status st;

    if (partial)
        *partial = NULL;
    st = work(&a);
    close_stages(&a);
    tm_names_free(a.names);
    tm_inputs_free(&a.inputs);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a.loaded, a.loaded ? sizeof(*a.loaded) : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a.warnings, a.warnings ? sizeof(*a.warnings) : 0);
    if (st == TM_OK)
        st = tm_doc_status(summary);
    if (st != TM_OK && partial) {
        tm_partial_writer_free(*partial);
        *partial = NULL;
    }
    return st;
}
