/* SPDX-License-Identifier: Apache-2.0 */
/* For each kind of machine that a job had, three rings of its last runs: one for each grade. */
#include "pipeline/commands/night_baseline.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/batch/result.h"

enum grade { PASSED, WHOLE, PARTIAL, GRADES };

struct ring {
    size_t added; /* ever: the newest is at (added - 1) % most */
    struct tm_past_run *run;
};

/* The runs of the job on one kind of machine. */
struct machine {
    struct machine *next;
    int64_t hosts, devices;
    char model[TM_KEY_BYTES];
    uint64_t reports, failed, older, pruned; /* runs that had a report; of them */
    struct ring ring[GRADES];
    struct tm_past_run room[]; /* for all rings */
};

struct tm_job_past {
    struct tm_run *run;
    struct tm_baseline_choice choice;
    struct machine *machines;
    uint64_t reports;
};

/* --- what --baseline says --- */

static tm_status refuse(struct tm_run *run, const char *text, const char *reason)
{
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use --baseline '%.100s': %s", text, reason);
    tm_hint(&run->error, "a batch takes last-good, median:N with N from 1 to %d, night:YYYY-MM-DD, label:LABEL, or paths",
            TM_BASELINE_RUNS_MOST);
    return TM_ERR_USAGE;
}

static const char *behind(const char *text, const char *word)
{
    const size_t length = strlen(word);

    return strncmp(text, word, length) == 0 ? text + length : NULL;
}

static tm_status read_count(struct tm_run *run, const char *text, const char *digits, size_t *count)
{
    char *end;
    const unsigned long number = *digits >= '0' && *digits <= '9' ? strtoul(digits, &end, 10) : 0;

    if (number < 1 || *end || number > TM_BASELINE_RUNS_MOST)
        return refuse(run, text, "that is no number of runs from 1 to 64");
    *count = number;
    return TM_OK;
}

bool tm_baseline_is_word(const char *text)
{
    return strcmp(text, "last-good") == 0 || behind(text, "median:") || behind(text, "night:") || behind(text, "label:");
}

/* in: text  is a word */
static tm_status read_word(struct tm_run *run, const char *text, struct tm_baseline_choice *choice)
{
    const char *rest;

    if (strcmp(text, "last-good") == 0) {
        choice->most = 1;
        return TM_OK;
    }
    if ((rest = behind(text, "median:")))
        return read_count(run, text, rest, &choice->most);
    choice->most = TM_BASELINE_RUNS_MOST;
    if ((rest = behind(text, "night:"))) {
        choice->kind = TM_BASELINE_NIGHT;
        choice->text = rest;
        return tm_is_night(rest) ? TM_OK : refuse(run, text, "that is no night, as in night:2026-11-21");
    }
    choice->kind = TM_BASELINE_LABEL;
    choice->text = text + strlen("label:");
    return *choice->text ? TM_OK : refuse(run, text, "the label is empty");
}

tm_status tm_baseline_choice_read(struct tm_run *run, const struct tm_texts *baseline,
                                  struct tm_baseline_choice *choice)
{
    *choice = (struct tm_baseline_choice){ .kind = TM_BASELINE_LAST, .most = TM_BASELINE_RUNS };
    (void)snprintf(choice->told, sizeof(choice->told), "median:%d", TM_BASELINE_RUNS);
    for (size_t i = 0; i < baseline->count; i++) {
        const bool is_word = tm_baseline_is_word(baseline->text[i]);
        const tm_status st = is_word ? read_word(run, baseline->text[i], choice) : TM_OK;

        if (st != TM_OK)
            return st;
        if (is_word && baseline->count > 1)
            return refuse(run, baseline->text[i], "it stands alone or not at all");
        if (!is_word)
            choice->kind = TM_BASELINE_PATHS;
        (void)snprintf(choice->told, sizeof(choice->told), "%s", is_word ? baseline->text[i] : "");
    }
    return TM_OK;
}

/* --- the past --- */

static size_t machine_bytes(const struct tm_job_past *past)
{
    return sizeof(struct machine) + GRADES * past->choice.most * sizeof(struct tm_past_run);
}

struct tm_job_past *tm_job_past_new(struct tm_run *run, const struct tm_baseline_choice *choice)
{
    struct tm_job_past *past = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*past), &run->error);

    if (past) {
        past->run = run;
        past->choice = *choice;
    }
    return past;
}

void tm_job_past_forget(struct tm_job_past *past)
{
    while (past->machines) {
        struct machine *const next = past->machines->next;

        tm_give(&past->run->budget, TM_ACCOUNT_MODEL, past->machines, machine_bytes(past));
        past->machines = next;
    }
    past->reports = 0;
}

void tm_job_past_free(struct tm_job_past *past)
{
    if (!past)
        return;
    tm_job_past_forget(past);
    tm_give(&past->run->budget, TM_ACCOUNT_MODEL, past, sizeof(*past));
}

static struct machine *find_machine(const struct tm_job_past *past, const struct tm_history_run *row)
{
    struct machine *m = past->machines;

    while (m && (m->hosts != row->hosts || m->devices != row->devices ||
                 strncmp(m->model, row->model, sizeof(m->model) - 1) != 0))
        m = m->next;
    return m;
}

static struct machine *add_machine(struct tm_job_past *past, const struct tm_history_run *row)
{
    struct machine *const m =
        tm_take(&past->run->budget, TM_ACCOUNT_MODEL, machine_bytes(past), &past->run->error);

