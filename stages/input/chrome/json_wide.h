/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JSON_WIDE_H
#define TM_JSON_WIDE_H

#include "stages/input/chrome/json_digits.h"
#include "stages/input/chrome/json_text.h"

/* Short numbers for the engines.  Where 32 bytes are examined at once, no branch depends on the number of digits, which
 * differs from event to event; elsewhere json_digits.h is used: with NEON, the same steps took 4 % more instructions
 * for a trace of JAX than processing eight digits in a word.  Both give the same result, and leave everything but
 * short numbers to chrome_reader.h. */

#if TM_JSON_STRIDE == 32

/* out: bit for each of 32 bytes that is a digit */
static inline uint32_t tm_digit_bits(const uint8_t *at)
{
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)at);
    const __m256i digits = _mm256_sub_epi8(bytes, _mm256_set1_epi8('0'));

    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(digits, _mm256_set1_epi8(9)), digits));
}

/* How many digits there are from `at` on, up to 16; 32 = more. */
static inline unsigned tm_digit_count(const uint8_t *at)
{
    const uint32_t others = ~tm_digit_bits(at);
    const unsigned count = others ? (unsigned)__builtin_ctz(others) : 32;

    return count <= 16 ? count : 32;
}

/* The number with `count` digits, at most 16: they are moved to the end of 16, and joined in pairs. */
static inline uint64_t tm_digits_value(const uint8_t *at, unsigned count)
{
    static const uint8_t places[32] = {
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
        0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15,
    };
    const __m128i tens = _mm_set1_epi16(10 | 1 << 8), hundreds = _mm_set1_epi32(100 | 1 << 16);
    const __m128i ten_thousands = _mm_set1_epi32(10000 | 1 << 16);
    __m128i v = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)at), _mm_set1_epi8('0'));
    uint64_t halves;

    v = _mm_shuffle_epi8(v, _mm_loadu_si128((const __m128i *)(const void *)(places + count)));
    v = _mm_madd_epi16(_mm_maddubs_epi16(v, tens), hundreds);
    v = _mm_madd_epi16(_mm_packus_epi32(v, v), ten_thousands);
    halves = (uint64_t)_mm_cvtsi128_si64(v);
    return (halves & UINT32_MAX) * 100000000 + (halves >> 32);
}

static inline const uint8_t *tm_glance_integer(const uint8_t *at, int64_t *value)
{
    const bool negative = *at == '-';
    const uint8_t *const digits = at + negative;
    const unsigned count = tm_digit_count(digits);
    int64_t number;

    if (count - 1 >= 16 || (count > 1 && *digits == '0'))
        return tm_short_integer(at, value);
    if (!tm_ends_number(digits[count]))
        return NULL;
    number = (int64_t)tm_digits_value(digits, count);
    *value = negative ? -number : number;
    return digits + count;
}

/* The digits of an integer, at most 16, without zeros before it.
 * out:    after them; NULL if the general parser is needed */
static inline const uint8_t *tm_glance_digits(const uint8_t *at, int64_t *value)
{
    const unsigned count = tm_digit_count(at);

    if (count - 1 >= 16 || (count > 1 && *at == '0'))
        return NULL;
    *value = (int64_t)tm_digits_value(at, count);
    return at + count;
}

/* A string that is an integer without zeros before it. */
static inline bool tm_glance_number_text(const uint8_t *text, uint32_t length, int64_t *value)
{
    if (tm_digit_count(text) != length || length - 1 >= 16 || (length > 1 && *text == '0'))
        return false;
    *value = (int64_t)tm_digits_value(text, length);
    return true;
}

/* The numbers that two rows of eight digits represent, the lowest bytes first.  out: the second one above */
static inline uint64_t tm_digits_of_two(uint64_t first, uint64_t second)
{
    const __m128i tens = _mm_set1_epi16(10 | 1 << 8), hundreds = _mm_set1_epi32(100 | 1 << 16);
    const __m128i ten_thousands = _mm_set1_epi32(10000 | 1 << 16);
    __m128i v = _mm_set_epi64x((int64_t)second, (int64_t)first);

    v = _mm_madd_epi16(_mm_maddubs_epi16(v, tens), hundreds);
    v = _mm_madd_epi16(_mm_packus_epi32(v, v), ten_thousands);
    return (uint64_t)_mm_cvtsi128_si64(v);
}

/* Digits, optionally a point and more digits.  Six digits after the point count, rounded.
 * out:    their end, whatever follows; NULL if it is not such a number, or longer than 31 bytes; *millionths at most
 *         1000000 */
static inline const uint8_t *tm_glance_decimal(const uint8_t *at, uint64_t *us, uint32_t *millionths)
{
    const uint64_t zeros = UINT64_C(0x3030303030303030);
    const uint32_t bits = tm_digit_bits(at);
    const unsigned count = _tzcnt_u32(~bits);
    const uint8_t *end = at + count;
    uint64_t fraction = 0, both;

    if (count - 1 >= 16 || (count > 1 && *at == '0'))
        return NULL;
    if (*end == '.') {
        const unsigned more = _tzcnt_u32(~(bits >> (count + 1)));

        if (more == 0 || count + 1 + more == 32)
            return NULL;
        fraction = _bzhi_u64(tm_load_word(end + 1) ^ zeros, 8 * more);
        end += 1 + more;
    }
    both = tm_digits_of_two((tm_load_word(at) ^ zeros) << (64 - 8 * count) % 64, fraction);
    *us = count <= 8 ? both & UINT32_MAX : tm_digits_value(at, count);
    *millionths = ((uint32_t)(both >> 32) + 50) / 100;
    return end;
}

#else

static inline const uint8_t *tm_glance_digits(const uint8_t *at, int64_t *value)
{
    uint64_t digits;
    const unsigned count = tm_short_digits(at, &digits);

    *value = (int64_t)digits;
    return count ? at + count : NULL;
}

static inline const uint8_t *tm_glance_integer(const uint8_t *at, int64_t *value)
{
    return tm_short_integer(at, value);
}

static inline bool tm_glance_number_text(const uint8_t *text, uint32_t length, int64_t *value)
{
    uint64_t number;
    const bool fits = length && tm_short_digits(text, &number) == length;

    *value = fits ? (int64_t)number : 0;
    return fits;
}

static inline const uint8_t *tm_glance_decimal(const uint8_t *at, uint64_t *us, uint32_t *millionths)
{
    const unsigned count = tm_short_digits(at, us);

    *millionths = 0;
    if (!count)
        return NULL;
    at += count;
    if (*at == '.') {
        if (at[1] < '0' || at[1] > '9')
            return NULL;
        at = tm_short_fraction(at + 1, millionths);
    }
    return at;
}

#endif

#endif
