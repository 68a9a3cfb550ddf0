/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a check as JUnit XML, as Jenkins and GitLab read it: one suite, a case for each
 * gate.  A failed gate is a failure, one that cannot be judged an error, a skipped one is skipped.
 * Source: the schema of Jenkins' xUnit plugin, junit-10.xsd. */
#include "reports/gates/gates.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pipeline/doc/doc.h"
#include "pipeline/strings.h"
#include "reports/format/format.h"

/* What JUnit files of one check and of a night are made of.  Texts are any bytes. */

static void put_counts(FILE *to, const struct tm_value *root)
{
    const struct tm_value *counts = tm_get(root, "counts");

    (void)fprintf(to, " tests=\"%zu\" failures=\"%" PRId64 "\" errors=\"%" PRId64 "\"",
                  tm_length(tm_get(root, "gates")), tm_int(tm_get(counts, "failed")),
                  tm_int(tm_get(counts, "unknown")));
}

static void junit_attribute(FILE *to, const char *name, const char *text);
static void junit_property(FILE *to, const char *name, const char *value);
static void junit_cases(FILE *to, const struct tm_value *rows, const char *classname);
static tm_status junit_end(struct tm_run *run, FILE *to);

tm_status tm_junit_write(struct tm_run *run, const struct tm_doc *result, FILE *to)
{
    const struct tm_value *const root = tm_doc_root(result);

    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", to);
    put_counts(to, root);
    (void)fputs(" time=\"0\">\n  <testsuite", to);
    junit_attribute(to, "name", "tracemill check");
    put_counts(to, root);
    (void)fprintf(to, " skipped=\"%" PRId64 "\" time=\"0\">\n    <properties>\n",
                  tm_int(tm_path(root, "counts.skipped")));
    junit_property(to, "input", tm_text(tm_path(root, "input.path")));
    junit_property(to, "run", tm_text(tm_path(root, "input.run")));
    (void)fputs("    </properties>\n", to);
    junit_cases(to, tm_get(root, "gates"), "tracemill.check");
    (void)fputs("  </testsuite>\n", to);
    return junit_end(run, to);
}

/* Texts of profiles go through one place: what XML 1.0 does not allow (section 2.2), other control characters, and what
 * turns or hides text are left out or shown as escapes. */

enum { PIECE_BYTES = 1024 };

/* U+FFFE, U+FFFF and their kin on the other planes are no characters. */
static bool is_left_out(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code & 0xfffe) == 0xfffe;
}

/* As text or attribute of XML 1.0; what is too long loses its middle. */
static void junit_text(FILE *to, const char *text)
{
    char visible[PIECE_BYTES];
    const size_t length = (tm_format_text(visible, sizeof(visible), text), strlen(visible));

    for (size_t i = 0; i < length;) {
        uint32_t code = 0;
        const size_t n = tm_utf8_next(visible + i, length - i, &code);
        const char *const escape = code == '\'' ? "&apos;" : tm_format_entity(code);

        if (escape)
            (void)fputs(escape, to);
        else if (n > 0 && !is_left_out(code))
            (void)fwrite(visible + i, 1, n, to);
        i += n > 0 ? n : 1;
    }
}

/* ` NAME="TEXT"` */
static void junit_attribute(FILE *to, const char *name, const char *text)
{
    (void)fprintf(to, " %s=\"", name);
    junit_text(to, text);
    (void)fputc('"', to);
}

static void junit_property(FILE *to, const char *name, const char *value)
{
    (void)fprintf(to, "      <property name=\"%s\"", name);
    junit_attribute(to, "value", value);
    (void)fputs("/>\n", to);
}

static const char *text_of(const struct tm_value *row, const char *key)
{
    return tm_text(tm_get(row, key));
}

static bool is_one_before(const struct tm_value *rows, size_t at)
{
    const struct tm_value *row = tm_at(rows, at);

    for (size_t i = 0; i < at; i++) {
        const struct tm_value *other = tm_at(rows, i);

        if (strcmp(text_of(row, "figure"), text_of(other, "figure")) == 0 &&
            strcmp(text_of(row, "rule"), text_of(other, "rule")) == 0 &&
            strcmp(text_of(row, "limit_text"), text_of(other, "limit_text")) == 0)
            return true;
    }
    return false;
}

