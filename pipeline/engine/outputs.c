/* SPDX-License-Identifier: Apache-2.0 */
/* Where outputs go, what they are called, and when there are none. */
#include "pipeline/engine/outputs.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/doc/doc.h"
#include "pipeline/engine/conversion.h"
#include "pipeline/files.h"
#include "pipeline/nightly/result.h"
#include "pipeline/options.h"
#include "pipeline/process.h"
#include "pipeline/redact.h"
#include "pipeline/run.h"
#include "reports/content/content.h"
#include "reports/format/format.h"
#include "reports/gates/gates.h"
#include "reports/media.h"
#include "stages/output/export/exporter.h"

enum { TM_SIDE_FILES_MOST = 4 };

/* A file that was written, as members of a document and as a line. */

/* Bytes that an importer takes for itself, for a slice, and for an argument of one. */
enum { VIEWER_BYTES = 60000000, SLICE_BYTES = 210, ARGUMENT_BYTES = 50 };

/* What a viewer needs in memory: an estimate, by measurements of one importer.  source: docs/convert.md, "Parts" */
static uint64_t written_viewer_bytes(const struct tm_written *w)
{
    return VIEWER_BYTES + w->counts.slices * SLICE_BYTES + w->arguments * ARGUMENT_BYTES;
}

void tm_written_add(const struct tm_written *w, struct tm_value *to)
{
    const struct tm_export_counts *counts = &w->counts;
    const bool is_empty = counts->first_ps > counts->last_ps;
    struct tm_value *steps;

    tm_add_text(to, "file", w->name, strlen(w->name));
    tm_add_uint(to, "bytes", w->bytes);
    tm_add_uint(to, "raw_bytes", w->raw_bytes);
    tm_add_uint(to, "slices", counts->slices);
    tm_add_uint(to, "pieces", counts->pieces);
    tm_add_uint(to, "launches", counts->launches);
    tm_add_uint(to, "counters", counts->counters);
    tm_add_uint(to, "arrows", counts->arrows);
    tm_add_uint(to, "arguments", w->arguments);
    tm_add_uint(to, "rows", counts->rows);
    tm_add_int(to, "begin_ns", is_empty ? 0 : tm_out_ns(counts->first_ps));
    tm_add_int(to, "end_ns", is_empty ? 0 : tm_out_ns(counts->last_ps));
    if (w->step_count) {
        steps = tm_add_object(to, "steps");
        tm_add_uint(steps, "first", w->first_step);
        tm_add_uint(steps, "count", w->step_count);
    } else {
        tm_add_null(to, "steps", "it contains no step of a single host");
    }
    if (w->host[0])
        tm_add_text(to, "host", w->host, strlen(w->host));
    else
        tm_add_null(to, "host", "it contains all hosts");
    if (w->device[0])
        tm_add_string(to, "device", w->device);
    else
        tm_add_null(to, "device", "it contains all devices");
    tm_add_uint(to, "viewer_bytes_estimate", written_viewer_bytes(w));
}

/* The path of a file. */
static void print_place(FILE *to, const char *folder, const char *name)
{
    const size_t length = folder ? strlen(folder) : 0;
    char shown_folder[2 * 4096], shown_name[TM_WRITTEN_NAME_BYTES];

    (void)tm_format_visible(shown_folder, sizeof(shown_folder), folder ? folder : "", length);
    (void)tm_format_visible(shown_name, sizeof(shown_name), name, strlen(name));
    (void)fprintf(to, "%s%s%s  ", shown_folder, length && folder[length - 1] != '/' ? "/" : "", shown_name);
}

/* "2 slices, " */
static void print_count(FILE *to, uint64_t count, const char *what)
{
    char text[TM_FORMAT_BYTES];

    (void)fprintf(to, "%s%s%s, ", tm_format_count(text, (int64_t)count), what, tm_format_plural(count));
}

