/* SPDX-License-Identifier: Apache-2.0 */
/* The table of keys: open, probed in steps of one. */
#include "stages/input/chrome/chrome_keys.h"

#include <xxhash.h>

void tm_chrome_keys_begin(struct tm_chrome_keys *keys)
{
    if (keys->used > TM_KEYS_ENOUGH || keys->event == UINT32_MAX)
        memset(keys, 0, sizeof(*keys));
    keys->event++;
}

void tm_chrome_key_hash(const uint8_t *key, struct tm_key_name *name)
{
    const XXH128_hash_t hash = XXH3_128bits(key, name->length - 1);

    name->words[0] = hash.low64;
    name->words[1] = hash.high64;
}

static enum tm_stat argument_of(const uint8_t *key, const struct tm_key_name *name)
{
    return name->place == TM_KEY_OF_ARGUMENTS ? tm_argument_of((const char *)key, name->length - 1) : TM_STAT_UNKNOWN;
}

struct tm_key_slot *tm_chrome_key_spare(struct tm_chrome_keys *keys, enum tm_stat stat)
{
    struct tm_key_slot *const slot = &keys->slots[TM_KEY_SPARE];

    *slot = (struct tm_key_slot){ .stat = stat }; /* of no event: it is not watched for repetition */
    return slot;
}

struct tm_key_slot *tm_chrome_key_slow(struct tm_chrome_keys *keys, const uint8_t *key, struct tm_key_name *name)
{
    uint32_t at = tm_key_first_slot(name);
    struct tm_key_slot *slot;

    for (slot = &keys->slots[at]; slot->name.length; slot = &keys->slots[at]) {
        if (tm_key_names_equal(&slot->name, name))
            return slot;
        at = (at + 1) & (TM_KEY_SLOTS - 1);
    }
    if (keys->used == TM_KEYS_MOST)
        return tm_chrome_key_spare(keys, argument_of(key, name));
    keys->used++;
    *slot = (struct tm_key_slot){ .name = *name, .stat = argument_of(key, name) };
    return slot;
}
