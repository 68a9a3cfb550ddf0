/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by their tables of fields: to a partial, from a partial, merged.
 * source: schemas/PARTIAL.md */
#include "stages/figures/fields.h"

#include <assert.h>
#include <stdalign.h>
#include <string.h>
#include <xxhash.h>

#include "pipeline/store/bounded_sum.h"
#include "pipeline/store/sorter.h"
#include "stages/figures/figure_rows.h"

enum { ROW_BYTES_MOST = 4096 };

/* The size of one element of each kind; 0 = the member is one. */
static const uint8_t element_bytes[TM_FIELD_KIND_COUNT] = {
    [TM_FIELD_WORD] = 8,           [TM_FIELD_COUNT] = 8,   [TM_FIELD_TIME] = 8, [TM_FIELD_INSTANT] = 8,
    [TM_FIELD_WIDE] = 16,          [TM_FIELD_DOUBLE] = 8,  [TM_FIELD_U32] = 4,  [TM_FIELD_U8] = 1,
    [TM_FIELD_BOOL] = 1,           [TM_FIELD_NAME] = 4,    [TM_FIELD_HOST] = 4, [TM_FIELD_DEVICE] = 4,
    [TM_FIELD_DEVICE_OR_NONE] = 4, [TM_FIELD_DEVICES] = 8,
};

static_assert(sizeof(tm_strid) == 4, "as the table says");

static size_t step_of(const struct tm_row_field *field)
{
    if (field->kind == TM_FIELD_STRUCT)
        return field->below;
    return element_bytes[field->kind] ? element_bytes[field->kind] : field->bytes;
}

/* The form of a table's rows in a partial, and their meaning: names, kinds, limits, merge rules.  The position of
 * members in memory does not matter. */
static uint64_t layout_of(const struct tm_row_field *fields)
{
    uint64_t layout = 0;

    for (const struct tm_row_field *field = fields; field->kind; field++) {
        const size_t step = step_of(field);
        const bool has_limit = field->kind != TM_FIELD_STRUCT && field->kind != TM_FIELD_ID;
        const uint64_t facts[] = { layout,
                                   field->kind,
                                   field->merge,
                                   step ? field->bytes / step : 0,
                                   has_limit ? field->below : 0,
                                   field->counted_bytes,
                                   field->kind == TM_FIELD_STRUCT ? layout_of(field->fields) : 0 };

        if (!field->is_local)
            layout = XXH3_64bits_withSeed(field->name, strlen(field->name), XXH3_64bits(facts, sizeof(facts)));
    }
    return layout;
}

/* --- saving --- */

static void save_members(struct tm_partial_writer *w, const struct tm_row_field *fields, const void *row);
static void load_members(struct tm_partial_reader *r, const struct tm_row_field *fields, void *row);

static void save_element(struct tm_partial_writer *w, const struct tm_row_field *field, const void *at)
{
    switch ((enum tm_field_kind)field->kind) {
    case TM_FIELD_WORD:
    case TM_FIELD_COUNT:
    case TM_FIELD_DEVICES:
        tm_partial_put_u64(w, *(const uint64_t *)at);
        break;
    case TM_FIELD_TIME:
    case TM_FIELD_INSTANT:
        tm_partial_put_i64(w, *(const int64_t *)at);
        break;
    case TM_FIELD_WIDE:
        tm_partial_put_words(w, at, 2);
        break;
    case TM_FIELD_DOUBLE:
        tm_partial_put_double(w, *(const double *)at);
        break;
    case TM_FIELD_U32:
    case TM_FIELD_HOST:
    case TM_FIELD_DEVICE:
    case TM_FIELD_DEVICE_OR_NONE:
        tm_partial_put_u32(w, *(const uint32_t *)at);
        break;
    case TM_FIELD_U8:
    case TM_FIELD_BOOL:
        tm_partial_put_u8(w, *(const uint8_t *)at);
        break;
    case TM_FIELD_NAME:
        tm_partial_put_name(w, *(const tm_strid *)at);
        break;
    case TM_FIELD_TEXT:
        tm_partial_put_text(w, at);
        break;
    case TM_FIELD_STRUCT:
        save_members(w, field->fields, at);
        break;
    case TM_FIELD_ID:
    case TM_FIELD_NONE:
    case TM_FIELD_KIND_COUNT:
        break;
    }
}

