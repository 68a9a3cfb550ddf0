/* SPDX-License-Identifier: Apache-2.0 */
/* Host annotations.  Events come in the order of their starts: when an activity comes, all annotations that started
 * before it are known, including those that were open at its launch.  Activities whose clock is so far behind that they
 * come before their launch wait until the host ends.  Annotations that started before the analyzed steps may be open
 * when those start; they are sorted first, the longest one outermost. */

#include <string.h>

#include "pipeline/stage.h"
#include "pipeline/store/sorter.h"
#include "stages/figures/fields.h"
#include "stages/figures/figure_rows.h"
#include "stages/figures/scopes.h"
#include "stages/resolve/classes.h"

enum { ANNOTATION_DEPTH_MOST = 64 }; /* annotations in each other; deeper ones count as the one around them */

/* An annotation by its name and those of the annotations around it. */
struct annotation_row {
    struct tm_tree_node node;
    uint64_t count, activities;
    int64_t host_ps, host_self_ps, device_ps;
    tm_strid name;
    uint32_t depth; /* 0 = in no other */
};

/* An annotation that was recorded, clipped to the analyzed steps. */
struct annotation_span {
    struct tm_key key; /* of its name and those around it */
    int64_t start_ps, host_ps;
    int64_t inner_ps; /* of host_ps, what annotations in it take */
    int64_t device_ps;
    uint64_t activities;
    tm_strid name;
    uint32_t around;       /* number of the one around it, from 1 on; 0 = none */
    uint32_t before, jump; /* of those that started before on its thread, 0 = none: the last one, another one */
    uint32_t after;        /* the next one on its thread; 0 = none yet */
    uint32_t ordinal;      /* how many started before on its thread */
    uint32_t depth;        /* 1 = in no other */
};

static inline int64_t annotation_end(const struct annotation_span *span)
{
    return tm_sum_times(span->start_ps, span->host_ps);
}

/* The annotations of a thread. */
struct annotation_thread {
    uint32_t last, open; /* numbers of spans, 0 = none: the last one that started, the innermost one that may be open */
    uint32_t found;      /* the one that was requested last */
    bool takes_launches; /* as `last` was set */
};

/* The launch of an activity. */
struct launch {
    int64_t at_ps, device_ps;
    uint32_t track, device; /* track: of the launch */
};

/* Shares of the memory for the tables of the stage `scopes`, in 32nds. */
enum { ANNOTATION_ROWS = 6, ANNOTATION_SPANS = 4, ANNOTATION_LEADS = 1, ANNOTATION_EARLY = 1 };

static inline size_t annotations_memory(struct tm_run *run, int parts)
{
    return tm_tables_memory(run, TM_TABLES_SCOPES, 32, (unsigned)parts);
}

static inline const struct annotation_span *span_at(struct annotations *a, uint32_t number)
{
    return tm_rows_at(a->spans, number - 1);
}

/* Annotations in a partial: the sums, and the rows in the order of their keys. */

#define ROW(member, kind, merge) TM_FIELD(struct annotation_row, member, kind, merge)

static const struct tm_row_field annotation_fields[] = {
    ROW(node, WORD, KEEP),
    ROW(count, COUNT, SUM),
    ROW(activities, COUNT, SUM),
    ROW(host_ps, TIME, SUM),
    ROW(host_self_ps, TIME, SUM),
    ROW(device_ps, TIME, SUM),
    ROW(name, NAME, KEEP),
    TM_FIELD_BELOW(struct annotation_row, depth, U32, KEEP, ANNOTATION_DEPTH_MOST),
    TM_FIELDS_END,
};

static const struct tm_row_field sum_fields[] = {
    TM_FIELD(struct annotations, launched, COUNT, SUM),       TM_FIELD(struct annotations, inside, COUNT, SUM),
    TM_FIELD(struct annotations, inside_ps, TIME, SUM),       TM_FIELD(struct annotations, host_self_ps, TIME, SUM),
    TM_FIELD(struct annotations, has_host_events, BOOL, ANY), TM_FIELDS_END,
};

tm_status tm_annotations_save(struct annotations *a, struct tm_partial_writer *w)
{
    tm_fields_save(w, sum_fields, a);
    tm_fields_save_groups(w, annotation_fields, a->rows);
    return a->run->error.status;
}

