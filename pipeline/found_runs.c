/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the files of one folder into a run: which of them to read, their hosts, and the name of the run. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pipeline/discover.h"
#include "pipeline/numbers.h"

/* Information from the names of trace files and of run folders. */

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

size_t tm_name_without(const char *name, size_t length, const char *ending)
{
    const size_t bytes = strlen(ending);

    if (length <= bytes || memcmp(name + length - bytes, ending, bytes) != 0)
        return 0;
    return length - bytes;
}

const char *tm_member_path(const char *name)
{
    for (;;) {
        if (name[0] == '/')
            name++;
        else if (name[0] == '.' && name[1] == '/')
            name += 2;
        else
            return name;
    }
}

/* Length without a dot and digits at the end, as the time in the names of PyTorch; the same if there are none. */
static size_t without_number(const char *name, size_t length)
{
    size_t end = length;

    while (end > 0 && isdigit((unsigned char)name[end - 1]))
        end--;
    return end > 1 && end < length && name[end - 1] == '.' ? end - 1 : length;
}

static size_t without_compression(const char *name, size_t length)
{
    size_t bare = tm_name_without(name, length, ".gz");

    bare = bare ? bare : tm_name_without(name, length, ".zst");
    return bare ? bare : length;
}

bool tm_trace_name_read(const char *name, struct tm_trace_name *told)
{
    static const char perfetto[] = "perfetto_trace.json";
    const size_t whole = strlen(name), length = without_compression(name, whole);
    size_t bare;

    *told = (struct tm_trace_name){ .kind = TM_FOUND_XPLANE, .compressed = length < whole };
    told->host_length = told->data_length = tm_name_without(name, length, ".xplane.pb");
    if (told->host_length > 0)
        return true;
    told->kind = TM_FOUND_TRACE_JSON;
    bare = tm_name_without(name, length, ".pt.trace.json");
    if (bare > 0) { /* WORKER.TIME.pt.trace.json: of one worker there may be several, each of another time */
        told->data_length = bare;
        told->host_length = without_number(name, bare);
        return true;
    }
    told->host_length = told->data_length = tm_name_without(name, length, ".trace.json");
    if (told->host_length > 0)
        return true;
    told->kind = TM_FOUND_PERFETTO_JSON;
    told->host_length = told->data_length = sizeof("perfetto_trace") - 1;
    return length == sizeof(perfetto) - 1 && memcmp(name, perfetto, length) == 0;
}

bool tm_plain_name_read(const char *name, struct tm_trace_name *told)
{
    const size_t whole = strlen(name), length = without_compression(name, whole);
    const size_t json = tm_name_without(name, length, ".json");
    const size_t bare = json ? json : tm_name_without(name, length, ".pb");

    *told = (struct tm_trace_name){ .kind = json ? TM_FOUND_TRACE_JSON : TM_FOUND_XPLANE,
                                    .host_length = bare,
                                    .data_length = bare,
                                    .compressed = length < whole };
    return bare > 0;
}

/* Length without the endings of Perfetto traces, which are looked for in no folder. */
static size_t without_perfetto(const char *name, size_t length)
{
    size_t bare = tm_name_without(name, length, ".pftrace");

    bare = bare ? bare : tm_name_without(name, length, ".perfetto-trace");
    return bare ? bare : length;
}

char *tm_file_host(struct tm_run *run, const char *path)
{
    struct tm_trace_name told;
    size_t length;
    const char *const last = tm_last_part(path, &length);

    if (strcmp(path, "-") == 0)
        return tm_find_copy(run, "stdin", sizeof("stdin") - 1);
    if (tm_trace_name_read(last, &told) || tm_plain_name_read(last, &told))
        return tm_find_host(run, last, told.host_length);
    return tm_find_host(run, last, without_perfetto(last, without_compression(last, length)));
}

char *tm_find_host(struct tm_run *run, const char *name, size_t length)
{
    char host[TM_HOST_MOST + 1];

    tm_clean_text(host, sizeof(host), name, length);
    return tm_find_copy(run, host, strlen(host));
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

/* The date that profilers name run folders after: YYYY_MM_DD_hh_mm_ss, then nothing, '_', '-' or '.'. */
static bool run_date(const char *name, size_t length, int64_t *ns)
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
    if (t.tm_year < 1970 || t.tm_year > 2200 || t.tm_mon < 1 || t.tm_mon > 12 || t.tm_mday < 1 || t.tm_mday > 31 ||
        t.tm_hour > 23 || t.tm_min > 59 || t.tm_sec > 60)
        return false;
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    *ns = (int64_t)timegm(&t) * 1000000000; /* as if it were UTC: only its order counts */
    return true;
}

