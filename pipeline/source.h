/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SOURCE_H
#define TM_SOURCE_H

#include "pipeline/arguments.h"
#include "pipeline/trace.h"

/* A trace that has been scanned: its dictionary stands, its records can be read track by track, as often as
 * wanted.  An input format implements it; the survey and the ordering read it. */

/* A record as the input gives it, with what goes along with it. */
struct tm_raw_record {
    struct tm_record record; /* class: what its own category says, else TM_CLASS_UNRESOLVED */
    const void *args;        /* record.args_length bytes; borrowed until the next record of the cursor */
    uint32_t traits;         /* of its name */
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

#endif
