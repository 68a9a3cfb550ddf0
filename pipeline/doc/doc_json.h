/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DOC_JSON_H
#define TM_DOC_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "pipeline/doc/doc.h"

/* A document that was printed by tm_doc_print, or any other JSON, back as a tree; printed again it
 * has the same bytes. Nulls get their reasons from the member "why" of their object, which goes
 * away if it holds nothing else.  Whole numbers of 64 bits are integers, others doubles, and those
 * past a double null.  Of members of one key the last one counts.  Any bytes may come: texts are
 * made valid UTF-8, nesting and size are limited, and nothing is held but the tree.
 *
 * in:     bytes  length of them; name  of the file, for messages
 * out:    to     gets the members of the object that the text is
 * errors: TM_ERR_INPUT with the byte where it is no JSON, or no object; TM_ERR_LIMIT past
 * TM_DOC_BYTES_MOST bytes, TM_DOC_DEPTH_MOST levels or TM_DOC_TEXT_MOST bytes of a text, or when
 * memory ends */
enum { TM_DOC_DEPTH_MOST = 64, TM_DOC_BYTES_MOST = 64 << 20, TM_DOC_TEXT_MOST = 1 << 20 };

tm_status tm_doc_read(struct tm_doc *doc, struct tm_value *to, const char *bytes, size_t length,
                      const char *name) TM_MUST_USE;

/* The same of a whole file.  errors: also TM_ERR_INPUT where it cannot be read */
tm_status tm_doc_read_file(struct tm_doc *doc, struct tm_value *to, const char *path) TM_MUST_USE;

/* The same of an open file, from its position on.
 * in: most  bytes after which it ends, whatever follows; UINT64_MAX = all of it */
tm_status tm_doc_read_from(struct tm_doc *doc, struct tm_value *to, int fd, uint64_t most,
                           const char *name) TM_MUST_USE;

enum { TM_INT_TEXT = 20, TM_DOUBLE_TEXT = 48 };

/* in:     to  TM_INT_TEXT bytes
 * out:    bytes written, no NUL */
size_t tm_int_text(char *to, int64_t value);

/* A finite number in the fewest of 15 to 17 digits that read back the same, as JSON writes numbers.
 * in:     to  TM_DOUBLE_TEXT bytes
 * out:    bytes written, no NUL */
size_t tm_double_text(char *to, double value);

#endif
