/* SPDX-License-Identifier: Apache-2.0 */
/* Texts and numbers as JSON.  Names come again and again: what a short one looks like, quoted and escaped, is kept by
 * its handle in a table of a fixed size in which a later one takes the place of an earlier one.
 * source: RFC 8259 section 6 and 7 */
#include "stages/output/text/json_values.h"

#include <math.h>
#include <stdio.h>

#include "pipeline/double_text.h"
#include "pipeline/names.h"
#include "stages/output/text/out_text.h"

enum { ESCAPE_MOST = 7 /* bytes that one becomes: "\u001f", and a quote in a cell */ };

void tm_json_init(struct tm_json_text *json, struct tm_names *names, bool is_cell)
{
    json->names = names;
    json->quote = is_cell ? "\"\"" : "\"";
    json->quote_bytes = is_cell ? 2 : 1;
}

/* Whether a byte of valid UTF-8 stands for itself. */
static inline bool is_plain(char byte)
{
    return (unsigned char)byte >= 0x20 && byte != '"' && byte != '\\';
}

/* in: to  ESCAPE_MOST bytes.  out: bytes written */
static size_t escape(const struct tm_json_text *json, char *to, char byte)
{
    static const char letters[] = "\bb\ff\nn\rr\tt"; /* pairs: character, letter of its escape */

    to[0] = '\\';
    if (byte == '"') {
        memcpy(to + 1, json->quote, json->quote_bytes);
        return 1 + json->quote_bytes;
    }
    for (size_t i = 0; i + 1 < sizeof(letters); i += 2) {
        if (letters[i] == byte) {
            to[1] = letters[i + 1];
            return 2;
        }
    }
    if (byte == '\\') {
        to[1] = byte;
        return 2;
    }
    return (size_t)snprintf(to, ESCAPE_MOST, "\\u%04x", (unsigned)(unsigned char)byte);
}

/* Valid UTF-8.  The last byte of a text is never a backslash: Perfetto (v52) takes the quotation mark behind it for a
 * part of the text, and refuses the file.
 * in: to  ESCAPE_MOST bytes for each of the text.  out: bytes written */
static size_t escape_run(const struct tm_json_text *json, char *to, const char *text, size_t length)
{
    static const char last_backslash[] = "\\u005c";
    const char apart = json->quote_bytes == 2 ? ';' : '"'; /* in a cell a spreadsheet may begin another one there (csv_text.h) */
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        if (is_plain(text[i]) && text[i] != apart) {
            to[used++] = text[i];
        } else if (text[i] == '\\' && i + 1 == length) {
            memcpy(to + used, last_backslash, sizeof(last_backslash) - 1);
            used += sizeof(last_backslash) - 1;
        } else {
            used += escape(json, to + used, text[i]);
        }
    }
    return used;
}

/* What is at the start of a text and is not valid, or hidden.  out: bytes of the text */
static size_t put_hidden(struct tm_json_text *json, const char *text, size_t length)
{
    uint32_t code;
    const size_t n = tm_utf8_next(text, length, &code);
    char escapes[16];

    if (!n || !code) {
        tm_sink_put(&json->sink, TM_UTF8_REPLACEMENT, TM_UTF8_REPLACEMENT_BYTES);
        return 1;
    }
    if (code < 0x20)
        escapes[escape(json, escapes, text[0])] = '\0';
    else if (code > 0xffff)
        (void)snprintf(escapes, sizeof(escapes), "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                       0xdc00 + (code & 0x3ff));
    else
        (void)snprintf(escapes, sizeof(escapes), "\\u%04x", code);
    tm_sink_text(&json->sink, escapes);
    return n;
}

void tm_json_escaped(struct tm_json_text *json, const char *text, size_t length)
{
    const size_t piece = TM_SINK_PIECE / ESCAPE_MOST;

    while (length) {
        /* A piece that ends inside of a sequence is valid up to there; one that begins with it has all of it. */
        const size_t most = length < piece ? length : piece;
        size_t n = json->escapes_hidden ? tm_utf8_visible_head(text, most) : tm_utf8_head(text, most);

        if (n) {
            char *const to = tm_sink_room(&json->sink);

            json->sink.used += escape_run(json, to, text, n);
        } else {
            n = put_hidden(json, text, length);
        }
        text += n;
        length -= n;
    }
}

void tm_json_string(struct tm_json_text *json, const char *text, size_t length)
{
    tm_sink_put(&json->sink, json->quote, json->quote_bytes);
    tm_json_escaped(json, text, length);
    tm_sink_put(&json->sink, json->quote, json->quote_bytes);
}

/* Make the entry.  false: the text is too long for one. */
static bool make_ready(struct tm_json_text *json, struct tm_json_ready *ready, const char *text, size_t length)
{
    char valid[TM_UTF8_REPLACEMENT_BYTES * TM_JSON_READY_MOST], quoted[ESCAPE_MOST * sizeof(valid)];

    if (length > TM_JSON_READY_MOST || (json->escapes_hidden && tm_utf8_visible_head(text, length) < length))
        return false;
    const size_t n = escape_run(json, quoted, valid, tm_out_utf8(valid, text, length));

    if (n + 2 * json->quote_bytes > TM_JSON_READY_MOST)
        return false;
    memcpy(ready->quoted, json->quote, json->quote_bytes);
    memcpy(ready->quoted + json->quote_bytes, quoted, n);
    memcpy(ready->quoted + json->quote_bytes + n, json->quote, json->quote_bytes);
    ready->length = (uint8_t)(n + 2 * json->quote_bytes);
    ready->hash = tm_json_key_hash(text, length);
    ready->is_essential = tm_is_essential_argument(text, length);
    return true;
}

const struct tm_json_ready *tm_json_look_up(struct tm_json_text *json, tm_strid name, const char **text, size_t *length)
{
    struct tm_json_ready *const ready = &json->ready[name % TM_JSON_READY];

    *text = NULL;
    if (ready->id == name && name)
        return ready;
    /* Lists of arguments are not trusted. */
    const tm_strid known = name < tm_names_count(json->names) ? name : 0;
    const tm_status status = tm_names_text(json->names, known, 0, text, length);

    if (status != TM_OK) {
        if (json->sink.status == TM_OK)
            json->sink.status = status;
        *text = NULL;
        return NULL;
    }
    ready->id = 0;
    if (!make_ready(json, ready, *text, *length))
        return NULL;
    ready->id = known;
    return ready;
}

void tm_json_name(struct tm_json_text *json, tm_strid name)
{
    const char *text;
    size_t length;
    const struct tm_json_ready *const ready = tm_json_look_up(json, name, &text, &length);

    if (ready)
        tm_sink_put(&json->sink, ready->quoted, ready->length);
    else
        tm_json_string(json, text ? text : "", text ? length : 0);
}

void tm_json_double(struct tm_json_text *json, double value)
{
    char digits[TM_DOUBLE_TEXT];

    if (!isfinite(value)) {
        const char *const text = tm_out_not_finite(value);

        tm_json_string(json, text, strlen(text));
        return;
    }
    const size_t n = tm_double_text(digits, value);

    if (!tm_json_decimal(json, digits, n)) /* of the largest ones only a double is known to be in range */
        tm_sink_put(&json->sink, digits, n);
    /* It stays a number that is no whole one. */
    if (!memchr(digits, '.', n) && !memchr(digits, 'e', n))
        tm_sink_put(&json->sink, ".0", 2);
}
