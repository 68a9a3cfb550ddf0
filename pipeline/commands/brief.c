/* SPDX-License-Identifier: Apache-2.0 */
/* `brief`: the problems of a run, the changes of another one, or the results of a night, in a few lines on stdout. */
#include <stdio.h>
#include <string.h>

#include "pipeline/commands/commands.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/engine/study.h"
#include "pipeline/strings.h"
#include "reports/brief/brief.h"

enum { RUNS_MOST = 2, COMMAND_BYTES = 600 };

struct shell_words {
    char text[COMMAND_BYTES];
    bool is_cut;
};

struct brief {
    struct tm_run *run;
    const struct tm_options *options;
    struct tm_summaries summaries;
    struct tm_run_spread spread;
    struct shell_words operand, settings;
};

/* --- the commands that show more --- */

static void put_words(void *to, const char *text, size_t length)
{
    struct shell_words *w = to;
    const size_t used = strlen(w->text);

    w->is_cut |= length >= sizeof(w->text) - used;
    if (w->is_cut)
        return;
    memcpy(w->text + used, text, length);
    w->text[used + length] = '\0';
}

static void put_setting(struct shell_words *w, const struct tm_options *options, enum tm_option_index index)
{
    const struct tm_option *option = &tm_option_table[index];
    char text[COMMAND_BYTES];
    const char *value = tm_settings_text(options->settings, index, text, sizeof(text));

    if (options->settings->of[index].origin != TM_ORIGIN_FLAG || !value)
        return;
    put_words(w, " --", 3);
    put_words(w, option->name, strlen(option->name));
    if (option->kind == TM_KIND_FLAG)
        return;
    put_words(w, " ", 1);
    tm_shell_word(put_words, w, value);
}

/* Paths are names, too. */
static void make_words(struct brief *b)
{
    static const enum tm_option_index choices[] = { TM_OPTION_RUN, TM_OPTION_LATEST };
    static const enum tm_option_index settings[] = { TM_OPTION_STEPS, TM_OPTION_SKIP_STEPS, TM_OPTION_WINDOW };
    const struct tm_options *options = b->options;
    bool is_open = !options->redact;

    for (size_t i = 0; i < options->input_count; i++) {
        is_open = is_open && strcmp(options->inputs[i], "-") != 0;
        put_words(&b->operand, " ", i > 0);
        tm_shell_word(put_words, &b->operand, options->inputs[i]);
    }
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
        put_setting(&b->operand, options, choices[i]);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        put_setting(&b->settings, options, settings[i]);
    if (!is_open || b->operand.is_cut)
        (void)snprintf(b->operand.text, sizeof(b->operand.text), options->input_count > 1 ? "BASE NEW" : "INPUT");
    if (b->settings.is_cut)
        b->settings.text[0] = '\0';
}

static tm_status print(struct brief *b, const struct tm_value *root, bool is_profile)
{
    const struct tm_brief_source source = {
        .root = root, .operand = b->operand.text, .settings = b->settings.text, .is_profile = is_profile
    };
    const enum tm_brief_form form = b->options->json          ? TM_BRIEF_JSON
                                    : b->options->as_markdown ? TM_BRIEF_MARKDOWN
                                                              : TM_BRIEF_TEXT;

    return tm_finish_stdout(b->run, tm_brief_write(b->run, &source, form, stdout));
}

/* --- existing documents --- */

/* A comparison or a night.  out: false: the operand is neither */
static bool find_document(const char *path, char file[TM_PLACE_BYTES])
{
    return tm_document_find(path, "index.json", "tracemill.night", file) ||
           tm_document_find(path, "compare.json", "tracemill.comparison", file);
}

static tm_status brief_document(struct brief *b, const char *file)
{
    struct tm_doc *doc = tm_doc_new(b->run);
    bool is_partial;
    tm_status st;

    if (!doc)
        return b->run->error.status;
    st = tm_document_read(b->run, doc, b->options, file, "brief");
    is_partial = tm_is(tm_path(tm_doc_root(doc), "input.partial"));
    if (!st && strcmp(tm_text(tm_get(tm_doc_root(doc), "schema")), "tracemill.comparison") == 0)
        b->operand.text[0] = '\0'; /* its runs are elsewhere */
    if (!st)
        st = print(b, tm_doc_root(doc), false);
    tm_doc_free(doc);
    return !st && is_partial ? TM_PARTIAL : st;
}

/* --- runs --- */

static tm_status load(struct brief *b)
{
    const struct tm_options *options = b->options;
    struct tm_run_operand operand[RUNS_MOST];

    for (size_t i = 0; i < options->input_count; i++)
        tm_run_operand_read(&operand[i], options->inputs[i]);
    return tm_summaries_load(&b->summaries, b->run, options, operand, options->input_count, "brief");
}

