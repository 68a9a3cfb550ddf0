/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FIGURE_ROWS_H
#define TM_FIGURE_ROWS_H

#include <stdint.h>

#include "pipeline/doc/doc.h"
#include "pipeline/partial.h"
#include "pipeline/run.h"
#include "pipeline/stage.h"
#include "pipeline/store/bounded_sum.h"
#include "pipeline/store/names.h"
#include "pipeline/store/sorter.h"
#include "stages/figures/fields.h"

/* Names in a table of the summary: complete up to 8 KiB while there is room for them, else cut at 256 bytes.  The room
 * depends only on the number of rows, so the summary does not depend on the memory limit. */
struct tm_listed_texts {
    struct tm_names *names;
    size_t room_bytes; /* left for whole strings */
};

/* in: rows  most rows that the table may have */
struct tm_listed_texts tm_listed_texts(struct tm_names *names, uint64_t rows);

/* Add a string; what is cut ends between two characters, and in "...". */
tm_status tm_listed_text_add(struct tm_listed_texts *texts, struct tm_value *to, const char *key, tm_strid id);
/* The same, or null with a reason if there is none. */
tm_status tm_listed_text_or(struct tm_listed_texts *texts, struct tm_value *to, const char *key, tm_strid id,
                            const char *why);

/* Add a name of the trace to an object of the summary; a long one is truncated as in figure_rows.h. */
tm_status tm_add_name(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id);
/* The same where 0 means that there is none: null, with the reason. */
tm_status tm_add_known_name(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id, const char *why);
/* The same, its first `most` bytes; 0 = all of them. */
tm_status tm_add_name_cut(struct tm_value *to, const char *key, struct tm_names *names, tm_strid id, size_t most,
                          const char *why);

/* Strings of the rows of a table: complete while there is room for long ones, else cut.  The room depends only on the
 * number of rows, so the summary does not depend on the memory limit. */
enum { TM_ROW_TEXT_CUT = 256, TM_ROW_TEXT_ROOM = 512 /* for each row */ };

/* The longest prefix of at most `most` bytes that does not cut a character in two. */
size_t tm_whole_characters(const char *text, size_t length, size_t most);

/* Add a string; what is cut ends between two characters, and in "...".
 * in: *room  bytes left for strings longer than TM_ROW_TEXT_CUT; becomes less */
void tm_add_row_text(struct tm_value *to, const char *key, const char *text, size_t length, size_t *room);

