/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of packets: tables of frequent ones, open addressing by the hash of the text.  A cache by handle precedes
 * each table, one entry per slot, so most lookups do not access the run's names.  Memory: fixed.
 * source: https://perfetto.dev/docs/reference/synthetic-track-event, interning */
#include "stages/output/perfetto/perfetto_writer.h"

#include "pipeline/store/hash.h"
#include "pipeline/store/hash.h"
#include "pipeline/strings.h"
#include "stages/output/file/out_file.h"

static const uint8_t table_bits[TM_PERFETTO_TABLES] = {
    [TM_PERFETTO_CATEGORIES] = TM_PERFETTO_CATEGORY_BITS,
    [TM_PERFETTO_NAMES] = TM_PERFETTO_NAME_BITS,
    [TM_PERFETTO_KEYS] = TM_PERFETTO_KEY_BITS,
    [TM_PERFETTO_STRINGS] = TM_PERFETTO_STRING_BITS,
};

static const size_t table_at[TM_PERFETTO_TABLES] = {
    [TM_PERFETTO_NAMES] = 1 << TM_PERFETTO_CATEGORY_BITS,
    [TM_PERFETTO_KEYS] = (1 << TM_PERFETTO_CATEGORY_BITS) + (1 << TM_PERFETTO_NAME_BITS),
    [TM_PERFETTO_STRINGS] = TM_PERFETTO_SLOTS - (1 << TM_PERFETTO_STRING_BITS),
};

static const uint32_t fresh_most[TM_PERFETTO_TABLES] = {
    [TM_PERFETTO_CATEGORIES] = 1,
    [TM_PERFETTO_NAMES] = 1,
    [TM_PERFETTO_KEYS] = TM_PERFETTO_FRESH_KEYS,
    [TM_PERFETTO_STRINGS] = TM_PERFETTO_FRESH_STRINGS,
};

/* Fields of InternedData; of its entries. */
static const uint8_t table_field[TM_PERFETTO_TABLES] = {
    [TM_PERFETTO_CATEGORIES] = 1,
    [TM_PERFETTO_NAMES] = 2,
    [TM_PERFETTO_KEYS] = 3,
    [TM_PERFETTO_STRINGS] = 29,
};

enum { ENTRY_IID = 1, ENTRY_TEXT = 2 };

void tm_perfetto_names_open(struct tm_perfetto_names *n, struct tm_names *names)
{
    n->names = names;
    n->seed = tm_hash_seed(n);
}

void tm_perfetto_names_clear(struct tm_perfetto_names *n)
{
    n->tables++;
    memset(n->count, 0, sizeof(n->count));
    memset(n->slots, 0, sizeof(n->slots));
    memset(n->guesses, 0, sizeof(n->guesses));
}

/* --- strings --- */

static bool is_plain(const char *text, size_t length)
{
    return tm_utf8_is_valid(text, length) && !memchr(text, '\0', length);
}

/* No room: the text is left out. */
static size_t lose(struct tm_perfetto_names *n)
{
    n->is_cut = true;
    return SIZE_MAX;
}

/* The text in valid UTF-8.
 * in: is_counted  even if it is valid as it is
 * out: bytes written; SIZE_MAX: none, since there is no room */
static size_t make_valid(struct tm_perfetto_names *n, uint8_t *to, const char *text, size_t length, bool is_counted)
{
    const size_t left = TM_PERFETTO_COPIED_MOST - n->copied;

    if (length > TM_PERFETTO_TEXT_MOST) {
        n->is_cut = true;
        length = TM_PERFETTO_TEXT_MOST;
    }
    if (!length)
        return 0;
    if (is_plain(text, length)) {
        if (is_counted && length > left)
            return lose(n);
        n->copied += is_counted ? length : 0;
        memcpy(to, text, length);
        return length;
    }
    if (length > left / TM_UTF8_REPLACEMENT_BYTES)
        return lose(n);
    length = tm_out_utf8((char *)to, text, length);
    n->copied += length;
    return length;
}

/* The text is made where it is if its length takes one byte, and moves otherwise. */
static void put_valid(struct tm_perfetto_names *n, uint8_t **to, unsigned field, const char *text, size_t length,
                      bool is_counted)
{
    uint8_t *begin;
    uint8_t *const at = tm_pb_begin(*to, field, &begin);
    const size_t bytes = make_valid(n, at, text, length, is_counted);

    *to = tm_pb_end(at + (bytes == SIZE_MAX ? 0 : bytes), begin);
}

