/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text: the one place for units and digits, so that HTML, PDF and text say the same, and for numbers that
 * read back as they were.  Nothing here allocates or depends on the locale or the clock. */
#include "pipeline/numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PS_PER_S INT64_C(1000000000000)

enum { NS_PER_S = 1000000000, SECONDS_MOST = 600, MINUTE = 60, HOUR = 3600, DAY = 86400 };

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static char *print_long_time(char *out, const char *sign, uint64_t seconds)
{
    if (seconds < HOUR)
        (void)snprintf(out, TM_FORMAT_BYTES, "%s%" PRIu64 " min %02" PRIu64 " s", sign, seconds / MINUTE,
                       seconds % MINUTE);
    else if (seconds < 2 * DAY)
        (void)snprintf(out, TM_FORMAT_BYTES, "%s%" PRIu64 " h %02" PRIu64 " min", sign, seconds / HOUR,
                       seconds % HOUR / MINUTE);
    else
        (void)snprintf(out, TM_FORMAT_BYTES, "%s%" PRIu64 " d %02" PRIu64 " h", sign, seconds / DAY,
                       seconds % DAY / HOUR);
    return out;
}

/* A number of three digits at most, of which the last ones are decimals. */
static char *print_time(char *out, bool is_negative, unsigned scaled, int decimals, const char *unit)
{
    char *to = out;

    *to = '-';
    to += is_negative;
    for (unsigned place = 100, digits = 3; digits > 0; digits--, place /= 10) {
        if ((int)digits == decimals)
            *to++ = '.';
        if (scaled >= place || (int)digits <= decimals + 1)
            *to++ = (char)('0' + scaled / place % 10);
    }
    *to++ = ' ';
    memcpy(to, unit, strlen(unit) + 1);
    return out;
}

char *tm_format_time(char *out, int64_t ps)
{
    static const struct {
        uint64_t ps;
        const char *name;
    } unit[] = { { 1000, "ns" }, { 1000000, "µs" }, { 1000000000, "ms" }, { PS_PER_S, "s" } };
    const char *sign = ps < 0 ? "-" : "";
    const uint64_t value = magnitude(ps);

    if (value == 0)
        return memcpy(out, "0 s", sizeof("0 s"));
    if (value < 1000) {
        (void)snprintf(out, TM_FORMAT_BYTES, "%s%" PRIu64 " ps", sign, value);
        return out;
    }
    if (value >= (uint64_t)SECONDS_MOST * PS_PER_S)
        return print_long_time(out, sign, value / PS_PER_S);
    for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
        uint64_t scale = 100;

        /* What rounds up to 1000 of a unit is 1.00 of the next one. */
        for (int decimals = 2; decimals >= 0; decimals--, scale /= 10) {
            const uint64_t scaled = (value * scale + unit[i].ps / 2) / unit[i].ps;

            if (scaled >= 1000)
                continue;
            return print_time(out, ps < 0, (unsigned)scaled, decimals, unit[i].name);
        }
        if (value < 1000 * unit[i].ps && i + 1 < sizeof(unit) / sizeof(unit[0])) {
            (void)snprintf(out, TM_FORMAT_BYTES, "%s1.00 %s", sign, unit[i + 1].name);
            return out;
        }
    }
    return out; /* not reached: SECONDS_MOST is below 1000 */
}

char *tm_format_time_roughly(char *out, int64_t ps)
{
    const uint64_t value = magnitude(ps);
    uint64_t step = 1, rounded;
    char *unit, *end;

    while (value / step >= 100)
        step *= 10;
    rounded = (value + step / 2) / step * step;
    rounded = rounded < INT64_MAX ? rounded : INT64_MAX;
    tm_format_time(out, ps < 0 ? -(int64_t)rounded : (int64_t)rounded);
    unit = strchr(out, ' ');
    if (!unit || !memchr(out, '.', (size_t)(unit - out)))
        return out;
    end = unit;
    while (end[-1] == '0')
        end--;
    memmove(end[-1] == '.' ? end - 1 : end, unit, strlen(unit) + 1);
    return out;
}

