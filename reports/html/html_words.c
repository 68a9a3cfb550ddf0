/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/html/html_page.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/doc/doc.h"
#include "pipeline/error.h"
#include "pipeline/numbers.h"
#include "pipeline/strings.h"
#include "reports/content/content.h"
#include "reports/format/format.h"

/* The HTML writer: a stack of open elements and one escaping function.  It allocates nothing; texts
 * of any length pass through a small window.  Escapes: HTML Living Standard, 13.1.2.3 (attribute
 * values) and 13.3. */

static void put(struct tm_htmlw *w, const char *text)
{
    (void)fputs(text, w->to);
}

static void end_tag(struct tm_htmlw *w)
{
    if (w->in_tag)
        (void)fputc('>', w->to);
    w->in_tag = false;
}

/* The one place where a text enters the page.  The same escapes serve text and quoted attribute
 * values. */
static void put_escaped(struct tm_htmlw *w, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char *const entity = text[i] == '\'' ? "&#39;" : tm_format_entity((unsigned char)text[i]);

        if (entity)
            put(w, entity);
        else
            (void)fputc(text[i], w->to);
    }
}

/* Bytes of a text that need no escape, neither in HTML nor to be visible. */
static size_t plain_bytes(const char *text)
{
    size_t n = 0;

    while (text[n] >= ' ' && text[n] <= '~' && text[n] != '&' && text[n] != '<' && text[n] != '>' && text[n] != '"' &&
           text[n] != '\'')
        n++;
    return n;
}

/* Bytes that need no escape.  in: whole  the text that they are of */
static void put_plain(struct tm_htmlw *w, const char *whole, size_t from, size_t bytes, bool keeps_units)
{
    size_t done = from;

    for (size_t i = from; keeps_units && i < from + bytes; i++) {
        if (!tm_format_is_unit_blank(whole, i))
            continue;
        (void)fwrite(whole + done, 1, i - done, w->to);
        put(w, "\xc2\xa0");
        done = i + 1;
    }
    (void)fwrite(whole + done, 1, from + bytes - done, w->to);
}

/* in: keeps_units  no line ends between a number and its unit */
static void put_text(struct tm_htmlw *w, const char *text, bool keeps_units)
{
    const char *const whole = text;
    size_t left = strlen(text);
    char seen[64];

    /* Otherwise character by character, so that the window never splits one. */
    while (left > 0) {
        size_t n = plain_bytes(text);
        uint32_t code;

        if (n > 0) {
            put_plain(w, whole, (size_t)(text - whole), n, keeps_units);
        } else {
            n = tm_utf8_next(text, left, &code);
            n += n == 0;
            put_escaped(w, seen, tm_format_visible(seen, sizeof(seen), text, n));
        }
        text += n;
        left -= n;
    }
}

void tm_htmlw_open(struct tm_htmlw *w, const char *name)
{
    assert(w->depth < TM_HTMLW_DEPTH);
    end_tag(w);
    (void)fputc('<', w->to);
    put(w, name);
    w->in_tag = true;
    w->open[w->depth++] = name;
}

void tm_htmlw_class(struct tm_htmlw *w, const char *name, const char *class_name)
{
    tm_htmlw_open_with(w, name, "class", class_name, NULL);
}

static bool is_cell(const char *name)
{
    return strcmp(name, "td") == 0 || strcmp(name, "th") == 0;
}

/* A row and its cells end where the next one, or the part of the table around them, says so: their end tags may be left
 * out, and a page has thousands of them.  Source: HTML Living Standard, 13.1.2.4. */
static bool ends_by_itself(const char *name)
{
    return is_cell(name) || strcmp(name, "tr") == 0;
}

void tm_htmlw_close(struct tm_htmlw *w)
{
    const char *name;

    assert(w->depth > 0);
    end_tag(w);
    name = w->open[--w->depth];
    if (ends_by_itself(name))
        return;
    put(w, "</");
    put(w, name);
    (void)fputc('>', w->to);
}

void tm_htmlw_close_line(struct tm_htmlw *w)
{
    tm_htmlw_close(w);
    (void)fputc('\n', w->to);
}

void tm_htmlw_leaf(struct tm_htmlw *w)
{
    assert(w->depth > 0 && w->in_tag);
    put(w, "/>");
    w->in_tag = false;
    w->depth--;
}

