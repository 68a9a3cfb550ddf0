/* SPDX-License-Identifier: Apache-2.0 */
/* Shared slow paths of the Chrome reader's engines: damage, words, and long numbers; the start and the end of an event,
 * and its strings when the window moves; strings that are more than bytes between two quotes (escapes, control
 * characters, excess length); the table of keys.  Nothing here calls an engine.
 * source: RFC 8259 section 7 */
#include "stages/input/chrome/chrome_reader.h"

#include <math.h>
#include <string.h>

#include <xxhash.h>

#include "pipeline/store/hash.h"
#include "pipeline/store/hash.h"
#include "stages/input/chrome/chrome_template.h"
#include "stages/input/records/facts.h"

/* --- damage, words, numbers digit by digit --- */

static const char *end_problem(const struct tm_chrome_reader *reader)
{
    if (reader->in_event)
        return "the JSON ends inside an event";
    return reader->state == TM_DOCUMENT_LIST ? "the JSON ends inside the list of events" : "the JSON ends too early";
}

/* A file that was truncated may have been padded with zeros.
 * out:    where other bytes follow, or the end */
static const uint8_t *skip_zeros(struct tm_chrome_reader *reader, const uint8_t *at)
{
    for (;;) {
        at = tm_json_more(&reader->window, at);
        if (*at || at == reader->window.end)
            return at;
        at++;
    }
}

/* Whether events may follow after damage.  Not if nothing indicates that this is such a document, and not after one
 * that ended correctly: the remainder of an older, longer file that was overwritten may follow.  But a bracket instead
 * of the comma after an event does not end the list. */
static bool may_go_on(const struct tm_chrome_reader *reader, const uint8_t *at)
{
    switch (reader->state) {
    case TM_DOCUMENT_BEGIN:
        return false;
    case TM_DOCUMENT_TAIL:
        return reader->damage.places > 0 || (reader->header.is_list && (*at == '{' || *at == ','));
    default:
        return true;
    }
}

static void begin_damage(struct tm_chrome_reader *reader, uint64_t offset, const char *what, bool is_cut)
{
    struct tm_chrome_damage *const damage = &reader->damage;

    reader->is_in_damage = true;
    reader->damage_from = reader->in_event ? reader->event.offset : offset;
    damage->places += !is_cut;
    tm_tally_add(&reader->run->tallies, TM_TALLY_DAMAGED_TEXT, !is_cut);
    if (damage->problem)
        return;
    damage->problem = what;
    damage->at = offset;
}

void tm_chrome_end_damage(struct tm_chrome_reader *reader, uint64_t to)
{
    struct tm_chrome_damage *const damage = &reader->damage;

    if (!damage->to) {
        damage->from = reader->damage_from;
        damage->to = to;
    }
    damage->bytes += to - reader->damage_from;
    reader->is_in_damage = false;
}

const uint8_t *tm_chrome_fail(struct tm_chrome_reader *reader, const uint8_t *at, const char *what)
{
    const uint64_t offset = tm_json_offset(&reader->window, at);
    bool is_cut, goes_on;

    reader->window.keep = reader->window.token = NULL;
    at = skip_zeros(reader, at);
    is_cut = at == reader->window.end;
    goes_on = !is_cut && may_go_on(reader, at);
    tm_tally_add(&reader->run->tallies, TM_TALLY_CUT_SHORT, is_cut);
    if (!reader->is_in_damage)
        begin_damage(reader, offset, is_cut ? end_problem(reader) : what, is_cut);
    if (!goes_on)
        tm_chrome_end_damage(reader, tm_json_offset(&reader->window, at));
    reader->damage.is_left |= !is_cut && !goes_on;
    reader->go_on_at = at;
    reader->state = goes_on ? TM_DOCUMENT_DAMAGED : TM_DOCUMENT_END;
    return NULL;
}

const uint8_t *tm_chrome_word(struct tm_chrome_reader *reader, const uint8_t *at)
{
    static const char *const words[] = { "true", "false", "null", "NaN", "Infinity" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        bool fits;

        if (*at != (uint8_t)words[i][0])
            continue;
        at = tm_json_walk_word(&reader->window, at, words[i], &fits);
        reader->not_numbers += i >= 3;
        return fits ? at : tm_chrome_fail(reader, at, "invalid JSON literal");
    }
    return tm_chrome_fail(reader, at, "a value is missing");
}

const uint8_t *tm_chrome_number(struct tm_chrome_reader *reader, const uint8_t *at)
{
    at = tm_json_walk_number(&reader->window, at, &reader->decimal);
    if (reader->decimal.state == TM_DECIMAL_MINUS && *at == 'I')
        return tm_chrome_word(reader, at);
    if (!tm_json_decimal_is_whole(&reader->decimal) || (*at >= '0' && *at <= '9')) /* 01 */
        return tm_chrome_fail(reader, at, "invalid JSON number");
    return at;
}

