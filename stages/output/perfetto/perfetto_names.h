/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PERFETTO_NAMES_H
#define TM_PERFETTO_NAMES_H

#include "perfetto.pb-c.h"
#include "pipeline/groups.h"
#include "pipeline/names.h"

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
    TM_PERFETTO_SCRATCH_BYTES = 512 << 10, /* texts of one packet */
    TM_PERFETTO_FRESH_KEYS = 256,         /* entries that one packet may bring along; more stand where they are used */
    TM_PERFETTO_FRESH_STRINGS = 512,
    TM_PERFETTO_FRESH = 2 + TM_PERFETTO_FRESH_KEYS + TM_PERFETTO_FRESH_STRINGS,
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
    bool is_full;  /* some table has no room for a text of this packet: clear, and make the packet anew */
    bool is_cut;   /* some text of this packet is not whole, or not there */
    size_t scratch_used;
    size_t text_bytes; /* of this packet, all told */
    size_t fresh_count[TM_PERFETTO_TABLES]; /* of this packet */
    Perfetto__InternedData data;
    Perfetto__InternedText fresh[TM_PERFETTO_FRESH];
    Perfetto__InternedText *fresh_at[TM_PERFETTO_FRESH];
    struct tm_perfetto_slot slots[TM_PERFETTO_SLOTS];
    struct tm_perfetto_guess guesses[TM_PERFETTO_SLOTS];
    char scratch[TM_PERFETTO_SCRATCH_BYTES];
};

/* in: n  zeroed memory */
void tm_perfetto_names_open(struct tm_perfetto_names *n, struct tm_names *names);
/* The tables begin anew: the next packet has to say so. */
void tm_perfetto_names_clear(struct tm_perfetto_names *n);
/* A packet begins: the texts of the one before are gone. */
void tm_perfetto_names_begin(struct tm_perfetto_names *n);
/* The number of a text in a table.
 * out:    *iid   0: it is in no table, and stands in
 *         *text  until the next packet begins; data is NULL where there is no room for it, and is_cut says so */
tm_status tm_perfetto_number(struct tm_perfetto_names *n, enum tm_perfetto_table table, tm_strid id, uint64_t *iid,
                             ProtobufCBinaryData *text) TM_MUST_USE;
/* A text for this packet only. */
tm_status tm_perfetto_text(struct tm_perfetto_names *n, tm_strid id, ProtobufCBinaryData *text) TM_MUST_USE;
/* The same of bytes: they are used where they are if they are valid UTF-8, else a valid copy. */
ProtobufCBinaryData tm_perfetto_bytes(struct tm_perfetto_names *n, const char *text, size_t length);
/* The same, always a copy. */
ProtobufCBinaryData tm_perfetto_copy(struct tm_perfetto_names *n, const char *text, size_t length);
/* What this packet has to bring along; NULL = nothing.
 * out: *count  entries */
Perfetto__InternedData *tm_perfetto_fresh(struct tm_perfetto_names *n, size_t *count);

#endif
