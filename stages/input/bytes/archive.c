/* SPDX-License-Identifier: Apache-2.0 */
/* Reads archives with libarchive, of which only tar and zip are switched on: what a tar is wrapped in is unwrapped
 * here, under the ledger.  It reads through a window of 256 KiB that begins small after each jump, so that members
 * which are passed over cost one small read each where nothing is wrapped.
 * A zip is read by the directory at its end; where that is missing or damaged, by the headers before the members. */
#include "stages/input/bytes/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stages/input/bytes/kind.h"
#include "stages/input/bytes/unwrap.h"
#include "stages/input/bytes/unzstd.h"

enum { BLOCK_BYTES = 256 * 1024, STEP_LEAST = 4096, SHOWN = 200 };

/* The file of the archive, as libarchive sees it through its callbacks. */
struct source {
    int fd;
    uint64_t at, end;         /* where it is not wrapped */
    size_t step;              /* of the next read */
    uint8_t *block;
    struct tm_unwrap *unwrap; /* NULL = not wrapped */
    uint64_t heading;         /* bytes read before the first header: the directory of a zip, which is held */
    bool counts;              /* heading is counted */
    int reason;               /* errno of a read that failed */
    tm_status failed;         /* of the unwrapping; the error is in the run */
    bool too_long;            /* heading is past its limit */
};

struct reader {
    struct tm_run *run;
    const char *path;
    char shown[SHOWN + 3]; /* for messages, in quotes */
    struct source source;
    struct archive *archive;
    struct archive_entry *entry; /* the present member; our own, since libarchive does not see that it has no memory for its */
    locale_t locale;       /* names of zip and pax are UTF-8, and are to stay that */
    bool is_zip, is_wrapped;
    bool in_order;         /* a zip that is read without its directory */
    uint64_t number;       /* of the present member, from 1 */
};

enum advance { ADVANCE_MEMBER, ADVANCE_END, ADVANCE_DAMAGED };

/* --- callbacks --- */

/* The next bytes on disk into the block.  out: 0 at the end, -1 where they cannot be read */
static ssize_t read_block(struct source *s)
{
    const uint64_t left = s->end - s->at;
    const size_t want = left < s->step ? (size_t)left : s->step;
    ssize_t n;

    do
        n = pread(s->fd, s->block, want, (off_t)s->at);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        s->reason = errno;
        return -1;
    }
    s->at += (uint64_t)n;
    s->step = s->step < BLOCK_BYTES / 4 ? s->step * 4 : BLOCK_BYTES;
    return n;
}

static ssize_t read_unwrapped(struct source *s)
{
    size_t got = 0;

    s->failed = tm_unwrap_next(s->unwrap, s->block, BLOCK_BYTES, &got);
    return s->failed == TM_OK ? (ssize_t)got : -1;
}

static la_ssize_t read_source(struct archive *a, void *of, const void **block)
{
    struct source *const s = of;
    const ssize_t n = s->unwrap ? read_unwrapped(s) : read_block(s);

    *block = s->block;
    if (n < 0) {
        archive_set_error(a, s->reason, "it cannot be read");
        return -1;
    }
    s->heading += s->counts ? (uint64_t)n : 0;
    s->too_long = s->heading > TM_ARCHIVE_DIRECTORY_MOST + 2 * BLOCK_BYTES;
    return s->too_long ? -1 : (la_ssize_t)n;
}

static la_int64_t skip_source(struct archive *a, void *of, la_int64_t request)
{
    struct source *const s = of;
    const uint64_t left = s->end - s->at;
    const uint64_t skipped = request <= 0 ? 0 : (uint64_t)request < left ? (uint64_t)request : left;

    (void)a;
    s->at += skipped;
    s->step = STEP_LEAST;
    return (la_int64_t)skipped;
}

