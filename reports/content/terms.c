/* SPDX-License-Identifier: Apache-2.0 */
/* Which labels of the sections are defined, and how: mostly by the help of a field, so that reports, schemas and
 * their pages agree. */
#include "reports/content/content.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/doc/doc_fields.h"

/* In a document: the help of the field at a path, or of the fields at "a|b", joined. */
#define OF(document, paths) .schema = &tm_##document##_schema, .text = (paths)

const struct tm_term tm_terms[] = {
    { "steps", "Step source", OF(summary, "steps.source") },
    { "steps", "Analyzed", OF(summary, "steps.chosen") },
    { "steps", "Excluded as warm-up|Excluded as incomplete", OF(summary, "steps.warmup|steps.incomplete") },
    { "steps", "Median|Mean|Min|Max|90th percentile|95th percentile|Standard deviation|Step time",
      OF(summary, "steps.median_ps") },
    { "steps", "Host span|Device span", OF(summary, "steps.list.host_span_ps|steps.list.device_span_ps") },
    { "steps", "Busy|Compute|Exposed collectives",
      OF(summary, "steps.list.busy_ps|steps.list.compute_ps|steps.list.exposed_collective_ps") },
    { "steps", "Compiles", OF(summary, "steps.list.compile") },
    { "devices", "Utilization", OF(summary, "devices.utilization_pct") },
    { "devices", "Span", OF(summary, "devices.span_ps") },
    { "devices", "Busy", OF(summary, "devices.busy_ps") },
    { "devices", "Activities|Graphs|Memsets", OF(summary, "devices.activities") },
    { "devices", "Compute", OF(summary, "devices.compute_ps") },
    { "devices", "Exposed collectives|Exposed copies",
      OF(summary, "devices.exposed_collective_ps|devices.exposed_copy_ps") },
    { "devices", "Idle", OF(summary, "devices.idle_ps") },
    { "devices", "Idle before first activity|Idle after last activity",
      OF(summary, "devices.lead_ps|devices.trail_ps") },
    { "devices", "Long gaps", OF(summary, "devices.gaps.count_min") },
    { "devices", "Waits|For copies|For collectives|For the host", OF(summary, "devices.wait_ps") },
    { "devices", "In flight|Hidden", OF(summary, "devices.in_flight_ps|devices.hidden_ps") },
    { "devices", "Recorded as", OF(summary, "devices.reliability") },
    { "gaps", "Gaps|Duration|Idle time in gaps", OF(summary, "gaps.count") },
    { "gaps", "Pauses between launched work|Time in pauses", OF(summary, "gaps.pauses.count") },
    { "gaps", "Cause|Host event", OF(summary, "gaps.longest.cause|gaps.longest.host_event") },
    { "gaps", "From the main thread only", OF(summary, "gaps.by_cause.*.main_ps") },
    { "gaps", "Thread", OF(summary, "gaps.longest.host_thread") },
    { "gaps", "Typical calls", OF(summary, "gaps.longest.calls.usual_ps") },
    { "gaps", "Launch call", OF(summary, "gaps.longest.launch") },
    { "gaps", "Before|After", OF(summary, "gaps.longest.before|gaps.longest.after") },
    { "gaps", "Share", OF(summary, "gaps.by_cause.*.share_pct") },
    { "critical-path", "Steps bound|Bound by",
      OF(summary, "critical_path.by_kind.*.steps|critical_path.rows.bound_by") },
    { "critical-path", "Length", OF(summary, "critical_path.rows.total_ps") },
    { "critical-path", "Collectives", OF(summary, "critical_path.rows.collective_ps") },
    { "critical-path", "Name", OF(summary, "critical_path.contributors.name") },
    { "critical-path", "Device changes", OF(summary, "critical_path.rows.switches") },
    { "critical-path", "Time on the path", OF(summary, "critical_path.devices.total_ps") },
    { "ops", "Self time|Total time", OF(summary, "ops.rows.self_ps") },
    { "ops", "Share|Share of the top operation", OF(summary, "ops.rows.self_share_pct") },
    { "ops", "Cumulative|Operations covering 80%", OF(summary, "ops.rows.cumulative_pct|ops.rows_for_80_pct") },
    { "ops", "Executions|Events", OF(summary, "ops.rows.executions|ops.rows.count") },
    { "ops", "Inclusive time", OF(summary, "ops.rows.total_ps") },
    { "ops", "Type", OF(summary, "ops.rows.precision") },
    { "ops", "Bound by|% of roofline", OF(summary, "ops.rows.bound|ops.rows.roof_pct") },
    { "ops", "Arithmetic intensity|FLOP/s|Bytes/s", OF(summary, "ops.rows.intensity") },
    { "ops", "Framework path|Source", OF(summary, "ops.rows.op|ops.rows.source") },
    { "ops", "First at|On", OF(summary, "ops.rows.first") },
    { "scopes", "Device time in scopes|Without a scope", OF(summary, "scopes.self_ps|scopes.unscoped") },
    { "scopes", "Forward|Backward|Neither|Pass", OF(summary, "scopes.passes") },
    { "scopes", "Recomputed (part of backward)", OF(summary, "scopes.recomputed") },
    { "scopes", "Total|Self", OF(summary, "scopes.rows.total_ps|scopes.rows.self_ps") },
    { "scopes", "Layer", OF(summary, "scopes.layers.path") },
    { "scopes", "Host", OF(summary, "scopes.annotations.host_ps") },
    { "scopes", "Launched|Device time launched",
      OF(summary, "scopes.annotations.activities|scopes.annotations.device_ps") },
    { "kernels", "Mean duration|Mean duration, time-weighted",
      OF(summary, "kernels.compute_mean_ps|kernels.weighted_mean_ps") },
    { "kernels", "Variants", OF(summary, "kernels.by_name.variants") },
    { "kernels", "Occupancy", OF(summary, "kernels.rows.occupancy_pct") },
    { "kernels", "Share", OF(summary, "kernels.rows.share_pct") },
    { "kernels", "Category", OF(summary, "kernels.rows.category") },
    { "kernels", "p95", OF(summary, "kernels.rows.p95_ps") },
    { "kernels", "Op|HLO op", OF(summary, "kernels.rows.op|kernels.rows.hlo_op") },
    { "kernels", "Precision", OF(summary, "kernels.rows.precision") },
    { "kernels", "Grid|Block|Registers|Shared memory",
      OF(summary, "kernels.rows.grid|kernels.rows.block|kernels.rows.registers|kernels.rows.shared_bytes") },
    { "fusion", "Kernels|Kernels per step and device", OF(summary, "fusion.kernels") },
    { "fusion", "Share", .text = "Of the time of these kernels." },
    { "fusion", "Time in matmuls", OF(summary, "fusion.matrix") },
    { "fusion", "Under 100 \xc2\xb5s|Under 10 \xc2\xb5s", OF(summary, "fusion.small") },
    { "fusion", "Repeated over 10 times per step", OF(summary, "fusion.repeated_total") },
    { "fusion", "Collectives under 100 \xc2\xb5s", OF(summary, "fusion.small.collectives") },
    { "fusion", "Sequences of small kernels|Pauses within sequences|Pauses|Work", OF(summary, "fusion.runs") },
    { "fusion", "Potential savings", OF(summary, "fusion.runs.at_stake_ps|fusion.eager_chains.saved_ps") },
    { "fusion", "Chains of pointwise kernels", OF(summary, "fusion.eager_chains") },
    { "fusion", "Softmax between two matmuls", OF(summary, "fusion.attention_unfused") },
    { "fusion", "Layout copies", OF(summary, "fusion.layout_copies") },
    { "fusion", "32-bit matmuls without Tensor Cores", OF(summary, "fusion.matrix.f32") },
    { "fusion", "Per step", OF(summary, "fusion.repeated.per_step") },
    { "programs", "Programs per step and device|Executions", OF(summary, "programs.count") },
    { "programs", "Pauses between programs|Time in pauses", OF(summary, "programs.pauses") },
    { "occupancy", "Time-weighted mean|Kernel time with known occupancy|Occupancy", OF(summary, "occupancy.mean_pct") },
    { "occupancy", "Limited by", OF(summary, "occupancy.low.limiter") },
    { "occupancy", "Waves|Lost|Lost time|Lost to the tail effect",
      OF(summary, "occupancy.low.waves|occupancy.low.lost_ps") },
    { "occupancy", "SMs without a block", OF(summary, "occupancy.tail.idle_multiprocessors_ps") },
    { "occupancy", "Variants", OF(summary, "occupancy.low.variants") },
    { "roofline", "% of peak bandwidth|% of peak compute", OF(summary, "roofline.memory_pct|roofline.flops_pct") },
    { "roofline", "Share", OF(summary, "roofline.precisions.share_pct") },
    { "roofline", "Model FLOP utilization", OF(summary, "roofline.mfu_pct") },
    { "roofline", "Compute time with known bytes|Compute time with known FLOP",
      OF(summary, "roofline.known_pct|roofline.flops_known_pct") },
    { "roofline", "Bound by|% of roofline", OF(summary, "roofline.bound") },
    { "roofline", "Peak compute|Peak memory bandwidth|Source of peak compute|Source of peak memory bandwidth",
      OF(summary, "roofline.devices.peak_flops") },
    { "roofline", "Above roofline", OF(summary, "roofline.far.lost_ps") },
    { "roofline", "Matmuls|Tensor Cores or MXU",
      OF(summary, "roofline.precisions.matrix_ps|roofline.precisions.tensor_core_ps") },
    { "roofline", "Arithmetic intensity|FLOP/s|Bytes/s|Self time", OF(summary, "roofline.far.intensity") },
    { "transfers", "Exposed", OF(summary, "transfers.by_direction.exposed_ps") },
    { "transfers", "Mean bandwidth|Peak bandwidth",
      OF(summary, "transfers.by_direction.mean_bandwidth|transfers.by_direction.max_bandwidth") },
    { "transfers", "Outside steps|Bytes outside|Time outside|Exposed outside",
      OF(summary, "transfers.by_direction.outside") },
    { "transfers", "Copies from or to pageable host memory|Time in pageable copies|Share of copy time",
      OF(summary, "transfers.pageable") },
    { "transfers", "Round trips through the host", OF(summary, "transfers.ping_pong") },
    { "transfers", "Unknown size", OF(summary, "transfers.by_direction.unknown_bytes_count") },
    { "transfers", "Per step", OF(summary, "transfers.repeated.per_step") },
    { "collectives", "Message|Bytes|Data", OF(summary, "collectives.rows.message_bytes|collectives.rows.bytes") },
    { "collectives", "Exposed|Exposed time|Overlap|Overlapped with compute",
      OF(summary, "collectives.rows.exposed_ps|collectives.rows.overlap_pct") },
    { "collectives", "Algorithm bandwidth|Bus bandwidth",
      OF(summary, "collectives.rows.algorithm_bandwidth|collectives.rows.bus_bandwidth") },
    { "collectives", "With members not in the profile", OF(summary, "collectives.skew.incomplete") },
    { "collectives", "Scope", OF(summary, "collectives.rows.reach") },
    { "collectives", "Bandwidth over", OF(summary, "collectives.rows.bandwidth_over") },
    { "collectives", "Exposed, waiting for late devices|Exposed, moving data|Waiting|Moving",
      OF(summary, "collectives.rows.exposed_wait_ps|collectives.rows.exposed_move_ps") },
    { "collectives", "Exposed, unmatched|Unmatched", OF(summary, "collectives.rows.exposed_unmatched_ps") },
    { "collectives", "Matched collectives|Unmatched collectives|Matched", OF(summary, "collectives.skew.matched") },
    { "collectives", "Arrival skew, median|Arrival skew, p95|Arrival skew, max|Lateness|Late by|Max lateness",
      OF(summary, "collectives.skew.p50_ps") },
    { "collectives", "Waits for others|Waiting caused|Share",
      OF(summary, "collectives.skew.members.wait_ps|collectives.skew.members.caused_ps") },
    { "collectives", "Savings if on time", OF(summary, "collectives.skew.members.alone_ps") },
    { "collectives", "Most often late", OF(summary, "collectives.skew.straggler") },
    { "collectives", "Length of the path|In collectives",
      OF(summary, "collectives.skew.critical_path.total_ps|collectives.skew.critical_path.move_ps") },
    { "collectives", "Saved without stragglers", OF(summary, "collectives.skew.critical_path.stragglers_saved_ps") },
    { "collectives", "Saved with equal work", OF(summary, "collectives.skew.critical_path.imbalance_saved_ps") },
    { "collectives", "Time on the path", OF(summary, "collectives.skew.critical_path.devices.total_ps") },
    { "collectives", "Unknown size", OF(summary, "collectives.total.unknown_bytes_count") },
    { "collectives", "Arrived last|Waiting time of all devices",
      OF(summary, "collectives.skew.members.last_count|collectives.skew.wait_ps") },
    { "collectives", "Index in the step", OF(summary, "collectives.skew.worst.ordinal") },
    { "balance", "Imbalance of compute|Per step, median|Per step, max|Spread|Difference in the same work",
      OF(summary, "balance.imbalance_pct") },
    { "balance", "Exposed collectives", OF(summary, "balance.busy.exposed_collective_ps") },
    { "balance", "Slowest|Slowest device|Slowest at the same work",
      OF(summary, "balance.slowest|balance.ops.slowest") },
    { "balance", "Most uneven step", OF(summary, "balance.steps.worst_step") },
    { "balance", "Runs on", OF(summary, "balance.ops.kind") },
    { "balance", "Excess", OF(summary, "balance.ops.excess_ps") },
    { "sharding", "Repeated|Repeated time", OF(summary, "sharding.repeated_ps") },
    { "sharding", "Analyzed", OF(summary, "sharding.known_ps") },
    { "sharding", "Copies", OF(summary, "sharding.ops.copies") },
    { "sharding", "Origin|For operation", OF(summary, "sharding.moves.origin|sharding.moves.op") },
    { "sharding", "Bytes moved to reshard|Time in resharding", OF(summary, "sharding.by_origin.reshards") },
    { "sharding", "Time in sums of parts", OF(summary, "sharding.by_origin.sums") },
    { "sharding", "Replicated|Replicated parameters|Split",
      OF(summary, "sharding.programs.repeated_parameters|sharding.programs.split_bytes") },
    { "host", "Host overhead|Idle time attributed to the host", OF(summary, "host.overhead_ps|host.overhead_pct") },
    { "host", "Launches|Launches per step", OF(summary, "host.launches.count") },
    { "host", "Launch latency, median|Launch latency, p95|Launch latency, max|Started before their launch (clock skew)",
      OF(summary, "host.launch_delay.p50_ps") },
    { "host", "Activities without a known launch", OF(summary, "host.launches.unknown_count") },
    { "host", "Idle with an empty launch queue|Idle with an empty launch queue, share of window",
      OF(summary, "host.queue_empty") },
    { "host", "Host sync calls|Time in host sync|Wait|In function|In annotation",
      OF(summary, "host.sync|host.sync.rows.caller|host.sync.rows.annotation") },
    { "host", "Self|Total", OF(summary, "host.python.self_ps|host.python.total_ps") },
    { "host", "Busy|Share", OF(summary, "host.threads.busy_ps|host.threads.share_pct") },
    { "host", "Main|Ops|In ops", OF(summary, "host.threads.is_main|host.threads.ops") },
    { "host", "Tracer|Cost of one|To record less",
      OF(summary, "host.profiling.tracers.tracer|host.profiling.tracers.event_ps|host.profiling.tracers.option") },
    { "fallback", "Host callbacks|Time in host callbacks", OF(summary, "fallback.callbacks") },
    { "fallback", "Operations run on the host|Time in operations on the host", OF(summary, "fallback.cpu_ops") },
    { "fallback", "Device operations that involve the host|Time in operations with the host",
      OF(summary, "fallback.host_ops") },
    { "fallback", "Ran on|Cause", OF(summary, "fallback.placement.rows.ran_on|fallback.placement.rows.cause") },
    { "fallback", "Host round trips|Idle time in round trips", OF(summary, "fallback.round_trips") },
    { "compile", "Compiles|Time|Longest", OF(summary, "compile.count") },
    { "compile", "During analyzed steps|Time during analyzed steps", OF(summary, "compile.inside_steps") },
    { "compile", "Counted by", OF(summary, "compile.source") },
    { "compile", "Step", OF(summary, "compile.events.step") },
    { "compile", "Program", OF(summary, "compile.programs.program_id") },
    { "compile", "Shapes", OF(summary, "compile.programs.shapes") },
    { "memory", "Peak|Share of capacity|Peak at",
      OF(summary, "memory.allocators.peak_bytes|memory.allocators.peak_pct") },
    { "memory", "Lifetime peak", OF(summary, "memory.allocators.lifetime_peak_bytes") },
    { "memory", "Fragmentation", OF(summary, "memory.allocators.fragmentation_pct") },
    { "memory", "Buffers|1st quarter|2nd quarter|3rd quarter|4th quarter|Largest",
      OF(summary, "memory.allocators.kept|memory.allocators.kept.quarters_bytes") },
    { "memory", "Frees|Allocated in total|Small allocations",
      OF(summary,
         "memory.allocators.deallocations|memory.allocators.allocated_bytes|memory.allocators.small_allocations") },
    { "memory", "Allocations per second|Allocated per second", OF(summary, "memory.allocators.allocations_per_s") },
    { "memory", "Held by", OF(summary, "memory.device_profiles.sites.function") },
    { "memory", "Held in total|Buffers and programs", OF(summary, "memory.device_profiles.total_count") },
    { "memory", "Called from", .text = "The frame called by the user's code." },
    { "environment", "Rank|Ranks in the job", OF(summary, "environment.hosts.rank|environment.hosts.world_size") },
    { "environment", "Used", OF(summary, "environment.devices.used") },
    { "environment", "Peak TFLOP/s|Memory bandwidth", OF(summary, "environment.devices.peak_tflops") },
    { "coverage", "Events used in figures", OF(summary, "coverage.events_used") },
    { "coverage", "Mark", .text = "The letter that marks the affected figures and headings." },
    { "coverage", "Name|Level", OF(summary, "coverage.tallies|coverage.tallies.*.level") },
    { "coverage", "Kind of event", .text = "How an event was classified, by its line and name." },
    { "coverage", "XXH3", OF(summary, "input.files.xxh3") },
    /* Of a comparison. */
    { "ops|kernels|scopes|collectives|transfers|gaps|compile|devices|figures", "Change|Change %",
      .text = "New minus base, in absolute terms and as a share of the base." },
    { "ops|kernels|scopes|collectives|transfers|gaps|compile", "Became", OF(comparison, "ops.rows.changes.status") },
    { "ops|kernels|scopes|collectives|transfers|gaps|compile", "Due to count|Due to duration",
      OF(comparison, "ops.rows.changes.from_count_ps|ops.rows.changes.from_length_ps") },
    { "ops|kernels|scopes|collectives|transfers|gaps|compile", "Count|Bytes per step",
      .text = "Executions, and their bytes, per step of one device." },
    { "ops|kernels|scopes|collectives|transfers|gaps|compile|devices", "p",
      .text = "Probability of a change at least this large if nothing changed." },
    { "change", "Samples", OF(comparison, "sides.samples") },
    { "change", "Median|Mean|95th percentile|Min|Max", OF(comparison, "sides.mean_ps") },
    { "change", "Standard deviation|Variation", OF(comparison, "sides.stddev_ps|sides.cv_pct") },
    { "change", "Between runs", OF(comparison, "sides.between_runs_cv_pct") },
    { "change", "Measured by the benchmark", OF(comparison, "sides.measured_ps") },
    { "waterfall", "Before|After", OF(comparison, "waterfalls.parts.base_ps") },
    { "waterfall", "Share of step", OF(comparison, "waterfalls.parts.share_pct") },
    { "waterfall|devices", "Significant", OF(comparison, "waterfalls.parts.significant") },
    { "waterfall", "p", .text = "Probability of a change at least this large if nothing changed." },
    { "figures", "Assessment", OF(comparison, "figures.changes.judgement") },
    { "devices", "Compute per step", OF(comparison, "devices.rows.compute") },
    /* Of a comparison and of a scaling study. */
    { "runs", "Median step|Variation", OF(comparison, "sides.runs.steps.median_ps|sides.runs.steps.cv_pct") },
    { "runs", "Measured", OF(comparison, "sides.runs.measured_ps") },
    { "runs", "Damaged", OF(comparison, "sides.runs.partial") },
    { "runs", "Read from", OF(comparison, "sides.runs.kind") },
    { "runs", "Fingerprint", OF(comparison, "sides.runs.fingerprint") },
    /* Of a scaling study. */
    { "speedup", "Median step", OF(scaling, "points.step_ps") },
    { "speedup", "Speedup", OF(scaling, "points.speedup") },
    { "speedup", "From|To|Median from|Median to", OF(scaling, "points.speedup_low") },
    { "speedup|step|fit", "Efficiency", OF(scaling, "points.efficiency_pct") },
    { "speedup", "Communication|Idle", OF(scaling, "points.shares.exposed_collective_pct|points.shares.idle_pct") },
    { "speedup|exchange", "Imbalance", OF(scaling, "points.imbalance_pct") },
    { "speedup", "Variation|Standard deviation", OF(scaling, "points.stddev_ps") },
    { "speedup", "Measured|Measured speedup", OF(scaling, "points.measured_ps|points.measured_speedup") },
    { "step", "Compute|Exposed collectives|Exposed copies|Idle|Total", OF(scaling, "points.parts") },
    { "step", "Total compute time", OF(scaling, "points.work_ps") },
    { "step", "Lost to collectives|Lost to idle time|Lost to compute|Lost to copies", OF(scaling, "points.lost") },
    { "step", "Collective share growth|Idle share growth|Compute share growth|Copy share growth",
      OF(scaling, "points.growth") },
    { "exchange", "Collectives|Exposed|Overlap", OF(scaling, "points.collective_ps|points.overlap_pct") },
    { "exchange", "Bytes", OF(scaling, "points.collective_bytes") },
    { "exchange", "Step spread", OF(scaling, "points.spread_pct") },
    { "fit", "Serial fraction", OF(scaling, "fit.serial_pct") },
    { "fit", "From|To", OF(scaling, "fit.low_pct") },
    { "fit", "Fit error", OF(scaling, "fit.residual_pct") },
    { "fit", "Maximum speedup", OF(scaling, "fit.speedup_limit") },
    /* Of a check. */
    { "gates", "Unknown|Skipped", OF(check, "counts.unknown|counts.skipped") },
    { "gates", "Rule|Limit", OF(check, "gates.rule|gates.limit_text") },
    { "gates", "Found at", OF(check, "gates.place") },
    { "gates", "Baseline", OF(check, "gates.baseline") },
    { "gates", "Noise", OF(check, "gates.noise_pct") },
    /* Of a night. */
    { "improvements", "Before|Now|Change", OF(night, "better.value|better.before") },
    { "improvements|jobs", "Usual", OF(night, "better.band") },
    { "improvements", "Baseline runs", OF(night, "better.runs") },
    { "regressions", "Id|State", OF(night, "regressions.regression|regressions.state") },
    { "regressions", "Cause", OF(night, "regressions.cause") },
    { "jobs", "State", OF(night, "jobs.state") },
    { "jobs", "Median step before|Change", OF(night, "jobs.figures.*.before|jobs.figures.*.change") },
    { "jobs", "Runs", OF(night, "jobs.runs") },
    { "trends", "Level before|Level after", OF(night, "change_points.before|change_points.after") },
    { "trends", "Direction", OF(night, "change_points.state") },
    { "trends", "Night|First run", OF(night, "change_points.id") },
    { "trends", "Revision", OF(night, "change_points.revision|change_points.revision_before") },
    { "gates", "p", .text = "Probability of a change at least this large if nothing changed." },
};
const size_t tm_term_count = sizeof(tm_terms) / sizeof(tm_terms[0]);
static_assert(sizeof(tm_terms) / sizeof(tm_terms[0]) <= TM_TERMS_MOST, "the report shows all of them");

