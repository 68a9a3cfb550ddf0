/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a gate file: schemas/gates.schema.json, docs/gates.md.  What is not understood is refused:
 * a mistyped member would leave a gate open without a word.  A gate with several rules becomes a
 * row for each. */
#include <math.h>
#include <string.h>

#include "pipeline/doc_read.h"
#include "pipeline/double_text.h"
#include "pipeline/glob.h"
#include "pipeline/nearest.h"
#include "reports/gates/gate.h"

struct reading {
    struct tm_run *run;
    struct tm_gates *gates;
    struct tm_value *texts; /* an array: what is written for a limit that was a number */
};

static const char *const file_member[] = { "gates", "note", "schema", "schema_version", "$schema" };
static const char *const gate_member[] = { "figure",   "title",         "note", "min_effect_pct",
                                           "required", "allow_partial", "job" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_one_of(const char *word, const char *const *known, size_t count,
                      struct tm_nearest *nearest)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, known[i]) == 0)
            return true;
        tm_nearest_offer(nearest, word, known[i]);
    }
    return false;
}

/* --- one gate --- */

static tm_status refuse_member(struct reading *r, const struct tm_gate *gate, const char *member,
                               const char *reason)
{
    return tm_gate_refuse(r->run, r->gates, gate, "'%.60s' %s", member, reason);
}

static tm_status take_flag(struct reading *r, const struct tm_gate *gate,
                           const struct tm_value *from, const char *member, bool *flag)
{
    const struct tm_value *v = tm_get(from, member);

    if (!v)
        return TM_OK;
    if (tm_type_of(v) != TM_BOOL)
        return refuse_member(r, gate, member, "is neither true nor false");
    *flag = tm_is(v);
    return TM_OK;
}

static tm_status take_text(struct reading *r, const struct tm_gate *gate,
                           const struct tm_value *from, const char *member, const char **text)
{
    const struct tm_value *v = tm_get(from, member);

    if (!v)
        return TM_OK;
    if (tm_type_of(v) != TM_STRING)
        return refuse_member(r, gate, member, "is no text");
    *text = tm_text(v);
    return TM_OK;
}

/* A number as the user may have written it. */
static const char *number_text(struct reading *r, double number)
{
    char text[TM_DOUBLE_TEXT];

    tm_add_text(r->texts, NULL, text, tm_double_text(text, number));
    return tm_text(tm_at(r->texts, tm_length(r->texts) - 1));
}

static bool read_limit(struct reading *r, struct tm_gate *gate, const struct tm_value *v,
                       struct tm_wrong *wrong)
{
    switch (tm_type_of(v)) {
    case TM_STRING:
        return tm_gate_set_limit(gate, tm_text(v), wrong);
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
        *wrong = (struct tm_wrong){
            "it is neither a number nor a text with a unit",
            "a limit is a number with its unit, as \"150ms\", \"90%\" or \"3GiB\""
        };
        return false;
    }
}

static tm_status take_limit(struct reading *r, struct tm_gate *gate, const struct tm_value *v)
{
    const char *const member = tm_rule_name[gate->rule];
    struct tm_wrong wrong;

    if (read_limit(r, gate, v, &wrong))
        return TM_OK;
    const tm_status st =
        tm_type_of(v) == TM_STRING
            ? tm_gate_refuse(r->run, r->gates, gate, "the limit '%.60s' of '%s' cannot be used: %s",
                             tm_text(v), member, wrong.reason)
            : tm_gate_refuse(r->run, r->gates, gate, "the limit of '%s' cannot be used: %s", member,
                             wrong.reason);

    if (wrong.hint)
        tm_hint(&r->run->error, "%s", wrong.hint);
    return st;
}

static tm_status take_effect(struct reading *r, struct tm_gate *gate, const struct tm_value *from)
{
    const struct tm_value *v = tm_get(from, "min_effect_pct");
    struct tm_gate_limit limit = { .number = tm_double(v), .kind = TM_IN_NUMBER };
    struct tm_wrong wrong;
    const bool is_read = tm_type_of(v) == TM_STRING
                             ? tm_gate_limit_read(tm_text(v), &limit, &wrong)
                             : tm_type_of(v) == TM_INT || tm_type_of(v) == TM_DOUBLE;

    gate->min_effect_pct = -1;
    if (!v)
        return TM_OK;
    if (!is_read || limit.number < 0 ||
        (limit.kind != TM_IN_NUMBER && limit.kind != TM_IN_BARE && limit.kind != TM_IN_PERCENT))
        return refuse_member(r, gate, "min_effect_pct", "is no number of percent, 0 or more");
    gate->min_effect_pct = limit.number;
    return TM_OK;
}

