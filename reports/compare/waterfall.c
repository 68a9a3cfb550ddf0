/* SPDX-License-Identifier: Apache-2.0 */
/* From a step of the base to one of another side, part by part.  The parts are means per step and
 * device in whole picoseconds, rounded so that they add up to the rounded step: the picoseconds
 * that rounding down leaves go to the parts with the largest fractions. */
#include <math.h>

#include "pipeline/bounded_sum.h"
#include "reports/compare/comparison.h"

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
            if (!is_taken[i] &&
                (best < 0 || part[i] - floor(part[i]) > part[best] - floor(part[best])))
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

    switch (basis_of(c, side)) {
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
    const int64_t larger =
        w->base_part_ps[part] > w->new_part_ps[part] ? w->base_part_ps[part] : w->new_part_ps[part];

    return (double)larger * 100 >= PART_LEAST_PCT * (double)w->base_ps;
}

static void test_parts(const struct comparison *c, size_t side, struct waterfall *w)
{
    double p[TM_PARTS], scratch[TM_PARTS], compile_p;
    bool holds[TM_PARTS];

    for (int i = 0; i < TM_PARTS; i++) {
        w->test[i].p = part_p(c, side, i);
        w->test[i].is_tested = basis_of(c, side) != TEST_NONE;
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
        w->test[i].is_significant =
            holds[i] && fabs((double)(w->new_part_ps[i] - w->base_part_ps[i])) * 100 >=
                            PART_LEAST_PCT * (double)w->base_ps;
}

static void add_part(const struct comparison *c, size_t side, struct tm_value *parts,
                     const struct waterfall *w, int part)
{
    struct tm_value *to = tm_add_object(parts, NULL);
    const int64_t change_ps = w->new_part_ps[part] - w->base_part_ps[part];
    const struct part_test *test = &w->test[part];
    char why[STEP_WHY_BYTES];

    (void)no_test_reason(c, side, why, sizeof(why));
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

tm_status add_waterfalls(struct comparison *c)
{
    struct tm_value *waterfalls = tm_add_array(c->root, "waterfalls");

    for (size_t side = 1; side < c->sides; side++) {
        struct waterfall *w = &c->waterfall[side];
        struct tm_value *to = tm_add_object(waterfalls, NULL), *parts;
        char id[SIDE_ID_BYTES];

        tm_add_string(to, "side", side_id(c, side, id));
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
    return TM_OK;
}
