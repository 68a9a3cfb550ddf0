/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PERFETTO_ARGUMENTS_H
#define TM_PERFETTO_ARGUMENTS_H

#include "pipeline/arguments.h"
#include "stages/output/perfetto/perfetto_writer.h"
#include "stages/output/text/json_arguments.h"
#include "stages/output/trace_writer.h"

enum {
    TM_PERFETTO_VALUES_MOST = 4096, /* arguments of one event, with what is inside of them */
    TM_PERFETTO_KNOWN_KEYS = 1024,
    TM_PERFETTO_DEPTHS = TM_ARGUMENTS_DEEPEST + 1,
    TM_PERFETTO_VALUE_BYTES = 3 * TM_PB_MOST, /* of a value but its texts, at most */
};

/* What is known of the name of an argument. */
struct tm_perfetto_key {
    tm_strid id; /* 0 = none */
    bool is_essential;
    uint64_t hash; /* as viewers show it */
};

/* An object or a list that is open; at the top the arguments of the event. */
struct tm_perfetto_level {
    struct tm_arguments rest;
    uint8_t *begin;  /* of its value on the wire */
    uint32_t object; /* its number in the event; the top is 0 */
    bool is_array, has_values;
};

/* Arguments as debug annotations, on the wire. */
struct tm_perfetto_arguments {
    struct tm_perfetto_names *names;
    enum tm_args_level level;
    uint8_t *to;  /* where the next one goes */
    size_t count; /* of the event's arguments, without what is inside */
    uint32_t objects;
    bool is_alike;                     /* the keys of the top are those of the event before of its name */
    bool has_duplicates;               /* some key of the event came twice */
    bool is_limited;                   /* there are more values than may be: those of lower depths come first */
    uint32_t left[TM_PERFETTO_DEPTHS]; /* that may be; where is_limited */
    struct tm_perfetto_level levels[TM_PERFETTO_DEPTHS];
    struct tm_perfetto_key keys[TM_PERFETTO_KNOWN_KEYS];
    struct tm_json_keys seen;               /* of this event */
    struct tm_alike draft, alike[TM_ALIKE]; /* of this event, as far as it fits; of those before */
};

/* in: a  zeroed memory */
void tm_perfetto_arguments_open(struct tm_perfetto_arguments *a, struct tm_perfetto_names *names);
/* The arguments of an event are put into a->to: begin, any number of own values, lists.
 * in: level  of what is added from lists
 *     to     room for TM_PERFETTO_VALUES_MOST values, TM_PERFETTO_COPIED_MOST and the texts of two lists */
void tm_perfetto_arguments_begin(struct tm_perfetto_arguments *a, enum tm_args_level level, uint8_t *to);
/* in: name  of the event */
tm_status tm_perfetto_arguments_add(struct tm_perfetto_arguments *a, tm_strid name, struct tm_arguments own,
                                    struct tm_arguments common) TM_MUST_USE;
/* Values of our own, a few, whatever the level is. */
tm_status tm_perfetto_put_int(struct tm_perfetto_arguments *a, tm_strid key, int64_t number) TM_MUST_USE;
tm_status tm_perfetto_put_true(struct tm_perfetto_arguments *a, tm_strid key) TM_MUST_USE;
tm_status tm_perfetto_put_literal(struct tm_perfetto_arguments *a, tm_strid key, const char *text) TM_MUST_USE;

#endif
