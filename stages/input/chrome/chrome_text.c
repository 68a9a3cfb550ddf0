/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of a Chrome trace that are more than bytes between two quotes: escapes, control characters, what is too long.
 * source: RFC 8259 section 7 */
#include "stages/input/chrome/chrome_reader.h"

#include <string.h>

#include <xxhash.h>

#include "pipeline/store/hash.h"
#include "stages/input/records/facts.h"

/* --- the walk --- */

static bool is_hex(uint8_t c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* in:     at  behind the backslash */
static const uint8_t *walk_escape(struct tm_chrome_reader *r, const uint8_t *at)
{
    at = tm_json_more(&r->window, at);
    if (*at && strchr("\"\\/bfnrt", *at))
        return at + 1;
    if (*at != 'u')
        return tm_chrome_fail(r, at, "a text has a wrong escape");
    for (int i = 0; i < 4; i++) {
        at = tm_json_more(&r->window, at + 1);
        if (!is_hex(*at))
            return tm_chrome_fail(r, at, "a text has a wrong escape");
    }
    return at + 1;
}

const uint8_t *tm_chrome_text_rest(struct tm_chrome_reader *reader, const uint8_t *at)
{
    if (*at == '\\') {
        reader->text_traits |= TM_TEXT_ESCAPED;
        return walk_escape(reader, at + 1);
    }
    if (at == reader->window.end) {
        at = tm_json_read_on(&reader->window, at);
        return at == reader->window.end ? tm_chrome_fail(reader, at, "a text has no end") : at;
    }
    reader->text_traits |= TM_TEXT_CONTROL;
    return at + 1;
}

/* --- escapes --- */

static uint32_t hex4(const uint8_t *at)
{
    uint32_t value = 0;

    for (int i = 0; i < 4; i++) {
        const uint32_t digit = at[i] <= '9' ? at[i] - (uint32_t)'0' : (at[i] | 0x20u) - 'a' + 10;

        value = value << 4 | digit;
    }
    return value;
}

static size_t put_utf8(uint8_t *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (uint8_t)(0xc0 | code >> 6);
        to[1] = (uint8_t)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (uint8_t)(0xe0 | code >> 12);
        to[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        to[2] = (uint8_t)(0x80 | (code & 0x3f));
        return 3;
    }
    to[0] = (uint8_t)(0xf0 | code >> 18);
    to[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
    to[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
    to[3] = (uint8_t)(0x80 | (code & 0x3f));
    return 4;
}

static uint32_t traits_of(uint32_t code)
{
    if (code < 0x20 || code == 0x7f)
        return TM_TEXT_CONTROL;
    if (code >= 0xd800 && code < 0xe000)
        return TM_TEXT_SURROGATE | TM_TEXT_UNICODE;
    return code >= 0x80 ? TM_TEXT_UNICODE : 0;
}

/* What \uXXXX says, with the one that follows where the two are a pair.
 * in:     at  behind the backslash
 * out:    *used  bytes from there on; 0 = the text ends inside it */
static uint32_t read_code(const uint8_t *at, size_t left, size_t *used)
{
    uint32_t code, low;

    *used = left < 5 ? 0 : 5;
    if (!*used)
        return 0;
    code = hex4(at + 1);
    if (code < 0xd800 || code > 0xdbff || left < 11 || at[5] != '\\' || at[6] != 'u')
        return code;
    low = hex4(at + 7);
    if (low < 0xdc00 || low > 0xdfff)
        return code;
    *used = 11;
    return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

/* in:     at  behind the backslash */
static uint32_t read_escape(const uint8_t *at, size_t left, size_t *used)
{
    static const char letters[] = "bfnrt", codes[] = "\b\f\n\r\t";
    const char *letter;

    *used = left > 0;
    if (!*used)
        return 0;
    if (*at == 'u')
        return read_code(at, left, used);
    letter = strchr(letters, *at);
    return letter && *letter ? (uint32_t)codes[letter - letters] : *at;
}

size_t tm_json_unescape(uint8_t *to, const uint8_t *from, size_t length, uint32_t *traits)
{
    size_t out = 0, at = 0;

    *traits = 0;
    while (at < length) {
        const uint8_t *const escape = memchr(from + at, '\\', length - at);
        const size_t plain = escape ? (size_t)(escape - from) - at : length - at;
        size_t used;
        uint32_t code;

        memmove(to + out, from + at, plain);
        out += plain;
        at += plain;
        if (!escape)
            break;
        code = read_escape(from + at + 1, length - at - 1, &used);
        if (!used)
            break;
        *traits |= traits_of(code);
        out += put_utf8(to + out, code);
        at += 1 + used;
    }
    return out;
}

uint32_t tm_chrome_text_traits(struct tm_json_slice text)
{
    uint32_t traits = 0;

    for (uint32_t i = 0; i < text.length; i++) {
        const uint8_t c = (uint8_t)text.at[i];

        if (c >= 0x80)
            traits |= TM_TEXT_UNICODE;
        else if (c < 0x20 || c == 0x7f)
            traits |= TM_TEXT_CONTROL;
    }
    return traits;
}

/* --- what stays --- */

/* Not in the middle of a character. */
static uint32_t cut_between_characters(const char *text, uint32_t length)
{
    uint32_t at = length;

    while (at > 0 && length - at < 4 && ((uint8_t)text[at - 1] & 0xc0) == 0x80)
        at--;
    return at > 0 && (uint8_t)text[at - 1] >= 0xc0 ? at - 1 : length;
}

void tm_chrome_keep_text(struct tm_chrome_reader *reader, struct tm_json_slice *text)
{
    const uint8_t *const from = (const uint8_t *)text->at;
    uint8_t *const to = reader->side + reader->side_used;
    uint32_t traits = 0;

    if (text->length > tm_json_longest(&reader->window)) {
        reader->has_long_value = true;
        text->length = cut_between_characters(text->at, (uint32_t)tm_json_longest(&reader->window));
    }
    if (!(reader->text_traits & TM_TEXT_ESCAPED) && !reader->is_outgrown)
        return;
    if (text->length > reader->window.capacity - reader->side_used) {
        reader->has_long_value = true;
        text->length = 0;
    }
    text->length = (uint32_t)tm_json_unescape(to, from, text->length, &traits);
    text->at = (const char *)to;
    reader->text_traits |= traits;
    reader->side_used += text->length;
}

const uint8_t *tm_chrome_escaped_key(struct tm_chrome_reader *reader, uint32_t *length)
{
    uint8_t *const to = reader->side + reader->side_used;
    uint32_t traits;

    if (*length > tm_json_longest(&reader->window) || *length > reader->window.capacity - reader->side_used) {
        reader->key_is_cut = reader->has_long_value = true;
        return reader->window.token;
    }
    *length = (uint32_t)tm_json_unescape(to, reader->window.token, *length, &traits);
    return to;
}

/* The table of keys: open, probed in steps of one. */

void tm_chrome_keys_begin(struct tm_chrome_keys *keys)
{
    if (keys->used > TM_KEYS_ENOUGH || keys->event == UINT32_MAX)
        memset(keys, 0, sizeof(*keys));
    keys->event++;
}

void tm_chrome_key_hash(const uint8_t *key, struct tm_key_name *name)
{
    const XXH128_hash_t hash = XXH3_128bits(key, name->length - 1);

    name->words[0] = hash.low64;
    name->words[1] = hash.high64;
}

static enum tm_stat argument_of(const uint8_t *key, const struct tm_key_name *name)
{
    return name->place == TM_KEY_OF_ARGUMENTS ? tm_argument_of((const char *)key, name->length - 1) : TM_STAT_UNKNOWN;
}

struct tm_key_slot *tm_chrome_key_spare(struct tm_chrome_keys *keys, enum tm_stat stat)
{
    struct tm_key_slot *const slot = &keys->slots[TM_KEY_SPARE];

    *slot = (struct tm_key_slot){ .stat = (uint16_t)stat }; /* of no event: it is not watched for repetition */
    return slot;
}

static bool ends_key(const void *at, const void *name)
{
    const struct tm_key_slot *const slot = at;

    return !slot->name.length || tm_key_names_equal(&slot->name, name);
}

struct tm_key_slot *tm_chrome_key_slow(struct tm_chrome_keys *keys, const uint8_t *key, struct tm_key_name *name)
{
    struct tm_key_slot *const slot =
        tm_probe(keys->slots, TM_KEY_SLOTS, sizeof(*slot), tm_key_first_slot(name), name, ends_key);

    if (slot->name.length)
        return slot;
    if (keys->used == TM_KEYS_MOST)
        return tm_chrome_key_spare(keys, argument_of(key, name));
    keys->used++;
    *slot = (struct tm_key_slot){ .name = *name, .stat = (uint16_t)argument_of(key, name) };
    slot->varies = slot->stat == TM_STAT_CORRELATION_ID || slot->stat == TM_STAT_RUN_ID;
    return slot;
}
