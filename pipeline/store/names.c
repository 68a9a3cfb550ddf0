/* SPDX-License-Identifier: Apache-2.0 */
/* Names by handle.  Entries (hash, place, length, traits) and bytes are in two paged arrays that
 * spill; an open table finds the handle of a string that was put in before.  It is bounded: full at
 * its largest size, it is cleared and starts again; strings that come again get a second handle. */
#include "pipeline/store/names.h"

#include <assert.h>
#include <string.h>

#include "pipeline/store/hash.h"
#include "pipeline/store/rows.h"
#include "pipeline/strings.h"

enum { FIRST_BITS = 8, TEXT_FIRST_BYTES = 256, TEXT_LEAST_BYTES = 64 << 10 };

struct entry {
    struct tm_name name;
    uint64_t at : 48, /* of its bytes */
        note : 16;
};
static_assert(sizeof(struct entry) == 32, "two to a cache line");

/* Half of a string's key is a hash with a secret seed: two strings with the same XXH3-128, which can be constructed,
 * are not mistaken for one. */
struct slot {
    uint64_t low;                                         /* of its XXH3-128 */
    uint64_t check;                                       /* tm_hash_text of it */
    uint32_t length : 30, is_invalid : 1, is_tallied : 1; /* not UTF-8; tallied for the current host */
    tm_strid id;                                          /* 0 = empty */
};

enum { LENGTH_MOST = (1 << 30) - 1, HALVES_MOST = 16 };
#define AT_MOST ((UINT64_C(1) << 48) - 1)

/* A string seen recently, by a quick hash with a seed of this process: names that come for every event are few. */
struct near {
    uint64_t hash;
    uint32_t length; /* 0 = empty */
    tm_strid id;
    uint32_t traits;
};
enum { NEAR_BITS = 10 };

struct tm_names {
    struct tm_run *run;
    size_t memory_bytes;
    tm_name_traits *traits;
    struct tm_rows *entries; /* struct entry */
    struct tm_rows *bytes;
    struct slot *slots;
    uint32_t bits, bits_most; /* 1 << bits slots, at most two thirds of them in use */
    size_t used;
    char *text; /* what tm_names_text_st returned */
    size_t text_bytes;
    uint64_t seed;
    struct near near[1 << NEAR_BITS]; /* forgotten with the table */
    bool have_duplicates;             /* the table was cleared */
};

/* The two arrays take a quarter each at most, the table a quarter (a half as large while it grows),
 * the text the rest. */
static tm_status open_parts(struct tm_names *names)
{
    struct tm_run *run = names->run;
    const size_t quarter = names->memory_bytes / 4;

    names->entries = tm_rows_new(run, TM_ACCOUNT_NAMES, sizeof(struct entry), quarter);
    names->bytes = tm_rows_new(run, TM_ACCOUNT_NAMES, 1, quarter);
    names->bits = FIRST_BITS;
    names->bits_most = FIRST_BITS;
    while (names->bits_most < 31 && (sizeof(struct slot) * 3 << names->bits_most) <= quarter)
        names->bits_most++;
    names->slots = tm_take(&run->budget, TM_ACCOUNT_NAMES, sizeof(struct slot) << names->bits, &run->error);
    names->text_bytes = TEXT_FIRST_BYTES;
    names->text = tm_take(&run->budget, TM_ACCOUNT_NAMES, TEXT_FIRST_BYTES, &run->error);
    if (!names->entries || !names->bytes || !names->slots || !names->text)
        return run->error.status;
    const struct entry empty = {
        .name = { .hash = tm_hash_key("", 0), .traits = names->traits ? names->traits("", 0) : 0 },
    };

    tm_rows_append(names->entries, &empty);
    return names->run->error.status;
}

struct tm_names *tm_names_new(struct tm_run *run, size_t memory_bytes, tm_name_traits *traits)
{
    struct tm_names *names = tm_take(&run->budget, TM_ACCOUNT_NAMES, sizeof(*names), &run->error);

    if (!names)
        return NULL;
    names->run = run;
    names->memory_bytes = memory_bytes;
    names->traits = traits;
    names->seed = tm_hash_seed(names);
    if (open_parts(names) != TM_OK) {
        tm_names_free(names);
        return NULL;
    }
    return names;
}

void tm_names_free(struct tm_names *names)
{
    if (!names)
        return;
    struct tm_budget *budget = &names->run->budget;

    tm_rows_free(names->entries);
    tm_rows_free(names->bytes);
    tm_give(budget, TM_ACCOUNT_NAMES, names->slots, sizeof(struct slot) << names->bits);
    tm_give(budget, TM_ACCOUNT_NAMES, names->text, names->text_bytes);
    tm_give(budget, TM_ACCOUNT_NAMES, names, sizeof(*names));
}

static inline size_t first_slot(const struct tm_names *names, uint64_t low)
{
    return tm_hash_mix(low, names->seed) >> (64 - names->bits);
}

/* The slot of the text: its own, or the empty one where it belongs.
 * out: *is_near  set where another text with the same half of its hash was seen */
