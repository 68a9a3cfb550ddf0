/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/csv/csv_keys.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *last_part(const struct tm_column *column)
{
    const char *dot = strrchr(column->key, '.');

    return dot ? dot + 1 : *column->key ? column->key : column->title;
}

/* Another column has the same last part, of the same kind. */
static bool is_told_by_path(const struct tm_table *table, size_t column)
{
    for (size_t i = 0; i < table->columns; i++)
        if (i != column && strcmp(last_part(&table->column[i]), last_part(&table->column[column])) == 0)
            return true;
    return false;
}

static const char *unit_of(enum tm_cell_kind kind)
{
    switch (kind) {
    case TM_CELL_TIME:
    case TM_CELL_MOMENT:
        return "_ps";
    case TM_CELL_BYTES:
        return "_bytes";
    case TM_CELL_PCT:
        return "_pct";
    case TM_CELL_RATE:
        return "_bytes_per_s";
    case TM_CELL_FLOP_RATE:
        return "_per_s"; /* paths of them say that they are FLOP */
    default:
        return "";
    }
}

/* Without what stands before and behind the letters. */
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

void tm_csv_key(char out[TM_CSV_KEY_BYTES], const struct tm_table *table, size_t column)
{
    char other[TM_CSV_KEY_BYTES];
    unsigned same = 1;
    size_t used;

    make(out, table, column);
    for (size_t i = 0; i < column; i++) {
        make(other, table, i);
        same += strcmp(other, out) == 0;
    }
    used = strlen(out);
    if (same > 1)
        (void)snprintf(out + used, TM_CSV_KEY_BYTES - used, "_%u", same);
}
