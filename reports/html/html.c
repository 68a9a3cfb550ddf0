/* SPDX-License-Identifier: Apache-2.0 */
/* report.html: the frame of the page and the walk over the sections.  The page carries everything it needs. */
#include "reports/html/html.h"

#include <errno.h>
#include <string.h>

#include "reports/html/assets.h"
#include "reports/html/html_head.h"
#include "reports/html/html_page.h"
#include "reports/html/html_words.h"

enum { CHART_WIDTH = 760, FULL_NAMES_BYTES = 320 << 10 };

/* --- what the sections say --- */

static void open_section(void *to, const struct tm_section *section)
{
    struct tm_page *page = to;

    page->section = section;
    tm_htmlw_open(&page->w, "section");
    tm_htmlw_attr(&page->w, "id", section->id);
    tm_htmlw_open(&page->w, "h2");
    tm_htmlw_text(&page->w, section->title);
    tm_page_section_marks(page, section->key);
    tm_htmlw_close_line(&page->w);
}

static void end_section(void *to, const struct tm_section *section)
{
    struct tm_page *page = to;

    if (strcmp(section->id, "findings") == 0)
        tm_page_end_findings(page);
    page->section = NULL;
    tm_htmlw_close_line(&page->w);
}

static void put_subheading(void *to, const char *text)
{
    struct tm_page *page = to;

    tm_htmlw_open(&page->w, "h3");
    tm_page_text(page, text);
    tm_htmlw_close_line(&page->w);
}

static void put_paragraph(void *to, enum tm_tone tone, const char *text)
{
    struct tm_page *page = to;

    tm_htmlw_open(&page->w, "p");
    if (tone == TM_TONE_QUIET)
        tm_htmlw_attr(&page->w, "class", "note");
    else if (tone != TM_TONE_PLAIN) {
        tm_page_band(page, tone);
        tm_htmlw_text(&page->w, " ");
    }
    tm_page_text(page, text);
    tm_htmlw_close_line(&page->w);
}

static const struct tm_medium page_medium = {
    .room = { .rows = TM_HTML_ROWS_MOST },
    .has_charts = true,
    .section = open_section,
    .end_section = end_section,
    .subheading = put_subheading,
    .paragraph = put_paragraph,
    .facts = tm_page_facts,
    .table = tm_page_table,
    .charts = tm_page_charts,
    .finding = tm_page_finding,
};

/* --- the frame --- */

static void put_link(struct tm_page *page, const char *id, const char *title)
{
    tm_htmlw_open(&page->w, "li");
    tm_page_open_link(page, id, -1);
    tm_htmlw_text(&page->w, title);
    tm_htmlw_close(&page->w);
    tm_htmlw_close(&page->w);
}

static void put_links(struct tm_page *page)
{
    tm_htmlw_class(&page->w, "nav", "sections");
    tm_htmlw_attr(&page->w, "aria-label", "Sections");
    tm_htmlw_open(&page->w, "ul");
    put_link(page, "top", "Overview");
    for (size_t i = 0; i < page->document->section_count; i++)
        if (tm_section_is_due(page->document->sections[i], page->summary))
            put_link(page, page->document->sections[i]->id, page->document->sections[i]->title);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_footer(struct tm_page *page)
{
    const struct tm_value *tool = tm_get(page->summary, "tool");

    tm_htmlw_class(&page->w, "footer", "page");
    tm_htmlw_open(&page->w, "p");
    tm_htmlw_printf(&page->w, "Made by %s %s. Every figure is in %s, in exact units.",
                    tm_text(tm_get(tool, "name")), tm_text(tm_get(tool, "version")),
                    page->document->data);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_skip(struct tm_page *page)
{
    tm_htmlw_class(&page->w, "a", "skip");
    tm_htmlw_attr(&page->w, "href", "#top");
    tm_htmlw_printf(&page->w, "Skip to the %s", page->document->what);
    tm_htmlw_close_line(&page->w);
}

static void put_page(struct tm_page *page)
{
    struct tm_front_page front;
    const struct tm_content content = { .summary = page->summary, .medium = &page_medium, .to = page };

    tm_front_make(&front, page->summary);
    tm_html_head(&page->w, front.title, page->document->made_by, true);
    tm_htmlw_open(&page->w, "body");
    put_skip(page);
    put_links(page);
    tm_htmlw_class(&page->w, "div", "frame");
    tm_page_front(page, &front);
    tm_htmlw_class(&page->w, "main", "page");
    tm_htmlw_attr(&page->w, "id", "main");
    tm_content_say(&content);
    tm_htmlw_close_line(&page->w);
    put_footer(page);
    tm_htmlw_close_line(&page->w); /* frame */
    tm_htmlw_open(&page->w, "script");
    tm_htmlw_verbatim(&page->w, tm_asset_script.bytes, tm_asset_script.length);
    tm_htmlw_close_line(&page->w);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

tm_status tm_html_write(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    struct tm_page page = { .w.to = to,
                            .summary = tm_doc_root(doc),
                            .full_bytes_left = FULL_NAMES_BYTES,
                            .document = tm_document_of(tm_doc_root(doc)) };
    tm_status status;

    tm_chart_init(&page.chart, run, CHART_WIDTH);
    put_page(&page);
    status = tm_chart_status(&page.chart);
    tm_chart_free(&page.chart);
    if (status == TM_OK && (fflush(to) != 0 || ferror(to)))
        status = tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the HTML report");
    return status;
}
