/* SPDX-License-Identifier: Apache-2.0 */
/* From roots to a manifest: what discovery finds below each of them becomes rows, which are put in order and get the
 * fingerprints of their files.  Discovery's own list is held for one root at a time. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "pipeline/nightly/fingerprint.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/nightly/run_keys.h"

enum { ID_END_BYTES = 72 /* of a path, in an id */, ID_HASH_BYTES = 16 };

struct scanning {
    struct tm_manifest *manifest;
    struct tm_run *run;
    const struct tm_options *options;
    const char *root; /* as given, but absolute and without links */
    const char *base; /* what paths are below: the root, or the folder that the file is in */
    bool is_folder;
};

/* --- ids --- */

static bool is_plain(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
}

/* The end of a text as a part of an id: what no id may have becomes '_', a slash '-'.  out: its length; *same: it says
 * all of the text */
static size_t put_plain_end(char *out, const char *text, size_t length, bool *same)
{
    size_t begin = length > ID_END_BYTES ? length - ID_END_BYTES : 0, used = 0;

    while (begin < length && text[begin] == '.')
        begin++;
    *same = begin == 0;
    for (size_t i = begin; i < length; i++) {
        *same &= is_plain(text[i]);
        out[used++] = (char)(is_plain(text[i]) ? text[i] : text[i] == '/' ? '-' : '_');
    }
    return used;
}

static char *make_id(struct tm_manifest *m, const char *text, size_t length, uint64_t hash, bool always)
{
    char id[TM_RUN_ID_BYTES];
    bool same;
    size_t used = put_plain_end(id, text, length, &same);

    if (always || !same || used == 0)
        used += (size_t)snprintf(id + used, sizeof(id) - used, "%s%016" PRIx64, used > 0 ? "-" : "", hash);
    return tm_manifest_copy(m, id, used);
}

/* Of root and path, which no slash at the end of a root makes run into one another.  Its readable end leaves the folders
 * out that all runs of TensorBoard have. */
static char *make_run_id(const struct scanning *s, const char *path)
{
    static const char common[] = "plugins/profile/";
    const size_t common_length = sizeof(common) - 1;
    char text[PATH_MAX + TM_FOUND_NAME_BYTES];
    const char *shown = path[0] ? path : s->base;
    const char *in = strstr(shown, common);
    const int length = snprintf(text, sizeof(text), "%s/%s", s->base, path);
    const uint64_t hash = XXH3_64bits(text, (size_t)length);
    int head = 0;

    if (in && (in == shown || in[-1] == '/')) {
        head = (int)(in - shown);
        in += common_length;
    } else {
        in = shown;
    }
    (void)snprintf(text, sizeof(text), "%.*s%s", head, shown, in);
    return make_id(s->manifest, text, strlen(text), hash, true);
}

/* --- rows --- */

/* A path below the base, without empty parts and "."; false where it is not below it, or cannot be. */
static bool path_below(const struct scanning *s, const char *path, char *out, size_t bytes)
{
    const size_t length = strcmp(s->base, "/") == 0 ? 0 : strlen(s->base);
    size_t used = 0, part;

    if (strncmp(path, s->base, length) != 0 || (path[length] && path[length] != '/'))
        return false;
    for (const char *at = path + length; *at; at += part) {
        at += strspn(at, "/");
        part = strcspn(at, "/");
        if (!part || (part == 1 && *at == '.'))
            continue;
        if (used + part + 2 > bytes)
            return false;
        used += (size_t)snprintf(out + used, bytes - used, "%s%.*s", used > 0 ? "/" : "", (int)part, at);
    }
    out[used] = '\0';
    return tm_path_is_below(out);
}

static tm_status copy_file(const struct scanning *s, const struct tm_found_file *from, struct tm_batch_file *to)
{
    struct tm_manifest *m = s->manifest;
    const size_t host_bytes = strlen(from->host);
    char path[PATH_MAX];

    if (!path_below(s, from->path, path, sizeof(path)))
        return tm_fail(&s->run->error, TM_ERR_INPUT, -1, "cannot use the path '%s'", from->path);
    *to = (struct tm_batch_file){
        .path = tm_manifest_copy(m, path, strlen(path)),
        .member = from->member ? tm_manifest_copy(m, from->member, strlen(from->member)) : NULL,
        .position = from->position,
        .host = tm_manifest_copy(m, from->host, host_bytes),
        .bytes = from->bytes,
        .mtime_ns = from->mtime_ns,
        .id = make_id(m, from->host, host_bytes, XXH3_64bits(from->host, host_bytes), false),
    };
    return to->path && to->host && to->id && !to->member == !from->member ? TM_OK : s->run->error.status;
}

