/* SPDX-License-Identifier: Apache-2.0 */
/* The summary as a tree.  Values are in blocks that double in size and never move, so a pointer to
 * a value stays good and an array of n numbers takes 16 n bytes and no list of pointers.  Keys and
 * reasons, which repeat in every row of a table, are stored once and compared by address.  All of
 * it is in an arena of the account `model` and within its share. */
#include "pipeline/doc/doc.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/run.h"
#include "pipeline/store/bounded_sum.h"
#include "pipeline/store/hash.h"
#include "pipeline/strings.h"

enum {
    CHUNK_BYTES = 64 << 10,
    CHUNK_FIRST = 8 << 10, /* a line of a list fits in, and it costs no pages of its own */
    BLOCK_FIRST = 4,       /* values of the first block of a container; the next has twice as many */
    BLOCKS_INSIDE = 3,     /* blocks whose addresses are in the container: 28 values */
    BLOCKS_MOST = 30,
    HASHED_FROM = 32,     /* objects with more members get a table */
    DEPTH_MOST = 64,      /* nested containers: printing is recursive */
    PRINTED_BYTES = 1024, /* of a string that is made by a format */
};

struct container;

struct tm_value {
    union {
        int64_t integer;
        double number;
        bool flag;
        const char *text; /* string; of a null: the reason, or NULL */
        struct container *container;
    } as;
    uint8_t type; /* enum tm_type */
};

struct block {
    struct tm_value *values;
    const char **keys; /* of an object */
};

struct container {
    struct tm_doc *doc;
    uint32_t count;
    uint16_t depth;
    uint8_t slot_bits; /* 0 = no table */
    uint32_t *slots;   /* member number + 1 by key */
    struct block inside[BLOCKS_INSIDE];
    struct block *more; /* the blocks after these */
};

struct chunk {
    struct chunk *next;
    size_t bytes; /* all of it */
};

/* A key or a reason. */
struct word {
    uint32_t hash;
    char text[];
};

struct tm_doc {
    struct tm_run *run;
    struct chunk *chunks;
    uint8_t *free_at;
    size_t free_bytes;
    size_t held_bytes, most_bytes;
    struct word **words;
    size_t word_count;
    uint32_t word_bits;
    uint64_t seed; /* of the hashes of words */
    struct tm_value *root;
};

/* --- arena --- */

/* Memory that is counted against the share; NULL once anything failed. */
static void *take(struct tm_doc *doc, size_t bytes)
{
    struct tm_run *run = doc->run;

    if (tm_failed(run))
        return NULL;
    if (bytes > doc->most_bytes || doc->held_bytes > doc->most_bytes - bytes) {
        (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "cannot hold the summary in its share of %zu bytes",
                      doc->most_bytes);
        tm_hint(&run->error, "raise --memory, or lower --rows");
        return NULL;
    }
    void *block = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);

    if (!block)
        return NULL;
    doc->held_bytes += bytes;
    return block;
}

static void *new_chunk(struct tm_doc *doc, size_t bytes)
{
    struct chunk *chunk = take(doc, sizeof(*chunk) + bytes);

    if (!chunk)
        return NULL;
    chunk->next = doc->chunks;
    chunk->bytes = sizeof(*chunk) + bytes;
    doc->chunks = chunk;
    return chunk + 1;
}

/* Zeroed, aligned for any value. */
static void *place(struct tm_doc *doc, size_t bytes)
{
    const size_t rounded = (bytes + 7) & ~(size_t)7;

    if (rounded > CHUNK_BYTES / 4)
        return new_chunk(doc, rounded);
    if (rounded > doc->free_bytes) {
        const bool is_first = !doc->chunks && rounded <= CHUNK_FIRST / 4;
        const size_t room = (is_first ? CHUNK_FIRST : CHUNK_BYTES) - sizeof(struct chunk);
        uint8_t *chunk = new_chunk(doc, room);

        if (!chunk)
            return NULL;
        doc->free_at = chunk;
        doc->free_bytes = room;
    }
    void *at = doc->free_at;

    doc->free_at += rounded;
    doc->free_bytes -= rounded;
    return at;
}

/* --- words: keys and reasons, each stored once --- */

struct wanted_word {
    const char *text;
    uint32_t hash;
};

static bool ends_word(const void *slot, const void *wanted)
{
    const struct word *const word = *(struct word *const *)slot;
    const struct wanted_word *const w = wanted;

    return !word || (word->hash == w->hash && strcmp(word->text, w->text) == 0);
}

