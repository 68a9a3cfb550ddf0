/* SPDX-License-Identifier: Apache-2.0 */
/* One event of an XSpace on the wire: number fields and the statistics that we know.  The hottest loop of the
 * input: no allocation, no text is looked at but by reference. */
#include "stages/input/xspace/xspace_event.h"

#include "stages/input/xspace/xspace_stat.h"

static tm_status stat_known(struct tm_xspace *x, const struct tm_plane *plane, uint64_t plane_number, int64_t id,
                            enum tm_stat *stat)
{
    if (id >= 0 && id < TM_SMALL_STATS) {
        *stat = (enum tm_stat)plane->small_stats[id];
        return TM_OK;
    }
    return tm_xspace_stat(x, plane_number, id, stat);
}

/* Put one statistic into the facts. */
static void keep_stat(struct tm_facts *facts, enum tm_stat stat, const struct tm_field *value)
{
    switch (value->key) {
    case TM_WIRE_KEY(TM_XSTAT_DOUBLE, TM_WIRE_64):
        tm_facts_put_double(facts, stat, tm_wire_double(value->value));
        break;
    case TM_WIRE_KEY(TM_XSTAT_UINT, TM_WIRE_VARINT):
    case TM_WIRE_KEY(TM_XSTAT_INT, TM_WIRE_VARINT):
        tm_facts_put_int(facts, stat, (int64_t)value->value);
        break;
    case TM_WIRE_KEY(TM_XSTAT_REF, TM_WIRE_VARINT):
        tm_facts_put_ref(facts, stat, value->value);
        break;
    case TM_WIRE_KEY(TM_XSTAT_STR, TM_WIRE_LEN):
    case TM_WIRE_KEY(TM_XSTAT_BYTES, TM_WIRE_LEN):
        tm_facts_put_text(facts, stat, (const char *)value->bytes, (size_t)value->value);
        break;
    default: /* another wire type than the field's has no value */
        tm_facts_put_int(facts, stat, 0);
        break;
    }
}

/* Read a statistic as writers write it: id, then the value, nothing else.
 * in:     bytes  the event from the statistic's first byte on; end  of the statistic
 * out:    false  it is another one, or damaged */
static inline bool read_plain_stat(struct tm_wire bytes, const uint8_t *end, struct tm_xstat *stat)
{
    uint64_t id;

    if (end - bytes.at < 3 || *bytes.at++ != TM_WIRE_KEY(TM_XSTAT_ID, TM_WIRE_VARINT) || !tm_wire_varint(&bytes, &id) ||
        bytes.at >= end)
        return false;
    stat->id = (int64_t)id;
    stat->value.key = *bytes.at++;
    stat->value.bytes = bytes.at;
    switch (stat->value.key) {
    case TM_WIRE_KEY(TM_XSTAT_UINT, TM_WIRE_VARINT):
    case TM_WIRE_KEY(TM_XSTAT_INT, TM_WIRE_VARINT):
    case TM_WIRE_KEY(TM_XSTAT_REF, TM_WIRE_VARINT):
        return tm_wire_varint(&bytes, &stat->value.value) && bytes.at == end;
    case TM_WIRE_KEY(TM_XSTAT_DOUBLE, TM_WIRE_64):
        if (end - bytes.at != 8)
            return false;
        stat->value.value = tm_wire_fixed64(bytes.at);
        return true;
    case TM_WIRE_KEY(TM_XSTAT_STR, TM_WIRE_LEN):
    case TM_WIRE_KEY(TM_XSTAT_BYTES, TM_WIRE_LEN):
        if (!tm_wire_varint(&bytes, &stat->value.value) || bytes.at > end)
            return false;
        stat->value.bytes = bytes.at;
        return stat->value.value == (uint64_t)(end - bytes.at);
    default:
        return false;
    }
}

/* Whether a field of a statistic has the wire type that the format gives it; later fields may have any.  What is none of
 * these may be an event: both are field 4 of what is around them, so that a length which is wrong makes an event's
 * neighbours statistics of it. */
static inline bool has_type_of_field(uint64_t key)
{
    const uint64_t known = UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_ID, TM_WIRE_VARINT) |
                           UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_DOUBLE, TM_WIRE_64) |
                           UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_UINT, TM_WIRE_VARINT) |
                           UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_INT, TM_WIRE_VARINT) |
                           UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_STR, TM_WIRE_LEN) |
                           UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_BYTES, TM_WIRE_LEN) |
                           UINT64_C(1) << TM_WIRE_KEY(TM_XSTAT_REF, TM_WIRE_VARINT);

    return key >= TM_WIRE_KEY(TM_XSTAT_REF + 1, 0) || (known >> key & 1);
}

static bool has_types_of_fields(struct tm_wire bytes)
{
    struct tm_field field;

    while (tm_wire_next(&bytes, &field)) {
        if (!has_type_of_field(field.key))
            return false;
    }
    return true;
}

/* in: field  the statistic; end  of the event */
static tm_status read_stat(struct tm_xspace *x, const struct tm_plane *plane, uint64_t plane_number,
                           const struct tm_field *field, const uint8_t *end, struct tm_xevent *event, bool *damaged)
{
    struct tm_wire w = { field->bytes, field->bytes + field->value };
    struct tm_xstat read = { .id = 0 };
    enum tm_stat stat;
    tm_status st;

    if (!read_plain_stat((struct tm_wire){ w.at, end }, w.end, &read)) {
        read = (struct tm_xstat){ .id = 0 };
        *damaged |= !has_types_of_fields(w);
        tm_xstat_read(&w, &read);
        *damaged |= w.at != w.end;
    }
    st = stat_known(x, plane, plane_number, read.id, &stat);
    if (st == TM_OK && stat != TM_STAT_UNKNOWN)
        keep_stat(&event->facts, stat, &read.value);
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
    tm_facts_begin(&event->facts, plane_number);
    *damaged = false;
    while (st == TM_OK && tm_wire_next(&bytes, &field)) {
        switch (field.key) {
        case TM_WIRE_KEY(TM_XEVENT_STATS, TM_WIRE_LEN):
            st = read_stat(x, plane, plane_number, &field, bytes.end, event, damaged);
            break;
        case TM_WIRE_KEY(TM_XEVENT_METADATA_ID, TM_WIRE_VARINT):
            event->metadata_id = (int64_t)field.value;
            break;
        case TM_WIRE_KEY(TM_XEVENT_OFFSET, TM_WIRE_VARINT):
            event->offset_ps = (int64_t)field.value;
            event->is_aggregated = false;
            break;
        case TM_WIRE_KEY(TM_XEVENT_DURATION, TM_WIRE_VARINT):
            event->duration_ps = (int64_t)field.value;
            break;
        case TM_WIRE_KEY(TM_XEVENT_OCCURRENCES, TM_WIRE_VARINT):
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
