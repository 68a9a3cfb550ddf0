/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of two manifests in one.  Of two versions of a run, the newer one is kept, and of equally old ones one by an
 * order of their content: manifests can be joined in any order, in a tree of any shape, and more than once. */
#include <string.h>

#include "pipeline/nightly/manifest.h"

static int64_t newest_of(const struct tm_batch_run *batch_run)
{
    int64_t newest = INT64_MIN;

    for (size_t i = 0; i < batch_run->files; i++)
        if (batch_run->file[i].mtime_ns > newest)
            newest = batch_run->file[i].mtime_ns;
    return newest;
}

static int order_of(int64_t one, int64_t other)
{
    return (one > other) - (one < other);
}

static int compare_content(const struct tm_batch_run *one, const struct tm_batch_run *other)
{
    const struct tm_batch_keys *const a = &one->keys, *const b = &other->keys;
    const char *const texts[][2] = { { a->job, b->job },     { a->night, b->night },   { a->revision, b->revision },
                                     { a->label, b->label }, { a->labels, b->labels }, { a->training, b->training } };
    char prints[2][TM_FINGERPRINT_BYTES];
    int order = order_of(newest_of(one), newest_of(other));

    tm_run_fingerprint(one, prints[0]);
    tm_run_fingerprint(other, prints[1]);
    order = order ? order : order_of((int64_t)one->files, (int64_t)other->files);
    order = order ? order : strcmp(prints[0], prints[1]);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !order; i++)
        order = strcmp(texts[i][0], texts[i][1]);
    order = order ? order : order_of(a->when_ns, b->when_ns);
    order = order ? order : order_of(a->step, b->step);
    for (size_t i = 0; i < one->files && !order; i++)
        order = strcmp(one->file[i].version, other->file[i].version);
    return order;
}

/* By root and path, as they are in a manifest; what has ended comes last. */
static int compare_places(const struct tm_batch_run *one, const struct tm_batch_run *other)
{
    int order;

    if (!one || !other)
        return !one - !other;
    order = strcmp(one->root, other->root);
    return order ? order : strcmp(one->path, other->path);
}

/* The roots of both, sorted, each once. */
static tm_status join_roots(struct tm_manifest *to, const struct tm_manifest *one, const struct tm_manifest *other)
{
    size_t i = 0, j = 0;

    to->roots = tm_manifest_take(to, (one->root_count + other->root_count) * sizeof(*to->roots));
    while (to->roots && (i < one->root_count || j < other->root_count)) {
        const int order = i == one->root_count     ? 1
                          : j == other->root_count ? -1
                                                   : strcmp(one->roots[i], other->roots[j]);

        to->roots[to->root_count++] = order <= 0 ? one->roots[i] : other->roots[j];
        i += order <= 0;
        j += order >= 0;
    }
    return to->run->error.status;
}

static tm_status add_run(struct tm_manifest *to, const struct tm_batch_run *batch_run)
{
    struct tm_batch_run added = *batch_run;

    for (size_t i = 0; i < to->root_count; i++)
        if (strcmp(to->roots[i], batch_run->root) == 0)
            added.root = to->roots[i];
    return tm_manifest_add(to, &added);
}

tm_status tm_manifest_join(struct tm_manifest *to, const struct tm_manifest *one, const struct tm_manifest *other)
{
    struct tm_run *const run = one->run;
    size_t i = 0, j = 0;

    tm_manifest_begin(to, run);
    join_roots(to, one, other);
    while (!tm_failed(run) && (i < one->count || j < other->count)) {
        const struct tm_batch_run *const a = i < one->count ? &one->runs[i] : NULL, *const b = j < other->count
                                                                                                   ? &other->runs[j]
                                                                                                   : NULL;
        const int order = compare_places(a, b);

        i += order <= 0;
        j += order >= 0;
        add_run(to, order < 0 || (order == 0 && compare_content(a, b) >= 0) ? a : b);
    }
    return tm_failed(run) ? run->error.status : tm_manifest_check_ids(to);
}
