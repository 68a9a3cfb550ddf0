/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PFTRACE_EVENT_H
#define TM_PFTRACE_EVENT_H

#include "pipeline/arguments.h"
#include "pipeline/source.h"
#include "stages/input/perfetto/pftrace_state.h"
#include "stages/input/records/device_clock.h"
#include "stages/input/records/facts.h"

/* A TrackEvent: its members, and its debug annotations as facts and as an argument list.
 * source: protos/perfetto/trace/track_event/track_event.proto, debug_annotation.proto */

enum tm_pftrace_type { /* as the format numbers them */
                       TM_PFTRACE_NO_TYPE,
                       TM_PFTRACE_BEGIN,
                       TM_PFTRACE_END,
                       TM_PFTRACE_INSTANT,
                       TM_PFTRACE_VALUE,
                       TM_PFTRACE_STATE
};

enum { TM_PFTRACE_CATEGORY_MOST = 512 };

struct tm_pftrace_event {
    struct tm_wire bytes;
    const uint8_t *first_annotation; /* in bytes; NULL = none */
    uint32_t type;                   /* enum tm_pftrace_type */
    bool has_track, has_value, is_real, has_flows, has_extra_values;
    uint64_t track;
    int64_t value;
    double real;
    int64_t delta_us, absolute_us; /* of older writers; instead of the packet's time */
    bool has_delta, has_absolute;
    tm_strid name;
    uint32_t traits;                         /* of the name */
    bool is_nameless;                        /* no name is given, or the number of a missing one */
    bool has_missing;                        /* a number of a missing name is used somewhere */
    char category[TM_PFTRACE_CATEGORY_MOST]; /* all of them, with commas */
    size_t category_length;
    struct { /* of events that came from Chrome's format */
        bool is_any, has_id, is_bound_to_enclosing, has_pid, has_tid;
        int32_t phase;
        uint64_t id;
        int64_t duration_us, pid, tid;
    } legacy;
    /* by tm_pftrace_event_say */
    struct tm_facts facts;
    bool is_unfinished;       /* an earlier conversion wrote that the input had no end of it */
    struct tm_arguments list; /* its category and annotations; where arguments are kept */
};

struct tm_pftrace_events; /* the code that reads them, with its buffers */

/* errors: NULL, with the error in run->error */
struct tm_pftrace_events *tm_pftrace_events_new(struct tm_trace *trace, struct tm_pftrace_state *state) TM_MUST_USE;
void tm_pftrace_events_free(struct tm_pftrace_events *events); /* tolerates NULL */

/* Its members.  bytes: of the TrackEvent, and valid as long as the event is used */
void tm_pftrace_event_read(struct tm_pftrace_events *events, struct tm_wire bytes, struct tm_pftrace_event *event);

/* Its facts, and its argument list where the trace keeps arguments.  Texts of the facts and the list are valid until the
 * next call.  is_own: this program wrote the file */
void tm_pftrace_event_say(struct tm_pftrace_events *events, bool is_own, struct tm_pftrace_event *event);

/* An integer of an event: the value of an annotation, or a flow id of eight bytes. */
struct tm_pftrace_number {
    uint16_t at;   /* of its first byte in the event */
    uint8_t bytes; /* 0: an annotation of this kind whose value is something else */
    uint8_t stat;  /* enum tm_stat, of an annotation */
    bool is_flow;
};

enum { TM_PFTRACE_NUMBERS_MOST = 32 };

/* The integers of an event that others of its call site may have differently.  Numbers of ten bytes are not listed.
 * out:    how many; SIZE_MAX if there are more than TM_PFTRACE_NUMBERS_MOST */
size_t tm_pftrace_event_numbers(struct tm_pftrace_events *events, const struct tm_pftrace_event *event,
                                struct tm_pftrace_number *numbers);

/* Copy a name, at most `most` bytes of it, to the caller's buffer.  out: its length there */
size_t tm_pftrace_text(struct tm_pftrace_events *events, tm_strid name, char *to, size_t most);

/* Events seen before (pftrace_known.c).  The events of a call site have the same bytes except for a few integers: the correlation id,
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