tm_status tm_annotations_load(struct annotations *a, struct tm_partial_reader *r)
{
    a->names = tm_partial_names(r);
    tm_fields_load_more(r, sum_fields, a);
    tm_fields_load_groups(r, annotation_fields, a->rows, NULL, NULL);
    return a->run->error.status;
}

/* The annotations that an activity belongs to: those that were open on the launching thread at its launch.  They are
 * found from the last one that had started by then: it and its parents, unless they had ended.  Launches of a thread
 * mostly come one after the other, and many while the same annotations are open: these are batched, and each search
 * starts at the previous result. */

enum { STEPS_MOST = 8 };

/* --- what had started --- */

/* The last span of a list that starts at or before a time; 0 = none.
 * in:  number  of the last one of the list */
static uint32_t last_begun(struct annotations *a, uint32_t number, int64_t at_ps)
{
    while (number) {
        const struct annotation_span *span = span_at(a, number);
        uint32_t before;

        if (span->start_ps <= at_ps)
            break;
        before = span->before;
        number = span->jump;
        if (number && span_at(a, number)->start_ps <= at_ps) /* too far */
            number = before;
    }
    return number;
}

/* The same for a time at or slightly after the start of `number`: searches a few steps from there; 0 = not found. */
static uint32_t next_begun(struct annotations *a, uint32_t number, int64_t at_ps)
{
    const struct annotation_span *span = number ? span_at(a, number) : NULL;

    for (int i = 0; i < STEPS_MOST && span && span->start_ps <= at_ps; i++) {
        const uint32_t after = span->after;

        span = after ? span_at(a, after) : NULL;
        if (!span || span->start_ps > at_ps)
            return number;
        number = after;
    }
    return 0;
}

/* The number of the span that had started last on a thread by a time; 0 = none.
 * out: *is_told  launches on the thread count */
static uint32_t find_span(struct annotations *a, uint32_t track, int64_t at_ps, bool *is_told)
{
    struct annotation_thread *thread = track < tm_rows_count(a->threads) ? tm_rows_change(a->threads, track) : NULL;

    *is_told = thread && thread->takes_launches;
    if (!*is_told)
        return 0;
    thread->found = next_begun(a, thread->found, at_ps);
    if (!thread->found)
        thread->found = last_begun(a, thread->last, at_ps);
    return thread->found;
}

/* --- batched launches --- */

/* Narrow a stretch of time to where the same annotations are open. */
static void find_bounds(struct annotations *a, int64_t at_ps, struct launches *launches)
{
    const struct annotation_span *span = span_at(a, launches->span);

    launches->from_ps = span->start_ps;
    if (span->after)
        launches->until_ps = span_at(a, span->after)->start_ps;
    for (uint32_t number = launches->span; number; number = span->around) {
        int64_t end_ps;

        span = span_at(a, number);
        end_ps = annotation_end(span);
        if (end_ps <= at_ps)
            launches->from_ps = end_ps > launches->from_ps ? end_ps : launches->from_ps;
        else
            launches->until_ps = end_ps < launches->until_ps ? end_ps : launches->until_ps;
    }
}

TM_NOT_INLINE void begin_launches(struct annotations *a, const struct launch *launch, struct launches *launches)
{
    bool is_told;

    *launches = (struct launches){ .from_ps = INT64_MIN, .until_ps = INT64_MAX, .track = launch->track };
    launches->span = find_span(a, launch->track, launch->at_ps, &is_told);
    if (launches->span) {
        find_bounds(a, launch->at_ps, launches);
    } else if (is_told) { /* before the first one, wherever that is */
        launches->from_ps = launch->at_ps;
        launches->until_ps = launch->at_ps + 1;
    }
}

/* Add the collected activities to those that were open. */
TM_NOT_INLINE void tell_launches(struct annotations *a, struct launches *launches)
{
    bool is_inside = false;
    uint32_t number = launches->activities ? launches->span : 0;

    while (number) {
        struct annotation_span *span = tm_rows_change(a->spans, number - 1);

        number = span->around;
        if (annotation_end(span) <= launches->from_ps)
            continue;
        span->activities += launches->activities;
        span->device_ps = tm_sum_times(span->device_ps, launches->device_ps);
        is_inside = true;
    }
    if (is_inside) {
        a->inside += launches->activities;
        a->inside_ps = tm_sum_times(a->inside_ps, launches->device_ps);
    }
    launches->activities = 0;
}

