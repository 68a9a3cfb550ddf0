/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEST_FOLDER_H
#define TM_TEST_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/test_run.h"

/* A folder of its own for each test of a program, with nothing but files in it: setup and teardown of cmocka. */
static char folder[64];

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/var/tmp/tracemill-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

/* How many files there are.  remove_them fails the test where a folder is in the way. */
static inline int count_entries(bool remove_them)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int n = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        n++;
        if (remove_them)
            assert_int_equal(unlinkat(dirfd(dir), entry->d_name, 0), 0);
    }
    (void)closedir(dir);
    return n;
}

static inline int remove_folder(void **state)
{
    (void)state;
    (void)count_entries(true);
    return rmdir(folder);
}

#endif
