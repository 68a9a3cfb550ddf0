/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a run. */
#include "reports/content/document.h"
#include "reports/content/say.h"

static const struct tm_section *const sections[] = {
    &tm_findings_section,    &tm_steps_section,      &tm_devices_section,
    &tm_gaps_section,        &tm_ops_section,        &tm_scopes_section,
    &tm_kernels_section,     &tm_fusion_section,     &tm_programs_section,
    &tm_occupancy_section,   &tm_roofline_section,   &tm_transfers_section,
    &tm_collectives_section, &tm_balance_section,    &tm_host_section,
    &tm_fallback_section,    &tm_compile_section,    &tm_memory_section,
    &tm_environment_section, &tm_coverage_section,   &tm_checks_section,
    &tm_missing_section,
    &tm_definitions_section, &tm_provenance_section,
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
    .sections = sections,
    .section_count = sizeof(sections) / sizeof(sections[0]),
    .make_front = tm_front_of_report,
    .first_chart = { TM_CHART_DEVICES, TM_CHART_STEPS },
    .first_charts = 2,
};
