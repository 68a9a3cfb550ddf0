/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "stages/input/records/facts.h"
#include "stages/resolve/classes.h"
#include "tests/support/test_run.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A trace without an input: only what facts are turned into. */
struct bed {
    struct tm_run run;
    struct tm_trace trace;
    struct tm_configs *configs;
    struct tm_fact_maker maker;
    struct tm_facts facts;
};

static tm_status bed_open(struct bed *b)
{
    const size_t share = tm_budget_share(&b->run.budget, TM_ACCOUNT_METADATA);
    const struct tm_config no_config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };
    const struct tm_message no_message = { .group_size = 0 };

    memset(&b->trace, 0, sizeof(b->trace));
    b->configs = NULL;
    b->trace.run = &b->run;
    b->trace.names = tm_names_new(&b->run, tm_budget_share(&b->run.budget, TM_ACCOUNT_NAMES), tm_traits_of);
    b->trace.configs = tm_rows_new(&b->run, TM_ACCOUNT_METADATA, sizeof(no_config), share / 8);
    b->trace.messages = tm_rows_new(&b->run, TM_ACCOUNT_METADATA, sizeof(no_message), share / 16);
    if (!b->trace.names || !b->trace.configs || !b->trace.messages)
        return b->run.error.status;
    tm_rows_append(b->trace.configs, &no_config);
    tm_rows_append(b->trace.messages, &no_message);
    if (!tm_failed(&b->run))
        b->configs = tm_configs_new(&b->trace);
    b->maker = (struct tm_fact_maker){ .trace = &b->trace, .configs = b->configs };
    tm_facts_begin(&b->facts, 0);
    return b->run.error.status;
}

static void bed_close(struct bed *b)
{
    tm_configs_free(b->configs);
    tm_rows_free(b->trace.configs);
    tm_rows_free(b->trace.messages);
    tm_names_free(b->trace.names);
}

static void bed_make(struct bed *b)
{
    test_run_init(&b->run);
    assert_int_equal(bed_open(b), TM_OK);
}

static void bed_free(struct bed *b)
{
    bed_close(b);
    assert_ledger_is_even(&b->run);
}

static void put(struct bed *b, enum tm_stat stat, const char *text)
{
    tm_facts_put_text(&b->facts, stat, text, strlen(text));
}

static void say(struct bed *b, enum tm_class given, const char *name)
{
    b->maker.given = given;
    b->maker.name = name;
    b->maker.name_length = strlen(name);
}

static uint32_t config_row(struct bed *b)
{
    uint32_t row = 0;

    row = tm_facts_config(&b->maker, &b->facts, 0);
    return row;
}

static struct tm_config config_of(struct bed *b)
{
    const struct tm_config *config = tm_rows_at(b->trace.configs, config_row(b));

    assert_non_null(config);
    return *config;
}

static struct tm_message message_of(struct bed *b, const struct tm_config *config)
{
    const struct tm_message *message = tm_rows_at(b->trace.messages, config->message);

    assert_non_null(message);
    return *message;
}

static void assert_name(struct bed *b, tm_strid id, const char *wanted)
{
    assert_string_equal(tm_names_text(b->trace.names, id, 0, NULL), wanted);
}

