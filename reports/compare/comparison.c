/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison from start to end: schemas/COMPARISON.md, docs/compare.md. */
#include "reports/compare/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/compare/compare.h"
#include "reports/findings/summary_query.h"
#include "reports/format/format.h"
#include "reports/statistics/statistics.h"

/* Caveats to check before relying on the figures of a comparison. */

#define SPREAD_NOTED_PCT 10.0

static void add_note(struct tm_value *notes, const char *id, const char *text)
{
    struct tm_value *to = tm_add_object(notes, NULL);

    tm_add_string(to, "id", id);
    tm_add_string(to, "text", text);
}

static const struct tm_value *first_of(const struct comparison *c, size_t side)
{
    return c->side[side].run[0].summary;
}

/* Members in which sides should agree, and what it means if they do not. */
static const struct {
    const char *id, *path, *text;
} agreements[] = {
    { "platform", "environment.platform",
      "the runs are from different platforms: operations are matched by their names without numbers, then by "
      "category" },
    { "model", "environment.devices[0].model",
      "the runs are from different device models: times also reflect the hardware" },
    { "basis", "steps.basis",
      "step times are measured differently: on the devices in one run, on the host in the other" },
    { "source", "steps.source", "the steps of the runs have different sources" },
    { "window", "settings.window", "the runs were analyzed with different windows" },
    { "gap_min", "settings.gap_min", "the runs were analyzed with different --gap-min: their lists of gaps differ" },
    { "framework", "environment.hosts[0].framework", "the runs are from different frameworks" },
};

static bool agrees(const struct comparison *c, const char *path)
{
    for (size_t i = 1; i < c->sides; i++) {
        const struct tm_value *a = tm_path(first_of(c, 0), path), *b = tm_path(first_of(c, i), path);

        if (tm_has(a) && tm_has(b) && strcmp(tm_text(a), tm_text(b)) != 0)
            return false;
    }
    return true;
}

static void add_differences(const struct comparison *c, struct tm_value *notes)
{
    char text[256], a[32], b[32];

    for (size_t i = 0; i < sizeof(agreements) / sizeof(agreements[0]); i++) {
        if (!agrees(c, agreements[i].path))
            add_note(notes, agreements[i].id, agreements[i].text);
    }
    for (size_t i = 1; i < c->sides; i++) {
        const size_t x = tm_length(tm_get(first_of(c, 0), "devices")), y = tm_length(tm_get(first_of(c, i), "devices"));

        if (x == y)
            continue;
        (void)snprintf(a, sizeof(a), "%zu", x);
        (void)snprintf(b, sizeof(b), "%zu", y);
        (void)snprintf(text, sizeof(text),
                       "%s devices vs. %s: times are per step and device; 'scaling' compares numbers of devices", b, a);
        add_note(notes, "devices", text);
        break;
    }
}

static void add_quality(const struct comparison *c, struct tm_value *notes)
{
    bool is_partial = false, is_redacted = false, is_session = false, is_cut = false;

    for (size_t side = 0; side < c->sides; side++) {
        for (size_t r = 0; r < c->side[side].runs; r++) {
            const struct tm_value *summary = c->side[side].run[r].summary;

            is_partial = is_partial || tm_is(tm_path(summary, "input.partial"));
            is_redacted = is_redacted || tm_is(tm_path(summary, "report.redacted"));
            is_session = is_session || !tm_has_steps(summary);
            is_cut = is_cut || tm_int(tm_path(summary, "ops.rest.rows")) > 0;
        }
    }
    if (is_partial)
        add_note(notes, "partial", "an input is damaged or partial: missing data is missing on that side");
    if (is_session)
        add_note(notes, "session", "a run has no marked steps: the whole session counts as one step");
    if (is_redacted)
        add_note(notes, "redacted",
                 "names of a run are redacted: rows match only if both were redacted with the same key");
    if (is_cut)
        add_note(notes, "rows",
                 "tables of a run are truncated (--rows): a row that one side does not list may be among its "
                 "remaining rows");
}

/* The test of steps treats differences between two runs of the same work as a change: the more the
 * steps of one vary, the more two differ (docs/compare.md). */
