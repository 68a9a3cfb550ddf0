/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PERFETTO_ARGUMENTS_H
#define TM_PERFETTO_ARGUMENTS_H

#include "pipeline/arguments.h"
#include "stages/output/name_answers.h"
#include "stages/output/perfetto/perfetto_names.h"
#include "stages/output/text/json_keys.h"
#include "stages/output/trace_writer.h"

enum {
    TM_PERFETTO_VALUES_MOST = 4096, /* arguments of one event, with what is inside of them */
    TM_PERFETTO_KNOWN_KEYS = 1024,
};

/* An object or a list whose inside is still to be taken. */
struct tm_perfetto_inside {
    uint32_t value;
    uint8_t depth; /* of what is inside; arguments of the event: 0 */
    bool is_array;
    struct tm_arguments nodes;
};

/* Arguments as debug annotations.  Values that lie in one list stand one after the other, as protobuf-c wants them. */
struct tm_perfetto_arguments {
    struct tm_perfetto_names *names;
    enum tm_args_level level;
    size_t count;
    size_t inside_count;
    Perfetto__DebugAnnotation value[TM_PERFETTO_VALUES_MOST];
    Perfetto__DebugAnnotation *at[TM_PERFETTO_VALUES_MOST];
    struct tm_perfetto_inside inside[TM_PERFETTO_VALUES_MOST];
    struct tm_name_answer keys[TM_PERFETTO_KNOWN_KEYS]; /* whether they are essential */
    struct tm_json_keys seen;                           /* of this event */
    struct {
        tm_strid id;   /* 0 = none */
        uint64_t hash; /* of the key as viewers show it */
    } hashes[TM_PERFETTO_KNOWN_KEYS];
};

/* in: a  zeroed memory */
void tm_perfetto_arguments_open(struct tm_perfetto_arguments *a, struct tm_perfetto_names *names);
/* The arguments of an event: begin, any number of lists and own values, end.
 * in: level  of what is added from lists */
void tm_perfetto_arguments_begin(struct tm_perfetto_arguments *a, enum tm_args_level level);
tm_status tm_perfetto_arguments_add(struct tm_perfetto_arguments *a, struct tm_arguments list) TM_MUST_USE;
/* A value of our own for the caller to set, whatever the level is; NULL = no more fit. */
tm_status tm_perfetto_argument(struct tm_perfetto_arguments *a, tm_strid key,
                               Perfetto__DebugAnnotation **value) TM_MUST_USE;
/* text: a literal */
void tm_perfetto_set_text(Perfetto__DebugAnnotation *value, const char *text);
/* Puts them into the event. */
tm_status tm_perfetto_arguments_end(struct tm_perfetto_arguments *a, Perfetto__TrackEvent *event) TM_MUST_USE;

#endif
