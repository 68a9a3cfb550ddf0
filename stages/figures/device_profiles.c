/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory profiles, sample by sample: every sample is counted by its kind, its device, its site (each kind
 * separately) and the function of its site.  Each table keeps its largest rows, and the sums of the others.
 * Memory: groups and rows that spill; a hundred rows while a table is sorted. */
#include "stages/figures/device_profiles.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/partial.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/rows.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/input/formats.h"

/* Rows of a table that are kept; a fixed number, because partials hold them. */
enum { PROFILE_ROWS_MOST = 100 };

/* A row of one of the tables: the memory of a label, a site or a function. */
struct profile_row {
    struct tm_key key;
    uint32_t table;
    tm_strid name;  /* the kind (also of a site) or device; 0 of a function */
    uint64_t first; /* number of its first sample in the file: no two rows of a table share it */
    uint64_t count, bytes;
    uint64_t top_bytes, top_sample; /* the sample that holds most, whose stack is shown */
    bool is_sized;                  /* false = the size of none of its samples is known */
    uint32_t frame_count, site;     /* as in struct tm_memory_sample; 0 frames = of a kind or device */
    struct tm_frame frames[TM_FRAMES_MOST];
};

/* Device memory profiles in a partial: each with its sums and the rows that are kept of its tables. */

static const struct tm_row_field frame_fields[] = {
    TM_FIELD(struct tm_frame, function, NAME, KEEP),
    TM_FIELD(struct tm_frame, file, NAME, KEEP),
    TM_FIELD(struct tm_frame, line, TIME, KEEP),
    TM_FIELDS_END,
};

static const struct tm_row_field row_fields[] = {
    TM_FIELD(struct profile_row, name, NAME, KEEP),
    TM_FIELD(struct profile_row, count, COUNT, KEEP),
    TM_FIELD(struct profile_row, bytes, COUNT, KEEP),
    TM_FIELD(struct profile_row, is_sized, BOOL, KEEP),
    TM_FIELD_BELOW(struct profile_row, frame_count, U32, KEEP, TM_FRAMES_MOST + 1),
    TM_FIELD_BELOW(struct profile_row, site, U32, KEEP, TM_FRAMES_MOST),
    TM_FIELD_COUNTED_STRUCTS(struct profile_row, frames, struct tm_frame, frame_fields, frame_count),
    TM_FIELDS_END,
};

static void save_profile(struct tm_device_profiles *p, struct tm_partial_writer *w, const struct profile *profile)
{
    uint64_t at = profile->first_row;

    tm_partial_put_name(w, profile->file);
    tm_partial_put_u64(w, profile->count);
    tm_partial_put_u64(w, profile->bytes);
    for (int table = 0; table < PROFILE_TABLES; table++) {
        tm_partial_put_words(w, &profile->rest[table], 3);
        tm_partial_put_u64(w, profile->kept[table]);
        tm_fields_save_rows(w, row_fields, p->rows, at, profile->kept[table]);
        at += profile->kept[table];
    }
}

tm_status tm_device_profiles_save(struct tm_device_profiles *p, struct tm_partial_writer *w)
{
    const uint64_t count = tm_rows_count(p->profiles);

    tm_partial_put_u64(w, count);
    for (uint64_t i = 0; i < count && !tm_failed(p->run); i++) {
        const struct profile profile = *(const struct profile *)tm_rows_at(p->profiles, i);

        save_profile(p, w, &profile);
    }
    return p->run->error.status;
}

/* in: of  the number of the table */
static tm_status complete_row(void *of, struct tm_partial_reader *r, void *row)
{
    (void)r;
    ((struct profile_row *)row)->table = *(const uint32_t *)of;
    return TM_OK;
}

static void load_profile(struct tm_device_profiles *p, struct tm_partial_reader *r, struct profile *profile)
{
    profile->file = tm_partial_name(r);
    profile->count = tm_partial_u64(r);
    profile->bytes = tm_partial_u64(r);
    profile->first_row = tm_rows_count(p->rows);
    for (uint32_t table = 0; table < PROFILE_TABLES; table++) {
        tm_partial_words(r, &profile->rest[table], 3);
        profile->kept[table] = tm_partial_below_u64(r, PROFILE_ROWS_MOST + 1);
        tm_fields_load_rows(r, row_fields, p->rows, profile->kept[table], complete_row, &table);
    }
}

tm_status tm_device_profiles_load(struct tm_device_profiles *p, struct tm_partial_reader *r)
{
    const uint64_t count = tm_partial_u64(r);

    for (uint64_t i = 0; i < count && !tm_failed(p->run); i++) {
        struct profile profile = { .file = 0 };

        load_profile(p, r, &profile);
        tm_rows_append(p->profiles, &profile);
    }
    return p->run->error.status;
}

/* memory.device_profiles: one object per profile. */

enum { NAME_BYTES = 256, FILE_BYTES = 1024, PLACE_BYTES = FILE_BYTES + 32, FRAME_BYTES = NAME_BYTES + PLACE_BYTES + 8 };

