/* SPDX-License-Identifier: Apache-2.0 */
/* What the events of an XSpace say of themselves, where it is kept. */
#include <stdlib.h>

#include "stages/input/xspace/xspace_reader.h"
#include "tests/support/test_run.h"
#include "tests/support/xspace_run.h"

enum { TEXT_MOST = 2048, NUMBER_MOST = 48 };

/* --- lists as text --- */

static void add(char *to, const char *text)
{
    const size_t at = strlen(to);

    (void)snprintf(to + at, TEXT_MOST - at, "%s", text);
}

static void add_value(struct xspace_run *x, const struct tm_argument *a, char *to)
{
    char number[NUMBER_MOST] = "";

    switch (a->type) {
    case TM_ARGUMENT_NULL:
        add(to, "null");
        return;
    case TM_ARGUMENT_INT:
        (void)snprintf(number, sizeof(number), "%lld", (long long)a->number);
        break;
    case TM_ARGUMENT_UINT:
        (void)snprintf(number, sizeof(number), "u%llu", (unsigned long long)a->value);
        break;
    case TM_ARGUMENT_DOUBLE:
        (void)snprintf(number, sizeof(number), "d%g", a->real);
        break;
    case TM_ARGUMENT_TEXT: {
        char text[TM_ARGUMENT_TEXT_MOST + 3];

        assert_true(a->length <= TM_ARGUMENT_TEXT_MOST);
        (void)snprintf(text, sizeof(text), "'%.*s'", (int)a->length, a->text);
        add(to, text);
        return;
    }
    case TM_ARGUMENT_NAME:
        add(to, "<");
        add(to, xspace_text(x, (tm_strid)a->value));
        add(to, ">");
        return;
    default:
        fail_msg("an argument of type %d", a->type);
    }
    add(to, number);
}

/* "key=value key=value": texts in quotes, names in brackets; valid until the next call. */
static const char *text_of(struct xspace_run *x, struct tm_arguments list)
{
    static char text[TEXT_MOST];
    struct tm_argument a;

    text[0] = '\0';
    while (tm_arguments_next(&list, true, &a)) {
        add(text, text[0] ? " " : "");
        add(text, xspace_text(x, a.key));
        add(text, "=");
        add_value(x, &a, text);
    }
    return text;
}

/* --- reading --- */

static tm_status scan_space(struct xspace_run *x, const struct xb_space *space, const struct xb_style *style,
                            const struct xspace_options *options)
{
    static const struct xb_style plain = { .shuffle = 0 };
    struct xb_bytes bytes = { .length = 0 };
    tm_status st;

    xb_encode(space, style ? style : &plain, &bytes);
    st = xspace_scan_with(x, &bytes, options);
    xb_free(&bytes);
    return st;
}

static const struct xspace_options keeping = { .keeps_arguments = true };

/* The own arguments of the only event of the only line, and what its metadata says. */
static void check_event(const char *what, const struct xb_space *space, const struct xb_style *style, const char *own,
                        const char *common)
{
    const struct tm_source_type *type;
    struct xspace_run x;
    struct tm_cursor *cursor;
    struct tm_arguments list;
    struct tm_raw_record raw;
    uint8_t *const buffer = malloc(TM_ARGUMENTS_MOST);
    bool more;

    assert_non_null(buffer);
    assert_int_equal(scan_space(&x, space, style, &keeping), TM_OK);
    type = x.host.source->type;
    cursor = type->open(x.host.source, 0, 4096);
    assert_non_null(cursor);
    assert_int_equal(type->next(cursor, &raw, &more), TM_OK);
    assert_true(more);
    assert_int_equal(type->own(cursor, &raw), TM_OK);
    if (strcmp(text_of(&x, xspace_own(&x, raw.own, &raw.record)), own) != 0)
        fail_msg("%s: own arguments '%s', not '%s'", what, text_of(&x, xspace_own(&x, raw.own, &raw.record)), own);
    assert_int_equal(tm_trace_common(&x.host.trace, raw.record.common, buffer, &list), TM_OK);
    if (strcmp(text_of(&x, list), common) != 0)
        fail_msg("%s: common arguments '%s', not '%s'", what, text_of(&x, list), common);
    type->close(cursor);
    xspace_close(&x);
    free(buffer);
}

/* --- one event --- */

