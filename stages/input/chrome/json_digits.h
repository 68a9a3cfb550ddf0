/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JSON_DIGITS_H
#define TM_JSON_DIGITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pipeline/platform.h"

/* Digits eight at a time, for numbers as they usually are; chrome_reader.h reads any. */

static inline uint64_t tm_load_word(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return le64toh(word);
}

/* out:    *value  of the digits from `at` on, at most eight
 *         returns how many there are.  Eight bytes are loaded. */
static inline unsigned tm_eight_digits(const uint8_t *at, uint32_t *value)
{
    const uint64_t word = tm_load_word(at) ^ UINT64_C(0x3030303030303030); /* digits are 0 ... 9 now */
    const uint64_t others = (word | (word + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080);
    const unsigned count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
    uint64_t v;

    if (count == 0) {
        *value = 0;
        return 0;
    }
    v = word << (64 - 8 * count); /* the last digit in the highest byte, zeros before the first one */
    v = (v * 10 + (v >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    v = (v * 100 + (v >> 16)) & UINT64_C(0x0000ffff0000ffff);
    *value = (uint32_t)(v * 10000 + (v >> 32));
    return count;
}

/* The digits from `at` on, at most 18, without a zero before others.
 * out:    returns how many there are; 0 if the general parser is needed */
static inline unsigned tm_short_digits(const uint8_t *at, uint64_t *value)
{
    static const uint32_t powers[9] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000 };
    uint32_t part;
    unsigned count = tm_eight_digits(at, &part), more;

    *value = part;
    if (count > 1 && *at == '0')
        return 0;
    if (count < 8)
        return count;
    more = tm_eight_digits(at + 8, &part);
    *value = *value * powers[more] + part;
    if (more < 8)
        return 8 + more;
    more = tm_eight_digits(at + 16, &part);
    *value = *value * powers[more < 3 ? more : 0] + part;
    return more < 3 ? 16 + more : 0;
}

/* A quick check where a number may end: no digit, point, or exponent follows, and no zero byte, which may be the end of
 * the data. */
static inline bool tm_ends_number(uint8_t c)
{
    return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n';
}

/* An integer of at most 18 digits.
 * out:    after it; NULL if the general parser is needed */
static inline const uint8_t *tm_short_integer(const uint8_t *at, int64_t *value)
{
    const bool negative = *at == '-';
    uint64_t digits;
    const unsigned count = tm_short_digits(at + negative, &digits);
    const uint8_t *const end = at + negative + count;

    if (!count || !tm_ends_number(*end))
        return NULL;
    *value = negative ? -(int64_t)digits : (int64_t)digits;
    return end;
}

/* The digits after the point, rounded to six.
 * out:    *millionths  at most 1000000
 *         returns after them */
static inline const uint8_t *tm_short_fraction(const uint8_t *at, uint32_t *millionths)
{
    static const uint32_t powers[7] = { 1000000, 100000, 10000, 1000, 100, 10, 1 };
    unsigned count = tm_eight_digits(at, millionths);

    if (count < 7) {
        *millionths *= powers[count];
        return at + count;
    }
    if (count == 7)
        *millionths = *millionths / 10 + (*millionths % 10 >= 5);
    else
        *millionths = *millionths / 100 + (*millionths % 100 >= 50);
    for (at += count; *at >= '0' && *at <= '9'; at++)
        ;
    return at;
}

#endif