static void every_name_that_means_something_is_known(void **state)
{
    /* clang-format off */
    static const struct { const char *name; enum tm_stat statistic, argument; } rows[] = {
#define BOTH(name, stat) { name, stat, stat }
        BOTH("Memset_details", TM_STAT_MEMSET_DETAILS), BOTH("_r", TM_STAT_ROOT), BOTH("addr", TM_STAT_ADDRESS),
        BOTH("allocation_bytes", TM_STAT_ALLOCATION_BYTES), BOTH("allocator_name", TM_STAT_ALLOCATOR_NAME),
        BOTH("bytes_accessed", TM_STAT_BYTES_ACCESSED), BOTH("bytes_allocated", TM_STAT_BYTES_ALLOCATED),
        BOTH("bytes_available", TM_STAT_BYTES_AVAILABLE), BOTH("bytes_reserved", TM_STAT_BYTES_RESERVED),
        BOTH("correlation_id", TM_STAT_CORRELATION_ID), BOTH("counter_value", TM_STAT_COUNTER_VALUE),
        BOTH("cuda_graph_exec_id", TM_STAT_GRAPH_EXEC),
        BOTH("cuda_graph_node_id", TM_STAT_GRAPH_NODE), BOTH("data_type", TM_STAT_DATA_TYPE),
        BOTH("device_duration_ps", TM_STAT_DEVICE_DURATION), BOTH("device_offset_ps", TM_STAT_DEVICE_OFFSET),
        BOTH("device_ordinal", TM_STAT_DEVICE_ORDINAL), BOTH("flops", TM_STAT_FLOPS),
        BOTH("fragmentation", TM_STAT_FRAGMENTATION), BOTH("group_id", TM_STAT_GROUP_ID),
        BOTH("hlo_category", TM_STAT_HLO_CATEGORY), BOTH("hlo_module", TM_STAT_HLO_MODULE),
        BOTH("hlo_op", TM_STAT_HLO_OP), BOTH("index_on_host", TM_STAT_INDEX_ON_HOST), BOTH("source", TM_STAT_SOURCE),
        BOTH("kernel_details", TM_STAT_KERNEL_DETAILS), BOTH("memcpy_details", TM_STAT_MEMCPY_DETAILS),
        BOTH("memset_details", TM_STAT_MEMSET_DETAILS), BOTH("module_name", TM_STAT_MODULE_NAME),
        BOTH("name", TM_STAT_NAME), BOTH("peak_bytes_in_use", TM_STAT_PEAK_BYTES),
        BOTH("program_id", TM_STAT_PROGRAM_ID), BOTH("region_type", TM_STAT_REGION_TYPE),
        BOTH("requested_bytes", TM_STAT_REQUESTED_BYTES), BOTH("run_id", TM_STAT_RUN_ID),
        BOTH("shape", TM_STAT_SHAPE), BOTH("size", TM_STAT_SIZE), BOTH("step_num", TM_STAT_STEP_NUM),
        BOTH("tf_op", TM_STAT_TF_OP), BOTH("theoretical_occupancy_pct", TM_STAT_OCCUPANCY),
#undef BOTH
#define JSON(name, stat) { name, TM_STAT_UNKNOWN, stat }
        JSON("sort_index", TM_STAT_SORT_INDEX),
        JSON("labels", TM_STAT_LABELS), JSON("long_name", TM_STAT_LONG_NAME), JSON("model_flops", TM_STAT_FLOPS),
        JSON("correlation", TM_STAT_CORRELATION_ID), JSON("device", TM_STAT_DEVICE), JSON("grid", TM_STAT_GRID),
        JSON("block", TM_STAT_BLOCK), JSON("registers per thread", TM_STAT_REGISTERS),
        JSON("shared memory", TM_STAT_SHARED_MEMORY), JSON("est. achieved occupancy %", TM_STAT_OCCUPANCY),
        JSON("bytes", TM_STAT_BYTES), JSON("Bytes", TM_STAT_BYTES), JSON("Total Allocated", TM_STAT_TOTAL_ALLOCATED),
        JSON("Total Reserved", TM_STAT_TOTAL_RESERVED), JSON("Device Type", TM_STAT_DEVICE_TYPE),
        JSON("Device Id", TM_STAT_DEVICE_ID), JSON("Addr", TM_STAT_ADDRESS),
        JSON("Collective name", TM_STAT_COLLECTIVE), JSON("In msg nelems", TM_STAT_ELEMENTS_IN),
        JSON("Out msg nelems", TM_STAT_ELEMENTS_OUT), JSON("Group size", TM_STAT_GROUP_SIZE),
        JSON("dtype", TM_STAT_ELEMENT_TYPE), JSON("Process Group Name", TM_STAT_GROUP_NAME),
        JSON("Process Group Ranks", TM_STAT_GROUP_RANKS), JSON("Seq", TM_STAT_SEQUENCE), JSON("desc", TM_STAT_DESCRIPTION),
        JSON("dev-id", TM_STAT_QUEUE_DEVICE),
#undef JSON
    };
    /* clang-format on */
    uint64_t seen = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t length = strlen(rows[i].name);
        char other[64];

        if (tm_stat_of(rows[i].name, length) != rows[i].statistic ||
            tm_argument_of(rows[i].name, length) != rows[i].argument)
            fail_msg("'%s' is not what it should be", rows[i].name);
        seen |= (uint64_t)1 << rows[i].argument;
        for (size_t at = 0; at < length; at++) { /* any other letter, and it is another name */
            memcpy(other, rows[i].name, length);
            other[at] ^= 0x10;
            assert_int_equal(tm_argument_of(other, length), TM_STAT_UNKNOWN);
        }
        assert_int_equal(tm_argument_of(rows[i].name, 0), TM_STAT_UNKNOWN);
    }
    for (int stat = 1; stat < TM_STAT_COUNT; stat++)
        if (!(seen >> stat & 1))
            fail_msg("no name gives fact %d", stat);
}

