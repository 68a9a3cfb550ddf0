/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CSV_H
#define TM_CSV_H

#include "pipeline/atomic_file.h"
#include "pipeline/doc/doc.h"
#include "reports/content/table.h"

/* The report as tables for a data frame or a spreadsheet: a file for each table and each list of facts, <its id>.csv,
 * with all columns and all rows that the summary has, names in full and numbers exact; findings.csv,
 * finding-places.csv and kpis.csv; columns.csv, what the columns are; index.csv, the list of the files.
 * source: docs/report.md */
#define TM_CSV_FOLDER "csv"
#define TM_CSV_INDEX "index.csv"
#define TM_CSV_INDEX_HEADER "file,section,caption,rows,rows_not_listed"

/* in:     doc  a summary (schemas/SUMMARY.md); any section may be null or absent
 * out:    to   an empty folder; committed by the caller
 * errors: TM_ERR_OUTPUT; TM_ERR_LIMIT no memory */
tm_status tm_csv_write(struct tm_run *run, const struct tm_doc *doc, struct tm_atomic_folder *to) TM_MUST_USE;

enum { TM_CSV_KEY_BYTES = 96 };

/* The heading of a column, as a data frame wants it: [a-z0-9_], unique in its table, with the unit.  It is the last
 * part of the column's path in the summary: "total_ps", "share_pct".  Where two columns have the same last part they
 * are told by their whole paths; a figure whose path does not say its unit gets it at the end: "compute" of times is
 * "compute_ps". */
void tm_csv_key(char out[TM_CSV_KEY_BYTES], const struct tm_table *table, size_t column);

#endif