void tm_written_print(const struct tm_written *w, const char *folder, FILE *to)
{
    char bytes[TM_FORMAT_BYTES];

    print_place(to, folder, w->name);
    print_count(to, w->counts.slices, " slice");
    if (w->counts.counters)
        print_count(to, w->counts.counters, " counter value");
    if (w->counts.arrows)
        print_count(to, w->counts.arrows, " arrow");
    (void)fprintf(to, "%s\n", tm_format_bytes(bytes, (double)w->bytes));
}

void tm_written_print_page(const char *folder, const char *name, uint64_t parts, FILE *to)
{
    char text[TM_FORMAT_BYTES];

    print_place(to, folder, name);
    (void)fprintf(to, "lists %s part%s\n", tm_format_count(text, (int64_t)parts), tm_format_plural(parts));
}

/* The files of a document.  All are written under temporary names first and renamed at the end, so
 * that a failure in one of them leaves the older ones as they were. */

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
    const char *ending; /* after the stem of the document's files */
    const char *name;   /* if it has no extension; NULL = the name of the file that has every figure */
    tm_status (*of_summary)(struct tm_run *run, const struct tm_doc *doc, FILE *to);
    tm_status (*of_result)(struct tm_run *run, const struct tm_document_result *result, FILE *to);
    tm_status (*into)(struct tm_run *run, const struct tm_document_result *result, const char *folder, const char *name,
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

static tm_status write_partial(struct tm_run *run, const struct tm_document_result *result, FILE *to)
{
    (void)run;
    return tm_partial_write(result->partial, to);
}

/* The trace comes from the events, which are read again. */
static tm_status write_trace(struct tm_run *run, const struct tm_document_result *result, const char *folder,
                             const char *name, struct files *files)
{
    struct tm_written written;

    (void)run;
    return tm_convert_into(result->conversion, tm_trace_format_of(name), folder, name, &files->trace, &written);
}

/* A folder in the folder. */
static tm_status write_tables(struct tm_run *run, const struct tm_document_result *result, const char *folder,
                              const char *name, struct files *files)
{
    files->tables = tm_atomic_folder_open(run, folder, name, TM_CSV_INDEX, TM_CSV_INDEX_HEADER);
    if (!files->tables)
        return run->error.status;
    tm_csv_write(run, result->doc, files->tables);
    return tm_while(&run->error, "writing '%s/%s'", folder, name);
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
        (void)snprintf(name, TM_DOCUMENT_FILE_BYTES, "%s", output->name ? output->name : document->data);
    return name;
}

/* in: to  file->stream, or in a separate process the same file there */
static void fill_file(struct tm_run *run, const struct tm_document_result *result, const char *folder,
                      const struct output *output, const struct tm_atomic_file *file, FILE *to)
{
    char name[TM_DOCUMENT_FILE_BYTES];

    (void)name_of(name, output, tm_document_of(tm_doc_root(result->doc)));
    (void)(output->of_summary ? output->of_summary(run, result->doc, to) : output->of_result(run, result, to));
    /* A full disk should show before the first file gets its name. */
    if (fflush(to) != 0)
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write '%s'", file->path);
    (void)tm_while(&run->error, "writing '%s/%s'", folder, name);
}

/* -o -: a single format, which is one stream, goes to stdout. */
static bool is_stdout(const char *folder)
{
    return strcmp(folder, "-") == 0;
}

static const struct output *only_output(struct tm_run *run, uint32_t formats)
{
    const struct output *only = NULL;
    size_t count = 0;

    for (size_t i = 0; i < OUTPUT_COUNT; i++) {
        if (!(formats & (uint32_t)outputs[i].format))
            continue;
        only = &outputs[i];
        count++;
    }
    if (count == 1 && !only->into)
        return only;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot write %s to stdout",
                  count == 1 ? "a folder" : "several formats");
    tm_hint(&run->error, "choose one with --format: html, pdf, json, text, markdown or collapsed");
    return NULL;
}

static tm_status write_stdout(struct tm_run *run, const struct tm_document_result *result, uint32_t formats)
{
    const struct output *const output = only_output(run, formats);

    if (output)
        (void)(output->of_summary ? output->of_summary(run, result->doc, stdout)
                                  : output->of_result(run, result, stdout));
    return tm_finish_stdout(run, run->error.status);
}

