/* SPDX-License-Identifier: Apache-2.0 */
/* Detects archives, and lists and reads their members. */
#include "stages/input/bytes/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "pipeline/discover.h"
#include "pipeline/files.h"
#include "pipeline/run.h"
#include "stages/input/bytes/inflate.h"
#include "stages/input/bytes/input_file.h"
#include "stages/input/bytes/unwrap.h"

#define TM_ARCHIVE_AGAIN_BYTES_MOST (UINT64_C(256) << 30) /* unpacked */

/* A member may have holes, which are zeros; where they make it longer than this many times the archive, it is
 * refused. */
enum { TM_ARCHIVE_HOLES_TIMES_MOST = 256, TM_ARCHIVE_HOLES_FREE_BYTES = 256 << 20 };

/* libarchive on one archive: what listing it (archive.c) and reading members of it (archive.c) share. */

enum { TM_ARCHIVE_BLOCK_BYTES = 256 * 1024, TM_ARCHIVE_SHOWN = 200 };

/* The file of the archive, as libarchive sees it through its callbacks. */
struct tm_archive_source {
    int fd;
    struct tm_unchanged opened;
    uint64_t at, end;         /* if it is not wrapped */
    size_t step;              /* of the next read */
    uint8_t *block;           /* TM_ARCHIVE_BLOCK_BYTES */
    struct tm_unwrap *unwrap; /* NULL = not wrapped */
    uint64_t unpacked;        /* bytes that came of it, where it is wrapped */
    uint64_t heading;         /* bytes read before the first header: the directory of a zip, which is held */
    uint64_t heading_most;
    bool counts;      /* heading is counted */
    int reason;       /* errno of a read that failed */
    tm_status failed; /* of the unwrapping; the error is in the run */
    bool too_long;    /* heading is past its limit */
};

struct tm_archive_reader {
    struct tm_run *run;
    const char *path;
    char shown[TM_ARCHIVE_SHOWN + 3]; /* for messages, in quotes */
    struct tm_archive_source source;
    struct archive *archive;
    struct archive_entry
        *entry;      /* the current member; our own, since libarchive misses a failed allocation of its own */
    locale_t locale; /* names of zip and pax are UTF-8, and must stay so */
    bool is_zip, is_wrapped;
    bool in_order;   /* a zip that is read without its directory */
    uint64_t number; /* of the current member, from 1 */
    dev_t device;    /* of the file: with `inode` it says whether another path is the same one */
    ino_t inode;
};

enum tm_archive_advance { TM_ARCHIVE_MEMBER, TM_ARCHIVE_END, TM_ARCHIVE_DAMAGED };

/* Reads archives with libarchive, with only tar and zip enabled: the compression around a tar is removed here, with
 * memory counted in the ledger.  It reads through a window of 256 KiB that starts small after each jump, so that
 * members which are skipped cost one small read each if nothing is wrapped.  A zip is read by the directory at its end;
 * if that is missing or damaged, by the headers before the members. */

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

/* The next unpacked bytes, into the block.  out: 0 at the end, -1 with source->failed */
static ssize_t archive_read_unwrapped(struct tm_archive_source *s)
{
    size_t got = 0;

    s->failed = tm_unwrap_next(s->unwrap, s->block, TM_ARCHIVE_BLOCK_BYTES, &got);
    s->unpacked += got;
    return s->failed == TM_OK ? (ssize_t)got : -1;
}

