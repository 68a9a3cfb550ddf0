/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the selected rows: their fields, the format of each, and what was left out; and HLO. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/format/format.h"
#include "reports/media.h"
#include "reports/show/show.h"

enum {
    ROWS_OF_SHEET = 128,
    LONG_ROWS_OF_SHEET = 12, /* for cells composed of several texts, which have little room in a sheet */
    LIST_BYTES = 1024,
    LINE_BYTES = 2048,
    PROSE_MOST = 1, /* columns of sentences that a table has unless they are requested */
};

struct column {
    char path[TM_SHOW_KEY];
    char title[TM_SHOW_KEY];
    const struct tm_doc_field *field;
    unsigned shape; /* of tm_column */
};

struct answer {
    struct tm_run *run;
    const struct tm_value *root;
    const struct tm_show_query *query;
    enum tm_show_form form;
    int columns_of_line;
    FILE *to;
    struct tm_show_table table;
    struct tm_show_rows rows;
    struct column column[TM_SHOW_COLUMNS];
    size_t columns;
    size_t first_more; /* columns from here on have no room in a sheet */
    bool is_chosen;    /* the columns are those of --fields */
    struct tm_column list[TM_SHOW_COLUMNS];
    struct tm_doc *row; /* the last one that was composed for JSON */
    size_t next;
};

static bool is_data(const struct answer *a)
{
    return a->form == TM_SHOW_JSON || a->form == TM_SHOW_CSV;
}

/* --- columns --- */

static struct column *add_column(struct answer *a, const char *path, const struct tm_doc_field *field)
{
    struct column *const c = &a->column[a->columns];
    const enum tm_doc_kind kind = tm_doc_kind_of(field);

    if (a->columns == TM_SHOW_COLUMNS || strlen(path) >= sizeof(c->path))
        return NULL;
    a->columns++;
    memcpy(c->path, path, strlen(path) + 1);
    (void)snprintf(c->title, sizeof(c->title), "%s", field->title && !strchr(path, '.') ? field->title : path);
    c->field = field;
    c->shape = tm_shown_kind(field);
    if (kind == TM_DOC_CHANGE || kind == TM_DOC_CHANGE_PCT)
        c->shape |= TM_CHANGE;
    return c;
}

static void add_each(void *to, const char *path, const struct tm_doc_field *field)
{
    (void)add_column(to, path, field);
}

/* Columns as in reports, if one of their sections has a table of this list. */
struct search {
    struct answer *answer;
    char list[TM_SHOW_PATH];
};

static void take_columns(void *to, const struct tm_table *table)
{
    struct search *const s = to;
    struct tm_doc_place place;

    if (s->answer->columns || !table->list || strcmp(table->list, s->list) != 0)
        return;
    for (size_t i = 0; i < table->columns; i++) {
        const struct tm_column *const from = &table->column[i];
        const char *const path = *from->key ? from->key : "name";
        struct column *c;

        if ((from->shape & TM_WIDE) || !tm_doc_place_at(&place, s->answer->table.fields, path))
            continue;
        c = add_column(s->answer, path, place.field);
        if (!c)
            continue;
        c->shape = from->shape;
        (void)snprintf(c->title, sizeof(c->title), "%s", from->title);
    }
}

static void find_report_columns(struct answer *a)
{
    struct search s = { .answer = a };
    const struct tm_medium medium = { .room = { .rows = SIZE_MAX }, .table = take_columns };
    size_t used = 0;

    for (const char *at = a->table.path; *at; at++) { /* "a[0].b" is a list of "a[*].b" */
        s.list[used++] = *at;
        if (*at != '[' || !strchr(at, ']') || used + 2 >= sizeof(s.list))
            continue;
        s.list[used++] = '*';
        s.list[used++] = ']';
        at = strchr(at, ']');
    }
    tm_content_say(&(struct tm_content){ .run = a->run, .summary = a->root, .medium = &medium, .to = &s });
}

static bool has_values(const struct answer *a, const struct column *c)
{
    for (size_t i = 0; i < a->rows.count; i++) {
        const struct tm_value *const value = tm_path(tm_at(a->table.rows, a->rows.pick[i]), c->path);
        const enum tm_type type = tm_type_of(value);

        if (tm_has(value) && (type == TM_STRING ? *tm_text(value) : type != TM_ARRAY || tm_length(value)))
            return true;
    }
    return false;
}

