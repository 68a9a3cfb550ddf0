/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_EXPORTER_H
#define TM_EXPORTER_H

#include <stdbool.h>

#include "pipeline/options.h"
#include "pipeline/stage.h"
#include "pipeline/store/names.h"
#include "pipeline/store/sorter.h"
#include "stages/output/derived/derived.h"
#include "stages/output/trace_writer.h"

/* Selects events: pipeline/options.h describes the filter syntax.  For computed rows, only the time, the device, and
 * the step are tested.  Memory: `tables`, fixed. */
struct tm_event_filter;

/* The part of an event inside the selected time: with several ranges, from the start of the first one that it overlaps
 * to the end of the last one.  Parts start in the order of their events. */
struct tm_wanted {
    bool is_wanted;
    int64_t start_ps, end_ps;
};

/* in:     filter  nothing is wrong with its patterns
 * owns:   keeps filter and names
 * errors: NULL, with the error in run->error */
struct tm_event_filter *tm_event_filter_new(struct tm_run *run, struct tm_names *names,
                                            const struct tm_filter *filter) TM_MUST_USE;
void tm_event_filter_free(struct tm_event_filter *f); /* tolerates NULL */
/* in: trace  surveyed: times count from its first_ps, steps are its marks */
void tm_event_filter_begin_host(struct tm_event_filter *f, const struct tm_trace *trace);
/* in: track      that it is on: of the end of an arrow the one that it points to
 *     is_launch  of work of a selected device: a call on no device that is wanted all the same */
void tm_event_filter_take(struct tm_event_filter *f, const struct tm_track *track, const struct tm_event *event,
                          bool is_launch, struct tm_wanted *wanted);
/* Times of events by their names are looked up before a host is filtered: all its events in time order, between
 * begin_scan and begin_host. */
bool tm_event_filter_wants_scan(const struct tm_event_filter *f);
void tm_event_filter_begin_scan(struct tm_event_filter *f);
void tm_event_filter_scan(struct tm_event_filter *f, const struct tm_event *event);
/* Whether a device is selected; TM_NONE = none of them. */
bool tm_event_filter_is_on(const struct tm_event_filter *f, uint32_t device);
void tm_event_filter_take_derived(const struct tm_event_filter *f, const struct tm_derived_row *row,
                                  struct tm_wanted *wanted);

/* The device that an event is on. */
static inline uint32_t tm_event_device(const struct tm_track *track, const struct tm_event *event)
{
    return event->device != TM_NONE ? event->device : track->device;
}

/* What has no length by nature; other events without one are spans of length 0. */
static inline bool tm_event_is_instant(const struct tm_record *record)
{
    return record->flags & TM_FLAG_INSTANT;
}

/* The open spans, in time order: determines the lane of each span so that the spans of a row nest, and when each ends. 
 * A span is put on the first lane of its track on which it is inside the innermost open span (or none is open) and
 * fewer than TM_LANE_DEPTH spans are open; on an asynchronous track only inside spans of the same key.  Viewers drop or
 * truncate spans that do not nest: PERFETTO.md 2. */
enum { TM_LANE_DEPTH = 512, TM_LANES_MOST = 4096 /* of one track */ };

struct tm_lanes;

/* Where a struct tm_lanes starts. */
struct tm_lanes_head {
    int64_t first_end_ps; /* no open span ends before it */
};

/* Whether tm_lanes_next_end may have one. */
static inline bool tm_lanes_may_end(const struct tm_lanes *lanes, int64_t until_ps)
{
    return ((const struct tm_lanes_head *)(const void *)lanes)->first_end_ps <= until_ps;
}

struct tm_lanes_options {
    enum tm_account account; /* charged for the memory */
    size_t memory_bytes;     /* for all open spans, with their data */
    bool holds;              /* all of a span is kept until its end: where spans may be cut */
    bool outer_first;        /* of spans that start and end together the outer one ends first, else the inner one:
                                readers of formats that write a span as one take the first of them for the outer one */
};

/* errors: NULL, with the error in run->error */
struct tm_lanes *tm_lanes_new(struct tm_run *run, const struct tm_lanes_options *options) TM_MUST_USE;
void tm_lanes_free(struct tm_lanes *lanes); /* tolerates NULL */

