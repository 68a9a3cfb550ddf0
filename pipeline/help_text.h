/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HELP_TEXT_H
#define TM_HELP_TEXT_H

#include <stdio.h>

#include "pipeline/commands/commands.h"

/* Texts made from the tables of verbs and options.  Write errors stay in the stream. */
void tm_help_overview(FILE *to);                         /* the verbs, exit statuses */
void tm_help_verb(const struct tm_verb *verb, FILE *to); /* one verb and its options */

void tm_help_manual(FILE *to); /* tracemill(1), roff with man(7) macros */

/* Completions.  out: false where there is no such shell */
bool tm_help_completions(const char *shell, FILE *to);

#endif
