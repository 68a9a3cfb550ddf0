/* SPDX-License-Identifier: Apache-2.0 */
/* The causes of a change: found by the rules, put into order, written as findings. */
#include "reports/compare/causes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "reports/format/format.h"

static const double least_tested_pct = 0.5, least_untested_pct = 1; /* of the base's step */
static const double least_of_change_pct = 2;                        /* of its change */

static cause_rule *const rules[] = {
    find_slow_device,  find_uniform_change, find_recompiles,   find_transfers,     find_collectives,
    find_lost_overlap, find_op_changes,     find_idle_changes, find_changed_parts, find_facts,
};

struct cause *cause_begin(struct causes *k, const char *id, double change_ps)
{
    struct cause *cause = &k->list[k->count < CAUSES_MOST ? k->count : CAUSES_MOST];

    *cause = (struct cause){ .id = id, .change_ps = change_ps, .value = NAN, .number = k->count };
    if (k->count < CAUSES_MOST)
        k->count++;
    return cause;
}

struct cause *cause_of_fact(struct causes *k, const char *id)
{
    struct cause *cause = cause_begin(k, id, 0);

    cause->is_fact = true;
    return cause;
}

static void TM_PRINTF(3, 0)
    print_visible(char *out, size_t out_bytes, const char *format, va_list values)
{
    char text[2 * CAUSE_EVIDENCE_BYTES];

    (void)vsnprintf(text, sizeof(text), format, values);
    tm_format_text(out, out_bytes, text);
}

const char *cause_side(const struct comparison *c, size_t side, char out[TM_FORMAT_BYTES])
{
    enum { LABEL_CHARS = 24 };
    char label[4 * TM_FORMAT_BYTES], cut[TM_FORMAT_BYTES - 2];

    *out = 0;
    if (c->sides == 2)
        return out;
    tm_format_text(label, sizeof(label), c->side[side].label);
    (void)tm_format_middle(cut, sizeof(cut), label, LABEL_CHARS);
    (void)snprintf(out, TM_FORMAT_BYTES, "%s: ", cut);
    return out;
}

void cause_title(struct cause *cause, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print_visible(cause->title, sizeof(cause->title), format, values);
    va_end(values);
}

void cause_say(struct cause *cause, const char *format, ...)
{
    va_list values;

    if (cause->evidence_count == CAUSE_EVIDENCE_MOST)
        return;
    va_start(values, format);
    print_visible(cause->evidence[cause->evidence_count++], CAUSE_EVIDENCE_BYTES, format, values);
    va_end(values);
}

bool part_has_changed(const struct causes *k, enum tm_part part)
{
    const double change_ps = (double)(k->w->new_part_ps[part] - k->w->base_part_ps[part]);

    if (k->w->test[part].is_tested)
        return k->w->test[part].is_significant;
    return fabs(change_ps) * 100 >= least_untested_pct * k->step_ps;
}

bool is_worth_a_cause(const struct causes *k, double change_ps)
{
    const double whole_ps = fabs((double)(k->w->new_ps - k->w->base_ps));

    if (fabs(change_ps) * 100 < least_of_change_pct * whole_ps)
        return false;
    return fabs(change_ps) * 100 >=
           (k->is_tested ? least_tested_pct : least_untested_pct) * k->step_ps;
}

double take_from_part(struct causes *k, enum tm_part part, double change_ps)
{
    double taken = change_ps;

    if (change_ps * k->left_ps[part] <= 0)
        return 0;
    if (fabs(taken) > fabs(k->left_ps[part]))
        taken = k->left_ps[part];
    k->left_ps[part] -= taken;
    return taken;
}

char *signed_time(char out[SIGNED_TIME_BYTES], double ps)
{
    char text[TM_FORMAT_BYTES];

    (void)snprintf(out, SIGNED_TIME_BYTES, "%s%s", ps < 0 ? "-" : "+",
                   tm_format_time(text, tm_whole(round(fabs(ps)))));
    return out;
}

char *longer_by(char out[SIGNED_TIME_BYTES], double base, double value)
{
    const double pct = change_pct(base, value);
    char text[TM_FORMAT_BYTES];

    if (pct >= 200)
        (void)snprintf(out, SIGNED_TIME_BYTES, "%s times as long",
                       tm_format_number(text, value / base));
    else
        (void)snprintf(out, SIGNED_TIME_BYTES, "%s %s", tm_format_pct(text, fabs(pct)),
                       pct < 0 ? "less" : "longer");
    return out;
}

/* --- the document --- */

