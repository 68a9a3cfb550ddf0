/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest from a file that anybody may have written: line by line, each a document that is freed after it was read.
 * What it names stays below its roots, and ids are names of folders. */
#include "pipeline/nightly/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/discover.h"
#include "pipeline/doc/doc.h"
#include "pipeline/files.h"
#include "pipeline/remote.h"
#include "pipeline/run.h"
#include "pipeline/strings.h"

enum { TM_BATCH_PATH_MOST = TM_FOUND_NAME_BYTES - 1, TM_BATCH_NAME_MOST = TM_FOUND_NAME_BYTES - 1 };

/* How the rows and strings of a manifest are stored: strings and files in chunks that are freed together, runs in one
 * array that grows.  All of it is in the account `model`, to which the ledger is dedicated meanwhile. */

enum { CHUNK_BYTES = 64 << 10, RUNS_FIRST = 64 };

struct tm_manifest_chunk {
    struct tm_manifest_chunk *next;
    size_t bytes; /* all of it */
};

void tm_manifest_begin(struct tm_manifest *manifest, struct tm_run *run)
{
    *manifest = (struct tm_manifest){ .run = run };
    tm_budget_dedicate(&run->budget, TM_ACCOUNT_MODEL);
}

static bool has_room(struct tm_run *run, size_t more)
{
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_MODEL);

    if (more <= share && run->budget.used_bytes[TM_ACCOUNT_MODEL] <= share - more)
        return true;
    (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "the list of traces does not fit in memory");
    tm_hint(&run->error, "raise --memory, or process subfolders as separate batches");
    return false;
}

static void *add_chunk(struct tm_manifest *m, size_t bytes)
{
    struct tm_run *run = m->run;
    struct tm_manifest_chunk *chunk = NULL;

    if (has_room(run, bytes))
        chunk = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    if (!chunk)
        return NULL;
    chunk->next = m->chunks;
    chunk->bytes = bytes;
    m->chunks = chunk;
    return chunk + 1;
}

void *tm_manifest_take(struct tm_manifest *manifest, size_t bytes)
{
    const size_t head = sizeof(struct tm_manifest_chunk);
    const size_t rounded = (bytes + 7) & ~(size_t)7;

    if (rounded > manifest->chunk_left) {
        if (rounded > CHUNK_BYTES / 4) {
            manifest->chunk_left = 0; /* what is left of the last chunk is not the newest one's any more */
            return add_chunk(manifest, head + rounded);
        }
        if (!add_chunk(manifest, CHUNK_BYTES))
            return NULL;
        manifest->chunk_left = CHUNK_BYTES - head;
    }
    manifest->chunk_left -= rounded;
    return (uint8_t *)manifest->chunks + head + manifest->chunk_left;
}

char *tm_manifest_copy(struct tm_manifest *manifest, const char *text, size_t length)
{
    char *copy = tm_manifest_take(manifest, length + 1);

    if (copy)
        memcpy(copy, text, length);
    return copy;
}

/* The text of the run before, where it is the same. */
static const char *share_text(struct tm_manifest *m, const char *text, const char *before)
{
    if (!text[0])
        return "";
    return before && strcmp(text, before) == 0 ? before : tm_manifest_copy(m, text, strlen(text));
}

tm_status tm_manifest_keys(struct tm_manifest *manifest, struct tm_batch_keys *to, const struct tm_run_keys *keys)
{
    const struct tm_batch_keys none = { .job = NULL };
    const struct tm_batch_keys *before = manifest->count ? &manifest->runs[manifest->count - 1].keys : &none;

    *to = (struct tm_batch_keys){
        .job = share_text(manifest, keys->job, before->job),
        .night = share_text(manifest, keys->night, before->night),
        .revision = share_text(manifest, keys->revision, before->revision),
        .label = share_text(manifest, keys->label, before->label),
        .labels = share_text(manifest, keys->labels, before->labels),
        .training = share_text(manifest, keys->training, before->training),
        .when_ns = keys->when_ns,
        .step = keys->step,
    };
    return to->job && to->night && to->revision && to->label && to->labels && to->training
               ? TM_OK
               : manifest->run->error.status;
}

static void copy_key(char *to, size_t bytes, const char *text)
{
    (void)snprintf(to, bytes, "%s", text);
}