char *tm_format_moment(char *out, int64_t ps)
{
    const uint64_t ns = (magnitude(ps) + 500) / 1000;

    (void)snprintf(out, TM_FORMAT_BYTES, "%s%" PRIu64 ".%09" PRIu64 " s", ps < 0 ? "-" : "", ns / NS_PER_S,
                   ns % NS_PER_S);
    return out;
}

char *tm_format_date(char *out, int64_t unix_ns)
{
    const time_t seconds = (time_t)(unix_ns / NS_PER_S);
    struct tm parts;

    if (unix_ns < 0 || !gmtime_r(&seconds, &parts) ||
        strftime(out, TM_FORMAT_BYTES, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
        out[0] = 0;
    return out;
}

/* Three digits of a value below 1024. */
static void print_three(char *out, double value, const char *unit)
{
    const double size = fabs(value);
    const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;

    (void)snprintf(out, TM_FORMAT_BYTES, "%.*f %s", decimals, value, unit);
}

static char *print_scaled(char *out, double value, double base, const char *const *unit, size_t units)
{
    size_t i = 0;

    if (!isfinite(value)) {
        out[0] = 0;
        return out;
    }
    while (fabs(value) >= base - 0.5 && i + 1 < units) {
        value /= base;
        i++;
    }
    if (i == 0)
        (void)snprintf(out, TM_FORMAT_BYTES, "%.0f %s", value, unit[0]);
    else if (fabs(value) < base)
        print_three(out, value, unit[i]);
    else
        (void)snprintf(out, TM_FORMAT_BYTES, "%.3g %s", value, unit[i]);
    return out;
}

char *tm_format_bytes(char *out, double bytes)
{
    static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };

    return print_scaled(out, bytes, 1024, unit, sizeof(unit) / sizeof(unit[0]));
}

char *tm_format_rate(char *out, double bytes_per_s)
{
    static const char *const unit[] = { "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s" };

    return print_scaled(out, bytes_per_s, 1000, unit, sizeof(unit) / sizeof(unit[0]));
}

char *tm_format_flop_rate(char *out, double flop_per_s)
{
    static const char *const unit[] = { "FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s" };

    return print_scaled(out, flop_per_s, 1000, unit, sizeof(unit) / sizeof(unit[0]));
}

char *tm_format_count(char *out, int64_t count)
{
    char digits[24];
    const int n = snprintf(digits, sizeof(digits), "%" PRIu64, magnitude(count));
    char *to = out;

    if (count < 0)
        *to++ = '-';
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return out;
}

char *tm_format_pct(char *out, double pct)
{
    if (!isfinite(pct))
        out[0] = 0;
    else if (pct > 0 && pct < 0.05)
        (void)snprintf(out, TM_FORMAT_BYTES, "< 0.1%%");
    else if (pct >= 99.95 && pct < 100)
        (void)snprintf(out, TM_FORMAT_BYTES, "> 99.9%%");
    else
        (void)snprintf(out, TM_FORMAT_BYTES, "%.1f%%", pct == 0 ? 0 : pct);
    return out;
}

char *tm_format_number(char *out, double value)
{
    const double size = fabs(value);

    if (!isfinite(value)) {
        out[0] = 0;
    } else if (value == trunc(value) && size < 1e15) {
        return tm_format_count(out, (int64_t)value);
    } else if (size >= 999.5 && size < 1e15) {
        return tm_format_count(out, (int64_t)round(value));
    } else if (size >= 1e15 || size < 1e-4) {
        (void)snprintf(out, TM_FORMAT_BYTES, "%.3g", value);
    } else {
        /* 0.9995 is the least that rounds up to the next power of ten */
        const int decimals = 2 - (int)floor(log10(size / 0.9995));

        (void)snprintf(out, TM_FORMAT_BYTES, "%.*f", decimals, value);
    }
    return out;
}

char *tm_format_unit(char *out, double value, const char *unit)
{
    static const struct {
        const char *name;
        double ps;
    } time_unit[] = { { "ps", 1 }, { "ns", 1e3 }, { "us", 1e6 }, { "µs", 1e6 }, { "ms", 1e9 }, { "s", 1e12 } };
    char number[TM_FORMAT_BYTES];

    for (size_t i = 0; i < sizeof(time_unit) / sizeof(time_unit[0]); i++) {
        const double ps = value * time_unit[i].ps;

        if (strcmp(unit, time_unit[i].name) == 0 && fabs(ps) < 9e18)
            return tm_format_time(out, (int64_t)llround(ps));
    }
    if (strcmp(unit, "%") == 0)
        return tm_format_pct(out, value);
    if (strcmp(unit, "bytes") == 0 || strcmp(unit, "B") == 0)
        return tm_format_bytes(out, value);
    if (strcmp(unit, "bytes/s") == 0 || strcmp(unit, "B/s") == 0)
        return tm_format_rate(out, value);
    (void)tm_format_number(number, value);
    if (unit[0] == 0 || strcmp(unit, "count") == 0)
        return memcpy(out, number, sizeof(number));
    (void)snprintf(out, TM_FORMAT_BYTES, "%.30s %.16s", number, unit);
    return out;
}

char *tm_format_change(char *out, double change, bool is_share)
{
    out[0] = 0;
    if (!isnan(change))
        (void)snprintf(out, TM_FORMAT_BYTES, "%+.1f%s", change, is_share ? " points" : "%");
    return out;
}

char *tm_format_limit(char *out, double limit, const char *unit)
{
    const bool plain = unit[0] == 0 || strcmp(unit, "count") == 0;

    (void)snprintf(out, TM_FORMAT_BYTES, "%.6g%s%.16s", limit, plain || strcmp(unit, "%") == 0 ? "" : " ",
                   plain ? "" : unit);
    return out;
}

/* Numbers as text that reads back the same. printf and strtod of the C library do the same work several times for a
 * number; for numbers of common size, a product of 128 bits provides the digits. */

enum { DIGITS_MOST = 20 };

/* The digits end at `end`.  out: where they start */
static char *put_digits(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    return end;
}

size_t tm_uint_text(char *to, uint64_t value)
{
    char digits[DIGITS_MOST];
    const char *const begin = put_digits(digits + DIGITS_MOST, value);
    const size_t length = (size_t)(digits + DIGITS_MOST - begin);

    memcpy(to, begin, length);
    return length;
}

size_t tm_int_text(char *to, int64_t value)
{
    *to = '-'; /* overwritten if it is none */
    return (value < 0) + tm_uint_text(to + (value < 0), magnitude(value));
}

size_t tm_fixed_text(char *to, double value, int decimals)
{
    static const int64_t scales[] = { 1, 10, 100, 1000, 10000, 100000, 1000000 };
    const int64_t scale = scales[decimals];
    const int64_t parts = isfinite(value) && fabs(value) < 1e12 ? llround(value * (double)scale) : 0;
    const uint64_t size = magnitude(parts);
    size_t used = parts < 0;
    uint64_t left = size % (uint64_t)scale;

    *to = '-'; /* overwritten if it is none */
    used += tm_uint_text(to + used, size / (uint64_t)scale);
    if (left > 0)
        to[used++] = '.';
    for (uint64_t unit = (uint64_t)scale / 10; left > 0; left %= unit, unit /= 10)
        to[used++] = (char)('0' + left / unit);
    return used;
}

/* --- numbers of common size --- */

/* mantissa / 2^shift */
struct binary {
    uint64_t mantissa; /* 53 bits */
    unsigned shift;    /* 6 to 66 */
};

/* For these sizes all products below fit in 128 bits, and no exponent is written. */
static const double small = 1e-4, large = 1e14;

enum { PLACES_MOST = 20 }; /* of 17 digits of the smallest */

/* The number times power, which is ten to some power, rounded to the nearest integer; of two that are as near the even
 * one.
 * out:    true if *rounded / power reads back as the number: it is nearer than halfway to the next number */
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
    static const double tens[] = { 1e13, 1e12, 1e11, 1e10, 1e9, 1e8,  1e7,  1e6, 1e5,
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
