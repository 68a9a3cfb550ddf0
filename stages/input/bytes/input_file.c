/* SPDX-License-Identifier: Apache-2.0 */
/* Opens one input, and provides its content: streamed as it is unwrapped, or held for random access, in the file itself
 * or in a spill file.  Memory: that of the stream, freed when all has been read; reading the rest temporarily takes a
 * buffer of 256 KiB. */
#include "stages/input/bytes/input_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/files.h"
#include "pipeline/remote.h"
#include "pipeline/run.h"
#include "pipeline/strings.h"
#include "stages/input/bytes/archive.h"
#include "stages/input/bytes/fingerprint.h"
#include "stages/input/bytes/unwrap.h"

#define HINT_EMPTY                                                                                                     \
    "the profiler stopped before it wrote the file; profile again with block_until_ready() inside the trace"

static struct tm_error *error_of(const struct tm_input *in)
{
    return &in->run->error;
}

/* The end of a string that has at most `most` bytes, not starting inside a character; preceded by "..." if it is not
 * the whole. */
static void clean_end(char *out, size_t out_bytes, const char *text)
{
    enum { DOTS = 3 };
    const size_t length = strlen(text), most = out_bytes - DOTS - 1;
    const char *from = text;

    if (length > most) {
        from += length - most;
        while (((unsigned char)*from & 0xc0) == 0x80)
            from++;
        memcpy(out, "...", DOTS);
        out += DOTS;
        out_bytes -= DOTS;
    }
    tm_clean_text(out, out_bytes, from, strlen(from));
}

/* "'run7/vm.xplane.pb'", or "'...3/vm.xplane.pb'" where the whole would fill the message; of a member
 * "'logs.tar.gz' (run7/vm.xplane.pb)". */
static void make_name(struct tm_input *in)
{
    enum { MOST = sizeof(in->name), HALF = MOST / 2 - 4 /* quotes or brackets, a blank, the end */ };
    char path[MOST - 2], short_path[HALF], member[HALF];

    if (strcmp(in->path, "-") == 0) {
        (void)snprintf(in->name, sizeof(in->name), "stdin");
    } else if (in->member[0]) {
        clean_end(short_path, sizeof(short_path), in->path);
        clean_end(member, sizeof(member), in->member);
        (void)snprintf(in->name, sizeof(in->name), "'%s' (%s)", short_path, member);
    } else {
        clean_end(path, sizeof(path), in->path);
        (void)snprintf(in->name, sizeof(in->name), "'%s'", path);
    }
}

