/* SPDX-License-Identifier: Apache-2.0 */
/* A statement: its authorization, the tables it reads, and its formatted rows.  Only SELECT is authorized, and only
 * tables and views of the run.  Text and Markdown keep the rows they print in memory, JSON and CSV do not. */
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "pipeline/database.h"
#include "pipeline/numbers.h"
#include "pipeline/strings.h"
#include "reports/format/format.h"
#include "reports/media.h"
#include "reports/query/query.h"
#include "reports/show/show.h"

enum { ROWS_SHOWN = 1000, ROWS_OF_SHEET = 12, OPS_BETWEEN_LOOKS = 100000, NOTE_BYTES = 512 };

/* --- the statement --- */

struct check {
    uint32_t wanted;
    unsigned sources;
    const char *refused; /* a forbidden action of the statement */
};

static void want_table(struct check *c, const char *table, const char *column)
{
    for (size_t i = 0; i < tm_query_table_count; i++) {
        if (strcmp(tm_query_tables[i].name, table) != 0)
            continue;
        c->wanted |= UINT32_C(1) << i;
        c->sources |= tm_query_tables[i].source;
    }
    if (strcmp(table, "event_rows") == 0)
        c->sources |= strcmp(column, "args") == 0 ? TM_QUERY_EVENTS | TM_QUERY_ARGS : TM_QUERY_EVENTS;
}

/* source: sqlite3_set_authorizer: one = the table, other = the column, or the name of a function */
static int authorize(void *to, int action, const char *one, const char *other, const char *database, const char *view)
{
    struct check *const c = to;

    (void)database;
    (void)view;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        if (other && strcmp(other, "load_extension") == 0)
            break;
        return SQLITE_OK;
    case SQLITE_READ:
        want_table(c, one, other ? other : "");
        return SQLITE_OK;
    default:
        break;
    }
    c->refused = action == SQLITE_PRAGMA   ? "PRAGMA"
                 : action == SQLITE_ATTACH ? "ATTACH"
                 : action == SQLITE_INSERT ? "INSERT"
                 : action == SQLITE_UPDATE ? "UPDATE"
                 : action == SQLITE_DELETE ? "DELETE"
                                           : "a statement that changes the database";
    return SQLITE_DENY;
}

struct near_name {
    struct tm_nearest nearest;
    const char *wrong;
    char word[TM_DATABASE_NAME_BYTES];
};

static void offer_word(struct near_name *n, const char *word)
{
    tm_nearest_offer(&n->nearest, n->wrong, word);
    if (n->nearest.word != word)
        return;
    (void)snprintf(n->word, sizeof(n->word), "%s", word); /* which outlives the caller's */
    n->nearest.word = n->word;
}

static void offer_column(void *to, const char *name, const char *path, const struct tm_doc_field *field)
{
    (void)path;
    (void)field;
    offer_word(to, name);
}

/* "no such column: slf_ps", "no such table: kernel": the closest name; "" = none is close.  Before the run fails,
 * since nothing is looked up after that. */
static void find_near(struct tm_run *run, struct near_name *n, const char *message)
{
    const char *const colon = strstr(message, ": ");
    const char *const dot = colon ? strrchr(colon, '.') : NULL;

    n->wrong = dot ? dot + 1 : colon ? colon + 2 : "";
    for (size_t i = 0; i < tm_query_table_count; i++) {
        if (strncmp(message, "no such table", 13) == 0)
            offer_word(n, tm_query_tables[i].name);
        else if (strncmp(message, "no such column", 14) == 0)
            tm_query_columns(run, &tm_query_tables[i], offer_column, n);
    }
}