/* "steps.median_ps max 150ms": no two alike, or a server takes them for one. */
static void put_name(FILE *to, const struct tm_value *rows, size_t at)
{
    const struct tm_value *row = tm_at(rows, at);

    (void)fputs(" name=\"", to);
    junit_text(to, text_of(row, "figure"));
    (void)fputc(' ', to);
    junit_text(to, text_of(row, "rule"));
    (void)fputc(' ', to);
    junit_text(to, text_of(row, "limit_text"));
    if (is_one_before(rows, at))
        (void)fprintf(to, " (%zu)", at + 1);
    (void)fputc('"', to);
}

/* What is known of the figure, in one line. */
static void put_facts(FILE *to, const struct tm_value *row)
{
    static const struct {
        const char *before, *key;
    } facts[] = {
        { "it is ", "value_text" }, { ", in the baseline ", "baseline_text" }, { ", at ", "place" }, { ": ", "why" }
    };
    const bool is_known = tm_has(tm_get(row, "value"));

    if (tm_has(tm_get(row, "title"))) {
        junit_text(to, text_of(row, "title"));
        (void)fputs(": ", to);
    }
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (!tm_has(tm_get(row, facts[i].key)))
            continue;
        (void)fputs(is_known ? facts[i].before : "", to);
        junit_text(to, text_of(row, facts[i].key));
    }
    if (is_known && tm_has(tm_get(row, "change_pct"))) {
        char pct[TM_FORMAT_BYTES];

        (void)fprintf(to, " (%s%s %%)", tm_double(tm_get(row, "change_pct")) > 0 ? "+" : "",
                      tm_format_number(pct, tm_double(tm_get(row, "change_pct"))));
    }
}

static void put_outcome(FILE *to, const struct tm_value *row, const char *element, const char *type)
{
    (void)fprintf(to, "      <%s message=\"", element);
    put_facts(to, row);
    if (!type) {
        (void)fputs("\"/>\n", to);
        return;
    }
    (void)fprintf(to, "\" type=\"%s\">", type);
    junit_text(to, text_of(row, "note"));
    (void)fprintf(to, "</%s>\n", element);
}

static void put_case(FILE *to, const struct tm_value *rows, size_t at, const char *classname)
{
    const struct tm_value *row = tm_at(rows, at);
    const char *status = text_of(row, "status");

    (void)fputs("    <testcase", to);
    put_name(to, rows, at);
    junit_attribute(to, "classname", classname);
    (void)fputs(" time=\"0\">\n", to);
    if (strcmp(status, "failed") == 0)
        put_outcome(to, row, "failure", "gate");
    else if (strcmp(status, "unknown") == 0)
        put_outcome(to, row, "error", "unknown");
    else if (strcmp(status, "skipped") == 0)
        put_outcome(to, row, "skipped", NULL);
    (void)fputs("      <system-out>", to);
    put_facts(to, row);
    (void)fputs("</system-out>\n    </testcase>\n", to);
}

/* A case for each row of CHECK.md, no two of one name. */
static void junit_cases(FILE *to, const struct tm_value *rows, const char *classname)
{
    for (size_t i = 0; i < tm_length(rows); i++)
        put_case(to, rows, i, classname);
}

/* errors: TM_ERR_OUTPUT */
static tm_status junit_end(struct tm_run *run, FILE *to)
{
    (void)fputs("</testsuites>\n", to);
    if (fflush(to) != 0 || ferror(to))
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the JUnit file");
    return TM_OK;
}

/* The names of suites and cases are the same from night to night, so that a server can tell how long a case fails.  The
 * time of a suite is that of the run: nothing tells when the file was written. */

enum { NAME_BYTES = 320 };

struct counts {
    uint64_t tests, failures, errors, skipped;
};

static bool is(const struct tm_value *from, const char *key, const char *word)
{
    return strcmp(text_of(from, key), word) == 0;
}

/* What stands at the case of the report: NULL = it is there, and was read. */
static const char *error_of(const struct tm_value *row)
{
    if (is(row, "verdict", "no report"))
        return text_of(row, "status");
    return is(row, "verdict", "unknown") && tm_length(tm_get(row, "gates")) == 0 ? "unread" : NULL;
}

