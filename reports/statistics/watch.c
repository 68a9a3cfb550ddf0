/* SPDX-License-Identifier: Apache-2.0 */
/* One figure of one job, night by night: which regressions opened, and which of them ended.  Each value is examined
 * only with those before it, so later values do not change what was opened earlier.
 *
 * The baseline consists of the values that belong to no regression.  After each value, three tests examine its last 80:
 *
 * - step: a change of the level before its end, for several lengths of the end, by generalized least squares with the
 *   lag-1 correlation of the residuals;
 * - jump: the last value alone, which has to be further away than anything before it;
 * - drift: the slope of a line through the last values, by the same fit.
 *
 * While a step is open, it is tested again with each value: in a series that wanders, what looked like a step often does
 * not last; and its start is searched again.  Noise and correlation of a short series are uncertain, so what other
 * series show of them counts, too (noise.c).  Error rates: docs/night.md. */
#include "reports/statistics/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    WINDOW = 80,      /* values of the baseline that are examined: the last ones */
    BEFORE_LEAST = 5, /* values before a step */
    JUMP_BEFORE = 3,  /* before a jump of one value */
    DRIFT_LEAST = 12,
    ALL_BEYOND = 3, /* an end so short has to be beyond the level with each of its values */
    HELD = 40,      /* values of each side by which an open regression is examined again */
    RECOVERY = 3,   /* a regression has so many values at least before it is back; its last ones give its level */
    END_MOST = 20,
    FITTED = 3,       /* a level, a change, a correlation */
    WEIGHT_HALF = 20, /* values with which the correlation without the step weighs half */
};

static const double clear_one = 3, clear_some = 2, clear_held = 1.5 /* ranges of the baseline */, beyond_most = 1.5,
                    alike_most = 0.95, to_deviation = 1.4826, clip = 3.5, part_beyond = 1.0 / 3, held_share = 0.75,
                    better_least = 1.5 /* limits */, drift_weight = 0.25,
                    rounding = 1e-12 /* of the squares: smaller residuals are errors of rounding */,
                    first_boundary = 1.2 /* limits: of two values */, alike_usual = 0.4, alike_relief = 0.14,
                    beyond_share = 0.5 /* of the least change */, beyond_limit = 0.78 /* limits */,
                    drift_better = 1.2 /* scores of the step */, moved_most = 2 /* standard errors */, moved_least = 1,
                    late_share = 0.3 /* of the likelihood */, noisier_most = 2.5 /* variances of other series */,
                    back_least = 12 /* twice a logarithm of likelihoods */;

/* Lengths of the end that are examined. */
static const size_t ends[] = { 2, 3, 4, 5, 6, 8, 10, 13, 16, 20 };
static const size_t drifts[] = { 12, 16, 22, 30, 40 };

/* Student's t with P(T > t) = p, for 2, 3, ... degrees of freedom: most of the time would go to finding them. */
enum limit { STEP_LIMIT, JUMP_LIMIT, DRIFT_LIMIT, LIMITS };
enum { FREEDOM_LEAST = 2, FREEDOM_MOST = 39 };

/* clang-format off */
static const double limits[LIMITS][FREEDOM_MOST - FREEDOM_LEAST + 1] = {
    /* p = 0.001, 0.00001, 0.0001 */
    { 22.32712477, 10.21453185, 7.17318222, 5.893429531, 5.207626239, 4.785289629, 4.500790934, 4.296805663,
     4.143700494, 4.024701038, 3.929633265, 3.851982391, 3.787390238, 3.732834425, 3.686154793, 3.64576738,
     3.610484885, 3.579400149, 3.551808343, 3.527153669, 3.504992031, 3.484964375, 3.466777298, 3.450188727,
     3.434997182, 3.421033621, 3.408155178, 3.396240288, 3.385184867, 3.37489928, 3.365305926, 3.356337279,
     3.347934313, 3.340045202, 3.332624257, 3.325631045, 3.319029655, 3.312788083 },
    { 223.6034436, 47.92772838, 23.3321827, 15.54685453, 12.03165318, 10.10268425, 8.907026871, 8.102057879,
     7.526954019, 7.097355559, 6.765169242, 6.501144914, 6.286549358, 6.108867895, 5.959441671, 5.83209966,
     5.72233117, 5.626766233, 5.542838633, 5.468561135, 5.402371794, 5.343026536, 5.289522601, 5.241043,
     5.19691558, 5.156582425, 5.119576666, 5.085504702, 5.054032421, 5.024874408, 4.997785408, 4.972553528,
     4.948994764, 4.926948574, 4.906274258, 4.886847999, 4.868560405, 4.851314474 },
    { 70.70007107, 22.20374227, 13.03367172, 9.677566301, 8.024792773, 7.063432828, 6.441999821, 6.010132129,
     5.693820101, 5.452762089, 5.263273008, 5.110578898, 4.985013158, 4.879998288, 4.790910103, 4.714406517,
     4.648014155, 4.589864597, 4.538520854, 4.492860131, 4.451992722, 4.415204713, 4.381916752, 4.351653866,
     4.324023037, 4.2986963, 4.275397855, 4.253894118, 4.233985957, 4.215502581, 4.19829668, 4.182240536,
     4.16722287, 4.15314629, 4.13992519, 4.127484025, 4.115755877, 4.104681256 }
};
/* clang-format on */

