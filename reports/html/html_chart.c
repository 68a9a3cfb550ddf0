/* SPDX-License-Identifier: Apache-2.0 */
/* Charts of the page: the drawing, its caption, and its figures as a table that opens. */
#include <stdio.h>

#include "reports/html/svg.h"
#include "reports/html/html_page.h"
#include "reports/html/html_words.h"

enum { ID_BYTES = 48 };

static void put_twin_head(struct tm_page *page, const struct tm_chart_table *table)
{
    tm_htmlw_open(&page->w, "thead");
    tm_htmlw_open(&page->w, "tr");
    for (int c = 0; c < table->columns; c++) {
        tm_htmlw_open(&page->w, "th");
        tm_htmlw_attr(&page->w, "scope", "col");
        if (table->is_number[c])
            tm_htmlw_attr(&page->w, "class", "n");
        tm_htmlw_text(&page->w, table->title[c]);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_twin_row(struct tm_page *page, const struct tm_chart *chart, size_t row)
{
    const struct tm_chart_table *table = &chart->table;

    tm_htmlw_open(&page->w, "tr");
    for (int c = 0; c < table->columns; c++) {
        tm_htmlw_open(&page->w, c == 0 ? "th" : "td");
        if (c == 0)
            tm_htmlw_attr(&page->w, "scope", "row");
        if (table->is_number[c])
            tm_htmlw_attr(&page->w, "class", "n");
        tm_page_name(page, tm_chart_text(chart, table->cell[row * (size_t)table->columns + (size_t)c]), TM_NAME_CHARS);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

static void put_twin(struct tm_page *page, const char *title_id)
{
    const struct tm_chart *chart = &page->chart;

    tm_htmlw_class(&page->w, "details", "twin");
    tm_htmlw_element(&page->w, "summary", NULL, "The figures of this chart");
    tm_page_open_scroll(page, "scroll", title_id);
    tm_htmlw_open(&page->w, "table");
    tm_htmlw_attr(&page->w, "aria-labelledby", title_id);
    put_twin_head(page, &chart->table);
    tm_htmlw_open(&page->w, "tbody");
    for (size_t r = 0; r < tm_chart_rows(chart); r++)
        put_twin_row(page, chart, r);
    for (int i = 0; i < 3; i++) /* tbody, table, region */
        tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_chart(struct tm_page *page, enum tm_chart_kind kind, size_t index)
{
    char id[ID_BYTES], title_id[ID_BYTES];

    (void)snprintf(id, sizeof(id), "chart-%d-%zu", (int)kind, index);
    (void)snprintf(title_id, sizeof(title_id), "chart-%d-%zu-title", (int)kind, index);
    tm_charts_draw(&page->chart, kind, index, page->summary);
    tm_htmlw_class(&page->w, "figure", "drawing");
    tm_htmlw_attr(&page->w, "id", id);
    tm_htmlw_open(&page->w, "h3");
    tm_htmlw_attr(&page->w, "id", title_id);
    tm_htmlw_text(&page->w, page->chart.title);
    tm_htmlw_close_line(&page->w);
    tm_page_open_scroll(page, "chart", title_id);
    if (page->chart.is_end_first)
        tm_htmlw_attr(&page->w, "dir", "rtl"); /* scrolled to its right end at first */
    tm_svg_write(&page->w, &page->chart);
    tm_htmlw_close_line(&page->w);
    tm_htmlw_open(&page->w, "figcaption");
    tm_page_text(page, page->chart.caption);
    tm_htmlw_close_line(&page->w);
    put_twin(page, title_id);
    tm_htmlw_close_line(&page->w);
}

static void put_reference(struct tm_page *page, enum tm_chart_kind kind)
{
    char word[ID_BYTES];

    (void)snprintf(word, sizeof(word), "chart-%d", (int)kind);
    tm_htmlw_class(&page->w, "p", "note");
    tm_htmlw_text(&page->w, "See also ");
    tm_page_open_link(page, word, 0);
    tm_htmlw_text(&page->w, "the chart at the top of the page");
    tm_htmlw_close(&page->w);
    tm_htmlw_text(&page->w, ".");
    tm_htmlw_close_line(&page->w);
}

void tm_page_charts(void *to, enum tm_chart_kind kind)
{
    struct tm_page *page = to;
    const size_t count = tm_charts_count(kind, page->summary);

    if (page->is_drawn[kind]) {
        put_reference(page, kind);
        return;
    }
    for (size_t i = 0; i < count; i++)
        put_chart(page, kind, i);
    page->is_drawn[kind] = count > 0;
}
