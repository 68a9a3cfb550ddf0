/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries that no profile gives (fuzz_changes.h), on every medium.  What is looked for is what fuzz_report looks for. */

#include "pipeline/engine/outputs.h"
#include "reports/findings/findings.h"
#include "tests/fuzz/fuzz_changes.h"
#include "tests/fuzz/fuzz_media.h"

enum { QUICK = 3 * FUZZ_PDF /* one of so many is a PDF, which takes ten times as long as the others */ };

static enum fuzz_medium medium_of(uint8_t byte)
{
    const int which = byte % (QUICK + FUZZ_MEDIA - FUZZ_PDF);

    return (enum fuzz_medium)(which < QUICK ? which % FUZZ_PDF : which - QUICK + FUZZ_PDF);
}

static tm_status conclude(struct tm_run *run, struct tm_value *summary)
{
    static struct tm_thresholds thresholds;
    tm_status st = tm_thresholds_init(&thresholds, &run->error);

    if (st == TM_OK)
        st = tm_marks_add(run, summary);
    if (st == TM_OK)
        st = tm_findings_add(run, summary, &thresholds);
    if (st == TM_OK)
        st = tm_kpis_add(run, summary, &thresholds);
    return st == TM_OK ? tm_verdict_add(run, summary, &thresholds) : st;
}

static tm_status redact(struct tm_run *run, struct tm_doc *doc)
{
    run->redactor = fuzz_redactor(run);
    return run->redactor ? tm_redact_summary(run->redactor, doc) : run->error.status;
}

static void report(struct tm_run *run, struct tm_doc *doc, const uint8_t *data, size_t size)
{
    struct script script = { data, size, 0, 0 };
    const uint8_t medium = next_byte(&script), kind = next_byte(&script), how = next_byte(&script);
    tm_status st;

    find_next_change(&script);
    copy_inside(&script, tm_doc_root(doc), base(kind), 1);
    st = tm_doc_status(doc);
    if (st == TM_OK && how & 1)
        st = redact(run, doc);
    if (st == TM_OK && how & 2)
        st = conclude(run, tm_doc_root(doc));
    if (st == TM_OK && tm_doc_status(doc) == TM_OK)
        (void)fuzz_write(run, doc, medium_of(medium));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tm_run run;
    struct tm_doc *doc;

    fuzz_run_init(&run);
    doc = tm_doc_new(&run);
    if (doc)
        report(&run, doc, data, size);
    tm_doc_free(doc);
    tm_redactor_free(run.redactor);
    fuzz_run_end(&run);
    return 0;
}
