/* SPDX-License-Identifier: Apache-2.0 */
/* The brief as people read it: lines of a terminal, or Markdown. */
#include "reports/brief/brief.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "reports/content/content.h"
#include "reports/format/format.h"
#include "reports/media.h"

enum { LINE_BYTES = 2048, FACT_LABEL = 12, ROW_LABEL = 34, ITEM_INDENT = 3 };

struct page {
    FILE *to;
    bool is_markdown;
};

/* Sentences of any bytes, from the column `indent` on. */
static void put_prose(const struct page *p, const char *text, int indent)
{
    char shown[4 * LINE_BYTES];
    struct tm_mdw w;

    if (p->is_markdown) {
        tm_mdw_init(&w, shown, sizeof(shown));
        tm_mdw_prose(&w, text, false);
        (void)fprintf(p->to, "%s\n", shown);
        return;
    }
    tm_format_text(shown, sizeof(shown), text);
    tm_text_put_wrapped(p->to, shown, indent);
}

static void put_heading(const struct page *p, const char *text)
{
    (void)fprintf(p->to, p->is_markdown ? "\n**%s**\n\n" : "\n%s\n", text);
}

/* "Label       text" */
static void put_labelled(const struct page *p, const char *label, int indent, int width, const char *text)
{
    char shown[LINE_BYTES];
    int used;

    if (p->is_markdown) {
        (void)snprintf(shown, sizeof(shown), "%s: %s", label, text);
        (void)fputs("- ", p->to);
        put_prose(p, shown, 0);
        return;
    }
    tm_format_text(shown, sizeof(shown), label);
    used = (int)tm_format_length(shown);
    (void)fprintf(p->to, "%*s%s%*s", indent, "", shown, used < width ? width - used + 1 : 1, "");
    put_prose(p, text, indent + width + 1);
}

static void put_fact(const struct page *p, const char *label, const char *format, ...) TM_PRINTF(3, 4);
static void put_row(const struct page *p, const char *label, const char *format, ...) TM_PRINTF(3, 4);

static void put_fact(const struct page *p, const char *label, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put_labelled(p, label, 0, FACT_LABEL, text);
}

static void put_row(const struct page *p, const char *label, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put_labelled(p, label, 2, ROW_LABEL, text);
}

static const char *text_of(const struct tm_value *row, const char *key)
{
    return tm_text(tm_get(row, key));
}

static const char *time_of(char *out, const struct tm_value *row, const char *key)
{
    const struct tm_value *value = tm_get(row, key);

    return tm_has(value) ? tm_format_time(out, tm_int(value)) : "not recorded";
}

/* A number with its sign. */
static const char *change_of(char *out, int64_t ps)
{
    char time[TM_FORMAT_BYTES];

    (void)snprintf(out, TM_FORMAT_BYTES, "%s%.40s", ps > 0 ? "+" : "", tm_format_time(time, ps));
    return out;
}

/* "1 file", "1,234 events" */
static const char *count_of(char *out, int64_t count, const char *noun)
{
    char text[TM_FORMAT_BYTES];

    (void)snprintf(out, TM_FORMAT_BYTES, "%.24s %.16s%s", tm_format_count(text, count), noun,
                   tm_format_plural((uint64_t)count));
    return out;
}

/* --- a run --- */

