/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion, the stage: counts small kernels, follows each stream for runs of them and for unfused attention, and groups
 * ops by step.  Memory: results from a kernel's strings are cached in a table of fixed size, as are the ops of the
 * current steps; streams and groups spill. */
#include "stages/figures/fusion.h"

#include <string.h>

#include "pipeline/front.h"
#include "pipeline/stage.h"
#include "pipeline/store/hash.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/kernels.h"
#include "stages/resolve/classes.h"

/* One stream of the current host.  All zero: nothing has run. */
struct fusion_lane {
    /* small kernels in a row; kernels 0 = none */
    int64_t start_ps, end_ps, kernel_ps, gap_ps;
    uint64_t kernels;
    uint32_t device, step;
    /* eager pointwise kernels in a row; chain_kernels 0 = none */
    int64_t chain_ps, chain_longest_ps;
    uint32_t chain_kernels, chain_device, chain_step;
    /* kernels since a batched product */
    uint32_t between, product_step;
    tm_strid softmax_name, softmax_op; /* of the first one, as in struct fusion_site */
    int64_t between_ps;
    uint8_t has_product, has_softmax;
    /* the first different names of the run */
    uint8_t name_count;
    tm_strid names[FUSION_RUN_NAMES];
    uint64_t hashes[FUSION_RUN_NAMES];
};

static inline void fusion_add_many(struct fusion_sum *sum, uint64_t count, int64_t total_ps)
{
    sum->count = tm_sum_counts(sum->count, count);
    sum->total_ps = tm_sum_times(sum->total_ps, total_ps);
}

static inline void fusion_add(struct fusion_sum *sum, int64_t dur_ps)
{
    fusion_add_many(sum, 1, dur_ps);
}

/* The current host's lane of a track, valid until the next one is requested: most kernels are on the stream of the
 * previous one. */
static inline struct fusion_lane *lane_of(struct fusion *f, uint32_t track)
{
    if (f->near && f->near_track == track)
        return f->near;
    if (track >= tm_rows_count(f->lanes))
        tm_rows_resize(f->lanes, (uint64_t)track + 1);
    f->near = tm_rows_change(f->lanes, track);
    f->near_track = track;
    return f->near;
}

/* Kernels in a row on a stream: runs of small ones with hardly a pause between them, and the pattern of unfused
 * attention: a batched product, a softmax, a batched product. */

