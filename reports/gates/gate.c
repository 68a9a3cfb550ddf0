/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by gates from files and from the command line: rows, limits, and error reports for invalid
 * gates. */
#include "reports/gates/gates.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/numbers.h"
#include "pipeline/options.h"
#include "pipeline/strings.h"

/* Reads limits of gates.  Times are read by the common reader, as exact integers; sizes, rates
 * and shares are numbers times their unit. */

enum { NUMBER_MOST = 63, TEXT_MOST = 127 };

static bool refuse(struct tm_wrong *wrong, const char *reason, const char *hint)
{
    *wrong = (struct tm_wrong){ reason, hint };
    return false;
}

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* Bytes of [+-]DIGITS[.DIGITS][e[+-]DIGITS]; 0 = no number.  An exponent without digits is a unit.
 */
static size_t number_length(const char *text)
{
    const size_t sign = *text == '+' || *text == '-';
    size_t n = sign + digits(text + sign);

    if (n == sign)
        return 0;
    if (text[n] == '.') {
        const size_t behind = digits(text + n + 1);

        if (behind == 0)
            return 0;
        n += 1 + behind;
    }
    if (text[n] == 'e' || text[n] == 'E') {
        const size_t exponent_sign = text[n + 1] == '+' || text[n + 1] == '-';
        const size_t exponent = digits(text + n + 1 + exponent_sign);

        n += exponent == 0 ? 0 : 1 + exponent_sign + exponent;
    }
    return n;
}

/* clang-format off */
static const struct {
    const char *name;
    double size;
    enum tm_limit_unit kind;
} unit_of[] = {
    { "",       1,                TM_IN_BARE },
    { "%",      1,                TM_IN_PERCENT },
    { "x",      1,                TM_IN_FACTOR },
    { "B",      1,                TM_IN_BYTES },
    { "bytes",  1,                TM_IN_BYTES },
    { "K",      1024.,            TM_IN_BYTES },
    { "KiB",    1024.,            TM_IN_BYTES },
    { "M",      1048576.,         TM_IN_BYTES },
    { "MiB",    1048576.,         TM_IN_BYTES },
    { "G",      1073741824.,      TM_IN_BYTES },
    { "GiB",    1073741824.,      TM_IN_BYTES },
    { "TiB",    1099511627776.,   TM_IN_BYTES },
    { "B/s",    1,                TM_IN_BYTE_RATE },
    { "KB/s",   1e3,              TM_IN_BYTE_RATE },
    { "MB/s",   1e6,              TM_IN_BYTE_RATE },
    { "GB/s",   1e9,              TM_IN_BYTE_RATE },
    { "TB/s",   1e12,             TM_IN_BYTE_RATE },
    { "MiB/s",  1048576.,         TM_IN_BYTE_RATE },
    { "GiB/s",  1073741824.,      TM_IN_BYTE_RATE },
    { "FLOP/s", 1,                TM_IN_FLOP_RATE },
    { "GFLOP/s", 1e9,             TM_IN_FLOP_RATE },
    { "TFLOP/s", 1e12,            TM_IN_FLOP_RATE },
    { "PFLOP/s", 1e15,            TM_IN_FLOP_RATE },
};

/* clang-format on */

static const char ALL_UNITS[] = "the units are ps, ns, us, ms, s; B, KiB, MiB, GiB, TiB; %; GB/s; TFLOP/s; x";

/* in: number, its length, and the unit without spaces before it */
static bool read_time(const char *number, size_t length, const char *unit, double *ps, struct tm_wrong *wrong)
{
    const size_t sign = *number == '+' || *number == '-', unit_length = strlen(unit);
    char text[TEXT_MOST + 1];
    int64_t whole;

    if (length - sign + unit_length > TEXT_MOST)
        return refuse(wrong, "it is too long for a limit", NULL);
    memcpy(text, number + sign, length - sign);
    memcpy(text + length - sign, unit, unit_length);
    if (!tm_read_time(text, length - sign + unit_length, &whole, wrong))
        return false;
    *ps = *number == '-' ? -(double)whole : (double)whole;
    return true;
}

