/* SPDX-License-Identifier: Apache-2.0 */
/* The folder csv.  Rows are written immediately; only one line is in memory.  The first failure is kept, and nothing is
 * written after it. */
#include "reports/media.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/atomic_file.h"
#include "pipeline/doc/doc.h"
#include "pipeline/strings.h"
#include "reports/content/content.h"
#include "reports/format/format.h"

static const char *last_part(const struct tm_column *column)
{
    const char *dot = strrchr(column->key, '.');

    return dot ? dot + 1 : *column->key ? column->key : column->title;
}

/* Another column of the same kind has the same last part. */
static bool is_told_by_path(const struct tm_table *table, size_t column)
{
    for (size_t i = 0; i < table->columns; i++)
        if (i != column && strcmp(last_part(&table->column[i]), last_part(&table->column[column])) == 0)
            return true;
    return false;
}

static const char *unit_of(enum tm_doc_kind kind)
{
    switch (kind) {
    case TM_DOC_TIME:
    case TM_DOC_MOMENT:
        return "_ps";
    case TM_DOC_BYTES:
        return "_bytes";
    case TM_DOC_PERCENT:
        return "_pct";
    case TM_DOC_RATE:
        return "_bytes_per_s";
    case TM_DOC_FLOP_RATE:
        return "_per_s"; /* paths of them say that they are FLOP */
    default:
        return "";
    }
}

/* Without leading and trailing characters that are not letters. */
static void clean(char *text)
{
    size_t used = 0;

    for (const char *at = text; *at; at++) {
        const bool is_plain = isalnum((unsigned char)*at) != 0;

        if (is_plain)
            text[used++] = (char)tolower((unsigned char)*at);
        else if (used > 0 && text[used - 1] != '_')
            text[used++] = '_';
    }
    while (used > 0 && text[used - 1] == '_')
        used--;
    text[used] = 0;
}

static void make(char out[TM_CSV_KEY_BYTES], const struct tm_table *table, size_t column)
{
    const struct tm_column *of = &table->column[column];
    const char *unit = unit_of(tm_column_kind(of));
    size_t used;

    (void)snprintf(out, TM_CSV_KEY_BYTES - 24, "%s",
                   is_told_by_path(table, column) && *of->key ? of->key : last_part(of));
    clean(out);
    if (!*out)
        (void)snprintf(out, TM_CSV_KEY_BYTES, "column");
    used = strlen(out);
    if (*unit && !strstr(out, unit) && strcmp(out, unit + 1) != 0)
        (void)snprintf(out + used, TM_CSV_KEY_BYTES - used, "%s", unit);
}

void tm_csv_keys(char (*out)[TM_CSV_KEY_BYTES], const struct tm_table *table)
{
    for (size_t i = 0; i < table->columns; i++)
        make(out[i], table, i);
    for (size_t i = table->columns; i-- > 0;) { /* from the end, so that the previous keys are still unchanged */
        const size_t used = strlen(out[i]);
        unsigned same = 1;

        for (size_t k = 0; k < i; k++)
            same += strcmp(out[k], out[i]) == 0;
        if (same > 1)
            (void)snprintf(out[i] + used, TM_CSV_KEY_BYTES - used, "_%u", same);
    }
}

enum { CAPTION_BYTES = 512, FILE_BYTES = 64 };

struct csv {
    struct tm_run *run;
    const struct tm_value *summary;
    struct tm_atomic_folder *folder;
    const struct tm_section *section;
    FILE *index, *columns, *findings, *places;
    FILE *file;                                      /* that cells are written to */
    bool is_first;                                   /* the next cell is the first of its line */
    size_t finding_count, place_count, column_count; /* lines of files that are written piece by piece */
};

/* --- cells --- */

static void put_bytes(void *to, const char *bytes, size_t length)
{
    (void)fwrite(bytes, 1, length, to);
}

static void put_comma(struct csv *c)
{
    if (!c->is_first)
        (void)fputc(',', c->file);
    c->is_first = false;
}

static void put_text(struct csv *c, const char *text)
{
    const size_t length = strlen(text);

    put_comma(c);
    if (tm_csv_is_plain(text, length))
        put_bytes(c->file, text, length);
    else
        tm_csv_quote(put_bytes, c->file, text, length, c->run->raw);
}

/* Captions may contain line breaks; readers that read the index by line need one line. */
static void put_caption(struct csv *c, const char *caption)
{
    char visible[CAPTION_BYTES];

    tm_format_text(visible, sizeof(visible), caption);
    put_text(c, visible);
}

static void put_int(struct csv *c, int64_t number)
{
    put_comma(c);
    (void)fprintf(c->file, "%" PRId64, number);
}

