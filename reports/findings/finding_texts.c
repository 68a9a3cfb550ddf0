/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the texts of a finding, decides which of them match a run, and fills in its sentences.  The table is
 * constant data. */
#include "reports/findings/findings.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/findings/summary_query.h"
#include "reports/format/format.h"

/* --- which runs a text applies to --- */

enum {
    PLATFORMS = TM_FOR_GPU | TM_FOR_TPU | TM_FOR_CPU,
    FRAMEWORKS = TM_FOR_JAX | TM_FOR_TORCH | TM_FOR_TENSORFLOW | TM_FOR_OTHER,
    PURPOSES = TM_FOR_TRAIN | TM_FOR_INFER,
};

static const struct {
    const char *word;
    size_t length;
    unsigned bit;
} words[] = {
    { "gpu", 3, TM_FOR_GPU },     { "tpu", 3, TM_FOR_TPU },     { "jax", 3, TM_FOR_JAX },
    { "torch", 5, TM_FOR_TORCH }, { "other", 5, TM_FOR_OTHER }, { "train", 5, TM_FOR_TRAIN },
    { "infer", 5, TM_FOR_INFER }, { "cpu", 3, TM_FOR_CPU },     { "tensorflow", 10, TM_FOR_TENSORFLOW },
};

static unsigned bit_of(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].length == length && memcmp(words[i].word, word, length) == 0)
            return words[i].bit;
    }
    return 0;
}

/* Every host is known to compute no gradients. */
static bool is_inference(const struct tm_value *summary)
{
    const struct tm_value *hosts = tm_path(summary, "environment.hosts");

    for (size_t i = 0; i < tm_length(hosts); i++) {
        const struct tm_value *backward = tm_get(tm_at(hosts, i), "backward");

        if (!tm_has(backward) || tm_is(backward))
            return false;
    }
    return tm_length(hosts) > 0;
}

unsigned tm_audience_of(const struct tm_value *summary)
{
    const char *platform = tm_query_platform(summary), *framework = tm_query_framework(summary);
    const unsigned set =
        (bit_of(platform, strlen(platform)) & PLATFORMS) | (is_inference(summary) ? TM_FOR_INFER : TM_FOR_TRAIN);

    if (strcmp(framework, "jax") == 0)
        return set | TM_FOR_JAX;
    if (strcmp(framework, "tensorflow") == 0)
        return set | TM_FOR_TENSORFLOW;
    return set | (strcmp(framework, "pytorch") == 0 ? TM_FOR_TORCH : TM_FOR_OTHER);
}

/* The run has to match one of the platforms, one of the frameworks and one of the purposes, where any are named. */
static bool is_for(unsigned named, unsigned audience)
{
    static const unsigned sorts[] = { PLATFORMS, FRAMEWORKS, PURPOSES };

    for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++)
        if (named & sorts[i] && !(named & sorts[i] & audience))
            return false;
    return true;
}

const char *tm_text_for(unsigned audience, const char *text)
{
    const char *at = text;
    unsigned named = 0;

    for (;;) {
        const size_t length = strcspn(at, ",|");
        const unsigned bit = bit_of(at, length);

        if (!bit || !at[length])
            return text; /* no list of runs: the text itself has started */
        named |= bit;
        at += length + 1;
        if (at[-1] == '|')
            break;
    }
    return is_for(named, audience) ? at : NULL;
}

/* --- the table --- */

static bool fits(const struct tm_condition *condition, struct tm_situation situation)
{
    for (size_t i = 0; i < sizeof(condition->cases) / sizeof(condition->cases[0]); i++)
        if (condition->cases[i] && !(condition->cases[i] & situation.cases))
            return false;
    return is_for(condition->audience, situation.audience);
}

static int compare_id(const void *id, const void *row)
{
    return strcmp(id, ((const struct tm_finding_row *)row)->id);
}

const struct tm_finding_row *tm_finding_row(const char *id)
{
    return bsearch(id, tm_finding_rows, tm_finding_row_count, sizeof(tm_finding_rows[0]), compare_id);
}