static tm_status take_figure(struct reading *r, struct tm_gate *gate, const struct tm_value *from)
{
    tm_status st = take_text(r, gate, from, "figure", &gate->figure);

    if (st != TM_OK)
        return st;
    if (!gate->figure || !*gate->figure) {
        st = tm_gate_refuse(r->run, r->gates, gate, "it has no 'figure'");
        tm_hint(&r->run->error, "a figure is a path in summary.json, as \"steps.median_ps\"");
        return st;
    }
    if (strlen(gate->figure) >= TM_FIGURE_BYTES)
        return refuse_member(r, gate, "figure", "is longer than 511 bytes");
    return TM_OK;
}

static tm_status check_members(struct reading *r, const struct tm_gate *gate,
                               const struct tm_value *from)
{
    for (size_t i = 0; i < tm_length(from); i++) {
        const char *member = tm_key_at(from, i);
        struct tm_nearest nearest = { 0 };

        if (is_one_of(member, gate_member, COUNT(gate_member), &nearest) ||
            is_one_of(member, tm_rule_name, TM_RULES, &nearest))
            continue;
        const tm_status st = refuse_member(r, gate, member, "is no member of a gate");

        if (nearest.word)
            tm_hint(&r->run->error, "did you mean '%s'?", nearest.word);
        return st;
    }
    return TM_OK;
}

static tm_status take_job(struct reading *r, struct tm_gate *gate, const struct tm_value *from)
{
    const tm_status st = take_text(r, gate, from, "job", &gate->job);
    const char *wrong = st == TM_OK && gate->job ? tm_glob_wrong(gate->job) : NULL;

    if (!wrong)
        return st;
    (void)refuse_member(r, gate, "job", "is no pattern of names");
    tm_hint(&r->run->error, "%s", wrong);
    return TM_ERR_USAGE;
}

/* The same figure with the same rule twice: one of them is a mistake.  Of several jobs the last one that fits counts,
 * so that one which fits all of them leaves nothing to those before it. */
static tm_status check_twice(struct reading *r, const struct tm_gate *gate)
{
    for (size_t i = 0; i < r->gates->count; i++) {
        const struct tm_gate *other = &r->gates->gate[i];

        if (other->rule == gate->rule && other->number != gate->number &&
            strcmp(other->figure, gate->figure) == 0 &&
            (!gate->job || (other->job && strcmp(other->job, gate->job) == 0))) {
            const tm_status st =
                tm_gate_refuse(r->run, r->gates, gate, "gate %zu has a '%s' of this figure too",
                               other->number, tm_rule_name[gate->rule]);

            if (other->job && !gate->job)
                tm_hint(&r->run->error, "the last gate that fits a job counts: put the one for all "
                                        "jobs before those of some");
            return st;
        }
    }
    return TM_OK;
}

static tm_status take_rules(struct reading *r, const struct tm_gate *common,
                            const struct tm_value *from)
{
    size_t rules = 0;

    for (int rule = 0; rule < TM_RULES; rule++) {
        const struct tm_value *v = tm_get(from, tm_rule_name[rule]);
        struct tm_gate gate = *common;

        if (!v)
            continue;
        gate.rule = (enum tm_rule)rule;
        tm_status st = take_limit(r, &gate, v);

        if (st == TM_OK)
            st = check_twice(r, &gate);
        if (st != TM_OK)
            return st;
        r->gates->gate[r->gates->count++] = gate;
        rules++;
    }
    if (rules > 0)
        return TM_OK;
    const tm_status st = tm_gate_refuse(r->run, r->gates, common, "it has no limit");

    tm_hint(&r->run->error,
            "limits are max, min, equals, max_increase, max_decrease, max_increase_pct and "
            "max_decrease_pct");
    return st;
}

