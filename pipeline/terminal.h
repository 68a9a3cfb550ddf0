/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TERMINAL_H
#define TM_TERMINAL_H

#include <stdio.h>

#include "pipeline/options.h"

/* True if colors are wanted on this stream: --color, else NO_COLOR (https://no-color.org), else
 * whether it is a terminal that knows them. */
bool tm_terminal_has_colors(const struct tm_options *options, FILE *stream);

/* True if stdout is a pipe or a socket whose reader went away. */
bool tm_terminal_reader_is_gone(void);

/* Make sure that the numbers 0 to 2 are taken, so that no output file gets one of them. */
void tm_terminal_keep_numbers(void);

/* Write out what stdout still holds, and close it; once, at the very end.
 * errors: TM_ERR_OUTPUT, but not for a reader that went away: it had what it wanted */
tm_status tm_terminal_finish(struct tm_error *error) TM_MUST_USE;

#endif
