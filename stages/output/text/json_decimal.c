/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal numbers, so that every reader takes them for what they are.  Perfetto (v52) reads the digits before the point,
 * and those behind it, as whole numbers of 64 bits each: more digits than fit make another number, zeros in front too.
 * It drops all arguments after a number past the range of a double.
 * source: RFC 8259 section 6; measured with the importer */
#include <stdio.h>

#include "stages/output/text/json_values.h"

enum { DIGITS_MOST = 18, EXPONENT_MOST = 308 };

/* A number taken apart: places in its text. */
struct decimal {
    size_t whole, point, fraction, end; /* the first digit; behind the last one before the point; the first one behind
                                           the point; behind the last one */
    long exponent;
};

static size_t skip_digits(const char *text, size_t length, size_t at)
{
    while (at < length && text[at] >= '0' && text[at] <= '9')
        at++;
    return at;
}

/* The exponent, from 'e' on; past EXPONENT_MOST where it is too large or none.  out: *end */
static long read_exponent(const char *text, size_t length, size_t at, size_t *end)
{
    long exponent = 0;
    bool is_negative = false;

    *end = at;
    if (at == length || (text[at] != 'e' && text[at] != 'E'))
        return 0;
    at++;
    if (at < length && (text[at] == '+' || text[at] == '-'))
        is_negative = text[at++] == '-';
    *end = skip_digits(text, length, at);
    if (*end == at)
        return EXPONENT_MOST + 1;
    for (; at < *end; at++)
        exponent = exponent > EXPONENT_MOST ? exponent : exponent * 10 + (text[at] - '0');
    return is_negative ? -exponent : exponent;
}

/* false: it is no number of RFC 8259, or too large for readers. */
static bool take_apart(const char *text, size_t length, struct decimal *d)
{
    size_t end;

    d->whole = length && text[0] == '-' ? 1 : 0;
    d->point = skip_digits(text, length, d->whole);
    const size_t digits = d->point - d->whole;

    if (digits == 0 || digits > DIGITS_MOST || (digits > 1 && text[d->whole] == '0'))
        return false;
    d->fraction = d->end = d->point;
    if (d->point < length && text[d->point] == '.') {
        d->fraction = d->point + 1;
        d->end = skip_digits(text, length, d->fraction);
        if (d->end == d->fraction)
            return false;
    }
    d->exponent = read_exponent(text, length, d->end, &end);
    return end == length && d->exponent + (long)digits <= EXPONENT_MOST;
}

/* A fraction with too many digits: zeros in front of it go into the exponent, what is left over is cut. */
static void put_shorter(struct tm_json_text *json, const char *text, size_t length, const struct decimal *d)
{
    struct tm_text_sink *const sink = &json->sink;
    size_t first = d->fraction;
    char exponent[32];

    while (text[d->whole] == '0' && first < d->end && text[first] == '0')
        first++;
    if (first == d->end) {
        tm_sink_text(sink, "0.0");
        return;
    }
    if (text[d->whole] != '0') {
        tm_sink_put(sink, text, d->fraction + DIGITS_MOST);
        tm_sink_put(sink, text + d->end, length - d->end);
        return;
    }
    const size_t left = d->end - first - 1;

    tm_sink_put(sink, text, d->whole);
    tm_sink_put(sink, text + first, 1);
    if (left) {
        tm_sink_text(sink, ".");
        tm_sink_put(sink, text + first + 1, left < DIGITS_MOST ? left : DIGITS_MOST);
    }
    (void)snprintf(exponent, sizeof(exponent), "e%ld", d->exponent - (long)(first - d->fraction) - 1);
    tm_sink_text(sink, exponent);
}

bool tm_json_decimal(struct tm_json_text *json, const char *text, size_t length)
{
    struct decimal d;

    if (!take_apart(text, length, &d))
        return false;
    if (d.end - d.fraction > DIGITS_MOST)
        put_shorter(json, text, length, &d);
    else
        tm_sink_put(&json->sink, text, length);
    return true;
}
