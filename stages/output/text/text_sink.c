/* SPDX-License-Identifier: Apache-2.0 */
/* The buffer before a file of text: see text_sink.h. */
#include "stages/output/text/text_sink.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "pipeline/utf8.h"
#include "stages/output/file/out_file.h"

enum { DIGITS_MOST = 20 };

void tm_sink_begin(struct tm_text_sink *sink, struct tm_out_file *file)
{
    sink->file = file;
    sink->status = TM_OK;
    sink->passed = 0;
    sink->keep_from = UINT64_MAX;
    sink->used = 0;
}

static void pass(struct tm_text_sink *sink, size_t length)
{
    if (sink->status == TM_OK)
        sink->status = tm_out_file_write(sink->file, sink->bytes, length);
    memmove(sink->bytes, sink->bytes + length, sink->used - length);
    sink->passed += length;
    sink->used -= length;
}

void tm_sink_make_room(struct tm_text_sink *sink)
{
    size_t length = sink->used;

    if (sink->keep_from < tm_sink_position(sink) && sink->keep_from > sink->passed)
        length = (size_t)(sink->keep_from - sink->passed);
    pass(sink, length);
    if (TM_SINK_BYTES - sink->used < TM_SINK_PIECE)
        pass(sink, sink->used);
}

tm_status tm_sink_end(struct tm_text_sink *sink)
{
    pass(sink, sink->used);
    return sink->status;
}

void tm_sink_put_long(struct tm_text_sink *sink, const char *bytes, size_t length)
{
    while (length) {
        const size_t n = length < TM_SINK_PIECE ? length : TM_SINK_PIECE;

        tm_sink_put(sink, bytes, n);
        bytes += n;
        length -= n;
    }
}

/* The digits end at `end`.  out: where they begin */
static char *put_digits(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    return end;
}

void tm_sink_uint(struct tm_text_sink *sink, uint64_t value)
{
    char digits[DIGITS_MOST];
    const char *const begin = put_digits(digits + DIGITS_MOST, value);

    tm_sink_put(sink, begin, (size_t)(digits + DIGITS_MOST - begin));
}

void tm_sink_int(struct tm_text_sink *sink, int64_t value)
{
    if (value < 0)
        tm_sink_put(sink, "-", 1);
    tm_sink_uint(sink, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void tm_sink_us(struct tm_text_sink *sink, int64_t ns)
{
    const uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    const uint64_t rest = size % 1000;
    const char digits[4] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10) };

    if (ns < 0)
        tm_sink_put(sink, "-", 1);
    tm_sink_uint(sink, size / 1000);
    if (rest)
        tm_sink_put(sink, digits, rest % 10 ? 4 : rest % 100 ? 3 : 2);
}

static void turn_round(char *bytes, size_t length)
{
    for (size_t i = 0; i < length / 2; i++) {
        const char first = bytes[i];

        bytes[i] = bytes[length - 1 - i];
        bytes[length - 1 - i] = first;
    }
}

/* Both parts are turned round, then the whole: no other memory is needed. */
bool tm_sink_move(struct tm_text_sink *sink, uint64_t from, uint64_t to)
{
    if (to < sink->passed || from < to || from > tm_sink_position(sink))
        return false;
    const size_t begin = (size_t)(to - sink->passed), middle = (size_t)(from - sink->passed);

    turn_round(sink->bytes + begin, middle - begin);
    turn_round(sink->bytes + middle, sink->used - middle);
    turn_round(sink->bytes + begin, sink->used - begin);
    return true;
}

/* Texts of outputs: see text_sink.h. */

size_t tm_out_utf8(char *to, const char *text, size_t length)
{
    size_t used = 0;

    for (;;) {
        const size_t n = tm_utf8_head(text, length);

        memcpy(to + used, text, n);
        used += n;
        if (n == length)
            return used;
        memcpy(to + used, TM_UTF8_REPLACEMENT, TM_UTF8_REPLACEMENT_BYTES);
        used += TM_UTF8_REPLACEMENT_BYTES;
        text += n + 1;
        length -= n + 1;
    }
}

const char *tm_out_not_finite(double value)
{
    return isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
}
