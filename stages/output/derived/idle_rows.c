/* SPDX-License-Identifier: Apache-2.0 */
/* Idle time of devices: a span for each gap, named after its cause, with spans inside for what the host did; and
 * counters of all devices of a host, how busy they are and why they are idle, for zoom levels at which gaps are too
 * small to be seen.  Memory: the account `model`: ALL_STRETCHES sums for the busy time and for each cause. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/doc/run_figures.h"
#include "stages/output/derived/derived.h"

enum { ALL_STRETCHES = 1024 };

struct all_devices {
    int64_t origin_ps, length_ps, end_ps; /* length: of a stretch */
    uint32_t devices;                     /* with an activity */
    uint32_t causes;
    const char *const *cause_names;
    int64_t busy_ps[ALL_STRETCHES];
    int64_t idle_ps[TM_CAUSES_MOST][ALL_STRETCHES];
};

/* --- gaps --- */

/* Nothing if it is not known. */
static void put_name(struct tm_derived *d, enum derived_key key, tm_strid name)
{
    if (name)
        tm_put_name(&d->list, d->keys[key], name);
}

static void put_step_number(struct tm_derived *d, uint32_t ordinal)
{
    const struct tm_step_mark *mark;

    if (ordinal == TM_NONE || d->trace->steps.source == TM_STEPS_SESSION)
        return;
    mark = tm_rows_at(d->trace->steps.marks, ordinal);
    tm_put_int(&d->list, d->keys[KEY_STEP], mark->number);
}

static void push_gap(struct tm_derived *d, const struct tm_idle_gap *gap, const struct derived_row *span)
{
    struct derived_row whole = *span;
    struct tm_arguments_builder *const list = tm_derived_list(d);
    const char *const cause = tm_idle_title(gap->part_names[gap->cause]);

    whole.name = tm_names_put_string(d->names, cause);
    tm_put_int(list, d->keys[KEY_LENGTH_NS], tm_out_ns(gap->end_ps - gap->start_ps));
    tm_put_text(list, d->keys[KEY_CAUSE], cause, __builtin_strlen(cause));
    put_name(d, KEY_BEFORE, gap->before);
    put_name(d, KEY_AFTER, gap->after);
    put_name(d, KEY_HOST_EVENT, gap->host_event);
    put_step_number(d, gap->step);
    tm_derived_push(d, &whole);
}

/* Push what the host did, and the time from which the next launch is the cause. */
static void push_inside(struct tm_derived *d, const struct tm_idle_gap *gap, const struct derived_row *span)
{
    struct derived_row part = *span;
    const bool has_launch = gap->launch_ps > gap->start_ps && gap->launch_ps < gap->end_ps;

    part.depth = 1;
    if (gap->host_event) {
        part.name = gap->host_event;
        part.end_ps = has_launch ? gap->launch_ps : gap->end_ps;
        (void)tm_derived_list(d);
        tm_derived_push(d, &part);
    }
    if (has_launch) {
        part.name = tm_names_put_string(d->names, tm_idle_title(gap->part_names[gap->launch]));
        part.start_ps = gap->launch_ps;
        part.end_ps = gap->end_ps;
        (void)tm_derived_list(d);
        tm_derived_push(d, &part);
    }
}

/* --- all devices together --- */

/* Add an amount that is spread evenly over a time. */
static void spread(const struct all_devices *all, int64_t *sums, int64_t start_ps, int64_t end_ps, int64_t amount_ps)
{
    const int64_t first_ps = start_ps > all->origin_ps ? start_ps : all->origin_ps;
    const int64_t last_ps = end_ps < all->end_ps ? end_ps : all->end_ps;
    const double rate = (double)amount_ps / (double)(end_ps - start_ps);

    for (int64_t at_ps = first_ps; at_ps < last_ps;) {
        const int64_t stretch = (at_ps - all->origin_ps) / all->length_ps;
        const int64_t border_ps = all->origin_ps + (stretch + 1) * all->length_ps;
        const int64_t to_ps = border_ps < last_ps ? border_ps : last_ps;

        sums[stretch] += (int64_t)(rate * (double)(to_ps - at_ps) + 0.5);
        at_ps = to_ps;
    }
}

void tm_idle_rows_add_busy(struct tm_derived *d, int64_t start_ps, int64_t end_ps, int64_t sum_ps)
{
    if (d->all && sum_ps && end_ps > start_ps)
        spread(d->all, d->all->busy_ps, start_ps, end_ps, sum_ps);
}