static tm_status brief_run(struct brief *b)
{
    tm_status st;

    if (b->options->redact)
        tm_redaction_begin(b->run, b->options);
    st = load(b);
    if (st)
        return st;
    const struct tm_loaded_run *loaded = &b->summaries.run[0];
    const struct tm_value *summary = tm_doc_root(loaded->doc);

    if (b->options->redact && !tm_is(tm_path(summary, "report.redacted")))
        return tm_refuse_redaction(b->run, b->options, "read a summary");
    st = print(b, summary, !loaded->is_summary);
    if (st || !loaded->is_partial)
        return st;
    tm_print_failed_checks(summary);
    if (tm_is(tm_path(summary, "input.partial")))
        tm_print_partial(summary, "brief is");
    return TM_PARTIAL;
}

static tm_status compare(struct brief *b, struct tm_doc *doc)
{
    struct tm_compared_run runs[RUNS_MOST];
    struct tm_comparison_side side[RUNS_MOST];
    struct tm_compare_options choice = tm_study_options(b->options);
    tm_status st = tm_run_spread_find(&b->spread, b->run, b->options, b->summaries.run, RUNS_MOST);

    for (size_t i = 0; i < RUNS_MOST; i++) {
        const struct tm_loaded_run *loaded = &b->summaries.run[i];

        runs[i] = (struct tm_compared_run){ .summary = tm_doc_root(loaded->doc),
                                            .path = loaded->path,
                                            .is_summary = loaded->is_summary,
                                            .measured_ps = -1 };
        side[i] = (struct tm_comparison_side){ .label = loaded->label, .run = &runs[i], .runs = 1 };
    }
    choice.spread = b->spread.figure;
    choice.spreads = b->spread.count;
    choice.run_spread_from = b->spread.from;
    if (!st && !b->options->force)
        st = tm_compare_check(b->run, side, RUNS_MOST);
    if (!st)
        st = tm_compare(b->run, doc, side, RUNS_MOST, &choice);
    return st ? st : tm_doc_status(doc);
}

static tm_status brief_two(struct brief *b)
{
    tm_status st = tm_refuse_redaction(b->run, b->options, "compare");
    struct tm_doc *doc = NULL;
    bool is_partial;

    if (!st)
        st = load(b);
    if (st)
        return st;
    doc = tm_doc_new(b->run);
    st = doc ? compare(b, doc) : b->run->error.status;
    is_partial = b->summaries.run[0].is_partial || b->summaries.run[1].is_partial;
    tm_summaries_free(&b->summaries);
    if (!st)
        st = print(b, tm_doc_root(doc), false);
    tm_doc_free(doc);
    if (st || !is_partial)
        return st;
    (void)fputs("tracemill: warning: a run is partial: its figures cover only what could be read\n", stderr);
    return TM_PARTIAL;
}

/* --- the verb --- */

static tm_status work(struct brief *b)
{
    const struct tm_options *options = b->options;
    char file[TM_PLACE_BYTES];

    make_words(b);
    if (options->json && options->as_markdown) {
        (void)tm_fail(&b->run->error, TM_ERR_USAGE, -1, "cannot print both --json and --markdown");
        tm_hint(&b->run->error, "use only one of them");
        return TM_ERR_USAGE;
    }
    for (size_t i = 0; i < options->input_count; i++) {
        if (!find_document(options->inputs[i], file))
            continue;
        if (options->input_count == 1)
            return brief_document(b, file);
        (void)tm_fail(&b->run->error, TM_ERR_USAGE, -1, "cannot compare '%s': it is not a run", options->inputs[i]);
        tm_hint(&b->run->error,
                "pass two profiles, reports or summaries; 'tracemill brief FOLDER' reads this one alone");
        return TM_ERR_USAGE;
    }
    return options->input_count == 1 ? brief_run(b) : brief_two(b);
}

static tm_status run_brief(struct tm_run *run, const struct tm_options *options)
{
    struct brief *b = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*b), &run->error);
    tm_status st;

    if (!b)
        return run->error.status;
    b->run = run;
    b->options = options;
    st = work(b);
    tm_summaries_free(&b->summaries);
    if (options->redact)
        tm_redaction_end(run);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, b, sizeof(*b));
    return st;
}

/* clang-format off */
const struct tm_verb tm_brief_verb = {
    .name = "brief",
    .summary = "print the main facts of a run in at most 8 KB, as text, JSON or Markdown",
    .usage = "RUN [NEW] [OPTION...]",
    .description =
        "Prints the verdict, what was read and what was not, the step time and its parts, the critical path, the key figures, the five largest findings with one line of evidence and advice each, the checks, and commands that show more, in at most 8,192 bytes for a run of any size. Omitted rows are counted. Only spill files are written to disk. With NEW, it prints what changed from RUN to NEW.\n"
        "RUN is a profile, the folder of a report, a summary.json, the folder of a comparison, or the output folder of a batch, for which it prints regressions, failures and jobs. schemas/BRIEF.md describes the JSON.",
    .examples =
        "tracemill brief logdir --latest    the newest run of a log directory\n"
        "tracemill brief run.report --json    for scripts and agents\n"
        "tracemill brief main.report new.report --markdown    what changed, for a pull request\n"
        "tracemill brief /data/perf    the last night of a batch\n",
    .bit = TM_FOR_BRIEF,
    .flags = TM_VERB_SPILLS | TM_VERB_PRINTS,
    .least = 1,
    .most = RUNS_MOST,
    .run = run_brief,
};
/* clang-format on */
