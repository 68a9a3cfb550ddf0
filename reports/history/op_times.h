/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OP_TIMES_H
#define TM_OP_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/nightly/result.h"
#include "reports/history/history.h"

/* The times of the longest operations and scopes of each run, in two tables of the history: the names of each job, and a
 * blob for each run.  A blob is a version and, for operations and then for scopes, their number and for each, in the
 * order of the numbers of its names, the number less the one before and the time in nanoseconds per step and device: all
 * varints (LEB128), a few hundred bytes for 100 rows.  Kept for the last TM_OP_TIMES_RUNS runs of a job. */
enum { TM_OP_TIMES_RUNS = 400, TM_OP_TIMES_MOST = TM_RESULT_OPS_MOST };

enum tm_op_kind { TM_OP_KIND_OP, TM_OP_KIND_SCOPE, TM_OP_KINDS };

extern const char *const tm_op_kind_words[TM_OP_KINDS]; /* "op", "scope" */

/* Whether the history has times of a run with this id. */
bool tm_op_times_are_known(struct tm_history *history, const char *job, const char *id);
/* Whether it has times of the same run: of the same input, by the same program with the same options. */
bool tm_op_times_are_current(struct tm_history *history, const struct tm_history_run *row);
/* Remove those of the run, whatever its job is in the history; before tm_history_put, which may change the job. */
tm_status tm_op_times_drop(struct tm_history *history, const char *id);
/* Put those of a run that has none.
 * in: lists  of each kind: [{"name", "time_ps"}] as in a result; names of the same text become one */
tm_status tm_op_times_put(struct tm_history *history, const struct tm_history_run *row,
                          const struct tm_value *const lists[TM_OP_KINDS]);

/* A time of a run; `name` is the number of the name in its job, `ns` the time per step and device. */
struct tm_op_time {
    uint32_t name;
    uint64_t ns;
};

struct tm_op_times {
    size_t count[TM_OP_KINDS];
    struct tm_op_time time[TM_OP_KINDS][TM_OP_TIMES_MOST]; /* by the number of the name */
};

/* Those of a run; all counts are 0 if it has none.  errors: TM_ERR_INPUT  it cannot be ours */
tm_status tm_op_times_read(struct tm_history *history, const char *job, const char *id, struct tm_op_times *to);
/* The text of a name; "" = there is none. */
tm_status tm_op_times_name(struct tm_history *history, const char *job, uint32_t number, char name[TM_RESULT_OP_BYTES]);
/* Its number; 0 = no run of the job has it. */
tm_status tm_op_times_number(struct tm_history *history, const char *job, const char *name, uint32_t *number);

/* --- for history.c --- */

/* Into a renewed history without any.  errors: TM_ERR_INPUT  they cannot be ours */
tm_status tm_op_times_copy(struct tm_history *to, struct tm_history *from);
/* Remove those beyond the last runs of each job. */
tm_status tm_op_times_limit(struct tm_history *history);
/* Write them to the attached database `next`, with the names that they need, numbered in the order of their bytes: the
 * same rows give the same bytes. */
tm_status tm_op_times_write(struct tm_history *history);

#endif
