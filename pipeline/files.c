/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and reads files: notes inputs and outputs, so that no output replaces an input; reads until all bytes are
 * available; detects files that change while they are read. */
#include "pipeline/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/run.h"
#include "pipeline/store/hash.h"

enum { FIRST_ROOM = 64 };

static bool ends_id(const void *slot, const void *wanted)
{
    const struct tm_file_id *const at = slot, *const id = wanted;

    return at->inode == 0 || (at->inode == id->inode && at->device == id->device);
}

/* Where it is, or would be. */
static struct tm_file_id *place_of(const struct tm_file_ids *ids, struct tm_file_id id)
{
    const uint64_t mixed = (uint64_t)id.inode * 0x9e3779b97f4a7c15u ^ (uint64_t)id.device * 0xc2b2ae3d27d4eb4fu;

    return tm_probe(ids->at, ids->capacity, sizeof(*ids->at), mixed ^ mixed >> 32, &id, ends_id);
}

static tm_status grow(struct tm_run *run, struct tm_file_ids *ids)
{
    struct tm_file_ids fresh = { .count = ids->count, .capacity = ids->capacity ? ids->capacity * 2 : FIRST_ROOM };

    fresh.at = tm_take(&run->budget, TM_ACCOUNT_MODEL, fresh.capacity * sizeof(*fresh.at), &run->error);
    if (!fresh.at)
        return run->error.status;
    for (size_t i = 0; i < ids->capacity; i++) {
        if (ids->at[i].inode != 0)
            *place_of(&fresh, ids->at[i]) = ids->at[i];
    }
    tm_file_ids_free(run, ids);
    *ids = fresh;
    return TM_OK;
}

tm_status tm_file_ids_add(struct tm_run *run, struct tm_file_ids *ids, const struct stat *info, bool *is_new)
{
    const tm_status st = ids->count >= ids->capacity / 4 * 3 ? grow(run, ids) : TM_OK;

    if (st != TM_OK)
        return st;

    const struct tm_file_id id = { info->st_dev, info->st_ino };
    struct tm_file_id *const at = place_of(ids, id);
    const bool fresh = at->inode == 0;

    *at = id;
    ids->count += fresh;
    if (is_new)
        *is_new = fresh;
    return TM_OK;
}

static bool file_ids_has(const struct tm_file_ids *ids, const struct stat *info)
{
    return ids->count > 0 && place_of(ids, (struct tm_file_id){ info->st_dev, info->st_ino })->inode != 0;
}

void tm_file_ids_free(struct tm_run *run, struct tm_file_ids *ids)
{
    tm_give(&run->budget, TM_ACCOUNT_MODEL, ids->at, ids->capacity * sizeof(*ids->at));
    *ids = (struct tm_file_ids){ .at = NULL };
}

enum { OUTPUTS_MOST = 48 };

struct output {
    char *path; /* without links; a tree ends with a slash */
    const char *what;
    struct stat info; /* of what is there now */
    bool is_there, is_tree;
};

struct tm_guard {
    struct tm_file_ids inputs;
    struct output output[OUTPUTS_MOST];
    size_t outputs;
};

tm_status tm_guard_begin(struct tm_run *run)
{
    run->guard = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*run->guard), &run->error);
    return run->guard ? TM_OK : run->error.status;
}

void tm_guard_end(struct tm_run *run)
{
    if (!run->guard)
        return;
    for (size_t i = 0; i < run->guard->outputs; i++)
        tm_give_text(&run->budget, TM_ACCOUNT_MODEL, run->guard->output[i].path);
    tm_file_ids_free(run, &run->guard->inputs);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, run->guard, sizeof(*run->guard));
    run->guard = NULL;
}

/* --- paths --- */

/* One part of a path behind one without links.  out: false if it is too long */
static bool add_part(char to[PATH_MAX], const char *part, size_t length)
{
    const size_t used = strlen(to);

    if (length == 0 || (length == 1 && part[0] == '.'))
        return true;
    if (length == 2 && memcmp(part, "..", 2) == 0) {
        char *const slash = strrchr(to, '/');

        slash[slash == to] = '\0';
        return true;
    }
    if (used + 1 + length >= PATH_MAX)
        return false;
    (void)snprintf(to + used, PATH_MAX - used, "%s%.*s", used > 1 ? "/" : "", (int)length, part);
    return true;
}

/* The path of a file that need not exist: its existing folders without links, followed by the file name.  The target of
 * a link is irrelevant, because the link is replaced. out: false if it is too long */
static bool resolve(char to[PATH_MAX], const char *path)
{
    char folder[PATH_MAX];
    size_t length = strlen(path), kept;
    const char *rest;

    if (length >= sizeof(folder))
        return false;
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    for (kept = length;;) {
        (void)snprintf(folder, sizeof(folder), "%.*s", (int)kept, path);
        if (realpath(kept ? folder : ".", to))
            break;
        if (kept == 0)
            return false;
        while (kept > 0 && path[kept - 1] == '/')
            kept--;
        while (kept > 0 && path[kept - 1] != '/')
            kept--;
    }
    for (rest = path + kept; *rest; rest += strspn(rest, "/")) {
        const size_t part = strcspn(rest, "/");

        if (!add_part(to, rest, part))
            return false;
        rest += part;
    }
    return true;
}

/* --- refusals --- */

static tm_status refuse(struct tm_run *run, const char *path, const char *what, const char *is, const char *other)
{
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot write '%s'%s%s: it %s%s", path, *what ? " as " : "", what, is,
                  other);
    tm_hint(&run->error, "use another file");
    return TM_ERR_USAGE;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* --- inputs --- */

