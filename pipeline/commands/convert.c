/* SPDX-License-Identifier: Apache-2.0 */
/* `convert`: a run into one file, in another format.  The file's ending says which. */
#include "pipeline/engine/conversion.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/engine/run_database.h"
#include "pipeline/files.h"

#define DEFAULT_ENDING ".pftrace"

/* --- the output path --- */

struct place {
    struct tm_file_place file;
    const struct tm_trace_format *format;
};

/* in: path  must outlive the place */
static void find_place(struct tm_run *run, const struct tm_options *options, const char *path, struct place *place)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    place->format = tm_trace_format_of(name);
    if (!place->format) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot convert to '%s': its extension is not a known format",
                      path);
        tm_hint(&run->error, "end it with .pftrace, .pftrace.gz, .perfetto-trace, .json, .json.gz, .csv, .csv.gz, "
                             ".tar, .parquet or .sqlite, or with / for a folder"
                             " of Parquet tables");
        return;
    }
    tm_find_place(run, path, &place->file);
    tm_check_zstd(run, options, place->format, name);
    tm_guard_output(run, path, "the trace");
}

/* --- the verb --- */

static void print_json(struct tm_run *run, const struct tm_conversion *c, const struct tm_written *written)
{
    struct tm_doc *doc = tm_doc_new(run);

    if (!doc)
        return;
    tm_add_string(tm_doc_root(doc), "schema", "tracemill.convert");
    tm_add_int(tm_doc_root(doc), "schema_version", 1);
    tm_written_add(written, tm_doc_root(doc));
    tm_add_int(tm_doc_root(doc), "epoch_ns", c->epoch_ns);
    tm_add_bool(tm_doc_root(doc), "partial", c->damaged_files > 0);
    tm_doc_print(doc, run, STDOUT_FILENO);
    tm_doc_free(doc);
}

/* in: path of the file, as given by the user */
static void write_file(struct tm_conversion *c, const struct place *place, const char *path)
{
    struct tm_run *run = c->run;
    struct tm_out_file *file = NULL;
    struct tm_written written;

    if (tm_failed(run))
        return;
    tm_make_folder(run, place->file.folder);
    tm_progress_phase(&run->progress, "writing", 0);
    (void)(place->format->is_archive ? tm_convert_into_archive : tm_convert_into)(c, place->format, place->file.folder,
                                                                                  place->file.name, &file, &written);
    tm_conversion_judge(c, "convert");
    if (run->redactor)
        tm_redaction_save(run, c->options, path);
    if (!tm_failed(run))
        tm_out_file_commit(file, &written.bytes);
    tm_out_file_free(file);
    tm_progress_end(&run->progress);
    if (tm_failed(run))
        return;
    if (c->options->json)
        print_json(run, c, &written);
    else if (!c->options->quiet)
        tm_written_print(&written, place->file.has_folder ? place->file.folder : NULL, stdout);
}

/* The default name: from the input, or from its pseudonym, whose key is known after the input was read. */
static void find_fallback(struct tm_conversion *c, char path[TM_PLACE_BYTES], struct place *place)
{
    char run_name[TM_SHOWN_RUN_BYTES];

    if (tm_failed(c->run))
        return;
    tm_conversion_run_name(c, run_name);
    tm_default_name(path, c->run, c->options, run_name, DEFAULT_ENDING, true);
    find_place(c->run, c->options, path, place);
}

/* Tables instead of a trace: a database, or Parquet files. */
static tm_status write_tables(struct tm_run *run, const struct tm_options *options)
{
    struct tm_run_database d = { .run = run };

    if (options->redact) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot write '%s' with --redact: tables have the names",
                      options->output);
        tm_hint(&run->error, "write a .csv, .json or .pftrace, or keep the tables private");
        return TM_ERR_USAGE;
    }
    tm_guard_output(run, options->output, "the tables");
    tm_run_database_open(&d, run, options);
    tm_run_database_want_file(&d, options->output);
    tm_run_database_fill(&d, options->input_count);
    tm_run_database_save(&d, options->output);
    tm_run_database_close(&d);
    if (!tm_failed(run) && !options->quiet)
        (void)printf("%s\n", options->output);
    return tm_failed(run) ? run->error.status : d.is_partial ? TM_PARTIAL : TM_OK;
}

static tm_status run_convert(struct tm_run *run, const struct tm_options *options)
{
    struct tm_conversion conversion;
    char fallback[TM_PLACE_BYTES];
    const char *const path = options->output ? options->output : fallback;
    struct place place = { .format = tm_trace_format_of("trace" DEFAULT_ENDING) };
    tm_status st;

    if (options->output && tm_database_form_of(options->output) != TM_DATABASE_NONE)
        return write_tables(run, options);
    if (options->output)
        find_place(run, options, options->output, &place);
    if (options->overview && place.format && (place.format->type != &tm_perfetto_writer || place.format->is_archive) &&
        !tm_failed(run)) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot write '%s' with --overview: an overview is a .pftrace",
                      path);
        tm_hint(&run->error, "end it with .pftrace");
    }
    if (options->redact)
        tm_redaction_begin(run, options);
    tm_conversion_open(&conversion, run, options, "convert",
                       options->plain || (place.format && !place.format->shows_derived));
    if (!options->output && !run->redactor)
        find_fallback(&conversion, fallback, &place);
    tm_conversion_prepare(&conversion);
    if (!options->output && run->redactor)
        find_fallback(&conversion, fallback, &place);
    write_file(&conversion, &place, path);
    st = tm_conversion_warn(&conversion);
    tm_conversion_close(&conversion);
    if (options->redact)
        tm_redaction_end(run);
    return st;
}

/* clang-format off */
const struct tm_verb tm_convert_verb = {
    .name = "convert",
    .summary = "convert a trace to Perfetto, clean JSON, or a table",
    .usage = "INPUT... [-o FILE] [OPTION...]",
    .description =
        "Reads what report reads and writes it as one file, in bounded memory; the extension selects the format:"
        " .pftrace, .pftrace.gz, .perfetto-trace, .json, .json.gz, .csv, .csv.gz, .tar (a .pftrace for each host, for Perfetto 58), .parquet (events) or .sqlite (all tables);"
        " DIR/ is a folder with a Parquet file for each table. Spans that"
        " overlap get separate lanes, times keep every digit, and losses are reported.\n"
        "A .pftrace opens at https://ui.perfetto.dev: drop it onto the page, it stays on this machine."
        " Computed results appear beside the recorded events, unless --plain is given: the verdict in the"
        " first row, findings, steps, idle gaps with their cause, queue depth, busy share, XLA modules, framework scopes,"
        " collectives by communicator. Several INPUTs are the"
        " hosts of one run; their clocks are aligned if the start of each profile is recorded.",
    .examples =
        "tracemill convert host.xplane.pb -o run.pftrace    for ui.perfetto.dev\n"
        "tracemill convert vm.trace.json.gz -o clean.json.gz --plain    the same format, repaired\n"
        "tracemill convert logdir --latest -o overview.pftrace --overview    a run of any size, in seconds\n"
        "tracemill convert logdir --latest --args essential -o small.pftrace    opens in less memory\n"
        "tracemill convert run.xplane.pb --filter device=gpu:0 --filter min=10us -o gpu0.csv    a table\n"
        "tracemill convert logdir --latest -o tables/    Parquet for pandas, DuckDB and polars\n",
    .bit = TM_FOR_CONVERT,
    .flags = TM_VERB_SPILLS | TM_VERB_TRACES,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_convert,
};
/* clang-format on */
