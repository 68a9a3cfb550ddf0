/* SPDX-License-Identifier: Apache-2.0 */
/* The standard streams: whether somebody looks at them, and whether everything went out. */
#include "pipeline/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool tm_terminal_has_colors(const struct tm_options *options, FILE *stream)
{
    const char *const refused = getenv("NO_COLOR");
    const char *const terminal = getenv("TERM");

    if (options->color != TM_COLOR_AUTO)
        return options->color == TM_COLOR_ALWAYS;
    return !(refused && refused[0]) && terminal && strcmp(terminal, "dumb") != 0 && isatty(fileno(stream));
}

bool tm_terminal_reader_is_gone(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO };

    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

void tm_terminal_keep_numbers(void)
{
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
        /* Reading only: what is written to a stdout that was closed fails, as it should. */
        if (fcntl(number, F_GETFD) < 0 && open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
    }
}

tm_status tm_terminal_finish(struct tm_error *error)
{
    const bool failed_before = ferror(stdout) != 0;
    const bool is_gone = tm_terminal_reader_is_gone();

    errno = 0;
    if (fclose(stdout) == 0 && !failed_before)
        return TM_OK;
    if (errno == EPIPE || is_gone)
        return TM_OK;
    if (errno)
        return tm_fail_system(error, TM_ERR_OUTPUT, -1, errno, "cannot write to standard output");
    return tm_fail(error, TM_ERR_OUTPUT, -1, "cannot write to standard output: not everything went out");
}
