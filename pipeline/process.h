/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PROCESS_H
#define TM_PROCESS_H

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>

#include "pipeline/run.h"

struct tm_options;

/* What the process holds, in bytes; 0 = not known. */
struct tm_memory_stats {
    uint64_t peak_resident_bytes; /* of the whole process so far */
    uint64_t allocated_bytes;     /* jemalloc: currently requested by the program */
    uint64_t active_bytes;        /* jemalloc: in pages that are in use */
    uint64_t resident_bytes;      /* jemalloc: mapped and not returned, including its own tables */
};

/* An input of this size follows.  If it is large, what jemalloc adds to the heap from here on consists of huge pages: in
 * a virtual machine, 4 KiB cost 1.3 to 2.5 us as a page, and 0.5 us as a part of a huge one.  Before other threads start. */
void tm_memory_expect_input(uint64_t bytes);

void tm_memory_stats(struct tm_memory_stats *out);

/* What --stats shows: events, speed, bytes, memory by account.
 * in:     cpu_seconds  user and system time of the job */
void tm_stats_print(const struct tm_run *run, double cpu_seconds, FILE *to);

/* True if this stream gets colors: --color, else NO_COLOR (https://no-color.org), else
 * whether it is a terminal that supports them. */
bool tm_terminal_has_colors(const struct tm_options *options, FILE *stream);

/* True if stdout is a pipe or a socket whose reader has closed it. */
bool tm_terminal_reader_is_gone(void);

/* Make sure that descriptors 0 to 2 are open, so that no output file gets one of them. */
void tm_terminal_keep_numbers(void);

/* Flush and close stdout; once, at the very end.
 * errors: TM_ERR_OUTPUT, except for a reader that closed the pipe */
tm_status tm_terminal_finish(struct tm_error *error) TM_MUST_USE;

/* What signals do: SIGINT, SIGTERM and SIGHUP remove the outputs that are not complete and end the
 * process by the same signal (128 + n for a shell); a closed pipe and a file size limit are errors
 * of write(), not signals. */
void tm_signals_install(void);

/* After this time the process writes a text to stderr and ends with TM_ERR_LIMIT: for third-party code that cannot be
 * interrupted otherwise.  Outputs that are not complete are removed.
 * in:     ns    0 = never (again)
 *         text  not copied */
void tm_signals_deadline(uint64_t ns, const char *text);

enum { TM_SIGNAL_PATHS = 16, TM_SIGNAL_PATH_BYTES = 4224 };

/* A file that must not survive a signal.  Call it directly after creating the file (earlier, the name may belong to a
 * foreign file), and release it when the file has its final name or is removed.  Beyond TM_SIGNAL_PATHS files, or if
 * the path is too long, nothing is registered: such a file remains under its temporary name. */
void tm_signals_guard(const char *path);
void tm_signals_release(const char *path); /* tolerates a path that is not guarded */

/* A process group that ends with this process: it receives the signal too, and its first process is waited for.  One at
 * a time; 0 = no longer any. */
void tm_signals_guard_group(pid_t group);

/* Signals that end the process are blocked from here to the counterpart, so that files created in between are
 * registered first.
 * out:    before  the mask to restore; the two do not nest */
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
