/* SPDX-License-Identifier: Apache-2.0 */
/* result.json: the record of an item (schemas/BATCH.md).  It is removed before work starts and written after all else
 * is on the disk, so an interruption at any point leaves an item that is not done. */
#include "pipeline/nightly/result.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "pipeline/atomic_file.h"
#include "pipeline/doc/doc.h"
#include "pipeline/doc/run_figures.h"
#include "pipeline/files.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/options.h"
#include "pipeline/process.h"
#include "pipeline/run.h"
#include "reports/compare/compare.h"
#include "reports/findings/summary_query.h"

/* Paths of a batch. */

enum { RUN_DIGITS = 16 }; /* of the hash at the end of an id */

static tm_status print_path(struct tm_run *run, char path[TM_OUT_PATH_BYTES], const char *format, ...) TM_PRINTF(3, 4);

static tm_status print_path(struct tm_run *run, char path[TM_OUT_PATH_BYTES], const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(path, TM_OUT_PATH_BYTES, format, args);
    va_end(args);
    if (n >= 0 && n < TM_OUT_PATH_BYTES)
        return TM_OK;
    return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot use a path that is too long: '%s...'", path);
}

const char *tm_run_place(const char *id, char place[TM_RUN_PLACE_BYTES])
{
    const size_t length = strlen(id);
    const char *const digits = length >= RUN_DIGITS ? id + length - RUN_DIGITS : "";

    if (strspn(digits, "0123456789abcdef") == RUN_DIGITS)
        (void)snprintf(place, TM_RUN_PLACE_BYTES, "runs/%.2s/%s", digits, id);
    else
        (void)snprintf(place, TM_RUN_PLACE_BYTES, "runs/%s", id);
    return place;
}

/* Older versions put all runs into one folder: what is there stays there. */
static bool is_in_one_folder(const char *out, const char *id)
{
    char path[TM_OUT_PATH_BYTES];
    const int length = snprintf(path, sizeof(path), "%s/runs/%s", out, id);

    return length > 0 && (size_t)length < sizeof(path) && access(path, F_OK) == 0;
}

const char *tm_out_run_place(const char *out, const char *id, char place[TM_RUN_PLACE_BYTES])
{
    if (!is_in_one_folder(out, id))
        return tm_run_place(id, place);
    (void)snprintf(place, TM_RUN_PLACE_BYTES, "runs/%s", id);
    return place;
}

tm_status tm_out_item_folder(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                             const struct tm_batch_file *file, char path[TM_OUT_PATH_BYTES])
{
    char place[TM_RUN_PLACE_BYTES];

    (void)tm_out_run_place(out, batch_run->id, place);
    if (!file)
        return print_path(run, path, "%s/%s", out, place);
    return print_path(run, path, "%s/%s/hosts/%s", out, place, file->id);
}

tm_status tm_out_path(struct tm_run *run, const char *out, const char *name, char path[TM_OUT_PATH_BYTES])
{
    return print_path(run, path, "%s/%s", out, name);
}

tm_status tm_input_path(struct tm_run *run, const struct tm_batch_run *batch_run, const struct tm_batch_file *file,
                        char path[TM_OUT_PATH_BYTES])
{
    const size_t length = strlen(batch_run->root);
    const char *slash = !file->path[0] || (length && batch_run->root[length - 1] == '/') ? "" : "/";

    return print_path(run, path, "%s%s%s", batch_run->root, slash, file->path);
}

enum { VERSION = 1, READ_BYTES = 16 << 10, HASH_BYTES = 17 };

static const char schema[] = "tracemill.result";

const char *const tm_result_status_words[] = { "done", "partial", "refused", "failed", "missing" };

enum tm_result_status tm_result_status_of(const char *word)
{
    for (int i = 0; i < TM_RESULT_MISSING; i++)
        if (strcmp(tm_result_status_words[i], word) == 0)
            return (enum tm_result_status)i;
    return TM_RESULT_MISSING;
}

/* --- reading --- */

static bool join(char to[TM_OUT_PATH_BYTES], const char *folder, const char *name)
{
    const int n = snprintf(to, TM_OUT_PATH_BYTES, "%s/%s", folder, name);

    return n >= 0 && n < TM_OUT_PATH_BYTES;
}

