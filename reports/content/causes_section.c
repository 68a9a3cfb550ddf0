/* SPDX-License-Identifier: Apache-2.0 */
/* What accounts for the change: the causes that the comparison found, the largest first. */
#include "reports/content/say.h"

/* Of a side the step itself has changed. */
static bool has_changed(const struct tm_content *content)
{
    const struct tm_value *tests = tm_of(content, "tests");

    for (size_t i = 0; i < tm_length(tests); i++)
        if (tm_is(tm_get(tm_at(tests, i), "changed")))
            return true;
    return false;
}

static void say_causes(const struct tm_content *content)
{
    const struct tm_value *findings = tm_of(content, "findings");

    if (tm_length(findings) == 0)
        tm_say(content, TM_TONE_PLAIN,
               has_changed(content) ? "The step has changed, and no single cause of it can be told from noise." :
                                      "Nothing changed that can be told from noise.");
    else
        tm_say(content, TM_TONE_QUIET, "The largest%s first, by the time per step and device that they account for.",
               tm_length(tm_of(content, "sides")) > 2 ? " of each side" : "");
    for (size_t i = 0; content->medium->finding && i < tm_length(findings); i++)
        content->medium->finding(content->to, tm_at(findings, i), i + 1);
}

const struct tm_section tm_causes_section = { "findings", "What accounts for the change", "findings", say_causes, NULL };
