/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the text, which is known to be JSON: nothing is checked but its end.  Only the builder knows what is
 * open; a string is a key if a colon follows.  Text that is the same as in the previous event of that name is not
 * walked again.  The keys seen recently are found in a table by their bytes, since asking the names for each one would
 * be most of the work. */
#include "stages/input/chrome/chrome_maker.h"

#include <inttypes.h>
#include <stdio.h>

#include "stages/input/chrome/chrome_reader.h"
#include "stages/input/chrome/json_text.h"
#include "stages/input/records/facts.h"

enum {
    MET_LEAST = 32, /* bytes of arguments that are worth remembering */
    MET_MOST = 768,
};

struct seen_key {
    struct tm_key_name key; /* length 0: none */
    tm_strid name;
};

struct tm_chrome_arguments {
    struct tm_run *run;
    struct tm_names *names;
    struct tm_met_lists *lists; /* by the name of the event */
    struct tm_arguments_builder builder;
    const uint8_t *at, *end; /* of the text */
    bool has_texts_only;     /* struct tm_chrome_words */
    tm_strid key;            /* of the value that follows; meaningless in a list */
    struct seen_key keys[TM_KEY_SLOTS];
    struct tm_json_decimal decimal;
    uint8_t list[TM_ARGUMENTS_MOST];
    uint8_t plain[TM_ARGUMENTS_MOST + TM_JSON_PADDING]; /* a string without its escapes */
};

struct tm_chrome_arguments *tm_chrome_arguments_new(struct tm_run *run, struct tm_names *names)
{
    struct tm_chrome_arguments *const a = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*a), &run->error);

    if (!a)
        return NULL;
    a->run = run;
    a->names = names;
    a->lists = tm_met_lists_new(run, MET_MOST);
    if (a->lists)
        return a;
    tm_chrome_arguments_free(a);
    return NULL;
}

void tm_chrome_arguments_free(struct tm_chrome_arguments *a)
{
    if (!a)
        return;
    tm_met_lists_free(a->lists);
    tm_give(&a->run->budget, TM_ACCOUNT_INPUT, a, sizeof(*a));
}

/* --- strings --- */

struct text {
    const uint8_t *at;
    size_t length;
    bool is_escaped;
};

/* in: a->at  the quote.  out: a->at  after the other one */
static struct text walk_text(struct tm_chrome_arguments *a)
{
    struct text text = { .at = a->at + 1 };
    const uint8_t *at = text.at;

    while (at < a->end) {
        at = tm_text_stop(at);
        if (*at == '"')
            break;
        text.is_escaped |= *at == '\\';
        a->builder.has_nul |= *at == 0;
        at += *at == '\\' ? 2 : 1; /* a control character represents itself */
    }
    at = at < a->end ? at : a->end;
    text.length = (size_t)(at - text.at);
    a->at = at + 1;
    return text;
}

/* The decoded text.  false: it has too many escapes to fit. */
static bool without_escapes(struct tm_chrome_arguments *a, struct text *text)
{
    uint32_t traits;

    if (!text->is_escaped)
        return true;
    if (text->length > TM_ARGUMENTS_MOST)
        return false;
    text->length = tm_json_unescape(a->plain, text->at, text->length, &traits);
    text->at = a->plain;
    a->builder.has_nul |= traits & TM_TEXT_CONTROL && memchr(a->plain, 0, text->length);
    return true;
}

static void take_key(struct tm_chrome_arguments *a, const struct text *text)
{
    struct tm_key_name name;
    struct seen_key *slot;

    tm_chrome_key_name(text->at, (uint32_t)text->length, TM_KEY_OF_ARGUMENTS, &name);
    slot = &a->keys[tm_key_first_slot(&name)];
    if (tm_key_names_equal(&slot->key, &name)) {
        a->key = slot->name;
        return;
    }
    a->key = tm_names_put(a->names, (const char *)text->at, text->length);
    *slot = (struct seen_key){ .key = name, .name = a->key };
}

/* Whether a string is an integer as it would be printed. */
static bool is_whole_number(const char *text, size_t length, int64_t *number)
{
    const size_t sign = length && text[0] == '-';

    if (length == sign || length - sign > 18 || (text[sign] == '0' && length > 1))
        return false;
    *number = 0;
    for (size_t i = sign; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *number = *number * 10 + (text[i] - '0');
    }
    *number = sign ? -*number : *number;
    return true;
}

static void put_text(struct tm_chrome_arguments *a, const struct text *text)
{
    int64_t number;

    if (a->has_texts_only && is_whole_number((const char *)text->at, text->length, &number))
        tm_put_int(&a->builder, a->key, number);
    else
        tm_put_text(&a->builder, a->key, (const char *)text->at, text->length);
}