struct tm_lane_span {
    uint64_t track;            /* any number: spans of one number share lanes */
    uint64_t key;              /* of asynchronous spans; spans nest only in those of the same key */
    uint32_t lane;             /* out */
    bool is_over;              /* of the caller: its end is written, and its lane is still taken */
    struct tm_out_event event; /* row, of and trace are not kept: they are NULL when it is given back.  Unless `holds`,
                                * only its times and marks are kept */
};

/* Which lane a span of event.start_ps and end_ps takes.  Everything that ended before it has been taken out.
 * out:    span->lane; false: TM_LANES_MOST are full (the caller tallies it) */
bool tm_lanes_choose(const struct tm_lanes *lanes, struct tm_lane_span *span);
/* Open it there.
 * errors: TM_ERR_LIMIT, in run->error  more spans are open at once than memory_bytes can hold; says which limit to
 *         raise */
void tm_lanes_open(struct tm_lanes *lanes, const struct tm_lane_span *span);
/* The open span that ends first, if it ends at until_ps or before; inner ones before outer ones, except for
 * outer_first.
 * out:    the caller's to change, valid until the next call that changes something; NULL = none */
struct tm_lane_span *tm_lanes_next_end(struct tm_lanes *lanes, int64_t until_ps);
/* The span of length 0 that is open on a track ends: the next one starts there.
 * out:    as above; NULL = there is none */
struct tm_lane_span *tm_lanes_end_empty(struct tm_lanes *lanes, uint64_t track);
/* The lane of the span of a track that was opened last; UINT32_MAX = none is open. */
uint32_t tm_lanes_innermost(const struct tm_lanes *lanes, uint64_t track);

/* All open spans, outer ones before inner ones, in the order in which they were opened, or the other way round: to cut
 * them.  start_ps, marks and flow may be changed in place; then tm_lanes_changed has to follow.
 * in: span  the one before; NULL = of none.  out: NULL at the end */
struct tm_lane_span *tm_lanes_each(struct tm_lanes *lanes, const struct tm_lane_span *span);
struct tm_lane_span *tm_lanes_each_back(struct tm_lanes *lanes, const struct tm_lane_span *span);
void tm_lanes_changed(struct tm_lanes *lanes);
size_t tm_lanes_count(const struct tm_lanes *lanes); /* open spans */

/* A yes-or-no property of a name, by its handle: a table of a fixed size in which a later name replaces an
 * earlier one, so most events need no look at a string. Zeroed = empty. */
struct tm_name_answer {
    tm_strid name;
    bool is_known, answer;
};

/* The slot for the result of a name.
 * in:     table  count of them, a power of two
 * out:    of that name; is_known false: the caller computes the result and sets it */
static inline struct tm_name_answer *tm_name_answer(struct tm_name_answer *table, size_t count, tm_strid name)
{
    struct tm_name_answer *const known = &table[name & (count - 1)];

    if (known->name != name)
        *known = (struct tm_name_answer){ .name = name };
    return known;
}

/* The rows of a host's trace in the viewer: numbers, names, and order of its processes and threads, and which of them
 * the current file has. docs/convert.md, "Rows".  Numbers depend on the trace and on the hosts before it, never on what
 * is written; only lanes, and the lanes of one process among themselves, are numbered on first use.  Memory: `model`; a
 * compact row for each track, which spills.  Failures are recorded in run->error. */
struct tm_out_rows;

/* in:     names_hosts   the names of processes start with that of their host
 *         memory_bytes  for everything
 * errors: NULL, with the error in run->error */
struct tm_out_rows *tm_out_rows_new(struct tm_run *run, struct tm_names *names, bool names_hosts,
                                    size_t memory_bytes) TM_MUST_USE;
void tm_out_rows_free(struct tm_out_rows *r); /* tolerates NULL */

/* The rows of another host; those of the one before are forgotten, but not that their numbers are taken.
 * in:   has_verdict  its analysis shows the verdict of the run; the name of that row says so where there are several
 * owns: keeps trace until the next one */
void tm_out_rows_begin_host(struct tm_out_rows *r, const struct tm_trace *trace, bool has_verdict);
/* Nothing has been written in the current file. */
void tm_out_rows_begin_file(struct tm_out_rows *r);

