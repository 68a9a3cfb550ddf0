/* SPDX-License-Identifier: Apache-2.0 */
/* What a scaling study was made of. */
#include <stdio.h>
#include <string.h>

#include "reports/content/run_table.h"
#include "reports/content/say.h"

enum { LABEL_BYTES = 160, LABEL_CHARS = 36 };

static bool has_groups(const struct tm_value *points)
{
    for (size_t i = 0; i < tm_length(points); i++)
        if (tm_length(tm_get(tm_at(points, i), "runs")) > 1)
            return true;
    return false;
}

static void say_runs(const struct tm_content *content)
{
    const struct tm_value *points = tm_of(content, "points"), *notes = tm_of(content, "notes");

    for (size_t i = 0; i < tm_length(notes); i++)
        tm_say(content, TM_TONE_PLAIN, "%s", tm_text(tm_get(tm_at(notes, i), "text")));
    if (!has_groups(points))
        tm_say_single_runs(content, "runs", "Runs", points);
    for (size_t i = 0; has_groups(points) && i < tm_length(points); i++) {
        const char *label = tm_text(tm_get(tm_at(points, i), "label"));
        char id[32], shown[512], caption[LABEL_BYTES];

        (void)tm_format_visible(shown, sizeof(shown), label, strlen(label));
        (void)tm_format_middle(caption, sizeof(caption), shown, LABEL_CHARS);
        (void)snprintf(id, sizeof(id), "runs-%zu", i);
        tm_say_runs(content, id, *caption ? caption : "Runs", tm_get(tm_at(points, i), "runs"));
    }
}

const struct tm_section tm_scaled_runs_section = { "runs", "What was studied", "points", say_runs,
                                                   NULL };