static void names_of_no_meaning_are_unknown(void **state)
{
    /* clang-format off */
    static const char *const names[] = { "", "x", "External id", "stream", "cbid", "graph id", "graph node id",
                                         "Device", "Name", "warps per SM", "a name that is longer than all of ours" };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_int_equal(tm_argument_of(names[i], strlen(names[i])), TM_STAT_UNKNOWN);
        assert_int_equal(tm_stat_of(names[i], strlen(names[i])), TM_STAT_UNKNOWN);
    }
}

static void numbers_that_are_written_as_text_are_both(void **state)
{
    /* clang-format off */
    static const struct { const char *text; int64_t whole; double value; } rows[] = {
        { "0", 0, 0 }, { "851", 851, 851 }, { "-3", -3, -3 }, { "9223372036854775807", INT64_MAX, 9.2233720368547758e18 },
        { "18446744073709551615", -1, -1 }, { "-9223372036854775808", INT64_MIN, -9.2233720368547758e18 },
        { "66.6667", 66, 66.6667 }, { "1e3", 1000, 1000 }, { "-2.5", -2, -2.5 }, { "99999999999999999999", 0, 1e20 },
        { "", 0, 0 }, { "-", 0, 0 }, { "1x", 0, 0 }, { "0x10", 0, 0 }, { "1e999", 0, 0 }, { "1.2.3", 0, 0 },
        { "[1, 2]", 0, 0 }, { "nan", 0, 0 }, { " 1", 0, 0 }, { "-9223372036854775809", 0, -9.2233720368547758e18 },
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tm_facts facts;

        tm_facts_begin(&facts, 0);
        tm_facts_put_number_text(&facts, TM_STAT_SIZE, rows[i].text, strlen(rows[i].text));
        if (facts.ints[TM_STAT_SIZE] != rows[i].whole || facts.doubles[TM_STAT_SIZE] != rows[i].value)
            fail_msg("'%s' became %lld, %g", rows[i].text, (long long)facts.ints[TM_STAT_SIZE],
                     facts.doubles[TM_STAT_SIZE]);
        assert_int_equal(facts.texts[TM_STAT_SIZE].kind, TM_FACT_BYTES);
        assert_int_equal(facts.texts[TM_STAT_SIZE].length, strlen(rows[i].text));
    }
}

static void facts_set_the_flags_of_their_record(void **state)
{
    struct tm_facts facts;

    (void)state;
    tm_facts_begin(&facts, 0);
    tm_facts_put_int(&facts, TM_STAT_CORRELATION_ID, 4);
    tm_facts_put_ref(&facts, TM_STAT_HLO_OP, 7);
    assert_int_equal(facts.flags, TM_FLAG_CORRELATION | TM_FLAG_HLO_OP);
    assert_int_equal(tm_facts_flags(&facts, TM_CLASS_UNRESOLVED), facts.flags);
    assert_int_equal(tm_facts_flags(&facts, TM_CLASS_KERNEL), facts.flags | TM_FLAG_KERNEL_DETAILS);
    assert_int_equal(tm_facts_flags(&facts, TM_CLASS_COPY), facts.flags | TM_FLAG_COPY_DETAILS);
    assert_int_equal(tm_facts_flags(&facts, TM_CLASS_MEMSET), facts.flags | TM_FLAG_MEMSET_DETAILS);
    tm_facts_begin(&facts, 0);
    assert_int_equal(facts.flags, 0);
    assert_false(tm_facts_have(&facts, TM_STAT_HLO_OP));
}

