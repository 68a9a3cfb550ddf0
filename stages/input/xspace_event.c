/* SPDX-License-Identifier: Apache-2.0 */
/* One event of an XSpace on the wire: number fields and the statistics that we know.  The hottest loop of the
 * input: no allocation, no text is looked at but by reference.
 * source: XEvent {metadata_id 1, offset_ps 2, duration_ps 3, stats 4, num_occurrences 5},
 *         XStat {metadata_id 1, double 2, uint64 3, int64 4, str 5, bytes 6, ref 7} */
#include <xxhash.h>

#include "stages/input/xspace_event.h"
#include "stages/resolve/classes.h"

enum { EVENT_METADATA_ID = 1, EVENT_OFFSET = 2, EVENT_DURATION = 3, EVENT_STATS = 4, EVENT_OCCURRENCES = 5 };
enum { STAT_ID = 1, STAT_DOUBLE = 2, STAT_UINT = 3, STAT_INT = 4, STAT_STR = 5, STAT_BYTES = 6, STAT_REF = 7 };
static_assert(TM_STAT_COUNT <= 64, "statistics are bits of a 64-bit set");

static tm_status stat_known(struct tm_xspace *x, const struct tm_plane *plane, uint64_t plane_number, int64_t id,
                            enum tm_stat *stat)
{
    if (id >= 0 && id < TM_SMALL_STATS) {
        *stat = (enum tm_stat)plane->small_stats[id];
        return TM_OK;
    }
    return tm_xspace_stat(x, plane_number, id, stat);
}

static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The flag of a record that a statistic sets. */
static const uint16_t stat_flags[TM_STAT_COUNT] = {
    [TM_STAT_KERNEL_DETAILS] = TM_FLAG_KERNEL_DETAILS, [TM_STAT_MEMCPY_DETAILS] = TM_FLAG_COPY_DETAILS,
    [TM_STAT_MEMSET_DETAILS] = TM_FLAG_MEMSET_DETAILS, [TM_STAT_HLO_OP] = TM_FLAG_HLO_OP,
    [TM_STAT_CORRELATION_ID] = TM_FLAG_CORRELATION,    [TM_STAT_ROOT] = TM_FLAG_STEP,
    [TM_STAT_STEP_NUM] = TM_FLAG_STEP,                 [TM_STAT_GRAPH_EXEC] = TM_FLAG_GRAPH_EXEC,
    [TM_STAT_GRAPH_NODE] = TM_FLAG_GRAPH_NODE,         [TM_STAT_RUN_ID] = TM_FLAG_RUN_ID,
    [TM_STAT_GROUP_ID] = TM_FLAG_GROUP,
};

/* What a config is made from. */
#define BIT(stat) ((uint64_t)1 << (stat))
static const uint64_t config_stats =
    BIT(TM_STAT_KERNEL_DETAILS) | BIT(TM_STAT_MEMCPY_DETAILS) | BIT(TM_STAT_MEMSET_DETAILS) | BIT(TM_STAT_HLO_OP) |
    BIT(TM_STAT_HLO_MODULE) | BIT(TM_STAT_PROGRAM_ID) | BIT(TM_STAT_NAME) | BIT(TM_STAT_TF_OP) |
    BIT(TM_STAT_OCCUPANCY) | BIT(TM_STAT_GRAPH_EXEC) | BIT(TM_STAT_DEVICE_ORDINAL) | BIT(TM_STAT_MODULE_NAME);
#undef BIT

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/* Put one statistic into the event. */
static void keep_stat(struct tm_xevent *event, enum tm_stat stat, const struct tm_field *value)
{
    struct tm_xtext *text = &event->texts[stat];
    uint64_t hashed = value->value;

    event->has |= (uint64_t)1 << stat;
    event->flags |= stat_flags[stat];
    event->ints[stat] = 0;
    event->doubles[stat] = 0;
    text->kind = TM_XTEXT_NONE;
    switch (value->key) { /* another wire type than the field's has no value */
    case TM_WIRE_KEY(STAT_DOUBLE, TM_WIRE_64):
        event->doubles[stat] = double_of(value->value);
        if (event->doubles[stat] > -9e18 && event->doubles[stat] < 9e18)
            event->ints[stat] = (int64_t)event->doubles[stat];
        break;
    case TM_WIRE_KEY(STAT_UINT, TM_WIRE_VARINT):
    case TM_WIRE_KEY(STAT_INT, TM_WIRE_VARINT):
        event->ints[stat] = (int64_t)value->value;
        event->doubles[stat] = (double)event->ints[stat];
        break;
    case TM_WIRE_KEY(STAT_REF, TM_WIRE_VARINT):
        text->kind = TM_XTEXT_REF;
        text->ref = value->value;
        break;
    case TM_WIRE_KEY(STAT_STR, TM_WIRE_LEN):
    case TM_WIRE_KEY(STAT_BYTES, TM_WIRE_LEN):
        text->kind = TM_XTEXT_BYTES;
        text->bytes = value->bytes;
        text->length = (size_t)value->value;
        hashed = XXH3_64bits(text->bytes, text->length);
        break;
    default:
        break;
    }
    if (config_stats >> stat & 1)
        event->config_hash = mix(event->config_hash, hashed ^ (uint64_t)stat << 56 ^ value->key << 48);
}

