/* SPDX-License-Identifier: Apache-2.0 */
/* Compilations.  Three sorts of names tell one, of which only the best that the run has counts; that is known at the
 * end, so the outermost compiles of every sort are kept apart.  Events come by start, longer first: one lies in
 * another exactly if that began before and ends no earlier, so the latest end per track and sort is all that has to
 * be remembered.  Memory: rows that spill, and a fixed table of open PjitFunctions for the names of modules. */
#include "stages/diagnose/compile/compile.h"

#include <string.h>

#include "stages/diagnose/compile/compile_private.h"
#include "stages/diagnose/shares.h"
#include "stages/resolve/classes.h"

enum { CALL_THREADS = 128 /* threads whose open calls are known at once */ };

static tm_status open_stage(struct tm_stage *s)
{
    struct compiles *c = s->state;
    const size_t tenth = tm_tables_memory(s->run, TM_TABLES_COMPILE, 10, 1);

    c->run = s->run;
    c->settings = s->settings;
    c->rows = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct compile), 4 * tenth);
    c->hosts = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct host_name), tenth);
    c->programs = tm_compiled_new(s->run, tenth);
    c->calls = tm_take(&s->run->budget, TM_ACCOUNT_TABLES, CALL_THREADS * sizeof(*c->calls), &s->run->error);
    return c->rows && c->hosts && c->programs && c->calls ? TM_OK : s->run->error.status;
}

static tm_status begin_host(struct tm_stage *s, const struct tm_trace *trace)
{
    struct compiles *c = s->state;
    const size_t tenth = tm_tables_memory(s->run, TM_TABLES_COMPILE, 10, 1);
    struct host_name name;

    c->trace = trace;
    c->names = trace->names;
    c->any_track = (struct track_ends){ .has = { 0 } };
    c->call_count = c->last_call = 0;
    c->origins |= 1u << trace->origin;
    c->has_host_events |= trace->main_track != TM_NONE;
    c->has_host_steps |= trace->steps.source == TM_STEPS_HOST;
    memcpy(name.text, trace->host_name, sizeof(name.text));
    c->tracks = tm_rows_new(s->run, TM_ACCOUNT_TABLES, sizeof(struct track_ends), 4 * tenth);
    if (!c->tracks || tm_rows_resize(c->tracks, tm_rows_count(trace->tracks)) != TM_OK)
        return s->run->error.status;
    return tm_rows_append(c->hosts, &name);
}

/* --- which function is compiled --- */

static void end_calls(struct call_stack *stack, int64_t now_ps)
{
    while (stack->depth && stack->calls[stack->depth - 1].end_ps <= now_ps)
        stack->depth--;
}

static struct call_stack *calls_of(struct compiles *c, uint32_t track)
{
    if (c->last_call < c->call_count && c->calls[c->last_call].track == track)
        return &c->calls[c->last_call];
    for (uint32_t i = 0; i < c->call_count; i++)
        if (c->calls[i].track == track) {
            c->last_call = i;
            return &c->calls[i];
        }
    return NULL;
}

/* A place for a thread without one: a new one, else that of a thread on which no call is open; NULL = none. */
static struct call_stack *new_calls(struct compiles *c, uint32_t track, int64_t now_ps)
{
    uint32_t at = c->call_count;

    if (c->call_count < CALL_THREADS) {
        c->call_count++;
    } else {
        for (at = 0; at < CALL_THREADS; at++) {
            end_calls(&c->calls[at], now_ps);
            if (!c->calls[at].depth)
                break;
        }
    }
    if (at == CALL_THREADS)
        return NULL;
    c->calls[at].track = track;
    c->calls[at].depth = 0;
    c->last_call = at;
    return &c->calls[at];
}

/* Past the limits calls are forgotten: a compile then has no name. */
static void take_call(struct compiles *c, const struct tm_record *r)
{
    struct call_stack *stack = calls_of(c, r->track);

    if (!stack)
        stack = new_calls(c, r->track, r->start_ps);
    if (!stack)
        return;
    end_calls(stack, r->start_ps);
    if (stack->depth < CALL_DEPTH)
        stack->calls[stack->depth++] = (struct call){ r->start_ps + r->dur_ps, r->name };
}

/* What the event says of its module, else the function that is called around it. */
static tm_strid module_of(struct compiles *c, const struct tm_event *event)
{
    struct call_stack *stack;

    if (event->config->module)
        return event->config->module;
    stack = calls_of(c, event->record.track);
    if (!stack)
        return 0;
    end_calls(stack, event->record.start_ps);
    return stack->depth ? stack->calls[stack->depth - 1].name : 0;
}

