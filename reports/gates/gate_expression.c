/* SPDX-License-Identifier: Apache-2.0 */
/* Gates as one line each: FIGURE OPERATOR LIMIT says when the gate fails.  A limit with a sign is a
 * change against the baseline, in percent or in the unit of the figure: "steps.median_ps>+5%",
 * "step_time>150ms", "utilization<-2%". */
#include <string.h>

#include "reports/gates/gate.h"

static const char HINT[] =
    "a gate is FIGURE>LIMIT or FIGURE<LIMIT, as in \"step_time>+5%\" or \"utilization<80%\"";

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
        wrong->reason = "it compares the figure with nothing";
    else if (e->sign == '=' || (e->sign == '!' && !has_equals))
        wrong->reason = "the operators are '>', '>=', '<', '<=' and '!='";
    if (wrong->reason)
        return false;
    e->limit = text + at + 1 + has_equals;
    e->limit += strspn(e->limit, " ");
    if (!*e->limit)
        wrong->reason = "it compares the figure with nothing";
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
    return tm_gate_check_limit(gate, wrong);
}

static bool set_rule(struct tm_gate *gate, const struct expression *e, const char *limit,
                     struct tm_wrong *wrong)
{
    const bool is_signed = *limit == '+' || *limit == '-';

    gate->fails_at_limit = e->sign != '!' && e->fails_at_limit;
    gate->rule = e->sign == '>' ? TM_RULE_MAX : e->sign == '<' ? TM_RULE_MIN : TM_RULE_EQUALS;
    return gate->rule != TM_RULE_EQUALS && is_signed ? set_change(gate, limit, wrong)
                                                     : tm_gate_set_limit(gate, limit, wrong);
}

static const char *keep(struct tm_value *texts, const char *text, size_t length)
{
    tm_add_text(texts, NULL, text, length);
    return tm_text(tm_at(texts, tm_length(texts) - 1));
}

static tm_status parse(struct tm_run *run, struct tm_gates *gates, struct tm_value *texts,
                       const char *text)
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
        is_good =
            set_rule(&gate, &e, keep(texts, e.limit, trimmed(e.limit, strlen(e.limit))), &wrong);
    }
    if (is_good) {
        gates->gate[gates->count++] = gate;
        return TM_OK;
    }
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use the gate '%.200s': %s", text,
                  wrong.reason);
    if (wrong.hint)
        tm_hint(&run->error, "%s", wrong.hint);
    return TM_ERR_USAGE;
}

static tm_status parse_all(struct tm_run *run, struct tm_gates *gates,
                           const char *const *expression, size_t count)
{
    if (!(gates->doc = tm_doc_new(run)))
        return TM_ERR_LIMIT;
    struct tm_value *const texts = tm_add_array(tm_doc_root(gates->doc), "texts");

    for (size_t i = 0; i < count; i++) {
        const tm_status st = parse(run, gates, texts, expression[i]);

        if (st != TM_OK)
            return st;
    }
    return tm_doc_status(gates->doc);
}

tm_status tm_gates_parse(struct tm_run *run, struct tm_gates **gates, const char *const *expression,
                         size_t count)
{
    *gates = NULL;
    if (count > TM_GATES_MOST)
        return tm_fail(&run->error, TM_ERR_USAGE, -1, "there are more than %d gates",
                       TM_GATES_MOST);
    struct tm_gates *const made = tm_gates_new(run, count);
    const tm_status st = made ? parse_all(run, made, expression, count) : TM_ERR_LIMIT;

    if (st != TM_OK)
        tm_gates_free(made);
    else
        *gates = made;
    return st;
}
