/* SPDX-License-Identifier: Apache-2.0 */
/* Accumulators by call site (site_table.h). */
#include "stages/figures/site_table.h"

#include <assert.h>
#include <stddef.h>

#include "stages/figures/figure_rows.h"

/* Open at once on all lines of a host: a few per core or thread. */
enum { OPEN_MOST = 1024 };

#define CHOSEN (UINT64_C(1) << 63)

/* What all events of a site have in common. */
struct site_facts {
    uint32_t name, config, traits, device, thread;
    uint16_t flags;
    uint8_t class, kind, level, direction;
    bool chosen, nests;
};

/* All that is changed for an event in the first cache line. */
struct site_row {
    uint64_t key; /* of the site; its highest bit: of chosen events */
    uint64_t count;
    int64_t total_ps, min_ps, max_ps;
    struct tm_wide squares;
    tm_length_place place;
    uint64_t without_length, length_group, continued;
    int64_t first_ps, first_dur_ps;
    uint64_t first_order;
    int64_t self_ps;
    struct tm_wide self_squares;
    struct site_facts facts;
};

/* What goes along with an operation until it has ended. */
struct open_op {
    uint64_t key;
    struct site_facts facts;
};

static_assert(offsetof(struct site_row, without_length) == 64 && sizeof(struct site_row) <= 192, "three cache lines");

tm_status tm_site_table_init(struct tm_site_table *table, struct tm_run *run, struct tm_stage *stages, size_t count)
{
    *table = (struct tm_site_table){ .run = run, .stages = stages, .stage_count = count };
    return tm_site_rows_init(&table->rows, run, TM_ACCOUNT_TABLES, sizeof(struct site_row),
                             tm_tables_memory(run, TM_TABLES_SITES, 1, 1));
}

static void end_nesting(struct tm_site_table *table)
{
    tm_nesting_free(table->nesting);
    table->nesting = NULL;
    tm_site_rows_release(&table->ended);
}

void tm_site_table_release(struct tm_site_table *table)
{
    if (!table->run)
        return;
    end_nesting(table);
    tm_site_rows_release(&table->rows);
    table->run = NULL;
}

/* --- handing on --- */

static struct tm_site_sums sums_of(const struct site_row *row)
{
    return (struct tm_site_sums){ .count = row->count,
                                  .total_ps = row->total_ps,
                                  .without_length = row->without_length,
                                  .min_ps = row->min_ps,
                                  .max_ps = row->max_ps,
                                  .squares = row->squares,
                                  .first_ps = row->first_ps,
                                  .first_dur_ps = row->first_dur_ps,
                                  .first_order = row->first_order,
                                  .continued = row->continued };
}

static struct tm_event event_of(const struct site_facts *facts, uint64_t key, const struct tm_config *config)
{
    return (struct tm_event){ .record = { .name = facts->name,
                                          .config = facts->config,
                                          .flags = facts->flags,
                                          .class = facts->class,
                                          .kind = facts->kind },
                              .config = config,
                              .traits = facts->traits,
                              .device = facts->device,
                              .step = TM_NONE,
                              .level = facts->level,
                              .direction = facts->direction,
                              .chosen = facts->chosen,
                              .thread = facts->thread,
                              .site = key & ~CHOSEN,
                              .launch_track = TM_NONE,
                              .launch_thread = TM_NONE };
}

/* in: is_ended  the row is one of table->ended */
static void hand_on(struct tm_site_table *table, const struct site_row *row, bool is_ended)
{
    const struct tm_config config = *(const struct tm_config *)tm_rows_at(table->configs, row->facts.config);
    const struct tm_event event = event_of(&row->facts, row->key, &config);
    const bool has_self = is_ended || (row->facts.chosen && row->facts.level != TM_LEVEL_NONE && !row->facts.nests);
    struct tm_site_sums sums = sums_of(row);

    sums.self_ps = is_ended ? row->self_ps : row->total_ps;
    sums.self_squares = is_ended ? row->self_squares : row->squares;
    for (size_t i = 0; i < table->stage_count && !tm_failed(table->run); i++) {
        const struct tm_stage_type *const type = table->stages[i].type;

        if (!(type->classes & TM_CLASS_BIT(row->facts.class)))
            continue;
        if (type->take_site && !is_ended)
            type->take_site(&table->stages[i], &event, &sums);
        if (type->take_self && has_self)
            type->take_self(&table->stages[i], &event, &sums);
    }
}

