/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BODY_CELLS_H
#define TM_BODY_CELLS_H

#include "pipeline/attributes.h"
#include "reports/body/body.h"

/* Tables made of values of the summary.  A value that is null, or not there, becomes "-", and its
 * reason is said once, under the table. */
void tm_body_table(struct tm_body *body, bool headed); /* begin; then tm_sheet_column */
void tm_body_end_table(struct tm_body *body);          /* print it, with the reasons */

void tm_cell_time(struct tm_body *body, const struct tm_value *ps);
void tm_cell_time_sum(struct tm_body *body,
                      const struct tm_value *parts); /* an object of times, or one time */
void tm_cell_moment(struct tm_body *body, const struct tm_value *ps); /* a point in time */
void tm_cell_count(struct tm_body *body, const struct tm_value *count);
void tm_cell_bytes(struct tm_body *body, const struct tm_value *bytes);
void tm_cell_rate(struct tm_body *body, const struct tm_value *bytes_per_s);
void tm_cell_flop_rate(struct tm_body *body, const struct tm_value *flop_per_s);
void tm_cell_pct(struct tm_body *body, const struct tm_value *pct);
void tm_cell_text(struct tm_body *body, const struct tm_value *text); /* also a number or a bool */
void tm_cell_device(struct tm_body *body, const struct tm_value *id); /* shown_names.h */
void tm_cell_host(struct tm_body *body, const struct tm_value *host);
void tm_cell_figure(struct tm_body *body, const struct tm_value *value, const char *unit);
void tm_cell_share(struct tm_body *body, const struct tm_value *part, const struct tm_value *whole);

void tm_cell_time_or_blank(struct tm_body *body,
                           const struct tm_value *ps); /* null: blank, no reason */
void tm_cell_pct_or_blank(struct tm_body *body, const struct tm_value *pct);
void tm_cell_text_or_blank(struct tm_body *body, const struct tm_value *text);

/* A column of rows of the summary: its title, the path in a row, and how what lies there is shown. */
struct tm_body_column {
    const char *title;
    const char *key; /* NULL = the row itself */
    enum tm_column_kind kind;
    void (*cell)(struct tm_body *body, const struct tm_value *value);
};
#define TM_COLUMNS(list) (list), sizeof(list) / sizeof((list)[0])

/* A table of such columns: begin, one row more (false: the table is full), or all of it with its first rows. */
void tm_body_columns(struct tm_body *body, const struct tm_body_column *columns, size_t count);
bool tm_body_row(struct tm_body *body, const struct tm_body_column *columns, size_t count, const struct tm_value *row);
void tm_body_rows(struct tm_body *body, const struct tm_body_column *columns, size_t count,
                  const struct tm_value *rows, size_t most);

/* A fact: a row "label  value" of a table without titles.  A null reads "not recorded (why)". */
void tm_facts(struct tm_body *body);                         /* begin */
void tm_fact_begin(struct tm_body *body, const char *label); /* one cell is then to be added */
/* false: the row was written as not recorded, nothing is to be added */
bool tm_fact_has(struct tm_body *body, const char *label, const struct tm_value *value);
void tm_fact_time(struct tm_body *body, const char *label, const struct tm_value *ps);
void tm_fact_count(struct tm_body *body, const char *label, const struct tm_value *count);
void tm_fact_text(struct tm_body *body, const char *label, const struct tm_value *text);
void tm_fact_pct(struct tm_body *body, const char *label, const struct tm_value *pct);

/* A paragraph, formatted, cut at 1 KiB. */
void tm_old_say(struct tm_body *body, enum tm_tone tone, const char *format, ...) TM_PRINTF(3, 4);
void tm_say_item(struct tm_body *body, const char *label, const char *format, ...) TM_PRINTF(3, 4);

/* "What: not recorded (why)" as a paragraph.  out: true when the section is null or not there */
bool tm_old_say_missing(struct tm_body *body, const struct tm_value *section, const char *what);

/* The run has several hosts, so that tables name them. */
bool tm_body_has_hosts(const struct tm_body *body);

/* Shorthand. */
const struct tm_value *tm_old_of(const struct tm_body *body, const char *path);

#endif
