/* SPDX-License-Identifier: Apache-2.0 */
/* report.md.  The entire file is built in memory, so a piece that does not fit is removed completely and never leaves
 * an open tag or half a table. */
#include "reports/media.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pipeline/doc/doc.h"
#include "pipeline/error.h"
#include "pipeline/run.h"
#include "reports/content/content.h"
#include "reports/format/format.h"

static void mdw_rawf(struct tm_mdw *w, const char *format, ...) TM_PRINTF(2, 3);

enum { NAME_BYTES = 4 * TM_MD_NAME_MOST + 1, RAW_BYTES = 256, SHORT_HASH = 7 };

/* --- bytes --- */

void tm_mdw_init(struct tm_mdw *w, char *room, size_t bytes)
{
    *w = (struct tm_mdw){ .at = room, .bytes = bytes };
    room[0] = 0;
}

static void put(struct tm_mdw *w, const char *bytes, size_t length)
{
    if (w->is_full || length >= w->bytes - w->used) {
        w->is_full = true;
        return;
    }
    memcpy(w->at + w->used, bytes, length);
    w->used += length;
    w->at[w->used] = 0;
}

void tm_mdw_raw(struct tm_mdw *w, const char *markdown)
{
    put(w, markdown, strlen(markdown));
}

/* at most 255 bytes */
static void mdw_rawf(struct tm_mdw *w, const char *format, ...)
{
    char text[RAW_BYTES];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    tm_mdw_raw(w, text);
}

/* --- inline code --- */

