/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the traces of a batch, which `batch run` and `batch submit` process.  To a file, whole or not at all, or to
 * stdout. */
#include "pipeline/nightly/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_STATIC_LINKING_ONLY /* the state on the stack */
#include <xxhash.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/discover.h"
#include "pipeline/engine/analysis.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/files.h"
#include "pipeline/nightly/batch.h"
#include "pipeline/nightly/result.h"
#include "pipeline/remote.h"
#include "reports/format/format.h"

/* Hashes that show whether work is already done: of inputs, and of the options with which they were processed.
 * Numbers are hashed as little-endian 64-bit words, strings with their length, so that no two lists run into one
 * another. */

enum { END_BYTES = 64 << 10 };

/* A hash in the making: the state on the stack, so that nothing has to be allocated. */
struct hashing {
    XXH3_state_t state;
};

static void begin(struct hashing *h)
{
    XXH3_INITSTATE(&h->state);
    (void)XXH3_64bits_reset(&h->state);
}

static void add_number(struct hashing *h, uint64_t number)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    (void)XXH3_64bits_update(&h->state, bytes, sizeof(bytes));
}

static void add_bytes(struct hashing *h, const void *at, size_t length)
{
    add_number(h, length);
    (void)XXH3_64bits_update(&h->state, at, length);
}

/* NULL and "" are not the same. */
static void add_text(struct hashing *h, const char *text)
{
    add_number(h, text != NULL);
    if (text)
        add_bytes(h, text, strlen(text));
}

static void end(const struct hashing *h, char fingerprint[TM_FINGERPRINT_BYTES])
{
    (void)snprintf(fingerprint, TM_FINGERPRINT_BYTES, "%016" PRIx64, (uint64_t)XXH3_64bits_digest(&h->state));
}

/* --- files --- */

/* Both ends of a file; all of a small one.  out: 0, or errno */
static int add_ends(struct hashing *h, int fd, uint64_t bytes)
{
    static uint8_t buffer[END_BYTES]; /* too much for a small stack */
    const uint64_t last = bytes > END_BYTES ? bytes - END_BYTES : 0;
    size_t got;
    int problem = tm_read_at(fd, buffer, sizeof(buffer), 0, &got);

    if (problem)
        return problem;
    add_bytes(h, buffer, got);
    if (!last)
        return 0;
    problem = tm_read_at(fd, buffer, sizeof(buffer), last, &got);
    if (!problem)
        add_bytes(h, buffer, got);
    return problem;
}

static void put_version(char version[TM_VERSION_BYTES], uint64_t bytes, int64_t mtime_ns, int64_t ctime_ns)
{
    (void)snprintf(version, TM_VERSION_BYTES, "%" PRIu64 "-%" PRId64 "-%" PRId64, bytes, mtime_ns, ctime_ns);
}

bool tm_file_version(const char *path, char version[TM_VERSION_BYTES])
{
    struct stat info;

    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    put_version(version, (uint64_t)info.st_size, tm_file_time_ns(&info), tm_time_ns(info.st_ctim));
    return true;
}

/* The same of a file that the search looked at, without another look.  out: false  it did not */
static bool found_version(const struct tm_batch_file *file, char version[TM_VERSION_BYTES])
{
    if (!file->ctime_ns)
        return false;
    put_version(version, file->bytes, file->mtime_ns, file->ctime_ns);
    return true;
}

tm_status tm_file_fingerprint(struct tm_run *run, const char *path, uint64_t *bytes, int64_t *mtime_ns,
                              char fingerprint[TM_FINGERPRINT_BYTES])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct hashing h;
    struct stat info;
    int problem = 0;

    if (fd < 0 || fstat(fd, &info) != 0) {
        problem = errno;
    } else if (!S_ISREG(info.st_mode)) {
        problem = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    } else {
        *bytes = (uint64_t)info.st_size;
        *mtime_ns = tm_file_time_ns(&info);
        begin(&h);
        add_number(&h, *bytes);
        add_number(&h, (uint64_t)*mtime_ns);
        problem = add_ends(&h, fd, *bytes);
        if (!problem)
            end(&h, fingerprint);
    }
    if (fd >= 0)
        (void)close(fd);
    if (problem != 0)
        return tm_fail_system(&run->error, TM_ERR_INPUT, -1, problem, "cannot read '%s'", path);
    return TM_OK;
}

