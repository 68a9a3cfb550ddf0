/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory profiles in a partial: each with its sums and the rows that are kept of its tables. */
#include "stages/diagnose/memory/device_profiles_private.h"

/* --- saving --- */

static void save_row(struct tm_partial_writer *w, const struct profile_row *row)
{
    tm_partial_put_name(w, row->name);
    tm_partial_put_u64(w, row->count);
    tm_partial_put_u64(w, row->bytes);
    tm_partial_put_u8(w, row->is_sized);
    tm_partial_put_u32(w, row->frame_count);
    tm_partial_put_u32(w, row->site);
    for (uint32_t i = 0; i < row->frame_count; i++) {
        tm_partial_put_name(w, row->frames[i].function);
        tm_partial_put_name(w, row->frames[i].file);
        tm_partial_put_i64(w, row->frames[i].line);
    }
}

static tm_status save_profile(struct tm_device_profiles *p, struct tm_partial_writer *w, const struct profile *profile)
{
    uint64_t at = profile->first_row;

    tm_partial_put_name(w, profile->file);
    tm_partial_put_u64(w, profile->count);
    tm_partial_put_u64(w, profile->bytes);
    for (int table = 0; table < PROFILE_TABLES; table++) {
        tm_partial_put_words(w, &profile->rest[table], 3);
        tm_partial_put_u64(w, profile->kept[table]);
        for (uint64_t i = 0; i < profile->kept[table]; i++) {
            const struct profile_row *row = tm_rows_at(p->rows, at++);

            if (!row)
                return p->run->error.status;
            save_row(w, row);
        }
    }
    return TM_OK;
}

tm_status tm_device_profiles_save(struct tm_device_profiles *p, struct tm_partial_writer *w)
{
    const uint64_t count = tm_rows_count(p->profiles);
    tm_status st = TM_OK;

    tm_partial_put_u64(w, count);
    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        const struct profile *at = tm_rows_at(p->profiles, i);
        struct profile profile;

        if (!at)
            return p->run->error.status;
        profile = *at;
        st = save_profile(p, w, &profile);
    }
    return st;
}

/* --- loading --- */

static void load_row(struct tm_partial_reader *r, struct profile_row *row)
{
    row->name = tm_partial_name(r);
    row->count = tm_partial_u64(r);
    row->bytes = tm_partial_u64(r);
    row->is_sized = tm_partial_bool(r);
    row->frame_count = tm_partial_below_u32(r, TM_FRAMES_MOST + 1);
    row->site = tm_partial_below_u32(r, TM_FRAMES_MOST);
    for (uint32_t i = 0; i < row->frame_count; i++) {
        row->frames[i].function = tm_partial_name(r);
        row->frames[i].file = tm_partial_name(r);
        row->frames[i].line = tm_partial_time(r);
    }
}

static tm_status load_profile(struct tm_device_profiles *p, struct tm_partial_reader *r, struct profile *profile)
{
    tm_status st = TM_OK;

    profile->file = tm_partial_name(r);
    profile->count = tm_partial_u64(r);
    profile->bytes = tm_partial_u64(r);
    profile->first_row = tm_rows_count(p->rows);
    for (uint32_t table = 0; table < PROFILE_TABLES; table++) {
        tm_partial_words(r, &profile->rest[table], 3);
        profile->kept[table] = tm_partial_below_u64(r, PROFILE_ROWS_MOST + 1);
        for (uint64_t i = 0; i < profile->kept[table] && st == TM_OK; i++) {
            struct profile_row row = { .table = table };

            load_row(r, &row);
            st = tm_partial_is_ok(r) ? tm_rows_append(p->rows, &row) : tm_partial_status(r);
        }
    }
    return st == TM_OK ? tm_partial_status(r) : st;
}

tm_status tm_device_profiles_load(struct tm_device_profiles *p, struct tm_partial_reader *r)
{
    const uint64_t count = tm_partial_u64(r);
    tm_status st = tm_partial_status(r);

    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        struct profile profile = { .file = 0 };

        st = load_profile(p, r, &profile);
        if (st == TM_OK)
            st = tm_rows_append(p->profiles, &profile);
    }
    return st;
}
