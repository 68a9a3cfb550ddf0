/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RUN_H
#define TM_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/error.h"
#include "pipeline/store/budget.h"

/* A line on the terminal while a long job runs: the phase, its share done, bytes, events, rate, time left.  Silent
 * unless stderr is a terminal and --quiet is off; then at most ten times a second. */
struct tm_progress {
    bool shown;
    const char *phase;
    uint64_t total_bytes, done_bytes;   /* of the phase; total: 0 = not known */
    uint64_t total_events, done_events; /* likewise: if the total is known, progress is measured in events */
    const uint64_t *events_read;        /* counter of the run; NULL = none */
    uint64_t events_before;             /* what it read when the phase started */
    uint64_t begin_ns, last_print_ns;
    /* The plan: all files that will be read, as often as they will be.  Percent and time left refer to it. */
    uint64_t plan_bytes;               /* 0 = there is none: they refer to the phase */
    uint64_t before_bytes, file_bytes; /* of the plan: before this file, and of this file */
    uint64_t plan_begin_ns;
    double from, to;                       /* the part of the work on this file that the phase is */
    double plan_done;                      /* it never decreases */
    uint32_t file, files, device, devices; /* 0 = none */
};

/* Nanoseconds of the monotonic clock. */
uint64_t tm_clock_ns(void);

void tm_progress_init(struct tm_progress *p, bool quiet);
/* Files with this many bytes will be read, or more than once: passes. */
void tm_progress_plan(struct tm_progress *p, uint32_t files, uint64_t bytes);
void tm_progress_passes(struct tm_progress *p, uint32_t passes);
/* The next file of the plan. */
void tm_progress_file(struct tm_progress *p, uint64_t bytes);
/* What part of the work on the file the phases from now on are, from 0 to 1. */
void tm_progress_span(struct tm_progress *p, double from, double to);
/* A new phase starts ("reading", "analyzing", ...), measured in bytes; total_bytes 0 = not known. */
void tm_progress_phase(struct tm_progress *p, const char *phase, uint64_t total_bytes);
/* The same, measured in events.  in: bytes  of the input that they come from, for the line; 0 = not known */
void tm_progress_phase_of_events(struct tm_progress *p, const char *phase, uint64_t total_events, uint64_t bytes);
/* Cheap enough for every buffer: examines the clock only each few hundred kilobytes. */
void tm_progress_add(struct tm_progress *p, uint64_t bytes);
void tm_progress_look(struct tm_progress *p);
/* Clear the line. */
void tm_progress_end(struct tm_progress *p);

/* One more event of the phase: examines the clock once in 16,384. */
static inline void tm_progress_events(struct tm_progress *p, uint32_t count)
{
    const uint64_t before = p->done_events;

    p->done_events += count;
    if ((before ^ p->done_events) >> 14 && p->shown)
        tm_progress_look(p);
}

static inline void tm_progress_event(struct tm_progress *p)
{
    if ((++p->done_events & 0x3fff) == 0 && p->shown)
        tm_progress_look(p);
}

/* Everything that was read but is not in any figure, by name.  A note is
 * harmless; a loss means that a figure may be smaller than the truth, and is an error under --strict.  A loss that
 * only affects figures does not count when a trace is written, because the trace has the event. */
enum tm_tally_level { TM_TALLY_NOTE, TM_TALLY_LOSS, TM_TALLY_LOSS_OF_FIGURES };

enum tm_tally_use { TM_TALLY_FOR_FIGURES, TM_TALLY_FOR_TRACES };

