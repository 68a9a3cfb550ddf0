/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SURVEY_H
#define TM_SURVEY_H

#include "stages/survey/survey_stats.h"

/* One look at all records, track by track and in no order of time, before they are put in order: which thread
 * launched what, where the steps are, which devices were active.  Afterwards every event can be told its step
 * and its launch at once, and it is known which steps count, so that the figures need one ordered pass and no
 * memory of the past.  Cost: each record is read twice. */

/* Which steps the user wants. */
struct tm_chosen_steps {
    bool all;            /* --steps all */
    bool has_range;      /* --steps A:B */
    uint64_t begin, end; /* of the range, ordinals */
    bool has_skip;       /* --skip-steps N */
    uint64_t skip;
    bool session; /* --window session: the window is the whole profiling session */
};

/* Survey a scanned trace: fills track facts, devices, steps and the main track of source->trace.
 * in:     census  counts the records as they are read; NULL = nobody does
 * out:    resolver  ready for tm_resolve
 * owns:   the caller frees what the resolver holds with tm_survey_free
 * errors: as of the tables and the input */
tm_status tm_survey(struct tm_source *source, const struct tm_chosen_steps *choice, struct tm_survey_stats *census,
                    struct tm_resolver *resolver) TM_MUST_USE;
/* The events will be resolved again, from the first one on. */
void tm_survey_rewind(struct tm_resolver *resolver);
void tm_survey_free(struct tm_resolver *resolver);

#endif
