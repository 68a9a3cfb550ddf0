/* SPDX-License-Identifier: Apache-2.0 */
/* Activity of host threads.  Each thread has a stack of its open events and a log of past stretches.
 * Memory: the log is kept in chunks; chunks before the horizon are dropped, and if the rest does not fit in the
 * share the oldest ones of all threads are spilled.  Their starts are kept apart, by thread: walking from chunk to chunk,
 * 1 KiB each, to find the one of a time took 4% of the user time of a report of 5 million events.  The stacks are bounded; deeper events are tallied and count as
 * their parents. */
#include "stages/figures/host_threads.h"

#include <string.h>
#include "stages/resolve/classes.h"

/* Which stretch of a host's time counts. */

const char *const tm_host_basis_name[TM_HOST_BASIS_COUNT] = { "steps", "devices", "all" };

static void include(struct tm_host_window *window, int64_t start_ps, int64_t end_ps)
{
    if (start_ps < window->start_ps)
        window->start_ps = start_ps;
    if (end_ps > window->end_ps)
        window->end_ps = end_ps;
}

static void include_steps(const struct tm_trace *trace, struct tm_host_window *window)
{
    const struct tm_steps *steps = &trace->steps;

    for (uint64_t k = steps->chosen_begin; k < steps->chosen_end && k < steps->count && !tm_failed(trace->run); k++) {
        const struct tm_step_mark *mark = tm_rows_at(steps->marks, k);

        include(window, mark->start_ps, mark->start_ps + mark->dur_ps);
    }
}

static void include_devices(const struct tm_trace *trace, struct tm_host_window *window)
{
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct tm_device *device = &trace->devices[i];

        if (device->activities && device->chosen_end_ps > device->chosen_begin_ps)
            include(window, device->chosen_begin_ps, device->chosen_end_ps);
    }
}

tm_status tm_find_host_window(const struct tm_trace *trace, const struct tm_settings *settings,
                              struct tm_host_window *window)
{
    const bool is_marked = trace->steps.source == TM_STEPS_HOST;

    *window = (struct tm_host_window){ INT64_MAX, INT64_MIN, is_marked ? TM_HOST_STEPS : TM_HOST_DEVICES };
    if (!trace->steps.all && !settings->session_window) {
        if (is_marked)
            include_steps(trace, window);
        else
            include_devices(trace, window);
    }
    if (window->start_ps > window->end_ps)
        *window = (struct tm_host_window){ INT64_MIN, INT64_MAX, TM_HOST_ALL };
    return trace->run->error.status;
}

/* Causes of idle time by the class of host events. */

const char *const tm_cause_name[TM_CAUSE_COUNT] = {
    [TM_CAUSE_DEVICE_WAIT] = "device_wait",
    [TM_CAUSE_LAUNCH] = "launch",
    [TM_CAUSE_COMPILE] = "compile",
    [TM_CAUSE_INPUT] = "input",
    [TM_CAUSE_SYNC] = "sync",
    [TM_CAUSE_GC] = "gc",
    [TM_CAUSE_PROFILER] = "profiler",
    [TM_CAUSE_HOST] = "host",
    [TM_CAUSE_UNRECORDED] = "unrecorded",
};

enum tm_cause tm_cause_of_class(enum tm_class class)
{
    switch (class) {
    case TM_CLASS_LAUNCH:
        return TM_CAUSE_LAUNCH;
    case TM_CLASS_COMPILE:
        return TM_CAUSE_COMPILE;
    case TM_CLASS_INPUT:
        return TM_CAUSE_INPUT;
    case TM_CLASS_SYNC:
        return TM_CAUSE_SYNC;
    case TM_CLASS_GC:
        return TM_CAUSE_GC;
    case TM_CLASS_PROFILER:
        return TM_CAUSE_PROFILER;
    default:
        return TM_CAUSE_HOST;
    }
}

