/* SPDX-License-Identifier: Apache-2.0 */
/* `split`: a run into parts that a viewer can open, with a list and a page of them.  Parts get their names one by one,
 * the list and the page last; what fails takes its parts away again. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/commands/out_place.h"
#include "pipeline/commands/redaction.h"
#include "pipeline/commands/split_folder.h"
#include "pipeline/commands/split_parts.h"
#include "pipeline/settings.h"
#include "reports/html/html_parts.h"

/* The format of the parts: what was chosen for reports elsewhere than on the command line does not count. */
static tm_status choose_format(struct tm_run *run, const struct tm_options *options,
                               const struct tm_trace_format **format)
{
    const struct tm_setting *setting = &options->settings->of[TM_OPTION_FORMAT];
    const bool is_json = options->formats == TM_FORMAT_JSON;

    *format = tm_trace_format_of(is_json ? "part.json" : "part.pftrace");
    if (setting->origin != TM_ORIGIN_FLAG || is_json || options->formats == TM_FORMAT_PFTRACE)
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%s' for --format: parts are either pftrace or json",
                  setting->text);
    tm_hint(&run->error, "write '--format pftrace' or '--format json'");
    return TM_ERR_USAGE;
}

/* --- the list and the page --- */

static tm_status write_list(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    return tm_doc_print(doc, run, fileno(to));
}

typedef tm_status write_doc(struct tm_run *run, const struct tm_doc *doc, FILE *to);

static tm_status write_file(struct tm_run *run, const struct tm_doc *doc, struct tm_atomic_file *file,
                            const char *folder, const char *name, write_doc *write)
{
    tm_status st = tm_atomic_open(file, run, folder, name);

    if (st == TM_OK)
        st = write(run, doc, file->stream);
    if (st == TM_OK && fflush(file->stream) != 0)
        st = tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write '%s'", file->path);
    return st;
}

/* Both or none, as far as one rename after the other can be. */
TM_NOT_INLINE tm_status write_index(struct tm_run *run, const struct tm_doc *doc, const char *folder)
{
    struct tm_atomic_file page = { .stream = NULL }, list = { .stream = NULL };
    tm_status st = write_file(run, doc, &page, folder, TM_SPLIT_PAGE, tm_html_parts_write);

    if (st == TM_OK)
        st = write_file(run, doc, &list, folder, TM_SPLIT_INDEX, write_list);
    if (st == TM_OK)
        st = tm_atomic_commit(&page);
    if (st == TM_OK) {
        st = tm_atomic_commit(&list);
        if (st != TM_OK)
            tm_split_folder_remove(folder, TM_SPLIT_PAGE);
    }
    tm_atomic_abort(&page);
    tm_atomic_abort(&list);
    return st;
}

/* --- the verb --- */

static tm_status write_parts(struct tm_split_parts *parts, struct tm_conversion *c,
                             const struct tm_trace_format *format, const char *folder)
{
    tm_status st = tm_split_parts_write(parts, c, format, folder);

    return st == TM_OK ? tm_conversion_judge(c, "split") : st;
}

static tm_status tell(const struct tm_split_parts *parts, const struct tm_doc *doc)
{
    const struct tm_conversion *c = parts->c;

    if (c->options->json)
        return tm_doc_print(doc, c->run, STDOUT_FILENO);
    return c->options->quiet ? TM_OK : tm_split_parts_print(parts, stdout);
}

static tm_status list_parts(const struct tm_split_parts *parts, struct tm_doc *doc)
{
    tm_doc_end_reading(doc);
    return tm_split_parts_add(parts, tm_doc_root(doc));
}

static tm_status split_into(struct tm_conversion *c, const struct tm_trace_format *format, const char *folder)
{
    struct tm_run *run = c->run;
    struct tm_split_parts parts = { .c = NULL };
    struct tm_doc *doc = NULL;
    tm_status st = tm_make_folder(run, folder);

    if (st == TM_OK)
        st = tm_split_folder_clear(run, folder);
    tm_progress_phase(&run->progress, "writing", 0);
    if (st == TM_OK)
        st = write_parts(&parts, c, format, folder);
    tm_progress_end(&run->progress);
    tm_host_close(&c->host); /* the list may have its memory */
    if (st == TM_OK) {
        doc = tm_doc_new(run);
        st = doc ? list_parts(&parts, doc) : run->error.status;
    }
    if (st == TM_OK)
        st = tm_doc_status(doc);
    if (st == TM_OK)
        st = tm_redaction_save(run, c->options, folder);
    if (st == TM_OK)
        st = write_index(run, doc, folder);
    if (st != TM_OK)
        tm_split_parts_remove(&parts);
    if (st == TM_OK)
        st = tell(&parts, doc);
    tm_doc_free(doc);
    tm_split_parts_free(&parts);
    return st;
}

/* Where nobody named it: by its input, or the pseudonym of that, whose key is known when the input was read. */
TM_NOT_INLINE tm_status find_fallback(struct tm_conversion *c, char folder[TM_PLACE_BYTES])
{
    char run_name[TM_SHOWN_RUN_BYTES];
    tm_status st = tm_conversion_run_name(c, run_name);

    if (st == TM_OK)
        st = tm_default_name(folder, c->run, c->options, run_name, ".split", true);
    return st == TM_OK ? tm_split_folder_check(c->run, folder, c->options->force) : st;
}

tm_status tm_command_split(struct tm_run *run, const struct tm_options *options)
{
    struct tm_conversion conversion = { .run = NULL };
    const struct tm_trace_format *format;
    char fallback[TM_PLACE_BYTES];
    const char *const folder = options->output ? options->output : fallback;
    tm_status st = choose_format(run, options, &format);

    if (st == TM_OK && options->output)
        st = tm_split_folder_check(run, folder, options->force);
    if (st == TM_OK)
        st = tm_redaction_begin(run, options);
    if (st == TM_OK)
        st = tm_conversion_open(&conversion, run, options, "split", options->plain);
    if (st == TM_OK && !options->output && !run->redactor)
        st = find_fallback(&conversion, fallback);
    if (st == TM_OK)
        st = tm_conversion_prepare(&conversion);
    if (st == TM_OK && !options->output && run->redactor)
        st = find_fallback(&conversion, fallback);
    if (st == TM_OK) /* what is known before anything is written */
        st = tm_conversion_judge(&conversion, "split");
    if (st == TM_OK)
        st = split_into(&conversion, format, folder);
    if (st == TM_OK)
        st = tm_conversion_warn(&conversion);
    tm_conversion_close(&conversion);
    tm_redaction_end(run);
    return st;
}
