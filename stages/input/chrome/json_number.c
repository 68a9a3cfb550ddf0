/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of JSON, digit by digit.  The scanner comes here where a number is not a short plain one.
 * source: RFC 8259 section 6 */
#include "stages/input/chrome/chrome_reader.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stages/input/bytes/input_file.h"

enum { MOST_EXPONENT = 1000000000 }; /* larger ones are clamped to this, far beyond what fits */

static void begin(struct tm_json_decimal *d)
{
    memset(d, 0, offsetof(struct tm_json_decimal, digits));
}

static void keep_digit(struct tm_json_decimal *d, uint8_t digit)
{
    if (d->count < TM_DECIMAL_DIGITS)
        d->digits[d->count++] = digit;
    else if (digit)
        d->has_rest = true;
}

static bool take_integer_digit(struct tm_json_decimal *d, uint8_t digit)
{
    if (d->state == TM_DECIMAL_ZERO)
        return false;
    if (d->state != TM_DECIMAL_INTEGER && digit == 0) {
        d->state = TM_DECIMAL_ZERO;
        return true;
    }
    d->state = TM_DECIMAL_INTEGER;
    d->point++;
    keep_digit(d, digit);
    return true;
}

static bool take_fraction_digit(struct tm_json_decimal *d, uint8_t digit)
{
    d->state = TM_DECIMAL_FRACTION;
    if (d->count == 0 && digit == 0)
        d->point--;
    else
        keep_digit(d, digit);
    return true;
}

static bool take_exponent_digit(struct tm_json_decimal *d, uint8_t digit)
{
    d->state = TM_DECIMAL_EXPONENT;
    d->exponent = d->exponent * 10 + digit;
    if (d->exponent > MOST_EXPONENT)
        d->exponent = MOST_EXPONENT;
    return true;
}

static bool take_digit(struct tm_json_decimal *d, uint8_t digit)
{
    if (d->state <= TM_DECIMAL_INTEGER)
        return take_integer_digit(d, digit);
    if (d->state <= TM_DECIMAL_FRACTION)
        return take_fraction_digit(d, digit);
    return take_exponent_digit(d, digit);
}

static bool take_exponent_sign(struct tm_json_decimal *d, bool negative)
{
    if (d->state != TM_DECIMAL_E)
        return false;
    d->state = TM_DECIMAL_E_SIGN;
    d->negative_exponent = negative;
    return true;
}

/* Whether the number continues with this character. */
static bool take(struct tm_json_decimal *d, uint8_t c)
{
    const bool has_integer = d->state == TM_DECIMAL_ZERO || d->state == TM_DECIMAL_INTEGER;

    if (c >= '0' && c <= '9')
        return take_digit(d, (uint8_t)(c - '0'));
    if (c == '-' && d->state == TM_DECIMAL_BEGIN) {
        d->negative = true;
        d->state = TM_DECIMAL_MINUS;
        return true;
    }
    if (c == '.' && has_integer) {
        d->state = TM_DECIMAL_POINT;
        return true;
    }
    if ((c | 0x20) == 'e' && (has_integer || d->state == TM_DECIMAL_FRACTION)) {
        d->has_exponent = true;
        d->state = TM_DECIMAL_E;
        return true;
    }
    return (c == '+' || c == '-') && take_exponent_sign(d, c == '-');
}

static void finish(struct tm_json_decimal *d)
{
    while (d->count > 0 && d->digits[d->count - 1] == 0)
        d->count--;
    d->point += d->negative_exponent ? -d->exponent : d->exponent;
}

const uint8_t *tm_json_walk_number(struct tm_json_window *window, const uint8_t *at, struct tm_json_decimal *decimal)
{
    begin(decimal);
    for (at = tm_json_more(window, at); take(decimal, *at); at = tm_json_more(window, at + 1))
        ;
    finish(decimal);
    return at;
}

bool tm_json_decimal_is_whole(const struct tm_json_decimal *decimal)
{
    switch (decimal->state) {
    case TM_DECIMAL_ZERO:
    case TM_DECIMAL_INTEGER:
    case TM_DECIMAL_FRACTION:
    case TM_DECIMAL_EXPONENT:
        return true;
    default:
        return false;
    }
}