static inline struct slot *find_slot(const struct tm_names *names, uint64_t low, uint64_t check, uint32_t length,
                                     bool *is_near)
{
    const size_t mask = ((size_t)1 << names->bits) - 1;
    size_t i = first_slot(names, low);

    for (;; i = (i + 1) & mask) {
        struct slot *slot = &names->slots[i];

        if (slot->id == 0)
            return slot;
        if (slot->low != low)
            continue;
        if (slot->check == check && slot->length == length)
            return slot;
        *is_near = true;
    }
}

/* Twice as many slots, or the same ones, empty. */
static tm_status widen_table(struct tm_names *names)
{
    struct tm_run *run = names->run;
    struct slot *old = names->slots;
    const size_t old_count = (size_t)1 << names->bits;
    bool is_near;

    if (names->bits == names->bits_most) {
        memset(old, 0, old_count * sizeof(*old));
        memset(names->near, 0, sizeof(names->near));
        names->used = 0;
        names->have_duplicates = true;
        return TM_OK;
    }
    struct slot *slots = tm_take(&run->budget, TM_ACCOUNT_NAMES, 2 * old_count * sizeof(*old), &run->error);

    if (!slots)
        return run->error.status;
    names->slots = slots;
    names->bits++;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].id != 0)
            *find_slot(names, old[i].low, old[i].check, old[i].length, &is_near) = old[i];
    }
    tm_give(&run->budget, TM_ACCOUNT_NAMES, old, old_count * sizeof(*old));
    return TM_OK;
}

static tm_status store(struct tm_names *names, const char *text, size_t length, struct tm_key hash, tm_strid *id)
{
    const uint64_t count = tm_rows_count(names->entries), at = tm_rows_count(names->bytes);
    const struct entry entry = {
        .name = { hash, (uint32_t)length, names->traits ? names->traits(text, length) : 0 },
        .at = at & AT_MOST,
    };

    if (count > UINT32_MAX || at > AT_MOST)
        return tm_fail(&names->run->error, TM_ERR_LIMIT, -1, "cannot hold more than %u different names", UINT32_MAX);
    tm_rows_append_many(names->bytes, text, length);
    tm_rows_append(names->entries, &entry);
    *id = (tm_strid)count;
    return names->run->error.status;
}

tm_status tm_names_status(const struct tm_names *names)
{
    return names->run->error.status;
}

void tm_names_begin_host(struct tm_names *names)
{
    for (size_t i = 0; i < (size_t)1 << names->bits; i++)
        names->slots[i].is_tallied = 0;
    memset(names->near, 0, sizeof(names->near)); /* they would not be tallied */
}

static void tally_text(struct tm_names *names, struct slot *slot)
{
    if (!slot->is_invalid || slot->is_tallied)
        return;
    slot->is_tallied = 1;
    tm_tally_add(&names->run->tallies, TM_TALLY_INVALID_UTF8, 1);
}

/* All data about names is keyed by their hashes.  Two different strings with the same hash must have been constructed,
 * and their data could not be kept apart: this is an error, as long as the table has both.  More strings with the same
 * half of a hash than chance explains are an error as well, because they make the table slow. */
static tm_status refuse_alike(struct tm_names *names, struct tm_key hash)
{
    const size_t mask = ((size_t)1 << names->bits) - 1;
    struct tm_error *const error = &names->run->error;
    unsigned halves = 0;

    for (size_t i = first_slot(names, hash.low); names->slots[i].id; i = (i + 1) & mask) {
        const struct entry *entry;

        if (names->slots[i].low != hash.low)
            continue;
        entry = tm_rows_at(names->entries, names->slots[i].id);
        if (tm_failed(names->run))
            return error->status;
        if (!tm_is_same_key(entry->name.hash, hash) && ++halves < HALVES_MOST)
            continue;
        (void)tm_fail(error, TM_ERR_INPUT, -1, "two different names have the same hash");
        tm_hint(error, "such names do not occur by chance: the input was crafted");
        return TM_ERR_INPUT;
    }
    return TM_OK;
}

/* check: tm_hash_text of it */
static tm_status put(struct tm_names *names, const char *text, size_t length, uint64_t check, tm_strid *id)
{
    *id = 0;
    if (length == 0)
        return TM_OK;
    if (length > LENGTH_MOST)
        return tm_fail(&names->run->error, TM_ERR_LIMIT, -1, "cannot hold a name of %zu bytes", length);
    const struct tm_key hash = tm_hash_key(text, length);
    bool is_near = false;
    struct slot *slot = find_slot(names, hash.low, check, (uint32_t)length, &is_near);

    if (slot->id != 0) {
        *id = slot->id;
        tally_text(names, slot);
        return TM_OK;
    }
    tm_status status = tm_failed(names->run) ? names->run->error.status : is_near ? refuse_alike(names, hash) : TM_OK;

    if (status == TM_OK)
        status = store(names, text, length, hash, id);
    if (status == TM_OK && 3 * (names->used + 1) > (size_t)2 << names->bits) {
        status = widen_table(names);
        slot = find_slot(names, hash.low, check, (uint32_t)length, &is_near);
    }
    if (status != TM_OK)
        return status;
    *slot = (struct slot){ .low = hash.low,
                           .check = check,
                           .length = (uint32_t)length & LENGTH_MOST,
                           .is_invalid = !tm_utf8_is_valid(text, length),
                           .id = *id };
    tally_text(names, slot);
    names->used++;
    return TM_OK;
}

