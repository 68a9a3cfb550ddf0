/* SPDX-License-Identifier: Apache-2.0 */
/* Finds trace files below a folder.  A walk with a stack of folders that are still to be searched, so its depth
 * costs no stack of ours; what is kept are the trace files, the pending folders, and 16 bytes for each folder
 * that was searched, all within the share of the account. */
#include "pipeline/discover.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct pending {
    char *path;
    size_t depth;
};

struct identity {
    dev_t device;
    ino_t inode; /* 0 = free place of the table: no file has that number */
};

/* The state of one search. */
struct search {
    struct tm_run *run;
    struct tm_found *found;
    const char *root;
    struct pending *stack;
    size_t stack_count, stack_capacity;
    struct identity *seen; /* open addressing, a power of two */
    size_t seen_count, seen_capacity;
    struct tm_found_run here; /* what the present folder holds */
    uint64_t entries;
};

/* ---- memory ------------------------------------------------------------------------------------------- */

static tm_status check_share(struct tm_run *run)
{
    const struct tm_budget *const b = &run->budget;

    if (b->used_bytes[TM_ACCOUNT_MODEL] <= tm_budget_share(b, TM_ACCOUNT_MODEL))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "there are too many folders or profiles to hold in memory");
    tm_hint(&run->error, "name a folder further down, or raise --memory");
    return TM_ERR_LIMIT;
}

static void *take(struct tm_run *run, size_t bytes)
{
    void *const block = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);

    if (block && check_share(run) != TM_OK) {
        tm_give(&run->budget, TM_ACCOUNT_MODEL, block, bytes);
        return NULL;
    }
    return block;
}

static void give_text(struct tm_run *run, char *text)
{
    if (text)
        tm_give(&run->budget, TM_ACCOUNT_MODEL, text, strlen(text) + 1);
}

static char *copy_text(struct tm_run *run, const char *text, size_t length)
{
    char *const copy = take(run, length + 1);

    if (copy)
        memcpy(copy, text, length); /* the zero is there: blocks come zeroed */
    return copy;
}

static char *join_path(struct tm_run *run, const char *folder, const char *name)
{
    const size_t folder_bytes = strlen(folder), name_bytes = strlen(name);
    const bool slash = folder_bytes > 0 && folder[folder_bytes - 1] != '/';
    char *const path = take(run, folder_bytes + slash + name_bytes + 1);

    if (!path)
        return NULL;
    memcpy(path, folder, folder_bytes);
    if (slash)
        path[folder_bytes] = '/';
    memcpy(path + folder_bytes + slash, name, name_bytes);
    return path;
}

/* Make room for one more row; *capacity is in rows. */
static tm_status grow(struct tm_run *run, void **rows, size_t count, size_t *capacity, size_t row_bytes)
{
    const size_t wanted = *capacity ? *capacity * 2 : 8; /* the share ends long before this overflows */
    void *moved;

    if (count < *capacity)
        return TM_OK;
    moved = tm_retake(&run->budget, TM_ACCOUNT_MODEL, *rows, *capacity * row_bytes, wanted * row_bytes,
                      &run->error);
    if (!moved)
        return run->error.status;
    *rows = moved;
    *capacity = wanted;
    return check_share(run);
}

static void free_run(struct tm_run *run, struct tm_found_run *r)
{
    for (size_t i = 0; i < r->all_count; i++) {
        give_text(run, r->files[i].path);
        give_text(run, r->files[i].host);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, r->files, r->capacity * sizeof(*r->files));
    give_text(run, r->name);
    give_text(run, r->folder);
    *r = (struct tm_found_run){ 0 };
}

void tm_found_free(struct tm_found *found)
{
    if (!found->run)
        return;
    for (size_t i = 0; i < found->run_count; i++)
        free_run(found->run, &found->runs[i]);
    tm_give(&found->run->budget, TM_ACCOUNT_MODEL, found->runs, found->capacity * sizeof(*found->runs));
    *found = (struct tm_found){ 0 };
}