/* Chooses one of the runs that were found. */

/* The newest runs by name, as many as a message holds. */
static void list_runs(const struct tm_found *found, char *text, size_t room)
{
    enum { NAMES_MOST = 20, REST_BYTES = 32, FACTS_BYTES = 64 };
    size_t used = 0, told = 0;

    text[0] = '\0';
    for (size_t i = found->run_count; i > 0 && told < NAMES_MOST; i--, told++) {
        const struct tm_found_run *const r = &found->runs[i - 1];
        char date[TM_FORMAT_BYTES], size[TM_FORMAT_BYTES];
        const size_t bytes = strlen(r->name) + strlen(r->folder) + FACTS_BYTES;

        if (used + bytes + REST_BYTES > room)
            break;
        used += (size_t)snprintf(text + used, room - used, "%s%s (%s, %s, in %s)", told ? ", " : "", r->name,
                                 tm_format_date(date, r->when_ns), tm_format_bytes(size, (double)r->bytes), r->folder);
    }
    if (told < found->run_count)
        (void)snprintf(text + used, room - used, "%s%zu more", told ? ", and " : "", found->run_count - told);
}

static bool same_folder(const char *folder, const char *wanted, size_t wanted_bytes)
{
    size_t bytes = strlen(folder);

    while (bytes > 1 && folder[bytes - 1] == '/')
        bytes--;
    return bytes == wanted_bytes && memcmp(folder, wanted, bytes) == 0;
}

/* The run of that name or folder; else the only one whose folder ends so. */
static const struct tm_found_run *find_run(const struct tm_found *found, const char *wanted, size_t *fits)
{
    const struct tm_found_run *hit = NULL;
    size_t bytes = strlen(wanted);

    while (bytes > 1 && wanted[bytes - 1] == '/')
        bytes--;
    *fits = 1;
    for (size_t i = 0; i < found->run_count; i++) {
        const struct tm_found_run *const r = &found->runs[i];

        if (same_folder(r->name, wanted, bytes) || same_folder(r->folder, wanted, bytes))
            return r;
    }
    *fits = 0;
    for (size_t i = 0; i < found->run_count; i++) {
        size_t length;
        const char *const last = tm_last_part(found->runs[i].folder, &length);

        if (length == bytes && memcmp(last, wanted, bytes) == 0) {
            hit = &found->runs[i];
            ++*fits;
        }
    }
    return *fits == 1 ? hit : NULL;
}

static tm_status refuse_wanted(struct tm_run *run, const struct tm_found *found, const char *wanted, size_t fits)
{
    char names[TM_ERROR_TEXT - 128];

    list_runs(found, names, sizeof(names));
    if (fits > 1)
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "%zu runs are called '%.64s'; there are: %s", fits, wanted, names);
    else
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "no run is called '%.64s'; there are: %s", wanted, names);
    tm_hint(&run->error, "use one of these names with --run; 'tracemill list DIR' lists all of them");
    return TM_ERR_USAGE;
}

tm_status tm_choose_run(struct tm_run *run, const struct tm_found *found, const char *wanted, bool latest,
                        const struct tm_found_run **chosen)
{
    char names[TM_ERROR_TEXT - 64];
    size_t fits;

    *chosen = NULL;
    if (wanted) {
        *chosen = find_run(found, wanted, &fits);
        return *chosen ? TM_OK : refuse_wanted(run, found, wanted, fits);
    }
    if (latest || found->run_count == 1) {
        *chosen = &found->runs[found->run_count - 1];
        return TM_OK;
    }
    list_runs(found, names, sizeof(names));
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "%zu runs found: %s", found->run_count, names);
    tm_hint(&run->error, "choose one with --run NAME, or take the newest with --latest");
    return TM_ERR_USAGE;
}

/* Gives each file its own host.  Each number is used for one file only, so two generated names never collide; a
 * generated name that another file has already is skipped. */

static void give_host(struct tm_run *run, char *host)
{
    if (host)
        tm_give(&run->budget, TM_ACCOUNT_MODEL, host, strlen(host) + 1);
}

static char *copy_host(struct tm_run *run, const char *host, size_t length)
{
    char *const copy = tm_take(&run->budget, TM_ACCOUNT_MODEL, length + 1, &run->error);

    if (copy)
        memcpy(copy, host, length);
    return copy;
}

/* A host from the view of its first file: its place among the files. */
struct taken {
    const char *host;
    size_t at;
};

