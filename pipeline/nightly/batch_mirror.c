/* SPDX-License-Identifier: Apache-2.0 */
/* `--mirror`: the folder of a batch, copied to a bucket and restored from it. */
#include "pipeline/nightly/batch_mirror.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/files.h"
#include "pipeline/nightly/leases.h"
#include "pipeline/nightly/manifest.h"
#include "pipeline/nightly/result.h"
#include "pipeline/remote.h"
#include "pipeline/store/groups.h"
#include "pipeline/strings.h"

enum {
    NOTE_BYTES = 33,
    DEPTH_MOST = 8,
    BLOCK_BYTES = 4 << 10,
    RESTORED_SINGLY_MOST = 2 /* objects: more are fetched with all others */
};

#define NOTES_FOLDER "mirror"
#define PAGE_FILE "index.html"
#define FETCHED_FOLDER NOTES_FOLDER "/" TM_STAGING_NAME "/fetched"

struct mirror {
    struct tm_run *run;
    const char *out;
    char uri[TM_REMOTE_URI_MOST]; /* without a slash at its end */
    struct tm_staging *staging;   /* of what is to be stored; NULL while restoring */
    uint64_t *gone;               /* objects of pruned runs whose files are gone; counted while storing */
    FILE *list;                   /* of the objects of an item, while it is written */
    size_t list_skip;             /* bytes of a place before a name in it */
};

tm_status tm_mirror_check(struct tm_run *run, const struct tm_options *options, const char *out)
{
    if (tm_failed(run))
        return run->error.status;
    if (out && tm_remote_is(out)) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%s' as the folder of a batch: it is in a bucket",
                      out);
        tm_hint(
            &run->error,
            "use a folder, and '--mirror %.200s' to copy it to the bucket; workers that share no folder: 'batch run "
            "--shard' or 'batch item', and 'batch join'",
            out);
    } else if (options->mirror && (!tm_remote_is(options->mirror) || strlen(options->mirror) >= TM_REMOTE_URI_MOST)) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                      "cannot mirror to '%s': it is not gs://BUCKET/... or s3://BUCKET/...", options->mirror);
    }
    return run->error.status;
}

static struct mirror mirror_of(struct tm_run *run, const struct tm_options *options, const char *out)
{
    struct mirror m = { .run = run, .out = out };
    size_t length = strlen(options->mirror);

    while (length > 0 && options->mirror[length - 1] == '/')
        length--;
    (void)snprintf(m.uri, sizeof(m.uri), "%.*s", (int)length, options->mirror);
    return m;
}

/* --- notes of what the bucket has --- */