static void every_kind_of_value_keeps_its_kind(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_line *const line = xb_line(xb_plane(space, "/device:GPU:0"), 1, "Stream #1", 0);

    (void)state;
    xb_event(line, "kernel", 1, 1);
    xb_int(line, "correlation_id", 41);
    xb_int(line, "below zero", INT64_MIN);
    xb_uint(line, "fits", INT64_MAX);
    xb_uint(line, "large", (uint64_t)INT64_MAX + 1);
    xb_real(line, "theoretical_occupancy_pct", 12.5);
    xb_str(line, "short", "text");
    xb_str(line, "kernel_details", "grid:1,1,1 block:32,1,1 and more");
    xb_str(line, "empty", "");
    xb_ref(line, "hlo_op", "fusion.1");
    check_event("kinds", space, NULL,
                "correlation_id=41 below zero=-9223372036854775808 fits=9223372036854775807 large=u9223372036854775808 "
                "theoretical_occupancy_pct=d12.5 short='text' kernel_details=<grid:1,1,1 block:32,1,1 and more> "
                "empty='' hlo_op=<fusion.1>",
                "");
    xb_space_free(space);
}

static void what_has_no_entry_is_said_by_its_id(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const plane = xb_plane(space, "Task Environment");
    struct xb_line *const line = xb_line(plane, 1, "thread", 0);

    (void)state;
    xb_stat_id(plane, "", 600);
    xb_event(line, "event", 1, 1);
    xb_int_of_id(line, 99, 5);
    xb_int_of_id(line, INT64_MIN, 6);
    xb_int_of_id(line, 600, 7);
    xb_ref_of_id(line, "lost", 98);
    xb_ref_of_id(line, "very lost", -1);
    xb_ref_of_id(line, "without letters", 600);
    check_event("ids", space, NULL,
                "stat 99=5 stat -9223372036854775808=6 stat 600=7 lost='(no text 98)' very lost='(no text -1)' "
                "without letters=''",
                "");
    xb_space_free(space);
}

static void bytes_are_shown_where_they_are_a_text(void **state)
{
    char long_text[1026];
    struct xb_space *const space = xb_space_new();
    struct xb_line *const line = xb_line(xb_plane(space, "/host:CPU"), 1, "thread", 0);

    (void)state;
    memset(long_text, 'x', sizeof(long_text));
    xb_event(line, "event", 1, 1);
    xb_bytes_value(line, "text", "two\nlines \xc3\xa4", 12);
    xb_bytes_value(line, "message", "\x08\x01\x12\x02zz", 6);
    xb_bytes_value(line, "no UTF-8", "\xff\xfe", 2);
    xb_bytes_value(line, "none", "", 0);
    xb_bytes_value(line, "long", long_text, 1025);
    xb_blob(line, "longer", 5000);
    check_event("bytes", space, NULL,
                "text='two\nlines \xc3\xa4' message='(6 bytes)' no UTF-8='(2 bytes)' none='' long='(1025 bytes)' "
                "longer='(5000 bytes)'",
                "");
    xb_space_free(space);
}

/* A value of another wire type than its field has, and no value at all. */
static void a_statistic_without_a_value_is_null(void **state)
{
    static const uint8_t stat_without[] = { 0x08, 0x05 }, stat_strange[] = { 0x08, 0x06, 0x28, 0x07 };
    struct xb_bytes event = { .length = 0 }, line = { .length = 0 }, plane = { .length = 0 }, file = { .length = 0 };
    const struct tm_source_type *type;
    struct xspace_run x;
    struct tm_cursor *cursor;
    struct tm_raw_record raw;
    bool more;

    (void)state;
    xb_number(&event, 1, 1);
    xb_number(&event, 2, 1);
    xb_chunk(&event, 4, stat_without, sizeof(stat_without));
    xb_chunk(&event, 4, stat_strange, sizeof(stat_strange));
    xb_chunk(&line, 4, event.at, event.length);
    xb_chunk(&plane, 2, "/host:CPU", 9);
    xb_chunk(&plane, 3, line.at, line.length);
    xb_chunk(&file, 1, plane.at, plane.length);
    assert_int_equal(xspace_scan_with(&x, &file, &keeping), TM_OK);
    type = x.host.source->type;
    cursor = type->open(x.host.source, 0, 4096);
    assert_non_null(cursor);
    assert_int_equal(type->next(cursor, &raw, &more), TM_OK);
    assert_true(more);
    assert_int_equal(type->own(cursor, &raw), TM_OK);
    assert_string_equal(text_of(&x, xspace_own(&x, raw.own, &raw.record)), "stat 5=null stat 6=null");
    type->close(cursor);
    xspace_close(&x);
    xb_free(&event);
    xb_free(&line);
    xb_free(&plane);
    xb_free(&file);
}

/* --- metadata --- */

