/* SPDX-License-Identifier: Apache-2.0 */
/* `show`: a table or a figure of a run, or of another document, by its name. */
#include <stdio.h>
#include <string.h>

#include "pipeline/commands/commands.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/engine/outputs.h"
#include "reports/media.h"
#include "reports/show/show.h"
#include "stages/input/hlo/hlo.h"
#include "stages/resolve/classes.h"

static const char *what_of(const struct tm_options *options)
{
    return options->input_count > 1 ? options->inputs[1] : NULL;
}

/* in: what  NULL = the list of tables */
static tm_status print(struct tm_run *run, const struct tm_options *options, const struct tm_value *root,
                       const char *what)
{
    const struct tm_show_query query = {
        .what = what, .where = options->where, .sort = options->sort, .fields = options->fields, .top = options->top
    };
    const enum tm_show_form form = options->json          ? TM_SHOW_JSON
                                   : options->as_csv      ? TM_SHOW_CSV
                                   : options->as_markdown ? TM_SHOW_MARKDOWN
                                                          : TM_SHOW_TEXT;

    return tm_finish_stdout(run, tm_show_write(run, root, &query, form, tm_columns_of_line(), stdout));
}

/* --- existing documents --- */

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
        st = print(run, options, tm_doc_root(doc), what_of(options));
    tm_doc_free(doc);
    return !st && is_partial ? TM_PARTIAL : st;
}

/* --- runs --- */

static tm_status show_run(struct tm_run *run, const struct tm_options *options, struct tm_summaries *summaries)
{
    struct tm_run_operand operand;
    tm_status st;

    if (options->redact)
        tm_redaction_begin(run, options);
    tm_run_operand_read(&operand, options->inputs[0]);
    st = tm_summaries_load(summaries, run, options, &operand, 1, "show");
    if (st)
        return st;
    const struct tm_loaded_run *loaded = &summaries->run[0];
    const struct tm_value *summary = tm_doc_root(loaded->doc);

    if (options->redact && !tm_is(tm_path(summary, "report.redacted")))
        return tm_refuse_redaction(run, options, "read a summary");
    st = print(run, options, summary, what_of(options));
    if (st || !loaded->is_partial)
        return st;
    tm_print_failed_checks(summary);
    if (tm_is(tm_path(summary, "input.partial")))
        tm_print_partial(summary, "table is");
    return TM_PARTIAL;
}

/* --- the HLO of a profile --- */

static const char HLO[] = "hlo", HLO_BUFFERS[] = "hlo.buffers", HLO_PEAK[] = "hlo.peak", PROGRAMS[] = "programs";

struct hlo_reading {
    struct tm_run *run;
    struct tm_inputs inputs;
    struct tm_names *names;
    struct tm_value *root;
    struct tm_hlo_lists lists;
    struct tm_hlo_search search;
    bool is_partial;
};

typedef void use_host(struct hlo_reading *r, struct tm_host_run *host);

static void list_programs(struct hlo_reading *r, struct tm_host_run *host)
{
    tm_hlo_list_programs(&host->trace, host->input, &r->lists);
}

static void search_host(struct hlo_reading *r, struct tm_host_run *host)
{
    tm_hlo_search(&r->search, &host->trace, host->input);
}

static void list_instructions(struct hlo_reading *r, struct tm_host_run *host)
{
    tm_hlo_list_instructions(&r->search, &host->trace, host->input, r->root);
}

/* Scan a host for its programs. */
static void with_host(struct hlo_reading *r, uint32_t number, use_host *use)
{
    const struct tm_host_options options = { .only_scans = true };
    struct tm_host_run host;

    tm_host_open(&host, r->run, r->names, r->inputs.hosts[number], number, &options);
    if (!tm_failed(r->run)) {
        r->is_partial |= host.trace.partial;
        use(r, &host);
    }
    tm_host_close(&host);
}

static void with_hosts(struct hlo_reading *r, use_host *use)
{
    for (uint32_t i = 0; i < r->inputs.host_count && !tm_failed(r->run); i++)
        with_host(r, i, use);
}