/* Figures are shown with their unit, so its column would be redundant. */
static bool repeats(const struct answer *a, const struct column *c)
{
    return (a->table.has_figures && strcmp(c->path, "unit") == 0) ||
           (a->table.fields == tm_doc_content_row && strcmp(c->path, "kind") == 0);
}

/* The default columns: no lists, and not all sentences. */
static void find_own_columns(struct answer *a)
{
    size_t kept = 0, sentences = 0;

    tm_show_walk(a->table.fields, "", add_each, a);
    for (size_t i = 0; i < a->columns; i++) {
        const struct column *const c = &a->column[i];
        const bool is_list = c->field->shape & TM_DOC_LIST, is_prose = tm_doc_kind_of(c->field) == TM_DOC_PROSE;

        sentences += is_prose;
        if (!is_list && !repeats(a, c) && (!is_prose || sentences <= PROSE_MOST))
            a->column[kept++] = *c;
    }
    a->columns = kept;
}

static void drop_empty(struct answer *a)
{
    size_t kept = 0;

    for (size_t i = 0; i < a->columns; i++)
        if (has_values(a, &a->column[i]) || (a->column[i].field->key && strcmp(a->column[i].field->key, "value") == 0))
            a->column[kept++] = a->column[i];
    a->columns = kept ? kept : a->columns > 0;
}

/* One of --fields; members of an object represent it where cells hold one value. */
static tm_status choose_field(struct answer *a, const char *path)
{
    struct tm_doc_place place;
    const char *const dot = strrchr(path, '.');
    char before[TM_SHOW_KEY];

    if (!tm_doc_place_at(&place, a->table.fields, path)) {
        (void)tm_fail(&a->run->error, TM_ERR_USAGE, -1, "cannot use '%.80s' for --fields: there is no such field",
                      path);
        tm_show_suggest(a->run, a->table.fields, path);
        return TM_ERR_USAGE;
    }
    const bool is_object =
        place.is_map || (tm_doc_kind_of(place.field) == TM_DOC_OBJECT && !(place.field->shape & TM_DOC_LIST));
    const size_t columns = a->columns;

    if (is_object && a->form != TM_SHOW_JSON) {
        struct tm_doc_field one[2] = { *place.field, { .key = NULL } };

        one[0].key = dot ? dot + 1 : path;
        if (!place.is_map)
            one[0].shape &= ~(unsigned)TM_DOC_MAP;
        (void)snprintf(before, sizeof(before), "%.*s", dot ? (int)(dot - path) : 0, path);
        tm_show_walk(one, before, add_each, a);
        for (size_t i = columns; i < a->columns; i++) /* its own name may point to the copy above */
            if (a->column[i].field == one)
                a->column[i].field = place.field;
    } else {
        (void)add_column(a, path, place.field);
    }
    if (a->columns == columns)
        return tm_fail(&a->run->error, TM_ERR_USAGE, -1, "cannot use '%.80s' for --fields: %s", path,
                       a->columns == TM_SHOW_COLUMNS ? "there are too many" : "it is not a single value");
    return TM_OK;
}

static tm_status choose_fields(struct answer *a, const char *text)
{
    char path[TM_SHOW_KEY];

    a->is_chosen = true;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");

        if (length == 0 || length >= sizeof(path))
            return tm_fail(&a->run->error, TM_ERR_USAGE, -1, "cannot use '%.80s' for --fields: %s", text,
                           length ? "the field name is too long" : "a field is missing");
        memcpy(path, at, length);
        path[length] = '\0';
        if (choose_field(a, path))
            return TM_ERR_USAGE;
        at += length;
        if (!*at)
            return TM_OK;
    }
}

static tm_status choose_columns(struct answer *a)
{
    if (a->query->fields) {
        if (choose_fields(a, a->query->fields))
            return TM_ERR_USAGE;
    } else if (is_data(a)) {
        tm_show_walk(a->table.fields, "", add_each, a);
    } else {
        if (!a->table.has_figures)
            find_report_columns(a);
        if (!a->columns)
            find_own_columns(a);
        drop_empty(a);
    }
    a->first_more = a->columns < TM_SHEET_COLUMNS ? a->columns : TM_SHEET_COLUMNS;
    for (size_t i = 0; i < a->columns; i++)
        a->list[i] = (struct tm_column){ a->column[i].title, a->column[i].path, a->column[i].shape };
    return TM_OK;
}

