/* SPDX-License-Identifier: Apache-2.0 */
/* All programs of a host: two passes, the sums, the index of the join.  Tables that are needed while it reads draw on
 * the account of sorting, which is unused while a file is scanned. */
#include "stages/input/hlo/hlo.h"

#include "pipeline/store/groups.h"
#include "pipeline/trace.h"
#include "stages/input/bytes/input_file.h"
#include "stages/input/hlo/hlo_private.h"
#include "stages/input/records/facts.h"

/* From launch facts to the op that they name.  An index by program and name, and by name alone if only one
 * program has it; names are compared by their hashes. */

enum { NAME_LOOKED_AT = 64 << 10 /* bytes of a name or HLO text */ };

/* An op's name in all programs. */
struct name_row {
    struct tm_key key;
    int64_t program_id;
    uint32_t op; /* the first one */
    uint8_t is_shared;
};

static void merge_names(void *into, const void *from)
{
    struct name_row *a = into;
    const struct name_row *b = from;

    a->is_shared |= b->is_shared || a->program_id != b->program_id;
    if (b->op < a->op) {
        a->op = b->op;
        a->program_id = b->program_id;
    }
}

static uint64_t key_in_program(struct tm_key name, int64_t program_id)
{
    return tm_hash_mix(name.low ^ (uint64_t)program_id * UINT64_C(0x9e3779b97f4a7c15), name.high);
}

static uint64_t key_in_any(struct tm_key name)
{
    return tm_hash_mix(name.low, ~name.high);
}

static void put_ops(struct tm_hlo *hlo, struct tm_groups *names)
{
    for (uint64_t i = 1; i < tm_rows_count(hlo->trace->hlo_ops) && !tm_failed(hlo->run); i++) {
        const struct tm_hlo_op *op = tm_rows_at(hlo->trace->hlo_ops, i);
        struct hlo_join join = { .op = (uint32_t)i };
        struct name_row row = { .op = (uint32_t)i };

        join.program_id = row.program_id = op->program_id;
        join.name = row.key = tm_names_info(hlo->trace->names, op->name).hash;
        join.key = key_in_program(join.name, join.program_id);
        tm_index_put(hlo->joins, &join);
        tm_groups_add(names, &row);
    }
}

static void put_names(struct tm_hlo *hlo, struct tm_groups *names)
{
    const struct name_row *row;

    tm_groups_finish(names);
    while ((row = tm_groups_next(names))) {
        const struct hlo_join join = { .any_program = 1, .name = row->key, .key = key_in_any(row->key), .op = row->op };

        if (!row->is_shared)
            tm_index_put(hlo->joins, &join);
    }
    tm_index_finish(hlo->joins);
}

static void hlo_index(struct tm_hlo *hlo)
{
    const size_t share = tm_budget_share(&hlo->run->budget, TM_ACCOUNT_SORT);
    struct tm_groups *names = tm_groups_new(hlo->run, TM_ACCOUNT_SORT, sizeof(struct name_row), share / 8, merge_names);

    hlo->joins = tm_index_new(hlo->run, TM_ACCOUNT_METADATA, sizeof(struct hlo_join),
                              tm_budget_share(&hlo->run->budget, TM_ACCOUNT_METADATA) / 16, TM_INDEX_FIRST, NULL);
    if (names && hlo->joins) {
        put_ops(hlo, names);
        put_names(hlo, names);
    }
    tm_groups_free(names);
}

/* --- asking --- */

/* The last part of "a::b". */
static struct tm_text last_part(struct tm_text text)
{
    for (size_t i = text.length; i >= 2; i--)
        if (text.at[i - 1] == ':' && text.at[i - 2] == ':')
            return tm_text_from(text, i);
    return text;
}

/* The name that an HLO text starts with: "%fusion.3 = f32[8] ...". */
static struct tm_text name_in_hlo(struct tm_text text)
{
    const char *equals;

