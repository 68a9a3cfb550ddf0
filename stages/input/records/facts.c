/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of one event, added one by one as the reader finds them.  No allocation, and text is only hashed; the code that
 * uses them is below. */
#include "stages/input/records/facts.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "pipeline/doc/doc.h"
#include "pipeline/numbers.h"
#include "pipeline/run.h"
#include "pipeline/store/hash.h"
#include "pipeline/trace.h"
#include "stages/input/hlo/hlo.h"
#include "stages/resolve/classes.h"

static_assert(offsetof(struct tm_config, level) == offsetof(struct tm_config, ordinal) + sizeof(uint32_t) + 9,
              "the members lie side by side: what is hashed has no holes");

enum {
    WAYS = 4,
    SLOTS_LEAST = 1 << 10, /* powers of two */
    SLOTS_MOST = 1 << 17,
};

struct slot {
    uint64_t hash;
    uint32_t config; /* 0 = empty: row 0 is unused */
};

struct tm_configs {
    struct tm_trace *trace;
    struct slot *slots;
    size_t count; /* a power of two */
};

struct tm_configs *tm_configs_new(struct tm_trace *trace)
{
    struct tm_run *run = trace->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_METADATA);
    struct tm_configs *configs = tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(*configs), &run->error);

    if (!configs)
        return NULL;
    configs->trace = trace;
    configs->count = SLOTS_LEAST;
    while (configs->count * 2 * sizeof(struct slot) <= share / 8 && configs->count < SLOTS_MOST)
        configs->count *= 2;
    configs->slots = tm_take(&run->budget, TM_ACCOUNT_METADATA, configs->count * sizeof(struct slot), &run->error);
    if (configs->slots)
        return configs;
    tm_configs_free(configs);
    return NULL;
}

void tm_configs_free(struct tm_configs *configs)
{
    struct tm_budget *budget;

    if (!configs)
        return;
    budget = &configs->trace->run->budget;
    tm_give(budget, TM_ACCOUNT_METADATA, configs->slots, configs->slots ? configs->count * sizeof(struct slot) : 0);
    tm_give(budget, TM_ACCOUNT_METADATA, configs, sizeof(*configs));
}

static struct slot *set_of(const struct tm_configs *configs, uint64_t hash)
{
    return configs->slots + (hash & (configs->count / WAYS - 1)) * WAYS;
}

static bool configs_have(const struct tm_configs *configs, uint64_t hash, uint32_t *row)
{
    const struct slot *set = set_of(configs, hash);

    for (int way = 0; way < WAYS; way++)
        if (set[way].config && set[way].hash == hash) {
            *row = set[way].config;
            return true;
        }
    return false;
}

uint32_t tm_configs_put(struct tm_configs *configs, uint64_t hash, const struct tm_config *config)
{
    struct tm_trace *trace = configs->trace;
    struct slot *set = set_of(configs, hash);
    const uint64_t next = tm_rows_count(trace->configs);

    if (next >= TM_NONE) {
        (void)tm_fail(&trace->run->error, TM_ERR_LIMIT, -1,
                      "the trace has more than %u different launch configurations", TM_NONE - 1);
        return 0;
    }
    tm_rows_append(trace->configs, config);
    for (int way = WAYS - 1; way > 0; way--)
        set[way] = set[way - 1];
    set[0] = (struct slot){ hash, (uint32_t)next };
    return (uint32_t)next;
}

/* What else is hashed for a config, besides statistics: where their strings are, the op, the category, the
 * name. */
enum tm_fact_beside { TM_FACT_OF_PLACE = TM_STAT_COUNT << 2, TM_FACT_OF_OP, TM_FACT_OF_CATEGORY, TM_FACT_OF_NAME };

/* The names of the statistics and arguments that are used: a hash table without collisions, made by the
 * compiler, which warns of two names in one slot.  A name's slot is identified by its length and four of its letters.
 * source: tsl/profiler/utils/xplane_schema.cc names the statistics; kineto's output_json.cpp and the profiler of
 *         PyTorch name the arguments; checked against real files */

enum { SLOTS = 256, LONGEST_NAME = 25 };

/* The factors were searched for: any that separate all names will do. */
#define SLOT(length, first, quarter, later, last)                                                                      \
    (((length)*106u + (first)*188u + (quarter)*148u + (later)*14u + (last)*247u) % SLOTS)

struct known {
    const char *name;
    uint8_t length;
    uint8_t stat;      /* enum tm_stat */
    bool is_statistic; /* of an XSpace, too */
};

