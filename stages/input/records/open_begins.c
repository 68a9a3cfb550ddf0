/* SPDX-License-Identifier: Apache-2.0 */
/* The stack is an array that is never cut; entries of the same bucket (a hash of the name) are chained from the
 * innermost outwards; the buckets become more as the stack grows, up to a quarter of the memory.  One that is taken
 * from the middle leaves its chain at once and the stack when it comes to lie on top, so that the top is always open. */
#include "stages/input/records/open_begins.h"

#include "pipeline/store/hash.h"

enum { FIRST_BUCKET_BITS = 6, STACK_PAGE_BYTES = 8 << 10 };

struct entry {
    struct tm_open_begin begin;
    uint64_t outer; /* next of its bucket, plus one; 0 = none */
    bool is_taken;
};

struct tm_open_begins {
    struct tm_run *run;
    enum tm_account account;
    struct tm_rows *stack; /* struct entry; those from `depth` on are old */
    uint64_t depth;
    uint64_t seed;
    uint64_t *inner; /* the innermost open entry of each bucket, plus one; 0 = none */
    uint32_t bucket_bits, most_bucket_bits;
};

static size_t bucket_bytes(uint32_t bits)
{
    return sizeof(uint64_t) << bits;
}

struct tm_open_begins *tm_open_begins_new(struct tm_run *run, enum tm_account account, size_t memory_bytes)
{
    struct tm_open_begins *open = tm_take(&run->budget, account, sizeof(*open), &run->error);

    if (!open)
        return NULL;
    open->run = run;
    open->account = account;
    open->seed = tm_hash_seed(open);
    open->bucket_bits = open->most_bucket_bits = FIRST_BUCKET_BITS;
    while (bucket_bytes(open->most_bucket_bits + 1) <= memory_bytes / 4)
        open->most_bucket_bits++;
    open->inner = tm_take(&run->budget, account, bucket_bytes(open->bucket_bits), &run->error);
    open->stack = tm_rows_new_paged(run, account, sizeof(struct entry), memory_bytes / 4 * 3, STACK_PAGE_BYTES);
    if (open->inner && open->stack)
        return open;
    tm_open_begins_free(open);
    return NULL;
}

void tm_open_begins_free(struct tm_open_begins *open)
{
    if (!open)
        return;
    tm_rows_free(open->stack);
    tm_give(&open->run->budget, open->account, open->inner, open->inner ? bucket_bytes(open->bucket_bits) : 0);
    tm_give(&open->run->budget, open->account, open, sizeof(*open));
}

static uint64_t *bucket_of(struct tm_open_begins *open, const struct tm_key *name)
{
    return &open->inner[tm_hash_mix(name->high ^ name->low, open->seed) >> (64 - open->bucket_bits)];
}

/* Make the buckets more; the entries are chained anew from the outermost inwards. */
static tm_status widen(struct tm_open_begins *open)
{
    const size_t old_bytes = bucket_bytes(open->bucket_bits);
    const uint32_t bits =
        open->bucket_bits + 2 < open->most_bucket_bits ? open->bucket_bits + 2 : open->most_bucket_bits;
    uint64_t *const inner = tm_take(&open->run->budget, open->account, bucket_bytes(bits), &open->run->error);

    if (!inner)
        return open->run->error.status;
    tm_give(&open->run->budget, open->account, open->inner, old_bytes);
    open->inner = inner;
    open->bucket_bits = bits;
    for (uint64_t at = 1; at <= open->depth; at++) {
        struct entry *const entry = tm_rows_change(open->stack, at - 1);
        uint64_t *bucket;

        if (!entry)
            return open->run->error.status;
        if (entry->is_taken)
            continue;
        bucket = bucket_of(open, &entry->begin.name);
        entry->outer = *bucket;
        *bucket = at;
    }
    return TM_OK;
}

static tm_status put_on_top(struct tm_open_begins *open, const struct entry *new)
{
    struct entry *old;

    if (open->depth == tm_rows_count(open->stack))
        return tm_rows_append(open->stack, new);
    old = tm_rows_change(open->stack, open->depth);
    if (!old)
        return open->run->error.status;
    *old = *new;
    return TM_OK;
}

tm_status tm_open_begins_push(struct tm_open_begins *open, const struct tm_open_begin *begin)
{
    struct entry new = { .begin = *begin };
    uint64_t *bucket;
    tm_status st = TM_OK;

    if (open->depth >> open->bucket_bits && open->bucket_bits < open->most_bucket_bits)
        st = widen(open);
    if (st != TM_OK)
        return st;
    bucket = bucket_of(open, &begin->name);
    new.outer = *bucket;
    st = put_on_top(open, &new);
    if (st == TM_OK)
        *bucket = ++open->depth;
    return st;
}

/* Nothing that was taken lies on top. */
static tm_status lower_top(struct tm_open_begins *open)
{
    while (open->depth) {
        const struct entry *top = tm_rows_at(open->stack, open->depth - 1);

        if (!top)
            return open->run->error.status;
        if (!top->is_taken)
            break;
        open->depth--;
    }
    return TM_OK;
}

/* The innermost entry of a name.  out: *at its number plus one, 0 = none; *inside that of the entry of the same bucket
 * just inside it, 0 = none */
static tm_status find(struct tm_open_begins *open, const struct tm_key *name, uint64_t *at, uint64_t *inside)
{
    *inside = 0;
    for (*at = *bucket_of(open, name); *at;) {
        const struct entry *entry = tm_rows_at(open->stack, *at - 1);

        if (!entry)
            return open->run->error.status;
        if (tm_is_same_key(entry->begin.name, *name))
            break;
        *inside = *at;
        *at = entry->outer;
    }
    return TM_OK;
}

/* Take an entry out of its bucket. */
static tm_status take(struct tm_open_begins *open, uint64_t at, uint64_t inside, struct tm_open_begin *begin)
{
    struct entry *entry = tm_rows_change(open->stack, at - 1);
    uint64_t outer;

    if (!entry)
        return open->run->error.status;
    *begin = entry->begin;
    entry->is_taken = true;
    outer = entry->outer;
    if (!inside) {
        *bucket_of(open, &begin->name) = outer;
        return TM_OK;
    }
    entry = tm_rows_change(open->stack, inside - 1);
    if (!entry)
        return open->run->error.status;
    entry->outer = outer;
    return TM_OK;
}

tm_status tm_open_begins_pop(struct tm_open_begins *open, const struct tm_key *name, struct tm_open_begin *begin,
                             bool *found)
{
    uint64_t at = open->depth; /* the top is open, and the innermost of its bucket */
    uint64_t inside = 0;
    tm_status st = TM_OK;

    if (name)
        st = find(open, name, &at, &inside);
    *found = st == TM_OK && at;
    if (!*found)
        return st;
    st = take(open, at, inside, begin);
    return st == TM_OK ? lower_top(open) : st;
}
