/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/left_behind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- names --- */

/* A name, from its begin to where it is cut. */
struct rest {
    const char *text;
    size_t length;
};

/* Without an ending.  out: false: it does not end so */
static bool cut_ending(struct rest *name, const char *ending)
{
    const size_t length = strlen(ending);

    if (name->length < length || memcmp(name->text + name->length - length, ending, length) != 0)
        return false;
    name->length -= length;
    return true;
}

/* Without the digits at its end.  out: false where there are none */
static bool cut_digits(struct rest *name)
{
    const size_t before = name->length;

    while (name->length > 0 && name->text[name->length - 1] >= '0' && name->text[name->length - 1] <= '9')
        name->length--;
    return name->length < before;
}

/* ".part.old" for a moment */
bool tm_left_behind_is(const char *name)
{
    struct rest rest = { name, strlen(name) };

    if (name[0] != '.' || (!cut_ending(&rest, ".part") && !cut_ending(&rest, ".part.old")))
        return false;
    return cut_digits(&rest) && cut_ending(&rest, "-") && cut_digits(&rest) && cut_ending(&rest, ".") && rest.length > 1;
}

/* --- locks --- */

bool tm_left_behind_lock(int fd)
{
    struct stat info;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK;
    return fstat(fd, &info) != 0 || info.st_nlink > 0;
}

/* Nobody writes it any more: it is locked until the descriptor is closed. */
static bool is_free(int fd, bool is_alone)
{
    struct stat info;

    if (fstat(fd, &info) != 0 || info.st_uid != geteuid() || (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
        return false;
    return flock(fd, LOCK_EX | LOCK_NB) == 0 || (is_alone && errno != EWOULDBLOCK);
}

/* --- removing --- */

static void remove_tables(int folder, DIR *dir, const char *name)
{
    const struct dirent *entry;

    while ((entry = readdir(dir)) != NULL) {
        struct rest rest = { entry->d_name, strlen(entry->d_name) };

        if (cut_ending(&rest, ".csv"))
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    }
    (void)unlinkat(folder, name, AT_REMOVEDIR);
}

static DIR *open_folder(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *const dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir && fd >= 0)
        (void)close(fd);
    return dir;
}

bool tm_left_behind_remove_tables(int folder, const char *name)
{
    DIR *const dir = open_folder(folder, name);
    struct stat info;

    if (!dir)
        return false;
    remove_tables(folder, dir, name);
    (void)closedir(dir);
    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0;
}

static void remove_one(int folder, const char *name, bool is_alone)
{
    const int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    DIR *dir;

    if (fd >= 0) {
        if (is_free(fd, is_alone))
            (void)unlinkat(folder, name, 0);
        (void)close(fd);
    } else if (errno == EISDIR && (dir = open_folder(folder, name)) != NULL) {
        if (is_free(dirfd(dir), is_alone))
            remove_tables(folder, dir, name);
        (void)closedir(dir);
    }
}

void tm_left_behind_remove(DIR *dir, bool is_alone)
{
    const struct dirent *entry;

    while ((entry = readdir(dir)) != NULL)
        if (tm_left_behind_is(entry->d_name))
            remove_one(dirfd(dir), entry->d_name, is_alone);
}

void tm_left_behind_sweep(struct tm_run *run, const char *folder)
{
    DIR *const dir = opendir(*folder ? folder : ".");
    struct stat info;

    if (!dir)
        return;
    if (fstat(dirfd(dir), &info) == 0 && (info.st_dev != run->swept_device || info.st_ino != run->swept_inode)) {
        run->swept_device = info.st_dev;
        run->swept_inode = info.st_ino;
        tm_left_behind_remove(dir, false);
    }
    (void)closedir(dir);
}
