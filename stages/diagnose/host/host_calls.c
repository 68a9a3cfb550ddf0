/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of a host tell: functions and annotations by self time, waits and where they stand, how busy each
 * thread was.  Every span is first cut to the stretch of the host's time that counts, so that the self times of a
 * thread add up to the time in which it was busy.  Memory: open spans, fixed; groups by name, and a row per thread,
 * which spill. */
#include <string.h>

#include "pipeline/hash.h"
#include "stages/diagnose/host/host_private.h"
#include "stages/resolve/classes.h"

/* --- names --- */

/* What jax.profiler.annotate_function puts around, and the begin of the profile. */
static const char wrapper[] = "$profiler.py:";

static tm_status fill_call(struct host *h, struct host_call *call, tm_strid name, enum host_call_kind kind)
{
    const char *text;
    size_t length;
    struct tm_name info;
    tm_status st = tm_names_info(h->names, name, &info);

    if (st == TM_OK)
        st = tm_names_text(h->names, name, sizeof(wrapper), &text, &length);
    if (st != TM_OK)
        return st;
    call->row.key = (struct tm_key){ info.hash.high, tm_hash_mix(info.hash.low, kind) };
    call->row.name = name;
    call->row.kind = (uint8_t)kind;
    call->is_wrapper = length >= sizeof(wrapper) - 1 && memcmp(text, wrapper, sizeof(wrapper) - 1) == 0;
    return TM_OK;
}

/* The calls of one name and kind.  out: *call  to fold into; valid until the next one is asked for */
static tm_status find_call(struct host *h, tm_strid name, enum host_call_kind kind, struct host_call **call)
{
    bool is_new;

    *call = tm_front_at(&h->front, ((uint64_t)kind << 32 | name) + 1, &is_new);
    if (!*call)
        return h->run->error.status;
    return is_new ? fill_call(h, *call, name, kind) : TM_OK;
}

/* --- spans that have ended --- */

static tm_status add_call(struct host *h, const struct tm_nested *span, enum host_call_kind kind)
{
    const struct host_span *about = span->payload;
    struct host_call *call;
    const tm_status st = find_call(h, about->name, kind, &call);

    if (st != TM_OK)
        return st;
    call->row.count = tm_sum_counts(call->row.count, 1);
    call->row.self_ps = tm_sum_times(call->row.self_ps, span->self_ps);
    call->row.total_ps = tm_sum_times(call->row.total_ps, span->dur_ps);
    return TM_OK;
}

/* Key and names of a wait; no gaps in it. */
static tm_status sync_key(struct host *h, const tm_strid names[3], struct tm_key *key)
{
    struct tm_key texts[3] = { { 0, 0 } };

    for (int i = 0; i < 3; i++) {
        struct tm_name info;
        tm_status st;

        if (!names[i])
            continue;
        st = tm_names_info(h->names, names[i], &info);
        if (st != TM_OK)
            return st;
        texts[i] = info.hash;
    }
    *key = tm_hash_key(texts, sizeof(texts));
    return TM_OK;
}

static tm_status add_sync(struct host *h, const struct tm_nested *span)
{
    const struct host_span *about = span->payload, *around = span->parent;
    const tm_strid names[3] = { about->name, around ? around->python : 0, around ? around->annotation : 0 };
    struct sync_row row = { .count = 1, .total_ps = span->dur_ps,
                            .longest = { span->dur_ps, span->start_ps, h->trace->host }, .name = names[0],
                            .caller = names[1], .annotation = names[2] };
    const tm_status st = sync_key(h, names, &row.key);

    if (st != TM_OK)
        return st;
    h->sync_count = tm_sum_counts(h->sync_count, 1);
    h->sync_ps = tm_sum_times(h->sync_ps, span->dur_ps);
    return tm_groups_add(h->syncs, &row);
}

static tm_status take_nested(void *to, const struct tm_nested *span)
{
    struct host *h = to;
    const struct host_span *about = span->payload;
    tm_status st = TM_OK;

    if (about->is_python)
        st = add_call(h, span, HOST_PYTHON);
    else if (about->is_annotation)
        st = add_call(h, span, HOST_ANNOTATION);
    return st == TM_OK && about->is_sync ? add_sync(h, span) : st;
}

/* --- events --- */

/* What is known of a span when it begins: its own names, else those of what is around it. */
static tm_status describe(struct host *h, const struct tm_event *event, const struct host_span *around,
                          struct host_span *about)
{
    const enum tm_class class = (enum tm_class)event->record.class;
    const bool is_sync = class == TM_CLASS_SYNC, is_in_sync = around && around->is_in_sync;
    struct host_call *call;
    tm_status st;

    *about = (struct host_span){ .name = event->record.name,
                                 .python = around ? around->python : 0,
                                 .annotation = around ? around->annotation : 0,
                                 .is_python = class == TM_CLASS_PYTHON || event->traits & TM_TRAIT_PYTHON,
                                 .is_sync = is_sync && !is_in_sync, .is_in_sync = is_sync || is_in_sync };
    if (!about->is_python) {
        about->is_annotation = class == TM_CLASS_ANNOTATION || class == TM_CLASS_INPUT;
        if (about->is_annotation)
            about->annotation = about->name;
        return TM_OK;
    }
    st = find_call(h, about->name, HOST_PYTHON, &call);
    if (st == TM_OK && !call->is_wrapper)
        about->python = about->name;
    return st;
}