static void write_hash(char to[NOTE_BYTES], const char *const text[], size_t count)
{
    const struct tm_key hash = tm_hash_texts(text, count);

    (void)snprintf(to, NOTE_BYTES, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
}

/* The note of a file is one line: a hash of the address, the place, and the content.  That of a run is the note of its
 * result; a second line is a hash of the address, and each further line the name, below the folder of the run, of an
 * object that was stored with it. */

/* What the note of a file has to be.  out: false: there is no such file */
static bool make_note(const struct mirror *m, const char *place, char note[NOTE_BYTES])
{
    char path[TM_OUT_PATH_BYTES], content[NOTE_BYTES];
    uint64_t hash;

    if (tm_out_path(m->run, m->out, place, path))
        return false;
    hash = tm_content_hash(path);
    (void)snprintf(content, sizeof(content), "%016" PRIx64, hash);
    write_hash(note, (const char *const[]){ m->uri, place, content }, 3);
    return hash != 0;
}

/* Where it is: OUT/mirror/ab, and its name there. */
static tm_status find_note(const struct mirror *m, const char *place, char folder[TM_OUT_PATH_BYTES],
                           char name[NOTE_BYTES])
{
    char below[32];

    write_hash(name, (const char *const[]){ place }, 1);
    (void)snprintf(below, sizeof(below), NOTES_FOLDER "/%.2s", name);
    return tm_out_path(m->run, m->out, below, folder);
}

/* Where it waits until the bucket has what it says. */
static tm_status find_waiting_note(const struct mirror *m, const char *place, char folder[TM_OUT_PATH_BYTES],
                                   char name[NOTE_BYTES])
{
    char below[3];

    write_hash(name, (const char *const[]){ place }, 1);
    (void)snprintf(below, sizeof(below), "%.2s", name);
    return tm_staging_notes(m->staging, below, folder);
}

static bool is_noted(const struct mirror *m, const char *place, const char *note)
{
    char folder[TM_OUT_PATH_BYTES], path[TM_OUT_PATH_BYTES], name[NOTE_BYTES], found[NOTE_BYTES] = "";
    FILE *file;

    if (find_note(m, place, folder, name) || tm_out_path(m->run, folder, name, path))
        return false;
    file = fopen(path, "re");
    if (!file)
        return false;
    (void)!fgets(found, sizeof(found), file);
    (void)fclose(file);
    return strcmp(found, note) == 0;
}

typedef void take_entry(const struct mirror *m, const char *place, const char *name, bool is_folder, int of);

/* Visit what is in a folder, but nothing hidden: locks, and what is not complete. */
static void visit(const struct mirror *m, const char *place, take_entry *take, int of)
{
    char path[TM_OUT_PATH_BYTES], below[TM_OUT_PATH_BYTES];
    const struct dirent *entry;
    struct stat info;
    DIR *dir;

    if (tm_failed(m->run) || tm_out_path(m->run, m->out, place, path))
        return;
    dir = opendir(path);
    if (!dir && errno != ENOENT)
        (void)tm_fail_system(&m->run->error, TM_ERR_OUTPUT, -1, errno, "cannot read '%s'", path);
    while (dir && !tm_failed(m->run) && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.' || fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !(S_ISDIR(info.st_mode) || S_ISREG(info.st_mode)))
            continue;
        if (strcmp(place, ".") == 0)
            take(m, entry->d_name, entry->d_name, S_ISDIR(info.st_mode), of);
        else if (!tm_out_path(m->run, place, entry->d_name, below))
            take(m, below, entry->d_name, S_ISDIR(info.st_mode), of);
    }
    if (dir)
        (void)closedir(dir);
}

/* A line without its end.  out: false: there is none that fits */
static bool read_line(FILE *file, char *to, size_t bytes)
{
    size_t length;

    if (!fgets(to, (int)bytes, file))
        return false;
    length = strcspn(to, "\n");
    if (to[length] != '\n')
        return false;
    to[length] = '\0';
    return true;
}

/* The note of a run, at the first name of its list.  out: NULL: it has none for this address */
static FILE *open_list(const struct mirror *m, const char *result)
{
    char folder[TM_OUT_PATH_BYTES], path[TM_OUT_PATH_BYTES], name[NOTE_BYTES], of[NOTE_BYTES], line[NOTE_BYTES + 1];
    FILE *file;

    if (find_note(m, result, folder, name) || tm_out_path(m->run, folder, name, path))
        return NULL;
    file = fopen(path, "re");
    if (!file)
        return NULL;
    write_hash(of, (const char *const[]){ m->uri }, 1);
    if (read_line(file, line, sizeof(line)) && read_line(file, line, sizeof(line)) && strcmp(line, of) == 0)
        return file;
    (void)fclose(file);
    return NULL;
}

/* A name that can be in a list: those that this program gives can.  Helpers read some others differently. */
static bool is_listed_name(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/";

    return name[0] && !name[strspn(name, letters)] && tm_path_is_below(name);
}

typedef void take_gone(const struct mirror *m, const char *place, void *to);

/* The listed objects of a run whose files are gone. */
static void visit_gone(const struct mirror *m, const char *item, const char *result, take_gone *take, void *to)
{
    FILE *const list = open_list(m, result);
    char name[TM_OUT_PATH_BYTES], place[TM_OUT_PATH_BYTES], path[TM_OUT_PATH_BYTES];
    struct stat info;
    int folder = -1;

    if (list && !tm_out_path(m->run, m->out, item, path))
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (folder >= 0 && !tm_failed(m->run) && read_line(list, name, sizeof(name)))
        if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 && (errno == ENOENT || errno == ENOTDIR) &&
            is_listed_name(name) && !tm_out_path(m->run, item, name, place))
            take(m, place, to);
    if (folder >= 0)
        (void)close(folder);
    if (list)
        (void)fclose(list);
}

static void count_gone(const struct mirror *m, const char *place, void *to)
{
    (void)m;
    (void)place;
    (*(uint64_t *)to)++;
}