    if (tm_text_begins(text, "ROOT "))
        text = tm_text_from(text, 5);
    if (tm_text_begins(text, "%"))
        text = tm_text_from(text, 1);
    equals = text.length ? memmem(text.at, text.length, " = ", 3) : NULL;
    if (equals)
        text.length = (size_t)(equals - text.at);
    return text;
}

/* The op of a name in a program, or in the only program that has it; 0 = none. */
static uint32_t find_op(struct tm_hlo *hlo, struct tm_key name, const int64_t *program_id)
{
    const uint64_t key = program_id ? key_in_program(name, *program_id) : key_in_any(name);
    const struct hlo_join *const found = tm_index_get(hlo->joins, key);

    return found && found->any_program == !program_id && (!program_id || found->program_id == *program_id) &&
                   tm_is_same_key(found->name, name)
               ? found->op
               : 0;
}

/* Whether program 0 is requested: 0 also represents no program. */
static bool module_agrees(struct tm_hlo *hlo, uint32_t op, tm_strid module)
{
    const struct tm_hlo_op *row = tm_rows_at(hlo->trace->hlo_ops, op);

    return tm_names_are_same(hlo->trace->names, row->module, module);
}

static uint32_t find_of(struct tm_hlo *hlo, const struct tm_config *config, struct tm_key name)
{
    const uint32_t op = find_op(hlo, name, &config->program_id);

    if (op && (config->program_id || module_agrees(hlo, op, config->module)))
        return op;
    return config->program_id ? 0 : find_op(hlo, name, NULL);
}

void tm_hlo_join(struct tm_hlo *hlo, struct tm_config *config)
{
    const bool is_tpu = config->details != 0; /* its HLO text */
    struct tm_text text;
    uint32_t row;

    if (!hlo->joins || config->hlo || (!is_tpu && !config->hlo_op))
        return;
    text.at = tm_names_text(hlo->trace->names, is_tpu ? config->details : config->hlo_op, NAME_LOOKED_AT, &text.length);
    text = is_tpu ? name_in_hlo(text) : last_part(text);
    row = find_of(hlo, config, tm_hash_key(text.at, text.length));
    if (!row)
        return;
    config->hlo = row;
    if (!config->source)
        config->source = ((const struct tm_hlo_op *)tm_rows_at(hlo->trace->hlo_ops, row))->source;
}

void tm_hlo_join_all(struct tm_hlo *hlo)
{
    for (uint64_t i = 1; i < tm_rows_count(hlo->trace->configs) && !tm_failed(hlo->run); i++) {
        struct tm_config *config = tm_rows_change(hlo->trace->configs, i);

        tm_hlo_join(hlo, config);
        config->hash = 0;
        config->hash = tm_config_hash(config);
    }
}

/* The totals of computations.  A call waits until its computation is known; computations that wait for nothing notify
 * their callers, which then wait for one less.  Each call is visited once, regardless of the order of the computations;
 * those in a cycle are never known, and their calls keep no flops. */

static bool is_softmax(const struct hlo_sums *sums)
{
    return (sums->traits & TM_HLO_EXPONENTIAL) && (sums->traits & (TM_HLO_DIVIDES | TM_HLO_REDUCES));
}

/* Complete the op, now that its computation is known. */
static void complete_op(struct tm_hlo *hlo, uint32_t row, const struct hlo_computation *called)
{
    struct tm_hlo_op *op = tm_rows_change(hlo->trace->hlo_ops, row);
    const struct hlo_sums *sums = &called->sums;

    op->has_flops = !sums->lacks_flops;
    op->flops = sums->lacks_flops ? 0 : sums->flops;
    op->has_matrix |= sums->has_matrix;
    op->is_batched |= sums->is_batched;
    op->has_softmax |= is_softmax(sums);
    op->is_host |= called->is_host || (sums->traits & TM_HLO_HOST);
    if (sums->precision)
        op->precision = sums->precision;
    if (!op->path) {
        op->path = sums->path;
        op->source = op->source ? op->source : sums->source;
    }
    if (!op->message_bytes) {
        op->message_bytes = sums->message_bytes;
        op->group_size = sums->group_size;
        op->groups = sums->groups;
        op->origin = sums->origin ? sums->origin : op->origin;
    }
}

