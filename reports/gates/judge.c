/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a run against its gates and writes the document of schemas/CHECK.md.  Each gate: find the
 * figure, bring the limit into its unit, find it in the baselines, evaluate, write.  The reason why
 * a gate cannot be evaluated is reported with it. */
#include "reports/gates/gates.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "pipeline/doc/doc_fields.h"
#include "reports/compare/compare.h"
#include "reports/format/format.h"
#include "reports/statistics/statistics.h"

/* Is a change more than noise?  Of the step time by the steps of both sides (ranks, permutations), of any
 * figure by the spread of three baselines or more: the value against their t interval for one more
 * run (docs/gates.md). */
enum { TM_NOISE_SAMPLES_LEAST = 6, TM_NOISE_BASELINES_LEAST = 3 };

/* The guard against false alarms.  Steps: the tests of comparisons, and the bootstrap interval of the change of the
 * median or the mean for how large a change had to be.  Runs: the prediction interval of one more run, mean +- t s
 * sqrt(1 + 1/n). */

static const double noise_level = 0.01;

static const char *refusal(const struct tm_value *input, const struct tm_comparison_side *baseline)
{
    for (size_t i = 0; i < baseline->runs; i++)
        if (!tm_are_steps_alike(input, baseline->run[i].summary))
            return TM_STEPS_NOT_ALIKE;
    return NULL;
}

/* The samples of all baselines, one run after the other. */
static struct tm_sample join_steps(struct tm_compare_blocks *room, const struct tm_comparison_side *baseline)
{
    size_t most = 0, count = 0;
    double *value;

    for (size_t i = 0; i < baseline->runs; i++)
        most += tm_step_samples_most(baseline->run[i].summary);
    value = tm_room_take(room, most + 1, sizeof(*value));
    for (size_t i = 0; i < baseline->runs && value; i++) {
        const struct tm_sample of = tm_step_samples(room, baseline->run[i].summary);

        for (size_t k = 0; k < of.count; k++)
            value[count++] = of.value[k];
    }
    return (struct tm_sample){ value, count };
}

static struct tm_noise noise_of(double p, struct tm_interval change)
{
    return (struct tm_noise){ p, (change.high - change.low) / 2 };
}

/* Compilations in steps are events, and what they add to the mean is not noise. */
static void count_compiling(struct tm_compare_blocks *room, struct tm_step_test *test, const struct tm_value *input,
                            const struct tm_comparison_side *baseline)
{
    const struct tm_compiling_steps now = tm_count_compiling_steps(room, input);

    for (size_t i = 0; i < baseline->runs; i++) {
        const struct tm_compiling_steps before = tm_count_compiling_steps(room, baseline->run[i].summary);

        if (!tm_have_compiling_changed(&before, &now, TM_COMPILING_LEAST_PCT))
            return;
    }
    test->mean.p = 0;
}

static void test_steps(struct tm_compare_blocks *room, struct tm_step_test *test, const struct tm_value *input,
                       const struct tm_comparison_side *baseline)
{
    struct tm_sample now, before, quiet_now, quiet_before;
    struct tm_change_test found;
    double *scratch;

    now = tm_step_samples(room, input);
    before = join_steps(room, baseline);
    quiet_now = tm_quiet_samples(room, input);
    quiet_before = tm_quiet_samples(room, baseline->run[0].summary); /* of one run: the next one is not adjacent */
    test->steps = now.count;
    test->base_steps = before.count;
    if (test->refused || now.count < TM_NOISE_SAMPLES_LEAST || before.count < TM_NOISE_SAMPLES_LEAST)
        return;
    scratch = tm_room_take(room, now.count + before.count + TM_RESAMPLES, sizeof(*scratch));
    if (!scratch)
        return;
    found = tm_change_test(before, now, tm_pooled_lag1(quiet_before, quiet_now), noise_level);
    test->effective = fmin(found.effective_a, found.effective_b);
    if (!found.is_enough) { /* values that are still unknown are not tested */
        found.p_median = found.p_median < found.level ? found.p_median : NAN;
        found.p_mean = found.p_mean < found.level ? found.p_mean : NAN;
    }
    test->median = noise_of(found.p_median,
                            tm_change_interval(before, now, TM_MIDDLE_MEDIAN, found.share, 1 - noise_level, scratch));
    test->mean =
        noise_of(found.p_mean, tm_change_interval(before, now, TM_MIDDLE_MEAN, found.share, 1 - noise_level, scratch));
    count_compiling(room, test, input, baseline);
}