static void take_text(struct tm_chrome_arguments *a)
{
    struct text text = walk_text(a);
    const bool fits = without_escapes(a, &text);

    if (*a->at <= ' ')
        a->at = tm_space_end(a->at);
    if (!fits)
        a->builder.is_cut = true;
    if (*a->at != ':') {
        if (fits)
            put_text(a, &text);
        return;
    }
    a->at++;
    a->key = 0;
    if (fits)
        take_key(a, &text);
}

/* --- numbers and words --- */

static void put_word(struct tm_chrome_arguments *a, const char *word)
{
    tm_put_text(&a->builder, a->key, word, strlen(word));
    a->at += strlen(word);
}

static const uint8_t *number_end(const uint8_t *at, const uint8_t *end, bool *is_whole)
{
    *is_whole = true;
    for (at += *at == '-'; at < end; at++) {
        const bool is_digit = *at >= '0' && *at <= '9';

        if (!is_digit && *at != '.' && *at != '+' && *at != '-' && (*at | 0x20) != 'e')
            break;
        *is_whole &= is_digit;
    }
    return at;
}

/* -0 is not an integer: its sign would be lost. */
static bool put_integer(struct tm_chrome_arguments *a, const char *text, size_t length)
{
    int64_t number;
    uint64_t bits;

    if (!tm_json_decimal_of(text, length, &a->decimal) || (a->decimal.negative && !a->decimal.count))
        return false;
    if (tm_json_int_of(&a->decimal, &number))
        tm_put_int(&a->builder, a->key, number);
    else if (tm_json_uint_of(&a->decimal, &bits))
        tm_put_uint(&a->builder, a->key, bits);
    else
        return false;
    return true;
}

static void take_number(struct tm_chrome_arguments *a)
{
    const char *const text = (const char *)a->at;
    const uint8_t *end;
    int64_t number;
    bool is_whole;

    end = tm_short_integer(a->at, &number);
    if (end && (number || *a->at != '-')) {
        tm_put_int(&a->builder, a->key, number);
        a->at = end;
        return;
    }
    if (a->at[0] == '-' && a->at[1] == 'I') {
        put_word(a, "-Infinity");
        return;
    }
    end = number_end(a->at, a->end, &is_whole);
    if (!is_whole || !put_integer(a, text, (size_t)(end - a->at)))
        tm_put_number(&a->builder, a->key, text, (size_t)(end - a->at));
    a->at = end;
}

static void take_word(struct tm_chrome_arguments *a)
{
    switch (*a->at) {
    case 't':
        tm_put_bool(&a->builder, a->key, true);
        a->at += strlen("true");
        return;
    case 'f':
        tm_put_bool(&a->builder, a->key, false);
        a->at += strlen("false");
        return;
    case 'n':
        tm_put_null(&a->builder, a->key);
        a->at += strlen("null");
        return;
    case 'N':
        put_word(a, "NaN");
        return;
    case 'I':
        put_word(a, "Infinity");
        return;
    default:
        a->at++; /* white space, commas */
    }
}

/* --- the list --- */

static void take_value(struct tm_chrome_arguments *a)
{
    switch (*a->at) {
    case '"':
        take_text(a);
        return;
    case '{':
        tm_put_object(&a->builder, a->key);
        a->at++;
        return;
    case '[':
        tm_put_array(&a->builder, a->key);
        a->at++;
        return;
    case '}':
    case ']':
        tm_put_close(&a->builder);
        a->at++;
        return;
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        take_number(a);
        return;
    default:
        take_word(a);
    }
}

/* An argument and the comma after it. */
static void take_part(struct tm_chrome_arguments *a)
{
    uint8_t first;

    do {
        first = *a->at;
        take_value(a);
    } while (a->at < a->end && (first != ',' || a->builder.depth || a->builder.skipped));
}

/* All of them.  The last one ends with the closing brace instead of a comma: the comparison includes one more byte. */
static void take_parts(struct tm_chrome_arguments *a, uint64_t key)
{
    struct tm_met_turn turn = { .list = NULL };

    if (a->end - a->at >= MET_LEAST)
        tm_met_begin(a->lists, key, a->at, &a->builder, &turn);
    while (a->at < a->end) {
        a->at += tm_met_copy(&turn, a->at, (size_t)(a->end + 1 - a->at), &a->builder);
        if (a->at >= a->end)
            break;
        take_part(a);
        tm_met_note(&turn, a->at < a->end ? a->at : a->end + 1, &a->builder);
    }
    tm_met_end(a->lists, &turn, a->end + 1, &a->builder);
}

/* --- members without a dedicated place --- */

static const uint8_t *text_end(const uint8_t *at)
{
    for (at = tm_text_stop(at + 1); *at != '"'; at = tm_text_stop(at))
        at += *at == '\\' ? 2 : 1;
    return at + 1;
}

/* in:     at  a value in an object
 * out:    the comma or the brace after it */