tm_strid tm_names_put(struct tm_names *names, const char *text, size_t length)
{
    tm_strid id;

    return put(names, text, length, tm_hash_text(text, length, names->seed), &id) == TM_OK ? id : 0;
}

tm_strid tm_names_put_often(struct tm_names *names, const char *text, size_t length, uint32_t *traits)
{
    const uint64_t hash = tm_hash_text(text, length, names->seed);
    struct near *const near = &names->near[hash >> (64 - NEAR_BITS)];
    tm_strid id;

    if (near->hash == hash && near->length == length && length) {
        *traits = near->traits;
        return near->id;
    }
    *traits = 0;
    if (put(names, text, length, hash, &id) != TM_OK)
        return 0;
    *traits = tm_names_info(names, id).traits;
    if (!tm_failed(names->run))
        *near = (struct near){ .hash = hash, .length = (uint32_t)length, .id = id, .traits = *traits };
    return id;
}

uint64_t tm_names_count(const struct tm_names *names)
{
    return tm_rows_count(names->entries);
}

bool tm_names_are_in_memory(const struct tm_names *names)
{
    return tm_rows_are_in_memory(names->entries) && tm_rows_are_in_memory(names->bytes);
}

bool tm_names_have_duplicates(const struct tm_names *names)
{
    return names->have_duplicates;
}

bool tm_names_have_same_text(struct tm_names *names, tm_strid a, tm_strid b)
{
    struct tm_key hashes[2];

    if (!names->have_duplicates)
        return false;
    tm_names_hashes(names, (const tm_strid[]){ a, b }, 2, hashes);
    return tm_is_same_key(hashes[0], hashes[1]);
}

static const struct entry *entry_of(struct tm_names *names, tm_strid id)
{
    return tm_rows_at(names->entries, id);
}

struct tm_name tm_names_info(struct tm_names *names, tm_strid id)
{
    return entry_of(names, id)->name;
}

void tm_names_hashes(struct tm_names *names, const tm_strid *ids, size_t count, struct tm_key *hashes)
{
    for (size_t i = 0; i < count; i++)
        hashes[i] = entry_of(names, ids[i])->name.hash;
}

uint16_t tm_names_note(struct tm_names *names, tm_strid id)
{
    return entry_of(names, id)->note;
}

void tm_names_set_note(struct tm_names *names, tm_strid id, uint16_t note)
{
    struct entry *const entry = tm_rows_change(names->entries, id);

    entry->note = note;
}

/* Room for a string and its NUL. */
static tm_status widen_text(struct tm_names *names, size_t bytes)
{
    struct tm_run *run = names->run;
    const size_t share = names->memory_bytes / 8;
    const size_t most = share > TEXT_LEAST_BYTES ? share : TEXT_LEAST_BYTES;
    size_t wanted = 2 * names->text_bytes;

    if (bytes <= names->text_bytes)
        return TM_OK;
    if (bytes > most) {
        (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "cannot show a name of %zu bytes whole", bytes - 1);
        tm_hint(&run->error, "raise --memory");
        return TM_ERR_LIMIT;
    }
    wanted = wanted < bytes ? bytes : wanted < most ? wanted : most;
    char *text = tm_take(&run->budget, TM_ACCOUNT_NAMES, wanted, &run->error);

    if (!text)
        return run->error.status;
    tm_give(&run->budget, TM_ACCOUNT_NAMES, names->text, names->text_bytes);
    names->text = text;
    names->text_bytes = wanted;
    return TM_OK;
}

void tm_names_copy(struct tm_names *names, tm_strid id, uint64_t at, void *to, size_t bytes)
{
    const struct entry entry = *entry_of(names, id);

    if (tm_failed(names->run)) {
        memset(to, 0, bytes);
        return;
    }
    assert(at <= entry.name.length && bytes <= entry.name.length - at);
    tm_rows_copy(names->bytes, entry.at + at, to, bytes);
}

const char *tm_names_text(struct tm_names *names, tm_strid id, size_t most, size_t *length)
{
    const struct entry entry = *entry_of(names, id);
    size_t n = most != 0 && most < entry.name.length ? most : entry.name.length;

    if (!tm_failed(names->run) && widen_text(names, n + 1) == TM_OK)
        tm_rows_copy(names->bytes, entry.at, names->text, n);
    if (tm_failed(names->run))
        n = 0;
    else
        names->text[n] = '\0';
    if (length)
        *length = n;
    return n ? names->text : "";
}
