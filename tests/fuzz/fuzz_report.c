/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes through the whole of `report`: open, walk, figures, summary, and every medium, with and without pseudonyms.
 * What comes out is thrown away; what is looked for are errors that the sanitizers see, endless loops, memory that is
 * kept, and texts that are no text.  PDF and tables take long: some inputs have them.
 * Seeds: the recorded profiles, and what tests/fuzz/make_seeds.py makes. */

#include <xxhash.h>

#include "pipeline/commands/analysis.h"
#include "tests/fuzz/fuzz_media.h"

enum { SAID_BYTES = 96, TABLES_EVERY = 4, PDF_EVERY = 8 };

/* What is chosen for an input, by its bytes. */
struct choice {
    uint64_t number; /* of the input: the same for the same bytes */
    char title[SAID_BYTES + 1], note[SAID_BYTES + 1];
};

static struct choice choice;

static bool is_due(enum fuzz_medium medium)
{
    if (medium >= FUZZ_PDF)
        return choice.number % PDF_EVERY == (uint64_t)(medium - FUZZ_PDF);
    return medium != FUZZ_CSV || choice.number % TABLES_EVERY == 0;
}

static void write_outputs(struct tm_run *run, const struct tm_doc *doc)
{
    tm_status st = TM_OK;

    for (int medium = 0; medium < FUZZ_MEDIA && st == TM_OK; medium++)
        if (is_due((enum fuzz_medium)medium))
            st = fuzz_write(run, doc, (enum fuzz_medium)medium);
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
    if (fuzz_options(&options, inputs, &run.error) != TM_OK)
        return;
    options.title = choice.title[0] ? choice.title : NULL;
    options.note = choice.note[0] ? choice.note : NULL;
    options.redact = choice.number / PDF_EVERY % 2 == 1;
    if (options.redact)
        run.redactor = fuzz_redactor(&run);
    report(&run, &options);
    tm_redactor_free(run.redactor);
    fuzz_abort_unless_given_back(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t said = size < SAID_BYTES ? size : SAID_BYTES;

    choice = (struct choice){ .number = XXH3_64bits(data, size) };
    if (said && choice.number / PDF_EVERY / 2 % 4 == 0) {
        memcpy(choice.title, data, said);
        memcpy(choice.note, data + size - said, said);
    }
    fuzz_with_file(data, size, use_file);
    return 0;
}
