/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_UTF8_H
#define TM_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One step through a text of any bytes.
 * in:     length  bytes that are left, at least 1
 * out:    code    the code point, where the result is not 0
 *         result  length of the valid sequence (1 to 4), or 0: the first byte begins none
 * source: RFC 3629: no surrogates, no overlong forms, nothing past U+10FFFF */
size_t tm_utf8_next(const char *text, size_t length, uint32_t *code);

/* True if all of it is valid; quick where the text is ASCII. */
bool tm_utf8_is_valid(const char *text, size_t length);

#endif
