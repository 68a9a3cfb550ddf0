/* SPDX-License-Identifier: Apache-2.0 */
/* Folders that appear whole.  The new one is made beside the old one, under a hidden name that is not there yet, and
 * the two change names in one step where the file system can do that.  The older files are then removed by their
 * names, and what is not ours is moved into the new folder. */
#include "pipeline/atomic_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/left_behind.h"
#include "pipeline/signals.h"

enum { ATTEMPTS = 100, PATH_BYTES = 4096, PART_BYTES = 4224, LINE_BYTES = 4096 };

struct tm_atomic_folder {
    struct tm_run *run;
    const char *index, *header;
    char path[PATH_BYTES]; /* final */
    char part[PART_BYTES]; /* while it is written; the older folder after the exchange */
    bool is_made;          /* there is something to remove */
    struct tm_guarded_folder made;
    int older_fd;          /* -1 = there is none: opened before the exchange, after which nothing may be lacking */
    int older_count;       /* files of the older folder: what its index lists */
    char older[TM_FOLDER_FILES][TM_FOLDER_NAME_BYTES];
};

static tm_status fail(struct tm_run *run, const char *path, int problem)
{
    return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, problem, "cannot write '%s'", path);
}

/* --- names --- */

/* One that a file of the folder can have: nothing else is ever removed. */
static bool is_name(const char *name)
{
    const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");

    return n > 0 && n + 4 < TM_FOLDER_NAME_BYTES && strcmp(name + n, ".csv") == 0;
}

/* --- making it --- */

/* Open and lock what was just made.  out: 0, or errno; EEXIST: somebody took it for left behind */
static int hold(struct tm_atomic_folder *to)
{
    to->made.path = to->part;
    to->made.fd = open(to->part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (to->made.fd >= 0 && tm_left_behind_lock(to->made.fd)) {
        to->is_made = true;
        return 0;
    }
    const int problem = to->made.fd < 0 && errno != ENOENT ? errno : EEXIST;

    if (to->made.fd >= 0)
        (void)close(to->made.fd);
    to->made.fd = -1;
    if (problem != EEXIST)
        (void)rmdir(to->part);
    return problem;
}

static tm_status make_unguarded(struct tm_atomic_folder *to, const char *folder, const char *name)
{
    int problem = EEXIST;

    for (unsigned i = 0; i < ATTEMPTS && problem == EEXIST; i++) {
        const int n = snprintf(to->part, sizeof(to->part), "%s/.%s.%ld-%u.part", folder, name, (long)getpid(), i);

        if (n < 0 || (size_t)n >= sizeof(to->part))
            problem = ENAMETOOLONG;
        else
            problem = mkdir(to->part, 0777) == 0 ? hold(to) : errno;
    }
    return problem ? fail(to->run, to->path, problem) : TM_OK;
}

/* So that no signal leaves it behind. */
static tm_status make(struct tm_atomic_folder *to, const char *folder, const char *name)
{
    sigset_t before;
    tm_status st;

    tm_signals_hold(&before);
    st = make_unguarded(to, folder, name);
    if (st == TM_OK)
        tm_signals_guard_folder(&to->made);
    tm_signals_let(&before);
    return st;
}

struct tm_atomic_folder *tm_atomic_folder_open(struct tm_run *run, const char *folder, const char *name,
                                               const char *index, const char *header)
{
    struct tm_atomic_folder *to = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*to), &run->error);
    struct stat info;
    int n;

    if (!to)
        return NULL;
    to->run = run;
    to->index = index;
    to->header = header;
    to->made.fd = to->older_fd = -1;
    n = snprintf(to->path, sizeof(to->path), "%s/%s", folder, name);
    if (n < 0 || (size_t)n >= sizeof(to->path))
        (void)fail(run, name, ENAMETOOLONG);
    else if (lstat(to->path, &info) == 0 && !S_ISDIR(info.st_mode))
        (void)fail(run, to->path, ENOTDIR);
    else if (access(to->path, R_OK | W_OK | X_OK) != 0 && errno != ENOENT) /* could be replaced, but not cleared */
        (void)fail(run, to->path, errno);
    else {
        tm_left_behind_sweep(run, folder);
        if (make(to, folder, name) == TM_OK)
            return to;
    }
    tm_atomic_folder_free(to);
    return NULL;
}

FILE *tm_atomic_folder_add(struct tm_atomic_folder *to, const char *name)
{
    struct tm_guarded_folder *const made = &to->made;
    FILE *file;
    int fd;

    if (!is_name(name) || made->count == TM_FOLDER_FILES) {
        (void)tm_fail(&to->run->error, TM_ERR_LIMIT, -1, "cannot write '%s' into '%s': %s", name, to->path,
                      is_name(name) ? "it has too many files" : "it is no name for a file there");
        return NULL;
    }
    /* Before it is there: the folder is ours, and so is what has that name in it. */
    memcpy(made->name[made->count], name, strlen(name) + 1);
    made->count++;
    fd = openat(made->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        (void)fail(to->run, to->path, errno);
        if (fd >= 0)
            (void)close(fd);
    }
    return file;
}

