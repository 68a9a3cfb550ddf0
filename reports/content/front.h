/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FRONT_H
#define TM_FRONT_H

#include "pipeline/doc.h"
#include "reports/content/content.h"
#include "reports/format/format.h"

/* The top of a report, in pieces: each medium has a layout of its own for its first screen or page. */
enum { TM_FRONT_FACTS_MOST = 10, TM_FRONT_BYTES = 512, TM_FRONT_TITLE_BYTES = 256, TM_FINDING_LINES = 8 };

/* Texts may hold any bytes that a trace can bring. */
struct tm_front {
    char title[TM_FRONT_TITLE_BYTES];    /* --title, else the name of the run */
    char subtitle[TM_FRONT_TITLE_BYTES]; /* hosts and devices, "2 hosts, 8 devices"; the run too where there is a
                                            --title */
    const char *note;                    /* --note; "" = none */
    const char *verdict;                 /* a sentence; "" = none */
    enum tm_tone tone;                   /* of the verdict */
    struct {
        const char *title;
        char text[TM_FRONT_BYTES];
    } fact[TM_FRONT_FACTS_MOST]; /* host, devices, versions, window, steps, profiled, files */
    size_t facts;
    bool is_partial; /* the input is damaged: the report has to say so at its top, with tm_partial_text */
    char partial[TM_FRONT_BYTES];
};

void tm_front_make(struct tm_front *front, const struct tm_value *summary);

/* A row of the table of key figures. */
struct tm_kpi {
    const struct tm_value *kpi; /* of the summary: tm_sign_of_kpi wants it */
    const char *id, *title, *definition;
    const char *band; /* "good", "warning", "bad", "unknown" */
    const char *why;  /* it has no value, or the value no judgement; "" = nothing to say */
    bool has_value;
    char value[TM_FORMAT_BYTES];                    /* with its unit; "" without */
    char good[TM_FORMAT_BYTES], bad[TM_FORMAT_BYTES]; /* limits, "> 80 %"; "" = none */
    double place; /* of the value on a scale of three equal parts, bad 0 to 1/3, warning, good 2/3 to 1; -1 = none */
};

/* Those that have a meaning on this platform; none where no figure has a value. */
size_t tm_kpi_count(const struct tm_value *summary);
void tm_kpi_at(struct tm_kpi *out, const struct tm_value *summary, size_t index);

/* What to do first: the findings with time at stake, or all where none has any.
 * out:    pick  their places among the findings, `most` at most; returned: how many */
size_t tm_front_findings(const struct tm_value *summary, size_t most, size_t *pick);

/* Where a finding can be looked at. */
struct tm_place {
    char text[TM_FRONT_BYTES]; /* "at 0.367214627 s, for 1.35 s, gpu:0" */
    char sql[TM_FRONT_BYTES];  /* finds its slices on Perfetto's SQL page; "" where clocks of several files differ */
};

/* in:     where  an element of a finding's "where" */
void tm_place_make(struct tm_place *out, const struct tm_value *summary, const struct tm_value *where);

/* The section that tells more about what a finding says, by the finding's id: "gaps"; NULL = none. */
const char *tm_finding_section(const char *finding_id);

/* "1.35 s of device time at stake, 80.6 % of the window", "measured 12 %, limit 3 %"; what the finding has of it.
 * out:    TM_FRONT_BYTES, returned; "" = neither */
const char *tm_finding_stake(char *out, const struct tm_value *finding);

#endif
