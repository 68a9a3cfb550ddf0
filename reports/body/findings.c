/* SPDX-License-Identifier: Apache-2.0 */
/* The findings in full: what, how much is at stake, what it rests on, what to do, where to look. */
#include <stdio.h>
#include <string.h>

#include "reports/body/cells.h"
#include "reports/body/sections.h"
#include "reports/format/format.h"
#include "reports/format/shown_names.h"

enum { LISTED_LINES = 12, LISTED_PLACES = 3 };

/* "first_ps - last_ps on DEVICE", as ranges to paste into a trace viewer. */
static void say_place(struct tm_body *body, const struct tm_value *place)
{
    char from[TM_FORMAT_BYTES], to[TM_FORMAT_BYTES];
    const char *device = tm_shown_device(body->summary, tm_text(tm_get(place, "device")));

    tm_format_moment(from, tm_int(tm_get(place, "begin_ps")));
    tm_format_moment(to, tm_int(tm_get(place, "end_ps")));
    tm_say_item(body, "where", "%s to %s%s%s", from, to, *device ? " on " : "", device);
}

static void say_list(struct tm_body *body, const char *label, const struct tm_value *list)
{
    const size_t n = tm_length(list);

    for (size_t i = 0; i < n && i < LISTED_LINES; i++)
        body->form->item(body->to, label, tm_text(tm_at(list, i)));
    if (n > LISTED_LINES)
        tm_say_item(body, label, "and %zu more", n - LISTED_LINES);
}

static void say_stake(struct tm_body *body, const struct tm_value *finding)
{
    const struct tm_value *stake = tm_get(finding, "at_stake_ps"),
                          *share = tm_get(finding, "share_pct");
    char time[TM_FORMAT_BYTES], part[TM_FORMAT_BYTES];

    if (!tm_has(stake))
        return;
    if (tm_int(stake) == 0) { /* a fact: its evidence has the figures */
        if (strcmp(tm_text(tm_get(finding, "unit")), "%") == 0)
            tm_say_item(body, "measured", "%s", tm_format_pct(part, tm_double(tm_get(finding, "value"))));
        return;
    }
    tm_format_time(time, tm_int(stake));
    if (tm_has(share))
        tm_say_item(body, "at stake", "%s, %s of the window", time,
                    tm_format_pct(part, tm_double(share)));
    else
        tm_say_item(body, "at stake", "%s", time);
}

static void say_finding(struct tm_body *body, const struct tm_value *finding, size_t number)
{
    const struct tm_value *where = tm_get(finding, "where");
    const char *severity = tm_text(tm_get(finding, "severity"));
    const char *cause = tm_text(tm_get(finding, "cause"));

    tm_old_say(body, tm_tone_of(severity), "%zu. [%s] %s", number, severity,
           tm_text(tm_get(finding, "title")));
    say_stake(body, finding);
    if (*cause)
        body->form->item(body->to, "cause", cause);
    say_list(body, "evidence", tm_get(finding, "evidence"));
    say_list(body, "fix", tm_get(finding, "fix"));
    for (size_t i = 0; i < tm_length(where) && i < LISTED_PLACES; i++)
        say_place(body, tm_at(where, i));
}

void tm_section_findings(struct tm_body *body)
{
    const struct tm_value *findings = tm_old_of(body, "findings");
    const size_t n = tm_length(findings);

    if (tm_old_say_missing(body, findings, "Findings"))
        return;
    if (n == 0)
        body->form->paragraph(body->to, TM_TONE_PLAIN, "No findings.");
    for (size_t i = 0; i < n && i < (size_t)body->finding_rows; i++)
        say_finding(body, tm_at(findings, i), i + 1);
    if (n > (size_t)body->finding_rows)
        tm_old_say(body, TM_TONE_QUIET, "%zu more in summary.json.", n - (size_t)body->finding_rows);
}
