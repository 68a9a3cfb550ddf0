/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TRACE_WRITER_H
#define TM_TRACE_WRITER_H

#include "pipeline/clock.h"
#include "pipeline/argument_templates.h"
#include "pipeline/arguments.h"
#include "pipeline/redact.h"
#include "pipeline/stage.h"
#include "pipeline/trace.h"
#include "stages/output/file/out_file.h"

/* A trace output format.  Calls come in time order and are validated: spans of a row nest, at most 512 deep; in each
 * file, every row's process comes before it, and every row before the events on it.  Times are picoseconds on the
 * output's clock and never negative; a format that counts in nanoseconds rounds starts and ends alike (tm_out_ns),
 * never durations, so nesting is preserved. */

static inline int64_t tm_out_ns(int64_t ps)
{
    return (int64_t)(((uint64_t)ps + 500) / 1000);
}

enum tm_out_sort {
    TM_OUT_PROCESS,
    TM_OUT_GROUP,   /* computed rows of a host that belong to none of its processes: a process too if the format has
                     * nothing else.  One of its rows may have its uuid: if a group can have spans, they are the group's
                     * own */
    TM_OUT_THREAD,  /* with pid and tid */
    TM_OUT_LANE,    /* of a thread or a row: what does not nest on it; parent is its uuid, or that of our own group */
    TM_OUT_ROW,     /* of a process, without a thread; it still has a tid, for formats that know only threads */
    TM_OUT_COUNTER, /* of a process */
};

/* A row in the viewer. */
struct tm_out_row {
    uint64_t uuid;    /* the same in every part of a trace; never 0 */
    uint64_t parent;  /* uuid; 0 of processes */
    uint8_t sort;     /* enum tm_out_sort */
    uint32_t lane;    /* of lanes: their number, from 1; else 0 */
    int32_t pid, tid; /* unique in the output; of lanes their own tid; 0 < pid, and tid of all but processes
                             and counters */
    tm_strid name;
    tm_strid process; /* name of its process */
    tm_strid unit;    /* of counters: "bytes", "%"; 0 = none */
    int64_t order;    /* among its siblings, smaller first */
};

/* Its position in 32 bits, the size that viewers use. */
static inline int32_t tm_out_rank(const struct tm_out_row *row)
{
    return row->order > INT32_MAX ? INT32_MAX : row->order < INT32_MIN ? INT32_MIN : (int32_t)row->order;
}

enum tm_out_mark {
    TM_OUT_CUT_BEGIN = 1 << 0, /* it started before: in the part before, or outside the filter */
    TM_OUT_CUT_END = 1 << 1,   /* it continues: in the next part, or outside the filter */
    TM_OUT_CUTS = TM_OUT_CUT_BEGIN | TM_OUT_CUT_END,
    TM_OUT_UNFINISHED = 1 << 2, /* the input has no end of it */
    TM_OUT_DERIVED = 1 << 3,    /* computed, not recorded: all its arguments are written, whatever --args says */
    TM_OUT_PUBLIC = 1 << 4,     /* of the derived ones: made from redacted data, if there is any */
    /* Of the pieces of a span that is in several parts, beside the marks of their cuts. */
    TM_OUT_CONTINUES = 1 << 5, /* it started in the part before */
    TM_OUT_CONTINUED = 1 << 6, /* it continues in the next part */
    TM_OUT_CLIPPED = 1 << 7,   /* the first piece started outside the filter */
    TM_OUT_PIECES = TM_OUT_CONTINUES | TM_OUT_CONTINUED | TM_OUT_CLIPPED,
};

/* A span or an instant. */
struct tm_out_event {
    const struct tm_out_row *row;
    int64_t start_ps, end_ps;             /* of this piece */
    int64_t whole_begin_ps, whole_end_ps; /* before it was cut */
    tm_strid name;                        /* never 0 */
    tm_strid category;                    /* 0 = none */
    uint32_t template; /* 0 = none; else a template of the trace, and own has the values of its holes */
    uint8_t marks;     /* enum tm_out_mark: written as arguments (trace_writer.h) */
    bool is_instant;
    bool is_gap;                     /* computed: an idle gap; there may be as many as events */
    bool begins_flow;                /* it is the first span of its flow in this file that is known */
    struct tm_arguments own, common; /* both are written, own first; may be empty */
    uint32_t of_step;                /* of a computed step: its number in the order of the steps, from 1; 0 = another */
    uint64_t correlation;            /* for the holes of the template */
    uint64_t flow;                   /* spans of one number are joined by arrows in time order; 0 = none */
    const struct tm_event *of;       /* the event it was made from: in start and instant; NULL for computed ones */
    const struct tm_trace *trace;    /* of `of`, and of the template */
};

