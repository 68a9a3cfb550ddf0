/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/export_rig.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- the writer --- */

static struct recorder *recorder_of(struct tm_trace_writer *w)
{
    return (struct recorder *)w;
}

/* Also counts the call: bytes are 100 for each. */
static FILE *line(struct tm_trace_writer *w)
{
    struct recorder *const r = recorder_of(w);

    r->calls++;
    return r->to;
}

static const char *text_of(const struct recorder *r, tm_strid id, char *to, size_t room)
{
    (void)snprintf(to, room, "%s", tm_names_text(r->names, id, 0, NULL));
    return to;
}

static void put_name(const struct recorder *r, const char *before, tm_strid id)
{
    char text[512];

    (void)fprintf(r->to, "%s%s", before, text_of(r, id, text, sizeof(text)));
}

static void put_row(const struct recorder *r, const struct tm_out_row *row)
{
    put_name(r, " ", row->name);
    if (row->lane)
        (void)fprintf(r->to, "+%u", row->lane);
}

static void put_arguments(const struct recorder *r, struct tm_arguments list)
{
    struct tm_argument argument;

    while (tm_arguments_next(&list, true, &argument)) {
        if (!tm_argument_is_value(&argument))
            continue;
        put_name(r, " ", argument.key);
        if (argument.type == TM_ARGUMENT_INT)
            (void)fprintf(r->to, "=%" PRId64, argument.number);
        else if (argument.type == TM_ARGUMENT_TEXT)
            (void)fprintf(r->to, "=%.*s", (int)argument.length, argument.text);
    }
}

static void put_rest(const struct recorder *r, const struct tm_out_event *event)
{
    static const char *const marks[] = { "begin", "end", "unfinished", "derived" };

    if (event->category)
        put_name(r, " (", event->category);
    if (event->category)
        (void)fputc(')', r->to);
    if (event->flow)
        (void)fputs(" #", r->to);
    for (unsigned i = 0; i < 4; i++)
        if (event->marks & 1u << i)
            (void)fprintf(r->to, " [%s]", marks[i]);
    if (event->marks & (TM_OUT_CUT_BEGIN | TM_OUT_CUT_END))
        (void)fprintf(r->to, " of %" PRId64 "-%" PRId64, event->whole_begin_ps, event->whole_end_ps);
    if (event->own.length || event->common.length) {
        (void)fputs(" {", r->to);
        put_arguments(r, event->own);
        put_arguments(r, event->common);
        (void)fputs(" }", r->to);
    }
    (void)fputc('\n', r->to);
}

static void note_file(struct tm_trace_writer *w, struct tm_out_file *file)
{
    struct recorder *const r = recorder_of(w);

    (void)file;
    r->files++;
    r->calls = 0;
    if (r->to)
        (void)fprintf(r->to, "file %" PRIu64 "\n", r->files);
}

static void note_row(struct tm_trace_writer *w, const struct tm_out_row *row)
{
    static const char *const sorts[] = { "process", "group", "thread", "lane", "row", "counter" };
    const struct recorder *const r = recorder_of(w);

    assert_int_not_equal(row->uuid, 0);
    assert_true(row->pid > 0);
    if (!line(w) || !r->tells_rows)
        return;
    (void)fprintf(r->to, "%s %d", sorts[row->sort], row->pid);
    if (row->tid)
        (void)fprintf(r->to, "/%d", row->tid);
    put_row(r, row);
    if (row->unit)
        put_name(r, " ", row->unit);
    if (row->sort != TM_OUT_COUNTER)
        (void)fprintf(r->to, " @%" PRId64, row->order);
    (void)fputc('\n', r->to);
}

static void put_event(struct tm_trace_writer *w, const char *what, const struct tm_out_event *event)
{
    const struct recorder *const r = recorder_of(w);

    if (!line(w))
        return;
    (void)fputs(what, r->to);
    put_row(r, event->row);
    put_name(r, " ", event->name);
    (void)fprintf(r->to, " %" PRId64, event->start_ps);
    if (!event->is_instant)
        (void)fprintf(r->to, "-%" PRId64, event->end_ps);
    put_rest(r, event);
}

static void note_begin(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    put_event(w, "begin", event);
}

static void note_end(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    const struct recorder *const r = recorder_of(w);
    struct tm_out_event rest = { .marks = event->marks,
                                 .whole_begin_ps = event->whole_begin_ps,
                                 .whole_end_ps = event->whole_end_ps };

    if (!line(w))
        return;
    (void)fputs("end", r->to);
    put_row(r, event->row);
    (void)fprintf(r->to, " %" PRId64, event->end_ps);
    put_rest(r, &rest);
}

static void note_span(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    put_event(w, "span", event);
}

static void note_instant(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    put_event(w, "instant", event);
}

static void note_counter(struct tm_trace_writer *w, const struct tm_out_counter *counter)
{
    const struct recorder *const r = recorder_of(w);

    if (!line(w))
        return;
    (void)fputs("value", r->to);
    put_row(r, counter->row);
    (void)fprintf(r->to, " %" PRId64 " %g%s\n", counter->time_ps, counter->value, counter->is_whole ? "" : " real");
}