/* The fields of a statistic, whatever their order. */
static void read_stat_fields(struct tm_wire *w, int64_t *id, struct tm_field *value)
{
    struct tm_field field;

    while (tm_wire_next(w, &field)) {
        if (field.key == TM_WIRE_KEY(STAT_ID, TM_WIRE_VARINT))
            *id = (int64_t)field.value;
        else if (field.key < TM_WIRE_KEY(STAT_REF + 1, 0)) /* what comes later in the format is no value */
            *value = field;
    }
}

static tm_status read_stat(struct tm_xspace *x, const struct tm_plane *plane, uint64_t plane_number,
                           const struct tm_field *bytes, struct tm_xevent *event, bool *damaged)
{
    struct tm_wire w = { bytes->bytes, bytes->bytes + bytes->value };
    struct tm_field value = { .key = 0 };
    int64_t id = 0;
    enum tm_stat stat;
    tm_status st;

    /* Nearly all begin with a small id: those of no meaning to us are done with here. */
    if (bytes->value > 2 && w.at[0] == STAT_ID << 3 && w.at[1] < 0x80 && !plane->small_stats[w.at[1]])
        return TM_OK;
    read_stat_fields(&w, &id, &value);
    if (w.at != w.end)
        *damaged = true;
    st = stat_known(x, plane, plane_number, id, &stat);
    if (st == TM_OK && stat != TM_STAT_UNKNOWN)
        keep_stat(event, stat, &value);
    return st;
}

tm_status tm_xevent_read(struct tm_xspace *x, const struct tm_plane *plane, uint64_t plane_number,
                         struct tm_wire bytes, struct tm_xevent *event, bool *damaged)
{
    struct tm_field field;
    tm_status st = TM_OK;

    event->metadata_id = event->offset_ps = event->duration_ps = 0;
    event->is_aggregated = false;
    event->unknown_fields = 0;
    event->has = 0;
    event->flags = 0;
    event->config_hash = mix(0x74726163656d696cu, plane_number);
    *damaged = false;
    while (st == TM_OK && tm_wire_next(&bytes, &field)) {
        switch (field.key) {
        case TM_WIRE_KEY(EVENT_STATS, TM_WIRE_LEN):
            st = read_stat(x, plane, plane_number, &field, event, damaged);
            break;
        case TM_WIRE_KEY(EVENT_METADATA_ID, TM_WIRE_VARINT):
            event->metadata_id = (int64_t)field.value;
            break;
        case TM_WIRE_KEY(EVENT_OFFSET, TM_WIRE_VARINT):
            event->offset_ps = (int64_t)field.value;
            event->is_aggregated = false;
            break;
        case TM_WIRE_KEY(EVENT_DURATION, TM_WIRE_VARINT):
            event->duration_ps = (int64_t)field.value;
            break;
        case TM_WIRE_KEY(EVENT_OCCURRENCES, TM_WIRE_VARINT):
            event->is_aggregated = true;
            break;
        default:
            event->unknown_fields++;
        }
    }
    if (bytes.at != bytes.end)
        *damaged = true;
    return st;
}

tm_status tm_xevent_text(struct tm_xspace *x, uint64_t plane_number, const struct tm_xtext *text, tm_strid *name)
{
    *name = 0;
    if (text->kind == TM_XTEXT_REF)
        return tm_xspace_ref(x, plane_number, (int64_t)text->ref, name);
    if (text->kind == TM_XTEXT_BYTES)
        return tm_names_put(x->source.trace->names, (const char *)text->bytes, text->length, name);
    return TM_OK;
}

typedef void parse_details(const char *text, size_t length, struct tm_config *config);

/* Parse a details text into the config. */
static tm_status take_details(struct tm_xspace *x, uint64_t plane_number, const struct tm_xevent *event,
                              enum tm_stat stat, parse_details *parse, struct tm_config *config)
{
    const char *text;
    size_t length;
    tm_strid name;
    tm_status st;

    if (!tm_xevent_has(event, stat))
        return TM_OK;
    st = tm_xevent_text(x, plane_number, &event->texts[stat], &name);
    if (st == TM_OK)
        st = tm_names_text(x->source.trace->names, name, 4096, &text, &length);
    if (st == TM_OK)
        parse(text, length, config);
    return st;
}