enum tm_tally {
    TM_TALLY_AGGREGATED_EVENT,    /* num_occurrences instead of a start: no place in time */
    TM_TALLY_BAD_FIELD,           /* a wire type that does not match its field: skipped */
    TM_TALLY_CLOCK_OUTLIER,       /* over 100 days after the origin, or over 5 before it */
    TM_TALLY_CUT_SHORT,           /* bytes after the point where a truncated input ends */
    TM_TALLY_DERIVED,             /* events of lines that viewers add: counted, but not in any figure */
    TM_TALLY_DUPLICATE_METADATA,  /* two entries of one id: the last one counts */
    TM_TALLY_DEEP_NESTING,        /* spans open at once on one thread beyond the limit */
    TM_TALLY_INVALID_UTF8,        /* names that are not UTF-8: kept as bytes */
    TM_TALLY_LONG_VALUE,          /* values longer than the read buffer: the event is kept without them */
    TM_TALLY_NEGATIVE_DURATION,   /* kept with length 0 */
    TM_TALLY_NEGATIVE_START,      /* starts before the profile: kept */
    TM_TALLY_NO_METADATA,         /* events whose metadata id has no entry: kept without a name */
    TM_TALLY_UNKNOWN_DEVICE,      /* events on planes of device kinds we do not know */
    TM_TALLY_UNKNOWN_FIELD,       /* fields that the format does not define: skipped */
    TM_TALLY_UNKNOWN_PLANE,       /* events on planes that are neither host nor device */
    TM_TALLY_WRONG_CLOCK,         /* a launch that starts after its device work */
    TM_TALLY_PROFILER_WARNING,    /* warnings and errors that the profiler left in the file */
    TM_TALLY_UNSORTED_LINE,       /* lines not in time order: sorted by us */
    TM_TALLY_DAMAGED_PROGRAM,     /* compiled programs (HLO) that cannot be read to their end */
    TM_TALLY_CLOCK_MAPPING_JUMP,  /* TPU: jumps of the recorded times against the device's own clock */
    TM_TALLY_UNKNOWN_SIZE,        /* memory profile: allocations of size -1, which means that it is unknown */
    TM_TALLY_DEVICE_CLOCK_UNUSED, /* TPU: ops whose own times are not used, because most other ops have none */
    /* Chrome JSON: what an event is made of */
    TM_TALLY_EMPTY_OBJECT,      /* {} among the events */
    TM_TALLY_CLOSING_OBJECT,    /* {} as the last one, as JAX writes it */
    TM_TALLY_NOT_AN_OBJECT,     /* null, a number, a string, a list among the events */
    TM_TALLY_MISSING_PHASE,     /* no ph: left out */
    TM_TALLY_UNKNOWN_PHASE,     /* a ph that the format does not define: left out */
    TM_TALLY_MISSING_TIME,      /* no ts: left out */
    TM_TALLY_MISSING_DURATION,  /* X without dur: kept with length 0 */
    TM_TALLY_MISSING_NAME,      /* kept without a name */
    TM_TALLY_MISSING_PROCESS,   /* no pid: kept on process 0 */
    TM_TALLY_MISSING_THREAD,    /* no tid: kept on the thread of the process' number */
    TM_TALLY_BAD_NUMBER,        /* a ts or dur that is not a number, or NaN, or Infinity: taken as missing */
    TM_TALLY_NAN_NUMBER,        /* NaN or Infinity elsewhere: taken as missing */
    TM_TALLY_STRING_NUMBER,     /* ts or dur written as a string: read as the number */
    TM_TALLY_EXPONENT_NUMBER,   /* ts or dur with an exponent: read exactly */
    TM_TALLY_UNICODE_NAME,      /* a name with letters beyond ASCII */
    TM_TALLY_CONTROL_CHARACTER, /* a name with control characters, escaped or raw */
    TM_TALLY_LONE_SURROGATE,    /* half a pair of \u escapes in a name: kept as three bytes */
    TM_TALLY_NESTED_ARGUMENT,   /* events with objects or lists of objects or lists in their arguments */
    TM_TALLY_REPEATED_KEY,      /* a key twice in one event: the last one counts */
    /* Chrome JSON: how events relate to each other */
    TM_TALLY_METADATA_EVENT,  /* names of processes and threads */
    TM_TALLY_BEGIN_END_EVENT, /* B and E: halves of spans */
    TM_TALLY_INSTANT_EVENT,
    TM_TALLY_COUNTER_EVENT,    /* kept, in no figure */
    TM_TALLY_FLOW_EVENT,       /* likewise */
    TM_TALLY_ASYNC_EVENT,      /* likewise */
    TM_TALLY_OTHER_PHASE,      /* objects, memory dumps, clocks, contexts: left out */
    TM_TALLY_UNMATCHED_BEGIN,  /* started, never ended: kept with length 0, marked as open */
    TM_TALLY_UNMATCHED_END,    /* ended, never started: left out */
    TM_TALLY_UNMATCHED_FLOW,   /* a flow that starts and never ends, or ends and never started */
    TM_TALLY_REUSED_FLOW_ID,   /* a flow that starts under an id whose flow has ended */
    TM_TALLY_OVERLAPPING_SPAN, /* starts inside another span of its thread and ends after it: kept unchanged */
    TM_TALLY_REPEATED_EVENT,   /* the same time, length and name as the one before on its thread: both kept */
    TM_TALLY_RENAMED,          /* a process or thread that gets another name: the last one counts */
    TM_TALLY_EVENT_CAP,        /* files with exactly the number of events at which JAX stops writing */
    /* Chrome JSON: the document */
    TM_TALLY_BYTE_ORDER_MARK,
    TM_TALLY_ZERO_PADDING, /* files with zero bytes after the end */
    TM_TALLY_OPEN_ARRAY,   /* the list of events is not closed, which its format allows */
    TM_TALLY_STACK_FRAMES, /* tables of stack frames: left out */
    TM_TALLY_DAMAGED_TEXT, /* places if the text is not JSON: skipped up to the next whole event */
    /* Perfetto's format */
    TM_TALLY_DAMAGED_PACKETS, /* places that are not made of whole packets: skipped up to the next whole one */
    TM_TALLY_DROPPED_PACKETS, /* gaps that the writer of the trace reports: its buffer was full */
    TM_TALLY_MISSING_STATE,   /* packets that need names or clocks of their sequence which are lost: left out */
    TM_TALLY_UNKNOWN_CLOCK,   /* events whose time is on a clock that no snapshot relates to the trace's: left out */
    TM_TALLY_OTHER_PACKET,    /* packets of other data sources, such as ftrace: left out */
    TM_TALLY_COMPUTED_ROW,    /* slices and values on rows that an earlier conversion computed: left out */
    /* Traces that are written */
    TM_TALLY_FILTERED_OUT,          /* events that the filter excluded */
    TM_TALLY_LANE_MOVED,            /* spans that do not nest on their row: written on their own lane */
    TM_TALLY_LANES_FULL,            /* spans for which no lane is available: not written */
    TM_TALLY_FLOW_NOT_BEGUN,        /* ends of arrows that nothing started: not written */
    TM_TALLY_FLOW_WITHOUT_SPAN,     /* ends of arrows where no span is open: not written */
    TM_TALLY_COUNTER_WITHOUT_VALUE, /* values of counters that are not finite: not written */
    TM_TALLY_COUNTER_NOT_REPEATED,  /* values of counters past the first 32,768 of a host: no part starts with them */
    TM_TALLY_LONG_ARGUMENTS,   /* events whose arguments are too long, or nest too deep: written without the rest */
    TM_TALLY_NUL_IN_ARGUMENTS, /* Chrome JSON: events with NUL in a string of their arguments: U+FFFD represents it */
    TM_TALLY_UNWRITTEN_MEMBER, /* Chrome JSON: counters, arrows, events of over 256 KiB whose members are not all
                                * written */
    TM_TALLY_COUNT
};

