/* SPDX-License-Identifier: Apache-2.0 */
/* A fixed table of paths that the signal handler unlinks.  A slot is `used` only while its path is
 * complete, so the handler may come at any moment; it calls nothing but async-signal-safe functions
 * (signal-safety(7)). */
#include "pipeline/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    char path[TM_SIGNAL_PATH_BYTES];
    volatile sig_atomic_t used;
} guarded[TM_SIGNAL_PATHS];

static struct tm_guarded_folder *volatile guarded_folder;
static volatile sig_atomic_t guarded_group;

void tm_guarded_folder_remove(const struct tm_guarded_folder *folder)
{
    for (int i = 0; i < folder->count; i++)
        (void)unlinkat(folder->fd, folder->name[i], 0);
    (void)rmdir(folder->path);
}

static void end_by_signal(int number)
{
    if (guarded_group && kill(-guarded_group, number) == 0) {
        while (waitpid(guarded_group, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    for (size_t i = 0; i < TM_SIGNAL_PATHS; i++) {
        if (guarded[i].used)
            (void)unlink(guarded[i].path);
    }
    if (guarded_folder)
        tm_guarded_folder_remove(guarded_folder);
    /* SA_RESETHAND gave the signal its default meaning back; the handler still blocks it. */
    sigset_t only;

    (void)sigemptyset(&only);
    (void)sigaddset(&only, number);
    (void)raise(number);
    (void)sigprocmask(SIG_UNBLOCK, &only, NULL);
    _exit(128 + number); /* the first process of a container is not ended by a default action */
}

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

void tm_signals_install(void)
{
    struct sigaction action = { .sa_handler = end_by_signal, .sa_flags = (int)SA_RESETHAND };
    struct sigaction before;

    (void)sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        /* what a shell or nohup had ignored stays ignored */
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(ends[i], &action, NULL);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
}

void tm_signals_hold(sigset_t *before)
{
    sigset_t held;

    (void)sigemptyset(&held);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        (void)sigaddset(&held, ends[i]);
    (void)sigprocmask(SIG_BLOCK, &held, before);
}

void tm_signals_let(const sigset_t *before)
{
    (void)sigprocmask(SIG_SETMASK, before, NULL);
}

void tm_signals_guard(const char *path)
{
    const size_t bytes = strlen(path) + 1;

    if (bytes > TM_SIGNAL_PATH_BYTES)
        return;
    for (size_t i = 0; i < TM_SIGNAL_PATHS; i++) {
        if (guarded[i].used)
            continue;
        memcpy(guarded[i].path, path, bytes);
        atomic_signal_fence(memory_order_seq_cst);
        guarded[i].used = 1;
        return;
    }
}

void tm_signals_release(const char *path)
{
    for (size_t i = 0; i < TM_SIGNAL_PATHS; i++) {
        if (guarded[i].used && strcmp(guarded[i].path, path) == 0)
            guarded[i].used = 0;
    }
}

void tm_signals_guard_group(pid_t group)
{
    guarded_group = group;
}

void tm_signals_guard_folder(struct tm_guarded_folder *folder)
{
    atomic_signal_fence(memory_order_seq_cst);
    guarded_folder = folder;
}

void tm_signals_release_folder(void)
{
    guarded_folder = NULL;
}