/* Add an activity to all that were open at its launch.  All that had started by then are already known. */
static inline void add_launch(struct annotations *a, const struct launch *launch)
{
    struct launches *launches = &a->launches[(launch->track * 8 + launch->device) & (ANNOTATION_LAUNCHES - 1)];

    if (launches->track != launch->track || launch->at_ps < launches->from_ps || launch->at_ps >= launches->until_ps) {
        tell_launches(a, launches);
        begin_launches(a, launch, launches);
    }
    launches->activities++;
    launches->device_ps = tm_sum_times(launches->device_ps, launch->device_ps);
}

/* An annotation starts on a thread: from then on, others are open. */
static void end_launches(struct annotations *a, uint32_t track, int64_t at_ps)
{
    for (int i = 0; i < ANNOTATION_LAUNCHES; i++)
        if (a->launches[i].track == track && a->launches[i].until_ps > at_ps)
            a->launches[i].until_ps = at_ps;
}

/* No more of this host, before add_up_spans. */
static void add_up_launches(struct annotations *a)
{
    for (int i = 0; i < ANNOTATION_LAUNCHES; i++)
        tell_launches(a, &a->launches[i]);
    memset(a->launches, 0, sizeof(a->launches));
}

/* The annotations of a host: spans in the order of their starts, each with the one around it.  Those of a thread form a
 * list with backward jump pointers (E. W. Myers, An applicative random-access stack, 1983), so what was open at any
 * time is found in a logarithmic number of steps. */

enum { PAGE_BYTES = 4 << 10 /* read at random */ };

static void open_spans(struct annotations *a)
{
    const size_t memory = annotations_memory(a->run, ANNOTATION_SPANS);

    a->spans =
        tm_rows_new_paged(a->run, TM_ACCOUNT_TABLES, sizeof(struct annotation_span), memory - memory / 8, PAGE_BYTES);
    a->threads = tm_rows_new_paged(a->run, TM_ACCOUNT_TABLES, sizeof(struct annotation_thread), memory / 8, PAGE_BYTES);
}

static void close_spans(struct annotations *a)
{
    tm_rows_free(a->spans);
    tm_rows_free(a->threads);
    a->spans = a->threads = NULL;
}

/* --- a span starts --- */

static struct annotation_thread *find_thread(struct annotations *a, uint32_t track)
{
    const struct tm_track *of = tm_rows_at(a->trace->tracks, track);
    struct annotation_thread *thread;

    if (track >= tm_rows_count(a->threads))
        tm_rows_resize(a->threads, (uint64_t)track + 1);
    thread = tm_rows_change(a->threads, track);
    /* PyTorch's categories identify annotations on any thread; otherwise only the user's lines have annotations. */
    thread->takes_launches = of->is_user || a->trace->origin == TM_ORIGIN_PYTORCH;
    return thread;
}

/* Pop those that have ended, from the innermost one outwards.  out: the first one that has not ended; zero = none */
static struct annotation_span leave_ended(struct annotations *a, struct annotation_thread *thread, int64_t now_ps)
{
    while (thread->open) {
        const struct annotation_span *open = span_at(a, thread->open);

        if (annotation_end(open) > now_ps)
            return *open;
        thread->open = open->around;
    }
    return (struct annotation_span){ .name = 0 };
}

/* The position of a span in the list of its thread. */
struct place {
    uint32_t ordinal, jump;
};

/* in: number  0 = of none */
static struct place find_place(struct annotations *a, uint32_t number)
{
    const struct annotation_span *span = number ? span_at(a, number) : NULL;

    return span ? (struct place){ span->ordinal, span->jump } : (struct place){ 0, 0 };
}

/* Put a span after the last one of its thread.  Two jumps of equal length become one of twice that length plus one. */
static void set_before(struct annotations *a, uint32_t last, struct annotation_span *span)
{
    const struct place near = find_place(a, last), far = find_place(a, near.jump), farther = find_place(a, far.jump);

    span->before = last;
    span->ordinal = last ? near.ordinal + 1 : 0;
    span->jump = last;
    if (far.jump && near.ordinal - far.ordinal == far.ordinal - farther.ordinal)
        span->jump = far.jump;
}

