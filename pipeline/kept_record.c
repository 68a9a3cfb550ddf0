/* SPDX-License-Identifier: Apache-2.0 */
/* Records as rows of 64 bytes.  Nearly all arguments are one number and lie in the row; those of allocations go to
 * slots in small pages, since they are read in about the order in which they were written. */
#include "pipeline/kept_record.h"

#include <string.h>

enum { SLOT_BYTES = sizeof(struct tm_allocation), SLOT_PAGE_BYTES = 8 << 10 };

static tm_status put_slot(struct tm_kept_args *args, struct tm_run *run, const struct tm_raw *raw, uint64_t *number)
{
    uint8_t slot[SLOT_BYTES] = { 0 };

    args->run = run;
    if (!args->slots)
        args->slots = tm_rows_new_paged(run, args->account, SLOT_BYTES, TM_KEPT_ARGS_BYTES, SLOT_PAGE_BYTES);
    if (!args->slots)
        return run->error.status;
    memcpy(slot, raw->args, raw->record.args_length);
    *number = tm_rows_count(args->slots);
    return tm_rows_append(args->slots, slot);
}

tm_status tm_keep_record(struct tm_kept_args *args, struct tm_run *run, const struct tm_raw *raw,
                         struct tm_kept_record *row)
{
    const uint32_t length = raw->record.args_length;

    *row = (struct tm_kept_record){ .record = raw->record, .traits = raw->traits };
    if (length == 0)
        return TM_OK;
    if (length <= sizeof(row->args)) {
        memcpy(&row->args, raw->args, length);
        return TM_OK;
    }
    if (length <= SLOT_BYTES)
        return put_slot(args, run, raw, &row->args);
    row->record.args_length = 0;
    return TM_OK;
}

tm_status tm_unkeep_record(const struct tm_kept_args *args, const struct tm_kept_record *row, void *buffer,
                           struct tm_raw *raw)
{
    *raw = (struct tm_raw){ .record = row->record, .args = buffer, .traits = row->traits };
    if (row->record.args_length > sizeof(row->args)) {
        const void *slot = tm_rows_at(args->slots, row->args);

        if (!slot)
            return args->run->error.status;
        memcpy(buffer, slot, row->record.args_length);
    } else {
        memcpy(buffer, &row->args, sizeof(row->args));
    }
    return TM_OK;
}

void tm_kept_args_free(struct tm_kept_args *args)
{
    tm_rows_free(args->slots);
    args->slots = NULL;
}
