/* SPDX-License-Identifier: Apache-2.0 */
/* Finds trace files below a folder.  A walk with a stack of folders that are still to be searched, so its depth
 * takes no stack; what is kept are the trace files, the pending folders, and 16 bytes for each folder
 * that was searched, all within the share of the account. */
#include "pipeline/discover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/files.h"
#include "pipeline/run.h"
#include "pipeline/store/sorter.h"
#include "pipeline/strings.h"

enum { TM_MEMBER_PATH_BYTES = 4096 };

/* A link to be resolved. */
struct tm_member_link {
    struct tm_found_file file; /* target, position, bytes, mtime_ns and kind are known when it is resolved */
    uint64_t position;         /* of a hard link; else 0 */
    bool is_plain;             /* its name does not say that it is a trace: kind is by content, COPY = it is none */
    bool is_lost;
    /* private */
    char *wanted, *next;
    uint64_t next_position;
    unsigned hops, hit;
};

struct tm_member_links {
    struct tm_run *run;
    const char *path;
    tm_list_members *list;
    struct tm_member_link *rows;
    size_t count, capacity;
    struct tm_member_link **order; /* private: the requested ones, by name */
    size_t wanted;
    uint64_t sniffed_at; /* private: the member whose content was examined last in this listing */
    enum tm_sniffed sniffed;
    uint64_t unreadable; /* out: targets that could not be read */
};

struct pending {
    char *path;
    size_t depth;
};