/* The own arguments as a list.
 * in:     whole  TM_TEMPLATE_WHOLE_MOST bytes for it */
static inline struct tm_arguments tm_out_own(const struct tm_out_event *event, uint8_t *whole)
{
    return event->template
               ? tm_arguments_whole(event->trace->templates, event->template, event->own, event->correlation, whole)
               : event->own;
}

/* An end of an arrow that the input has. */
struct tm_out_flow {
    const struct tm_out_row *row; /* on which an open span takes it */
    int64_t time_ps;
    uint64_t id;
    tm_strid name, category;
    uint8_t kind;     /* TM_FLOW_BEGIN, _STEP, _END */
    bool is_enclosed; /* to the span around it; false: to the next one that starts on the row */
};

/* The phase of Chrome's format that means the same. */
static inline char tm_out_flow_phase(const struct tm_out_flow *flow)
{
    return flow->kind == TM_FLOW_BEGIN ? 's' : flow->kind == TM_FLOW_STEP ? 't' : 'f';
}

struct tm_out_counter {
    const struct tm_out_row *row;
    int64_t time_ps;
    double value;  /* finite */
    int64_t whole; /* the same, where is_whole */
    bool is_whole;
    bool is_repeated;             /* the last one of the part before */
    const struct tm_trace *trace; /* if it was recorded; NULL for computed rows */
    int64_t start_ps;             /* its time on the clock of that trace */
};

/* What the file says about itself: strings without their quotes. */
struct tm_out_fact {
    const char *key, *value;
};

struct tm_writer_options {
    enum tm_args_level args;
    int64_t epoch_ns; /* the reading of the recording's clock at time 0, 0 = unknown; used by formats that can express
                       * it */
    bool is_gzip;     /* the file is compressed as one stream, and nothing in it separately */
    bool is_zstd;     /* Perfetto's format: packets are compressed with zstd, for viewers from version 58 on */
    bool kernels;     /* Perfetto's format: kernels again, as its GPU plugin reads them */
    const struct tm_out_fact *facts;
    size_t fact_count;
    const char
        *content; /* Perfetto's format: what the file has instead of a run: "overview", "comparison"; NULL = a run.
                          * Such a file is refused as an input: stages/input/perfetto */
};

struct tm_trace_writer;

/* Calls come in this order: (begin_file (row span... )* end_file)* free.  Failures are recorded in run->error; later
 * calls write nothing: check tm_failed. */
struct tm_trace_writer_type {
    /* Spans: begin, if set, is called when a span starts, end when it ends.
     * writes_ends: begin writes everything known, except for the marks of a cut, which are only complete at the end;
     * end receives row, end_ps, marks, and the uncut times.
     * Otherwise end receives the complete span: directly after begin if the output cannot be cut, in the order of
     * starts, outer before inner spans; if it can be cut, when the span ends, and of spans of a row that start and end
     * together outer ones come first, as readers expect. */
    bool writes_ends;
    /* The number of a flow is that of one arrow in the file, 1, 2, 3 ...: a flow whose start was forgotten starts again
     * with another one.  Else it is the same in all files. */
    bool numbers_flows;
    /* in: names  of everything that is written
     * errors: NULL, with the error in run->error */
    struct tm_trace_writer *(*open)(struct tm_run *run, struct tm_names *names,
                                    const struct tm_writer_options *options);
    void (*begin_file)(struct tm_trace_writer *w, struct tm_out_file *file);
    void (*row)(struct tm_trace_writer *w, const struct tm_out_row *row);
    /* Spans of these events will start soon, or not: what is known of them is fetched.  NULL: nothing is */
    void (*expect)(const struct tm_trace_writer *w, const struct tm_event *events, uint32_t count);
    void (*begin)(struct tm_trace_writer *w, const struct tm_out_event *event); /* NULL: not needed */
    void (*end)(struct tm_trace_writer *w, const struct tm_out_event *event);   /* likewise */
    void (*instant)(struct tm_trace_writer *w, const struct tm_out_event *event);
    void (*counter)(struct tm_trace_writer *w, const struct tm_out_counter *counter);
    void (*flow)(struct tm_trace_writer *w, const struct tm_out_flow *flow);
    void (*end_file)(struct tm_trace_writer *w);
    /* Bytes of the current file so far, before any compression. */
    uint64_t (*raw_bytes)(const struct tm_trace_writer *w);
    void (*free)(struct tm_trace_writer *w); /* tolerates NULL */
};

