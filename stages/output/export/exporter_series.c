/* SPDX-License-Identifier: Apache-2.0 */
/* Series of counters: what tells them apart, their names, and the last value of each, which a part begins with.
 * Memory: `model`: a table of numbers of at most 2 * TM_SERIES_MOST places, and rows that spill. */
#include "stages/output/export/exporter.h"

#include <math.h>
#include <string.h>

#include "pipeline/store/hash.h"

enum { SLOTS_FIRST = 256, ROWS_BYTES = 64 << 10, PAGE_BYTES = 4096, NAME_MOST = 1024 };

struct tm_series {
    struct tm_counter_row row;
    struct tm_counter_value last;
    bool is_kept; /* false: past TM_SERIES_MOST */
};

/* --- the table --- */

static void make_slots(struct tm_exporter *e, size_t count)
{
    struct tm_series_table *const t = &e->series;
    uint32_t *const slots = tm_take(&e->run->budget, TM_ACCOUNT_MODEL, count * sizeof(*slots), &e->run->error);

    if (!slots)
        return;
    for (uint64_t i = 0; i < tm_rows_count(t->rows); i++) {
        const struct tm_series *const series = tm_rows_at(t->rows, i);
        size_t at = (size_t)tm_hash_mix(series->row.hash, t->seed) & (count - 1);

        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    tm_give(&e->run->budget, TM_ACCOUNT_MODEL, t->slots, t->slot_count * sizeof(*t->slots));
    t->slots = slots;
    t->slot_count = count;
}

void tm_exporter_begin_counters(struct tm_exporter *e)
{
    tm_exporter_end_counters(e);
    e->series.seed = tm_hash_seed(&e->series);
    e->series.rows = tm_rows_new_paged(e->run, TM_ACCOUNT_MODEL, sizeof(struct tm_series), ROWS_BYTES, PAGE_BYTES);
    make_slots(e, SLOTS_FIRST);
}

void tm_exporter_end_counters(struct tm_exporter *e)
{
    tm_rows_free(e->series.rows);
    tm_give(&e->run->budget, TM_ACCOUNT_MODEL, e->series.slots, e->series.slot_count * sizeof(*e->series.slots));
    e->series = (struct tm_series_table){ .rows = NULL };
}

/* The slot of a hash: of its series, or free. */
static size_t find_slot(struct tm_exporter *e, uint64_t hash)
{
    const struct tm_series_table *const t = &e->series;
    size_t slot = (size_t)tm_hash_mix(hash, t->seed) & (t->slot_count - 1);

    while (t->slots[slot] && ((const struct tm_series *)tm_rows_at(t->rows, t->slots[slot] - 1))->row.hash != hash)
        slot = (slot + 1) & (t->slot_count - 1);
    return slot;
}

/* --- what tells them apart --- */

static uint64_t hash_counter(struct tm_exporter *e, const struct tm_counter_key *c)
{
    const uint64_t parts[5] = {
        (uint64_t)c->process << 8 | c->order,
        tm_names_info(e->names, c->name).hash.low,
        tm_names_info(e->names, c->key).hash.low,
        c->id ? tm_hash_key(c->id, c->id_length).low : 0,
        c->suffix ? tm_hash_key(c->suffix, strlen(c->suffix)).low : 0,
    };

    return tm_hash_key(parts, sizeof(parts)).low;
}

struct text {
    size_t length;
    char bytes[3 * NAME_MOST + 8];
};

static void add(struct text *to, const char *text, size_t length)
{
    const size_t room = sizeof(to->bytes) - to->length;

    length = length < NAME_MOST ? length : NAME_MOST;
    length = length < room ? length : room;
    memcpy(to->bytes + to->length, text, length);
    to->length += length;
}

static void add_name(struct tm_exporter *e, struct text *to, tm_strid name)
{
    size_t length;
    const char *const text = tm_names_text(e->names, name, NAME_MOST, &length);

    add(to, text, length);
}

static tm_strid name_counter(struct tm_exporter *e, const struct tm_counter_key *c)
{
    struct text text = { .length = 0 };

    add_name(e, &text, c->name);
    if (c->id) {
        add(&text, " [", 2);
        add(&text, c->id, c->id_length);
        add(&text, "]", 1);
    }
    if (c->key) {
        add(&text, " ", 1);
        add_name(e, &text, c->key);
    }
    if (c->suffix)
        add(&text, c->suffix, strlen(c->suffix));
    return tm_names_put(e->names, text.bytes, text.length);
}

/* --- writing --- */

/* The series of a counter; made where there is none, and kept as long as there is room. */
static struct tm_series *find_series(struct tm_exporter *e, const struct tm_counter_key *c, struct tm_series *fresh)
{
    struct tm_series_table *const t = &e->series;
    size_t slot;

    fresh->row.hash = hash_counter(e, c);
    slot = find_slot(e, fresh->row.hash);
    if (t->slots[slot])
        return tm_rows_change(t->rows, t->slots[slot] - 1);
    fresh->row.process = c->process;
    fresh->row.device = c->device;
    fresh->row.unit = c->unit;
    fresh->row.order = c->order;
    fresh->last.value = NAN;
    fresh->is_kept = tm_rows_count(t->rows) < TM_SERIES_MOST;
    fresh->row.name = name_counter(e, c);
    if (!fresh->is_kept)
        return fresh;
    tm_rows_append(t->rows, fresh);
    if (tm_failed(e->run))
        return fresh;
    t->slots[slot] = (uint32_t)tm_rows_count(t->rows);
    if (tm_rows_count(t->rows) * 2 > t->slot_count)
        make_slots(e, t->slot_count * 2);
    return tm_rows_change(t->rows, tm_rows_count(t->rows) - 1);
}

static void write_value(struct tm_exporter *e, struct tm_series *series, int64_t time_ps, const struct tm_event *event)
{
    struct tm_out_row row;
    const struct tm_out_counter counter = {
        .row = &row,
        .time_ps = time_ps,
        .value = series->last.value,
        .whole = series->last.whole,
        .is_whole = series->last.is_whole,
        .trace = event ? e->trace : NULL,
        .start_ps = event ? event->record.start_ps : 0,
    };

    tm_out_rows_use_counter(e->rows, e->writer, &series->row, &row, &e->counts.rows);
    e->counts.counters++;
    tm_exporter_note_time(e, time_ps);
    e->writer->type->counter(e->writer, &counter);
}

static bool is_same(const struct tm_counter_value *a, const struct tm_counter_value *b)
{
    return a->is_whole == b->is_whole && (a->is_whole ? a->whole == b->whole : a->value == b->value);
}

void tm_exporter_count(struct tm_exporter *e, const struct tm_counter_key *c, const struct tm_counter_value *value,
                       int64_t time_ps)
{
    struct tm_series fresh = { .is_kept = false };
    struct tm_series *const series = find_series(e, c, &fresh);

    if (c->only_changes && is_same(&series->last, value))
        return;
    if (!series->is_kept && e->may_cut)
        tm_tally_add(&e->run->tallies, TM_TALLY_COUNTER_NOT_REPEATED, 1);
    series->last = *value;
    write_value(e, series, time_ps, c->event);
}

void tm_exporter_repeat_counters(struct tm_exporter *e, int64_t time_ps)
{
    for (uint64_t i = 0; i < tm_rows_count(e->series.rows) && !tm_failed(e->run); i++)
        write_value(e, tm_rows_change(e->series.rows, i), time_ps, NULL);
}
