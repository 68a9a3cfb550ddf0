/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory profiles, sample by sample: every sample is counted by its kind, its device, its site (each kind for
 * itself) and the function of its site.  Of each table the largest rows are kept, and the sums of the others.
 * Memory: groups and rows that spill; a hundred rows while a table is sorted. */
#include "stages/diagnose/memory/device_profiles.h"

#include <string.h>

#include "stages/diagnose/memory/device_profiles_private.h"
#include "stages/diagnose/shares.h"
#include "stages/diagnose/sums.h"
#include "stages/diagnose/top_rows.h"

struct tm_device_profiles *tm_device_profiles_new(struct tm_run *run, struct tm_names *names)
{
    const size_t share = tm_tables_memory(run, TM_TABLES_PROFILES, 4, 1);
    struct tm_device_profiles *p = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*p), &run->error);

    if (!p)
        return NULL;
    p->run = run;
    p->names = names;
    p->profiles = tm_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct profile), share);
    p->rows = tm_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct profile_row), share);
    if (p->profiles && p->rows)
        return p;
    tm_device_profiles_free(p);
    return NULL;
}

void tm_device_profiles_free(struct tm_device_profiles *p)
{
    if (!p)
        return;
    tm_groups_free(p->groups);
    tm_rows_free(p->profiles);
    tm_rows_free(p->rows);
    tm_give(&p->run->budget, TM_ACCOUNT_TABLES, p, sizeof(*p));
}

uint64_t tm_device_profiles_count(const struct tm_device_profiles *p)
{
    return tm_rows_count(p->profiles);
}

/* --- samples --- */

static void merge_rows(void *into_row, const void *from_row)
{
    struct profile_row *into = into_row;
    const struct profile_row *from = from_row;
    const uint64_t count = tm_sum_counts(into->count, from->count), bytes = tm_sum_counts(into->bytes, from->bytes);
    const uint64_t first = into->first < from->first ? into->first : from->first;
    const bool is_sized = into->is_sized | from->is_sized;

    if (from->top_bytes > into->top_bytes ||
        (from->top_bytes == into->top_bytes && from->top_sample < into->top_sample))
        *into = *from;
    into->count = count;
    into->bytes = bytes;
    into->is_sized = is_sized;
    into->first = first;
}

tm_status tm_device_profiles_begin(struct tm_device_profiles *p, const char *file)
{
    p->now = (struct profile){ .first_row = tm_rows_count(p->rows) };
    p->samples = 0;
    p->groups = tm_groups_new(p->run, TM_ACCOUNT_TABLES, sizeof(struct profile_row),
                              tm_tables_memory(p->run, TM_TABLES_PROFILES, 4, 2), merge_rows);
    return p->groups ? tm_names_put_string(p->names, file, &p->now.file) : p->run->error.status;
}

/* What a row is about: texts by their hashes, because a text may have two handles. */
struct subject {
    uint64_t table;
    struct tm_key label, function, file;
    int64_t line;
};

static tm_status hash_of(struct tm_device_profiles *p, tm_strid text, struct tm_key *hash)
{
    struct tm_name info = { .length = 0 };
    const tm_status st = tm_names_info(p->names, text, &info);

    *hash = info.hash;
    return st;
}

static tm_status add_row(struct tm_device_profiles *p, const struct tm_memory_sample *sample, enum profile_table table,
                         tm_strid name, const struct tm_frame *frame)
{
    struct subject subject = { .table = table, .line = table == PROFILE_SITES && frame ? frame->line : 0 };
    struct profile_row row = { .table = table, .name = name, .first = p->samples, .count = sample->count,
                               .bytes = sample->bytes, .is_sized = !sample->is_unsized, .top_bytes = sample->bytes,
                               .top_sample = p->samples };
    tm_status st = hash_of(p, name, &subject.label);

    if (st == TM_OK && frame)
        st = hash_of(p, frame->function, &subject.function);
    if (st == TM_OK && frame)
        st = hash_of(p, frame->file, &subject.file);
    if (st != TM_OK)
        return st;
    row.key = tm_hash_key(&subject, sizeof(subject));
    if (frame) {
        row.frame_count = sample->frame_count;
        row.site = sample->site;
        memcpy(row.frames, sample->frames, sample->frame_count * sizeof(row.frames[0]));
    }
    return tm_groups_add(p->groups, &row);
}

