/* SPDX-License-Identifier: Apache-2.0 */
/* Balance, the stage: groups what the devices compute by op and device, and by step and device.  Memory: fixed per
 * device what runs on it; groups spill. */
#include "stages/figures/figure_stages.h"

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/stage.h"
#include "pipeline/store/groups.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/host_threads.h"

/* An op on a device.  The key is a hash of the op in its upper 96 bits and the device in its lower 32: the rows of an
 * op come one after the other, in the order of the devices. */
struct op_row {
    struct tm_key key;
    uint64_t count;
    int64_t total_ps;
    tm_strid name, module; /* module: 0 = not recorded */
};

/* Compute of a device in a step.  The key is the step's number, so that they come in order, and the device. */
struct step_row {
    struct tm_key key;
    int64_t number, compute_ps;
    uint32_t member, unused; /* spilled rows have no padding */
};

/* The compute time of a device: a union of activities that come in the order of their starts. */
struct load {
    int64_t until_ps;
    int64_t number;     /* of the step that compute_ps belongs to */
    uint32_t step;      /* its ordinal on the host */
    int64_t compute_ps; /* not in the rows yet */
};

struct balance {
    struct tm_run *run;
    const struct tm_trace *trace; /* of the current host */
    struct tm_names *names;
    struct tm_members members;
    struct load *loads; /* of the current host, by device */
    uint32_t load_count;
    struct tm_groups *ops;   /* struct op_row */
    struct tm_groups *steps; /* struct step_row */
};

enum { BALANCE_LISTED = 50 };

/* Shares of the memory for the tables of this stage, in thirteenths; the last two are needed for the report only. */
enum { BALANCE_OPS = 7, BALANCE_STEPS = 3, BALANCE_TOP = 1, BALANCE_SPREADS = 2 };

static inline size_t balance_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_BALANCE, 13, (unsigned)parts);
}

static inline uint32_t member_of_op(const struct op_row *row)
{
    return (uint32_t)row->key.low;
}

static inline bool is_same_op(const struct op_row *a, const struct op_row *b)
{
    return a->key.high == b->key.high && a->key.low >> 32 == b->key.low >> 32;
}

static inline void set_step_key(struct step_row *row)
{
    row->key = (struct tm_key){ (uint64_t)row->number ^ (uint64_t)1 << 63, row->member };
}

/* Balance in a partial: the devices, all ops of each, and what each computed in each step. */

static const struct tm_row_field op_fields[] = {
    TM_FIELD(struct op_row, key, WORD, KEEP),     TM_FIELD(struct op_row, count, COUNT, SUM),
    TM_FIELD(struct op_row, total_ps, TIME, SUM), TM_FIELD(struct op_row, name, NAME, KEEP),
    TM_FIELD(struct op_row, module, NAME, KEEP),  TM_FIELDS_END,
};

static const struct tm_row_field step_fields[] = {
    TM_FIELD(struct step_row, number, INSTANT, KEEP),
    TM_FIELD(struct step_row, member, DEVICE, KEEP),
    TM_FIELD(struct step_row, compute_ps, TIME, KEEP), /* merge_steps adds it */
    TM_FIELDS_END,
};

static tm_status save_balance(struct tm_stage *s, struct tm_partial_writer *w)
{
    struct balance *b = s->state;

    tm_members_save(&b->members, w);
    tm_fields_save_groups(w, op_fields, b->ops);
    tm_fields_save_groups(w, step_fields, b->steps);
    return b->run->error.status;
}

static tm_status complete_op(void *of, struct tm_partial_reader *r, void *row)
{
    const struct balance *b = of;
    struct op_row *op = row;
    const uint32_t first = tm_partial_first_device(r);

    if (member_of_op(op) >= b->members.count - first || !op->count)
        return tm_partial_damaged(r, "a number is out of its range");
    op->key.low += first; /* below 2^32: it is the number of a device */
    return TM_OK;
}

static tm_status complete_step(void *of, struct tm_partial_reader *r, void *row)
{
    (void)of;
    (void)r;
    set_step_key(row);
    return TM_OK;
}

static tm_status load_balance(struct tm_stage *s, struct tm_partial_reader *r)
{
    struct balance *b = s->state;
    const uint32_t first = tm_members_load(&b->members, b->run, r);

    b->names = tm_partial_names(r);
    tm_partial_bind_devices(r, first, b->members.count - first);
    tm_fields_load_groups(r, op_fields, b->ops, complete_op, b);
    tm_fields_load_groups(r, step_fields, b->steps, complete_step, NULL);
    return b->run->error.status;
}