static void step_test(struct tm_run *run, struct tm_step_test *test, const struct tm_value *input,
                      const struct tm_comparison_side *baseline)
{
    struct tm_compare_blocks room = { .run = run };

    *test = (struct tm_step_test){ .median = { NAN, NAN }, .mean = { NAN, NAN }, .refused = refusal(input, baseline) };
    test_steps(&room, test, input, baseline);
    tm_room_free(&room);
}

/* The value against those of the baselines.  in: base  in any order */
static struct tm_noise spread_test(double value, const double *base, size_t count)
{
    if (count < TM_NOISE_BASELINES_LEAST)
        return (struct tm_noise){ NAN, NAN };
    const struct tm_moments of = tm_sample_moments((struct tm_sample){ base, count });
    const double freedom = (double)count - 1, spread = of.stddev * sqrt(1 + 1 / (double)count);
    const double off = fabs(value - of.mean);

    return (struct tm_noise){ spread > 0 ? tm_student_two_sided(off / spread, freedom)
                              : off > 0  ? 0
                                         : 1,
                              of.mean == 0
                                  ? NAN
                                  : 100 * spread * tm_student_quantile(1 - noise_level / 2, freedom) / fabs(of.mean) };
}

/* The test that the change has to pass. */
static struct tm_noise stricter(struct tm_noise a, struct tm_noise b)
{
    return (struct tm_noise){ fmax(a.p, b.p), fmax(a.noise_pct, b.noise_pct) }; /* of a NaN the other one */
}

/* Distinguishes runs by the content of their files, not by their location. */

bool tm_are_same_run(const struct tm_compared_run *a, const struct tm_compared_run *b)
{
    char of_a[TM_RUN_FINGERPRINT_BYTES], of_b[TM_RUN_FINGERPRINT_BYTES];

    return tm_fingerprint(a->summary, of_a) && tm_fingerprint(b->summary, of_b) && strcmp(of_a, of_b) == 0;
}

/* A run is not its own baseline, and no run is used twice.
 * in:     baseline  NULL = none
 * errors: TM_ERR_USAGE with the two paths */
static tm_status refuse_same_run(struct tm_run *run, const struct tm_compared_run *input,
                                 const struct tm_comparison_side *baseline)
{
    for (size_t i = 0; baseline && i < baseline->runs; i++) {
        const struct tm_compared_run *const base = &baseline->run[i];

        if (tm_are_same_run(input, base)) {
            (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                          "cannot compare '%s' with itself: the baseline '%s' is the same run", input->path,
                          base->path);
            tm_hint(&run->error, "give the summary.json of an earlier run as the baseline");
            return TM_ERR_USAGE;
        }
        for (size_t k = 0; k < i; k++) {
            if (tm_are_same_run(&baseline->run[k], base))
                return tm_fail(&run->error, TM_ERR_USAGE, -1, "the baselines '%s' and '%s' are the same run",
                               baseline->run[k].path, base->path);
        }
    }
    return TM_OK;
}

bool tm_figure_is_sum(const char *path)
{
    return strcmp(path, "kpis[unexpected_compiles].value") == 0 || tm_doc_is_sum(tm_summary_schema.fields, path);
}

/* A smaller change of the step time does not count, as in comparisons (docs/gates.md). */
static const double STEP_EFFECT_PCT = 1;

