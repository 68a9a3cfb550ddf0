/* SPDX-License-Identifier: Apache-2.0 */
/* Finds trace files below a folder.  A walk with a stack of folders that are still to be searched, so its depth
 * costs no stack of ours; what is kept are the trace files, the pending folders, and 16 bytes for each folder
 * that was searched, all within the share of the account. */
#include "pipeline/discover_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/file_ids.h"
#include "pipeline/file_time.h"
#include "pipeline/guard.h"
#include "pipeline/limits.h"

struct pending {
    char *path;
    size_t depth;
};

/* The state of one search. */
struct search {
    struct tm_run *run;
    struct tm_found *found;
    const char *root;
    tm_sniff_path *sniff;      /* NULL = names decide */
    uint64_t sniffed;          /* files that were looked into */
    char real_root[PATH_MAX];  /* that links may not lead out of; "" = of any */
    struct pending *stack;
    size_t stack_count, stack_capacity;
    struct tm_file_ids seen;
    struct tm_found_run here; /* what the present folder holds */
    uint64_t entries;
};

static char *join_path(struct tm_run *run, const char *folder, const char *name)
{
    const size_t folder_bytes = strlen(folder), name_bytes = strlen(name);
    const bool slash = folder_bytes > 0 && folder[folder_bytes - 1] != '/';
    char *const path = tm_find_take(run, folder_bytes + slash + name_bytes + 1);

    if (!path)
        return NULL;
    memcpy(path, folder, folder_bytes);
    if (slash)
        path[folder_bytes] = '/';
    memcpy(path + folder_bytes + slash, name, name_bytes);
    return path;
}

static void end_search(struct search *s)
{
    for (size_t i = 0; i < s->stack_count; i++)
        tm_find_give(s->run, s->stack[i].path);
    tm_give(&s->run->budget, TM_ACCOUNT_MODEL, s->stack, s->stack_capacity * sizeof(*s->stack));
    tm_file_ids_free(s->run, &s->seen);
    tm_run_free(s->run, &s->here);
}

/* The name of the folder that a path means, where the path does not end with it ("." or "/"). */
static char *copy_folder_name(struct tm_run *run, const char *path)
{
    size_t length;
    const char *last = tm_last_part(path, &length);
    char resolved[PATH_MAX];

    if (length == 0 || (length == 1 && last[0] == '.') || (length == 2 && memcmp(last, "..", 2) == 0)) {
        last = realpath(path, resolved) ? tm_last_part(resolved, &length) : "";
        if (last[0] == '\0' || length == 0)
            return tm_find_copy(run, "profile", sizeof("profile") - 1);
    }
    return tm_find_copy(run, last, length);
}

/* ---- the walk ----------------------------------------------------------------------------------------- */

static tm_status push_folder(struct search *s, const char *folder, const char *name, size_t depth)
{
    void *rows = s->stack;
    const tm_status st = tm_find_grow(s->run, &rows, s->stack_count, &s->stack_capacity, sizeof(*s->stack));
    char *path;

    s->stack = rows;
    if (st != TM_OK)
        return st;
    path = name ? join_path(s->run, folder, name) : tm_find_copy(s->run, folder, strlen(folder));
    if (!path)
        return s->run->error.status;
    s->stack[s->stack_count++] = (struct pending){ path, depth };
    return TM_OK;
}

/* in: path, host  owned by the run from now on; NULL where there was no memory for them */
static tm_status add_file(struct search *s, char *path, char *host, const struct stat *info, enum tm_found_kind kind)
{
    const struct tm_found_file file = {
        .path = path,
        .host = host,
        .bytes = (uint64_t)info->st_size,
        .mtime_ns = tm_file_time_ns(info),
        .kind = kind,
    };

    const tm_status st = path ? tm_guard_input(s->run, path, info) : TM_OK;
    const tm_status added = tm_run_add(s->run, &s->here, &file);

    return st == TM_OK ? added : st;
}

