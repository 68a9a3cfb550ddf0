/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison from its beginning to its end: schemas/COMPARISON.md, docs/compare.md. */
#include "reports/compare/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/findings/ask.h"
#include "reports/format/format.h"

double tm_spread_pct(const struct tm_spread *spread, size_t spreads, const char *path)
{
    for (size_t i = 0; i < spreads; i++)
        if (strcmp(spread[i].path, path) == 0)
            return spread[i].pct;
    return NAN;
}

static bool is_same_run(const struct tm_compared_run *a, const struct tm_compared_run *b)
{
    static const char *const settings[] = { "settings.steps", "settings.skip_steps",
                                            "settings.window" };
    char x[17], y[17];

    if (!tm_fingerprint(a->summary, x) || !tm_fingerprint(b->summary, y) || strcmp(x, y) != 0)
        return false;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]);
         i++) { /* two parts of one run are two */
        if (strcmp(tm_text(tm_path(a->summary, settings[i])),
                   tm_text(tm_path(b->summary, settings[i]))) != 0)
            return false;
    }
    return true;
}

static tm_status check_pair(struct tm_run *run, const struct tm_compared_run *a,
                            const struct tm_compared_run *b)
{
    if (!is_same_run(a, b))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                  "cannot compare '%s' with '%s': they are the same run", a->path, b->path);
    tm_hint(&run->error,
            "give two runs, or two parts of one: summaries made with different --steps");
    return TM_ERR_USAGE;
}

static tm_status check_run(struct tm_run *run, const struct tm_compared_run *one)
{
    if (tm_ask_has_trace(one->summary))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot compare '%s': there is no trace in it",
                  one->path);
    tm_hint(&run->error, "a device memory profile alone has no steps; give the profile of the run");
    return TM_ERR_INPUT;
}

/* The run of that number, side after side. */
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
        return tm_fail(&run->error, TM_ERR_USAGE, -1,
                       "cannot compare %zu run%s: 2 to %d are possible", sides,
                       tm_format_plural(sides), TM_SIDES_MOST);
    for (size_t i = 0; i < sides; i++) {
        if (side[i].runs < 1 || side[i].runs > TM_SIDE_RUNS_MOST)
            return tm_fail(&run->error, TM_ERR_USAGE, -1,
                           "cannot compare a group of %zu runs: 1 to %d are possible", side[i].runs,
                           TM_SIDE_RUNS_MOST);
        runs += side[i].runs;
    }
    for (size_t i = 0; i < runs; i++) {
        tm_status st = check_run(run, run_at(side, i));

        for (size_t other = 0; other < i && st == TM_OK; other++)
            st = check_pair(run, run_at(side, other), run_at(side, i));
        if (st != TM_OK)
            return st;
    }
    return TM_OK;
}

/* --- the document --- */

/* "B, C against A" */
static void name_comparison(const struct comparison *c, char *out, size_t out_bytes)
{
    size_t used = 0;

    for (size_t i = 1; i < c->sides && used < out_bytes; i++)
        used += (size_t)snprintf(out + used, out_bytes - used, "%s%s", i > 1 ? ", " : "",
                                 c->side[i].label);
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

static tm_status fill(struct comparison *c)
{
    tm_status st;

    c->facts = tm_room_take(&c->room, c->sides, sizeof(*c->facts));
    c->step_test = tm_room_take(&c->room, c->sides, sizeof(*c->step_test));
    c->waterfall = tm_room_take(&c->room, c->sides, sizeof(*c->waterfall));
    if (!c->facts || !c->step_test || !c->waterfall)
        return c->run->error.status;
    add_head(c);
    st = add_sides(c);
    if (st != TM_OK)
        return st;
    add_comparability(c);
    st = add_step_tests(c);
    if (st != TM_OK)
        return st;
    add_comparison_notes(c);
    st = add_waterfalls(c);
    if (st == TM_OK)
        st = add_figures(c);
    if (st == TM_OK) {
        add_geomean(c);
        st = add_tables(c);
    }
    if (st == TM_OK)
        st = add_compared_devices(c);
    if (st == TM_OK)
        st = add_causes(c);
    if (st == TM_OK)
        add_comparison_verdict(c);
    return st;
}

tm_status tm_compare(struct tm_run *run, struct tm_doc *out, const struct tm_comparison_side *side,
                     size_t sides, const struct tm_compare_options *options)
{
    struct comparison c = { .run = run,
                            .side = side,
                            .sides = sides,
                            .options = options,
                            .room = { .run = run },
                            .root = tm_doc_root(out) };
    tm_status st = fill(&c);

    tm_room_free(&c.room);
    return st == TM_OK ? tm_doc_status(out) : st;
}
