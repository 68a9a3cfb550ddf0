/* SPDX-License-Identifier: Apache-2.0 */
/* The last runs of one job, in a ring. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/history/night.h"

void night_history_begin(struct night_history *history, const char *job, const struct tm_judged_night *judged)
{
    history->judged = judged;
    history->texts = (struct night_texts){ .hosts = -1, .devices = -1 };
    history->first = history->count = 0;
    history->runs = 0;
    history->is_of_judged = false;
    memset(history->nights, 0, sizeof(history->nights));
    (void)snprintf(history->job, sizeof(history->job), "%s", job);
}

void night_keep_night(char nights[NIGHT_NIGHTS][NIGHT_DATE], const char *night)
{
    size_t at = 0;

    while (at < NIGHT_NIGHTS && strcmp(nights[at], night) > 0)
        at++;
    if (at == NIGHT_NIGHTS || !*night || strcmp(nights[at], night) == 0)
        return;
    memmove(nights[at + 1], nights[at], (NIGHT_NIGHTS - 1 - at) * sizeof(nights[0]));
    (void)snprintf(nights[at], sizeof(nights[0]), "%s", night);
}

static void keep_texts(struct night_texts *to, const struct tm_history_run *row)
{
    const struct {
        char *to;
        const char *from;
    } texts[] = {
        { to->name, row->name },         { to->label, row->keys.label },  { to->message, row->message },
        { to->report, row->report },     { to->platform, row->platform }, { to->model, row->model },
        { to->verdict, row->verdict },   { to->severity, tm_history_severity(row) }, { to->finding, row->finding },
        { to->gates, row->gates },
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        tm_format_text(texts[i].to, NIGHT_TEXT, texts[i].from);
    to->hosts = row->hosts;
    to->devices = row->devices;
}

void night_history_add(struct night_history *history, const struct tm_history_run *row)
{
    const size_t at = (history->first + history->count) % NIGHT_POINTS;
    struct night_point *point = &history->point[at];

    if (history->count < NIGHT_POINTS)
        history->count++;
    else
        history->first = (history->first + 1) % NIGHT_POINTS;
    history->runs++;
    night_keep_night(history->nights, row->keys.night);
    point->is_judged = tm_history_is_judged(history->judged, row);
    if (point->is_judged || !history->is_of_judged) {
        history->is_of_judged = point->is_judged;
        keep_texts(&history->texts, row);
    }
    point->when_ns = row->keys.when_ns;
    point->step = row->keys.step;
    point->status = (uint8_t)tm_result_status_of(row->status);
    (void)snprintf(point->night, sizeof(point->night), "%s", row->keys.night);
    (void)snprintf(point->revision, sizeof(point->revision), "%.*s", NIGHT_REVISION - 1, row->keys.revision);
    (void)snprintf(point->id, sizeof(point->id), "%s", row->id);
    (void)snprintf(point->training, sizeof(point->training), "%s", row->keys.training);
    point->is_current = tm_history_is_current(row);
    for (size_t i = 0; i < tm_figure_count; i++)
        point->figure[i] = point->is_current ? row->figure[i] : NAN;
}

const struct night_point *night_point_at(const struct night_history *history, size_t index)
{
    return &history->point[(history->first + index) % NIGHT_POINTS];
}

bool night_is_good(const struct night_point *point)
{
    return point->status == TM_RESULT_DONE;
}
