/* SPDX-License-Identifier: Apache-2.0 */
/* The document of a Chrome trace: an object with traceEvents among its members, or the bare list.
 * source: the Trace Event Format; RFC 8259 */
#include "stages/input/chrome/json_walk.h"

static void count(struct tm_chrome_reader *r, enum tm_tally which)
{
    tm_tally_add(&r->run->tallies, which, 1);
}

static bool is_at_end(const struct tm_chrome_reader *r, const uint8_t *at)
{
    return at == r->window.end;
}

static void count_not_numbers(struct tm_chrome_reader *r)
{
    tm_tally_add(&r->run->tallies, TM_TALLY_NAN_NUMBER, r->not_numbers);
    r->not_numbers = 0;
}

/* --- begin and end --- */

static const uint8_t *begin_document(struct tm_chrome_reader *r, const uint8_t *at)
{
    bool has_mark;
    const uint8_t *const begin = tm_json_more(&r->window, at);

    at = begin;
    if (*begin == 0xef) {
        at = tm_json_walk_word(&r->window, begin, "\xef\xbb\xbf", &has_mark);
        if (!has_mark)
            return tm_chrome_fail(r, at, "it does not begin as JSON does");
        count(r, TM_TALLY_BYTE_ORDER_MARK);
    }
    at = walk_space(r, at);
    r->header.is_list = *at == '[';
    if (*at != '[' && *at != '{')
        return tm_chrome_fail(r, at, "it does not begin as JSON with events does");
    r->is_first = true;
    r->state = r->header.is_list ? TM_DOCUMENT_LIST : TM_DOCUMENT_MEMBERS;
    return r->header.is_list ? at + 1 : at; /* the members begin with their brace */
}

/* Nothing but white space and zero bytes may follow. */
static const uint8_t *read_tail(struct tm_chrome_reader *r, const uint8_t *at)
{
    bool has_zeros = false;

    for (at = walk_space(r, at); !is_at_end(r, at); at = walk_space(r, at + 1)) {
        if (*at)
            return tm_chrome_fail(r, at, "something follows the end of the JSON");
        has_zeros = true;
    }
    if (has_zeros)
        count(r, TM_TALLY_ZERO_PADDING);
    r->state = TM_DOCUMENT_END;
    return at;
}

/* --- the list --- */

/* What {} was, now that it is known what follows. */
static void settle_empty(struct tm_chrome_reader *r, enum tm_tally which)
{
    if (r->waits_empty)
        count(r, which);
    r->waits_empty = false;
}

static const uint8_t *end_list(struct tm_chrome_reader *r, const uint8_t *at)
{
    settle_empty(r, TM_TALLY_CLOSING_OBJECT);
    r->is_first = false; /* of the members, which go on */
    r->state = r->header.is_list || r->is_looking ? TM_DOCUMENT_TAIL : TM_DOCUMENT_MEMBERS;
    return at;
}

/* The bare list may end without its bracket between two events. */
static const uint8_t *end_open_list(struct tm_chrome_reader *r, const uint8_t *at)
{
    settle_empty(r, TM_TALLY_EMPTY_OBJECT);
    count(r, TM_TALLY_OPEN_ARRAY);
    r->state = TM_DOCUMENT_TAIL;
    return at;
}

static bool may_end_here(const struct tm_chrome_reader *r, const uint8_t *at)
{
    return r->header.is_list && (is_at_end(r, at) || !*at);
}

/* To the next element. */
static const uint8_t *next_element(struct tm_chrome_reader *r, const uint8_t *at)
{
    at = walk_space(r, at);
    if (*at == ']')
        return end_list(r, at + 1);
    if (may_end_here(r, at))
        return end_open_list(r, at);
    if (!r->is_first) {
        if (*at != ',')
            return tm_chrome_fail(r, at, "a comma is missing");
        settle_empty(r, TM_TALLY_EMPTY_OBJECT);
        at = walk_space(r, at + 1);
        if (may_end_here(r, at))
            return end_open_list(r, at);
    }
    r->is_first = false;
    return at;
}

/* out:    *got  it is an event that has something in it */
static const uint8_t *read_element(struct tm_chrome_reader *r, const uint8_t *at, bool *got)
{
    at = next_element(r, at);
    if (!at || r->state != TM_DOCUMENT_LIST)
        return at;
    if (*at == '{') {
        at = r->engine->event(r, at);
        *got = at && r->seen;
        r->waits_empty = at && !r->seen;
    } else {
        at = r->engine->skip(r, at);
        if (at)
            count(r, TM_TALLY_NOT_AN_OBJECT);
    }
    if (at && r->not_numbers)
        count_not_numbers(r);
    return at;
}

/* --- the members --- */

