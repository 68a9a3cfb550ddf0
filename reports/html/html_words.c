/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/html/html_words.h"

#include <stdio.h>
#include <string.h>

#include "reports/content/terms.h"
#include "reports/format/format.h"

enum { FULL_BYTES = 2048, ID_BYTES = 64 };

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

/* Length of a text with its entities; the longest has six characters. */
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
        tm_htmlw_printf(&page->w, " … (%zu bytes in all)", strlen(name));
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

    tm_htmlw_text(&page->w, front);
    if (more)
        tm_htmlw_text(&page->w, " …");
}

void tm_page_advice(struct tm_page *page, const char *text)
{
    for (bool code = false; *text; code = !code) {
        const size_t length = strcspn(text, "`");
        const bool closed = text[length] != 0;

        if (code && closed) {
            tm_htmlw_open(&page->w, "code");
            tm_htmlw_printf(&page->w, "%.*s", (int)length, text);
            tm_htmlw_close(&page->w);
        } else if (length > 0 || code) {
            tm_htmlw_printf(&page->w, "%s%.*s", code ? "`" : "", (int)length, text);
        }
        text += length + closed;
    }
}

/* --- links --- */

void tm_page_open_link(struct tm_page *page, const char *word, int number)
{
    char href[ID_BYTES];

    if (number < 0)
        (void)snprintf(href, sizeof(href), "#%s", word);
    else
        (void)snprintf(href, sizeof(href), "#%s-%d", word, number);
    tm_htmlw_open(&page->w, "a");
    tm_htmlw_attr(&page->w, "href", href);
}

void tm_page_id(struct tm_page *page, const char *word, int number)
{
    char id[ID_BYTES];

    (void)snprintf(id, sizeof(id), "%s-%d", word, number);
    tm_htmlw_attr(&page->w, "id", id);
}

void tm_page_label(struct tm_page *page, const char *label)
{
    const int term = page->section ? tm_term_find(page->section->id, label) : -1;

    if (term < 0) {
        tm_htmlw_text(&page->w, label);
        return;
    }
    tm_page_open_link(page, "term", term);
    tm_htmlw_attr(&page->w, "class", "term");
    tm_htmlw_attr(&page->w, "title", tm_terms[term].text);
    tm_htmlw_text(&page->w, label);
    tm_htmlw_close(&page->w);
}

/* --- judgements --- */

static const struct {
    const char *class_name, *shown;
} tones[] = {
    [TM_TONE_PLAIN] = { "", "" },
    [TM_TONE_GOOD] = { "good", "● good" },
    [TM_TONE_WARNING] = { "warning", "▲ warning" },
    [TM_TONE_BAD] = { "bad", "■ bad" },
    [TM_TONE_CRITICAL] = { "critical", "■ critical" },
    [TM_TONE_INFO] = { "info", "○ info" },
    [TM_TONE_UNKNOWN] = { "unknown", "○ not judged" },
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

/* --- what has no value --- */

void tm_missing_add(struct tm_missing *missing, const char *title, const char *why)
{
    if (missing->count == TM_MISSING_MOST)
        return;
    missing->title[missing->count] = title;
    missing->why[missing->count++] = strcmp(why, "not recorded") == 0 ? "" : why;
}

/* The first with a reason stands for all that have it. */
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