static int by_callee(const void *a, const void *b)
{
    const struct hlo_call *x = a, *y = b;

    return (x->callee > y->callee) - (x->callee < y->callee);
}

/* Sort the calls into one array, in the order of what they call. */
static void lay_out_calls(struct tm_hlo *hlo)
{
    const struct hlo_call *call;

    tm_sorter_finish(hlo->sorter);
    while ((call = tm_sorter_next(hlo->sorter))) {
        struct hlo_computation *const callee = tm_rows_change(hlo->computations, call->callee);

        if (!callee->calls++)
            callee->first_call = tm_rows_count(hlo->calls);
        tm_rows_append(hlo->calls, call);
    }
}

/* Notify one caller. out: whether it waits for nothing more */
static bool tell(struct tm_hlo *hlo, const struct hlo_call *call, const struct hlo_computation *called)
{
    struct hlo_computation *caller = tm_rows_change(hlo->computations, call->caller);
    bool is_ready;

    tm_hlo_add_sums(&caller->sums, &called->sums);
    is_ready = !--caller->pending;
    if (call->op)
        complete_op(hlo, call->op, called);
    return is_ready;
}

static void tell_callers(struct tm_hlo *hlo, uint64_t number, struct tm_rows *ready)
{
    const struct hlo_computation called = *(const struct hlo_computation *)tm_rows_at(hlo->computations, number);

    for (uint64_t i = 0; i < called.calls && !tm_failed(hlo->run); i++) {
        const struct hlo_call call = *(const struct hlo_call *)tm_rows_at(hlo->calls, called.first_call + i);

        if (tell(hlo, &call, &called))
            tm_rows_append(ready, &call.caller);
    }
}

static void find_ready(struct tm_hlo *hlo, struct tm_rows *ready)
{
    for (uint64_t i = 0; i < tm_rows_count(hlo->computations); i++)
        if (!((const struct hlo_computation *)tm_rows_at(hlo->computations, i))->pending)
            tm_rows_append(ready, &i);
}

static void hlo_sum_up(struct tm_hlo *hlo)
{
    const size_t share = tm_budget_share(&hlo->run->budget, TM_ACCOUNT_SORT);
    struct tm_rows *ready = tm_rows_new(hlo->run, TM_ACCOUNT_SORT, sizeof(uint64_t), share / 32);

    if (!ready)
        return;
    lay_out_calls(hlo);
    find_ready(hlo, ready);
    for (uint64_t i = 0; i < tm_rows_count(ready) && !tm_failed(hlo->run); i++)
        tell_callers(hlo, *(const uint64_t *)tm_rows_at(ready, i), ready);
    tm_rows_free(ready);
}

static struct tm_sorter *hlo_calls_new(struct tm_hlo *hlo, size_t memory_bytes)
{
    return tm_sorter_new(hlo->run, TM_ACCOUNT_SORT, sizeof(struct hlo_call), memory_bytes, by_callee);
}

/* A wait describes its message as completely as its start. */
static void hlo_join_waits(struct tm_hlo *hlo)
{
    struct tm_rows *ops = hlo->trace->hlo_ops;

    for (uint64_t i = 0; i < tm_rows_count(hlo->wait_rows) && !tm_failed(hlo->run); i++) {
        const struct hlo_wait wait = *(const struct hlo_wait *)tm_rows_at(hlo->wait_rows, i);
        const struct tm_hlo_op begun = *(const struct tm_hlo_op *)tm_rows_at(ops, wait.start);
        struct tm_hlo_op *const op = tm_rows_change(ops, wait.op);

        op->message_bytes = begun.message_bytes;
        op->group_size = begun.group_size;
        op->groups = begun.groups;
        op->origin = begun.origin;
    }
}