bool tm_gate_limit_read(const char *text, struct tm_gate_limit *limit, struct tm_wrong *wrong)
{
    static const char *const times[] = { "ps", "ns", "us", "\xc2\xb5s", "ms", "s" };
    char number[NUMBER_MOST + 1];
    const size_t length = number_length(text);
    const char *const unit = text + length + strspn(text + length, " ");

    if (length == 0)
        return refuse(wrong, "it is not a number",
                      "a limit is a number with its unit, such as \"150ms\", \"90%\" or "
                      "\"3GiB\"");
    if (length > NUMBER_MOST)
        return refuse(wrong, "it is too long for a limit", NULL);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        if (strcmp(unit, times[i]) == 0) {
            limit->kind = TM_IN_TIME;
            return read_time(text, length, unit, &limit->number, wrong);
        }
    }
    memcpy(number, text, length);
    number[length] = '\0';
    for (size_t i = 0; i < sizeof(unit_of) / sizeof(unit_of[0]); i++) {
        if (strcmp(unit, unit_of[i].name) != 0)
            continue;
        limit->kind = unit_of[i].kind;
        limit->number = strtod(number, NULL) * unit_of[i].size;
        return isfinite(limit->number) || refuse(wrong, "it is out of range", NULL);
    }
    return refuse(wrong, "its unit is unknown", ALL_UNITS);
}

/* --- units of figures --- */

/* clang-format off */
static const struct figure_unit {
    const char *name;
    double size; /* in what the limit counts */
    enum tm_limit_unit kind;
    const char *what, *hint;
} figure_units[] = {
    { "ps",      1,    TM_IN_TIME,      "the figure is a time",             "use ps, ns, us, ms or s, as in 150ms" },
    { "ns",      1e3,  TM_IN_TIME,      "the figure is a time",             "use ps, ns, us, ms or s, as in 150ms" },
    { "us",      1e6,  TM_IN_TIME,      "the figure is a time",             "use ps, ns, us, ms or s, as in 150ms" },
    { "ms",      1e9,  TM_IN_TIME,      "the figure is a time",             "use ps, ns, us, ms or s, as in 150ms" },
    { "s",       1e12, TM_IN_TIME,      "the figure is a time",             "use ps, ns, us, ms or s, as in 150ms" },
    { "%",       1,    TM_IN_PERCENT,   "the figure is a percentage", "write it as 90%" },
    { "bytes",   1,    TM_IN_BYTES,     "the figure is a size",             "use B, KiB, MiB, GiB or TiB, as in 3GiB" },
    { "bytes/s", 1,    TM_IN_BYTE_RATE, "the figure is a bandwidth",        "use B/s, MB/s, GB/s, TB/s or GiB/s" },
    { "FLOP/s",  1,    TM_IN_FLOP_RATE, "the figure is a FLOP rate", "use FLOP/s, GFLOP/s, TFLOP/s or "
      "PFLOP/s" },
};

/* clang-format on */

bool tm_gate_limit_in_unit(struct tm_gate_limit limit, const char *unit, double *number, struct tm_wrong *wrong)
{
    const bool has_no_unit = limit.kind == TM_IN_NUMBER || limit.kind == TM_IN_BARE;

    *number = limit.number;
    if (limit.kind == TM_IN_NUMBER)
        return true;
    for (size_t i = 0; i < sizeof(figure_units) / sizeof(figure_units[0]); i++) {
        const struct figure_unit *u = &figure_units[i];

        if (strcmp(unit, u->name) != 0)
            continue;
        if (limit.kind == u->kind) {
            *number = limit.number / u->size;
            return true;
        }
        if (limit.kind == TM_IN_BARE && u->kind == TM_IN_PERCENT)
            return true;
        return refuse(wrong, u->what, u->hint);
    }
    return has_no_unit || refuse(wrong, "the figure is a number without a unit", "write the number only");
}

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

static size_t bytes_of(size_t room)
{
    return sizeof(struct tm_gates) + room * sizeof(struct tm_gate);
}

/* Gates without rows, with room for that many.  errors: NULL and TM_ERR_LIMIT */
static struct tm_gates *gates_new(struct tm_run *run, size_t room)
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

