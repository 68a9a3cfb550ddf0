/* SPDX-License-Identifier: Apache-2.0 */
/* What may be written over.  An older index is known by its first lines, and read line by line: it is one of ours, so
 * each part stands on a line of its own.  Only names that parts can have are ever removed. */
#include "pipeline/commands/split_folder.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/commands/out_place.h"
#include "pipeline/guard.h"
#include "pipeline/part_name.h"

enum { LINE_BYTES = 4096, PATH_BYTES = 8192 };

static void path_of(char path[PATH_BYTES], const char *folder, const char *name)
{
    (void)snprintf(path, PATH_BYTES, "%.4095s/%.4000s", folder, name);
}

/* The value of a line `"KEY": "VALUE"` or `"KEY": "VALUE",`, made a string in place; NULL = it is another line. */
static char *value_of(char *line, const char *key)
{
    char *at = line + strspn(line, " ");
    const size_t length = strlen(key);
    char *end;

    if (at[0] != '"' || strncmp(at + 1, key, length) != 0 || strncmp(at + 1 + length, "\": \"", 4) != 0)
        return NULL;
    at += length + 5;
    end = strchr(at, '"');
    if (!end)
        return NULL;
    *end = '\0';
    return at;
}

static FILE *open_index(const char *folder)
{
    char path[PATH_BYTES], line[LINE_BYTES];
    const char *schema;
    bool has_line = true;
    FILE *file;

    path_of(path, folder, TM_SPLIT_INDEX);
    file = fopen(path, "rbe");
    if (!file)
        return NULL;
    for (int i = 0; i < 2 && has_line; i++)
        has_line = fgets(line, sizeof(line), file) != NULL;
    schema = has_line ? value_of(line, "schema") : NULL; /* on the second one */
    if (schema && strcmp(schema, TM_SPLIT_SCHEMA) == 0)
        return file;
    (void)fclose(file);
    return NULL;
}

static bool is_empty(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool any = false;

    if (!dir)
        return errno == ENOENT;
    while (!any && (entry = readdir(dir)) != NULL)
        any = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(dir);
    return !any;
}

tm_status tm_split_folder_check(struct tm_run *run, const char *folder, bool force)
{
    tm_status st = tm_check_folder(run, folder);
    char path[PATH_BYTES];
    FILE *index;

    path_of(path, folder, TM_SPLIT_INDEX);
    if (st == TM_OK)
        st = tm_guard_output(run, path, "the list of the parts");
    path_of(path, folder, TM_SPLIT_PAGE);
    if (st == TM_OK)
        st = tm_guard_output(run, path, "the page of the parts");
    if (st != TM_OK || force || is_empty(folder))
        return st;
    index = open_index(folder);
    if (index) {
        (void)fclose(index);
        return TM_OK;
    }
    (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot split into '%s': it is not empty", folder);
    tm_hint(&run->error, "name another folder with -o, or write into this one with --force");
    return TM_ERR_OUTPUT;
}

void tm_split_folder_remove(const char *folder, const char *name)
{
    char path[PATH_BYTES];

    path_of(path, folder, name);
    (void)unlink(path);
}

/* in: removes  false: see that none of them is an input */
static tm_status go_through_listed(struct tm_run *run, const char *folder, FILE *index, bool removes)
{
    char line[LINE_BYTES], path[PATH_BYTES];

    rewind(index);
    while (fgets(line, sizeof(line), index)) {
        const char *name = value_of(line, "file");

        if (!name || !tm_is_part_name(name))
            continue;
        path_of(path, folder, name);
        if (removes)
            tm_split_folder_remove(folder, name);
        else if (tm_guard_check(run, path) != TM_OK)
            return run->error.status;
    }
    return ferror(index) ? tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot read '%s/%s'", folder,
                                          TM_SPLIT_INDEX)
                         : TM_OK;
}

tm_status tm_split_folder_clear(struct tm_run *run, const char *folder)
{
    char path[PATH_BYTES];
    FILE *index = open_index(folder);
    tm_status st = TM_OK;

    if (!index)
        return TM_OK;
    path_of(path, folder, TM_SPLIT_INDEX);
    st = go_through_listed(run, folder, index, false);
    if (st == TM_OK && unlink(path) != 0)
        st = tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot remove '%s'", path);
    if (st == TM_OK)
        st = go_through_listed(run, folder, index, true);
    if (st == TM_OK)
        tm_split_folder_remove(folder, TM_SPLIT_PAGE);
    (void)fclose(index);
    return st;
}
