/* SPDX-License-Identifier: Apache-2.0 */
/* The table of thresholds in `config show`. */
#include "pipeline/commands/config_thresholds.h"

#include <stdio.h>
#include <string.h>

enum { FROM_BYTES = 256, VALUE_BYTES = 48 };

tm_status tm_effective_thresholds_read(struct tm_effective_thresholds *t, const char *file, struct tm_error *error)
{
    tm_status st = tm_thresholds_init(&t->built_in, error);

    t->file = file;
    t->now = t->built_in;
    return st == TM_OK && file ? tm_thresholds_read(&t->now, file, error) : st;
}

static const char *origin(const struct tm_effective_thresholds *t, const struct tm_threshold *was,
                          const struct tm_threshold *now)
{
    return tm_threshold_equals(was, now) ? "default" : t->file;
}

/* --- for people --- */

static void print_row(const char *id, const char *good, const char *bad, const char *unit, const char *from)
{
    char clean[FROM_BYTES];

    tm_clean_text(clean, sizeof(clean), from, strlen(from));
    (void)printf("%-20s %-10s %-10s %-6s %s\n", id, good, bad, unit, clean);
}

/* "> 80"; "-" where there is no limit. */
static void tell_limit(char out[VALUE_BYTES], bool is_set, const char *sign, double limit)
{
    if (is_set)
        (void)snprintf(out, VALUE_BYTES, "%s%.6g", sign, limit);
    else
        (void)snprintf(out, VALUE_BYTES, "-");
}

void tm_effective_thresholds_print(const struct tm_effective_thresholds *t)
{
    char good[VALUE_BYTES], bad[VALUE_BYTES];

    (void)puts("");
    print_row("key figure", "good", "bad", "unit", "from");
    for (int i = 0; i < TM_KPI_COUNT; i++) {
        const struct tm_threshold *now = &t->now.kpi[i];
        const char *better = now->higher_is_better ? "> " : "< ", *worse = now->higher_is_better ? "< " : "> ";

        tell_limit(good, now->has_bands, now->good == now->bad ? "" : better, now->good);
        tell_limit(bad, now->has_bands, worse, now->bad);
        print_row(tm_kpi_id[i], good, bad, now->unit, origin(t, &t->built_in.kpi[i], now));
    }
    (void)puts("");
    print_row("limit of findings", "value", "", "unit", "from");
    for (int i = 0; i < TM_LIMIT_COUNT; i++) {
        (void)snprintf(good, sizeof(good), "%.6g", t->now.limit[i].value);
        print_row(tm_limit_id[i], good, "", t->now.limit[i].unit, origin(t, &t->built_in.limit[i], &t->now.limit[i]));
    }
}

/* --- for programs --- */

static void add_value(struct tm_value *to, const char *key, bool has, double value)
{
    if (has)
        tm_add_double(to, key, value);
    else
        tm_add_null(to, key, "no limit is set");
}

void tm_effective_thresholds_add(const struct tm_effective_thresholds *t, struct tm_value *to)
{
    struct tm_value *table = tm_add_object(to, "threshold_table"), *rows = tm_add_array(table, "kpis");

    for (int i = 0; i < TM_KPI_COUNT; i++) {
        const struct tm_threshold *now = &t->now.kpi[i];
        struct tm_value *row = tm_add_object(rows, NULL);

        tm_add_string(row, "id", tm_kpi_id[i]);
        tm_add_string(row, "unit", now->unit);
        tm_add_string(row, "direction", now->higher_is_better ? "higher" : "lower");
        add_value(row, "good", now->has_bands, now->good);
        add_value(row, "bad", now->has_bands, now->bad);
        tm_add_string(row, "from", origin(t, &t->built_in.kpi[i], now));
    }
    rows = tm_add_array(table, "limits");
    for (int i = 0; i < TM_LIMIT_COUNT; i++) {
        const struct tm_threshold *now = &t->now.limit[i];
        struct tm_value *row = tm_add_object(rows, NULL);

        tm_add_string(row, "id", tm_limit_id[i]);
        tm_add_string(row, "unit", now->unit);
        tm_add_double(row, "value", now->value);
        tm_add_string(row, "from", origin(t, &t->built_in.limit[i], now));
    }
}