static la_ssize_t read_source(struct archive *a, void *of, const void **block)
{
    struct tm_archive_source *const s = of;
    const ssize_t n = s->unwrap ? archive_read_unwrapped(s) : read_block(s);

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
    return tm_fail(&r->run->error, TM_ERR_LIMIT, -1, "cannot open %s: out of memory", r->shown);
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

static void archive_reader_close(struct tm_archive_reader *r)
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

/* Only the tested formats are enabled, and no filter, because that might be another program.  A zip is read at any
 * position, a tar in sequence, skipping unwanted members by seeking unless it is wrapped. */
static bool set_up(struct tm_archive_reader *r)
{
    struct archive *const a = r->archive;
    int result;

    if (r->is_zip)
        result =
            r->in_order ? archive_read_support_format_zip_streamable(a) : archive_read_support_format_zip_seekable(a);
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
    const struct tm_raw_bytes raw = {
        .type = &tm_raw_file, .run = r->run, .name = r->shown, .fd = r->source.fd, .size = r->source.end
    };

    r->source.unwrap = tm_unwrap_new(&raw, TM_INFLATE_DEFAULT, 0);
    return r->source.unwrap ? TM_OK : r->run->error.status;
}

/* Start, or restart, at the first member.  Damage shows when the first header is read. */
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
    r->is_wrapped = tm_wrapping_of(first, sizeof(first)) != TM_PLAIN;
    return TM_OK;
}

/* The same archive by another path, which has to stay. */
static void archive_reader_name(struct tm_archive_reader *r, const char *path)
{
    char clean[TM_ARCHIVE_SHOWN + 1];

    r->path = path;
    tm_clean_text(clean, sizeof(clean), path, strlen(path));
    (void)snprintf(r->shown, sizeof(r->shown), "'%s'", clean);
}

/* Open it; an archive that the run has open after a member is closed.
 * owns:   archive_reader_close releases it, also after a failure
 * errors: TM_ERR_INPUT, TM_ERR_LIMIT */
static tm_status archive_reader_open(struct tm_archive_reader *r, struct tm_run *run, const char *path)
{
    tm_status st;

    tm_close_left_open(run);
    *r = (struct tm_archive_reader){ .run = run };
    archive_reader_name(r, path);
    st = open_file(r);
    if (st != TM_OK)
        return st;
    r->source.block = tm_take(&run->budget, TM_ACCOUNT_INPUT, TM_ARCHIVE_BLOCK_BYTES, &run->error);
    if (!r->source.block)
        return run->error.status;
    r->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); /* without it some names cannot be decoded */
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

