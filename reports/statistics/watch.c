/* SPDX-License-Identifier: Apache-2.0 */
/* One figure of one job, night by night: which regressions opened, and which of them ended.  Each value is examined
 * only with those before it, so later values do not change what was opened earlier.
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
    JUMP_BEFORE = 3,  /* before a jump of one value */
    DRIFT_LEAST = 12,
    ALL_BEYOND = 3, /* an end so short has to be beyond the level with each of its values */
    HELD = 20,      /* values of each side by which an open regression is examined again */
    RECOVERY = 3,   /* the median of so many values has to be back */
    END_MOST = 20,
};

static const double clear_one = 3, clear_some = 2, clear_held = 1.5 /* ranges of the baseline */, beyond_most = 1.5,
                    alike_most = 0.9, to_deviation = 1.4826, clip = 3.5, part_beyond = 1.0 / 3, held_share = 1;

/* Lengths of the end that are examined. */
static const size_t ends[] = { 2, 3, 4, 5, 6, 8, 10, 13, 16, 20 };
static const size_t drifts[] = { 12, 16, 22, 30, 40 };

/* Student's t with P(T > t) = p, for 2, 3, ... degrees of freedom: most of the time would go to finding them. */
enum limit { STEP_LIMIT, JUMP_LIMIT, DRIFT_LIMIT, LIMITS };
enum { FREEDOM_LEAST = 2, FREEDOM_MOST = 39 };