/* --- cells of sheets --- */

/* "a; b", or consecutive sentences, cut if there is no room; for objects, their number. */
static void join_list(char out[LIST_BYTES], const struct tm_value *list)
{
    char number[TM_FORMAT_BYTES];
    size_t used = 0;

    out[0] = '\0';
    if (tm_type_of(tm_at(list, 0)) == TM_OBJECT) {
        (void)snprintf(out, LIST_BYTES, "%zu", tm_length(list));
        return;
    }
    for (size_t i = 0; i < tm_length(list) && used < LIST_BYTES; i++) {
        const struct tm_cell cell = tm_cell_of_value(TM_DOC_NUMBER, tm_at(list, i));
        const bool is_text = tm_type_of(cell.value) == TM_STRING;

        used += (size_t)snprintf(out + used, LIST_BYTES - used, "%s%s",
                                 !i                     ? ""
                                 : out[used - 1] == '.' ? " "
                                                        : "; ",
                                 is_text ? tm_text(cell.value) : tm_cell_exact(&cell, number));
    }
}

/* A number whose unit is beside it in the row. */
static const char *unit_beside(const struct column *c, const struct tm_value *row, const struct tm_value *value)
{
    const enum tm_type type = tm_type_of(value);

    return tm_show_has_unit_beside(c->field) && (type == TM_INT || type == TM_DOUBLE) ? tm_text(tm_get(row, "unit"))
                                                                                      : "";
}

/* A figure is shown as its field specifies. */
static enum tm_doc_kind kind_of(const struct answer *a, const struct column *c, const struct tm_value *row)
{
    struct tm_doc_place place;

    if (a->table.has_figures && strcmp(c->path, "value") == 0 &&
        tm_doc_place_at(&place, tm_document_of(a->root)->fields->fields, tm_text(tm_get(row, "path"))))
        return tm_shown_kind(place.field);
    return (enum tm_doc_kind)(c->shape & (TM_WIDE - 1));
}

static void add_cell(struct answer *a, struct tm_sheet *sheet, const struct column *c, const struct tm_value *row)
{
    const struct tm_value *const value = tm_path(row, c->path);
    struct tm_cell cell = tm_cell_of_value(kind_of(a, c, row), value);
    const char *const unit = unit_beside(c, row, value), *text;
    char shown[TM_FORMAT_BYTES], list[LIST_BYTES];

    cell.is_change = c->shape & TM_CHANGE;
    if (tm_type_of(value) == TM_ARRAY) {
        join_list(list, value);
        tm_sheet_prose(sheet, "%s", list);
    } else if (a->table.has_figures && !tm_has(value) && strcmp(c->path, "value") == 0 && *tm_why(value)) {
        tm_sheet_prose(sheet, "not recorded (%.500s)", tm_why(value));
    } else if (*unit && (cell.kind == TM_DOC_NUMBER || cell.kind == TM_DOC_WORD)) {
        (void)snprintf(tm_sheet_room(sheet), TM_SHEET_CELL_BYTES, "%s", tm_format_unit(shown, tm_double(value), unit));
    } else {
        text = tm_cell_shown(&cell, a->root, shown);
        if (text == shown)
            (void)snprintf(tm_sheet_room(sheet), TM_SHEET_CELL_BYTES, "%s", text);
        else
            tm_sheet_text(sheet, text);
    }
}

static bool is_long(const struct answer *a, const struct column *c)
{
    const bool is_list = (c->field->shape & TM_DOC_LIST) && c->path[strlen(c->path) - 1] != ']';

    return is_list || (a->table.has_figures && strcmp(c->path, "value") == 0);
}

static enum tm_column_kind sheet_kind(const struct answer *a, const struct column *c)
{
    const enum tm_doc_kind kind = (enum tm_doc_kind)(c->shape & (TM_WIDE - 1));