struct watch {
    struct tm_least_change least;
    struct tm_shared_noise noise; /* of other series */
    double value[WINDOW];         /* the baseline, times the sign: larger is worse */
    size_t index[WINDOW];         /* of each in the series */
    double sorted[WINDOW];
    size_t count;
    double margin; /* of the open regression: this close to the old level, it has recovered */
};

struct sign {
    bool is_found;
    enum tm_regression_kind kind;
    size_t end; /* values of the new level */
    double before, after, score, deviation;
    double alike, variance; /* of the errors around a step: struct clarity */
};

static double median_of(const double *value, size_t count)
{
    double room[WINDOW];

    memcpy(room, value, count * sizeof(*value));
    return tm_sample_select_median(room, count);
}

static double least_of(const struct watch *w, double before)
{
    return fmax(w->least.share * fabs(before), w->least.amount);
}

/* The correlation of neighbors.  The estimate of one series is corrected for its bias, moved toward that of other series
 * as far as both are uncertain, but not by more than a few standard errors (Efron and Morris 1972), and raised by
 * almost one standard error of the result: a short series rarely shows all of its correlation. */
static double alike_of(const struct tm_shared_noise *noise, double raw, double count, double parameters)
{
    const double error = sqrt(fmax(0, 1 - raw * raw) / count), own = raw + (parameters + 3 * raw) / count;
    const double of_others = noise->freedom > 0 ? error * error / (error * error + noise->alike_variance) : 0;
    const double most = moved_most * error, moved = fmax(-most, fmin(most, of_others * (noise->alike - own)));
    const double rest = sqrt(1 - of_others);

    return fmin(fmax(own + moved + rest * (error - 0.1), 0), alike_most);
}

struct residuals {
    double deviation, alike, freedom;
};

/* Residuals of a fit with some parameters, clipped at a few robust deviations, or if most of them are 0, at half of the
 * least change: one bad value says little about the others. */
static struct residuals residuals_of(const struct tm_shared_noise *noise, double *off, size_t count, double parameters,
                                     double least)
{
    double size[WINDOW], squares = 0, products = 0, most;
    struct residuals r;

    for (size_t i = 0; i < count; i++)
        size[i] = fabs(off[i]);
    most = clip * to_deviation * tm_sample_select_median(size, count);
    most = most > 0 ? most : least / 2;
    for (size_t i = 0; i < count; i++) {
        if (most > 0)
            off[i] = fmax(-most, fmin(most, off[i]));
        squares += off[i] * off[i];
        products += i > 0 ? off[i] * off[i - 1] : 0;
    }

    const double n = (double)count;

    r.alike = alike_of(noise, squares > 0 ? products / squares : 0, n, parameters);
    r.freedom = fmax(2, (n - parameters) * (1 - r.alike) / (1 + r.alike));
    r.deviation = sqrt(squares / fmax(1, n - parameters * (1 + r.alike) / (1 - r.alike)));
    return r;
}

/* Its logarithm is almost linear in the inverse of the degrees of freedom. */
static double limit_of(enum limit of, double freedom)
{
    static const double without[LIMITS] = { 3.090232306, 4.264890794, 3.719016485 }; /* for any freedom */
    const double within = fmax(freedom, FREEDOM_LEAST), below = fmin(floor(within), FREEDOM_MOST);
    const double *const at = &limits[of][(size_t)below - FREEDOM_LEAST];
    const bool is_last = below >= FREEDOM_MOST;
    const double above = is_last ? 0 : 1 / (below + 1), next = is_last ? without[of] : at[1];
    const double share = (1 / below - 1 / within) / (1 / below - above);

    return exp(log(at[0]) + share * (log(next) - log(at[0])));
}

