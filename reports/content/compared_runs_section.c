/* SPDX-License-Identifier: Apache-2.0 */
/* What was compared: the runs of each side, and what to know of them. */
#include <stdio.h>
#include <string.h>

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

/* "Same program: yes (jit_train_step). Same device model: no (A100 against H100)." */
static void say_comparability(const struct tm_content *content)
{
    static const struct {
        const char *key, *words;
    } answers[] = { { "program", "program" }, { "device_model", "device model" }, { "device_count", "device count" },
                    { "steps", "number of analyzed steps" }, { "versions", "versions" } };
    const struct tm_value *all = tm_of(content, "comparability");

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        const struct tm_value *answer = tm_get(all, answers[i].key), *values = tm_get(answer, "values");
        const char *same = tm_text(tm_get(answer, "same"));
        char text[512] = "";
        bool is_known = false;
        size_t used = 0;

        for (size_t k = 0; k < tm_length(values) && used < sizeof(text); k++) {
            const struct tm_value *value = tm_at(values, k);
            char number[32] = "not recorded";

            is_known = is_known || tm_has(value);
            if (k > 0 && strcmp(same, "yes") == 0)
                break;
            if (tm_has(value) && tm_type_of(value) != TM_STRING)
                (void)snprintf(number, sizeof(number), "%.0f", tm_double(value));
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", k ? " against " : "",
                                     tm_type_of(value) == TM_STRING ? tm_text(value) : number);
        }
        if (strcmp(same, "not_recorded") == 0)
            tm_say(content, TM_TONE_QUIET, "Same %s: not recorded%s%s%s.", answers[i].words, is_known ? " (" : "",
                   is_known ? text : "", is_known ? ")" : "");
        else if (*same)
            tm_say(content, TM_TONE_QUIET, "Same %s: %s (%s).", answers[i].words, same, text);
    }
}

static void say_runs(const struct tm_content *content)
{
    const struct tm_value *sides = tm_of(content, "sides"), *notes = tm_of(content, "notes");

    for (size_t i = 0; i < tm_length(notes); i++)
        tm_say(content, TM_TONE_PLAIN, "%s", tm_text(tm_get(tm_at(notes, i), "text")));
    say_comparability(content);
    for (size_t i = 0; i < tm_length(sides); i++)
        say_side(content, tm_at(sides, i), i);
}

const struct tm_section tm_compared_runs_section = { "runs", "What was compared", "sides", say_runs, NULL };
