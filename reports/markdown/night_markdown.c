/* SPDX-License-Identifier: Apache-2.0 */
/* Made in memory, row by row: a row that does not fit is taken back. */
#include "reports/markdown/night_markdown.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "pipeline/version.h"
#include "reports/format/format.h"
#include "reports/markdown/markdown.h"
#include "reports/markdown/mdw.h"

enum { TAIL_BYTES = 1000, TEXT_BYTES = 256 };

struct writing {
    struct tm_mdw w;
    const struct tm_value *rows;
    const char *night; /* the last one: of runs of others theirs is told */
    uint64_t left_out;
    bool has_table;
    char room[TM_MARKDOWN_BYTES_MOST];
};

static const char *text_of(const struct tm_value *from, const char *key)
{
    return tm_text(tm_get(from, key));
}

static bool is(const struct tm_value *from, const char *key, const char *word)
{
    return strcmp(text_of(from, key), word) == 0;
}

/* Keep the row that began there, if it fits and leaves room for the end. */
static void keep(struct writing *m, size_t mark)
{
    if (!m->w.is_full && m->w.used + TAIL_BYTES < m->w.bytes)
        return;
    m->w.used = mark;
    m->w.at[mark] = 0;
    m->w.is_full = false;
    m->left_out++;
}

static void put_name(struct writing *m, const struct tm_value *row)
{
    tm_mdw_raw(&m->w, "| ");
    tm_mdw_name(&m->w, text_of(row, "job"), true);
    if (*text_of(row, "revision")) {
        tm_mdw_raw(&m->w, " ");
        tm_mdw_name(&m->w, text_of(row, "revision"), true);
    }
    if (!is(row, "night", m->night))
        tm_mdw_rawf(&m->w, " of %.10s", text_of(row, "night"));
    if (tm_has(tm_get(row, "step")))
        tm_mdw_rawf(&m->w, " step %" PRId64, tm_int(tm_get(row, "step")));
}

static void put_cell(struct writing *m, const char *text)
{
    tm_mdw_raw(&m->w, " | ");
    tm_mdw_prose(&m->w, text, true);
}

/* "at most 150ms", "grows by 5 % at most" */
static void say_limit(char *to, size_t bytes, const struct tm_value *gate)
{
    static const struct {
        const char *rule, *before, *behind;
    } words[] = {
        { "max", "at most ", "" },
        { "min", "at least ", "" },
        { "equals", "", "" },
        { "max_increase", "grows by ", " at most" },
        { "max_increase_pct", "grows by ", " at most" },
        { "max_decrease", "falls by ", " at most" },
        { "max_decrease_pct", "falls by ", " at most" },
    };
    const char *limit = text_of(gate, "limit_text"), *rule = text_of(gate, "rule");
    const size_t length = strlen(limit);
    const bool is_bare = length && limit[length - 1] >= '0' && limit[length - 1] <= '9';

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(rule, words[i].rule) == 0)
            (void)snprintf(to, bytes, "%s%.60s%s%s", words[i].before, limit,
                           is_bare && strstr(rule, "_pct") ? " %" : "", words[i].behind);
    }
}

static void begin_table(struct writing *m)
{
    if (m->has_table)
        return;
    m->has_table = true;
    tm_mdw_raw(&m->w, "| job | | gate | is | was | change |\n| --- | --- | --- | --- | --- | --- |\n");
}

static void put_gate(struct writing *m, const struct tm_value *row, const struct tm_value *gate)
{
    const size_t mark = m->w.used;
    char text[TEXT_BYTES], limit[TEXT_BYTES / 2] = "", pct[TM_FORMAT_BYTES];
    const bool is_known = tm_has(tm_get(gate, "value")) && is(gate, "status", "failed");

    begin_table(m);
    put_name(m, row);
    tm_mdw_rawf(&m->w, " | %s", is(gate, "status", "failed") ? "**failed**" : "unknown");
    say_limit(limit, sizeof(limit), gate);
    (void)snprintf(text, sizeof(text), "%.120s: %s", text_of(gate, *text_of(gate, "title") ? "title" : "figure"), limit);
    put_cell(m, text);
    put_cell(m, is_known ? text_of(gate, "value_text") : text_of(gate, "why"));
    put_cell(m, is_known ? text_of(gate, "baseline_text") : "");
    text[0] = '\0';
    if (is_known && tm_has(tm_get(gate, "change_pct")))
        (void)snprintf(text, sizeof(text), "%s%s %%", tm_double(tm_get(gate, "change_pct")) > 0 ? "+" : "",
                       tm_format_number(pct, tm_double(tm_get(gate, "change_pct"))));
    put_cell(m, text);
    tm_mdw_raw(&m->w, " |\n");
    keep(m, mark);
}