static size_t longest_fence(const char *text, size_t length)
{
    size_t longest = 0, run = 0;

    for (size_t i = 0; i < length; i++) {
        run = text[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void put_fence(struct tm_mdw *w, size_t length)
{
    for (size_t i = 0; i < length; i++)
        put(w, "`", 1);
}

/* In a table, a bar is escaped even in code, and readers interpret a backslash before it differently. */
static void put_bar(struct tm_mdw *w, bool after_backslash)
{
    tm_mdw_raw(w, after_backslash ? "\\x7c" : "\\|");
}

/* in: text  visible, not empty */
static void put_code(struct tm_mdw *w, const char *text, size_t length, bool in_table)
{
    const size_t fence = longest_fence(text, length) + 1;
    const char first = text[0], last = text[length - 1];
    const bool is_padded = first == '`' || last == '`' || (first == ' ' && last == ' ');

    if (w->used > 0 && w->at[w->used - 1] == '`') /* adjacent fences would merge */
        put(w, " ", 1);
    put_fence(w, fence);
    if (is_padded)
        put(w, " ", 1);
    for (size_t i = 0; i < length; i++) {
        if (in_table && text[i] == '|')
            put_bar(w, i > 0 && text[i - 1] == '\\');
        else
            put(w, text + i, 1);
    }
    if (is_padded)
        put(w, " ", 1);
    put_fence(w, fence);
}

void tm_mdw_name(struct tm_mdw *w, const char *name, bool in_table)
{
    char visible[TM_MD_PROSE_BYTES], cut[NAME_BYTES];

    tm_format_text(visible, sizeof(visible), name);
    (void)tm_format_middle(cut, sizeof(cut), visible, TM_MD_NAME_MOST);
    if (cut[0])
        put_code(w, cut, strlen(cut), in_table);
}

/* --- words --- */

static bool has_any(const char *word, size_t length, const char *of)
{
    for (size_t i = 0; i < length; i++)
        if (strchr(of, word[i]))
            return true;
    return false;
}

static bool contains(const char *word, size_t length, const char *what)
{
    const size_t n = strlen(what);

    for (size_t i = 0; i + n <= length; i++)
        if (strncasecmp(word + i, what, n) == 0)
            return true;
    return false;
}

/* "#12", "gh-12", "!12", "%12", as forges refer to issues and commits. */
static bool is_reference(const char *word, size_t length)
{
    for (size_t i = 0; i + 1 < length; i++) {
        const bool is_sign = strchr("#!%", word[i]) || (word[i] == '-' && i >= 2 && contains(word + i - 2, 2, "gh"));

        if (is_sign && isdigit((unsigned char)word[i + 1]))
            return true;
    }
    return false;
}

/* A part of it could be a commit hash; a number with decimals is not. */
static bool is_hash(const char *word, size_t length)
{
    size_t run = 0;

    if (strspn(word, "0123456789.") >= length && memchr(word, '.', length))
        return false;
    for (size_t i = 0; i < length && run < SHORT_HASH; i++)
        run = isxdigit((unsigned char)word[i]) ? run + 1 : 0;
    return run >= SHORT_HASH;
}

/* An emoji: ":tada:".  A time of day is not. */
static bool is_shortcode(const char *word, size_t length)
{
    const char *first = memchr(word, ':', length);

    return first && memchr(first + 1, ':', length - (size_t)(first + 1 - word)) &&
           (strspn(word, "0123456789:") < length || length > sizeof("12:34:56") - 1);
}

/* Starts a list, a heading or a rule at the start of a line: "#", "-", "1.", "===". */
static bool is_block_sign(const char *word, size_t length)
{
    const size_t digits = strspn(word, "0123456789");

    return strspn(word, "#+-=") >= length || (digits > 0 && digits + 1 == length && strchr(".)", word[digits]));
}

static bool is_special(const char *word, size_t length, bool is_first)
{
    return has_any(word, length, "\\`*_[]<>|~&$@") || contains(word, length, "://") || contains(word, length, "www.") ||
           contains(word, length, "mailto:") || contains(word, length, "xmpp:") || (word[0] == '%' && length > 1) ||
           is_reference(word, length) || is_hash(word, length) || is_shortcode(word, length) ||
           (is_first && is_block_sign(word, length));
}

/* Ends with a bracket that starts in it: "f(x)". */
static bool closes(const char *word, size_t length)
{
    return word[length - 1] == ')' && memchr(word, '(', length);
}

/* A word with the brackets, quotes and punctuation around it, which stay outside of the code. */
static void put_special(struct tm_mdw *w, const char *word, size_t length, bool in_table)
{
    size_t from = 0, to = length;

    while (from < to && strchr("(\"'", word[from]))
        from++;
    while (to > from && strchr(",.;:)\"'", word[to - 1]) && !closes(word + from, to - from))
        to--;
    put(w, word, from);
    if (to > from)
        put_code(w, word + from, to - from, in_table);
    put(w, word + to, length - to);
}

/* Signs by themselves, as in "> 80 %". */
static bool is_signs(const char *word, size_t length)
{
    return strspn(word, "<>=&*~") >= length && has_any(word, length, "<>&*~");
}

static void put_signs(struct tm_mdw *w, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        put(w, "\\", 1);
        put(w, word + i, 1);
    }
}

/* Length of the code at the start of a text, its two fences included; 0 = there is none. */
static size_t code_length(const char *text)
{
    const char *end = text[0] == '`' && text[1] != '`' && text[1] ? strchr(text + 1, '`') : NULL;

    return end && end[1] != '`' ? (size_t)(end + 1 - text) : 0;
}

/* Write the start of a text.  out: its length */
static size_t put_piece(struct tm_mdw *w, const char *text, bool in_table, bool is_first)
{
    const size_t code = code_length(text), length = code ? code : strcspn(text, " ");

    if (code)
        put_code(w, text + 1, code - 2, in_table);
    else if (is_signs(text, length))
        put_signs(w, text, length);
    else if (is_special(text, length, is_first))
        put_special(w, text, length, in_table);
    else
        put(w, text, length);
    return length;
}

void tm_mdw_prose(struct tm_mdw *w, const char *text, bool in_table)
{
    char visible[TM_MD_PROSE_BYTES];
    const char *at = visible;

    tm_format_text(visible, sizeof(visible), text);
    at += strspn(at, " ");
    for (bool is_first = true; *at; is_first = false) {
        const size_t spaces = is_first ? 0 : strspn(at, " ");

        at += spaces;
        if (spaces && *at)
            put(w, " ", 1);
        if (*at)
            at += put_piece(w, at, in_table, is_first);
    }
}

/* --- HTML --- */

void tm_mdw_html(struct tm_mdw *w, const char *text)
{
    char visible[TM_MD_PROSE_BYTES];

    tm_format_text(visible, sizeof(visible), text);
    for (const char *at = visible; *at; at++) {
        const char *const entity = tm_format_entity((unsigned char)*at);

        if (entity)
            tm_mdw_raw(w, entity);
        else
            put(w, at, 1);
    }
}

/* The target of a link, after "[" and its text.  in: path  tm_link_is_safe */
static void mdw_link_end(struct tm_mdw *w, const char *path)
{
    tm_mdw_raw(w, "](");
    tm_mdw_raw(w, path);
    tm_mdw_raw(w, ")");
}

/* Built in memory, row by row; a row that does not fit is removed. */

enum { TAIL_BYTES = 1000, TEXT_BYTES = 256 };

struct writing {
    struct tm_mdw w;
    const struct tm_value *rows;
    const char *night; /* the last one: runs of other nights are listed with their night */
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

/* Keep the row that started there, if it fits and leaves room for the end. */
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
        mdw_rawf(&m->w, " of %.10s", text_of(row, "night"));
    if (tm_has(tm_get(row, "step")))
        mdw_rawf(&m->w, " step %" PRId64, tm_int(tm_get(row, "step")));
}

static void put_cell(struct writing *m, const char *text)
{
    tm_mdw_raw(&m->w, " | ");
    tm_mdw_prose(&m->w, text, true);
}

/* "at most 150ms", "increase of at most 5%" */
static void emit_limit(char *to, size_t bytes, const struct tm_value *gate)
{
    static const struct {
        const char *rule, *before;
    } words[] = {
        { "max", "at most " },
        { "min", "at least " },
        { "equals", "" },
        { "max_increase", "increase of at most " },
        { "max_increase_pct", "increase of at most " },
        { "max_decrease", "decrease of at most " },
        { "max_decrease_pct", "decrease of at most " },
    };
    const char *limit = text_of(gate, "limit_text"), *rule = text_of(gate, "rule");
    const size_t length = strlen(limit);
    const bool is_bare = length && limit[length - 1] >= '0' && limit[length - 1] <= '9';

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(rule, words[i].rule) == 0)
            (void)snprintf(to, bytes, "%s%.60s%s", words[i].before, limit, is_bare && strstr(rule, "_pct") ? "%" : "");
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
    mdw_rawf(&m->w, " | %s", is(gate, "status", "failed") ? "**failed**" : "unknown");
    emit_limit(limit, sizeof(limit), gate);
    (void)snprintf(text, sizeof(text), "%.120s: %s", text_of(gate, *text_of(gate, "title") ? "title" : "figure"),
                   limit);
    put_cell(m, text);
    put_cell(m, is_known ? text_of(gate, "value_text") : text_of(gate, "why"));
    put_cell(m, is_known ? text_of(gate, "baseline_text") : "");
    text[0] = '\0';
    if (is_known && tm_has(tm_get(gate, "change_pct")))
        (void)snprintf(text, sizeof(text), "%s%s%%", tm_double(tm_get(gate, "change_pct")) > 0 ? "+" : "",
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

/* Runs without a gate that could be evaluated. */
static void put_without_gates(struct writing *m, bool has_report)
{
    for (size_t i = 0; i < tm_length(m->rows); i++) {
        const struct tm_value *const row = tm_at(m->rows, i);
        const size_t mark = m->w.used;

        if (tm_length(tm_get(row, "gates")) || !is(row, "verdict", has_report ? "unknown" : "no report"))
            continue;
        begin_table(m);
        put_name(m, row);
        mdw_rawf(&m->w, " | %s", has_report ? "unknown" : text_of(row, "status"));
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

        if ((!is(row, "verdict", "passed") && !is(row, "verdict", "not assessed")) || !tm_length(tm_get(row, "gates")))
            continue;
        if (!has_any)
            tm_mdw_raw(&m->w, "<details><summary>Runs without a failed gate</summary>\n"
                              "\n"
                              "| job | | gates | baseline |\n"
                              "| --- | --- | ---: | --- |\n");
        put_name(m, row);
        mdw_rawf(&m->w, " | %s | %zu | ", text_of(row, "verdict"), tm_length(tm_get(row, "gates")));
        if (runs == 1)
            tm_mdw_name(&m->w, tm_text(tm_at(tm_get(row, "baseline"), 0)), true);
        else if (runs)
            mdw_rawf(&m->w, "%zu runs", runs);
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

/* Open regressions, those of this night first. */
static void put_regressions(struct writing *m, const struct tm_value *list)
{
    static const char *const cells[] = { "title", "before_text", "after_text", "change_text", "since" };

    if (tm_length(list))
        tm_mdw_raw(&m->w, "| job | regression | figure | before | now | change | since | revision | cause |\n"
                          "| --- | --- | --- | ---: | ---: | ---: | --- | --- | --- |\n");
    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *const row = tm_at(list, i);
        const size_t mark = m->w.used;

        tm_mdw_raw(&m->w, "| ");
        tm_mdw_name(&m->w, text_of(row, "job"), true);
        mdw_rawf(&m->w, " | %s%.12s", is(row, "state", "opened") ? "**new** " : "", text_of(row, "regression"));
        for (size_t k = 0; k < sizeof(cells) / sizeof(cells[0]); k++)
            put_cell(m, text_of(row, cells[k]));
        tm_mdw_raw(&m->w, " | ");
        if (*text_of(row, "revision_before") &&
            strcmp(text_of(row, "revision_before"), text_of(row, "revision")) != 0) {
            tm_mdw_name(&m->w, text_of(row, "revision_before"), true);
            tm_mdw_raw(&m->w, " \xe2\x86\x92 ");
        }
        if (*text_of(row, "revision"))
            tm_mdw_name(&m->w, text_of(row, "revision"), true);
        put_cell(m, text_of(row, "cause"));
        tm_mdw_raw(&m->w, " |\n");
        keep(m, mark);
    }
    tm_mdw_raw(&m->w, tm_length(list) ? "\n" : "");
}

/* "3 jobs regressed between a1b2c3d and e4f5a6b: ..." */
static void put_revisions(struct writing *m, const struct tm_value *list)
{
    for (size_t i = 0; i < tm_length(list); i++) {
        const struct tm_value *const row = tm_at(list, i);
        const size_t mark = m->w.used;

        mdw_rawf(&m->w, "- %" PRId64 " jobs regressed between ", tm_int(tm_get(row, "jobs")));
        tm_mdw_name(&m->w, text_of(row, "revision_before"), false);
        tm_mdw_raw(&m->w, " and ");
        tm_mdw_name(&m->w, text_of(row, "revision"), false);
        tm_mdw_raw(&m->w, ": ");
        tm_mdw_prose(&m->w, text_of(row, "names"), false);
        tm_mdw_raw(&m->w, "\n");
        keep(m, mark);
    }
    tm_mdw_raw(&m->w, tm_length(list) ? "\n" : "");
}

/* "- withdrawn: job, median step time since 2026-11-21 (r-...): why"; also those that ended */
static void put_left(struct writing *m, const struct tm_value *closed)
{
    bool has_any = false;

    for (size_t i = 0; i < tm_length(closed); i++) {
        const struct tm_value *const row = tm_at(closed, i);
        const size_t mark = m->w.used;

        if (!is(row, "state", "withdrawn") && !is(row, "state", "ended"))
            continue;
        mdw_rawf(&m->w, "- %.20s: ", text_of(row, "state"));
        tm_mdw_name(&m->w, text_of(row, "job"), false);
        mdw_rawf(&m->w, ", %.60s since %.10s (%.12s): ", text_of(row, "title"), text_of(row, "since"),
                 text_of(row, "regression"));
        tm_mdw_prose(&m->w, text_of(row, "reason"), false);
        tm_mdw_raw(&m->w, "\n");
        keep(m, mark);
        has_any = true;
    }
    tm_mdw_raw(&m->w, has_any ? "\n" : "");
}

static void put_all(struct writing *m, const struct tm_value *gates, const struct tm_value *night, const char *title)
{
    const bool has_gates = tm_has(tm_get(gates, "gate_file"));

    tm_mdw_raw(&m->w, "### ");
    tm_mdw_prose(&m->w, title ? title : "Night", false);
    mdw_rawf(&m->w, " %s\n\n**", text_of(gates, "night"));
    tm_mdw_prose(&m->w, tm_text(tm_path(has_gates || !night ? gates : night, "verdict.text")), false);
    tm_mdw_raw(&m->w, "**\n\n");
    put_regressions(m, tm_get(night, "regressions"));
    put_revisions(m, tm_get(night, "revisions"));
    put_left(m, tm_get(night, "closed"));
    put_gates(m, "failed");
    put_without_gates(m, false);
    put_gates(m, "unknown");
    put_without_gates(m, true);
    tm_mdw_raw(&m->w, m->has_table ? "\n" : "");
    put_notes(m, tm_get(gates, "notes"));
    put_good(m);
    if (m->left_out)
        mdw_rawf(&m->w, "%" PRIu64 " more rows: see the JUnit file or index.html.\n\n", m->left_out);
    if (*text_of(gates, "baseline")) {
        tm_mdw_raw(&m->w, "<sub>baseline: ");
        tm_mdw_html(&m->w, text_of(gates, "baseline"));
        tm_mdw_raw(&m->w, "; ");
    } else {
        tm_mdw_raw(&m->w, "<sub>");
    }
    tm_mdw_raw(&m->w, "tracemill " TM_VERSION "</sub>\n");
}

tm_status tm_nightly_markdown_write(struct tm_run *run, const struct tm_value *gates, const struct tm_value *night,
                                    const char *title, FILE *to)
{
    struct writing *const m = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*m), &run->error);
    bool is_written;

    if (!m)
        return run->error.status;
    tm_mdw_init(&m->w, m->room, sizeof(m->room));
    m->rows = tm_get(gates, "runs");
    m->night = text_of(gates, "night");
    put_all(m, gates, night, title);
    is_written = fwrite(m->room, 1, m->w.used, to) == m->w.used && fflush(to) == 0;
    tm_give(&run->budget, TM_ACCOUNT_MODEL, m, sizeof(*m));
    if (!is_written)
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the Markdown file");
    return TM_OK;
}

enum {
    CUT_TAIL_BYTES = 2000,       /* for the names of omitted sections, and the program */
    FINDINGS_BYTES_MOST = 30000, /* reserved for the tables */
    FINDINGS_OPEN = 5,           /* the others are folded */
    PLACES_MOST = 3,
    LEFT_OUT_BYTES = 1024,
};

struct markdown {
    struct tm_mdw w;
    struct tm_run *run;
    const struct tm_value *summary;
    struct tm_front_page front;
    struct tm_sheet sheet;
    struct tm_layout layout;
    size_t mark;      /* where the section started */
    bool is_findings; /* the section is the one of findings */
    size_t findings_left_out;
    bool has_fold;                 /* later findings are in a fold that is open */
    char left_out[LEFT_OUT_BYTES]; /* titles of sections */
    char room[TM_MARKDOWN_BYTES_MOST];
};

/* Remove a piece that did not fit.  out: it fit */
static bool fits(struct markdown *m, size_t mark)
{
    if (!m->w.is_full)
        return true;
    m->w.used = mark;
    m->w.at[mark] = 0;
    m->w.is_full = false;
    return false;
}

/* --- tables --- */

/* in: link  of its row; NULL = none */
static void put_table_cell(struct markdown *m, int row, int column, bool is_name, const char *link)
{
    const char *text = m->sheet.text[row][column];
    const bool is_bold = m->sheet.summed[row] && *text;

    for (int i = 0; column == 0 && i < m->sheet.indent[row]; i++)
        tm_mdw_raw(&m->w, "› ");
    tm_mdw_raw(&m->w, is_bold ? "**" : link ? "[" : "");
    if (is_name)
        tm_mdw_name(&m->w, text, true);
    else
        tm_mdw_prose(&m->w, text, true);
    if (link)
        mdw_link_end(&m->w, link);
    tm_mdw_raw(&m->w, is_bold ? "**" : "");
}

static void put_table_head(struct markdown *m)
{
    const struct tm_sheet *sheet = &m->sheet;

    tm_mdw_raw(&m->w, "|");
    for (int c = 0; c < sheet->columns; c++) {
        tm_mdw_raw(&m->w, " ");
        tm_mdw_prose(&m->w, sheet->title[c], true);
        tm_mdw_raw(&m->w, " |");
    }
    tm_mdw_raw(&m->w, "\n|");
    for (int c = 0; c < sheet->columns; c++)
        tm_mdw_raw(&m->w, sheet->kind[c] == TM_COLUMN_NUMBER ? " ---: |" : " --- |");
    tm_mdw_raw(&m->w, "\n");
}

/* in:     table  NULL = its rows have no links
 *         is_listed  it has names; otherwise it is a sum */
static void put_table_row(struct markdown *m, const struct tm_table *table, int r, bool is_listed)
{
    tm_mdw_raw(&m->w, "|");
    for (int c = 0; c < m->sheet.columns; c++) {
        const bool is_name = m->sheet.kind[c] == TM_COLUMN_NAME && is_listed;

        tm_mdw_raw(&m->w, " ");
        put_table_cell(m, r, c, is_name,
                       table && c == 0 && is_name && *m->sheet.text[r][c] ? tm_table_link(table, (size_t)r, 0) : NULL);
        tm_mdw_raw(&m->w, " |");
    }
    tm_mdw_raw(&m->w, "\n");
}

/* in: listed  rows with names; those after them are sums */
static void put_sheet(struct markdown *m, const struct tm_table *table, size_t listed)
{
    put_table_head(m);
    for (int r = 0; r < m->sheet.rows; r++)
        put_table_row(m, table, r, (size_t)r < listed);
    tm_mdw_raw(&m->w, "\n");
}

/* Write the rows so far; a row that is too long is not written partially. */
static void put_out(struct markdown *m, FILE *to)
{
    if (m->w.is_full)
        (void)fputs("| ... |\n", to);
    else
        (void)fwrite(m->room, 1, m->w.used, to);
    tm_mdw_init(&m->w, m->room, sizeof(m->room));
}

tm_status tm_markdown_put_sheets(struct tm_run *run, const struct tm_sheet_source *source, FILE *to)
{
    struct markdown *m = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*m), &run->error);
    size_t rows, from = 0;

    if (!m)
        return TM_ERR_LIMIT;
    tm_mdw_init(&m->w, m->room, sizeof(m->room));
    do {
        rows = source->fill(source->of, &m->sheet, from);
        if (from == 0)
            put_table_head(m);
        put_out(m, to);
        for (int r = 0; r < m->sheet.rows && rows > 0; r++) {
            put_table_row(m, NULL, r, true);
            put_out(m, to);
        }
        from += rows;
    } while (rows > 0);
    (void)fputc('\n', to);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, m, sizeof(*m));
    return TM_OK;
}

