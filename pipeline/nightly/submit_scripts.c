/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/nightly/batch_submit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/files.h"
#include "pipeline/nightly/batch.h"
#include "pipeline/options.h"
#include "pipeline/strings.h"

/* The scripts of a submission, and the Jobs of Kubernetes.  Every external word passes through tm_shell_word, or is a
 * string of JSON, which YAML contains.  What sbatch reads of a
 * script (#SBATCH) are plain words and numbers; paths and --sbatch are on its command line, which also counts more.
 * source: sbatch(1) of Slurm 22.05 */

static void put(void *to, const char *text, size_t length)
{
    (void)fwrite(text, 1, length, to); /* tm_atomic_commit sees a failure */
}

static bool is_kubernetes(const struct tm_submission *submission)
{
    return strcmp(submission->kind, "kubernetes") == 0;
}

/* The inside of a string of JSON, which Kubernetes does not expand: "$(HOME)" is "$$(HOME)" for it. */
static void put_json(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (text[0] == '$' && text[1] == '(')
            (void)fputc('$', to);
        tm_json_put_byte(to, (unsigned char)*text);
    }
}

static bool names_a_file(const struct tm_option *option, const char *text)
{
    static const char *const arguments[] = { "FILE", "DIR", "PATH" };
    bool is_path = false;

    for (size_t i = 0; option->argument && i < sizeof(arguments) / sizeof(arguments[0]); i++)
        is_path |= strcmp(option->argument, arguments[i]) == 0;
    return is_path && !(option == &tm_option_table[TM_OPTION_BASELINE] && tm_baseline_is_word(text));
}

/* "--gate=/there/gates.json": paths relative to the current working folder must remain valid later. */
static void put_option(FILE *to, const struct tm_submission *submission, const struct tm_option *option,
                       const char *text)
{
    const char *const here = names_a_file(option, text) && text[0] != '/' ? submission->here : "";

    if (is_kubernetes(submission)) {
        (void)fprintf(to, "\n            - \"--%s=", option->name);
        put_json(to, here);
        put_json(to, text);
        (void)fputc('"', to);
        return;
    }
    (void)fprintf(to, " \\\n    --%s=", option->name);
    if (*here)
        tm_shell_word(put, to, here);
    tm_shell_word(put, to, text);
}

/* --- options --- */

/* Which options a verb gets: all that were set, in whatever way, and that it takes. */
static bool is_passed_on(size_t index, tm_verb_bits verb)
{
    switch (index) {
    case TM_OPTION_OUTPUT: /* are in the scripts already */
    case TM_OPTION_MANIFEST:
    case TM_OPTION_SHARD:
    case TM_OPTION_LEASE:
    case TM_OPTION_IMAGE:
    case TM_OPTION_MOUNT:
    case TM_OPTION_CONFIG: /* what it sets is written out */
    case TM_OPTION_JSON:   /* of this process, not of the tasks */
    case TM_OPTION_COLOR:
    case TM_OPTION_DRY_RUN:
    case TM_OPTION_HELP:
    case TM_OPTION_VERSION:
        return false;
    default:
        return (tm_option_table[index].verbs & verb) != 0;
    }
}

static void put_options(FILE *to, const struct tm_submission *submission, tm_verb_bits verb)
{
    const struct tm_setting_set *const set = submission->options->settings;

    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        const struct tm_option *const option = &tm_option_table[i];
        const bool is_list = tm_option_is_list(option);
        const size_t count = is_list ? set->lists[i].count : 1;

        if (set->of[i].origin == TM_ORIGIN_DEFAULT || !set->of[i].text || !is_passed_on(i, verb))
            continue;
        for (size_t n = 0; n < count; n++)
            put_option(to, submission, option, is_list ? set->lists[i].text[n] : set->of[i].text);
    }
}

/* --- the scripts --- */

/* Whether --sbatch already requests memory, by node, CPU or GPU; sbatch accepts only one of them. */
static bool asks_for_memory(const struct tm_texts *options)
{
    for (size_t i = 0; i < options->count; i++)
        if (strncmp(options->text[i], "--mem", 5) == 0)
            return true;
    return false;
}

/* Slurm replaces %a by the number of the task; a % of the path is written twice. */
static void put_log(FILE *to, const char *folder)
{
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
}

/* What follows the name of an option of sbatch: "=night" in "--partition=night", "night" in "-pnight"; NULL = it is
 * another.
 * in: letter  0 = it has none */
