/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a run: which sections it has, in which order; and of them the findings, and the environment, which is the
 * versions of what ran and the devices that it had. */
#include <inttypes.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/chart/chart.h"
#include "reports/content/content.h"
#include "reports/content/emit.h"
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

static const struct tm_section findings_section = {
    .id = "findings", .title = "Findings", .key = "findings", .say = emit_findings
};

/* --- environment --- */

enum { COLUMNS_MOST = 16 };

/* What no row knows is no news here: there are many versions, and no program has all of them. */
static bool is_known(const struct tm_value *rows, const char *key)
{
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_cell cell = tm_cell_of_value(TM_CELL_WORD, tm_get(tm_at(rows, i), key));
        const enum tm_type type = tm_type_of(cell.value);

        if (!tm_cell_is_empty(&cell) && type != TM_ARRAY && type != TM_OBJECT)
            return true;
    }
    return false;
}

/* out: known  the columns that some row has; returned: how many */
static size_t choose(struct tm_column known[COLUMNS_MOST], const struct tm_column *columns, size_t count,
                     const struct tm_value *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < count && n < COLUMNS_MOST; i++)
        if (is_known(rows, columns[i].key))
            known[n++] = columns[i];
    return n;
}

static void emit_hosts(const struct tm_content *content, const struct tm_value *hosts)
{
    static const struct tm_column columns[] = {
        { "Host", "host", TM_CELL_NAME },
        { .key = "framework" },
        { "Rank", "rank", TM_CELL_WORD },
        { "Ranks in the job", "world_size", TM_CELL_WORD },
        { .key = "jax" },
        { .key = "jaxlib" },
        { .key = "platform_version" },
        { .key = "cuda" },
        { .key = "cuda_runtime" },
        { .key = "driver" },
        { .key = "rocm" },
        { .key = "libtpu" },
        { .key = "process_id", .shape = TM_WIDE },
        { .key = "profile_options", .shape = TM_WIDE },
    };
    struct tm_column known[COLUMNS_MOST];
    const size_t n = choose(known, TM_FACTS(columns), hosts);

    if (tm_length(hosts) == 1)
        tm_emit_facts(content, "environment-host", known, n, "environment.hosts[0]");
    else if (n > 0)
        tm_emit_table(content, &(struct tm_table){ .id = "environment-hosts",
                                                   .caption = "Hosts and versions",
                                                   .column = known,
                                                   .columns = n,
                                                   .list = "environment.hosts",
                                                   .paper_rows = 32 });
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

/* By which clock the times of TPUs are. */
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
                " TPUs are as the profiler worked them out: times by their own clock are "
                "missing.",
                devices - own, devices);
    if (jumps)
        tm_emit(content, TM_TONE_QUIET,
                "Times of TPUs are by their own clock. The recorded times jump against it %s times, by up to %s.",
                tm_format_count(count, jumps), tm_format_time(jump, largest_ps));
}

static void emit_devices(const struct tm_content *content, const struct tm_value *devices)
{
    static const struct tm_column columns[] = {
        { .key = "model" },        { .key = "vendor" },
        { .key = "kind" },         { .key = "count" },
        { .key = "used" },         { .key = "core_count" },
        { .key = "memory_bytes" }, { .key = "memory_bandwidth_bytes" },
        { .key = "peak_tflops" },
    };

    struct tm_column known[COLUMNS_MOST];
    const size_t n = choose(known, TM_FACTS(columns), devices);

    if (n > 0)
        tm_emit_table(content, &(struct tm_table){ .id = "environment-devices",
                                                   .caption = "Devices",
                                                   .column = known,
                                                   .columns = n,
                                                   .list = "environment.devices" });
}

static void emit_environment(const struct tm_content *content)
{
    const struct tm_value *environment = tm_of(content, "environment"), *hosts = tm_get(environment, "hosts"),
                          *devices = tm_get(environment, "devices");

    emit_hosts(content, hosts);
    emit_dates(content, hosts);
    emit_clocks(content, hosts);
    emit_devices(content, devices);
}

static const char *no_environment(const struct tm_value *summary)
{
    const bool is_any =
        tm_length(tm_path(summary, "environment.hosts")) > 0 || tm_length(tm_path(summary, "environment.devices")) > 0;

    return is_any ? "" : "the profile says nothing about its hosts and devices";
}

static const struct tm_section environment_section = { .id = "environment",
                                                       .title = "Environment",
                                                       .key = "environment",
                                                       .say = emit_environment,
                                                       .nothing = no_environment };

/* --- the document --- */

static const struct tm_section *const sections[] = {
    &findings_section,    &tm_steps_section,     &tm_devices_section,     &tm_gaps_section,       &tm_ops_section,
    &tm_scopes_section,   &tm_kernels_section,   &tm_fusion_section,      &tm_programs_section,   &tm_occupancy_section,
    &tm_roofline_section, &tm_transfers_section, &tm_collectives_section, &tm_balance_section,    &tm_host_section,
    &tm_fallback_section, &tm_compile_section,   &tm_memory_section,      &environment_section,   &tm_coverage_section,
    &tm_checks_section,   &tm_missing_section,   &tm_definitions_section, &tm_provenance_section,
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