void tm_batch_keys_copy(struct tm_run_keys *to, const struct tm_batch_keys *keys)
{
    *to = (struct tm_run_keys){ .when_ns = keys->when_ns, .step = keys->step };
    copy_key(to->job, sizeof(to->job), keys->job);
    copy_key(to->night, sizeof(to->night), keys->night);
    copy_key(to->revision, sizeof(to->revision), keys->revision);
    copy_key(to->label, sizeof(to->label), keys->label);
    copy_key(to->labels, sizeof(to->labels), keys->labels);
    copy_key(to->training, sizeof(to->training), keys->training);
}

tm_status tm_manifest_add(struct tm_manifest *manifest, const struct tm_batch_run *batch_run)
{
    struct tm_run *run = manifest->run;
    const size_t row = sizeof(*manifest->runs);
    const uint64_t most = tm_raised_limit(run, TM_MANIFEST_FILES_MOST);

    if (batch_run->files > most - manifest->files) {
        (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "there are more than %" PRIu64 " traces", most);
        tm_limit_hint(run, "process subfolders as separate batches");
        return TM_ERR_LIMIT;
    }
    if (manifest->count == manifest->capacity) {
        const size_t wanted = manifest->capacity ? 2 * manifest->capacity : RUNS_FIRST;
        struct tm_batch_run *runs = NULL;

        if (has_room(run, (wanted - manifest->capacity) * row))
            runs = tm_retake(&run->budget, TM_ACCOUNT_MODEL, manifest->runs, manifest->capacity * row, wanted * row,
                             &run->error);
        if (!runs)
            return run->error.status;
        manifest->runs = runs;
        manifest->capacity = wanted;
    }
    manifest->runs[manifest->count++] = *batch_run;
    manifest->files += batch_run->files;
    manifest->bytes += batch_run->bytes;
    return TM_OK;
}

static void free_chunks(struct tm_run *run, struct tm_manifest_chunk **chunks)
{
    while (*chunks) {
        struct tm_manifest_chunk *chunk = *chunks;

        *chunks = chunk->next;
        tm_give(&run->budget, TM_ACCOUNT_MODEL, chunk, chunk->bytes);
    }
}

void tm_manifest_free(struct tm_manifest *manifest)
{
    struct tm_run *run = manifest->run;

    if (!run)
        return;
    free_chunks(run, &manifest->chunks);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, manifest->runs, manifest->capacity * sizeof(*manifest->runs));
    tm_budget_end_dedication(&run->budget);
    *manifest = (struct tm_manifest){ .run = NULL };
}

int tm_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t tm_count_distinct(struct tm_run *run, const void *rows, size_t count, size_t each, size_t at)
{
    const size_t bytes = (count + 1) * sizeof(char *);
    const char **texts = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    size_t distinct = 0;

    if (!texts)
        return count;
    for (size_t i = 0; i < count; i++)
        memcpy(&texts[i], (const char *)rows + i * each + at, sizeof(texts[i]));
    qsort(texts, count, sizeof(*texts), tm_by_text);
    for (size_t i = 0; i < count; i++)
        distinct += texts[i][0] != '\0' && (i == 0 || strcmp(texts[i - 1], texts[i]) != 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, texts, bytes);
    return distinct;
}

tm_status tm_manifest_check_ids(const struct tm_manifest *manifest)
{
    struct tm_run *run = manifest->run;

    if (tm_count_distinct(run, manifest->runs, manifest->count, sizeof(*manifest->runs),
                          offsetof(struct tm_batch_run, id)) < manifest->count)
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot use a list in which two runs have the same id");
    return run->error.status;
}

bool tm_path_is_below(const char *path)
{
    const char *part = path;

    if (!path[0])
        return true;
    for (;;) {
        const size_t length = strcspn(part, "/");

        if (length == 0 || (length <= 2 && strncmp(part, "..", length) == 0))
            return false;
        part += length;
        if (!*part++)
            return true;
    }
}

enum { BUFFER_FIRST = 256 << 10, ROOTS_MOST = 100000 };

struct reading {
    struct tm_manifest *manifest;
    struct tm_run *run;
    const char *path; /* of the manifest */
    int fd;
    char *buffer;
    size_t capacity, begin, end; /* what is read and not yet used: [begin, end) */
    bool is_at_end;
    uint64_t line;
    uint64_t told_runs, told_files;
    bool is_lines; /* some lines of a manifest, perhaps without the first one */
};

