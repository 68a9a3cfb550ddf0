/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DEVICE_PROFILES_PRIVATE_H
#define TM_DEVICE_PROFILES_PRIVATE_H

#include "pipeline/groups.h"
#include "pipeline/rows.h"
#include "stages/diagnose/memory/device_profiles.h"

enum profile_table { PROFILE_KINDS, PROFILE_DEVICES, PROFILE_SITES, PROFILE_FUNCTIONS, PROFILE_TABLES };

/* Rows of a table that are kept; a fixed number, because partials hold them. */
enum { PROFILE_ROWS_MOST = 100 };

/* A row of one of the tables: what a label, a site or a function holds. */
struct profile_row {
    struct tm_key key;
    uint32_t table;
    tm_strid name;                  /* the kind (also of a site) or device; 0 of a function */
    uint64_t first;                 /* number of its first sample in the file: no two rows of a table share it */
    uint64_t count, bytes;
    uint64_t top_bytes, top_sample; /* the sample that holds most, whose stack is shown */
    bool is_sized;                  /* false = the size of none of its samples is known */
    uint32_t frame_count, site;     /* as in struct tm_memory_sample; 0 frames = of a kind or device */
    struct tm_frame frames[TM_FRAMES_MOST];
};

/* What is not kept of a table. */
struct profile_rest {
    uint64_t rows, count, bytes;
};

struct profile {
    tm_strid file;
    uint64_t count, bytes;
    uint64_t first_row; /* in `rows`: table after table */
    uint64_t kept[PROFILE_TABLES];
    struct profile_rest rest[PROFILE_TABLES];
};

struct tm_device_profiles {
    struct tm_run *run;
    struct tm_names *names;
    struct tm_rows *profiles; /* struct profile */
    struct tm_rows *rows;     /* struct profile_row, those that are kept */
    /* of the present profile */
    struct profile now;
    uint64_t samples;
    struct tm_groups *groups; /* struct profile_row */
};

#endif
