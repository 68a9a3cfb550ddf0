/* SPDX-License-Identifier: Apache-2.0 */
/* Device limits: peak rates, and the capacity of an SM of an NVIDIA GPU.  FLOPs: from a TPU's plane; from cores, clock,
 * and capability of a GPU; from its model.  Memory: from the plane, except for AMD, where the ROCm profiler omits one
 * doubling of the memory clock (MI300X: 2.66 of 5.3 TB/s). */
#include "stages/figures/device_limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/trace.h"

/* Operations per cycle and core (SM, CU), a multiply-add being two; 0 = no such unit, or not published. */
struct tm_peak_rate {
    uint32_t major, minor; /* compute capability; AMD: gfx942 is 9.4 */
    bool is_amd;
    bool halves_geforce; /* GeForce cards accumulate products in f32 at half the rate */
    uint16_t f64_matrix, f32_matrix, tf32, f16, bf16, f8, int8, f32, f64;
    const char *source;
};

/* In 10^12 operations a second and 10^9 bytes a second; 0 = no such unit, or not published. */
struct tm_peak_model {
    const char *name; /* part of the name in the trace, any case; the first row that fits counts */
    double f64_matrix, f32_matrix, tf32, f16, bf16, f8, int8, f32, f64, gigabytes;
    const char *source;
};

/* Peaks of devices by model, from public data sheets: dense, of what one device of a trace is (a GCD of an MI250X, a
 * core of a TPU v2 or v3).  Half-precision figures are with f32 accumulation. */

static const char v100[] = "NVIDIA V100 data sheet", a100[] = "NVIDIA A100 data sheet",
                  h100[] = "NVIDIA H100 data sheet", h200[] = "NVIDIA H200 data sheet",
                  gh200[] = "NVIDIA GH200 data sheet", b200[] = "NVIDIA DGX B200 data sheet",
                  ada[] = "NVIDIA Ada white paper", ampere[] = "NVIDIA GA102 white paper",
                  mi200[] = "AMD Instinct MI200 data sheet, one GCD", mi300[] = "AMD Instinct MI300 data sheet",
                  mi350[] = "AMD Instinct MI350 data sheet", tpu[] = "Google Cloud TPU system architecture";

