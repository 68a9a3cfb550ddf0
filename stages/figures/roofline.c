/* SPDX-License-Identifier: Apache-2.0 */
/* The section roofline: what the devices did of what they can do.  Rates are over the devices' busy time; model FLOP
 * utilization is over their span, idle time with it. */
#include <stdio.h>
#include <string.h>

#include "stages/figures/ops.h"

/* The two roofs of an operation: what its device computes, and what its memory moves.  The lower one, at its own
 * intensity, is what it can reach: docs/metrics.md, "Roofline". */

#define PS_PER_S 1e12

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

void tm_op_peaks(struct ops *o, uint32_t device, struct op_peaks *cache)
{
    const struct op_device *row;

    if (cache->is_known && cache->device == device)
        return;
    row = tm_rows_at(o->devices, device);
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
}

enum { WHY_BYTES = 256 };

enum { FAR_LEAST_PER_MILLE = 10 }; /* of the computing time: less is not listed */

#define FAR_BELOW_PCT 50.0

static const char no_cost[] = "no operation's cost is known";

/* Of less of the computing time there is no rate: what is known would pass for the whole. */
enum { COSTS_KNOWN_LEAST_PCT = 80 };

/* Whether a rate of a whole device may be told, and else why not. */
struct known_rates {
    bool flops, bytes;
    char no_flops[WHY_BYTES], no_bytes[WHY_BYTES];
};

/* --- the pass over the operations --- */

static int most_lost_first(const void *a, const void *b)
{
    const struct op_far *x = a, *y = b;

    if (x->lost_ps != y->lost_ps)
        return x->lost_ps > y->lost_ps ? -1 : 1;
    return tm_key_order(x->row.key, y->row.key);
}

void tm_op_roofs_open(struct ops *o, struct op_roofs *roofs)
{
    roofs->far = tm_top_rows_new(o->run, TM_ACCOUNT_TABLES, sizeof(struct op_far), OPS_FAR_LISTED,
                                 ops_memory(o->run, OPS_FAR), most_lost_first);
}

void tm_op_roofs_close(struct op_roofs *roofs)
{
    tm_top_rows_free(roofs->far);
}

/* What an operation took beyond its time at its roof. */
static int64_t lost_ps(const struct op_row *row, const struct op_roof *roof)
{
    return (int64_t)((double)row->cost.bytes_ps * (1 - roof->roof_pct / 100));
}

void tm_op_roofs_add(struct ops *o, struct op_roofs *roofs, const struct op_row *row, const struct op_roof *roof)
{
    struct op_far far = { .row = *row };

    if (!op_computes(row->level))
        return;
    roofs->bound_ps[roof->bound] = tm_sum_times(roofs->bound_ps[roof->bound], row->self_ps);
    if (!roof->has_roof || roof->roof_pct >= FAR_BELOW_PCT || row->self_ps / FAR_LEAST_PER_MILLE < o->compute_ps / 1000)
        return;
    far.lost_ps = lost_ps(row, roof);
    tm_top_rows_add(roofs->far, &far);
}

/* --- the devices --- */

/* Sums over all devices whose peaks are known; what could have been done in the time. */
struct sums {
    int64_t busy_ps;
    struct tm_wide all_flops, all_bytes;
    double flops, bytes;                                /* of devices whose peak is known */
    double flops_in_busy, flops_in_span, bytes_in_busy; /* at the peak */
    char no_flops[WHY_BYTES], no_bandwidth[WHY_BYTES];  /* why the last one without a peak has none */
};

/* The type that its matrix products compute in most of the time; TM_PRECISION_UNKNOWN = none is known. */
static enum tm_precision main_type(const struct op_device *device)
{
    enum tm_precision most = TM_PRECISION_UNKNOWN;

    for (int i = TM_PRECISION_UNKNOWN + 1; i < TM_PRECISION_COUNT; i++)
        if (device->matrix_ps[i] > (most ? device->matrix_ps[most] : 0))
            most = (enum tm_precision)i;
    return most;
}

static bool has_matrices(const struct op_device *device)
{
    for (int i = 0; i < TM_PRECISION_COUNT; i++)
        if (device->matrix_ps[i] > 0)
            return true;
    return false;
}

static void add_number(struct tm_value *to, const char *key, double number, bool is_known, const char *why)
{
    if (is_known)
        tm_add_double(to, key, number);
    else
        tm_add_null(to, key, why);
}