static void append_span(struct annotations *a, struct annotation_thread *thread, const struct annotation_span *span)
{
    const uint64_t number = tm_rows_count(a->spans) + 1;

    if (number > UINT32_MAX) {
        (void)tm_fail(&a->run->error, TM_ERR_LIMIT, -1, "the trace has more than %u annotations", UINT32_MAX);
        return;
    }
    if (thread->last)
        ((struct annotation_span *)tm_rows_change(a->spans, thread->last - 1))->after = (uint32_t)number;
    thread->last = thread->open = (uint32_t)number;
    tm_rows_append(a->spans, span);
}

/* in: in the order of their starts on each track; longer ones first */
static void begin_span(struct annotations *a, uint32_t track, int64_t start_ps, int64_t dur_ps, tm_strid name)
{
    struct annotation_thread *thread = find_thread(a, track);
    const struct annotation_span outer = leave_ended(a, thread, start_ps);
    struct annotation_span span = { .start_ps = start_ps, .host_ps = dur_ps, .name = name };
    const int64_t end_ps = annotation_end(&span), outer_end_ps = annotation_end(&outer);
    struct tm_key link[2];

    if (outer.depth == ANNOTATION_DEPTH_MOST) {
        tm_tally_add(&a->run->tallies, TM_TALLY_DEEP_NESTING, 1);
        return;
    }
    set_before(a, thread->last, &span);
    if (thread->open) {
        struct annotation_span *open = tm_rows_change(a->spans, thread->open - 1);

        open->inner_ps += (end_ps < outer_end_ps ? end_ps : outer_end_ps) - start_ps;
    }
    link[0] = outer.key;
    link[1] = tm_names_info(a->names, name).hash;
    span.key = tm_hash_key(link, sizeof(link));
    span.around = thread->open;
    span.depth = outer.depth + 1;
    end_launches(a, track, start_ps);
    append_span(a, thread, &span);
}

/* --- all have started --- */

static void add_row(struct annotations *a, const struct annotation_span *span)
{
    const int64_t self_ps = span->host_ps > span->inner_ps ? span->host_ps - span->inner_ps : 0;
    struct annotation_row row = { .node = { .key = span->key },
                                  .count = 1,
                                  .activities = span->activities,
                                  .host_ps = span->host_ps,
                                  .host_self_ps = self_ps,
                                  .device_ps = span->device_ps,
                                  .name = span->name,
                                  .depth = span->depth - 1 };

    if (span->around)
        row.node.outer = span_at(a, span->around)->key;
    a->host_self_ps = tm_sum_times(a->host_self_ps, self_ps);
    tm_groups_add(a->rows, &row);
}

/* Put all of them into a->rows. */
static void add_up_spans(struct annotations *a)
{
    const uint64_t count = tm_rows_count(a->spans);

    for (uint64_t i = 0; i < count && !tm_failed(a->run); i++)
        add_row(a, tm_rows_at(a->spans, i));
}

/* An annotation that is open when the analyzed steps start. */
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
    tm_fields_merge(annotation_fields, into, from);
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

/* From the start of the first analyzed step marker to the end of the last one; all of time if steps are not the
 * host's. */
static void find_window(struct annotations *a)
{
    const struct tm_steps *steps = &a->trace->steps;
    const struct tm_step_mark *mark;

    a->start_ps = INT64_MIN;
    a->end_ps = INT64_MAX;
    if (steps->all || steps->source != TM_STEPS_HOST || steps->chosen_begin >= steps->chosen_end)
        return;
    mark = tm_rows_at(steps->marks, steps->chosen_begin);
    a->start_ps = mark->start_ps;
    mark = tm_rows_at(steps->marks, steps->chosen_end - 1);
    a->end_ps = tm_sum_times(mark->start_ps, mark->dur_ps);
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
    open_spans(a);
    find_window(a);
    return a->run->error.status;
}

/* The analyzed steps have started. */
TM_NOT_INLINE void take_leads(struct annotations *a)
{
    const struct lead *lead;

    if (!a->leads)
        return;
    tm_sorter_finish(a->leads);
    while ((lead = tm_sorter_next(a->leads)))
        begin_span(a, lead->track, a->start_ps, lead->dur_ps, lead->name);
    tm_sorter_free(a->leads);
    a->leads = NULL;
}

