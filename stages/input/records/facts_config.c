/* SPDX-License-Identifier: Apache-2.0 */
/* Launch facts out of the facts of an event: what a profiler of XLA writes as one text of details, PyTorch writes as
 * arguments of their own.  Runs once per distinct set of facts; the cache of configs answers for the others. */
#include <string.h>

#include "pipeline/run.h"
#include "stages/input/hlo/hlo.h"
#include "stages/input/records/facts.h"
#include "stages/resolve/classes.h"

enum {
    DETAILS_MOST = 4096,      /* bytes of a text that are looked at */
    HLO_TEXT_MOST = 64 << 10, /* and of an HLO line */
    CATEGORY_MOST = 63,
};

typedef void parse_details(const char *text, size_t length, struct tm_config *config);

/* Parse a details text into the config. */
static tm_status take_details(const struct tm_fact_maker *maker, const struct tm_facts *facts, enum tm_stat stat,
                              parse_details *parse, struct tm_config *config)
{
    const char *text;
    size_t length;
    tm_strid name;
    tm_status st;

    if (!tm_facts_have(facts, stat))
        return TM_OK;
    st = tm_facts_text(maker, facts, stat, &name);
    if (st == TM_OK)
        st = tm_names_text(maker->trace->names, name, DETAILS_MOST, &text, &length);
    if (st == TM_OK)
        parse(text, length, config);
    return st;
}

tm_status tm_path_of_tf_op(struct tm_names *names, tm_strid tf_op, tm_strid *path)
{
    const char *text;
    size_t length;
    const tm_status st = tm_names_text(names, tf_op, DETAILS_MOST, &text, &length);

    *path = tf_op;
    if (st != TM_OK || !length || text[length - 1] != ':')
        return st;
    *path = 0;
    return length == 10 && !memcmp(text, "XlaModule:", 10) ? TM_OK : tm_names_put(names, text, length - 1, path);
}

/* The framework path of an op: `name`, else tf_op. */
static tm_status take_op(const struct tm_fact_maker *maker, const struct tm_facts *facts, struct tm_config *config)
{
    tm_strid tf_op;
    tm_status st;

    if (tm_facts_have(facts, TM_STAT_NAME))
        return tm_facts_text(maker, facts, TM_STAT_NAME, &config->op);
    if (!tm_facts_have(facts, TM_STAT_TF_OP))
        return TM_OK;
    st = tm_facts_text(maker, facts, TM_STAT_TF_OP, &tf_op);
    return st == TM_OK ? tm_path_of_tf_op(maker->trace->names, tf_op, &config->op) : st;
}