static void list_gone(const struct mirror *m, const char *place, void *to)
{
    (void)to;
    (void)fprintf(m->list, "%s\n", place + m->list_skip);
}

/* What is stored of a run; of its hosts, those that are complete. */
static void list_entry(const struct mirror *m, const char *place, const char *name, bool is_folder, int depth)
{
    char result[TM_OUT_PATH_BYTES], path[TM_OUT_PATH_BYTES];

    if (!is_folder && (depth > 0 || strcmp(name, TM_RESULT_FILE) != 0) && is_listed_name(place + m->list_skip))
        (void)fprintf(m->list, "%s\n", place + m->list_skip);
    if (!is_folder || depth == DEPTH_MOST ||
        (depth == 1 && strstr(place, "/hosts/") &&
         (tm_out_path(m->run, place, TM_RESULT_FILE, result) || tm_out_path(m->run, m->out, result, path) ||
          access(path, F_OK) != 0)))
        return;
    visit(m, place, list_entry, depth + 1);
}

/* in: item       folder of a run, whose objects are listed; NULL = of anything else
 *     keeps_gone those in the bucket whose files are gone remain in the list */
static tm_status write_note(const struct mirror *m, const char *place, const char *note, const char *item,
                            bool keeps_gone)
{
    struct tm_atomic_file file = { .stream = NULL };
    const bool waits = m->staging && m->staging->notes_wait;
    char folder[TM_OUT_PATH_BYTES], name[NOTE_BYTES];

    if (!(waits ? find_waiting_note : find_note)(m, place, folder, name) && !tm_make_folder(m->run, folder) &&
        !tm_atomic_open(&file, m->run, folder, name)) {
        (void)fprintf(file.stream, "%s\n", note);
        if (item) {
            struct mirror lister = *m;

            lister.list = file.stream;
            lister.list_skip = strlen(item) + 1;
            write_hash(name, (const char *const[]){ m->uri }, 1);
            (void)fprintf(file.stream, "%s\n", name);
            visit(&lister, item, list_entry, 0);
            if (keeps_gone)
                visit_gone(&lister, item, place, list_gone, NULL);
        }
        tm_atomic_commit(&file);
    }
    tm_atomic_abort(&file);
    return m->run->error.status;
}

/* --- store --- */

static tm_status join_uri(const struct mirror *m, const char *place, char uri[TM_REMOTE_URI_MOST])
{
    const int length = snprintf(uri, TM_REMOTE_URI_MOST, "%s/%s", m->uri, place);

    return length > 0 && length < TM_REMOTE_URI_MOST
               ? m->run->error.status
               : tm_fail(&m->run->error, TM_ERR_OUTPUT, -1, "cannot use an address of more than %d bytes",
                         TM_REMOTE_URI_MOST);
}

/* With those that wait, or where that is impossible, at once. */
static tm_status put(const struct mirror *m, enum tm_mirror_stage stage, const char *place)
{
    char path[TM_OUT_PATH_BYTES], uri[TM_REMOTE_URI_MOST];

    if (tm_out_path(m->run, m->out, place, path) || join_uri(m, place, uri) ||
        tm_staging_add(m->staging, stage, path, place) || tm_failed(m->run))
        return m->run->error.status;
    return tm_store_object(m->run, path, uri);
}

/* A file and its note.  The note is of the content before it is stored: one that is replaced meanwhile is stored
 * again. */
static tm_status put_noted(const struct mirror *m, const char *place)
{
    char note[NOTE_BYTES];

    if (tm_failed(m->run) || !make_note(m, place, note) || is_noted(m, place, note) || put(m, TM_STAGE_DATA, place))
        return m->run->error.status;
    return write_note(m, place, note, NULL, false);
}

/* Files of an item, in any order. */
static void put_data(const struct mirror *m, const char *place, const char *name, bool is_folder, int depth)
{
    if (is_folder && strcmp(name, "hosts") != 0 && depth < DEPTH_MOST)
        visit(m, place, put_data, depth + 1);
    else if (!is_folder && strcmp(name, TM_RESULT_FILE) != 0)
        put(m, TM_STAGE_DATA, place);
}

static bool is_pruned(const struct mirror *m, const char *item)
{
    char folder[TM_OUT_PATH_BYTES];
    struct tm_doc *const doc = tm_doc_new(m->run);
    const bool is = doc && !tm_out_path(m->run, m->out, item, folder) &&
                    tm_result_read_head(doc, tm_doc_root(doc), folder) && tm_is(tm_get(tm_doc_root(doc), "pruned"));

    tm_doc_free(doc);
    return is;
}

