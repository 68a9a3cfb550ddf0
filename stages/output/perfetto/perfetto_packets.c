/* SPDX-License-Identifier: Apache-2.0 */
/* Packets in blocks, blocks in a file.  A block is deflated on its own, so that a file that is cut short loses no more
 * than its last block, and files that are put together are one trace.  Memory: two blocks and what deflate
 * takes, of fixed sizes.
 * source: https://perfetto.dev/docs/reference/trace-packet-proto, compressed_packets; RFC 1950 */
#include "stages/output/perfetto/perfetto_packets.h"

#include <assert.h>

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

/* The packet behind what the block holds, as a field of the whole trace. */
static size_t pack(struct tm_packets *p, Perfetto__TracePacket *packet)
{
    Perfetto__Trace trace = PERFETTO__TRACE__INIT;

    trace.n_packet = 1;
    trace.packet = &packet;
    return perfetto__trace__pack(&trace, p->block + p->used);
}

/* The block becomes a block with one packet; one that cannot be shrunk stays as it is. */
static void deflate_block(struct tm_packets *p)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    const size_t bytes = tm_block_deflate(p->deflater, p->block, p->used, p->deflated, TM_PACKETS_BLOCK_BYTES);

    if (!bytes)
        return;
    packet.has_compressed_packets = true;
    packet.compressed_packets = (ProtobufCBinaryData){ bytes, p->deflated };
    p->used = 0;
    p->used = pack(p, &packet);
}

static tm_status write_block(struct tm_packets *p)
{
    tm_status status;

    if (p->deflater && p->used > 0 && p->used <= TM_PACKETS_BLOCK_BYTES)
        deflate_block(p);
    status = tm_out_file_write(p->file, p->block, p->used);
    p->used = 0;
    return status;
}

tm_status tm_packets_put(struct tm_packets *p, Perfetto__TracePacket *packet, size_t most_bytes)
{
    tm_status status = TM_OK;
    size_t bytes;

    assert(most_bytes <= TM_PACKET_MOST);
    if (p->used + most_bytes > TM_PACKETS_BLOCK_BYTES)
        status = write_block(p);
    if (status != TM_OK)
        return status;
    bytes = pack(p, packet);
    assert(bytes <= most_bytes);
    p->used += bytes;
    p->raw_bytes += bytes;
    return TM_OK;
}

tm_status tm_packets_end_file(struct tm_packets *p)
{
    const tm_status status = write_block(p);

    p->file = NULL;
    return status;
}
