/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of a batch, and the lock of its folder. */
#include "pipeline/batch/out_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static tm_status print_path(struct tm_run *run, char path[TM_OUT_PATH_BYTES], const char *format, ...) TM_PRINTF(3, 4);

static tm_status print_path(struct tm_run *run, char path[TM_OUT_PATH_BYTES], const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(path, TM_OUT_PATH_BYTES, format, args);
    va_end(args);
    if (n >= 0 && n < TM_OUT_PATH_BYTES)
        return TM_OK;
    return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "the path '%s...' is too long", path);
}

tm_status tm_out_item_folder(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                             const struct tm_batch_file *file, char path[TM_OUT_PATH_BYTES])
{
    if (!file)
        return print_path(run, path, "%s/runs/%s", out, batch_run->id);
    return print_path(run, path, "%s/runs/%s/hosts/%s", out, batch_run->id, file->id);
}

tm_status tm_out_path(struct tm_run *run, const char *out, const char *name, char path[TM_OUT_PATH_BYTES])
{
    return print_path(run, path, "%s/%s", out, name);
}

tm_status tm_input_path(struct tm_run *run, const struct tm_batch_run *batch_run, const struct tm_batch_file *file,
                        char path[TM_OUT_PATH_BYTES])
{
    const size_t length = strlen(batch_run->root);
    const char *slash = !file->path[0] || (length && batch_run->root[length - 1] == '/') ? "" : "/";

    return print_path(run, path, "%s%s%s", batch_run->root, slash, file->path);
}

tm_status tm_out_lock(struct tm_run *run, const char *out, int *fd)
{
    *fd = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot open '%s': %s", out, strerror(errno));
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return TM_OK;
    const int problem = errno;

    (void)close(*fd);
    *fd = -1;
    if (problem != EWOULDBLOCK)
        return TM_OK; /* folders of some network file systems cannot be locked */
    (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot work in '%s': another batch is at work there", out);
    tm_hint(&run->error, "wait until it ends; shares of one manifest, '--shard I/N', can be worked at the same time");
    return TM_ERR_OUTPUT;
}
