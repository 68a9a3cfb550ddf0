/* SPDX-License-Identifier: Apache-2.0 */
/* The section of the page on data quality: what was read, what is in no figure, and which figures that touches. */
#include "reports/html/html_page.h"

static void write_tallies(struct tm_page *page, const struct tm_value *tallies)
{
    static const char *const titles[] = { "Tally", "Level", "Count", "Meaning" };
    static const enum tm_cell cells[] = { TM_CELL_WORD, TM_CELL_WORD, TM_CELL_COUNT,
                                          TM_CELL_PROSE };
    static const char *const keys[] = { NULL, "level", "count", "help" };

    tm_htmlw_class(&page->w, "div", "scroll");
    tm_htmlw_open(&page->w, "table");
    tm_htmlw_element(
        &page->w, "caption", NULL,
        "What was read but is in no figure, or was repaired; a loss may make figures smaller");
    tm_htmlw_open(&page->w, "thead");
    tm_htmlw_open(&page->w, "tr");
    for (int c = 0; c < 4; c++) {
        tm_htmlw_open(&page->w, "th");
        tm_htmlw_attr(&page->w, "scope", "col");
        tm_htmlw_attr(&page->w, "class", cells[c] == TM_CELL_COUNT ? "n" : "word");
        tm_htmlw_text(&page->w, titles[c]);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
    tm_htmlw_open(&page->w, "tbody");
    for (size_t i = 0; i < tm_length(tallies); i++) {
        tm_htmlw_open(&page->w, "tr");
        tm_htmlw_open(&page->w, "th");
        tm_htmlw_attr(&page->w, "scope", "row");
        tm_htmlw_text(&page->w, tm_key_at(tallies, i));
        tm_htmlw_close(&page->w);
        for (int c = 1; c < 4; c++)
            tm_page_cell(page, cells[c], tm_get(tm_value_at(tallies, i), keys[c]), false);
        tm_htmlw_close_line(&page->w);
    }
    for (int i = 0; i < 3; i++) /* tbody, table, region */
        tm_htmlw_close(&page->w);
}

static void write_texts(struct tm_page *page, const char *title, const struct tm_value *texts,
                        size_t most)
{
    if (tm_length(texts) == 0)
        return;
    tm_page_subheading(page, title);
    tm_htmlw_open(&page->w, "ul");
    for (size_t i = 0; i < tm_length(texts) && i < most; i++) {
        tm_htmlw_open(&page->w, "li");
        tm_page_name(page, tm_text(tm_at(texts, i)));
        tm_htmlw_close_line(&page->w);
    }
    tm_htmlw_close_line(&page->w);
    if (tm_length(texts) > most)
        tm_page_note(page, "%zu more in summary.json.", tm_length(texts) - most);
}

/* The texts that files have under a key. */
static void write_of_files(struct tm_page *page, const struct tm_value *files, const char *key, const char *heading)
{
    enum { TEXTS_MOST = 50 };
    size_t n = 0;

    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *texts = tm_get(tm_at(files, i), key);

        for (size_t j = 0; j < tm_length(texts); j++, n++) {
            if (n == 0) {
                tm_page_subheading(page, heading);
                tm_htmlw_open(&page->w, "ul");
            }
            if (n >= TEXTS_MOST)
                continue;
            tm_htmlw_open(&page->w, "li");
            tm_page_name(page, tm_text(tm_get(tm_at(files, i), "path")));
            tm_htmlw_text(&page->w, ": ");
            tm_page_text(page, tm_text(tm_at(texts, j)));
            tm_htmlw_close_line(&page->w);
        }
    }
    if (n > 0)
        tm_htmlw_close_line(&page->w);
    if (n > TEXTS_MOST)
        tm_page_note(page, "%zu more in summary.json.", n - TEXTS_MOST);
}

static void write_files(struct tm_page *page)
{
    static const struct tm_html_column columns[] = {
        { "File", "path", TM_CELL_NAME },      { "Kind", "kind", TM_CELL_WORD },
        { "Host", "host", TM_CELL_HOST },      { "Size", "bytes", TM_CELL_BYTES },
        { "Events", "events", TM_CELL_COUNT }, { "Partial", "partial", TM_CELL_WORD },
        { "XXH3", "xxh3", TM_CELL_WORD },
    };
    enum { FILES_MOST = 100 };
    const struct tm_value *files = tm_get(tm_get(page->summary, "input"), "files");

    tm_page_table(page,
                  &(struct tm_html_table){
                      .caption = "Input", TM_TABLE_COLUMNS(columns), .rows = files, .most = FILES_MOST });
    if (tm_length(files) > FILES_MOST)
        tm_page_note(page, "%zu more files in summary.json.", tm_length(files) - FILES_MOST);
    write_of_files(page, files, "problems", "Problems of the input");
    write_of_files(page, files, "notes", "What the input lacks");
}

/* What the letters beside figures and headings mean; the letters link here. */
static void write_marks(struct tm_page *page, const struct tm_value *marks)
{
    if (tm_length(marks) == 0)
        return;
    tm_page_subheading(page, "What the losses of the input touch");
    tm_htmlw_open(&page->w, "ul");
    for (size_t i = 0; i < tm_length(marks) && i < TM_MARKS_SHOWN; i++) {
        char id[TM_MARK_ID_BYTES];

        tm_htmlw_open(&page->w, "li");
        tm_htmlw_attr(&page->w, "id", tm_page_mark_id(id, i));
        tm_htmlw_printf(&page->w, "[%c] ", tm_mark_letter(i));
        tm_page_text(page, tm_text(tm_get(tm_at(marks, i), "text")));
        tm_htmlw_close_line(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

void tm_html_coverage(struct tm_page *page)
{
    const struct tm_value *coverage = tm_get(page->summary, "coverage");

    tm_page_facts(page);
    tm_page_fact_value(page, "Events read", TM_CELL_COUNT, tm_get(coverage, "events_read"));
    tm_page_fact_value(page, "Events in figures", TM_CELL_COUNT, tm_get(coverage, "events_used"));
    tm_page_end_facts(page);
    write_marks(page, tm_get(coverage, "marks"));
    write_files(page);
    if (tm_length(tm_get(coverage, "tallies")) > 0)
        write_tallies(page, tm_get(coverage, "tallies"));
    else
        tm_page_note(page, "Nothing was left out and nothing was repaired.");
    write_texts(page, "Warnings", tm_get(coverage, "warnings"), 50);
}