static void end_search(struct search *s)
{
    for (size_t i = 0; i < s->stack_count; i++)
        give_text(s->run, s->stack[i].path);
    tm_give(&s->run->budget, TM_ACCOUNT_MODEL, s->stack, s->stack_capacity * sizeof(*s->stack));
    tm_give(&s->run->budget, TM_ACCOUNT_MODEL, s->seen, s->seen_capacity * sizeof(*s->seen));
    free_run(s->run, &s->here);
}

/* ---- names -------------------------------------------------------------------------------------------- */

const char *tm_last_part(const char *path, size_t *length)
{
    size_t end = strlen(path), begin;

    while (end > 0 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--)
        ;
    *length = end - begin;
    return path + begin;
}

/* Length of `name` without `ending`, or 0 where it has another one or nothing is left. */
static size_t without(const char *name, size_t length, const char *ending)
{
    const size_t bytes = strlen(ending);

    if (length <= bytes || memcmp(name + length - bytes, ending, bytes) != 0)
        return 0;
    return length - bytes;
}

/* Whether a file's name is that of a trace, and how long the host in it is. */
static bool is_trace_name(const char *name, enum tm_found_kind *kind, size_t *host_length)
{
    static const char perfetto[] = "perfetto_trace.json";
    size_t length = strlen(name);
    const size_t inflated = without(name, length, ".gz");

    length = inflated ? inflated : length;
    *kind = TM_FOUND_XPLANE;
    if ((*host_length = without(name, length, ".xplane.pb")) > 0)
        return true;
    *kind = TM_FOUND_TRACE_JSON;
    if ((*host_length = without(name, length, ".trace.json")) > 0)
        return true;
    *kind = TM_FOUND_PERFETTO_JSON;
    *host_length = sizeof("perfetto_trace") - 1;
    return length == sizeof(perfetto) - 1 && memcmp(name, perfetto, length) == 0;
}

static char *copy_host(struct tm_run *run, const char *name, size_t length)
{
    char host[TM_HOST_MOST + 1];

    tm_clean_text(host, sizeof(host), name, length);
    return copy_text(run, host, strlen(host));
}

/* Digits at [at, at + count) of text. */
static bool read_digits(const char *text, size_t at, size_t count, int *value)
{
    *value = 0;
    for (size_t i = at; i < at + count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *value = *value * 10 + (text[i] - '0');
    }
    return true;
}

/* YYYY_MM_DD_hh_mm_ss, as profilers name run folders; more may follow after another '_', '-' or '.'. */
static bool read_date(const char *name, size_t length, int64_t *ns)
{
    enum { DATE_BYTES = 19 };
    struct tm t = { 0 };

    if (length < DATE_BYTES || (length > DATE_BYTES && isalnum((unsigned char)name[DATE_BYTES])))
        return false;
    for (size_t at = 4; at < DATE_BYTES; at += 3) {
        if (name[at] != '_')
            return false;
    }
    if (!read_digits(name, 0, 4, &t.tm_year) || !read_digits(name, 5, 2, &t.tm_mon) ||
        !read_digits(name, 8, 2, &t.tm_mday) || !read_digits(name, 11, 2, &t.tm_hour) ||
        !read_digits(name, 14, 2, &t.tm_min) || !read_digits(name, 17, 2, &t.tm_sec))
        return false;
    if (t.tm_year < 1970 || t.tm_year > 2200 || t.tm_mon < 1 || t.tm_mon > 12 || t.tm_mday < 1 ||
        t.tm_mday > 31 || t.tm_hour > 23 || t.tm_min > 59 || t.tm_sec > 60)
        return false;
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    *ns = (int64_t)timegm(&t) * 1000000000; /* as if it were UTC: only its order counts */
    return true;
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
            return copy_text(run, "profile", sizeof("profile") - 1);
    }
    return copy_text(run, last, length);
}

/* ---- files of one run --------------------------------------------------------------------------------- */

static int by_path(const void *a, const void *b)
{
    const struct tm_found_file *const one = a, *const other = b;

    return strcmp(one->path, other->path);
}

static int by_kind_and_host(const void *a, const void *b)
{
    const struct tm_found_file *const one = a, *const other = b;
    const int hosts = strcmp(one->host, other->host);

    if (one->kind != other->kind)
        return one->kind < other->kind ? -1 : 1;
    return hosts ? hosts : strcmp(one->path, other->path);
}

