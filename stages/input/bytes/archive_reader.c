/* SPDX-License-Identifier: Apache-2.0 */
/* Reads archives with libarchive, of which only tar and zip are switched on: what a tar is wrapped in is unwrapped
 * here, under the ledger.  It reads through a window of 256 KiB that begins small after each jump, so that members
 * which are passed over cost one small read each where nothing is wrapped.
 * A zip is read by the directory at its end; where that is missing or damaged, by the headers before the members. */
#include "stages/input/bytes/archive_reader.h"

#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/limits.h"
#include "pipeline/whole_read.h"
#include "stages/input/bytes/unzstd.h"

enum { STEP_LEAST = 4096 };

/* --- callbacks --- */

/* The next bytes on disk into the block.  out: 0 at the end, -1 where they cannot be read */
static ssize_t read_block(struct tm_archive_source *s)
{
    const uint64_t left = s->end - s->at;
    const size_t want = left < s->step ? (size_t)left : s->step;
    size_t got;

    s->reason = tm_read_at(s->fd, s->block, want, s->at, &got);
    if (s->reason)
        return -1;
    s->at += got;
    s->step = s->step < TM_ARCHIVE_BLOCK_BYTES / 4 ? s->step * 4 : TM_ARCHIVE_BLOCK_BYTES;
    return (ssize_t)got;
}

ssize_t tm_archive_read_unwrapped(struct tm_archive_source *s)
{
    size_t got = 0;

    s->failed = tm_unwrap_next(s->unwrap, s->block, TM_ARCHIVE_BLOCK_BYTES, &got);
    s->unpacked += got;
    return s->failed == TM_OK ? (ssize_t)got : -1;
}

static la_ssize_t read_source(struct archive *a, void *of, const void **block)
{
    struct tm_archive_source *const s = of;
    const ssize_t n = s->unwrap ? tm_archive_read_unwrapped(s) : read_block(s);

    *block = s->block;
    if (n < 0) {
        archive_set_error(a, s->reason, "it cannot be read");
        return -1;
    }
    s->heading += s->counts ? (uint64_t)n : 0;
    s->too_long = s->heading > s->heading_most;
    return s->too_long ? -1 : (la_ssize_t)n;
}

static la_int64_t skip_source(struct archive *a, void *of, la_int64_t request)
{
    struct tm_archive_source *const s = of;
    const uint64_t left = s->end - s->at;
    const uint64_t skipped = request <= 0 ? 0 : (uint64_t)request < left ? (uint64_t)request : left;

    (void)a;
    s->at += skipped;
    s->step = STEP_LEAST;
    return (la_int64_t)skipped;
}

static la_int64_t seek_source(struct archive *a, void *of, la_int64_t offset, int whence)
{
    struct tm_archive_source *const s = of;
    const uint64_t from = whence == SEEK_CUR ? s->at : whence == SEEK_END ? s->end : 0;
    int64_t to;

    (void)a;
    if (__builtin_add_overflow((int64_t)from, offset, &to) || to < 0 || (uint64_t)to > s->end)
        return ARCHIVE_FATAL;
    s->at = (uint64_t)to;
    s->step = STEP_LEAST;
    return to;
}

/* --- the reader --- */

static tm_status refuse_memory(const struct tm_archive_reader *r)
{
    return tm_fail(&r->run->error, TM_ERR_LIMIT, -1, "cannot open %s: no memory left", r->shown);
}

static void end_archive(struct tm_archive_reader *r)
{
    archive_entry_free(r->entry);
    r->entry = NULL;
    if (r->archive)
        (void)archive_read_free(r->archive);
    r->archive = NULL;
    tm_unwrap_free(r->source.unwrap);
    r->source.unwrap = NULL;
}

void tm_archive_reader_close(struct tm_archive_reader *r)
{
    struct tm_archive_source *const s = &r->source;

    end_archive(r);
    if (r->locale)
        freelocale(r->locale);
    r->locale = (locale_t)0;
    tm_give(&r->run->budget, TM_ACCOUNT_INPUT, s->block, s->block ? TM_ARCHIVE_BLOCK_BYTES : 0);
    s->block = NULL;
    if (s->fd >= 0)
        (void)close(s->fd); /* it was only read */
    s->fd = -1;
}

/* Formats are what this program is tested with, and no filter, which might be another program.  A zip is read at any
 * place, a tar in order, passing over what is not wanted unless it is wrapped. */
static bool set_up(struct tm_archive_reader *r)
{
    struct archive *const a = r->archive;
    int result;

    if (r->is_zip)
        result = r->in_order ? archive_read_support_format_zip_streamable(a) :
                               archive_read_support_format_zip_seekable(a);
    else
        result = archive_read_support_format_tar(a);
    if (result != ARCHIVE_OK || archive_read_set_read_callback(a, read_source) != ARCHIVE_OK ||
        archive_read_set_callback_data(a, &r->source) != ARCHIVE_OK)
        return false;
    return r->is_wrapped || (archive_read_set_skip_callback(a, skip_source) == ARCHIVE_OK &&
                             archive_read_set_seek_callback(a, seek_source) == ARCHIVE_OK);
}