static tm_status refuse_stat(const struct tm_input *in, const struct stat *info)
{
    if (S_ISDIR(info->st_mode)) {
        (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "%s is a folder, not a file", in->name);
        tm_hint(error_of(in), "'tracemill list DIR' lists the profiles in a folder");
    } else if (S_ISFIFO(info->st_mode) || S_ISSOCK(info->st_mode)) {
        (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "%s is a pipe, not a file", in->name);
        tm_hint(error_of(in), "pass '-' as the input and redirect the pipe to stdin");
    } else {
        (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "%s is a device, not a file", in->name);
        tm_hint(error_of(in), "use the .xplane.pb file written by jax.profiler.trace()");
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
    if (reason == ENOENT || reason == ENOTDIR)
        tm_hint(error_of(in), "check the path; 'tracemill list DIR' lists the profiles in a folder");
    else if (reason == EACCES || reason == EPERM)
        tm_hint(error_of(in), "check the file's permissions with 'ls -l'");
    return tm_fail_system(error_of(in), TM_ERR_INPUT, -1, reason, "cannot open %s", in->name);
}

/* A regular file at in->fd: how much of it to read. */
static tm_status take_file(struct tm_input *in, const struct stat *info)
{
    in->disk_bytes = (uint64_t)info->st_size;
    in->modified_ns = tm_file_time_ns(info);
    in->opened = tm_unchanged_since(info);
    if (in->disk_bytes == 0)
        return refuse_empty(in);
    (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* only advice */
    return TM_OK;
}

/* stdin: a redirected file is one; anything else comes only once. */
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
    return TM_OK;
}

static tm_status open_path(struct tm_input *in)
{
    struct stat info;

    /* without waiting: opening a pipe without a writer would never return */
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

/* Empty, or a compressed file without content. */
static tm_status refuse_hollow(const struct tm_input *in, const struct tm_unwrapped *all)
{
    if (all->disk_bytes == 0 && !all->problem[0])
        return refuse_empty(in);
    if (all->problem[0]) {
        (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "cannot %s %s: %s",
                      in->wrapping == TM_ZSTD   ? "decompress"
                      : in->wrapping == TM_GZIP ? "inflate"
                                                : "read",
                      in->name, all->problem);
        if (in->wrapping == TM_ZSTD)
            tm_hint(error_of(in),
                    "copy the file again; if it was compressed with a dictionary: 'zstd -d -D DICTIONARY'");
        tm_hint(error_of(in), "copy the file again from its original location");
    } else {
        (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "%s is empty after it is %s (0 bytes)", in->name,
                      in->wrapping == TM_ZSTD ? "decompressed" : "inflated");
        tm_hint(error_of(in), HINT_EMPTY);
    }
    return TM_ERR_INPUT;
}

/* A file that the profiler is still writing: the original content is read, and a note says so. */
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
                   "the file grew while it was read, from %llu to %llu bytes; only the original size is covered",
                   (unsigned long long)in->disk_bytes, (unsigned long long)info.st_size);
}

tm_status tm_input_check(const struct tm_input *in)
{
    return tm_unchanged_check(in->opened, in->fd, true, in->run, in->name);
}

/* All of it has been read. */
static tm_status end_content(struct tm_input *in)
{
    struct tm_unwrapped all;

    tm_unwrap_tell(in->unwrap, &all);
    in->bytes = all.bytes - all.surplus; /* the same for every size of the reads */
    if (in->bytes == 0 && all.surplus)   /* with zlib alone nothing had come */
        return refuse_hollow(in, &all);
    in->disk_bytes = all.disk_bytes;
    in->xxh3 = all.xxh3;
    in->members = all.members;
    in->partial = all.problem[0] != 0;
    in->problem_at = all.problem_at;
    memcpy(in->problem, all.problem, sizeof(in->problem));
    note_growth(in);
    in->run->bytes_read += in->disk_bytes;
    tm_unwrap_free(in->unwrap);
    in->unwrap = NULL;
    return tm_input_check(in);
}

/* The first bytes determine the wrapping and, unwrapped, the kind. */
static tm_status begin_content(struct tm_input *in, const struct tm_raw_bytes *raw,
                               const struct tm_input_options *options)
{
    const enum tm_inflate_engine engine = options ? options->engine : TM_INFLATE_DEFAULT;
    struct tm_unwrapped all;
    const uint8_t *head;
    size_t length;

    tm_progress_phase(&in->run->progress, "reading", in->disk_bytes);
    in->unwrap = tm_unwrap_new(raw, engine, options ? options->read_most : 0);
    if (!in->unwrap)
        return error_of(in)->status;
    in->wrapping = tm_unwrap_wrapping(in->unwrap);
    head = tm_unwrap_head(in->unwrap, &length);
    if (length == 0) {
        tm_unwrap_tell(in->unwrap, &all);
        return refuse_hollow(in, &all);
    }
    in->kind = tm_kind_of(head, length);
    return TM_OK;
}

/* A file or a stream. */
static tm_status open_file(struct tm_input *in, const struct tm_input_options *options)
{
    const tm_status st = strcmp(in->path, "-") == 0 ? open_stdin(in) : open_path(in);
    const struct tm_raw_bytes raw = {
        .type = in->disk_bytes ? &tm_raw_file : &tm_raw_stream,
        .run = in->run,
        .name = in->name,
        .fd = in->fd,
        .size = in->disk_bytes,
    };

    return st == TM_OK ? begin_content(in, &raw, options) : st;
}