/* What the job is called where the path says nothing: the last part of the root; of a file without its ending. */
static const char *name_of_root(const struct scanning *s, const struct tm_found_run *found, char name[PATH_MAX])
{
    size_t length;
    const char *last = tm_last_part(s->root, &length);

    if (s->is_folder)
        return s->root;
    if (!found->files[0].member)
        return found->files[0].host;
    (void)snprintf(name, PATH_MAX, "%.*s", (int)tm_archive_name_length(last, length), last);
    return name;
}

/* What the keys are read from: the path below the root, without the names of files. */
static void put_path_below(const struct scanning *s, const struct tm_found_run *found, const char *path,
                           char below[TM_FOUND_NAME_BYTES])
{
    size_t length = s->is_folder ? 0 : strcspn(path, "/");
    char *slash;

    length += path[length] == '/' && !s->is_folder;
    (void)snprintf(below, TM_FOUND_NAME_BYTES, "%s", path + length);
    if (found->files[0].kind != TM_FOUND_FILE || !found->files[0].member)
        return;
    slash = strrchr(below, '/'); /* a member that is the run itself */
    *(slash ? slash : below) = '\0';
}

TM_NOT_INLINE tm_status read_keys(const struct scanning *s, const struct tm_found_run *found, struct tm_batch_run *to)
{
    struct tm_run_keys *keys = tm_take(&s->run->budget, TM_ACCOUNT_MODEL, sizeof(*keys), &s->run->error);
    char below[TM_FOUND_NAME_BYTES], name[PATH_MAX];
    tm_status st;

    if (!keys)
        return s->run->error.status;
    put_path_below(s, found, to->path, below);
    if (!tm_run_keys_read(keys, name_of_root(s, found, name), below, found->when_ns, s->options))
        s->manifest->not_fitting++;
    st = tm_manifest_keys(s->manifest, &to->keys, keys);
    tm_give(&s->run->budget, TM_ACCOUNT_MODEL, keys, sizeof(*keys));
    return st;
}

static tm_status add_run(const struct scanning *s, const struct tm_found_run *found)
{
    struct tm_manifest *m = s->manifest;
    char path[TM_FOUND_NAME_BYTES], name[TM_FOUND_NAME_BYTES];
    struct tm_batch_run to = { .root = s->base, .files = found->file_count };
    size_t length;
    const char *last = tm_last_part(found->name, &length); /* it is not to depend on what other runs there are */
    tm_status st;

    if (!path_below(s, found->folder, path, sizeof(path))) {
        m->left_out++;
        return TM_OK;
    }
    tm_clean_text(name, sizeof(name), last, length);
    to.path = tm_manifest_copy(m, path, strlen(path));
    to.name = tm_manifest_copy(m, name, strlen(name));
    to.id = to.path ? make_run_id(s, to.path) : NULL;
    to.file = tm_manifest_take(m, found->file_count * sizeof(*to.file));
    if (!to.path || !to.name || !to.id || !to.file)
        return s->run->error.status;
    st = read_keys(s, found, &to);
    for (size_t i = 0; i < found->file_count && st == TM_OK; i++) {
        st = copy_file(s, &found->files[i], &to.file[i]);
        to.bytes += to.file[i].bytes;
    }
    return st == TM_OK ? tm_manifest_add(m, &to) : st;
}

/* --- roots --- */

static tm_status resolve_root(struct tm_manifest *m, const char *given, const char **root)
{
    struct tm_run *run = m->run;
    char path[PATH_MAX];

    if (strcmp(given, "-") == 0) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot make a batch of stdin");
        tm_hint(&run->error, "'tracemill report -' reads one trace from it");
        return TM_ERR_USAGE;
    }
    if (!realpath(given, path)) {
        const int problem = errno;

        (void)tm_fail_system(&run->error, TM_ERR_INPUT, -1, problem, "cannot open '%s'", given);
        if (problem == ENOENT || problem == ENOTDIR)
            tm_hint(&run->error, "check the path; 'tracemill list DIR' shows the profiles in a folder");
        return run->error.status;
    }
    *root = tm_manifest_copy(m, path, strlen(path));
    return *root ? TM_OK : run->error.status;
}