/* A TPU's op: texts by reference into a table that stands before or behind the entry. */
static void what_the_metadata_says_is_common_to_its_events(void **state)
{
    static const char op[] = "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)";
    static const struct xb_style styles[] = {
        { .shuffle = 0 },       { .metadata_first = true },
        { .shuffle = 5 },       { .shuffle = 6 },
        { .duplicates = true }, { .unknown_fields = true, .groups = true, .long_numbers = true, .names_last = true },
    };
    struct xb_bytes proto = { .length = 0 };
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const tpu = xb_plane(space, "/device:TPU:0");
    struct xb_line *const line = xb_line(tpu, 3, "XLA Ops", 0);

    (void)state;
    for (int i = 0; i < 300000; i++)
        xb_raw(&proto, "h", 1);
    xb_event(line, op, 1, 1);
    xb_int(line, "run_id", 9);
    xb_name_ref(tpu, op, "hlo_category", "loop fusion");
    xb_name_number(tpu, op, "flops", 4000);
    xb_name_ref(tpu, op, "source", "a file of some length.py:12");
    xb_name_bytes(tpu, op, "hlo_proto", &proto);
    xb_name_text(tpu, op, "tf_op", "jit(f)/add");
    xb_display_name(tpu, op, "add.1");
    for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
        check_event("metadata", space, &styles[i], "run_id=9",
                    "hlo_category=<loop fusion> flops=4000 source=<a file of some length.py:12> "
                    "hlo_proto='(300000 bytes)' tf_op='jit(f)/add' "
                    "long_name=<%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0} %b)>");
    xb_free(&proto);
    xb_space_free(space);
}

static void another_name_for_the_viewer_is_an_argument(void **state)
{
    struct xb_space *const space = xb_space_new(), *const same = xb_space_new();
    struct xb_plane *plane = xb_plane(space, "/host:CPU");

    (void)state;
    xb_event(xb_line(plane, 1, "thread", 0), "event", 1, 1);
    xb_display_name(plane, "event", "shown");
    check_event("display name", space, NULL, "", "display_name=<shown>");
    plane = xb_plane(same, "/host:CPU");
    xb_event(xb_line(plane, 1, "thread", 0), "event", 1, 1);
    xb_display_name(plane, "event", "event");
    check_event("the same", same, NULL, "", "");
    xb_space_free(space);
    xb_space_free(same);
}

/* --- many events, in order --- */

/* Of the events that come out of the ordering, each says the number that its time says. */
struct ordered {
    struct xspace_run *x;
    uint64_t events, with_common, with_template, most_bytes;
    int64_t before_ps;
};

static tm_status take_ordered(void *to, const struct tm_event *event)
{
    struct ordered *const o = to;
    struct tm_arguments list = xspace_own(o->x, event->own, &event->record);
    struct tm_argument a;
    bool has_common = event->record.common && !(event->record.flags & TM_FLAG_TEMPLATE);

    assert_true(o->events == 0 || event->record.start_ps >= o->before_ps);
    o->before_ps = event->record.start_ps;
    assert_true(tm_arguments_next(&list, true, &a));
    assert_string_equal(xspace_text(o->x, a.key), "ps");
    assert_int_equal(a.type, TM_ARGUMENT_INT);
    assert_int_equal(a.number, event->record.start_ps);
    assert_true(tm_arguments_next(&list, true, &a));
    assert_string_equal(xspace_text(o->x, a.key), "track");
    assert_int_equal(a.number, event->record.track);
    while (tm_arguments_next(&list, true, &a))
        has_common |= !strcmp(xspace_text(o->x, a.key), "flops");
    assert_int_equal(a.type, TM_ARGUMENT_NULL); /* nothing is left that cannot be read */
    o->events++;
    o->with_common += has_common;
    o->with_template += (event->record.flags & TM_FLAG_TEMPLATE) != 0;
    o->most_bytes = event->own.length > o->most_bytes ? event->own.length : o->most_bytes;
    return TM_OK;
}

static void put_numbered(struct xb_line *line, uint64_t track, int64_t start_ps, size_t blob)
{
    xb_event(line, track % 2 ? "odd" : "even", start_ps, 1);
    xb_int(line, "ps", start_ps);
    xb_int(line, "track", (int64_t)track);
    if (blob)
        xb_blob(line, "blob", blob);
    xb_ref(line, "text", "a text that becomes a name");
}

