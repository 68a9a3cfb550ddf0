/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_JSON_KEYS_H
#define TM_JSON_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "pipeline/hash.h"

/* Which keys the objects of one event have already, so that none comes twice: readers keep one of them, and not all the
 * same.  A key that comes again is written as "key (2)", "key (3)". The table holds TM_JSON_KEYS_MOST keys of an
 * event; past that every key bears its number, which is unique as well. */
enum { TM_JSON_KEY_SLOTS = 4096, TM_JSON_KEYS_MOST = 3072 };

struct tm_json_keys {
    uint64_t seed;
    uint32_t event;      /* entries of other events count as empty */
    uint32_t used;       /* of this event */
    uint64_t past;       /* keys that came when the table was full */
    struct {
        uint64_t hash;
        uint32_t event;
        uint32_t count;  /* times that it came */
    } slots[TM_JSON_KEY_SLOTS];
};

/* Of a text, as it is written. */
uint64_t tm_json_key_hash(const char *text, size_t length);

/* Another event begins. */
void tm_json_keys_begin(struct tm_json_keys *keys);
/* A key that is there already, or has no room. */
uint64_t tm_json_keys_again(struct tm_json_keys *keys, uint64_t hash, uint32_t object);

/* The same text in another object is another key. */
static inline uint64_t tm_json_keys_in(uint64_t hash, uint32_t object)
{
    return object ? tm_hash_mix(hash, object) : hash;
}

/* The slot of a key, or the empty one where it belongs. */
static inline size_t tm_json_keys_find(const struct tm_json_keys *keys, uint64_t hash)
{
    size_t i = tm_hash_mix(hash, keys->seed) % TM_JSON_KEY_SLOTS;

    while (keys->slots[i].event == keys->event && keys->slots[i].hash != hash)
        i = (i + 1) % TM_JSON_KEY_SLOTS;
    return i;
}

/* Take a key of an object.
 * in:     hash    tm_json_key_hash of it
 *         object  number of the object in the event
 * out:    0: it is written as it is; else the number to write after it */
static inline uint64_t tm_json_keys_take(struct tm_json_keys *keys, uint64_t hash, uint32_t object)
{
    const uint64_t own = tm_json_keys_in(hash, object);
    const size_t i = tm_json_keys_find(keys, own);

    if (keys->slots[i].event == keys->event || keys->used == TM_JSON_KEYS_MOST)
        return tm_json_keys_again(keys, hash, object);
    keys->slots[i].hash = own;
    keys->slots[i].event = keys->event;
    keys->slots[i].count = 1;
    keys->used++;
    return 0;
}

#endif