/* Errors that a retry would not change: memory, limits, a disk that fails; else TM_OK. */
static tm_status archive_reader_refuse(const struct tm_archive_reader *r)
{
    if (r->source.failed != TM_OK)
        return r->source.failed;
    if (r->source.too_long) {
        (void)tm_fail(&r->run->error, TM_ERR_LIMIT, -1, "the directory of %s takes more than %" PRIu64 " MiB", r->shown,
                      tm_raised_limit(r->run, TM_ARCHIVE_DIRECTORY_MOST) >> 20);
        tm_limit_hint(r->run, "unpack the part that contains the profiles, and pass its folder");
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
    tm_limit_hint(r->run, "unpack the part that contains the profiles, and pass its folder");
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
    return archive_reader_refuse(r);
}

/* A zip without a directory.  libarchive also reports that if it ran out of memory while looking: retry once, then
 * continue without. */
static tm_status rescue_zip(struct tm_archive_reader *r, struct archive_entry **entry, int *result)
{
    const tm_status st = begin_zip(r, false, entry, result);

    return st == TM_OK && *result < ARCHIVE_WARN ? begin_zip(r, true, entry, result) : st;
}

/* Go to the next member.  out: how, *entry  it, a view */
/* Go to the next member.  Names are read under a locale of UTF-8, of this thread and only here. */
static tm_status archive_reader_next(struct tm_archive_reader *r, struct archive_entry **entry,
                                     enum tm_archive_advance *how)
{
    const locale_t before = r->locale ? uselocale(r->locale) : (locale_t)0;
    int result = next_header(r, entry);
    tm_status st = archive_reader_refuse(r);

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

/* The reason for a premature end: a problem of the wrapping explains a problem inside. */
static void archive_reader_tell(const struct tm_archive_reader *r, char *reason, size_t bytes)
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

/* out: NULL if it cannot be reported, or is longer than a path can be */
static const char *archive_entry_name(const struct tm_archive_reader *r, struct archive_entry *entry)
{
    const locale_t before = r->locale ? uselocale(r->locale) : (locale_t)0;
    const char *name = archive_entry_pathname(entry);

    if (!name)
        name = archive_entry_pathname_utf8(entry);
    if (before)
        (void)uselocale(before);
    return name && name[0] && strlen(name) <= TM_MEMBER_NAME_MOST ? name : NULL;
}

/* The target of a link, a view; NULL = it is no link, or its target cannot be reported.  out: *is_hard */
static const char *archive_entry_link(const struct tm_archive_reader *r, struct archive_entry *entry, bool *is_hard)
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

static bool archive_entry_is_regular(struct archive_entry *entry)
{
    return archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry);
}

/* when it was changed; 0 = not recorded */
static int64_t archive_entry_ns(struct archive_entry *entry)
{
    int64_t ns;

    if (!archive_entry_mtime_is_set(entry) ||
        __builtin_mul_overflow((int64_t)archive_entry_mtime(entry), INT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, (int64_t)archive_entry_mtime_nsec(entry), &ns))
        return 0;
    return ns;
}

/* as recorded in the archive; 0 = not recorded */
static uint64_t archive_entry_bytes(struct archive_entry *entry)
{
    const int64_t bytes = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : 0;

    return bytes > 0 ? (uint64_t)bytes : 0;
}

/* --- its members --- */

/* In a zip without a directory, libarchive searches for the next header after the part of a member that was read:
 * looking into one may change what follows it, and the members listed must be those that are opened. */
struct present {
    const struct tm_archive_reader *reader;
    struct archive_entry *entry;
};

/* The next bytes of the current member.  What cannot be read ends it: asking for the next member says why. */
static tm_status read_entry(void *from, uint8_t *to, size_t bytes, size_t *got)
{
    const struct tm_archive_reader *const r = ((const struct present *)from)->reader;
    la_ssize_t n = 1;

    for (*got = 0; *got < bytes && n > 0; *got += n > 0 ? (size_t)n : 0)
        n = archive_read_data(r->archive, to + *got, bytes - *got);
    return n < 0 && archive_reader_refuse(r) == TM_ERR_LIMIT ? TM_ERR_LIMIT : TM_OK;
}

static tm_status archive_entry_require(const struct tm_archive_reader *r, struct archive_entry *entry,
                                       const char *name);

static tm_status sniff_member(const struct tm_member *member, enum tm_sniffed *sniffed)
{
    struct present *const p = member->of;
    const struct tm_archive_source *const s = &p->reader->source;
    tm_status st = archive_entry_require(p->reader, p->entry, member->name);

    *sniffed = TM_SNIFFED_OTHER;
    if (st == TM_OK)
        st = tm_sniff(p->reader->run, read_entry, p, sniffed);
    /* an error of the archive itself stays in the run for the code that requests the next member */
    return st == TM_ERR_INPUT && (s->failed != TM_OK || s->reason != 0) ? TM_OK : st;
}

static bool is_special(struct archive_entry *entry)
{
    const unsigned type = archive_entry_filetype(entry);

    return type == AE_IFCHR || type == AE_IFBLK || type == AE_IFIFO || type == AE_IFSOCK;
}

static tm_status take_member(const struct tm_archive_reader *r, struct archive_entry *entry, tm_take_member *take,
                             void *to, struct tm_listing *listing)
{
    struct present present = { r, entry };
    struct tm_member member = { .name = archive_entry_name(r, entry),
                                .position = r->number,
                                .bytes = archive_entry_bytes(entry),
                                .mtime_ns = archive_entry_ns(entry),
                                .is_regular = archive_entry_is_regular(entry),
                                .is_special = is_special(entry),
                                .sniff = r->in_order ? NULL : sniff_member,
                                .of = &present };

    member.link = archive_entry_link(r, entry, &member.is_hard);

    listing->members++;
    if (member.name)
        return take(to, &member);
    listing->unnamed++;
    return TM_OK;
}

/* A tar ends before its wrapping does: the rest of that holds the check.  out: whether it is damaged */
static tm_status read_rest(struct tm_archive_reader *r, bool *damaged)
{
    struct tm_archive_source *const s = &r->source;
    struct tm_unwrapped all;
    ssize_t n = 1;

    if (!s->unwrap)
        return TM_OK;
    while (n > 0)
        n = archive_read_unwrapped(s);
    tm_unwrap_tell(s->unwrap, &all);
    *damaged = all.problem[0] != '\0';
    return s->failed;
}

static tm_status refuse_damaged(const struct tm_archive_reader *r, const char *reason)
{
    (void)tm_fail(&r->run->error, TM_ERR_INPUT, -1, "cannot read the archive %s: %s", r->shown, reason);
    tm_hint(&r->run->error, "copy the archive again from its original location");
    return TM_ERR_INPUT;
}

/* The end of the list: why it ended there. */
static tm_status end_list(struct tm_archive_reader *r, enum tm_archive_advance how, struct tm_listing *listing)
{
    bool damaged = how == TM_ARCHIVE_DAMAGED;
    tm_status st = damaged ? TM_OK : read_rest(r, &damaged);
    char reason[128];

    if (st == TM_OK && !damaged && r->is_zip && !r->in_order)
        st = tm_zip_check(r->run, r->source.fd, r->source.end, r->shown, listing->problem);
    if (st != TM_OK || (!damaged && !r->in_order))
        return st;
    archive_reader_tell(r, reason, sizeof(reason));
    if (damaged && r->number == 0)
        return refuse_damaged(r, reason);
    if (r->in_order)
        (void)snprintf(reason, sizeof(reason), "the directory at its end is missing or damaged");
    (void)snprintf(listing->problem, sizeof(listing->problem),
                   "the archive is damaged; members after member %llu are not covered: %s",
                   (unsigned long long)r->number, reason);
    return TM_OK;
}

tm_status tm_archive_list(struct tm_run *run, const char *path, tm_take_member *take, void *to,
                          struct tm_listing *listing)
{
    enum tm_archive_advance how = TM_ARCHIVE_MEMBER;
    struct tm_archive_reader r;
    tm_status st = archive_reader_open(&r, run, path);

    *listing = (struct tm_listing){ .members = 0 };
    while (st == TM_OK && how == TM_ARCHIVE_MEMBER) {
        struct archive_entry *entry;

        st = archive_reader_next(&r, &entry, &how);
        if (st == TM_OK && how == TM_ARCHIVE_MEMBER)
            st = take_member(&r, entry, take, to, listing);
    }
    if (st == TM_OK)
        st = end_list(&r, how, listing);
    archive_reader_close(&r);
    return st;
}

tm_status tm_archive_is_wrapped_tar(struct tm_run *run, const char *path, bool *is_tar)
{
    struct tm_archive_reader r;
    struct tm_archive_source *const s = &r.source;
    size_t length = 0, got;
    tm_status st = archive_reader_open(&r, run, path);

    got = st == TM_OK && s->unwrap; /* what was packed a moment ago may no longer be */
    while (st == TM_OK && s->failed == TM_OK && got && length < TM_KIND_MAGIC_BYTES) {
        s->failed = tm_unwrap_next(s->unwrap, s->block + length, TM_ARCHIVE_BLOCK_BYTES - length, &got);
        length += s->failed == TM_OK ? got : 0;
    }
    if (st == TM_OK)
        *is_tar = tm_kind_by_magic(s->block, length) == TM_FILE_TAR;
    if (st == TM_OK && s->failed == TM_ERR_LIMIT)
        st = s->failed;
    archive_reader_close(&r);
    return st;
}

/* Reading members of an archive.  It stays open after the last member read, for a later one. */

struct tm_archive_member {
    struct tm_archive_reader reader;
    int64_t modified_ns;
    uint64_t bytes;       /* as told */
    const uint8_t *block; /* of libarchive, until the next one is requested */
    size_t length;        /* of it */
    uint64_t block_at;    /* where in the member it starts; a hole, which is zeros, may precede it */
    uint64_t at;          /* given so far */
    bool ended;
    bool lost; /* damaged, or could not be read: nothing after it can be read with this reader */
    char problem[256];
};

struct search {
    const char *name;
    uint64_t position;
};

static tm_status note_position(void *to, const struct tm_member *member)
{
    struct search *const s = to;

    if (member->is_regular && strcmp(member->name, s->name) == 0)
        s->position = member->position;
    return TM_OK;
}

static tm_status refuse_missing(struct tm_run *run, const char *path, const char *name)
{
    (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "there is no '%.*s' in '%.*s'", TM_ARCHIVE_SHOWN, name,
                  TM_ARCHIVE_SHOWN, path);
    tm_hint(&run->error, "'tracemill list ARCHIVE' lists the profiles in it");
    return TM_ERR_INPUT;
}

/* How the current member of a zip is packed, as libarchive calls it: "deflation" of "ZIP 2.0 (deflation)"; "" =
 * unknown. */
static void tell_packing(const struct tm_archive_reader *r, char *packing, size_t bytes)
{
    const char *const format = archive_format_name(r->archive), *const begin = format ? strchr(format, '(') : NULL;

    (void)snprintf(packing, bytes, "%.*s", begin ? (int)strcspn(begin + 1, ")") : 0, begin ? begin + 1 : "");
}

/* Other compression methods take as much memory as the member requests, outside of the ledger: gigabytes for the
 * dictionary of an lzma, regardless of the size of the file. */
static tm_status check_packing(const struct tm_archive_reader *r, const char *name)
{
    char packing[32];

    if (!r->is_zip)
        return TM_OK;
    tell_packing(r, packing, sizeof(packing));
    if (strcmp(packing, "uncompressed") == 0 || strcmp(packing, "deflation") == 0)
        return TM_OK;
    (void)tm_fail(&r->run->error, TM_ERR_INPUT, -1,
                  "cannot unpack '%.*s' of %s: it is compressed with '%s', but only deflate is supported",
                  TM_ARCHIVE_SHOWN, name, r->shown, packing);
    tm_hint(&r->run->error, "unpack the archive, and pass the folder");
    return TM_ERR_INPUT;
}

/* Whether the content of the current member can be read (archive.c).
 * errors: TM_ERR_INPUT  it is encrypted, or its compression method is not supported */
static tm_status archive_entry_require(const struct tm_archive_reader *r, struct archive_entry *entry, const char *name)
{
    if (archive_entry_is_data_encrypted(entry) || archive_entry_is_metadata_encrypted(entry)) {
        (void)tm_fail(&r->run->error, TM_ERR_INPUT, -1, "'%.*s' in %s is encrypted", TM_ARCHIVE_SHOWN, name, r->shown);
        tm_hint(&r->run->error, "unpack the archive with its password, and pass the folder");
        return TM_ERR_INPUT;
    }
    return check_packing(r, name);
}

static tm_status check_entry(const struct tm_archive_reader *r, struct archive_entry *entry, const char *name)
{
    const char *const found = archive_entry_name(r, entry);

    if (!found || strcmp(found, name) != 0 || !archive_entry_is_regular(entry))
        return tm_fail(&r->run->error, TM_ERR_INPUT, -1, "%s has changed since it was listed", r->shown);
    return archive_entry_require(r, entry, name);
}

static tm_status find_entry(struct tm_archive_member *m, const char *name, uint64_t position)
{
    struct tm_archive_reader *const r = &m->reader;
    struct archive_entry *entry = NULL;
    enum tm_archive_advance how = TM_ARCHIVE_MEMBER;
    tm_status st = TM_OK;

    while (st == TM_OK && how == TM_ARCHIVE_MEMBER && r->number < position)
        st = archive_reader_next(r, &entry, &how);
    if (st == TM_OK && how != TM_ARCHIVE_MEMBER)
        st = refuse_missing(r->run, r->path, name);
    if (st == TM_OK)
        st = check_entry(r, entry, name);
    if (st != TM_OK)
        return st;
    m->modified_ns = archive_entry_ns(entry);
    m->bytes = archive_entry_bytes(entry);
    return TM_OK;
}

/* The archive that was left open, if it is this one and the member comes later; else it is closed. out: NULL = not */
static struct tm_archive_member *take_left(struct tm_run *run, const char *path, uint64_t position)
{
    struct tm_archive_member *const m = run->left_open.what;
    struct tm_archive_reader *const r = m ? &m->reader : NULL;
    struct stat info;

    if (!m || r->number >= position || stat(path, &info) != 0 || info.st_dev != r->device || info.st_ino != r->inode ||
        (uint64_t)info.st_size != r->source.end) {
        tm_close_left_open(run);
        return NULL;
    }
    run->left_open = (struct tm_left_open){ .close = NULL };
    archive_reader_name(r, path);
    m->block = NULL;
    m->length = 0;
    m->block_at = m->at = 0;
    m->ended = false;
    return m;
}

static tm_status begin_member(struct tm_archive_member **member, struct tm_run *run, const char *path)
{
    *member = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(**member), &run->error);
    return *member ? archive_reader_open(&(*member)->reader, run, path) : run->error.status;
}

