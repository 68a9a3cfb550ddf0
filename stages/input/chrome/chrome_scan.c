/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a Chrome trace once, from its begin to its end: events go to the store by track, names are put to them at
 * the end.  Memory: the window on the text, the store and the tables, which spill. */
#include "stages/input/chrome/chrome.h"

#include <inttypes.h>
#include <stdio.h>

#include "stages/input/chrome/chrome_maker.h"
#include "stages/input/records/pairs.h"
#include "stages/input/records/record_source.h"

struct scan {
    struct tm_run *run;
    struct tm_trace *trace;
    struct tm_input *input;
    struct tm_chrome_reader *reader;
    struct tm_chrome_tracks tracks;
    struct tm_chrome_maker maker;
};

static tm_status open_parts(struct scan *s)
{
    struct tm_chrome_maker *m = &s->maker;
    tm_status st = tm_chrome_tracks_open(&s->tracks, s->trace);

    if (st != TM_OK)
        return st;
    *m = (struct tm_chrome_maker){ .run = s->run, .trace = s->trace, .tracks = &s->tracks };
    m->store = tm_record_store_new(s->trace);
    m->configs = tm_configs_new(s->trace);
    s->reader = tm_chrome_reader_new(s->run, s->input, NULL);
    m->reader = s->reader;
    m->header = s->reader ? tm_chrome_header(s->reader) : NULL;
    if (s->trace->keeps_arguments)
        m->arguments = tm_chrome_arguments_new(s->run, s->trace->names);
    if (s->trace->keeps_arguments && !m->arguments)
        return s->run->error.status;
    return m->store && m->configs && s->reader ? TM_OK : s->run->error.status;
}

static void close_parts(struct scan *s)
{
    tm_chrome_reader_free(s->reader);
    tm_chrome_arguments_free(s->maker.arguments);
    tm_configs_free(s->maker.configs);
    tm_record_store_free(s->maker.store);
    tm_chrome_tracks_close(&s->tracks);
}

static tm_status read_events(struct scan *s)
{
    for (;;) {
        const struct tm_chrome_event *event;
        tm_status st = tm_chrome_next(s->reader, &event);

        if (st != TM_OK || !event)
            return st;
        st = tm_chrome_take_event(&s->maker, event);
        if (st != TM_OK)
            return st;
    }
}

/* JAX's writer keeps the first so many events and leaves out the rest in silence.
 * source: XLA's trace viewer export, GetTraceViewerMaxEvents; jax-ml/jax issue 21295 */
static void tell_cap(struct scan *s)
{
    if (s->maker.complete != 1000000 && s->maker.complete != 5000000)
        return;
    tm_tally_add(&s->run->tallies, TM_TALLY_EVENT_CAP, 1);
    tm_trace_damage(s->trace, "the file holds exactly %" PRIu64 " events, where JAX stops writing: the end of the run is "
                              "missing, and figures cover only what is there", s->maker.complete);
}

/* What was skipped because of damage, in words. */
static void put_skipped(char *to, size_t room, const struct tm_chrome_damage *damage)
{
    int used = 0;

    if (damage->is_left && damage->places == 1)
        used = snprintf(to, room, "; what follows was not read");
    else if (damage->places > 0 && damage->to == damage->from)
        used = snprintf(to, room, "; nothing was skipped");
    else if (damage->places > 0)
        used = snprintf(to, room, "; %" PRIu64 " bytes were skipped, from byte %" PRIu64 " on",
                        damage->to - damage->from, damage->from);
    if (damage->places > 1)
        (void)snprintf(to + used, room - (size_t)used, "; %" PRIu64 " such places, %" PRIu64 " bytes in all",
                       damage->places, damage->bytes);
}

/* Damage of the text; what lies around it has been read. */
static void tell_damage(struct scan *s)
{
    const struct tm_chrome_damage *const damage = tm_chrome_damage(s->reader);
    char skipped[256] = "";

    if (!damage->problem)
        return;
    put_skipped(skipped, sizeof(skipped), damage);
    tm_trace_damage(s->trace, "%s (byte %" PRIu64 ")%s", damage->problem, damage->at, skipped);
}

static void tell_losses(struct scan *s)
{
    if (s->tracks.has_planes)
        (void)snprintf(s->trace->note, sizeof(s->trace->note),
                       "read from JSON, a lossy copy of the profile: it lacks allocator events, asynchronous TPU lines, "
                       "program ids, device capabilities, HLO and the profiler's warnings; the .xplane.pb file of the "
                       "run has them");
}

