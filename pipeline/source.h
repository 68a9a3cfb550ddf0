/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SOURCE_H
#define TM_SOURCE_H

#include <string.h>

#include "pipeline/arguments.h"
#include "pipeline/store/rows.h"
#include "pipeline/trace.h"

/* A trace that has been scanned: its dictionary is complete, and its records can be read track by track, repeatedly. 
 * An input format implements it; the survey and the ordering read it. */

/* The properties that all records of one call site share.  A program runs the same kernels from the same places
 * repeatedly: in nearly every event, only the times and the correlation id are new.  A record therefore passes through
 * stores, batches, and the order as these three values and the number of its signature, 28 bytes instead of 96, and
 * everything that follows from a name or launch facts is computed once per number. */
struct tm_signature {
    tm_strid name;
    uint32_t config, common;
    uint32_t track;
    uint32_t traits; /* of the name */
    uint8_t class, kind;
    uint16_t flags;
};
static_assert(sizeof(struct tm_signature) == 24, "without a gap: all of it is hashed");

enum { TM_SIGNATURES_MOST = (1 << 15) - 1 /* a row of the record store has 15 bits for one */ };

/* The signatures of a source, numbered from 1 in the order of first occurrence.  When the memory is used up, new ones
 * get no number. */
struct tm_signatures {
    struct tm_run *run;
    struct tm_signature *rows; /* `room` of them; number n is at n */
    uint16_t *slots;           /* twice as many: numbers by hash; 0 = empty */
    uint32_t count, room;
    size_t memory_bytes, drawn_bytes; /* its own, for the old ones and the new ones while it grows, and from the pool */
    uint64_t seed;
};

/* in:     memory_bytes  of TM_ACCOUNT_INPUT, before the pool is used
 * owns:   the caller releases them (zeroed ones are tolerated)
 * errors: in run->error; then no signature gets a number */
void tm_signatures_init(struct tm_signatures *signatures, struct tm_run *run, size_t memory_bytes);
void tm_signatures_release(struct tm_signatures *signatures);

/* A record from the input, with its additional data. */
struct tm_raw_record {
    struct tm_record record; /* class: the class of its category, else TM_CLASS_UNRESOLVED */
    const void *args;        /* record.args_length bytes; borrowed until the next record of the cursor */
    uint32_t traits;         /* of its name */
    uint32_t signature;      /* its number: it has no arguments besides those of its template. 0 = it has none */
    struct tm_arguments
        own; /* the event's own data, if requested; borrowed until the next request.  Else NULL, and possibly its
              * length */
};

/* The number of a record's signature, a new one if necessary; 0: it gets none, like records that have arguments. */
uint32_t tm_signature_of(struct tm_signatures *signatures, const struct tm_raw_record *raw);

/* Complete a record that has its times, correlation and number. */
static inline void tm_fill_record(const struct tm_signatures *signatures, struct tm_raw_record *raw)
{
    const struct tm_signature *const s = &signatures->rows[raw->signature];
    struct tm_record *const r = &raw->record;

    r->name = s->name;
    r->track = s->track;
    r->config = s->config;
    r->common = s->common;
    r->args_length = 0;
    r->class = s->class;
    r->kind = s->kind;
    r->flags = s->flags;
    raw->args = NULL;
    raw->traits = s->traits;
}

/* What args may point to; the code that makes records has room for one. */
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

/* The next records of a track at once: columns of those that have a signature, and after them perhaps one that has
 * none. */
enum { TM_BATCH_RECORDS = 168 /* as many as a block of the record store has */ };

struct tm_batch {
    uint32_t count;
    bool has_other; /* one without a number follows them */
    bool is_last;   /* nothing follows */
    bool keeps_own; /* in: own arguments will be requested: records with arguments become `other` */
    int64_t start_ps[TM_BATCH_RECORDS], dur_ps[TM_BATCH_RECORDS];
    uint64_t correlation[TM_BATCH_RECORDS];
    uint16_t signature[TM_BATCH_RECORDS];
    struct tm_raw_record other;
    union tm_args args; /* of the other one */
};

/* What tm_fill_record needs, for record `i` up to and including the other one. */
static inline void tm_batch_get(const struct tm_batch *batch, uint32_t i, struct tm_raw_record *raw)
{
    if (i == batch->count) {
        *raw = batch->other;
        return;
    }
    raw->record.start_ps = batch->start_ps[i];
    raw->record.dur_ps = batch->dur_ps[i];
    raw->record.correlation = batch->correlation[i];
    raw->signature = batch->signature[i];
    raw->own.length = 0;
}

/* Records that have a number, of several tracks in one order. */
enum { TM_MERGED_RECORDS = 256 };

struct tm_merged {
    uint32_t count;
    int64_t start_ps[TM_MERGED_RECORDS], dur_ps[TM_MERGED_RECORDS];
    uint64_t correlation[TM_MERGED_RECORDS];
    const struct tm_track *track[TM_MERGED_RECORDS];
    uint16_t signature[TM_MERGED_RECORDS];
};

