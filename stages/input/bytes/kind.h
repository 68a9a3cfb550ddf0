/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_KIND_H
#define TM_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/discover.h"

/* What a file is, told by its first bytes and never by its name. */
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
    TM_FILE_UTF16,       /* text of 16-bit units, whatever it says */
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

/* Tell the kind of a file.
 * in:     first   its first bytes (unwrapped, of a gzip or zstd); more than TM_KIND_HEAD_BYTES are not needed, and
 *                 fewer than that are taken as the whole file
 * errors: none: what nothing fits is TM_FILE_UNKNOWN */
enum tm_file_kind tm_kind_of(const uint8_t *first, size_t length);

/* The same, of what has a magic number or is a tar, for which TM_KIND_MAGIC_BYTES are enough; all else is
 * TM_FILE_UNKNOWN. */
enum { TM_KIND_MAGIC_BYTES = 512 };

enum tm_file_kind tm_kind_by_magic(const uint8_t *first, size_t length);

/* Whether the head is beyond doubt that of a trace, XSpace or Chrome JSON: for files that nobody named as one.  A JSON
 * text whose first bytes say nothing of events is none, though it may have some further behind; nor is a trace that this
 * program made of another one. */
bool tm_kind_is_trace(const uint8_t *first, size_t length, enum tm_file_kind *kind);

/* What a person calls it, with its article: "a Chrome trace in JSON". */
const char *tm_kind_name(enum tm_file_kind kind);

/* Whether this version reads it. */
bool tm_kind_can_read(enum tm_file_kind kind);

/* What to give instead, one act; never NULL. */
const char *tm_kind_hint(enum tm_file_kind kind);

/* Whether a file that nobody named is a trace, by its first bytes: at most 256 KiB of it are read, and 64 KiB of what
 * is unwrapped.  Memory, of the account `input`: 0.6 MiB and the decoder. */

/* The next bytes.  out: got  fewer than asked for only at the end */
typedef tm_status tm_read_some(void *from, uint8_t *to, size_t bytes, size_t *got);

/* errors: of `read`; TM_ERR_INPUT  a zstd whose window the memory does not allow; TM_ERR_LIMIT of memory */
tm_status tm_sniff(struct tm_run *run, tm_read_some *read, void *from, enum tm_sniffed *sniffed) TM_MUST_USE;

/* The same of a file: a tm_sniff_path for tm_discover_with.  errors: TM_ERR_INPUT  it cannot be read */
tm_status tm_sniff_file(struct tm_run *run, const char *path, enum tm_sniffed *sniffed) TM_MUST_USE;

#endif