static int compare_times(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int fusion_longest_first(const void *a, const void *b)
{
    const struct fusion_run *x = a, *y = b;
    int order = compare_times(y->dur_ps, x->dur_ps);

    if (!order)
        order = compare_numbers(x->host, y->host);
    if (!order)
        order = compare_numbers(x->device_index, y->device_index);
    if (!order)
        order = compare_times(x->start_ps, y->start_ps);
    return order ? order : compare_numbers(x->track, y->track);
}

/* --- runs of small kernels --- */

static int64_t stake_of(const struct fusion_lane *lane)
{
    const int64_t dur_ps = lane->end_ps - lane->start_ps;
    const unsigned __int128 stake =
        (unsigned __int128)(lane->kernels - 1) * (uint64_t)FUSION_LAUNCH_PS + (uint64_t)lane->gap_ps;

    return stake < (uint64_t)dur_ps ? (int64_t)stake : dur_ps;
}

static void list_run(struct fusion *f, const struct fusion_lane *lane, uint32_t track)
{
    const struct tm_device *device = &f->trace->devices[lane->device];
    const struct tm_track *line;
    const struct tm_steps *steps = &f->trace->steps;
    struct fusion_run run;

    /* first what the order needs: few runs are kept */
    run.start_ps = lane->start_ps;
    run.dur_ps = lane->end_ps - lane->start_ps;
    run.host = f->trace->host;
    run.device_index = lane->device;
    run.track = track;
    if (!tm_top_rows_keep(f->longest, &run))
        return;
    line = tm_rows_at(f->trace->tracks, track);
    run = (struct fusion_run){ .start_ps = run.start_ps,
                               .dur_ps = run.dur_ps,
                               .kernel_ps = lane->kernel_ps,
                               .gap_ps = lane->gap_ps,
                               .stake_ps = stake_of(lane),
                               .kernels = lane->kernels,
                               .host = run.host,
                               .device_index = run.device_index,
                               .track = track,
                               .track_name = line->name,
                               .name_count = lane->name_count };
    memcpy(run.names, lane->names, sizeof(run.names));
    memcpy(run.device, device->id, sizeof(run.device));
    if (lane->step != TM_NONE && steps->source != TM_STEPS_SESSION && lane->step < tm_rows_count(steps->marks)) {
        const struct tm_step_mark *mark = tm_rows_at(steps->marks, lane->step);

        run.has_step = 1;
        run.step_number = mark->number;
    }
    tm_top_rows_add(f->longest, &run);
}

TM_NOT_INLINE void count_run(struct fusion *f, struct fusion_lane *lane, uint32_t track)
{
    f->runs.count = tm_sum_counts(f->runs.count, 1);
    f->runs.kernels = tm_sum_counts(f->runs.kernels, lane->kernels);
    f->runs.kernel_ps = tm_sum_times(f->runs.kernel_ps, lane->kernel_ps);
    f->runs.gap_ps = tm_sum_times(f->runs.gap_ps, lane->gap_ps);
    f->runs.stake_ps = tm_sum_times(f->runs.stake_ps, stake_of(lane));
    list_run(f, lane, track);
}

static inline void close_run(struct fusion *f, struct fusion_lane *lane, uint32_t track)
{
    if (lane->kernels >= 2)
        count_run(f, lane, track);
    lane->kernels = 0;
}

/* --- chains of eager pointwise kernels --- */

static inline void close_chain(struct fusion *f, struct fusion_lane *lane)
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

/* Another activity: the run of small kernels ends. */
static void fusion_end_run(struct fusion *f, uint32_t track)
{
    struct fusion_lane *const lane = lane_of(f, track);

    close_chain(f, lane);
    close_run(f, lane, track);
}

/* The first different names of a run; the same string may have two handles.  Which of them a name equals, or none,
 * cannot be predicted: it is compared with all, and stays behind them if it is new. */
static inline void note_name(struct fusion_lane *lane, const struct fusion_site *site)
{
    const uint8_t count = lane->name_count;
    bool is_new = true;

    if (count == FUSION_RUN_NAMES)
        return;
    for (uint8_t i = 0; i < FUSION_RUN_NAMES - 1; i++)
        is_new &= (i >= count) | (lane->hashes[i] != site->name_hash);
    lane->hashes[count] = site->name_hash;
    lane->names[count] = site->name;
    lane->name_count = (uint8_t)(count + is_new);
}

static void begin_run(struct fusion_lane *lane, const struct tm_event *event)
{
    lane->start_ps = lane->end_ps = event->record.start_ps;
    lane->kernel_ps = lane->gap_ps = 0;
    lane->device = event->device;
    lane->step = event->step;
    lane->name_count = 0;
}

static void take_small(struct fusion *f, struct fusion_lane *lane, const struct tm_event *event,
                       const struct fusion_site *site)
{
    const int64_t end_ps = event->record.start_ps + event->record.dur_ps;
    int64_t gap_ps = lane->kernels ? event->record.start_ps - lane->end_ps : 0;

    if (lane->kernels && (gap_ps >= FUSION_GAP_PS || lane->device != event->device)) {
        close_run(f, lane, event->record.track);
        gap_ps = 0;
    }
    if (!lane->kernels)
        begin_run(lane, event);
    if (gap_ps > 0)
        lane->gap_ps = tm_sum_times(lane->gap_ps, gap_ps);
    lane->kernels++;
    lane->kernel_ps = tm_sum_times(lane->kernel_ps, event->record.dur_ps);
    lane->end_ps = end_ps > lane->end_ps ? end_ps : lane->end_ps;
    note_name(lane, site);
}

/* --- attention --- */

static inline void count(struct fusion *f, struct fusion_site *site, uint32_t open, int64_t dur_ps);
static void fusion_merge_ops(void *into, const void *from);

/* A complete pattern counts for the softmax's op, or its name if that is not known. */
static void add_attention(struct fusion *f, const struct fusion_lane *lane)
{
    struct fusion_op row = { .kind = FUSION_ATTENTION_OP,
                             .count = 1,
                             .total_ps = lane->between_ps,
                             .name = lane->softmax_op ? 0 : lane->softmax_name,
                             .op = lane->softmax_op };

    tm_fusion_key(f, &row);
    fusion_add(&f->sums[FUSION_ATTENTION], lane->between_ps);
    tm_groups_add(f->ops, &row);
}

/* A batched product ends a pattern that holds a softmax, and may start the next one. */
static void take_product(struct fusion *f, struct fusion_lane *lane, const struct tm_event *event)
{
    if (lane->has_product && lane->has_softmax && lane->product_step == event->step)
        add_attention(f, lane);
    lane->has_product = 1;
    lane->product_step = event->step;
    lane->has_softmax = 0;
    lane->between = 0;
    lane->between_ps = 0;
}

static void follow_attention(struct fusion *f, struct fusion_lane *lane, const struct tm_event *event,
                             const struct fusion_site *site)
{
    if (site->role == FUSION_PRODUCT) {
        take_product(f, lane, event);
        return;
    }
    if (site->role == FUSION_APART || lane->between == FUSION_BETWEEN_MOST)
        lane->has_product = 0;
    if (!lane->has_product)
        return;
    lane->between++;
    lane->between_ps = tm_sum_times(lane->between_ps, event->record.dur_ps);
    if (site->role == FUSION_SOFTMAX && !lane->has_softmax) {
        lane->softmax_name = site->name;
        lane->softmax_op = site->op;
        lane->has_softmax = 1;
    }
}

/* Kernels in a row on a stream */
static void fusion_take_in_row(struct fusion *f, const struct tm_event *event, const struct fusion_site *site)
{
    const uint32_t track = event->record.track;
    struct fusion_lane *const lane = lane_of(f, track);

    follow_chain(f, lane, event, site->is_eager);
    if (event->record.dur_ps < FUSION_SMALL_PS)
        take_small(f, lane, event, site);
    else
        close_run(f, lane, track);
    follow_attention(f, lane, event, site);
}

/* Fusion in a partial: the sums, the rows of ops and the longest runs. */

#define OP(member, kind, merge) TM_FIELD(struct fusion_op, member, kind, merge)

static const struct tm_row_field op_fields[] = {
    OP(key, WORD, KEEP),
    OP(count, COUNT, SUM),
    OP(steps, COUNT, SUM),
    OP(total_ps, TIME, SUM),
    OP(name, NAME, KEEP),
    OP(op, NAME, KEEP),
    TM_FIELD_BELOW(struct fusion_op, kind, U8, KEEP, FUSION_KINDS),
    TM_FIELDS_END,
};

#define RUN(member, kind) TM_FIELD(struct fusion_run, member, kind, KEEP)

static const struct tm_row_field run_fields[] = {
    TM_FIELD_DEVICE_ID(struct fusion_run, device, host),
    TM_FIELD_BELOW(struct fusion_run, device_index, U32, KEEP, TM_DEVICES_MOST),
    RUN(track, U32),
    RUN(start_ps, INSTANT),
    RUN(dur_ps, TIME),
    RUN(kernel_ps, TIME),
    RUN(gap_ps, TIME),
    RUN(stake_ps, TIME),
    RUN(kernels, COUNT),
    RUN(has_step, BOOL),
    RUN(step_number, INSTANT),
    RUN(track_name, NAME),
    TM_FIELD_BELOW(struct fusion_run, name_count, U8, KEEP, FUSION_RUN_NAMES + 1),
    TM_FIELD_COUNTED(struct fusion_run, names, NAME, KEEP, name_count),
    TM_FIELDS_END,
};

static const struct tm_row_field sum_fields[] = {
    TM_FIELD(struct fusion_sum, count, COUNT, SUM),
    TM_FIELD(struct fusion_sum, total_ps, TIME, SUM),
    TM_FIELDS_END,
};

#define SUM(member, kind) TM_FIELD(struct fusion, member, kind, SUM)
#define ANY(member) TM_FIELD(struct fusion, member, BOOL, ANY)

static const struct tm_row_field stage_fields[] = {
    TM_FIELD_STRUCTS(struct fusion, sums, struct fusion_sum, sum_fields),
    SUM(runs.count, COUNT),
    SUM(runs.kernels, COUNT),
    SUM(runs.kernel_ps, TIME),
    SUM(runs.gap_ps, TIME),
    SUM(runs.stake_ps, TIME),
    SUM(step_devices, COUNT),
    ANY(has_gpu),
    ANY(has_other_device),
    ANY(has_steps),
    ANY(has_matrix_units),
    TM_FIELDS_END,
};

static void fusion_merge_ops(void *into, const void *from)
{
    tm_fields_merge(op_fields, into, from);
}

static tm_status fusion_save(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct fusion *f = s->state;

    tm_fields_save(w, stage_fields, f);
    tm_fields_save_top(w, run_fields, f->longest);
    return tm_fields_save_groups(w, op_fields, f->ops);
}

/* Nothing is divided by what a file says is 0. */
static tm_status complete_op(void *of, struct tm_partial_reader *r, void *row)
{
    const struct fusion_op *const op = row;
    const bool is_sound = op->count && (op->kind != FUSION_REPEATED_OP || op->steps);

    (void)of;
    return is_sound ? TM_OK : tm_partial_damaged(r, "a number is out of its range");
}

static tm_status fusion_load(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct fusion *f = s->state;

    f->names = tm_partial_names(r);
    tm_fields_load_more(r, stage_fields, f);
    tm_fields_load_top(r, run_fields, f->longest, FUSION_RUNS_LISTED);
    return tm_fields_load_groups(r, op_fields, f->ops, complete_op, NULL);
}

/* Small ops by step and device.  Only ops that repeat often in a step matter, so a step is evaluated as soon as its
 * last activity has come: the survey has counted them.  Until then its ops have cells in a table of fixed size; a cell
 * that another op or a later step needs is moved to groups, which spill, and its content is evaluated at the end of the
 * host.  The result does not depend on the path taken. */

enum {
    STEPS_AT_ONCE = 4, /* of a device */
    OPEN_STEPS_MOST = 1024,
    CELLS_TRIED = 8, /* of an op: those that share a word of tags */
};

/* Which ops occur too often in a step */
static void fusion_open_steps(struct fusion *f)
{
    struct fusion_steps *s = &f->steps;

    s->cell_count = tm_cache_rows(fusion_memory(f->run, FUSION_CELLS), sizeof(*s->cells));
    s->seed = tm_hash_seed(s);
    s->cells = tm_take(&f->run->budget, TM_ACCOUNT_TABLES, s->cell_count * sizeof(*s->cells), &f->run->error);
    s->tags = tm_take(&f->run->budget, TM_ACCOUNT_TABLES, s->cell_count, &f->run->error);
}

static void give_open(struct fusion *f)
{
    struct fusion_steps *s = &f->steps;

    tm_give(&f->run->budget, TM_ACCOUNT_TABLES, s->open, s->open_count * sizeof(*s->open));
    tm_groups_free(s->spilled);
    s->open = NULL;
    s->spilled = NULL;
    s->open_count = 0;
}

static void fusion_give_steps(struct fusion *f)
{
    give_open(f);
    tm_give(&f->run->budget, TM_ACCOUNT_TABLES, f->steps.cells, f->steps.cell_count * sizeof(*f->steps.cells));
    tm_give(&f->run->budget, TM_ACCOUNT_TABLES, f->steps.tags, f->steps.cell_count);
}

/* of a host */
static void fusion_begin_steps(struct fusion *f)
{
    struct fusion_steps *s = &f->steps;
    uint32_t count = STEPS_AT_ONCE;

    while (count < OPEN_STEPS_MOST && count < STEPS_AT_ONCE * f->trace->device_count)
        count *= 2;
    s->open = tm_take(&f->run->budget, TM_ACCOUNT_TABLES, count * sizeof(*s->open), &f->run->error);
    if (!s->open)
        return;
    s->open_count = count;
    s->near = s->open;
    for (uint32_t i = 0; i < count; i++)
        s->open[i] = (struct fusion_open_step){ .step = TM_NONE, .first = FUSION_NO_CELL, .number = (uint16_t)i };
    s->spilled = tm_groups_new(f->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_op),
                               fusion_memory(f->run, FUSION_STEP_OPS), fusion_merge_ops);
}