bool tm_finding_explains(const char *id, const char *kpi, unsigned audience, const char *top_category)
{
    const struct tm_finding_row *row = tm_finding_row(id);

    for (const struct tm_finding_kpi *k = row ? row->kpis : NULL; k && k->id; k++)
        if (strcmp(k->id, kpi) == 0 && is_for(k->audience, audience) && (!k->of || strcmp(k->of, top_category) == 0))
            return true;
    return false;
}

uint32_t tm_finding_case_bit(const struct tm_finding_row *row, const char *name)
{
    for (uint32_t i = 0; row->cases[i]; i++)
        if (strcmp(row->cases[i], name) == 0)
            return (uint32_t)1 << i;
    assert(!"a case that is missing in schemas/findings.json");
    return 0;
}

static const struct tm_sentence_part *parts_of(const struct tm_sentence *list, const char *name)
{
    for (; list->name; list++)
        if (strcmp(list->name, name) == 0)
            return list->parts;
    return NULL;
}

const struct tm_sentence_part *tm_finding_sentence(const struct tm_finding_row *row, const char *name)
{
    static const struct tm_sentence_part none = { TM_SENTENCE_END, NULL };
    const struct tm_sentence_part *own = parts_of(row->evidence, name);
    const struct tm_sentence_part *parts = own ? own : parts_of(tm_shared_evidence, name);

    assert(parts);
    return parts ? parts : &none;
}

bool tm_finding_has_argument(const struct tm_finding_row *row, const char *name)
{
    for (size_t i = 0; row->arguments[i]; i++)
        if (strcmp(row->arguments[i], name) == 0)
            return true;
    return false;
}

enum tm_severity tm_finding_severity_for(const struct tm_finding_row *row, struct tm_situation situation)
{
    for (size_t i = 0; i < row->variant_count; i++)
        if (row->variants[i].severity && fits(&row->variants[i].condition, situation))
            return row->variants[i].severity;
    return TM_SEVERITY_BY_SHARE;
}

const char *tm_finding_title_for(const struct tm_finding_row *row, struct tm_situation situation)
{
    size_t i = 0;

    while (!row->variants[i].title || !fits(&row->variants[i].condition, situation))
        i++;
    return row->variants[i].title;
}

const char *tm_finding_cause_for(const struct tm_finding_row *row, struct tm_situation situation)
{
    size_t i = 0;

    while (!row->variants[i].causes || !fits(&row->variants[i].condition, situation))
        i++;
    for (const struct tm_finding_text *cause = row->variants[i].causes; cause->text; cause++)
        if (fits(&cause->condition, situation))
            return cause->text;
    return "";
}

static const struct tm_finding_text *advice_for(const struct tm_finding_row *row, struct tm_situation situation)
{
    size_t i = 0;

    while (!row->variants[i].advice || !fits(&row->variants[i].condition, situation))
        i++;
    return row->variants[i].advice;
}

const char *tm_finding_next_advice(const struct tm_finding_row *row, struct tm_situation situation,
                                   const struct tm_finding_text **next)
{
    for (const struct tm_finding_text *at = *next ? *next : advice_for(row, situation); at->text; at++) {
        if (!fits(&at->condition, situation))
            continue;
        *next = at + 1;
        return at->text;
    }
    return NULL;
}

/* --- sentences --- */

struct sentence {
    char *out;
    size_t out_bytes;
    const struct tm_value *summary, *row;
    const struct tm_given *given;
};

/* A value, wherever it was found. */
struct found {
    bool is_there;
    int64_t whole;
    double real;
    const char *text;
};

static bool is_value(const struct tm_sentence_part *part)
{
    return part->kind >= TM_SENTENCE_TIME;
}

static struct found find(const struct sentence *s, const char *name)
{
    const struct tm_value *v;

    for (const struct tm_given *g = s->given; g && g->name; g++)
        if (strcmp(g->name, name) == 0)
            return (struct found){ !g->text || *g->text, g->whole, g->real, g->text ? g->text : "" };
    v = tm_path(s->row, name);
    v = v ? v : tm_path(s->summary, name);
    return (struct found){ tm_has(v) && (tm_type_of(v) != TM_STRING || *tm_text(v)), tm_int(v), tm_double(v),
                           tm_text(v) };
}

