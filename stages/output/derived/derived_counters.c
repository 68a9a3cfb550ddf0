/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of devices: how much launched work waits, and how much of the time they are active.  Activities come in the
 * order of their begins, their launches do not: these go through a sort of 16 bytes each, and the begins into a list,
 * both of which spill.  When the host ends, the two are walked side by side.  Beside that, a fixed struct per
 * device. */
#include "stages/output/derived/derived_private.h"

/* Of the account's share. */
enum { LAUNCHES_PART = 8, BEGINS_PART = 16 };

/* The least of 1, 2, 5, 10, 20 ... us of which `most` cover a window. */
static int64_t stretch_length(int64_t window_ps, int64_t most)
{
    const int64_t least_ps = window_ps / most + (window_ps % most != 0);
    int64_t length_ps = TM_DERIVED_STRETCH_LEAST_PS;

    for (int i = 0; length_ps < least_ps; i++)
        length_ps = i % 3 == 1 ? length_ps / 2 * 5 : length_ps * 2;
    return length_ps;
}

static int64_t stretches_most(const struct tm_derived *d)
{
    const int64_t share = TM_DERIVED_STRETCHES_HOST / (d->counter_count ? d->counter_count : 1);

    return share < TM_DERIVED_STRETCHES ? share : TM_DERIVED_STRETCHES;
}

static int by_time(const void *a, const void *b)
{
    const struct launched *x = a, *y = b;

    return (x->time_ps > y->time_ps) - (x->time_ps < y->time_ps);
}

static tm_status push_value(struct tm_derived *d, uint32_t device, enum tm_derived_sort sort, int64_t time_ps,
                            double value)
{
    const struct derived_row row = { .begin_ps = time_ps, .end_ps = time_ps, .value = value,
                                     .name = d->keys[sort == TM_DERIVED_QUEUE ? NAME_QUEUE : NAME_BUSY],
                                     .host = d->host.number, .device = device, .sort = (uint8_t)sort };

    return tm_sorter_push(d->sorter, &row);
}

/* --- busy share --- */

static tm_status tell_busy(struct tm_derived *d, uint32_t device, uint64_t stretch, int64_t sum_ps)
{
    struct busy_share *b = &d->counters[device].busy;
    const int64_t begin_ps = b->origin_ps + (int64_t)stretch * b->length_ps;
    const int64_t left_ps = b->end_ps - begin_ps;
    const double value = 100.0 * (double)sum_ps / (double)(left_ps < b->length_ps ? left_ps : b->length_ps);

    if (b->is_told && value == b->told)
        return TM_OK;
    b->is_told = true;
    b->told = value;
    return push_value(d, device, TM_DERIVED_BUSY, begin_ps, value);
}

/* Add what lies in one stretch; those between it and the present one are empty. */
static tm_status add_busy(struct tm_derived *d, uint32_t device, uint64_t stretch, int64_t ps)
{
    struct busy_share *b = &d->counters[device].busy;
    tm_status st = TM_OK;

    if (stretch > b->stretch) {
        st = tell_busy(d, device, b->stretch, b->sum_ps);
        if (st == TM_OK && stretch > b->stretch + 1)
            st = tell_busy(d, device, b->stretch + 1, 0);
        b->stretch = stretch;
        b->sum_ps = 0;
    }
    b->sum_ps += ps;
    return st;
}

static tm_status cover(struct tm_derived *d, uint32_t device, int64_t begin_ps, int64_t end_ps)
{
    struct busy_share *b = &d->counters[device].busy;
    tm_status st = TM_OK;

    begin_ps = begin_ps > b->until_ps ? begin_ps : b->until_ps;
    end_ps = end_ps < b->end_ps ? end_ps : b->end_ps;
    while (begin_ps < end_ps && st == TM_OK) {
        const uint64_t stretch = (uint64_t)((begin_ps - b->origin_ps) / b->length_ps);
        const int64_t border_ps = b->origin_ps + (int64_t)(stretch + 1) * b->length_ps;
        const int64_t to_ps = border_ps < end_ps ? border_ps : end_ps;

        st = add_busy(d, device, stretch, to_ps - begin_ps);
        begin_ps = b->until_ps = to_ps;
    }
    return st;
}