static const struct tm_peak_model models[] = {
    { "V100S", .f16 = 130, .f32 = 16.4, .f64 = 8.2, .gigabytes = 1134, .source = v100 },
    { "V100-PCIE", .f16 = 112, .f32 = 14, .f64 = 7, .gigabytes = 900, .source = v100 },
    { "V100", .f16 = 125, .f32 = 15.7, .f64 = 7.8, .gigabytes = 900, .source = v100 },
    { "A100-SXM4-80GB", 19.5, 0, 156, 312, 312, 0, 624, 19.5, 9.7, 2039, a100 },
    { "A100 80GB PCIe", 19.5, 0, 156, 312, 312, 0, 624, 19.5, 9.7, 1935, a100 },
    { "A100-SXM-80GB", 19.5, 0, 156, 312, 312, 0, 624, 19.5, 9.7, 2039, a100 },
    { "A100", 19.5, 0, 156, 312, 312, 0, 624, 19.5, 9.7, 1555, a100 },
    { "A10G", .tf32 = 35, .f16 = 70, .bf16 = 70, .int8 = 140, .f32 = 35, .gigabytes = 600,
      .source = "NVIDIA A10G data sheet" },
    { "NVIDIA A10", .tf32 = 62.5, .f16 = 125, .bf16 = 125, .int8 = 250, .f32 = 31.2, .gigabytes = 600,
      .source = "NVIDIA A10 data sheet" },
    { "NVIDIA A30", 10.3, 0, 82, 165, 165, 0, 330, 10.3, 5.2, 933, "NVIDIA A30 data sheet" },
    { "NVIDIA A40", .tf32 = 74.8, .f16 = 149.7, .bf16 = 149.7, .int8 = 299.3, .f32 = 37.4, .gigabytes = 696,
      .source = "NVIDIA A40 data sheet" },
    { "H100 PCIe", 51, 0, 378, 756, 756, 1513, 1513, 51, 26, 2039, h100 },
    { "H100 NVL", 60, 0, 417.5, 835, 835, 1671, 1671, 60, 30, 3938, h100 },
    { "H100", 66.9, 0, 494.7, 989.4, 989.4, 1978.9, 1978.9, 66.9, 33.5, 3352, h100 },
    { "H200 NVL", 60, 0, 417.5, 835, 835, 1671, 1671, 60, 30, 4800, h200 },
    { "GH200 144G", 66.9, 0, 494.7, 989.4, 989.4, 1978.9, 1978.9, 66.9, 33.5, 4900, gh200 },
    { "GH200", 66.9, 0, 494.7, 989.4, 989.4, 1978.9, 1978.9, 66.9, 33.5, 4000, gh200 },
    { "H200", 66.9, 0, 494.7, 989.4, 989.4, 1978.9, 1978.9, 66.9, 33.5, 4800, h200 },
    { "B200", 37, 0, 1125, 2250, 2250, 4500, 4500, 75, 37, 8000, b200 },
    { "Tesla T4", .f16 = 65, .int8 = 130, .f32 = 8.1, .f64 = 0.25, .gigabytes = 320, .source = "NVIDIA T4 data sheet" },
    { "L40S", .tf32 = 183, .f16 = 362, .bf16 = 362, .f8 = 733, .int8 = 733, .f32 = 91.6, .gigabytes = 864,
      .source = "NVIDIA L40S data sheet" },
    { "NVIDIA L40", .tf32 = 90.5, .f16 = 181, .bf16 = 181, .f8 = 362, .int8 = 362, .f32 = 90.5, .gigabytes = 864,
      .source = "NVIDIA L40 data sheet" },
    { "NVIDIA L4", .tf32 = 60.5, .f16 = 121, .bf16 = 121, .f8 = 242.5, .int8 = 242.5, .f32 = 30.3, .gigabytes = 300,
      .source = "NVIDIA L4 data sheet" },
    { "RTX A6000", .tf32 = 77.4, .f16 = 154.8, .bf16 = 154.8, .int8 = 309.7, .f32 = 38.7, .gigabytes = 768,
      .source = "NVIDIA RTX A6000 data sheet" },
    { "GTX 1080 Ti", .f32 = 11.3, .f64 = 0.35, .gigabytes = 484, .source = "NVIDIA GTX 1080 Ti specification" },
    { "RTX 2080 Ti", .f16 = 53.8, .int8 = 215, .f32 = 13.4, .f64 = 0.42, .gigabytes = 616,
      .source = "NVIDIA Turing white paper" },
    { "RTX 3080 Ti", .tf32 = 34.1, .f16 = 68.2, .bf16 = 68.2, .int8 = 273, .f32 = 34.1, .gigabytes = 912,
      .source = ampere },
    { "RTX 3090 Ti", .tf32 = 40, .f16 = 80, .bf16 = 80, .int8 = 320, .f32 = 40, .gigabytes = 1008, .source = ampere },
    { "RTX 3090", .tf32 = 35.6, .f16 = 71, .bf16 = 71, .int8 = 284, .f32 = 35.6, .f64 = 0.56, .gigabytes = 936,
      .source = ampere },
    { "RTX 4090", .tf32 = 82.6, .f16 = 165.2, .bf16 = 165.2, .f8 = 330.3, .int8 = 660.6, .f32 = 82.6, .f64 = 1.29,
      .gigabytes = 1008, .source = ada },
    { "RTX 5090", .tf32 = 104.8, .f16 = 209.5, .bf16 = 209.5, .f8 = 419, .int8 = 838, .f32 = 104.8, .f64 = 1.64,
      .gigabytes = 1792, .source = "NVIDIA RTX Blackwell white paper" },
    { "MI210", 45.3, 45.3, 0, 181, 181, 0, 181, 22.6, 22.6, 1638, "AMD Instinct MI210 data sheet" },
    { "MI250X", 47.9, 47.9, 0, 191.5, 191.5, 0, 191.5, 23.9, 23.9, 1638, mi200 },
    { "MI250", 45.3, 45.3, 0, 181, 181, 0, 181, 22.6, 22.6, 1638, mi200 },
    { "MI300A", 122.6, 122.6, 490.3, 980.6, 980.6, 1961.2, 1961.2, 122.6, 61.3, 5300, mi300 },
    { "MI300X", 163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 2614.9, 163.4, 81.7, 5300, mi300 },
    { "MI325X", 163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 2614.9, 163.4, 81.7, 6000, mi300 },
    { "MI350X", 72.1, 144.2, 0, 2306.9, 2306.9, 4613.7, 4613.7, 144.2, 72.1, 8000, mi350 },
    { "MI355X", 78.6, 157.3, 0, 2516.6, 2516.6, 5033.2, 5033.2, 157.3, 78.6, 8000, mi350 },
    { "TPU v2", .bf16 = 22.5, .gigabytes = 350, .source = tpu },
    { "TPU v3", .bf16 = 61.5, .gigabytes = 450, .source = tpu },
    { "TPU v4", .bf16 = 275, .int8 = 275, .gigabytes = 1228, .source = tpu },
    { "TPU v5 lite", .bf16 = 197, .int8 = 393, .gigabytes = 819, .source = tpu },
    { "TPU v5e", .bf16 = 197, .int8 = 393, .gigabytes = 819, .source = tpu },
    { "TPU v5", .bf16 = 459, .int8 = 918, .gigabytes = 2765, .source = tpu },
    { "TPU v6", .bf16 = 918, .int8 = 1836, .gigabytes = 1640, .source = tpu },
};