static void put_caption(struct markdown *m, const char *caption)
{
    tm_mdw_raw(&m->w, "#### ");
    tm_mdw_prose(&m->w, caption, false);
    tm_mdw_raw(&m->w, "\n\n");
}

/* --- content of sections --- */

static void put_paragraph(void *to, enum tm_tone tone, const char *text)
{
    struct markdown *m = to;

    if (tone == TM_TONE_CRITICAL || tone == TM_TONE_WARNING)
        tm_mdw_raw(&m->w, tone == TM_TONE_CRITICAL ? "**critical**: " : "**warning**: ");
    tm_mdw_prose(&m->w, text, false);
    tm_mdw_raw(&m->w, "\n\n");
}

static void put_subheading(void *to, const char *text)
{
    put_caption(to, text);
}

static void put_facts(void *to, const struct tm_table *facts)
{
    struct markdown *m = to;

    tm_sheet_fill_facts(&m->sheet, facts, m->summary);
    for (int r = 0; r < m->sheet.rows; r++) {
        tm_mdw_raw(&m->w, "- ");
        tm_mdw_prose(&m->w, m->sheet.text[r][0], false);
        tm_mdw_raw(&m->w, ": ");
        tm_mdw_prose(&m->w, m->sheet.text[r][1], false);
        tm_mdw_raw(&m->w, "\n");
    }
    tm_mdw_raw(&m->w, "\n");
}

