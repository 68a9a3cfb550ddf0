/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of a filter to a term of it.  Each kind has a row: its word, what it takes, how that is read.  Nothing
 * is copied: patterns and names stay where the text lies. */
#include "pipeline/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pipeline/error.h"
#include "pipeline/record.h"
#include "pipeline/strings.h"

/* A term on its way from text to numbers. */
struct reading {
    const char *text, *origin; /* all of it, for messages */
    const char *value;         /* behind the word */
    struct tm_filter_term *term;
    struct tm_error *error;
};

static tm_status refuse(const struct reading *r, const char *reason, const char *hint)
{
    (void)tm_fail(r->error, TM_ERR_USAGE, -1, "cannot use '%s' for %s: %s", r->text, r->origin, reason);
    if (hint)
        tm_hint(r->error, "%s", hint);
    return TM_ERR_USAGE;
}

static tm_status read_period(const struct reading *r)
{
    static const char hint[] = "a time is BEGIN:END after the first event, as in time=1.5s:2s, time=1.5s: or time=:2s";
    const char *const colon = strchr(r->value, ':');
    struct tm_filter_term *const term = r->term;
    struct tm_wrong wrong;

    term->begin = 0;
    term->end = INT64_MAX;
    if (!colon || !r->value[1])
        return refuse(r, "it is no stretch of time", hint);
    if (colon > r->value && !tm_read_time(r->value, (size_t)(colon - r->value), &term->begin, &wrong))
        return refuse(r, wrong.reason, wrong.hint ? wrong.hint : hint);
    if (colon[1] && !tm_read_time(colon + 1, strlen(colon + 1), &term->end, &wrong))
        return refuse(r, wrong.reason, wrong.hint ? wrong.hint : hint);
    return term->begin < term->end ? TM_OK : refuse(r, "no time lies between its ends", NULL);
}

static tm_status read_least(const struct reading *r)
{
    struct tm_wrong wrong;

    if (!tm_read_time(r->value, strlen(r->value), &r->term->begin, &wrong))
        return refuse(r, wrong.reason, wrong.hint ? wrong.hint : "write it as in min=10us");
    return TM_OK;
}

static tm_status read_steps(const struct reading *r)
{
    static const char hint[] =
        "steps are counted from 0: step=3:7 is 3, 4, 5 and 6, step=3 that one, step=3: all from it on";
    const char *at = r->value;
    uint64_t begin, end;

    if (tm_take_digits(&at, &begin) && !at[0])
        end = begin + (begin < INT64_MAX);
    else if (!tm_read_range(r->value, &begin, &end))
        return refuse(r, "it is neither a step nor a range of steps", hint);
    if (begin >= end || begin > INT64_MAX)
        return refuse(r, "no step lies between its ends", NULL);
    r->term->begin = (int64_t)begin;
    r->term->end = end > INT64_MAX ? INT64_MAX : (int64_t)end;
    return TM_OK;
}

/* Whether it is KIND or KIND:N; "host" bears no number. */
static bool is_device(const char *text)
{
    static const char *const kinds[] = { "gpu", "tpu", "cpu" };
    const size_t length = strcspn(text, ":");
    const char *number = text + length + 1;
    uint64_t ordinal;

    if (strcmp(text, "host") == 0)
        return true;
    if (text[length] && (!tm_take_digits(&number, &ordinal) || number[0]))
        return false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strlen(kinds[i]) == length && memcmp(text, kinds[i], length) == 0)
            return true;
    }
    return false;
}

static tm_status read_device(const struct reading *r)
{
    const char *const slash = strrchr(r->value, '/');

    if (slash == r->value || !is_device(slash ? slash + 1 : r->value))
        return refuse(r, "it names no device",
                      "write device=gpu:0, device=HOST/gpu:0, device=gpu for all of them, or device=host for what lies"
                      " on none");
    r->term->text = r->value;
    return TM_OK;
}

static tm_status read_pattern(const struct reading *r)
{
    const char *const wrong = tm_glob_wrong(r->value);

    if (wrong)
        return refuse(r, wrong, "patterns are as in a shell: * any text, ? one character, [a-z] one of these");
    r->term->text = r->value;
    return TM_OK;
}

static tm_status read_class(const struct reading *r)
{
    struct tm_nearest nearest = { 0 };

    for (int class = TM_CLASS_UNRESOLVED + 1; class < TM_CLASS_COUNT; class ++) {
        if (strcmp(r->value, tm_class_name[class]) == 0) {
            r->term->begin = class;
            r->term->text = r->value;
            return TM_OK;
        }
        tm_nearest_offer(&nearest, r->value, tm_class_name[class]);
    }
    (void)refuse(r, "there is no such class", NULL);
    if (nearest.word)
        tm_hint(r->error, "did you mean 'class=%s'?", nearest.word);
    else
        tm_hint(r->error, "the classes are kernel, collective, copy, python and others: docs/classes.md");
    return TM_ERR_USAGE;
}

static const struct {
    const char *word; /* with what stands before the value */
    tm_status (*read)(const struct reading *r);
    enum tm_filter_kind kind;
} kinds[] = {
    { "time=", read_period, TM_FILTER_TIME },       { "device=", read_device, TM_FILTER_DEVICE },
    { "step=", read_steps, TM_FILTER_STEP },        { "name=", read_pattern, TM_FILTER_NAME },
    { "name!=", read_pattern, TM_FILTER_NOT_NAME }, { "min=", read_least, TM_FILTER_MIN },
    { "class=", read_class, TM_FILTER_CLASS },      { "track=", read_pattern, TM_FILTER_TRACK },
};

tm_status tm_filter_read(struct tm_filter *filter, const char *text, const char *origin, struct tm_error *error)
{
    struct reading r = { .text = text, .origin = origin, .error = error };

    if (filter->count == TM_FILTER_TERMS)
        return tm_fail(error, TM_ERR_USAGE, -1, "cannot use '%s' for %s: there are more than %d filters", text, origin,
                       TM_FILTER_TERMS);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const size_t length = strlen(kinds[i].word);
        tm_status st;

        if (strncmp(text, kinds[i].word, length) != 0)
            continue;
        r.value = text + length;
        r.term = &filter->terms[filter->count];
        *r.term = (struct tm_filter_term){ .kind = (uint8_t)kinds[i].kind };
        st = kinds[i].read(&r);
        filter->count += st == TM_OK;
        return st;
    }
    return refuse(&r, "it is no filter",
                  "a filter is time=, device=, step=, name=, name!=, min=, class= or track=, and a value,"
                  " as in name='fusion*'");
}
