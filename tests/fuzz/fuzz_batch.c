/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests and results of a batch, of any bytes.  A manifest that is read names nothing outside its roots, is shared out
 * whole, and reads again as it was when it is written.  The rest is refused with a reason.  A result tells how its item
 * ended, or counts as missing. */
#include <fcntl.h>
#include <string.h>

#include "pipeline/nightly/manifest.h"
#include "pipeline/nightly/result.h"
#include "tests/fuzz/fuzz_job.h"

enum { SHARDS = 3 };

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static bool is_plain(const char *id)
{
    return id[0] && id[0] != '.' && !strchr(id, '/');
}

static bool is_inside(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || !part[2]))
            return false;
    }
    return path[0] != '/';
}

/* Each item in one share, and its path below its root. */
static void share_out(struct tm_run *run, const struct tm_manifest *manifest)
{
    size_t total = 0;

    for (uint32_t i = 0; i < SHARDS; i++) {
        struct tm_batch_item *items;
        size_t count;

        require(tm_batch_items(manifest, i, SHARDS, NULL, NULL, &items, &count) == TM_OK);
        for (size_t k = 0; k < count; k++)
            require(is_plain(items[k].run->id) && is_plain(items[k].file->id) && items[k].run->root[0] == '/' &&
                    is_inside(items[k].run->path) && is_inside(items[k].file->path) && items[k].file->path[0]);
        total += count;
        tm_batch_items_free(run, items, count);
    }
    require(total == manifest->files);
}

/* Written to a file without a name; out: its descriptor, for its path */
static int write_list(const struct tm_manifest *manifest, char path[64])
{
    const int fd = memfd_create("manifest", MFD_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(dup(fd), "w") : NULL;

    require(file && tm_manifest_write(manifest, file) == TM_OK && fclose(file) == 0);
    (void)snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static void compare(const struct tm_manifest *one, const struct tm_manifest *other)
{
    require(one->count == other->count && one->files == other->files && one->bytes == other->bytes);
    for (size_t i = 0; i < one->count; i++) {
        const struct tm_batch_run *const a = &one->runs[i], *const b = &other->runs[i];

        require(strcmp(a->id, b->id) == 0 && strcmp(a->path, b->path) == 0 && strcmp(a->root, b->root) == 0 &&
                strcmp(a->name, b->name) == 0 && a->files == b->files && strcmp(a->keys.job, b->keys.job) == 0 &&
                strcmp(a->keys.night, b->keys.night) == 0 && a->keys.step == b->keys.step);
        for (size_t k = 0; k < a->files; k++)
            require(strcmp(a->file[k].path, b->file[k].path) == 0 &&
                    strcmp(a->file[k].fingerprint, b->file[k].fingerprint) == 0 &&
                    a->file[k].bytes == b->file[k].bytes && !a->file[k].member == !b->file[k].member &&
                    a->file[k].mtime_ns == b->file[k].mtime_ns);
    }
}

static void read_list(const char *path, size_t size)
{
    struct tm_run run;
    struct tm_manifest manifest, again;
    tm_status st;

    (void)size;
    fuzz_run_init(&run);
    st = tm_manifest_read(&manifest, &run, path);
    require(st == run.error.status && (st == TM_OK || run.error.what[0]));
    if (st == TM_OK) {
        char written[64];
        const int fd = write_list(&manifest, written);

        share_out(&run, &manifest);
        require(tm_manifest_read(&again, &run, written) == TM_OK);
        compare(&manifest, &again);
        tm_manifest_free(&again);
        (void)close(fd);
    }
    tm_manifest_free(&manifest);
    require(run.budget.used_bytes[TM_ACCOUNT_MODEL] == 0 && run.budget.used_bytes[TM_ACCOUNT_INPUT] == 0);
}

/* A result lies in a folder of its own. */
static void read_result(const uint8_t *data, size_t size)
{
    static char folder[] = FUZZ_FOLDER "/tracemill-fuzz-XXXXXX";
    static bool is_made;
    char path[sizeof(folder) + 32], message[TM_RESULT_MESSAGE_BYTES] = "";
    enum tm_result_status status;
    struct tm_run run;
    struct tm_doc *doc;
    int fd;

    is_made = is_made || mkdtemp(folder);
    require(is_made);
    (void)snprintf(path, sizeof(path), "%s/result.json", folder);
    fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    (void)close(fd);
    fuzz_run_init(&run);
    doc = tm_doc_new(&run);
    require(doc != NULL);
    (void)tm_result_read(doc, tm_doc_root(doc), folder);
    status = tm_result_look(&run, folder, "0123456789abcdef", "fedcba9876543210", message);
    require(status <= TM_RESULT_MISSING && strlen(message) < sizeof(message));
    tm_doc_free(doc);
    require(run.budget.used_bytes[TM_ACCOUNT_MODEL] == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_with_file(data, size, read_list);
    read_result(data, size);
    return 0;
}