/* The letters are at 0, a quarter, five eighths and the end of the name. */
static const struct known known_names[SLOTS] = {
    /* statistics: of an XSpace, and JAX's JSON */
    [SLOT(14, 'M', 's', 'e', 's')] = { "Memset_details", 14, TM_STAT_MEMSET_DETAILS, true },
    [SLOT(2, '_', '_', 'r', 'r')] = { "_r", 2, TM_STAT_ROOT, true },
    [SLOT(4, 'a', 'd', 'd', 'r')] = { "addr", 4, TM_STAT_ADDRESS, true },
    [SLOT(16, 'a', 'c', '_', 's')] = { "allocation_bytes", 16, TM_STAT_ALLOCATION_BYTES, true },
    [SLOT(14, 'a', 'o', 'r', 'e')] = { "allocator_name", 14, TM_STAT_ALLOCATOR_NAME, true },
    [SLOT(14, 'b', 'e', 'c', 'd')] = { "bytes_accessed", 14, TM_STAT_BYTES_ACCESSED, true },
    [SLOT(15, 'b', 'e', 'o', 'd')] = { "bytes_allocated", 15, TM_STAT_BYTES_ALLOCATED, true },
    [SLOT(15, 'b', 'e', 'i', 'e')] = { "bytes_available", 15, TM_STAT_BYTES_AVAILABLE, true },
    [SLOT(14, 'b', 'e', 's', 'd')] = { "bytes_reserved", 14, TM_STAT_BYTES_RESERVED, true },
    [SLOT(14, 'c', 'r', 'i', 'd')] = { "correlation_id", 14, TM_STAT_CORRELATION_ID, true },
    [SLOT(13, 'c', 'n', 'v', 'e')] = { "counter_value", 13, TM_STAT_COUNTER_VALUE, true },
    [SLOT(18, 'c', '_', 'e', 'd')] = { "cuda_graph_exec_id", 18, TM_STAT_GRAPH_EXEC, true },
    [SLOT(18, 'c', '_', 'n', 'd')] = { "cuda_graph_node_id", 18, TM_STAT_GRAPH_NODE, true },
    [SLOT(9, 'd', 't', 't', 'e')] = { "data_type", 9, TM_STAT_DATA_TYPE, true },
    [SLOT(18, 'd', 'c', 't', 's')] = { "device_duration_ps", 18, TM_STAT_DEVICE_DURATION, true },
    [SLOT(16, 'd', 'c', 's', 's')] = { "device_offset_ps", 16, TM_STAT_DEVICE_OFFSET, true },
    [SLOT(14, 'd', 'i', 'r', 'l')] = { "device_ordinal", 14, TM_STAT_DEVICE_ORDINAL, true },
    [SLOT(5, 'f', 'l', 'p', 's')] = { "flops", 5, TM_STAT_FLOPS, true },
    [SLOT(13, 'f', 'g', 'a', 'n')] = { "fragmentation", 13, TM_STAT_FRAGMENTATION, true },
    [SLOT(8, 'g', 'o', '_', 'd')] = { "group_id", 8, TM_STAT_GROUP_ID, true },
    [SLOT(12, 'h', '_', 'e', 'y')] = { "hlo_category", 12, TM_STAT_HLO_CATEGORY, true },
    [SLOT(10, 'h', 'o', 'd', 'e')] = { "hlo_module", 10, TM_STAT_HLO_MODULE, true },
    [SLOT(6, 'h', 'l', '_', 'p')] = { "hlo_op", 6, TM_STAT_HLO_OP, true },
    [SLOT(13, 'i', 'e', '_', 't')] = { "index_on_host", 13, TM_STAT_INDEX_ON_HOST, true },
    [SLOT(14, 'k', 'n', 'e', 's')] = { "kernel_details", 14, TM_STAT_KERNEL_DETAILS, true },
    [SLOT(14, 'm', 'c', 'e', 's')] = { "memcpy_details", 14, TM_STAT_MEMCPY_DETAILS, true },
    [SLOT(14, 'm', 's', 'e', 's')] = { "memset_details", 14, TM_STAT_MEMSET_DETAILS, true },
    [SLOT(11, 'm', 'd', '_', 'e')] = { "module_name", 11, TM_STAT_MODULE_NAME, true },
    [SLOT(4, 'n', 'a', 'm', 'e')] = { "name", 4, TM_STAT_NAME, true },
    [SLOT(17, 'p', '_', '_', 'e')] = { "peak_bytes_in_use", 17, TM_STAT_PEAK_BYTES, true },
    [SLOT(10, 'p', 'o', 'm', 'd')] = { "program_id", 10, TM_STAT_PROGRAM_ID, true },
    [SLOT(11, 'r', 'g', '_', 'e')] = { "region_type", 11, TM_STAT_REGION_TYPE, true },
    [SLOT(15, 'r', 'u', '_', 's')] = { "requested_bytes", 15, TM_STAT_REQUESTED_BYTES, true },
    [SLOT(6, 'r', 'u', '_', 'd')] = { "run_id", 6, TM_STAT_RUN_ID, true },
    [SLOT(5, 's', 'h', 'p', 'e')] = { "shape", 5, TM_STAT_SHAPE, true },
    [SLOT(4, 's', 'i', 'z', 'e')] = { "size", 4, TM_STAT_SIZE, true },
    [SLOT(6, 's', 'o', 'r', 'e')] = { "source", 6, TM_STAT_SOURCE, true },
    [SLOT(8, 's', 'e', 'n', 'm')] = { "step_num", 8, TM_STAT_STEP_NUM, true },
    [SLOT(5, 't', 'f', 'o', 'p')] = { "tf_op", 5, TM_STAT_TF_OP, true },
    [SLOT(25, 't', 't', 'u', 't')] = { "theoretical_occupancy_pct", 25, TM_STAT_OCCUPANCY, true },
    /* JAX's JSON alone */
    [SLOT(6, 'l', 'a', 'e', 's')] = { "labels", 6, TM_STAT_LABELS, false },
    [SLOT(9, 'l', 'n', 'n', 'e')] = { "long_name", 9, TM_STAT_LONG_NAME, false },
    [SLOT(11, 'm', 'd', 'f', 's')] = { "model_flops", 11, TM_STAT_FLOPS, false },
    [SLOT(10, 's', 'r', 'n', 'x')] = { "sort_index", 10, TM_STAT_SORT_INDEX, false },
    /* PyTorch */
    [SLOT(11, 'c', 'r', 'a', 'n')] = { "correlation", 11, TM_STAT_CORRELATION_ID, false },
    [SLOT(6, 'd', 'e', 'i', 'e')] = { "device", 6, TM_STAT_DEVICE, false },
    [SLOT(4, 'g', 'r', 'i', 'd')] = { "grid", 4, TM_STAT_GRID, false },
    [SLOT(5, 'b', 'l', 'c', 'k')] = { "block", 5, TM_STAT_BLOCK, false },
    [SLOT(20, 'r', 't', 'r', 'd')] = { "registers per thread", 20, TM_STAT_REGISTERS, false },
    [SLOT(13, 's', 'r', 'e', 'y')] = { "shared memory", 13, TM_STAT_SHARED_MEMORY, false },
    [SLOT(25, 'e', 'c', 'c', '%')] = { "est. achieved occupancy %", 25, TM_STAT_OCCUPANCY, false },
    [SLOT(5, 'b', 'y', 'e', 's')] = { "bytes", 5, TM_STAT_BYTES, false },
    [SLOT(5, 'B', 'y', 'e', 's')] = { "Bytes", 5, TM_STAT_BYTES, false },
    [SLOT(15, 'T', 'a', 'o', 'd')] = { "Total Allocated", 15, TM_STAT_TOTAL_ALLOCATED, false },
    [SLOT(14, 'T', 'a', 's', 'd')] = { "Total Reserved", 14, TM_STAT_TOTAL_RESERVED, false },
    [SLOT(11, 'D', 'v', ' ', 'e')] = { "Device Type", 11, TM_STAT_DEVICE_TYPE, false },
    [SLOT(9, 'D', 'v', 'e', 'd')] = { "Device Id", 9, TM_STAT_DEVICE_ID, false },
    [SLOT(4, 'd', 'e', 's', 'c')] = { "desc", 4, TM_STAT_DESCRIPTION, false },
    [SLOT(6, 'd', 'e', '-', 'd')] = { "dev-id", 6, TM_STAT_QUEUE_DEVICE, false },
    [SLOT(4, 'A', 'd', 'd', 'r')] = { "Addr", 4, TM_STAT_ADDRESS, false },
    [SLOT(15, 'C', 'l', 'e', 'e')] = { "Collective name", 15, TM_STAT_COLLECTIVE, false },
    [SLOT(13, 'I', 'm', 'e', 's')] = { "In msg nelems", 13, TM_STAT_ELEMENTS_IN, false },
    [SLOT(14, 'O', ' ', 'n', 's')] = { "Out msg nelems", 14, TM_STAT_ELEMENTS_OUT, false },
    [SLOT(10, 'G', 'o', 's', 'e')] = { "Group size", 10, TM_STAT_GROUP_SIZE, false },
    [SLOT(5, 'd', 't', 'p', 'e')] = { "dtype", 5, TM_STAT_ELEMENT_TYPE, false },
    [SLOT(18, 'P', 'e', 'u', 'e')] = { "Process Group Name", 18, TM_STAT_GROUP_NAME, false },
    [SLOT(19, 'P', 'e', 'u', 's')] = { "Process Group Ranks", 19, TM_STAT_GROUP_RANKS, false },
    [SLOT(3, 'S', 'S', 'e', 'q')] = { "Seq", 3, TM_STAT_SEQUENCE, false },
};

