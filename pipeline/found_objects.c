/* SPDX-License-Identifier: Apache-2.0 */
/* Finds runs among the objects of a bucket: a list of keys instead of folders; no content is examined. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/discover.h"
#include "pipeline/files.h"
#include "pipeline/remote.h"
#include "pipeline/run.h"
#include "pipeline/strings.h"

struct gathering {
    struct tm_run *run;
    struct tm_found *found;
    const char *uri; /* without slashes at its end */
    size_t uri_bytes;
    const char *key; /* its key */
    size_t key_bytes;
    uint64_t objects;
    struct tm_found_file *files; /* all of them, in the order of their folders at the end */
    size_t count, capacity;
};

static bool is_perfetto(const char *name)
{
    return tm_has_ending(name, ".pftrace") || tm_has_ending(name, ".perfetto-trace") ||
           tm_has_ending(name, ".pftrace.gz") || tm_has_ending(name, ".perfetto-trace.gz") ||
           tm_has_ending(name, ".pftrace.zst") || tm_has_ending(name, ".perfetto-trace.zst");
}

/* An address that ends like this is one object: it need not be looked up. */
static bool is_named_file(const char *name)
{
    struct tm_trace_name told;

    return tm_trace_name_read(name, &told) || tm_plain_name_read(name, &told) || is_perfetto(name);
}

bool tm_is_object_name(const char *uri)
{
    size_t length;

    return is_named_file(tm_last_part(uri, &length));
}

static bool is_archive(const char *name)
{
    const size_t length = strlen(name);

    return !is_named_file(name) && tm_archive_name_length(name, length) < length;
}