/* Is the label one of the list "a|b|c"? */
static bool is_one_of(const char *labels, const char *label)
{
    for (const char *at = labels; at; at = strchr(at, '|')) {
        size_t same = 0;

        at += *at == '|';
        while (label[same] && at[same] == label[same])
            same++;
        if (!label[same] && (at[same] == '|' || at[same] == 0))
            return true;
    }
    return false;
}

const char *tm_term_text(int number, char out[TM_TERM_BYTES])
{
    const struct tm_term *term = &tm_terms[number];
    const char *between = "";
    int used = 0;

    if (!term->schema)
        return term->text;
    for (const char *at = term->text; *at; at += strcspn(at, "|"), at += *at == '|') {
        const struct tm_doc_field *field;
        char path[TM_TERM_BYTES];

        (void)snprintf(path, sizeof(path), "%.*s", (int)strcspn(at, "|"), at);
        field = tm_doc_field_at(term->schema->fields, path);
        assert(field && field->help && (size_t)used + strlen(field->help) + 1 < TM_TERM_BYTES);
        used += snprintf(out + used, TM_TERM_BYTES - (size_t)used, "%s%s", between, field->help);
        between = " ";
    }
    return out;
}

/* The first of "a|b|c" in lower case; other characters than letters and digits become one hyphen. */
static size_t put_id(char *out, size_t used, const char *labels)
{
    for (const char *at = labels; *at && *at != '|'; at++) {
        if (isalnum((unsigned char)*at))
            out[used++] = (char)tolower((unsigned char)*at);
        else if (used && out[used - 1] != '-')
            out[used++] = '-';
        assert(used + 1 < TM_TERM_ID_BYTES);
    }
    return used && out[used - 1] == '-' ? used - 1 : used;
}

