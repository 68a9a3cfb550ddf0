/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and idle gaps as spans.  Of a host's steps: the marks where they are the host's own, and the period of each
 * step on each device; a session that stands for a step is none.  No memory beside the rows. */
#include <inttypes.h>
#include <stdio.h>

#include "stages/output/derived/derived_private.h"

/* --- steps --- */

static void put_step(struct tm_derived *d, const struct tm_step_mark *mark)
{
    struct tm_arguments_builder *list = derived_list(d);

    tm_put_int(list, d->keys[KEY_NUMBER], mark->number);
    tm_put_bool(list, d->keys[KEY_CHOSEN], mark->chosen);
    tm_put_bool(list, d->keys[KEY_WARM_UP], mark->warmup);
    tm_put_bool(list, d->keys[KEY_INCOMPLETE], !mark->complete);
    tm_put_bool(list, d->keys[KEY_COMPILES], mark->has_compile);
}

static tm_status push_period(struct tm_derived *d, const struct tm_step_mark *mark, tm_strid name, uint32_t device,
                             uint64_t ordinal)
{
    const struct tm_steps *steps = &d->trace->steps;
    const struct tm_step_row *row = tm_rows_at(steps->rows, d->trace->devices[device].first_step_row + ordinal);
    struct derived_row span = { .name = name, .host = d->host.number, .device = device, .sort = TM_DERIVED_STEP };

    if (!row)
        return d->run->error.status;
    if (!row->activities || row->end_ps <= row->begin_ps)
        return TM_OK;
    span.begin_ps = row->begin_ps;
    span.end_ps = row->end_ps;
    put_step(d, mark);
    tm_put_uint(&d->list, d->keys[KEY_ACTIVITIES], row->activities);
    return derived_push(d, &span);
}

static tm_status push_step(struct tm_derived *d, uint64_t ordinal)
{
    const struct tm_steps *steps = &d->trace->steps;
    const struct tm_step_mark *row = tm_rows_at(steps->marks, ordinal);
    struct tm_step_mark mark;
    char text[32];
    tm_strid name;
    tm_status st;

    if (!row)
        return d->run->error.status;
    mark = *row;
    (void)snprintf(text, sizeof(text), "step %" PRId64, mark.number);
    st = tm_names_put_string(d->names, text, &name);
    if (st == TM_OK && steps->source == TM_STEPS_HOST) {
        const struct derived_row span = { .begin_ps = mark.begin_ps, .end_ps = mark.begin_ps + mark.dur_ps,
                                          .name = name, .host = d->host.number, .device = TM_NONE,
                                          .sort = TM_DERIVED_STEP };

        put_step(d, &mark);
        st = derived_push(d, &span);
    }
    for (uint32_t i = 0; i < d->trace->device_count && st == TM_OK; i++)
        if (d->trace->devices[i].activities)
            st = push_period(d, &mark, name, i, ordinal);
    return st;
}

tm_status derived_steps(struct tm_derived *d)
{
    const struct tm_steps *steps = &d->trace->steps;
    tm_status st = TM_OK;

    for (uint64_t k = 0; k < steps->count && steps->source != TM_STEPS_SESSION && st == TM_OK; k++)
        st = push_step(d, k);
    return st;
}

/* --- gaps --- */

/* Nothing where it is not known. */
static void put_name(struct tm_derived *d, enum derived_key key, tm_strid name)
{
    if (name)
        tm_put_name(&d->list, d->keys[key], name);
}

static tm_status put_step_number(struct tm_derived *d, uint32_t ordinal)
{
    const struct tm_step_mark *mark;

    if (ordinal == TM_NONE || d->trace->steps.source == TM_STEPS_SESSION)
        return TM_OK;
    mark = tm_rows_at(d->trace->steps.marks, ordinal);
    if (!mark)
        return d->run->error.status;
    tm_put_int(&d->list, d->keys[KEY_STEP], mark->number);
    return TM_OK;
}

tm_status derived_gap(void *derived, const struct tm_idle_gap *gap)
{
    struct tm_derived *d = derived;
    struct derived_row span = { .begin_ps = gap->begin_ps, .end_ps = gap->end_ps, .host = gap->host,
                                .device = gap->device, .sort = TM_DERIVED_GAP };
    struct tm_arguments_builder *list = derived_list(d);
    char text[64];
    tm_status st;

    (void)snprintf(text, sizeof(text), "idle: %s", gap->cause);
    st = tm_names_put_string(d->names, text, &span.name);
    if (st != TM_OK)
        return st;
    tm_put_int(list, d->keys[KEY_LENGTH_NS], tm_out_ns(gap->end_ps - gap->begin_ps));
    tm_put_text(list, d->keys[KEY_CAUSE], gap->cause, __builtin_strlen(gap->cause));
    put_name(d, KEY_BEFORE, gap->before);
    put_name(d, KEY_AFTER, gap->after);
    put_name(d, KEY_HOST_EVENT, gap->host_event);
    st = put_step_number(d, gap->step);
    return st == TM_OK ? derived_push(d, &span) : st;
}
