/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CONTENT_H
#define TM_CONTENT_H

#include "reports/chart/charts.h"
#include "reports/content/cell.h"
#include "reports/content/front_page.h"
#include "reports/content/table.h"

/* What a document says, section by section, the same for every medium: page, PDF, text, Markdown,
 * CSV.  A document is a report of a run, a comparison ... (content.h); its value tree is called
 * the summary.  A section chooses what of it is told and in which order; a medium gives it a form.
 * Nothing is computed here: every figure is a member of the summary (schemas/SUMMARY.md). */

struct tm_content;

struct tm_section {
    const char *id; /* of its anchor, and of its terms (terms.h) */
    const char *title;
    const char *key; /* of the summary: without a value there the section is only named, under "Not recorded" */
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
    void (*charts)(void *to, enum tm_chart_kind kind);                        /* all of that kind */
    void (*finding)(void *to, const struct tm_value *finding, size_t number); /* number: from 1 */
};

/* One walk over a summary. */
struct tm_content {
    const struct tm_value *summary;
    const struct tm_medium *medium;
    void *to;
};

/* The section of that kind of document (content.h) with that id; NULL = there is none. */
const struct tm_section *tm_section_of(const struct tm_value *summary, const char *id);

/* Is it a section of this document?  One of another platform is not, nor one that the input cannot
 * support, nor one that has nothing to tell. */
bool tm_section_is_due(const struct tm_section *section, const struct tm_value *summary);

/* Why a section of this platform is not due: a clause of the summary or of the section; "" = it is due, or the section
 * is one of another platform. */
const char *tm_section_why_not(const struct tm_section *section, const struct tm_value *summary);

/* All of them that are due. */
void tm_content_say(const struct tm_content *content);

/* A kind of document that the media can write: the report of a run, a comparison, a scaling study, the result of a check.
 * What a value tree is, its member "schema" tells. */
struct tm_document {
    const char *schema;                       /* "tracemill.summary" */
    const char *what;                         /* "report": in titles and in "Skip to the report" */
    const char *kicker;                       /* above the title of a page of paper: "PERFORMANCE REPORT" */
    const char *made_by;                      /* "tracemill report" */
    const char *file;                         /* stem of the files that are drawn from it: "report", for report.html */
    const char *findings_title;               /* over the first findings on the first screen: "What to do first" */
    const char *stake_of;                     /* what the time of a finding is time of: "device time", "a step" */
    const char *data;                         /* the file that has every figure: "summary.json" */
    const struct tm_section *const *sections; /* in their order */
    size_t section_count;
    void (*make_front)(struct tm_front_page *front, const struct tm_value *root);
    enum tm_chart_kind first_chart[2]; /* on the first page; the last of them also on the first screen */
    size_t first_charts;
};

extern const struct tm_document tm_report_document, tm_comparison_document, tm_comparison_of_many_document,
    tm_scaling_document, tm_check_document, tm_nightly_document;

/* Of a tree; what is not known is taken for a report. */
const struct tm_document *tm_document_of(const struct tm_value *root);

#endif
