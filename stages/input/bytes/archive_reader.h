/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ARCHIVE_READER_H
#define TM_ARCHIVE_READER_H

#include <archive.h>
#include <locale.h>
#include <sys/types.h>

#include "pipeline/unchanged.h"
#include "stages/input/bytes/archive.h"
#include "stages/input/bytes/unwrap.h"

/* libarchive on one archive: what listing it (archive.c) and reading members of it (archive_member.c) share. */

enum { TM_ARCHIVE_BLOCK_BYTES = 256 * 1024, TM_ARCHIVE_SHOWN = 200 };

/* The file of the archive, as libarchive sees it through its callbacks. */
struct tm_archive_source {
    int fd;
    struct tm_unchanged opened;
    uint64_t at, end;         /* where it is not wrapped */
    size_t step;              /* of the next read */
    uint8_t *block;           /* TM_ARCHIVE_BLOCK_BYTES */
    struct tm_unwrap *unwrap; /* NULL = not wrapped */
    uint64_t unpacked;        /* bytes that came of it, where it is wrapped */
    uint64_t heading;         /* bytes read before the first header: the directory of a zip, which is held */
    uint64_t heading_most;
    bool counts;              /* heading is counted */
    int reason;               /* errno of a read that failed */
    tm_status failed;         /* of the unwrapping; the error is in the run */
    bool too_long;            /* heading is past its limit */
};

struct tm_archive_reader {
    struct tm_run *run;
    const char *path;
    char shown[TM_ARCHIVE_SHOWN + 3]; /* for messages, in quotes */
    struct tm_archive_source source;
    struct archive *archive;
    struct archive_entry *entry; /* the present member; our own, since libarchive does not see that it has no memory for its */
    locale_t locale;             /* names of zip and pax are UTF-8, and are to stay that */
    bool is_zip, is_wrapped;
    bool in_order;   /* a zip that is read without its directory */
    uint64_t number; /* of the present member, from 1 */
    dev_t device;    /* of the file: with `inode` it tells whether another path is the same one */
    ino_t inode;
};

enum tm_archive_advance { TM_ARCHIVE_MEMBER, TM_ARCHIVE_END, TM_ARCHIVE_DAMAGED };

/* Open it; an archive that the run has open behind a member is closed.
 * owns:   tm_archive_reader_close releases it, also after a failure
 * errors: TM_ERR_INPUT, TM_ERR_LIMIT */
tm_status tm_archive_reader_open(struct tm_archive_reader *r, struct tm_run *run, const char *path) TM_MUST_USE;
void tm_archive_reader_close(struct tm_archive_reader *r);

/* The same archive by another path, which has to stay. */
void tm_archive_reader_name(struct tm_archive_reader *r, const char *path);

/* Go to the next member.  out: how, *entry  it, a view */
tm_status tm_archive_reader_next(struct tm_archive_reader *r, struct archive_entry **entry,
                                 enum tm_archive_advance *how) TM_MUST_USE;

/* What no other try would change: memory, limits, a disk that fails; else TM_OK. */
tm_status tm_archive_reader_refuse(const struct tm_archive_reader *r) TM_MUST_USE;

/* Why it goes no further: what is wrong with the wrapping explains what is wrong inside. */
void tm_archive_reader_tell(const struct tm_archive_reader *r, char *reason, size_t bytes);

/* The next unpacked bytes, into the block.  out: 0 at the end, -1 with source->failed */
ssize_t tm_archive_read_unwrapped(struct tm_archive_source *s);

/* out: NULL where it cannot be told, or is longer than a path can be */
const char *tm_archive_entry_name(const struct tm_archive_reader *r, struct archive_entry *entry);
/* What it is a link to, a view; NULL = it is none, or that cannot be told.  out: *is_hard */
const char *tm_archive_entry_link(const struct tm_archive_reader *r, struct archive_entry *entry, bool *is_hard);
bool tm_archive_entry_is_regular(struct archive_entry *entry);
int64_t tm_archive_entry_ns(struct archive_entry *entry);     /* when it was changed; 0 = not told */
uint64_t tm_archive_entry_bytes(struct archive_entry *entry); /* as the archive tells; 0 = not told */
/* Whether the content of the present member can be read (archive_member.c).
 * errors: TM_ERR_INPUT  it is encrypted, or packed in a way that is not read */
tm_status tm_archive_entry_require(const struct tm_archive_reader *r, struct archive_entry *entry,
                                   const char *name) TM_MUST_USE;

#endif
