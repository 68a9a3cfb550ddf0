/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PERFETTO_WRITER_H
#define TM_PERFETTO_WRITER_H

#include "perfetto.pb-c.h"
#include "pipeline/arguments.h"
#include "pipeline/run.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/names.h"
#include "stages/output/file/out_file.h"
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
    TM_PERFETTO_SLOTS = (1 << TM_PERFETTO_CATEGORY_BITS) + (1 << TM_PERFETTO_NAME_BITS) + (1 << TM_PERFETTO_KEY_BITS) +
                        (1 << TM_PERFETTO_STRING_BITS),
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
    bool is_full;    /* some table has no room for a text of this packet: clear, and make the packet anew */
    bool is_cut;     /* some text of this packet is not whole, or not there */
    size_t copied;   /* bytes of texts of this packet, as TM_PERFETTO_COPIED_MOST counts them */
    uint32_t fresh_count[TM_PERFETTO_TABLES]; /* of this packet */
    size_t fresh_used;
    struct tm_perfetto_slot slots[TM_PERFETTO_SLOTS];
    struct tm_perfetto_guess guesses[TM_PERFETTO_SLOTS];
    /* What this packet has to bring along, an InternedData on the wire; of packets that protobuf-c makes their texts. */
    uint8_t fresh[TM_PERFETTO_FRESH_BYTES];
};

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

/* The arguments of the event before of the same name, node by node, as they were read and as they were written.  Most
 * events of a name differ in a number or two: what is the same is copied, a run of nodes at once.  Kept are lists in
 * which no key comes twice, and whose texts all stand in tables or in place.  Memory: fixed. */
enum {
    TM_ALIKE = 256,
    TM_ALIKE_NODES = 24,
    TM_ALIKE_NODE_BYTES = 240,
    TM_ALIKE_VALUE_BYTES = 400,
    TM_ALIKE_HEAD = 8 /* most bytes of a head that is copied */
};

struct tm_alike {
    tm_strid name;   /* 0 = none */
    uint32_t tables; /* which tables of names it was written with */
    uint8_t level;   /* enum tm_args_level */
    uint8_t count;   /* of nodes */
    /* Where a node ends, and what was written of it; how many values there are up to it; its key, 0 of no value. */
    uint16_t node_end[TM_ALIKE_NODES], value_end[TM_ALIKE_NODES];
    uint8_t values[TM_ALIKE_NODES];
    tm_strid key[TM_ALIKE_NODES];
    /* Of a whole number or a name that was written by its number: how much of the value stands before that; else 0. */
    uint8_t type[TM_ALIKE_NODES], head_bytes[TM_ALIKE_NODES];
    uint8_t node_bytes[TM_ALIKE_NODE_BYTES], value_bytes[TM_ALIKE_VALUE_BYTES + TM_ALIKE_HEAD];
};

/* How many nodes of a list, from node `first` of the event before on, are the same. */
static inline size_t tm_alike_run(const struct tm_alike *alike, size_t first, struct tm_arguments list)
{
    const size_t begin = first ? alike->node_end[first - 1] : 0;
    const uint8_t *const nodes = alike->node_bytes + begin;
    const size_t all = alike->count ? alike->node_end[alike->count - 1] - begin : 0;
    const size_t most = list.length < all ? list.length : all;
    size_t same = 0;

    for (; same + 8 <= most; same += 8) {
        uint64_t a, b;

        __builtin_memcpy(&a, nodes + same, 8);
        __builtin_memcpy(&b, list.bytes + same, 8);
        if (a != b)
            break;
    }
    while (same < most && nodes[same] == list.bytes[same])
        same++;
    size_t count = 0;

    while (first + count < alike->count && alike->node_end[first + count] - begin <= same)
        count++;
    return count;
}

#endif
