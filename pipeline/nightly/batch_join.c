/* SPDX-License-Identifier: Apache-2.0 */
/* `batch join`: the results of several output folders in one, or several partials as one.  Of two results of an item,
 * the better one is kept, and of equally good ones that with the greater hash: an order of all results, so folders can
 * be joined in any order, in a tree of any shape, and more than once. */
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

/* --- manifests --- */

/* The runs of two manifests in one.  Of two versions of a run, the newer one is kept, and of equally old ones one by an
 * order of their content: manifests can be joined in any order, in a tree of any shape, and more than once. */

static int64_t newest_of(const struct tm_batch_run *batch_run)
{
    int64_t newest = INT64_MIN;

    for (size_t i = 0; i < batch_run->files; i++)
        if (batch_run->file[i].mtime_ns > newest)
            newest = batch_run->file[i].mtime_ns;
    return newest;
}

static int order_of(int64_t one, int64_t other)
{
    return (one > other) - (one < other);
}

static int compare_content(const struct tm_batch_run *one, const struct tm_batch_run *other)
{
    const struct tm_batch_keys *const a = &one->keys, *const b = &other->keys;
    const char *const texts[][2] = { { a->job, b->job },     { a->night, b->night },   { a->revision, b->revision },
                                     { a->label, b->label }, { a->labels, b->labels }, { a->training, b->training } };
    char prints[2][TM_FINGERPRINT_BYTES];
    int order = order_of(newest_of(one), newest_of(other));

    tm_run_fingerprint(one, prints[0]);
    tm_run_fingerprint(other, prints[1]);
    order = order ? order : order_of((int64_t)one->files, (int64_t)other->files);
    order = order ? order : strcmp(prints[0], prints[1]);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !order; i++)
        order = strcmp(texts[i][0], texts[i][1]);
    order = order ? order : order_of(a->when_ns, b->when_ns);
    order = order ? order : order_of(a->step, b->step);
    for (size_t i = 0; i < one->files && !order; i++)
        order = strcmp(one->file[i].version, other->file[i].version);
    return order;
}

/* By root and path, as they are in a manifest; what has ended comes last. */
static int compare_places(const struct tm_batch_run *one, const struct tm_batch_run *other)
{
    int order;

    if (!one || !other)
        return !one - !other;
    order = strcmp(one->root, other->root);
    return order ? order : strcmp(one->path, other->path);
}

/* The roots of both, sorted, each once. */
static tm_status join_roots(struct tm_manifest *to, const struct tm_manifest *one, const struct tm_manifest *other)
{
    size_t i = 0, j = 0;

    to->roots = tm_manifest_take(to, (one->root_count + other->root_count) * sizeof(*to->roots));
    while (to->roots && (i < one->root_count || j < other->root_count)) {
        const int order = i == one->root_count     ? 1
                          : j == other->root_count ? -1
                                                   : strcmp(one->roots[i], other->roots[j]);

        to->roots[to->root_count++] = order <= 0 ? one->roots[i] : other->roots[j];
        i += order <= 0;
        j += order >= 0;
    }
    return to->run->error.status;
}

static tm_status add_run(struct tm_manifest *to, const struct tm_batch_run *batch_run)
{
    struct tm_batch_run added = *batch_run;

    for (size_t i = 0; i < to->root_count; i++)
        if (strcmp(to->roots[i], batch_run->root) == 0)
            added.root = to->roots[i];
    return tm_manifest_add(to, &added);
}

/* The runs of both; of a run that both have, the version with the newer files.
 * in:     one, other  of the same struct tm_run; they must outlive `to`, which uses their strings
 * owns:   the caller; tm_manifest_free, also after a failure
 * errors: TM_ERR_LIMIT; TM_ERR_INPUT  two runs have the same id */
static tm_status join_lists(struct tm_manifest *to, const struct tm_manifest *one, const struct tm_manifest *other)
{
    struct tm_run *const run = one->run;
    size_t i = 0, j = 0;

    tm_manifest_begin(to, run);
    join_roots(to, one, other);
    while (!tm_failed(run) && (i < one->count || j < other->count)) {
        const struct tm_batch_run *const a = i < one->count ? &one->runs[i] : NULL, *const b = j < other->count
                                                                                                   ? &other->runs[j]
                                                                                                   : NULL;
        const int order = compare_places(a, b);

        i += order <= 0;
        j += order >= 0;
        add_run(to, order < 0 || (order == 0 && compare_content(a, b) >= 0) ? a : b);
    }
    return tm_failed(run) ? run->error.status : tm_manifest_check_ids(to);
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
    else if (!tm_failed(j->run) && !tm_manifest_read(&ours, j->run, to) && !join_lists(&both, &ours, &theirs))
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
