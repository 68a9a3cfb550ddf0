/* SPDX-License-Identifier: Apache-2.0 */
/* What the morning has to know: what failed, what got worse, what is missing. */
#include "reports/content/say.h"

static void say_findings(const struct tm_content *content)
{
    const struct tm_value *findings = tm_of(content, "findings");

    if (tm_length(findings) == 0)
        tm_say(content, TM_TONE_PLAIN, "Nothing failed, nothing is missing, and no job got worse.");
    else
        tm_say(content, TM_TONE_QUIET,
               "What failed first, then jobs that got worse, by how much: the step time before other figures.");
    for (size_t i = 0; content->medium->finding && i < tm_length(findings); i++)
        content->medium->finding(content->to, tm_at(findings, i), i + 1);
}

const struct tm_section tm_night_findings_section = { "findings", "Findings", "findings", say_findings, NULL };
