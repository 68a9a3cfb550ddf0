/* SPDX-License-Identifier: Apache-2.0 */
/* Shows what is in a trace: files, hosts, devices, lines, classes, names, what is damaged, and what to change in the
 * way of profiling.  Reads the inputs as `report` does, with other stages at the end. */
#include "pipeline/commands/inspect.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/host_run.h"
#include "pipeline/commands/inputs.h"
#include "pipeline/version.h"
#include "stages/diagnose/contents.h"
#include "stages/diagnose/overview.h"
#include "stages/resolve/classes.h"

enum { WARNINGS_MOST = 100, FILES_LISTED = 1000 };

static const struct tm_stage_type *const stage_types[] = { &tm_overview_stage, &tm_contents_stage };
enum { STAGES = sizeof(stage_types) / sizeof(stage_types[0]) };

struct inspection {
    struct tm_run *run;
    const struct tm_options *options;
    struct tm_inputs inputs;
    struct tm_names *names;
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

static tm_status take_event(void *to, const struct tm_event *event)
{
    struct inspection *n = to;
    tm_status st = TM_OK;

    for (size_t i = 0; i < STAGES && st == TM_OK; i++)
        st = n->stages[i].type->take(&n->stages[i], event, 1);
    return st;
}

/* --- files --- */

static void keep_warning(void *to, const char *text, size_t length)
{
    struct inspection *n = to;

    if (tm_length(n->warnings) < WARNINGS_MOST)
        tm_add_text(n->warnings, NULL, text, length < 512 ? length : 512);
}

static const char *const wrappings[] = { [TM_PLAIN] = "none", [TM_GZIP] = "gzip", [TM_ZSTD] = "zstd" };

static void add_file(struct inspection *n, const struct tm_host_run *host, const struct tm_found_file *found)
{
    const bool is_partial = host->input.partial || host->trace.partial || found->problem;
    struct tm_value *file, *problems, *notes;
    char fingerprint[20], text[TM_FOUND_NAME_BYTES];
    const char *const name = tm_found_name(found, text);

    n->is_partial |= is_partial;
    if (!is_partial && tm_length(n->files) >= FILES_LISTED)
        return;
    (void)snprintf(fingerprint, sizeof(fingerprint), "%016llx", (unsigned long long)host->input.xxh3);
    file = tm_add_object(n->files, NULL);
    tm_add_text(file, "path", name, strlen(name));
    tm_add_string(file, "host", found->host);
    tm_add_string(file, "kind", tm_host_format(host));
    tm_add_uint(file, "bytes", host->input.disk_bytes);
    tm_add_bool(file, "gzip", host->input.wrapping == TM_GZIP);
    tm_add_string(file, "wrapping", wrappings[host->input.wrapping]);
    tm_add_uint(file, "inflated_bytes", host->input.bytes);
    tm_add_string(file, "xxh3", fingerprint);
    tm_add_uint(file, "events", host->events);
    tm_add_bool(file, "partial", is_partial);
    problems = tm_add_array(file, "problems");
    if (host->input.problem[0])
        tm_add_text(problems, NULL, host->input.problem, strlen(host->input.problem));
    if (found->problem)
        tm_add_text(problems, NULL, found->problem, strlen(found->problem));
    if (host->trace.problem[0])
        tm_add_text(problems, NULL, host->trace.problem, strlen(host->trace.problem));
    notes = tm_add_array(file, "notes");
    if (host->trace.note[0])
        tm_add_text(notes, NULL, host->trace.note, strlen(host->trace.note));
}

static tm_status read_host(struct inspection *n, const struct tm_found_file *found, uint32_t number)
{
    const struct tm_chosen_steps choice = { .all = false };
    struct tm_host_run host;
    tm_status st = tm_host_open(&host, n->run, n->names, found, number, &choice, keep_warning, n);

    for (size_t i = 0; i < STAGES && st == TM_OK; i++)
        st = n->stages[i].type->begin_host(&n->stages[i], &host.trace);
    if (st == TM_OK)
        st = tm_host_events(&host, take_event, n);
    for (size_t i = 0; i < STAGES && st == TM_OK; i++)
        st = n->stages[i].type->end_host(&n->stages[i]);
    if (st == TM_OK)
        add_file(n, &host, found);
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
    if (!n->names)
        return n->run->error.status;
    tm_add_string(n->root, "schema", "tracemill.inspect");
    tm_add_int(n->root, "schema_version", 1);
    tm_add_string(n->root, "version", TM_VERSION);
    tm_add_text(n->root, "run", n->inputs.run_name, strlen(n->inputs.run_name));
    tm_add_uint(n->root, "file_count", n->inputs.file_count);
    n->files = tm_add_array(n->root, "files");
    n->warnings = tm_add_array(n->root, "warnings");
    st = open_stages(n);
    for (size_t i = 0; i < n->inputs.file_count && st == TM_OK; i++)
        st = read_host(n, n->inputs.files[i], (uint32_t)i);
    for (size_t i = 0; i < STAGES && st == TM_OK; i++)
        st = n->stages[i].type->report(&n->stages[i], n->root);
    tm_add_bool(n->root, "partial", n->is_partial);
    if (st == TM_OK)
        tm_inspect_advise(n->root);
    return st;
}

/* --strict: what was found is printed, and is an error nevertheless. */
static tm_status judge(const struct inspection *n)
{
    const uint64_t losses = tm_tally_losses(&n->run->tallies);

    if (n->run->strict && (losses || n->is_partial))
        return tm_fail(&n->run->error, TM_ERR_INPUT, -1, "the input is not whole: %llu losses%s",
                       (unsigned long long)losses, n->is_partial ? ", and it is partial" : "");
    return n->is_partial ? TM_PARTIAL : TM_OK;
}

tm_status tm_command_inspect(struct tm_run *run, const struct tm_options *options)
{
    struct tm_doc *doc = tm_doc_new(run);
    struct inspection n = { .run = run, .options = options, .root = doc ? tm_doc_root(doc) : NULL };
    tm_status st = doc ? gather(&n) : run->error.status;

    close_stages(&n);
    tm_names_free(n.names);
    tm_inputs_free(&n.inputs);
    tm_progress_end(&run->progress);
    if (st == TM_OK)
        st = tm_doc_status(doc);
    if (st == TM_OK && options->json)
        st = tm_doc_print(doc, run, STDOUT_FILENO);
    else if (st == TM_OK)
        tm_inspect_print(n.root, stdout);
    tm_doc_free(doc);
    return st == TM_OK ? judge(&n) : st;
}
