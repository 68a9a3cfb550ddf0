/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes through the whole of `report`: open, walk, figures, summary, text and page.  What comes out is thrown
 * away; what is looked for are errors that the sanitizers see, endless loops, and memory that is kept.
 * Seeds: the recorded profiles, and what tests/fuzz/make_seeds.py makes. */

#include "pipeline/commands/analysis.h"
#include "reports/html/html.h"
#include "reports/text/text.h"
#include "tests/fuzz/fuzz_job.h"

static void write_outputs(struct tm_run *run, const struct tm_doc *doc)
{
    FILE *const nothing = fopen("/dev/null", "w");

    if (!nothing)
        return;
    if (tm_doc_print(doc, run, fileno(nothing)) == TM_OK && tm_text_write(run, doc, nothing) == TM_OK)
        (void)!tm_html_write(run, doc, nothing);
    (void)fclose(nothing);
}

static void report(struct tm_run *run, const struct tm_options *options)
{
    struct tm_doc *const doc = tm_doc_new(run);

    if (doc && tm_analyze(run, options, doc, NULL, NULL) == TM_OK && tm_doc_status(doc) == TM_OK)
        write_outputs(run, doc);
    tm_doc_free(doc);
}

static void use_file(const char *path, size_t size)
{
    char text[64], *inputs[] = { text };
    struct tm_options options;
    struct tm_run run;

    (void)size;
    (void)snprintf(text, sizeof(text), "%s", path);
    fuzz_run_init(&run);
    if (fuzz_options(&options, inputs, &run.error) == TM_OK)
        report(&run, &options);
    fuzz_abort_unless_given_back(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_with_file(data, size, use_file);
    return 0;
}
