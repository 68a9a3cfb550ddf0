/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/memory_file.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/test_run.h"

int memory_file(const void *bytes, size_t length, char path[MEMORY_FILE_PATH])
{
    const int fd = memfd_create("input", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    (void)snprintf(path, MEMORY_FILE_PATH, "/proc/self/fd/%d", fd);
    return fd;
}

tm_status memory_input(struct tm_input *input, struct tm_run *run, const void *bytes, size_t length)
{
    char path[MEMORY_FILE_PATH];
    const int fd = memory_file(bytes, length, path);
    tm_status st = tm_input_open(input, run, path);

    if (st == TM_OK)
        st = tm_input_hold(input);
    (void)close(fd);
    return st;
}