static void begin_attr(struct tm_htmlw *w, const char *name)
{
    assert(w->in_tag);
    (void)fputc(' ', w->to);
    put(w, name);
    put(w, "=\"");
}

/* Numbers and plain words, which need no quotes.  Source: HTML Living Standard, 13.1.2.3. */
static bool is_bare(const char *value)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-._";

    return *value && !value[strspn(value, plain)];
}

void tm_htmlw_attr(struct tm_htmlw *w, const char *name, const char *value)
{
    if (is_cell(w->open[w->depth - 1]) && is_bare(value)) {
        assert(w->in_tag);
        (void)fputc(' ', w->to);
        (void)fputs(name, w->to);
        (void)fputc('=', w->to);
        (void)fputs(value, w->to);
        return;
    }
    begin_attr(w, name);
    put_text(w, value, false);
    (void)fputc('"', w->to);
}

void tm_htmlw_open_with(struct tm_htmlw *w, const char *name, ...)
{
    const char *attr;
    va_list pairs;

    tm_htmlw_open(w, name);
    va_start(pairs, name);
    while ((attr = va_arg(pairs, const char *)) != NULL)
        tm_htmlw_attr(w, attr, va_arg(pairs, const char *));
    va_end(pairs);
}

void tm_htmlw_attr_int(struct tm_htmlw *w, const char *name, int64_t value)
{
    begin_attr(w, name);
    (void)fprintf(w->to, "%" PRId64 "\"", value);
}

static void put_number(struct tm_htmlw *w, double value, int decimals)
{
    char text[TM_FIXED_TEXT];

    (void)fwrite(text, 1, tm_fixed_text(text, value, decimals), w->to);
}

void tm_htmlw_attr_number(struct tm_htmlw *w, const char *name, double value)
{
    begin_attr(w, name);
    put_number(w, value, 2);
    (void)fputc('"', w->to);
}

void tm_htmlw_text(struct tm_htmlw *w, const char *text)
{
    end_tag(w);
    put_text(w, text, false);
}

void tm_htmlw_prose(struct tm_htmlw *w, const char *text)
{
    end_tag(w);
    put_text(w, text, true);
}

void tm_htmlw_printf(struct tm_htmlw *w, const char *format, ...)
{
    char text[4096];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    tm_htmlw_text(w, text);
}

void tm_htmlw_element(struct tm_htmlw *w, const char *name, const char *class_name, const char *text)
{
    tm_htmlw_open(w, name);
    if (class_name)
        tm_htmlw_attr(w, "class", class_name);
    tm_htmlw_text(w, text);
    tm_htmlw_close(w);
}

void tm_htmlw_verbatim(struct tm_htmlw *w, const char *bytes, size_t length)
{
    end_tag(w);
    (void)fwrite(bytes, 1, length, w->to);
}

void tm_htmlw_begin_points(struct tm_htmlw *w, const char *name)
{
    begin_attr(w, name);
}

void tm_htmlw_point(struct tm_htmlw *w, double x, double y)
{
    put_number(w, x, 1);
    (void)fputc(',', w->to);
    put_number(w, y, 1);
    (void)fputc(' ', w->to);
}

void tm_htmlw_end_points(struct tm_htmlw *w)
{
    (void)fputc('"', w->to);
}

enum { FULL_BYTES = 2048, ID_BYTES = 8 + TM_TERM_ID_BYTES };

/* --- names --- */