static const struct known *find(const char *name, size_t length)
{
    const unsigned char *at = (const unsigned char *)name;
    const struct known *row;

    if (!length || length > LONGEST_NAME)
        return NULL;
    row = &known_names[SLOT((unsigned)length, at[0], at[length / 4], at[length * 5 / 8], at[length - 1])];
    return row->length == length && !memcmp(row->name, name, length) ? row : NULL;
}

enum tm_stat tm_stat_of(const char *name, size_t length)
{
    const struct known *row = find(name, length);

    return row && row->is_statistic ? (enum tm_stat)row->stat : TM_STAT_UNKNOWN;
}

enum tm_stat tm_argument_of(const char *key, size_t length)
{
    const struct known *row = find(key, length);

    return row ? (enum tm_stat)row->stat : TM_STAT_UNKNOWN;
}

const uint16_t tm_fact_flags[TM_STAT_COUNT] = {
    [TM_STAT_KERNEL_DETAILS] = TM_FLAG_KERNEL_DETAILS,
    [TM_STAT_MEMCPY_DETAILS] = TM_FLAG_COPY_DETAILS,
    [TM_STAT_MEMSET_DETAILS] = TM_FLAG_MEMSET_DETAILS,
    [TM_STAT_HLO_OP] = TM_FLAG_HLO_OP,
    [TM_STAT_CORRELATION_ID] = TM_FLAG_CORRELATION,
    [TM_STAT_ROOT] = TM_FLAG_STEP,
    [TM_STAT_STEP_NUM] = TM_FLAG_STEP,
    [TM_STAT_GRAPH_EXEC] = TM_FLAG_GRAPH_EXEC,
    [TM_STAT_GRAPH_NODE] = TM_FLAG_GRAPH_NODE,
    [TM_STAT_RUN_ID] = TM_FLAG_RUN_ID,
    [TM_STAT_GROUP_ID] = TM_FLAG_GROUP,
};

enum { NUMBER_TEXT_MOST = 64 }; /* a longer text is not a number */

/* The same for all readers of the process: any reader that sees its facts finds the same config. */
static uint64_t process_secret(void)
{
    static uint64_t secret;

    while (!secret)
        secret = tm_hash_seed(&secret);
    return secret;
}

void tm_facts_begin(struct tm_facts *facts, uint64_t seed)
{
    facts->has = 0;
    facts->flags = 0;
    facts->secret = process_secret();
    facts->config_hash = tm_facts_mix(facts, 0x74726163656d696cu, TM_FACT_OF_PLACE, seed);
}

