/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FRONT_H
#define TM_FRONT_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/doc.h"
#include "reports/content/tone.h"

/* The top of a report, in pieces: each medium has a layout of its own for its first screen or page.  Key figures are in
 * kpi.h. */
enum { TM_FRONT_FACTS_MOST = 10, TM_FRONT_BYTES = 512, TM_FRONT_TITLE_BYTES = 256 };

/* Texts may hold any bytes that a trace can bring. */
struct tm_front_page {
    char title[TM_FRONT_TITLE_BYTES];    /* --title, else the name of the run */
    char subtitle[TM_FRONT_TITLE_BYTES]; /* hosts and devices, "2 hosts, 8 devices"; the run too where there is a
                                            --title */
    const char *note;                    /* --note; "" = none */
    const char *verdict;                 /* a sentence; "" = none */
    enum tm_tone tone;                   /* of the verdict */
    struct {
        const char *title;
        char text[TM_FRONT_BYTES];
    } fact[TM_FRONT_FACTS_MOST]; /* host, devices, versions, window, steps, profiled, files, names */
    size_t facts;
    bool is_partial; /* the input is damaged: the report has to say so at its top, with tm_partial_text */
    char partial[TM_FRONT_BYTES];
};

/* Of any document, by its kind (document.h). */
void tm_front_make(struct tm_front_page *front, const struct tm_value *summary);
/* What all documents have: title, note, verdict, whether the input is damaged.  in: title  where
 * the user gave none */
void tm_front_begin(struct tm_front_page *front, const struct tm_value *summary, const char *title);
/* The room for a fact, TM_FRONT_BYTES, empty.  in: title  lives as long as the program */
char *tm_front_add_fact(struct tm_front_page *front, const char *title);
/* A fact of so many words; what does not fit is cut. */
void tm_front_say_fact(struct tm_front_page *front, const char *title, const char *format, ...) TM_PRINTF(3, 4);
void tm_front_of_report(struct tm_front_page *front, const struct tm_value *summary);

/* What to do first: the findings with time at stake, or all where none has any.
 * out:    pick  their places among the findings, `most` at most; returned: how many */
size_t tm_front_findings(const struct tm_value *summary, size_t most, size_t *pick);

#endif