/* A file whose name leaves it open whether it is a trace. */
static tm_status add_plain(struct search *s, char *path, const struct tm_trace_name *name, const struct stat *info)
{
    enum tm_sniffed sniffed = TM_SNIFFED_OTHER;
    enum tm_found_kind kind = TM_FOUND_FILE;
    size_t length;
    tm_status st;

    if (!path)
        return s->run->error.status;
    if (s->sniffed++ >= tm_raised_limit(s->run, TM_DISCOVER_SNIFFS_MOST)) {
        s->found->left_out.unseen++;
        tm_find_give(s->run, path);
        return TM_OK;
    }
    st = s->sniff(s->run, path, &sniffed);
    if (st == TM_OK && tm_sniffed_kind(sniffed, &kind))
        return add_file(s, path, tm_find_host(s->run, tm_last_part(path, &length), name->host_length), info, kind);
    tm_find_give(s->run, path);
    s->found->left_out.not_traces += st == TM_OK;
    if (st != TM_ERR_INPUT)
        return st;
    s->found->unreadable++;
    s->run->error = (struct tm_error){ .status = TM_OK };
    return TM_OK;
}

/* A folder that cannot be read hides what is in it, and is counted; one for which this process lacks memory or descriptors
 * ends the search. */
static tm_status refuse_folder(struct search *s, const struct pending *folder, int reason)
{
    if (folder->depth > 0 && !tm_lacks_room(reason)) {
        s->found->unreadable++;
        return TM_OK;
    }
    if (reason == EACCES)
        tm_hint(&s->run->error, "check who may read it: 'ls -ld' shows its owner and permissions");
    return tm_fail_system(&s->run->error, TM_ERR_INPUT, -1, reason, "cannot read the folder '%s'", folder->path);
}

int tm_leads_out(const char *root, const char *path, bool *leads_out)
{
    const size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    char real[PATH_MAX];

    *leads_out = true;
    if (!realpath(path, real))
        return errno;
    *leads_out = strncmp(real, root, length) != 0 || (real[length] != '/' && real[length] != '\0');
    return 0;
}

/* out: *is_followed  false: a link out of the folder, which is counted */
static tm_status check_link(struct search *s, const struct pending *folder, const struct dirent *entry, bool *is_followed)
{
    char *path;
    bool leads_out = false;
    int problem;

    *is_followed = true;
    if (!s->real_root[0] || (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN))
        return TM_OK;
    path = join_path(s->run, folder->path, entry->d_name);
    if (!path)
        return s->run->error.status;
    problem = tm_leads_out(s->real_root, path, &leads_out);
    tm_find_give(s->run, path);
    if (problem && tm_lacks_room(problem))
        return refuse_folder(s, folder, problem);
    *is_followed = !problem && !leads_out;
    s->found->links += !*is_followed;
    return TM_OK;
}

/* One entry of a folder: a trace file is kept, a folder is put off. */
static tm_status take_entry(struct search *s, const struct pending *folder, int fd, const struct dirent *entry)
{
    struct tm_trace_name told;
    struct stat info;
    const bool named = tm_trace_name_read(entry->d_name, &told);
    const bool trace = named || (s->sniff && tm_plain_name_read(entry->d_name, &told));
    bool is_followed;
    tm_status st;

    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK && entry->d_type != DT_DIR &&
        (entry->d_type != DT_REG || !trace))
        return TM_OK;
    if (fstatat(fd, entry->d_name, &info, 0) != 0) {
        if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
            return TM_OK; /* a link to nowhere, or gone meanwhile */
        if (!trace)
            return refuse_folder(s, &(struct pending){ .path = folder->path, .depth = folder->depth + 1 }, errno);
        s->found->unreadable++;
        if (!named)
            return TM_OK;
        info = (struct stat){ .st_mode = S_IFREG }; /* who opens it tells why */
    }
    if (!S_ISDIR(info.st_mode) && !(S_ISREG(info.st_mode) && trace))
        return TM_OK;
    st = check_link(s, folder, entry, &is_followed);
    if (st != TM_OK || !is_followed)
        return st;
    if (!S_ISDIR(info.st_mode) && !named)
        return add_plain(s, join_path(s->run, folder->path, entry->d_name), &told, &info);
    if (!S_ISDIR(info.st_mode))
        return add_file(s, join_path(s->run, folder->path, entry->d_name),
                        tm_find_host(s->run, entry->d_name, told.host_length), &info, told.kind);
    if (folder->depth < TM_DISCOVER_DEPTH_MOST)
        return push_folder(s, folder->path, entry->d_name, folder->depth + 1);
    s->found->too_deep++;
    return TM_OK;
}