/* The ROCm profiler records no model: it is identified by capability, compute units, and memory. */
static const char *amd_model(const struct tm_peak_question *device)
{
    const uint64_t gigabytes = device->memory_bytes / 1000000000;

    if (device->capability_major != 9)
        return "";
    switch (device->capability_minor) {
    case 0:
        return device->core_count == 110 ? "MI250X" : device->core_count == 104 ? "MI250" : "";
    case 4:
        if (device->core_count == 228)
            return "MI300A";
        return device->core_count != 304 ? "" : gigabytes > 230 ? "MI325X" : "MI300X";
    case 5:
        return device->core_count != 256 ? "" : device->clock_khz > 2300000 ? "MI355X" : "MI350X";
    default:
        return "";
    }
}

/* NULL = unknown. */
static const struct tm_peak_model *peak_model_of(const struct tm_peak_question *device)
{
    const bool is_amd = strstr(device->vendor, "AMD") != NULL;
    const char *known = is_amd && *amd_model(device) ? amd_model(device) : device->model;

    for (size_t i = 0; *known && i < sizeof(models) / sizeof(models[0]); i++)
        if (strcasestr(known, models[i].name))
            return &models[i];
    return NULL;
}

/* Operations per cycle and core of GPUs by compute capability, dense.  Each row gives the data sheet's figures of its
 * devices when multiplied by cores and clock: H100 SXM 132 x 1.83 GHz x 4096 = 989 TFLOP/s of bf16. */