tm_status tm_gate_refuse(struct tm_run *run, const struct tm_gates *gates, const struct tm_gate *gate,
                         const char *format, ...)
{
    char reason[TM_ERROR_TEXT];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    if (!gates->path)
        return tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use the gate of '%.100s': %s", gate->figure, reason);
    if (gate->number == 0)
        return tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use gates of '%s': %s", gates->path, reason);
    return tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use gates of '%s': gate %zu%s%.100s%s: %s", gates->path,
                   gate->number, gate->figure ? " ('" : "", gate->figure ? gate->figure : "", gate->figure ? "')" : "",
                   reason);
}

/* Does the limit's unit fit a rule whose limit is not a figure (a change in percent)? */
static bool gate_check_limit(const struct tm_gate *gate, struct tm_wrong *wrong)
{
    const enum tm_limit_unit kind = gate->limit.kind;

    if (kind == TM_IN_FACTOR) {
        *wrong = (struct tm_wrong){ "only max and min can be a multiple of the baseline", NULL };
        return false;
    }
    if (is_in_percent(gate->rule) && kind != TM_IN_NUMBER && kind != TM_IN_BARE && kind != TM_IN_PERCENT) {
        *wrong = (struct tm_wrong){ "it is a change in percent", "use the rule without '_pct' for a change with a "
                                                                 "unit" };
        return false;
    }
    return true;
}

/* Take the limit, in the unit that is written after it.  "1.1x" for max and min makes the rule
 * relative. in:     text  kept: of the gates' document out:    false, *wrong */
static bool gate_set_limit(struct tm_gate *gate, const char *text, struct tm_wrong *wrong)
{
    gate->limit_text = text;
    if (!tm_gate_limit_read(text, &gate->limit, wrong))
        return false;
    if (gate->limit.kind == TM_IN_FACTOR && (gate->rule == TM_RULE_MAX || gate->rule == TM_RULE_MIN)) {
        const double more = rint(100e6 * (gate->limit.number - 1)) / 1e6; /* 10 of "1.1x", not 10.000000000000009 */
        const bool is_most = gate->rule == TM_RULE_MAX;

        gate->rule = is_most ? TM_RULE_MAX_INCREASE_PCT : TM_RULE_MAX_DECREASE_PCT;
        gate->limit = (struct tm_gate_limit){ is_most ? more : -more, TM_IN_PERCENT };
    }
    return gate_check_limit(gate, wrong);
}

/* Gates as one line each: FIGURE OPERATOR LIMIT is the condition under which the gate fails.  A limit with a sign is a
 * change against the baseline, in percent or in the unit of the figure: "steps.median_ps>+5%",
 * "step_time>150ms", "utilization<-2%". */

static const char HINT[] = "a gate is FIGURE>LIMIT or FIGURE<LIMIT, as in \"step_time>+5%\" or \"utilization<80%\"";

struct expression {
    const char *text;
    size_t figure_length;
    char sign; /* '<' '>' or '!' */
    bool fails_at_limit;
    const char *limit;
};

static size_t trimmed(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return length;
}

/* The first '<', '>', '=' or '!' outside of brackets: names of ops may have them. */
static size_t find_operator(const char *text)
{
    bool is_inside = false;

    for (size_t i = 0; text[i] != '\0'; i++) {
        if (text[i] == '[' || text[i] == ']')
            is_inside = text[i] == '[';
        else if (!is_inside && strchr("<>=!", text[i]))
            return i;
    }
    return strlen(text);
}

static bool split(struct expression *e, struct tm_wrong *wrong)
{
    const char *const text = e->text + strspn(e->text, " ");
    const size_t at = find_operator(text);
    const bool has_equals = text[at] != '\0' && text[at + 1] == '=';

    e->text = text;
    e->figure_length = trimmed(text, at);
    e->sign = text[at];
    e->fails_at_limit = has_equals;
    *wrong = (struct tm_wrong){ NULL, HINT };
    if (e->figure_length == 0)
        wrong->reason = "it has no figure";
    else if (e->sign == '\0')
        wrong->reason = "it has no operator";
    else if (e->sign == '=' || (e->sign == '!' && !has_equals))
        wrong->reason = "the operators are '>', '>=', '<', '<=' and '!='";
    if (wrong->reason)
        return false;
    e->limit = text + at + 1 + has_equals;
    e->limit += strspn(e->limit, " ");
    if (!*e->limit)
        wrong->reason = "it has no operator";
    return !wrong->reason;
}

