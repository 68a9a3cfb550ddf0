/* SPDX-License-Identifier: Apache-2.0 */
/* `check`: a run against a gate file.  The verdict is printed on stdout and written to
 * files. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "reports/gates/gates.h"
#include "reports/media.h"

enum { FILES_MOST = 2, RUNS_MOST = TM_TEXTS_MOST + 1 };

struct check {
    struct tm_run *run;
    const struct tm_options *options;
    struct tm_gates *gates;
    struct tm_run_operand operand[RUNS_MOST]; /* the input, then its baselines */
    struct tm_compared_run runs[RUNS_MOST];
    size_t count;
    struct tm_summaries summaries;
    const struct tm_doc *result;
    struct tm_side_file file[FILES_MOST];
};

/* --- before any work --- */

static tm_status write_gate_file(const void *of, FILE *to)
{
    const struct check *c = of;

    return tm_gates_init(c->run, c->runs[0].summary, to);
}

static tm_status write_junit(const void *of, FILE *to)
{
    const struct check *c = of;

    return tm_junit_write(c->run, c->result, to);
}

static tm_status write_markdown(const void *of, FILE *to)
{
    const struct check *c = of;

    return tm_markdown_write(c->run, c->result, to);
}

static void refuse(const struct check *c, const char *reason, const char *hint)
{
    (void)tm_fail(&c->run->error, TM_ERR_USAGE, -1, "cannot check: %s", reason);
    tm_hint(&c->run->error, "%s", hint);
}

/* A gate file that somebody wrote is not replaced by one that was made. */
static void prepare_init(struct check *c)
{
    const struct tm_options *options = c->options;
    struct stat info;

    if (options->baseline.count || options->junit || options->markdown || options->json)
        refuse(c, "--init writes a gate file and evaluates nothing", "omit --baseline, --junit, --markdown and --json");
    if (!options->gate)
        return;
    if (lstat(options->gate, &info) == 0 && !options->force) {
        (void)tm_fail(&c->run->error, TM_ERR_OUTPUT, -1, "'%s' already exists", options->gate);
        tm_hint(&c->run->error, "replace it with --force, or set another file with --gate");
    }
    c->file[0] = (struct tm_side_file){ options->gate, "the file of --gate", write_gate_file };
}

static void prepare_gates(struct check *c)
{
    const struct tm_options *options = c->options;

    if (!options->gate) {
        refuse(c, "no limits are given", "set a gate file with --gate FILE; --init creates one from a run");
        return;
    }
    if (tm_gates_read(c->run, &c->gates, options->gate))
        return;
    if (!options->baseline.count && tm_gates_want_baseline(c->gates))
        refuse(c, "the gates compare with a baseline, but none is given",
               "set one with --baseline, or add \"required\": false to those gates");
    c->file[0] = (struct tm_side_file){ options->junit, "the file of --junit", write_junit };
    c->file[1] = (struct tm_side_file){ options->markdown, "the file of --markdown", write_markdown };
}

static void prepare(struct check *c)
{
    const struct tm_options *options = c->options;

    tm_refuse_redaction(c->run, options, "check");
    if (options->init)
        prepare_init(c);
    else if (!tm_failed(c->run))
        prepare_gates(c);
    tm_side_files_check(c->run, c->file, FILES_MOST);
    tm_run_operand_read(&c->operand[c->count++], options->inputs[0]);
    for (size_t i = 0; i < options->baseline.count; i++)
        tm_run_operand_read(&c->operand[c->count++], options->baseline.text[i]);
    if (!tm_failed(c->run))
        tm_run_operands_check(c->run, c->operand, c->count);
}

/* --- outputs --- */

static void init(struct check *c)
{
    if (!c->options->gate) {
        tm_finish_stdout(c->run, tm_gates_init(c->run, c->runs[0].summary, stdout));
        return;
    }
    tm_side_files_write(c->run, c->file, FILES_MOST, c);
    if (!tm_failed(c->run) && !c->options->quiet) {
        (void)fputs("written to ", stdout);
        tm_print_clean(stdout, c->options->gate);
        (void)putchar('\n');
    }
}

static void print(struct check *c, const struct tm_doc *doc)
{
    if (c->options->json)
        tm_print_document(c->run, doc);
    else
        tm_finish_stdout(c->run, tm_text_write(c->run, doc, stdout));
}

/* --- the verb --- */

/* True if every gate could be assessed, or need not be.  Those of a partial input are assessed where
 * they allow it. */
