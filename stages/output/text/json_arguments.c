/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of an event as members of an object.  Objects and arrays inside are walked with a stack of
 * TM_ARGUMENTS_DEEPEST lists; what lies deeper, which no builder makes, is written as null. */
#include <stdio.h>

#include "stages/output/text/json_values.h"
#include "stages/output/out_marks.h"

/* An object or an array that is open. */
struct open_list {
    struct tm_arguments rest;
    uint32_t object;  /* its number in the event; the top is 0 */
    bool is_array;
    uint32_t members;
};

struct walk {
    struct tm_json_text *json;
    const char *head; /* before the first member of the top */
    enum tm_args_level level;
    uint32_t objects; /* that have been opened */
    size_t depth;     /* lists that are open beside the top */
    struct open_list open[TM_ARGUMENTS_DEEPEST + 1];
};

/* --- numbers --- */

/* Digits of a whole number past INT64_MAX as a text. */
static void put_uint(struct tm_json_text *json, uint64_t value)
{
    const bool is_text = value > INT64_MAX;

    if (is_text)
        tm_sink_put(&json->sink, json->quote, json->quote_bytes);
    tm_sink_uint(&json->sink, value);
    if (is_text)
        tm_sink_put(&json->sink, json->quote, json->quote_bytes);
}

static void put_number(struct tm_json_text *json, const char *text, size_t length)
{
    if (!tm_json_decimal(json, text, length))
        tm_json_string(json, text, length);
}

/* --- members --- */

/* in: length  of the text without quotes, which is given where `ready` is NULL */
static void put_numbered(struct tm_json_text *json, const struct tm_json_ready *ready, const char *text, size_t length,
                         uint64_t number)
{
    char after[32];
    const int n = snprintf(after, sizeof(after), " (%llu)", (unsigned long long)number);

    if (ready) {
        tm_sink_put(&json->sink, ready->quoted, ready->length - json->quote_bytes);
    } else {
        tm_sink_put(&json->sink, json->quote, json->quote_bytes);
        tm_json_escaped(json, text, length);
    }
    tm_sink_put(&json->sink, after, (size_t)n);
    tm_sink_put(&json->sink, json->quote, json->quote_bytes);
}

/* What comes before a member or an element. */
static void put_comma(struct walk *w)
{
    struct open_list *const list = &w->open[w->depth];

    if (list->members)
        tm_sink_put(&w->json->sink, ",", 1);
    else if (w->depth == 0)
        tm_sink_text(&w->json->sink, w->head);
    list->members++;
}

/* A key, quoted, and the colon.
 * in:     ready  NULL: a text of length bytes, and its hash */
static void put_key(struct walk *w, const struct tm_json_ready *ready, uint64_t hash, const char *text, size_t length)
{
    struct tm_json_text *const json = w->json;
    const uint64_t number = tm_json_keys_take(&json->keys, hash, w->open[w->depth].object);

    put_comma(w);
    if (ready && !number)
        tm_sink_put(&json->sink, ready->quoted, ready->length);
    else if (number)
        put_numbered(json, ready, text, length, number);
    else
        tm_json_string(json, text, length);
    tm_sink_put(&json->sink, ":", 1);
}

/* The key of an argument.
 * out:    false: the argument is not wanted, or the names failed */
static bool take_key(struct walk *w, tm_strid key)
{
    const char *text;
    size_t length = 0;
    const struct tm_json_ready *ready = tm_json_look_up(w->json, key, &text, &length);

    if (!ready && !text)
        return false;
    if (w->depth == 0 && w->level == TM_ARGS_ESSENTIAL &&
        !(ready ? ready->is_essential : tm_is_essential_argument(text, length)))
        return false;
    put_key(w, ready, ready ? ready->hash : tm_json_key_hash(text, length), text, length);
    return true;
}

