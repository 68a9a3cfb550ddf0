/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/commands/commands.h"

#include <stdio.h>
#include <sys/stat.h>

#include "pipeline/doc/doc.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/engine/conversion.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/options.h"
#include "pipeline/remote.h"
#include "reports/content/content.h"
#include "reports/findings/summary_query.h"

/* The summary of a run, then each wanted format of it into one folder. */

static tm_status deliver(struct tm_run *run, const struct tm_options *options, const struct tm_document_result *result,
                         const struct tm_report_taker *taker)
{
    const struct tm_value *const summary = tm_doc_root(result->doc);
    const bool is_partial = tm_is(tm_path(summary, "input.partial"));
    char folder[TM_PLACE_BYTES];
    bool holds;

    tm_check_strict(run, is_partial, "report");
    if (!options->output)
        tm_default_name(folder, run, options, tm_text(tm_path(summary, "input.run")), ".report", false);
    if (tm_failed(run) || tm_document_deliver(run, result, options->output ? options->output : folder, options) ||
        (taker && taker->take(taker->to, summary)))
        return run->error.status;
    holds = tm_query_checks_hold(summary);
    if (!holds)
        tm_print_failed_checks(summary);
    if (is_partial)
        tm_print_partial(summary, "report is");
    return is_partial || !holds ? TM_PARTIAL : TM_OK;
}

/* The trace is written from what the analysis leaves open. */
static void analyze(struct tm_run *run, const struct tm_options *options, struct tm_document_result *result,
                    struct tm_conversion *conversion)
{
    struct tm_partial_writer **partial = options->formats & TM_FORMAT_PARTIAL ? &result->partial : NULL;
    struct tm_observer observer;

    if (!(options->formats & TM_FORMAT_PERFETTO)) {
        tm_analyze(run, options, result->doc, partial, NULL);
        return;
    }
    result->conversion = conversion;
    if (tm_conversion_open(conversion, run, options, "write a trace of", options->plain))
        return;
    tm_conversion_observe(conversion, &observer);
    if (!tm_analyze(run, options, result->doc, partial, &observer))
        tm_conversion_take_summary(conversion, tm_doc_root(result->doc));
}

/* A summary that was stored: its reports are made again, and nothing is analyzed. */
static bool is_stored(const struct tm_options *options, char file[TM_PLACE_BYTES])
{
    struct stat info;

    return options->input_count == 1 &&
           (tm_remote_is(options->inputs[0]) || (stat(options->inputs[0], &info) == 0 && S_ISREG(info.st_mode))) &&
           tm_document_find(options->inputs[0], "summary.json", "tracemill.summary", file);
}

static void read_stored(struct tm_run *run, const struct tm_options *options, struct tm_doc *doc, const char *file)
{
    if (options->formats & (TM_FORMAT_PARTIAL | TM_FORMAT_PERFETTO)) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                      "cannot write a partial or a trace of '%s': a summary has no events", file);
        tm_hint(&run->error, "pass the trace that it was created from");
    } else if (options->title || options->note) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot change the title or the note of '%s'", file);
        tm_hint(&run->error, "pass the trace that it was created from");
    } else if (!tm_refuse_redaction(run, options, "report")) {
        (void)tm_summary_read(run, doc, file);
    }
}

static void check_formats(struct tm_run *run, const struct tm_options *options)
{
    if (options->redact && options->formats & TM_FORMAT_PARTIAL) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                      "cannot write a partial with --redact: a partial contains the "
                      "names");
        tm_hint(&run->error, "keep the partial private, and write a report from it with --redact for others");
    } else if (options->formats & TM_FORMAT_PFTRACE) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use 'pftrace' for --format: it is a format for split");
        tm_hint(&run->error, "'--format perfetto' writes a trace beside the report");
    }
}

tm_status tm_report_make(struct tm_run *run, const struct tm_options *options, const struct tm_report_taker *taker)
{
    struct tm_conversion conversion = { .run = NULL };
    struct tm_document_result result = { .paper = options->paper };
    char file[TM_PLACE_BYTES];
    tm_status st;

    check_formats(run, options);
    tm_check_folder(run, options->output ? options->output : ".");
    if (options->output)
        tm_guard_document(run, options->output, &tm_report_document, options->formats);
    if (options->redact)
        tm_redaction_begin(run, options);
    if (!tm_failed(run))
        result.doc = tm_doc_new(run);
    if (result.doc && is_stored(options, file))
        read_stored(run, options, result.doc, file);
    else if (result.doc)
        analyze(run, options, &result, &conversion);
    st = tm_failed(run) ? run->error.status : deliver(run, options, &result, taker);
    tm_doc_free(result.doc);
    if (options->formats & TM_FORMAT_PARTIAL)
        tm_partial_writer_free(result.partial);
    if (options->formats & TM_FORMAT_PERFETTO)
        tm_conversion_close(&conversion);
    if (options->redact)
        tm_redaction_end(run);
    return st;
}

static tm_status run_report(struct tm_run *run, const struct tm_options *options)
{
    return tm_report_make(run, options, NULL);
}

/* clang-format off */
const struct tm_verb tm_report_verb = {
    .name = "report",
    .summary = "diagnose a run: what slows it down, as HTML, PDF, text and JSON",
    .usage = "INPUT... [-o DIR] [OPTION...]",
    .description =
        "Reads the profile of a run in bounded memory and writes report.html, report.pdf, report.txt and summary.json to a folder. Existing files with these names are replaced atomically. --format also supports report.md for pull requests (markdown), the folder csv with all tables in full (csv), scopes.collapsed for flame graph tools (collapsed), run.partial (partial) and trace.pftrace (perfetto).\n"
        "INPUT is a trace file (*.xplane.pb, *.trace.json, *.prof; plain, gzip or zstd), the folder of a run, a log directory with runs at any depth, or a .tar, .tar.gz, .tar.zst or .zip archive of one, which needs no unpacking. If there are several runs, choose one with --latest or --run NAME. Several INPUTs are the hosts of one run. File types are detected by content, not by name.\n"
        "A stored summary.json gives its reports again, without the trace. With '-o -', a single format goes to stdout.",
    .examples =
        "tracemill report logdir --latest -o report       the newest run in a log directory\n"
        "tracemill report host.xplane.pb --format html    one file, one page\n"
        "tracemill report logdir --run warm --json        print the summary on stdout, too\n",
    .bit = TM_FOR_REPORT,
    .flags = TM_VERB_SPILLS,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_report,
};
/* clang-format on */
