/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/commands/night_index.h"

#include "pipeline/commands/closing.h"

static const uint32_t of_documents =
    TM_FORMAT_HTML | TM_FORMAT_PDF | TM_FORMAT_JSON | TM_FORMAT_TEXT | TM_FORMAT_MARKDOWN | TM_FORMAT_CSV;

/* What a reader opens first of a run's report; NULL = its folder. */
static const char *report_file(uint32_t formats)
{
    return formats & TM_FORMAT_HTML ? "report.html" :
           formats & TM_FORMAT_PDF  ? "report.pdf" :
           formats & TM_FORMAT_TEXT ? "report.txt" :
                                      NULL;
}

tm_status tm_night_index_write(struct tm_run *run, const struct tm_options *options, const char *out,
                               struct tm_history *history, const struct tm_judged_night *judged,
                               const struct tm_value *gates)
{
    const struct tm_night_options night = { .title = options->title,
                                            .note = options->note,
                                            .rows = options->rows,
                                            .report = report_file(options->formats),
                                            .judged = judged,
                                            .gates = gates };
    struct tm_document_result result = { .doc = tm_doc_new(run), .paper = options->paper };
    struct tm_options written = *options;
    tm_status st = result.doc ? tm_night_fill(run, result.doc, history, &night) : run->error.status;

    written.formats &= of_documents;
    if (!st)
        st = tm_document_deliver(run, &result, out, &written);
    tm_doc_free(result.doc);
    return st;
}