/* An object in a bucket as raw bytes: they own the helper that fetches it.  A restart fetches it again. */
static tm_status read_object(struct tm_raw_bytes *raw, uint8_t *to, size_t bytes, size_t *got)
{
    return tm_helper_read(raw->own, to, bytes, got);
}

static tm_status restart_object(struct tm_raw_bytes *raw)
{
    struct tm_helper *const helper = raw->own;
    const char *const uri = helper->uri;

    tm_helper_stop(helper);
    return tm_fetch_start(helper, raw->run, uri, raw->name);
}

static void close_object(struct tm_raw_bytes *raw)
{
    tm_helper_stop(raw->own);
    tm_give(&raw->run->budget, TM_ACCOUNT_INPUT, raw->own, sizeof(struct tm_helper));
    raw->own = NULL;
}

static const struct tm_raw_type raw_object = { .read = read_object, .restart = restart_object, .close = close_object };

static tm_status open_object(struct tm_input *in, const struct tm_input_options *options)
{
    struct tm_helper *const helper = tm_take(&in->run->budget, TM_ACCOUNT_INPUT, sizeof(*helper), error_of(in));
    struct tm_raw_bytes raw = { .type = &raw_object, .run = in->run, .name = in->name, .fd = -1, .own = helper };

    if (!helper)
        return error_of(in)->status;
    if (tm_fetch_start(helper, in->run, in->path, in->name)) {
        close_object(&raw);
        return error_of(in)->status;
    }
    return begin_content(in, &raw, options);
}

/* A member of an archive as raw bytes: they own the open archive, whose memory is all that they take.  A restart reads
 * the archive again. */
struct member {
    const char *path, *name;          /* of the archive, of the member in it; borrowed */
    uint64_t position;                /* as tm_archive_open takes it */
    struct tm_archive_member *opened; /* NULL after a restart that failed */
};

static tm_status read_member(struct tm_raw_bytes *raw, uint8_t *to, size_t bytes, size_t *got)
{
    struct member *const m = raw->own;
    size_t some = 1;

    for (*got = 0; *got < bytes && some > 0; *got += some) {
        const tm_status st = tm_archive_read(m->opened, to + *got, bytes - *got, &some);

        if (st != TM_OK)
            return st;
    }
    return TM_OK;
}

static tm_status restart_member(struct tm_raw_bytes *raw)
{
    struct member *const m = raw->own;

    tm_archive_close(m->opened);
    return tm_archive_open(&m->opened, raw->run, m->path, m->name, m->position);
}

static const char *problem_of_member(const struct tm_raw_bytes *raw)
{
    const struct member *const m = raw->own;

    return m->opened ? tm_archive_problem(m->opened) : NULL;
}

static void close_member(struct tm_raw_bytes *raw)
{
    struct member *const m = raw->own;

    tm_archive_close(m->opened);
    tm_give(&raw->run->budget, TM_ACCOUNT_INPUT, m, sizeof(*m));
    raw->own = NULL;
}

static const struct tm_raw_type raw_member = {
    .read = read_member, .restart = restart_member, .problem = problem_of_member, .close = close_member
};

static tm_status open_member(struct tm_input *in, const struct tm_input_options *options)
{
    struct member *const m = tm_take(&in->run->budget, TM_ACCOUNT_INPUT, sizeof(*m), error_of(in));
    const struct tm_raw_bytes raw = { .type = &raw_member, .run = in->run, .name = in->name, .fd = -1, .own = m };

    if (!m)
        return error_of(in)->status;
    m->path = in->path;
    m->name = options->target ? options->target : in->member;
    m->position = options->position;
    if (tm_archive_open(&m->opened, in->run, m->path, m->name, m->position) != TM_OK) {
        tm_give(&in->run->budget, TM_ACCOUNT_INPUT, m, sizeof(*m));
        return error_of(in)->status;
    }
    in->disk_bytes = tm_archive_bytes(m->opened); /* as the archive says, until it is known */
    in->modified_ns = tm_archive_modified_ns(m->opened);
    return begin_content(in, &raw, options);
}

