/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/commands/commands.h"

#include <stdio.h>

#include "pipeline/doc/doc.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/engine/conversion.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/options.h"
#include "reports/content/content.h"
#include "reports/findings/query.h"

/* The summary of a run, then each wanted format of it into one folder. */

static tm_status deliver(struct tm_run *run, const struct tm_options *options, const struct tm_document_result *result,
                         const struct tm_report_taker *taker)
{
    const struct tm_doc *const doc = result->doc;
    const struct tm_value *const summary = tm_doc_root(doc);
    const bool is_partial = tm_is(tm_path(summary, "input.partial"));
    char folder[TM_PLACE_BYTES];
    tm_status st = tm_check_strict(run, is_partial, "report");

    if (!st && !options->output)
        st = tm_default_name(folder, run, options, tm_text(tm_path(summary, "input.run")), ".report", false);
    if (st)
        return st;
    const char *const to = options->output ? options->output : folder;

    st = tm_document_deliver(run, result, to, options);
    if (!st && taker)
        st = taker->take(taker->to, summary);
    if (!st && !tm_query_checks_hold(summary)) {
        tm_print_failed_checks(summary);
        st = TM_PARTIAL;
    }
    if (!is_partial || (st && st != TM_PARTIAL))
        return st;
    tm_print_partial(summary, "report is");
    return TM_PARTIAL;
}

/* The trace is written from what the analysis leaves open. */
static tm_status analyze(struct tm_run *run, const struct tm_options *options, struct tm_document_result *result,
                         struct tm_conversion *conversion)
{
    struct tm_partial_writer **partial = options->formats & TM_FORMAT_PARTIAL ? &result->partial : NULL;
    struct tm_observer observer;
    tm_status st;

    if (!(options->formats & TM_FORMAT_PERFETTO))
        return tm_analyze(run, options, result->doc, partial, NULL);
    result->conversion = conversion;
    st = tm_conversion_open(conversion, run, options, "write a trace of", options->plain);
    if (st)
        return st;
    tm_conversion_observe(conversion, &observer);
    st = tm_analyze(run, options, result->doc, partial, &observer);
    return st ? st : tm_conversion_take_summary(conversion, tm_doc_root(result->doc));
}

static tm_status check_formats(struct tm_run *run, const struct tm_options *options)
{
    if (options->redact && options->formats & TM_FORMAT_PARTIAL) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot write a partial with --redact: it holds the names");
        tm_hint(&run->error, "write the partial for yourself, and a report of it with --redact for others");
        return TM_ERR_USAGE;
    }
    if (!(options->formats & TM_FORMAT_PFTRACE))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use 'pftrace' for --format: it is a format of parts");
    tm_hint(&run->error, "'--format perfetto' writes a trace beside the report");
    return TM_ERR_USAGE;
}

tm_status tm_report_make(struct tm_run *run, const struct tm_options *options, const struct tm_report_taker *taker)
{
    struct tm_conversion conversion = { .run = NULL };
    tm_status st = check_formats(run, options);

    if (!st)
        st = tm_check_folder(run, options->output ? options->output : ".");
    if (!st && options->output)
        st = tm_guard_document(run, options->output, &tm_report_document, options->formats);
    if (!st)
        st = tm_redaction_begin(run, options);
    struct tm_document_result result = { .doc = st ? NULL : tm_doc_new(run), .paper = options->paper };

    if (!st && !result.doc)
        st = run->error.status;
    if (!st)
        st = analyze(run, options, &result, &conversion);
    if (!st)
        st = tm_doc_status(result.doc);
    if (!st)
        st = deliver(run, options, &result, taker);
    tm_partial_writer_free(result.partial);
    tm_doc_free(result.doc);
    tm_conversion_close(&conversion);
    tm_redaction_end(run);
    return st;
}

tm_status tm_command_report(struct tm_run *run, const struct tm_options *options)
{
    return tm_report_make(run, options, NULL);
}