    if (is_long(a, c))
        return TM_COLUMN_PROSE;
    if (tm_doc_is_number(kind))
        return TM_COLUMN_NUMBER;
    return kind == TM_DOC_NAME ? TM_COLUMN_NAME : kind == TM_DOC_PROSE ? TM_COLUMN_PROSE : TM_COLUMN_WORD;
}

static size_t fill(void *of, struct tm_sheet *sheet, size_t from)
{
    struct answer *const a = of;
    size_t most = ROWS_OF_SHEET, rows = 0;

    tm_sheet_start(sheet, true);
    for (size_t c = 0; c < a->first_more; c++) {
        tm_sheet_column(sheet, a->column[c].title, sheet_kind(a, &a->column[c]));
        if (is_long(a, &a->column[c]))
            most = LONG_ROWS_OF_SHEET;
    }
    for (; rows < most && from + rows < a->rows.count && tm_sheet_row(sheet); rows++)
        for (size_t c = 0; c < a->first_more; c++)
            add_cell(a, sheet, &a->column[c], tm_at(a->table.rows, a->rows.pick[from + rows]));
    return rows;
}

/* --- omitted rows, in words --- */

static const char *const measure_words[TM_SHOW_MEASURES] = { "time_ps", "count", "bytes" };

static char *format_measure(char *out, enum tm_show_measure measure, int64_t sum)
{
    return measure == TM_SHOW_TIME    ? tm_format_time(out, sum)
           : measure == TM_SHOW_COUNT ? tm_format_count(out, sum)
                                      : tm_format_bytes(out, (double)sum);
}

/* ", 12.3 ms (total_ps), 1,234 (count)" */
static void append_sum(char line[LINE_BYTES], const struct answer *a, const struct tm_show_sum *sum, bool has_unlisted)
{
    char text[TM_FORMAT_BYTES];

    for (int i = 0; i < TM_SHOW_MEASURES; i++)
        if (a->table.measure[i] && (!has_unlisted || a->rows.is_known[i]))
            tm_format_append(line, LINE_BYTES, ", %s (%s)", format_measure(text, (enum tm_show_measure)i, sum->sum[i]),
                             a->table.measure[i]);
}

static struct tm_show_sum add(const struct tm_show_sum *a, const struct tm_show_sum *b)
{
    struct tm_show_sum sum = { .rows = tm_sum_times(a->rows, b->rows) };

    for (int i = 0; i < TM_SHOW_MEASURES; i++)
        sum.sum[i] = tm_sum_times(a->sum[i], b->sum[i]);
    return sum;
}

static struct tm_show_sum left_out_of(const struct answer *a)
{
    const struct tm_show_sum asked = add(&a->rows.by_where, &a->rows.by_top);

    return add(&asked, &a->rows.unlisted);
}

static void append_cause(char line[LINE_BYTES], const struct tm_show_sum *sum, const char *cause, bool *has_any)
{
    char text[TM_FORMAT_BYTES];

    if (!sum->rows)
        return;
    tm_format_append(line, LINE_BYTES, "%s%s %s", *has_any ? ", " : ": ", tm_format_count(text, sum->rows), cause);
    *has_any = true;
}

/* "10 of 183 rows, 1.20 s (total_ps).  Left out: 173 rows, 12.3 ms (total_ps): 170 by --where, 3 by --top." */
static void make_count(char line[LINE_BYTES], const struct answer *a)
{
    const struct tm_show_sum left_out = left_out_of(a);
    const int64_t all = tm_sum_times(a->rows.returned.rows, left_out.rows);
    char text[TM_FORMAT_BYTES];
    bool has_any = false;

    (void)snprintf(line, LINE_BYTES, "%s", tm_format_count(text, a->rows.returned.rows));
    if (a->rows.rows_are_known)
        tm_format_append(line, LINE_BYTES, " of %s", tm_format_count(text, all));
    tm_format_append(line, LINE_BYTES, " row%s", tm_format_plural((uint64_t)all));
    append_sum(line, a, &a->rows.returned, false);
    tm_format_append(line, LINE_BYTES, ".");
    if (!a->rows.rows_are_known)
        tm_format_append(line, LINE_BYTES,
                         " The document lists at most %s rows of this table and does not count the others.",
                         tm_format_count(text, a->table.most));
    if (!left_out.rows)
        return;
    tm_format_append(line, LINE_BYTES, " Omitted: %s row%s", tm_format_count(text, left_out.rows),
                     tm_format_plural((uint64_t)left_out.rows));
    append_sum(line, a, &left_out, true);
    append_cause(line, &a->rows.by_where, "by --where", &has_any);
    append_cause(line, &a->rows.by_top, "by --top", &has_any);
    append_cause(line, &a->rows.unlisted, "not listed in the document (--rows of the analysis)", &has_any);
    tm_format_append(line, LINE_BYTES, ".");
}