/* Whether the program made it, even if its name says that it waits for input. */
static bool is_annotation(const struct annotations *a, const struct tm_event *event)
{
    if (event->record.class == TM_CLASS_ANNOTATION && event->record.kind == TM_SPAN)
        return true;
    if (event->record.class != TM_CLASS_INPUT || event->record.kind != TM_SPAN ||
        event->traits & (TM_TRAIT_PYTHON | TM_TRAIT_RUNTIME) ||
        a->trace->origin == TM_ORIGIN_PYTORCH) /* ops and functions have this class there, too */
        return false;
    return ((const struct tm_track *)tm_rows_at(a->trace->tracks, event->record.track))->is_user;
}

static void take_annotation(struct annotations *a, const struct tm_record *record)
{
    const int64_t end_ps = tm_sum_times(record->start_ps, record->dur_ps);
    const int64_t until_ps = end_ps < a->end_ps ? end_ps : a->end_ps;

    if (until_ps < record->start_ps || until_ps < a->start_ps)
        return;
    if (a->leads)
        tm_sorter_push(a->leads, &(struct lead){ until_ps - a->start_ps, record->track, record->name });
    else
        begin_span(a, record->track, record->start_ps, until_ps - record->start_ps, record->name);
}

static inline void take_launch(struct annotations *a, const struct tm_event *event)
{
    const struct launch launch = { event->launch_start_ps, event->record.dur_ps, event->launch_track, event->device };

    a->launched++;
    if (launch.at_ps < a->start_ps)
        return;
    if (launch.at_ps < event->record.start_ps)
        add_launch(a, &launch);
    else
        tm_rows_append(a->early, &launch);
}

bool tm_annotations_want(const struct tm_event *event)
{
    const bool may_be_one = event->record.class == TM_CLASS_ANNOTATION || event->record.class == TM_CLASS_INPUT;

    return may_be_one || (event->chosen && event->level != TM_LEVEL_NONE);
}

void tm_annotations_take(struct annotations *a, const struct tm_event *events, size_t count, uint32_t wanted)
{
    for (size_t i = 0; i < count; i++) {
        const struct tm_event *const event = &events[i];

        if (!(event->wanted & wanted))
            continue;
        if (a->leads && event->record.start_ps > a->start_ps)
            take_leads(a);
        if (event->chosen && event->level != TM_LEVEL_NONE && event->launch_track != TM_NONE)
            take_launch(a, event);
        else if (is_annotation(a, event))
            take_annotation(a, &event->record);
    }
}

static void take_early(struct annotations *a)
{
    const uint64_t count = tm_rows_count(a->early);

    for (uint64_t i = 0; i < count && !tm_failed(a->run); i++)
        add_launch(a, tm_rows_at(a->early, i));
}

tm_status tm_annotations_end(struct annotations *a)
{
    take_leads(a);
    take_early(a);
    add_up_launches(a);
    add_up_spans(a);
    close_host(a);
    return a->run->error.status;
}

/* The tree of annotations: its rows in the summary. */

enum { PATH_MOST = 8192, NAME_MOST = 2048 }; /* bytes that are examined */

static int longest_first(const void *a, const void *b)
{
    const struct annotation_row *x = a, *y = b;

    if (x->host_ps != y->host_ps)
        return x->host_ps > y->host_ps ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return tm_key_order(x->node.key, y->node.key);
}

static bool is_root(const void *row)
{
    return ((const struct annotation_row *)row)->depth == 0;
}

/* --- rows --- */

/* Names on the way to the row that is written. */
struct writer {
    struct annotations *a;
    struct tm_value *list;
    const char *no_device; /* why there is no device time; NULL = there is */
    char path[PATH_MOST];
    size_t length_at[ANNOTATION_DEPTH_MOST]; /* of the path, by depth */
    size_t room;                             /* for long strings */
    int64_t self_ps, device_ps;              /* of the rows that are listed; device_ps: of the roots */
};