/* The objects of a run that are to be removed. */
static uint64_t count_removals(const struct mirror *m, const char *item, const char *result)
{
    uint64_t gone = 0;

    visit_gone(m, item, result, count_gone, &gone);
    return gone && is_pruned(m, item) ? gone : 0;
}

/* Folders below runs/: those with a result are items.  Without one, they contain items, or are not complete. */
static void put_item(const struct mirror *m, const char *place, const char *name, bool is_folder, int depth)
{
    const bool is_host = strstr(place, "/hosts/") != NULL;
    char result[TM_OUT_PATH_BYTES], note[NOTE_BYTES];

    (void)name;
    if (!is_folder || depth == DEPTH_MOST || tm_out_path(m->run, place, TM_RESULT_FILE, result))
        return;
    visit(m, place, put_item, depth + 1); /* hosts before their run */
    if (tm_failed(m->run) || !make_note(m, result, note))
        return;
    if (!is_host)
        *m->gone += count_removals(m, place, result);
    if (tm_failed(m->run) || is_noted(m, result, note))
        return;
    visit(m, place, put_data, depth + 1);
    if (!tm_failed(m->run) && !put(m, is_host ? TM_STAGE_HOSTS : TM_STAGE_RESULTS, result) &&
        !write_note(m, result, note, is_host ? NULL : place, true) && tm_staging_is_full(m->staging))
        tm_staging_store(m->staging);
}

/* Files of the batch, but those that are stored at its end. */
static bool is_last(const char *name)
{
    return strcmp(name, TM_HISTORY_FILE) == 0 || strcmp(name, PAGE_FILE) == 0;
}

static bool is_ours(const char *name)
{
    static const char *const others[] = { "runs", "leases", "slurm", "kubernetes", NOTES_FOLDER };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(name, others[i]) == 0)
            return false;
    return !is_last(name);
}

static void put_other(const struct mirror *m, const char *place, const char *name, bool is_folder, int depth)
{
    if ((depth == 0 && !is_ours(name)) || depth == DEPTH_MOST)
        return;
    if (is_folder)
        visit(m, place, put_other, depth + 1);
    else
        put_noted(m, place);
}

/* --- remove --- */

/* If the file of a host's result comes back, it has to be stored again. */
static void forget(const struct mirror *m, const char *place)
{
    char folder[TM_OUT_PATH_BYTES], path[TM_OUT_PATH_BYTES], name[NOTE_BYTES];

    if (!find_note(m, place, folder, name) && !tm_out_path(m->run, folder, name, path) && unlink(path) != 0 &&
        errno != ENOENT)
        (void)tm_fail_system(&m->run->error, TM_ERR_OUTPUT, -1, errno, "cannot remove '%s'", path);
}

static void remove_object(const struct mirror *m, const char *place, void *to)
{
    (void)to;
    if (strcmp(strrchr(place, '/') + 1, TM_RESULT_FILE) == 0)
        forget(m, place);
    if (!tm_failed(m->run))
        tm_staging_remove(m->staging, place);
}

/* Objects of pruned runs whose results the bucket has.  Until they are removed, the note lists them, so the next mirror
 * removes what this one does not. */
static void remove_item(const struct mirror *m, const char *place, const char *name, bool is_folder, int depth)
{
    char result[TM_OUT_PATH_BYTES], note[NOTE_BYTES];

    if (!is_folder || depth == DEPTH_MOST || strcmp(name, "hosts") == 0 ||
        tm_out_path(m->run, place, TM_RESULT_FILE, result))
        return;
    visit(m, place, remove_item, depth + 1);
    if (tm_failed(m->run) || !make_note(m, result, note) || !is_noted(m, result, note) ||
        !count_removals(m, place, result))
        return;
    visit_gone(m, place, result, remove_object, NULL);
    if (!tm_failed(m->run))
        write_note(m, result, note, place, false);
}

static void remove_gone(const struct mirror *m)
{
    if (tm_failed(m->run) || !*m->gone)
        return;
    if (tm_remove_has_helper(m->run)) {
        visit(m, "runs", remove_item, 0);
        tm_staging_store(m->staging);
    } else {
        (void)fprintf(stderr,
                      "tracemill: warning: %" PRIu64 " objects of pruned runs stay in the bucket; pass a command that "
                      "removes them with --remove\n",
                      *m->gone);
    }
}

