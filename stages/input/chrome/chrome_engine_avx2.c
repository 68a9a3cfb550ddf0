/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of the Chrome reader 32 bytes at a time, for processors that have AVX2 and BMI. */
#ifdef __x86_64__
#include <immintrin.h>

#include "stages/input/chrome/chrome_reader.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2")
#endif
#define TM_JSON_STRIDE 32
#include "stages/input/chrome/chrome_engine.h"

const struct tm_chrome_engine tm_chrome_engine_avx2 = { .event = read_event, .skip = skip_any };

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
