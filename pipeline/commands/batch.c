/* SPDX-License-Identifier: Apache-2.0 */
/* A whole batch on one machine: scan, work, put together. */
#include "pipeline/commands/commands.h"
#include "pipeline/nightly/batch.h"
#include "pipeline/nightly/batch_mirror.h"

static void scan_and_work(struct tm_run *run, const struct tm_options *options, struct tm_batch_counts *counts)
{
    const struct tm_batch_share all = { .shard = { .count = 1 } };
    struct tm_manifest manifest = { .run = NULL };
    char known[TM_OUT_PATH_BYTES];

    if (!tm_out_path(run, options->output, TM_MANIFEST_FILE, known) && !tm_batch_find(run, options, known, &manifest))
        tm_batch_work(run, options, &manifest, options->output, &all, counts);
    tm_manifest_free(&manifest);
}

static tm_status run_batch(struct tm_run *run, const struct tm_options *options)
{
    struct tm_batch_counts counts = { .runs = 0 };
    tm_status st;

    tm_batch_check(run, options, options->output);
    tm_batch_merge_check(run, options, options->output);
    tm_run_keys_check(run, options);
    if (!options->dry_run)
        tm_mirror_fetch(run, options, options->output);
    if (!tm_failed(run))
        scan_and_work(run, options, &counts);
    if (tm_failed(run) || options->dry_run)
        return run->error.status;
    st = tm_batch_merge(run, options, options->output);
    if (tm_mirror_put(run, options, options->output))
        return run->error.status;
    return !st && counts.troubled ? TM_PARTIAL : st;
}

/* clang-format off */
const struct tm_verb tm_batch_verb = {
    .name = "batch",
    .summary = "process a folder of many runs, with history, trends and gates: scan, run and merge",
    .usage = "ROOT... -o OUT [OPTION...]",
    .description =
        "Finds every run below ROOT, writes a report of each to OUT with one process per trace, and merges the results: index.html with the last night, regressions and trends, history.db for SQL, and one exit status. Unchanged results in OUT are reused, so a batch that was interrupted continues where it stopped. A trace that fails becomes a row with its error message.\n"
        "For many machines, each part is a verb: 'batch scan' lists the traces, 'batch run' processes a share of them, 'batch merge' merges the results, 'batch submit' submits everything to Slurm. 'batch prune' frees disk space, 'batch export' prints the history.",
    .examples =
        "tracemill batch /data/profiles -o /data/perf          all nights, including the last one\n"
        "tracemill batch logs -o perf --gate gates.json --baseline median:7 --junit night.xml    for CI\n"
        "tracemill batch logs -o perf --keys '{job}/{night}'   the meaning of the folders\n",
    .bit = TM_FOR_BATCH,
    .flags = TM_VERB_SPILLS,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_batch,
};
/* clang-format on */
