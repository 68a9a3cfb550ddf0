/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the document write with. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare/run_facts.h"
#include "reports/format/links.h"
#include "reports/history/night.h"

static const double whole_most = 1e15; /* a double tells each of them */

void night_add_number(struct tm_value *to, const char *key, double value, const char *why)
{
    if (fabs(value) <= whole_most && rint(value) == value)
        tm_add_int(to, key, (int64_t)value);
    else
        tm_add_figure(to, key, value, why);
}

void night_add_link(struct tm_value *to, const char *key, const struct night *night, const char *report)
{
    char path[NIGHT_TEXT + 64];

    (void)snprintf(path, sizeof(path), "%.*s/%.60s", NIGHT_TEXT, report, night->options->report ? night->options->report : "");
    if (*report && tm_link_is_safe(path))
        tm_add_string(to, key, path);
    else
        tm_add_null(to, key, "there is no report of it");
}

char *night_value(char *out, double value, const struct tm_history_figure *figure)
{
    return tm_format_unit(out, value, *figure->unit ? figure->unit : "count");
}

char *night_change(char *out, double change, const struct tm_history_figure *figure)
{
    const bool is_share = strcmp(figure->unit, "%") == 0;

    out[0] = 0;
    if (!isnan(change))
        (void)snprintf(out, TM_FORMAT_BYTES, "%+.1f %s", change, is_share ? "points" : "%");
    return out;
}