static void add_run_variation(const struct comparison *c, struct tm_value *notes)
{
    const double mean = tm_spread_pct(c->options->spread, c->options->spreads, "steps.mean_ps");
    const double median = tm_spread_pct(c->options->spread, c->options->spreads, "steps.median_ps");
    const bool is_known = isfinite(mean) || isfinite(median);
    double most = 0;
    bool is_of_steps = false;
    char text[400], pct[TM_FORMAT_BYTES], of_median[TM_FORMAT_BYTES];

    for (size_t i = 0; i < c->sides; i++) {
        most = fmax(most, tm_sample_moments(c->facts[i].steps).cv_pct); /* not that of a NaN */
        is_of_steps = is_of_steps || (i > 0 && c->facts[0].runs == 1 && c->facts[i].runs == 1);
    }
    if (!is_of_steps)
        return;
    if (isfinite(mean) && isfinite(median) && mean != median)
        (void)snprintf(text, sizeof(text),
                       "two runs of the same program differ by up to %s in the mean and %s in the median (%.200s): "
                       "smaller changes do not count",
                       tm_format_pct(pct, mean), tm_format_pct(of_median, median), c->options->run_spread_from);
    else if (is_known)
        (void)snprintf(text, sizeof(text),
                       "two runs of the same program differ by up to %s%s (%.200s): smaller changes do not count",
                       tm_format_pct(pct, isfinite(mean) ? mean : median),
                       isfinite(mean) == isfinite(median) ? ""
                       : isfinite(mean)                   ? " in the mean"
                                                          : " in the median",
                       c->options->run_spread_from);
    else
        (void)snprintf(text, sizeof(text),
                       "run-to-run variation is unknown: use groups of runs (A1 A2 A3 -- B1 B2 B3), --history DB or "
                       "--run-spread PCT");
    add_note(notes, "run_to_run", text);
    if (most < SPREAD_NOTED_PCT || is_known)
        return;
    (void)snprintf(text, sizeof(text),
                   "steps of a run vary by %s: runs of the same program may differ as much; compare groups of runs",
                   tm_format_pct(pct, most));
    add_note(notes, "spread", text);
}

static void add_tests_notes(const struct comparison *c, struct tm_value *notes)
{
    char text[STEP_WHY_BYTES], all[STEP_WHY_BYTES + 80];

    for (size_t i = 1; i < c->sides; i++) {
        char label[64];

        if (c->step_test[i].verdict != STEP_INCONCLUSIVE)
            continue;
        tm_format_text(label, sizeof(label), c->side[i].label);
        (void)snprintf(all, sizeof(all), "%s: %s", label, tm_no_test_reason(c, i, text, sizeof(text)));
        add_note(notes, "no_test", all);
    }
}

static void add_comparison_notes(struct comparison *c)
{
    struct tm_value *notes = tm_add_array(c->root, "notes");

    add_differences(c, notes);
    add_quality(c, notes);
    add_tests_notes(c, notes);
    add_run_variation(c, notes);
}

/* --- comparability --- */

/* The name of the main program of a run: the module with the most device time.  Not recorded by PyTorch. */
static const char *program_of(const struct tm_value *summary)
{
    const struct tm_value *rows = tm_path(summary, "ops.rows");

    if (*tm_text(tm_path(summary, "steps.module")))
        return tm_text(tm_path(summary, "steps.module"));
    for (size_t i = 0; i < tm_length(rows); i++)
        if (*tm_text(tm_get(tm_at(rows, i), "module")))
            return tm_text(tm_get(tm_at(rows, i), "module"));
    return "";
}

enum { VERSIONS_BYTES = 512 };

/* "jax 0.7.1, jaxlib 0.7.1"; "" = none is recorded */
static void versions_of(const struct tm_value *side, char out[VERSIONS_BYTES])
{
    const struct tm_value *versions = tm_path(side, "runs[0].versions");
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < tm_length(versions) && used < VERSIONS_BYTES; i++) {
        const struct tm_value *value = tm_value_at(versions, i);
        char number[TM_FORMAT_BYTES];

        if (!tm_has(value))
            continue;
        (void)tm_format_number(number, tm_double(value));
        used += (size_t)snprintf(out + used, VERSIONS_BYTES - used, "%s%s %s", used ? ", " : "", tm_key_at(versions, i),
                                 tm_type_of(value) == TM_STRING ? tm_text(value) : number);
    }
}

