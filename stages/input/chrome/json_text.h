/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JSON_TEXT_H
#define TM_JSON_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#define TM_LIKELY(condition) __builtin_expect(!!(condition), 1)

/* The two searches in which a JSON scanner spends its time, over 32, 16 or 1 bytes at a time.  A file that is compiled
 * for its own processor sets TM_JSON_STRIDE first.  Both may load TM_JSON_PADDING bytes from where they end. */
#ifndef TM_JSON_STRIDE
#if defined(__SSE2__) || defined(__AARCH64EL__)
#define TM_JSON_STRIDE 16
#else
#define TM_JSON_STRIDE 1
#endif
#endif

/* What was found in the bytes that are examined at once: TM_MASK_BITS bits for each, the first byte in the lowest ones.
 * NEON has no instruction that gathers a bit of each byte; the shortest way leaves four. */
#if TM_JSON_STRIDE == 16 && defined(__AARCH64EL__)
#include <arm_neon.h>
typedef uint64_t tm_text_mask;
#define TM_MASK_BITS 4
#else
#if TM_JSON_STRIDE > 1
#include <immintrin.h>
#endif
typedef uint32_t tm_text_mask;
#define TM_MASK_BITS 1
#endif

#if TM_JSON_STRIDE == 1

static inline tm_text_mask tm_text_stops(const uint8_t *at)
{
    return *at == '"' || *at == '\\' || *at < 0x20;
}

static inline tm_text_mask tm_other_than_space(const uint8_t *at)
{
    return *at != ' ' && *at != '\n' && *at != '\r' && *at != '\t';
}

#elif TM_MASK_BITS == 4

static inline tm_text_mask tm_mask_of(uint8x16_t bytes)
{
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(bytes), 4)), 0);
}

static inline tm_text_mask tm_text_stops(const uint8_t *at)
{
    const uint8x16_t bytes = vld1q_u8(at);
    const uint8x16_t quotes = vceqq_u8(bytes, vdupq_n_u8('"')), escapes = vceqq_u8(bytes, vdupq_n_u8('\\'));

    return tm_mask_of(vorrq_u8(vorrq_u8(quotes, escapes), vcltq_u8(bytes, vdupq_n_u8(0x20))));
}

static inline tm_text_mask tm_other_than_space(const uint8_t *at)
{
    const uint8x16_t bytes = vld1q_u8(at);
    const uint8x16_t blanks = vorrq_u8(vceqq_u8(bytes, vdupq_n_u8(' ')), vceqq_u8(bytes, vdupq_n_u8('\t')));
    const uint8x16_t breaks = vorrq_u8(vceqq_u8(bytes, vdupq_n_u8('\n')), vceqq_u8(bytes, vdupq_n_u8('\r')));

    return ~tm_mask_of(vorrq_u8(blanks, breaks));
}

static inline tm_text_mask tm_text_differs(const uint8_t *a, const uint8_t *b)
{
    return ~tm_mask_of(vceqq_u8(vld1q_u8(a), vld1q_u8(b)));
}

#else

static inline tm_text_mask tm_other_than_space(const uint8_t *at)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    const __m128i blanks =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')));
    const __m128i breaks =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r')));

    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(blanks, breaks)) ^ 0xffffu;
}

#if TM_JSON_STRIDE == 32

static inline tm_text_mask tm_text_stops(const uint8_t *at)
{
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)at);
    const __m256i quotes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
    const __m256i escapes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
    const __m256i controls = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes);

    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(quotes, escapes), controls));
}

static inline tm_text_mask tm_text_differs(const uint8_t *a, const uint8_t *b)
{
    const __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)a);
    const __m256i y = _mm256_loadu_si256((const __m256i *)(const void *)b);

    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, y));
}

#else

static inline tm_text_mask tm_text_differs(const uint8_t *a, const uint8_t *b)
{
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)a);
    const __m128i y = _mm_loadu_si128((const __m128i *)(const void *)b);

    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) ^ 0xffffu;
}

static inline tm_text_mask tm_text_stops(const uint8_t *at)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i escapes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);

    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, escapes), controls));
}

#endif

#endif

static inline unsigned tm_first_byte(tm_text_mask mask)
{
    return (unsigned)__builtin_ctzll(mask) / TM_MASK_BITS;
}

/* The next quote, backslash, or control character, including the zero byte after the window.  Where 64 bytes are
 * examined at once, their length hardly ever affects a branch. */
static inline const uint8_t *tm_text_stop(const uint8_t *at)
{
#if TM_JSON_STRIDE == 32
    uint64_t stops;

    while (!(stops = tm_text_stops(at) | (uint64_t)tm_text_stops(at + 32) << 32))
        at += 64;
    return at + __builtin_ctzll(stops);
#else
    tm_text_mask stops;

    while (!(stops = tm_text_stops(at)))
        at += TM_JSON_STRIDE;
    return at + tm_first_byte(stops);
#endif
}

/* Whether two strings of a length above 0 are the same.  TM_JSON_PADDING bytes may be loaded from any place of the
 * first one before they differ, and 32 of the second. */
static inline bool tm_same_text(const uint8_t *a, const uint8_t *b, uint32_t length)
{
#if TM_JSON_STRIDE == 32
    for (; length > 64; length -= 64, a += 64, b += 64)
        if (tm_text_differs(a, b) | tm_text_differs(a + 32, b + 32))
            return false;
#endif
#if TM_JSON_STRIDE > 1
    while (length > TM_JSON_STRIDE) {
        if (tm_text_differs(a, b))
            return false;
        a += TM_JSON_STRIDE;
        b += TM_JSON_STRIDE;
        length -= TM_JSON_STRIDE;
    }
    return (uint64_t)tm_text_differs(a, b) << (64 - TM_MASK_BITS * length) == 0;
#else
    while (length > 0 && *a == *b) { /* the bytes after the first difference may not exist */
        a++;
        b++;
        length--;
    }
    return length == 0;
#endif
}

/* The next byte that is not white space; runs of white space are short. */
static inline const uint8_t *tm_space_end(const uint8_t *at)
{
    tm_text_mask others;

    while (!(others = tm_other_than_space(at)))
        at += TM_JSON_STRIDE > 1 ? 16 : 1;
    return at + tm_first_byte(others);
}

#endif