static void commit_files(struct files *files, const char *folder)
{
    for (size_t i = 0; i < OUTPUT_COUNT; i++)
        if (files->of[i].stream)
            tm_atomic_give_name(&files->of[i]);
    if (files->tables)
        tm_atomic_folder_commit(files->tables);
    tm_sync_folder(folder);
}

/* It gets its name after the other files. */
static void end_trace(struct tm_run *run, struct tm_out_file *trace)
{
    if (!tm_failed(run))
        tm_out_file_commit(trace, NULL);
    tm_out_file_free(trace);
}

/* What is made from the summary alone.  Others read spill files or events, which this process has open. */
static bool is_of_summary(const struct output *output)
{
    return !output->into && output->format != TM_FORMAT_PARTIAL;
}

/* The files of one document. */
struct file_work {
    const struct tm_document_result *result;
    const char *folder;
    struct files *files;
    size_t output[OUTPUT_COUNT]; /* of each file that is open */
    bool is_written[OUTPUT_COUNT];
};

static int descriptor_of(void *of, size_t index)
{
    const struct file_work *const work = of;

    return fileno(work->files->of[work->output[index]].stream);
}

static void write_file(void *of, struct tm_run *run, size_t index, FILE *to)
{
    const struct file_work *const work = of;
    const size_t output = work->output[index];
    const struct tm_atomic_file *const file = &work->files->of[output];

    fill_file(run, work->result, work->folder, &outputs[output], file, to ? to : file->stream);
}

static size_t open_files(struct tm_run *run, struct file_work *work, uint32_t formats)
{
    const struct tm_document *const document = tm_document_of(tm_doc_root(work->result->doc));
    size_t count = 0;

    for (size_t i = 0; i < OUTPUT_COUNT && !tm_failed(run); i++) {
        char name[TM_DOCUMENT_FILE_BYTES];

        if (!(formats & (uint32_t)outputs[i].format) || !is_of_summary(&outputs[i]))
            continue;
        (void)tm_atomic_open(&work->files->of[i], run, work->folder, name_of(name, &outputs[i], document));
        work->output[count++] = i;
    }
    return count;
}

static bool takes_long(void *of, size_t index)
{
    const struct file_work *const work = of;

    return ((uint32_t)outputs[work->output[index]].format & ((uint32_t)TM_FORMAT_HTML | (uint32_t)TM_FORMAT_PDF)) != 0;
}

static void has_written(void *of, size_t index)
{
    struct file_work *const work = of;

    work->is_written[index] = true;
}

static const struct tm_output_files output_files = { write_file, descriptor_of, takes_long, has_written };

/* Of input: processes cost some milliseconds, which a smaller one's outputs hardly take. */
enum { SIDE_BY_SIDE_BYTES = 1 << 20 };

tm_status tm_document_write(struct tm_run *run, const struct tm_document_result *result, const char *folder,
                            const struct tm_options *options)
{
    const struct tm_document *const document = tm_document_of(tm_doc_root(result->doc));
    struct file_work work = { .result = result, .folder = folder };
    size_t count;
    struct files *const files = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*files), &run->error);

    if (!files)
        return run->error.status;
    tm_guard_document(run, folder, document, options->formats);
    tm_make_folder(run, folder);
    work.files = files;
    count = open_files(run, &work, options->formats);
    if (run->bytes_read >= SIDE_BY_SIDE_BYTES)
        tm_outputs_side_by_side(run, &output_files, &work, count);
    for (size_t i = 0; i < count && !tm_failed(run); i++)
        if (!work.is_written[i])
            write_file(&work, run, i, NULL);
    for (size_t i = 0; i < OUTPUT_COUNT && !tm_failed(run); i++) {
        char name[TM_DOCUMENT_FILE_BYTES];

        if (is_of_summary(&outputs[i]) || !(options->formats & (uint32_t)outputs[i].format))
            continue;
        (void)name_of(name, &outputs[i], document);
        if (outputs[i].into)
            (void)outputs[i].into(run, result, folder, name, files);
        else if (!tm_atomic_open(&files->of[i], run, folder, name))
            fill_file(run, result, folder, &outputs[i], &files->of[i], files->of[i].stream);
    }
    if (result->conversion)
        tm_conversion_judge(result->conversion, "report");
    if (run->redactor)
        tm_redaction_save(run, options, folder);
    if (!tm_failed(run))
        commit_files(files, folder);
    if (result->conversion)
        end_trace(run, files->trace);
    for (size_t i = 0; i < OUTPUT_COUNT; i++)
        tm_atomic_abort(&files->of[i]);
    tm_atomic_folder_free(files->tables);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, files, sizeof(*files));
    return run->error.status;
}

