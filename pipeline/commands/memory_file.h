/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MEMORY_FILE_H
#define TM_MEMORY_FILE_H

#include "pipeline/commands/file_facts.h"
#include "stages/diagnose/memory/device_profiles.h"

/* Read a device memory profile, from its bytes to the tables.
 * out:    facts  of the file
 * errors: as of tm_input_open and tm_pprof_read */
tm_status tm_memory_file_read(struct tm_run *run, struct tm_names *names, const struct tm_found_file *found,
                              struct tm_device_profiles *profiles, struct tm_file_facts *facts) TM_MUST_USE;

#endif