static void say(struct tm_gate_result *r, const char *format, ...) TM_PRINTF(2, 3);

static void say(struct tm_gate_result *r, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(r->why, sizeof(r->why), format, arguments);
    va_end(arguments);
}

static void not_known(struct tm_gate_result *r)
{
    r->status = r->gate->required ? TM_GATE_UNKNOWN : TM_GATE_SKIPPED;
}

/* --- the figure --- */

static double distance(double value, double limit)
{
    return fabs(value - limit);
}

/* Does the limit apply to increases? */
static bool is_upper(enum tm_rule rule)
{
    return rule == TM_RULE_MAX || rule == TM_RULE_MAX_INCREASE || rule == TM_RULE_MAX_INCREASE_PCT;
}

/* For "[*]": the figure for which the rule is strictest. */
static void find(struct tm_figure *figure, const struct tm_value *from, const char *path, const struct tm_gate *gate)
{
    struct tm_figure other;

    tm_figure_find(figure, from, path, is_upper(gate->rule) ? TM_FIGURE_MOST : TM_FIGURE_LEAST);
    if (gate->rule != TM_RULE_EQUALS || figure->state != TM_FIGURE_KNOWN)
        return;
    struct tm_wrong wrong;
    double limit;

    tm_figure_find(&other, from, path, TM_FIGURE_MOST);
    if (tm_gate_limit_in_unit(gate->limit, figure->unit, &limit, &wrong) &&
        distance(other.value, limit) > distance(figure->value, limit))
        *figure = other;
}

static void refuse_path(struct tm_judging *j, const struct tm_gate_result *r)
{
    char names[TM_ERROR_TEXT - 32];

    (void)tm_gate_refuse(j->run, j->gates, r->gate, "the summary has no such figure");
    tm_figure_suggest(j->input->summary, r->path, names, sizeof(names));
    if (*names)
        tm_hint(&j->run->error, "did you mean %s?", names);
    else
        tm_hint(&j->run->error, "figures are paths in summary.json, such as steps.median_ps");
}

static void refuse_type(struct tm_judging *j, const struct tm_gate_result *r)
{
    static const char *const what[] = { [TM_STRING] = "a text", [TM_ARRAY] = "a list", [TM_OBJECT] = "an object" };
    char names[TM_ERROR_TEXT - 32];

    (void)tm_gate_refuse(j->run, j->gates, r->gate, "'%.200s' is %s, not a figure", r->path, what[r->figure.type]);
    tm_figure_suggest(j->input->summary, r->path, names, sizeof(names));
    if (*names)
        tm_hint(&j->run->error, "did you mean %s?", names);
}

static void take_figure(struct tm_judging *j, struct tm_gate_result *r)
{
    find(&r->figure, j->input->summary, r->path, r->gate);
    switch (r->figure.state) {
    case TM_FIGURE_KNOWN:
        break;
    case TM_FIGURE_NULL:
        not_known(r);
        say(r, "%.300s", *r->figure.why ? r->figure.why : "the profile does not record it");
        break;
    case TM_FIGURE_OTHER:
        refuse_type(j, r);
        break;
    case TM_FIGURE_NO_ELEMENT:
        if (r->gate->required && !j->job && !r->gate->job) {
            refuse_path(j, r);
            break;
        }
        not_known(r);
        say(r, "the run has no such row");
        break;
    default:
        refuse_path(j, r);
    }
}

