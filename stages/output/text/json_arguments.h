/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JSON_ARGUMENTS_H
#define TM_JSON_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "pipeline/store/hash.h"
#include "stages/output/file/out_file.h"
#include "stages/output/text/arg_cache.h"
#include "stages/output/trace_writer.h"

/* The keys that the objects of one event already have, to avoid duplicates: readers keep one of them, and not all keep
 * the same one.  A repeated key is written as "key (2)", "key (3)".  The table has TM_JSON_KEYS_MOST keys of an event;
 * beyond that every key gets its number, which is also unique. */
enum { TM_JSON_KEY_SLOTS = 4096, TM_JSON_KEYS_MOST = 3072 };

struct tm_json_key {
    uint64_t hash;
    uint32_t event;
    uint32_t count; /* occurrences */
};

struct tm_json_keys {
    uint64_t seed;
    uint32_t event; /* entries of other events count as empty */
    uint32_t used;  /* of this event */
    uint64_t past;  /* keys that occurred when the table was full */
    struct tm_json_key slots[TM_JSON_KEY_SLOTS];
};

/* For a string, as written. */
uint64_t tm_json_key_hash(const char *text, size_t length);

/* Another event starts. */
void tm_json_keys_begin(struct tm_json_keys *keys);
/* A key that already exists, or has no room. */
uint64_t tm_json_keys_again(struct tm_json_keys *keys, uint64_t hash, uint32_t object);

/* The same string in another object is another key. */
static inline uint64_t tm_json_keys_in(uint64_t hash, uint32_t object)
{
    return object ? tm_hash_mix(hash, object) : hash;
}

static inline bool tm_json_keys_end(const void *at, const void *wanted)
{
    const struct tm_json_key *const slot = at, *const key = wanted;

    return slot->event != key->event || slot->hash == key->hash;
}

/* The slot of a key, or the empty one where it belongs. */
static inline struct tm_json_key *tm_json_keys_find(struct tm_json_keys *keys, uint64_t hash)
{
    const struct tm_json_key key = { .hash = hash, .event = keys->event };

    return tm_probe(keys->slots, TM_JSON_KEY_SLOTS, sizeof(key), tm_hash_mix(hash, keys->seed), &key, tm_json_keys_end);
}

/* Register a key of an object.
 * in:     hash    tm_json_key_hash of it
 *         object  number of the object in the event
 * out:    0: it is written unchanged; else the number to append */
static inline uint64_t tm_json_keys_take(struct tm_json_keys *keys, uint64_t hash, uint32_t object)
{
    const uint64_t own = tm_json_keys_in(hash, object);
    struct tm_json_key *const slot = tm_json_keys_find(keys, own);

    if (slot->event == keys->event || keys->used == TM_JSON_KEYS_MOST)
        return tm_json_keys_again(keys, hash, object);
    *slot = (struct tm_json_key){ own, keys->event, 1 };
    keys->used++;
    return 0;
}

/* Values of a trace as strict JSON (RFC 8259): valid UTF-8, no NaN, no Infinity, no duplicate keys in an object. 
 * Inside a table cell every quote is doubled, ';' is written as an escape, and so are invisible characters if
 * requested. */

/* A string that was written before, ready to be copied. */
enum { TM_JSON_READY = 2048, TM_JSON_READY_MOST = 109 };

struct tm_json_ready {
    uint64_t hash;     /* as a key: tm_json_key_hash */
    tm_strid id;       /* 0 = none */
    bool is_essential; /* tm_is_essential_argument */
    uint8_t length;
    char quoted[TM_JSON_READY_MOST];
};

struct tm_json_text {
    struct tm_text_sink sink;
    struct tm_names *names;
    const char *quote; /* one, or two in a cell */
    size_t quote_bytes;
    bool escapes_hidden; /* tm_utf8_is_hidden */
    struct tm_json_keys keys;
    uint64_t arguments;                        /* that tm_json_arguments has written, of the top level */
    struct tm_json_ready ready[TM_JSON_READY]; /* by handle */
    struct tm_arg_cache cache;
};

/* in: json  zeroed */
void tm_json_init(struct tm_json_text *json, struct tm_names *names, bool is_cell);

/* A string of any bytes, in quotes. */
void tm_json_string(struct tm_json_text *json, const char *text, size_t length);
void tm_json_name(struct tm_json_text *json, tm_strid name);
void tm_json_double(struct tm_json_text *json, double value); /* NaN and Infinity: a string */

/* The arguments of an event, each key once: those of its marks, its own, the shared ones.
 * in:     head  prefix, with the brace; nothing is written if there are no arguments
 * out:    false: there are none.  The closing brace is the caller's */
bool tm_json_arguments(struct tm_json_text *json, const struct tm_out_event *event, enum tm_args_level level,
                       const char *head);

/* For json_arguments.c */

#endif
