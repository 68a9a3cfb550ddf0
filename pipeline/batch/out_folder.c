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

#include "pipeline/batch/path_parts.h"

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
    return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot use a path that is too long: '%s...'", path);
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

/* --- what was left behind --- */

/* Without an ending.  out: false: it does not end so */
static bool cut_ending(struct tm_part *name, const char *ending)
{
    if (!tm_part_has_ending(*name, ending))
        return false;
    name->length -= strlen(ending);
    return true;
}

/* Without the digits at its end.  out: false where there are none */
static bool cut_digits(struct tm_part *name)
{
    const size_t before = name->length;

    while (name->length > 0 && name->text[name->length - 1] >= '0' && name->text[name->length - 1] <= '9')
        name->length--;
    return name->length < before;
}

/* ".NAME.PID-N.part", as files and folders that are not complete are called; ".part.old" for a moment. */
bool tm_out_is_part(const char *name)
{
    struct tm_part rest = { name, strlen(name) };

    if (name[0] != '.' || (!cut_ending(&rest, ".part") && !cut_ending(&rest, ".part.old")))
        return false;
    return cut_digits(&rest) && cut_ending(&rest, "-") && cut_digits(&rest) && cut_ending(&rest, ".");
}

bool tm_out_remove_tables(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!dir) {
        if (fd >= 0)
            (void)close(fd);
        return false;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (tm_part_has_ending((struct tm_part){ entry->d_name, strlen(entry->d_name) }, ".csv"))
            (void)unlinkat(fd, entry->d_name, 0);
    }
    (void)closedir(dir);
    return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

void tm_out_remove_left_behind(DIR *dir)
{
    const struct dirent *entry;

    while ((entry = readdir(dir)) != NULL)
        if (tm_out_is_part(entry->d_name) && unlinkat(dirfd(dir), entry->d_name, 0) != 0)
            (void)tm_out_remove_tables(dirfd(dir), entry->d_name);
}

/* --- the lock --- */

static void clean(const char *out)
{
    DIR *dir = opendir(out);

    if (!dir)
        return;
    tm_out_remove_left_behind(dir);
    (void)closedir(dir);
}

tm_status tm_out_lock(struct tm_run *run, const char *out, bool is_share, int *fd)
{
    *fd = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot open '%s': %s", out, strerror(errno));
    if (flock(*fd, (is_share ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) {
        if (!is_share)
            clean(out);
        return TM_OK;
    }
    const int problem = errno;

    (void)close(*fd);
    *fd = -1;
    if (problem != EWOULDBLOCK)
        return TM_OK; /* folders of some network file systems cannot be locked */
    (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot work in '%s': another batch is at work there", out);
    tm_hint(&run->error, "wait until it ends; shares of one manifest, '--shard I/N', can be worked at the same time");
    return TM_ERR_OUTPUT;
}