/* The parts of the section balance beyond the devices' sums: spread by step, and ops that several devices run. */

enum { EQUAL_PCT = 5 }; /* an op takes equally long where the slowest device needs less than this more than the mean */

enum op_kind { OP_ALL, OP_UNEVEN, OP_SOME, OP_SINGLE, OP_KINDS };

static const char *const op_kind_name[OP_KINDS] = {
    [OP_ALL] = "all",
    [OP_UNEVEN] = "uneven",
    [OP_SOME] = "some",
    [OP_SINGLE] = "single",
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
    int64_t *op_ps;   /* of the current op, by member */
    int64_t *same_ps; /* of ops of the kind `all`, by member */
    uint8_t *has_ops; /* by member */
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
    *op = (struct shared_op){
        .key = row->key, .name = row->name, .module = row->module, .min_ps = INT64_MAX, .max_ps = -1, .kind = OP_ALL
    };
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

static void end_op(struct shared_ops *s, struct shared_op *op)
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
        return;
    if (__builtin_mul_overflow(op->max_ps, (int64_t)op->devices, &op->excess_ps))
        op->excess_ps = INT64_MAX;
    op->excess_ps = op->excess_ps > op->sum_ps ? op->excess_ps - op->sum_ps : 0;
    tm_top_rows_add(s->top, op);
}

static void read_ops(struct shared_ops *s)
{
    struct shared_op op = { .devices = 0 };
    const struct op_row *row;

    tm_groups_rewind(s->b->ops);
    while ((row = tm_groups_next(s->b->ops))) {
        const struct op_row last = { .key = op.key };

        if (op.devices && !is_same_op(row, &last))
            end_op(s, &op);
        if (!op.devices || !is_same_op(row, &last))
            begin_op(&op, row);
        add_device(s, &op, row);
    }
    if (op.devices)
        end_op(s, &op);
    tm_top_rows_sort(s->top);
}

static void count_devices(struct shared_ops *s)
{
    const struct op_row *row;

    tm_groups_finish(s->b->ops);
    while ((row = tm_groups_next(s->b->ops))) {
        uint8_t *has_ops = &s->has_ops[member_of_op(row)];

        s->devices += !*has_ops;
        *has_ops = 1;
    }
}

static void add_op(const struct shared_ops *s, const struct shared_op *op, struct tm_value *list)
{
    const double spread = spread_pct(op->max_ps, op->sum_ps, op->devices);
    struct tm_value *to = tm_add_object(list, NULL);
    size_t length;
    const char *text = tm_names_text(s->b->names, op->name, 0, &length);

    tm_add_text(to, "name", text, length);
    tm_add_name_cut(to, "module", s->b->names, op->module, 0, "not recorded");
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
}

