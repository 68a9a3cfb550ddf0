/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PFTRACE_STATE_H
#define TM_PFTRACE_STATE_H

#include "pipeline/trace.h"
#include "stages/input/perfetto/pftrace_reader.h"

/* The state that packets depend on: the names and defaults of their sequence, and the clocks of the trace.  Names are
 * kept for any number of sequences, in tables that spill.
 * source: protos/perfetto/trace/interned_data/interned_data.proto, clock_snapshot.proto, trace_packet_defaults.proto;
 *         https://perfetto.dev/docs/concepts/clock-sync */
struct tm_pftrace_state;

enum tm_pftrace_table {
    TM_PFTRACE_CATEGORIES,
    TM_PFTRACE_NAMES,
    TM_PFTRACE_KEYS,    /* names of debug annotations */
    TM_PFTRACE_STRINGS, /* their values */
    TM_PFTRACE_LOCATIONS,
    TM_PFTRACE_TABLES
};

/* An entry of a table. */
struct tm_pftrace_entry {
    tm_strid text;       /* of a source location the file */
    tm_strid function;   /* of a source location */
    uint32_t line;       /* likewise; 0 = not recorded */
    uint32_t traits;     /* of a name */
    uint32_t generation; /* of the sequence's state; private */
    uint8_t stat;        /* enum tm_stat, of a key */
    bool is_number;      /* a string that may be a number */
};

enum { TM_PFTRACE_EXTRA_MOST = 8, TM_PFTRACE_CLOCKS_MOST = 4 };

/* A clock of a sequence. */
struct tm_pftrace_clock {
    uint32_t id; /* 0 = none */
    bool is_incremental;
    uint64_t unit_ns;
    int64_t now_ns;    /* of an incremental one */
    int64_t offset_ns; /* to the trace's clock */
};

struct tm_pftrace_sequence {
    uint32_t number;     /* of the sequence */
    uint32_t generation; /* how often its state has started again */
    bool is_valid;       /* nothing of that state is lost */
    bool has_track, has_thread;
    uint32_t clock; /* 0 = the trace's */
    uint64_t track; /* of events without one */
    int64_t pid, tid;
    int64_t reference_us; /* of older writers: what deltas count from */
    uint64_t extra[TM_PFTRACE_EXTRA_MOST], extra_real[TM_PFTRACE_EXTRA_MOST]; /* tracks of extra counter values */
    uint8_t extra_count, extra_real_count;
    struct tm_pftrace_clock clocks[TM_PFTRACE_CLOCKS_MOST];
};

/* errors: NULL, with the error in run->error */
struct tm_pftrace_state *tm_pftrace_state_new(struct tm_trace *trace) TM_MUST_USE;
void tm_pftrace_state_free(struct tm_pftrace_state *state); /* tolerates NULL */

/* Update the state of the packet's sequence, and the clocks, from the packet.
 * out:    NULL  it needs state that is lost, and is in a tally; else valid until the next call */
const struct tm_pftrace_sequence *tm_pftrace_enter(struct tm_pftrace_state *state,
                                                   const struct tm_pftrace_packet *packet);

/* The time of the packet that was entered last, on the clock of the trace.  Once for each packet that has a timestamp:
 * a clock may count from one to the next.
 * out:    false: it is not known, and is in a tally */
bool tm_pftrace_time(struct tm_pftrace_state *state, const struct tm_pftrace_packet *packet, int64_t *ns);

/* An entry of the sequence that was entered last.  out: false: it is missing, and *entry is zeroed */
bool tm_pftrace_find(struct tm_pftrace_state *state, enum tm_pftrace_table table, uint64_t iid,
                     struct tm_pftrace_entry *entry);

/* A number that changes when an entry is replaced by another one. */
uint32_t tm_pftrace_changes(const struct tm_pftrace_state *state);

/* A source location on the wire. */
void tm_pftrace_location(struct tm_pftrace_state *state, struct tm_wire bytes, struct tm_pftrace_entry *entry);

/* What the recording's clock read at a time of the trace: the time of day if the trace has it.  0 = not recorded */
int64_t tm_pftrace_clock_at(const struct tm_pftrace_state *state, int64_t ns);

#endif
