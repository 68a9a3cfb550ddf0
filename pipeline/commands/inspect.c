/* SPDX-License-Identifier: Apache-2.0 */
/* Shows what is in a trace: files, hosts, devices, lines, classes, names, what is damaged, and what to change in the
 * way of profiling.  Reads the inputs as `report` does up to the survey, which counts events by their sort, so that
 * every record is looked at once. */
#include "pipeline/commands/inspect.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/commands/closing.h"
#include "pipeline/commands/commands.h"
#include "pipeline/commands/host_run.h"
#include "pipeline/commands/inputs.h"
#include "pipeline/commands/memory_file.h"
#include "pipeline/version.h"
#include "reports/findings/ask.h"
#include "reports/findings/findings.h"
#include "stages/diagnose/run/contents.h"
#include "stages/diagnose/run/overview.h"
#include "stages/resolve/classes.h"

enum { WARNINGS_MOST = 100, FILES_LISTED = 1000 };

static const struct tm_stage_type *const stage_types[] = { &tm_overview_stage, &tm_contents_stage };
enum { STAGES = sizeof(stage_types) / sizeof(stage_types[0]) };

struct inspection {
    struct tm_run *run;
    const struct tm_options *options;
    struct tm_inputs inputs;
    struct tm_names *names;
    struct tm_file_facts *file;  /* that is being read */
    struct tm_device_profiles *profiles;
    struct tm_settings settings;
    struct tm_stage stages[STAGES];
    struct tm_value *root, *files, *warnings;
    bool is_partial;
};

/* --- stages --- */

static tm_status open_stages(struct inspection *n)
{
    for (size_t i = 0; i < STAGES; i++) {
        struct tm_stage *stage = &n->stages[i];
        tm_status st;

        *stage = (struct tm_stage){ .type = stage_types[i], .run = n->run, .settings = &n->settings };
        stage->state = tm_take(&n->run->budget, TM_ACCOUNT_MODEL, stage->type->state_bytes, &n->run->error);
        st = stage->state ? stage->type->open(stage) : n->run->error.status;
        if (st != TM_OK)
            return st;
    }
    return TM_OK;
}

static void close_stages(struct inspection *n)
{
    for (size_t i = 0; i < STAGES; i++) {
        struct tm_stage *stage = &n->stages[i];

        if (!stage->state)
            continue;
        stage->type->close(stage);
        tm_give(&n->run->budget, TM_ACCOUNT_MODEL, stage->state, stage->type->state_bytes);
    }
}

static tm_status take_alike(void *to, const struct tm_event *event, uint64_t count)
{
    struct inspection *n = to;
    tm_status st = TM_OK;

    for (size_t i = 0; i < STAGES && st == TM_OK; i++)
        st = n->stages[i].type->take_alike(&n->stages[i], event, count);
    return st;
}

/* --- files --- */

static void keep_warning(void *to, const char *text, size_t length)
{
    struct inspection *n = to;

    if (tm_length(n->warnings) < WARNINGS_MOST)
        tm_add_text(n->warnings, NULL, text, length < 512 ? length : 512);
}

static void add_file(struct inspection *n)
{
    n->is_partial |= n->file->is_partial;
    if (n->file->is_partial || tm_length(n->files) < FILES_LISTED)
        tm_file_facts_add(n->file, TM_FACTS_INSPECT, n->files);
}

static tm_status read_memory_profile(struct inspection *n, const struct tm_found_file *found)
{
    const tm_status st = tm_memory_file_read(n->run, n->names, found, n->profiles, n->file);

    if (st == TM_OK)
        add_file(n);
    return st;
}

