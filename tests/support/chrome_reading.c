/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/chrome_reading.h"

#include <unistd.h>

#include "tests/support/memory_file.h"

void open_reading(struct reading *r, const void *bytes, size_t length, const struct tm_chrome_options *options)
{
    char path[MEMORY_FILE_PATH];

    test_run_init(&r->run);
    r->fd = memory_file(bytes, length, path);
    assert_int_equal(tm_input_open(&r->input, &r->run, path), TM_OK);
    r->reader = tm_chrome_reader_new(&r->run, &r->input, options);
    assert_non_null(r->reader);
}

void close_reading(struct reading *r)
{
    tm_chrome_reader_free(r->reader);
    tm_input_close(&r->input);
    (void)close(r->fd);
    assert_ledger_is_even(&r->run);
}