struct tm_hlo *tm_hlo_new(struct tm_trace *trace, const struct tm_input *input)
{
    struct tm_run *run = trace->run;
    struct tm_hlo *hlo = tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(*hlo), &run->error);

    if (!hlo)
        return NULL;
    hlo->trace = trace;
    hlo->run = run;
    hlo->input = input;
    hlo->modules = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct hlo_module),
                               tm_budget_share(&run->budget, TM_ACCOUNT_METADATA) / 64);
    if (hlo->modules)
        return hlo;
    tm_hlo_free(hlo);
    return NULL;
}

static void free_reading(struct tm_hlo *hlo)
{
    struct tm_budget *budget = &hlo->run->budget;

    tm_give(budget, TM_ACCOUNT_INPUT, hlo->buffer, hlo->buffer ? HLO_BUFFER : 0);
    tm_give(budget, TM_ACCOUNT_INPUT, hlo->compact, hlo->compact ? HLO_BUFFER : 0);
    tm_give(budget, TM_ACCOUNT_INPUT, hlo->operands, hlo->operands ? HLO_OPERANDS_MOST * sizeof(*hlo->operands) : 0);
    tm_give(budget, TM_ACCOUNT_INPUT, hlo->sorted, hlo->sorted ? HLO_OPERANDS_MOST * sizeof(*hlo->sorted) : 0);
    tm_hlo_reads_free(hlo->run, hlo->reads);
    tm_index_free(hlo->partial_reads);
    tm_index_free(hlo->results);
    tm_index_free(hlo->places);
    tm_rows_free(hlo->computations);
    tm_rows_free(hlo->calls);
    tm_rows_free(hlo->wait_rows);
    tm_sorter_free(hlo->sorter);
    tm_rows_free(hlo->files);
    tm_rows_free(hlo->locations);
    tm_rows_free(hlo->frames);
    tm_rows_free(hlo->values);
    tm_rows_free(hlo->parts);
    hlo->buffer = hlo->compact = NULL;
    hlo->operands = NULL;
    hlo->sorted = NULL;
    hlo->reads = NULL;
    hlo->partial_reads = NULL;
    hlo->results = hlo->places = NULL;
    hlo->computations = hlo->calls = hlo->wait_rows = hlo->files = hlo->locations = hlo->frames = NULL;
    hlo->values = hlo->parts = NULL;
    hlo->sorter = NULL;
}

void tm_hlo_free(struct tm_hlo *hlo)
{
    if (!hlo)
        return;
    tm_index_free(hlo->joins);
    tm_rows_free(hlo->modules);
    tm_give(&hlo->run->budget, TM_ACCOUNT_METADATA, hlo, sizeof(*hlo));
}

void tm_hlo_add(struct tm_hlo *hlo, const struct tm_hlo_program *program)
{
    const struct hlo_module module = { .program = *program };

    if (tm_rows_count(hlo->modules) == UINT32_MAX)
        (void)tm_fail(&hlo->run->error, TM_ERR_LIMIT, -1, "the profile has more than %u programs", UINT32_MAX);
    tm_rows_append(hlo->modules, &module);
}

/* out: false: the run has failed */
static bool make_tables(struct tm_hlo *hlo)
{
    struct tm_run *run = hlo->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_SORT);

    hlo->buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, HLO_BUFFER, &run->error);
    hlo->compact = tm_take(&run->budget, TM_ACCOUNT_INPUT, HLO_BUFFER, &run->error);
    hlo->operands = tm_take(&run->budget, TM_ACCOUNT_INPUT, HLO_OPERANDS_MOST * sizeof(*hlo->operands), &run->error);
    hlo->sorted = tm_take(&run->budget, TM_ACCOUNT_INPUT, HLO_OPERANDS_MOST * sizeof(*hlo->sorted), &run->error);
    hlo->reads = tm_hlo_reads_new(run);
    hlo->partial_reads = tm_index_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_read), share / 16, TM_INDEX_FIRST, NULL);
    hlo->results = tm_index_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_result), share / 4, TM_INDEX_FIRST, NULL);
    hlo->places = tm_index_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_place), share / 8, TM_INDEX_FIRST, NULL);
    hlo->computations = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_computation), share / 8);
    hlo->calls = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_call), share / 16);
    hlo->wait_rows = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_wait), share / 32);
    hlo->sorter = hlo_calls_new(hlo, share / 8);
    hlo->files = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(tm_strid), share / 64);
    hlo->locations = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_location), share / 32);
    hlo->frames = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(uint64_t), share / 64);
    return hlo->buffer && hlo->compact && hlo->operands && hlo->sorted && hlo->reads && hlo->partial_reads &&
           hlo->results && hlo->places && hlo->computations && hlo->calls && hlo->wait_rows && hlo->sorter &&
           hlo->files && hlo->locations && hlo->frames;
}