static int by_change(const void *a, const void *b)
{
    const struct cause *x = a, *y = b;
    const double dx = fabs(x->change_ps), dy = fabs(y->change_ps);

    if (x->is_rest != y->is_rest)
        return x->is_rest ? 1 : -1;
    if (dx != dy)
        return dx > dy ? -1 : 1;
    return x->number - y->number;
}

static const char *severity_of(const struct causes *k, const struct cause *cause)
{
    const double pct = 100 * cause->change_ps / k->step_ps;

    if (cause->is_fact)
        return cause->is_warning ? "warning" : "info";
    if (pct < 0)
        return "good";
    return pct >= 10 ? "critical" : pct >= 3 ? "warning" : "info";
}

static void add_explained(const struct causes *k, struct tm_value *to, const struct cause *cause)
{
    const double change_ps = (double)(k->w->new_ps - k->w->base_ps);

    if (cause->is_fact)
        tm_add_null(to, "explains_pct", "it has no time of its own");
    else if (fabs(change_ps) * 100 < STEP_LEAST_PCT * k->step_ps)
        tm_add_null(to, "explains_pct", "the step has hardly changed");
    else
        tm_add_double(to, "explains_pct", 100 * cause->change_ps / change_ps);
}

/* Of several sides a cause tells whose it is: "vjp: ...". */
static void add_title(const struct causes *k, struct tm_value *to, const struct cause *cause)
{
    char side[TM_FORMAT_BYTES], title[TM_FORMAT_BYTES + CAUSE_TITLE_BYTES + 2];

    cause_side(k->c, k->side, side);
    (void)snprintf(title, sizeof(title), "%s%s", side, cause->title);
    tm_add_text(to, "title", title, strlen(title));
}

static void add_cause(const struct causes *k, struct tm_value *findings, const struct cause *cause)
{
    struct tm_value *to = tm_add_object(findings, NULL), *list;
    char id[SIDE_ID_BYTES], reason[128];

    tm_add_string(to, "id", cause->id);
    tm_add_string(to, "severity", severity_of(k, cause));
    add_title(k, to, cause);
    tm_add_figure(to, "value", cause->value, "no single figure shows it");
    tm_add_string(to, "unit", cause->unit ? cause->unit : "");
    tm_add_null(to, "limit", "a comparison has no limits");
    list = tm_add_array(to, "evidence");
    for (int i = 0; i < cause->evidence_count; i++)
        tm_add_string(list, NULL, cause->evidence[i]);
    if (!k->is_tested && !cause->is_fact)
        tm_add_string(list, NULL, no_test_reason(k->c, k->side, reason, sizeof(reason)));
    tm_add_ps(to, "at_stake_ps", fmax(0, cause->change_ps), NULL);
    tm_add_figure(to, "share_pct",
                  cause->is_fact || !(k->step_ps > 0) ? NAN : 100 * cause->change_ps / k->step_ps,
                  "it has no time of its own");
    tm_add_string(to, "cause", cause->why ? cause->why : "");
    list = tm_add_array(to, "fix");
    for (size_t i = 0; cause->fixes && cause->fixes[i] && cause->change_ps >= 0; i++)
        tm_add_string(list, NULL, cause->fixes[i]);
    (void)tm_add_array(to, "where");
    tm_add_string(to, "side", side_id(k->c, k->side, id));
    tm_add_ps(to, "change_ps", cause->is_fact ? NAN : cause->change_ps, "it has no time of its own");
    tm_add_bool(to, "tested", k->is_tested);
    add_explained(k, to, cause);
}

tm_status add_causes(struct comparison *c)
{
    struct tm_value *findings = tm_add_array(c->root, "findings");
    struct cause *list = tm_room_take(&c->room, CAUSES_MOST + 1, sizeof(*list));

    if (!list)
        return c->run->error.status;
    for (size_t side = 1; side < c->sides; side++) {
        struct causes k = { .c = c, .side = side, .w = &c->waterfall[side], .list = list };

        k.is_tested = basis_of(c, side) != TEST_NONE;
        k.step_ps = (double)k.w->base_ps;
        for (int i = 0; i < TM_PARTS; i++)
            k.left_ps[i] = (double)(k.w->new_part_ps[i] - k.w->base_part_ps[i]);
        for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
            const tm_status st = k.w->is_known || rules[i] == find_facts ? rules[i](&k) : TM_OK;

            if (st != TM_OK)
                return st;
        }
        qsort(list, (size_t)k.count, sizeof(*list), by_change);
        for (int i = 0; i < k.count; i++)
            add_cause(&k, findings, &list[i]);
    }
    return TM_OK;
}