/* The host of a device's id. */
static uint32_t *host_of(const struct tm_row_field *field, const void *row)
{
    return (uint32_t *)((uintptr_t)row + field->below);
}

/* The bytes of a member that are used. */
static size_t used_bytes(const struct tm_row_field *field, const void *row)
{
    const uint8_t *const count = (const uint8_t *)row + field->counted_by;

    if (!field->counted_by)
        return field->bytes;
    return step_of(field) * (field->counted_bytes == 1 ? *count : *(const uint32_t *)(const void *)count);
}

static void save_members(struct tm_partial_writer *w, const struct tm_row_field *fields, const void *row)
{
    for (const struct tm_row_field *field = fields; field->kind; field++) {
        if (field->is_local)
            continue;
        if (field->kind == TM_FIELD_ID)
            tm_partial_put_device(w, *host_of(field, row), (const char *)row + field->at);
        for (size_t i = 0; i < used_bytes(field, row); i += step_of(field))
            save_element(w, field, (const uint8_t *)row + field->at + i);
    }
}

void tm_fields_save(struct tm_partial_writer *w, const struct tm_row_field *fields, const void *row)
{
    if (tm_partial_begin_table(w, fields))
        tm_partial_put_u64(w, layout_of(fields));
    save_members(w, fields, row);
}

/* --- loading --- */

static void load_element(struct tm_partial_reader *r, const struct tm_row_field *field, void *at)
{
    switch ((enum tm_field_kind)field->kind) {
    case TM_FIELD_WORD:
    case TM_FIELD_COUNT:
        *(uint64_t *)at = field->below ? tm_partial_below_u64(r, field->below) : tm_partial_u64(r);
        break;
    case TM_FIELD_TIME:
        *(int64_t *)at = tm_partial_time(r);
        break;
    case TM_FIELD_INSTANT:
        *(int64_t *)at = tm_partial_i64(r);
        break;
    case TM_FIELD_WIDE:
        tm_partial_words(r, at, 2);
        break;
    case TM_FIELD_DOUBLE:
        *(double *)at = tm_partial_double(r);
        break;
    case TM_FIELD_U32:
        *(uint32_t *)at = field->below ? tm_partial_below_u32(r, field->below) : tm_partial_u32(r);
        break;
    case TM_FIELD_U8:
        *(uint8_t *)at = tm_partial_below_u8(r, field->below ? field->below : UINT8_MAX + 1);
        break;
    case TM_FIELD_BOOL:
        *(uint8_t *)at = tm_partial_bool(r);
        break;
    case TM_FIELD_NAME:
        *(tm_strid *)at = tm_partial_name(r);
        break;
    case TM_FIELD_TEXT:
        tm_partial_text(r, at, field->bytes);
        break;
    case TM_FIELD_STRUCT:
        load_members(r, field->fields, at);
        break;
    case TM_FIELD_HOST:
        *(uint32_t *)at = tm_partial_run_host(r);
        break;
    case TM_FIELD_DEVICE:
        *(uint32_t *)at = tm_partial_run_device(r);
        break;
    case TM_FIELD_DEVICE_OR_NONE:
        *(uint32_t *)at = tm_partial_run_device_or_none(r);
        break;
    case TM_FIELD_DEVICES:
        *(uint64_t *)at = tm_move_device_bits(tm_partial_u64(r), tm_partial_first_device(r));
        break;
    case TM_FIELD_ID:
    case TM_FIELD_NONE:
    case TM_FIELD_KIND_COUNT:
        break;
    }
}