static bool is_judged(const struct tm_value *result)
{
    const struct tm_value *const counts = tm_get(result, "counts");
    const bool is_partial = tm_is(tm_path(result, "input.partial"));

    return !tm_int(tm_get(counts, "unknown")) && !(is_partial && tm_int(tm_get(counts, "skipped")));
}

/* For a job of GitHub Actions. */
static void annotate(struct check *c, const struct tm_doc *doc)
{
    const struct tm_value *const gates = tm_get(tm_doc_root(doc), "gates");

    for (size_t i = 0; i < tm_length(gates); i++)
        tm_actions_annotate_gate(tm_at(gates, i), tm_text(tm_path(tm_doc_root(doc), "input.run")));
    tm_actions_add_summary(c->run, doc);
}

static tm_status judge(struct check *c, struct tm_doc *doc)
{
    const struct tm_comparison_side baseline = { .label = c->count > 1 ? c->summaries.run[1].label : "",
                                                 .run = &c->runs[1],
                                                 .runs = c->count - 1 };
    size_t failed = 0;

    tm_gates_judge(c->run, doc, c->gates, &c->runs[0], c->count > 1 ? &baseline : NULL, &failed);
    tm_summaries_free(&c->summaries);
    c->result = doc;
    tm_side_files_write(c->run, c->file, FILES_MOST, c);
    if (!tm_failed(c->run)) {
        print(c, doc);
        annotate(c, doc);
    }
    if (tm_failed(c->run))
        return c->run->error.status;
    return failed ? TM_GATE : is_judged(tm_doc_root(doc)) ? TM_OK : TM_PARTIAL;
}

/* Gates of a run that is not whole pass for those of a whole one once they are in a file. */
static void warn_of_init(const struct tm_value *summary)
{
    if (tm_is(tm_path(summary, "input.partial")))
        tm_print_partial(summary, "run of these gates is");
    tm_print_failed_checks(summary);
}

static tm_status work(struct check *c)
{
    struct tm_run *run = c->run;
    struct tm_doc *doc;
    tm_status st;

    prepare(c);
    if (tm_failed(run) || tm_summaries_load(&c->summaries, run, c->options, c->operand, c->count, "check"))
        return run->error.status;
    for (size_t i = 0; i < c->count; i++)
        c->runs[i] = (struct tm_compared_run){ .summary = tm_doc_root(c->summaries.run[i].doc),
                                               .path = c->summaries.run[i].path,
                                               .is_summary = c->summaries.run[i].is_summary,
                                               .measured_ps = -1 };
    if (c->options->init) {
        init(c);
        if (tm_failed(run) || !c->summaries.run[0].is_partial)
            return run->error.status;
        warn_of_init(c->runs[0].summary);
        return TM_PARTIAL;
    }
    doc = tm_doc_new(run);
    if (!doc)
        return run->error.status;
    st = judge(c, doc);
    tm_doc_free(doc);
    return st;
}

static tm_status run_check(struct tm_run *run, const struct tm_options *options)
{
    struct check *c = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*c), &run->error);
    tm_status st;

    if (!c)
        return run->error.status;
    c->run = run;
    c->options = options;
    st = work(c);
    tm_summaries_free(&c->summaries);
    tm_gates_free(c->gates);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, c, sizeof(*c));
    return st;
}

/* clang-format off */
const struct tm_verb tm_check_verb = {
    .name = "check",
    .summary = "check a run against limits, for CI: exit status 1 if one is exceeded",
    .usage = "INPUT --gate FILE [--baseline PATH] [OPTION...]",
    .description =
        "Reads a run, or its summary, and checks its figures against the limits in a gate file: absolute limits, or limits relative to a baseline that take the noise of both runs into account. Prints the result, as JSON with --json; --junit and --markdown write it to files. The exit status is 1 only if a gate failed, and 4 if a gate could not be evaluated or the input is partial.\n"
        "--init creates a gate file from an existing run, as a starting point.",
    .examples =
        "tracemill check logdir --latest --init --gate gates.json    limits from a run\n"
        "tracemill check logdir --latest --gate gates.json --junit gates.xml    for CI\n"
        "tracemill check new.report --gate gates.json --baseline main.report    against an older run\n",
    .bit = TM_FOR_CHECK,
    .flags = TM_VERB_SPILLS,
    .least = 1,
    .most = 1,
    .run = run_check,
};
/* clang-format on */