/* Do the values recorded on both sides agree: "yes" or "no"; "not_recorded" if there are none. */
static const char *same_versions(const struct tm_value *a, const struct tm_value *b)
{
    const struct tm_value *x = tm_path(a, "runs[0].versions"), *y = tm_path(b, "runs[0].versions");
    const char *answer = "not_recorded";

    for (size_t i = 0; i < tm_length(x); i++) {
        const struct tm_value *v = tm_value_at(x, i), *w = tm_get(y, tm_key_at(x, i));

        if (!tm_has(v) || !tm_has(w))
            continue;
        if (tm_type_of(v) == TM_STRING ? strcmp(tm_text(v), tm_text(w)) != 0 : tm_double(v) != tm_double(w))
            return "no";
        answer = "yes";
    }
    return answer;
}

static struct tm_value *add_answer(struct tm_value *to, const char *key, const char *answer)
{
    struct tm_value *of = tm_add_object(to, key);

    tm_add_string(of, "same", answer);
    return tm_add_array(of, "values");
}

/* The value of a side compared with that of the base. */
static const char *compared(const char *so_far, bool is_known, bool is_same)
{
    if (strcmp(so_far, "no") == 0)
        return so_far;
    return !is_known ? "not_recorded" : !is_same ? "no" : so_far;
}

typedef const char *text_of_side(const struct comparison *c, size_t side);

static const char *program_of_side(const struct comparison *c, size_t side)
{
    return program_of(first_of(c, side));
}

static const char *model_of_side(const struct comparison *c, size_t side)
{
    return tm_text(tm_path(tm_at(tm_get(c->root, "sides"), side), "device_model"));
}

static const char *vendor_of_side(const struct comparison *c, size_t side)
{
    return tm_text(tm_path(first_of(c, side), "environment.devices[0].vendor"));
}

static const char *platform_of_side(const struct comparison *c, size_t side)
{
    static const char *const platforms[][2] = { { "cpu", "CPU" }, { "gpu", "GPU" }, { "tpu", "TPU" } };
    const char *platform = tm_text(tm_path(first_of(c, side), "environment.platform"));

    for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++)
        if (strcmp(platform, platforms[i][0]) == 0)
            return platforms[i][1];
    return "";
}

static text_of_side *const kinds_of_devices[] = { model_of_side, vendor_of_side, platform_of_side };

enum { KINDS_OF_DEVICES = sizeof(kinds_of_devices) / sizeof(kinds_of_devices[0]) };

/* What the devices of a side are, as far as it is recorded: their model, else their vendor, else the platform; "" =
 * nothing is.  Are they of the base's model?  Another vendor or platform has no model in common: "yes", "no" or
 * "not_recorded". */
static const char *devices_of(const struct comparison *c, size_t side)
{
    const char *text = "";

    for (size_t i = 0; i < KINDS_OF_DEVICES && !*text; i++)
        text = kinds_of_devices[i](c, side);
    return text;
}

static const char *same_devices(const struct comparison *c, size_t side)
{
    for (size_t i = 0; i < KINDS_OF_DEVICES; i++) {
        const char *base = kinds_of_devices[i](c, 0), *other = kinds_of_devices[i](c, side);

        if (*base && *other && strcmp(base, other) != 0)
            return "no";
    }
    return *model_of_side(c, 0) && *model_of_side(c, side) ? "yes" : "not_recorded";
}

static void add_devices(const struct comparison *c, struct tm_value *to)
{
    const char *answer = "yes";
    struct tm_value *values;

    for (size_t i = 1; i < c->sides; i++)
        answer =
            compared(answer, strcmp(same_devices(c, i), "not_recorded") != 0, strcmp(same_devices(c, i), "yes") == 0);
    values = add_answer(to, "device_model", answer);
    for (size_t i = 0; i < c->sides; i++)
        tm_add_known(values, NULL, strcmp(answer, "no") == 0 ? devices_of(c, i) : model_of_side(c, i), NULL);
}

static void add_texts(const struct comparison *c, struct tm_value *to, const char *key, text_of_side *text)
{
    const char *const base = text(c, 0), *answer = "yes";
    struct tm_value *values;

    for (size_t i = 1; i < c->sides; i++)
        answer = compared(answer, *base && *text(c, i), strcmp(base, text(c, i)) == 0);
    values = add_answer(to, key, answer);
    for (size_t i = 0; i < c->sides; i++)
        tm_add_known(values, NULL, text(c, i), NULL);
}

