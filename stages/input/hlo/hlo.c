/* SPDX-License-Identifier: Apache-2.0 */
/* All programs of a host: two walks, the sums, the index of the join.  Tables that are needed while it reads draw on
 * the account of sorting, which nobody uses while a file is scanned. */
#include "stages/input/hlo/hlo.h"

#include <stdio.h>
#include <stdlib.h>

#include "pipeline/store/groups.h"
#include "pipeline/trace.h"
#include "stages/input/bytes/input_file.h"
#include "stages/input/hlo/hlo_private.h"
#include "stages/input/records/facts.h"

/* From launch facts to the op that they name.  An index by program and name, and by name alone where one program
 * alone has it; names are compared by their hashes. */

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

/* The name that an HLO text begins with: "%fusion.3 = f32[8] ...". */
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

/* Whether an op of program 0 is meant: 0 stands for no program as well. */
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

/* What computations come to.  A call waits until its computation is known; computations that wait for nothing are
 * told to their callers, which then wait for one less.  Each call is looked at once, whatever the order of the
 * computations; those in a circle are never known, and their calls keep no flops. */

/* The computation that an instruction calls, by its row; false where there is none of that id. */
static bool hlo_called(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, uint64_t *row)
{
    const struct hlo_place *const place =
        in->has_called ? tm_index_get(hlo->places, tm_hlo_key(module, (int64_t)in->called)) : NULL;
    const bool found = place && place->id == (int64_t)in->called && place->module == module;

    *row = found ? place->row : 0;
    return found;
}

void tm_hlo_note_call(struct tm_hlo *hlo, uint32_t module, uint64_t caller, const struct tm_hlo_instruction *in,
                      uint32_t op)
{
    struct hlo_call call = { .caller = caller, .op = op };
    struct hlo_computation *computation = tm_rows_change(hlo->computations, caller);

    if (!hlo_called(hlo, module, in, &call.callee)) {
        computation->sums.lacks_flops = 1;
        return;
    }
    computation->pending++;
    tm_sorter_push(hlo->sorter, &call);
}

void tm_hlo_add_sums(struct hlo_sums *into, const struct hlo_sums *from)
{
    into->lacks_flops |= from->lacks_flops;
    if (__builtin_add_overflow(into->flops, from->flops, &into->flops)) {
        into->flops = 0;
        into->lacks_flops = 1;
    }
    into->traits |= from->traits;
    if (from->has_matrix && !into->has_matrix)
        into->precision = from->precision;
    into->has_matrix |= from->has_matrix;
    into->is_batched |= from->is_batched;
    if (from->path) { /* the last one: the root stands at the end */
        into->path = from->path;
        into->source = from->source;
    }
    if (from->message_bytes > into->message_bytes) {
        into->message_bytes = from->message_bytes;
        into->group_size = from->group_size;
        into->groups = from->groups;
    }
}

static bool is_softmax(const struct hlo_sums *sums)
{
    return (sums->traits & TM_HLO_EXPONENTIAL) && (sums->traits & (TM_HLO_DIVIDES | TM_HLO_REDUCES));
}

/* What the op is, now that its computation is known. */
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
    }
}

static int by_callee(const void *a, const void *b)
{
    const struct hlo_call *x = a, *y = b;

    return (x->callee > y->callee) - (x->callee < y->callee);
}

/* Lay the calls side by side, in the order of what they call. */
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

/* Tell one caller.  out: whether it waits for nothing more */
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

/* What waits (-done, async-update) is about the same message as what began it (-start, async-start), and tells of it
 * as much: on a TPU the wait is what takes time. */

/* What has begun in the present computation: the latest ones; a wait stands close behind its start. */
static void note_start(struct hlo_waits *waits, int64_t id, uint32_t op)
{
    waits->starts[waits->next++ % HLO_STARTS] = (struct hlo_start){ .id = id, .op = op };
}

static uint32_t find_start(const struct hlo_waits *waits, uint64_t id)
{
    for (uint32_t i = 0; i < HLO_STARTS; i++)
        if (waits->starts[i].op && waits->starts[i].id == (int64_t)id)
            return waits->starts[i].op;
    return 0;
}

