/* SPDX-License-Identifier: Apache-2.0 */
/* memory.device_profiles: one object per profile. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stages/diagnose/memory/device_profiles_private.h"

enum { NAME_BYTES = 256, FILE_BYTES = 1024, PLACE_BYTES = FILE_BYTES + 32, FRAME_BYTES = NAME_BYTES + PLACE_BYTES + 8 };

struct report {
    struct tm_device_profiles *p;
    uint64_t total_bytes; /* of the present profile */
};

static tm_status copy_text(struct tm_device_profiles *p, tm_strid name, char *to, size_t to_bytes)
{
    const char *text;
    size_t length;
    const tm_status st = tm_names_text(p->names, name, to_bytes - 1, &text, &length);

    if (st != TM_OK)
        return st;
    memcpy(to, text, length);
    to[length] = '\0';
    return TM_OK;
}

/* "train.py:12"; "" where the file is not recorded. */
static tm_status tell_place(struct tm_device_profiles *p, const struct tm_frame *frame, char to[PLACE_BYTES])
{
    const tm_status st = copy_text(p, frame->file, to, FILE_BYTES);
    const size_t used = st == TM_OK ? strlen(to) : 0;

    if (used && frame->line)
        (void)snprintf(to + used, PLACE_BYTES - used, ":%" PRId64, frame->line);
    return st;
}

static void add_text_or(struct tm_value *to, const char *key, const char *text, const char *why)
{
    if (text[0])
        tm_add_text(to, key, text, strlen(text));
    else
        tm_add_null(to, key, why);
}

static tm_status add_stack(struct tm_device_profiles *p, const struct profile_row *row, struct tm_value *to)
{
    struct tm_value *list = tm_add_array(to, "stack");
    char name[NAME_BYTES], place[PLACE_BYTES], text[FRAME_BYTES];
    tm_status st = TM_OK;

    for (uint32_t i = 0; i < row->frame_count && st == TM_OK; i++) {
        st = copy_text(p, row->frames[i].function, name, sizeof(name));
        if (st == TM_OK)
            st = tell_place(p, &row->frames[i], place);
        if (st != TM_OK)
            break;
        (void)snprintf(text, sizeof(text), "%s%s%s%s", name[0] ? name : "(no name)", place[0] ? " (" : "", place,
                       place[0] ? ")" : "");
        tm_add_text(list, NULL, text, strlen(text));
    }
    return st;
}

/* What a site or function is. */
static tm_status add_code(struct tm_device_profiles *p, const struct profile_row *row, struct tm_value *to)
{
    static const struct tm_frame nowhere = { .line = 0 };
    struct tm_frame frame = row->frame_count ? row->frames[row->site] : nowhere;
    char name[NAME_BYTES], place[PLACE_BYTES];
    tm_status st;

    if (row->table == PROFILE_FUNCTIONS)
        frame.line = 0;
    st = copy_text(p, frame.function, name, sizeof(name));
    if (st == TM_OK)
        st = tell_place(p, &frame, place);
    if (st != TM_OK)
        return st;
    add_text_or(to, "function", name, "the profile has no name for it");
    add_text_or(to, "source", place, "the profile has no file for it");
    return row->table == PROFILE_SITES ? add_stack(p, row, to) : TM_OK;
}

static tm_status add_label(struct tm_device_profiles *p, const struct profile_row *row, struct tm_value *to)
{
    const bool is_device = row->table == PROFILE_DEVICES;
    char name[NAME_BYTES];
    const tm_status st = copy_text(p, row->name, name, sizeof(name));

    if (st == TM_OK)
        add_text_or(to, is_device ? "device" : "kind", name, is_device ? "on no device" : "not labelled");
    return st;
}

static void add_bytes(const struct report *r, const struct profile_row *row, struct tm_value *to)
{
    const uint64_t bytes = row->bytes;

    if (!row->is_sized) {
        tm_add_null(to, "bytes", "the profile gives no sizes for it");
        tm_add_null(to, "share_pct", NULL);
        return;
    }
    tm_add_uint(to, "bytes", bytes);
    if (r->total_bytes)
        tm_add_double(to, "share_pct", 100.0 * (double)bytes / (double)r->total_bytes);
    else
        tm_add_null(to, "share_pct", "nothing is held");
}

static tm_status add_row(const struct report *r, uint64_t at, struct tm_value *list)
{
    const struct profile_row *found = tm_rows_at(r->p->rows, at);
    struct tm_value *to = tm_add_object(list, NULL);
    struct profile_row row;
    tm_status st = TM_OK;

    if (!found)
        return r->p->run->error.status;
    row = *found;
    if (row.table != PROFILE_FUNCTIONS)
        st = add_label(r->p, &row, to);
    if (st == TM_OK && (row.table == PROFILE_SITES || row.table == PROFILE_FUNCTIONS))
        st = add_code(r->p, &row, to);
    tm_add_uint(to, "count", row.count);
    add_bytes(r, &row, to);
    return st;
}

static tm_status add_profile(struct report *r, const struct profile *profile, struct tm_value *list)
{
    static const char *const keys[PROFILE_TABLES] = { "kinds", "devices", "sites", "functions" };
    struct tm_value *to = tm_add_object(list, NULL), *rests;
    uint64_t at = profile->first_row;
    const char *file;
    size_t length;
    tm_status st = tm_names_text(r->p->names, profile->file, 0, &file, &length);

    if (st != TM_OK)
        return st;
    r->total_bytes = profile->bytes;
    tm_add_text(to, "file", file, length);
    tm_add_uint(to, "total_count", profile->count);
    tm_add_uint(to, "total_bytes", profile->bytes);
    for (int table = 0; table < PROFILE_TABLES && st == TM_OK; table++) {
        struct tm_value *rows = tm_add_array(to, keys[table]);

        for (uint64_t i = 0; i < profile->kept[table] && st == TM_OK; i++)
            st = add_row(r, at++, rows);
    }
    rests = tm_add_object(to, "rest");
    for (int table = 0; table < PROFILE_TABLES && st == TM_OK; table++) {
        struct tm_value *rest = tm_add_object(rests, keys[table]);

        tm_add_uint(rest, "rows", profile->rest[table].rows);
        tm_add_uint(rest, "count", profile->rest[table].count);
        tm_add_uint(rest, "bytes", profile->rest[table].bytes);
    }
    return st;
}

tm_status tm_device_profiles_report(struct tm_device_profiles *p, struct tm_value *to)
{
    const uint64_t count = tm_rows_count(p->profiles);
    struct tm_value *list = tm_add_array(to, "device_profiles");
    struct report r = { .p = p };
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        const struct profile *at = tm_rows_at(p->profiles, i);
        struct profile profile;

        if (!at)
            return p->run->error.status;
        profile = *at;
        st = add_profile(&r, &profile, list);
    }
    return st;
}