static void add_counts(const struct comparison *c, struct tm_value *to, const char *key, const char *path)
{
    const struct tm_value *sides = tm_get(c->root, "sides"), *base = tm_path(tm_at(sides, 0), path);
    const char *answer = "yes";
    struct tm_value *values;

    for (size_t i = 1; i < c->sides; i++) {
        const struct tm_value *other = tm_path(tm_at(sides, i), path);

        answer = compared(answer, tm_has(base) && tm_has(other), tm_int(base) == tm_int(other));
    }
    values = add_answer(to, key, answer);
    for (size_t i = 0; i < c->sides; i++)
        tm_add_figure(values, NULL,
                      tm_has(tm_path(tm_at(sides, i), path)) ? tm_double(tm_path(tm_at(sides, i), path)) : NAN, NULL);
}

static void add_versions(const struct comparison *c, struct tm_value *to)
{
    const struct tm_value *sides = tm_get(c->root, "sides");
    const char *answer = "yes";
    char text[VERSIONS_BYTES];
    struct tm_value *values;

    for (size_t i = 1; i < c->sides; i++) {
        const char *same = same_versions(tm_at(sides, 0), tm_at(sides, i));

        answer = compared(answer, strcmp(same, "not_recorded") != 0, strcmp(same, "yes") == 0);
    }
    values = add_answer(to, "versions", answer);
    for (size_t i = 0; i < c->sides; i++) {
        versions_of(tm_at(sides, i), text);
        tm_add_known(values, NULL, text, NULL);
    }
}

static void add_comparability(struct comparison *c)
{
    struct tm_value *to = tm_add_object(c->root, "comparability");

    add_texts(c, to, "program", program_of_side);
    add_devices(c, to);
    add_counts(c, to, "device_count", "devices");
    add_counts(c, to, "steps", "runs[0].steps.chosen");
    add_versions(c, to);
}

/* One or two sentences: is it slower or faster, is that significant, and what is the largest cause. */

enum { LABEL_BYTES = 128, VERDICT_BYTES = 2048 };

static char *label_of(const struct comparison *c, size_t side, char out[LABEL_BYTES])
{
    tm_format_text(out, LABEL_BYTES, c->side[side].label);
    return out;
}

/* The largest cause of a side in the direction of its change; NULL = none. */
static const struct tm_value *main_cause(const struct comparison *c, size_t side)
{
    const struct tm_value *findings = tm_get(c->root, "findings");
    char id[SIDE_ID_BYTES];

    (void)tm_side_id(c, side, id);
    for (size_t i = 0; i < tm_length(findings); i++) {
        const struct tm_value *f = tm_at(findings, i);

        if (strcmp(tm_text(tm_get(f, "side")), id) == 0 && tm_has(tm_get(f, "change_ps")) &&
            tm_double(tm_get(f, "change_ps")) * c->step_test[side].change_ps > 0)
            return f;
    }
    return NULL;
}

/* A part of the step has changed, but neither its mean nor its median significantly. */
static bool is_hidden_cause(const struct step_test *test)
{
    return test->basis != TEST_NONE && !test->is_changed;
}

static void print_p(char out[32], double p)
{
    if (p < 0.001)
        (void)snprintf(out, 32, ", p < 0.001");
    else if (p < 0.0095)
        (void)snprintf(out, 32, ", p = %.3f", p);
    else if (isfinite(p))
        (void)snprintf(out, 32, ", p = %.2f", p);
    else
        out[0] = '\0';
}

enum { MIDDLE_BYTES = 160 };

/* "mean 12.3 ms to 18.7 ms (+51.8 %, p < 0.001)"; short: "median unchanged" */
static void tell_middle(const struct step_test *test, const struct middle_test *middle, char out[MIDDLE_BYTES])
{
    const char *name = middle == &test->mean ? "mean" : "median";
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES], p[32];
    const bool is_other = test->is_changed && !middle->is_changed;

    (void)tm_format_time(a, tm_whole(middle->base_ps));
    (void)tm_format_time(b, tm_whole(middle->new_ps));
    print_p(p, middle == &test->mean && test->is_recorded && !(middle->p < STEP_LEVEL) ? NAN : middle->p);
    if (is_other && fabs(middle->change_pct) < STEP_LEAST_PCT)
        (void)snprintf(out, MIDDLE_BYTES, "%s unchanged (%s)", name, b);
    else
        (void)snprintf(out, MIDDLE_BYTES, "%s %s to %s (%s%s%s)", name, a, b,
                       tm_format_change(pct, middle->change_pct, false), p, is_other ? ", within noise" : "");
}