static void add_text_or(struct tm_value *to, const char *key, const char *text)
{
    if (*text)
        tm_add_text(to, key, text, strlen(text));
    else
        tm_add_null(to, key, "not recorded");
}

/* What the peak is of. */
static const char *type_of(const struct op_device *device, const struct tm_peaks *peaks, enum tm_precision precision)
{
    const bool has_units = has_matrices(device) && (!precision || peaks->matrix[precision] > 0);

    if (!has_units && peaks->vector_f32 <= 0)
        return "bf16, on matrix units"; /* tm_peak_flops has nothing else */
    return has_matrices(device) ? tm_precision_name[precision] : "f32, without matrix units";
}

/* The peak that the device is measured by. */
static double peak_of(const struct op_device *device, const struct tm_peaks *peaks, const char **type, const char **why)
{
    const enum tm_precision precision = main_type(device);
    const double peak = tm_peak_flops(peaks, has_matrices(device) ? precision : TM_F32, has_matrices(device));

    *type = type_of(device, peaks, precision);
    *why = peak > 0 ? "" : peaks->flops_source;
    if (has_matrices(device) && precision == TM_PRECISION_UNKNOWN)
        *why = "the type of its matrix products is not known";
    return peak;
}

static double share_of(double part, double whole)
{
    return 100 * part / whole;
}

static void add_peaks(struct tm_value *to, const struct tm_peaks *peaks, double peak, const char *type, const char *why)
{
    add_number(to, "peak_flops", peak, peak > 0, why);
    if (peak > 0)
        tm_add_string(to, "peak_precision", type);
    else
        tm_add_null(to, "peak_precision", why);
    add_number(to, "peak_bandwidth", peaks->bandwidth, peaks->bandwidth > 0, peaks->bandwidth_source);
    if (peak > 0)
        tm_add_string(to, "peak_source", peaks->flops_source);
    else
        tm_add_null(to, "peak_source", why);
    if (peaks->bandwidth > 0)
        tm_add_string(to, "bandwidth_source", peaks->bandwidth_source);
    else
        tm_add_null(to, "bandwidth_source", peaks->bandwidth_source);
}

static void note_why(struct sums *sums, const char *no_flops, const char *no_bandwidth)
{
    if (*no_flops)
        (void)snprintf(sums->no_flops, sizeof(sums->no_flops), "%s", no_flops);
    if (*no_bandwidth)
        (void)snprintf(sums->no_bandwidth, sizeof(sums->no_bandwidth), "%s", no_bandwidth);
}

static bool is_known_enough(int64_t known_ps, int64_t compute_ps)
{
    return known_ps > 0 && (unsigned __int128)(uint64_t)known_ps * 100 >=
                               (unsigned __int128)(uint64_t)compute_ps * COSTS_KNOWN_LEAST_PCT;
}

static void emit_unknown(char *why, size_t bytes, const char *what, int64_t known_ps, int64_t compute_ps)
{
    (void)snprintf(
        why, bytes,
        "the %s of only %.1f %% of the computing time are known: the compiler recorded none for the other operations",
        what, compute_ps > 0 ? 100 * (double)known_ps / (double)compute_ps : 0.0);
}

/* in: why  nothing is known of any cost */
static struct known_rates find_known(const struct ops *o, const char *why)
{
    struct known_rates known = { .flops = is_known_enough(o->cost.flops_ps, o->compute_ps),
                                 .bytes = is_known_enough(o->cost.bytes_ps, o->compute_ps) };

    if (o->cost.flops_ps > 0)
        emit_unknown(known.no_flops, sizeof(known.no_flops), "operations", o->cost.flops_ps, o->compute_ps);
    else
        (void)snprintf(known.no_flops, sizeof(known.no_flops), "%s", why);
    if (o->cost.bytes_ps > 0)
        emit_unknown(known.no_bytes, sizeof(known.no_bytes), "bytes", o->cost.bytes_ps, o->compute_ps);
    else
        (void)snprintf(known.no_bytes, sizeof(known.no_bytes), "%s", why);
    return known;
}

static void add_device(const struct ops *o, const struct op_device *device, const struct tm_peaks *peaks,
                       struct tm_value *list, struct sums *sums)
{
    const struct known_rates known = find_known(o, no_cost);
    const double busy_s = (double)device->busy_ps / PS_PER_S, span_s = (double)device->span_ps / PS_PER_S;
    const double flops = op_number(device->flops), bytes = op_number(device->bytes);
    const bool has_flops = known.flops && busy_s > 0, has_bytes = known.bytes && busy_s > 0;
    struct tm_value *to = tm_add_object(list, NULL);
    const char *type, *why;
    const double peak = peak_of(device, peaks, &type, &why);