static void load_members(struct tm_partial_reader *r, const struct tm_row_field *fields, void *row)
{
    for (const struct tm_row_field *field = fields; field->kind; field++) {
        if (field->is_local)
            continue;
        if (field->kind == TM_FIELD_ID)
            *host_of(field, row) = tm_partial_device(r, (char *)row + field->at, field->bytes);
        for (size_t i = 0; i < used_bytes(field, row); i += step_of(field))
            load_element(r, field, (uint8_t *)row + field->at + i);
    }
}

static void enter_table(struct tm_partial_reader *r, const struct tm_row_field *fields)
{
    if (tm_partial_enter_table(r, fields) && tm_partial_u64(r) != layout_of(fields))
        (void)tm_partial_refuse_layout(r);
}

void tm_fields_load(struct tm_partial_reader *r, const struct tm_row_field *fields, void *row)
{
    enter_table(r, fields);
    load_members(r, fields, row);
}

/* --- merging --- */

static void merge_times(enum tm_field_merge merge, int64_t *into, int64_t from)
{
    if (merge == TM_MERGE_SUM)
        *into = tm_sum_times(*into, from);
    else if (merge == TM_MERGE_MIN ? from < *into : from > *into)
        *into = from;
}

static void merge_counts(enum tm_field_merge merge, uint64_t *into, uint64_t from)
{
    if (merge == TM_MERGE_SUM)
        *into = tm_sum_counts(*into, from);
    else if (merge == TM_MERGE_ANY)
        *into |= from;
    else if (merge == TM_MERGE_MIN ? from < *into : from > *into)
        *into = from;
}

static void merge_doubles(enum tm_field_merge merge, double *into, double from)
{
    if (merge == TM_MERGE_SUM)
        *into += from;
    else if (merge == TM_MERGE_MIN ? from < *into : from > *into)
        *into = from;
}

static void merge_element(const struct tm_row_field *field, void *into, const void *from)
{
    const enum tm_field_merge merge = (enum tm_field_merge)field->merge;

    switch ((enum tm_field_kind)field->kind) {
    case TM_FIELD_COUNT:
    case TM_FIELD_WORD:
    case TM_FIELD_DEVICES:
        merge_counts(merge, into, *(const uint64_t *)from);
        break;
    case TM_FIELD_TIME:
    case TM_FIELD_INSTANT:
        merge_times(merge, into, *(const int64_t *)from);
        break;
    case TM_FIELD_WIDE:
        assert(merge == TM_MERGE_SUM);
        *(struct tm_wide *)into = tm_sum_wide(*(struct tm_wide *)into, tm_wide_value(*(const struct tm_wide *)from));
        break;
    case TM_FIELD_DOUBLE:
        merge_doubles(merge, into, *(const double *)from);
        break;
    case TM_FIELD_U32:
        assert(merge == TM_MERGE_ANY);
        *(uint32_t *)into |= *(const uint32_t *)from;
        break;
    case TM_FIELD_BOOL:
        assert(merge == TM_MERGE_ANY);
        *(uint8_t *)into |= *(const uint8_t *)from;
        break;
    case TM_FIELD_STRUCT:
        tm_fields_merge(field->fields, into, from);
        break;
    case TM_FIELD_NAME: /* the first one that there is */
        if (*(tm_strid *)into == 0)
            *(tm_strid *)into = *(const tm_strid *)from;
        break;
    default: /* of the others one row's value is kept */
        assert(false);
        break;
    }
}

static void merge_field(const struct tm_row_field *field, void *into, const void *from)
{
    for (size_t i = 0; i < field->bytes; i += step_of(field))
        merge_element(field, (uint8_t *)into + i, (const uint8_t *)from + i);
}

