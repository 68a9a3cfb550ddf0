/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_NAMES_H
#define TM_NAMES_H

#include <string.h>

#include "pipeline/store/groups.h"

/* Strings of a trace by handle: event names, op paths, string values.  Strings are in an append-only store that
 * spills; a bounded table finds strings that were put in before, so the same string usually has one handle, but
 * after an overflow it may get a second one: compare by hash, never by handle. */
typedef uint32_t tm_strid; /* 0 = the empty string */

struct tm_names;

/* What is known of a string without reading it again. */
struct tm_name {
    struct tm_key hash; /* XXH3-128 of the bytes */
    uint32_t length;    /* bytes */
    uint32_t traits;    /* set by the reader; see stages/resolve/classes.h */
};

/* Computes the traits of a string, once per handle.  NULL = none. */
typedef uint32_t tm_name_traits(const char *text, size_t length);

struct tm_names *tm_names_new(struct tm_run *run, size_t memory_bytes, tm_name_traits *traits) TM_MUST_USE;
void tm_names_free(struct tm_names *names);
tm_status tm_names_status(const struct tm_names *names); /* of the run: why a handle is 0 */

/* Failures are recorded in run->error, and later calls return nothing: check tm_failed once, at the end.
 * Add a string of any bytes.  Strings that are not UTF-8 are tallied once per handle and host, and kept unchanged.
 * errors: TM_ERR_LIMIT beyond 2^32 - 1 handles, TM_ERR_OUTPUT */
tm_strid tm_names_put(struct tm_names *names, const char *text, size_t length);

/* The same, with its traits: for strings that are put in for every event. */
tm_strid tm_names_put_often(struct tm_names *names, const char *text, size_t length, uint32_t *traits);

static inline tm_strid tm_names_put_string(struct tm_names *names, const char *text)
{
    return tm_names_put(names, text, strlen(text));
}

/* A new host starts: strings that are not UTF-8 are tallied for each host that has them, as if it were alone. */
void tm_names_begin_host(struct tm_names *names);

/* What is known about a handle; cheap, but not free once spilled. */
struct tm_name tm_names_info(struct tm_names *names, tm_strid id);

/* The hashes of some strings, from which keys are made.  in: ids, out: hashes, both [count] */
void tm_names_hashes(struct tm_names *names, const tm_strid *ids, size_t count, struct tm_key *hashes);

/* The text, NUL-terminated, cut at `most` bytes (0 = whole); valid until the next tm_names_text call.  "" after a
 * failure.
 * out: length  may be NULL */
const char *tm_names_text(struct tm_names *names, tm_strid id, size_t most, size_t *length);

/* A cached value that a reader computed from a string; 0 until it is set. stages/figures/kernel_category.c defines its
 * meaning. */
uint16_t tm_names_note(struct tm_names *names, tm_strid id);
void tm_names_set_note(struct tm_names *names, tm_strid id, uint16_t note);

/* Handles are 0 to count - 1.  Without twins every string has one handle. */
uint64_t tm_names_count(const struct tm_names *names);
bool tm_names_are_in_memory(const struct tm_names *names); /* all of them */
bool tm_names_have_duplicates(const struct tm_names *names);
/* Whether two handles are for the same string. */
bool tm_names_have_same_text(struct tm_names *names, tm_strid a, tm_strid b);

static inline bool tm_names_are_same(struct tm_names *names, tm_strid a, tm_strid b)
{
    return a == b || tm_names_have_same_text(names, a, b);
}

/* Copy bytes [at, at + bytes) of a string, however long it is. */
void tm_names_copy(struct tm_names *names, tm_strid id, uint64_t at, void *to, size_t bytes);

/* Numbers for keys, from 0 in the order of first use: exact for any number of keys, where struct tm_names may assign a
 * second one.  Beyond its memory, keys are in sorted runs in a spill file.  A key is a family and a member of it.
 * Members are adjacent, so numeric ids are stored as families of consecutive ids: the number without its lowest bits,
 * and these bits.  Any other key is its own family. */
enum { TM_KEY_MEMBER_BITS = 5 };
struct tm_key_map;

struct tm_key_map *tm_key_map_new(struct tm_run *run, enum tm_account account, size_t memory_bytes) TM_MUST_USE;
void tm_key_map_free(struct tm_key_map *map);

/* The number of a key; of one that is new, the number of keys so far.  After a failure, which run->error keeps, 0.
 * in: member  below 1 << TM_KEY_MEMBER_BITS */
uint64_t tm_key_map_number(struct tm_key_map *map, struct tm_key family, uint32_t member);

#endif
