/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DOCUMENT_FILES_H
#define TM_DOCUMENT_FILES_H

#include "pipeline/doc.h"
#include "pipeline/options.h"

struct tm_conversion;
struct tm_partial_writer;
struct tm_document;

/* What there is to write: a report, a comparison, a scaling study.  What of it a document is, its
 * "schema" tells (reports/content/document.h), and that tells how its files are called. */
struct tm_document_result {
    struct tm_doc *doc;
    struct tm_partial_writer *partial; /* of a report; NULL = not wanted */
    struct tm_conversion *conversion;  /* of a report; NULL = the trace is not wanted */
    enum tm_paper paper;
};

/* Write each format into the folder, which is made where it is not there; older files of their
 * names are replaced once all are written. With a redactor the map of names is written too, before
 * any of them has its name. in:     options  formats, and where the map goes */
tm_status tm_document_write(struct tm_run *run, const struct tm_document_result *result,
                            const char *folder, const struct tm_options *options) TM_MUST_USE;

/* The name of the index-th file of a document that these formats, bits of enum tm_format, make: a
 * view into `name`; NULL = there are fewer. */
enum { TM_DOCUMENT_FILE_BYTES = 64 };
const char *tm_document_file(char name[TM_DOCUMENT_FILE_BYTES], const struct tm_value *root,
                             uint32_t formats, size_t index);
const char *tm_document_file_of(char name[TM_DOCUMENT_FILE_BYTES], const struct tm_document *document,
                                uint32_t formats, size_t index);

#endif