static void take_limit(struct tm_judging *j, struct tm_gate_result *r)
{
    const struct tm_gate *const gate = r->gate;
    const bool is_pct = gate->rule == TM_RULE_MAX_INCREASE_PCT || gate->rule == TM_RULE_MAX_DECREASE_PCT;
    struct tm_wrong wrong;

    r->limit = gate->limit.number;
    if (is_pct || (r->figure.state != TM_FIGURE_KNOWN && r->figure.state != TM_FIGURE_NULL) ||
        tm_gate_limit_in_unit(gate->limit, r->figure.unit, &r->limit, &wrong))
        return;
    (void)tm_gate_refuse(j->run, j->gates, gate, "the limit '%.60s' cannot be used: %s", gate->limit_text,
                         wrong.reason);
    if (tm_rule_is_relative(gate->rule) && gate->limit.kind == TM_IN_PERCENT)
        tm_hint(&j->run->error, "use %s_pct for a change in percent", tm_rule_name[gate->rule]);
    else if (wrong.hint)
        tm_hint(&j->run->error, "%s", wrong.hint);
}

/* --- per step --- */

/* "gaps.count.total" is gaps.count as it is, unless the summary has such a member. */
static void take_suffix(struct tm_judging *j, struct tm_gate_result *r)
{
    static const char suffix[] = ".total";
    const size_t length = strlen(r->path), end = sizeof(suffix) - 1;
    struct tm_figure figure;

    if (length <= end || length >= sizeof(r->bare) || strcmp(r->path + length - end, suffix) != 0)
        return;
    tm_figure_find(&figure, j->input->summary, r->path, TM_FIGURE_MOST);
    if (figure.state == TM_FIGURE_KNOWN || figure.state == TM_FIGURE_NULL || figure.state == TM_FIGURE_OTHER)
        return;
    memcpy(r->bare, r->path, length - end);
    r->bare[length - end] = '\0';
    r->path = r->bare;
    r->is_total = true;
}

/* A figure that is a sum over the steps is compared with a baseline per step. */
static void take_steps(struct tm_judging *j, struct tm_gate_result *r)
{
    if (r->is_total || !tm_rule_is_relative(r->gate->rule) || !tm_figure_is_sum(r->path))
        return;
    r->steps = tm_analyzed_steps(j->input->summary);
    r->figure.value /= r->steps;
}

/* One run has steps, and another is a single session: their sums cannot be compared. */
static bool are_steps_alike(const struct tm_judging *j)
{
    for (size_t i = 0; j->baseline && i < j->baseline->runs; i++)
        if (tm_has_steps(j->baseline->run[i].summary) != tm_has_steps(j->input->summary))
            return false;
    return true;
}

/* --- the baselines --- */

static void take_baseline(struct tm_judging *j, struct tm_gate_result *r)
{
    struct tm_figure figure;
    struct tm_sample sample = { j->base, 0 };
    double sorted[TM_SIDE_RUNS_MOST];

    for (size_t i = 0; j->baseline && i < j->baseline->runs && i < TM_SIDE_RUNS_MOST; i++) {
        find(&figure, j->baseline->run[i].summary, r->path, r->gate);
        if (figure.state == TM_FIGURE_KNOWN)
            j->base[sample.count++] =
                figure.value / (r->steps > 0 ? tm_analyzed_steps(j->baseline->run[i].summary) : 1);
        else if (sample.count == 0 && !*r->why)
            say(r, "the baseline does not have it%s%.200s", *figure.why ? ": " : "", figure.why);
    }
    r->base_count = sample.count;
    r->noise = spread_test(r->figure.value, sample.value, sample.count);
    if (sample.count == 0)
        return;
    r->why[0] = '\0';
    memcpy(sorted, j->base, sample.count * sizeof(sorted[0]));
    tm_sample_sort(sorted, sample.count);
    r->baseline = tm_sample_quantile((struct tm_sample){ sorted, sample.count }, 0.5);
    if (r->baseline != 0)
        r->change_pct = 100 * (r->figure.value - r->baseline) / fabs(r->baseline);
}

static bool is_mean(const char *path)
{
    const struct tm_run_figure *figure = tm_run_figure_at(path);

    return figure && figure->steps == TM_FIGURE_OF_MEAN_STEP;
}

static bool is_step_time(const char *path)
{
    const struct tm_run_figure *figure = tm_run_figure_at(path);

    return figure && (figure->steps == TM_FIGURE_OF_STEP || figure->steps == TM_FIGURE_OF_MEAN_STEP);
}