static struct word **find_word(const struct tm_doc *doc, const char *text, uint32_t hash)
{
    const struct wanted_word wanted = { text, hash };

    return tm_probe(doc->words, (size_t)1 << doc->word_bits, sizeof(*doc->words), hash, &wanted, ends_word);
}

static bool widen_words(struct tm_doc *doc)
{
    const size_t old_count = doc->words ? (size_t)1 << doc->word_bits : 0;
    const uint32_t bits = doc->words ? doc->word_bits + 1 : 7;
    struct word **old = doc->words;
    struct word **words = take(doc, sizeof(*words) << bits);

    if (!words)
        return false;
    doc->words = words;
    doc->word_bits = bits;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i])
            *find_word(doc, old[i]->text, old[i]->hash) = old[i];
    }
    tm_give(&doc->run->budget, TM_ACCOUNT_MODEL, old, old_count * sizeof(*old));
    doc->held_bytes -= old_count * sizeof(*old);
    return true;
}

static uint32_t hash_text(const struct tm_doc *doc, const char *text)
{
    return (uint32_t)(tm_hash_text(text, strlen(text), doc->seed) >> 32);
}

/* The stored copy of a string, or NULL. */
static const char *known_word(const struct tm_doc *doc, const char *text)
{
    if (!doc->words)
        return NULL;
    const struct word *word = *find_word(doc, text, hash_text(doc, text));

    return word ? word->text : NULL;
}

/* Copy any bytes as valid UTF-8: each byte that starts no sequence becomes U+FFFD, and so does NUL,
 * which would cut the text for its readers.  `to` NULL: only measures. */
static size_t copy_valid(char *to, const char *text, size_t length)
{
    static const char replacement[] = "\xef\xbf\xbd";
    size_t used = 0;

    for (size_t i = 0; i < length;) {
        uint64_t eight;
        uint32_t code = 0;

        if (length - i >= sizeof(eight)) {
            memcpy(&eight, text + i, sizeof(eight));
            if (tm_utf8_is_plain(eight)) { /* nearly all of nearly all strings */
                if (to)
                    memcpy(to + used, &eight, sizeof(eight));
                used += sizeof(eight);
                i += sizeof(eight);
                continue;
            }
        }
        const size_t step = tm_utf8_next(text + i, length - i, &code);
        const bool as_is = step != 0 && code != 0;
        const size_t n = as_is ? step : 3;

        if (to)
            memcpy(to + used, as_is ? text + i : replacement, n);
        used += n;
        i += step != 0 ? step : 1;
    }
    return used;
}

/* A valid copy of a key or reason that is not UTF-8. */
static const char *mend_word(struct tm_doc *doc, const char *text)
{
    const size_t length = strlen(text);
    char *copy = place(doc, copy_valid(NULL, text, length) + 1);

    if (copy)
        (void)copy_valid(copy, text, length);
    return copy;
}

static const char *store_word(struct tm_doc *doc, const char *text)
{
    if (!tm_utf8_is_valid(text, strlen(text)))
        text = mend_word(doc, text);
    if (!text)
        return NULL;
    const uint32_t hash = hash_text(doc, text);

    if (2 * (doc->word_count + 1) > (size_t)1 << doc->word_bits && !widen_words(doc))
        return NULL;
    struct word **const slot = find_word(doc, text, hash);

    if (*slot)
        return (*slot)->text;
    const size_t length = strlen(text);
    struct word *word = place(doc, sizeof(*word) + length + 1);

    if (!word)
        return NULL;
    word->hash = hash;
    memcpy(word->text, text, length);
    *slot = word;
    doc->word_count++;
    return word->text;
}

/* --- containers --- */

static struct container *inside_of(const struct tm_value *v, enum tm_type type)
{
    return v && v->type == type ? v->as.container : NULL;
}

static struct container *any_inside_of(const struct tm_value *v)
{
    return v && (v->type == TM_ARRAY || v->type == TM_OBJECT) ? v->as.container : NULL;
}

/* Which block holds a value, and where in it: block b starts at value BLOCK_FIRST * (2^b - 1). */
static struct block *block_of(const struct container *c, size_t index, size_t *in_block)
{
    const uint64_t shifted = index + BLOCK_FIRST;
    const unsigned which = 63u - (unsigned)__builtin_clzll(shifted) - 2u;