static void put_input(const struct page *p, const struct tm_value *brief)
{
    const struct tm_value *input = tm_get(brief, "input"), *missing = tm_get(brief, "missing");
    const char *platform = text_of(input, "platform"), *model = text_of(input, "device_model");
    char hosts[TM_FORMAT_BYTES], devices[TM_FORMAT_BYTES], bytes[TM_FORMAT_BYTES], read[TM_FORMAT_BYTES],
        used[TM_FORMAT_BYTES], files[TM_FORMAT_BYTES], kind[16];

    for (size_t i = 0; i < sizeof(kind); i++)
        kind[i] = i + 1 < sizeof(kind) && i <= strlen(platform) && platform[i] >= 'a' ? (char)(platform[i] - 'a' + 'A')
                                                                                      : '\0';
    if (strcmp(platform, "none") == 0)
        kind[0] = '\0';
    put_fact(p, "Hardware", "%s, %s%s%s%s%s%s", count_of(hosts, tm_int(tm_get(input, "hosts")), "host"),
             count_of(devices, tm_int(tm_get(input, "devices")), "device"), *kind || *model ? " (" : "", kind,
             *kind && *model ? ", " : "", model, *kind || *model ? ")" : "");
    if (*text_of(input, "versions"))
        put_fact(p, "Versions", "%s", text_of(input, "versions"));
    put_fact(p, "Read", "%s, %s, %s; %s used in figures", count_of(files, tm_int(tm_get(input, "files")), "file"),
             tm_format_bytes(bytes, tm_double(tm_get(input, "bytes"))),
             count_of(read, tm_int(tm_get(input, "events_read")), "event"),
             tm_format_count(used, tm_int(tm_get(input, "events_used"))));
    if (tm_int(tm_get(input, "damaged_files")))
        put_fact(p, "Partial", "%s damaged or missing: figures cover what could be read",
                 count_of(files, tm_int(tm_get(input, "damaged_files")), "file"));
    if (!tm_length(missing))
        put_fact(p, "Not read", "%s", tm_path(brief, "left_out.missing") ? "see left out" : "nothing is missing");
    for (size_t i = 0; i < tm_length(missing); i++)
        put_fact(p, i && !p->is_markdown ? "" : "Not read", "%s", text_of(tm_at(missing, i), "text"));
}

static void put_steps(const struct page *p, const struct tm_value *brief)
{
    const struct tm_value *steps = tm_get(brief, "steps"), *parts = tm_get(steps, "parts");
    char median[TM_FORMAT_BYTES], mean[TM_FORMAT_BYTES], p95[TM_FORMAT_BYTES], all[TM_FORMAT_BYTES];

    if (!tm_has(steps)) {
        put_fact(p, "Step time", "not recorded: %s", tm_why(steps));
        return;
    }
    if (strcmp(text_of(steps, "source"), "session") == 0)
        put_fact(p, "Step time",
                 "not recorded: no steps are marked; the session, %s on all devices, counts as one step",
                 time_of(mean, steps, "total_ps"));
    else if (tm_has(tm_get(steps, "median_ps")))
        put_fact(p, "Step time", "median %s, mean %s, p95 %s; %" PRId64 " of %s analyzed",
                 time_of(median, steps, "median_ps"), time_of(mean, steps, "mean_ps"), time_of(p95, steps, "p95_ps"),
                 tm_int(tm_get(steps, "analyzed")), count_of(all, tm_int(tm_get(steps, "count")), "step"));
    else
        put_fact(p, "Step time", "not recorded: %s", tm_why(tm_get(steps, "median_ps")));
    if (tm_length(parts))
        put_heading(p, "Time of the analyzed steps, all devices");
    for (size_t i = 0; i < tm_length(parts); i++)
        put_row(p, text_of(tm_at(parts, i), "title"), "%s, %s", time_of(mean, tm_at(parts, i), "time_ps"),
                tm_format_pct(all, tm_double(tm_get(tm_at(parts, i), "share_pct"))));
}

static void put_critical_path(const struct page *p, const struct tm_value *brief)
{
    const struct tm_value *path = tm_get(brief, "critical_path");
    char time[TM_FORMAT_BYTES], share[TM_FORMAT_BYTES], saved[TM_FORMAT_BYTES];

    if (tm_length(path))
        put_heading(p, "Critical path of the analyzed steps");
    for (size_t i = 0; i < tm_length(path); i++) {
        const struct tm_value *row = tm_at(path, i);
        const bool is_replayed = tm_has(tm_get(row, "saved_ps"));

        put_row(p, text_of(row, "title"), "%s, %s%s%s%s", time_of(time, row, "time_ps"),
                tm_format_pct(share, tm_double(tm_get(row, "share_pct"))), is_replayed ? " (replay without it: " : "",
                is_replayed ? time_of(saved, row, "saved_ps") : "", is_replayed ? " saved)" : "");
    }
}