/* Ops that all devices run equally often: which device needs longer for them? */
static void add_same_work(const struct shared_ops *s, struct tm_value *balance)
{
    struct tm_value *to, *list;
    int64_t sum_ps = 0, max_ps = -1;
    uint32_t slowest = 0;

    if (!s->kinds[OP_ALL]) {
        tm_add_null(balance, "same_work", "no op runs equally often on all devices");
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

static void add_shared_ops(struct shared_ops *s, struct tm_value *balance)
{
    struct tm_value *list, *kinds;

    read_ops(s);
    list = tm_add_array(balance, "ops");
    for (uint64_t i = 0; i < tm_top_rows_count(s->top); i++)
        add_op(s, tm_top_rows_at(s->top, i), list);
    kinds = tm_add_object(balance, "op_kinds");
    for (int i = 0; i < OP_KINDS; i++)
        tm_add_uint(kinds, op_kind_name[i], s->kinds[i]);
    add_same_work(s, balance);
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
    return (x->number < y->number) - (x->number > y->number); /* of equal steps, the first one comes last */
}

/* A step over its devices; those that compute nothing in it are excluded. */
struct step_sum {
    int64_t number;
    int64_t max_ps, sum_ps;
    uint32_t devices;
};

static void end_step(const struct step_sum *sum, struct tm_sorter *spreads)
{
    const struct step_spread row = { spread_pct(sum->max_ps, sum->sum_ps, sum->devices), sum->number };

    if (sum->devices > 1)
        tm_sorter_push(spreads, &row);
}

static void read_steps(struct balance *b, struct tm_sorter *spreads)
{
    struct step_sum sum = { .devices = 0 };
    const struct step_row *row;

    tm_groups_finish(b->steps);
    while ((row = tm_groups_next(b->steps))) {
        if (sum.devices && row->number != sum.number) {
            end_step(&sum, spreads);
            sum = (struct step_sum){ .devices = 0 };
        }
        sum.number = row->number;
        sum.max_ps = row->compute_ps > sum.max_ps ? row->compute_ps : sum.max_ps;
        sum.sum_ps = tm_sum_times(sum.sum_ps, row->compute_ps);
        sum.devices++;
    }
    end_step(&sum, spreads);
    tm_sorter_finish(spreads);
}

static void add_spreads(struct tm_sorter *spreads, struct tm_value *balance)
{
    const uint64_t count = tm_sorter_count(spreads), median = count - count / 2; /* nearest rank */
    struct step_spread last = { .pct = 0 };
    const struct step_spread *row;
    struct tm_value *to;
    double median_pct = 0;

    if (!count) {
        tm_add_null(balance, "steps", "in no step do several devices compute");
        return;
    }
    for (uint64_t i = 1; (row = tm_sorter_next(spreads)); i++) {
        last = *row;
        if (i == median)
            median_pct = last.pct;
    }
    to = tm_add_object(balance, "steps");
    tm_add_uint(to, "count", count);
    tm_add_double(to, "spread_median_pct", median_pct);
    tm_add_double(to, "spread_max_pct", last.pct);
    tm_add_int(to, "worst_step", last.number);
}

static void add_steps(struct balance *b, struct tm_value *balance)
{
    struct tm_sorter *spreads = tm_sorter_new(b->run, TM_ACCOUNT_TABLES, sizeof(struct step_spread),
                                              balance_memory(b->run, BALANCE_SPREADS), by_spread);

    if (!spreads)
        return;
    read_steps(b, spreads);
    add_spreads(spreads, balance);
    tm_sorter_free(spreads);
}

/* --- all of it --- */

static void add_ops(struct balance *b, struct tm_value *balance)
{
    struct tm_run *run = b->run;
    const size_t n = b->members.count, bytes = n * (2 * sizeof(int64_t) + 1);
    int64_t *arrays = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    struct shared_ops s = { .b = b,
                            .op_ps = arrays,
                            .same_ps = arrays ? arrays + n : NULL,
                            .has_ops = arrays ? (uint8_t *)(arrays + 2 * n) : NULL };

    s.top = tm_top_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct shared_op), BALANCE_LISTED,
                            balance_memory(run, BALANCE_TOP), most_excess_first);
    if (arrays && s.top) {
        count_devices(&s);
        add_shared_ops(&s, balance);
    }
    tm_top_rows_free(s.top);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, arrays, arrays ? bytes : 0);
}

/* balance.c, balance.c */
static tm_status report_balance(struct tm_stage *s, struct tm_value *summary)
{
    static const char *const keys[] = { "steps", "ops", "op_kinds", "same_work" };
    struct balance *b = s->state;
    struct tm_value *balance = tm_member(summary, "balance");

    if (tm_type_of(balance) != TM_OBJECT)
        return TM_OK;
    if (tm_int(tm_get(balance, "devices")) < 2) {
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
            tm_add_null(balance, keys[i], b->members.count ? "one device" : "no device computed");
        return TM_OK;
    }
    add_steps(b, balance);
    add_ops(b, balance);
    return s->run->error.status;
}

static void merge_ops(void *into, const void *from)
{
    tm_fields_merge(op_fields, into, from);
}

/* By hand instead of the field table: where kernels of two steps overlap, it runs for each of them. */
static void merge_steps(void *into, const void *from)
{
    struct step_row *a = into;
    const struct step_row *b = from;

    a->compute_ps = tm_sum_times(a->compute_ps, b->compute_ps);
}

static tm_status open_stage(struct tm_stage *s)
{
    struct balance *b = s->state;

    b->run = s->run;
    b->ops =
        tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct op_row), balance_memory(s->run, BALANCE_OPS), merge_ops);
    b->steps = tm_groups_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct step_row), balance_memory(s->run, BALANCE_STEPS),
                             merge_steps);
    return s->run->error.status;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct balance *b = s->state;

    tm_members_begin_host(&b->members, b->run, trace);
    b->trace = trace;
    b->names = trace->names;
    if (!trace->device_count)
        return b->run->error.status;
    b->loads = tm_take(&b->run->budget, TM_ACCOUNT_MODEL, trace->device_count * sizeof(*b->loads), &b->run->error);
    if (!b->loads)
        return b->run->error.status;
    b->load_count = trace->device_count;
    for (uint32_t i = 0; i < b->load_count; i++)
        b->loads[i] = (struct load){ .until_ps = INT64_MIN, .number = TM_NO_STEP, .step = TM_NONE };
    return b->run->error.status;
}

