/* SPDX-License-Identifier: Apache-2.0 */
/* How this report was made: the program, the input, the choices, and how to make it again. */
#include <stdio.h>
#include <string.h>

#include "reports/content/say.h"

enum { TEXT_BYTES = 256 };

static void say_provenance(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Program", "program", TM_CELL_WORD },
        { "Summary", "summary", TM_CELL_WORD },
    };
    char program[TEXT_BYTES], summary[TEXT_BYTES];
    struct tm_cell cell[2];

    (void)snprintf(program, sizeof(program), "%.100s %.100s", tm_text(tm_of(content, "tool.name")),
                   tm_text(tm_of(content, "tool.version")));
    (void)snprintf(summary, sizeof(summary), "%.100s, version %lld", tm_text(tm_of(content, "schema")),
                   (long long)tm_int(tm_of(content, "schema_version")));
    cell[0] = tm_cell_of_text(TM_CELL_WORD, program);
    cell[1] = tm_cell_of_text(TM_CELL_WORD, summary);
    if (content->medium->facts)
        content->medium->facts(content->to, &(struct tm_table){ .id = "provenance",
                                                                .column = columns,
                                                                .columns = 2,
                                                                .cells = cell,
                                                                .cell_rows = 1 });
}

const struct tm_section tm_provenance_section = { "provenance", "How this report was made", NULL, say_provenance };