    if (!m)
        return NULL;
    *m = (struct machine){ .next = past->machines, .hosts = row->hosts, .devices = row->devices };
    (void)snprintf(m->model, sizeof(m->model), "%s", row->model);
    for (size_t i = 0; i < GRADES; i++)
        m->ring[i].run = m->room + i * past->choice.most;
    past->machines = m;
    return m;
}

static bool is_meant(const struct tm_baseline_choice *choice, const struct tm_history_run *row)
{
    switch (choice->kind) {
    case TM_BASELINE_LAST:
        return true;
    case TM_BASELINE_NIGHT:
        return strcmp(row->keys.night, choice->text) == 0;
    case TM_BASELINE_LABEL:
        return strcmp(row->keys.label, choice->text) == 0;
    case TM_BASELINE_PATHS:
        break;
    }
    return false;
}

static void put(struct ring *ring, size_t most, const struct tm_history_run *row)
{
    struct tm_past_run *const at = &ring->run[ring->added++ % most];

    (void)snprintf(at->id, sizeof(at->id), "%s", row->id);
    (void)snprintf(at->summary, sizeof(at->summary), "%s", row->summary);
    (void)snprintf(at->night, sizeof(at->night), "%s", row->keys.night);
    (void)snprintf(at->revision, sizeof(at->revision), "%s", row->keys.revision);
    (void)snprintf(at->label, sizeof(at->label), "%s", row->keys.label);
    at->when_ns = row->keys.when_ns;
}

tm_status tm_job_past_add(struct tm_job_past *past, const struct tm_history_run *row, const char *gates)
{
    const bool is_done = strcmp(row->status, tm_result_status_words[TM_RESULT_DONE]) == 0,
               is_partial = strcmp(row->status, tm_result_status_words[TM_RESULT_PARTIAL]) == 0;
    struct machine *m;

    if (!is_meant(&past->choice, row) || (!is_done && !is_partial))
        return TM_OK;
    m = find_machine(past, row);
    if (!m && !(m = add_machine(past, row)))
        return TM_ERR_LIMIT;
    past->reports++;
    m->reports++;
    if (strcmp(gates, "failed") == 0)
        m->failed++;
    else if (!tm_history_is_current(row))
        m->older++;
    else if (!*row->summary)
        m->pruned++;
    else
        put(&m->ring[strcmp(gates, "passed") == 0 ? PASSED : is_done ? WHOLE : PARTIAL], past->choice.most, row);
    return TM_OK;
}

/* --- the choice --- */

/* The newest of a ring, the newest first. */
static size_t take(const struct ring *ring, size_t ring_room, size_t most, const struct tm_past_run **to)
{
    const size_t held = ring->added < ring_room ? ring->added : ring_room;
    const size_t count = held < most ? held : most;

    for (size_t i = 0; i < count; i++)
        to[i] = &ring->run[(ring->added - 1 - i) % ring_room];
    return count;
}

static void tell_count(struct tm_no_baseline *none, uint64_t count, const char *what)
{
    const size_t used = strlen(none->why);

    if (count)
        (void)snprintf(none->why + used, sizeof(none->why) - used, "%s%llu %s", strchr(none->why, ':') ? ", " : ": ",
                       (unsigned long long)count, what);
}

static void tell_none(const struct tm_job_past *past, const struct machine *m, struct tm_no_baseline *none)
{
    static const char *const first[] = { "this is the first run of the job", "that night has no run of the job",
                                         "no run of the job before it has that label", "" };
    static const char *const later[] = { "no good run of the job before it", "that night has no good run of the job",
                                         "no good run of the job before it has that label", "" };

    none->is_new = past->reports == 0;
    (void)snprintf(none->why, sizeof(none->why), "%s", (none->is_new ? first : later)[past->choice.kind]);
    tell_count(none, m ? m->failed : 0, "failed their gates");
    tell_count(none, past->reports - (m ? m->reports : 0), "ran on other hosts or devices");
    tell_count(none, m ? m->older : 0, "have figures that an older tracemill defined differently");
    tell_count(none, m ? m->pruned : 0, "were pruned");
}

static int by_time(const void *a, const void *b)
{
    const struct tm_past_run *const *x = a, *const *y = b;

    if ((*x)->when_ns != (*y)->when_ns)
        return (*x)->when_ns < (*y)->when_ns ? -1 : 1;
    return strcmp((*x)->id, (*y)->id);
}

static size_t choose_of(const struct machine *m, size_t most, const struct tm_past_run *chosen[TM_BASELINE_RUNS_MOST])
{
    size_t count = take(&m->ring[PASSED], most, most, chosen);

    count += take(&m->ring[WHOLE], most, most - count, chosen + count);
    return count ? count : take(&m->ring[PARTIAL], most, most, chosen);
}

size_t tm_job_past_choose(const struct tm_job_past *past, const struct tm_history_run *row,
                          const struct tm_past_run *chosen[TM_BASELINE_RUNS_MOST], struct tm_no_baseline *none)
{
    const struct machine *const m = find_machine(past, row);
    const size_t count = m ? choose_of(m, past->choice.most, chosen) : 0;

    *none = (struct tm_no_baseline){ .is_new = false };
    if (count == 0)
        tell_none(past, m, none);
    qsort(chosen, count, sizeof(chosen[0]), by_time);
    return count;
}

void tm_job_past_visit(const struct tm_job_past *past, void (*take_run)(void *of, const struct tm_past_run *run),
                       void *of)
{
    for (const struct machine *m = past->machines; m; m = m->next) {
        const struct tm_past_run *chosen[TM_BASELINE_RUNS_MOST];
        const size_t count = choose_of(m, past->choice.most, chosen);

        for (size_t i = 0; i < count; i++)
            take_run(of, chosen[i]);
    }
}