static void put(const struct sentence *s, const char *text)
{
    tm_format_append(s->out, s->out_bytes, "%s", text);
}

static void put_value(const struct sentence *s, const struct tm_sentence_part *part)
{
    const struct found v = part->kind == TM_SENTENCE_IS ? (struct found){ .text = "" } : find(s, part->text);
    char out[TM_SHORT_NAME_BYTES];

    switch (part->kind) {
    case TM_SENTENCE_TIME:
        put(s, tm_format_time(out, v.whole));
        break;
    case TM_SENTENCE_MOMENT:
        put(s, tm_format_moment(out, v.whole));
        break;
    case TM_SENTENCE_COUNT:
        put(s, tm_format_count(out, v.whole));
        break;
    case TM_SENTENCE_BYTES:
        put(s, tm_format_bytes(out, v.real));
        break;
    case TM_SENTENCE_PERCENT:
        put(s, tm_format_pct(out, v.real));
        break;
    case TM_SENTENCE_RATE:
        put(s, tm_format_rate(out, v.real));
        break;
    case TM_SENTENCE_FLOP_RATE:
        put(s, tm_format_flop_rate(out, v.real));
        break;
    case TM_SENTENCE_NUMBER:
        put(s, tm_format_number(out, v.real));
        break;
    case TM_SENTENCE_INTEGER:
        tm_format_append(s->out, s->out_bytes, "%lld", (long long)v.whole);
        break;
    case TM_SENTENCE_WHOLE:
        tm_format_append(s->out, s->out_bytes, "%.0f", v.real);
        break;
    case TM_SENTENCE_TENTHS:
        tm_format_append(s->out, s->out_bytes, "%.1f", v.real);
        break;
    case TM_SENTENCE_HUNDREDTHS:
        tm_format_append(s->out, s->out_bytes, "%.2f", v.real);
        break;
    case TM_SENTENCE_PLURAL:
        put(s, tm_format_plural((uint64_t)v.whole));
        break;
    case TM_SENTENCE_NAME:
        put(s, tm_short_name(out, v.text));
        break;
    case TM_SENTENCE_DEVICE:
        put(s, tm_short_name(out, tm_shown_device(s->summary, v.text)));
        break;
    default:
        put(s, v.text);
    }
}

/* "limiter=grid" */
static bool is_equal(const struct sentence *s, const char *text)
{
    const char *equals = strchr(text, '=');
    char name[64];

    (void)snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
    return strcmp(find(s, name).text, equals + 1) == 0;
}

static bool is_there(const struct sentence *s, const struct tm_sentence_part *part)
{
    return part->kind == TM_SENTENCE_IS ? is_equal(s, part->text) : find(s, part->text).is_there;
}

/* Are all values present, up to the next mark? */
static bool is_complete(const struct sentence *s, const struct tm_sentence_part *part)
{
    for (; part->kind == TM_SENTENCE_PLAIN || is_value(part); part++)
        if (is_value(part) && !is_there(s, part))
            return false;
    return true;
}

static const struct tm_sentence_part *next_mark(const struct tm_sentence_part *part)
{
    while (part->kind == TM_SENTENCE_PLAIN || is_value(part))
        part++;
    return part;
}

void tm_sentence_fill(char *out, size_t out_bytes, const struct tm_sentence_part *parts, const struct tm_value *summary,
                      const struct tm_value *row, const struct tm_given *given)
{
    const struct sentence s = { .out = out, .out_bytes = out_bytes, .summary = summary, .row = row, .given = given };

    *out = '\0';
    for (const struct tm_sentence_part *part = parts; part->kind != TM_SENTENCE_END; part++) {
        if (part->kind == TM_SENTENCE_OPEN && !is_complete(&s, part + 1))
            part = next_mark(part + 1);          /* ELSE: continue after it; CLOSE: the end of the optional part */
        else if (part->kind == TM_SENTENCE_ELSE) /* the first choice was written */
            part = next_mark(part + 1);
        else if (part->kind == TM_SENTENCE_PLAIN)
            put(&s, part->text);
        else if (is_value(part))
            put_value(&s, part);
    }
}
