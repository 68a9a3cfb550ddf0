/* SPDX-License-Identifier: Apache-2.0 */
/* The main job: the summary of a run, then each wanted format of it into one folder. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/commands/analysis.h"
#include "pipeline/commands/commands.h"
#include "pipeline/commands/out_place.h"
#include "pipeline/commands/redaction.h"
#include "pipeline/commands/report_files.h"
#include "pipeline/doc.h"
#include "pipeline/terminal.h"
#include "reports/format/format.h"

enum { FINDINGS_SHOWN = 3, LINE_BYTES = 256 };

/* ---- what is said about it ---- */

static void print_clean(FILE *to, const char *text)
{
    char line[LINE_BYTES];

    tm_clean_text(line, sizeof(line), text, strlen(text));
    (void)fputs(line, to);
}

/* One line: which files are damaged, and how far the figures reach. */
static void warn_partial(const struct tm_value *summary)
{
    const struct tm_value *const files = tm_path(summary, "input.files");
    const struct tm_value *first = NULL;
    size_t count = 0;

    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *const file = tm_at(files, i);

        if (!tm_is(tm_get(file, "partial")))
            continue;
        first = first ? first : file;
        count++;
    }
    (void)fputs("tracemill: warning: the report is partial: ", stderr);
    if (first) {
        const char *const problem = tm_text(tm_at(tm_get(first, "problems"), 0));

        (void)fputc('\'', stderr);
        print_clean(stderr, tm_text(tm_get(first, "path")));
        (void)fputs(problem[0] ? "': " : "' is damaged", stderr);
        print_clean(stderr, problem);
        if (count > 1)
            (void)fprintf(stderr, ", and %zu more file%s", count - 1, count > 2 ? "s" : "");
        (void)fputs("; ", stderr);
    }
    (void)fputs("every figure rests only on what could be read\n", stderr);
}

static const char *color_of(const char *severity)
{
    static const struct {
        const char *severity, *escape;
    } colors[] = { { "bad", "\033[31m" }, { "warning", "\033[33m" }, { "good", "\033[32m" } };

    for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++) {
        if (strcmp(colors[i].severity, severity) == 0)
            return colors[i].escape;
    }
    return "";
}

static void print_finding(const struct tm_value *finding, bool has_colors)
{
    const char *const severity = tm_text(tm_get(finding, "severity"));
    const char *const color = has_colors ? color_of(severity) : "";
    char text[TM_FORMAT_BYTES];

    (void)printf("  %s%-8.8s%s", color, severity, color[0] ? "\033[0m" : "");
    print_clean(stdout, tm_text(tm_get(finding, "title")));
    if (tm_int(tm_get(finding, "at_stake_ps")) > 0) {
        (void)printf(" (%s at stake", tm_format_time(text, tm_int(tm_get(finding, "at_stake_ps"))));
        if (tm_has(tm_get(finding, "share_pct")))
            (void)printf(", %s", tm_format_pct(text, tm_double(tm_get(finding, "share_pct"))));
        (void)putchar(')');
    }
    (void)putchar('\n');
}

static void print_closing(const struct tm_value *summary, const char *folder,
                          const struct tm_options *options)
{
    const struct tm_value *const findings = tm_get(summary, "findings");
    const bool has_colors = tm_terminal_has_colors(options, stdout);
    const char *const color =
        has_colors ? color_of(tm_text(tm_path(summary, "verdict.severity"))) : "";
    const char *file;

    (void)fputs(color, stdout);
    print_clean(stdout, tm_text(tm_path(summary, "verdict.text")));
    (void)fputs(color[0] ? "\033[0m\n" : "\n", stdout);
    for (size_t i = 0; i < tm_length(findings) && i < FINDINGS_SHOWN; i++)
        print_finding(tm_at(findings, i), has_colors);
    if (tm_length(findings) > FINDINGS_SHOWN)
        (void)printf("  and %zu more in the report\n", tm_length(findings) - FINDINGS_SHOWN);
    (void)fputs("written to ", stdout);
    print_clean(stdout, folder);
    (void)fputs(": ", stdout);
    for (size_t i = 0; (file = tm_report_file(options->formats, i)) != NULL; i++)
        (void)printf("%s%s", i ? ", " : "", file);
    (void)putchar('\n');
}