static void a_kernel_of_pytorch_has_its_launch(void **state)
{
    struct bed b;
    struct tm_config c;
    uint32_t row;

    (void)state;
    bed_make(&b);
    say(&b, TM_CLASS_KERNEL, "ampere_fp16_s1688gemm_fp16_256x64_ldg8_f2f_tn");
    put(&b, TM_STAT_GRID, "[8, 32, 32]");
    put(&b, TM_STAT_BLOCK, "[\r\n\t128,\n 1,1\n]");
    tm_facts_put_int(&b.facts, TM_STAT_REGISTERS, 234);
    tm_facts_put_int(&b.facts, TM_STAT_SHARED_MEMORY, 40960);
    tm_facts_put_int(&b.facts, TM_STAT_OCCUPANCY, 13);
    tm_facts_put_int(&b.facts, TM_STAT_BYTES, 4096); /* no copy: not its */
    c = config_of(&b);
    assert_int_equal(c.has_kernel, 1);
    assert_memory_equal(c.grid, ((uint32_t[]){ 8, 32, 32 }), sizeof(c.grid));
    assert_memory_equal(c.block, ((uint32_t[]){ 128, 1, 1 }), sizeof(c.block));
    assert_int_equal(c.registers, 234);
    assert_int_equal(c.shared_bytes, 40960);
    assert_int_equal(c.occupancy_milli, 13000);
    assert_int_equal(c.copy_bytes, 0);
    assert_int_equal(c.has_copy, 0);
    assert_int_equal(c.message, 0);
    assert_int_equal(c.level, TM_LEVEL_NONE);
    row = config_row(&b);
    assert_int_equal(tm_rows_count(b.trace.configs), 2); /* found again, not made again */

    assert_int_equal(c.has_achieved, 1);
    tm_facts_put_int(&b.facts, TM_STAT_OCCUPANCY, 0);
    c = config_of(&b);
    assert_int_equal(c.occupancy_milli, 0);
    assert_int_equal(c.has_achieved, 1); /* of PyTorch 0 is a value */
    assert_int_not_equal(config_row(&b), row);
    bed_free(&b);
}

static void shapes_are_read_whole_or_not_at_all(void **state)
{
    static const char *const bad[] = { "",          "8,32,32",   "[8,32]", "[8,32,32", "[8,32,-1]", "[8,32,4294967296]",
                                       "[8;32;32]", "[8.5,1,1]", "[,,]" };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        uint32_t shape[3] = { 1, 2, 3 };

        tm_parse_shape(bad[i], strlen(bad[i]), shape);
        assert_memory_equal(shape, ((uint32_t[]){ 1, 2, 3 }), sizeof(shape));
    }
}

static void a_copy_tells_its_kinds_of_memory_by_its_name(void **state)
{
    static const struct {
        const char *name;
        enum tm_direction direction;
        int pageable;
    } rows[] = {
        { "Memcpy HtoD (Pageable -> Device)", TM_H2D, 1 },
        { "Memcpy DtoH (Device -> Pinned)", TM_D2H, 0 },
        { "Memcpy DtoH (Device -> Pageable)", TM_D2H, 1 },
        { "Memcpy DtoD (Device -> Device)", TM_D2D, 0 },
        { "Memcpy HtoD (Host -> Device)", TM_H2D, 0 },
        { "Memcpy HtoD", TM_OTHER_DIRECTION, 0 },
        { "Memcpy HtoH (Pageable -> Pinned)", TM_OTHER_DIRECTION, 1 },
        { "Memcpy (Unknown -> Managed)", TM_OTHER_DIRECTION, 0 },
        { "(Device -> ", TM_OTHER_DIRECTION, 0 },
        { "", TM_OTHER_DIRECTION, 0 },
    };
    struct bed b;

    (void)state;
    bed_make(&b);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tm_config c;

        tm_facts_begin(&b.facts, 0);
        say(&b, TM_CLASS_COPY, rows[i].name);
        tm_facts_put_int(&b.facts, TM_STAT_BYTES, 65536);
        c = config_of(&b);
        assert_int_equal(c.has_copy, 1);
        assert_int_equal(c.has_copy_bytes, 1);
        assert_int_equal(c.copy_bytes, 65536);
        assert_int_equal(c.direction, rows[i].direction);
        assert_int_equal(c.pageable, rows[i].pageable);
    }
    bed_free(&b);
}

