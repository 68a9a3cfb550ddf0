/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHROME_TEMPLATE_H
#define TM_CHROME_TEMPLATE_H

#include "stages/input/chrome/chrome_reader.h"
#include "stages/input/chrome/json_text.h"

/* Remembered events, as pieces of text with numbers between them: see chrome_template.c.  Code that runs for every
 * event is here, to be compiled for each kind of processor; code that runs once per template is there. */

enum {
    TM_PIECE_SPANS = 13,
    TM_PIECE_LONGEST = 512, /* of the spans */
    TM_PIECE_PROBES = 8,
    TM_CREDIT_MOST = 1 << 14,
    TM_LEARN_ONE_IN = 64, /* where the credit is used up */
    TM_TRUST_MOST = 64,
    TM_TRUST_GAIN = 4,
    TM_TRY_ONE_IN = 16,   /* if nothing was found recently */
    TM_FORGIVEN_BY = 256, /* this many events that are found make up for one that is learned twice */
    TM_RECENT_BITS = 12,
    TM_RECENT_BYTES = 32, /* of a text, by which recent pieces are found */
};

/* A run of bytes that several events share, after the same prefix, and the number that follows. */
struct tm_piece {
    const uint8_t *text; /* in the table's bytes */
    uint32_t tag;        /* of the hash by which it is found */
    uint32_t after;      /* the piece that it follows */
    uint32_t whole; /* of an event that ends with it: where its template is in the table's bytes, plus one; 0 = none */
    uint16_t length;
    uint16_t likely; /* the piece that followed last; 0 = none has */
    uint16_t spans;  /* bit n: a piece that follows is found by tm_piece_spans[n] bytes */
    uint8_t kind;    /* enum tm_number_kind */
    uint8_t stat;    /* enum tm_stat of a fact */
    uint8_t skip;    /* the pieces that follow share this many bytes, which do not distinguish them */
    bool is_steady;  /* the same piece has followed twice */
};

static_assert(sizeof(struct tm_piece) == 32, "a power of two: a difference of two is no division");

struct tm_piece_slot {
    uint32_t tag;
    uint32_t piece; /* 0: the slot is free */
};

/* What an event is except for its numbers. */
struct tm_template {
    struct tm_chrome_known known;
    uint32_t has, seen, name_traits;
    char phase;
    bool has_tallies, has_nested_argument, has_others;
    uint64_t facts; /* bits of enum tm_stat; their numbers follow, if they are needed */
};

struct tm_template_votes;

struct tm_chrome_templates {
    struct tm_piece *pieces; /* the first one is the root: before any event */
    struct tm_piece_slot *slots;
    uint32_t *texts; /* by their hash: where they are in `bytes`, plus one */
    uint8_t *bytes;  /* strings and templates */
    uint64_t secret[TM_PIECE_LONGEST / 8];
    size_t used, room, taken; /* bytes; taken: by all of it, with this */
    uint32_t count, most;     /* pieces */
    uint32_t slot_mask;       /* of those in use, which are few while there are few pieces: they stay in the L1 cache */
    int32_t credit;           /* the budget for learning: an event that is found adds to it */
    int32_t trust;            /* grows by an event that is found, shrinks by others */
    uint32_t not_tried, not_learned, learned_twice;
    bool is_used;  /* something is to be remembered */
    bool is_tried; /* the current event was looked up, and not found */
    struct tm_template_votes *votes;
    uint16_t recent[1 << TM_RECENT_BITS]; /* recently found pieces */
};

/* errors: NULL, with the error in run->error */
struct tm_chrome_templates *tm_chrome_templates_new(struct tm_run *run) TM_MUST_USE;
void tm_chrome_templates_free(struct tm_chrome_templates *t, struct tm_run *run); /* tolerates NULL */

/* The rare parts of an event that was found: facts that are all needed, and tallies. */
void tm_chrome_take_rare(struct tm_chrome_reader *reader, const struct tm_template *whole);

/* Pieces are found by their first bytes: by the most of these that they have. */
static const uint16_t tm_piece_spans[TM_PIECE_SPANS] = { 1, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512 };

/* out:    a row of tm_piece_spans */
static inline uint32_t tm_piece_span(uint32_t length)
{
    uint32_t row = TM_PIECE_SPANS - 1;

    while (tm_piece_spans[row] > length)
        row--;
    return row;
}

static inline uint64_t tm_piece_product(const uint8_t *at, const uint64_t secret[2])
{
    return tm_hash_fold(tm_load_word(at) ^ secret[0], tm_load_word(at + 8) ^ secret[1]);
}

/* A hash of the first bytes, as a sum of products that do not wait for each other.  Colliding strings cannot be chosen,
 * since the secret is of this process.
 * in:     *sum  of a shorter span, which starts with 0; it grows to the current one
 *         from, span  that one's, or 0, and the current one: of tm_piece_spans */
static inline uint64_t tm_piece_hash(const uint64_t *secret, uint64_t *sum, const uint8_t *at, uint32_t from,
                                     uint32_t span)
{
    if (span < 16)
        return tm_hash_fold((span == 1 ? *at : tm_load_word(at)) ^ secret[0], secret[1]);
    for (from &= ~15U; from + 16 <= span; from += 16)
        *sum += tm_piece_product(at + from, secret + from / 8);
    return *sum + (from < span ? tm_piece_product(at + span - 16, secret + from / 8) : 0);
}

static inline uint32_t tm_piece_tag(uint64_t hash, uint32_t after)
{
    return (uint32_t)(hash + after * UINT64_C(0x9e3779b97f4a7c15));
}

