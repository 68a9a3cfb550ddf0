/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TERMS_H
#define TM_TERMS_H

#include <stdbool.h>
#include <stddef.h>

/* What the figures and the columns of the sections are, short; docs/metrics.md has it in full. */
struct tm_term {
    const char *section; /* id of the section (content.h); of several "ops|kernels", where they are of one document */
    const char *labels;  /* as the section has them, "Self time|Their time"; the first one is the term */
    const char *text;
};

extern const struct tm_term tm_terms[];
extern const size_t tm_term_count; /* at most TM_TERMS_MOST */
enum { TM_TERMS_MOST = 256 };

/* The place of a term in the list; -1 = the label explains itself.  A label that begins with a name, as that of a side of
 * a comparison, is looked up without it, too: "run 7, how often" is "How often". */
int tm_term_find(const char *section, const char *label);
bool tm_term_is_of(const struct tm_term *term, const char *section);

#endif