/* A sign makes it a change; "<-5%" is a decrease by 5 %. */
static bool set_change(struct tm_gate *gate, const char *text, struct tm_wrong *wrong)
{
    const bool is_upper = gate->rule == TM_RULE_MAX;

    gate->limit_text = text;
    if (!tm_gate_limit_read(text, &gate->limit, wrong))
        return false;
    const bool is_in_percent = gate->limit.kind == TM_IN_PERCENT;

    if (is_upper)
        gate->rule = is_in_percent ? TM_RULE_MAX_INCREASE_PCT : TM_RULE_MAX_INCREASE;
    else
        gate->rule = is_in_percent ? TM_RULE_MAX_DECREASE_PCT : TM_RULE_MAX_DECREASE;
    if (!is_upper)
        gate->limit.number = -gate->limit.number;
    return gate_check_limit(gate, wrong);
}

static bool set_rule(struct tm_gate *gate, const struct expression *e, const char *limit, struct tm_wrong *wrong)
{
    const bool is_signed = *limit == '+' || *limit == '-';

    gate->fails_at_limit = e->sign != '!' && e->fails_at_limit;
    gate->rule = e->sign == '>' ? TM_RULE_MAX : e->sign == '<' ? TM_RULE_MIN : TM_RULE_EQUALS;
    return gate->rule != TM_RULE_EQUALS && is_signed ? set_change(gate, limit, wrong)
                                                     : gate_set_limit(gate, limit, wrong);
}

static const char *keep(struct tm_value *texts, const char *text, size_t length)
{
    tm_add_text(texts, NULL, text, length);
    return tm_text(tm_at(texts, tm_length(texts) - 1));
}

static void parse(struct tm_run *run, struct tm_gates *gates, struct tm_value *texts, const char *text)
{
    struct tm_gate gate = { .number = gates->count + 1, .required = true, .min_effect_pct = -1 };
    struct expression e = { .text = text };
    struct tm_wrong wrong;
    bool is_good = split(&e, &wrong);

    if (is_good && e.figure_length >= TM_FIGURE_BYTES) {
        wrong = (struct tm_wrong){ "its figure is longer than 511 bytes", NULL };
        is_good = false;
    }
    if (is_good) {
        gate.figure = keep(texts, e.text, e.figure_length);
        is_good = set_rule(&gate, &e, keep(texts, e.limit, trimmed(e.limit, strlen(e.limit))), &wrong);
    }
    if (is_good) {
        gates->gate[gates->count++] = gate;
        return;
    }
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use the gate '%.200s': %s", text, wrong.reason);
    if (wrong.hint)
        tm_hint(&run->error, "%s", wrong.hint);
}

static void parse_all(struct tm_run *run, struct tm_gates *gates, const char *const *expression, size_t count)
{
    if (!(gates->doc = tm_doc_new(run)))
        return;
    struct tm_value *const texts = tm_add_array(tm_doc_root(gates->doc), "texts");

    for (size_t i = 0; i < count && !tm_failed(run); i++)
        parse(run, gates, texts, expression[i]);
}

tm_status tm_gates_parse(struct tm_run *run, struct tm_gates **gates, const char *const *expression, size_t count)
{
    *gates = NULL;
    if (count > TM_GATES_MOST)
        return tm_fail(&run->error, TM_ERR_USAGE, -1, "there are more than %d gates", TM_GATES_MOST);
    struct tm_gates *const made = gates_new(run, count);

    if (made)
        parse_all(run, made, expression, count);
    if (tm_failed(run))
        tm_gates_free(made);
    else
        *gates = made;
    return run->error.status;
}

/* Reads a gate file: schemas/gates.schema.json, docs/gates.md.  Unknown members are refused:
 * a mistyped one would disable a gate silently.  A gate with several rules becomes a
 * row for each. */

struct reading {
    struct tm_run *run;
    struct tm_gates *gates;
    struct tm_value *texts; /* an array: the text for a limit that was a number */
};

