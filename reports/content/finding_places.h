/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FINDING_PLACES_H
#define TM_FINDING_PLACES_H

#include "pipeline/doc/doc.h"
#include "reports/content/content.h"

/* What stands beside a finding: how much is at stake, where more is told, and where to look in the trace. */
enum { TM_FINDING_BYTES = 512, TM_FINDING_LINES = 8 /* of a list, where a medium is short */ };

/* Where a finding can be looked at. */
struct tm_place {
    char text[TM_FINDING_BYTES]; /* "at 0.367214627 s, for 1.35 s, gpu:0" */
    char
        sql[TM_FINDING_BYTES]; /* finds its slices on Perfetto's SQL page, in the trace as recorded (Chrome JSON) and in
                                    what `convert` writes; "" where it is not known which host is meant */
};

/* in:     where  an element of a finding's "where" */
void tm_place_make(struct tm_place *out, const struct tm_value *summary, const struct tm_value *where);

/* The id of the section that tells more about what a finding says, by the finding's id: "gaps"; "coverage" of what is
 * wrong with the profile. */
const char *tm_finding_section(const char *finding_id);
/* That section; NULL = the report of this run has none. */
const struct tm_section *tm_section_of_finding(const struct tm_value *summary, const struct tm_value *finding);

/* "potential savings 1.35 s of device time, 80.6 % of the window", "measured 12 %, limit 3 %"; what the finding has of it.
 * out:    TM_FINDING_BYTES, returned; "" = neither */
const char *tm_finding_stake(char *out, const struct tm_value *finding);

/* Its "link", to a file below the document's folder; NULL = it has none that is safe. */
const char *tm_finding_link(const struct tm_value *finding);

/* The same in a few words, for lists: the time alone, "1.35 s", and what it is of: "80.6 % of the window"; of a cause of a
 * comparison "+1.10 ms" and "87 % of the change".
 * out:    TM_FORMAT_BYTES, returned; "" = there is none */
const char *tm_finding_time(char *out, const struct tm_value *finding);
const char *tm_finding_part(char *out, const struct tm_value *finding);

#endif