/* The section of the summary that has the table, for the marks of losses. */
static const char *section_of(const struct answer *a, char out[TM_SHOW_KEY])
{
    (void)snprintf(out, TM_SHOW_KEY, "%.*s", (int)strcspn(a->table.path, ".["), a->table.path);
    return out;
}

/* --- text and Markdown --- */

static void put_line(const struct answer *a, const char *text)
{
    char visible[2 * LINE_BYTES];
    struct tm_mdw w;

    if (a->form == TM_SHOW_MARKDOWN) {
        tm_mdw_init(&w, visible, sizeof(visible));
        tm_mdw_prose(&w, text, false);
        (void)fprintf(a->to, "%s\n\n", visible);
        return;
    }
    tm_format_text(visible, sizeof(visible), text);
    tm_text_put_wrapped(a->to, visible, 0);
}

static void put_marks(const struct answer *a)
{
    const struct tm_value *const marks = tm_path(a->root, "coverage.marks");
    char section[TM_SHOW_KEY], line[LINE_BYTES];

    for (size_t i = 0; i < tm_length(marks); i++) {
        if (!tm_mark_is_of_section(tm_at(marks, i), section_of(a, section)))
            continue;
        (void)snprintf(line, sizeof(line), "Caution: %s", tm_text(tm_get(tm_at(marks, i), "text")));
        put_line(a, line);
    }
}

/* Titles of columns that did not fit into a sheet or a line. */
static void put_left_columns(const struct answer *a, const char *dropped)
{
    char line[LINE_BYTES];
    bool has_any = *dropped;

    (void)snprintf(line, sizeof(line), "Omitted for width: %s", dropped);
    for (size_t i = a->first_more; i < a->columns; i++) {
        tm_format_append(line, sizeof(line), "%s%s", has_any ? ", " : "", a->column[i].title);
        has_any = true;
    }
    if (has_any && !a->is_chosen)
        tm_format_append(line, sizeof(line), ". Use --fields to choose.");
    if (has_any)
        put_line(a, line);
}

static void put_title(const struct answer *a)
{
    char line[LINE_BYTES];
    const char *const title = a->table.title ? a->table.title : "";

    (void)snprintf(line, sizeof(line), "%s%s%s", a->table.path, *title ? ": " : "", title);
    put_line(a, line);
    if (a->form == TM_SHOW_TEXT)
        (void)fputc('\n', a->to);
}

static void put_help(const struct answer *a)
{
    if (a->table.help && *a->table.help)
        put_line(a, a->table.help);
    if (a->table.fields == tm_doc_content_row)
        put_line(a, "'tracemill show RUN NAME' prints one of these; paths lead further down: devices[0].gaps.longest.");
}

static tm_status put_people(struct answer *a)
{
    const struct tm_sheet_source source = { .fill = fill, .of = a };
    char dropped[TM_NOTE_BYTES] = "", line[LINE_BYTES];
    tm_status st = TM_OK;

    put_title(a);
    if (a->rows.count && a->form == TM_SHOW_TEXT)
        st = tm_text_put_sheets(a->run, &source, a->columns_of_line, a->is_chosen, dropped, a->to);
    else if (a->rows.count)
        st = tm_markdown_put_sheets(a->run, &source, a->to);
    if (st)
        return st;
    if (a->rows.count && a->form == TM_SHOW_TEXT)
        (void)fputc('\n', a->to);
    if (a->table.why) {
        (void)snprintf(line, sizeof(line), "Not recorded: %s.", a->table.why);
        put_line(a, line);
    }
    make_count(line, a);
    if (!a->table.why)
        put_line(a, line);
    put_left_columns(a, dropped);
    put_help(a);
    put_marks(a);
    return TM_OK;
}

/* --- CSV --- */

