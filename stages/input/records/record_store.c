/* SPDX-License-Identifier: Apache-2.0 */
/* The store: blocks, chained per track, in one array that spills; a table with the ends of each chain.  The first block
 * of a track has 256 bytes, each further one twice as many up to 2 KiB, so millions of tracks with one event each take
 * a few times the space of their file.  The chain and the last block of the track that was added to last are at hand,
 * since formats write runs of events of one track.  Pages are small enough that a thousand tracks can grow side by
 * side, regardless of --memory. */
#include "stages/input/records/record_store.h"

#include <stddef.h>
#include <string.h>

#include "pipeline/source.h"
#include "stages/input/records/device_clock.h"

enum { TM_RECORD_PLACE_BYTES = 2016 };

/* Rows of the record store, of 12 bytes.  Nearly all records take one row: the time since the start of the previous
 * record of its track, the increment of its id, and the number of its signature.  Records that start earlier, or much
 * later, those with a very different id, and those without a signature number take three rows; those with arguments, or
 * with a duration of more than 32 bits, take five.  The track is not stored: a block has records of one track. */
enum tm_packed_form { TM_PACKED_WHOLE = 0, TM_PACKED_SMALL = 1, TM_PACKED_LONG = 2 };

enum { TM_PACKED_FORM_BITS = 2, TM_PACKED_SMALL_BITS = 1 /* the other bit of a small one is of its number */ };

struct tm_packed_whole {
    uint32_t start_low, start_high;
    uint8_t kind_and_form; /* kind << 2 | enum tm_packed_form: where the small ones have theirs */
    uint8_t class;
    uint16_t flags;
    uint32_t dur_low;
    uint32_t correlation_low, correlation_high;
    tm_strid name;
    uint32_t config;
    uint32_t traits;
};

/* The second part of the long ones. */
struct tm_packed_more {
    uint32_t args_low, args_high;
    uint32_t dur_high;
    uint32_t common, args_length, own_length;
};

enum { TM_PACKED_WHOLE_ROWS = 3, TM_PACKED_MORE_ROWS = 2 };

static_assert(sizeof(struct tm_packed_whole) == TM_PACKED_WHOLE_ROWS * sizeof(union tm_packed), "without a rest");
static_assert(sizeof(struct tm_packed_more) == TM_PACKED_MORE_ROWS * sizeof(union tm_packed), "without a rest");
static_assert(offsetof(struct tm_packed_small, signature_and_form) == offsetof(struct tm_packed_whole, kind_and_form),
              "told apart; little-endian machines only");

/* Ids of a track mostly increase in small steps.  A step is this much more than what it represents. */
enum { TM_ID_STEP_ZERO = 0x7fff, TM_ID_STEP_NONE = 0xffff /* there is no id */ };

/* in:     before  the last id of the track that was not 0
 * out:    false   the step does not fit */
static inline bool tm_id_step(uint64_t id, uint64_t before, uint16_t *step)
{
    const uint64_t wide = id ? id - before + TM_ID_STEP_ZERO : TM_ID_STEP_NONE;

    *step = (uint16_t)wide;
    return wide < TM_ID_STEP_NONE || !id;
}

static inline uint64_t tm_id_after(uint64_t before, uint16_t step)
{
    return step == TM_ID_STEP_NONE ? 0 : before + step - TM_ID_STEP_ZERO;
}

static inline bool tm_is_small(const union tm_packed *from)
{
    return from->small.signature_and_form & TM_PACKED_SMALL;
}

static inline bool tm_is_long(const union tm_packed *from)
{
    return (from->small.signature_and_form & ((1 << TM_PACKED_FORM_BITS) - 1)) == TM_PACKED_LONG;
}

static inline uint32_t tm_packed_rows(const union tm_packed *from)
{
    if (tm_is_small(from))
        return 1;
    return TM_PACKED_WHOLE_ROWS + (tm_is_long(from) ? TM_PACKED_MORE_ROWS : 0);
}

static inline void tm_pack_whole(const struct tm_record *r, uint32_t traits, enum tm_packed_form form,
                                 union tm_packed to[TM_PACKED_WHOLE_ROWS])
{
    const struct tm_packed_whole whole = {
        .start_low = (uint32_t)r->start_ps,
        .start_high = (uint32_t)((uint64_t)r->start_ps >> 32),
        .dur_low = (uint32_t)r->dur_ps,
        .correlation_low = (uint32_t)r->correlation,
        .correlation_high = (uint32_t)(r->correlation >> 32),
        .name = r->name,
        .config = r->config,
        .traits = traits,
        .flags = r->flags,
        .class = r->class,
        .kind_and_form = (uint8_t)(r->kind << TM_PACKED_FORM_BITS | form),
    };

    memcpy(to, &whole, sizeof(whole));
}

static inline void tm_pack_long(const struct tm_kept_record *row,
                                union tm_packed to[TM_PACKED_WHOLE_ROWS + TM_PACKED_MORE_ROWS])
{
    const struct tm_record *r = &row->record;
    const struct tm_packed_more more = {
        .args_low = (uint32_t)row->args,
        .args_high = (uint32_t)(row->args >> 32),
        .dur_high = (uint32_t)((uint64_t)r->dur_ps >> 32),
        .common = r->common,
        .args_length = r->args_length,
        .own_length = row->own_length,
    };

    tm_pack_whole(r, row->traits, TM_PACKED_LONG, to);
    memcpy(&to[TM_PACKED_WHOLE_ROWS], &more, sizeof(more));
}

