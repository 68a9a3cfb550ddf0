/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions: the key figures with their limits, and the figures and columns of the sections. */
#include <stdio.h>
#include <string.h>

#include "reports/content/front.h"
#include "reports/content/say.h"
#include "reports/content/terms.h"

enum { KPIS_MOST = 64, TERMS_MOST = 256, LABEL_BYTES = 320 };

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
    struct tm_kpi kpi[KPIS_MOST];
    size_t n = 0;

    for (; n < tm_kpi_count(content->summary) && n < KPIS_MOST; n++) {
        tm_kpi_at(&kpi[n], content->summary, n);
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
                                              .paper_rows = KPIS_MOST });
    if (n > 0)
        tm_say(content, TM_TONE_QUIET, "What lies between good and bad is a warning.");
}

static const struct tm_section *section_of(const struct tm_term *term)
{
    for (size_t i = 0; i < tm_section_count; i++)
        if (strcmp(tm_sections[i]->id, term->section) == 0)
            return tm_sections[i];
    return NULL;
}

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

static void say_terms(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Section", "section", TM_CELL_WORD },
        { "Figure or column", "labels", TM_CELL_PROSE },
        { "What it is", "text", TM_CELL_PROSE },
    };
    struct tm_cell cell[TERMS_MOST][3];
    char labels[TERMS_MOST][LABEL_BYTES];
    size_t n = 0;

    for (size_t i = 0; i < tm_term_count && n < TERMS_MOST; i++) {
        const struct tm_section *section = section_of(&tm_terms[i]);

        if (!section || !tm_section_is_due(section, content->summary))
            continue;
        cell[n][0] = tm_cell_of_text(TM_CELL_WORD, section->title);
        cell[n][1] = tm_cell_of_text(TM_CELL_PROSE, put_labels(labels[n], tm_terms[i].labels));
        cell[n++][2] = tm_cell_of_text(TM_CELL_PROSE, tm_terms[i].text);
    }
    tm_say_table(content, &(struct tm_table){ .id = "terms",
                                              .caption = "Figures and columns of the sections",
                                              TM_COLUMNS(columns),
                                              .cells = cell[0],
                                              .cell_rows = n,
                                              .paper_rows = TERMS_MOST });
}

static void say_definitions(const struct tm_content *content)
{
    say_figures(content);
    say_terms(content);
}

const struct tm_section tm_definitions_section = { "definitions", "Definitions", NULL, say_definitions };