/* A compressed file beside the same one uncompressed is a copy: read as well, it would count twice. */
static void mark_copies(struct tm_found_run *r)
{
    for (size_t i = 0; i < r->all_count; i++) {
        struct tm_found_file *const file = &r->files[i];
        const size_t length = strlen(file->path), plain = without(file->path, length, ".gz");
        struct tm_found_file key = { .path = file->path };

        if (plain == 0)
            continue;
        file->path[plain] = '\0';
        if (bsearch(&key, r->files, i, sizeof(*r->files), by_path)) /* a prefix sorts before it */
            file->kind = TM_FOUND_COPY;
        file->path[plain] = '.';
    }
}

/* Hosts of the files to read may not share a name. */
static tm_status make_hosts_distinct(struct tm_run *run, struct tm_found_run *r)
{
    struct tm_found_file **const files = take(run, r->file_count * sizeof(*files));
    tm_status st;

    if (!files)
        return run->error.status;
    for (size_t i = 0; i < r->file_count; i++)
        files[i] = &r->files[i];
    st = tm_distinct_hosts(run, files, r->file_count);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, files, r->file_count * sizeof(*files));
    return st;
}

static tm_status add_file(struct tm_run *run, struct tm_found_run *r, char *path, char *host,
                          const struct stat *info, enum tm_found_kind kind)
{
    struct tm_found_file file = {
        .path = path,
        .host = host,
        .bytes = (uint64_t)info->st_size,
        .mtime_ns = (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec,
        .kind = kind,
    };
    void *rows = r->files;

    if (!path || !host || grow(run, &rows, r->all_count, &r->capacity, sizeof(file)) != TM_OK) {
        r->files = rows;
        give_text(run, path);
        give_text(run, host);
        return run->error.status;
    }
    r->files = rows;
    r->files[r->all_count++] = file;
    r->bytes += file.bytes;
    if (r->all_count == 1 || file.mtime_ns > r->mtime_ns)
        r->mtime_ns = file.mtime_ns;
    return TM_OK;
}

/* The files of a folder are complete: put them in order and keep the run. */
static tm_status keep_run(struct search *s, const char *folder)
{
    struct tm_found *const found = s->found;
    struct tm_found_run *const r = &s->here;
    void *rows = found->runs;
    tm_status st;

    qsort(r->files, r->all_count, sizeof(*r->files), by_path);
    mark_copies(r);
    qsort(r->files, r->all_count, sizeof(*r->files), by_kind_and_host);
    while (r->file_count < r->all_count && r->files[r->file_count].kind == r->files[0].kind)
        r->file_count++;
    st = make_hosts_distinct(s->run, r);
    if (st != TM_OK)
        return st;
    r->folder = copy_text(s->run, folder, strlen(folder));
    r->name = r->folder ? copy_folder_name(s->run, folder) : NULL;
    if (!r->name)
        return s->run->error.status;
    if (!read_date(r->name, strlen(r->name), &r->when_ns))
        r->when_ns = r->mtime_ns;
    st = grow(s->run, &rows, found->run_count, &found->capacity, sizeof(*r));
    found->runs = rows;
    if (st != TM_OK)
        return st;
    found->runs[found->run_count++] = *r;
    s->here = (struct tm_found_run){ 0 };
    return TM_OK;
}

/* ---- the walk ----------------------------------------------------------------------------------------- */

static size_t seen_place(const struct identity *seen, size_t capacity, struct identity id)
{
    uint64_t mixed = (uint64_t)id.inode * 0x9e3779b97f4a7c15u ^ (uint64_t)id.device * 0xc2b2ae3d27d4eb4fu;
    size_t at;

    mixed ^= mixed >> 32;
    for (at = (size_t)mixed & (capacity - 1); seen[at].inode != 0; at = (at + 1) & (capacity - 1)) {
        if (seen[at].inode == id.inode && seen[at].device == id.device)
            break;
    }
    return at;
}

static tm_status grow_seen(struct search *s)
{
    const size_t capacity = s->seen_capacity ? s->seen_capacity * 2 : 64;
    struct identity *const fresh = take(s->run, capacity * sizeof(*fresh));

    if (!fresh)
        return s->run->error.status;
    for (size_t i = 0; i < s->seen_capacity; i++) {
        if (s->seen[i].inode != 0)
            fresh[seen_place(fresh, capacity, s->seen[i])] = s->seen[i];
    }
    tm_give(&s->run->budget, TM_ACCOUNT_MODEL, s->seen, s->seen_capacity * sizeof(*s->seen));
    s->seen = fresh;
    s->seen_capacity = capacity;
    return TM_OK;
}

/* out: *fresh  false where the folder was searched before, by another way */
static tm_status remember(struct search *s, const struct stat *info, bool *fresh)
{
    const struct identity id = { info->st_dev, info->st_ino };
    size_t at;

    if (s->seen_count >= s->seen_capacity / 4 * 3) {
        const tm_status st = grow_seen(s);

        if (st != TM_OK)
            return st;
    }
    at = seen_place(s->seen, s->seen_capacity, id);
    *fresh = s->seen[at].inode == 0;
    s->seen[at] = id;
    s->seen_count += *fresh;
    return TM_OK;
}

static tm_status push_folder(struct search *s, const char *folder, const char *name, size_t depth)
{
    void *rows = s->stack;
    const tm_status st = grow(s->run, &rows, s->stack_count, &s->stack_capacity, sizeof(*s->stack));
    char *path;

    s->stack = rows;
    if (st != TM_OK)
        return st;
    path = name ? join_path(s->run, folder, name) : copy_text(s->run, folder, strlen(folder));
    if (!path)
        return s->run->error.status;
    s->stack[s->stack_count++] = (struct pending){ path, depth };
    return TM_OK;
}

/* One entry of a folder: a trace file is kept, a folder is put off. */
static tm_status take_entry(struct search *s, const struct pending *folder, int fd, const struct dirent *entry)
{
    enum tm_found_kind kind;
    size_t host_length;
    struct stat info;
    const bool trace = is_trace_name(entry->d_name, &kind, &host_length);

    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK && entry->d_type != DT_DIR &&
        (entry->d_type != DT_REG || !trace))
        return TM_OK;
    if (fstatat(fd, entry->d_name, &info, 0) != 0)
        return TM_OK; /* a link to nowhere, or gone meanwhile */
    if (S_ISREG(info.st_mode) && trace)
        return add_file(s->run, &s->here, join_path(s->run, folder->path, entry->d_name),
                        copy_host(s->run, entry->d_name, host_length), &info, kind);
    if (!S_ISDIR(info.st_mode))
        return TM_OK;
    if (folder->depth < TM_DISCOVER_DEPTH_MOST)
        return push_folder(s, folder->path, entry->d_name, folder->depth + 1);
    s->found->too_deep++;
    return TM_OK;
}

