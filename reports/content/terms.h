/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TERMS_H
#define TM_TERMS_H

#include <stddef.h>

/* What the figures and the columns of the sections are, short; docs/metrics.md has it in full. */
struct tm_term {
    const char *section; /* id of the section (content.h) */
    const char
        *labels; /* as the section has them, "Self time|Their time"; the first one is the term */
    const char *text;
};

extern const struct tm_term tm_terms[];
extern const size_t tm_term_count; /* at most TM_TERMS_MOST */
enum { TM_TERMS_MOST = 192 };

/* The place of a term in the list; -1 = the label explains itself. */
int tm_term_find(const char *section, const char *label);

#endif
