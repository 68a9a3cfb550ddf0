/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HOST_THREADS_H
#define TM_HOST_THREADS_H

#include "pipeline/stage.h"

/* Why a device was idle: docs/metrics.md, "Idle gaps".  The order is that of the summary; of equal parts of a gap
 * the first one names it. */
enum tm_cause {
    TM_CAUSE_DEVICE_WAIT,
    TM_CAUSE_LAUNCH,
    TM_CAUSE_COMPILE,
    TM_CAUSE_INPUT,
    TM_CAUSE_SYNC,
    TM_CAUSE_GC,
    TM_CAUSE_PROFILER,
    TM_CAUSE_HOST,
    TM_CAUSE_UNRECORDED,
    TM_CAUSE_COUNT
};

extern const char *const tm_cause_name[TM_CAUSE_COUNT];

/* The cause that a host event gives to the time in which it is the innermost one, or TM_CAUSE_HOST. */
enum tm_cause tm_cause_of_class(enum tm_class class);

/* Whether it only shows that the host is busy: TM_CAUSE_HOST, for every event. */
static inline bool tm_is_work(enum tm_class class)
{
    const uint64_t causes = UINT64_C(1) << TM_CLASS_LAUNCH | UINT64_C(1) << TM_CLASS_COMPILE |
                            UINT64_C(1) << TM_CLASS_INPUT | UINT64_C(1) << TM_CLASS_SYNC | UINT64_C(1) << TM_CLASS_GC |
                            UINT64_C(1) << TM_CLASS_PROFILER;

    return !(causes >> class & 1);
}

/* Why a thread did not launch, according to an event or to a stack of open events. */
struct tm_cause_reason {
    uint8_t cause; /* enum tm_cause */
    bool is_vague; /* host, but no function of Python or operation: markers do not show what the thread does, and the
                    * runtime waits for a full queue without an event; unrecorded */
    bool is_weak;  /* blocked, the name does not show for what: TM_CAUSE_SYNC where nothing around it says more */
};

/* Whether the cause of the surrounding events replaces the event's own: those of any cause if it has none; those of any
 * cause but a blocked wait if it is a blocked wait; an input event around a launch or a sync call. */
static inline bool tm_cause_yields(struct tm_cause_reason own, struct tm_cause_reason around)
{
    if (around.cause == TM_CAUSE_HOST)
        return false;
    if (own.cause == TM_CAUSE_HOST || own.is_weak)
        return own.cause == TM_CAUSE_HOST || !around.is_weak;
    return around.cause == TM_CAUSE_INPUT && (own.cause == TM_CAUSE_SYNC || own.cause == TM_CAUSE_LAUNCH);
}

/* Whether an event hides an input event around it from the events nested in it: it does not yield to input itself. */
static inline bool tm_cause_hides_input(struct tm_cause_reason reason)
{
    return reason.cause == TM_CAUSE_COMPILE || reason.cause == TM_CAUSE_GC || reason.cause == TM_CAUSE_PROFILER;
}

/* The activity of the launching threads and the main thread over time: the innermost event that has a cause, else
 * `host` where any event is open, else `unrecorded`.  Kept as stretches, from a horizon on: what is before it can
 * be forgotten.  What does not fit in the share is spilled. */
struct tm_host_threads;

struct tm_host_threads *tm_host_threads_new(struct tm_run *run, const struct tm_trace *trace) TM_MUST_USE;
void tm_host_threads_free(struct tm_host_threads *threads);

/* Take host events; they come in the order of the stream, those of other tracks are ignored.
 * in:     wanted  bit of struct tm_event.wanted: events without it are ignored
 * out:    the status of the run */
tm_status tm_host_threads_take(struct tm_host_threads *threads, const struct tm_event *events, size_t count,
                               uint32_t wanted);

/* No query for a time before this one will follow. */
void tm_host_threads_forget(struct tm_host_threads *threads, int64_t horizon_ps);

/* The time in [begin, end) by cause, added to parts. end must not be after the stream's position.
 * out:    names   per cause the event with the longest period in that time, the earliest if equal; 0 = none; may be
 *         NULL
 *         thread  TM_NONE: all of it is unrecorded */
