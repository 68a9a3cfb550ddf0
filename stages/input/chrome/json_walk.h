/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JSON_WALK_H
#define TM_JSON_WALK_H

#include "stages/input/chrome/chrome_reader.h"
#include "stages/input/chrome/json_text.h"

/* The steps of the walk over JSON, compiled with the searches of json_text.h: each takes where it starts and gives
 * where it ends, or NULL if the text is damaged.  Rare cases are handled elsewhere, once for all. */

/* out:    the next byte that is not white space; window.end at the end of the content */
static inline const uint8_t *walk_space(struct tm_chrome_reader *r, const uint8_t *at)
{
    if (TM_LIKELY(*at > ' '))
        return at;
    if (*at == ' ' && at[1] > ' ')
        return at + 1;
    do {
        at = tm_space_end(at);
        if (at != r->window.end)
            return at;
        at = tm_json_read_on(&r->window, at);
    } while (at != r->window.end);
    return at;
}

/* in:     at  after the quote
 * out:    the other quote; reader->text_traits */
static inline const uint8_t *walk_text(struct tm_chrome_reader *r, const uint8_t *at)
{
    r->text_traits = 0;
    for (;;) {
        at = tm_text_stop(at);
        if (TM_LIKELY(*at == '"'))
            return at;
        at = tm_chrome_text_rest(r, at);
        if (!at)
            return NULL;
    }
}

static inline const uint8_t *read_long_text(struct tm_chrome_reader *r, const uint8_t *at, struct tm_json_slice *text)
{
    r->window.token = at + 1;
    at = walk_text(r, at + 1);
    if (!at)
        return NULL;
    text->at = (const char *)r->window.token;
    text->length = (uint32_t)(at - r->window.token);
    if (r->text_traits & TM_TEXT_ESCAPED || text->length > r->text_most)
        tm_chrome_keep_text(r, text);
    r->window.token = NULL;
    return at + 1;
}

/* A string that stays until its event ends.
 * in:     at  the quote */
TM_INLINE const uint8_t *read_text(struct tm_chrome_reader *r, const uint8_t *at, struct tm_json_slice *text)
{
    const uint8_t *const end = tm_text_stop(at + 1);
    const uint32_t length = (uint32_t)(end - at) - 1;

    if (!TM_LIKELY(*end == '"' && length <= r->text_most))
        return read_long_text(r, at, text);
    *text = (struct tm_json_slice){ (const char *)at + 1, length };
    r->text_traits = 0;
    return end + 1;
}

/* A key that is not needed.
 * out:    the value */
static inline const uint8_t *skip_key(struct tm_chrome_reader *r, const uint8_t *at)
{
    if (*at != '"')
        return tm_chrome_fail(r, at, "a key is missing");
    at = walk_text(r, at + 1);
    if (!at)
        return NULL;
    at = walk_space(r, at + 1);
    if (*at != ':')
        return tm_chrome_fail(r, at, "a colon is missing");
    return walk_space(r, at + 1);
}

/* A key: it is at window.token until that is set to NULL. */
static inline const uint8_t *read_key(struct tm_chrome_reader *r, const uint8_t *at)
{
    if (*at != '"')
        return tm_chrome_fail(r, at, "a key is missing");
    r->window.token = at + 1;
    at = walk_text(r, at + 1);
    if (!at)
        return NULL;
    r->key_length = (uint32_t)(at - r->window.token);
    at = walk_space(r, at + 1);
    if (*at != ':')
        return tm_chrome_fail(r, at, "a colon is missing");
    return walk_space(r, at + 1);
}

/* The key that was read.  TM_KEY_BYTES can be loaded; it is there until the window moves. */
static inline const uint8_t *take_key(struct tm_chrome_reader *r, uint32_t *length)
{
    const uint8_t *key = r->window.token;

    r->key_is_cut = false;
    *length = r->key_length;
    if (r->text_traits & TM_TEXT_ESCAPED || r->key_length > tm_json_longest(&r->window))
        key = tm_chrome_escaped_key(r, length);
    r->window.token = NULL;
    return key;
}

/* After a member of an object.
 * out:    *ended  the object has ended: after it; else at the next key */
static inline const uint8_t *next_member(struct tm_chrome_reader *r, const uint8_t *at, bool *ended)
{
    at = walk_space(r, at);
    *ended = *at == '}';
    if (*ended)
        return at + 1;
    if (*at != ',')
        return tm_chrome_fail(r, at, "a comma is missing");
    return walk_space(r, at + 1);
}

