/* SPDX-License-Identifier: Apache-2.0 */
/* The first screen: what was measured, what is wrong, what to do first, the key figures, the steps. */
#include <stdio.h>
#include <string.h>

#include "reports/content/front.h"
#include "reports/content/kpi.h"
#include "reports/format/format.h"
#include "reports/html/html_page.h"
#include "reports/html/html_words.h"

enum { TITLE_CHARS = 96, PIECE_BYTES = 2000 };

static void put_partial(struct tm_page *page, const struct tm_front_page *front)
{
    if (!front->is_partial)
        return;
    tm_htmlw_class(&page->w, "p", "banner");
    tm_htmlw_attr(&page->w, "role", "note");
    tm_htmlw_element(&page->w, "strong", NULL, "▲ ");
    tm_page_text(page, front->partial);
    tm_htmlw_text(&page->w, " ");
    if (tm_has(tm_get(page->summary, "coverage"))) {
        tm_page_open_link(page, "coverage", -1);
        tm_htmlw_text(&page->w, "What is missing");
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

static void put_title(struct tm_page *page, const struct tm_front_page *front)
{
    char shown[TM_FRONT_BYTES], cut[4 * TITLE_CHARS + 1];

    (void)tm_format_visible(shown, sizeof(shown), front->title, strlen(front->title));
    (void)tm_format_middle(cut, sizeof(cut), shown, TITLE_CHARS);
    tm_htmlw_element(&page->w, "h1", NULL, cut);
    tm_htmlw_class(&page->w, "p", "subtitle");
    tm_page_text(page, front->subtitle);
    tm_htmlw_close_line(&page->w);
}

static void put_facts(struct tm_page *page, const struct tm_front_page *front)
{
    tm_htmlw_class(&page->w, "dl", "facts");
    for (size_t i = 0; i < front->facts; i++)
        tm_page_fact(page, front->fact[i].title, front->fact[i].text);
    tm_htmlw_close_line(&page->w);
}

/* A line of any length, in pieces that end between two characters. */
static void put_line(struct tm_page *page, const char *line, size_t length)
{
    while (length > 0) {
        size_t n = length < PIECE_BYTES ? length : PIECE_BYTES;

        while (n > 1 && n < length && ((unsigned char)line[n] & 0xc0) == 0x80)
            n--;
        tm_htmlw_printf(&page->w, "%.*s", (int)n, line);
        line += n;
        length -= n;
    }
}

/* Line by line, as it was given. */
static void put_note(struct tm_page *page, const struct tm_front_page *front)
{
    const char *line = front->note;

    if (!*line)
        return;
    tm_htmlw_class(&page->w, "p", "author");
    while (*line) {
        const size_t length = strcspn(line, "\n");

        put_line(page, line, length);
        line += length + (line[length] == '\n');
        if (*line) {
            tm_htmlw_open(&page->w, "br");
            tm_htmlw_leaf(&page->w);
        }
    }
    tm_htmlw_close_line(&page->w);
}

static void put_verdict(struct tm_page *page, const struct tm_front_page *front)
{
    char class_name[32];

    if (!*front->verdict)
        return;
    (void)snprintf(class_name, sizeof(class_name), "verdict %s", tm_tone_class(front->tone));
    tm_htmlw_class(&page->w, "section", class_name);
    tm_htmlw_attr(&page->w, "aria-label", "Verdict");
    tm_htmlw_open(&page->w, "p");
    if (front->tone != TM_TONE_UNKNOWN) {
        tm_page_band(page, front->tone);
        tm_htmlw_text(&page->w, " ");
    }
    tm_page_text(page, front->verdict);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

/* Its heading is one of the third level: where no finding and no key figure stands before it there is one of the second. */
static void put_first_chart(struct tm_page *page, enum tm_chart_kind kind)
{
    if (tm_length(tm_get(page->summary, "findings")) == 0 && tm_kpi_count(page->summary) == 0)
        tm_htmlw_element(&page->w, "h2", NULL, "At a glance");
    tm_page_charts(page, kind);
}

void tm_page_front(struct tm_page *page, const struct tm_front_page *front)
{
    const size_t n = page->document->first_charts;

    tm_htmlw_class(&page->w, "header", "page top");
    tm_htmlw_attr(&page->w, "id", "top");
    put_partial(page, front);
    put_title(page, front);
    put_facts(page, front);
    put_note(page, front);
    put_verdict(page, front);
    tm_page_first_findings(page);
    tm_page_kpis(page);
    if (n > 0 && tm_charts_count(page->document->first_chart[n - 1], page->summary) > 0)
        put_first_chart(page, page->document->first_chart[n - 1]);
    tm_htmlw_close_line(&page->w);
}