tm_status tm_mirror_put(struct tm_run *run, const struct tm_options *options, const char *out)
{
    char notes[TM_OUT_PATH_BYTES];
    uint64_t gone = 0;
    struct tm_staging staging;
    struct mirror m;
    int lock = -1;

    if (tm_failed(run) || !options->mirror || tm_out_lock(run, out, TM_LOCK_AFTER_OTHERS, &lock))
        return run->error.status;
    m = mirror_of(run, options, out);
    m.staging = &staging;
    m.gone = &gone;
    if (!tm_out_path(run, out, NOTES_FOLDER, notes) && !tm_staging_begin(&staging, run, notes, m.uri)) {
        visit(&m, "runs", put_item, 0);
        tm_staging_store(&staging);
        put_noted(&m, TM_HISTORY_FILE);
        tm_staging_store(&staging);
        visit(&m, ".", put_other, 0);
        tm_staging_store(&staging);
        put_noted(&m, PAGE_FILE);
        tm_staging_store(&staging);
        remove_gone(&m);
    }
    if (lock >= 0)
        (void)close(lock);
    return run->error.status;
}

/* --- restore --- */

/* Write an object to a file that appears completely or not at all. */
static tm_status fetch(const struct mirror *m, const char *place)
{
    char folder[TM_OUT_PATH_BYTES], uri[TM_REMOTE_URI_MOST], name[TM_ERROR_TEXT / 2], block[BLOCK_BYTES];
    struct tm_atomic_file file = { .stream = NULL };
    struct tm_helper helper = { .run = NULL };
    size_t got = 1;
    char *slash;

    if (tm_out_path(m->run, m->out, place, folder) || join_uri(m, place, uri))
        return m->run->error.status;
    slash = strrchr(folder, '/');
    *slash = '\0';
    (void)snprintf(name, sizeof(name), "'%.200s'", uri);
    if (!tm_make_folder(m->run, folder) && !tm_atomic_open(&file, m->run, folder, slash + 1) &&
        !tm_fetch_start(&helper, m->run, uri, name)) {
        while (got > 0 && !tm_helper_read(&helper, block, sizeof(block), &got))
            (void)fwrite(block, 1, got, file.stream);
        tm_atomic_commit(&file);
    }
    tm_helper_stop(&helper);
    tm_atomic_abort(&file);
    return m->run->error.status;
}

/* A file that was fetched with others, synchronized before it gets its name.  out: false: there is none */
static bool take_fetched(const struct mirror *m, const char *place, const char *path)
{
    char from[TM_OUT_PATH_BYTES], folder[TM_OUT_PATH_BYTES];
    bool is_taken = false;
    int fd;

    if (tm_out_path(m->run, m->out, FETCHED_FOLDER, folder) || tm_out_path(m->run, folder, place, from))
        return false;
    (void)snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
    fd = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    if (!tm_make_folder(m->run, folder)) {
        is_taken = fsync(fd) == 0 && rename(from, path) == 0;
        if (!is_taken)
            (void)tm_fail_system(&m->run->error, TM_ERR_OUTPUT, -1, errno, "cannot write '%s'", path);
    }
    (void)close(fd);
    return is_taken;
}

/* A file that is not there yet.  The bucket has all that precedes it, so its note is true. */
static tm_status restore(const struct mirror *m, const char *place)
{
    char path[TM_OUT_PATH_BYTES], note[NOTE_BYTES], *last;
    struct stat info;

    if (tm_out_path(m->run, m->out, place, path) || lstat(path, &info) == 0 ||
        (!take_fetched(m, place, path) && (tm_failed(m->run) || fetch(m, place))))
        return m->run->error.status;
    last = strrchr(path, '/') + 1;
    if (strncmp(place, "runs/", 5) == 0 && strcmp(last, TM_RESULT_FILE) != 0)
        return TM_OK;
    return make_note(m, place, note) ? write_note(m, place, note, NULL, false) : m->run->error.status;
}

struct restoring {
    const struct mirror *mirror;
    size_t prefix_bytes; /* of keys */
    uint64_t missing;    /* objects without a file */
    bool has_manifest;
    bool has_others; /* objects whose names are no paths of files */
};