static const struct tm_peak_rate rates[] = {
    { 6, 0, .f16 = 0, .f32 = 128, .f64 = 64, .source = "NVIDIA Tesla P100 white paper" },
    { 6, 1, .f32 = 256, .f64 = 8, .source = "NVIDIA CUDA programming guide, arithmetic throughput, 6.1" },
    { 7, 0, .f16 = 1024, .f32 = 128, .f64 = 64, .source = "NVIDIA Tesla V100 white paper" },
    { 7, 5, .halves_geforce = true, .f16 = 1024, .int8 = 2048, .f32 = 128, .f64 = 4,
      .source = "NVIDIA Turing white paper" },
    { 8, 0, .f64_matrix = 128, .tf32 = 1024, .f16 = 2048, .bf16 = 2048, .int8 = 4096, .f32 = 128, .f64 = 64,
      .source = "NVIDIA A100 white paper" },
    { 8, 6, .halves_geforce = true, .tf32 = 512, .f16 = 1024, .bf16 = 1024, .int8 = 2048, .f32 = 256, .f64 = 4,
      .source = "NVIDIA GA102 white paper" },
    { 8, 9, .halves_geforce = true, .tf32 = 512, .f16 = 1024, .bf16 = 1024, .f8 = 2048, .int8 = 2048, .f32 = 256,
      .f64 = 4, .source = "NVIDIA Ada white paper" },
    { 9, 0, .f64_matrix = 256, .tf32 = 2048, .f16 = 4096, .bf16 = 4096, .f8 = 8192, .int8 = 8192, .f32 = 256,
      .f64 = 128, .source = "NVIDIA H100 white paper" },
    { 10, 0, .f64_matrix = 128, .tf32 = 4096, .f16 = 8192, .bf16 = 8192, .f8 = 16384, .int8 = 16384, .f32 = 256,
      .f64 = 128, .source = "NVIDIA Blackwell (B200) data sheet" },
    { 10, 3, .tf32 = 4096, .f16 = 8192, .bf16 = 8192, .f8 = 16384, .f32 = 256,
      .source = "NVIDIA Blackwell Ultra (B300) data sheet" },
    { 12, 0, .halves_geforce = true, .tf32 = 512, .f16 = 1024, .bf16 = 1024, .f8 = 2048, .int8 = 2048, .f32 = 256,
      .f64 = 4, .source = "NVIDIA RTX Blackwell white paper" },
    { 9, 4, .is_amd = true, .f64_matrix = 256, .f32_matrix = 256, .tf32 = 1024, .f16 = 2048, .bf16 = 2048, .f8 = 4096,
      .int8 = 4096, .f32 = 256, .f64 = 128, .source = "AMD CDNA 3 white paper" },
    { 9, 5, .is_amd = true, .f64_matrix = 128, .f32_matrix = 256, .f16 = 4096, .bf16 = 4096, .f8 = 8192, .int8 = 8192,
      .f32 = 256, .f64 = 128, .source = "AMD CDNA 4 white paper" },
};

/* NULL = unknown. */
static const struct tm_peak_rate *peak_rate_of(const struct tm_peak_question *device)
{
    const bool is_amd =
        strstr(device->vendor, "AMD") || strstr(device->model, "AMD") || strstr(device->model, "Instinct");

    if (device->kind != TM_DEVICE_GPU)
        return NULL;
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        if (rates[i].is_amd == is_amd && rates[i].major == device->capability_major &&
            rates[i].minor == device->capability_minor)
            return &rates[i];
    }
    return NULL;
}

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

static void find_flops(const struct tm_peak_question *device, const struct tm_peak_model *model, struct tm_peaks *peaks)
{
    const struct tm_peak_rate *rate = peak_rate_of(device);

    if (rate && device->core_count && device->clock_khz) {
        take_rates(device, rate, peaks);
    } else if (model) {
        take_model(model, peaks);
    } else if (!(device->peak_tflops > 0)) {
        (void)snprintf(peaks->flops_source, sizeof(peaks->flops_source), "%s",
                       *device->model ? "the peaks of this model are unknown"
                                      : "the profile does not record the model");
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
        (void)snprintf(to, bytes, "%s; the ROCm profiler's value is too low", model->source);
    } else if (device->memory_bandwidth_bytes) {
        peaks->bandwidth = (double)device->memory_bandwidth_bytes;
        (void)snprintf(to, bytes, "the profile (%s)",
                       device->kind == TM_DEVICE_TPU ? "peak_hbm_bw_gigabytes_per_second" : "memory_bandwidth");
    } else if (model) {
        peaks->bandwidth = model->gigabytes * PER_GIGA;
        (void)snprintf(to, bytes, "%s", model->source);
    } else {
        (void)snprintf(to, bytes, "%s",
                       *device->model ? "the peaks of this model are unknown"
                                      : "the profile does not record the model");
    }
}