/* "2 of 20 steps compile, before none" */
static void tell_compiling(const struct comparison *c, size_t side, char *out, size_t out_bytes)
{
    const struct tm_compiling_steps *base = &c->facts[0].compiling, *other = &c->facts[side].compiling;

    if (base->compiling > 0)
        (void)snprintf(out, out_bytes, ": %.0f of %.0f steps compile, was %.0f of %.0f", other->compiling, other->steps,
                       base->compiling, base->steps);
    else
        (void)snprintf(out, out_bytes, ": %.0f of %.0f steps compile", other->compiling, other->steps);
}

static void tell_side(const struct comparison *c, size_t side, char *out, size_t out_bytes)
{
    const struct step_test *test = &c->step_test[side];
    const struct middle_test *other = test->lead == &test->median ? &test->mean : &test->median;
    const char *between = c->facts[0].runs == 1 && c->facts[side].runs == 1 ? " between these two runs" : "";
    char name[LABEL_BYTES], base[LABEL_BYTES], by[TM_FORMAT_BYTES + 16], pct[TM_FORMAT_BYTES];
    char first[MIDDLE_BYTES], second[MIDDLE_BYTES], middles[2 * MIDDLE_BYTES + 16], why[STEP_WHY_BYTES + 64] = "";

    (void)label_of(c, side, name);
    (void)label_of(c, 0, base);
    if (!isfinite(test->change_pct)) {
        (void)snprintf(out, out_bytes,
                       "Inconclusive: the steps of %s and %s cannot be compared; one side has no step with a "
                       "duration.",
                       name, base);
        return;
    }
    tell_middle(test, test->lead, first);
    tell_middle(test, other, second);
    if (test->mean.base_ps == test->median.base_ps && test->mean.new_ps == test->median.new_ps)
        (void)snprintf(middles, sizeof(middles), "step time %s", strchr(first, ' ') + 1); /* of single steps */
    else
        (void)snprintf(middles, sizeof(middles), "%.*s step time%s, %s", (int)strcspn(first, " "), first,
                       strchr(first, ' '), second);
    if (test->change_pct >= 200)
        (void)snprintf(by, sizeof(by), "%s times slower", tm_format_number(pct, 1 + test->change_pct / 100));
    else
        (void)snprintf(by, sizeof(by), "%s %s", tm_format_pct(pct, fabs(test->change_pct)),
                       test->change_ps > 0 ? "slower" : "faster");
    if (test->is_recorded && test->mean.is_changed)
        tell_compiling(c, side, why, sizeof(why));
    else if (test->is_within_spread)
        (void)snprintf(why, sizeof(why), "; two runs of the same program differ by up to %s (%.100s)",
                       tm_format_pct(pct, test->lead->spread_pct), c->options->run_spread_from);
    if (test->is_changed)
        (void)snprintf(out, out_bytes, "%s is %s than %s%s: %s%s.", name, by, base, between, middles, why);
    else if (test->verdict == STEP_NO_CHANGE)
        (void)snprintf(out, out_bytes, "No significant change%s: %s vs. %s, %s%s.", between, name, base, middles, why);
    else
        (void)snprintf(out, out_bytes, "Inconclusive: %s vs. %s, %s; %s.", name, base, middles, test->why);
}