/* Lines of every sort: in order, not in order, too many to be open at once, with events larger than every buffer. */
static struct xb_space *many_lines(unsigned lines, unsigned events)
{
    static const size_t blobs[] = { 0, 0, 10, 0, 3000, 0, 0, 4090, 70000, 0, 0, 20000, 0 };
    struct xb_space *const space = xb_space_new();
    uint64_t seed = 5;

    for (unsigned i = 0; i < lines; i++) {
        static const char *const names[] = { "/host:CPU", "/device:GPU:0", "#Chip 0", "/device:CUSTOM:Megascale" };
        struct xb_plane *const plane = xb_plane(space, names[i % 4]);
        char name[32];
        struct xb_line *line;

        (void)snprintf(name, sizeof(name), "line %u", i);
        line = xb_line(plane, i, name, 0);
        xb_name_number(plane, i % 2 ? "odd" : "even", "flops", i);
        for (unsigned k = 0; k < events; k++) {
            const int64_t mixed = (int64_t)(next_number(&seed) % 1000000);

            put_numbered(line, i, i % 7 == 3 ? mixed : 1000 * (int64_t)k + mixed % 1000,
                         blobs[next_number(&seed) % (sizeof(blobs) / sizeof(blobs[0]))]);
        }
    }
    return space;
}

static void check_order(unsigned lines, unsigned events, size_t memory_mib)
{
    struct xb_space *const space = many_lines(lines, events);
    const struct xspace_options options = { .memory_mib = memory_mib, .keeps_arguments = true };
    struct xspace_run x;
    struct ordered o = { .x = &x };

    assert_int_equal(scan_space(&x, space, NULL, &options), TM_OK);
    assert_int_equal(tm_rows_count(x.host.trace.tracks), lines);
    assert_int_equal(xspace_survey(&x, NULL), TM_OK);
    assert_int_equal(tm_host_events(&x.host, take_ordered, &o), TM_OK);
    assert_int_equal(o.events, (uint64_t)lines * events);
    assert_int_equal(o.with_common, o.events);
    assert_true(lines > 12 || o.with_template > o.events / 2); /* those without a blob */
    assert_int_equal(x.run.tallies.count[TM_TALLY_LONG_ARGUMENTS], 0);
    for (int i = 0; i < TM_ACCOUNT_COUNT; i++)
        if (x.run.budget.peak_bytes[i] > tm_budget_share(&x.run.budget, i) + TM_MIB)
            fail_msg("account %s: %zu bytes", tm_account_name[i], x.run.budget.peak_bytes[i]);
    xspace_close(&x);
    xb_space_free(space);
}

static void each_event_of_many_lines_has_its_own(void **state)
{
    (void)state;
    check_order(1, 200, 32);
    check_order(12, 60, 32);
    check_order(12, 60, 256);
    check_order(300, 9, 32);
}

/* Statistics that come again in many events, some of them of the same bytes in planes where they mean something else. */
static void what_was_met_before_is_the_same_again(void **state)
{
    enum { EVENTS = 60, OWN = 400 };
    static const char *const planes[] = { "/device:GPU:0", "/device:GPU:1" };
    struct xb_space *const space = xb_space_new();
    struct xspace_run x;

    (void)state;
    for (int p = 0; p < 2; p++) {
        struct xb_plane *const plane = xb_plane(space, planes[p]);
        struct xb_line *const line = xb_line(plane, 1, "Stream #1", 0);

        for (int i = 0; i < EVENTS; i++) {
            xb_event(line, "event", i + 1, 1);
            xb_int(line, p ? "other" : "one", 5 + i % 3);
            xb_str(line, p ? "more" : "text", i % 2 ? "a" : "sixteen bytes, or more of them");
            xb_ref(line, p ? "far" : "near", p ? "there" : "here");
        }
    }
    assert_int_equal(scan_space(&x, space, NULL, &keeping), TM_OK);
    for (uint64_t track = 0; track < 2; track++) {
        const struct tm_source_type *const type = x.host.source->type;
        struct tm_cursor *const cursor = type->open(x.host.source, track, 4096);
        struct tm_raw_record raw;
        bool more;

        assert_non_null(cursor);
        for (int i = 0; i < EVENTS; i++) {
            char own[OWN];
            const bool is_long = i % 2 == 0;

            assert_int_equal(type->next(cursor, &raw, &more), TM_OK);
            assert_true(more);
            assert_int_equal(type->own(cursor, &raw), TM_OK);
            (void)snprintf(own, sizeof(own), "%s=%d %s=%s%s%s %s=<%s>", track ? "other" : "one", 5 + i % 3,
                           track ? "more" : "text", is_long ? "<" : "'",
                           is_long ? "sixteen bytes, or more of them" : "a", is_long ? ">" : "'",
                           track ? "far" : "near", track ? "there" : "here");
            assert_string_equal(text_of(&x, xspace_own(&x, raw.own, &raw.record)), own);
        }
        type->close(cursor);
    }
    xspace_close(&x);
    xb_space_free(space);
}