/* Cut a text at most `most` bytes into it, between characters.  out: true when something was left out */
static bool take_front(char *out, size_t most, const char *text)
{
    size_t n = strlen(text);
    const bool cut = n > most;

    if (cut)
        for (n = most; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
            ;
    memcpy(out, text, n);
    out[n] = 0;
    return cut;
}

/* Length of a text with its entities; the longest entity has six characters. */
static size_t written_bytes(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += strchr("&<>\"'", *text) ? 6 : 1;
    return n;
}

void tm_page_name(struct tm_page *page, const char *name, size_t chars)
{
    char full[FULL_BYTES + 1], seen[FULL_BYTES + 1], cut[TM_NAME_FACT * 4 + 1];
    const bool more = take_front(full, FULL_BYTES, name);
    size_t bytes;

    (void)tm_format_visible(seen, sizeof(seen), full, strlen(full));
    bytes = written_bytes(seen);
    if (!tm_format_middle(cut, sizeof(cut), seen, chars) || bytes > page->full_bytes_left) {
        tm_htmlw_text(&page->w, cut);
        return;
    }
    page->full_bytes_left -= bytes;
    tm_htmlw_open(&page->w, "details");
    tm_htmlw_element(&page->w, "summary", NULL, cut);
    tm_htmlw_class(&page->w, "span", "full");
    tm_htmlw_text(&page->w, seen);
    if (more)
        tm_htmlw_printf(&page->w, " … (%zu bytes in total)", strlen(name));
    tm_htmlw_close(&page->w);
    tm_htmlw_close(&page->w);
}

void tm_page_cut_name(struct tm_page *page, const char *name, size_t chars)
{
    char full[FULL_BYTES + 1], seen[FULL_BYTES + 1], cut[TM_NAME_FACT * 4 + 1];

    (void)take_front(full, FULL_BYTES, name);
    (void)tm_format_visible(seen, sizeof(seen), full, strlen(full));
    if (tm_format_middle(cut, sizeof(cut), seen, chars) && written_bytes(seen) <= page->full_bytes_left) {
        page->full_bytes_left -= written_bytes(seen);
        tm_htmlw_attr(&page->w, "title", seen);
    }
    tm_htmlw_text(&page->w, cut);
}

/* --- sentences --- */

void tm_page_text(struct tm_page *page, const char *text)
{
    char front[FULL_BYTES + 1];
    const bool more = take_front(front, FULL_BYTES, text);

    tm_htmlw_prose(&page->w, front);
    if (more)
        tm_htmlw_text(&page->w, " …");
}

/* A variable may precede a flag in the same word: F=--flag.  out: bytes before the flag */
static size_t bytes_before_flag(const char *word, size_t length)
{
    const char *const hyphens = memmem(word, length, "--", 2);

    return hyphens ? (size_t)(hyphens - word) : 0;
}

/* A flag that is wider than the page breaks before its value, and in lists, but not after its hyphens. */
static void put_flag(struct tm_page *page, const char *flag, size_t length)
{
    size_t start = 0;

    while (start < length && flag[start] == '-')
        start++;
    if (start > 0 && start < length) {
        start++;
        tm_htmlw_class(&page->w, "span", "unbroken");
        tm_htmlw_printf(&page->w, "%.*s", (int)start, flag);
        tm_htmlw_close(&page->w);
    } else {
        start = 0;
    }
    while (start < length) {
        size_t end = start;

        while (end < length && flag[end] != '=' && flag[end] != ',')
            end++;
        end += end < length;
        tm_htmlw_printf(&page->w, "%.*s", (int)(end - start), flag + start);
        if (end < length) {
            tm_htmlw_open(&page->w, "wbr");
            tm_htmlw_leaf(&page->w);
        }
        start = end;
    }
}

/* Browsers break lines at hyphens, so words with one (flags) are kept together if there is room. */
static void put_code(struct tm_page *page, const char *text, size_t length)
{
    tm_htmlw_open(&page->w, "code");
    for (size_t at = 0; at < length;) {
        size_t end = at;

        while (end < length && text[end] != ' ')
            end++;
        if (memchr(text + at, '-', end - at)) {
            const size_t flag = at + bytes_before_flag(text + at, end - at);

            tm_htmlw_printf(&page->w, "%.*s", (int)(flag - at), text + at);
            tm_htmlw_class(&page->w, "span", "flag");
            put_flag(page, text + flag, end - flag);
            tm_htmlw_close(&page->w);
        } else {
            tm_htmlw_printf(&page->w, "%.*s", (int)(end - at), text + at);
        }
        for (at = end; at < length && text[at] == ' '; at++)
            tm_htmlw_text(&page->w, " ");
    }
    tm_htmlw_close(&page->w);
}

/* Browsers also break lines after a word that is kept together: a word at the end of code includes the punctuation mark
 * that follows, because no line may start with the mark. */
static const char *put_code_and_mark(struct tm_page *page, const char *text, size_t length)
{
    const char *const last = memrchr(text, ' ', length), *const mark = text + length + 1;
    const size_t word = last ? (size_t)(last + 1 - text) : 0;
    const size_t before = word + bytes_before_flag(text + word, length - word);

    if (!*mark || !strchr(".,;:)", *mark) || !memchr(text + before, '-', length - before)) {
        put_code(page, text, length);
        return mark;
    }
    if (before > 0)
        put_code(page, text, before);
    tm_htmlw_class(&page->w, "span", "flag");
    tm_htmlw_open(&page->w, "code");
    put_flag(page, text + before, length - before);
    tm_htmlw_close(&page->w);
    tm_htmlw_printf(&page->w, "%c", *mark);
    tm_htmlw_close(&page->w);
    return mark + 1;
}

void tm_page_prose(struct tm_page *page, const char *text)
{
    for (bool code = false; *text; code = !code) {
        const size_t length = strcspn(text, "`");
        const bool closed = text[length] != 0;

        if (code && closed) {
            text = put_code_and_mark(page, text, length);
            continue;
        }
        if (length > 0 || code) {
            char piece[FULL_BYTES + 1];

            (void)snprintf(piece, sizeof(piece), "%s%.*s", code ? "`" : "", (int)length, text);
            tm_htmlw_prose(&page->w, piece);
        }
        text += length + closed;
    }
}

/* --- links --- */

void tm_page_open_link(struct tm_page *page, const char *word, int number)
{
    char href[ID_BYTES + 16];

    if (number < 0)
        (void)snprintf(href, sizeof(href), "#%s", word);
    else
        (void)snprintf(href, sizeof(href), "#%s-%d", word, number);
    tm_htmlw_open_with(&page->w, "a", "href", href, NULL);
}

void tm_page_id(struct tm_page *page, const char *word, int number)
{
    char id[ID_BYTES];

    (void)snprintf(id, sizeof(id), "%s-%d", word, number);
    tm_htmlw_attr(&page->w, "id", id);
}

void tm_page_id_of(struct tm_page *page, const char *word, const char *name)
{
    char id[ID_BYTES];

    (void)snprintf(id, sizeof(id), "%s-%s", word, name);
    tm_htmlw_attr(&page->w, "id", id);
}

void tm_page_label(struct tm_page *page, const char *label)
{
    const int term = page->section ? tm_term_find(page->section->id, label) : -1;
    char text[TM_TERM_BYTES], id[TM_TERM_ID_BYTES], link[ID_BYTES];

    if (term < 0) {
        tm_htmlw_text(&page->w, label);
        return;
    }
    (void)snprintf(link, sizeof(link), "term-%s", tm_term_id(term, id));
    tm_page_open_link(page, link, -1);
    tm_htmlw_attr(&page->w, "class", "term");
    tm_htmlw_attr(&page->w, "title", tm_term_text(term, text));
    tm_htmlw_text(&page->w, label);
    tm_htmlw_close(&page->w);
}

/* --- assessments --- */

static const struct {
    const char *class_name, *shown;
} tones[] = {
    [TM_TONE_PLAIN] = { "", "" },
    [TM_TONE_GOOD] = { "good", "● good" },
    [TM_TONE_WARNING] = { "warning", "▲ warning" },
    [TM_TONE_BAD] = { "bad", "■ critical" },
    [TM_TONE_CRITICAL] = { "critical", "■ critical" },
    [TM_TONE_INFO] = { "info", "○ info" },
    [TM_TONE_UNKNOWN] = { "unknown", "○ not assessed" },
    [TM_TONE_QUIET] = { "", "" },
};

const char *tm_tone_class(enum tm_tone tone)
{
    return tones[tone].class_name;
}

void tm_page_band(struct tm_page *page, enum tm_tone tone)
{
    char class_name[32];

    (void)snprintf(class_name, sizeof(class_name), "band %s", tones[tone].class_name);
    tm_htmlw_element(&page->w, "span", class_name, tones[tone].shown);
}

/* --- marks --- */

static void put_mark(struct tm_page *page, const struct tm_value *mark, size_t at)
{
    tm_htmlw_open(&page->w, "sup");
    tm_page_open_link(page, "mark", (int)at);
    tm_htmlw_attr(&page->w, "title", tm_text(tm_get(mark, "text")));
    tm_htmlw_printf(&page->w, "[%c]", tm_mark_letter(at));
    tm_htmlw_close(&page->w);
    tm_htmlw_close(&page->w);
}

void tm_page_section_marks(struct tm_page *page, const char *section)
{
    const struct tm_value *marks = tm_path(page->summary, "coverage.marks");

    for (size_t i = 0; section && i < tm_length(marks) && i < TM_MARKS_SHOWN; i++)
        if (tm_mark_is_of_section(tm_at(marks, i), section))
            put_mark(page, tm_at(marks, i), i);
}

void tm_page_kpi_marks(struct tm_page *page, const struct tm_value *kpi)
{
    const struct tm_value *marks = tm_path(page->summary, "coverage.marks");

    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++)
        if (tm_mark_is_of_kpi(tm_at(marks, i), kpi))
            put_mark(page, tm_at(marks, i), i);
}