static int64_t cut(double value)
{
    return value > -9e18 && value < 9e18 ? (int64_t)value : 0;
}

void tm_facts_put_double(struct tm_facts *facts, enum tm_stat stat, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    facts->doubles[stat] = value;
    facts->ints[stat] = cut(value);
    facts->texts[stat].kind = TM_FACT_NO_TEXT;
    tm_facts_note(facts, stat, TM_FACT_DOUBLE, bits);
}

static uint64_t number(const struct tm_facts *facts, enum tm_stat stat, uint64_t most);

/* A whole decimal number of 64 bits; above INT64_MAX its bits, as writers of unsigned numbers mean it. */
static inline bool whole_number(const char *text, size_t length, int64_t *number)
{
    const bool is_negative = length && *text == '-';
    uint64_t value = 0;

    if (length == (size_t)is_negative || length > 21)
        return false;
    for (size_t i = is_negative; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (unsigned)(text[i] - '0'), &value))
            return false;
    }
    if (is_negative && value > (uint64_t)INT64_MAX + 1)
        return false;
    *number = (int64_t)(is_negative ? -value : value);
    return true;
}

/* Digits with a point, few enough that both parts of the fraction are exact: one division then rounds as strtod
 * does, at a tenth of its cost. */
static bool short_decimal(const char *text, size_t length, double *number)
{
    static const double powers[] = {
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15
    };
    uint64_t digits = 0;
    size_t point = length;

    if (length > 15)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.' && point == length)
            point = i;
        else if (text[i] < '0' || text[i] > '9')
            return false;
        else
            digits = digits * 10 + (uint64_t)(text[i] - '0');
    }
    *number = (double)digits / powers[length - point - (point < length)];
    return point != 0 && point + 1 != length;
}

static bool decimal_number(const char *text, size_t length, double *number)
{
    char copy[NUMBER_TEXT_MOST];
    char *end;

    if (short_decimal(text, length, number))
        return true;
    if (length >= sizeof(copy))
        return false;
    for (size_t i = 0; i < length; i++) { /* what strtod accepts in addition: blanks, hexadecimal, "nan" */
        if ((text[i] < '0' || text[i] > '9') && text[i] != '.' && text[i] != '-' && text[i] != '+' && text[i] != 'e' &&
            text[i] != 'E')
            return false;
        copy[i] = text[i];
    }
    copy[length] = '\0';
    *number = strtod(copy, &end);
    return end == copy + length && *number > -HUGE_VAL && *number < HUGE_VAL;
}

void tm_facts_put_number_text(struct tm_facts *facts, enum tm_stat stat, const char *text, size_t length)
{
    tm_facts_put_text(facts, stat, text, length);
    if (!length || !((*text >= '0' && *text <= '9') || *text == '-' || *text == '.'))
        return;
    if (whole_number(text, length, &facts->ints[stat]))
        facts->doubles[stat] = (double)facts->ints[stat];
    else if (decimal_number(text, length, &facts->doubles[stat]))
        facts->ints[stat] = cut(facts->doubles[stat]);
    else
        facts->doubles[stat] = 0;
}

bool tm_facts_whole(const struct tm_facts *facts, enum tm_stat stat, int64_t *number)
{
    const struct tm_fact_text *const text = &facts->texts[stat];

    if (!tm_facts_have(facts, stat) || text->kind == TM_FACT_REF)
        return false;
    *number = facts->ints[stat];
    if (text->kind == TM_FACT_BYTES && !*number) /* what is not a number counts as 0 */
        return whole_number((const char *)text->bytes, text->length, number);
    return facts->doubles[stat] == (double)*number;
}

uint16_t tm_facts_flags(const struct tm_facts *facts, enum tm_class given)
{
    switch (given) {
    case TM_CLASS_KERNEL:
    case TM_CLASS_COLLECTIVE:
        return facts->flags | TM_FLAG_KERNEL_DETAILS;
    case TM_CLASS_COPY:
        return facts->flags | TM_FLAG_COPY_DETAILS;
    case TM_CLASS_MEMSET:
        return facts->flags | TM_FLAG_MEMSET_DETAILS;
    default:
        return facts->flags;
    }
}

tm_strid tm_facts_text(const struct tm_fact_maker *maker, const struct tm_facts *facts, enum tm_stat stat)
{
    const struct tm_fact_text *text = &facts->texts[stat];

    if (!tm_facts_have(facts, stat))
        return 0;
    if (text->kind == TM_FACT_REF && maker->ref)
        return maker->ref(maker->to, maker->plane, text->ref);
    return text->kind == TM_FACT_BYTES ? tm_names_put(maker->trace->names, (const char *)text->bytes, text->length) : 0;
}

/* --- allocations --- */

/* source: c10/core/DeviceType.h; HIP appears as its own type, or as CUDA, which it replaces */
static const char *device_word(int64_t type)
{
    static const char *const words[] = {
        "cpu", "gpu", [6] = "gpu", [9] = "xla", [12] = "xpu", [13] = "mps", [15] = "hpu", [19] = "mtia"
    };

    return type >= 0 && type < (int64_t)(sizeof(words) / sizeof(words[0])) && words[type] ? words[type] : "device";
}

