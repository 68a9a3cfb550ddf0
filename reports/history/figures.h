/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HISTORY_FIGURES_H
#define TM_HISTORY_FIGURES_H

#include "pipeline/doc/doc.h"

/* The figures of a run that the history keeps: one column each.  A new one goes to the end, and raises
 * TM_HISTORY_VERSION (history.h). */
enum tm_figure_better { TM_BETTER_LOWER, TM_BETTER_HIGHER, TM_BETTER_NEITHER };

struct tm_history_figure {
    const char *id;    /* of the column: "step_time_ps", "device_utilization_pct" */
    const char *title; /* "step time" */
    const char *path;  /* in the summary; where "[*]" stands in it, the largest one counts */
    const char *unit;  /* as tm_kind_unit: "ps", "bytes", "%", "FLOP/s", "" = a count */
    enum tm_figure_better better;
    double least_change; /* below it a change is not told, in percent of what it was; of a share in points */
    bool has_trend;      /* it gets a chart and is searched for changes */
    bool is_of_steps;    /* null where no steps were marked: the session is no step */
    uint32_t parts;      /* bits by enum tm_part (compare/sides.h): the sum of these parts of the time of a step on a
                            device, in place of what stands at the path; 0 = none */
    double scale;        /* of what stands at the path, in this unit; 0 = 1 */
};

enum { TM_FIGURES_MOST = 64 };
extern const struct tm_history_figure tm_figure_table[];
extern const size_t tm_figure_count;                                            /* at most TM_FIGURES_MOST */
const struct tm_history_figure *tm_figure_by_id(const char *id, size_t *index); /* NULL = there is none */

/* Fill "figures" {id: number | null}, "facts" {"run", "hosts", "devices", "platform", "model", "partial"} and "verdict"
 * {"text", "severity", "finding" (title of the first one) | null} of a result from the summary of its run. */
void tm_history_facts(struct tm_value *to, const struct tm_value *summary);

#endif
