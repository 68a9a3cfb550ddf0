/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_REMOTE_H
#define TM_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "pipeline/run.h"

/* Objects in buckets, by their addresses: gs://BUCKET/KEY and s3://BUCKET/KEY.  This program has no network: another
 * one, a helper, writes an object to a pipe (fetch), lists what is below a prefix, reads an object from a file (store),
 * and removes objects.
 * Helpers are gcloud, aws, and rclone, whichever is installed, or the command of an option (struct tm_helpers in
 * run.h).  They are started without a shell, and a name is never an option. */

enum { TM_REMOTE_URI_MOST = 4096, TM_REMOTE_SAID_BYTES = 2048 };

/* Whether a path is such an address. */
static inline bool tm_remote_is(const char *path)
{
    return strncmp(path, "gs://", 5) == 0 || strncmp(path, "s3://", 5) == 0;
}

/* A running helper.  Zeroed = none. */
struct tm_helper {
    struct tm_run *run;
    const char *act;                 /* "fetch"; for messages */
    tm_status failure;               /* TM_ERR_INPUT, or TM_ERR_OUTPUT of one that stores */
    const char *uri;                 /* borrowed */
    const char *name;                /* for messages, in quotes; borrowed */
    pid_t pid;                       /* 0 = it has ended */
    pid_t watch;                     /* the child that ends all its processes if this one is killed; 0 = none */
    bool has_processes;              /* of its own, in its process group */
    int in;                          /* its stdin: a file */
    off_t in_at;                     /* how far it had read it at the last look */
    int out, err;                    /* what it writes; -1 = closed */
    uint64_t bytes;                  /* read from `out` */
    bool may_be_missing;             /* an object of which it sends nothing */
    char program[32];                /* its name */
    char said[TM_REMOTE_SAID_BYTES]; /* the end of what it wrote to stderr */
    size_t said_bytes;
};

/* Start to read an object.
 * in:     uri, name  have to stay until the end
 * owns:   the caller; tm_helper_stop, also after a failure
 * errors: TM_ERR_INPUT  not an address of an object, or no helper is installed */
tm_status tm_fetch_start(struct tm_helper *h, struct tm_run *run, const char *uri, const char *name);

/* The next bytes.
 * out:    got  fewer than requested only at the end
 * errors: TM_ERR_INPUT  the helper failed, or wrote nothing for the time limit: with what it wrote to stderr */
tm_status tm_helper_read(struct tm_helper *h, void *to, size_t bytes, size_t *got) TM_MUST_USE;

/* End a helper, whether or not all has been read. */
void tm_helper_stop(struct tm_helper *h); /* tolerates a zeroed or stopped one */

/* Fetch all objects below an address to files below a folder, by one start of the helper, in any order.  Files of an
 * earlier, interrupted one are not fetched again while their objects are the same.
 * in:     folder  exists; names of objects can be any that the helper makes files of
 *         uri     without a slash at its end
 * errors: TM_ERR_INPUT; some may have been fetched, and one of them in part */
tm_status tm_fetch_folder(struct tm_run *run, const char *folder, const char *uri);
/* Whether there is a helper for that: a command of --fetch is none. */
bool tm_fetch_takes_folders(const struct tm_run *run, const char *folder, const char *uri);

/* Store a file as an object, which appears completely or not at all.  The file is the stdin of the helper, so one that
 * outlives a killed process still stores all of it.
 * errors: TM_ERR_OUTPUT  no helper is installed, it failed, or it took nothing for the time limit */
tm_status tm_store_object(struct tm_run *run, const char *path, const char *uri);

/* Store all files below a folder as objects below an address, by one start of the helper, in any order.
 * in:     uri     without a slash at its end
 * errors: as tm_store_object; some may have been stored */
tm_status tm_store_folder(struct tm_run *run, const char *folder, const char *uri);
/* Whether there is a helper for that: a command of --store has to have the placeholder {folder}. */
bool tm_store_takes_folders(const struct tm_run *run, const char *folder, const char *uri);

/* Remove objects, at most TM_REMOTE_REMOVED_MOST of them, by one start of the helper.  Those that do not exist are no
 * error.
 * in:     names  path of a file: the names of the objects below the address, one a line, without control characters.
 *                Another file is written beside it
 *         uri    without a slash at its end
 * errors: TM_ERR_OUTPUT  no helper is installed, it failed, or one of the objects cannot be removed; others may have
 *         been removed */
enum { TM_REMOTE_REMOVED_MOST = 1000 }; /* the limit of S3 */
tm_status tm_remove_objects(struct tm_run *run, const char *names, const char *uri);
/* Whether objects can be removed from where they are stored: a command of --store needs one of --remove beside it. */
bool tm_remove_has_helper(const struct tm_run *run);

/* An object in a list. */
struct tm_object {
    const char *key; /* in its bucket */
    uint64_t bytes;
    int64_t modified_ns; /* 0 = unknown */
    const char *version; /* another one when the object changes: an ETag, a generation, a hash; "" = unknown */
};

typedef tm_status tm_take_object(void *to, const struct tm_object *object);

/* List all objects whose keys start with that of the address.
 * errors: TM_ERR_INPUT; those of `take` */
tm_status tm_remote_list(struct tm_run *run, const char *uri, tm_take_object *take, void *to);

/* The key of an address: what follows the bucket and its slash; "" = none.  A view into it. */
const char *tm_remote_key(const char *uri);

#endif