/* --- of every event --- */

/* Whether to try templates: not during a look ahead, which needs the entire event, and not after damage, which ends
 * with the first complete event. */
static inline bool tm_chrome_may_be_known(const struct tm_chrome_reader *r)
{
    struct tm_chrome_templates *const t = r->templates;

    t->is_tried =
        t->is_used && (t->trust > 0 || ++t->not_tried % TM_TRY_ONE_IN == 0) && !r->is_looking && !r->is_in_damage;
    return t->is_tried;
}

/* This many events were found. */
static inline void tm_chrome_gain_trust(struct tm_chrome_templates *t, int32_t count)
{
    const uint32_t forgiven = (uint32_t)count / TM_FORGIVEN_BY;

    t->learned_twice -= forgiven < t->learned_twice ? forgiven : t->learned_twice;
    t->credit = t->credit + count < TM_CREDIT_MOST ? t->credit + count : TM_CREDIT_MOST;
    t->trust = count < TM_TRUST_MOST / TM_TRUST_GAIN && t->trust + count * TM_TRUST_GAIN < TM_TRUST_MOST
                   ? t->trust + count * TM_TRUST_GAIN
                   : TM_TRUST_MOST;
}

/* An event matched no known one, after this many of its bytes. */
static inline const uint8_t *tm_chrome_distrust(struct tm_chrome_templates *t, size_t bytes)
{
    t->trust -= 1 + (int32_t)(bytes / 128);
    t->trust = t->trust < 0 ? 0 : t->trust;
    return NULL;
}

/* Whether the event that starts may be remembered. */
static inline bool tm_chrome_may_be_learned(struct tm_chrome_templates *t)
{
    return t->is_used && (t->credit > 0 || ++t->not_learned % TM_LEARN_ONE_IN == 0);
}

/* The lengths of pieces that end events are hard to predict: up to 64 bytes, none affects a branch. */
static inline bool is_piece_at(const struct tm_piece *piece, const uint8_t *at)
{
#if TM_JSON_STRIDE == 32
    if (TM_LIKELY(piece->length <= 64))
        return !_bzhi_u64(tm_text_differs(at, piece->text) | (uint64_t)tm_text_differs(at + 32, piece->text + 32) << 32,
                          piece->length);
#endif
    return tm_same_text(at, piece->text, piece->length);
}

TM_INLINE struct tm_piece *find_piece_of_tag(struct tm_chrome_templates *t, uint32_t after, uint32_t tag,
                                             const uint8_t *at)
{
    const struct tm_piece_slot *slot = &t->slots[tag & t->slot_mask];

    for (int left = TM_PIECE_PROBES; left > 0 && slot->piece; left--) {
        struct tm_piece *const piece = &t->pieces[slot->piece];

        if (slot->tag == tag && piece->after == after) {
            if (is_piece_at(piece, at))
                return piece;
            left--; /* a comparison is expensive */
        }
        slot = &t->slots[(uint32_t)(slot - t->slots + 1) & t->slot_mask];
    }
    return NULL;
}

/* The piece that follows another one, found by its first bytes.  Before the zero byte at the end of the window no text
 * can be the same, since none has one in it. */
TM_NOT_INLINE struct tm_piece *look_up_piece(struct tm_chrome_templates *t, const struct tm_piece *after,
                                             const uint8_t *at, const uint8_t *end)
{
    const uint32_t number = (uint32_t)(after - t->pieces);
    uint64_t sum = 0;
    uint32_t hashed = 0;

    for (uint32_t left = after->spans; left; left &= left - 1) {
        const uint32_t span = tm_piece_spans[__builtin_ctz(left)];
        struct tm_piece *piece;

        if ((size_t)(end - at) < span)
            break;
        piece =
            find_piece_of_tag(t, number, tm_piece_tag(tm_piece_hash(t->secret, &sum, at, hashed, span), number), at);
        if (piece)
            return piece;
        hashed = span;
    }
    return NULL;
}

/* Where the piece that follows another one is, if it was found recently: by a hash of its text after what all of these
 * pieces share.  It may include text after the piece, which is mostly the same: any other place is only slower. */
TM_INLINE uint16_t *recent_piece(struct tm_chrome_templates *t, const struct tm_piece *after, const uint8_t *at)
{
    const uint8_t *const text = at + after->skip;
    const uint64_t sum = tm_piece_product(text, t->secret) + tm_piece_product(text + 16, t->secret + 2);

    return &t->recent[tm_piece_tag(sum, (uint32_t)(after - t->pieces)) >> (32 - TM_RECENT_BITS)];
}

/* The piece that follows another one: the one that followed last, a recent one, or any. */
TM_INLINE struct tm_piece *next_piece(struct tm_chrome_templates *t, struct tm_piece *after, const uint8_t *at,
                                      const uint8_t *end)
{
    struct tm_piece *piece = &t->pieces[after->likely];
    uint16_t *recent;
    uint32_t number;

    if (after->is_steady) {
        if (is_piece_at(piece, at))
            return piece;
        after->is_steady = false;
    }
    recent = recent_piece(t, after, at);
    piece = &t->pieces[*recent];
    if (piece->after != (uint32_t)(after - t->pieces) || !is_piece_at(piece, at)) {
        piece = look_up_piece(t, after, at, end);
        if (!piece)
            return NULL;
    }
    number = (uint32_t)(piece - t->pieces);
    *recent = (uint16_t)number;
    after->is_steady = after->likely == number;
    after->likely = (uint16_t)number;
    return piece;
}

#endif