/* PyTorch's allocator of a device, and its state.  The sizes of its blocks are signed. */
static void fill_block(const struct tm_fact_maker *maker, const struct tm_facts *facts, struct tm_allocation *a)
{
    const int64_t *ints = facts->ints;
    const int64_t id = tm_facts_have(facts, TM_STAT_DEVICE_ID) ? ints[TM_STAT_DEVICE_ID] : -1;
    char name[48];
    const char *device;
    size_t length;

    if (ints[TM_STAT_BYTES] != INT64_MIN) {
        a->has |= TM_HAS_ALLOCATION;
        a->allocation_bytes = ints[TM_STAT_BYTES] < 0 ? -ints[TM_STAT_BYTES] : ints[TM_STAT_BYTES];
    }
    if (tm_facts_have(facts, TM_STAT_TOTAL_ALLOCATED)) {
        a->has |= TM_HAS_ALLOCATED;
        a->bytes_allocated = ints[TM_STAT_TOTAL_ALLOCATED];
    }
    if (tm_facts_have(facts, TM_STAT_TOTAL_ALLOCATED) && tm_facts_have(facts, TM_STAT_TOTAL_RESERVED) &&
        !__builtin_sub_overflow(ints[TM_STAT_TOTAL_RESERVED], ints[TM_STAT_TOTAL_ALLOCATED], &a->bytes_available) &&
        a->bytes_available >= 0) /* a processor's memory is not reserved before it is allocated: 0 */
        a->has |= TM_HAS_AVAILABLE;
    if (!tm_facts_have(facts, TM_STAT_DEVICE_TYPE))
        return;
    device = device_word(ints[TM_STAT_DEVICE_TYPE]);
    length = strlen(device);
    memcpy(name, device, length);
    if (id >= 0) {
        name[length++] = ':';
        length += tm_int_text(name + length, id);
    }
    a->allocator = tm_names_put(maker->trace->names, name, length);
}

/* The state that JAX's allocators record. */
static void fill_allocator(const struct tm_fact_maker *maker, const struct tm_facts *facts, struct tm_allocation *a)
{
    static const struct {
        enum tm_stat stat;
        size_t offset;
    } texts[] = {
        { TM_STAT_ALLOCATOR_NAME, offsetof(struct tm_allocation, allocator) },
        { TM_STAT_TF_OP, offsetof(struct tm_allocation, op) },
        { TM_STAT_SHAPE, offsetof(struct tm_allocation, shape) },
        { TM_STAT_REGION_TYPE, offsetof(struct tm_allocation, region) },
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const tm_strid name = tm_facts_text(maker, facts, texts[i].stat);

        memcpy((char *)a + texts[i].offset, &name, sizeof(name));
    }
    if (tm_facts_have(facts, TM_STAT_FRAGMENTATION)) {
        a->has |= TM_HAS_FRAGMENTATION;
        a->fragmentation = facts->doubles[TM_STAT_FRAGMENTATION];
    }
}

void tm_facts_allocation(const struct tm_fact_maker *maker, const struct tm_facts *facts,
                         struct tm_allocation *allocation)
{
    static const struct {
        enum tm_stat stat;
        uint32_t has;
        size_t offset;
    } numbers[] = {
        { TM_STAT_BYTES_RESERVED, TM_HAS_RESERVED, offsetof(struct tm_allocation, bytes_reserved) },
        { TM_STAT_BYTES_ALLOCATED, TM_HAS_ALLOCATED, offsetof(struct tm_allocation, bytes_allocated) },
        { TM_STAT_BYTES_AVAILABLE, TM_HAS_AVAILABLE, offsetof(struct tm_allocation, bytes_available) },
        { TM_STAT_PEAK_BYTES, TM_HAS_PEAK, offsetof(struct tm_allocation, peak_bytes_in_use) },
        { TM_STAT_REQUESTED_BYTES, TM_HAS_REQUESTED, offsetof(struct tm_allocation, requested_bytes) },
        { TM_STAT_ALLOCATION_BYTES, TM_HAS_ALLOCATION, offsetof(struct tm_allocation, allocation_bytes) },
        { TM_STAT_ADDRESS, TM_HAS_ADDRESS, offsetof(struct tm_allocation, address) },
        { TM_STAT_INDEX_ON_HOST, TM_HAS_INDEX_ON_HOST, offsetof(struct tm_allocation, index_on_host) },
    };

    *allocation = (struct tm_allocation){ .has = 0 };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (tm_facts_have(facts, numbers[i].stat)) {
            allocation->has |= numbers[i].has;
            memcpy((char *)allocation + numbers[i].offset, &facts->ints[numbers[i].stat], sizeof(int64_t));
        }
    if (tm_facts_have(facts, TM_STAT_BYTES))
        fill_block(maker, facts, allocation);
    else
        fill_allocator(maker, facts, allocation);
}

/* Launch facts out of the facts of an event: what a profiler of XLA writes as one string of details, PyTorch writes as
 * their own arguments.  Runs once per distinct set of facts; the others come from the cache of configs. */

enum {
    DETAILS_MOST = 4096,      /* bytes of a string that are examined */
    HLO_TEXT_MOST = 64 << 10, /* and of an HLO line */
    CATEGORY_MOST = 63,
};

typedef void parse_details(const char *text, size_t length, struct tm_config *config);

/* Parse a details text into the config. */
static void take_details(const struct tm_fact_maker *maker, const struct tm_facts *facts, enum tm_stat stat,
                         parse_details *parse, struct tm_config *config)
{
    const char *text;
    size_t length;

    if (!tm_facts_have(facts, stat))
        return;
    text = tm_names_text(maker->trace->names, tm_facts_text(maker, facts, stat), DETAILS_MOST, &length);
    parse(text, length, config);
}

