/* SPDX-License-Identifier: Apache-2.0 */
/* The scripts of a submission.  Every word that comes from outside goes through tm_shell_word.  What sbatch reads of a
 * script (#SBATCH) are plain words and numbers; paths and --sbatch stand on its command line, which also counts more.
 * source: sbatch(1) of Slurm 22.05 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/night_baseline.h"
#include "pipeline/commands/submission.h"
#include "pipeline/settings.h"
#include "pipeline/shell_text.h"

static void put(void *to, const char *text, size_t length)
{
    (void)fwrite(text, 1, length, to); /* tm_atomic_commit sees a failure */
}

/* --- words: one may be made of parts, each quoted for itself --- */

static void put_path(FILE *to, const char *folder, const char *name)
{
    tm_shell_word(put, to, folder);
    tm_shell_word(put, to, "/");
    tm_shell_word(put, to, name);
}

static bool names_a_file(const struct tm_option *option, const char *text)
{
    static const char *const arguments[] = { "FILE", "DIR", "PATH" };
    bool is_path = false;

    for (size_t i = 0; option->argument && i < sizeof(arguments) / sizeof(arguments[0]); i++)
        is_path |= strcmp(option->argument, arguments[i]) == 0;
    return is_path && !(option == &tm_option_table[TM_OPTION_BASELINE] && tm_baseline_is_word(text));
}

/* "--gate=/there/gates.json": what is relative to the working folder of now has to mean the same later. */
static void put_option(FILE *to, const struct tm_option *option, const char *text, const char *here)
{
    (void)fprintf(to, " \\\n    --%s=", option->name);
    if (names_a_file(option, text) && text[0] != '/')
        tm_shell_word(put, to, here);
    tm_shell_word(put, to, text);
}

/* --- options --- */

/* Which options a verb gets: all that were set, in whatever way, and that it takes. */
static bool is_passed_on(size_t index, enum tm_verb_bit verb)
{
    switch (index) {
    case TM_OPTION_OUTPUT: /* stand in the scripts already */
    case TM_OPTION_MANIFEST:
    case TM_OPTION_SHARD:
    case TM_OPTION_CONFIG: /* what it sets is written out */
    case TM_OPTION_JSON:   /* of this process, not of the tasks */
    case TM_OPTION_COLOR:
    case TM_OPTION_DRY_RUN:
    case TM_OPTION_HELP:
    case TM_OPTION_VERSION:
        return false;
    default:
        return (tm_option_table[index].verbs & (uint32_t)verb) != 0;
    }
}

static void put_options(FILE *to, const struct tm_submission *submission, enum tm_verb_bit verb)
{
    const struct tm_setting_set *const set = submission->options->settings;

    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        const struct tm_option *const option = &tm_option_table[i];
        const bool is_list = tm_option_is_list(option);
        const size_t count = is_list ? set->lists[i].count : 1;

        if (set->of[i].origin == TM_ORIGIN_DEFAULT || !set->of[i].text || !is_passed_on(i, verb))
            continue;
        for (size_t n = 0; n < count; n++)
            put_option(to, option, is_list ? set->lists[i].text[n] : set->of[i].text, submission->here);
    }
    (void)fputc('\n', to);
}

/* --- the scripts --- */

static void put_head(FILE *to, const char *what)
{
    (void)fprintf(to, "#!/bin/sh\n# Written by tracemill batch submit: %s.\n", what);
}

/* Whether --sbatch asks for memory in a way of its own: by node, CPU or GPU, of which sbatch takes one. */
static bool asks_for_memory(const struct tm_texts *options)
{
    for (size_t i = 0; i < options->count; i++)
        if (strncmp(options->text[i], "--mem", 5) == 0)
            return true;
    return false;
}

/* What both jobs ask Slurm for, and what they begin with.  A signal before the end of the time goes to the first process
 * of the job, which is tracemill, by exec: it leaves nothing half done. */
static void put_job(FILE *to, const struct tm_submission *submission, const char *name)
{
    (void)fprintf(to, "#SBATCH --job-name=%s\n#SBATCH --ntasks=1\n", name);
    (void)fprintf(to, "#SBATCH --cpus-per-task=%" PRIu64 "\n", submission->jobs);
    if (!asks_for_memory(&submission->options->sbatch))
        (void)fprintf(to, "#SBATCH --mem=%" PRIu64 "M\n", submission->memory_mib);
    (void)fputs("#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --signal=B:TERM@60\n"
                "# Settings of whoever submitted stand below; those of the environment do not count.\n"
                "for name in $(env | sed -n 's/^\\(TRACEMILL_[A-Za-z0-9_]*\\)=.*/\\1/p'); do\n"
                "    unset \"$name\"\n"
                "done\n"
                "exec ",
                to);
    tm_shell_word(put, to, submission->program);
}

static void put_run(FILE *to, const struct tm_submission *submission)
{
    put_head(to, "one task of the array job, a share of what todo.jsonl names");
    (void)fprintf(to, "#SBATCH --array=0-%" PRIu64 "\n", submission->tasks - 1);
    put_job(to, submission, "tracemill-run");
    (void)fputs(" batch run \\\n    --manifest=", to);
    put_path(to, submission->folder, TM_TODO_FILE);
    (void)fputs(" \\\n    --output=", to);
    tm_shell_word(put, to, submission->out);
    (void)fprintf(to, " \\\n    --shard=auto/%" PRIu64, submission->tasks);
    put_options(to, submission, TM_FOR_BATCH_RUN);
}

