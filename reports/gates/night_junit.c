/* SPDX-License-Identifier: Apache-2.0 */
/* The names of suites and cases are the same from night to night, so that a server can tell how long a case fails.  The
 * time of a suite is that of the run: nothing tells when the file was written. */
#include "reports/gates/night_junit.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "reports/gates/junit_parts.h"

enum { NAME_BYTES = 320 };

struct counts {
    uint64_t tests, failures, errors, skipped;
};

static const char *text_of(const struct tm_value *from, const char *key)
{
    return tm_text(tm_get(from, key));
}

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

static void put_counts(FILE *to, const struct counts *c)
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
        tm_junit_attribute(to, "timestamp", text);
}

static void put_properties(FILE *to, const struct tm_value *row)
{
    static const char *const key[] = { "id", "night", "revision", "label", "status", "report" };
    const struct tm_value *const baseline = tm_get(row, "baseline");

    (void)fputs("    <properties>\n", to);
    for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
        if (*text_of(row, key[i]))
            tm_junit_property(to, key[i], text_of(row, key[i]));
    }
    for (size_t i = 0; i < tm_length(baseline); i++)
        tm_junit_property(to, "baseline", tm_text(tm_at(baseline, i)));
    (void)fputs("    </properties>\n", to);
}

static void put_report(FILE *to, const struct tm_value *row, const char *name)
{
    const char *const error = error_of(row);

    (void)fputs("    <testcase name=\"report\"", to);
    tm_junit_attribute(to, "classname", name);
    (void)fputs(" time=\"0\"", to);
    if (!error) {
        (void)fputs("/>\n", to);
        return;
    }
    (void)fputs(">\n      <error", to);
    tm_junit_attribute(to, "message", *text_of(row, "message") ? text_of(row, "message") : text_of(row, "text"));
    tm_junit_attribute(to, "type", error);
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
    tm_junit_attribute(to, "name", name);
    put_counts(to, &c);
    (void)fprintf(to, " skipped=\"%" PRIu64 "\"", c.skipped);
    put_time(to, tm_int(tm_get(row, "when_ns")));
    (void)fputs(" time=\"0\">\n", to);
    put_properties(to, row);
    put_report(to, row, name);
    tm_junit_cases(to, tm_get(row, "gates"), name);
    if (tm_length(notes)) {
        (void)fputs("    <system-out>", to);
        for (size_t i = 0; i < tm_length(notes); i++) {
            (void)fputs(i ? "\n" : "", to);
            tm_junit_text(to, tm_text(tm_at(notes, i)));
        }
        (void)fputs("</system-out>\n", to);
    }
    (void)fputs("  </testsuite>\n", to);
}

tm_status tm_night_junit_write(struct tm_run *run, const struct tm_value *gates, FILE *to)
{
    const struct tm_value *const rows = tm_get(gates, "runs");
    struct counts all = { 0 };
    size_t number = 0;

    for (size_t i = 0; i < tm_length(rows); i++)
        count(&all, tm_at(rows, i));
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", to);
    tm_junit_attribute(to, "name", text_of(gates, "night"));
    put_counts(to, &all);
    (void)fputs(" time=\"0\">\n", to);
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *const row = tm_at(rows, i);

        number = i && is(tm_at(rows, i - 1), "job", text_of(row, "job")) &&
                         is(tm_at(rows, i - 1), "night", text_of(row, "night"))
                     ? number + 1
                     : 1;
        put_suite(to, row, text_of(gates, "night"), number);
    }
    return tm_junit_end(run, to);
}