void tm_perfetto_put_argument(struct tm_perfetto_names *n, uint8_t **to, unsigned field, const char *text,
                              size_t length)
{
    put_valid(n, to, field, text, length, false);
}

void tm_perfetto_put_text(struct tm_perfetto_names *n, uint8_t **to, unsigned field, const char *text, size_t length)
{
    put_valid(n, to, field, text, length, true);
}

void tm_perfetto_put_name(struct tm_perfetto_names *n, uint8_t **to, unsigned field, tm_strid id)
{
    size_t length;
    const char *const text = tm_names_text(n->names, id, TM_PERFETTO_TEXT_MOST + 1, &length);

    put_valid(n, to, field, text, length, true);
}

ProtobufCBinaryData tm_perfetto_copy(struct tm_perfetto_names *n, const char *text, size_t length)
{
    uint8_t *const to = n->fresh + n->copied;
    const size_t bytes = make_valid(n, to, text, length, true);

    return bytes == SIZE_MAX ? (ProtobufCBinaryData){ 0, NULL } : (ProtobufCBinaryData){ bytes, to };
}

ProtobufCBinaryData tm_perfetto_text(struct tm_perfetto_names *n, tm_strid id)
{
    size_t length;
    const char *const text = tm_names_text(n->names, id, TM_PERFETTO_TEXT_MOST + 1, &length);

    return tm_perfetto_copy(n, text, length);
}

/* --- tables --- */

static bool ends_text(const void *at, const void *key)
{
    const struct tm_perfetto_slot *const slot = at;

    return !slot->iid || tm_is_same_key(slot->key, *(const struct tm_key *)key);
}

/* The slot of a string: its own, or the empty one where it belongs. */
static struct tm_perfetto_slot *find_slot(struct tm_perfetto_names *n, enum tm_perfetto_table table, struct tm_key key)
{
    return tm_probe(n->slots + table_at[table], (size_t)1 << table_bits[table], sizeof(*n->slots),
                    tm_hash_mix(key.low, n->seed), &key, ends_text);
}

/* An entry that this packet adds, unless there is no room for its text. */
static void put_entry(struct tm_perfetto_names *n, enum tm_perfetto_table table, uint32_t iid, tm_strid id)
{
    const bool was_cut = n->is_cut;
    uint8_t *begin, *to = tm_pb_begin(n->fresh + n->fresh_used, table_field[table], &begin);

    n->is_cut = false;
    to = tm_pb_varint(to, ENTRY_IID, iid);
    tm_perfetto_put_name(n, &to, ENTRY_TEXT, id);
    if (!n->is_cut)
        n->fresh_used = (size_t)(tm_pb_end(to, begin) - n->fresh);
    n->is_cut |= was_cut;
}

/* Give a string the next number of a table.
 * out: 0: it has to be where it is used */
static uint32_t add(struct tm_perfetto_names *n, enum tm_perfetto_table table, struct tm_key key, tm_strid id)
{
    const uint32_t most = 3u << table_bits[table] >> 2;
    const size_t used = n->fresh_used;

    if (n->fresh_count[table] == fresh_most[table])
        return 0;
    if (n->count[table] == most) {
        n->is_full = true;
        return 0;
    }
    put_entry(n, table, n->count[table] + 1, id);
    if (n->fresh_used == used)
        return 0;
    n->fresh_count[table]++;
    n->count[table]++;
    *find_slot(n, table, key) = (struct tm_perfetto_slot){ key, n->count[table] };
    return n->count[table];
}

uint32_t tm_perfetto_find(struct tm_perfetto_names *n, enum tm_perfetto_table table, tm_strid id)
{
    const struct tm_name name = tm_names_info(n->names, id);
    uint32_t iid = find_slot(n, table, name.hash)->iid;

    if (!iid && name.length <= TM_PERFETTO_INTERNED_MOST)
        iid = add(n, table, name.hash, id);
    if (iid)
        *tm_perfetto_guess(n, table, id) = (struct tm_perfetto_guess){ id, iid };
    return iid;
}
