/* SPDX-License-Identifier: Apache-2.0 */
/* `batch prune`: removes the files of old runs; their figures stay in the history.  For each run, its result is first
 * marked as pruned, so that it is not made again; then its files are removed; the history is marked at the end; then the
 * mirror follows.  If interrupted, run it again. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/nightly/batch.h"
#include "pipeline/nightly/batch_mirror.h"
#include "pipeline/nightly/leases.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/nightly/result.h"
#include "pipeline/run.h"
#include "reports/format/format.h"

struct tm_pruned {
    uint64_t files, bytes;
};

/* Visits each entry of the folder of a run and removes those with the name of an output.  Some may be gone already. */

/* Where in the folder of a run: what has which name there is ours. */
enum place { OF_RUN, OF_TABLES, OF_HOSTS, OF_HOST, NOT_OURS };

struct prune {
    struct tm_run *run;
    const char *folder; /* for messages */
    bool keeps_summary;
    bool counts_only; /* nothing is removed */
    struct tm_pruned *pruned;
    char names[TM_BATCH_OUTPUTS_MOST][64];
    const char *outputs[TM_BATCH_OUTPUTS_MOST];
    size_t count;
};

/* in: end  "/" of a folder, "" of a file */
static bool is_output(const struct prune *p, const char *name, const char *end)
{
    const size_t length = strlen(name);

    for (size_t i = 0; i < p->count; i++)
        if (strncmp(p->outputs[i], name, length) == 0 && strcmp(p->outputs[i] + length, end) == 0)
            return true;
    return false;
}

static bool is_our_file(const struct prune *p, enum place place, const char *name)
{
    switch (place) {
    case OF_RUN:
        if (tm_left_behind_is(name))
            return true;
        return is_output(p, name, "") && !(p->keeps_summary && strcmp(name, "summary.json") == 0);
    case OF_TABLES:
        return tm_part_has_ending((struct tm_path_part){ name, strlen(name) }, ".csv");
    case OF_HOST:
        return tm_left_behind_is(name) || is_output(p, name, "") || strcmp(name, TM_RESULT_FILE) == 0;
    default:
        return false;
    }
}

static enum place place_below(const struct prune *p, enum place place, const char *name)
{
    if (place == OF_RUN && strcmp(name, "hosts") == 0)
        return OF_HOSTS;
    if (place == OF_HOSTS)
        return OF_HOST;
    if ((place == OF_RUN || place == OF_HOST) && tm_left_behind_is(name)) /* tables that were not completed */
        return OF_TABLES;
    return (place == OF_RUN || place == OF_HOST) && is_output(p, name, "/") ? OF_TABLES : NOT_OURS;
}

static void fail(const struct prune *p, const char *name, int problem)
{
    (void)tm_fail_system(&p->run->error, TM_ERR_OUTPUT, -1, problem, "cannot remove '%s' in '%s'", name, p->folder);
}

static void sweep(struct prune *p, int fd, enum place place);

/* A subfolder, which is removed once it is empty. */
static void take_folder(struct prune *p, int parent, const char *name, enum place place)
{
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0) {
        if (errno != ENOENT)
            fail(p, name, errno);
        return;
    }
    sweep(p, fd, place);
    if (!tm_failed(p->run) && !p->counts_only && unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT &&
        errno != ENOTEMPTY && errno != EEXIST)
        fail(p, name, errno);
}

static void take_file(struct prune *p, int parent, const char *name, const struct stat *info)
{
    if (!p->counts_only && unlinkat(parent, name, 0) != 0 && errno != ENOENT) {
        fail(p, name, errno);
        return;
    }
    p->pruned->files++;
    p->pruned->bytes += S_ISREG(info->st_mode) ? (uint64_t)info->st_size : 0;
}