/* Every gate of that status. */
static void put_gates(struct writing *m, const char *status)
{
    for (size_t i = 0; i < tm_length(m->rows); i++) {
        const struct tm_value *const row = tm_at(m->rows, i), *const gates = tm_get(row, "gates");

        for (size_t k = 0; k < tm_length(gates); k++) {
            if (is(tm_at(gates, k), "status", status))
                put_gate(m, row, tm_at(gates, k));
        }
    }
}

/* Runs of which no gate could be looked at. */
static void put_without_gates(struct writing *m, bool has_report)
{
    for (size_t i = 0; i < tm_length(m->rows); i++) {
        const struct tm_value *const row = tm_at(m->rows, i);
        const size_t mark = m->w.used;

        if (tm_length(tm_get(row, "gates")) || !is(row, "verdict", has_report ? "unknown" : "no report"))
            continue;
        begin_table(m);
        put_name(m, row);
        tm_mdw_rawf(&m->w, " | %s", has_report ? "unknown" : text_of(row, "status"));
        put_cell(m, text_of(row, has_report ? "text" : "message"));
        tm_mdw_raw(&m->w, " | | | |\n");
        keep(m, mark);
    }
}

static void put_good(struct writing *m)
{
    bool has_any = false;

    for (size_t i = 0; i < tm_length(m->rows); i++) {
        const struct tm_value *const row = tm_at(m->rows, i);
        const size_t mark = m->w.used, runs = tm_length(tm_get(row, "baseline"));

        if (!is(row, "verdict", "passed") && !is(row, "verdict", "not judged"))
            continue;
        if (!has_any)
            tm_mdw_raw(&m->w, "<details><summary>Runs without a failed gate</summary>\n\n"
                              "| job | | gates | against |\n| --- | --- | ---: | --- |\n");
        put_name(m, row);
        tm_mdw_rawf(&m->w, " | %s | %zu | ", text_of(row, "verdict"), tm_length(tm_get(row, "gates")));
        if (runs == 1)
            tm_mdw_name(&m->w, tm_text(tm_at(tm_get(row, "baseline"), 0)), true);
        else if (runs)
            tm_mdw_rawf(&m->w, "%zu runs", runs);
        tm_mdw_raw(&m->w, " |\n");
        keep(m, mark);
        has_any |= m->w.used != mark;
    }
    tm_mdw_raw(&m->w, has_any ? "\n</details>\n\n" : "");
}

static void put_notes(struct writing *m, const struct tm_value *notes)
{
    for (size_t i = 0; i < tm_length(notes); i++) {
        const size_t mark = m->w.used;

        tm_mdw_raw(&m->w, "- ");
        tm_mdw_prose(&m->w, tm_text(tm_at(notes, i)), false);
        tm_mdw_raw(&m->w, "\n");
        keep(m, mark);
    }
    tm_mdw_raw(&m->w, tm_length(notes) ? "\n" : "");
}

static void put_all(struct writing *m, const struct tm_value *gates, const char *title)
{
    tm_mdw_raw(&m->w, "### ");
    tm_mdw_prose(&m->w, title ? title : "Night", false);
    tm_mdw_rawf(&m->w, " %s\n\n**", text_of(gates, "night"));
    tm_mdw_prose(&m->w, tm_text(tm_path(gates, "verdict.text")), false);
    tm_mdw_raw(&m->w, "**\n\n");
    put_gates(m, "failed");
    put_without_gates(m, false);
    put_gates(m, "unknown");
    put_without_gates(m, true);
    tm_mdw_raw(&m->w, m->has_table ? "\n" : "");
    put_notes(m, tm_get(gates, "notes"));
    put_good(m);
    if (m->left_out)
        tm_mdw_rawf(&m->w, "%" PRIu64 " more rows: see the JUnit file or index.html.\n\n", m->left_out);
    if (*text_of(gates, "baseline")) {
        tm_mdw_raw(&m->w, "<sub>against ");
        tm_mdw_html(&m->w, text_of(gates, "baseline"));
        tm_mdw_raw(&m->w, "; ");
    } else {
        tm_mdw_raw(&m->w, "<sub>");
    }
    tm_mdw_raw(&m->w, "tracemill " TM_VERSION "</sub>\n");
}

tm_status tm_night_markdown_write(struct tm_run *run, const struct tm_value *gates, const char *title, FILE *to)
{
    struct writing *const m = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*m), &run->error);
    bool is_written;

    if (!m)
        return run->error.status;
    tm_mdw_init(&m->w, m->room, sizeof(m->room));
    m->rows = tm_get(gates, "runs");
    m->night = text_of(gates, "night");
    put_all(m, gates, title);
    is_written = fwrite(m->room, 1, m->w.used, to) == m->w.used && fflush(to) == 0;
    tm_give(&run->budget, TM_ACCOUNT_MODEL, m, sizeof(*m));
    if (!is_written)
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the Markdown file");
    return TM_OK;
}
