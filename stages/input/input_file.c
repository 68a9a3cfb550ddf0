/* SPDX-License-Identifier: Apache-2.0 */
/* Opens one input.  The file is read once in order, for its fingerprint; on the way a gzip is inflated into a
 * spill file, and what comes through a pipe is kept in one.  Memory: one buffer of 256 KiB, given back before
 * tm_input_open returns, and the inflater while there is one. */
#include "stages/input/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

enum { BLOCK_BYTES = 256 * 1024 };

#define HINT_EMPTY "the profiler stopped before it wrote; profile again with block_until_ready() inside the trace"

/* What is needed while the file is read for the first time. */
struct reading {
    struct tm_input *in;
    struct tm_inflate *inflate; /* NULL = not a gzip */
    XXH3_state_t *hash;
    uint8_t *block;
    uint64_t at; /* bytes read so far */
};

static struct tm_error *error_of(const struct tm_input *in)
{
    return &in->run->error;
}

/* "'run7/vm.xplane.pb'", or "'...3/vm.xplane.pb'" where the whole would fill the message. */
static void make_name(struct tm_input *in)
{
    enum { DOTS = 3, QUOTES = 2, ROOM = sizeof(in->name) - DOTS - QUOTES - 1 };
    const size_t length = strlen(in->path);
    const char *from = in->path;
    char clean[ROOM + 1];

    if (strcmp(in->path, "-") == 0) {
        (void)snprintf(in->name, sizeof(in->name), "stdin");
        return;
    }
    if (length > ROOM) {
        from += length - ROOM;
        while (((unsigned char)*from & 0xc0) == 0x80) /* not inside a letter */
            from++;
    }
    tm_clean_text(clean, sizeof(clean), from, strlen(from));
    (void)snprintf(in->name, sizeof(in->name), "'%s%s'", from == in->path ? "" : "...", clean);
}

static tm_status refuse_stat(const struct tm_input *in, const struct stat *info)
{
    if (S_ISDIR(info->st_mode)) {
        (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "%s is a folder, not a file", in->name);
        tm_hint(error_of(in), "'tracemill list DIR' shows the profiles that are in a folder");
    } else if (S_ISFIFO(info->st_mode) || S_ISSOCK(info->st_mode)) {
        (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "%s is a pipe, not a file", in->name);
        tm_hint(error_of(in), "give '-' as the input and redirect the pipe to stdin");
    } else {
        (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "%s is a device, not a file", in->name);
        tm_hint(error_of(in), "give the .xplane.pb file that jax.profiler.trace() wrote");
    }
    return TM_ERR_INPUT;
}

static tm_status refuse_empty(const struct tm_input *in)
{
    (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "%s is empty (0 bytes)", in->name);
    tm_hint(error_of(in), HINT_EMPTY);
    return TM_ERR_INPUT;
}

static tm_status refuse_open(const struct tm_input *in, int reason)
{
    (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "cannot open %s: %s", in->name, strerror(reason));
    if (reason == ENOENT || reason == ENOTDIR)
        tm_hint(error_of(in), "check the path; 'tracemill list DIR' shows the profiles that are in a folder");
    else if (reason == EACCES || reason == EPERM)
        tm_hint(error_of(in), "check who may read it: 'ls -l' shows its owner and permissions");
    return TM_ERR_INPUT;
}

