/* SPDX-License-Identifier: Apache-2.0 */
/* From the partials of hosts to the report of their run.  Hosts that failed are told as missing. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/batch/fingerprint.h"
#include "pipeline/commands/batch_pool.h"
#include "pipeline/commands/document_files.h"
#include "pipeline/commands/inputs.h"

/* --- parts of a run --- */

static char *keep_text(struct tm_batch_parts *parts, const char *text)
{
    return tm_take_text(&parts->run->budget, TM_ACCOUNT_MODEL, text, &parts->run->error);
}

static tm_status add_path(struct tm_batch_parts *parts, const char *folder)
{
    char name[TM_DOCUMENT_FILE_BYTES], path[TM_OUT_PATH_BYTES];
    tm_status st = tm_out_path(parts->run, folder, tm_document_file(name, NULL, TM_FORMAT_PARTIAL, 0), path);

    if (st != TM_OK)
        return st;
    parts->paths[parts->path_count] = keep_text(parts, path);
    if (!parts->paths[parts->path_count])
        return parts->run->error.status;
    parts->path_count++;
    return TM_OK;
}

/* Why it is missing, to stand behind its path: "it is empty (0 bytes)" where the message begins with that. */
static void tell_problem(const char *path, const char *message, char problem[TM_RESULT_MESSAGE_BYTES])
{
    const size_t length = strlen(path);

    if (message[0] == '\'' && strncmp(message + 1, path, length) == 0 && strncmp(message + 1 + length, "' is ", 5) == 0)
        (void)snprintf(problem, TM_RESULT_MESSAGE_BYTES, "it is %.900s", message + length + 6);
    else
        (void)snprintf(problem, TM_RESULT_MESSAGE_BYTES, "it is missing: %.900s", message[0] ? message : "it was not worked");
}

static tm_status add_missing(struct tm_batch_parts *parts, const struct tm_batch_run *batch_run,
                             const struct tm_batch_file *file, enum tm_result_status status, const char *message)
{
    struct tm_missing_input *missing = &parts->missing[parts->missing_count];
    char path[TM_OUT_PATH_BYTES], problem[TM_RESULT_MESSAGE_BYTES] = "";
    tm_status st = tm_input_path(parts->run, batch_run, file, path);

    if (st == TM_OK)
        tell_problem(path, message, problem);
    if (st == TM_OK && !parts->missing_count)
        (void)snprintf(parts->message, sizeof(parts->message), "'%.128s': %.800s", file->host, problem);
    *missing = (struct tm_missing_input){ .bytes = file->bytes };
    if (st == TM_OK && !(missing->path = keep_text(parts, path)))
        st = parts->run->error.status;
    if (st == TM_OK && !(missing->problem = keep_text(parts, problem)))
        st = parts->run->error.status;
    parts->missing_count++;
    if (parts->missing_count == 1 || status > parts->worst)
        parts->worst = status;
    return st;
}

static tm_status find_part(struct tm_batch_parts *parts, const char *out, const struct tm_batch_run *batch_run,
                           const struct tm_batch_file *file, bool *stands)
{
    char folder[TM_OUT_PATH_BYTES], message[TM_RESULT_MESSAGE_BYTES];
    enum tm_result_status status;
    tm_status st = tm_out_item_folder(parts->run, out, batch_run, file, folder);

    *stands = false;
    if (st != TM_OK)
        return st;
    /* Reading them tells, with what to do, where they were made with other options. */
    status = tm_result_look(parts->run, folder, file->fingerprint, NULL, message);
    *stands = status == TM_RESULT_DONE || status == TM_RESULT_PARTIAL;
    return *stands ? add_path(parts, folder) : add_missing(parts, batch_run, file, status, message);
}

tm_status tm_batch_parts_find(struct tm_batch_parts *parts, struct tm_run *run, const char *out,
                              const struct tm_batch_run *batch_run)
{
    const size_t count = batch_run->files;
    struct tm_batch_run standing = *batch_run;
    tm_status st = TM_OK;

    *parts = (struct tm_batch_parts){ .run = run, .files = count };
    parts->paths = tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*parts->paths), &run->error);
    parts->missing = tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*parts->missing), &run->error);
    standing.file = parts->paths && parts->missing
                        ? tm_take(&run->budget, TM_ACCOUNT_MODEL, count * sizeof(*standing.file), &run->error)
                        : NULL;
    if (!standing.file)
        return run->error.status;
    standing.files = 0;
    for (size_t i = 0; i < count && st == TM_OK; i++) {
        bool stands;

        st = find_part(parts, out, batch_run, &batch_run->file[i], &stands);
        if (stands)
            standing.file[standing.files++] = batch_run->file[i];
    }
    if (st == TM_OK)
        tm_run_fingerprint(&standing, parts->fingerprint);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, standing.file, count * sizeof(*standing.file));
    return st;
}