tm_status tm_atomic_folder_close(struct tm_atomic_folder *to, FILE *file)
{
    int problem = 0;

    errno = 0;
    /* EINVAL: a file system that cannot sync. */
    if (fflush(file) != 0 || ferror(file) || (fsync(fileno(file)) != 0 && errno != EINVAL))
        problem = errno != 0 ? errno : EIO;
    if (fclose(file) != 0 && problem == 0)
        problem = errno;
    return problem ? fail(to->run, to->path, problem) : TM_OK;
}

/* --- the older one --- */

static void note_older(struct tm_atomic_folder *to, const char *name)
{
    if (is_name(name) && to->older_count < TM_FOLDER_FILES)
        memcpy(to->older[to->older_count++], name, strlen(name) + 1);
}

static void read_index(struct tm_atomic_folder *to, FILE *index)
{
    char line[LINE_BYTES];

    if (!fgets(line, sizeof(line), index))
        return;
    line[strcspn(line, "\n")] = 0;
    if (strcmp(line, to->header) != 0)
        return; /* not ours */
    while (fgets(line, sizeof(line), index)) {
        line[strcspn(line, ",\n")] = 0;
        note_older(to, line);
    }
    note_older(to, to->index);
}

/* Note what the older folder's index lists, and the index, before anything is exchanged.  out: 0, or errno */
static int note_listed(struct tm_atomic_folder *to)
{
    FILE *index;
    int fd, problem = 0;

    to->older_fd = open(to->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (to->older_fd < 0)
        return errno;
    (void)tm_left_behind_lock(to->older_fd); /* it has a temporary name for a moment */
    fd = openat(to->older_fd, to->index, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT || errno == ELOOP ? 0 : errno;
    index = fdopen(fd, "r");
    if (!index) {
        problem = errno;
        (void)close(fd);
        return problem;
    }
    errno = 0;
    read_index(to, index);
    if (ferror(index))
        problem = errno ? errno : EIO;
    (void)fclose(index);
    return problem == EISDIR ? 0 : problem;
}

static void remove_listed(const struct tm_atomic_folder *to, int old)
{
    for (int i = 0; i < to->older_count; i++)
        (void)unlinkat(old, to->older[i], 0);
}

/* What is left in it is somebody else's; a name that is in the new folder too is replaced, as that of any output. */
static void move_others(const struct tm_atomic_folder *to, int old)
{
    const int copy = dup(old);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;

    if (!dir) {
        if (copy >= 0)
            (void)close(copy);
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (faccessat(to->made.fd, entry->d_name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
            (void)renameat(old, entry->d_name, to->made.fd, entry->d_name);
        else
            (void)unlinkat(old, entry->d_name, 0);
    }
    (void)closedir(dir);
}

static void clear_older(const struct tm_atomic_folder *to)
{
    remove_listed(to, to->older_fd);
    move_others(to, to->older_fd);
    (void)rmdir(to->part);
}

/* --- the end --- */

/* Where names cannot be exchanged the older folder steps aside first, and comes back where the new one cannot take its
 * place. */
static int exchange(struct tm_atomic_folder *to)
{
    char aside[PART_BYTES + 8];
    int problem;

    if (renameat2(AT_FDCWD, to->part, AT_FDCWD, to->path, RENAME_EXCHANGE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    (void)snprintf(aside, sizeof(aside), "%s.old", to->part);
    if (rename(to->path, aside) != 0)
        return errno;
    problem = rename(to->part, to->path) == 0 ? 0 : errno;
    (void)rename(aside, problem ? to->path : to->part);
    return problem;
}

/* out: 0, or errno */
static int give_name(struct tm_atomic_folder *to)
{
    struct stat info;
    const bool has_older = lstat(to->path, &info) == 0;
    int problem = has_older ? note_listed(to) : 0;

    if (!problem)
        problem = has_older ? exchange(to) : rename(to->part, to->path) == 0 ? 0 : errno;
    if (problem)
        return problem;
    to->is_made = false;
    if (has_older)
        clear_older(to);
    return 0;
}

tm_status tm_atomic_folder_commit(struct tm_atomic_folder *to)
{
    sigset_t before;
    int problem;

    (void)fsync(to->made.fd); /* best effort: some file systems cannot sync folders */
    /* A signal must not empty the folder that has its name, nor leave the older one beside it. */
    tm_signals_hold(&before);
    problem = give_name(to);
    if (problem == 0)
        tm_signals_release_folder();
    tm_signals_let(&before);
    return problem ? fail(to->run, to->path, problem) : TM_OK;
}

void tm_atomic_folder_free(struct tm_atomic_folder *to)
{
    struct tm_run *run = to ? to->run : NULL;

    if (!to)
        return;
    tm_signals_release_folder();
    if (to->is_made)
        tm_guarded_folder_remove(&to->made);
    if (to->made.fd >= 0)
        (void)close(to->made.fd);
    if (to->older_fd >= 0)
        (void)close(to->older_fd);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, to, sizeof(*to));
}
