/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_STATISTICS_H
#define TM_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Figures of a sample of numbers, in any order.  None of them changes it. */
struct tm_sample {
    const double *value;
    size_t count;
};

/* Any of them may be NaN if the sample is too small: a mean needs one value, a spread two. */
struct tm_moments {
    double mean, stddev /* with n - 1 */, cv_pct /* stddev / mean */;
};

struct tm_moments tm_sample_moments(struct tm_sample sample);

/* The p-quantile, 0 to 1, by linear interpolation between order statistics (type 7 of Hyndman and
 * Fan 1996, as in R and numpy).  in: sorted  ascending */
double tm_sample_quantile(struct tm_sample sorted, double p);
void tm_sample_sort(double *value, size_t count); /* ascending; NaN last */

/* The median of values that may be reordered, in linear time.
 * in: count  1 or more; no NaN */
double tm_sample_select_median(double *value, size_t count);

/* exp(mean(log x)); NaN if a value is not positive, or there is none. */
double tm_sample_geomean(struct tm_sample sample);

/* Tests of two samples.  p is two-sided; NaN if they are too small for a test. */

/* Mann-Whitney (Wilcoxon rank sum): do values of one sample tend to be larger? Exact if no two values are equal, the
 * smaller sample has up to 20 values, and there are fewer than 16,384 pairs of values, and if values are equal and both
 * samples together have up to 24; else by the normal distribution, corrected for ties and continuity.  Requires two
 * values in each sample, and no NaN.  Takes no memory, and time quadratic in the number of values: suitable for
 * thousands of them.  Checked against scipy.stats.mannwhitneyu. */
double tm_rank_test(struct tm_sample a, struct tm_sample b);

/* The number of values below x; equal ones count half. */
double tm_values_below(double x, struct tm_sample over);

/* Do the means differ?  By permutations: exact of up to 20,000, else that many drawn from a fixed
 * seed; Welch's test above 1,024 values.  Needs two values in each. */
double tm_mean_test(struct tm_sample a, struct tm_sample b);

/* The lag-1 autocorrelation of two series in time order, each around its own mean, corrected for its bias, 0 to 0.99;
 * and the equivalent number of independent values. */
double tm_pooled_lag1(struct tm_sample a, struct tm_sample b);
/* The share of the values that counts as independent: all up to an autocorrelation of 0.1. */
double tm_independent_share(double lag1);

/* Both tests of two series in time order, with their effective number of values if the autocorrelation is above 0.1. p
 * are adjusted for two tests.
 * in:     lag1  tm_pooled_lag1 of them, or of the part of them that is not known to be an outlier */
enum { TM_EFFECTIVE_LEAST = 2 /* independent values */, TM_VALUES_LEAST = 4 }; /* of each: fewer are not tested */

struct tm_change_test {
    double lag1, share /* of the values that is independent */, effective_a, effective_b;
    double p_median, p_mean; /* NaN = too few, or a value is NaN */
    bool is_enough;          /* this many independent values can be below the level in any order */
    double level;            /* that p must be below; a tenth of it if there are too few values */
};

struct tm_change_test tm_change_test(struct tm_sample a, struct tm_sample b, double lag1, double level);
/* Can a test of this many values get below the level, adjusted for two tests? */
bool tm_is_enough(double a, double b, double level);
/* The p of one of two tests, adjusted for both, step down.  in: correlation  of their statistics; 0 = not known */
double tm_adjust_p(double p, double other, double correlation);
/* The rank test alone of such series; NaN = too few. */
double tm_series_rank_test(struct tm_sample a, struct tm_sample b);

/* Welch's t test of means that are known by their moments alone. */
struct tm_summed {
    double mean, stddev;
    double count; /* of values; 2 or more */
};

double tm_welch_test(struct tm_summed a, struct tm_summed b);
/* The same for two samples. */
double tm_welch_sample_test(struct tm_sample a, struct tm_sample b);

/* An interval for median(b) / median(a) - 1 in percent, or of the means, by resampling both 2,000 times (percentile
 * bootstrap).  The same numbers every time: the generator starts with a fixed seed.
 * in:  share    of the values is independent: 1 = all
 *      level    0.95
 *      scratch  a.count + b.count + 2000 doubles */
struct tm_interval {
    double low, high; /* NaN if a sample is empty or has a NaN, or the median of a can be 0 or less */
};

enum { TM_RESAMPLES = 2000 };

enum tm_middle { TM_MIDDLE_MEDIAN, TM_MIDDLE_MEAN };

struct tm_interval tm_change_interval(struct tm_sample a, struct tm_sample b, enum tm_middle middle, double share,
                                      double level, double *scratch);

/* Which of many tests are significant at a false discovery rate q (Benjamini and Hochberg 1995).
 * in:     p  NaN = not tested, never holds; scratch  count doubles
 * out:    holds */
void tm_discoveries(const double *p, size_t count, double q, bool *holds, double *scratch);
/* The same with a bound on the probability of any false one (Holm 1979). */
void tm_family_tests(const double *p, size_t count, double alpha, bool *holds, double *scratch);

/* Distributions, for these and for intervals. */
double tm_normal_upper(double z);                      /* P(Z > z) */
double tm_student_two_sided(double t, double freedom); /* P(|T| > |t|) */

double tm_student_quantile(double p, double freedom); /* t with P(T < t) = p */

/* Change points of a series of figures: docs/night.md, "Changes of the level". */
enum { TM_CHANGE_POINTS_LEAST = 20 /* values */, TM_CHANGE_POINTS_MOST = 32 };

