/* SPDX-License-Identifier: Apache-2.0 */
/* From a record to an event.  No state but the tables of the survey: the same record gives the same event,
 * whenever it is requested. */
#include "stages/resolve/resolver.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/front.h"
#include "pipeline/source.h"
#include "pipeline/stage.h"
#include "pipeline/store/budget.h"
#include "pipeline/store/rows.h"
#include "pipeline/store/sorter.h"
#include "pipeline/trace.h"
#include "stages/resolve/classes.h"

/* Correlation ids increase during a run, and the lines of a trace are read one after the other: each of them has
 * increasing ids with gaps, which the next ones fill.  Therefore rows are stored by key from the start, the block grows
 * at either end, and a lookup is one access.  Keys of executions are hashes: the second one shows that they are
 * sparse. */

enum {
    ROWS_PER_KEY = 8, /* that the dense form may have at most, and some more: */
    ROWS_SPARE = 16 << 10,
    ROWS_ALIGNED = 1 << 10, /* the first key is rounded down: those of other lines may start a little before */
    LARGE_BYTES = 2 << 20,
    WIDE_PAGE_BYTES = 16 << 10,
    PAGE_BYTES = 16 << 10,
    ROW_BYTES = sizeof(struct tm_short_launch),
};

static_assert(TM_THREADS_MOST - 1 <= 0xfff && TM_DIRECTION_COUNT - 1 <= TM_LAUNCH_DIRECTION_MASK, "bits of `rest`");

struct tm_sparse_launch {
    uint64_t key;
    struct tm_short_launch row;
};

/* Fields that do not fit in a short row. */
struct tm_wide_launch {
    int64_t dur_ps;
    uint32_t track, thread;
};

struct tm_launches *tm_launches_new(struct tm_run *run, size_t memory_bytes)
{
    struct tm_launches *l = tm_take(&run->budget, TM_ACCOUNT_LAUNCHES, sizeof(*l), &run->error);

    if (!l)
        return NULL;
    l->run = run;
    l->memory_bytes = memory_bytes > sizeof(*l) ? memory_bytes - sizeof(*l) : 0;
    return l;
}

static void release_rows(struct tm_launches *l)
{
    tm_give(&l->run->budget, TM_ACCOUNT_LAUNCHES, l->rows, l->capacity * ROW_BYTES);
    tm_budget_put_back(&l->run->budget, l->drawn_bytes);
    l->rows = NULL;
    l->capacity = l->used = l->drawn_bytes = 0;
}

void tm_launches_free(struct tm_launches *l)
{
    if (!l)
        return;
    if (l->pages)
        l->rows = NULL; /* one of them */
    release_rows(l);
    tm_rows_free(l->pages);
    tm_index_free(l->sparse);
    tm_rows_free(l->wide);
    tm_give(&l->run->budget, TM_ACCOUNT_LAUNCHES, l, sizeof(*l));
}

/* Shares of the memory: an eighth for wide rows, a quarter for dense ones, the rest for sparse ones. */
static size_t dense_bytes(const struct tm_launches *l)
{
    return l->memory_bytes / 4;
}

static bool replaces_row(const struct tm_short_launch *old, const struct tm_short_launch *new)
{
    const bool is_named = (new->rest &TM_LAUNCH_NAMED) != 0;

    if (((old->rest & TM_LAUNCH_NAMED) != 0) != is_named)
        return is_named;
    return new->start_ps < old->start_ps;
}

static bool replaces_sparse(const void *a, const void *b)
{
    return replaces_row(&((const struct tm_sparse_launch *)a)->row, &((const struct tm_sparse_launch *)b)->row);
}

/* The number of its row. */
static uint64_t put_wide(struct tm_launches *l, const struct tm_launch *launch)
{
    const struct tm_wide_launch wide = { launch->dur_ps, launch->track, launch->thread };

    if (!l->wide)
        l->wide = tm_rows_new_paged(l->run, TM_ACCOUNT_LAUNCHES, sizeof(wide), l->memory_bytes / 8, WIDE_PAGE_BYTES);
    if (!l->wide)
        return 0;
    tm_rows_append(l->wide, &wide);
    return tm_rows_count(l->wide) - 1;
}

void tm_launches_widen(struct tm_launches *l, struct tm_launch *launch)
{
    const struct tm_wide_launch *wide = tm_rows_at(l->wide, (uint64_t)launch->dur_ps);

    launch->dur_ps = wide->dur_ps;
    launch->track = wide->track;
    launch->thread = wide->thread;
}

static struct tm_short_launch pack_launch(struct tm_launches *l, const struct tm_launch *launch)
{
    const bool fits = tm_launch_is_short(launch);
    const uint32_t thread = fits ? launch->thread : 0;
    const uint64_t dur_bits = fits ? (uint64_t)launch->dur_ps : put_wide(l, launch);
    struct tm_short_launch row = { .start_ps = launch->start_ps };

    if (fits)
        l->tracks[thread] = launch->track;
    row.rest = tm_launch_marks(launch) | (fits ? 0 : TM_LAUNCH_WIDE) | (uint64_t)thread << TM_LAUNCH_THREAD_SHIFT |
               dur_bits << TM_LAUNCH_DUR_SHIFT;
    return row;
}

static void put_sparse(struct tm_launches *l, uint64_t key, struct tm_short_launch row)
{
    l->first_key = l->count && l->first_key < key ? l->first_key : key;
    l->last_key = l->count && l->last_key > key ? l->last_key : key;
    l->count++;
    tm_index_put(l->sparse, &(struct tm_sparse_launch){ key, row });
}