struct tm_tally_info {
    const char *name; /* as in summary.json: "negative-duration" */
    enum tm_tally_level level;
    const char *help; /* one sentence */
};

/* A row per tally, indexed by the enum. */
extern const struct tm_tally_info tm_tally_info[TM_TALLY_COUNT];

struct tm_tallies {
    uint64_t count[TM_TALLY_COUNT];
};

static inline void tm_tally_add(struct tm_tallies *t, enum tm_tally which, uint64_t n)
{
    t->count[which] += n;
}

bool tm_tally_is_loss(enum tm_tally which, enum tm_tally_use use);
/* How many events are in tallies that are losses. */
uint64_t tm_tally_losses(const struct tm_tallies *t, enum tm_tally_use use);

/* How objects in buckets are read, listed, stored and removed (pipeline/remote.h). */
struct tm_helpers {
    const char *fetch, *listing, *store, *remove; /* commands with placeholders; NULL = those that are installed */
    int64_t wait_ps;                              /* --fetch-timeout: for the next bytes; 0 = no limit */
};

struct tm_redactor;
struct tm_guard;

/* What stays open from one input to the next: an archive, after the last member that was read.  Zeroed = nothing. */
struct tm_left_open {
    void *what;
    void (*close)(void *what);
};

/* What every part of one job shares: the limits, the ledger, the place for spill files, the tallies,
 * the error.  One per job, owned by the verb; passed by pointer, never global. */