static tm_status end_busy(struct tm_derived *d, uint32_t device)
{
    const struct busy_share *b = &d->counters[device].busy;
    tm_status st;

    if (b->end_ps <= b->origin_ps)
        return TM_OK;
    st = tell_busy(d, device, b->stretch, b->sum_ps);
    /* Behind it nothing but activities without length. */
    if (st == TM_OK && b->end_ps - b->origin_ps > (int64_t)(b->stretch + 1) * b->length_ps)
        return tell_busy(d, device, b->stretch + 1, 0);
    return st == TM_OK && b->told != 0 ? push_value(d, device, TM_DERIVED_BUSY, b->end_ps, 0) : st;
}

/* --- queue depth --- */

static tm_status tell_depth(struct tm_derived *d, uint32_t device, uint64_t stretch, int64_t depth)
{
    struct queue_depth *q = &d->counters[device].queue;

    if (q->is_told && depth == q->told)
        return TM_OK;
    q->is_told = true;
    q->told = depth;
    return push_value(d, device, TM_DERIVED_QUEUE, q->origin_ps + (int64_t)stretch * q->length_ps, (double)depth);
}

/* The depth holds from `at` up to but not until_ps. */
static tm_status hold_depth(struct tm_derived *d, uint32_t device, int64_t until_ps)
{
    struct queue_depth *q = &d->counters[device].queue;
    const uint64_t first = (uint64_t)((q->at_ps - q->origin_ps) / q->length_ps);
    const uint64_t last = (uint64_t)((until_ps - 1 - q->origin_ps) / q->length_ps);
    tm_status st = TM_OK;

    if (first > q->stretch) {
        st = tell_depth(d, device, q->stretch, q->most);
        q->stretch = first;
        q->most = q->depth;
    }
    if (q->depth > q->most)
        q->most = q->depth;
    if (last > first && st == TM_OK) {
        st = tell_depth(d, device, first, q->most);
        if (st == TM_OK && last > first + 1)
            st = tell_depth(d, device, first + 1, q->depth);
        q->stretch = last;
        q->most = q->depth;
    }
    q->at_ps = until_ps;
    return st;
}

static void begin_queue(const struct tm_derived *d, uint32_t device)
{
    struct device_counters *c = &d->counters[device];
    struct queue_depth *q = &c->queue;

    *q = (struct queue_depth){ .origin_ps = c->first_launch_ps, .at_ps = c->first_launch_ps, .end_ps = c->last_ps,
                               .has_begun = true };
    q->length_ps = stretch_length(q->end_ps - q->origin_ps, stretches_most(d));
}

/* More or fewer wait from a time on, not before the latest of this device. */
static tm_status change_depth(struct tm_derived *d, const struct launched *change, bool is_launch)
{
    struct queue_depth *q = &d->counters[change->device].queue;
    tm_status st = TM_OK;

    if (!q->has_begun)
        begin_queue(d, change->device);
    if (change->time_ps > q->at_ps)
        st = hold_depth(d, change->device, change->time_ps);
    q->depth += is_launch ? (int64_t)change->count : -(int64_t)change->count;
    return st;
}

static tm_status end_queue(struct tm_derived *d, uint32_t device)
{
    struct queue_depth *q = &d->counters[device].queue;
    tm_status st = TM_OK;

    if (!q->has_begun)
        return TM_OK;
    if (q->end_ps > q->at_ps)
        st = hold_depth(d, device, q->end_ps);
    if (st == TM_OK)
        st = tell_depth(d, device, q->stretch, q->most);
    if (st == TM_OK && q->told)
        st = push_value(d, device, TM_DERIVED_QUEUE, q->end_ps, 0);
    return st;
}

static tm_status flush_launches(struct tm_derived *d, struct launched *pending)
{
    const struct launched row = *pending;

    pending->count = 0;
    return row.count ? tm_sorter_push(d->launches, &row) : TM_OK;
}

/* It waits from its launch until it begins. */
static tm_status note_launch(struct tm_derived *d, const struct tm_event *event)
{
    struct device_counters *c = &d->counters[event->device];
    const struct launched begin = { .time_ps = event->record.start_ps, .device = event->device, .count = 1 };
    tm_status st = TM_OK;

    if (event->launch_start_ps < c->first_launch_ps)
        c->first_launch_ps = event->launch_start_ps;
    if (c->pending.count == UINT32_MAX || c->pending.time_ps != event->launch_start_ps)
        st = flush_launches(d, &c->pending);
    c->pending = (struct launched){ event->launch_start_ps, event->device, c->pending.count + 1 };
    return st == TM_OK ? tm_rows_append(d->begins, &begin) : st;
}

