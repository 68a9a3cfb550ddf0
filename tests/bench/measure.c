/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command and writes what it cost, as JSON, into a file.
 *
 *     measure RESULT COMMAND [ARGUMENT...]
 *
 * A program of its own because the peak of a process counts from its fork: a command that Python
 * starts never shows less than Python had.  The least that can be seen here is what this one has,
 * under 2 MiB. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t us_of(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static int wait_for(pid_t child, int *status, struct rusage *usage)
{
    while (wait4(child, status, 0, usage) < 0)
        if (errno != EINTR)
            return -1;
    return 0;
}

static int write_result(const char *path, const struct rusage *usage, int64_t elapsed_us)
{
    FILE *to = fopen(path, "w");

    if (!to)
        return -1;
    const int printed =
        fprintf(to, "{\"user_us\":%" PRId64 ",\"system_us\":%" PRId64 ",\"clock_us\":%" PRId64 ",\"peak_kib\":%ld}\n",
                us_of(usage->ru_utime), us_of(usage->ru_stime), elapsed_us, usage->ru_maxrss);

    return fclose(to) == 0 && printed > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;

    if (argc < 3) {
        (void)fputs("usage: measure RESULT COMMAND [ARGUMENT...]\n", stderr);
        return 2;
    }
    const int64_t begin_us = clock_us();
    const pid_t child = fork();

    if (child == 0) {
        (void)execvp(argv[2], argv + 2);
        (void)fprintf(stderr, "measure: cannot run '%s': %s\n", argv[2], strerror(errno));
        _exit(127);
    }
    if (child < 0 || wait_for(child, &status, &usage) < 0 || write_result(argv[1], &usage, clock_us() - begin_us) < 0) {
        (void)fprintf(stderr, "measure: %s\n", strerror(errno));
        return 126;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