static void take(struct prune *p, int fd, enum place place, const char *name)
{
    const enum place below = place_below(p, place, name);
    struct stat info;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (below == NOT_OURS && !is_our_file(p, place, name)) ||
        fstatat(fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (S_ISDIR(info.st_mode) && below != NOT_OURS)
        take_folder(p, fd, name, below);
    else if (!S_ISDIR(info.st_mode) && is_our_file(p, place, name))
        take_file(p, fd, name, &info);
}

/* owns: fd */
static void sweep(struct prune *p, int fd, enum place place)
{
    DIR *dir = fdopendir(fd);
    const struct dirent *entry;

    if (!dir) {
        fail(p, "files", errno);
        (void)close(fd);
        return;
    }
    while (!tm_failed(p->run) && (entry = readdir(dir)) != NULL)
        take(p, fd, place, entry->d_name);
    (void)closedir(dir);
}

/* Remove the program's files from the folder of a run: reports, tables, partials of hosts, and what killed processes
 * left. result.json and foreign files stay.  Links are removed, not followed.
 * owns:   fd
 * errors: TM_ERR_OUTPUT  something cannot be removed */
static void prune_folder(struct prune *p, int fd)
{
    p->count = tm_batch_outputs(UINT32_MAX, p->names, p->outputs);
    sweep(p, fd, OF_RUN);
}

enum { KEPT_MOST = 4096 };

static int by_id(const void *a, const void *b);

struct pruning {
    struct tm_run *run;
    const struct tm_options *options;
    const char *out;
    struct tm_manifest manifest;
    const struct tm_batch_run **by_id; /* runs of the manifest */
    struct tm_history *old, *next;     /* next: NULL with --dry-run */
    struct tm_judged_night judged;     /* until */
    char oldest[11];                   /* night that stays */
    struct tm_job_past *past;
    char job[TM_KEY_BYTES];                /* that is gone through */
    char kept[KEPT_MOST][TM_RUN_ID_BYTES]; /* of the job: what gates compare with */
    size_t kept_count;
    uint64_t runs; /* that lose something */
    struct tm_pruned pruned;
};

static void keep(void *of, const struct tm_past_run *run)
{
    struct pruning *p = of;

    if (p->kept_count < KEPT_MOST)
        (void)snprintf(p->kept[p->kept_count++], TM_RUN_ID_BYTES, "%s", run->id);
}

static bool is_kept(const struct pruning *p, const char *id)
{
    for (size_t i = 0; i < p->kept_count; i++)
        if (strcmp(p->kept[i], id) == 0)
            return true;
    return p->kept_count == KEPT_MOST; /* more kinds of machines than can be remembered */
}

static int by_id(const void *a, const void *b)
{
    const struct tm_batch_run *const *x = a, *const *y = b;

    return strcmp((*x)->id, (*y)->id);
}

/* NULL = not in the manifest */
static const struct tm_batch_run *find_run(const struct pruning *p, const char *id)
{
    const struct tm_batch_run wanted = { .id = id }, *at = &wanted;
    const struct tm_batch_run **found =
        p->by_id ? bsearch(&at, p->by_id, p->manifest.count, sizeof(*p->by_id), by_id) : NULL;

    return found ? *found : NULL;
}

/* --- of one run --- */

/* The entry of the summary, copied: its list is made again. */
struct kept_file {
    bool is_there;
    int64_t bytes;
    char xxh3[TM_FINGERPRINT_BYTES];
};

static struct kept_file summary_of(const struct tm_value *result)
{
    const struct tm_value *const files = tm_get(result, "files");
    struct kept_file kept = { .is_there = false };

    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *const file = tm_at(files, i);

        if (strcmp(tm_text(tm_get(file, "name")), "summary.json") != 0)
            continue;
        kept = (struct kept_file){ .is_there = true, .bytes = tm_int(tm_get(file, "bytes")) };
        (void)snprintf(kept.xxh3, sizeof(kept.xxh3), "%s", tm_text(tm_get(file, "xxh3")));
    }
    return kept;
}

/* The content of the result from now on.  The fingerprint is that of all files of the run, also where some could not be
 * read: while they are the same, the run is not made again.
 * in: fd  of the folder */
static void mark(struct pruning *p, struct tm_doc *doc, const char *folder, int fd,
                 const struct tm_batch_run *batch_run, const struct kept_file *summary)
{
    struct tm_value *const root = tm_doc_root(doc);
    const size_t wanted = summary->is_there ? 1 : 0;
    char fingerprint[TM_FINGERPRINT_BYTES];

    if (tm_is(tm_get(root, "pruned")) && tm_length(tm_get(root, "files")) == wanted)
        return;
    tm_add_bool(root, "pruned", true);
    tm_add_null(root, "ops", NULL); /* the history has them */
    tm_add_null(root, "scopes", NULL);
    if (batch_run) {
        tm_run_fingerprint(batch_run, fingerprint);
        tm_add_string(root, "fingerprint", fingerprint);
    }
    struct tm_value *const files = tm_add_array(root, "files");

    if (summary->is_there) {
        struct tm_value *const file = tm_add_object(files, NULL);

        tm_add_string(file, "name", "summary.json");
        tm_add_int(file, "bytes", summary->bytes);
        tm_add_string(file, "xxh3", summary->xxh3);
    }
    tm_left_behind_leave(p->run, fd); /* it is counted */
    /* Before files are removed: after a power cut, the old one must not reappear without them. */
    if (!tm_result_write(p->run, folder, doc))
        (void)fsync(fd);
}

