/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MANIFEST_H
#define TM_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/discover.h"
#include "pipeline/options.h"
#include "pipeline/run.h"

/* What a run of a batch belongs to: by these the history finds what is comparable.  All strings are
 * valid UTF-8 without control characters; "" = not known. */
enum { TM_KEY_BYTES = 256, TM_RUN_ID_BYTES = 128 };

struct tm_run_keys {
    char job[TM_KEY_BYTES];      /* runs of one job are a trend; never "" */
    char night[11];              /* "2026-11-21": the day of the run */
    int64_t when_ns;             /* since 1970: orders the runs of a job */
    char revision[TM_KEY_BYTES]; /* of the source: a part of 7 to 40 hex digits */
    char label[TM_KEY_BYTES];
    char labels[TM_KEY_BYTES];   /* other keys that --label sets, as a JSON object with sorted keys: {"pool":"a"} */
    char training[TM_KEY_BYTES]; /* the training run that periodic profiles were taken of: the path before the step;
                                    "" = the run is none of these */
    int64_t step;                /* of the training run; -1 = not known */
};

/* Read the keys of a run from its path, the template, and the labels (docs/batch.md, "Keys").
 * in:     root     absolute; names the job if the path below it does not
 *         path     of the run's folder below ROOT, with the name of the run as its last part; any bytes
 *         when_ns  from discovery (pipeline/discover.h)
 *         options  keys, labels
 * out:    false if there is a template and the path does not match: the default rules were used
 * errors: TM_ERR_USAGE  an invalid template or label: reported once, before any work, by tm_run_keys_check */
bool tm_run_keys_read(struct tm_run_keys *keys, const char *root, const char *path, int64_t when_ns,
                      const struct tm_options *options);
tm_status tm_run_keys_check(struct tm_run *run, const struct tm_options *options);

/* A day in the form of the key `night`: "2026-11-21". */
bool tm_is_night(const char *text);

/* What may be the name of a run's folder in OUT, or of an item's in it: [A-Za-z0-9._-], not hidden, shorter than
 * TM_RUN_ID_BYTES. */
bool tm_is_run_id(const char *text);

/* What a part of a path looks like: a date, a training step, a revision. */

struct tm_path_part {
    const char *text;
    size_t length;
};

/* It ends so, and there is something before it. */
bool tm_part_has_ending(struct tm_path_part part, const char *ending);

/* The folder of a run, below OUT: "runs/ab/ID", with the first two of the sixteen digits at the end of ID, so that no
 * folder has millions of others in it.  "runs/ID" of an id that does not end so. */
enum { TM_RUN_PLACE_BYTES = TM_RUN_ID_BYTES + 8 };
const char *tm_run_place(const char *id, char place[TM_RUN_PLACE_BYTES]);

/* The list of the traces of a batch (schemas/BATCH.md): a header, then a line of JSON for each run, sorted by root and
 * path (bytewise), with its files, sorted by host.  A run with one file is one work item: its report.  In a run with
 * several files, each file is an item, its partial; the report is built from the partials afterwards. */
enum { TM_FINGERPRINT_BYTES = 17, TM_MANIFEST_FILES_MOST = 1000000 };

/* The keys of a run, as struct tm_run_keys has them: a hundred thousand runs share most of their strings. */
struct tm_batch_keys {
    const char *job, *night, *revision, *label, *labels, *training; /* never NULL; "" = not known */
    int64_t when_ns, step;
};

struct tm_batch_file {
    const char *path;   /* below the root of its run, or the archive that it is in; any bytes */
    const char *member; /* in that archive; NULL = none */
    uint64_t position;  /* of the member in its archive, from 1; 0 = not a member */
    const char *host;
    uint64_t bytes;
    int64_t mtime_ns;
    int64_t ctime_ns; /* while a scan has no version yet: of a file that the search looked at; 0 = it did not */
    /* Changes whenever the content does, and costs no read: of a file its size and its times of modification and of
     * change ("4096-1795204800000000000-1795204800000000000"), of an object its generation or ETag; "" = not known. */
    const char *version;
    char fingerprint[TM_FINGERPRINT_BYTES]; /* pipeline/nightly/manifest.h; "" = it could not be read */
    const char *id;                         /* of the item below its run: [A-Za-z0-9._-], unique in the run */
};

