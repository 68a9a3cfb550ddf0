/* SPDX-License-Identifier: Apache-2.0 */
/* One figure of one job, night by night: which regressions opened, and which of them ended.  Each value is examined
 * with those before it only, so adding later values changes nothing of what was opened earlier.
 *
 * The baseline consists of the values that belong to no regression.  After each value, three tests examine its last 40:
 *
 * - step: the means of its end and of the values before it, for several lengths of the end.  The spread is that of the
 *   residuals, and the variance of each mean takes into account the lag-1 correlation of the residuals;
 * - jump: the last value alone, which has to be further away than anything before it;
 * - drift: the slope of a line through the last values, with the same correction.
 *
 * While a step is open, it is tested again with each value: in a series that wanders, what looked like a step often does
 * not last.  Error rates: docs/night.md. */
#include "reports/statistics/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    WINDOW = 40,      /* values of the baseline that are examined: the last ones */
    BEFORE_LEAST = 5, /* values before a step */
    JUMP_BEFORE = 8,  /* before a jump of one value */
    DRIFT_LEAST = 12,
    ALL_BEYOND = 3, /* an end so short has to be beyond the level with each of its values */
    HELD = 20,      /* values of each side by which an open regression is examined again */
    RECOVERY = 3,   /* the median of so many values has to be back */
};

static const double step_p = 5e-4, jump_p = 1e-5, drift_p = 1e-4, beyond_most = 1.5, alike_most = 0.9,
                    to_deviation = 1.4826, clip = 3.5, part_beyond = 1.0 / 3, held_share = 1;

/* Lengths of the end that are examined. */
static const size_t ends[] = { 2, 3, 4, 5, 6, 8, 10, 13, 16, 20 };
static const size_t drifts[] = { 12, 16, 22, 30, 40 };

struct watch {
    struct tm_least_change least;
    double value[WINDOW]; /* the baseline, times the sign: larger is worse */
    size_t index[WINDOW]; /* of each in the series */
    size_t count;
    double margin; /* of the open regression: so near the old level it has recovered */
};

struct sign {
    bool is_found;
    enum tm_regression_kind kind;
    size_t end; /* values of the new level */
    double before, after, score, deviation;
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

struct residuals {
    double deviation, alike, freedom;
};

/* Residuals of a fit with some parameters, clipped at a few robust deviations.  The correlation of neighbors is raised by
 * its bias and by almost one standard error: a short series rarely shows all of it. */
static struct residuals residuals_of(double *off, size_t count, double parameters)
{
    double size[WINDOW], squares = 0, products = 0, most;
    struct residuals r;

    for (size_t i = 0; i < count; i++)
        size[i] = fabs(off[i]);
    most = clip * to_deviation * tm_sample_select_median(size, count);
    for (size_t i = 0; i < count; i++) {
        if (most > 0)
            off[i] = fmax(-most, fmin(most, off[i]));
        squares += off[i] * off[i];
        products += i > 0 ? off[i] * off[i - 1] : 0;
    }

    const double raw = squares > 0 ? products / squares : 0, n = (double)count;

    r.alike = fmin(fmax(raw + (parameters + 3 * raw) / n + sqrt((1 - raw * raw) / n) - 0.1, 0), alike_most);
    r.freedom = fmax(2, (n - parameters) * (1 - r.alike) / (1 + r.alike));
    r.deviation = sqrt(squares / fmax(1, n - parameters * (1 + r.alike) / (1 - r.alike)));
    return r;
}

/* The variance of the mean of values with variance 1 and this correlation of neighbors. */
static double variance_of_mean(size_t count, double alike)
{
    double sum = 1, power = 1;

    for (size_t j = 1; j < count && power > 1e-4; j++) {
        power *= alike;
        sum += 2 * (1 - (double)j / (double)count) * power;
    }
    return sum / (double)count;
}

static double limit_of(double p, double freedom)
{
    return tm_student_quantile(1 - p, freedom);
}

/* How much its last values differ from those before them, up or down, against the limit. */
static struct sign step_score(const struct watch *w, size_t end)
{
    const size_t before = w->count - end;
    double level = median_of(w->value, before), now = median_of(w->value + before, end), change = now - level;
    const double direction = change < 0 ? -1 : 1;
    double off[WINDOW], means[2] = { 0 };

