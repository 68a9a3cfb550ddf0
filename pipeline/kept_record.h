/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_KEPT_RECORD_H
#define TM_KEPT_RECORD_H

#include "pipeline/source.h"
#include "pipeline/store/rows.h"

/* A record on its way through a sort or a store: a row of fixed size.  Arguments of up to 8 bytes go along, longer
 * ones wait in slots beside. */
struct tm_kept_record {
    struct tm_record record;
    uint32_t traits;
    uint32_t own_length; /* bytes of its own arguments */
    uint64_t args;       /* the bytes, or the number of their slot; with own arguments: where both lie, these first */
};
static_assert(sizeof(struct tm_kept_record) == 64, "a cache line, and 64 to a page of 4 KiB");

/* Where longer arguments wait: slots of sizeof(struct tm_allocation) bytes, TM_KEPT_ARGS_BYTES of them in memory, the
 * others in a spill file.  Zeroed but for account and own_bytes = none yet.  Own arguments take own_bytes and
 * TM_ARGUMENTS_MOST more: they are put in one after the other and read in as many places as there are tracks. */
struct tm_kept_args {
    enum tm_account account; /* which pays for the memory */
    size_t own_bytes;        /* of own arguments that lie in memory; TM_KEPT_LEAST_BYTES or more, where there are any */
    struct tm_run *run;
    struct tm_rows *slots;
    struct tm_rows *bytes; /* where own arguments lie */
    uint8_t *own;          /* TM_ARGUMENTS_MOST: those that were asked for last */
};
enum { TM_KEPT_ARGS_BYTES = 64 << 10, TM_KEPT_LEAST_BYTES = 512 << 10 };
/* What all of it takes.  own_bytes: 0 = there are no own arguments */
static inline size_t tm_kept_args_bytes(size_t own_bytes)
{
    return TM_KEPT_ARGS_BYTES + (own_bytes ? own_bytes + TM_ARGUMENTS_MOST : 0);
}

/* in:     row  written; need not be zeroed
 * errors: as of tm_rows.  Arguments longer than a struct tm_allocation are left out. */
tm_status tm_keep_record(struct tm_kept_args *args, struct tm_run *run, const struct tm_raw_record *raw,
                         struct tm_kept_record *row) TM_MUST_USE;
/* in: buffer  at least sizeof(struct tm_allocation) bytes, aligned as one; raw->args points to it afterwards */
tm_status tm_unkeep_record(const struct tm_kept_args *args, const struct tm_kept_record *row, void *buffer,
                           struct tm_raw_record *raw) TM_MUST_USE;
/* The record's own arguments.
 * out: raw->own  valid until the next call with the same args */
tm_status tm_unkeep_own(const struct tm_kept_args *args, const struct tm_kept_record *row,
                        struct tm_raw_record *raw) TM_MUST_USE;
/* Add the own arguments of one row to those of another.
 * out:    *is_cut  set where both are longer than TM_ARGUMENTS_MOST: whole nodes of `with` are left out */
tm_status tm_kept_args_join(struct tm_kept_args *args, struct tm_kept_record *row, const struct tm_kept_record *with,
                            bool *is_cut) TM_MUST_USE;
void tm_kept_args_free(struct tm_kept_args *args); /* tolerates a zeroed one */

#endif
