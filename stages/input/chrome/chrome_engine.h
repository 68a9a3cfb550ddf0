/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHROME_ENGINE_H
#define TM_CHROME_ENGINE_H

#include "stages/input/chrome/chrome_template.h"
#include "stages/input/chrome/json_walk.h"
#include "stages/input/chrome/json_wide.h"

/* One event of a Chrome trace, parsed in place.  This is the hot path: chrome_engine_*.c compile it for each kind of
 * processor. */

enum event_member {
    MEMBER_OTHER,
    MEMBER_PH,
    MEMBER_TS,
    MEMBER_DUR,
    MEMBER_PID,
    MEMBER_TID,
    MEMBER_ID,
    MEMBER_ID2,
    MEMBER_BIND_ID,
    MEMBER_CAT,
    MEMBER_NAME,
    MEMBER_S,
    MEMBER_BP,
    MEMBER_ARGS,
    MEMBER_BEGIN, /* before the first one */
    MEMBER_END,
    MEMBER_COUNT,
};
static_assert((int)MEMBER_COUNT == (int)TM_STEP_MEMBERS, "there are steps behind each of them");

/* --- keys --- */

static inline bool key_is(const uint8_t *key, const char *word, uint32_t length)
{
    return memcmp(key, word, length) == 0;
}

static inline enum event_member member_of_two(const uint8_t *key)
{
    if (key_is(key, "ph", 2))
        return MEMBER_PH;
    if (key_is(key, "ts", 2))
        return MEMBER_TS;
    if (key_is(key, "id", 2))
        return MEMBER_ID;
    return key_is(key, "bp", 2) ? MEMBER_BP : MEMBER_OTHER;
}

static inline enum event_member member_of_three(const uint8_t *key)
{
    if (key_is(key, "pid", 3))
        return MEMBER_PID;
    if (key_is(key, "tid", 3))
        return MEMBER_TID;
    if (key_is(key, "dur", 3))
        return MEMBER_DUR;
    if (key_is(key, "cat", 3))
        return MEMBER_CAT;
    return key_is(key, "id2", 3) ? MEMBER_ID2 : MEMBER_OTHER;
}

static inline enum event_member member_of(const uint8_t *key, uint32_t length)
{
    switch (length) {
    case 1:
        return *key == 's' ? MEMBER_S : MEMBER_OTHER;
    case 2:
        return member_of_two(key);
    case 3:
        return member_of_three(key);
    case 4:
        if (key_is(key, "name", 4))
            return MEMBER_NAME;
        return key_is(key, "args", 4) ? MEMBER_ARGS : MEMBER_OTHER;
    case 7:
        return key_is(key, "bind_id", 7) ? MEMBER_BIND_ID : MEMBER_OTHER;
    default:
        return MEMBER_OTHER;
    }
}

static inline void watch_key(struct tm_chrome_reader *r, struct tm_key_slot *slot)
{
    r->has_repeated_key |= tm_chrome_key_repeats(&r->keys, slot);
}

/* The member named by the key that was just read, and whether it is a duplicate. */
static inline enum event_member take_event_key(struct tm_chrome_reader *r)
{
    uint32_t length;
    const uint8_t *const key = take_key(r, &length);
    const enum event_member member = member_of(key, length);

    if (member != MEMBER_OTHER)
        r->has_repeated_key |= r->seen >> member & 1;
    else if (!r->key_is_cut)
        watch_key(r, tm_chrome_key(&r->keys, key, length, TM_KEY_OF_EVENT));
    r->seen |= 1u << member;
    r->has_others |= member == MEMBER_OTHER;
    return member;
}

/* --- steps --- */

static inline bool is_step(const struct tm_step *step, const uint8_t *at)
{
    return step->length && tm_same_text(at, step->text, step->length);
}

/* What followed recently, and follows again.  NULL = something else does */
static inline const struct tm_step *usual_step(const struct tm_step *steps, int count, const uint8_t *at)
{
    if (TM_LIKELY(is_step(steps, at)))
        return steps;
    for (int i = 1; i < count; i++)
        if (is_step(&steps[i], at))
            return &steps[i];
    return NULL;
}