static tm_status take_gate(struct reading *r, size_t number, const struct tm_value *from)
{
    struct tm_gate gate = { .number = number, .required = true };
    tm_status st;

    if (tm_type_of(from) != TM_OBJECT)
        return tm_gate_refuse(r->run, r->gates, &gate, "it is no object");
    if ((st = take_figure(r, &gate, from)) != TM_OK ||
        (st = check_members(r, &gate, from)) != TM_OK ||
        (st = take_text(r, &gate, from, "title", &gate.title)) != TM_OK ||
        (st = take_text(r, &gate, from, "note", &gate.note)) != TM_OK ||
        (st = take_job(r, &gate, from)) != TM_OK ||
        (st = take_flag(r, &gate, from, "required", &gate.required)) != TM_OK ||
        (st = take_flag(r, &gate, from, "allow_partial", &gate.allow_partial)) != TM_OK ||
        (st = take_effect(r, &gate, from)) != TM_OK)
        return st;
    return take_rules(r, &gate, from);
}

/* --- the file --- */

static tm_status check_file(struct reading *r, const struct tm_value *root)
{
    const struct tm_gate nowhere = { 0 };
    const struct tm_value *schema = tm_get(root, "schema"),
                          *version = tm_get(root, "schema_version");

    for (size_t i = 0; i < tm_length(root); i++) {
        struct tm_nearest nearest = { 0 };

        if (is_one_of(tm_key_at(root, i), file_member, COUNT(file_member), &nearest))
            continue;
        const tm_status st = tm_gate_refuse(
            r->run, r->gates, &nowhere, "'%.60s' is no member of a gate file", tm_key_at(root, i));

        tm_hint(&r->run->error, nearest.word ? "did you mean '%s'?" : "the limits are below '%s'",
                nearest.word ? nearest.word : "gates");
        return st;
    }
    if (schema && strcmp(tm_text(schema), "tracemill.gates") != 0)
        return tm_gate_refuse(r->run, r->gates, &nowhere,
                              "its 'schema' is not \"tracemill.gates\"");
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
        return tm_gate_refuse(r->run, r->gates, &nowhere, "there is no gate in it");
    if (*rules > TM_GATES_MOST || tm_length(list) > TM_GATES_MOST)
        return tm_gate_refuse(r->run, r->gates, &nowhere, "there are more than 4,096 limits in it");
    return TM_OK;
}

static tm_status take_gates(struct reading *r, const struct tm_value *list)
{
    for (size_t i = 0; i < tm_length(list); i++) {
        const tm_status st = take_gate(r, i + 1, tm_at(list, i));

        if (st != TM_OK)
            return st;
    }
    return tm_doc_status(r->gates->doc);
}

/* Move what was read into gates with room for its rules. */
static tm_status make_room(struct reading *r, size_t rules)
{
    struct tm_gates *const roomy = tm_gates_new(r->run, rules);

    if (!roomy)
        return TM_ERR_LIMIT;
    roomy->doc = r->gates->doc;
    roomy->path = r->gates->path;
    r->gates->doc = NULL;
    tm_gates_free(r->gates);
    r->gates = roomy;
    return TM_OK;
}

static tm_status read_file(struct reading *r, const char *path)
{
    size_t rules = 0;

    if (!(r->gates = tm_gates_new(r->run, 0)) || !(r->gates->doc = tm_doc_new(r->run)))
        return TM_ERR_LIMIT;
    struct tm_value *const root = tm_doc_root(r->gates->doc), *file = tm_add_object(root, "file");

    tm_add_string(root, "path", path);
    r->gates->path = tm_text(tm_get(root, "path"));
    r->texts = tm_add_array(root, "texts");
    tm_status st = tm_doc_read_file(r->gates->doc, file, path);

    if (st == TM_ERR_INPUT) /* what was profiled is the input: this is how it is judged */
        st = r->run->error.status = TM_ERR_USAGE;
    if (st != TM_OK || (st = tm_doc_status(r->gates->doc)) != TM_OK ||
        (st = check_file(r, file)) != TM_OK ||
        (st = count_rules(r, tm_get(file, "gates"), &rules)) != TM_OK ||
        (st = make_room(r, rules)) != TM_OK)
        return st;
    return take_gates(r, tm_get(file, "gates"));
}

tm_status tm_gates_read(struct tm_run *run, struct tm_gates **gates, const char *path)
{
    struct reading r = { .run = run };
    const tm_status st = read_file(&r, path);

    if (st != TM_OK) {
        tm_gates_free(r.gates);
        r.gates = NULL;
    }
    *gates = r.gates;
    return st;
}
