/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/commands/side_files.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/out_place.h"
#include "pipeline/guard.h"

tm_status tm_side_files_check(struct tm_run *run, const struct tm_side_file *files, size_t count)
{
    struct tm_file_place place;
    tm_status st = TM_OK;

    for (size_t i = 0; i < count && st == TM_OK; i++) {
        if (!files[i].path)
            continue;
        st = tm_find_place(run, files[i].path, &place);
        if (st == TM_OK)
            st = tm_guard_output(run, files[i].path, files[i].what);
    }
    return st;
}

static tm_status write_one(struct tm_run *run, const struct tm_side_file *side, const void *of,
                           struct tm_atomic_file *file)
{
    struct tm_file_place place;
    tm_status st = tm_find_place(run, side->path, &place);

    if (st == TM_OK)
        st = tm_make_folder(run, place.folder);
    if (st == TM_OK)
        st = tm_atomic_open(file, run, place.folder, place.name);
    if (st == TM_OK)
        st = side->write(of, file->stream);
    if (st == TM_OK && fflush(file->stream) != 0)
        st = tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write '%s'", file->path);
    return st;
}

tm_status tm_side_files_write(struct tm_run *run, const struct tm_side_file *files, size_t count, const void *of)
{
    struct tm_atomic_file *const file = tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*file), &run->error);
    tm_status st = file ? TM_OK : run->error.status;

    assert(count <= TM_SIDE_FILES_MOST);
    for (size_t i = 0; i < count && st == TM_OK; i++)
        st = files[i].path ? write_one(run, &files[i], of, &file[i]) : TM_OK;
    for (size_t i = 0; i < count && st == TM_OK; i++)
        st = file[i].stream ? tm_atomic_commit(&file[i]) : TM_OK;
    for (size_t i = 0; file && i < count; i++)
        tm_atomic_abort(&file[i]);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, file, count * sizeof(*file));
    return st;
}