/* Absolute, sorted, each once. */
static tm_status resolve_roots(struct tm_manifest *m, char *const *roots, size_t count, const char **to, size_t *kept)
{
    tm_status st = TM_OK;

    *kept = 0;
    for (size_t i = 0; i < count && st == TM_OK; i++)
        st = resolve_root(m, roots[i], &to[i]);
    if (st != TM_OK)
        return st;
    qsort(to, count, sizeof(*to), tm_by_text);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(to[i], to[*kept - 1]) != 0)
            to[(*kept)++] = to[i];
    }
    return TM_OK;
}

/* What paths are below: the root, or of a file the folder that it is in.  It is stored once. */
static tm_status choose_base(struct scanning *s)
{
    struct tm_manifest *m = s->manifest;
    struct stat info;
    size_t length = strlen(s->root);

    if (stat(s->root, &info) != 0)
        return tm_fail_system(&s->run->error, TM_ERR_INPUT, -1, errno, "cannot look at '%s'", s->root);
    s->is_folder = S_ISDIR(info.st_mode);
    if (!s->is_folder) {
        const char *slash = strrchr(s->root, '/');

        length = slash > s->root ? (size_t)(slash - s->root) : 1;
    }
    for (size_t i = 0; i < m->root_count; i++) {
        if (strlen(m->roots[i]) == length && memcmp(m->roots[i], s->root, length) == 0) {
            s->base = m->roots[i];
            return TM_OK;
        }
    }
    s->base = m->roots[m->root_count] = tm_manifest_copy(m, s->root, length);
    if (!s->base)
        return m->run->error.status;
    m->root_count++;
    return TM_OK;
}

static tm_status scan_root(struct scanning *s, tm_discover_one *discover)
{
    struct tm_found found = { .run = NULL };
    tm_status st = choose_base(s);

    if (st == TM_OK)
        st = discover(s->run, s->root, &found);
    for (size_t i = 0; i < found.run_count && st == TM_OK; i++)
        st = add_run(s, &found.runs[i]);
    s->manifest->unreadable += found.unreadable + found.too_deep + found.damaged;
    s->manifest->left_out += found.unnamed;
    tm_left_out_add(&s->manifest->skipped, &found.left_out);
    s->manifest->links += found.links;
    tm_found_free(&found);
    return st;
}

/* --- order --- */

static int by_root_and_path(const void *a, const void *b)
{
    const struct tm_batch_run *const one = a, *const other = b;
    const int roots = strcmp(one->root, other->root);

    return roots ? roots : strcmp(one->path, other->path);
}

/* Is it among the runs of this root, which its own root lies in? */
static bool is_below_too(const struct tm_manifest *m, const struct tm_batch_run *batch_run, const char *root)
{
    const size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    char path[PATH_MAX + TM_FOUND_NAME_BYTES];
    const struct tm_batch_run wanted = { .root = root, .path = path };

    if (strncmp(batch_run->root, root, length) != 0 || batch_run->root[length] != '/' || !batch_run->root[length + 1])
        return false;
    (void)snprintf(path, sizeof(path), "%s%s%s", batch_run->root + length + 1, batch_run->path[0] ? "/" : "",
                   batch_run->path);
    return bsearch(&wanted, m->runs, m->count, sizeof(*m->runs), by_root_and_path) != NULL;
}