void tm_hlo_note_wait(struct tm_hlo *hlo, uint64_t computation, const struct tm_hlo_instruction *in, uint32_t op)
{
    struct hlo_waits *waits = &hlo->waits;
    struct hlo_wait wait = { .op = op };

    if (waits->computation != computation)
        *waits = (struct hlo_waits){ .computation = computation };
    if (in->known->traits & TM_HLO_START)
        note_start(waits, in->id, op);
    if (!(in->known->traits & TM_HLO_DONE) || !in->operand_count)
        return;
    wait.start = find_start(waits, in->operands[0]);
    if (!wait.start)
        return;
    note_start(waits, in->id, wait.start);
    tm_rows_append(hlo->wait_rows, &wait);
}

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
    hlo->buffer = hlo->compact = NULL;
    hlo->operands = NULL;
    hlo->sorted = NULL;
    hlo->reads = NULL;
    hlo->partial_reads = NULL;
    hlo->results = hlo->places = NULL;
    hlo->computations = hlo->calls = hlo->wait_rows = hlo->files = hlo->locations = hlo->frames = NULL;
    hlo->sorter = NULL;
}

void tm_hlo_free(struct tm_hlo *hlo)
{
    if (!hlo)
        return;
    free_reading(hlo);
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

/* A program that cannot be read to its end is damage of the file, as that of any other message.  Its name, which --redact
 * would hide, is not in the words. */
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
        why = "some of its instructions are too large to be read";
    else
        return;
    row->why = tm_names_put_string(hlo->trace->names, why);
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
        walk_all(hlo, HLO_PASS_COSTS);
        hlo_sum_up(hlo);
        hlo_join_waits(hlo);
    }
    for (uint64_t i = 0; i < tm_rows_count(hlo->modules) && !tm_failed(hlo->run); i++)
        tell_why(hlo, i);
    free_reading(hlo);
    if (!tm_failed(hlo->run))
        hlo_index(hlo);
}

/* What one instruction reads and writes in device memory: each operand once, and the result.  A slice reads as much as
 * it gives, an update writes what it reads; of a fusion what its computation says. */