static tm_status count_entry(struct search *s)
{
    const uint64_t most = tm_raised_limit(s->run, TM_DISCOVER_ENTRIES_MOST);

    if (++s->entries <= most)
        return TM_OK;
    (void)tm_fail(&s->run->error, TM_ERR_LIMIT, -1, "there are more than %" PRIu64 " files and folders below '%s'",
                  most, s->root);
    tm_limit_hint(s->run, "name a folder further down");
    return TM_ERR_LIMIT;
}

static tm_status read_folder(struct search *s, const struct pending *folder, DIR *dir)
{
    const struct dirent *entry;

    while ((errno = 0, entry = readdir(dir)) != NULL) {
        tm_status st = TM_OK;

        if (entry->d_name[0] == '.')
            continue;
        st = count_entry(s);
        if (st == TM_OK)
            st = take_entry(s, folder, dirfd(dir), entry);
        if (st != TM_OK)
            return st;
    }
    return errno ? refuse_folder(s, folder, errno) : TM_OK;
}

/* The last one of the stack is searched first. */
static int last_name_first(const void *a, const void *b)
{
    const struct pending *const one = a, *const other = b;

    return strcmp(other->path, one->path);
}

static tm_status search_folder(struct search *s, const struct pending *folder)
{
    const int fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    const size_t pending = s->stack_count;
    DIR *const dir = fd >= 0 ? fdopendir(fd) : NULL;
    const int reason = errno;
    struct stat info;
    bool fresh = false;
    tm_status st;

    if (!dir) {
        if (fd >= 0)
            (void)close(fd);
        return refuse_folder(s, folder, reason);
    }
    st = fstat(fd, &info) == 0 ? tm_file_ids_add(s->run, &s->seen, &info, &fresh) : refuse_folder(s, folder, errno);
    if (st == TM_OK && fresh) {
        s->found->folders++;
        st = read_folder(s, folder, dir);
    }
    (void)closedir(dir);
    if (s->stack_count > pending)
        qsort(s->stack + pending, s->stack_count - pending, sizeof(*s->stack), last_name_first);
    if (st == TM_OK && s->here.all_count > 0)
        st = tm_run_keep(s->found, &s->here, folder->path, copy_folder_name(s->run, folder->path));
    return st;
}

static tm_status search_all(struct search *s)
{
    tm_status st = push_folder(s, s->root, NULL, 0);

    while (st == TM_OK && s->stack_count > 0) {
        const struct pending folder = s->stack[--s->stack_count];

        st = search_folder(s, &folder);
        tm_find_give(s->run, folder.path);
    }
    return st;
}

/* ---- the result --------------------------------------------------------------------------------------- */

static tm_status refuse_bare(struct search *s)
{
    const struct tm_found *const f = s->found;
    char more[256] = "";
    int used = 0;

    if (f->unreadable > 0 || f->too_deep > 0)
        used = snprintf(more, sizeof(more), "; %llu could not be read, %llu lie too deep",
                        (unsigned long long)f->unreadable, (unsigned long long)f->too_deep);
    if (f->links > 0)
        used += snprintf(more + used, sizeof(more) - (size_t)used, "; %llu link%s not followed: %s out of it",
                         (unsigned long long)f->links, f->links == 1 ? " is" : "s are", f->links == 1 ? "it leads" : "they lead");
    if (f->left_out.not_traces > 0)
        (void)snprintf(more + used, sizeof(more) - (size_t)used, "; %llu other .json or .pb file%s",
                       (unsigned long long)f->left_out.not_traces,
                       f->left_out.not_traces == 1 ? " is no trace" : "s are no traces");
    (void)tm_fail(&s->run->error, TM_ERR_INPUT, -1,
                  "no profile in '%s': looked for *.xplane.pb, *.trace.json and perfetto_trace.json, and into *.json "
                  "and *.pb, also .gz and .zst, in %llu folder%s%s",
                  s->root, (unsigned long long)f->folders, f->folders == 1 ? "" : "s", more);
    tm_hint(&s->run->error, "%s",
            f->links > 0 ? "--follow-links follows links wherever they lead"
                         : "take one: run a few steps and block_until_ready() inside 'with jax.profiler.trace(DIR):'");
    return TM_ERR_INPUT;
}

