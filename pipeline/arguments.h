/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ARGUMENTS_H
#define TM_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/error.h"
#include "pipeline/store/names.h"

/* The data of an event besides its name and its time, as the input wrote it: the arguments of a Chrome event, or the
 * statistics of an XSpace event.  It is a list of bytes, the same for every input, that accompanies a record if an
 * output needs it (tm_trace.keeps_arguments), and can be copied:
 *     list   := node*
 *     node   := key value           in the list and in an object; key: varint of a tm_strid
 *             | value               in an array
 *     value  := type(1 byte) payload, as defined by enum tm_argument_type
 * Varints are little-endian groups of 7 bits.  Readers check all bounds. */
enum tm_argument_type {
    TM_ARGUMENT_NULL,
    TM_ARGUMENT_FALSE,
    TM_ARGUMENT_TRUE,
    TM_ARGUMENT_INT,    /* varint, zigzag */
    TM_ARGUMENT_UINT,   /* varint: above INT64_MAX, or unsigned in the input */
    TM_ARGUMENT_DOUBLE, /* 8 bytes, finite or not */
    TM_ARGUMENT_NUMBER, /* varint length, bytes: a JSON number that is not an integer of 64 bits, as it was written */
    TM_ARGUMENT_TEXT,   /* varint length, bytes: any; short ones and those that are unlikely to recur */
    TM_ARGUMENT_NAME,   /* varint of a tm_strid: a longer text */
    TM_ARGUMENT_OBJECT, /* 4 bytes length, nodes */
    TM_ARGUMENT_ARRAY,  /* 4 bytes length, values */
    /* What is not an argument, but belongs to the event; only at the top, before all arguments, with key 0. */
    TM_ARGUMENT_CATEGORY, /* as TEXT: cat */
    TM_ARGUMENT_ID,       /* as TEXT: id of a counter, an async span, a flow, as in the file */
    TM_ARGUMENT_PLACE,    /* varint of 5 bytes: of a flow, the track that it is on */
    TM_ARGUMENT_ENCLOSED, /* nothing: an end of a flow belongs to the span around it, not to the next one (bp "e") */
    TM_ARGUMENT_TYPES
};

/* How much of them an output has. */
enum tm_args_level { TM_ARGS_ALL, TM_ARGS_ESSENTIAL, TM_ARGS_NONE };

/* Strings up to this length stay in the list, longer ones become names. */
enum { TM_ARGUMENT_NODE_SPARE = 64 /* more than put_head of arguments.c needs */ };
enum { TM_ARGUMENT_TEXT_MOST = 24, TM_ARGUMENTS_DEEPEST = 24, TM_ARGUMENTS_MOST = 128 << 10 };

struct tm_arguments {
    const uint8_t *bytes;
    size_t length;
};

struct tm_argument {
    tm_strid key;     /* 0 in arrays */
    uint8_t type;     /* enum tm_argument_type */
    int64_t number;   /* INT */
    uint64_t value;   /* UINT, PLACE, and the handle of a NAME */
    double real;      /* DOUBLE */
    const char *text; /* NUMBER, TEXT, CATEGORY, ID: length bytes, borrowed from the list */
    size_t length;
    struct tm_arguments inside; /* OBJECT, ARRAY */
};

/* For tm_arguments_next: a long number; what a type has but integers and names. */
bool tm_arguments_long_varint(struct tm_arguments *list, uint64_t *value);
bool tm_arguments_payload(struct tm_arguments *list, struct tm_argument *argument);

/* Most take one byte or two: keys, lengths. */
static inline bool tm_arguments_varint(struct tm_arguments *list, uint64_t *value)
{
    const uint8_t *const at = list->bytes;

    if (list->length < 2 || (at[0] & at[1] & 0x80))
        return tm_arguments_long_varint(list, value);
    const size_t bytes = 1 + (at[0] >> 7);

    *value = (at[0] & 0x7fu) | (uint64_t)(at[0] & 0x80 ? at[1] : 0) << 7;
    list->bytes += bytes;
    list->length -= bytes;
    return true;
}

/* Take the next node from the front of a list.
 * in:     has_keys  false inside an array
 * out:    *argument  key, type, and what its type has
 *         false at the end, with type NULL, and where the rest cannot be read */
