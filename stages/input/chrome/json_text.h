/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JSON_TEXT_H
#define TM_JSON_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* The two searches that a JSON scanner spends its time in, over 32, 16 or 1 bytes at a time.  A file that is compiled
 * for its own processor sets TM_JSON_STRIDE first.  Both may load TM_JSON_PADDING bytes from where they end. */
#ifndef TM_JSON_STRIDE
#ifdef __SSE2__
#define TM_JSON_STRIDE 16
#else
#define TM_JSON_STRIDE 1
#endif
#endif

#if TM_JSON_STRIDE > 1
#include <immintrin.h>
#endif

#if TM_JSON_STRIDE > 1

static inline uint32_t tm_text_stops_16(const uint8_t *at)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i escapes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);

    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, escapes), controls));
}

static inline uint32_t tm_other_than_space(const uint8_t *at)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    const __m128i blanks =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')));
    const __m128i breaks =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r')));

    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(blanks, breaks)) ^ 0xffffu;
}

#endif

#if TM_JSON_STRIDE == 32

static inline uint32_t tm_text_stops(const uint8_t *at)
{
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)at);
    const __m256i quotes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
    const __m256i escapes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
    const __m256i controls = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes);

    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(quotes, escapes), controls));
}

/* out: bit for each of 32 bytes that differs */
static inline uint32_t tm_text_differs(const uint8_t *a, const uint8_t *b)
{
    const __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)a);
    const __m256i y = _mm256_loadu_si256((const __m256i *)(const void *)b);

    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, y));
}

#elif TM_JSON_STRIDE == 16

static inline uint32_t tm_text_differs(const uint8_t *a, const uint8_t *b)
{
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)a);
    const __m128i y = _mm_loadu_si128((const __m128i *)(const void *)b);

    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) ^ 0xffffu;
}

static inline uint32_t tm_text_stops(const uint8_t *at)
{
    return tm_text_stops_16(at);
}

#else

static inline uint32_t tm_text_stops(const uint8_t *at)
{
    return *at == '"' || *at == '\\' || *at < 0x20;
}

static inline uint32_t tm_other_than_space(const uint8_t *at)
{
    return *at != ' ' && *at != '\n' && *at != '\r' && *at != '\t';
}

#endif

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
    uint32_t stops;

    while (!(stops = tm_text_stops(at)))
        at += TM_JSON_STRIDE;
    return at + __builtin_ctz(stops);
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
    return (uint64_t)tm_text_differs(a, b) << (64 - length) == 0;
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
    uint32_t others;

    while (!(others = tm_other_than_space(at)))
        at += TM_JSON_STRIDE > 1 ? 16 : 1;
    return at + __builtin_ctz(others);
}

#endif
