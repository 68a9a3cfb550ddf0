/* SPDX-License-Identifier: Apache-2.0 */
/* Reads limits of gates.  Times go through the reader of all times, whole and exact; sizes, rates
 * and shares are numbers times their unit. */
#include "reports/gates/gate_limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MOST = 63, TEXT_MOST = 127 };

static bool refuse(struct tm_wrong *wrong, const char *reason, const char *hint)
{
    *wrong = (struct tm_wrong){ reason, hint };
    return false;
}

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* Bytes of [+-]DIGITS[.DIGITS][e[+-]DIGITS]; 0 = no number.  An exponent without digits is a unit.
 */
static size_t number_length(const char *text)
{
    const size_t sign = *text == '+' || *text == '-';
    size_t n = sign + digits(text + sign);

    if (n == sign)
        return 0;
    if (text[n] == '.') {
        const size_t behind = digits(text + n + 1);

        if (behind == 0)
            return 0;
        n += 1 + behind;
    }
    if (text[n] == 'e' || text[n] == 'E') {
        const size_t exponent_sign = text[n + 1] == '+' || text[n + 1] == '-';
        const size_t exponent = digits(text + n + 1 + exponent_sign);

        n += exponent == 0 ? 0 : 1 + exponent_sign + exponent;
    }
    return n;
}

/* clang-format off */
static const struct {
    const char *name;
    double size;
    enum tm_limit_unit kind;
} unit_of[] = {
    { "",       1,                TM_IN_BARE },
    { "%",      1,                TM_IN_PERCENT },
    { "x",      1,                TM_IN_FACTOR },
    { "B",      1,                TM_IN_BYTES },
    { "bytes",  1,                TM_IN_BYTES },
    { "K",      1024.,            TM_IN_BYTES },
    { "KiB",    1024.,            TM_IN_BYTES },
    { "M",      1048576.,         TM_IN_BYTES },
    { "MiB",    1048576.,         TM_IN_BYTES },
    { "G",      1073741824.,      TM_IN_BYTES },
    { "GiB",    1073741824.,      TM_IN_BYTES },
    { "TiB",    1099511627776.,   TM_IN_BYTES },
    { "B/s",    1,                TM_IN_BYTE_RATE },
    { "KB/s",   1e3,              TM_IN_BYTE_RATE },
    { "MB/s",   1e6,              TM_IN_BYTE_RATE },
    { "GB/s",   1e9,              TM_IN_BYTE_RATE },
    { "TB/s",   1e12,             TM_IN_BYTE_RATE },
    { "MiB/s",  1048576.,         TM_IN_BYTE_RATE },
    { "GiB/s",  1073741824.,      TM_IN_BYTE_RATE },
    { "FLOP/s", 1,                TM_IN_FLOP_RATE },
    { "GFLOP/s", 1e9,             TM_IN_FLOP_RATE },
    { "TFLOP/s", 1e12,            TM_IN_FLOP_RATE },
    { "PFLOP/s", 1e15,            TM_IN_FLOP_RATE },
};
/* clang-format on */

static const char ALL_UNITS[] =
    "the units are ps, ns, us, ms, s; B, KiB, MiB, GiB, TiB; %; GB/s; TFLOP/s; x";

/* in: number, its length, and the unit without spaces before it */
static bool read_time(const char *number, size_t length, const char *unit, double *ps,
                      struct tm_wrong *wrong)
{
    const size_t sign = *number == '+' || *number == '-', unit_length = strlen(unit);
    char text[TEXT_MOST + 1];
    int64_t whole;

    if (length - sign + unit_length > TEXT_MOST)
        return refuse(wrong, "it is too long for a limit", NULL);
    memcpy(text, number + sign, length - sign);
    memcpy(text + length - sign, unit, unit_length);
    if (!tm_read_time(text, length - sign + unit_length, &whole, wrong))
        return false;
    *ps = *number == '-' ? -(double)whole : (double)whole;
    return true;
}

