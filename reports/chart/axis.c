/* SPDX-License-Identifier: Apache-2.0 */
/* Scales with steps of 1, 2 or 5 times a power of ten (times, numbers, percent) or a power of two (bytes). */
#include "reports/chart/axis.h"

#include <math.h>
#include <stdio.h>

#include "reports/format/format.h"

enum { TICKS_MOST = 64 };

static double round_step(enum tm_axis_kind kind, double rough)
{
    double power, times;

    if (kind == TM_AXIS_BYTES)
        return exp2(ceil(log2(rough < 1 ? 1 : rough)));
    power = pow(10, floor(log10(rough)));
    times = rough / power;
    return power * (times < 1.5 ? 1 : times < 3.2 ? 2 : times < 7 ? 5 : 10);
}

void tm_axis_choose(struct tm_axis *axis, enum tm_axis_kind kind, double low, double high,
                    int ticks, bool exact)
{
    if (!(high > low))
        high = low + fmax(1, low / 1000); /* 1 more would be nothing beside a large number */
    axis->kind = kind;
    axis->step = round_step(kind, (high - low) / ticks);
    axis->from = exact ? low : floor(low / axis->step) * axis->step;
    axis->to = exact ? high : ceil(high / axis->step) * axis->step;
    axis->at = 0;
    axis->length = 1;
}

double tm_axis_place(const struct tm_axis *axis, double value)
{
    return axis->at + axis->length * (value - axis->from) / (axis->to - axis->from);
}

double tm_axis_tick(const struct tm_axis *axis, int index)
{
    return (ceil(axis->from / axis->step - 1e-9) + index) * axis->step;
}

int tm_axis_ticks(const struct tm_axis *axis)
{
    int n = 0;

    while (n < TICKS_MOST && tm_axis_tick(axis, n) <= axis->to + axis->step * 1e-6)
        n++;
    return n;
}

struct unit {
    const char *name; /* behind a space; "" = none */
    double size;
};

static const struct unit time_units[] = {
    { "ps", 1 }, { "ns", 1e3 }, { "µs", 1e6 }, { "ms", 1e9 }, { "s", 1e12 }
};
static const struct unit byte_units[] = {
    { "B", 1 },        { "KiB", 0x1p10 }, { "MiB", 0x1p20 },
    { "GiB", 0x1p30 }, { "TiB", 0x1p40 }, { "PiB", 0x1p50 },
};
static const struct unit number_units[] = { { "", 1 } };
static const struct unit pct_units[] = { { "%", 1 } };

#define UNITS(list) { (list), sizeof(list) / sizeof((list)[0]) }
static const struct {
    const struct unit *unit;
    size_t count;
} units_of[] = {
    [TM_AXIS_TIME] = UNITS(time_units),
    [TM_AXIS_BYTES] = UNITS(byte_units),
    [TM_AXIS_NUMBER] = UNITS(number_units),
    [TM_AXIS_PCT] = UNITS(pct_units),
};

/* All values of an axis have one unit, the largest one that its end reaches. */
char *tm_axis_text(const struct tm_axis *axis, double value, char *out)
{
    const struct unit *units = units_of[axis->kind].unit;
    const size_t count = units_of[axis->kind].count;
    size_t chosen = 0;
    int decimals = 0;

    while (chosen + 1 < count && units[chosen + 1].size <= fmax(fabs(axis->from), fabs(axis->to)))
        chosen++;
    if (fabs(value) < axis->step / 2) {
        (void)snprintf(out, TM_FORMAT_BYTES, "0");
        return out;
    }
    for (double step = axis->step / units[chosen].size;
         decimals < 9 && fabs(step - round(step)) > 1e-6; step *= 10)
        decimals++;
    (void)snprintf(out, TM_FORMAT_BYTES, "%.*f%s%s", decimals, value / units[chosen].size,
                   *units[chosen].name ? " " : "", units[chosen].name);
    return out;
}

char *tm_axis_label(const struct tm_axis *axis, int index, char *out)
{
    return tm_axis_text(axis, tm_axis_tick(axis, index), out);
}