/* Texts as lines; for objects, their number. */
static void put_list(struct csv *c, const struct tm_value *list)
{
    char number[TM_FORMAT_BYTES];

    if (tm_type_of(tm_at(list, 0)) == TM_OBJECT) {
        put_int(c, (int64_t)tm_length(list));
        return;
    }
    put_comma(c);
    if (tm_length(list) == 0)
        return;
    (void)fputc('"', c->file);
    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_cell cell = tm_cell_of_value(TM_DOC_WORD, tm_at(list, i));
        const char *text = tm_type_of(cell.value) == TM_STRING ? tm_text(cell.value) : tm_cell_exact(&cell, number);

        if (i > 0)
            (void)fputc('\n', c->file);
        tm_csv_put_quoted(put_bytes, c->file, text, strlen(text), c->run->raw);
    }
    (void)fputc('"', c->file);
}

static void put_cell(struct csv *c, const struct tm_cell *cell)
{
    const enum tm_type type = cell->from == TM_FROM_VALUE ? tm_type_of(cell->value) : TM_NULL;
    char exact[TM_FORMAT_BYTES];

    if (cell->from == TM_FROM_TEXT) {
        put_text(c, cell->text);
    } else if (type == TM_STRING) {
        put_text(c, tm_text(cell->value));
    } else if (type == TM_BOOL) {
        put_text(c, tm_is(cell->value) ? "true" : "false");
    } else if (type == TM_ARRAY) {
        put_list(c, cell->value);
    } else {
        put_comma(c);
        (void)fputs(tm_cell_exact(cell, exact), c->file);
    }
}

static void put_value(struct csv *c, const struct tm_value *value)
{
    const struct tm_cell cell = tm_cell_of_value(TM_DOC_WORD, value);

    put_cell(c, &cell);
}

static void end_line(struct csv *c)
{
    (void)fputc('\n', c->file);
    c->is_first = true;
}

/* --- files --- */

/* Open a file; NULL after a failure. */
static FILE *open_file(struct csv *c, const char *name)
{
    c->file = tm_failed(c->run) ? NULL : tm_atomic_folder_add(c->folder, name);
    c->is_first = true;
    return c->file;
}

static void close_file(struct csv *c, FILE *file)
{
    if (file)
        tm_atomic_folder_close(c->folder, file);
}

static FILE *open_with_header(struct csv *c, const char *name, const char *header)
{
    FILE *file = open_file(c, name);

    if (file)
        (void)fprintf(file, "%s\n", header);
    return file;
}

/* A line of the index. */
static void list_file(struct csv *c, const char *name, const char *caption, int64_t rows, int64_t left_out)
{
    if (tm_failed(c->run))
        return;
    c->file = c->index;
    put_text(c, name);
    put_text(c, c->section ? c->section->id : "");
    put_caption(c, caption);
    put_int(c, rows);
    put_int(c, left_out);
    end_line(c);
}

/* --- tables --- */

/* For a tree, the depth of a row is a column, appended if the table has none. */
static bool adds_depth(const struct tm_table *table)
{
    for (size_t i = 0; i < table->columns; i++)
        if (table->depth && strcmp(table->column[i].key, table->depth) == 0)
            return false;
    return table->depth != NULL;
}

static void describe_column(struct csv *c, const char *name, const struct tm_table *table, size_t column,
                            const char *key)
{
    put_text(c, name);
    put_text(c, key);
    put_text(c, table->column[column].title);
    put_text(c, tm_doc_unit(tm_column_kind(&table->column[column])));
    end_line(c);
    c->column_count++;
}

static void put_header(struct csv *c, const struct tm_table *table, char (*keys)[TM_CSV_KEY_BYTES])
{
    for (size_t i = 0; i < table->columns; i++)
        put_text(c, keys[i]);
    if (adds_depth(table))
        put_text(c, "depth");
    end_line(c);
}

static void put_row(struct csv *c, const struct tm_table *table, size_t row)
{
    for (size_t i = 0; i < table->columns; i++) {
        const struct tm_cell cell = tm_table_cell(table, row, i);

        put_cell(c, &cell);
    }
    if (adds_depth(table))
        put_int(c, tm_table_depth(table, row));
    end_line(c);
}

static void write_rows(struct csv *c, const struct tm_table *table, const char *caption)
{
    char name[FILE_BYTES], keys[TM_TABLE_COLUMNS_MOST][TM_CSV_KEY_BYTES];
    FILE *file;

    (void)snprintf(name, sizeof(name), "%.58s.csv", table->id);
    file = open_file(c, name);
    if (!file)
        return;
    tm_csv_keys(keys, table);
    put_header(c, table, keys);
    for (size_t r = 0; r < tm_table_rows(table); r++)
        put_row(c, table, r);
    close_file(c, file);
    list_file(c, name, caption, (int64_t)tm_table_rows(table), tm_table_left_out(table, tm_table_rows(table)));
    c->file = c->columns;
    for (size_t i = 0; i < table->columns && !tm_failed(c->run); i++)
        describe_column(c, name, table, i, keys[i]);
}

