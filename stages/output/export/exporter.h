/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_EXPORTER_H
#define TM_EXPORTER_H

#include "stages/output/derived/derived.h"
#include "stages/output/export/event_filter.h"
#include "stages/output/export/lanes.h"
#include "stages/output/name_answers.h"
#include "stages/output/rows/out_rows.h"
#include "stages/output/trace_writer.h"

/* From ordered events to calls of a trace writer: rows, lanes, cuts, counters, arrows; docs/convert.md says what
 * becomes of what.  One exporter writes one output: a file, or the parts of it one after the other.
 * Memory: the account `threads` for what is open; a quarter of `model` for the rows, and half a MiB for the counters;
 * less than 1 MiB of `tables`, whose rest is for the writer and its file. */
struct tm_exporter;

/* What has been written since the file was begun. */
struct tm_export_counts {
    uint64_t slices;     /* pieces of spans that have begun, instants too */
    uint64_t counters;   /* values */
    uint64_t arrows;     /* that show in it: their later end was written, and the one before it in this file */
    uint64_t arrow_ends; /* of arrows that the input has */
    uint64_t rows;
    uint64_t pieces;           /* slices that go on from the part before */
    int64_t first_ps, last_ps; /* of its slices and counters, on the output's clock; first after last = nothing */
};

/* Asked before each event, when everything that ended before its begin has been written.  Times are on the output's
 * clock.
 * in:  open_spans  that are not ended yet, and would go on in the next file
 * out: true: the present file is to end at time_ps, and another one begins there */
typedef bool tm_wants_cut(void *to, const struct tm_export_counts *counts, uint64_t raw_bytes, size_t open_spans,
                          int64_t time_ps);

/* The file that was written ends at time_ps: the writer has ended it.  Which one is to be written next?  The writer
 * begins it.
 * out: *next  never NULL */
typedef tm_status tm_next_file(void *to, const struct tm_export_counts *counts, int64_t time_ps,
                               struct tm_out_file **next);

struct tm_export_options {
    struct tm_trace_writer *writer;
    const struct tm_filter *filter; /* NULL = everything */
    struct tm_derived *derived;     /* NULL = --plain; it is asked for the rows of each host that begins */
    /* Only what lies on this device: index into the devices of the host; TM_NONE: what lies on none */
    bool has_device;
    uint32_t device;
    bool names_hosts;        /* rows of several hosts in one output: processes begin with the host's name */
    tm_wants_cut *wants_cut; /* NULL = never */
    tm_next_file *next_file;
    void *to; /* of both */
};

/* in:     names  of everything
 * owns:   keeps names, and what options point to
 * errors: NULL, with the error in run->error */
struct tm_exporter *tm_exporter_new(struct tm_run *run, struct tm_names *names,
                                    const struct tm_export_options *options) TM_MUST_USE;
void tm_exporter_free(struct tm_exporter *e); /* tolerates NULL */

/* A file has begun (writer->begin_file was called); counts begin with 0. */
void tm_exporter_begin_file(struct tm_exporter *e);

/* A host's events follow, ordered by tm_order.
 * in:     trace      surveyed; it keeps arguments
 *         offset_ps  where its time 0 lies on the output's clock: the caller sees to it that nothing of it is negative
 * errors: TM_ERR_LIMIT  something is; more spans are open at once than there is memory for */
tm_status tm_exporter_begin_host(struct tm_exporter *e, const struct tm_trace *trace, int64_t offset_ps) TM_MUST_USE;
tm_status tm_exporter_take(struct tm_exporter *e, const struct tm_event *event) TM_MUST_USE;
/* Everything that is open ends. */
tm_status tm_exporter_end_host(struct tm_exporter *e) TM_MUST_USE;
const struct tm_export_counts *tm_exporter_counts(const struct tm_exporter *e);

/* Series whose last value is known, of a host; the others are written, but not again at the begin of a part. */
enum { TM_SERIES_MOST = 1 << 15 };

/* Arrows that are known to have begun in the present file: sets of some of them, those that were used last. */
enum { TM_ARROW_SETS = 4096, TM_ARROW_WAYS = 8 };

/* Counters of the present host, by what tells them apart. */
struct tm_series_table {
    struct tm_rows *rows; /* struct tm_series: exporter_series.c */
    uint32_t *slots;      /* number of a row, plus 1; slot_count: a power of two */
    size_t slot_count;
    uint64_t seed;
};

struct tm_lost_flows {
    uint64_t *ids; /* 2 * TM_LOST_FLOWS_MOST places, 0 = free; NULL = none yet */
    size_t count;
    uint64_t seed;
};

enum { TM_KNOWN_KEYS = 256 };

struct tm_exporter {
    struct tm_run *run;
    struct tm_names *names;
    struct tm_export_options options;
    struct tm_trace_writer *writer;
    struct tm_event_filter *filter; /* NULL = everything */
    struct tm_lanes *lanes;
    struct tm_out_rows *rows;
    struct tm_series_table series;
    struct tm_lost_flows lost;
    struct tm_export_counts counts;
    bool may_cut;
    bool ends_at_once;                         /* a span is written as a whole when it begins */
    uint64_t (*begun)[TM_ARROW_WAYS];          /* TM_ARROW_SETS: arrows; 0 = free */
    uint8_t *common;                           /* TM_ARGUMENTS_MOST: the common arguments that were asked for last */
    struct tm_name_answer keys[TM_KNOWN_KEYS]; /* of arguments: whether it is "counter_value" */
    tm_strid no_name, own_category, bytes_unit, percent_unit, classes[TM_CLASS_COUNT];
    struct tm_key counter_value;
    /* of the present host */
    const struct tm_trace *trace;
    int64_t offset_ps, now_ps; /* now: on the output's clock */
    uint64_t track_count;
    bool has_arrows; /* of the file's own */
    bool is_cut;     /* it began in an earlier file */
    size_t empty_spans, kept_together;
    const struct tm_derived_row *derived; /* the next one that is wanted; NULL = none */
    struct tm_wanted derived_part;        /* of it, on the output's clock */
};

static inline void tm_exporter_note_time(struct tm_exporter *e, int64_t time_ps)
{
    e->counts.first_ps = time_ps < e->counts.first_ps ? time_ps : e->counts.first_ps;
    e->counts.last_ps = time_ps > e->counts.last_ps ? time_ps : e->counts.last_ps;
}

/* exporter_series.c */
tm_status tm_exporter_begin_counters(struct tm_exporter *e) TM_MUST_USE; /* of a host */
void tm_exporter_end_counters(struct tm_exporter *e);
/* The last values again, in a file that has begun. */
tm_status tm_exporter_repeat_counters(struct tm_exporter *e, int64_t time_ps) TM_MUST_USE;

#endif