/* A regular file at in->fd: what it is to be read of it. */
static tm_status take_file(struct tm_input *in, const struct stat *info)
{
    in->disk_bytes = (uint64_t)info->st_size;
    in->modified_ns = (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
    if (in->disk_bytes == 0)
        return refuse_empty(in);
    (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* only advice */
    return TM_OK;
}

/* stdin: a redirected file is read in place, anything else through a spill file. */
static tm_status open_stdin(struct tm_input *in)
{
    struct stat info;

    if (isatty(STDIN_FILENO)) {
        (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "stdin is a terminal, not a trace");
        tm_hint(error_of(in), "redirect a file or a pipe: 'tracemill report - < FILE'");
        return TM_ERR_INPUT;
    }
    in->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (in->fd < 0 || fstat(in->fd, &info) != 0)
        return refuse_open(in, errno);
    if (S_ISDIR(info.st_mode))
        return refuse_stat(in, &info);
    if (S_ISREG(info.st_mode) && lseek(in->fd, 0, SEEK_CUR) == 0)
        return take_file(in, &info);
    in->spilled = true;
    return TM_OK;
}

static tm_status open_path(struct tm_input *in)
{
    struct stat info;

    /* without waiting: opening a pipe that nobody writes to would never return */
    in->fd = open(in->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (in->fd < 0 || fstat(in->fd, &info) != 0) {
        const int reason = errno;

        if (reason == ENXIO && stat(in->path, &info) == 0) /* a socket */
            return refuse_stat(in, &info);
        return refuse_open(in, reason);
    }
    if (!S_ISREG(info.st_mode))
        return refuse_stat(in, &info);
    return take_file(in, &info);
}

/* Fill the block from a stream.  *got is short only at the end. */
static tm_status read_stream(struct reading *r, size_t *got)
{
    *got = 0;
    while (*got < BLOCK_BYTES) {
        const ssize_t n = read(r->in->fd, r->block + *got, BLOCK_BYTES - *got);

        if (n == 0)
            return TM_OK;
        if (n > 0)
            *got += (size_t)n;
        else if (errno != EINTR)
            return tm_fail(error_of(r->in), TM_ERR_INPUT, (int64_t)(r->at + *got), "cannot read %s: %s",
                           r->in->name, strerror(errno));
    }
    return TM_OK;
}

/* Read the file's own bytes at a place; short at the end of the file. */
static tm_status read_file(const struct tm_input *in, uint8_t *to, size_t bytes, uint64_t at, size_t *got)
{
    *got = 0;
    while (*got < bytes) {
        const ssize_t n = pread(in->fd, to + *got, bytes - *got, (off_t)(at + *got));

        if (n == 0)
            return TM_OK;
        if (n > 0)
            *got += (size_t)n;
        else if (errno != EINTR)
            return tm_fail(error_of(in), TM_ERR_INPUT, (int64_t)(at + *got), "cannot read %s: %s", in->name,
                           strerror(errno));
    }
    return TM_OK;
}

static tm_status refuse_short(const struct tm_input *in, uint64_t at)
{
    (void)tm_fail(error_of(in), TM_ERR_INPUT, (int64_t)at,
                  "%s became shorter while it was read (it had %llu bytes)", in->name,
                  (unsigned long long)in->disk_bytes);
    tm_hint(error_of(in), "wait until the profiler has finished writing, or copy the file first");
    return TM_ERR_INPUT;
}

/* The next block of the file, in order; *got = 0 at the end. */
static tm_status read_block(struct reading *r, bool stream, size_t *got)
{
    const struct tm_input *const in = r->in;
    const uint64_t left = in->disk_bytes - r->at;
    const size_t want = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
    tm_status st;

    if (stream)
        return read_stream(r, got);
    st = read_file(in, r->block, want, r->at, got);
    if (st == TM_OK && *got < want)
        st = refuse_short(in, r->at + *got);
    return st;
}

static tm_status spill_bytes(void *to, const uint8_t *bytes, size_t length)
{
    struct tm_input *const in = to;

    return tm_spill_append(&in->inflated, bytes, length, NULL);
}

/* The first block tells whether there is something to inflate. */
static tm_status begin_content(struct reading *r, size_t got, enum tm_inflate_engine engine)
{
    struct tm_input *const in = r->in;

    in->gzip = got >= 2 && r->block[0] == 0x1f && r->block[1] == 0x8b;
    if (in->gzip) {
        in->spilled = true;
        r->inflate = tm_inflate_new(in->run, engine, spill_bytes, in);
        if (!r->inflate)
            return error_of(in)->status;
    }
    return in->spilled ? tm_spill_open(&in->inflated, in->run) : TM_OK;
}

static tm_status take_block(struct reading *r, size_t got)
{
    struct tm_input *const in = r->in;

    if (XXH3_64bits_update(r->hash, r->block, got) != XXH_OK)
        return tm_fail(error_of(in), TM_ERR_LIMIT, -1, "cannot take the fingerprint of %s", in->name);
    r->at += got;
    tm_progress_add(&in->run->progress, got);
    if (r->inflate)
        return tm_inflate_take(r->inflate, r->block, got);
    return in->spilled ? tm_spill_append(&in->inflated, r->block, got, NULL) : TM_OK;
}

/* The gzip has ended: what came out of it, and what is wrong with it. */
static tm_status end_gzip(struct reading *r)
{
    struct tm_input *const in = r->in;
    const tm_status st = tm_inflate_finish(r->inflate);
    const char *const problem = tm_inflate_problem(r->inflate, &in->problem_at);

    in->members = tm_inflate_members(r->inflate);
    if (st != TM_OK || !problem)
        return st;
    in->partial = true;
    (void)snprintf(in->problem, sizeof(in->problem), "the gzip is damaged: %s (byte %llu)", problem,
                   (unsigned long long)in->problem_at);
    return TM_OK;
}

/* Read all of it, from the begin. */
static tm_status read_all(struct reading *r, enum tm_inflate_engine engine)
{
    struct tm_input *const in = r->in;
    const bool stream = in->disk_bytes == 0;
    tm_status st;
    size_t got;

    r->at = 0;
    if (XXH3_64bits_reset(r->hash) != XXH_OK)
        return tm_fail(error_of(in), TM_ERR_LIMIT, -1, "cannot take the fingerprint of %s", in->name);
    tm_progress_phase(&in->run->progress, "opening", in->disk_bytes);
    st = read_block(r, stream, &got);
    if (st == TM_OK && got == 0)
        st = refuse_empty(in);
    if (st == TM_OK)
        st = begin_content(r, got, engine);
    while (st == TM_OK && got > 0) {
        st = take_block(r, got);
        if (st == TM_OK)
            st = read_block(r, stream, &got);
    }
    if (st == TM_OK && r->inflate)
        st = end_gzip(r);
    return st;
}

/* The fast engine may stop elsewhere in damaged data than zlib does, and results must not depend on what was
 * built in: a damaged file is read again with zlib. */
static tm_status read_again(struct reading *r)
{
    struct tm_input *const in = r->in;

    tm_inflate_free(r->inflate);
    r->inflate = NULL;
    tm_spill_close(&in->inflated);
    in->partial = false;
    in->problem[0] = '\0';
    return read_all(r, TM_INFLATE_ZLIB);
}

/* A stream cannot be read twice: zlib from the begin. */
static enum tm_inflate_engine choose_engine(const struct tm_input *in, const struct tm_input_options *options)
{
    enum tm_inflate_engine engine = options ? options->engine : TM_INFLATE_DEFAULT;

    if (engine == TM_INFLATE_DEFAULT)
        engine = tm_inflate_has(TM_INFLATE_ISAL) ? TM_INFLATE_ISAL : TM_INFLATE_ZLIB;
    return in->disk_bytes == 0 ? TM_INFLATE_ZLIB : engine;
}

static tm_status take_content(struct tm_input *in, const struct tm_input_options *options, uint8_t *block)
{
    const enum tm_inflate_engine engine = choose_engine(in, options);
    struct reading r = { .in = in, .block = block, .hash = XXH3_createState() };
    tm_status st;

    if (!r.hash)
        return tm_fail(error_of(in), TM_ERR_LIMIT, -1, "cannot open %s: no memory left", in->name);
    st = read_all(&r, engine);
    if (st == TM_OK && in->partial && engine != TM_INFLATE_ZLIB)
        st = read_again(&r);
    in->xxh3 = XXH3_64bits_digest(r.hash);
    in->disk_bytes = r.at;
    in->bytes = in->spilled ? in->inflated.bytes : in->disk_bytes;
    tm_inflate_free(r.inflate);
    (void)XXH3_freeState(r.hash);
    return st;
}

/* A gzip of nothing, or of which nothing came out. */
static tm_status refuse_hollow(const struct tm_input *in)
{
    if (in->partial) {
        (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "cannot inflate %s: %s", in->name,
                      in->problem);
        tm_hint(error_of(in), "copy the file again, or take it from where it was written");
    } else {
        (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "%s is empty once it is inflated (0 bytes)", in->name);
        tm_hint(error_of(in), HINT_EMPTY);
    }
    return TM_ERR_INPUT;
}

/* A file that the profiler is still writing: what there was at first is read, and it is said. */
static void note_growth(struct tm_input *in)
{
    struct stat info;

    if (in->modified_ns == 0 || fstat(in->fd, &info) != 0 || (uint64_t)info.st_size <= in->disk_bytes)
        return;
    in->partial = true;
    if (in->problem[0])
        return;
    in->problem_at = in->disk_bytes;
    (void)snprintf(in->problem, sizeof(in->problem),
                   "the file grew while it was read: from %llu to %llu bytes; only the first ones are covered",
                   (unsigned long long)in->disk_bytes, (unsigned long long)info.st_size);
}

static tm_status tell_kind(struct tm_input *in, uint8_t *block)
{
    size_t got;
    const tm_status st = tm_input_read(in, block, TM_KIND_HEAD_BYTES, 0, &got);

    if (st == TM_OK)
        in->kind = tm_kind_of(block, got);
    return st;
}

tm_status tm_input_open_with(struct tm_input *in, struct tm_run *run, const char *path,
                             const struct tm_input_options *options)
{
    uint8_t *block = NULL;
    tm_status st;

    *in = (struct tm_input){ .run = run, .fd = -1, .inflated.fd = -1 };
    (void)snprintf(in->path, sizeof(in->path), "%s", path);
    make_name(in);
    if (strlen(path) >= sizeof(in->path))
        return refuse_open(in, ENAMETOOLONG);
    st = strcmp(path, "-") == 0 ? open_stdin(in) : open_path(in);
    if (st != TM_OK)
        return st;
    block = tm_take(&run->budget, TM_ACCOUNT_INPUT, BLOCK_BYTES, &run->error);
    st = block ? take_content(in, options, block) : run->error.status;
    if (st == TM_OK && in->bytes == 0)
        st = refuse_hollow(in);
    if (st == TM_OK) {
        note_growth(in);
        st = tell_kind(in, block);
        run->bytes_read += in->disk_bytes;
    }
    tm_give(&run->budget, TM_ACCOUNT_INPUT, block, BLOCK_BYTES);
    return st;
}

tm_status tm_input_open(struct tm_input *in, struct tm_run *run, const char *path)
{
    return tm_input_open_with(in, run, path, NULL);
}

tm_status tm_input_require_readable(const struct tm_input *in)
{
    if (tm_kind_can_read(in->kind))
        return TM_OK;
    (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "%s is %s, which this version does not read", in->name,
                  tm_kind_name(in->kind));
    tm_hint(error_of(in), "%s", tm_kind_hint(in->kind));
    return TM_ERR_INPUT;
}

tm_status tm_input_read(const struct tm_input *in, void *to, size_t bytes, uint64_t at, size_t *got)
{
    const uint64_t left = at < in->bytes ? in->bytes - at : 0;
    const size_t want = left < bytes ? (size_t)left : bytes;
    tm_status st;

    *got = 0;
    if (want == 0)
        return TM_OK;
    tm_progress_add(&in->run->progress, want);
    if (in->spilled) {
        st = tm_spill_read(&in->inflated, to, want, at);
        *got = st == TM_OK ? want : 0;
        return st;
    }
    st = read_file(in, to, want, at, got);
    if (st == TM_OK && *got < want)
        st = refuse_short(in, at + *got);
    return st;
}

tm_status tm_input_next(struct tm_input *in, void *to, size_t bytes, size_t *got)
{
    const tm_status st = tm_input_read(in, to, bytes, in->next_at, got);

    in->next_at += *got;
    return st;
}

tm_status tm_input_hold(struct tm_input *in)
{
    (void)in;
    return TM_OK;
}

void tm_input_close(struct tm_input *in)
{
    if (!in->run)
        return;
    if (in->fd >= 0)
        (void)close(in->fd); /* it was only read */
    in->fd = -1;
    tm_spill_close(&in->inflated);
}
