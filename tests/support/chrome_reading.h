/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHROME_READING_H
#define TM_CHROME_READING_H

#include "stages/input/chrome/chrome_reader.h"
#include "tests/support/test_run.h"

/* A text that the reader of Chrome traces reads, in a run of its own. */
struct reading {
    struct tm_run run;
    struct tm_input input;
    struct tm_chrome_reader *reader;
    int fd;
};

void open_reading(struct reading *r, const void *bytes, size_t length, const struct tm_chrome_options *options);
void close_reading(struct reading *r); /* everything was given back */

#endif