static tm_status begin_unwrapping(struct tm_archive_reader *r)
{
    const struct tm_raw_bytes raw = { .type = &tm_raw_file, .run = r->run, .name = r->shown, .fd = r->source.fd,
                                .size = r->source.end };

    r->source.unwrap = tm_unwrap_new(&raw, TM_INFLATE_DEFAULT, 0);
    return r->source.unwrap ? TM_OK : r->run->error.status;
}

/* Begin, or begin again, with the first member.  Damage shows when the first header is read. */
static tm_status begin_archive(struct tm_archive_reader *r)
{
    struct tm_archive_source *const s = &r->source;
    tm_status st = TM_OK;

    end_archive(r);
    s->at = 0;
    s->step = STEP_LEAST;
    s->heading = 0;
    s->heading_most = tm_raised_limit(r->run, TM_ARCHIVE_DIRECTORY_MOST) + 2 * TM_ARCHIVE_BLOCK_BYTES;
    s->counts = true;
    r->number = 0;
    if (r->is_wrapped)
        st = begin_unwrapping(r);
    if (st != TM_OK)
        return st;
    r->archive = archive_read_new();
    r->entry = r->archive ? archive_entry_new2(r->archive) : NULL;
    return r->entry && set_up(r) ? TM_OK : refuse_memory(r);
}

static tm_status open_file(struct tm_archive_reader *r)
{
    struct tm_archive_source *const s = &r->source;
    struct stat info;
    uint8_t first[4];
    size_t got;
    int problem;

    s->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0 || fstat(s->fd, &info) != 0)
        return tm_fail_system(&r->run->error, TM_ERR_INPUT, -1, errno, "cannot open %s", r->shown);
    if (!S_ISREG(info.st_mode))
        return tm_fail(&r->run->error, TM_ERR_INPUT, -1, "%s is not a file", r->shown);
    s->end = (uint64_t)info.st_size;
    r->device = info.st_dev;
    r->inode = info.st_ino;
    s->opened = tm_unchanged_since(&info);
    problem = tm_read_at(s->fd, first, sizeof(first), 0, &got);
    if (problem)
        return tm_fail_system(&r->run->error, TM_ERR_INPUT, 0, problem, "cannot read %s", r->shown);
    if (got != sizeof(first))
        return TM_OK; /* no archive: the first header says so */
    r->is_zip = memcmp(first, "PK", 2) == 0;
    r->is_wrapped = memcmp(first, "\x1f\x8b", 2) == 0 || tm_unzstd_is_zstd(first, sizeof(first));
    return TM_OK;
}

void tm_archive_reader_name(struct tm_archive_reader *r, const char *path)
{
    char clean[TM_ARCHIVE_SHOWN + 1];

    r->path = path;
    tm_clean_text(clean, sizeof(clean), path, strlen(path));
    (void)snprintf(r->shown, sizeof(r->shown), "'%s'", clean);
}

tm_status tm_archive_reader_open(struct tm_archive_reader *r, struct tm_run *run, const char *path)
{
    tm_status st;

    tm_archive_end(run);
    *r = (struct tm_archive_reader){ .run = run };
    tm_archive_reader_name(r, path);
    st = open_file(r);
    if (st != TM_OK)
        return st;
    r->source.block = tm_take(&run->budget, TM_ACCOUNT_INPUT, TM_ARCHIVE_BLOCK_BYTES, &run->error);
    if (!r->source.block)
        return run->error.status;
    r->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); /* without it some names cannot be told */
    return begin_archive(r);
}

static int next_header(struct tm_archive_reader *r, struct archive_entry **entry)
{
    int result = ARCHIVE_OK;

    if (r->number == 0)
        result = archive_read_open1(r->archive);
    if (result == ARCHIVE_OK || result == ARCHIVE_WARN)
        result = archive_read_next_header2(r->archive, r->entry);
    *entry = r->entry;
    r->source.counts = false;
    return result;
}

tm_status tm_archive_reader_refuse(const struct tm_archive_reader *r)
{
    if (r->source.failed != TM_OK)
        return r->source.failed;
    if (r->source.too_long) {
        (void)tm_fail(&r->run->error, TM_ERR_LIMIT, -1, "the directory of %s takes more than %" PRIu64 " MiB",
                      r->shown, tm_raised_limit(r->run, TM_ARCHIVE_DIRECTORY_MOST) >> 20);
        tm_limit_hint(r->run, "unpack the part that holds the profiles, and give its folder");
        return TM_ERR_LIMIT;
    }
    if (r->archive && archive_errno(r->archive) == ENOMEM)
        return refuse_memory(r);
    if (r->source.reason != 0)
        return tm_fail_system(&r->run->error, TM_ERR_INPUT, (int64_t)r->source.at, r->source.reason, "cannot read %s",
                              r->shown);
    return TM_OK;
}