static void write_row(struct writer *w, const struct annotation_row *row, const char *name, size_t length)
{
    struct tm_value *to = tm_add_object(w->list, NULL);

    tm_add_row_text(to, "path", w->path, w->length_at[row->depth], &w->room);
    tm_add_row_text(to, "name", name, length, &w->room);
    tm_add_uint(to, "depth", row->depth);
    tm_add_uint(to, "count", row->count);
    tm_add_int(to, "host_ps", row->host_ps);
    tm_add_int(to, "host_self_ps", row->host_self_ps);
    if (w->no_device) {
        tm_add_null(to, "device_ps", w->no_device);
        tm_add_null(to, "activities", w->no_device);
    } else {
        tm_add_int(to, "device_ps", row->device_ps);
        tm_add_uint(to, "activities", row->activities);
    }
    w->self_ps = tm_sum_times(w->self_ps, row->host_self_ps);
    if (row->depth == 0)
        w->device_ps = tm_sum_times(w->device_ps, row->device_ps);
}

/* Rows come in the order of the tree, so the path of the parent is known. */
static void put_annotation(struct writer *w, const struct annotation_row *row)
{
    size_t at = row->depth ? w->length_at[row->depth - 1] : 0, length;
    const char *name = tm_names_text(w->a->names, row->name, NAME_MOST + 1, &length);

    length = tm_whole_characters(name, length, NAME_MOST);
    if (row->depth && at < PATH_MOST)
        w->path[at++] = '/';
    w->length_at[row->depth] = at + tm_whole_characters(name, length, PATH_MOST - at);
    memcpy(w->path + at, name, w->length_at[row->depth] - at);
    write_row(w, row, name, length);
}

/* out: how many rows are listed */
static uint32_t add_rows(struct writer *w, struct tm_top_rows *top)
{
    const uint32_t count = (uint32_t)tm_top_rows_count(top);
    struct tm_run *run = w->a->run;
    uint32_t *order = count ? tm_take(&run->budget, TM_ACCOUNT_TABLES, count * sizeof(*order), &run->error) : NULL;
    uint32_t listed = 0;

    if (!order)
        return 0;
    tm_tree_order(run, TM_ACCOUNT_TABLES, tm_top_rows_at(top, 0), count, sizeof(struct annotation_row), is_root, order,
                  &listed);
    for (uint32_t i = 0; i < listed; i++)
        put_annotation(w, tm_top_rows_at(top, order[i]));
    tm_give(&run->budget, TM_ACCOUNT_TABLES, order, count * sizeof(*order));
    return listed;
}

/* Put the longest rows in order.  out: how many rows there are */
static uint64_t choose(struct annotations *a, struct tm_top_rows *top)
{
    const void *row;
    uint64_t distinct = 0;

    tm_groups_finish(a->rows);
    for (; (row = tm_groups_next(a->rows)); distinct++)
        tm_top_rows_add(top, row);
    tm_top_rows_sort(top);
    return distinct;
}

static const char *why_no_device(const struct annotations *a)
{
    if (!a->launched)
        return "the profile does not record which host thread launched the device's work";
    if (!a->inside)
        return "no device work was launched inside an annotation by its own thread";
    return NULL;
}

tm_status tm_annotations_report(struct annotations *a, uint64_t most, struct tm_value *to)
{
    struct tm_top_rows *top = tm_listed_rows_new(a->run, sizeof(struct annotation_row), most, longest_first);
    struct writer *w = tm_take(&a->run->budget, TM_ACCOUNT_TABLES, sizeof(*w), &a->run->error);
    const uint64_t distinct = top && w ? choose(a, top) : 0;

    if (!distinct) {
        tm_add_null(to, "annotations",
                    a->has_host_events ? "the program has no annotations on its host threads"
                                       : "the profile contains no host events");
        tm_add_null(to, "annotations_rest", "there are no annotations");
    } else {
        struct tm_value *rest;

        w->a = a;
        w->list = tm_add_array(to, "annotations");
        w->no_device = why_no_device(a);
        w->room = most * TM_ROW_TEXT_ROOM;
        const uint32_t listed = add_rows(w, top);

        rest = tm_add_object(to, "annotations_rest");
        tm_add_uint(rest, "rows", distinct - listed);
        tm_add_int(rest, "host_self_ps", a->host_self_ps > w->self_ps ? a->host_self_ps - w->self_ps : 0);
        if (w->no_device)
            tm_add_null(rest, "device_ps", w->no_device);
        else
            tm_add_int(rest, "device_ps", a->inside_ps > w->device_ps ? a->inside_ps - w->device_ps : 0);
    }
    tm_give(&a->run->budget, TM_ACCOUNT_TABLES, w, w ? sizeof(*w) : 0);
    tm_top_rows_free(top);
    return a->run->error.status;
}
