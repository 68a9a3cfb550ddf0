/* SPDX-License-Identifier: Apache-2.0 */
/* What reading alone costs, without any analysis.
 *
 *     decode bytes FILE     the content as a stream, unwrapped
 *     decode events FILE    every event of a Chrome trace in JSON
 *
 * Prints the number of events (0 for `bytes`), of those with a length, and of the bytes of the
 * content. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/run.h"
#include "pipeline/store/rows.h"
#include "stages/input/bytes/input_file.h"
#include "stages/input/chrome/chrome_reader.h"

enum { READ_BYTES = 256 << 10 };

struct counts {
    uint64_t events, with_length, bytes;
};

static tm_status read_bytes(struct tm_run *run, struct tm_input *input, struct counts *counts)
{
    tm_status st = TM_OK;
    size_t got = 0;
    void *const buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, READ_BYTES, &run->error);

    if (!buffer)
        return TM_ERR_LIMIT;
    do {
        st = tm_input_next(input, buffer, READ_BYTES, &got);
        counts->bytes += got;
    } while (!st && got > 0);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, buffer, READ_BYTES);
    return st;
}

/* Damage is an error here: half a file would pass for a fast one. */
static tm_status read_events(struct tm_run *run, struct tm_input *input, struct counts *counts)
{
    const struct tm_chrome_options options = { .window_bytes = 0 };
    const struct tm_chrome_event *event = NULL;
    const char *problem;
    uint64_t at = 0;
    tm_status st;
    struct tm_chrome_reader *const reader = tm_chrome_reader_new(run, input, &options);

    if (!reader)
        return run->error.status;
    while (!(st = tm_chrome_next(reader, &event)) && event) {
        counts->events++;
        counts->with_length += (event->has & TM_CHROME_DUR) != 0;
    }
    counts->bytes = input->bytes;
    problem = tm_chrome_problem(reader, &at);
    if (!st && problem)
        st = tm_fail(&run->error, TM_ERR_INPUT, (int64_t)at, "%s", problem);
    tm_chrome_reader_free(reader);
    return st;
}

static tm_status read_file(struct tm_run *run, const char *mode, const char *path)
{
    struct tm_input input = { .fd = -1 };
    struct counts counts = { .events = 0 };
    tm_status st = tm_spill_choose_dir(run, NULL, ".");

    if (!st)
        st = tm_input_open(&input, run, path);
    if (!st)
        st = (strcmp(mode, "bytes") == 0 ? read_bytes : read_events)(run, &input, &counts);
    if (!st && input.partial)
        st = tm_fail(&run->error, TM_ERR_INPUT, -1, "%s", input.problem);
    tm_input_close(&input);
    if (!st)
        printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", counts.events, counts.with_length, counts.bytes);
    return st;
}

int main(int argc, char **argv)
{
    struct tm_run run = { .quiet = true };

    if (argc != 3 || (strcmp(argv[1], "bytes") != 0 && strcmp(argv[1], "events") != 0)) {
        (void)fputs("usage: decode bytes|events FILE\n", stderr);
        return TM_ERR_USAGE;
    }
    tm_budget_init(&run.budget, (size_t)TM_MEMORY_DEFAULT_MIB * TM_MIB);
    const tm_status st = read_file(&run, argv[1], argv[2]);

    if (st)
        tm_error_print(&run.error, stderr);
    return st;
}
