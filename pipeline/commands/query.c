/* SPDX-License-Identifier: Apache-2.0 */
/* `query`: SQL over the events and the tables of a run; `schema`: which tables there are.  The statement is prepared on an
 * empty database first: it decides what of the run is read. */
#include <string.h>

#include <sqlite3.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/database.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/engine/conversion.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/files.h"
#include "reports/query/query.h"
#include "stages/output/sqlite/event_tables.h"

enum { EVERYTHING = TM_QUERY_SUMMARY | TM_QUERY_GAPS | TM_QUERY_EVENTS };

struct job {
    struct tm_run *run;
    const struct tm_options *options;
    const char *sql; /* NULL = only --keep */
    struct tm_database database;
    struct sqlite3_stmt *statement;
    uint32_t wanted; /* tables of the summary */
    unsigned sources;
    struct tm_summaries summaries; /* where the summary is enough */
    struct tm_doc *doc;            /* where the profile is read */
    struct tm_conversion conversion;
    struct tm_gap_table gaps;
    const struct tm_observer_type *inner; /* of the conversion */
    bool is_partial;
};

/* --- the profile --- */

static tm_status begin_host(void *to, const struct tm_trace *trace)
{
    struct job *const job = to;

    job->gaps.trace = trace;
    return job->inner->begin_host(&job->conversion, trace);
}

static tm_status take_nothing(void *to, const struct tm_event *event)
{
    (void)to;
    (void)event;
    return TM_OK;
}

static tm_status take_gap(void *to, const struct tm_idle_gap *gap)
{
    struct job *const job = to;

    tm_gap_table_add(&job->gaps, gap);
    return job->run->error.status;
}

static tm_status end_host(void *to)
{
    struct job *const job = to;

    return job->inner->end_host(&job->conversion);
}

static const struct tm_observer_type gap_observer = { begin_host, take_nothing, take_gap, end_host };

static void write_events(struct job *job)
{
    struct tm_run *const run = job->run;
    struct tm_conversion *const c = &job->conversion;
    const enum tm_args_level args = job->sources & TM_QUERY_ARGS ? TM_ARGS_ALL : TM_ARGS_NONE;
    struct tm_trace_writer *const writer = tm_event_tables_writer_new(run, c->names, job->database.db, args);
    const struct tm_export_options export = { .writer = writer,
                                              .filter = job->options->filter.count ? &job->options->filter : NULL };
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
static void read_profile(struct job *job)
{
    struct tm_run *const run = job->run;
    struct tm_options options = *job->options;
    struct tm_observer observer;

    options.input_count = 1;
    job->doc = tm_doc_new(run);
    if (!job->doc || tm_conversion_open(&job->conversion, run, &options, "query", true))
        return;
    tm_conversion_observe(&job->conversion, &observer);
    job->inner = observer.type;
    observer.type = &gap_observer;
    observer.to = job;
    observer.keeps_arguments = (job->sources & TM_QUERY_ARGS) != 0;
    job->conversion.is_bare = !observer.keeps_arguments;
    if (!(job->sources & (TM_QUERY_EVENTS | TM_QUERY_ARGS)))
        observer.kept = NULL;
    tm_gap_table_open(&job->gaps, run, job->conversion.names, job->database.db);
    if (!tm_failed(run) && !tm_analyze(run, &options, job->doc, NULL, &observer))
        tm_conversion_take_summary(&job->conversion, tm_doc_root(job->doc));
    tm_gap_table_close(&job->gaps);
    if (tm_failed(run))
        return;
    job->is_partial = tm_is(tm_path(tm_doc_root(job->doc), "input.partial"));
    tm_check_strict(run, job->is_partial, "query");
    tm_query_fill(run, job->database.db, tm_doc_root(job->doc), job->wanted);
    tm_doc_free(job->doc); /* its memory is for the events */
    job->doc = NULL;
    if (job->sources & (TM_QUERY_EVENTS | TM_QUERY_ARGS))
        write_events(job);
    tm_progress_end(&run->progress);
}

/* --- the summary alone --- */

static void read_summary(struct job *job)
{
    struct tm_run_operand operand;

    tm_run_operand_read(&operand, job->options->inputs[0]);
    if (tm_summaries_load(&job->summaries, job->run, job->options, &operand, 1, "query"))
        return;
    job->is_partial = job->summaries.run[0].is_partial;
    tm_query_fill(job->run, job->database.db, tm_doc_root(job->summaries.run[0].doc), job->wanted);
}

/* The folder of a report, or a summary: neither has events. */
static bool is_summary(const char *path)
{
    char file[TM_PLACE_BYTES];

    return tm_document_find(path, "summary.json", "tracemill.summary", file);
}

static void fill(struct job *job)
{
    const char *const path = job->options->inputs[0];
    const bool needs_profile = job->sources & ~(unsigned)TM_QUERY_SUMMARY;

    if (needs_profile && is_summary(path)) {
        (void)tm_fail(&job->run->error, TM_ERR_USAGE, -1, "cannot query events of '%s': a summary holds none", path);
        tm_hint(&job->run->error, "give the profile; a summary has the tables of its figures alone");
    } else if (needs_profile) {
        read_profile(job);
    } else {
        read_summary(job);
    }
}

/* --- the database --- */

static void open_database(struct job *job)
{
    struct tm_run *const run = job->run;
    const char *const path = job->options->inputs[0];

    if (tm_database_is_ours(path)) {
        tm_database_open(&job->database, run, path);
        return;
    }
    tm_database_new(&job->database, run);
    tm_event_tables_create(run, job->database.db);
    tm_query_create(run, job->database.db);
}

static void keep(struct job *job)
{
    struct tm_atomic_file file = { .stream = NULL };
    struct tm_file_place place;

    if (tm_find_place(job->run, job->options->keep_database, &place))
        return;
    tm_make_folder(job->run, place.folder);
    if (!tm_atomic_open(&file, job->run, place.folder, place.name))
        tm_database_save(job->run, job->database.db, file.part);
    if (!tm_failed(job->run))
        tm_atomic_commit(&file);
    tm_atomic_abort(&file);
}

static tm_status answer(struct job *job)
{
    const struct tm_options *const o = job->options;
    const struct tm_query_answer of = { .statement = job->statement,
                                        .sql = job->sql,
                                        .form = o->json          ? TM_QUERY_JSON
                                                : o->as_csv      ? TM_QUERY_CSV
                                                : o->as_markdown ? TM_QUERY_MARKDOWN
                                                                 : TM_QUERY_TEXT,
                                        .columns = tm_columns_of_line(),
                                        .top = o->top,
                                        .limit_ps = o->time_limit_ps,
                                        .is_partial = job->is_partial };

    return tm_finish_stdout(job->run, tm_query_print(job->run, &of, stdout));
}

static void check_options(struct tm_run *run, const struct tm_options *options)
{
    if (options->json + options->as_csv + options->as_markdown > 1) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot print several of --json, --csv and --markdown");
        tm_hint(&run->error, "leave all but one of them out");
    } else if (options->input_count < 2 && !options->keep_database) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "there is no SQL to run");
        tm_hint(&run->error,
                "'tracemill query RUN \"select name, total_ps from kernels\"'; 'tracemill schema' lists the"
                " tables");
    } else if (options->keep_database) {
        tm_guard_output(run, options->keep_database, "the database");
    }
}

