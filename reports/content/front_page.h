/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FRONT_PAGE_H
#define TM_FRONT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/doc/doc.h"
#include "reports/content/cell.h"
#include "reports/format/format.h"

/* The top of a report, in pieces: each medium has a layout of its own for its first screen or page.  Key figures are in
 * front_page.h. */
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

/* Of any document, by its kind (content.h). */
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

/* A key figure, ready to be shown. */
struct tm_key_figure {
    const struct tm_value *kpi; /* of the summary: tm_sign_of_kpi wants it */
    const char *id, *title, *definition;
    const char *band; /* "good", "warning", "bad", "unknown"; "" where it is outside its band and costs nothing */
    const char *why;  /* it has no value, or the value no judgement, or it costs nothing; "" = nothing to say */
    size_t finding;   /* of this number has its savings, 1 is the first; 0 = none */
    bool has_value;
    char value[TM_FORMAT_BYTES];                      /* with its unit; "" without */
    char good[TM_FORMAT_BYTES], bad[TM_FORMAT_BYTES]; /* limits, "> 80 %"; "" = none */
    double place; /* of the value on a scale of three equal parts, bad 0 to 1/3, warning, good 2/3 to 1; -1 = none */
};

/* Those that have a meaning in this run; none where no figure has a value.  Model FLOP utilization and the step time come
 * first. */
size_t tm_kpi_count(const struct tm_value *summary);
void tm_kpi_at(struct tm_key_figure *out, const struct tm_value *summary, size_t index);

#endif
