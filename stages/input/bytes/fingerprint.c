/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/bytes/fingerprint.h"

#include <assert.h>
#include <stdlib.h>

#define XXH_STATIC_LINKING_ONLY /* a state on the stack */
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* uses the widest vectors of the processor; only some builds of the library have it */
#else
#include <xxhash.h>
#endif

struct piece {
    uint64_t hash;
    bool is_hashed;
};

/* The hashes of the first pieces. */
struct tree {
    XXH3_state_t *state;
    uint64_t hashed; /* pieces */
    uint64_t first;  /* hash of the first one */
};

struct tm_fingerprint {
    struct tm_run *run;
    uint64_t bytes;       /* 0 = not known */
    uint64_t piece_count; /* of a known size; at least 1 */
    struct piece *pieces; /* of a known size, else NULL */
    XXH3_state_t *state;  /* of the current piece */
    uint64_t at;      /* of the byte that it needs next: this is in the current piece, and `state` is of all before */
    struct tree tree; /* of a size that is not known */
};

static uint64_t piece_start(uint64_t at)
{
    return at - at % TM_PIECE_BYTES;
}

static uint64_t piece_end(const struct tm_fingerprint *f, uint64_t at)
{
    const uint64_t end = piece_start(at) + TM_PIECE_BYTES;

    return f->pieces && end > f->bytes ? f->bytes : end;
}

/* Whether the piece of a place is hashed. */
static bool is_hashed(const struct tm_fingerprint *f, uint64_t at)
{
    return f->pieces ? at >= f->bytes || f->pieces[at / TM_PIECE_BYTES].is_hashed
                     : at / TM_PIECE_BYTES < f->tree.hashed;
}

struct tm_fingerprint *tm_fingerprint_new(struct tm_run *run, uint64_t bytes)
{
    struct tm_fingerprint *const f = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*f), &run->error);

    if (!f)
        return NULL;
    f->run = run;
    f->bytes = bytes;
    f->piece_count = bytes / TM_PIECE_BYTES + (bytes % TM_PIECE_BYTES != 0);
    f->state = XXH3_createState();
    f->tree.state = XXH3_createState();
    if (bytes)
        f->pieces = tm_take(&run->budget, TM_ACCOUNT_INPUT, (size_t)f->piece_count * sizeof(*f->pieces), &run->error);
    if (!f->state || !f->tree.state || (bytes && !f->pieces)) {
        (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "out of memory for a fingerprint");
        tm_fingerprint_free(f);
        return NULL;
    }
    (void)XXH3_64bits_reset(f->state);
    (void)XXH3_64bits_reset(f->tree.state);
    return f;
}

void tm_fingerprint_free(struct tm_fingerprint *f)
{
    if (!f)
        return;
    (void)XXH3_freeState(f->state);
    (void)XXH3_freeState(f->tree.state);
    if (f->pieces)
        tm_give(&f->run->budget, TM_ACCOUNT_INPUT, f->pieces, (size_t)f->piece_count * sizeof(*f->pieces));
    tm_give(&f->run->budget, TM_ACCOUNT_INPUT, f, sizeof(*f));
}

static void add_to_tree(struct tree *tree, uint64_t hash)
{
    XXH64_canonical_t canonical;

    XXH64_canonicalFromHash(&canonical, hash);
    (void)XXH3_64bits_update(tree->state, &canonical, sizeof(canonical));
    tree->first = tree->hashed ? tree->first : hash;
    tree->hashed++;
}

static void start_piece(struct tm_fingerprint *f, uint64_t at)
{
    (void)XXH3_64bits_reset(f->state);
    f->at = at;
}

/* The current piece has passed. */
static void end_piece(struct tm_fingerprint *f)
{
    const uint64_t hash = XXH3_64bits_digest(f->state);

    if (f->pieces)
        f->pieces[(f->at - 1) / TM_PIECE_BYTES] = (struct piece){ hash, true };
    else
        add_to_tree(&f->tree, hash);
    start_piece(f, f->at);
}

/* The first of the bytes [at, end) that is to be hashed, which then continues the current piece; `end` = none. */
static uint64_t find_first(struct tm_fingerprint *f, uint64_t at, uint64_t end)
{
    const uint64_t next = at % TM_PIECE_BYTES ? piece_start(at) + TM_PIECE_BYTES : at; /* where a piece starts */

    if (at <= f->at && f->at < end && !is_hashed(f, f->at))
        return f->at;
    if (!f->pieces || next >= end || is_hashed(f, next) || (f->at > next && f->at < piece_end(f, next)))
        return end;
    start_piece(f, next);
    return next;
}

void tm_fingerprint_note(struct tm_fingerprint *f, uint64_t at, const void *bytes, size_t length)
{
    const uint64_t begin = at, end = at + length;

    while (at < end) {
        const uint64_t first = find_first(f, at, end);
        uint64_t last = first < end ? piece_end(f, first) : end;

        last = last < end ? last : end;
        if (first < last) {
            (void)XXH3_64bits_update(f->state, (const uint8_t *)bytes + (first - begin), (size_t)(last - first));
            f->at = last;
            if (f->at == piece_end(f, first))
                end_piece(f);
        }
        at = last;
    }
}

/* Up to where a piece is hashed: from its start, or to its end. */
static uint64_t hashed_to(const struct tm_fingerprint *f, uint64_t begin)
{
    const uint64_t end = piece_end(f, begin);

    if (is_hashed(f, begin))
        return end;
    return f->at > begin && f->at < end ? f->at : begin;
}

struct tm_gap tm_fingerprint_gap_before(const struct tm_fingerprint *f, uint64_t at)
{
    const uint64_t begin = hashed_to(f, piece_start(at));

    if (at >= f->bytes || begin >= at || at - begin > piece_end(f, at) - at)
        return (struct tm_gap){ at, at };
    return (struct tm_gap){ begin, at };
}

struct tm_gap tm_fingerprint_next_gap(const struct tm_fingerprint *f)
{
    if (f->at % TM_PIECE_BYTES &&
        !is_hashed(f, f->at)) /* first the piece that was started: another one would drop it */
        return (struct tm_gap){ f->at, piece_end(f, f->at) };
    for (uint64_t i = 0; i < f->piece_count; i++) {
        const uint64_t begin = i * TM_PIECE_BYTES;

        if (!f->pieces[i].is_hashed)
            return (struct tm_gap){ begin, piece_end(f, begin) };
    }
    return (struct tm_gap){ f->bytes, f->bytes };
}

uint64_t tm_fingerprint_noted(const struct tm_fingerprint *f)
{
    uint64_t noted = 0;

    for (uint64_t i = 0; i < f->piece_count; i++)
        noted += hashed_to(f, i * TM_PIECE_BYTES) - i * TM_PIECE_BYTES;
    return noted;
}

uint64_t tm_fingerprint_value(const struct tm_fingerprint *f)
{
    XXH3_state_t state;
    struct tree tree = { &state, f->tree.hashed, f->tree.first };
    uint64_t next = tree.hashed;

    XXH3_INITSTATE(&state);
    XXH3_copyState(&state, f->tree.state);
    while (next < f->piece_count && f->pieces[next].is_hashed)
        add_to_tree(&tree, f->pieces[next++].hash);
    if (f->at > next * TM_PIECE_BYTES && f->at / TM_PIECE_BYTES == next) /* the last one, which has not ended */
        add_to_tree(&tree, XXH3_64bits_digest(f->state));
    if (!tree.hashed)
        return XXH3_64bits(NULL, 0);
    return tree.hashed == 1 ? tree.first : XXH3_64bits_digest(&state);
}