static bool read_until(struct tm_doc *doc, struct tm_value *to, const char *folder, const char *until)
{
    struct tm_run *run = tm_doc_run(doc);
    const struct tm_error before = run->error;
    char path[TM_OUT_PATH_BYTES];

    if (!join(path, folder, TM_RESULT_FILE))
        return false;
    if (!tm_doc_read_file_until(doc, to, path, until) && strcmp(tm_text(tm_get(to, "schema")), schema) == 0 &&
        tm_int(tm_get(to, "schema_version")) == VERSION)
        return true;
    run->error = before;
    return false;
}

bool tm_result_read(struct tm_doc *doc, struct tm_value *to, const char *folder)
{
    return read_until(doc, to, folder, NULL);
}

bool tm_result_read_head(struct tm_doc *doc, struct tm_value *to, const char *folder)
{
    return read_until(doc, to, folder, "ops"); /* the last members: tm_result_fill */
}

int64_t tm_result_definitions(const struct tm_value *result)
{
    const int64_t version = tm_int(tm_get(result, "definitions"));

    return version > 0 ? version : 1; /* not recorded in results of version 1 */
}

static bool files_are_there(const struct tm_value *root, const char *folder)
{
    const struct tm_value *files = tm_get(root, "files");
    char path[TM_OUT_PATH_BYTES];
    struct stat info;

    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *file = tm_at(files, i);

        if (!join(path, folder, tm_text(tm_get(file, "name"))) || stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
            info.st_size != tm_int(tm_get(file, "bytes")))
            return false;
    }
    return true;
}

static bool is_text(const struct tm_value *root, const char *path, const char *wanted)
{
    return strcmp(tm_text(tm_path(root, path)), wanted) == 0;
}

static enum tm_result_status status_of(const struct tm_value *root, const char *folder, const char *fingerprint,
                                       const char *options)
{
    const enum tm_result_status status = tm_result_status_of(tm_text(tm_get(root, "status")));

    if (!is_text(root, "fingerprint", fingerprint) || (options && !is_text(root, "options", options)) ||
        !is_text(root, "tool.version", TM_VERSION) || tm_result_definitions(root) != TM_SUMMARY_VERSION)
        return TM_RESULT_MISSING;
    return tm_is(tm_get(root, "pruned")) || files_are_there(root, folder) ? status : TM_RESULT_MISSING;
}

enum tm_result_status tm_result_look(struct tm_run *run, const char *folder, const char *fingerprint,
                                     const char *options, char message[TM_RESULT_MESSAGE_BYTES])
{
    enum tm_result_status status = TM_RESULT_MISSING;
    struct tm_doc *doc = tm_doc_new(run);

    if (message)
        message[0] = '\0';
    if (doc && tm_result_read(doc, tm_doc_root(doc), folder)) {
        status = status_of(tm_doc_root(doc), folder, fingerprint, options);
        if (message)
            (void)snprintf(message, TM_RESULT_MESSAGE_BYTES, "%s", tm_text(tm_get(tm_doc_root(doc), "message")));
    }
    tm_doc_free(doc);
    return status;
}

enum tm_result_status tm_result_pruned(struct tm_run *run, const char *folder, const char *fingerprint)
{
    struct tm_doc *doc = tm_doc_new(run);
    const struct tm_value *root = doc ? tm_doc_root(doc) : NULL;
    const bool is_pruned = doc && tm_result_read(doc, tm_doc_root(doc), folder) && tm_is(tm_get(root, "pruned")) &&
                           is_text(root, "fingerprint", fingerprint);
    const enum tm_result_status status =
        is_pruned ? tm_result_status_of(tm_text(tm_get(root, "status"))) : TM_RESULT_MISSING;

    tm_doc_free(doc);
    return status;
}

bool tm_result_stands(enum tm_result_status status, bool retry)
{
    return status == TM_RESULT_DONE || status == TM_RESULT_PARTIAL || (status == TM_RESULT_REFUSED && !retry);
}

/* --- writing --- */

static void add_clean(struct tm_value *to, const char *key, const char *text)
{
    char clean[TM_RESULT_MESSAGE_BYTES];

    tm_clean_text(clean, sizeof(clean), text ? text : "", text ? strlen(text) : 0);
    tm_add_known(to, key, clean, NULL);
}

