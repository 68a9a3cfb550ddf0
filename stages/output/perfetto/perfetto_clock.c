/* SPDX-License-Identifier: Apache-2.0 */
/* Times are written as the time since the packet before: a fifth to a third less of the compressed file than whole
 * times.  The clock of the sequence and that of the trace (BOOTTIME) read 0 at the start of the profile, as the times of
 * a report do; what the clock of the recording read then stands beside them: REALTIME where it counts from 1970, so that
 * viewers can show the time of day, else MONOTONIC.  The snapshot is repeated where time steps back: always the same, so
 * that files can be put together in any order.
 * source: https://perfetto.dev/docs/reference/trace-packet-proto, ClockSnapshot */
#include "stages/output/perfetto/perfetto_private.h"

enum { SEQUENCE_CLOCK = 64, TRACE_CLOCK = 6, REALTIME = 1, MONOTONIC = 3 };

static const int64_t since_1970_ns = INT64_C(100000000000000000); /* 1973: no machine is up that long */

tm_status tm_perfetto_put_clock(struct tm_perfetto *w, bool begins_anew)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
    Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
    Perfetto__Clock clocks[3] = { PERFETTO__CLOCK__INIT, PERFETTO__CLOCK__INIT, PERFETTO__CLOCK__INIT };
    Perfetto__Clock *at[3] = { &clocks[0], &clocks[1], &clocks[2] };

    for (int i = 0; i < 3; i++)
        clocks[i].has_clock_id = clocks[i].has_timestamp = true;
    clocks[0].clock_id = SEQUENCE_CLOCK;
    clocks[0].has_is_incremental = clocks[0].is_incremental = true;
    clocks[1].clock_id = TRACE_CLOCK;
    clocks[2].clock_id = w->options.epoch_ns >= since_1970_ns ? REALTIME : MONOTONIC;
    clocks[2].timestamp = (uint64_t)w->options.epoch_ns;
    snapshot.n_clocks = w->options.epoch_ns > 0 ? 3 : 2;
    snapshot.clocks = at;
    packet.clock_snapshot = &snapshot;
    packet.has_trusted_packet_sequence_id = packet.has_sequence_flags = true;
    packet.trusted_packet_sequence_id = TM_PERFETTO_SEQUENCE;
    packet.sequence_flags = begins_anew ? TM_PERFETTO_ANEW : TM_PERFETTO_USES_NAMES;
    if (begins_anew) {
        defaults.has_timestamp_clock_id = true;
        defaults.timestamp_clock_id = SEQUENCE_CLOCK;
        packet.trace_packet_defaults = &defaults;
    }
    w->clock_ns = 0;
    return tm_packets_put(&w->packets, &packet);
}