static const char *document_file_of(char name[TM_DOCUMENT_FILE_BYTES], const struct tm_document *document,
                                    uint32_t formats, size_t index)
{
    for (size_t i = 0; i < OUTPUT_COUNT; i++)
        if ((formats & (uint32_t)outputs[i].format) && index-- == 0)
            return outputs[i].format == TM_FORMAT_CSV ? TM_CSV_FOLDER "/" : name_of(name, &outputs[i], document);
    return NULL;
}

const char *tm_document_file(char name[TM_DOCUMENT_FILE_BYTES], const struct tm_value *root, uint32_t formats,
                             size_t index)
{
    return document_file_of(name, tm_document_of(root), formats, index);
}

enum { NAME_MOST = 200, NAME_LONGEST = 255 };

tm_status tm_check_folder(struct tm_run *run, const char *path)
{
    char at[TM_PLACE_BYTES];
    struct stat info;

    if (strlen(path) >= sizeof(at))
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write to '%s': the path is too long", path);
    memcpy(at, path, strlen(path) + 1);
    while (stat(at, &info) != 0) {
        char *const slash = strrchr(at, '/');

        if (errno != ENOENT)
            return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write to '%s'", path);
        if (slash && slash != at)
            *slash = '\0';
        else
            memcpy(at, slash ? "/" : ".", 2);
    }
    if (!S_ISDIR(info.st_mode)) {
        (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write to '%s': '%s' is not a folder", path, at);
        tm_hint(&run->error, "set another folder with -o");
        return TM_ERR_OUTPUT;
    }
    if (access(at, W_OK | X_OK) != 0) {
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write to '%s'", path);
        tm_hint(&run->error, "set another folder with -o");
        return run->error.status;
    }
    return TM_OK;
}

static size_t without_ending(const char *name, size_t length, const char *ending)
{
    const size_t cut = strlen(ending);

    return length > cut && memcmp(name + length - cut, ending, cut) == 0 ? length - cut : length;
}

tm_status tm_find_place(struct tm_run *run, const char *path, struct tm_file_place *place)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0;
    struct stat info;

    *place = (struct tm_file_place){ .folder = ".", .name = slash ? slash + 1 : path, .has_folder = slash != NULL };
    if (length >= sizeof(place->folder) || strlen(place->name) > NAME_LONGEST)
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write '%s': the path is too long", path);
    if (slash) {
        memcpy(place->folder, path, length ? length : 1);
        place->folder[length ? length : 1] = '\0';
    }
    const bool is_there = stat(path, &info) == 0;

    if (!place->name[0] || (is_there && S_ISDIR(info.st_mode)))
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write '%s': it is a folder", path);
    /* A new file takes the name, of a device too; of a link the link alone. */
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write '%s': it is a device or a pipe, not a file", path);
    return tm_check_folder(run, place->folder);
}

/* The first ones may end names of reports, all of them names of traces. */
static const char *const endings[] = { ".gz",   ".zst",  ".tgz",      ".tar",   ".zip",   ".xplane.pb",
                                       ".prof", ".json", ".pt.trace", ".trace", ".report" };

enum { REPORT_ENDINGS = 7, TRACE_ENDINGS = 10, ENDINGS = sizeof(endings) / sizeof(endings[0]) };

static size_t plain_length(const char *name, size_t length, size_t count)
{
    for (size_t i = 0; i < count; i++)
        length = without_ending(name, length, endings[i]);
    return length;
}

size_t tm_plain_name_length(const char *name, size_t length)
{
    return plain_length(name, length, ENDINGS);
}

