/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_THRESHOLDS_H
#define TM_THRESHOLDS_H

#include <stdbool.h>

#include "pipeline/doc/doc.h"

/* The table that turns figures into assessments: bands of the KPIs and limits of the findings.  The
 * default is schemas/thresholds.json, built into the program; a file of the same form replaces what
 * it names. */

/* In the order of the reports. */
enum tm_kpi {
    TM_KPI_MODEL_FLOP_UTILIZATION,
    TM_KPI_STEP_TIME,
    TM_KPI_DEVICE_UTILIZATION,
    TM_KPI_KERNEL_DURATION,
    TM_KPI_SMALL_KERNEL_SHARE,
    TM_KPI_HOST_OVERHEAD,
    TM_KPI_MEMORY_BANDWIDTH,
    TM_KPI_COMPILE_TIME,
    TM_KPI_UNEXPECTED_COMPILES,
    TM_KPI_PEAK_MEMORY,
    TM_KPI_OCCUPANCY,
    TM_KPI_TRANSFER_SHARE,
    TM_KPI_TOP_OP_SHARE,
    TM_KPI_EXPOSED_COLLECTIVE,
    TM_KPI_IMBALANCE,
    TM_KPI_COUNT
};

enum tm_limit {
    TM_LIMIT_CRITICAL_SHARE,
    TM_LIMIT_WARNING_SHARE,
    TM_LIMIT_MENTION_SHARE,
    TM_LIMIT_DOMINANT_KERNEL,
    TM_LIMIT_TARGET_OP,
    TM_LIMIT_TARGET_OP_LONG,
    TM_LIMIT_ROOF_FAR,
    TM_LIMIT_ROOF_REACH,
    TM_LIMIT_MEMORY_BOUND,
    TM_LIMIT_PAUSE_SHARE,
    TM_LIMIT_PAGEABLE_SHARE,
    TM_LIMIT_REPEATED_SIZE,
    TM_LIMIT_PING_PONG,
    TM_LIMIT_RECOMPILED,
    TM_LIMIT_FRAGMENTATION,
    TM_LIMIT_LOST_EVENTS,
    TM_LIMIT_STRAGGLER,
    TM_LIMIT_SMALL_MESSAGE,
    TM_LIMIT_BUS_BANDWIDTH,
    TM_LIMIT_PROGRAMS_PER_STEP,
    TM_LIMIT_LAYOUT_COPIES,
    TM_LIMIT_TAIL,
    TM_LIMIT_SLOW_LAYER,
    TM_LIMIT_SMALL_ALLOCATIONS,
    TM_LIMIT_STEPS_TO_FULL,
    TM_LIMIT_LONG_LAUNCH,
    TM_LIMIT_COUNT
};

enum {
    TM_THRESHOLDS_FILE_MOST = 64 << 10, /* bytes of a thresholds file: ten times the default one */
    TM_THRESHOLD_TITLE_BYTES = 64,
    TM_THRESHOLD_UNIT_BYTES = 16,
    TM_THRESHOLD_DEFINITION_BYTES = 400,
};

/* One row of either table.  A KPI has bands: "higher is better" is good above `good` and bad below `bad`, and the
 * reverse for the others; values in between are a warning.  Without both limits it has no band. */
struct tm_threshold {
    char title[TM_THRESHOLD_TITLE_BYTES];
    char unit[TM_THRESHOLD_UNIT_BYTES];
    char definition[TM_THRESHOLD_DEFINITION_BYTES];
    bool higher_is_better;
    bool has_bands;
    double good, bad;
    double value; /* of a limit */
};

struct tm_thresholds {
    struct tm_threshold kpi[TM_KPI_COUNT];
    struct tm_threshold limit[TM_LIMIT_COUNT];
};

extern const char *const tm_kpi_id[TM_KPI_COUNT];
extern const char *const tm_limit_id[TM_LIMIT_COUNT];

/* The default table as text, as it is in schemas/thresholds.json. */
extern const char tm_thresholds_json[];

/* Fill in the default table.
 * errors: TM_ERR_USAGE never for the table that was tested with the program */
tm_status tm_thresholds_init(struct tm_thresholds *t, struct tm_error *error);

/* Replace what a file names; the rest stays unchanged.  Values, titles and definitions may be
 * changed, units and directions may only be repeated.
 * in:     path   a JSON file of at most TM_THRESHOLDS_FILE_MOST bytes, of the form of the default
 * errors: TM_ERR_USAGE  unreadable, too large, not JSON, an unknown or repeated name (the nearest known one is the
 *         hint), a value out of range, bands in the wrong order */
tm_status tm_thresholds_read(struct tm_thresholds *t, const char *path, struct tm_error *error);

/* The same for a text in memory; `name` is what messages call it. */
tm_status tm_thresholds_apply(struct tm_thresholds *t, const char *name, const char *text, size_t length,
                              struct tm_error *error);

/* Do two rows have the same limits and texts? */
bool tm_threshold_equals(const struct tm_threshold *a, const struct tm_threshold *b);

/* Write the effective table to summary.thresholds, in the form of the file, so that it can be copied
 * and used as one. */
void tm_thresholds_add(const struct tm_thresholds *t, struct tm_value *summary);

#endif
