/* SPDX-License-Identifier: Apache-2.0 */
/* The main job without its outputs: inputs -> events -> stages -> summary -> key figures, verdict and findings.
 * Hosts are read one after the other; what the stages keep of a host is passed to the next. */
#include "pipeline/engine/analysis.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/argument_templates.h"
#include "pipeline/discover.h"
#include "pipeline/doc/doc.h"
#include "pipeline/doc/doc_fields.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/options.h"
#include "pipeline/partial.h"
#include "pipeline/process.h"
#include "pipeline/run.h"
#include "pipeline/stage.h"
#include "pipeline/trace.h"
#include "reports/findings/findings.h"
#include "reports/findings/thresholds.h"
#include "stages/figures/device_time.h"
#include "stages/figures/figure_stages.h"
#include "stages/figures/fusion.h"
#include "stages/figures/kernels.h"
#include "stages/figures/memory.h"
#include "stages/figures/ops.h"
#include "stages/figures/feed.h"
#include "stages/input/bytes/input_file.h"
#include "stages/input/formats.h"
#include "stages/input/records/record_store.h"
#include "stages/order/order.h"
#include "stages/resolve/classes.h"
#include "stages/survey/survey.h"

/* One host's file: open -> scan -> survey -> order -> resolve.  The verbs that need events start here. */

struct tm_chosen_steps tm_host_steps(const struct tm_options *options)
{
    return (struct tm_chosen_steps){ .all = options->steps == TM_CHOOSE_ALL,
                                     .has_range = options->steps == TM_CHOOSE_RANGE,
                                     .begin = options->steps_begin,
                                     .end = options->steps_end,
                                     .has_skip = options->skip_steps >= 0,
                                     .skip = (uint64_t)options->skip_steps,
                                     .session = options->window == TM_WINDOW_SESSION };
}

static void make_tables(struct tm_trace *trace)
{
    struct tm_run *const run = trace->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_METADATA);

    trace->tracks = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), share / 16);
    trace->configs = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_config), share / 8);
    trace->messages = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_message), share / 32);
    trace->hlo_ops = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_hlo_op), share / 16);
    trace->hlo_modules = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_hlo_module), share / 64);
    trace->program_names =
        tm_index_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_program_name), share / 64, TM_INDEX_FIRST, NULL);
    trace->devices = tm_take(&run->budget, TM_ACCOUNT_METADATA, TM_DEVICES_MOST * sizeof(*trace->devices), &run->error);
    if (trace->keeps_arguments) {
        trace->common = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_common_arguments), share / 32);
        trace->common_bytes = tm_rows_new(run, TM_ACCOUNT_METADATA, 1, share / 16);
        trace->templates = tm_argument_templates_new(run);
    }
    if (tm_failed(run))
        return;
    tm_rows_append(trace->configs, &(struct tm_config){ .level = TM_LEVEL_NONE, .ordinal = TM_NONE });
    tm_rows_append(trace->messages, &(struct tm_message){ .elements_in = 0 });
    tm_rows_append(trace->hlo_ops, &(struct tm_hlo_op){ .name = 0 });
    if (trace->common)
        tm_rows_append(trace->common, &(struct tm_common_arguments){ .length = 0 });
}

/* How far the work on a file is, by phases.  A JSON is read at once; an XSpace is unpacked and scanned before it is
 * read. What is written besides is written last. */
static const double span_scanning = 0.2, span_surveying = 0.25, span_read = 0.5, span_analyzing = 0.55,
                    span_writing = 0.8;

/* The input's records by track, whatever its format. */
static void scan(struct tm_host_run *host, bool reads_ahead, tm_take_warning *warn, void *to)
{
    if (tm_kind_is_streamed(host->input->kind)) {
        host->trace.skims_lines = false; /* the scan reads all of it */
        if (host->input->kind == TM_FILE_CHROME_JSON)
            tm_chrome_scan(&host->trace, host->input, &host->source);
        else
            tm_pftrace_scan(&host->trace, host->input, &host->source);
        return;
    }
    if (host->input->wrapping != TM_PLAIN)
        tm_progress_phase(&host->run->progress, "reading", host->input->disk_bytes);
    tm_progress_span(&host->run->progress, span_scanning, span_surveying);
    if (!host->input->held) /* else it is read again */
        tm_input_hold(host->input);
    if (tm_failed(host->run))
        return;
    tm_progress_phase(&host->run->progress, "reading", host->input->bytes);
    if (reads_ahead)
        tm_input_begin_ahead(host->input);
    tm_xspace_scan(&host->trace, host->input, warn, to, &host->source);
}

/* Records that will be read again are not decoded again if decoding is expensive. */
static void keep_records(struct tm_host_run *host, const struct tm_host_options *options)
{
    if (!tm_kind_is_streamed(host->input->kind) && options->keeps_records)
        tm_replay_source_new(host->source, &host->source);
}

static void open_input(struct tm_host_run *host, const struct tm_found_file *found)
{
    const struct tm_input_options options = { .member = found->member,
                                              .target = found->target,
                                              .position = found->position };

    host->input = found->opened ? found->opened : &host->own;
    if (!found->opened && tm_input_open_with(&host->own, host->run, found->path, &options))
        return;
    tm_input_require_readable(host->input);
    if (tm_failed(host->run) || host->input->kind != TM_FILE_PPROF)
        return;
    (void)tm_fail(&host->run->error, TM_ERR_INPUT, -1, "%s is %s, but is named like a trace", host->input->name,
                  tm_kind_name(host->input->kind));
    tm_hint(&host->run->error, "pass its own path");
}