struct tm_change_point {
    size_t at;            /* the first value of the new level */
    double before, after; /* medians of the stretches around it, up to the next change points */
    double p;
};

struct tm_least_change {
    double share; /* of the level before: 0.02 */
    double amount;
};

/* in:     series   in order, without NaN
 *         least   a smaller change of the level does not count
 *         scratch  3 * count + 1 doubles
 * out:    points   in order, at most TM_CHANGE_POINTS_MOST; their number is returned; 0 for fewer than
 *         TM_CHANGE_POINTS_LEAST values.  The same for the same series: what is drawn at random starts with a fixed
 * seed */
size_t tm_change_points(struct tm_sample series, struct tm_least_change least, double *scratch,
                        struct tm_change_point points[TM_CHANGE_POINTS_MOST]);

/* Noise of series whose values resemble the one before: AR(1) around a level that may change. */
struct tm_series_noise {
    double near, far; /* mean squares of the differences of neighbors, and of every other value, in least changes */
    size_t count;     /* values */
};

/* in:     series   in order, without NaN; its last TM_NOISE_VALUES values count
 * out:    false = it has fewer than TM_NOISE_LEAST values, or all of them are equal */
enum { TM_NOISE_LEAST = 8, TM_NOISE_VALUES = 80 };
bool tm_series_noise_of(struct tm_sample series, struct tm_least_change least, struct tm_series_noise *noise);

/* What many series show of the noise of any of them. */
struct tm_shared_noise {
    double alike, alike_variance; /* correlation of neighbors, and its variance among series */
    double variance;              /* of the part of an error that is its own, in squares of the least change */
    double freedom;               /* as many degrees of freedom as that is worth; 0 = nothing is known */
};

/* in:     scratch  count doubles
 * out:    freedom is 0 for fewer than TM_NOISE_SERIES series */
enum { TM_NOISE_SERIES = 8 };
struct tm_shared_noise tm_shared_noise_of(const struct tm_series_noise *noise, size_t count, double *scratch);

/* Regressions of a figure, found value by value as nights pass: docs/night.md, "Regressions". */
enum {
    TM_REGRESSIONS_MOST = 16,
    TM_BACK_MOST = 5, /* a regression has recovered when the median of up to so many last values is back */
};

enum tm_regression_kind { TM_REGRESSION_STEP, TM_REGRESSION_DRIFT };
enum tm_regression_end {
    TM_REGRESSION_OPEN,
    TM_REGRESSION_RECOVERED,
    TM_REGRESSION_DISMISSED, /* later values show that the figure varies by as much */
    TM_REGRESSION_ACCEPTED,  /* the new level is the baseline */
};

struct tm_regression {
    enum tm_regression_kind kind;
    enum tm_regression_end end;
    size_t from;          /* its first value */
    size_t opened;        /* the value that showed it */
    size_t closed;        /* the value that ended it; SIZE_MAX = it is open */
    double before, after; /* median of the baseline; of its last three values */
    double score;         /* of the change when it opened: 1 = the limit */
};

struct tm_watch_options {
    struct tm_least_change least;
    bool is_lower_better;
    /* Values, ascending, with which a regression that is open then is accepted. */
    const size_t *accepted;
    size_t accepted_count;
    /* A regression that opened before the series starts, or near its start: NULL = none.  in: from, opened, kind,
     * before, score.  Values before `from` are the baseline. */
    const struct tm_regression *known;
    const struct tm_shared_noise *noise; /* what other series show; NULL = nothing */
};

struct tm_watched {
    struct tm_regression found[TM_REGRESSIONS_MOST]; /* the last ones, in order; only the last one can be open */
    size_t count;
    size_t improved;      /* the value that showed the last improvement; SIZE_MAX = none */
    double improved_from; /* the level before it */
    double level, band;   /* of the baseline before the last value, and the smallest change that one value
                                     * shows; NaN = there are too few values */
    size_t values;        /* of the baseline, without the last one */
};

/* in:  series  in order, without NaN */
void tm_watch_series(struct tm_sample series, const struct tm_watch_options *options, struct tm_watched *to);

/* The serial share s of a program from its times t(n) on n devices, by least squares of the
 * relative errors. Strong scaling (Amdahl 1967): t(n) = t1 (s + (1 - s) / n).  Weak scaling
 * (Gustafson 1988): t(n) = t1 ((1 - s) + s n), where n times the work is done. */
struct tm_serial_fit {
    double serial_pct, low_pct, high_pct; /* 95% interval by the residuals; the share is within 0 and 100 */
    double t1;                            /* fitted, in the unit of the times */
    double residual_pct;                  /* root mean square */
    double speedup_limit;                 /* 1 / s; infinite where s is 0, and of weak scaling */
};

/* in:  n, t  `count` points, four or more, of at least three different n
 * out: false = too few points, or one that is not positive and finite */
bool tm_fit_serial(const double *n, const double *t, size_t count, bool is_weak, struct tm_serial_fit *fit);
/* The prediction of the fit for n devices. */
double tm_serial_time(const struct tm_serial_fit *fit, double n, bool is_weak);

/* Numbers drawn at random, the same from the same seed on every machine: SplitMix64 (Steele, Lea and Flood 2014). */
static inline uint64_t tm_draw(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* in: count  below 2^32 */
static inline size_t tm_draw_below(uint64_t *state, size_t count)
{
    return (size_t)((tm_draw(state) >> 32) * count >> 32);
}

#endif