/* "good > 80%, critical < 50%" */
static void make_limits(char out[LINE_BYTES], const struct tm_value *figure)
{
    const struct tm_value *good = tm_get(figure, "good"), *bad = tm_get(figure, "bad");
    const char *unit = text_of(figure, "unit");
    const bool is_more = tm_double(good) > tm_double(bad), is_same = tm_double(good) == tm_double(bad);
    char limit[2][TM_FORMAT_BYTES];

    out[0] = '\0';
    if (tm_has(good) && tm_has(bad))
        (void)snprintf(out, LINE_BYTES, " (good %s%s, critical %s %s)",
                       is_same   ? ""
                       : is_more ? "> "
                                 : "< ",
                       tm_format_unit(limit[0], tm_double(good), unit), is_more ? "<" : ">",
                       tm_format_unit(limit[1], tm_double(bad), unit));
}

static void put_key_figures(const struct page *p, const struct tm_value *brief)
{
    const struct tm_value *figures = tm_get(brief, "key_figures"), *missing = tm_get(brief, "not_recorded");
    char value[TM_FORMAT_BYTES], limits[LINE_BYTES];

    if (tm_length(figures) || tm_length(missing))
        put_heading(p, "Key figures");
    for (size_t i = 0; i < tm_length(figures); i++) {
        const struct tm_value *figure = tm_at(figures, i);
        const char *band = text_of(figure, "band");
        const bool has_band = strcmp(band, "unknown") != 0;

        make_limits(limits, figure);
        put_row(p, text_of(figure, "title"), "%s%s%s%s",
                tm_format_unit(value, tm_double(tm_get(figure, "value")), text_of(figure, "unit")),
                has_band ? ", " : "", has_band ? tm_band_word(band) : "", has_band ? limits : "");
    }
    for (size_t i = 0; i < tm_length(missing); i++)
        put_row(p, text_of(tm_at(missing, i), "title"), "not recorded: %s", text_of(tm_at(missing, i), "reason"));
}

static void put_checks(const struct page *p, const struct tm_value *brief)
{
    const struct tm_value *checks = tm_get(brief, "checks"), *failed = tm_get(checks, "failed_checks");

    put_heading(p, "Checks");
    put_row(p, "Consistency", "%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " not applicable",
            tm_int(tm_get(checks, "passed")), tm_int(tm_get(checks, "failed")),
            tm_int(tm_get(checks, "not_applicable")));
    for (size_t i = 0; i < tm_length(failed); i++)
        put_row(p, text_of(tm_at(failed, i), "id"), "failed: %s. %s", text_of(tm_at(failed, i), "title"),
                text_of(tm_at(failed, i), "where"));
}

/* --- a comparison --- */

static void put_test(const struct page *p, const struct tm_value *side)
{
    const struct tm_value *test = tm_get(side, "test"), *low = tm_get(test, "low_pct");
    char pct[TM_FORMAT_BYTES], interval[LINE_BYTES] = "", from[TM_FORMAT_BYTES], to[TM_FORMAT_BYTES];

    if (tm_has(low))
        (void)snprintf(interval, sizeof(interval), ", 95%% interval %s to %s",
                       tm_format_change(from, tm_double(low), false),
                       tm_format_change(to, tm_double(tm_get(test, "high_pct")), false));
    if (tm_has(tm_get(test, "p")))
        tm_format_append(interval, sizeof(interval), ", p %s%.2g", tm_double(tm_get(test, "p")) < 0.001 ? "< " : "= ",
                         tm_double(tm_get(test, "p")) < 0.001 ? 0.001 : tm_double(tm_get(test, "p")));
    put_row(p, text_of(side, "id"), "%s: step time %s%s%s%s", text_of(test, "verdict"),
            tm_has(tm_get(test, "change_pct")) ? tm_format_change(pct, tm_double(tm_get(test, "change_pct")), false)
                                               : "not recorded",
            interval, *text_of(test, "reason") ? "; " : "", text_of(test, "reason"));
}