static const char *rest_of(const char *text, const char *name, char letter)
{
    const size_t length = strlen(name);

    if (letter && text[0] == '-' && text[1] == letter)
        return text + 2;
    return strncmp(text, name, length) == 0 && (!text[length] || text[length] == '=') ? text + length : NULL;
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

/* --sbatch, for the first job that is submitted or for the one after it, which is not an array and waits for the
 * first. */
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
    if (is_first)
        put_after(to, submission);
}

/* schemas/slurm, embedded by schemas/embed.mk: "{{name}}" is replaced, and the text from "{{?name}}" to the end of the
 * line is included only if that holds.  The signal before the time limit is sent to the first process of the job,
 * which is tracemill because of exec: it leaves nothing incomplete. */
extern const char tm_slurm_run[], tm_slurm_merge[], tm_slurm_submit[];

/* in: name  the first of length bytes
 *     verb  that the script runs */
static void put_named(FILE *to, const char *name, size_t length, const struct tm_submission *s, tm_verb_bits verb)
{
    const struct {
        const char *name, *word;
        uint64_t number; /* if there is none */
    } values[] = {
        { "folder", s->folder, 0 },        { "out", s->out, 0 },           { "program", s->program, 0 },
        { "jobs", NULL, s->jobs },         { "last", NULL, s->tasks - 1 }, { "tasks", NULL, s->tasks },
        { "memory", NULL, s->memory_mib },
    };

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (strncmp(name, values[i].name, length) != 0 || values[i].name[length])
            continue;
        if (values[i].word)
            tm_shell_word(put, to, values[i].word);
        else
            (void)fprintf(to, "%" PRIu64, values[i].number);
        return;
    }
    if (strncmp(name, "log", length) == 0)
        put_log(to, s->folder);
    else if (strncmp(name, "options", length) == 0)
        put_options(to, s, verb);
    else
        put_sbatch(to, s, strncmp(name, "array_sbatch", length) == 0 || s->tasks == 0);
}

/* --- Kubernetes --- */

extern const char tm_kubernetes_jobs[];

enum { NAME_BYTES = 48 };

/* "perf-0001": what a Job may be called, and its pods after it. */
static void put_name(FILE *to, const struct tm_submission *s)
{
    size_t length;
    const char *const last = tm_last_part(s->out, &length);
    char name[NAME_BYTES];
    size_t used = 0;

    for (size_t i = 0; i < length && used + 1 < sizeof(name); i++) {
        const char c = last[i];

        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            name[used++] = c;
        else if (c >= 'A' && c <= 'Z')
            name[used++] = (char)(c - 'A' + 'a');
        else if (used && name[used - 1] != '-')
            name[used++] = '-';
    }
    while (used && name[used - 1] == '-')
        used--;
    (void)fprintf(to, "tracemill-%.*s%s%04u", (int)used, name, used ? "-" : "", s->number);
}

struct mount {
    const char *claim, *path;
    int claim_length, path_length;
    bool is_read_only;
};

