/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_RESULT_H
#define TM_RESULT_H

#include "pipeline/doc/doc.h"
#include "pipeline/nightly/manifest.h"

/* result.json of an item: the record that its work is done, and the source of its history row (schemas/BATCH.md).  It
 * does not depend on when, where, or how often the item was processed. */
enum tm_result_status {
    TM_RESULT_DONE,
    TM_RESULT_PARTIAL, /* done, of an input that is damaged or truncated */
    TM_RESULT_REFUSED, /* the input cannot be read: the same the next time */
    TM_RESULT_FAILED,  /* killed, out of time or memory, vanished, changed, not written: a retry may succeed */
    TM_RESULT_MISSING, /* never written: no such file */
};

extern const char *const tm_result_status_words[]; /* "done" ... */

/* The status that a word is; TM_RESULT_MISSING for any other. */
enum tm_result_status tm_result_status_of(const char *word);

enum { TM_RESULT_MESSAGE_BYTES = 1024, TM_RESULT_FILES_MOST = 1024 };

/* The state of an item: the status of its result if that is complete and was made by this version with these options
 * from these inputs, and if the files beside it have the recorded sizes (not required for a pruned one).
 * in:     folder       of the item
 *         fingerprint  of the inputs; options  of the options, NULL = any
 * out:    message      NULL, or the reason why it is not done; "" = none
 *         returned     TM_RESULT_MISSING if there is no such result */
enum tm_result_status tm_result_look(struct tm_run *run, const char *folder, const char *fingerprint,
                                     const char *options, char message[TM_RESULT_MESSAGE_BYTES]);

/* Whether it need not be done again: done, partial, and refused unless --retry was given. */
bool tm_result_stands(enum tm_result_status status, bool retry);

/* Whether the files of a run were removed deliberately (batch prune): then they are not made again, for any options and
 * version, while the inputs are the same.
 * in:     fingerprint  of the run, all its files
 * out:    status       before pruning; TM_RESULT_MISSING if it was not pruned */
enum tm_result_status tm_result_pruned(struct tm_run *run, const char *folder, const char *fingerprint);

/* Read one.  out: to  gets its members; an absent or damaged one: false, without an error */
bool tm_result_read(struct tm_doc *doc, struct tm_value *to, const char *folder);
/* Likewise, without its operations and scopes, which are most of it. */
bool tm_result_read_head(struct tm_doc *doc, struct tm_value *to, const char *folder);

/* A hash (XXH3) of all that is in a file; 0 = it does not exist, or cannot be read. */
uint64_t tm_content_hash(const char *path);
/* A hash of the file of a result; 0 = there is none. */
uint64_t tm_result_hash(const char *folder);

/* The version of the definitions that its figures keep to: TM_SUMMARY_VERSION, or that of an older program. */
int64_t tm_result_definitions(const struct tm_value *result);

/* What a result says of its item. */
struct tm_result_about {
    const struct tm_batch_run *batch_run;
    const struct tm_batch_file *file; /* host of a multi-host run, whose partial it is; NULL = the whole run */
    const char *fingerprint, *options;
    enum tm_result_status status;
    int exit_status;            /* of the worker; 128 + n: terminated by signal n */
    const char *message, *hint; /* any bytes; NULL or "" = none */
};

/* Fill the members of a result but "files", in the order of the schema, with null for "figures" and those after it:
 * tm_result_figures and the item of a batch put their own in their place.  errors: remembered in doc */
void tm_result_fill(struct tm_doc *doc, const struct tm_result_about *about);

/* What a result and the history keep of the environment of a run: the host, and versions. */
enum tm_environment_key {
    TM_ENV_HOST,
    TM_ENV_DRIVER,
    TM_ENV_FRAMEWORK,
    TM_ENV_JAX,
    TM_ENV_JAXLIB,
    TM_ENV_CUDA,
    TM_ENV_ROCM,
    TM_ENV_LIBTPU,
    TM_ENV_KEYS
};

struct tm_environment_fact {
    const char *key;    /* in environment.hosts[] of a summary, "facts" of a result, a row of the history */
    const char *title;  /* in a sentence */
    uint32_t series_by; /* enum tm_series_key that separates series by it */
};

extern const struct tm_environment_fact tm_environment_facts[TM_ENV_KEYS];

/* Fill "figures" {id: number | null}, "facts" {"run", "hosts", "devices", "platform", "model", "partial", and
 * tm_environment_facts} and "verdict" {"text", "severity", "finding" (title of the first one) | null} of a result from
 * the summary of its run. */
void tm_result_figures(struct tm_value *to, const struct tm_value *summary);

/* "ops" and "scopes" of a result. */
enum { TM_RESULT_OPS_MOST = 50, TM_RESULT_OP_BYTES = 256 };

/* Put names, sizes, and hashes of the files beside it into "files".
 * in:     made  their names in the folder; a name that ends with '/' is a folder, whose files count
 * errors: TM_ERR_OUTPUT  one does not exist; TM_ERR_LIMIT  beyond TM_RESULT_FILES_MOST */
tm_status tm_result_list(struct tm_doc *doc, const char *folder, const char *const *made, size_t count);

/* Write a filled one, atomically, as the last file of its folder, which is created if necessary.
 * errors: TM_ERR_OUTPUT, and of doc */
tm_status tm_result_write(struct tm_run *run, const char *folder, const struct tm_doc *doc);

/* Before work starts, and after a worker failed: remove the result first, because it no longer matches, then the files
 * that it describes, and temporary files of a killed worker.  The folder need not exist.
 * in:     outputs  names of the possible files; a name that ends with '/' is a folder of tables
 * errors: TM_ERR_OUTPUT */
tm_status tm_result_remove(struct tm_run *run, const char *folder, const char *const *outputs, size_t count);

/* The files in the folder of a batch (schemas/BATCH.md):
 *     OUT/manifest.jsonl                       the runs of the batch
 *     OUT/runs/ab/ID/report.html, summary.json    of a run (tm_run_place)
 *     OUT/runs/ab/ID/result.json                  its result: written last, so the files beside it are complete
 *     OUT/runs/ab/ID/hosts/HOST/run.partial, result.json    of one host of a multi-host run
 *     OUT/index.html, index.json, history.db
 *     OUT/decisions.jsonl                      what people decided about regressions
 *     OUT/mirror/ab/HASH                       what the bucket of --mirror has
 * */
enum { TM_OUT_PATH_BYTES = 4096 };

#define TM_RESULT_FILE "result.json"
#define TM_HISTORY_FILE "history.db"
#define TM_MANIFEST_FILE "manifest.jsonl"
#define TM_CONFIRM_FILE "confirm.txt"
#define TM_DECISIONS_FILE "decisions.jsonl"

/* Where a run is in OUT: its place, or "runs/ID", if an older version put it there. */
const char *tm_out_run_place(const char *out, const char *id, char place[TM_RUN_PLACE_BYTES]);

/* All give TM_ERR_OUTPUT for a path that is too long.
 * in: file  NULL = of the run itself */
tm_status tm_out_item_folder(struct tm_run *run, const char *out, const struct tm_batch_run *batch_run,
                             const struct tm_batch_file *file, char path[TM_OUT_PATH_BYTES]);
tm_status tm_out_path(struct tm_run *run, const char *out, const char *name, char path[TM_OUT_PATH_BYTES]);
/* The path of a file of the manifest. */
tm_status tm_input_path(struct tm_run *run, const struct tm_batch_run *batch_run, const struct tm_batch_file *file,
                        char path[TM_OUT_PATH_BYTES]);

#endif
