/* SPDX-License-Identifier: Apache-2.0 */
/* A track that is only out of order is merged, if it is a few runs in order, or sorted as rows of 32 bytes.  Else the records of a track are taken out; halves
 * and flows are sorted by key and time, so that there is one stack and one flow at a time for any number of keys; then
 * everything goes through a sort by time back into the track.  Each row knows its place in the file, which decides
 * between equal times. */
#include "stages/input/records/record_store.h"

#include "pipeline/source.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/hash.h"
#include "pipeline/store/sorter.h"
#include "stages/input/records/flow_tally.h"

/* The stack is an array that is never truncated; entries of the same bucket (a hash of the name) are chained from the
 * innermost outwards; the number of buckets grows with the stack, up to a quarter of the memory.  An entry that is
 * taken from the middle leaves its chain at once, and the stack when it reaches the top, so the top is always open. */

enum { FIRST_BUCKET_BITS = 6, STACK_PAGE_BYTES = 8 << 10, OTHERS_PAGE_BYTES = 16 << 10 };

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

/* Add buckets; the entries are chained again from the outermost inwards. */
static void widen(struct tm_open_begins *open)
{
    const size_t old_bytes = bucket_bytes(open->bucket_bits);
    const uint32_t bits =
        open->bucket_bits + 2 < open->most_bucket_bits ? open->bucket_bits + 2 : open->most_bucket_bits;
    uint64_t *const inner = tm_take(&open->run->budget, open->account, bucket_bytes(bits), &open->run->error);

    if (!inner)
        return;
    tm_give(&open->run->budget, open->account, open->inner, old_bytes);
    open->inner = inner;
    open->bucket_bits = bits;
    for (uint64_t at = 1; at <= open->depth; at++) {
        struct entry *const entry = tm_rows_change(open->stack, at - 1);
        uint64_t *const bucket = bucket_of(open, &entry->begin.name);

        if (entry->is_taken)
            continue;
        entry->outer = *bucket;
        *bucket = at;
    }
}

void tm_open_begins_push(struct tm_open_begins *open, const struct tm_open_begin *begin)
{
    struct entry new = { .begin = *begin };
    uint64_t *bucket;

    if (open->depth >> open->bucket_bits && open->bucket_bits < open->most_bucket_bits)
        widen(open);
    bucket = bucket_of(open, &begin->name);
    new.outer = *bucket;
    if (open->depth == tm_rows_count(open->stack))
        tm_rows_append(open->stack, &new);
    else
        *(struct entry *)tm_rows_change(open->stack, open->depth) = new;
    if (!tm_failed(open->run))
        *bucket = ++open->depth;
}

/* Nothing that was taken is on top. */
static void lower_top(struct tm_open_begins *open)
{
    while (open->depth && ((const struct entry *)tm_rows_at(open->stack, open->depth - 1))->is_taken)
        open->depth--;
}

/* The innermost entry of a name: its number plus one, 0 = none.
 * out: *inside  that of the entry of the same bucket just inside it, 0 = none */
static uint64_t find(struct tm_open_begins *open, const struct tm_key *name, uint64_t *inside)
{
    uint64_t at = *bucket_of(open, name);

    *inside = 0;
    while (at) {
        const struct entry *entry = tm_rows_at(open->stack, at - 1);

        if (tm_is_same_key(entry->begin.name, *name))
            break;
        *inside = at;
        at = entry->outer;
    }
    return at;
}

/* Take an entry out of its bucket. */
static void take(struct tm_open_begins *open, uint64_t at, uint64_t inside, struct tm_open_begin *begin)
{
    struct entry *const entry = tm_rows_change(open->stack, at - 1);
    const uint64_t outer = entry->outer;

    *begin = entry->begin;
    entry->is_taken = true;
    if (inside)
        ((struct entry *)tm_rows_change(open->stack, inside - 1))->outer = outer;
    else
        *bucket_of(open, &begin->name) = outer;
}

