/* SPDX-License-Identifier: Apache-2.0 */
/* Host annotations.  An activity may come long after its launch, when the annotations around it are over, so both are
 * set down as marks of the launching thread and put in order at the end of each host. */
#include "stages/diagnose/scopes/annotations.h"

#include "pipeline/sorter.h"
#include "stages/diagnose/scopes/annotations_private.h"
#include "stages/resolve/classes.h"

/* An annotation, or the launch of an activity, on a thread. */
struct mark {
    int64_t start_ps;
    int64_t dur_ps;    /* of the annotation, or of the activity */
    uint32_t track;
    tm_strid name;     /* of the annotation */
    uint8_t is_launch;
};

static int by_thread_and_time(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;

    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->is_launch != y->is_launch)
        return x->is_launch ? 1 : -1;
    if (x->is_launch || x->dur_ps == y->dur_ps)
        return 0;
    return x->dur_ps > y->dur_ps ? -1 : 1;
}

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

void tm_annotations_free(struct annotations *a)
{
    if (!a)
        return;
    tm_sorter_free(a->marks);
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
    a->marks = tm_sorter_new(a->run, TM_ACCOUNT_TABLES, sizeof(struct mark),
                             annotations_memory(a->run, ANNOTATION_MARKS), by_thread_and_time);
    return a->marks ? find_window(a) : a->run->error.status;
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
    const int64_t from_ps = record->start_ps > a->begin_ps ? record->start_ps : a->begin_ps;
    const int64_t until_ps = end_ps < a->end_ps ? end_ps : a->end_ps;
    const struct mark mark = { .start_ps = from_ps,
                               .dur_ps = until_ps - from_ps,
                               .track = record->track,
                               .name = record->name };

    return until_ps < from_ps ? TM_OK : tm_sorter_push(a->marks, &mark);
}

static tm_status take_launch(struct annotations *a, const struct tm_event *event)
{
    const struct tm_track *track = tm_rows_at(a->trace->tracks, event->launch_track);
    const struct mark mark = { .start_ps = event->launch_start_ps,
                               .dur_ps = event->record.dur_ps,
                               .track = event->launch_track,
                               .is_launch = 1 };

    if (!track)
        return a->run->error.status;
    a->launched++;
    /* PyTorch's categories tell annotations on any thread; else there are none beside what the user's lines hold. */
    return track->is_user || a->trace->origin == TM_ORIGIN_PYTORCH ? tm_sorter_push(a->marks, &mark) : TM_OK;
}

tm_status tm_annotations_take(struct annotations *a, const struct tm_event *event)
{
    bool is = false;
    tm_status st;

    if (event->chosen && event->level != TM_LEVEL_NONE && event->launch_track != TM_NONE)
        return take_launch(a, event);
    st = is_annotation(a, event, &is);
    return st == TM_OK && is ? take_annotation(a, &event->record) : st;
}

/* --- the tree --- */

/* An annotation that is open. */
struct open_annotation {
    struct annotation_row row;
    int64_t end_ps, inner_ps; /* inner_ps: of it, what annotations in it take */
};

struct stack {
    struct open_annotation open[ANNOTATION_DEPTH_MOST];
    uint32_t depth, track;
};

static tm_status close_until(struct annotations *a, struct stack *s, int64_t now_ps)
{
    tm_status st = TM_OK;

    while (st == TM_OK && s->depth && s->open[s->depth - 1].end_ps <= now_ps) {
        struct open_annotation *top = &s->open[--s->depth];

        top->row.host_self_ps = top->row.host_ps > top->inner_ps ? top->row.host_ps - top->inner_ps : 0;
        a->host_self_ps = tm_sum_times(a->host_self_ps, top->row.host_self_ps);
        st = tm_groups_add(a->rows, &top->row);
    }
    return st;
}

static tm_status open_one(struct annotations *a, struct stack *s, const struct mark *mark)
{
    struct open_annotation *outer = s->depth ? &s->open[s->depth - 1] : NULL;
    const int64_t end_ps = tm_sum_times(mark->start_ps, mark->dur_ps);
    struct tm_key link[2] = { { 0, 0 }, { 0, 0 } };
    struct tm_name name;
    const tm_status st = tm_names_info(a->names, mark->name, &name);

    if (st != TM_OK)
        return st;
    if (s->depth == ANNOTATION_DEPTH_MOST) {
        tm_tally_add(&a->run->tallies, TM_TALLY_DEEP_NESTING, 1);
        return TM_OK;
    }
    if (outer) {
        outer->inner_ps += (end_ps < outer->end_ps ? end_ps : outer->end_ps) - mark->start_ps;
        link[0] = outer->row.node.key;
    }
    link[1] = name.hash;
    s->open[s->depth] = (struct open_annotation){
        .row = { .node = { tm_hash_key(link, sizeof(link)), link[0] },
                 .count = 1,
                 .host_ps = mark->dur_ps,
                 .name = mark->name,
                 .depth = s->depth + 1 },
        .end_ps = end_ps,
    };
    s->depth++;
    return TM_OK;
}

/* An activity belongs to all annotations that are open at its launch. */
static void add_launch(struct annotations *a, struct stack *s, const struct mark *mark)
{
    bool is_inside = false;

    for (uint32_t i = 0; i < s->depth; i++) {
        struct open_annotation *open = &s->open[i];

        if (open->end_ps <= mark->start_ps)
            continue;
        open->row.activities++;
        open->row.device_ps = tm_sum_times(open->row.device_ps, mark->dur_ps);
        is_inside = true;
    }
    if (!is_inside)
        return;
    a->inside++;
    a->inside_ps = tm_sum_times(a->inside_ps, mark->dur_ps);
}

static tm_status build(struct annotations *a, struct stack *s)
{
    const void *row = NULL;
    tm_status st = tm_sorter_finish(a->marks);

    while (st == TM_OK && (st = tm_sorter_next(a->marks, &row)) == TM_OK && row) {
        const struct mark *mark = row;

        st = close_until(a, s, mark->track == s->track ? mark->start_ps : INT64_MAX);
        s->track = mark->track;
        if (st == TM_OK && mark->is_launch)
            add_launch(a, s, mark);
        else if (st == TM_OK)
            st = open_one(a, s, mark);
    }
    return st == TM_OK ? close_until(a, s, INT64_MAX) : st;
}

tm_status tm_annotations_end(struct annotations *a)
{
    struct stack *s = tm_take(&a->run->budget, TM_ACCOUNT_TABLES, sizeof(*s), &a->run->error);
    const tm_status st = s ? build(a, s) : a->run->error.status;

    tm_give(&a->run->budget, TM_ACCOUNT_TABLES, s, s ? sizeof(*s) : 0);
    tm_sorter_free(a->marks);
    a->marks = NULL;
    return st;
}
