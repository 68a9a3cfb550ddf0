/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/commands/batch_closing.h"

#include <stdio.h>
#include <unistd.h>

#include "pipeline/commands/closing.h"

static const struct {
    const char *key;
    size_t at;
} shown[] = {
    { "done", offsetof(struct tm_batch_counts, done) },       { "partial", offsetof(struct tm_batch_counts, partial) },
    { "refused", offsetof(struct tm_batch_counts, refused) }, { "failed", offsetof(struct tm_batch_counts, failed) },
    { "missing", offsetof(struct tm_batch_counts, missing) },
};
enum { SHOWN = sizeof(shown) / sizeof(shown[0]) };

static uint64_t count_at(const struct tm_batch_counts *counts, size_t at)
{
    return *(const uint64_t *)(const void *)((const char *)counts + at);
}

static tm_status print_counts(struct tm_run *run, const struct tm_options *options,
                              const struct tm_batch_counts *counts)
{
    struct tm_doc *doc = tm_doc_new(run);
    struct tm_value *root = doc ? tm_doc_root(doc) : NULL;
    tm_status st = doc ? TM_OK : run->error.status;

    if (st == TM_OK) {
        tm_add_string(root, "schema", "tracemill.batch");
        tm_add_int(root, "schema_version", 1);
        tm_add_string(root, "out", options->output);
        tm_add_uint(root, "items", counts->runs);
        tm_add_uint(root, "worked", counts->worked);
        for (size_t i = 0; i < SHOWN; i++)
            tm_add_uint(root, shown[i].key, count_at(counts, shown[i].at));
        st = tm_doc_status(doc);
    }
    if (st == TM_OK)
        st = tm_print_document(run, doc);
    tm_doc_free(doc);
    return st;
}

static void say_counts(const struct tm_options *options, const struct tm_batch_counts *counts)
{
    const char *separator = ": ";

    (void)printf("%llu of %llu items worked", (unsigned long long)counts->worked, (unsigned long long)counts->runs);
    for (size_t i = 0; i < SHOWN; i++) {
        const uint64_t count = count_at(counts, shown[i].at);

        if (!count)
            continue;
        (void)printf("%s%llu %s", separator, (unsigned long long)count, shown[i].key);
        separator = ", ";
    }
    (void)fputs("; in ", stdout);
    tm_print_clean(stdout, options->output);
    (void)putchar('\n');
}

tm_status tm_batch_close(struct tm_run *run, const struct tm_options *options, const struct tm_batch_counts *counts)
{
    tm_status st = TM_OK;

    if (options->json && !options->dry_run)
        st = print_counts(run, options, counts);
    else if (!options->quiet && !options->json && isatty(STDOUT_FILENO))
        say_counts(options, counts);
    if (st != TM_OK || options->dry_run)
        return st;
    return counts->partial || counts->refused || counts->failed || counts->missing ? TM_PARTIAL : TM_OK;
}
