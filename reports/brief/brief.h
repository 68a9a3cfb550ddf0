/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BRIEF_H
#define TM_BRIEF_H

#include <stdio.h>

#include "pipeline/doc/doc.h"

/* The brief of a run, of a comparison or of a night: the facts that matter most, in at most TM_BRIEF_BYTES bytes
 * whatever the size of the run.  It is its own document (schemas/BRIEF.md), printed as text, as JSON or as Markdown. */
enum { TM_BRIEF_BYTES = 8192 };

enum tm_brief_form { TM_BRIEF_TEXT, TM_BRIEF_JSON, TM_BRIEF_MARKDOWN };

/* Its lists, the least important first: if the brief is too long, the last row of the first nonempty list is
 * dropped. */
enum tm_brief_list {
    TM_BRIEF_NOT_RECORDED,
    TM_BRIEF_FIGURES,
    TM_BRIEF_JOBS,
    TM_BRIEF_NOTES,
    TM_BRIEF_SIDES, /* past the first two */
    TM_BRIEF_PATH,
    TM_BRIEF_PARTS,
    TM_BRIEF_FAILED_CHECKS,
    TM_BRIEF_COMPARABILITY,
    TM_BRIEF_MISSING,
    TM_BRIEF_CHANGES,
    TM_BRIEF_FAILURES,
    TM_BRIEF_KEY_FIGURES,
    TM_BRIEF_WORSE,
    TM_BRIEF_FINDINGS,
    TM_BRIEF_LISTS
};

/* The maximum number of rows of each list, and the maximum length of a text. */
struct tm_brief_room {
    size_t rows[TM_BRIEF_LISTS];
    size_t text_bytes;
};

void tm_brief_room_init(struct tm_brief_room *room);

/* Drop one row; if no list has one, half of each text.
 * in:     rows  that the brief had with this room
 * out: false: nothing is left to drop */
bool tm_brief_room_shrink(struct tm_brief_room *room, const size_t rows[TM_BRIEF_LISTS]);

struct tm_brief_source {
    const struct tm_value *root; /* a summary, a comparison or a night */
    const char *operand;         /* of the command line, for the commands that show more: shell words */
    const char *settings;        /* options that figures depend on, each preceded by a space; "" = none */
    bool is_profile;             /* the operand is one, not a document */
};

/* Print a brief.  Check ferror() for write errors. */
void tm_brief_print(const struct tm_value *brief, enum tm_brief_form form, FILE *to);

/* Make the brief so that it fits, and write it.
 * errors: TM_ERR_LIMIT no memory; TM_ERR_OUTPUT writing to `to` failed */
tm_status tm_brief_write(struct tm_run *run, const struct tm_brief_source *source, enum tm_brief_form form,
                         FILE *to) TM_MUST_USE;

#endif