static void survey(struct tm_host_run *host, const struct tm_host_options *options, uint64_t events_before)
{
    struct tm_run *run = host->run;

    keep_records(host, options);
    if (options->counts)
        host->census = tm_survey_stats_new(&host->trace);
    tm_progress_span(&run->progress, tm_kind_is_streamed(host->input->kind) ? span_read : span_surveying,
                     span_analyzing);
    if (tm_kind_is_streamed(host->input->kind)) /* all events were read; an XSpace is read by the survey */
        tm_progress_phase_of_events(&run->progress, "surveying", run->events_read - events_before, host->input->bytes);
    else
        tm_progress_phase(&run->progress, "reading", host->input->bytes);
    if (!tm_failed(run))
        tm_survey(host->source, &options->steps, host->census, &host->resolver);
}

static void read_records(struct tm_host_run *host, const struct tm_host_options *options, uint64_t events_before,
                         tm_take_warning *warn)
{
    if (!tm_failed(host->run) && !(options->only_scans && tm_kind_is_streamed(host->input->kind)))
        scan(host, options->reads_ahead, warn, options->to);
    if (!tm_failed(host->run) && !host->trace.is_misread && !options->only_scans)
        survey(host, options, events_before);
}

static void free_tables(struct tm_host_run *host);

/* A trace that was misread is read again, as if it had not been read yet.  But the profiler's messages have been passed
 * on, and its names stay, which are counted when they are new. */
static void read_again(struct tm_host_run *host, const struct tm_host_options *options, uint64_t events_before,
                       const struct tm_tallies *tallies_before)
{
    const struct tm_trace before = host->trace;
    const uint64_t invalid_names = host->run->tallies.count[TM_TALLY_INVALID_UTF8];

    free_tables(host);
    host->run->tallies = *tallies_before;
    host->run->tallies.count[TM_TALLY_INVALID_UTF8] = invalid_names;
    host->run->events_read = events_before;
    host->trace = (struct tm_trace){ .run = before.run,
                                     .host = before.host,
                                     .names = before.names,
                                     .keeps_arguments = before.keeps_arguments,
                                     .has_inert_flows = before.has_inert_flows,
                                     .drops_flows = before.drops_flows,
                                     .environment = { .rank = -1, .world_size = -1 } };
    memcpy(host->trace.host_name, before.host_name, sizeof(before.host_name));
    make_tables(&host->trace);
    read_records(host, options, events_before, NULL);
}

tm_status tm_host_open(struct tm_host_run *host, struct tm_run *run, struct tm_names *names,
                       const struct tm_found_file *found, uint32_t number, const struct tm_host_options *options)
{
    const uint64_t events_before = run->events_read;
    const struct tm_tallies tallies_before = run->tallies;
    char name[TM_FOUND_NAME_BYTES];

    *host = (struct tm_host_run){ .run = run,
                                  .trace = { .run = run,
                                             .host = number,
                                             .names = names,
                                             .keeps_arguments = options->keeps_arguments,
                                             .has_inert_flows = options->has_inert_flows,
                                             .drops_flows = options->drops_flows,
                                             .skims_lines = !options->only_scans && !options->walks_lines,
                                             .environment = { .rank = -1, .world_size = -1 } } };
    (void)snprintf(host->trace.host_name, sizeof(host->trace.host_name), "%s", found->host);
    tm_memory_expect_input(found->bytes);
    tm_progress_file(&run->progress, found->bytes);
    tm_progress_span(&run->progress, 0, span_read);
    open_input(host, found);
    make_tables(&host->trace);
    read_records(host, options, events_before, options->warn);
    if (!tm_failed(run) && host->trace.is_misread)
        read_again(host, options, events_before, &tallies_before);
    if (!tm_failed(run) && host->input->held)
        tm_input_finish(host->input);
    if (!tm_failed(run) && !options->only_scans)
        tm_input_check(host->input);
    host->events = run->events_read - events_before;
    return tm_while(&run->error, "reading '%s'", tm_found_name(found, name));
}

void tm_host_free_records(struct tm_host_run *host)
{
    if (host->resolver.run)
        tm_survey_free(&host->resolver);
    host->resolver = (struct tm_resolver){ .run = NULL };
    if (host->source)
        host->source->type->free(host->source);
    host->source = NULL;
}

static void free_tables(struct tm_host_run *host)
{
    struct tm_trace *const trace = &host->trace;

    tm_survey_stats_free(host->census);
    host->census = NULL;
    tm_host_free_records(host);
    tm_rows_free(trace->tracks);
    tm_rows_free(trace->configs);
    tm_rows_free(trace->messages);
    tm_rows_free(trace->hlo_ops);
    tm_rows_free(trace->hlo_modules);
    tm_index_free(trace->program_names);
    if (trace->keeps_arguments) {
        tm_rows_free(trace->common);
        tm_rows_free(trace->common_bytes);
        tm_argument_templates_free(trace->templates);
    }
    tm_rows_free(trace->steps.marks);
    tm_rows_free(trace->steps.rows);
    tm_give(&host->run->budget, TM_ACCOUNT_METADATA, trace->devices,
            trace->devices ? TM_DEVICES_MOST * sizeof(*trace->devices) : 0);
}

void tm_host_close(struct tm_host_run *host)
{
    if (!host->run)
        return;
    free_tables(host);
    tm_input_close(&host->own);
    *host = (struct tm_host_run){ .run = NULL };
}

