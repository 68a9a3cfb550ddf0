/* SPDX-License-Identifier: Apache-2.0 */
/* Not recorded: the sections that a report on this platform has and this input cannot support, each with its reason. */
#include "reports/content/say.h"
#include "reports/findings/ask.h"
#include "reports/format/platforms.h"

enum { SECTIONS_MOST = 64 };

static void say_missing(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Section", "section", TM_CELL_WORD },
        { "Why it is not here", "why", TM_CELL_PROSE },
    };
    struct tm_cell cell[SECTIONS_MOST][2];
    size_t n = 0;

    for (size_t i = 0; i < tm_section_count && n < SECTIONS_MOST; i++) {
        const struct tm_section *section = tm_sections[i];
        const char *why;

        if (tm_section_is_due(section, content->summary) || !tm_section_is_for_run(section->key, content->summary))
            continue;
        why = tm_reason_of(content->summary, section->key);
        cell[n][0] = tm_cell_of_text(TM_CELL_WORD, section->title);
        cell[n++][1] = tm_cell_of_text(TM_CELL_PROSE, *why ? why : "not recorded");
    }
    if (n == 0)
        tm_say(content, TM_TONE_GOOD, "The input has what every section needs.");
    tm_say_table(content, &(struct tm_table){ .id = "missing",
                                              .caption = "Sections without data",
                                              TM_COLUMNS(columns),
                                              .cells = cell[0],
                                              .cell_rows = n,
                                              .paper_rows = SECTIONS_MOST });
}

const struct tm_section tm_missing_section = { "missing", "Not recorded", NULL, say_missing };