static tm_status refuse(const struct reading *r, const char *reason)
{
    (void)tm_fail(&r->run->error, TM_ERR_INPUT, -1, "cannot use line %" PRIu64 " of '%s': %s", r->line, r->path,
                  reason);
    tm_hint(&r->run->error, "create the list again: 'tracemill batch scan ROOT -o FILE'");
    return TM_ERR_INPUT;
}

/* --- lines --- */

static tm_status fill(struct reading *r)
{
    const size_t used = r->end - r->begin;
    size_t got;
    int problem;

    memmove(r->buffer, r->buffer + r->begin, used);
    r->begin = 0;
    r->end = used;
    if (used == r->capacity) {
        char *grown;

        if (r->capacity > TM_DOC_BYTES_MOST)
            return tm_fail(&r->run->error, TM_ERR_LIMIT, -1, "line %" PRIu64 " of '%s' has more than %d MiB", r->line,
                           r->path, TM_DOC_BYTES_MOST >> 20);
        grown = tm_retake(&r->run->budget, TM_ACCOUNT_INPUT, r->buffer, r->capacity, 2 * r->capacity, &r->run->error);
        if (!grown)
            return r->run->error.status;
        r->buffer = grown;
        r->capacity *= 2;
    }
    problem = tm_read_on(r->fd, r->buffer + r->end, r->capacity - r->end, &got);
    if (problem)
        return tm_fail_system(&r->run->error, TM_ERR_INPUT, -1, problem, "cannot read '%s'", r->path);
    r->end += got;
    r->is_at_end = got == 0;
    return TM_OK;
}

/* The next line, without its end: a view until the next call.  NULL = there is none, or a failure */
static const char *next_line(struct reading *r, size_t *length)
{
    size_t looked_at = 0;

    r->line++;
    while (!tm_failed(r->run)) {
        const char *at = r->buffer + r->begin;
        const char *line_end = memchr(at + looked_at, '\n', r->end - r->begin - looked_at);

        if (line_end) {
            *length = (size_t)(line_end - at);
            r->begin += *length + 1;
            return at;
        }
        looked_at = r->end - r->begin;
        if (r->is_at_end && looked_at == 0)
            return NULL;
        if (r->is_at_end)
            (void)refuse(r, "it is incomplete: the list is truncated");
        else
            (void)fill(r);
    }
    return NULL;
}

/* --- values --- */

static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int nibble_of(char c)
{
    return nibble(c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c);
}

/* The text of a member, or the bytes of the one beside it.  NULL = there is none, or it is too long or not right */
static char *read_bytes(struct reading *r, const struct tm_value *from, const char *key)
{
    char hex_key[32];
    const char *text = tm_text(tm_get(from, key)), *hex;
    size_t length = strlen(text);
    char *copy;

    (void)snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
    hex = tm_text(tm_get(from, hex_key));
    if (hex[0])
        length = strlen(hex) / 2;
    if (tm_type_of(tm_get(from, key)) != TM_STRING || length > TM_BATCH_PATH_MOST || (hex[0] && strlen(hex) % 2))
        return NULL;
    copy = tm_manifest_copy(r->manifest, hex[0] ? "" : text, hex[0] ? 0 : length);
    if (!copy || !hex[0])
        return copy;
    copy = tm_manifest_take(r->manifest, length + 1);
    for (size_t i = 0; i < length && copy; i++) {
        const int high = nibble(hex[2 * i]), low = nibble(hex[2 * i + 1]);

        if (high < 0 || low < 0 || (high == 0 && low == 0))
            return NULL;
        copy[i] = (char)(high << 4 | low);
    }
    return copy;
}

/* A string without control characters.  NULL = there is none, or it is too long or not right */
static char *read_text(struct reading *r, const struct tm_value *from, const char *key, size_t most)
{
    const struct tm_value *value = tm_get(from, key);
    const char *text = tm_text(value);
    const size_t length = strlen(text);

    if (tm_type_of(value) != TM_STRING || length > most)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return NULL;
    }
    return tm_manifest_copy(r->manifest, text, length);
}

static bool is_count(const struct tm_value *value)
{
    return tm_type_of(value) == TM_INT && tm_int(value) >= 0;
}