/* value = level + size * shape + error, where each error is `alike` times the one before and a part of its own: AR(1),
 * by generalized least squares.  The first value of a step differs from the one before by all of the step, however
 * similar neighbors are: this is what distinguishes a step from a series that wanders. */
struct fit {
    double size, unit /* its variance, of errors with a variance of 1 */, squares /* of the residuals */;
};

static struct fit fit_of(const double *value, const double *shape, size_t count, double alike)
{
    const double first = sqrt(1 - alike * alike);
    double c = first, s = first * shape[0], v = first * value[0];
    double cc = c * c, cs = c * s, cv = c * v, ss = s * s, sv = s * v, vv = v * v;

    for (size_t i = 1; i < count; i++) {
        c = 1 - alike;
        s = shape[i] - alike * shape[i - 1];
        v = value[i] - alike * value[i - 1];
        cc += c * c;
        cs += c * s;
        cv += c * v;
        ss += s * s;
        sv += s * v;
        vv += v * v;
    }

    const double determinant = cc * ss - cs * cs;
    const double size = (cc * sv - cs * cv) / determinant, level = (ss * cv - cs * sv) / determinant;
    const double rest = vv - size * sv - level * cv, squares = rest > rounding * vv ? rest : 0;

    return (struct fit){ size, cc / determinant, squares };
}

/* The correlation of neighbors without a change of this size. */
static double alike_without(const struct tm_shared_noise *noise, double size, const double *value, const double *shape,
                            size_t count, double parameters)
{
    double mean = 0, squares = 0, products = 0, before = 0;

    for (size_t i = 0; i < count; i++)
        mean += (value[i] - size * shape[i]) / (double)count;
    for (size_t i = 0; i < count; i++) {
        const double off = value[i] - size * shape[i] - mean;

        squares += off * off;
        products += before * off;
        before = off;
    }
    return alike_of(noise, squares > 0 ? products / squares : 0, (double)count, parameters);
}

/* How clear a change of this shape is, against the limit: negative if it goes down.  With the change, neighbors look less
 * alike than they are, because its place is chosen; without it, more than they are.  The truth is between the two.
 * The variance is a mean of that of the residuals and that of other series, by their degrees of freedom (Smyth 2004).
 * in:  weight  of the correlation without the change, 0 to 1
 *      least   the least change, the unit of the noise of other series; 0 = that does not count */
struct clarity {
    double score, alike, variance /* of the part of an error that is its own */;
};

static struct clarity clarity_of(const struct watch *w, const double *value, const double *shape, size_t count,
                                 enum limit limit, double weight, double least)
{
    const double size = fit_of(value, shape, count, 0).size;
    const double alike = (1 - weight) * alike_without(&w->noise, size, value, shape, count, 2) +
                         weight * alike_without(&w->noise, 0, value, shape, count, 1);
    const struct fit fit = fit_of(value, shape, count, alike);
    const double own = fmax(1, (double)count - FITTED), of_others = w->noise.variance * least * least;
    const double shared = fit.squares / own > noisier_most * of_others ? 0 : w->noise.freedom, freedom = own + shared;
    const double variance = (fit.squares + shared * of_others) / freedom;
    struct clarity clarity = { .alike = alike, .variance = variance };

    if (variance * fit.unit > 0)
        clarity.score = fit.size / sqrt(variance * fit.unit) / limit_of(limit, freedom);
    else
        clarity.score = fit.size > 0 ? INFINITY : fit.size < 0 ? -INFINITY : 0;
    return clarity;
}

/* The first value of a sorted list that is greater, or not less. */
static size_t place_of(const double *sorted, size_t count, double value, bool is_greater)
{
    size_t at = 0;

    while (count > 0) {
        const size_t half = count / 2;
        const bool is_right = is_greater ? sorted[at + half] <= value : sorted[at + half] < value;

        at += is_right ? half + 1 : 0;
        count = is_right ? count - half - 1 : half;
    }
    return at;
}

static void insert(double *sorted, size_t count, double value)
{
    const size_t at = place_of(sorted, count, value, true);

    memmove(sorted + at + 1, sorted + at, (count - at) * sizeof(*sorted));
    sorted[at] = value;
}

/* in: value  in the list */
static void take_out(double *sorted, size_t count, double value)
{
    const size_t at = place_of(sorted, count, value, false);

    memmove(sorted + at, sorted + at + 1, (count - at - 1) * sizeof(*sorted));
}