/* --- figures without a value --- */

void tm_missing_add(struct tm_missing *missing, const char *title, const char *why)
{
    if (missing->count == TM_MISSING_MOST)
        return;
    missing->title[missing->count] = title;
    missing->why[missing->count++] = strcmp(why, "not recorded") == 0 ? "" : why;
}

/* The first one with a reason represents all that share it. */
static bool is_first_with_reason(const struct tm_missing *missing, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(missing->why[i], missing->why[at]) == 0)
            return false;
    return true;
}

void tm_page_missing(struct tm_page *page, const char *what, const struct tm_missing *missing)
{
    if (missing->count == 0)
        return;
    tm_htmlw_class(&page->w, "p", "note");
    tm_htmlw_printf(&page->w, "%s: ", what);
    for (size_t i = 0; i < missing->count; i++) {
        if (!is_first_with_reason(missing, i))
            continue;
        tm_htmlw_text(&page->w, i ? "; " : "");
        tm_page_label(page, missing->title[i]);
        for (size_t j = i + 1; j < missing->count; j++) {
            if (strcmp(missing->why[j], missing->why[i]) != 0)
                continue;
            tm_htmlw_text(&page->w, ", ");
            tm_page_label(page, missing->title[j]);
        }
        if (*missing->why[i])
            tm_htmlw_printf(&page->w, " (%s)", missing->why[i]);
    }
    tm_htmlw_text(&page->w, ".");
    tm_htmlw_close_line(&page->w);
}