/* out: *to, *traits  of a long record except for what only its second part has */
static inline void tm_unpack_whole(const union tm_packed from[TM_PACKED_WHOLE_ROWS], struct tm_record *to,
                                   uint32_t *traits)
{
    struct tm_packed_whole p;

    memcpy(&p, from, sizeof(p));
    to->start_ps = (int64_t)((uint64_t)p.start_high << 32 | p.start_low);
    to->dur_ps = p.dur_low;
    to->correlation = (uint64_t)p.correlation_high << 32 | p.correlation_low;
    to->name = p.name;
    to->config = p.config;
    to->common = 0;
    to->args_length = 0;
    to->class = p.class;
    to->kind = p.kind_and_form >> TM_PACKED_FORM_BITS;
    to->flags = p.flags;
    *traits = p.traits;
}

static inline void tm_unpack_more(const union tm_packed from[TM_PACKED_MORE_ROWS], struct tm_kept_record *to)
{
    struct tm_packed_more p;

    memcpy(&p, from, sizeof(p));
    to->record.dur_ps = (int64_t)((uint64_t)p.dur_high << 32 | (uint64_t)to->record.dur_ps);
    to->record.common = p.common;
    to->record.args_length = p.args_length;
    to->own_length = p.own_length;
    to->args = (uint64_t)p.args_high << 32 | p.args_low;
}

enum {
    UNIT_BYTES = 256,
    CLASSES = 4, /* of blocks: 1, 2, 4, 8 units */
    LARGEST = CLASSES - 1,
    PAGES_WANTED = 1024,
    OTHERS_BYTES = 2 << 20, /* of the share: windows, decoders, places */
    LEAST_PAGE_BYTES = 2 << 10,
    MOST_PAGE_BYTES = 64 << 10,
    CHAIN_PAGE_BYTES = 4 << 10,
    TIMED_BYTES = 64 << 10, /* of timed arguments that are in memory */
    TIMED_PAGE_BYTES = 8 << 10,
};

/* An op's own times that differ from the recorded ones by less than this (5 hours in start, 128 ps in length) are
 * where other records have an id, so that a step of up to 127 ps from one op to the next fits a small row. */
#define TIMED_AHEAD_MOST (INT64_C(1) << 54)

enum { TIMED_LONGER_MOST = 128 };

/* Where the arguments of an op with its own time are: what its record has for arguments, in a length that nothing
 * else has. */
typedef uint32_t timed_row;

struct timed_args {
    struct tm_device_times times;
    struct tm_number number; /* its arguments */
    bool has_number;
};

struct block {
    uint64_t next;    /* plus one; 0 = the last one of its track */
    int64_t start_ps; /* of the record before its first */
    uint64_t id;      /* of the last one before that has any */
    uint32_t count;   /* of rows; a record has one, three or five */
    uint32_t room;    /* for this many */
    union tm_packed rows[];
};

static_assert(TM_SIGNATURES_MOST < 1 << (16 - TM_PACKED_SMALL_BITS), "a small row has room for the number");
static_assert((UNIT_BYTES << LARGEST) - sizeof(struct block) == TM_RECORD_PLACE_BYTES, "a place holds any block");
static_assert(TM_RECORD_PLACE_BYTES / sizeof(union tm_packed) == TM_BATCH_RECORDS, "so does a batch");
static_assert(LEAST_PAGE_BYTES % (UNIT_BYTES << LARGEST) == 0, "pages hold the largest blocks without a rest");

/* The blocks of one track, and what is known about its records. */
struct chain {
    uint64_t first, last; /* plus one; 0 = none */
    uint64_t count;
    int64_t start_ps, dur_ps; /* of the record added last */
    uint64_t id;              /* of the last one that has any: its correlation */
    uint32_t traits;
    uint32_t class; /* of the last block; of all before it: their place in the chain, or the largest */
};

static const uint64_t NO_TRACK = UINT64_MAX;

struct tm_record_store {
    struct tm_run *run;
    struct tm_rows *blocks; /* units; a block is known by its first one */
    struct tm_rows *chains; /* struct chain; row = track */
    struct tm_kept_args args;
    struct tm_rows *timed; /* struct timed_args; NULL = none */
    struct tm_signatures own_signatures, *signatures;
    uint64_t spare[CLASSES]; /* plus one: first of a chain of blocks that no track has */
    uint64_t track;          /* whose chain is at hand, or NO_TRACK; its row of `chains` is older */
    struct chain chain;
    struct block *block; /* the last one of that chain, or NULL; valid until the next call on `blocks` */
};

/* in: tracks  that are read in lockstep; they are written one after the other.  UINT64_MAX = they may be written so,
 * too */
static size_t page_bytes(size_t memory_bytes, uint64_t tracks)
{
    const size_t wanted = tracks < PAGES_WANTED / 2 ? 2 * (size_t)tracks + 1 : PAGES_WANTED;
    const size_t page = memory_bytes / wanted / LEAST_PAGE_BYTES * LEAST_PAGE_BYTES;

    if (page < LEAST_PAGE_BYTES)
        return LEAST_PAGE_BYTES;
    return page > MOST_PAGE_BYTES ? MOST_PAGE_BYTES : page;
}