void tm_run_fingerprint(const struct tm_batch_run *batch_run, char fingerprint[TM_FINGERPRINT_BYTES])
{
    struct hashing h;

    begin(&h);
    add_number(&h, batch_run->files);
    for (size_t i = 0; i < batch_run->files; i++) {
        add_text(&h, batch_run->file[i].host);
        add_text(&h, batch_run->file[i].member);
        add_text(&h, batch_run->file[i].fingerprint);
    }
    end(&h, fingerprint);
}

/* --- options --- */

/* The content of a file of options.  errors: TM_ERR_USAGE */
static tm_status add_file(struct tm_run *run, struct hashing *h, const char *path)
{
    uint8_t buffer[16 << 10];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    int problem = fd < 0 ? errno : 0;
    size_t got = 1;

    while (!problem && got) {
        problem = tm_read_on(fd, buffer, sizeof(buffer), &got);
        if (!problem)
            add_bytes(h, buffer, got);
    }
    if (fd >= 0)
        (void)close(fd);
    if (problem)
        return tm_fail_system(&run->error, TM_ERR_USAGE, -1, problem, "cannot read the thresholds '%s'", path);
    return TM_OK;
}

/* Every option of a batch verb is either here or in tests/unit/test_fingerprint.c, among those that do not change a
 * report: how items are processed, and the documents made from all of them. */
tm_status tm_options_fingerprint(struct tm_run *run, const struct tm_options *options,
                                 char fingerprint[TM_FINGERPRINT_BYTES])
{
    struct hashing h;
    tm_status st = TM_OK;

    begin(&h);
    add_number(&h, options->formats);
    add_text(&h, options->note);
    add_number(&h, (uint64_t)options->paper);
    add_number(&h, (uint64_t)options->steps);
    add_number(&h, options->steps_begin);
    add_number(&h, options->steps_end);
    add_number(&h, (uint64_t)options->skip_steps);
    add_number(&h, (uint64_t)options->window);
    add_number(&h, (uint64_t)options->gap_min_ps);
    add_number(&h, options->rows);
    add_number(&h, options->strict);
    add_number(&h, options->thresholds != NULL);
    if (options->thresholds)
        st = add_file(run, &h, options->thresholds);
    end(&h, fingerprint);
    return st;
}

/* From roots to a manifest: the runs found below each root become rows, which are sorted and get the fingerprints of
 * their files.  The list of discovered runs is kept for one root at a time. */

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

/* The end of a string as a part of an id: what no id may have becomes '_', a slash '-'.  out: its length; *same: it
 * says all of the text */
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

/* A hash of root and path; slashes at the end of a root do not matter.  Its readable end leaves the
 * folders out that all runs of TensorBoard have. */
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

/* A path below the base, without empty parts and "."; false if it is not below it, or cannot be. */
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

/* An object in a bucket is what its store says: nothing of it is fetched to see whether it changed. */
static void fingerprint_object(const struct tm_found_file *from, char fingerprint[TM_FINGERPRINT_BYTES])
{
    struct hashing h;

    begin(&h);
    add_number(&h, from->bytes);
    add_text(&h, from->version);
    if (!from->version)
        add_number(&h, (uint64_t)from->mtime_ns);
    end(&h, fingerprint);
}

static void copy_file(const struct scanning *s, const struct tm_found_file *from, struct tm_batch_file *to)
{
    struct tm_manifest *m = s->manifest;
    const size_t host_bytes = strlen(from->host);
    char path[PATH_MAX];

    if (!path_below(s, from->path, path, sizeof(path))) {
        (void)tm_fail(&s->run->error, TM_ERR_INPUT, -1, "cannot use the path '%s'", from->path);
        return;
    }
    *to = (struct tm_batch_file){
        .path = tm_manifest_copy(m, path, strlen(path)),
        .member = from->member ? tm_manifest_copy(m, from->member, strlen(from->member)) : NULL,
        .position = from->position,
        .host = tm_manifest_copy(m, from->host, host_bytes),
        .bytes = from->bytes,
        .mtime_ns = from->mtime_ns,
        .ctime_ns = from->ctime_ns,
        .version = "",
        .id = make_id(m, from->host, host_bytes, XXH3_64bits(from->host, host_bytes), false),
    };
    if (!tm_remote_is(from->path))
        return;
    fingerprint_object(from, to->fingerprint);
    if (from->version && strlen(from->version) < TM_VERSION_BYTES)
        to->version = tm_manifest_copy(m, from->version, strlen(from->version));
}

/* The name of the job if the path does not give one: the last part of the root; of a file without its ending. */
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