void tm_peaks_of(const struct tm_peak_question *device, struct tm_peaks *peaks)
{
    const struct tm_peak_model *model = peak_model_of(device);

    *peaks = (struct tm_peaks){ .bandwidth = 0 };
    if (device->kind == TM_DEVICE_CPU) {
        (void)snprintf(peaks->flops_source, sizeof(peaks->flops_source), "profiles do not record the CPU model");
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
    if (peaks->vector_f32 <= 0) /* a TPU: f32 products are decomposed; nothing is published about its vector units */
        return peaks->matrix[TM_BF16];
    return precision == TM_F64 ? peaks->vector_f64 : peaks->vector_f32;
}

/* Multiprocessors of NVIDIA GPUs by compute capability, and the occupancy that a launch has on them.
 * source: CUDA C++ Programming Guide, "Compute Capabilities", table "Technical Specifications per Compute Capability";
 * the units of allocation are those of the occupancy calculator (cuda_occupancy.h): registers by 256 of a warp,
 * warps by four, shared memory by 256 bytes before 8.0 and by 128 after, with 1 KiB of each block reserved from 8.0.
 * GPUs of AMD have no table: ROCm records no occupancy to check a calculation against. */

enum { WARP = 32, REGISTER_UNIT = 256, WARP_UNIT = 4, KIB = 1024 };

const char *const tm_limiter_name[TM_LIMITER_COUNT] = {
    [TM_LIMITER_REGISTERS] = "registers",
    [TM_LIMITER_SHARED_MEMORY] = "shared_memory",
    [TM_LIMITER_BLOCK_SIZE] = "block_size",
    [TM_LIMITER_GRID] = "grid",
    [TM_LIMITER_NONE] = "none",
    [TM_LIMITER_UNKNOWN] = "unknown",
};

/* clang-format off */
static const struct {
    uint32_t major, minor;
    struct tm_sm_limits limits;
} table[] = {
    /*           threads blocks registers  shared      reserved unit */
    { 3, 0,    { 2048,   16,    65536,      48 * KIB,  0,       256 } },
    { 3, 5,    { 2048,   16,    65536,      48 * KIB,  0,       256 } },
    { 3, 7,    { 2048,   16,    131072,    112 * KIB,  0,       256 } },
    { 5, 0,    { 2048,   32,    65536,      64 * KIB,  0,       256 } },
    { 5, 2,    { 2048,   32,    65536,      96 * KIB,  0,       256 } },
    { 5, 3,    { 2048,   32,    65536,      64 * KIB,  0,       256 } },
    { 6, 0,    { 2048,   32,    65536,      64 * KIB,  0,       256 } },
    { 6, 1,    { 2048,   32,    65536,      96 * KIB,  0,       256 } },
    { 6, 2,    { 2048,   32,    65536,      64 * KIB,  0,       256 } },
    { 7, 0,    { 2048,   32,    65536,      96 * KIB,  0,       256 } },
    { 7, 2,    { 2048,   32,    65536,      96 * KIB,  0,       256 } },
    { 7, 5,    { 1024,   16,    65536,      64 * KIB,  0,       256 } },
    { 8, 0,    { 2048,   32,    65536,     164 * KIB,  KIB,     128 } },
    { 8, 6,    { 1536,   16,    65536,     100 * KIB,  KIB,     128 } },
    { 8, 7,    { 1536,   16,    65536,     164 * KIB,  KIB,     128 } },
    { 8, 9,    { 1536,   24,    65536,     100 * KIB,  KIB,     128 } },
    { 9, 0,    { 2048,   32,    65536,     228 * KIB,  KIB,     128 } },
    { 10, 0,   { 2048,   32,    65536,     228 * KIB,  KIB,     128 } },
    { 10, 3,   { 2048,   32,    65536,     228 * KIB,  KIB,     128 } },
    { 12, 0,   { 1536,   24,    65536,     100 * KIB,  KIB,     128 } },
    { 12, 1,   { 1536,   24,    65536,     100 * KIB,  KIB,     128 } },
};
/* clang-format on */

/* The limits of a compute capability.  out: false if it is not in the table */
static bool sm_limits_of(uint32_t major, uint32_t minor, struct tm_sm_limits *limits)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].major == major && table[i].minor == minor) {
            *limits = table[i].limits;
            return true;
        }
    }
    return false;
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Blocks that fit by what they need of one thing. */
struct fit {
    uint32_t blocks;
    enum tm_occupancy_limiter limiter;
};

