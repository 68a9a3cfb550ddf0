/* SPDX-License-Identifier: Apache-2.0 */
/* Run-to-run spread of figures, of each by its own values.  From a history: each run of the job against the one before
 * on the same devices, so that a level that changed once counts once; two runs differ by less than the spread in 99 of
 * 100 cases (t s, s^2 = mean of the squared differences). */
#include "pipeline/commands/run_spread.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/gates/gate_limit.h"
#include "reports/history/history.h"
#include "reports/statistics/tests.h"

enum { DIFFERENCES_LEAST = 3, JOB_BYTES = TM_LABEL_BYTES };

/* Of one figure, from run to run. */
struct differences {
    double last, squares;
    size_t count;
};

struct gathering {
    const struct tm_loaded_run *loaded;
    size_t count;
    char job[JOB_BYTES], other_job[JOB_BYTES],
        own_job[JOB_BYTES]; /* the first, one that differs, that of a run compared */
    const char *wanted;
    char model[JOB_BYTES];
    int64_t devices;
    struct differences figure[TM_FIGURES_MOST];
    size_t runs;
};

/* Is it one of the runs that are compared?  A batch keeps the summary of a run under its id. */
static bool is_compared(const struct gathering *g, const struct tm_history_run *row)
{
    char part[JOB_BYTES];

    (void)snprintf(part, sizeof(part), "runs/%.100s", row->id);
    for (size_t i = 0; i < g->count; i++)
        if (strstr(g->loaded[i].path, part) || (*row->path && strcmp(g->loaded[i].path, row->path) == 0))
            return true;
    return false;
}

static tm_status look_at_job(void *to, const struct tm_history_run *row)
{
    struct gathering *g = to;

    if (!*g->job)
        (void)snprintf(g->job, sizeof(g->job), "%s", row->keys.job);
    else if (strcmp(g->job, row->keys.job) != 0)
        (void)snprintf(g->other_job, sizeof(g->other_job), "%s", row->keys.job);
    if (is_compared(g, row))
        (void)snprintf(g->own_job, sizeof(g->own_job), "%s", row->keys.job);
    return TM_OK;
}

/* Figures of other definitions are no older values of these. */
static bool has_figures(const struct tm_history_run *row)
{
    bool has = false;

    for (size_t i = 0; i < tm_figure_count; i++)
        has = has || isfinite(row->figure[i]);
    return has && tm_history_is_current(row);
}

static void add_value(struct differences *of, double value, bool is_alike)
{
    if (!is_alike)
        of->last = 0;
    if (!(value > 0))
        return; /* not known, or no share of it can be told */
    if (of->last > 0) {
        const double change = 100 * (value / of->last - 1);

        of->squares += change * change;
        of->count++;
    }
    of->last = value;
}

static tm_status add_run(void *to, const struct tm_history_run *row)
{
    struct gathering *g = to;
    const bool is_alike = g->runs > 0 && strcmp(g->model, row->model) == 0 && g->devices == row->devices;

    if (!has_figures(row) || is_compared(g, row) || strcmp(row->gates, "failed") == 0)
        return TM_OK;
    for (size_t i = 0; i < tm_figure_count; i++)
        add_value(&g->figure[i], row->figure[i], is_alike);
    (void)snprintf(g->model, sizeof(g->model), "%s", row->model);
    g->devices = row->devices;
    g->runs++;
    return TM_OK;
}

static tm_status choose_job(struct gathering *g, struct tm_run *run, const char *path,
                            const struct tm_run_operand *operand)
{
    if (operand->label_length > 0 && operand->label_length < sizeof(g->own_job)) {
        memcpy(g->own_job, operand->label, operand->label_length);
        g->own_job[operand->label_length] = '\0';
    } else if (!*g->own_job && *g->other_job) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                      "cannot use '%s' for --history: it has several jobs, and none of the runs is in it", path);
        tm_hint(&run->error, "name the job: --history JOB=%s", path);
        return TM_ERR_USAGE;
    } else if (!*g->own_job) {
        memcpy(g->own_job, g->job, sizeof(g->own_job));
    }
    g->wanted = g->own_job;
    return TM_OK;
}

static tm_status find_in_history(struct tm_run_spread *spread, struct tm_run *run, const char *text,
                                 struct gathering *g)
{
    struct tm_history *history = NULL;
    char until[11];
    struct tm_run_operand operand;
    tm_status st;

    tm_run_operand_read(&operand, text);
    tm_history_until(until);
    st = tm_history_open(&history, run, operand.path);
    if (st == TM_OK)
        st = tm_history_visit(history, &(struct tm_history_query){ .order = TM_HISTORY_BY_JOB, .until = until },
                              look_at_job, g);
    if (st == TM_OK)
        st = choose_job(g, run, operand.path, &operand);
    if (st == TM_OK)
        st = tm_history_visit(
            history, &(struct tm_history_query){ .order = TM_HISTORY_BY_JOB, .job = g->wanted, .until = until }, add_run, g);
    tm_history_close(history);
    if (st != TM_OK)
        return st;
    for (size_t i = 0; i < tm_figure_count; i++) {
        const double count = (double)g->figure[i].count;

        if (g->figure[i].count >= DIFFERENCES_LEAST && !tm_figure_table[i].parts)
            spread->figure[spread->count++] =
                (struct tm_spread){ tm_figure_table[i].path,
                                    tm_student_quantile(0.995, count) * sqrt(g->figure[i].squares / count) };
    }
    if (spread->count == 0)
        (void)fprintf(stderr,
                      "tracemill: warning: the history has %zu runs of '%s' to compare, at least %d are needed for the run-to-run spread\n",
                      g->runs, g->wanted, DIFFERENCES_LEAST + 1);
    (void)snprintf(spread->from, sizeof(spread->from),
                   "%zu runs of '%.200s' in the history, 99 %% of their differences", g->runs, g->wanted);
    return TM_OK;
}

static tm_status read_pct(struct tm_run_spread *spread, struct tm_run *run, const char *text)
{
    struct tm_wrong wrong = { "it is no percentage", NULL };
    struct tm_gate_limit limit;

    if (tm_gate_limit_read(text, &limit, &wrong) && (limit.kind == TM_IN_PERCENT || limit.kind == TM_IN_BARE) &&
        limit.number >= 0 && limit.number <= 1000) {
        spread->figure[spread->count++] = (struct tm_spread){ "steps.mean_ps", limit.number };
        spread->figure[spread->count++] = (struct tm_spread){ "steps.median_ps", limit.number };
        (void)snprintf(spread->from, sizeof(spread->from), "--run-spread");
        return TM_OK;
    }
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%s' for --run-spread: it is no percentage", text);
    tm_hint(&run->error, "write it as 3 or 3%%");
    return TM_ERR_USAGE;
}

tm_status tm_run_spread_find(struct tm_run_spread *spread, struct tm_run *run, const struct tm_options *options,
                             const struct tm_loaded_run *loaded, size_t count)
{
    struct gathering *g;
    tm_status st;

    *spread = (struct tm_run_spread){ .count = 0 };
    if (options->run_spread)
        return read_pct(spread, run, options->run_spread);
    if (!options->history)
        return TM_OK;
    g = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*g), &run->error);
    if (!g)
        return run->error.status;
    g->loaded = loaded;
    g->count = count;
    st = find_in_history(spread, run, options->history, g);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, g, sizeof(*g));
    return st;
}