void tm_fields_merge(const struct tm_row_field *fields, void *into, const void *from)
{
    for (const struct tm_row_field *field = fields; field->kind; field++) {
        uint8_t *const to = (uint8_t *)into + field->at;
        const uint8_t *const of = (const uint8_t *)from + field->at;

        if (field->merge == TM_MERGE_KEEP || field->merge == TM_MERGE_FIRST)
            continue;
        /* Most are single sums, and some rows are merged for each event. */
        if (field->merge == TM_MERGE_SUM && field->bytes == sizeof(uint64_t) && field->kind == TM_FIELD_COUNT)
            *(uint64_t *)(void *)to = tm_sum_counts(*(uint64_t *)(void *)to, *(const uint64_t *)(const void *)of);
        else if (field->merge == TM_MERGE_SUM && field->bytes == sizeof(int64_t) && field->kind == TM_FIELD_TIME)
            *(int64_t *)(void *)to = tm_sum_times(*(int64_t *)(void *)to, *(const int64_t *)(const void *)of);
        else
            merge_field(field, to, of);
    }
}

void tm_fields_take_first(const struct tm_row_field *fields, void *into, const void *from)
{
    for (const struct tm_row_field *field = fields; field->kind; field++)
        if (field->merge == TM_MERGE_FIRST)
            memcpy((uint8_t *)into + field->at, (const uint8_t *)from + field->at, field->bytes);
}

static void load_more_members(struct tm_partial_reader *r, const struct tm_row_field *fields, void *row)
{
    for (const struct tm_row_field *field = fields; field->kind; field++) {
        if (field->is_local)
            continue;
        for (size_t i = 0; i < field->bytes; i += step_of(field)) {
            alignas(16) uint8_t element[16];

            assert(field->merge != TM_MERGE_KEEP && field->merge != TM_MERGE_FIRST);
            if (field->kind == TM_FIELD_STRUCT) {
                load_more_members(r, field->fields, (uint8_t *)row + field->at + i);
                continue;
            }
            assert(step_of(field) <= sizeof(element));
            load_element(r, field, element);
            merge_element(field, (uint8_t *)row + field->at + i, element);
        }
    }
}

void tm_fields_load_more(struct tm_partial_reader *r, const struct tm_row_field *fields, void *row)
{
    enter_table(r, fields);
    load_more_members(r, fields, row);
}

/* --- containers --- */

tm_status tm_fields_save_groups(struct tm_partial_writer *w, const struct tm_row_field *fields,
                                struct tm_groups *groups)
{
    const void *row;

    tm_groups_finish(groups);
    while ((row = tm_groups_next(groups))) {
        tm_partial_put_u8(w, 1);
        tm_fields_save(w, fields, row);
    }
    tm_partial_put_u8(w, 0);
    return tm_partial_writer_status(w);
}

/* in: row_bytes  of a row, which is zero except for its fields before `complete` gets it */
static void load_row(struct tm_partial_reader *r, const struct tm_row_field *fields, size_t row_bytes,
                     tm_fields_complete *complete, void *of, void *row)
{
    assert(row_bytes <= ROW_BYTES_MOST);
    memset(row, 0, row_bytes);
    tm_fields_load(r, fields, row);
    if (complete && tm_partial_is_ok(r))
        (void)complete(of, r, row);
}

tm_status tm_fields_load_groups(struct tm_partial_reader *r, const struct tm_row_field *fields,
                                struct tm_groups *groups, tm_fields_complete *complete, void *of)
{
    alignas(max_align_t) uint8_t row[ROW_BYTES_MOST];

    while (tm_partial_bool(r) && tm_partial_is_ok(r)) {
        load_row(r, fields, tm_groups_row_bytes(groups), complete, of, row);
        tm_groups_add(groups, row);
    }
    return tm_partial_status(r);
}

tm_status tm_fields_save_rows(struct tm_partial_writer *w, const struct tm_row_field *fields, struct tm_rows *rows,
                              uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++)
        tm_fields_save(w, fields, tm_rows_at(rows, i));
    return tm_rows_status(rows);
}

