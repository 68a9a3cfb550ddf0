/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/kept_record.h"

#include <string.h>

tm_status tm_keep_record(struct tm_kept_args *args, struct tm_run *run, const struct tm_raw *raw,
                         struct tm_kept_record *row)
{
    const uint32_t length = raw->record.args_length;
    tm_status st = TM_OK;

    *row = (struct tm_kept_record){ .record = raw->record, .traits = raw->traits };
    if (length > sizeof(struct tm_allocation)) {
        row->record.args_length = 0;
    } else if (length > sizeof(row->args)) {
        if (!args->file.run)
            st = tm_spill_open(&args->file, run);
        if (st == TM_OK)
            st = tm_spill_append(&args->file, raw->args, length, &row->args);
    } else if (length) {
        memcpy(&row->args, raw->args, length);
    }
    return st;
}

tm_status tm_unkeep_record(const struct tm_kept_args *args, const struct tm_kept_record *row, void *buffer,
                           struct tm_raw *raw)
{
    const uint32_t length = row->record.args_length;

    *raw = (struct tm_raw){ .record = row->record, .args = buffer, .traits = row->traits };
    if (length > sizeof(row->args))
        return tm_spill_read(&args->file, buffer, length, row->args);
    memcpy(buffer, &row->args, sizeof(row->args));
    return TM_OK;
}

void tm_kept_args_free(struct tm_kept_args *args)
{
    if (args->file.run)
        tm_spill_close(&args->file);
}