struct report {
    struct tm_device_profiles *p;
    uint64_t total_bytes; /* of the current profile */
};

static void copy_text(struct tm_device_profiles *p, tm_strid name, char *to, size_t to_bytes)
{
    size_t length;
    const char *text = tm_names_text(p->names, name, to_bytes - 1, &length);

    memcpy(to, text, length);
    to[length] = '\0';
}

/* "train.py:12"; "" if the file is not recorded. */
static void tell_place(struct tm_device_profiles *p, const struct tm_frame *frame, char to[PLACE_BYTES])
{
    size_t used;

    copy_text(p, frame->file, to, FILE_BYTES);
    used = strlen(to);
    if (used && frame->line)
        (void)snprintf(to + used, PLACE_BYTES - used, ":%" PRId64, frame->line);
}

static void add_text_or(struct tm_value *to, const char *key, const char *text, const char *why)
{
    if (text[0])
        tm_add_text(to, key, text, strlen(text));
    else
        tm_add_null(to, key, why);
}

static void add_stack(struct tm_device_profiles *p, const struct profile_row *row, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "stack");
    char name[NAME_BYTES], place[PLACE_BYTES], text[FRAME_BYTES];

    for (uint32_t i = 0; i < row->frame_count; i++) {
        copy_text(p, row->frames[i].function, name, sizeof(name));
        tell_place(p, &row->frames[i], place);
        (void)snprintf(text, sizeof(text), "%s%s%s%s", name[0] ? name : "(no name)", place[0] ? " (" : "", place,
                       place[0] ? ")" : "");
        tm_add_text(list, NULL, text, strlen(text));
    }
}

/* Add the description of a site or function. */
static void add_code(struct tm_device_profiles *p, const struct profile_row *row, struct tm_value *to)
{
    static const struct tm_frame nowhere = { .line = 0 };
    struct tm_frame frame = row->frame_count ? row->frames[row->site] : nowhere;
    char name[NAME_BYTES], place[PLACE_BYTES];

    if (row->table == PROFILE_FUNCTIONS)
        frame.line = 0;
    copy_text(p, frame.function, name, sizeof(name));
    tell_place(p, &frame, place);
    add_text_or(to, "function", name, "unnamed in the profile");
    add_text_or(to, "source", place, "the profile does not record its file");
    if (row->table == PROFILE_SITES)
        add_stack(p, row, to);
}

static void add_label(struct tm_device_profiles *p, const struct profile_row *row, struct tm_value *to)
{
    const bool is_device = row->table == PROFILE_DEVICES;
    char name[NAME_BYTES];

    copy_text(p, row->name, name, sizeof(name));
    add_text_or(to, is_device ? "device" : "kind", name, is_device ? "on no device" : "not labelled");
}

static void add_bytes(const struct report *r, const struct profile_row *row, struct tm_value *to)
{
    const uint64_t bytes = row->bytes;

    if (!row->is_sized) {
        tm_add_null(to, "bytes", "the profile does not record its sizes");
        tm_add_null(to, "share_pct", NULL);
        return;
    }
    tm_add_uint(to, "bytes", bytes);
    if (r->total_bytes)
        tm_add_double(to, "share_pct", 100.0 * (double)bytes / (double)r->total_bytes);
    else
        tm_add_null(to, "share_pct", "nothing is allocated");
}

static void add_row(const struct report *r, uint64_t at, struct tm_value *list)
{
    const struct profile_row row = *(const struct profile_row *)tm_rows_at(r->p->rows, at);
    struct tm_value *to = tm_add_object(list, NULL);

    if (row.table != PROFILE_FUNCTIONS)
        add_label(r->p, &row, to);
    if (row.table == PROFILE_SITES || row.table == PROFILE_FUNCTIONS)
        add_code(r->p, &row, to);
    tm_add_uint(to, "count", row.count);
    add_bytes(r, &row, to);
}

static void add_profile(struct report *r, const struct profile *profile, struct tm_value *list)
{
    static const char *const keys[PROFILE_TABLES] = { "kinds", "devices", "sites", "functions" };
    struct tm_value *to = tm_add_object(list, NULL), *rests;
    uint64_t at = profile->first_row;
    size_t length;
    const char *file = tm_names_text(r->p->names, profile->file, 0, &length);

    r->total_bytes = profile->bytes;
    tm_add_text(to, "file", file, length);
    tm_add_uint(to, "total_count", profile->count);
    tm_add_uint(to, "total_bytes", profile->bytes);
    for (int table = 0; table < PROFILE_TABLES; table++) {
        struct tm_value *rows = tm_add_array(to, keys[table]);

        for (uint64_t i = 0; i < profile->kept[table]; i++)
            add_row(r, at++, rows);
    }
    rests = tm_add_object(to, "rest");
    for (int table = 0; table < PROFILE_TABLES; table++) {
        struct tm_value *rest = tm_add_object(rests, keys[table]);

        tm_add_uint(rest, "rows", profile->rest[table].rows);
        tm_add_uint(rest, "count", profile->rest[table].count);
        tm_add_uint(rest, "bytes", profile->rest[table].bytes);
    }
}

