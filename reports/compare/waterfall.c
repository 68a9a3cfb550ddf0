/* SPDX-License-Identifier: Apache-2.0 */
/* The waterfall of a step, and what the rules for causes share: how they begin and write one, and how much of the change
 * of a part is left for it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/compare/comparison.h"
#include "reports/format/format.h"

/* From a step of the base to one of another side, part by part.  The parts are means per step and
 * device in whole picoseconds, rounded so that they add up to the rounded step: the picoseconds
 * that rounding down leaves go to the parts with the largest fractions. */

static int64_t round_parts(const double part[TM_PARTS], double total, int64_t rounded[TM_PARTS])
{
    const int64_t whole = tm_whole(round(total));
    int64_t left = whole;

    for (int i = 0; i < TM_PARTS; i++) {
        rounded[i] = tm_whole(part[i]);
        left -= rounded[i];
    }
    for (bool is_taken[TM_PARTS] = { false }; left > 0;) {
        int best = -1;

        for (int i = 0; i < TM_PARTS; i++) {
            if (!is_taken[i] && (best < 0 || part[i] - floor(part[i]) > part[best] - floor(part[best])))
                best = i;
        }
        if (best < 0) { /* more than one each: the parts do not make up their total */
            rounded[TM_PART_IDLE_UNRECORDED] += left;
            break;
        }
        is_taken[best] = true;
        rounded[best]++;
        left--;
    }
    if (left < 0)
        rounded[TM_PART_IDLE_UNRECORDED] += left;
    return whole;
}

static double part_p(const struct comparison *c, size_t side, int part)
{
    const struct side_facts *base = &c->facts[0], *other = &c->facts[side];

    switch (tm_basis_of(c, side)) {
    case TEST_STEPS:
        if (part == TM_PART_IDLE_COMPILE) /* events, which resemble no neighbor */
            return tm_rank_test(base->part_of_step[part], other->part_of_step[part]);
        return tm_series_rank_test(base->part_of_step[part], other->part_of_step[part]);
    case TEST_RUNS:
        return tm_welch_sample_test(base->part_of_run[part], other->part_of_run[part]);
    default:
        return NAN;
    }
}

/* A part that is under the least change on both sides cannot change by it, so it takes no part in
 * the tests. */
static bool can_change(const struct waterfall *w, int part)
{
    const int64_t larger = w->base_part_ps[part] > w->new_part_ps[part] ? w->base_part_ps[part] : w->new_part_ps[part];

    return (double)larger * 100 >= PART_LEAST_PCT * (double)w->base_ps;
}

static void test_parts(const struct comparison *c, size_t side, struct waterfall *w)
{
    double p[TM_PARTS], scratch[TM_PARTS], compile_p;
    bool holds[TM_PARTS];

    for (int i = 0; i < TM_PARTS; i++) {
        w->test[i].p = part_p(c, side, i);
        w->test[i].is_tested = tm_basis_of(c, side) != TEST_NONE;
        p[i] = can_change(w, i) ? w->test[i].p : NAN;
    }
    /* Compilations come in a few steps and leave the others as they are: so few ranks would never stand out among as
     * many parts.  They are events, counted one by one, and tested alone; where they change the mean of the step they
     * are no chance. */
    compile_p = p[TM_PART_IDLE_COMPILE];
    p[TM_PART_IDLE_COMPILE] = NAN;
    tm_family_tests(p, TM_PARTS, PART_LEVEL, holds, scratch);
    holds[TM_PART_IDLE_COMPILE] = compile_p < PART_LEVEL || c->step_test[side].is_recorded;
    for (int i = 0; i < TM_PARTS; i++)
        w->test[i].is_significant = holds[i] && fabs((double)(w->new_part_ps[i] - w->base_part_ps[i])) * 100 >=
                                                    PART_LEAST_PCT * (double)w->base_ps;
}

static void add_part(const struct comparison *c, size_t side, struct tm_value *parts, const struct waterfall *w,
                     int part)
{
    struct tm_value *to = tm_add_object(parts, NULL);
    const int64_t change_ps = w->new_part_ps[part] - w->base_part_ps[part];
    const struct part_test *test = &w->test[part];
    char why[STEP_WHY_BYTES];

    (void)tm_no_test_reason(c, side, why, sizeof(why));
    tm_add_string(to, "id", tm_part_kind[part].id);
    tm_add_string(to, "title", tm_part_kind[part].title);
    tm_add_int(to, "base_ps", w->base_part_ps[part]);
    tm_add_int(to, "new_ps", w->new_part_ps[part]);
    tm_add_int(to, "change_ps", change_ps);
    tm_add_figure(to, "share_pct", w->base_ps ? 100 * (double)change_ps / (double)w->base_ps : NAN,
                  "the base has no time");
    tm_add_figure(to, "p", test->p, test->is_tested ? "the values cannot be tested" : why);
    if (test->is_tested)
        tm_add_bool(to, "significant", test->is_significant);
    else
        tm_add_null(to, "significant", why);
}

