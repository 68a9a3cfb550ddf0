/* SPDX-License-Identifier: Apache-2.0 */
/* Records as rows of 64 bytes.  Nearly all arguments are one number and are in the row; those of allocations are stored
 * in slots in small pages, because they are read in about the order in which they were written.  If events keep their own
 * arguments, both are stored one after the other in an array of bytes. */
#include "pipeline/source.h"

#include <string.h>

#include "pipeline/arguments.h"
#include "pipeline/store/hash.h"
#include "pipeline/store/rows.h"
#include "pipeline/trace.h"

enum {
    SLOT_BYTES = sizeof(struct tm_allocation),
    SLOT_PAGE_BYTES = 8 << 10,
    LEAST_PAGE_BYTES = 4 << 10,
    MOST_PAGE_BYTES = 64 << 10,
    PAGES_WANTED = 512
};

static tm_status put_slot(struct tm_kept_args *args, struct tm_run *run, const struct tm_raw_record *raw,
                          uint64_t *number)
{
    uint8_t slot[SLOT_BYTES] = { 0 };

    args->run = run;
    if (!args->slots)
        args->slots = tm_rows_new_paged(run, args->account, SLOT_BYTES, TM_KEPT_ARGS_BYTES, SLOT_PAGE_BYTES);
    if (!args->slots)
        return run->error.status;
    memcpy(slot, raw->args, raw->record.args_length);
    *number = tm_rows_count(args->slots);
    tm_rows_append(args->slots, slot);
    return run->error.status;
}

/* Pages that are large make few calls, but tracks that are read side by side need one each. */
static struct tm_rows *new_bytes(const struct tm_kept_args *args, struct tm_run *run)
{
    size_t page = args->own_bytes / PAGES_WANTED;

    page = page < LEAST_PAGE_BYTES ? LEAST_PAGE_BYTES : page;
    page = page > MOST_PAGE_BYTES ? MOST_PAGE_BYTES : page;
    return tm_rows_new_paged(run, args->account, 1, args->own_bytes, page);
}

static tm_status put_bytes(struct tm_kept_args *args, struct tm_run *run, const struct tm_raw_record *raw, uint64_t *at)
{
    args->run = run;
    if (!args->bytes) {
        args->bytes = new_bytes(args, run);
        args->own = tm_take(&run->budget, args->account, TM_ARGUMENTS_MOST, &run->error);
    }
    if (!args->bytes || !args->own)
        return run->error.status;
    *at = tm_rows_count(args->bytes);
    if (raw->record.args_length)
        tm_rows_append_many(args->bytes, raw->args, raw->record.args_length);
    tm_rows_append_many(args->bytes, raw->own.bytes, raw->own.length);
    return run->error.status;
}

tm_status tm_keep_record(struct tm_kept_args *args, struct tm_run *run, const struct tm_raw_record *raw,
                         struct tm_kept_record *row)
{
    const uint32_t length = raw->record.args_length;

    *row = (struct tm_kept_record){ .record = raw->record, .traits = raw->traits };
    if (raw->own.length && length <= SLOT_BYTES && raw->own.length <= TM_ARGUMENTS_MOST) {
        row->own_length = (uint32_t)raw->own.length;
        return put_bytes(args, run, raw, &row->args);
    }
    if (length == 0)
        return TM_OK;
    if (length <= sizeof(row->args)) {
        memcpy(&row->args, raw->args, length);
        return TM_OK;
    }
    if (length <= SLOT_BYTES)
        return put_slot(args, run, raw, &row->args);
    row->record.args_length = 0;
    return TM_OK;
}

static tm_status status_of(const struct tm_kept_args *args)
{
    return args->run ? args->run->error.status : TM_OK;
}

tm_status tm_unkeep_record(const struct tm_kept_args *args, const struct tm_kept_record *row, void *buffer,
                           struct tm_raw_record *raw)
{
    const uint32_t length = row->record.args_length;

    *raw = (struct tm_raw_record){
        .record = row->record, .args = buffer, .traits = row->traits, .own.length = row->own_length
    };
    if (row->own_length)
        tm_rows_copy(args->bytes, row->args, buffer, length);
    else if (length > sizeof(row->args))
        memcpy(buffer, tm_rows_at(args->slots, row->args), length);
    else
        memcpy(buffer, &row->args, sizeof(row->args));
    return status_of(args);
}