static void put_table(void *to, const struct tm_table *table)
{
    struct markdown *m = to;
    const struct tm_room room = { .is_paper = true, .rows = TM_PAPER_ROWS };
    char note[TM_NOTE_BYTES];

    tm_sheet_fill(&m->sheet, &m->layout, table, m->summary, &room);
    put_caption(m, table->caption);
    put_sheet(m, table, m->layout.rows);
    for (size_t i = 0; tm_layout_note(&m->layout, i, note); i++)
        put_paragraph(m, TM_TONE_QUIET, note);
}

static void begin_section(void *to, const struct tm_section *section)
{
    struct markdown *m = to;

    m->mark = m->w.used;
    m->is_findings = strcmp(section->id, "findings") == 0;
    tm_mdw_raw(&m->w, m->is_findings ? "## " : "<details>\n<summary>");
    tm_mdw_html(&m->w, section->title);
    tm_mdw_raw(&m->w, m->is_findings ? "\n\n" : "</summary>\n\n");
}

static void emit_left_out(struct markdown *m, const char *title)
{
    const size_t used = strlen(m->left_out);

    (void)snprintf(m->left_out + used, sizeof(m->left_out) - used, "%s%s", used ? ", " : "", title);
}

/* Losses of the input that affect the section. */
static void put_marks(struct markdown *m, const char *key)
{
    const struct tm_value *marks = tm_path(m->summary, "coverage.marks");

    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++) {
        if (!tm_mark_is_of_section(tm_at(marks, i), key))
            continue;
        tm_mdw_raw(&m->w, "**note**: ");
        put_paragraph(m, TM_TONE_QUIET, tm_text(tm_get(tm_at(marks, i), "text")));
    }
}

