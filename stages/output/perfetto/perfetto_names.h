/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PERFETTO_NAMES_H
#define TM_PERFETTO_NAMES_H

#include "perfetto.pb-c.h"
#include "pipeline/groups.h"
#include "pipeline/names.h"
#include "stages/output/perfetto/perfetto_wire.h"

/* Texts of packets.  What comes often stands in a table of the file by its number, and a packet that uses it first
 * brings the text along.  The tables have fixed sizes, whatever the memory is, and know texts by what they are, not by
 * their handles: the same bytes come out always.  Where one is full, all of them begin anew. */
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
    TM_PERFETTO_SLOTS = (1 << TM_PERFETTO_CATEGORY_BITS) + (1 << TM_PERFETTO_NAME_BITS) +
                        (1 << TM_PERFETTO_KEY_BITS) + (1 << TM_PERFETTO_STRING_BITS),
    TM_PERFETTO_INTERNED_MOST = 64 << 10, /* bytes: longer texts stand in their packets */
    TM_PERFETTO_TEXT_MOST = 128 << 10,    /* bytes of a text as it comes; what is longer is cut */
    TM_PERFETTO_COPIED_MOST = 512 << 10,  /* bytes of the texts of one packet but those that stand in its arguments */
    TM_PERFETTO_FRESH_KEYS = 256,         /* entries that one packet may bring along; more stand where they are used */
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

/* Which entry a handle had last: saves asking what it stands for. */
struct tm_perfetto_guess {
    tm_strid id;
    uint32_t iid; /* 0 = none */
};

struct tm_perfetto_names {
    struct tm_names *names;
    uint32_t count[TM_PERFETTO_TABLES];
    uint64_t seed;
    uint32_t tables; /* counts up whenever they begin anew */
    bool is_full;  /* some table has no room for a text of this packet: clear, and make the packet anew */
    bool is_cut;   /* some text of this packet is not whole, or not there */
    size_t copied; /* bytes of texts of this packet, as TM_PERFETTO_COPIED_MOST counts them */
    uint32_t fresh_count[TM_PERFETTO_TABLES]; /* of this packet */
    size_t fresh_used;
    struct tm_perfetto_slot slots[TM_PERFETTO_SLOTS];
    struct tm_perfetto_guess guesses[TM_PERFETTO_SLOTS];
    /* What this packet has to bring along, an InternedData on the wire; of packets that protobuf-c makes their texts. */
    uint8_t fresh[TM_PERFETTO_FRESH_BYTES];
};

/* in: n  zeroed memory */
void tm_perfetto_names_open(struct tm_perfetto_names *n, struct tm_names *names);
/* The tables begin anew: the next packet has to say so. */
void tm_perfetto_names_clear(struct tm_perfetto_names *n);
/* A packet begins: the texts of the one before are gone. */
static inline void tm_perfetto_names_begin(struct tm_perfetto_names *n)
{
    n->is_full = n->is_cut = false;
    n->copied = n->fresh_used = 0;
    memset(n->fresh_count, 0, sizeof(n->fresh_count));
}

/* Where a handle's guess lies. */
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

tm_status tm_perfetto_find(struct tm_perfetto_names *n, enum tm_perfetto_table table, tm_strid id,
                           uint32_t *iid) TM_MUST_USE;

/* The number of a text in a table.
 * out: *iid  0: it is in no table, and has to stand where it is used */
static inline tm_status TM_MUST_USE tm_perfetto_number(struct tm_perfetto_names *n, enum tm_perfetto_table table,
                                                       tm_strid id, uint32_t *iid)
{
    const struct tm_perfetto_guess *const guess = tm_perfetto_guess(n, table, id);

    *iid = guess->iid;
    return guess->id == id && guess->iid ? TM_OK : tm_perfetto_find(n, table, id, iid);
}

/* Texts as fields, in valid UTF-8; what does not fit is left out, and is_cut says so.
 * in: *to  room for what is left of TM_PERFETTO_COPIED_MOST, and TM_PB_HEAD; behind the field afterwards */
tm_status tm_perfetto_put_name(struct tm_perfetto_names *n, uint8_t **to, unsigned field, tm_strid id) TM_MUST_USE;
void tm_perfetto_put_text(struct tm_perfetto_names *n, uint8_t **to, unsigned field, const char *text, size_t length);
/* The same of bytes of an event's arguments, which count only where they are not valid.
 * in: *to  room for them besides */
void tm_perfetto_put_argument(struct tm_perfetto_names *n, uint8_t **to, unsigned field, const char *text,
                              size_t length);

/* Texts for a packet that protobuf-c makes, until the next packet begins; data NULL: no room, and is_cut says so. */
tm_status tm_perfetto_text(struct tm_perfetto_names *n, tm_strid id, ProtobufCBinaryData *text) TM_MUST_USE;
ProtobufCBinaryData tm_perfetto_copy(struct tm_perfetto_names *n, const char *text, size_t length);

#endif
