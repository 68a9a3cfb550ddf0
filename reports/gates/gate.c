/* SPDX-License-Identifier: Apache-2.0 */
/* What gates from files and from the command line have in common: rows, limits, and how a wrong one
 * is told. */
#include "reports/gates/gate.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "pipeline/glob.h"
#include "reports/gates/figure.h"

const char *const tm_rule_name[TM_RULES] = {
    [TM_RULE_MAX] = "max",
    [TM_RULE_MIN] = "min",
    [TM_RULE_EQUALS] = "equals",
    [TM_RULE_MAX_INCREASE] = "max_increase",
    [TM_RULE_MAX_DECREASE] = "max_decrease",
    [TM_RULE_MAX_INCREASE_PCT] = "max_increase_pct",
    [TM_RULE_MAX_DECREASE_PCT] = "max_decrease_pct",
};

bool tm_rule_is_relative(enum tm_rule rule)
{
    return rule >= TM_RULE_MAX_INCREASE;
}

static bool is_in_percent(enum tm_rule rule)
{
    return rule >= TM_RULE_MAX_INCREASE_PCT;
}

bool tm_rule_is_upper(enum tm_rule rule)
{
    return rule == TM_RULE_MAX || rule == TM_RULE_MAX_INCREASE || rule == TM_RULE_MAX_INCREASE_PCT;
}

static size_t bytes_of(size_t room)
{
    return sizeof(struct tm_gates) + room * sizeof(struct tm_gate);
}

struct tm_gates *tm_gates_new(struct tm_run *run, size_t room)
{
    struct tm_gates *gates = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes_of(room), &run->error);

    if (gates) {
        gates->budget = &run->budget;
        gates->room = room;
    }
    return gates;
}

void tm_gates_free(struct tm_gates *gates)
{
    if (!gates)
        return;
    if (gates->doc)
        tm_doc_free(gates->doc);
    tm_give(gates->budget, TM_ACCOUNT_MODEL, gates, bytes_of(gates->room));
}

bool tm_gate_fits_job(const struct tm_gate *gate, const char *job)
{
    return !gate->job || tm_glob_fits(gate->job, job, strlen(job));
}

bool tm_gate_is_overruled(const struct tm_gates *gates, const struct tm_gate *gate, const char *job)
{
    for (const struct tm_gate *other = gate + 1; other < gates->gate + gates->count; other++) {
        if (other->rule == gate->rule && other->number != gate->number &&
            strcmp(other->figure, gate->figure) == 0 && tm_gate_fits_job(other, job))
            return true;
    }
    return false;
}

bool tm_gates_need(const struct tm_gates *gates, const char *section)
{
    static const char *const always[] = { "input", "environment", "steps", "kpis" };
    const size_t length = strlen(section);

    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
        if (strcmp(section, always[i]) == 0)
            return true;
    }
    for (size_t i = 0; i < gates->count; i++) {
        const char *figure = gates->gate[i].figure;

        if (tm_figure_piece(figure) == length && memcmp(figure, section, length) == 0)
            return true;
    }
    return false;
}

size_t tm_gates_idle(const struct tm_gates *gates, size_t after, tm_has_job *has, void *of)
{
    for (size_t i = 0; i < gates->count; i++) {
        const struct tm_gate *const gate = &gates->gate[i];

        if (gate->number > after && gate->job && !has(of, gate->job))
            return gate->number;
    }
    return 0;
}

bool tm_gates_want_baseline(const struct tm_gates *gates)
{
    for (size_t i = 0; i < gates->count; i++) {
        if (gates->gate[i].required && tm_rule_is_relative(gates->gate[i].rule))
            return true;
    }
    return false;
}

tm_status tm_gate_refuse(struct tm_run *run, const struct tm_gates *gates,
                         const struct tm_gate *gate, const char *format, ...)
{
    char reason[TM_ERROR_TEXT];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    if (!gates->path)
        return tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use the gate of '%.100s': %s",
                       gate->figure, reason);
    if (gate->number == 0)
        return tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use gates of '%s': %s", gates->path,
                       reason);
    return tm_fail(&run->error, TM_ERR_USAGE, -1,
                   "cannot use gates of '%s': gate %zu%s%.100s%s: %s", gates->path, gate->number,
                   gate->figure ? " ('" : "", gate->figure ? gate->figure : "",
                   gate->figure ? "')" : "", reason);
}

bool tm_gate_check_limit(const struct tm_gate *gate, struct tm_wrong *wrong)
{
    const enum tm_limit_unit kind = gate->limit.kind;

    if (kind == TM_IN_FACTOR) {
        *wrong = (struct tm_wrong){ "only max and min can be a multiple of the baseline", NULL };
        return false;
    }
    if (is_in_percent(gate->rule) && kind != TM_IN_NUMBER && kind != TM_IN_BARE &&
        kind != TM_IN_PERCENT) {
        *wrong = (struct tm_wrong){ "it is a change in percent",
                                    "the rule without '_pct' takes a change with a unit" };
        return false;
    }
    return true;
}

bool tm_gate_set_limit(struct tm_gate *gate, const char *text, struct tm_wrong *wrong)
{
    gate->limit_text = text;
    if (!tm_gate_limit_read(text, &gate->limit, wrong))
        return false;
    if (gate->limit.kind == TM_IN_FACTOR &&
        (gate->rule == TM_RULE_MAX || gate->rule == TM_RULE_MIN)) {
        const double more =
            rint(100e6 * (gate->limit.number - 1)) / 1e6; /* 10 of "1.1x", not 10.000000000000009 */
        const bool is_most = gate->rule == TM_RULE_MAX;

        gate->rule = is_most ? TM_RULE_MAX_INCREASE_PCT : TM_RULE_MAX_DECREASE_PCT;
        gate->limit = (struct tm_gate_limit){ is_most ? more : -more, TM_IN_PERCENT };
    }
    return tm_gate_check_limit(gate, wrong);
}