bool tm_json_decimal_of(const char *text, size_t length, struct tm_json_decimal *decimal)
{
    size_t i = 0;

    begin(decimal);
    while (i < length && take(decimal, (uint8_t)text[i]))
        i++;
    finish(decimal);
    return i == length && tm_json_decimal_is_whole(decimal);
}

/* The digit that represents index * 10^(point - 1 - index). */
static uint8_t digit_at(const struct tm_json_decimal *d, int64_t index)
{
    return index >= 0 && index < (int64_t)d->count ? d->digits[index] : 0;
}

/* The part before the point, as long as it fits. */
static bool whole_part(const struct tm_json_decimal *d, uint64_t *value)
{
    *value = 0;
    if (d->count == 0)
        return true;
    if (d->point > 20)
        return false;
    for (int64_t i = 0; i < d->point; i++) {
        if (__builtin_mul_overflow(*value, (uint64_t)10, value) ||
            __builtin_add_overflow(*value, (uint64_t)digit_at(d, i), value))
            return false;
    }
    return true;
}

bool tm_json_time_of(const struct tm_json_decimal *decimal, struct tm_json_time *time)
{
    uint64_t us;
    int32_t ps = 0;

    for (int i = 0; i < 6; i++)
        ps = ps * 10 + digit_at(decimal, decimal->point + i);
    ps += digit_at(decimal, decimal->point + 6) >= 5;
    if (!whole_part(decimal, &us) || us > (uint64_t)INT64_MAX - (ps == 1000000)) {
        *time = (struct tm_json_time){ .us = decimal->negative ? INT64_MIN : INT64_MAX };
        return false;
    }
    us += ps == 1000000;
    ps %= 1000000;
    if (!decimal->negative)
        *time = (struct tm_json_time){ .us = (int64_t)us, .ps = ps };
    else
        *time = (struct tm_json_time){ .us = -(int64_t)us - (ps > 0), .ps = ps > 0 ? 1000000 - ps : 0 };
    return true;
}

static bool has_fraction(const struct tm_json_decimal *d)
{
    return d->count > 0 && (int64_t)d->count > d->point;
}

bool tm_json_uint_of(const struct tm_json_decimal *decimal, uint64_t *value)
{
    return !has_fraction(decimal) && whole_part(decimal, value) && (!decimal->negative || *value == 0);
}

bool tm_json_int_of(const struct tm_json_decimal *decimal, int64_t *value)
{
    uint64_t bits;

    if (has_fraction(decimal) || !whole_part(decimal, &bits) || bits > (uint64_t)INT64_MAX + decimal->negative)
        return false;
    *value = (int64_t)(decimal->negative ? 0 - bits : bits);
    return true;
}

double tm_json_double_of(const struct tm_json_decimal *decimal)
{
    const int64_t most = 10000; /* further away it is 0 or infinite in any case */
    const int64_t point = decimal->point > most ? most : decimal->point < -most ? -most : decimal->point;
    char text[TM_DECIMAL_DIGITS + 32];
    size_t length = 0;

    text[length++] = decimal->negative ? '-' : '+';
    text[length++] = '.';
    text[length++] = '0';
    for (uint32_t i = 0; i < decimal->count; i++)
        text[length++] = (char)('0' + decimal->digits[i]);
    if (decimal->has_rest)
        text[length++] = '1';
    (void)snprintf(text + length, sizeof(text) - length, "e%d", (int)point + 1);
    return strtod(text, NULL);
}

/* As a program writes an integer: no zero before other digits, no point, no exponent. */
static bool is_plain(struct tm_json_slice text)
{
    const uint32_t sign = text.length > 0 && text.at[0] == '-';

    if (text.length == sign || text.length > sign + 20)
        return false;
    if (text.at[sign] == '0')
        return text.length == 1;
    for (uint32_t i = sign; i < text.length; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
    }
    return true;
}

void tm_json_id_of_number(const struct tm_json_decimal *decimal, struct tm_json_slice text, struct tm_json_id *id)
{
    int64_t number;
    uint64_t bits;

    if (tm_json_int_of(decimal, &number))
        *id = (struct tm_json_id){ .kind = TM_JSON_NUMBER, .number = number };
    else if (tm_json_uint_of(decimal, &bits))
        *id = (struct tm_json_id){ .kind = TM_JSON_NUMBER, .is_unsigned = true, .number = (int64_t)bits };
    else
        *id = (struct tm_json_id){ .kind = TM_JSON_TEXT, .text = text };
}

