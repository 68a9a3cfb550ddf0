/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MEDIA_H
#define TM_MEDIA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/atomic_file.h"
#include "pipeline/doc/doc.h"
#include "pipeline/error.h"
#include "pipeline/options.h"

/* No line of report.txt is wider, counted in columns of a terminal. */
enum { TM_TEXT_COLUMNS = 100 };

/* Write report.txt: the summary as plain text for terminals and mails.
 * in:     doc  a summary (schemas/SUMMARY.md); any section may be null or absent
 * out:    to   UTF-8 without control characters, lines of at most TM_TEXT_COLUMNS columns
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT writing to `to` failed */
tm_status tm_text_write(struct tm_run *run, const struct tm_doc *doc, FILE *to);

/* Print a clean text (tm_format_text) in lines of at most TM_TEXT_COLUMNS columns, starting at the column `indent`,
 * where the cursor is. */
void tm_text_put_wrapped(FILE *to, const char *text, int indent);

struct tm_sheet_source;

/* Print the sheets of a source as one table.  No line is wider than `columns`: columns at the end are dropped if
 * names would be cut too far; with `keeps_all`, none is, and lines are as wide as necessary.
 * out:    left_out  titles of what was dropped; TM_NOTE_BYTES
 * errors: TM_ERR_LIMIT no memory */
tm_status tm_text_put_sheets(struct tm_run *run, const struct tm_sheet_source *source, int columns, bool keeps_all,
                             char *left_out, FILE *to);

/* The same as Markdown, with any number of rows, never cut. */
tm_status tm_markdown_put_sheets(struct tm_run *run, const struct tm_sheet_source *source, FILE *to);

/* A comment on GitHub has 65,536 characters at most; some room is left for text around the report. */
enum { TM_MARKDOWN_BYTES_MOST = 60000 };

/* Write report.md, for pull requests, issues and chats: verdict, key figures and findings visible, the tables of the
 * sections folded.  Sections that would make it longer than TM_MARKDOWN_BYTES_MOST are left out, and named.
 * in:     doc  a summary (schemas/SUMMARY.md); any section may be null or absent
 * out:    to   GitHub Flavored Markdown, UTF-8; no HTML but details and summary
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT writing to `to` failed */
tm_status tm_markdown_write(struct tm_run *run, const struct tm_doc *doc, FILE *to);

/* A short form of a night for pull requests and chats: failures first, then runs not assessed or without a report;
 * passed ones are folded.  At most TM_MARKDOWN_BYTES_MOST bytes: rows that do not fit are counted.
 * in:     gates  as tm_nightly_gates fills it
 *         night  its document, for regressions
 *         title  NULL = none
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT */
tm_status tm_nightly_markdown_write(struct tm_run *run, const struct tm_value *gates, const struct tm_value *night,
                                    const char *title, FILE *to) TM_MUST_USE;

/* Markdown as GitHub renders it, into a buffer of fixed size.  Trace text enters only here.  Text with special meaning
 * in Markdown or on GitHub is put in inline code: it cannot open HTML, a link, an image, or a formula, mention a person
 * (@name), refer to an issue (#12), a commit, or a pull request, or break a table.  Invisible characters are made
 * visible.
 * source: GitHub Flavored Markdown 0.29, and what GitHub and GitLab link in comments */
struct tm_mdw {
    char *at;
    size_t bytes, used; /* used < bytes; terminated */
    bool is_full;       /* something did not fit; nothing is added any more */
};

/* Names are truncated in the middle, sentences at the end. */
enum { TM_MD_NAME_MOST = 64, TM_MD_PROSE_BYTES = 16384 };

/* owns: room is the caller's */
void tm_mdw_init(struct tm_mdw *w, char *room, size_t bytes);

/* Markdown of the program itself. */
void tm_mdw_raw(struct tm_mdw *w, const char *markdown);

/* Sentences of any bytes, as one line: words with a meaning in Markdown become inline code.
 * in:     in_table  as the text of a cell */
void tm_mdw_prose(struct tm_mdw *w, const char *text, bool in_table);

