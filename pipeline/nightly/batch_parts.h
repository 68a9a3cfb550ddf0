/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BATCH_PARTS_H
#define TM_BATCH_PARTS_H

#include "pipeline/nightly/manifest.h"
#include "reports/history/history.h"

/* The parts of a batch, which the verbs `batch ...` are made of.  `out` is the folder of the batch. */

struct tm_batch_counts {
    uint64_t runs;                                    /* that there are results to be of */
    uint64_t done, partial, refused, failed, missing; /* how they stand now */
    uint64_t worked;                                  /* items that were not done before */
    uint64_t troubled;                                /* of these: not done, or partial */
    uint64_t night_troubled; /* of merging: of the runs that are judged, partial and refused ones */
    uint64_t ahead;          /* of merging: runs that are dated ahead, and not judged */
    char ahead_id[TM_RUN_ID_BYTES], ahead_night[11]; /* one of them */
};

/* Find the runs below options->inputs (tm_manifest_scan), and tell on stderr what was left out.
 * owns:   the caller; tm_manifest_free, also after a failure */
tm_status tm_batch_find(struct tm_run *run, const struct tm_options *options, struct tm_manifest *manifest) TM_MUST_USE;

/* Before any work: options that do not fit a batch (--redact, a trace as a format), the folder.
 * errors: TM_ERR_USAGE, TM_ERR_OUTPUT */
tm_status tm_batch_check(struct tm_run *run, const struct tm_options *options, const char *out) TM_MUST_USE;

/* Work the items of a share that are not done: reports, and partials of runs of several hosts.  The manifest is kept in
 * OUT.  A failed item is a result; what fails the batch is OUT itself.  errors: TM_ERR_OUTPUT, TM_ERR_LIMIT */
tm_status tm_batch_work(struct tm_run *run, const struct tm_options *options, const struct tm_manifest *manifest,
                        const char *out, struct tm_shard shard, struct tm_batch_counts *counts) TM_MUST_USE;

/* What is wrong with the options of a merge is told before any work: the gate file, --baseline, files beside OUT.
 * errors: TM_ERR_USAGE */
tm_status tm_batch_merge_check(struct tm_run *run, const struct tm_options *options, const char *out) TM_MUST_USE;

/* Put together: join, history, gates, index, files that options name.
 * errors: TM_GATE, TM_PARTIAL where items failed or are missing or a gate is unknown, TM_ERR_OUTPUT, TM_ERR_LIMIT */
tm_status tm_batch_merge(struct tm_run *run, const struct tm_options *options, const char *out) TM_MUST_USE;

/* Hold the runs that are judged to the gates of --gate, each against what --baseline names (docs/gates.md, "Of a night").
 * Without --gate it tells of the reports alone.
 * in:     result   of a document with room for about a kilobyte for each run and each of its gates (tm_doc_set_most)
 * out:    result   gets "night", "gate_file", "baseline": text, "notes": [text],
 *                  "runs": [{"id", "job", "night", "when_ns", "revision", "label", "step", "status", "message", "report",
 *                    "notes": [text], "baseline": [id], "gates": [as of CHECK.md],
 *                    "verdict": "passed|failed|unknown|not judged|no report", "text": of the first gate that failed}],
 *                    in the order of job and time,
 *                  "counts": {"runs", "passed", "failed", "unknown", "not_judged", "no_report",
 *                    "gates": {"passed", "failed", "unknown", "skipped"}}, "verdict": {"text", "severity"};
 *                  what the gates say of each run is set in the history too
 *         verdict  TM_OK, TM_GATE, or TM_PARTIAL where one is unknown
 * errors: TM_ERR_USAGE  the file or an expression */
tm_status tm_nightly_gates(struct tm_run *run, const struct tm_options *options, const char *out,
                           struct tm_history *history, const struct tm_judged_night *judged, struct tm_value *result,
                           tm_status *verdict) TM_MUST_USE;

#endif