static void refuse(struct tm_run *run, struct sqlite3 *db, const char *sql, const struct check *c)
{
    const int at = sqlite3_error_offset(db);
    struct near_name n = { .wrong = "" };
    char message[NOTE_BYTES];

    (void)snprintf(message, sizeof(message), "%s", sqlite3_errmsg(db));
    if (c->refused) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot run the query: %s is not allowed", c->refused);
        tm_hint(&run->error, "a query is one SELECT over the tables that 'tracemill schema' lists");
        return;
    }
    find_near(run, &n, message);
    if (at >= 0 && (size_t)at < strlen(sql))
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot run the query: %s (character %d: '%.20s')", message,
                      at + 1, sql + at);
    else
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot run the query: %s", message);
    if (*n.word)
        tm_hint(&run->error, "did you mean '%s'? 'tracemill schema' lists the tables, 'tracemill schema TABLE' columns",
                n.word);
    else
        tm_hint(&run->error, "'tracemill schema' lists the tables, 'tracemill schema TABLE' columns and examples");
}

struct sqlite3_stmt *tm_query_prepare(struct tm_run *run, struct sqlite3 *db, const char *sql, uint32_t *wanted,
                                      unsigned *sources)
{
    struct check c = { .wanted = 0 };
    sqlite3_stmt *statement = NULL;
    const char *rest = NULL;
    int code;

    if (tm_failed(run))
        return NULL;
    (void)sqlite3_set_authorizer(db, authorize, &c);
    code = sqlite3_prepare_v2(db, sql, -1, &statement, &rest);
    (void)sqlite3_set_authorizer(db, NULL, NULL);
    *wanted = c.wanted;
    *sources = c.sources;
    while (rest && (*rest == ' ' || *rest == '\n' || *rest == '\t' || *rest == ';'))
        rest++;
    if (code != SQLITE_OK) {
        refuse(run, db, sql, &c);
    } else if (!statement || !sqlite3_stmt_readonly(statement) || (rest && *rest)) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot run the query: %s",
                      statement && rest && *rest ? "there is more than one statement" : "it is not a SELECT statement");
        tm_hint(&run->error, "a query is one SELECT over the tables that 'tracemill schema' lists");
    } else {
        return statement;
    }
    (void)sqlite3_finalize(statement);
    return NULL;
}

/* --- rows --- */

struct answer {
    struct tm_run *run;
    const struct tm_query_answer *of;
    FILE *to;
    sqlite3_stmt *statement;
    int columns;
    char (*name)[TM_DATABASE_NAME_BYTES]; /* of the columns, made distinct */
    uint64_t top, returned, more;
    uint64_t until_ns; /* 0 = no limit */
    bool is_late;
    struct tm_doc *doc; /* rows of text and Markdown; the head of JSON */
    struct tm_value *root, *rows;
    struct tm_doc *row; /* the last one of JSON */
};

static int look_at_clock(void *to)
{
    struct answer *const a = to;

    a->is_late = a->until_ns && tm_clock_ns() > a->until_ns;
    return a->is_late;
}

static void fail_step(struct answer *a)
{
    struct tm_run *const run = a->run;
    struct sqlite3 *const db = sqlite3_db_handle(a->statement);
    const int code = sqlite3_errcode(db) & 0xff;

    if (a->is_late) {
        (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, TM_QUERY_LATE);
        tm_hint(&run->error, TM_QUERY_LATE_HINT);
    } else if (code == SQLITE_NOMEM || code == SQLITE_IOERR || code == SQLITE_FULL || code == SQLITE_CORRUPT) {
        (void)tm_database_fail(run, db);
    } else {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot run the query: %s", sqlite3_errmsg(db));
    }
}

/* A next row exists.  Rows past the limit are counted. */
static bool next_row(struct answer *a)
{
    int code;

    while (!tm_failed(a->run)) {
        code = sqlite3_step(a->statement);
        if (code == SQLITE_DONE)
            return false;
        if (code != SQLITE_ROW) {
            fail_step(a);
            return false;
        }
        if (!a->top || a->returned < a->top) {
            a->returned++;
            return true;
        }
        a->more++;
    }
    return false;
}