static void put_csv(struct answer *a)
{
    const struct tm_table table = { .id = "show",
                                    .column = a->list,
                                    .columns = a->columns,
                                    .rows = a->table.rows,
                                    .pick = a->rows.pick,
                                    .picks = a->rows.count };
    char line[LINE_BYTES], shown[LINE_BYTES];

    tm_csv_put_table(a->run, &table, a->to);
    if (a->run->quiet)
        return;
    make_count(line, a);
    tm_format_text(shown, sizeof(shown), line);
    (void)fprintf(stderr, "tracemill: %s\n", shown);
}

/* --- JSON --- */

static void add_sum(struct tm_value *to, const struct answer *a, const struct tm_show_sum *sum, bool has_unlisted)
{
    static const char WHY[] = "the document does not describe the rows that it does not list";

    if (has_unlisted && !a->rows.rows_are_known)
        tm_add_null(to, "rows", WHY);
    else
        tm_add_int(to, "rows", sum->rows);
    for (int i = 0; i < TM_SHOW_MEASURES; i++) {
        if (a->table.measure[i] && has_unlisted && !a->rows.is_known[i])
            tm_add_null(to, measure_words[i], WHY);
        else if (a->table.measure[i])
            tm_add_int(to, measure_words[i], sum->sum[i]);
    }
}

static void add_sums(struct tm_value *root, const struct answer *a)
{
    static const char *const words[TM_SHOW_MEASURES] = { "time", "count", "bytes" };
    const struct tm_show_sum left_out = left_out_of(a), total = add(&a->rows.returned, &left_out);
    struct tm_value *const measures = tm_add_object(root, "measures");
    struct tm_value *left;

    for (int i = 0; i < TM_SHOW_MEASURES; i++)
        if (a->table.measure[i])
            tm_add_string(measures, words[i], a->table.measure[i]);
    add_sum(tm_add_object(root, "returned"), a, &a->rows.returned, false);
    left = tm_add_object(root, "left_out");
    add_sum(left, a, &left_out, true);
    add_sum(tm_add_object(left, "by_where"), a, &a->rows.by_where, false);
    add_sum(tm_add_object(left, "by_top"), a, &a->rows.by_top, false);
    add_sum(tm_add_object(left, "not_listed"), a, &a->rows.unlisted, true);
    add_sum(tm_add_object(root, "total"), a, &total, true);
}

static void add_known(struct tm_value *to, const char *key, const char *text)
{
    tm_add_known(to, key, text, NULL);
}

static void add_query(struct tm_value *to, const struct tm_show_query *query)
{
    add_known(to, "what", query->what);
    add_known(to, "where", query->where);
    add_known(to, "sort", query->sort);
    if (query->top)
        tm_add_uint(to, "top", query->top);
    else
        tm_add_null(to, "top", NULL);
    add_known(to, "fields", query->fields);
}

static void add_fields(struct tm_value *to, const struct answer *a)
{
    for (size_t i = 0; i < a->columns; i++) {
        const struct tm_doc_field *const field = a->column[i].field;
        struct tm_value *const row = tm_add_object(to, a->column[i].path);

        add_known(row, "title", field->title);
        tm_add_string(row, "kind", tm_doc_kind_name(tm_doc_kind_of(field)));
        add_known(row, "unit", tm_doc_unit(tm_doc_kind_of(field)));
        tm_add_bool(row, "list", field->shape & TM_DOC_LIST);
        add_known(row, "help", field->help);
    }
}

static void add_top(struct tm_value *root, const struct answer *a)
{
    const struct tm_value *const marks = tm_path(a->root, "coverage.marks");
    struct tm_value *tool, *list;
    char section[TM_SHOW_KEY];

    tm_add_string(root, "schema", "tracemill.show");
    tm_add_int(root, "schema_version", 1);
    tool = tm_add_object(root, "tool");
    tm_add_string(tool, "name", "tracemill");
    tm_add_string(tool, "version", TM_VERSION);
    tm_add_string(root, "of", tm_text(tm_get(a->root, "schema")));
    tm_add_bool(root, "partial", tm_is(tm_path(a->root, "input.partial")));
    tm_add_bool(root, "redacted", tm_is(tm_path(a->root, "report.redacted")));
    list = tm_add_array(root, "marks");
    for (size_t i = 0; i < tm_length(marks); i++)
        if (tm_mark_is_of_section(tm_at(marks, i), section_of(a, section)))
            tm_add_string(list, NULL, tm_text(tm_get(tm_at(marks, i), "text")));
    add_query(tm_add_object(root, "query"), a->query);
    tm_add_string(root, "table", a->table.path);
    add_known(root, "title", a->table.title);
    add_known(root, "help", a->table.help);
    add_known(root, "not_recorded", a->table.why);
}