static la_int64_t seek_source(struct archive *a, void *of, la_int64_t offset, int whence)
{
    struct source *const s = of;
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

static tm_status refuse_memory(const struct reader *r)
{
    return tm_fail(&r->run->error, TM_ERR_LIMIT, -1, "cannot open %s: no memory left", r->shown);
}

static void end_archive(struct reader *r)
{
    archive_entry_free(r->entry);
    r->entry = NULL;
    if (r->archive)
        (void)archive_read_free(r->archive);
    r->archive = NULL;
    tm_unwrap_free(r->source.unwrap);
    r->source.unwrap = NULL;
}

static void close_reader(struct reader *r)
{
    struct source *const s = &r->source;

    end_archive(r);
    if (r->locale)
        freelocale(r->locale);
    r->locale = (locale_t)0;
    tm_give(&r->run->budget, TM_ACCOUNT_INPUT, s->block, s->block ? BLOCK_BYTES : 0);
    s->block = NULL;
    if (s->fd >= 0)
        (void)close(s->fd); /* it was only read */
    s->fd = -1;
}

/* Formats are what this program is tested with, and no filter, which might be another program.  A zip is read at any
 * place, a tar in order, passing over what is not wanted unless it is wrapped. */
static bool set_up(struct reader *r)
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

static tm_status begin_unwrapping(struct reader *r)
{
    const struct tm_raw raw = { .type = &tm_raw_file, .run = r->run, .name = r->shown, .fd = r->source.fd,
                                .size = r->source.end };

    r->source.unwrap = tm_unwrap_new(&raw, TM_INFLATE_DEFAULT, 0);
    return r->source.unwrap ? TM_OK : r->run->error.status;
}

/* Begin, or begin again, with the first member.  Damage shows when the first header is read. */
static tm_status begin_archive(struct reader *r)
{
    struct source *const s = &r->source;
    tm_status st = TM_OK;

    end_archive(r);
    s->at = 0;
    s->step = STEP_LEAST;
    s->heading = 0;
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

static tm_status open_file(struct reader *r)
{
    struct source *const s = &r->source;
    struct stat info;
    uint8_t first[4];
    ssize_t got;

    s->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0 || fstat(s->fd, &info) != 0)
        return tm_fail_system(&r->run->error, TM_ERR_INPUT, -1, errno, "cannot open %s", r->shown);
    if (!S_ISREG(info.st_mode))
        return tm_fail(&r->run->error, TM_ERR_INPUT, -1, "%s is not a file", r->shown);
    s->end = (uint64_t)info.st_size;
    got = pread(s->fd, first, sizeof(first), 0);
    if (got != sizeof(first))
        return TM_OK; /* no archive: the first header says so */
    r->is_zip = memcmp(first, "PK", 2) == 0;
    r->is_wrapped = memcmp(first, "\x1f\x8b", 2) == 0 || tm_unzstd_is_zstd(first, sizeof(first));
    return TM_OK;
}

static tm_status open_reader(struct reader *r, struct tm_run *run, const char *path)
{
    char clean[SHOWN + 1];
    tm_status st;

    *r = (struct reader){ .run = run, .path = path };
    tm_clean_text(clean, sizeof(clean), path, strlen(path));
    (void)snprintf(r->shown, sizeof(r->shown), "'%s'", clean);
    st = open_file(r);
    if (st != TM_OK)
        return st;
    r->source.block = tm_take(&run->budget, TM_ACCOUNT_INPUT, BLOCK_BYTES, &run->error);
    if (!r->source.block)
        return run->error.status;
    r->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); /* without it some names cannot be told */
    return begin_archive(r);
}

static int next_header(struct reader *r, struct archive_entry **entry)
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

/* What no other try would change. */
static tm_status refuse_source(const struct reader *r)
{
    if (r->source.failed != TM_OK)
        return r->source.failed;
    if (r->source.too_long) {
        (void)tm_fail(&r->run->error, TM_ERR_LIMIT, -1, "the directory of %s takes more than %d MiB",
                      r->shown, (int)(TM_ARCHIVE_DIRECTORY_MOST >> 20));
        tm_hint(&r->run->error, "unpack the part that holds the profiles, and give its folder");
        return TM_ERR_LIMIT;
    }
    if (r->archive && archive_errno(r->archive) == ENOMEM)
        return refuse_memory(r);
    if (r->source.reason != 0)
        return tm_fail_system(&r->run->error, TM_ERR_INPUT, (int64_t)r->source.at, r->source.reason, "cannot read %s",
                              r->shown);
    return TM_OK;
}

