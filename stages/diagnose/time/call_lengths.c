/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of calls by name.  Memory: rows by name, which spill. */
#include "stages/diagnose/time/call_lengths.h"

#include "pipeline/front.h"
#include "stages/diagnose/sums.h"

struct tm_call_lengths {
    struct tm_run *run;
    struct tm_names *names;
    struct tm_groups *groups;
    struct tm_front front;
};

static void add_row(void *into, const void *from)
{
    struct tm_call_lengths_row *to = into;
    const struct tm_call_lengths_row *more = from;

    to->count = tm_sum_counts(to->count, more->count);
    to->long_count = tm_sum_counts(to->long_count, more->long_count);
    to->short_ps = tm_sum_times(to->short_ps, more->short_ps);
}

struct tm_call_lengths *tm_call_lengths_new(struct tm_run *run, struct tm_names *names)
{
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_THREADS);
    struct tm_call_lengths *l = tm_take(&run->budget, TM_ACCOUNT_THREADS, sizeof(*l), &run->error);

    if (!l)
        return NULL;
    *l = (struct tm_call_lengths){ .run = run, .names = names };
    l->groups = tm_groups_new(run, TM_ACCOUNT_THREADS, sizeof(struct tm_call_lengths_row), share / 16, add_row);
    if (l->groups && tm_front_init(&l->front, run, TM_ACCOUNT_THREADS, sizeof(struct tm_call_lengths_row), share / 16,
                                   l->groups) == TM_OK)
        return l;
    tm_call_lengths_free(l);
    return NULL;
}

void tm_call_lengths_free(struct tm_call_lengths *l)
{
    if (!l)
        return;
    tm_front_release(&l->front);
    tm_groups_free(l->groups);
    tm_give(&l->run->budget, TM_ACCOUNT_THREADS, l, sizeof(*l));
}

tm_status tm_call_lengths_take(struct tm_call_lengths *l, const struct tm_event *event)
{
    const int64_t dur_ps = event->record.dur_ps;
    bool is_new;
    struct tm_call_lengths_row *const row = tm_front_at(&l->front, (uint64_t)event->record.name + 1, &is_new);

    if (!row)
        return l->run->error.status;
    if (is_new) {
        struct tm_name info;
        const tm_status st = tm_names_info(l->names, event->record.name, &info);

        if (st != TM_OK)
            return st;
        row->key = info.hash;
    }
    row->count++;
    if (dur_ps >= TM_LONG_CALL_PS)
        row->long_count++;
    else
        row->short_ps = tm_sum_times(row->short_ps, dur_ps);
    return TM_OK;
}

tm_status tm_call_lengths_finish(struct tm_call_lengths *l)
{
    const tm_status st = tm_front_flush(&l->front);

    return st == TM_OK ? tm_groups_finish(l->groups) : st;
}

tm_status tm_call_lengths_next(struct tm_call_lengths *l, const struct tm_call_lengths_row **row)
{
    const void *next;
    const tm_status st = tm_groups_next(l->groups, &next);

    *row = next;
    return st;
}
