/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PFTRACE_KNOWN_H
#define TM_PFTRACE_KNOWN_H

#include "pipeline/source.h"
#include "stages/input/perfetto/pftrace_event.h"
#include "stages/input/records/device_clock.h"

/* Events seen before.  The events of a call site have the same bytes except for a few integers: the correlation id,
 * which follows the launch, and those that no figure uses.  A shape is a mask that leaves out the value bits of these
 * integers; a hash of the other bits identifies the event, as equal bytes are parsed alike.  What it becomes depends on
 * the state of its sequence and on the tracks too: `state` is a number that changes with them.
 * Memory: `input`, fixed. */
struct tm_pftrace_known_events;

enum { TM_PFTRACE_KNOWN_BYTES = 192 }; /* of an event; longer ones are not stored */

/* What an event became. */
struct tm_pftrace_known {
    uint32_t track;
    uint8_t type; /* enum tm_pftrace_type */
    bool has_flows, has_times;
    uint8_t correlation_at, correlation_bytes, number_at, number_bytes; /* bytes: 0 = it has none */
    struct tm_raw_record raw; /* without the numbers; args: NULL or those below */
    union tm_args args;
    struct tm_device_times times;
};

/* errors: NULL, with the error in run->error */
struct tm_pftrace_known_events *tm_pftrace_known_new(struct tm_run *run) TM_MUST_USE;
void tm_pftrace_known_free(struct tm_pftrace_known_events *k); /* tolerates NULL */

/* in:     event  TM_READER_SLACK bytes can be read after it
 * out:    NULL: it is not known; else valid until the next tm_pftrace_known_learn */
const struct tm_pftrace_known *tm_pftrace_known_find(struct tm_pftrace_known_events *k, uint64_t state,
                                                     struct tm_wire event);

/* Whether the event that was not found is to be stored: rarely where events do not repeat. */
bool tm_pftrace_known_may_learn(const struct tm_pftrace_known_events *k);

/* Store an event that was not found just now.
 * in:     numbers  what is not compared: integers that vary, and flow ids */
void tm_pftrace_known_learn(struct tm_pftrace_known_events *k, uint64_t state, struct tm_wire event,
                            const struct tm_pftrace_number *numbers, size_t count,
                            const struct tm_pftrace_known *known);

/* The integer at a place of an event that was found. */
static inline int64_t tm_pftrace_known_number(struct tm_wire event, uint8_t at, uint8_t bytes)
{
    struct tm_wire number = { event.at + at, event.at + at + bytes };
    uint64_t value = 0;

    (void)!tm_wire_varint(&number, &value); /* it ends where that of the known event does */
    return (int64_t)value;
}

#endif
