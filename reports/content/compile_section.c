/* SPDX-License-Identifier: Apache-2.0 */
/* Compilation: how much, in which steps, of what, and what was compiled again. */
#include "reports/format/pick.h"
#include "reports/content/say.h"

enum { EVENTS_MOST = 500 };

static void say_facts(const struct tm_content *content, const struct tm_value *compile)
{
    static const struct tm_column facts[] = {
        { "Compiles", "count", TM_CELL_COUNT },
        { "Time", "total_ps", TM_CELL_TIME },
        { "Longest", "longest_ps", TM_CELL_TIME },
        { "Inside analyzed steps", "inside_steps.count", TM_CELL_COUNT },
        { "Time inside analyzed steps", "inside_steps.total_ps", TM_CELL_TIME },
        { "Counted by the events of", "source", TM_CELL_WORD | TM_WIDE },
    };

    tm_say_facts(content, "compile-facts", TM_FACTS(facts), compile);
}

static void say_again(const struct tm_content *content, const struct tm_value *compile)
{
    static const struct tm_column again[] = {
        { "Module", "module", TM_CELL_NAME },
        { "Times", "count", TM_CELL_COUNT | TM_SUMS },
    };
    static const struct tm_column programs[] = {
        { "Module", "module", TM_CELL_NAME },
        { "Program", "program_id", TM_CELL_WORD },
        { "Shapes", "shapes", TM_CELL_NAME },
    };

    tm_say_table(content, &(struct tm_table){ .id = "compile-again",
                                              .caption = "Modules compiled more than once",
                                              TM_COLUMNS(again),
                                              .rows = tm_get(compile, "recompiled"),
                                              .paper_rows = 10 });
    tm_say_table(content, &(struct tm_table){ .id = "compile-programs",
                                              .caption = "Modules with several programs",
                                              TM_COLUMNS(programs),
                                              .rows = tm_get(compile, "programs"),
                                              .paper_rows = 10 });
}

static void say_events(const struct tm_content *content, const struct tm_value *compile)
{
    static const struct tm_column columns[] = {
        { "Module", "module", TM_CELL_NAME },
        { "Host", "host", TM_CELL_HOST },
        { "Begin", "begin_ps", TM_CELL_MOMENT },
        { "Length", "dur_ps", TM_CELL_TIME | TM_SUMS },
        { "Step", "step", TM_CELL_WORD },
        { "Shapes", "shapes", TM_CELL_NAME },
    };
    const struct tm_value *events = tm_get(compile, "events");
    size_t pick[EVENTS_MOST];
    const size_t n = tm_pick_largest(events, "dur_ps", NULL, EVENTS_MOST, pick);

    tm_say_table(content, &(struct tm_table){ .id = "compiles",
                                              .caption = "Compiles, longest first",
                                              TM_COLUMNS(columns),
                                              .rows = events,
                                              .pick = pick,
                                              .picks = n });
}

static void say_compile(const struct tm_content *content)
{
    const struct tm_value *compile = tm_of(content, "compile");

    say_facts(content, compile);
    say_again(content, compile);
    say_events(content, compile);
}

static const char *nothing(const struct tm_value *summary)
{
    return tm_if_none(summary, "compile.count", "nothing was compiled while the profile was taken");
}

const struct tm_section tm_compile_section = { "compile", "Compilation", "compile", say_compile, nothing };
