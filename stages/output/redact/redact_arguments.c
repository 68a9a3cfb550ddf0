/* SPDX-License-Identifier: Apache-2.0 */
/* A list is taken apart and made again, with a stack of the objects and arrays that are open. */
#include "stages/output/redact/redact_arguments.h"

tm_status tm_redacted_name(struct tm_redacted_names *n, tm_strid name, tm_strid *redacted)
{
    const size_t place = name % TM_REDACTED_NAMES;
    const char *text;
    size_t length;
    tm_status st;

    *redacted = 0;
    if (!name)
        return TM_OK;
    if (n->known[place].name != name) {
        st = tm_names_text(n->names, name, TM_REDACT_TEXT_MOST, &text, &length);
        if (st == TM_OK)
            st = tm_redact(n->redactor, text, length, &text, &length);
        if (st == TM_OK)
            st = tm_names_put(n->names, text, length, &n->known[place].redacted);
        n->known[place].name = st == TM_OK ? name : 0;
        if (st != TM_OK)
            return st;
    }
    *redacted = n->known[place].redacted;
    return TM_OK;
}

/* What is open, from the list itself inward. */
struct open_list {
    struct tm_arguments rest;
    bool has_keys;
};

struct walk {
    struct tm_redacted_names *names;
    struct tm_arguments_builder *list;
    struct open_list open[TM_ARGUMENTS_DEEPEST + 1];
    size_t depth;
};

static tm_status put_text(struct walk *w, tm_strid key, const struct tm_argument *argument)
{
    const char *text;
    size_t length;
    const tm_status st = tm_redact(w->names->redactor, argument->text, argument->length, &text, &length);

    if (st != TM_OK)
        return st;
    if (tm_argument_is_value(argument))
        tm_put_text(w->list, key, text, length);
    else
        tm_put_event_text(w->list, (enum tm_argument_type)argument->type, text, length);
    return TM_OK;
}

static tm_status put_name(struct walk *w, tm_strid key, tm_strid name)
{
    tm_strid redacted;
    const tm_status st = tm_redacted_name(w->names, name, &redacted);

    if (st == TM_OK)
        tm_put_name(w->list, key, redacted);
    return st;
}

/* What lies deeper than any builder goes is left out. */
static void put_inside(struct walk *w, tm_strid key, const struct tm_argument *argument)
{
    const bool is_array = argument->type == TM_ARGUMENT_ARRAY;

    if (w->depth == TM_ARGUMENTS_DEEPEST) {
        tm_put_null(w->list, key);
        w->list->is_cut = true;
        return;
    }
    if (is_array)
        tm_put_array(w->list, key);
    else
        tm_put_object(w->list, key);
    w->open[++w->depth] = (struct open_list){ argument->inside, !is_array };
}

static tm_status put_value(struct walk *w, tm_strid key, const struct tm_argument *argument)
{
    switch (argument->type) {
    case TM_ARGUMENT_FALSE: case TM_ARGUMENT_TRUE:
        tm_put_bool(w->list, key, argument->type == TM_ARGUMENT_TRUE);
        return TM_OK;
    case TM_ARGUMENT_INT:
        tm_put_int(w->list, key, argument->number);
        return TM_OK;
    case TM_ARGUMENT_UINT:
        tm_put_uint(w->list, key, argument->value);
        return TM_OK;
    case TM_ARGUMENT_DOUBLE:
        tm_put_double(w->list, key, argument->real);
        return TM_OK;
    case TM_ARGUMENT_NUMBER:
        tm_put_number(w->list, key, argument->text, argument->length);
        return TM_OK;
    case TM_ARGUMENT_TEXT: case TM_ARGUMENT_CATEGORY: case TM_ARGUMENT_ID:
        return put_text(w, key, argument);
    case TM_ARGUMENT_NAME:
        return put_name(w, key, (tm_strid)argument->value);
    case TM_ARGUMENT_OBJECT: case TM_ARGUMENT_ARRAY:
        put_inside(w, key, argument);
        return TM_OK;
    case TM_ARGUMENT_PLACE:
        tm_put_place(w->list, (uint32_t)argument->value);
        return TM_OK;
    case TM_ARGUMENT_ENCLOSED:
        tm_put_enclosed(w->list);
        return TM_OK;
    default:
        tm_put_null(w->list, key);
        return TM_OK;
    }
}

/* The next node of what is innermost; at its end it closes. */
static tm_status step(struct walk *w, bool *is_done)
{
    struct open_list *const open = &w->open[w->depth];
    struct tm_argument argument;
    tm_strid key;
    tm_status st;

    if (!tm_arguments_next(&open->rest, open->has_keys, &argument)) {
        *is_done = w->depth == 0;
        if (w->depth) {
            tm_put_close(w->list);
            w->depth--;
        }
        return TM_OK;
    }
    st = tm_redacted_name(w->names, argument.key, &key);
    return st == TM_OK ? put_value(w, key, &argument) : st;
}

tm_status tm_redact_arguments(struct tm_redacted_arguments *room, struct tm_redacted_names *names,
                              struct tm_arguments list, struct tm_arguments *out)
{
    struct walk w = { .names = names, .list = &room->list, .open = { { list, true } } };
    bool is_done = false;
    tm_status st = TM_OK;

    *out = list;
    room->list.is_cut = false;
    if (!list.length)
        return TM_OK;
    tm_arguments_begin(&room->list, names->names, room->bytes, sizeof(room->bytes));
    while (!is_done && st == TM_OK)
        st = step(&w, &is_done);
    *out = tm_arguments_end(&room->list);
    return st == TM_OK ? room->list.status : st;
}
