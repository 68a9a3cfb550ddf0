/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SHELL_TEXT_H
#define TM_SHELL_TEXT_H

#include <stddef.h>

typedef void tm_shell_put(void *to, const char *text, size_t length);

/* Write a text of any bytes as one word of a POSIX shell, in quotes where it has to be. */
void tm_shell_word(tm_shell_put *put, void *to, const char *text);

#endif
