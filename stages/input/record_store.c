/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of blocks.  The block that was written last is kept at hand, since events of one track often follow each
 * other.  Memory: half of the share `input`, the rest spills. */
#include "stages/input/record_store.h"

#include <string.h>

enum { BLOCK_ROWS = 31, PAGE_BYTES = 16 << 10 };

struct tm_record_block {
    uint64_t next; /* plus one; 0 = the last of its chain */
    uint32_t count;
    uint32_t unused[13];
    struct tm_kept_record rows[BLOCK_ROWS];
};
static_assert(sizeof(struct tm_record_block) == 2048, "eight blocks to a page");

struct chain {
    uint64_t first, last; /* blocks plus one; 0 = none */
    uint64_t count;
    int64_t start_ps, dur_ps; /* of the record that was put in last */
    bool is_unsorted;
};

struct tm_record_store {
    struct tm_run *run;
    struct tm_rows *blocks; /* struct tm_record_block */
    struct tm_rows *chains; /* struct chain, by track */
    uint64_t unused;        /* chain of blocks that were given back; plus one */
    struct tm_kept_args args;
    uint64_t open_track;    /* its last block is at hand, if open is not NULL */
    struct tm_record_block *open;
    struct chain open_chain; /* of it; goes back to its row when another one is opened */
};

struct tm_record_store *tm_record_store_new(struct tm_run *run)
{
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_INPUT);
    struct tm_record_store *s = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*s), &run->error);

    if (!s)
        return NULL;
    s->run = run;
    s->blocks = tm_rows_new_paged(run, TM_ACCOUNT_INPUT, sizeof(struct tm_record_block), share / 2, PAGE_BYTES);
    s->chains = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct chain),
                            tm_budget_share(&run->budget, TM_ACCOUNT_METADATA) / 32);
    if (s->blocks && s->chains)
        return s;
    tm_record_store_free(s);
    return NULL;
}

void tm_record_store_free(struct tm_record_store *store)
{
    if (!store)
        return;
    tm_rows_free(store->blocks);
    tm_rows_free(store->chains);
    tm_kept_args_free(&store->args);
    tm_give(&store->run->budget, TM_ACCOUNT_INPUT, store, sizeof(*store));
}

/* The chain at hand goes back to its row. */
static tm_status put_back(struct tm_record_store *s)
{
    struct chain *chain;

    if (!s->open)
        return TM_OK;
    s->open = NULL;
    chain = tm_rows_change(s->chains, s->open_track);
    if (!chain)
        return s->run->error.status;
    *chain = s->open_chain;
    return TM_OK;
}

/* A block that nobody uses, empty; *block is its number plus one. */
static tm_status make_block(struct tm_record_store *s, uint64_t *block, struct tm_record_block **at)
{
    tm_status st = TM_OK;

    *block = s->unused;
    if (!*block) {
        st = tm_rows_resize(s->blocks, tm_rows_count(s->blocks) + 1);
        *block = tm_rows_count(s->blocks);
    }
    *at = st == TM_OK ? tm_rows_change(s->blocks, *block - 1) : NULL;
    if (!*at)
        return s->run->error.status;
    if (s->unused)
        s->unused = (*at)->next;
    (*at)->next = 0;
    (*at)->count = 0;
    return TM_OK;
}

/* Hang a new block behind the chain at hand. */
static tm_status lengthen(struct tm_record_store *s)
{
    struct chain *chain = &s->open_chain;
    struct tm_record_block *block, *last;
    uint64_t number;
    tm_status st = make_block(s, &number, &block);

    if (st == TM_OK && chain->last) {
        last = tm_rows_change(s->blocks, chain->last - 1);
        if (!last)
            return s->run->error.status;
        last->next = number;
        block = tm_rows_change(s->blocks, number - 1);
        if (!block)
            return s->run->error.status;
    }
    if (!chain->first)
        chain->first = number;
    chain->last = number;
    s->open = block;
    return st;
}

static tm_status open_chain(struct tm_record_store *s, uint64_t track)
{
    const struct chain *chain;
    tm_status st = put_back(s);

    if (st == TM_OK && track >= tm_rows_count(s->chains))
        st = tm_rows_resize(s->chains, track + 1);
    chain = st == TM_OK ? tm_rows_at(s->chains, track) : NULL;
    if (!chain)
        return s->run->error.status;
    s->open_chain = *chain;
    s->open_track = track;
    if (!s->open_chain.last)
        return lengthen(s);
    s->open = tm_rows_change(s->blocks, s->open_chain.last - 1);
    return s->open ? TM_OK : s->run->error.status;
}

