/* SPDX-License-Identifier: Apache-2.0 */
/* Where the rows and texts of a manifest lie: texts and files in chunks that are freed together, runs in one array that
 * grows.  All of it is of the account `model`, to which the ledger is dedicated meanwhile. */
#include "pipeline/batch/manifest_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/limits.h"

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

static tm_status check_room(struct tm_run *run, size_t more)
{
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_MODEL);

    if (more <= share && run->budget.used_bytes[TM_ACCOUNT_MODEL] <= share - more)
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "there are too many traces to hold their list in memory");
    tm_hint(&run->error, "raise --memory, or make batches of folders further down");
    return TM_ERR_LIMIT;
}

static void *add_chunk(struct tm_manifest *m, size_t bytes)
{
    struct tm_run *run = m->run;
    struct tm_manifest_chunk *chunk = NULL;

    if (check_room(run, bytes) == TM_OK)
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
        .training = share_text(manifest, keys->training, before->training),
        .when_ns = keys->when_ns,
        .step = keys->step,
    };
    return to->job && to->night && to->revision && to->label && to->training ? TM_OK : manifest->run->error.status;
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
    copy_key(to->training, sizeof(to->training), keys->training);
}

tm_status tm_manifest_add(struct tm_manifest *manifest, const struct tm_batch_run *batch_run)
{
    struct tm_run *run = manifest->run;
    const size_t row = sizeof(*manifest->runs);
    const uint64_t most = tm_raised_limit(run, TM_MANIFEST_FILES_MOST);

    if (batch_run->files > most - manifest->files) {
        (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "there are more than %" PRIu64 " traces", most);
        tm_limit_hint(run, "make batches of folders further down");
        return TM_ERR_LIMIT;
    }
    if (manifest->count == manifest->capacity) {
        const size_t wanted = manifest->capacity ? 2 * manifest->capacity : RUNS_FIRST;
        struct tm_batch_run *runs = NULL;

        if (check_room(run, (wanted - manifest->capacity) * row) == TM_OK)
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

void tm_manifest_free(struct tm_manifest *manifest)
{
    struct tm_run *run = manifest->run;

    if (!run)
        return;
    while (manifest->chunks) {
        struct tm_manifest_chunk *chunk = manifest->chunks;

        manifest->chunks = chunk->next;
        tm_give(&run->budget, TM_ACCOUNT_MODEL, chunk, chunk->bytes);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, manifest->runs, manifest->capacity * sizeof(*manifest->runs));
    tm_budget_end_dedication(&run->budget);
    *manifest = (struct tm_manifest){ .run = NULL };
}

int tm_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool tm_has_doubles(const char **texts, size_t count)
{
    qsort(texts, count, sizeof(*texts), tm_by_text);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(texts[i - 1], texts[i]) == 0)
            return true;
    }
    return false;
}

tm_status tm_manifest_check_ids(const struct tm_manifest *manifest)
{
    struct tm_run *run = manifest->run;
    const size_t bytes = manifest->count * sizeof(char *);
    const char **ids = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    tm_status st = TM_OK;

    if (!ids)
        return run->error.status;
    for (size_t i = 0; i < manifest->count; i++)
        ids[i] = manifest->runs[i].id;
    if (tm_has_doubles(ids, manifest->count))
        st = tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot use a list in which two runs have one id");
    tm_give(&run->budget, TM_ACCOUNT_MODEL, ids, bytes);
    return st;
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
