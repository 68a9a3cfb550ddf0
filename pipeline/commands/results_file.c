/* SPDX-License-Identifier: Apache-2.0 */
/* Results of a benchmark that ran the traces that it names.  The file is not ours: every name and
 * path in it may be anything. */
#include "pipeline/commands/results_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/doc_read.h"

enum { PATH_BYTES = 4096 };
static const double seconds_most = 9e6; /* of 64 bits in picoseconds */

/* The path from a folder, which is empty or ends with a slash.  A path is a path: '-' is no stream.
 */
static bool is_there(char out[PATH_BYTES], const char *folder, size_t length, const char *path)
{
    const char *here = length == 0 && strcmp(path, "-") == 0 ? "./" : "";
    struct stat info;
    const int n = snprintf(out, PATH_BYTES, "%.*s%s%s", (int)length, folder, here, path);

    return n > 0 && n < PATH_BYTES && stat(out, &info) == 0;
}

static bool find_trace(char out[PATH_BYTES], const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    const size_t folder = slash && path[0] != '/' ? (size_t)(slash - file) + 1 : 0;

    return (folder > 0 && folder < PATH_BYTES && is_there(out, file, folder, path)) ||
           is_there(out, "", 0, path);
}

static int64_t measured_ps(const struct tm_value *method)
{
    const struct tm_value *time = tm_get(method, "execution_time");
    const struct tm_value *mean = tm_type_of(time) == TM_OBJECT ? tm_get(time, "mean") : time;
    const double seconds = tm_double(mean);

    return seconds > 0 && seconds < seconds_most ? llround(seconds * 1e12) : -1;
}

static tm_status add(struct tm_results *results, const char *label, const struct tm_value *method,
                     const char *file)
{
    const int64_t measured = measured_ps(method);
    struct tm_value *path = NULL;
    const char *const named = tm_text(tm_get(method, "tensorboard_trace"));
    char found[PATH_BYTES];

    if (!named[0])
        return TM_OK;
    if (!find_trace(found, file, named)) {
        (void)tm_fail(&results->run->error, TM_ERR_USAGE, -1,
                      "cannot find the trace '%s' of '%s' in '%s'", named, label, file);
        tm_hint(&results->run->error,
                "its path is looked up from the folder of that file, then from here");
        return TM_ERR_USAGE;
    }
    path =
        tm_add_array(tm_doc_root(results->doc), label); /* in place of the method, which was read */
    tm_add_string(path, NULL, found);
    results->result[results->count++] = (struct tm_result){
        .operand = { .path = tm_text(tm_at(path, 0)),
                     .label = label,
                     .label_length = strlen(label) },
        .measured_ps = measured,
    };
    return tm_doc_status(results->doc);
}

tm_status tm_results_read(struct tm_results *results, struct tm_run *run, const char *path)
{
    const struct tm_value *root;
    tm_status st;

    *results = (struct tm_results){ .run = run, .doc = tm_doc_new(run) };
    if (!results->doc)
        return run->error.status;
    st = tm_doc_read_file(results->doc, tm_doc_root(results->doc), path);
    if (st != TM_OK)
        return st;
    root = tm_doc_root(results->doc);
    if (tm_length(root) > TM_RUNS_MOST)
        return tm_fail(&run->error, TM_ERR_LIMIT, -1,
                       "cannot use '%s': it has more than %d results", path, TM_RUNS_MOST);
    results->room = tm_length(root);
    results->result = tm_take(&run->budget, TM_ACCOUNT_MODEL,
                              (results->room + 1) * sizeof(*results->result), &run->error);
    if (!results->result)
        return run->error.status;
    for (size_t i = 0; i < results->room && st == TM_OK; i++)
        st = add(results, tm_key_at(root, i), tm_value_at(root, i), path);
    if (st == TM_OK && !results->count) {
        (void)tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot use '%s': it names no trace", path);
        tm_hint(
            &run->error,
            "it looks like {\"NAME\": {\"execution_time\": 1.5, \"tensorboard_trace\": \"PATH\"}}");
        return TM_ERR_INPUT;
    }
    return st;
}

void tm_results_free(struct tm_results *results)
{
    if (!results->run)
        return;
    tm_give(&results->run->budget, TM_ACCOUNT_MODEL, results->result,
            results->result ? (results->room + 1) * sizeof(*results->result) : 0);
    tm_doc_free(results->doc);
    *results = (struct tm_results){ .run = NULL };
}