tm_status tm_device_profiles_report(struct tm_device_profiles *p, struct tm_value *to)
{
    const uint64_t count = tm_rows_count(p->profiles);
    struct tm_value *list = tm_add_array(to, "device_profiles");
    struct report r = { .p = p };

    for (uint64_t i = 0; i < count && !tm_failed(p->run); i++) {
        const struct profile profile = *(const struct profile *)tm_rows_at(p->profiles, i);

        add_profile(&r, &profile, list);
    }
    return p->run->error.status;
}

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
    p->now.file = tm_names_put_string(p->names, file);
    return p->run->error.status;
}

/* The subject of a row: strings by their hashes, because a string may have two handles. */
struct subject {
    uint64_t table;
    struct tm_key label, function, file;
    int64_t line;
};

static void add_sample(struct tm_device_profiles *p, const struct tm_memory_sample *sample, enum profile_table table,
                       tm_strid name, const struct tm_frame *frame)
{
    struct subject subject = { .table = table, .label = tm_names_info(p->names, name).hash };
    struct profile_row row = { .table = table,
                               .name = name,
                               .first = p->samples,
                               .count = sample->count,
                               .bytes = sample->bytes,
                               .is_sized = !sample->is_unsized,
                               .top_bytes = sample->bytes,
                               .top_sample = p->samples };

    if (frame) {
        subject.function = tm_names_info(p->names, frame->function).hash;
        subject.file = tm_names_info(p->names, frame->file).hash;
        subject.line = table == PROFILE_SITES ? frame->line : 0;
        row.frame_count = sample->frame_count;
        row.site = sample->site;
        memcpy(row.frames, sample->frames, sample->frame_count * sizeof(row.frames[0]));
    }
    row.key = tm_hash_key(&subject, sizeof(subject));
    tm_groups_add(p->groups, &row);
}

tm_status tm_device_profiles_take(void *profiles, const struct tm_memory_sample *sample)
{
    struct tm_device_profiles *p = profiles;
    static const struct tm_frame nowhere = { .line = 0 };
    const struct tm_frame *site = sample->frame_count ? &sample->frames[sample->site] : &nowhere;

    if (tm_failed(p->run))
        return p->run->error.status;
    p->now.count = tm_sum_counts(p->now.count, sample->count);
    p->now.bytes = tm_sum_counts(p->now.bytes, sample->bytes);
    add_sample(p, sample, PROFILE_KINDS, sample->kind, NULL);
    add_sample(p, sample, PROFILE_DEVICES, sample->device, NULL);
    add_sample(p, sample, PROFILE_SITES, sample->kind, site);
    add_sample(p, sample, PROFILE_FUNCTIONS, 0, site);
    p->samples++;
    return p->run->error.status;
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

/* The next group of a table; NULL at the end. */
static const struct profile_row *next_row(struct tm_device_profiles *p, uint32_t table)
{
    const struct profile_row *row;

    do {
        row = tm_groups_next(p->groups);
    } while (row && row->table != table);
    return row;
}

static void keep_table(struct tm_device_profiles *p, uint32_t table, struct tm_top_rows *top)
{
    struct profile_rest *rest = &p->now.rest[table];
    const struct profile_row *row;

    tm_groups_rewind(p->groups);
    while ((row = next_row(p, table)))
        tm_top_rows_add(top, row);
    tm_top_rows_sort(top);
    p->now.kept[table] = tm_top_rows_count(top);
    for (uint64_t i = 0; i < tm_top_rows_count(top); i++)
        tm_rows_append(p->rows, tm_top_rows_at(top, i));
    tm_groups_rewind(p->groups);
    while ((row = next_row(p, table))) {
        if (largest_first(row, tm_top_rows_at(top, tm_top_rows_count(top) - 1)) <= 0)
            continue;
        /* after the last one that is kept */
        rest->rows++;
        rest->count = tm_sum_counts(rest->count, row->count);
        rest->bytes = tm_sum_counts(rest->bytes, row->bytes);
    }
}

tm_status tm_device_profiles_end(struct tm_device_profiles *p)
{
    if (!tm_failed(p->run))
        tm_groups_finish(p->groups);
    for (uint32_t table = 0; table < PROFILE_TABLES && !tm_failed(p->run); table++) {
        struct tm_top_rows *top =
            tm_top_rows_new(p->run, TM_ACCOUNT_TABLES, sizeof(struct profile_row), PROFILE_ROWS_MOST,
                            2 * PROFILE_ROWS_MOST * sizeof(struct profile_row), largest_first);

        if (top)
            keep_table(p, table, top);
        tm_top_rows_free(top);
    }
    tm_groups_free(p->groups);
    p->groups = NULL;
    tm_rows_append(p->profiles, &p->now);
    return p->run->error.status;
}