/* Columns with the same name get a number, because JSON has them by name. */
static void name_columns(struct answer *a)
{
    for (int i = 0; i < a->columns; i++) {
        const char *const name = sqlite3_column_name(a->statement, i);
        int same = 1;

        (void)snprintf(a->name[i], sizeof(a->name[i]), "%.100s", name ? name : "");
        for (int other = 0; other < i; other++)
            same += strncmp(a->name[other], a->name[i], 100) == 0;
        if (same > 1)
            (void)snprintf(a->name[i], sizeof(a->name[i]), "%.100s:%d", name ? name : "", same);
    }
}

/* The text of a cell.  out: *length; "" if it is NULL
 * errors: "", with the error in run->error */
static const char *text_at(struct answer *a, int column, size_t *length)
{
    const bool is_null = sqlite3_column_type(a->statement, column) == SQLITE_NULL;
    const char *const text = (const char *)sqlite3_column_text(a->statement, column);

    if (!text && !is_null)
        (void)tm_database_fail(a->run, sqlite3_db_handle(a->statement));
    *length = text ? (size_t)sqlite3_column_bytes(a->statement, column) : 0;
    return text ? text : "";
}

static void add_value(struct answer *a, struct tm_value *row, const char *key, int column)
{
    sqlite3_stmt *const statement = a->statement;
    const char *text;
    size_t length;

    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        tm_add_int(row, key, sqlite3_column_int64(statement, column));
        break;
    case SQLITE_FLOAT:
        tm_add_double(row, key, sqlite3_column_double(statement, column));
        break;
    case SQLITE_NULL:
        tm_add_null(row, key, NULL);
        break;
    default:
        text = text_at(a, column, &length);
        tm_add_text(row, key, text, length);
    }
}

static void add_row(struct answer *a, struct tm_value *row)
{
    for (int i = 0; i < a->columns; i++)
        add_value(a, row, a->name[i], i);
}

/* --- JSON --- */

static const struct tm_value *next_json(void *to)
{
    struct answer *const a = to;

    tm_doc_free(a->row);
    a->row = NULL;
    if (next_row(a))
        a->row = tm_doc_new(a->run);
    if (a->row) {
        add_row(a, tm_doc_root(a->row));
        return tm_doc_root(a->row);
    }
    tm_add_uint(a->root, "rows_returned", a->returned); /* printed after the rows */
    tm_add_uint(a->root, "rows_total", a->returned + a->more);
    return NULL;
}

static tm_status put_json(struct answer *a)
{
    struct tm_value *tool, *list;
    tm_status st;

    tm_add_string(a->root, "schema", "tracemill.query");
    tm_add_int(a->root, "schema_version", 1);
    tool = tm_add_object(a->root, "tool");
    tm_add_string(tool, "name", "tracemill");
    tm_add_string(tool, "version", TM_VERSION);
    tm_add_bool(a->root, "partial", a->of->is_partial);
    tm_add_string(a->root, "sql", a->of->sql);
    list = tm_add_array(a->root, "columns");
    for (int i = 0; i < a->columns; i++)
        tm_add_string(list, NULL, a->name[i]);
    (void)tm_add_array(a->root, "rows");
    tm_add_uint(a->root, "rows_returned", 0);
    tm_add_uint(a->root, "rows_total", 0);
    st = tm_doc_status(a->doc);
    if (!st)
        tm_value_print_rows(a->root, "rows", next_json, a, a->to);
    tm_doc_free(a->row);
    return a->run->error.status;
}

/* --- CSV --- */

static void put_bytes(void *to, const char *bytes, size_t length)
{
    (void)fwrite(bytes, 1, length, to);
}

static void put_cell(struct answer *a, const char *text, size_t length, bool is_last)
{
    if (tm_csv_is_plain(text, length))
        (void)fwrite(text, 1, length, a->to);
    else
        tm_csv_quote(put_bytes, a->to, text, length, a->run->raw);
    (void)fputc(is_last ? '\n' : ',', a->to);
}

