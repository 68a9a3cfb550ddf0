/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes that tell whether work is done already: of inputs, and of the options by which they were worked.  Numbers go
 * into them as little-endian 64-bit words, texts with their length, so that no two lists run into one another. */
#include "pipeline/nightly/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY /* the state on the stack */
#include <xxhash.h>

#include "pipeline/file_time.h"
#include "pipeline/whole_read.h"

enum { END_BYTES = 64 << 10 };

/* A hash in the making: the state on the stack, so that nothing has to be allocated. */
struct hashing {
    XXH3_state_t state;
};

static void begin(struct hashing *h)
{
    XXH3_INITSTATE(&h->state);
    (void)XXH3_64bits_reset(&h->state);
}

static void add_number(struct hashing *h, uint64_t number)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    (void)XXH3_64bits_update(&h->state, bytes, sizeof(bytes));
}

static void add_bytes(struct hashing *h, const void *at, size_t length)
{
    add_number(h, length);
    (void)XXH3_64bits_update(&h->state, at, length);
}

/* NULL and "" are not the same. */
static void add_text(struct hashing *h, const char *text)
{
    add_number(h, text != NULL);
    if (text)
        add_bytes(h, text, strlen(text));
}

static void end(const struct hashing *h, char fingerprint[TM_FINGERPRINT_BYTES])
{
    (void)snprintf(fingerprint, TM_FINGERPRINT_BYTES, "%016" PRIx64, (uint64_t)XXH3_64bits_digest(&h->state));
}

/* --- files --- */

/* Both ends of a file; the whole of a small one.  out: 0, or errno */
static int add_ends(struct hashing *h, int fd, uint64_t bytes)
{
    static uint8_t buffer[END_BYTES]; /* too much for a small stack */
    const uint64_t last = bytes > END_BYTES ? bytes - END_BYTES : 0;
    size_t got;
    int problem = tm_read_at(fd, buffer, sizeof(buffer), 0, &got);

    if (problem)
        return problem;
    add_bytes(h, buffer, got);
    if (!last)
        return 0;
    problem = tm_read_at(fd, buffer, sizeof(buffer), last, &got);
    if (!problem)
        add_bytes(h, buffer, got);
    return problem;
}

tm_status tm_file_fingerprint(struct tm_run *run, const char *path, uint64_t *bytes, int64_t *mtime_ns,
                              char fingerprint[TM_FINGERPRINT_BYTES])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct hashing h;
    struct stat info;
    int problem = 0;

    if (fd < 0 || fstat(fd, &info) != 0) {
        problem = errno;
    } else if (!S_ISREG(info.st_mode)) {
        problem = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    } else {
        *bytes = (uint64_t)info.st_size;
        *mtime_ns = tm_file_time_ns(&info);
        begin(&h);
        add_number(&h, *bytes);
        add_number(&h, (uint64_t)*mtime_ns);
        problem = add_ends(&h, fd, *bytes);
        if (!problem)
            end(&h, fingerprint);
    }
    if (fd >= 0)
        (void)close(fd);
    if (problem != 0)
        return tm_fail_system(&run->error, TM_ERR_INPUT, -1, problem, "cannot read '%s'", path);
    return TM_OK;
}

void tm_run_fingerprint(const struct tm_batch_run *batch_run, char fingerprint[TM_FINGERPRINT_BYTES])
{
    struct hashing h;

    begin(&h);
    add_number(&h, batch_run->files);
    for (size_t i = 0; i < batch_run->files; i++) {
        add_text(&h, batch_run->file[i].host);
        add_text(&h, batch_run->file[i].member);
        add_text(&h, batch_run->file[i].fingerprint);
    }
    end(&h, fingerprint);
}

/* --- options --- */

/* The content of a file of options.  errors: TM_ERR_USAGE */
static tm_status add_file(struct tm_run *run, struct hashing *h, const char *path)
{
    uint8_t buffer[16 << 10];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    int problem = fd < 0 ? errno : 0;
    size_t got = 1;

    while (!problem && got) {
        problem = tm_read_on(fd, buffer, sizeof(buffer), &got);
        if (!problem)
            add_bytes(h, buffer, got);
    }
    if (fd >= 0)
        (void)close(fd);
    if (problem)
        return tm_fail_system(&run->error, TM_ERR_USAGE, -1, problem, "cannot read the thresholds '%s'", path);
    return TM_OK;
}

/* Every option that a verb of batch takes is either here or in tests/unit/test_fingerprint.c, among those that change
 * nothing of a report: how it is worked, and what is made of all of them. */
tm_status tm_options_fingerprint(struct tm_run *run, const struct tm_options *options,
                                 char fingerprint[TM_FINGERPRINT_BYTES])
{
    struct hashing h;
    tm_status st = TM_OK;

    begin(&h);
    add_number(&h, options->formats);
    add_text(&h, options->note);
    add_number(&h, (uint64_t)options->paper);
    add_number(&h, (uint64_t)options->steps);
    add_number(&h, options->steps_begin);
    add_number(&h, options->steps_end);
    add_number(&h, (uint64_t)options->skip_steps);
    add_number(&h, (uint64_t)options->window);
    add_number(&h, (uint64_t)options->gap_min_ps);
    add_number(&h, options->rows);
    add_number(&h, options->strict);
    add_number(&h, options->thresholds != NULL);
    if (options->thresholds)
        st = add_file(run, &h, options->thresholds);
    end(&h, fingerprint);
    return st;
}
