/* SPDX-License-Identifier: Apache-2.0 */
/* What the section balance has beyond the devices' sums: spread by step, and ops that several devices run. */
#include "stages/diagnose/collectives/balance_private.h"
#include "stages/diagnose/name_cell.h"
#include "stages/diagnose/top_rows.h"

enum { EQUAL_PCT = 5 }; /* an op takes equally long where the slowest device needs less than this more than the mean */

enum op_kind { OP_ALL, OP_UNEVEN, OP_SOME, OP_SINGLE, OP_KINDS };

static const char *const op_kind_name[OP_KINDS] = {
    [OP_ALL] = "all", [OP_UNEVEN] = "uneven", [OP_SOME] = "some", [OP_SINGLE] = "single",
};

/* An op over its devices. */
struct shared_op {
    struct tm_key key;
    uint64_t count;
    int64_t min_ps, max_ps, sum_ps;
    int64_t excess_ps; /* what the devices would save if all were as the mean: max x devices - sum */
    tm_strid name, module;
    uint32_t devices, slowest;
    uint8_t kind;
};

/* All ops. */
struct shared_ops {
    struct balance *b;
    uint32_t devices;        /* that run any op */
    struct tm_top_rows *top; /* struct shared_op */
    uint64_t kinds[OP_KINDS];
    int64_t *op_ps;          /* of the present op, by member */
    int64_t *same_ps;        /* of ops of the kind `all`, by member */
    uint8_t *has_ops;        /* by member */
};

/* 100 x (max / mean - 1) */
static double spread_pct(int64_t max_ps, int64_t sum_ps, uint32_t devices)
{
    const double pct = sum_ps > 0 ? 100.0 * ((double)max_ps * (double)devices / (double)sum_ps - 1.0) : 0;

    return pct > 0 ? pct : 0;
}

/* --- ops --- */

static int most_excess_first(const void *a, const void *b)
{
    const struct shared_op *x = a, *y = b;

    if (x->excess_ps != y->excess_ps)
        return x->excess_ps > y->excess_ps ? -1 : 1;
    return tm_key_order(x->key, y->key);
}

static void begin_op(struct shared_op *op, const struct op_row *row)
{
    *op = (struct shared_op){ .key = row->key, .name = row->name, .module = row->module, .min_ps = INT64_MAX,
                              .max_ps = -1, .kind = OP_ALL };
}

/* out: op->kind is OP_UNEVEN from the first device on whose count is another one */
static void add_device(struct shared_ops *s, struct shared_op *op, const struct op_row *row)
{
    const uint32_t member = member_of_op(row);

    if (op->devices && row->count != op->count / op->devices)
        op->kind = OP_UNEVEN;
    op->count = tm_sum_counts(op->count, row->count);
    op->sum_ps = tm_sum_times(op->sum_ps, row->total_ps);
    op->min_ps = row->total_ps < op->min_ps ? row->total_ps : op->min_ps;
    if (row->total_ps > op->max_ps) {
        op->max_ps = row->total_ps;
        op->slowest = member;
    }
    op->devices++;
    s->op_ps[member] = row->total_ps;
}

static tm_status end_op(struct shared_ops *s, struct shared_op *op)
{
    const uint32_t members = s->b->members.count;

    if (op->devices < s->devices)
        op->kind = op->devices > 1 ? OP_SOME : OP_SINGLE;
    s->kinds[op->kind]++;
    for (uint32_t i = 0; i < members; i++) {
        if (op->kind == OP_ALL)
            s->same_ps[i] = tm_sum_times(s->same_ps[i], s->op_ps[i]);
        s->op_ps[i] = 0;
    }
    if (op->devices < 2)
        return TM_OK;
    if (__builtin_mul_overflow(op->max_ps, (int64_t)op->devices, &op->excess_ps))
        op->excess_ps = INT64_MAX;
    op->excess_ps = op->excess_ps > op->sum_ps ? op->excess_ps - op->sum_ps : 0;
    return tm_top_rows_add(s->top, op);
}

static tm_status read_ops(struct shared_ops *s)
{
    struct shared_op op = { .devices = 0 };
    const void *next = NULL;
    tm_status st = tm_groups_rewind(s->b->ops);

    while (st == TM_OK && (st = tm_groups_next(s->b->ops, &next)) == TM_OK && next) {
        const struct op_row *row = next;
        const struct op_row last = { .key = op.key };

        if (op.devices && !is_same_op(row, &last))
            st = end_op(s, &op);
        if (!op.devices || !is_same_op(row, &last))
            begin_op(&op, row);
        add_device(s, &op, row);
    }
    if (st == TM_OK && op.devices)
        st = end_op(s, &op);
    tm_top_rows_sort(s->top);
    return st;
}

