/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over a Chrome trace where it is not at its usual pace: damage, words, numbers digit by digit. */
#include "stages/input/chrome/chrome_private.h"

static const char *end_problem(const struct tm_chrome_reader *reader)
{
    if (reader->in_event)
        return "the JSON ends inside an event";
    return reader->state == TM_DOCUMENT_LIST ? "the JSON ends inside the list of events" : "the JSON ends too early";
}

/* A file that was cut short may have been filled up with zeros.
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

/* Whether events may follow behind damage.  Not where nothing tells that this is such a document, and not behind one
 * that ended as it should: the end of an older file may stand there, which a shorter one was written over.  But a bracket
 * in place of the comma behind an event does not end the list. */
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
        return fits ? at : tm_chrome_fail(reader, at, "a word is none of JSON");
    }
    return tm_chrome_fail(reader, at, "a value is missing");
}

const uint8_t *tm_chrome_number(struct tm_chrome_reader *reader, const uint8_t *at)
{
    at = tm_json_walk_number(&reader->window, at, &reader->decimal);
    if (reader->decimal.state == TM_DECIMAL_MINUS && *at == 'I')
        return tm_chrome_word(reader, at);
    if (!tm_json_decimal_is_whole(&reader->decimal) || (*at >= '0' && *at <= '9')) /* 01 */
        return tm_chrome_fail(reader, at, "a number is not one of JSON");
    return at;
}