/* What threads did is kept from the first device's place in time up to the host's, which is a slice ahead: stretches of
 * up to two events' time, in at most a tenth of the share. */
enum { SLICE_RECORD_BYTES = 640 };

struct resolved {
    struct tm_host_run *host;
    tm_take_event *take;
    void *to;
};

static void expect_record(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    tm_resolve_expect(&((const struct resolved *)to)->host->resolver, track, raw);
}

static tm_status take_record(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    const struct resolved *r = to;
    const struct tm_event *const event = tm_resolve(&r->host->resolver, track, raw);

    r->host->run->progress.device = track->device == TM_NONE ? 0 : track->device + 1;
    tm_progress_event(&r->host->run->progress);
    return event ? r->take(r->to, event) : r->host->run->error.status;
}

static void begin_events(struct tm_host_run *host, const char *phase)
{
    const bool is_last = strcmp(phase, "writing") == 0;

    tm_survey_rewind(&host->resolver);
    tm_progress_span(&host->run->progress, is_last ? span_writing : span_analyzing,
                     is_last || !host->trace.keeps_arguments ? 1 : span_writing);
    tm_progress_phase_of_events(&host->run->progress, phase, host->events, host->input->bytes);
    host->run->progress.devices = host->trace.device_count;
}

static tm_status end_events(struct tm_host_run *host)
{
    if (!tm_failed(host->run))
        tm_input_check(host->input);
    return host->run->error.status;
}

/* Events that are made at once: they stay in the L1 cache until they are taken.  The call sites of those up to
 * EVENTS_AHEAD are fetched meanwhile. */
enum { EVENTS_TOGETHER = 16, EVENTS_AHEAD = 32 };

struct resolved_together {
    struct resolved resolved; /* first: take_record has it */
    tm_expect_events *expect; /* NULL: not needed */
    struct tm_event events[EVENTS_TOGETHER];
};