/* What failed: memory, or the text. */
static tm_status refuse_value(const struct reading *r, const char *reason)
{
    return tm_failed(r->run) ? r->run->error.status : refuse(r, reason);
}

/* --- lines as rows --- */

static tm_status read_file(struct reading *r, const struct tm_value *from, struct tm_batch_file *to)
{
    const char *fingerprint = tm_text(tm_get(from, "fingerprint"));

    *to = (struct tm_batch_file){
        .path = read_bytes(r, from, "path"),
        .host = read_text(r, from, "host", TM_HOST_MOST + 16),
        .id = read_text(r, from, "id", TM_RUN_ID_BYTES - 1),
        .version = tm_has(tm_get(from, "version")) ? read_text(r, from, "version", TM_VERSION_BYTES - 1) : "",
        .bytes = (uint64_t)tm_int(tm_get(from, "bytes")),
        .mtime_ns = tm_int(tm_get(from, "mtime_ns")),
    };
    if (!to->path || !to->path[0] || !tm_path_is_below(to->path))
        return refuse_value(r, "the path of a trace is missing, or not below its root");
    if (!to->host || !to->id || !tm_is_run_id(to->id))
        return refuse_value(r, "a trace has no host, or an id that cannot be used");
    if (!to->version)
        return refuse_value(r, "the version of a trace cannot be used");
    if (tm_has(tm_get(from, "member"))) {
        to->member = read_bytes(r, from, "member");
        to->position = (uint64_t)tm_int(tm_get(from, "position"));
        if (!to->member || !to->member[0] || !is_count(tm_get(from, "position")) || to->position == 0)
            return refuse_value(r, "a member of an archive has no name, or no position");
    }
    if (!is_count(tm_get(from, "bytes")) || tm_type_of(tm_get(from, "mtime_ns")) != TM_INT)
        return refuse(r, "a trace has no size, or no time");
    if (fingerprint[0] && (strlen(fingerprint) != TM_FINGERPRINT_BYTES - 1 ||
                           strspn(fingerprint, "0123456789abcdef") != TM_FINGERPRINT_BYTES - 1))
        return refuse(r, "a fingerprint cannot be used");
    (void)snprintf(to->fingerprint, sizeof(to->fingerprint), "%s", fingerprint);
    return TM_OK;
}

static void read_files(struct reading *r, const struct tm_value *from, struct tm_batch_run *to)
{
    to->files = tm_length(from);
    if (tm_type_of(from) != TM_ARRAY || to->files == 0)
        (void)refuse(r, "a run has no traces");
    else if (to->files > tm_raised_limit(r->run, TM_MANIFEST_FILES_MOST))
        (void)refuse(r, "a run has too many traces");
    if (tm_failed(r->run))
        return;
    to->file = tm_manifest_take(r->manifest, to->files * sizeof(*to->file));
    if (!to->file)
        return;
    for (size_t i = 0; i < to->files; i++) {
        if (read_file(r, tm_at(from, i), &to->file[i]))
            return;
        if (to->file[i].bytes > INT64_MAX - to->bytes) {
            (void)refuse(r, "its sizes are inconsistent");
            return;
        }
        to->bytes += to->file[i].bytes;
    }
    /* they are few, except for hostile lists */
    if (tm_count_distinct(r->run, to->file, to->files, sizeof(*to->file), offsetof(struct tm_batch_file, id)) <
        to->files)
        (void)refuse(r, "two traces of a run have the same id");
}

/* out: false if it is too long, or no text */
static bool take_key(char *to, size_t bytes, const struct tm_value *value)
{
    const char *text = tm_text(value);

    if (tm_has(value) && (tm_type_of(value) != TM_STRING || strlen(text) >= bytes))
        return false;
    tm_clean_text(to, bytes, text, strlen(text));
    return true;
}

