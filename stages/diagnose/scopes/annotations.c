/* SPDX-License-Identifier: Apache-2.0 */
/* Host annotations.  Events come in the order of their begins: once an activity comes, all annotations are there that
 * had begun before it, so also those that were open at its launch.  Activities whose clock is so far behind that they
 * come before their launch wait until the host ends.  What began before the chosen steps is open when they begin, the
 * longest one outermost: it is put in that order first. */
#include "stages/diagnose/scopes/annotations.h"

#include "pipeline/sorter.h"
#include "stages/diagnose/scopes/annotations_private.h"
#include "stages/resolve/classes.h"

/* An annotation that is open as the chosen steps begin. */
struct lead {
    int64_t dur_ps; /* from there on */
    uint32_t track;
    tm_strid name;
};

static int by_thread_and_length(const void *a, const void *b)
{
    const struct lead *x = a, *y = b;

    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return (x->dur_ps < y->dur_ps) - (x->dur_ps > y->dur_ps);
}

enum { EARLY_PAGE_BYTES = 4 << 10 };

static void merge_rows(void *into, const void *from)
{
    struct annotation_row *a = into;
    const struct annotation_row *b = from;

    a->count = tm_sum_counts(a->count, b->count);
    a->activities = tm_sum_counts(a->activities, b->activities);
    a->host_ps = tm_sum_times(a->host_ps, b->host_ps);
    a->host_self_ps = tm_sum_times(a->host_self_ps, b->host_self_ps);
    a->device_ps = tm_sum_times(a->device_ps, b->device_ps);
}

struct annotations *tm_annotations_new(struct tm_run *run)
{
    struct annotations *a = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*a), &run->error);

    if (!a)
        return NULL;
    a->run = run;
    a->rows = tm_groups_new(run, TM_ACCOUNT_TABLES, sizeof(struct annotation_row),
                            annotations_memory(run, ANNOTATION_ROWS), merge_rows);
    if (a->rows)
        return a;
    tm_annotations_free(a);
    return NULL;
}

static void close_host(struct annotations *a)
{
    close_spans(a);
    tm_sorter_free(a->leads);
    tm_rows_free(a->early);
    a->leads = NULL;
    a->early = NULL;
}

void tm_annotations_free(struct annotations *a)
{
    if (!a)
        return;
    close_host(a);
    tm_groups_free(a->rows);
    tm_give(&a->run->budget, TM_ACCOUNT_TABLES, a, sizeof(*a));
}

/* --- a host --- */

/* From the first chosen step marker's begin to the last one's end; all of time where steps are not the host's. */
static tm_status find_window(struct annotations *a)
{
    const struct tm_steps *steps = &a->trace->steps;
    const struct tm_step_mark *mark;

    a->begin_ps = INT64_MIN;
    a->end_ps = INT64_MAX;
    if (steps->all || steps->source != TM_STEPS_HOST || steps->chosen_begin >= steps->chosen_end)
        return TM_OK;
    mark = tm_rows_at(steps->marks, steps->chosen_begin);
    if (!mark)
        return a->run->error.status;
    a->begin_ps = mark->begin_ps;
    mark = tm_rows_at(steps->marks, steps->chosen_end - 1);
    if (!mark)
        return a->run->error.status;
    a->end_ps = tm_sum_times(mark->begin_ps, mark->dur_ps);
    return TM_OK;
}

tm_status tm_annotations_begin(struct annotations *a, const struct tm_trace *trace)
{
    a->trace = trace;
    a->names = trace->names;
    a->has_host_events |= trace->main_track != TM_NONE;
    a->leads = tm_sorter_new(a->run, TM_ACCOUNT_TABLES, sizeof(struct lead),
                             annotations_memory(a->run, ANNOTATION_LEADS), by_thread_and_length);
    a->early = tm_rows_new_paged(a->run, TM_ACCOUNT_TABLES, sizeof(struct launch),
                                 annotations_memory(a->run, ANNOTATION_EARLY), EARLY_PAGE_BYTES);
    if (!a->leads || !a->early || open_spans(a) != TM_OK)
        return a->run->error.status;
    return find_window(a);
}

/* The chosen steps have begun. */
static tm_status take_leads(struct annotations *a)
{
    const void *row = NULL;
    tm_status st = a->leads ? tm_sorter_finish(a->leads) : TM_OK;

    while (a->leads && st == TM_OK && (st = tm_sorter_next(a->leads, &row)) == TM_OK && row) {
        const struct lead *lead = row;

        st = begin_span(a, lead->track, a->begin_ps, lead->dur_ps, lead->name);
    }
    tm_sorter_free(a->leads);
    a->leads = NULL;
    return st;
}

/* Whether the program made it: also where its name tells that it waits for input. */
static tm_status is_annotation(const struct annotations *a, const struct tm_event *event, bool *is)
{
    const struct tm_track *track;

    *is = event->record.class == TM_CLASS_ANNOTATION && event->record.kind == TM_SPAN;
    if (*is || event->record.class != TM_CLASS_INPUT || event->record.kind != TM_SPAN ||
        event->traits & (TM_TRAIT_PYTHON | TM_TRAIT_RUNTIME))
        return TM_OK;
    track = tm_rows_at(a->trace->tracks, event->record.track);
    if (!track)
        return a->run->error.status;
    *is = track->is_user && a->trace->origin != TM_ORIGIN_PYTORCH; /* there ops and functions are classed so, too */
    return TM_OK;
}

static tm_status take_annotation(struct annotations *a, const struct tm_record *record)
{
    const int64_t end_ps = tm_sum_times(record->start_ps, record->dur_ps);
    const int64_t until_ps = end_ps < a->end_ps ? end_ps : a->end_ps;

    if (until_ps < record->start_ps || until_ps < a->begin_ps)
        return TM_OK;
    if (a->leads) {
        const struct lead lead = { until_ps - a->begin_ps, record->track, record->name };

        return tm_sorter_push(a->leads, &lead);
    }
    return begin_span(a, record->track, record->start_ps, until_ps - record->start_ps, record->name);
}

static tm_status take_launch(struct annotations *a, const struct tm_event *event)
{
    const struct launch launch = { event->launch_start_ps, event->record.dur_ps, event->launch_track, event->device };

    a->launched++;
    if (launch.at_ps < a->begin_ps)
        return TM_OK;
    return launch.at_ps < event->record.start_ps ? add_launch(a, &launch) : tm_rows_append(a->early, &launch);
}

tm_status tm_annotations_take(struct annotations *a, const struct tm_event *event)
{
    bool is = false;
    tm_status st = TM_OK;

    if (a->leads && event->record.start_ps > a->begin_ps)
        st = take_leads(a);
    if (st != TM_OK)
        return st;
    if (event->chosen && event->level != TM_LEVEL_NONE && event->launch_track != TM_NONE)
        return take_launch(a, event);
    st = is_annotation(a, event, &is);
    return st == TM_OK && is ? take_annotation(a, &event->record) : st;
}

static tm_status take_early(struct annotations *a)
{
    const uint64_t count = tm_rows_count(a->early);
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        const struct launch *early = tm_rows_at(a->early, i);

        st = early ? add_launch(a, early) : a->run->error.status;
    }
    return st;
}

tm_status tm_annotations_end(struct annotations *a)
{
    tm_status st = take_leads(a);

    if (st == TM_OK)
        st = take_early(a);
    if (st == TM_OK)
        st = add_up_launches(a);
    if (st == TM_OK)
        st = add_up_spans(a);
    close_host(a);
    return st;
}
