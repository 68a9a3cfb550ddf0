/* SPDX-License-Identifier: Apache-2.0 */
/* What waits (-done, async-update) is about the same message as what began it (-start, async-start), and tells of it
 * as much: on a TPU the wait is what takes time. */
#include "stages/input/hlo/hlo_private.h"

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

tm_status tm_hlo_note_wait(struct tm_hlo *hlo, uint64_t computation, const struct tm_hlo_instruction *in, uint32_t op)
{
    struct hlo_waits *waits = &hlo->waits;
    struct hlo_wait wait = { .op = op };

    if (waits->computation != computation)
        *waits = (struct hlo_waits){ .computation = computation };
    if (in->known->traits & TM_HLO_START)
        note_start(waits, in->id, op);
    if (!(in->known->traits & TM_HLO_DONE) || !in->operand_count)
        return TM_OK;
    wait.start = find_start(waits, in->operands[0]);
    if (!wait.start)
        return TM_OK;
    note_start(waits, in->id, wait.start);
    return tm_rows_append(hlo->wait_rows, &wait);
}

tm_status tm_hlo_join_waits(struct tm_hlo *hlo)
{
    struct tm_rows *ops = hlo->trace->hlo_ops;

    for (uint64_t i = 0; i < tm_rows_count(hlo->wait_rows); i++) {
        const struct hlo_wait *wait = tm_rows_at(hlo->wait_rows, i);
        const struct tm_hlo_op *start = wait ? tm_rows_at(ops, wait->start) : NULL;
        struct tm_hlo_op begun, *op;

        if (!start)
            return hlo->run->error.status;
        begun = *start;
        op = tm_rows_change(ops, wait->op);
        if (!op)
            return hlo->run->error.status;
        op->message_bytes = begun.message_bytes;
        op->group_size = begun.group_size;
        op->groups = begun.groups;
    }
    return TM_OK;
}
