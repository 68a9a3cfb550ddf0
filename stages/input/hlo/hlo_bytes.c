/* SPDX-License-Identifier: Apache-2.0 */
/* What one instruction reads and writes in device memory: each operand once, and the result.  A slice reads as much as
 * it gives, an update writes what it reads; of a fusion what its computation says. */
#include <stdlib.h>

#include "stages/input/hlo/hlo_private.h"

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

static tm_status find_called(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in,
                             struct called *called)
{
    const struct hlo_computation *computation;
    tm_status st;

    *called = (struct called){ .row = 0 };
    if (!(in->known->traits & TM_HLO_IS_FUSION))
        return TM_OK;
    st = tm_hlo_called(hlo, module, in, &called->row, &called->is_fusion);
    if (st != TM_OK || !called->is_fusion)
        return st;
    computation = tm_rows_at(hlo->computations, called->row);
    if (!computation)
        return hlo->run->error.status;
    called->written = computation->written;
    called->has_written = computation->has_written;
    return TM_OK;
}

/* Bytes that are read of one operand, which may stand at several positions: all, or the slices that are taken. */
static tm_status read_of(struct tm_hlo *hlo, const struct called *called, const struct hlo_operand *first, size_t count,
                         uint64_t whole, uint64_t *bytes)
{
    uint64_t parts = 0;

    *bytes = whole;
    if (!called->is_fusion)
        return TM_OK;
    for (size_t i = 0; i < count; i++) {
        uint64_t part;
        bool is_part;
        const tm_status st = tm_hlo_read_of(hlo, called->row, first[i].position, &is_part, &part);

        if (st != TM_OK || !is_part || __builtin_add_overflow(parts, part, &parts))
            return st;
    }
    *bytes = parts < whole ? parts : whole;
    return TM_OK;
}

/* Of the operands from the from-th on. */
static tm_status add_operands(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, uint32_t from,
                              const struct called *called, struct hlo_cost *cost)
{
    struct hlo_operand *operands = hlo->sorted;
    size_t count = 0, n;
    tm_status st = TM_OK;

    for (uint32_t i = from; i < in->operand_count; i++)
        operands[count++] = (struct hlo_operand){ in->operands[i], i };
    qsort(operands, count, sizeof(*operands), by_id);
    cost->operand_bytes = 0;
    cost->has_operand_bytes = !in->is_cut;
    for (size_t i = 0; i < count && st == TM_OK; i += n) {
        const struct hlo_result *result;
        uint64_t bytes = 0;

        for (n = 1; i + n < count && operands[i + n].id == operands[i].id;)
            n++;
        st = tm_hlo_result(hlo, module, operands[i].id, &result);
        if (st != TM_OK)
            break;
        if (!result || !result->has_bytes) {
            cost->has_operand_bytes = false;
            continue;
        }
        st = read_of(hlo, called, &operands[i], n, result->bytes, &bytes);
        if (__builtin_add_overflow(cost->operand_bytes, bytes, &cost->operand_bytes))
            cost->has_operand_bytes = false;
    }
    return st;
}

static void set_bytes(struct hlo_cost *cost, bool known, uint64_t read, uint64_t written)
{
    cost->has_bytes = known && !__builtin_add_overflow(read, written, &cost->bytes);
}

/* What is written: of a library's call the first array, the others are its working memory; of an update the slice. */
static tm_status written_by(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in,
                            const struct called *called, const struct tm_hlo_shape *shape, uint64_t *bytes, bool *known)
{
    const bool is_library = tm_text_begins(in->target, "__cublas$") || tm_text_begins(in->target, "__cudnn$");
    const struct hlo_result *update = NULL;
    tm_status st = TM_OK;

    *bytes = is_library && shape->is_tuple ? shape->part[0] : shape->bytes;
    *known = shape->has_bytes;
    if (called->has_written) {
        *bytes = called->written;
        *known = true;
    }
    if (!(in->known->traits & TM_HLO_UPDATES))
        return TM_OK;
    if (in->operand_count > 1)
        st = tm_hlo_result(hlo, module, in->operands[1], &update);
    *known = update && update->has_bytes;
    *bytes = *known ? update->bytes : 0;
    return st;
}

tm_status tm_hlo_bytes(struct tm_hlo *hlo, uint32_t module, const struct tm_hlo_instruction *in, struct hlo_cost *cost)
{
    const uint16_t traits = in->known->traits;
    const bool is_part = (traits & (TM_HLO_SLICES | TM_HLO_UPDATES)) != 0;
    struct called called;
    uint64_t written;
    bool known;
    tm_status st;

    if (traits & (TM_HLO_CONTAINER | TM_HLO_DONE | TM_HLO_SILENT))
        return TM_OK;
    st = find_called(hlo, module, in, &called);
    if (st == TM_OK)
        st = add_operands(hlo, module, in, is_part, &called, cost);
    if (st == TM_OK)
        st = written_by(hlo, module, in, &called, &cost->shape, &written, &known);
    if (st != TM_OK)
        return st;
    if (traits & TM_HLO_START && cost->shape.is_tuple) /* its result holds its operands */
        set_bytes(cost, cost->shape.has_bytes, cost->shape.bytes, 0);
    else
        set_bytes(cost, cost->has_operand_bytes && known, cost->operand_bytes, written);
    if (traits & TM_HLO_SLICES)
        set_bytes(cost, cost->has_bytes, cost->bytes, cost->shape.bytes);
    return TM_OK;
}
