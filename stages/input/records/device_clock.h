/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DEVICE_CLOCK_H
#define TM_DEVICE_CLOCK_H

#include "pipeline/source.h"
#include "stages/input/records/facts.h"

/* The clock of a TPU.  A trace gives each event a time on the host's clock, which the profiler computes, and also gives
 * ops the device's own time (device_offset_ps, device_duration_ps).  The profiler's mapping from one to the other
 * jumps, by up to hundreds of milliseconds; the device's own clock does not.  Therefore ops use their own times, all
 * other events of the device are mapped by the pairs of times of the surrounding ops, and everything is placed on the
 * host's clock by one constant, the median of the differences (METRICS.md 1, docs/metrics.md).
 *
 * Both inputs use this wherever they create a record, so every pass sees the same times.  Memory: two points for each
 * period with a constant difference; they spill. */
struct tm_device_clock;

/* What its own op says time. */
struct tm_device_times {
    int64_t offset_ps, duration_ps;
};

static inline bool tm_device_times_fit(const struct tm_device_times *times)
{
    return times->duration_ps >= 0 && tm_time_fits(times->offset_ps, times->duration_ps);
}

/* out:    false an event with these facts has no valid device time: not both, not integers, negative, or out of
 *         range */
bool tm_device_times_in(const struct tm_facts *facts, struct tm_device_times *times);

/* The same, at once if there are none. */
static inline bool tm_device_times_of(const struct tm_facts *facts, struct tm_device_times *times)
{
    return tm_facts_have(facts, TM_STAT_DEVICE_OFFSET) && tm_device_times_in(facts, times);
}

/* The two times of an op; one without a device time is reported with times NULL.
 * in:     recorded_ps  on the host's clock, which fits (tm_time_fits) */
void tm_device_clock_take(struct tm_device_clock *clock, int64_t recorded_ps, const struct tm_device_times *times);

/* Reads a line of ops and takes each that has a place in time. */
typedef void tm_read_clock(void *from, struct tm_device_clock *clock, uint64_t track);

/* Compute the clocks of all TPUs of a trace with complete tracks and devices, and report them in trace->devices.
 * in:     read  may be called twice for a track
 * out:    NULL if every device keeps the recorded times
 * owns:   the result is the caller's
 * errors: NULL, with the error in run->error: TM_ERR_LIMIT, TM_ERR_OUTPUT from the tables, and those of read */
struct tm_device_clock *tm_device_clock_read(struct tm_trace *trace, tm_read_clock *read, void *from) TM_MUST_USE;
void tm_device_clock_free(struct tm_device_clock *clock); /* tolerates NULL */

struct tm_clock_point {
    int64_t recorded_ps, device_ps;
};

/* Where a reader of a track is on the clock. */
struct tm_clock_place {
    struct tm_device_clock *clock; /* NULL = the recorded times hold */
    uint64_t first, count;         /* rows of its device */
    int64_t shift_ps;              /* from the device's time to the host's */
    bool is_ops;
    /* The stretch that was requested last: before.recorded_ps < t <= after.recorded_ps */
    uint64_t next; /* of `after`, counted from the first */
    struct tm_clock_point before, after;
    bool has_before, has_after;
};

/* out: *place  of a track; clock may be NULL */
void tm_clock_place_begin(struct tm_device_clock *clock, const struct tm_track *track, struct tm_clock_place *place);

/* Carry a record over from its recorded times, which fit, by the ops around it.
 * out:    false: 64 bits have no room for it */
bool tm_clock_place_carry(struct tm_clock_place *place, struct tm_record *record) TM_MUST_USE;

/* Put a record with recorded times, which fit, on the clock.  Not where place->clock is NULL.
 * in:     times  its own, which fit; NULL = none.  They count on a line of ops only
 * out:    false: it has no place in time */
static inline bool tm_clock_place_record(struct tm_clock_place *place, const struct tm_device_times *times,
                                         struct tm_record *record)
{
    if (times && place->is_ops) {
        record->start_ps = times->offset_ps;
        record->dur_ps = times->duration_ps;
    } else if (!tm_clock_place_carry(place, record)) {
        return false;
    }
    return !__builtin_add_overflow(record->start_ps, place->shift_ps, &record->start_ps) &&
           tm_time_fits(record->start_ps, record->dur_ps);
}

#endif
