/* SPDX-License-Identifier: Apache-2.0 */
/* Counters: which series a number belongs to, its name, and the last value of each, which a part begins with.  Memory:
 * a table of numbers of at most 2 * TM_SERIES_MOST places, and rows that spill. */
#include "stages/output/exporter_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 256, ROWS_BYTES = 64 << 10, PAGE_BYTES = 4096, NAME_MOST = 1024, NUMBER_MOST = 64 };

struct tm_series {
    struct tm_counter_row row;
    struct tm_counter_value last;
    bool is_kept; /* false: past TM_SERIES_MOST */
};

/* What tells a counter from others, and makes its name: NAME [ID] KEY, or NAME SUFFIX. */
struct counter {
    uint32_t process, device;      /* device: as in tm_counter_row */
    tm_strid name, key, unit;
    const char *suffix;            /* NULL = none */
    const char *id;                /* NULL = none; id_length bytes */
    size_t id_length;
    uint8_t order;                 /* enum tm_counter_order */
    bool only_changes;             /* a value that is the same as before is not written */
    const struct tm_event *event;  /* NULL = worked out */
};

/* --- the table --- */

static tm_status make_slots(struct tm_exporter *e, size_t count)
{
    struct tm_series_table *const t = &e->series;
    uint32_t *const slots = tm_take(&e->run->budget, TM_ACCOUNT_TABLES, count * sizeof(*slots), &e->run->error);

    if (!slots)
        return e->run->error.status;
    for (uint64_t i = 0; i < tm_rows_count(t->rows); i++) {
        const struct tm_series *const series = tm_rows_at(t->rows, i);
        size_t at;

        if (!series) {
            tm_give(&e->run->budget, TM_ACCOUNT_TABLES, slots, count * sizeof(*slots));
            return e->run->error.status;
        }
        at = (size_t)series->row.hash & (count - 1);
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    tm_give(&e->run->budget, TM_ACCOUNT_TABLES, t->slots, t->slot_count * sizeof(*t->slots));
    t->slots = slots;
    t->slot_count = count;
    return TM_OK;
}

tm_status tm_exporter_begin_counters(struct tm_exporter *e)
{
    tm_exporter_end_counters(e);
    e->series.rows = tm_rows_new_paged(e->run, TM_ACCOUNT_TABLES, sizeof(struct tm_series), ROWS_BYTES, PAGE_BYTES);
    return e->series.rows ? make_slots(e, SLOTS_FIRST) : e->run->error.status;
}

void tm_exporter_end_counters(struct tm_exporter *e)
{
    tm_rows_free(e->series.rows);
    tm_give(&e->run->budget, TM_ACCOUNT_TABLES, e->series.slots, e->series.slot_count * sizeof(*e->series.slots));
    e->series = (struct tm_series_table){ .rows = NULL };
}

/* The slot of a hash: of its series, or free. */
static tm_status find_slot(struct tm_exporter *e, uint64_t hash, size_t *slot)
{
    const struct tm_series_table *const t = &e->series;

    for (*slot = (size_t)hash & (t->slot_count - 1); t->slots[*slot]; *slot = (*slot + 1) & (t->slot_count - 1)) {
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
    const tm_status st = tm_names_info(e->names, name, &info);

    *hash = st == TM_OK ? info.hash.low : 0;
    return st;
}

static tm_status hash_counter(struct tm_exporter *e, const struct counter *c, uint64_t *hash)
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
    const tm_status st = tm_names_text(e->names, name, NAME_MOST, &text, &length);

    if (st == TM_OK)
        add(to, text, length);
    return st;
}

static tm_status name_counter(struct tm_exporter *e, const struct counter *c, tm_strid *name)
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
    return st == TM_OK ? tm_names_put(e->names, text.bytes, text.length, name) : st;
}

/* --- writing --- */

