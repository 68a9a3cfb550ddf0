/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of profiles go through one place: what XML 1.0 does not allow (section 2.2), other control characters, and what
 * turns or hides text are left out or shown as escapes. */
#include "reports/gates/junit_parts.h"

#include <errno.h>
#include <string.h>

#include "pipeline/utf8.h"
#include "reports/format/format.h"

enum { PIECE_BYTES = 1024 };

static const char *escape_of(uint32_t code)
{
    switch (code) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&apos;";
    default:
        return NULL;
    }
}

/* U+FFFE, U+FFFF and their kin on the other planes are no characters. */
static bool is_left_out(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code & 0xfffe) == 0xfffe;
}

void tm_junit_text(FILE *to, const char *text)
{
    char visible[PIECE_BYTES];
    const size_t length = (tm_format_text(visible, sizeof(visible), text), strlen(visible));

    for (size_t i = 0; i < length;) {
        uint32_t code = 0;
        const size_t n = tm_utf8_next(visible + i, length - i, &code);
        const char *escape = escape_of(code);

        if (escape)
            (void)fputs(escape, to);
        else if (n > 0 && !is_left_out(code))
            (void)fwrite(visible + i, 1, n, to);
        i += n > 0 ? n : 1;
    }
}

void tm_junit_attribute(FILE *to, const char *name, const char *text)
{
    (void)fprintf(to, " %s=\"", name);
    tm_junit_text(to, text);
    (void)fputc('"', to);
}

void tm_junit_property(FILE *to, const char *name, const char *value)
{
    (void)fprintf(to, "      <property name=\"%s\"", name);
    tm_junit_attribute(to, "value", value);
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
    tm_junit_text(to, text_of(row, "figure"));
    (void)fputc(' ', to);
    tm_junit_text(to, text_of(row, "rule"));
    (void)fputc(' ', to);
    tm_junit_text(to, text_of(row, "limit_text"));
    if (is_one_before(rows, at))
        (void)fprintf(to, " (%zu)", at + 1);
    (void)fputc('"', to);
}

/* What is known of the figure, in one line. */
static void put_facts(FILE *to, const struct tm_value *row)
{
    static const struct {
        const char *before, *key;
    } facts[] = { { "it is ", "value_text" },
                  { ", in the baseline ", "baseline_text" },
                  { ", at ", "place" },
                  { ": ", "why" } };
    const bool is_known = tm_has(tm_get(row, "value"));

    if (tm_has(tm_get(row, "title"))) {
        tm_junit_text(to, text_of(row, "title"));
        (void)fputs(": ", to);
    }
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (!tm_has(tm_get(row, facts[i].key)))
            continue;
        (void)fputs(is_known ? facts[i].before : "", to);
        tm_junit_text(to, text_of(row, facts[i].key));
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
    tm_junit_text(to, text_of(row, "note"));
    (void)fprintf(to, "</%s>\n", element);
}

static void put_case(FILE *to, const struct tm_value *rows, size_t at, const char *classname)
{
    const struct tm_value *row = tm_at(rows, at);
    const char *status = text_of(row, "status");

    (void)fputs("    <testcase", to);
    put_name(to, rows, at);
    tm_junit_attribute(to, "classname", classname);
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

void tm_junit_cases(FILE *to, const struct tm_value *rows, const char *classname)
{
    for (size_t i = 0; i < tm_length(rows); i++)
        put_case(to, rows, i, classname);
}

tm_status tm_junit_end(struct tm_run *run, FILE *to)
{
    (void)fputs("</testsuites>\n", to);
    if (fflush(to) != 0 || ferror(to))
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the JUnit file");
    return TM_OK;
}