static void read_keys(struct reading *r, const struct tm_value *from, struct tm_batch_keys *to)
{
    struct tm_run_keys *keys = tm_take(&r->run->budget, TM_ACCOUNT_MODEL, sizeof(*keys), &r->run->error);
    const struct tm_value *step = tm_get(from, "step");

    if (!keys)
        return;
    keys->when_ns = tm_int(tm_get(from, "when_ns"));
    keys->step = tm_has(step) ? tm_int(step) : -1;
    if (!take_key(keys->job, sizeof(keys->job), tm_get(from, "job")) || !keys->job[0] ||
        !take_key(keys->night, sizeof(keys->night), tm_get(from, "night")) || !tm_is_night(keys->night) ||
        !take_key(keys->revision, sizeof(keys->revision), tm_get(from, "revision")) ||
        !take_key(keys->label, sizeof(keys->label), tm_get(from, "label")) ||
        (tm_has(tm_get(from, "labels")) && !take_key(keys->labels, sizeof(keys->labels), tm_get(from, "labels"))) ||
        !take_key(keys->training, sizeof(keys->training), tm_get(from, "training")) ||
        tm_type_of(tm_get(from, "when_ns")) != TM_INT || (tm_has(step) && !is_count(step)))
        (void)refuse(r, "the keys of a run cannot be used");
    else
        tm_manifest_keys(r->manifest, to, keys);
    tm_give(&r->run->budget, TM_ACCOUNT_MODEL, keys, sizeof(*keys));
}

/* The root of a file: its URI without its path.  NULL = it has none, or one of another kind */
static const char *root_of_uri(struct reading *r, const struct tm_value *file)
{
    const char *uri = tm_text(tm_get(file, "uri"));
    const char *const path = read_bytes(r, file, "path");
    char *const root = tm_manifest_copy(r->manifest, "", 0) ? tm_manifest_take(r->manifest, strlen(uri) + 2) : NULL;
    const bool is_file = strncmp(uri, "file:///", 8) == 0;
    size_t length = 0;

    if (!root || !path || (!is_file && !strstr(uri, "://")))
        return NULL;
    for (uri += is_file ? 7 : 0; *uri; uri++) {
        const int high = *uri == '%' ? nibble_of(uri[1]) : -1, low = high >= 0 ? nibble_of(uri[2]) : -1;

        root[length++] = low >= 0 ? (char)(high << 4 | low) : *uri;
        uri += low >= 0 ? 2 : 0;
    }
    const size_t tail = strlen(path);

    if (length <= tail || strlen(root) != length || strcmp(root + length - tail, path) != 0 ||
        root[length - tail - 1] != '/')
        return NULL;
    length -= tail + 1;
    root[length ? length : 1] = '\0';
    return is_file && root[1] && !tm_path_is_below(root + 1) ? NULL : root;
}

static tm_status read_run(struct reading *r, const struct tm_value *from)
{
    struct tm_manifest *m = r->manifest;
    const struct tm_value *root = tm_get(from, "root");
    struct tm_batch_run to = {
        .id = read_text(r, from, "id", TM_RUN_ID_BYTES - 1),
        .path = read_bytes(r, from, "path"),
        .name = read_text(r, from, "run", TM_BATCH_NAME_MOST),
    };

    if (!to.id || !tm_is_run_id(to.id))
        return refuse_value(r, "a run has no id, or one that cannot be used");
    if (!to.path || !tm_path_is_below(to.path))
        return refuse_value(r, "the path of a run is missing, or not below its root");
    if (!to.name)
        return refuse_value(r, "a run has no name");
    if (r->is_lines && !m->root_count)
        to.root = root_of_uri(r, tm_at(tm_get(from, "files"), 0));
    else if (is_count(root) && (uint64_t)tm_int(root) < m->root_count)
        to.root = m->roots[tm_int(root)];
    if (!to.root)
        return refuse_value(r, "a run has no root");
    read_keys(r, tm_get(from, "keys"), &to.keys);
    if (!tm_failed(r->run))
        read_files(r, tm_get(from, "files"), &to);
    if (to.bytes > INT64_MAX - m->bytes)
        (void)refuse(r, "its sizes are inconsistent");
    return tm_failed(r->run) ? r->run->error.status : tm_manifest_add(m, &to);
}

static tm_status read_roots(struct reading *r, const struct tm_value *from)
{
    struct tm_manifest *m = r->manifest;
    const size_t count = tm_length(from);

    if (tm_type_of(from) != TM_ARRAY || count == 0 || count > ROOTS_MOST)
        return refuse(r, "it contains no roots");
    m->roots = tm_manifest_take(m, count * sizeof(*m->roots));
    for (size_t i = 0; i < count && m->roots; i++) {
        char *root = read_bytes(r, tm_at(from, i), "path");

        if (!root || (!tm_remote_is(root) && (root[0] != '/' || (root[1] && !tm_path_is_below(root + 1)))))
            return refuse_value(r, "a root is not an absolute path");
        m->roots[m->root_count++] = root;
    }
    return m->roots ? TM_OK : r->run->error.status;
}