static tm_status count_entry(struct search *s)
{
    if (++s->entries <= TM_DISCOVER_ENTRIES_MOST)
        return TM_OK;
    (void)tm_fail(&s->run->error, TM_ERR_LIMIT, -1, "there are more than %d files and folders below '%s'",
                  (int)TM_DISCOVER_ENTRIES_MOST, s->root);
    tm_hint(&s->run->error, "name a folder further down");
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
    s->found->unreadable += errno != 0;
    return TM_OK;
}

/* The last one of the stack is searched first. */
static int last_name_first(const void *a, const void *b)
{
    const struct pending *const one = a, *const other = b;

    return strcmp(other->path, one->path);
}

static tm_status refuse_folder(struct search *s, const struct pending *folder, int reason)
{
    if (folder->depth > 0) {
        s->found->unreadable++;
        return TM_OK;
    }
    (void)tm_fail(&s->run->error, TM_ERR_INPUT, -1, "cannot read the folder '%s': %s", folder->path,
                  strerror(reason));
    if (reason == EACCES)
        tm_hint(&s->run->error, "check who may read it: 'ls -ld' shows its owner and permissions");
    return TM_ERR_INPUT;
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
    st = fstat(fd, &info) == 0 ? remember(s, &info, &fresh) : refuse_folder(s, folder, errno);
    if (st == TM_OK && fresh) {
        s->found->folders++;
        st = read_folder(s, folder, dir);
    }
    (void)closedir(dir);
    if (s->stack_count > pending)
        qsort(s->stack + pending, s->stack_count - pending, sizeof(*s->stack), last_name_first);
    if (st == TM_OK && s->here.all_count > 0)
        st = keep_run(s, folder->path);
    return st;
}

