/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the runs that are in log directories or archives of them, oldest first. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/commands/commands.h"
#include "pipeline/doc/doc.h"
#include "pipeline/engine/analysis.h"
#include "reports/format/format.h"
#include "stages/input/bytes/input_file.h"

static const char *kind_word(enum tm_found_kind kind)
{
    switch (kind) {
    case TM_FOUND_XPLANE:
        return "xplane";
    case TM_FOUND_TRACE_JSON:
        return "trace-json";
    case TM_FOUND_PERFETTO_JSON:
        return "perfetto-json";
    default:
        return "file";
    }
}

/* The name comes last: its width on a terminal is not known. */
enum { NAME_BYTES = 4096, NAME_MOST = 48 };

/* Columns of the names; a longer one sticks out. */
static int name_width(const struct tm_found_run *runs, size_t count)
{
    size_t widest = sizeof("RUN") - 1;

    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(runs[i].name);

        widest = length > widest && length <= NAME_MOST ? length : widest;
    }
    return (int)widest;
}

static void print_table(const struct tm_found_run *runs, size_t count)
{
    const int width = name_width(runs, count);

    (void)printf("%-23s  %5s  %5s  %10s  %-13s  %-*s  %s\n", "TIME", "HOSTS", "FILES", "SIZE", "KIND", width, "RUN",
                 "FOLDER");
    for (size_t i = 0; i < count; i++) {
        const struct tm_found_run *const r = &runs[i];
        char date[TM_FORMAT_BYTES], bytes[TM_FORMAT_BYTES], name[NAME_BYTES], folder[NAME_BYTES];

        (void)tm_format_visible(name, sizeof(name), r->name, strlen(r->name));
        (void)tm_format_visible(folder, sizeof(folder), r->folder, strlen(r->folder));
        (void)printf("%-23s  %5zu  %5zu  %10s  %-13s  %-*s  %s\n", tm_format_date(date, r->when_ns), r->file_count,
                     r->all_count, tm_format_bytes(bytes, (double)r->bytes), kind_word(r->files[0].kind), width, name,
                     folder);
    }
}

static void add_run(struct tm_value *runs, const struct tm_found_run *r)
{
    struct tm_value *const row = tm_add_object(runs, NULL);
    char date[TM_FORMAT_BYTES];

    tm_add_text(row, "run", r->name, strlen(r->name));
    tm_add_text(row, "folder", r->folder, strlen(r->folder));
    tm_add_string(row, "kind", kind_word(r->files[0].kind));
    tm_add_uint(row, "hosts", r->file_count);
    tm_add_uint(row, "files", r->all_count);
    tm_add_uint(row, "bytes", r->bytes);
    tm_add_int(row, "time_ns", r->when_ns); /* which --latest compares */
    tm_add_string(row, "time", tm_format_date(date, r->when_ns));
    tm_add_int(row, "newest_ns", r->mtime_ns);
    tm_add_string(row, "newest", tm_format_date(date, r->mtime_ns));
}

static void print_json(struct tm_run *run, const struct tm_found *found, const struct tm_found_run *runs, size_t count)
{
    struct tm_doc *const doc = tm_doc_new(run);
    struct tm_value *list;

    if (!doc)
        return;
    tm_add_string(tm_doc_root(doc), "schema", "tracemill.list");
    tm_add_int(tm_doc_root(doc), "schema_version", 1);
    tm_add_uint(tm_doc_root(doc), "folders_searched", found->folders);
    tm_add_uint(tm_doc_root(doc), "folders_unreadable", found->unreadable);
    tm_add_uint(tm_doc_root(doc), "folders_too_deep", found->too_deep);
    tm_add_uint(tm_doc_root(doc), "links_not_followed", found->links);
    tm_add_uint(tm_doc_root(doc), "members_left_out", found->unnamed);
    tm_add_uint(tm_doc_root(doc), "archives_damaged", found->damaged);
    tm_add_skipped(tm_doc_root(doc), &found->left_out);
    list = tm_add_array(tm_doc_root(doc), "runs");
    for (size_t i = 0; i < count; i++)
        add_run(list, &runs[i]);
    tm_doc_print(doc, run, STDOUT_FILENO);
    tm_doc_free(doc);
}

/* A file that is named itself is a run only if its content can be read: its name is not evidence. */
static void check_named_file(struct tm_run *run, const struct tm_found_run *found)
{
    const struct tm_found_file *file = found->files;
    struct tm_input input;

    if (file->kind != TM_FOUND_FILE || file->member || strcmp(file->path, "-") == 0)
        return;
    if (!tm_input_open(&input, run, file->path) && input.kind != TM_FILE_PARTIAL)
        tm_input_require_readable(&input);
    tm_input_close(&input);
}

static tm_status run_list(struct tm_run *run, const struct tm_options *options)
{
    struct tm_found found;

    tm_discover_all(run, options->inputs, options->input_count, tm_find_operand, &found);
    for (size_t i = 0; i < found.run_count && !tm_failed(run); i++)
        check_named_file(run, &found.runs[i]);
    if (!tm_failed(run)) {
        const size_t first = options->latest ? found.run_count - 1 : 0;
        const size_t count = found.run_count - first;

        tm_warn_left_out(&found);
        tm_warn_damaged(&found);
        if (!options->quiet)
            tm_note_not_traces(&found.left_out);
        if (options->json)
            print_json(run, &found, found.runs + first, count);
        else
            print_table(found.runs + first, count);
    }
    tm_found_free(&found);
    return run->error.status;
}

/* clang-format off */
const struct tm_verb tm_list_verb = {
    .name = "list",
    .summary = "list the runs found in log directories",
    .usage = "LOGDIR... [--latest] [OPTION...]",
    .description =
        "Searches log directories, or archives of them, at any depth for run folders, and prints each with its time "
        "(the date in its name, otherwise that of its newest file), hosts and size. Files ending in .json or .pb without the name of a trace are detected by content. Links in "
        "an archive are resolved to their members. Skipped files are counted.",
    .examples =
        "tracemill list logdir             all runs, oldest first\n"
        "tracemill list logdir --latest    only the newest one\n"
        "tracemill list logdir.tar.gz      the runs in an archive\n",
    .bit = TM_FOR_LIST,
    .flags = TM_VERB_PRINTS,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_list,
};
/* clang-format on */
