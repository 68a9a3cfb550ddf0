/* SPDX-License-Identifier: Apache-2.0 */
/* From inputs to events that can be written: analysis, clocks, facts, and what a second reading must not count again.
 * Memory: a clock per host and the facts, in the account `model`. */
#include "pipeline/engine/conversion.h"

#include <string.h>

#include "pipeline/engine/analysis.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/strings.h"
#include "reports/format/format.h"
#include "stages/output/export/exporter.h"
#include "stages/output/trace_writer.h"
#include "stages/resolve/classes.h"

/* --- inputs --- */

static void refuse_part(struct tm_run *run, const struct tm_found_file *file, enum tm_input_part_kind kind,
                        const char *act)
{
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot %s '%s': it is %s", act, file->path,
                  kind == TM_PART_PARTIAL ? "a partial, which contains figures but no events"
                                          : "a device memory profile, which has no events");
    tm_hint(&run->error,
            kind == TM_PART_PARTIAL ? "use the trace that it was created from" : "'tracemill report' reads it");
}

static void check_inputs(struct tm_conversion *c, const char *act)
{
    const struct tm_inputs *inputs = &c->inputs;

    for (size_t i = 0; i < inputs->file_count; i++) {
        const struct tm_found_file *file = inputs->files[i];

        if (inputs->parts[i].kind != TM_PART_TRACE)
            refuse_part(c->run, file, inputs->parts[i].kind, act);
        if (inputs->file_count > 1 && strcmp(file->path, "-") == 0) {
            (void)tm_fail(&c->run->error, TM_ERR_USAGE, -1,
                          "cannot %s stdin together with other inputs: they are "
                          "read twice",
                          act);
            tm_hint(&c->run->error, "write it to a file first");
        }
    }
}

tm_status tm_conversion_open(struct tm_conversion *c, struct tm_run *run, const struct tm_options *options,
                             const char *act, bool is_plain)
{
    struct tm_budget *budget = &run->budget;

    *c = (struct tm_conversion){ .run = run, .options = options };
    if (tm_failed(run))
        return run->error.status;
    if (!tm_inputs_find(&c->inputs, run, options))
        check_inputs(c, act);
    if (tm_failed(run))
        return run->error.status;
    c->names = tm_names_new(run, tm_redaction_names_bytes(run), tm_traits_of);
    c->clocks = tm_take(budget, TM_ACCOUNT_MODEL, c->inputs.host_count * sizeof(*c->clocks), &run->error);
    c->file = tm_take(budget, TM_ACCOUNT_MODEL, sizeof(*c->file), &run->error);
    tm_trace_facts_make(&c->facts, run);
    if (tm_failed(run))
        return run->error.status;
    tm_trace_facts_add_run(&c->facts, options->args, c->inputs.run_name);
    if (!is_plain)
        c->derived = tm_derived_new(run, c->names);
    if (c->derived)
        tm_derived_choose_work(c->derived, options->device_rows, options->gap_min_ps);
    return run->error.status;
}

void tm_conversion_close(struct tm_conversion *c)
{
    struct tm_budget *budget = c->run ? &c->run->budget : NULL;

    if (!budget)
        return;
    tm_host_close(&c->host);
    tm_derived_free(c->derived);
    tm_names_free(c->names);
    tm_give(budget, TM_ACCOUNT_MODEL, c->clocks, c->clocks ? c->inputs.host_count * sizeof(*c->clocks) : 0);
    tm_trace_facts_free(&c->facts, c->run);
    tm_give(budget, TM_ACCOUNT_MODEL, c->file, c->file ? sizeof(*c->file) : 0);
    tm_inputs_free(&c->inputs);
    *c = (struct tm_conversion){ .run = NULL };
}

/* --- clocks and facts --- */

static const struct tm_found_file *file_of(const struct tm_conversion *c, uint32_t number)
{
    return c->inputs.hosts[number]; /* a trace file holds one host */
}

static void note_host(struct tm_conversion *c, const struct tm_trace *trace)
{
    const struct tm_found_file *file = file_of(c, trace->host);
    struct tm_host_clock *clock = &c->clocks[trace->host];

    if (clock->is_noted)
        return;
    tm_trace_facts_add_host(&c->facts, trace, file->member ? file->member : file->path, c->inputs.host_count == 1);
    tm_host_clock_note(clock, trace);
}

