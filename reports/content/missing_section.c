/* SPDX-License-Identifier: Apache-2.0 */
/* What is not in the report, or in another document: the sections that this input cannot support or of which the run has nothing, each with its
 * reason. */
#include <stdio.h>
#include <string.h>

#include "reports/content/document.h"
#include "reports/content/say.h"
#include "reports/format/mark_signs.h"

enum { REASONS_MOST = 32, TITLES_BYTES = 384, TITLE_BYTES = 96 };

struct reasons {
    struct tm_cell cell[REASONS_MOST][2];
    char titles[REASONS_MOST][TITLES_BYTES]; /* "Scopes, Balance": the sections with that reason */
    size_t count;
};

static void add_title(char *titles, const char *title)
{
    const size_t used = strlen(titles);

    (void)snprintf(titles + used, TITLES_BYTES - used, "%s%s", used ? ", " : "", title);
}

/* Sections with one reason share a row. */
static void add_section(struct reasons *reasons, const char *title, const char *why)
{
    size_t at = 0;

    while (at < reasons->count && strcmp(reasons->cell[at][1].text, why) != 0)
        at++;
    if (at == REASONS_MOST)
        return;
    if (at == reasons->count) {
        reasons->titles[at][0] = 0;
        reasons->cell[at][0] = tm_cell_of_text(TM_CELL_PROSE, reasons->titles[at]);
        reasons->cell[at][1] = tm_cell_of_text(TM_CELL_PROSE, why);
        reasons->count++;
    }
    add_title(reasons->titles[at], title);
}

static void say_missing(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Section", "section", TM_CELL_PROSE },
        { "Why", "why", TM_CELL_PROSE },
    };
    const struct tm_document *document = tm_document_of(content->summary);
    struct reasons reasons = { .count = 0 };

    for (size_t i = 0; i < document->section_count; i++) {
        const struct tm_section *section = document->sections[i];
        const char *why = tm_section_why_not(section, content->summary);
        char sign[TM_SIGN_BYTES] = "", title[TITLE_BYTES];

        if (!*why)
            continue;
        if (tm_has(tm_get(content->summary, section->key))) /* nothing was found, in what could be read */
            (void)tm_sign_of_section(sign, content->summary, section->key);
        (void)snprintf(title, sizeof(title), "%s%s", section->title, sign);
        add_section(&reasons, title, why);
    }
    tm_say_table(content, &(struct tm_table){ .id = "missing",
                                              .caption = "Sections with nothing to show",
                                              TM_COLUMNS(columns),
                                              .cells = reasons.cell[0],
                                              .cell_rows = reasons.count,
                                              .paper_rows = REASONS_MOST });
}

static const char *nothing(const struct tm_value *summary)
{
    const struct tm_document *document = tm_document_of(summary);

    for (size_t i = 0; i < document->section_count; i++)
        if (*tm_section_why_not(document->sections[i], summary))
            return "";
    return "every section has something to show";
}

const struct tm_section tm_missing_section = { "missing", "Not in this report", NULL, say_missing, nothing };
const struct tm_section tm_missing_compared_section = { "missing", "Not in this comparison", NULL, say_missing, nothing };
const struct tm_section tm_missing_scaled_section = { "missing", "Not in this study", NULL, say_missing, nothing };
const struct tm_section tm_missing_night_section = { "missing", "Not of this night", NULL, say_missing, nothing };
const struct tm_section tm_missing_checked_section = { "missing", "Not in this check", NULL, say_missing, nothing };