static int by_id(const void *a, const void *b)
{
    const struct hlo_operand *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

/* A fusion's computation, where there is one. */
struct called {
    uint64_t row, written;
    bool is_fusion, has_written;
};

static struct called find_called(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in)
{
    struct called called = { .row = 0 };
    const struct hlo_computation *computation;

    called.is_fusion = in->known->traits & TM_HLO_IS_FUSION && hlo_called(hlo, module, in, &called.row);
    if (!called.is_fusion)
        return called;
    computation = tm_rows_at(hlo->computations, called.row);
    called.written = computation->written;
    called.has_written = computation->has_written;
    return called;
}

/* Bytes that are read of one operand, which may stand at several positions: all, or the slices that are taken. */
static uint64_t read_of(struct tm_hlo *hlo, const struct called *called, const struct hlo_operand *first, size_t count,
                        uint64_t whole)
{
    uint64_t parts = 0;

    if (!called->is_fusion)
        return whole;
    for (size_t i = 0; i < count; i++) {
        uint64_t part;

        if (!tm_hlo_read_of(hlo, called->row, first[i].position, &part) || __builtin_add_overflow(parts, part, &parts))
            return whole;
    }
    return parts < whole ? parts : whole;
}

/* Of the operands from the from-th on. */
static void add_operands(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, uint32_t from,
                         const struct called *called, struct hlo_cost *cost)
{
    struct hlo_operand *operands = hlo->sorted;
    size_t count = 0, n;

    for (uint32_t i = from; i < in->operand_count; i++)
        operands[count++] = (struct hlo_operand){ in->operands[i], i };
    qsort(operands, count, sizeof(*operands), by_id);
    cost->operand_bytes = 0;
    cost->has_operand_bytes = !in->is_cut;
    for (size_t i = 0; i < count; i += n) {
        const struct hlo_result *result;

        for (n = 1; i + n < count && operands[i + n].id == operands[i].id;)
            n++;
        result = tm_hlo_result(hlo, module, operands[i].id);
        if (!result || !result->has_bytes ||
            __builtin_add_overflow(cost->operand_bytes, read_of(hlo, called, &operands[i], n, result->bytes),
                                   &cost->operand_bytes))
            cost->has_operand_bytes = false;
    }
}

static void set_bytes(struct hlo_cost *cost, bool known, uint64_t read, uint64_t written)
{
    cost->has_bytes = known && !__builtin_add_overflow(read, written, &cost->bytes);
}

/* What is written: of a library's call the first array, the others are its working memory; of an update the slice. */
static bool written_by(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in,
                       const struct called *called, const struct tm_hlo_shape *shape, uint64_t *bytes)
{
    const bool is_library = tm_text_begins(in->target, "__cublas$") || tm_text_begins(in->target, "__cudnn$");
    const struct hlo_result *update = NULL;

    if (in->known->traits & TM_HLO_UPDATES) {
        if (in->operand_count > 1)
            update = tm_hlo_result(hlo, module, in->operands[1]);
        *bytes = update && update->has_bytes ? update->bytes : 0;
        return update && update->has_bytes;
    }
    *bytes = is_library && shape->is_tuple ? shape->part[0] : shape->bytes;
    if (called->has_written)
        *bytes = called->written;
    return called->has_written || shape->has_bytes;
}

void tm_hlo_bytes(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, struct hlo_cost *cost)
{
    const uint16_t traits = in->known->traits;
    const bool is_part = (traits & (TM_HLO_SLICES | TM_HLO_UPDATES)) != 0;
    struct called called;
    uint64_t written;
    bool known;

    if (traits & (TM_HLO_CONTAINER | TM_HLO_DONE | TM_HLO_SILENT))
        return;
    called = find_called(hlo, module, in);
    add_operands(hlo, module, in, is_part, &called, cost);
    known = written_by(hlo, module, in, &called, &cost->shape, &written);
    if (traits & TM_HLO_START && cost->shape.is_tuple) /* its result holds its operands */
        set_bytes(cost, cost->shape.has_bytes, cost->shape.bytes, 0);
    else
        set_bytes(cost, cost->has_operand_bytes && known, cost->operand_bytes, written);
    if (traits & TM_HLO_SLICES)
        set_bytes(cost, cost->has_bytes, cost->bytes, cost->shape.bytes);
}

/* Where an op stands in the source.  Its metadata says it, or names a frame of the module's table: frames name
 * locations, locations files, all by numbers that count from 1.
 * source: StackFrameIndexProto {file_names 1, file_locations 3 {file_name_id 1, line 3}, stack_frames 4
 *         {file_location_id 1}}; xla/service/hlo.proto */

enum {
    INDEX_FILE = 1,
    INDEX_LOCATION = 3,
    INDEX_FRAME = 4,
    LOCATION_FILE = 1,
    LOCATION_LINE = 3,
    FRAME_LOCATION = 1,
    ROW_BYTES_MOST = 256, /* of a location or frame: six numbers */
};

static tm_strid put_source(struct tm_hlo *hlo, struct tm_text file, int64_t line)
{
    char text[HLO_TEXT_MOST + 32];
    const int length = (int)(file.length < HLO_TEXT_MOST ? file.length : HLO_TEXT_MOST);
    int written;

    if (!length)
        return 0;
    if (line <= 0)
        return tm_names_put(hlo->trace->names, file.at, (size_t)length);
    memcpy(text, file.at, (size_t)length);
    written = snprintf(text + length, sizeof(text) - (size_t)length, ":%lld", (long long)line);
    return tm_names_put(hlo->trace->names, text, (size_t)length + (size_t)written);
}

static void put_file(struct tm_hlo *hlo, struct hlo_module *module, struct tm_wire view)
{
    const tm_strid name = tm_names_put(hlo->trace->names, (const char *)view.at, (size_t)(view.end - view.at));

    module->files++;
    tm_rows_append(hlo->files, &name);
}

static uint64_t number_in(struct tm_wire message, uint32_t number)
{
    struct tm_field field;
    uint64_t value = 0;

    while (tm_wire_next(&message, &field))
        if (field.key == TM_WIRE_KEY(number, TM_WIRE_VARINT))
            value = field.value;
    return value;
}

static void put_row(struct tm_hlo *hlo, struct hlo_module *module, uint32_t field, struct tm_wire view)
{
    struct hlo_location location;
    uint64_t frame;

    if (field == INDEX_FRAME) {
        module->frames++;
        frame = number_in(view, FRAME_LOCATION);
        tm_rows_append(hlo->frames, &frame);
        return;
    }
    module->locations++;
    location.file = number_in(view, LOCATION_FILE);
    location.line = (int64_t)number_in(view, LOCATION_LINE);
    tm_rows_append(hlo->locations, &location);
}

static uint64_t rows_of_all(const struct tm_hlo *hlo)
{
    return tm_rows_count(hlo->files) + tm_rows_count(hlo->locations) + tm_rows_count(hlo->frames);
}

void tm_hlo_frames(struct tm_hlo *hlo, struct hlo_module *module, struct tm_reader *w, uint64_t end)
{
    if (module->frames || module->locations || module->files) /* a second table is none of the format's */
        return;
    module->first_file = tm_rows_count(hlo->files);
    module->first_location = tm_rows_count(hlo->locations);
    module->first_frame = tm_rows_count(hlo->frames);
    while (tm_reader_offset(w) < end && rows_of_all(hlo) < HLO_INSTRUCTIONS_MOST) {
        struct tm_head head;
        struct tm_wire view;
        bool damaged;
        const bool more = tm_reader_head(w, &head, &damaged);
        uint64_t most;

        if (more && !damaged && tm_reader_offset(w) <= end && head.type != TM_WIRE_LEN)
            continue; /* a field of a later version */
        if (!more || damaged || tm_reader_offset(w) > end || head.value > end - tm_reader_offset(w)) {
            module->damaged_at = module->is_damaged ? module->damaged_at : head.offset;
            module->is_damaged = 1;
            break;
        }
        most = head.number == INDEX_FILE ? HLO_TEXT_MOST : ROW_BYTES_MOST;
        view = tm_reader_peek(w, (size_t)(head.value < most ? head.value : most));
        if (head.number == INDEX_FILE)
            put_file(hlo, module, view);
        else if (head.number == INDEX_LOCATION || head.number == INDEX_FRAME)
            put_row(hlo, module, head.number, view);
        tm_reader_skip(w, head.value);
    }
}

/* Row `number` (from 1) of a module's part of a table; NULL = there is none. */
static const void *row_of(struct tm_rows *rows, uint64_t first, uint64_t count, uint64_t number)
{
    return number && number <= count ? tm_rows_at(rows, first + number - 1) : NULL;
}

static tm_strid source_of_frame(struct tm_hlo *hlo, const struct hlo_module *module, uint64_t frame)
{
    const uint64_t *number = row_of(hlo->frames, module->first_frame, module->frames, frame);
    const struct hlo_location *location =
        number ? row_of(hlo->locations, module->first_location, module->locations, *number) : NULL;
    const tm_strid *file = location ? row_of(hlo->files, module->first_file, module->files, location->file) : NULL;
    const char *text;
    char copy[HLO_TEXT_MOST + 1];
    size_t length;

    if (!file)
        return 0;
    text = tm_names_text(hlo->trace->names, *file, sizeof(copy), &length);
    memcpy(copy, text, length < sizeof(copy) ? length : sizeof(copy)); /* putting a text in may move it */
    return put_source(hlo, (struct tm_text){ copy, length < sizeof(copy) ? length : sizeof(copy) }, location->line);
}

tm_strid tm_hlo_source(struct tm_hlo *hlo, const struct hlo_module *module, const struct tm_hlo_instruction *in)
{
    if (in->source_file.length)
        return put_source(hlo, in->source_file, in->source_line);
    return in->stack_frame > 0 ? source_of_frame(hlo, module, (uint64_t)in->stack_frame) : 0;
}
