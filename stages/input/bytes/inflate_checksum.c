/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 by multiplication without carries, 32 bytes per instruction; else that of ISA-L or zlib. */
#include "stages/input/bytes/inflate.h"

#include <zlib.h>

#ifdef TM_HAVE_ISAL
#include <isa-l/crc.h>
#endif

static uint32_t crc_of_library(uint32_t crc, const uint8_t *bytes, size_t length)
{
#ifdef TM_HAVE_ISAL
    return crc32_gzip_refl(crc, bytes, length);
#else
    return (uint32_t)crc32_z(crc, bytes, length);
#endif
}

#ifdef __x86_64__
#include <immintrin.h>

enum { LANES = 4, LANE_BYTES = 32, STRIDE = LANES * LANE_BYTES, HALF_BYTES = 16 };

/* The remainders, modulo the polynomial of the CRC, of x to the number of bits by which a fold moves 64 bits: 32 more
 * than its distance for the first 8 bytes of 16, 32 less for the last.  Bits are mirrored, as the CRC has them, and shifted
 * by one, because the product of two mirrored numbers is.
 * source: V. Gopal and others, Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction, Intel 2009 */
#define FOLD_128_BYTES 0x1e88ef372, 0x14a7fe880
#define FOLD_32_BYTES 0x0f1da05aa, 0x15a546366
#define FOLD_16_BYTES 0x1751997d0, 0x0ccaa009e
#define FOLDS __attribute__((target("avx2,pclmul,vpclmulqdq")))

/* `from`, moved by the distance of the factors, and added to `to`. */
FOLDS static inline __m256i fold(__m256i from, __m256i factors, __m256i to)
{
    const __m256i first = _mm256_clmulepi64_epi128(from, factors, 0x00);
    const __m256i last = _mm256_clmulepi64_epi128(from, factors, 0x11);

    return _mm256_xor_si256(_mm256_xor_si256(first, last), to);
}

FOLDS static inline __m256i load(const uint8_t *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

/* The strides become one, then 32 bytes, then 16, which leave the same remainder as the entire data. */
FOLDS static uint32_t crc_by_folds(uint32_t crc, const uint8_t *bytes, size_t length)
{
    const __m256i stride = _mm256_setr_epi64x(FOLD_128_BYTES, FOLD_128_BYTES);
    const __m256i lane = _mm256_setr_epi64x(FOLD_32_BYTES, FOLD_32_BYTES);
    const __m256i half = _mm256_setr_epi64x(FOLD_16_BYTES, 0, 0);
    const __m256i before = _mm256_setr_epi32((int)~crc, 0, 0, 0, 0, 0, 0, 0);
    const uint8_t *const end = bytes + length, *at = bytes + STRIDE;
    __m256i sum[LANES], all;
    uint8_t rest[HALF_BYTES];

    if (length < STRIDE)
        return crc_of_library(crc, bytes, length);
    for (int i = 0; i < LANES; i++)
        sum[i] = load(bytes + i * LANE_BYTES);
    sum[0] = _mm256_xor_si256(sum[0], before);
    for (; end - at >= STRIDE; at += STRIDE)
        for (int i = 0; i < LANES; i++)
            sum[i] = fold(sum[i], stride, load(at + i * LANE_BYTES));
    all = sum[0];
    for (int i = 1; i < LANES; i++)
        all = fold(all, lane, sum[i]);
    all = fold(all, half, _mm256_permute4x64_epi64(all, 0x0e)); /* to the upper half, which is now the lower one */
    _mm_storeu_si128((__m128i *)(void *)rest, _mm256_castsi256_si128(all));
    crc = crc_of_library(~UINT32_C(0), rest, sizeof(rest)); /* nothing before it: that is in the sum */
    return crc_of_library(crc, at, (size_t)(end - at));
}

/* With AVX-512, ISA-L has wider code of its own. */
static int folds_here(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq") && !__builtin_cpu_supports("avx512f");
}
#endif

tm_crc32 *tm_crc32_best(void)
{
#ifdef __x86_64__
    if (folds_here())
        return crc_by_folds;
#endif
    return crc_of_library;
}
