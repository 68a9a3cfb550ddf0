/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/content.h"

#include <string.h>

#include "reports/chart/chart.h"
#include "reports/content/emit.h"
#include "reports/findings/query.h"
#include "reports/format/format.h"

static void emit_findings(const struct tm_content *content)
{
    const struct tm_value *findings = tm_of(content, "findings");

    if (tm_length(findings) == 0)
        tm_emit(content, TM_TONE_PLAIN, "Nothing was found that costs more than the limits allow.");
    else if (tm_int(tm_get(tm_at(findings, 0), "at_stake_ps")) > 0)
        tm_emit(content, TM_TONE_QUIET,
                "Sorted by potential savings: the most that fixing this one issue could save. Findings without an "
                "estimate come last.");
    for (size_t i = 0; content->medium->finding && i < tm_length(findings); i++)
        content->medium->finding(content->to, tm_at(findings, i), i + 1);
}

static const struct tm_section findings_section = { "findings", "Findings", "findings", emit_findings, NULL };

/* The report of a run. */

static const struct tm_section *const sections[] = {
    &findings_section,       &tm_steps_section,     &tm_devices_section,     &tm_gaps_section,
    &tm_ops_section,         &tm_scopes_section,    &tm_kernels_section,     &tm_fusion_section,
    &tm_programs_section,    &tm_occupancy_section, &tm_roofline_section,    &tm_transfers_section,
    &tm_collectives_section, &tm_balance_section,   &tm_host_section,        &tm_fallback_section,
    &tm_compile_section,     &tm_memory_section,    &tm_environment_section, &tm_coverage_section,
    &tm_checks_section,      &tm_missing_section,   &tm_definitions_section, &tm_provenance_section,
};

const struct tm_document tm_report_document = {
    .schema = "tracemill.summary",
    .what = "report",
    .kicker = "PERFORMANCE REPORT",
    .made_by = "tracemill report",
    .file = "report",
    .findings_title = "What to do first",
    .stake_of = "device time",
    .data = "summary.json",
    .fields = &tm_summary_schema,
    .sections = sections,
    .section_count = sizeof(sections) / sizeof(sections[0]),
    .make_front = tm_front_of_report,
    .first_chart = { TM_CHART_DEVICES, TM_CHART_STEPS },
    .first_charts = 2,
};

static const struct tm_document *const documents[] = {
    &tm_report_document, &tm_comparison_document, &tm_scaling_document, &tm_check_document, &tm_nightly_document,
};

const struct tm_document *tm_document_of(const struct tm_value *root)
{
    const char *schema = tm_text(tm_get(root, "schema"));

    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
        if (strcmp(schema, documents[i]->schema) == 0)
            return documents[i] == &tm_comparison_document && tm_length(tm_get(root, "sides")) > 2
                       ? &tm_comparison_of_many_document
                       : documents[i];
    return documents[0];
}

const struct tm_section *tm_section_of(const struct tm_value *summary, const char *id)
{
    const struct tm_document *document = tm_document_of(summary);

    for (size_t i = 0; i < document->section_count; i++)
        if (strcmp(document->sections[i]->id, id) == 0)
            return document->sections[i];
    return NULL;
}

/* Some sections of a report are not for all platforms. */
static bool is_for_run(const char *key, const struct tm_value *summary)
{
    return tm_document_of(summary) != &tm_report_document || tm_section_is_for_run(key, summary);
}

static const char *why_nothing(const struct tm_section *section, const struct tm_value *summary)
{
    return section->nothing ? section->nothing(summary) : "";
}

bool tm_section_is_due(const struct tm_section *section, const struct tm_value *summary)
{
    const bool has_data = !section->key || (is_for_run(section->key, summary) && tm_has(tm_get(summary, section->key)));

    return has_data && !*why_nothing(section, summary);
}

const char *tm_section_why_not(const struct tm_section *section, const struct tm_value *summary)
{
    const char *why;

    if (!section->key || !is_for_run(section->key, summary))
        return "";
    if (tm_has(tm_get(summary, section->key)))
        return why_nothing(section, summary);
    why = tm_reason_of(summary, section->key);
    return *why ? why : "not recorded";
}

void tm_content_say(const struct tm_content *content)
{
    const struct tm_document *document = tm_document_of(content->summary);
    const struct tm_medium *medium = content->medium;

    for (size_t i = 0; i < document->section_count; i++) {
        const struct tm_section *section = document->sections[i];

        if (!tm_section_is_due(section, content->summary))
            continue;
        if (medium->section)
            medium->section(content->to, section);
        section->say(content);
        if (medium->end_section)
            medium->end_section(content->to, section);
    }
}