static tm_status count_devices(struct shared_ops *s)
{
    const void *next = NULL;
    tm_status st = tm_groups_finish(s->b->ops);

    while (st == TM_OK && (st = tm_groups_next(s->b->ops, &next)) == TM_OK && next) {
        uint8_t *has_ops = &s->has_ops[member_of_op(next)];

        s->devices += !*has_ops;
        *has_ops = 1;
    }
    return st;
}

static tm_status add_op(const struct shared_ops *s, const struct shared_op *op, struct tm_value *list)
{
    const double spread = spread_pct(op->max_ps, op->sum_ps, op->devices);
    struct tm_value *to = tm_add_object(list, NULL);
    const char *text;
    size_t length;
    tm_status st = tm_names_text(s->b->names, op->name, 0, &text, &length);

    if (st != TM_OK)
        return st;
    tm_add_text(to, "name", text, length);
    st = tm_add_name_cut(to, "module", s->b->names, op->module, 0, "not recorded");
    tm_add_uint(to, "devices", op->devices);
    tm_add_uint(to, "count", op->count);
    tm_add_int(to, "min_ps", op->min_ps);
    tm_add_int(to, "max_ps", op->max_ps);
    tm_add_int(to, "mean_ps", op->sum_ps / op->devices);
    tm_add_double(to, "spread_pct", spread);
    tm_add_string(to, "slowest", s->b->members.rows[op->slowest].device);
    tm_add_string(to, "kind", op_kind_name[op->kind]);
    tm_add_bool(to, "equal", spread < EQUAL_PCT);
    tm_add_int(to, "excess_ps", op->excess_ps);
    return st;
}

/* Ops that all devices run equally often: who needs longer for them? */
static void add_same_work(const struct shared_ops *s, struct tm_value *balance)
{
    struct tm_value *to, *list;
    int64_t sum_ps = 0, max_ps = -1;
    uint32_t slowest = 0;

    if (!s->kinds[OP_ALL]) {
        tm_add_null(balance, "same_work", "there is no op that all devices run equally often");
        return;
    }
    to = tm_add_object(balance, "same_work");
    tm_add_uint(to, "ops", s->kinds[OP_ALL]);
    list = tm_add_array(to, "devices");
    for (uint32_t i = 0; i < s->b->members.count; i++) {
        struct tm_value *row;

        if (!s->has_ops[i])
            continue;
        row = tm_add_object(list, NULL);
        tm_add_string(row, "device", s->b->members.rows[i].device);
        tm_add_int(row, "total_ps", s->same_ps[i]);
        sum_ps = tm_sum_times(sum_ps, s->same_ps[i]);
        if (s->same_ps[i] > max_ps) {
            max_ps = s->same_ps[i];
            slowest = i;
        }
    }
    tm_add_double(to, "spread_pct", spread_pct(max_ps, sum_ps, s->devices));
    tm_add_string(to, "slowest", s->b->members.rows[slowest].device);
}

static tm_status add_shared_ops(struct shared_ops *s, struct tm_value *balance)
{
    struct tm_value *list, *kinds;
    tm_status st = read_ops(s);

    list = tm_add_array(balance, "ops");
    for (uint64_t i = 0; st == TM_OK && i < tm_top_rows_count(s->top); i++)
        st = add_op(s, tm_top_rows_at(s->top, i), list);
    kinds = tm_add_object(balance, "op_kinds");
    for (int i = 0; i < OP_KINDS; i++)
        tm_add_uint(kinds, op_kind_name[i], s->kinds[i]);
    add_same_work(s, balance);
    return st;
}

/* --- steps --- */

struct step_spread {
    double pct;
    int64_t number;
};

static int by_spread(const void *a, const void *b)
{
    const struct step_spread *x = a, *y = b;

    if (x->pct < y->pct || x->pct > y->pct)
        return x->pct < y->pct ? -1 : 1;
    return (x->number < y->number) - (x->number > y->number); /* of equal ones the first step comes last */
}

/* A step over its devices; those that compute nothing in it take no part. */
struct step_sum {
    uint64_t step; /* key */
    int64_t max_ps, sum_ps;
    uint32_t devices;
};