static void note_flow(struct tm_trace_writer *w, const struct tm_out_flow *flow)
{
    static const char *const kinds[] = { "begins", "goes", "ends" };
    const struct recorder *const r = recorder_of(w);

    if (!line(w))
        return;
    (void)fprintf(r->to, "arrow %s", kinds[flow->kind - TM_FLOW_BEGIN]);
    put_row(r, flow->row);
    (void)fprintf(r->to, " %" PRId64 " #%" PRIu64 "%s\n", flow->time_ps, flow->id, flow->is_enclosed ? "" : " next");
}

static void note_close(struct tm_trace_writer *w)
{
    if (line(w))
        (void)fputs("close\n", recorder_of(w)->to);
}

static uint64_t raw_bytes(const struct tm_trace_writer *w)
{
    return ((const struct recorder *)w)->calls * 100;
}

/* clang-format off */
const struct tm_trace_writer_type recorder_with_ends = {
    .writes_ends = true, .begin_file = note_file, .row = note_row, .begin = note_begin, .end = note_end,
    .instant = note_instant, .counter = note_counter, .flow = note_flow, .end_file = note_close, .raw_bytes = raw_bytes,
};
/* clang-format on */
const struct tm_trace_writer_type recorder_without_ends = {
    .begin_file = note_file,
    .row = note_row,
    .end = note_span,
    .instant = note_instant,
    .counter = note_counter,
    .flow = note_flow,
    .end_file = note_close,
    .raw_bytes = raw_bytes,
};

/* --- the trace --- */

void export_rig_init(struct export_rig *rig, struct tm_run *run, const struct tm_trace_writer_type *type)
{
    const uint64_t refuse_in = run->budget.refuse_in;

    run->budget.refuse_in = 0;
    *rig = (struct export_rig){ .run = run };
    rig->names = tm_names_new(run, 1 << 20, NULL);
    rig->trace = (struct tm_trace){ .run = run,
                                    .names = rig->names,
                                    .host_name = "h0",
                                    .keeps_arguments = true,
                                    .devices = rig->devices,
                                    .main_track = TM_NONE,
                                    .origin = TM_ORIGIN_OTHER };
    rig->trace.tracks = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_track), 1 << 20);
    rig->trace.steps.marks = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_step_mark), 128 << 10);
    assert_non_null(rig->names);
    assert_non_null(rig->trace.tracks);
    assert_non_null(rig->trace.steps.marks);
    rig->recorder = (struct recorder){ .writer = { .type = type, .run = run }, .names = rig->names };
    rig->recorder.to = open_memstream(&rig->recorder.text, &rig->recorder.text_bytes);
    assert_non_null(rig->recorder.to);
    run->budget.refuse_in = refuse_in;
}

void export_rig_free(struct export_rig *rig)
{
    if (rig->recorder.to)
        (void)fclose(rig->recorder.to);
    free(rig->recorder.text);
    tm_rows_free(rig->trace.tracks);
    tm_rows_free(rig->trace.steps.marks);
    tm_names_free(rig->names);
}

const char *export_rig_lines(struct export_rig *rig)
{
    (void)fputc('\0', rig->recorder.to);
    assert_int_equal(fflush(rig->recorder.to), 0);
    rewind(rig->recorder.to);
    return rig->recorder.text;
}

tm_strid export_rig_name(struct export_rig *rig, const char *name)
{
    return tm_names_put_string(rig->names, name);
}

uint32_t export_rig_track(struct export_rig *rig, const struct tm_track *track, const char *process, const char *name)
{
    const uint64_t refuse_in = rig->run->budget.refuse_in;
    struct tm_track row = *track;

    rig->run->budget.refuse_in = 0;
    row.plane_name = export_rig_name(rig, process);
    row.name = export_rig_name(rig, name);
    tm_rows_append(rig->trace.tracks, &row);
    rig->run->budget.refuse_in = refuse_in;
    return (uint32_t)tm_rows_count(rig->trace.tracks) - 1;
}

uint32_t export_rig_device(struct export_rig *rig, enum tm_device_kind kind, int64_t ordinal)
{
    struct tm_device *const device = &rig->devices[rig->trace.device_count];

    assert_true(rig->trace.device_count < RIG_DEVICES);
    *device = (struct tm_device){ .index = rig->trace.device_count, .kind = (uint8_t)kind, .ordinal = ordinal };
    (void)snprintf(device->id, sizeof(device->id), "h0/%s:%" PRId64, tm_device_kind_name[kind], ordinal);
    return rig->trace.device_count++;
}

struct tm_event export_rig_event(struct export_rig *rig, uint32_t track, enum tm_kind kind, const char *name,
                                 int64_t start_ps, int64_t dur_ps)
{
    static const struct tm_config none = { .ordinal = TM_NONE };

    return (struct tm_event){
        /* clang-format off */
        .record = { .start_ps = start_ps, .dur_ps = dur_ps, .name = *name ? export_rig_name(rig, name) : 0,
                    .track = track, .class = TM_CLASS_OTHER, .kind = (uint8_t)kind },
        .config = &none, .device = TM_NONE, .step = TM_NONE, .level = TM_LEVEL_NONE, .thread = TM_NONE,
        .launch_track = TM_NONE, .launch_thread = TM_NONE,
    };
    /* clang-format on */
}