/* A row as in the document, or its chosen fields. */
static const struct tm_value *next_row(void *of)
{
    struct answer *const a = of;
    const struct tm_value *row;

    if (a->next == a->rows.count)
        return NULL;
    row = tm_at(a->table.rows, a->rows.pick[a->next++]);
    if (!a->is_chosen)
        return row;
    tm_doc_free(a->row);
    a->row = tm_doc_new(a->run);
    for (size_t i = 0; a->row && i < a->columns; i++)
        tm_add_copy(tm_doc_root(a->row), a->column[i].path, tm_path(row, a->column[i].path));
    return a->row ? tm_doc_root(a->row) : NULL;
}

static tm_status put_json(struct answer *a)
{
    struct tm_doc *const doc = tm_doc_new(a->run);
    struct tm_value *root;
    tm_status st;

    if (!doc)
        return a->run->error.status;
    root = tm_doc_root(doc);
    add_top(root, a);
    add_fields(tm_add_object(root, "fields"), a);
    (void)tm_add_array(root, "rows");
    tm_add_uint(root, "rows_returned", a->rows.count);
    if (a->rows.rows_are_known) {
        const struct tm_show_sum left_out = left_out_of(a);

        tm_add_int(root, "rows_total", tm_sum_times(a->rows.returned.rows, left_out.rows));
    } else {
        tm_add_null(root, "rows_total", "the document does not describe the rows that it does not list");
    }
    add_sums(root, a);
    st = tm_doc_status(doc);
    if (!st)
        tm_value_print_rows(root, "rows", next_row, a, a->to);
    tm_doc_free(a->row);
    tm_doc_free(doc);
    return st ? st : a->run->error.status;
}

/* --- printing --- */

static tm_status write_answer(struct answer *a)
{
    if (tm_show_find(a->run, &a->table, a->root, a->query->what))
        return a->run->error.status;
    tm_show_rows_choose(&a->rows, a->run, &a->table, a->query);
    if (tm_failed(a->run) || choose_columns(a))
        return a->run->error.status;
    if (a->form == TM_SHOW_JSON)
        return put_json(a);
    if (a->form != TM_SHOW_CSV)
        return put_people(a);
    put_csv(a);
    return TM_OK;
}

tm_status tm_show_write(struct tm_run *run, const struct tm_value *root, const struct tm_show_query *query,
                        enum tm_show_form form, int columns, FILE *to)
{
    struct answer *const a = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*a), &run->error);
    tm_status st;

    if (!a)
        return run->error.status;
    a->run = run;
    a->root = root;
    a->query = query;
    a->form = form;
    a->columns_of_line = columns;
    a->to = to;
    st = write_answer(a);
    tm_show_rows_free(&a->rows);
    tm_show_close(&a->table);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a, sizeof(*a));
    return st;
}

/* --- HLO: an instruction of a compiled program as text: its facts, then the surrounding ones, a line each --- */

enum { HLO_LINE_BYTES = 8192, HLO_PART_BYTES = 2048 };

static const char *get(const struct tm_value *row, const char *key)
{
    return tm_text(tm_get(row, key));
}

static void put_text(FILE *to, const char *text)
{
    char visible[HLO_LINE_BYTES];

    tm_format_text(visible, sizeof(visible), text);
    (void)fputs(visible, to);
}

static void put_fact(FILE *to, const char *title, const char *text)
{
    if (!*text)
        return;
    (void)fprintf(to, "  %-16s", title);
    put_text(to, text);
    (void)fputc('\n', to);
}