static tm_status check_count(const struct reader *r)
{
    if (r->number <= TM_ARCHIVE_MEMBERS_MOST)
        return TM_OK;
    (void)tm_fail(&r->run->error, TM_ERR_LIMIT, -1, "%s has more than %d members", r->shown,
                  (int)TM_ARCHIVE_MEMBERS_MOST);
    tm_hint(&r->run->error, "unpack the part that holds the profiles, and give its folder");
    return TM_ERR_LIMIT;
}

/* The directory of a zip is no good: begin again without it. */
static tm_status rescue_zip(struct reader *r, struct archive_entry **entry, int *result)
{
    tm_status st;

    r->in_order = true;
    st = begin_archive(r);
    if (st != TM_OK)
        return st;
    *result = next_header(r, entry);
    return refuse_source(r);
}

/* Go to the next member.  Names are read under a locale of UTF-8, of this thread and only here. */
static tm_status go_on(struct reader *r, struct archive_entry **entry, enum advance *how)
{
    const locale_t before = r->locale ? uselocale(r->locale) : (locale_t)0;
    int result = next_header(r, entry);
    tm_status st = refuse_source(r);

    if (st == TM_OK && result < ARCHIVE_WARN && r->is_zip && !r->in_order && r->number == 0)
        st = rescue_zip(r, entry, &result);
    if (before)
        (void)uselocale(before);
    if (result == ARCHIVE_EOF)
        *how = ADVANCE_END;
    else
        *how = result < ARCHIVE_WARN ? ADVANCE_DAMAGED : ADVANCE_MEMBER;
    r->number += *how == ADVANCE_MEMBER;
    return st == TM_OK ? check_count(r) : st;
}

/* Why it goes no further: what is wrong with the wrapping explains what is wrong inside. */
static void tell_reason(const struct reader *r, char *reason, size_t bytes)
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

/* out: NULL where it cannot be told, or is longer than a path can be */
static const char *name_of(const struct reader *r, struct archive_entry *entry)
{
    const locale_t before = r->locale ? uselocale(r->locale) : (locale_t)0;
    const char *name = archive_entry_pathname(entry);

    if (!name)
        name = archive_entry_pathname_utf8(entry);
    if (before)
        (void)uselocale(before);
    return name && name[0] && strlen(name) <= TM_MEMBER_NAME_MOST ? name : NULL;
}

static bool is_regular(struct archive_entry *entry)
{
    return archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry);
}

static int64_t time_of(struct archive_entry *entry)
{
    int64_t ns;

    if (!archive_entry_mtime_is_set(entry) ||
        __builtin_mul_overflow((int64_t)archive_entry_mtime(entry), INT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, (int64_t)archive_entry_mtime_nsec(entry), &ns))
        return 0;
    return ns;
}

static uint64_t size_of(struct archive_entry *entry)
{
    const int64_t bytes = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : 0;

    return bytes > 0 ? (uint64_t)bytes : 0;
}

static tm_status take_member(const struct reader *r, struct archive_entry *entry, tm_take_member *take, void *to,
                             struct tm_listing *listing)
{
    const struct tm_member member = { .name = name_of(r, entry), .position = r->number, .bytes = size_of(entry),
                                      .mtime_ns = time_of(entry), .is_regular = is_regular(entry) };

    listing->members++;
    if (member.name)
        return take(to, &member);
    listing->unnamed++;
    return TM_OK;
}