static const char *const file_member[] = { "gates", "note", "schema", "schema_version", "$schema" };

static const char *const gate_member[] = { "figure",   "title",         "note", "min_effect_pct",
                                           "required", "allow_partial", "job" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_one_of(const char *word, const char *const *known, size_t count, struct tm_nearest *nearest)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, known[i]) == 0)
            return true;
        tm_nearest_offer(nearest, word, known[i]);
    }
    return false;
}

/* --- one gate --- */

static void refuse_member(struct reading *r, const struct tm_gate *gate, const char *member, const char *reason)
{
    (void)tm_gate_refuse(r->run, r->gates, gate, "'%.60s' %s", member, reason);
}

static void take_flag(struct reading *r, const struct tm_gate *gate, const struct tm_value *from, const char *member,
                      bool *flag)
{
    const struct tm_value *v = tm_get(from, member);

    if (v && tm_type_of(v) != TM_BOOL)
        refuse_member(r, gate, member, "is neither true nor false");
    else if (v)
        *flag = tm_is(v);
}

static void take_text(struct reading *r, const struct tm_gate *gate, const struct tm_value *from, const char *member,
                      const char **text)
{
    const struct tm_value *v = tm_get(from, member);

    if (v && tm_type_of(v) != TM_STRING)
        refuse_member(r, gate, member, "is not a string");
    else if (v)
        *text = tm_text(v);
}

/* A number as the user wrote it. */
static const char *number_text(struct reading *r, double number)
{
    char text[TM_DOUBLE_TEXT];

    tm_add_text(r->texts, NULL, text, tm_double_text(text, number));
    return tm_text(tm_at(r->texts, tm_length(r->texts) - 1));
}

static bool read_limit(struct reading *r, struct tm_gate *gate, const struct tm_value *v, struct tm_wrong *wrong)
{
    switch (tm_type_of(v)) {
    case TM_STRING:
        return gate_set_limit(gate, tm_text(v), wrong);
    case TM_BOOL:
        gate->limit = (struct tm_gate_limit){ tm_is(v), TM_IN_NUMBER };
        gate->limit_text = tm_is(v) ? "true" : "false";
        return true;
    case TM_INT:
    case TM_DOUBLE:
        gate->limit = (struct tm_gate_limit){ tm_double(v), TM_IN_NUMBER };
        gate->limit_text = number_text(r, gate->limit.number);
        return true;
    default:
        *wrong = (struct tm_wrong){ "it is neither a number nor a string with a unit",
                                    "a limit is a number with its unit, such as \"150ms\", \"90%\" or \"3GiB\"" };
        return false;
    }
}

static void take_limit(struct reading *r, struct tm_gate *gate, const struct tm_value *v)
{
    const char *const member = tm_rule_name[gate->rule];
    struct tm_wrong wrong;

    if (read_limit(r, gate, v, &wrong))
        return;
    if (tm_type_of(v) == TM_STRING)
        (void)tm_gate_refuse(r->run, r->gates, gate, "the limit '%.60s' of '%s' cannot be used: %s", tm_text(v), member,
                             wrong.reason);
    else
        (void)tm_gate_refuse(r->run, r->gates, gate, "the limit of '%s' cannot be used: %s", member, wrong.reason);
    if (wrong.hint)
        tm_hint(&r->run->error, "%s", wrong.hint);
}

static void take_effect(struct reading *r, struct tm_gate *gate, const struct tm_value *from)
{
    const struct tm_value *v = tm_get(from, "min_effect_pct");
    struct tm_gate_limit limit = { .number = tm_double(v), .kind = TM_IN_NUMBER };
    struct tm_wrong wrong;
    const bool is_read = tm_type_of(v) == TM_STRING ? tm_gate_limit_read(tm_text(v), &limit, &wrong)
                                                    : tm_type_of(v) == TM_INT || tm_type_of(v) == TM_DOUBLE;

    gate->min_effect_pct = -1;
    if (!v)
        return;
    if (!is_read || limit.number < 0 ||
        (limit.kind != TM_IN_NUMBER && limit.kind != TM_IN_BARE && limit.kind != TM_IN_PERCENT))
        refuse_member(r, gate, "min_effect_pct", "is not a percentage of 0 or more");
    gate->min_effect_pct = limit.number;
}