bool tm_guard_may_meet(const struct tm_run *run, uint64_t bytes)
{
    for (size_t i = 0; run->guard && i < run->guard->outputs; i++)
        if (run->guard->output[i].is_there && (uint64_t)run->guard->output[i].info.st_size == bytes)
            return true;
    return false;
}

tm_status tm_guard_input(struct tm_run *run, const char *path, const struct stat *info)
{
    struct tm_guard *const guard = run->guard;
    struct stat own;

    if (!guard || (!info && stat(path, &own) != 0))
        return TM_OK;
    info = info ? info : &own;
    if (!S_ISREG(info->st_mode) || info->st_ino == 0)
        return TM_OK;
    for (size_t i = 0; i < guard->outputs; i++)
        if (guard->output[i].is_there && is_same(&guard->output[i].info, info))
            return refuse(run, path, guard->output[i].what, "is an input", "");
    return tm_file_ids_add(run, &guard->inputs, info, NULL);
}

tm_status tm_guard_check(struct tm_run *run, const char *path)
{
    struct stat info;

    return run->guard && stat(path, &info) == 0 && file_ids_has(&run->guard->inputs, &info)
               ? refuse(run, path, "", "is an input", "")
               : TM_OK;
}

/* --- outputs --- */

/* Is one of them in the other, or are they one? */
static bool collide(const struct output *a, const struct output *b)
{
    if (a->is_tree && b->is_tree)
        return false;
    if (a->is_tree)
        return strncmp(b->path, a->path, strlen(a->path)) == 0;
    return b->is_tree ? collide(b, a) : strcmp(a->path, b->path) == 0;
}

static tm_status add(struct tm_run *run, const char *path, const char *what, bool is_tree)
{
    struct tm_guard *const guard = run->guard;
    struct output fresh = { .what = what, .is_tree = is_tree };
    char full[PATH_MAX + 1];

    if (!guard)
        return TM_OK;
    if (!resolve(full, path))
        return tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write '%s': the path cannot be resolved", path);
    fresh.path = full;
    if (is_tree && strcmp(full, "/") != 0)
        (void)memcpy(full + strlen(full), "/", 2);
    for (size_t i = 0; i < guard->outputs; i++) {
        const struct output *const other = &guard->output[i];

        if (strcmp(other->what, what) == 0 && strcmp(other->path, full) == 0)
            return TM_OK;
        if (collide(other, &fresh))
            return other->is_tree ? refuse(run, path, what, "would be ", other->what)
                                  : refuse(run, path, what, "is ", other->what);
    }
    fresh.is_there = !is_tree && stat(full, &fresh.info) == 0 && S_ISREG(fresh.info.st_mode);
    if (fresh.is_there && file_ids_has(&guard->inputs, &fresh.info))
        return refuse(run, path, what, "is an input", "");
    if (guard->outputs == OUTPUTS_MOST)
        return tm_fail(&run->error, TM_ERR_LIMIT, -1, "cannot write more than %d named files", OUTPUTS_MOST);
    fresh.path = tm_take_text(&run->budget, TM_ACCOUNT_MODEL, full, &run->error);
    if (!fresh.path)
        return run->error.status;
    guard->output[guard->outputs++] = fresh;
    return TM_OK;
}

tm_status tm_guard_output(struct tm_run *run, const char *path, const char *what)
{
    return add(run, path, what, false);
}

tm_status tm_guard_tree(struct tm_run *run, const char *path, const char *what)
{
    return add(run, path, what, true);
}

int tm_open_to_read(const char *path, int flags)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);

    if (fd < 0)
        return fd;
    flags = fcntl(fd, F_GETFL);
    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK); /* reading waits for who writes */
    return fd;
}

/* in:     at  NULL = from the position of the file */
static int read_all(int fd, void *to, size_t bytes, const uint64_t *at, size_t *got)
{
    *got = 0;
    while (*got < bytes) {
        uint8_t *const rest = (uint8_t *)to + *got;
        const ssize_t n = at ? pread(fd, rest, bytes - *got, (off_t)(*at + *got)) : read(fd, rest, bytes - *got);

        if (n == 0)
            break;
        if (n > 0)
            *got += (size_t)n;
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

int tm_read_at(int fd, void *to, size_t bytes, uint64_t at, size_t *got)
{
    return read_all(fd, to, bytes, &at, got);
}

int tm_read_on(int fd, void *to, size_t bytes, size_t *got)
{
    return read_all(fd, to, bytes, NULL, got);
}

#define HINT "wait until the profiler has finished writing, or copy the file first"

struct tm_unchanged tm_unchanged_since(const struct stat *info)
{
    return (struct tm_unchanged){ (uint64_t)info->st_size, tm_file_time_ns(info) };
}

tm_status tm_unchanged_refuse_short(struct tm_run *run, const char *name, uint64_t bytes, uint64_t at)
{
    (void)tm_fail(&run->error, TM_ERR_INPUT, (int64_t)at, "%s was truncated while it was read (it had %llu bytes)",
                  name, (unsigned long long)bytes);
    tm_hint(&run->error, HINT);
    return TM_ERR_INPUT;
}

tm_status tm_unchanged_check(struct tm_unchanged before, int fd, bool may_grow, struct tm_run *run, const char *name)
{
    struct tm_unchanged now;
    struct stat info;

    if (before.bytes == 0 || fstat(fd, &info) != 0)
        return TM_OK;
    now = tm_unchanged_since(&info);
    if (now.bytes < before.bytes)
        return tm_unchanged_refuse_short(run, name, before.bytes, now.bytes);
    if ((now.bytes > before.bytes && may_grow) || (now.bytes == before.bytes && now.modified_ns == before.modified_ns))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "%s was modified while it was read", name);
    tm_hint(&run->error, HINT);
    return TM_ERR_INPUT;
}
