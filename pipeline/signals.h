/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SIGNALS_H
#define TM_SIGNALS_H

#include <signal.h>
#include <sys/types.h>

/* What signals do: SIGINT, SIGTERM and SIGHUP remove the outputs that are not complete and end the
 * process by the same signal (128 + n for a shell); a closed pipe and a file size limit are errors
 * of write(), not signals. */
void tm_signals_install(void);

enum { TM_SIGNAL_PATHS = 16, TM_SIGNAL_PATH_BYTES = 4224 };

/* A file that must not survive a signal.  Call it just after the file was made (earlier, the name
 * may be that of somebody else's file), and release it when the file has its final name or is
 * removed.  Past TM_SIGNAL_PATHS files, or for a path that is too long, nothing is noted: such a
 * file stays behind under its temporary name. */
void tm_signals_guard(const char *path);
void tm_signals_release(const char *path); /* tolerates a path that is not guarded */

/* A process group that ends with this process: it gets the signal too, and its first process is waited for.  One at a time;
 * 0 = there is none any more. */
void tm_signals_guard_group(pid_t group);

/* Signals that end the process wait from here to there: what is made in between is guarded before they come.
 * out: before  what to go back to; the two do not nest */
void tm_signals_hold(sigset_t *before);
void tm_signals_let(const sigset_t *before);

/* A folder that must not survive a signal, with the files that were made in it.  One at a time. */
enum { TM_FOLDER_FILES = 1024, TM_FOLDER_NAME_BYTES = 64 };

struct tm_guarded_folder {
    const char *path;
    int fd;                      /* of the folder */
    volatile sig_atomic_t count; /* of names that are complete */
    char name[TM_FOLDER_FILES][TM_FOLDER_NAME_BYTES];
};

/* owns: the folder is the caller's and has to live until it is released */
void tm_signals_guard_folder(struct tm_guarded_folder *folder);
void tm_signals_release_folder(void);

/* Remove the files, then the folder.  Safe in a handler. */
void tm_guarded_folder_remove(const struct tm_guarded_folder *folder);

#endif
