/* SPDX-License-Identifier: Apache-2.0 */
/* Which items of a manifest a process works on: a share of them, chosen by --shard or by a scheduler. */
#include "pipeline/nightly/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/run.h"
#include "pipeline/store/sorter.h"
#include "pipeline/strings.h"

/* Items of work, shared out.  By size, the largest first, each to the share that has the least so far, which a heap
 * finds: no share is more than a third larger than it could be, and it takes n log n. */

/* The cost of an item besides its bytes, and the cost of a byte, in quarters of one of uncompressed XSpace: by
 * measurement (docs/batch.md, "Shares"). */
enum { START_BYTES = 12 << 20, QUARTERS_PLAIN = 4, QUARTERS_COMPRESSED = 16, QUARTERS_JSON = 1 };

static uint64_t weigh(const struct tm_batch_file *file)
{
    const char *text = file->member ? file->member : file->path;
    const struct tm_path_part name = { text, strlen(text) };
    const uint64_t most = UINT64_MAX >> 24; /* so that sums of all items fit */
    uint64_t quarters = QUARTERS_PLAIN;

    if (tm_part_has_ending(name, ".gz") || tm_part_has_ending(name, ".zst"))
        quarters = QUARTERS_COMPRESSED;
    else if (tm_part_has_ending(name, ".json"))
        quarters = QUARTERS_JSON;
    return file->bytes / 4 > most / QUARTERS_COMPRESSED ? most : file->bytes * quarters / 4 + START_BYTES;
}

static int heaviest_first(const void *a, const void *b)
{
    const struct tm_batch_item *const one = a, *const other = b;
    int order;

    if (one->weight != other->weight)
        return one->weight > other->weight ? -1 : 1;
    order = strcmp(one->run->id, other->run->id);
    return order ? order : strcmp(one->file->id, other->file->id);
}

/* A share that fills: the lightest of a heap is first, of equals the one of the lowest number. */
struct share {
    uint64_t weight;
    uint32_t number;
};

static int lightest_last(const void *a, const void *b)
{
    const struct share *const one = a, *const other = b;

    if (one->weight != other->weight)
        return one->weight < other->weight ? 1 : -1;
    return (one->number < other->number) - (one->number > other->number);
}

/* Keep the items of one share, in their order.  out: how many */
static size_t keep_share(struct tm_batch_item *items, size_t count, struct share *heap, uint32_t shard, uint32_t shards)
{
    size_t kept = 0;

    for (uint32_t i = 0; i < shards; i++)
        heap[i] = (struct share){ .number = i }; /* all alike, by number: a heap */
    for (size_t i = 0; i < count; i++) {
        struct share first = heap[0];

        if (first.number == shard)
            items[kept++] = items[i];
        first.weight += items[i].weight;
        tm_heap_replace(heap, shards, sizeof(*heap), &first, lightest_last);
    }
    return kept;
}

static size_t list_items(const struct tm_manifest *m, tm_want_item *wanted, void *of, struct tm_batch_item *items)
{
    size_t count = 0;

    for (size_t i = 0; i < m->count; i++) {
        for (size_t k = 0; k < m->runs[i].files; k++) {
            const struct tm_batch_item item = { .run = &m->runs[i],
                                                .file = &m->runs[i].file[k],
                                                .weight = weigh(&m->runs[i].file[k]) };

            if (!wanted || wanted(of, &item))
                items[count++] = item;
        }
    }
    return count;
}

tm_status tm_batch_items(const struct tm_manifest *manifest, uint32_t shard, uint32_t shards, tm_want_item *wanted,
                         void *of, struct tm_batch_item **items, size_t *count)
{
    struct tm_run *run = manifest->run;
    const size_t row = sizeof(**items), heap_bytes = shards * sizeof(struct share);
    struct tm_batch_item *all = tm_take(&run->budget, TM_ACCOUNT_MODEL, manifest->files * row, &run->error);
    struct share *heap = all ? tm_take(&run->budget, TM_ACCOUNT_MODEL, heap_bytes, &run->error) : NULL;
    size_t kept;

    *items = NULL;
    *count = 0;
    if (!heap) {
        tm_give(&run->budget, TM_ACCOUNT_MODEL, all, manifest->files * row);
        return run->error.status;
    }
    kept = list_items(manifest, wanted, of, all);
    qsort(all, kept, row, heaviest_first);
    kept = keep_share(all, kept, heap, shard, shards);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, heap, heap_bytes);
    *items = tm_retake(&run->budget, TM_ACCOUNT_MODEL, all, manifest->files * row, kept * row, &run->error);
    if (!*items) {
        tm_give(&run->budget, TM_ACCOUNT_MODEL, all, manifest->files * row);
        return run->error.status;
    }
    *count = kept;
    return TM_OK;
}

