/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a document.  All are written under temporary names first and renamed at the end, so
 * that a failure in one of them leaves the older ones as they were. */
#include "pipeline/commands/document_files.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "pipeline/atomic_file.h"
#include "pipeline/atomic_folder.h"
#include "pipeline/commands/convert.h"
#include "pipeline/commands/guarded.h"
#include "pipeline/commands/redaction.h"
#include "reports/collapsed/collapsed.h"
#include "reports/content/document.h"
#include "reports/csv/csv.h"
#include "reports/html/html.h"
#include "reports/markdown/markdown.h"
#include "reports/pdf/pdf.h"
#include "reports/text/text.h"

enum { OUTPUTS_MOST = 9 };

/* The files while they are written. */
struct files {
    struct tm_atomic_file of[OUTPUTS_MOST];
    struct tm_out_file *trace;
    struct tm_atomic_folder *tables;
};

/* One file or folder; one of the three writes it. */
struct output {
    enum tm_format format;
    const char *ending; /* behind the stem of the document's files */
    const char
        *name; /* where there is no ending; NULL = the name of the file that has every figure */
    tm_status (*of_summary)(struct tm_run *run, const struct tm_doc *doc, FILE *to);
    tm_status (*of_result)(struct tm_run *run, const struct tm_document_result *result, FILE *to);
    tm_status (*into)(struct tm_run *run, const struct tm_document_result *result,
                      const char *folder, const char *name,
                      struct files *files); /* opens what it writes to */
};

/* --- writers --- */

static tm_status write_json(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    return tm_doc_print(doc, run, fileno(to));
}

static tm_status write_pdf(struct tm_run *run, const struct tm_document_result *result, FILE *to)
{
    return tm_pdf_write(run, result->doc, result->paper, to);
}

static tm_status write_partial(struct tm_run *run, const struct tm_document_result *result,
                               FILE *to)
{
    (void)run;
    return tm_partial_write(result->partial, to);
}

/* The trace comes from the events, which are read again. */
static tm_status write_trace(struct tm_run *run, const struct tm_document_result *result,
                             const char *folder, const char *name, struct files *files)
{
    struct tm_written written;

    (void)run;
    return tm_convert_into(result->conversion, tm_trace_format_of(name), folder, name,
                           &files->trace, &written);
}

/* A folder in the folder. */
static tm_status write_tables(struct tm_run *run, const struct tm_document_result *result,
                              const char *folder, const char *name, struct files *files)
{
    tm_status st;

    files->tables = tm_atomic_folder_open(run, folder, name, TM_CSV_INDEX, TM_CSV_INDEX_HEADER);
    if (!files->tables)
        return run->error.status;
    st = tm_csv_write(run, result->doc, files->tables);
    if (st)
        (void)tm_while(&run->error, "writing '%s/%s'", folder, name);
    return st;
}

static const struct output outputs[] = {
    { .format = TM_FORMAT_JSON, .of_summary = write_json },
    { .format = TM_FORMAT_TEXT, .ending = ".txt", .of_summary = tm_text_write },
    { .format = TM_FORMAT_HTML, .ending = ".html", .of_summary = tm_html_write },
    { .format = TM_FORMAT_PDF, .ending = ".pdf", .of_result = write_pdf },
    { .format = TM_FORMAT_MARKDOWN, .ending = ".md", .of_summary = tm_markdown_write },
    { .format = TM_FORMAT_CSV, .name = TM_CSV_FOLDER, .into = write_tables },
    { .format = TM_FORMAT_COLLAPSED, .name = "scopes.collapsed", .of_summary = tm_collapsed_write },
    { .format = TM_FORMAT_PARTIAL, .name = "run.partial", .of_result = write_partial },
    { .format = TM_FORMAT_PERFETTO, .name = "trace.pftrace", .into = write_trace },
};

enum { OUTPUT_COUNT = sizeof(outputs) / sizeof(outputs[0]) };
static_assert((size_t)OUTPUT_COUNT <= (size_t)OUTPUTS_MOST, "there is a file for each output");

/* --- all of them --- */

static const char *name_of(char name[TM_DOCUMENT_FILE_BYTES], const struct output *output,
                           const struct tm_document *document)
{
    if (output->ending)
        (void)snprintf(name, TM_DOCUMENT_FILE_BYTES, "%s%s", document->file, output->ending);
    else
        (void)snprintf(name, TM_DOCUMENT_FILE_BYTES, "%s",
                       output->name ? output->name : document->data);
    return name;
}

static tm_status write_file(struct tm_run *run, const struct tm_document_result *result,
                            const char *folder, const struct output *output, const char *name,
                            struct tm_atomic_file *file)
{
    tm_status st = tm_atomic_open(file, run, folder, name);

    if (st)
        return st;
    st = output->of_summary ? output->of_summary(run, result->doc, file->stream)
                            : output->of_result(run, result, file->stream);
    /* A full disk should show before the first file gets its name. */
    if (!st && fflush(file->stream) != 0)
        st = tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write '%s'", file->path);
    if (st)
        (void)tm_while(&run->error, "writing '%s/%s'", folder, name);
    return st;
}

static tm_status commit_files(struct files *files, const char *folder)
{
    tm_status st = TM_OK;

    for (size_t i = 0; i < OUTPUT_COUNT && !st; i++)
        if (files->of[i].stream)
            st = tm_atomic_give_name(&files->of[i]);
    if (!st && files->tables)
        st = tm_atomic_folder_commit(files->tables);
    tm_sync_folder(folder);
    return !st && files->trace ? tm_out_file_commit(files->trace, NULL) : st;
}

tm_status tm_document_write(struct tm_run *run, const struct tm_document_result *result,
                            const char *folder, const struct tm_options *options)
{
    const struct tm_document *const document = tm_document_of(tm_doc_root(result->doc));
    struct files *const files = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*files), &run->error);
    tm_status st = files ? tm_guard_document(run, folder, document, options->formats) : run->error.status;

    if (!st)
        st = tm_make_folder(run, folder);

    for (size_t i = 0; i < OUTPUT_COUNT && !st; i++) {
        char name[TM_DOCUMENT_FILE_BYTES];

        if (!(options->formats & (uint32_t)outputs[i].format))
            continue;
        (void)name_of(name, &outputs[i], document);
        st = outputs[i].into ? outputs[i].into(run, result, folder, name, files)
                             : write_file(run, result, folder, &outputs[i], name, &files->of[i]);
    }
    if (!st && files->trace)
        st = tm_conversion_judge(result->conversion, "report");
    if (!st)
        st = tm_redaction_save(run, options, folder);
    if (!st)
        st = commit_files(files, folder);
    if (!files)
        return st;
    for (size_t i = 0; i < OUTPUT_COUNT; i++)
        tm_atomic_abort(&files->of[i]);
    tm_atomic_folder_free(files->tables);
    tm_out_file_free(files->trace);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, files, sizeof(*files));
    return st;
}

const char *tm_document_file_of(char name[TM_DOCUMENT_FILE_BYTES], const struct tm_document *document,
                                uint32_t formats, size_t index)
{
    for (size_t i = 0; i < OUTPUT_COUNT; i++)
        if ((formats & (uint32_t)outputs[i].format) && index-- == 0)
            return outputs[i].format == TM_FORMAT_CSV ? TM_CSV_FOLDER "/"
                                                      : name_of(name, &outputs[i], document);
    return NULL;
}

const char *tm_document_file(char name[TM_DOCUMENT_FILE_BYTES], const struct tm_value *root,
                             uint32_t formats, size_t index)
{
    return tm_document_file_of(name, tm_document_of(root), formats, index);
}