static inline void learn_step(struct tm_step *steps, size_t count, const uint8_t *from, const uint8_t *end, uint32_t to)
{
    if (end - from > TM_STEP_BYTES)
        return;
    memmove(steps + 1, steps, (count - 1) * sizeof(*steps));
    steps[0].length = (uint16_t)(end - from);
    steps[0].to = (uint16_t)to;
    memcpy(steps[0].text, from, steps[0].length);
}

/* --- values --- */

static inline bool is_number_start(uint8_t byte)
{
    return byte == '-' || (byte >= '0' && byte <= '9');
}

/* A number that may have another value in other events.  Numbers beyond the capacity are part of the text. */
static inline void note_number(struct tm_chrome_reader *r, const uint8_t *at, const uint8_t *end,
                               enum tm_number_kind kind, struct tm_key_slot *key)
{
    if (r->number_count < TM_NUMBERS_MOST)
        r->numbers[r->number_count++] =
            (struct tm_noted_number){ at, end, key, (uint8_t)kind, key ? (uint8_t)key->stat : TM_STAT_UNKNOWN };
}

/* A string, or nothing if the value is not a string. */
static inline const uint8_t *read_optional_text(struct tm_chrome_reader *r, const uint8_t *at, bool *has,
                                                struct tm_json_slice *text)
{
    *text = (struct tm_json_slice){ .at = NULL };
    *has = *at == '"';
    return *has ? read_text(r, at, text) : skip_value(r, at);
}

/* A string that is examined once: it needs no place after the event's window, where room may be short. */
static inline const uint8_t *read_passing_text(struct tm_chrome_reader *r, const uint8_t *at, bool *has,
                                               struct tm_json_slice *text)
{
    r->text_most = (uint32_t)tm_json_longest(&r->window);
    at = read_optional_text(r, at, has, text);
    if (r->is_outgrown)
        r->text_most = 0;
    return at;
}

/* A string of one character of ASCII: that; another text: '?'; no text: 0. */
static inline const uint8_t *read_letter(struct tm_chrome_reader *r, const uint8_t *at, char *letter)
{
    struct tm_json_slice text;
    bool has;

    if (at[0] == '"' && at[1] >= ' ' && at[1] < 0x7f && at[1] != '"' && at[1] != '\\' && at[2] == '"') {
        *letter = (char)at[1];
        return at + 3;
    }
    at = read_passing_text(r, at, &has, &text);
    *letter = 0;
    if (at && has) /* a byte above 0x7f is not a character */
        *letter = text.length == 1 && (uint8_t)(text.at[0] - 1) < 0x7f ? text.at[0] : '?';
    return at;
}

static inline void set_has(struct tm_chrome_reader *r, uint32_t what, bool has)
{
    r->event.has = has ? r->event.has | what : r->event.has & ~what;
}

/* Whether a string is ASCII without control characters, except for those that its walk has seen. */
static inline bool is_plain_ascii(struct tm_json_slice text)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint8_t *const at = (const uint8_t *)text.at;
    uint64_t seen = 0;
    uint32_t i = 0;

    for (; i + 8 <= text.length; i += 8)
        seen |= tm_load_word(at + i) | (tm_load_word(at + i) + ones); /* 0x7f and above */
    if (i < text.length) {
        const uint64_t word = tm_key_head(at + i, text.length - i);

        seen |= word | (word + ones);
    }
    return !(seen & ones << 7);
}

static inline const uint8_t *read_name(struct tm_chrome_reader *r, const uint8_t *at)
{
    bool has;

    at = read_optional_text(r, at, &has, &r->event.name);
    if (!at)
        return NULL;
    set_has(r, TM_CHROME_NAME, has);
    r->name_traits = 0;
    if (has && (r->text_traits || !is_plain_ascii(r->event.name)))
        r->name_traits = tm_chrome_text_traits(r->event.name) | (r->text_traits & TM_TEXT_SURROGATE);
    return at;
}