static void count(struct counts *c, const struct tm_value *row)
{
    const struct tm_value *const gates = tm_get(row, "gates");

    c->tests += 1 + tm_length(gates);
    c->errors += error_of(row) != NULL;
    for (size_t i = 0; i < tm_length(gates); i++) {
        const struct tm_value *const gate = tm_at(gates, i);

        c->failures += is(gate, "status", "failed");
        c->errors += is(gate, "status", "unknown");
        c->skipped += is(gate, "status", "skipped");
    }
}

static void put_nightly_counts(FILE *to, const struct counts *c)
{
    (void)fprintf(to, " tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"%" PRIu64 "\"", c->tests, c->failures,
                  c->errors);
}

static void put_time(FILE *to, int64_t when_ns)
{
    const time_t seconds = (time_t)(when_ns / 1000000000);
    char text[32];
    struct tm parts;

    if (when_ns > 0 && gmtime_r(&seconds, &parts) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts))
        junit_attribute(to, "timestamp", text);
}

static void put_properties(FILE *to, const struct tm_value *row)
{
    static const char *const key[] = { "id", "night", "revision", "label", "status", "report" };
    const struct tm_value *const baseline = tm_get(row, "baseline");

    (void)fputs("    <properties>\n", to);
    for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
        if (*text_of(row, key[i]))
            junit_property(to, key[i], text_of(row, key[i]));
    }
    for (size_t i = 0; i < tm_length(baseline); i++)
        junit_property(to, "baseline", tm_text(tm_at(baseline, i)));
    (void)fputs("    </properties>\n", to);
}

static void put_report(FILE *to, const struct tm_value *row, const char *name)
{
    const char *const error = error_of(row);

    (void)fputs("    <testcase name=\"report\"", to);
    junit_attribute(to, "classname", name);
    (void)fputs(" time=\"0\"", to);
    if (!error) {
        (void)fputs("/>\n", to);
        return;
    }
    (void)fputs(">\n      <error", to);
    junit_attribute(to, "message", *text_of(row, "message") ? text_of(row, "message") : text_of(row, "text"));
    junit_attribute(to, "type", error);
    (void)fputs("/>\n    </testcase>\n", to);
}

/* in: night  the last one: runs of others are told by theirs, so that those of it have the same names every night */
static void put_suite(FILE *to, const struct tm_value *row, const char *night, size_t number)
{
    const struct tm_value *const notes = tm_get(row, "notes");
    const bool is_other = !is(row, "night", night);
    struct counts c = { 0 };
    char name[NAME_BYTES];
    int used = snprintf(name, sizeof(name), "%.255s%s%.10s", text_of(row, "job"), is_other ? " of " : "",
                        is_other ? text_of(row, "night") : "");

    if (number > 1)
        (void)snprintf(name + used, sizeof(name) - (size_t)used, " #%zu", number);
    count(&c, row);
    (void)fputs("  <testsuite", to);
    junit_attribute(to, "name", name);
    put_nightly_counts(to, &c);
    (void)fprintf(to, " skipped=\"%" PRIu64 "\"", c.skipped);
    put_time(to, tm_int(tm_get(row, "when_ns")));
    (void)fputs(" time=\"0\">\n", to);
    put_properties(to, row);
    put_report(to, row, name);
    junit_cases(to, tm_get(row, "gates"), name);
    if (tm_length(notes)) {
        (void)fputs("    <system-out>", to);
        for (size_t i = 0; i < tm_length(notes); i++) {
            (void)fputs(i ? "\n" : "", to);
            junit_text(to, tm_text(tm_at(notes, i)));
        }
        (void)fputs("</system-out>\n", to);
    }
    (void)fputs("  </testsuite>\n", to);
}

tm_status tm_nightly_junit_write(struct tm_run *run, const struct tm_value *gates, FILE *to)
{
    const struct tm_value *const rows = tm_get(gates, "runs");
    struct counts all = { 0 };
    size_t number = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        count(&all, tm_at(rows, i));
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", to);
    junit_attribute(to, "name", text_of(gates, "night"));
    put_nightly_counts(to, &all);
    (void)fputs(" time=\"0\">\n", to);
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *const row = tm_at(rows, i);

        number = i && is(tm_at(rows, i - 1), "job", text_of(row, "job")) &&
                         is(tm_at(rows, i - 1), "night", text_of(row, "night"))
                     ? number + 1
                     : 1;
        put_suite(to, row, text_of(gates, "night"), number);
    }
    return junit_end(run, to);
}