static tm_status take_alone(const struct resolved *r, const struct tm_merged *merged, uint32_t at)
{
    struct tm_raw_record raw = { .signature = 0 };
    const struct tm_event *event;

    tm_merged_get(merged, at, &raw);
    event = tm_resolve(&r->host->resolver, merged->track[at], &raw);
    return event ? r->take(r->to, event) : r->host->run->error.status;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Those that need more than their call site are resolved alone. */
static tm_status take_records(void *to, const struct tm_merged *merged)
{
    struct resolved_together *const t = to;
    struct tm_run *const run = t->resolved.host->run;
    struct tm_resolver *const resolver = &t->resolved.host->resolver;
    const struct tm_track *const last = merged->track[merged->count - 1];

    run->progress.device = last->device == TM_NONE ? 0 : last->device + 1;
    tm_progress_events(&run->progress, merged->count);
    for (uint32_t at = 0, expected = 0; at < merged->count;) {
        const uint32_t most = least(merged->count - at, EVENTS_TOGETHER);
        const uint32_t soon = least(merged->count, at + EVENTS_AHEAD);
        tm_status st = TM_OK;
        uint32_t made;

        tm_resolve_expect_many(resolver, merged, expected, soon - expected);
        expected = soon;
        made = tm_resolve_many(resolver, merged, at, most, t->events);
        if (t->expect)
            t->expect(t->resolved.to, t->events, made);
        for (uint32_t i = 0; i < made && st == TM_OK; i++)
            st = t->resolved.take(t->resolved.to, &t->events[i]);
        at += made;
        if (st == TM_OK && made < most)
            st = take_alone(&t->resolved, merged, at++);
        if (st != TM_OK)
            return st;
    }
    return TM_OK;
}

tm_status tm_host_events(struct tm_host_run *host, tm_take_event *take, void *to)
{
    return tm_host_written_events(host, true, NULL, take, to);
}

tm_status tm_host_written_events(struct tm_host_run *host, bool gives_own, tm_expect_events *expect,
                                 tm_take_event *take, void *to)
{
    struct resolved_together together = { .resolved = { host, take, to }, .expect = expect };

    begin_events(host, gives_own ? "writing" : "analyzing");
    tm_order(host->source, gives_own, take_record, take_records, &together);
    return end_events(host);
}

/* --- in parts --- */

struct resolved_parts {
    struct resolved resolved; /* first: take_record has it */
    const struct tm_events_in_parts *parts;
};

/* Only work of devices has a step; it is resolved once more when it is taken. */
static bool is_later_record(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    const struct resolved_parts *const r = to;
    const struct tm_event *event = NULL;

    if (track && tm_is_of_device(track) && !tm_is_flow(&raw->record))
        event = tm_resolve(&r->resolved.host->resolver, track, raw);
    return r->parts->is_later(r->parts->to, track, raw->record.start_ps, event ? event->step : TM_NONE);
}

static tm_status end_part_of_records(void *to)
{
    const struct resolved_parts *const r = to;

    return r->parts->end_part(r->parts->to);
}

tm_status tm_host_events_in_parts(struct tm_host_run *host, const struct tm_events_in_parts *parts)
{
    struct resolved_parts r = { { host, parts->take, parts->to }, parts };
    const struct tm_part_order order = { expect_record, take_record, is_later_record, end_part_of_records, &r };

    begin_events(host, "writing");
    tm_order_in_parts(host->source, !parts->is_bare, &order);
    return end_events(host);
}

static tm_status order_by_device(struct tm_host_run *host, tm_take_many *take_many, void *to)
{
    const uint64_t slice = tm_budget_share(&host->run->budget, TM_ACCOUNT_THREADS) / SLICE_RECORD_BYTES;

    begin_events(host, "analyzing");
    tm_order_by_device(host->source, slice, take_record, take_many, to);
    return end_events(host);
}

tm_status tm_host_events_by_device(struct tm_host_run *host, tm_take_event *take, void *to)
{
    return order_by_device(host, NULL, &(struct resolved){ host, take, to });
}

static tm_status recount(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    const struct tm_host_run *const host = to;

    return tm_survey_stats_take(host->census, host->source->signatures, track, raw);
}

tm_status tm_host_counts(struct tm_host_run *host, tm_take_site *take, void *to)
{
    const uint64_t count = tm_rows_count(host->trace.tracks);

    tm_survey_stats_recount(host->census);
    for (uint64_t i = 0; i < count && !tm_failed(host->run); i++) {
        if (tm_survey_stats_needs_order(host->census, tm_rows_at(host->trace.tracks, i)))
            tm_order_track(host->source, i, recount, host);
    }
    if (!tm_failed(host->run))
        tm_survey_stats_give(host->census, &host->resolver, take, to);
    return host->run->error.status;
}

/* The registry of stages. */

/* clang-format off */
const struct tm_stage_type *const tm_registry[] = {
    &tm_overview_stage,
    &tm_device_time_stage,
    &tm_kernels_stage,
    &tm_transfers_stage,
    &tm_collectives_stage,
    &tm_compile_stage,
    &tm_memory_stage,
    &tm_host_stage,
    &tm_profiling_stage,
    &tm_fallback_stage,
    &tm_ops_stage,
    &tm_fusion_stage,
    &tm_occupancy_stage,
    &tm_programs_stage,
    &tm_balance_stage,
    &tm_sharding_stage,
    &tm_scopes_stage,
};

/* clang-format on */
const size_t tm_registry_count = sizeof(tm_registry) / sizeof(tm_registry[0]);

enum { STAGES_MOST = 24, SETTING_BYTES = 256 };

#define PROFILES_SECTION "device-profiles" /* of a partial */

struct analysis {
    struct tm_run *run;
    const struct tm_options *options;
    struct tm_doc *summary;
    struct tm_value *root; /* of the summary */
    struct tm_thresholds thresholds;
    struct tm_settings settings;
    struct tm_chosen_steps choice;
    struct tm_names *names;
    struct tm_inputs found;   /* where none were found */
    struct tm_inputs *inputs; /* `found`, or the observer's */
    struct tm_stage stages[STAGES_MOST];
    size_t stage_count; /* that were opened, the last one perhaps half */
    struct tm_feed feed;
    struct tm_warnings *warnings;
    struct tm_value *file_list, *host_list;
    struct tm_file_facts *file; /* of the file that is being read */
    struct tm_device_profiles *profiles;
    struct tm_partial_writer **saved;   /* NULL = not wanted */
    struct tm_host_partials partials;   /* of hosts that processes have read */
    bool is_of_host;                    /* only the partial of some hosts is requested */
    const struct tm_observer *observer; /* NULL = none */
    bool partial;
};

/* --- stages --- */

static void open_stages(struct analysis *a)
{
    for (size_t i = 0; i < tm_registry_count && i < STAGES_MOST && !tm_failed(a->run); i++) {
        struct tm_stage *stage = &a->stages[a->stage_count++];

        *stage = (struct tm_stage){ .type = tm_registry[i], .run = a->run, .settings = &a->settings, .feed = &a->feed };
        stage->state = tm_take(&a->run->budget, TM_ACCOUNT_MODEL, stage->type->state_bytes, &a->run->error);
        if (!stage->state)
            return;
        (void)stage->type->open(stage);
    }
    if (!tm_failed(a->run))
        tm_feed_init(&a->feed, a->run, a->stages, a->stage_count);
}

static void close_stages(struct analysis *a)
{
    tm_feed_release(&a->feed);
    for (size_t i = 0; i < a->stage_count; i++) {
        if (a->stages[i].state)
            a->stages[i].type->close(&a->stages[i]);
        tm_give(&a->run->budget, TM_ACCOUNT_MODEL, a->stages[i].state, a->stages[i].type->state_bytes);
    }
}

/* Each event goes to the stages, and to the observer if there is one. */
static tm_status take_event(void *to, const struct tm_event *event)
{
    struct analysis *const a = to;

    tm_feed_take(&a->feed, event);
    if (a->observer && !tm_failed(a->run))
        return a->observer->type->take(a->observer->to, event);
    return a->run->error.status;
}

static void observe(const struct analysis *a, const struct tm_event *events, uint32_t count)
{
    for (uint32_t i = 0; a->observer && i < count && !tm_failed(a->run); i++)
        if (a->observer->type->take(a->observer->to, &events[i]) != TM_OK)
            return;
}

/* Events are resolved where they wait for the stages; those that need more than their call site are taken alone. */
static tm_status take_many(void *to, const struct tm_merged *merged)
{
    const struct resolved *const r = to;
    struct analysis *const a = r->to;
    const struct tm_track *const last = merged->track[merged->count - 1];

    a->run->progress.device = last->device == TM_NONE ? 0 : last->device + 1;
    tm_progress_events(&a->run->progress, merged->count);
    for (uint32_t at = 0; at < merged->count && !tm_failed(a->run);) {
        struct tm_raw_record raw = { .signature = 0 };
        const struct tm_event *event;
        uint32_t room;
        struct tm_event *const events = tm_feed_room(&a->feed, &room);
        const uint32_t most = merged->count - at < room ? merged->count - at : room;
        const uint32_t done = tm_resolve_many(&r->host->resolver, merged, at, most, events);

        observe(a, events, done);
        tm_feed_take_room(&a->feed, done);
        at += done;
        if (done == most)
            continue;
        tm_merged_get(merged, at, &raw);
        event = tm_resolve(&r->host->resolver, merged->track[at++], &raw);
        if (event)
            (void)take_event(a, event);
    }
    return a->run->error.status;
}

static void flush_feed(void *to)
{
    tm_feed_flush(to);
}

/* --- one host --- */

static void keep_warning(void *to, const char *text, size_t length)
{
    struct analysis *a = to;

    if (a->warnings->count < TM_WARNINGS_MOST)
        tm_clean_text(a->warnings->text[a->warnings->count++], TM_WARNING_BYTES, text, length);
}

/* The file that was read is added to the list, and its host, if it has one. */
static void add_file(struct analysis *a)
{
    tm_file_facts_add(a->file, TM_FACTS_SUMMARY, a->file_list);
    if (a->file->host[0])
        tm_add_string(a->host_list, NULL, a->file->host);
    a->partial |= a->file->is_partial;
}

static const char *name_of_host(const void *of, uint32_t host)
{
    const struct tm_inputs *inputs = of;

    return inputs->hosts[host]->host;
}

static struct tm_stage_process *start_beside(struct analysis *a, struct tm_host_run *host)
{
    return tm_stage_process_start(&(struct tm_stage_work){ .run = a->run,
                                                           .stages = a->stages,
                                                           .stage_count = a->stage_count,
                                                           .feed = &a->feed,
                                                           .names = a->names,
                                                           .host_name = name_of_host,
                                                           .of = a->inputs,
                                                           .host = host->trace.host,
                                                           .host_run = host });
}

/* The figures of a host are completed without its records, whose memory they may have. */
static void read_events(struct analysis *a, struct tm_host_run *host, bool is_kept)
{
    const struct tm_observer *observer = a->observer;
    struct tm_stage_process *beside = NULL;

    tm_feed_begin_host(&a->feed, &host->trace);
    if (!observer && a->inputs->host_count == 1 && host->events >= TM_STAGE_PROCESS_EVENTS && !tm_failed(a->run))
        beside = start_beside(a, host);
    host->resolver.forget = flush_feed;
    host->resolver.forget_to = &a->feed;
    if (observer && !tm_failed(a->run))
        (void)observer->type->begin_host(observer->to, &host->trace);
    host->trace.is_last_pass = !is_kept;
    if (!tm_failed(a->run))
        (void)order_by_device(host, take_many, &(struct resolved){ host, take_event, a });
    host->resolver.forget = NULL;
    tm_feed_flush(&a->feed);
    if (!is_kept)
        tm_host_free_records(host);
    tm_feed_end_host(&a->feed);
    if (beside)
        tm_stage_process_end(beside);
    if (observer && !tm_failed(a->run))
        (void)observer->type->end_host(observer->to);
}

static void read_host(struct analysis *a, const struct tm_found_file *found, uint32_t number)
{
    const bool is_kept = a->observer && a->observer->kept && a->inputs->host_count == 1;
    const struct tm_host_options options = { .steps = a->choice,
                                             .warn = keep_warning,
                                             .to = a,
                                             .keeps_arguments = is_kept && a->observer->keeps_arguments,
                                             .keeps_records = true,
                                             .reads_ahead = a->inputs->host_count == 1,
                                             .has_inert_flows = !a->observer,
                                             .drops_flows = !a->observer };
    struct tm_host_run own = { .run = NULL };
    struct tm_host_run *const host = is_kept ? a->observer->kept : &own;

    tm_names_begin_host(a->names);
    tm_host_open(host, a->run, a->names, found, number, &options);
    if (!tm_failed(a->run))
        read_events(a, host, is_kept);
    if (!tm_failed(a->run)) {
        tm_file_facts_take(a->file, host->input, found, &host->trace, host->events);
        add_file(a);
    }
    if (!is_kept)
        tm_host_close(host);
}

static void read_memory_profile(struct analysis *a, const struct tm_found_file *found)
{
    tm_memory_file_read(a->run, a->names, found, a->profiles, a->file);
    if (!tm_failed(a->run))
        add_file(a);
}

/* --- partials --- */

static void load_files(struct analysis *a, struct tm_partial_reader *r, const struct tm_input_part *part)
{
    const uint32_t count = tm_partial_load_file_count(r);
    uint32_t host = part->first_host;

    for (uint32_t i = 0; i < count; i++) {
        tm_partial_load_file(r, a->file);
        if (count != part->file_count || (a->file->host[0] && host == a->inputs->host_count))
            (void)tm_partial_damaged(r, "it has changed since it was opened");
        if (tm_failed(a->run))
            return;
        if (a->file->host[0])
            (void)snprintf(a->file->host, sizeof(a->file->host), "%s", name_of_host(a->inputs, host++));
        add_file(a);
    }
    if (host != part->first_host + part->host_count)
        (void)tm_partial_damaged(r, "it has changed since it was opened");
    tm_partial_leave(r);
}

/* What the stages put into the tables was tallied where the profile was read. */
static void load_stages(struct analysis *a, struct tm_partial_reader *r)
{
    const struct tm_tallies tallies = a->run->tallies;

    for (size_t i = 0; i < a->stage_count && !tm_failed(a->run); i++) {
        struct tm_stage *stage = &a->stages[i];

        tm_partial_enter(r, stage->type->name);
        (void)stage->type->load(stage, r);
        tm_partial_leave(r);
    }
    a->run->tallies = tallies;
}

/* in: r  read to its end; path  for messages */
static void load_partial(struct analysis *a, struct tm_partial_reader *r, const char *path,
                         const struct tm_input_part *part)
{
    struct tm_run *run = a->run;
    char run_name[sizeof(a->inputs->partial_run_name)];

    tm_partial_bind(r, a->names, name_of_host, a->inputs, part->first_host, part->host_count);
    tm_partial_load_settings(r, run, path, a->options, run_name, sizeof(run_name));
    load_files(a, r, part);
    load_stages(a, r);
    tm_partial_enter(r, PROFILES_SECTION);
    tm_device_profiles_load(a->profiles, r);
    tm_partial_leave(r);
    tm_partial_load_coverage(r, run, a->warnings);
    tm_partial_finish(r);
    (void)tm_while(&run->error, "reading '%s'", path);
}

static void read_partial(struct analysis *a, const struct tm_found_file *found, const struct tm_input_part *part)
{
    struct tm_partial_reader *r = tm_partial_open(a->run, found->path);

    if (!r)
        return;
    a->run->bytes_read += found->bytes;
    if (tm_partial_sum(r) != part->sum)
        (void)tm_partial_damaged(r, "it has changed since it was opened");
    load_partial(a, r, found->path, part);
    tm_partial_close(r);
}

static void save_partial(struct analysis *a)
{
    struct tm_partial_writer *w = tm_partial_writer_new(a->run, a->names, name_of_host, a->inputs);

    if (!w)
        return;
    *a->saved = w;
    tm_partial_save_settings(w, a->options, a->inputs->run_name);
    tm_partial_save_files(w, a->file_list, a->inputs->plain_hosts);
    for (size_t i = 0; i < a->stage_count && !tm_failed(a->run); i++) {
        struct tm_stage *stage = &a->stages[i];

        tm_partial_begin(w, stage->type->name);
        (void)stage->type->save(stage, w);
        tm_partial_end(w);
    }
    tm_partial_begin(w, PROFILES_SECTION);
    tm_device_profiles_save(a->profiles, w);
    tm_partial_end(w);
    tm_partial_save_coverage(w, a->run, a->warnings);
    (void)tm_while(&a->run->error, "creating the partial");
}

/* Adjacent files as one. */
static struct tm_input_part join_parts(const struct tm_input_part *parts, size_t count)
{
    struct tm_input_part all = { .kind = TM_PART_PARTIAL, .first_host = parts[0].first_host };

    for (size_t i = 0; i < count; i++) {
        all.host_count += parts[i].host_count;
        all.file_count += parts[i].file_count;
    }
    return all;
}

/* What a process has read of hosts, from this file on. */
static void read_host_partial(struct analysis *a, size_t number, struct tm_host_partial *made)
{
    const struct tm_found_file *const found = a->inputs->files[number];
    const struct tm_input_part part = join_parts(&a->inputs->parts[number], made->files);
    struct tm_partial_reader *r = tm_partial_open_file(a->run, made->partial.fd, found->path);

    if (r)
        load_partial(a, r, found->path, &part);
    tm_partial_close(r);
    tm_spill_close(&made->partial);
}

/* out: how many files that were */
static size_t read_file(struct analysis *a, size_t number)
{
    const struct tm_input_part *part = &a->inputs->parts[number];
    const struct tm_found_file *const found = a->inputs->files[number];
    struct tm_host_partial *const made = a->partials.files ? tm_host_partials_at(&a->partials, number) : NULL;

    if (tm_failed(a->run))
        return 0;
    if (made) {
        read_host_partial(a, number, made);
        return made->files;
    }
    if (part->kind == TM_PART_PARTIAL)
        read_partial(a, found, part);
    else if (part->kind == TM_PART_MEMORY)
        read_memory_profile(a, found);
    else
        read_host(a, found, part->first_host);
    return 1;
}

/* --- the summary --- */

/* The user's own notes, which stay unchanged when names are redacted. */
static void add_report(const struct analysis *a)
{
    struct tm_value *const report = tm_add_object(a->root, "report");
    const char *const said[][2] = { { "title", a->options->title }, { "note", a->options->note } };

    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        if (said[i][1])
            tm_add_string(report, said[i][0], said[i][1]);
        else
            tm_add_null(report, said[i][0], "none was given");
    }
    tm_add_bool(report, "redacted", a->run->redactor != NULL);
}

