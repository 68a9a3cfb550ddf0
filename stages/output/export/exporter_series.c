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

static tm_status make_slots(struct tm_exporter *e, size_t count)
{
    struct tm_series_table *const t = &e->series;
    uint32_t *const slots = tm_take(&e->run->budget, TM_ACCOUNT_MODEL, count * sizeof(*slots), &e->run->error);

    if (!slots)
        return e->run->error.status;
    for (uint64_t i = 0; i < tm_rows_count(t->rows); i++) {
        const struct tm_series *const series = tm_rows_at(t->rows, i);
        size_t at;

        if (!series) {
            tm_give(&e->run->budget, TM_ACCOUNT_MODEL, slots, count * sizeof(*slots));
            return e->run->error.status;
        }
        at = (size_t)tm_hash_mix(series->row.hash, t->seed) & (count - 1);
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    tm_give(&e->run->budget, TM_ACCOUNT_MODEL, t->slots, t->slot_count * sizeof(*t->slots));
    t->slots = slots;
    t->slot_count = count;
    return TM_OK;
}

tm_status tm_exporter_begin_counters(struct tm_exporter *e)
{
    tm_exporter_end_counters(e);
    e->series.seed = tm_hash_seed(&e->series);
    e->series.rows = tm_rows_new_paged(e->run, TM_ACCOUNT_MODEL, sizeof(struct tm_series), ROWS_BYTES, PAGE_BYTES);
    return e->series.rows ? make_slots(e, SLOTS_FIRST) : e->run->error.status;
}

void tm_exporter_end_counters(struct tm_exporter *e)
{
    tm_rows_free(e->series.rows);
    tm_give(&e->run->budget, TM_ACCOUNT_MODEL, e->series.slots, e->series.slot_count * sizeof(*e->series.slots));
    e->series = (struct tm_series_table){ .rows = NULL };
}

/* The slot of a hash: of its series, or free. */
static tm_status find_slot(struct tm_exporter *e, uint64_t hash, size_t *slot)
{
    const struct tm_series_table *const t = &e->series;

    for (*slot = (size_t)tm_hash_mix(hash, t->seed) & (t->slot_count - 1); t->slots[*slot];
         *slot = (*slot + 1) & (t->slot_count - 1)) {
        const struct tm_series *const series = tm_rows_at(t->rows, t->slots[*slot] - 1);

        if (!series)
            return e->run->error.status;
        if (series->row.hash == hash)
            break;
    }
    return TM_OK;
}

/* --- what tells them apart --- */

static tm_status hash_name(struct tm_exporter *e, tm_strid name, uint64_t *hash)
{
    struct tm_name info;
    const tm_status st = tm_names_info_st(e->names, name, &info);

    *hash = st == TM_OK ? info.hash.low : 0;
    return st;
}

static tm_status hash_counter(struct tm_exporter *e, const struct tm_counter_key *c, uint64_t *hash)
{
    uint64_t parts[5] = { (uint64_t)c->process << 8 | c->order };
    tm_status st = hash_name(e, c->name, &parts[1]);

    if (st == TM_OK)
        st = hash_name(e, c->key, &parts[2]);
    parts[3] = c->id ? tm_hash_key(c->id, c->id_length).low : 0;
    parts[4] = c->suffix ? tm_hash_key(c->suffix, strlen(c->suffix)).low : 0;
    *hash = tm_hash_key(parts, sizeof(parts)).low;
    return st;
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

static tm_status add_name(struct tm_exporter *e, struct text *to, tm_strid name)
{
    const char *text;
    size_t length;
    const tm_status st = tm_names_text_st(e->names, name, NAME_MOST, &text, &length);

    if (st == TM_OK)
        add(to, text, length);
    return st;
}

static tm_status name_counter(struct tm_exporter *e, const struct tm_counter_key *c, tm_strid *name)
{
    struct text text = { .length = 0 };
    tm_status st = add_name(e, &text, c->name);

    if (c->id) {
        add(&text, " [", 2);
        add(&text, c->id, c->id_length);
        add(&text, "]", 1);
    }
    if (st == TM_OK && c->key) {
        add(&text, " ", 1);
        st = add_name(e, &text, c->key);
    }
    if (c->suffix)
        add(&text, c->suffix, strlen(c->suffix));
    return st == TM_OK ? tm_names_put_st(e->names, text.bytes, text.length, name) : st;
}

/* --- writing --- */

/* The series of a counter; made where there is none, and kept as long as there is room. */
static tm_status find_series(struct tm_exporter *e, const struct tm_counter_key *c, struct tm_series *fresh,
                             struct tm_series **series)
{
    struct tm_series_table *const t = &e->series;
    size_t slot = 0;
    tm_status st = hash_counter(e, c, &fresh->row.hash);

    if (st == TM_OK)
        st = find_slot(e, fresh->row.hash, &slot);
    if (st == TM_OK && t->slots[slot]) {
        *series = tm_rows_change(t->rows, t->slots[slot] - 1);
        return *series ? TM_OK : e->run->error.status;
    }
    fresh->row.process = c->process;
    fresh->row.device = c->device;
    fresh->row.unit = c->unit;
    fresh->row.order = c->order;
    fresh->last.value = NAN;
    fresh->is_kept = tm_rows_count(t->rows) < TM_SERIES_MOST;
    if (st == TM_OK)
        st = name_counter(e, c, &fresh->row.name);
    *series = fresh;
    if (st != TM_OK || !fresh->is_kept)
        return st;
    st = tm_rows_append_st(t->rows, fresh);
    t->slots[slot] = (uint32_t)tm_rows_count(t->rows);
    if (st == TM_OK && tm_rows_count(t->rows) * 2 > t->slot_count)
        st = make_slots(e, t->slot_count * 2);
    *series = st == TM_OK ? tm_rows_change(t->rows, tm_rows_count(t->rows) - 1) : NULL;
    return *series ? TM_OK : e->run->error.status;
}

static tm_status write_value(struct tm_exporter *e, struct tm_series *series, int64_t time_ps,
                             const struct tm_event *event)
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
    const tm_status st = tm_out_rows_use_counter(e->rows, e->writer, &series->row, &row, &e->counts.rows);

    e->counts.counters++;
    tm_exporter_note_time(e, time_ps);
    return st == TM_OK ? e->writer->type->counter(e->writer, &counter) : st;
}

static bool is_same(const struct tm_counter_value *a, const struct tm_counter_value *b)
{
    return a->is_whole == b->is_whole && (a->is_whole ? a->whole == b->whole : a->value == b->value);
}

tm_status tm_exporter_count(struct tm_exporter *e, const struct tm_counter_key *c, const struct tm_counter_value *value,
                            int64_t time_ps)
{
    struct tm_series fresh = { .is_kept = false };
    struct tm_series *series;
    const tm_status st = find_series(e, c, &fresh, &series);

    if (st != TM_OK || (c->only_changes && is_same(&series->last, value)))
        return st;
    if (!series->is_kept && e->may_cut)
        tm_tally_add(&e->run->tallies, TM_TALLY_COUNTER_NOT_REPEATED, 1);
    series->last = *value;
    return write_value(e, series, time_ps, c->event);
}

tm_status tm_exporter_repeat_counters(struct tm_exporter *e, int64_t time_ps)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < tm_rows_count(e->series.rows) && st == TM_OK; i++) {
        struct tm_series *const series = tm_rows_change(e->series.rows, i);

        st = series ? write_value(e, series, time_ps, NULL) : e->run->error.status;
    }
    return st;
}