void tm_json_id_of_text(struct tm_json_slice text, struct tm_json_id *id)
{
    struct tm_json_decimal decimal;

    if (is_plain(text) && tm_json_decimal_of(text.at, text.length, &decimal))
        tm_json_id_of_number(&decimal, text, id);
    else
        *id = (struct tm_json_id){ .kind = TM_JSON_TEXT, .text = text };
}

/* The window on the text of a JSON document: what is kept moves to its front when it is full. */

tm_status tm_json_window_open(struct tm_json_window *window, size_t bytes)
{
    window->capacity = bytes;
    window->own = tm_take(&window->run->budget, TM_ACCOUNT_INPUT, bytes + TM_JSON_PADDING, &window->run->error);
    window->end = window->buffer = window->own;
    return window->buffer ? TM_OK : window->run->error.status;
}

void tm_json_window_close(struct tm_json_window *window)
{
    if (window->own)
        tm_give(&window->run->budget, TM_ACCOUNT_INPUT, window->own, window->capacity + TM_JSON_PADDING);
    window->buffer = window->own = NULL;
}

static const uint8_t *first_kept(const struct tm_json_window *window)
{
    if (window->keep)
        return window->keep;
    return window->token ? window->token : window->end;
}

/* Move what starts at `from` to another place, the front of the buffer from now on. */
static void move_to(struct tm_json_window *window, uint8_t *front, const uint8_t *from)
{
    const size_t kept = (size_t)(window->end - from);
    const ptrdiff_t by = (ptrdiff_t)((uintptr_t)from - (uintptr_t)front);

    memmove(front, from, kept);
    window->base += (uint64_t)(from - window->buffer);
    if (window->keep) {
        window->moved(window->to, by);
        window->keep = front + (window->keep - from);
    }
    if (window->token)
        window->token = front + (window->token - from);
    window->buffer = front;
    window->end = front + kept;
}

/* The token alone fills the window.  One byte more than fits stays, which says that it is cut. */
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
        move_to(window, window->buffer, first_kept(window));
}

/* Read behind what is there. */
static const uint8_t *append(struct tm_json_window *window)
{
    uint8_t *const end = window->buffer + (window->end - window->buffer);
    size_t room = (size_t)(window->buffer + window->capacity - end), got = 0;

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

/* Back to the own buffer, with what starts at `from`: it fits, as what is lent with all in front of it would. */
static void leave_lent(struct tm_json_window *window, const uint8_t *from)
{
    move_to(window, window->own, from);
    tm_input_return(window->input);
    window->is_lent = false;
}

static_assert((int)TM_JSON_PADDING <= (int)TM_AHEAD_TAIL_BYTES, "the padding is behind what is lent");

/* The window moves to the next bytes of the input instead of copying them, if only the start of an event or a token has
 * to be copied.
 * out: the new bytes; NULL: nothing is lent */
static const uint8_t *borrow(struct tm_json_window *window)
{
    const uint8_t *const from = first_kept(window);
    const size_t kept = (size_t)(window->end - from);
    uint8_t *at;
    size_t got;

    if (kept > TM_AHEAD_HEAD_BYTES || window->read_bytes != SIZE_MAX ||
        window->capacity < TM_AHEAD_HEAD_BYTES + TM_AHEAD_BLOCK_BYTES)
        return NULL;
    got = tm_input_lend(window->input, &at);
    if (!got)
        return NULL;
    move_to(window, at - kept, from);
    if (window->is_lent)
        tm_input_return(window->input);
    window->is_lent = true;
    memset(at + got, 0, TM_JSON_PADDING);
    window->end = at + got;
    return at;
}

const uint8_t *tm_json_read_on(struct tm_json_window *window, const uint8_t *at)
{
    const uint8_t *lent;

    if (window->at_end)
        return at;
    lent = borrow(window);
    if (lent)
        return lent;
    if (window->is_lent)
        leave_lent(window, first_kept(window));
    if (window->end == window->buffer + window->capacity)
        make_room(window);
    return append(window);
}

void tm_json_fill(struct tm_json_window *window, const uint8_t *at)
{
    if (window->is_lent)
        leave_lent(window, at);
    else
        move_to(window, window->buffer, at);
    memset(window->buffer + (window->end - window->buffer), 0, TM_JSON_PADDING);
    while (!window->at_end && window->end < window->buffer + window->capacity)
        (void)append(window);
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
