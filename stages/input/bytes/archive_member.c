/* SPDX-License-Identifier: Apache-2.0 */
/* Reading members of an archive.  It stays open behind the one that was read last, for one that lies ahead. */
#include <archive.h>
#include <archive_entry.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/limits.h"
#include "stages/input/bytes/archive.h"
#include "stages/input/bytes/archive_reader.h"

struct tm_archive_member {
    struct tm_archive_reader reader;
    int64_t modified_ns;
    uint64_t bytes;       /* as told */
    const uint8_t *block; /* of libarchive, until the next one is asked for */
    size_t length;        /* of it */
    uint64_t block_at;    /* where in the member it begins; before that may lie a hole, which is zeros */
    uint64_t at;          /* given so far */
    bool ended;
    bool lost;            /* damaged, or could not be read: nothing after it can be read of this reader */
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
    (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "there is no '%.*s' in '%.*s'", TM_ARCHIVE_SHOWN, name, TM_ARCHIVE_SHOWN, path);
    tm_hint(&run->error, "'tracemill list ARCHIVE' shows the profiles that are in it");
    return TM_ERR_INPUT;
}

/* How the present member of a zip is packed, as libarchive calls it: "deflation" of "ZIP 2.0 (deflation)"; "" = unknown. */
static void tell_packing(const struct tm_archive_reader *r, char *packing, size_t bytes)
{
    const char *const format = archive_format_name(r->archive), *const begin = format ? strchr(format, '(') : NULL;

    (void)snprintf(packing, bytes, "%.*s", begin ? (int)strcspn(begin + 1, ")") : 0, begin ? begin + 1 : "");
}

/* The other ways of packing take as much memory as the member asks for, past any ledger: gigabytes for the dictionary of
 * an lzma, whatever the size of the file. */
static tm_status check_packing(const struct tm_archive_reader *r, const char *name)
{
    char packing[32];

    if (!r->is_zip)
        return TM_OK;
    tell_packing(r, packing, sizeof(packing));
    if (strcmp(packing, "uncompressed") == 0 || strcmp(packing, "deflation") == 0)
        return TM_OK;
    (void)tm_fail(&r->run->error, TM_ERR_INPUT, -1, "cannot unpack '%.*s' of %s: it is packed by '%s', and only deflate is read",
                  TM_ARCHIVE_SHOWN, name, r->shown, packing);
    tm_hint(&r->run->error, "unpack the archive, and give the folder");
    return TM_ERR_INPUT;
}

tm_status tm_archive_entry_require(const struct tm_archive_reader *r, struct archive_entry *entry, const char *name)
{
    if (archive_entry_is_data_encrypted(entry) || archive_entry_is_metadata_encrypted(entry)) {
        (void)tm_fail(&r->run->error, TM_ERR_INPUT, -1, "'%.*s' in %s is encrypted", TM_ARCHIVE_SHOWN, name, r->shown);
        tm_hint(&r->run->error, "unpack the archive with its password, and give the folder");
        return TM_ERR_INPUT;
    }
    return check_packing(r, name);
}

static tm_status check_entry(const struct tm_archive_reader *r, struct archive_entry *entry, const char *name)
{
    const char *const found = tm_archive_entry_name(r, entry);

    if (!found || strcmp(found, name) != 0 || !tm_archive_entry_is_regular(entry))
        return tm_fail(&r->run->error, TM_ERR_INPUT, -1, "%s has changed since it was listed", r->shown);
    return tm_archive_entry_require(r, entry, name);
}

static tm_status find_entry(struct tm_archive_member *m, const char *name, uint64_t position)
{
    struct tm_archive_reader *const r = &m->reader;
    struct archive_entry *entry = NULL;
    enum tm_archive_advance how = TM_ARCHIVE_MEMBER;
    tm_status st = TM_OK;

    while (st == TM_OK && how == TM_ARCHIVE_MEMBER && r->number < position)
        st = tm_archive_reader_next(r, &entry, &how);
    if (st == TM_OK && how != TM_ARCHIVE_MEMBER)
        st = refuse_missing(r->run, r->path, name);
    if (st == TM_OK)
        st = check_entry(r, entry, name);
    if (st != TM_OK)
        return st;
    m->modified_ns = tm_archive_entry_ns(entry);
    m->bytes = tm_archive_entry_bytes(entry);
    return TM_OK;
}

/* The archive that was left open, where it is this one and the member lies ahead; else it is closed.  out: NULL = not */
static struct tm_archive_member *take_left(struct tm_run *run, const char *path, uint64_t position)
{
    struct tm_archive_member *const m = run->archive_left;
    struct tm_archive_reader *const r = m ? &m->reader : NULL;
    struct stat info;

    if (!m || r->number >= position || stat(path, &info) != 0 || info.st_dev != r->device || info.st_ino != r->inode ||
        (uint64_t)info.st_size != r->source.end) {
        tm_archive_end(run);
        return NULL;
    }
    run->archive_left = NULL;
    tm_archive_reader_name(r, path);
    m->block = NULL;
    m->length = 0;
    m->block_at = m->at = 0;
    m->ended = false;
    return m;
}

static tm_status begin_member(struct tm_archive_member **member, struct tm_run *run, const char *path)
{
    *member = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(**member), &run->error);
    return *member ? tm_archive_reader_open(&(*member)->reader, run, path) : run->error.status;
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
    (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "%s has too many profiles that do not lie in the order of their names",
                  r->shown);
    tm_limit_hint(run, "unpack it, and give the folder");
    return TM_ERR_LIMIT;
}

static void free_member(struct tm_archive_member *m)
{
    struct tm_run *const run = m->reader.run;

    tm_archive_reader_close(&m->reader);
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

void tm_archive_end(struct tm_run *run)
{
    if (run->archive_left)
        free_member(run->archive_left);
    run->archive_left = NULL;
}

void tm_archive_close(struct tm_archive_member *member)
{
    if (!member)
        return;
    if (member->lost || member->problem[0]) {
        free_member(member);
        return;
    }
    tm_archive_end(member->reader.run);
    member->reader.run->archive_left = member;
}

/* Damage ends the member where it is; what could not be read from the begin is an error. */
static tm_status end_damaged(struct tm_archive_member *m, int result)
{
    struct tm_archive_reader *const r = &m->reader;
    const tm_status st = tm_archive_reader_refuse(r);
    char reason[128];

    m->ended = m->lost = true;
    if (st != TM_OK)
        return st;
    tm_archive_reader_tell(r, reason, sizeof(reason));
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
    (void)tm_fail(&r->run->error, TM_ERR_LIMIT, -1, "a member of %s holds more than %" PRIu64
                  " times the bytes of the archive, in holes", r->shown, tm_raised_limit(r->run, TM_ARCHIVE_HOLES_TIMES_MOST));
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
        if (m->block_at > TM_ARCHIVE_HOLES_FREE_BYTES && m->block_at / tm_raised_limit(m->reader.run, TM_ARCHIVE_HOLES_TIMES_MOST) > m->reader.source.end)
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
