/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FUZZ_JOB_H
#define TM_FUZZ_JOB_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pipeline/settings.h"
#include "pipeline/spill.h"

/* What the fuzz targets share: the input as a file, and a job of the program with its default settings. */

#define FUZZ_FOLDER "/tmp" /* of spill files */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef void fuzz_file(const char *path, size_t size);

/* Give the bytes as a file that has no name. */
static inline void fuzz_with_file(const uint8_t *data, size_t size, fuzz_file *use)
{
    const int fd = memfd_create("input", MFD_CLOEXEC);
    char path[64];

    if (fd < 0)
        return;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (write(fd, data, size) == (ssize_t)size)
        use(path, size);
    (void)close(fd);
}

/* A ledger of the least memory; nothing is printed. */
static inline void fuzz_run_init(struct tm_run *run)
{
    *run = (struct tm_run){ .quiet = true, .spill_dir = FUZZ_FOLDER };
    tm_budget_init(&run->budget, (size_t)TM_MEMORY_LEAST_MIB * TM_MIB);
    tm_progress_init(&run->progress, true);
}

/* out: options  those of a verb that got the file and nothing else */
static inline tm_status fuzz_options(struct tm_options *options, char *inputs[1], struct tm_error *error)
{
    static struct tm_setting_set settings; /* too large for a stack */
    tm_status st;

    *options = (struct tm_options){ .input_count = 0 };
    tm_settings_init(&settings);
    st = tm_settings_apply(&settings, options, error);
    options->inputs = inputs;
    options->input_count = 1;
    return st;
}

static inline void fuzz_abort_unless_given_back(const struct tm_run *run)
{
    for (int i = 0; i < TM_ACCOUNT_COUNT; i++)
        if (run->budget.used_bytes[i])
            abort();
}

#endif