/* A tar ends before its wrapping does: the rest of that holds the check.  out: whether it is damaged */
static tm_status read_rest(struct reader *r, bool *damaged)
{
    struct source *const s = &r->source;
    struct tm_unwrapped all;
    ssize_t n = 1;

    if (!s->unwrap)
        return TM_OK;
    while (n > 0)
        n = read_unwrapped(s);
    tm_unwrap_tell(s->unwrap, &all);
    *damaged = all.problem[0] != '\0';
    return s->failed;
}

static tm_status refuse_damaged(const struct reader *r, const char *reason)
{
    (void)tm_fail(&r->run->error, TM_ERR_INPUT, -1, "cannot read the archive %s: %s", r->shown, reason);
    tm_hint(&r->run->error, "copy the archive again, or take it from where it was written");
    return TM_ERR_INPUT;
}

/* The end of the list: why it ended there. */
static tm_status end_list(struct reader *r, enum advance how, struct tm_listing *listing)
{
    bool damaged = how == ADVANCE_DAMAGED;
    const tm_status st = damaged ? TM_OK : read_rest(r, &damaged);
    char reason[128];

    if (st != TM_OK || (!damaged && !r->in_order))
        return st;
    tell_reason(r, reason, sizeof(reason));
    if (damaged && r->number == 0)
        return refuse_damaged(r, reason);
    if (r->in_order)
        (void)snprintf(reason, sizeof(reason), "the directory at its end is missing or damaged");
    (void)snprintf(listing->problem, sizeof(listing->problem),
                   "the archive is damaged, and what may follow its member %llu is not covered: %s",
                   (unsigned long long)r->number, reason);
    return TM_OK;
}

tm_status tm_archive_list(struct tm_run *run, const char *path, tm_take_member *take, void *to,
                          struct tm_listing *listing)
{
    enum advance how = ADVANCE_MEMBER;
    struct reader r;
    tm_status st = open_reader(&r, run, path);

    *listing = (struct tm_listing){ .members = 0 };
    while (st == TM_OK && how == ADVANCE_MEMBER) {
        struct archive_entry *entry;

        st = go_on(&r, &entry, &how);
        if (st == TM_OK && how == ADVANCE_MEMBER)
            st = take_member(&r, entry, take, to, listing);
    }
    if (st == TM_OK)
        st = end_list(&r, how, listing);
    close_reader(&r);
    return st;
}

/* --- telling an archive --- */

/* Whether what a gzip or zstd wraps begins with the header of a tar: its checksum tells. */
static tm_status look_inside(struct tm_run *run, const char *path, bool *is_tar)
{
    struct archive_entry *entry;
    struct reader r;
    tm_status st = open_reader(&r, run, path);
    const int result = st == TM_OK ? next_header(&r, &entry) : ARCHIVE_FATAL;

    *is_tar = result == ARCHIVE_OK || result == ARCHIVE_WARN;
    if (st == TM_OK && result == ARCHIVE_FATAL && archive_errno(r.archive) == ENOMEM)
        st = refuse_memory(&r);
    close_reader(&r);
    return st;
}

static size_t read_head(const char *path, uint8_t *head)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat info;
    ssize_t n = 0;

    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        n = pread(fd, head, TM_KIND_HEAD_BYTES, 0);
    if (fd >= 0)
        (void)close(fd);
    return n > 0 ? (size_t)n : 0;
}

tm_status tm_archive_is(struct tm_run *run, const char *path, bool *is_archive)
{
    uint8_t *const head = tm_take(&run->budget, TM_ACCOUNT_INPUT, TM_KIND_HEAD_BYTES, &run->error);
    enum tm_file_kind kind;
    tm_status st = TM_OK;
    size_t got;

    *is_archive = false;
    if (!head)
        return run->error.status;
    got = read_head(path, head);
    kind = tm_kind_of(head, got);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, head, TM_KIND_HEAD_BYTES);
    if (kind == TM_FILE_GZIP || kind == TM_FILE_ZSTD)
        st = look_inside(run, path, is_archive);
    else
        *is_archive = kind == TM_FILE_TAR || kind == TM_FILE_ZIP;
    return st;
}

