/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/kept_bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/test_run.h"

void keep_bench(struct bench *b, char path[KEPT_BENCH_PATH])
{
    static const char pattern[KEPT_BENCH_PATH] = "/var/tmp/test-bench-XXXXXX";
    int fd;

    memcpy(path, pattern, sizeof(pattern));
    fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(bench_save(b, path), TM_OK);
}

void load_kept_bench(struct bench *b, const char *path, uint32_t second)
{
    assert_int_equal(bench_load(b, path, 0), TM_OK);
    assert_int_equal(bench_load(b, path, second), TM_OK);
    assert_int_equal(unlink(path), 0);
}