static void refuse_op(struct hlo_reading *r, const char *op)
{
    struct tm_error *const error = &r->run->error;

    if (!r->search.programs) {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "cannot show '%.200s': the profile contains no HLO", op);
        tm_hint(
            error,
            "XSpace files (.xplane.pb) from JAX contain it if the programs were compiled or run during the profile");
    } else if (r->search.matches > 1) {
        (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot show '%.200s': %llu programs have an instruction of that name",
                      op, (unsigned long long)r->search.matches);
        tm_hint(error, "write PROGRAM/NAME: %.400s", r->search.others);
    } else {
        (void)tm_fail(error, TM_ERR_USAGE, -1, "cannot show '%.200s': no program has an instruction of that name", op);
        if (*r->search.nearest)
            tm_hint(error, "did you mean '%s'?", r->search.nearest);
        else
            tm_hint(error, "'tracemill show RUN programs' lists the programs; instructions are named like fusion.3");
    }
}

static void read_hlo(struct hlo_reading *r, const char *op)
{
    if (!op) {
        with_hosts(r, list_programs);
        return;
    }
    r->search.name = op;
    with_hosts(r, search_host);
    if (tm_failed(r->run))
        return;
    if (r->search.matches == 1)
        with_host(r, r->search.host, list_instructions);
    else
        refuse_op(r, op);
}

static tm_status print_hlo(struct hlo_reading *r, const struct tm_options *options, const char *op)
{
    const bool is_plain = !options->json && !options->as_csv && !options->as_markdown && !options->fields &&
                          !options->where && !options->sort && !options->top;

    if (op && is_plain)
        return tm_finish_stdout(r->run, tm_show_write_hlo(r->run, r->root, stdout));
    return print(r->run, options, r->root,
                 op                                             ? "instructions"
                 : strcmp(options->inputs[1], HLO_BUFFERS) == 0 ? "buffers"
                 : strcmp(options->inputs[1], HLO_PEAK) == 0    ? "peak"
                                                                : "programs");
}

static bool is_hlo(const char *what)
{
    return strcmp(what, HLO) == 0 || strcmp(what, HLO_BUFFERS) == 0 || strcmp(what, HLO_PEAK) == 0;
}

static void refuse_input(struct tm_run *run, const char *path)
{
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot show the HLO of '%s': it contains none", path);
    tm_hint(&run->error, "pass the profile that it was created from");
}

/* Partials have no HLO. */
static bool has_only_traces(const struct tm_inputs *inputs)
{
    for (size_t i = 0; i < inputs->file_count; i++)
        if (inputs->parts[i].kind != TM_PART_TRACE)
            return false;
    return true;
}

/* out: false: there is no HLO in the profile, and what was requested is also a part of the summary */
static bool show_hlo(struct tm_run *run, const struct tm_options *options, const char *op, tm_status *st)
{
    struct hlo_reading *const r = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*r), &run->error);
    struct tm_options only = *options;
    struct tm_doc *doc;
    bool is_shown = true;

    *st = run->error.status;
    if (!r)
        return true;
    r->run = run;
    only.input_count = 1;
    doc = tm_doc_new(run);
    r->root = doc ? tm_doc_root(doc) : NULL;
    if (doc && !tm_inputs_find(&r->inputs, run, &only))
        r->names = tm_names_new(run, tm_budget_share(&run->budget, TM_ACCOUNT_NAMES), tm_traits_of);
    if (!tm_failed(run) && has_only_traces(&r->inputs)) {
        tm_add_string(r->root, "schema", "tracemill.hlo");
        r->lists.programs = tm_add_array(r->root, "programs");
        r->lists.buffers = tm_add_array(r->root, "buffers");
        r->lists.peak = tm_add_array(r->root, "peak");
        read_hlo(r, op);
    } else if (!tm_failed(run) && is_hlo(options->inputs[1])) {
        refuse_input(run, options->inputs[0]);
    }
    if (r->is_partial)
        tm_add_bool(tm_add_object(r->root, "input"), "partial", true);
    if (!tm_failed(run))
        (void)tm_doc_status(doc);
    if (!tm_failed(run))
        tm_check_strict(run, r->is_partial, "show");
    tm_progress_end(&run->progress);
    if (!tm_failed(run) && !op && tm_length(r->lists.programs) == 0 && strcmp(options->inputs[1], PROGRAMS) == 0)
        is_shown = false;
    else if (!tm_failed(run))
        (void)print_hlo(r, options, op);
    *st = tm_failed(run) ? run->error.status : r->is_partial ? TM_PARTIAL : TM_OK;
    tm_doc_free(doc);
    tm_names_free(r->names);
    tm_inputs_free(&r->inputs);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, r, sizeof(*r));
    return is_shown;
}

