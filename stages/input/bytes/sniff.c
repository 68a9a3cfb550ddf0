/* SPDX-License-Identifier: Apache-2.0 */
/* Tells from the first bytes whether a file is a trace.  What is wrapped is unwrapped out of memory. */
#include "stages/input/bytes/sniff.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/whole_read.h"
#include "stages/input/bytes/kind.h"
#include "stages/input/bytes/unwrap.h"
#include "stages/input/bytes/unzstd.h"

struct first_bytes {
    uint8_t *at;
    size_t length, taken;
};

static tm_status take_bytes(struct tm_raw_bytes *raw, uint8_t *to, size_t bytes, size_t *got)
{
    struct first_bytes *const b = raw->own;
    const size_t left = b->length - b->taken;

    *got = left < bytes ? left : bytes;
    memcpy(to, b->at + b->taken, *got);
    b->taken += *got;
    return TM_OK;
}

static const struct tm_raw_type raw_memory = { .read = take_bytes };

static void tell(const uint8_t *head, size_t length, enum tm_sniffed *sniffed)
{
    enum tm_file_kind kind;

    if (tm_kind_is_trace(head, length, &kind))
        *sniffed = kind == TM_FILE_XSPACE ? TM_SNIFFED_XSPACE : TM_SNIFFED_TRACE_JSON;
}

static tm_status tell_wrapped(struct tm_run *run, struct first_bytes *b, enum tm_sniffed *sniffed)
{
    const struct tm_raw_bytes raw = { .type = &raw_memory, .run = run, .name = "the first bytes", .fd = -1, .own = b };
    struct tm_unwrap *unwrap;
    const uint8_t *head;
    size_t length;

    if (tm_unzstd_window(b->at, b->length) > tm_unzstd_window_most(&run->budget))
        return tm_fail(&run->error, TM_ERR_INPUT, -1, "the zstd needs a larger window than the memory allows");
    unwrap = tm_unwrap_new(&raw, TM_INFLATE_DEFAULT, 0);
    if (!unwrap)
        return run->error.status;
    head = tm_unwrap_head(unwrap, &length);
    tell(head, length, sniffed);
    tm_unwrap_free(unwrap);
    return TM_OK;
}

tm_status tm_sniff(struct tm_run *run, tm_read_some *read, void *from, enum tm_sniffed *sniffed)
{
    struct first_bytes b = { .at = tm_take(&run->budget, TM_ACCOUNT_INPUT, TM_RAW_BLOCK_BYTES, &run->error) };
    enum tm_file_kind kind;
    size_t more = 0;
    tm_status st;

    *sniffed = TM_SNIFFED_OTHER;
    if (!b.at)
        return run->error.status;
    st = read(from, b.at, TM_KIND_HEAD_BYTES, &b.length);
    kind = st == TM_OK ? tm_kind_of(b.at, b.length) : TM_FILE_UNKNOWN;
    if (kind == TM_FILE_GZIP || kind == TM_FILE_ZSTD) {
        if (b.length == TM_KIND_HEAD_BYTES)
            st = read(from, b.at + b.length, TM_RAW_BLOCK_BYTES - b.length, &more);
        b.length += more;
        if (st == TM_OK)
            st = tell_wrapped(run, &b, sniffed);
    } else if (st == TM_OK) {
        tell(b.at, b.length, sniffed);
    }
    tm_give(&run->budget, TM_ACCOUNT_INPUT, b.at, TM_RAW_BLOCK_BYTES);
    return st;
}

struct file {
    struct tm_run *run;
    const char *path;
    int fd;
};

static tm_status read_file(void *from, uint8_t *to, size_t bytes, size_t *got)
{
    const struct file *const file = from;
    const int problem = tm_read_on(file->fd, to, bytes, got);

    return !problem ? TM_OK :
                      tm_fail_system(&file->run->error, TM_ERR_INPUT, -1, problem, "cannot read '%s'", file->path);
}

tm_status tm_sniff_file(struct tm_run *run, const char *path, enum tm_sniffed *sniffed)
{
    struct file file = { .run = run, .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) };
    tm_status st;

    if (file.fd < 0)
        return tm_fail_system(&run->error, TM_ERR_INPUT, -1, errno, "cannot open '%s'", path);
    st = tm_sniff(run, read_file, &file, sniffed);
    (void)close(file.fd); /* it was only read */
    return st;
}