static tm_status search_all(struct search *s)
{
    tm_status st = push_folder(s, s->root, NULL, 0);

    while (st == TM_OK && s->stack_count > 0) {
        const struct pending folder = s->stack[--s->stack_count];

        st = search_folder(s, &folder);
        give_text(s->run, folder.path);
    }
    return st;
}

/* ---- the result --------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct tm_found_run *const one = a, *const other = b;

    if (one->when_ns != other->when_ns)
        return one->when_ns < other->when_ns ? -1 : 1;
    return strcmp(one->folder, other->folder);
}

static int by_name(const void *a, const void *b)
{
    const struct tm_found_run *const one = a, *const other = b;
    const int names = strcmp(one->name, other->name);

    return names ? names : strcmp(one->folder, other->folder);
}

/* A folder's path below the root; the whole of it where there is none. */
static const char *below(const char *folder, const char *root)
{
    const size_t length = strlen(root);
    const char *rest = folder + length;

    if (length == 0 || strncmp(folder, root, length) != 0)
        return folder;
    while (*rest == '/')
        rest++;
    return rest;
}

static tm_status rename_run(struct tm_run *run, struct tm_found_run *r, const char *root)
{
    const char *const path = below(r->folder, root);
    char *const name = path[0] ? copy_text(run, path, strlen(path)) : NULL;

    if (path[0] && !name)
        return run->error.status;
    if (!name)
        return TM_OK; /* the root itself keeps its name: the others have more of the path now */
    give_text(run, r->name);
    r->name = name;
    return TM_OK;
}

/* Runs that share a name are called by their path below the root.  Then all are put in the order of time.
 * The name changes only after its group is complete, so the order by name stays true meanwhile. */
static tm_status order_runs(struct tm_found *found, const char *root)
{
    struct tm_found_run *const runs = found->runs;
    const size_t count = found->run_count;
    tm_status st = TM_OK;
    size_t end;

    qsort(runs, count, sizeof(*runs), by_name);
    for (size_t begin = 0; begin < count; begin = end) {
        for (end = begin + 1; end < count && strcmp(runs[end].name, runs[begin].name) == 0; end++)
            ;
        for (size_t i = begin; i < end && end - begin > 1 && st == TM_OK; i++)
            st = rename_run(found->run, &runs[i], root);
    }
    qsort(runs, count, sizeof(*runs), by_time);
    return st;
}

static tm_status refuse_bare(struct search *s)
{
    const struct tm_found *const f = s->found;
    char more[128] = "";

    if (f->unreadable > 0 || f->too_deep > 0)
        (void)snprintf(more, sizeof(more), "; %llu could not be read, %llu lie too deep",
                       (unsigned long long)f->unreadable, (unsigned long long)f->too_deep);
    (void)tm_fail(&s->run->error, TM_ERR_INPUT, -1,
                  "no profile in '%s': looked for *.xplane.pb, *.trace.json and perfetto_trace.json, also .gz, "
                  "in %llu folder%s%s",
                  s->root, (unsigned long long)f->folders, f->folders == 1 ? "" : "s", more);
    tm_hint(&s->run->error,
            "take one: run a few steps and block_until_ready() inside 'with jax.profiler.trace(DIR):'");
    return TM_ERR_INPUT;
}

static tm_status discover_folder(struct tm_run *run, const char *input, struct tm_found *found)
{
    struct search s = { .run = run, .found = found, .root = input };
    tm_status st = search_all(&s);

    if (st == TM_OK && found->run_count == 0)
        st = refuse_bare(&s);
    if (st == TM_OK)
        st = order_runs(found, input);
    end_search(&s);
    return st;
}

