/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FUZZ_JOB_H
#define TM_FUZZ_JOB_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pipeline/options.h"
#include "pipeline/store/rows.h"

/* What the fuzz targets share: the input as a file, and a job of the program with its default settings. */

#define FUZZ_FOLDER "/tmp" /* of spill files */

/* What has to hold for any input, whatever the build; says what did not. */
#define FUZZ_REQUIRE(holds) ((holds) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #holds))
static inline void fuzz_fail(const char *file, int line, const char *holds)
{
    (void)fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, holds);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef void fuzz_file(const char *path, size_t size);

/* What was freed is watched until so much more was: with the 256 MiB that it is by default, each input gets memory that
 * was never touched, and most of its time goes into pages. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16:malloc_context_size=12";
}

/* Give the bytes as a file that has no name: the same one each time. */
static inline void fuzz_with_file(const uint8_t *data, size_t size, fuzz_file *use)
{
    static int fd = -1;
    static char path[64];

    if (fd < 0) {
        fd = memfd_create("input", MFD_CLOEXEC);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    }
    if (fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size)
        use(path, size);
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

/* Of what a run keeps from one input to the next nothing is left, and all that was taken is given back. */
static inline void fuzz_run_end(struct tm_run *run)
{
    tm_close_left_open(run);
    for (int i = 0; i < TM_ACCOUNT_COUNT; i++)
        if (run->budget.used_bytes[i])
            abort();
}

#endif