bool tm_open_begins_pop(struct tm_open_begins *open, const struct tm_key *name, struct tm_open_begin *begin)
{
    uint64_t inside = 0;
    /* the top is open, and the innermost of its bucket */
    const uint64_t at = name ? find(open, name, &inside) : open->depth;

    if (!at || tm_failed(open->run))
        return false;
    take(open, at, inside, begin);
    lower_top(open);
    return true;
}

struct ordered_row {
    struct tm_kept_record kept;
    uint64_t order; /* its place among the records of the track */
};

/* Ends that come before the start of their flow, at its time. */
enum { EARLY_MOST = 64, ORDER_STEP = 2 * EARLY_MOST /* between two records of the file */ };

struct join {
    struct tm_run *run;
    struct tm_names *names;
    struct tm_record_store *store;
    bool has_duplicates;
    struct tm_sorter *by_key, *by_time; /* struct ordered_row */
    struct tm_open_begins *open;        /* of the current key */
    uint64_t key;
    struct tm_key_flow flow;              /* of the current key */
    struct ordered_row early[EARLY_MOST]; /* of it, at one time, before its first start */
    size_t early_count;
    bool is_keyed; /* the track holds keys: it is not a line of the file */
};

static uint64_t key_of(const struct tm_record *r)
{
    return r->flags & (TM_FLAG_CORRELATION | TM_FLAG_RUN_ID) ? 0 : r->correlation;
}