struct tm_record_store *tm_record_store_new(struct tm_trace *trace, struct tm_signatures *signatures)
{
    struct tm_run *run = trace->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_INPUT), others = OTHERS_BYTES;
    const size_t all = share - share / 2 > others ? share - others : share / 2, least = TM_KEPT_LEAST_BYTES;
    const size_t own = all / 4 > least ? all / 4 : least;
    const size_t memory = all - tm_kept_args_bytes(trace->keeps_arguments ? own : 0) - share / 16;
    const size_t blocks = memory - memory / 8;
    struct tm_record_store *store = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*store), &run->error);
    const size_t page = page_bytes(blocks, signatures ? tm_rows_count(trace->tracks) : UINT64_MAX);

    if (!store)
        return NULL;
    store->run = run;
    store->args = (struct tm_kept_args){ .account = TM_ACCOUNT_INPUT, .own_bytes = own };
    store->track = NO_TRACK;
    store->blocks = tm_rows_new_paged(run, TM_ACCOUNT_INPUT, UNIT_BYTES, blocks, page);
    store->chains = tm_rows_new_paged(run, TM_ACCOUNT_INPUT, sizeof(struct chain), memory / 8, CHAIN_PAGE_BYTES);
    store->signatures = signatures ? signatures : &store->own_signatures;
    if (!signatures)
        tm_signatures_init(&store->own_signatures, run, share / 16);
    if (!tm_failed(run))
        return store;
    tm_record_store_free(store);
    return NULL;
}

void tm_record_store_free(struct tm_record_store *store)
{
    if (!store)
        return;
    tm_rows_free(store->blocks);
    tm_rows_free(store->chains);
    tm_kept_args_free(&store->args);
    tm_rows_free(store->timed);
    tm_signatures_release(&store->own_signatures);
    tm_give(&store->run->budget, TM_ACCOUNT_INPUT, store, sizeof(*store));
}

struct tm_signatures *tm_record_store_signatures(struct tm_record_store *store)
{
    return store->signatures;
}

/* --- adding --- */

/* Take the chain of a track to hand. */
TM_NOT_INLINE void turn_to(struct tm_record_store *store, uint64_t track)
{
    if (store->track != NO_TRACK)
        *(struct chain *)tm_rows_change(store->chains, store->track) = store->chain;
    store->block = NULL;
    if (track >= tm_rows_count(store->chains))
        tm_rows_resize(store->chains, track + 1);
    store->chain = *(const struct chain *)tm_rows_change(store->chains, track);
    store->track = track;
}

static struct block *block_at(const struct tm_record_store *store, uint64_t number)
{
    return tm_rows_change(store->blocks, number - 1);
}

/* Append a block of the largest size, and split it into spare ones of a class. */
static void split_block(struct tm_record_store *store, uint32_t class)
{
    const uint64_t first = tm_rows_count(store->blocks) + 1, end = first + (1 << LARGEST);

    tm_rows_resize(store->blocks, end - 1);
    for (uint64_t number = first; number < end; number += UINT64_C(1) << class) {
        block_at(store, number)->next = store->spare[class];
        store->spare[class] = number;
    }
}

/* A block that no track has; its contents are undefined.  out: its number plus one */
static uint64_t find_block(struct tm_record_store *store, uint32_t class)
{
    uint64_t number;

    if (!store->spare[class])
        split_block(store, class);
    number = store->spare[class];
    store->spare[class] = ((const struct block *)tm_rows_at(store->blocks, number - 1))->next;
    return number;
}

/* Rows of a block. */
static uint32_t room_of(uint32_t class)
{
    return (uint32_t)(((UNIT_BYTES << class) - sizeof(struct block)) / sizeof(union tm_packed));
}

/* Units of a block that has room for so many rows. */
static uint32_t units_of(uint32_t room)
{
    return (uint32_t)((sizeof(struct block) + room * sizeof(union tm_packed) + UNIT_BYTES - 1) / UNIT_BYTES);
}

/* Put an empty block at the end of the chain at hand. */
static void lengthen_chain(struct tm_record_store *store)
{
    struct chain *const chain = &store->chain;
    const uint32_t class = !chain->last ? 0 : chain->class < LARGEST ? chain->class + 1 : LARGEST;
    const uint64_t number = find_block(store, class);

    if (chain->last)
        block_at(store, chain->last)->next = number;
    store->block = block_at(store, number);
    store->block->next = 0;
    store->block->start_ps = chain->start_ps;
    store->block->id = chain->id;
    store->block->count = 0;
    store->block->room = room_of(class);
    chain->class = class;
    chain->first = chain->first ? chain->first : number;
    chain->last = number;
}

/* The last block of the chain at hand, with room for some rows.  false: the run has failed, and there is none */
TM_NOT_INLINE bool open_block(struct tm_record_store *store, uint32_t rows)
{
    if (!store->block && store->chain.last)
        store->block = block_at(store, store->chain.last);
    if (!store->block || store->block->count + rows > store->block->room)
        lengthen_chain(store);
    if (tm_failed(store->run))
        store->block = NULL; /* may be unused */
    return store->block;
}

static inline bool has_room(const struct tm_record_store *store, uint32_t rows)
{
    return store->block && store->block->count + rows <= store->block->room;
}

/* Room for the rows of a record at the end of the chain at hand.  false: there is none, as above */
static inline bool make_room(struct tm_record_store *store, uint32_t rows)
{
    return has_room(store, rows) || open_block(store, rows);
}

