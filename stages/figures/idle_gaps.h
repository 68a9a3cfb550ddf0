/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_IDLE_GAPS_H
#define TM_IDLE_GAPS_H

#include "pipeline/record.h"

/* Why a device was idle: docs/metrics.md, "Idle gaps".  The order is that of the summary; of equal parts of a gap
 * the first one names it. */
enum tm_cause {
    TM_CAUSE_DEVICE_WAIT,
    TM_CAUSE_LAUNCH,
    TM_CAUSE_COMPILE,
    TM_CAUSE_INPUT,
    TM_CAUSE_SYNC,
    TM_CAUSE_GC,
    TM_CAUSE_PROFILER,
    TM_CAUSE_HOST,
    TM_CAUSE_UNRECORDED,
    TM_CAUSE_COUNT
};

extern const char *const tm_cause_name[TM_CAUSE_COUNT];

/* What a host event says of the time in which it is the innermost one: its cause, or TM_CAUSE_HOST. */
enum tm_cause tm_cause_of_class(enum tm_class class);

/* Whether it says nothing but that the host works: TM_CAUSE_HOST, for every event. */
static inline bool tm_is_work(enum tm_class class)
{
    const uint64_t causes = UINT64_C(1) << TM_CLASS_LAUNCH | UINT64_C(1) << TM_CLASS_COMPILE |
                            UINT64_C(1) << TM_CLASS_INPUT | UINT64_C(1) << TM_CLASS_SYNC | UINT64_C(1) << TM_CLASS_GC |
                            UINT64_C(1) << TM_CLASS_PROFILER;

    return !(causes >> class & 1);
}

/* Why a thread did not launch: what an event says of it, or what a stack of open events does. */
struct tm_cause_reason {
    uint8_t cause; /* enum tm_cause */
    bool is_weak;  /* blocked, the name does not tell for what: TM_CAUSE_SYNC where nothing around it tells more */
};

/* in: traits  of the event's name */
struct tm_cause_reason tm_cause_reason_of(enum tm_class class, uint32_t traits);

/* Whether what the events around an event say holds in place of what it says itself: those of any cause, where it has
 * none; those of any but a blocked wait, where it is a blocked wait; an input event around a launch or a sync call. */
static inline bool tm_cause_yields(struct tm_cause_reason own, struct tm_cause_reason around)
{
    if (around.cause == TM_CAUSE_HOST)
        return false;
    if (own.cause == TM_CAUSE_HOST || own.is_weak)
        return own.cause == TM_CAUSE_HOST || !around.is_weak;
    return around.cause == TM_CAUSE_INPUT && (own.cause == TM_CAUSE_SYNC || own.cause == TM_CAUSE_LAUNCH);
}

/* Whether what an event says hides an input event around it from what lies in it: it does not yield to input itself. */
static inline bool tm_cause_hides_input(struct tm_cause_reason reason)
{
    return reason.cause == TM_CAUSE_COMPILE || reason.cause == TM_CAUSE_GC || reason.cause == TM_CAUSE_PROFILER;
}

#endif