static void put_sides(const struct page *p, const struct tm_value *brief)
{
    const struct tm_value *sides = tm_get(brief, "sides"), *comparability = tm_get(brief, "comparability");
    char runs[TM_FORMAT_BYTES], steps[TM_FORMAT_BYTES], mean[TM_FORMAT_BYTES], median[TM_FORMAT_BYTES];

    put_heading(p, "Runs");
    for (size_t i = 0; i < tm_length(sides); i++) {
        const struct tm_value *side = tm_at(sides, i);

        put_row(p, text_of(side, "id"), "%s: %s, %s, mean %s, median %s", text_of(side, "label"),
                count_of(runs, tm_int(tm_get(side, "runs")), "run"),
                count_of(steps, tm_int(tm_get(side, "samples")), "step"), time_of(mean, side, "mean_ps"),
                time_of(median, side, "median_ps"));
    }
    put_heading(p, "Tests");
    for (size_t i = 1; i < tm_length(sides); i++)
        put_test(p, tm_at(sides, i));
    if (tm_length(comparability))
        put_heading(p, "Comparability");
    for (size_t i = 0; i < tm_length(comparability); i++) {
        const struct tm_value *row = tm_at(comparability, i), *values = tm_get(row, "values");
        const char *same = text_of(row, "same");
        char text[LINE_BYTES] = "", label[64];

        for (size_t k = 0; k < tm_length(values) && strcmp(same, "not_recorded") != 0; k++) {
            const struct tm_value *value = tm_at(values, k);

            tm_format_append(text, sizeof(text), "%s%s", k ? "; " : ": ",
                             tm_has(value) ? tm_text(value) : "not recorded");
            if (strcmp(same, "yes") == 0)
                break;
        }
        (void)snprintf(label, sizeof(label), "%s", text_of(row, "id"));
        for (char *at = label; *at; at++)
            *at = *at == '_' ? ' ' : *at;
        put_row(p, label, "%s%s",
                strcmp(same, "yes") == 0  ? "same"
                : strcmp(same, "no") == 0 ? "different"
                                          : "not recorded",
                text);
    }
}

static void put_changes(const struct page *p, const struct tm_value *brief)
{
    const struct tm_value *changes = tm_get(brief, "changes"), *figures = tm_get(brief, "figures");
    const bool has_many = tm_length(tm_get(brief, "sides")) > 2;
    char base[TM_FORMAT_BYTES], new[TM_FORMAT_BYTES], change[TM_FORMAT_BYTES], label[LINE_BYTES];

    if (tm_length(changes))
        put_heading(p, "Changes per step and device");
    for (size_t i = 0; i < tm_length(changes); i++) {
        const struct tm_value *row = tm_at(changes, i), *significant = tm_get(row, "significant");

        (void)snprintf(label, sizeof(label), "%.40s%s%.100s", has_many ? text_of(row, "side") : "",
                       has_many ? ": " : "", text_of(row, "title"));
        put_row(p, label, "%s, from %s to %s%s", change_of(change, tm_int(tm_get(row, "change_ps"))),
                time_of(base, row, "base_ps"), time_of(new, row, "new_ps"),
                !tm_has(significant) || tm_is(significant) ? "" : " (within noise)");
    }
    if (tm_length(figures))
        put_heading(p, "Changed figures");
    for (size_t i = 0; i < tm_length(figures); i++) {
        const struct tm_value *row = tm_at(figures, i), *pct = tm_get(row, "change_pct");

        (void)snprintf(label, sizeof(label), "%.40s%s%.100s", has_many ? text_of(row, "side") : "",
                       has_many ? ": " : "", text_of(row, "title"));
        put_row(p, label, "%s%s%s", text_of(row, "judgement"), tm_has(pct) ? ", " : "",
                tm_has(pct) ? tm_format_change(change, tm_double(pct), false) : "");
    }
}

static void put_notes(const struct page *p, const struct tm_value *brief)
{
    const struct tm_value *notes = tm_get(brief, "notes");

    if (tm_length(notes))
        put_heading(p, "Notes");
    for (size_t i = 0; i < tm_length(notes); i++) {
        (void)fputs(p->is_markdown ? "- " : "  ", p->to);
        put_prose(p, text_of(tm_at(notes, i), "text"), 2);
    }
}

/* --- a night --- */