/* The framework path of an op: `name`, else tf_op without its type.  "XlaModule:" is no path. */
static tm_status take_op(struct tm_xspace *x, uint64_t plane_number, const struct tm_xevent *event,
                         struct tm_config *config)
{
    struct tm_names *names = x->source.trace->names;
    const char *text;
    size_t length;
    tm_status st;

    if (tm_xevent_has(event, TM_STAT_NAME))
        return tm_xevent_text(x, plane_number, &event->texts[TM_STAT_NAME], &config->op);
    if (!tm_xevent_has(event, TM_STAT_TF_OP))
        return TM_OK;
    st = tm_xevent_text(x, plane_number, &event->texts[TM_STAT_TF_OP], &config->op);
    if (st == TM_OK)
        st = tm_names_text(names, config->op, 4096, &text, &length);
    if (st != TM_OK || !length || text[length - 1] != ':')
        return st;
    if (length == 10 && !memcmp(text, "XlaModule:", 10)) {
        config->op = 0;
        return TM_OK;
    }
    return tm_names_put(names, text, length - 1, &config->op);
}

static tm_status fill_config(struct tm_xspace *x, uint64_t plane_number, const struct tm_xevent *event,
                             struct tm_config *config)
{
    struct tm_name info;
    tm_status st = take_details(x, plane_number, event, TM_STAT_KERNEL_DETAILS, tm_parse_kernel_details, config);

    if (st == TM_OK)
        st = take_details(x, plane_number, event, TM_STAT_MEMCPY_DETAILS, tm_parse_copy_details, config);
    if (st == TM_OK)
        st = take_details(x, plane_number, event, TM_STAT_MEMSET_DETAILS, tm_parse_memset_details, config);
    if (st == TM_OK)
        st = take_op(x, plane_number, event, config);
    if (st == TM_OK && tm_xevent_has(event, TM_STAT_HLO_OP))
        st = tm_xevent_text(x, plane_number, &event->texts[TM_STAT_HLO_OP], &config->hlo_op);
    if (st == TM_OK && tm_xevent_has(event, TM_STAT_HLO_MODULE))
        st = tm_xevent_text(x, plane_number, &event->texts[TM_STAT_HLO_MODULE], &config->module);
    if (st == TM_OK && tm_xevent_has(event, TM_STAT_MODULE_NAME))
        st = tm_xevent_text(x, plane_number, &event->texts[TM_STAT_MODULE_NAME], &config->module);
    if (st == TM_OK && config->hlo_op) {
        st = tm_names_info(x->source.trace->names, config->hlo_op, &info);
        config->hlo_traits = st == TM_OK ? info.traits : 0;
    }
    return st;
}

tm_status tm_xevent_config(struct tm_xspace *x, uint64_t plane_number, const struct tm_xevent *event,
                           uint32_t op_config, uint32_t *row)
{
    struct tm_config config = { .level = TM_LEVEL_NONE, .ordinal = TM_NONE };
    const uint64_t hash = mix(event->config_hash, op_config);
    tm_status st;

    *row = op_config;
    if (!(event->has & config_stats))
        return TM_OK;
    if (tm_config_cached(x, hash, row))
        return TM_OK;
    if (op_config) {
        const struct tm_config *base = tm_rows_at(x->source.trace->configs, op_config);

        if (!base)
            return x->source.trace->run->error.status;
        config = *base;
    }
    st = fill_config(x, plane_number, event, &config);
    if (st != TM_OK)
        return st;
    if (tm_xevent_has(event, TM_STAT_PROGRAM_ID))
        config.program_id = event->ints[TM_STAT_PROGRAM_ID];
    if (!config.occupancy_milli && tm_xevent_has(event, TM_STAT_OCCUPANCY) && event->doubles[TM_STAT_OCCUPANCY] > 0 &&
        event->doubles[TM_STAT_OCCUPANCY] <= 100)
        config.occupancy_milli = (uint32_t)(event->doubles[TM_STAT_OCCUPANCY] * 1000 + 0.5);
    if (tm_xevent_has(event, TM_STAT_GRAPH_EXEC))
        config.graph_exec = (uint32_t)event->ints[TM_STAT_GRAPH_EXEC];
    if (tm_xevent_has(event, TM_STAT_DEVICE_ORDINAL) && event->ints[TM_STAT_DEVICE_ORDINAL] >= 0 &&
        event->ints[TM_STAT_DEVICE_ORDINAL] < TM_NONE)
        config.ordinal = (uint32_t)event->ints[TM_STAT_DEVICE_ORDINAL];
    config.hash = 0;
    config.hash = tm_config_hash(&config);
    return tm_config_intern(x, hash, &config, row);
}
