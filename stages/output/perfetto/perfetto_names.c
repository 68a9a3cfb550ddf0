/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of packets: tables of what comes often, open addressing by the hash of the text.  Before each table lies a
 * cache by handle, one entry a slot, so that most look-ups do not ask the run's names.  Memory: fixed.
 * source: https://perfetto.dev/docs/reference/synthetic-track-event, interning */
#include "stages/output/perfetto/perfetto_names.h"

#include <string.h>

#include "stages/output/text/out_text.h"

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
static const size_t fresh_at[TM_PERFETTO_TABLES] = {
    [TM_PERFETTO_NAMES] = 1,
    [TM_PERFETTO_KEYS] = 2,
    [TM_PERFETTO_STRINGS] = 2 + TM_PERFETTO_FRESH_KEYS,
};
static const size_t fresh_most[TM_PERFETTO_TABLES] = {
    [TM_PERFETTO_CATEGORIES] = 1,
    [TM_PERFETTO_NAMES] = 1,
    [TM_PERFETTO_KEYS] = TM_PERFETTO_FRESH_KEYS,
    [TM_PERFETTO_STRINGS] = TM_PERFETTO_FRESH_STRINGS,
};

void tm_perfetto_names_open(struct tm_perfetto_names *n, struct tm_names *names)
{
    n->names = names;
    n->data = (Perfetto__InternedData)PERFETTO__INTERNED_DATA__INIT;
    for (size_t i = 0; i < TM_PERFETTO_FRESH; i++) {
        n->fresh[i] = (Perfetto__InternedText)PERFETTO__INTERNED_TEXT__INIT;
        n->fresh[i].has_iid = n->fresh[i].has_text = true;
        n->fresh_at[i] = &n->fresh[i];
    }
    n->data.event_categories = n->fresh_at + fresh_at[TM_PERFETTO_CATEGORIES];
    n->data.event_names = n->fresh_at + fresh_at[TM_PERFETTO_NAMES];
    n->data.debug_annotation_names = n->fresh_at + fresh_at[TM_PERFETTO_KEYS];
    n->data.debug_annotation_string_values = n->fresh_at + fresh_at[TM_PERFETTO_STRINGS];
}

void tm_perfetto_names_clear(struct tm_perfetto_names *n)
{
    memset(n->count, 0, sizeof(n->count));
    memset(n->slots, 0, sizeof(n->slots));
    memset(n->guesses, 0, sizeof(n->guesses));
}

void tm_perfetto_names_begin(struct tm_perfetto_names *n)
{
    n->is_full = n->is_cut = false;
    n->scratch_used = n->text_bytes = 0;
    memset(n->fresh_count, 0, sizeof(n->fresh_count));
}

/* No room: the text is left out. */
static ProtobufCBinaryData lose(struct tm_perfetto_names *n)
{
    n->is_cut = true;
    return (ProtobufCBinaryData){ 0, NULL };
}

/* The text in valid UTF-8, in the scratch memory where it is not so already. */
static ProtobufCBinaryData make_valid(struct tm_perfetto_names *n, const char *text, size_t length)
{
    char *copy = n->scratch + n->scratch_used;

    if (length == 0)
        return (ProtobufCBinaryData){ 0, (uint8_t *)n->scratch };
    if (tm_utf8_is_valid(text, length) && !memchr(text, '\0', length))
        return (ProtobufCBinaryData){ length, (uint8_t *)(uintptr_t)text };
    if (length > (TM_PERFETTO_SCRATCH_BYTES - n->scratch_used) / TM_UTF8_REPLACEMENT_BYTES)
        return lose(n);
    length = tm_out_utf8(copy, text, length);
    n->scratch_used += length;
    return (ProtobufCBinaryData){ length, (uint8_t *)copy };
}

ProtobufCBinaryData tm_perfetto_bytes(struct tm_perfetto_names *n, const char *from, size_t length)
{
    ProtobufCBinaryData text;

    if (length > TM_PERFETTO_TEXT_MOST) {
        n->is_cut = true;
        length = TM_PERFETTO_TEXT_MOST;
    }
    text = make_valid(n, from, length);
    n->text_bytes += text.len;
    return text;
}

