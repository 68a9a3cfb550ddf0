/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of numbers with units, read as whole numbers: nothing is rounded, nothing wraps around.  Holds no memory. */
#include "pipeline/quantity.h"

#include <string.h>
#include <strings.h>

bool tm_take_digits(const char **text, uint64_t *number)
{
    const char *at = *text;
    uint64_t n = 0;

    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(*at - '0'), &n))
            return false;
    }
    if (at == *text)
        return false;
    *text = at;
    *number = n;
    return true;
}

static bool refuse(struct tm_wrong *wrong, const char *reason, const char *hint)
{
    *wrong = (struct tm_wrong){ reason, hint };
    return false;
}

bool tm_read_bytes(const char *text, uint64_t *bytes, struct tm_wrong *wrong)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = { { "", 0 }, { "K", 10 }, { "KiB", 10 }, { "M", 20 }, { "MiB", 20 }, { "G", 30 }, { "GiB", 30 } };
    uint64_t number;

    if (!tm_take_digits(&text, &number))
        return refuse(wrong, "it is not a size",
                      "a size is a whole number with K, M, G, KiB, MiB or GiB, such as 512M");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcasecmp(text, units[i].name) != 0)
            continue;
        if (number > (SIZE_MAX >> 1) >> units[i].shift)
            return refuse(wrong, "it is more than memory can be", NULL);
        *bytes = number << units[i].shift;
        return true;
    }
    return refuse(wrong, "its unit is not known", "the units are K, M, G, KiB, MiB and GiB; K is 1024 bytes");
}

struct time_unit {
    const char *name;
    int64_t ps;
};

static const struct time_unit *time_unit_of(const char *name, size_t length)
{
    static const struct time_unit units[] = {
        { "ps", 1 },          { "ns", 1000 },         { "us", 1000000 }, { "\xc2\xb5s", 1000000 },
        { "ms", 1000000000 }, { "s", 1000000000000 },
    };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].name) == length && memcmp(name, units[i].name, length) == 0)
            return &units[i];
    }
    return NULL;
}

/* Digits behind the point.  in: unit_ps  what stands before the point counts in it */
static bool add_fraction(const char *at, const char *end, int64_t unit_ps, int64_t *ps, struct tm_wrong *wrong)
{
    for (int64_t digit_ps = unit_ps; at < end; at++) {
        digit_ps /= 10;
        if (digit_ps == 0 && *at != '0')
            return refuse(wrong, "it is finer than a picosecond", NULL);
        if (__builtin_add_overflow(*ps, digit_ps * (*at - '0'), ps))
            return refuse(wrong, "it is longer than 106 days", NULL);
    }
    return true;
}

bool tm_read_time(const char *text, size_t length, int64_t *ps, struct tm_wrong *wrong)
{
    const char *const end = text + length;
    const char *at = text, *fraction;
    uint64_t whole;
    int64_t sum;

    if (length == 0 || !tm_take_digits(&at, &whole) || at > end || whole > INT64_MAX)
        return refuse(wrong, "it is not a time such as 10us", NULL);
    const bool has_point = at < end && *at == '.';

    fraction = has_point ? ++at : at;
    while (has_point && at < end && *at >= '0' && *at <= '9')
        at++;
    const struct time_unit *const unit = time_unit_of(at, (size_t)(end - at));

    if (!unit && !(whole == 0 && !has_point && at == end))
        return refuse(wrong, at < end ? "its unit is not known" : "it has no unit",
                      "the units are ns, us, ms and s, as in 10us");
    if (__builtin_mul_overflow((int64_t)whole, unit ? unit->ps : 1, &sum))
        return refuse(wrong, "it is longer than 106 days", NULL);
    if (!add_fraction(fraction, has_point ? at : fraction, unit ? unit->ps : 1, &sum, wrong))
        return false;
    *ps = sum;
    return true;
}

/* The number that ends at `stop`; nothing at all leaves *number alone. */
static bool read_end(const char *text, const char *stop, uint64_t *number)
{
    return text == stop || (tm_take_digits(&text, number) && text == stop);
}

bool tm_read_range(const char *text, uint64_t *begin, uint64_t *end)
{
    const char *const colon = strchr(text, ':');

    *begin = 0;
    *end = UINT64_MAX;
    return colon && text[1] && read_end(text, colon, begin) && read_end(colon + 1, text + strlen(text), end);
}