/* The choices that the figures and the tables depend on, as the user would type them. */
static void add_settings(const struct analysis *a)
{
    static const enum tm_option_index told[] = { TM_OPTION_STEPS, TM_OPTION_SKIP_STEPS, TM_OPTION_WINDOW,
                                                 TM_OPTION_GAP_MIN, TM_OPTION_ROWS };
    struct tm_value *const settings = tm_add_object(a->root, "settings");

    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        const struct tm_option *option = &tm_option_table[told[i]];
        const struct tm_setting_set *set = a->options->settings;
        char key[TM_OPTION_NAME_BYTES], text[SETTING_BYTES];

        tm_add_string(settings, tm_option_key(option, key),
                      set ? tm_settings_text(set, told[i], text, sizeof(text)) : option->fallback);
    }
}

static void begin_summary(struct analysis *a)
{
    struct tm_value *tool, *input;

    tm_add_string(a->root, "schema", "tracemill.summary");
    tm_add_int(a->root, "schema_version", TM_SUMMARY_VERSION);
    tool = tm_add_object(a->root, "tool");
    tm_add_string(tool, "name", "tracemill");
    tm_add_string(tool, "version", TM_VERSION);
    for (const struct tm_doc_field *section = tm_summary_schema.fields; section->key; section++)
        if (!tm_get(a->root, section->key))
            tm_add_null(a->root, section->key,
                        a->inputs->host_count ? "not computed by this version" : "no trace was given");
    add_report(a);
    add_settings(a);
    input = tm_add_object(a->root, "input");
    tm_add_string(input, "run", a->inputs->run_name);
    a->host_list = tm_add_array(input, "hosts");
    a->file_list = tm_add_array(input, "files");
}