static void add_causes(struct all_devices *all, const struct tm_idle_gap *gap)
{
    all->causes = gap->part_count < TM_CAUSES_MOST ? gap->part_count : TM_CAUSES_MOST;
    all->cause_names = gap->part_names;
    for (uint32_t i = 0; i < all->causes; i++) {
        const bool is_launch = i == gap->launch && gap->launch_ps < gap->end_ps;
        const int64_t start_ps = is_launch ? gap->launch_ps : gap->start_ps;
        const int64_t end_ps = is_launch || gap->launch_ps <= gap->start_ps ? gap->end_ps : gap->launch_ps;

        if (gap->parts[i] > 0)
            spread(all, all->idle_ps[i], start_ps, end_ps, gap->parts[i]);
    }
}

/* A value for each stretch that differs from the one before, in tenths of a percent; 0 at the end. */
static void push_values(struct tm_derived *d, const int64_t *sums, const struct derived_row *like)
{
    const struct all_devices *const all = d->all;
    struct derived_row row = *like;
    double last = 0;

    for (int64_t i = 0; all->origin_ps + i * all->length_ps < all->end_ps && !tm_failed(d->run); i++) {
        const int64_t left_ps = all->end_ps - all->origin_ps - i * all->length_ps;
        const double time_ps = (double)(left_ps < all->length_ps ? left_ps : all->length_ps) * all->devices;
        const double value = nearbyint(1000.0 * (double)sums[i] / time_ps) / 10.0;

        if (i && value == last)
            continue;
        row.start_ps = row.end_ps = all->origin_ps + i * all->length_ps;
        row.value = last = value > 100 ? 100 : value;
        tm_sorter_push(d->sorter, &row);
    }
    row.start_ps = row.end_ps = all->end_ps;
    row.value = 0;
    if (last != 0)
        tm_sorter_push(d->sorter, &row);
}

static bool has_any(const struct all_devices *all, const int64_t *sums)
{
    for (int64_t i = 0; i < ALL_STRETCHES; i++)
        if (sums[i] * 2000 >= all->length_ps * all->devices) /* it shows */
            return true;
    return false;
}

static void push_all(struct tm_derived *d)
{
    const struct all_devices *const all = d->all;
    struct derived_row row = {
        .host = d->host.number, .device = TM_NONE, .name = d->keys[NAME_BUSY], .sort = TM_DERIVED_BUSY
    };

    push_values(d, all->busy_ps, &row);
    row.sort = TM_DERIVED_IDLE;
    for (uint32_t i = 0; i < all->causes && !tm_failed(d->run); i++) {
        char text[64];

        if (!has_any(all, all->idle_ps[i]))
            continue;
        (void)snprintf(text, sizeof(text), "idle: %s", tm_idle_title(all->cause_names[i]));
        row.name = tm_names_put_string(d->names, text);
        row.row = (uint16_t)i;
        push_values(d, all->idle_ps[i], &row);
    }
}

/* --- a host --- */

void tm_idle_rows_begin_host(struct tm_derived *d, const struct tm_trace *trace)
{
    struct all_devices all = { .origin_ps = INT64_MAX, .end_ps = INT64_MIN };

    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *const device = &trace->devices[i];

        if (!device->activities || device->last_ps <= device->first_ps)
            continue;
        all.devices++;
        all.origin_ps = device->first_ps < all.origin_ps ? device->first_ps : all.origin_ps;
        all.end_ps = device->last_ps > all.end_ps ? device->last_ps : all.end_ps;
    }
    if (!all.devices)
        return;
    d->all = tm_take(&d->run->budget, TM_ACCOUNT_MODEL, sizeof(*d->all), &d->run->error);
    if (!d->all)
        return;
    d->all->devices = all.devices;
    d->all->origin_ps = all.origin_ps;
    d->all->end_ps = all.end_ps;
    d->all->length_ps = tm_derived_stretch_length(all.end_ps - all.origin_ps, ALL_STRETCHES);
}

tm_status tm_idle_rows_take(void *to, const struct tm_idle_gap *gap)
{
    struct tm_derived *d = to;
    const struct derived_row span = { .start_ps = gap->start_ps,
                                      .end_ps = gap->end_ps,
                                      .host = gap->host,
                                      .device = gap->device,
                                      .of_step = gap->step == TM_NONE ? 0 : gap->step + 1,
                                      .sort = TM_DERIVED_GAP };

    push_gap(d, gap, &span);
    push_inside(d, gap, &span);
    if (d->all && gap->part_count)
        add_causes(d->all, gap);
    return d->run->error.status;
}

void tm_idle_rows_end_host(struct tm_derived *d)
{
    if (d->all)
        push_all(d);
    tm_idle_rows_free(d);
}

void tm_idle_rows_free(struct tm_derived *d)
{
    tm_give(&d->run->budget, TM_ACCOUNT_MODEL, d->all, d->all ? sizeof(*d->all) : 0);
    d->all = NULL;
}