static int by_taken(const void *a, const void *b)
{
    const struct taken *const one = a, *const other = b;
    const int hosts = strcmp(one->host, other->host);

    return hosts ? hosts : (one->at > other->at) - (one->at < other->at);
}

static int host_to_taken(const void *host, const void *taken)
{
    return strcmp(host, ((const struct taken *)taken)->host);
}

static bool is_taken(const struct taken *table, size_t count, const char *host)
{
    return bsearch(host, table, count, sizeof(*table), host_to_taken) != NULL;
}

/* "host#N" with an N that no other file gets: its place, plus the count as often as needed. */
static char *numbered_host(struct tm_run *run, const struct taken *table, size_t count, size_t row)
{
    char host[TM_HOST_MOST + 1], suffix[32];

    for (size_t number = table[row].at + 1;; number += count) {
        const size_t suffix_bytes = (size_t)snprintf(suffix, sizeof(suffix), "#%zu", number);
        size_t bytes;

        tm_clean_text(host, sizeof(host) - suffix_bytes, table[row].host, strlen(table[row].host));
        bytes = strlen(host);
        memcpy(host + bytes, suffix, suffix_bytes + 1); /* that much was kept free */
        if (!is_taken(table, count, host))
            return copy_host(run, host, bytes + suffix_bytes);
    }
}

/* Number those that are not the first of their host.  The strings of `table` stay valid until all are made. */
static tm_status number_hosts(struct tm_run *run, struct tm_found_file *const *files, const struct taken *table,
                              size_t count, char **fresh)
{
    for (size_t i = 1; i < count; i++) {
        if (strcmp(table[i].host, table[i - 1].host) != 0)
            continue;
        fresh[i] = numbered_host(run, table, count, i);
        if (!fresh[i])
            return run->error.status;
    }
    for (size_t i = 0; i < count; i++) {
        if (!fresh[i])
            continue;
        give_host(run, files[table[i].at]->host);
        files[table[i].at]->host = fresh[i];
        fresh[i] = NULL;
    }
    return TM_OK;
}

tm_status tm_distinct_hosts(struct tm_run *run, struct tm_found_file *const *files, size_t count)
{
    struct taken *const table = tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*table), &run->error);
    char **const fresh = table ? tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*fresh), &run->error) : NULL;
    tm_status st = run->error.status;

    if (table && fresh) {
        for (size_t i = 0; i < count; i++)
            table[i] = (struct taken){ files[i]->host, i };
        qsort(table, count, sizeof(*table), by_taken);
        st = number_hosts(run, files, table, count, fresh);
        for (size_t i = 0; i < count; i++)
            give_host(run, fresh[i]);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, fresh, count * sizeof(*fresh));
    tm_give(&run->budget, TM_ACCOUNT_MODEL, table, count * sizeof(*table));
    return st;
}

/* ---- memory ------------------------------------------------------------------------------------------- */

static tm_status check_share(struct tm_run *run)
{
    const struct tm_budget *const b = &run->budget;

    if (b->used_bytes[TM_ACCOUNT_MODEL] <= tm_budget_share(b, TM_ACCOUNT_MODEL))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "there are too many folders or profiles to hold in memory");
    tm_hint(&run->error, "pass a folder further down, or raise --memory");
    return TM_ERR_LIMIT;
}

void *tm_find_take(struct tm_run *run, size_t bytes)
{
    void *const block = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);

    if (block && check_share(run) != TM_OK) {
        tm_give(&run->budget, TM_ACCOUNT_MODEL, block, bytes);
        return NULL;
    }
    return block;
}

void tm_find_give(struct tm_run *run, char *text)
{
    if (text)
        tm_give(&run->budget, TM_ACCOUNT_MODEL, text, strlen(text) + 1);
}

char *tm_find_copy(struct tm_run *run, const char *text, size_t length)
{
    char *const copy = tm_find_take(run, length + 1);

    if (copy)
        memcpy(copy, text, length); /* the zero is there: blocks come zeroed */
    return copy;
}

tm_status tm_find_grow(struct tm_run *run, void **rows, size_t count, size_t *capacity, size_t row_bytes)
{
    const size_t wanted = *capacity ? *capacity * 2 : 8; /* the share ends long before this overflows */
    void *moved;

    if (count < *capacity)
        return TM_OK;
    moved = tm_retake(&run->budget, TM_ACCOUNT_MODEL, *rows, *capacity * row_bytes, wanted * row_bytes, &run->error);
    if (!moved)
        return run->error.status;
    *rows = moved;
    *capacity = wanted;
    return check_share(run);
}