static const struct tm_value *compared(const struct tm_judging *j, bool of_mean)
{
    const struct tm_value *test = j->comparison ? j->comparison->test : NULL;
    const bool is_decided = strcmp(tm_text(tm_get(test, "verdict")), "inconclusive") != 0;

    return is_decided ? tm_get(test, of_mean ? "mean" : "median") : NULL;
}

/* The verdict of a comparison on the step time.  A run of a group may have changed the other way. */
static bool take_compared(const struct tm_judging *j, struct tm_gate_result *r)
{
    const struct tm_value *of = compared(j, is_mean(r->path));

    if (!of)
        return false;
    r->is_compared = true;
    r->has_changed = tm_is(tm_get(of, "changed")) && tm_double(tm_get(of, "change_pct")) * r->change_pct > 0;
    r->noise = (struct tm_noise){ tm_has(tm_get(of, "p")) ? tm_double(tm_get(of, "p")) : NAN, NAN };
    return true;
}

static void test_gate_steps(struct tm_judging *j, struct tm_gate_result *r)
{
    char worth[TM_FORMAT_BYTES];

    if (take_compared(j, r))
        return;
    if (!j->steps_are_tested)
        step_test(j->run, &j->steps, j->input->summary, j->baseline);
    j->steps_are_tested = true;
    if (j->steps.refused) {
        not_known(r);
        say(r, "%s", j->steps.refused);
    } else if (j->steps.steps < TM_NOISE_SAMPLES_LEAST || j->steps.base_steps < TM_NOISE_SAMPLES_LEAST) {
        say(r, "%zu and %zu steps are too few for a test, which needs %d each: the limit applies without one",
            j->steps.base_steps, j->steps.steps, TM_NOISE_SAMPLES_LEAST);
    } else if (isnan(is_mean(r->path) ? j->steps.mean.p : j->steps.median.p)) {
        r->is_untested = true;
        say(r, "consecutive steps are correlated and worth only %s independent ones: too few for a test",
            tm_format_number(worth, j->steps.effective));
    }
    r->noise = stricter(r->noise, is_mean(r->path) ? j->steps.mean : j->steps.median);
}

/* --- the assessment --- */

static bool is_past(const struct tm_gate *gate, double value, double limit)
{
    return value > limit || (gate->fails_at_limit && value == limit);
}

static void judge_absolute(struct tm_gate_result *r)
{
    const struct tm_gate *const gate = r->gate;
    const double value = r->figure.value;
    bool fails;

    if (gate->rule == TM_RULE_EQUALS)
        fails = distance(value, r->limit) > 1e-12 * fmax(fabs(value), fabs(r->limit));
    else
        fails = gate->rule == TM_RULE_MAX ? is_past(gate, value, r->limit) : is_past(gate, -value, -r->limit);
    r->status = fails ? TM_GATE_FAILED : TM_GATE_PASSED;
}

static double min_effect(const struct tm_gate_result *r)
{
    if (r->gate->min_effect_pct >= 0)
        return r->gate->min_effect_pct;
    return is_step_time(r->path) ? STEP_EFFECT_PCT : 0;
}

/* How far it changed in the wrong direction: in percent, or in the figure's unit.  From 0, any change is infinite in
 * percent. */
static double way(const struct tm_gate_result *r)
{
    const double sign = is_upper(r->gate->rule) ? 1 : -1, change = sign * (r->figure.value - r->baseline);

    if (r->gate->rule == TM_RULE_MAX_INCREASE || r->gate->rule == TM_RULE_MAX_DECREASE)
        return change;
    if (!isnan(r->change_pct))
        return sign * r->change_pct;
    return change == 0 ? 0 : change * INFINITY;
}

