/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PERFETTO_WRITER_H
#define TM_PERFETTO_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "perfetto.pb-c.h"
#include "pipeline/arguments.h"
#include "pipeline/platform.h"
#include "pipeline/run.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/names.h"
#include "stages/output/file/out_file.h"
#include "stages/output/text/arg_cache.h"
#include "stages/output/text/json_arguments.h"
#include "stages/output/trace_writer.h"

/* Protobuf fields, written by hand because they occur in each event.  Each function writes at `to`, where the caller
 * has room, and returns the position of the next field.  A number takes at most TM_PB_MOST bytes with its field; before
 * a string come at most TM_PB_HEAD.  Field numbers go up to 2047 here, so a field's number and type take at most two
 * bytes, and exactly two from 16 on.
 * source: https://protobuf.dev/programming-guides/encoding */
enum { TM_PB_FIELD = 2, TM_PB_MOST = TM_PB_FIELD + 10, TM_PB_HEAD = TM_PB_FIELD + 5 };

enum tm_pb_type { TM_PB_VARINT, TM_PB_FIXED64, TM_PB_BYTES };

static inline uint8_t *tm_pb_number(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

static inline uint8_t *tm_pb_field(uint8_t *to, unsigned field, enum tm_pb_type type)
{
    return tm_pb_number(to, field << 3 | (unsigned)type);
}

static inline uint8_t *tm_pb_varint(uint8_t *to, unsigned field, uint64_t value)
{
    return tm_pb_number(tm_pb_field(to, field, TM_PB_VARINT), value);
}

static inline uint8_t *tm_pb_fixed64(uint8_t *to, unsigned field, uint64_t value)
{
    to = tm_pb_field(to, field, TM_PB_FIXED64);
    value = htole64(value);
    memcpy(to, &value, 8);
    return to + 8;
}

static inline uint8_t *tm_pb_double(uint8_t *to, unsigned field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return tm_pb_fixed64(to, field, bits);
}

static inline size_t tm_pb_number_bytes(uint64_t value)
{
    return (size_t)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

static inline uint8_t *tm_pb_head(uint8_t *to, unsigned field, size_t length)
{
    return tm_pb_number(tm_pb_field(to, field, TM_PB_BYTES), length);
}

static inline uint8_t *tm_pb_bytes(uint8_t *to, unsigned field, const void *bytes, size_t length)
{
    to = tm_pb_head(to, field, length);
    if (length)
        memcpy(to, bytes, length);
    return to + length;
}

/* A field whose length is known at its end: one byte is reserved for the length, and the content moves if that is not
 * sufficient.
 * out:    *start  for tm_pb_end */
static inline uint8_t *tm_pb_begin(uint8_t *to, unsigned field, uint8_t **begin)
{
    *begin = tm_pb_field(to, field, TM_PB_BYTES) + 1;
    return *begin;
}

static inline uint8_t *tm_pb_end(uint8_t *to, uint8_t *begin)
{
    const size_t length = (size_t)(to - begin), more = tm_pb_number_bytes(length) - 1;

    if (more)
        memmove(begin + more, begin, length);
    (void)tm_pb_number(begin - 1, length);
    return to + more;
}

/* Strings of packets.  A frequent string is in a table of the file by its number, and the packet that uses it first
 * includes the text.  The tables have fixed sizes, whatever the memory limit, and identify strings by content, not by
 * handle, so the bytes are always the same.  When a table is full, all of them restart. */
enum tm_perfetto_table {
    TM_PERFETTO_CATEGORIES,
    TM_PERFETTO_NAMES,
    TM_PERFETTO_KEYS,    /* names of arguments */
    TM_PERFETTO_STRINGS, /* values of arguments */
    TM_PERFETTO_TABLES
};

enum {
    TM_PERFETTO_CATEGORY_BITS = 9, /* slots: 1 << bits; three quarters of them may be in use */
    TM_PERFETTO_NAME_BITS = 13,
    TM_PERFETTO_KEY_BITS = 11,
    TM_PERFETTO_STRING_BITS = 14,
    TM_PERFETTO_SLOTS = (1 << TM_PERFETTO_CATEGORY_BITS) + (1 << TM_PERFETTO_NAME_BITS) + (1 << TM_PERFETTO_KEY_BITS) +
                        (1 << TM_PERFETTO_STRING_BITS),
    TM_PERFETTO_INTERNED_MOST = 64 << 10, /* bytes: longer strings are in their packets */
    TM_PERFETTO_TEXT_MOST = 128 << 10,    /* bytes of an input string; a longer one is truncated */
    TM_PERFETTO_COPIED_MOST = 512 << 10,  /* bytes of the strings of one packet but those that are in its arguments */
    TM_PERFETTO_FRESH_KEYS = 256,         /* entries that one packet may add; more are written where they are used */
    TM_PERFETTO_FRESH_STRINGS = 512,
    TM_PERFETTO_FRESH = 2 + TM_PERFETTO_FRESH_KEYS + TM_PERFETTO_FRESH_STRINGS,
    TM_PERFETTO_ENTRY_HEAD = TM_PB_HEAD + TM_PB_MOST + TM_PB_HEAD, /* bytes of an entry but its text, at most */
    TM_PERFETTO_FRESH_BYTES = TM_PERFETTO_COPIED_MOST + TM_PERFETTO_FRESH * TM_PERFETTO_ENTRY_HEAD,
};

/* An entry of a table. */
struct tm_perfetto_slot {
    struct tm_key key;
    uint32_t iid; /* 0 = empty */
};

/* Which entry a handle had last: saves looking it up. */
struct tm_perfetto_guess {
    tm_strid id;
    uint32_t iid; /* 0 = none */
};

struct tm_perfetto_names {
    struct tm_names *names;
    uint32_t count[TM_PERFETTO_TABLES];
    uint64_t seed;
    uint32_t tables; /* counts up whenever they start again */
    bool is_full;    /* some table has no room for a string of this packet: clear, and make the packet again */
    bool is_cut;     /* some string of this packet is truncated or missing */
    size_t copied;   /* bytes of strings of this packet, as TM_PERFETTO_COPIED_MOST counts them */
    uint32_t fresh_count[TM_PERFETTO_TABLES]; /* of this packet */
    size_t fresh_used;
    struct tm_perfetto_slot slots[TM_PERFETTO_SLOTS];
    struct tm_perfetto_guess guesses[TM_PERFETTO_SLOTS];
    /* The entries that this packet has to define, an InternedData on the wire; of packets that protobuf-c makes their
     * strings. */
    uint8_t fresh[TM_PERFETTO_FRESH_BYTES];
};

/* The expected slot of a handle. */
static inline struct tm_perfetto_guess *tm_perfetto_guess(struct tm_perfetto_names *n, enum tm_perfetto_table table,
                                                          tm_strid id)
{
    static const struct {
        uint32_t at, mask;
    } part[TM_PERFETTO_TABLES] = {
        [TM_PERFETTO_CATEGORIES] = { 0, (1 << TM_PERFETTO_CATEGORY_BITS) - 1 },
        [TM_PERFETTO_NAMES] = { 1 << TM_PERFETTO_CATEGORY_BITS, (1 << TM_PERFETTO_NAME_BITS) - 1 },
        [TM_PERFETTO_KEYS] = { (1 << TM_PERFETTO_CATEGORY_BITS) + (1 << TM_PERFETTO_NAME_BITS),
                               (1 << TM_PERFETTO_KEY_BITS) - 1 },
        [TM_PERFETTO_STRINGS] = { TM_PERFETTO_SLOTS - (1 << TM_PERFETTO_STRING_BITS),
                                  (1 << TM_PERFETTO_STRING_BITS) - 1 },
    };

    return &n->guesses[part[table].at + (id & part[table].mask)];
}

/* in: n  zeroed memory */
void tm_perfetto_names_open(struct tm_perfetto_names *n, struct tm_names *names);
/* The tables start again: the next packet must say so. */
void tm_perfetto_names_clear(struct tm_perfetto_names *n);

/* A packet starts: the strings of the one before are gone. */
static inline void tm_perfetto_names_begin(struct tm_perfetto_names *n)
{
    n->is_full = n->is_cut = false;
    n->copied = n->fresh_used = 0;
    memset(n->fresh_count, 0, sizeof(n->fresh_count));
}

uint32_t tm_perfetto_find(struct tm_perfetto_names *n, enum tm_perfetto_table table, tm_strid id);

/* The number of a string in a table.
 * out: 0: it is in no table, and has to be where it is used */
static inline uint32_t tm_perfetto_number(struct tm_perfetto_names *n, enum tm_perfetto_table table, tm_strid id)
{
    const struct tm_perfetto_guess *const guess = tm_perfetto_guess(n, table, id);

    return guess->id == id && guess->iid ? guess->iid : tm_perfetto_find(n, table, id);
}

/* Strings as fields, in valid UTF-8; what does not fit is dropped and sets is_cut.
 * in:     *to  room for the rest of TM_PERFETTO_COPIED_MOST, and TM_PB_HEAD; after the field on return */
void tm_perfetto_put_name(struct tm_perfetto_names *n, uint8_t **to, unsigned field, tm_strid id);
void tm_perfetto_put_text(struct tm_perfetto_names *n, uint8_t **to, unsigned field, const char *text, size_t length);

/* Strings for a packet that protobuf-c makes, until the next packet starts; data NULL: no room, and is_cut says so. */
ProtobufCBinaryData tm_perfetto_copy(struct tm_perfetto_names *n, const char *text, size_t length);
ProtobufCBinaryData tm_perfetto_text(struct tm_perfetto_names *n, tm_strid id);

enum {
    TM_PERFETTO_VALUES_MOST = 4096, /* arguments of one event, including nested ones */
    TM_PERFETTO_KNOWN_KEYS = 1024,
    TM_PERFETTO_DEPTHS = TM_ARGUMENTS_DEEPEST + 1,
    TM_PERFETTO_VALUE_BYTES = 3 * TM_PB_MOST, /* of a value but its strings, at most */
};

/* What is known about the name of an argument. */
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
    uint8_t *to;  /* where the next one is written */
    size_t count; /* of the event's arguments, without what is inside */
    uint32_t objects;
    bool is_limited;                   /* there are more values than allowed: those of lower depths come first */
    uint32_t left[TM_PERFETTO_DEPTHS]; /* that may be; where is_limited */
    struct tm_perfetto_level levels[TM_PERFETTO_DEPTHS];
    struct tm_perfetto_key keys[TM_PERFETTO_KNOWN_KEYS];
    struct tm_json_keys seen; /* of this event */
};

/* in: a  zeroed memory */
void tm_perfetto_arguments_open(struct tm_perfetto_arguments *a, struct tm_perfetto_names *names);
/* The arguments of an event are put into a->to: begin, any number of own values, lists.
 * in:     level  of values added from lists
 *         to     room for TM_PERFETTO_VALUES_MOST values, TM_PERFETTO_COPIED_MOST, and the strings of two lists */
void tm_perfetto_arguments_begin(struct tm_perfetto_arguments *a, enum tm_args_level level, uint8_t *to);
void tm_perfetto_arguments_add(struct tm_perfetto_arguments *a, const struct tm_out_event *event);
/* The list of a template, with 0 in its holes.
 * in:     from   what the holes are counted from
 * out:    holes  TM_ARGUMENT_HOLES at most; -1: it is too long, or a number is too deep in it */
int tm_perfetto_arguments_add_template(struct tm_perfetto_arguments *a, const struct tm_argument_template *template,
                                       const uint8_t *from, struct tm_cached_hole *holes);
/* Values of our own, a few, whatever the level is. */
void tm_perfetto_put_int(struct tm_perfetto_arguments *a, tm_strid key, int64_t number);
void tm_perfetto_put_true(struct tm_perfetto_arguments *a, tm_strid key);
void tm_perfetto_put_literal(struct tm_perfetto_arguments *a, tm_strid key, const char *text);

/* Starts of spans as they were written before.  Those of a call site differ only in the row, the time, the arrow, and
 * the numbers in the holes of their arguments, mostly a correlation id:
 *
 *     type, row | name, category, arguments ... correlation id: 1650 | ... | arrow 1650 | + 2416 ns
 *
 * What is between the row and the arrow is kept with its holes, once for all streams and devices, as soon as its strings
 * have numbers, and copied for the next ones: 200 instructions for a packet instead of 650.  When the room or a table of
 * names is full, all of it is forgotten, so the bytes that are written do not depend on the memory. */
enum {
    TM_KNOWN_START_WAYS = 4,
    TM_KNOWN_START_SETS = 1 << 12, /* a power of two */
    TM_KNOWN_START_MOST = 2 << 10, /* bytes of one */
    TM_KNOWN_START_BYTES = 384 << 10,
    TM_KNOWN_START_LARGE = 2 << 20, /* if the pool has it */
};

struct tm_known_start {
    tm_strid name, category;
    uint32_t template; /* 0 = no arguments */
    uint32_t arguments;
    uint16_t length, holes; /* length: bytes, which follow the holes */
    struct tm_cached_hole hole[];
};

struct tm_known_slot {
    uint32_t tag; /* upper half of the hash */
    uint32_t at;  /* in the room, and 1; 0 = free */
};

struct tm_known_starts {
    const struct tm_argument_templates *templates; /* whose they are, of which host */
    uint32_t host;
    uint32_t tables;         /* struct tm_perfetto_names.tables */
    size_t used, room_bytes; /* room_bytes: beyond TM_KNOWN_START_BYTES from the pool */
    struct tm_known_slot slots[TM_KNOWN_START_SETS][TM_KNOWN_START_WAYS];
    _Alignas(struct tm_known_start) uint8_t room[]; /* room_bytes, and TM_ARG_CACHE_COPIED */
};

/* Kernels again, as events of a GPU queue: perfetto_kernels.c. */
enum { TM_PERFETTO_KNOWN_QUEUES = 256, TM_PERFETTO_KNOWN_STAGES = 8192 };

/* An entry of a table of the file: valid as long as the tables of names. */
struct tm_perfetto_known_entry {
    uint64_t id;
    uint32_t tables; /* struct tm_perfetto_names.tables */
};

struct tm_perfetto_kernels {
    uint64_t events; /* so far */
    struct tm_perfetto_known_entry queues[TM_PERFETTO_KNOWN_QUEUES], contexts[TM_PERFETTO_KNOWN_QUEUES],
        stages[TM_PERFETTO_KNOWN_STAGES];
};

static inline bool tm_perfetto_is_kernel(const struct tm_out_event *event)
{
    return event->of && event->of->config->has_kernel && event->of->device != TM_NONE && !event->is_instant;
}

/* The packet of a kernel, at the time of the packet before it.
 * in:     event  tm_perfetto_is_kernel, and its name has just been used
 *         to     room for a packet
 * out:    after it; nothing if its name is not in the table of names */
uint8_t *tm_perfetto_put_kernel(struct tm_perfetto_kernels *k, struct tm_perfetto_names *names, uint8_t *to,
                                const struct tm_out_event *event, uint32_t sequence, uint32_t flags);

#endif