    if (!(direction * change > least_of(w, level)))
        return (struct sign){ .score = 0 };
    for (size_t i = before; end <= ALL_BEYOND && i < w->count; i++)
        if (!((w->value[i] - level) / change > part_beyond))
            return (struct sign){ .score = 0 }; /* one value makes no step */
    for (size_t i = 0; i < w->count; i++)
        off[i] = w->value[i] - (i < before ? level : now);

    const struct residuals r = residuals_of(off, w->count, 2);

    for (size_t i = 0; i < w->count; i++)
        means[i >= before] += off[i] / (double)(i < before ? before : end);
    level += means[0];
    now += means[1];
    change = direction * (now - level);

    const double spread = r.deviation * sqrt(variance_of_mean(before, r.alike) + variance_of_mean(end, r.alike));
    const double score = spread > 0 ? change / spread / limit_of(step_p, r.freedom) : INFINITY;

    return (struct sign){
        score > 1 && change > least_of(w, level), TM_REGRESSION_STEP, end, level, now, score, r.deviation
    };
}

static bool is_up(const struct sign *sign)
{
    return sign->after > sign->before;
}

/* The clearest step up, which is worse, and the clearest one down. */
static void find_steps(const struct watch *w, struct sign *worse, struct sign *better)
{
    *worse = *better = (struct sign){ .is_found = false };
    for (size_t e = 0; e < sizeof(ends) / sizeof(ends[0]) && ends[e] + BEFORE_LEAST <= w->count; e++) {
        const struct sign sign = step_score(w, ends[e]);
        struct sign *const best = is_up(&sign) ? worse : better;

        if (sign.is_found && (!best->is_found || sign.score > best->score))
            *best = sign;
    }
}

/* The last value alone. */
static struct sign find_jump(const struct watch *w)
{
    const size_t before = w->count - 1;
    double off[WINDOW], most = 0;

    if (w->count < JUMP_BEFORE + 1)
        return (struct sign){ .is_found = false };

    const double level = median_of(w->value, before), change = w->value[before] - level;

    if (!(change > least_of(w, level)))
        return (struct sign){ .is_found = false };
    for (size_t i = 0; i < before; i++) {
        off[i] = w->value[i] - level;
        most = fmax(most, fabs(off[i]));
    }

    const struct residuals r = residuals_of(off, before, 1);
    const double limit = fmax(limit_of(jump_p, r.freedom) * r.deviation, beyond_most * most);

    return (struct sign){ change > limit, TM_REGRESSION_STEP, 1,
                          level,          w->value[before],   limit > 0 ? change / limit : INFINITY,
                          r.deviation };
}

static struct sign find_drift(const struct watch *w)
{
    struct sign best = { .is_found = false };

    for (size_t d = 0; d < sizeof(drifts) / sizeof(drifts[0]); d++) {
        const size_t count = drifts[d], from = w->count - count;
        double off[WINDOW], slope = 0, squares = 0, mean = 0;

        if (count > w->count)
            break;
        for (size_t i = 0; i < count; i++)
            mean += w->value[from + i] / (double)count;
        for (size_t i = 0; i < count; i++) {
            const double x = (double)i - ((double)count - 1) / 2;

            slope += x * w->value[from + i];
            squares += x * x;
        }
        slope /= squares;

        const double rise = slope * ((double)count - 1), first = mean - rise / 2;

        if (!(rise > 2 * least_of(w, first)))
            continue;
        for (size_t i = 0; i < count; i++)
            off[i] = w->value[from + i] - mean - slope * ((double)i - ((double)count - 1) / 2);

        const struct residuals r = residuals_of(off, count, 2);
        const double spread = r.deviation * sqrt((1 + r.alike) / (1 - r.alike) / squares);
        const double limit = limit_of(drift_p, r.freedom), score = spread > 0 ? slope / spread / limit : INFINITY;

        if (score > best.score)
            best = (struct sign){ score > 1, TM_REGRESSION_DRIFT, count - 1, first, first + rise, score, r.deviation };
    }
    return best;
}

/* in: step  up */
static struct sign find_worse(const struct watch *w, const struct sign *step)
{
    const struct sign drift = find_drift(w);

