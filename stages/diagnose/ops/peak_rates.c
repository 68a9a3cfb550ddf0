/* SPDX-License-Identifier: Apache-2.0 */
/* Operations per cycle and core of GPUs by compute capability, dense.  Each row gives the data sheet's figures of its
 * devices when multiplied by cores and clock: H100 SXM 132 x 1.83 GHz x 4096 = 989 TFLOP/s of bf16. */
#include <stddef.h>
#include <string.h>

#include "stages/diagnose/ops/peaks.h"

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

const struct tm_peak_rate *tm_peak_rate_of(const struct tm_peak_question *device)
{
    const bool is_amd = strstr(device->vendor, "AMD") || strstr(device->model, "AMD") ||
                        strstr(device->model, "Instinct");

    if (device->kind != TM_DEVICE_GPU)
        return NULL;
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        if (rates[i].is_amd == is_amd && rates[i].major == device->capability_major &&
            rates[i].minor == device->capability_minor)
            return &rates[i];
    }
    return NULL;
}