static void work(struct job *job)
{
    struct tm_run *const run = job->run;
    const struct tm_options *const options = job->options;

    open_database(job);
    if (job->sql)
        job->statement = tm_query_prepare(run, job->database.db, job->sql, &job->wanted, &job->sources);
    if (options->keep_database) {
        job->wanted = UINT32_MAX;
        job->sources = EVERYTHING | (options->args == TM_ARGS_NONE ? 0 : TM_QUERY_ARGS);
    }
    if (tm_failed(run) || tm_database_is_ours(options->inputs[0]))
        return;
    fill(job);
    if (options->keep_database && !tm_failed(run))
        keep(job);
}

static tm_status run_query(struct tm_run *run, const struct tm_options *options)
{
    struct job *const job = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*job), &run->error);
    bool is_partial = false;

    if (!job)
        return run->error.status;
    *job = (struct job){ .run = run, .options = options, .sql = options->input_count > 1 ? options->inputs[1] : NULL };
    check_options(run, options);
    if (!tm_failed(run))
        work(job);
    if (!tm_failed(run) && job->statement)
        (void)answer(job);
    is_partial = job->is_partial;
    (void)sqlite3_finalize(job->statement);
    tm_database_close(&job->database, run);
    tm_doc_free(job->doc);
    tm_summaries_free(&job->summaries);
    tm_conversion_close(&job->conversion);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, job, sizeof(*job));
    if (tm_failed(run))
        return run->error.status;
    return is_partial ? TM_PARTIAL : TM_OK;
}

static tm_status run_schema(struct tm_run *run, const struct tm_options *options)
{
    const enum tm_query_form form = options->json          ? TM_QUERY_JSON
                                    : options->as_markdown ? TM_QUERY_MARKDOWN
                                                           : TM_QUERY_TEXT;

    return tm_finish_stdout(run, tm_query_print_schema(run, options->input_count ? options->inputs[0] : NULL, form,
                                                       tm_columns_of_line(), stdout));
}

/* clang-format off */
const struct tm_verb tm_query_verb = {
    .name = "query",
    .summary = "run SQL over the events and the tables of a run",
    .usage = "RUN \"SELECT ...\" [OPTION...]",
    .description =
        "Runs one SELECT (SQLite) over tables of the run: events, args, launches, gaps, steps, kernels, ops, scopes,"
        " collectives, transfers, devices, threads, findings, figures. 'tracemill schema' describes them. Only the tables that"
        " the query reads are filled, in a temporary database on disk, within --memory; several hosts are one database. Times"
        " are whole picoseconds; each table with times has a view TABLE_ms in milliseconds.\n"
        "RUN is a profile, a log directory with --latest or --run, the folder of a report or its summary.json (tables of figures"
        " only), or a database that --keep wrote, which answers at once.",
    .examples =
        "tracemill query logdir --latest \"select name, sum(total_ps) / 1e9 as ms from kernels group by name order by ms desc limit 5\"    kernels by time\n"
        "tracemill query run.xplane.pb \"select cause, sum(dur_ms) from gaps_ms group by cause\" --json    for scripts\n"
        "tracemill query run.xplane.pb --keep run.sqlite    all tables, for any SQLite client\n"
        "tracemill query run.sqlite \"select count(*) from events\"    from the file, without reading the profile again\n",
    .bit = TM_FOR_QUERY,
    .flags = TM_VERB_SPILLS | TM_VERB_PRINTS,
    .least = 1,
    .most = 2,
    .run = run_query,
};

const struct tm_verb tm_schema_verb = {
    .name = "schema",
    .summary = "the tables of query: columns, units, meaning, and questions with their SQL",
    .usage = "[TABLE] [OPTION...]",
    .description =
        "Lists the tables that query reads, or the columns of one with their units and meaning, and three questions with the SQL"
        " that answers them.",
    .examples =
        "tracemill schema            the tables\n"
        "tracemill schema kernels    its columns\n",
    .bit = TM_FOR_SCHEMA,
    .flags = TM_VERB_PRINTS,
    .least = 0,
    .most = 1,
    .run = run_schema,
};
/* clang-format on */
