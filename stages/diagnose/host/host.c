/* SPDX-License-Identifier: Apache-2.0 */
/* What the hosts did, the stage: opens the tables of the run, and gives each event to those who ask for it. */
#include "stages/diagnose/host/host.h"

#include "stages/diagnose/host/host_private.h"

/* --- how rows are folded --- */

static void merge_calls(void *into, const void *from)
{
    struct call_row *a = into;
    const struct call_row *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->self_ps = tm_sum_times(a->self_ps, b->self_ps);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
}

static void merge_syncs(void *into, const void *from)
{
    struct sync_row *a = into;
    const struct sync_row *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->total_ps = tm_sum_times(a->total_ps, b->total_ps);
    tm_longest_merge(&a->longest, &b->longest);
}

/* --- the stage --- */

static tm_status open_stage(struct tm_stage *s)
{
    struct host *h = s->state;
    struct tm_run *run = s->run;

    h->run = run;
    h->settings = s->settings;
    h->calls = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct call_row), host_memory(run, HOST_CALLS),
                             merge_calls);
    h->syncs = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct sync_row), host_memory(run, HOST_SYNCS),
                             merge_syncs);
    h->delays = tm_lengths_new(run, TM_ACCOUNT_TABLES, host_memory(run, HOST_DELAYS));
    h->threads = tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct thread_row), host_memory(run, HOST_THREADS),
                                   8 << 10);
    h->hosts = tm_rows_new_paged(run, TM_ACCOUNT_TABLES, sizeof(struct host_row), 0, 8 << 10);
    if (!h->calls || !h->syncs || !h->delays || !h->threads || !h->hosts)
        return run->error.status;
    return tm_front_init(&h->front, run, TM_ACCOUNT_TABLES, sizeof(struct host_call), host_memory(run, HOST_FRONT),
                         h->calls);
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct host *h = s->state;
    tm_status st;

    h->trace = trace;
    h->names = trace->names;
    h->has_steps |= trace->steps.source != TM_STEPS_SESSION;
    st = host_begin_launches(h);
    return st == TM_OK ? host_begin_calls(h) : st;
}

static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    struct host *h = s->state;

    if (!tm_is_on_accelerator(h->trace, event))
        return host_take_span(h, event);
    return event->level != TM_LEVEL_NONE ? host_take_activity(h, event) : TM_OK;
}

static tm_status end_host(struct tm_stage *s)
{
    struct host *h = s->state;
    tm_status st = host_end_launches(h);

    if (st == TM_OK)
        st = host_end_calls(h);
    h->trace = NULL;
    return st;
}

static void close_stage(struct tm_stage *s)
{
    struct host *h = s->state;

    if (!h->run)
        return;
    host_free_launches(h);
    host_free_calls(h);
    tm_front_release(&h->front);
    tm_groups_free(h->calls);
    tm_groups_free(h->syncs);
    tm_lengths_free(h->delays);
    tm_rows_free(h->threads);
    tm_rows_free(h->hosts);
}

const struct tm_stage_type tm_host_stage = {
    .name = "host",
    .summary = "what the hosts did: launches, waits, functions, threads",
    .state_bytes = sizeof(struct host),
    .classes = TM_CLASSES_ALL,
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = tm_host_report,
    .save = tm_host_save,
    .load = tm_host_load,
    .close = close_stage,
};