/* in: traits  of the event's name */
static inline struct tm_cause_reason reason_of(enum tm_class class, uint32_t traits)
{
    const enum tm_cause cause = tm_cause_of_class(class);
    const bool is_wait = cause == TM_CAUSE_HOST && traits & TM_TRAIT_WAIT;

    return (struct tm_cause_reason){ .cause = (uint8_t)(is_wait ? TM_CAUSE_SYNC : cause),
                                     .is_vague = cause == TM_CAUSE_HOST && !is_wait && class != TM_CLASS_PYTHON &&
                                                 class != TM_CLASS_FRAMEWORK_OP,
                                     .is_weak = is_wait };
}

static const struct tm_cause_reason unrecorded = { .cause = TM_CAUSE_UNRECORDED, .is_vague = true };

/* --- threads --- */

enum {
    CHUNK_STRETCHES = 62, /* about 1 KiB: there may be a chunk per thread */
    DEEPEST_STACK = 4096,
    FIRST_STACK = 4,
    FIRST_PLACES = 4,
    OPEN_MOST = 1 << 14, /* of all stacks together: half a MiB, regardless of the share */
};

/* From start to the start of the next one. */
struct stretch {
    int64_t start_ps;
    tm_strid name; /* of the event that gives the cause, else of the innermost one */
    uint16_t cause;
    bool is_vague;
};

struct chunk {
    struct chunk *older, *younger; /* of all threads */
    uint32_t thread, count;
    struct stretch stretches[CHUNK_STRETCHES];
};

/* A chunk of a thread, and the start of its first stretch. */
struct place {
    int64_t start_ps;
    struct chunk *chunk;
};

/* A chunk that was written out. */
struct spilled {
    int64_t end_ps;
    uint64_t before; /* the one before it of its thread, plus one; 0 = none */
    uint32_t count;
    struct stretch stretches[CHUNK_STRETCHES];
};

/* An open event.  Reason and name are those of the event that gives the cause, seen from here.  Reasons are packed: read
 * as one word right after their members were written, they would wait for these to reach the cache, which took 3% of the
 * time of a report of 5 million events. */
struct open_event {
    int64_t end_ps, cause_end_ps; /* own end, and that of the event that gave the cause */
    tm_strid own_name, name;      /* name: of the event that gave the cause */
    uint32_t own, reason;         /* pack */
};

struct thread {
    struct open_event *stack;
    uint32_t depth, stack_size;
    int64_t at_ps; /* the log reaches up to here */
    bool has_begun;
    struct place *places;                    /* of its chunks in memory, in time order, from `first` on */
    uint32_t first, place_count, place_room; /* place_count: with those before `first`, which were dropped */
    uint64_t spilled;                        /* row of its last spilled chunk, plus one; 0 = none */
    uint64_t near_spilled;                   /* likewise, of the one that was found last */
    struct stretch current;                  /* the stretch that is being written */
};

struct tm_host_threads {
    struct tm_run *run;
    struct thread *threads;
    uint32_t count;
    uint32_t open_most; /* entries that all stacks have room for */
    size_t share_bytes, used_bytes;
    struct chunk *oldest, *youngest;
    struct chunk *unused; /* dropped ones, which are used again; linked by `older` */
    int64_t horizon_ps;
    struct tm_rows *spilled; /* struct spilled, of all threads; NULL = none */
};

struct tm_host_threads *tm_host_threads_new(struct tm_run *run, const struct tm_trace *trace)
{
    struct tm_host_threads *t = tm_take(&run->budget, TM_ACCOUNT_THREADS, sizeof(*t), &run->error);

    if (!t)
        return NULL;
    *t = (struct tm_host_threads){ .run = run, .count = trace->thread_count, .horizon_ps = INT64_MIN };
    t->share_bytes = tm_budget_share(&run->budget, TM_ACCOUNT_THREADS);
    if (!t->count)
        return t;
    t->threads = tm_take(&run->budget, TM_ACCOUNT_THREADS, t->count * sizeof(*t->threads), &run->error);
    if (t->threads)
        return t;
    tm_host_threads_free(t);
    return NULL;
}