/* The name of the file, or the run, without its endings. */
static const char *default_name_of(const struct tm_options *options, const char *run_name, bool is_trace,
                                   size_t *length)
{
    const char *const input = options->inputs[0];
    const char *const slash = strrchr(input, '/');
    const char *name = slash ? slash + 1 : input;
    struct stat info;

    if (strcmp(input, "-") == 0)
        name = "stdin";
    else if (options->input_count > 1 || stat(input, &info) != 0 || S_ISDIR(info.st_mode))
        name = run_name;
    *length = plain_length(name, strlen(name), is_trace ? TRACE_ENDINGS : REPORT_ENDINGS);
    return name;
}

void tm_place_name(char out[TM_PLACE_BYTES], const char *name, size_t length, const char *ending)
{
    size_t used = 0;

    for (; used < length && used < NAME_MOST; used++) {
        const unsigned char c = (unsigned char)name[used];

        out[used] = c < 0x20 || c == 0x7f || c == '/' || (used == 0 && c == '-') ? '_' : (char)c;
    }
    (void)snprintf(out + used, TM_PLACE_BYTES - used, "%s%s", used ? "" : "trace", ending);
}

tm_status tm_default_name(char out[TM_PLACE_BYTES], struct tm_run *run, const struct tm_options *options,
                          const char *run_name, const char *ending, bool is_trace)
{
    size_t length;
    const char *name = default_name_of(options, run_name, is_trace, &length);

    if (run->redactor && name != run_name)
        tm_redact_path(run->redactor, name, length, &name, &length);
    tm_place_name(out, name, length, ending);
    return run->error.status;
}

tm_status tm_side_files_check(struct tm_run *run, const struct tm_side_file *files, size_t count)
{
    struct tm_file_place place;

    for (size_t i = 0; i < count && !tm_failed(run); i++)
        if (files[i].path && !tm_find_place(run, files[i].path, &place))
            tm_guard_output(run, files[i].path, files[i].what);
    return run->error.status;
}

static void write_one(struct tm_run *run, const struct tm_side_file *side, const void *of, struct tm_atomic_file *file)
{
    struct tm_file_place place;

    if (tm_find_place(run, side->path, &place) || tm_make_folder(run, place.folder) ||
        tm_atomic_open(file, run, place.folder, place.name))
        return;
    (void)side->write(of, file->stream);
    if (fflush(file->stream) != 0)
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write '%s'", file->path);
}

tm_status tm_side_files_write(struct tm_run *run, const struct tm_side_file *files, size_t count, const void *of)
{
    struct tm_atomic_file *const file = tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*file), &run->error);

    assert(count <= TM_SIDE_FILES_MOST);
    if (!file)
        return run->error.status;
    for (size_t i = 0; i < count && !tm_failed(run); i++)
        if (files[i].path)
            write_one(run, &files[i], of, &file[i]);
    for (size_t i = 0; i < count; i++)
        if (file[i].stream)
            tm_atomic_commit(&file[i]);
    for (size_t i = 0; i < count; i++)
        tm_atomic_abort(&file[i]);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, file, count * sizeof(*file));
    return run->error.status;
}

void tm_run_operand_read(struct tm_run_operand *operand, const char *text)
{
    const char *sign = strchr(text, '=');
    const size_t length = sign ? (size_t)(sign - text) : 0;
    struct stat info;

    *operand = (struct tm_run_operand){ .path = text };
    if (!length || memchr(text, '/', length) || !sign[1] || stat(text, &info) == 0)
        return;
    *operand = (struct tm_run_operand){ .path = sign + 1, .label = text, .label_length = length };
}

