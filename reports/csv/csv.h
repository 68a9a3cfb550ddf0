/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CSV_H
#define TM_CSV_H

#include "pipeline/atomic_folder.h"
#include "pipeline/doc.h"

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

#endif
