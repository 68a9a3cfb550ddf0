/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of one event, put in one by one as the reader comes upon them.  No allocation, and no text is looked at but
 * to hash it; what is made of them is in facts_config.c and below. */
#include "stages/input/records/facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/doc/doc_json.h"
#include "pipeline/run.h"

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

enum { NUMBER_TEXT_MOST = 64 }; /* a longer text is no number */

/* The same for all readers of the process: a config is found again by whoever meets its facts. */
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
    for (size_t i = 0; i < length; i++) { /* what strtod takes beside: blanks, hexadecimal, "nan" */
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
    if (text->kind == TM_FACT_BYTES && !*number) /* what is no number counts as 0 */
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

tm_status tm_facts_text(const struct tm_fact_maker *maker, const struct tm_facts *facts, enum tm_stat stat,
                        tm_strid *name)
{
    const struct tm_fact_text *text = &facts->texts[stat];

    *name = 0;
    if (!tm_facts_have(facts, stat))
        return TM_OK;
    if (text->kind == TM_FACT_REF && maker->ref)
        return maker->ref(maker->to, maker->plane, text->ref, name);
    if (text->kind == TM_FACT_BYTES)
        return tm_names_put(maker->trace->names, (const char *)text->bytes, text->length, name);
    return TM_OK;
}

/* --- allocations --- */

/* source: c10/core/DeviceType.h; HIP shows as its own type, or as CUDA, which it stands in for */
static const char *device_word(int64_t type)
{
    static const char *const words[] = {
        "cpu", "gpu", [6] = "gpu", [9] = "xla", [12] = "xpu", [13] = "mps", [15] = "hpu", [19] = "mtia"
    };

    return type >= 0 && type < (int64_t)(sizeof(words) / sizeof(words[0])) && words[type] ? words[type] : "device";
}

/* PyTorch's allocator of a device, and what it holds.  The sizes of its blocks are signed. */
static tm_status fill_block(const struct tm_fact_maker *maker, const struct tm_facts *facts, struct tm_allocation *a)
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
        a->bytes_available >= 0) /* a processor's memory is not reserved before it is given out: 0 */
        a->has |= TM_HAS_AVAILABLE;
    if (!tm_facts_have(facts, TM_STAT_DEVICE_TYPE))
        return TM_OK;
    device = device_word(ints[TM_STAT_DEVICE_TYPE]);
    length = strlen(device);
    memcpy(name, device, length);
    if (id >= 0) {
        name[length++] = ':';
        length += tm_int_text(name + length, id);
    }
    return tm_names_put(maker->trace->names, name, length, &a->allocator);
}

/* What JAX's allocators tell of themselves. */
static tm_status fill_allocator(const struct tm_fact_maker *maker, const struct tm_facts *facts,
                                struct tm_allocation *a)
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
    tm_status st = TM_OK;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && st == TM_OK; i++) {
        tm_strid name;

        st = tm_facts_text(maker, facts, texts[i].stat, &name);
        memcpy((char *)a + texts[i].offset, &name, sizeof(name));
    }
    if (tm_facts_have(facts, TM_STAT_FRAGMENTATION)) {
        a->has |= TM_HAS_FRAGMENTATION;
        a->fragmentation = facts->doubles[TM_STAT_FRAGMENTATION];
    }
    return st;
}

tm_status tm_facts_allocation(const struct tm_fact_maker *maker, const struct tm_facts *facts,
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
        return fill_block(maker, facts, allocation);
    return fill_allocator(maker, facts, allocation);
}