static tm_status discover_folder(struct tm_run *run, const char *input, tm_sniff_path *sniff, struct tm_found *found)
{
    struct search s = { .run = run, .found = found, .root = input, .sniff = sniff };
    tm_status st;

    /* What cannot be followed has no links in it. */
    if (!run->follow_links && !realpath(run->links_root ? run->links_root : input, s.real_root))
        (void)snprintf(s.real_root, sizeof(s.real_root), "/dev/null");
    st = search_all(&s);
    if (st == TM_OK && found->run_count == 0)
        st = refuse_bare(&s);
    if (st == TM_OK)
        st = tm_runs_order(found, input);
    end_search(&s);
    return st;
}

static tm_status discover_file(struct tm_run *run, const char *path, const struct stat *info,
                               struct tm_found *found)
{
    struct search s = { .run = run, .found = found, .root = path };
    tm_status st = add_file(&s, tm_find_copy(run, path, strlen(path)), tm_file_host(run, path), info, TM_FOUND_FILE);

    if (st == TM_OK)
        st = tm_run_keep_file(found, &s.here);
    end_search(&s);
    return st;
}

tm_status tm_discover(struct tm_run *run, const char *input, struct tm_found *found)
{
    return tm_discover_with(run, input, NULL, found);
}

tm_status tm_discover_with(struct tm_run *run, const char *input, tm_sniff_path *sniff, struct tm_found *found)
{
    struct stat info = { 0 };

    *found = (struct tm_found){ .run = run };
    if (strcmp(input, "-") == 0)
        return discover_file(run, input, &info, found);
    if (stat(input, &info) != 0) {
        const int reason = errno;

        if (reason == ENOENT || reason == ENOTDIR)
            tm_hint(&run->error, "check the path; 'tracemill list DIR' shows the profiles in a folder");
        return tm_fail_system(&run->error, TM_ERR_INPUT, -1, reason, "cannot open '%s'", input);
    }
    if (S_ISDIR(info.st_mode))
        return discover_folder(run, input, sniff, found);
    return discover_file(run, input, &info, found);
}

void tm_left_out_add(struct tm_left_out *to, const struct tm_left_out *from)
{
    to->lost_links += from->lost_links;
    to->special += from->special;
    to->replaced += from->replaced;
    to->hidden += from->hidden;
    to->not_traces += from->not_traces;
    to->unseen += from->unseen;
}

/* Move the runs of one argument into the list of all. */
static tm_status move_runs(struct tm_found *all, struct tm_found *one)
{
    for (size_t i = 0; i < one->run_count; i++) {
        void *rows = all->runs;
        const tm_status st = tm_find_grow(all->run, &rows, all->run_count, &all->capacity, sizeof(*all->runs));

        all->runs = rows;
        if (st != TM_OK)
            return st;
        all->runs[all->run_count++] = one->runs[i];
        one->runs[i] = (struct tm_found_run){ 0 };
    }
    all->folders += one->folders;
    all->unreadable += one->unreadable;
    all->links += one->links;
    all->too_deep += one->too_deep;
    all->unnamed += one->unnamed;
    all->damaged += one->damaged;
    tm_left_out_add(&all->left_out, &one->left_out);
    return TM_OK;
}

tm_status tm_discover_all(struct tm_run *run, char *const *inputs, size_t count, tm_discover_one *discover,
                          struct tm_found *found)
{
    tm_status st = TM_OK;

    if (count == 1)
        return discover(run, inputs[0], found);
    *found = (struct tm_found){ .run = run };
    for (size_t i = 0; i < count && st == TM_OK; i++) {
        struct tm_found one;

        st = discover(run, inputs[i], &one);
        if (st == TM_OK)
            st = move_runs(found, &one);
        tm_found_free(&one);
    }
    return st == TM_OK ? tm_runs_order(found, "") : st;
}
