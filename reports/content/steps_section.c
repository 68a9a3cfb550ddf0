/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: how long, what their time goes to, which are the slowest. */
#include <string.h>

#include "reports/chart/palette.h"
#include "reports/format/pick.h"
#include "reports/content/say.h"

enum { FACTS_MOST = 16, PARTS_MOST = 32, SLOWEST_MOST = 100, SLOWEST_LEAST = 2 };

struct facts {
    struct tm_column column[FACTS_MOST];
    size_t count;
};

static void add_facts(struct facts *facts, const struct tm_column *columns, size_t count)
{
    for (size_t i = 0; i < count && facts->count < FACTS_MOST; i++)
        facts->column[facts->count++] = columns[i];
}

/* Of one step there is a length, of several a distribution. */
static void say_facts(const struct tm_content *content, const struct tm_value *steps)
{
    static const struct tm_column first[] = {
        { "Steps are", "source", TM_CELL_SOURCE },
        { "Steps in the profile", "count", TM_CELL_COUNT },
        { "Analyzed", "chosen", TM_CELL_COUNT },
        { "Left out as warm-up", "warmup", TM_CELL_COUNT | TM_RARE },
        { "Left out as incomplete", "incomplete", TM_CELL_COUNT | TM_RARE },
    };
    static const struct tm_column module[] = { { "Module", "module", TM_CELL_NAME } };
    static const struct tm_column one[] = { { "Length", "median_ps", TM_CELL_TIME } };
    static const struct tm_column several[] = {
        { "Median", "median_ps", TM_CELL_TIME },
        { "Mean", "mean_ps", TM_CELL_TIME },
        { "Standard deviation", "stddev_ps", TM_CELL_TIME },
        { "90th percentile", "p90_ps", TM_CELL_TIME },
        { "95th percentile", "p95_ps", TM_CELL_TIME },
        { "Shortest", "min_ps", TM_CELL_TIME },
        { "Longest", "max_ps", TM_CELL_TIME },
    };
    const bool is_data = content->medium->room.is_data;
    struct facts facts = { .count = 0 };

    add_facts(&facts, TM_FACTS(first));
    if (is_data || tm_has(tm_get(steps, "module")))
        add_facts(&facts, TM_FACTS(module));
    if (!is_data && tm_int(tm_get(steps, "chosen")) == 1)
        add_facts(&facts, TM_FACTS(one));
    else
        add_facts(&facts, TM_FACTS(several));
    tm_say_facts(content, "step-facts", facts.column, facts.count, steps);
}

/* --- parts --- */

struct parts {
    struct tm_cell cell[PARTS_MOST][3];
    size_t count;
    const struct tm_value *total;
};

static void add_part(struct parts *parts, struct tm_cell title, const struct tm_value *part)
{
    struct tm_cell *row;

    if (!tm_has(part) || tm_int(part) == 0 || parts->count == PARTS_MOST)
        return;
    row = parts->cell[parts->count++];
    row[0] = title;
    row[1] = tm_cell_of_value(TM_CELL_TIME, part);
    row[2] = tm_cell_of_share(part, parts->total);
}

static void say_parts(const struct tm_content *content, const struct tm_value *steps)
{
    static const struct tm_column columns[] = {
        { "Part", "part", TM_CELL_WORD },
        { "Time", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
    };
    const struct tm_value *of = tm_get(steps, "parts"), *copies = tm_get(of, "exposed_copy_ps"),
                          *idle = tm_get(of, "idle_ps");
    struct parts parts = { .total = tm_get(of, "total_ps") };

    add_part(&parts, tm_cell_of_text(TM_CELL_WORD, "compute"), tm_get(of, "compute_ps"));
    add_part(&parts, tm_cell_of_text(TM_CELL_WORD, "exposed collectives"), tm_get(of, "exposed_collective_ps"));
    for (size_t i = 0; i < tm_length(copies); i++)
        add_part(&parts,
                 tm_cell_of_text(TM_CELL_WORD, tm_palette[tm_role_of_direction(tm_key_at(copies, i))].label),
                 tm_value_at(copies, i));
    for (size_t i = 0; i < tm_length(idle); i++)
        add_part(&parts, tm_cell_of_text(TM_CELL_WORD, tm_palette[tm_role_of_cause(tm_key_at(idle, i))].label),
                 tm_value_at(idle, i));
    tm_say_table(content, &(struct tm_table){ .id = "step-parts",
                                              .caption = "What the analyzed steps are made of, all devices",
                                              TM_COLUMNS(columns),
                                              .cells = parts.cell[0],
                                              .cell_rows = parts.count,
                                              .total = of,
                                              .total_title = "all analyzed steps, all devices",
                                              .paper_rows = PARTS_MOST });
}

/* --- the slowest --- */

static void say_slowest(const struct tm_content *content, const struct tm_value *steps)
{
    static const struct tm_column columns[] = {
        { "Step", "number", TM_CELL_WORD },
        { "Host", "host", TM_CELL_HOST },
        { "Step time", "period_ps", TM_CELL_TIME },
        { "Busy", "busy_ps", TM_CELL_TIME },
        { "Compute", "compute_ps", TM_CELL_TIME },
        { "Exposed collectives", "exposed_collective_ps", TM_CELL_TIME | TM_RARE },
        { "Host span", "host_span_ps", TM_CELL_TIME },
        { "Device span", "device_span_ps", TM_CELL_TIME | TM_WIDE },
        { "Begin", "begin_ps", TM_CELL_MOMENT | TM_WIDE },
        { "Launches", "launches", TM_CELL_COUNT | TM_WIDE },
        { "Compiles", "compile", TM_CELL_WORD | TM_RARE },
        { "Device", "device", TM_CELL_DEVICE | TM_WIDE },
    };
    const struct tm_value *list = tm_get(steps, "list");
    const bool by_host = strcmp(tm_text(tm_get(steps, "basis")), "host_span") == 0;
    size_t pick[SLOWEST_MOST];
    const size_t n = tm_pick_largest(list, by_host ? "host_span_ps" : "period_ps", "chosen", SLOWEST_MOST, pick);

    if (n >= SLOWEST_LEAST)
        tm_say_table(content, &(struct tm_table){ .id = "steps-slowest",
                                                  .caption = "Slowest analyzed steps",
                                                  TM_COLUMNS(columns),
                                                  .rows = list,
                                                  .pick = pick,
                                                  .picks = n,
                                                  .is_only_picked = true,
                                                  .paper_rows = 10 });
}

static void say_steps(const struct tm_content *content)
{
    static const struct tm_column skipped[] = {
        { "Step", "number", TM_CELL_WORD },
        { "Host", "host", TM_CELL_HOST },
        { "Left out because", "reason", TM_CELL_PROSE },
    };
    const struct tm_value *steps = tm_of(content, "steps");

    tm_say_charts(content, TM_CHART_STEPS);
    tm_say_charts(content, TM_CHART_STEP_TIMES);
    say_facts(content, steps);
    say_parts(content, steps);
    say_slowest(content, steps);
    tm_say_table(content, &(struct tm_table){ .id = "steps-skipped",
                                              .caption = "Steps that are in no figure",
                                              TM_COLUMNS(skipped),
                                              .rows = tm_get(steps, "skipped") });
}

const struct tm_section tm_steps_section = { "steps", "Steps", "steps", say_steps, NULL };
