/* SPDX-License-Identifier: Apache-2.0 */
/* Files that appear completely or not at all.  The temporary name is hidden, in the folder of the final one (a rename
 * only works within a file system), and created with O_EXCL, so a link planted there is not followed. */
#include "pipeline/atomic_file.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/files.h"
#include "pipeline/process.h"
#include "pipeline/run.h"

/* Names of parts are made of a few characters; others become '_'. */

enum { TEXT_MOST = 80 /* bytes of a host or a device */ };

static const char begin[] = "part-";

static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

bool tm_is_part_name(const char *name)
{
    const size_t length = strlen(name);

    return strncmp(name, begin, sizeof(begin) - 1) == 0 && length < TM_PART_NAME_BYTES && strspn(name, safe) == length;
}

void tm_part_name_begin(char *name, size_t bytes, unsigned number)
{
    (void)snprintf(name, bytes, "%s%04u", begin, number);
}

void tm_part_name_add(char *name, size_t bytes, const char *text)
{
    size_t used = strlen(name);

    if (used + 1 < bytes)
        name[used++] = '-';
    for (size_t i = 0; i < TEXT_MOST && text[i] && used + 1 < bytes; i++) {
        if (text[i] == ':') /* gpu:0 */
            continue;
        name[used++] = text[i] != '-' && strchr(safe, text[i]) ? text[i] : '_';
    }
    name[used] = '\0';
}

/* --- names --- */

/* A name, from its start to where it is cut. */
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

/* Without the digits at its end.  out: false if there are none */
static bool cut_digits(struct rest *name)
{
    const size_t before = name->length;

    while (name->length > 0 && name->text[name->length - 1] >= '0' && name->text[name->length - 1] <= '9')
        name->length--;
    return name->length < before;
}

#define JOURNAL_ENDING "-journal"

/* ".part.old" for a moment; ".part-journal" while SQLite copies a database to the file of that name */
bool tm_left_behind_is(const char *name)
{
    struct rest rest = { name, strlen(name) };

    (void)cut_ending(&rest, JOURNAL_ENDING);
    if (name[0] != '.' || (!cut_ending(&rest, ".part") && !cut_ending(&rest, ".part.old")))
        return false;
    return cut_digits(&rest) && cut_ending(&rest, "-") && cut_digits(&rest) && cut_ending(&rest, ".") &&
           rest.length > 1;
}

/* --- locks --- */

/* Lock what is written now.  A file system that cannot lock is not an error.
 * out: false: somebody has just taken it for left behind and removes it: start another one */
static bool left_behind_lock(int fd)
{
    struct stat info;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK;
    return fstat(fd, &info) != 0 || info.st_nlink > 0;
}

/* No process writes it any more: it is locked until the descriptor is closed. */
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

enum { OPEN_LEFT = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };

/* Nothing locks a journal: it is in use while its database is.  out: false: it is no journal */
static bool remove_journal(int folder, const char *name, bool is_alone)
{
    struct rest database = { name, strlen(name) };
    char path[256];
    struct stat info;
    int fd;

    if (!cut_ending(&database, JOURNAL_ENDING))
        return false;
    (void)snprintf(path, sizeof(path), "%.*s", (int)database.length, name);
    fd = openat(folder, path, OPEN_LEFT);
    if (fd >= 0 ? is_free(fd, is_alone)
                : errno == ENOENT && fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
                      info.st_uid == geteuid())
        (void)unlinkat(folder, name, 0);
    if (fd >= 0)
        (void)close(fd);
    return true;
}

