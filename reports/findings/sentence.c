/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/findings/sentence.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "reports/findings/query.h"
#include "reports/format/format.h"

struct sentence {
    char *out;
    size_t out_bytes;
    const struct tm_value *summary, *row;
    const struct tm_given *given;
};

/* A value from wherever it was found. */
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

/* Are all values there, up to the next mark? */
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
            part = next_mark(part + 1);          /* ELSE: go on behind it; CLOSE: the end of the optional part */
        else if (part->kind == TM_SENTENCE_ELSE) /* the first choice was written */
            part = next_mark(part + 1);
        else if (part->kind == TM_SENTENCE_PLAIN)
            put(&s, part->text);
        else if (is_value(part))
            put_value(&s, part);
    }
}