/* --- events --- */

static enum sort sort_of(uint32_t traits)
{
    if (traits & TM_TRAIT_COMPILE_WHOLE)
        return SORT_WHOLE;
    return traits & TM_TRAIT_COMPILE_CLIENT ? SORT_CLIENT : SORT_XLA;
}

/* Whether it lies in one before it: of its own thread, or, where its line is none of a user's, of any thread. */
static bool is_inside(const struct track_ends *ends, enum sort sort, int64_t end_ps)
{
    return ends->has[sort] && ends->end_ps[sort] >= end_ps;
}

static void note_end(struct track_ends *ends, enum sort sort, int64_t end_ps)
{
    if (ends->has[sort] && ends->end_ps[sort] >= end_ps)
        return;
    ends->has[sort] = 1;
    ends->end_ps[sort] = end_ps;
}

/* The step marker that it begins in: the last one that begins at or before it, if it has not ended. */
static tm_status find_step(struct compiles *c, struct compile *compile)
{
    const struct tm_steps *steps = &c->trace->steps;
    const struct tm_step_mark *mark;
    uint64_t low = 0, high = steps->source == TM_STEPS_HOST ? steps->count : 0;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        mark = tm_rows_at(steps->marks, middle);
        if (!mark)
            return c->run->error.status;
        if (mark->begin_ps > compile->begin_ps)
            high = middle;
        else
            low = middle + 1;
    }
    if (!low)
        return TM_OK;
    mark = tm_rows_at(steps->marks, low - 1);
    if (!mark)
        return c->run->error.status;
    if (compile->begin_ps - mark->begin_ps > mark->dur_ps)
        return TM_OK;
    compile->has_step = 1;
    compile->in_chosen = mark->chosen;
    compile->step_number = mark->number;
    return TM_OK;
}

static tm_status take_compile(struct compiles *c, const struct tm_event *event)
{
    const struct tm_record *r = &event->record;
    const int64_t end_ps = r->start_ps + r->dur_ps;
    const enum sort sort = sort_of(event->traits);
    struct compile compile = { .begin_ps = r->start_ps, .dur_ps = r->dur_ps, .sort = (uint8_t)sort };
    const struct tm_track *track = tm_rows_at(c->trace->tracks, r->track);
    struct track_ends *ends = tm_rows_change(c->tracks, r->track);
    tm_status st;

    if (!track || !ends)
        return c->run->error.status;
    if (is_inside(track->is_user ? ends : &c->any_track, sort, end_ps))
        return TM_OK;
    note_end(ends, sort, end_ps);
    note_end(&c->any_track, sort, end_ps);
    compile.host = (uint32_t)tm_rows_count(c->hosts) - 1;
    compile.module = module_of(c, event);
    st = find_step(c, &compile);
    c->found[sort]++;
    return st == TM_OK ? tm_rows_append(c->rows, &compile) : st;
}

static tm_status take(struct tm_stage *s, const struct tm_event *event)
{
    if (event->record.class == TM_CLASS_COMPILE)
        return take_compile(s->state, event);
    if (event->traits & TM_TRAIT_PJIT)
        take_call(s->state, &event->record);
    return TM_OK;
}

static tm_status end_host(struct tm_stage *s)
{
    struct compiles *c = s->state;
    const tm_status st = tm_compiled_take(c->programs, c->trace, (uint32_t)tm_rows_count(c->hosts) - 1);

    tm_rows_free(c->tracks);
    c->tracks = NULL;
    c->trace = NULL;
    return st;
}

static void close_stage(struct tm_stage *s)
{
    struct compiles *c = s->state;

    tm_rows_free(c->rows);
    tm_rows_free(c->hosts);
    tm_rows_free(c->tracks);
    tm_compiled_free(c->programs);
    tm_give(&s->run->budget, TM_ACCOUNT_TABLES, c->calls, c->calls ? CALL_THREADS * sizeof(*c->calls) : 0);
}

const struct tm_stage_type tm_compile_stage = {
    .name = "compile",
    .summary = "what was compiled, when, and how often",
    .state_bytes = sizeof(struct compiles),
    .classes = TM_CLASSES_HOST,
    .open = open_stage,
    .begin_host = begin_host,
    .take = take,
    .end_host = end_host,
    .report = tm_compile_report,
    .save = tm_compile_save,
    .load = tm_compile_load,
    .close = close_stage,
};