/* From now on all of them are in `sparse`.  For a moment both exist, each within its own share. */
static void become_sparse(struct tm_launches *l)
{
    const size_t bytes = l->memory_bytes - dense_bytes(l) - l->memory_bytes / 8;

    l->sparse = tm_index_new(l->run, TM_ACCOUNT_LAUNCHES, sizeof(struct tm_sparse_launch), bytes, TM_INDEX_ASK,
                             replaces_sparse);
    if (!l->sparse)
        return;
    l->count = 0;
    for (size_t i = 0; i < l->used; i++) {
        if (l->rows[i].rest != 0)
            put_sparse(l, l->least_key + i, l->rows[i]);
    }
    release_rows(l);
}

/* The next number of rows of the block, so that `needed` fit: twice as many while it is small, then a quarter more. */
static size_t next_capacity(const struct tm_launches *l, size_t needed)
{
    const size_t bytes = needed * ROW_BYTES;
    const size_t more = l->capacity * ROW_BYTES < LARGE_BYTES ? l->capacity * 2 : l->capacity / 4 * 5;
    const size_t wanted = needed > more ? needed : more;

    if (bytes < LARGE_BYTES)
        return (wanted + ROWS_ALIGNED - 1) / ROWS_ALIGNED * ROWS_ALIGNED;
    return (wanted * ROW_BYTES + LARGE_BYTES - 1) / LARGE_BYTES * (LARGE_BYTES / ROW_BYTES);
}

/* A small block is held twice while it moves. */
static bool may_have(struct tm_launches *l, size_t capacity)
{
    const size_t old_bytes = l->capacity * ROW_BYTES;
    const size_t bytes = capacity * ROW_BYTES + (tm_is_large_block(old_bytes) ? 0 : old_bytes);
    const size_t sure = dense_bytes(l) + l->drawn_bytes;

    if (bytes <= sure)
        return true;
    if (!tm_budget_draw(&l->run->budget, bytes - sure))
        return false;
    l->drawn_bytes += bytes - sure;
    return true;
}

static void resize(struct tm_launches *l, size_t capacity)
{
    struct tm_run *run = l->run;
    struct tm_short_launch *rows = tm_retake(&run->budget, TM_ACCOUNT_LAUNCHES, l->rows, l->capacity * ROW_BYTES,
                                             capacity * ROW_BYTES, &run->error);

    if (!rows)
        return;
    if (capacity > l->capacity && !tm_is_large_block(capacity * ROW_BYTES)) /* a large block is zero already */
        memset(rows + l->capacity, 0, (capacity - l->capacity) * ROW_BYTES);
    l->rows = rows;
    l->capacity = capacity;
}

static void shift_up(struct tm_launches *l, size_t rows)
{
    memmove(l->rows + rows, l->rows, l->used * ROW_BYTES);
    memset(l->rows, 0, (rows < l->used ? rows : l->used) * ROW_BYTES);
    l->least_key -= rows;
    l->used += rows;
}

/* By how many rows the block has to start earlier for a key: none if it follows the first one.  A block that has to
 * move gets a fourth more, so that descending keys do not move it each time. */
static uint64_t rows_before(const struct tm_launches *l, uint64_t key)
{
    const uint64_t before = l->least_key - key;

    if (key - l->least_key < before)
        return 0;
    return before + l->used / 4;
}

/* Make room for a key that is outside the block, or become sparse. */
static void make_room(struct tm_launches *l, uint64_t key)
{
    if (l->capacity == 0)
        l->least_key = key - key % ROWS_ALIGNED;
    const uint64_t before = l->used ? rows_before(l, key) : 0;
    const uint64_t behind = before ? l->used : key - l->least_key + 1;
    const uint64_t most = ROWS_PER_KEY * (uint64_t)l->count + ROWS_SPARE;
    const bool is_dense = before <= most && behind <= most - before;
    const size_t needed = is_dense ? (size_t)(before + behind) : 0;
    const size_t capacity = needed > l->capacity ? next_capacity(l, needed) : l->capacity;

    if (!is_dense || (capacity > l->capacity && !may_have(l, capacity))) {
        become_sparse(l);
        return;
    }
    if (capacity > l->capacity)
        resize(l, capacity);
    if (needed <= l->capacity && before)
        shift_up(l, (size_t)before);
}

void tm_launches_put(struct tm_launches *l, const struct tm_launch *launch)
{
    const struct tm_short_launch row = pack_launch(l, launch);

    if (!l->sparse && launch->key - l->least_key >= l->capacity)
        make_room(l, launch->key);
    if (tm_failed(l->run))
        return;
    if (l->sparse) {
        put_sparse(l, launch->key, row);
        return;
    }
    const size_t at = (size_t)(launch->key - l->least_key);
    struct tm_short_launch *const old = &l->rows[at];

    if (old->rest && !replaces_row(old, &row))
        return;
    l->count += !old->rest;
    l->used = at < l->used ? l->used : at + 1;
    *old = row;
}

/* Release what the block did not use. */
static void trim(struct tm_launches *l)
{
    if (!tm_is_large_block(l->used * ROW_BYTES))
        return;
    resize(l, l->used);
    const size_t bytes = l->capacity * ROW_BYTES, sure = dense_bytes(l);
    const size_t drawn = bytes > sure ? bytes - sure : 0;

    if (drawn < l->drawn_bytes) {
        tm_budget_put_back(&l->run->budget, l->drawn_bytes - drawn);
        l->drawn_bytes = drawn;
    }
}

