/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_NAME_TEXT_H
#define TM_NAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "pipeline/record.h"

/* A view of a text that is not NUL-terminated; borrowed. */
struct tm_text {
    const char *at;
    size_t length;
};

static inline struct tm_text tm_text_from(struct tm_text text, size_t offset)
{
    const size_t skipped = offset < text.length ? offset : text.length;

    /* nothing may be added to the NULL of an empty view */
    return (struct tm_text){ skipped ? text.at + skipped : text.at, text.length - skipped };
}

static inline bool tm_text_is(struct tm_text text, const char *want)
{
    return text.length == strlen(want) && !memcmp(text.at, want, text.length);
}

static inline bool tm_text_begins(struct tm_text text, const char *want)
{
    return text.length >= strlen(want) && !memcmp(text.at, want, strlen(want));
}

static inline bool tm_text_ends(struct tm_text text, const char *want)
{
    const size_t n = strlen(want);

    return text.length >= n && !memcmp(text.at + text.length - n, want, n);
}

/* Is it the name of an HLO collective: all-reduce, all-gather-start.1, while.2::recv-done? */
bool tm_is_collective_op(const char *text, size_t length);

#endif
