/* SPDX-License-Identifier: Apache-2.0 */
/* `batch join`: the results of several output folders in one, or several partials as one.  Of two results of an item,
 * the better one is kept, and of equally good ones that with the greater hash: an order of all results, so folders can
 * be joined in any order, in a tree of any shape, and more than once. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/files.h"
#include "pipeline/nightly/batch.h"
#include "pipeline/nightly/leases.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/nightly/result.h"
#include "pipeline/partial.h"

enum { COPY_BYTES = 64 << 10 };

struct joining {
    struct tm_run *run;
    const char *from, *out, *id;      /* id: of the run whose hosts are joined */
    uint64_t taken, kept, incomplete; /* items */
};

/* --- one item --- */

static void copy_file(const struct joining *j, const char *from, const char *to, const char *name)
{
    static uint8_t buffer[COPY_BYTES]; /* too much for a small stack */
    char source[TM_OUT_PATH_BYTES], target[TM_OUT_PATH_BYTES];
    struct tm_atomic_file file = { .stream = NULL };
    struct tm_file_place place;
    size_t got = 1;
    int fd, problem;

    if (tm_out_path(j->run, from, name, source) || tm_out_path(j->run, to, name, target) ||
        tm_find_place(j->run, target, &place) || tm_make_folder(j->run, place.folder))
        return;
    fd = tm_open_to_read(source, O_NOFOLLOW);
    problem = fd < 0 ? errno : 0;
    if (!problem && !tm_atomic_open(&file, j->run, place.folder, place.name)) {
        while (!problem && got) {
            problem = tm_read_on(fd, buffer, sizeof(buffer), &got);
            if (!problem)
                (void)fwrite(buffer, 1, got, file.stream); /* tm_atomic_give_name sees a failure */
        }
        if (!problem)
            tm_atomic_give_name(&file);
    }
    tm_atomic_abort(&file);
    if (fd >= 0)
        (void)close(fd);
    if (problem)
        (void)tm_fail_system(&j->run->error, TM_ERR_INPUT, -1, problem, "cannot read '%s'", source);
}

/* What a name in a result may be: a file in the folder, or in a folder of tables in it. */
static bool is_name_of_file(const char *name)
{
    return name[0] && tm_path_is_below(name) && strcmp(name, TM_RESULT_FILE) != 0;
}

static void copy_item(const struct joining *j, const struct tm_value *result, const char *from, const char *to)
{
    const struct tm_value *const files = tm_get(result, "files");
    char names[TM_BATCH_OUTPUTS_MOST][64];
    const char *list[TM_BATCH_OUTPUTS_MOST];

    if (tm_result_remove(j->run, to, list, tm_batch_outputs(UINT32_MAX, names, list)))
        return;
    for (size_t i = 0; i < tm_length(files) && !tm_failed(j->run); i++)
        copy_file(j, from, to, tm_text(tm_get(tm_at(files, i), "name")));
    if (!tm_failed(j->run))
        copy_file(j, from, to, TM_RESULT_FILE);
}

/* The result of an item, if it is complete. */
static bool read_item(const struct joining *j, struct tm_doc *doc, const char *folder, const char *id)
{
    const struct tm_value *const root = tm_doc_root(doc);
    const struct tm_value *files;

    if (!tm_result_read(doc, tm_doc_root(doc), folder) || strcmp(tm_text(tm_get(root, "id")), id) != 0)
        return false;
    files = tm_get(root, "files");
    for (size_t i = 0; i < tm_length(files); i++)
        if (!is_name_of_file(tm_text(tm_get(tm_at(files, i), "name"))))
            return false;
    return tm_result_look(j->run, folder, tm_text(tm_get(root, "fingerprint")), tm_text(tm_get(root, "options")),
                          NULL) != TM_RESULT_MISSING;
}

/* in: folders  of the two */
static int compare_items(const struct tm_doc *one, const char *folder, const struct tm_doc *other,
                         const char *other_folder)
{
    const enum tm_result_status status[] = { tm_result_status_of(tm_text(tm_get(tm_doc_root(one), "status"))),
                                             tm_result_status_of(tm_text(tm_get(tm_doc_root(other), "status"))) };
    const uint64_t hash[] = { tm_result_hash(folder), tm_result_hash(other_folder) };

    if (status[0] != status[1])
        return status[0] < status[1] ? 1 : -1;
    return (hash[0] > hash[1]) - (hash[0] < hash[1]);
}

static void join_item(struct joining *j, const char *id, const char *host)
{
    const struct tm_batch_run of = { .id = id };
    const struct tm_batch_file part = { .id = host };
    struct tm_doc *const theirs = tm_doc_new(j->run), *const ours = theirs ? tm_doc_new(j->run) : NULL;
    char from[TM_OUT_PATH_BYTES], to[TM_OUT_PATH_BYTES];

    if (!ours || tm_out_item_folder(j->run, j->from, &of, host ? &part : NULL, from) ||
        tm_out_item_folder(j->run, j->out, &of, host ? &part : NULL, to))
        goto out;
    if (!read_item(j, theirs, from, id)) {
        j->incomplete += access(from, F_OK) == 0;
    } else if (read_item(j, ours, to, id) && compare_items(theirs, from, ours, to) <= 0) {
        j->kept++;
    } else {
        copy_item(j, tm_doc_root(theirs), from, to);
        j->taken++;
    }
out:
    tm_doc_free(ours);
    tm_doc_free(theirs);
}

/* --- all of them --- */

typedef void visit_name(struct joining *j, const char *name);

