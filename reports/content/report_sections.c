/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a run: its sections in order, and two of them: the findings, and the environment, which has the
 * software versions and the devices. */
#include <inttypes.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/chart/chart.h"
#include "reports/content/content.h"
#include "reports/content/emit.h"
#include "reports/format/format.h"

static void emit_findings(const struct tm_content *content)
{
    const bool has_stake = tm_int(tm_of(content, "findings[0].at_stake_ps")) > 0;

    tm_emit_findings(content, "No issue exceeds the limits.",
                     has_stake ? "Sorted by potential savings: the most that fixing this one issue could save. "
                                 "Findings without an estimate come last."
                               : "");
}

static const struct tm_section findings_section = {
    .id = "findings", .title = "Findings", .key = "findings", .say = emit_findings
};

/* --- environment --- */

/* Versions that no host records are not mentioned: there are many, and no program has all of them. */
static void emit_hosts(const struct tm_content *content, const struct tm_value *hosts)
{
    static const struct tm_table table = {
        .id = "environment-hosts",
        .caption = "Hosts and versions",
        .shows = "host name known, framework known, rank word known, world_size word known, jax known, jaxlib known, "
                 "platform_version known, cuda known, cuda_runtime known, driver known, rocm known, libtpu known, "
                 "process_id wide known, profile_options wide known",
        .list = "environment.hosts",
        .paper_rows = 32,
    };

    if (tm_length(hosts) == 1)
        tm_emit_facts(content, "environment-host", "environment.hosts[0]", table.shows);
    else
        tm_emit_table(content, &table);
}

static void emit_dates(const struct tm_content *content, const struct tm_value *hosts)
{
    const struct tm_value *first = tm_at(hosts, 0);
    char begin[TM_FORMAT_BYTES] = "", end[TM_FORMAT_BYTES] = "";

    if (tm_has(tm_get(first, "begin_ns")))
        tm_format_date(begin, tm_int(tm_get(first, "begin_ns")));
    if (tm_has(tm_get(first, "end_ns")))
        tm_format_date(end, tm_int(tm_get(first, "end_ns")));
    if (*begin && *end && strcmp(begin, end) != 0)
        tm_emit(content, TM_TONE_PLAIN, "The profile was taken from %s to %s.", begin, end);
    else if (*begin)
        tm_emit(content, TM_TONE_PLAIN, "The profile was taken at %s.", begin);
}

/* The clock that TPU times are based on. */
static void emit_clocks(const struct tm_content *content, const struct tm_value *hosts)
{
    int64_t devices = 0, own = 0, jumps = 0, largest_ps = 0;
    char jump[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(hosts); i++) {
        const struct tm_value *const clock = tm_get(tm_at(hosts, i), "tpu_clock");
        const int64_t host_largest_ps = tm_int(tm_get(clock, "largest_jump_ps"));

        devices = tm_sum_times(devices, tm_int(tm_get(clock, "devices")));
        own = tm_sum_times(own, tm_int(tm_get(clock, "own")));
        jumps = tm_sum_times(jumps, tm_int(tm_get(clock, "jumps")));
        largest_ps = host_largest_ps > largest_ps ? host_largest_ps : largest_ps;
    }
    if (devices > own)
        tm_emit(content, TM_TONE_QUIET,
                "Times of %" PRId64 " of %" PRId64
                " TPUs were converted by the profiler: times from the TPUs' own clocks are missing.",
                devices - own, devices);
    if (jumps)
        tm_emit(content, TM_TONE_QUIET,
                "TPU times are from the TPUs' own clocks. The recorded times jump relative to them %s times, by up "
                "to %s.",
                tm_format_count(count, jumps), tm_format_time(jump, largest_ps));
}

static const struct tm_table devices_had = {
    .id = "environment-devices",
    .caption = "Devices",
    .shows = "model known, vendor known, kind known, count known, used known, core_count known, memory_bytes known, "
             "memory_bandwidth_bytes known, peak_tflops known",
    .list = "environment.devices",
};

static void emit_environment(const struct tm_content *content)
{
    const struct tm_value *hosts = tm_of(content, "environment.hosts");

    if (!content->is_brief || tm_length(hosts) > 1) /* the first page has the versions of one host */
        emit_hosts(content, hosts);
    emit_dates(content, hosts);
    emit_clocks(content, hosts);
    if (content->is_brief && tm_length(tm_of(content, "environment.devices")) == 1)
        return; /* the first page has it */
    tm_emit_table(content, &devices_had);
}

static const char *no_environment(const struct tm_value *summary)
{
    const bool is_any =
        tm_length(tm_path(summary, "environment.hosts")) > 0 || tm_length(tm_path(summary, "environment.devices")) > 0;

    return is_any ? "" : "the profile contains no information about its hosts and devices";
}

static const struct tm_section environment_section = { .id = "environment",
                                                       .title = "Environment",
                                                       .key = "environment",
                                                       .say = emit_environment,
                                                       .nothing = no_environment,
                                                       .is_closing = true };

/* --- the document --- */

static const struct tm_section *const sections[] = {
    &findings_section,       &tm_steps_section,       &tm_devices_section,   &tm_gaps_section,
    &tm_path_section,        &tm_ops_section,         &tm_scopes_section,    &tm_kernels_section,
    &tm_fusion_section,      &tm_programs_section,    &tm_occupancy_section, &tm_roofline_section,
    &tm_transfers_section,   &tm_collectives_section, &tm_balance_section,   &tm_sharding_section,
    &tm_host_section,        &tm_fallback_section,    &tm_compile_section,   &tm_memory_section,
    &environment_section,    &tm_coverage_section,    &tm_checks_section,    &tm_missing_section,
    &tm_definitions_section, &tm_provenance_section,
};

const struct tm_document tm_report_document = {
    .schema = "tracemill.summary",
    .what = "report",
    .kicker = "PERFORMANCE REPORT",
    .made_by = "tracemill report",
    .file = "report",
    .findings_title = "Top findings",
    .findings_order = "by potential savings",
    .stake_of = "device time",
    .data = "summary.json",
    .fields = &tm_summary_schema,
    .sections = sections,
    .section_count = sizeof(sections) / sizeof(sections[0]),
    .make_front = tm_front_of_report,
    .first_chart = { TM_CHART_DEVICES, TM_CHART_STEPS },
    .first_charts = 2,
};