tm_status tm_unkeep_own(const struct tm_kept_args *args, const struct tm_kept_record *row, struct tm_raw_record *raw)
{
    raw->own = (struct tm_arguments){ args->own, row->own_length };
    if (row->own_length)
        tm_rows_copy(args->bytes, row->args + row->record.args_length, args->own, row->own_length);
    return status_of(args);
}

/* Copy bytes to the end of their array; at most TM_ARGUMENTS_MOST. */
static void copy_to_end(struct tm_kept_args *args, uint64_t from, size_t length)
{
    tm_rows_copy(args->bytes, from, args->own, length);
    tm_rows_append_many(args->bytes, args->own, length);
}

/* What a row has, as the start of a longer list at the end of the array. */
static void copy_row(struct tm_kept_args *args, struct tm_kept_record *row)
{
    const uint64_t at = tm_rows_count(args->bytes);
    struct tm_allocation buffer;
    struct tm_raw_record raw;

    tm_unkeep_record(args, row, &buffer, &raw);
    if (row->record.args_length)
        tm_rows_append_many(args->bytes, raw.args, row->record.args_length);
    if (row->own_length)
        copy_to_end(args, row->args + row->record.args_length, row->own_length);
    row->args = at;
}

tm_status tm_kept_args_join(struct tm_kept_args *args, struct tm_kept_record *row, const struct tm_kept_record *with,
                            bool *is_cut)
{
    struct tm_raw_record raw;
    size_t fitting;

    if (!with->own_length)
        return TM_OK;
    tm_unkeep_own(args, with, &raw);
    if (tm_failed(args->run))
        return args->run->error.status;
    fitting = tm_arguments_fitting(raw.own, TM_ARGUMENTS_MOST - row->own_length);
    *is_cut |= fitting < with->own_length;
    if (fitting) {
        copy_row(args, row);
        copy_to_end(args, with->args + with->record.args_length, fitting);
        row->own_length += (uint32_t)fitting;
    }
    return args->run->error.status;
}

void tm_kept_args_free(struct tm_kept_args *args)
{
    tm_rows_free(args->slots);
    tm_rows_free(args->bytes);
    if (args->own)
        tm_give(&args->run->budget, args->account, args->own, TM_ARGUMENTS_MOST);
    args->slots = args->bytes = NULL;
    args->own = NULL;
}

/* --- signatures --- */

enum { LEAST_SIGNATURES = 256, BYTES_PER_SIGNATURE = sizeof(struct tm_signature) + 2 * sizeof(uint16_t) };

static size_t signature_bytes(uint32_t room)
{
    return (size_t)room * BYTES_PER_SIGNATURE;
}

/* Where a signature is, or belongs. */
static uint16_t *find_slot(const struct tm_signatures *s, const struct tm_signature *wanted)
{
    const uint32_t mask = 2 * s->room - 1;
    uint64_t words[3];

    /* Handles and numbers of rows, which no input chooses: three products are enough. */
    memcpy(words, wanted, sizeof(words));
    words[0] = (words[0] ^ s->seed) * UINT64_C(0xd6e8feb86659fd93) + words[1] * UINT64_C(0xa0761d6478bd642f);
    words[0] = (words[0] ^ words[0] >> 32 ^ words[2]) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint64_t at = words[0] >> 32;; at++) {
        uint16_t *const slot = &s->slots[at & mask];

        if (!*slot || !memcmp(&s->rows[*slot], wanted, sizeof(*wanted)))
            return slot;
    }
}

/* Room for this many: both arrays are one block.  false: the run has failed */
static bool resize_signatures(struct tm_signatures *s, uint32_t room)
{
    struct tm_signature *const rows = tm_take(&s->run->budget, TM_ACCOUNT_INPUT, signature_bytes(room), &s->run->error);

    if (!rows)
        return false;
    if (s->rows)
        memcpy(rows, s->rows, s->room * sizeof(*rows));
    tm_give(&s->run->budget, TM_ACCOUNT_INPUT, s->rows, signature_bytes(s->room));
    s->rows = rows;
    s->room = room;
    s->slots = (uint16_t *)(rows + room);
    for (uint32_t i = 1; i <= s->count; i++)
        *find_slot(s, &rows[i]) = (uint16_t)i;
    return true;
}