TM_NOT_INLINE void read_keys(const struct scanning *s, const struct tm_found_run *found, struct tm_batch_run *to)
{
    struct tm_run_keys *keys = tm_take(&s->run->budget, TM_ACCOUNT_MODEL, sizeof(*keys), &s->run->error);
    char below[TM_FOUND_NAME_BYTES], name[PATH_MAX];

    if (!keys)
        return;
    put_path_below(s, found, to->path, below);
    if (!tm_run_keys_read(keys, name_of_root(s, found, name), below, found->when_ns, s->options))
        s->manifest->not_fitting++;
    tm_manifest_keys(s->manifest, &to->keys, keys);
    tm_give(&s->run->budget, TM_ACCOUNT_MODEL, keys, sizeof(*keys));
}

static void add_run(const struct scanning *s, const struct tm_found_run *found)
{
    struct tm_manifest *m = s->manifest;
    char path[TM_FOUND_NAME_BYTES], name[TM_FOUND_NAME_BYTES];
    struct tm_batch_run to = { .root = s->base, .files = found->file_count };
    size_t length;
    const char *last = tm_last_part(found->name, &length); /* it is not to depend on what other runs there are */

    if (!path_below(s, found->folder, path, sizeof(path))) {
        m->left_out++;
        return;
    }
    tm_clean_text(name, sizeof(name), last, length);
    to.path = tm_manifest_copy(m, path, strlen(path));
    to.name = tm_manifest_copy(m, name, strlen(name));
    to.id = to.path ? make_run_id(s, to.path) : NULL;
    to.file = tm_manifest_take(m, found->file_count * sizeof(*to.file));
    if (tm_failed(s->run))
        return;
    read_keys(s, found, &to);
    for (size_t i = 0; i < found->file_count && !tm_failed(s->run); i++) {
        copy_file(s, &found->files[i], &to.file[i]);
        to.bytes += to.file[i].bytes;
    }
    if (!tm_failed(s->run))
        tm_manifest_add(m, &to);
}

/* --- roots --- */

static void resolve_root(struct tm_manifest *m, const char *given, const char **root)
{
    struct tm_run *run = m->run;
    char path[PATH_MAX];

    if (strcmp(given, "-") == 0) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot process a batch from stdin");
        tm_hint(&run->error, "'tracemill report -' reads one trace from it");
    } else if (tm_remote_is(given)) {
        size_t length;
        const char *const last = tm_last_part(given, &length);

        *root = tm_manifest_copy(m, given, (size_t)(last - given) + length);
    } else if (!realpath(given, path)) {
        const int problem = errno;

        (void)tm_fail_system(&run->error, TM_ERR_INPUT, -1, problem, "cannot open '%s'", given);
        if (problem == ENOENT || problem == ENOTDIR)
            tm_hint(&run->error, "check the path; 'tracemill list DIR' shows the profiles in a folder");
    } else {
        *root = tm_manifest_copy(m, path, strlen(path));
    }
}

/* Absolute, sorted, each once. */
static size_t resolve_roots(struct tm_manifest *m, char *const *roots, size_t count, const char **to)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        resolve_root(m, roots[i], &to[i]);
    if (tm_failed(m->run))
        return 0;
    qsort(to, count, sizeof(*to), tm_by_text);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(to[i], to[kept - 1]) != 0)
            to[kept++] = to[i];
    }
    return kept;
}