/* What records of a kind add to the traits of their chain. */
static const uint8_t traits_of_kind[] = {
    [TM_FLOW_BEGIN] = TM_STORED_FLOWS, [TM_FLOW_STEP] = TM_STORED_FLOWS, [TM_FLOW_END] = TM_STORED_FLOWS,
    [TM_BEGIN] = TM_STORED_HALVES,     [TM_END] = TM_STORED_HALVES,
};

/* The rows of a record have been written. */
static inline void count_record(struct tm_record_store *store, int64_t start_ps, int64_t dur_ps, uint64_t id,
                                enum tm_kind kind, uint32_t rows)
{
    struct chain *const chain = &store->chain;

    chain->traits |= traits_of_kind[kind];
    if (chain->count && start_ps <= chain->start_ps) {
        if (start_ps < chain->start_ps)
            chain->traits |= TM_STORED_BACK | TM_STORED_UNSORTED;
        else if (dur_ps > chain->dur_ps)
            chain->traits |= TM_STORED_UNSORTED;
    }
    chain->start_ps = start_ps;
    chain->dur_ps = dur_ps;
    chain->id = id ? id : chain->id;
    chain->count++;
    store->block->count += rows;
}

/* Add a record of a signature in one row to the chain at hand, whose last block has room.  false: it does not fit in
 * one */
static inline bool add_small_there(struct tm_record_store *store, int64_t start_ps, int64_t dur_ps, uint64_t id,
                                   uint32_t signature)
{
    const uint64_t step_ps = (uint64_t)start_ps - (uint64_t)store->chain.start_ps;
    uint16_t id_step;

    if (!tm_id_step(id, store->chain.id, &id_step) || (step_ps | (uint64_t)dur_ps) > UINT32_MAX)
        return false;
    store->block->rows[store->block->count].small = (struct tm_packed_small){
        .step_ps = (uint32_t)step_ps,
        .dur_ps = (uint32_t)dur_ps,
        .id_step = id_step,
        .signature_and_form = (uint16_t)(signature << TM_PACKED_SMALL_BITS | TM_PACKED_SMALL),
    };
    count_record(store, start_ps, dur_ps, id, (enum tm_kind)store->signatures->rows[signature].kind, 1);
    return true;
}

/* The same after room was made for it.  true also if the run has failed */
static inline bool add_small(struct tm_record_store *store, int64_t start_ps, int64_t dur_ps, uint64_t id,
                             uint32_t signature)
{
    return !make_room(store, 1) || add_small_there(store, start_ps, dur_ps, id, signature);
}

/* Add a record to the chain at hand, in as many rows as it takes. */
static void add_wide(struct tm_record_store *store, const struct tm_kept_record *row)
{
    const struct tm_record *const r = &row->record;
    const bool is_long = row->own_length || r->args_length || r->common || (uint64_t)r->dur_ps > UINT32_MAX;
    const uint32_t rows = TM_PACKED_WHOLE_ROWS + (is_long ? TM_PACKED_MORE_ROWS : 0);

    if (!make_room(store, rows))
        return;
    if (is_long)
        tm_pack_long(row, &store->block->rows[store->block->count]);
    else
        tm_pack_whole(r, row->traits, TM_PACKED_WHOLE, &store->block->rows[store->block->count]);
    count_record(store, r->start_ps, r->dur_ps, r->correlation, (enum tm_kind)r->kind, rows);
}

void tm_record_store_add(struct tm_record_store *store, const struct tm_raw_record *raw)
{
    const struct tm_record *const r = &raw->record;
    const uint32_t signature = tm_signature_of(store->signatures, raw);
    struct tm_kept_record row;

    if (r->track != store->track)
        turn_to(store, r->track);
    if (signature && add_small(store, r->start_ps, r->dur_ps, r->correlation, signature))
        return;
    if (tm_keep_record(&store->args, store->run, raw, &row) == TM_OK)
        add_wide(store, &row);
}

TM_NOT_INLINE bool add_known_slowly(struct tm_record_store *store, uint64_t track, uint32_t signature, int64_t start_ps,
                                    int64_t dur_ps, uint64_t correlation)
{
    if (track != store->track)
        turn_to(store, track);
    return add_small(store, start_ps, dur_ps, correlation, signature);
}

/* Calls are left to another function: where the last block has room, no registers are saved. */
bool tm_record_store_add_known(struct tm_record_store *store, uint64_t track, uint32_t signature, int64_t start_ps,
                               int64_t dur_ps, uint64_t correlation)
{
    if (track != store->track || !has_room(store, 1))
        return add_known_slowly(store, track, signature, start_ps, dur_ps, correlation);
    return add_small_there(store, start_ps, dur_ps, correlation, signature);
}

/* Records of a batch from the i-th on, as many as are small and the last block has room for.  The state of the chain
 * stays in registers meanwhile: 40 instructions for a record instead of 60.  out: the first one that is left */
