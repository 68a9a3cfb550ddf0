/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes through the whole of `report`: open, walk, figures, summary, text and page.  What comes out is thrown
 * away; what is looked for are errors that the sanitizers see, endless loops, and memory that is kept.
 * Seeds: the recorded profiles, and what tests/fuzz/make_seeds.py makes. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pipeline/commands/analysis.h"
#include "pipeline/settings.h"
#include "pipeline/spill.h"
#include "reports/html/html.h"
#include "reports/text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tm_setting_set settings; /* too large for a stack */

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("input", MFD_CLOEXEC);
    char path[64];
    char *inputs[] = { path };
    struct tm_options options = { .input_count = 0 };
    struct tm_run run = { .quiet = true };

    if (fd < 0)
        return 0;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    tm_settings_init(&settings);
    if (write(fd, data, size) == (ssize_t)size && tm_settings_apply(&settings, &options, &run.error) == TM_OK) {
        options.inputs = inputs;
        options.input_count = 1;
        tm_budget_init(&run.budget, (size_t)TM_MEMORY_LEAST_MIB * TM_MIB);
        tm_progress_init(&run.progress, true);
        if (tm_spill_choose_dir(&run, NULL, "/tmp") == TM_OK)
            report(&run, &options);
    }
    (void)close(fd);
    return 0;
}