tm_status tm_host_threads_ask(struct tm_host_threads *threads, uint32_t thread, int64_t start_ps, int64_t end_ps,
                              int64_t parts[TM_CAUSE_COUNT], tm_strid names[TM_CAUSE_COUNT]);

/* The same for the main thread, if another one launches and recorded too little on its own: what main did, except while
 * main waits for results; then what the other one recorded.
 * out:    main_ps  of the time added to parts, the part from main; added to
 *         by_main  per cause, whether its name is one of main's */
tm_status tm_host_threads_ask_main(struct tm_host_threads *threads, uint32_t main, uint32_t launching, int64_t start_ps,
                                   int64_t end_ps, int64_t parts[TM_CAUSE_COUNT], int64_t main_ps[TM_CAUSE_COUNT],
                                   tm_strid names[TM_CAUSE_COUNT], bool by_main[TM_CAUSE_COUNT]);

/* What a thread did before a time, stretch by stretch, the last one first; what was not recorded is unrecorded. */
struct tm_host_stretch {
    enum tm_cause cause;
    bool is_vague; /* as in struct tm_cause_reason */
    tm_strid name; /* of the event that gives the cause; 0 = none */
    int64_t start_ps, end_ps;
};

/* Receives a stretch.  out: false: no further ones are needed */
typedef bool tm_take_stretch(void *to, const struct tm_host_stretch *stretch);

/* in: end_ps  as in tm_host_threads_ask */
void tm_host_threads_back(struct tm_host_threads *threads, uint32_t thread, int64_t start_ps, int64_t end_ps,
                          tm_take_stretch *take, void *to);

/* What part of a host's own time counts: its threads also run before, between and after the steps.
 * source: docs/metrics.md, "Host" */
enum tm_host_basis {
    TM_HOST_STEPS,   /* from the start of the first analyzed step marker to the end of the last one */
    TM_HOST_DEVICES, /* no markers on the host: from the first to the last chosen activity of its devices */
    TM_HOST_ALL,     /* neither, or all steps or the session were requested */
    TM_HOST_BASIS_COUNT
};
extern const char *const tm_host_basis_name[TM_HOST_BASIS_COUNT]; /* "steps", "devices", "all" */

struct tm_host_window {
    int64_t start_ps, end_ps; /* of everything: INT64_MIN and INT64_MAX */
    enum tm_host_basis basis;
};

/* errors: of reading the steps' rows; the status is that of the run */
tm_status tm_find_host_window(const struct tm_trace *trace, const struct tm_settings *settings,
                              struct tm_host_window *window);

/* Cut a span to the window.  out: false if nothing of it is in it */
static inline bool tm_cut_to_window(const struct tm_host_window *window, int64_t *start_ps, int64_t *end_ps)
{
    if (*start_ps < window->start_ps)
        *start_ps = window->start_ps;
    if (*end_ps > window->end_ps)
        *end_ps = window->end_ps;
    return *start_ps < *end_ps;
}

/* On a GPU or TPU, and therefore on no thread. */
static inline bool tm_is_on_accelerator(const struct tm_trace *trace, const struct tm_event *event)
{
    return event->device < trace->device_count && trace->devices[event->device].kind != TM_DEVICE_CPU;
}

/* A span of a host's thread: no counter, arrow, allocation or span of no thread. */
static inline bool tm_may_be_host_span(const struct tm_event *event)
{
    const uint32_t others = TM_CLASS_BIT(TM_CLASS_ALLOC) | TM_CLASS_BIT(TM_CLASS_FREE) |
                            TM_CLASS_BIT(TM_CLASS_COUNTER) | TM_CLASS_BIT(TM_CLASS_INSTANT) |
                            TM_CLASS_BIT(TM_CLASS_FLOW) | TM_CLASS_BIT(TM_CLASS_ASYNC) |
                            TM_CLASS_BIT(TM_CLASS_DERIVED) | TM_CLASS_BIT(TM_CLASS_DEVICE_OTHER);

    return event->record.kind == TM_SPAN && !(TM_CLASS_BIT(event->record.class) & others);
}

/* The same with a length. */
static inline bool tm_is_host_span(const struct tm_event *event)
{
    return event->record.dur_ps > 0 && tm_may_be_host_span(event);
}

#endif
