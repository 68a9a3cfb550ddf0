/* SPDX-License-Identifier: Apache-2.0 */
/* Facts: titles and values as a grid; what has no value is told below, once for each reason. */
#include "reports/html/html_page.h"
#include "reports/html/html_words.h"

void tm_page_fact(struct tm_page *page, const char *title, const char *text)
{
    tm_htmlw_open(&page->w, "div");
    tm_htmlw_open(&page->w, "dt");
    tm_page_label(page, title);
    tm_htmlw_close(&page->w);
    tm_htmlw_open(&page->w, "dd");
    tm_page_name(page, text, TM_NAME_FACT);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

void tm_page_facts(void *to, const struct tm_table *facts)
{
    struct tm_page *page = to;
    struct tm_missing missing = { .count = 0 };
    bool is_open = false;

    for (size_t c = 0; c < facts->columns; c++) {
        const struct tm_cell cell = tm_table_cell(facts, 0, c);
        const char *title = facts->column[c].title;
        char text[TM_FORMAT_BYTES];

        if (tm_cell_is_empty(&cell)) {
            tm_missing_add(&missing, title, cell.from == TM_FROM_VALUE ? tm_why(cell.value) : "");
            continue;
        }
        if (!is_open) {
            tm_htmlw_class(&page->w, "dl", "facts");
            is_open = true;
        }
        tm_page_fact(page, title, tm_cell_shown(&cell, page->summary, text));
    }
    if (is_open)
        tm_htmlw_close_line(&page->w);
    tm_page_missing(page, "Not recorded", &missing);
}