static void a_size_that_was_not_recorded_is_none(void **state)
{
    struct bed b;
    struct tm_config c;

    (void)state;
    bed_make(&b);
    say(&b, TM_CLASS_COPY, "Memcpy HtoD (Host -> Device)"); /* ROCm: not one argument of ours */
    c = config_of(&b);
    assert_int_equal(c.has_copy, 1);
    assert_int_equal(c.has_copy_bytes, 0);

    tm_facts_put_int(&b.facts, TM_STAT_BYTES, 0);
    assert_int_equal(config_of(&b).has_copy_bytes, 0);
    tm_facts_put_int(&b.facts, TM_STAT_BYTES, -1);
    assert_int_equal(config_of(&b).has_copy_bytes, 0);
    tm_facts_put_int(&b.facts, TM_STAT_BYTES, INT64_MAX);
    assert_int_equal(config_of(&b).has_copy_bytes, 0);

    tm_facts_begin(&b.facts, 0);
    say(&b, TM_CLASS_MEMSET, "Memset (Device)");
    tm_facts_put_int(&b.facts, TM_STAT_BYTES, 128);
    c = config_of(&b);
    assert_int_equal(c.has_copy, 0);
    assert_int_equal(c.copy_bytes, 128);
    bed_free(&b);
}

static void an_event_without_launch_facts_has_the_config_of_its_metadata(void **state)
{
    struct bed b;
    uint32_t row = 0;

    (void)state;
    bed_make(&b);
    tm_facts_put_int(&b.facts, TM_STAT_CORRELATION_ID, 4);
    tm_facts_put_int(&b.facts, TM_STAT_BYTES, 4); /* of whatever: the category does not say */
    put(&b, TM_STAT_HLO_CATEGORY, "fusion");
    row = tm_facts_config(&b.maker, &b.facts, 3);
    assert_int_equal(row, 3);
    assert_int_equal(tm_rows_count(b.trace.configs), 1);
    bed_free(&b);
}