/* Release the first chunk of a thread. */
static void drop_first(struct tm_host_threads *t, struct thread *thread)
{
    struct chunk *chunk = thread->places[thread->first++].chunk;

    if (chunk->older)
        chunk->older->younger = chunk->younger;
    else
        t->oldest = chunk->younger;
    if (chunk->younger)
        chunk->younger->older = chunk->older;
    else
        t->youngest = chunk->older;
    chunk->older = t->unused;
    t->unused = chunk;
    t->used_bytes -= sizeof(*chunk);
}

/* An empty one.  NULL: of the ledger */
static struct chunk *take_chunk(struct tm_host_threads *t)
{
    struct chunk *chunk = t->unused;

    if (chunk) {
        t->unused = chunk->older;
        __builtin_prefetch(t->unused); /* the oldest one, not in the cache any more: for the next call */
    } else {
        chunk = tm_take(&t->run->budget, TM_ACCOUNT_THREADS, sizeof(*chunk), &t->run->error);
    }
    if (!chunk)
        return NULL;
    chunk->older = chunk->younger = NULL;
    chunk->count = 0;
    return chunk;
}

void tm_host_threads_free(struct tm_host_threads *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; t->threads && i < t->count; i++) {
        struct thread *thread = &t->threads[i];

        while (thread->first < thread->place_count)
            drop_first(t, thread);
        tm_give(&t->run->budget, TM_ACCOUNT_THREADS, thread->places, thread->place_room * sizeof(*thread->places));
        tm_give(&t->run->budget, TM_ACCOUNT_THREADS, thread->stack, thread->stack_size * sizeof(*thread->stack));
    }
    while (t->unused) {
        struct chunk *const chunk = t->unused;

        t->unused = chunk->older;
        tm_give(&t->run->budget, TM_ACCOUNT_THREADS, chunk, sizeof(*chunk));
    }
    tm_rows_free(t->spilled);
    tm_give(&t->run->budget, TM_ACCOUNT_THREADS, t->threads, t->threads ? t->count * sizeof(*t->threads) : 0);
    tm_give(&t->run->budget, TM_ACCOUNT_THREADS, t, sizeof(*t));
}

/* --- the log --- */

/* Where the chunk of a place ends. */
static int64_t end_of(const struct thread *thread, uint32_t place)
{
    return place + 1 < thread->place_count ? thread->places[place + 1].start_ps : thread->current.start_ps;
}

static void drop_before_horizon(struct tm_host_threads *t, struct thread *thread)
{
    while (thread->first + 1 < thread->place_count && end_of(thread, thread->first) <= t->horizon_ps)
        drop_first(t, thread);
}

/* Write out the oldest chunk of all threads: it is the first one of its thread. */
static void spill_oldest(struct tm_host_threads *t)
{
    const struct chunk *old = t->oldest;
    struct thread *thread = &t->threads[old->thread];
    struct spilled row = { .end_ps = end_of(thread, thread->first), .before = thread->spilled, .count = old->count };

    if (!t->spilled)
        t->spilled = tm_rows_new(t->run, TM_ACCOUNT_THREADS, sizeof(row), t->share_bytes / 8);
    if (!t->spilled)
        return;
    memcpy(row.stretches, old->stretches, sizeof(row.stretches));
    tm_rows_append(t->spilled, &row);
    thread->spilled = tm_rows_count(t->spilled);
    drop_first(t, thread);
}

/* Room for one more place.  The dropped ones make it, if they are half of all. */
static bool make_place(struct tm_host_threads *t, struct thread *thread)
{
    const uint32_t room = thread->place_room ? thread->place_room * 2 : FIRST_PLACES;
    struct place *places;

    if (thread->place_count < thread->place_room)
        return true;
    if (thread->first && thread->first >= thread->place_count / 2) {
        thread->place_count -= thread->first;
        memmove(thread->places, thread->places + thread->first, thread->place_count * sizeof(*places));
        thread->first = 0;
        return true;
    }
    places = tm_retake(&t->run->budget, TM_ACCOUNT_THREADS, thread->places, thread->place_room * sizeof(*places),
                       room * sizeof(*places), &t->run->error);
    if (!places)
        return false;
    thread->places = places;
    thread->place_room = room;
    return true;
}