    tm_add_string(to, "device", device->id);
    add_text_or(to, "model", device->model);
    add_peaks(to, peaks, peak, type, why);
    add_number(to, "flops", flops, o->cost.flops_ps > 0, no_cost);
    add_number(to, "bytes", bytes, o->cost.bytes_ps > 0, no_cost);
    tm_add_int(to, "busy_ps", device->busy_ps);
    add_number(to, "flop_rate", has_flops ? flops / busy_s : 0, has_flops, known.no_flops);
    add_number(to, "bandwidth", has_bytes ? bytes / busy_s : 0, has_bytes, known.no_bytes);
    add_number(to, "flops_pct", has_flops && peak > 0 ? share_of(flops / busy_s, peak) : 0, has_flops && peak > 0,
               has_flops ? why : known.no_flops);
    add_number(to, "memory_pct", has_bytes && peaks->bandwidth > 0 ? share_of(bytes / busy_s, peaks->bandwidth) : 0,
               has_bytes && peaks->bandwidth > 0, has_bytes ? peaks->bandwidth_source : known.no_bytes);
    sums->busy_ps = tm_sum_times(sums->busy_ps, device->busy_ps);
    sums->all_flops = tm_sum_wide(sums->all_flops, tm_wide_value(device->flops));
    sums->all_bytes = tm_sum_wide(sums->all_bytes, tm_wide_value(device->bytes));
    note_why(sums, peak > 0 ? "" : why, peaks->bandwidth > 0 ? "" : peaks->bandwidth_source);
    if (peak > 0) {
        sums->flops += flops;
        sums->flops_in_busy += peak * busy_s;
        sums->flops_in_span += peak * span_s;
    }
    if (peaks->bandwidth > 0) {
        sums->bytes += bytes;
        sums->bytes_in_busy += peaks->bandwidth * busy_s;
    }
}

static void add_devices(struct ops *o, struct tm_value *to, struct sums *sums)
{
    struct tm_value *list = tm_add_array(to, "devices");

    for (uint64_t i = 0; i < tm_rows_count(o->devices); i++) {
        struct op_peaks peaks = { .is_known = false };

        tm_op_peaks(o, (uint32_t)i, &peaks);
        add_device(o, tm_rows_at(o->devices, i), &peaks.peaks, list, sums);
    }
}

/* --- the section --- */

static const char *source_of(const struct ops *o)
{
    if (o->costs_of_stats && o->costs_of_hlo)
        return "both";
    return o->costs_of_stats ? "stats" : o->costs_of_hlo ? "hlo" : NULL;
}

static void add_rates(const struct ops *o, struct tm_value *to, const struct sums *sums, const char *why)
{
    const double flops = op_number(sums->all_flops), bytes = op_number(sums->all_bytes);
    const double busy_s = (double)sums->busy_ps / PS_PER_S;
    const struct known_rates known = find_known(o, why);
    const bool has_flops = known.flops && busy_s > 0, has_bytes = known.bytes && busy_s > 0;

    add_number(to, "flops", flops, o->cost.flops_ps > 0, why);
    add_number(to, "bytes", bytes, o->cost.bytes_ps > 0, why);
    tm_add_int(to, "busy_ps", sums->busy_ps);
    add_number(to, "flop_rate", has_flops ? flops / busy_s : 0, has_flops, known.no_flops);
    add_number(to, "bandwidth", has_bytes ? bytes / busy_s : 0, has_bytes, known.no_bytes);
    add_number(to, "flops_pct", share_of(sums->flops, sums->flops_in_busy), has_flops && sums->flops_in_busy > 0,
               has_flops ? sums->no_flops : known.no_flops);
    add_number(to, "memory_pct", share_of(sums->bytes, sums->bytes_in_busy), has_bytes && sums->bytes_in_busy > 0,
               has_bytes ? sums->no_bandwidth : known.no_bytes);
    add_number(to, "mfu_pct", share_of(sums->flops, sums->flops_in_span), has_flops && sums->flops_in_span > 0,
               has_flops ? sums->no_flops : known.no_flops);
}

static double pct_of(int64_t part, int64_t whole)
{
    return whole > 0 ? share_of((double)part, (double)whole) : 0;
}

