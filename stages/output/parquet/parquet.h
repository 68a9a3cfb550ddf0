/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PARQUET_H
#define TM_PARQUET_H

#include "pipeline/run.h"
#include "stages/output/file/out_file.h"

/* Tables as Apache Parquet, in bounded memory: rows are collected in row groups, each column of a group is one page,
 * compressed with zstd.  Integers are DELTA_BINARY_PACKED, so that times that increase take few bits; strings have a
 * dictionary for each group, or are PLAIN where most of them differ.  Each column has its minimum, maximum and number
 * of nulls for each group.
 * source: the Parquet format 2.10, parquet.thrift; Thrift's compact protocol */

enum tm_parquet_type { TM_PARQUET_INT64, TM_PARQUET_DOUBLE, TM_PARQUET_TEXT };

struct tm_parquet_column {
    const char *name;
    enum tm_parquet_type type;
    const char *unit, *meaning; /* into the file's metadata, "NAME.unit", "NAME.meaning"; NULL or "" = none */
};

/* A fact about the file: into its metadata. */
struct tm_parquet_fact {
    const char *key, *value;
};

enum { TM_PARQUET_COLUMNS_MOST = 512 };

struct tm_parquet;

/* in:     columns  count of them; kept, as their strings are
 * owns:   the caller frees it with tm_parquet_free, before the file
 * errors: NULL, with the error in run->error */
struct tm_parquet *tm_parquet_new(struct tm_run *run, const struct tm_parquet_column *columns, size_t count,
                                  struct tm_out_file *file) TM_MUST_USE;

/* Values of the current row, one for a column; a column that gets none is null.  Strings are UTF-8; one that is longer
 * than a row group has room for is null, and tallied. */
void tm_parquet_int(struct tm_parquet *p, size_t column, int64_t value);
void tm_parquet_double(struct tm_parquet *p, size_t column, double value);
void tm_parquet_text(struct tm_parquet *p, size_t column, const char *text, size_t length);
void tm_parquet_end_row(struct tm_parquet *p);

/* Write what is left, and the footer. */
void tm_parquet_finish(struct tm_parquet *p, const struct tm_parquet_fact *facts, size_t fact_count);
void tm_parquet_free(struct tm_parquet *p); /* tolerates NULL */

#endif
