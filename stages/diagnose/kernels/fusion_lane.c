/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels in a row on a stream: runs of small ones with hardly a pause between them, and the pattern of an attention
 * in pieces: a batched product, a softmax, a batched product. */
#include <string.h>

#include "stages/diagnose/kernels/fusion_private.h"

static int compare_times(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int fusion_longest_first(const void *a, const void *b)
{
    const struct fusion_run *x = a, *y = b;
    int order = compare_times(y->dur_ps, x->dur_ps);

    if (!order)
        order = compare_numbers(x->host, y->host);
    if (!order)
        order = compare_numbers(x->device_index, y->device_index);
    if (!order)
        order = compare_times(x->begin_ps, y->begin_ps);
    return order ? order : compare_numbers(x->track, y->track);
}

/* --- runs of small kernels --- */

static int64_t stake_of(const struct fusion_lane *lane)
{
    const int64_t dur_ps = lane->end_ps - lane->begin_ps;
    const unsigned __int128 stake =
        (unsigned __int128)(lane->kernels - 1) * (uint64_t)FUSION_LAUNCH_PS + (uint64_t)lane->gap_ps;

    return stake < (uint64_t)dur_ps ? (int64_t)stake : dur_ps;
}

static tm_status list_run(struct fusion *f, const struct fusion_lane *lane, uint32_t track)
{
    const struct tm_device *device = &f->trace->devices[lane->device];
    const struct tm_track *line;
    const struct tm_steps *steps = &f->trace->steps;
    struct fusion_run run = { .begin_ps = lane->begin_ps,
                              .dur_ps = lane->end_ps - lane->begin_ps,
                              .kernel_ps = lane->kernel_ps,
                              .gap_ps = lane->gap_ps,
                              .stake_ps = stake_of(lane),
                              .kernels = lane->kernels,
                              .host = f->trace->host,
                              .device_index = lane->device,
                              .track = track,
                              .name_count = lane->name_count };

    if (!tm_top_rows_keep(f->longest, &run))
        return TM_OK;
    line = tm_rows_at(f->trace->tracks, track);
    if (!line)
        return f->run->error.status;
    run.track_name = line->name;
    memcpy(run.names, lane->names, sizeof(run.names));
    memcpy(run.device, device->id, sizeof(run.device));
    if (lane->step != TM_NONE && steps->source != TM_STEPS_SESSION && lane->step < tm_rows_count(steps->marks)) {
        const struct tm_step_mark *mark = tm_rows_at(steps->marks, lane->step);

        if (!mark)
            return f->run->error.status;
        run.has_step = 1;
        run.step_number = mark->number;
    }
    return tm_top_rows_add(f->longest, &run);
}

static tm_status close_run(struct fusion *f, struct fusion_lane *lane, uint32_t track)
{
    tm_status st = TM_OK;

    if (lane->kernels >= 2) {
        f->runs.count = tm_sum_counts(f->runs.count, 1);
        f->runs.kernels = tm_sum_counts(f->runs.kernels, lane->kernels);
        f->runs.kernel_ps = tm_sum_times(f->runs.kernel_ps, lane->kernel_ps);
        f->runs.gap_ps = tm_sum_times(f->runs.gap_ps, lane->gap_ps);
        f->runs.stake_ps = tm_sum_times(f->runs.stake_ps, stake_of(lane));
        st = list_run(f, lane, track);
    }
    lane->kernels = 0;
    return st;
}

/* --- chains of eager pointwise kernels --- */

static void close_chain(struct fusion *f, struct fusion_lane *lane)
{
    if (lane->chain_kernels >= 2) {
        f->sums[FUSION_CHAINED].count = tm_sum_counts(f->sums[FUSION_CHAINED].count, lane->chain_kernels);
        f->sums[FUSION_CHAINED].total_ps = tm_sum_times(f->sums[FUSION_CHAINED].total_ps, lane->chain_ps);
        fusion_add(&f->sums[FUSION_SAVED], lane->chain_ps - lane->chain_longest_ps);
    }
    lane->chain_kernels = 0;
    lane->chain_ps = lane->chain_longest_ps = 0;
}

static void follow_chain(struct fusion *f, struct fusion_lane *lane, const struct tm_event *event, bool is_eager)
{
    const int64_t dur_ps = event->record.dur_ps;

    if (!is_eager || lane->chain_kernels == FUSION_CHAIN_MOST || lane->chain_device != event->device ||
        lane->chain_step != event->step)
        close_chain(f, lane);
    if (!is_eager)
        return;
    lane->chain_device = event->device;
    lane->chain_step = event->step;
    lane->chain_kernels++;
    lane->chain_ps = tm_sum_times(lane->chain_ps, dur_ps);
    lane->chain_longest_ps = dur_ps > lane->chain_longest_ps ? dur_ps : lane->chain_longest_ps;
}

tm_status fusion_end_run(struct fusion *f, uint32_t track)
{
    struct fusion_lane *lane;

    if (track >= tm_rows_count(f->lanes))
        return TM_OK;
    lane = tm_rows_change(f->lanes, track);
    if (!lane)
        return f->run->error.status;
    close_chain(f, lane);
    return close_run(f, lane, track);
}

/* The first different names of a run; the same text may have two handles. */
static void note_name(struct fusion_lane *lane, const struct fusion_site *site)
{
    if (lane->name_count == FUSION_RUN_NAMES)
        return;
    for (int i = 0; i < lane->name_count; i++)
        if (lane->hashes[i] == site->name_hash)
            return;
    lane->hashes[lane->name_count] = site->name_hash;
    lane->names[lane->name_count++] = site->name;
}

static void begin_run(struct fusion_lane *lane, const struct tm_event *event)
{
    lane->begin_ps = lane->end_ps = event->record.start_ps;
    lane->kernel_ps = lane->gap_ps = 0;
    lane->device = event->device;
    lane->step = event->step;
    lane->name_count = 0;
}

static tm_status take_small(struct fusion *f, struct fusion_lane *lane, const struct tm_event *event,
                            const struct fusion_site *site)
{
    const int64_t end_ps = event->record.start_ps + event->record.dur_ps;
    int64_t gap_ps = lane->kernels ? event->record.start_ps - lane->end_ps : 0;
    tm_status st = TM_OK;

    if (lane->kernels && (gap_ps >= FUSION_GAP_PS || lane->device != event->device)) {
        st = close_run(f, lane, event->record.track);
        gap_ps = 0;
    }
    if (st != TM_OK)
        return st;
    if (!lane->kernels)
        begin_run(lane, event);
    if (gap_ps > 0)
        lane->gap_ps = tm_sum_times(lane->gap_ps, gap_ps);
    lane->kernels++;
    lane->kernel_ps = tm_sum_times(lane->kernel_ps, event->record.dur_ps);
    lane->end_ps = end_ps > lane->end_ps ? end_ps : lane->end_ps;
    note_name(lane, site);
    return TM_OK;
}

/* --- attention --- */

/* A pattern that is whole counts for the softmax's op, or its name where that is not known. */
static tm_status add_attention(struct fusion *f, const struct fusion_lane *lane)
{
    struct fusion_op row = { .kind = FUSION_ATTENTION_OP,
                             .count = 1,
                             .total_ps = lane->between_ps,
                             .name = lane->softmax_op ? 0 : lane->softmax_name,
                             .op = lane->softmax_op };
    const tm_status st = fusion_key(f, &row);

    fusion_add(&f->sums[FUSION_ATTENTION], lane->between_ps);
    return st == TM_OK ? tm_groups_add(f->ops, &row) : st;
}

/* A batched product ends a pattern that holds a softmax, and may begin the next one. */
static tm_status take_product(struct fusion *f, struct fusion_lane *lane, const struct tm_event *event)
{
    tm_status st = TM_OK;

    if (lane->has_product && lane->has_softmax && lane->product_step == event->step)
        st = add_attention(f, lane);
    lane->has_product = 1;
    lane->product_step = event->step;
    lane->has_softmax = 0;
    lane->between = 0;
    lane->between_ps = 0;
    return st;
}

static tm_status follow_attention(struct fusion *f, struct fusion_lane *lane, const struct tm_event *event,
                                  const struct fusion_site *site)
{
    if (site->role == FUSION_PRODUCT)
        return take_product(f, lane, event);
    if (site->role == FUSION_APART || lane->between == FUSION_BETWEEN_MOST)
        lane->has_product = 0;
    if (!lane->has_product)
        return TM_OK;
    lane->between++;
    lane->between_ps = tm_sum_times(lane->between_ps, event->record.dur_ps);
    if (site->role == FUSION_SOFTMAX && !lane->has_softmax) {
        lane->softmax_name = site->name;
        lane->softmax_op = site->op;
        lane->has_softmax = 1;
    }
    return TM_OK;
}

tm_status fusion_take_in_row(struct fusion *f, const struct tm_event *event, const struct fusion_site *site)
{
    const uint32_t track = event->record.track;
    struct fusion_lane *lane;
    tm_status st = TM_OK;

    if (track >= tm_rows_count(f->lanes))
        st = tm_rows_resize(f->lanes, (uint64_t)track + 1);
    if (st != TM_OK)
        return st;
    lane = tm_rows_change(f->lanes, track);
    if (!lane)
        return f->run->error.status;
    follow_chain(f, lane, event, site->is_eager);
    if (event->record.dur_ps < FUSION_SMALL_PS)
        st = take_small(f, lane, event, site);
    else
        st = close_run(f, lane, track);
    return st == TM_OK ? follow_attention(f, lane, event, site) : st;
}
