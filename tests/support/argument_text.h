/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ARGUMENT_TEXT_H
#define TM_ARGUMENT_TEXT_H

/* For unit tests: a list of arguments as one line. */
#include <stdio.h>

#include "pipeline/arguments.h"

/* "key:value" one after the other with blanks between, in lists the values alone:
 *     5 -5   INT          5u     UINT        ~0.5  DOUBLE      #1.50  NUMBER as written
 *     'x'    TEXT         @x     NAME        {...} OBJECT      [...]  ARRAY
 *     null true false     cat='x'  id='x'  place=3  enclosed   of the event */
void print_arguments(FILE *to, struct tm_names *names, struct tm_arguments list);

/* The same into a buffer. */
void arguments_as_text(char *to, size_t size, struct tm_names *names, struct tm_arguments list);

#endif