    if (drift.is_found && (!step->is_found || drift.score > step->score))
        return drift;
    return step->is_found ? *step : find_jump(w);
}

static void add(struct watch *w, double value, size_t index)
{
    if (w->count == WINDOW) {
        w->count--;
        memmove(w->value, w->value + 1, w->count * sizeof(w->value[0]));
        memmove(w->index, w->index + 1, w->count * sizeof(w->index[0]));
    }
    w->value[w->count] = value;
    w->index[w->count++] = index;
}

/* The baseline starts again with its last values. */
static void keep_end(struct watch *w, size_t end)
{
    memmove(w->value, w->value + w->count - end, end * sizeof(w->value[0]));
    memmove(w->index, w->index + w->count - end, end * sizeof(w->index[0]));
    w->count = end;
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

    w->count -= sign->end;
    w->margin = fmax(least_of(w, sign->before), sign->deviation);
    return of;
}

/* The median of the last values of a regression. */
static double level_of_end(struct tm_sample series, bool is_lower_better, size_t from, size_t last)
{
    const size_t there = last + 1 - from, count = there < RECOVERY ? there : RECOVERY;
    double end[RECOVERY];

    for (size_t i = 0; i < count; i++)
        end[i] = signed_value(series, is_lower_better, last + 1 - count + i);
    return tm_sample_select_median(end, count);
}

/* Does an open step still exceed what chance allows, now that more values are known?  In a series that wanders, what
 * looked like a step often does not. */
static bool still_holds(const struct watch *w, struct tm_sample series, bool is_lower_better,
                        const struct tm_regression *open, size_t last)
{
    const size_t there = last + 1 - open->from, end = there < HELD ? there : HELD,
                 before = w->count < HELD ? w->count : HELD;
    struct watch both = { .least = w->least };

    if (there < BEFORE_LEAST || before < BEFORE_LEAST)
        return true;
    for (size_t i = w->count - before; i < w->count; i++)
        add(&both, w->value[i], i);
    for (size_t i = last + 1 - end; i <= last; i++)
        add(&both, signed_value(series, is_lower_better, i), i);

    const struct sign step = step_score(&both, end);

    return fmax(is_up(&step) ? step.score : 0, find_drift(&both).score) > held_share;
}

/* A regression ends with the last value; those from `from` on are of the baseline. */
static void close_regression(struct watch *w, struct tm_sample series, bool is_lower_better, struct tm_regression *open,
                             enum tm_regression_end end, size_t from, size_t last)
{
    open->closed = last;
    open->end = end;
    for (size_t i = from; i <= last; i++)
        add(w, signed_value(series, is_lower_better, i), i);
}

size_t tm_watch_series(struct tm_sample series, const struct tm_watch_options *options,
                       struct tm_regression found[TM_REGRESSIONS_MOST])
{
    const bool is_lower = options->is_lower_better;
    struct watch w = { .least = options->least };
    struct tm_regression *open = NULL;
    size_t count = 0;

    for (size_t i = 0; i < series.count; i++) {
        if (open) {
            const double before = is_lower ? open->before : -open->before;
            const double now = level_of_end(series, is_lower, open->from, i);
            const bool is_back = i + 1 - open->from >= RECOVERY && now - before <= w.margin;

            open->after = is_lower ? now : -now;
            if (is_back) {
                close_regression(&w, series, is_lower, open, TM_REGRESSION_RECOVERED, i + 1 - RECOVERY, i);
                open = NULL;
            } else if (!still_holds(&w, series, is_lower, open, i)) {
                close_regression(&w, series, is_lower, open, TM_REGRESSION_DISMISSED, open->from, i);
                open = NULL;
            }
        } else {
            struct sign step, better;

            add(&w, signed_value(series, is_lower, i), i);
            find_steps(&w, &step, &better);

            const struct sign worse = find_worse(&w, &step);

            if (worse.is_found && count < TM_REGRESSIONS_MOST) {
                open = &found[count++];
                *open = open_regression(&w, &worse, i, is_lower);
            } else if (better.is_found && better.end >= RECOVERY) {
                keep_end(&w, better.end);
            }
        }
    }
    return count;
}
