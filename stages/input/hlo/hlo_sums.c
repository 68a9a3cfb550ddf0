/* SPDX-License-Identifier: Apache-2.0 */
/* What computations come to.  A call waits until its computation is known; computations that wait for nothing are
 * told to their callers, which then wait for one less.  Each call is looked at once, whatever the order of the
 * computations; those in a circle are never known, and their calls keep no flops. */
#include "stages/input/hlo/hlo_private.h"

tm_status tm_hlo_called(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, uint64_t *row,
                        bool *found)
{
    const void *at = NULL;
    const tm_status st =
        in->has_called ? tm_index_get(hlo->places, tm_hlo_key(module, (int64_t)in->called), &at) : TM_OK;
    const struct hlo_place *place = at;

    *found = st == TM_OK && place && place->id == (int64_t)in->called && place->module == module;
    *row = *found ? place->row : 0;
    return st;
}

tm_status tm_hlo_note_call(struct tm_hlo *hlo, uint32_t module, uint64_t caller, const struct tm_hlo_instruction *in,
                           uint32_t op)
{
    struct hlo_call call = { .caller = caller, .op = op };
    struct hlo_computation *computation = tm_rows_change(hlo->computations, caller);
    bool found;
    tm_status st;

    if (!computation)
        return hlo->run->error.status;
    st = tm_hlo_called(hlo, module, in, &call.callee, &found);
    if (st != TM_OK)
        return st;
    if (!found) {
        computation->sums.lacks_flops = 1;
        return TM_OK;
    }
    computation->pending++;
    return tm_sorter_push(hlo->sorter, &call);
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
static tm_status complete_op(struct tm_hlo *hlo, uint32_t row, const struct hlo_computation *called)
{
    struct tm_hlo_op *op = tm_rows_change(hlo->trace->hlo_ops, row);
    const struct hlo_sums *sums = &called->sums;

    if (!op)
        return hlo->run->error.status;
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
    return TM_OK;
}

static int by_callee(const void *a, const void *b)
{
    const struct hlo_call *x = a, *y = b;

    return (x->callee > y->callee) - (x->callee < y->callee);
}

/* Lay the calls side by side, in the order of what they call. */
static tm_status lay_out_calls(struct tm_hlo *hlo)
{
    tm_status st = tm_sorter_finish(hlo->sorter);

    while (st == TM_OK) {
        struct hlo_computation *callee;
        const void *row;

        st = tm_sorter_next(hlo->sorter, &row);
        if (st != TM_OK || !row)
            break;
        callee = tm_rows_change(hlo->computations, ((const struct hlo_call *)row)->callee);
        if (!callee)
            return hlo->run->error.status;
        if (!callee->calls++)
            callee->first_call = tm_rows_count(hlo->calls);
        st = tm_rows_append(hlo->calls, row);
    }
    return st;
}

/* Tell one caller; *ready where it waits for nothing more. */
static tm_status tell(struct tm_hlo *hlo, const struct hlo_call *call, const struct hlo_computation *called,
                      bool *ready)
{
    struct hlo_computation *caller = tm_rows_change(hlo->computations, call->caller);

    if (!caller)
        return hlo->run->error.status;
    tm_hlo_add_sums(&caller->sums, &called->sums);
    *ready = !--caller->pending;
    return call->op ? complete_op(hlo, call->op, called) : TM_OK;
}

static tm_status tell_callers(struct tm_hlo *hlo, uint64_t number, struct tm_rows *ready)
{
    const struct hlo_computation *row = tm_rows_at(hlo->computations, number);
    struct hlo_computation called;
    tm_status st = TM_OK;

    if (!row)
        return hlo->run->error.status;
    called = *row;
    for (uint64_t i = 0; i < called.calls && st == TM_OK; i++) {
        const struct hlo_call *at = tm_rows_at(hlo->calls, called.first_call + i);
        struct hlo_call call;
        bool is_ready = false;

        if (!at)
            return hlo->run->error.status;
        call = *at;
        st = tell(hlo, &call, &called, &is_ready);
        if (st == TM_OK && is_ready)
            st = tm_rows_append(ready, &call.caller);
    }
    return st;
}

static tm_status find_ready(struct tm_hlo *hlo, struct tm_rows *ready)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < tm_rows_count(hlo->computations) && st == TM_OK; i++) {
        const struct hlo_computation *row = tm_rows_at(hlo->computations, i);

        if (!row)
            return hlo->run->error.status;
        if (!row->pending)
            st = tm_rows_append(ready, &i);
    }
    return st;
}

tm_status tm_hlo_sum_up(struct tm_hlo *hlo)
{
    const size_t share = tm_budget_share(&hlo->run->budget, TM_ACCOUNT_SORT);
    struct tm_rows *ready = tm_rows_new(hlo->run, TM_ACCOUNT_SORT, sizeof(uint64_t), share / 32);
    tm_status st = ready ? lay_out_calls(hlo) : hlo->run->error.status;

    if (st == TM_OK)
        st = find_ready(hlo, ready);
    for (uint64_t i = 0; st == TM_OK && i < tm_rows_count(ready); i++) {
        const uint64_t *number = tm_rows_at(ready, i);

        st = number ? tell_callers(hlo, *number, ready) : hlo->run->error.status;
    }
    tm_rows_free(ready);
    return st;
}

struct tm_sorter *tm_hlo_calls_new(struct tm_hlo *hlo, size_t memory_bytes)
{
    return tm_sorter_new(hlo->run, TM_ACCOUNT_SORT, sizeof(struct hlo_call), memory_bytes, by_callee);
}
