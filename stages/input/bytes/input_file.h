/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_INPUT_FILE_H
#define TM_INPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/discover.h"
#include "pipeline/files.h"
#include "pipeline/store/rows.h"
#include "pipeline/threads.h"
#include "stages/input/bytes/inflate.h"

/* The kind of a file, detected by its first bytes and never by its name. */
enum tm_file_kind {
    TM_FILE_UNKNOWN,
    TM_FILE_EMPTY, /* no content (an empty file, or a wrapping of nothing, is refused earlier) */
    TM_FILE_XSPACE,
    TM_FILE_CHROME_JSON,
    TM_FILE_ROCPROF_JSON,    /* rocprofv3's own JSON, not trace events */
    TM_FILE_SPEEDSCOPE,      /* samples of a program, without devices */
    TM_FILE_EXECUTION_TRACE, /* PyTorch's graph of operators, which has no kernels */
    TM_FILE_OTHER_JSON,
    TM_FILE_SUMMARY_JSON, /* a summary.json of this program */
    TM_FILE_PARTIAL,      /* a partial of this program, of any version */
    TM_FILE_PERFETTO,
    TM_FILE_OWN_PERFETTO, /* one that this program wrote */
    TM_FILE_PPROF,
    TM_FILE_HLO, /* an HloProto or HloModuleProto */
    TM_FILE_HTML,
    TM_FILE_NSIGHT_REPORT,   /* .nsys-rep, .qdrep: by name, where nothing else fits (input_file.c) */
    TM_FILE_NSIGHT_DATABASE, /* what `nsys export --type sqlite` writes */
    TM_FILE_SQLITE,          /* any other; also rocpd databases */
    TM_FILE_RIEGELI,
    TM_FILE_TENSORBOARD, /* tfevents: TFRecord framing */
    TM_FILE_UTF16,       /* UTF-16 text, whatever its content */
    TM_FILE_SCRIPT,
    TM_FILE_TEXT,
    TM_FILE_PDF,
    TM_FILE_ELF,
    TM_FILE_GIT_LFS, /* a pointer instead of the file */
    TM_FILE_GZIP,
    TM_FILE_ZSTD,
    TM_FILE_XZ,
    TM_FILE_BZIP2,
    TM_FILE_LZ4,
    TM_FILE_TAR,
    TM_FILE_ZIP,
    TM_FILE_SEVEN_ZIP,
    TM_FILE_KINDS
};

enum { TM_KIND_HEAD_BYTES = 64 * 1024 };

/* Detect the kind of a file.
 * in:     first   its first bytes (unwrapped, for a gzip or zstd); more than TM_KIND_HEAD_BYTES are not needed, and
 *         fewer than that are taken as the entire file
 * out: TM_FILE_UNKNOWN if nothing matches */
enum tm_file_kind tm_kind_of(const uint8_t *first, size_t length);

/* The same, of what has a magic number or is a tar, for which TM_KIND_MAGIC_BYTES are enough; all else is
 * TM_FILE_UNKNOWN. */
enum { TM_KIND_MAGIC_BYTES = 512 };

enum tm_file_kind tm_kind_by_magic(const uint8_t *first, size_t length);

/* What a file is compressed with.  A zstd may start with a skippable frame, as pzstd writes it. */
enum tm_wrapping { TM_PLAIN, TM_GZIP, TM_ZSTD };

enum tm_wrapping tm_wrapping_of(const uint8_t *first, size_t length);

/* Whether a file is an archive, by its content: a tar, possibly compressed, or a zip.
 * out:    is_archive  also false if it is not a file or cannot be opened: the reader reports that
 * errors: TM_ERR_LIMIT if there is no memory */
tm_status tm_kind_is_archive(struct tm_run *run, const char *path, bool *is_archive) TM_MUST_USE;

/* Whether the head definitely belongs to a trace, XSpace or Chrome JSON: for files that were not named explicitly.  A
 * JSON text without any sign of events in its first bytes does not count, even if it has some later; nor does a trace
 * that this program converted. */
bool tm_kind_is_trace(const uint8_t *first, size_t length, enum tm_file_kind *kind);