/* A root may lie in another one: its runs are those of the outer one. */
static void drop_doubles(struct tm_manifest *m)
{
    const size_t count = m->count;
    size_t kept = 0;
    struct tm_batch_run *runs = m->runs;

    for (size_t i = 0; i < count && m->root_count > 1; i++) {
        for (size_t k = 0; k < m->root_count && runs[i].files > 0; k++) {
            if (!is_below_too(m, &runs[i], m->roots[k]))
                continue;
            m->files -= runs[i].files;
            m->bytes -= runs[i].bytes;
            m->doubles++;
            runs[i].files = 0;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (runs[i].files > 0)
            runs[kept++] = runs[i];
    }
    m->count = kept;
}

/* --- fingerprints --- */

/* A file that cannot be read has none: to work it will fail, with the reason, and the others go on.  Members of an archive
 * have that of the archive. */
static void take_fingerprint(struct tm_manifest *m, const struct tm_batch_run *batch_run, struct tm_batch_file *file,
                             const struct tm_batch_file *before)
{
    struct tm_run *run = m->run;
    char path[PATH_MAX + TM_FOUND_NAME_BYTES];
    uint64_t bytes;
    int64_t mtime_ns;

    if (before && before->member && file->member && strcmp(before->path, file->path) == 0) {
        memcpy(file->fingerprint, before->fingerprint, sizeof(file->fingerprint));
        return;
    }
    (void)snprintf(path, sizeof(path), "%s/%s", batch_run->root, file->path);
    if (tm_file_fingerprint(run, path, &bytes, &mtime_ns, file->fingerprint) != TM_OK) {
        run->error = (struct tm_error){ .status = TM_OK };
        file->fingerprint[0] = '\0';
        m->unreadable++;
        return;
    }
    if (!file->member) {
        file->bytes = bytes;
        file->mtime_ns = mtime_ns;
    }
}

static void take_fingerprints(struct tm_manifest *m)
{
    tm_progress_phase(&m->run->progress, "looking at traces", m->bytes);
    for (size_t i = 0; i < m->count; i++) {
        struct tm_batch_run *batch_run = &m->runs[i];
        const struct tm_batch_run *last = i > 0 ? &m->runs[i - 1] : NULL;
        const struct tm_batch_file *before =
            last && last->root == batch_run->root ? &last->file[last->files - 1] : NULL;

        tm_progress_add(&m->run->progress, batch_run->bytes);
        m->bytes -= batch_run->bytes;
        batch_run->bytes = 0;
        for (size_t k = 0; k < batch_run->files; k++) {
            take_fingerprint(m, batch_run, &batch_run->file[k], before);
            before = &batch_run->file[k];
            batch_run->bytes += before->bytes;
        }
        m->bytes += batch_run->bytes;
    }
}

/* --- all of it --- */

static tm_status scan_roots(struct tm_manifest *m, const char **roots, size_t count, const struct tm_options *options,
                            tm_discover_one *discover)
{
    tm_status st = TM_OK;

    tm_progress_phase(&m->run->progress, "searching", 0);
    for (size_t i = 0; i < count && st == TM_OK; i++) {
        struct scanning s = { .manifest = m, .run = m->run, .options = options, .root = roots[i] };

        st = scan_root(&s, discover);
    }
    if (st == TM_OK && m->count == 0)
        st = tm_fail(&m->run->error, TM_ERR_INPUT, -1, "the names of all %" PRIu64 " profiles found cannot be used",
                     m->left_out);
    return st;
}

tm_status tm_manifest_scan(struct tm_manifest *manifest, struct tm_run *run, char *const *roots, size_t count,
                           const struct tm_options *options, tm_discover_one *discover)
{
    const char **absolute;
    size_t kept = 0;
    tm_status st;

    tm_manifest_begin(manifest, run);
    st = tm_run_keys_check(run, options);
    if (st != TM_OK)
        return st;
    absolute = tm_manifest_take(manifest, count * sizeof(*absolute));
    manifest->roots = tm_manifest_take(manifest, count * sizeof(*manifest->roots));
    if (!absolute || !manifest->roots)
        return run->error.status;
    st = resolve_roots(manifest, roots, count, absolute, &kept);
    if (st == TM_OK)
        st = scan_roots(manifest, absolute, kept, options, discover);
    if (st != TM_OK)
        return st;
    qsort(manifest->roots, manifest->root_count, sizeof(*manifest->roots), tm_by_text);
    qsort(manifest->runs, manifest->count, sizeof(*manifest->runs), by_root_and_path);
    drop_doubles(manifest);
    st = tm_manifest_check_ids(manifest);
    if (st == TM_OK)
        take_fingerprints(manifest);
    return st;
}