static void take_figure(struct reading *r, struct tm_gate *gate, const struct tm_value *from)
{
    take_text(r, gate, from, "figure", &gate->figure);
    if (!gate->figure || !*gate->figure) {
        (void)tm_gate_refuse(r->run, r->gates, gate, "it has no 'figure'");
        tm_hint(&r->run->error, "a figure is a path in summary.json, such as \"steps.median_ps\"");
    } else if (strlen(gate->figure) >= TM_FIGURE_BYTES) {
        refuse_member(r, gate, "figure", "is longer than 511 bytes");
    }
}

static void check_members(struct reading *r, const struct tm_gate *gate, const struct tm_value *from)
{
    for (size_t i = 0; i < tm_length(from); i++) {
        const char *member = tm_key_at(from, i);
        struct tm_nearest nearest = { 0 };

        if (is_one_of(member, gate_member, COUNT(gate_member), &nearest) ||
            is_one_of(member, tm_rule_name, TM_RULES, &nearest))
            continue;
        refuse_member(r, gate, member, "is not a member of a gate");
        if (nearest.word)
            tm_hint(&r->run->error, "did you mean '%s'?", nearest.word);
        return;
    }
}

static void take_job(struct reading *r, struct tm_gate *gate, const struct tm_value *from)
{
    const char *wrong;

    take_text(r, gate, from, "job", &gate->job);
    wrong = gate->job ? tm_glob_wrong(gate->job) : NULL;
    if (!wrong)
        return;
    refuse_member(r, gate, "job", "is not a valid name pattern");
    tm_hint(&r->run->error, "%s", wrong);
}

/* The same figure with the same rule twice: one of them is a mistake.  Of several jobs the last one that fits counts,
 * so that one which fits all of them leaves nothing to those before it. */
static void check_twice(struct reading *r, const struct tm_gate *gate)
{
    for (size_t i = 0; i < r->gates->count; i++) {
        const struct tm_gate *other = &r->gates->gate[i];

        if (other->rule == gate->rule && other->number != gate->number && strcmp(other->figure, gate->figure) == 0 &&
            (!gate->job || (other->job && strcmp(other->job, gate->job) == 0))) {
            (void)tm_gate_refuse(r->run, r->gates, gate, "gate %zu also has a '%s' for this figure", other->number,
                                 tm_rule_name[gate->rule]);
            if (other->job && !gate->job)
                tm_hint(&r->run->error, "the last matching gate applies: put gates for all jobs before gates for "
                                        "some jobs");
            return;
        }
    }
}

static void take_rules(struct reading *r, const struct tm_gate *common, const struct tm_value *from)
{
    size_t rules = 0;

    for (int rule = 0; rule < TM_RULES; rule++) {
        const struct tm_value *v = tm_get(from, tm_rule_name[rule]);
        struct tm_gate gate = *common;

        if (!v)
            continue;
        gate.rule = (enum tm_rule)rule;
        take_limit(r, &gate, v);
        check_twice(r, &gate);
        if (tm_failed(r->run))
            return;
        r->gates->gate[r->gates->count++] = gate;
        rules++;
    }
    if (rules > 0)
        return;
    (void)tm_gate_refuse(r->run, r->gates, common, "it has no limit");
    tm_hint(&r->run->error, "limits are max, min, equals, max_increase, max_decrease, max_increase_pct and "
                            "max_decrease_pct");
}

static void take_gate(struct reading *r, size_t number, const struct tm_value *from)
{
    struct tm_gate gate = { .number = number, .required = true };

    if (tm_type_of(from) != TM_OBJECT) {
        (void)tm_gate_refuse(r->run, r->gates, &gate, "it is not an object");
        return;
    }
    take_figure(r, &gate, from);
    check_members(r, &gate, from);
    take_text(r, &gate, from, "title", &gate.title);
    take_text(r, &gate, from, "note", &gate.note);
    take_job(r, &gate, from);
    take_flag(r, &gate, from, "required", &gate.required);
    take_flag(r, &gate, from, "allow_partial", &gate.allow_partial);
    take_effect(r, &gate, from);
    if (!tm_failed(r->run))
        take_rules(r, &gate, from);
}