void tm_result_fill(struct tm_doc *doc, const struct tm_result_about *about)
{
    static const char *const later[] = { "figures", "facts", "verdict", "ops", "scopes" };
    struct tm_value *const root = tm_doc_root(doc);
    struct tm_value *tool;

    tm_add_string(root, "schema", schema);
    tm_add_int(root, "schema_version", VERSION);
    tool = tm_add_object(root, "tool");
    tm_add_string(tool, "name", "tracemill");
    tm_add_string(tool, "version", TM_VERSION);
    tm_add_int(root, "definitions", TM_SUMMARY_VERSION);
    tm_add_string(root, "id", about->batch_run->id);
    add_clean(root, "host", about->file ? about->file->id : NULL);
    tm_add_string(root, "status", tm_result_status_words[about->status]);
    tm_add_int(root, "exit_status", about->exit_status);
    add_clean(root, "message", about->message);
    add_clean(root, "hint", about->hint);
    tm_add_string(root, "fingerprint", about->fingerprint);
    tm_add_string(root, "options", about->options);
    tm_add_bool(root, "pruned", false);
    (void)tm_add_array(root, "files");
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
        tm_add_null(root, later[i], NULL);
}

/* The hash of what is in an open file.  out: 0, or errno */
static int hash_file(int fd, uint64_t *bytes, uint64_t *hash)
{
    uint8_t buffer[READ_BYTES];
    XXH3_state_t *state = XXH3_createState();
    int problem = state ? 0 : ENOMEM;
    size_t got = 1;

    *bytes = 0;
    if (state)
        (void)XXH3_64bits_reset(state);
    while (!problem && got) {
        problem = tm_read_on(fd, buffer, sizeof(buffer), &got);
        if (!problem)
            (void)XXH3_64bits_update(state, buffer, got);
        *bytes += got;
    }
    *hash = state ? XXH3_64bits_digest(state) : 0;
    (void)XXH3_freeState(state);
    return problem;
}

uint64_t tm_content_hash(const char *path)
{
    const int fd = tm_open_to_read(path, O_NOFOLLOW);
    uint64_t bytes, hash = 0;

    if (fd < 0)
        return 0;
    if (hash_file(fd, &bytes, &hash) != 0)
        hash = 0;
    (void)close(fd);
    return hash;
}

uint64_t tm_result_hash(const char *folder)
{
    char path[TM_OUT_PATH_BYTES];

    return join(path, folder, TM_RESULT_FILE) ? tm_content_hash(path) : 0;
}

static tm_status fail_long(struct tm_run *run, const char *folder, const char *name)
{
    return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot use a path that is too long: '%s/%s'", folder, name);
}

static tm_status list_file(struct tm_doc *doc, const char *folder, const char *name)
{
    struct tm_run *run = tm_doc_run(doc);
    struct tm_value *const files = tm_member(tm_doc_root(doc), "files");
    char path[TM_OUT_PATH_BYTES], text[HASH_BYTES];
    uint64_t bytes = 0, hash = 0;
    struct tm_value *file;
    int fd, problem;

    if (tm_length(files) >= TM_RESULT_FILES_MOST)
        return tm_fail(&run->error, TM_ERR_LIMIT, -1, "'%s' has more than %d files", folder, (int)TM_RESULT_FILES_MOST);
    if (!join(path, folder, name))
        return fail_long(run, folder, name);
    fd = tm_open_to_read(path, O_NOFOLLOW);
    problem = fd < 0 ? errno : hash_file(fd, &bytes, &hash);
    if (fd >= 0)
        (void)close(fd);
    if (problem)
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, problem, "cannot read '%s/%s' again", folder, name);
    (void)snprintf(text, sizeof(text), "%016llx", (unsigned long long)hash);
    file = tm_add_object(files, NULL);
    tm_add_string(file, "name", name);
    tm_add_uint(file, "bytes", bytes);
    tm_add_string(file, "xxh3", text);
    return TM_OK;
}

/* Names of the files of a folder, as an atomic folder gives them. */
struct names {
    size_t count;
    char name[TM_RESULT_FILES_MOST][TM_FOLDER_NAME_BYTES];
};

static int by_bytes(const void *a, const void *b)
{
    return strcmp(a, b);
}

