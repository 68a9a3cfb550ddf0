/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PLATFORMS_H
#define TM_PLATFORMS_H

#include <string.h>

#include "pipeline/doc.h"

/* Whether something is for the platform of a run: a report on a TPU or a CPU does not speak of what only GPUs have.
 * in:     platforms  "gpu", "gpu,tpu"; NULL = all.  A run without device activity has everything, with its reason */
static inline bool tm_is_for(const char *platforms, const struct tm_value *summary)
{
    const char *platform = tm_text(tm_path(summary, "environment.platform"));

    return !platforms || !*platform || strcmp(platform, "none") == 0 || strstr(platforms, platform) != NULL;
}

/* The same of a section of the summary, by its key. */
bool tm_section_is_for_run(const char *key, const struct tm_value *summary);

/* The same of a key figure, which says so itself. */
static inline bool tm_kpi_is_for_run(const struct tm_value *kpi)
{
    const struct tm_value *applies = tm_get(kpi, "applies");

    return !applies || tm_is(applies);
}

#endif
