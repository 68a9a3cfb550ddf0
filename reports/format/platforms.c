/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/format/platforms.h"

/* Sections that are not for all. */
static const struct {
    const char *key, *platforms;
} sections[] = {
    { "kernels", "gpu" },
    { "fusion", "gpu" },
    { "occupancy", "gpu" },
    { "transfers", "gpu,tpu" },
};

bool tm_section_is_for_run(const char *key, const struct tm_value *summary)
{
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        if (strcmp(sections[i].key, key) == 0)
            return tm_is_for(sections[i].platforms, summary);
    return true;
}