/* An event of more than 64 KiB has all of its statistics; of a longer text its length is said, and that is a loss. */
struct copy_seen {
    struct xspace_run *x;
    int count;
};

static tm_status take_copy(void *to, const struct tm_event *event)
{
    struct copy_seen *const seen = to;

    if (event->record.class != TM_CLASS_COPY)
        return TM_OK;
    assert_int_equal(event->direction, TM_D2H);
    assert_string_equal(text_of(seen->x, xspace_own(seen->x, event->own, &event->record)),
                        "correlation_id=7 note='here'");
    seen->count++;
    return TM_OK;
}

/* Calls whose arguments vary in a device and a correlation id; for some time both are the same number. */
enum { CALLS = 2400, CALLS_TOGETHER = 300, CALLS_ALIKE = 40 };

static int64_t device_of_call(int64_t i)
{
    return i % 3 ? i % 3 : 5000 + i / CALLS_TOGETHER;
}

static int64_t id_of_call(int64_t i)
{
    return i % CALLS_TOGETHER < CALLS_ALIKE ? device_of_call(i) : 100 + i;
}

static tm_status take_call(void *to, const struct tm_event *event)
{
    struct copy_seen *const seen = to;
    const int64_t i = event->record.start_ps / 10;
    char own[NUMBER_MOST * 2];

    (void)snprintf(own, sizeof(own), "device=%d correlation_id=%d kind=<launch>", (int)device_of_call(i),
                   (int)id_of_call(i));
    assert_string_equal(text_of(seen->x, xspace_own(seen->x, event->own, &event->record)), own);
    assert_int_equal(event->record.correlation, id_of_call(i));
    seen->count++;
    return TM_OK;
}

static void one_number_that_varies_is_that_of_each_call(void **state)
{
    static const struct tm_chosen_steps all = { .all = true };
    struct xb_space *const space = xb_space_new();
    struct xb_line *const line = xb_line(xb_plane(space, "/host:CPU"), 1, "thread", 0);
    struct xspace_run x;
    struct copy_seen seen = { .x = &x };

    (void)state;
    for (int64_t i = 0; i < CALLS; i++) {
        xb_event(line, "cuLaunchKernel", i * 10, 5);
        xb_int(line, "device", device_of_call(i));
        xb_int(line, "correlation_id", id_of_call(i));
        xb_ref(line, "kind", "launch");
    }
    for (size_t memory_mib = 32; memory_mib <= 256; memory_mib *= 8) {
        const struct xspace_options options = { .memory_mib = memory_mib, .keeps_arguments = true };

        seen.count = 0;
        assert_int_equal(scan_space(&x, space, NULL, &options), TM_OK);
        assert_int_equal(xspace_survey(&x, &all), TM_OK);
        assert_int_equal(tm_host_events(&x.host, take_call, &seen), TM_OK);
        assert_int_equal(seen.count, CALLS);
        xspace_close(&x);
    }
    xb_space_free(space);
}

static void a_copy_that_its_launch_tells_of_keeps_its_own(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_line *const device = xb_line(xb_plane(space, "/device:GPU:0"), 1, "Stream #1", 0);
    struct xb_line *const host = xb_line(xb_plane(space, "/host:CPU"), 2, "thread", 0);
    const struct tm_chosen_steps all = { .all = true };
    struct xspace_run x;
    struct copy_seen seen = { .x = &x };

    (void)state;
    xb_event(host, "hipMemcpyDtoHAsync", 10, 5);
    xb_int(host, "correlation_id", 7);
    xb_event(device, "__amd_rocclr_copyBuffer.kd", 20, 5);
    xb_int(device, "correlation_id", 7);
    xb_str(device, "note", "here");
    assert_int_equal(scan_space(&x, space, NULL, &keeping), TM_OK);
    assert_int_equal(xspace_survey(&x, &all), TM_OK);
    assert_int_equal(tm_host_events(&x.host, take_copy, &seen), TM_OK);
    assert_int_equal(seen.count, 1);
    xspace_close(&x);
    xb_space_free(space);
}

