/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHROME_MAKER_H
#define TM_CHROME_MAKER_H

#include "pipeline/argument_templates.h"
#include "pipeline/arguments.h"
#include "pipeline/store/names.h"
#include "stages/input/chrome/chrome_reader.h"
#include "stages/input/records/record_store.h"
#include "stages/resolve/classes.h"

/* Converts the args object of an event to an argument list, as keeps_arguments requests.  Keys and long strings become
 * names; duplicate keys are kept; integers of 64 bits are integers, other numbers keep their spelling, NaN and Infinity
 * become strings.  Memory: two buffers of fixed size, a table of keys, and one of recent lists. */
struct tm_chrome_arguments;

/* Data that accompanies the arguments because it belongs to the event. */
struct tm_chrome_words {
    bool has_category, has_id, has_place, is_enclosed;
    bool takes_members;  /* members of the event that have no place elsewhere become arguments of their names */
    bool is_joined;      /* by its id, which has its place there */
    bool is_converted;   /* our writer made it: spans have members that are arrows, which are created again */
    bool has_texts_only; /* the writer makes strings of all numbers: a string that is an integer becomes one again */
    uint32_t place;      /* the track that a flow is on */
    tm_strid name;       /* events of one name are assumed to be similar */
};

/* errors: NULL, with the error in run->error */
struct tm_chrome_arguments *tm_chrome_arguments_new(struct tm_run *run, struct tm_names *names) TM_MUST_USE;
void tm_chrome_arguments_free(struct tm_chrome_arguments *a); /* tolerates NULL */

/* in:     event  its args as tm_chrome_next gives them: checked, with TM_JSON_PADDING readable bytes after it;
 *                its category where words->has_category, its id where words->has_id
 * out:    valid until the next call.  What does not fit is tallied: LONG_ARGUMENTS, once for the event; so are
 *         NUL_IN_ARGUMENTS, and UNWRITTEN_MEMBER
 * errors: of the names, in run->error */
struct tm_arguments tm_chrome_arguments_take(struct tm_chrome_arguments *a, const struct tm_chrome_event *event,
                                             const struct tm_chrome_words *words);

/* Shared by chrome_scan.c and chrome_tracks.c: the track of an event. */

/* What is on one track of our own.  Spans of threads must nest, so that nothing else is between them. */
enum tm_chrome_sort {
    TM_CHROME_THREAD, /* of a process */
    TM_CHROME_DEVICE, /* a stream: PyTorch's device is an argument of the event, its process may be any */
    TM_CHROME_UNKNOWN_DEVICE,
    TM_CHROME_LOOSE, /* of a process: instants on no thread, and events without a thread */
    TM_CHROME_ASYNC, /* of a process */
    TM_CHROME_FLOW,  /* of the whole file: flows lead from one process to another */
    TM_CHROME_COUNTER,
};

/* A process as the file names it; names can occur anywhere, even after its events. */
struct tm_chrome_process {
    tm_strid name, labels;
    int64_t order;                 /* process_sort_index */
    struct tm_json_id id;          /* without its text */
    tm_strid id_text;              /* 0 = the id is a number */
    uint32_t device;               /* set at the end: index into trace.devices, or TM_NONE */
    struct tm_process_class class; /* set at the end */
};

/* What belongs to a track beside its row in trace->tracks, which has the same number. */
struct tm_chrome_track {
    uint64_t process;         /* row of processes; of a device's stream: the one of its first event */
    uint64_t number;          /* of its process in trace.tracks: all streams of a device share one */
    int64_t order;            /* thread_sort_index */
    struct tm_json_id thread; /* without its text */
    tm_strid thread_text;     /* 0 = the id is a number */
    tm_strid name;            /* as thread_name says */
    int64_t ordinal;          /* of the device */
    uint32_t stream;          /* of a thread: see tm_track.stream */
    uint8_t sort;             /* enum tm_chrome_sort */
    uint8_t accelerator;      /* enum tm_accelerator, of TM_CHROME_UNKNOWN_DEVICE */
};

static inline bool tm_chrome_has_thread(enum tm_chrome_sort sort)
{
    return sort == TM_CHROME_THREAD || sort == TM_CHROME_DEVICE || sort == TM_CHROME_UNKNOWN_DEVICE;
}

enum { TM_CHROME_NEAR = 64 }; /* a power of two */

/* Successive events use few tracks.  The key of a track; for strings their hash. */
struct tm_near_track {
    uint64_t process, thread;
    int64_t ordinal;
    uint32_t sorts; /* of ids and of the track */
    uint32_t track;
    bool is_used;
};

struct tm_chrome_tracks {
    struct tm_run *run;
    struct tm_trace *trace;
    struct tm_key_map *process_numbers; /* hash of the identity of a process -> its row */
    struct tm_key_map *track_numbers;
    struct tm_rows *processes; /* struct tm_chrome_process */
    struct tm_rows *tracks;    /* struct tm_chrome_track */
    struct tm_near_track near[TM_CHROME_NEAR];
    bool has_ascend; /* set at the end: a process has the name of Ascend's hardware */
    bool has_planes; /* set at the end: the file comes from JAX's or TensorFlow's writer */
};

tm_status tm_chrome_tracks_open(struct tm_chrome_tracks *t, struct tm_trace *trace) TM_MUST_USE;
void tm_chrome_tracks_close(struct tm_chrome_tracks *t); /* tolerates a zeroed one */

/* The track of an event, found or made.  What fails here and below is remembered in run->error.
 * in: ordinal  of the device, for TM_CHROME_DEVICE and _UNKNOWN_DEVICE */
uint32_t tm_chrome_track_of(struct tm_chrome_tracks *t, const struct tm_chrome_event *event, enum tm_chrome_sort sort,
                            int64_t ordinal);
/* Tracks are those of a thread, and of a stream with an event that names the same process and thread.  The first such
 * stream stays. */
void tm_chrome_pair_stream(struct tm_chrome_tracks *t, uint32_t thread, uint32_t stream);
/* A metadata event: names and order of processes and threads; others are ignored. */
void tm_chrome_take_metadata(struct tm_chrome_tracks *t, const struct tm_chrome_event *event);
/* All names are known: sides, devices, lines and names of all tracks. */
void tm_chrome_tracks_finish(struct tm_chrome_tracks *t, const struct tm_chrome_header *header);

/* The previous event, if it is on a thread or a stream. */
struct tm_chrome_lately {
    bool is_any;
    uint32_t thread, track; /* thread: of its process and thread; track: where it is */
    struct tm_json_time ts;
};

/* chrome_scan.c: what an event becomes. */
struct tm_chrome_maker {
    struct tm_run *run;
    struct tm_trace *trace;
    struct tm_chrome_tracks *tracks;
    struct tm_record_store *store;
    struct tm_flow_tally *flows; /* NULL = they are stored */
    struct tm_configs *configs;
    struct tm_chrome_reader *reader;
    const struct tm_chrome_header *header; /* of the document, as far as it has been read */
    struct tm_chrome_arguments *arguments; /* NULL = they are not kept */
    struct tm_chrome_lately lately;        /* where they are kept */
    bool has_origin;
    int64_t origin_us; /* subtracted from every time */
    uint64_t complete; /* X events */
    union tm_args args;
    uint8_t numbers[TM_TEMPLATE_NUMBERS_MOST]; /* of arguments that have a template */
};

#endif