/* The name of the run that a single file is: that of its run folder, if the path tells it, else its own. */
static char *copy_run_name(struct tm_run *run, const char *path, const char *host)
{
    size_t length, parent_length;
    const char *const last = tm_last_part(path, &length);
    char parent[PATH_MAX];
    int64_t when;

    if (last > path && (size_t)(last - path) < sizeof(parent)) {
        const char *name;

        memcpy(parent, path, (size_t)(last - path));
        parent[last - path] = '\0';
        name = tm_last_part(parent, &parent_length);
        if (read_date(name, parent_length, &when))
            return copy_text(run, name, parent_length);
    }
    return copy_text(run, host, strlen(host));
}

/* The host in the name of a file that was named itself; any name will do. */
static char *copy_file_host(struct tm_run *run, const char *path)
{
    enum tm_found_kind kind;
    size_t length, host_length, bare;
    const char *const last = tm_last_part(path, &length);

    if (strcmp(path, "-") == 0)
        return copy_text(run, "stdin", sizeof("stdin") - 1);
    if (is_trace_name(last, &kind, &host_length))
        return copy_host(run, last, host_length);
    bare = without(last, length, ".gz");
    bare = bare ? bare : length;
    host_length = without(last, bare, ".pb");
    if (host_length == 0)
        host_length = without(last, bare, ".json");
    return copy_host(run, last, host_length ? host_length : bare);
}

static tm_status discover_file(struct tm_run *run, const char *path, const struct stat *info,
                               struct tm_found *found)
{
    struct search s = { .run = run, .found = found, .root = path };
    struct tm_found_run *const r = &s.here;
    void *rows = NULL;
    tm_status st = add_file(run, r, copy_text(run, path, strlen(path)), copy_file_host(run, path), info,
                            TM_FOUND_FILE);

    if (st == TM_OK) {
        r->file_count = 1;
        r->when_ns = r->mtime_ns;
        r->folder = copy_text(run, path, strlen(path));
        r->name = r->folder ? copy_run_name(run, path, r->files[0].host) : NULL;
        st = r->name ? grow(run, &rows, 0, &found->capacity, sizeof(*r)) : run->error.status;
        found->runs = rows;
    }
    if (st == TM_OK) {
        found->runs[found->run_count++] = *r;
        s.here = (struct tm_found_run){ 0 };
    }
    end_search(&s);
    return st;
}

tm_status tm_discover(struct tm_run *run, const char *input, struct tm_found *found)
{
    struct stat info = { 0 };

    *found = (struct tm_found){ .run = run };
    if (strcmp(input, "-") == 0)
        return discover_file(run, input, &info, found);
    if (stat(input, &info) != 0) {
        const int reason = errno;

        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot open '%s': %s", input, strerror(reason));
        if (reason == ENOENT || reason == ENOTDIR)
            tm_hint(&run->error, "check the path; 'tracemill list DIR' shows the profiles in a folder");
        return TM_ERR_INPUT;
    }
    if (S_ISDIR(info.st_mode))
        return discover_folder(run, input, found);
    return discover_file(run, input, &info, found);
}

/* Move the runs of one argument into the list of all. */
static tm_status move_runs(struct tm_found *all, struct tm_found *one)
{
    for (size_t i = 0; i < one->run_count; i++) {
        void *rows = all->runs;
        const tm_status st = grow(all->run, &rows, all->run_count, &all->capacity, sizeof(*all->runs));

        all->runs = rows;
        if (st != TM_OK)
            return st;
        all->runs[all->run_count++] = one->runs[i];
        one->runs[i] = (struct tm_found_run){ 0 };
    }
    all->folders += one->folders;
    all->unreadable += one->unreadable;
    all->too_deep += one->too_deep;
    return TM_OK;
}

tm_status tm_discover_all(struct tm_run *run, char *const *inputs, size_t count, struct tm_found *found)
{
    tm_status st = TM_OK;

    if (count == 1)
        return tm_discover(run, inputs[0], found);
    *found = (struct tm_found){ .run = run };
    for (size_t i = 0; i < count && st == TM_OK; i++) {
        struct tm_found one;

        st = tm_discover(run, inputs[i], &one);
        if (st == TM_OK)
            st = move_runs(found, &one);
        tm_found_free(&one);
    }
    return st == TM_OK ? order_runs(found, "") : st;
}
