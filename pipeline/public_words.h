/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PUBLIC_WORDS_H
#define TM_PUBLIC_WORDS_H

#include <stdbool.h>
#include <stddef.h>

enum { TM_PUBLIC_WORD_MOST = 24 /* bytes of the longest one */ };

/* Whether a word belongs to everybody: to XLA, JAX, PyTorch, their libraries and runtimes, or to this program.  It says
 * nothing of who ran what, and reports are of little use without it.
 * in:     word  ASCII; its case does not matter */
bool tm_is_public_word(const char *word, size_t length);

#endif