struct tm_trace_writer {
    const struct tm_trace_writer_type *type;
    struct tm_run *run;
    struct tm_trace_writer *inner; /* of a writer before another one: that one.  NULL = it writes the file itself */
    uint64_t arguments; /* of slices, at the top level, written so far, in all files; 0 if no estimate uses it */
};

/* raw_bytes of a writer before another one. */
static inline uint64_t tm_inner_raw_bytes(const struct tm_trace_writer *w)
{
    return w->inner->type->raw_bytes(w->inner);
}

extern const struct tm_trace_writer_type tm_perfetto_writer, tm_chrome_json_writer, tm_csv_writer;

/* Whether an argument of this name is written at --args essential: what places and sizes an event. */
bool tm_is_essential_argument(const char *key, size_t length);

/* Marks of an event as arguments, the same in every format. */
#define TM_OUT_KEY_CUT "tracemill_cut"               /* tm_out_cut_text */
#define TM_OUT_KEY_BEGIN "tracemill_begin_ns"        /* of the whole, as the format counts time */
#define TM_OUT_KEY_DURATION "tracemill_dur_ns"       /* of the whole */
#define TM_OUT_KEY_UNFINISHED "tracemill_unfinished" /* true */

/* Which sides of a piece are cuts.  in: marks  one of TM_OUT_CUT_BEGIN and _END at least */
static inline const char *tm_out_cut_text(unsigned marks)
{
    if ((marks & TM_OUT_CUTS) == TM_OUT_CUTS)
        return "both";
    return marks & TM_OUT_CUT_BEGIN ? "begin" : "end";
}

/* The sides on which a piece is less than the whole. */
static inline uint8_t tm_out_cuts_of(const struct tm_out_event *event)
{
    return (uint8_t)((event->start_ps > event->whole_begin_ps ? TM_OUT_CUT_BEGIN : 0) |
                     (event->end_ps < event->whole_end_ps ? TM_OUT_CUT_END : 0));
}

/* A trace writer that passes an overview of its input to another one: overview_writer.c.  One file, Perfetto's format.
 * owns:   takes inner, also where it fails */
enum {
    TM_OVERVIEW_SLICES = 400 * 1000, /* of all hosts together, at most, about, values of counters included */
    TM_OVERVIEW_ROWS = 4096,         /* slices on further rows are counted only */
};

struct tm_trace_writer *tm_overview_writer_new(struct tm_run *run, struct tm_names *names,
                                               struct tm_trace_writer *inner) TM_MUST_USE;
/* Before the events of a host.  in: slices  of the host, about; clock  of the host */
void tm_overview_begin_host(struct tm_trace_writer *w, const struct tm_trace *trace, const struct tm_clock *clock,
                            uint64_t slices);
uint64_t tm_overview_slices(const struct tm_trace_writer *w);   /* and values that were written */
uint64_t tm_overview_left_out(const struct tm_trace_writer *w); /* slices, on more rows than it keeps apart */

/* The overview of a run that is written in parts, which its steps name: it is made from the calls that write the
 * parts, and written after them.  kept_overview.c. */
struct tm_kept_overview;

/* The name of the file that has a step of a host; NULL = of none that is known.  Valid until the next call. */
struct tm_step_parts {
    const char *(*find)(void *to, const char *host, uint32_t ordinal);
    void *to;
};