static int compare_keys(const void *a, const void *b)
{
    const struct tm_record *const x = &((const struct ordered_row *)a)->kept.record;
    const struct tm_record *const y = &((const struct ordered_row *)b)->kept.record;
    const uint64_t i = key_of(x), j = key_of(y);

    if (i != j)
        return i < j ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

static int compare_times(const void *a, const void *b)
{
    const struct ordered_row *const x = a, *const y = b;
    const struct tm_record *const r = &x->kept.record, *const s = &y->kept.record;

    if (r->start_ps != s->start_ps)
        return r->start_ps < s->start_ps ? -1 : 1;
    if (r->dur_ps != s->dur_ps)
        return r->dur_ps > s->dur_ps ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static uint64_t prefix_of_keys(const void *row)
{
    return key_of(&((const struct ordered_row *)row)->kept.record);
}

static uint64_t prefix_of_times(const void *row)
{
    return tm_prefix_of(((const struct ordered_row *)row)->kept.record.start_ps);
}

/* --- starts and ends --- */

/* The key by which names are compared: the handle, or its hash if a name may have several handles. */
static struct tm_key name_key(const struct join *j, tm_strid name)
{
    return j->has_duplicates ? tm_names_info(j->names, name).hash : (struct tm_key){ .low = name };
}

static void push_begin(struct join *j, const struct ordered_row *row)
{
    const struct tm_open_begin begin = { .kept = row->kept,
                                         .order = row->order,
                                         .name = name_key(j, row->kept.record.name) };

    tm_open_begins_push(j->open, &begin);
}

static void push_span(struct join *j, const struct tm_open_begin *begin, int64_t dur_ps)
{
    struct ordered_row row = { .kept = begin->kept, .order = begin->order };

    row.kept.record.kind = TM_SPAN;
    row.kept.record.dur_ps = dur_ps;
    tm_sorter_push(j->by_time, &row);
}

static void join_end(struct join *j, const struct tm_kept_record *kept_end)
{
    const struct tm_record *const end = &kept_end->record;
    const struct tm_key name = end->name ? name_key(j, end->name) : (struct tm_key){ .low = 0 };
    struct tm_open_begin begin;
    int64_t dur_ps;

    if (!tm_open_begins_pop(j->open, end->name ? &name : NULL, &begin)) {
        tm_tally_add(&j->run->tallies, TM_TALLY_UNMATCHED_END, 1);
        return;
    }
    if (__builtin_sub_overflow(end->start_ps, begin.kept.record.start_ps, &dur_ps))
        dur_ps = INT64_MAX;
    if (tm_record_store_join_own(j->store, &begin.kept, kept_end))
        tm_tally_add(&j->run->tallies, TM_TALLY_LONG_ARGUMENTS, 1);
    push_span(j, &begin, dur_ps);
}

/* Everything that is still open was never ended. */
static void push_open_ones(struct join *j)
{
    struct tm_open_begin begin;

    while (j->open && tm_open_begins_pop(j->open, NULL, &begin)) {
        begin.kept.record.flags |= TM_FLAG_OPEN;
        tm_tally_add(&j->run->tallies, TM_TALLY_UNMATCHED_BEGIN, 1);
        push_span(j, &begin, 0);
    }
}

/* --- flows --- */

/* No start came at their time. */
static void push_early(struct join *j)
{
    for (size_t i = 0; i < j->early_count; i++) {
        j->early[i].kept.record.flags |= TM_FLAG_OPEN;
        tm_sorter_push(j->by_time, &j->early[i]);
    }
    j->early_count = 0;
}

/* Writers order simultaneous events arbitrarily: an end may precede its start in the file.  It is then placed after
 * it. */
static bool keep_early(struct join *j, const struct ordered_row *row)
{
    if (j->early_count && j->early[0].kept.record.start_ps != row->kept.record.start_ps)
        push_early(j);
    if (j->early_count == EARLY_MOST)
        return false;
    j->early[j->early_count++] = *row;
    return true;
}

static void push_behind(struct join *j, const struct ordered_row *begin)
{
    if (j->early_count && j->early[0].kept.record.start_ps != begin->kept.record.start_ps)
        push_early(j);
    for (size_t i = 0; i < j->early_count; i++) {
        j->early[i].order = begin->order + 1 + i;
        tm_sorter_push(j->by_time, &j->early[i]);
    }
    j->early_count = 0;
}

static void push_flow(struct join *j, const struct ordered_row *row)
{
    struct ordered_row marked = *row;
    struct tm_record *const r = &marked.kept.record;
    const bool is_chained = r->flags & TM_FLAG_CHAINED, has_begun = j->flow.has_begun || is_chained;

    r->flags &= (uint16_t)~TM_FLAG_CHAINED;
    if (r->kind == TM_FLOW_BEGIN && !has_begun) {
        push_behind(j, &marked);
    } else if (!has_begun && keep_early(j, &marked)) {
        (void)tm_key_flow_follow(&j->flow, j->run, r->kind, false);
        return;
    } else if (r->kind != TM_FLOW_BEGIN && !has_begun) {
        r->flags |= TM_FLAG_OPEN;
    }
    r->kind = (uint8_t)tm_key_flow_follow(&j->flow, j->run, r->kind, is_chained);
    if (j->flow.number) /* viewers refuse a second flow of one id */
        r->correlation = tm_hash_mix(r->correlation, tm_hash_mix(j->flow.number, 0));
    tm_sorter_push(j->by_time, &marked);
}

/* --- the readings --- */

static void turn_to(struct join *j, uint64_t key)
{
    tm_key_flow_end(&j->flow, j->run);
    push_early(j);
    j->flow = (struct tm_key_flow){ .is_any = false };
    j->key = key;
    push_open_ones(j);
}

static void take_row(struct join *j, const struct ordered_row *row)
{
    const struct tm_record *const r = &row->kept.record;

    if (key_of(r) != j->key)
        turn_to(j, key_of(r));
    if (r->kind == TM_BEGIN)
        push_begin(j, row);
    else if (r->kind == TM_END)
        join_end(j, &row->kept);
    else
        push_flow(j, row);
}

/* Remove everything from the track: records with a key are put into one sort, the rest into another. */
static void read_track(struct join *j, uint64_t track)
{
    struct ordered_row row = { .order = 0 };
    struct tm_record_place place;
    const struct tm_kept_record *kept;

    tm_record_store_begin(j->store, track, &place);
    while ((kept = tm_record_store_next_row(&place))) {
        const bool is_plain = kept->record.kind < TM_FLOW_BEGIN;

        row.kept = *kept;
        row.order += ORDER_STEP;
        j->is_keyed |= !is_plain && (key_of(&kept->record) || kept->record.kind < TM_BEGIN);
        tm_sorter_push(is_plain ? j->by_time : j->by_key, &row);
    }
    tm_record_store_end(&place);
    tm_record_store_clear(j->store, track);
}

static void take_keys(struct join *j)
{
    const struct ordered_row *row;

    tm_sorter_finish(j->by_key);
    while ((row = tm_sorter_next(j->by_key)))
        take_row(j, row);
    turn_to(j, 0);
}

static void refill_track(struct join *j)
{
    const struct ordered_row *row;

    tm_sorter_finish(j->by_time);
    while ((row = tm_sorter_next(j->by_time)))
        tm_record_store_add_row(j->store, &row->kept);
}

/* --- flows that are not drawn --- */

/* Tally the flows of a track as joining them would, and leave the records as they are.
 * out: false: the track has other records too, and nothing was tallied */
static bool tally_flows(struct join *j, uint64_t track)
{
    struct tm_flow_tally *const tally =
        tm_flow_tally_new(j->run, TM_ACCOUNT_SORT, tm_budget_share(&j->run->budget, TM_ACCOUNT_SORT));
    struct tm_record_place place;
    const struct tm_kept_record *kept;
    bool is_all = true;

    if (!tally)
        return true;
    tm_record_store_begin(j->store, track, &place);
    while (is_all && (kept = tm_record_store_next_row(&place))) {
        const struct tm_record *const r = &kept->record;

        is_all = tm_is_flow(r);
        if (is_all)
            tm_flow_tally_add(tally, key_of(r), r->start_ps, (enum tm_kind)r->kind, r->flags & TM_FLAG_CHAINED);
    }
    tm_record_store_end(&place);
    if (is_all)
        tm_flow_tally_finish(tally);
    tm_flow_tally_free(tally);
    return is_all;
}

/* --- tracks that are out of order --- */

/* All of a record that has a signature, as nearly all have: 32 bytes instead of 72.  For tracks of many runs: older
 * versions of PyTorch write the calls of a thread when they end. */
struct short_row {
    int64_t start_ps, dur_ps;
    uint64_t correlation; /* of a record without a signature: its row of struct track_sort.others */
    uint64_t order_and_signature;
};

enum { SIGNATURE_BITS = 16 };

static_assert(TM_SIGNATURES_MOST < 1 << SIGNATURE_BITS, "a signature fits");

struct track_sort {
    struct tm_record_store *store;
    struct tm_sorter *by_time; /* struct short_row */
    struct tm_rows *others;    /* struct tm_kept_record */
};

static int compare_short_rows(const void *a, const void *b)
{
    const struct short_row *const x = a, *const y = b;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->dur_ps != y->dur_ps)
        return x->dur_ps > y->dur_ps ? -1 : 1;
    return (x->order_and_signature > y->order_and_signature) - (x->order_and_signature < y->order_and_signature);
}

static uint64_t prefix_of_short_rows(const void *row)
{
    return tm_prefix_of(((const struct short_row *)row)->start_ps);
}

/* The number of a record's signature; 0 = it has none. */
static uint32_t signature_of(const struct track_sort *s, const struct tm_record_place *place,
                             const struct tm_kept_record *kept)
{
    const struct tm_raw_record raw = { .record = kept->record, .traits = kept->traits };

    if (place->signature)
        return place->signature;
    return kept->own_length ? 0 : tm_signature_of(tm_record_store_signatures(s->store), &raw);
}

/* Remove everything from the track. */
static void empty_track(struct track_sort *s, uint64_t track)
{
    const struct tm_kept_record *kept;
    struct tm_record_place place;
    uint64_t order = 0;

    tm_record_store_begin(s->store, track, &place);
    while ((kept = tm_record_store_next_row(&place))) {
        const uint32_t signature = signature_of(s, &place, kept);
        const struct short_row row = {
            .start_ps = kept->record.start_ps,
            .dur_ps = kept->record.dur_ps,
            .correlation = signature ? kept->record.correlation : tm_rows_count(s->others),
            .order_and_signature = order++ << SIGNATURE_BITS | signature,
        };

        if (!signature)
            tm_rows_append(s->others, kept);
        tm_sorter_push(s->by_time, &row);
    }
    tm_record_store_end(&place);
    tm_record_store_clear(s->store, track);
}

/* Put a record with a signature back. */
static void put_short_row(struct track_sort *s, uint64_t track, const struct short_row *row)
{
    const uint32_t signature = row->order_and_signature & ((1 << SIGNATURE_BITS) - 1);
    struct tm_raw_record raw = { .signature = signature };
    struct tm_kept_record whole = { .own_length = 0 };

    if (tm_record_store_add_known(s->store, track, signature, row->start_ps, row->dur_ps, row->correlation))
        return;
    tm_fill_record(tm_record_store_signatures(s->store), &raw);
    whole.record = raw.record;
    whole.record.start_ps = row->start_ps;
    whole.record.dur_ps = row->dur_ps;
    whole.record.correlation = row->correlation;
    whole.traits = raw.traits;
    tm_record_store_add_row(s->store, &whole);
}

static void sort_track(struct tm_record_store *store, struct tm_run *run, uint64_t track)
{
    const size_t memory_bytes = tm_budget_share(&run->budget, TM_ACCOUNT_SORT);
    struct track_sort s = { .store = store };
    const struct short_row *row;

    s.by_time = tm_sorter_new(run, TM_ACCOUNT_SORT, sizeof(struct short_row), memory_bytes / 8 * 7, compare_short_rows);
    s.others =
        tm_rows_new_paged(run, TM_ACCOUNT_SORT, sizeof(struct tm_kept_record), memory_bytes / 8, OTHERS_PAGE_BYTES);
    if (s.by_time && s.others) {
        tm_sorter_set_prefix(s.by_time, prefix_of_short_rows);
        empty_track(&s, track);
        tm_sorter_finish(s.by_time);
        while ((row = tm_sorter_next(s.by_time))) {
            if (row->order_and_signature & ((1 << SIGNATURE_BITS) - 1))
                put_short_row(&s, track, row);
            else
                tm_record_store_add_row(store, tm_rows_at(s.others, row->correlation));
        }
    }
    tm_sorter_free(s.by_time);
    tm_rows_free(s.others);
}

/* Both sorts and the stack.  false: the run has failed */
static bool make_tables(struct join *j)
{
    struct tm_run *const run = j->run;
    const size_t memory_bytes = tm_budget_share(&run->budget, TM_ACCOUNT_SORT);
    const size_t sort = memory_bytes / 16 * 7;

    j->by_time = tm_sorter_new(run, TM_ACCOUNT_SORT, sizeof(struct ordered_row), sort, compare_times);
    if (j->by_time)
        tm_sorter_set_prefix(j->by_time, prefix_of_times);
    j->by_key = tm_sorter_new(run, TM_ACCOUNT_SORT, sizeof(struct ordered_row), sort, compare_keys);
    if (j->by_key)
        tm_sorter_set_prefix(j->by_key, prefix_of_keys);
    j->open = tm_open_begins_new(run, TM_ACCOUNT_SORT, memory_bytes / 8);
    return j->by_time && j->by_key && j->open;
}

void tm_pairs_join(struct tm_record_store *store, struct tm_trace *trace, uint64_t track)
{
    struct join j = { .run = trace->run,
                      .names = trace->names,
                      .store = store,
                      .has_duplicates = tm_names_have_duplicates(trace->names) };
    const uint32_t traits = tm_record_store_track(store, track).traits;
    const bool is_joined = traits & (TM_STORED_HALVES | TM_STORED_FLOWS);
    /* The lengths of spans in halves are not known before they are joined. */
    const bool is_unsorted = traits & (is_joined ? TM_STORED_BACK : TM_STORED_UNSORTED);

    if (!is_joined && !is_unsorted)
        return;
    if (trace->has_inert_flows && !(traits & TM_STORED_HALVES) && is_joined && tally_flows(&j, track))
        return;
    if (!is_joined) {
        if (!tm_record_store_merge(store, track))
            sort_track(store, trace->run, track);
    } else if (make_tables(&j)) {
        read_track(&j, track);
        take_keys(&j);
        refill_track(&j);
    }
    tm_sorter_free(j.by_time);
    tm_sorter_free(j.by_key);
    tm_open_begins_free(j.open);
    if (is_unsorted && !j.is_keyed)
        tm_tally_add(&j.run->tallies, TM_TALLY_UNSORTED_LINE, 1);
}