/* --- cells --- */

static struct fusion_op row_of(const struct fusion_cell *cell)
{
    return (struct fusion_op){ .kind = FUSION_REPEATED_OP,
                               .key = cell->op,
                               .count = cell->count,
                               .total_ps = cell->total_ps,
                               .name = cell->name,
                               .op = cell->op_name };
}

static inline uint64_t bit_of(const struct fusion_cell *cell)
{
    return UINT64_C(1) << cell->op.low % 64;
}

static inline void set_tag(struct fusion_steps *s, uint32_t cell, uint8_t tag)
{
    const uint32_t shift = cell % CELLS_TRIED * 8;
    uint64_t *const tags = &s->tags[cell / CELLS_TRIED];

    *tags = (*tags & ~(UINT64_C(0xff) << shift)) | (uint64_t)tag << shift;
}

static inline uint8_t tag_at(const struct fusion_steps *s, uint32_t cell)
{
    return (uint8_t)(s->tags[cell / CELLS_TRIED] >> cell % CELLS_TRIED * 8);
}

/* Move a cell to the groups, by op, step and device. */
static void spill_cell(struct fusion *f, uint32_t number)
{
    const struct fusion_cell *const cell = &f->steps.cells[number];
    struct fusion_open_step *open = &f->steps.open[cell->open];
    const struct {
        struct tm_key op;
        uint32_t step, device;
    } key = { cell->op, open->step, open->device };
    struct fusion_op row = row_of(cell);

    row.key = tm_hash_key(&key, sizeof(key));
    open->spilled |= bit_of(cell);
    set_tag(&f->steps, number, 0);
    tm_groups_add(f->steps.spilled, &row);
}