/* What paths are below: the root, or of a file the folder that it is in.  It is stored once. */
static tm_status choose_base(struct scanning *s)
{
    struct tm_manifest *m = s->manifest;
    struct stat info;
    size_t length = strlen(s->root);

    if (!tm_remote_is(s->root) && stat(s->root, &info) != 0)
        return tm_fail_system(&s->run->error, TM_ERR_INPUT, -1, errno, "cannot inspect '%s'", s->root);
    s->is_folder = tm_remote_is(s->root) ? !tm_is_object_name(s->root) : S_ISDIR(info.st_mode);
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

static void scan_root(struct scanning *s, tm_discover_one *discover)
{
    struct tm_found found = { .run = NULL };

    if (!choose_base(s))
        (void)(tm_remote_is(s->root) ? tm_discover_listed : discover)(s->run, s->root, &found);
    for (size_t i = 0; i < found.run_count && !tm_failed(s->run); i++)
        add_run(s, &found.runs[i]);
    s->manifest->unreadable += found.unreadable + found.too_deep + found.damaged;
    s->manifest->left_out += found.unnamed;
    tm_left_out_add(&s->manifest->skipped, &found.left_out);
    s->manifest->links += found.links;
    tm_found_free(&found);
}

/* --- order --- */

static int by_root_and_path(const void *a, const void *b)
{
    const struct tm_batch_run *const one = a, *const other = b;
    const int roots = strcmp(one->root, other->root);

    return roots ? roots : strcmp(one->path, other->path);
}

/* Is it among the runs of this root, which its own root is in? */
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

/* A root may be in another one: its runs are those of the outer one. */
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

/* The same file in an earlier manifest, if it has the same version there.  Both lists are in the same order, so a file
 * is where the one before it ended.
 * in: *at  where to look first; out: behind it */
static const struct tm_batch_file *find_known(const struct tm_batch_run *known, const struct tm_batch_file *file,
                                              size_t *at)
{
    for (size_t i = 0; known && i < known->files; i++) {
        const size_t k = (*at + i) % known->files;
        const struct tm_batch_file *const other = &known->file[k];

        if (strcmp(other->id, file->id) != 0)
            continue;
        *at = k + 1;
        return strcmp(other->path, file->path) == 0 && !other->member == !file->member &&
                       (!file->member || strcmp(other->member, file->member) == 0) &&
                       strcmp(other->version, file->version) == 0 && other->fingerprint[0]
                   ? other
                   : NULL;
    }
    return NULL;
}

static void take_version(struct tm_manifest *m, struct tm_batch_file *file, const char *path)
{
    char version[TM_VERSION_BYTES];
    const char *copy = NULL;

    if (found_version(file, version) || tm_file_version(path, version))
        copy = tm_manifest_copy(m, version, strlen(version));
    file->version = copy ? copy : "";
}

struct fingerprinting {
    struct tm_manifest *manifest;
    struct tm_known_runs *known_runs;
    const struct tm_batch_run *batch_run, *known; /* known: the same in an earlier manifest; NULL = it is new */
    const struct tm_batch_file *before;           /* the file before, of this root */
    size_t at;                                    /* in the files of `known` */
};

/* A file that cannot be read has none: processing it will fail, with the reason, and the others continue.  Members of
 * an archive have that of the archive.  The version is taken first: what changes after it is found by the next scan. */
static void take_fingerprint(struct fingerprinting *f, struct tm_batch_file *file)
{
    struct tm_manifest *const m = f->manifest;
    const struct tm_batch_file *const before = f->before, *known;
    char path[PATH_MAX + TM_FOUND_NAME_BYTES];
    uint64_t bytes;
    int64_t mtime_ns;

    if (tm_remote_is(f->batch_run->root))
        return; /* it has that of its store */
    if (before && before->member && file->member && strcmp(before->path, file->path) == 0) {
        file->version = before->version;
        memcpy(file->fingerprint, before->fingerprint, sizeof(file->fingerprint));
        return;
    }
    (void)snprintf(path, sizeof(path), "%s/%s", f->batch_run->root, file->path);
    take_version(m, file, path);
    known = find_known(f->known, file, &f->at);
    if (known) {
        memcpy(file->fingerprint, known->fingerprint, sizeof(file->fingerprint));
        file->bytes = known->bytes;
        file->mtime_ns = known->mtime_ns;
        return;
    }
    if (tm_file_fingerprint(m->run, path, &bytes, &mtime_ns, file->fingerprint)) {
        m->run->error = (struct tm_error){ .status = TM_OK };
        file->fingerprint[0] = '\0';
        m->unreadable++;
        return;
    }
    if (!file->member) {
        file->bytes = bytes;
        file->mtime_ns = mtime_ns;
    }
}

static void take_fingerprints(struct tm_manifest *m, const char *known)
{
    struct fingerprinting f = { .manifest = m, .known_runs = known ? tm_known_open(m->run, known) : NULL };

    tm_progress_phase(&m->run->progress, "inspecting traces", m->bytes);
    for (size_t i = 0; i < m->count && !tm_failed(m->run); i++) {
        struct tm_batch_run *batch_run = &m->runs[i];
        const struct tm_batch_run *last = i > 0 ? &m->runs[i - 1] : NULL;

        f.batch_run = batch_run;
        f.known = tm_known_find(f.known_runs, batch_run->root, batch_run->path);
        f.before = last && last->root == batch_run->root ? &last->file[last->files - 1] : NULL;
        f.at = 0;
        tm_progress_add(&m->run->progress, batch_run->bytes);
        m->bytes -= batch_run->bytes;
        batch_run->bytes = 0;
        for (size_t k = 0; k < batch_run->files; k++) {
            take_fingerprint(&f, &batch_run->file[k]);
            f.before = &batch_run->file[k];
            batch_run->bytes += f.before->bytes;
        }
        m->bytes += batch_run->bytes;
    }
    tm_known_close(f.known_runs);
}

/* --- all of it --- */

static void scan_roots(struct tm_manifest *m, const char **roots, size_t count, const struct tm_options *options,
                       tm_discover_one *discover)
{
    tm_progress_phase(&m->run->progress, "searching", 0);
    for (size_t i = 0; i < count && !tm_failed(m->run); i++) {
        struct scanning s = { .manifest = m, .run = m->run, .options = options, .root = roots[i] };

        scan_root(&s, discover);
    }
    if (m->count == 0)
        (void)tm_fail(&m->run->error, TM_ERR_INPUT, -1, "the names of all %" PRIu64 " profiles found cannot be used",
                      m->left_out);
}

tm_status tm_manifest_scan(struct tm_manifest *manifest, struct tm_run *run, char *const *roots, size_t count,
                           const struct tm_options *options, tm_discover_one *discover, const char *known)
{
    const char **absolute;

    tm_manifest_begin(manifest, run);
    tm_run_keys_check(run, options);
    absolute = tm_manifest_take(manifest, count * sizeof(*absolute));
    manifest->roots = tm_manifest_take(manifest, count * sizeof(*manifest->roots));
    if (tm_failed(run))
        return run->error.status;
    count = resolve_roots(manifest, roots, count, absolute);
    if (!tm_failed(run))
        scan_roots(manifest, absolute, count, options, discover);
    if (tm_failed(run))
        return run->error.status;
    qsort(manifest->roots, manifest->root_count, sizeof(*manifest->roots), tm_by_text);
    qsort(manifest->runs, manifest->count, sizeof(*manifest->runs), by_root_and_path);
    drop_doubles(manifest);
    if (!tm_manifest_check_ids(manifest))
        take_fingerprints(manifest, known);
    return run->error.status;
}

static void warn(uint64_t count, const char *one, const char *many)
{
    if (count > 0)
        (void)fprintf(stderr, "tracemill: warning: %" PRIu64 " %s\n", count, count == 1 ? one : many);
}

/* --strict: what could not be examined is a loss. */
static void check_strict(const struct tm_manifest *manifest)
{
    struct tm_run *run = manifest->run;
    const uint64_t count =
        manifest->unreadable + manifest->left_out + manifest->skipped.lost_links + manifest->skipped.unseen;

    if (!run->strict || count == 0)
        return;
    (void)tm_fail(&run->error, TM_ERR_INPUT, -1,
                  "cannot scan under --strict: %" PRIu64 " folders or files could not be read, or have names that"
                  " cannot be used, or are links to nothing",
                  count);
    tm_hint(&run->error, "without --strict, the others are processed, and those fail one by one");
}

tm_status tm_batch_find(struct tm_run *run, const struct tm_options *options, const char *known,
                        struct tm_manifest *manifest)
{
    tm_manifest_scan(manifest, run, options->inputs, options->input_count, options, tm_find_operand, known);
    tm_progress_end(&run->progress);
    if (!tm_failed(run))
        check_strict(manifest);
    if (tm_failed(run))
        return run->error.status;
    warn(manifest->unreadable, "folder or file could not be read", "folders or files could not be read");
    warn(manifest->links, "link points outside ROOT and is not followed; --follow-links follows it",
         "links point outside ROOT and are not followed; --follow-links follows them");
    warn(manifest->doubles, "run is below two roots, and is used once", "runs are below two roots, and are used once");
    warn(manifest->left_out, "run is skipped because of an unusable name",
         "runs are skipped because of unusable names");
    tm_warn_skipped(&manifest->skipped);
    warn(manifest->not_fitting, "run does not match --keys: its keys were guessed from its path",
         "runs do not match --keys: their keys were guessed from their paths");
    return TM_OK;
}

/* --- what was found --- */

struct counts {
    size_t jobs, nights, revisions;
};

static size_t count_key(const struct tm_manifest *m, size_t at)
{
    return tm_count_distinct(m->run, m->runs, m->count, sizeof(*m->runs), offsetof(struct tm_batch_run, keys) + at);
}

static void print_words(const struct tm_manifest *m, const struct counts *counts)
{
    char bytes[TM_FORMAT_BYTES];

    (void)fprintf(stderr, "%zu run%s, %zu trace%s, %s; %zu job%s, %zu night%s\n", m->count, tm_format_plural(m->count),
                  m->files, tm_format_plural(m->files), tm_format_bytes(bytes, (double)m->bytes), counts->jobs,
                  tm_format_plural(counts->jobs), counts->nights, tm_format_plural(counts->nights));
    tm_note_not_traces(&m->skipped);
}

static void print_json(const struct tm_manifest *m, const struct counts *counts, const char *path)
{
    struct tm_doc *doc = tm_doc_new(m->run);
    struct tm_value *root;

    if (!doc)
        return;
    root = tm_doc_root(doc);
    tm_add_string(root, "schema", "tracemill.scan");
    tm_add_int(root, "schema_version", 1);
    tm_add_text(root, "manifest", path, strlen(path));
    tm_add_uint(root, "runs", m->count);
    tm_add_uint(root, "files", m->files);
    tm_add_uint(root, "bytes", m->bytes);
    tm_add_uint(root, "jobs", counts->jobs);
    tm_add_uint(root, "nights", counts->nights);
    tm_add_uint(root, "revisions", counts->revisions);
    tm_add_uint(root, "unreadable", m->unreadable);
    tm_add_uint(root, "doubles", m->doubles);
    tm_add_uint(root, "left_out", m->left_out);
    tm_add_uint(root, "not_fitting", m->not_fitting);
    tm_add_uint(root, "links_not_followed", m->links);
    tm_add_skipped(root, &m->skipped);
    if (!tm_failed(m->run))
        tm_print_document(m->run, doc);
    tm_doc_free(doc);
}

/* --- the output path --- */

/* The file to write: of a folder the list in it.  out: false if the path is too long */
static bool choose_file(const char *output, char path[TM_PLACE_BYTES])
{
    struct stat info;
    const bool is_folder = stat(output, &info) == 0 && S_ISDIR(info.st_mode);
    const int length = snprintf(path, TM_PLACE_BYTES, "%s%s", output, is_folder ? "/" TM_MANIFEST_FILE : "");

    return length >= 0 && length < TM_PLACE_BYTES;
}

static void write_manifest(const struct tm_manifest *m, const struct tm_options *options, const char *path,
                           const struct tm_file_place *place)
{
    struct counts counts = { .jobs = 0 };

    if (options->output && !tm_make_folder(m->run, place->folder))
        tm_manifest_save(m, place->folder, place->name, NULL);
    else if (!options->output)
        tm_finish_stdout(m->run, tm_manifest_write(m, stdout));
    if (!tm_failed(m->run))
        counts = (struct counts){ .jobs = count_key(m, offsetof(struct tm_batch_keys, job)),
                                  .nights = count_key(m, offsetof(struct tm_batch_keys, night)),
                                  .revisions = count_key(m, offsetof(struct tm_batch_keys, revision)) };
    if (!tm_failed(m->run) && !options->quiet)
        print_words(m, &counts);
    if (!tm_failed(m->run) && options->json && options->output)
        print_json(m, &counts, path);
}

static tm_status run_batch_scan(struct tm_run *run, const struct tm_options *options)
{
    struct tm_manifest manifest = { .run = NULL };
    struct tm_file_place place;
    char path[TM_PLACE_BYTES] = "";

    if (options->output && !choose_file(options->output, path))
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, ENAMETOOLONG, "cannot write '%s'", options->output);
    if (options->output && !tm_find_place(run, path, &place))
        tm_guard_output(run, path, "the manifest");
    if (!tm_failed(run) && !tm_batch_find(run, options, options->output ? path : NULL, &manifest))
        write_manifest(&manifest, options, path, &place);
    tm_manifest_free(&manifest);
    return run->error.status;
}

/* clang-format off */
const struct tm_verb tm_batch_scan_verb = {
    .name = "batch scan",
    .summary = "list the traces below a folder in a manifest",
    .usage = "ROOT... [-o FILE] [OPTION...]",
    .description =
        "Finds every run below ROOT and writes a line of JSON for each: job, night, revision and training step from "
        "its path, and its traces with path, size and fingerprint. 'batch run' processes this list. If -o is an "
        "existing folder, the list is written to manifest.jsonl in it.",
    .examples =
        "tracemill batch scan /data/profiles -o manifest.jsonl    for batch run and batch submit\n"
        "tracemill batch scan logs --keys '{job}/{night}/{}' | head    check the resulting keys\n",
    .bit = TM_FOR_BATCH_SCAN,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_batch_scan,
};
/* clang-format on */