/* CLAIM:PATH[:ro]. out: false: it is none */
static bool read_mount(const char *text, struct mount *mount)
{
    const char *const colon = strchr(text, ':');
    size_t length = colon ? strlen(colon + 1) : 0;

    *mount = (struct mount){ .claim = text, .claim_length = colon ? (int)(colon - text) : 0, .path = colon + 1 };
    if (!colon || !mount->claim_length ||
        strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.") != (size_t)mount->claim_length)
        return false;
    mount->is_read_only = length > 3 && strcmp(mount->path + length - 3, ":ro") == 0;
    length -= mount->is_read_only ? 3 : 0;
    while (length > 1 && mount->path[length - 1] == '/')
        length--;
    mount->path_length = (int)length;
    return length > 1 && mount->path[0] == '/' && !memchr(mount->path, ':', length);
}

static void put_mounts(FILE *to, const struct tm_texts *mounts, bool are_volumes)
{
    struct mount mount;

    for (size_t i = 0; i < mounts->count; i++) {
        const char *read_only;

        if (!read_mount(mounts->text[i], &mount))
            continue;
        read_only = mount.is_read_only ? ", readOnly: true" : "";
        if (are_volumes) {
            (void)fprintf(to, "\n        - { name: mount-%zu, persistentVolumeClaim: { claimName: \"%.*s\"%s } }", i,
                          mount.claim_length, mount.claim, read_only);
            continue;
        }
        (void)fprintf(to, "\n            - { name: mount-%zu, mountPath: \"", i);
        for (int k = 0; k < mount.path_length; k++)
            put_json(to, (char[2]){ mount.path[k] });
        (void)fprintf(to, "\"%s }", read_only);
    }
}

tm_status tm_submission_check_mounts(struct tm_run *run, const struct tm_submission *submission, const char *path)
{
    const struct tm_texts *const mounts = &submission->options->mounts;
    struct mount mount;

    for (size_t i = 0; i < mounts->count; i++) {
        if (!read_mount(mounts->text[i], &mount)) {
            (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%s' for --mount", mounts->text[i]);
            tm_hint(&run->error, "as in '--mount profiles:/data/profiles:ro': a volume claim and its path in the pods");
            return TM_ERR_USAGE;
        }
        if (strncmp(path, mount.path, (size_t)mount.path_length) == 0 &&
            (!path[mount.path_length] || path[mount.path_length] == '/'))
            return TM_OK;
    }
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot submit a batch: '%s' is not in a volume of --mount", path);
    tm_hint(&run->error, "as in '--mount profiles:/data/profiles:ro': a volume claim and its path in the pods");
    return TM_ERR_USAGE;
}

static void put_argument(FILE *to, const char *name, const char *path, const char *file)
{
    (void)fprintf(to, "\"%s", name);
    put_json(to, path);
    (void)fprintf(to, "%s\"", file);
}

/* out: false: it is a name of the scripts */
static bool put_of_kubernetes(FILE *to, const char *name, size_t length, const struct tm_submission *s)
{
    static const char *const names[] = { "name",   "image",   "todo",        "output",       "out",
                                         "mounts", "volumes", "run_options", "merge_options" };
    size_t i = 0;

    while (i < sizeof(names) / sizeof(names[0]) && (strncmp(name, names[i], length) != 0 || names[i][length]))
        i++;
    switch (i) {
    case 0:
        put_name(to, s);
        return true;
    case 1:
        put_argument(to, "", s->options->image, "");
        return true;
    case 2:
        put_argument(to, "--manifest=", s->folder, "/" TM_TODO_FILE);
        return true;
    case 3:
        put_argument(to, "--output=", s->out, "");
        return true;
    case 4:
        put_argument(to, "", s->out, "");
        return true;
    case 5:
    case 6:
        put_mounts(to, &s->options->mounts, i == 6);
        return true;
    case 7:
    case 8:
        put_options(to, s, i == 7 ? TM_FOR_BATCH_RUN : TM_FOR_BATCH_MERGE);
        return true;
    default:
        return false;
    }
}

static void put_script(FILE *to, const char *at, const struct tm_submission *submission, tm_verb_bits verb)
{
    while (*at) {
        const size_t length = strncmp(at, "{{", 2) == 0 ? 0 : 1 + strcspn(at + 1, "{");
        const char *const name = at + 2, *const end = length ? at + length : strstr(at, "}}");

        if (length) {
            (void)fwrite(at, 1, length, to);
            at = end;
        } else if (*name != '?') {
            if (!is_kubernetes(submission) || !put_of_kubernetes(to, name, (size_t)(end - name), submission))
                put_named(to, name, (size_t)(end - name), submission, verb);
            at = end + 2;
        } else {
            const bool is_there =
                name[1] == 't' ? submission->tasks != 0 : !asks_for_memory(&submission->options->sbatch);

            at = is_there ? end + 2 : strchr(end, '\n') + 1;
        }
    }
}

static tm_status write_one(struct tm_run *run, const struct tm_submission *submission, const char *name,
                           const char *script, tm_verb_bits verb)
{
    struct tm_atomic_file file;
    const tm_status st = tm_atomic_open(&file, run, submission->folder, name);

    if (st)
        return st;
    put_script(file.stream, script, submission, verb);
    return tm_atomic_commit(&file);
}

static tm_status write_scripts(struct tm_run *run, const struct tm_submission *submission)
{
    tm_status st = submission->tasks ? write_one(run, submission, "run.sh", tm_slurm_run, TM_FOR_BATCH_RUN) : TM_OK;

    if (!st)
        st = write_one(run, submission, "merge.sh", tm_slurm_merge, TM_FOR_BATCH_MERGE);
    return st ? st : write_one(run, submission, TM_SUBMIT_SCRIPT, tm_slurm_submit, TM_FOR_BATCH_SUBMIT);
}

static tm_status write_jobs(struct tm_run *run, const struct tm_submission *submission)
{
    const tm_status st = write_one(run, submission, TM_JOBS_FILE, tm_kubernetes_jobs, TM_FOR_BATCH_RUN);

    if (st || submission->options->json)
        return st;
    put_script(stdout, tm_kubernetes_jobs, submission, TM_FOR_BATCH_RUN);
    return tm_finish_stdout(run, TM_OK);
}

tm_status tm_submission_write(struct tm_run *run, const struct tm_submission *submission)
{
    return is_kubernetes(submission) ? write_jobs(run, submission) : write_scripts(run, submission);
}