/* A row is identified by a number: that of its track; computed rows follow. */
uint64_t tm_out_rows_derived(const struct tm_out_rows *r, enum tm_derived_sort sort, uint32_t device);
uint64_t tm_out_rows_finding(const struct tm_out_rows *r, enum tm_derived_severity severity);
/* The number of the process of a device's tracks; the program's own if there is none. */
uint32_t tm_out_rows_device_process(const struct tm_out_rows *r, uint32_t device);

/* A row that groups the work of a device, after those of tm_out_rows_derived: all of them, in their order, before
 * anything is written of the host. */
void tm_out_rows_add_work(struct tm_out_rows *r, const struct tm_derived_work_row *row);
uint64_t tm_out_rows_work(const struct tm_out_rows *r, uint32_t row);
/* The row for the calls that launched the work of a device, where their own rows are in another file. */
uint64_t tm_out_rows_launches(const struct tm_out_rows *r, uint32_t device);
uint32_t tm_out_rows_own_process(const struct tm_out_rows *r);

/* What a row or a counter of a device, computed, is called: "queue depth \u00b7 tracemill", or where its process is not
 * its own "cpu:1 queue depth \u00b7 tracemill".
 * in:     is_ours  it is in the program's own process
 *         size     TM_OWN_NAME_BYTES */
enum { TM_OWN_NAME_BYTES = 256 };

void tm_out_rows_name_of_device(const struct tm_out_rows *r, uint32_t device, bool is_ours, const char *what,
                                char *name, size_t size);

/* One of two runs in one file. */
struct tm_export_side {
    uint32_t number;     /* 0, 1 */
    uint32_t first_host; /* hosts of those before it */
    const char *label;   /* its processes end with it */
};

/* Before the first host.  owns: keeps the side */
void tm_out_rows_set_side(struct tm_out_rows *r, const struct tm_export_side *side);

/* A counter of a process. */
struct tm_counter_row {
    uint64_t hash; /* hash of its identity within its process; unique */
    tm_strid name, unit;
    uint32_t process;
    uint32_t device;       /* of computed rows; of idle time its cause; of others anything */
    uint32_t file;         /* of tm_out_rows: 0 at first */
    uint8_t order;         /* enum tm_counter_order */
    struct tm_out_row row; /* of that file */
};

enum tm_counter_order {
    TM_COUNTER_QUEUE,
    TM_COUNTER_BUSY,
    TM_COUNTER_ALL_BUSY,
    TM_COUNTER_ALL_IDLE,
    TM_COUNTER_RECORDED
};

/* As tm_out_rows_use. */
const struct tm_out_row *tm_out_rows_use_counter(struct tm_out_rows *r, struct tm_trace_writer *writer,
                                                 struct tm_counter_row *counter, uint64_t *rows);

/* A row of the current host that the current file has, ready to be used again: the same few are used for each event,
 * twice. */
enum { TM_NEAR_ROWS = 256 };

struct near_row {
    uint64_t key; /* tm_near_key; 0 = free */
    struct tm_out_row row;
};

static inline uint64_t tm_near_key(uint64_t number, uint32_t lane)
{
    return number * TM_LANES_MOST + lane + 1;
}

struct tm_out_rows {
    struct tm_run *run;
    struct tm_names *names;
    const struct tm_trace *trace;
    bool names_hosts;
    const struct tm_export_side *side; /* NULL = there is one run */
    size_t memory_bytes;
    uint32_t file;        /* counts up from 1 */
    struct tm_rows *pids; /* int32_t: those that earlier hosts have */
    int32_t next_pid;     /* perhaps free */
    int32_t planes;       /* pid of the last one of all hosts so far */
    uint32_t ranks;       /* of processes of all hosts so far */
    /* of the current host */
    struct tm_rows *processes, *threads, *chunks, *lanes;
    struct tm_index *tids; /* struct taken_number: threads that have their own number */
    uint64_t track_count;
    uint32_t device_count, own_process;
    uint32_t device_process[TM_DEVICES_MOST];
    bool device_shares[TM_DEVICES_MOST]; /* its process is that of other devices too, or of none */
    struct near_row near[TM_NEAR_ROWS];
    /* our own names */
    tm_strid name_own,
        name_host; /* of our process; name_host: of a host without the verdict, where there are several */
    bool has_verdict;
    char of_host[160]; /* " \u00b7 host0": after names of rows that may be pinned, where there are several hosts */
};

