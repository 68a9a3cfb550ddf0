/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CONTENT_H
#define TM_CONTENT_H

#include "reports/chart/charts.h"
#include "reports/content/table.h"
#include "reports/content/tone.h"

/* What a document says, section by section, the same for every medium: page, PDF, text, Markdown,
 * CSV.  A document is a report of a run, a comparison ... (document.h); its value tree is called
 * the summary.  A section chooses what of it is told and in which order; a medium gives it a form.
 * Nothing is computed here: every figure is a member of the summary (schemas/SUMMARY.md). */

struct tm_content;

struct tm_section {
    const char *id;    /* of its anchor, and of its terms (terms.h) */
    const char *title;
    const char *key;   /* of the summary: without a value there the section is only named, under "Not recorded" */
    void (*say)(const struct tm_content *content);
    /* Why it has nothing to tell of this run, a clause; "" = it has.  NULL = it always has. */
    const char *(*nothing)(const struct tm_value *summary);
};

/* How a medium takes what is said.  The functions cannot fail: a medium remembers its failure and its writer looks
 * once, at the end.  Texts may hold any bytes that a trace can bring: the medium makes them safe.  Tables and texts are
 * borrowed until the call returns.  A function that is NULL is not called. */
struct tm_medium {
    struct tm_room room;
    bool has_charts; /* draws them: tables that repeat a chart (tm_table.repeats_chart) are not given to it */
    void (*section)(void *to, const struct tm_section *section);
    void (*end_section)(void *to, const struct tm_section *section);
    void (*subheading)(void *to, const char *text);
    void (*paragraph)(void *to, enum tm_tone tone, const char *text);
    /* One row, as a list "title: value"; what is null tells why. */
    void (*facts)(void *to, const struct tm_table *facts);
    void (*table)(void *to, const struct tm_table *table);
    void (*charts)(void *to, enum tm_chart_kind kind); /* all of that kind */
    void (*finding)(void *to, const struct tm_value *finding, size_t number); /* number: from 1 */
};

/* One walk over a summary. */
struct tm_content {
    const struct tm_value *summary;
    const struct tm_medium *medium;
    void *to;
};

/* The section of that kind of document (document.h) with that id; NULL = there is none. */
const struct tm_section *tm_section_of(const struct tm_value *summary, const char *id);

/* Is it a section of this document?  One of another platform is not, nor one that the input cannot
 * support, nor one that has nothing to tell. */
bool tm_section_is_due(const struct tm_section *section, const struct tm_value *summary);

/* Why a section of this platform is not due: a clause of the summary or of the section; "" = it is due, or the section
 * is one of another platform. */
const char *tm_section_why_not(const struct tm_section *section, const struct tm_value *summary);

/* All of them that are due. */
void tm_content_say(const struct tm_content *content);

#endif