/* An input that changed since makes the run new: its files are not those of this result for long. */
static bool is_changed(const struct tm_batch_run *batch_run, const struct tm_history_run *row,
                       const struct tm_value *result)
{
    const char *const made_of = tm_text(tm_get(result, "fingerprint"));
    char fingerprint[TM_FINGERPRINT_BYTES];

    if (!batch_run)
        return false;
    tm_run_fingerprint(batch_run, fingerprint);
    return strcmp(made_of, fingerprint) != 0 && (batch_run->files == 1 || strcmp(made_of, row->fingerprint) != 0);
}

static bool prune_files(struct pruning *p, const struct tm_history_run *row, struct tm_doc *doc, const char *folder)
{
    const struct tm_batch_run *const batch_run = find_run(p, row->id);
    struct kept_file summary = { .is_there = false };
    struct prune of;
    int fd;

    if (!tm_result_read(doc, tm_doc_root(doc), folder) ||
        strcmp(tm_text(tm_get(tm_doc_root(doc), "id")), row->id) != 0 || is_changed(batch_run, row, tm_doc_root(doc)))
        return false;
    if (is_kept(p, row->id))
        summary = summary_of(tm_doc_root(doc));
    of = (struct prune){ .run = p->run,
                         .folder = folder,
                         .keeps_summary = summary.is_there,
                         .counts_only = p->options->dry_run,
                         .pruned = &p->pruned };
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        fail(&of, "files", errno);
        return false;
    }
    if (!p->options->dry_run)
        mark(p, doc, folder, fd, batch_run, &summary);
    prune_folder(&of, fd);
    return true;
}

static void tell(const struct pruning *p, const struct tm_history_run *row, const struct tm_pruned *before)
{
    char bytes[TM_FORMAT_BYTES];

    (void)printf("%s  %s  %s\n", row->keys.night, tm_format_bytes(bytes, (double)(p->pruned.bytes - before->bytes)),
                 row->id);
}

static tm_status prune_run(void *of, const struct tm_history_run *row)
{
    struct pruning *const p = of;
    const struct tm_batch_run named = { .id = row->id };
    const enum tm_result_status status = tm_result_status_of(row->status);
    const struct tm_pruned before = p->pruned;
    struct tm_history_run changed = *row;
    char folder[TM_OUT_PATH_BYTES];
    struct tm_doc *doc;
    bool is_pruned;

    if (strcmp(row->keys.night, p->oldest) >= 0 || (status != TM_RESULT_DONE && status != TM_RESULT_PARTIAL))
        return TM_OK;
    doc = tm_doc_new(p->run);
    is_pruned = doc && !tm_out_item_folder(p->run, p->out, &named, NULL, folder) && prune_files(p, row, doc, folder);
    tm_doc_free(doc);
    if (tm_failed(p->run) || !is_pruned)
        return p->run->error.status;
    if (p->pruned.files != before.files) {
        p->runs++;
        if (p->options->dry_run && !p->options->json && !p->run->quiet)
            tell(p, row, &before);
    }
    changed.report = "";
    changed.summary = is_kept(p, row->id) ? row->summary : "";
    return p->next && (*row->report || strcmp(changed.summary, row->summary) != 0) ? tm_history_put(p->next, &changed)
                                                                                   : TM_OK;
}

/* --- of all --- */

/* All runs of the job were seen: which of them gates need is known. */
static void end_job(struct pruning *p)
{
    const struct tm_history_query of_job = { .order = TM_HISTORY_BY_JOB, .job = p->job };

    if (!p->job[0])
        return;
    p->kept_count = 0;
    tm_job_past_visit(p->past, keep, p);
    tm_history_visit(p->old, &of_job, prune_run, p);
}

static tm_status see_run(void *of, const struct tm_history_run *row)
{
    struct pruning *const p = of;

    if (strcmp(p->job, row->keys.job) != 0) {
        end_job(p);
        memcpy(p->job, row->keys.job, sizeof(p->job));
        tm_job_past_start(p->past, p->old, p->job);
    }
    if (tm_failed(p->run) || tm_history_is_ahead(&p->judged, row)) /* it is not a baseline, and takes no place of one */
        return p->run->error.status;
    return tm_job_past_add(p->past, row, row->gates);
}

/* A missing manifest counts as none. */
static void read_manifest(struct pruning *p)
{
    char path[TM_OUT_PATH_BYTES];
    struct stat info;

    if (tm_out_path(p->run, p->out, TM_MANIFEST_FILE, path) || stat(path, &info) != 0 ||
        tm_manifest_read(&p->manifest, p->run, path) || !p->manifest.count)
        return;
    p->by_id = tm_take(&p->run->budget, TM_ACCOUNT_MODEL, p->manifest.count * sizeof(*p->by_id), &p->run->error);
    if (!p->by_id)
        return;
    for (size_t i = 0; i < p->manifest.count; i++)
        p->by_id[i] = &p->manifest.runs[i];
    qsort(p->by_id, p->manifest.count, sizeof(*p->by_id), by_id);
}