/* --- ops --- */

/* The op that the events of a site count for: the HLO op of its program if that is reported, else the name of the
 * kernel. */
static void find_op(struct balance *b, const struct tm_event *event, uint32_t member, struct op_row *row)
{
    const struct tm_config *config = event->config;
    const tm_strid name = config->hlo_op ? config->hlo_op : event->record.name;
    const tm_strid module = config->hlo_op ? config->module : 0;
    struct tm_key text[2], key;

    tm_names_hashes(b->names, (const tm_strid[]){ name, module }, 2, text);
    key = tm_hash_key(text, sizeof(text));
    row->key = (struct tm_key){ key.high, (key.low & ~(uint64_t)UINT32_MAX) | member };
    row->name = name;
    row->module = module;
}

/* --- steps --- */

static void put_load(struct balance *b, struct load *load, uint32_t member)
{
    struct step_row row = { .number = load->number, .compute_ps = load->compute_ps, .member = member };

    if (!load->compute_ps || load->number == TM_NO_STEP)
        return;
    load->compute_ps = 0;
    set_step_key(&row);
    tm_groups_add(b->steps, &row);
}

static void add_load(struct balance *b, const struct tm_event *event, uint32_t member)
{
    const int64_t end_ps = event->record.start_ps + event->record.dur_ps;
    struct load *load = &b->loads[event->device];

    if (event->step != load->step) {
        put_load(b, load, member);
        load->step = event->step;
        load->compute_ps = 0;
        load->number = tm_step_number(b->trace, event->step);
    }
    if (end_ps > load->until_ps) {
        const int64_t from_ps = event->record.start_ps > load->until_ps ? event->record.start_ps : load->until_ps;

        load->compute_ps = tm_sum_times(load->compute_ps, end_ps - from_ps);
        load->until_ps = end_ps;
    }
}

/* --- events --- */

/* The number of the device that computes in an event; TM_NONE = none does. */
static uint32_t member_of(const struct balance *b, const struct tm_event *event)
{
    const bool computes = event->level == TM_LEVEL_COMPUTE || event->level == TM_LEVEL_CONTAINER;

    return event->chosen && event->device < b->load_count && computes ? b->members.by_device[event->device] : TM_NONE;
}

static bool wants(struct tm_stage *s, const struct tm_event *event)
{
    return member_of(s->state, event) != TM_NONE;
}

static void take(struct tm_stage *s, const struct tm_event *events, size_t count)
{
    struct balance *b = s->state;
    const uint32_t member = b->members.by_device[events->device];

    for (size_t i = 0; i < count; i++)
        if (tm_wants(s, &events[i]))
            add_load(b, &events[i], member);
}

static void take_site(struct tm_stage *s, const struct tm_event *event, const struct tm_site_sums *sums)
{
    struct balance *b = s->state;
    const uint32_t member = member_of(b, event), class = event->record.class;
    struct op_row row = { .count = sums->count, .total_ps = sums->total_ps };

    if (member == TM_NONE || event->level != TM_LEVEL_COMPUTE ||
        (class != TM_CLASS_KERNEL && class != TM_CLASS_TPU_OP && class != TM_CLASS_CPU_OP))
        return;
    find_op(b, event, member, &row);
    tm_groups_add(b->ops, &row);
}

static void free_loads(struct balance *b)
{
    tm_give(&b->run->budget, TM_ACCOUNT_MODEL, b->loads, b->load_count * sizeof(*b->loads));
    b->loads = NULL;
    b->load_count = 0;
}

static tm_status end_host(struct tm_stage *s)
{
    struct balance *b = s->state;

    for (uint32_t i = 0; i < b->load_count; i++)
        put_load(b, &b->loads[i], b->members.by_device[i]);
    free_loads(b);
    b->trace = NULL;
    return b->run->error.status;
}

static void close_stage(struct tm_stage *s)
{
    struct balance *b = s->state;

    if (!b->run)
        return;
    tm_groups_free(b->ops);
    tm_groups_free(b->steps);
    tm_members_free(&b->members, b->run);
    free_loads(b);
}

const struct tm_stage_type tm_balance_stage = {
    .name = "balance",
    .summary = "the same work on several devices",
    .state_bytes = sizeof(struct balance),
    .classes = TM_CLASSES_ACTIVITY,
    .open = open_stage,
    .begin_host = begin_host,
    .wants = wants,
    .take = take,
    .take_site = take_site,
    .end_host = end_host,
    .report = report_balance,
    .save = save_balance,
    .load = load_balance,
    .close = close_stage,
};