static inline bool tm_arguments_next(struct tm_arguments *list, bool has_keys, struct tm_argument *argument)
{
    uint64_t key = 0;
    bool is_whole;

    if ((has_keys && !tm_arguments_varint(list, &key)) || !list->length) {
        list->length = 0;
        argument->type = TM_ARGUMENT_NULL;
        return false;
    }
    argument->key = (tm_strid)key;
    argument->type = *list->bytes++;
    list->length--;
    if (argument->type == TM_ARGUMENT_NAME || argument->type == TM_ARGUMENT_INT) {
        is_whole = tm_arguments_varint(list, &argument->value);
        argument->number = (int64_t)(argument->value >> 1 ^ -(argument->value & 1));
    } else {
        is_whole = tm_arguments_payload(list, argument);
    }
    if (!is_whole)
        list->length = 0;
    return is_whole;
}

/* What belongs to the event at the top of a list: the first node of that type. */
bool tm_arguments_find(struct tm_arguments list, enum tm_argument_type type, struct tm_argument *argument);

/* Put another track into the PLACE of a list, if it has one.
 * in: bytes  the list, length bytes, at the top */
void tm_arguments_move_place(uint8_t *bytes, size_t length, uint32_t track);

/* How much of the front of a list, in whole nodes, fits into room bytes. */
size_t tm_arguments_fitting(struct tm_arguments list, size_t room);

static inline bool tm_argument_is_value(const struct tm_argument *argument)
{
    return argument->type < TM_ARGUMENT_CATEGORY;
}

/* Makes a list in a buffer.  What does not fit is left out as a whole node, and is_cut says so. */
struct tm_arguments_builder {
    uint8_t *bytes;
    size_t used, room;
    size_t spared;          /* by handles that are shorter than the maximum: what fits must not depend on them */
    struct tm_names *names; /* keys and long strings go there */
    tm_status status;       /* of the names; the first failure stays */
    bool is_cut;
    bool has_nul;     /* for writers of the list: a string contains NUL, which is reported for each event: it is not
                       * remembered */
    uint32_t depth;   /* objects and arrays that are open */
    uint32_t skipped; /* nested ones that could not be opened */
    struct {
        size_t at; /* of its length */
        bool is_array;
    } open[TM_ARGUMENTS_DEEPEST];
};

/* in: buffer  room bytes, at most TM_ARGUMENTS_MOST; must outlive the list */
void tm_arguments_begin(struct tm_arguments_builder *b, struct tm_names *names, uint8_t *buffer, size_t room);
/* The list; everything that is open is closed.  b->status says whether names failed. */
struct tm_arguments tm_arguments_end(struct tm_arguments_builder *b);

/* Nodes of the top as they were made before.
 * in:     spared  what b->spared grew by when they were made
 * out:    false: they may not fit, and nothing was put in */
static inline bool tm_arguments_put_nodes(struct tm_arguments_builder *b, const void *nodes, size_t length,
                                          size_t spared)
{
    if (b->used + b->spared + TM_ARGUMENT_NODE_SPARE + length + spared > b->room || b->depth || b->skipped)
        return false;
    __builtin_memcpy(b->bytes + b->used, nodes, length);
    b->used += length;
    b->spared += spared;
    return true;
}

/* key is left out inside an array. */
void tm_put_null(struct tm_arguments_builder *b, tm_strid key);
void tm_put_bool(struct tm_arguments_builder *b, tm_strid key, bool value);
void tm_put_int(struct tm_arguments_builder *b, tm_strid key, int64_t value);
void tm_put_uint(struct tm_arguments_builder *b, tm_strid key, uint64_t value);
void tm_put_double(struct tm_arguments_builder *b, tm_strid key, double value);
void tm_put_number(struct tm_arguments_builder *b, tm_strid key, const char *text, size_t length);
/* A short text stays in place, a longer one becomes a name. */
void tm_put_text(struct tm_arguments_builder *b, tm_strid key, const char *text, size_t length);
void tm_put_name(struct tm_arguments_builder *b, tm_strid key, tm_strid name);
void tm_put_object(struct tm_arguments_builder *b, tm_strid key);
void tm_put_array(struct tm_arguments_builder *b, tm_strid key);
void tm_put_close(struct tm_arguments_builder *b); /* of the innermost object or array */
/* CATEGORY, ID */
void tm_put_event_text(struct tm_arguments_builder *b, enum tm_argument_type type, const char *text, size_t length);
void tm_put_place(struct tm_arguments_builder *b, uint32_t track);
void tm_put_enclosed(struct tm_arguments_builder *b);

#endif
