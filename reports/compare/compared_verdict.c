/* SPDX-License-Identifier: Apache-2.0 */
/* One or two sentences: is it slower or faster, is that sure, and what is the largest cause. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "reports/compare/causes.h"
#include "reports/compare/comparison.h"
#include "reports/format/format.h"

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

    (void)side_id(c, side, id);
    for (size_t i = 0; i < tm_length(findings); i++) {
        const struct tm_value *f = tm_at(findings, i);

        if (strcmp(tm_text(tm_get(f, "side")), id) == 0 && tm_has(tm_get(f, "change_ps")) &&
            tm_double(tm_get(f, "change_ps")) * c->step_test[side].change_ps > 0)
            return f;
    }
    return NULL;
}

/* A part of the step has changed, but neither its mean nor its median by enough to tell. */
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
        (void)snprintf(out, MIDDLE_BYTES, "%s %s to %s (%s%s%s%s)", name, a, b, middle->change_pct < 0 ? "-" : "+",
                       tm_format_pct(pct, fabs(middle->change_pct)), p, is_other ? ", within noise" : "");
}

/* "2 of 20 steps compile, before none" */
static void tell_compiling(const struct comparison *c, size_t side, char *out, size_t out_bytes)
{
    const struct tm_compiling_steps *base = &c->facts[0].compiling, *other = &c->facts[side].compiling;

    if (base->compiling > 0)
        (void)snprintf(out, out_bytes, ": %.0f of %.0f steps compile, before %.0f of %.0f", other->compiling, other->steps,
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
    char first[MIDDLE_BYTES], second[MIDDLE_BYTES], why[STEP_WHY_BYTES + 64] = "";

    (void)label_of(c, side, name);
    (void)label_of(c, 0, base);
    if (!isfinite(test->change_pct)) {
        (void)snprintf(out, out_bytes,
                       "Inconclusive: the steps of %s and %s cannot be compared, a side has none with a length.",
                       name, base);
        return;
    }
    tell_middle(test, test->lead, first);
    tell_middle(test, other, second);
    if (test->change_pct >= 200)
        (void)snprintf(by, sizeof(by), "%s times slower",
                       tm_format_number(pct, 1 + test->change_pct / 100));
    else
        (void)snprintf(by, sizeof(by), "%s %s", tm_format_pct(pct, fabs(test->change_pct)),
                       test->change_ps > 0 ? "slower" : "faster");
    if (test->is_recorded && test->mean.is_changed)
        tell_compiling(c, side, why, sizeof(why));
    else if (test->is_within_spread)
        (void)snprintf(why, sizeof(why), "; two runs of the same program differ by up to %s (%.100s)",
                       tm_format_pct(pct, test->lead->spread_pct), c->options->run_spread_from);
    if (test->is_changed)
        (void)snprintf(out, out_bytes, "%s is %s than %s%s: step time %s, %s%s.", name, by, base, between, first,
                       second, why);
    else if (test->verdict == STEP_NO_CHANGE)
        (void)snprintf(out, out_bytes, "No significant change%s: step time of %s against %s, %s, %s%s.", between, name,
                       base,
                       first, second, why);
    else
        (void)snprintf(out, out_bytes, "Inconclusive: step time of %s against %s, %s, %s; %s.", name, base, first,
                       second,
                       test->why);
}

/* What makes the runs different things: told before all else.  "Different devices: 8 x H100, before 4 x A100. " */
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
    (void)snprintf(out, out_bytes, "Different %s: %lld × %.100s against %lld × %.100s. ",
                   has_other_model && has_other_count ? "device models and counts"
                   : has_other_model                  ? "device models"
                                                      : "device counts",
                   (long long)tm_int(counts[1]), model[1], (long long)tm_int(counts[0]), model[0]);
}

/* The side whose steps are shortest, for a word on several. */
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
    bool is_faster = false;

    for (size_t i = 1; i < c->sides; i++) {
        const struct step_test *test = &c->step_test[i];

        if (test->is_changed || (test->basis == TEST_NONE && fabs(test->change_pct) >= 3) ||
            (is_hidden_cause(test) && main_cause(c, i))) {
            worst = fmax(worst, test->change_pct);
            is_faster = is_faster || test->change_pct < 0;
        }
    }
    if (is_faster)
        severity = "good";
    if (c->sides == 2 && worst > 0)
        severity = worst >= 10 ? "critical" : "warning";
    return severity;
}

/* Of several sides: the worst of them. */
static const char *verdict_of(const struct comparison *c)
{
    static const char *const name[] = { "inconclusive", "no_change", "improvement", "regression" };
    enum step_verdict worst = STEP_INCONCLUSIVE;

    for (size_t i = 1; i < c->sides; i++)
        worst = c->step_test[i].verdict > worst ? c->step_test[i].verdict : worst;
    return name[worst];
}

void add_comparison_verdict(struct comparison *c)
{
    struct tm_value *to = tm_add_object(c->root, "verdict");
    char text[VERDICT_BYTES], first[VERDICT_BYTES / 2], name[LABEL_BYTES], side[TM_FORMAT_BYTES],
        hardware[2 * LABEL_BYTES + 64];
    const size_t best = fastest(c), told = c->sides == 2 || best == 0 ? 1 : best;
    const struct step_test *test = &c->step_test[told];
    const struct tm_value *cause;

    tell_hardware(c, told, hardware, sizeof(hardware));
    if (c->sides > 2 && best == 0) {
        (void)snprintf(text, sizeof(text), "%sNone of the %zu others is faster than %s.", hardware,
                       c->sides - 1, label_of(c, 0, name));
    } else {
        tell_side(c, told, first, sizeof(first));
        cause = main_cause(c, told);
        (void)snprintf(text, sizeof(text), "%s%s%s%s%s%s", hardware, c->sides > 2 ? "The fastest of all: " : "",
                       first,
                       !cause                  ? ""
                       : is_hidden_cause(test) ? " But: "
                                               : " Largest cause: ",
                       cause ? tm_text(tm_get(cause, "title")) + strlen(cause_side(c, told, side)) : "", cause ? "." : "");
    }
    tm_add_text(to, "text", text, strlen(text));
    tm_add_string(to, "severity", severity_of(c));
    tm_add_string(to, "verdict", verdict_of(c));
}
