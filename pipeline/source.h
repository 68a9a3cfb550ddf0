/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SOURCE_H
#define TM_SOURCE_H

#include <string.h>

#include "pipeline/arguments.h"
#include "pipeline/store/rows.h"
#include "pipeline/trace.h"

/* A trace that has been scanned: its dictionary stands, its records can be read track by track, as often as
 * wanted.  An input format implements it; the survey and the ordering read it. */

/* A record as the input gives it, with what goes along with it. */
struct tm_raw_record {
    struct tm_record record; /* class: what its own category says, else TM_CLASS_UNRESOLVED */
    const void *args;        /* record.args_length bytes; borrowed until the next record of the cursor */
    uint32_t traits;         /* of its name */
    uint32_t shape;          /* records of one track and kind with the same number differ in times and correlation at
                                most, and have no arguments; 0 = not numbered */
    struct tm_arguments own; /* what the event itself says, where it was asked for; borrowed until asked again */
};

/* What args may be; whoever makes records has room for one. */
union tm_args {
    struct tm_allocation allocation;
    struct tm_number number;
};

static inline void tm_raw_number(struct tm_raw_record *raw, union tm_args *args, int64_t value)
{
    args->number.value = value;
    raw->args = &args->number;
    raw->record.args_length = sizeof(args->number);
}

/* out:    the allocation, for the caller to fill */
static inline struct tm_allocation *tm_raw_allocation(struct tm_raw_record *raw, union tm_args *args)
{
    raw->args = &args->allocation;
    raw->record.args_length = sizeof(args->allocation);
    return &args->allocation;
}

/* Records that are read at once: up to TM_BATCH_RECORDS, each with room for its args. */
enum { TM_BATCH_RECORDS = 32 };

struct tm_batch {
    size_t count;
    bool is_last; /* none follows */
    struct tm_raw_record raws[TM_BATCH_RECORDS];
    union tm_args args[TM_BATCH_RECORDS];
};

/* The record behind the last one is there: it counts, and its args become the batch's own. */
static inline void tm_batch_keep(struct tm_batch *batch)
{
    struct tm_raw_record *const raw = &batch->raws[batch->count];

    if (raw->record.args_length) {
        union tm_args *const args = &batch->args[batch->count];

        memcpy(args, raw->args, raw->record.args_length < sizeof(*args) ? raw->record.args_length : sizeof(*args));
        raw->args = args;
    }
    batch->count++;
}

struct tm_source;

/* A place in the records of one track.  Inputs embed it as the first member of their own cursor. */
struct tm_cursor {
    struct tm_source *source;
    uint64_t track;
    bool counts; /* tallies and events read are counted: set for one reading of each track */
};

struct tm_source_type {
    const char *name; /* "xspace" */
    /* Open the records of a track, read through a buffer of buffer_bytes.
     * owns: the caller closes the cursor.  errors: NULL, with the error in run->error */
    struct tm_cursor *(*open)(struct tm_source *source, uint64_t track, size_t buffer_bytes);
    /* The next record in the order of the file; *more false at the end. */
    tm_status (*next)(struct tm_cursor *cursor, struct tm_raw_record *raw, bool *more);
    /* As many of the next records as a batch holds; fewer, or none, only at the end: batch->is_last.  An event
     * takes 100 instructions less than one by one.  NULL: tm_next_batch asks for each. */
    tm_status (*next_batch)(struct tm_cursor *cursor, struct tm_batch *batch);
    /* Fill raw->own of the record that the cursor gave out last; only where trace->keeps_arguments.  The bytes are
     * valid until the next call of it on any cursor of the source. */
    tm_status (*own)(struct tm_cursor *cursor, struct tm_raw_record *raw);
    void (*close)(struct tm_cursor *cursor); /* tolerates NULL */
    void (*free)(struct tm_source *source);
};

struct tm_source {
    const struct tm_source_type *type;
    struct tm_trace *trace;
};

/* The next records of any cursor; own arguments cannot be asked for.
 * out: batch  valid until it is filled again; is_last, behind which nothing is asked for: also where the run has failed */
void tm_next_batch(struct tm_cursor *cursor, struct tm_batch *batch);

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
                         struct tm_kept_record *row);
/* in: buffer  at least sizeof(struct tm_allocation) bytes, aligned as one; raw->args points to it afterwards */
tm_status tm_unkeep_record(const struct tm_kept_args *args, const struct tm_kept_record *row, void *buffer,
                           struct tm_raw_record *raw);

/* The record's own arguments.
 * out: raw->own  valid until the next call with the same args */
tm_status tm_unkeep_own(const struct tm_kept_args *args, const struct tm_kept_record *row, struct tm_raw_record *raw);

/* Add the own arguments of one row to those of another.
 * out:    *is_cut  set where both are longer than TM_ARGUMENTS_MOST: whole nodes of `with` are left out */
tm_status tm_kept_args_join(struct tm_kept_args *args, struct tm_kept_record *row, const struct tm_kept_record *with,
                            bool *is_cut);
void tm_kept_args_free(struct tm_kept_args *args); /* tolerates a zeroed one */

#endif