struct tm_batch_run {
    const char *
        id; /* [A-Za-z0-9._-], unique: the readable end of the path, and 16 hex digits of its hash; its folder in OUT */
    const char *root; /* absolute */
    const char *path; /* of the run's folder (or file, or archive) below root; any bytes */
    const char *name; /* of the run, as `report` names it: the last part of its path */
    struct tm_batch_keys keys;
    struct tm_batch_file *file;
    size_t files;
    uint64_t bytes; /* of all files */
};

struct tm_manifest {
    struct tm_run *run;
    struct tm_batch_run *runs;
    size_t count;
    size_t files; /* of all runs */
    uint64_t bytes;
    const char **roots; /* sorted; those of the runs are these */
    size_t root_count;
    /* of a scan, for its closing words */
    uint64_t left_out;    /* runs whose names cannot be used */
    uint64_t links;       /* that point outside a root and were not followed */
    uint64_t doubles;     /* runs that are also below another root: processed once */
    uint64_t not_fitting; /* runs whose paths do not match --keys */
    uint64_t unreadable;  /* folders and files */
    struct tm_left_out skipped;
    /* private */
    struct tm_manifest_chunk *chunks;
    size_t chunk_left, capacity;
};

/* Find the runs below roots, and fill a manifest.
 * in:     roots     folders, archives, files: options->inputs
 *         discover  finds the runs of one of them
 *         known     an earlier manifest: files that have the same version in it are not read again.  NULL, or a file
 *         that does not exist or cannot be used: all are read
 * owns:   the caller; tm_manifest_free, also after a failure.  Until then the ledger is dedicated to the account
 *         `model`: a process that works on an item starts its own ledger
 * errors: TM_ERR_INPUT  a root does not exist, or no profile is below it; TM_ERR_LIMIT beyond TM_MANIFEST_FILES_MOST,
 *         or if memory runs out */
tm_status tm_manifest_scan(struct tm_manifest *manifest, struct tm_run *run, char *const *roots, size_t count,
                           const struct tm_options *options, tm_discover_one *discover, const char *known);
/* The same from a file that tm_manifest_write wrote: untrusted.  errors: TM_ERR_INPUT with the line */
tm_status tm_manifest_read(struct tm_manifest *manifest, struct tm_run *run, const char *path);
/* Lines of a manifest from stdin, without its header or with it: the roots follow from the URIs of the files.
 * errors: TM_ERR_INPUT */
tm_status tm_manifest_read_lines(struct tm_manifest *manifest, struct tm_run *run);

/* A manifest that is read run by run, in its order: of a million runs, one is in memory. */
struct tm_known_runs;

/* owns:   the caller; tm_known_close
 * errors: none: NULL if there is no such manifest, or memory is short */
struct tm_known_runs *tm_known_open(struct tm_run *run, const char *path) TM_MUST_USE;
/* The run with that root and path; calls are in the order of the manifest.
 * owns:   the result lives until the next call
 * errors: none: NULL if it has no such run, or cannot be read any further */
const struct tm_batch_run *tm_known_find(struct tm_known_runs *known, const char *root, const char *path);
void tm_known_close(struct tm_known_runs *known); /* tolerates NULL */

/* The same bytes for the same runs.  errors: TM_ERR_LIMIT; the caller checks the stream (ferror) */
tm_status tm_manifest_write(const struct tm_manifest *manifest, FILE *to);

/* Likewise into a file that appears completely or not at all.
 * out:    bytes   that it has; may be NULL
 * errors: and TM_ERR_OUTPUT */
tm_status tm_manifest_save(const struct tm_manifest *manifest, const char *folder, const char *name, uint64_t *bytes);

void tm_manifest_free(struct tm_manifest *manifest); /* tolerates a zeroed one */
/* The keys of a run with their own storage. */
void tm_batch_keys_copy(struct tm_run_keys *to, const struct tm_batch_keys *keys);

/* --- items of work --- */