static tm_status check_count(const struct tm_archive_reader *r)
{
    const uint64_t most = tm_raised_limit(r->run, TM_ARCHIVE_MEMBERS_MOST);

    if (r->number <= most)
        return TM_OK;
    (void)tm_fail(&r->run->error, TM_ERR_LIMIT, -1, "%s has more than %" PRIu64 " members", r->shown, most);
    tm_limit_hint(r->run, "unpack the part that holds the profiles, and give its folder");
    return TM_ERR_LIMIT;
}

/* A zip from its beginning.  out: *result  of its first header */
static tm_status begin_zip(struct tm_archive_reader *r, bool in_order, struct archive_entry **entry, int *result)
{
    tm_status st;

    r->in_order = in_order;
    st = begin_archive(r);
    if (st != TM_OK)
        return st;
    *result = next_header(r, entry);
    return tm_archive_reader_refuse(r);
}

/* A zip without a directory.  libarchive says that, too, where it had no memory to look: once more, and then without. */
static tm_status rescue_zip(struct tm_archive_reader *r, struct archive_entry **entry, int *result)
{
    const tm_status st = begin_zip(r, false, entry, result);

    return st == TM_OK && *result < ARCHIVE_WARN ? begin_zip(r, true, entry, result) : st;
}

/* Go to the next member.  Names are read under a locale of UTF-8, of this thread and only here. */
tm_status tm_archive_reader_next(struct tm_archive_reader *r, struct archive_entry **entry, enum tm_archive_advance *how)
{
    const locale_t before = r->locale ? uselocale(r->locale) : (locale_t)0;
    int result = next_header(r, entry);
    tm_status st = tm_archive_reader_refuse(r);

    if (st == TM_OK && result < ARCHIVE_WARN && r->is_zip && !r->in_order && r->number == 0)
        st = rescue_zip(r, entry, &result);
    if (before)
        (void)uselocale(before);
    if (result == ARCHIVE_EOF)
        *how = TM_ARCHIVE_END;
    else
        *how = result < ARCHIVE_WARN ? TM_ARCHIVE_DAMAGED : TM_ARCHIVE_MEMBER;
    r->number += *how == TM_ARCHIVE_MEMBER;
    return st == TM_OK ? check_count(r) : st;
}

void tm_archive_reader_tell(const struct tm_archive_reader *r, char *reason, size_t bytes)
{
    const char *text = archive_error_string(r->archive);
    struct tm_unwrapped all = { .bytes = 0 };

    if (r->source.unwrap)
        tm_unwrap_tell(r->source.unwrap, &all);
    if (all.problem[0])
        text = all.problem;
    else if (!text)
        text = "its structure is lost";
    tm_clean_text(reason, bytes, text, strlen(text));
}

/* --- members --- */

const char *tm_archive_entry_name(const struct tm_archive_reader *r, struct archive_entry *entry)
{
    const locale_t before = r->locale ? uselocale(r->locale) : (locale_t)0;
    const char *name = archive_entry_pathname(entry);

    if (!name)
        name = archive_entry_pathname_utf8(entry);
    if (before)
        (void)uselocale(before);
    return name && name[0] && strlen(name) <= TM_MEMBER_NAME_MOST ? name : NULL;
}

const char *tm_archive_entry_link(const struct tm_archive_reader *r, struct archive_entry *entry, bool *is_hard)
{
    const locale_t before = r->locale ? uselocale(r->locale) : (locale_t)0;
    const char *link = archive_entry_hardlink(entry);

    if (!link)
        link = archive_entry_hardlink_utf8(entry);
    *is_hard = link != NULL;
    if (!link && archive_entry_filetype(entry) == AE_IFLNK)
        link = archive_entry_symlink(entry) ? archive_entry_symlink(entry) : archive_entry_symlink_utf8(entry);
    if (before)
        (void)uselocale(before);
    return link && link[0] ? link : NULL;
}

bool tm_archive_entry_is_regular(struct archive_entry *entry)
{
    return archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry);
}

int64_t tm_archive_entry_ns(struct archive_entry *entry)
{
    int64_t ns;

    if (!archive_entry_mtime_is_set(entry) ||
        __builtin_mul_overflow((int64_t)archive_entry_mtime(entry), INT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, (int64_t)archive_entry_mtime_nsec(entry), &ns))
        return 0;
    return ns;
}

uint64_t tm_archive_entry_bytes(struct archive_entry *entry)
{
    const int64_t bytes = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : 0;

    return bytes > 0 ? (uint64_t)bytes : 0;
}