static void open_all(struct pruning *p)
{
    const struct tm_baseline_choice choice = { .kind = TM_BASELINE_LAST, .most = TM_BASELINE_RUNS };
    char path[TM_OUT_PATH_BYTES];

    tm_history_until(p->judged.until);
    if (tm_out_path(p->run, p->out, TM_HISTORY_FILE, path) || tm_history_open(&p->old, p->run, path) ||
        tm_history_oldest_of(p->old, p->judged.until, p->options->keep, p->oldest) || !p->oldest[0])
        return;
    read_manifest(p);
    if (!tm_failed(p->run) && !p->options->dry_run)
        tm_history_renew(&p->next, p->run, path);
    p->past = tm_job_past_new(p->run, &choice);
}

static void work(struct pruning *p)
{
    const struct tm_history_query all = { .order = TM_HISTORY_BY_JOB };

    open_all(p);
    if (tm_failed(p->run) || !p->oldest[0])
        return;
    tm_history_visit(p->old, &all, see_run, p);
    if (!tm_failed(p->run))
        end_job(p);
    if (!tm_failed(p->run) && p->next)
        tm_history_commit(p->next);
}

static void close_all(struct pruning *p)
{
    tm_job_past_free(p->past);
    tm_history_close(p->next);
    tm_history_close(p->old);
    if (p->by_id)
        tm_give(&p->run->budget, TM_ACCOUNT_MODEL, p->by_id, p->manifest.count * sizeof(*p->by_id));
    tm_manifest_free(&p->manifest);
}

static void print_json(const struct pruning *p)
{
    struct tm_doc *doc = tm_doc_new(p->run);
    struct tm_value *root;

    if (!doc)
        return;
    root = tm_doc_root(doc);
    tm_add_string(root, "schema", "tracemill.prune");
    tm_add_int(root, "schema_version", 1);
    tm_add_text(root, "out", p->out, strlen(p->out));
    tm_add_bool(root, "dry_run", p->options->dry_run);
    if (p->oldest[0])
        tm_add_string(root, "oldest_kept", p->oldest);
    else
        tm_add_null(root, "oldest_kept", "no night is old enough");
    tm_add_uint(root, "runs", p->runs);
    tm_add_uint(root, "files", p->pruned.files);
    tm_add_uint(root, "bytes", p->pruned.bytes);
    if (!tm_failed(p->run))
        tm_print_document(p->run, doc);
    tm_doc_free(doc);
}

static void say(const struct pruning *p)
{
    char bytes[TM_FORMAT_BYTES];

    if (p->run->quiet || (!p->options->dry_run && !isatty(STDOUT_FILENO)))
        return;
    (void)printf("%s of %" PRIu64 " run%s %s\n", tm_format_bytes(bytes, (double)p->pruned.bytes), p->runs,
                 tm_format_plural(p->runs),
                 p->options->dry_run ? "would be removed" : "removed; the next merge updates the index page");
}

static void prune(struct tm_run *run, const struct tm_options *options)
{
    struct pruning *const p = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*p), &run->error);
    int lock = -1;

    if (!p)
        return;
    p->run = run;
    p->options = options;
    p->out = options->inputs[0];
    if (!tm_out_lock(run, p->out, TM_LOCK_AFTER_OTHERS, &lock))
        work(p);
    close_all(p);
    if (!tm_failed(run) && options->json)
        print_json(p);
    else if (!tm_failed(run))
        say(p);
    if (lock >= 0)
        (void)close(lock);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, p, sizeof(*p));
}

static tm_status run_batch_prune(struct tm_run *run, const struct tm_options *options)
{
    const char *const out = options->inputs[0];

    if (tm_mirror_check(run, options, out))
        return run->error.status;
    prune(run, options);
    return options->dry_run ? run->error.status : tm_mirror_put(run, options, out);
}

/* clang-format off */
const struct tm_verb tm_batch_prune_verb = {
    .name = "batch prune",
    .summary = "remove the reports of old nights; the history keeps their figures",
    .usage = "OUT [--keep N] [OPTION...]",
    .description =
        "Removes the files of runs older than the last N nights. Figures and trends are kept, and so are the "
        "summaries that future gates compare with: the last good run and the last seven runs of each job.",
    .examples =
        "tracemill batch prune perf --keep 30 --dry-run    what would be removed, and how much space that frees\n"
        "tracemill batch prune perf --keep 30 --mirror s3://results/perf    in its mirror, too\n",
    .bit = TM_FOR_BATCH_PRUNE,
    .flags = TM_VERB_SPILLS,
    .least = 1,
    .most = 1,
    .run = run_batch_prune,
};
/* clang-format on */