static tm_status take_texts(const struct tm_fact_maker *maker, const struct tm_facts *facts, struct tm_config *config)
{
    struct tm_name info;
    tm_status st = take_details(maker, facts, TM_STAT_KERNEL_DETAILS, tm_parse_kernel_details, config);

    if (st == TM_OK)
        st = take_details(maker, facts, TM_STAT_MEMCPY_DETAILS, tm_parse_copy_details, config);
    if (st == TM_OK)
        st = take_details(maker, facts, TM_STAT_MEMSET_DETAILS, tm_parse_memset_details, config);
    if (st == TM_OK)
        st = take_op(maker, facts, config);
    if (st == TM_OK && tm_facts_have(facts, TM_STAT_HLO_OP))
        st = tm_facts_text(maker, facts, TM_STAT_HLO_OP, &config->hlo_op);
    if (st == TM_OK && tm_facts_have(facts, TM_STAT_HLO_MODULE))
        st = tm_facts_text(maker, facts, TM_STAT_HLO_MODULE, &config->module);
    if (st == TM_OK && tm_facts_have(facts, TM_STAT_MODULE_NAME))
        st = tm_facts_text(maker, facts, TM_STAT_MODULE_NAME, &config->module);
    if (st == TM_OK && tm_facts_have(facts, TM_STAT_SOURCE))
        st = tm_facts_text(maker, facts, TM_STAT_SOURCE, &config->source);
    if (st == TM_OK && config->hlo_op) {
        st = tm_names_info(maker->trace->names, config->hlo_op, &info);
        config->hlo_traits = st == TM_OK ? info.traits : 0;
    }
    return st;
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

/* --- what PyTorch says in arguments of their own --- */

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

/* The message of a collective, as a row of its own.
 * out: *hash  of what it says; unchanged without a message */
static tm_status take_message(const struct tm_fact_maker *maker, const struct tm_facts *facts, struct tm_config *config,
                              uint64_t *hash)
{
    struct tm_rows *messages = maker->trace->messages;
    struct tm_message message = {
        .elements_in = number(facts, TM_STAT_ELEMENTS_IN, INT64_MAX),
        .elements_out = number(facts, TM_STAT_ELEMENTS_OUT, INT64_MAX),
        .group_size = (uint32_t)number(facts, TM_STAT_GROUP_SIZE, UINT32_MAX),
    };
    tm_status st;

    if (!tm_facts_have(facts, TM_STAT_COLLECTIVE))
        return TM_OK;
    if (tm_facts_have(facts, TM_STAT_ELEMENT_TYPE))
        message.element_bytes = element_bytes(&facts->texts[TM_STAT_ELEMENT_TYPE]);
    st = tm_facts_text(maker, facts, TM_STAT_COLLECTIVE, &message.operation);
    if (st == TM_OK)
        st = tm_facts_text(maker, facts, TM_STAT_ELEMENT_TYPE, &message.data_type);
    if (st == TM_OK)
        st = tm_facts_text(maker, facts, TM_STAT_GROUP_NAME, &message.group);
    if (st == TM_OK)
        st = tm_facts_text(maker, facts, TM_STAT_GROUP_RANKS, &message.group_ranks);
    if (st != TM_OK)
        return st;
    static_assert(sizeof(message) == 40, "no holes: it is hashed as bytes");
    *hash = tm_fact_mix(*hash, XXH3_64bits(&message, sizeof(message)));
    if (tm_rows_count(messages) >= TM_NONE) /* no more than there are configs, which end before */
        return TM_OK;
    config->message = (uint32_t)tm_rows_count(messages);
    return tm_rows_append(messages, &message);
}

/* --- what JAX's JSON says of a TPU op, as its metadata would in an XSpace --- */

static bool is_hlo_text(const char *text, size_t length)
{
    return length > 4 && *text == '%' && memmem(text, length < 256 ? length : 256, " = ", 3);
}

/* out: the op's HLO text; no text where it is no op of a TPU */
static struct tm_fact_text hlo_text_of(const struct tm_fact_maker *maker, const struct tm_facts *facts)
{
    const struct tm_fact_text none = { .kind = TM_FACT_NO_TEXT };
    struct tm_fact_text text = { TM_FACT_BYTES, 0, (const uint8_t *)maker->name, maker->name_length };

    if (tm_facts_have(facts, TM_STAT_LONG_NAME))
        text = facts->texts[TM_STAT_LONG_NAME];
    return text.kind == TM_FACT_BYTES && is_hlo_text((const char *)text.bytes, text.length) ? text : none;
}

static tm_status take_tpu_op(const struct tm_fact_maker *maker, const struct tm_facts *facts,
                             const struct tm_fact_text *hlo, struct tm_config *config)
{
    struct tm_fact_text category = { .kind = TM_FACT_NO_TEXT };
    tm_status st;

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
    st = tm_facts_text(maker, facts, TM_STAT_HLO_CATEGORY, &config->category);
    return st == TM_OK ? tm_names_put(maker->trace->names, (const char *)hlo->bytes, hlo->length, &config->details)
                       : st;
}

/* --- all of it --- */

/* What a config is made from, as one number. */
static uint64_t hash_of_facts(const struct tm_fact_maker *maker, const struct tm_facts *facts, uint32_t op_config)
{
    uint64_t hash = tm_facts_mix(facts, facts->config_hash, TM_FACT_OF_OP, op_config);

    if (!maker->given && !maker->name_length)
        return hash;
    /* A name tells something only of a copy, and where it is an HLO text. */
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
static tm_status make_config(const struct tm_fact_maker *maker, const struct tm_facts *facts, uint32_t op_config,
                             uint64_t hash, uint32_t *row)
{
    struct tm_config config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };
    struct tm_fact_text hlo;
    tm_status st;

    if (op_config) {
        const struct tm_config *base = tm_rows_at(maker->trace->configs, op_config);

        if (!base)
            return maker->trace->run->error.status;
        config = *base;
    }
    st = take_texts(maker, facts, &config);
    if (st != TM_OK)
        return st;
    take_numbers(facts, &config);
    take_launch(maker, facts, &config);
    hlo = hlo_text_of(maker, facts);
    if (hlo.kind == TM_FACT_BYTES)
        st = take_tpu_op(maker, facts, &hlo, &config);
    if (st == TM_OK && maker->hlo)
        st = tm_hlo_join(maker->hlo, &config);
    config.hash = 0;
    config.hash = tm_config_hash(&config);
    /* the same message may have several rows */
    if (st == TM_OK)
        st = take_message(maker, facts, &config, &config.hash);
    return st == TM_OK ? tm_configs_put(maker->configs, hash, &config, row) : st;
}

tm_status tm_facts_config(const struct tm_fact_maker *maker, const struct tm_facts *facts, uint32_t op_config,
                          uint32_t *row)
{
    uint64_t hash;

    *row = op_config;
    if (!is_made_of(maker, facts))
        return TM_OK;
    hash = hash_of_facts(maker, facts, op_config);
    return tm_configs_have(maker->configs, hash, row) ? TM_OK : make_config(maker, facts, op_config, hash, row);
}
