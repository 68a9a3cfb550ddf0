/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PERFETTO_PRIVATE_H
#define TM_PERFETTO_PRIVATE_H

#include "stages/output/perfetto/perfetto_arguments.h"
#include "stages/output/perfetto/perfetto_writer.h"
#include "stages/output/trace_writer.h"

/* Names of arguments that are ours. */
enum tm_perfetto_own_key {
    TM_PERFETTO_KEY_CUT,
    TM_PERFETTO_KEY_BEGIN,
    TM_PERFETTO_KEY_DURATION,
    TM_PERFETTO_KEY_UNFINISHED,
    TM_PERFETTO_OWN_KEYS
};

/* Bytes of a TrackEvent on the wire, at most: its own numbers, its arguments, texts. */
enum {
    TM_PERFETTO_EVENT_BYTES = 16 * TM_PB_MOST +
                              (TM_PERFETTO_VALUES_MOST + TM_PERFETTO_OWN_KEYS) * TM_PERFETTO_VALUE_BYTES +
                              TM_PERFETTO_COPIED_MOST + 2 * TM_ARGUMENTS_MOST,
};

enum { TM_PERFETTO_SEQUENCE = 1 };                         /* of all packets */
enum { TM_PERFETTO_ANEW = 1, TM_PERFETTO_USES_NAMES = 2 }; /* sequence_flags */

/* All of it is one piece of memory, of a fixed size. */
struct tm_perfetto {
    struct tm_trace_writer base;
    struct tm_writer_options options;
    tm_strid own_keys[TM_PERFETTO_OWN_KEYS];
    int64_t clock_ns; /* what the clock of the sequence reads: times are written as what has gone by since */
    struct tm_perfetto_names names;
    struct tm_perfetto_arguments arguments;
    struct tm_packets packets;
    uint8_t event[TM_PERFETTO_EVENT_BYTES]; /* of the packet that is made */
};

/* A packet that protobuf-c makes.  Texts are gone after it. */
tm_status tm_perfetto_put(struct tm_perfetto *w, Perfetto__TracePacket *packet) TM_MUST_USE;
/* The clock of the sequence reads 0; begins_anew: the tables of names are empty, too. */
tm_status tm_perfetto_put_clock(struct tm_perfetto *w, bool begins_anew) TM_MUST_USE;
/* The first packet: the program that wrote the file.  It is never deflated, so that the first bytes tell. */
tm_status tm_perfetto_put_origin(struct tm_perfetto *w) TM_MUST_USE;
/* What the file says of itself and how rows are ordered; a row. */
tm_status tm_perfetto_put_facts(struct tm_perfetto *w) TM_MUST_USE;
tm_status tm_perfetto_put_row(struct tm_trace_writer *base, const struct tm_out_row *row) TM_MUST_USE;

#endif
