/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHROME_KEYS_H
#define TM_CHROME_KEYS_H

#include <string.h>

#include "stages/input/chrome/json_digits.h"
#include "stages/input/records/facts.h"

/* The keys that came lately: which argument each one is, and whether the present event has had it.  A table of fixed
 * size that is emptied between two events when it fills; an event with more than some hundred keys of its own is not
 * watched for repeated ones beyond those. */
enum {
    TM_KEY_SLOTS = 256,  /* a power of two */
    TM_KEYS_MOST = 224,  /* in use */
    TM_KEYS_ENOUGH = 96, /* emptied before an event that begins with more */
    TM_KEY_BYTES = 32,   /* of a key that is held itself; may be loaded whatever its length */
};

/* Where a key stands: the same word means different things. */
enum tm_key_place { TM_KEY_OF_EVENT, TM_KEY_OF_ARGUMENTS, TM_KEY_OF_ID };

/* Up to TM_KEY_BYTES: the key in words that overlap; above, its hash of 128 bits. */
struct tm_key_name {
    uint64_t words[4];
    uint32_t length; /* 0 = the slot is free: lengths are kept plus one */
    uint32_t place;
};

struct tm_key_slot {
    struct tm_key_name name;
    uint32_t event; /* the last one that had it */
    uint32_t stat;  /* enum tm_stat, of arguments */
};

/* What stands between two values, byte by byte: `,"ts":`.  Writers repeat themselves, so that a comparison with what
 * followed lately mostly takes the place of reading a key. */
enum { TM_STEP_BYTES = 60, TM_STEPS = 4, TM_ARGUMENT_STEPS = 2 };
struct tm_step {
    uint8_t text[TM_STEP_BYTES];
    uint16_t length; /* 0 = none */
    uint16_t to;     /* whose value follows: enum event_member; of arguments a slot or TM_KEY_END */
};
static_assert(sizeof(struct tm_step) == 64, "a power of two, of which 64 bytes can be loaded");

/* Numbers of slots that are none of the table. */
enum { TM_KEY_SPARE = TM_KEY_SLOTS, TM_KEY_BEGIN, TM_KEY_END };

struct tm_chrome_keys {
    struct tm_key_slot slots[TM_KEY_SLOTS + 1]; /* the last one is spare: of a key that is not in the table */
    uint32_t used;
    uint32_t event;                                            /* the present one */
    struct tm_step steps[TM_KEY_BEGIN + 1][TM_ARGUMENT_STEPS]; /* behind the value of each argument, the newest first */
};

/* An event begins.  The table may be zeroed at first. */
void tm_chrome_keys_begin(struct tm_chrome_keys *keys);

/* Not in the table yet, or too long to be held itself. */
struct tm_key_slot *tm_chrome_key_slow(struct tm_chrome_keys *keys, const uint8_t *key, struct tm_key_name *name);
/* The spare one, for this key alone. */
struct tm_key_slot *tm_chrome_key_spare(struct tm_chrome_keys *keys, enum tm_stat stat);
/* Its name where it is longer than TM_KEY_BYTES. */
void tm_chrome_key_hash(const uint8_t *key, struct tm_key_name *name);

static inline uint64_t tm_key_head(const uint8_t *key, uint32_t length)
{
    const uint64_t word = tm_load_word(key);

    return length >= 8 ? word : word & ((UINT64_C(1) << (8 * length)) - 1);
}

static inline void tm_chrome_key_name(const uint8_t *key, uint32_t length, enum tm_key_place place,
                                      struct tm_key_name *name)
{
    *name = (struct tm_key_name){ .length = length + 1, .place = place };
    if (length > TM_KEY_BYTES) {
        tm_chrome_key_hash(key, name);
        return;
    }
    name->words[0] = tm_key_head(key, length);
    if (length > 8)
        name->words[1] = tm_load_word(key + length - 8);
    if (length > 16)
        name->words[2] = tm_load_word(key + 8);
    if (length > 24)
        name->words[3] = tm_load_word(key + 16);
}

static inline bool tm_key_names_equal(const struct tm_key_name *a, const struct tm_key_name *b)
{
    return a->words[0] == b->words[0] && a->words[1] == b->words[1] && a->words[2] == b->words[2] &&
           a->words[3] == b->words[3] && a->length == b->length && a->place == b->place;
}

static inline uint32_t tm_key_first_slot(const struct tm_key_name *name)
{
    const uint64_t mix = (name->words[0] ^ (name->words[1] << 21 | name->words[1] >> 43) ^ name->words[2]) +
                         ((uint64_t)name->length << 32) + name->place;

    return (uint32_t)(mix * UINT64_C(0x9e3779b97f4a7c15) >> 56) & (TM_KEY_SLOTS - 1);
}

/* The slot of a key, which it has until the event ends.  TM_KEY_BYTES are loaded from it on. */
static inline struct tm_key_slot *tm_chrome_key(struct tm_chrome_keys *keys, const uint8_t *key, uint32_t length,
                                                enum tm_key_place place)
{
    struct tm_key_name name;
    struct tm_key_slot *slot;

    tm_chrome_key_name(key, length, place, &name);
    slot = &keys->slots[tm_key_first_slot(&name)];
    return tm_key_names_equal(&slot->name, &name) ? slot : tm_chrome_key_slow(keys, key, &name);
}

/* The present event has the key.
 * out:    whether it had it before */
static inline bool tm_chrome_key_repeats(const struct tm_chrome_keys *keys, struct tm_key_slot *slot)
{
    const bool repeats = slot->event == keys->event;

    slot->event = keys->event;
    return repeats;
}

#endif
