/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the traces of a batch: what `batch run` and `batch submit` work.  To a file, whole or not at all, or to stdout. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/engine/closing.h"
#include "pipeline/engine/inputs.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/guard.h"
#include "pipeline/nightly/batch_parts.h"
#include "pipeline/nightly/out_folder.h"
#include "reports/format/format.h"

static void warn(uint64_t count, const char *one, const char *many)
{
    if (count > 0)
        (void)fprintf(stderr, "tracemill: warning: %" PRIu64 " %s\n", count, count == 1 ? one : many);
}

/* --strict: what could not be looked at is a loss. */
static tm_status check_strict(const struct tm_manifest *manifest)
{
    struct tm_run *run = manifest->run;
    const uint64_t count =
        manifest->unreadable + manifest->left_out + manifest->skipped.lost_links + manifest->skipped.unseen;

    if (!run->strict || count == 0)
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_INPUT, -1,
                  "cannot make a batch under --strict: %" PRIu64
                  " folders or files could not be read, or have names that"
                  " cannot be used, or are links to nothing",
                  count);
    tm_hint(&run->error, "without --strict the others are taken, and those fail one by one");
    return TM_ERR_INPUT;
}

tm_status tm_batch_find(struct tm_run *run, const struct tm_options *options, struct tm_manifest *manifest)
{
    tm_status st = tm_manifest_scan(manifest, run, options->inputs, options->input_count, options, tm_find_operand);

    tm_progress_end(&run->progress);
    if (st == TM_OK)
        st = check_strict(manifest);
    if (st != TM_OK)
        return st;
    warn(manifest->unreadable, "folder or file could not be read", "folders or files could not be read");
    warn(manifest->links, "link leads out of ROOT and is not followed; --follow-links follows it",
         "links lead out of ROOT and are not followed; --follow-links follows them");
    warn(manifest->doubles, "run is below two roots, and is taken once",
         "runs are below two roots, and are taken once");
    warn(manifest->left_out, "run is left out, whose name cannot be used",
         "runs are left out, whose names cannot be used");
    tm_warn_skipped(&manifest->skipped);
    warn(manifest->not_fitting, "run does not fit --keys: its path was read by its look",
         "runs do not fit --keys: their paths were read by their look");
    return TM_OK;
}

/* --- what was found --- */

struct counts {
    size_t jobs, nights, revisions;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How many different texts there are, but for "". */
static size_t count_distinct(const char **texts, size_t count)
{
    size_t distinct = 0;

    qsort(texts, count, sizeof(*texts), by_text);
    for (size_t i = 0; i < count; i++)
        distinct += texts[i][0] != '\0' && (i == 0 || strcmp(texts[i - 1], texts[i]) != 0);
    return distinct;
}

static tm_status count_keys(const struct tm_manifest *manifest, struct counts *counts)
{
    struct tm_run *run = manifest->run;
    const size_t bytes = manifest->count * sizeof(char *);
    const char **texts = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);

    if (!texts)
        return run->error.status;
    for (size_t i = 0; i < manifest->count; i++)
        texts[i] = manifest->runs[i].keys.job;
    counts->jobs = count_distinct(texts, manifest->count);
    for (size_t i = 0; i < manifest->count; i++)
        texts[i] = manifest->runs[i].keys.night;
    counts->nights = count_distinct(texts, manifest->count);
    for (size_t i = 0; i < manifest->count; i++)
        texts[i] = manifest->runs[i].keys.revision;
    counts->revisions = count_distinct(texts, manifest->count);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, texts, bytes);
    return TM_OK;
}

static void print_words(const struct tm_manifest *m, const struct counts *counts)
{
    char bytes[TM_FORMAT_BYTES];

    (void)fprintf(stderr, "%zu run%s, %zu trace%s, %s; %zu job%s, %zu night%s\n", m->count, tm_format_plural(m->count),
                  m->files, tm_format_plural(m->files), tm_format_bytes(bytes, (double)m->bytes), counts->jobs,
                  tm_format_plural(counts->jobs), counts->nights, tm_format_plural(counts->nights));
    tm_note_not_traces(&m->skipped);
}

static tm_status print_json(const struct tm_manifest *m, const struct counts *counts, const char *path)
{
    struct tm_doc *doc = tm_doc_new(m->run);
    struct tm_value *root;
    tm_status st;

    if (!doc)
        return m->run->error.status;
    root = tm_doc_root(doc);
    tm_add_string(root, "schema", "tracemill.scan");
    tm_add_int(root, "schema_version", 1);
    tm_add_text(root, "manifest", path, strlen(path));
    tm_add_uint(root, "runs", m->count);
    tm_add_uint(root, "files", m->files);
    tm_add_uint(root, "bytes", m->bytes);
    tm_add_uint(root, "jobs", counts->jobs);
    tm_add_uint(root, "nights", counts->nights);
    tm_add_uint(root, "revisions", counts->revisions);
    tm_add_uint(root, "unreadable", m->unreadable);
    tm_add_uint(root, "doubles", m->doubles);
    tm_add_uint(root, "left_out", m->left_out);
    tm_add_uint(root, "not_fitting", m->not_fitting);
    tm_add_uint(root, "links_not_followed", m->links);
    tm_add_skipped(root, &m->skipped);
    st = tm_doc_status(doc);
    if (st == TM_OK)
        st = tm_print_document(m->run, doc);
    tm_doc_free(doc);
    return st;
}

/* --- where it goes --- */

/* The file to write: of a folder the list in it.  out: false where the path is too long */
static bool choose_file(const char *output, char path[TM_PLACE_BYTES])
{
    struct stat info;
    const bool is_folder = stat(output, &info) == 0 && S_ISDIR(info.st_mode);
    const int length = snprintf(path, TM_PLACE_BYTES, "%s%s", output, is_folder ? "/" TM_MANIFEST_FILE : "");

    return length >= 0 && length < TM_PLACE_BYTES;
}

static tm_status write_file(const struct tm_manifest *m, const struct tm_file_place *place)
{
    const tm_status st = tm_make_folder(m->run, place->folder);

    return st == TM_OK ? tm_manifest_save(m, place->folder, place->name, NULL) : st;
}

static tm_status write_manifest(const struct tm_manifest *m, const struct tm_options *options, const char *path,
                                const struct tm_file_place *place)
{
    struct counts counts = { .jobs = 0 };
    tm_status st = options->output ? write_file(m, place) : tm_finish_stdout(m->run, tm_manifest_write(m, stdout));

    if (st == TM_OK)
        st = count_keys(m, &counts);
    if (st == TM_OK && !options->quiet)
        print_words(m, &counts);
    if (st == TM_OK && options->json && options->output)
        st = print_json(m, &counts, path);
    return st;
}

tm_status tm_command_batch_scan(struct tm_run *run, const struct tm_options *options)
{
    struct tm_manifest manifest = { .run = NULL };
    struct tm_file_place place;
    char path[TM_PLACE_BYTES] = "";
    tm_status st = TM_OK;

    if (options->output && !choose_file(options->output, path))
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, ENAMETOOLONG, "cannot write '%s'", options->output);
    if (options->output)
        st = tm_find_place(run, path, &place);
    if (st == TM_OK && options->output)
        st = tm_guard_output(run, path, "the manifest");
    if (st == TM_OK)
        st = tm_batch_find(run, options, &manifest);
    if (st == TM_OK)
        st = write_manifest(&manifest, options, path, &place);
    tm_manifest_free(&manifest);
    return st;
}
