/* SPDX-License-Identifier: Apache-2.0 */
/* What is not common in the wire format: long numbers and keys, numbers of fixed size, damage, and groups, which no
 * message that we read has: those are stepped over as one field, however deep they nest. */
#include "stages/input/xspace/wire.h"

bool tm_wire_any_varint(struct tm_wire *w, uint64_t *value)
{
    uint64_t got = 0;
    const uint8_t *at = w->at;

    for (unsigned shift = 0; shift < 70 && at < w->end; shift += 7) {
        const uint8_t byte = *at++;

        if (shift < 64)
            got |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = got;
            w->at = at;
            return true;
        }
    }
    return false;
}

/* Step over what is left of a group after its first key, up to its end.
 * errors: false where it does not end, or not as the group of this number */
static bool skip_group(struct tm_wire *w, uint32_t number)
{
    uint64_t depth = 1, key, value;

    while (tm_wire_varint(w, &key) && key <= TM_WIRE_KEY_MOST && key >> 3) {
        const size_t left = (size_t)(w->end - w->at);

        switch (key & 7) {
        case TM_WIRE_VARINT:
            if (!tm_wire_varint(w, &value))
                return false;
            break;
        case TM_WIRE_LEN:
            if (!tm_wire_varint(w, &value) || value > (uint64_t)(w->end - w->at))
                return false;
            w->at += value;
            break;
        case TM_WIRE_64:
        case TM_WIRE_32:
            if (left < ((key & 7) == TM_WIRE_64 ? 8 : 4))
                return false;
            w->at += (key & 7) == TM_WIRE_64 ? 8 : 4;
            break;
        case TM_WIRE_GROUP:
            depth++;
            break;
        case TM_WIRE_END:
            if (!--depth)
                return key >> 3 == number;
            break;
        default:
            return false;
        }
    }
    return false;
}

static bool take_value(struct tm_wire *w, struct tm_field *field)
{
    const size_t left = (size_t)(w->end - w->at), size = (field->key & 7) == TM_WIRE_64 ? 8 : 4;

    field->bytes = w->at;
    field->value = 0;
    switch (field->key & 7) {
    case TM_WIRE_VARINT:
        return tm_wire_varint(w, &field->value);
    case TM_WIRE_LEN:
        if (!tm_wire_varint(w, &field->value) || field->value > (uint64_t)(w->end - w->at))
            return false;
        field->bytes = w->at;
        w->at += field->value;
        return true;
    case TM_WIRE_64:
    case TM_WIRE_32:
        if (left < size)
            return false;
        memcpy(&field->value, w->at, size);
        w->at += size;
        return true;
    case TM_WIRE_GROUP:
        return skip_group(w, (uint32_t)(field->key >> TM_WIRE_TYPE_BITS));
    default:
        return false;
    }
}

bool tm_wire_any(struct tm_wire *w, struct tm_field *field)
{
    const uint8_t *const first = w->at;

    if (w->at == w->end)
        return false;
    if (tm_wire_varint(w, &field->key) && field->key <= TM_WIRE_KEY_MOST && field->key >= TM_WIRE_KEY(1, 0) && take_value(w, field))
        return true;
    w->at = first;
    return false;
}
