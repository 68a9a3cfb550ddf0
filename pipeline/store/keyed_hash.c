/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/keyed_hash.h"

enum { WORD_ROUNDS = 2, LAST_ROUNDS = 4, STRETCH_ROUNDS = 1 << 18 };

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t turn(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void mix(struct sip *s, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        s->v0 += s->v1;
        s->v1 = turn(s->v1, 13) ^ s->v0;
        s->v0 = turn(s->v0, 32);
        s->v2 += s->v3;
        s->v3 = turn(s->v3, 16) ^ s->v2;
        s->v0 += s->v3;
        s->v3 = turn(s->v3, 21) ^ s->v0;
        s->v2 += s->v1;
        s->v1 = turn(s->v1, 17) ^ s->v2;
        s->v2 = turn(s->v2, 32);
    }
}

static inline void take_word(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    mix(s, WORD_ROUNDS);
    s->v0 ^= word;
}

/* Up to 8 bytes, the first one lowest. */
static inline uint64_t read_word(const uint8_t *bytes, size_t length)
{
    uint64_t word = 0;

    for (size_t i = 0; i < length; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

uint64_t tm_keyed_hash(struct tm_secret_key key, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    struct sip s = { key.low ^ UINT64_C(0x736f6d6570736575), key.high ^ UINT64_C(0x646f72616e646f6d),
                     key.low ^ UINT64_C(0x6c7967656e657261), key.high ^ UINT64_C(0x7465646279746573) };
    size_t left = length;

    for (; left >= 8; left -= 8, at += 8)
        take_word(&s, read_word(at, 8));
    take_word(&s, read_word(at, left) | (uint64_t)length << 56);
    s.v2 ^= 0xff;
    mix(&s, LAST_ROUNDS);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

struct tm_secret_key tm_stretch_key(struct tm_secret_key from)
{
    struct tm_secret_key key = from;

    for (uint32_t i = 0; i < STRETCH_ROUNDS; i++) {
        const uint64_t words[] = { from.low, from.high, i };

        key = (struct tm_secret_key){ key.high, tm_keyed_hash(key, words, sizeof(words)) };
    }
    return key;
}