/* Its name in sentences, with the article: "a Chrome trace in JSON". */
const char *tm_kind_name(enum tm_file_kind kind);

/* Whether this version reads it. */
bool tm_kind_can_read(enum tm_file_kind kind);

/* Whether it is read once, as a stream, with all of its events. */
bool tm_kind_is_streamed(enum tm_file_kind kind);

/* What to give instead, one act; never NULL. */
const char *tm_kind_hint(enum tm_file_kind kind);

/* Whether a file that was not named explicitly is a trace, by its first bytes: reads at most 256 KiB of it, and 64 KiB
 * of unwrapped data.  Memory, in the account `input`: 0.6 MiB and the decoder. */

/* The next bytes.  out: got fewer than requested only at the end */
typedef tm_status tm_read_some(void *from, uint8_t *to, size_t bytes, size_t *got);

/* errors: of `read`; TM_ERR_INPUT  a zstd whose window the memory does not allow; TM_ERR_LIMIT of memory */
tm_status tm_sniff(struct tm_run *run, tm_read_some *read, void *from, enum tm_sniffed *sniffed) TM_MUST_USE;

/* The same of a file: a tm_sniff_path for tm_discover.  errors: TM_ERR_INPUT  it cannot be read */
tm_status tm_sniff_file(struct tm_run *run, const char *path, enum tm_sniffed *sniffed) TM_MUST_USE;

/* The wrapping of a file's bytes, detected by its first bytes. */

/* One input.  Opening it determines its kind.  Then its content is either streamed once from start to end (formats that
 * are read in one pass), or held, after which any position can be read repeatedly.  Zeroed = not open. */
struct tm_input {
    struct tm_run *run;
    char path[4096];        /* as given; "-" = stdin */
    char member[4096];      /* of the archive at `path`; "" = the file itself */
    char name[320];         /* for messages: in quotes, cleaned, a long one cut at the front; "stdin" for "-";
                                 'logs.tar.gz' (run1/host.xplane.pb) for a member */
    enum tm_file_kind kind; /* of the content */
    enum tm_wrapping wrapping;
    bool partial;        /* the wrapping was truncated or damaged (the content is the part that could be unwrapped), or
                          * the file grew while it was read.  Complete when all of it has been read */
    uint64_t bytes;      /* of the content, unwrapped.  From here on: known when all of it has been read */
    uint64_t disk_bytes; /* on disk; of a member: its unpacked size */
    uint64_t members;    /* of the gzip, or frames of the zstd */
    uint64_t xxh3;       /* fingerprint of the bytes on disk (of a member: of its bytes): fingerprint.h */
    int64_t modified_ns; /* of the file or member, since the epoch; 0 = not a file */
    uint64_t problem_at; /* byte of the file on disk, where `partial` */
    char problem[512];   /* what is wrong: "the gzip is damaged: ..."; "" = nothing.  Goes to the summary. */
    /* private */
    int fd;                     /* -1 = not open; the file itself, or the archive */
    struct tm_unwrap *unwrap;   /* while the content is streamed, or a file is held that has not all been read */
    struct tm_unchanged opened; /* the file when it was opened */
    bool held, spilled;         /* spilled: the content is in `content`, not in `fd` */
    struct tm_spill content;
    struct tm_input_ahead *ahead; /* NULL = nothing is read ahead */
};

/* The maximum ratio of content to file size for packed inputs that must be held on disk: real profiles have up to 50. 
 * Up to TM_HELD_FREE_BYTES any ratio is allowed. */
enum { TM_HELD_TIMES_MOST = 256, TM_HELD_FREE_BYTES = 256 << 20 };

/* How an input is opened.  Zeroed = the defaults. */
struct tm_input_options {
    const char *member; /* of the archive at `path`, by its name there; NULL = the file itself */
    const char *target; /* the member that holds its content, if it is a link to one; NULL = itself */
    uint64_t position;  /* of that name, from a list of the archive; 0 = unknown: the last one of that name */
    enum tm_inflate_engine engine; /* TM_INFLATE_DEFAULT: the fastest that was built in */
    size_t read_most;              /* bytes that one tm_input_next gives at most, for tests; 0 = no limit */
};