/* A pass over the archive came this far, for which the directory of a zip was read as a whole. */
static tm_status count_again(const struct tm_archive_reader *r)
{
    enum { ENTRY_BYTES = 128 }; /* as they take in a directory, more or less */
    struct tm_run *const run = r->run;

    run->archive_again_members += r->number + (r->is_zip ? r->source.heading / ENTRY_BYTES : 0);
    run->archive_again_bytes += r->source.unpacked;
    if (run->archive_again_members <= tm_raised_limit(run, TM_ARCHIVE_AGAIN_MEMBERS_MOST) &&
        run->archive_again_bytes <= tm_raised_limit(run, TM_ARCHIVE_AGAIN_BYTES_MOST))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "%s has too many profiles that are not sorted by name", r->shown);
    tm_limit_hint(run, "unpack it, and pass the folder");
    return TM_ERR_LIMIT;
}

static void free_member(void *member)
{
    struct tm_archive_member *const m = member;
    struct tm_run *const run = m->reader.run;

    archive_reader_close(&m->reader);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, m, sizeof(*m));
}

tm_status tm_archive_open(struct tm_archive_member **member, struct tm_run *run, const char *path, const char *name,
                          uint64_t position)
{
    struct search s = { .name = name, .position = position };
    struct tm_archive_member *m;
    struct tm_listing listing;
    tm_status st = TM_OK;
    bool is_again;

    *member = NULL;
    if (position == 0)
        st = tm_archive_list(run, path, note_position, &s, &listing);
    if (st == TM_OK && s.position == 0)
        st = refuse_missing(run, path, name);
    if (st != TM_OK)
        return st;
    m = take_left(run, path, s.position);
    is_again = !m;
    if (!m)
        st = begin_member(&m, run, path);
    if (st == TM_OK)
        st = find_entry(m, name, s.position);
    if (st == TM_OK && is_again)
        st = count_again(&m->reader);
    if (st == TM_OK)
        *member = m;
    else if (m)
        free_member(m);
    return st;
}