static void a_large_event_keeps_what_fits(void **state)
{
    enum { LARGE = 70000 };
    struct xb_space *const space = xb_space_new();
    struct xb_line *const line = xb_line(xb_plane(space, "/device:GPU:0"), 1, "Stream #1", 0);
    char *const text = malloc(LARGE + 1);
    const struct tm_source_type *type;
    struct xspace_run x;
    struct tm_cursor *cursor;
    struct tm_raw_record raw;
    bool more;

    (void)state;
    assert_non_null(text);
    memset(text, 't', LARGE);
    text[LARGE] = '\0';
    xb_event(line, "event", 1, 1);
    xb_blob(line, "blob", LARGE);
    xb_int(line, "between", 1);
    xb_str(line, "text", text);
    xb_int(line, "after", 2);
    xb_event(line, "next", 2, 1);
    xb_int(line, "n", 3);
    assert_int_equal(scan_space(&x, space, NULL, &keeping), TM_OK);
    type = x.host.source->type;
    cursor = type->open(x.host.source, 0, 4096);
    assert_non_null(cursor);
    assert_int_equal(type->next(cursor, &raw, &more), TM_OK);
    assert_int_equal(type->own(cursor, &raw), TM_OK);
    assert_string_equal(text_of(&x, xspace_own(&x, raw.own, &raw.record)),
                        "blob='(70000 bytes)' between=1 text='(70000 bytes)' after=2");
    assert_int_equal(x.run.tallies.count[TM_TALLY_LONG_ARGUMENTS], 1);
    assert_int_equal(type->next(cursor, &raw, &more), TM_OK);
    assert_true(more);
    assert_int_equal(type->own(cursor, &raw), TM_OK);
    assert_string_equal(text_of(&x, xspace_own(&x, raw.own, &raw.record)), "n=3");
    assert_int_equal(x.run.tallies.count[TM_TALLY_LONG_ARGUMENTS], 1);
    type->close(cursor);
    xspace_close(&x);
    xb_space_free(space);
    free(text);
}

/* More statistics than a list holds. */
static void a_list_that_is_full_is_a_loss(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_line *const line = xb_line(xb_plane(space, "/host:CPU"), 1, "thread", 0);
    const struct tm_source_type *type;
    struct xspace_run x;
    struct tm_cursor *cursor;
    struct tm_raw_record raw;
    bool more;

    (void)state;
    xb_event(line, "event", 1, 1);
    for (int i = 0; i < 20000; i++)
        xb_real(line, "x", i);
    assert_int_equal(scan_space(&x, space, NULL, &keeping), TM_OK);
    type = x.host.source->type;
    cursor = type->open(x.host.source, 0, 4096);
    assert_non_null(cursor);
    assert_int_equal(type->next(cursor, &raw, &more), TM_OK);
    assert_int_equal(type->own(cursor, &raw), TM_OK);
    assert_true(raw.own.length > TM_ARGUMENTS_MOST / 2 && raw.own.length <= TM_ARGUMENTS_MOST);
    assert_int_equal(x.run.tallies.count[TM_TALLY_LONG_ARGUMENTS], 1);
    type->close(cursor);
    xspace_close(&x);
    xb_space_free(space);
}

/* --- where it is not asked for --- */

static char *printed(const struct xb_space *space, bool keeps, size_t *input_bytes)
{
    struct xspace_run x;
    char *text = NULL;
    size_t length;
    FILE *const to = open_memstream(&text, &length);

    assert_non_null(to);
    assert_int_equal(scan_space(&x, space, NULL, &(struct xspace_options){ .keeps_arguments = keeps }), TM_OK);
    xspace_print(&x, 4096, to);
    assert_int_equal(fclose(to), 0);
    assert_true(keeps || tm_rows_count(x.host.trace.common) == 0);
    *input_bytes = x.run.budget.used_bytes[TM_ACCOUNT_INPUT];
    xspace_close(&x);
    return text;
}

static void without_arguments_records_are_the_same_and_memory_is_less(void **state)
{
    struct xb_space *const space = many_lines(8, 20);
    size_t with = 0, without = 0;
    char *const kept = printed(space, true, &with), *const plain = printed(space, false, &without);

    (void)state;
    assert_string_equal(kept, plain);
    assert_true(with >= without + TM_ARGUMENTS_MOST);
    free(kept);
    free(plain);
    xb_space_free(space);
}

/* --- counters --- */

static enum tm_kind kind_of_only_event(const char *plane, bool is_text)
{
    struct xb_space *const space = xb_space_new();
    struct xb_line *const line = xb_line(xb_plane(space, plane), 0, "_counters_", 0);
    const struct tm_source_type *type;
    struct xspace_run x;
    struct tm_cursor *cursor;
    struct tm_raw_record raw;
    bool more;