/* --- the file --- */

static tm_status check_file(struct reading *r, const struct tm_value *root)
{
    const struct tm_gate nowhere = { 0 };
    const struct tm_value *schema = tm_get(root, "schema"), *version = tm_get(root, "schema_version");

    for (size_t i = 0; i < tm_length(root); i++) {
        struct tm_nearest nearest = { 0 };

        if (is_one_of(tm_key_at(root, i), file_member, COUNT(file_member), &nearest))
            continue;
        const tm_status st =
            tm_gate_refuse(r->run, r->gates, &nowhere, "'%.60s' is not a member of a gate file", tm_key_at(root, i));

        tm_hint(&r->run->error, nearest.word ? "did you mean '%s'?" : "the limits go under '%s'",
                nearest.word ? nearest.word : "gates");
        return st;
    }
    if (schema && strcmp(tm_text(schema), "tracemill.gates") != 0)
        return tm_gate_refuse(r->run, r->gates, &nowhere, "its 'schema' is not \"tracemill.gates\"");
    if (version && (tm_type_of(version) != TM_INT || tm_int(version) != 1))
        return tm_gate_refuse(r->run, r->gates, &nowhere, "its 'schema_version' is not 1");
    if (tm_type_of(tm_get(root, "gates")) != TM_ARRAY)
        return tm_gate_refuse(r->run, r->gates, &nowhere, "it has no list 'gates'");
    return TM_OK;
}

static tm_status count_rules(struct reading *r, const struct tm_value *list, size_t *rules)
{
    const struct tm_gate nowhere = { 0 };

    for (size_t i = 0; i < tm_length(list) && *rules <= TM_GATES_MOST; i++) {
        for (int rule = 0; rule < TM_RULES; rule++)
            *rules += tm_get(tm_at(list, i), tm_rule_name[rule]) != NULL;
    }
    if (tm_length(list) == 0)
        return tm_gate_refuse(r->run, r->gates, &nowhere, "it contains no gates");
    if (*rules > TM_GATES_MOST || tm_length(list) > TM_GATES_MOST)
        return tm_gate_refuse(r->run, r->gates, &nowhere, "it contains more than 4,096 limits");
    return TM_OK;
}

static void take_gates(struct reading *r, const struct tm_value *list)
{
    for (size_t i = 0; i < tm_length(list) && !tm_failed(r->run); i++)
        take_gate(r, i + 1, tm_at(list, i));
}

/* Move the gates that were read into an array with room for their rules. */
static void make_room(struct reading *r, size_t rules)
{
    struct tm_gates *const roomy = gates_new(r->run, rules);

    if (!roomy)
        return;
    roomy->doc = r->gates->doc;
    roomy->path = r->gates->path;
    r->gates->doc = NULL;
    tm_gates_free(r->gates);
    r->gates = roomy;
}

static void read_file(struct reading *r, const char *path)
{
    size_t rules = 0;

    if (!(r->gates = gates_new(r->run, 0)) || !(r->gates->doc = tm_doc_new(r->run)))
        return;
    struct tm_value *const root = tm_doc_root(r->gates->doc), *file = tm_add_object(root, "file");

    tm_add_string(root, "path", path);
    r->gates->path = tm_text(tm_get(root, "path"));
    r->texts = tm_add_array(root, "texts");
    if (tm_doc_read_file(r->gates->doc, file, path) == TM_ERR_INPUT)
        r->run->error.status = TM_ERR_USAGE; /* the profile is the input; this is the assessment */
    if (tm_failed(r->run))
        return;
    (void)check_file(r, file);
    (void)count_rules(r, tm_get(file, "gates"), &rules);
    if (!tm_failed(r->run))
        make_room(r, rules);
    if (!tm_failed(r->run))
        take_gates(r, tm_get(file, "gates"));
}

tm_status tm_gates_read(struct tm_run *run, struct tm_gates **gates, const char *path)
{
    struct reading r = { .run = run };

    if (!tm_failed(run))
        read_file(&r, path);
    if (tm_failed(run)) {
        tm_gates_free(r.gates);
        r.gates = NULL;
    }
    *gates = r.gates;
    return run->error.status;
}