/* Add an op that occurred too often in a step of a device to the rows of the run. */
static inline void judge_cell(struct fusion *f, uint32_t number)
{
    const struct fusion_cell *const cell = &f->steps.cells[number];

    if (cell->count > FUSION_REPEATED_ABOVE) {
        struct fusion_op row = row_of(cell);

        row.steps = 1;
        tm_groups_add(f->ops, &row);
    }
    set_tag(&f->steps, number, 0);
}

static void link_cell(struct fusion_steps *s, struct fusion_open_step *open, uint16_t number)
{
    s->cells[number].before = FUSION_NO_CELL;
    s->cells[number].next = open->first;
    if (open->first != FUSION_NO_CELL)
        s->cells[open->first].before = number;
    open->first = number;
}

static void unlink_cell(struct fusion_steps *s, struct fusion_open_step *open, const struct fusion_cell *cell)
{
    if (cell->before != FUSION_NO_CELL)
        s->cells[cell->before].next = cell->next;
    else
        open->first = cell->next;
    if (cell->next != FUSION_NO_CELL)
        s->cells[cell->next].before = cell->before;
}

/* --- steps --- */

/* All of a step has come, or others need its place. */
static void close_step(struct fusion *f, struct fusion_open_step *open)
{
    const bool is_whole = open->seen == open->activities;

    for (uint32_t i = open->first; i != FUSION_NO_CELL; i = f->steps.cells[i].next) {
        if (is_whole && !(open->spilled & bit_of(&f->steps.cells[i])))
            judge_cell(f, i);
        else
            spill_cell(f, i);
    }
    open->step = TM_NONE;
    open->first = FUSION_NO_CELL;
}

