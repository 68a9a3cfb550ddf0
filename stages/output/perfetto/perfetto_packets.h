/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PERFETTO_PACKETS_H
#define TM_PERFETTO_PACKETS_H

#include "perfetto.pb-c.h"
#include "pipeline/run.h"
#include "stages/output/file/block_deflater.h"
#include "stages/output/file/out_file.h"

/* Packets on their way into a file.  They are gathered in a block; a full one is written as it is, or deflated into one
 * packet (compressed_packets), which viewers read like the packets themselves. */
enum {
    TM_PACKETS_BLOCK_BYTES = 512 << 10, /* what a block holds; a packet that is larger goes into the file as it is */
    TM_PACKET_MOST = 1 << 20, /* bytes of one packet on the wire with its head, at most */
};

struct tm_packets {
    struct tm_run *run;
    struct tm_out_file *file;  /* NULL = none is open */
    uint64_t raw_bytes;        /* of the file so far, before compression */
    struct tm_block_deflater *deflater; /* NULL = blocks are written as they are */
    uint8_t *deflated;         /* TM_PACKETS_BLOCK_BYTES; NULL likewise */
    size_t used;               /* of block */
    uint8_t block[TM_PACKET_MOST];
};

/* in:     packets  zeroed memory
 * errors: TM_ERR_LIMIT */
tm_status tm_packets_open(struct tm_packets *packets, struct tm_run *run, bool is_deflating) TM_MUST_USE;
void tm_packets_close(struct tm_packets *packets); /* tolerates zeroed memory */
void tm_packets_begin_file(struct tm_packets *packets, struct tm_out_file *file);
/* A packet of so many bytes, at most TM_PACKET_MOST with its head, which the caller writes.
 * errors: NULL */
uint8_t *tm_packets_room(struct tm_packets *packets, size_t bytes) TM_MUST_USE;
tm_status tm_packets_put(struct tm_packets *packets, const Perfetto__TracePacket *packet) TM_MUST_USE;
/* What is gathered goes into the file as it is, not deflated. */
tm_status tm_packets_write_plain(struct tm_packets *packets) TM_MUST_USE;
tm_status tm_packets_end_file(struct tm_packets *packets) TM_MUST_USE;

#endif
