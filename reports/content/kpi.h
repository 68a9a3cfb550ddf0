/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_KPI_H
#define TM_KPI_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/doc.h"
#include "reports/format/format.h"

/* A key figure, ready to be shown. */
struct tm_key_figure {
    const struct tm_value *kpi; /* of the summary: tm_sign_of_kpi wants it */
    const char *id, *title, *definition;
    const char *band; /* "good", "warning", "bad", "unknown"; "" where it is outside its band and costs nothing */
    const char *why;  /* it has no value, or the value no judgement, or it costs nothing; "" = nothing to say */
    size_t finding;   /* of this number has its savings, 1 is the first; 0 = none */
    bool has_value;
    char value[TM_FORMAT_BYTES];                    /* with its unit; "" without */
    char good[TM_FORMAT_BYTES], bad[TM_FORMAT_BYTES]; /* limits, "> 80 %"; "" = none */
    double place; /* of the value on a scale of three equal parts, bad 0 to 1/3, warning, good 2/3 to 1; -1 = none */
};

/* Those that have a meaning in this run; none where no figure has a value.  Model FLOP utilization and the step time come
 * first. */
size_t tm_kpi_count(const struct tm_value *summary);
void tm_kpi_at(struct tm_key_figure *out, const struct tm_value *summary, size_t index);

#endif
