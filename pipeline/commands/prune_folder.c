/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a run is gone through entry by entry; what has the name of an output goes.  It may be half gone already. */
#include "pipeline/commands/prune_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/batch/out_folder.h"
#include "pipeline/batch/path_parts.h"
#include "pipeline/commands/batch_pool.h"
#include "pipeline/left_behind.h"

/* Where in the folder of a run: what has which name there is ours. */
enum place { OF_RUN, OF_TABLES, OF_HOSTS, OF_HOST, NOT_OURS };

struct prune {
    struct tm_run *run;
    const char *folder; /* for messages */
    bool keeps_summary, only_counts;
    struct tm_pruned *pruned;
    char names[TM_BATCH_OUTPUTS_MOST][64];
    const char *outputs[TM_BATCH_OUTPUTS_MOST];
    size_t count;
};

/* in: end  "/" of a folder, "" of a file */
static bool is_output(const struct prune *p, const char *name, const char *end)
{
    const size_t length = strlen(name);

    for (size_t i = 0; i < p->count; i++)
        if (strncmp(p->outputs[i], name, length) == 0 && strcmp(p->outputs[i] + length, end) == 0)
            return true;
    return false;
}

static bool is_our_file(const struct prune *p, enum place place, const char *name)
{
    switch (place) {
    case OF_RUN:
        if (tm_left_behind_is(name))
            return true;
        return is_output(p, name, "") && !(p->keeps_summary && strcmp(name, "summary.json") == 0);
    case OF_TABLES:
        return tm_part_has_ending((struct tm_path_part){ name, strlen(name) }, ".csv");
    case OF_HOST:
        return tm_left_behind_is(name) || is_output(p, name, "") || strcmp(name, TM_RESULT_FILE) == 0;
    default:
        return false;
    }
}

static enum place place_below(const struct prune *p, enum place place, const char *name)
{
    if (place == OF_RUN && strcmp(name, "hosts") == 0)
        return OF_HOSTS;
    if (place == OF_HOSTS)
        return OF_HOST;
    if ((place == OF_RUN || place == OF_HOST) && tm_left_behind_is(name)) /* tables that were not completed */
        return OF_TABLES;
    return (place == OF_RUN || place == OF_HOST) && is_output(p, name, "/") ? OF_TABLES : NOT_OURS;
}

static tm_status fail(const struct prune *p, const char *name, int problem)
{
    return tm_fail_system(&p->run->error, TM_ERR_OUTPUT, -1, problem, "cannot remove '%s' in '%s'", name, p->folder);
}

static tm_status sweep(struct prune *p, int fd, enum place place);

/* A folder below, which goes once it is empty. */
static tm_status take_folder(struct prune *p, int parent, const char *name, enum place place)
{
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    tm_status st;

    if (fd < 0)
        return errno == ENOENT ? TM_OK : fail(p, name, errno);
    st = sweep(p, fd, place);
    if (st == TM_OK && !p->only_counts && unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT &&
        errno != ENOTEMPTY && errno != EEXIST)
        st = fail(p, name, errno);
    return st;
}

static tm_status take_file(struct prune *p, int parent, const char *name, const struct stat *info)
{
    if (!p->only_counts && unlinkat(parent, name, 0) != 0 && errno != ENOENT)
        return fail(p, name, errno);
    p->pruned->files++;
    p->pruned->bytes += S_ISREG(info->st_mode) ? (uint64_t)info->st_size : 0;
    return TM_OK;
}

static tm_status take(struct prune *p, int fd, enum place place, const char *name)
{
    struct stat info;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || fstatat(fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return TM_OK;
    if (!S_ISDIR(info.st_mode))
        return is_our_file(p, place, name) ? take_file(p, fd, name, &info) : TM_OK;

    const enum place below = place_below(p, place, name);

    return below == NOT_OURS ? TM_OK : take_folder(p, fd, name, below);
}

/* owns: fd */
static tm_status sweep(struct prune *p, int fd, enum place place)
{
    DIR *dir = fdopendir(fd);
    const struct dirent *entry;
    tm_status st = TM_OK;

    if (!dir) {
        st = fail(p, "files", errno);
        (void)close(fd);
        return st;
    }
    while (st == TM_OK && (entry = readdir(dir)) != NULL)
        st = take(p, fd, place, entry->d_name);
    (void)closedir(dir);
    return st;
}

tm_status tm_prune_folder(struct tm_run *run, const char *folder, bool keeps_summary, bool only_counts,
                          struct tm_pruned *pruned)
{
    struct prune p = { .run = run, .folder = folder, .keeps_summary = keeps_summary, .only_counts = only_counts,
                       .pruned = pruned };
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return errno == ENOENT ? TM_OK : fail(&p, "files", errno);
    p.count = tm_batch_outputs(UINT32_MAX, p.names, p.outputs);
    return sweep(&p, fd, OF_RUN);
}