static void put_merge(FILE *to, const struct tm_submission *submission)
{
    put_head(to, "the job after the array job, which puts the results together");
    put_job(to, submission, "tracemill-merge");
    (void)fputs(" batch merge \\\n    ", to);
    tm_shell_word(put, to, submission->out);
    put_options(to, submission, TM_FOR_BATCH_MERGE);
}

/* "--output=": Slurm puts the number of the task in place of %a; a % of the path is written twice. */
static void put_log(FILE *to, const char *folder, const char *name)
{
    (void)fputs(" \\\n    --output=", to);
    for (; *folder; folder += strcspn(folder, "%")) {
        char part[TM_OUT_PATH_BYTES];
        size_t length;

        for (; *folder == '%'; folder++)
            (void)fputs("%%", to);
        length = strcspn(folder, "%");
        memcpy(part, folder, length);
        part[length] = '\0';
        if (length)
            tm_shell_word(put, to, part);
    }
    (void)fprintf(to, "/%s", name);
}

/* What follows the name of an option of sbatch: "=night" in "--partition=night", "night" in "-pnight"; NULL = it is another.
 * in: letter  0 = it has none */
static const char *rest_of(const char *text, const char *name, char letter)
{
    const size_t length = strlen(name);

    if (letter && text[0] == '-' && text[1] == letter)
        return text + 2;
    return strncmp(text, name, length) == 0 && (!text[length] || text[length] == '=') ? text + length : NULL;
}

/* --sbatch, for the first job that is submitted or for the one after it, which is no array and waits for nothing else. */
static void put_sbatch(FILE *to, const struct tm_submission *submission, bool is_first)
{
    const struct tm_texts *const options = &submission->options->sbatch;

    for (size_t i = 0; i < options->count; i++) {
        const char *const text = options->text[i];

        if (rest_of(text, "--dependency", 'd') || (!is_first && rest_of(text, "--array", 'a')))
            continue;
        (void)fputs(" \\\n    ", to);
        tm_shell_word(put, to, text);
    }
}

/* The first job waits for those of an earlier submission, and for what --sbatch says. */
static void put_after(FILE *to, const struct tm_submission *submission)
{
    const struct tm_slurm_jobs *const jobs = &submission->after;
    const struct tm_texts *const options = &submission->options->sbatch;
    const char *separator = " \\\n    --dependency=";

    if (jobs->array[0] || jobs->merge[0]) {
        (void)fprintf(to, "%safterany%s%s%s%s", separator, jobs->array[0] ? ":" : "", jobs->array,
                      jobs->merge[0] ? ":" : "", jobs->merge);
        separator = ",";
    }
    for (size_t i = 0; i < options->count; i++) {
        const char *const rest = rest_of(options->text[i], "--dependency", 'd');

        if (!rest)
            continue;
        (void)fputs(separator, to);
        tm_shell_word(put, to, rest + (*rest == '='));
        separator = ",";
    }
}

static void put_submit(FILE *to, const struct tm_submission *submission)
{
    put_head(to, "gives the jobs to Slurm, and keeps their numbers");
    (void)fputs("command -v sbatch >/dev/null || {\n    echo 'there is no sbatch on this machine' >&2\n    exit 127\n}\n"
                "jobs=",
                to);
    put_path(to, submission->folder, "jobs");
    (void)fputs("\n\n# With --wait its status is that of the job: submitted is what has a number.\n", to);
    if (submission->tasks) {
        (void)fputs("array=$(sbatch --parsable", to);
        put_log(to, submission->folder, "run-%a.log");
        put_sbatch(to, submission, true);
        put_after(to, submission);
        (void)fputs(" \\\n    ", to);
        put_path(to, submission->folder, "run.sh");
        (void)fputs(") || [ -n \"$array\" ] || exit 1\n"
                    "array=${array%%;*}\necho \"array $array\" | tee \"$jobs\" || exit 1\n\n",
                    to);
    }
    (void)fputs("merge=$(sbatch --parsable", to);
    put_log(to, submission->folder, "merge.log");
    put_sbatch(to, submission, submission->tasks == 0);
    if (submission->tasks)
        (void)fputs(" \\\n    --dependency=afterany:\"$array\"", to);
    else
        put_after(to, submission);
    (void)fputs(" \\\n    ", to);
    put_path(to, submission->folder, "merge.sh");
    (void)fputs(")\nstatus=$?\n[ -n \"$merge\" ] || exit 1\n"
                "merge=${merge%%;*}\necho \"merge $merge\" | tee -a \"$jobs\" || exit 1\nexit $status\n",
                to);
}

static tm_status write_one(struct tm_run *run, const struct tm_submission *submission, const char *name,
                           void (*writer)(FILE *to, const struct tm_submission *submission))
{
    struct tm_atomic_file file;
    const tm_status st = tm_atomic_open(&file, run, submission->folder, name);

    if (st)
        return st;
    writer(file.stream, submission);
    return tm_atomic_commit(&file);
}

tm_status tm_submission_write(struct tm_run *run, const struct tm_submission *submission)
{
    tm_status st = submission->tasks ? write_one(run, submission, "run.sh", put_run) : TM_OK;

    if (!st)
        st = write_one(run, submission, "merge.sh", put_merge);
    return st ? st : write_one(run, submission, TM_SUBMIT_SCRIPT, put_submit);
}