static uint32_t add_small_ones(struct tm_record_store *store, const struct tm_batch *batch, uint32_t i)
{
    struct block *const block = store->block;
    const uint32_t room = block ? block->room - block->count : 0;
    const uint32_t first = i, end = room < batch->count - i ? i + room : batch->count;
    const struct tm_signature *const signatures = store->signatures->rows;
    union tm_packed *to = block ? &block->rows[block->count] : NULL;
    struct chain *const chain = &store->chain;
    int64_t start_ps = chain->start_ps, dur_ps = chain->count ? chain->dur_ps : INT64_MAX;
    uint64_t id = chain->id;
    uint8_t traits = 0;

    for (; i < end; i++) {
        const uint64_t step_ps =
            (uint64_t)batch->start_ps[i] - (uint64_t)start_ps; /* of one back in time: a large one */
        uint16_t id_step;

        if (!tm_id_step(batch->correlation[i], id, &id_step) || (step_ps | (uint64_t)batch->dur_ps[i]) > UINT32_MAX)
            break;
        (to++)->small = (struct tm_packed_small){
            .step_ps = (uint32_t)step_ps,
            .dur_ps = (uint32_t)batch->dur_ps[i],
            .id_step = id_step,
            .signature_and_form = (uint16_t)(batch->signature[i] << TM_PACKED_SMALL_BITS | TM_PACKED_SMALL),
        };
        traits |= traits_of_kind[signatures[batch->signature[i]].kind];
        if (!step_ps && batch->dur_ps[i] > dur_ps)
            traits |= TM_STORED_UNSORTED;
        start_ps = batch->start_ps[i];
        dur_ps = batch->dur_ps[i];
        id = batch->correlation[i] ? batch->correlation[i] : id;
    }
    if (i == first)
        return i;
    block->count += i - first;
    chain->traits |= traits;
    chain->start_ps = start_ps;
    chain->dur_ps = dur_ps;
    chain->id = id;
    chain->count += i - first;
    return i;
}

void tm_record_store_add_batch(struct tm_record_store *store, uint64_t track, const struct tm_batch *batch)
{
    if (track != store->track)
        turn_to(store, track);
    for (uint32_t i = add_small_ones(store, batch, 0); i < batch->count; i = add_small_ones(store, batch, i + 1))
        if (!add_small(store, batch->start_ps[i], batch->dur_ps[i], batch->correlation[i], batch->signature[i])) {
            struct tm_kept_record row = { .own_length = 0 };
            struct tm_raw_record raw = { .signature = 0 };

            tm_batch_get(batch, i, &raw);
            tm_fill_record(store->signatures, &raw);
            row.record = raw.record;
            row.traits = raw.traits;
            add_wide(store, &row);
        }
    if (batch->has_other)
        tm_record_store_add(store, &batch->other);
}

void tm_record_store_add_row(struct tm_record_store *store, const struct tm_kept_record *row)
{
    const struct tm_record *const r = &row->record;
    const struct tm_raw_record raw = { .record = *r, .traits = row->traits };
    const uint32_t signature = row->own_length ? 0 : tm_signature_of(store->signatures, &raw);

    if (r->track != store->track)
        turn_to(store, r->track);
    if (!signature || !add_small(store, r->start_ps, r->dur_ps, r->correlation, signature))
        add_wide(store, row);
}

/* Times that are near the recorded ones, instead of an id: so most records stay short. */
static bool pack_times(const struct tm_record *r, const struct tm_device_times *times, uint64_t *packed)
{
    const int64_t ahead_ps = r->start_ps - times->offset_ps, longer_ps = r->dur_ps - times->duration_ps; /* they fit */

    if (ahead_ps < -TIMED_AHEAD_MOST || ahead_ps >= TIMED_AHEAD_MOST || longer_ps < -TIMED_LONGER_MOST ||
        longer_ps >= TIMED_LONGER_MOST)
        return false;
    *packed =
        (uint64_t)(ahead_ps + TIMED_AHEAD_MOST) * (2 * TIMED_LONGER_MOST) + (uint64_t)(longer_ps + TIMED_LONGER_MOST);
    return *packed && !r->correlation && !r->args_length;
}

static void unpack_times(struct tm_record *r, struct tm_device_times *times)
{
    times->offset_ps = r->start_ps + TIMED_AHEAD_MOST - (int64_t)(r->correlation / (2 * TIMED_LONGER_MOST));
    times->duration_ps = r->dur_ps + TIMED_LONGER_MOST - (int64_t)(r->correlation % (2 * TIMED_LONGER_MOST));
    r->correlation = 0;
    r->flags &= (uint16_t)~TM_FLAG_TIMED;
}

/* In the table, and the row is what the record has for arguments. */
static void add_timed_row(struct tm_record_store *store, const struct tm_raw_record *raw,
                          const struct tm_device_times *times)
{
    const bool has_number = raw->record.args_length == sizeof(struct tm_number);
    const struct timed_args args = { *times,
                                     has_number ? *(const struct tm_number *)raw->args : (struct tm_number){ 0 },
                                     has_number };
    struct tm_raw_record timed = *raw;
    timed_row row;

    if (!store->timed)
        store->timed = tm_rows_new_paged(store->run, TM_ACCOUNT_INPUT, sizeof(args), TIMED_BYTES, TIMED_PAGE_BYTES);
    if (!store->timed)
        return;
    if (tm_rows_count(store->timed) > UINT32_MAX) {
        (void)tm_fail(&store->run->error, TM_ERR_LIMIT, -1,
                      "the trace has more than %u ops with times of a device's clock", UINT32_MAX);
        return;
    }
    row = (timed_row)tm_rows_count(store->timed);
    tm_rows_append(store->timed, &args);
    timed.args = &row;
    timed.record.args_length = sizeof(row);
    tm_record_store_add(store, &timed);
}

void tm_record_store_add_timed(struct tm_record_store *store, const struct tm_raw_record *raw,
                               const struct tm_device_times *times)
{
    struct tm_raw_record timed = *raw;

    if (!pack_times(&raw->record, times, &timed.record.correlation)) {
        add_timed_row(store, raw, times);
        return;
    }
    timed.record.flags |= TM_FLAG_TIMED;
    timed.signature = 0;
    tm_record_store_add(store, &timed);
    store->chain.traits |= TM_STORED_TIMED;
}