tm_strid tm_path_of_tf_op(struct tm_names *names, tm_strid tf_op)
{
    size_t length;
    const char *const text = tm_names_text(names, tf_op, DETAILS_MOST, &length);

    if (!length || text[length - 1] != ':')
        return tf_op;
    return length == 10 && !memcmp(text, "XlaModule:", 10) ? 0 : tm_names_put(names, text, length - 1);
}

/* A string of the facts, wherever it is. */
static void take_text(const struct tm_fact_maker *maker, const struct tm_facts *facts, enum tm_stat stat, tm_strid *to)
{
    if (tm_facts_have(facts, stat))
        *to = tm_facts_text(maker, facts, stat);
}

static void take_texts(const struct tm_fact_maker *maker, const struct tm_facts *facts, struct tm_config *config)
{
    take_details(maker, facts, TM_STAT_KERNEL_DETAILS, tm_parse_kernel_details, config);
    take_details(maker, facts, TM_STAT_MEMCPY_DETAILS, tm_parse_copy_details, config);
    take_details(maker, facts, TM_STAT_MEMSET_DETAILS, tm_parse_memset_details, config);
    /* the framework path of an op: `name`, else tf_op */
    if (tm_facts_have(facts, TM_STAT_NAME))
        config->op = tm_facts_text(maker, facts, TM_STAT_NAME);
    else if (tm_facts_have(facts, TM_STAT_TF_OP))
        config->op = tm_path_of_tf_op(maker->trace->names, tm_facts_text(maker, facts, TM_STAT_TF_OP));
    take_text(maker, facts, TM_STAT_HLO_OP, &config->hlo_op);
    take_text(maker, facts, TM_STAT_HLO_MODULE, &config->module);
    take_text(maker, facts, TM_STAT_MODULE_NAME, &config->module);
    take_text(maker, facts, TM_STAT_SOURCE, &config->source);
    if (config->hlo_op)
        config->hlo_traits = tm_names_info(maker->trace->names, config->hlo_op).traits;
}

static void take_numbers(const struct tm_facts *facts, struct tm_config *config)
{
    const double occupancy = tm_facts_have(facts, TM_STAT_OCCUPANCY) ? facts->doubles[TM_STAT_OCCUPANCY] : 0;

    if (tm_facts_have(facts, TM_STAT_PROGRAM_ID))
        config->program_id = facts->ints[TM_STAT_PROGRAM_ID];
    if (!config->occupancy_milli && occupancy > 0 && occupancy <= 100)
        config->occupancy_milli = (uint32_t)(occupancy * 1000 + 0.5);
    config->has_achieved = tm_facts_have(facts, TM_STAT_OCCUPANCY) && tm_facts_have(facts, TM_STAT_GRID) &&
                           occupancy >= 0 && occupancy <= 100;
    if (tm_facts_have(facts, TM_STAT_GRAPH_EXEC))
        config->graph_exec = (uint32_t)facts->ints[TM_STAT_GRAPH_EXEC];
    if (tm_facts_have(facts, TM_STAT_DEVICE_ORDINAL) && facts->ints[TM_STAT_DEVICE_ORDINAL] >= 0 &&
        facts->ints[TM_STAT_DEVICE_ORDINAL] < TM_NONE)
        config->ordinal = (uint32_t)facts->ints[TM_STAT_DEVICE_ORDINAL];
}

/* --- what PyTorch says in their own arguments --- */

/* A number that was recorded and fits, else 0. */
static uint64_t number(const struct tm_facts *facts, enum tm_stat stat, uint64_t most)
{
    const int64_t value = tm_facts_have(facts, stat) ? facts->ints[stat] : 0;

    return value > 0 && (uint64_t)value <= most ? (uint64_t)value : 0;
}

static void take_shape(const struct tm_facts *facts, enum tm_stat stat, uint32_t shape[3])
{
    const struct tm_fact_text *text = &facts->texts[stat];

    if (tm_facts_have(facts, stat) && text->kind == TM_FACT_BYTES)
        tm_parse_shape((const char *)text->bytes, text->length, shape);
}

static void take_launch(const struct tm_fact_maker *maker, const struct tm_facts *facts, struct tm_config *config)
{
    if (tm_facts_have(facts, TM_STAT_GRID)) {
        config->has_kernel = 1;
        take_shape(facts, TM_STAT_GRID, config->grid);
        take_shape(facts, TM_STAT_BLOCK, config->block);
        config->registers = (uint32_t)number(facts, TM_STAT_REGISTERS, UINT32_MAX);
        config->shared_bytes = number(facts, TM_STAT_SHARED_MEMORY, UINT32_MAX);
    }
    if (maker->given == TM_CLASS_COPY)
        tm_parse_copy_name(maker->name, maker->name_length, config);
    if (maker->given == TM_CLASS_COPY || maker->given == TM_CLASS_MEMSET) {
        config->copy_bytes = number(facts, TM_STAT_BYTES, TM_COPY_BYTES_MOST);
        config->has_copy_bytes = config->copy_bytes != 0;
    }
}

/* source: c10/core/ScalarType.h */
static uint32_t element_bytes(const struct tm_fact_text *type)
{
    /* clang-format off */
    static const struct { const char *name; uint32_t bytes; } types[] = {
        { "Float", 4 },           { "BFloat16", 2 },      { "Half", 2 },            { "Int", 4 },
        { "Long", 8 },            { "Byte", 1 },          { "Char", 1 },            { "Bool", 1 },
        { "Double", 8 },          { "Short", 2 },         { "UInt16", 2 },          { "UInt32", 4 },
        { "UInt64", 8 },          { "Float8_e4m3fn", 1 }, { "Float8_e5m2", 1 },     { "Float8_e4m3fnuz", 1 },
        { "Float8_e5m2fnuz", 1 }, { "ComplexHalf", 4 },   { "ComplexFloat", 8 },    { "ComplexDouble", 16 },
    };
    /* clang-format on */

    for (size_t i = 0; type->kind == TM_FACT_BYTES && i < sizeof(types) / sizeof(types[0]); i++)
        if (type->length == strlen(types[i].name) && !memcmp(type->bytes, types[i].name, type->length))
            return types[i].bytes;
    return 0;
}

