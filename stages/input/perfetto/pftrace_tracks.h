/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PFTRACE_TRACKS_H
#define TM_PFTRACE_TRACKS_H

#include "pipeline/trace.h"
#include "stages/input/perfetto/pftrace_reader.h"

/* The tracks of a Perfetto trace.  A descriptor may come anywhere, even after the events of its track, so the kind of a
 * track is determined at the end; which track has the records of another one is known earlier in the files of this
 * program, where descriptors come first.
 * source: protos/perfetto/trace/track_event/track_descriptor.proto */

enum tm_pftrace_kind {
    TM_PFTRACE_UNDECLARED,
    TM_PFTRACE_PROCESS,
    TM_PFTRACE_THREAD,
    TM_PFTRACE_COUNTER,
    TM_PFTRACE_PLAIN,
    /* ours */
    TM_PFTRACE_FLOWS, /* of the file: ends of arrows */
    TM_PFTRACE_ASYNC, /* of a process: spans that are joined by ids */
};

/* What belongs to a track beside its row in trace->tracks, which has the same number. */
struct tm_pftrace_track {
    uint64_t uuid, parent; /* parent: 0 = none */
    tm_strid name;
    tm_strid unit; /* of a counter */
    int64_t pid, tid, order;
    uint32_t holder; /* the track that has its records; TM_NONE = itself */
    uint32_t host;   /* of the hosts in a file of this program */
    uint8_t kind;    /* enum tm_pftrace_kind */
    bool is_computed;
    bool is_lane; /* its slices nest among themselves only; else those of all tracks of a holder nest in each other */
    /* a counter */
    bool is_incremental, has_late_name; /* late: it has records without a name */
    uint64_t unit_times;
    int64_t sum;
    double real_sum;
    /* from its events; set by the scan */
    int64_t given_ordinal;
    bool has_given_device;
    uint8_t accelerator; /* enum tm_accelerator */
    /* of the scan: spans that are open, see pftrace_scan.c */
    uint32_t top;    /* the innermost one that waits for its end, plus one; 0 = none */
    int64_t last_ns; /* of its last event */
    bool is_halved;  /* starts and ends are stored apart */
};

struct tm_pftrace_tracks {
    struct tm_run *run;
    struct tm_trace *trace;
    struct tm_key_map *numbers, *thread_numbers, *process_numbers;
    struct tm_rows *tracks;    /* struct tm_pftrace_track */
    struct tm_rows *threads;   /* uint32_t: the track of a thread, plus one */
    struct tm_rows *processes; /* struct process of pftrace_tracks.c */
    bool is_own;               /* this program wrote the file */
    bool has_planes;           /* set at the end: processes are planes of an XSpace */
    uint32_t host_count;       /* of own files: hosts whose names processes have */
    tm_strid hosts[64];
    int64_t first_ordinal[65]; /* set at the end: what the ordinals of a host's devices count from */
};

tm_status tm_pftrace_tracks_open(struct tm_pftrace_tracks *t, struct tm_trace *trace) TM_MUST_USE;
void tm_pftrace_tracks_close(struct tm_pftrace_tracks *t); /* tolerates a zeroed one */

/* The number of a track, found or made.  Failures are in run->error here and below. */
uint32_t tm_pftrace_track(struct tm_pftrace_tracks *t, uint64_t uuid);
/* Of a thread that no descriptor declares, of ends of arrows, of asynchronous spans of a process. */
uint32_t tm_pftrace_thread(struct tm_pftrace_tracks *t, int64_t pid, int64_t tid);
uint32_t tm_pftrace_flows(struct tm_pftrace_tracks *t);
uint32_t tm_pftrace_async(struct tm_pftrace_tracks *t, uint32_t of);

/* The track that has the records of a track, and the one in whose slices its slices nest. */
static inline uint32_t tm_pftrace_holder(struct tm_pftrace_tracks *t, uint32_t number)
{
    const struct tm_pftrace_track *const row = tm_rows_at(t->tracks, number);

    return row->holder == TM_NONE ? number : row->holder;
}

static inline uint32_t tm_pftrace_stack(struct tm_pftrace_tracks *t, uint32_t number)
{
    const struct tm_pftrace_track *const row = tm_rows_at(t->tracks, number);

    return row->holder == TM_NONE || row->is_lane ? number : row->holder;
}

/* A TrackDescriptor, a ProcessTree. */
void tm_pftrace_declare(struct tm_pftrace_tracks *t, struct tm_wire bytes);
void tm_pftrace_take_processes(struct tm_pftrace_tracks *t, struct tm_wire bytes);

/* All descriptors are known: what each track is, and its device. */
void tm_pftrace_tracks_finish(struct tm_pftrace_tracks *t);

#endif
