/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks of a device.  Operations: what a TPU's plane says; cores, clock and capability of a GPU; its model.  Memory:
 * what the plane says, but for AMD: the ROCm profiler doubles the memory's clock once too little (MI300X: 2.66 of
 * 5.3 TB/s). */
#include "stages/diagnose/ops/peaks.h"

#include <stdio.h>
#include <string.h>

#define PER_TERA 1e12
#define PER_GIGA 1e9
#define HZ_PER_KHZ 1e3

static void take_rates(const struct tm_peak_question *device, const struct tm_peak_rate *rate, struct tm_peaks *peaks)
{
    const double cycles = (double)device->core_count * (double)device->clock_khz * HZ_PER_KHZ;
    const bool is_geforce = strstr(device->model, "GeForce") != NULL;
    const double products = rate->halves_geforce && is_geforce ? cycles / 2 : cycles;

    peaks->matrix[TM_F64] = rate->f64_matrix * cycles;
    peaks->matrix[TM_F32] = rate->f32_matrix * cycles;
    peaks->matrix[TM_TF32] = rate->tf32 * products;
    peaks->matrix[TM_F16] = rate->f16 * products;
    peaks->matrix[TM_BF16] = rate->bf16 * products;
    peaks->matrix[TM_F8] = rate->f8 * products;
    peaks->matrix[TM_INT8] = rate->int8 * cycles;
    peaks->vector_f32 = rate->f32 * cycles;
    peaks->vector_f64 = rate->f64 * cycles;
    (void)snprintf(peaks->flops_source, sizeof(peaks->flops_source),
                   "%llu cores x %.4g GHz x operations per cycle of capability %u.%u (%s)",
                   (unsigned long long)device->core_count, (double)device->clock_khz / 1e6, device->capability_major,
                   device->capability_minor, rate->source);
}

static void take_model(const struct tm_peak_model *model, struct tm_peaks *peaks)
{
    peaks->matrix[TM_F64] = model->f64_matrix * PER_TERA;
    peaks->matrix[TM_F32] = model->f32_matrix * PER_TERA;
    peaks->matrix[TM_TF32] = model->tf32 * PER_TERA;
    peaks->matrix[TM_F16] = model->f16 * PER_TERA;
    peaks->matrix[TM_BF16] = model->bf16 * PER_TERA;
    peaks->matrix[TM_F8] = model->f8 * PER_TERA;
    peaks->matrix[TM_INT8] = model->int8 * PER_TERA;
    peaks->vector_f32 = model->f32 * PER_TERA;
    peaks->vector_f64 = model->f64 * PER_TERA;
    (void)snprintf(peaks->flops_source, sizeof(peaks->flops_source), "%s", model->source);
}

static void find_flops(const struct tm_peak_question *device, const struct tm_peak_model *model,
                       struct tm_peaks *peaks)
{
    const struct tm_peak_rate *rate = tm_peak_rate_of(device);

    if (rate && device->core_count && device->clock_khz) {
        take_rates(device, rate, peaks);
    } else if (model) {
        take_model(model, peaks);
    } else if (!(device->peak_tflops > 0)) {
        (void)snprintf(peaks->flops_source, sizeof(peaks->flops_source), "%s",
                       *device->model ? "the model is in no table of peaks" : "the profile does not name the model");
    }
    if (device->peak_tflops > 0) {
        peaks->matrix[TM_BF16] = device->peak_tflops * PER_TERA;
        (void)snprintf(peaks->flops_source, sizeof(peaks->flops_source), "the profile (peak_teraflops_per_second)");
    }
}

static void find_bandwidth(const struct tm_peak_question *device, const struct tm_peak_model *model,
                           struct tm_peaks *peaks)
{
    const bool is_amd = strstr(device->vendor, "AMD") != NULL;
    char *to = peaks->bandwidth_source;
    const size_t bytes = sizeof(peaks->bandwidth_source);

    if (is_amd && model) {
        peaks->bandwidth = model->gigabytes * PER_GIGA;
        (void)snprintf(to, bytes, "%s; the ROCm profiler's own figure is too low", model->source);
    } else if (device->memory_bandwidth_bytes) {
        peaks->bandwidth = (double)device->memory_bandwidth_bytes;
        (void)snprintf(to, bytes, "the profile (%s)",
                       device->kind == TM_DEVICE_TPU ? "peak_hbm_bw_gigabytes_per_second" : "memory_bandwidth");
    } else if (model) {
        peaks->bandwidth = model->gigabytes * PER_GIGA;
        (void)snprintf(to, bytes, "%s", model->source);
    } else {
        (void)snprintf(to, bytes, "%s",
                       *device->model ? "the model is in no table of peaks" : "the profile does not name the model");
    }
}

void tm_peaks_of(const struct tm_peak_question *device, struct tm_peaks *peaks)
{
    const struct tm_peak_model *model = tm_peak_model_of(device);

    *peaks = (struct tm_peaks){ .bandwidth = 0 };
    if (device->kind == TM_DEVICE_CPU) {
        (void)snprintf(peaks->flops_source, sizeof(peaks->flops_source), "a profile does not tell the model of a CPU");
        memcpy(peaks->bandwidth_source, peaks->flops_source, sizeof(peaks->bandwidth_source));
        return;
    }
    find_flops(device, model, peaks);
    find_bandwidth(device, model, peaks);
}

double tm_peak_flops(const struct tm_peaks *peaks, enum tm_precision precision, bool is_matrix)
{
    if (is_matrix && (precision == TM_PRECISION_UNKNOWN || peaks->matrix[precision] > 0))
        return peaks->matrix[precision];
    if (peaks->vector_f32 <= 0) /* a TPU: products of f32 are taken apart; nothing is published of its vector units */
        return peaks->matrix[TM_BF16];
    return precision == TM_F64 ? peaks->vector_f64 : peaks->vector_f32;
}
