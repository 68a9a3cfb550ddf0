/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TALLY_H
#define TM_TALLY_H

#include <stdint.h>

/* Everything that was read but is in no figure, by name: promise 2 of the design.  A note is
 * harmless; a loss means that a figure may be smaller than the truth, and is an error under --strict. */
enum tm_tally_level { TM_TALLY_NOTE, TM_TALLY_LOSS };

enum tm_tally {
    TM_TALLY_AGGREGATED_EVENT,    /* num_occurrences instead of a start: no place in time */
    TM_TALLY_BAD_FIELD,           /* a wire type that does not fit its field: skipped */
    TM_TALLY_CLOCK_OUTLIER,       /* over 100 days after the origin, or over 5 before it */
    TM_TALLY_CUT_SHORT,           /* bytes after the point where a truncated input ends */
    TM_TALLY_DERIVED,             /* events of lines that viewers add: counted, in no figure */
    TM_TALLY_DUPLICATE_METADATA,  /* two entries of one id: the last one counts */
    TM_TALLY_DEEP_NESTING,        /* spans open at once on one thread beyond the limit */
    TM_TALLY_INVALID_UTF8,        /* names that are not UTF-8: kept as bytes */
    TM_TALLY_LONG_VALUE,          /* values longer than the read buffer: the event is kept without them */
    TM_TALLY_NEGATIVE_DURATION,   /* kept with length 0 */
    TM_TALLY_NEGATIVE_START,      /* starts before the profile: kept */
    TM_TALLY_NO_METADATA,         /* events whose metadata id has no entry: kept without a name */
    TM_TALLY_UNKNOWN_DEVICE,      /* events on planes of device kinds we do not know */
    TM_TALLY_UNKNOWN_FIELD,       /* fields that the format does not define: skipped */
    TM_TALLY_UNKNOWN_PLANE,       /* events on planes that are neither host nor device */
    TM_TALLY_WRONG_CLOCK,         /* a launch that begins after its device work */
    TM_TALLY_PROFILER_WARNING,    /* warnings and errors that the profiler left in the file */
    TM_TALLY_UNSORTED_LINE,       /* lines not in the order of time: sorted by us */
    TM_TALLY_COUNT
};

struct tm_tally_info {
    const char *name; /* as in summary.json: "negative-duration" */
    enum tm_tally_level level;
    const char *help; /* one sentence */
};

/* A row per tally, indexed by the enum. */
extern const struct tm_tally_info tm_tally_info[TM_TALLY_COUNT];

struct tm_tallies {
    uint64_t count[TM_TALLY_COUNT];
};

static inline void tm_tally_add(struct tm_tallies *t, enum tm_tally which, uint64_t n)
{
    t->count[which] += n;
}

/* How many events are in tallies of level loss. */
uint64_t tm_tally_losses(const struct tm_tallies *t);

#endif