tm_status tm_guard_document(struct tm_run *run, const char *folder, const struct tm_document *document,
                            uint32_t formats)
{
    const char *const what = document == &tm_nightly_document ? "a file of the page" : "a file of the report";
    char name[TM_DOCUMENT_FILE_BYTES], path[TM_PLACE_BYTES];
    const char *file;

    if (is_stdout(folder)) {
        (void)only_output(run, formats);
        return run->error.status;
    }
    for (size_t i = 0; !tm_failed(run) && (file = document_file_of(name, document, formats, i)) != NULL; i++) {
        const int length = snprintf(path, sizeof(path), "%s/%s", folder, file);
        const bool is_folder = file[strlen(file) - 1] == '/';

        if (length < 0 || (size_t)length >= sizeof(path))
            return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write to '%s': the path is too long", folder);
        if (is_folder)
            tm_guard_tree(run, path, "among the tables");
        else
            tm_guard_output(run, path, what);
    }
    return run->error.status;
}

/* From a document to its files, and the messages about them. */

enum { FINDINGS_SHOWN = 3, LINE_BYTES = 256 };

void tm_print_clean(FILE *to, const char *text)
{
    char line[LINE_BYTES];

    tm_clean_text(line, sizeof(line), text, strlen(text));
    (void)fputs(line, to);
}

bool tm_gate_is_noteworthy(const struct tm_value *gate)
{
    const char *const status = tm_text(tm_get(gate, "status"));

    return strcmp(status, "passed") != 0 && strcmp(status, "skipped") != 0;
}

void tm_print_gate(const struct tm_value *gate, const char *label)
{
    const char *const status = tm_text(tm_get(gate, "status"));
    const char *const why = tm_text(tm_get(gate, "why")), *const was = tm_text(tm_get(gate, "baseline_text"));

    if (!tm_gate_is_noteworthy(gate))
        return;
    (void)fprintf(stderr, "tracemill: gate %s: ", status);
    tm_print_clean(stderr, tm_text(tm_get(gate, "figure")));
    (void)fputs(" of ", stderr);
    tm_print_clean(stderr, label);
    if (tm_has(tm_get(gate, "value"))) {
        (void)fputs(" is ", stderr);
        tm_print_clean(stderr, tm_text(tm_get(gate, "value_text")));
        (void)fputs(was[0] ? ", was " : "", stderr);
        tm_print_clean(stderr, was);
    }
    (void)fprintf(stderr, "; the limit is %s", tm_gate_rule_words(gate));
    tm_print_clean(stderr, tm_text(tm_get(gate, "limit_text")));
    (void)fputs(why[0] ? ": " : "", stderr);
    tm_print_clean(stderr, why);
    (void)fputc('\n', stderr);
    tm_actions_annotate_gate(gate, label);
}

void tm_print_failed_checks(const struct tm_value *root)
{
    const struct tm_value *const checks = tm_get(root, "checks");

    for (size_t i = 0; i < tm_length(checks); i++) {
        const struct tm_value *const check = tm_at(checks, i), *const holds = tm_get(check, "holds");

        if (!tm_has(holds) || tm_is(holds))
            continue;
        (void)fprintf(stderr, "tracemill: warning: check '%s' failed: expected %lld %s, found %lld (",
                      tm_text(tm_get(check, "id")), (long long)tm_int(tm_get(check, "expected")),
                      tm_text(tm_get(check, "unit")), (long long)tm_int(tm_get(check, "found")));
        tm_print_clean(stderr, tm_text(tm_get(check, "where")));
        (void)fputs(")\n", stderr);
    }
}

static const char *color_of(const char *severity)
{
    static const struct {
        const char *severity, *escape;
    } colors[] = { { "critical", "\033[31m" }, { "warning", "\033[33m" }, { "good", "\033[32m" } };

    for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++) {
        if (strcmp(colors[i].severity, severity) == 0)
            return colors[i].escape;
    }
    return "";
}

enum { CLOSING_BYTES = 2048, SEVERITY_COLUMNS = 12 };

