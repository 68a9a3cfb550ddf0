/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/file_ids.h"

enum { FIRST_ROOM = 64 };

static bool is(struct tm_file_id id, const struct stat *info)
{
    return id.inode == info->st_ino && id.device == info->st_dev;
}

/* Where it is, or would be. */
static size_t place_of(const struct tm_file_ids *ids, const struct stat *info)
{
    uint64_t mixed = (uint64_t)info->st_ino * 0x9e3779b97f4a7c15u ^ (uint64_t)info->st_dev * 0xc2b2ae3d27d4eb4fu;
    size_t at;

    mixed ^= mixed >> 32;
    for (at = (size_t)mixed & (ids->capacity - 1); ids->at[at].inode != 0; at = (at + 1) & (ids->capacity - 1)) {
        if (is(ids->at[at], info))
            break;
    }
    return at;
}

static tm_status grow(struct tm_run *run, struct tm_file_ids *ids)
{
    struct tm_file_ids fresh = { .count = ids->count, .capacity = ids->capacity ? ids->capacity * 2 : FIRST_ROOM };

    fresh.at = tm_take(&run->budget, TM_ACCOUNT_MODEL, fresh.capacity * sizeof(*fresh.at), &run->error);
    if (!fresh.at)
        return run->error.status;
    for (size_t i = 0; i < ids->capacity; i++) {
        const struct stat info = { .st_dev = ids->at[i].device, .st_ino = ids->at[i].inode };

        if (ids->at[i].inode != 0)
            fresh.at[place_of(&fresh, &info)] = ids->at[i];
    }
    tm_file_ids_free(run, ids);
    *ids = fresh;
    return TM_OK;
}

tm_status tm_file_ids_add(struct tm_run *run, struct tm_file_ids *ids, const struct stat *info, bool *is_new)
{
    const tm_status st = ids->count >= ids->capacity / 4 * 3 ? grow(run, ids) : TM_OK;

    if (st != TM_OK)
        return st;

    const size_t at = place_of(ids, info);
    const bool fresh = ids->at[at].inode == 0;

    ids->at[at] = (struct tm_file_id){ info->st_dev, info->st_ino };
    ids->count += fresh;
    if (is_new)
        *is_new = fresh;
    return TM_OK;
}

bool tm_file_ids_has(const struct tm_file_ids *ids, const struct stat *info)
{
    return ids->count > 0 && ids->at[place_of(ids, info)].inode != 0;
}

void tm_file_ids_free(struct tm_run *run, struct tm_file_ids *ids)
{
    tm_give(&run->budget, TM_ACCOUNT_MODEL, ids->at, ids->capacity * sizeof(*ids->at));
    *ids = (struct tm_file_ids){ .at = NULL };
}
