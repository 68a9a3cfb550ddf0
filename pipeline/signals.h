/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SIGNALS_H
#define TM_SIGNALS_H

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

#endif