static inline struct near_row *tm_near_row(struct tm_out_rows *r, uint64_t number, uint32_t lane)
{
    return &r->near[(number * 5 + lane) % TM_NEAR_ROWS];
}

/* Write what the file lacks of a row, and keep it near. */
const struct tm_out_row *tm_out_rows_make(struct tm_out_rows *r, struct tm_trace_writer *writer, uint64_t number,
                                          uint32_t lane, uint64_t *rows);

/* Something is to be written on a row: its process, the row and the lane are written before, if the file does not
 * have them yet.
 * out: valid until another row is used; *rows  grows by how many were written */
static inline const struct tm_out_row *tm_out_rows_use(struct tm_out_rows *r, struct tm_trace_writer *writer,
                                                       uint64_t number, uint32_t lane, uint64_t *rows)
{
    const struct near_row *const near = tm_near_row(r, number, lane);

    if (near->key == tm_near_key(number, lane))
        return &near->row;
    return tm_out_rows_make(r, writer, number, lane, rows);
}

/* From ordered events to calls of a trace writer: rows, lanes, cuts, counters, arrows; docs/convert.md specifies the
 * output.  One exporter writes one output: a file, or a sequence of parts.  Memory: the account `threads` for open
 * spans; a quarter of `model` for the rows, and half a MiB for the counters; less than 1 MiB of `tables`, the rest of
 * it is for the writer and its file. */
struct tm_exporter;

/* What has been written since the file was started. */
struct tm_export_counts {
    uint64_t slices;     /* pieces of spans that have started, instants too */
    uint64_t counters;   /* values */
    uint64_t arrows;     /* that show in it: their later end was written, and the one before it in this file */
    uint64_t arrow_ends; /* of arrows that the input has */
    uint64_t rows;
    uint64_t pieces;           /* slices that continue from the previous part */
    uint64_t launches;         /* slices that are in the part of the host too: calls that launched a device's work */
    int64_t first_ps, last_ps; /* of its slices and counters, on the output's clock; first after last = nothing */
};

/* Called before each event, after everything that ended before its start has been written.  Times are on the output's
 * clock.
 * in:     open_spans  that have not ended, and would continue in the next file
 * out:    true: the current file ends at time_ps, and another one starts there */
typedef bool tm_wants_cut(void *to, const struct tm_export_counts *counts, uint64_t raw_bytes, size_t open_spans,
                          int64_t time_ps);

/* The file that was written ends at time_ps: the writer has ended it.  Which one is to be written next?  The writer
 * starts it.
 * errors: NULL, with the error in run->error */
typedef struct tm_out_file *tm_next_file(void *to, const struct tm_export_counts *counts, int64_t time_ps);

/* Those of an aligned writer, which is `to`: trace_writer.h. */
tm_wants_cut tm_aligned_wants_cut;
tm_next_file tm_aligned_next_file;

struct tm_export_options {
    struct tm_trace_writer *writer;
    const struct tm_filter *filter; /* NULL = everything */
    struct tm_derived *derived;     /* NULL = --plain; provides the rows of each host that starts */
    /* Only events on this device: index into the devices of the host; TM_NONE: those on none */
    bool has_device;
    uint32_t device;
    bool is_overview;                  /* the writer merges what is too short to be seen */
    struct tm_kept_overview *kept;     /* that is made of all calls; NULL = none */
    bool names_hosts;                  /* rows of several hosts in one output: processes start with the host's name */
    const struct tm_export_side *side; /* NULL = the output has one run */
    const struct tm_alignment *alignment; /* NULL = everything is written where it was */
    tm_wants_cut *wants_cut;              /* NULL = never */
    tm_next_file *next_file;
    const char
        *border; /* a pattern of names: before the current file may end there, at_border is called; NULL = none */
    void (*at_border)(void *to, int64_t time_ps);
    /* Where the part of the calls of some steps ends, on the output's clock: the work of devices that these launched is in it,
     * too, however late, and events come in parts (tm_exporter_end_part).  NULL = files end at a time */
    const int64_t *part_end_ps;
    void *to; /* of these */
};

/* in:     names  of everything
 * owns:   keeps names, and what options point to
 * errors: NULL, with the error in run->error */