tm_status tm_device_profiles_take(void *profiles, const struct tm_memory_sample *sample)
{
    struct tm_device_profiles *p = profiles;
    static const struct tm_frame nowhere = { .line = 0 };
    const struct tm_frame *site = sample->frame_count ? &sample->frames[sample->site] : &nowhere;
    tm_status st;

    p->now.count = tm_sum_counts(p->now.count, sample->count);
    p->now.bytes = tm_sum_counts(p->now.bytes, sample->bytes);
    st = add_row(p, sample, PROFILE_KINDS, sample->kind, NULL);
    if (st == TM_OK)
        st = add_row(p, sample, PROFILE_DEVICES, sample->device, NULL);
    if (st == TM_OK)
        st = add_row(p, sample, PROFILE_SITES, sample->kind, site);
    if (st == TM_OK)
        st = add_row(p, sample, PROFILE_FUNCTIONS, 0, site);
    p->samples++;
    return st;
}

/* --- the largest rows --- */

static int largest_first(const void *a, const void *b)
{
    const struct profile_row *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* What is done with the groups of one table. */
typedef tm_status use_row(struct tm_device_profiles *p, struct tm_top_rows *top, const struct profile_row *row);

static tm_status each_row(struct tm_device_profiles *p, uint32_t table, struct tm_top_rows *top, use_row *use)
{
    const void *row = NULL;
    tm_status st = tm_groups_rewind(p->groups);

    do {
        if (st == TM_OK)
            st = tm_groups_next(p->groups, &row);
        if (st == TM_OK && row && ((const struct profile_row *)row)->table == table)
            st = use(p, top, row);
    } while (st == TM_OK && row);
    return st;
}

static tm_status offer(struct tm_device_profiles *p, struct tm_top_rows *top, const struct profile_row *row)
{
    (void)p;
    return tm_top_rows_add(top, row);
}

/* Those that go behind the last one that is kept. */
static tm_status add_to_rest(struct tm_device_profiles *p, struct tm_top_rows *top, const struct profile_row *row)
{
    struct profile_rest *rest = &p->now.rest[row->table];

    if (largest_first(row, tm_top_rows_at(top, tm_top_rows_count(top) - 1)) <= 0)
        return TM_OK;
    rest->rows++;
    rest->count = tm_sum_counts(rest->count, row->count);
    rest->bytes = tm_sum_counts(rest->bytes, row->bytes);
    return TM_OK;
}

static tm_status keep_table(struct tm_device_profiles *p, uint32_t table, struct tm_top_rows *top)
{
    tm_status st = each_row(p, table, top, offer);

    if (st != TM_OK)
        return st;
    tm_top_rows_sort(top);
    p->now.kept[table] = tm_top_rows_count(top);
    for (uint64_t i = 0; i < tm_top_rows_count(top) && st == TM_OK; i++)
        st = tm_rows_append(p->rows, tm_top_rows_at(top, i));
    return st == TM_OK ? each_row(p, table, top, add_to_rest) : st;
}

tm_status tm_device_profiles_end(struct tm_device_profiles *p)
{
    tm_status st = tm_groups_finish(p->groups);

    for (uint32_t table = 0; table < PROFILE_TABLES && st == TM_OK; table++) {
        struct tm_top_rows *top = tm_top_rows_new(p->run, TM_ACCOUNT_TABLES, sizeof(struct profile_row),
                                                  PROFILE_ROWS_MOST, 2 * PROFILE_ROWS_MOST * sizeof(struct profile_row),
                                                  largest_first);

        st = top ? keep_table(p, table, top) : p->run->error.status;
        tm_top_rows_free(top);
    }
    tm_groups_free(p->groups);
    p->groups = NULL;
    return st == TM_OK ? tm_rows_append(p->profiles, &p->now) : st;
}
