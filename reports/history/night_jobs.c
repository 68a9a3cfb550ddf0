/* SPDX-License-Identifier: Apache-2.0 */
/* A job as a row, and what of it got worse or better. */
#include <math.h>
#include <string.h>

#include "reports/history/night.h"

static void add_figure(struct tm_value *to, const struct night_figure *judged)
{
    static const char not_judged[] = "there are fewer than three good runs before";

    night_add_number(to, "value", judged->value, "the run does not have it");
    night_add_number(to, "before", judged->before, not_judged);
    night_add_number(to, "band", judged->band, not_judged);
    night_add_number(to, "change", judged->change, not_judged);
    tm_add_string(to, "state", night_state_words[judged->state]);
}

static void add_newest(struct tm_value *to, const struct night *night, const struct night_judgement *judged)
{
    const struct night_texts *texts = &night->history->texts;

    tm_add_known(to, "run", texts->name, "it has no name");
    tm_add_string(to, "id", judged->newest->id);
    tm_add_string(to, "night", judged->newest->night);
    tm_add_int(to, "when_ns", judged->newest->when_ns);
    tm_add_string(to, "status", tm_result_status_words[judged->newest->status]);
    night_add_link(to, "report", night, texts->report);
    tm_add_known(to, "message", texts->message, "it did not fail");
    tm_add_known(to, "revision", judged->newest->revision, "it is not known");
    tm_add_known(to, "label", texts->label, "none was given");
    tm_add_known(to, "platform", texts->platform, "it is not known");
    tm_add_known(to, "model", texts->model, "it is not known");
    night_add_number(to, "hosts", texts->hosts >= 0 ? (double)texts->hosts : NAN, "it is not known");
    night_add_number(to, "devices", texts->devices >= 0 ? (double)texts->devices : NAN, "it is not known");
    tm_add_known(to, "severity", texts->severity, "it has no verdict");
    tm_add_known(to, "verdict", texts->verdict, "it has no verdict");
    tm_add_known(to, "finding", texts->finding, "it has none");
    tm_add_known(to, "gates", texts->gates, "it was not judged");
}

void night_add_job(struct night *night, const struct night_judgement *judged)
{
    struct tm_value *to = tm_add_object(tm_member(night->root, "jobs"), NULL), *figures;

    tm_add_text(to, "job", night->history->job, strlen(night->history->job));
    tm_add_string(to, "state", night_state_words[judged->state]);
    add_newest(to, night, judged);
    tm_add_uint(to, "runs", night->history->runs);
    figures = tm_add_object(to, "figures");
    for (size_t i = 0; i < tm_figure_count; i++)
        if (night_counts(&tm_figure_table[i]))
            add_figure(tm_add_object(figures, tm_figure_table[i].id), &judged->figure[i]);
}

static void add_change(struct tm_value *list, const struct night *night, const struct night_judgement *judged, size_t figure)
{
    const struct night_figure *change = &judged->figure[figure];
    struct tm_value *to = tm_add_object(list, NULL);
    char text[TM_FORMAT_BYTES];

    tm_add_text(to, "job", night->history->job, strlen(night->history->job));
    tm_add_string(to, "id", judged->newest->id);
    night_add_link(to, "report", night, night->history->texts.report);
    tm_add_string(to, "figure", tm_figure_table[figure].id);
    tm_add_string(to, "title", tm_figure_table[figure].title);
    tm_add_string(to, "unit", tm_figure_table[figure].unit);
    night_add_number(to, "value", change->value, "");
    night_add_number(to, "before", change->before, "");
    night_add_number(to, "change", change->change, "it was 0");
    night_add_number(to, "band", change->band, "");
    tm_add_uint(to, "runs", change->runs);
    tm_add_string(to, "value_text", night_value(text, change->value, &tm_figure_table[figure]));
    tm_add_string(to, "before_text", night_value(text, change->before, &tm_figure_table[figure]));
    tm_add_known(to, "change_text", night_change(text, change->change, &tm_figure_table[figure]), "it was 0");
    tm_add_string(to, "band_text", night_value(text, change->band, &tm_figure_table[figure]));
}

void night_add_changes(struct night *night, const struct night_judgement *judged)
{
    for (size_t i = 0; i < tm_figure_count; i++) {
        const enum night_state state = judged->figure[i].state;
        struct tm_value *list = tm_member(night->root, state == NIGHT_WORSE ? "worse" : "better");

        if ((state != NIGHT_WORSE && state != NIGHT_BETTER) || !night_counts(&tm_figure_table[i]))
            continue;
        if (tm_length(list) < night->options->rows)
            add_change(list, night, judged, i);
        else
            night->changes_left_out[state == NIGHT_BETTER]++;
    }
}