static tm_status read_header(struct reading *r, const struct tm_value *from)
{
    if (strcmp(tm_text(tm_get(from, "schema")), "tracemill.manifest") != 0)
        return refuse(r, "it is not a manifest");
    if (tm_int(tm_get(from, "schema_version")) != 1)
        return refuse(r, "it has a different version");
    if (!is_count(tm_get(from, "runs")) || !is_count(tm_get(from, "files")))
        return refuse(r, "it does not give the number of runs");
    r->told_runs = (uint64_t)tm_int(tm_get(from, "runs"));
    r->told_files = (uint64_t)tm_int(tm_get(from, "files"));
    return read_roots(r, tm_get(from, "roots"));
}

static void read_line(struct reading *r, const char *text, size_t length)
{
    struct tm_doc *doc = tm_doc_new(r->run);

    if (!doc)
        return;
    if (tm_doc_read(doc, tm_doc_root(doc), text, length, r->path))
        (void)tm_while(&r->run->error, "reading line %" PRIu64, r->line);
    else if (r->line == 1 &&
             !(r->is_lines && tm_has(tm_get(tm_doc_root(doc), "files")) && !tm_has(tm_get(tm_doc_root(doc), "schema"))))
        (void)read_header(r, tm_doc_root(doc));
    else
        (void)read_run(r, tm_doc_root(doc));
    tm_doc_free(doc);
}

static void read_lines(struct reading *r)
{
    const struct tm_manifest *m = r->manifest;
    const char *text;
    size_t length;

    while ((text = next_line(r, &length)))
        read_line(r, text, length);
    if (tm_failed(r->run))
        return;
    if (r->is_lines ? m->count == 0 : m->root_count == 0)
        (void)refuse(r, "it is empty");
    else if (!r->is_lines && (m->count != r->told_runs || m->files != r->told_files))
        (void)refuse(r, "the number of runs differs from the first line: the list is truncated");
    else
        tm_manifest_check_ids(m);
}

static void open_reading(struct reading *r)
{
    r->capacity = BUFFER_FIRST;
    r->fd = tm_open_to_read(r->path, 0);
    if (r->fd < 0)
        (void)tm_fail_system(&r->run->error, TM_ERR_INPUT, -1, errno, "cannot open '%s'", r->path);
    else
        r->buffer = tm_take(&r->run->budget, TM_ACCOUNT_INPUT, r->capacity, &r->run->error);
}

static void close_reading(const struct reading *r)
{
    tm_give(&r->run->budget, TM_ACCOUNT_INPUT, r->buffer, r->buffer ? r->capacity : 0);
    if (r->fd >= 0)
        (void)close(r->fd);
}

tm_status tm_manifest_read(struct tm_manifest *manifest, struct tm_run *run, const char *path)
{
    struct reading r = { .manifest = manifest, .run = run, .path = path };

    tm_manifest_begin(manifest, run);
    open_reading(&r);
    if (r.buffer)
        read_lines(&r);
    close_reading(&r);
    return run->error.status;
}

tm_status tm_manifest_read_lines(struct tm_manifest *manifest, struct tm_run *run)
{
    struct reading r = { .manifest = manifest, .run = run, .path = "stdin", .is_lines = true, .fd = STDIN_FILENO };

    tm_manifest_begin(manifest, run);
    r.capacity = BUFFER_FIRST;
    r.buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, r.capacity, &run->error);
    if (r.buffer)
        read_lines(&r);
    r.fd = -1;
    close_reading(&r);
    return run->error.status;
}

/* --- run by run --- */

struct tm_known_runs {
    struct reading reading;
    struct tm_manifest manifest;     /* of the header, then with the current run alone */
    struct tm_manifest_chunk *roots; /* what the header took */
    bool is_at_end;                  /* or cannot be read any further */
};