/* For the stretch that is over, which the caller puts into it. */
TM_NOT_INLINE struct chunk *new_chunk(struct tm_host_threads *t, struct thread *thread)
{
    struct chunk *chunk;

    drop_before_horizon(t, thread);
    while (t->oldest && t->used_bytes + sizeof(*chunk) > t->share_bytes / 4 && !tm_failed(t->run))
        spill_oldest(t);
    chunk = make_place(t, thread) ? take_chunk(t) : NULL;
    if (!chunk)
        return NULL;
    t->used_bytes += sizeof(*chunk);
    chunk->thread = (uint32_t)(thread - t->threads);
    chunk->older = t->youngest;
    *(t->youngest ? &t->youngest->younger : &t->oldest) = chunk;
    t->youngest = chunk;
    thread->places[thread->place_count++] = (struct place){ thread->current.start_ps, chunk };
    return chunk;
}

/* The last chunk in memory; NULL = there is none. */
static inline struct chunk *last_chunk(const struct thread *thread)
{
    return thread->first < thread->place_count ? thread->places[thread->place_count - 1].chunk : NULL;
}

/* The stretch that is being written is over. */
static inline void keep_stretch(struct tm_host_threads *t, struct thread *thread)
{
    struct chunk *chunk = last_chunk(thread);

    if (!chunk || chunk->count == CHUNK_STRETCHES)
        chunk = new_chunk(t, thread);
    if (!chunk)
        return;
    struct stretch *const kept = &chunk->stretches[chunk->count++];

    /* one by one, as they were written a moment ago: copied together they would wait for the cache */
    kept->start_ps = thread->current.start_ps;
    kept->name = thread->current.name;
    kept->cause = thread->current.cause;
    kept->is_vague = thread->current.is_vague;
}

/* The first event of a thread starts. */
static void start_thread(struct thread *thread, int64_t at_ps)
{
    thread->has_begun = true;
    thread->at_ps = at_ps;
    thread->current = (struct stretch){ .start_ps = at_ps, .cause = TM_CAUSE_UNRECORDED, .is_vague = true };
}

/* From at_ps on the thread does this; it has recorded something before. */
static inline void begin_stretch(struct tm_host_threads *t, struct thread *thread, int64_t at_ps,
                                 struct tm_cause_reason reason, tm_strid name)
{
    if (reason.cause == thread->current.cause && name == thread->current.name)
        return;
    if (thread->current.start_ps < at_ps)
        keep_stretch(t, thread);
    thread->current =
        (struct stretch){ .start_ps = at_ps, .name = name, .cause = reason.cause, .is_vague = reason.is_vague };
}

/* --- the stack --- */

static inline uint32_t pack(struct tm_cause_reason reason)
{
    return reason.cause | (uint32_t)reason.is_vague << 8 | (uint32_t)reason.is_weak << 9;
}

static inline struct tm_cause_reason unpack(uint32_t packed)
{
    return (struct tm_cause_reason){ .cause = (uint8_t)packed,
                                     .is_vague = (packed >> 8 & 1) != 0,
                                     .is_weak = (packed >> 9 & 1) != 0 };
}

/* The innermost open event gives cause and name. */
static inline void settle(struct tm_host_threads *t, struct thread *thread, int64_t at_ps)
{
    const struct open_event *top = thread->depth ? &thread->stack[thread->depth - 1] : NULL;

    begin_stretch(t, thread, at_ps, top ? unpack(top->reason) : unrecorded, top ? top->name : 0);
}