static void open_step(struct fusion *f, struct fusion_open_step *open, uint32_t device, uint32_t step)
{
    const struct tm_steps *steps = &f->trace->steps;
    const uint64_t at = f->trace->devices[device].first_step_row + step;

    if (open->step != TM_NONE)
        close_step(f, open);
    *open = (struct fusion_open_step){
        .activities = UINT64_MAX, .device = device, .step = step, .first = FUSION_NO_CELL, .number = open->number
    };
    if (step < steps->count && at < tm_rows_count(steps->rows)) {
        const struct tm_step_row *row = tm_rows_at(steps->rows, at);

        open->activities = row->activities;
    }
}

/* The step of an event, which is open then: mostly that of the event before. */
static inline struct fusion_open_step *find_step(struct fusion *f, const struct tm_event *event)
{
    struct fusion_steps *const s = &f->steps;
    struct fusion_open_step *open = s->near;

    if (open->step == event->step && open->device == event->device)
        return open;
    open = &s->open[(event->device * STEPS_AT_ONCE + event->step % STEPS_AT_ONCE) & (s->open_count - 1)];
    if (!(open->step == event->step && open->device == event->device))
        open_step(f, open, event->device, event->step);
    s->near = open;
    return open;
}

/* --- counting --- */

/* in: cell  has a tag */
static inline bool is_of(const struct fusion_cell *cell, struct tm_key op, uint32_t open)
{
    return cell->open == open && tm_is_same_key(cell->op, op);
}