/* What makes the runs not comparable: reported first.  "Different devices: 8 x H100, before 4 x A100. " */
static void tell_hardware(const struct comparison *c, size_t side, char *out, size_t out_bytes)
{
    const struct tm_value *sides = tm_get(c->root, "sides"), *a = tm_at(sides, 0), *b = tm_at(sides, side);
    const struct tm_value *counts[] = { tm_get(a, "devices"), tm_get(b, "devices") };
    const bool has_other_model = strcmp(same_devices(c, side), "no") == 0;
    const bool has_other_count = tm_has(counts[0]) && tm_has(counts[1]) && tm_int(counts[0]) != tm_int(counts[1]);
    char model[2][LABEL_BYTES];

    out[0] = '\0';
    if (!has_other_model && !has_other_count)
        return;
    for (int i = 0; i < 2; i++)
        tm_format_text(model[i], sizeof(model[i]),
                       *devices_of(c, i ? side : 0) ? devices_of(c, i ? side : 0)
                       : tm_int(counts[i]) == 1     ? "device"
                                                    : "devices");
    (void)snprintf(out, out_bytes, "Different %s: %lld × %.100s vs. %lld × %.100s. ",
                   has_other_model && has_other_count ? "device models and counts"
                   : has_other_model                  ? "device models"
                                                      : "device counts",
                   (long long)tm_int(counts[1]), model[1], (long long)tm_int(counts[0]), model[0]);
}

/* The side with the shortest steps, for a sentence on several sides. */
static size_t fastest(const struct comparison *c)
{
    size_t best = 0;

    for (size_t i = 1; i < c->sides; i++) {
        if (c->facts[i].mean_ps < c->facts[best].mean_ps)
            best = i;
    }
    return best;
}

static const char *severity_of(const struct comparison *c)
{
    const char *severity = "info";
    double worst = 0;
    bool is_faster = false, is_significant = false; /* else the change may be noise */

    for (size_t i = 1; i < c->sides; i++) {
        const struct step_test *test = &c->step_test[i];

        if (test->is_changed || (test->basis == TEST_NONE && fabs(test->change_pct) >= 3) ||
            (is_hidden_cause(test) && main_cause(c, i))) {
            worst = fmax(worst, test->change_pct);
            is_significant = is_significant || test->is_changed;
            is_faster = is_faster || (test->change_pct < 0 && test->basis != TEST_NONE);
        }
    }
    if (is_faster)
        severity = "good";
    if (c->sides == 2 && worst > 0)
        severity = worst >= 10 && is_significant ? "critical" : "warning";
    return severity;
}

/* For several sides: the worst of them. */
static const char *verdict_of(const struct comparison *c)
{
    static const char *const name[] = { "inconclusive", "no_change", "improvement", "regression" };
    enum step_verdict worst = STEP_INCONCLUSIVE;

    for (size_t i = 1; i < c->sides; i++)
        worst = c->step_test[i].verdict > worst ? c->step_test[i].verdict : worst;
    return name[worst];
}

enum { RANKED_MOST = 6, DIFFERENCES_MOST = 8 /* in a verdict */ };

static const char *significance_of(const struct step_test *test)
{
    if (!test->is_changed)
        return test->verdict == STEP_NO_CHANGE ? "within noise" : "inconclusive";
    return test->lead == &test->median ? "median significant" : "significant";
}

/* For several sides, in the order of their mean step times.  " Mean step time: b 10.9 ms (-84.9%, significant), a 72.3
 * ms (base)." */