/* out:    NULL if it needs the full parser */
TM_INLINE const uint8_t *read_decimal(const uint8_t *at, struct tm_json_time *time)
{
    uint64_t us;
    uint32_t ps;
    const uint8_t *const end = tm_glance_decimal(at, &us, &ps);

    if (!end)
        return NULL;
    if (!TM_LIKELY(ps < 1000000)) {
        us++;
        ps = 0;
    }
    *time = (struct tm_json_time){ .us = (int64_t)us, .ps = (int32_t)ps };
    return end;
}

/* The same of one that ends. */
static inline const uint8_t *read_short_time(const uint8_t *at, struct tm_json_time *time)
{
    const uint8_t *const end = read_decimal(at, time);

    return end && tm_ends_number(*end) ? end : NULL;
}

static inline uint32_t take_decimal_time(const struct tm_json_decimal *decimal, struct tm_json_time *time)
{
    const bool fits = tm_json_time_of(decimal, time);

    return TM_TIME_THERE | (fits ? 0 : TM_TIME_LONG) | (decimal->has_exponent ? TM_TIME_EXPONENT : 0);
}

/* A time in any other notation. */
static inline const uint8_t *read_long_time(struct tm_chrome_reader *r, const uint8_t *at, uint32_t *traits,
                                            struct tm_json_time *time)
{
    const uint64_t not_numbers = r->not_numbers;
    struct tm_json_slice text;
    bool is_number;

    *traits = TM_TIME_BAD;
    if (*at == '"') {
        at = read_text(r, at, &text);
        if (at && tm_json_decimal_of(text.at, text.length, &r->decimal))
            *traits = take_decimal_time(&r->decimal, time) | TM_TIME_TEXT;
        return at;
    }
    is_number = is_number_start(*at);
    at = is_number ? tm_chrome_number(r, at) : skip_value(r, at);
    if (at && is_number && r->not_numbers == not_numbers)
        *traits = take_decimal_time(&r->decimal, time);
    r->not_numbers = not_numbers;
    return at;
}

TM_INLINE const uint8_t *read_time(struct tm_chrome_reader *r, const uint8_t *at, enum tm_number_kind kind,
                                   uint32_t *traits, struct tm_json_time *time)
{
    const uint8_t *const end = read_short_time(at, time);

    *traits = TM_TIME_THERE;
    if (!TM_LIKELY(end != NULL))
        return read_long_time(r, at, traits, time);
    note_number(r, at, end, kind, NULL);
    return end;
}

/* The text from window.token on, as written, kept until the event ends. */
static inline struct tm_json_slice take_written(struct tm_chrome_reader *r, const uint8_t *end)
{
    struct tm_json_slice text = { (const char *)r->window.token, (uint32_t)(end - r->window.token) };

    r->text_traits = 0;
    if (r->is_outgrown || text.length > tm_json_longest(&r->window))
        tm_chrome_keep_text(r, &text);
    r->window.token = NULL;
    return text;
}

static inline const uint8_t *read_long_id(struct tm_chrome_reader *r, const uint8_t *at, struct tm_json_id *id)
{
    const uint64_t not_numbers = r->not_numbers;

    r->window.token = at;
    at = tm_chrome_number(r, at);
    if (!at)
        return NULL;
    if (r->not_numbers == not_numbers)
        tm_json_id_of_number(&r->decimal, (struct tm_json_slice){ .at = NULL }, id);
    if (id->kind == TM_JSON_TEXT) /* an integer needs no place after the event's window */
        id->text = take_written(r, at);
    r->window.token = NULL;
    return at;
}

static inline const uint8_t *read_id(struct tm_chrome_reader *r, const uint8_t *at, struct tm_json_id *id)
{
    struct tm_json_slice text;
    const uint8_t *end;

    *id = (struct tm_json_id){ .kind = TM_JSON_NO_ID };
    if (*at == '"') {
        at = read_text(r, at, &text);
        if (at)
            tm_json_id_of_text(text, id);
        return at;
    }
    if (!is_number_start(*at))
        return skip_value(r, at);
    end = tm_glance_integer(at, &id->number);
    if (!end)
        return read_long_id(r, at, id);
    id->kind = TM_JSON_NUMBER;
    return end;
}