/* The list of a run of which everything has been restored. */
static void list_item(const struct mirror *m, const char *place, const char *name, bool is_folder, int depth)
{
    char result[TM_OUT_PATH_BYTES], note[NOTE_BYTES];

    if (!is_folder || depth == DEPTH_MOST || strcmp(name, "hosts") == 0 ||
        tm_out_path(m->run, place, TM_RESULT_FILE, result))
        return;
    visit(m, place, list_item, depth + 1);
    if (!tm_failed(m->run) && make_note(m, result, note) && is_noted(m, result, note))
        write_note(m, result, note, place, false);
}

static bool is_usable(const char *place)
{
    if (!tm_path_is_below(place) || !place[0] || place[0] == '.' || strlen(place) >= TM_OUT_PATH_BYTES)
        return false;
    return !strstr(place, "/.") && strncmp(place, NOTES_FOLDER "/", sizeof(NOTES_FOLDER)) != 0;
}

/* The place of an object.  out: NULL: it is none of a mirror */
static const char *place_of(const struct restoring *r, const struct tm_object *object)
{
    const char *const place = object->key + r->prefix_bytes;

    return strlen(object->key) > r->prefix_bytes && is_usable(place) ? place : NULL;
}

static tm_status look_at_object(void *to, const struct tm_object *object)
{
    struct restoring *const r = to;
    const char *const place = place_of(r, object);
    char path[TM_OUT_PATH_BYTES];
    struct stat info;

    if (place && strcmp(place, TM_MANIFEST_FILE) == 0)
        r->has_manifest = true;
    else if (place && !tm_out_path(r->mirror->run, r->mirror->out, place, path) && lstat(path, &info) != 0)
        r->missing++;
    if (strlen(object->key) > r->prefix_bytes && !tm_path_is_below(object->key + r->prefix_bytes))
        r->has_others = true;
    return r->mirror->run->error.status;
}

static tm_status take_object(void *to, const struct tm_object *object)
{
    struct restoring *const r = to;
    const char *const place = place_of(r, object);

    return place && strcmp(place, TM_MANIFEST_FILE) != 0 ? restore(r->mirror, place) : r->mirror->run->error.status;
}

/* Many objects are fetched by one start of the helper, to a folder where they wait until all are there.  What it was
 * interrupted at, and what is not part of a mirror, stays in that folder. */
static void fetch_all(const struct restoring *r)
{
    const struct mirror *const m = r->mirror;
    char folder[TM_OUT_PATH_BYTES];

    if (r->missing > RESTORED_SINGLY_MOST && !r->has_others && !tm_out_path(m->run, m->out, FETCHED_FOLDER, folder) &&
        tm_fetch_takes_folders(m->run, folder, m->uri) && !tm_make_folder(m->run, folder))
        tm_fetch_folder(m->run, folder, m->uri);
}

static void restore_all(struct restoring *r, const char *prefix)
{
    struct tm_run *const run = r->mirror->run;

    r->prefix_bytes = strlen(tm_remote_key(prefix));
    tm_remote_list(run, prefix, look_at_object, r);
    if (!tm_failed(run) && r->missing) {
        fetch_all(r);
        if (!tm_failed(run))
            tm_remote_list(run, prefix, take_object, r);
    }
}

tm_status tm_mirror_fetch(struct tm_run *run, const struct tm_options *options, const char *out)
{
    char path[TM_OUT_PATH_BYTES], prefix[TM_REMOTE_URI_MOST];
    struct restoring r = { .missing = 0 };
    struct mirror m;
    int lock = -1;

    if (tm_failed(run) || !options->mirror || tm_out_path(run, out, TM_MANIFEST_FILE, path) ||
        access(path, F_OK) == 0 || tm_make_folder(run, out) || tm_out_lock(run, out, TM_LOCK_AFTER_OTHERS, &lock))
        return run->error.status;
    m = mirror_of(run, options, out);
    r.mirror = &m;
    if (!join_uri(&m, "", prefix))
        restore_all(&r, prefix);
    visit(&m, "runs", list_item, 0);
    if (!tm_failed(run) && r.has_manifest) /* at last: it says that all is restored */
        restore(&m, TM_MANIFEST_FILE);
    if (lock >= 0)
        (void)close(lock);
    return run->error.status;
}
