/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "pipeline/strings.h"
#include "tests/support/writer_rig.h"

static struct writer_rig rig;
static struct tm_run run;
static struct tm_out_row row;
static struct tm_trace trace;
static struct tm_device device;
static struct tm_event of;

static const struct tm_writer_options plain = { .args = TM_ARGS_ALL };
static const char header[] = "host,process,row,lane,kind,class,name,start_ps,dur_ps,value,step,device,correlation,"
                             "category,arguments\n";

static void open_rig_on_run(void)
{
    assert_int_equal(rig_open(&rig, &run, &tm_csv_writer, &plain), TM_OK);
    row = (struct tm_out_row){ .uuid = 2,
                               .parent = 1,
                               .sort = TM_OUT_LANE,
                               .lane = 3,
                               .pid = 7,
                               .tid = 9,
                               .name = rig_name(&rig, "T,1"),
                               .process = rig_name(&rig, "P") };
    device = (struct tm_device){ .id = "host0/gpu:0" };
    trace = (struct tm_trace){ .host_name = "host0", .devices = &device, .device_count = 1 };
    of = (struct tm_event){ .record = { .start_ps = -5, .dur_ps = 1234567890123, .class = TM_CLASS_KERNEL },
                            .step = TM_NONE,
                            .device = TM_NONE };
    rig.writer->type->row(rig.writer, &row);
}

static void open_rig(void)
{
    test_run_init(&run);
    open_rig_on_run();
}

static void close_rig(void)
{
    rig_close(&rig);
    assert_ledger_is_even(&run);
}

static struct tm_out_event event_of(const char *name)
{
    return (struct tm_out_event){
        .row = &row, .whole_begin_ps = 10, .whole_end_ps = 30, .name = rig_name(&rig, name), .of = &of, .trace = &trace
    };
}

static void put(const struct tm_out_event *event)
{
    const struct tm_trace_writer_type *const type = rig.writer->type;

    (event->is_instant ? type->instant : type->begin)(rig.writer, event);
}

static void assert_table(const char *text)
{
    assert_int_equal(rig_finish(&rig), TM_OK);
    assert_int_equal(rig.raw_bytes, rig.length);
    assert_true(tm_utf8_is_valid(rig.text, rig.length));
    assert_memory_equal(rig.text, header, sizeof(header) - 1);
    assert_string_equal(rig.text + sizeof(header) - 1, text);
    close_rig();
}

static void an_empty_trace_is_a_header(void **state)
{
    (void)state;
    open_rig();
    assert_table("");
}

static void a_span_has_a_row_with_what_is_known(void **state)
{
    (void)state;
    open_rig();
    struct tm_arguments_builder *const b = rig_arguments(&rig);
    struct tm_out_event event = event_of("k");

    tm_put_text(b, rig_name(&rig, "a\"b"), "c\"\\d", 4);
    tm_put_array(b, rig_name(&rig, "list"));
    tm_put_double(b, 0, NAN);
    tm_put_close(b);
    event.own = tm_arguments_end(b);
    event.marks = TM_OUT_CUT_BEGIN | TM_OUT_UNFINISHED;
    event.category = rig_name(&rig, "c");
    put(&event);
    of.step = 4;
    of.device = 0;
    of.record.correlation = UINT64_MAX;
    of.record.flags = TM_FLAG_CORRELATION;
    event.own.length = 0;
    event.marks = 0;
    event.is_instant = true;
    put(&event);
    assert_table("host0,P,\"T,1\",3,span,kernel,k,-5,1234567890123,,,,,c,\"{\"\"tracemill_unfinished\"\":true,"
                 "\"\"a\\\"\"b\"\":\"\"c\\\"\"\\\\d\"\",\"\"list\"\":[\"\"NaN\"\"]}\"\n"
                 "host0,P,\"T,1\",3,instant,kernel,k,-5,,,4,host0/gpu:0,18446744073709551615,c,\n");
}

static void what_was_worked_out_has_its_own_times(void **state)
{
    (void)state;
    open_rig();
    struct tm_out_event event = event_of("k");

    event.of = NULL;
    event.trace = NULL;
    put(&event);
    assert_table(",P,\"T,1\",3,span,,k,10,20,,,,,,\n");
}

static void counters_have_a_value(void **state)
{
    (void)state;
    open_rig();
    const struct tm_out_row counted = { .sort = TM_OUT_COUNTER,
                                        .process = rig_name(&rig, "P"),
                                        .name = rig_name(&rig, "bytes in use") };
    struct tm_out_counter counter = {
        .row = &counted, .time_ps = 7, .start_ps = -3, .whole = -4, .is_whole = true, .trace = &trace
    };

    rig.writer->type->counter(rig.writer, &counter);
    counter.is_whole = false;
    counter.value = 0.5;
    counter.trace = NULL;
    rig.writer->type->counter(rig.writer, &counter);
    assert_table("host0,P,,0,counter,counter,bytes in use,-3,,-4,,,,,\n"
                 ",P,,0,counter,counter,bytes in use,7,,0.5,,,,,\n");
}