/* The head that all pages share.  The content security policy names the style and the script by hash and allows nothing
 * else, so that even a text that slipped through the writer could neither run nor load anything. */

enum { POLICY_BYTES = 512 };

static void put_policy(struct tm_htmlw *w, const struct tm_asset *script)
{
    char policy[POLICY_BYTES];

    (void)snprintf(policy, sizeof(policy),
                   "default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'",
                   tm_asset_style.hash, script->hash);
    tm_htmlw_open_with(w, "meta", "http-equiv", "Content-Security-Policy", "content", policy, NULL);
    tm_htmlw_leaf(w);
}

static void put_meta(struct tm_htmlw *w, const char *name, const char *content)
{
    tm_htmlw_open_with(w, "meta", "name", name, "content", content, NULL);
    tm_htmlw_leaf(w);
}

void tm_html_head(struct tm_htmlw *w, const char *title, const char *page, const struct tm_asset *script)
{
    tm_htmlw_verbatim(w, "<!DOCTYPE html>\n", sizeof("<!DOCTYPE html>\n") - 1);
    tm_htmlw_open_with(w, "html", "lang", "en", NULL);
    tm_htmlw_open(w, "head");
    tm_htmlw_open_with(w, "meta", "charset", "utf-8", NULL);
    tm_htmlw_leaf(w);
    put_policy(w, script);
    put_meta(w, "viewport", "width=device-width, initial-scale=1");
    put_meta(w, "color-scheme", "light dark");
    put_meta(w, "referrer", "no-referrer");
    tm_htmlw_open(w, "title");
    tm_htmlw_printf(w, "%.200s%s%s", title, title[0] ? ": " : "", page);
    tm_htmlw_close_line(w);
    tm_htmlw_open(w, "style");
    tm_htmlw_verbatim(w, tm_asset_style.bytes, tm_asset_style.length);
    tm_htmlw_close_line(w);
    tm_htmlw_close_line(w);
}

void tm_html_script(struct tm_htmlw *w, const struct tm_asset *script)
{
    tm_htmlw_open(w, "script");
    tm_htmlw_verbatim(w, script->bytes, script->length);
    tm_htmlw_close_line(w);
}
