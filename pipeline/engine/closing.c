/* SPDX-License-Identifier: Apache-2.0 */
/* From a document to its files, and the last words about them. */
#include "pipeline/engine/closing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/terminal.h"
#include "reports/content/content.h"
#include "reports/format/format.h"

enum { FINDINGS_SHOWN = 3, LINE_BYTES = 256 };

void tm_print_clean(FILE *to, const char *text)
{
    char line[LINE_BYTES];

    tm_clean_text(line, sizeof(line), text, strlen(text));
    (void)fputs(line, to);
}

bool tm_gate_is_noteworthy(const struct tm_value *gate)
{
    const char *const status = tm_text(tm_get(gate, "status"));

    return strcmp(status, "passed") != 0 && strcmp(status, "skipped") != 0;
}

void tm_print_gate(const struct tm_value *gate, const char *label)
{
    const char *const status = tm_text(tm_get(gate, "status"));
    const char *const why = tm_text(tm_get(gate, "why")), *const was = tm_text(tm_get(gate, "baseline_text"));

    if (!tm_gate_is_noteworthy(gate))
        return;
    (void)fprintf(stderr, "tracemill: gate %s: ", status);
    tm_print_clean(stderr, tm_text(tm_get(gate, "figure")));
    (void)fputs(" of ", stderr);
    tm_print_clean(stderr, label);
    if (tm_has(tm_get(gate, "value"))) {
        (void)fputs(" is ", stderr);
        tm_print_clean(stderr, tm_text(tm_get(gate, "value_text")));
        (void)fputs(was[0] ? ", was " : "", stderr);
        tm_print_clean(stderr, was);
    }
    (void)fputs("; the limit is ", stderr);
    tm_print_clean(stderr, tm_text(tm_get(gate, "limit_text")));
    (void)fputs(why[0] ? ": " : "", stderr);
    tm_print_clean(stderr, why);
    (void)fputc('\n', stderr);
}

void tm_print_failed_checks(const struct tm_value *root)
{
    const struct tm_value *const checks = tm_get(root, "checks");

    for (size_t i = 0; i < tm_length(checks); i++) {
        const struct tm_value *const check = tm_at(checks, i), *const holds = tm_get(check, "holds");

        if (!tm_has(holds) || tm_is(holds))
            continue;
        (void)fprintf(stderr, "tracemill: warning: check '%s' failed: expected %lld %s, found %lld (",
                      tm_text(tm_get(check, "id")), (long long)tm_int(tm_get(check, "expected")),
                      tm_text(tm_get(check, "unit")), (long long)tm_int(tm_get(check, "found")));
        tm_print_clean(stderr, tm_text(tm_get(check, "where")));
        (void)fputs(")\n", stderr);
    }
}

static const char *color_of(const char *severity)
{
    static const struct {
        const char *severity, *escape;
    } colors[] = { { "critical", "\033[31m" }, { "warning", "\033[33m" }, { "good", "\033[32m" } };

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
    const struct tm_value *const explains = tm_get(finding, "explains_pct");
    char text[TM_FORMAT_BYTES];

    (void)printf("  %s%-8.8s%s", color, severity, color[0] ? "\033[0m" : "");
    tm_print_clean(stdout, tm_text(tm_get(finding, "title")));
    if (tm_has(explains)) { /* of a comparison: its title has the time */
        (void)printf(" (%s of the change)", tm_format_pct(text, tm_double(explains)));
    } else if (tm_int(tm_get(finding, "at_stake_ps")) > 0) {
        (void)printf(" (potential savings %s", tm_format_time(text, tm_int(tm_get(finding, "at_stake_ps"))));
        if (tm_has(tm_get(finding, "share_pct")))
            (void)printf(", %s", tm_format_pct(text, tm_double(tm_get(finding, "share_pct"))));
        (void)putchar(')');
    }
    (void)putchar('\n');
}

static void print_closing(const struct tm_value *root, const char *folder, const struct tm_options *options)
{
    const struct tm_value *const findings = tm_get(root, "findings");
    const bool has_colors = tm_terminal_has_colors(options, stdout);
    const char *const color = has_colors ? color_of(tm_text(tm_path(root, "verdict.severity"))) : "";
    char name[TM_DOCUMENT_FILE_BYTES];
    const char *file;

    (void)fputs(color, stdout);
    tm_print_clean(stdout, tm_text(tm_path(root, "verdict.text")));
    (void)fputs(color[0] ? "\033[0m\n" : "\n", stdout);
    for (size_t i = 0; i < tm_length(findings) && i < FINDINGS_SHOWN; i++)
        print_finding(tm_at(findings, i), has_colors);
    if (tm_length(findings) > FINDINGS_SHOWN)
        (void)printf("  and %zu more in the %s\n", tm_length(findings) - FINDINGS_SHOWN, tm_document_of(root)->what);
    (void)fputs("written to ", stdout);
    tm_print_clean(stdout, folder);
    (void)fputs(": ", stdout);
    for (size_t i = 0; (file = tm_document_file(name, root, options->formats, i)) != NULL; i++)
        (void)printf("%s%s", i ? ", " : "", file);
    (void)putchar('\n');
}

static tm_status forgive_reader(struct tm_run *run, tm_status st)
{
    if (st != TM_ERR_OUTPUT || !tm_terminal_reader_is_gone())
        return st;
    run->error = (struct tm_error){ .status = TM_OK };
    return TM_OK;
}

void tm_print_partial(const struct tm_value *summary, const char *what)
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
    (void)fprintf(stderr, "tracemill: warning: the %s partial: ", what);
    if (first) {
        const char *const problem = tm_text(tm_at(tm_get(first, "problems"), 0));

        (void)fputc('\'', stderr);
        tm_print_clean(stderr, tm_text(tm_get(first, "path")));
        (void)fputs(problem[0] ? "': " : "' is damaged", stderr);
        tm_print_clean(stderr, problem);
        if (count > 1)
            (void)fprintf(stderr, ", and %zu more file%s", count - 1, count > 2 ? "s" : "");
        (void)fputs("; ", stderr);
    }
    (void)fputs("every figure rests only on what could be read\n", stderr);
}

tm_status tm_finish_stdout(struct tm_run *run, tm_status st)
{
    if (st == TM_OK && (fflush(stdout) != 0 || ferror(stdout)))
        st = tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write to stdout");
    return forgive_reader(run, st);
}

tm_status tm_print_document(struct tm_run *run, const struct tm_doc *doc)
{
    return forgive_reader(run, tm_doc_print(doc, run, STDOUT_FILENO));
}

tm_status tm_document_deliver(struct tm_run *run, const struct tm_document_result *result, const char *folder,
                              const struct tm_options *options)
{
    tm_status st;

    tm_progress_phase(&run->progress, "writing", 0);
    st = tm_document_write(run, result, folder, options);
    tm_progress_end(&run->progress);
    if (st)
        return st;
    if (options->json)
        return tm_print_document(run, result->doc);
    if (!options->quiet && isatty(STDOUT_FILENO))
        print_closing(tm_doc_root(result->doc), folder, options);
    return TM_OK;
}