static void put_collective(struct bed *b)
{
    say(b, TM_CLASS_KERNEL, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
    put(b, TM_STAT_COLLECTIVE, "allreduce");
    tm_facts_put_int(&b->facts, TM_STAT_ELEMENTS_IN, 2873320);
    tm_facts_put_int(&b->facts, TM_STAT_ELEMENTS_OUT, 2873320);
    tm_facts_put_int(&b->facts, TM_STAT_GROUP_SIZE, 8);
    put(b, TM_STAT_ELEMENT_TYPE, "BFloat16");
    put(b, TM_STAT_GROUP_NAME, "0");
    put(b, TM_STAT_GROUP_RANKS, "[0, 1, 2, 3, 4, 5, 6, 7]");
}

static void a_collective_has_its_message(void **state)
{
    struct bed b;
    struct tm_config c;
    struct tm_message m;

    (void)state;
    bed_make(&b);
    put_collective(&b);
    c = config_of(&b);
    assert_int_equal(c.message, 1);
    m = message_of(&b, &c);
    assert_int_equal(m.elements_in, 2873320);
    assert_int_equal(m.elements_out, 2873320);
    assert_int_equal(m.element_bytes, 2);
    assert_int_equal(m.group_size, 8);
    assert_name(&b, m.operation, "allreduce");
    assert_name(&b, m.data_type, "BFloat16");
    assert_name(&b, m.group, "0");
    assert_name(&b, m.group_ranks, "[0, 1, 2, 3, 4, 5, 6, 7]");

    put(&b, TM_STAT_ELEMENT_TYPE, "Float9");
    tm_facts_put_int(&b.facts, TM_STAT_GROUP_SIZE, (int64_t)1 << 33);
    c = config_of(&b);
    assert_int_equal(c.message, 2);
    m = message_of(&b, &c);
    assert_int_equal(m.element_bytes, 0);
    assert_int_equal(m.group_size, 0);
    assert_name(&b, m.data_type, "Float9");
    bed_free(&b);
}

static void equal_messages_give_configs_of_equal_content(void **state)
{
    struct bed b;
    uint64_t hash;

    (void)state;
    bed_make(&b);
    put_collective(&b);
    hash = config_of(&b).hash;
    tm_facts_begin(&b.facts, 1); /* as from another place: the cache does not know it */
    put_collective(&b);
    assert_int_equal(config_row(&b), 2);
    assert_true(config_of(&b).hash == hash);
    tm_facts_put_int(&b.facts, TM_STAT_ELEMENTS_IN, 1);
    assert_true(config_of(&b).hash != hash);
    bed_free(&b);
}

static void a_long_name_that_is_hlo_makes_a_tpu_op(void **state)
{
    static const char hlo[] = "%all-reduce.3 = f32[128]{0} all-reduce(f32[128]{0} %fusion.1), replica_groups={}";
    struct bed b;
    struct tm_config c;

    (void)state;
    bed_make(&b);
    say(&b, TM_CLASS_UNRESOLVED, "all-reduce.3");
    put(&b, TM_STAT_LONG_NAME, hlo);
    put(&b, TM_STAT_HLO_CATEGORY, "all-reduce");
    put(&b, TM_STAT_TF_OP, "jit(step)/psum:");
    tm_facts_put_number_text(&b.facts, TM_STAT_BYTES_ACCESSED, "1024", 4);
    tm_facts_put_number_text(&b.facts, TM_STAT_FLOPS, "0", 1);
    c = config_of(&b);
    assert_int_equal(c.level, TM_LEVEL_COLLECTIVE);
    assert_int_equal(c.has_bytes_accessed, 1);
    assert_int_equal(c.bytes_accessed, 1024);
    assert_int_equal(c.has_flops, 1);
    assert_int_equal(c.flops, 0);
    assert_name(&b, c.category, "all-reduce");
    assert_name(&b, c.details, hlo);
    assert_name(&b, c.op, "jit(step)/psum");

    tm_facts_begin(&b.facts, 0); /* the name itself is the text */
    say(&b, TM_CLASS_UNRESOLVED, "%while.1 = (s32[]) while((s32[]) %tuple), condition=%c, body=%b");
    assert_int_equal(config_of(&b).level, TM_LEVEL_CONTAINER);

    tm_facts_begin(&b.facts, 0);
    say(&b, TM_CLASS_UNRESOLVED, "MyScope");
    put(&b, TM_STAT_LONG_NAME, "a name of the user's, with = and %");
    c = config_of(&b);
    assert_int_equal(c.level, TM_LEVEL_NONE);
    assert_int_equal(c.details, 0);
    bed_free(&b);
}

static void jax_writes_details_as_text(void **state)
{
    struct bed b;
    struct tm_config c;

    (void)state;
    bed_make(&b);
    put(&b, TM_STAT_KERNEL_DETAILS, "regs:32 static_shared:16 grid:3,2,1 block:128,1,1 occ_pct:62.5");
    put(&b, TM_STAT_HLO_OP, "loop_fusion.2");
    put(&b, TM_STAT_HLO_MODULE, "jit_step");
    put(&b, TM_STAT_TF_OP, "XlaModule:");
    tm_facts_put_number_text(&b.facts, TM_STAT_OCCUPANCY, "100", 3); /* the details tell it first */
    c = config_of(&b);
    assert_int_equal(c.registers, 32);
    assert_int_equal(c.grid[0], 3);
    assert_int_equal(c.occupancy_milli, 62500);
    assert_int_equal(c.has_achieved, 0);
    assert_name(&b, c.hlo_op, "loop_fusion.2");
    assert_name(&b, c.module, "jit_step");
    assert_int_equal(c.op, 0);
    bed_free(&b);
}

static struct tm_allocation allocation_of(struct bed *b)
{
    struct tm_allocation a;

    tm_facts_allocation(&b->maker, &b->facts, &a);
    return a;
}

static void a_block_of_pytorch_tells_its_allocator(void **state)
{
    struct bed b;
    struct tm_allocation a;

    (void)state;
    bed_make(&b);
    tm_facts_put_int(&b.facts, TM_STAT_DEVICE_TYPE, 1);
    tm_facts_put_int(&b.facts, TM_STAT_DEVICE_ID, 0);
    tm_facts_put_int(&b.facts, TM_STAT_ADDRESS, 139926520725504);
    tm_facts_put_int(&b.facts, TM_STAT_BYTES, -5242880);
    tm_facts_put_int(&b.facts, TM_STAT_TOTAL_ALLOCATED, 5435638784);
    tm_facts_put_int(&b.facts, TM_STAT_TOTAL_RESERVED, 12782141440);
    a = allocation_of(&b);
    assert_int_equal(a.has, TM_HAS_ADDRESS | TM_HAS_ALLOCATION | TM_HAS_ALLOCATED | TM_HAS_AVAILABLE);
    assert_int_equal(a.allocation_bytes, 5242880);
    assert_int_equal(a.bytes_allocated, 5435638784);
    assert_int_equal(a.bytes_available, 12782141440 - 5435638784);
    assert_true(a.address == 139926520725504);
    assert_name(&b, a.allocator, "gpu:0");

    tm_facts_put_int(&b.facts, TM_STAT_TOTAL_RESERVED, 0); /* as a processor's memory */
    assert_int_equal(allocation_of(&b).has, TM_HAS_ADDRESS | TM_HAS_ALLOCATION | TM_HAS_ALLOCATED);
    tm_facts_put_int(&b.facts, TM_STAT_BYTES, INT64_MIN);
    assert_false(allocation_of(&b).has & TM_HAS_ALLOCATION);
    bed_free(&b);
}

static void older_blocks_tell_only_their_size(void **state)
{
    /* clang-format off */
    static const struct { int64_t type, id; const char *name; } rows[] = {
        { 0, -1, "cpu" }, { 1, 3, "gpu:3" }, { 6, 0, "gpu:0" }, { 12, 1, "xpu:1" }, { 3, 0, "device:0" },
        { -1, 0, "device:0" }, { INT64_MAX, INT64_MIN, "device" },
    };
    /* clang-format on */
    struct bed b;

    (void)state;
    bed_make(&b);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tm_allocation a;

        tm_facts_begin(&b.facts, 0);
        tm_facts_put_int(&b.facts, TM_STAT_DEVICE_TYPE, rows[i].type);
        tm_facts_put_int(&b.facts, TM_STAT_DEVICE_ID, rows[i].id);
        tm_facts_put_int(&b.facts, TM_STAT_BYTES, 4);
        a = allocation_of(&b);
        assert_int_equal(a.has, TM_HAS_ALLOCATION);
        assert_int_equal(a.allocation_bytes, 4);
        assert_name(&b, a.allocator, rows[i].name);
    }
    bed_free(&b);
}