/* The series of a counter; made where there is none, and kept as long as there is room. */
static tm_status find_series(struct tm_exporter *e, const struct counter *c, struct tm_series *fresh,
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
    st = tm_rows_append(t->rows, fresh);
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
        .row = &row, .time_ps = time_ps, .value = series->last.value, .whole = series->last.whole,
        .is_whole = series->last.is_whole, .trace = event ? e->trace : NULL,
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

static tm_status count(struct tm_exporter *e, const struct counter *c, const struct tm_counter_value *value,
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

/* --- values --- */

static struct tm_counter_value whole_value(int64_t whole)
{
    return (struct tm_counter_value){ .value = (double)whole, .whole = whole, .is_whole = true };
}

/* A decimal number, as JSON has it, perhaps in a text. */
static bool read_number(const struct tm_argument *argument, struct tm_counter_value *value)
{
    char text[NUMBER_MOST + 1], *end;

    if (!argument->length || argument->length > NUMBER_MOST)
        return false;
    memcpy(text, argument->text, argument->length);
    text[argument->length] = '\0';
    if (strspn(text, "0123456789+-.eE") != argument->length)
        return false;
    value->value = strtod(text, &end);
    return *end == '\0' && isfinite(value->value);
}

/* false: it is no finite number */
static bool value_of(const struct tm_argument *argument, struct tm_counter_value *value)
{
    *value = (struct tm_counter_value){ .is_whole = false };
    switch (argument->type) {
    case TM_ARGUMENT_INT:
        *value = whole_value(argument->number);
        return true;
    case TM_ARGUMENT_UINT:
        if (argument->value <= INT64_MAX)
            *value = whole_value((int64_t)argument->value);
        else
            value->value = (double)argument->value;
        return true;
    case TM_ARGUMENT_DOUBLE:
        value->value = argument->real;
        return isfinite(argument->real);
    case TM_ARGUMENT_NUMBER: case TM_ARGUMENT_TEXT:
        return read_number(argument, value);
    default:
        return false;
    }
}

/* --- what has them --- */

static tm_status take_argument(struct tm_exporter *e, const struct counter *c, const struct tm_argument *argument,
                               int64_t time_ps)
{
    struct tm_counter_value value;

    if (value_of(argument, &value))
        return count(e, c, &value, time_ps);
    tm_tally_add(&e->run->tallies, TM_TALLY_COUNTER_WITHOUT_VALUE, 1);
    return TM_OK;
}

/* Whether an argument has the value of an XSpace's counter.  The same text may have several handles. */
static tm_status is_counter_value(struct tm_exporter *e, tm_strid key, bool *is)
{
    struct tm_key_answer *const answer = &e->keys[key % TM_KEY_ANSWERS];
    struct tm_name info;

    if (!answer->is_known || answer->key != key) {
        const tm_status st = tm_names_info(e->names, key, &info);

        if (st != TM_OK)
            return st;
        *answer = (struct tm_key_answer){ key, 1, tm_is_same_key(info.hash, e->counter_value) };
    }
    *is = answer->is_counter_value;
    return TM_OK;
}

/* Of a Chrome trace each number is a counter, of an XSpace the one statistic. */
tm_status tm_exporter_take_counter(struct tm_exporter *e, const struct tm_export_item *item)
{
    const bool has_keys = e->trace->origin != TM_ORIGIN_XSPACE;
    struct tm_arguments list = item->event->own;
    struct tm_argument id, argument;
    const tm_strid name = item->event->record.name;
    struct counter c = { .process = item->track->process, .name = name ? name : e->no_name,
                         .order = TM_COUNTER_RECORDED, .event = item->event };
    bool is_any = false;
    tm_status st = TM_OK;

    if (tm_arguments_find(list, TM_ARGUMENT_ID, &id)) {
        c.id = id.text;
        c.id_length = id.length;
    }
    while (st == TM_OK && tm_arguments_next(&list, true, &argument)) {
        bool is_value = tm_argument_is_value(&argument);

        if (is_value && !has_keys)
            st = is_counter_value(e, argument.key, &is_value);
        if (st != TM_OK || !is_value)
            continue;
        is_any = true;
        c.key = has_keys ? argument.key : 0;
        st = take_argument(e, &c, &argument, item->begin_ps);
    }
    tm_tally_add(&e->run->tallies, TM_TALLY_COUNTER_WITHOUT_VALUE, !is_any);
    return st;
}

/* --- allocators --- */

static uint32_t find_device(const struct tm_trace *trace, enum tm_device_kind kind, int64_t ordinal)
{
    for (uint32_t i = 0; i < trace->device_count; i++)
        if (trace->devices[i].kind == kind && trace->devices[i].ordinal == ordinal)
            return i;
    return TM_NONE;
}

/* The device that an allocator is of, as its name tells (XLA: GPU_0_bfc; PyTorch: gpu:0, or cuda:0), or its number on
 * the host; TM_NONE = none. */
static tm_status device_of(struct tm_exporter *e, const struct tm_allocation *a, uint32_t *device)
{
    static const char *const begins[] = { "GPU_", "gpu:", "GPU:", "cuda:", "CUDA:" };
    const char *text;
    size_t length;
    tm_status st;

    *device = TM_NONE;
    if (!a->allocator) {
        if (a->has & TM_HAS_INDEX_ON_HOST)
            *device = find_device(e->trace, TM_DEVICE_TPU, a->index_on_host);
        return TM_OK;
    }
    st = tm_names_text(e->names, a->allocator, NAME_MOST, &text, &length);
    for (size_t i = 0; st == TM_OK && i < sizeof(begins) / sizeof(begins[0]); i++) {
        const size_t skip = strlen(begins[i]);

        if (length > skip && memcmp(text, begins[i], skip) == 0 && text[skip] >= '0' && text[skip] <= '9')
            *device = find_device(e->trace, TM_DEVICE_GPU, strtoll(text + skip, NULL, 10));
    }
    return st;
}

tm_status tm_exporter_take_allocation(struct tm_exporter *e, const struct tm_export_item *item)
{
    const struct tm_event *const event = item->event;
    struct counter c = { .process = item->track->process, .unit = e->bytes_unit, .order = TM_COUNTER_RECORDED,
                         .only_changes = true, .event = event };
    struct tm_allocation a;
    char name[48];
    uint32_t device;
    tm_status st;

    if (event->record.args_length != sizeof(a))
        return TM_OK;
    memcpy(&a, event->args, sizeof(a));
    st = device_of(e, &a, &device);
    if (device != TM_NONE)
        c.process = tm_out_rows_device_process(e->rows, device);
    c.name = a.allocator;
    if (st == TM_OK && !c.name) {
        const int length = a.has & TM_HAS_INDEX_ON_HOST
                               ? snprintf(name, sizeof(name), "device %lld", (long long)a.index_on_host)
                               : snprintf(name, sizeof(name), "allocator");

        st = tm_names_put(e->names, name, (size_t)length, &c.name);
    }
    const struct { uint32_t has; const char *what; int64_t bytes; } states[] = {
        { TM_HAS_ALLOCATED, " bytes allocated", a.bytes_allocated },
        { TM_HAS_RESERVED, " bytes reserved", a.bytes_reserved },
        { TM_HAS_AVAILABLE, " bytes available", a.bytes_available },
        { TM_HAS_PEAK, " peak bytes in use", a.peak_bytes_in_use },
    };
    for (size_t i = 0; st == TM_OK && i < sizeof(states) / sizeof(states[0]); i++) {
        const struct tm_counter_value value = whole_value(states[i].bytes);

        c.suffix = states[i].what;
        if (a.has & states[i].has)
            st = count(e, &c, &value, item->begin_ps);
    }
    return st;
}

tm_status tm_exporter_take_derived_counter(struct tm_exporter *e, const struct tm_derived_row *row, int64_t time_ps)
{
    const bool is_share = row->sort == TM_DERIVED_BUSY;
    char name[TM_OWN_NAME_BYTES];
    const struct counter c = {
        .process = tm_out_rows_device_process(e->rows, row->device), .device = row->device, .suffix = name,
        .unit = is_share ? e->percent_unit : 0, .order = is_share ? TM_COUNTER_BUSY : TM_COUNTER_QUEUE,
    };
    const bool is_whole = !is_share && row->value == trunc(row->value) && fabs(row->value) < 9e15;
    const struct tm_counter_value value =
        is_whole ? whole_value((int64_t)row->value) : (struct tm_counter_value){ .value = row->value };

    tm_out_rows_name_of_device(e->rows, row->device, is_share ? "busy share" : "queue depth", name, sizeof(name));
    if (isfinite(row->value))
        return count(e, &c, &value, time_ps);
    tm_tally_add(&e->run->tallies, TM_TALLY_COUNTER_WITHOUT_VALUE, 1);
    return TM_OK;
}