/* --- reading --- */

static struct chain find_chain(const struct tm_record_store *store, uint64_t track)
{
    if (track == store->track)
        return store->chain;
    return track < tm_rows_count(store->chains) ? *(const struct chain *)tm_rows_at(store->chains, track)
                                                : (struct chain){ .count = 0 };
}

struct tm_stored_track tm_record_store_track(const struct tm_record_store *store, uint64_t track)
{
    const struct chain chain = find_chain(store, track);

    return (struct tm_stored_track){ .count = chain.count, .traits = chain.traits };
}

uint64_t tm_record_store_count(const struct tm_record_store *store, uint64_t track)
{
    return find_chain(store, track).count;
}

void tm_record_store_clear(struct tm_record_store *store, uint64_t track)
{
    uint64_t number, next;

    if (track != store->track)
        turn_to(store, track);
    number = store->chain.first;
    for (uint32_t class = 0; number && !tm_failed(store->run); class ++) {
        const uint64_t last = class < LARGEST ? number : store->chain.last; /* all after the third are largest ones */
        struct block *const block = block_at(store, last);

        next = block->next;
        block->next = store->spare[class];
        store->spare[class] = number;
        number = next;
    }
    store->chain = (struct chain){ .count = 0 };
    store->block = NULL;
}

/* --- reading --- */

void tm_record_store_begin(struct tm_record_store *store, uint64_t track, struct tm_record_place *place)
{
    *place = (struct tm_record_place){ .store = store, .track = (uint32_t)track };
    place->rows = tm_take(&store->run->budget, TM_ACCOUNT_INPUT, TM_RECORD_PLACE_BYTES, &store->run->error);
    if (place->rows) {
        const struct chain chain = find_chain(store, track);

        place->next_block = chain.first;
        place->is_timed = chain.traits & TM_STORED_TIMED;
    }
}

void tm_record_store_end(struct tm_record_place *place)
{
    if (place->rows)
        tm_give(&place->store->run->budget, TM_ACCOUNT_INPUT, place->rows, TM_RECORD_PLACE_BYTES);
    place->rows = NULL;
}

/* out: false: the run has failed */
TM_NOT_INLINE bool copy_block(struct tm_record_place *place)
{
    struct tm_record_store *const store = place->store;
    const struct block *const block = tm_rows_at(store->blocks, place->next_block - 1);

    store->block = NULL; /* its page may have been evicted */
    if (tm_failed(store->run))
        return false;
    memcpy(place->rows, block->rows, block->count * sizeof(block->rows[0]));
    place->block = place->next_block;
    place->count = block->count;
    place->start_ps = block->start_ps;
    place->id = block->id;
    place->at = 0;
    place->next_block = block->next;
    if (place->forgets)
        tm_rows_forget(store->blocks, place->block - 1, units_of(block->room));
    return true;
}

/* The rows of the next record, NULL at the end. */
static inline const union tm_packed *step(struct tm_record_place *place)
{
    const union tm_packed *rows;

    if (place->at == place->count && (!place->next_block || !copy_block(place)))
        return NULL;
    rows = &place->rows[place->at];
    place->at += tm_packed_rows(rows);
    return rows;
}

/* Read the rows of a record.  out: *to, *traits  except for what only the second part of a long one has */
static inline void unpack(struct tm_record_place *place, const union tm_packed *rows, struct tm_record *to,
                          uint32_t *traits)
{
    if (tm_is_small(rows)) {
        struct tm_raw_record raw = { .signature = rows->small.signature_and_form >> TM_PACKED_SMALL_BITS };

        tm_fill_record(place->store->signatures, &raw);
        *to = raw.record;
        *traits = raw.traits;
        to->start_ps = (int64_t)((uint64_t)place->start_ps + rows->small.step_ps);
        to->dur_ps = rows->small.dur_ps;
        to->correlation = tm_id_after(place->id, rows->small.id_step);
    } else {
        tm_unpack_whole(rows, to, traits);
    }
    to->track = place->track;
    place->start_ps = to->start_ps;
    place->id = to->correlation ? to->correlation : place->id;
}

static void unpack_row(struct tm_record_place *place, const union tm_packed *rows)
{
    struct tm_kept_record *const row = &place->row;

    row->own_length = 0;
    row->args = 0;
    unpack(place, rows, &row->record, &row->traits);
    if (tm_is_long(rows))
        tm_unpack_more(&rows[TM_PACKED_WHOLE_ROWS], row);
}

const struct tm_kept_record *tm_record_store_next_row(struct tm_record_place *place)
{
    const union tm_packed *const rows = step(place);

    if (!rows)
        return NULL;
    unpack_row(place, rows);
    place->signature = tm_is_small(rows) ? rows->small.signature_and_form >> TM_PACKED_SMALL_BITS : 0;
    return &place->row;
}

/* The arguments and times of an op that has its own time. */
static void give_timed(struct tm_record_place *place, struct tm_raw_record *raw)
{
    const struct timed_args *args;
    timed_row row;

    memcpy(&row, &place->args, sizeof(row));
    args = tm_rows_at(place->store->timed, row);
    place->times = args->times;
    place->has_times = true;
    memcpy(&place->args, &args->number, sizeof(args->number));
    raw->record.args_length = args->has_number ? sizeof(args->number) : 0;
}