/* For rows in the containers of pipeline/store. */
enum { TM_ROW_BYTES_MOST = 2048 };

#define TM_JOBS_AUTO UINT64_MAX

struct tm_run {
    struct tm_error error; /* the first failure of the job; after it, containers, documents and writers do nothing */
    struct tm_budget budget;
    struct tm_tallies tallies;
    struct tm_progress progress;
    const char *spill_dir;        /* chosen folder, set by tm_spill_choose_dir */
    struct tm_redactor *redactor; /* --redact: names are written as pseudonyms; NULL = as they are */
    uint64_t limit_times;         /* --raise-limits (pipeline/run.h); 0 = 1 */
    enum tm_tally_use tally_use;  /* what the verb writes */
    bool raw;                     /* --raw: strings in CSV with all their characters */
    struct tm_guard *guard;       /* pipeline/files.h; NULL = nothing is checked */
    uint64_t jobs; /* --jobs, for threads: tm_cores; TM_JOBS_AUTO until tm_cores decides; 0 = a worker's: none */
    bool strict;
    bool quiet;
    bool follow_links;                  /* --follow-links: out of the folder that is searched */
    struct tm_helpers helpers;          /* for objects in buckets */
    const char *links_root;             /* links may lead anywhere in it; NULL = in the folder that is searched */
    uint64_t swept_device, swept_inode; /* the folder that tm_left_behind_sweep saw last */
    uint64_t last_site;                 /* number given last (pipeline/front.h) */
    uint64_t events_read;
    uint64_t bytes_read; /* of the input as it is on disk */
    struct tm_left_open left_open;
    /* The total that all passes over archives skipped to reach members: headers, and unpacked bytes. */
    uint64_t archive_again_members, archive_again_bytes;
    _Alignas(16) uint8_t no_row[TM_ROW_BYTES_MOST]; /* returned instead of a row that is not available */
};

/* Whether the job has failed.  Loops and users of results check it; the containers of pipeline/store accept calls after
 * a failure, do nothing and return nothing. */
static inline bool tm_failed(const struct tm_run *run)
{
    return run->error.status != TM_OK;
}

static inline void tm_close_left_open(struct tm_run *run)
{
    const struct tm_left_open left = run->left_open;

    run->left_open = (struct tm_left_open){ .close = NULL };
    if (left.close)
        left.close(left.what);
}

/* What has been read so far.  What is read again counts once: take the counts before, and restore them after. */
struct tm_counts {
    struct tm_tallies tallies;
    uint64_t events, bytes;
};

static inline struct tm_counts tm_counts_now(const struct tm_run *run)
{
    return (struct tm_counts){ run->tallies, run->events_read, run->bytes_read };
}

static inline void tm_counts_restore(struct tm_run *run, const struct tm_counts *before)
{
    run->tallies = before->tallies;
    run->events_read = before->events;
    run->bytes_read = before->bytes;
}

/* Limits on claimed sizes of files and on the number of entries below a folder: far more than real inputs need, so a
 * small file cannot fill a disk or take all night. --raise-limits TIMES raises all of them. */

/* in:     usual  if nothing is raised */
uint64_t tm_raised_limit(const struct tm_run *run, uint64_t usual);

/* Hint after a limit was reached. in: instead  an alternative, as a clause: "give parts of it" */
void tm_limit_hint(struct tm_run *run, const char *instead);

#define TM_VERSION "0.1.0"

/* Version of how figures are defined (docs/metrics.md): of a summary, of the result and the row of a run in a history.
 * Figures of different versions are never compared with each other. */
enum { TM_SUMMARY_VERSION = 2 };

#endif
