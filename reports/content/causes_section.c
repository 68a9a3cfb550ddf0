/* SPDX-License-Identifier: Apache-2.0 */
/* What accounts for the change: the causes that the comparison found, the largest first. */
#include "reports/content/say.h"

static void say_causes(const struct tm_content *content)
{
    const struct tm_value *findings = tm_of(content, "findings");

    if (tm_length(findings) == 0)
        tm_say(content, TM_TONE_PLAIN, "Nothing changed that can be told from noise.");
    else
        tm_say(content, TM_TONE_QUIET, "The largest first, by the time of a step and device that they account for.");
    for (size_t i = 0; content->medium->finding && i < tm_length(findings); i++)
        content->medium->finding(content->to, tm_at(findings, i), i + 1);
}

const struct tm_section tm_causes_section = { "findings", "What accounts for the change", "findings", say_causes, NULL };