ProtobufCBinaryData tm_perfetto_copy(struct tm_perfetto_names *n, const char *from, size_t length)
{
    ProtobufCBinaryData text = tm_perfetto_bytes(n, from, length);

    if (text.data != (const uint8_t *)from)
        return text;
    if (text.len > TM_PERFETTO_SCRATCH_BYTES - n->scratch_used) {
        n->text_bytes -= text.len;
        return lose(n);
    }
    text.data = memcpy(n->scratch + n->scratch_used, from, text.len);
    n->scratch_used += text.len;
    return text;
}

/* The bytes of a name are gone with the next one. */
tm_status tm_perfetto_text(struct tm_perfetto_names *n, tm_strid id, ProtobufCBinaryData *text)
{
    const char *from;
    size_t length;
    const tm_status status = tm_names_text(n->names, id, TM_PERFETTO_TEXT_MOST + 1, &from, &length);

    if (status == TM_OK)
        *text = tm_perfetto_copy(n, from, length);
    return status;
}

/* The slot of a text: its own, or the empty one where it belongs. */
static struct tm_perfetto_slot *find_slot(struct tm_perfetto_names *n, enum tm_perfetto_table table, struct tm_key key)
{
    const size_t mask = ((size_t)1 << table_bits[table]) - 1;
    struct tm_perfetto_slot *slots = n->slots + table_at[table];

    for (size_t i = key.low & mask;; i = (i + 1) & mask) {
        if (!slots[i].iid || tm_is_same_key(slots[i].key, key))
            return &slots[i];
    }
}

/* Give a text the next number of a table.
 * out: *iid  0: it has to stand where it is used */
static void add(struct tm_perfetto_names *n, enum tm_perfetto_table table, struct tm_key key, ProtobufCBinaryData text,
                uint64_t *iid)
{
    const uint32_t most = 3u << table_bits[table] >> 2;
    Perfetto__InternedText *fresh;

    *iid = 0;
    if (n->fresh_count[table] == fresh_most[table])
        return;
    if (n->count[table] == most) {
        n->is_full = true;
        return;
    }
    *iid = ++n->count[table];
    *find_slot(n, table, key) = (struct tm_perfetto_slot){ key, (uint32_t)*iid };
    fresh = &n->fresh[fresh_at[table] + n->fresh_count[table]++];
    fresh->iid = *iid;
    fresh->text = text;
}

tm_status tm_perfetto_number(struct tm_perfetto_names *n, enum tm_perfetto_table table, tm_strid id, uint64_t *iid,
                             ProtobufCBinaryData *text)
{
    const size_t mask = ((size_t)1 << table_bits[table]) - 1;
    struct tm_perfetto_guess *guess = &n->guesses[table_at[table] + (id & mask)];
    struct tm_name name;
    tm_status status;

    *text = (ProtobufCBinaryData){ 0, NULL };
    *iid = guess->id == id ? guess->iid : 0;
    if (*iid)
        return TM_OK;
    status = tm_names_info(n->names, id, &name);
    if (status != TM_OK)
        return status;
    *iid = find_slot(n, table, name.hash)->iid;
    if (!*iid) {
        status = tm_perfetto_text(n, id, text);
        if (status != TM_OK || name.length > TM_PERFETTO_INTERNED_MOST || !text->data)
            return status;
        add(n, table, name.hash, *text, iid);
    }
    if (*iid)
        *guess = (struct tm_perfetto_guess){ id, (uint32_t)*iid };
    return TM_OK;
}

Perfetto__InternedData *tm_perfetto_fresh(struct tm_perfetto_names *n, size_t *count)
{
    n->data.n_event_categories = n->fresh_count[TM_PERFETTO_CATEGORIES];
    n->data.n_event_names = n->fresh_count[TM_PERFETTO_NAMES];
    n->data.n_debug_annotation_names = n->fresh_count[TM_PERFETTO_KEYS];
    n->data.n_debug_annotation_string_values = n->fresh_count[TM_PERFETTO_STRINGS];
    *count = 0;
    for (int i = 0; i < TM_PERFETTO_TABLES; i++)
        *count += n->fresh_count[i];
    return *count ? &n->data : NULL;
}