/* "The device waits for input (potential savings 1.51 s, 80.0 %)" */
static void describe_finding(char out[CLOSING_BYTES], const struct tm_value *finding)
{
    const struct tm_value *const explains = tm_get(finding, "explains_pct");
    char text[TM_FORMAT_BYTES];

    out[0] = 0;
    tm_format_append(out, CLOSING_BYTES, "%s", tm_text(tm_get(finding, "title")));
    if (tm_has(explains)) { /* of a comparison: its title has the time */
        tm_format_append(out, CLOSING_BYTES, " (%s of the change)", tm_format_pct(text, tm_double(explains)));
    } else if (tm_int(tm_get(finding, "at_stake_ps")) > 0) {
        tm_format_append(out, CLOSING_BYTES, " (potential savings %s",
                         tm_format_time(text, tm_int(tm_get(finding, "at_stake_ps"))));
        if (tm_has(tm_get(finding, "share_pct")))
            tm_format_append(out, CLOSING_BYTES, ", %s", tm_format_pct(text, tm_double(tm_get(finding, "share_pct"))));
        tm_format_append(out, CLOSING_BYTES, ")");
    }
}

/* At most TM_TEXT_COLUMNS wide: a log wraps nothing. */
static void print_wrapped(const char *text, int indent)
{
    char clean[CLOSING_BYTES];

    tm_format_text(clean, sizeof(clean), text);
    tm_text_put_wrapped(stdout, clean, indent);
}

static void print_finding(const struct tm_value *finding, bool has_colors)
{
    const char *const severity = tm_text(tm_get(finding, "severity"));
    const char *const color = has_colors ? color_of(severity) : "";
    char text[CLOSING_BYTES];

    describe_finding(text, finding);
    (void)printf("  %s%-8.8s%s  ", color, severity, color[0] ? "\033[0m" : "");
    print_wrapped(text, SEVERITY_COLUMNS);
}

/* The verdict, what to do first, and where everything is: on a terminal as in a log. */
static void print_closing(const struct tm_value *root, const char *folder, const struct tm_options *options)
{
    const struct tm_value *const findings = tm_get(root, "findings");
    const bool has_colors = tm_terminal_has_colors(options, stdout);
    const char *const color = has_colors ? color_of(tm_text(tm_path(root, "verdict.severity"))) : "";
    char name[TM_DOCUMENT_FILE_BYTES];
    const char *file;

    (void)fputs(color, stdout);
    print_wrapped(tm_text(tm_path(root, "verdict.text")), 0);
    (void)fputs(color[0] ? "\033[0m" : "", stdout);
    for (size_t i = 0; i < tm_length(findings) && i < FINDINGS_SHOWN; i++)
        print_finding(tm_at(findings, i), has_colors);
    if (tm_length(findings) > FINDINGS_SHOWN)
        (void)printf("  and %zu more in the %s\n", tm_length(findings) - FINDINGS_SHOWN, tm_document_of(root)->what);
    (void)fputs("written to ", stdout);
    tm_print_clean(stdout, folder);
    (void)fputs(": ", stdout);
    for (size_t i = 0; (file = tm_document_file(name, root, options->formats, i)) != NULL; i++)
        (void)printf("%s%s", i ? ", " : "", file);
    (void)putchar('\n');
}

/* GitHub Actions: https://docs.github.com/actions/reference/workflow-commands-for-github-actions */

static bool is_in_actions(void)
{
    const char *const is = getenv("GITHUB_ACTIONS");

    return is && strcmp(is, "true") == 0;
}

void tm_actions_add_summary(struct tm_run *run, const struct tm_doc *doc)
{
    const char *const path = getenv("GITHUB_STEP_SUMMARY");
    const int fd = is_in_actions() && path && *path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
    FILE *const to = fd >= 0 ? fdopen(fd, "a") : NULL;

    if (!to) {
        if (fd >= 0)
            (void)close(fd);
        return; /* the job continues without it */
    }
    (void)tm_markdown_write(run, doc, to);
    (void)fputc('\n', to);
    (void)fclose(to);
}

/* In a command a line's end and a percent sign are escaped, in a property colons and commas, too. */
static void print_escaped(const char *text, const char *also)
{
    char clean[CLOSING_BYTES];

    tm_format_text(clean, sizeof(clean), text);
    for (const char *at = clean; *at; at++) {
        if (*at == '%' || strchr(also, *at))
            (void)fprintf(stderr, "%%%02X", (unsigned)(unsigned char)*at);
        else
            (void)fputc(*at, stderr);
    }
}