/* --json.  A reader that went away is no failure: the files are there. */
static tm_status print_summary(struct tm_run *run, const struct tm_doc *doc)
{
    const tm_status st = tm_doc_print(doc, run, STDOUT_FILENO);

    if (st == TM_ERR_OUTPUT && tm_terminal_reader_is_gone()) {
        run->error = (struct tm_error){ .status = TM_OK };
        return TM_OK;
    }
    return st;
}

/* ---- the job ---- */

static tm_status deliver(struct tm_run *run, const struct tm_options *options, const struct tm_report_result *result)
{
    const struct tm_doc *const doc = result->doc;
    const struct tm_value *const summary = tm_doc_root(doc);
    const bool is_partial = tm_is(tm_path(summary, "input.partial"));
    char folder[TM_PLACE_BYTES];
    tm_status st = tm_check_strict(run, is_partial, "report");

    if (!st && !options->output)
        st = tm_default_name(folder, run, options, tm_text(tm_path(summary, "input.run")), ".report", false);
    if (st)
        return st;
    const char *const to = options->output ? options->output : folder;

    tm_progress_phase(&run->progress, "writing", 0);
    st = tm_report_write(run, result, to, options);
    tm_progress_end(&run->progress);
    if (st)
        return st;
    if (options->json)
        st = print_summary(run, doc);
    else if (!options->quiet && isatty(STDOUT_FILENO))
        print_closing(summary, to, options);
    if (st || !is_partial)
        return st;
    warn_partial(summary);
    return TM_PARTIAL;
}

/* The trace is written from what the analysis leaves open. */
static tm_status analyze(struct tm_run *run, const struct tm_options *options, struct tm_report_result *result,
                         struct tm_conversion *conversion)
{
    struct tm_partial_writer **partial = options->formats & TM_FORMAT_PARTIAL ? &result->partial : NULL;
    struct tm_observer observer;
    tm_status st;

    if (!(options->formats & TM_FORMAT_PERFETTO))
        return tm_analyze(run, options, result->doc, partial, NULL);
    result->conversion = conversion;
    st = tm_conversion_open(conversion, run, options, "write a trace of", options->plain);
    if (st)
        return st;
    tm_conversion_observe(conversion, &observer);
    st = tm_analyze(run, options, result->doc, partial, &observer);
    return st ? st : tm_conversion_take_summary(conversion, tm_doc_root(result->doc));
}

static tm_status check_formats(struct tm_run *run, const struct tm_options *options)
{
    if (options->redact && options->formats & TM_FORMAT_PARTIAL) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot write a partial with --redact: it holds the names");
        tm_hint(&run->error, "write the partial for yourself, and a report of it with --redact for others");
        return TM_ERR_USAGE;
    }
    if (!(options->formats & TM_FORMAT_PFTRACE))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use 'pftrace' for --format: it is a format of parts");
    tm_hint(&run->error, "'--format perfetto' writes a trace beside the report");
    return TM_ERR_USAGE;
}

tm_status tm_command_report(struct tm_run *run, const struct tm_options *options)
{
    struct tm_conversion conversion = { .run = NULL };
    tm_status st = check_formats(run, options);

    if (!st)
        st = tm_check_folder(run, options->output ? options->output : ".");
    if (!st)
        st = tm_redaction_begin(run, options);
    struct tm_report_result result = { .doc = st ? NULL : tm_doc_new(run), .paper = options->paper };

    if (!st && !result.doc)
        st = run->error.status;
    if (!st)
        st = analyze(run, options, &result, &conversion);
    if (!st)
        st = tm_doc_status(result.doc);
    if (!st)
        st = deliver(run, options, &result);
    tm_partial_writer_free(result.partial);
    tm_doc_free(result.doc);
    tm_conversion_close(&conversion);
    tm_redaction_end(run);
    return st;
}