static void add_known(const struct ops *o, struct tm_value *to)
{
    tm_add_int(to, "compute_ps", o->compute_ps);
    tm_add_int(to, "known_ps", o->cost.bytes_ps);
    tm_add_double(to, "known_pct", pct_of(o->cost.bytes_ps, o->compute_ps));
    tm_add_int(to, "flops_known_ps", o->cost.flops_ps);
    tm_add_double(to, "flops_known_pct", pct_of(o->cost.flops_ps, o->compute_ps));
}

/* What limits the greater part of the time, where that is known of half of it. */
static enum op_bound main_bound(const struct op_roofs *roofs, int64_t compute_ps)
{
    const enum op_bound bounds[] = { OP_BOUND_MEMORY, OP_BOUND_COMPUTE, OP_BOUND_LATENCY };
    enum op_bound most = OP_BOUND_MEMORY;
    int64_t known_ps = 0;

    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        known_ps = tm_sum_times(known_ps, roofs->bound_ps[bounds[i]]);
        if (roofs->bound_ps[bounds[i]] > roofs->bound_ps[most])
            most = bounds[i];
    }
    return known_ps < compute_ps / 2 || known_ps == 0 ? OP_BOUND_UNKNOWN : most;
}

static void add_bounds(const struct ops *o, const struct op_roofs *roofs, struct tm_value *to)
{
    struct tm_value *bounds;

    tm_add_string(to, "bound", tm_op_bound_name[main_bound(roofs, o->compute_ps)]);
    bounds = tm_add_object(to, "bound_ps");
    for (int i = 0; i < OP_BOUND_COUNT; i++)
        tm_add_int(bounds, tm_op_bound_name[i], roofs->bound_ps[i]);
}

static void add_precisions(const struct ops *o, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "precisions");

    for (int i = 0; i < TM_PRECISION_COUNT; i++) {
        const struct precision_sum *sum = &o->precisions[i];
        struct tm_value *row;

        if (!sum->count)
            continue;
        row = tm_add_object(list, NULL);
        tm_add_string(row, "precision", tm_precision_name[i]);
        tm_add_uint(row, "count", sum->count);
        tm_add_int(row, "total_ps", sum->total_ps);
        tm_add_double(row, "share_pct", pct_of(sum->total_ps, o->compute_ps));
        tm_add_int(row, "matrix_ps", sum->matrix_ps);
        tm_add_int(row, "tensor_core_ps", sum->tensor_core_ps);
    }
}

static void add_far(struct ops *o, struct op_roofs *roofs, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "far");
    struct tm_listed_texts texts = tm_listed_texts(o->names, OPS_FAR_LISTED);
    struct op_peaks peaks = { .is_known = false };

    tm_top_rows_sort(roofs->far);
    for (uint64_t i = 0; i < tm_top_rows_count(roofs->far); i++) {
        const struct op_far *far = tm_top_rows_at(roofs->far, i);
        struct tm_value *row = tm_add_object(list, NULL);
        struct op_roof roof;

        tm_op_peaks(o, far->row.first_device, &peaks);
        tm_op_roof_of(&far->row, &peaks.peaks, &roof);
        tm_op_add_row(o, &texts, row, &far->row, &roof);
        tm_add_int(row, "lost_ps", far->lost_ps);
    }
}

/* Why nothing is known of costs, in a buffer of the caller's. */
static void find_why(struct ops *o, char *why, size_t bytes)
{
    const char *text;
    size_t length;

    (void)snprintf(why, bytes, "%s",
                   o->has_hlo ? "the profile holds neither costs of its operations nor the program's HLO"
                              : "the profile does not tell which operation of a program its kernels are of");
    if (!o->hlo_why)
        return;
    text = tm_names_text(o->names, o->hlo_why, bytes - 1, &length);
    (void)snprintf(why, bytes, "%s", text);
}

void tm_op_roofline(struct ops *o, struct op_roofs *roofs, struct tm_value *summary)
{
    struct tm_value *to = tm_add_object(summary, "roofline");
    struct sums sums = { .busy_ps = 0 };
    char why[WHY_BYTES];

    find_why(o, why, sizeof(why));
    if (source_of(o))
        tm_add_string(to, "source", source_of(o));
    else
        tm_add_null(to, "source", why);
    add_devices(o, to, &sums);
    add_rates(o, to, &sums, why);
    add_known(o, to);
    add_bounds(o, roofs, to);
    add_precisions(o, to);
    add_far(o, roofs, to);
}