static inline const uint8_t *read_id_members(struct tm_chrome_reader *r, const uint8_t *at)
{
    bool ended;

    at = first_member(r, at, &ended);
    while (at && !ended) {
        const uint8_t *key;
        uint32_t length;

        at = read_key(r, at);
        if (!at)
            return NULL;
        key = take_key(r, &length);
        if (!r->key_is_cut)
            watch_key(r, tm_chrome_key(&r->keys, key, length, TM_KEY_OF_ID));
        if (length == 5 && key_is(key, "local", 5))
            at = read_id(r, at, &r->ids[TM_ID_LOCAL]);
        else if (length == 6 && key_is(key, "global", 6))
            at = read_id(r, at, &r->ids[TM_ID_GLOBAL]);
        else
            at = skip_value(r, at);
        if (at)
            at = next_member(r, at, &ended);
    }
    return at;
}

static inline const uint8_t *read_id2(struct tm_chrome_reader *r, const uint8_t *at)
{
    r->ids[TM_ID_LOCAL].kind = r->ids[TM_ID_GLOBAL].kind = TM_JSON_NO_ID;
    return *at == '{' ? read_id_members(r, at) : skip_value(r, at);
}

/* --- arguments --- */

/* A list is kept as written. */
static inline const uint8_t *read_list_fact(struct tm_chrome_reader *r, const uint8_t *at, enum tm_stat stat)
{
    struct tm_json_slice text;

    r->window.token = at;
    at = skip_nested(r, at);
    if (!at)
        return NULL;
    text = take_written(r, at);
    r->has_nested_argument |= r->skipped_nested;
    tm_facts_put_text(&r->event.facts, stat, text.at, text.length);
    return at;
}

static inline const uint8_t *read_long_fact(struct tm_chrome_reader *r, const uint8_t *at, enum tm_stat stat)
{
    const uint64_t not_numbers = r->not_numbers;

    at = tm_chrome_number(r, at);
    if (at && r->not_numbers == not_numbers)
        tm_chrome_put_number(r, stat);
    return at;
}

/* A value of an unknown argument, or one that is invalid for it. */
static inline const uint8_t *skip_argument(struct tm_chrome_reader *r, const uint8_t *at, struct tm_key_slot *key)
{
    if (*at != '{' && *at != '[') {
        const bool is_text = *at == '"', is_number = is_number_start(*at);
        const uint8_t *const before = r->window.end, *const end = skip_simple(r, at);
        int64_t number;

        /* Where the window has moved, `at` is no place in it. */
        if (end && (is_text ? before == r->window.end && tm_glance_digits(at + 1, &number) == end - 1 : is_number))
            note_number(r, at + is_text, end - is_text, TM_NUMBER_SKIPPED, key);
        return end;
    }
    r->has_nested_argument |= *at == '{';
    at = skip_nested(r, at);
    r->has_nested_argument |= r->skipped_nested;
    return at;
}

/* A string that may be a number: most are none. */
static inline void put_text_fact(struct tm_chrome_reader *r, struct tm_key_slot *key, struct tm_json_slice text)
{
    const enum tm_stat stat = (enum tm_stat)key->stat;
    const uint8_t *const at = (const uint8_t *)text.at;
    int64_t number;

    if (*at > '9' || *at < '-') {
        tm_facts_put_text_of(&r->event.facts, stat, text.at, text.length, 0);
    } else if (tm_glance_number_text(at, text.length, &number)) {
        note_number(r, at, at + text.length, TM_NUMBER_FACT, key);
        tm_facts_put_text_of(&r->event.facts, stat, text.at, text.length, number);
    } else {
        tm_facts_put_number_text(&r->event.facts, stat, text.at, text.length);
    }
}

static inline const uint8_t *read_fact(struct tm_chrome_reader *r, const uint8_t *at, struct tm_key_slot *key)
{
    const enum tm_stat stat = (enum tm_stat)key->stat;
    struct tm_json_slice text;
    const uint8_t *end;
    int64_t number;

    if (*at == '"') {
        at = read_text(r, at, &text);
        if (at)
            put_text_fact(r, key, text);
        return at;
    }
    if (*at == '[')
        return read_list_fact(r, at, stat);
    if (!is_number_start(*at))
        return skip_argument(r, at, key);
    end = tm_glance_integer(at, &number);
    if (!end)
        return read_long_fact(r, at, stat);
    note_number(r, at, end, TM_NUMBER_FACT, key);
    tm_facts_put_int(&r->event.facts, stat, number);
    return end;
}