static const uint8_t *value_end(const uint8_t *at)
{
    uint32_t depth = 0;

    for (;;) {
        const uint8_t c = *at;

        if (depth == 0 && (c == ',' || c == '}'))
            return at;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at = c == '"' ? text_end(at) : at + 1;
    }
}

static bool is_one_of(const struct text *key, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tm_json_text_is((struct tm_json_slice){ (const char *)key->at, (uint32_t)key->length }, words[i]))
            return true;
    return false;
}

static bool has_no_place(const struct text *key, uint8_t value, const struct tm_chrome_words *words)
{
    static const char *const placed[] = { "ph", "ts", "dur", "pid", "tid", "name", "cat", "s", "bp" };
    static const char *const ids[] = { "id", "id2", "bind_id" }, *const arrows[] = { "bind_id", "flow_in", "flow_out" };
    static const char *const args = "args";

    return !is_one_of(key, placed, sizeof(placed) / sizeof(placed[0])) &&
           !(words->is_joined && is_one_of(key, ids, sizeof(ids) / sizeof(ids[0]))) &&
           !(words->is_converted && is_one_of(key, arrows, sizeof(arrows) / sizeof(arrows[0]))) &&
           !(value == '{' && is_one_of(key, &args, 1));
}

/* A member of the event.
 * in:     a->at  its key.  out: a->at  after its value */
static void take_member(struct tm_chrome_arguments *a, const struct tm_chrome_words *words)
{
    const uint8_t *value, *end;
    struct text key;

    a->end = text_end(a->at);
    key = walk_text(a);
    value = tm_space_end(tm_space_end(a->at) + 1);
    end = value_end(value);
    if (!without_escapes(a, &key)) {
        a->builder.is_cut = true;
    } else if (has_no_place(&key, *value, words)) {
        take_key(a, &key);
        a->at = value;
        a->end = end;
        while (a->at < a->end)
            take_value(a);
    }
    a->at = end;
}

static bool has_members(const struct tm_chrome_event *event, const struct tm_chrome_words *words)
{
    return event->has & TM_CHROME_OTHERS || (event->id.kind != TM_JSON_NO_ID && !words->is_joined);
}

static void take_members(struct tm_chrome_arguments *a, const struct tm_chrome_event *event,
                         const struct tm_chrome_words *words)
{
    a->at = tm_space_end((const uint8_t *)event->members + 1);
    while (*a->at != '}') {
        take_member(a, words);
        a->at = tm_space_end(a->at + (*a->at == ','));
    }
}

static void put_id(struct tm_chrome_arguments *a, const struct tm_json_id *id)
{
    char number[32];
    int length;

    if (id->kind == TM_JSON_NO_ID)
        return;
    if (id->kind == TM_JSON_TEXT) {
        tm_put_event_text(&a->builder, TM_ARGUMENT_ID, id->text.at, id->text.length);
        return;
    }
    length = id->is_unsigned ? snprintf(number, sizeof(number), "%" PRIu64, (uint64_t)id->number)
                             : snprintf(number, sizeof(number), "%" PRId64, id->number);
    tm_put_event_text(&a->builder, TM_ARGUMENT_ID, number, (size_t)length);
}

static void put_words(struct tm_chrome_arguments *a, const struct tm_chrome_event *event,
                      const struct tm_chrome_words *words)
{
    if (words->has_category)
        tm_put_event_text(&a->builder, TM_ARGUMENT_CATEGORY, event->cat.at, event->cat.length);
    if (words->has_id)
        put_id(a, &event->id);
    if (words->has_place)
        tm_put_place(&a->builder, words->place);
    if (words->is_enclosed)
        tm_put_enclosed(&a->builder);
}

struct tm_arguments tm_chrome_arguments_take(struct tm_chrome_arguments *a, const struct tm_chrome_event *event,
                                             const struct tm_chrome_words *words)
{
    struct tm_arguments list;

    a->has_texts_only = words->has_texts_only;
    tm_arguments_begin(&a->builder, a->names, a->list, sizeof(a->list));
    put_words(a, event, words);
    if (event->args.at && event->args.length > 2) {
        a->key = 0;
        a->at = (const uint8_t *)event->args.at + 1;
        a->end = (const uint8_t *)event->args.at + event->args.length - 1; /* the outermost braces are the list's */
        take_parts(a, (uint64_t)words->name << 1 | words->has_texts_only);
    }
    if (has_members(event, words) && words->takes_members && event->members)
        take_members(a, event, words);
    else
        tm_tally_add(&a->run->tallies, TM_TALLY_UNWRITTEN_MEMBER,
                     has_members(event, words) || (words->has_place && event->args.length > 2));
    list = tm_arguments_end(&a->builder);
    tm_tally_add(&a->run->tallies, TM_TALLY_LONG_ARGUMENTS, a->builder.is_cut);
    tm_tally_add(&a->run->tallies, TM_TALLY_NUL_IN_ARGUMENTS, a->builder.has_nul);
    return list;
}