tm_status tm_input_open_with(struct tm_input *in, struct tm_run *run, const char *path,
                             const struct tm_input_options *options)
{
    const char *const member = options && options->member ? options->member : "";

    *in = (struct tm_input){ .run = run, .fd = -1, .content.fd = -1 };
    (void)snprintf(in->path, sizeof(in->path), "%s", path);
    (void)snprintf(in->member, sizeof(in->member), "%s", member);
    make_name(in);
    if (strlen(path) >= sizeof(in->path) || strlen(member) >= sizeof(in->member))
        return refuse_open(in, ENAMETOOLONG);
    if (in->member[0])
        return open_member(in, options);
    tm_close_left_open(run); /* frees its memory for what follows */
    return tm_remote_is(path) ? open_object(in, options) : open_file(in, options);
}

tm_status tm_input_open(struct tm_input *in, struct tm_run *run, const char *path)
{
    return tm_input_open_with(in, run, path, NULL);
}

/* The format of Nsight Systems is not published: what nothing else fits is recognized by name. */
static enum tm_file_kind kind_of_unknown(const struct tm_input *in)
{
    const char *const name = in->member[0] ? in->member : in->path;

    return tm_has_ending(name, ".nsys-rep") || tm_has_ending(name, ".qdrep") || tm_has_ending(name, ".qdstrm")
               ? TM_FILE_NSIGHT_REPORT
               : TM_FILE_UNKNOWN;
}

tm_status tm_input_require_readable(const struct tm_input *in)
{
    enum tm_file_kind kind = in->kind;

    if (tm_kind_can_read(in->kind))
        return TM_OK;
    if (kind == TM_FILE_UNKNOWN)
        kind = kind_of_unknown(in);
    (void)tm_fail(error_of(in), TM_ERR_INPUT, -1, "cannot read %s: it is %s", in->name, tm_kind_name(kind));
    tm_hint(error_of(in), "%s", tm_kind_hint(kind));
    return TM_ERR_INPUT;
}

tm_status tm_input_next(struct tm_input *in, void *to, size_t bytes, size_t *got)
{
    tm_status st;

    assert(!in->held);
    *got = 0;
    if (!in->unwrap) /* the end was reached before */
        return TM_OK;
    st = tm_unwrap_next(in->unwrap, to, bytes, got);
    return st == TM_OK && *got == 0 ? end_content(in) : st;
}

size_t tm_input_lend(struct tm_input *in, uint8_t **at)
{
    assert(!in->held);
    return in->unwrap && !tm_failed(in->run) ? tm_unwrap_lend(in->unwrap, at) : 0;
}

void tm_input_return(struct tm_input *in)
{
    if (in->unwrap)
        tm_unwrap_return(in->unwrap);
}

/* The packed size of the content, as far as known: of the file, or of the data from the pipe. */
static uint64_t packed_bytes(const struct tm_input *in)
{
    struct tm_unwrapped all = { .disk_bytes = 0 };
    struct stat info;

    if ((in->fd >= 0 ? fstat(in->fd, &info) : stat(in->path, &info)) == 0 && S_ISREG(info.st_mode))
        return (uint64_t)info.st_size; /* of an archive: all of it */
    tm_unwrap_tell(in->unwrap, &all);
    return all.disk_bytes;
}

/* A few bytes can claim any number of them, and all would be written to the disk. */
static tm_status check_growth(const struct tm_input *in)
{
    const uint64_t held = in->content.bytes, times = tm_raised_limit(in->run, TM_HELD_TIMES_MOST);

    if (held <= TM_HELD_FREE_BYTES || held / times <= packed_bytes(in))
        return TM_OK;
    (void)tm_fail(error_of(in), TM_ERR_LIMIT, -1, "%s expands to more than %" PRIu64 " times its size", in->name,
                  times);
    tm_limit_hint(in->run, "unpack it first; uncompressed files have no such limit");
    return TM_ERR_LIMIT;
}