static struct fit fit_registers(const struct tm_launch_shape *shape, const struct tm_sm_limits *sm, uint32_t warps)
{
    struct fit fit = { UINT32_MAX, TM_LIMITER_REGISTERS };

    if (shape->registers && shape->registers <= sm->registers / WARP) {
        const uint32_t of_warp = (uint32_t)round_up((uint64_t)shape->registers * WARP, REGISTER_UNIT);

        fit.blocks = sm->registers / of_warp / WARP_UNIT * WARP_UNIT / warps;
    }
    return fit;
}

static struct fit fit_shared(const struct tm_launch_shape *shape, const struct tm_sm_limits *sm)
{
    struct fit fit = { UINT32_MAX, TM_LIMITER_SHARED_MEMORY };

    if (shape->shared_bytes <= sm->shared_bytes) {
        const uint64_t of_block = round_up(shape->shared_bytes + sm->shared_reserved_bytes, sm->shared_unit_bytes);

        if (of_block)
            fit.blocks = (uint32_t)(sm->shared_bytes / of_block);
    }
    return fit;
}

static struct fit fit_threads(const struct tm_sm_limits *sm, uint32_t warps)
{
    const uint32_t blocks = sm->threads / WARP / warps;

    return (struct fit){ blocks < sm->blocks ? blocks : sm->blocks, TM_LIMITER_BLOCK_SIZE };
}

/* Whether the recorded and the computed one agree: to a tenth of a percent, or to a whole one if percents are whole. */
static bool agrees(uint32_t recorded_milli, uint64_t milli)
{
    const uint64_t apart = recorded_milli > milli ? recorded_milli - milli : milli - recorded_milli;

    return apart <= (recorded_milli % 1000 ? 100 : 1000);
}

/* Occupancy of this many blocks at once, in 1000ths of a block. */
static uint64_t milli_of(const struct tm_launch_shape *shape, const struct tm_sm_limits *sm, uint64_t blocks_milli)
{
    return blocks_milli * shape->threads * 100 / sm->threads;
}

/* PyTorch counts no more blocks than the grid has for each multiprocessor. */
static bool is_grid(const struct tm_launch_shape *shape, const struct tm_sm_limits *sm, uint32_t resident)
{
    uint64_t blocks_milli;

    if (!shape->multiprocessors || __builtin_mul_overflow(shape->blocks, (uint64_t)1000, &blocks_milli))
        return false;
    blocks_milli /= shape->multiprocessors;
    return blocks_milli < (uint64_t)resident * 1000 && agrees(shape->recorded_milli, milli_of(shape, sm, blocks_milli));
}

/* From what a block needs, regardless of the grid; resident 0 = it cannot be reported. */
static struct tm_occupancy resident_of(const struct tm_launch_shape *shape, struct tm_sm_limits *sm)
{
    const uint32_t warps = (shape->threads + WARP - 1) / WARP;
    const struct tm_occupancy unknown = { TM_LIMITER_UNKNOWN, 0 };
    struct tm_occupancy answer = { TM_LIMITER_UNKNOWN, UINT32_MAX };
    struct fit fits[3];

    if (!shape->threads || shape->threads > 1024 || !sm_limits_of(shape->major, shape->minor, sm))
        return unknown;
    fits[0] = fit_registers(shape, sm, warps);
    fits[1] = fit_shared(shape, sm);
    fits[2] = fit_threads(sm, warps);
    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++) {
        if (fits[i].blocks < answer.resident)
            answer = (struct tm_occupancy){ fits[i].limiter, fits[i].blocks };
    }
    return answer.resident ? answer : unknown;
}