static void hand_all_on(struct tm_site_table *table, struct tm_site_rows *rows, bool is_ended)
{
    for (uint64_t i = 0; i <= rows->mask && !tm_failed(table->run); i++) {
        struct site_row *row = tm_site_rows_place(rows, i);

        if (row->key)
            hand_on(table, row, is_ended);
        row->key = 0;
    }
    rows->used = 0;
}

/* --- rows --- */

/* Events that lie in each other: operations on the lines of TPUs and the threads of CPUs. */
static bool nests(const struct tm_site_table *table, const struct site_facts *facts, const struct tm_config *config)
{
    const struct tm_device *const device =
        facts->device < table->trace->device_count ? &table->trace->devices[facts->device] : NULL;

    if (!table->nesting || !facts->chosen || !device || !device->activities || device->kind == TM_DEVICE_GPU)
        return false;
    switch ((enum tm_class)facts->class) {
    case TM_CLASS_TPU_OP: /* also one that waits for the host, which is no activity */
        return true;
    case TM_CLASS_KERNEL:
    case TM_CLASS_COLLECTIVE:
    case TM_CLASS_CPU_OP:
        return facts->level != TM_LEVEL_NONE;
    case TM_CLASS_COPY:
    case TM_CLASS_MEMSET:
        return facts->level != TM_LEVEL_NONE && config->hlo_op;
    default:
        return false;
    }
}

/* An empty row for a site that has none.  The one that is in its way is handed on. */
static struct site_row *begin_row(struct tm_site_table *table, struct tm_site_rows *rows, uint64_t key,
                                  const struct site_facts *facts)
{
    struct site_row *row = tm_site_rows_place(rows, key);

    if ((row->key ^ key) & ~CHOSEN) /* else the same site, begun or ended to be chosen */
        row = tm_site_rows_make_room(rows, key);
    if (!row)
        return NULL;
    if (row->key)
        hand_on(table, row, rows == &table->ended);
    *row = (struct site_row){ .key = key, .min_ps = INT64_MAX, .place = TM_LENGTH_NOWHERE, .facts = *facts };
    return tm_failed(table->run) ? NULL : row;
}

static void find_lengths(struct tm_site_table *table, const struct tm_event *event, struct site_row *row)
{
    for (size_t i = 0; i < table->stage_count; i++) {
        const struct tm_stage_type *const type = table->stages[i].type;
        struct tm_lengths *lengths;

        if (!type->lengths || !(type->classes & TM_CLASS_BIT(event->record.class)))
            continue;
        lengths = type->lengths(&table->stages[i], event, &row->length_group);
        if (!lengths)
            continue;
        table->lengths = lengths;
        row->place = 0;
    }
}

TM_NOT_INLINE struct site_row *begin_site(struct tm_site_table *table, const struct tm_event *event, uint64_t key)
{
    struct site_facts facts = { .name = event->record.name,
                                .config = event->record.config,
                                .traits = event->traits,
                                .device = event->device,
                                .thread = event->thread,
                                .flags = event->record.flags,
                                .class = event->record.class,
                                .kind = event->record.kind,
                                .level = event->level,
                                .direction = event->direction,
                                .chosen = event->chosen };
    struct site_row *row;

    facts.nests = nests(table, &facts, event->config);
    row = begin_row(table, &table->rows, key, &facts);
    if (!row)
        return NULL;
    row->first_ps = event->record.start_ps;
    row->first_dur_ps = event->record.dur_ps;
    row->first_order = table->order;
    if (event->chosen)
        find_lengths(table, event, row);
    return row;
}

