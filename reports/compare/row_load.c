/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a comparison out of the sections of the summaries. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare/row_table.h"
#include "reports/format/format.h"

/* Where a section has its rows, and which members the figures are. */
struct section {
    const char *key, *by;
    const char
        *list; /* an array of rows, or an object of them by name; NULL = the section itself */
    const char *name, *group, *path, *ps, *stddev /* of ps of one execution */, *count,
        *bytes; /* NULL = none */
    const char *rest;                                     /* what was not listed */
    const char *test_part;
    bool is_by_category, is_of_session, is_whole, has_path /* of the framework, and no other one */;
};

static const struct section sections[ROW_KINDS] = {
    [ROWS_KERNELS] = { .key = "kernels",
                       .by = "kernel",
                       .list = "by_name",
                       .name = "name",
                       .group = "category",
                       .ps = "total_ps",
                       .stddev = "stddev_ps",
                       .count = "count",
                       .rest = "by_name_rest",
                       .is_by_category = true },
    [ROWS_OPS] = { .key = "ops",
                   .by = "operation",
                   .list = "rows",
                   .name = "name",
                   .group = "category",
                   .path = "op",
                   .ps = "self_ps",
                   .stddev = "self_stddev_ps",
                   .count = "count",
                   .rest = "rest",
                   .is_by_category = true,
                   .has_path = true },
    [ROWS_SCOPES] = { .key = "scopes",
                      .by = "scope",
                      .list = "rows",
                      .name = "path",
                      .group = "pass",
                      .path = "pass",
                      .ps = "self_ps",
                      .count = "count",
                      .rest = "rest" },
    [ROWS_COLLECTIVES] = { .key = "collectives",
                           .by = "kind and message size",
                           .list = "rows",
                           .name = "kind",
                           .ps = "total_ps",
                           .count = "count",
                           .bytes = "bytes",
                           .rest = "rest" },
    [ROWS_TRANSFERS] = { .key = "transfers",
                         .by = "direction",
                         .list = "by_direction",
                         .name = "direction",
                         .ps = "total_ps",
                         .count = "count",
                         .bytes = "bytes" },
    [ROWS_GAPS] = { .key = "gaps",
                    .by = "cause",
                    .list = "by_cause",
                    .ps = "total_ps",
                    .count = "count",
                    .test_part = "idle_",
                    .is_whole = true },
    [ROWS_COMPILE] = { .key = "compile",
                       .by = "program",
                       .list = "events",
                       .name = "module",
                       .ps = "dur_ps",
                       .is_of_session = true },
};

static double number(const struct tm_value *row, const char *key)
{
    const struct tm_value *value = key ? tm_get(row, key) : NULL;

    return tm_has(value) ? tm_double(value) : NAN;
}

/* The row of the section's list of families that it belongs to; NULL = not listed, or it has none. */
static const struct tm_value *family_of(const struct tm_value *section, const struct tm_value *row)
{
    const struct tm_value *place = tm_get(row, "family");

    return tm_type_of(place) == TM_INT && tm_int(place) >= 0
               ? tm_at(tm_get(section, "families"), (size_t)tm_int(place)) : NULL;
}

static tm_status load_row(struct comparison *c, struct tm_row_table *table, const struct section *s,
                          size_t side, size_t run, const struct tm_value *row, const char *key)
{
    const struct tm_value *family = family_of(tm_get(c->side[side].run[run].summary, s->key), row);
    char name[128], size[TM_FORMAT_BYTES];
    struct row_figures f = {
        .name = s->name ? tm_text(tm_get(row, s->name)) : key,
        .path = s->path ? tm_text(tm_get(row, s->path)) : "",
        .group = s->group ? tm_text(tm_get(row, s->group)) : "",
        .family = tm_text(tm_get(family, "family")),
        .family_path = tm_text(tm_get(family, "op")),
        .ps = number(row, s->ps),
        .count = s->count ? number(row, s->count) : 1,
        .bytes = number(row, s->bytes),
        .stddev_ps = number(row, s->stddev),
    };

    if (!isfinite(f.ps) || !isfinite(f.count))
        return TM_OK;
    if (strcmp(s->key, "transfers") == 0 && f.count == 0)
        return TM_OK;
    if (!*f.name)
        f.name = "(not known)";
    if (strcmp(s->key, "collectives") == 0) {
        f.pattern = f.name;
        f.group = f.name;
        if (tm_has(tm_get(row, "message_bytes"))) {
            (void)snprintf(name, sizeof(name), "%.60s, %s", f.name,
                           tm_format_bytes(size, tm_double(tm_get(row, "message_bytes"))));
            f.name = name;
        }
    }
    f.mean_ps = f.count > 0 ? f.ps / f.count : NAN;
    if (s->stddev && f.count == 1) /* one does not differ from itself */
        f.stddev_ps = 0;
    return row_table_add(c, table, side, run, &f);
}