void tm_batch_items_free(struct tm_run *run, struct tm_batch_item *items, size_t count)
{
    tm_give(&run->budget, TM_ACCOUNT_MODEL, items, count * sizeof(*items));
}

/* --- which share --- */

enum { SHARDS_MOST = 100000 }; /* in the syntax of --shard */

/* A number in a variable.  out: false if it is not set */
static bool read_task_variable(const char *name, uint64_t *number, struct tm_error *error, tm_status *st)
{
    const char *const text = getenv(name);
    const char *at = text;

    if (!text || !text[0])
        return false;
    if (!tm_take_digits(&at, number) || *at)
        *st = tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for %s: it is not a number", text, name);
    return *st == TM_OK;
}

static tm_status refuse_number(struct tm_run *run, const char *name, uint64_t number, uint64_t first, uint64_t count)
{
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use %s=%llu: there are %llu shares, numbered from %llu", name,
                  (unsigned long long)number, (unsigned long long)count, (unsigned long long)first);
    tm_hint(&run->error, "give the number of tasks, as in '--shard auto/%llu'",
            (unsigned long long)(number >= first ? number - first + 1 : count));
    return TM_ERR_USAGE;
}

static tm_status refuse_count(struct tm_run *run, const char *name)
{
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "%s gives the index of this share, but not the number of shares",
                  name);
    tm_hint(&run->error, "give the number of shares, as in '--shard auto/16'; '--shard 0/1' processes everything");
    return TM_ERR_USAGE;
}

/* in: number  as the variable says it; first  what it counts from */
static tm_status set_shard(struct tm_run *run, const char *name, uint64_t number, uint64_t first, uint64_t count,
                           struct tm_shard *shard)
{
    if (number < first || number - first >= count)
        return refuse_number(run, name, number, first, count);
    *shard = (struct tm_shard){ .index = (uint32_t)(number - first), .count = (uint32_t)count, .is_index_told = true };
    return TM_OK;
}

/* A Slurm array provides the count and the index, if its numbers have no gaps. */
static tm_status choose_by_slurm(struct tm_run *run, uint64_t id, uint32_t told, struct tm_shard *shard)
{
    uint64_t first = 0, last = 0, count = 0;
    tm_status st = TM_OK;
    const bool is_whole = read_task_variable("SLURM_ARRAY_TASK_MIN", &first, &run->error, &st) &&
                          read_task_variable("SLURM_ARRAY_TASK_MAX", &last, &run->error, &st) &&
                          read_task_variable("SLURM_ARRAY_TASK_COUNT", &count, &run->error, &st) && last >= first &&
                          count >= 1 && count <= SHARDS_MOST && last - first == count - 1;

    if (st != TM_OK)
        return st;
    if (told > 0) /* a part of the array may run: --array=3,7 */
        return set_shard(run, "SLURM_ARRAY_TASK_ID", id, 0, told, shard);
    if (!is_whole)
        return refuse_count(run, "SLURM_ARRAY_TASK_ID");
    return set_shard(run, "SLURM_ARRAY_TASK_ID", id, first, count, shard);
}

tm_status tm_shard_choose(struct tm_run *run, struct tm_shard told, struct tm_shard *shard)
{
    static const struct {
        const char *name;
        uint64_t first;
        bool is_always; /* set only where each process is to work a share, so that one without a count is a mistake */
    } variables[] = { { "JOB_COMPLETION_INDEX", 0, true }, { "PARALLEL_SEQ", 1, false } };
    tm_status st = TM_OK;
    uint64_t number;

    *shard = told;
    if (told.is_index_told)
        return TM_OK;
    if (read_task_variable("SLURM_ARRAY_TASK_ID", &number, &run->error, &st))
        return choose_by_slurm(run, number, told.count, shard);
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]) && st == TM_OK; i++) {
        const char *name = variables[i].name;

        if (!read_task_variable(name, &number, &run->error, &st) || (told.count == 0 && !variables[i].is_always))
            continue;
        if (told.count == 0)
            return refuse_count(run, name);
        return set_shard(run, name, number, variables[i].first, told.count, shard);
    }
    if (st != TM_OK)
        return st;
    if (told.count > 1) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "the index of this share (of %u) is unknown", told.count);
        tm_hint(&run->error,
                "give it, as in '--shard 0/%u', or start the program from Slurm, Kubernetes or GNU "
                "parallel",
                told.count);
        return TM_ERR_USAGE;
    }
    *shard = (struct tm_shard){ .index = 0, .count = 1, .is_index_told = true };
    return TM_OK;
}