static void put_list(struct walk *w, const struct tm_argument *argument)
{
    const bool is_array = argument->type == TM_ARGUMENT_ARRAY;

    if (w->depth == TM_ARGUMENTS_DEEPEST) {
        tm_sink_text(&w->json->sink, "null");
        return;
    }
    tm_sink_put(&w->json->sink, is_array ? "[" : "{", 1);
    w->open[++w->depth] =
        (struct open_list){ .rest = argument->inside, .object = ++w->objects, .is_array = is_array };
}

static void put_value(struct walk *w, const struct tm_argument *argument)
{
    struct tm_json_text *const json = w->json;

    switch (argument->type) {
    case TM_ARGUMENT_FALSE:
        tm_sink_text(&json->sink, "false");
        break;
    case TM_ARGUMENT_TRUE:
        tm_sink_text(&json->sink, "true");
        break;
    case TM_ARGUMENT_INT:
        tm_sink_int(&json->sink, argument->number);
        break;
    case TM_ARGUMENT_UINT:
        put_uint(json, argument->value);
        break;
    case TM_ARGUMENT_DOUBLE:
        tm_json_double(json, argument->real);
        break;
    case TM_ARGUMENT_NUMBER:
        put_number(json, argument->text, argument->length);
        break;
    case TM_ARGUMENT_TEXT:
        tm_json_string(json, argument->text, argument->length);
        break;
    case TM_ARGUMENT_NAME:
        tm_json_name(json, (tm_strid)argument->value);
        break;
    case TM_ARGUMENT_OBJECT: case TM_ARGUMENT_ARRAY:
        put_list(w, argument);
        break;
    default:
        tm_sink_text(&json->sink, "null");
    }
}

/* The members of a list of the top, and all that lies in them. */
static void put_members(struct walk *w, struct tm_arguments list)
{
    struct tm_argument argument;

    w->open[0].rest = list;
    for (;;) {
        struct open_list *const open = &w->open[w->depth];

        if (!tm_arguments_next(&open->rest, !open->is_array, &argument)) {
            if (w->depth == 0)
                return;
            tm_sink_put(&w->json->sink, open->is_array ? "]" : "}", 1);
            w->depth--;
            continue;
        }
        if (!tm_argument_is_value(&argument))
            continue;
        if (open->is_array)
            put_comma(w);
        else if (!take_key(w, argument.key))
            continue;
        put_value(w, &argument);
    }
}

/* --- marks --- */

static void put_mark_key(struct walk *w, const char *key)
{
    put_key(w, NULL, tm_json_key_hash(key, strlen(key)), key, strlen(key));
}

static void put_marks(struct walk *w, const struct tm_out_event *event)
{
    if (event->marks & TM_OUT_CUTS) {
        const char *const where = tm_out_cut_text(event->marks);

        put_mark_key(w, TM_OUT_KEY_CUT);
        tm_json_string(w->json, where, strlen(where));
        put_mark_key(w, TM_OUT_KEY_BEGIN);
        tm_sink_int(&w->json->sink, tm_out_ns(event->whole_begin_ps));
        put_mark_key(w, TM_OUT_KEY_DURATION);
        tm_sink_int(&w->json->sink, tm_out_ns(event->whole_end_ps) - tm_out_ns(event->whole_begin_ps));
    }
    if (event->marks & TM_OUT_UNFINISHED) {
        put_mark_key(w, TM_OUT_KEY_UNFINISHED);
        tm_sink_text(&w->json->sink, "true");
    }
}

bool tm_json_arguments(struct tm_json_text *json, const struct tm_out_event *event, enum tm_args_level level,
                       const char *head)
{
    struct walk w;

    w.json = json;
    w.head = head;
    w.level = event->marks & TM_OUT_DERIVED ? TM_ARGS_ALL : level;
    w.objects = 0;
    w.depth = 0;
    w.open[0] = (struct open_list){ .object = 0 };
    tm_json_keys_begin(&json->keys);
    put_marks(&w, event);
    if (w.level != TM_ARGS_NONE) {
        put_members(&w, event->own);
        put_members(&w, event->common);
    }
    json->arguments += w.open[0].members;
    return w.open[0].members > 0;
}
