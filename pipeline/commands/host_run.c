/* SPDX-License-Identifier: Apache-2.0 */
/* One host's file: open -> scan -> survey -> order -> resolve.  The verbs that need events begin here. */
#include "pipeline/commands/host_run.h"

#include <stdio.h>

#include "stages/input/chrome/chrome.h"
#include "stages/input/records/replay_source.h"
#include "stages/input/xspace/xspace.h"
#include "stages/order/order.h"

struct tm_chosen_steps tm_host_steps(const struct tm_options *options)
{
    return (struct tm_chosen_steps){ .all = options->steps == TM_CHOOSE_ALL,
                                     .has_range = options->steps == TM_CHOOSE_RANGE,
                                     .begin = options->steps_begin, .end = options->steps_end,
                                     .has_skip = options->skip_steps >= 0, .skip = (uint64_t)options->skip_steps,
                                     .session = options->window == TM_WINDOW_SESSION };
}

static tm_status make_tables(struct tm_trace *trace)
{
    const size_t share = tm_budget_share(&trace->run->budget, TM_ACCOUNT_METADATA);
    const struct tm_config none = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };
    const struct tm_message no_message = { .elements_in = 0 };
    const struct tm_hlo_op no_op = { .name = 0 };
    tm_status st;

    trace->tracks = tm_rows_new(trace->run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), share / 16);
    trace->configs = tm_rows_new(trace->run, TM_ACCOUNT_METADATA, sizeof(struct tm_config), share / 8);
    trace->messages = tm_rows_new(trace->run, TM_ACCOUNT_METADATA, sizeof(struct tm_message), share / 32);
    trace->hlo_ops = tm_rows_new(trace->run, TM_ACCOUNT_METADATA, sizeof(struct tm_hlo_op), share / 16);
    trace->hlo_modules = tm_rows_new(trace->run, TM_ACCOUNT_METADATA, sizeof(struct tm_hlo_module), share / 32);
    trace->devices = tm_take(&trace->run->budget, TM_ACCOUNT_METADATA, TM_DEVICES_MOST * sizeof(*trace->devices),
                             &trace->run->error);
    if (trace->keeps_arguments) {
        const struct tm_common_arguments nothing = { .length = 0 };

        trace->common = tm_rows_new(trace->run, TM_ACCOUNT_METADATA, sizeof(struct tm_common_arguments), share / 32);
        trace->common_bytes = tm_rows_new(trace->run, TM_ACCOUNT_METADATA, 1, share / 16);
        if (!trace->common || !trace->common_bytes)
            return trace->run->error.status;
        st = tm_rows_append(trace->common, &nothing);
        if (st != TM_OK)
            return st;
    }
    if (!trace->tracks || !trace->configs || !trace->messages || !trace->hlo_ops || !trace->hlo_modules ||
        !trace->devices)
        return trace->run->error.status;
    st = tm_rows_append(trace->configs, &none);
    if (st == TM_OK)
        st = tm_rows_append(trace->messages, &no_message);
    return st == TM_OK ? tm_rows_append(trace->hlo_ops, &no_op) : st;
}

/* The input's records by track, whatever its format. */
static tm_status scan(struct tm_host_run *host, tm_take_warning *warn, void *to)
{
    tm_status st = TM_OK;

    if (host->input->kind == TM_FILE_CHROME_JSON)
        return tm_chrome_scan(&host->trace, host->input, &host->source);
    if (host->input->wrapping != TM_PLAIN)
        tm_progress_phase(&host->run->progress, "unpacking", host->input->disk_bytes);
    st = tm_input_hold(host->input);
    tm_progress_phase(&host->run->progress, "scanning", host->input->bytes);
    if (st == TM_OK)
        st = tm_xspace_scan(&host->trace, host->input, warn, to, &host->source);
    return st == TM_OK ? tm_input_finish(host->input) : st;
}

/* Records that will be read again are not decoded again, where that is dear and they have no arguments. */
static tm_status keep_records(struct tm_host_run *host, const struct tm_host_options *options)
{
    if (host->input->kind == TM_FILE_CHROME_JSON || !options->keeps_records || options->keeps_arguments)
        return TM_OK;
    return tm_replay_source_new(host->source, &host->source);
}

static tm_status open_input(struct tm_host_run *host, const struct tm_found_file *found)
{
    const struct tm_input_options options = { .member = found->member, .target = found->target,
                                              .position = found->position };
    tm_status st = TM_OK;

    host->input = found->opened ? found->opened : &host->own;
    if (!found->opened)
        st = tm_input_open_with(&host->own, host->run, found->path, &options);
    if (st == TM_OK)
        st = tm_input_require_readable(host->input);
    if (st != TM_OK || host->input->kind != TM_FILE_PPROF)
        return st;
    (void)tm_fail(&host->run->error, TM_ERR_INPUT, -1, "%s is %s, but has the name of a trace", host->input->name,
                  tm_kind_name(host->input->kind));
    tm_hint(&host->run->error, "give it by its own path");
    return TM_ERR_INPUT;
}