static tm_status refuse_archive(struct tm_run *run, const char *uri)
{
    (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot read the archive '%s' in its bucket", uri);
    tm_hint(&run->error, "copy it to a disk first: members of an archive are read out of order");
    return TM_ERR_INPUT;
}

/* A run of one object. */
static tm_status keep_object(struct tm_found *found, const char *uri, const struct tm_object *object)
{
    struct tm_run *const run = found->run;
    struct tm_found_run here = { .name = NULL };
    struct tm_trace_name told;
    size_t length;
    const char *const last = tm_last_part(uri, &length);
    const struct tm_found_file file = {
        .path = tm_find_copy(run, uri, strlen(uri)),
        .host = tm_file_host(run, uri),
        .bytes = object->bytes,
        .mtime_ns = object->modified_ns,
        .version = object->version ? tm_find_copy(run, object->version, strlen(object->version)) : NULL,
        .kind = tm_trace_name_read(last, &told) ? told.kind : TM_FOUND_FILE,
    };

    if (!tm_run_add(run, &here, &file))
        (void)tm_run_keep_file(found, &here);
    tm_run_free(run, &here);
    return run->error.status;
}

/* --- below a prefix --- */

/* Names of folders that are hidden, or that no path of this machine could have. */
static bool is_usable(const char *below)
{
    for (const char *at = below;; at = strchr(at, '/') + 1) {
        if (at[0] == '\0' || at[0] == '/' || at[0] == '.')
            return false;
        if (!strchr(at, '/'))
            return true;
    }
}

static tm_status take_object(void *to, const struct tm_object *object)
{
    struct gathering *const g = to;
    struct tm_run *const run = g->run;
    const char *below = object->key + g->key_bytes;
    struct tm_trace_name told;
    char path[TM_REMOTE_URI_MOST];
    size_t length;
    const char *last;
    void *rows = g->files;

    if (strncmp(object->key, g->key, g->key_bytes) != 0)
        return TM_OK;
    g->objects++;
    if (g->objects > tm_raised_limit(run, TM_DISCOVER_ENTRIES_MOST))
        return tm_fail(&run->error, TM_ERR_LIMIT, -1, "there are more than %d objects below '%s'",
                       TM_DISCOVER_ENTRIES_MOST, g->uri);
    if (!below[0] && g->key_bytes)
        return keep_object(g->found, g->uri, object);
    if (g->key_bytes && *below++ != '/')
        return TM_OK; /* a neighbor whose name starts like it */
    last = tm_last_part(below, &length);
    if (!tm_trace_name_read(last, &told))
        return TM_OK;
    if (!is_usable(below) || g->uri_bytes + strlen(below) + 2 > sizeof(path)) {
        g->found->unnamed += below[0] != '.';
        return TM_OK;
    }
    length = (size_t)snprintf(path, sizeof(path), "%s/%s", g->uri, below);
    tm_find_grow(run, &rows, g->count, &g->capacity, sizeof(*g->files));
    g->files = rows;
    if (tm_failed(run))
        return run->error.status;
    g->files[g->count++] = (struct tm_found_file){
        .path = tm_find_copy(run, path, length),
        .host = tm_find_host(run, last, told.host_length),
        .bytes = object->bytes,
        .mtime_ns = object->modified_ns,
        .version = object->version[0] ? tm_find_copy(run, object->version, strlen(object->version)) : NULL,
        .kind = told.kind,
    };
    return run->error.status;
}

static size_t folder_bytes(const struct tm_found_file *file)
{
    size_t length;

    return (size_t)(tm_last_part(file->path, &length) - file->path);
}

static int by_folder(const void *a, const void *b)
{
    const struct tm_found_file *const one = a, *const other = b;
    const size_t bytes = folder_bytes(one), bytes2 = folder_bytes(other);
    const int order = memcmp(one->path, other->path, bytes < bytes2 ? bytes : bytes2);

    return order ? order : bytes != bytes2 ? (bytes < bytes2 ? -1 : 1) : strcmp(one->path, other->path);
}

/* The files from `at` on that are in one folder become a run.  out: how many */
static size_t keep_folder(struct gathering *g, size_t at)
{
    struct tm_found_run here = { .name = NULL };
    const size_t bytes = folder_bytes(&g->files[at]);
    char folder[TM_REMOTE_URI_MOST];
    size_t count = 0, length;
    const char *last;

    (void)snprintf(folder, sizeof(folder), "%.*s", (int)bytes - 1, g->files[at].path);
    while (!tm_failed(g->run) && at + count < g->count && folder_bytes(&g->files[at + count]) == bytes &&
           memcmp(g->files[at + count].path, folder, bytes - 1) == 0) {
        (void)tm_run_add(g->run, &here, &g->files[at + count]);
        g->files[at + count] = (struct tm_found_file){ .path = NULL };
        count++;
    }
    last = tm_last_part(folder, &length);
    if (!tm_failed(g->run))
        (void)tm_run_keep(g->found, &here, folder, tm_find_copy(g->run, last, length));
    tm_run_free(g->run, &here);
    g->found->folders++;
    return count;
}

static void keep_folders(struct gathering *g)
{
    if (g->count > 0)
        qsort(g->files, g->count, sizeof(*g->files), by_folder);
    for (size_t at = 0; at < g->count && !tm_failed(g->run);)
        at += keep_folder(g, at);
    for (size_t i = 0; i < g->count; i++)
        tm_found_file_free(g->run, &g->files[i]);
    tm_give(&g->run->budget, TM_ACCOUNT_MODEL, g->files, g->capacity * sizeof(*g->files));
}

static tm_status refuse_bare(const struct gathering *g)
{
    struct tm_error *const error = &g->run->error;

    if (g->objects == 0)
        (void)tm_fail(error, TM_ERR_INPUT, -1, "nothing in '%s': there is no such object, and none below it", g->uri);
    else
        (void)tm_fail(error, TM_ERR_INPUT, -1,
                      "no profile in '%s': looked for *.xplane.pb, *.trace.json and perfetto_trace.json, also .gz and "
                      ".zst, among %llu object%s",
                      g->uri, (unsigned long long)g->objects, g->objects == 1 ? "" : "s");
    tm_hint(error, "'tracemill list' with a shorter address lists the profiles below it");
    return TM_ERR_INPUT;
}

static bool is_object(const char *uri, const char *last)
{
    return tm_remote_key(uri)[0] && !tm_has_ending(uri, "/") && last[0];
}

tm_status tm_discover_objects(struct tm_run *run, const char *uri, struct tm_found *found)
{
    size_t length;
    const char *const last = tm_last_part(uri, &length);

    if (!is_object(uri, last) || !is_named_file(last))
        return tm_discover_listed(run, uri, found);
    *found = (struct tm_found){ .run = run };
    return keep_object(found, uri, &(struct tm_object){ .key = last });
}

tm_status tm_discover_listed(struct tm_run *run, const char *uri, struct tm_found *found)
{
    size_t length;
    const char *const last = tm_last_part(uri, &length);
    const size_t bytes = (size_t)(last - uri) + length;
    struct gathering g = { .run = run, .found = found };
    char trimmed[TM_REMOTE_URI_MOST];

    *found = (struct tm_found){ .run = run };
    if (bytes >= sizeof(trimmed))
        return tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot use an address of more than %d bytes",
                       TM_REMOTE_URI_MOST);
    (void)snprintf(trimmed, sizeof(trimmed), "%.*s", (int)bytes, uri);
    if (!tm_remote_is(trimmed))
        return tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot use '%s': it names no bucket", uri);
    if (is_object(uri, last) && is_archive(last))
        return refuse_archive(run, uri);
    g.uri = trimmed;
    g.uri_bytes = bytes;
    g.key = tm_remote_key(trimmed);
    g.key_bytes = strlen(g.key);
    (void)tm_remote_list(run, trimmed, take_object, &g);
    keep_folders(&g);
    if (!tm_failed(run) && found->run_count == 0)
        (void)refuse_bare(&g);
    return tm_failed(run) ? run->error.status : tm_runs_order(found, trimmed);
}