/* The highest bit of each byte that is 0, and perhaps of bytes after the first of these. */
static inline uint64_t zero_bytes(uint64_t word)
{
    return (word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080);
}

/* Most ops occur in a step for the first time: of eight cells their tags say so in a few instructions without a branch
 * that cannot be predicted, which took 3% of the time of a report of 5 million events.  Waiting for the cell itself,
 * which was used some steps ago, would take 2%.
 * out:    *cell  of an op in a step; else one that is free, else one that is in use, and false */
static inline bool find_cell(const struct fusion_steps *s, struct tm_key op, uint32_t open, uint8_t tag, uint32_t *cell)
{
    const uint64_t hash = tm_hash_mix(op.low + s->open[open].device, s->seed);
    const uint32_t word = (uint32_t)hash & (s->cell_count / CELLS_TRIED - 1), first = word * CELLS_TRIED;
    const uint64_t tags = s->tags[word], unused = zero_bytes(tags);

    for (uint64_t left = zero_bytes(tags ^ tag * UINT64_C(0x0101010101010101)); left; left &= left - 1) {
        *cell = first + (uint32_t)__builtin_ctzll(left) / 8;
        if (tag_at(s, *cell) == tag && is_of(&s->cells[*cell], op, open))
            return true;
    }
    *cell = first + (unused ? (uint32_t)__builtin_ctzll(unused) / 8 : (uint32_t)(hash >> 32) % CELLS_TRIED);
    return false;
}

/* The first kernel of an op in a step takes a cell. */
static inline void take_cell(struct fusion *f, const struct fusion_site *site, uint32_t open, uint8_t tag,
                             int64_t dur_ps)
{
    struct fusion_steps *const s = &f->steps;
    struct fusion_cell *const cell = &s->cells[site->cell];

    if (tag_at(s, site->cell)) {
        unlink_cell(s, &s->open[cell->open], cell);
        spill_cell(f, site->cell);
    }
    *cell = (struct fusion_cell){
        .op = site->key, .count = 1, .total_ps = dur_ps, .name = site->name, .op_name = site->op, .open = (uint16_t)open
    };
    set_tag(s, site->cell, tag);
    link_cell(s, &s->open[open], (uint16_t)site->cell);
}

static inline void count(struct fusion *f, struct fusion_site *site, uint32_t open, int64_t dur_ps)
{
    const uint8_t tag = (uint8_t)((uint8_t)(site->key.high + open * 2) | 1);
    const bool is_near = tag_at(&f->steps, site->cell) == tag && is_of(&f->steps.cells[site->cell], site->key, open);

    if (is_near || find_cell(&f->steps, site->key, open, tag, &site->cell)) {
        struct fusion_cell *const cell = &f->steps.cells[site->cell];

        cell->count = tm_sum_counts(cell->count, 1);
        cell->total_ps = tm_sum_times(cell->total_ps, dur_ps);
    } else {
        take_cell(f, site, open, tag, dur_ps);
    }
}

/* An activity of a step.
 * in:  site  of a small kernel; NULL for others */
static inline void fusion_take_in_step(struct fusion *f, const struct tm_event *event, struct fusion_site *site)
{
    struct fusion_open_step *const open = find_step(f, event);

    if (site)
        count(f, site, open->number, event->record.dur_ps);
    if (++open->seen >= open->activities)
        close_step(f, open);
}

/* --- the end of a host --- */

static void judge_spilled(struct fusion *f)
{
    const void *next;

    tm_groups_finish(f->steps.spilled);
    while ((next = tm_groups_next(f->steps.spilled))) {
        struct fusion_op row = *(const struct fusion_op *)next;

        if (row.count <= FUSION_REPEATED_ABOVE)
            continue;
        row.steps = 1;
        tm_fusion_key(f, &row);
        tm_groups_add(f->ops, &row);
    }
}