/* A name of any bytes as inline code; nothing where it is "". */
void tm_mdw_name(struct tm_mdw *w, const char *name, bool in_table);

/* Text between the tags of the program itself. */
void tm_mdw_html(struct tm_mdw *w, const char *text);

/* Write report.html: one page that needs nothing else, no network and no script.
 * in:     doc  a summary (schemas/SUMMARY.md); any section may be null or absent
 * out:    to   UTF-8; the same bytes for the same summary
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT writing to `to` failed */
tm_status tm_html_write(struct tm_run *run, const struct tm_doc *doc, FILE *to);

/* Write index.html: the parts of a trace, their times, and how to open them.  It needs no other file, no network, and
 * no script; its links lead to the parts beside it.
 * in:     doc  a list of parts (schemas/split.schema.json)
 * out:    to   UTF-8; the same bytes for the same list
 * errors: TM_ERR_OUTPUT writing to `to` failed */
tm_status tm_html_parts_write(struct tm_run *run, const struct tm_doc *doc, FILE *to);

/* The maximum number of pages, since libharu keeps the document in memory.  The last page says so. */
enum { TM_PDF_PAGES = 60 };

/* Write report.pdf: a self-contained first page, the contents, the sections of reports/content.  The same summary
 * gives the same bytes; SOURCE_DATE_EPOCH, if it is set, is the date of the document, which otherwise has none.
 * in:     doc  a summary (schemas/SUMMARY.md); any section may be null or absent
 * out:    to   a PDF file with its fonts; characters that they lack are written as escapes (\u4e2d)
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT writing to `to` failed */
tm_status tm_pdf_write(struct tm_run *run, const struct tm_doc *doc, enum tm_paper paper, FILE *to);

struct tm_table;

/* The report as tables for a data frame or a spreadsheet: a file for each table and each list of facts, <its id>.csv,
 * with all columns and all rows that the summary has, names in full and numbers exact; findings.csv,
 * finding-places.csv and kpis.csv; columns.csv, the descriptions of the columns; index.csv, the list of files.
 * source: docs/report.md */
#define TM_CSV_FOLDER "csv"
#define TM_CSV_INDEX "index.csv"
#define TM_CSV_INDEX_HEADER "file,section,caption,rows,rows_not_listed"

/* in:     doc  a summary (schemas/SUMMARY.md); any section may be null or absent
 * out:    to   an empty folder; committed by the caller
 * errors: TM_ERR_OUTPUT; TM_ERR_LIMIT no memory */
tm_status tm_csv_write(struct tm_run *run, const struct tm_doc *doc, struct tm_atomic_folder *to);

enum { TM_CSV_KEY_BYTES = 96 };

/* Column headings for data frames: [a-z0-9_], unique in the table, with the unit.  Each is the last part of the
 * column's path in the summary: "total_ps", "share_pct".  If two columns have the same last part, their full paths are
 * used; a figure without a unit in its path gets it as a suffix: "compute" of times is "compute_ps". */
void tm_csv_keys(char (*out)[TM_CSV_KEY_BYTES], const struct tm_table *table);

/* A single table as CSV.  Check ferror() for write errors. */
void tm_csv_put_table(struct tm_run *run, const struct tm_table *table, FILE *to);

/* Write scopes.collapsed: device time by scope as folded stacks, one per line: frames joined by ';', a space, whole
 * nanoseconds of self time.  The first frame is the pass: "forward;train_step;block_0;mlp 12345".  The numbers add up
 * to all device time of operations.  If scopes are not recorded, the frames are "(no scopes recorded)", the category,
 * and the name of each operation. flamegraph.pl, speedscope, and others read it.  In names a space becomes '_' and ';'
 * becomes ':'; invisible characters are made visible.
 * in:     doc  a summary (schemas/SUMMARY.md)
 * out:    to   nothing if the summary has no operations on devices
 * errors: TM_ERR_OUTPUT writing to `to` failed
 * source: the folded format of flamegraph.pl, github.com/brendangregg/FlameGraph */
tm_status tm_collapsed_write(struct tm_run *run, const struct tm_doc *doc, FILE *to);

#endif