/* A tm_index_take: they come in the order of their keys. */
static void append_page(void *to, const void *row)
{
    struct tm_launches *const l = to;
    const struct tm_sparse_launch *const launch = row;

    if (launch->key - l->first_key > tm_rows_count(l->pages))
        tm_rows_resize(l->pages, launch->key - l->first_key);
    tm_rows_append(l->pages, &launch->row);
}

/* Sorted launches whose keys are dense take 16 bytes each instead of 24 in pages, and a lookup takes no search: a
 * report of 5 million events at --memory 32M takes a thirteenth less CPU time.
 * out: false: they stay as they are */
static bool become_paged(struct tm_launches *l)
{
    if (l->last_key - l->first_key > l->count + l->count / 2)
        return false;
    l->pages = tm_rows_new_paged(l->run, TM_ACCOUNT_LAUNCHES, ROW_BYTES, dense_bytes(l), PAGE_BYTES);
    if (!l->pages || !tm_index_give(l->sparse, append_page, l)) {
        tm_rows_free(l->pages);
        l->pages = NULL;
        return false;
    }
    tm_index_free(l->sparse);
    l->sparse = NULL;
    if (!tm_failed(l->run))
        tm_rows_allow(l->pages, l->memory_bytes - l->memory_bytes / 8);
    return true;
}

void tm_launches_finish(struct tm_launches *l)
{
    if (l->sparse && !become_paged(l))
        tm_index_finish(l->sparse);
    if (l->sparse || l->pages)
        return;
    trim(l);
    l->first_key = l->least_key;
}

uint64_t tm_launches_most_number(const struct tm_launches *l)
{
    if (l->pages)
        return tm_rows_count(l->pages);
    return l->sparse ? tm_index_most_number(l->sparse) : l->used;
}

bool tm_launches_turn(struct tm_launches *l, uint64_t key)
{
    const uint64_t at = key - l->first_key, in_page = PAGE_BYTES / ROW_BYTES;
    uint64_t count;

    l->used = 0;
    if (at >= tm_rows_count(l->pages) || tm_failed(l->run))
        return false;
    l->rows = (struct tm_short_launch *)(uintptr_t)tm_rows_span(l->pages, at / in_page * in_page, &count);
    l->least_key = l->first_key + at / in_page * in_page;
    l->used = tm_failed(l->run) ? 0 : (size_t)count;
    return at % in_page < l->used;
}

uint64_t tm_launches_find_sparse(struct tm_launches *l, uint64_t key, struct tm_launch *launch)
{
    uint64_t number;
    const struct tm_sparse_launch *const found = tm_index_find(l->sparse, key, &number);

    if (!found)
        return 0;
    tm_launches_unpack(l, key, found->row, launch);
    return number;
}

/* Stretches of time, sorted by (lane, begin) and found by binary search.  Lookups come mostly in time
 * order, from several lanes in turn, so what was found last on a lane is tried first, and then the places near it. */

enum { RECALLS = 16 }; /* a power of two */

/* The last result on one of some lanes: the same is found from from_ps on, up to until_ps. */
struct recall {
    uint64_t lane;
    int64_t from_ps, until_ps; /* equal = nothing was found yet */
    uint64_t last;             /* where the lookup ended */
    bool has_span;
    struct tm_span span;
};

struct tm_spans {
    struct tm_run *run;
    enum tm_account account;
    struct tm_sorter *sorter; /* until finish */
    struct tm_rows *rows;     /* struct tm_span */
    size_t memory_bytes;
    uint64_t longest_lane;
    struct recall recalls[RECALLS]; /* by the lowest bits of the lane */
};

static int by_lane_and_begin(const void *a, const void *b)
{
    const struct tm_span *x = a, *y = b;

    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return x->end_ps == y->end_ps ? 0 : x->end_ps > y->end_ps ? -1 : 1;
}

struct tm_spans *tm_spans_new(struct tm_run *run, enum tm_account account, size_t memory_bytes)
{
    struct tm_spans *spans = tm_take(&run->budget, account, sizeof(*spans), &run->error);

    if (!spans)
        return NULL;
    *spans = (struct tm_spans){ .run = run, .account = account, .memory_bytes = memory_bytes };
    spans->sorter = tm_sorter_new(run, account, sizeof(struct tm_span), memory_bytes / 2, by_lane_and_begin);
    spans->rows = tm_rows_new(run, account, sizeof(struct tm_span), memory_bytes / 2);
    if (spans->sorter && spans->rows)
        return spans;
    tm_spans_free(spans);
    return NULL;
}

void tm_spans_free(struct tm_spans *spans)
{
    if (!spans)
        return;
    tm_sorter_free(spans->sorter);
    tm_rows_free(spans->rows);
    tm_give(&spans->run->budget, spans->account, spans, sizeof(*spans));
}

void tm_spans_add(struct tm_spans *spans, const struct tm_span *span)
{
    tm_sorter_push(spans->sorter, span);
}

void tm_spans_finish(struct tm_spans *spans)
{
    struct tm_span last = { .lane = 0 };
    bool has_last = false;
    const void *row;

    tm_sorter_finish(spans->sorter);
    while ((row = tm_sorter_next(spans->sorter))) {
        struct tm_span span = *(const struct tm_span *)row;

        has_last &= span.lane == last.lane;
        if (has_last && span.end_ps <= last.end_ps)
            continue; /* inside the one before */
        span.ordinal = has_last ? last.ordinal + 1 : 0;
        if (span.ordinal + 1 > spans->longest_lane)
            spans->longest_lane = span.ordinal + 1;
        last = span;
        has_last = true;
        tm_rows_append(spans->rows, &span);
    }
    tm_sorter_free(spans->sorter);
    spans->sorter = NULL;
}

