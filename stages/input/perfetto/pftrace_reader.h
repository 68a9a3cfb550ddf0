/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PFTRACE_READER_H
#define TM_PFTRACE_READER_H

#include "stages/input/bytes/inflate.h"
#include "stages/input/bytes/input_file.h"
#include "stages/input/xspace/xspace_reader.h"

/* The packets of a Perfetto trace, one after the other, out of a byte stream, in memory of a fixed size.  Packets that
 * are packed (compressed_packets, zstd_compressed_packets) are unpacked on the way.  After damage, reading resumes at
 * the next whole packet; the bytes between are counted.
 * source: protos/perfetto/trace/trace.proto, trace_packet.proto */

/* A packet with the fields that are read.  Messages are views: valid until the next packet; .at NULL: absent. */
struct tm_pftrace_packet {
    uint64_t offset; /* of its first byte in the content; of a packed one, of the packet that it is in */
    uint64_t timestamp;
    uint32_t clock, sequence, machine; /* 0 = not recorded */
    bool has_timestamp;
    bool is_clean;      /* the state of its sequence is reset */
    bool uses_state;    /* it cannot be read without that state */
    bool is_after_loss; /* the writer lost packets of the sequence before it */
    uint32_t other;     /* field of other data; 0 = none */
    struct tm_wire event, track, defaults, snapshot, attributes, interned;
    struct tm_wire thread, process, process_tree; /* of a sequence, as older writers describe them; of the system */
    struct tm_wire packed, zstd;
};

/* Fields of TrackEvent that several files read, and of its defaults. */
enum tm_pftrace_field {
    TM_PFTRACE_FIELD_TRACK = 11,
    TM_PFTRACE_FIELD_EXTRA_VALUES = 12,
    TM_PFTRACE_FIELD_EXTRA_TRACKS = 31,
    TM_PFTRACE_FIELD_OLD_FLOWS = 36,
    TM_PFTRACE_FIELD_OLD_ENDING_FLOWS = 42,
    TM_PFTRACE_FIELD_EXTRA_REAL_TRACKS = 45,
    TM_PFTRACE_FIELD_EXTRA_REAL_VALUES = 46,
    TM_PFTRACE_FIELD_FLOWS = 47,
    TM_PFTRACE_FIELD_ENDING_FLOWS = 48,
};

/* For tests.  Zeroed = the defaults. */
struct tm_pftrace_options {
    size_t window_bytes; /* of a packet that is read; 0 = 256 KiB and its head */
    size_t read_bytes;   /* bytes per read; 0 = as many as fit */
};

struct tm_pftrace_damage {
    const char *problem; /* the first one, in words; NULL = none */
    uint64_t at;         /* its byte of the content */
    uint64_t places;     /* that are damaged; a content that ends too early is none */
    uint64_t bytes;      /* skipped in total */
};

struct tm_pftrace_reader;

/* in:     input  open, not yet streamed or held; must outlive the reader
 * errors: NULL, with the error in run->error */
struct tm_pftrace_reader *tm_pftrace_reader_new(struct tm_run *run, struct tm_input *input,
                                                const struct tm_pftrace_options *options) TM_MUST_USE;
void tm_pftrace_reader_free(struct tm_pftrace_reader *reader); /* tolerates NULL */

/* The next packet.  Damage is tallied: DAMAGED_PACKETS, CUT_SHORT, LONG_VALUE (packets larger than the window).
 * out:    false at the end, and after a failure */
bool tm_pftrace_next(struct tm_pftrace_reader *reader, struct tm_pftrace_packet *packet) TM_MUST_USE;

const struct tm_pftrace_damage *tm_pftrace_damage(const struct tm_pftrace_reader *reader);

/* After the last field of a message: bytes that are left over are damaged, and are in a tally. */
static inline void tm_pftrace_check_end(struct tm_run *run, const struct tm_wire *bytes)
{
    if (bytes->at != bytes->end)
        tm_tally_add(&run->tallies, TM_TALLY_BAD_FIELD, 1);
}

#endif