/* in:     at  the brace
 * out:    as next_member */
static inline const uint8_t *first_member(struct tm_chrome_reader *r, const uint8_t *at, bool *ended)
{
    at = walk_space(r, at + 1);
    *ended = *at == '}';
    return at + *ended;
}

static inline const uint8_t *skip_digits(const uint8_t *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* out:    after the digits of a number, with its sign and point; NULL if it is not valid JSON */
static inline const uint8_t *plain_digits_end(const uint8_t *begin)
{
    const uint8_t *at = begin + (*begin == '-'), *const digits = at;

    at = skip_digits(at);
    if (at == digits || (*digits == '0' && at > digits + 1))
        return NULL;
    if (*at == '.') {
        const uint8_t *const fraction = at + 1;

        at = skip_digits(fraction);
        if (at == fraction)
            return NULL;
    }
    return at;
}

/* The fast path for a plain number.
 * out:    NULL if it is more than that, or may continue after the window */
static inline const uint8_t *plain_number_end(const uint8_t *begin)
{
    const uint8_t *const end = plain_digits_end(begin);

    return end && tm_ends_number(*end) ? end : NULL;
}

static inline const uint8_t *skip_number(struct tm_chrome_reader *r, const uint8_t *at)
{
    const uint8_t *const end = plain_number_end(at);

    return TM_LIKELY(end != NULL) ? end : tm_chrome_number(r, at);
}

/* A value that is neither a list nor an object. */
static inline const uint8_t *skip_simple(struct tm_chrome_reader *r, const uint8_t *at)
{
    if (*at == '"') {
        at = walk_text(r, at + 1);
        return at ? at + 1 : NULL;
    }
    if (*at == '-' || (*at >= '0' && *at <= '9'))
        return skip_number(r, at);
    return tm_chrome_word(r, at);
}

static inline bool is_object_at(const struct tm_chrome_reader *r, uint32_t depth)
{
    return r->is_object[(depth - 1) / 64] >> (depth - 1) % 64 & 1;
}

/* in:     at  a brace or bracket
 * out:    the first value; *empty: the closing one */
static inline const uint8_t *open_nested(struct tm_chrome_reader *r, const uint8_t *at, uint32_t *depth, bool *empty)
{
    const bool is_object = *at == '{';
    uint64_t *word;
    uint64_t bit;

    *empty = false;
    if (*depth == TM_JSON_DEEPEST)
        return tm_chrome_fail(r, at, "it is nested too deeply");
    word = &r->is_object[*depth / 64];
    bit = UINT64_C(1) << *depth % 64;
    *word = is_object ? *word | bit : *word & ~bit;
    r->skipped_nested = r->skipped_nested || *depth > 0;
    ++*depth;
    at = walk_space(r, at + 1);
    *empty = *at == (is_object ? '}' : ']');
    return is_object && !*empty ? skip_key(r, at) : at;
}

/* After a value inside lists and objects: close those that end here, and move to the next value.
 * out:    after the outermost one if *depth is 0 */
static inline const uint8_t *next_nested(struct tm_chrome_reader *r, const uint8_t *at, uint32_t *depth)
{
    while (*depth > 0) {
        const bool is_object = is_object_at(r, *depth);

        at = walk_space(r, at);
        if (*at == ',') {
            at = walk_space(r, at + 1);
            return is_object ? skip_key(r, at) : at;
        }
        if (*at != (is_object ? '}' : ']'))
            return tm_chrome_fail(r, at, "a comma is missing");
        at++;
        --*depth;
    }
    return at;
}

/* A list or an object.  out: reader->skipped_nested */
static inline const uint8_t *skip_nested(struct tm_chrome_reader *r, const uint8_t *at)
{
    uint32_t depth = 0;
    bool goes_in = false;

    r->skipped_nested = false;
    do {
        goes_in = *at == '{' || *at == '[';
        if (goes_in) {
            bool empty;

            at = open_nested(r, at, &depth, &empty);
            goes_in = !empty;
        } else {
            at = skip_simple(r, at);
        }
        if (at && !goes_in)
            at = next_nested(r, at, &depth);
    } while (at && depth > 0);
    return at;
}

static inline const uint8_t *skip_value(struct tm_chrome_reader *r, const uint8_t *at)
{
    return *at == '{' || *at == '[' ? skip_nested(r, at) : skip_simple(r, at);
}

#endif