/* errors: NULL, with the error in run->error */
struct tm_kept_overview *tm_kept_overview_new(struct tm_run *run, struct tm_names *names) TM_MUST_USE;
void tm_kept_overview_free(struct tm_kept_overview *k); /* tolerates NULL */
/* As tm_overview_begin_host. */
void tm_kept_overview_begin_host(struct tm_kept_overview *k, const struct tm_trace *trace, const struct tm_clock *clock,
                                 uint64_t slices);
/* A writer that passes everything on, and to the overview too.
 * in:     inner  whose spans are written as starts and ends; NULL = there is only the overview
 * owns:   takes inner, also where it fails; must be freed before k */
struct tm_trace_writer *tm_kept_overview_beside(struct tm_kept_overview *k, struct tm_trace_writer *inner) TM_MUST_USE;
/* Once, after the last host.  in: to  Perfetto's writer, for the file.  out: slices and values that were written */
uint64_t tm_kept_overview_write(struct tm_kept_overview *k, const struct tm_step_parts *parts,
                                struct tm_trace_writer *to, struct tm_out_file *file);
uint64_t tm_kept_overview_left_out(const struct tm_kept_overview *k); /* as tm_overview_left_out */

/* A trace writer that gives another one some steps of a run, each at its own place: aligned_writer.c.  The exporter
 * before it cuts with tm_aligned_wants_cut and tm_aligned_next_file, whose `to` is this writer. */
struct tm_aligned_step {
    int64_t number;           /* as the run has it */
    int64_t start_ps, end_ps; /* on the clock that the calls have: in order, without overlap */
    int64_t at_ps;            /* where it starts in the file */
};

/* Time of the operations of a step by name, of both runs: of each activity of a device that is not a container. */
struct tm_op_sum {
    uint64_t name_hash;
    int64_t ps[2];
    uint32_t step; /* the index-th of those that are aligned */
    bool is_used;  /* the slot has a sum */
    char name[96]; /* perhaps cut */
};

enum { TM_OP_SUMS_SHOWN = 8 };

struct tm_op_sums *tm_op_sums_new(struct tm_run *run) TM_MUST_USE;
void tm_op_sums_free(struct tm_op_sums *sums);               /* tolerates NULL */
bool tm_op_sums_are_complete(const struct tm_op_sums *sums); /* false: there were more names than it holds */
/* Those of a step that differ, the largest difference first.  out: how many */
size_t tm_op_sums_largest(const struct tm_op_sums *sums, size_t step,
                          const struct tm_op_sum *largest[TM_OP_SUMS_SHOWN]);

struct tm_alignment {
    const struct tm_aligned_step *steps;
    size_t count;
    bool has_steps;       /* false: the one step is the run */
    uint64_t slices_most; /* no step starts after so many, but the first one */
    struct tm_op_sums *sums;
    unsigned side; /* 0 or 1 */
};

/* owns: keeps the steps and the sums; takes inner, also where it fails */
struct tm_trace_writer *tm_aligned_writer_new(struct tm_run *run, struct tm_names *names,
                                              const struct tm_alignment *alignment,
                                              struct tm_trace_writer *inner) TM_MUST_USE;
size_t tm_aligned_steps(const struct tm_trace_writer *w);    /* that were written */
uint64_t tm_aligned_slices(const struct tm_trace_writer *w); /* likewise */
/* The file ends.  Before that, more can be written to the inner writer. */
void tm_aligned_end(struct tm_trace_writer *w);

/* A trace writer that passes everything on to another one, with pseudonyms for names: of rows, events, categories,
 * arrows, hosts, and devices, and for keys and strings of arguments at any depth.  All output passes through it, so no
 * format can miss a name.  Numbers stay.  Rows computed from a redacted summary (TM_OUT_PUBLIC) pass unchanged.
 * Memory: about 350 KiB, and a copy of the devices of one trace, in the account `tables`; the pseudonyms of names are
 * names too. */

/* in:     inner     has its options, whose facts have to be redacted already
 * owns:   takes inner, also where it fails: free of the result frees both
 * errors: NULL, with the error in run->error */
struct tm_trace_writer *tm_redacting_writer_new(struct tm_run *run, struct tm_names *names,
                                                struct tm_redactor *redactor,
                                                struct tm_trace_writer *inner) TM_MUST_USE;

#endif