void tm_found_file_free(struct tm_run *run, struct tm_found_file *file)
{
    tm_find_give(run, file->path);
    tm_find_give(run, file->member);
    tm_find_give(run, file->target);
    tm_find_give(run, file->host);
    tm_find_give(run, file->problem);
    tm_find_give(run, file->version);
    *file = (struct tm_found_file){ .path = NULL };
}

void tm_run_free(struct tm_run *run, struct tm_found_run *r)
{
    for (size_t i = 0; i < r->all_count; i++)
        tm_found_file_free(run, &r->files[i]);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, r->files, r->capacity * sizeof(*r->files));
    tm_find_give(run, r->name);
    tm_find_give(run, r->folder);
    *r = (struct tm_found_run){ 0 };
}

void tm_found_free(struct tm_found *found)
{
    if (!found->run)
        return;
    for (size_t i = 0; i < found->run_count; i++)
        tm_run_free(found->run, &found->runs[i]);
    tm_give(&found->run->budget, TM_ACCOUNT_MODEL, found->runs, found->capacity * sizeof(*found->runs));
    *found = (struct tm_found){ 0 };
}

/* ---- names -------------------------------------------------------------------------------------------- */

static const char *below(const char *folder, const char *root);

const char *tm_found_name(const struct tm_found_file *file, char name[TM_FOUND_NAME_BYTES])
{
    const char *below = file->member;

    if (!below)
        return file->path;
    (void)snprintf(name, TM_FOUND_NAME_BYTES, "%s/%s", file->path, tm_member_path(below));
    return name;
}

/* The last part of it, which says what the file is. */
static const char *last_of(const struct tm_found_file *file)
{
    size_t length;

    return tm_last_part(file->member ? file->member : file->path, &length);
}

/* ---- which files are read ----------------------------------------------------------------------------- */

/* out: false  for an uninformative name */
static bool read_name(const char *name, struct tm_trace_name *told)
{
    return tm_trace_name_read(name, told) || tm_plain_name_read(name, told);
}

/* A file with the information in its name; only while the files of one folder are sorted. */
static int by_data(const void *a, const void *b)
{
    const struct tm_found_file *const one = a, *const other = b;
    const char *const name = last_of(one), *const name2 = last_of(other);
    struct tm_trace_name told = { .data_length = 0 }, told2 = told;
    size_t shorter;
    int data;

    (void)read_name(name, &told);
    (void)read_name(name2, &told2);
    shorter = told.data_length < told2.data_length ? told.data_length : told2.data_length;
    data = memcmp(name, name2, shorter);
    if (data)
        return data;
    if (told.data_length != told2.data_length)
        return told.data_length < told2.data_length ? -1 : 1;
    if (one->kind != other->kind)
        return one->kind < other->kind ? -1 : 1;
    if (told.compressed != told2.compressed)
        return told.compressed ? 1 : -1;
    return strcmp(name, name2);
}

static bool same_data(const struct tm_found_file *one, const struct tm_found_file *other)
{
    const char *const name = last_of(one), *const name2 = last_of(other);
    struct tm_trace_name told, told2;

    return read_name(name, &told) && read_name(name2, &told2) && told.data_length == told2.data_length &&
           memcmp(name, name2, told.data_length) == 0;
}

/* A profile may exist in several forms: xplane.pb and trace.json of one host, each of them also compressed.  The best
 * one is read, because the others would count twice. perfetto_trace.json does not name its host, so it is read only if
 * it is alone.  JSON with any other name beside XSpace files is a viewer's copy. */
static void mark_copies(struct tm_found_run *r)
{
    struct tm_found_file *best = NULL;
    bool others = false, has_space = false;
    struct tm_trace_name told;

    qsort(r->files, r->all_count, sizeof(*r->files), by_data);
    for (size_t i = 0; i < r->all_count; i++) {
        others |= r->files[i].kind != TM_FOUND_PERFETTO_JSON;
        has_space |= r->files[i].kind == TM_FOUND_XPLANE;
    }
    for (size_t i = 0; i < r->all_count; i++) {
        struct tm_found_file *const file = &r->files[i];
        const bool copy = best && same_data(best, file);

        if (!copy)
            best = file;
        if (copy || (others && file->kind == TM_FOUND_PERFETTO_JSON) ||
            (has_space && file->kind == TM_FOUND_TRACE_JSON && !tm_trace_name_read(last_of(file), &told)))
            file->kind = TM_FOUND_COPY;
    }
}