/* of a host */
static void fusion_end_steps(struct fusion *f)
{
    for (uint32_t i = 0; i < f->steps.open_count; i++)
        close_step(f, &f->steps.open[i]);
    judge_spilled(f);
    give_open(f);
}

/* --- opening --- */

static tm_status open_stage(struct tm_stage *s)
{
    struct fusion *f = s->state;

    f->run = s->run;
    f->settings = s->settings;
    f->ops = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_op), fusion_memory(s->run, FUSION_OPS),
                           fusion_merge_ops);
    f->longest = tm_top_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_run), FUSION_RUNS_LISTED,
                                 fusion_memory(s->run, FUSION_TOP_RUNS), fusion_longest_first);
    if (!f->ops || !f->longest)
        return s->run->error.status;
    tm_site_rows_init(&f->sites, s->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_site),
                      fusion_memory(s->run, FUSION_SITES));
    fusion_open_steps(f);
    return s->run->error.status;
}

static bool has_marked_steps(const struct tm_trace *trace)
{
    return trace->steps.source != TM_STEPS_SESSION;
}

static void count_devices(struct fusion *f, const struct tm_trace *trace)
{
    const uint64_t chosen = trace->steps.chosen_end - trace->steps.chosen_begin;
    uint64_t gpus = 0;

    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *device = &trace->devices[i];

        if (!device->activities)
            continue;
        gpus += device->kind == TM_DEVICE_GPU;
        f->has_other_device |= device->kind != TM_DEVICE_GPU;
        f->has_matrix_units |= device->kind == TM_DEVICE_GPU && tm_fusion_has_matrix_units(device);
    }
    f->has_gpu |= gpus != 0;
    if (has_marked_steps(trace) && gpus) {
        f->has_steps = true;
        f->step_devices = tm_sum_counts(f->step_devices, chosen * gpus);
    }
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct fusion *f = s->state;

    f->trace = trace;
    f->names = trace->names;
    count_devices(f, trace);
    f->lanes = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_lane), fusion_memory(s->run, FUSION_LANES));
    if (f->lanes)
        fusion_begin_steps(f);
    return s->run->error.status;
}

/* --- events --- */

/* In a sum of a batch: the count of its events fits.  What counts cannot be predicted, so nothing is added otherwise. */
static inline void add_to_batch(struct fusion_sum *sum, int64_t dur_ps, bool counts)
{
    sum->count += counts;
    sum->total_ps = tm_sum_times(sum->total_ps, dur_ps & -(int64_t)counts);
}

/* Sums of the kernels of a batch. */
struct kernel_sums {
    struct fusion_sum small, tiny, in_steps;
};

static inline void take_kernel(struct fusion *f, const struct tm_event *event, bool is_in_step,
                               struct kernel_sums *sums)
{
    const int64_t dur_ps = event->record.dur_ps;
    const bool is_small = dur_ps < FUSION_SMALL_PS;
    bool is_new;
    struct fusion_site *site = tm_site_rows_at(&f->sites, event->site, &is_new);

    if (!site)
        return;
    if (is_new)
        tm_fusion_learn_site(f, event, site);
    add_to_batch(&sums->small, dur_ps, is_small);
    add_to_batch(&sums->tiny, dur_ps, dur_ps < FUSION_TINY_PS);
    add_to_batch(&sums->in_steps, dur_ps, is_in_step);
    if (is_in_step)
        fusion_take_in_step(f, event, is_small ? site : NULL);
    fusion_take_in_row(f, event, site);
}

/* The row of a site is rarely in the cache: it is requested some events early. */
enum { SITES_AHEAD = 4 };

static inline void take_activity(struct fusion *f, const struct tm_event *event, bool has_steps,
                                 struct kernel_sums *sums)
{
    const bool is_in_step = has_steps && event->chosen && event->step != TM_NONE;

    if (event->chosen && event->record.class == TM_CLASS_KERNEL) {
        take_kernel(f, event, is_in_step, sums);
        return;
    }
    if (event->chosen && event->record.class == TM_CLASS_COLLECTIVE && event->record.dur_ps < FUSION_SMALL_PS)
        fusion_add(&f->sums[FUSION_SMALL_COLLECTIVES], event->record.dur_ps);
    if (is_in_step)
        fusion_take_in_step(f, event, NULL);
    fusion_end_run(f, event->record.track);
}

