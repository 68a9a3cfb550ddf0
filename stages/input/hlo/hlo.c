/* SPDX-License-Identifier: Apache-2.0 */
/* All programs of a host: two walks, the sums, the index of the join.  Tables that are needed while it reads draw on
 * the account of sorting, which nobody uses while a file is scanned. */
#include "stages/input/hlo/hlo_private.h"

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

tm_status tm_hlo_add(struct tm_hlo *hlo, const struct tm_hlo_program *program)
{
    const struct hlo_module module = { .program = *program };

    if (tm_rows_count(hlo->modules) == UINT32_MAX)
        return tm_fail(&hlo->run->error, TM_ERR_LIMIT, -1, "the profile has more than %u programs", UINT32_MAX);
    return tm_rows_append(hlo->modules, &module);
}

static tm_status make_tables(struct tm_hlo *hlo)
{
    struct tm_run *run = hlo->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_SORT);

    hlo->buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, HLO_BUFFER, &run->error);
    hlo->compact = tm_take(&run->budget, TM_ACCOUNT_INPUT, HLO_BUFFER, &run->error);
    hlo->operands = tm_take(&run->budget, TM_ACCOUNT_INPUT, HLO_OPERANDS_MOST * sizeof(*hlo->operands), &run->error);
    hlo->sorted = tm_take(&run->budget, TM_ACCOUNT_INPUT, HLO_OPERANDS_MOST * sizeof(*hlo->sorted), &run->error);
    hlo->reads = tm_hlo_reads_new(run);
    hlo->partial_reads =
        tm_index_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_read), share / 16, TM_INDEX_FIRST, NULL);
    hlo->results =
        tm_index_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_result), share / 4, TM_INDEX_FIRST, NULL);
    hlo->places = tm_index_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_place), share / 8, TM_INDEX_FIRST, NULL);
    hlo->computations = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_computation), share / 8);
    hlo->calls = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_call), share / 16);
    hlo->wait_rows = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_wait), share / 32);
    hlo->sorter = tm_hlo_calls_new(hlo, share / 8);
    hlo->files = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(tm_strid), share / 64);
    hlo->locations = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(struct hlo_location), share / 32);
    hlo->frames = tm_rows_new(run, TM_ACCOUNT_SORT, sizeof(uint64_t), share / 64);
    return hlo->buffer && hlo->compact && hlo->operands && hlo->sorted && hlo->reads && hlo->partial_reads &&
                   hlo->results && hlo->places && hlo->computations && hlo->calls && hlo->wait_rows && hlo->sorter &&
                   hlo->files && hlo->locations && hlo->frames
               ? TM_OK
               : run->error.status;
}

static tm_status walk_all(struct tm_hlo *hlo, enum hlo_pass pass)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < tm_rows_count(hlo->modules) && st == TM_OK; i++)
        st = tm_hlo_walk(hlo, (uint32_t)i, pass);
    return st;
}

/* A program that cannot be read to its end is damage of the file, as that of any other message.  Its name, which --redact
 * would hide, is not in the words. */
static void tell_damage(struct tm_hlo *hlo, const struct hlo_module *module)
{
    tm_tally_add(&hlo->run->tallies, TM_TALLY_DAMAGED_PROGRAM, 1);
    tm_trace_damage(hlo->trace, "the HLO of a program is damaged (byte %llu)", (unsigned long long)module->damaged_at);
}

/* Why a program's ops have no costs, or not all. */
static tm_status tell_why(struct tm_hlo *hlo, uint64_t number)
{
    const struct hlo_module *module = tm_rows_at(hlo->modules, number);
    struct tm_hlo_module *row = tm_rows_change(hlo->trace->hlo_modules, number);
    const char *why;

    if (!module || !row)
        return hlo->run->error.status;
    if (module->is_damaged)
        tell_damage(hlo, module);
    if (module->is_skipped)
        why = "HLO larger than the budget";
    else if (module->is_damaged)
        why = "its HLO is damaged";
    else if (module->is_cut)
        why = "some of its instructions are too large to be read";
    else
        return TM_OK;
    return tm_names_put_string(hlo->trace->names, why, &row->why);
}

tm_status tm_hlo_read(struct tm_hlo *hlo)
{
    tm_status st;

    if (!tm_rows_count(hlo->modules))
        return TM_OK;
    st = make_tables(hlo);
    if (st == TM_OK)
        st = walk_all(hlo, HLO_PASS_SHAPES);
    if (st == TM_OK)
        st = tm_index_finish(hlo->results);
    if (st == TM_OK)
        st = tm_index_finish(hlo->places);
    if (st == TM_OK)
        st = tm_index_finish(hlo->partial_reads);
    if (st == TM_OK)
        st = walk_all(hlo, HLO_PASS_COSTS);
    if (st == TM_OK)
        st = tm_hlo_sum_up(hlo);
    if (st == TM_OK)
        st = tm_hlo_join_waits(hlo);
    for (uint64_t i = 0; i < tm_rows_count(hlo->modules) && st == TM_OK; i++)
        st = tell_why(hlo, i);
    free_reading(hlo);
    return st == TM_OK ? tm_hlo_index(hlo) : st;
}
