/* SPDX-License-Identifier: Apache-2.0 */
/* Packets in blocks, blocks in a file.  A block is deflated on its own, so that a file that is cut short loses no more
 * than its last block, and files that are put together are one trace.  Memory: two blocks and what deflate
 * takes, of fixed sizes.
 * source: https://perfetto.dev/docs/reference/trace-packet-proto, compressed_packets; RFC 1950 */
#include "stages/output/perfetto/perfetto_packets.h"

#include <assert.h>

#include "stages/output/perfetto/perfetto_wire.h"

tm_status tm_packets_open(struct tm_packets *p, struct tm_run *run, bool is_deflating)
{
    p->run = run;
    if (!is_deflating)
        return TM_OK;
    p->deflated = tm_take(&run->budget, TM_ACCOUNT_TABLES, TM_PACKETS_BLOCK_BYTES, &run->error);
    if (p->deflated)
        p->deflater = tm_block_deflater_new(run);
    return p->deflater ? TM_OK : run->error.status;
}

void tm_packets_close(struct tm_packets *p)
{
    tm_block_deflater_free(p->deflater);
    if (p->deflated)
        tm_give(&p->run->budget, TM_ACCOUNT_TABLES, p->deflated, TM_PACKETS_BLOCK_BYTES);
    p->deflater = NULL;
    p->deflated = NULL;
}

void tm_packets_begin_file(struct tm_packets *p, struct tm_out_file *file)
{
    p->file = file;
    p->raw_bytes = 0;
    p->used = 0;
}

enum { TRACE_PACKET = 1, COMPRESSED_PACKETS = 50 }; /* fields of Trace and of TracePacket */

/* The block becomes a block with one packet; one that cannot be shrunk stays as it is. */
static void deflate_block(struct tm_packets *p)
{
    const size_t bytes = tm_block_deflate(p->deflater, p->block, p->used, p->deflated, TM_PACKETS_BLOCK_BYTES);
    const size_t packet = TM_PB_FIELD + tm_pb_number_bytes(bytes) + bytes;

    if (!bytes)
        return;
    p->used = (size_t)(tm_pb_bytes(tm_pb_head(p->block, TRACE_PACKET, packet), COMPRESSED_PACKETS, p->deflated,
                                     bytes) - p->block);
}

tm_status tm_packets_write_plain(struct tm_packets *p)
{
    const tm_status status = tm_out_file_write(p->file, p->block, p->used);

    p->used = 0;
    return status;
}

static tm_status write_block(struct tm_packets *p)
{
    if (p->deflater && p->used > 0 && p->used <= TM_PACKETS_BLOCK_BYTES)
        deflate_block(p);
    return tm_packets_write_plain(p);
}

uint8_t *tm_packets_room(struct tm_packets *p, size_t bytes)
{
    const size_t all = bytes + 1 + tm_pb_number_bytes(bytes);
    uint8_t *to;

    assert(all <= TM_PACKET_MOST);
    if (p->used + all > TM_PACKETS_BLOCK_BYTES && write_block(p) != TM_OK)
        return NULL;
    to = tm_pb_head(p->block + p->used, TRACE_PACKET, bytes);
    p->used += all;
    p->raw_bytes += all;
    return to;
}

tm_status tm_packets_put(struct tm_packets *p, const Perfetto__TracePacket *packet)
{
    uint8_t *const to = tm_packets_room(p, perfetto__trace_packet__get_packed_size(packet));

    if (!to)
        return p->run->error.status;
    (void)perfetto__trace_packet__pack(packet, to);
    return TM_OK;
}

tm_status tm_packets_end_file(struct tm_packets *p)
{
    const tm_status status = write_block(p);

    p->file = NULL;
    return status;
}