static tm_status end_step(const struct step_sum *sum, struct tm_sorter *spreads)
{
    const struct step_spread row = { spread_pct(sum->max_ps, sum->sum_ps, sum->devices), step_of_key(sum->step) };

    return sum->devices > 1 ? tm_sorter_push(spreads, &row) : TM_OK;
}

static tm_status read_steps(struct balance *b, struct tm_sorter *spreads)
{
    struct step_sum sum = { .devices = 0 };
    const void *next = NULL;
    tm_status st = tm_groups_finish(b->steps);

    while (st == TM_OK && (st = tm_groups_next(b->steps, &next)) == TM_OK && next) {
        const struct step_row *row = next;

        if (sum.devices && row->key.high != sum.step) {
            st = end_step(&sum, spreads);
            sum = (struct step_sum){ .devices = 0 };
        }
        sum.step = row->key.high;
        sum.max_ps = row->compute_ps > sum.max_ps ? row->compute_ps : sum.max_ps;
        sum.sum_ps = tm_sum_times(sum.sum_ps, row->compute_ps);
        sum.devices++;
    }
    if (st == TM_OK)
        st = end_step(&sum, spreads);
    return st == TM_OK ? tm_sorter_finish(spreads) : st;
}

static tm_status add_spreads(struct tm_sorter *spreads, struct tm_value *balance)
{
    const uint64_t count = tm_sorter_count(spreads), median = count - count / 2; /* nearest rank */
    struct step_spread last = { .pct = 0 };
    struct tm_value *to;
    double median_pct = 0;

    if (!count) {
        tm_add_null(balance, "steps", "no step in which several devices compute");
        return TM_OK;
    }
    for (uint64_t i = 1; i <= count; i++) {
        const void *row = NULL;
        const tm_status st = tm_sorter_next(spreads, &row);

        if (st != TM_OK)
            return st;
        last = *(const struct step_spread *)row;
        if (i == median)
            median_pct = last.pct;
    }
    to = tm_add_object(balance, "steps");
    tm_add_uint(to, "count", count);
    tm_add_double(to, "spread_median_pct", median_pct);
    tm_add_double(to, "spread_max_pct", last.pct);
    tm_add_int(to, "worst_step", last.number);
    return TM_OK;
}

static tm_status add_steps(struct balance *b, struct tm_value *balance)
{
    struct tm_sorter *spreads = tm_sorter_new(b->run, TM_ACCOUNT_TABLES, sizeof(struct step_spread),
                                              balance_memory(b->run, BALANCE_SPREADS), by_spread);
    tm_status st = spreads ? read_steps(b, spreads) : b->run->error.status;

    if (st == TM_OK)
        st = add_spreads(spreads, balance);
    tm_sorter_free(spreads);
    return st;
}

/* --- all of it --- */

static tm_status add_ops(struct balance *b, struct tm_value *balance)
{
    struct tm_run *run = b->run;
    const size_t n = b->members.count, bytes = n * (2 * sizeof(int64_t) + 1);
    int64_t *arrays = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    struct shared_ops s = { .b = b,
                            .op_ps = arrays,
                            .same_ps = arrays ? arrays + n : NULL,
                            .has_ops = arrays ? (uint8_t *)(arrays + 2 * n) : NULL };
    tm_status st;

    s.top = tm_top_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct shared_op), BALANCE_LISTED,
                            balance_memory(run, BALANCE_TOP), most_excess_first);
    st = arrays && s.top ? count_devices(&s) : run->error.status;
    if (st == TM_OK)
        st = add_shared_ops(&s, balance);
    tm_top_rows_free(s.top);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, arrays, arrays ? bytes : 0);
    return st;
}

tm_status report_balance(struct tm_stage *s, struct tm_value *summary)
{
    static const char *const keys[] = { "steps", "ops", "op_kinds", "same_work" };
    struct balance *b = s->state;
    struct tm_value *balance = tm_member(summary, "balance");
    tm_status st;

    if (tm_type_of(balance) != TM_OBJECT)
        return TM_OK;
    if (tm_int(tm_get(balance, "devices")) < 2) {
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
            tm_add_null(balance, keys[i], b->members.count ? "one device" : "no device computed");
        return TM_OK;
    }
    st = add_steps(b, balance);
    return st == TM_OK ? add_ops(b, balance) : st;
}