/* Distinct configs, far more than the cache holds, some of them asked for again and again. */
static tm_status make_many(struct tm_run *run)
{
    struct bed b = { .run = *run };
    tm_status st = bed_open(&b);

    for (int64_t i = 0; i < 100 && st == TM_OK; i++) {
        tm_facts_begin(&b.facts, (uint64_t)i);
        put_collective(&b);
        tm_facts_put_int(&b.facts, TM_STAT_ELEMENTS_IN, i);
        (void)tm_facts_config(&b.maker, &b.facts, 0);
        st = b.run.error.status;
    }
    bed_close(&b);
    *run = b.run;
    return st;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(make_many);
}

/* Numbers whose differences cancel out where the hash is only multiplied by what everybody knows: the highest bit of one, and
 * what becomes of it in the next; and the same number as another statistic, with the difference of the two in its
 * highest byte. */
static void facts_that_were_made_to_have_one_hash_are_told_apart(void **state)
{
    static const struct {
        enum tm_stat stats[2];
        uint64_t numbers[2];
    } pairs[][2] = {
        { { { TM_STAT_PROGRAM_ID, TM_STAT_BYTES }, { 7, 4096 } },
          { { TM_STAT_PROGRAM_ID, TM_STAT_BYTES },
            { 7 | UINT64_C(1) << 63, 4096 ^ UINT64_C(1) << 63 ^ UINT64_C(1) << 31 } } },
        { { { TM_STAT_PROGRAM_ID, TM_STAT_REGISTERS }, { 7, 32 } },
          { { TM_STAT_PROGRAM_ID, TM_STAT_BYTES }, { 7, 32 ^ (uint64_t)(TM_STAT_REGISTERS ^ TM_STAT_BYTES) << 56 } } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        uint32_t rows[2];
        struct bed b;

        bed_make(&b);
        for (size_t n = 0; n < 2; n++) {
            tm_facts_begin(&b.facts, 0);
            for (size_t k = 0; k < 2; k++)
                tm_facts_put_int(&b.facts, pairs[i][n].stats[k], (int64_t)pairs[i][n].numbers[k]);
            rows[n] = tm_facts_config(&b.maker, &b.facts, 0);
        }
        assert_int_not_equal(rows[0], rows[1]);
        bed_free(&b);
    }
}

static void what_falls_out_of_the_cache_is_made_again(void **state)
{
    enum { CONFIGS = 300000 };
    struct bed b;
    uint32_t row = 0;

    (void)state;
    bed_make(&b);
    for (int64_t i = 1; i <= CONFIGS; i++) {
        tm_facts_begin(&b.facts, 0);
        tm_facts_put_int(&b.facts, TM_STAT_PROGRAM_ID, i);
        row = tm_facts_config(&b.maker, &b.facts, 0);
        assert_int_equal(row, i);
        if (i % 1000)
            continue;
        assert_int_equal(config_row(&b), row);
    }
    tm_facts_begin(&b.facts, 0);
    tm_facts_put_int(&b.facts, TM_STAT_PROGRAM_ID, 1);
    assert_int_equal(config_of(&b).program_id, 1);
    assert_int_equal(config_row(&b), CONFIGS + 1);
    bed_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_that_means_something_is_known),
        cmocka_unit_test(names_of_no_meaning_are_unknown),
        cmocka_unit_test(numbers_that_are_written_as_text_are_both),
        cmocka_unit_test(facts_set_the_flags_of_their_record),
        cmocka_unit_test(a_kernel_of_pytorch_has_its_launch),
        cmocka_unit_test(shapes_are_read_whole_or_not_at_all),
        cmocka_unit_test(a_copy_tells_its_kinds_of_memory_by_its_name),
        cmocka_unit_test(a_size_that_was_not_recorded_is_none),
        cmocka_unit_test(an_event_without_launch_facts_has_the_config_of_its_metadata),
        cmocka_unit_test(a_collective_has_its_message),
        cmocka_unit_test(equal_messages_give_configs_of_equal_content),
        cmocka_unit_test(a_long_name_that_is_hlo_makes_a_tpu_op),
        cmocka_unit_test(jax_writes_details_as_text),
        cmocka_unit_test(a_block_of_pytorch_tells_its_allocator),
        cmocka_unit_test(older_blocks_tell_only_their_size),
        cmocka_unit_test(each_refused_request_ends_clean),
        cmocka_unit_test(facts_that_were_made_to_have_one_hash_are_told_apart),
        cmocka_unit_test(what_falls_out_of_the_cache_is_made_again),
    };

    return cmocka_run_group_tests_name("facts", tests, NULL, NULL);
}
