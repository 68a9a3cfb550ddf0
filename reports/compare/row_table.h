/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ROW_TABLE_H
#define TM_ROW_TABLE_H

#include "reports/compare/comparison.h"

/* Rows by name of several sides beside each other: kernels, ops, collectives ... */

enum row_match { MATCH_NAME, MATCH_FAMILY, MATCH_PATTERN, MATCH_CATEGORY, MATCH_NONE };

enum row_status { ROW_ADDED, ROW_REMOVED, ROW_SLOWER, ROW_FASTER, ROW_SAME, ROW_UNCLEAR };

/* What one side has of a row; means over its runs, per step and device. */
struct row_cell {
    bool is_known;
    bool is_hidden; /* not listed, but the list was cut: it may be there */
    bool has_bytes;
    size_t members; /* names that it stands for */
    double ps, count, bytes;
    double *ps_of_run; /* of each run */
    /* executions: their number, mean length and sum of squared differences from it; of single runs
     */
    bool has_moments;
    double executions, mean_ps, squares;
    bool is_counted_exactly; /* in each step and device as often */
};

struct row_change {
    bool is_known, is_tested, is_significant;
    double change_ps, pct, p;
    double from_count_ps, from_length_ps; /* add up to the change */
    enum row_status status;
};

struct tm_row {
    const char *name;                 /* of a merged one: its family, its pattern, or its category */
    const char *pattern;              /* the name without its numbers; of a member of a family that of the family */
    const char *family, *family_path; /* "" = none is known */
    const char *path;                 /* of the framework: tells ops of one name apart; "" = not known, or several */
    const char *group;                /* category, pass ...; "" = none */
    enum row_match match;
    struct row_cell *cell;     /* one per side */
    struct row_change *change; /* one per side; that of the base is unused */
};

struct tm_row_table {
    const char *key;       /* in the document, and in the summary */
    const char *by;        /* what a name is */
    bool is_of_session;    /* sums of the whole session, not of a step */
    bool is_by_category;   /* of other hardware rows may meet by category */
    bool has_path;         /* of the framework */
    bool is_whole;         /* a row that is not there has no time: it is no addition */
    const char *test_part; /* rows are parts of a step: "idle_" and the name is the part's id; NULL = no */
    const char *why;       /* no side has it: the reason */
    struct tm_row **row;
    size_t rows;
    double *rest_ps;      /* of what was not listed, one per side */
    size_t rest_rows;     /* at most on a side */
    double *floor_ps;     /* no row that is not listed has more; one per side; 0 = all are listed */
    struct tm_row **slot; /* by name, while it is filled */
    size_t slots;
};

/* A table of the comparison, in its own memory, filled from the sides' summaries.  out: NULL: error
 * in run->error */
enum row_kind {
    ROWS_KERNELS,
    ROWS_OPS,
    ROWS_SCOPES,
    ROWS_COLLECTIVES,
    ROWS_TRANSFERS,
    ROWS_GAPS,
    ROWS_COMPILE,
    ROW_KINDS
};

struct tm_row_table *tm_row_table_load(struct comparison *c, enum row_kind kind) TM_MUST_USE;

/* A name without its numbers: each becomes #, and those at the end go.  owns: the room */
const char *tm_name_pattern(struct tm_compare_blocks *room, const char *name) TM_MUST_USE;

/* The least relative change of a row that is more than what steps of these sides vary by, in
 * percent. */
double tm_row_noise_pct(const struct comparison *c, size_t side);

#endif
