/* SPDX-License-Identifier: Apache-2.0 */
/* `batch export`: the history as JSON Lines, to stdout or into a file that appears whole. */
#include <stdio.h>
#include <string.h>

#include "pipeline/atomic_file.h"
#include "pipeline/batch/out_folder.h"
#include "pipeline/commands/closing.h"
#include "pipeline/commands/commands.h"
#include "pipeline/commands/guarded.h"
#include "pipeline/commands/out_place.h"
#include "pipeline/guard.h"
#include "reports/history/history.h"

static tm_status write_file(struct tm_run *run, struct tm_history *history, const char *path)
{
    struct tm_atomic_file file = { .stream = NULL };
    struct tm_file_place place;
    tm_status st = tm_find_place(run, path, &place);

    if (st == TM_OK)
        st = tm_make_folder(run, place.folder);
    if (st == TM_OK)
        st = tm_atomic_open(&file, run, place.folder, place.name);
    if (st == TM_OK)
        st = tm_history_export(history, file.stream);
    if (st == TM_OK)
        st = tm_atomic_commit(&file);
    tm_atomic_abort(&file);
    return st;
}

tm_status tm_command_batch_export(struct tm_run *run, const struct tm_options *options)
{
    struct tm_history *history = NULL;
    char path[TM_OUT_PATH_BYTES];
    tm_status st = tm_out_path(run, options->inputs[0], TM_HISTORY_FILE, path);

    if (st == TM_OK && options->output)
        st = tm_guard_batch(run, options->inputs[0]);
    if (st == TM_OK && options->output)
        st = tm_guard_output(run, options->output, "the file of -o");
    if (st == TM_OK)
        st = tm_history_open(&history, run, path);
    if (st == TM_OK)
        st = options->output ? write_file(run, history, options->output)
                             : tm_finish_stdout(run, tm_history_export(history, stdout));
    tm_history_close(history);
    return st;
}
