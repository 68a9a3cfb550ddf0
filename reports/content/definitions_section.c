/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions: the key figures with their limits, and the figures and columns that the report shows. */
#include "reports/content/document.h"
#include "reports/content/kpi.h"
#include "reports/content/say.h"
#include "reports/content/terms.h"

enum { KPIS_MOST = 64, LABEL_BYTES = 320 };

static void say_figures(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Figure", "title", TM_CELL_WORD },
        { "Good", "good", TM_CELL_WORD },
        { "Bad", "bad", TM_CELL_WORD },
        { "What it is", "definition", TM_CELL_PROSE },
    };
    enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };
    struct tm_cell cell[KPIS_MOST][COLUMNS];
    struct tm_key_figure kpi[KPIS_MOST];
    bool has_limits = false;
    size_t n = 0;

    for (; n < tm_kpi_count(content->summary) && n < KPIS_MOST; n++) {
        tm_kpi_at(&kpi[n], content->summary, n);
        has_limits |= *kpi[n].good || *kpi[n].bad;
        cell[n][0] = tm_cell_of_text(TM_CELL_WORD, kpi[n].title);
        cell[n][1] = tm_cell_of_text(TM_CELL_WORD, kpi[n].good);
        cell[n][2] = tm_cell_of_text(TM_CELL_WORD, kpi[n].bad);
        cell[n][3] = tm_cell_of_text(TM_CELL_PROSE, kpi[n].definition);
    }
    tm_say_table(content, &(struct tm_table){ .id = "definitions",
                                              .caption = "Key figures",
                                              TM_COLUMNS(columns),
                                              .cells = cell[0],
                                              .cell_rows = n,
                                              .anchor = "definition",
                                              .paper_rows = KPIS_MOST });
    if (has_limits)
        tm_say(content, TM_TONE_QUIET, "What lies between good and bad is a warning.");
}

/* --- which terms the report uses --- */

struct use {
    const struct tm_content *content;
    const char *section;
    bool is_used[TM_TERMS_MOST];
};

static void note_label(struct use *use, const char *label)
{
    const int term = tm_term_find(use->section, label);

    if (term >= 0 && term < TM_TERMS_MOST)
        use->is_used[term] = true;
}

static void note_section(void *to, const struct tm_section *section)
{
    ((struct use *)to)->section = section->id;
}

/* The columns that the medium has room for, those of which only a word is left, and rows that the program names. */
static void note_table(void *to, const struct tm_table *table)
{
    struct use *use = to;
    struct tm_layout layout;

    tm_table_lay_out(&layout, table, use->content->summary, &use->content->medium->room);
    for (size_t i = 0; i < layout.columns; i++)
        note_label(use, table->column[layout.column[i]].title);
    for (size_t i = 0; i < layout.notes; i++)
        note_label(use, layout.note[i].title);
    for (size_t r = 0; table->cells && r < layout.rows; r++)
        if (table->cells[r * table->columns].from == TM_FROM_TEXT)
            note_label(use, table->cells[r * table->columns].text);
}

static void note_facts(void *to, const struct tm_table *facts)
{
    for (size_t c = 0; c < facts->columns; c++)
        note_label(to, facts->column[c].title);
}

static void find_used(struct use *use)
{
    const struct tm_medium *medium = use->content->medium;
    const struct tm_medium noting = { .room = medium->room, .has_charts = medium->has_charts, .section = note_section,
                                      .table = note_table, .facts = note_facts };
    const struct tm_content content = { .summary = use->content->summary, .medium = &noting, .to = use };

    const struct tm_document *document = tm_document_of(content.summary);

    for (size_t i = 0; i < document->section_count; i++) {
        const struct tm_section *section = document->sections[i];

        if (!section->key || !tm_section_is_due(section, content.summary))
            continue;
        noting.section(use, section);
        section->say(&content);
    }
}

/* --- the terms --- */

/* "Self time, Their time" of "Self time|Their time". */
static char *put_labels(char *out, const char *labels)
{
    size_t at = 0;

    for (; *labels && at + 3 < LABEL_BYTES; labels++) {
        if (*labels == '|')
            out[at++] = ',';
        out[at++] = *labels == '|' ? ' ' : *labels;
    }
    out[at] = 0;
    return out;
}

/* Of the section that has the term, where it is one. */
static const char *title_of(const struct tm_content *content, const struct tm_term *term)
{
    const struct tm_document *document = tm_document_of(content->summary);
    const char *title = "";

    for (size_t i = 0; i < document->section_count; i++)
        if (tm_term_is_of(term, document->sections[i]->id))
            title = *title ? "several" : document->sections[i]->title;
    return title;
}

static void say_terms(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Section", "section", TM_CELL_WORD },
        { "Figure or column", "labels", TM_CELL_PROSE },
        { "What it is", "text", TM_CELL_PROSE },
    };
    struct use use = { .content = content, .section = "" };
    static struct tm_cell cell[TM_TERMS_MOST][3]; /* too much for a small stack, as the labels are */
    static char labels[TM_TERMS_MOST][LABEL_BYTES];
    int place[TM_TERMS_MOST];
    size_t n = 0;

    find_used(&use);
    for (size_t i = 0; i < tm_term_count && i < TM_TERMS_MOST; i++) {
        if (!use.is_used[i])
            continue;
        place[n] = (int)i;
        cell[n][0] = tm_cell_of_text(TM_CELL_WORD, title_of(content, &tm_terms[i]));
        cell[n][1] = tm_cell_of_text(TM_CELL_PROSE, put_labels(labels[n], tm_terms[i].labels));
        cell[n++][2] = tm_cell_of_text(TM_CELL_PROSE, tm_terms[i].text);
    }
    tm_say_table(content, &(struct tm_table){ .id = "terms",
                                              .caption = "Figures and columns of the sections",
                                              TM_COLUMNS(columns),
                                              .cells = cell[0],
                                              .cell_rows = n,
                                              .anchor = "term",
                                              .anchors = place,
                                              .paper_rows = TM_TERMS_MOST });
}

static void say_definitions(const struct tm_content *content)
{
    say_figures(content);
    say_terms(content);
}

const struct tm_section tm_definitions_section = { "definitions", "Definitions", NULL, say_definitions, NULL };