static void walk_all(struct tm_hlo *hlo, enum hlo_pass pass)
{
    for (uint64_t i = 0; i < tm_rows_count(hlo->modules) && !tm_failed(hlo->run); i++)
        tm_hlo_walk(hlo, (uint32_t)i, pass);
}

/* A program that cannot be read to its end is damage of the file, as that of any other message.  Its name, which
 * --redact would hide, is not in the words. */
static void tell_damage(struct tm_hlo *hlo, const struct hlo_module *module)
{
    tm_tally_add(&hlo->run->tallies, TM_TALLY_DAMAGED_PROGRAM, 1);
    tm_trace_damage(hlo->trace, "the HLO of a program is damaged (byte %llu)", (unsigned long long)module->damaged_at);
}

/* Why a program's ops have no costs, or not all. */
static void tell_why(struct tm_hlo *hlo, uint64_t number)
{
    const struct hlo_module *module = tm_rows_at(hlo->modules, number);
    struct tm_hlo_module *row = tm_rows_change(hlo->trace->hlo_modules, number);
    const char *why;

    if (module->is_damaged)
        tell_damage(hlo, module);
    if (module->is_skipped)
        why = "HLO larger than the budget";
    else if (module->is_damaged)
        why = "its HLO is damaged";
    else if (module->is_cut)
        why = "some of its instructions are too large to read";
    else
        return;
    row->why = tm_names_put_string(hlo->trace->names, why);
}

/* Programs of several devices: a row for each instruction. */
static void open_values(struct tm_hlo *hlo)
{
    const size_t share = tm_budget_share(&hlo->run->budget, TM_ACCOUNT_SORT);
    bool has_several = false;

    for (uint64_t i = 0; i < tm_rows_count(hlo->modules) && !tm_failed(hlo->run); i++) {
        struct hlo_module *const module = tm_rows_change(hlo->modules, i);
        const struct hlo_place *const place = tm_index_get(hlo->places, tm_hlo_key(i, module->entry_id));

        has_several |= tm_hlo_devices(module) > 1;
        module->has_entry = place && place->module == i && place->id == module->entry_id;
        module->entry = module->has_entry ? place->row : 0;
    }
    if (!has_several)
        return;
    hlo->values = tm_rows_new(hlo->run, TM_ACCOUNT_SORT, sizeof(struct hlo_value), share / 16);
    hlo->parts = tm_rows_new(hlo->run, TM_ACCOUNT_SORT, sizeof(uint32_t), share / 32);
    if (hlo->values && hlo->parts)
        tm_rows_resize(hlo->values, hlo->instructions);
}

void tm_hlo_read(struct tm_hlo *hlo)
{
    if (!tm_rows_count(hlo->modules))
        return;
    if (make_tables(hlo)) {
        walk_all(hlo, HLO_PASS_SHAPES);
        tm_index_finish(hlo->results);
        tm_index_finish(hlo->places);
        tm_index_finish(hlo->partial_reads);
        open_values(hlo);
        walk_all(hlo, HLO_PASS_COSTS);
        hlo_sum_up(hlo);
        hlo_join_waits(hlo);
        if (hlo->values)
            tm_hlo_share(hlo);
    }
    for (uint64_t i = 0; i < tm_rows_count(hlo->modules) && !tm_failed(hlo->run); i++)
        tell_why(hlo, i);
    free_reading(hlo);
    if (!tm_failed(hlo->run))
        hlo_index(hlo);
}