static const uint8_t *begin_events(struct tm_chrome_reader *r, const uint8_t *at)
{
    if (*at != '[')
        return tm_chrome_fail(r, at, "traceEvents is not a list");
    if (r->header.has_events)
        count(r, TM_TALLY_REPEATED_KEY);
    r->header.has_events = r->is_first = true;
    r->state = TM_DOCUMENT_LIST;
    return at + 1;
}

static const uint8_t *read_value(struct tm_chrome_reader *r, const uint8_t *at)
{
    struct tm_json_slice key;

    key.at = (const char *)take_key(r, &key.length);
    if (r->key_is_cut)
        return r->engine->skip(r, at);
    return tm_json_text_is(key, "traceEvents") ? begin_events(r, at) : tm_chrome_header_member(r, key, at);
}

static const uint8_t *read_document_member(struct tm_chrome_reader *r, const uint8_t *at)
{
    bool ended;

    at = r->is_first ? first_member(r, at, &ended) : next_member(r, at, &ended);
    if (!at)
        return NULL;
    r->is_first = false;
    if (ended) {
        r->state = TM_DOCUMENT_TAIL;
        return at;
    }
    r->side_used = 0;
    r->is_outgrown = false;
    at = read_key(r, at);
    if (at)
        at = read_value(r, at);
    if (at)
        count_not_numbers(r);
    return at;
}

/* --- behind damage --- */

/* To the next object that is no member's value, wherever it stands.
 * in:     *before  the last byte before that is no white space */
static const uint8_t *next_object(struct tm_chrome_reader *r, const uint8_t *at, uint8_t *before)
{
    for (;; at++) {
        at = tm_json_more(&r->window, at);
        if (is_at_end(r, at) || (*at == '{' && *before != ':'))
            return at;
        if (*at > ' ')
            *before = *at;
    }
}

/* To the next event, and over it.  What is none is not gone back to, so that each byte is looked at twice at most. */
static const uint8_t *find_event(struct tm_chrome_reader *r, bool *got)
{
    const uint8_t *at = r->go_on_at;
    uint8_t before = 0;

    settle_empty(r, TM_TALLY_EMPTY_OBJECT);
    r->state = TM_DOCUMENT_LIST;
    do {
        r->not_numbers = 0;
        r->in_event = false;
        at = next_object(r, at, &before);
        if (is_at_end(r, at)) {
            tm_chrome_end_damage(r, tm_json_offset(&r->window, at));
            r->state = TM_DOCUMENT_END;
            return at;
        }
        at = r->engine->event(r, at);
        if (!at)
            return NULL;
        before = '}';
    } while (!r->event.phase);
    tm_chrome_end_damage(r, r->event.offset);
    r->is_first = false;
    *got = true;
    if (r->not_numbers)
        count_not_numbers(r);
    return at;
}

bool tm_chrome_document_next(struct tm_chrome_reader *reader)
{
    const uint8_t *at = reader->at;
    bool got = false;

    while (!got && reader->state != TM_DOCUMENT_END && reader->window.status == TM_OK) {
        switch (reader->state) {
        case TM_DOCUMENT_BEGIN:
            at = begin_document(reader, at);
            break;
        case TM_DOCUMENT_MEMBERS:
            at = read_document_member(reader, at);
            break;
        case TM_DOCUMENT_LIST:
            at = read_element(reader, at, &got);
            break;
        case TM_DOCUMENT_DAMAGED:
            at = find_event(reader, &got);
            break;
        default:
            at = read_tail(reader, at);
        }
    }
    reader->at = at;
    return got;
}

/* --- looking ahead --- */

/* The window is filled and then taken for all that there is, so that nothing moves in it.  The header is not read. */
tm_status tm_chrome_look_ahead(struct tm_chrome_reader *reader, size_t most, tm_chrome_look *look, void *to)
{
    struct tm_json_window *const window = &reader->window;
    const struct tm_tallies tallies = reader->run->tallies;
    const struct tm_chrome_damage damage = reader->damage;
    const uint8_t *const begin = (const uint8_t *)reader->event.members;
    const size_t bytes = begin ? (size_t)(reader->at - begin) : 0;
    bool at_end;

    look(to, &reader->event);
    if (!begin) /* it is larger than the window */
        return TM_OK;
    tm_json_fill(window, begin);
    if (window->status != TM_OK)
        return window->status;
    at_end = window->at_end;
    window->at_end = reader->is_looking = true;
    reader->at = window->buffer + bytes;
    while (--most && tm_chrome_document_next(reader))
        look(to, &reader->event);
    reader->state = TM_DOCUMENT_LIST;
    reader->is_looking = reader->waits_empty = reader->is_first = reader->is_in_damage = false;
    reader->damage = damage;
    reader->at = reader->engine->event(reader, window->buffer);
    reader->not_numbers = 0;
    reader->run->tallies = tallies;
    window->at_end = at_end;
    return window->status;
}