static void give_packed_times(struct tm_record_place *place, struct tm_raw_record *raw)
{
    unpack_times(&raw->record, &place->times);
    place->has_times = true;
    raw->signature = 0;
}

/* out: false: it cannot be read */
TM_NOT_INLINE bool give_long(struct tm_record_place *place, const union tm_packed *rows, struct tm_raw_record *raw)
{
    unpack_row(place, rows);
    if (tm_unkeep_record(&place->store->args, &place->row, &place->args, raw) != TM_OK)
        return false;
    if (raw->record.flags & TM_FLAG_TIMED)
        give_packed_times(place, raw);
    if (raw->record.args_length == sizeof(timed_row))
        give_timed(place, raw);
    return true;
}

bool tm_record_store_next(struct tm_record_place *place, struct tm_raw_record *raw)
{
    const union tm_packed *const rows = step(place);

    if (!rows)
        return false;
    place->has_times = false;
    raw->signature = 0;
    if (tm_is_long(rows))
        return give_long(place, rows, raw);
    place->row.own_length = 0;
    unpack(place, rows, &raw->record, &raw->traits);
    if (tm_is_small(rows))
        raw->signature = rows->small.signature_and_form >> TM_PACKED_SMALL_BITS;
    raw->args = &place->args;
    raw->own = (struct tm_arguments){ .length = 0 };
    if (raw->record.flags & TM_FLAG_TIMED)
        give_packed_times(place, raw);
    return true;
}

/* All that follow in one row each, as far as there is room.  Signatures are not examined. */
static inline void take_small(struct tm_record_place *place, struct tm_batch *batch)
{
    const union tm_packed *rows = &place->rows[place->at];
    const uint32_t left = place->count - place->at, room = TM_BATCH_RECORDS - batch->count;
    const union tm_packed *const end = rows + (left < room ? left : room);
    int64_t start_ps = place->start_ps;
    uint64_t id = place->id;
    uint32_t n = batch->count;

    for (; rows < end && tm_is_small(rows); rows++, n++) {
        const uint64_t own = tm_id_after(id, rows->small.id_step);

        start_ps = (int64_t)((uint64_t)start_ps + rows->small.step_ps);
        batch->start_ps[n] = start_ps;
        batch->dur_ps[n] = rows->small.dur_ps;
        batch->correlation[n] = own;
        batch->signature[n] = rows->small.signature_and_form >> TM_PACKED_SMALL_BITS;
        id = own ? own : id;
    }
    place->at = (uint32_t)(rows - place->rows);
    place->start_ps = start_ps;
    place->id = id;
    batch->count = n;
}

bool tm_record_store_next_batch(struct tm_record_place *place, struct tm_batch *batch)
{
    struct tm_raw_record raw;

    while (batch->count < TM_BATCH_RECORDS) {
        if (place->at == place->count && (batch->count || !place->next_block || !copy_block(place)))
            return batch->count > 0;
        if (!place->is_timed)
            take_small(place, batch);
        if (place->at == place->count || batch->count == TM_BATCH_RECORDS)
            continue;
        if (!tm_record_store_next(place, &raw))
            return batch->count > 0;
        if (!tm_batch_put(batch, place->store->signatures, &raw))
            return true;
    }
    return true;
}

/* --- sorting --- */

enum { RUNS_MOST = 16 };

/* Records of a track that are in order, from its start or from one that is before its predecessor. */
struct run {
    struct tm_record_place place; /* not open: its first record; open: behind the next one */
    const union tm_packed *rows;  /* of the next record; NULL = the run has ended */
    int64_t start_ps, dur_ps;
    uint64_t id;
    uint64_t left; /* records behind that */
};

static inline bool is_in_order(int64_t start_ps, int64_t dur_ps, int64_t next_start_ps, int64_t next_dur_ps)
{
    return start_ps < next_start_ps || (start_ps == next_start_ps && dur_ps >= next_dur_ps);
}

static inline void unpack_kept(const union tm_packed *rows, struct tm_kept_record *to)
{
    to->own_length = 0;
    to->args = 0;
    tm_unpack_whole(rows, &to->record, &to->traits);
    if (tm_is_long(rows))
        tm_unpack_more(&rows[TM_PACKED_WHOLE_ROWS], to);
}

/* out: false: there is no other record, or the job has failed */
static inline bool advance(struct run *run)
{
    struct tm_record_place *const place = &run->place;

    run->rows = run->left ? step(place) : NULL;
    if (!run->rows)
        return false;
    run->left--;
    if (tm_is_small(run->rows)) {
        run->start_ps = (int64_t)((uint64_t)place->start_ps + run->rows->small.step_ps);
        run->dur_ps = run->rows->small.dur_ps;
        run->id = tm_id_after(place->id, run->rows->small.id_step);
    } else {
        struct tm_kept_record kept;

        unpack_kept(run->rows, &kept);
        run->start_ps = kept.record.start_ps;
        run->dur_ps = kept.record.dur_ps;
        run->id = kept.record.correlation;
    }
    place->start_ps = run->start_ps;
    place->id = run->id ? run->id : place->id;
    return true;
}