/* Has the mean or the median of the step time changed, by the steps? */
static bool has_changed(const struct tm_judging *j, bool of_mean)
{
    const struct tm_value *of = compared(j, of_mean);

    if (of)
        return tm_is(tm_get(of, "changed"));
    return j->steps_are_tested && (of_mean ? j->steps.mean.p : j->steps.median.p) < noise_level;
}

static void take_spread(const struct tm_judging *j, struct tm_gate_result *r)
{
    const struct tm_run_figure *figure = tm_run_figure_at(r->path);

    if (j->comparison)
        r->spread_pct = tm_spread_pct(j->comparison->spread, j->comparison->spreads, figure ? figure->path : r->path);
    r->noise.noise_pct = fmax(r->noise.noise_pct, r->spread_pct); /* of a NaN the other one */
}

/* A limit below 0 requires a change, so noise does not excuse its absence. */
static void judge_relative(const struct tm_judging *j, struct tm_gate_result *r)
{
    char pct[TM_FORMAT_BYTES], p[TM_FORMAT_BYTES];
    const double effect = min_effect(r);

    r->status = is_past(r->gate, way(r), r->limit) ? TM_GATE_FAILED : TM_GATE_PASSED;
    if (r->status == TM_GATE_PASSED || r->limit < 0)
        return;
    if (fabs(r->change_pct) < effect) {
        r->status = TM_GATE_PASSED;
        say(r, "changes below %s do not count", tm_format_pct(pct, effect));
    } else if (fabs(r->change_pct) <= r->spread_pct) {
        r->status = TM_GATE_PASSED;
        say(r, "two runs of the same program differ by up to %s (%.200s)", tm_format_pct(pct, r->spread_pct),
            j->comparison->spread_from);
    } else if (r->is_compared ? !r->has_changed : r->noise.p >= noise_level) {
        r->status = TM_GATE_PASSED;
        say(r, "the change is within noise: p = %s", tm_format_number(p, r->noise.p));
    } else if (r->is_untested && isnan(r->noise.p)) {
        not_known(r);
    }
}

static void judge_change(struct tm_judging *j, struct tm_gate_result *r)
{
    if (!j->baseline) {
        not_known(r);
        if (j->job && j->job->is_new)
            r->status = TM_GATE_SKIPPED;
        say(r, "%.300s", j->job && j->job->no_baseline ? j->job->no_baseline : "there is no baseline");
        return;
    }
    if (r->base_count == 0) {
        not_known(r);
        return;
    }
    if (r->steps > 0 && !are_steps_alike(j)) {
        not_known(r);
        say(r, "only one of this run and the baseline has steps: sums over steps cannot be compared");
        return;
    }
    r->status = TM_GATE_PASSED;
    if (is_step_time(r->path))
        test_gate_steps(j, r);
    if (r->status != TM_GATE_PASSED)
        return;
    take_spread(j, r);
    judge_relative(j, r);
    if (r->status == TM_GATE_PASSED && is_step_time(r->path) && !is_mean(r->path) && has_changed(j, true) &&
        !has_changed(j, false))
        say(r, "the mean changed, the median did not: add a gate for mean_step_time");
}

static bool is_partial(const struct tm_value *summary)
{
    return tm_is(tm_path(summary, "input.partial"));
}

/* Is the input of the gate complete? */
static bool is_whole(const struct tm_judging *j, struct tm_gate_result *r)
{
    const bool is_relative = tm_rule_is_relative(r->gate->rule);
    bool base_is_partial = false;

    for (size_t i = 0; is_relative && j->baseline && i < j->baseline->runs; i++)
        base_is_partial |= is_partial(j->baseline->run[i].summary);
    if (r->gate->allow_partial || (!is_partial(j->input->summary) && !base_is_partial))
        return true;
    not_known(r);
    say(r, "%s is partial", is_partial(j->input->summary) ? "the input" : "the baseline");
    return false;
}

