/* SPDX-License-Identifier: Apache-2.0 */
/* The way of the verbs that read several runs: operands, summaries, a document, its files. */
#include "pipeline/commands/study.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/commands/closing.h"
#include "pipeline/commands/guarded.h"
#include "pipeline/commands/out_place.h"

static const uint32_t formats = TM_FORMAT_HTML | TM_FORMAT_PDF | TM_FORMAT_JSON | TM_FORMAT_TEXT |
                                TM_FORMAT_MARKDOWN | TM_FORMAT_CSV;

static tm_status check_formats(struct tm_run *run, const struct tm_options *options,
                               const char *act)
{
    if (!(options->formats & ~formats))
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                  "cannot %s with this --format: perfetto, pftrace, partial and collapsed"
                  " are of one run",
                  act);
    tm_hint(&run->error, "use html, pdf, json, text, markdown, csv");
    return TM_ERR_USAGE;
}

tm_status tm_study_open(struct tm_study *study, struct tm_run *run,
                        const struct tm_options *options, const char *act,
                        const struct tm_document *document, size_t room)
{
    tm_status st = check_formats(run, options, act);

    *study = (struct tm_study){ .run = run, .options = options, .act = act };
    if (st == TM_OK)
        st = tm_refuse_redaction(run, options, act);
    if (st == TM_OK)
        st = tm_check_folder(run, options->output ? options->output : ".");
    if (st == TM_OK && options->output)
        st = tm_guard_document(run, options->output, document, options->formats);
    if (st != TM_OK)
        return st;
    if (room > TM_RUNS_MOST)
        return tm_fail(&run->error, TM_ERR_LIMIT, -1, "cannot %s more than %d runs at once", act,
                       TM_RUNS_MOST);
    study->operand =
        tm_take(&run->budget, TM_ACCOUNT_MODEL, (room + 1) * sizeof(*study->operand), &run->error);
    if (!study->operand)
        return run->error.status;
    study->room = room;
    study->runs =
        tm_take(&run->budget, TM_ACCOUNT_MODEL, (room + 1) * sizeof(*study->runs), &run->error);
    return study->runs ? TM_OK : run->error.status;
}

void tm_study_add(struct tm_study *study, const struct tm_run_operand *operand, int64_t measured_ps)
{
    study->operand[study->count] = *operand;
    study->runs[study->count++].measured_ps = measured_ps;
}

/* One file under two names.  Folders may hold several runs. */
static bool is_one_file(const char *a, const char *b)
{
    struct stat of_a, of_b;

    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && S_ISREG(of_a.st_mode) &&
           of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

tm_status tm_study_check(struct tm_study *study)
{
    struct tm_run *run = study->run;
    tm_status st = tm_run_operands_check(run, study->operand, study->count);

    for (size_t i = 1; i < study->count && st == TM_OK && !study->options->force; i++) {
        for (size_t k = 0; k < i && st == TM_OK; k++) {
            if (!is_one_file(study->operand[i].path, study->operand[k].path))
                continue;
            st = tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot %s: '%s' is there twice",
                         study->act, study->operand[i].path);
            tm_hint(&run->error, "name another run, or go on with --force");
        }
    }
    return st;
}

tm_status tm_study_load(struct tm_study *study)
{
    tm_status st = tm_summaries_load(&study->summaries, study->run, study->options, study->operand,
                                     study->count, study->act);

    for (size_t i = 0; i < study->count && st == TM_OK; i++) {
        const struct tm_loaded_run *loaded = &study->summaries.run[i];

        study->runs[i].summary = tm_doc_root(loaded->doc);
        study->runs[i].path = loaded->path;
        study->runs[i].is_summary = loaded->is_summary;
    }
    return st;
}

void tm_study_forget(struct tm_study *study)
{
    tm_summaries_free(&study->summaries);
}

void tm_study_close(struct tm_study *study)
{
    struct tm_budget *budget = study->run ? &study->run->budget : NULL;

    if (!budget)
        return;
    tm_summaries_free(&study->summaries);
    if (study->operand)
        tm_give(budget, TM_ACCOUNT_MODEL, study->operand,
                (study->room + 1) * sizeof(*study->operand));
    if (study->runs)
        tm_give(budget, TM_ACCOUNT_MODEL, study->runs, (study->room + 1) * sizeof(*study->runs));
    *study = (struct tm_study){ .run = NULL };
}

struct tm_compare_options tm_study_options(const struct tm_options *options)
{
    return (struct tm_compare_options){ .title = options->title,
                                        .note = options->note,
                                        .rows = options->rows,
                                        .is_forced = options->force };
}

/* NAME of the folder: what the document calls its runs, as one word. */
static void name_folder(char out[TM_PLACE_BYTES], const struct tm_value *root, const char *ending)
{
    const char *const name = tm_text(tm_path(root, "input.run"));
    char words[TM_LABEL_BYTES];
    size_t used = 0;

    for (; used < sizeof(words) && name[used]; used++)
        words[used] = name[used] == ' ' ? '-' : name[used];
    tm_place_name(out, words, used, ending);
}

tm_status tm_study_deliver(const struct tm_study *study, struct tm_doc *doc, const char *ending)
{
    const struct tm_value *const root = tm_doc_root(doc);
    const struct tm_document_result result = { .doc = doc, .paper = study->options->paper };
    char folder[TM_PLACE_BYTES];
    tm_status st;

    if (!study->options->output)
        name_folder(folder, root, ending);
    st = tm_document_deliver(study->run, &result,
                             study->options->output ? study->options->output : folder,
                             study->options);
    if (st != TM_OK || !tm_is(tm_path(root, "input.partial")))
        return st;
    (void)fputs(
        "tracemill: warning: a run is partial: its figures rest only on what could be read\n",
        stderr);
    return TM_PARTIAL;
}

/* --- groups --- */

/* How many bytes two labels begin with alike, in whole parts of a path, without the slash. */
static size_t common_parts(const char *a, const char *b)
{
    size_t common = 0;

    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            common = i;
    return common;
}

void tm_group_label(char label[TM_LABEL_BYTES], const struct tm_loaded_run *run, size_t runs)
{
    const struct tm_loaded_run *named = NULL;
    size_t common = strlen(run[0].label);

    for (size_t i = 0; i < runs; i++) {
        const size_t alike = i ? common_parts(run[0].label, run[i].label) : common;

        named = named || !run[i].is_labelled ? named : &run[i];
        common = alike < common ? alike : common;
    }
    if (named || runs == 1)
        (void)snprintf(label, TM_LABEL_BYTES, "%s", named ? named->label : run[0].label);
    else if (common > 0)
        (void)snprintf(label, TM_LABEL_BYTES, "%.*s", (int)common, run[0].label);
    else
        (void)snprintf(label, TM_LABEL_BYTES, "%.200s and %zu more", run[0].label, runs - 1);
}
