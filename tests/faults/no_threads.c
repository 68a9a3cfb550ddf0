/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is preloaded: a process in which it is ends as soon as it begins a thread, the program itself or a library
 * that it uses.  TM_NO_THREADS=refuse: it goes on, and gets none. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *with)
{
    static const char said[] = "no_threads: it began a thread\n";

    (void)thread;
    (void)attributes;
    (void)start;
    (void)with;
    if (getenv("TM_NO_THREADS"))
        return EAGAIN;
    if (write(STDERR_FILENO, said, sizeof(said) - 1) < 0)
        _exit(1);
    abort();
}