static bool wants(struct tm_stage *s, const struct tm_event *event)
{
    const struct tm_trace *const trace = ((const struct fusion *)s->state)->trace;

    return event->level != TM_LEVEL_NONE && event->device < trace->device_count &&
           trace->devices[event->device].kind == TM_DEVICE_GPU;
}

static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    struct fusion *const f = s->state;
    const bool has_steps = has_marked_steps(f->trace);
    struct kernel_sums sums = { .small = { 0, 0 } };

    for (size_t i = 0; i < count; i++) {
        if (i + SITES_AHEAD < count)
            __builtin_prefetch(tm_site_rows_place(&f->sites, events[i + SITES_AHEAD].site));
        if (tm_wants(s, &events[i]))
            take_activity(f, &events[i], has_steps, &sums);
    }
    fusion_add_many(&f->sums[FUSION_SMALL], sums.small.count, sums.small.total_ps);
    fusion_add_many(&f->sums[FUSION_TINY], sums.tiny.count, sums.tiny.total_ps);
    fusion_add_many(&f->sums[FUSION_IN_STEPS], sums.in_steps.count, sums.in_steps.total_ps);
}

/* Sums that do not depend on a length, and copies for a layout and matmuls without Tensor Cores as rows
 * of their kinds. */
static void take_site(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums)
{
    struct fusion *f = s->state;
    struct fusion_op row = { .count = sums->count, .total_ps = sums->total_ps };
    struct fusion_site site;

    if (!event->chosen || event->record.class != TM_CLASS_KERNEL || !wants(s, event))
        return;
    tm_fusion_learn_site(f, event, &site);
    fusion_add_many(&f->sums[FUSION_KERNELS], row.count, row.total_ps);
    if (site.has_op)
        fusion_add_many(&f->sums[FUSION_OF_OPS], row.count, row.total_ps);
    if (site.sort == FUSION_PLAIN)
        return;
    fusion_add_many(&f->sums[site.sort == FUSION_COPY ? FUSION_LAYOUT : FUSION_MATRIX], row.count, row.total_ps);
    if (site.sort == FUSION_UNIT)
        return;
    if (site.sort == FUSION_BESIDE)
        fusion_add_many(&f->sums[FUSION_F32], row.count, row.total_ps);
    row.kind = site.sort == FUSION_COPY ? FUSION_LAYOUT_OP : FUSION_F32_OP;
    row.name = site.name;
    row.op = site.op;
    tm_fusion_key(f, &row);
    tm_groups_add(f->ops, &row);
}

/* --- the end of a host --- */

static void give_host(struct fusion *f)
{
    tm_rows_free(f->lanes);
    f->lanes = NULL;
    f->near = NULL;
    f->trace = NULL;
}

static tm_status end_host(struct tm_stage *s)
{
    struct fusion *f = s->state;

    fusion_end_steps(f);
    for (uint64_t track = 0; track < tm_rows_count(f->lanes); track++)
        fusion_end_run(f, (uint32_t)track);
    give_host(f);
    return s->run->error.status;
}

static void close_stage(struct tm_stage *s)
{
    struct fusion *f = s->state;

    if (!f->run)
        return;
    give_host(f);
    fusion_give_steps(f);
    tm_site_rows_release(&f->sites);
    tm_groups_free(f->ops);
    tm_top_rows_free(f->longest);
}

static tm_status report(struct tm_stage *s, struct tm_value *summary)
{
    struct fusion *f = s->state;

    if (f->has_gpu)
        return tm_fusion_report(f, summary);
    tm_add_null(summary, "fusion",
                f->has_other_device ? "only GPUs launch single kernels; this device runs whole programs"
                                    : "no device activity was recorded");
    return s->run->error.status;
}

const struct tm_stage_type tm_fusion_stage = {
    .name = "fusion",
    .summary = "small kernels, and what could be one kernel",
    .state_bytes = sizeof(struct fusion),
    .classes = TM_CLASSES_ACTIVITY,
    .open = open_stage,
    .begin_host = begin_host,
    .wants = wants,
    .take = take,
    .take_site = take_site,
    .end_host = end_host,
    .report = report,
    .save = fusion_save,
    .load = fusion_load,
    .close = close_stage,
};