static inline const uint8_t *read_argument(struct tm_chrome_reader *r, const uint8_t *at, struct tm_key_slot *key)
{
    const enum tm_stat stat = (enum tm_stat)key->stat;
    const bool repeats = tm_chrome_key_repeats(&r->keys, key);

    r->has_repeated_key |= repeats;
    if (stat == TM_STAT_UNKNOWN)
        return skip_argument(r, at, key);
    if (repeats)
        tm_chrome_drop_fact(r, stat);
    return read_fact(r, at, key);
}

/* An unusual step of arguments. */
static __attribute__((noinline)) const uint8_t *take_new_argument(struct tm_chrome_reader *r, const uint8_t *at,
                                                                  uint32_t *slot)
{
    struct tm_chrome_keys *const keys = &r->keys;
    const uint32_t after = *slot;
    const uint64_t base = r->window.base;
    const uint8_t *const from = at;
    const uint8_t *key;
    uint32_t length;
    bool ended, is_plain = true;

    *slot = TM_KEY_END;
    at = after == TM_KEY_BEGIN ? first_member(r, at, &ended) : next_member(r, at, &ended);
    if (at && !ended) {
        at = read_key(r, at);
        if (!at)
            return NULL;
        is_plain = !r->text_traits;
        key = take_key(r, &length);
        *slot = (uint32_t)((r->key_is_cut ? tm_chrome_key_spare(keys, TM_STAT_UNKNOWN)
                                          : tm_chrome_key(keys, key, length, TM_KEY_OF_ARGUMENTS)) -
                           keys->slots);
    }
    if (at && is_plain && after != TM_KEY_SPARE && *slot != TM_KEY_SPARE && base == r->window.base)
        learn_step(keys->steps[after], TM_ARGUMENT_STEPS, from, at, *slot);
    return at;
}

/* From after an argument to the value of the next one, or after all of them.
 * in:     *slot  of the key, or TM_KEY_BEGIN
 * out:    *slot  of the next one, or TM_KEY_END */
static inline const uint8_t *next_argument(struct tm_chrome_reader *r, const uint8_t *at, uint32_t *slot)
{
    const struct tm_step *const step = usual_step(r->keys.steps[*slot], TM_ARGUMENT_STEPS, at);

    if (!TM_LIKELY(step != NULL))
        return take_new_argument(r, at, slot);
    *slot = step->to;
    at += step->length;
    return *slot == TM_KEY_END ? at : walk_space(r, at);
}

static inline const uint8_t *read_args(struct tm_chrome_reader *r, const uint8_t *at)
{
    uint32_t slot = TM_KEY_BEGIN;

    r->event.args = (struct tm_json_slice){ .at = (const char *)at };
    at = next_argument(r, at, &slot);
    while (at && slot != TM_KEY_END) {
        at = read_argument(r, at, &r->keys.slots[slot]);
        if (at)
            at = next_argument(r, at, &slot);
    }
    if (!at)
        return NULL;
    if (r->is_outgrown) {
        r->event.args.at = NULL;
        r->has_long_value = true; /* also if the data before them filled the window */
    } else {
        r->event.args.length = (uint32_t)(at - (const uint8_t *)r->event.args.at);
    }
    return at;
}

static inline const uint8_t *read_arguments(struct tm_chrome_reader *r, const uint8_t *at)
{
    const bool is_object = *at == '{';

    if (r->event.has & TM_CHROME_ARGS)
        tm_chrome_drop_args(r);
    set_has(r, TM_CHROME_ARGS, is_object);
    r->has_others |= !is_object;
    return is_object ? read_args(r, at) : skip_value(r, at);
}

/* --- the event --- */

static inline const uint8_t *read_scope(struct tm_chrome_reader *r, const uint8_t *at)
{
    at = read_letter(r, at, &r->event.scope);
    if (r->event.scope != 'g' && r->event.scope != 'p' && r->event.scope != 't')
        r->event.scope = 0;
    set_has(r, TM_CHROME_SCOPE, r->event.scope != 0);
    return at;
}