void tm_csv_put_table(struct tm_run *run, const struct tm_table *table, FILE *to)
{
    struct csv c = { .run = run, .file = to, .is_first = true };
    const size_t bytes = table->columns * TM_CSV_KEY_BYTES;
    char(*const keys)[TM_CSV_KEY_BYTES] = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);

    if (!keys)
        return;
    tm_csv_keys(keys, table);
    put_header(&c, table, keys);
    for (size_t r = 0; r < tm_table_rows(table); r++)
        put_row(&c, table, r);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, keys, bytes);
}

static void put_table(void *to, const struct tm_table *table)
{
    write_rows(to, table, table->caption);
}

static void put_facts(void *to, const struct tm_table *facts)
{
    struct csv *c = to;
    char caption[CAPTION_BYTES];

    (void)snprintf(caption, sizeof(caption), "%s: single figures", c->section->title);
    write_rows(c, facts, caption);
}

static void begin_section(void *to, const struct tm_section *section)
{
    ((struct csv *)to)->section = section;
}

/* --- findings and key figures --- */

static void put_places(struct csv *c, const struct tm_value *finding, size_t number)
{
    const struct tm_value *where = tm_get(finding, "where");

    c->file = c->places;
    for (size_t i = 0; i < tm_length(where); i++) {
        put_int(c, (int64_t)number);
        put_value(c, tm_get(finding, "id"));
        put_value(c, tm_get(tm_at(where, i), "begin_ps"));
        put_value(c, tm_get(tm_at(where, i), "end_ps"));
        put_value(c, tm_get(tm_at(where, i), "device"));
        end_line(c);
        c->place_count++;
    }
}

static void put_finding(void *to, const struct tm_value *finding, size_t number)
{
    static const char *const keys[] = { "id",        "severity", "title", "at_stake_ps", "idle_ps", "share_pct",
                                        "window_ps", "value",    "unit",  "limit",       "cause" };
    struct csv *c = to;
    const struct tm_section *section = tm_section_of_finding(c->summary, finding);

    if (tm_failed(c->run))
        return;
    c->file = c->findings;
    put_int(c, (int64_t)number);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        put_value(c, tm_get(finding, keys[i]));
    put_text(c, section ? section->id : "");
    put_list(c, tm_get(finding, "evidence"));
    put_list(c, tm_get(finding, "fix"));
    end_line(c);
    c->finding_count++;
    put_places(c, finding, number);
}

static void write_kpis(struct csv *c)
{
    static const char *const keys[] = { "value", "unit", "band", "good", "bad", "finding" };
    const size_t count = tm_kpi_count(c->summary);
    FILE *file = open_with_header(c, "kpis.csv", "id,title,value,unit,band,good,bad,finding,why,definition");
    struct tm_key_figure kpi;

    for (size_t k = 0; file && k < count; k++) {
        tm_kpi_at(&kpi, c->summary, k);
        put_text(c, kpi.id);
        put_text(c, kpi.title);
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
            put_value(c, tm_get(kpi.kpi, keys[i]));
        put_text(c, kpi.why);
        put_text(c, kpi.definition);
        end_line(c);
    }
    close_file(c, file);
    list_file(c, "kpis.csv", "Key figures", (int64_t)count, 0);
}

/* --- the folder --- */

static const struct tm_medium csv_medium = {
    .room = { .is_data = true, .rows = SIZE_MAX },
    .section = begin_section,
    .facts = put_facts,
    .table = put_table,
    .finding = put_finding,
};

tm_status tm_csv_write(struct tm_run *run, const struct tm_doc *doc, struct tm_atomic_folder *to)
{
    struct csv c = { .run = run, .summary = tm_doc_root(doc), .folder = to };

    c.index = open_with_header(&c, TM_CSV_INDEX, TM_CSV_INDEX_HEADER);
    c.columns = open_with_header(&c, "columns.csv", "file,column,title,unit");
    c.findings = open_with_header(
        &c, "findings.csv",
        "number,id,severity,title,at_stake_ps,idle_ps,share_pct,window_ps,value,unit,limit,cause,section,"
        "evidence,fix");
    c.places = open_with_header(&c, "finding-places.csv", "number,id,begin_ps,end_ps,device");
    write_kpis(&c);
    if (!tm_failed(run))
        tm_content_say(&(struct tm_content){ .summary = c.summary, .medium = &csv_medium, .to = &c, .run = run });
    c.section = NULL;
    list_file(&c, "findings.csv", "Findings", (int64_t)c.finding_count, 0);
    list_file(&c, "finding-places.csv", "Time ranges of findings", (int64_t)c.place_count, 0);
    list_file(&c, "columns.csv", "Column definitions", (int64_t)c.column_count, 0);
    close_file(&c, c.places);
    close_file(&c, c.findings);
    close_file(&c, c.columns);
    close_file(&c, c.index);
    return run->error.status;
}