struct tm_exporter *tm_exporter_new(struct tm_run *run, struct tm_names *names,
                                    const struct tm_export_options *options) TM_MUST_USE;
void tm_exporter_free(struct tm_exporter *e); /* tolerates NULL */

/* A file has started (writer->begin_file was called); counts start with 0. */
void tm_exporter_begin_file(struct tm_exporter *e);

/* What must be known about a host before it is written: the times of events that a filter names, and which calls
 * launched the work of the selected devices, because these are written with it.  If wanted, all its events are passed
 * to tm_exporter_scan in time order, before tm_exporter_begin_host. */
bool tm_exporter_wants_scan(const struct tm_exporter *e);
void tm_exporter_begin_scan(struct tm_exporter *e, const struct tm_trace *trace);
tm_status tm_exporter_scan(void *exporter, const struct tm_event *event);

/* The next host, with events ordered by tm_order.
 * in:     trace      surveyed; it keeps arguments
 *         clock  its times on the output's; no resulting time may be negative
 * errors: TM_ERR_LIMIT  a time is negative; more spans are open at once than memory allows */
tm_status tm_exporter_begin_host(struct tm_exporter *e, const struct tm_trace *trace, const struct tm_clock *clock);
tm_status tm_exporter_take(struct tm_exporter *e, const struct tm_event *event) TM_MUST_USE;
/* These events will be taken soon: what is looked up for them is fetched into the cache.  Changes nothing. */
void tm_exporter_expect(const struct tm_exporter *e, const struct tm_event *events, uint32_t count);
/* With part_end_ps: all events of the part have come; the next file starts.  The work of a device is not cut. */
tm_status tm_exporter_end_part(struct tm_exporter *e);
/* Everything that is open ends. */
tm_status tm_exporter_end_host(struct tm_exporter *e);
const struct tm_export_counts *tm_exporter_counts(const struct tm_exporter *e);

/* Series of a host with a known last value; the others are written, but not repeated at the start of a part. */
enum { TM_SERIES_MOST = 1 << 15 };

/* Arrows that are known to have started in the current file: sets of some of them, those that were used last. */
enum { TM_ARROW_SETS = 4096, TM_ARROW_WAYS = 8 };

struct tm_known_arrow {
    uint64_t flow;   /* 0 = free */
    uint64_t number; /* of those that have started in the file, from 1 on */
};

/* The same where arrows need no numbers: a bit for each of 512 flows with successive numbers, as most launches have. */
enum { TM_FLOW_BLOCKS = 512, TM_FLOW_BLOCK_BITS = 512 };

struct tm_flow_block {
    uint64_t number; /* of the block, and 1; 0 = free */
    uint64_t bits[TM_FLOW_BLOCK_BITS / 64];
};

/* Counters of the current host, by their identity. */
struct tm_series_table {
    struct tm_rows *rows; /* struct tm_series: out_rows.c */
    uint32_t *slots;      /* number of a row, plus 1; slot_count: a power of two */
    size_t slot_count;
    uint64_t seed;
};

enum { TM_LAUNCHES_TOGETHER = 64 };

/* The calls that launched the work of the selected devices, in the order of their starts. */
struct tm_kept_launches {
    struct tm_sorter *sorter; /* struct kept_launch; NULL = none are wanted */
    const struct kept_launch *ahead;
    int64_t start_ps; /* of those below */
    uint32_t tracks[TM_LAUNCHES_TOGETHER], count;
};

struct tm_lost_flows {
    uint64_t *ids; /* 2 * TM_LOST_FLOWS_MOST places, 0 = free; NULL = none yet */
    size_t count;
    uint64_t seed;
};

enum { TM_KNOWN_KEYS = 256, TM_KNOWN_TRACKS = 64, TM_KNOWN_CATEGORIES = 8192, TM_KNOWN_COUNTERS = 64 };

/* A track of the current host, copied: what its table returns is valid only until the next look. */
struct tm_known_track {
    uint64_t number; /* and 1; 0 = none */
    struct tm_track track;
};

/* The category in a template of arguments. */
struct tm_known_category {
    uint32_t template; /* 0 = none */
    tm_strid category; /* 0 = it has none */
};