/* A single chunk is used again for the next run: what was taken from it, at its end, is zeroed. */
static void drop_run(struct tm_known_runs *known)
{
    struct tm_manifest *const m = &known->manifest;
    const size_t head = sizeof(struct tm_manifest_chunk);

    if (m->chunks && !m->chunks->next && m->chunks->bytes == CHUNK_BYTES) {
        memset((uint8_t *)m->chunks + head + m->chunk_left, 0, CHUNK_BYTES - head - m->chunk_left);
        m->chunk_left = CHUNK_BYTES - head;
    } else {
        free_chunks(m->run, &m->chunks);
        m->chunk_left = 0;
    }
    m->count = m->files = m->bytes = 0;
}

/* An unusable manifest is not an error of the scan: it then knows no more files. */
static void next_known(struct tm_known_runs *known)
{
    struct reading *const r = &known->reading;
    const struct tm_error before = r->run->error;
    const char *text;
    size_t length = 0;

    drop_run(known);
    text = next_line(r, &length);
    if (text)
        read_line(r, text, length);
    known->is_at_end = !text || tm_failed(r->run);
    r->run->error = before;
}

struct tm_known_runs *tm_known_open(struct tm_run *run, const char *path)
{
    const struct tm_error before = run->error;
    struct tm_known_runs *const known = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*known), &run->error);

    if (known) {
        known->manifest = (struct tm_manifest){ .run = run };
        known->reading = (struct reading){ .manifest = &known->manifest, .run = run, .path = path };
        open_reading(&known->reading);
        next_known(known);
        known->is_at_end |= !known->manifest.roots;
        known->roots = known->manifest.chunks;
        known->manifest.chunks = NULL;
        known->manifest.chunk_left = 0;
    }
    run->error = before;
    return known;
}

const struct tm_batch_run *tm_known_find(struct tm_known_runs *known, const char *root, const char *path)
{
    while (known && !known->is_at_end) {
        const struct tm_batch_run *const at = known->manifest.count ? known->manifest.runs : NULL;
        int order = at ? strcmp(at->root, root) : -1;

        if (at && order == 0)
            order = strcmp(at->path, path);
        if (order >= 0)
            return order == 0 ? at : NULL;
        next_known(known);
    }
    return NULL;
}

void tm_known_close(struct tm_known_runs *known)
{
    if (!known)
        return;
    struct tm_run *const run = known->manifest.run;

    free_chunks(run, &known->manifest.chunks);
    free_chunks(run, &known->roots);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, known->manifest.runs,
            known->manifest.capacity * sizeof(*known->manifest.runs));
    close_reading(&known->reading);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, known, sizeof(*known));
}

/* A manifest as JSON Lines (schemas/BATCH.md): each line is a separate document, so only one run is in memory twice,
 * never all of them. */