tm_status tm_fields_load_rows(struct tm_partial_reader *r, const struct tm_row_field *fields, struct tm_rows *rows,
                              uint64_t count, tm_fields_complete *complete, void *of)
{
    alignas(max_align_t) uint8_t row[ROW_BYTES_MOST];

    for (uint64_t i = 0; i < count && tm_partial_is_ok(r); i++) {
        load_row(r, fields, tm_rows_row_bytes(rows), complete, of, row);
        tm_rows_append(rows, row);
    }
    return tm_partial_status(r);
}

tm_status tm_fields_save_sorter(struct tm_partial_writer *w, const struct tm_row_field *fields,
                                struct tm_sorter *sorter)
{
    const void *row;

    tm_sorter_finish(sorter);
    tm_partial_put_u64(w, tm_sorter_count(sorter));
    while ((row = tm_sorter_next(sorter)))
        tm_fields_save(w, fields, row);
    return tm_partial_writer_status(w);
}

tm_status tm_fields_load_sorter(struct tm_partial_reader *r, const struct tm_row_field *fields,
                                struct tm_sorter *sorter, tm_fields_complete *complete, void *of)
{
    const uint64_t count = tm_partial_u64(r);
    alignas(max_align_t) uint8_t row[ROW_BYTES_MOST];

    for (uint64_t i = 0; i < count && tm_partial_is_ok(r); i++) {
        load_row(r, fields, tm_sorter_row_bytes(sorter), complete, of, row);
        tm_sorter_push(sorter, row);
    }
    return tm_partial_status(r);
}

void tm_fields_save_top(struct tm_partial_writer *w, const struct tm_row_field *fields, struct tm_top_rows *top)
{
    tm_top_rows_sort(top);
    tm_partial_put_u64(w, tm_top_rows_count(top));
    for (uint64_t i = 0; i < tm_top_rows_count(top); i++)
        tm_fields_save(w, fields, tm_top_rows_at(top, i));
}

tm_status tm_fields_load_top(struct tm_partial_reader *r, const struct tm_row_field *fields, struct tm_top_rows *top,
                             uint64_t most)
{
    const uint64_t count = tm_partial_below_u64(r, most + 1);
    alignas(max_align_t) uint8_t row[ROW_BYTES_MOST];

    for (uint64_t i = 0; i < count && tm_partial_is_ok(r); i++) {
        load_row(r, fields, tm_top_rows_row_bytes(top), NULL, NULL, row);
        tm_top_rows_add(top, row);
    }
    return tm_partial_status(r);
}

/* Lengths of one group, ascending: this row, then each as its difference from the previous one, then, where some
 * occurred more than once, how many more times each did.  Most occur once, and differ little from the next: a partial
 * of 500,000 events takes 2.1 MB instead of 8.0, and saving and loading its lengths half of the time. */
enum { PACKED_LENGTHS_MOST = 1024 };

struct packed_lengths {
    uint64_t group, count;
    uint8_t has_repeats;
};

static const struct tm_row_field packed_fields[] = {
    TM_FIELD(struct packed_lengths, group, WORD, KEEP),
    TM_FIELD_BELOW(struct packed_lengths, count, COUNT, KEEP, PACKED_LENGTHS_MOST + 1),
    TM_FIELD(struct packed_lengths, has_repeats, BOOL, KEEP),
    TM_FIELDS_END,
};

static void save_packed(struct tm_partial_writer *w, const struct packed_lengths *row, const uint64_t *values,
                        const uint64_t *repeats)
{
    uint64_t last = 0;

    tm_partial_put_u8(w, 1);
    tm_fields_save(w, packed_fields, row);
    for (uint64_t i = 0; i < row->count; i++) {
        tm_partial_put_packed(w, values[i] - last);
        last = values[i];
    }
    for (uint64_t i = 0; i < row->count && row->has_repeats; i++)
        tm_partial_put_packed(w, repeats[i]);
}

