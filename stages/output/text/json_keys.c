/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of the objects of an event: an open table by hash, of a fixed size, that is never emptied: entries of events
 * before are as good as none.  Two keys of one hash would give the second one a number that it does not need. */
#include "stages/output/text/json_keys.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "stages/output/text/out_text.h"

/* FNV-1a: a key with something after it goes on from the hash of the key.
 * source: RFC 9923 */
static const uint64_t hash_begin = UINT64_C(0xcbf29ce484222325), hash_factor = UINT64_C(0x100000001b3);

static uint64_t hash_on(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * hash_factor;
    return hash;
}

uint64_t tm_json_key_hash(const char *text, size_t length)
{
    uint64_t hash = hash_begin;

    for (;;) {
        const size_t n = tm_utf8_head(text, length);

        hash = hash_on(hash, text, n);
        if (n == length)
            return hash;
        hash = hash_on(hash, TM_UTF8_REPLACEMENT, TM_UTF8_REPLACEMENT_BYTES);
        text += n + 1;
        length -= n + 1;
    }
}

void tm_json_keys_begin(struct tm_json_keys *keys)
{
    if (keys->event == UINT32_MAX)
        memset(keys, 0, sizeof(*keys));
    if (keys->event == 0)
        keys->seed = tm_hash_seed(keys);
    keys->event++;
    keys->used = 0;
    keys->past = 0;
}

static bool has(const struct tm_json_keys *keys, uint64_t hash)
{
    return keys->slots[tm_json_keys_find(keys, hash)].event == keys->event;
}

static void add(struct tm_json_keys *keys, uint64_t hash)
{
    const size_t i = tm_json_keys_find(keys, hash);

    if (keys->slots[i].event == keys->event || keys->used == TM_JSON_KEYS_MOST)
        return;
    keys->slots[i].hash = hash;
    keys->slots[i].event = keys->event;
    keys->slots[i].count = 1;
    keys->used++;
}

/* The hash of the key with a number after it. */
static uint64_t numbered(uint64_t hash, uint32_t object, uint64_t number)
{
    char after[32];
    const int n = snprintf(after, sizeof(after), " (%llu)", (unsigned long long)number);

    return tm_json_keys_in(hash_on(hash, after, (size_t)n), object);
}

uint64_t tm_json_keys_again(struct tm_json_keys *keys, uint64_t hash, uint32_t object)
{
    const size_t i = tm_json_keys_find(keys, tm_json_keys_in(hash, object));
    uint64_t number;

    if (keys->used == TM_JSON_KEYS_MOST) {
        do
            number = TM_JSON_KEYS_MOST + ++keys->past;
        while (has(keys, numbered(hash, object, number)));
        return number;
    }
    do
        number = ++keys->slots[i].count;
    while (has(keys, numbered(hash, object, number)));
    add(keys, numbered(hash, object, number));
    return number;
}