uint64_t tm_spans_count(const struct tm_spans *spans)
{
    return tm_rows_count(spans->rows);
}

const struct tm_span *tm_spans_at(struct tm_spans *spans, uint64_t index)
{
    return tm_rows_at(spans->rows, index);
}

uint64_t tm_spans_longest_lane(const struct tm_spans *spans)
{
    return spans->longest_lane;
}

/* Whether a span starts at or before (lane, at). */
static bool is_before(struct tm_spans *spans, uint64_t index, uint64_t lane, int64_t at_ps)
{
    const struct tm_span *span = tm_rows_at(spans->rows, index);

    return span->lane != lane ? span->lane < lane : span->start_ps <= at_ps;
}

/* Bounds of the number of spans that start at or before (lane, at), from where the last lookup ended: the next one
 * is mostly near it, and pages far away need not be read. */
static void narrow(struct tm_spans *spans, uint64_t last, uint64_t lane, int64_t at_ps, uint64_t *low, uint64_t *high)
{
    bool goes_up = true;
    uint64_t at = last;

    *low = 0;
    *high = tm_rows_count(spans->rows);
    for (uint64_t stride = 1; at < *high && *low < *high; stride *= 2) {
        const bool is_up = is_before(spans, at, lane, at_ps);

        if (is_up)
            *low = at + 1;
        else
            *high = at;
        if (stride == 1)
            goes_up = is_up;
        else if (is_up != goes_up)
            break;
        at = goes_up ? at + stride : at - (stride < at - *low ? stride : at - *low);
    }
}