/* Times that do not fit into one row any more begin anew: what a row holds is exact. */
static void empty_row(struct tm_site_table *table, struct site_row *row, bool is_ended)
{
    hand_on(table, row, is_ended);
    row->count = row->without_length = row->continued = 0;
    row->total_ps = row->max_ps = row->self_ps = 0;
    row->min_ps = INT64_MAX;
    row->squares = row->self_squares = (struct tm_wide){ 0, 0 };
}

static inline void add_length(struct site_row *row, int64_t dur_ps)
{
    row->min_ps = dur_ps < row->min_ps ? dur_ps : row->min_ps;
    row->max_ps = dur_ps > row->max_ps ? dur_ps : row->max_ps;
    row->squares = tm_sum_squares(row->squares, dur_ps);
}

/* --- events --- */

static uint64_t key_of(const struct tm_event *event)
{
    return event->site | (event->chosen ? CHOSEN : 0);
}

void tm_site_table_add(struct tm_site_table *table, const struct tm_event *event)
{
    const uint64_t key = key_of(event);
    const int64_t dur_ps = event->record.dur_ps;
    struct site_row *row = tm_site_rows_place(&table->rows, key);

    table->order++;
    if (row->key != key)
        row = begin_site(table, event, key);
    if (!row)
        return;
    if (row->total_ps > INT64_MAX - dur_ps)
        empty_row(table, row, false);
    row->count++;
    row->total_ps += dur_ps;
    if (!dur_ps)
        row->without_length++;
    if (!event->chosen)
        return;
    add_length(row, dur_ps);
    if (row->place != TM_LENGTH_NOWHERE)
        tm_lengths_add_at(table->lengths, &row->place, row->length_group, (uint64_t)dur_ps);
    if (table->nesting && row->facts.nests) {
        const struct open_op open = { key, row->facts };

        tm_nesting_take(table->nesting, event->record.track, event->record.start_ps, dur_ps, &open);
    }
}

void tm_site_table_continue(struct tm_site_table *table, const struct tm_event *event)
{
    struct site_row *const row = tm_site_rows_place(&table->rows, event->site);

    assert(row->key == key_of(event));
    row->continued++;
}

static void take_ended(void *to, const struct tm_nested *span)
{
    struct tm_site_table *const table = to;
    const struct open_op *const open = span->payload;
    struct site_row *row = tm_site_rows_place(&table->ended, open->key);

    table->order++;
    if (row->key != open->key)
        row = begin_row(table, &table->ended, open->key, &open->facts);
    if (!row)
        return;
    if (row->total_ps > INT64_MAX - span->dur_ps)
        empty_row(table, row, true);
    if (!row->count || span->start_ps < row->first_ps) {
        row->first_ps = span->start_ps;
        row->first_dur_ps = span->dur_ps;
        row->first_order = table->order;
    }
    row->count++;
    row->total_ps += span->dur_ps;
    row->self_ps += span->self_ps;
    row->self_squares = tm_sum_squares(row->self_squares, span->self_ps);
    add_length(row, span->dur_ps);
}

/* --- hosts --- */

void tm_site_table_begin_host(struct tm_site_table *table, const struct tm_trace *trace, struct tm_rows *configs)
{
    bool nests = false;

    table->trace = trace;
    table->configs = configs;
    table->order = 0;
    for (uint32_t i = 0; i < trace->device_count; i++)
        nests |= trace->devices[i].activities && trace->devices[i].kind != TM_DEVICE_GPU;
    if (!nests || tm_failed(table->run))
        return;
    tm_site_rows_init(&table->ended, table->run, TM_ACCOUNT_TABLES, sizeof(struct site_row),
                      tm_tables_memory(table->run, TM_TABLES_SITES, 2, 1));
    table->nesting =
        tm_nesting_new(table->run, TM_ACCOUNT_TABLES, sizeof(struct open_op), OPEN_MOST, take_ended, table);
}

void tm_site_table_end_host(struct tm_site_table *table)
{
    if (table->nesting && !tm_failed(table->run)) {
        tm_nesting_end(table->nesting);
        hand_all_on(table, &table->ended, true);
    }
    hand_all_on(table, &table->rows, false);
    end_nesting(table);
    table->trace = NULL;
}