static tm_status read_names(struct tm_run *run, const char *path, struct names *names)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;

    if (!dir)
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot read '%s' again", path);
    while ((entry = readdir(dir)) != NULL && names->count < TM_RESULT_FILES_MOST) {
        const size_t length = strlen(entry->d_name);

        if (entry->d_name[0] != '.' && length < TM_FOLDER_NAME_BYTES)
            memcpy(names->name[names->count++], entry->d_name, length + 1);
    }
    (void)closedir(dir);
    qsort(names->name, names->count, sizeof(names->name[0]), by_bytes);
    return TM_OK;
}

static void list_folder(struct tm_doc *doc, const char *folder, const char *name)
{
    struct tm_run *run = tm_doc_run(doc);
    struct names *names = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*names), &run->error);
    char path[TM_OUT_PATH_BYTES];

    if (!names)
        return;
    if (join(path, folder, name))
        read_names(run, path, names);
    else
        (void)fail_long(run, folder, name);
    for (size_t i = 0; i < names->count && !tm_failed(run); i++) {
        (void)snprintf(path, sizeof(path), "%.64s%s", name, names->name[i]);
        list_file(doc, folder, path);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, names, sizeof(*names));
}

tm_status tm_result_list(struct tm_doc *doc, const char *folder, const char *const *made, size_t count)
{
    struct tm_run *run = tm_doc_run(doc);

    for (size_t i = 0; i < count && !tm_failed(run); i++) {
        const size_t length = strlen(made[i]);

        if (length && made[i][length - 1] == '/')
            list_folder(doc, folder, made[i]);
        else
            list_file(doc, folder, made[i]);
    }
    return run->error.status;
}

tm_status tm_result_write(struct tm_run *run, const char *folder, const struct tm_doc *doc)
{
    struct tm_atomic_file file = { .stream = NULL };

    tm_make_folder(run, folder);
    if (!tm_atomic_open(&file, run, folder, TM_RESULT_FILE)) {
        tm_doc_print(doc, run, fileno(file.stream));
        /* If a power loss removes its name, the item is done again; the files that it describes are on the disk before
         * it. */
        tm_atomic_give_name(&file);
    }
    tm_atomic_abort(&file);
    return run->error.status;
}

/* --- removing --- */

static void remove_outputs(int folder, const char *const *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char name[TM_FOLDER_NAME_BYTES];
        const int n = snprintf(name, sizeof(name), "%s", outputs[i]);

        if (n <= 0 || (size_t)n >= sizeof(name))
            continue;
        if (name[n - 1] != '/') {
            (void)unlinkat(folder, name, 0);
            continue;
        }
        name[n - 1] = '\0';
        (void)tm_left_behind_remove_tables(folder, name);
    }
}

static tm_status remove_in(struct tm_run *run, const char *folder, DIR *dir, const char *const *outputs, size_t count)
{
    const int fd = dirfd(dir);
    bool is_removed = unlinkat(fd, TM_RESULT_FILE, 0) == 0;

    if (!is_removed && errno != ENOENT)
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot remove '%s/%s'", folder, TM_RESULT_FILE);
    if (is_removed) /* before the files that it describes: after a power cut it must not reappear alone */
        (void)fsync(fd);
    tm_left_behind_remove(dir, true);
    remove_outputs(fd, outputs, count);
    return TM_OK;
}

tm_status tm_result_remove(struct tm_run *run, const char *folder, const char *const *outputs, size_t count)
{
    DIR *dir = opendir(folder);
    tm_status st = TM_OK;

    if (!dir && errno == ENOENT)
        return TM_OK;
    if (!dir)
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot use '%s'", folder);
    st = remove_in(run, folder, dir, outputs, count);
    (void)closedir(dir);
    return st;
}

/* --- the figures of a run, found in its summary ---
 *
 * A figure that the summary does not have is null, never 0. */

/* The figure at a path with at most one "[*]". */
static double at_path(const struct tm_value *summary, const char *path)
{
    const char *const each = strstr(path, "[*]");
    char head[128];
    double most = NAN;

    if (!each)
        return tm_double_or_nan(tm_path(summary, path));
    assert((size_t)(each - path) < sizeof(head));
    (void)snprintf(head, sizeof(head), "%.*s", (int)(each - path), path);

    const struct tm_value *const list = tm_path(summary, head);

    for (size_t i = 0; i < tm_length(list); i++) {
        const double value = tm_double_or_nan(tm_path(tm_at(list, i), each + 3));

        if (isnan(most) || value > most)
            most = value;
    }
    return most;
}