static void end_section(void *to, const struct tm_section *section)
{
    struct markdown *m = to;

    if (section->key)
        put_marks(m, section->key);
    if (m->has_fold || !m->is_findings)
        tm_mdw_raw(&m->w, "</details>\n\n");
    m->has_fold = false;
    if (m->findings_left_out > 0)
        mdw_rawf(&m->w, "%zu more findings are in the other files of the report.\n\n", m->findings_left_out);
    m->findings_left_out = 0;
    if (!fits(m, m->mark))
        emit_left_out(m, section->title);
}

/* --- findings --- */

static void put_list(struct markdown *m, const char *title, const struct tm_value *list)
{
    if (tm_length(list) == 0)
        return;
    mdw_rawf(&m->w, "%s:\n\n", title);
    for (size_t i = 0; i < tm_length(list) && i < TM_FINDING_LINES; i++) {
        tm_mdw_raw(&m->w, "- ");
        tm_mdw_prose(&m->w, tm_text(tm_at(list, i)), false);
        tm_mdw_raw(&m->w, "\n");
    }
    tm_mdw_raw(&m->w, "\n");
}

static void put_places(struct markdown *m, const struct tm_value *where)
{
    struct tm_place place;

    if (tm_length(where) == 0)
        return;
    tm_mdw_raw(&m->w, "Look at:\n\n");
    for (size_t i = 0; i < tm_length(where) && i < PLACES_MOST; i++) {
        tm_place_make(&place, m->summary, tm_at(where, i));
        tm_mdw_raw(&m->w, "- ");
        tm_mdw_prose(&m->w, place.text, false);
        tm_mdw_raw(&m->w, "\n");
    }
    tm_mdw_raw(&m->w, "\n");
}