static void remove_one(int folder, const char *name, bool is_alone)
{
    int fd;
    DIR *dir;

    if (remove_journal(folder, name, is_alone))
        return;
    fd = openat(folder, name, OPEN_LEFT);
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

static bool is_swept(const struct tm_run *run, const struct stat *folder)
{
    return folder->st_dev == run->swept_device && folder->st_ino == run->swept_inode;
}

static void note_swept(struct tm_run *run, const struct stat *folder)
{
    run->swept_device = folder->st_dev;
    run->swept_inode = folder->st_ino;
}

void tm_left_behind_leave(struct tm_run *run, int folder)
{
    struct stat info;

    if (fstat(folder, &info) == 0)
        note_swept(run, &info);
}

/* The same once for each folder that a job writes into.  A folder that cannot be read is left as it is. */
static void left_behind_sweep(struct tm_run *run, const char *folder)
{
    const char *const path = *folder ? folder : ".";
    struct stat info;
    DIR *dir;

    if (stat(path, &info) != 0 || is_swept(run, &info) || (dir = opendir(path)) == NULL)
        return;
    note_swept(run, &info);
    tm_left_behind_remove(dir, false);
    (void)closedir(dir);
}

enum { ATTEMPTS = 100 };

static tm_status fail_path(struct tm_run *run, const char *act, const char *path, int problem)
{
    if (problem == ENOENT || problem == ENOTDIR)
        tm_hint(&run->error, "create the folder first, or use another one");
    return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, problem, "cannot %s '%s'", act, path);
}

/* Join folder and name; false if the result is too long. */
static bool join(char *to, size_t to_bytes, const char *folder, const char *name)
{
    const size_t n = strlen(folder);
    const char *slash = n == 0 || folder[n - 1] == '/' ? "" : "/";
    const int length = snprintf(to, to_bytes, "%s%s%s", folder, slash, name);

    return length >= 0 && (size_t)length < to_bytes;
}

/* Create the temporary file.  Returns a descriptor, or -1 with errno. */
static int create_unguarded(struct tm_atomic_file *file, const char *folder, const char *name)
{
    char part[512];

    for (unsigned i = 0; i < ATTEMPTS; i++) {
        const int n = snprintf(part, sizeof(part), ".%s.%ld-%u.part", name, (long)getpid(), i);

        if (n < 0 || (size_t)n >= sizeof(part) || !join(file->part, sizeof(file->part), folder, part)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int fd = open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);

        if (fd < 0 && errno != EEXIST)
            return -1;
        if (fd >= 0 && left_behind_lock(fd))
            return fd;
        if (fd >= 0)
            (void)close(fd);
    }
    errno = EEXIST;
    return -1;
}

/* The same, so that no signal leaves it behind. */
static int create_part(struct tm_atomic_file *file, const char *folder, const char *name)
{
    sigset_t before;
    int fd, problem;

    tm_signals_hold(&before);
    fd = create_unguarded(file, folder, name);
    problem = errno;
    if (fd >= 0)
        tm_signals_guard(file->part);
    tm_signals_let(&before);
    errno = problem;
    return fd;
}

tm_status tm_atomic_open(struct tm_atomic_file *file, struct tm_run *run, const char *folder, const char *name)
{
    assert(strchr(name, '/') == NULL);
    memset(file, 0, sizeof(*file));
    file->run = run;
    if (tm_failed(run))
        return run->error.status;
    if (!join(file->path, sizeof(file->path), folder, name))
        return fail_path(run, "write", name, ENAMETOOLONG);
    tm_guard_check(run, file->path);
    if (tm_failed(run))
        return run->error.status;
    left_behind_sweep(run, folder);
    const int fd = create_part(file, folder, name);

    if (fd < 0)
        return fail_path(run, "write", file->path, errno);
    file->stream = fdopen(fd, "w");
    if (file->stream)
        return TM_OK;
    const int problem = errno;

    (void)close(fd);
    (void)unlink(file->part);
    tm_signals_release(file->part);
    return fail_path(run, "write", file->path, problem);
}

void tm_sync_folder(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
}

static void sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096] = ".";

    if (slash) {
        const size_t n = slash == path ? 1 : (size_t)(slash - path);

        memcpy(folder, path, n);
        folder[n] = '\0';
    }
    tm_sync_folder(folder);
}

tm_status tm_atomic_give_name(struct tm_atomic_file *file)
{
    FILE *stream = file->stream;
    int problem = 0;

    if (tm_failed(file->run))
        return file->run->error.status;
    assert(stream);
    const int lock = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0); /* is kept until it has its name */

    file->stream = NULL;
    errno = 0;
    /* EINVAL: a file system that cannot sync. */
    if (fflush(stream) != 0 || ferror(stream) || (fsync(fileno(stream)) != 0 && errno != EINVAL))
        problem = errno != 0 ? errno : EIO;
    if (fclose(stream) != 0 && problem == 0)
        problem = errno;
    if (problem == 0 && rename(file->part, file->path) != 0)
        problem = errno;
    if (problem != 0)
        (void)unlink(file->part);
    if (lock >= 0)
        (void)close(lock);
    tm_signals_release(file->part);
    return problem != 0 ? fail_path(file->run, "write", file->path, problem) : TM_OK;
}

