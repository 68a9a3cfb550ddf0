/* SPDX-License-Identifier: Apache-2.0 */
/* Filling the tables of a run: those of figures out of the summary, gaps while the profile is analyzed, events in the
 * reading that follows, as for a trace that is written.  Parquet files are written from the tables. */
#include "pipeline/engine/run_database.h"

#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "pipeline/atomic_file.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/engine/conversion.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/strings.h"
#include "reports/query/query.h"
#include "stages/output/parquet/parquet.h"
#include "stages/output/sqlite/event_tables.h"

/* --- the profile --- */

struct reading {
    struct tm_run_database *to;
    struct tm_conversion conversion;
    const struct tm_observer_type *inner; /* of the conversion */
    struct tm_gap_table gaps;
    struct tm_doc *summary;
};

static tm_status begin_host(void *to, const struct tm_trace *trace)
{
    struct reading *const r = to;

    r->gaps.trace = trace;
    return r->inner->begin_host(&r->conversion, trace);
}

static tm_status take_nothing(void *to, const struct tm_event *event)
{
    (void)to;
    (void)event;
    return TM_OK;
}

static tm_status take_gap(void *to, const struct tm_idle_gap *gap)
{
    struct reading *const r = to;

    tm_gap_table_add(&r->gaps, gap);
    return r->to->run->error.status;
}

static tm_status end_host(void *to)
{
    struct reading *const r = to;

    return r->inner->end_host(&r->conversion);
}

static const struct tm_observer_type gap_observer = { begin_host, take_nothing, take_gap, end_host, NULL };

static bool wants_events(const struct tm_run_database *d)
{
    return d->sources & (TM_QUERY_EVENTS | TM_QUERY_ARGS);
}

static void write_events(struct reading *r)
{
    struct tm_run_database *const d = r->to;
    struct tm_run *const run = d->run;
    struct tm_conversion *const c = &r->conversion;
    const enum tm_args_level args = d->sources & TM_QUERY_ARGS ? d->options->args : TM_ARGS_NONE;
    struct tm_trace_writer *const writer = tm_event_tables_writer_new(run, c->names, d->database.db, args);
    const struct tm_export_options export = { .writer = writer,
                                              .filter = d->options->filter.count ? &d->options->filter : NULL };
    struct tm_exporter *const exporter = writer ? tm_exporter_new(run, c->names, &export) : NULL;

    if (exporter)
        tm_exporter_begin_file(exporter);
    for (uint32_t i = 0; exporter && i < c->inputs.host_count && !tm_failed(run); i++)
        tm_conversion_events(c, i, exporter);
    tm_exporter_free(exporter);
    if (writer)
        writer->type->free(writer);
}

/* The summary and, in the same reading, the gaps; the events after it. */
static void read_run(struct reading *r, const struct tm_options *options)
{
    struct tm_run_database *const d = r->to;
    struct tm_run *const run = d->run;
    struct tm_observer observer;

    r->summary = tm_doc_new(run);
    if (!r->summary || tm_conversion_open(&r->conversion, run, options, "query", true))
        return;
    tm_conversion_observe(&r->conversion, &observer);
    r->inner = observer.type;
    observer.type = &gap_observer;
    observer.to = r;
    observer.keeps_arguments = (d->sources & TM_QUERY_ARGS) != 0;
    r->conversion.is_bare = !observer.keeps_arguments;
    if (!wants_events(d))
        observer.kept = NULL;
    tm_gap_table_open(&r->gaps, run, r->conversion.names, d->database.db);
    if (!tm_failed(run) && !tm_analyze(run, options, r->summary, NULL, &observer))
        tm_conversion_take_summary(&r->conversion, tm_doc_root(r->summary));
    tm_gap_table_close(&r->gaps);
    if (tm_failed(run))
        return;
    d->is_partial = tm_is(tm_path(tm_doc_root(r->summary), "input.partial"));
    tm_check_strict(run, d->is_partial, "query");
    tm_query_fill(run, d->database.db, tm_doc_root(r->summary), d->wanted);
    tm_doc_free(r->summary); /* its memory is for the events */
    r->summary = NULL;
    if (wants_events(d))
        write_events(r);
    tm_progress_end(&run->progress);
}