static int by_kind_and_host(const void *a, const void *b)
{
    const struct tm_found_file *const one = a, *const other = b;
    const int hosts = strcmp(one->host, other->host);

    if (one->kind != other->kind)
        return one->kind < other->kind ? -1 : 1;
    return hosts ? hosts : strcmp(last_of(one), last_of(other));
}

/* Hosts of the files to read may not share a name. */
static void make_hosts_distinct(struct tm_run *run, struct tm_found_run *r)
{
    struct tm_found_file **const files = tm_find_take(run, r->file_count * sizeof(*files));

    if (!files)
        return;
    for (size_t i = 0; i < r->file_count; i++)
        files[i] = &r->files[i];
    tm_distinct_hosts(run, files, r->file_count);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, files, r->file_count * sizeof(*files));
}

/* ---- runs --------------------------------------------------------------------------------------------- */

tm_status tm_run_add(struct tm_run *run, struct tm_found_run *r, const struct tm_found_file *file)
{
    struct tm_found_file copy = *file;
    void *rows = r->files;

    if (!file->path || !file->host || tm_find_grow(run, &rows, r->all_count, &r->capacity, sizeof(*file))) {
        r->files = rows;
        tm_found_file_free(run, &copy);
        return run->error.status;
    }
    r->files = rows;
    r->files[r->all_count++] = *file;
    r->bytes += file->bytes;
    if (r->all_count == 1 || file->mtime_ns > r->mtime_ns)
        r->mtime_ns = file->mtime_ns;
    return TM_OK;
}

static tm_status move_run(struct tm_found *found, struct tm_found_run *r)
{
    void *rows = found->runs;

    tm_find_grow(found->run, &rows, found->run_count, &found->capacity, sizeof(*r));
    found->runs = rows;
    if (tm_failed(found->run))
        return found->run->error.status;
    found->runs[found->run_count++] = *r;
    *r = (struct tm_found_run){ .name = NULL };
    return TM_OK;
}

tm_status tm_run_keep(struct tm_found *found, struct tm_found_run *r, const char *folder, char *name)
{
    struct tm_run *const run = found->run;

    r->name = name;
    mark_copies(r);
    qsort(r->files, r->all_count, sizeof(*r->files), by_kind_and_host);
    while (r->file_count < r->all_count && r->files[r->file_count].kind != TM_FOUND_COPY)
        r->file_count++;
    make_hosts_distinct(run, r);
    r->folder = tm_find_copy(run, folder, strlen(folder));
    if (tm_failed(run))
        return run->error.status;
    if (!run_date(r->name, strlen(r->name), &r->when_ns))
        r->when_ns = r->mtime_ns;
    return move_run(found, r);
}

/* The name of the run of a single file: that of its run folder, if the path has one, else its own. */
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
        if (run_date(name, parent_length, &when))
            return tm_find_copy(run, name, parent_length);
    }
    return tm_find_copy(run, host, strlen(host));
}

tm_status tm_run_keep_file(struct tm_found *found, struct tm_found_run *r)
{
    struct tm_run *const run = found->run;
    char text[TM_FOUND_NAME_BYTES];
    const char *const path = tm_found_name(&r->files[0], text);

    r->file_count = 1;
    r->when_ns = r->mtime_ns;
    r->folder = tm_find_copy(run, path, strlen(path));
    r->name = r->folder ? copy_run_name(run, path, r->files[0].host) : NULL;
    return r->name ? move_run(found, r) : run->error.status;
}

/* ---- the order of runs -------------------------------------------------------------------------------- */

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

/* A folder's path below the root; the full path if there is none. */
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

static void rename_run(struct tm_run *run, struct tm_found_run *r, const char *root)
{
    const char *const path = below(r->folder, root);
    char *const name = path[0] ? tm_find_copy(run, path, strlen(path)) : NULL;

    if (!name)
        return; /* the root itself keeps its name: the others have more of the path now */
    tm_find_give(run, r->name);
    r->name = name;
}

/* Runs that share a name are called by their path below the root.  Then all are put in time order.
 * The name changes only after its group is complete, so the order by name stays true meanwhile. */
tm_status tm_runs_order(struct tm_found *found, const char *root)
{
    struct tm_found_run *const runs = found->runs;
    const size_t count = found->run_count;
    size_t end;

    qsort(runs, count, sizeof(*runs), by_name);
    for (size_t begin = 0; begin < count; begin = end) {
        for (end = begin + 1; end < count && strcmp(runs[end].name, runs[begin].name) == 0; end++)
            ;
        for (size_t i = begin; i < end && end - begin > 1; i++)
            rename_run(found->run, &runs[i], root);
    }
    qsort(runs, count, sizeof(*runs), by_time);
    return found->run->error.status;
}