/* clang-format off */
static const double limits[LIMITS][FREEDOM_MOST - FREEDOM_LEAST + 1] = {
    /* p = 0.0005, 0.00001, 0.0001 */
    { 31.59905458, 12.92397864, 8.610301581, 6.868826626, 5.958816179, 5.407882521, 5.041305433, 4.780912586,
     4.586893859, 4.436979338, 4.317791284, 4.220831728, 4.140454113, 4.072765196, 4.014996327, 3.965126272,
     3.921645825, 3.883405853, 3.849516275, 3.819277164, 3.792130672, 3.767626804, 3.745398619, 3.72514395,
     3.706611743, 3.689591713, 3.673906401, 3.659405019, 3.645958635, 3.63345635, 3.62180226, 3.610913008,
     3.600715797, 3.591146776, 3.582149701, 3.573674844, 3.565678072, 3.558120081 },
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
    double value[WINDOW]; /* the baseline, times the sign: larger is worse */
    size_t index[WINDOW]; /* of each in the series */
    size_t count;
    double margin; /* of the open regression: this close to the old level, it has recovered */
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

/* Residuals of a fit with some parameters, clipped at a few robust deviations, or if most of them are 0, at half of the
 * least change: one bad value says little about the others.  The correlation of neighbors is raised by
 * its bias and by almost one standard error: a short series rarely shows all of it. */
static struct residuals residuals_of(double *off, size_t count, double parameters, double least)
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

/* Its logarithm is almost linear in the inverse of the degrees of freedom. */
static double limit_of(enum limit of, double freedom)
{
    const double within = fmin(fmax(freedom, FREEDOM_LEAST), FREEDOM_MOST),
                 below = fmin(floor(within), FREEDOM_MOST - 1);
    const double *const at = &limits[of][(size_t)below - FREEDOM_LEAST];
    const double share = (1 / below - 1 / within) / (1 / below - 1 / (below + 1));

    return exp(log(at[0]) + share * (log(at[1]) - log(at[0])));
}

/* Put a value into a sorted list.  out: the median of the list */
static double insert(double *sorted, size_t *count, double value)
{
    size_t at = (*count)++;

    for (; at > 0 && sorted[at - 1] > value; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = value;
    return *count % 2 ? sorted[*count / 2] : (sorted[*count / 2 - 1] + sorted[*count / 2]) / 2;
}

/* The medians of its last values and of those before them, for all numbers of them up to END_MOST: each list is sorted
 * once and grows by one value at a time. */
struct medians {
    double before[END_MOST + 1], end[END_MOST + 1];
};

static void find_medians(const struct watch *w, struct medians *to)
{
    double sorted[WINDOW];
    size_t count = 0;

    for (size_t i = 0; i + 1 < w->count; i++) {
        const double median = insert(sorted, &count, w->value[i]);

        if (w->count - count <= END_MOST)
            to->before[w->count - count] = median;
    }
    count = 0;
    for (size_t i = w->count; i > 0 && count < END_MOST; i--) {
        const double median = insert(sorted, &count, w->value[i - 1]);

        to->end[count] = median;
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

/* How much its last values differ from those before them, up or down, against the limit.
 * in:  level, now  medians of both */
static struct sign step_score(const struct watch *w, size_t end, double level, double now)
{
    const size_t before = w->count - end;
    double change = now - level;
    const double direction = change < 0 ? -1 : 1;
    double nearest = INFINITY, off[WINDOW], means[2] = { 0 };

    if (!(direction * change > least_of(w, level)))
        return (struct sign){ .score = 0 };
    for (size_t i = before; end <= ALL_BEYOND && i < w->count; i++) {
        if (!((w->value[i] - level) / change > part_beyond))
            return (struct sign){ .score = 0 }; /* one value is not a step */
        nearest = fmin(nearest, direction * (w->value[i] - level));
    }
    for (size_t i = 0; i < w->count; i++)
        off[i] = w->value[i] - (i < before ? level : now);

    const struct residuals r = residuals_of(off, w->count, 2, least_of(w, level));

    for (size_t i = 0; i < w->count; i++)
        means[i >= before] += off[i] / (double)(i < before ? before : end);
    level += means[0];
    now += means[1];
    change = direction * (now - level);

    const double spread = r.deviation * sqrt(variance_of_mean(before, r.alike) + variance_of_mean(end, r.alike));
    const double score = spread > 0 ? change / spread / limit_of(STEP_LIMIT, r.freedom) : INFINITY;

    return (struct sign){ (score > 1 || (end <= ALL_BEYOND && nearest > clear_some * range_of(w->value, before))) &&
                              change > least_of(w, level),
                          TM_REGRESSION_STEP,
                          end,
                          level,
                          now,
                          score,
                          r.deviation };
}

static bool is_up(const struct sign *sign)
{
    return sign->after > sign->before;
}

/* The clearest step up (worse) and the clearest one down. */
static void find_steps(const struct watch *w, struct sign *worse, struct sign *better)
{
    struct medians medians;

    *worse = *better = (struct sign){ .is_found = false };
    if (w->count < ends[0] + BEFORE_LEAST)
        return;
    find_medians(w, &medians);
    for (size_t e = 0; e < sizeof(ends) / sizeof(ends[0]) && ends[e] + BEFORE_LEAST <= w->count; e++) {
        const struct sign sign = step_score(w, ends[e], medians.before[ends[e]], medians.end[ends[e]]);
        struct sign *const best = is_up(&sign) ? worse : better;

        if (sign.is_found && (!best->is_found || sign.score > best->score))
            *best = sign;
    }
}

/* The level of its first values, and the change that one further value has to exceed.
 * in:  count  JUMP_BEFORE or more */
struct band {
    double level, limit, deviation;
};

static struct band band_of(const struct watch *w, size_t count)
{
    struct band band = { .level = median_of(w->value, count) };
    double off[WINDOW], most = 0;

    for (size_t i = 0; i < count; i++) {
        off[i] = w->value[i] - band.level;
        most = fmax(most, fabs(off[i]));
    }

    const struct residuals r = residuals_of(off, count, 1, least_of(w, band.level));

    band.deviation = r.deviation;
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

    return (struct sign){ change > band.limit,
                          TM_REGRESSION_STEP,
                          1,
                          level,
                          w->value[before],
                          band.limit > 0 ? change / band.limit : INFINITY,
                          band.deviation };
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

        const struct residuals r = residuals_of(off, count, 2, least_of(w, first));
        const double spread = r.deviation * sqrt((1 + r.alike) / (1 - r.alike) / squares);
        const double limit = limit_of(DRIFT_LIMIT, r.freedom), score = spread > 0 ? slope / spread / limit : INFINITY;

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
    return step->is_found ? *step : find_jump(w, 1);
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

    const double level = median_of(both.value, before), now = median_of(both.value + before, end);
    const struct sign step = step_score(&both, end, level, now);

    if (now - level > fmax(clear_held * range_of(both.value, before), least_of(w, level)))
        return true;

    return fmax(is_up(&step) ? step.score : 0, find_drift(&both).score) > held_share;
}

/* A regression ends with the last value; those from `from` on are of the baseline. */
static void close_regression(struct watch *w, struct tm_sample series, bool is_lower_better, struct tm_regression *open,
                             enum tm_regression_end end, size_t from, size_t last)
{
    open->closed = last;
    open->end = end;
    if (end == TM_REGRESSION_ACCEPTED) { /* the baseline consists of the values at the new level */
        const double change = open->after - open->before;

        w->count = 0;
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

/* A regression is open when value i arrives: NULL = it ends with this value. */
static struct tm_regression *go_on(struct watch *w, struct tm_sample series, const struct tm_watch_options *options,
                                   struct tm_regression *open, size_t i)
{
    const bool is_lower = options->is_lower_better;
    const double before = is_lower ? open->before : -open->before;
    const double now = level_of_end(series, is_lower, open->from, i);
    const bool is_back = i + 1 - open->from >= RECOVERY && now - before <= w->margin;

    open->after = is_lower ? now : -now;
    if (is_back)
        close_regression(w, series, is_lower, open, TM_REGRESSION_RECOVERED, i + 1 - RECOVERY, i);
    else if (!still_holds(w, series, is_lower, open, i))
        close_regression(w, series, is_lower, open, TM_REGRESSION_DISMISSED, open->from, i);
    return open->end == TM_REGRESSION_OPEN ? open : NULL;
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
    if (better.is_found && better.end >= RECOVERY) {
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
    struct watch w = { .least = options->least };
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