static inline const uint8_t *read_binding(struct tm_chrome_reader *r, const uint8_t *at)
{
    char letter;

    at = read_letter(r, at, &letter);
    set_has(r, TM_CHROME_BIND_ENCLOSING, letter == 'e');
    return at;
}

static inline const uint8_t *read_category(struct tm_chrome_reader *r, const uint8_t *at)
{
    bool has;

    at = read_optional_text(r, at, &has, &r->event.cat);
    set_has(r, TM_CHROME_CAT, has);
    return at;
}

/* The first id, which takes precedence. */
static inline const uint8_t *read_own_id(struct tm_chrome_reader *r, const uint8_t *at)
{
    const bool is_text = *at == '"';
    const uint8_t *const end = read_id(r, at, &r->ids[TM_ID_OWN]);

    if (end && !is_text && r->ids[TM_ID_OWN].kind == TM_JSON_NUMBER)
        note_number(r, at, end, TM_NUMBER_ID, NULL);
    return end;
}

static inline const uint8_t *skip_member(struct tm_chrome_reader *r, const uint8_t *at)
{
    const bool is_number = is_number_start(*at);
    const uint8_t *const end = skip_value(r, at);

    if (end && is_number)
        note_number(r, at, end, TM_NUMBER_SKIPPED, NULL);
    return end;
}

static inline const uint8_t *read_member(struct tm_chrome_reader *r, const uint8_t *at, enum event_member member)
{
    switch (member) {
    case MEMBER_PH:
        return read_letter(r, at, &r->event.phase);
    case MEMBER_TS:
        return read_time(r, at, TM_NUMBER_TS, &r->ts, &r->event.ts);
    case MEMBER_DUR:
        return read_time(r, at, TM_NUMBER_DUR, &r->dur, &r->event.dur);
    case MEMBER_PID:
        return read_id(r, at, &r->event.pid);
    case MEMBER_TID:
        return read_id(r, at, &r->event.tid);
    case MEMBER_ID:
        return read_own_id(r, at);
    case MEMBER_ID2:
        return read_id2(r, at);
    case MEMBER_BIND_ID:
        return read_id(r, at, &r->ids[TM_ID_BIND]);
    case MEMBER_CAT:
        return read_category(r, at);
    case MEMBER_NAME:
        return read_name(r, at);
    case MEMBER_S:
        return read_scope(r, at);
    case MEMBER_BP:
        return read_binding(r, at);
    case MEMBER_ARGS:
        return read_arguments(r, at);
    default:
        return skip_member(r, at);
    }
}

/* An unusual step of an event. */
static __attribute__((noinline)) const uint8_t *take_new_member(struct tm_chrome_reader *r, const uint8_t *at,
                                                                enum event_member *member)
{
    const enum event_member after = *member;
    const uint64_t base = r->window.base;
    const uint8_t *const from = at;
    bool ended, is_plain = true;

    *member = MEMBER_END;
    at = after == MEMBER_BEGIN ? first_member(r, at, &ended) : next_member(r, at, &ended);
    if (at && !ended) {
        at = read_key(r, at);
        if (!at)
            return NULL;
        is_plain = !r->text_traits;
        *member = take_event_key(r);
    }
    if (at && is_plain && *member != MEMBER_OTHER && base == r->window.base)
        learn_step(r->steps[after], TM_STEPS, from, at, *member);
    return at;
}

/* From after a value to the next one, or after the event.
 * in:     *member  of the value
 * out:    *member  of the next one; MEMBER_END */
static inline const uint8_t *next_event_member(struct tm_chrome_reader *r, const uint8_t *at, enum event_member *member)
{
    const struct tm_step *const step = usual_step(r->steps[*member], TM_STEPS, at);

    if (!TM_LIKELY(step != NULL))
        return take_new_member(r, at, member);
    *member = (enum event_member)step->to;
    at += step->length;
    if (*member == MEMBER_END)
        return at;
    r->has_repeated_key |= r->seen >> *member & 1;
    r->seen |= 1u << *member;
    return walk_space(r, at);
}