static tm_status put_csv(struct answer *a)
{
    char number[TM_FORMAT_BYTES];

    for (int i = 0; i < a->columns; i++)
        put_cell(a, a->name[i], strlen(a->name[i]), i + 1 == a->columns);
    while (next_row(a)) {
        for (int i = 0; i < a->columns; i++) {
            const bool is_last = i + 1 == a->columns;
            const char *text;
            size_t length;

            if (sqlite3_column_type(a->statement, i) == SQLITE_FLOAT) {
                put_cell(a, number, tm_double_text(number, sqlite3_column_double(a->statement, i)), is_last);
                continue;
            }
            text = text_at(a, i, &length);
            put_cell(a, text, length, is_last);
        }
    }
    return a->run->error.status;
}

/* --- text and Markdown --- */

static void collect(struct answer *a)
{
    a->rows = tm_add_array(a->root, "rows");
    while (next_row(a)) {
        struct tm_value *const row = tm_add_array(a->rows, NULL);

        for (int i = 0; i < a->columns; i++)
            add_value(a, row, NULL, i);
        if (tm_doc_status(a->doc))
            return;
    }
}

static bool is_number(const struct tm_value *value)
{
    return tm_type_of(value) == TM_INT || tm_type_of(value) == TM_DOUBLE;
}

static enum tm_column_kind kind_of(const struct answer *a, int column)
{
    bool has_number = false;

    for (size_t i = 0; i < tm_length(a->rows); i++) {
        const struct tm_value *const value = tm_at(tm_at(a->rows, i), (size_t)column);

        if (tm_has(value) && !is_number(value))
            return TM_COLUMN_NAME;
        has_number |= tm_has(value);
    }
    return has_number ? TM_COLUMN_NUMBER : TM_COLUMN_WORD;
}

static void add_cell(struct tm_sheet *sheet, const struct tm_value *value)
{
    char *room;

    switch (tm_type_of(value)) {
    case TM_INT:
        room = tm_sheet_room(sheet);
        (void)tm_format_count(room, tm_int(value));
        break;
    case TM_DOUBLE:
        room = tm_sheet_room(sheet);
        (void)snprintf(room, TM_SHEET_CELL_BYTES, "%.6g", tm_double(value));
        break;
    default:
        tm_sheet_text(sheet, tm_text(value));
    }
}

static size_t fill(void *of, struct tm_sheet *sheet, size_t from)
{
    struct answer *const a = of;
    const int columns = a->columns < TM_SHEET_COLUMNS ? a->columns : TM_SHEET_COLUMNS;
    size_t rows = 0;

    tm_sheet_start(sheet, true);
    for (int c = 0; c < columns; c++)
        tm_sheet_column(sheet, a->name[c], kind_of(a, c));
    for (; rows < ROWS_OF_SHEET && from + rows < tm_length(a->rows) && tm_sheet_row(sheet); rows++)
        for (int c = 0; c < columns; c++)
            add_cell(sheet, tm_at(tm_at(a->rows, from + rows), (size_t)c));
    return rows;
}

static void put_count(const struct answer *a)
{
    char line[NOTE_BYTES], count[TM_FORMAT_BYTES];

    (void)snprintf(line, sizeof(line), "%s", tm_format_count(count, (int64_t)a->returned));
    if (a->more)
        tm_format_append(line, sizeof(line), " of %s", tm_format_count(count, (int64_t)(a->returned + a->more)));
    tm_format_append(line, sizeof(line), " row%s.", tm_format_plural(a->returned + a->more));
    if (a->more)
        tm_format_append(line, sizeof(line), " --top N prints more of them, --csv and --json all.");
    if (a->columns > TM_SHEET_COLUMNS)
        tm_format_append(line, sizeof(line), " The first %d of %d columns are shown; --csv and --json have all.",
                         TM_SHEET_COLUMNS, a->columns);
    (void)fprintf(a->to, "%s\n", line);
}