/* The message of a collective, as its own row.
 * out: *hash  of what it says; unchanged without a message */
static void take_message(const struct tm_fact_maker *maker, const struct tm_facts *facts, struct tm_config *config,
                         uint64_t *hash)
{
    struct tm_rows *messages = maker->trace->messages;
    struct tm_message message = {
        .elements_in = number(facts, TM_STAT_ELEMENTS_IN, INT64_MAX),
        .elements_out = number(facts, TM_STAT_ELEMENTS_OUT, INT64_MAX),
        .group_size = (uint32_t)number(facts, TM_STAT_GROUP_SIZE, UINT32_MAX),
    };

    if (!tm_facts_have(facts, TM_STAT_COLLECTIVE))
        return;
    if (tm_facts_have(facts, TM_STAT_ELEMENT_TYPE))
        message.element_bytes = element_bytes(&facts->texts[TM_STAT_ELEMENT_TYPE]);
    message.operation = tm_facts_text(maker, facts, TM_STAT_COLLECTIVE);
    message.data_type = tm_facts_text(maker, facts, TM_STAT_ELEMENT_TYPE);
    message.group = tm_facts_text(maker, facts, TM_STAT_GROUP_NAME);
    message.group_ranks = tm_facts_text(maker, facts, TM_STAT_GROUP_RANKS);
    static_assert(sizeof(message) == 40, "no holes: it is hashed as bytes");
    *hash = tm_fact_mix(*hash, XXH3_64bits(&message, sizeof(message)));
    if (tm_rows_count(messages) >= TM_NONE) /* no more than there are configs, which end before */
        return;
    config->message = (uint32_t)tm_rows_count(messages);
    tm_rows_append(messages, &message);
}

/* --- what JAX's JSON records about a TPU op, like its metadata in an XSpace --- */

static bool is_hlo_text(const char *text, size_t length)
{
    return length > 4 && *text == '%' && memmem(text, length < 256 ? length : 256, " = ", 3);
}

/* out: the op's HLO text; no text if it is not an op of a TPU */
static struct tm_fact_text hlo_text_of(const struct tm_fact_maker *maker, const struct tm_facts *facts)
{
    const struct tm_fact_text none = { .kind = TM_FACT_NO_TEXT };
    struct tm_fact_text text = { TM_FACT_BYTES, 0, (const uint8_t *)maker->name, maker->name_length };

    if (tm_facts_have(facts, TM_STAT_LONG_NAME))
        text = facts->texts[TM_STAT_LONG_NAME];
    return text.kind == TM_FACT_BYTES && is_hlo_text((const char *)text.bytes, text.length) ? text : none;
}

static void take_tpu_op(const struct tm_fact_maker *maker, const struct tm_facts *facts, const struct tm_fact_text *hlo,
                        struct tm_config *config)
{
    struct tm_fact_text category = { .kind = TM_FACT_NO_TEXT };

    if (tm_facts_have(facts, TM_STAT_HLO_CATEGORY) && facts->texts[TM_STAT_HLO_CATEGORY].kind == TM_FACT_BYTES)
        category = facts->texts[TM_STAT_HLO_CATEGORY];
    if (category.length > CATEGORY_MOST)
        category.length = CATEGORY_MOST;
    tm_parse_tpu_op((const char *)hlo->bytes, hlo->length < HLO_TEXT_MOST ? hlo->length : HLO_TEXT_MOST,
                    (const char *)category.bytes, category.length, config);
    config->has_flops = tm_facts_have(facts, TM_STAT_FLOPS);
    config->flops = number(facts, TM_STAT_FLOPS, INT64_MAX);
    config->has_bytes_accessed = tm_facts_have(facts, TM_STAT_BYTES_ACCESSED);
    config->bytes_accessed = number(facts, TM_STAT_BYTES_ACCESSED, INT64_MAX);
    config->category = tm_facts_text(maker, facts, TM_STAT_HLO_CATEGORY);
    config->details = tm_names_put(maker->trace->names, (const char *)hlo->bytes, hlo->length);
}

/* --- all of it --- */

/* A hash of all that a config is made from. */
static uint64_t hash_of_facts(const struct tm_fact_maker *maker, const struct tm_facts *facts, uint32_t op_config)
{
    uint64_t hash = tm_facts_mix(facts, facts->config_hash, TM_FACT_OF_OP, op_config);

    if (!maker->given && !maker->name_length)
        return hash;
    /* A name is only informative for a copy, and if it is an HLO text. */
    if (maker->given == TM_CLASS_COPY || (maker->name_length && *maker->name == '%'))
        hash = tm_facts_mix(facts, hash, TM_FACT_OF_NAME, tm_hash_text(maker->name, maker->name_length, facts->secret));
    return tm_facts_mix(facts, hash, TM_FACT_OF_CATEGORY, (uint64_t)maker->given);
}

static bool is_made_of(const struct tm_fact_maker *maker, const struct tm_facts *facts)
{
    const bool is_copy = maker->given == TM_CLASS_COPY || maker->given == TM_CLASS_MEMSET;

    return is_copy || (facts->has & tm_config_facts & ~(TM_FACT_BIT(TM_STAT_BYTES) | TM_FACT_BIT(TM_STAT_SOURCE))) ||
           (maker->name_length && *maker->name == '%');
}