void tm_batch_parts_free(struct tm_batch_parts *parts)
{
    struct tm_run *run = parts->run;

    if (!run)
        return;
    for (size_t i = 0; i < parts->path_count; i++)
        tm_give_text(&run->budget, TM_ACCOUNT_MODEL, parts->paths[i]);
    for (size_t i = 0; i < parts->missing_count; i++) {
        tm_give_text(&run->budget, TM_ACCOUNT_MODEL, parts->missing[i].path);
        tm_give_text(&run->budget, TM_ACCOUNT_MODEL, parts->missing[i].problem);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, parts->paths, parts->paths ? parts->files * sizeof(*parts->paths) : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, parts->missing,
            parts->missing ? parts->files * sizeof(*parts->missing) : 0);
    *parts = (struct tm_batch_parts){ .run = NULL };
}

/* --- which runs --- */

/* None of its hosts can be reported. */
static tm_status fail_run(struct tm_batch_pool *pool, const struct tm_batch_task *task,
                          const struct tm_batch_parts *parts)
{
    char message[TM_RESULT_MESSAGE_BYTES];

    (void)snprintf(message, sizeof(message), "none of its hosts could be read; %.900s", parts->message);
    return tm_batch_pool_fail(pool, task, parts->worst, parts->worst == TM_RESULT_REFUSED ? TM_ERR_INPUT : TM_ERR_LIMIT,
                              message, "");
}

/* A run whose parts are all there, or will not be; it is reported again if other parts stand than in its report, and each
 * time where one failed: the next time it may fail for another reason. */
static tm_status choose_run(struct tm_batch_pool *pool, const struct tm_batch_run *batch_run,
                            struct tm_batch_task *tasks)
{
    struct tm_batch_task task = { .batch_run = batch_run, .weight = batch_run->files };
    struct tm_batch_parts parts = { .run = NULL };
    char folder[TM_OUT_PATH_BYTES];
    enum tm_result_status status;
    tm_status st = tm_batch_pruned(pool, batch_run, &status);

    if (st == TM_OK && status != TM_RESULT_MISSING) {
        pool->counts->runs++;
        tm_batch_count_standing(pool->counts, status);
        return TM_OK;
    }
    if (st == TM_OK)
        st = tm_batch_parts_find(&parts, pool->run, pool->out, batch_run);
    if (st == TM_OK)
        st = tm_out_item_folder(pool->run, pool->out, batch_run, NULL, folder);
    if (st == TM_OK) {
        memcpy(task.fingerprint, parts.fingerprint, sizeof(task.fingerprint));
        status = tm_result_look(pool->run, folder, task.fingerprint, pool->report_options, NULL);
        pool->counts->runs++;
        if (parts.missing_count && parts.worst == TM_RESULT_MISSING)
            pool->counts->missing++;
        else if (!parts.path_count)
            st = fail_run(pool, &task, &parts);
        else if (tm_result_stands(status, false) && (!parts.missing_count || parts.worst == TM_RESULT_REFUSED))
            tm_batch_count_standing(pool->counts, status);
        else
            tasks[pool->count++] = task;
    }
    tm_batch_parts_free(&parts);
    return st;
}

tm_status tm_batch_join(struct tm_run *run, const struct tm_options *options, const struct tm_manifest *manifest,
                        const char *out, struct tm_batch_counts *counts)
{
    struct tm_batch_pool pool = { .run = run, .options = options, .out = out, .what = "runs of several hosts",
                                  .counts = counts, .joins = true };
    const size_t bytes = (manifest->count + 1) * sizeof(struct tm_batch_task);
    struct tm_batch_task *tasks = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    tm_status st;

    if (!tasks)
        return run->error.status;
    st = tm_batch_pool_options(&pool);
    for (size_t i = 0; i < manifest->count && st == TM_OK; i++)
        if (manifest->runs[i].files > 1)
            st = choose_run(&pool, &manifest->runs[i], tasks);
    pool.tasks = tasks;
    if (st == TM_OK)
        st = tm_batch_pool_work(&pool);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, tasks, bytes);
    return st;
}