/* Device memory profiles are in the section of memory, even if no allocator was recorded. */
static void report_profiles(struct analysis *a)
{
    struct tm_value *section = tm_member(a->root, "memory");
    char why[256];

    if (tm_type_of(section) != TM_OBJECT) {
        if (!tm_device_profiles_count(a->profiles))
            return;
        (void)snprintf(why, sizeof(why), "%s", tm_why(section));
        section = tm_add_object(a->root, "memory");
        tm_add_null(section, "small_below_bytes", why);
        tm_add_null(section, "allocators", why);
    }
    tm_device_profiles_report(a->profiles, section);
}

/* Without a trace only the first stage, which reports what was read, has anything to report. */
static void report_stages(struct analysis *a)
{
    const size_t count = a->inputs->host_count ? a->stage_count : 1;

    for (size_t i = 0; i < count && !tm_failed(a->run); i++)
        (void)a->stages[i].type->report(&a->stages[i], a->root);
    for (size_t i = 0; i < count && !tm_failed(a->run); i++)
        if (a->stages[i].type->conclude)
            (void)a->stages[i].type->conclude(&a->stages[i], a->root);
    if (!tm_failed(a->run))
        report_profiles(a);
}

/* Where the time 0 of each host is in the trace that `convert` writes of all of them. */
static void place_files(struct analysis *a)
{
    const size_t count = tm_length(a->file_list), bytes = (count ? count : 1) * sizeof(struct tm_host_clock);
    struct tm_host_clock *const clocks = tm_take(&a->run->budget, TM_ACCOUNT_MODEL, bytes, &a->run->error);
    uint32_t hosts = 0;

    if (!clocks)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct tm_value *file = tm_at(a->file_list, i);

        if (tm_has(tm_get(file, "host")))
            clocks[hosts++] = (struct tm_host_clock){ .base_ns = tm_int(tm_get(file, "clock_ns")),
                                                      .first_ps = tm_int(tm_get(file, "first_ps")) };
    }
    (void)tm_host_clocks_place(clocks, hosts, a->root);
    hosts = 0;
    for (size_t i = 0; i < count; i++) {
        struct tm_value *const file = tm_element(a->file_list, i);

        if (!tm_has(tm_get(file, "host")))
            tm_add_null(file, "trace_ps", "it contains no events");
        else if (clocks[hosts++].to_output.offset_ps == INT64_MAX)
            tm_add_null(file, "trace_ps", "its clock cannot be aligned with the other hosts");
        else
            tm_add_int(file, "trace_ps", clocks[hosts - 1].to_output.offset_ps);
    }
    tm_give(&a->run->budget, TM_ACCOUNT_MODEL, clocks, bytes);
}