/* in:     summary  NULL = nothing was analyzed */
static void place_hosts(struct tm_conversion *c, const struct tm_value *summary)
{
    c->epoch_ns = tm_host_clocks_place(c->clocks, c->inputs.host_count, summary);
    tm_trace_facts_add_clocks(&c->facts, summary, c->inputs.host_count);
}

tm_status tm_conversion_run_name(const struct tm_conversion *c, char name[TM_SHOWN_RUN_BYTES])
{
    const char *run_name = c->inputs.run_name;
    size_t length = strlen(run_name);

    if (c->run->redactor)
        tm_redact_path(c->run->redactor, run_name, length, &run_name, &length);
    (void)snprintf(name, TM_SHOWN_RUN_BYTES, "%s", run_name);
    return c->run->error.status;
}

struct tm_writer_options tm_conversion_writer(const struct tm_conversion *c, bool is_gzip)
{
    return (struct tm_writer_options){ .args = c->options->args,
                                       .epoch_ns = c->epoch_ns,
                                       .is_gzip = is_gzip,
                                       .is_zstd = c->options->zstd,
                                       .kernels = (c->options->device_rows & TM_ROWS_KERNELS) != 0,
                                       .facts = c->alone.list ? c->alone.list : c->facts.list,
                                       .fact_count = c->alone.list ? c->alone.count : c->facts.count };
}

/* --- the analysis --- */

static tm_status observe_host(void *to, const struct tm_trace *trace)
{
    struct tm_conversion *c = to;

    note_host(c, trace);
    return c->derived ? tm_derived_observer.begin_host(c->derived, trace) : TM_OK;
}

static tm_status observe_event(void *to, const struct tm_event *event)
{
    const struct tm_conversion *c = to;

    return c->derived ? tm_derived_observer.take(c->derived, event) : TM_OK;
}

static tm_status observe_gap(void *to, const struct tm_idle_gap *gap)
{
    const struct tm_conversion *c = to;

    return c->derived ? tm_derived_observer.take_gap(c->derived, gap) : TM_OK;
}

static tm_status observe_end(void *to)
{
    const struct tm_conversion *c = to;

    return c->derived ? tm_derived_observer.end_host(c->derived) : TM_OK;
}

static tm_status observe_matched(void *to, const struct tm_matched_collective *matched)
{
    const struct tm_conversion *c = to;

    return c->derived ? tm_derived_observer.take_matched(c->derived, matched) : TM_OK;
}

static const struct tm_observer_type observer_type = { observe_host, observe_event, observe_gap, observe_end,
                                                       observe_matched };

void tm_conversion_observe(struct tm_conversion *c, struct tm_observer *observer)
{
    *observer = (struct tm_observer){ .type = &observer_type,
                                      .to = c,
                                      .names = c->names,
                                      .inputs = &c->inputs,
                                      .kept = &c->host,
                                      .keeps_arguments = true };
}

/* The key of the pseudonyms is there: what was noted before gets them now. */
static void redact_facts(struct tm_conversion *c)
{
    if (!c->run->redactor)
        return;
    for (uint32_t i = 0; i < c->inputs.host_count; i++)
        tm_redactor_know_host(c->run->redactor, c->inputs.hosts[i]->host);
    tm_trace_facts_redact(&c->facts, c->run->redactor);
}

tm_status tm_conversion_take_summary(struct tm_conversion *c, const struct tm_value *summary)
{
    redact_facts(c);
    c->is_read = true;
    place_hosts(c, summary);
    if (c->derived && !tm_failed(c->run))
        tm_derived_take_summary(c->derived, summary);
    return c->run->error.status;
}

static void analyze(struct tm_conversion *c)
{
    struct tm_doc *summary = tm_doc_new(c->run);
    struct tm_observer observer;

    if (!summary)
        return;
    tm_conversion_observe(c, &observer);
    observer.findings_only = true;
    if (!tm_analyze(c->run, c->options, summary, NULL, &observer))
        tm_conversion_take_summary(c, tm_doc_root(summary));
    tm_doc_free(summary);
}

