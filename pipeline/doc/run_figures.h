/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RUN_FIGURES_H
#define TM_RUN_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/doc/doc_fields.h"

/* The figures of a run that are not simply a member of its summary: one row each.  The rows define the columns of the
 * history, and with them the figures that a night assesses and OpenMetrics exports, the figures of a comparison, the
 * short names of figures in gates, and the gates that `check --init` proposes. */

/* The parts of a step, in the order in which they are reported. */
enum tm_part {
    TM_PART_COMPUTE,
    TM_PART_COLLECTIVES,
    TM_PART_COPY_H2D,
    TM_PART_COPY_D2H,
    TM_PART_COPY_P2P,
    TM_PART_COPY_D2D,
    TM_PART_COPY_OTHER,
    TM_PART_IDLE_DEVICE_WAIT,
    TM_PART_IDLE_LAUNCH,
    TM_PART_IDLE_COMPILE,
    TM_PART_IDLE_INPUT,
    TM_PART_IDLE_SYNC,
    TM_PART_IDLE_GC,
    TM_PART_IDLE_PROFILER,
    TM_PART_IDLE_HOST,
    TM_PART_IDLE_UNRECORDED,
    TM_PARTS
};

struct tm_part_kind {
    const char *id, *title;
    const char *path; /* in steps.parts, and in each of steps.list */
};

extern const struct tm_part_kind tm_part_kind[TM_PARTS];

/* The words of reports for a cause of idle time: "device stall" for "device_wait".  out: cause, if it is unknown */
const char *tm_idle_title(const char *cause);

enum tm_figure_better { TM_BETTER_LOWER, TM_BETTER_HIGHER, TM_BETTER_NEITHER };

/* The values of single steps that the significance of a change is computed from, if there are any. */
enum tm_figure_steps {
    TM_FIGURE_OF_RUN,       /* one value per run */
    TM_FIGURE_OF_STEP,      /* the length of a step, by its median */
    TM_FIGURE_OF_MEAN_STEP, /* by its mean */
    TM_FIGURE_OF_PARTS,     /* the sum of parts of a step */
    TM_FIGURE_OF_SHARE,     /* their share of it */
};

/* What `check --init` proposes. */
enum tm_figure_gate {
    TM_GATE_NONE,
    TM_GATE_NO_INCREASE, /* against a baseline */
    TM_GATE_BAND,        /* a key figure that has a band: not worse than it is now, with a margin */
    TM_GATE_AT_MOST,     /* not more than it is now; for sizes, with a margin */
};

struct tm_run_figure {
    const char *path; /* in the summary; where "[*]" is in it, the largest one counts */
    const char *name; /* in a sentence: "median step time" */
    enum tm_doc_kind kind;
    enum tm_figure_better better;
    const char *kpi; /* id of the key figure that it is; NULL = none */
    enum tm_figure_steps steps;
    uint32_t parts; /* bits by enum tm_part: those that it is the sum, or the share, of */

    /* In the history, where it is kept. */
    const char *id;      /* of its column: "step_time_ps", "device_utilization_pct" */
    double least_change; /* smallest reported change, in percent of the old value; for a share in percentage points */
    bool has_trend;      /* it gets a chart, is searched for changes, and a job is assessed by it */
    bool is_of_steps;    /* null where no steps were marked: the session is not a step */
    double scale;        /* of the value at the path, in the unit of its kind; 0 = 1 */

    /* In a comparison. */
    int place;         /* among its figures: they are shown in the order of these numbers; 0 = it is not compared */
    const char *title; /* NULL = the name, with a capital */
    bool is_per_step;  /* a sum: divided by steps and devices */

    /* In gates. */
    const char *short_name; /* for its path; NULL = none but the id of the key figure */
    enum tm_figure_gate gate;
    const char *gate_title, *gate_note; /* NULL: as the figure has them */
};

enum { TM_FIGURES_MOST = 64, TM_RUN_FIGURES_MOST = 96, TM_FIGURE_TITLE_BYTES = 64 };

/* Those that the history keeps, in the order of its columns.  The first one is the step time. */
extern const struct tm_run_figure tm_figure_table[];
extern const size_t tm_figure_count; /* at most TM_FIGURES_MOST */

/* All of them, at most TM_RUN_FIGURES_MOST, by number; NULL past the last. */
const struct tm_run_figure *tm_run_figure(size_t number);
/* One that the history keeps; NULL = none of them. */
const struct tm_run_figure *tm_run_figure_of_id(const char *id);
/* NULL = none of them.  in: path  of the figure, or of the value of the key figure that it is */
const struct tm_run_figure *tm_run_figure_at(const char *path);
const struct tm_run_figure *tm_run_figure_of_kpi(const char *id);

/* Is it the sum of parts of a step? */
static inline bool tm_figure_is_of_parts(const struct tm_run_figure *figure)
{
    return figure->steps == TM_FIGURE_OF_PARTS;
}

/* "Median step time".  out: returned */
char *tm_figure_headline(char out[TM_FIGURE_TITLE_BYTES], const struct tm_run_figure *figure);

/* The word for the unit of a figure in documents: "time" (picoseconds), "pct", "count", "bytes", "rate" (bytes/s),
 * "flop_rate" (FLOP/s), "number".  tm_figure_unit is its inverse.  out: TM_DOC_NUMBER for any other word */
#define TM_FIGURE_UNITS "time|pct|count|bytes|rate|flop_rate|number"
const char *tm_figure_unit_word(enum tm_doc_kind kind);
enum tm_doc_kind tm_figure_unit(const char *word);

#endif
