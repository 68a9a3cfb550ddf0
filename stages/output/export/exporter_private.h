/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_EXPORTER_PRIVATE_H
#define TM_EXPORTER_PRIVATE_H

#include "stages/output/export/exporter.h"
#include "stages/output/name_answers.h"
#include "stages/output/export/lanes.h"
#include "stages/output/rows/out_rows.h"

/* Series whose last value is known, of a host; the others are written, but not again at the begin of a part. */
enum { TM_SERIES_MOST = 1 << 15 };
/* Arrows whose begin was not written, as long as their end has not come. */
enum { TM_LOST_FLOWS_MOST = 1 << 14 };
/* Spans of length 0 that stay open for arrows of their time, one of a row; arrows of one time that are kept from being
 * parted from them. */
enum { TM_EMPTY_SPANS_MOST = 256, TM_KEPT_TOGETHER_MOST = 256 };
/* Arrows that are known to have begun in the present file: sets of some of them, those that were used last. */
enum { TM_ARROW_SETS = 4096, TM_ARROW_WAYS = 8 };

/* Counters of the present host, by what tells them apart. */
struct tm_series_table {
    struct tm_rows *rows;  /* struct tm_series: exporter_series.c */
    uint32_t *slots;       /* number of a row, plus 1; slot_count: a power of two */
    size_t slot_count;
    uint64_t seed;
};

struct tm_lost_flows {
    uint64_t *ids;         /* 2 * TM_LOST_FLOWS_MOST places, 0 = free; NULL = none yet */
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
    bool ends_at_once;         /* a span is written as a whole when it begins */
    uint64_t (*begun)[TM_ARROW_WAYS]; /* TM_ARROW_SETS: arrows; 0 = free */
    uint8_t *common;           /* TM_ARGUMENTS_MOST: the common arguments that were asked for last */
    struct tm_name_answer keys[TM_KNOWN_KEYS]; /* of arguments: whether it is "counter_value" */
    tm_strid no_name, own_category, bytes_unit, percent_unit, classes[TM_CLASS_COUNT];
    struct tm_key counter_value;
    /* of the present host */
    const struct tm_trace *trace;
    int64_t offset_ps, now_ps; /* now: on the output's clock */
    uint64_t track_count;
    bool has_arrows;           /* of the file's own */
    bool is_cut;               /* it began in an earlier file */
    size_t empty_spans, kept_together;
    const struct tm_derived_row *derived; /* the next one that is wanted; NULL = none */
    struct tm_wanted derived_part;        /* of it, on the output's clock */
};

/* Something recorded that is to be written. */
struct tm_export_item {
    const struct tm_event *event;
    const struct tm_track *track; /* on which it lies; of the end of an arrow the one that it points to */
    uint64_t number;              /* of that track; TM_NONE = of none */
    int64_t begin_ps, end_ps;     /* the wanted part, on the output's clock */
};

/* A time of the host on the output's clock.  errors: TM_ERR_LIMIT  it lies before its begin, or does not fit */
tm_status tm_exporter_time(struct tm_exporter *e, int64_t ps, int64_t *time_ps) TM_MUST_USE;
static inline void tm_exporter_note_time(struct tm_exporter *e, int64_t time_ps)
{
    e->counts.first_ps = time_ps < e->counts.first_ps ? time_ps : e->counts.first_ps;
    e->counts.last_ps = time_ps > e->counts.last_ps ? time_ps : e->counts.last_ps;
}

/* exporter_spans.c */
tm_status tm_exporter_take_span(struct tm_exporter *e, const struct tm_export_item *item) TM_MUST_USE;
/* in: span  track, key and event, without its row */
tm_status tm_exporter_add_span(struct tm_exporter *e, struct tm_lane_span *span) TM_MUST_USE;
tm_status tm_exporter_category(struct tm_exporter *e, const struct tm_event *event, tm_strid *category) TM_MUST_USE;
/* Everything that ends at time_ps or before; nothing more happens at that time. */
tm_status tm_exporter_end_spans(struct tm_exporter *e, int64_t time_ps) TM_MUST_USE;
/* Everything that is open ends in the present file, and goes on in the next one. */
tm_status tm_exporter_cut_spans(struct tm_exporter *e, int64_t time_ps) TM_MUST_USE;
tm_status tm_exporter_resume_spans(struct tm_exporter *e, int64_t time_ps) TM_MUST_USE;

/* exporter_series.c */
tm_status tm_exporter_begin_counters(struct tm_exporter *e) TM_MUST_USE; /* of a host */
void tm_exporter_end_counters(struct tm_exporter *e);
/* The last values again, in a file that has begun. */
tm_status tm_exporter_repeat_counters(struct tm_exporter *e, int64_t time_ps) TM_MUST_USE;

/* exporter_counters.c */
tm_status tm_exporter_take_counter(struct tm_exporter *e, const struct tm_export_item *item) TM_MUST_USE;
tm_status tm_exporter_take_derived_counter(struct tm_exporter *e, const struct tm_derived_row *row,
                                           int64_t time_ps) TM_MUST_USE;

/* exporter_allocations.c */
tm_status tm_exporter_take_allocation(struct tm_exporter *e, const struct tm_export_item *item) TM_MUST_USE;

/* exporter_flows.c */
tm_status tm_exporter_take_flow(struct tm_exporter *e, const struct tm_export_item *item) TM_MUST_USE;
/* It is not wanted. */
tm_status tm_exporter_lose_flow(struct tm_exporter *e, const struct tm_event *event) TM_MUST_USE;
void tm_exporter_forget_flows(struct tm_exporter *e);
/* Arrows in the present file. */
void tm_exporter_begin_arrows(struct tm_exporter *e);
/* A span that is written bears this arrow; 0 = none. */
void tm_exporter_count_launch(struct tm_exporter *e, uint64_t flow);
/* The arrow from a call to what it launched, on which an event lies; 0 = none. */
uint64_t tm_exporter_launch_arrow(const struct tm_exporter *e, const struct tm_track *track,
                                  const struct tm_event *event);

/* exporter_derived.c */
tm_status tm_exporter_begin_derived(struct tm_exporter *e) TM_MUST_USE;
tm_status tm_exporter_write_derived(struct tm_exporter *e) TM_MUST_USE; /* the next one, and find another */

#endif