/* What begins at the time of a launch does not wait any more. */
static tm_status end_waiting(struct tm_derived *d, uint64_t *at, int64_t until_ps)
{
    const uint64_t count = tm_rows_count(d->begins);
    tm_status st = TM_OK;

    while (*at < count && st == TM_OK) {
        const struct launched *begin = tm_rows_at(d->begins, *at);

        if (!begin)
            return d->run->error.status;
        if (begin->time_ps > until_ps)
            break;
        st = change_depth(d, begin, false);
        ++*at;
    }
    return st;
}

static tm_status walk_launches(struct tm_derived *d)
{
    uint64_t begins = 0;
    tm_status st = TM_OK;

    for (uint32_t i = 0; i < d->counter_count && st == TM_OK; i++)
        st = flush_launches(d, &d->counters[i].pending);
    if (st == TM_OK)
        st = tm_sorter_finish(d->launches);
    while (st == TM_OK) {
        const void *next;

        st = tm_sorter_next(d->launches, &next);
        if (st == TM_OK)
            st = end_waiting(d, &begins, next ? ((const struct launched *)next)->time_ps : INT64_MAX);
        if (st != TM_OK || !next)
            break;
        st = change_depth(d, next, true);
    }
    for (uint32_t i = 0; i < d->counter_count && st == TM_OK; i++)
        st = end_queue(d, i);
    return st;
}

/* --- a host --- */

static void begin_device(const struct tm_derived *d, struct device_counters *c, const struct tm_device *device)
{
    c->first_launch_ps = INT64_MAX;
    if (!device->activities || device->last_ps <= device->first_ps)
        return;
    c->last_ps = device->last_ps;
    c->busy = (struct busy_share){ .origin_ps = device->first_ps, .until_ps = device->first_ps,
                                   .end_ps = device->last_ps };
    c->busy.length_ps = stretch_length(device->last_ps - device->first_ps, stretches_most(d));
}

tm_status derived_begin_counters(struct tm_derived *d)
{
    struct tm_run *run = d->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_MODEL);
    const uint32_t count = d->trace->device_count;

    d->counters = tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*d->counters), &run->error);
    if (!d->counters)
        return run->error.status;
    d->counter_count = count;
    for (uint32_t i = 0; i < count; i++)
        begin_device(d, &d->counters[i], &d->trace->devices[i]);
    d->launches = tm_sorter_new(run, TM_ACCOUNT_MODEL, sizeof(struct launched), share / LAUNCHES_PART, by_time);
    d->begins = d->launches ? tm_rows_new(run, TM_ACCOUNT_MODEL, sizeof(struct launched), share / BEGINS_PART) : NULL;
    return d->begins ? TM_OK : run->error.status;
}

tm_status derived_count(struct tm_derived *d, const struct tm_event *event)
{
    const struct tm_record *r = &event->record;
    tm_status st = TM_OK;

    if (event->level == TM_LEVEL_NONE || event->device >= d->counter_count ||
        d->counters[event->device].busy.end_ps <= d->counters[event->device].busy.origin_ps)
        return TM_OK;
    if (event->config->tpu_part != TM_TPU_WAIT) /* as utilization is counted */
        st = cover(d, event->device, r->start_ps, r->start_ps + r->dur_ps);
    if (st == TM_OK && event->launch_track != TM_NONE && event->launch_start_ps < r->start_ps)
        st = note_launch(d, event);
    return st;
}

tm_status derived_end_counters(struct tm_derived *d)
{
    tm_status st = walk_launches(d);

    for (uint32_t i = 0; i < d->counter_count && st == TM_OK; i++)
        st = end_busy(d, i);
    return st;
}

void derived_free_counters(struct tm_derived *d)
{
    tm_sorter_free(d->launches);
    tm_rows_free(d->begins);
    tm_give(&d->run->budget, TM_ACCOUNT_MODEL, d->counters, d->counter_count * sizeof(*d->counters));
    d->launches = NULL;
    d->begins = NULL;
    d->counters = NULL;
    d->counter_count = 0;
}