struct tm_batch_item {
    const struct tm_batch_run *run;
    const struct tm_batch_file *file; /* its only one; or one of several, whose partial is the work */
    /* Its cost, in bytes of uncompressed XSpace: more for compressed files, less for JSON, and a constant for the
     * start. */
    uint64_t weight;
};

/* The items of a share, the largest first: each goes to the share with the least work so far (longest processing time
 * first), ties by id.  The same in every process.
 * in:     wanted   NULL = all of the manifest; else called for each item, to skip some before they are distributed: its
 *         result must be the same in all processes of the batch, so it must not depend on what is done
 * out:    *items   *count of them
 * owns:   the caller; tm_batch_items_free */
typedef bool tm_want_item(void *of, const struct tm_batch_item *item);

tm_status tm_batch_items(const struct tm_manifest *manifest, uint32_t shard, uint32_t shards, tm_want_item *wanted,
                         void *of, struct tm_batch_item **items, size_t *count);
void tm_batch_items_free(struct tm_run *run, struct tm_batch_item *items, size_t count);

/* The share of this process: from --shard, else from the variables of a scheduler.
 * in:     told   as the option was read
 * out:    shard  count is 1 or more
 * errors: TM_ERR_USAGE  the variables have an index without a count, or an index beyond it: says what to write
 * instead */
tm_status tm_shard_choose(struct tm_run *run, struct tm_shard told, struct tm_shard *shard);

/* Shared code of scanning and reading a manifest: storage of its rows and strings, and their limits. */

void tm_manifest_begin(struct tm_manifest *manifest, struct tm_run *run);

/* Zeroed memory that lives as long as the manifest.  NULL: TM_ERR_LIMIT in run->error */
void *tm_manifest_take(struct tm_manifest *manifest, size_t bytes) TM_MUST_USE;
char *tm_manifest_copy(struct tm_manifest *manifest, const char *text, size_t length) TM_MUST_USE;
/* Copy keys; strings that the run before has, too, are stored once. */
tm_status tm_manifest_keys(struct tm_manifest *manifest, struct tm_batch_keys *to, const struct tm_run_keys *keys);

/* Add a run: the manifest counts its files and bytes from then on. */
tm_status tm_manifest_add(struct tm_manifest *manifest, const struct tm_batch_run *batch_run);

/* Compares two pointers to strings, for qsort. */
int tm_by_text(const void *a, const void *b);
/* The number of distinct strings other than "" in a member of the rows.
 * in:     each, at  bytes of a row, and where in it the text is
 * out:    `count` where memory ended */
size_t tm_count_distinct(struct tm_run *run, const void *rows, size_t count, size_t each, size_t at);

/* errors: TM_ERR_INPUT  two runs have the same id */
tm_status tm_manifest_check_ids(const struct tm_manifest *manifest);

/* A path below a root: relative, with no part ".", "..", or empty; "" is the root itself. */
bool tm_path_is_below(const char *path);

/* The fingerprint of a file, to detect changes since a result: a hash (XXH3, 16 hex digits) of its size, its
 * modification time, and its first and last 64 KiB.  Reading all of a terabyte to find that nothing is to be done would
 * cost as much as doing it. */

enum { TM_VERSION_BYTES = 256 };

/* The version of a file (struct tm_batch_file).  out: false: it does not exist, or is not a file */
bool tm_file_version(const char *path, char version[TM_VERSION_BYTES]);
/* errors: TM_ERR_INPUT  it does not exist, or cannot be read */
tm_status tm_file_fingerprint(struct tm_run *run, const char *path, uint64_t *bytes, int64_t *mtime_ns,
                              char fingerprint[TM_FINGERPRINT_BYTES]);
/* For a run: from the fingerprints of its files, in their order. */
void tm_run_fingerprint(const struct tm_batch_run *batch_run, char fingerprint[TM_FINGERPRINT_BYTES]);

/* Hash of the options that change the content or the files of a report; a thresholds file counts by its content.
 * errors: TM_ERR_USAGE  it cannot be read */
tm_status tm_options_fingerprint(struct tm_run *run, const struct tm_options *options,
                                 char fingerprint[TM_FINGERPRINT_BYTES]);

#endif