static tm_status read_host(struct inspection *n, const struct tm_found_file *found, uint32_t number)
{
    const struct tm_host_options options = { .counts = true, .warn = keep_warning, .to = n };
    struct tm_host_run host;
    tm_status st = tm_host_open(&host, n->run, n->names, found, number, &options);

    for (size_t i = 0; i < STAGES && st == TM_OK; i++)
        st = n->stages[i].type->begin_host(&n->stages[i], &host.trace);
    if (st == TM_OK)
        st = tm_host_counts(&host, take_alike, n);
    for (size_t i = 0; i < STAGES && st == TM_OK; i++)
        st = n->stages[i].type->end_host(&n->stages[i]);
    if (st == TM_OK) {
        tm_file_facts_take(n->file, host.input, found, &host.trace, host.events);
        add_file(n);
    }
    tm_host_close(&host);
    return st;
}

/* --- the verb --- */

static tm_status gather(struct inspection *n)
{
    tm_status st = tm_inputs_find(&n->inputs, n->run, n->options);

    if (st != TM_OK)
        return st;
    n->names = tm_names_new(n->run, tm_budget_share(&n->run->budget, TM_ACCOUNT_NAMES), tm_traits_of);
    n->profiles = n->names ? tm_device_profiles_new(n->run, n->names) : NULL;
    n->file = n->profiles ? tm_take(&n->run->budget, TM_ACCOUNT_MODEL, sizeof(*n->file), &n->run->error) : NULL;
    if (!n->file)
        return n->run->error.status;
    tm_add_string(n->root, "schema", "tracemill.inspect");
    tm_add_int(n->root, "schema_version", 1);
    tm_add_string(n->root, "version", TM_VERSION);
    tm_add_text(n->root, "run", n->inputs.run_name, strlen(n->inputs.run_name));
    tm_add_uint(n->root, "file_count", n->inputs.file_count);
    n->files = tm_add_array(n->root, "files");
    n->warnings = tm_add_array(n->root, "warnings");
    st = open_stages(n);
    for (size_t i = 0; i < n->inputs.file_count && st == TM_OK; i++) {
        if (n->inputs.parts[i].kind == TM_PART_MEMORY)
            st = read_memory_profile(n, n->inputs.files[i]);
        else
            st = read_host(n, n->inputs.files[i], n->inputs.parts[i].first_host);
    }
    for (size_t i = 0; i < STAGES && st == TM_OK; i++)
        st = n->stages[i].type->report(&n->stages[i], n->root);
    if (st == TM_OK)
        st = tm_device_profiles_report(n->profiles, n->root);
    tm_add_bool(n->root, "partial", n->is_partial);
    if (st != TM_OK)
        return st;
    tm_check_inspection(n->root);
    tm_inspect_advise(n->root);
    return TM_OK;
}

/* --strict: what was found is printed, and is an error nevertheless. */
static tm_status judge(const struct inspection *n)
{
    const uint64_t losses = tm_tally_losses(&n->run->tallies, n->run->tally_use);

    if (n->run->strict && (losses || n->is_partial))
        return tm_fail(&n->run->error, TM_ERR_INPUT, -1, "the input is not whole: %llu losses%s",
                       (unsigned long long)losses, n->is_partial ? ", and it is partial" : "");
    tm_print_failed_checks(n->root);
    return n->is_partial || !tm_ask_checks_hold(n->root) ? TM_PARTIAL : TM_OK;
}

tm_status tm_command_inspect(struct tm_run *run, const struct tm_options *options)
{
    struct tm_doc *doc = tm_doc_new(run);
    struct inspection n = { .run = run, .options = options, .root = doc ? tm_doc_root(doc) : NULL };
    tm_status st = doc ? gather(&n) : run->error.status;

    close_stages(&n);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, n.file, n.file ? sizeof(*n.file) : 0);
    tm_device_profiles_free(n.profiles);
    tm_names_free(n.names);
    tm_inputs_free(&n.inputs);
    tm_progress_end(&run->progress);
    if (st == TM_OK)
        st = tm_doc_status(doc);
    if (st == TM_OK && options->json)
        st = tm_doc_print(doc, run, STDOUT_FILENO);
    else if (st == TM_OK)
        tm_inspect_print(n.root, stdout);
    if (st == TM_OK)
        st = judge(&n);
    tm_doc_free(doc);
    return st;
}
