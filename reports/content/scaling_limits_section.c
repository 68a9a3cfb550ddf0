/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps a program from scaling: the findings of a scaling study. */
#include "reports/content/say.h"

static void say_limits(const struct tm_content *content)
{
    const struct tm_value *findings = tm_of(content, "findings");

    if (tm_length(findings) == 0)
        tm_say(content, TM_TONE_PLAIN,
               "Nothing was found that costs more of the efficiency than the limits allow.");
    else
        tm_say(content, TM_TONE_QUIET,
               "By the efficiency that they cost on the largest number of devices; what has no "
               "such cost comes last.");
    for (size_t i = 0; content->medium->finding && i < tm_length(findings); i++)
        content->medium->finding(content->to, tm_at(findings, i), i + 1);
}

const struct tm_section tm_limits_section = { "findings", "What limits the scaling", "findings",
                                              say_limits, NULL };
