/* SPDX-License-Identifier: Apache-2.0 */
/* A whole batch on one machine: scan, work, put together. */
#include "pipeline/commands/commands.h"
#include "pipeline/nightly/batch.h"

static tm_status scan_and_work(struct tm_run *run, const struct tm_options *options, struct tm_batch_counts *counts)
{
    const struct tm_shard all = { .count = 1 };
    struct tm_manifest manifest = { .run = NULL };
    tm_status st = tm_batch_find(run, options, &manifest);

    if (st == TM_OK)
        st = tm_batch_work(run, options, &manifest, options->output, all, counts);
    tm_manifest_free(&manifest);
    return st;
}

tm_status tm_command_batch(struct tm_run *run, const struct tm_options *options)
{
    struct tm_batch_counts counts = { .runs = 0 };
    tm_status st = tm_batch_check(run, options, options->output);

    if (st == TM_OK)
        st = tm_batch_merge_check(run, options, options->output);
    if (st == TM_OK)
        st = tm_run_keys_check(run, options);
    if (st == TM_OK)
        st = scan_and_work(run, options, &counts);
    if (st != TM_OK || options->dry_run)
        return st;
    st = tm_batch_merge(run, options, options->output);
    return st == TM_OK && counts.troubled ? TM_PARTIAL : st;
}