static uint64_t count_before(struct tm_spans *spans, uint64_t last, uint64_t lane, int64_t at_ps)
{
    uint64_t low, high;

    narrow(spans, last, lane, at_ps, &low, &high);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (is_before(spans, middle, lane, at_ps))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Note what is found at a time, and from when on up to when it is. */
static void note(struct tm_spans *spans, struct recall *r, uint64_t lane, int64_t at_ps)
{
    const struct tm_span *span;
    struct recall found = { .lane = lane, .from_ps = INT64_MIN, .until_ps = INT64_MAX };
    const uint64_t before = count_before(spans, r->last, lane, at_ps);

    if (before) {
        span = tm_rows_at(spans->rows, before - 1);
        found.last = before - 1;
        found.has_span = span->lane == lane;
        found.span = *span;
    }
    if (found.has_span)
        found.from_ps = found.span.start_ps;
    if (before < tm_rows_count(spans->rows)) {
        span = tm_rows_at(spans->rows, before);
        if (span->lane == lane)
            found.until_ps = span->start_ps;
    }
    *r = found;
}

static inline const struct tm_span *span_in(const struct recall *r, int64_t at_ps)
{
    return r->has_span && at_ps <= r->span.end_ps ? &r->span : NULL;
}

TM_NOT_INLINE const struct tm_span *look_up(struct tm_spans *spans, uint64_t lane, int64_t at_ps)
{
    struct recall *const r = &spans->recalls[lane & (RECALLS - 1)];

    note(spans, r, lane, at_ps);
    return tm_failed(spans->run) ? NULL : span_in(r, at_ps);
}

const struct tm_span *tm_spans_find(struct tm_spans *spans, uint64_t lane, int64_t at_ps)
{
    const struct recall *const r = &spans->recalls[lane & (RECALLS - 1)];

    if (lane != r->lane || at_ps < r->from_ps || at_ps >= r->until_ps)
        return look_up(spans, lane, at_ps);
    return span_in(r, at_ps);
}

void tm_spans_found(const struct tm_spans *spans, uint64_t lane, int64_t *from_ps, int64_t *until_ps)
{
    const struct recall *const r = &spans->recalls[lane & (RECALLS - 1)];
    const bool is_found = r->lane == lane && r->has_span;

    *from_ps = is_found ? r->from_ps : 0;
    *until_ps = !is_found ? 0 : r->span.end_ps < r->until_ps ? r->span.end_ps + 1 : r->until_ps;
}

uint32_t tm_cpu_device(struct tm_trace *trace, uint32_t ordinal)
{
    const int64_t wanted = ordinal == TM_NONE ? 0 : ordinal;
    struct tm_device *d;

    for (uint32_t i = 0; i < trace->device_count; i++)
        if (trace->devices[i].kind == TM_DEVICE_CPU && trace->devices[i].ordinal == wanted)
            return i;
    if (trace->device_count == TM_DEVICES_MOST) {
        (void)tm_fail(&trace->run->error, TM_ERR_LIMIT, -1, "the trace has more than %d devices", TM_DEVICES_MOST);
        return TM_NONE;
    }
    d = &trace->devices[trace->device_count];
    *d = (struct tm_device){ .index = trace->device_count, .kind = TM_DEVICE_CPU, .ordinal = wanted };
    (void)snprintf(d->name, sizeof(d->name), "/host:CPU:%lld", (long long)wanted);
    (void)snprintf(d->id, sizeof(d->id), "%s/cpu:%lld", trace->host_name, (long long)wanted);
    return trace->device_count++;
}

static bool is_known(struct tm_resolver *r, bool is_graph, uint64_t id)
{
    const bool has_some = is_graph ? r->has_expanded : r->has_launched;

    return has_some && tm_index_get(is_graph ? r->expanded_graphs : r->launched, id);
}

static bool is_id_of_graph(const struct tm_track *track, const struct tm_raw_record *raw)
{
    return track->side != TM_SIDE_HOST || raw->record.class == TM_CLASS_GRAPH;
}

bool tm_is_known_id(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw)
{
    return is_known(r, is_id_of_graph(track, raw), raw->record.correlation);
}

/* Whether an event is inside an execution or a compilation of its thread: unclassified events are then part of the
 * runtime.  Requires stream order; remembers one end per thread. */
static inline bool starts_inside(const struct tm_resolver *r, const struct tm_track *track, int64_t start_ps)
{
    return r->inside_until_ps && track->thread < r->trace->thread_count && start_ps < r->inside_until_ps[track->thread];
}

static bool is_inside_runtime(const struct tm_resolver *r, const struct tm_track *track, const struct tm_record *record)
{
    return starts_inside(r, track, record->start_ps);
}

static void note_runtime(struct tm_resolver *r, const struct tm_track *track, const struct tm_record *record)
{
    const int64_t end_ps = record->start_ps + record->dur_ps;

    if (r->inside_until_ps && track->thread < r->trace->thread_count && end_ps > r->inside_until_ps[track->thread])
        r->inside_until_ps[track->thread] = end_ps;
}

static bool is_device_class(enum tm_class class)
{
    return class >= TM_CLASS_KERNEL && class <= TM_CLASS_CPU_OP && class != TM_CLASS_TPU_ASYNC;
}

/* Sets what only activities of a device have. */
static void tell_activity(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw,
                          const struct tm_circumstances *around, const struct tm_config *config, struct tm_told *told)
{
    const bool is_expanded = told->class == TM_CLASS_GRAPH && around->is_known;

    told->device = track->side == TM_SIDE_HOST ? tm_cpu_device(r->trace, config->ordinal) : track->device;
    told->is_activity = !tm_failed(r->run); /* else it may belong to no device */
    told->direction = (uint8_t)tm_direction_of(raw->traits);
    if (told->direction == TM_OTHER_DIRECTION && config->has_copy)
        told->direction = config->direction;
    if (told->direction == TM_OTHER_DIRECTION && told->class == TM_CLASS_COPY)
        told->direction = around->direction;
    if (!is_expanded)
        told->level = (uint8_t)tm_level_of((enum tm_class)told->class, (enum tm_direction)told->direction, config);
}

struct tm_told tm_tell(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw,
                       const struct tm_circumstances *around)
{
    const struct tm_config *const config = tm_rows_at(r->trace->configs, raw->record.config);
    const struct tm_class_question question = {
        .traits = raw->traits,
        .hlo_traits = config->hlo_traits,
        .flags = raw->record.flags,
        .line = track->line,
        .side = track->side,
        .kind = raw->record.kind,
        .given = raw->record.class,
        .tpu_collective = config->level == TM_LEVEL_COLLECTIVE,
        .line_is_user = track->is_user,
        .device_has_correlation = around->is_known,
        .inside_runtime = around->is_inside,
        .host_has_device = r->has_devices,
    };

    struct tm_told told = { .class = (uint8_t)tm_classify(&question),
                            .level = TM_LEVEL_NONE,
                            .direction = TM_OTHER_DIRECTION,
                            .device = TM_NONE };

    if (told.class == TM_CLASS_TPU_ASYNC || told.class == TM_CLASS_MODULE)
        told.device = track->device;
    if (is_device_class((enum tm_class)told.class) && (track->side != TM_SIDE_HOST || !r->has_devices))
        tell_activity(r, track, raw, around, config, &told);
    return told;
}

/* --- call sites --- */

enum { DEVICE_BITS = 11, NO_DEVICE = (1 << DEVICE_BITS) - 1 };

static_assert((int)TM_DEVICES_MOST < (int)NO_DEVICE, "a device, or none, fits in its bits");

/* All that tm_tell examines, and whether the track is a thread. */
static struct tm_site site_of(const struct tm_resolver *r, const struct tm_track *track,
                              const struct tm_raw_record *raw, const struct tm_circumstances *around)
{
    const struct tm_record *record = &raw->record;
    const bool has_devices = track->side == TM_SIDE_HOST && r->has_devices;
    const uint32_t device = track->device == TM_NONE ? (uint32_t)NO_DEVICE : track->device;
    const unsigned bits = (unsigned)around->is_inside | (unsigned)around->is_known << 1 | (unsigned)has_devices << 2 |
                          (unsigned)track->is_user << 3 | (unsigned)around->direction << 4 |
                          (unsigned)record->kind << 8 | (unsigned)track->side << 12 |
                          (unsigned)(track->thread != TM_NONE) << 15 | (unsigned)track->line << 16;

    return (struct tm_site){
        .name_and_config = (uint64_t)record->name << 32 | record->config,
        .rest = (uint64_t)device << 48 | (uint64_t)(record->flags & ~TM_FLAG_TEMPLATE) << 32 |
                (uint64_t)record->class << 24 | bits,
        .traits = raw->traits,
    };
}

tm_status tm_call_sites_init(struct tm_resolver *r, const struct tm_signatures *signatures, size_t memory_bytes)
{
    const size_t row_bytes = sizeof(struct tm_call_site);

    r->signatures = signatures;
    r->call_sites = tm_take(&r->run->budget, TM_ACCOUNT_METADATA, sizeof(*r->call_sites), &r->run->error);
    if (!r->call_sites)
        return r->run->error.status;
    (void)tm_site_rows_init(&r->call_sites->rows[0], r->run, TM_ACCOUNT_METADATA, row_bytes, memory_bytes / 3 * 2);
    return tm_site_rows_init(&r->call_sites->rows[1], r->run, TM_ACCOUNT_METADATA, row_bytes, memory_bytes / 3);
}

void tm_call_sites_release(struct tm_resolver *r)
{
    if (!r->call_sites)
        return;
    tm_site_rows_release(&r->call_sites->rows[0]);
    tm_site_rows_release(&r->call_sites->rows[1]);
    tm_give(&r->run->budget, TM_ACCOUNT_METADATA, r->call_sites, sizeof(*r->call_sites));
    r->call_sites = NULL;
}

static void forget(struct tm_site_rows *rows)
{
    for (uint64_t i = 0; rows->rows && i <= rows->mask; i++)
        *(uint64_t *)tm_site_rows_place(rows, i) = 0;
    rows->used = 0;
}

void tm_call_sites_forget(struct tm_resolver *r)
{
    if (!r->call_sites)
        return;
    forget(&r->call_sites->rows[0]);
    forget(&r->call_sites->rows[1]);
}

/* All of a call site but what varies. */
static void fill_call_site(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw,
                           const struct tm_circumstances *around, struct tm_call_site *site)
{
    const struct tm_site all = site_of(r, track, raw, around);
    const struct tm_told told = tm_tell(r, track, raw, around);
    bool is_new;
    const struct tm_sites_slot *const slot = tm_sites_at(&r->sites, &all, &is_new);

    site->around = *around;
    site->is_activity = told.is_activity;
    site->has_id = tm_id_tells(track, raw);
    site->is_graph = is_id_of_graph(track, raw);
    site->is_runtime = (raw->traits & TM_TRAITS_RUNTIME) != 0;
    site->config = *(const struct tm_config *)tm_rows_at(r->trace->configs, raw->record.config);
    site->event = (struct tm_event){ .record = raw->record,
                                     .args = raw->args,
                                     .own = raw->own,
                                     .traits = raw->traits,
                                     .device = told.device,
                                     .step = TM_NONE,
                                     .level = told.level,
                                     .direction = told.direction,
                                     .thread = track->thread,
                                     .site = slot ? slot->number : 0,
                                     .launch_track = TM_NONE,
                                     .launch_thread = TM_NONE };
    site->event.record.class = told.class;
}

static bool is_known_id(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw)
{
    return tm_id_tells(track, raw) && tm_is_known_id(r, track, raw);
}

TM_NOT_INLINE void make_call_site(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw,
                                  bool is_inside, struct tm_call_site *site)
{
    const struct tm_circumstances around = { .is_inside = is_inside,
                                             .is_known = is_known_id(r, track, raw),
                                             .direction = TM_OTHER_DIRECTION };

    fill_call_site(r, track, raw, &around, site);
    site->may_turn = site->event.record.class == TM_CLASS_COPY && site->event.direction == TM_OTHER_DIRECTION;
    site->is_simple = !site->has_id && !site->may_turn && !site->is_runtime;
    site->is_plain = site->is_simple && site->is_activity && site->event.level != TM_LEVEL_NONE &&
                     site->event.record.class != TM_CLASS_GRAPH &&
                     !(raw->record.flags & (TM_FLAG_GRAPH_NODE | TM_FLAG_GRAPH_EXEC));
}

static inline bool is_there(const struct tm_resolver *r, const struct tm_raw_record *raw, bool is_inside)
{
    const struct tm_call_site *const site = tm_site_rows_place(&r->call_sites->rows[is_inside], raw->signature);

    return raw->signature && site->number == raw->signature;
}

/* Whether the config of events that were given changes: of records without a signature most have none. */
static inline bool keeps_config(const struct tm_resolver *r, const struct tm_raw_record *raw)
{
    return !raw->signature && r->call_sites->other.event.record.config == raw->record.config;
}

/* One that is new, or whose circumstances have changed. */
TM_NOT_INLINE struct tm_call_site *renew_call_site(struct tm_resolver *r, const struct tm_track *track,
                                                   const struct tm_raw_record *raw, bool is_inside)
{
    struct tm_raw_record filled = *raw;
    struct tm_call_site *site = &r->call_sites->other;
    bool is_new;

    if (r->forget && !is_there(r, raw, is_inside) && !keeps_config(r, raw))
        r->forget(r->forget_to);
    if (raw->signature) {
        tm_fill_record(r->signatures, &filled);
        site = tm_site_rows_at(&r->call_sites->rows[is_inside], raw->signature, &is_new);
    }
    if (site)
        make_call_site(r, track, &filled, is_inside, site);
    return site;
}

/* The call site of a record, valid until the next call.  errors: NULL, of the ledger */
static inline struct tm_call_site *find_call_site(struct tm_resolver *r, const struct tm_track *track,
                                                  const struct tm_raw_record *raw)
{
    const bool is_inside = is_inside_runtime(r, track, &raw->record);
    struct tm_call_site *const site = tm_site_rows_place(&r->call_sites->rows[is_inside], raw->signature);

    if (raw->signature && site->number == raw->signature) {
        if (!site->has_id || site->around.is_known == is_known(r, site->is_graph, raw->record.correlation))
            return site;
    }
    return renew_call_site(r, track, raw, is_inside);
}

/* The launch of the execution that a TPU's op is in. */
static const struct tm_run_launch *find_run_launch(struct tm_resolver *r, uint32_t device, int64_t at_ps)
{
    struct tm_run_launch *const last = &r->run_launches[device & (TM_RUN_LAUNCHES - 1)];
    const struct tm_span *const program = tm_spans_find(r->programs, device, at_ps);

    if (!program || !program->value)
        return NULL;
    if (last->key != program->value) {
        last->key = program->value;
        last->number = tm_launches_find(r->launches, last->key, &last->launch);
    }
    return last->number ? last : NULL;
}

/* The launch of an activity: by its own id, on a TPU by the execution that it is in.
 * out:    *launch  only if there is one
 * returns its number, 0 = it is not known */
static inline uint64_t find_launch(struct tm_resolver *r, const struct tm_track *track, const struct tm_event *event,
                                   struct tm_launch *launch)
{
    const struct tm_run_launch *run;

    if (!r->knows_launches)
        return 0;
    if (track->line != TM_LINE_TPU_OPS)
        return event->record.correlation ? tm_launches_find(r->launches, event->record.correlation, launch) : 0;
    run = find_run_launch(r, event->device, event->record.start_ps);
    if (!run)
        return 0;
    *launch = run->launch;
    return run->number;
}

/* A copy whose direction comes from the name of its launch. */
TM_NOT_INLINE void turn_copy(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw,
                             uint8_t direction, struct tm_call_site *site)
{
    struct tm_circumstances around = site->around;
    struct tm_raw_record filled = *raw;

    if (raw->signature)
        tm_fill_record(r->signatures, &filled);
    around.direction = direction;
    fill_call_site(r, track, &filled, &around, site);
}

static void find_step(struct tm_resolver *r, struct tm_event *event)
{
    const bool has_launch = event->launch_track != TM_NONE;
    const struct tm_steps *steps = &r->trace->steps;
    const struct tm_span *span = NULL;
    const struct tm_group_step *group = NULL;

    switch (steps->source) {
    case TM_STEPS_HOST:
        span = tm_spans_find(r->steps, 0, has_launch ? event->launch_start_ps : event->record.start_ps);
        break;
    case TM_STEPS_GROUP:
        if (event->record.flags & TM_FLAG_GROUP && event->record.args_length == sizeof(struct tm_number))
            group = tm_index_get(r->group_steps, (uint64_t)((const struct tm_number *)event->args)->value);
        if (group)
            event->step = (uint32_t)group->ordinal;
        break;
    case TM_STEPS_TPU:
    case TM_STEPS_MODULE:
        if (r->trace->devices[event->device].kind == TM_DEVICE_TPU)
            span = tm_spans_find(r->steps, event->device, event->record.start_ps);
        else if (has_launch)
            span = tm_spans_find(r->steps, event->launch_track, event->launch_start_ps);
        if (!span && r->trace->devices[event->device].kind == TM_DEVICE_GPU)
            span = tm_spans_find(r->steps, TM_NONE, has_launch ? event->launch_start_ps : event->record.start_ps);
        break;
    case TM_STEPS_SESSION:
        event->step = 0;
        break;
    }
    if (span)
        event->step = (uint32_t)span->ordinal;
}

static const struct tm_launch no_launch = { .track = TM_NONE, .thread = TM_NONE, .direction = TM_OTHER_DIRECTION };

/* in: number, launch  of the event's launch, as of find_launch */
static inline void set_launch(uint64_t number, const struct tm_launch *launch, struct tm_event *event)
{
    event->launch = number;
    event->launch_track = launch->track;
    event->launch_thread = launch->thread;
    event->launch_start_ps = launch->start_ps;
    event->launch_dur_ps = launch->dur_ps;
}

/* in: event  its launch is set */
static inline void set_step(struct tm_resolver *r, struct tm_event *event)
{
    const struct tm_steps *const steps = &r->trace->steps;

    event->step = TM_NONE;
    if (r->knows_steps && !tm_failed(r->run)) /* else it may belong to no device */
        find_step(r, event);
    event->chosen = steps->all || event->step - steps->chosen_begin < steps->chosen_end - steps->chosen_begin;
}

static inline void resolve_activity(struct tm_resolver *r, const struct tm_track *track,
                                    const struct tm_raw_record *raw, struct tm_call_site *site)
{
    struct tm_launch launch = no_launch;
    const uint64_t number = find_launch(r, track, &site->event, &launch);

    if (site->may_turn && launch.direction != site->around.direction)
        turn_copy(r, track, raw, launch.direction, site);
    set_launch(number, &launch, &site->event);
    set_step(r, &site->event);
}

/* The parts of an event that differ from one record to the next. */
static inline void fill_event(struct tm_call_site *site, const struct tm_raw_record *raw)
{
    struct tm_event *const event = &site->event;

    event->record.start_ps = raw->record.start_ps;
    event->record.dur_ps = raw->record.dur_ps;
    event->record.correlation = raw->record.correlation;
    event->own = raw->own;
    event->config = &site->config; /* rows move when there are more */
}

/* The rest of an event, of any site.  NULL: the run has failed */
TM_NOT_INLINE const struct tm_event *resolve_further(struct tm_resolver *r, const struct tm_track *track,
                                                     const struct tm_raw_record *raw, struct tm_call_site *site)
{
    if (!site)
        return NULL;
    fill_event(site, raw);
    if (site->is_runtime)
        note_runtime(r, track, &raw->record);
    if (site->is_activity)
        resolve_activity(r, track, raw, site);
    site->event.config = &site->config;
    return tm_failed(r->run) ? NULL : &site->event;
}

/* One that needs more than its call site. */
TM_NOT_INLINE const struct tm_event *resolve_any(struct tm_resolver *r, const struct tm_track *track,
                                                 const struct tm_raw_record *raw)
{
    return resolve_further(r, track, raw, find_call_site(r, track, raw));
}

const struct tm_event *tm_resolve(struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw)
{
    const bool is_inside = is_inside_runtime(r, track, &raw->record);
    struct tm_call_site *const site = tm_site_rows_place(&r->call_sites->rows[is_inside], raw->signature);

    /* All calls are tail calls: no register has to be saved. */
    if (!raw->signature || site->number != raw->signature || !site->is_simple)
        return resolve_any(r, track, raw);
    if (site->is_activity)
        return resolve_further(r, track, raw, site);
    fill_event(site, raw);
    return &site->event;
}

enum { CACHE_LINE_BYTES = 64 };

/* Inline: the compiler takes a function that only prefetches for one that does nothing. */
TM_INLINE void fetch_call_site(const struct tm_site_rows *rows, uint32_t signature)
{
    const uint8_t *const site = tm_site_rows_place(rows, signature);

    for (size_t at = 0; at < offsetof(struct tm_call_site, config); at += CACHE_LINE_BYTES)
        __builtin_prefetch(site + at, 1);
}

void tm_resolve_expect(const struct tm_resolver *r, const struct tm_track *track, const struct tm_raw_record *raw)
{
    const bool is_inside = is_inside_runtime(r, track, &raw->record);

    fetch_call_site(&r->call_sites->rows[is_inside], raw->signature);
}

void tm_resolve_expect_many(const struct tm_resolver *r, const struct tm_merged *merged, uint32_t first, uint32_t count)
{
    const struct tm_launches *const launches = r->launches;

    for (uint32_t i = first; i < first + count; i++) {
        const uint64_t at = merged->correlation[i] - launches->least_key;

        fetch_call_site(&r->call_sites->rows[starts_inside(r, merged->track[i], merged->start_ps[i])],
                        merged->signature[i]);
        if (at < launches->used)
            __builtin_prefetch(&launches->rows[at]);
    }
}

/* A step of the host's markers, and the times that are in it; equal ones = none. */
struct step_range {
    int64_t from_ps, until_ps;
    uint32_t step;
    bool chosen;
};

/* The launch of an event with an id, if it is kept in the short form, as nearly all are.  false: it is not */
static inline bool set_short_launch(struct tm_launches *launches, struct tm_event *event)
{
    const uint64_t key = event->record.correlation;
    const struct tm_short_launch *const row = tm_launches_at(launches, key);
    const uint64_t rest = row ? row->rest : TM_LAUNCH_WIDE;
    const uint32_t thread = rest >> TM_LAUNCH_THREAD_SHIFT & TM_LAUNCH_THREAD_MASK;

    if (rest & TM_LAUNCH_WIDE)
        return false;
    event->launch = key - launches->first_key + 1;
    event->launch_track = launches->tracks[thread];
    event->launch_thread = thread;
    event->launch_start_ps = row->start_ps;
    event->launch_dur_ps = (int64_t)(rest >> TM_LAUNCH_DUR_SHIFT);
    return true;
}

/* in: range  of the activity before, or none */
static inline void resolve_plain_activity(struct tm_resolver *r, const struct tm_track *track, struct tm_event *event,
                                          struct step_range *range)
{
    const bool may_be_short = r->knows_launches && track->line != TM_LINE_TPU_OPS && event->record.correlation;
    int64_t at_ps;

    if (!may_be_short || r->launches->sparse || !set_short_launch(r->launches, event)) {
        struct tm_launch launch = no_launch;
        const uint64_t number = find_launch(r, track, event, &launch);

        set_launch(number, &launch, event);
    }
    at_ps = event->launch_track != TM_NONE ? event->launch_start_ps : event->record.start_ps;
    if (at_ps >= range->from_ps && at_ps < range->until_ps) {
        event->step = range->step;
        event->chosen = range->chosen;
        return;
    }
    set_step(r, event);
    if (event->step == TM_NONE || r->trace->steps.source != TM_STEPS_HOST)
        return;
    tm_spans_found(r->steps, 0, &range->from_ps, &range->until_ps);
    range->step = event->step;
    range->chosen = event->chosen;
}

uint32_t tm_resolve_many(struct tm_resolver *r, const struct tm_merged *merged, uint32_t first, uint32_t count,
                         struct tm_event *events)
{
    const int64_t *const inside_until_ps = r->inside_until_ps;
    const uint32_t thread_count = r->trace->thread_count;
    struct step_range range = { .from_ps = 0, .until_ps = 0 };

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = first + i, signature = merged->signature[at];
        const struct tm_track *const track = merged->track[at];
        const bool is_inside =
            inside_until_ps && track->thread < thread_count && merged->start_ps[at] < inside_until_ps[track->thread];
        const struct tm_call_site *const site = tm_site_rows_place(&r->call_sites->rows[is_inside], signature);
        struct tm_event *const event = &events[i];

        if (site->number != signature || !site->is_simple)
            return i;
        *event = site->event;
        event->record.start_ps = merged->start_ps[at];
        event->record.dur_ps = merged->dur_ps[at];
        event->record.correlation = merged->correlation[at];
        event->own.length = 0;
        event->config = &site->config;
        if (site->is_activity)
            resolve_plain_activity(r, track, event, &range);
    }
    return count;
}
