/* SPDX-License-Identifier: Apache-2.0 */
/* `query`: SQL over the events and the tables of a run; `schema`: which tables there are.  The statement is prepared on
 * an empty database first: it decides what of the run is read. */
#include <stdio.h>

#include <sqlite3.h>

#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/engine/run_database.h"
#include "pipeline/files.h"
#include "pipeline/process.h"
#include "reports/query/query.h"

/* SQLite looks at the clock between its operations, and a single one may take minutes: instr of two long texts, printf
 * with a large width. */
#define GRACE_NS UINT64_C(500000000)

static void answer(struct tm_run_database *d, struct sqlite3_stmt *statement)
{
    const struct tm_options *const o = d->options;
    const struct tm_query_answer of = { .statement = statement,
                                        .sql = o->inputs[1],
                                        .form = o->json          ? TM_QUERY_JSON
                                                : o->as_csv      ? TM_QUERY_CSV
                                                : o->as_markdown ? TM_QUERY_MARKDOWN
                                                                 : TM_QUERY_TEXT,
                                        .columns = tm_columns_of_line(),
                                        .top = o->top,
                                        .limit_ps = o->time_limit_ps,
                                        .is_partial = d->is_partial };

    if (o->time_limit_ps > 0)
        tm_signals_deadline((uint64_t)o->time_limit_ps / 1000 + GRACE_NS,
                            "tracemill: " TM_QUERY_LATE "\nhint: " TM_QUERY_LATE_HINT "\n");
    (void)tm_finish_stdout(d->run, tm_query_print(d->run, &of, stdout));
    tm_signals_deadline(0, "");
}

static void check_options(struct tm_run *run, const struct tm_options *options)
{
    if (options->json + options->as_csv + options->as_markdown > 1) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot combine --json, --csv and --markdown");
        tm_hint(&run->error, "use only one of them");
    } else if (options->input_count < 2 && !options->keep_database) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "there is no SQL to run");
        tm_hint(&run->error,
                "'tracemill query RUN \"select name, total_ps from kernels\"'; 'tracemill schema' lists the"
                " tables");
    } else if (options->keep_database && tm_database_form_of(options->keep_database) == TM_DATABASE_NONE) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot keep '%s': its ending names no format",
                      options->keep_database);
        tm_hint(&run->error, "end it with .sqlite, .parquet (the events) or / (a folder of Parquet files)");
    } else if (options->keep_database) {
        tm_guard_output(run, options->keep_database, "the database");
    }
}

static tm_status run_query(struct tm_run *run, const struct tm_options *options)
{
    struct tm_run_database d = { .run = run };
    struct sqlite3_stmt *statement = NULL;

    check_options(run, options);
    if (tm_failed(run))
        return run->error.status;
    tm_run_database_open(&d, run, options);
    if (options->input_count > 1)
        statement = tm_query_prepare(run, d.database.db, options->inputs[1], &d.wanted, &d.sources);
    if (options->keep_database)
        tm_run_database_want_file(&d, options->keep_database);
    tm_run_database_fill(&d, 1);
    if (options->keep_database)
        tm_run_database_save(&d, options->keep_database);
    if (!tm_failed(run) && statement)
        answer(&d, statement);
    (void)sqlite3_finalize(statement);
    tm_run_database_close(&d);
    return tm_failed(run) ? run->error.status : d.is_partial ? TM_PARTIAL : TM_OK;
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