/* out: how many there are; more than RUNS_MOST: not all of them */
static size_t find_runs(struct tm_record_store *store, uint64_t track, struct run runs[RUNS_MOST])
{
    struct run all = { .left = UINT64_MAX };
    int64_t start_ps = INT64_MAX, dur_ps = 0, before_ps = 0; /* of the record before */
    uint64_t before_id = 0;
    size_t count = 0;

    tm_record_store_begin(store, track, &all.place);
    while (advance(&all)) {
        if (!is_in_order(start_ps, dur_ps, all.start_ps, all.dur_ps)) {
            if (++count > RUNS_MOST)
                break;
            runs[count - 1] = (struct run){ .place = { .block = all.place.block,
                                                       .at = (uint32_t)(all.rows - all.place.rows),
                                                       .start_ps = before_ps,
                                                       .id = before_id } };
        }
        runs[count - 1].left++;
        start_ps = before_ps = all.start_ps;
        dur_ps = all.dur_ps;
        before_id = all.place.id;
    }
    tm_record_store_end(&all.place);
    return count;
}

/* A block that was copied for all runs that have records in it may be used again. */
static void spare_block(struct tm_record_store *store, uint64_t number)
{
    struct block *const block = block_at(store, number);
    uint32_t class = 0;

    while (block->room > room_of(class))
        class ++;
    block->next = store->spare[class];
    store->spare[class] = number;
}

/* Open the place of a run, and turn to its first record. */
static void open_run(struct tm_record_store *store, uint64_t track, struct run *run)
{
    const struct tm_record_place first = run->place;

    tm_record_store_begin(store, track, &run->place);
    run->place.next_block = first.block;
    if (!run->place.rows || !copy_block(&run->place))
        return;
    run->place.at = first.at;
    run->place.start_ps = first.start_ps;
    run->place.id = first.id;
    (void)advance(run);
}

/* Add a small record that needs more rows at its new place. */
TM_NOT_INLINE void add_widened(struct tm_record_store *store, const struct run *run, uint32_t signature)
{
    struct tm_raw_record raw = { .signature = signature };
    struct tm_kept_record kept = { .own_length = 0 };

    tm_fill_record(store->signatures, &raw);
    kept.record = raw.record;
    kept.record.start_ps = run->start_ps;
    kept.record.dur_ps = run->dur_ps;
    kept.record.correlation = run->id;
    kept.traits = raw.traits;
    add_wide(store, &kept);
}

/* Add the next record of a run to the chain at hand. */
static inline void add_next(struct tm_record_store *store, const struct run *run)
{
    const union tm_packed *const rows = run->rows;

    if (tm_is_small(rows)) {
        const uint32_t signature = rows->small.signature_and_form >> TM_PACKED_SMALL_BITS;

        if (!add_small(store, run->start_ps, run->dur_ps, run->id, signature))
            add_widened(store, run, signature);
    } else {
        struct tm_kept_record kept;

        unpack_kept(rows, &kept);
        kept.record.track = run->place.track;
        if (tm_is_long(rows))
            add_wide(store, &kept);
        else
            tm_record_store_add_row(store, &kept);
    }
}

/* Merge runs into the chain at hand: those whose records come first in the track have lower numbers, and precede where
 * both are at one time. */
static void merge_runs(struct tm_record_store *store, struct run *runs, size_t count)
{
    uint64_t block;

    while (!tm_failed(store->run)) {
        struct run *first = NULL, *second = NULL;

        for (struct run *run = runs; run < runs + count; run++) {
            if (!run->rows)
                continue;
            if (!first || !is_in_order(first->start_ps, first->dur_ps, run->start_ps, run->dur_ps)) {
                second = first;
                first = run;
            } else if (!second || !is_in_order(second->start_ps, second->dur_ps, run->start_ps, run->dur_ps)) {
                second = run;
            }
        }
        if (!first)
            return;
        do {
            add_next(store, first);
            block = first->place.block;
            (void)advance(first);
            if (first->place.block != block) /* copied, as it was for the runs that start in it */
                spare_block(store, first->place.block);
        } while (first->rows &&
                 (!second ||
                  (first < second ? is_in_order(first->start_ps, first->dur_ps, second->start_ps, second->dur_ps)
                                  : !is_in_order(second->start_ps, second->dur_ps, first->start_ps, first->dur_ps))));
    }
}

bool tm_record_store_merge(struct tm_record_store *store, uint64_t track)
{
    struct run runs[RUNS_MOST];
    const size_t count = find_runs(store, track, runs);

    if (count > RUNS_MOST)
        return false;
    if (track != store->track)
        turn_to(store, track);
    for (size_t i = 0; i < count; i++)
        open_run(store, track, &runs[i]);
    for (size_t i = 0; i < count && !tm_failed(store->run); i++)
        if (runs[i].rows == runs[i].place.rows) /* no run comes from the block before */
            spare_block(store, runs[i].place.block);
    store->chain = (struct chain){ .count = 0 };
    store->block = NULL;
    merge_runs(store, runs, count);
    for (size_t i = 0; i < count; i++)
        tm_record_store_end(&runs[i].place);
    return true;
}

bool tm_record_store_join_own(struct tm_record_store *store, struct tm_kept_record *row,
                              const struct tm_kept_record *with)
{
    bool is_cut = false;

    return tm_kept_args_join(&store->args, row, with, &is_cut) == TM_OK && is_cut;
}

tm_status tm_record_store_own(struct tm_record_place *place, struct tm_raw_record *raw, uint8_t **bytes)
{
    *bytes = place->store->args.own;
    return tm_unkeep_own(&place->store->args, &place->row, raw);
}