static void judge_gate(struct tm_judging *j, struct tm_gate_result *r)
{
    take_suffix(j, r);
    take_figure(j, r);
    if (!tm_failed(j->run))
        take_limit(j, r);
    if (!j->job && r->gate->job) {
        r->status = TM_GATE_SKIPPED;
        say(r, "it applies to the jobs '%.100s' of a batch, and this run has no job", r->gate->job);
        return;
    }
    if (tm_failed(j->run) || r->figure.state != TM_FIGURE_KNOWN)
        return;
    take_steps(j, r);
    take_baseline(j, r);
    if (!is_whole(j, r))
        return;
    if (tm_rule_is_relative(r->gate->rule)) {
        judge_change(j, r);
    } else {
        r->why[0] = '\0'; /* rows missing from the baseline do not count */
        judge_absolute(r);
    }
}

/* --- all of them --- */

/* Does a later gate of the file have the same figure and rule for the job?  Then that one counts. */
static bool is_overruled(const struct tm_gates *gates, const struct tm_gate *gate, const char *job)
{
    for (const struct tm_gate *other = gate + 1; other < gates->gate + gates->count; other++) {
        if (other->rule == gate->rule && other->number != gate->number && strcmp(other->figure, gate->figure) == 0 &&
            tm_gate_fits_job(other, job))
            return true;
    }
    return false;
}

static bool is_of_the_job(const struct tm_judging *j, const struct tm_gate *gate)
{
    return !j->job || (tm_gate_fits_job(gate, j->job->job) && !is_overruled(j->gates, gate, j->job->job));
}

static void judge_all(struct tm_judging *j, struct tm_value *list)
{
    for (size_t i = 0; i < j->gates->count; i++) {
        if (!is_of_the_job(j, &j->gates->gate[i]))
            continue;
        char path[TM_FIGURE_PATH];
        struct tm_gate_result r = {
            .gate = &j->gates->gate[i], .baseline = NAN, .change_pct = NAN, .noise = { NAN, NAN }, .spread_pct = NAN
        };

        r.path = tm_figure_path(j->input->summary, r.gate->figure, path);
        judge_gate(j, &r);
        if (tm_failed(j->run))
            return;
        j->count[r.status]++;
        tm_check_add(list, j, &r);
    }
}

static tm_status judge_run(struct tm_judging *j, struct tm_doc *out, size_t *failed)
{
    struct tm_value *const root = tm_doc_root(out);

    refuse_same_run(j->run, j->input, j->baseline);
    if (tm_failed(j->run))
        return j->run->error.status;
    tm_check_begin(root, j);
    judge_all(j, tm_add_array(root, "gates"));
    if (tm_failed(j->run))
        return j->run->error.status;
    tm_check_end(root, j);
    *failed = j->count[TM_GATE_FAILED];
    return tm_doc_status(out);
}

tm_status tm_gates_judge_job(struct tm_run *run, struct tm_doc *out, const struct tm_gates *gates,
                             const struct tm_compared_run *input, const struct tm_comparison_side *baseline,
                             const struct tm_judged_job *job, size_t *failed)
{
    struct tm_judging j = { .run = run, .gates = gates, .input = input, .baseline = baseline, .job = job };

    return judge_run(&j, out, failed);
}

tm_status tm_gates_judge_compared(struct tm_run *run, struct tm_doc *out, const struct tm_gates *gates,
                                  const struct tm_compared_run *input, const struct tm_comparison_side *baseline,
                                  const struct tm_gate_comparison *comparison, size_t *failed)
{
    struct tm_judging j = {
        .run = run, .gates = gates, .input = input, .baseline = baseline, .comparison = comparison
    };

    return judge_run(&j, out, failed);
}

tm_status tm_gates_judge(struct tm_run *run, struct tm_doc *out, const struct tm_gates *gates,
                         const struct tm_compared_run *input, const struct tm_comparison_side *baseline, size_t *failed)
{
    return tm_gates_judge_job(run, out, gates, input, baseline, NULL, failed);
}