    *in_block = shifted - ((uint64_t)BLOCK_FIRST << which);
    if (which < BLOCKS_INSIDE) /* the container is const, what it points to is not */
        return &((struct container *)(uintptr_t)c)->inside[which];
    return &c->more[which - BLOCKS_INSIDE];
}

static struct tm_value *value_in(const struct container *c, size_t index)
{
    size_t at;
    const struct block *block = block_of(c, index, &at);

    return &block->values[at];
}

static const char *key_in(const struct container *c, size_t index)
{
    size_t at;
    const struct block *block = block_of(c, index, &at);

    return block->keys ? block->keys[at] : "";
}

/* Make sure that there is room for the value at c->count. */
static bool make_room(struct container *c, bool has_keys)
{
    struct tm_doc *doc = c->doc;
    const uint64_t shifted = (uint64_t)c->count + BLOCK_FIRST;
    const unsigned which = 63u - (unsigned)__builtin_clzll(shifted) - 2u;
    size_t at;

    if (which >= BLOCKS_INSIDE && !c->more) {
        c->more = place(doc, (BLOCKS_MOST - BLOCKS_INSIDE) * sizeof(struct block));
        if (!c->more)
            return false;
    }
    struct block *block = block_of(c, c->count, &at);

    if (block->values)
        return true;
    struct tm_value *values = place(doc, ((size_t)BLOCK_FIRST << which) * sizeof(struct tm_value));

    if (has_keys && values)
        block->keys = place(doc, ((size_t)BLOCK_FIRST << which) * sizeof(char *));
    if (!values || (has_keys && !block->keys))
        return false;
    block->values = values;
    return true;
}

struct wanted_member {
    const struct container *c;
    const char *key;
};

static bool ends_member(const void *slot, const void *wanted)
{
    const uint32_t number = *(const uint32_t *)slot;
    const struct wanted_member *const w = wanted;

    return number == 0 || key_in(w->c, number - 1) == w->key;
}

/* Where a key (a stored one) is or belongs in the table of a large object. */
static uint32_t *member_slot(const struct container *c, const char *key)
{
    const struct wanted_member wanted = { c, key };
    const uint64_t home = tm_hash_mix((uint64_t)(uintptr_t)key, 0) >> (64 - c->slot_bits);

    return tm_probe(c->slots, (size_t)1 << c->slot_bits, sizeof(*c->slots), home, &wanted, ends_member);
}

/* A table with room for twice the current members. */
static bool build_slots(struct container *c)
{
    unsigned bits = 7;

    while (((size_t)1 << bits) < (size_t)4 * c->count)
        bits++;
    c->slots = place(c->doc, sizeof(uint32_t) << bits);
    if (!c->slots)
        return false;
    c->slot_bits = (uint8_t)bits;
    for (uint32_t i = 0; i < c->count; i++)
        *member_slot(c, key_in(c, i)) = i + 1;
    return true;
}

/* Find a member by its stored key. */
static struct tm_value *find_member(const struct container *c, const char *key)
{
    if (c->slot_bits != 0) {
        const uint32_t number = *member_slot(c, key);

        return number != 0 ? value_in(c, number - 1) : NULL;
    }
    size_t left = c->count;

    for (unsigned which = 0; left > 0; which++) {
        const struct block *const block = which < BLOCKS_INSIDE ? &c->inside[which] : &c->more[which - BLOCKS_INSIDE];
        const size_t whole = (size_t)BLOCK_FIRST << which, n = left < whole ? left : whole;

        for (size_t i = 0; i < n; i++)
            if (block->keys[i] == key)
                return &block->values[i];
        left -= n;
    }
    return NULL;
}

static struct tm_value *add_member(struct container *c, const char *key)
{
    const char *stored = store_word(c->doc, key);
    struct tm_value *v = stored ? find_member(c, stored) : NULL;
    size_t at;

    if (!stored || v)
        return v;
    if (!make_room(c, true))
        return NULL;
    if (c->count >= HASHED_FROM && (c->slot_bits == 0 || 2 * (size_t)c->count >= (size_t)1 << c->slot_bits) &&
        !build_slots(c))
        return NULL;
    if (c->slot_bits != 0)
        *member_slot(c, stored) = c->count + 1;
    struct block *block = block_of(c, c->count++, &at);

    block->keys[at] = stored;
    return &block->values[at];
}