bool tm_gate_limit_read(const char *text, struct tm_gate_limit *limit, struct tm_wrong *wrong)
{
    static const char *const times[] = { "ps", "ns", "us", "\xc2\xb5s", "ms", "s" };
    char number[NUMBER_MOST + 1];
    const size_t length = number_length(text);
    const char *const unit = text + length + strspn(text + length, " ");

    if (length == 0)
        return refuse(wrong, "it is no number",
                      "a limit is a number with its unit, as \"150ms\", \"90%\" or \"3GiB\"");
    if (length > NUMBER_MOST)
        return refuse(wrong, "it is too long for a limit", NULL);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        if (strcmp(unit, times[i]) == 0) {
            limit->kind = TM_IN_TIME;
            return read_time(text, length, unit, &limit->number, wrong);
        }
    }
    memcpy(number, text, length);
    number[length] = '\0';
    for (size_t i = 0; i < sizeof(unit_of) / sizeof(unit_of[0]); i++) {
        if (strcmp(unit, unit_of[i].name) != 0)
            continue;
        limit->kind = unit_of[i].kind;
        limit->number = strtod(number, NULL) * unit_of[i].size;
        return isfinite(limit->number) || refuse(wrong, "it is past what numbers can be", NULL);
    }
    return refuse(wrong, "its unit is not known", ALL_UNITS);
}

/* --- units of figures --- */

/* clang-format off */
static const struct figure_unit {
    const char *name;
    double size; /* in what the limit counts */
    enum tm_limit_unit kind;
    const char *what, *hint;
} figure_units[] = {
    { "ps",      1,    TM_IN_TIME,      "the figure is a time",             "its units are ps, ns, us, ms and s, as in 150ms" },
    { "ns",      1e3,  TM_IN_TIME,      "the figure is a time",             "its units are ps, ns, us, ms and s, as in 150ms" },
    { "us",      1e6,  TM_IN_TIME,      "the figure is a time",             "its units are ps, ns, us, ms and s, as in 150ms" },
    { "ms",      1e9,  TM_IN_TIME,      "the figure is a time",             "its units are ps, ns, us, ms and s, as in 150ms" },
    { "s",       1e12, TM_IN_TIME,      "the figure is a time",             "its units are ps, ns, us, ms and s, as in 150ms" },
    { "%",       1,    TM_IN_PERCENT,   "the figure is a share in percent", "write it as 90%" },
    { "bytes",   1,    TM_IN_BYTES,     "the figure is a size",             "its units are B, KiB, MiB, GiB and TiB, as in 3GiB" },
    { "bytes/s", 1,    TM_IN_BYTE_RATE, "the figure is a bandwidth",        "its units are B/s, MB/s, GB/s, TB/s and GiB/s" },
    { "FLOP/s",  1,    TM_IN_FLOP_RATE, "the figure is a rate of operations", "its units are FLOP/s, GFLOP/s, TFLOP/s and PFLOP/s" },
};
/* clang-format on */

bool tm_gate_limit_in_unit(struct tm_gate_limit limit, const char *unit, double *number,
                           struct tm_wrong *wrong)
{
    const bool has_no_unit = limit.kind == TM_IN_NUMBER || limit.kind == TM_IN_BARE;

    *number = limit.number;
    if (limit.kind == TM_IN_NUMBER)
        return true;
    for (size_t i = 0; i < sizeof(figure_units) / sizeof(figure_units[0]); i++) {
        const struct figure_unit *u = &figure_units[i];

        if (strcmp(unit, u->name) != 0)
            continue;
        if (limit.kind == u->kind) {
            *number = limit.number / u->size;
            return true;
        }
        if (limit.kind == TM_IN_BARE && u->kind == TM_IN_PERCENT)
            return true;
        return refuse(wrong, u->what, u->hint);
    }
    return has_no_unit ||
           refuse(wrong, "the figure is a number without a unit", "write the number alone");
}
