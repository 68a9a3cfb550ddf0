/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the section fusion from the sums, the groups and the longest runs. */
#include "stages/figures/figure_rows.h"
#include "stages/figures/fusion.h"

enum { REPEATED_ROWS = 50, ATTENTION_ROWS = 20, LAYOUT_ROWS = 20, F32_ROWS = 20, NAME_MOST = 512 };

static const char no_kernels[] = "no kernels were recorded in the analyzed steps";
static const char no_steps[] = "no steps are marked in this profile";
static const char no_units[] = "no device is known to have Tensor Cores";
static const char no_ops[] = "the profile does not record which framework op a kernel belongs to";

static int longest_first(const void *a, const void *b)
{
    const struct fusion_op *x = a, *y = b;

    if (x->total_ps != y->total_ps)
        return x->total_ps > y->total_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static double share_of(const struct fusion *f, int64_t part_ps)
{
    return 100.0 * (double)part_ps / (double)f->sums[FUSION_KERNELS].total_ps;
}

static void add_sum(struct tm_value *to, const struct fusion_sum *sum)
{
    tm_add_uint(to, "count", sum->count);
    tm_add_int(to, "total_ps", sum->total_ps);
}

static void add_share(const struct fusion *f, struct tm_value *to, int64_t part_ps)
{
    if (f->sums[FUSION_KERNELS].total_ps)
        tm_add_double(to, "share_pct", share_of(f, part_ps));
    else
        tm_add_null(to, "share_pct", no_kernels);
}

static void add_name(struct fusion *f, struct tm_value *to, const char *key, tm_strid name, const char *why)
{
    tm_add_name_cut(to, key, f->names, name, NAME_MOST, why);
}

static void add_counts(const struct fusion *f, struct tm_value *section)
{
    struct tm_value *small, *tiny;

    add_sum(tm_add_object(section, "kernels"), &f->sums[FUSION_KERNELS]);
    if (f->step_devices)
        tm_add_double(section, "per_step", (double)f->sums[FUSION_IN_STEPS].count / (double)f->step_devices);
    else
        tm_add_null(section, "per_step", no_steps);
    small = tm_add_object(section, "small");
    tm_add_int(small, "below_ps", FUSION_SMALL_PS);
    add_sum(small, &f->sums[FUSION_SMALL]);
    add_share(f, small, f->sums[FUSION_SMALL].total_ps);
    add_sum(tm_add_object(small, "collectives"), &f->sums[FUSION_SMALL_COLLECTIVES]);
    tiny = tm_add_object(section, "tiny");
    tm_add_int(tiny, "below_ps", FUSION_TINY_PS);
    add_sum(tiny, &f->sums[FUSION_TINY]);
    add_share(f, tiny, f->sums[FUSION_TINY].total_ps);
}

/* --- runs --- */

static void add_run(struct fusion *f, const struct fusion_run *run, struct tm_value *list)
{
    struct tm_value *to = tm_add_object(list, NULL), *names;

    tm_add_string(to, "device", run->device);
    add_name(f, to, "track", run->track_name, "the stream is unnamed");
    tm_add_int(to, "begin_ps", run->start_ps);
    tm_add_int(to, "dur_ps", run->dur_ps);
    tm_add_uint(to, "kernels", run->kernels);
    tm_add_int(to, "kernel_ps", run->kernel_ps);
    tm_add_int(to, "gap_ps", run->gap_ps);
    tm_add_int(to, "at_stake_ps", run->stake_ps);
    if (run->has_step)
        tm_add_int(to, "step", run->step_number);
    else
        tm_add_null(to, "step", "outside the steps");
    names = tm_add_array(to, "names");
    for (int i = 0; i < run->name_count; i++)
        add_name(f, names, NULL, run->names[i], "unnamed");
}

static void add_runs(struct fusion *f, struct tm_value *section)
{
    struct tm_value *runs = tm_add_object(section, "runs"), *list;

    tm_add_int(runs, "gap_below_ps", FUSION_GAP_PS);
    tm_add_int(runs, "launch_ps", FUSION_LAUNCH_PS);
    tm_add_uint(runs, "count", f->runs.count);
    tm_add_uint(runs, "kernels", f->runs.kernels);
    tm_add_int(runs, "kernel_ps", f->runs.kernel_ps);
    tm_add_int(runs, "gap_ps", f->runs.gap_ps);
    tm_add_int(runs, "at_stake_ps", f->runs.stake_ps);
    list = tm_add_array(runs, "longest");
    tm_top_rows_sort(f->longest);
    for (uint64_t i = 0; i < tm_top_rows_count(f->longest); i++)
        add_run(f, tm_top_rows_at(f->longest, i), list);
}

/* --- tables of ops --- */

/* The listed rows of each kind, and how many there were. */
struct tables {
    struct tm_top_rows *top[FUSION_KINDS];
    uint64_t distinct[FUSION_KINDS];
    struct fusion_sum repeated; /* all of them, listed or not */
};

static void choose_rows(struct fusion *f, struct tables *t)
{
    static const uint64_t most[FUSION_KINDS] = { REPEATED_ROWS, ATTENTION_ROWS, LAYOUT_ROWS, F32_ROWS };
    const struct fusion_op *row;

    for (int kind = 0; kind < FUSION_KINDS; kind++) {
        t->top[kind] = tm_top_rows_new(f->run, TM_ACCOUNT_TABLES, sizeof(struct fusion_op), most[kind],
                                       fusion_memory(f->run, FUSION_TOP) / FUSION_KINDS, longest_first);
        if (!t->top[kind])
            return;
    }
    tm_groups_finish(f->ops);
    while ((row = tm_groups_next(f->ops))) {
        t->distinct[row->kind]++;
        if (row->kind == FUSION_REPEATED_OP) {
            t->repeated.count = tm_sum_counts(t->repeated.count, row->count);
            t->repeated.total_ps = tm_sum_times(t->repeated.total_ps, row->total_ps);
        }
        tm_top_rows_add(t->top[row->kind], row);
    }
    for (int kind = 0; kind < FUSION_KINDS; kind++)
        tm_top_rows_sort(t->top[kind]);
}

static void add_repeated(struct fusion *f, struct tables *t, struct tm_value *section)
{
    struct tm_value *list;

    if (!f->has_steps) {
        tm_add_null(section, "repeated", no_steps);
        return;
    }
    list = tm_add_array(section, "repeated");
    for (uint64_t i = 0; i < tm_top_rows_count(t->top[FUSION_REPEATED_OP]); i++) {
        const struct fusion_op *row = tm_top_rows_at(t->top[FUSION_REPEATED_OP], i);
        struct tm_value *to = tm_add_object(list, NULL);

        add_name(f, to, "name", row->name, "unnamed");
        add_name(f, to, "op", row->op, no_ops);
        tm_add_double(to, "per_step", (double)row->count / (double)row->steps);
        tm_add_uint(to, "steps", row->steps);
        tm_add_uint(to, "count", row->count);
        tm_add_int(to, "total_ps", row->total_ps);
        tm_add_int(to, "mean_ps", (int64_t)(((uint64_t)row->total_ps + row->count / 2) / row->count));
    }
}

static void add_rest(struct tables *t, enum fusion_kind kind, const struct fusion_sum *all, struct tm_value *to)
{
    struct tm_value *rest = tm_add_object(to, "rest");
    struct fusion_sum listed = { 0, 0 };

    for (uint64_t i = 0; i < tm_top_rows_count(t->top[kind]); i++) {
        const struct fusion_op *row = tm_top_rows_at(t->top[kind], i);

        listed.count = tm_sum_counts(listed.count, row->count);
        listed.total_ps = tm_sum_times(listed.total_ps, row->total_ps);
    }
    tm_add_uint(rest, "rows", t->distinct[kind] - tm_top_rows_count(t->top[kind]));
    tm_add_uint(rest, "count", all->count > listed.count ? all->count - listed.count : 0);
    tm_add_int(rest, "total_ps", all->total_ps > listed.total_ps ? all->total_ps - listed.total_ps : 0);
}

static void add_attention(struct fusion *f, struct tables *t, struct tm_value *section)
{
    struct tm_value *to = tm_add_object(section, "attention_unfused"), *list;

    add_sum(to, &f->sums[FUSION_ATTENTION]);
    list = tm_add_array(to, "rows");
    for (uint64_t i = 0; i < tm_top_rows_count(t->top[FUSION_ATTENTION_OP]); i++) {
        const struct fusion_op *row = tm_top_rows_at(t->top[FUSION_ATTENTION_OP], i);
        struct tm_value *of = tm_add_object(list, NULL);

        add_name(f, of, "op", row->op ? row->op : row->name, no_ops);
        tm_add_uint(of, "count", row->count);
        tm_add_int(of, "total_ps", row->total_ps);
    }
    add_rest(t, FUSION_ATTENTION_OP, &f->sums[FUSION_ATTENTION], to);
}

static void add_layout(struct fusion *f, struct tables *t, struct tm_value *section)
{
    struct tm_value *to, *list;

    if (!f->sums[FUSION_OF_OPS].count) {
        tm_add_null(section, "layout_copies", f->sums[FUSION_KERNELS].count ? no_ops : no_kernels);
        return;
    }
    to = tm_add_object(section, "layout_copies");
    add_sum(to, &f->sums[FUSION_LAYOUT]);
    add_share(f, to, f->sums[FUSION_LAYOUT].total_ps);
    list = tm_add_array(to, "rows");
    for (uint64_t i = 0; i < tm_top_rows_count(t->top[FUSION_LAYOUT_OP]); i++) {
        const struct fusion_op *row = tm_top_rows_at(t->top[FUSION_LAYOUT_OP], i);
        struct tm_value *of = tm_add_object(list, NULL);

        add_name(f, of, "name", row->name, "unnamed");
        tm_add_uint(of, "count", row->count);
        tm_add_int(of, "total_ps", row->total_ps);
    }
    add_rest(t, FUSION_LAYOUT_OP, &f->sums[FUSION_LAYOUT], to);
}

static void add_matrix(struct fusion *f, struct tables *t, struct tm_value *section)
{
    struct tm_value *to, *f32, *list;

    if (!f->has_matrix_units) {
        tm_add_null(section, "matrix", no_units);
        return;
    }
    to = tm_add_object(section, "matrix");
    add_sum(to, &f->sums[FUSION_MATRIX]);
    add_share(f, to, f->sums[FUSION_MATRIX].total_ps);
    f32 = tm_add_object(to, "f32");
    add_sum(f32, &f->sums[FUSION_F32]);
    list = tm_add_array(f32, "rows");
    for (uint64_t i = 0; i < tm_top_rows_count(t->top[FUSION_F32_OP]); i++) {
        const struct fusion_op *row = tm_top_rows_at(t->top[FUSION_F32_OP], i);
        struct tm_value *of = tm_add_object(list, NULL);

        add_name(f, of, "name", row->name, "unnamed");
        add_name(f, of, "op", row->op, no_ops);
        tm_add_uint(of, "count", row->count);
        tm_add_int(of, "total_ps", row->total_ps);
    }
    add_rest(t, FUSION_F32_OP, &f->sums[FUSION_F32], f32);
}

static void add_chains(const struct fusion *f, struct tm_value *section)
{
    struct tm_value *to = tm_add_object(section, "eager_chains");

    tm_add_uint(to, "count", f->sums[FUSION_SAVED].count);
    tm_add_uint(to, "kernels", f->sums[FUSION_CHAINED].count);
    tm_add_int(to, "total_ps", f->sums[FUSION_CHAINED].total_ps);
    tm_add_int(to, "saved_ps", f->sums[FUSION_SAVED].total_ps);
    add_share(f, to, f->sums[FUSION_CHAINED].total_ps);
}

tm_status tm_fusion_report(struct fusion *f, struct tm_value *summary)
{
    struct tables t = { .repeated = { 0, 0 } };
    struct tm_value *section = tm_add_object(summary, "fusion");

    add_counts(f, section);
    add_runs(f, section);
    add_chains(f, section);
    choose_rows(f, &t);
    if (!tm_failed(f->run)) {
        add_repeated(f, &t, section);
        if (f->has_steps)
            add_sum(tm_add_object(section, "repeated_total"), &t.repeated);
        else
            tm_add_null(section, "repeated_total", no_steps);
        add_attention(f, &t, section);
        add_layout(f, &t, section);
        add_matrix(f, &t, section);
    }
    for (int kind = 0; kind < FUSION_KINDS; kind++)
        tm_top_rows_free(t.top[kind]);
    return f->run->error.status;
}