static void put_counts(const struct page *p, const struct tm_value *brief)
{
    static const char *const of_runs[] = { "done", "partial", "refused", "failed", "missing" };
    static const char *const of_jobs[] = { "worse", "better", "same", "new", "not_judged", "absent" };
    const struct tm_value *counts = tm_get(brief, "counts"), *gates = tm_get(brief, "gates");
    char text[LINE_BYTES] = "", count[TM_FORMAT_BYTES];

    if (*text_of(brief, "night"))
        put_fact(p, "Night", "%s", text_of(brief, "night"));
    for (size_t i = 0; i < sizeof(of_runs) / sizeof(of_runs[0]); i++)
        if (tm_int(tm_get(counts, of_runs[i])))
            tm_format_append(text, sizeof(text), ", %s %s", tm_format_count(count, tm_int(tm_get(counts, of_runs[i]))),
                             of_runs[i]);
    put_fact(p, "Runs", "%s%s", tm_format_count(count, tm_int(tm_get(counts, "runs"))), text);
    text[0] = '\0';
    for (size_t i = 0; i < sizeof(of_jobs) / sizeof(of_jobs[0]); i++)
        if (tm_int(tm_get(counts, of_jobs[i])))
            tm_format_append(text, sizeof(text), ", %s %s", tm_format_count(count, tm_int(tm_get(counts, of_jobs[i]))),
                             strcmp(of_jobs[i], "not_judged") == 0 ? "not assessed" : of_jobs[i]);
    put_fact(p, "Jobs", "%s%s", tm_format_count(count, tm_int(tm_get(counts, "jobs"))), text);
    text[0] = '\0';
    for (size_t i = 0; i < tm_length(gates); i++)
        if (tm_int(tm_value_at(gates, i)))
            tm_format_append(text, sizeof(text), "%s%s %s", *text ? ", " : "",
                             tm_format_count(count, tm_int(tm_value_at(gates, i))), tm_key_at(gates, i));
    if (*text)
        put_fact(p, "Gates", "%s", text);
}

static void put_jobs(const struct page *p, const struct tm_value *brief)
{
    const struct tm_value *worse = tm_get(brief, "worse"), *failures = tm_get(brief, "failures");
    const struct tm_value *jobs = tm_get(brief, "jobs");

    if (tm_length(worse))
        put_heading(p, "Regressions");
    for (size_t i = 0; i < tm_length(worse); i++) {
        const struct tm_value *row = tm_at(worse, i);

        put_row(p, text_of(row, "job"), "%s %s, from %s to %s since %s (run %s)", text_of(row, "title"),
                text_of(row, "change_text"), text_of(row, "before_text"), text_of(row, "value_text"),
                text_of(row, "since"), text_of(row, "run"));
    }
    if (tm_length(failures))
        put_heading(p, "Failures");
    for (size_t i = 0; i < tm_length(failures); i++) {
        const struct tm_value *row = tm_at(failures, i);

        put_row(p, text_of(row, "job"), "%s (run %s): %s", text_of(row, "status"), text_of(row, "run"),
                text_of(row, "message"));
    }
    if (tm_length(jobs))
        put_heading(p, "Jobs, worst first");
    for (size_t i = 0; i < tm_length(jobs); i++) {
        const struct tm_value *row = tm_at(jobs, i);
        const char *state = text_of(row, "state");

        put_row(p, text_of(row, "job"), "%s (run %s)%s%s", strcmp(state, "not_judged") == 0 ? "not assessed" : state,
                text_of(row, "run"), *text_of(row, "verdict") ? ": " : "", text_of(row, "verdict"));
    }
}

/* --- all --- */

static void put_sub(const struct page *p, const char *label, const char *text)
{
    char line[LINE_BYTES];

    if (!*text)
        return;
    (void)snprintf(line, sizeof(line), "%s: %s", label, text);
    (void)fprintf(p->to, p->is_markdown ? "   - " : "   ");
    put_prose(p, line, ITEM_INDENT + 2);
}