static void rank_sides(const struct comparison *c, char text[VERDICT_BYTES])
{
    size_t order[TM_SIDES_MOST];

    for (size_t i = 0; i < c->sides; i++) {
        size_t at = i;

        for (; at && c->facts[i].mean_ps < c->facts[order[at - 1]].mean_ps; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    tm_format_append(text, VERDICT_BYTES, " Mean step time: ");
    for (size_t i = 0; i < c->sides && i < RANKED_MOST; i++) {
        const struct step_test *const test = &c->step_test[order[i]];
        char name[LABEL_BYTES], time[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES];

        tm_format_append(text, VERDICT_BYTES, "%s%s %s", i ? ", " : "", label_of(c, order[i], name),
                         tm_format_time(time, tm_whole(c->facts[order[i]].mean_ps)));
        if (order[i] == 0)
            tm_format_append(text, VERDICT_BYTES, " (base)");
        else if (isfinite(test->mean.change_pct))
            tm_format_append(text, VERDICT_BYTES, " (%s, %s)", tm_format_change(pct, test->mean.change_pct, false),
                             significance_of(test));
    }
    if (c->sides > RANKED_MOST)
        tm_format_append(text, VERDICT_BYTES, " and %zu more", c->sides - RANKED_MOST);
    tm_format_append(text, VERDICT_BYTES, ".");
}

/* " The sides differ in device model and versions." */
static void tell_differences(const struct comparison *c, char text[VERDICT_BYTES])
{
    struct tm_value *all = tm_member(c->root, "comparability");
    const char *differ[DIFFERENCES_MOST];
    size_t n = 0;

    for (size_t i = 0; i < tm_length(all) && n < DIFFERENCES_MOST; i++)
        if (strcmp(tm_text(tm_get(tm_element(all, i), "same")), "no") == 0)
            differ[n++] = tm_key_at(all, i);
    for (size_t i = 0; i < n; i++) {
        tm_format_append(text, VERDICT_BYTES, "%s", i == 0 ? " The sides differ in " : i + 1 < n ? ", " : " and ");
        for (const char *at = differ[i]; *at; at++)
            tm_format_append(text, VERDICT_BYTES, "%c", *at == '_' ? ' ' : *at);
    }
    tm_format_append(text, VERDICT_BYTES, "%s", n ? "." : "");
}

/* Which of several sides is fastest, by how much, whether that is significant, and how the sides differ. */
static void tell_several(const struct comparison *c, size_t best, char text[VERDICT_BYTES])
{
    const struct step_test *const test = &c->step_test[best];
    char name[LABEL_BYTES], base[LABEL_BYTES], pct[TM_FORMAT_BYTES];

    (void)label_of(c, 0, base);
    if (best == 0)
        tm_format_append(text, VERDICT_BYTES, "None of the %zu others is faster than %s.", c->sides - 1, base);
    else if (test->is_changed && test->change_ps < 0)
        tm_format_append(text, VERDICT_BYTES, "%s is fastest: %s faster than %s.", label_of(c, best, name),
                         tm_format_pct(pct, fabs(test->change_pct)), base);
    else
        tm_format_append(text, VERDICT_BYTES, "No side is significantly faster than %s.", base);
    rank_sides(c, text);
    if (best && test->verdict == STEP_INCONCLUSIVE && *test->why)
        tm_format_append(text, VERDICT_BYTES, " Inconclusive for %s: %s.", label_of(c, best, name), test->why);
    tell_differences(c, text);
}

static void add_comparison_verdict(struct comparison *c)
{
    struct tm_value *to = tm_add_object(c->root, "verdict");
    char text[VERDICT_BYTES] = "", name[LABEL_BYTES], side[TM_FORMAT_BYTES];
    const size_t best = fastest(c), told = c->sides == 2 || best == 0 ? 1 : best;
    const bool is_pair = c->sides == 2;
    const struct tm_value *const cause = is_pair || best ? main_cause(c, told) : NULL;

    if (is_pair) {
        tell_hardware(c, told, text, VERDICT_BYTES);
        tell_side(c, told, text + strlen(text), VERDICT_BYTES / 2);
    } else {
        tell_several(c, best, text);
    }
    if (cause) {
        if (is_pair)
            tm_format_append(text, VERDICT_BYTES,
                             " %s: ", is_hidden_cause(&c->step_test[told]) ? "But" : "Largest cause");
        else
            tm_format_append(text, VERDICT_BYTES, " Largest cause for %s: ", label_of(c, told, name));
        tm_format_append(text, VERDICT_BYTES, "%s.",
                         tm_text(tm_get(cause, "title")) + strlen(tm_cause_side(c, told, side)));
    }
    tm_add_text(to, "text", text, strlen(text));
    tm_add_string(to, "severity", severity_of(c));
    tm_add_string(to, "verdict", verdict_of(c));
}

static bool is_same_run(const struct tm_compared_run *a, const struct tm_compared_run *b)
{
    static const char *const settings[] = { "settings.steps", "settings.skip_steps", "settings.window" };
    char x[17], y[17];

    if (!tm_fingerprint(a->summary, x) || !tm_fingerprint(b->summary, y) || strcmp(x, y) != 0)
        return false;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) { /* two parts of one run count as two */
        if (strcmp(tm_text(tm_path(a->summary, settings[i])), tm_text(tm_path(b->summary, settings[i]))) != 0)
            return false;
    }
    return true;
}

static void check_pair(struct tm_run *run, const struct tm_compared_run *a, const struct tm_compared_run *b)
{
    if (!is_same_run(a, b))
        return;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot compare '%s' with '%s': they are the same run", a->path,
                  b->path);
    tm_hint(&run->error, "pass two runs, or two parts of one: summaries created with different --steps");
}