const char *tm_term_id(int number, char out[TM_TERM_ID_BYTES])
{
    size_t used = put_id(out, 0, tm_terms[number].section);

    out[used++] = '-';
    out[put_id(out, used, tm_terms[number].labels)] = 0;
    return out;
}

bool tm_term_is_of(const struct tm_term *term, const char *section)
{
    return is_one_of(term->section, section);
}

static int find_label(const char *section, const char *label)
{
    const char *last = NULL;
    bool is_of_section = false;

    for (size_t i = 0; i < tm_term_count; i++) {
        if (tm_terms[i].section != last) /* terms of a section are together */
            is_of_section = tm_term_is_of(&tm_terms[i], section);
        last = tm_terms[i].section;
        if (is_of_section && is_one_of(tm_terms[i].labels, label))
            return (int)i;
    }
    return -1;
}

int tm_term_find(const char *section, const char *label)
{
    enum { LABEL_BYTES = 64 };
    const int found = find_label(section, label);
    const char *rest = NULL;
    char text[LABEL_BYTES];

    for (const char *at = label; found < 0 && (at = strstr(at, ", ")); at += 2)
        rest = at + 2;
    if (!rest || !*rest || strlen(rest) >= sizeof(text))
        return found;
    (void)snprintf(text, sizeof(text), "%c%s", toupper((unsigned char)rest[0]), rest + 1);
    return find_label(section, text);
}