/* The place for a new value, or NULL: nothing can be put in. */
static struct tm_value *add(struct tm_value *to, const char *key)
{
    struct container *c = any_inside_of(to);

    if (!c || tm_failed(c->doc->run))
        return NULL;
    assert((to->type == TM_OBJECT) == (key != NULL));
    if (to->type == TM_OBJECT)
        return add_member(c, key);
    if (c->count == UINT32_MAX / 4 || !make_room(c, false))
        return NULL;
    return value_in(c, c->count++);
}

static struct container *new_container(struct tm_doc *doc, unsigned depth)
{
    if (depth > DEPTH_MOST) {
        (void)tm_fail(&doc->run->error, TM_ERR_LIMIT, -1, "cannot nest a summary deeper than %d", DEPTH_MOST);
        return NULL;
    }
    struct container *c = place(doc, sizeof(*c));

    if (c) {
        c->doc = doc;
        c->depth = (uint16_t)depth;
    }
    return c;
}

static struct tm_value *add_container(struct tm_value *to, const char *key, enum tm_type type)
{
    struct tm_value *v = add(to, key);
    struct container *c = v ? new_container(to->as.container->doc, to->as.container->depth + 1u) : NULL;

    if (!c)
        return NULL;
    *v = (struct tm_value){ .as.container = c, .type = (uint8_t)type };
    return v;
}

/* --- building --- */

struct tm_doc *tm_doc_new(struct tm_run *run)
{
    static _Thread_local uint64_t seed; /* one for all documents: 0 = none yet */
    struct tm_doc *doc = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*doc), &run->error);

    if (!doc)
        return NULL;
    doc->run = run;
    seed = seed ? seed : tm_hash_seed(doc);
    doc->seed = seed;
    doc->held_bytes = sizeof(*doc);
    doc->most_bytes = tm_budget_share(&run->budget, TM_ACCOUNT_MODEL);
    struct container *c = widen_words(doc) ? new_container(doc, 1) : NULL;

    doc->root = c ? place(doc, sizeof(*doc->root)) : NULL;
    if (!doc->root) {
        tm_doc_free(doc);
        return NULL;
    }
    *doc->root = (struct tm_value){ .as.container = c, .type = TM_OBJECT };
    return doc;
}

void tm_doc_end_reading(struct tm_doc *doc)
{
    const struct tm_budget *budget = &doc->run->budget;

    doc->most_bytes = tm_budget_share(budget, TM_ACCOUNT_MODEL) + tm_budget_share(budget, TM_ACCOUNT_LAUNCHES) +
                      tm_budget_share(budget, TM_ACCOUNT_THREADS);
}

void tm_doc_set_most(struct tm_doc *doc, size_t bytes)
{
    doc->most_bytes = bytes;
}

struct tm_run *tm_doc_run(const struct tm_doc *doc)
{
    return doc->run;
}

void tm_doc_free(struct tm_doc *doc)
{
    if (!doc)
        return;
    struct tm_budget *budget = &doc->run->budget;

    while (doc->chunks) {
        struct chunk *chunk = doc->chunks;

        doc->chunks = chunk->next;
        tm_give(budget, TM_ACCOUNT_MODEL, chunk, chunk->bytes);
    }
    tm_give(budget, TM_ACCOUNT_MODEL, doc->words, sizeof(*doc->words) << doc->word_bits);
    tm_give(budget, TM_ACCOUNT_MODEL, doc, sizeof(*doc));
}

struct tm_value *tm_doc_root(const struct tm_doc *doc)
{
    return doc->root;
}

tm_status tm_doc_status(const struct tm_doc *doc)
{
    return doc->run->error.status;
}

struct tm_value *tm_add_object(struct tm_value *to, const char *key)
{
    return add_container(to, key, TM_OBJECT);
}

struct tm_value *tm_add_array(struct tm_value *to, const char *key)
{
    return add_container(to, key, TM_ARRAY);
}

void tm_add_int(struct tm_value *to, const char *key, int64_t value)
{
    struct tm_value *v = add(to, key);

    if (v)
        *v = (struct tm_value){ .as.integer = value, .type = TM_INT };
}

void tm_add_uint(struct tm_value *to, const char *key, uint64_t value)
{
    if (value <= INT64_MAX)
        tm_add_int(to, key, (int64_t)value);
    else
        tm_add_double(to, key, (double)value);
}