static tm_status put_people(struct answer *a)
{
    const struct tm_sheet_source source = { .fill = fill, .of = a };
    char dropped[TM_NOTE_BYTES] = "";
    tm_status st = TM_OK;

    collect(a);
    if (!tm_failed(a->run) && tm_doc_status(a->doc))
        return tm_doc_status(a->doc);
    if (tm_failed(a->run))
        return a->run->error.status;
    if (a->returned && a->of->form == TM_QUERY_MARKDOWN)
        st = tm_markdown_put_sheets(a->run, &source, a->to);
    else if (a->returned)
        st = tm_text_put_sheets(a->run, &source, a->of->columns, true, dropped, a->to);
    if (st)
        return st;
    if (a->returned && a->of->form == TM_QUERY_TEXT)
        (void)fputc('\n', a->to);
    put_count(a);
    return TM_OK;
}

/* --- running a query --- */

static bool is_data(enum tm_query_form form)
{
    return form == TM_QUERY_CSV || form == TM_QUERY_JSON;
}

static void start_clock(struct answer *a)
{
    if (a->of->limit_ps > 0)
        a->until_ns = tm_clock_ns() + (uint64_t)a->of->limit_ps / 1000;
    sqlite3_progress_handler(sqlite3_db_handle(a->statement), OPS_BETWEEN_LOOKS, look_at_clock, a);
}

tm_status tm_query_print(struct tm_run *run, const struct tm_query_answer *of, FILE *to)
{
    struct answer a = { .run = run, .of = of, .to = to, .statement = of->statement };
    const size_t bytes = sizeof(*a.name) * (size_t)sqlite3_column_count(of->statement);
    tm_status st;

    a.columns = sqlite3_column_count(of->statement);
    a.top = of->top ? of->top : is_data(of->form) ? 0 : ROWS_SHOWN;
    a.name = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    a.doc = tm_doc_new(run);
    if (tm_failed(run)) {
        st = run->error.status;
    } else {
        tm_doc_set_most(a.doc, run->budget.limit_bytes / 4);
        a.root = tm_doc_root(a.doc);
        name_columns(&a);
        start_clock(&a);
        st = of->form == TM_QUERY_JSON ? put_json(&a) : of->form == TM_QUERY_CSV ? put_csv(&a) : put_people(&a);
        sqlite3_progress_handler(sqlite3_db_handle(a.statement), 0, NULL, NULL);
    }
    tm_doc_free(a.doc);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a.name, a.name ? bytes : 0);
    return st;
}

/* --- the schema --- */

struct listing {
    const struct tm_query_table *table;
    struct tm_value *rows;
};

static void add_column_row(void *to, const char *name, const char *path, const struct tm_doc_field *field)
{
    const struct listing *const l = to;
    struct tm_value *const row = tm_add_object(l->rows, NULL);
    const char *const title = field->title ? field->title : "";
    const char *const help = field->help ? field->help : "";

    (void)path;
    tm_add_string(row, "column", name);
    tm_add_string(row, "kind", tm_doc_kind_name(tm_doc_kind_of(field)));
    tm_add_string(row, "unit", tm_doc_unit(tm_doc_kind_of(field)));
    tm_add_printed(row, "meaning", "%s%s%s", title, *title && *help ? ": " : "", help);
}

static void add_tables(struct tm_value *rows)
{
    for (size_t i = 0; i < tm_query_table_count; i++) {
        struct tm_value *const row = tm_add_object(rows, NULL);

        tm_add_string(row, "table", tm_query_tables[i].name);
        tm_add_string(row, "meaning", tm_query_tables[i].help);
    }
}

