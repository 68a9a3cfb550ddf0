/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JSON_VALUES_H
#define TM_JSON_VALUES_H

#include "stages/output/text/json_keys.h"
#include "stages/output/text/text_sink.h"
#include "stages/output/trace_writer.h"

/* Values of a trace as JSON (RFC 8259), strictly: valid UTF-8, no NaN, no Infinity, no key twice in an object.  Inside
 * the cell of a table every quote is written twice, and ';' as an escape, and so is what is not seen, where asked for. */

/* A text that was written before, ready to be copied. */
enum { TM_JSON_READY = 2048, TM_JSON_READY_MOST = 109 };
struct tm_json_ready {
    uint64_t hash;       /* as a key: tm_json_key_hash */
    tm_strid id;         /* 0 = none */
    bool is_essential;   /* tm_is_essential_argument */
    uint8_t length;
    char quoted[TM_JSON_READY_MOST];
};

struct tm_json_text {
    struct tm_text_sink sink;
    struct tm_names *names;
    const char *quote;   /* one, or two in a cell */
    size_t quote_bytes;
    bool escapes_hidden; /* tm_utf8_is_hidden */
    struct tm_json_keys keys;
    uint64_t arguments;  /* that tm_json_arguments has written, of the top level */
    struct tm_json_ready ready[TM_JSON_READY]; /* by handle */
};

/* in: json  zeroed */
void tm_json_init(struct tm_json_text *json, struct tm_names *names, bool is_cell);

/* A text of any bytes, in quotes. */
void tm_json_string(struct tm_json_text *json, const char *text, size_t length);
void tm_json_name(struct tm_json_text *json, tm_strid name);
void tm_json_double(struct tm_json_text *json, double value); /* NaN and Infinity: a text */
/* A number as it was written.
 * out:    false: nothing is written, since it is no number of RFC 8259, or one that readers would take for another */
bool tm_json_decimal(struct tm_json_text *json, const char *text, size_t length);
/* The arguments of an event, each key once: those of its marks, its own, those that it shares.
 * in:     head  what to begin with, with the brace; nothing is written where there are no arguments
 * out:    false: there are none.  The closing brace is the caller's */
bool tm_json_arguments(struct tm_json_text *json, const struct tm_out_event *event, enum tm_args_level level,
                       const char *head);

/* For json_arguments.c */
/* A text without quotes, with escapes. */
void tm_json_escaped(struct tm_json_text *json, const char *text, size_t length);
/* The entry of a name; NULL where it is too long for one, or the names failed: then *text, which is NULL after a
 * failure. */
const struct tm_json_ready *tm_json_look_up(struct tm_json_text *json, tm_strid name, const char **text,
                                            size_t *length);

#endif