/* The state of an event inside another one, or inside none. */
static inline void inherit(struct open_event *event, const struct open_event *below)
{
    if (below && tm_cause_yields(unpack(event->own), unpack(below->reason))) {
        event->reason = below->reason;
        event->cause_end_ps = below->cause_end_ps;
        event->name = below->name;
        return;
    }
    event->reason = event->own;
    event->cause_end_ps = event->end_ps;
    event->name = event->own_name;
    /* if that one ends before its time, the input event around it may take precedence; so may its own cause then */
    if (below && (tm_cause_hides_input(unpack(below->reason)) || below->cause_end_ps < below->end_ps) &&
        below->cause_end_ps < event->end_ps)
        event->cause_end_ps = below->cause_end_ps;
}

/* The last started event, or one whose cause came from another that has ended, looks for its cause among the events
 * below it.  Of those, similar ones come first; the others already know the events below them. */
TM_NOT_INLINE void find_reason(struct thread *thread, uint32_t from)
{
    const int64_t at_ps = thread->at_ps;
    const struct open_event *below = NULL;
    uint32_t at = from;

    while (at > 0 && thread->stack[at - 1].cause_end_ps <= at_ps)
        at--;
    if (at > 0)
        below = &thread->stack[at - 1];
    for (; at <= from; at++) {
        struct open_event *const event = &thread->stack[at];

        if (event->end_ps <= at_ps) /* below another one that lasts longer */
            continue;
        inherit(event, below);
        below = event;
    }
}

/* Bring the log up to a time: everything that ends before it ends. */
TM_NOT_INLINE void advance(struct tm_host_threads *t, struct thread *thread, int64_t to_ps)
{
    while (thread->depth && thread->at_ps < to_ps) {
        struct open_event *top = &thread->stack[thread->depth - 1];
        const int64_t change_ps = top->end_ps < top->cause_end_ps ? top->end_ps : top->cause_end_ps;

        if (change_ps > to_ps)
            break;
        thread->at_ps = change_ps > thread->at_ps ? change_ps : thread->at_ps;
        while (thread->depth && thread->stack[thread->depth - 1].end_ps <= thread->at_ps)
            thread->depth--;
        /* What is on top now may have inherited from an event that has ended in the meantime. */
        if (thread->depth && thread->stack[thread->depth - 1].cause_end_ps <= thread->at_ps)
            find_reason(thread, thread->depth - 1);
        settle(t, thread, thread->at_ps);
    }
    if (to_ps > thread->at_ps)
        thread->at_ps = to_ps;
}

/* Room for one more open event, if there is any. */
TM_NOT_INLINE bool make_room(struct tm_host_threads *t, struct thread *thread)
{
    const uint32_t size = thread->stack_size ? thread->stack_size * 2 : FIRST_STACK;
    void *stack;

    if (size > DEEPEST_STACK || t->open_most + (size - thread->stack_size) > OPEN_MOST) {
        tm_tally_add(&t->run->tallies, TM_TALLY_DEEP_NESTING, 1);
        return false;
    }
    stack = tm_retake(&t->run->budget, TM_ACCOUNT_THREADS, thread->stack, thread->stack_size * sizeof(*thread->stack),
                      size * sizeof(*thread->stack), &t->run->error);
    if (!stack)
        return false;
    t->open_most += size - thread->stack_size;
    thread->stack = stack;
    thread->stack_size = size;
    return true;
}

/* The same where an event starts: mostly the one before has ended, gave the cause itself, and what encloses both
 * continues. */
static inline void advance_to_event(struct tm_host_threads *t, struct thread *thread, int64_t to_ps)
{
    const struct open_event *const top = thread->depth ? &thread->stack[thread->depth - 1] : NULL;
    const struct open_event *const below = thread->depth > 1 ? top - 1 : NULL;
    const bool is_usual = top && thread->at_ps < to_ps && top->end_ps <= to_ps && top->cause_end_ps >= top->end_ps &&
                          (!below || (below->end_ps > to_ps && below->cause_end_ps > to_ps));

    if (!is_usual) {
        advance(t, thread, to_ps);
        return;
    }
    thread->depth--;
    begin_stretch(t, thread, top->end_ps > thread->at_ps ? top->end_ps : thread->at_ps,
                  below ? unpack(below->reason) : unrecorded, below ? below->name : 0);
    thread->at_ps = to_ps;
}