/* Read all of it into the spill file. */
static tm_status spill_all(struct tm_input *in, uint8_t *block)
{
    size_t got;
    tm_status st;

    do {
        st = tm_unwrap_next(in->unwrap, block, TM_RAW_BLOCK_BYTES, &got);
        if (st == TM_OK && got > 0)
            st = tm_spill_append(&in->content, block, got, NULL);
        if (st == TM_OK)
            st = check_growth(in);
    } while (st == TM_OK && got > 0);
    return st;
}

/* All that has not been read yet, and what is known then. */
static tm_status read_rest(struct tm_input *in)
{
    uint8_t *const block = tm_take(&in->run->budget, TM_ACCOUNT_INPUT, TM_RAW_BLOCK_BYTES, error_of(in));
    tm_status st;

    if (!block)
        return error_of(in)->status;
    st = in->spilled ? spill_all(in, block) : tm_unwrap_complete(in->unwrap, block, TM_RAW_BLOCK_BYTES);
    tm_give(&in->run->budget, TM_ACCOUNT_INPUT, block, TM_RAW_BLOCK_BYTES);
    return st == TM_OK ? end_content(in) : st;
}

/* --- reading ahead --- */

/* A file that is larger than FILE_LEAST is worth a thread.  A read of less than READS_LEAST says nothing about the next
 * one. */
enum { AHEAD_BYTES = 256 << 10, READS_LEAST = 64 << 10, FILE_LEAST = 8 << 20 };

/* While the thread works, all of it is the thread's, and the fingerprint as well. */
struct tm_input_ahead {
    struct tm_worker_thread *thread;
    struct tm_fingerprint *fingerprint;
    int fd;
    uint64_t at, end; /* end: of the file */
    size_t got;       /* bytes from `at` on */
    uint8_t bytes[AHEAD_BYTES];
};

static void read_ahead(void *of)
{
    struct tm_input_ahead *const a = of;
    const uint64_t left = a->end - a->at;

    if (tm_read_at(a->fd, a->bytes, left < AHEAD_BYTES ? (size_t)left : AHEAD_BYTES, a->at, &a->got) != 0)
        a->got = 0; /* the caller reads it again, and fails */
    tm_fingerprint_note(a->fingerprint, a->at, a->bytes, a->got);
}

void tm_input_begin_ahead(struct tm_input *in)
{
    struct tm_budget *const budget = &in->run->budget;
    const size_t bytes = sizeof(struct tm_input_ahead);
    struct tm_input_ahead *a;

    if (in->ahead || in->spilled || !in->unwrap || in->bytes < FILE_LEAST || tm_failed(in->run) ||
        tm_cores(in->run) < 2 || !tm_budget_draw(budget, bytes))
        return;
    a = tm_take(budget, TM_ACCOUNT_INPUT, bytes, error_of(in));
    if (a) {
        a->fingerprint = tm_unwrap_fingerprint(in->unwrap);
        a->fd = in->fd;
        a->end = in->bytes;
        a->thread = tm_worker_thread_start(in->run, read_ahead, a);
    }
    in->ahead = a;
    if (!a)
        tm_budget_put_back(budget, bytes);
    else if (!a->thread)
        tm_input_end_ahead(in);
}

void tm_input_end_ahead(struct tm_input *in)
{
    struct tm_input_ahead *const a = in->ahead;

    if (!a)
        return;
    in->ahead = NULL;
    tm_worker_thread_end(a->thread);
    tm_give(&in->run->budget, TM_ACCOUNT_INPUT, a, sizeof(*a));
    tm_budget_put_back(&in->run->budget, sizeof(*a));
}

/* The thread has done what it was to do. */
static void settle(const struct tm_input *in)
{
    if (in->ahead)
        tm_worker_thread_wait(in->ahead->thread);
}

