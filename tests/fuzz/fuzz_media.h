/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FUZZ_MEDIA_H
#define TM_FUZZ_MEDIA_H

#include <string.h>

#include "pipeline/redact.h"
#include "pipeline/strings.h"
#include "reports/media.h"
#include "tests/fuzz/fuzz_job.h"

/* A summary on every medium.  What is written has no name; of each file is checked what holds for any summary. */

enum fuzz_medium {
    FUZZ_JSON,
    FUZZ_HTML,
    FUZZ_TEXT,
    FUZZ_MARKDOWN,
    FUZZ_COLLAPSED,
    FUZZ_CSV,
    FUZZ_PDF,
    FUZZ_PDF_LETTER,
    FUZZ_MEDIA
};

/* With a key of its own: to make one takes long on purpose. */
static inline struct tm_redactor *fuzz_redactor(struct tm_run *run)
{
    struct tm_redactor *const redactor = tm_redactor_new(run, TM_MIB);

    if (redactor)
        tm_redactor_set_key(redactor, (struct tm_secret_key){ 1, 2 });
    return redactor;
}

#define FUZZ_QUICK_FOLDER "/dev/shm" /* in memory, where there is one: each file of tables is synced */

static inline tm_status fuzz_write_file(struct tm_run *run, const struct tm_doc *doc, enum fuzz_medium medium, FILE *to)
{
    switch (medium) {
    case FUZZ_JSON:
        return tm_doc_print(doc, run, fileno(to));
    case FUZZ_HTML:
        return tm_html_write(run, doc, to);
    case FUZZ_TEXT:
        return tm_text_write(run, doc, to);
    case FUZZ_MARKDOWN:
        return tm_markdown_write(run, doc, to);
    case FUZZ_COLLAPSED:
        return tm_collapsed_write(run, doc, to);
    default:
        return tm_pdf_write(run, doc, medium == FUZZ_PDF ? TM_PAPER_A4 : TM_PAPER_LETTER, to);
    }
}

static inline bool fuzz_is_pdf(const char *bytes, size_t size)
{
    static const char begin[] = "%PDF-", end[] = "%%EOF\n";
    const size_t begins = sizeof(begin) - 1, ends = sizeof(end) - 1;

    return size > begins + ends && memcmp(bytes, begin, begins) == 0 && memcmp(bytes + size - ends, end, ends) == 0;
}

static inline void fuzz_check(enum fuzz_medium medium, const char *bytes, size_t size)
{
    if (medium >= FUZZ_PDF ? !fuzz_is_pdf(bytes, size) : !tm_utf8_is_valid(bytes, size))
        abort();
    if (medium == FUZZ_MARKDOWN && size > TM_MARKDOWN_BYTES_MOST)
        abort();
}

static inline void fuzz_check_file(enum fuzz_medium medium, int fd)
{
    const off_t size = lseek(fd, 0, SEEK_END);
    void *const bytes = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;

    if (bytes == MAP_FAILED)
        return;
    fuzz_check(medium, bytes, (size_t)size);
    (void)munmap(bytes, (size_t)size);
}

static inline tm_status fuzz_write_tables(struct tm_run *run, const struct tm_doc *doc)
{
    const char *const folder = access(FUZZ_QUICK_FOLDER, W_OK) == 0 ? FUZZ_QUICK_FOLDER : FUZZ_FOLDER;
    struct tm_atomic_folder *const to = tm_atomic_folder_open(run, folder, "tables", TM_CSV_INDEX, TM_CSV_INDEX_HEADER);
    const tm_status st = to ? tm_csv_write(run, doc, to) : run->error.status;

    tm_atomic_folder_free(to);
    return st;
}

/* Every summary can be written, but for want of memory. */
static inline tm_status fuzz_write(struct tm_run *run, const struct tm_doc *doc, enum fuzz_medium medium)
{
    const int fd = medium == FUZZ_CSV ? -1 : memfd_create("output", MFD_CLOEXEC);
    FILE *const to = fd < 0 ? NULL : fdopen(fd, "w");
    tm_status st = TM_OK;

    if (medium == FUZZ_CSV)
        st = fuzz_write_tables(run, doc);
    else if (to)
        st = fuzz_write_file(run, doc, medium, to);
    if (st != TM_OK && st != TM_ERR_LIMIT)
        abort();
    if (to && st == TM_OK && fflush(to) == 0)
        fuzz_check_file(medium, fd);
    if (to)
        (void)fclose(to);
    return st;
}

#endif