static void check_run(struct tm_run *run, const struct tm_compared_run *one)
{
    if (tm_query_has_trace(one->summary))
        return;
    (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot compare '%s': it contains no trace", one->path);
    tm_hint(&run->error, "a device memory profile alone has no steps; use the profile of the run");
}

/* The run with that number, counting through the sides in order. */
static const struct tm_compared_run *run_at(const struct tm_comparison_side *side, size_t number)
{
    for (; number >= side->runs; side++)
        number -= side->runs;
    return &side->run[number];
}

tm_status tm_compare_check(struct tm_run *run, const struct tm_comparison_side *side, size_t sides)
{
    size_t runs = 0;

    if (sides < 2 || sides > TM_SIDES_MOST)
        return tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot compare %zu run%s: 2 to %d are possible", sides,
                       tm_format_plural(sides), TM_SIDES_MOST);
    for (size_t i = 0; i < sides; i++) {
        if (side[i].runs < 1 || side[i].runs > TM_SIDE_RUNS_MOST)
            return tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot compare a group of %zu runs: 1 to %d are possible",
                           side[i].runs, TM_SIDE_RUNS_MOST);
        runs += side[i].runs;
    }
    for (size_t i = 0; i < runs && !tm_failed(run); i++) {
        check_run(run, run_at(side, i));
        for (size_t other = 0; other < i && !tm_failed(run); other++)
            check_pair(run, run_at(side, other), run_at(side, i));
    }
    return run->error.status;
}

/* --- the document --- */

/* "B, C against A" */
static void name_comparison(const struct comparison *c, char *out, size_t out_bytes)
{
    size_t used = 0;

    for (size_t i = 1; i < c->sides && used < out_bytes; i++)
        used += (size_t)snprintf(out + used, out_bytes - used, "%s%s", i > 1 ? ", " : "", c->side[i].label);
    if (used < out_bytes)
        (void)snprintf(out + used, out_bytes - used, " against %s", c->side[0].label);
}

static void add_head(struct comparison *c)
{
    bool is_partial = false, is_redacted = false, has_steps = true;
    char name[4096];
    struct tm_value *to;

    for (size_t side = 0; side < c->sides; side++) {
        for (size_t r = 0; r < c->side[side].runs; r++) {
            const struct tm_value *summary = c->side[side].run[r].summary;

            is_partial = is_partial || tm_is(tm_path(summary, "input.partial"));
            is_redacted = is_redacted || tm_is(tm_path(summary, "report.redacted"));
            has_steps = has_steps && tm_has_steps(summary);
        }
    }
    name_comparison(c, name, sizeof(name));
    tm_add_study_head(c->root, "tracemill.comparison", c->options, is_redacted);
    to = tm_add_object(c->root, "input");
    tm_add_bool(to, "partial", is_partial);
    tm_add_text(to, "run", name, strlen(name));
    tm_add_string(c->root, "unit", has_steps ? "step" : "session");
}

static void fill(struct comparison *c)
{
    c->facts = tm_room_take(&c->room, c->sides, sizeof(*c->facts));
    c->step_test = tm_room_take(&c->room, c->sides, sizeof(*c->step_test));
    c->waterfall = tm_room_take(&c->room, c->sides, sizeof(*c->waterfall));
    if (tm_failed(c->run))
        return;
    add_head(c);
    tm_add_sides(c);
    add_comparability(c);
    tm_add_step_tests(c);
    add_comparison_notes(c);
    tm_add_waterfalls(c);
    tm_add_figures(c);
    tm_add_geomean(c);
    tm_add_tables(c);
    tm_add_compared_devices(c);
    if (tm_failed(c->run)) /* causes refer to whole tables */
        return;
    tm_add_causes(c);
    add_comparison_verdict(c);
}

tm_status tm_compare(struct tm_run *run, struct tm_doc *out, const struct tm_comparison_side *side, size_t sides,
                     const struct tm_compare_options *options)
{
    struct comparison c = {
        .run = run, .side = side, .sides = sides, .options = options, .room = { .run = run }, .root = tm_doc_root(out)
    };

    fill(&c);
    tm_room_free(&c.room);
    return tm_doc_status(out);
}
