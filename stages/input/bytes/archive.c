/* SPDX-License-Identifier: Apache-2.0 */
/* What is an archive, and what lies in it. */
#include "stages/input/bytes/archive.h"

#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/whole_read.h"
#include "stages/input/bytes/archive_reader.h"
#include "stages/input/bytes/kind.h"
#include "stages/input/bytes/sniff.h"
#include "stages/input/bytes/zip_check.h"

/* --- its members --- */

/* In a zip without a directory libarchive searches for the next header behind what it has read of a member: to look into
 * one may change what follows it, and what is listed has to be what is opened. */
struct present {
    const struct tm_archive_reader *reader;
    struct archive_entry *entry;
};

/* The next bytes of the present member.  What cannot be read ends it: asking for the next member says why. */
static tm_status read_entry(void *from, uint8_t *to, size_t bytes, size_t *got)
{
    const struct tm_archive_reader *const r = ((const struct present *)from)->reader;
    la_ssize_t n = 1;

    for (*got = 0; *got < bytes && n > 0; *got += n > 0 ? (size_t)n : 0)
        n = archive_read_data(r->archive, to + *got, bytes - *got);
    return n < 0 && tm_archive_reader_refuse(r) == TM_ERR_LIMIT ? TM_ERR_LIMIT : TM_OK;
}

static tm_status sniff_member(const struct tm_member *member, enum tm_sniffed *sniffed)
{
    struct present *const p = member->of;
    const struct tm_archive_source *const s = &p->reader->source;
    tm_status st = tm_archive_entry_require(p->reader, p->entry, member->name);

    *sniffed = TM_SNIFFED_OTHER;
    if (st == TM_OK)
        st = tm_sniff(p->reader->run, read_entry, p, sniffed);
    /* an error of the archive itself stays in the run for whoever asks for the next member */
    return st == TM_ERR_INPUT && (s->failed != TM_OK || s->reason != 0) ? TM_OK : st;
}

static bool is_special(struct archive_entry *entry)
{
    const unsigned type = archive_entry_filetype(entry);

    return type == AE_IFCHR || type == AE_IFBLK || type == AE_IFIFO || type == AE_IFSOCK;
}

static tm_status take_member(const struct tm_archive_reader *r, struct archive_entry *entry, tm_take_member *take, void *to,
                             struct tm_listing *listing)
{
    struct present present = { r, entry };
    struct tm_member member = {
        .name = tm_archive_entry_name(r, entry), .position = r->number, .bytes = tm_archive_entry_bytes(entry),
        .mtime_ns = tm_archive_entry_ns(entry), .is_regular = tm_archive_entry_is_regular(entry),
        .is_special = is_special(entry), .sniff = r->in_order ? NULL : sniff_member, .of = &present
    };

    member.link = tm_archive_entry_link(r, entry, &member.is_hard);

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
        n = tm_archive_read_unwrapped(s);
    tm_unwrap_tell(s->unwrap, &all);
    *damaged = all.problem[0] != '\0';
    return s->failed;
}

static tm_status refuse_damaged(const struct tm_archive_reader *r, const char *reason)
{
    (void)tm_fail(&r->run->error, TM_ERR_INPUT, -1, "cannot read the archive %s: %s", r->shown, reason);
    tm_hint(&r->run->error, "copy the archive again, or take it from where it was written");
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
    tm_archive_reader_tell(r, reason, sizeof(reason));
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
    enum tm_archive_advance how = TM_ARCHIVE_MEMBER;
    struct tm_archive_reader r;
    tm_status st = tm_archive_reader_open(&r, run, path);

    *listing = (struct tm_listing){ .members = 0 };
    while (st == TM_OK && how == TM_ARCHIVE_MEMBER) {
        struct archive_entry *entry;

        st = tm_archive_reader_next(&r, &entry, &how);
        if (st == TM_OK && how == TM_ARCHIVE_MEMBER)
            st = take_member(&r, entry, take, to, listing);
    }
    if (st == TM_OK)
        st = end_list(&r, how, listing);
    tm_archive_reader_close(&r);
    return st;
}

/* --- telling an archive --- */

/* Whether what a gzip or zstd wraps is a tar.  Of one that is damaged its reader will say so. */
static tm_status look_inside(struct tm_run *run, const char *path, bool *is_tar)
{
    struct tm_archive_reader r;
    struct tm_archive_source *const s = &r.source;
    size_t length = 0, got;
    tm_status st = tm_archive_reader_open(&r, run, path);

    got = st == TM_OK && s->unwrap; /* what was packed a moment ago may be so no more */
    while (st == TM_OK && s->failed == TM_OK && got && length < TM_KIND_MAGIC_BYTES) {
        s->failed = tm_unwrap_next(s->unwrap, s->block + length, TM_ARCHIVE_BLOCK_BYTES - length, &got);
        length += s->failed == TM_OK ? got : 0;
    }
    if (st == TM_OK)
        *is_tar = tm_kind_by_magic(s->block, length) == TM_FILE_TAR;
    if (st == TM_OK && s->failed == TM_ERR_LIMIT)
        st = s->failed;
    tm_archive_reader_close(&r);
    return st;
}

static tm_status refuse_head(struct tm_run *run, const char *path, const char *act, int problem)
{
    if (problem == EACCES || problem == EPERM)
        tm_hint(&run->error, "check who may read it: 'ls -l' shows its owner and permissions");
    return tm_fail_system(&run->error, TM_ERR_INPUT, -1, problem, "cannot %s '%s'", act, path);
}

/* The begin of a regular file; nothing of anything else, nor where nothing is: whoever reads it will say so. */
static tm_status read_head(struct tm_run *run, const char *path, uint8_t *head, size_t *got)
{
    struct stat info;
    int fd, problem;

    *got = 0;
    if (stat(path, &info) != 0)
        return errno == ENOENT || errno == ENOTDIR ? TM_OK : refuse_head(run, path, "open", errno);
    if (!S_ISREG(info.st_mode))
        return TM_OK;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return refuse_head(run, path, "open", errno);
    problem = tm_read_at(fd, head, TM_KIND_MAGIC_BYTES, 0, got);
    (void)close(fd); /* it was only read */
    return problem ? refuse_head(run, path, "read", problem) : TM_OK;
}

tm_status tm_archive_is(struct tm_run *run, const char *path, bool *is_archive)
{
    uint8_t head[TM_KIND_MAGIC_BYTES];
    enum tm_file_kind kind;
    size_t got;
    tm_status st = read_head(run, path, head, &got);

    *is_archive = false;
    if (st != TM_OK)
        return st;
    kind = tm_kind_by_magic(head, got);
    if (kind == TM_FILE_GZIP || kind == TM_FILE_ZSTD)
        st = look_inside(run, path, is_archive);
    else
        *is_archive = kind == TM_FILE_TAR || kind == TM_FILE_ZIP;
    return st;
}