struct tm_occupancy tm_occupancy_of(const struct tm_launch_shape *shape)
{
    const uint32_t warps = (shape->threads + WARP - 1) / WARP;
    const struct tm_occupancy unknown = { TM_LIMITER_UNKNOWN, 0 };
    struct tm_sm_limits sm;
    struct tm_occupancy answer = resident_of(shape, &sm);

    if (!shape->recorded_milli || !answer.resident)
        return unknown;
    if (agrees(shape->recorded_milli, milli_of(shape, &sm, (uint64_t)answer.resident * 1000))) {
        if ((uint64_t)answer.resident * warps * WARP >= sm.threads)
            answer.limiter = TM_LIMITER_NONE;
        return answer;
    }
    if (!is_grid(shape, &sm, answer.resident))
        return unknown;
    answer.limiter = TM_LIMITER_GRID;
    return answer;
}

/* --- what a profile records --- */

enum { ONE_PCT_MILLI = 1000, FULL_MILLI = 100000 };

/* All in one; UINT64_MAX = too many. */
static uint64_t product(const uint32_t size[3])
{
    uint64_t all = 1;

    for (int i = 0; i < 3; i++)
        if (__builtin_mul_overflow(all, (uint64_t)(size[i] ? size[i] : 1), &all))
            return UINT64_MAX;
    return all;
}

struct tm_launch_shape tm_launch_shape_of(const uint32_t grid[3], const uint32_t block[3])
{
    const uint64_t threads = block[0] ? product(block) : 0;

    return (struct tm_launch_shape){ .blocks = grid[0] ? product(grid) : 0,
                                     .threads = threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX };
}

/* The occupancy that all warps of the grid together make up, if they are spread evenly; over FULL_MILLI for many. */
static uint64_t milli_of_grid(const struct tm_launch_shape *shape, const struct tm_sm_limits *sm)
{
    const unsigned __int128 threads = (unsigned __int128)shape->blocks * shape->threads;
    const unsigned __int128 room = (unsigned __int128)shape->multiprocessors * sm->threads;
    const unsigned __int128 milli = (threads * FULL_MILLI + room / 2) / room;

    return milli > UINT32_MAX ? UINT32_MAX : (uint64_t)milli;
}

/* in: grid_milli  one percent or more: if no block fits, rounding is not the reason */
static bool settle_none_fits(const struct tm_launch_shape *shape, uint64_t grid_milli, uint32_t *milli)
{
    struct tm_sm_limits sm;
    const struct tm_occupancy fits = resident_of(shape, &sm);
    uint64_t of_blocks;

    if (!fits.resident || !shape->registers)
        return false;
    of_blocks = (uint64_t)fits.resident * shape->threads * FULL_MILLI / sm.threads;
    *milli = (uint32_t)(of_blocks < grid_milli ? of_blocks : grid_milli);
    return true;
}

bool tm_recorded_occupancy(const struct tm_config *config, const struct tm_device *device, uint32_t *milli)
{
    struct tm_launch_shape shape = tm_launch_shape_of(config->grid, config->block);
    struct tm_sm_limits sm;
    uint64_t grid_milli;

    *milli = config->occupancy_milli;
    if (!config->has_achieved)
        return config->occupancy_milli != 0;
    if (!shape.blocks || !shape.threads || shape.threads > 1024 || !device->core_count ||
        !sm_limits_of(device->capability_major, device->capability_minor, &sm))
        return true;
    shape.multiprocessors = device->core_count;
    shape.registers = config->registers;
    shape.shared_bytes = config->shared_bytes;
    shape.major = device->capability_major;
    shape.minor = device->capability_minor;
    grid_milli = milli_of_grid(&shape, &sm);
    if (grid_milli < (uint64_t)config->occupancy_milli + ONE_PCT_MILLI)
        *milli = (uint32_t)(grid_milli < FULL_MILLI ? grid_milli : FULL_MILLI);
    else if (!config->occupancy_milli)
        return settle_none_fits(&shape, grid_milli, milli);
    return true;
}