static inline void take_event(struct tm_host_threads *t, const struct tm_event *event)
{
    const struct tm_record *r = &event->record;
    struct open_event *open;
    struct thread *thread;

    if (event->thread >= t->count || !r->dur_ps)
        return;
    thread = &t->threads[event->thread];
    if (!thread->has_begun)
        start_thread(thread, r->start_ps);
    advance_to_event(t, thread, r->start_ps);
    if (thread->depth == thread->stack_size && !make_room(t, thread))
        return;
    open = &thread->stack[thread->depth++];
    open->end_ps = r->start_ps + r->dur_ps;
    open->own_name = r->name;
    open->own = pack(reason_of((enum tm_class)r->class, event->traits));
    inherit(open, thread->depth > 1 ? open - 1 : NULL);
    begin_stretch(t, thread, r->start_ps, unpack(open->reason), open->name);
}

tm_status tm_host_threads_take(struct tm_host_threads *t, const struct tm_event *events, size_t count, uint32_t wanted)
{
    for (size_t i = 0; i < count; i++)
        if (events[i].wanted & wanted)
            take_event(t, &events[i]);
    return t->run->error.status;
}

void tm_host_threads_forget(struct tm_host_threads *t, int64_t horizon_ps)
{
    t->horizon_ps = horizon_ps;
}

/* --- questions --- */

struct answer {
    struct tm_host_threads *threads;
    int64_t start_ps, end_ps;
    int64_t parts[TM_CAUSE_COUNT];
    int64_t longest_ps[TM_CAUSE_COUNT], longest_begin_ps[TM_CAUSE_COUNT];
    tm_strid names[TM_CAUSE_COUNT];
    /* if one thread waits for results, another one is used */
    struct thread *other;             /* NULL = it is not */
    int64_t other_ps[TM_CAUSE_COUNT]; /* of parts, its contribution */
    bool is_of_other[TM_CAUSE_COUNT]; /* its name */
};

static void gather(struct answer *a, struct thread *thread);

/* Stretches may come in any order: chunks are examined from the last one back.  out: the name is that of this one */
static bool add_time(struct answer *a, uint32_t cause, int64_t ps, int64_t longest_ps, int64_t start_ps, tm_strid name)
{
    a->parts[cause] += ps;
    if (longest_ps < a->longest_ps[cause] ||
        (longest_ps == a->longest_ps[cause] && (!longest_ps || start_ps >= a->longest_begin_ps[cause])))
        return false;
    a->longest_ps[cause] = longest_ps;
    a->longest_begin_ps[cause] = start_ps;
    a->names[cause] = name;
    a->is_of_other[cause] = false;
    return true;
}

/* A wait: time that the other thread recorded is attributed to it, the rest is the wait. */
static void add_wait(struct answer *a, int64_t from_ps, int64_t to_ps, tm_strid name)
{
    struct answer other = { .threads = a->threads, .start_ps = from_ps, .end_ps = to_ps };
    int64_t left_ps = to_ps - from_ps;

    gather(&other, a->other);
    for (uint32_t i = 0; i < TM_CAUSE_COUNT; i++) {
        if (i == TM_CAUSE_UNRECORDED || !other.parts[i])
            continue;
        left_ps -= other.parts[i];
        a->other_ps[i] += other.parts[i];
        if (add_time(a, i, other.parts[i], other.longest_ps[i], other.longest_begin_ps[i], other.names[i]))
            a->is_of_other[i] = true;
    }
    (void)add_time(a, TM_CAUSE_SYNC, left_ps, left_ps, from_ps, name);
}

