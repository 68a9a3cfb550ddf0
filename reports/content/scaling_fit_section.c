/* SPDX-License-Identifier: Apache-2.0 */
/* The fitted serial share, and what it predicts for more devices. */
#include <string.h>

#include "reports/content/say.h"

static void say_fit(const struct tm_content *content)
{
    static const struct tm_column facts[] = {
        { "Serial share", "serial_pct", TM_CELL_PCT },
        { "From", "low_pct", TM_CELL_PCT },
        { "To", "high_pct", TM_CELL_PCT },
        { "Off the measured steps", "residual_pct", TM_CELL_PCT },
        { "Speed-up at most", "speedup_limit", TM_CELL_NUMBER },
    };
    static const struct tm_column next[] = {
        { "Devices", "devices", TM_CELL_COUNT },
        { "Step", "step_ps", TM_CELL_TIME },
        { "Speed-up", "speedup", TM_CELL_NUMBER },
        { "Efficiency", "efficiency_pct", TM_CELL_PCT },
    };
    const struct tm_value *fit = tm_of(content, "fit");
    const bool is_weak = strcmp(tm_text(tm_get(fit, "model")), "gustafson") == 0;

    tm_say(content, TM_TONE_PLAIN,
           is_weak ? "By Gustafson's law: a step takes t (1 - s + s n) on n devices, with a serial "
                     "share s."
                   : "By Amdahl's law: a step takes t (s + (1 - s) / n) on n devices, with a "
                     "serial share s.");
    tm_say_facts(content, "fit-facts", TM_FACTS(facts), fit);
    tm_say_table(content, &(struct tm_table){ .id = "fit-next",
                                              .caption = "Predicted for more devices",
                                              TM_COLUMNS(next),
                                              .rows = tm_get(fit, "next") });
    tm_say(content, TM_TONE_QUIET,
           "A law with one share: it knows no limits of memory, of links or of the batch. Further "
           "than twice the largest run it is "
           "a guess.");
}

const struct tm_section tm_fit_section = { "fit", "Serial share", "fit", say_fit, NULL };
