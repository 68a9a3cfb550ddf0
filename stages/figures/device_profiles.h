/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DEVICE_PROFILES_H
#define TM_DEVICE_PROFILES_H

#include "pipeline/doc/doc.h"
#include "pipeline/partial.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/rows.h"
#include "stages/input/formats.h"

/* The content of device memory profiles: memory by kind, device, code location, and function.  They belong to no host
 * and have no events, so this is not a stage, but it is filled, saved, and reported like one. */
struct tm_device_profiles;

/* owns:   the caller; tm_device_profiles_free releases it (NULL allowed)
 * errors: NULL, with the error in run->error */
struct tm_device_profiles *tm_device_profiles_new(struct tm_run *run, struct tm_names *names) TM_MUST_USE;
void tm_device_profiles_free(struct tm_device_profiles *p);

/* One profile: start, its samples (a tm_take_memory_sample), end. */
tm_status tm_device_profiles_begin(struct tm_device_profiles *p, const char *file);
tm_status tm_device_profiles_take(void *profiles, const struct tm_memory_sample *sample) TM_MUST_USE;
tm_status tm_device_profiles_end(struct tm_device_profiles *p);

uint64_t tm_device_profiles_count(const struct tm_device_profiles *p);
/* Add the array device_profiles, of the form of schemas/SUMMARY.md, section memory. */
tm_status tm_device_profiles_report(struct tm_device_profiles *p, struct tm_value *to);

/* Inside a section of a partial that is open. */
tm_status tm_device_profiles_save(struct tm_device_profiles *p, struct tm_partial_writer *w);
tm_status tm_device_profiles_load(struct tm_device_profiles *p, struct tm_partial_reader *r);

enum profile_table { PROFILE_KINDS, PROFILE_DEVICES, PROFILE_SITES, PROFILE_FUNCTIONS, PROFILE_TABLES };

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
    /* of the current profile */
    struct profile now;
    uint64_t samples;
    struct tm_groups *groups; /* struct profile_row */
};

#endif