static void put_finding_text(struct markdown *m, const struct tm_value *finding, size_t number)
{
    const char *severity = tm_text(tm_get(finding, "severity")), *cause = tm_text(tm_get(finding, "cause"));
    char stake[TM_FINDING_BYTES];

    mdw_rawf(&m->w, "### %zu. ", number);
    tm_mdw_prose(&m->w, tm_text(tm_get(finding, "title")), false);
    tm_mdw_raw(&m->w, "\n\n**");
    tm_mdw_prose(&m->w, *severity ? severity : "unknown", false);
    tm_mdw_raw(&m->w, "**");
    if (*tm_finding_stake(stake, finding)) {
        tm_mdw_raw(&m->w, ": ");
        tm_mdw_prose(&m->w, stake, false);
    }
    tm_mdw_raw(&m->w, "\n\n");
    if (*cause)
        put_paragraph(m, TM_TONE_PLAIN, cause);
    put_list(m, "Recommendations", tm_get(finding, "fix"));
    put_list(m, "Evidence", tm_get(finding, "evidence"));
    put_places(m, tm_get(finding, "where"));
    if (tm_finding_link(finding)) {
        tm_mdw_raw(&m->w, "[");
        tm_mdw_prose(&m->w, tm_text(tm_path(finding, "link.title")), false);
        mdw_link_end(&m->w, tm_finding_link(finding));
        tm_mdw_raw(&m->w, "\n\n");
    }
}

