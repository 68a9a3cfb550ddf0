/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_WAITING_NAMES_H
#define TM_WAITING_NAMES_H

#include <stddef.h>

/* Python functions in which a thread only waits for another thread, for a device, for a file, or for a timeout: threads
 * other than the main one spend all of their time there, which does not make a device wait. */
enum tm_waiting {
    TM_NOT_WAITING,
    TM_WAITING_FOR_THREADS, /* locks, queues, pipes, results of other threads */
    TM_WAITING_FOR_DEVICE,  /* a result: such waits are reported with the calls that wait (host.sync) */
    TM_WAITING_FOR_TIME,    /* sleep: in an input pipeline it may be the time that a batch takes */
};

/* in:     name as in the profile, any bytes: "$threading.py:323 wait", "threading.py(359): wait",
 *               "<built-in method acquire of _thread.lock object at 0x7f>", "$time sleep" */
enum tm_waiting tm_waiting_of(const char *name, size_t length);

/* The functions that are known, by the file without its folders, or the module of those that have none: in a trace with
 * pseudonyms they keep their names. */
struct tm_waiting_name {
    const char *file, *function;
    enum tm_waiting kind;
};
extern const struct tm_waiting_name tm_waiting_names[];
extern const size_t tm_waiting_name_count;

#endif