void tm_signatures_init(struct tm_signatures *s, struct tm_run *run, size_t memory_bytes)
{
    *s = (struct tm_signatures){ .run = run, .memory_bytes = memory_bytes };
    s->seed = tm_hash_seed(s);
    (void)resize_signatures(s, LEAST_SIGNATURES);
}

void tm_signatures_release(struct tm_signatures *s)
{
    if (!s->rows)
        return;
    tm_give(&s->run->budget, TM_ACCOUNT_INPUT, s->rows, signature_bytes(s->room));
    tm_budget_put_back(&s->run->budget, s->drawn_bytes);
    *s = (struct tm_signatures){ .run = NULL };
}

/* Twice the room.  false: there is no memory for it */
static bool grow_signatures(struct tm_signatures *s)
{
    const size_t needed = signature_bytes(3 * s->room), have = s->memory_bytes + s->drawn_bytes;

    if (s->room > TM_SIGNATURES_MOST)
        return false;
    if (needed > have) {
        if (!tm_budget_draw(&s->run->budget, needed - have))
            return false;
        s->drawn_bytes += needed - have;
    }
    return resize_signatures(s, 2 * s->room);
}

uint32_t tm_signature_of(struct tm_signatures *s, const struct tm_raw_record *raw)
{
    const struct tm_record *const r = &raw->record;
    const struct tm_signature wanted = {
        .name = r->name,
        .config = r->config,
        .common = r->common,
        .track = r->track,
        .traits = raw->traits,
        .class = r->class,
        .kind = r->kind,
        .flags = r->flags,
    };
    uint16_t *slot;

    if (r->args_length || raw->own.length || !s->room)
        return 0;
    slot = find_slot(s, &wanted);
    if (*slot)
        return *slot;
    if (s->count + 1 == s->room) {
        if (!grow_signatures(s))
            return 0;
        slot = find_slot(s, &wanted);
    }
    s->rows[++s->count] = wanted;
    *slot = (uint16_t)s->count;
    return s->count;
}

/* --- batches --- */

bool tm_batch_put(struct tm_batch *batch, struct tm_signatures *signatures, const struct tm_raw_record *raw)
{
    struct tm_raw_record bare;
    uint32_t number;

    if (raw->own.length && !batch->keeps_own) {
        bare = *raw;
        bare.own.length = 0;
        raw = &bare;
    }
    number = signatures ? tm_signature_of(signatures, raw) : 0;
    if (number) {
        tm_batch_put_number(batch, number, raw);
        return true;
    }
    batch->other = *raw;
    batch->other.signature = 0;
    batch->has_other = true;
    if (raw->record.args_length) {
        memcpy(&batch->args, raw->args,
               raw->record.args_length < sizeof(batch->args) ? raw->record.args_length : sizeof(batch->args));
        batch->other.args = &batch->args;
    }
    return false;
}

static tm_status fill_one_by_one(struct tm_cursor *cursor, struct tm_batch *batch)
{
    struct tm_source *const source = cursor->source;
    tm_status st = TM_OK;

    while (batch->count < TM_BATCH_RECORDS && st == TM_OK && !batch->is_last) {
        struct tm_raw_record raw;
        bool more = false;

        st = source->type->next(cursor, &raw, &more);
        batch->is_last = !more;
        if (more && !tm_batch_put(batch, source->signatures, &raw))
            break;
    }
    return st;
}

void tm_next_batch(struct tm_cursor *cursor, struct tm_batch *batch)
{
    const struct tm_source_type *const type = cursor->source->type;

    batch->count = 0;
    batch->has_other = batch->is_last = false;
    if ((type->next_batch ? type->next_batch(cursor, batch) : fill_one_by_one(cursor, batch)) != TM_OK) {
        batch->count = 0;
        batch->has_other = false;
        batch->is_last = true;
    }
}