/* Call for each name in a folder that an item can have. */
static void visit_folder(struct joining *j, const char *folder, visit_name *visit)
{
    DIR *const dir = opendir(folder);
    const struct dirent *entry;

    if (!dir && errno != ENOENT && errno != ENOTDIR)
        (void)tm_fail_system(&j->run->error, TM_ERR_INPUT, -1, errno, "cannot read '%s'", folder);
    while (dir && !tm_failed(j->run) && (entry = readdir(dir)) != NULL)
        if (tm_is_run_id(entry->d_name))
            visit(j, entry->d_name);
    if (dir)
        (void)closedir(dir);
}

static void join_host(struct joining *j, const char *host)
{
    join_item(j, j->id, host);
}

static void join_run(struct joining *j, const char *id)
{
    const struct tm_batch_run of = { .id = id };
    char path[TM_OUT_PATH_BYTES], below[TM_OUT_PATH_BYTES];

    if (tm_out_item_folder(j->run, j->from, &of, NULL, path) || tm_out_path(j->run, path, TM_RESULT_FILE, below))
        return;
    if (access(below, F_OK) == 0)
        join_item(j, id, NULL);
    j->id = id;
    if (!tm_failed(j->run) && !tm_out_path(j->run, path, "hosts", below))
        visit_folder(j, below, join_host);
}

/* A folder of runs, as "ab", or a run of an older version. */
static void join_runs(struct joining *j, const char *name)
{
    char path[TM_OUT_PATH_BYTES], below[TM_RUN_ID_BYTES + 8];

    (void)snprintf(below, sizeof(below), "runs/%s", name);
    if (strlen(name) != 2)
        join_run(j, name);
    else if (!tm_out_path(j->run, j->from, below, path))
        visit_folder(j, path, join_run);
}

/* OUT gets the runs that either manifest names; a folder without one adds none. */
static void join_manifest(const struct joining *j)
{
    struct tm_manifest theirs = { .run = NULL }, ours = { .run = NULL }, both = { .run = NULL };
    char from[TM_OUT_PATH_BYTES], to[TM_OUT_PATH_BYTES];

    if (tm_out_path(j->run, j->from, TM_MANIFEST_FILE, from) || tm_out_path(j->run, j->out, TM_MANIFEST_FILE, to) ||
        access(from, F_OK) != 0)
        return;
    if (!tm_manifest_read(&theirs, j->run, from) && access(to, F_OK) != 0)
        tm_manifest_save(&theirs, j->out, TM_MANIFEST_FILE, NULL);
    else if (!tm_failed(j->run) && !tm_manifest_read(&ours, j->run, to) && !tm_manifest_join(&both, &ours, &theirs))
        tm_manifest_save(&both, j->out, TM_MANIFEST_FILE, NULL);
    tm_manifest_free(&both);
    tm_manifest_free(&ours);
    tm_manifest_free(&theirs);
}

static tm_status join_folders(struct tm_run *run, const struct tm_options *options)
{
    struct joining j = { .run = run, .out = options->output };
    char path[TM_OUT_PATH_BYTES];
    int lock = -1;

    if (tm_make_folder(run, j.out) || tm_out_lock(run, j.out, TM_LOCK_SHARE, &lock))
        return run->error.status;
    for (size_t i = 0; i < options->input_count && !tm_failed(run); i++) {
        j.from = options->inputs[i];
        if (access(j.from, F_OK) != 0)
            (void)tm_fail_system(&run->error, TM_ERR_INPUT, -1, errno, "cannot open '%s'", j.from);
        else if (!tm_out_path(run, j.from, "runs", path))
            visit_folder(&j, path, join_runs);
        if (!tm_failed(run))
            join_manifest(&j);
    }
    if (!tm_failed(run) && !run->quiet)
        (void)printf("%llu results added, %llu present, %llu incomplete\n", (unsigned long long)j.taken,
                     (unsigned long long)j.kept, (unsigned long long)j.incomplete);
    if (lock >= 0)
        (void)close(lock);
    return run->error.status;
}

static tm_status join_partials(struct tm_run *run, const struct tm_options *options)
{
    struct tm_options joined = *options;

    joined.formats = TM_FORMAT_PARTIAL;
    return tm_report_make(run, &joined, NULL);
}

static tm_status run_batch_join(struct tm_run *run, const struct tm_options *options)
{
    size_t partials = 0;

    if (!options->output) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot join results without an output folder");
        tm_hint(&run->error, "set it with -o OUT");
        return TM_ERR_USAGE;
    }
    for (size_t i = 0; i < options->input_count; i++)
        partials += tm_partial_is(options->inputs[i]);
    if (!partials)
        return join_folders(run, options);
    if (partials == options->input_count)
        return join_partials(run, options);
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot join partials and output folders at once");
    tm_hint(&run->error, "join the partials of a run first");
    return TM_ERR_USAGE;
}

/* clang-format off */
const struct tm_verb tm_batch_join_verb = {
    .name = "batch join",
    .summary = "join the results of several output folders, or several partials",
    .usage = "FOLDER... -o OUT [OPTION...]",
    .description =
        "Adds the results in output folders of 'batch item' and 'batch run' to OUT, for workers that share no folder. "
        "Of two results of an item, the better one is kept. Partials of hosts are joined to a partial of all of them, "
        "OUT/run.partial, in the order given. OUT/manifest.jsonl gets the runs of all manifests. Folders can be joined in any order and in a tree of any shape, with the "
        "same result.",
    .examples =
        "tracemill batch join worker-1 worker-2 -o perf    results\n"
        "tracemill batch join host-a.partial host-b.partial -o joined    partials, to joined/run.partial\n",
    .bit = TM_FOR_BATCH_JOIN,
    .flags = TM_VERB_SPILLS,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_batch_join,
};
/* clang-format on */