static tm_status load_run(struct comparison *c, struct tm_row_table *table, const struct section *s,
                          size_t side, size_t run)
{
    const struct tm_value *summary = c->side[side].run[run].summary;
    const struct tm_value *section = tm_get(summary, s->key), *list = tm_get(section, s->list);
    const struct tm_value *rest = s->rest ? tm_get(section, s->rest) : NULL;
    const bool is_object = tm_type_of(list) == TM_OBJECT;
    const double units = s->is_of_session ? 1 : tm_device_steps(summary);
    double least = INFINITY;

    if (!list) /* not recorded: nobody knows what would be in it */
        table->floor_ps[side] = INFINITY;
    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *row = is_object ? tm_value_at(list, i) : tm_at(list, i);
        const double ps = number(row, s->ps) / units;
        const tm_status st =
            load_row(c, table, s, side, run, row, is_object ? tm_key_at(list, i) : "");

        if (st != TM_OK)
            return st;
        if (ps < least)
            least = ps;
    }
    if (tm_int(tm_get(rest, "rows")) > 0) {
        table->rest_ps[side] += number(rest, s->ps) / units / (double)c->side[side].runs;
        table->rest_rows = table->rest_rows > (size_t)tm_int(tm_get(rest, "rows"))
                               ? table->rest_rows
                               : (size_t)tm_int(tm_get(rest, "rows"));
        if (isfinite(least) && least > table->floor_ps[side])
            table->floor_ps[side] = least;
    }
    return TM_OK;
}

static size_t rows_at_most(const struct comparison *c, const struct section *s)
{
    size_t rows = 0;

    for (size_t side = 0; side < c->sides; side++) {
        for (size_t run = 0; run < c->side[side].runs; run++)
            rows += tm_length(tm_get(tm_get(c->side[side].run[run].summary, s->key), s->list));
    }
    return rows;
}

static tm_status make_room(struct comparison *c, struct tm_row_table *table, size_t rows)
{
    for (table->slots = 16; table->slots < 2 * rows; table->slots *= 2)
        ;
    table->slot = tm_room_take(&c->room, table->slots, sizeof(struct tm_row *));
    table->row = tm_room_take(&c->room, rows, sizeof(struct tm_row *));
    table->rest_ps = tm_room_take(&c->room, c->sides, sizeof(double));
    table->floor_ps = tm_room_take(&c->room, c->sides, sizeof(double));
    return table->slot && table->row && table->rest_ps && table->floor_ps ? TM_OK
                                                                          : c->run->error.status;
}

static const char *reason(const struct comparison *c, const struct section *s)
{
    for (size_t side = 0; side < c->sides; side++) {
        const struct tm_value *section = tm_get(c->side[side].run[0].summary, s->key);

        if (section && *tm_why(section))
            return tm_why(section);
    }
    return "no side has any";
}

struct tm_row_table *row_table_load(struct comparison *c, enum row_kind kind)
{
    const struct section *s = &sections[kind];
    struct tm_row_table *table = tm_room_take(&c->room, 1, sizeof(*table));
    tm_status st = TM_OK;

    if (!table)
        return NULL;
    *table = (struct tm_row_table){ .key = s->key,
                                    .by = s->by,
                                    .is_of_session = s->is_of_session,
                                    .is_by_category = s->is_by_category,
                                    .has_path = s->has_path,
                                    .is_whole = s->is_whole,
                                    .test_part = s->test_part };
    st = make_room(c, table, rows_at_most(c, s));
    for (size_t side = 0; side < c->sides && st == TM_OK; side++) {
        for (size_t run = 0; run < c->side[side].runs && st == TM_OK; run++)
            st = load_run(c, table, s, side, run);
    }
    if (st == TM_OK)
        st = row_table_match(c, table);
    if (st == TM_OK)
        st = row_table_test(c, table);
    table->why = table->rows ? NULL : reason(c, s);
    return st == TM_OK ? table : NULL;
}
