/* SPDX-License-Identifier: Apache-2.0 */
/* A whole batch on one machine: scan, work, put together. */
#include "pipeline/commands/commands.h"
#include "pipeline/nightly/batch.h"

static void scan_and_work(struct tm_run *run, const struct tm_options *options, struct tm_batch_counts *counts)
{
    const struct tm_shard all = { .count = 1 };
    struct tm_manifest manifest = { .run = NULL };

    if (!tm_batch_find(run, options, &manifest))
        tm_batch_work(run, options, &manifest, options->output, all, counts);
    tm_manifest_free(&manifest);
}

static tm_status run_batch(struct tm_run *run, const struct tm_options *options)
{
    struct tm_batch_counts counts = { .runs = 0 };
    tm_status st;

    tm_batch_check(run, options, options->output);
    tm_batch_merge_check(run, options, options->output);
    tm_run_keys_check(run, options);
    if (!tm_failed(run))
        scan_and_work(run, options, &counts);
    if (tm_failed(run) || options->dry_run)
        return run->error.status;
    st = tm_batch_merge(run, options, options->output);
    return !st && counts.troubled ? TM_PARTIAL : st;
}

/* clang-format off */
const struct tm_verb tm_batch_verb = {
    .name = "batch",
    .summary = "process a folder of many runs, with history, trends and gates: scan, run and merge",
    .usage = "ROOT... -o OUT [OPTION...]",
    .description =
        "Finds every run below ROOT, writes a report of each into OUT, one process for each trace, and puts them"
        " together: index.html with the last night and what came with it, what got worse and trends, history.db for SQL,"
        " one exit status."
        " What stands in OUT already and has not changed is not done again, so that a batch which was stopped, in"
        " whatever way, goes on where it was. A trace that fails is a row with its message.\n"
        "The parts are verbs of their own, for many machines: 'batch scan' lists the traces, 'batch run' works a share"
        " of them, 'batch merge' puts together, 'batch submit' hands it all to Slurm. 'batch prune' makes room,"
        " 'batch export' prints the history.",
    .examples =
        "tracemill batch /data/profiles -o /data/perf          last night, and all before it\n"
        "tracemill batch logs -o perf --gate gates.json --baseline median:7 --junit night.xml    for CI\n"
        "tracemill batch logs -o perf --keys '{job}/{night}'   what the folders mean\n",
    .bit = TM_FOR_BATCH,
    .flags = TM_VERB_SPILLS,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_batch,
};
/* clang-format on */