static void arrows_are_left_out(void **state)
{
    (void)state;
    open_rig();
    const struct tm_out_flow flow = { .row = &row };

    rig.writer->type->flow(rig.writer, &flow);
    assert_table("");
}

static void hostile_names_stay_in_their_cells(void **state)
{
    static const struct {
        const char *name, *cell;
    } table[] = {
        { "=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\"" },
        { "+1", "\"'+1\"" },
        { "-1", "\"'-1\"" },
        { "@a", "\"'@a\"" },
        { "\t=1", "\"'\\t'=1\"" },
        { "\n=1", "\"'\\n'=1\"" },
        { " =1", "\"' =1\"" },
        { "\"=1", "\"'\"\"=1\"" },
        { "'+1", "\"''+1\"" },
        { "\xef\xbc\x9d"
          "1",
          "\"'\xef\xbc\x9d"
          "1\"" },
        { "\xef\xbc\xa0x", "\"'\xef\xbc\xa0x\"" },
        { "a;=1;b", "\"a;'=1;b\"" },
        { "a;\"-1", "\"a;'\"\"-1\"" },
        { "a; -1", "a; -1" },
        { "a;b-c", "a;b-c" },
        { "a\r\n@x", "\"a\\r\\n'@x\"" },
        { ";;=1", "\";;'=1\"" },
        { "\xff;=1", "\"\xef\xbf\xbd;'=1\"" },
        { "\r\n", "\"'\\r\\n\"" },
        { "a\nb", "\"a\\nb\"" },
        { "\033[2J\xc2\x85\xe2\x81\xa6", "\"\\u001b[2J\\u0085\\u2066\"" },
        { "\"", "\"\"\"\"" },
        { "a,b", "\"a,b\"" },
        { "\xff\"\xc3\xa9", "\"\xef\xbf\xbd\"\"\xc3\xa9\"" },
        { "a=b", "a=b" },
    };
    char want[4000] = "";

    (void)state;
    open_rig();
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct tm_out_event event = event_of(table[i].name);

        put(&event);
        (void)snprintf(want + strlen(want), sizeof(want) - strlen(want),
                       "host0,P,\"T,1\",3,span,kernel,%s,-5,1234567890123,,,,,,\n", table[i].cell);
    }
    assert_table(want);
}

/* Keys and texts of arguments too; as they were recorded where that is asked for. */
static void no_control_character_is_written_unasked(void **state)
{
    static const char *const cells[] = {
        "\"a\\u009b\",-5,1234567890123,,,,,,\"{\"\"k\\u202e\"\":\"\"\\n\\u0085\\udb40\\udc01\"\"}\"\n",
        "\"a\xc2\x9b\",-5,1234567890123,,,,,,\"{\"\"k\xe2\x80\xae\"\":\"\"\\n\xc2\x85\xf3\xa0\x80\x81\"\"}\"\n",
    };

    (void)state;
    for (int is_raw = 0; is_raw < 2; is_raw++) {
        char want[300];

        test_run_init(&run);
        run.raw = is_raw;
        open_rig_on_run();
        struct tm_out_event event = event_of("a\xc2\x9b");
        struct tm_arguments_builder *const b = rig_arguments(&rig);

        tm_put_text(b, rig_name(&rig, "k\xe2\x80\xae"), "\n\xc2\x85\xf3\xa0\x80\x81", 7);
        event.own = tm_arguments_end(b);
        put(&event);
        (void)snprintf(want, sizeof(want), "host0,P,\"T,1\",3,span,kernel,%s", cells[is_raw]);
        assert_table(want);
    }
}

static tm_status write_a_little(struct tm_run *on)
{
    tm_status status = rig_open(&rig, on, &tm_csv_writer, &plain);

    if (status == TM_OK)
        status = rig_finish(&rig);
    rig_close(&rig);
    return status;
}

static void refused_memory_is_an_error(void **state)
{
    (void)state;
    refuse_each_request(write_a_little);
}

static void a_full_disk_is_an_error(void **state)
{
    struct rlimit old, tiny;

    (void)state;
    open_rig();
    const struct tm_out_event event = event_of("k");

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tiny = (struct rlimit){ .rlim_cur = 100000, .rlim_max = old.rlim_max };
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
    for (int i = 0; i < 100000 && !tm_failed(rig.run); i++)
        rig.writer->type->begin(rig.writer, &event);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(rig.run->error.status, TM_ERR_OUTPUT);
    close_rig();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_trace_is_a_header),
        cmocka_unit_test(a_span_has_a_row_with_what_is_known),
        cmocka_unit_test(what_was_worked_out_has_its_own_times),
        cmocka_unit_test(counters_have_a_value),
        cmocka_unit_test(arrows_are_left_out),
        cmocka_unit_test(hostile_names_stay_in_their_cells),
        cmocka_unit_test(no_control_character_is_written_unasked),
        cmocka_unit_test(refused_memory_is_an_error),
        cmocka_unit_test(a_full_disk_is_an_error),
    };

    return cmocka_run_group_tests_name("csv_writer", tests, NULL, NULL);
}
