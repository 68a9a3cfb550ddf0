/* SPDX-License-Identifier: Apache-2.0 */
/* Events and worked-out rows that are values of counters.  No memory of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stages/output/export/exporter_series.h"

enum { NUMBER_MOST = 64 };

/* --- values --- */

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
        *value = tm_whole_value(argument->number);
        return true;
    case TM_ARGUMENT_UINT:
        if (argument->value <= INT64_MAX)
            *value = tm_whole_value((int64_t)argument->value);
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

static tm_status take_argument(struct tm_exporter *e, const struct tm_counter_key *c,
                               const struct tm_argument *argument, int64_t time_ps)
{
    struct tm_counter_value value;

    if (value_of(argument, &value))
        return tm_exporter_count(e, c, &value, time_ps);
    tm_tally_add(&e->run->tallies, TM_TALLY_COUNTER_WITHOUT_VALUE, 1);
    return TM_OK;
}

/* Whether an argument has the value of an XSpace's counter.  The same text may have several handles. */
static tm_status is_counter_value(struct tm_exporter *e, tm_strid key, bool *is)
{
    struct tm_name_answer *const known = tm_name_answer(e->keys, TM_KNOWN_KEYS, key);
    struct tm_name info;

    if (!known->is_known) {
        const tm_status st = tm_names_info(e->names, key, &info);

        if (st != TM_OK)
            return st;
        known->is_known = true;
        known->answer = tm_is_same_key(info.hash, e->counter_value);
    }
    *is = known->answer;
    return TM_OK;
}

/* Of a Chrome trace each number is a counter, of an XSpace the one statistic. */
tm_status tm_exporter_take_counter(struct tm_exporter *e, const struct tm_export_item *item)
{
    const bool has_keys = e->trace->origin != TM_ORIGIN_XSPACE;
    struct tm_arguments list = item->event->own;
    struct tm_argument id, argument;
    const tm_strid name = item->event->record.name;
    struct tm_counter_key c = { .process = item->track->process, .name = name ? name : e->no_name,
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

tm_status tm_exporter_take_derived_counter(struct tm_exporter *e, const struct tm_derived_row *row, int64_t time_ps)
{
    const bool is_share = row->sort == TM_DERIVED_BUSY;
    char name[TM_OWN_NAME_BYTES];
    const struct tm_counter_key c = {
        .process = tm_out_rows_device_process(e->rows, row->device), .device = row->device, .suffix = name,
        .unit = is_share ? e->percent_unit : 0, .order = is_share ? TM_COUNTER_BUSY : TM_COUNTER_QUEUE,
    };
    const bool is_whole = !is_share && row->value == trunc(row->value) && fabs(row->value) < 9e15;
    const struct tm_counter_value value =
        is_whole ? tm_whole_value((int64_t)row->value) : (struct tm_counter_value){ .value = row->value };

    tm_out_rows_name_of_device(e->rows, row->device, is_share ? "busy share" : "queue depth", name, sizeof(name));
    if (isfinite(row->value))
        return tm_exporter_count(e, &c, &value, time_ps);
    tm_tally_add(&e->run->tallies, TM_TALLY_COUNTER_WITHOUT_VALUE, 1);
    return TM_OK;
}