    xb_event(line, "power_mw", 1, 0);
    if (is_text)
        xb_str(line, "counter_value", "97");
    else
        xb_real(line, "counter_value", 97.5);
    assert_int_equal(scan_space(&x, space, NULL, &keeping), TM_OK);
    type = x.host.source->type;
    cursor = type->open(x.host.source, 0, 4096);
    assert_non_null(cursor);
    assert_int_equal(type->next(cursor, &raw, &more), TM_OK);
    assert_true(more);
    assert_int_equal(type->own(cursor, &raw), TM_OK);
    assert_string_equal(text_of(&x, xspace_own(&x, raw.own, &raw.record)),
                        is_text ? "counter_value='97'" : "counter_value=d97.5");
    type->close(cursor);
    xspace_close(&x);
    xb_space_free(space);
    return (enum tm_kind)raw.record.kind;
}

static void values_of_counters_are_told_by_their_kind(void **state)
{
    (void)state;
    assert_int_equal(kind_of_only_event("/device:GPU:0", false), TM_COUNTER);
    assert_int_equal(kind_of_only_event("/device:TPU:0", false), TM_COUNTER);
    assert_int_equal(kind_of_only_event("#Chip 0", false), TM_COUNTER);
    assert_int_equal(kind_of_only_event("/host:CPU", false), TM_INSTANT);
    assert_int_equal(kind_of_only_event("/device:GPU:0", true), TM_INSTANT);
}

/* --- places --- */

static struct tm_track track_named(struct xspace_run *x, const char *name)
{
    const struct tm_track *const track = tm_rows_at(x->host.trace.tracks, xspace_line(x, name));

    assert_non_null(track);
    return *track;
}

static void lines_of_planes_of_one_name_share_a_process(void **state)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *plane = xb_plane(space, "/host:CPU");
    struct xspace_run x;

    (void)state;
    (void)xb_line(plane, 70, "first", 0);
    (void)xb_line(plane, 5, "second", 0);
    plane = xb_plane(space, "/device:GPU:1");
    (void)xb_line(plane, 14, "Stream #14", 0);
    (void)xb_line(plane, 13, "Stream #13", 0);
    (void)xb_line(xb_plane(space, "Task Environment"), 1, "task", 0);
    (void)xb_line(xb_plane(space, "/host:CPU"), 6, "third", 0);
    assert_int_equal(xspace_scan_space(&x, space, NULL), TM_OK);
    assert_int_equal(track_named(&x, "first").process, 0);
    assert_int_equal(track_named(&x, "third").process, 0);
    assert_int_equal(track_named(&x, "Stream #13").process, 1);
    assert_int_equal(track_named(&x, "task").process, 2);
    assert_int_equal(track_named(&x, "task").process_order, 2);
    assert_int_equal(track_named(&x, "task").process_id, 0);
    assert_int_equal(track_named(&x, "first").order, 0);
    assert_int_equal(track_named(&x, "second").order, 1);
    assert_int_equal(track_named(&x, "third").order, 2);
    assert_int_equal(track_named(&x, "Stream #13").order, 13);
    assert_int_equal(track_named(&x, "Stream #14").order, 14);
    assert_int_equal(track_named(&x, "second").id, 5);
    assert_int_equal(track_named(&x, "second").sort, TM_TRACK_THREAD);
    xspace_close(&x);
    xb_space_free(space);
}

/* --- damage and memory --- */

static struct xb_space *small_sample(void)
{
    struct xb_space *const space = xb_space_new();
    struct xb_plane *const gpu = xb_plane(space, "/device:GPU:0");
    struct xb_line *line = xb_line(gpu, 1, "Stream #1", 2);

    for (int i = 3; i-- > 0;) {
        xb_event(line, "k", 1000 * i, 300);
        xb_int(line, "correlation_id", 5 + i);
        xb_ref(line, "kernel_details", "grid:1,1,1 block:32,1,1");
        xb_real(line, "x", 1.5);
    }
    xb_name_ref(gpu, "k", "source", "a.py:3");
    xb_display_name(gpu, "k", "kernel");
    line = xb_line(xb_plane(space, "/host:CPU"), 2, "python", 1);
    xb_event(line, "step", 0, 3000);
    xb_str(line, "a longer name than some", "and a text that becomes a name");
    xb_bytes_value(line, "bytes", "abc", 3);
    return space;
}

struct everything {
    const struct xspace_run *x;
    uint64_t arguments;
};

