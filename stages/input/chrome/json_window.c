/* SPDX-License-Identifier: Apache-2.0 */
/* The window on the text of a JSON document: what is kept moves to its front when it is full. */
#include "stages/input/chrome/json_window.h"

#include <string.h>

tm_status tm_json_window_open(struct tm_json_window *window, size_t bytes)
{
    window->capacity = bytes;
    window->buffer = tm_take(&window->run->budget, TM_ACCOUNT_INPUT, bytes + TM_JSON_PADDING, &window->run->error);
    window->end = window->buffer;
    return window->buffer ? TM_OK : window->run->error.status;
}

void tm_json_window_close(struct tm_json_window *window)
{
    if (window->buffer)
        tm_give(&window->run->budget, TM_ACCOUNT_INPUT, window->buffer, window->capacity + TM_JSON_PADDING);
    window->buffer = NULL;
}

static const uint8_t *first_kept(const struct tm_json_window *window)
{
    if (window->keep)
        return window->keep;
    return window->token ? window->token : window->end;
}

static void move_to_front(struct tm_json_window *window, const uint8_t *from)
{
    const size_t by = (size_t)(from - window->buffer);

    memmove(window->buffer, from, (size_t)(window->end - from));
    window->end -= by;
    window->base += by;
    if (window->keep)
        window->keep -= by;
    if (window->token)
        window->token -= by;
    if (window->keep)
        window->moved(window->to, by);
}

/* The token alone fills the window.  One byte more than fits stays, which tells that it is cut. */
static void cut_token(struct tm_json_window *window)
{
    const uint8_t *const end = window->buffer + tm_json_longest(window) + 1;

    window->base += (uint64_t)(window->end - end);
    window->end = end;
}

static void make_room(struct tm_json_window *window)
{
    if (first_kept(window) == window->buffer && window->keep) {
        window->outgrown(window->to);
        window->keep = NULL;
    }
    if (first_kept(window) == window->buffer)
        cut_token(window);
    else
        move_to_front(window, first_kept(window));
}

const uint8_t *tm_json_read_on(struct tm_json_window *window, const uint8_t *at)
{
    uint8_t *end;
    size_t room, got = 0;

    if (window->at_end)
        return at;
    if (window->end == window->buffer + window->capacity)
        make_room(window);
    end = window->buffer + (window->end - window->buffer);
    room = (size_t)(window->buffer + window->capacity - end);
    if (room > window->read_bytes)
        room = window->read_bytes;
    window->status = tm_input_next(window->input, end, room, &got);
    if (window->status != TM_OK)
        got = 0;
    window->at_end = got == 0;
    memset(end + got, 0, TM_JSON_PADDING);
    window->end = end + got;
    return end;
}

void tm_json_fill(struct tm_json_window *window, const uint8_t *at)
{
    move_to_front(window, at);
    memset(window->buffer + (window->end - window->buffer), 0, TM_JSON_PADDING);
    while (!window->at_end && window->end < window->buffer + window->capacity)
        (void)tm_json_read_on(window, window->end);
}

const uint8_t *tm_json_walk_word(struct tm_json_window *window, const uint8_t *at, const char *word, bool *fits)
{
    for (; *word; word++, at++) {
        at = tm_json_more(window, at);
        if (*at != (uint8_t)*word)
            break;
    }
    *fits = !*word;
    return at;
}