static void put_finding(void *to, const struct tm_value *finding, size_t number)
{
    struct markdown *m = to;
    const size_t mark = m->w.used;

    if (m->findings_left_out > 0) {
        m->findings_left_out++;
        return;
    }
    if (number == FINDINGS_OPEN + 1) {
        tm_mdw_raw(&m->w, "<details>\n<summary>More findings</summary>\n\n");
        m->has_fold = true;
    }
    put_finding_text(m, finding, number);
    if (m->w.used - m->mark > FINDINGS_BYTES_MOST)
        m->w.is_full = true;
    if (fits(m, mark))
        return;
    m->has_fold = m->has_fold && number != FINDINGS_OPEN + 1;
    m->findings_left_out++;
}

static const struct tm_medium markdown_medium = {
    .room = { .is_paper = true, .rows = TM_PAPER_ROWS },
    .section = begin_section,
    .end_section = end_section,
    .subheading = put_subheading,
    .paragraph = put_paragraph,
    .facts = put_facts,
    .table = put_table,
    .finding = put_finding,
};

/* --- the top --- */

static void put_titles(struct markdown *m)
{
    tm_mdw_raw(&m->w, "# ");
    tm_mdw_prose(&m->w, m->front.title, false);
    tm_mdw_raw(&m->w, "\n\n");
    put_paragraph(m, TM_TONE_PLAIN, m->front.subtitle);
    if (*m->front.note) {
        tm_mdw_raw(&m->w, "> ");
        put_paragraph(m, TM_TONE_PLAIN, m->front.note);
    }
    if (m->front.is_partial) {
        tm_mdw_raw(&m->w, "**partial**: ");
        put_paragraph(m, TM_TONE_PLAIN, m->front.partial);
    }
}