static void add_stretch(struct answer *a, const struct stretch *stretch, int64_t until_ps)
{
    const int64_t from_ps = stretch->start_ps > a->start_ps ? stretch->start_ps : a->start_ps;
    const int64_t to_ps = until_ps < a->end_ps ? until_ps : a->end_ps;

    if (to_ps <= from_ps)
        return;
    if (a->other && stretch->cause == TM_CAUSE_SYNC)
        add_wait(a, from_ps, to_ps, stretch->name);
    else
        (void)add_time(a, stretch->cause, to_ps - from_ps, to_ps - from_ps, from_ps, stretch->name);
}

static void add_stretches(struct answer *a, const struct stretch *stretches, uint32_t count, int64_t end_ps)
{
    for (uint32_t i = 0; i < count; i++)
        add_stretch(a, &stretches[i], i + 1 < count ? stretches[i + 1].start_ps : end_ps);
}

/* The row of the last spilled chunk that starts before a time, plus one; 0 = none.  Requests for a step go back in
 * time: the chunk is near that of the previous answer. */
static uint64_t find_spilled(const struct tm_host_threads *t, struct thread *thread, int64_t at_ps)
{
    uint64_t number = thread->near_spilled;

    if (!number || ((const struct spilled *)tm_rows_at(t->spilled, number - 1))->end_ps < at_ps)
        number = thread->spilled;
    while (number) {
        const struct spilled *const there = tm_rows_at(t->spilled, number - 1);

        if (there->stretches[0].start_ps < at_ps)
            break;
        number = there->before;
    }
    thread->near_spilled = number;
    return number;
}

/* The spilled chunks, from the latest one backwards. */
static void add_spilled(struct answer *a, struct thread *thread)
{
    struct tm_host_threads *t = a->threads;

    for (uint64_t at = find_spilled(t, thread, a->end_ps); at;) {
        const struct spilled row = *(const struct spilled *)tm_rows_at(t->spilled, at - 1); /* others may be read */

        if (row.end_ps <= a->start_ps)
            break;
        at = row.before;
        add_stretches(a, row.stretches, row.count, row.end_ps);
    }
}

/* One more than the place of the chunk that contains a time, or of the last one before it; thread->first = there is
 * none in memory.  The host may be far ahead of the requesting device. */