/* --- an event starts --- */

enum { SEED_CHROME = 0x6a73 }; /* configs of JSON and of XSpace are made from different strings */

void tm_chrome_event_begin(struct tm_chrome_reader *reader, const uint8_t *at)
{
    memset(&reader->event, 0, offsetof(struct tm_chrome_event, facts));
    tm_facts_begin(&reader->event.facts, SEED_CHROME);
    reader->ts = reader->dur = 0;
    for (int i = 0; i < TM_ID_SOURCES; i++)
        reader->ids[i].kind = TM_JSON_NO_ID;
    reader->name_traits = reader->seen = 0;
    reader->is_outgrown = reader->has_long_value = reader->has_repeated_key = reader->has_nested_argument = false;
    reader->has_others = false;
    reader->number_count = tm_chrome_may_be_learned(reader->templates) ? 0 : TM_NUMBERS_MOST + 1;
    reader->event_base = reader->window.base;
    reader->text_most = (uint32_t)tm_json_longest(&reader->window);
    reader->side_used = 0;
    reader->in_event = true;
    reader->event.offset = tm_json_offset(&reader->window, at);
    reader->window.keep = at;
    tm_chrome_keys_begin(&reader->keys);
}

/* --- the window moves --- */

typedef void change_fn(struct tm_chrome_reader *reader, const char **at, uint32_t length);

static void change_text(struct tm_chrome_reader *reader, struct tm_json_slice *text, change_fn *change)
{
    if (text->at)
        change(reader, &text->at, text->length);
}

static void change_id(struct tm_chrome_reader *reader, struct tm_json_id *id, change_fn *change)
{
    if (id->kind == TM_JSON_TEXT)
        change_text(reader, &id->text, change);
}

static void change_facts(struct tm_chrome_reader *reader, struct tm_facts *facts, change_fn *change)
{
    for (uint64_t left = facts->has; left; left &= left - 1) {
        struct tm_fact_text *const text = &facts->texts[__builtin_ctzll(left)];
        const char *at = (const char *)text->bytes;

        if (text->kind != TM_FACT_BYTES)
            continue;
        change(reader, &at, (uint32_t)text->length);
        text->bytes = (const uint8_t *)at;
    }
}

/* Every text of the event except for its arguments. */
static void change_texts(struct tm_chrome_reader *reader, change_fn *change)
{
    struct tm_chrome_event *const event = &reader->event;

    change_text(reader, &event->name, change);
    change_text(reader, &event->cat, change);
    change_id(reader, &event->pid, change);
    change_id(reader, &event->tid, change);
    for (int i = 0; i < TM_ID_SOURCES; i++)
        change_id(reader, &reader->ids[i], change);
    change_facts(reader, &event->facts, change);
}

static bool is_in_window(const struct tm_chrome_reader *reader, const char *at)
{
    const uint8_t *const byte = (const uint8_t *)at;

    return byte >= reader->window.buffer && byte <= reader->window.buffer + reader->window.capacity;
}

static void move(struct tm_chrome_reader *reader, const char **at, uint32_t length)
{
    (void)length;
    if (is_in_window(reader, *at))
        *at -= reader->moved_by;
}

void tm_chrome_moved(void *to, ptrdiff_t by)
{
    struct tm_chrome_reader *const reader = to;

    reader->moved_by = by;
    change_texts(reader, move);
    if (reader->event.args.at)
        reader->event.args.at -= by;
}

/* What is in the window fits: the side is as large, and holds only strings of one filling of the window. */
static void copy_aside(struct tm_chrome_reader *reader, const char **at, uint32_t length)
{
    uint8_t *const to = reader->side + reader->side_used;

    if (!is_in_window(reader, *at))
        return;
    memcpy(to, *at, length);
    *at = (const char *)to;
    reader->side_used += length;
}

void tm_chrome_outgrown(void *to)
{
    struct tm_chrome_reader *const reader = to;

    change_texts(reader, copy_aside);
    if (reader->event.args.at)
        reader->has_long_value = true;
    reader->event.args = (struct tm_json_slice){ .at = NULL };
    reader->is_outgrown = true;
    reader->text_most = 0;
}

/* --- its facts --- */

void tm_chrome_put_number(struct tm_chrome_reader *reader, enum tm_stat stat)
{
    int64_t number;
    double value;

    if (tm_json_int_of(&reader->decimal, &number)) {
        tm_facts_put_int(&reader->event.facts, stat, number);
        return;
    }
    value = tm_json_double_of(&reader->decimal);
    if (isfinite(value))
        tm_facts_put_double(&reader->event.facts, stat, value);
    else
        reader->not_numbers++;
}