void tm_archive_close(struct tm_archive_member *member)
{
    if (!member)
        return;
    if (member->lost || member->problem[0]) {
        free_member(member);
        return;
    }
    tm_close_left_open(member->reader.run);
    member->reader.run->left_open = (struct tm_left_open){ .what = member, .close = free_member };
}

/* Damage ends the member where it is; what could not be read from the start is an error. */
static tm_status end_damaged(struct tm_archive_member *m, int result)
{
    struct tm_archive_reader *const r = &m->reader;
    const tm_status st = archive_reader_refuse(r);
    char reason[128];

    m->ended = m->lost = true;
    if (st != TM_OK)
        return st;
    archive_reader_tell(r, reason, sizeof(reason));
    if (result == ARCHIVE_FAILED && m->at == 0)
        return tm_fail(&r->run->error, TM_ERR_INPUT, -1, "cannot unpack a member of %s: %s", r->shown, reason);
    (void)snprintf(m->problem, sizeof(m->problem), "the archive is damaged in this member, after %llu bytes of it: %s",
                   (unsigned long long)m->at, reason);
    return TM_OK;
}

/* A check that fails comes with the last block. */
static tm_status next_block(struct tm_archive_member *m)
{
    const void *block = NULL;
    size_t length = 0;
    la_int64_t at = 0;
    const int result = archive_read_data_block(m->reader.archive, &block, &length, &at);
    const bool some = (result == ARCHIVE_OK || result == ARCHIVE_WARN) && length > 0;

    m->block = block;
    m->length = some ? length : 0;
    m->block_at = some ? (uint64_t)at : m->at; /* no hole without data after it */
    m->ended = result == ARCHIVE_EOF;
    if (m->block_at < m->at) {
        m->length = 0;
        return end_damaged(m, ARCHIVE_FATAL);
    }
    return result == ARCHIVE_OK || result == ARCHIVE_EOF ? TM_OK : end_damaged(m, result);
}

