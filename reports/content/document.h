/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DOCUMENT_H
#define TM_DOCUMENT_H

#include "reports/content/content.h"
#include "reports/content/front.h"

/* A kind of document that the media can write: the report of a run, a comparison, a scaling study, the result of a check.
 * What a value tree is, its member "schema" tells. */
struct tm_document {
    const char *schema;  /* "tracemill.summary" */
    const char *what;    /* "report": in titles and in "Skip to the report" */
    const char *kicker;  /* above the title of a page of paper: "PERFORMANCE REPORT" */
    const char *made_by; /* "tracemill report" */
    const char *file;    /* stem of the files that are drawn from it: "report", for report.html */
    const char *findings_title; /* over the first findings on the first screen: "What to do first" */
    const char *stake_of;       /* what the time of a finding is time of: "device time", "a step" */
    const char *data;    /* the file that has every figure: "summary.json" */
    const struct tm_section *const *sections; /* in their order */
    size_t section_count;
    void (*make_front)(struct tm_front_page *front, const struct tm_value *root);
    enum tm_chart_kind
        first_chart[2]; /* on the first page; the last of them also on the first screen */
    size_t first_charts;
};

extern const struct tm_document tm_report_document, tm_comparison_document, tm_comparison_of_many_document,
    tm_scaling_document, tm_check_document, tm_night_document;

/* Of a tree; what is not known is taken for a report. */
const struct tm_document *tm_document_of(const struct tm_value *root);

#endif
