/* SPDX-License-Identifier: Apache-2.0 */
/* The two roofs of an operation: what its device computes, and what its memory moves.  The lower one, at its own
 * intensity, is what it can reach: docs/metrics.md, "Roofline". */
#include "stages/diagnose/ops/ops_private.h"

#define PS_PER_S 1e12

const char *const tm_op_bound_name[OP_BOUND_COUNT] = {
    [OP_BOUND_COMPUTE] = "compute",
    [OP_BOUND_MEMORY] = "memory",
    [OP_BOUND_LATENCY] = "latency",
    [OP_BOUND_NONE] = "none",
    [OP_BOUND_UNKNOWN] = "unknown",
};

static double per_second(double amount, int64_t ps)
{
    return amount * PS_PER_S / (double)ps;
}

/* Whose operations are not known, but would be few beside its bytes: what is neither a product nor opaque. */
static bool is_light(const struct op_row *row, const struct op_roof *roof)
{
    return !roof->has_flops && !row->has_matrix && !row->is_opaque;
}

void tm_op_roof_of(const struct op_row *row, const struct tm_peaks *peaks, struct op_roof *roof)
{
    const double peak = tm_peak_flops(peaks, (enum tm_precision)row->precision, row->has_matrix);
    double of_compute, of_memory;

    *roof = (struct op_roof){
        .has_flops = row->cost.flops_ps > 0,
        .has_bytes = row->cost.bytes_ps > 0,
        .flops = op_number(row->cost.flops),
        .bytes = op_number(row->cost.bytes),
        .bound = op_computes(row->level) && row->level != TM_LEVEL_CONTAINER ? OP_BOUND_UNKNOWN : OP_BOUND_NONE,
    };
    if (roof->has_flops)
        roof->flop_rate = per_second(roof->flops, row->cost.flops_ps);
    roof->has_bandwidth = roof->has_bytes && !row->is_wait;
    if (roof->has_bandwidth)
        roof->bandwidth = per_second(roof->bytes, row->cost.bytes_ps);
    if (roof->bound == OP_BOUND_NONE || !roof->has_bytes || !(roof->has_flops || is_light(row, roof)))
        return;
    if (!(roof->flops > 0) && !(roof->bytes > 0)) {
        roof->bound = OP_BOUND_NONE;
        return;
    }
    if (!(peaks->bandwidth > 0) || (roof->flops > 0 && !(peak > 0)))
        return;
    of_compute = roof->flops > 0 ? roof->flop_rate / peak : 0;
    of_memory = roof->bandwidth / peaks->bandwidth;
    roof->roof = of_compute > of_memory ? OP_BOUND_COMPUTE : OP_BOUND_MEMORY;
    roof->roof_pct = 100 * (of_compute > of_memory ? of_compute : of_memory);
    roof->bound = roof->roof_pct < OPS_BOUND_LEAST_PCT ? OP_BOUND_LATENCY : roof->roof;
    roof->has_roof = true;
}

tm_status tm_op_peaks(struct ops *o, uint32_t device, struct op_peaks *cache)
{
    const struct op_device *row;

    if (cache->is_known && cache->device == device)
        return TM_OK;
    row = tm_rows_at(o->devices, device);
    if (!row)
        return o->run->error.status;
    tm_peaks_of(&(struct tm_peak_question){ .model = row->model,
                                            .vendor = row->vendor,
                                            .kind = row->kind,
                                            .core_count = row->core_count,
                                            .clock_khz = row->clock_khz,
                                            .memory_bytes = row->memory_bytes,
                                            .memory_bandwidth_bytes = row->memory_bandwidth_bytes,
                                            .capability_major = row->capability_major,
                                            .capability_minor = row->capability_minor,
                                            .peak_tflops = row->peak_tflops },
                &cache->peaks);
    cache->device = device;
    cache->is_known = true;
    return TM_OK;
}
