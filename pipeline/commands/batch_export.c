/* SPDX-License-Identifier: Apache-2.0 */
/* `batch export`: the history as JSON Lines, to stdout or into a file that appears whole. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/atomic_file.h"
#include "pipeline/batch/out_folder.h"
#include "pipeline/commands/commands.h"
#include "pipeline/commands/out_place.h"
#include "pipeline/terminal.h"
#include "reports/history/history.h"

static tm_status print(struct tm_run *run, struct tm_history *history)
{
    tm_status st = tm_history_export(history, stdout);

    if (st == TM_OK && fflush(stdout) != 0)
        st = tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write to stdout: %s", strerror(errno));
    if (st == TM_ERR_OUTPUT && tm_terminal_reader_is_gone()) {
        run->error = (struct tm_error){ .status = TM_OK };
        return TM_OK;
    }
    return st;
}

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

    if (st == TM_OK)
        st = tm_history_open(&history, run, path);
    if (st == TM_OK)
        st = options->output ? write_file(run, history, options->output) : print(run, history);
    tm_history_close(history);
    return st;
}