void tm_add_waterfalls(struct comparison *c)
{
    struct tm_value *waterfalls = tm_add_array(c->root, "waterfalls");

    for (size_t side = 1; side < c->sides; side++) {
        struct waterfall *w = &c->waterfall[side];
        struct tm_value *to = tm_add_object(waterfalls, NULL), *parts;
        char id[SIDE_ID_BYTES];

        tm_add_string(to, "side", tm_side_id(c, side, id));
        w->is_known = c->facts[0].has_parts && c->facts[side].has_parts;
        if (!w->is_known) {
            static const char *const keys[] = { "base_ps", "new_ps", "change_ps" };

            for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
                tm_add_null(to, keys[i], "a side has no device activity");
            (void)tm_add_array(to, "parts");
            continue;
        }
        w->base_ps = round_parts(c->facts[0].part_ps, c->facts[0].total_ps, w->base_part_ps);
        w->new_ps = round_parts(c->facts[side].part_ps, c->facts[side].total_ps, w->new_part_ps);
        test_parts(c, side, w);
        tm_add_int(to, "base_ps", w->base_ps);
        tm_add_int(to, "new_ps", w->new_ps);
        tm_add_int(to, "change_ps", w->new_ps - w->base_ps);
        parts = tm_add_array(to, "parts");
        for (int i = 0; i < TM_PARTS; i++)
            add_part(c, side, parts, w, i);
    }
}

/* --- causes --- */

static const double least_tested_pct = 0.5, least_untested_pct = 1; /* of the base's step */

static const double least_of_change_pct = 2; /* of its change */

struct cause *tm_cause_begin(struct causes *k, const char *id, double change_ps)
{
    struct cause *cause = &k->list[k->count < CAUSES_MOST ? k->count : CAUSES_MOST];

    *cause = (struct cause){ .id = id, .change_ps = change_ps, .value = NAN, .number = k->count };
    if (k->count < CAUSES_MOST)
        k->count++;
    return cause;
}

struct cause *tm_cause_of_fact(struct causes *k, const char *id)
{
    struct cause *cause = tm_cause_begin(k, id, 0);

    cause->is_fact = true;
    return cause;
}

static void TM_PRINTF(3, 0) print_visible(char *out, size_t out_bytes, const char *format, va_list values)
{
    char text[2 * CAUSE_EVIDENCE_BYTES];

    (void)vsnprintf(text, sizeof(text), format, values);
    tm_format_text(out, out_bytes, text);
}

const char *tm_cause_side(const struct comparison *c, size_t side, char out[TM_FORMAT_BYTES])
{
    enum { LABEL_CHARS = 24 };
    char label[4 * TM_FORMAT_BYTES], cut[TM_FORMAT_BYTES - 2];

    *out = 0;
    if (c->sides == 2)
        return out;
    tm_format_text(label, sizeof(label), c->side[side].label);
    (void)tm_format_middle(cut, sizeof(cut), label, LABEL_CHARS);
    (void)snprintf(out, TM_FORMAT_BYTES, "%s: ", cut);
    return out;
}

void tm_cause_set_title(struct cause *cause, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print_visible(cause->title, sizeof(cause->title), format, values);
    va_end(values);
}

void tm_cause_say(struct cause *cause, const char *format, ...)
{
    va_list values;

    if (cause->evidence_count == CAUSE_EVIDENCE_MOST)
        return;
    va_start(values, format);
    print_visible(cause->evidence[cause->evidence_count++], CAUSE_EVIDENCE_BYTES, format, values);
    va_end(values);
}

bool tm_part_has_changed(const struct causes *k, enum tm_part part)
{
    const double change_ps = (double)(k->w->new_part_ps[part] - k->w->base_part_ps[part]);

    if (k->w->test[part].is_tested)
        return k->w->test[part].is_significant;
    return fabs(change_ps) * 100 >= least_untested_pct * k->step_ps;
}

bool tm_is_worth_a_cause(const struct causes *k, double change_ps)
{
    const double whole_ps = fabs((double)(k->w->new_ps - k->w->base_ps));

    if (fabs(change_ps) * 100 < least_of_change_pct * whole_ps)
        return false;
    return fabs(change_ps) * 100 >= (k->is_tested ? least_tested_pct : least_untested_pct) * k->step_ps;
}

double tm_take_from_part(struct causes *k, enum tm_part part, double change_ps)
{
    double taken = change_ps;

    if (change_ps * k->left_ps[part] <= 0)
        return 0;
    if (fabs(taken) > fabs(k->left_ps[part]))
        taken = k->left_ps[part];
    k->left_ps[part] -= taken;
    return taken;
}

char *tm_signed_time(char out[SIGNED_TIME_BYTES], double ps)
{
    char text[TM_FORMAT_BYTES];

    (void)snprintf(out, SIGNED_TIME_BYTES, "%s%s", ps < 0 ? "-" : "+", tm_format_time(text, tm_whole(round(fabs(ps)))));
    return out;
}

char *tm_longer_by(char out[SIGNED_TIME_BYTES], double base, double value)
{
    const double pct = tm_change_pct(base, value);
    char text[TM_FORMAT_BYTES];

    if (pct >= 200)
        (void)snprintf(out, SIGNED_TIME_BYTES, "%s times as long", tm_format_number(text, value / base));
    else
        (void)snprintf(out, SIGNED_TIME_BYTES, "%s %s", tm_format_pct(text, fabs(pct)), pct < 0 ? "less" : "longer");
    return out;
}
