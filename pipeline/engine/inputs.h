/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_INPUTS_H
#define TM_INPUTS_H

#include "pipeline/discover.h"
#include "pipeline/options.h"

enum tm_input_part_kind { TM_PART_TRACE, TM_PART_PARTIAL, TM_PART_MEMORY };

/* What a file holds: a trace one host, a partial any number of them, a device memory profile none. */
struct tm_input_part {
    enum tm_input_part_kind kind;
    uint32_t first_host, host_count; /* in tm_inputs.hosts */
    uint64_t sum;                    /* of a partial's content */
    uint32_t file_count;             /* files that it stands for: 1, of a partial those that it was made of */
};

/* The files of one run, found behind the operands of a verb. */
struct tm_inputs {
    struct tm_run *run;
    struct tm_found *found; /* one per operand */
    size_t found_count;
    struct tm_found_file **files; /* of the chosen runs */
    struct tm_input_part *parts;  /* of each file */
    size_t file_count;
    struct tm_found_file **hosts; /* of all files, in their order; their names are distinct; may be none */
    char **plain_hosts;           /* their names before they were made distinct */
    uint32_t host_count;
    const char *run_name;
    /* private */
    struct tm_found_file *loaded; /* hosts of partials */
    uint32_t loaded_count, loaded_most;
    char partial_run_name[4096];
    struct tm_input *standard_input; /* where it was looked at */
};

enum { TM_INPUT_FILES_MOST = 100000 };

/* A file of the run that is told of, and not read. */
struct tm_missing_input {
    const char *path;
    uint64_t bytes;
    const char *problem;
};

/* What a batch knows of its inputs beside their paths (tm_options.choice). */
struct tm_input_choice {
    const char *path, *member; /* of what the operand holds, the only file to be read: as tm_found_file; NULL = all */
    const char *run_name;      /* what the run is called; NULL = as it is found */
    const struct tm_missing_input *missing;
    size_t missing_count;
};

/* Find the runs of one operand: a file, a folder, or an archive of folders, told by its content.
 * owns:   the caller; tm_found_free releases it, also after a failure
 * errors: as of tm_discover, tm_discover_members, tm_archive_is and tm_archive_list */
tm_status tm_find_operand(struct tm_run *run, const char *input, struct tm_found *found) TM_MUST_USE;

/* What was left out of the search is said, so that a run that is missing is no riddle. */
void tm_warn_left_out(const struct tm_found *found);
/* The part of it that is said of the search of a batch, too. */
void tm_warn_skipped(const struct tm_left_out *skipped);
/* For verbs that do not read on: reading tells it of each file. */
void tm_warn_damaged(const struct tm_found *found);
/* For verbs that list: files whose content was looked at, and is no trace. */
void tm_note_not_traces(const struct tm_left_out *skipped);
/* As members of a document. */
struct tm_value;
void tm_add_skipped(struct tm_value *to, const struct tm_left_out *skipped);

/* Every operand is the run, a host of it, a partial of some of its hosts, or a folder or archive to choose a run
 * from by options->run_name and latest.
 * owns:   the caller; tm_inputs_free releases it, also after a failure
 * errors: as of tm_find_operand and tm_choose_run; TM_ERR_LIMIT past TM_INPUT_FILES_MOST files; of a partial: damaged,
 *         made with other choices */
tm_status tm_inputs_find(struct tm_inputs *inputs, struct tm_run *run, const struct tm_options *options) TM_MUST_USE;
void tm_inputs_free(struct tm_inputs *inputs); /* tolerates a zeroed one */

#endif