/* Files of the run that could not be read are among those that were. */
static void add_missing(struct analysis *a)
{
    static const char why[] = "it was not read";
    const struct tm_input_choice *choice = a->options->choice;

    for (size_t i = 0; choice && i < choice->missing_count; i++) {
        const struct tm_missing_input *missing = &choice->missing[i];
        struct tm_value *file = tm_add_object(a->file_list, NULL);

        tm_add_string(file, "path", missing->path);
        tm_add_string(file, "kind", "missing");
        tm_add_uint(file, "bytes", missing->bytes);
        tm_add_null(file, "xxh3", why);
        tm_add_null(file, "host", why);
        tm_add_int(file, "events", 0);
        tm_add_int(file, "origin_us", 0);
        tm_add_int(file, "clock_ns", 0);
        tm_add_int(file, "first_ps", 0);
        tm_add_null(file, "trace_ps", why);
        tm_add_bool(file, "archived", false);
        tm_add_bool(file, "partial", true);
        tm_add_string(tm_add_array(file, "problems"), NULL, missing->problem);
        (void)tm_add_array(file, "notes");
        a->partial = true;
    }
}

static void finish_summary(struct analysis *a)
{
    struct tm_value *warnings;

    tm_doc_end_reading(a->summary);
    report_stages(a);
    place_files(a);
    add_missing(a);
    tm_add_bool(tm_member(a->root, "input"), "partial", a->partial);
    warnings = tm_add_array(tm_member(a->root, "coverage"), "warnings");
    for (uint32_t i = 0; i < a->warnings->count; i++)
        tm_add_string(warnings, NULL, a->warnings->text[i]);
    if (a->run->redactor)
        tm_redact_summary(a->run->redactor, a->summary);
    if (tm_failed(a->run)) /* what is computed from a summary assumes that it is complete */
        return;
    tm_marks_add(a->run, a->root);
    tm_findings_add(a->run, a->root, &a->thresholds);
    tm_kpis_add(a->run, a->root, &a->thresholds);
    tm_verdict_add(a->run, a->root, &a->thresholds);
    tm_thresholds_add(&a->thresholds, a->root);
}

