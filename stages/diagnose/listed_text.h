/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LISTED_TEXT_H
#define TM_LISTED_TEXT_H

#include "pipeline/doc.h"
#include "pipeline/names.h"

/* Names in a table of the summary: whole up to 8 KiB while there is room for them, else cut at 256 bytes.  The room
 * depends on the number of rows alone, so that the summary does not depend on the memory. */
struct tm_listed_texts {
    struct tm_names *names;
    size_t room_bytes; /* left for whole texts */
};

/* in: rows  most rows that the table may have */
struct tm_listed_texts tm_listed_texts(struct tm_names *names, uint64_t rows);

/* Add a text; what is cut ends between two characters, and in "...". */
tm_status tm_listed_text_add(struct tm_listed_texts *texts, struct tm_value *to, const char *key,
                             tm_strid id) TM_MUST_USE;
/* The same, or null with a reason where there is none. */
tm_status tm_listed_text_or(struct tm_listed_texts *texts, struct tm_value *to, const char *key, tm_strid id,
                            const char *why) TM_MUST_USE;

#endif
