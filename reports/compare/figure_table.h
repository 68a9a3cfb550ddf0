/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FIGURE_TABLE_H
#define TM_FIGURE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The figures of a summary that a comparison sets beside each other. */

/* Of what values of single steps the significance is worked out, where there are any. */
enum figure_steps {
    FIGURE_OF_RUN,   /* one value per run */
    FIGURE_OF_STEP,  /* the length of a step, by its median */
    FIGURE_OF_MEAN_STEP, /* by its mean */
    FIGURE_OF_PARTS, /* the sum of parts of a step */
    FIGURE_OF_SHARE, /* their share of it */
};

struct tm_compared_figure {
    const char *path; /* in the summary: its id */
    const char *title;
    const char *kind;   /* time, pct, count, bytes, rate, number */
    const char *better; /* less, more, neither */
    bool is_per_step;   /* a sum: divided by steps and devices */
    enum figure_steps steps;
    uint32_t parts; /* bits by enum tm_part */
};

extern const struct tm_compared_figure tm_compared_figures[];
extern const size_t tm_compared_figure_count;

#endif
