/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over a Chrome trace where it is not at its usual pace: damage, words, numbers digit by digit. */
#include "stages/input/chrome/chrome_private.h"

static const char *end_problem(const struct tm_chrome_reader *reader)
{
    if (reader->in_event)
        return "the JSON ends inside an event";
    return reader->state == TM_DOCUMENT_LIST ? "the JSON ends inside the list of events" : "the JSON ends too early";
}

/* A file that was cut short may have been filled up with zeros. */
static bool only_zeros_follow(struct tm_chrome_reader *reader, const uint8_t *at)
{
    while (at != reader->window.end || !reader->window.at_end) {
        at = tm_json_more(&reader->window, at);
        if (*at)
            return false;
        if (at != reader->window.end)
            at++;
    }
    return true;
}

const uint8_t *tm_chrome_fail(struct tm_chrome_reader *reader, const uint8_t *at, const char *what)
{
    reader->problem_at = tm_json_offset(&reader->window, at);
    reader->problem = what;
    reader->window.keep = reader->window.token = NULL;
    if (only_zeros_follow(reader, at)) {
        reader->problem = end_problem(reader);
        tm_tally_add(&reader->run->tallies, TM_TALLY_CUT_SHORT, 1);
    }
    reader->state = TM_DOCUMENT_END;
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
