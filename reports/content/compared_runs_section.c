/* SPDX-License-Identifier: Apache-2.0 */
/* What was compared: the runs of each side, and what to know of them. */
#include <stdio.h>

#include "reports/content/run_table.h"
#include "reports/content/say.h"
#include "reports/content/side_columns.h"

static void say_side(const struct tm_content *content, const struct tm_value *side, size_t number)
{
    char id[32], caption[TM_SIDE_TITLE_BYTES + 16], label[TM_SIDE_TITLE_BYTES];

    (void)snprintf(id, sizeof(id), "runs-%zu", number);
    (void)snprintf(caption, sizeof(caption), "%s: %s", number ? "New" : "Base",
                   tm_side_label(content->summary, number, label));
    tm_say_runs(content, id, caption, tm_get(side, "runs"));
}

static void say_runs(const struct tm_content *content)
{
    const struct tm_value *sides = tm_of(content, "sides"), *notes = tm_of(content, "notes");

    for (size_t i = 0; i < tm_length(notes); i++)
        tm_say(content, TM_TONE_PLAIN, "%s", tm_text(tm_get(tm_at(notes, i), "text")));
    for (size_t i = 0; i < tm_length(sides); i++)
        say_side(content, tm_at(sides, i), i);
}

const struct tm_section tm_compared_runs_section = { "runs", "What was compared", "sides", say_runs, NULL };
