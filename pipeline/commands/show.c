/* SPDX-License-Identifier: Apache-2.0 */
/* `show`: a table or a figure of a run, or of another document, by its name. */
#include <stdio.h>
#include <string.h>

#include "pipeline/commands/commands.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/engine/outputs.h"
#include "reports/media.h"
#include "reports/show/show.h"

static tm_status print(struct tm_run *run, const struct tm_options *options, const struct tm_value *root)
{
    const struct tm_show_query query = { .what = options->input_count > 1 ? options->inputs[1] : NULL,
                                         .where = options->where,
                                         .sort = options->sort,
                                         .fields = options->fields,
                                         .top = options->top };
    const enum tm_show_form form = options->json          ? TM_SHOW_JSON
                                   : options->as_csv      ? TM_SHOW_CSV
                                   : options->as_markdown ? TM_SHOW_MARKDOWN
                                                          : TM_SHOW_TEXT;

    return tm_finish_stdout(run, tm_show_write(run, root, &query, form, tm_columns_of_line(), stdout));
}

/* --- documents that are there --- */

static bool find_document(const char *path, char file[TM_PLACE_BYTES])
{
    static const struct {
        const char *name, *schema;
    } known[] = {
        { "index.json", "tracemill.night" },
        { "compare.json", "tracemill.comparison" },
        { "scaling.json", "tracemill.scaling" },
        { "check.json", "tracemill.check" },
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (tm_document_find(path, known[i].name, known[i].schema, file))
            return true;
    return false;
}

static tm_status show_document(struct tm_run *run, const struct tm_options *options, const char *file)
{
    struct tm_doc *doc = tm_doc_new(run);
    bool is_partial;
    tm_status st;

    if (!doc)
        return run->error.status;
    st = tm_document_read(run, doc, options, file, "show");
    is_partial = tm_is(tm_path(tm_doc_root(doc), "input.partial"));
    if (!st)
        st = print(run, options, tm_doc_root(doc));
    tm_doc_free(doc);
    return !st && is_partial ? TM_PARTIAL : st;
}

/* --- runs --- */

static tm_status show_run(struct tm_run *run, const struct tm_options *options, struct tm_summaries *summaries)
{
    struct tm_run_operand operand;
    tm_status st = tm_redaction_begin(run, options);

    tm_run_operand_read(&operand, options->inputs[0]);
    if (!st)
        st = tm_summaries_load(summaries, run, options, &operand, 1, "show");
    if (st)
        return st;
    const struct tm_loaded_run *loaded = &summaries->run[0];
    const struct tm_value *summary = tm_doc_root(loaded->doc);

    if (options->redact && !tm_is(tm_path(summary, "report.redacted")))
        return tm_refuse_redaction(run, options, "read a summary");
    st = print(run, options, summary);
    if (st || !loaded->is_partial)
        return st;
    tm_print_failed_checks(summary);
    if (tm_is(tm_path(summary, "input.partial")))
        tm_print_partial(summary, "table is");
    return TM_PARTIAL;
}

/* --- the verb --- */

static tm_status run_show(struct tm_run *run, const struct tm_options *options)
{
    struct tm_summaries summaries = { .of = NULL };
    char file[TM_PLACE_BYTES];
    tm_status st;

    if (options->json + options->as_csv + options->as_markdown > 1) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot combine --json, --csv and --markdown");
        tm_hint(&run->error, "use only one of them");
        return TM_ERR_USAGE;
    }
    if (find_document(options->inputs[0], file))
        return show_document(run, options, file);
    st = show_run(run, options, &summaries);
    tm_summaries_free(&summaries);
    tm_redaction_end(run);
    return st;
}

/* clang-format off */
const struct tm_verb tm_show_verb = {
    .name = "show",
    .summary = "print a table or a figure of a run by name: filtered, sorted, as text, JSON, CSV or Markdown",
    .usage = "RUN [WHAT] [OPTION...]",
    .description =
        "Prints a table, or a single figure, and a summary of the omitted rows: their number, time and count. Without WHAT, it lists the available tables. RUN is a profile, the folder of a report, a summary.json, or the folder or file of a comparison, a scaling study, a check or a batch.\n"
        "WHAT is a name from that list (kernels, gaps, findings, figures), the path of a list or a figure (host.threads, devices[0].busy_ps, steps.median_ps), a key figure (device_utilization, step_time), or an unambiguous last name (by_name). SECTION.figures are the figures of a section. docs/show.md describes conditions and output formats, schemas/SHOW.md the JSON.",
    .examples =
        "tracemill show run.report    the available tables\n"
        "tracemill show run.report kernels.by_name --top 10 --sort -total_ps    the kernels with the most time\n"
        "tracemill show run.report ops --where 'self_share_pct > 5 and bound = memory'    memory-bound operations\n"
        "tracemill show run.report gaps --where 'dur_ps > 1ms' --fields begin_ps,dur_ps,cause,host_event --json    for scripts\n"
        "tracemill show run.report step_time    one figure\n"
        "tracemill show compared.report --markdown    the tables of a comparison\n",
    .bit = TM_FOR_SHOW,
    .flags = TM_VERB_SPILLS | TM_VERB_PRINTS,
    .least = 1,
    .most = 2,
    .run = run_show,
};
/* clang-format on */