/* What was read ahead of it. out: how many bytes */
static size_t take_ahead(const struct tm_input_ahead *a, void *to, size_t want, uint64_t at)
{
    const uint64_t before = at - a->at; /* huge if it is in front */
    const size_t have = before < a->got ? a->got - (size_t)before : 0, taken = have < want ? have : want;

    memcpy(to, a->bytes + (taken ? before : 0), taken);
    return taken;
}

static void go_ahead(struct tm_input_ahead *a, uint64_t at)
{
    if (at >= a->end)
        return;
    a->at = at;
    tm_worker_thread_go(a->thread);
}

tm_status tm_input_hold(struct tm_input *in)
{
    tm_status st;

    assert(in->unwrap && !in->held);
    in->spilled = !tm_unwrap_is_file(in->unwrap);
    in->held = !in->spilled;
    in->bytes = in->disk_bytes;
    if (in->held)
        return TM_OK;
    st = tm_spill_open(&in->content, in->run);
    if (st == TM_OK)
        st = read_rest(in);
    in->held = st == TM_OK;
    return st == TM_OK ? tm_spill_resize(&in->content, in->bytes) : st;
}

uint64_t tm_input_unseen(const struct tm_input *in)
{
    settle(in);
    return in->unwrap ? in->bytes - tm_fingerprint_noted(tm_unwrap_fingerprint(in->unwrap)) : 0;
}

tm_status tm_input_approach(const struct tm_input *in, uint64_t at, void *buffer, size_t bytes)
{
    struct tm_gap gap = { 0, 0 };
    tm_status st = TM_OK;
    size_t got;

    assert(in->held);
    settle(in);
    if (in->unwrap)
        gap = tm_fingerprint_gap_before(tm_unwrap_fingerprint(in->unwrap), at);
    for (; st == TM_OK && gap.begin < gap.end; gap.begin += got)
        st = tm_input_read(in, buffer, gap.end - gap.begin < bytes ? (size_t)(gap.end - gap.begin) : bytes, gap.begin,
                           &got);
    return st;
}

tm_status tm_input_finish(struct tm_input *in)
{
    assert(in->held);
    tm_input_end_ahead(in);
    if (!in->unwrap)
        return TM_OK;
    return read_rest(in);
}

tm_status tm_input_read(const struct tm_input *in, void *to, size_t bytes, uint64_t at, size_t *got)
{
    const uint64_t left = at < in->bytes ? in->bytes - at : 0;
    const size_t want = left < bytes ? (size_t)left : bytes;
    size_t ahead = 0;
    tm_status st;

    assert(in->held);
    *got = 0;
    if (want == 0)
        return TM_OK;
    tm_progress_add(&in->run->progress, want);
    if (in->spilled) {
        st = tm_spill_read(&in->content, to, want, at);
        *got = st == TM_OK ? want : 0;
        return st;
    }
    settle(in);
    if (in->ahead)
        ahead = take_ahead(in->ahead, to, want, at);
    st = ahead == want
             ? TM_OK
             : tm_raw_read_at(in->run, in->name, in->fd, (uint8_t *)to + ahead, want - ahead, at + ahead, got);
    *got += ahead;
    if (st == TM_OK && *got < want)
        st = tm_unchanged_refuse_short(in->run, in->name, in->disk_bytes, at + *got);
    if (st == TM_OK && in->unwrap && *got > ahead)
        tm_fingerprint_note(tm_unwrap_fingerprint(in->unwrap), at + ahead, (const uint8_t *)to + ahead, *got - ahead);
    if (st == TM_OK && in->ahead && want >= READS_LEAST)
        go_ahead(in->ahead, at + want);
    return st;
}

void tm_input_close(struct tm_input *in)
{
    if (!in->run)
        return;
    tm_input_end_ahead(in);
    tm_unwrap_free(in->unwrap);
    in->unwrap = NULL;
    if (in->fd >= 0)
        (void)close(in->fd); /* it was only read */
    in->fd = -1;
    tm_spill_close(&in->content);
}