/* The state of one search. */
struct search {
    struct tm_run *run;
    struct tm_found *found;
    const char *root;
    tm_sniff_path *sniff;     /* NULL = names decide */
    uint64_t sniffed;         /* files that were looked into */
    char real_root[PATH_MAX]; /* that links may not lead out of; "" = of any */
    struct pending *stack;
    size_t stack_count, stack_capacity;
    struct tm_file_ids seen;
    struct tm_found_run here; /* what the current folder holds */
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

/* The name of the folder that a path means, if the path does not end with it ("." or "/"). */
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

static void push_folder(struct search *s, const char *folder, const char *name, size_t depth)
{
    void *rows = s->stack;
    char *path;

    tm_find_grow(s->run, &rows, s->stack_count, &s->stack_capacity, sizeof(*s->stack));
    s->stack = rows;
    if (tm_failed(s->run))
        return;
    path = name ? join_path(s->run, folder, name) : tm_find_copy(s->run, folder, strlen(folder));
    if (path)
        s->stack[s->stack_count++] = (struct pending){ path, depth };
}

/* in: path, host  owned by the run from now on; NULL if there was no memory for them */
static void add_file(struct search *s, char *path, char *host, const struct stat *info, enum tm_found_kind kind)
{
    const struct tm_found_file file = {
        .path = path,
        .host = host,
        .bytes = (uint64_t)info->st_size,
        .mtime_ns = tm_file_time_ns(info),
        .ctime_ns = tm_time_ns(info->st_ctim),
        .kind = kind,
    };

    if (path)
        tm_guard_input(s->run, path, info);
    tm_run_add(s->run, &s->here, &file);
}

/* out: false  it is not a trace */
static bool sniffed_kind(enum tm_sniffed sniffed, enum tm_found_kind *kind)
{
    *kind = sniffed == TM_SNIFFED_XSPACE ? TM_FOUND_XPLANE : TM_FOUND_TRACE_JSON;
    return sniffed != TM_SNIFFED_OTHER;
}

/* A file whose name leaves it open whether it is a trace. */
static void add_plain(struct search *s, char *path, const struct tm_trace_name *name, const struct stat *info)
{
    enum tm_sniffed sniffed = TM_SNIFFED_OTHER;
    enum tm_found_kind kind = TM_FOUND_FILE;
    size_t length;

    if (!path)
        return;
    if (s->sniffed++ >= tm_raised_limit(s->run, TM_DISCOVER_SNIFFS_MOST)) {
        s->found->left_out.unseen++;
        tm_find_give(s->run, path);
        return;
    }
    (void)s->sniff(s->run, path, &sniffed);
    if (!tm_failed(s->run) && sniffed_kind(sniffed, &kind)) {
        add_file(s, path, tm_find_host(s->run, tm_last_part(path, &length), name->host_length), info, kind);
        return;
    }
    tm_find_give(s->run, path);
    s->found->left_out.not_traces += !tm_failed(s->run);
    if (s->run->error.status == TM_ERR_INPUT) {
        s->found->unreadable++;
        s->run->error = (struct tm_error){ .status = TM_OK };
    }
}

/* A folder that cannot be read hides what is in it, and is counted; one for which this process lacks memory or
 * descriptors ends the search. */
static void refuse_folder(struct search *s, const struct pending *folder, int reason)
{
    if (folder->depth > 0 && !tm_lacks_room(reason)) {
        s->found->unreadable++;
        return;
    }
    if (reason == EACCES)
        tm_hint(&s->run->error, "check the folder's permissions with 'ls -ld'");
    (void)tm_fail_system(&s->run->error, TM_ERR_INPUT, -1, reason, "cannot read the folder '%s'", folder->path);
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

/* false: a link out of the folder, which is counted; or a failure */
static bool is_followed(struct search *s, const struct pending *folder, const struct dirent *entry)
{
    char *path;
    bool leads_out = false;
    int problem;

    if (!s->real_root[0] || (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN))
        return true;
    path = join_path(s->run, folder->path, entry->d_name);
    if (!path)
        return false;
    problem = tm_leads_out(s->real_root, path, &leads_out);
    tm_find_give(s->run, path);
    if (problem && tm_lacks_room(problem))
        refuse_folder(s, folder, problem);
    else
        s->found->links += problem || leads_out;
    return !problem && !leads_out;
}

/* One entry of a folder: a trace file is kept, a folder is put off. */
static void take_entry(struct search *s, const struct pending *folder, int fd, const struct dirent *entry)
{
    struct tm_trace_name told;
    struct stat info;
    const bool named = tm_trace_name_read(entry->d_name, &told);
    const bool trace = named || (s->sniff && tm_plain_name_read(entry->d_name, &told));

    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK && entry->d_type != DT_DIR &&
        (entry->d_type != DT_REG || !trace))
        return;
    if (entry->d_type == DT_DIR) {
        info = (struct stat){ .st_mode = S_IFDIR }; /* who opens it sees the rest */
    } else if (fstatat(fd, entry->d_name, &info, 0) != 0) {
        if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
            return; /* a link to nowhere, or gone meanwhile */
        if (!trace) {
            refuse_folder(s, &(struct pending){ .path = folder->path, .depth = folder->depth + 1 }, errno);
            return;
        }
        s->found->unreadable++;
        if (!named)
            return;
        info = (struct stat){ .st_mode = S_IFREG }; /* who opens it says why */
    }
    if ((!S_ISDIR(info.st_mode) && !(S_ISREG(info.st_mode) && trace)) || !is_followed(s, folder, entry))
        return;
    if (S_ISDIR(info.st_mode) && folder->depth < TM_DISCOVER_DEPTH_MOST)
        push_folder(s, folder->path, entry->d_name, folder->depth + 1);
    else if (S_ISDIR(info.st_mode))
        s->found->too_deep++;
    else if (named)
        add_file(s, join_path(s->run, folder->path, entry->d_name),
                 tm_find_host(s->run, entry->d_name, told.host_length), &info, told.kind);
    else
        add_plain(s, join_path(s->run, folder->path, entry->d_name), &told, &info);
}

static void count_entry(struct search *s)
{
    const uint64_t most = tm_raised_limit(s->run, TM_DISCOVER_ENTRIES_MOST);

    if (++s->entries <= most)
        return;
    (void)tm_fail(&s->run->error, TM_ERR_LIMIT, -1, "there are more than %" PRIu64 " files and folders below '%s'",
                  most, s->root);
    tm_limit_hint(s->run, "pass a folder further down");
}

static void read_folder(struct search *s, const struct pending *folder, DIR *dir)
{
    const struct dirent *entry;

    while ((errno = 0, entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        count_entry(s);
        if (!tm_failed(s->run))
            take_entry(s, folder, dirfd(dir), entry);
        if (tm_failed(s->run))
            return;
    }
    if (errno)
        refuse_folder(s, folder, errno);
}

/* The last one of the stack is searched first. */
static int last_name_first(const void *a, const void *b)
{
    const struct pending *const one = a, *const other = b;

    return strcmp(other->path, one->path);
}

static void search_folder(struct search *s, const struct pending *folder)
{
    const size_t pending = s->stack_count;
    DIR *const dir = opendir(folder->path);
    struct stat info;
    bool fresh = false;

    if (!dir && errno == ENOENT && folder->depth > 0)
        return; /* gone meanwhile */
    if (!dir) {
        refuse_folder(s, folder, errno);
        return;
    }
    if (fstat(dirfd(dir), &info) == 0)
        tm_file_ids_add(s->run, &s->seen, &info, &fresh);
    else
        refuse_folder(s, folder, errno);
    if (fresh) {
        s->found->folders++;
        read_folder(s, folder, dir);
    }
    (void)closedir(dir);
    if (s->stack_count > pending)
        qsort(s->stack + pending, s->stack_count - pending, sizeof(*s->stack), last_name_first);
    if (!tm_failed(s->run) && s->here.all_count > 0)
        tm_run_keep(s->found, &s->here, folder->path, copy_folder_name(s->run, folder->path));
}

static void search_all(struct search *s)
{
    push_folder(s, s->root, NULL, 0);
    while (!tm_failed(s->run) && s->stack_count > 0) {
        const struct pending folder = s->stack[--s->stack_count];

        search_folder(s, &folder);
        tm_find_give(s->run, folder.path);
    }
}

/* ---- the result --------------------------------------------------------------------------------------- */

static tm_status refuse_bare(struct search *s)
{
    const struct tm_found *const f = s->found;
    char more[256] = "";
    int used = 0;

    if (f->unreadable > 0 || f->too_deep > 0)
        used = snprintf(more, sizeof(more), "; %llu could not be read, %llu are too deep",
                        (unsigned long long)f->unreadable, (unsigned long long)f->too_deep);
    if (f->links > 0)
        used += snprintf(more + used, sizeof(more) - (size_t)used, "; %llu link%s not followed: %s out of it",
                         (unsigned long long)f->links, f->links == 1 ? " is" : "s are",
                         f->links == 1 ? "it leads" : "they lead");
    if (f->left_out.not_traces > 0)
        (void)snprintf(more + used, sizeof(more) - (size_t)used, "; %llu other .json or .pb file%s",
                       (unsigned long long)f->left_out.not_traces,
                       f->left_out.not_traces == 1 ? " is not a trace" : "s are not traces");
    (void)tm_fail(&s->run->error, TM_ERR_INPUT, -1,
                  "no profile in '%s': looked for *.xplane.pb, *.trace.json and perfetto_trace.json, and into *.json "
                  "and *.pb, also .gz and .zst, in %llu folder%s%s",
                  s->root, (unsigned long long)f->folders, f->folders == 1 ? "" : "s", more);
    tm_hint(&s->run->error, "%s",
            f->links > 0 ? "--follow-links follows links to any location"
                         : "record one: run a few steps and block_until_ready() inside 'with "
                           "jax.profiler.trace(DIR):'");
    return TM_ERR_INPUT;
}

static tm_status discover_folder(struct tm_run *run, const char *input, tm_sniff_path *sniff, struct tm_found *found)
{
    struct search s = { .run = run, .found = found, .root = input, .sniff = sniff };

    /* What cannot be followed has no links in it. */
    if (!run->follow_links && !realpath(run->links_root ? run->links_root : input, s.real_root))
        (void)snprintf(s.real_root, sizeof(s.real_root), "/dev/null");
    search_all(&s);
    if (!tm_failed(run) && found->run_count == 0)
        (void)refuse_bare(&s);
    if (!tm_failed(run))
        tm_runs_order(found, input);
    end_search(&s);
    return run->error.status;
}

static tm_status discover_file(struct tm_run *run, const char *path, const struct stat *info, struct tm_found *found)
{
    struct search s = { .run = run, .found = found, .root = path };

    add_file(&s, tm_find_copy(run, path, strlen(path)), tm_file_host(run, path), info, TM_FOUND_FILE);
    if (!tm_failed(run))
        tm_run_keep_file(found, &s.here);
    end_search(&s);
    return run->error.status;
}

tm_status tm_discover(struct tm_run *run, const char *input, tm_sniff_path *sniff, struct tm_found *found)
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
static void move_runs(struct tm_found *all, struct tm_found *one)
{
    for (size_t i = 0; i < one->run_count; i++) {
        void *rows = all->runs;

        tm_find_grow(all->run, &rows, all->run_count, &all->capacity, sizeof(*all->runs));
        all->runs = rows;
        if (tm_failed(all->run))
            return;
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
}

tm_status tm_discover_all(struct tm_run *run, char *const *inputs, size_t count, tm_discover_one *discover,
                          struct tm_found *found)
{
    if (count == 1)
        return discover(run, inputs[0], found);
    *found = (struct tm_found){ .run = run };
    for (size_t i = 0; i < count && !tm_failed(run); i++) {
        struct tm_found one;

        if (!discover(run, inputs[i], &one))
            move_runs(found, &one);
        tm_found_free(&one);
    }
    return tm_failed(run) ? run->error.status : tm_runs_order(found, "");
}

/* Finds what the links of an archive lead to: hard links, whose content the archive has once, and symbolic ones,
 * also through links to folders.  Names are paths within the archive, and nothing of them is looked up on this machine.
 * Kept are the links that may be traces; where a target is not a file that is known already, the archive is listed once
 * for each hop. */

enum hit { HIT_NONE, HIT_FOLDER, HIT_LINK, HIT_FILE };

/* --- names --- */

/* Append the parts of a name. out: false  it is too long, or points outside */
static bool append_parts(char *out, size_t *used, const char *name)
{
    while (*name) {
        const size_t length = strcspn(name, "/");

        if (length == 2 && name[0] == '.' && name[1] == '.') {
            const char *const slash = *used > 0 ? memrchr(out, '/', *used) : NULL;

            if (*used == 0)
                return false;
            *used = slash ? (size_t)(slash - out) : 0;
        } else if (length > 0 && !(length == 1 && name[0] == '.')) {
            if (*used + length + 2 > TM_MEMBER_PATH_BYTES)
                return false;
            if (*used > 0)
                out[(*used)++] = '/';
            memcpy(out + *used, name, length);
            *used += length;
        }
        name += length + (name[length] == '/');
    }
    return true;
}

/* A name as the path from the top of the archive, without "." and "..".
 * in:  folder  where it starts, "" = the top
 * out: false  it points outside the archive, or is too long */
static bool member_normalize(char out[TM_MEMBER_PATH_BYTES], const char *folder, const char *name)
{
    size_t used = 0;
    const bool inside = append_parts(out, &used, folder) && append_parts(out, &used, name);

    out[used] = '\0';
    return inside && used > 0;
}

/* Where a link leads, as a name of the archive.  out: false  out of it */
static bool find_target(char out[TM_MEMBER_PATH_BYTES], const struct tm_member *member)
{
    char folder[TM_MEMBER_PATH_BYTES] = "";
    char *slash;

    if (member->is_hard)
        return member_normalize(out, "", member->link);
    if (member->link[0] == '/' || !member_normalize(folder, "", member->name))
        return false;
    slash = strrchr(folder, '/');
    *(slash ? slash : folder) = '\0';
    return member_normalize(out, folder, member->link);
}

/* Whether a link may lead to something in its archive. */
static bool member_stays_inside(const struct tm_member *link)
{
    char target[TM_MEMBER_PATH_BYTES];

    return find_target(target, link);
}

/* --- the list --- */

/* in: file  of the link; it is the list's from then on, also after a failure */
static void member_links_add(struct tm_member_links *l, const struct tm_found_file *file,
                             const struct tm_member *member, bool is_plain)
{
    struct tm_member_link link = { .file = *file,
                                   .position = member->is_hard ? member->position : 0,
                                   .is_plain = is_plain };
    char target[TM_MEMBER_PATH_BYTES];
    void *rows = l->rows;

    if (!tm_failed(l->run))
        tm_find_grow(l->run, &rows, l->count, &l->capacity, sizeof(*l->rows));
    l->rows = rows;
    if (tm_failed(l->run)) {
        tm_found_file_free(l->run, &link.file);
        return;
    }
    link.is_lost = !find_target(target, member);
    if (!link.is_lost)
        link.wanted = tm_find_copy(l->run, target, strlen(target));
    l->rows[l->count++] = link;
}

static void end_link(struct tm_run *run, struct tm_member_link *link, bool is_lost)
{
    tm_find_give(run, link->wanted);
    tm_find_give(run, link->next);
    link->wanted = link->next = NULL;
    link->is_lost = is_lost;
}

static void member_links_free(struct tm_member_links *l)
{
    for (size_t i = 0; i < l->count; i++) {
        end_link(l->run, &l->rows[i], false);
        tm_found_file_free(l->run, &l->rows[i].file);
    }
    tm_give(&l->run->budget, TM_ACCOUNT_MODEL, l->rows, l->capacity * sizeof(*l->rows));
    tm_give(&l->run->budget, TM_ACCOUNT_MODEL, l->order, l->order ? l->count * sizeof(struct tm_member_link *) : 0);
    *l = (struct tm_member_links){ .run = l->run };
}

/* --- among the files that are known --- */

static int by_name_and_position(const void *a, const void *b)
{
    const struct tm_found_file *const one = a, *const other = b;
    const int names = strcmp(tm_member_path(one->member), tm_member_path(other->member));

    return names ? names : (one->position > other->position) - (one->position < other->position);
}

static int name_to_file(const void *name, const void *file)
{
    return strcmp(name, tm_member_path(((const struct tm_found_file *)file)->member));
}

/* The file that a link means: the last one of the name; for a hard link the last one before it, if there is one. */
static const struct tm_found_file *find_file(const struct tm_member_link *link, const struct tm_found_file *files,
                                             size_t count)
{
    size_t from = tm_sorted_place(link->wanted, files, count, sizeof(*files), name_to_file);
    const struct tm_found_file *found = NULL;

    for (; from < count && strcmp(tm_member_path(files[from].member), link->wanted) == 0; from++) {
        if (!found || !link->position || files[from].position < link->position)
            found = &files[from];
    }
    return found;
}

static void take_target(struct tm_member_links *l, struct tm_member_link *link, const char *name, uint64_t position,
                        uint64_t bytes, int64_t mtime_ns)
{
    struct tm_found_file *const file = &link->file;

    tm_find_give(l->run, file->target);
    file->target = tm_find_copy(l->run, name, strlen(name));
    file->position = position;
    file->bytes = bytes;
    file->mtime_ns = mtime_ns;
}

static void look_among(struct tm_member_links *l, const struct tm_found_file *files, size_t count)
{
    for (size_t i = 0; i < l->count; i++) {
        struct tm_member_link *const link = &l->rows[i];
        const struct tm_found_file *const file = link->wanted ? find_file(link, files, count) : NULL;

        if (!file)
            continue;
        take_target(l, link, file->member, file->position, file->bytes, file->mtime_ns);
        if (link->is_plain)
            link->file.kind = file->kind;
        end_link(l->run, link, false);
    }
}

/* --- in the archive --- */

static int by_wanted(const void *a, const void *b)
{
    const struct tm_member_link *const *const one = a, *const *const other = b;

    return strcmp((*one)->wanted, (*other)->wanted);
}

static int name_to_wanted(const void *name, const void *link)
{
    return strcmp(name, (*(const struct tm_member_link *const *)link)->wanted);
}

/* The first one that requests this name or a later one. */
static size_t first_wanted(const struct tm_member_links *l, const char *name)
{
    return tm_sorted_place(name, l->order, l->wanted, sizeof(*l->order), name_to_wanted);
}

/* The content of a member comes once, and several links may lead to it. */
static void sniff_target(struct tm_member_links *l, const struct tm_member *member)
{
    if (l->sniffed_at == member->position)
        return;
    l->sniffed_at = member->position;
    l->sniffed = TM_SNIFFED_OTHER;
    if (member->sniff)
        (void)member->sniff(member, &l->sniffed);
    if (l->run->error.status == TM_ERR_INPUT) {
        l->run->error = (struct tm_error){ .status = TM_OK };
        l->unreadable++;
    }
}

/* A member with exactly the requested name. */
static void take_hit(struct tm_member_links *l, struct tm_member_link *link, const struct tm_member *member)
{
    char target[TM_MEMBER_PATH_BYTES];

    if (link->position && link->hit >= HIT_LINK && member->position >= link->position)
        return; /* one before it counts */
    if (member->is_regular) {
        link->hit = HIT_FILE;
        take_target(l, link, member->name, member->position, member->bytes, member->mtime_ns);
        if (!link->is_plain || tm_failed(l->run))
            return;
        sniff_target(l, member);
        if (!tm_failed(l->run) && !sniffed_kind(l->sniffed, &link->file.kind))
            link->file.kind = TM_FOUND_COPY;
        return;
    }
    link->hit = HIT_LINK;
    tm_find_give(l->run, link->next);
    link->next = NULL;
    link->next_position = member->is_hard ? member->position : 0;
    if (find_target(target, member))
        link->next = tm_find_copy(l->run, target, strlen(target));
}

/* A link to a folder on the path. in: rest  of the path, after the folder */
static void take_folder(struct tm_member_links *l, struct tm_member_link *link, const struct tm_member *member,
                        const char *rest)
{
    char target[TM_MEMBER_PATH_BYTES], whole[TM_MEMBER_PATH_BYTES];

    if (link->hit > HIT_FOLDER)
        return;
    link->hit = HIT_FOLDER;
    tm_find_give(l->run, link->next);
    link->next = NULL;
    link->next_position = 0;
    if (find_target(target, member) && member_normalize(whole, target, rest))
        link->next = tm_find_copy(l->run, whole, strlen(whole));
}

static tm_status take_member(void *to, const struct tm_member *member)
{
    struct tm_member_links *const l = to;
    char name[TM_MEMBER_PATH_BYTES + 1];
    size_t length;

    if ((!member->is_regular && !member->link) || !member_normalize(name, "", member->name))
        return TM_OK;
    for (size_t i = first_wanted(l, name);
         i < l->wanted && !tm_failed(l->run) && strcmp(l->order[i]->wanted, name) == 0; i++)
        take_hit(l, l->order[i], member);
    if (!member->link || member->is_hard)
        return l->run->error.status;
    length = strlen(name);
    name[length++] = '/';
    name[length] = '\0';
    for (size_t i = first_wanted(l, name);
         i < l->wanted && !tm_failed(l->run) && strncmp(l->order[i]->wanted, name, length) == 0; i++)
        take_folder(l, l->order[i], member, l->order[i]->wanted + length);
    return l->run->error.status;
}

/* After a listing: the found member is the end of the link, or the next one to look up. */
static void go_on(struct tm_run *run, struct tm_member_link *link)
{
    const bool goes = link->hit != HIT_FILE && link->next && link->hops < TM_DISCOVER_HOPS_MOST &&
                      strcmp(link->next, link->wanted) != 0;

    if (!goes) {
        end_link(run, link, link->hit != HIT_FILE);
        return;
    }
    tm_find_give(run, link->wanted);
    link->wanted = link->next;
    link->next = NULL;
    link->position = link->next_position;
    link->hit = HIT_NONE;
    link->hops++;
}

static void look_in_archive(struct tm_member_links *l)
{
    struct tm_listing listing;

    qsort(l->order, l->wanted, sizeof(struct tm_member_link *), by_wanted);
    l->sniffed_at = 0;
    (void)l->list(l->run, l->path, take_member, l, &listing);
    for (size_t i = 0; i < l->wanted && !tm_failed(l->run); i++)
        go_on(l->run, l->order[i]);
}

/* Find what they lead to, among files that are known already, else in the archive, which is listed once for each hop.
 * in: files  are put into another order */
static void member_links_resolve(struct tm_member_links *l, struct tm_found_file *files, size_t count)
{
    if (l->count == 0)
        return;
    l->order = tm_find_take(l->run, l->count * sizeof(struct tm_member_link *));
    if (!l->order)
        return;
    if (count > 0)
        qsort(files, count, sizeof(*files), by_name_and_position);
    do {
        look_among(l, files, count);
        l->wanted = 0;
        for (size_t i = 0; i < l->count; i++) {
            if (l->rows[i].wanted)
                l->order[l->wanted++] = &l->rows[i];
        }
        if (!tm_failed(l->run) && l->wanted > 0)
            look_in_archive(l);
    } while (!tm_failed(l->run) && l->wanted > 0);
}

/* Finds runs in an archive: the names of its members are collected, sorted by folder, and each folder with
 * trace files becomes a run, as in the walk over folders.  Nothing is opened. */

/* The state of one search. */
struct gathering {
    struct tm_run *run;
    const char *path;
    struct tm_found_run files;    /* of all folders: trace files by their names */
    struct tm_found_run here;     /* of one folder */
    struct tm_found_run perfetto; /* Perfetto traces, which count where a manifest says that they are one run */
    bool has_manifest;
    struct tm_found_file only; /* the first regular member; of several of that name the last */
    uint64_t others;           /* regular members of other names */
    uint64_t named;            /* of the files, those with names of traces */
    uint64_t sniffed;          /* members that were looked into */
    struct tm_member_links links;
    struct tm_left_out *left_out;
    uint64_t unreadable;
    struct tm_listing listing;
};

/* Members of hidden folders, and hidden ones, are left out as the walk does; ".." is not a hidden name. */
static bool is_hidden(const char *name)
{
    const char *part = name;

    while (part) {
        const size_t length = strcspn(part, "/");

        if (part[0] == '.' && length > 1 && !(length == 2 && part[1] == '.'))
            return true;
        part = strchr(part, '/');
        part = part ? part + 1 : NULL;
    }
    return false;
}

static struct tm_found_file make_file(const struct gathering *g, const struct tm_member *member)
{
    return (struct tm_found_file){ .path = tm_find_copy(g->run, g->path, strlen(g->path)),
                                   .member = tm_find_copy(g->run, member->name, strlen(member->name)),
                                   .position = member->position,
                                   .listed = member->position,
                                   .bytes = member->bytes,
                                   .mtime_ns = member->mtime_ns };
}

static void note_only(struct gathering *g, const struct tm_member *member)
{
    struct tm_found_file *const only = &g->only;

    if (only->member && strcmp(tm_member_path(only->member), tm_member_path(member->name)) != 0) {
        g->others++;
        return;
    }
    tm_found_file_free(g->run, only);
    *only = make_file(g, member);
    only->kind = TM_FOUND_FILE;
    only->host = tm_file_host(g->run, member->name);
}

/* Whether a member whose name leaves it open is a trace, and of what kind. */
static bool sniff_member(struct gathering *g, const struct tm_member *member, enum tm_found_kind *kind)
{
    enum tm_sniffed sniffed = TM_SNIFFED_OTHER;
    bool is_trace;

    if (g->sniffed++ >= tm_raised_limit(g->run, TM_DISCOVER_SNIFFS_MOST)) {
        g->left_out->unseen++;
        return false;
    }
    (void)member->sniff(member, &sniffed);
    is_trace = sniffed_kind(sniffed, kind);
    if (g->run->error.status == TM_ERR_INPUT) {
        g->unreadable++;
        g->run->error = (struct tm_error){ .status = TM_OK };
    } else {
        g->left_out->not_traces += !tm_failed(g->run) && !is_trace;
    }
    return is_trace && !tm_failed(g->run);
}

/* A member whose name is, or may be, that of a trace. in: last  the last part of its name */
static void take_file(struct gathering *g, const struct tm_member *member, const char *last,
                      const struct tm_trace_name *told, bool is_named)
{
    enum tm_found_kind kind = told->kind;
    struct tm_found_file file;

    if (!is_named && member->link && g->links.count >= tm_raised_limit(g->run, TM_DISCOVER_LINKS_MOST)) {
        g->left_out->unseen++;
        return;
    }
    if (!is_named && !member->link && !sniff_member(g, member, &kind))
        return;
    file = make_file(g, member);
    file.host = file.member ? tm_find_host(g->run, last, told->host_length) : NULL;
    file.kind = kind;
    g->named += is_named && !member->link;
    if (member->link)
        member_links_add(&g->links, &file, member, !is_named);
    else
        tm_run_add(g->run, &g->files, &file);
}

/* Perfetto traces on one timeline, as `convert` writes those of several hosts: docs/convert.md. */
static bool take_perfetto(struct gathering *g, const struct tm_member *member, const char *last, size_t length)
{
    struct tm_found_file file;

    if (!member->is_regular || is_hidden(member->name))
        return false;
    if (strcmp(last, "perfetto_manifest.json") == 0) {
        g->has_manifest = true;
        return true;
    }
    if (!tm_has_ending(last, ".pftrace") || last[length] != '\0')
        return false;
    file = make_file(g, member);
    file.host = tm_file_host(g->run, member->name);
    tm_run_add(g->run, &g->perfetto, &file);
    return false;
}

static tm_status take_archive_member(void *to, const struct tm_member *member)
{
    struct gathering *const g = to;
    size_t length;
    const char *const last = tm_last_part(member->name, &length);
    struct tm_trace_name told;
    const bool is_named = tm_trace_name_read(last, &told) && last[length] == '\0';
    const bool may_be = is_named || (member->sniff && last[length] == '\0' && tm_plain_name_read(last, &told));

    if (take_perfetto(g, member, last, length))
        return g->run->error.status;
    g->left_out->special += member->is_special;
    if (!member->is_regular && !member->link)
        return TM_OK;
    if (is_hidden(member->name)) {
        g->left_out->hidden += is_named && strncmp(last, "._", 2) != 0; /* those are a Mac's notes on the file beside */
        return TM_OK;
    }
    if (member->is_regular)
        note_only(g, member);
    else if (!may_be && !member_stays_inside(member))
        g->left_out->lost_links++; /* there may have been a folder of runs after it */
    if (may_be && !tm_failed(g->run))
        take_file(g, member, last, &told, is_named);
    return g->run->error.status;
}

/* Links that lead to a file are files themselves. */
static void add_links(struct gathering *g)
{
    member_links_resolve(&g->links, g->files.files, g->files.all_count);
    g->unreadable += g->links.unreadable;
    for (size_t i = 0; i < g->links.count && !tm_failed(g->run); i++) {
        struct tm_member_link *const link = &g->links.rows[i];
        const struct tm_found_file file = link->file;

        if (link->is_lost) {
            g->left_out->lost_links++;
        } else if (file.kind == TM_FOUND_COPY) {
            g->left_out->not_traces++;
        } else {
            link->file = (struct tm_found_file){ .path = NULL };
            g->others++;
            tm_run_add(g->run, &g->files, &file);
        }
    }
}

/* Length of the folder in a member's name, which is before its last slash. */
static size_t folder_length(const char *name)
{
    const char *const slash = strrchr(name, '/');

    return slash ? (size_t)(slash - name) : 0;
}

static int compare_folders(const char *one, const char *other)
{
    const size_t length = folder_length(one), length2 = folder_length(other);
    const int order = memcmp(one, other, length < length2 ? length : length2);

    return order ? order : (length > length2) - (length < length2);
}

static int by_folder(const void *a, const void *b)
{
    const struct tm_found_file *const one = a, *const other = b;
    const char *const name = tm_member_path(one->member), *const name2 = tm_member_path(other->member);
    int order = compare_folders(name, name2);

    if (order == 0)
        order = strcmp(name, name2);
    return order ? order : (one->listed > other->listed) - (one->listed < other->listed);
}

size_t tm_archive_name_length(const char *name, size_t length)
{
    static const char *const endings[] = { ".gz", ".zst", ".tgz", ".tar", ".zip" };

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const size_t bare = tm_name_without(name, length, endings[i]);

        length = bare ? bare : length;
    }
    return length;
}

/* What a run is called: its folder's last part; the archive, without its endings, where it has no folder. */
static char *copy_name(const struct gathering *g, const char *folder, size_t below)
{
    size_t length;
    const char *last = tm_last_part(folder + below, &length);

    if (length == 0) {
        last = tm_last_part(g->path, &length);
        length = tm_archive_name_length(last, length);
    }
    return tm_find_copy(g->run, last, length);
}

/* The problem of the archive is attached to the first file of each run. */
static void keep_here(struct gathering *g, struct tm_found *found)
{
    struct tm_found_run *const here = &g->here;
    const struct tm_listing *const listing = &g->listing;
    char folder[TM_FOUND_NAME_BYTES];
    const size_t below = strlen(g->path);
    char *name;

    (void)tm_found_name(&here->files[0], folder);
    *strrchr(folder + below, '/') = '\0'; /* there is one after the archive's own path */
    name = copy_name(g, folder, below);
    if (name && !tm_run_keep(found, here, folder, name) && listing->problem[0])
        found->runs[found->run_count - 1].files[0].problem =
            tm_find_copy(g->run, listing->problem, strlen(listing->problem));
}

/* Files in order become runs, folder by folder; each file moves from one list to the other. */
static void make_runs(struct gathering *g, struct tm_found *found)
{
    struct tm_found_file *const files = g->files.files;
    const size_t count = g->files.all_count;

    if (count > 0)
        qsort(files, count, sizeof(*files), by_folder);
    for (size_t i = 0; i < count && !tm_failed(g->run); i++) {
        const char *const name = tm_member_path(files[i].member);
        const char *const next = i + 1 < count ? tm_member_path(files[i + 1].member) : NULL;
        struct tm_found_file file = files[i];

        if (next && strcmp(name, next) == 0) {
            g->left_out->replaced++; /* the last one of a name counts */
            continue;
        }
        files[i] = (struct tm_found_file){ .path = NULL };
        if (!tm_run_add(g->run, &g->here, &file) && (!next || compare_folders(tm_member_path(file.member), next) != 0))
            keep_here(g, found);
    }
}

static void keep_only(struct gathering *g, struct tm_found *found)
{
    const struct tm_found_file file = g->only;

    g->only = (struct tm_found_file){ .path = NULL };
    if (tm_run_add(g->run, &g->here, &file))
        return;
    if (g->listing.problem[0])
        g->here.files[0].problem = tm_find_copy(g->run, g->listing.problem, strlen(g->listing.problem));
    if (!tm_failed(g->run))
        tm_run_keep_file(found, &g->here);
}

static tm_status refuse_bare_archive(const struct gathering *g)
{
    const struct tm_listing *const l = &g->listing;
    const uint64_t links = g->left_out->lost_links, others = g->left_out->not_traces;
    char more[128] = "";
    size_t used = 0;

    if (links > 0)
        used = (size_t)snprintf(more, sizeof(more), "; %llu link%s to missing members", (unsigned long long)links,
                                links == 1 ? " leads" : "s lead");
    if (others > 0)
        (void)snprintf(more + used, sizeof(more) - used, "; %llu .json or .pb file%s", (unsigned long long)others,
                       others == 1 ? " is not a trace" : "s are not traces");
    (void)tm_fail(&g->run->error, TM_ERR_INPUT, -1,
                  "no profile in '%.150s': looked for *.xplane.pb, *.trace.json and perfetto_trace.json, and into "
                  "*.json and *.pb, also .gz and .zst, among %llu member%s%s%s%.150s",
                  g->path, (unsigned long long)l->members, l->members == 1 ? "" : "s", more, l->problem[0] ? "; " : "",
                  l->problem);
    tm_hint(&g->run->error, "record one: run a few steps and block_until_ready() inside 'with "
                            "jax.profiler.trace(DIR):'");
    return TM_ERR_INPUT;
}

tm_status tm_discover_members(struct tm_run *run, const char *path, tm_list_members *list, struct tm_found *found)
{
    struct gathering g = {
        .run = run, .path = path, .left_out = &found->left_out, .links = { .run = run, .path = path, .list = list }
    };

    *found = (struct tm_found){ .run = run, .folders = 1 };
    if (!list(run, path, take_archive_member, &g, &g.listing))
        add_links(&g);
    found->unreadable = g.unreadable;
    found->unnamed = g.listing.unnamed;
    found->damaged = g.listing.problem[0] != '\0';
    if (g.has_manifest && !g.files.all_count) {
        const struct tm_found_run none = g.files;

        g.files = g.perfetto;
        g.perfetto = none;
    }
    if (!tm_failed(run)) {
        if (g.only.member && g.others == 0 && (g.named == 0 || !strchr(tm_member_path(g.only.member), '/')))
            keep_only(&g, found);
        else
            make_runs(&g, found);
    }
    if (!tm_failed(run) && found->run_count == 0)
        (void)refuse_bare_archive(&g);
    if (!tm_failed(run))
        tm_runs_order(found, path);
    member_links_free(&g.links);
    tm_run_free(run, &g.files);
    tm_run_free(run, &g.perfetto);
    tm_run_free(run, &g.here);
    tm_found_file_free(run, &g.only);
    return run->error.status;
}