/* In percent; 0 = a share of nothing. */
static inline double tm_share_of(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* The longest of some events; of equal ones that of the first host, the earliest one. */
struct tm_longest {
    int64_t dur_ps, start_ps;
    uint32_t host;
};

extern const struct tm_row_field tm_longest_fields[]; /* for TM_FIELD_STRUCTS; tm_longest_merge merges */
void tm_longest_merge(struct tm_longest *into, const struct tm_longest *from);

/* The first rows, in some order, of any number of rows: a heap of as many as are requested. */
struct tm_top_rows;

/* in:     most          number of rows to keep
 *         memory_bytes  limit for the kept rows, which always take this much
 *         order         must not treat two different rows as equal, or the result depends on their sequence
 * errors: NULL, with the error in run->error */
struct tm_top_rows *tm_top_rows_new(struct tm_run *run, enum tm_account account, size_t row_bytes, uint64_t most,
                                    size_t memory_bytes, tm_row_order *order) TM_MUST_USE;
void tm_top_rows_free(struct tm_top_rows *top);

/* The rows of a table that is listed in the summary.  They wait in the account of sorting, which is unused once the
 * hosts are read: as many as --rows allows fit into it, with the least memory too.
 * in:     as in tm_top_rows_new */
struct tm_top_rows *tm_listed_rows_new(struct tm_run *run, size_t row_bytes, uint64_t most,
                                       tm_row_order *order) TM_MUST_USE;

/* Whether a row would be kept now: if not, only what the order needs has to be found. */
bool tm_top_rows_keep(const struct tm_top_rows *top, const void *row);
/* errors: TM_ERR_LIMIT if the rows that were requested do not fit */
tm_status tm_top_rows_add(struct tm_top_rows *top, const void *row);
/* Put the kept rows in order.  No more rows come. */
void tm_top_rows_sort(struct tm_top_rows *top);

uint64_t tm_top_rows_count(const struct tm_top_rows *top);
size_t tm_top_rows_row_bytes(const struct tm_top_rows *top);
void *tm_top_rows_at(struct tm_top_rows *top, uint64_t index); /* the kept rows are adjacent */

/* A set of devices, each a bit by its number modulo 64: how many ran something, as long as they are at most 64. */
static inline uint64_t tm_device_bit(uint32_t number)
{
    return UINT64_C(1) << number % 64;
}

/* The same devices where their numbers are larger by this many. */
static inline uint64_t tm_move_device_bits(uint64_t devices, uint32_t by)
{
    const unsigned shift = by % 64;

    return shift ? devices << shift | devices >> (64 - shift) : devices;
}

/* The standard deviation, with n - 1, in integer picoseconds; null with why for fewer than two durations, and if a sum
 * has saturated. */
void tm_add_stddev(struct tm_value *to, const char *key, uint64_t count, int64_t sum_ps, struct tm_wide squares);

/* How the stages divide the account of tables, in 64ths: at most 64 in total.  Each divides its part among its
 * tables. */
enum tm_tables_part {
    TM_TABLES_SITES = 5, /* feed.c */
    TM_TABLES_KERNELS = 14,
    TM_TABLES_TRANSFERS = 6,
    TM_TABLES_COLLECTIVES = 7,
    TM_TABLES_COMPILE = 5,
    TM_TABLES_BALANCE = 2,
    TM_TABLES_FUSION = 5,
    TM_TABLES_OCCUPANCY = 2,
    TM_TABLES_OPS = 6,
    TM_TABLES_SCOPES = 4,
    TM_TABLES_HOST = 4,
    TM_TABLES_FALLBACK = 2,
    TM_TABLES_SHARDING = 1,
    TM_TABLES_PROFILES = 1,
};

/* in:     part    of the stage
 *         into    number of equal shares of that part; shares  how many of them the table gets
 * out:    bytes */
static inline size_t tm_tables_memory(const struct tm_run *run, enum tm_tables_part part, unsigned of, unsigned shares)
{
    return tm_budget_share(&run->budget, TM_ACCOUNT_TABLES) / 64 * (size_t)part / of * shares;
}

/* Rows of a cache, which no result depends on: a power of two that fits, from 64 to 16384. */
static inline uint32_t tm_cache_rows(size_t memory_bytes, size_t row_bytes)
{
    uint32_t rows = 64;

    while (rows < 16384 && 2 * rows * row_bytes <= memory_bytes)
        rows *= 2;
    return rows;
}

/* The devices of a run, of all hosts, numbered in order of occurrence, for stages that compare devices.  Only those
 * with an activity count.  Zeroed is empty. */
struct tm_run_member {
    char device[192]; /* id: "vm/gpu:0" */
    uint32_t host;    /* of the run, from 0 */
    uint32_t index;   /* into the devices of its host's trace, if that was read here */
};

struct tm_members {
    struct tm_run_member *rows;
    uint32_t count, most;
    uint32_t host_count;
    uint32_t by_device[TM_DEVICES_MOST]; /* of the current host; TM_NONE = has no activity */
};

/* The devices of one more host.  errors: TM_ERR_LIMIT in run->error, as of loading */
void tm_members_begin_host(struct tm_members *m, struct tm_run *run, const struct tm_trace *trace);
void tm_members_free(struct tm_members *m, struct tm_run *run);

/* In a partial.  Loaded devices follow the existing ones. out: the number of its first device */
void tm_members_save(const struct tm_members *m, struct tm_partial_writer *w);
uint32_t tm_members_load(struct tm_members *m, struct tm_run *run, struct tm_partial_reader *r);

/* The number of a step according to its marker: the same step has the same number on all hosts.
 * in:     step    ordinal of the step on this host, or TM_NONE
 * out:    TM_NO_STEP where the event is in no step, or the session is one */
#define TM_NO_STEP INT64_MIN
int64_t tm_step_number(const struct tm_trace *trace, uint32_t step);

#endif