void tm_chrome_drop_fact(struct tm_chrome_reader *reader, enum tm_stat stat)
{
    struct tm_facts *const facts = &reader->event.facts;

    facts->has &= ~TM_FACT_BIT(stat);
    facts->flags = 0;
    for (uint64_t left = facts->has; left; left &= left - 1)
        facts->flags |= tm_fact_flags[__builtin_ctzll(left)];
    facts->config_hash = tm_hash_mix(facts->config_hash, stat); /* it was made from what no longer counts */
}

void tm_chrome_drop_args(struct tm_chrome_reader *reader)
{
    reader->event.args = (struct tm_json_slice){ .at = NULL };
    tm_facts_begin(&reader->event.facts, SEED_CHROME);
}

/* --- its end --- */

/* It follows damage and is not an event. */
static bool is_skipped(const struct tm_chrome_reader *reader)
{
    return reader->is_in_damage && !reader->event.phase;
}

/* Times in an unusual form. */
static void count_times(struct tm_chrome_reader *reader, struct tm_tallies *tallies)
{
    const uint32_t either = reader->ts | reader->dur;

    if (reader->ts & TM_TIME_LONG)
        reader->ts = TM_TIME_BAD | (reader->ts & ~(uint32_t)TM_TIME_THERE);
    if (reader->dur & TM_TIME_LONG)
        reader->event.has |= TM_CHROME_LONG_DUR;
    if (is_skipped(reader))
        return;
    tm_tally_add(tallies, TM_TALLY_BAD_NUMBER,
                 (uint64_t)((reader->ts & TM_TIME_BAD) != 0) + ((reader->dur & TM_TIME_BAD) != 0));
    tm_tally_add(tallies, TM_TALLY_STRING_NUMBER, (either & TM_TIME_TEXT) != 0);
    tm_tally_add(tallies, TM_TALLY_EXPONENT_NUMBER, (either & TM_TIME_EXPONENT) != 0);
}

void tm_chrome_count_traits(struct tm_chrome_reader *reader)
{
    struct tm_tallies *const tallies = &reader->run->tallies;
    const uint32_t traits = reader->name_traits;

    reader->event.has |= reader->has_others ? TM_CHROME_OTHERS : 0;
    if (is_skipped(reader))
        return;
    /* half of a pair is not a character */
    tm_tally_add(tallies, TM_TALLY_UNICODE_NAME, (traits & (TM_TEXT_UNICODE | TM_TEXT_SURROGATE)) == TM_TEXT_UNICODE);
    tm_tally_add(tallies, TM_TALLY_CONTROL_CHARACTER, (traits & TM_TEXT_CONTROL) != 0);
    tm_tally_add(tallies, TM_TALLY_LONE_SURROGATE, (traits & TM_TEXT_SURROGATE) != 0);
    tm_tally_add(tallies, TM_TALLY_LONG_VALUE, reader->has_long_value);
    tm_tally_add(tallies, TM_TALLY_REPEATED_KEY, reader->has_repeated_key);
    tm_tally_add(tallies, TM_TALLY_NESTED_ARGUMENT, reader->has_nested_argument);
}

void tm_chrome_event_end(struct tm_chrome_reader *reader)
{
    int source = 0;

    while (source < TM_ID_BIND && reader->ids[source].kind == TM_JSON_NO_ID)
        source++;
    reader->event.id = reader->ids[source];
    if ((reader->ts | reader->dur) & ~(uint32_t)TM_TIME_THERE)
        count_times(reader, &reader->run->tallies);
    reader->event.has |= reader->ts & TM_TIME_THERE ? TM_CHROME_TS : 0;
    reader->event.has |= reader->dur & TM_TIME_THERE ? TM_CHROME_DUR : 0;
    if (reader->name_traits || reader->has_long_value || reader->has_repeated_key || reader->has_nested_argument ||
        reader->has_others)
        tm_chrome_count_traits(reader);
    reader->event.members = (const char *)reader->window.keep;
    reader->window.keep = NULL;
    reader->in_event = false;
}

/* --- strings: the walk --- */

static bool is_hex(uint8_t c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* in:     at  after the backslash */
static const uint8_t *walk_escape(struct tm_chrome_reader *r, const uint8_t *at)
{
    at = tm_json_more(&r->window, at);
    if (*at && strchr("\"\\/bfnrt", *at))
        return at + 1;
    if (*at != 'u')
        return tm_chrome_fail(r, at, "a string has an invalid escape");
    for (int i = 0; i < 4; i++) {
        at = tm_json_more(&r->window, at + 1);
        if (!is_hex(*at))
            return tm_chrome_fail(r, at, "a string has an invalid escape");
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
        return at == reader->window.end ? tm_chrome_fail(reader, at, "a string is not terminated") : at;
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

/* The character of \uXXXX, with the one that follows if the two are a pair.
 * in:     at  after the backslash
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

/* in:     at  after the backslash */
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