static void put_findings(const struct page *p, const struct tm_value *brief)
{
    const struct tm_value *findings = tm_get(brief, "findings");
    char line[LINE_BYTES];

    put_heading(p, "Findings");
    for (size_t i = 0; i < tm_length(findings); i++) {
        const struct tm_value *finding = tm_at(findings, i);

        (void)snprintf(line, sizeof(line), "%s: %s%s%s%s", text_of(finding, "severity"), text_of(finding, "title"),
                       *text_of(finding, "stake") ? " (" : "", text_of(finding, "stake"),
                       *text_of(finding, "stake") ? ")" : "");
        (void)fprintf(p->to, "%zu. ", i + 1);
        put_prose(p, line, ITEM_INDENT);
        put_sub(p, "Evidence", text_of(finding, "evidence"));
        put_sub(p, "Recommendations", text_of(finding, "advice"));
    }
    if (!tm_length(findings))
        (void)fputs(p->is_markdown ? "No findings.\n" : "  none\n", p->to);
}

static void put_commands(const struct page *p, const struct tm_value *brief)
{
    const struct tm_value *commands = tm_get(brief, "commands"), *left_out = tm_get(brief, "left_out");
    char line[LINE_BYTES];

    if (tm_length(left_out)) {
        put_heading(p, "Omitted");
        line[0] = '\0';
        for (size_t i = 0; i < tm_length(left_out); i++) {
            char label[64], count[TM_FORMAT_BYTES];

            (void)snprintf(label, sizeof(label), "%s", tm_key_at(left_out, i));
            for (char *at = label; *at; at++)
                *at = *at == '_' ? ' ' : *at;
            tm_format_append(line, sizeof(line), "%s%s: %s", *line ? ", " : "", label,
                             tm_format_count(count, tm_int(tm_value_at(left_out, i))));
        }
        (void)fputs(p->is_markdown ? "" : "  ", p->to);
        put_prose(p, line, 2);
    }
    if (!tm_length(commands))
        return;
    put_heading(p, "Commands");
    if (p->is_markdown)
        (void)fputs("```sh\n", p->to);
    for (size_t i = 0; i < tm_length(commands); i++) {
        tm_format_text(line, sizeof(line), text_of(tm_at(commands, i), "command"));
        (void)fprintf(p->to, "%s%s  # %s\n", p->is_markdown ? "" : "  ", line, text_of(tm_at(commands, i), "purpose"));
    }
    if (p->is_markdown)
        (void)fputs("```\n", p->to);
}

static void put_top(const struct page *p, const struct tm_value *brief)
{
    const struct tm_value *verdict = tm_get(brief, "verdict");
    char line[LINE_BYTES];

    put_fact(p, "Run", "%s%s", *text_of(brief, "run") ? text_of(brief, "run") : "profile",
             tm_is(tm_get(brief, "redacted")) ? " (names are redacted)" : "");
    if (*text_of(verdict, "verdict"))
        (void)snprintf(line, sizeof(line), "%s, %s: %s", text_of(verdict, "verdict"), text_of(verdict, "severity"),
                       text_of(verdict, "text"));
    else
        (void)snprintf(line, sizeof(line), "%s: %s", text_of(verdict, "severity"), text_of(verdict, "text"));
    put_fact(p, "Verdict", "%s", line);
}

void tm_brief_print(const struct tm_value *brief, enum tm_brief_form form, FILE *to)
{
    const struct page page = { .to = to, .is_markdown = form == TM_BRIEF_MARKDOWN };
    const char *kind = text_of(brief, "kind");

    if (form == TM_BRIEF_JSON) {
        tm_value_print_line(brief, to);
        return;
    }
    put_top(&page, brief);
    if (strcmp(kind, "run") == 0) {
        put_input(&page, brief);
        put_steps(&page, brief);
        put_critical_path(&page, brief);
        put_key_figures(&page, brief);
        put_findings(&page, brief);
        put_checks(&page, brief);
    } else if (strcmp(kind, "comparison") == 0) {
        if (tm_is(tm_get(brief, "partial")))
            put_fact(&page, "Partial", "a run is damaged or truncated: its figures cover what could be read");
        put_sides(&page, brief);
        put_changes(&page, brief);
        put_findings(&page, brief);
        put_notes(&page, brief);
    } else {
        put_counts(&page, brief);
        put_jobs(&page, brief);
        put_findings(&page, brief);
    }
    put_commands(&page, brief);
}