static tm_status read_everything(void *to, const struct tm_event *event)
{
    struct everything *const seen = to;
    struct tm_arguments list = xspace_own(seen->x, event->own, &event->record);
    struct tm_argument a;

    while (tm_arguments_next(&list, true, &a))
        seen->arguments++;
    seen->arguments -= event->record.flags & TM_FLAG_TEMPLATE ? 2 : 0; /* of the metadata */
    return TM_OK;
}

static tm_status run_through(struct xspace_run *x, uint64_t *arguments)
{
    struct everything seen = { .x = x };
    tm_status st = xspace_survey(x, NULL);

    if (st == TM_OK)
        st = tm_host_events(&x->host, read_everything, &seen);
    *arguments = seen.arguments;
    return st;
}

static void a_profile_cut_at_any_byte_has_no_more_arguments_than_the_whole(void **state)
{
    struct xb_space *const space = small_sample();

    (void)state;
    for (int first = 0; first < 2; first++) {
        struct xb_bytes bytes = { .length = 0 };
        size_t whole;

        xb_encode(space, &(struct xb_style){ .metadata_first = first }, &bytes);
        whole = bytes.length;
        for (bytes.length = 0; bytes.length <= whole; bytes.length++) {
            struct xspace_run x;
            uint64_t arguments = 0;
            tm_status st = xspace_scan_with(&x, &bytes, &keeping);

            if (st == TM_OK)
                st = run_through(&x, &arguments);
            assert_true(st == TM_OK || st == TM_ERR_INPUT);
            assert_true(arguments <= 11);
            assert_true(bytes.length < whole || arguments == 11);
            xspace_close(&x);
        }
        bytes.length = whole;
        xb_free(&bytes);
    }
    xb_space_free(space);
}

static void any_changed_bit_is_survived_with_arguments(void **state)
{
    struct xb_space *const space = small_sample();
    struct xb_bytes bytes = { .length = 0 };

    (void)state;
    xb_encode(space, &(struct xb_style){ .shuffle = 0 }, &bytes);
    for (size_t at = 0; at < bytes.length; at++)
        for (int bit = 0; bit < 8; bit++) {
            struct xspace_run x;
            uint64_t arguments = 0;
            tm_status st;

            bytes.at[at] ^= (uint8_t)(1 << bit);
            st = xspace_scan_with(&x, &bytes, &keeping);
            if (st == TM_OK)
                st = run_through(&x, &arguments);
            if (st != TM_OK && st != TM_ERR_INPUT)
                fail_msg("byte %zu bit %d: status %d, %s", at, bit, st, x.run.error.what);
            xspace_close(&x);
            bytes.at[at] ^= (uint8_t)(1 << bit);
        }
    xb_free(&bytes);
    xb_space_free(space);
}

static tm_status scan_job(struct tm_run *run)
{
    struct xb_space *const space = small_sample();
    struct xspace_run x;
    uint64_t arguments = 0;
    tm_status st = scan_space(&x, space, NULL,
                              &(struct xspace_options){ .refuse_in = run->budget.refuse_in, .keeps_arguments = true });

    if (st == TM_OK)
        st = run_through(&x, &arguments);
    run->budget.refuse_in = x.run.budget.refuse_in;
    run->error = x.run.error;
    xspace_close(&x);
    xb_space_free(space);
    return st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(scan_job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_keeps_its_kind),
        cmocka_unit_test(what_has_no_entry_is_said_by_its_id),
        cmocka_unit_test(bytes_are_shown_where_they_are_a_text),
        cmocka_unit_test(a_statistic_without_a_value_is_null),
        cmocka_unit_test(what_the_metadata_says_is_common_to_its_events),
        cmocka_unit_test(another_name_for_the_viewer_is_an_argument),
        cmocka_unit_test(each_event_of_many_lines_has_its_own),
        cmocka_unit_test(one_number_that_varies_is_that_of_each_call),
        cmocka_unit_test(what_was_met_before_is_the_same_again),
        cmocka_unit_test(a_copy_that_its_launch_tells_of_keeps_its_own),
        cmocka_unit_test(a_large_event_keeps_what_fits),
        cmocka_unit_test(a_list_that_is_full_is_a_loss),
        cmocka_unit_test(without_arguments_records_are_the_same_and_memory_is_less),
        cmocka_unit_test(values_of_counters_are_told_by_their_kind),
        cmocka_unit_test(lines_of_planes_of_one_name_share_a_process),
        cmocka_unit_test(a_profile_cut_at_any_byte_has_no_more_arguments_than_the_whole),
        cmocka_unit_test(any_changed_bit_is_survived_with_arguments),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("xspace_arguments", tests, NULL, NULL);
}
