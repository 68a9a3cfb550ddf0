/* SPDX-License-Identifier: Apache-2.0 */
/* A share of a manifest, and the last words about it. */
#include <stdio.h>
#include <unistd.h>

#include "pipeline/commands/batch_closing.h"
#include "pipeline/commands/batch_parts.h"
#include "pipeline/commands/commands.h"

static tm_status work(struct tm_run *run, const struct tm_options *options, const struct tm_manifest *manifest)
{
    struct tm_batch_counts counts = { .runs = 0 };
    struct tm_shard shard;
    tm_status st = tm_shard_choose(run, options->shard, &shard);

    if (st == TM_OK)
        st = tm_batch_work(run, options, manifest, options->output, shard, &counts);
    return st == TM_OK ? tm_batch_close(run, options, &counts) : st;
}

tm_status tm_command_batch_run(struct tm_run *run, const struct tm_options *options)
{
    struct tm_manifest manifest = { .run = NULL };
    tm_status st = tm_batch_check(run, options, options->output);

    if (st == TM_OK && !options->manifest) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot work a batch without a manifest");
        tm_hint(&run->error, "'tracemill batch scan ROOT -o FILE' writes one, for --manifest FILE");
        st = TM_ERR_USAGE;
    }
    if (st == TM_OK)
        st = tm_manifest_read(&manifest, run, options->manifest);
    if (st == TM_OK)
        st = work(run, options, &manifest);
    tm_manifest_free(&manifest);
    return st;
}