/* --- reading --- */

/* What was read again counts once; tallies of the output follow those of the input. */
static void count_as_before(struct tm_conversion *c, const struct tm_counts *before)
{
    struct tm_run *run = c->run;

    if (!c->is_read)
        return;
    memcpy(run->tallies.count, before->tallies.count, TM_TALLY_FILTERED_OUT * sizeof(before->tallies.count[0]));
    for (int i = TM_TALLY_LONG_ARGUMENTS; i <= TM_TALLY_UNWRITTEN_MEMBER && c->arguments_are_read; i++)
        run->tallies.count[i] = before->tallies.count[i];
    run->events_read = before->events;
    run->bytes_read = before->bytes;
}

static void open_host(struct tm_conversion *c, uint32_t number, bool keeps_arguments)
{
    const struct tm_host_options options = { .steps = tm_host_steps(c->options),
                                             .keeps_arguments = keeps_arguments,
                                             .keeps_records = keeps_arguments };
    const struct tm_counts before = tm_counts_now(c->run);

    tm_host_close(&c->host);
    tm_names_begin_host(c->names);
    tm_host_open(&c->host, c->run, c->names, file_of(c, number), number, &options);
    count_as_before(c, &before);
}

tm_status tm_conversion_host(struct tm_conversion *c, uint32_t number, struct tm_host_run **host)
{
    *host = &c->host;
    if (!c->host.run || c->host.trace.host != number || (!c->host.trace.keeps_arguments && !c->is_bare))
        open_host(c, number, !c->is_bare);
    return c->run->error.status;
}

/* Without an analysis the clocks of several hosts have to be known before the first event is written. */
static void look_at_hosts(struct tm_conversion *c)
{
    const bool is_only = c->inputs.host_count == 1;
    char fingerprint[TM_CONTENT_HASH_BYTES];

    for (uint32_t i = 0; i < c->inputs.host_count; i++) {
        open_host(c, i, is_only);
        if (tm_failed(c->run))
            return;
        note_host(c, &c->host.trace);
        if (c->run->redactor) {
            tm_file_facts_fingerprint(c->host.input, fingerprint);
            tm_redactor_add_fingerprint(c->run->redactor, fingerprint);
        }
    }
    if (c->run->redactor)
        tm_redactor_make_key(c->run->redactor);
    redact_facts(c);
    c->is_read = true;
    place_hosts(c, NULL);
}

tm_status tm_conversion_prepare(struct tm_conversion *c)
{
    if (tm_failed(c->run))
        return c->run->error.status;
    if (c->inputs.host_count > 1) /* only one host stays open until it is written */
        tm_progress_passes(&c->run->progress, 2);
    if (c->derived)
        analyze(c);
    else
        look_at_hosts(c);
    return c->run->error.status;
}

static tm_status take_event(void *to, const struct tm_event *event)
{
    return tm_exporter_take(to, event);
}

static void expect_events(void *to, const struct tm_event *events, uint32_t count)
{
    tm_exporter_expect(to, events, count);
}

/* Events in parts. */
struct in_parts {
    struct tm_conversion *c;
    struct tm_exporter *exporter;
};

static tm_status take_of_part(void *to, const struct tm_event *event)
{
    return tm_exporter_take(((struct in_parts *)to)->exporter, event);
}

static bool is_later(void *to, const struct tm_track *track, int64_t start_ps, uint32_t step)
{
    const struct tm_conversion *const c = ((struct in_parts *)to)->c;

    return c->is_later(c->to_later, track, start_ps, step);
}

static tm_status end_part(void *to)
{
    return tm_exporter_end_part(((struct in_parts *)to)->exporter);
}

static void give_events(struct tm_conversion *c, struct tm_host_run *host, struct tm_exporter *exporter)
{
    if (c->is_later)
        (void)tm_host_events_in_parts(host, &(const struct tm_events_in_parts){ take_of_part, is_later, end_part,
                                                                                &(struct in_parts){ c, exporter },
                                                                                c->is_bare });
    else
        (void)tm_host_written_events(host, !c->is_bare, expect_events, take_event, exporter);
}

