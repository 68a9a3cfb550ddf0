/* SPDX-License-Identifier: Apache-2.0 */
/* Small ops by step and device.  Only ops that come often in a step are wanted, so a step is judged as soon as its
 * last activity has come: the survey has counted them.  Until then its ops have cells in a table of fixed size; a cell
 * that another op or a later step needs goes to groups, which spill, and what is there is judged at the end of the
 * host.  The result does not depend on what goes which way. */
#include "pipeline/hash.h"
#include "stages/diagnose/kernels/fusion_private.h"

enum {
    STEPS_AT_ONCE = 4,    /* of a device */
    OPEN_STEPS_MOST = 1024,
    CELLS_TRIED = 8,      /* of an op */
};

tm_status fusion_open_steps(struct fusion *f)
{
    struct fusion_steps *s = &f->steps;

    s->cell_count = tm_cache_rows(fusion_memory(f->run, FUSION_CELLS), sizeof(*s->cells));
    s->seed = tm_hash_seed(s);
    s->cells = tm_take(&f->run->budget, TM_ACCOUNT_TABLES, s->cell_count * sizeof(*s->cells), &f->run->error);
    return s->cells ? TM_OK : f->run->error.status;
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

void fusion_give_steps(struct fusion *f)
{
    give_open(f);
    tm_give(&f->run->budget, TM_ACCOUNT_TABLES, f->steps.cells, f->steps.cell_count * sizeof(*f->steps.cells));
}

tm_status fusion_begin_steps(struct fusion *f)
{
    struct fusion_steps *s = &f->steps;
    uint32_t count = STEPS_AT_ONCE;

    while (count < OPEN_STEPS_MOST && count < STEPS_AT_ONCE * f->trace->device_count)
        count *= 2;
    s->open = tm_take(&f->run->budget, TM_ACCOUNT_TABLES, count * sizeof(*s->open), &f->run->error);
    if (!s->open)
        return f->run->error.status;
    s->open_count = count;
    for (uint32_t i = 0; i < count; i++)
        s->open[i] = (struct fusion_open_step){ .step = TM_NONE, .first = FUSION_NO_CELL };
    s->spilled = tm_groups_new(f->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_op),
                               fusion_memory(f->run, FUSION_STEP_OPS), fusion_merge_ops);
    return s->spilled ? TM_OK : f->run->error.status;
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

/* To the groups, by op, step and device. */
static tm_status spill_cell(struct fusion *f, struct fusion_cell *cell)
{
    struct fusion_open_step *open = &f->steps.open[cell->open];
    const struct {
        struct tm_key op;
        uint32_t step, device;
    } key = { cell->op, open->step, open->device };
    struct fusion_op row = row_of(cell);

    row.key = tm_hash_key(&key, sizeof(key));
    open->spilled |= bit_of(cell);
    cell->count = 0;
    return tm_groups_add(f->steps.spilled, &row);
}

/* What came too often in a step of a device goes to the rows of the run. */
static tm_status judge_cell(struct fusion *f, struct fusion_cell *cell)
{
    struct fusion_op row = row_of(cell);

    cell->count = 0;
    row.steps = 1;
    return row.count > FUSION_REPEATED_ABOVE ? tm_groups_add(f->ops, &row) : TM_OK;
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
static tm_status close_step(struct fusion *f, struct fusion_open_step *open)
{
    const bool is_whole = open->seen == open->activities;
    tm_status st = TM_OK;

    for (uint32_t i = open->first; i != FUSION_NO_CELL && st == TM_OK; i = f->steps.cells[i].next) {
        struct fusion_cell *cell = &f->steps.cells[i];

        st = is_whole && !(open->spilled & bit_of(cell)) ? judge_cell(f, cell) : spill_cell(f, cell);
    }
    open->step = TM_NONE;
    open->first = FUSION_NO_CELL;
    return st;
}

static tm_status open_step(struct fusion *f, struct fusion_open_step *open, uint32_t device, uint32_t step)
{
    const struct tm_steps *steps = &f->trace->steps;
    const uint64_t at = f->trace->devices[device].first_step_row + step;
    tm_status st = open->step == TM_NONE ? TM_OK : close_step(f, open);

    *open = (struct fusion_open_step){ .activities = UINT64_MAX, .device = device, .step = step, .first = FUSION_NO_CELL };
    if (st == TM_OK && step < steps->count && at < tm_rows_count(steps->rows)) {
        const struct tm_step_row *row = tm_rows_at(steps->rows, at);

        if (!row)
            return f->run->error.status;
        open->activities = row->activities;
    }
    return st;
}

/* The number of an event's step, which is open then. */
static inline tm_status find_step(struct fusion *f, const struct tm_event *event, uint32_t *number)
{
    const struct fusion_steps *s = &f->steps;
    struct fusion_open_step *open;

    *number = (event->device * STEPS_AT_ONCE + event->step % STEPS_AT_ONCE) & (s->open_count - 1);
    open = &s->open[*number];
    return open->step == event->step && open->device == event->device
               ? TM_OK
               : open_step(f, open, event->device, event->step);
}

/* --- counting --- */

static inline bool is_of(const struct fusion_cell *cell, struct tm_key op, uint32_t open)
{
    return cell->count && cell->open == open && tm_is_same_key(cell->op, op);
}

/* The cell of an op in a step, else one that is free, else one that is in use.  A step after the other finds the same
 * cells: they stay near. */
static uint32_t find_cell(const struct fusion_steps *s, struct tm_key op, uint32_t open)
{
    const uint32_t mask = s->cell_count - 1;
    const uint32_t first = (uint32_t)tm_hash_mix(op.low + s->open[open].device, s->seed) & mask;
    uint32_t found = first;

    for (uint32_t i = 0; i < CELLS_TRIED; i++) {
        const uint32_t at = (first + i) & mask;

        if (is_of(&s->cells[at], op, open))
            return at;
        if (!s->cells[at].count && s->cells[found].count)
            found = at;
    }
    return found;
}

/* The first kernel of a site in a step finds the cell of its op. */
static tm_status move_site(struct fusion *f, struct fusion_site *site, uint32_t open)
{
    struct fusion_steps *s = &f->steps;
    const uint32_t number = find_cell(s, site->key, open);
    struct fusion_cell *cell = &s->cells[number];
    tm_status st = TM_OK;

    site->cell = number;
    if (is_of(cell, site->key, open))
        return TM_OK;
    if (cell->count) {
        unlink_cell(s, &s->open[cell->open], cell);
        st = spill_cell(f, cell);
    }
    *cell = (struct fusion_cell){ .op = site->key, .name = site->name, .op_name = site->op, .open = (uint16_t)open };
    link_cell(s, &s->open[open], (uint16_t)number);
    return st;
}

static inline tm_status count(struct fusion *f, struct fusion_site *site, uint32_t open, int64_t dur_ps)
{
    struct fusion_cell *cell = &f->steps.cells[site->cell];
    tm_status st = TM_OK;

    if (!is_of(cell, site->key, open)) {
        st = move_site(f, site, open);
        cell = &f->steps.cells[site->cell];
    }
    cell->count = tm_sum_counts(cell->count, 1);
    cell->total_ps = tm_sum_times(cell->total_ps, dur_ps);
    return st;
}

tm_status fusion_take_in_step(struct fusion *f, const struct tm_event *event, struct fusion_site *site)
{
    struct fusion_open_step *open;
    uint32_t number;
    tm_status st = find_step(f, event, &number);

    if (st == TM_OK && site)
        st = count(f, site, number, event->record.dur_ps);
    open = &f->steps.open[number];
    if (st != TM_OK || ++open->seen < open->activities)
        return st;
    return close_step(f, open);
}

/* --- the end of a host --- */

static tm_status judge_spilled(struct fusion *f)
{
    const void *next = NULL;
    tm_status st = tm_groups_finish(f->steps.spilled);

    while (st == TM_OK && (st = tm_groups_next(f->steps.spilled, &next)) == TM_OK && next) {
        struct fusion_op row = *(const struct fusion_op *)next;

        if (row.count <= FUSION_REPEATED_ABOVE)
            continue;
        row.steps = 1;
        st = fusion_key(f, &row);
        if (st == TM_OK)
            st = tm_groups_add(f->ops, &row);
    }
    return st;
}

tm_status fusion_end_steps(struct fusion *f)
{
    tm_status st = TM_OK;

    for (uint32_t i = 0; i < f->steps.open_count && st == TM_OK; i++)
        st = close_step(f, &f->steps.open[i]);
    if (st == TM_OK)
        st = judge_spilled(f);
    give_open(f);
    return st;
}