/* What tm_fill_record needs. */
static inline void tm_merged_get(const struct tm_merged *merged, uint32_t i, struct tm_raw_record *raw)
{
    raw->record.start_ps = merged->start_ps[i];
    raw->record.dur_ps = merged->dur_ps[i];
    raw->record.correlation = merged->correlation[i];
    raw->signature = merged->signature[i];
    raw->own.length = 0;
}

/* Put a record into a batch that has room.  true: it has a number, another one may follow it */
bool tm_batch_put(struct tm_batch *batch, struct tm_signatures *signatures, const struct tm_raw_record *raw);

/* The same of a record whose number is known. */
static inline void tm_batch_put_number(struct tm_batch *batch, uint32_t number, const struct tm_raw_record *raw)
{
    const uint32_t i = batch->count++;

    batch->start_ps[i] = raw->record.start_ps;
    batch->dur_ps[i] = raw->record.dur_ps;
    batch->correlation[i] = raw->record.correlation;
    batch->signature[i] = (uint16_t)number;
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
    /* The next records, one or more, but at the end: batch->is_last.  The batch is empty before.  NULL: tm_next_batch 
     * requests each. */
    tm_status (*next_batch)(struct tm_cursor *cursor, struct tm_batch *batch);
    /* Fill raw->own of the record that the cursor returned last, for a batch the `other` one; only if
     * trace->keeps_arguments.  The bytes are valid until the next call on any cursor of the source. */
    tm_status (*own)(struct tm_cursor *cursor, struct tm_raw_record *raw);
    void (*close)(struct tm_cursor *cursor); /* tolerates NULL */
    void (*free)(struct tm_source *source);
};

struct tm_source {
    const struct tm_source_type *type;
    struct tm_trace *trace;
    struct tm_signatures *signatures; /* of its records; owned by the object that made it */
};

/* The next records of any cursor.
 * out: batch  valid until it is filled again; is_last, after which nothing is requested: also where the run has
 * failed */
void tm_next_batch(struct tm_cursor *cursor, struct tm_batch *batch);

/* A record in a sort or a store: a row of fixed size.  Arguments of up to 8 bytes are in the row, longer ones in
 * separate slots. */
struct tm_kept_record {
    struct tm_record record;
    uint32_t traits;
    uint32_t own_length; /* bytes of its arguments */
    uint64_t args;       /* the bytes, or the number of their slot; with own arguments: the position of both, own
                          * arguments first */
};

static_assert(sizeof(struct tm_kept_record) == 64, "a cache line, and 64 to a page of 4 KiB");

/* Storage for longer arguments: slots of sizeof(struct tm_allocation) bytes, TM_KEPT_ARGS_BYTES of them in memory, the
 * others in a spill file.  Zeroed except for account and own_bytes = none yet.  Own arguments take own_bytes plus
 * TM_ARGUMENTS_MOST: they are appended in order and read at as many positions as there are tracks. */
struct tm_kept_args {
    enum tm_account account; /* which is charged for the memory */
    size_t own_bytes;        /* of own arguments in memory; at least TM_KEPT_LEAST_BYTES if there are any */
    struct tm_run *run;
    struct tm_rows *slots;
    struct tm_rows *bytes; /* the position of own arguments */
    uint8_t *own;          /* TM_ARGUMENTS_MOST: those that were requested last */
};

enum { TM_KEPT_ARGS_BYTES = 64 << 10, TM_KEPT_LEAST_BYTES = 512 << 10 };

/* Its total memory. own_bytes: 0 = there are no own arguments */
static inline size_t tm_kept_args_bytes(size_t own_bytes)
{
    return TM_KEPT_ARGS_BYTES + (own_bytes ? own_bytes + TM_ARGUMENTS_MOST : 0);
}

/* in:     row  written; need not be zeroed
 * errors: as in tm_rows.  Arguments longer than a struct tm_allocation are left out. */
tm_status tm_keep_record(struct tm_kept_args *args, struct tm_run *run, const struct tm_raw_record *raw,
                         struct tm_kept_record *row);
/* in: buffer  at least sizeof(struct tm_allocation) bytes, aligned as one; raw->args points to it afterwards */
tm_status tm_unkeep_record(const struct tm_kept_args *args, const struct tm_kept_record *row, void *buffer,
                           struct tm_raw_record *raw);

/* The record's own arguments.
 * out:    raw->own  valid until the next call with the same args */
tm_status tm_unkeep_own(const struct tm_kept_args *args, const struct tm_kept_record *row, struct tm_raw_record *raw);

/* Append the own arguments of one row to those of another.
 * out:    *is_cut  set if both are longer than TM_ARGUMENTS_MOST: complete nodes of `with` are dropped */
tm_status tm_kept_args_join(struct tm_kept_args *args, struct tm_kept_record *row, const struct tm_kept_record *with,
                            bool *is_cut);
void tm_kept_args_free(struct tm_kept_args *args); /* tolerates a zeroed one */

#endif
