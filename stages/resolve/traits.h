/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TRAITS_H
#define TM_TRAITS_H

#include <stddef.h>
#include <stdint.h>

/* The names that the class table knows, as data: a name is looked at by these rows only. */

struct tm_known_name {
    const char *text;
    uint8_t length;
    uint8_t how;     /* enum tm_known_how */
    uint32_t traits; /* enum tm_trait */
};

extern const struct tm_known_name tm_known_names[];
extern const size_t tm_known_name_count;

/* Words that tell an input pipeline: a word is a longest run of [A-Za-z0-9_-]; compared without case. */
extern const char *const tm_input_words[];
extern const size_t tm_input_word_count;

/* Parts of kernel names that tell a collective: anywhere in the name, without case; '_' may be missing. */
extern const char *const tm_collective_parts[];
extern const size_t tm_collective_part_count;

#endif