/* A hole costs nothing in the archive, and is as many zeros as it claims. */
static tm_status refuse_hole(struct tm_archive_member *m)
{
    struct tm_archive_reader *const r = &m->reader;

    m->lost = true;
    (void)tm_fail(&r->run->error, TM_ERR_LIMIT, -1,
                  "a member of %s is more than %" PRIu64 " times as large as the archive, in sparse holes", r->shown,
                  tm_raised_limit(r->run, TM_ARCHIVE_HOLES_TIMES_MOST));
    tm_limit_hint(r->run, "unpack it first");
    return TM_ERR_LIMIT;
}

tm_status tm_archive_read(struct tm_archive_member *m, void *to, size_t bytes, size_t *got)
{
    *got = 0;
    while (m->length == 0 && !m->ended) {
        const tm_status st = next_block(m);

        if (st != TM_OK)
            return st;
    }
    if (m->length == 0)
        return tm_unchanged_check(m->reader.source.opened, m->reader.source.fd, true, m->reader.run, m->reader.shown);
    if (m->at < m->block_at) {
        if (m->block_at > TM_ARCHIVE_HOLES_FREE_BYTES &&
            m->block_at / tm_raised_limit(m->reader.run, TM_ARCHIVE_HOLES_TIMES_MOST) > m->reader.source.end)
            return refuse_hole(m);
        const uint64_t hole = m->block_at - m->at;

        *got = hole < bytes ? (size_t)hole : bytes;
        memset(to, 0, *got);
    } else {
        *got = m->length < bytes ? m->length : bytes;
        memcpy(to, m->block, *got);
        m->block += *got;
        m->length -= *got;
        m->block_at += *got;
    }
    m->at += *got;
    return TM_OK;
}

const char *tm_archive_problem(const struct tm_archive_member *member)
{
    return member->problem[0] ? member->problem : NULL;
}

int64_t tm_archive_modified_ns(const struct tm_archive_member *member)
{
    return member->modified_ns;
}

uint64_t tm_archive_bytes(const struct tm_archive_member *member)
{
    return member->bytes;
}