/* "%fusion.3 = f32[8]{0} fusion(%a, %b), kind=kLoop  # file.py:12" */
static void put_instruction(FILE *to, const struct tm_value *row, int indent)
{
    const struct tm_value *const operands = tm_get(row, "operands");
    const uint64_t left = (uint64_t)tm_int(tm_get(row, "operand_count")) - tm_length(operands);
    char line[HLO_LINE_BYTES];

    (void)snprintf(line, sizeof(line), "%%%s = %s %s(", get(row, "name"), get(row, "shape"), get(row, "opcode"));
    for (size_t i = 0; i < tm_length(operands); i++)
        tm_format_append(line, sizeof(line), "%s%%%s", i ? ", " : "", tm_text(tm_at(operands, i)));
    if (left)
        tm_format_append(line, sizeof(line), ", ... %llu more", (unsigned long long)left);
    tm_format_append(line, sizeof(line), ")");
    if (*get(row, "fusion_kind"))
        tm_format_append(line, sizeof(line), ", kind=%s", get(row, "fusion_kind"));
    if (*get(row, "target"))
        tm_format_append(line, sizeof(line), ", target=\"%s\"", get(row, "target"));
    if (*get(row, "sharding"))
        tm_format_append(line, sizeof(line), ", sharding=%s", get(row, "sharding"));
    if (*get(row, "source"))
        tm_format_append(line, sizeof(line), "  # %s", get(row, "source"));
    (void)fprintf(to, "%*s", indent, "");
    put_text(to, line);
    (void)fputc('\n', to);
}

static bool is_of(const struct tm_value *row, const char *relation, int64_t level)
{
    return strcmp(get(row, "relation"), relation) == 0 && tm_int(tm_get(row, "level")) == level;
}

static bool has_operand(const struct tm_value *row, const char *name)
{
    const struct tm_value *const operands = tm_get(row, "operands");

    for (size_t i = 0; i < tm_length(operands); i++)
        if (strcmp(tm_text(tm_at(operands, i)), name) == 0)
            return true;
    return false;
}

/* The instructions of a relation, each followed by its instructions of the second level. */
static void put_relation(FILE *to, const struct tm_value *rows, const char *relation, const char *title)
{
    const bool is_operand = strcmp(relation, "operand") == 0;
    bool has_title = false;

    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *const row = tm_at(rows, i);

        if (!is_of(row, relation, 1))
            continue;
        if (!has_title)
            (void)fprintf(to, "\n%s\n", title);
        has_title = true;
        put_instruction(to, row, 2);
        for (size_t j = 0; j < tm_length(rows); j++) {
            const struct tm_value *const other = tm_at(rows, j);

            if (is_of(other, relation, 2) &&
                (is_operand ? has_operand(row, get(other, "name")) : has_operand(other, get(row, "name"))))
                put_instruction(to, other, 6);
        }
    }
}

tm_status tm_show_write_hlo(struct tm_run *run, const struct tm_value *root, FILE *to)
{
    const struct tm_value *const rows = tm_get(root, "instructions"), *const op = tm_at(rows, 0);
    const struct tm_value *const bytes = tm_get(op, "bytes_accessed"), *const flops = tm_get(op, "flops");
    const int64_t left = tm_int(tm_get(tm_get(root, "instructions_rest"), "rows"));
    char number[TM_FORMAT_BYTES];

    put_instruction(to, op, 0);
    put_fact(to, "program", get(op, "program"));
    put_fact(to, "computation", get(op, "computation"));
    put_fact(to, "op_name", get(op, "path"));
    put_fact(to, "source", get(op, "source"));
    if (tm_has(tm_get(op, "bytes")))
        put_fact(to, "result", tm_format_bytes(number, tm_double(tm_get(op, "bytes"))));
    if (tm_has(flops))
        put_fact(to, "FLOP", tm_format_unit(number, tm_double(flops), "FLOP"));
    if (tm_has(bytes))
        put_fact(to, "memory traffic", tm_format_bytes(number, tm_double(bytes)));
    put_fact(to, "sharding", get(op, "sharding"));
    put_fact(to, "replica groups", get(op, "replica_groups"));
    put_relation(to, rows, "caller", "Called by");
    put_relation(to, rows, "operand", "Operands, with theirs");
    put_relation(to, rows, "user", "Users, with theirs");
    put_relation(to, rows, "body", "Body");
    if (left)
        (void)fprintf(to, "\nNot listed: %s more instructions.\n", tm_format_count(number, left));
    return run->error.status;
}