/* --- an earlier event with other numbers --- */

/* out:    after the number; NULL if an unusual one is there */
static inline const uint8_t *read_varying(struct tm_chrome_reader *r, const uint8_t *at, const struct tm_piece *before)
{
    int64_t *number;

    switch ((enum tm_number_kind)before->kind) {
    case TM_NUMBER_TS:
        return read_decimal(at, &r->event.ts);
    case TM_NUMBER_DUR:
        return read_decimal(at, &r->event.dur);
    case TM_NUMBER_ID:
        return tm_glance_integer(at, &r->event.id.number);
    case TM_NUMBER_FACT:
        number = &r->event.facts.ints[before->stat];
        return at[-1] == '"' ? tm_glance_digits(at, number) : tm_glance_integer(at, number);
    default:
        return plain_digits_end(at);
    }
}

static inline void take_template(struct tm_chrome_reader *r, const uint8_t *begin, const struct tm_template *whole)
{
    r->event.offset = tm_json_offset(&r->window, begin);
    r->event.has = whole->has;
    r->event.phase = whole->phase;
    r->event.known = &whole->known;
    r->seen = whole->seen;
    if (whole->facts || whole->has_tallies)
        tm_chrome_take_rare(r, whole);
}

/* out:    after the event; NULL: no known event matches, and nothing of it was consumed */
TM_INLINE const uint8_t *read_remembered(struct tm_chrome_reader *r, const uint8_t *at)
{
    struct tm_chrome_templates *const t = r->templates;
    const uint8_t *const begin = at, *number;
    struct tm_piece *piece = t->pieces;

    do {
        piece = next_piece(t, piece, at, r->window.end);
        if (!piece)
            return tm_chrome_distrust(t, (size_t)(at - begin));
        number = at + piece->length;
        at = piece->kind == TM_NUMBER_NONE ? number : read_varying(r, number, piece);
        if (!at)
            return tm_chrome_distrust(t, (size_t)(number - begin));
    } while (piece->kind != TM_NUMBER_NONE);
    if (!piece->whole)
        return NULL;
    take_template(r, begin, (const struct tm_template *)(const void *)(t->bytes + (piece->whole - 1)));
    return at;
}

/* The event that follows another one, where no more than a comma and little space is between them.
 * out:    NULL: something else, or the window ends */
static inline const uint8_t *following_event(const uint8_t *at)
{
    if (*at != ',')
        return NULL;
    if (*++at != '{')
        at = tm_space_end(at);
    return *at == '{' ? at : NULL;
}

/* Known events, passed to their receiver one after the other.
 * out:    *next  after the last one; NULL: an unknown event starts there
 *         returns the position of that event, or of the text after the last one */
static inline const uint8_t *read_known_events(struct tm_chrome_reader *r, const uint8_t *at, bool *ended)
{
    int32_t count = 0;

    for (*ended = false; !*ended;) {
        const uint8_t *const end = read_remembered(r, at), *next;

        if (!end)
            break;
        count++;
        if (r->known.take)
            r->known.take(r->known.to, &r->event);
        next = r->known.take && !tm_failed(r->run) ? following_event(end) : NULL;
        *ended = !next;
        at = next ? next : end;
    }
    tm_chrome_gain_trust(r->templates, count);
    return at;
}

/* --- any event --- */

static const uint8_t *read_new_event(struct tm_chrome_reader *r, const uint8_t *at)
{
    enum event_member member = MEMBER_BEGIN;

    tm_chrome_event_begin(r, at);
    at = next_event_member(r, at, &member);
    while (at && member != MEMBER_END) {
        at = read_member(r, at, member);
        if (at)
            at = next_event_member(r, at, &member);
    }
    if (at)
        tm_chrome_event_end(r);
    return at;
}

static const uint8_t *read_event(struct tm_chrome_reader *r, const uint8_t *at)
{
    bool ended = false;

    if (tm_chrome_may_be_known(r))
        at = read_known_events(r, at, &ended);
    return ended ? at : read_new_event(r, at);
}

static const uint8_t *skip_any(struct tm_chrome_reader *r, const uint8_t *at)
{
    return skip_value(r, at);
}

#endif