static void note_order(struct chain *chain, const struct tm_record *record)
{
    if (chain->count && (record->start_ps < chain->start_ps ||
                         (record->start_ps == chain->start_ps && record->dur_ps > chain->dur_ps)))
        chain->is_unsorted = true;
    chain->start_ps = record->start_ps;
    chain->dur_ps = record->dur_ps;
    chain->count++;
}

tm_status tm_record_store_add(struct tm_record_store *store, const struct tm_raw *raw)
{
    tm_status st = TM_OK;

    if (!store->open || store->open_track != raw->record.track)
        st = open_chain(store, raw->record.track);
    if (st == TM_OK && store->open->count == BLOCK_ROWS)
        st = lengthen(store);
    if (st != TM_OK)
        return st;
    note_order(&store->open_chain, &raw->record);
    return tm_keep_record(&store->args, store->run, raw, &store->open->rows[store->open->count++]);
}

/* A track's chain; a track that nothing was put into has none. */
static tm_status look_at(struct tm_record_store *s, uint64_t track, struct chain *chain)
{
    const struct chain *row;
    const tm_status st = put_back(s);

    *chain = (struct chain){ .first = 0 };
    if (st != TM_OK || track >= tm_rows_count(s->chains))
        return st;
    row = tm_rows_at(s->chains, track);
    if (!row)
        return s->run->error.status;
    *chain = *row;
    return TM_OK;
}

tm_status tm_record_store_facts(struct tm_record_store *store, uint64_t track, uint64_t *count, bool *is_sorted)
{
    struct chain chain;
    const tm_status st = look_at(store, track, &chain);

    *count = chain.count;
    *is_sorted = !chain.is_unsorted;
    return st;
}

tm_status tm_record_store_clear(struct tm_record_store *store, uint64_t track)
{
    struct tm_record_block *last;
    struct chain chain, *row;
    const tm_status st = look_at(store, track, &chain);

    if (st != TM_OK || !chain.first)
        return st;
    last = tm_rows_change(store->blocks, chain.last - 1);
    row = last ? tm_rows_change(store->chains, track) : NULL;
    if (!row)
        return store->run->error.status;
    last->next = store->unused;
    store->unused = chain.first;
    *row = (struct chain){ .first = 0 };
    return TM_OK;
}

/* Copy a block to the place: other places, and additions, do not touch it then. */
static tm_status copy_block(struct tm_record_place *place, uint64_t number)
{
    const struct tm_record_block *block = tm_rows_at(place->store->blocks, number - 1);

    if (!block)
        return place->store->run->error.status;
    memcpy(place->block, block, offsetof(struct tm_record_block, rows) + block->count * sizeof(block->rows[0]));
    place->row = 0;
    return TM_OK;
}

tm_status tm_record_store_begin(struct tm_record_store *store, uint64_t track, struct tm_record_place *place)
{
    struct tm_run *run = store->run;
    struct chain chain;
    tm_status st = look_at(store, track, &chain);

    *place = (struct tm_record_place){ .store = store };
    place->block = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*place->block), &run->error);
    if (!place->block)
        return run->error.status;
    if (st == TM_OK && chain.first)
        st = copy_block(place, chain.first);
    return st;
}

tm_status tm_record_store_next(struct tm_record_place *place, struct tm_raw *raw, bool *more)
{
    struct tm_record_block *block = place->block;

    if (place->row == block->count && block->next) {
        const tm_status st = put_back(place->store);
        const tm_status copied = st == TM_OK ? copy_block(place, block->next) : st;

        if (copied != TM_OK)
            return copied;
    }
    *more = place->row < block->count;
    return *more ? tm_unkeep_record(&place->store->args, &block->rows[place->row++], &place->args, raw) : TM_OK;
}

void tm_record_store_end(struct tm_record_place *place)
{
    if (place->store)
        tm_give(&place->store->run->budget, TM_ACCOUNT_INPUT, place->block, place->block ? sizeof(*place->block) : 0);
    *place = (struct tm_record_place){ .store = NULL };
}