/* Open an input and detect its kind from its first unwrapped bytes.
 * in:     path     a file, or "-" for stdin. options may be NULL
 * owns:   the caller owns it, and tm_input_close releases it, also after a failure
 * errors: TM_ERR_INPUT   missing, unreadable, empty, a folder, no such member, or compressed data of which no byte
 *         could be decompressed
 *         unsupported kinds are not an error here: see tm_input_require */
tm_status tm_input_open(struct tm_input *in, struct tm_run *run, const char *path);
tm_status tm_input_open_with(struct tm_input *in, struct tm_run *run, const char *path,
                             const struct tm_input_options *options);

/* Refuse unsupported kinds: says what the file is and what to use instead.
 * errors: TM_ERR_INPUT */
tm_status tm_input_require_readable(const struct tm_input *in);

/* Stream: the next bytes of the content, in order; the fingerprint is taken on the way.  Nothing is spilled.
 * out:    got     1 to `bytes` bytes; 0 at the end of the content.  After that everything in `in` is known:
 *                 partial and problem if the wrapping is damaged (whether that is an error, --strict, is the
 *                 caller's decision)
 * errors: TM_ERR_INPUT  the file cannot be read, or changed while it was read */
tm_status tm_input_next(struct tm_input *in, void *to, size_t bytes, size_t *got) TM_MUST_USE;

/* Stream: the next bytes where another thread has put them, without a copy, if there is one.  The memory around them may
 * be written to: TM_AHEAD_HEAD_BYTES before, and TM_AHEAD_TAIL_BYTES after.
 * in:     up to two are lent: the older one is returned, and all before tm_input_next
 * out:    at   the bytes
 * returned: how many, TM_AHEAD_BLOCK_BYTES at most; 0: tm_input_next has what follows, also a failure */
size_t tm_input_lend(struct tm_input *in, uint8_t **at);
void tm_input_return(struct tm_input *in);

/* Hold: make every position of the content readable.  Input that is wrapped, in an archive, or comes through a pipe
 * is copied to a spill file.  A plain file is not read now: its fingerprint is computed as it is read, in any order.  Not
 * after tm_input_next.
 * out:    bytes is known; everything else when it is finished
 * errors: as tm_input_next; TM_ERR_OUTPUT the spill file could not be written; TM_ERR_LIMIT it expands to more than
 *         TM_HELD_TIMES_MOST times its bytes */
tm_status tm_input_hold(struct tm_input *in);
/* How many bytes are not in the fingerprint yet: tm_input_finish reads them, most of them again. */
uint64_t tm_input_unseen(const struct tm_input *in);
/* Called before the content is read from a place on: reads what the fingerprint needs in front of it, unless it is
 * cheaper to read what follows again.
 * in:     buffer  scratch memory for what is read
 * errors: as tm_input_read */
tm_status tm_input_approach(const struct tm_input *in, uint64_t at, void *buffer, size_t bytes) TM_MUST_USE;
/* Read what the fingerprint lacks: everything in `in` is known then.  It stays held.
 * errors: as tm_input_next */
tm_status tm_input_finish(struct tm_input *in);

/* Read the content at a place; only after tm_input_hold.
 * out:    got bytes read: fewer than requested only at the end of the content; 0 past it
 * errors: TM_ERR_INPUT with the path and the byte where the file cannot be read or has become shorter;
 *         TM_ERR_OUTPUT if the spill file cannot */
tm_status tm_input_read(const struct tm_input *in, void *to, size_t bytes, uint64_t at, size_t *got) TM_MUST_USE;

/* Until tm_input_finish, of a plain file that is held and large: while the caller decodes what it has read, a thread
 * reads what follows, and takes its fingerprint.  Does nothing where no core or memory is free, or the system makes no
 * thread. */
void tm_input_begin_ahead(struct tm_input *in);
void tm_input_end_ahead(struct tm_input *in); /* tolerates that it was not begun */

/* Whether the file is unchanged since it was opened: for callers that read from it after it was finished.
 * errors: TM_ERR_INPUT  it was written; one that only grew is fine */
tm_status tm_input_check(const struct tm_input *in);

void tm_input_close(struct tm_input *in); /* tolerates a zeroed or closed one */

#endif
