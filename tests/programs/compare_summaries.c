/* SPDX-License-Identifier: Apache-2.0 */
/* Compares summaries as `tracemill compare` does and prints the document: compare_summaries SUMMARY SUMMARY...; "--" ends
 * a group: A1 A2 -- B1 B2.  Exit status: of the program's statuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/doc_read.h"
#include "reports/compare/compare.h"

enum { RUNS_MOST = 64 };

static tm_status load(struct tm_run *run, const char *path, struct tm_doc **doc, struct tm_compared_run *to)
{
    tm_status st;

    *doc = tm_doc_new(run);
    st = *doc ? tm_doc_read_file(*doc, tm_doc_root(*doc), path) : run->error.status;
    *to = (struct tm_compared_run){ .summary = *doc ? tm_doc_root(*doc) : NULL, .path = path, .is_summary = true,
                                    .measured_ps = -1 };
    return st;
}

static tm_status compare(struct tm_run *run, const struct tm_side *side, size_t sides)
{
    const struct tm_compare_options options = { .rows = 500 };
    struct tm_doc *doc = tm_doc_new(run);
    tm_status st = doc ? tm_compare_check(run, side, sides) : run->error.status;

    if (st == TM_OK)
        st = tm_compare(run, doc, side, sides, &options);
    if (st == TM_OK)
        st = tm_doc_print(doc, run, STDOUT_FILENO);
    tm_doc_free(doc);
    return st;
}

int main(int argc, char **argv)
{
    struct tm_compared_run runs[RUNS_MOST];
    struct tm_doc *doc[RUNS_MOST] = { NULL };
    struct tm_side side[TM_SIDES_MOST] = { { .runs = 0 } };
    struct tm_run run = { .quiet = true };
    size_t count = 0, sides = 0;
    bool is_grouped = false, is_begun = false;
    tm_status st = TM_OK;

    tm_budget_init(&run.budget, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
    for (int i = 1; i < argc; i++)
        is_grouped = is_grouped || strcmp(argv[i], "--") == 0;
    for (int i = 1; i < argc && count < RUNS_MOST && sides <= TM_SIDES_MOST && st == TM_OK; i++) {
        if (strcmp(argv[i], "--") == 0) {
            is_begun = false;
            continue;
        }
        if (!is_begun && sides < TM_SIDES_MOST)
            side[sides++] = (struct tm_side){ .label = argv[i], .run = &runs[count] };
        is_begun = is_grouped;
        side[sides - 1].runs++;
        st = load(&run, argv[i], &doc[count], &runs[count]);
        count++;
    }
    if (st == TM_OK)
        st = compare(&run, side, sides);
    tm_error_print(&run.error, stderr);
    for (size_t i = 0; i < count; i++)
        tm_doc_free(doc[i]);
    return (int)st;
}
