/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JSON_NUMBER_H
#define TM_JSON_NUMBER_H

#include "stages/input/chrome/chrome_reader.h"
#include "stages/input/chrome/json_window.h"

/* Numbers of JSON as their digits: any length, any exponent, nothing rounded before it is known to what. */

/* Of a double that is read exactly: more never decide more than a digit above 0 would. */
enum { TM_DECIMAL_DIGITS = 800 };

/* value = 0.d1d2d3... * 10^point; no digits = 0. */
struct tm_json_decimal {
    enum {
        TM_DECIMAL_BEGIN,
        TM_DECIMAL_MINUS,
        TM_DECIMAL_ZERO,
        TM_DECIMAL_INTEGER,
        TM_DECIMAL_POINT,
        TM_DECIMAL_FRACTION,
        TM_DECIMAL_E,
        TM_DECIMAL_E_SIGN,
        TM_DECIMAL_EXPONENT,
    } state; /* how much of the grammar has been seen */
    bool negative;
    bool has_exponent;
    bool negative_exponent;
    bool has_rest; /* a digit above 0 follows the ones that are kept */
    uint32_t count;
    int64_t point;
    int64_t exponent;
    uint8_t digits[TM_DECIMAL_DIGITS]; /* 0 ... 9; the first one is above 0 */
};

/* Walk a number.
 * out:    where it ends.  tm_json_decimal_is_whole: it is one as RFC 8259 has it */
const uint8_t *tm_json_walk_number(struct tm_json_window *window, const uint8_t *at, struct tm_json_decimal *decimal);
bool tm_json_decimal_is_whole(const struct tm_json_decimal *decimal);

/* A text that is a number and nothing else. */
bool tm_json_decimal_of(const char *text, size_t length, struct tm_json_decimal *decimal);

/* out:    false  it does not fit: *time is the largest or smallest there is */
bool tm_json_time_of(const struct tm_json_decimal *decimal, struct tm_json_time *time);

/* Whether it is whole and fits int64_t, or uint64_t; an id has both. */
bool tm_json_int_of(const struct tm_json_decimal *decimal, int64_t *value);
bool tm_json_uint_of(const struct tm_json_decimal *decimal, uint64_t *value);

/* The nearest double; infinite where it is too large. */
double tm_json_double_of(const struct tm_json_decimal *decimal);

/* The id that a text is: itself, or the number that is written plainly ("12", but not "012" or "1e1"). */
void tm_json_id_of_text(struct tm_json_slice text, struct tm_json_id *id);
/* The id that a number is.  text: as it is written, for one that is no integer of 64 bits */
void tm_json_id_of_number(const struct tm_json_decimal *decimal, struct tm_json_slice text, struct tm_json_id *id);

#endif