static double value_of(const struct tm_value *summary, const struct tm_run_figure *figure)
{
    double part[TM_PARTS], total, sum = 0;

    if (figure->is_of_steps && !tm_has_steps(summary))
        return NAN;
    if (!tm_figure_is_of_parts(figure)) {
        const double value = at_path(summary, figure->path) * (figure->scale > 0 ? figure->scale : 1);

        return figure->kind == TM_DOC_TIME ? round(value) : value;
    }
    if (!tm_step_parts(summary, part, &total))
        return NAN;
    for (int i = 0; i < TM_PARTS; i++)
        sum += figure->parts >> i & 1 ? part[i] : 0;
    return round(sum);
}

static void add_count(struct tm_value *to, const char *key, const struct tm_value *count)
{
    if (tm_has(count))
        tm_add_int(to, key, tm_int(count));
    else
        tm_add_null(to, key, NULL);
}

const struct tm_environment_fact tm_environment_facts[] = {
    [TM_ENV_HOST] = { "host", "host", TM_SERIES_HOST },
    [TM_ENV_DRIVER] = { "driver", "driver", TM_SERIES_DRIVER },
    [TM_ENV_FRAMEWORK] = { "framework", "framework", TM_SERIES_LIBRARIES },
    [TM_ENV_JAX] = { "jax", "JAX", TM_SERIES_LIBRARIES },
    [TM_ENV_JAXLIB] = { "jaxlib", "jaxlib", TM_SERIES_LIBRARIES },
    [TM_ENV_CUDA] = { "cuda", "CUDA", TM_SERIES_LIBRARIES },
    [TM_ENV_ROCM] = { "rocm", "ROCm", TM_SERIES_LIBRARIES },
    [TM_ENV_LIBTPU] = { "libtpu", "libtpu", TM_SERIES_LIBRARIES },
};

enum { FACT_BYTES = 160 };

/* A fact of all hosts: each value once, as long as there is room; of their names only the first. */
static void add_of_hosts(struct tm_value *to, enum tm_environment_key of, const struct tm_value *hosts)
{
    const char *const key = tm_environment_facts[of].key;
    char text[FACT_BYTES] = "";

    for (size_t i = 0; i < tm_length(hosts); i++) {
        const char *const value = tm_text(tm_get(tm_at(hosts, i), key));
        const size_t used = strlen(text), length = strlen(value);

        if (!length || strstr(text, value) || used + length + 3 > sizeof(text))
            continue;
        (void)snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "", value);
        if (of == TM_ENV_HOST)
            break;
    }
    tm_add_known(to, key, text, NULL);
}

void tm_result_figures(struct tm_value *to, const struct tm_value *summary)
{
    const struct tm_value *const hosts = tm_path(summary, "input.hosts");
    struct tm_value *part = tm_add_object(to, "figures");

    for (size_t i = 0; i < tm_figure_count; i++)
        tm_add_double(part, tm_figure_table[i].id, value_of(summary, &tm_figure_table[i]));
    part = tm_add_object(to, "facts");
    tm_add_known(part, "run", tm_text(tm_path(summary, "input.run")), NULL);
    tm_add_uint(part, "hosts", tm_length(hosts));
    add_count(part, "devices", tm_path(summary, "total.devices"));
    tm_add_known(part, "platform", tm_text(tm_path(summary, "environment.platform")), NULL);
    tm_add_known(part, "model", tm_device_model(summary), NULL);
    tm_add_bool(part, "partial", tm_is(tm_path(summary, "input.partial")));
    for (int i = 0; i < TM_ENV_KEYS; i++)
        add_of_hosts(part, (enum tm_environment_key)i, tm_path(summary, "environment.hosts"));
    part = tm_add_object(to, "verdict");
    tm_add_known(part, "text", tm_text(tm_path(summary, "verdict.text")), NULL);
    tm_add_known(part, "severity", tm_text(tm_path(summary, "verdict.severity")), NULL);
    tm_add_known(part, "finding", tm_text(tm_path(summary, "findings[0].title")), NULL);
}
