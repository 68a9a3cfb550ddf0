/* SPDX-License-Identifier: Apache-2.0 */
/* Binary segmentation over seeded intervals (Kovács, Bühlmann, Li and Munk 2020): in the entire series, and in
 * overlapping halves, quarters ... of it, each position is scored by the distance of the sums on both sides; this finds
 * a temporary level as well as a permanent one.  The position with the highest score splits the series, if fewer than
 * RARELY + 1 of the random permutations have one with such a score; then both sides are searched.  Values far from the
 * median are first pulled closer, so a single bad night does not create a level.  Values that resemble their
 * predecessors score high by chance more often than in random permutations.  Therefore the lag-1 correlation r is
 * estimated from the residuals of the levels found, and all is searched again, with the variance of a mean multiplied
 * by (1 + r) / (1 - r).  Its error rates: docs/night.md. */
#include "reports/statistics/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Both laws are t(n) = serial f(n) + parallel g(n): with f = 1, g = 1 / n for strong scaling, f =
 * n, g = 1 for weak. Divided by t it is a linear regression of ones, solved by its normal equations
 * (two of them: by Cramer's rule); the share is serial / (serial + parallel), its variance by
 * propagation from the covariance of the two. */

enum { POINTS_LEAST = 4, NUMBERS_LEAST = 3 };

struct sums { /* over the points, of f and g divided by t */
    double ff, fg, gg, f, g;
};

struct parts {
    double serial, parallel;
};

static double serial_basis(double n, bool is_weak)
{
    return is_weak ? n : 1;
}

static double parallel_basis(double n, bool is_weak)
{
    return is_weak ? 1 : 1 / n;
}

static bool is_enough(const double *n, const double *t, size_t count)
{
    size_t numbers = 0;

    for (size_t i = 0; i < count; i++) {
        bool is_new = true;

        if (!(n[i] > 0) || !(t[i] > 0) || isinf(n[i]) || isinf(t[i]))
            return false;
        for (size_t k = 0; k < i; k++)
            is_new &= n[k] != n[i];
        numbers += is_new;
    }
    return count >= POINTS_LEAST && numbers >= NUMBERS_LEAST;
}

static struct sums add_up(const double *n, const double *t, size_t count, bool is_weak)
{
    struct sums sums = { 0 };

    for (size_t i = 0; i < count; i++) {
        const double f = serial_basis(n[i], is_weak) / t[i], g = parallel_basis(n[i], is_weak) / t[i];

        sums.ff += f * f;
        sums.fg += f * g;
        sums.gg += g * g;
        sums.f += f;
        sums.g += g;
    }
    return sums;
}

/* Root mean square of the residuals of the ones. */
static double residual(const double *n, const double *t, size_t count, bool is_weak, struct parts parts)
{
    double squares = 0;

    for (size_t i = 0; i < count; i++) {
        const double off =
            1 - (parts.serial * serial_basis(n[i], is_weak) + parts.parallel * parallel_basis(n[i], is_weak)) / t[i];

        squares += off * off;
    }
    return sqrt(squares / (double)count);
}

static double share(struct parts parts)
{
    return parts.serial / (parts.serial + parts.parallel);
}

/* Half the width of the 95 % interval of the share. */
static double uncertainty(const struct sums *sums, struct parts parts, double rms, size_t count)
{
    const double freedom = (double)count - 2, variance = rms * rms * (double)count / freedom;
    const double whole = parts.serial + parts.parallel, determinant = sums->ff * sums->gg - sums->fg * sums->fg;
    const double by_serial = parts.parallel / (whole * whole), by_parallel = -parts.serial / (whole * whole);
    const double spread = (by_serial * by_serial * sums->gg - 2 * by_serial * by_parallel * sums->fg +
                           by_parallel * by_parallel * sums->ff) /
                          determinant;

    return tm_student_quantile(0.975, freedom) * sqrt(variance * fmax(spread, 0));
}

/* Neither part is negative: if one would be, the other one is fitted alone. */
static struct parts within(const struct sums *sums, struct parts parts)
{
    if (parts.serial < 0)
        return (struct parts){ 0, sums->g / sums->gg };
    if (parts.parallel < 0)
        return (struct parts){ sums->f / sums->ff, 0 };
    return parts;
}

static double percent_within(double x)
{
    return fmin(fmax(100 * x, 0), 100);
}

bool tm_fit_serial(const double *n, const double *t, size_t count, bool is_weak, struct tm_serial_fit *fit)
{
    if (!is_enough(n, t, count))
        return false;
    const struct sums sums = add_up(n, t, count, is_weak);
    const double determinant = sums.ff * sums.gg - sums.fg * sums.fg;
    const struct parts free_parts = { (sums.f * sums.gg - sums.g * sums.fg) / determinant,
                                      (sums.g * sums.ff - sums.f * sums.fg) / determinant };
    const struct parts parts = within(&sums, free_parts);
    const double half = uncertainty(&sums, free_parts, residual(n, t, count, is_weak, free_parts), count);

    if (!(determinant > 0) || !isfinite(half))
        return false;
    fit->serial_pct = percent_within(share(parts));
    fit->low_pct = percent_within(share(free_parts) - half);
    fit->high_pct = percent_within(share(free_parts) + half);
    fit->t1 = parts.serial + parts.parallel;
    fit->residual_pct = 100 * residual(n, t, count, is_weak, parts);
    fit->speedup_limit = is_weak || parts.serial == 0 ? INFINITY : 1 / share(parts);
    return true;
}

double tm_serial_time(const struct tm_serial_fit *fit, double n, bool is_weak)
{
    const double serial = fit->t1 * fit->serial_pct / 100;

    return serial * serial_basis(n, is_weak) + (fit->t1 - serial) * parallel_basis(n, is_weak);
}

enum { STRETCH_LEAST = 5, ORDERS = 399, RARELY = 1 /* of ORDERS and the true one: p <= 0.005 */ };

static const double far = 3 * 1.4826, alike_most = 0.8;

struct search {
    struct tm_sample series;
    struct tm_least_change least;
    double *near;   /* the series, with outliers pulled closer */
    double *order;  /* buffer for a stretch */
    double *room;   /* likewise */
    uint64_t draws; /* state of the generator */
    double alike;   /* correlation of neighbors */
    struct tm_change_point *point;
    size_t points;
};

struct stretch {
    size_t from, to; /* after the last */
};

static double median_of(const double *value, size_t count, double *room)
{
    memcpy(room, value, count * sizeof(*room));
    return tm_sample_select_median(room, count);
}

/* Median of the distances from a level; if most are 0, of the others. */
static double spread_about(const double *value, size_t count, double level, double *room)
{
    double spread;
    size_t off = 0;

    for (size_t i = 0; i < count; i++)
        room[i] = fabs(value[i] - level);
    spread = tm_sample_select_median(room, count);
    if (spread > 0)
        return spread;
    for (size_t i = 0; i < count; i++)
        if (room[i] > 0)
            room[off++] = room[i];
    return off > 0 ? tm_sample_select_median(room, off) : 0;
}

static void draw_nearer(struct search *s, struct stretch of)
{
    const double *const value = s->series.value + of.from;
    const size_t count = of.to - of.from;
    const double level = median_of(value, count, s->room);
    const double most = far * spread_about(value, count, level, s->room);

    for (size_t i = 0; i < count; i++)
        s->near[i] = fmax(-most, fmin(most, value[i] - level));
}

/* --- the most significant place --- */

struct place {
    size_t at;      /* within the stretch: the first value of its second part */
    double squared; /* its score: the difference of the means in units of its spread for equal values */
};

/* in:  sums  count + 1 of them: of the values before each place */
static void best_of_interval(const double *sums, size_t from, size_t to, struct place *best)
{
    const double length = (double)(to - from), mean = (sums[to] - sums[from]) / length;

    for (size_t at = from + STRETCH_LEAST; at + STRETCH_LEAST <= to; at++) {
        const double before = (double)(at - from), off = sums[at] - sums[from] - mean * before;
        const double squared = off * off * length / (before * (length - before));

        if (squared > best->squared)
            *best = (struct place){ at, squared };
    }
}

static bool exceeds(const double *sums, size_t from, size_t to, double squared)
{
    const double length = (double)(to - from), mean = (sums[to] - sums[from]) / length, limit = squared / length;

    for (size_t at = from + STRETCH_LEAST; at + STRETCH_LEAST <= to; at++) {
        const double before = (double)(at - from), off = sums[at] - sums[from] - mean * before;

        if (off * off >= limit * before * (length - before))
            return true;
    }
    return false;
}

static void running_sums(const double *value, size_t count, double *sums)
{
    sums[0] = 0;
    for (size_t i = 0; i < count; i++)
        sums[i + 1] = sums[i] + value[i];
}

/* Intervals of half the length start at every half of their own length; the last one ends where the stretch does. */
static size_t next_interval(size_t count, size_t length, size_t from)
{
    if (from + length >= count)
        return count; /* that was the last */
    return from + length + length / 2 > count ? count - length : from + length / 2;
}

static struct place best_of_all(const double *sums, size_t count)
{
    struct place best = { 0, 0 };

    for (size_t length = count; length >= 2 * STRETCH_LEAST; length /= 2)
        for (size_t from = 0; from < count; from = next_interval(count, length, from))
            best_of_interval(sums, from, from + length, &best);
    return best;
}

static bool any_exceeds(const double *sums, size_t count, double squared)
{
    for (size_t length = count; length >= 2 * STRETCH_LEAST; length /= 2)
        for (size_t from = 0; from < count; from = next_interval(count, length, from))
            if (exceeds(sums, from, from + length, squared))
                return true;
    return false;
}

static void shuffle(double *value, size_t count, uint64_t *draws)
{
    for (size_t i = count - 1; i > 0; i--) {
        const size_t k = tm_draw_below(draws, i + 1);
        const double kept = value[i];

        value[i] = value[k];
        value[k] = kept;
    }
}

/* How often the values in random order are as significant; 1 = more than RARELY times. */
static double chance(struct search *s, size_t count, struct place best)
{
    const double squared = best.squared * (1 - s->alike) / (1 + s->alike);
    int as_much = 0;

    for (int i = 0; i < ORDERS; i++) {
        shuffle(s->near, count, &s->draws);
        running_sums(s->near, count, s->order);
        as_much += any_exceeds(s->order, count, squared);
        if (as_much > RARELY)
            return 1;
    }
    return (1 + as_much) / (1.0 + ORDERS);
}

/* --- all of them --- */

static bool is_large(double before, double after, struct tm_least_change least)
{
    const double change = fabs(after - before);

    return change > 0 && change >= least.share * fabs(before) && change >= least.amount;
}

static void search_stretch(struct search *s, struct stretch of)
{
    const size_t count = of.to - of.from;
    struct place best;
    double p;

    if (count < 2 * STRETCH_LEAST || s->points == TM_CHANGE_POINTS_MOST)
        return;
    draw_nearer(s, of);
    running_sums(s->near, count, s->order);
    best = best_of_all(s->order, count);
    if (!(best.squared > 0) || (p = chance(s, count, best)) == 1)
        return;
    s->point[s->points++] = (struct tm_change_point){ .at = of.from + best.at, .p = p };
    search_stretch(s, (struct stretch){ of.from, of.from + best.at });
    search_stretch(s, (struct stretch){ of.from + best.at, of.to });
}

/* What a stretch adds to the sums of a correlation: of neighbors, and of each value with itself. */
static void add_stretch(struct search *s, struct stretch of, double *products, double *squares)
{
    const size_t count = of.to - of.from;
    double mean = 0, last = 0;

    draw_nearer(s, of);
    for (size_t i = 0; i < count; i++)
        mean += s->near[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        const double off = s->near[i] - mean;

        *products += last * off;
        *squares += off * off;
        last = off;
    }
}

/* The correlation of neighbors within the levels that were found, without its bias: 0 to alike_most. */
static double correlation(struct search *s)
{
    const double count = (double)s->series.count, levels = (double)s->points + 1;
    double products = 0, squares = 0, raw;

    for (size_t i = 0; i <= s->points; i++)
        add_stretch(
            s, (struct stretch){ i > 0 ? s->point[i - 1].at : 0, i < s->points ? s->point[i].at : s->series.count },
            &products, &squares);
    raw = squares > 0 ? products / squares : 0;
    return fmin(fmax(raw + (levels + 4 * raw) / count, 0), alike_most);
}

static void sort_points(struct search *s)
{
    for (size_t i = 1; i < s->points; i++) {
        const struct tm_change_point point = s->point[i];
        size_t k = i;

        for (; k > 0 && s->point[k - 1].at > point.at; k--)
            s->point[k] = s->point[k - 1];
        s->point[k] = point;
    }
}

static void search_series(struct search *s)
{
    s->points = 0;
    s->draws = s->series.count;
    search_stretch(s, (struct stretch){ 0, s->series.count });
    sort_points(s);
}

static struct stretch around(const struct search *s, size_t i)
{
    return (struct stretch){ i > 0 ? s->point[i - 1].at : 0, i + 1 < s->points ? s->point[i + 1].at : s->series.count };
}

/* A cut made before its neighbors were known is moved to the best position between them. */
static void settle(struct search *s, size_t i)
{
    const struct stretch of = around(s, i);
    struct place best = { 0, 0 };

    draw_nearer(s, of);
    running_sums(s->near, of.to - of.from, s->order);
    best_of_interval(s->order, 0, of.to - of.from, &best);
    if (best.squared > 0)
        s->point[i].at = of.from + best.at;
}

static void tell_levels(struct search *s)
{
    for (size_t i = 0; i < s->points; i++) {
        const struct stretch of = around(s, i);
        const size_t at = s->point[i].at;

        s->point[i].before = median_of(s->series.value + of.from, at - of.from, s->room);
        s->point[i].after = median_of(s->series.value + at, of.to - at, s->room);
    }
}

/* Remove the smallest change below the threshold, and recompute the levels beside it. out: false: none */
static bool drop_one(struct search *s)
{
    size_t least = s->points;
    double smallest = INFINITY;

    for (size_t i = 0; i < s->points; i++) {
        const double before = s->point[i].before, change = fabs(s->point[i].after - before);

        if (is_large(before, s->point[i].after, s->least) || change >= smallest)
            continue;
        smallest = change;
        least = i;
    }
    if (least == s->points)
        return false;
    memmove(&s->point[least], &s->point[least + 1], (--s->points - least) * sizeof(*s->point));
    return true;
}

size_t tm_change_points(struct tm_sample series, struct tm_least_change least, double *scratch,
                        struct tm_change_point points[TM_CHANGE_POINTS_MOST])
{
    struct search s = {
        .series = series,
        .least = least,
        .near = scratch,
        .order = scratch + series.count,
        .room = scratch + 2 * series.count + 1,
        .point = points,
    };

    if (series.count < TM_CHANGE_POINTS_LEAST)
        return 0;
    search_series(&s);
    /* With more levels than fit, the residuals are unknown. */
    if (s.points > 0 && s.points < TM_CHANGE_POINTS_MOST && (s.alike = correlation(&s)) > 0)
        search_series(&s);
    for (size_t i = 0; i < s.points; i++)
        settle(&s, i);
    do
        tell_levels(&s);
    while (drop_one(&s));
    return s.points;
}
