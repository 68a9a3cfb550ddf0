/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_INPUTS_H
#define TM_INPUTS_H

#include "pipeline/discover.h"
#include "pipeline/options.h"

/* The files of one run, found behind the operands of a verb. */
struct tm_inputs {
    struct tm_run *run;
    struct tm_found *found;        /* one per operand */
    size_t found_count;
    struct tm_found_file **files;  /* of the chosen runs; their hosts are distinct */
    size_t file_count;
    const char *run_name;
};

enum { TM_INPUT_FILES_MOST = 100000 };

/* Every operand is the run, a host of it, or a folder to choose a run from by options->run_name and latest.
 * owns:   the caller; tm_inputs_free releases it, also after a failure
 * errors: as of tm_discover and tm_choose_run; TM_ERR_LIMIT past TM_INPUT_FILES_MOST files */
tm_status tm_inputs_find(struct tm_inputs *inputs, struct tm_run *run, const struct tm_options *options) TM_MUST_USE;
void tm_inputs_free(struct tm_inputs *inputs); /* tolerates a zeroed one */

#endif
