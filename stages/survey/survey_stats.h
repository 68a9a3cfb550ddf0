/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SURVEY_STATS_H
#define TM_SURVEY_STATS_H

#include "stages/resolve/resolver.h"

/* How many records there are of each sort: taken while the survey reads them, so that what only counts events needs no
 * reading of its own and no order of time.  Records are counted by all that their class depends on; what it is, is told
 * when the survey is over.  Memory: a table of fixed size before groups that spill, and a list, which spills, of those
 * for which an id has to be looked up then. */
struct tm_survey_stats;

/* owns:   the caller frees it with tm_survey_stats_free; trace must outlive it
 * errors: NULL, with the error in run->error */
struct tm_survey_stats *tm_survey_stats_new(struct tm_trace *trace) TM_MUST_USE;
void tm_survey_stats_free(struct tm_survey_stats *census); /* tolerates NULL */

/* Count a record.  All of a track come one after the other. */
tm_status tm_survey_stats_take(struct tm_survey_stats *census, const struct tm_track *track,
                               const struct tm_raw_record *raw) TM_MUST_USE;

/* Whether what was counted on a track does not hold: which event lies inside which is told from the order of time.  Its
 * records are to be taken again, in order, after tm_survey_stats_recount. */
bool tm_survey_stats_needs_order(const struct tm_survey_stats *census, const struct tm_track *track);
void tm_survey_stats_recount(struct tm_survey_stats *census);

/* Takes `count` events that are alike (struct tm_stage_type.take_alike). */
typedef tm_status tm_take_alike(void *to, const struct tm_event *event, uint64_t count);
/* Give out all that was counted, after the survey; once. */
tm_status tm_survey_stats_give(struct tm_survey_stats *census, struct tm_resolver *resolver, tm_take_alike *take,
                               void *to) TM_MUST_USE;

#endif
