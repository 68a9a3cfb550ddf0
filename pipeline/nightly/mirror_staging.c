/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/nightly/batch_mirror.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"

enum { FILES_MOST = 4096, /* that wait: after an interruption they are stored again */ DEPTH_MOST = 12 };

#define NOTES_STAGE "notes"
#define REMOVALS_FILE "removals"

static const char *const stage_folders[TM_STAGES] = {
    [TM_STAGE_DATA] = "data", [TM_STAGE_HOSTS] = "hosts", [TM_STAGE_RESULTS] = "results"
};

/* --- folders --- */

typedef void take_name(struct tm_staging *s, const char *folder, const char *name, int depth);

static void visit(struct tm_staging *s, const char *folder, take_name *take, int depth)
{
    DIR *const dir = depth < DEPTH_MOST ? opendir(folder) : NULL;
    const struct dirent *entry;

    while (dir && !tm_failed(s->run) && (entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            take(s, folder, entry->d_name, depth);
    if (dir)
        (void)closedir(dir);
}

static void remove_name(struct tm_staging *s, const char *folder, const char *name, int depth)
{
    char path[TM_OUT_PATH_BYTES];

    if (tm_out_path(s->run, folder, name, path) || unlink(path) == 0 || errno == ENOENT)
        return;
    visit(s, path, remove_name, depth + 1);
    if (rmdir(path) != 0)
        (void)tm_fail_system(&s->run->error, TM_ERR_OUTPUT, -1, errno, "cannot remove '%s'", path);
}

static void empty(struct tm_staging *s)
{
    visit(s, s->folder, remove_name, 0);
    memset(s->count, 0, sizeof(s->count));
    s->removals = 0;
}

tm_status tm_staging_begin(struct tm_staging *s, struct tm_run *run, const char *notes, const char *uri)
{
    *s = (struct tm_staging){ .run = run, .uri = uri };
    if (tm_out_path(run, notes, TM_STAGING_NAME, s->folder))
        return run->error.status;
    empty(s);
    s->is_used = s->notes_wait = tm_store_takes_folders(run, s->folder, uri);
    return run->error.status;
}

/* --- files --- */

/* The folder of a path is made where it is missing. */
static tm_status make_parent(struct tm_run *run, const char *path)
{
    char folder[TM_OUT_PATH_BYTES];
    const char *const slash = strrchr(path, '/');

    (void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
    return tm_make_folder(run, folder);
}

bool tm_staging_add(struct tm_staging *s, enum tm_mirror_stage stage, const char *path, const char *place)
{
    char folder[TM_OUT_PATH_BYTES], to[TM_OUT_PATH_BYTES];

    if (!s->is_used || tm_out_path(s->run, s->folder, stage_folders[stage], folder) ||
        tm_out_path(s->run, folder, place, to) || make_parent(s->run, to))
        return false;
    if (link(path, to) == 0) {
        s->count[stage]++;
        return true;
    }
    (void)tm_staging_store(s);
    s->is_used = s->notes_wait = false;
    return false;
}

tm_status tm_staging_remove(struct tm_staging *s, const char *place)
{
    char path[TM_OUT_PATH_BYTES];
    bool is_written = false;
    FILE *file;

    if (tm_make_folder(s->run, s->folder) || tm_out_path(s->run, s->folder, REMOVALS_FILE, path))
        return s->run->error.status;
    file = fopen(path, "ae");
    if (file) {
        is_written = fprintf(file, "%s\n", place) > 0;
        is_written = fclose(file) == 0 && is_written;
    }
    if (!is_written)
        return tm_fail_system(&s->run->error, TM_ERR_OUTPUT, -1, errno, "cannot write '%s'", path);
    s->notes_wait = true;
    return ++s->removals < TM_REMOTE_REMOVED_MOST ? TM_OK : tm_staging_store(s);
}

tm_status tm_staging_notes(const struct tm_staging *s, const char *below, char folder[TM_OUT_PATH_BYTES])
{
    char notes[TM_OUT_PATH_BYTES];

    return tm_out_path(s->run, s->folder, NOTES_STAGE, notes) ? s->run->error.status
                                                              : tm_out_path(s->run, notes, below, folder);
}

bool tm_staging_is_full(const struct tm_staging *s)
{
    size_t count = 0;

    for (int stage = 0; stage < TM_STAGES; stage++)
        count += s->count[stage];
    return count >= FILES_MOST;
}

/* --- store --- */

/* A note, or a folder of them: to the same place beside the staging folder. */
static void move_name(struct tm_staging *s, const char *folder, const char *name, int depth)
{
    const size_t staged = strlen(s->folder) + sizeof(NOTES_STAGE); /* with a slash */
    char from[TM_OUT_PATH_BYTES], to[TM_OUT_PATH_BYTES];

    if (tm_out_path(s->run, folder, name, from))
        return;
    if (depth == 0) {
        visit(s, from, move_name, 1);
        return;
    }
    (void)snprintf(to, sizeof(to), "%.*s%s", (int)(strlen(s->folder) - sizeof(TM_STAGING_NAME)), s->folder,
                   from + staged);
    if (!make_parent(s->run, to) && rename(from, to) != 0)
        (void)tm_fail_system(&s->run->error, TM_ERR_OUTPUT, -1, errno, "cannot write '%s'", to);
}

tm_status tm_staging_store(struct tm_staging *s)
{
    char folder[TM_OUT_PATH_BYTES];

    for (int stage = 0; stage < TM_STAGES && !tm_failed(s->run); stage++)
        if (s->count[stage] && !tm_out_path(s->run, s->folder, stage_folders[stage], folder))
            tm_store_folder(s->run, folder, s->uri);
    if (s->removals && !tm_failed(s->run) && !tm_out_path(s->run, s->folder, REMOVALS_FILE, folder))
        tm_remove_objects(s->run, folder, s->uri);
    if (!tm_failed(s->run) && !tm_out_path(s->run, s->folder, NOTES_STAGE, folder))
        visit(s, folder, move_name, 0);
    if (s->notes_wait && !tm_failed(s->run))
        empty(s);
    return s->run->error.status;
}
