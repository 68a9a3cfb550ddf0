/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text that reads back the same.  printf and strtod of the C library do the same work several times for a
 * number; of numbers of common size a product of 128 bits tells the digits. */
#include "pipeline/double_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MOST = 20 };

/* The digits end at `end`.  out: where they begin */
static char *put_digits(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    return end;
}

size_t tm_int_text(char *to, int64_t value)
{
    char digits[DIGITS_MOST];
    const char *const begin = put_digits(digits + DIGITS_MOST, value < 0 ? -(uint64_t)value : (uint64_t)value);
    const size_t length = (size_t)(digits + DIGITS_MOST - begin);

    *to = '-'; /* overwritten if it is none */
    memcpy(to + (value < 0), begin, length);
    return (value < 0) + length;
}

/* --- numbers of common size --- */

/* mantissa / 2^shift */
struct binary {
    uint64_t mantissa; /* 53 bits */
    unsigned shift;    /* 6 to 66 */
};

/* Of these sizes all products below have 128 bits, and no exponent is written. */
static const double small = 1e-4, large = 1e14;
enum { PLACES_MOST = 20 }; /* of 17 digits of the smallest */

/* The number times power, which is ten to some power, rounded to the nearest integer; of two that are as near the even
 * one.
 * out:    true if *rounded / power reads back as the number: it lies nearer than halfway to the next number */
static bool round_times(struct binary b, unsigned __int128 power, uint64_t *rounded)
{
    const unsigned __int128 one = (unsigned __int128)1 << b.shift, scaled = b.mantissa * power;
    const uint64_t whole = (uint64_t)(scaled >> b.shift);
    unsigned __int128 off = scaled & (one - 1); /* times 2: power = halfway */
    const bool is_up = 2 * off > one || (2 * off == one && whole & 1);

    *rounded = whole + is_up;
    off = is_up ? one - off : off;
    if (!is_up && b.mantissa == UINT64_C(1) << 52) /* the next one below a power of two is half as far */
        off *= 2;
    return 2 * off < power || (2 * off == power && !(b.mantissa & 1));
}

/* Digits with a point before the last `places` of them, and no zeros at the end. */
static size_t put_places(char *to, uint64_t rounded, unsigned places)
{
    char digits[DIGITS_MOST + PLACES_MOST];
    char *const end = digits + sizeof(digits);
    char *begin;
    size_t whole;

    for (; places && rounded % 10 == 0; places--)
        rounded /= 10;
    begin = put_digits(end, rounded);
    while ((size_t)(end - begin) <= places)
        *--begin = '0';
    whole = (size_t)(end - begin) - places;
    memcpy(to, begin, whole);
    if (!places)
        return whole;
    to[whole] = '.';
    memcpy(to + whole + 1, begin + whole, places);
    return whole + 1 + places;
}

/* in: small <= size < large */
static size_t put_common(char *to, double size)
{
    static const double tens[] = { 1e13, 1e12, 1e11, 1e10, 1e9,  1e8,  1e7,  1e6, 1e5,
                                   1e4,  1e3,  1e2,  1e1,  1e0, 1e-1, 1e-2, 1e-3 };
    unsigned __int128 power = 10;
    unsigned places = 1; /* of 15 digits from 1e13 on */
    uint64_t bits, rounded;
    struct binary b;

    memcpy(&bits, &size, sizeof(bits));
    b.mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    b.shift = (unsigned)(1075 - (bits >> 52));
    for (size_t i = 0; i < sizeof(tens) / sizeof(tens[0]) && size < tens[i]; i++, places++)
        power *= 10;
    for (unsigned digits = 15; !round_times(b, power, &rounded) && digits < 17; digits++, places++)
        power *= 10;
    return put_places(to, rounded, places);
}

/* --- any number --- */

/* Whatever the locale puts as decimal point (it may be several bytes) becomes one '.'. */
static size_t put_any(char *to, double value)
{
    char digits[TM_DOUBLE_TEXT];
    size_t used = 0;

    for (int precision = 15; precision <= 17; precision++) {
        (void)snprintf(digits, sizeof(digits), "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    for (const char *c = digits; *c != '\0'; c++) {
        if (strchr("+-0123456789e", *c))
            to[used++] = *c;
        else if (used == 0 || to[used - 1] != '.')
            to[used++] = '.';
    }
    return used;
}

size_t tm_double_text(char *to, double value)
{
    const double size = fabs(value);

    if (size != 0 && !(size >= small && size < large))
        return put_any(to, value);
    *to = '-'; /* overwritten if it is none */
    to += signbit(value) != 0;
    if (size == 0)
        *to = '0';
    return (signbit(value) != 0) + (size != 0 ? put_common(to, size) : 1);
}
