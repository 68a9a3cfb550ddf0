/* SPDX-License-Identifier: Apache-2.0 */
/* Gates without the command line, for tests of what is written:
 *
 *   gates init SUMMARY                              prints a gate file
 *   gates json|junit GATES SUMMARY [BASELINE...]    prints the result
 *   gates json|junit -- EXPRESSION SUMMARY [BASELINE...]
 *
 * Ends with the status that the library gives, 1 where a gate failed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/doc/doc.h"
#include "reports/gates/gates.h"

enum { RUNS_MOST = 32 };

struct job {
    struct tm_run run;
    struct tm_doc *doc[RUNS_MOST]; /* summaries: the input, then the baselines */
    struct tm_compared_run compared[RUNS_MOST];
    size_t runs;
    struct tm_gates *gates;
    struct tm_doc *result;
};

static tm_status load(struct job *job, char *const *path)
{
    for (; *path; path++) {
        if (job->runs == RUNS_MOST || !(job->doc[job->runs] = tm_doc_new(&job->run)))
            return TM_ERR_LIMIT;
        struct tm_value *root = tm_doc_root(job->doc[job->runs]);

        job->compared[job->runs] = (struct tm_compared_run){ .summary = root, .path = *path, .is_summary = true };
        job->runs++;
        const tm_status st = tm_doc_read_file(job->doc[job->runs - 1], root, *path);

        if (st != TM_OK)
            return st;
    }
    return TM_OK;
}

static tm_status judge(struct job *job, bool is_junit, size_t *failed)
{
    const struct tm_comparison_side baseline = { "baseline", job->compared + 1, job->runs - 1 };

    if (!(job->result = tm_doc_new(&job->run)))
        return TM_ERR_LIMIT;
    const tm_status st =
        tm_gates_judge(&job->run, job->result, job->gates, job->compared, job->runs > 1 ? &baseline : NULL, failed);

    if (st != TM_OK)
        return st;
    return is_junit ? tm_junit_write(&job->run, job->result, stdout)
                    : tm_doc_print(job->result, &job->run, STDOUT_FILENO);
}

static tm_status work(struct job *job, int count, char **argument, size_t *failed)
{
    const bool is_init = count == 3 && strcmp(argument[1], "init") == 0;
    const bool is_expression = count > 4 && strcmp(argument[2], "--") == 0;
    const char *const expression = is_expression ? argument[3] : NULL;

    if (!is_init && count < 4)
        return tm_fail(&job->run.error, TM_ERR_USAGE, -1, "gates init|json|junit ...");
    tm_status st = load(job, argument + (is_init ? 2 : is_expression ? 4 : 3));

    if (st == TM_OK && is_init)
        return tm_gates_init(&job->run, job->compared[0].summary, stdout);
    if (st == TM_OK)
        st = is_expression ? tm_gates_parse(&job->run, &job->gates, &expression, 1)
                           : tm_gates_read(&job->run, &job->gates, argument[2]);
    return st == TM_OK ? judge(job, strcmp(argument[1], "junit") == 0, failed) : st;
}

int main(int count, char **argument)
{
    static struct job job;
    size_t failed = 0;

    tm_budget_init(&job.run.budget, (size_t)256 * TM_MIB);
    const tm_status st = work(&job, count, argument, &failed);

    if (st != TM_OK)
        tm_error_print(&job.run.error, stderr);
    if (job.result)
        tm_doc_free(job.result);
    tm_gates_free(job.gates);
    for (size_t i = 0; i < job.runs; i++)
        tm_doc_free(job.doc[i]);
    return st == TM_OK && failed > 0 ? TM_GATE : (int)st;
}