/* in: options  with the operands that are inputs */
static void read_profile(struct tm_run_database *d, const struct tm_options *options)
{
    struct reading *const r = tm_take(&d->run->budget, TM_ACCOUNT_MODEL, sizeof(*r), &d->run->error);

    if (!r)
        return;
    r->to = d;
    read_run(r, options);
    tm_doc_free(r->summary);
    tm_conversion_close(&r->conversion);
    tm_give(&d->run->budget, TM_ACCOUNT_MODEL, r, sizeof(*r));
}

/* --- the summary alone --- */

static void read_summary(struct tm_run_database *d)
{
    struct tm_summaries summaries = { .of = NULL };
    struct tm_run_operand operand;

    tm_run_operand_read(&operand, d->options->inputs[0]);
    if (!tm_summaries_load(&summaries, d->run, d->options, &operand, 1, "query")) {
        d->is_partial = summaries.run[0].is_partial;
        tm_query_fill(d->run, d->database.db, tm_doc_root(summaries.run[0].doc), d->wanted);
    }
    tm_summaries_free(&summaries);
}

/* The folder of a report, or a summary: neither has events. */
static bool is_summary(const char *path)
{
    char file[TM_PLACE_BYTES];

    return tm_document_find(path, "summary.json", "tracemill.summary", file);
}

void tm_run_database_fill(struct tm_run_database *d, size_t inputs)
{
    const bool needs_profile = d->sources & ~(unsigned)TM_QUERY_SUMMARY;
    struct tm_options options = *d->options;

    options.input_count = inputs;
    if (tm_failed(d->run) || d->is_ready)
        return;
    if (needs_profile && is_summary(options.inputs[0])) {
        (void)tm_fail(&d->run->error, TM_ERR_USAGE, -1, "cannot query events of '%s': a summary holds none",
                      options.inputs[0]);
        tm_hint(&d->run->error, "give the profile; a summary has the tables of its figures alone");
    } else if (needs_profile) {
        read_profile(d, &options);
    } else {
        read_summary(d);
    }
}

/* --- open and close --- */

void tm_run_database_open(struct tm_run_database *d, struct tm_run *run, const struct tm_options *options)
{
    *d = (struct tm_run_database){ .run = run, .options = options };
    d->is_ready = tm_database_is_ours(options->inputs[0]);
    if (d->is_ready) {
        tm_database_open(&d->database, run, options->inputs[0]);
        return;
    }
    tm_database_new(&d->database, run);
    tm_event_tables_create(run, d->database.db);
    tm_query_create(run, d->database.db);
}

void tm_run_database_close(struct tm_run_database *d)
{
    tm_database_close(&d->database, d->run);
}

/* --- Parquet --- */

struct columns {
    struct tm_parquet_column list[TM_PARQUET_COLUMNS_MOST];
    char name[TM_PARQUET_COLUMNS_MOST][TM_DATABASE_NAME_BYTES];
    size_t count;
};

static void add_column(void *to, const char *name, const char *path, const struct tm_doc_field *field)
{
    struct columns *const c = to;
    const enum tm_doc_kind kind = tm_doc_kind_of(field);
    const char *const sql_type = tm_query_type(field);

    (void)path;
    if (c->count == TM_PARQUET_COLUMNS_MOST)
        return;
    (void)snprintf(c->name[c->count], sizeof(c->name[0]), "%s", name);
    c->list[c->count] = (struct tm_parquet_column){
        .name = c->name[c->count],
        .type = strcmp(sql_type, "INTEGER") == 0 ? TM_PARQUET_INT64
                : strcmp(sql_type, "REAL") == 0  ? TM_PARQUET_DOUBLE
                                                 : TM_PARQUET_TEXT,
        .unit = (field->shape & TM_DOC_LIST) ? "" : tm_doc_unit(kind),
        .meaning = field->help ? field->help : field->title,
    };
    c->count++;
}

static void put_value(struct tm_run *run, struct tm_parquet *p, size_t column, enum tm_parquet_type type,
                      sqlite3_stmt *statement)
{
    const int at = (int)column;
    const char *text;

    if (sqlite3_column_type(statement, at) == SQLITE_NULL)
        return;
    switch (type) {
    case TM_PARQUET_INT64:
        tm_parquet_int(p, column, sqlite3_column_int64(statement, at));
        break;
    case TM_PARQUET_DOUBLE:
        tm_parquet_double(p, column, sqlite3_column_double(statement, at));
        break;
    case TM_PARQUET_TEXT:
        text = (const char *)sqlite3_column_text(statement, at);
        if (text)
            tm_parquet_text(p, column, text, (size_t)sqlite3_column_bytes(statement, at));
        else
            (void)tm_database_fail(run, sqlite3_db_handle(statement));
        break;
    }
}