void tm_add_double(struct tm_value *to, const char *key, double value)
{
    if (!isfinite(value)) {
        tm_add_null(to, key, NULL);
        return;
    }
    struct tm_value *v = add(to, key);

    if (v)
        *v = (struct tm_value){ .as.number = value, .type = TM_DOUBLE };
}

void tm_add_bool(struct tm_value *to, const char *key, bool value)
{
    struct tm_value *v = add(to, key);

    if (v)
        *v = (struct tm_value){ .as.flag = value, .type = TM_BOOL };
}

void tm_add_string(struct tm_value *to, const char *key, const char *text)
{
    tm_add_text(to, key, text ? text : "", text ? strlen(text) : 0);
}

void tm_add_printed(struct tm_value *to, const char *key, const char *format, ...)
{
    char text[PRINTED_BYTES];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    tm_add_string(to, key, text);
}

void tm_add_text(struct tm_value *to, const char *key, const char *text, size_t length)
{
    struct tm_value *v = add(to, key);

    if (!v)
        return;
    char *copy = place(to->as.container->doc, copy_valid(NULL, text, length) + 1);

    if (!copy) {
        *v = (struct tm_value){ .type = TM_NULL };
        return;
    }
    (void)copy_valid(copy, text, length);
    *v = (struct tm_value){ .as.text = copy, .type = TM_STRING };
}

void tm_add_known(struct tm_value *to, const char *key, const char *text, const char *why)
{
    if (text && *text)
        tm_add_string(to, key, text);
    else
        tm_add_null(to, key, why);
}

/* Where it fits it replaces the old one: an arena frees nothing. */
void tm_set_text(struct tm_doc *doc, struct tm_value *string, const char *text, size_t length)
{
    const size_t bytes = copy_valid(NULL, text, length) + 1;
    const bool fits = string->type == TM_STRING && bytes <= strlen(string->as.text) + 1;
    char *const copy = fits ? (char *)(uintptr_t)string->as.text : place(doc, bytes);

    if (!copy) {
        *string = (struct tm_value){ .type = TM_NULL };
        return;
    }
    copy[copy_valid(copy, text, length)] = '\0';
    *string = (struct tm_value){ .as.text = copy, .type = TM_STRING };
}

void tm_add_null(struct tm_value *to, const char *key, const char *why)
{
    struct tm_value *v = add(to, key);

    if (v)
        *v = (struct tm_value){ .as.text = why ? store_word(to->as.container->doc, why) : NULL, .type = TM_NULL };
}

/* --- reading --- */

enum tm_type tm_type_of(const struct tm_value *v)
{
    return v ? (enum tm_type)v->type : TM_NULL;
}

struct tm_value *tm_member(struct tm_value *object, const char *key)
{
    const struct container *c = inside_of(object, TM_OBJECT);
    const char *stored = c && key ? known_word(c->doc, key) : NULL;

    return stored ? find_member(c, stored) : NULL;
}

struct tm_value *tm_element(struct tm_value *container, size_t index)
{
    const struct container *c = any_inside_of(container);

    return c && index < c->count ? value_in(c, index) : NULL;
}

const struct tm_value *tm_get(const struct tm_value *object, const char *key)
{
    const struct container *c = inside_of(object, TM_OBJECT);
    const char *stored = c && key ? known_word(c->doc, key) : NULL;

    return stored ? find_member(c, stored) : NULL;
}

const struct tm_value *tm_at(const struct tm_value *array, size_t index)
{
    const struct container *c = inside_of(array, TM_ARRAY);

    return c && index < c->count ? value_in(c, index) : NULL;
}

const struct tm_value *tm_find(const struct tm_value *array, const char *key, const char *text)
{
    for (size_t i = 0; i < tm_length(array); i++)
        if (strcmp(tm_text(tm_get(tm_at(array, i), key)), text) == 0)
            return tm_at(array, i);
    return NULL;
}

size_t tm_length(const struct tm_value *array_or_object)
{
    const struct container *c = any_inside_of(array_or_object);

    return c ? c->count : 0;
}

const char *tm_key_at(const struct tm_value *object, size_t index)
{
    const struct container *c = inside_of(object, TM_OBJECT);

    return c && index < c->count ? key_in(c, index) : "";
}

const struct tm_value *tm_value_at(const struct tm_value *object, size_t index)
{
    const struct container *c = inside_of(object, TM_OBJECT);

    return c && index < c->count ? value_in(c, index) : NULL;
}