tm_status tm_fields_save_lengths(struct tm_partial_writer *w, struct tm_lengths *lengths)
{
    uint64_t values[PACKED_LENGTHS_MOST], repeats[PACKED_LENGTHS_MOST];
    struct packed_lengths row = { .count = 0 };
    const struct tm_length *length;

    tm_lengths_finish(lengths);
    while ((length = tm_lengths_next(lengths))) {
        if (row.count && (row.count == PACKED_LENGTHS_MOST || row.group != length->group)) {
            save_packed(w, &row, values, repeats);
            row.count = row.has_repeats = 0;
        }
        row.group = length->group;
        values[row.count] = length->value;
        repeats[row.count++] = length->count - 1;
        row.has_repeats |= length->count > 1;
    }
    if (row.count)
        save_packed(w, &row, values, repeats);
    tm_partial_put_u8(w, 0);
    return tm_partial_writer_status(w);
}

static void load_packed(struct tm_partial_reader *r, struct tm_lengths *lengths)
{
    uint64_t values[PACKED_LENGTHS_MOST];
    struct packed_lengths row = { .count = 0 };
    tm_length_place place = 0;
    uint64_t last = 0;

    tm_fields_load(r, packed_fields, &row);
    for (uint64_t i = 0; i < row.count; i++) {
        const uint64_t step = tm_partial_packed(r);

        if (step > (uint64_t)INT64_MAX - last) {
            (void)tm_partial_damaged(r, "a length is out of its range");
            return;
        }
        values[i] = last += step;
    }
    for (uint64_t i = 0; i < row.count; i++) {
        const uint64_t repeats = row.has_repeats ? tm_partial_packed(r) : 0;

        if (!tm_partial_is_ok(r))
            return;
        if (!repeats)
            tm_lengths_add_at(lengths, &place, row.group, values[i]);
        else if (repeats < UINT64_MAX)
            tm_lengths_add(lengths, row.group, values[i], repeats + 1);
        else
            (void)tm_partial_damaged(r, "a number is out of its range");
    }
}

tm_status tm_fields_load_lengths(struct tm_partial_reader *r, struct tm_lengths *lengths)
{
    while (tm_partial_bool(r) && tm_partial_is_ok(r))
        load_packed(r, lengths);
    return tm_partial_status(r);
}

/* --- the longest stretches --- */

static int stretch_order(const void *one, const void *other)
{
    const struct tm_stretch *const a = one, *const b = other;

    if (a->dur_ps != b->dur_ps)
        return a->dur_ps > b->dur_ps ? -1 : 1;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    return strcmp(a->device, b->device);
}

void tm_stretches_add(struct tm_stretch *list, uint32_t *count, uint32_t most, const struct tm_stretch *stretch)
{
    *count = (uint32_t)tm_sorted_keep(list, *count, most, sizeof(*list), stretch, stretch_order);
}

const struct tm_row_field tm_stretch_fields[] = {
    TM_FIELD_DEVICE_ID(struct tm_stretch, device, host),
    TM_FIELD(struct tm_stretch, start_ps, INSTANT, KEEP),
    TM_FIELD(struct tm_stretch, dur_ps, TIME, KEEP),
    TM_FIELDS_END,
};

void tm_stretches_save(struct tm_partial_writer *w, const struct tm_row_field *fields, const struct tm_stretch *list,
                       uint32_t count)
{
    tm_partial_put_u32(w, count);
    for (uint32_t i = 0; i < count; i++)
        tm_fields_save(w, fields, &list[i]);
}

void tm_stretches_load(struct tm_partial_reader *r, const struct tm_row_field *fields, struct tm_stretch *list,
                       uint32_t *count, uint32_t most)
{
    const uint32_t more = tm_partial_below_u32(r, (uint64_t)most + 1);

    for (uint32_t i = 0; i < more; i++) {
        struct tm_stretch stretch = { .bytes = 0 };

        tm_fields_load(r, fields, &stretch);
        if (!tm_partial_is_ok(r))
            return;
        tm_stretches_add(list, count, most, &stretch);
    }
}
