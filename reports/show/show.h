/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SHOW_H
#define TM_SHOW_H

#include <stdio.h>

#include "pipeline/doc/doc.h"
#include "pipeline/doc/doc_fields.h"
#include "pipeline/doc/run_figures.h"
#include "reports/content/content.h"

/* A table or a figure of a document (a summary, a comparison, a night ...), found by its name or its path, filtered,
 * sorted, and limited, with a summary of the omitted rows.  Everything about tables, their rows, and their figures
 * comes from the fields of the document (pipeline/doc/doc_fields.h).  As JSON it is a separate document:
 * schemas/SHOW.md. */

enum tm_show_form { TM_SHOW_TEXT, TM_SHOW_JSON, TM_SHOW_CSV, TM_SHOW_MARKDOWN };

struct tm_show_query {
    const char *what;   /* "kernels", "gaps.longest", "step_time"; NULL = a list of the contents */
    const char *where;  /* a condition on the rows, below; NULL = all */
    const char *sort;   /* "-total_ps,name"; NULL = as in the document */
    const char *fields; /* "name,total_ps"; NULL = those of the form */
    uint64_t top;       /* rows at most; 0 = all */
};

/* Find, filter, sort and print.
 * in:     root     of the document
 *         columns  of a line of text
 * errors: TM_ERR_USAGE  the query does not fit the document, with near names; TM_ERR_LIMIT no memory; TM_ERR_OUTPUT */
tm_status tm_show_write(struct tm_run *run, const struct tm_value *root, const struct tm_show_query *query,
                        enum tm_show_form form, int columns, FILE *to) TM_MUST_USE;

/* Print the HLO around an instruction as text, like HLO itself is written.
 * in: root  of a document "tracemill.hlo" with instructions */
tm_status tm_show_write_hlo(struct tm_run *run, const struct tm_value *root, FILE *to) TM_MUST_USE;

/* May the unit of such a value be in the member `unit` of its row? */
static inline bool tm_show_has_unit_beside(const struct tm_doc_field *field)
{
    const enum tm_doc_kind kind = tm_doc_kind_of(field);

    return kind == TM_DOC_NUMBER || kind == TM_DOC_INTEGER || kind == TM_DOC_VALUE;
}

/* --- a table, as it was found --- */

enum { TM_SHOW_PATH = 512, TM_SHOW_FIELDS = 96, TM_SHOW_COLUMNS = 192, TM_SHOW_SORTS = 8, TM_SHOW_KEY = 96 };

/* What adds up over the rows of a table. */
enum tm_show_measure { TM_SHOW_TIME, TM_SHOW_COUNT, TM_SHOW_BYTES, TM_SHOW_MEASURES };

struct tm_show_table {
    char path[TM_SHOW_PATH];               /* "kernels.rows"; "contents" */
    const char *title, *help;              /* NULL = none */
    char headline[TM_FIGURE_TITLE_BYTES];  /* of the figure that is shown; `title` may borrow it */
    const struct tm_doc_field *fields;     /* of a row */
    const struct tm_value *rows;           /* an array of objects; NULL = none */
    const struct tm_value *rest;           /* rows of the table that the document does not list; NULL = not recorded */
    const char *measure[TM_SHOW_MEASURES]; /* the field that adds up; NULL = none does */
    int64_t most;        /* the document lists at most this many rows, and does not count the others; 0 = all */
    const char *why;     /* why this document does not have the table; NULL = it has */
    bool has_figures;    /* rows of figures: each has a path, a value and a unit */
    struct tm_doc *made; /* owns rows that are not a list of the document; NULL */
    struct tm_doc_field own[TM_SHOW_FIELDS]; /* fields of such rows */
};

/* The table that a name or a path means.
 * in:     table  zeroed
 * owns:   the caller; tm_show_close
 * errors: TM_ERR_USAGE with near names; TM_ERR_LIMIT */
tm_status tm_show_find(struct tm_run *run, struct tm_show_table *table, const struct tm_value *root, const char *what);
void tm_show_close(struct tm_show_table *table);

/* Each value that a row has by its fields, in their order: members of members by their paths ("idle_ps.host").  Lists
 * of objects are not entered. */
typedef void tm_show_each(void *to, const char *path, const struct tm_doc_field *field);
void tm_show_walk(const struct tm_doc_field *fields, const char *prefix, tm_show_each *each, void *to);

/* Suggest the nearest of the fields of a row, as a hint. */
void tm_show_suggest(struct tm_run *run, const struct tm_doc_field *fields, const char *wrong);

/* The rows of the table that remain. */
struct tm_show_sum {
    int64_t rows;
    int64_t sum[TM_SHOW_MEASURES];
};

struct tm_show_rows {
    struct tm_run *run;
    size_t *pick; /* places of the rows to print */
    size_t count, room;
    struct tm_show_sum returned, by_where, by_top, unlisted;
    bool rows_are_known;             /* number of rows that the document does not list */
    bool is_known[TM_SHOW_MEASURES]; /* and their sum */
};

/* A condition consists of comparisons of a field with a value or another field, joined by and, or, not, and
 * parentheses:
 *
 *     self_share_pct > 5 and (category = "copy" or name ~ loop) and not source is null
 *
 * Operators: = == != <> < <= > >=, ~ (contains, any case), !~ (does not), is null, is not null; && || ! for and, or,
 * not.  Numbers may have a unit of their field's kind (10us, 5%, 1GiB), including a field whose unit is in its row.
 * Strings are quoted, or bare if they are one word.  A null field matches no comparison: only `is null` holds.  A list
 * matches if any element does.  The time is linear in the length; the memory is fixed. */
enum { TM_WHERE_BYTES = 4096, TM_WHERE_TERMS = 256, TM_WHERE_DEPTH = 32 };

/* Filter, sort and cut.
 * owns:   the caller; tm_show_rows_free
 * errors: TM_ERR_USAGE  of a condition: the place, the reason, and a near field; of an order; TM_ERR_LIMIT */
void tm_show_rows_choose(struct tm_show_rows *rows, struct tm_run *run, const struct tm_show_table *table,
                         const struct tm_show_query *query);
void tm_show_rows_free(struct tm_show_rows *rows);

#endif