static void put_version(char *to, size_t room, int64_t version)
{
    /* CUDA counts 1000 to the major version; HIP 10,000,000, and 100,000 to the minor one */
    if (version >= 10000000)
        (void)snprintf(to, room, "%" PRId64 ".%" PRId64, version / 10000000, version / 100000 % 100);
    else if (version > 0)
        (void)snprintf(to, room, "%" PRId64 ".%" PRId64, version / 1000, version % 1000 / 10);
}

static void take_header(struct scan *s)
{
    const struct tm_chrome_header *h = tm_chrome_header(s->reader);
    struct tm_environment *e = &s->trace->environment;

    e->rank = h->rank;
    e->world_size = h->world_size;
    put_version(e->driver, sizeof(e->driver), h->cuda_driver ? h->cuda_driver : h->hip_driver);
    put_version(e->cuda_runtime, sizeof(e->cuda_runtime), h->cuda_runtime);
    put_version(e->rocm, sizeof(e->rocm), h->hip_runtime);
    (void)snprintf(e->host, sizeof(e->host), "%s", h->host);
    s->trace->has_memory_counters = h->is_converted;
    s->trace->origin = TM_ORIGIN_OTHER;
    if (s->tracks.has_planes) {
        s->trace->origin = TM_ORIGIN_JSON_COPY;
        (void)snprintf(e->framework, sizeof(e->framework), "jax");
    } else if (h->has_schema_version) {
        s->trace->origin = TM_ORIGIN_PYTORCH;
        (void)snprintf(e->framework, sizeof(e->framework), "pytorch");
        e->node_devices = h->device_count > 1 ? h->device_count : 0;
    }
}

/* Begins and ends become spans, and every track is in order; then it is known how much each holds. */
static tm_status order_tracks(struct scan *s)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < tm_rows_count(s->trace->tracks) && st == TM_OK; i++) {
        struct tm_stored_track stored;
        struct tm_track *track;

        st = tm_pairs_join(s->maker.store, s->trace, i);
        if (st == TM_OK)
            st = tm_record_store_track(s->maker.store, i, &stored);
        track = st == TM_OK ? tm_rows_change(s->trace->tracks, i) : NULL;
        if (!track)
            return s->run->error.status;
        track->events = stored.count;
        s->trace->events += stored.count;
    }
    return st;
}

static tm_status refuse_bare(struct scan *s)
{
    const struct tm_chrome_header *header = tm_chrome_header(s->reader);
    struct tm_error *error = &s->run->error;

    if (s->trace->partial) {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "the trace is damaged, and not one event can be read: %s",
                      s->trace->problem);
        tm_hint(error, "copy the file again, or take the profile again");
    } else if (!header->is_list && !header->has_events) {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "it is %s: it has no member traceEvents", tm_kind_name(TM_FILE_OTHER_JSON));
        tm_hint(error, "%s", tm_kind_hint(TM_FILE_OTHER_JSON));
    } else {
        (void)tm_fail(error, TM_ERR_INPUT, -1, "the trace has no events");
        tm_hint(error, "take it again: run a few steps and block_until_ready() inside the trace");
    }
    return TM_ERR_INPUT;
}

static tm_status scan(struct scan *s)
{
    const uint64_t events_before = s->run->events_read;
    tm_status st = read_events(s);

    if (st != TM_OK)
        return st;
    tell_damage(s);
    st = order_tracks(s);
    if (st == TM_OK)
        st = tm_chrome_tracks_finish(&s->tracks, tm_chrome_header(s->reader));
    if (st != TM_OK)
        return st;
    take_header(s);
    s->trace->origin_us = s->maker.origin_us;
    if (s->tracks.has_planes)
        tell_cap(s);
    tell_losses(s);
    return s->run->events_read == events_before ? refuse_bare(s) : TM_OK;
}

tm_status tm_chrome_scan(struct tm_trace *trace, struct tm_input *input, struct tm_source **source)
{
    const struct tm_record_finish finish = { tm_chrome_finish_record, tm_chrome_finish_own, trace };
    struct scan s = { .run = trace->run, .trace = trace, .input = input };
    tm_status st = open_parts(&s);

    *source = NULL;
    if (st == TM_OK)
        st = scan(&s);
    if (st == TM_OK) {
        st = tm_record_source_new(trace, s.maker.store, &finish, source);
        s.maker.store = NULL; /* it is the source's now */
    }
    close_parts(&s);
    return st;
}
