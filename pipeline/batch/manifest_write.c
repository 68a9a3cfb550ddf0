/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest as JSON Lines (schemas/BATCH.md): each line is a document of its own, so that one run is held twice, never
 * all of them. */
#include <string.h>

#include "pipeline/atomic_file.h"
#include "pipeline/batch/manifest_store.h"
#include "pipeline/doc.h"
#include "pipeline/utf8.h"

/* Bytes that are not UTF-8, in a member `key`_hex beside. */
static void add_bytes(struct tm_value *to, const char *key, const char *text)
{
    const size_t length = strlen(text);
    char hex_key[32], hex[2 * TM_FOUND_NAME_BYTES + 1];

    tm_add_text(to, key, text, length);
    if (tm_utf8_is_valid(text, length) || 2 * length >= sizeof(hex))
        return;
    (void)snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
    for (size_t i = 0; i < length; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", (unsigned)(unsigned char)text[i]);
    tm_add_string(to, hex_key, hex);
}

static void add_keys(struct tm_value *to, const struct tm_batch_keys *keys)
{
    tm_add_known(to, "job", keys->job, NULL);
    tm_add_known(to, "night", keys->night, NULL);
    tm_add_int(to, "when_ns", keys->when_ns);
    tm_add_known(to, "revision", keys->revision, NULL);
    tm_add_known(to, "label", keys->label, NULL);
    tm_add_known(to, "training", keys->training, NULL);
    if (keys->step >= 0)
        tm_add_int(to, "step", keys->step);
    else
        tm_add_null(to, "step", NULL);
}

static void add_file(struct tm_value *to, const struct tm_batch_file *file)
{
    add_bytes(to, "path", file->path);
    if (file->member) {
        add_bytes(to, "member", file->member);
        tm_add_uint(to, "position", file->position);
    }
    tm_add_string(to, "host", file->host);
    tm_add_string(to, "id", file->id);
    tm_add_uint(to, "bytes", file->bytes);
    tm_add_int(to, "mtime_ns", file->mtime_ns);
    tm_add_string(to, "fingerprint", file->fingerprint);
}

static void add_run(struct tm_value *to, const struct tm_manifest *m, const struct tm_batch_run *batch_run)
{
    struct tm_value *files;
    size_t root = 0;

    while (root + 1 < m->root_count && m->roots[root] != batch_run->root)
        root++;
    tm_add_string(to, "id", batch_run->id);
    tm_add_uint(to, "root", root);
    add_bytes(to, "path", batch_run->path);
    tm_add_string(to, "run", batch_run->name);
    add_keys(tm_add_object(to, "keys"), &batch_run->keys);
    files = tm_add_array(to, "files");
    for (size_t i = 0; i < batch_run->files; i++)
        add_file(tm_add_object(files, NULL), &batch_run->file[i]);
}

static void add_header(struct tm_value *to, const struct tm_manifest *m)
{
    struct tm_value *roots;

    tm_add_string(to, "schema", "tracemill.manifest");
    tm_add_int(to, "schema_version", 1);
    roots = tm_add_array(to, "roots");
    for (size_t i = 0; i < m->root_count; i++)
        add_bytes(tm_add_object(roots, NULL), "path", m->roots[i]);
    tm_add_uint(to, "runs", m->count);
    tm_add_uint(to, "files", m->files);
    tm_add_uint(to, "bytes", m->bytes);
}

static tm_status print_line(const struct tm_manifest *m, const struct tm_batch_run *batch_run, FILE *to)
{
    struct tm_doc *doc = tm_doc_new(m->run);
    tm_status st;

    if (!doc)
        return m->run->error.status;
    if (batch_run)
        add_run(tm_doc_root(doc), m, batch_run);
    else
        add_header(tm_doc_root(doc), m);
    st = tm_doc_status(doc);
    if (st == TM_OK)
        tm_value_print_line(tm_doc_root(doc), to);
    tm_doc_free(doc);
    return st;
}

tm_status tm_manifest_write(const struct tm_manifest *manifest, FILE *to)
{
    tm_status st = print_line(manifest, NULL, to);

    for (size_t i = 0; i < manifest->count && st == TM_OK && !ferror(to); i++)
        st = print_line(manifest, &manifest->runs[i], to);
    return st;
}

tm_status tm_manifest_save(const struct tm_manifest *manifest, const char *folder, const char *name, uint64_t *bytes)
{
    struct tm_atomic_file file = { .stream = NULL };
    tm_status st = tm_atomic_open(&file, manifest->run, folder, name);

    if (st == TM_OK)
        st = tm_manifest_write(manifest, file.stream);
    if (st == TM_OK && bytes) {
        const off_t end = ftello(file.stream);

        *bytes = end > 0 ? (uint64_t)end : 0;
    }
    if (st == TM_OK)
        st = tm_atomic_commit(&file);
    tm_atomic_abort(&file);
    return st;
}
