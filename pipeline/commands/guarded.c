/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/commands/guarded.h"

#include <string.h>

#include "pipeline/batch/out_folder.h"
#include "pipeline/commands/document_files.h"
#include "pipeline/commands/out_place.h"
#include "pipeline/commands/summaries.h"
#include "pipeline/guard.h"
#include "reports/content/document.h"

/* "PATH", or "NAME=PATH". */
static tm_status add_operand(struct tm_run *run, const char *text)
{
    struct tm_run_operand operand;

    if (!text || strcmp(text, "-") == 0)
        return TM_OK;
    tm_run_operand_read(&operand, text);
    return tm_guard_input(run, operand.path, NULL);
}

tm_status tm_guard_options(struct tm_run *run, const struct tm_options *options)
{
    const char *const named[] = { options->history, options->results, options->thresholds, options->config,
                                  options->init ? NULL : options->gate };
    tm_status st = TM_OK;

    for (size_t i = 0; i < options->input_count && st == TM_OK; i++)
        st = add_operand(run, options->inputs[i]);
    for (size_t i = 0; i < options->baseline.count && st == TM_OK; i++)
        st = add_operand(run, options->baseline.text[i]);
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]) && st == TM_OK; i++)
        st = add_operand(run, named[i]);
    return st;
}

tm_status tm_guard_document(struct tm_run *run, const char *folder, const struct tm_document *document, uint32_t formats)
{
    const char *const what = document == &tm_night_document ? "a file of the page" : "a file of the report";
    char name[TM_DOCUMENT_FILE_BYTES], path[TM_PLACE_BYTES];
    const char *file;
    tm_status st = TM_OK;

    for (size_t i = 0; st == TM_OK && (file = tm_document_file_of(name, document, formats, i)) != NULL; i++) {
        const int length = snprintf(path, sizeof(path), "%s/%s", folder, file);
        const bool is_folder = file[strlen(file) - 1] == '/';

        if (length < 0 || (size_t)length >= sizeof(path))
            return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write into '%s': the path is too long", folder);
        st = is_folder ? tm_guard_tree(run, path, "among the tables") : tm_guard_output(run, path, what);
    }
    return st;
}

tm_status tm_guard_batch(struct tm_run *run, const char *out)
{
    static const uint32_t of_pages =
        TM_FORMAT_HTML | TM_FORMAT_PDF | TM_FORMAT_JSON | TM_FORMAT_TEXT | TM_FORMAT_MARKDOWN | TM_FORMAT_CSV;
    static const struct {
        const char *name, *what;
        bool is_tree;
    } kept[] = {
        { TM_HISTORY_FILE, "the history of the batch", false },
        { TM_MANIFEST_FILE, "the manifest of the batch", false },
        { "runs", "among the runs of the batch", true },
        { "slurm", "among the scripts of the batch", true },
    };
    char path[TM_OUT_PATH_BYTES];
    tm_status st = TM_OK;

    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]) && st == TM_OK; i++) {
        st = tm_out_path(run, out, kept[i].name, path);
        if (st == TM_OK)
            st = kept[i].is_tree ? tm_guard_tree(run, path, kept[i].what) : tm_guard_output(run, path, kept[i].what);
    }
    return st == TM_OK ? tm_guard_document(run, out, &tm_night_document, of_pages) : st;
}