/* What is damaged is known when all of a file was read. */
static void note_damage(struct tm_conversion *c, uint32_t number)
{
    struct tm_file_facts *file = c->file;

    tm_file_facts_take(file, c->host.input, file_of(c, number), &c->host.trace, c->host.events);
    if (!file->is_partial)
        return;
    if (c->damaged_files++ == 0)
        (void)snprintf(c->problem, sizeof(c->problem), "'%.400s'%s%s", file->path,
                       file->problem_count ? ": " : " is damaged", file->problem_count ? file->problems[0] : "");
}

tm_status tm_conversion_events(struct tm_conversion *c, uint32_t number, struct tm_exporter *exporter)
{
    struct tm_run *run = c->run;
    struct tm_counts before;
    struct tm_host_run *host;

    if (tm_conversion_host(c, number, &host))
        return run->error.status;
    before = tm_counts_now(run);
    if (tm_exporter_wants_scan(exporter)) {
        tm_exporter_begin_scan(exporter, &host->trace);
        if (!tm_failed(run))
            (void)tm_host_written_events(host, false, NULL, tm_exporter_scan, exporter);
        tm_counts_restore(run, &before);
    }
    tm_exporter_begin_host(exporter, &host->trace, &c->clocks[number].to_output);
    if (!tm_failed(run))
        give_events(c, host, exporter);
    if (!tm_failed(run))
        tm_exporter_end_host(exporter);
    count_as_before(c, &before);
    if (!tm_failed(run) && !c->clocks[number].is_written)
        note_damage(c, number);
    c->clocks[number].is_written = true;
    c->arguments_are_read |= number + 1 == c->inputs.host_count;
    return run->error.status;
}

/* --- the end --- */

tm_status tm_conversion_judge(const struct tm_conversion *c, const char *act)
{
    return tm_failed(c->run) ? c->run->error.status : tm_check_strict(c->run, c->damaged_files > 0, act);
}

static void print_clean(FILE *to, const char *text)
{
    char line[1024];

    tm_clean_text(line, sizeof(line), text, strlen(text));
    (void)fputs(line, to);
}

/* What was left out on purpose, or could not be shown; main reports losses. */
static void tell_unwritten(const struct tm_run *run)
{
    static const struct {
        enum tm_tally tally;
        const char *what;
    } unwritten[] = {
        { TM_TALLY_OTHER_PHASE, "not written: objects, memory dumps, clocks and contexts" },
        { TM_TALLY_STACK_FRAMES, "not written: tables of stack frames" },
        { TM_TALLY_UNWRITTEN_MEMBER, "not written: members of counters, of arrows, and of events over 256 KiB" },
        { TM_TALLY_NUL_IN_ARGUMENTS, "written as U+FFFD: NUL in arguments" },
        { TM_TALLY_FILTERED_OUT, "not written: events excluded by --filter" },
        { TM_TALLY_FLOW_NOT_BEGUN, "not written: ends of arrows without a start" },
        { TM_TALLY_FLOW_WITHOUT_SPAN, "not written: ends of arrows at a time without a span" },
        { TM_TALLY_COUNTER_WITHOUT_VALUE, "not written: counter values that are not numbers" },
        { TM_TALLY_COUNTER_NOT_REPEATED,
          "not repeated at the start of a part: counter values beyond the first 32,768" },
    };

    for (size_t i = 0; i < sizeof(unwritten) / sizeof(unwritten[0]); i++) {
        const uint64_t count = run->tallies.count[unwritten[i].tally];
        char text[TM_FORMAT_BYTES];

        if (count)
            (void)fprintf(stderr, "tracemill: note: %s: %s (%s)\n", unwritten[i].what,
                          tm_format_count(text, (int64_t)count), tm_tally_info[unwritten[i].tally].name);
    }
}

