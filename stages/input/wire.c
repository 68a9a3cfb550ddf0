/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of the wire format, which no message that we read has: stepped over as one field, however deep they nest. */
#include "stages/input/wire.h"

bool tm_wire_skip_group(struct tm_wire *w, uint32_t number)
{
    uint64_t depth = 1, key, value;

    while (tm_wire_varint(w, &key) && !(key >> 35) && key >> 3) {
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
