/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CAUSES_H
#define TM_CAUSES_H

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

#endif