tm_status tm_conversion_warn(const struct tm_conversion *c)
{
    if (tm_failed(c->run))
        return c->run->error.status;
    if (!c->run->quiet)
        tell_unwritten(c->run);
    if (!c->damaged_files)
        return TM_OK;
    (void)fputs("tracemill: warning: the output is partial: ", stderr);
    print_clean(stderr, c->problem);
    if (c->damaged_files > 1)
        (void)fprintf(stderr, ", and %llu more file%s", (unsigned long long)c->damaged_files - 1,
                      c->damaged_files > 2 ? "s" : "");
    (void)fputs("; it contains only what could be read\n", stderr);
    return TM_PARTIAL;
}

/* Opening, feeding and closing a trace writer, the same for one file and for parts. */

static void choose_for_overview(struct tm_writer_options *options)
{
    options->args = TM_ARGS_NONE;
    options->kernels = false;
    options->content = "overview";
}

tm_status tm_trace_output_open(struct tm_trace_output *out, const struct tm_conversion *c,
                               const struct tm_trace_format *format, const struct tm_export_options *choice)
{
    struct tm_writer_options options = tm_conversion_writer(c, format->is_gzip);
    const struct tm_filter *filter = &c->options->filter;
    struct tm_export_options export = *choice;

    if (choice->is_overview)
        choose_for_overview(&options);
    if (choice->alignment) {
        options.epoch_ns = 0; /* times are those of no clock */
        options.kernels = false;
        options.content = "comparison";
    }
    if (choice->side && choice->side->number)
        options.fact_count = 0; /* of the run before */

    *out = (struct tm_trace_output){ .writer = NULL };
    if (!choice->is_overview || !choice->kept)
        out->writer = format->type->open(c->run, c->names, &options);
    if (choice->kept && !tm_failed(c->run))
        out->writer = tm_kept_overview_beside(choice->kept, out->writer);
    else if (out->writer && choice->is_overview)
        out->writer = out->overview = tm_overview_writer_new(c->run, c->names, out->writer);
    if (out->writer && choice->alignment)
        out->writer = out->aligned = tm_aligned_writer_new(c->run, c->names, choice->alignment, out->writer);
    if (out->writer && c->run->redactor)
        out->writer = tm_redacting_writer_new(c->run, c->names, c->run->redactor, out->writer);
    if (!out->writer)
        return c->run->error.status;
    if (out->aligned) {
        export.wants_cut = tm_aligned_wants_cut;
        export.next_file = tm_aligned_next_file;
        export.to = out->aligned;
    }
    export.writer = out->writer;
    export.filter = filter->count ? filter : NULL;
    export.derived = c->derived;
    export.names_hosts = c->inputs.host_count > 1 && !c->alone.list;
    out->exporter = tm_exporter_new(c->run, c->names, &export);
    return out->exporter ? TM_OK : c->run->error.status;
}

void tm_trace_output_close(struct tm_trace_output *out)
{
    tm_exporter_free(out->exporter);
    if (out->writer)
        out->writer->type->free(out->writer);
    *out = (struct tm_trace_output){ .writer = NULL };
}

tm_status tm_trace_output_begin_file(struct tm_trace_output *out, struct tm_out_file *file)
{
    out->writer->type->begin_file(out->writer, file);
    tm_exporter_begin_file(out->exporter);
    return out->writer->run->error.status;
}

tm_status tm_trace_output_end_file(struct tm_trace_output *out)
{
    out->writer->type->end_file(out->writer);
    return out->writer->run->error.status;
}

static void tell_left_out(const struct tm_run *run, uint64_t slices)
{
    char rows[TM_FORMAT_BYTES];

    if (slices && !run->quiet)
        (void)fprintf(stderr, "tracemill: note: not in the overview: %llu slices on rows beyond the first %s\n",
                      (unsigned long long)slices, tm_format_count(rows, TM_OVERVIEW_ROWS));
}

void tm_trace_output_tell(struct tm_trace_output *out, const struct tm_export_counts *counts,
                          struct tm_written *written)
{
    written->counts = *counts;
    written->arguments = out->writer->arguments - out->arguments_before;
    written->raw_bytes = out->writer->type->raw_bytes(out->writer);
    out->arguments_before = out->writer->arguments;
    if (!out->overview)
        return;
    written->counts.slices = tm_overview_slices(out->overview);
    written->counts.arrows = 0;
    tell_left_out(out->overview->run, tm_overview_left_out(out->overview));
}