static const char *tone_word(enum tm_tone tone)
{
    return tone == TM_TONE_GOOD       ? "good"
           : tone == TM_TONE_WARNING  ? "warning"
           : tone == TM_TONE_BAD      ? "critical"
           : tone == TM_TONE_INFO     ? "info"
           : tone == TM_TONE_CRITICAL ? "critical"
                                      : "unknown";
}

static void put_verdict(struct markdown *m)
{
    if (!*m->front.verdict)
        return;
    mdw_rawf(&m->w, "**%s**: ", tone_word(m->front.tone));
    put_paragraph(m, TM_TONE_PLAIN, m->front.verdict);
}

static void put_front_facts(struct markdown *m)
{
    for (size_t i = 0; i < m->front.facts; i++) {
        const size_t mark = m->w.used;

        mdw_rawf(&m->w, "- %s: ", m->front.fact[i].title);
        tm_mdw_prose(&m->w, m->front.fact[i].text, false);
        tm_mdw_raw(&m->w, "\n");
        (void)fits(m, mark);
    }
    tm_mdw_raw(&m->w, "\n");
}

static void put_kpi(struct markdown *m, size_t index)
{
    char sign[TM_SIGN_BYTES];
    struct tm_key_figure kpi;

    tm_kpi_at(&kpi, m->summary, index);
    tm_mdw_raw(&m->w, "| ");
    tm_mdw_prose(&m->w, kpi.title, true);
    tm_mdw_raw(&m->w, " | ");
    tm_mdw_prose(&m->w, kpi.has_value ? kpi.value : "not recorded", true);
    tm_mdw_raw(&m->w, " | ");
    if (*kpi.band && strcmp(kpi.band, "unknown") != 0) {
        tm_mdw_raw(&m->w, "**");
        tm_mdw_prose(&m->w, kpi.band, true);
        tm_mdw_raw(&m->w, "**");
    }
    tm_mdw_raw(&m->w, " | ");
    tm_mdw_prose(&m->w, kpi.good, true);
    tm_mdw_raw(&m->w, " | ");
    if (kpi.finding)
        mdw_rawf(&m->w, "finding %zu", kpi.finding);
    else
        tm_mdw_prose(&m->w, kpi.why, true);
    if (*tm_sign_of_kpi(sign, m->summary, kpi.kpi))
        tm_mdw_raw(&m->w,
                   kpi.finding || *kpi.why ? "; affected by losses of the input" : "affected by losses of the input");
    tm_mdw_raw(&m->w, " |\n");
}

static void put_kpis(struct markdown *m)
{
    const size_t mark = m->w.used, count = tm_kpi_count(m->summary);

    if (count == 0)
        return;
    tm_mdw_raw(&m->w, "## Key figures\n\n| Figure | Value | Band | Good | Remark |\n"
                      "| --- | ---: | --- | --- | --- |\n");
    for (size_t i = 0; i < count; i++)
        put_kpi(m, i);
    tm_mdw_raw(&m->w, "\n");
    (void)fits(m, mark);
}

/* --- the file --- */

static void put_tail(struct markdown *m)
{
    m->w.bytes = sizeof(m->room);
    if (*m->left_out) {
        tm_mdw_raw(&m->w, "Omitted here, but in the other files of the report: ");
        put_paragraph(m, TM_TONE_PLAIN, m->left_out);
    }
    tm_mdw_raw(&m->w, "Written by tracemill ");
    put_paragraph(m, TM_TONE_PLAIN, tm_text(tm_path(m->summary, "tool.version")));
    m->w.used -= m->w.used > 0; /* of the two line ends */
}

static void put_report(struct markdown *m)
{
    tm_mdw_init(&m->w, m->room, sizeof(m->room) - CUT_TAIL_BYTES);
    tm_front_make(&m->front, m->summary);
    put_titles(m);
    put_verdict(m);
    put_front_facts(m);
    put_kpis(m);
    tm_content_say(&(struct tm_content){ .summary = m->summary, .medium = &markdown_medium, .to = m, .run = m->run });
    put_tail(m);
}

tm_status tm_markdown_write(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    struct markdown *m = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*m), &run->error);

    if (!m)
        return TM_ERR_LIMIT;
    m->run = run;
    m->summary = tm_doc_root(doc);
    put_report(m);
    if (fwrite(m->room, 1, m->w.used, to) != m->w.used || fflush(to) != 0)
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the Markdown report");
    tm_give(&run->budget, TM_ACCOUNT_MODEL, m, sizeof(*m));
    return run->error.status;
}
