/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DOC_READ_H
#define TM_DOC_READ_H

#include "pipeline/doc.h"

/* A document that was printed by tm_doc_print, or any other JSON, back as a tree.  Nulls get their reasons from the
 * member "why" of their object.  Whole numbers up to 2^53 are integers, others doubles.  Any bytes may come: texts are
 * made valid UTF-8, nesting and size are limited.
 *
 * in:     bytes  length of them; name  of the file, for messages
 * out:    to     gets the members of the object that the text is
 * errors: TM_ERR_INPUT with the byte where it is no JSON, or no object; TM_ERR_LIMIT past TM_DOC_BYTES_MOST bytes or
 *         TM_DOC_DEPTH_MOST levels, or when memory ends */
enum { TM_DOC_DEPTH_MOST = 64, TM_DOC_BYTES_MOST = 64 << 20 };
tm_status tm_doc_read(struct tm_doc *doc, struct tm_value *to, const char *bytes, size_t length, const char *name)
    TM_MUST_USE;

/* The same of a whole file.  errors: also TM_ERR_INPUT where it cannot be read */
tm_status tm_doc_read_file(struct tm_doc *doc, struct tm_value *to, const char *path) TM_MUST_USE;

#endif