/* The series of a computed counter of the current host: its name and identity are made once. */
struct tm_known_counter {
    uint64_t series; /* and 1; 0 = none */
    uint32_t device, row;
    uint8_t sort; /* enum tm_derived_sort */
};

struct tm_exporter {
    struct tm_run *run;
    struct tm_names *names;
    struct tm_export_options options;
    struct tm_trace_writer *writer;
    struct tm_event_filter *filter; /* NULL = everything */
    struct tm_kept_launches launches;
    struct tm_lanes *lanes, *work_lanes; /* work: of tracks of devices, with part_end_ps */
    struct tm_out_rows *rows;
    struct tm_series_table series;
    struct tm_lost_flows lost;
    struct tm_export_counts counts;
    bool may_cut;
    bool takes_all;                                /* of the host: every span is written as a whole, in one file */
    bool ends_at_once;                             /* a span is written as a whole when it starts */
    struct tm_known_arrow (*begun)[TM_ARROW_WAYS]; /* TM_ARROW_SETS */
    struct tm_flow_block *flows;                   /* TM_FLOW_BLOCKS */
    uint64_t arrows_begun;                         /* in the current file */
    uint8_t *common;                              /* TM_ARGUMENTS_MOST: the common arguments that were requested last */
    struct tm_name_answer borders[TM_KNOWN_KEYS]; /* of events: whether options.border fits */
    struct tm_name_answer keys[TM_KNOWN_KEYS];    /* of arguments: whether it is "counter_value" */
    struct tm_known_track tracks[TM_KNOWN_TRACKS];            /* of the current host, by number */
    struct tm_known_category categories[TM_KNOWN_CATEGORIES]; /* the same, by template */
    struct tm_known_counter counters[TM_KNOWN_COUNTERS];      /* the same, computed */
    tm_strid no_name, own_category, bytes_unit, percent_unit, classes[TM_CLASS_COUNT];
    struct tm_key counter_value;
    /* of the current host */
    const struct tm_trace *trace;
    struct tm_clock clock; /* of the host */
    int64_t now_ps;        /* on the output's clock */
    uint64_t track_count;
    bool has_arrows; /* of the file's own */
    bool is_cut;     /* it started in an earlier file */
    size_t empty_spans, kept_together;
    const struct tm_derived_row *derived; /* the next requested one; NULL = none */
    struct tm_wanted derived_part;        /* of it, on the output's clock */
};

static inline void tm_exporter_note_time(struct tm_exporter *e, int64_t time_ps)
{
    if (time_ps < e->counts.first_ps)
        e->counts.first_ps = time_ps;
    if (time_ps > e->counts.last_ps)
        e->counts.last_ps = time_ps;
}

/* out_rows.c */
void tm_exporter_begin_counters(struct tm_exporter *e); /* of a host */
void tm_exporter_end_counters(struct tm_exporter *e);
/* The last values again, in a file that has started. */
void tm_exporter_repeat_counters(struct tm_exporter *e, int64_t time_ps);

/* Series of values, and their owners: exporter.c, exporter.c. */

struct tm_counter_value {
    double value; /* finite */
    int64_t whole;
    bool is_whole;
};

static inline struct tm_counter_value tm_whole_value(int64_t whole)
{
    return (struct tm_counter_value){ .value = (double)whole, .whole = whole, .is_whole = true };
}

/* The identity of a counter, and its name: NAME [ID] KEY, or NAME SUFFIX. */
struct tm_counter_key {
    uint32_t process, device; /* device: as in tm_counter_row */
    tm_strid name, key, unit;
    const char *suffix; /* NULL = none */
    const char *id;     /* NULL = none; id_length bytes */
    size_t id_length;
    uint8_t order;                /* enum tm_counter_order */
    bool only_changes;            /* a value that is the same as before is not written */
    const struct tm_event *event; /* NULL = computed */
};

/* A value of a counter, whose series is created if necessary.
 * out: the number of the series, and 1: for tm_exporter_count_again; 0 = it is not kept */
uint64_t tm_exporter_count(struct tm_exporter *e, const struct tm_counter_key *c, const struct tm_counter_value *value,
                           int64_t time_ps);
/* A computed value of a series. */
void tm_exporter_count_again(struct tm_exporter *e, uint64_t series, const struct tm_counter_value *value,
                             int64_t time_ps);

#endif
