/* SPDX-License-Identifier: Apache-2.0 */
/* From operands to the files of one run. */
#include "pipeline/commands/inputs.h"

static tm_status add_files(struct tm_inputs *inputs, const struct tm_found_run *chosen)
{
    struct tm_run *run = inputs->run;
    const size_t row = sizeof(*inputs->files);
    struct tm_found_file **files;

    if (chosen->file_count > TM_INPUT_FILES_MOST - inputs->file_count)
        return tm_fail(&run->error, TM_ERR_LIMIT, -1, "the run has more than %d files", TM_INPUT_FILES_MOST);
    files = tm_retake(&run->budget, TM_ACCOUNT_MODEL, inputs->files, inputs->file_count * row,
                      (inputs->file_count + chosen->file_count) * row, &run->error);
    if (!files)
        return run->error.status;
    inputs->files = files;
    for (size_t i = 0; i < chosen->file_count; i++)
        inputs->files[inputs->file_count++] = &chosen->files[i];
    return TM_OK;
}

tm_status tm_inputs_find(struct tm_inputs *inputs, struct tm_run *run, const struct tm_options *options)
{
    tm_status st = TM_OK;

    *inputs = (struct tm_inputs){ .run = run, .run_name = "" };
    inputs->found = tm_take(&run->budget, TM_ACCOUNT_MODEL, options->input_count * sizeof(*inputs->found), &run->error);
    if (!inputs->found)
        return run->error.status;
    inputs->found_count = options->input_count;
    for (size_t i = 0; i < inputs->found_count && st == TM_OK; i++) {
        const struct tm_found_run *chosen;

        st = tm_discover(run, options->inputs[i], &inputs->found[i]);
        if (st == TM_OK)
            st = tm_choose_run(run, &inputs->found[i], options->run_name, options->latest, &chosen);
        if (st == TM_OK)
            st = add_files(inputs, chosen);
        if (st == TM_OK && !i)
            inputs->run_name = chosen->name;
    }
    return st == TM_OK ? tm_distinct_hosts(run, inputs->files, inputs->file_count) : st;
}

void tm_inputs_free(struct tm_inputs *inputs)
{
    if (!inputs->run)
        return;
    for (size_t i = 0; i < inputs->found_count; i++)
        tm_found_free(&inputs->found[i]);
    tm_give(&inputs->run->budget, TM_ACCOUNT_MODEL, inputs->found, inputs->found_count * sizeof(*inputs->found));
    tm_give(&inputs->run->budget, TM_ACCOUNT_MODEL, inputs->files, inputs->file_count * sizeof(*inputs->files));
    *inputs = (struct tm_inputs){ .run = NULL };
}