static void read_settings(struct analysis *a)
{
    const struct tm_options *o = a->options;

    a->settings = (struct tm_settings){ .gap_min_ps = o->gap_min_ps,
                                        .table_rows = o->rows,
                                        .session_window = o->window == TM_WINDOW_SESSION };
    if (a->observer) {
        a->settings.findings_only = a->observer->findings_only;
        a->settings.take_gap = a->observer->type->take_gap;
        a->settings.gap_taker = a->observer->to;
        a->settings.take_matched = a->observer->type->take_matched;
        a->settings.matched_taker = a->observer->to;
    }
    a->choice = tm_host_steps(o);
    tm_thresholds_init(&a->thresholds, &a->run->error);
    if (o->thresholds && !tm_failed(a->run))
        tm_thresholds_read(&a->thresholds, o->thresholds, &a->run->error);
}

static tm_host_partial_write write_host_partial;

/* Processes read several hosts side by side, beside this one. */
static void read_files(struct analysis *a)
{
    const bool is_shared = !a->observer && !a->is_of_host && a->inputs->host_count > 1;

    if (is_shared)
        tm_host_partials_init(&a->partials, a->run, a->options, a->inputs, write_host_partial);
    open_stages(a);
    for (size_t i = 0; i < a->inputs->file_count && !tm_failed(a->run);)
        i += read_file(a, i);
    if (is_shared)
        tm_host_partials_free(&a->partials);
}

static void work(struct analysis *a)
{
    struct tm_run *run = a->run;

    read_settings(a);
    if (a->inputs == &a->found && !tm_failed(run))
        tm_inputs_find(a->inputs, run, a->options);
    if (tm_failed(run))
        return;
    a->names = a->observer ? a->observer->names : tm_names_new(run, tm_redaction_names_bytes(run), tm_traits_of);
    a->warnings = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*a->warnings), &run->error);
    a->file = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*a->file), &run->error);
    a->profiles = a->names ? tm_device_profiles_new(run, a->names) : NULL;
    if (tm_failed(run))
        return;
    begin_summary(a);
    if (!tm_failed(run))
        read_files(a);
    if (a->saved && !tm_failed(run))
        save_partial(a);
    if (!tm_failed(run) && !a->is_of_host)
        finish_summary(a);
}

/* in: inputs  of some hosts of a run, if only their partial is requested, or the observer's; NULL = those of the
 * options
 */
static tm_status analyze(struct tm_run *run, const struct tm_options *options, struct tm_inputs *inputs,
                         struct tm_doc *summary, struct tm_partial_writer **partial, const struct tm_observer *observer)
{
    struct analysis *const a = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*a), &run->error);

    if (partial)
        *partial = NULL;
    if (!a)
        return run->error.status;
    *a = (struct analysis){ .run = run,
                            .options = options,
                            .summary = summary,
                            .root = tm_doc_root(summary),
                            .saved = partial,
                            .is_of_host = inputs && !observer,
                            .observer = observer };
    a->inputs = inputs ? inputs : &a->found;
    work(a);
    close_stages(a);
    tm_device_profiles_free(a->profiles);
    if (!a->observer)
        tm_names_free(a->names);
    tm_inputs_free(&a->found);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a->file, a->file ? sizeof(*a->file) : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a->warnings, a->warnings ? sizeof(*a->warnings) : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a, sizeof(*a));
    if (partial && tm_failed(run)) {
        tm_partial_writer_free(*partial);
        *partial = NULL;
    }
    return run->error.status;
}

tm_status tm_analyze(struct tm_run *run, const struct tm_options *options, struct tm_doc *summary,
                     struct tm_partial_writer **partial, const struct tm_observer *observer)
{
    return analyze(run, options, observer ? observer->inputs : NULL, summary, partial, observer);
}

/* The partial of some files of a run: the state that tm_analyze would have for them alone. */
static void write_host_partial(struct tm_run *run, const struct tm_options *options, const struct tm_inputs *inputs,
                               size_t file, size_t count, FILE *to)
{
    const uint32_t host = inputs->parts[file].first_host;
    const size_t part_bytes = count * sizeof(struct tm_input_part);
    struct tm_inputs some = { .run = run,
                              .files = &inputs->files[file],
                              .parts = tm_take(&run->budget, TM_ACCOUNT_MODEL, part_bytes, &run->error),
                              .file_count = count,
                              .hosts = &inputs->hosts[host],
                              .plain_hosts = &inputs->plain_hosts[host],
                              .host_count = join_parts(&inputs->parts[file], count).host_count,
                              .run_name = inputs->run_name };
    struct tm_doc *const doc = tm_doc_new(run);
    struct tm_partial_writer *partial = NULL;

    for (size_t i = 0; i < count && some.parts; i++) {
        some.parts[i] = inputs->parts[file + i];
        some.parts[i].first_host -= host;
    }
    if (!tm_failed(run) && analyze(run, options, &some, doc, &partial, NULL) == TM_OK)
        tm_partial_write(partial, to);
    tm_partial_writer_free(partial);
    tm_doc_free(doc);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, some.parts, some.parts ? part_bytes : 0);
}