static void check_operands(struct tm_run *run, const struct tm_options *options)
{
    const char *const what = options->input_count > 1 ? options->inputs[1] : "";
    char file[TM_PLACE_BYTES];

    if (options->input_count > 2 && strcmp(what, HLO) != 0) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot show '%.200s' and '%.200s': give one name", what,
                      options->inputs[2]);
        tm_hint(&run->error, "only 'hlo' takes a second name: 'tracemill show RUN hlo fusion.3'");
    } else if (is_hlo(what) && options->redact) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot combine '%s' and --redact: HLO consists of names", what);
    } else if (is_hlo(what) && strcmp(options->inputs[0], "-") == 0) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot show the HLO of stdin: it is read several times");
        tm_hint(&run->error, "write it to a file first");
    } else if (is_hlo(what) && tm_document_find(options->inputs[0], "summary.json", "tracemill.", file)) {
        refuse_input(run, options->inputs[0]);
    }
}

/* --- the verb --- */

static tm_status run_show(struct tm_run *run, const struct tm_options *options)
{
    struct tm_summaries summaries = { .of = NULL };
    const char *const what = what_of(options);
    char file[TM_PLACE_BYTES];
    tm_status st;

    if (options->json + options->as_csv + options->as_markdown > 1) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot combine --json, --csv and --markdown");
        tm_hint(&run->error, "use only one of them");
        return TM_ERR_USAGE;
    }
    check_operands(run, options);
    if (tm_failed(run))
        return run->error.status;
    if (find_document(options->inputs[0], file))
        return show_document(run, options, file);
    if (what &&
        (is_hlo(what) || (strcmp(what, PROGRAMS) == 0 && !options->redact &&
                          !tm_document_find(options->inputs[0], "summary.json", "tracemill.", file))) &&
        show_hlo(run, options, options->input_count > 2 ? options->inputs[2] : NULL, &st))
        return st;
    st = show_run(run, options, &summaries);
    tm_summaries_free(&summaries);
    if (options->redact)
        tm_redaction_end(run);
    return st;
}

/* clang-format off */
const struct tm_verb tm_show_verb = {
    .name = "show",
    .summary = "print a table or a figure of a run by name: filtered, sorted, as text, JSON, CSV or Markdown",
    .usage = "RUN [WHAT [OP]] [OPTION...]",
    .description =
        "Prints a table, or a single figure, and a summary of the omitted rows: their number, time and count. Without WHAT, it lists the available tables. RUN is a profile, the folder of a report, a summary.json, or the folder or file of a comparison, a scaling study, a check or a batch.\n"
        "WHAT is a name from that list (kernels, gaps, findings, figures), the path of a list or a figure (host.threads, devices[0].busy_ps, steps.median_ps), a key figure (device_utilization, step_time), or an unambiguous last name (by_name). SECTION.figures are the figures of a section.\n"
        "Of a profile with HLO: 'programs' lists the compiled programs with the memory that the compiler assigned to them, 'hlo.buffers' their largest buffers, 'hlo.peak' the largest ones that are alive at the peak, and 'hlo OP' prints an instruction with its operands and users, two levels of each, the body of a fusion, shapes, layouts, sharding, replica groups and source lines. docs/show.md describes conditions and output formats, schemas/SHOW.md the JSON.",
    .examples =
        "tracemill show run.report    the available tables\n"
        "tracemill show run.report kernels.by_name --top 10 --sort -total_ps    the kernels with the most time\n"
        "tracemill show run.report ops --where 'self_share_pct > 5 and bound = memory'    memory-bound operations\n"
        "tracemill show run.report gaps --where 'dur_ps > 1ms' --fields begin_ps,dur_ps,cause,host_event --json    for scripts\n"
        "tracemill show run.report step_time    one figure\n"
        "tracemill show run.xplane.pb hlo fusion.3    an instruction of the compiled program\n"
        "tracemill show run.xplane.pb programs --sort -peak_bytes    compiled programs by memory\n"
        "tracemill show compared.report --markdown    the tables of a comparison\n",
    .bit = TM_FOR_SHOW,
    .flags = TM_VERB_SPILLS | TM_VERB_PRINTS,
    .least = 1,
    .most = 3,
    .run = run_show,
};
/* clang-format on */
