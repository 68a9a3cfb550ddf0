/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PPROF_PRIVATE_H
#define TM_PPROF_PRIVATE_H

#include "pipeline/index.h"
#include "pipeline/rows.h"
#include "stages/input/pprof/pprof.h"
#include "stages/input/xspace/reader.h"

enum {
    PPROF_BUFFER = 64 << 10,        /* of the window on the profile and of texts: the longest that are read */
    PPROF_SAMPLE_BUFFER = 16 << 10, /* of the window on a sample */
    PPROF_VALUES_MOST = 16,         /* sorts of values */
};

/* Numbers of the fields of a profile. */
enum {
    PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5, PROFILE_STRING = 6,
};

struct pprof_string {
    uint64_t at; /* in the input */
    uint64_t length;
};

/* A function as the file has it: numbers of strings. */
struct pprof_raw_function {
    uint64_t id;
    int64_t name, file;
};

struct pprof_function {
    uint64_t key; /* its id */
    tm_strid name, file;
    uint32_t owner; /* enum tm_code_owner */
};

struct pprof_location {
    uint64_t key;         /* its id */
    uint64_t first, count; /* rows of lines: what was inlined comes first */
};

struct pprof_line {
    uint64_t function;
    int64_t line;
};

/* What a value is: numbers of strings. */
struct pprof_type {
    int64_t type, unit;
};

struct pprof {
    struct tm_run *run;
    const struct tm_input *input;
    struct tm_names *names;
    struct tm_pprof_damage *damage;
    uint8_t *buffer, *sample_buffer; /* of windows */
    char *text;                 /* PPROF_BUFFER bytes */
    uint64_t end;               /* of the whole fields */
    struct tm_rows *strings;    /* struct pprof_string */
    struct tm_rows *raw;        /* struct pprof_raw_function */
    struct tm_rows *lines;      /* struct pprof_line */
    struct tm_index *locations; /* struct pprof_location */
    struct tm_index *functions; /* struct pprof_function */
    struct pprof_type types[PPROF_VALUES_MOST];
    uint32_t type_count;
    int count_at, bytes_at;     /* places among the values; count_at -1 = every sample is one */
};

/* pprof_tables.c: the first reading.  Fills everything above.
 * errors: as of tm_pprof_read */
tm_status pprof_read_tables(struct pprof *p) TM_MUST_USE;
void pprof_free_tables(struct pprof *p); /* tolerates what was not made */

/* A text by its number, cut at PPROF_BUFFER; "" and a tally where there is none.
 * out: *text  valid until the next call */
tm_status pprof_text(struct pprof *p, int64_t number, const char **text, size_t *length) TM_MUST_USE;

/* pprof_samples.c: the second reading. */
tm_status pprof_read_samples(struct pprof *p, tm_take_memory_sample *take, void *to) TM_MUST_USE;

/* The damage that is told, where it is the first. */
void pprof_damaged(struct pprof *p, const char *what, uint64_t at);

/* The fields of the whole part of the profile, one after the other.
 * out: *more false at the end */
tm_status pprof_next_field(struct pprof *p, struct tm_reader *w, struct tm_head *head, bool *more) TM_MUST_USE;

#endif