tm_status tm_host_open(struct tm_host_run *host, struct tm_run *run, struct tm_names *names,
                       const struct tm_found_file *found, uint32_t number, const struct tm_host_options *options)
{
    const uint64_t events_before = run->events_read;
    char name[TM_FOUND_NAME_BYTES];
    tm_status st;

    *host = (struct tm_host_run){ .run = run, .trace = { .run = run, .host = number, .names = names,
                                                         .keeps_arguments = options->keeps_arguments,
                                                         .environment = { .rank = -1, .world_size = -1 } } };
    (void)snprintf(host->trace.host_name, sizeof(host->trace.host_name), "%s", found->host);
    st = open_input(host, found);
    if (st == TM_OK)
        st = make_tables(&host->trace);
    if (st == TM_OK)
        st = scan(host, options->warn, options->to);
    if (st == TM_OK)
        st = keep_records(host, options);
    if (st == TM_OK && options->counts) {
        host->census = tm_census_new(&host->trace);
        st = host->census ? TM_OK : run->error.status;
    }
    if (host->input->kind == TM_FILE_CHROME_JSON) /* all events were read; an XSpace is read by the survey */
        tm_progress_phase_of_events(&run->progress, "surveying", run->events_read - events_before, host->input->bytes);
    else
        tm_progress_phase(&run->progress, "reading", host->input->bytes);
    if (st == TM_OK)
        st = tm_survey(host->source, &options->steps, host->census, &host->resolver);
    if (st == TM_OK)
        st = tm_input_check(host->input);
    host->events = run->events_read - events_before;
    return st == TM_OK ? st : tm_while(&run->error, "reading '%s'", tm_found_name(found, name));
}

void tm_host_close(struct tm_host_run *host)
{
    struct tm_trace *trace = &host->trace;

    if (!host->run)
        return;
    tm_census_free(host->census);
    if (host->resolver.run)
        tm_survey_free(&host->resolver);
    if (host->source)
        host->source->type->free(host->source);
    tm_rows_free(trace->tracks);
    tm_rows_free(trace->configs);
    tm_rows_free(trace->messages);
    tm_rows_free(trace->hlo_ops);
    tm_rows_free(trace->hlo_modules);
    tm_rows_free(trace->common);
    tm_rows_free(trace->common_bytes);
    tm_rows_free(trace->steps.marks);
    tm_rows_free(trace->steps.rows);
    tm_give(&host->run->budget, TM_ACCOUNT_METADATA, trace->devices,
            trace->devices ? TM_DEVICES_MOST * sizeof(*trace->devices) : 0);
    tm_input_close(&host->own);
    *host = (struct tm_host_run){ .run = NULL };
}

struct resolved {
    struct tm_host_run *host;
    tm_take_event *take;
    void *to;
};

static tm_status take_record(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    const struct resolved *r = to;
    struct tm_event event;
    const tm_status st = tm_resolve(&r->host->resolver, track, raw, &event);

    tm_progress_event(&r->host->run->progress);
    return st == TM_OK ? r->take(r->to, &event) : st;
}

static void expect_record(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    const struct resolved *r = to;

    tm_expect(&r->host->resolver, track, raw);
}

static tm_status give_events(struct tm_host_run *host, bool gives_own, tm_take_event *take, void *to)
{
    struct resolved resolved = { host, take, to };

    tm_survey_rewind(&host->resolver);
    tm_progress_phase_of_events(&host->run->progress, gives_own ? "writing" : "analyzing", host->events,
                                host->input->bytes);
    const tm_status st = tm_order(host->source, gives_own, expect_record, take_record, &resolved);

    return st == TM_OK ? tm_input_check(host->input) : st;
}

tm_status tm_host_events(struct tm_host_run *host, tm_take_event *take, void *to)
{
    return give_events(host, true, take, to);
}

tm_status tm_host_bare_events(struct tm_host_run *host, tm_take_event *take, void *to)
{
    return give_events(host, false, take, to);
}

static tm_status recount(void *to, const struct tm_track *track, const struct tm_raw_record *raw)
{
    return tm_census_take(to, track, raw);
}

tm_status tm_host_counts(struct tm_host_run *host, tm_take_alike *take, void *to)
{
    const uint64_t count = tm_rows_count(host->trace.tracks);
    tm_status st = TM_OK;

    tm_census_recount(host->census);
    for (uint64_t i = 0; i < count && st == TM_OK; i++) {
        const struct tm_track *track = tm_rows_at(host->trace.tracks, i);

        if (!track)
            return host->run->error.status;
        if (tm_census_needs_order(host->census, track))
            st = tm_order_track(host->source, i, recount, host->census);
    }
    return st == TM_OK ? tm_census_give(host->census, &host->resolver, take, to) : st;
}