/* --- reading a member --- */

struct tm_archive_member {
    struct reader reader;
    int64_t modified_ns;
    uint64_t bytes;       /* as told */
    const uint8_t *block; /* of libarchive, until the next one is asked for */
    size_t length;        /* of it */
    uint64_t block_at;    /* where in the member it begins; before that may lie a hole, which is zeros */
    uint64_t at;          /* given so far */
    bool ended;
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
    (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "there is no '%.*s' in '%.*s'", SHOWN, name, SHOWN, path);
    tm_hint(&run->error, "'tracemill list ARCHIVE' shows the profiles that are in it");
    return TM_ERR_INPUT;
}

static tm_status check_entry(const struct reader *r, struct archive_entry *entry, const char *name)
{
    const char *const found = name_of(r, entry);

    if (!found || strcmp(found, name) != 0 || !is_regular(entry))
        return tm_fail(&r->run->error, TM_ERR_INPUT, -1, "%s has changed since it was listed", r->shown);
    if (archive_entry_is_data_encrypted(entry) || archive_entry_is_metadata_encrypted(entry)) {
        (void)tm_fail(&r->run->error, TM_ERR_INPUT, -1, "'%.*s' in %s is encrypted", SHOWN, name, r->shown);
        tm_hint(&r->run->error, "unpack the archive with its password, and give the folder");
        return TM_ERR_INPUT;
    }
    return TM_OK;
}

static tm_status find_entry(struct tm_archive_member *m, const char *name, uint64_t position)
{
    struct reader *const r = &m->reader;
    struct archive_entry *entry = NULL;
    enum advance how = ADVANCE_MEMBER;
    tm_status st = TM_OK;

    while (st == TM_OK && how == ADVANCE_MEMBER && r->number < position)
        st = go_on(r, &entry, &how);
    if (st == TM_OK && how != ADVANCE_MEMBER)
        st = refuse_missing(r->run, r->path, name);
    if (st == TM_OK)
        st = check_entry(r, entry, name);
    if (st != TM_OK)
        return st;
    m->modified_ns = time_of(entry);
    m->bytes = size_of(entry);
    return TM_OK;
}

tm_status tm_archive_open(struct tm_archive_member **member, struct tm_run *run, const char *path, const char *name,
                          uint64_t position)
{
    struct search s = { .name = name, .position = position };
    struct tm_archive_member *m;
    struct tm_listing listing;
    tm_status st = TM_OK;

    *member = NULL;
    if (position == 0)
        st = tm_archive_list(run, path, note_position, &s, &listing);
    if (st == TM_OK && s.position == 0)
        st = refuse_missing(run, path, name);
    if (st != TM_OK)
        return st;
    m = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*m), &run->error);
    if (!m)
        return run->error.status;
    st = open_reader(&m->reader, run, path);
    if (st == TM_OK)
        st = find_entry(m, name, s.position);
    if (st == TM_OK)
        *member = m;
    else
        tm_archive_close(m);
    return st;
}

void tm_archive_close(struct tm_archive_member *member)
{
    struct tm_run *run;

    if (!member)
        return;
    run = member->reader.run;
    close_reader(&member->reader);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, member, sizeof(*member));
}

/* Damage ends the member where it is; what could not be read from the begin is an error. */
static tm_status end_damaged(struct tm_archive_member *m, int result)
{
    struct reader *const r = &m->reader;
    const tm_status st = refuse_source(r);
    char reason[128];

    m->ended = true;
    if (st != TM_OK)
        return st;
    tell_reason(r, reason, sizeof(reason));
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

tm_status tm_archive_read(struct tm_archive_member *m, void *to, size_t bytes, size_t *got)
{
    *got = 0;
    while (m->length == 0 && !m->ended) {
        const tm_status st = next_block(m);

        if (st != TM_OK)
            return st;
    }
    if (m->length == 0)
        return TM_OK;
    if (m->at < m->block_at) {
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
