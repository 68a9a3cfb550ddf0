/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/say.h"

static void say_findings(const struct tm_content *content)
{
    const struct tm_value *findings = tm_of(content, "findings");

    if (tm_length(findings) == 0)
        tm_say(content, TM_TONE_PLAIN, "Nothing was found that costs more than the limits allow.");
    else if (tm_int(tm_get(tm_at(findings, 0), "at_stake_ps")) > 0)
        tm_say(content, TM_TONE_QUIET,
               "Sorted by potential savings: the most that fixing this one issue could save. Findings without an "
               "estimate come last.");
    for (size_t i = 0; content->medium->finding && i < tm_length(findings); i++)
        content->medium->finding(content->to, tm_at(findings, i), i + 1);
}

const struct tm_section tm_findings_section = { "findings", "Findings", "findings", say_findings, NULL };