/* hash: of what it is made from */
static uint32_t make_config(const struct tm_fact_maker *maker, const struct tm_facts *facts, uint32_t op_config,
                            uint64_t hash)
{
    struct tm_config config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };
    struct tm_fact_text hlo;

    if (op_config)
        config = *(const struct tm_config *)tm_rows_at(maker->trace->configs, op_config);
    take_texts(maker, facts, &config);
    take_numbers(facts, &config);
    take_launch(maker, facts, &config);
    hlo = hlo_text_of(maker, facts);
    if (hlo.kind == TM_FACT_BYTES)
        take_tpu_op(maker, facts, &hlo, &config);
    if (maker->hlo)
        tm_hlo_join(maker->hlo, &config);
    config.hash = 0;
    config.hash = tm_config_hash(&config);
    take_message(maker, facts, &config, &config.hash); /* the same message may have several rows */
    return tm_configs_put(maker->configs, hash, &config);
}

uint32_t tm_facts_config(const struct tm_fact_maker *maker, const struct tm_facts *facts, uint32_t op_config)
{
    uint32_t row = op_config;
    uint64_t hash;

    if (!is_made_of(maker, facts))
        return op_config;
    hash = hash_of_facts(maker, facts, op_config);
    return configs_have(maker->configs, hash, &row) ? row : make_config(maker, facts, op_config, hash);
}

/* --- what a record gets --- */

/* "ProfilerStep#12" */
static bool number_in_name(const char *name, size_t length, int64_t *number)
{
    const char *const hash = length ? memrchr(name, '#', length) : NULL, *const end = name + length;
    int64_t value = 0;

    if (!hash || hash + 1 == end || end - hash > 18)
        return false;
    for (const char *c = hash + 1; c < end; c++) {
        if (*c < '0' || *c > '9')
            return false;
        value = value * 10 + (*c - '0');
    }
    *number = value;
    return true;
}

static bool needs_config(uint8_t class)
{
    return class == TM_CLASS_UNRESOLVED || class == TM_CLASS_KERNEL || class == TM_CLASS_COPY ||
           class == TM_CLASS_MEMSET;
}

void tm_facts_take(const struct tm_fact_maker *maker, const struct tm_facts *facts, struct tm_raw_record *raw,
                   union tm_args *args, struct tm_fact_numbers *from)
{
    struct tm_record *const r = &raw->record;
    int64_t number;

    *from = (struct tm_fact_numbers){ TM_STAT_UNKNOWN, TM_STAT_UNKNOWN };
    r->flags = tm_facts_flags(facts, (enum tm_class)r->class);
    if (r->class == TM_CLASS_ALLOC || r->class == TM_CLASS_FREE || raw->traits & (TM_TRAIT_ALLOC | TM_TRAIT_FREE)) {
        tm_facts_allocation(maker, facts, tm_raw_allocation(raw, args));
        return;
    }
    if (r->flags & TM_FLAG_CORRELATION)
        from->correlation = TM_STAT_CORRELATION_ID;
    else if (r->flags & TM_FLAG_RUN_ID)
        from->correlation = TM_STAT_RUN_ID; /* mixed with the device later */
    if (from->correlation)
        r->correlation = (uint64_t)facts->ints[from->correlation];
    if (tm_facts_have(facts, TM_STAT_STEP_NUM))
        from->number = TM_STAT_STEP_NUM;
    else if (raw->traits & TM_TRAIT_STEP_NAME && number_in_name(maker->name, maker->name_length, &number))
        tm_raw_number(raw, args, number);
    else if (r->flags & TM_FLAG_GROUP)
        from->number = TM_STAT_GROUP_ID;
    else if (tm_facts_have(facts, TM_STAT_SIZE))
        from->number = TM_STAT_SIZE;
    else if (r->class == TM_CLASS_KERNEL && tm_facts_have(facts, TM_STAT_SEQUENCE) &&
             tm_facts_have(facts, TM_STAT_COLLECTIVE))
        from->number = TM_STAT_SEQUENCE;
    if (from->number)
        tm_raw_number(raw, args, facts->ints[from->number]);
    if (needs_config(r->class))
        r->config = tm_facts_config(maker, facts, 0);
}

/* A program's execution on a TPU has the ordinal of its device, everything else says it or means the first one. */
static int64_t ordinal_of_run(struct tm_trace *trace, const struct tm_track *track, const struct tm_record *record)
{
    const struct tm_config *config;

    if (track->line == TM_LINE_TPU_MODULES && track->device != TM_NONE)
        return trace->devices[track->device].ordinal;
    config = record->config ? tm_rows_at(trace->configs, record->config) : NULL;
    return config && config->ordinal != TM_NONE ? config->ordinal : 0;
}

void tm_finish_run(void *to, const struct tm_track *track, struct tm_raw_record *raw)
{
    struct tm_record *const r = &raw->record;
    const bool is_host_op = track->side == TM_SIDE_HOST && r->flags & TM_FLAG_HLO_OP;

    if ((r->flags & (TM_FLAG_RUN_ID | TM_FLAG_CORRELATION)) != TM_FLAG_RUN_ID)
        return;
    if (track->line == TM_LINE_TPU_MODULES || tm_is_enqueue(raw->traits) || is_host_op)
        r->correlation = tm_run_key((int64_t)r->correlation, ordinal_of_run(to, track, r));
    else
        r->correlation = 0;
}
