/* SPDX-License-Identifier: Apache-2.0 */
/* The annotations of a host: spans in the order of their begins, each with the one around it.  Those of a thread are a
 * list with jumps backwards in it (E. W. Myers, An applicative random-access stack, 1983), so that what was open at any
 * time is found in a logarithmic number of looks. */
#include "stages/diagnose/scopes/annotations_private.h"

enum { PAGE_BYTES = 4 << 10 /* read at random */ };

tm_status open_spans(struct annotations *a)
{
    const size_t memory = annotations_memory(a->run, ANNOTATION_SPANS);

    a->spans = tm_rows_new_paged(a->run, TM_ACCOUNT_TABLES, sizeof(struct annotation_span), memory - memory / 8,
                                 PAGE_BYTES);
    a->threads = tm_rows_new_paged(a->run, TM_ACCOUNT_TABLES, sizeof(struct annotation_thread), memory / 8, PAGE_BYTES);
    return a->spans && a->threads ? TM_OK : a->run->error.status;
}

void close_spans(struct annotations *a)
{
    tm_rows_free(a->spans);
    tm_rows_free(a->threads);
    a->spans = a->threads = NULL;
}

/* --- a span begins --- */

static tm_status find_thread(struct annotations *a, uint32_t track, struct annotation_thread **thread)
{
    const struct tm_track *of;

    if (track >= tm_rows_count(a->threads)) {
        const tm_status st = tm_rows_resize(a->threads, (uint64_t)track + 1);

        if (st != TM_OK)
            return st;
    }
    *thread = tm_rows_change(a->threads, track);
    of = *thread ? tm_rows_at(a->trace->tracks, track) : NULL;
    if (!of)
        return a->run->error.status;
    /* PyTorch's categories tell annotations on any thread; else there are none beside what the user's lines hold. */
    (*thread)->takes_launches = of->is_user || a->trace->origin == TM_ORIGIN_PYTORCH;
    return TM_OK;
}

/* Leave those that have ended, from the innermost one on, until one that has not.
 * out: *outer  it; zero = none */
static tm_status leave_ended(struct annotations *a, struct annotation_thread *thread, int64_t now_ps,
                             struct annotation_span *outer)
{
    *outer = (struct annotation_span){ .name = 0 };
    while (thread->open) {
        const struct annotation_span *open = span_at(a, thread->open);

        if (!open)
            return a->run->error.status;
        if (annotation_end(open) > now_ps) {
            *outer = *open;
            return TM_OK;
        }
        thread->open = open->around;
    }
    return TM_OK;
}

/* Where a span stands in the list of its thread. */
struct place {
    uint32_t ordinal, jump;
};

/* in: number  0 = *place stays as it is */
static tm_status find_place(struct annotations *a, uint32_t number, struct place *place)
{
    const struct annotation_span *span = number ? span_at(a, number) : NULL;

    if (!span)
        return number ? a->run->error.status : TM_OK;
    *place = (struct place){ span->ordinal, span->jump };
    return TM_OK;
}

/* Put a span behind the last one of its thread.  Two jumps of one length become one of twice it and one. */
static tm_status set_before(struct annotations *a, uint32_t last, struct annotation_span *span)
{
    struct place near = { 0, 0 }, far = { 0, 0 }, farther = { 0, 0 };
    tm_status st = find_place(a, last, &near);

    if (st == TM_OK)
        st = find_place(a, near.jump, &far);
    if (st == TM_OK)
        st = find_place(a, far.jump, &farther);
    span->before = last;
    span->ordinal = last ? near.ordinal + 1 : 0;
    span->jump = last;
    if (far.jump && near.ordinal - far.ordinal == far.ordinal - farther.ordinal)
        span->jump = far.jump;
    return st;
}

static tm_status add_inner(struct annotations *a, uint32_t number, int64_t inner_ps)
{
    struct annotation_span *outer = tm_rows_change(a->spans, number - 1);

    if (!outer)
        return a->run->error.status;
    outer->inner_ps += inner_ps;
    return TM_OK;
}

static tm_status append_span(struct annotations *a, struct annotation_thread *thread,
                             const struct annotation_span *span)
{
    const uint64_t number = tm_rows_count(a->spans) + 1;

    if (number > UINT32_MAX)
        return tm_fail(&a->run->error, TM_ERR_LIMIT, -1, "the trace has more than %u annotations", UINT32_MAX);
    if (thread->last) {
        struct annotation_span *before = tm_rows_change(a->spans, thread->last - 1);

        if (!before)
            return a->run->error.status;
        before->after = (uint32_t)number;
    }
    thread->last = thread->open = (uint32_t)number;
    return tm_rows_append(a->spans, span);
}

tm_status begin_span(struct annotations *a, uint32_t track, int64_t start_ps, int64_t dur_ps, tm_strid name)
{
    struct annotation_span outer, span = { .start_ps = start_ps, .host_ps = dur_ps, .name = name };
    struct tm_key link[2];
    struct annotation_thread *thread;
    struct tm_name info;
    int64_t until_ps;
    tm_status st = find_thread(a, track, &thread);

    if (st == TM_OK)
        st = leave_ended(a, thread, start_ps, &outer);
    if (st == TM_OK && outer.depth == ANNOTATION_DEPTH_MOST) {
        tm_tally_add(&a->run->tallies, TM_TALLY_DEEP_NESTING, 1);
        return TM_OK;
    }
    if (st == TM_OK)
        st = set_before(a, thread->last, &span);
    if (st == TM_OK)
        st = tm_names_info(a->names, name, &info);
    if (st == TM_OK && thread->open) {
        until_ps = annotation_end(&span) < annotation_end(&outer) ? annotation_end(&span) : annotation_end(&outer);
        st = add_inner(a, thread->open, until_ps - start_ps);
    }
    if (st != TM_OK)
        return st;
    link[0] = outer.key;
    link[1] = info.hash;
    span.key = tm_hash_key(link, sizeof(link));
    span.around = thread->open;
    span.depth = outer.depth + 1;
    end_launches(a, track, start_ps);
    return append_span(a, thread, &span);
}

/* --- all have begun --- */

static tm_status add_row(struct annotations *a, const struct annotation_span *span)
{
    const int64_t self_ps = span->host_ps > span->inner_ps ? span->host_ps - span->inner_ps : 0;
    struct annotation_row row = { .node = { .key = span->key },
                                  .count = 1,
                                  .activities = span->activities,
                                  .host_ps = span->host_ps,
                                  .host_self_ps = self_ps,
                                  .device_ps = span->device_ps,
                                  .name = span->name,
                                  .depth = span->depth };
    const struct annotation_span *outer = span->around ? span_at(a, span->around) : NULL;

    if (span->around && !outer)
        return a->run->error.status;
    if (outer)
        row.node.outer = outer->key;
    a->host_self_ps = tm_sum_times(a->host_self_ps, self_ps);
    return tm_groups_add(a->rows, &row);
}

tm_status add_up_spans(struct annotations *a)
{
    const uint64_t count = tm_rows_count(a->spans);
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        const struct annotation_span *span = tm_rows_at(a->spans, i);

        st = span ? add_row(a, span) : a->run->error.status;
    }
    return st;
}
