/* SPDX-License-Identifier: Apache-2.0 */
/* One or two sentences: is it slower or faster, is that sure, and what is the largest cause. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "reports/compare/causes.h"
#include "reports/compare/comparison.h"
#include "reports/format/format.h"

enum { LABEL_BYTES = 128, VERDICT_BYTES = 1024 };

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

/* A part of the step has changed, but not enough of the steps for their median to tell. */
static bool is_hidden_cause(const struct step_test *test)
{
    return test->basis != TEST_NONE && !test->is_changed;
}

static void print_p(char out[32], double p)
{
    if (p < 0.001)
        (void)snprintf(out, 32, "p < 0.001");
    else
        (void)snprintf(out, 32, "p = %.3f", p);
}

static void tell_side(const struct comparison *c, size_t side, char *out, size_t out_bytes)
{
    const struct step_test *test = &c->step_test[side];
    char name[LABEL_BYTES], base[LABEL_BYTES], by[TM_FORMAT_BYTES + 16];
    char pct[TM_FORMAT_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], p[32] = "";
    char reason[128];

    (void)label_of(c, side, name);
    (void)label_of(c, 0, base);
    if (!isfinite(test->change_pct)) {
        (void)snprintf(out, out_bytes,
                       "The steps of %s and %s cannot be compared: a side has none with a length.",
                       name, base);
        return;
    }
    if (test->change_pct >= 200)
        (void)snprintf(by, sizeof(by), "%s times slower",
                       tm_format_number(pct, 1 + test->change_pct / 100));
    else
        (void)snprintf(by, sizeof(by), "%s %s", tm_format_pct(pct, fabs(test->change_pct)),
                       test->change_ps > 0 ? "slower" : "faster");
    (void)tm_format_pct(pct, fabs(test->change_pct));
    (void)tm_format_time(a, tm_whole(c->facts[0].median_ps));
    (void)tm_format_time(b, tm_whole(c->facts[side].median_ps));
    print_p(p, test->p);
    if (test->is_changed)
        (void)snprintf(out, out_bytes, "%s is %s than %s: a step takes %s, before %s (%s).", name,
                       by, base, b, a, p);
    else if (isfinite(test->p))
        (void)snprintf(out, out_bytes,
                       "No significant change: a step of %s takes %s, of %s %s (%s%s, %s).", name,
                       b, base, a, test->change_ps < 0 ? "-" : "+", pct, p);
    else
        (void)snprintf(out, out_bytes, "A step of %s takes %s, of %s %s (%s%s); %s.", name, b, base,
                       a, test->change_ps < 0 ? "-" : "+", pct,
                       no_test_reason(c, side, reason, sizeof(reason)));
}

/* The side whose steps are shortest, for a word on several. */
static size_t fastest(const struct comparison *c)
{
    size_t best = 0;

    for (size_t i = 1; i < c->sides; i++) {
        if (c->facts[i].median_ps < c->facts[best].median_ps)
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

void add_comparison_verdict(struct comparison *c)
{
    struct tm_value *to = tm_add_object(c->root, "verdict");
    char text[VERDICT_BYTES], first[VERDICT_BYTES / 2], name[LABEL_BYTES], side[TM_FORMAT_BYTES];
    const size_t best = fastest(c), told = c->sides == 2 ? 1 : best;
    const struct tm_value *cause;

    if (c->sides > 2 && best == 0) {
        (void)snprintf(text, sizeof(text), "None of the %zu others is faster than %s.",
                       c->sides - 1, label_of(c, 0, name));
    } else {
        const struct step_test *test = &c->step_test[told];

        tell_side(c, told, first, sizeof(first));
        cause = main_cause(c, told);
        (void)snprintf(text, sizeof(text), "%s%s%s%s%s", c->sides > 2 ? "The fastest of all: " : "",
                       first,
                       !cause                  ? ""
                       : is_hidden_cause(test) ? " But: "
                                               : " Largest cause: ",
                       cause ? tm_text(tm_get(cause, "title")) + strlen(cause_side(c, told, side)) : "", cause ? "." : "");
    }
    tm_add_text(to, "text", text, strlen(text));
    tm_add_string(to, "severity", severity_of(c));
}