/* A union of spans that come in the order of their begins. */
static int64_t cover(int64_t *until_ps, int64_t begin_ps, int64_t end_ps)
{
    const int64_t from_ps = begin_ps > *until_ps ? begin_ps : *until_ps;

    if (end_ps <= from_ps)
        return 0;
    *until_ps = end_ps;
    return end_ps - from_ps;
}

static void add_to_thread(struct thread_row *thread, const struct tm_event *event, int64_t begin_ps, int64_t end_ps)
{
    const bool is_op = event->record.class == TM_CLASS_CPU_OP || event->record.class == TM_CLASS_COLLECTIVE;

    if (!thread->events)
        thread->first_ps = begin_ps;
    if (!thread->events || end_ps > thread->last_ps)
        thread->last_ps = end_ps;
    thread->events++;
    thread->busy_ps = tm_sum_times(thread->busy_ps, cover(&thread->busy_until_ps, begin_ps, end_ps));
    if (!is_op)
        return;
    thread->ops++;
    thread->op_ps = tm_sum_times(thread->op_ps, cover(&thread->op_until_ps, begin_ps, end_ps));
}

tm_status host_take_span(struct host *h, const struct tm_event *event)
{
    int64_t begin_ps = event->record.start_ps, end_ps = tm_sum_times(begin_ps, event->record.dur_ps);
    const uint32_t track = event->record.track;
    const void *around = NULL;
    struct host_span about;
    struct thread_row *thread;
    tm_status st;

    if (track >= tm_rows_count(h->lines) || !tm_is_host_span(event) ||
        !tm_cut_to_window(&h->window, &begin_ps, &end_ps))
        return TM_OK;
    thread = tm_rows_change(h->lines, track);
    if (!thread)
        return h->run->error.status;
    if (!thread->is_host)
        return TM_OK;
    add_to_thread(thread, event, begin_ps, end_ps);
    if (begin_ps < h->seen_begin_ps)
        h->seen_begin_ps = begin_ps;
    if (end_ps > h->seen_end_ps)
        h->seen_end_ps = end_ps;
    st = tm_nesting_around(h->nesting, track, begin_ps, &around);
    if (st == TM_OK)
        st = describe(h, event, around, &about);
    return st == TM_OK ? tm_nesting_take(h->nesting, track, begin_ps, end_ps - begin_ps, &about) : st;
}

/* --- a host begins and ends --- */

tm_status host_begin_calls(struct host *h)
{
    const uint64_t tracks = h->trace->tracks ? tm_rows_count(h->trace->tracks) : 0;
    tm_status st = tm_find_host_window(h->trace, h->settings, &h->window);

    if (st != TM_OK)
        return st;
    h->seen_begin_ps = INT64_MAX;
    h->seen_end_ps = INT64_MIN;
    h->nesting = tm_nesting_new(h->run, TM_ACCOUNT_THREADS, sizeof(struct host_span), HOST_OPEN_MOST, take_nested, h);
    h->lines = tm_rows_new_paged(h->run, TM_ACCOUNT_TABLES, sizeof(struct thread_row),
                                 host_memory(h->run, HOST_LINES), 8 << 10);
    if (!h->nesting || !h->lines)
        return h->run->error.status;
    for (uint64_t i = 0; i < tracks && st == TM_OK; i++) {
        const struct tm_track *track = tm_rows_at(h->trace->tracks, i);
        struct thread_row row = { .host = h->trace->host, .busy_until_ps = INT64_MIN, .op_until_ps = INT64_MIN };

        if (!track)
            return h->run->error.status;
        row.name = track->name ? track->name : track->plane_name;
        row.is_host = track->side == TM_SIDE_HOST;
        row.is_main = i == h->trace->main_track;
        st = tm_rows_append(h->lines, &row);
    }
    return st;
}

void host_free_calls(struct host *h)
{
    tm_nesting_free(h->nesting);
    tm_rows_free(h->lines);
    h->nesting = NULL;
    h->lines = NULL;
}

static tm_status keep_host(struct host *h)
{
    struct host_row row = { .basis = (uint8_t)h->window.basis };

    memcpy(row.name, h->trace->host_name, sizeof(row.name));
    if (h->window.basis != TM_HOST_ALL) {
        row.begin_ps = h->window.begin_ps;
        row.end_ps = h->window.end_ps;
    } else if (h->seen_begin_ps <= h->seen_end_ps) {
        row.begin_ps = h->seen_begin_ps;
        row.end_ps = h->seen_end_ps;
    }
    return tm_rows_append(h->hosts, &row);
}

tm_status host_end_calls(struct host *h)
{
    tm_status st = tm_nesting_end(h->nesting);

    for (uint64_t i = 0; i < tm_rows_count(h->lines) && st == TM_OK; i++) {
        const struct thread_row *row = tm_rows_at(h->lines, i);

        if (!row)
            return h->run->error.status;
        if (row->events)
            st = tm_rows_append(h->threads, row);
    }
    if (st == TM_OK)
        st = tm_front_flush(&h->front);
    if (st == TM_OK)
        st = keep_host(h);
    host_free_calls(h);
    return st;
}