/* The endings of traces. */

static const struct tm_trace_format formats[] = {
    { ".pftrace", &tm_perfetto_writer, false, true, false },
    { ".pftrace.gz", &tm_perfetto_writer, true, true, false },
    { ".perfetto-trace", &tm_perfetto_writer, false, true, false },
    { ".json", &tm_chrome_json_writer, false, true, false },
    { ".json.gz", &tm_chrome_json_writer, true, true, false },
    { ".csv", &tm_csv_writer, false, false, false },
    { ".csv.gz", &tm_csv_writer, true, false, false },
    { ".tar", &tm_perfetto_writer, false, true, true },
};

void tm_check_zstd(struct tm_run *run, const struct tm_options *options, const struct tm_trace_format *format,
                   const char *name)
{
    if (!options->zstd || !format || tm_failed(run))
        return;
    if (format->type != &tm_perfetto_writer || format->is_gzip) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot write '%s' with --zstd: only a .pftrace has such packets",
                      name);
        tm_hint(&run->error, "end it with .pftrace, or omit --zstd");
    } else if (!options->quiet) {
        (void)fputs("tracemill: note: with --zstd, only Perfetto 58 or later can read the trace; older versions show "
                    "an empty one\n",
                    stderr);
    }
}

const struct tm_trace_format *tm_trace_format_of(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (tm_has_ending(name, formats[i].ending))
            return &formats[i];
    }
    return NULL;
}

/* --- the file --- */

static void write_hosts(struct tm_conversion *c, struct tm_trace_output *out, struct tm_out_file *file)
{
    tm_trace_output_begin_file(out, file);
    for (uint32_t i = 0; i < c->inputs.host_count && !tm_failed(c->run); i++) {
        struct tm_host_run *host;

        if (out->overview && !tm_conversion_host(c, i, &host))
            tm_overview_begin_host(out->overview, &host->trace, &c->clocks[i].to_output,
                                   TM_OVERVIEW_SLICES / c->inputs.host_count);
        tm_conversion_events(c, i, out->exporter);
    }
    if (!tm_failed(c->run))
        tm_trace_output_end_file(out);
}

tm_status tm_convert_into(struct tm_conversion *c, const struct tm_trace_format *format, const char *folder,
                          const char *name, struct tm_out_file **file, struct tm_written *written)
{
    const struct tm_export_options choice = { .is_overview = c->options->overview };
    struct tm_trace_output out = { .writer = NULL };

    *written = (struct tm_written){ .raw_bytes = 0 };
    (void)snprintf(written->name, sizeof(written->name), "%s", name);
    *file = NULL;
    if (tm_failed(c->run))
        return c->run->error.status;
    *file = tm_out_file_open(c->run, folder, name, format->is_gzip);
    if (*file && !tm_trace_output_open(&out, c, format, &choice)) {
        write_hosts(c, &out, *file);
        tm_trace_output_tell(&out, tm_exporter_counts(out.exporter), written);
    }
    tm_trace_output_close(&out);
    return tm_while(&c->run->error, "writing '%s'", name);
}

tm_status tm_convert_kept(struct tm_conversion *c, struct tm_kept_overview *kept, const struct tm_step_parts *parts,
                          const char *folder, const char *name, struct tm_out_file **file, struct tm_written *written)
{
    struct tm_writer_options options = tm_conversion_writer(c, false);
    struct tm_trace_writer *writer = NULL;

    *written = (struct tm_written){ .raw_bytes = 0 };
    (void)snprintf(written->name, sizeof(written->name), "%s", name);
    *file = tm_failed(c->run) ? NULL : tm_out_file_open(c->run, folder, name, false);
    choose_for_overview(&options);
    if (*file)
        writer = tm_perfetto_writer.open(c->run, c->names, &options);
    if (writer) {
        written->counts.slices = tm_kept_overview_write(kept, parts, writer, *file);
        written->raw_bytes = writer->type->raw_bytes(writer);
        tell_left_out(c->run, tm_kept_overview_left_out(kept));
        writer->type->free(writer);
    }
    return tm_while(&c->run->error, "writing '%s'", name);
}
