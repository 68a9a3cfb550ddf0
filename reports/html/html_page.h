/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HTML_PAGE_H
#define TM_HTML_PAGE_H

#include "pipeline/doc.h"
#include "reports/chart/charts.h"
#include "reports/chart/svg.h"
#include "reports/format/mark_signs.h"
#include "reports/html/htmlw.h"

/* What the sections of the page share: the writer, tables made of rows of the summary, charts,
 * names. */
struct tm_page {
    struct tm_htmlw w;
    struct tm_run *run;
    const struct tm_value *summary;
    struct tm_chart chart;
    const char *section; /* id of the section that is being written: its terms are linked */
    size_t full_bytes_left; /* of names shown in full beside their cut form: hostile names must not
                               fill the page */
};

/* What a column holds, and so how it looks. */
enum tm_cell {
    TM_CELL_WORD,   /* a short text of the program */
    TM_CELL_NAME,   /* a name of the trace: cut in the middle, opens to the whole */
    TM_CELL_DEVICE, /* the id of a device, shown as reports/format/shown_names.h has it */
    TM_CELL_HOST,   /* likewise; a column of them is left out where the run has one host */
    TM_CELL_CAUSE,  /* of idle time, in words */
    TM_CELL_PROSE,  /* sentences */
    TM_CELL_TIME,   /* picoseconds */
    TM_CELL_MOMENT, /* a point in time, picoseconds */
    TM_CELL_COUNT,
    TM_CELL_BYTES,
    TM_CELL_RATE, /* bytes per second */
    TM_CELL_FLOP_RATE,
    TM_CELL_PCT,
    TM_CELL_NUMBER,
};

struct tm_html_column {
    const char *title;
    const char *key; /* path inside a row */
    enum tm_cell cell;
};

enum { TM_HTML_COLUMNS = 24, TM_HTML_ROWS_MOST = 500 };

/* A table of rows of the summary.  Columns that no row has a value for are left out and named
 * below, with the reason that the summary gives. */
struct tm_html_table {
    const char *caption;
    const struct tm_html_column *column;
    int columns;
    const struct tm_value *rows;
    size_t most; /* rows shown; 0 = TM_HTML_ROWS_MOST */
    const struct tm_value
        *rest; /* {"rows", "count", "total_ps"} of rows that the summary does not list, or NULL */
    bool sortable, filterable;
};
#define TM_TABLE_COLUMNS(list) .column = (list), .columns = (int)(sizeof(list) / sizeof((list)[0]))

/* A table of rows that the section writes itself: around its <table>; many rows are folded to as many as a page takes.
 * in:     rows  of its body */
void tm_page_open_table(struct tm_page *page, const char *caption, size_t rows);
void tm_page_close_table(struct tm_page *page, size_t rows);

/* The name of a figure or a column, linked to its definition where it has one (html_terms.h). */
void tm_page_label(struct tm_page *page, const char *label);

/* Nothing is written for a table without rows. */
void tm_page_table(struct tm_page *page, const struct tm_html_table *table);

/* One cell, <td> or the <th> of its row.  in: v  may be null; why: then shown where the summary
 * gives it */
void tm_page_cell(struct tm_page *page, enum tm_cell cell, const struct tm_value *v,
                  bool is_header);

/* A value as a text of its kind.  out: out has TM_FORMAT_BYTES; "" where there is none */
const char *tm_page_value(enum tm_cell cell, const struct tm_value *v, char *out);

/* A name of the trace, cut in the middle; longer ones open to the full text, as long as the page
 * has room. */
void tm_page_name(struct tm_page *page, const char *name);

/* A sentence that may hold names of the trace, cut after 2 KiB. */
void tm_page_text(struct tm_page *page, const char *text);

/* All charts of a kind, each with its caption and its table.  out: how many there were */
size_t tm_page_charts(struct tm_page *page, enum tm_chart_kind kind);

/* Letters of the marks of a section, or of a key figure: each a link to its text, which also is its title.  Nothing
 * where there are none. */
void tm_page_section_marks(struct tm_page *page, const char *section);
void tm_page_kpi_marks(struct tm_page *page, const struct tm_value *kpi);
/* The id of the place that tells what a letter means.  out: returned; TM_MARK_ID_BYTES */
enum { TM_MARK_ID_BYTES = 32 };
char *tm_page_mark_id(char *out, size_t at);

/* Kernels, or where there are none operations, by the sort of their work. */
void tm_page_categories(struct tm_page *page);

/* "not recorded: why". */
void tm_page_not_recorded(struct tm_page *page, const char *why);

/* A list of facts, "label: value". */
void tm_page_facts(struct tm_page *page);
void tm_page_fact(struct tm_page *page, const char *label, const char *text);
void tm_page_fact_value(struct tm_page *page, const char *label, enum tm_cell cell,
                        const struct tm_value *v);
void tm_page_end_facts(struct tm_page *page);

void tm_page_subheading(struct tm_page *page, const char *title);
void tm_page_note(struct tm_page *page, const char *format, ...) TM_PRINTF(2, 3);

/* A judgement: the word in its colour, with a sign of its own shape. */
void tm_page_band(struct tm_page *page, const char *band);

/* The sections of the page in their order; each writes what lies inside its <section>. */
struct tm_html_section {
    const char *id, *title;
    const char
        *key; /* of the summary: without a value the section is only named, under "Not recorded" */
    void (*write)(struct tm_page *page);
};
extern const struct tm_html_section tm_html_sections[];
extern const size_t tm_html_section_count;
bool tm_html_is_written(const struct tm_page *page, const struct tm_html_section *section);

/* Sections of html_ops.c. */
void tm_html_ops(struct tm_page *page);
void tm_html_roofline(struct tm_page *page);
/* Section of html_scopes.c. */
void tm_html_scopes(struct tm_page *page);

/* Sections of html_host.c. */
void tm_html_host(struct tm_page *page);
void tm_html_fallback(struct tm_page *page);

/* Section of html_coverage.c. */
void tm_html_coverage(struct tm_page *page);

/* Sections of html_findings.c. */
void tm_html_figures(struct tm_page *page);
void tm_html_findings(struct tm_page *page);
void tm_html_missing(struct tm_page *page);
void tm_html_definitions(struct tm_page *page);

/* Sections of html_fusion.c. */
void tm_html_fusion(struct tm_page *page);
void tm_html_occupancy(struct tm_page *page);
void tm_html_programs(struct tm_page *page);

#endif