/* Bytes that are not UTF-8, in a member `key`_hex beside. */
static void add_bytes(struct tm_value *to, const char *key, const char *text)
{
    const size_t length = strlen(text);
    char hex_key[32], hex[2 * TM_FOUND_NAME_BYTES + 1];

    tm_add_text(to, key, text, length);
    if (tm_utf8_is_valid(text, length) || 2 * length >= sizeof(hex))
        return;
    (void)snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
    for (size_t i = 0; i < length; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", (unsigned)(unsigned char)text[i]);
    tm_add_string(to, hex_key, hex);
}

/* Which bytes of a path a URI of RFC 3986 has as they are. */
static bool is_plain_in_uri(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~/!$&'()*+,;=:@", c));
}

/* Where a file is, for engines that take lines one by one: a URI.  A root that is one is kept. */
static void add_uri(struct tm_value *to, const char *root, const char *path)
{
    static const char hex[] = "0123456789ABCDEF";
    const bool is_uri = root[0] != '/';
    static char uri[3 * (TM_FOUND_NAME_BYTES + PATH_MAX) + 16]; /* too much for a small stack */
    const char *const parts[] = { is_uri ? "" : root, path };
    size_t used = (size_t)snprintf(uri, sizeof(uri), "%s", is_uri ? root : "file://");

    for (size_t i = 0; i < 2; i++) {
        if (i && uri[used - 1] != '/')
            uri[used++] = '/';
        for (const char *at = parts[i]; *at && used + 4 < sizeof(uri); at++) {
            const unsigned char c = (unsigned char)*at;
            const bool is_plain = is_plain_in_uri(c);

            uri[used++] = is_plain ? *at : '%';
            if (!is_plain) {
                uri[used++] = hex[c >> 4];
                uri[used++] = hex[c & 15];
            }
        }
    }
    uri[used] = '\0';
    tm_add_string(to, "uri", uri);
}

static void add_keys(struct tm_value *to, const struct tm_batch_keys *keys)
{
    tm_add_known(to, "job", keys->job, NULL);
    tm_add_known(to, "night", keys->night, NULL);
    tm_add_int(to, "when_ns", keys->when_ns);
    tm_add_known(to, "revision", keys->revision, NULL);
    tm_add_known(to, "label", keys->label, NULL);
    if (*keys->labels)
        tm_add_string(to, "labels", keys->labels);
    tm_add_known(to, "training", keys->training, NULL);
    if (keys->step >= 0)
        tm_add_int(to, "step", keys->step);
    else
        tm_add_null(to, "step", NULL);
}

static void add_file(struct tm_value *to, const char *root, const struct tm_batch_file *file)
{
    add_bytes(to, "path", file->path);
    add_uri(to, root, file->path);
    if (file->member) {
        add_bytes(to, "member", file->member);
        tm_add_uint(to, "position", file->position);
    }
    tm_add_string(to, "host", file->host);
    tm_add_string(to, "id", file->id);
    tm_add_uint(to, "bytes", file->bytes);
    tm_add_int(to, "mtime_ns", file->mtime_ns);
    if (file->version[0])
        tm_add_string(to, "version", file->version);
    tm_add_string(to, "fingerprint", file->fingerprint);
}

static void add_run(struct tm_value *to, const struct tm_manifest *m, const struct tm_batch_run *batch_run)
{
    struct tm_value *files;
    size_t root = 0;

    while (root + 1 < m->root_count && m->roots[root] != batch_run->root)
        root++;
    tm_add_string(to, "id", batch_run->id);
    tm_add_uint(to, "root", root);
    add_bytes(to, "path", batch_run->path);
    tm_add_string(to, "run", batch_run->name);
    add_keys(tm_add_object(to, "keys"), &batch_run->keys);
    files = tm_add_array(to, "files");
    for (size_t i = 0; i < batch_run->files; i++)
        add_file(tm_add_object(files, NULL), batch_run->root, &batch_run->file[i]);
}

static void add_header(struct tm_value *to, const struct tm_manifest *m)
{
    struct tm_value *roots;

    tm_add_string(to, "schema", "tracemill.manifest");
    tm_add_int(to, "schema_version", 1);
    roots = tm_add_array(to, "roots");
    for (size_t i = 0; i < m->root_count; i++)
        add_bytes(tm_add_object(roots, NULL), "path", m->roots[i]);
    tm_add_uint(to, "runs", m->count);
    tm_add_uint(to, "files", m->files);
    tm_add_uint(to, "bytes", m->bytes);
}

static void print_line(const struct tm_manifest *m, const struct tm_batch_run *batch_run, FILE *to)
{
    struct tm_doc *doc = tm_doc_new(m->run);

    if (!doc)
        return;
    if (batch_run)
        add_run(tm_doc_root(doc), m, batch_run);
    else
        add_header(tm_doc_root(doc), m);
    if (!tm_failed(m->run))
        tm_value_print_line(tm_doc_root(doc), to);
    tm_doc_free(doc);
}

tm_status tm_manifest_write(const struct tm_manifest *manifest, FILE *to)
{
    print_line(manifest, NULL, to);
    for (size_t i = 0; i < manifest->count && !tm_failed(manifest->run) && !ferror(to); i++)
        print_line(manifest, &manifest->runs[i], to);
    return manifest->run->error.status;
}

tm_status tm_manifest_save(const struct tm_manifest *manifest, const char *folder, const char *name, uint64_t *bytes)
{
    struct tm_atomic_file file = { .stream = NULL };

    if (!tm_atomic_open(&file, manifest->run, folder, name)) {
        tm_manifest_write(manifest, file.stream);
        if (bytes) {
            const off_t end = ftello(file.stream);

            *bytes = end > 0 ? (uint64_t)end : 0;
        }
        tm_atomic_commit(&file);
    }
    tm_atomic_abort(&file);
    return manifest->run->error.status;
}