static double median_of_sorted(const double *sorted, size_t count)
{
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* Only its first values stay. */
static void shorten(struct watch *w, size_t count)
{
    w->count = count;
    memcpy(w->sorted, w->value, count * sizeof(w->sorted[0]));
    tm_sample_sort(w->sorted, count);
}

/* The medians of its last values and of those before them, for all numbers of them up to END_MOST: from one to the next,
 * a value leaves one sorted list and enters the other. */
struct medians {
    double before[END_MOST + 1], end[END_MOST + 1];
};

static void find_medians(const struct watch *w, struct medians *to)
{
    double before[WINDOW], end[END_MOST];

    memcpy(before, w->sorted, w->count * sizeof(before[0]));
    for (size_t count = 1; count <= END_MOST && count < w->count; count++) {
        const double value = w->value[w->count - count];

        take_out(before, w->count - count + 1, value);
        insert(end, count - 1, value);
        to->before[count] = median_of_sorted(before, w->count - count);
        to->end[count] = median_of_sorted(end, count);
    }
}

/* Short series say little about the correlation of neighbors, so the tests allow for much of it, and miss obvious
 * changes.  A change of several times the range of the baseline is one, whatever the correlation. */
static double range_of(const double *value, size_t count)
{
    double low = value[0], high = value[0];

    for (size_t i = 1; i < count; i++) {
        low = fmin(low, value[i]);
        high = fmax(high, value[i]);
    }
    return count >= BEFORE_LEAST ? high - low : INFINITY;
}

/* How much its last values differ from those before them, up or down, against the limit.  The part of the change that
 * exceeds half of the least change has to be significant, too, at a lower limit: otherwise quiet series, in which many
 * changes are significant, would raise most of the false alarms.  Where neighbors are very alike, the limit is lower:
 * there the test misses the most.
 * in:  level, now  medians of both
 *      boundary    factor of the limit
 * out: off         the values, without what exceeds a few robust deviations */
static struct sign step_score(const struct watch *w, size_t end, double level, double now, double boundary,
                              double off[WINDOW])
{
    const size_t before = w->count - end;
    double change = now - level;
    const double direction = change < 0 ? -1 : 1;
    double nearest = INFINITY, shape[WINDOW], means[2] = { 0 };

    if (!(direction * change > least_of(w, level)))
        return (struct sign){ .score = 0 };
    for (size_t i = before; end <= ALL_BEYOND && i < w->count; i++) {
        if (!((w->value[i] - level) / change > part_beyond))
            return (struct sign){ .score = 0 }; /* one value is not a step */
        nearest = fmin(nearest, direction * (w->value[i] - level));
    }
    for (size_t i = 0; i < w->count; i++)
        off[i] = w->value[i] - (i < before ? level : now);

    const struct residuals r = residuals_of(&w->noise, off, w->count, 2, least_of(w, level));

    for (size_t i = 0; i < w->count; i++)
        means[i >= before] += off[i] / (double)(i < before ? before : end);
    for (size_t i = 0; i < w->count; i++) {
        shape[i] = i >= before;
        off[i] += shape[i] * (now - level); /* the values themselves, clipped */
    }
    level += means[0];
    now += means[1];
    change = direction * (now - level);

    const double weight = (double)w->count / (double)(w->count + WEIGHT_HALF);
    const struct clarity clarity = clarity_of(w, off, shape, w->count, STEP_LIMIT, weight, least_of(w, level));
    const double beyond = (1 - beyond_share * least_of(w, level) / change) / beyond_limit;
    const double limit = boundary * (1 - alike_relief * fmax(0, clarity.alike - alike_usual));
    const double score = direction * clarity.score / limit * (change > 0 ? fmin(1, beyond) : 0);

    return (struct sign){ (score > 1 || (end <= ALL_BEYOND && nearest > clear_some * range_of(w->value, before))) &&
                              change > least_of(w, level),
                          TM_REGRESSION_STEP,
                          end,
                          level,
                          now,
                          score,
                          r.deviation,
                          clarity.alike,
                          clarity.variance };
}

static bool is_up(const struct sign *sign)
{
    return sign->after > sign->before;
}

/* The clearest step up (worse) and the clearest one down. */
static void find_steps(const struct watch *w, struct sign *worse, struct sign *better)
{
    struct medians medians;
    double off[WINDOW];

    *worse = *better = (struct sign){ .is_found = false };
    if (w->count < ends[0] + BEFORE_LEAST)
        return;
    find_medians(w, &medians);
    for (size_t e = 0; e < sizeof(ends) / sizeof(ends[0]) && ends[e] + BEFORE_LEAST <= w->count; e++) {
        const struct sign sign = step_score(w, ends[e], medians.before[ends[e]], medians.end[ends[e]],
                                            ends[e] == ends[0] ? first_boundary : 1, off);
        struct sign *const best = is_up(&sign) ? worse : better;

        if (sign.is_found && (!best->is_found || sign.score > best->score))
            *best = sign;
    }
}

/* The level of its first values, and the change that one further value has to exceed.
 * in:  count  JUMP_BEFORE or more */
struct band {
    double level, limit, deviation, alike;
};

static struct band band_of(const struct watch *w, size_t count)
{
    struct band band = { .level = median_of(w->value, count) };
    double off[WINDOW], most = 0;

    for (size_t i = 0; i < count; i++) {
        off[i] = w->value[i] - band.level;
        most = fmax(most, fabs(off[i]));
    }

    const struct residuals r = residuals_of(&w->noise, off, count, 1, least_of(w, band.level));

    band.deviation = r.deviation;
    band.alike = r.alike;
    band.limit = fmax(limit_of(JUMP_LIMIT, r.freedom) * r.deviation, beyond_most * most);
    band.limit = fmin(band.limit, clear_one * range_of(w->value, count));
    return band;
}

/* The last value alone. */
static struct sign find_jump(const struct watch *w, double direction)
{
    const size_t before = w->count - 1;

    if (w->count < JUMP_BEFORE + 1)
        return (struct sign){ .is_found = false };

    const double level = median_of(w->value, before), change = direction * (w->value[before] - level);

    if (!(change > least_of(w, level)))
        return (struct sign){ .is_found = false };

    const struct band band = band_of(w, before);

    return (struct sign){ .is_found = change > band.limit,
                          .kind = TM_REGRESSION_STEP,
                          .end = 1,
                          .before = level,
                          .after = w->value[before],
                          .score = band.limit > 0 ? change / band.limit : INFINITY,
                          .deviation = band.deviation };
}

static struct sign find_drift(const struct watch *w)
{
    struct sign best = { .is_found = false };

    for (size_t d = 0; d < sizeof(drifts) / sizeof(drifts[0]); d++) {
        const size_t count = drifts[d], from = w->count - count;
        double off[WINDOW], shape[WINDOW], slope = 0, squares = 0, mean = 0;

        if (count > w->count)
            break;
        for (size_t i = 0; i < count; i++)
            mean += w->value[from + i] / (double)count;
        for (size_t i = 0; i < count; i++) {
            shape[i] = (double)i - ((double)count - 1) / 2;
            slope += shape[i] * w->value[from + i];
            squares += shape[i] * shape[i];
        }
        slope /= squares;

        const double rise = slope * ((double)count - 1), first = mean - rise / 2;

        if (!(rise > 2 * least_of(w, first)))
            continue;
        for (size_t i = 0; i < count; i++)
            off[i] = w->value[from + i] - mean - slope * shape[i];

        const struct residuals r = residuals_of(&w->noise, off, count, 2, least_of(w, first));

        for (size_t i = 0; i < count; i++)
            off[i] += slope * shape[i];

        const double score = clarity_of(w, off, shape, count, DRIFT_LIMIT, drift_weight, 0).score;

        if (score > best.score)
            best = (struct sign){ .is_found = score > 1,
                                  .kind = TM_REGRESSION_DRIFT,
                                  .end = count - 1,
                                  .before = first,
                                  .after = first + rise,
                                  .score = score,
                                  .deviation = r.deviation };
    }
    return best;
}

/* in: step  up */
static struct sign find_worse(const struct watch *w, const struct sign *step)
{
    const struct sign drift = find_drift(w);

    if (drift.is_found && (!step->is_found || drift.score > drift_better * step->score))
        return drift;
    return step->is_found ? *step : find_jump(w, 1);
}

static void add(struct watch *w, double value, size_t index)
{
    if (w->count == WINDOW) {
        take_out(w->sorted, w->count--, w->value[0]);
        memmove(w->value, w->value + 1, w->count * sizeof(w->value[0]));
        memmove(w->index, w->index + 1, w->count * sizeof(w->index[0]));
    }
    insert(w->sorted, w->count, value);
    w->value[w->count] = value;
    w->index[w->count++] = index;
}

/* The baseline starts again with its last values. */
static void keep_end(struct watch *w, size_t end)
{
    memmove(w->value, w->value + w->count - end, end * sizeof(w->value[0]));
    memmove(w->index, w->index + w->count - end, end * sizeof(w->index[0]));
    shorten(w, end);
}

static double signed_value(struct tm_sample series, bool is_lower_better, size_t i)
{
    return is_lower_better ? series.value[i] : -series.value[i];
}

/* A new regression takes its values out of the baseline. */
static struct tm_regression open_regression(struct watch *w, const struct sign *sign, size_t now, bool is_lower_better)
{
    const double factor = is_lower_better ? 1 : -1;
    const struct tm_regression of = { .kind = sign->kind,
                                      .from = w->index[w->count - sign->end],
                                      .opened = now,
                                      .closed = SIZE_MAX,
                                      .before = factor * sign->before,
                                      .after = factor * sign->after,
                                      .score = sign->score };

    shorten(w, w->count - sign->end);
    w->margin = fmax(least_of(w, sign->before), sign->deviation);
    return of;
}

/* The median of the last values of a regression.  in: most  TM_BACK_MOST or fewer */
static double level_of_end(struct tm_sample series, bool is_lower_better, size_t from, size_t last, size_t most)
{
    const size_t there = last + 1 - from, count = there < most ? there : most;
    double end[TM_BACK_MOST];

    for (size_t i = 0; i < count; i++)
        end[i] = signed_value(series, is_lower_better, last + 1 - count + i);
    return tm_sample_select_median(end, count);
}

/* The values around the start of an open regression, and the step that fits them. */
struct standing {
    struct watch both;
    size_t before; /* values of the baseline among them */
    struct sign step;
    double clipped[WINDOW]; /* less `level` */
    double level, now;
};

static bool stand(struct standing *to, const struct watch *w, struct tm_sample series, bool is_lower_better,
                  const struct tm_regression *open, size_t last)
{
    const size_t there = last + 1 - open->from, end = there < HELD ? there : HELD;

    to->before = w->count < HELD ? w->count : HELD;
    to->both = (struct watch){ .least = w->least, .noise = w->noise };
    if (there < RECOVERY || to->before < BEFORE_LEAST)
        return false;
    for (size_t i = w->count - to->before; i < w->count; i++)
        add(&to->both, w->value[i], w->index[i]);
    for (size_t i = last + 1 - end; i <= last; i++)
        add(&to->both, signed_value(series, is_lower_better, i), i);
    to->level = median_of(to->both.value, to->before);
    to->now = median_of(to->both.value + to->before, end);
    memcpy(to->clipped, to->both.value, to->both.count * sizeof(to->clipped[0])); /* if they show no step */
    to->step = step_score(&to->both, end, to->level, to->now, 1, to->clipped);
    return true;
}

/* Does an open step still exceed what chance allows, now that more values are known?  In a series that wanders, what
 * looked like a step often does not. */
static bool still_holds(const struct standing *of)
{
    if (of->both.count - of->before < BEFORE_LEAST ||
        of->now - of->level > fmax(clear_held * range_of(of->both.value, of->before), least_of(&of->both, of->level)))
        return true;

    return fmax(is_up(&of->step) ? of->step.score : 0, find_drift(&of->both).score) > held_share;
}

/* Where a step starts.  Each start has a likelihood, by the decrease of the squares in generalized least squares, as in
 * fit_of.  The latest start is returned that has late_share of the likelihood of all of them at it or after it: one bad
 * value shortly before a step often makes an earlier start the most likely one, and an early date blames a revision that
 * has nothing to do with the step.
 * in:  end   values of the step so far
 *      rise  decrease that a rise reaches; 0 = it is no drift
 * out: the values of the step; the same if it is a drift and no step fits much better */
static size_t likely_end(const struct standing *of, size_t end, double rise)
{
    const double *const value = of->clipped;
    const size_t count = of->both.count;
    const double alike = of->step.alike, first = 1 - alike * alike, rest = 1 - alike;
    const double cc = first + (double)(count - 1) * rest * rest, variance = of->step.variance;
    double cv = first * value[0], sum = 0, most = 0, all = 0, late = 0, gain[WINDOW + 1] = { 0 };
    size_t e, best = end;

    for (size_t i = 1; i < count; i++)
        cv += rest * (value[i] - alike * value[i - 1]);
    for (e = 1; e + BEFORE_LEAST <= count; e++) {
        const double own = value[count - e] - alike * value[count - e - 1], after = (double)(e - 1) * rest;
        const double ss = 1 + after * rest, cs = rest * (1 + after), sv = own + rest * sum;
        const double determinant = cc * ss - cs * cs, size = (cc * sv - cs * cv) / determinant;

        gain[e] = size > 0 ? size * size * determinant / cc : 0;
        sum += own;
        if (e > 1 && gain[e] > most) {
            most = gain[e];
            best = e;
        }
    }
    if (!(most > 0) || (rise > 0 && most - rise <= moved_least * variance))
        return end;
    if (!(variance > 0))
        return most > gain[end] ? best : end;
    for (e = 2; e + BEFORE_LEAST <= count; e++)
        all += exp((gain[e] - most) / (2 * variance));
    for (e = 2; e + BEFORE_LEAST < count; e++) {
        late += exp((gain[e] - most) / (2 * variance));
        if (late >= late_share * all)
            break;
    }
    return e;
}

/* Are the last values of a regression those of the old level?  By the likelihoods of a step back, and of none, with the
 * noise of the baseline.
 * in:  both, start  values around the start of the regression, and its place among them
 *      before       the old level */
static bool looks_back(const struct watch *both, size_t start, const struct watch *w, double before)
{
    const double *const value = both->value;
    const struct band band = band_of(w, w->count);
    const double alike = band.alike, variance = band.deviation * band.deviation * (1 - alike * alike);
    double sum = 0, most = -INFINITY;

    for (size_t at = start + 1; at < both->count; at++) {
        double size, gain = 0;

        sum += value[at - 1];
        size = sum / (double)(at - start) - before;
        if (both->count - at > END_MOST || !(size > 0))
            continue;
        for (size_t i = at; i < both->count; i++) {
            const double step = i == at ? size : size * (1 - alike);
            const double off = value[i] - alike * value[i - 1] - (1 - alike) * (before + size);

            gain -= step * (2 * off + step);
        }
        most = fmax(most, gain);
    }
    return isinf(most) || most > back_least * variance;
}

/* A regression ends with the last value; those from `from` on are of the baseline. */
static void close_regression(struct watch *w, struct tm_sample series, bool is_lower_better, struct tm_regression *open,
                             enum tm_regression_end end, size_t from, size_t last)
{
    open->closed = last;
    open->end = end;
    if (end == TM_REGRESSION_ACCEPTED) { /* the baseline consists of the values at the new level */
        const double change = open->after - open->before;

        shorten(w, 0);
        from = last + 1 - open->from < RECOVERY ? open->from : last + 1 - RECOVERY;
        while (from > open->from && fabs(series.value[from - 1] - open->after) < fabs(change) / 2)
            from--;
    }
    for (size_t i = from; i <= last; i++)
        add(w, signed_value(series, is_lower_better, i), i);
}

/* The next one; of too many the oldest is forgotten. */
static struct tm_regression *next_found(struct tm_watched *to)
{
    if (to->count == TM_REGRESSIONS_MOST)
        memmove(to->found, to->found + 1, --to->count * sizeof(to->found[0]));
    return &to->found[to->count++];
}

/* What is known of the baseline before the last value. */
static void set_level(const struct watch *w, bool is_lower_better, struct tm_watched *to)
{
    to->values = w->count;
    to->level = to->band = NAN;
    if (w->count < JUMP_BEFORE)
        return;

    const struct band band = band_of(w, w->count);

    to->level = is_lower_better ? band.level : -band.level;
    to->band = fmax(least_of(w, band.level), band.limit);
}

/* How much better a rise after the baseline explains the values than no change: the decrease of the squares. */
static double gain_of_rise(const struct standing *of)
{
    double shape[WINDOW];

    for (size_t i = 0; i < of->both.count; i++)
        shape[i] = i < of->before ? 0 : (double)(i + 1 - of->before);

    const struct fit fit = fit_of(of->clipped, shape, of->both.count, of->step.alike);

    return fit.size > 0 ? fit.size * fit.size / fit.unit : 0;
}

/* With more values it is clearer where an open regression started, and that a drift is a step.  The values between the
 * old start and the new one belong to the other side. */
static void find_start_again(struct watch *w, const struct standing *of, struct tm_sample series, bool is_lower_better,
                             struct tm_regression *open, size_t last)
{
    const size_t end = last + 1 - open->from;
    size_t best, from, kept = w->count;

    if (end > HELD)
        return;
    best = likely_end(of, end, open->kind == TM_REGRESSION_DRIFT ? gain_of_rise(of) : 0);
    from = of->both.index[of->both.count - best];
    if (best == end || from + best != last + 1)
        return;
    while (w->index[kept - 1] >= from)
        kept--;
    shorten(w, kept);
    for (size_t i = open->from; i < from; i++)
        add(w, signed_value(series, is_lower_better, i), i);

    const double level = median_of(w->value, w->count);

    open->kind = TM_REGRESSION_STEP;
    open->before = is_lower_better ? level : -level;
    open->from = from;
    open->opened = from > open->opened ? last : open->opened;
}

/* A regression is open when value i arrives: NULL = it ends with this value. */
static struct tm_regression *go_on(struct watch *w, struct tm_sample series, const struct tm_watch_options *options,
                                   struct tm_regression *open, size_t i)
{
    const bool is_continued = options->known && open->opened == options->known->opened;
    const bool is_lower = options->is_lower_better;
    const double before = is_lower ? open->before : -open->before;
    const double now = level_of_end(series, is_lower, open->from, i, RECOVERY);
    struct standing of;
    const bool is_known = stand(&of, w, series, is_lower, open, i);
    const bool is_back = i + 1 - open->from >= RECOVERY &&
                         level_of_end(series, is_lower, open->from, i, TM_BACK_MOST) - before <= w->margin &&
                         (!is_known || looks_back(&of.both, of.before, w, before));

    open->after = is_lower ? now : -now;
    if (is_back)
        close_regression(w, series, is_lower, open, TM_REGRESSION_RECOVERED, i + 1 - RECOVERY, i);
    else if (is_known && !still_holds(&of))
        close_regression(w, series, is_lower, open, TM_REGRESSION_DISMISSED, open->from, i);
    if (open->end != TM_REGRESSION_OPEN)
        return NULL;
    if (is_known && !is_continued)
        find_start_again(w, &of, series, is_lower, open, i);
    return open;
}

/* Value i arrives while none is open.  out: the regression that it shows; NULL = none */
static struct tm_regression *examine(struct watch *w, struct tm_sample series, const struct tm_watch_options *options,
                                     struct tm_watched *to, size_t i)
{
    const bool is_lower = options->is_lower_better;
    struct sign step, better;
    struct tm_regression *open;

    add(w, signed_value(series, is_lower, i), i);
    find_steps(w, &step, &better);

    const struct sign worse = find_worse(w, &step);

    if (worse.is_found) {
        open = next_found(to);
        *open = open_regression(w, &worse, i, is_lower);
        return open;
    }
    if (better.is_found && better.end >= RECOVERY && better.score > better_least) {
        keep_end(w, better.end);
        to->improved = i;
        to->improved_from = is_lower ? better.before : -better.before;
    } else if (i + 1 == series.count) {
        better = find_jump(w, -1);
        if (better.is_found) { /* it may not last: the baseline stays */
            to->improved = i;
            to->improved_from = is_lower ? better.before : -better.before;
        }
    }
    return NULL;
}

void tm_watch_series(struct tm_sample series, const struct tm_watch_options *options, struct tm_watched *to)
{
    const bool is_lower = options->is_lower_better;
    const struct tm_regression *const known = options->known;
    struct watch w = { .least = options->least,
                       .noise = options->noise ? *options->noise : (struct tm_shared_noise){ .freedom = 0 } };
    struct tm_regression *open = NULL;
    size_t accepted = 0;

    *to = (struct tm_watched){ .improved = SIZE_MAX, .improved_from = NAN, .level = NAN, .band = NAN };
    for (size_t i = 0; i < series.count; i++) {
        if (i + 1 == series.count)
            set_level(&w, is_lower, to);
        if (known && i < known->from) {
            add(&w, signed_value(series, is_lower, i), i);
            continue;
        }
        if (known && i == known->from) {
            open = next_found(to);
            *open = *known;
            open->end = TM_REGRESSION_OPEN;
            open->closed = SIZE_MAX;
            w.margin = fmax(least_of(&w, open->before), w.count >= JUMP_BEFORE ? band_of(&w, w.count).deviation : 0);
        }
        open = open ? go_on(&w, series, options, open, i) : examine(&w, series, options, to, i);
        while (accepted < options->accepted_count && options->accepted[accepted] < i)
            accepted++;
        if (open && accepted < options->accepted_count && options->accepted[accepted] == i) {
            close_regression(&w, series, is_lower, open, TM_REGRESSION_ACCEPTED, open->from, i);
            open = NULL;
        }
    }
}
