/* SPDX-License-Identifier: Apache-2.0 */
/* Causes of idle time by the class of host events. */
#include "stages/diagnose/time/causes.h"

#include "stages/resolve/classes.h"

const char *const tm_cause_name[TM_CAUSE_COUNT] = {
    [TM_CAUSE_DEVICE_WAIT] = "device_wait", [TM_CAUSE_LAUNCH] = "launch", [TM_CAUSE_COMPILE] = "compile",
    [TM_CAUSE_INPUT] = "input",             [TM_CAUSE_SYNC] = "sync",     [TM_CAUSE_GC] = "gc",
    [TM_CAUSE_PROFILER] = "profiler",       [TM_CAUSE_HOST] = "host",     [TM_CAUSE_UNRECORDED] = "unrecorded",
};

enum tm_cause tm_cause_of_class(enum tm_class class)
{
    switch (class) {
    case TM_CLASS_LAUNCH:
        return TM_CAUSE_LAUNCH;
    case TM_CLASS_COMPILE:
        return TM_CAUSE_COMPILE;
    case TM_CLASS_INPUT:
        return TM_CAUSE_INPUT;
    case TM_CLASS_SYNC:
        return TM_CAUSE_SYNC;
    case TM_CLASS_GC:
        return TM_CAUSE_GC;
    case TM_CLASS_PROFILER:
        return TM_CAUSE_PROFILER;
    default:
        return TM_CAUSE_HOST;
    }
}

struct tm_cause_reason tm_cause_reason_of(enum tm_class class, uint32_t traits)
{
    const enum tm_cause cause = tm_cause_of_class(class);
    const bool is_wait = cause == TM_CAUSE_HOST && traits & TM_TRAIT_WAIT;

    return (struct tm_cause_reason){ .cause = (uint8_t)(is_wait ? TM_CAUSE_SYNC : cause), .is_weak = is_wait };
}
