/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/content.h"

#include <string.h>

#include "reports/content/say.h"
#include "reports/findings/ask.h"
#include "reports/format/platforms.h"

const struct tm_section *const tm_sections[] = {
    &tm_findings_section,    &tm_steps_section,       &tm_devices_section,   &tm_gaps_section,
    &tm_ops_section,         &tm_scopes_section,      &tm_kernels_section,   &tm_fusion_section,
    &tm_programs_section,    &tm_occupancy_section,   &tm_roofline_section,  &tm_transfers_section,
    &tm_collectives_section, &tm_balance_section,     &tm_host_section,      &tm_fallback_section,
    &tm_compile_section,     &tm_memory_section,      &tm_environment_section, &tm_coverage_section,
    &tm_missing_section,     &tm_definitions_section, &tm_provenance_section,
};
const size_t tm_section_count = sizeof(tm_sections) / sizeof(tm_sections[0]);

const struct tm_section *tm_section_of(const char *id)
{
    for (size_t i = 0; i < tm_section_count; i++)
        if (strcmp(tm_sections[i]->id, id) == 0)
            return tm_sections[i];
    return NULL;
}

static const char *why_nothing(const struct tm_section *section, const struct tm_value *summary)
{
    return section->nothing ? section->nothing(summary) : "";
}

bool tm_section_is_due(const struct tm_section *section, const struct tm_value *summary)
{
    const bool has_data = !section->key || (tm_section_is_for_run(section->key, summary) &&
                                            tm_has(tm_get(summary, section->key)));

    return has_data && !*why_nothing(section, summary);
}

const char *tm_section_why_not(const struct tm_section *section, const struct tm_value *summary)
{
    const char *why;

    if (!section->key || !tm_section_is_for_run(section->key, summary))
        return "";
    if (tm_has(tm_get(summary, section->key)))
        return why_nothing(section, summary);
    why = tm_reason_of(summary, section->key);
    return *why ? why : "not recorded";
}

void tm_content_say(const struct tm_content *content)
{
    const struct tm_medium *medium = content->medium;

    for (size_t i = 0; i < tm_section_count; i++) {
        if (!tm_section_is_due(tm_sections[i], content->summary))
            continue;
        if (medium->section)
            medium->section(content->to, tm_sections[i]);
        tm_sections[i]->say(content);
        if (medium->end_section)
            medium->end_section(content->to, tm_sections[i]);
    }
}
