/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes through the whole of `report`: open, walk, figures, summary, and a medium, with and without pseudonyms.
 * The fuzzer chooses the medium, the steps, how many rows, and how much memory (see fuzz_choices.h); most inputs are
 * written as the summary or not at all, since that is what reading leads to, and the other media take longer than that.
 * What comes out is thrown away; what is looked for are errors that the sanitizers see, endless loops, memory that is
 * kept, and texts that are no text.
 * Seeds: the recorded profiles, and what tests/fuzz/make_seeds.py makes. */

#include "pipeline/engine/analysis.h"
#include "tests/fuzz/fuzz_media.h"
#include "tests/fuzz/fuzz_mutate.h"

enum { SAID_BYTES = 96 };

/* What is chosen for an input. */
struct choice {
    uint8_t bytes[FUZZ_CHOICE_BYTES];
    char title[SAID_BYTES + 1], note[SAID_BYTES + 1];
};

static struct choice choice;

/* FUZZ_MEDIA = none */
static enum fuzz_medium chosen_medium(void)
{
    static const uint8_t shares[FUZZ_MEDIA] = {
        [FUZZ_JSON] = 90,      [FUZZ_HTML] = 24, [FUZZ_TEXT] = 24, [FUZZ_MARKDOWN] = 24,
        [FUZZ_COLLAPSED] = 12, [FUZZ_CSV] = 6,   [FUZZ_PDF] = 6,   [FUZZ_PDF_LETTER] = 2
    };
    int left = choice.bytes[0], medium = 0;

    while (medium < FUZZ_MEDIA && left >= shares[medium])
        left -= shares[medium++];
    return (enum fuzz_medium)medium;
}

static void choose_options(struct tm_options *options)
{
    static const uint16_t rows[] = { 50, 1, 3, TM_ROWS_MOST };
    const uint8_t steps = choice.bytes[1], how = choice.bytes[2];

    options->steps = steps % 4 == 1 ? TM_CHOOSE_ALL : steps % 4 == 2 ? TM_CHOOSE_RANGE : TM_CHOOSE_AUTO;
    options->steps_begin = steps / 4 % 4;
    options->steps_end = how & 1 ? UINT64_MAX : options->steps_begin + 1 + steps / 16 % 8;
    options->skip_steps = steps % 4 == 3 ? steps / 4 % 8 : -1;
    options->window = how & 2 ? TM_WINDOW_SESSION : TM_WINDOW_STEPS;
    options->redact = how & 4;
    options->rows = rows[how / 8 % 4];
    options->gap_min_ps = how & 32 ? 1 : options->gap_min_ps;
    options->title = how & 64 && choice.title[0] ? choice.title : NULL;
    options->note = how & 64 && choice.note[0] ? choice.note : NULL;
}

static void write_outputs(struct tm_run *run, const struct tm_doc *doc)
{
    if (chosen_medium() != FUZZ_MEDIA)
        (void)!fuzz_write(run, doc, chosen_medium());
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
    if (choice.bytes[3] % 8 == 1)
        tm_budget_init(&run.budget, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
    if (fuzz_options(&options, inputs, &run.error) != TM_OK)
        return;
    choose_options(&options);
    if (options.redact)
        run.redactor = fuzz_redactor(&run);
    report(&run, &options);
    tm_redactor_free(run.redactor);
    fuzz_run_end(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fuzz_choices choices = fuzz_choices_take(data, &size);
    const size_t said = size < SAID_BYTES ? size : SAID_BYTES;

    memset(&choice, 0, sizeof(choice));
    memcpy(choice.bytes, choices.bytes, sizeof(choice.bytes));
    if (said) {
        memcpy(choice.title, data, said);
        memcpy(choice.note, data + size - said, said);
    }
    fuzz_with_file(data, size, use_file);
    return 0;
}
