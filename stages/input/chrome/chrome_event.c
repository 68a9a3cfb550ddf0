/* SPDX-License-Identifier: Apache-2.0 */
/* An event of a Chrome trace: its begin, its end, and what becomes of its texts when the window moves. */
#include <math.h>

#include "pipeline/hash.h"
#include "stages/input/chrome/chrome_private.h"

enum { SEED_CHROME = 0x6a73 }; /* configs of JSON and of XSpace are made from different texts */

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

/* Every text of the event but the one of its arguments. */
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

void tm_chrome_moved(void *to, size_t by)
{
    struct tm_chrome_reader *const reader = to;

    reader->moved_by = by;
    change_texts(reader, move);
    if (reader->event.args.at)
        reader->event.args.at -= by;
}

/* What is in the window fits: the side holds as much, and only texts of the window's one filling. */
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

/* It stands behind damage and is no event. */
static bool is_skipped(const struct tm_chrome_reader *reader)
{
    return reader->is_in_damage && !reader->event.phase;
}

/* Times that are not as they usually are. */
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

static void count_rare(struct tm_chrome_reader *reader, struct tm_tallies *tallies)
{
    const uint32_t traits = reader->name_traits;

    reader->event.has |= reader->has_others ? TM_CHROME_OTHERS : 0;
    if (is_skipped(reader))
        return;
    /* half a pair is no letter */
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
        count_rare(reader, &reader->run->tallies);
    reader->event.members = (const char *)reader->window.keep;
    reader->window.keep = NULL;
    reader->in_event = false;
}
