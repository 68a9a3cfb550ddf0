/* SPDX-License-Identifier: Apache-2.0 */
/* The overview that is made from the calls that write the parts: what the parts get, and what it has itself. */
#include <inttypes.h>
#include <stdio.h>

#include "pipeline/arguments.h"
#include "pipeline/store/names.h"
#include "stages/output/trace_writer.h"
#include "tests/support/test_run.h"

/* A writer that notes its calls. */
struct spy {
    struct tm_trace_writer base;
    struct tm_names *names;
    char text[4096];
    bool is_freed;
};

static void note(struct tm_trace_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(struct tm_trace_writer *w, const char *format, ...)
{
    struct spy *const s = (struct spy *)w;
    const size_t used = strlen(s->text);
    va_list list;

    va_start(list, format);
    (void)vsnprintf(s->text + used, sizeof(s->text) - used, format, list);
    va_end(list);
}

static void note_file(struct tm_trace_writer *w, struct tm_out_file *file)
{
    (void)file;
    note(w, "file;");
}

static void note_row(struct tm_trace_writer *w, const struct tm_out_row *row)
{
    note(w, "row %" PRIu64 ";", row->uuid);
}

static void note_start(struct tm_trace_writer *w, const char *what, const struct tm_out_event *event)
{
    struct spy *const s = (struct spy *)w;
    struct tm_arguments list = event->common;
    struct tm_argument part;

    note(w, "%s %s %" PRId64 " on %" PRIu64, what, tm_names_text(s->names, event->name, 0, NULL), event->start_ps,
         event->row->uuid);
    if (event->marks & TM_OUT_DERIVED)
        note(w, " with %zu", event->own.length);
    if (tm_arguments_next(&list, true, &part))
        note(w, " in %.*s", (int)part.length, (const char *)part.text);
    note(w, ";");
}

static void note_begin(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    note_start(w, "begin", event);
}

static void note_instant(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    note_start(w, "instant", event);
}

static void note_end(struct tm_trace_writer *w, const struct tm_out_event *event)
{
    note(w, "end %" PRId64 " cut %d;", event->end_ps, event->marks & TM_OUT_CUTS);
}

static void note_counter(struct tm_trace_writer *w, const struct tm_out_counter *counter)
{
    note(w, "value %" PRId64 " %g at %" PRId64 ";", counter->whole, counter->value, counter->time_ps);
}

static void note_flow(struct tm_trace_writer *w, const struct tm_out_flow *flow)
{
    note(w, "arrow %" PRIu64 ";", flow->id);
}

static void note_file_end(struct tm_trace_writer *w)
{
    note(w, "end of file");
}

static uint64_t no_bytes(const struct tm_trace_writer *w)
{
    (void)w;
    return 7;
}

static void note_free(struct tm_trace_writer *w)
{
    ((struct spy *)w)->is_freed = true;
}

static const struct tm_trace_writer_type spy_type = {
    .writes_ends = true,
    .begin_file = note_file,
    .row = note_row,
    .begin = note_begin,
    .end = note_end,
    .instant = note_instant,
    .counter = note_counter,
    .flow = note_flow,
    .end_file = note_file_end,
    .raw_bytes = no_bytes,
    .free = note_free,
};

/* --- */

static struct tm_run run;
static struct tm_names *names;
static struct tm_kept_overview *kept;
static struct spy parts, file;
static struct tm_trace_writer *writer;
static struct tm_trace trace = { .host_name = "host0", .last_ps = 1000 };
static const struct tm_out_row row = { .uuid = 5, .sort = TM_OUT_THREAD },
                               counted = { .uuid = 6, .sort = TM_OUT_COUNTER };

static struct spy spy_of(void)
{
    return (struct spy){ .base = { .type = &spy_type, .run = &run }, .names = names };
}

static void open_all(bool has_parts)
{
    const struct tm_clock clock = { .offset_ps = 0 };

    test_run_init(&run);
    names = tm_names_new(&run, 1 << 20, NULL);
    assert_non_null(names);
    parts = spy_of();
    file = spy_of();
    kept = tm_kept_overview_new(&run, names);
    assert_non_null(kept);
    tm_kept_overview_begin_host(kept, &trace, &clock, TM_OVERVIEW_SLICES);
    writer = tm_kept_overview_beside(kept, has_parts ? &parts.base : NULL);
    assert_non_null(writer);
    writer->type->begin_file(writer, NULL);
    writer->type->row(writer, &row);
}

static const char *find_part(void *to, const char *host, uint32_t ordinal)
{
    assert_string_equal(host, "host0");
    (*(uint32_t *)to)++;
    return ordinal == 3 ? "part-0002.pftrace" : NULL;
}

/* Write what was kept.  out: how often a part was looked for */
static uint32_t write_kept(void)
{
    uint32_t looked = 0;

    writer->type->end_file(writer);
    writer->type->free(writer);
    (void)tm_kept_overview_write(kept, &(struct tm_step_parts){ .find = find_part, .to = &looked }, &file.base, NULL);
    return looked;
}

static void close_all(void)
{
    assert_false(file.is_freed);
    tm_kept_overview_free(kept);
    tm_names_free(names);
    assert_int_equal(run.error.status, TM_OK);
    assert_ledger_is_even(&run);
}

static struct tm_out_event event_of(const char *name, int64_t start_ps, int64_t end_ps)
{
    return (struct tm_out_event){ .row = &row,
                                  .start_ps = start_ps,
                                  .end_ps = end_ps,
                                  .whole_begin_ps = start_ps,
                                  .whole_end_ps = end_ps,
                                  .name = tm_names_put_string(names, name) };
}

/* in: marks  that its pieces have besides; end_cut: those of its last end */
static void pass_in_pieces(uint8_t marks, uint8_t begin_marks)
{
    struct tm_out_event event = event_of("long", 10, 90);

    event.whole_begin_ps -= begin_marks ? 5 : 0;
    writer->type->begin(writer, &event);
    event.end_ps = 50;
    event.marks = TM_OUT_CUT_END | TM_OUT_CONTINUED | begin_marks;
    writer->type->end(writer, &event);
    writer->type->end_file(writer);
    writer->type->begin_file(writer, NULL);
    writer->type->row(writer, &row);
    event.start_ps = 50;
    event.end_ps = 90;
    event.marks = TM_OUT_CONTINUES | marks;
    writer->type->begin(writer, &event);
    event.marks |= TM_OUT_CUT_BEGIN;
    writer->type->end(writer, &event);
}

static void a_slice_in_two_parts_is_one(void **state)
{
    (void)state;
    open_all(true);
    pass_in_pieces(0, 0);
    assert_int_equal(write_kept(), 0);
    assert_string_equal(parts.text, "file;row 5;begin long 10 on 5;end 50 cut 2;end of filefile;row 5;"
                                    "begin long 50 on 5;end 90 cut 1;end of file");
    assert_string_equal(file.text, "file;row 5;begin long 10 on 5;end 90 cut 0;end of file");
    assert_true(parts.is_freed);
    close_all();
}

static void what_the_filter_cut_stays_cut(void **state)
{
    (void)state;
    open_all(true);
    pass_in_pieces(TM_OUT_CLIPPED, TM_OUT_CUT_BEGIN);
    (void)write_kept();
    assert_string_equal(file.text, "file;row 5;begin long 10 on 5;end 90 cut 1;end of file");
    close_all();
}

static void a_value_that_is_repeated_is_one(void **state)
{
    struct tm_out_counter counter = { .row = &counted, .time_ps = 20, .whole = -3, .is_whole = true };

    (void)state;
    open_all(true);
    writer->type->row(writer, &counted);
    writer->type->counter(writer, &counter);
    counter.is_repeated = true;
    counter.time_ps = 30;
    writer->type->counter(writer, &counter);
    counter = (struct tm_out_counter){ .row = &counted, .time_ps = 40, .value = 0.5 };
    writer->type->counter(writer, &counter);
    (void)write_kept();
    assert_string_equal(parts.text, "file;row 5;row 6;value -3 0 at 20;value -3 0 at 30;value 0 0.5 at 40;end of file");
    assert_string_equal(file.text, "file;row 5;row 6;value -3 -3 at 20;value 0 0.5 at 40;end of file");
    close_all();
}

static void a_step_names_the_part_that_was_written_later(void **state)
{
    struct tm_arguments_builder list;
    uint8_t bytes[256];
    char wanted[256];

    (void)state;
    open_all(true);
    tm_arguments_begin(&list, names, bytes, sizeof(bytes));
    tm_put_int(&list, tm_names_put_string(names, "number"), 4);

    struct tm_out_event event = event_of("step 4", 10, 20);

    event.own = tm_arguments_end(&list);
    event.marks = TM_OUT_DERIVED;
    event.of_step = 4;
    writer->type->begin(writer, &event);
    writer->type->end(writer, &event);
    event.of_step = 3;
    writer->type->instant(writer, &event);
    assert_int_equal(write_kept(), 2);
    (void)snprintf(wanted, sizeof(wanted),
                   "file;row 5;begin step 4 10 on 5 with %zu in part-0002.pftrace;end 20 cut 0;"
                   "instant step 4 10 on 5 with %zu;end of file",
                   event.own.length, event.own.length);
    assert_string_equal(file.text, wanted);
    close_all();
}

/* Where another pass makes it: arrows are not in it. */
static void it_can_be_made_without_parts(void **state)
{
    const struct tm_out_flow flow = { .row = &row, .id = 1 };
    struct tm_out_event event;

    (void)state;
    open_all(false);
    event = event_of("a", 10, 20);
    writer->type->begin(writer, &event);
    writer->type->flow(writer, &flow);
    writer->type->end(writer, &event);
    assert_int_equal(writer->type->raw_bytes(writer), 0);
    (void)write_kept();
    assert_string_equal(parts.text, "");
    assert_string_equal(file.text, "file;row 5;begin a 10 on 5;end 20 cut 0;end of file");
    close_all();
}

static tm_status make(struct tm_run *of)
{
    struct tm_names *const some = tm_names_new(of, 1 << 20, NULL);
    struct tm_kept_overview *const k = some ? tm_kept_overview_new(of, some) : NULL;
    struct tm_trace_writer *const w = k ? tm_kept_overview_beside(k, NULL) : NULL;

    if (w)
        w->type->free(w);
    tm_kept_overview_free(k);
    tm_names_free(some);
    return of->error.status;
}

static void refused_memory_is_given_back(void **state)
{
    (void)state;
    refuse_each_request(make);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_in_two_parts_is_one),
        cmocka_unit_test(what_the_filter_cut_stays_cut),
        cmocka_unit_test(a_value_that_is_repeated_is_one),
        cmocka_unit_test(a_step_names_the_part_that_was_written_later),
        cmocka_unit_test(it_can_be_made_without_parts),
        cmocka_unit_test(refused_memory_is_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
