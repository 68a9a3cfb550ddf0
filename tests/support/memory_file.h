/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MEMORY_FILE_H
#define TM_MEMORY_FILE_H

#include "stages/input/bytes/input_file.h"

/* Files without a name, in memory, for what opens a path. */
enum { MEMORY_FILE_PATH = 32 };

/* A file of these bytes.  out: path, which leads to it until the caller closes what is returned: its descriptor */
int memory_file(const void *bytes, size_t length, char path[MEMORY_FILE_PATH]);

/* The bytes as an input that is held; the caller closes it, failed or not. */
tm_status memory_input(struct tm_input *input, struct tm_run *run, const void *bytes, size_t length) TM_MUST_USE;

#endif