int64_t tm_int(const struct tm_value *v)
{
    if (v && v->type == TM_INT)
        return v->as.integer;
    return v && v->type == TM_DOUBLE ? tm_whole(round(v->as.number)) : 0;
}

double tm_double(const struct tm_value *v)
{
    if (v && v->type == TM_DOUBLE)
        return v->as.number;
    return v && v->type == TM_INT ? (double)v->as.integer : 0;
}

double tm_double_or_nan(const struct tm_value *v)
{
    return v && (v->type == TM_INT || v->type == TM_DOUBLE) ? tm_double(v) : NAN;
}

const char *tm_text(const struct tm_value *v)
{
    return v && v->type == TM_STRING ? v->as.text : "";
}

bool tm_is(const struct tm_value *v)
{
    return v && v->type == TM_BOOL && v->as.flag;
}

bool tm_has(const struct tm_value *v)
{
    return v && v->type != TM_NULL;
}

const char *tm_why(const struct tm_value *null_value)
{
    return null_value && null_value->type == TM_NULL && null_value->as.text ? null_value->as.text : "";
}

/* Goes down by recursion, as deep as a document may be (doc.c). */

static void add_inside(struct tm_value *to, const struct tm_value *from)
{
    const bool is_object = tm_type_of(from) == TM_OBJECT;

    for (size_t i = 0; i < tm_length(from); i++)
        tm_add_copy(to, is_object ? tm_key_at(from, i) : NULL, is_object ? tm_value_at(from, i) : tm_at(from, i));
}

void tm_add_copy(struct tm_value *to, const char *key, const struct tm_value *from)
{
    switch (tm_type_of(from)) {
    case TM_NULL:
        tm_add_null(to, key, *tm_why(from) ? tm_why(from) : NULL);
        return;
    case TM_BOOL:
        tm_add_bool(to, key, tm_is(from));
        return;
    case TM_INT:
        tm_add_int(to, key, tm_int(from));
        return;
    case TM_DOUBLE:
        tm_add_double(to, key, tm_double(from));
        return;
    case TM_STRING:
        tm_add_string(to, key, tm_text(from));
        return;
    case TM_ARRAY:
        add_inside(tm_add_array(to, key), from);
        return;
    case TM_OBJECT:
        add_inside(tm_add_object(to, key), from);
        return;
    }
}

/* Values by path: members by ".", elements by "[number]" or "[id]".  An id ends at the first ']'.
 */

/* True if `text` is the n bytes at `piece`. */
static bool is_piece(const char *text, const char *piece, size_t n)
{
    return strncmp(text, piece, n) == 0 && text[n] == '\0';
}

static const struct tm_value *member(const struct tm_value *object, const char *piece, size_t n)
{
    const size_t count = tm_length(object);

    if (piece[n] == '\0') /* the last piece of a path */
        return tm_get(object, piece);
    for (size_t i = 0; i < count; i++) {
        const char *key = tm_key_at(object, i);

        if (*key == *piece && is_piece(key, piece, n))
            return tm_value_at(object, i);
    }
    return NULL;
}

static bool read_number(const char *piece, size_t n, size_t *number)
{
    *number = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isdigit((unsigned char)piece[i]) || *number > SIZE_MAX / 10 - 1)
            return false;
        *number = 10 * *number + (size_t)(piece[i] - '0');
    }
    return n > 0;
}

static const struct tm_value *element(const struct tm_value *from, const char *piece, size_t n)
{
    size_t number;

    if (n == 0) /* an element without an id does not match */
        return NULL;
    if (tm_type_of(from) == TM_OBJECT)
        return member(from, piece, n);
    if (read_number(piece, n, &number))
        return tm_at(from, number);
    for (size_t i = 0; i < tm_length(from); i++) {
        const struct tm_value *v = tm_at(from, i);

        if (is_piece(tm_text(tm_get(v, "id")), piece, n) || is_piece(tm_text(tm_get(v, "name")), piece, n))
            return v;
    }
    return NULL;
}

const struct tm_value *tm_path(const struct tm_value *from, const char *path)
{
    while (from && *path != '\0') {
        if (*path == '[') {
            const char *end = strchr(path, ']');

            if (!end)
                return NULL;
            from = element(from, path + 1, (size_t)(end - path - 1));
            path = end + 1;
        } else {
            path += *path == '.';
            const size_t n = strcspn(path, ".[");

            if (n == 0)
                return NULL;
            from = member(from, path, n);
            path += n;
        }
    }
    return from;
}
