/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DISCOVER_H
#define TM_DISCOVER_H

#include <stdbool.h>

#include "pipeline/run.h"

/* Finds what an INPUT argument means: a file, a run folder, or a log directory that holds run folders at any
 * depth.  A run folder is one that holds trace files by their names:
 *     HOST.xplane.pb[.gz], *.trace.json[.gz], perfetto_trace.json[.gz]
 * Everything found lives in the account `model`. */
enum tm_found_kind { /* the better ones first */
    TM_FOUND_XPLANE,
    TM_FOUND_TRACE_JSON,
    TM_FOUND_PERFETTO_JSON,
    TM_FOUND_COPY, /* a .gz beside the same file uncompressed: never to be read as well */
    TM_FOUND_FILE, /* named itself: its content decides */
};

struct tm_found_file {
    char *path; /* for opening */
    char *host; /* file name without its ending, cleaned; at most TM_HOST_MOST bytes; one of its kind in the run */
    uint64_t bytes;
    int64_t mtime_ns;
    enum tm_found_kind kind;
};

struct tm_found_run {
    char *name;        /* last part of the folder, or its path below the argument where two share that */
    char *folder;      /* as reached from the argument; a file: the file itself */
    int64_t when_ns;   /* of the date in its name (YYYY_MM_DD_hh_mm_ss), else mtime_ns: gives the order */
    int64_t mtime_ns;  /* of its newest file */
    uint64_t bytes;    /* of all its files */
    struct tm_found_file *files; /* by kind, host, path (bytewise) */
    size_t all_count;  /* of files */
    size_t file_count; /* the first ones, of the best kind that is there: those to be read */
    size_t capacity;   /* private */
};

struct tm_found {
    struct tm_run *run;
    struct tm_found_run *runs; /* oldest first */
    size_t run_count;
    uint64_t folders;    /* that were searched */
    uint64_t unreadable; /* folders that could not be */
    uint64_t too_deep;   /* folders below TM_DISCOVER_DEPTH_MOST, which were not searched */
    size_t capacity;     /* private */
};

enum { TM_DISCOVER_DEPTH_MOST = 32, TM_DISCOVER_ENTRIES_MOST = 1000000, TM_HOST_MOST = 127 };

/* Find the runs behind an argument.  Folders whose name begins with a dot are not searched; links are followed,
 * and each folder is searched once, however many ways lead there.
 * in:     input  a path; "-" is taken as a file
 * out:    found  at least one run; the argument is a file: one run with that file
 * owns:   the caller owns it; tm_found_free releases it, also after a failure
 * errors: TM_ERR_INPUT  nothing there, or a folder without any profile (says what was searched)
 *         TM_ERR_LIMIT  more than TM_DISCOVER_ENTRIES_MOST entries, or the account's share is used up */
tm_status tm_discover(struct tm_run *run, const char *input, struct tm_found *found) TM_MUST_USE;
/* The runs behind several arguments, in one list; runs of one name are called by their whole path. */
tm_status tm_discover_all(struct tm_run *run, char *const *inputs, size_t count,
                          struct tm_found *found) TM_MUST_USE;
void tm_found_free(struct tm_found *found); /* tolerates a zeroed one */

/* Choose one run.
 * in:     wanted  --run: a run's name or folder, or the last part of its folder if only one has it; NULL = none
 *                 was named
 *         latest  --latest: the last one in time
 * errors: TM_ERR_USAGE  several runs and nothing to choose by, or `wanted` fits none or several: lists them */
tm_status tm_choose_run(struct tm_run *run, const struct tm_found *found, const char *wanted, bool latest,
                        const struct tm_found_run **chosen) TM_MUST_USE;

/* Make the hosts of files from several places distinct: the second file of one host gets "host#2", the number
 * being its place among the files.  The first one keeps its name. */
tm_status tm_distinct_hosts(struct tm_run *run, struct tm_found_file *const *files, size_t count) TM_MUST_USE;

/* The last part of a path, without slashes at its end: a view into it, with its length. */
const char *tm_last_part(const char *path, size_t *length);

#endif