void tm_actions_annotate_gate(const struct tm_value *gate, const char *label)
{
    const char *const status = tm_text(tm_get(gate, "status")), *const was = tm_text(tm_get(gate, "baseline_text"));
    char text[CLOSING_BYTES] = "";

    if (!is_in_actions() || !tm_gate_is_noteworthy(gate))
        return;
    tm_format_append(text, sizeof(text), "%s of %s", tm_text(tm_get(gate, "figure")), label);
    if (tm_has(tm_get(gate, "value")))
        tm_format_append(text, sizeof(text), " is %s%s%s", tm_text(tm_get(gate, "value_text")), *was ? ", was " : "",
                         was);
    tm_format_append(text, sizeof(text), "; the limit is %s%s", tm_gate_rule_words(gate),
                     tm_text(tm_get(gate, "limit_text")));
    if (*tm_text(tm_get(gate, "why")))
        tm_format_append(text, sizeof(text), ": %s", tm_text(tm_get(gate, "why")));
    (void)fprintf(stderr, "::%s title=Gate ", strcmp(status, "failed") == 0 ? "error" : "warning");
    print_escaped(status, ":,");
    (void)fputs("::", stderr);
    print_escaped(text, "");
    (void)fputc('\n', stderr);
}

static tm_status forgive_reader(struct tm_run *run, tm_status st)
{
    if (st != TM_ERR_OUTPUT || !tm_terminal_reader_is_gone())
        return st;
    run->error = (struct tm_error){ .status = TM_OK };
    return TM_OK;
}

void tm_print_partial(const struct tm_value *summary, const char *what)
{
    const struct tm_value *const files = tm_path(summary, "input.files");
    const struct tm_value *first = NULL;
    size_t count = 0;

    for (size_t i = 0; i < tm_length(files); i++) {
        const struct tm_value *const file = tm_at(files, i);

        if (!tm_is(tm_get(file, "partial")))
            continue;
        first = first ? first : file;
        count++;
    }
    (void)fprintf(stderr, "tracemill: warning: the %s partial: ", what);
    if (first) {
        const char *const problem = tm_text(tm_at(tm_get(first, "problems"), 0));

        (void)fputc('\'', stderr);
        tm_print_clean(stderr, tm_text(tm_get(first, "path")));
        (void)fputs(problem[0] ? "': " : "' is damaged", stderr);
        tm_print_clean(stderr, problem);
        if (count > 1)
            (void)fprintf(stderr, ", and %zu more file%s", count - 1, count > 2 ? "s" : "");
        (void)fputs("; ", stderr);
    }
    (void)fputs("figures cover only what could be read\n", stderr);
}

enum { COLUMNS_LEAST = 40, COLUMNS_MOST = 1000 };

int tm_columns_of_line(void)
{
    struct winsize size = { .ws_col = 0 };

    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return TM_TEXT_COLUMNS;
    return size.ws_col < COLUMNS_LEAST ? COLUMNS_LEAST : size.ws_col > COLUMNS_MOST ? COLUMNS_MOST : size.ws_col;
}

tm_status tm_finish_stdout(struct tm_run *run, tm_status st)
{
    if (st == TM_OK && (fflush(stdout) != 0 || ferror(stdout)))
        st = tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write to stdout");
    return forgive_reader(run, st);
}

tm_status tm_print_document(struct tm_run *run, const struct tm_doc *doc)
{
    return forgive_reader(run, tm_doc_print(doc, run, STDOUT_FILENO));
}

tm_status tm_document_deliver(struct tm_run *run, const struct tm_document_result *result, const char *folder,
                              const struct tm_options *options)
{
    tm_status st;

    tm_progress_phase(&run->progress, "writing", 0);
    st = is_stdout(folder) ? write_stdout(run, result, options->formats)
                           : tm_document_write(run, result, folder, options);
    tm_progress_end(&run->progress);
    if (st)
        return st;
    tm_actions_add_summary(run, result->doc);
    if (options->json)
        return tm_print_document(run, result->doc);
    if (!options->quiet && !is_stdout(folder))
        print_closing(tm_doc_root(result->doc), folder, options);
    return TM_OK;
}