tm_status tm_atomic_commit(struct tm_atomic_file *file)
{
    if (tm_atomic_give_name(file))
        return file->run->error.status;
    sync_folder_of(file->path);
    return TM_OK;
}

void tm_atomic_abort(struct tm_atomic_file *file)
{
    if (!file->stream)
        return;
    (void)fclose(file->stream);
    (void)unlink(file->part);
    tm_signals_release(file->part);
    file->stream = NULL;
}

static bool is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Make one folder; an existing one is fine. */
static int make_one(const char *path)
{
    if (mkdir(path, 0777) == 0 || is_folder(path))
        return 0;
    return errno == EEXIST ? ENOTDIR : errno;
}

tm_status tm_make_folder(struct tm_run *run, const char *path)
{
    char part[4096];
    const size_t length = strlen(path);
    int problem = 0;

    if (tm_failed(run))
        return run->error.status;
    if (length == 0 || length >= sizeof(part)) {
        problem = length == 0 ? ENOENT : ENAMETOOLONG;
    } else if (!is_folder(path)) {
        memcpy(part, path, length + 1);
        for (size_t i = 1; problem == 0 && i < length; i++) {
            if (part[i] != '/')
                continue;
            part[i] = '\0';
            problem = make_one(part);
            part[i] = '/';
        }
        if (problem == 0)
            problem = make_one(part);
    }
    if (problem == 0)
        return TM_OK;
    return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, problem, "cannot create the folder '%s'", path);
}

/* Folders that appear completely or not at all.  The new folder is built beside the old one, under an unused hidden
 * name, and both exchange names in one step if the file system supports that.  The older files are then removed by
 * name, and foreign files are moved into the new folder. */

enum { PATH_BYTES = 4096, PART_BYTES = 4224, LINE_BYTES = 4096 };

struct tm_atomic_folder {
    struct tm_run *run;
    const char *index, *header;
    char path[PATH_BYTES]; /* final */
    char part[PART_BYTES]; /* while it is written; the older folder after the exchange */
    bool is_made;          /* there is something to remove */
    struct tm_guarded_folder made;
    int older_fd;    /* -1 = there is none: opened before the exchange, after which nothing may be lacking */
    int older_count; /* files of the older folder: what its index lists */
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
    if (to->made.fd >= 0 && left_behind_lock(to->made.fd)) {
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
        left_behind_sweep(run, folder);
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
                      is_name(name) ? "it has too many files" : "it is not a valid file name there");
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

/* Note what the index of an older folder lists, and the index.  out: 0, or errno */
static int note_listed(struct tm_atomic_folder *to, const char *path)
{
    FILE *index;
    int fd, problem = 0;

    to->older_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (to->older_fd < 0)
        return errno;
    (void)left_behind_lock(to->older_fd); /* it has a temporary name for a moment */
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

/* Another process may have replaced the noted folder with its own, which was then exchanged.
 * out:    0, or errno: its content is unknown, and it stays for the next run to remove */
static int note_exchanged(struct tm_atomic_folder *to)
{
    struct stat noted, exchanged;

    if (fstat(to->older_fd, &noted) != 0 || lstat(to->part, &exchanged) != 0)
        return errno;
    if (noted.st_dev == exchanged.st_dev && noted.st_ino == exchanged.st_ino)
        return 0;
    (void)close(to->older_fd);
    to->older_count = 0;
    return note_listed(to, to->part);
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
    int problem = has_older ? note_listed(to, to->path) : 0; /* what cannot be read is not exchanged */

    if (!problem)
        problem = has_older ? exchange(to) : rename(to->part, to->path) == 0 ? 0 : errno;
    if (problem)
        return problem;
    to->is_made = false;
    if (has_older && note_exchanged(to) == 0)
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
