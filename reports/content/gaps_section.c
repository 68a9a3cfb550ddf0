/* SPDX-License-Identifier: Apache-2.0 */
/* Idle gaps: what they are attributed to, how long they are, the longest ones. */
#include <stdio.h>

#include "reports/content/say.h"

enum { CAUSES_MOST = 16, LONGEST_ON_PAPER = 12, BINS_ON_PAPER = 64, TITLE_BYTES = 64 };

/* Something is attributed to it. */
static bool is_cause(const struct tm_value *cause)
{
    return tm_int(tm_get(cause, "count")) != 0 || tm_int(tm_get(cause, "total_ps")) != 0;
}

static void say_causes(const struct tm_content *content, const struct tm_value *gaps)
{
    static const struct tm_column columns[] = {
        { "Cause", "", TM_CELL_CAUSE },
        { "Time", "total_ps", TM_CELL_TIME },
        { "Share", "share_pct", TM_CELL_PCT },
        { "Gaps", "count", TM_CELL_COUNT },
        { "Only the main thread", "main_ps", TM_CELL_TIME | TM_WIDE },
    };
    const struct tm_value *causes = tm_get(gaps, "by_cause");
    size_t pick[CAUSES_MOST], n = 0;

    for (size_t i = 0; i < tm_length(causes) && n < CAUSES_MOST; i++)
        if (is_cause(tm_value_at(causes, i)))
            pick[n++] = i;
    tm_say_table(content, &(struct tm_table){ .id = "gap-causes",
                                              .caption = "Idle time by cause",
                                              TM_COLUMNS(columns),
                                              .rows = causes,
                                              .pick = pick,
                                              .picks = n,
                                              .is_only_picked = true,
                                              .total = gaps,
                                              .total_title = "all idle time",
                                              .repeats_chart = true });
    if (n > 0)
        tm_say(content, TM_TONE_QUIET,
               "The time of a gap is split between its causes; the gap itself is counted with the largest of them.");
}

/* Gaps before the next operation or two: what eager dispatch is judged by. */
static void say_short(const struct tm_content *content, const struct tm_value *shorter)
{
    static const struct tm_column columns[] = {
        { "Cause", "", TM_CELL_CAUSE },
        { "Time", "total_ps", TM_CELL_TIME },
        { "Gaps", "count", TM_CELL_COUNT },
    };
    const struct tm_value *causes = tm_get(shorter, "by_cause");
    size_t pick[CAUSES_MOST], n = 0;
    char from[TM_FORMAT_BYTES], below[TM_FORMAT_BYTES], caption[2 * TM_FORMAT_BYTES + TITLE_BYTES];

    for (size_t i = 0; i < tm_length(causes) && n < CAUSES_MOST; i++)
        if (is_cause(tm_value_at(causes, i)))
            pick[n++] = i;
    if (!n)
        return;
    (void)snprintf(caption, sizeof(caption), "Gaps of %s to %s by cause",
                   tm_format_time(from, tm_int(tm_get(shorter, "from_ps"))),
                   tm_format_time(below, tm_int(tm_get(shorter, "below_ps"))));
    tm_say_table(content, &(struct tm_table){ .id = "gap-short",
                                              .caption = caption,
                                              TM_COLUMNS(columns),
                                              .rows = causes,
                                              .pick = pick,
                                              .picks = n,
                                              .is_only_picked = true });
}

static void say_facts(const struct tm_content *content, const struct tm_value *gaps)
{
    const struct tm_value *least = tm_get(gaps, "gap_min_ps");
    char time[TM_FORMAT_BYTES], long_gaps[TITLE_BYTES];
    const struct tm_column facts[] = {
        { "Gaps", "count", TM_CELL_COUNT },
        { long_gaps, "count_min", TM_CELL_COUNT },
        { "Idle time in gaps", "total_ps", TM_CELL_TIME },
        { "Pauses between launched work", "pauses.count", TM_CELL_COUNT },
        { "Time in pauses", "pauses.total_ps", TM_CELL_TIME },
    };

    (void)snprintf(long_gaps, sizeof(long_gaps), "Of %s or more",
                   tm_has(least) ? tm_format_time(time, tm_int(least)) : "the least length");
    tm_say_facts(content, "gap-facts", TM_FACTS(facts), gaps);
}

/* What is no wait: the short pauses of device_wait. */
static void say_pauses(const struct tm_content *content, const struct tm_value *pauses)
{
    char below[TM_FORMAT_BYTES];

    if (tm_int(tm_get(pauses, "count")) > 0 && tm_has(tm_get(pauses, "below_ps")))
        tm_say(content, TM_TONE_QUIET,
               "Pauses are the gaps under %s before a piece of work that had been launched already; they are part of "
               "the gaps.",
               tm_format_time(below, tm_int(tm_get(pauses, "below_ps"))));
}

static void say_lengths(const struct tm_content *content, const struct tm_value *gaps)
{
    static const struct tm_column columns[] = {
        { "From", "from_ps", TM_CELL_TIME },
        { "To", "to_ps", TM_CELL_TIME },
        { "Gaps", "count", TM_CELL_COUNT },
        { "Time", "total_ps", TM_CELL_TIME },
    };

    tm_say_table(content, &(struct tm_table){ .id = "gap-lengths",
                                              .caption = "Long gaps by length",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(gaps, "histogram"),
                                              .paper_rows = BINS_ON_PAPER,
                                              .repeats_chart = true });
}

static void say_longest(const struct tm_content *content, const struct tm_value *gaps)
{
    static const struct tm_column columns[] = {
        { "Begin", "begin_ps", TM_CELL_MOMENT },
        { "Length", "dur_ps", TM_CELL_TIME },
        { "Device", "device", TM_CELL_DEVICE },
        { "Step", "step", TM_CELL_WORD },
        { "Cause", "cause", TM_CELL_CAUSE },
        { "On the host", "host_event", TM_CELL_NAME },
        { "Thread", "host_thread", TM_CELL_WORD | TM_WIDE },
        { "Such calls", "calls.usual_ps", TM_CELL_TIME | TM_WIDE },
        { "Launch call", "launch.dur_ps", TM_CELL_TIME | TM_WIDE },
        { "Before", "before", TM_CELL_NAME | TM_WIDE },
        { "After", "after", TM_CELL_NAME },
    };

    tm_say_table(content, &(struct tm_table){ .id = "gaps-longest",
                                              .caption = "Longest gaps and what the host did meanwhile",
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(gaps, "longest"),
                                              .paper_rows = LONGEST_ON_PAPER });
}

static void say_gaps(const struct tm_content *content)
{
    const struct tm_value *gaps = tm_of(content, "gaps");

    tm_say_charts(content, TM_CHART_CAUSES);
    say_causes(content, gaps);
    say_facts(content, gaps);
    say_pauses(content, tm_get(gaps, "pauses"));
    say_short(content, tm_get(gaps, "short"));
    tm_say_charts(content, TM_CHART_GAPS);
    say_lengths(content, gaps);
    say_longest(content, gaps);
}

static const char *nothing(const struct tm_value *summary)
{
    return tm_if_none(summary, "gaps.count", "there is no gap between the activities of a device");
}

const struct tm_section tm_gaps_section = { "gaps", "Idle gaps", "gaps", say_gaps, nothing };