static uint32_t find_place(const struct thread *thread, int64_t at_ps)
{
    uint32_t low = thread->first, high = thread->place_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (thread->places[middle].start_ps < at_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* in: the thread's log reaches up to the end */
static void gather(struct answer *a, struct thread *thread)
{
    uint32_t place;

    if (!thread->has_begun)
        return;
    add_stretch(a, &thread->current, a->end_ps);
    for (place = find_place(thread, a->end_ps); place > thread->first && end_of(thread, place - 1) > a->start_ps;
         place--) {
        const struct chunk *const chunk = thread->places[place - 1].chunk;

        add_stretches(a, chunk->stretches, chunk->count, end_of(thread, place - 1));
    }
    if (place == thread->first)
        add_spilled(a, thread);
}

/* Attribute to a thread; what no thread recorded is unrecorded. */
static void ask(struct answer *a, uint32_t number, uint32_t other)
{
    struct tm_host_threads *t = a->threads;
    struct thread *thread = number < t->count ? &t->threads[number] : NULL;
    int64_t seen_ps = 0;

    a->other = other < t->count && other != number && t->threads[other].has_begun ? &t->threads[other] : NULL;
    if (a->other)
        advance(t, a->other, a->end_ps);
    if (thread && thread->has_begun)
        advance(t, thread, a->end_ps);
    if (thread)
        gather(a, thread);
    for (int i = 0; i < TM_CAUSE_COUNT; i++)
        seen_ps += a->parts[i];
    a->parts[TM_CAUSE_UNRECORDED] += a->end_ps - a->start_ps - seen_ps;
}

tm_status tm_host_threads_ask(struct tm_host_threads *t, uint32_t thread, int64_t start_ps, int64_t end_ps,
                              int64_t parts[TM_CAUSE_COUNT], tm_strid names[TM_CAUSE_COUNT])
{
    struct answer a = { .threads = t, .start_ps = start_ps, .end_ps = end_ps };

    ask(&a, thread, TM_NONE);
    for (int i = 0; i < TM_CAUSE_COUNT; i++)
        parts[i] += a.parts[i];
    for (int i = 0; i < TM_CAUSE_COUNT && names; i++)
        names[i] = a.names[i];
    return t->run->error.status;
}

tm_status tm_host_threads_ask_main(struct tm_host_threads *t, uint32_t main, uint32_t launching, int64_t start_ps,
                                   int64_t end_ps, int64_t parts[TM_CAUSE_COUNT], int64_t main_ps[TM_CAUSE_COUNT],
                                   tm_strid names[TM_CAUSE_COUNT], bool by_main[TM_CAUSE_COUNT])
{
    struct answer a = { .threads = t, .start_ps = start_ps, .end_ps = end_ps };

    ask(&a, main, launching);
    for (int i = 0; i < TM_CAUSE_COUNT; i++) {
        parts[i] += a.parts[i];
        main_ps[i] += i == TM_CAUSE_UNRECORDED ? 0 : a.parts[i] - a.other_ps[i];
        names[i] = a.names[i];
        by_main[i] = !a.is_of_other[i];
    }
    return t->run->error.status;
}

/* --- a thread, from a time back --- */

struct back {
    int64_t start_ps, at_ps; /* at_ps: everything from there on has been given */
    tm_take_stretch *take;
    void *to;
    bool is_done;
};

static void give_stretch(struct back *b, const struct stretch *stretch)
{
    const int64_t from_ps = stretch->start_ps > b->start_ps ? stretch->start_ps : b->start_ps;
    struct tm_host_stretch given = { .cause = (enum tm_cause)stretch->cause,
                                     .is_vague = stretch->is_vague,
                                     .name = stretch->name,
                                     .start_ps = from_ps,
                                     .end_ps = b->at_ps };

    if (b->is_done || from_ps >= b->at_ps)
        return;
    b->is_done = !b->take(b->to, &given);
    b->at_ps = from_ps;
    b->is_done |= from_ps == b->start_ps;
}

static void give_stretches(struct back *b, const struct stretch *stretches, uint32_t count)
{
    for (uint32_t i = count; i > 0 && !b->is_done; i--)
        give_stretch(b, &stretches[i - 1]);
}

static void give_spilled(struct tm_host_threads *t, struct thread *thread, struct back *b)
{
    for (uint64_t at = b->is_done ? 0 : find_spilled(t, thread, b->at_ps); at && !b->is_done && !tm_failed(t->run);) {
        const struct spilled row = *(const struct spilled *)tm_rows_at(t->spilled, at - 1);

        give_stretches(b, row.stretches, row.count);
        at = row.before;
    }
}

void tm_host_threads_back(struct tm_host_threads *t, uint32_t number, int64_t start_ps, int64_t end_ps,
                          tm_take_stretch *take, void *to)
{
    struct back b = { .start_ps = start_ps, .at_ps = end_ps, .take = take, .to = to, .is_done = start_ps >= end_ps };
    struct thread *thread = number < t->count && t->threads[number].has_begun ? &t->threads[number] : NULL;

    if (thread) {
        advance(t, thread, end_ps);
        give_stretch(&b, &thread->current);
        for (uint32_t place = find_place(thread, b.at_ps); place > thread->first && !b.is_done; place--) {
            const struct chunk *const chunk = thread->places[place - 1].chunk;

            give_stretches(&b, chunk->stretches, chunk->count);
        }
        give_spilled(t, thread, &b);
    }
    give_stretch(&b, &(struct stretch){ .start_ps = start_ps, .cause = TM_CAUSE_UNRECORDED, .is_vague = true });
}