static size_t fill_listing(void *of, struct tm_sheet *sheet, size_t from)
{
    const struct listing *const l = of;
    size_t rows = 0;

    tm_sheet_start(sheet, true);
    if (l->table) {
        tm_sheet_column(sheet, "column", TM_COLUMN_WORD);
        tm_sheet_column(sheet, "kind", TM_COLUMN_WORD);
        tm_sheet_column(sheet, "unit", TM_COLUMN_WORD);
    } else {
        tm_sheet_column(sheet, "table", TM_COLUMN_WORD);
    }
    tm_sheet_column(sheet, "meaning", TM_COLUMN_PROSE);
    for (; rows < TM_SHEET_ROOM && from + rows < tm_length(l->rows) && tm_sheet_row(sheet); rows++) {
        const struct tm_value *const row = tm_at(l->rows, from + rows);

        for (size_t c = 0; c < tm_length(row); c++)
            tm_sheet_text(sheet, tm_text(tm_value_at(row, c)));
    }
    return rows;
}

static void add_questions(struct tm_value *to, const struct tm_query_table *table)
{
    struct tm_value *const list = tm_add_array(to, "questions");

    for (size_t i = 0; i < TM_QUERY_QUESTIONS; i++) {
        struct tm_value *const row = tm_add_object(list, NULL);

        tm_add_string(row, "question", table->question[i].text);
        tm_add_string(row, "sql", table->question[i].sql);
    }
}

static const struct tm_query_table *table_by_name(struct tm_run *run, const char *name)
{
    struct near_name n = { .wrong = name };

    for (size_t i = 0; i < tm_query_table_count; i++) {
        if (strcmp(tm_query_tables[i].name, name) == 0)
            return &tm_query_tables[i];
        offer_word(&n, tm_query_tables[i].name);
    }
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "there is no table '%.80s'", name);
    if (n.nearest.word)
        tm_hint(&run->error, "did you mean '%s'? 'tracemill schema' lists them all", n.word);
    else
        tm_hint(&run->error, "'tracemill schema' lists them all");
    return NULL;
}

static tm_status put_listing(struct tm_run *run, const struct listing *l, enum tm_query_form form, int columns,
                             FILE *to)
{
    struct listing of = *l;
    const struct tm_sheet_source source = { .fill = fill_listing, .of = &of };
    char dropped[TM_NOTE_BYTES] = "";
    tm_status st;

    if (l->table)
        (void)fprintf(to, "%s: %s\n\n", l->table->name, l->table->help);
    st = form == TM_QUERY_MARKDOWN ? tm_markdown_put_sheets(run, &source, to)
                                   : tm_text_put_sheets(run, &source, columns, true, dropped, to);
    if (st)
        return st;
    (void)fputc('\n', to);
    for (size_t i = 0; l->table && i < TM_QUERY_QUESTIONS; i++)
        (void)fprintf(to, "%s\n    tracemill query RUN \"%s\"\n", l->table->question[i].text,
                      l->table->question[i].sql);
    if (!l->table)
        (void)fprintf(to, "Times are whole picoseconds; TABLE_ms has them in milliseconds too.\n"
                          "'tracemill schema TABLE' lists the columns of one, with three questions and their SQL.\n");
    return TM_OK;
}

tm_status tm_query_print_schema(struct tm_run *run, const char *name, enum tm_query_form form, int columns, FILE *to)
{
    struct tm_doc *const doc = tm_doc_new(run);
    struct listing l = { .table = name && doc ? table_by_name(run, name) : NULL };
    struct tm_value *root;
    tm_status st;

    if (tm_failed(run)) {
        tm_doc_free(doc);
        return run->error.status;
    }
    root = tm_doc_root(doc);
    tm_add_string(root, "schema", "tracemill.schema");
    tm_add_int(root, "schema_version", 1);
    tm_add_known(root, "table", name, NULL);
    l.rows = tm_add_array(root, name ? "columns" : "tables");
    if (l.table)
        tm_query_columns(run, l.table, add_column_row, &l);
    else
        add_tables(l.rows);
    if (l.table)
        add_questions(root, l.table);
    st = tm_doc_status(doc) ? tm_doc_status(doc) : run->error.status;
    if (!st && form == TM_QUERY_JSON)
        tm_value_print_line(root, to);
    else if (!st)
        st = put_listing(run, &l, form, columns, to);
    tm_doc_free(doc);
    return st;
}
