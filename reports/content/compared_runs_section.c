/* SPDX-License-Identifier: Apache-2.0 */
/* What was compared: the runs of each side, and what to know of them. */
#include <stdio.h>

#include "reports/content/say.h"
#include "reports/content/side_columns.h"

static void say_side(const struct tm_content *content, const struct tm_value *side, size_t number)
{
    static const struct tm_column columns[] = {
        { "Run", "run", TM_CELL_NAME },
        { "Platform", "platform", TM_CELL_WORD },
        { "Device", "device_model", TM_CELL_NAME },
        { "Devices", "devices", TM_CELL_COUNT },
        { "Hosts", "hosts", TM_CELL_COUNT | TM_WIDE },
        { "Steps", "steps.chosen", TM_CELL_COUNT },
        { "Median step", "steps.median_ps", TM_CELL_TIME },
        { "Variation", "steps.cv_pct", TM_CELL_PCT },
        { "Measured", "measured_ps", TM_CELL_TIME },
        { "Damaged", "partial", TM_CELL_WORD | TM_RARE },
        { "Framework", "framework", TM_CELL_WORD | TM_WIDE },
        { "Read from", "kind", TM_CELL_WORD | TM_WIDE },
        { "Fingerprint", "fingerprint", TM_CELL_NAME | TM_WIDE },
        { "Path", "path", TM_CELL_NAME },
    };
    char id[32], caption[TM_SIDE_TITLE_BYTES + 16], label[TM_SIDE_TITLE_BYTES];

    (void)snprintf(id, sizeof(id), "runs-%zu", number);
    (void)snprintf(caption, sizeof(caption), "%s: %s", number ? "New" : "Base",
                   tm_side_label(content->summary, number, label));
    tm_say_table(content, &(struct tm_table){ .id = id,
                                              .caption = caption,
                                              TM_COLUMNS(columns),
                                              .rows = tm_get(side, "runs"),
                                              .paper_rows = 16 });
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