static void put_rows(struct tm_run_database *d, struct tm_parquet *p, const struct columns *c, const char *table)
{
    struct tm_run *const run = d->run;
    char sql[TM_DATABASE_NAME_BYTES + 32];
    sqlite3_stmt *statement;
    int code;

    (void)snprintf(sql, sizeof(sql), "SELECT * FROM %s", table);
    statement = tm_database_prepare(run, d->database.db, sql);
    while (statement && !tm_failed(run) && (code = sqlite3_step(statement)) != SQLITE_DONE) {
        if (code != SQLITE_ROW) {
            (void)tm_database_fail(run, d->database.db);
            break;
        }
        for (size_t i = 0; i < c->count; i++)
            put_value(run, p, i, c->list[i].type, statement);
        tm_parquet_end_row(p);
    }
    (void)sqlite3_finalize(statement);
}

static void save_table(struct tm_run_database *d, const struct tm_query_table *table, const char *folder,
                       const char *name)
{
    const struct tm_parquet_fact facts[] = { { "tracemill.table", table->name },
                                             { "tracemill.version", TM_VERSION },
                                             { "tracemill.meaning", table->help } };
    struct tm_run *const run = d->run;
    struct columns *const c = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*c), &run->error);
    struct tm_out_file *const file = c ? tm_out_file_open(run, folder, name, false) : NULL;
    struct tm_parquet *p = NULL;

    if (file) {
        tm_query_columns(run, table, add_column, c);
        p = tm_parquet_new(run, c->list, c->count, file);
    }
    if (p) {
        put_rows(d, p, c, table->name);
        tm_parquet_finish(p, facts, sizeof(facts) / sizeof(facts[0]));
    }
    if (!tm_failed(run))
        tm_out_file_commit(file, NULL);
    tm_parquet_free(p);
    tm_out_file_free(file);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, c, c ? sizeof(*c) : 0);
}

static void save_folder(struct tm_run_database *d, const char *folder)
{
    char name[TM_DATABASE_NAME_BYTES];

    for (size_t i = 0; i < tm_query_table_count && !tm_failed(d->run); i++) {
        if (tm_query_tables[i].source == TM_QUERY_ARGS && !(d->sources & TM_QUERY_ARGS))
            continue;
        (void)snprintf(name, sizeof(name), "%s.parquet", tm_query_tables[i].name);
        save_table(d, &tm_query_tables[i], folder, name);
    }
}

/* --- files --- */

enum tm_database_form tm_database_form_of(const char *path)
{
    if (tm_has_ending(path, "/"))
        return TM_DATABASE_FOLDER;
    if (tm_has_ending(path, ".parquet"))
        return TM_DATABASE_PARQUET;
    return tm_has_ending(path, ".sqlite") || tm_has_ending(path, ".db") ? TM_DATABASE_SQLITE : TM_DATABASE_NONE;
}

void tm_run_database_want_file(struct tm_run_database *d, const char *path)
{
    if (tm_database_form_of(path) == TM_DATABASE_PARQUET) {
        d->sources |= TM_QUERY_EVENTS;
        return;
    }
    d->wanted = UINT32_MAX;
    d->sources = TM_QUERY_SUMMARY | TM_QUERY_GAPS | TM_QUERY_EVENTS;
    if (d->options->args != TM_ARGS_NONE)
        d->sources |= TM_QUERY_ARGS;
}

static void save_sqlite(struct tm_run_database *d, const struct tm_file_place *place)
{
    struct tm_atomic_file file = { .stream = NULL };

    if (!tm_atomic_open(&file, d->run, place->folder, place->name))
        tm_database_save(d->run, d->database.db, file.part);
    if (!tm_failed(d->run))
        tm_atomic_commit(&file);
    tm_atomic_abort(&file);
}

void tm_run_database_save(struct tm_run_database *d, const char *path)
{
    const enum tm_database_form form = tm_database_form_of(path);
    struct tm_file_place place;

    if (tm_failed(d->run))
        return;
    if (form == TM_DATABASE_FOLDER) {
        tm_make_folder(d->run, path);
        save_folder(d, path);
        return;
    }
    if (tm_find_place(d->run, path, &place) || tm_make_folder(d->run, place.folder))
        return;
    if (form == TM_DATABASE_PARQUET)
        save_table(d, &tm_query_tables[0], place.folder, place.name);
    else
        save_sqlite(d, &place);
}
