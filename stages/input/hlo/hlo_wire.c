/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a program, one by one through a window that only moves forward: those of a damaged message end at the
 * damage, and an instruction that is larger than the window is read without its large fields. */
#include "stages/input/hlo/hlo_private.h"

#include <string.h>

enum { SMALL_FIELD = 32 << 10 /* of an instruction that is larger than the window */ };

bool tm_hlo_next_field(struct tm_reader *w, uint64_t end, struct tm_head *head, bool *damaged)
{
    if (tm_reader_offset(w) >= end)
        return false;
    if (tm_reader_head(w, head, damaged) && !*damaged && tm_reader_offset(w) <= end &&
        (head->type != TM_WIRE_LEN || head->value <= end - tm_reader_offset(w)))
        return true;
    *damaged = true;
    return false;
}

void tm_hlo_leave(struct tm_reader *w, uint64_t end)
{
    if (tm_reader_offset(w) < end)
        tm_reader_skip(w, end - tm_reader_offset(w));
    else
        tm_reader_return(w, end);
}

static bool put_bytes(struct tm_hlo_text *to, const void *bytes, size_t length)
{
    if (length > to->room - to->length)
        return false;
    memcpy(to->at + to->length, bytes, length);
    to->length += length;
    return true;
}

static bool put_varint(struct tm_hlo_text *to, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;

    do {
        bytes[n++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
    return put_bytes(to, bytes, n);
}

/* Copy the next field of a large instruction; false if there is no room. */
static bool copy_field(struct tm_reader *w, const struct tm_head *head, struct tm_hlo_text *to)
{
    const size_t before = to->length;
    bool fits = head->type == TM_WIRE_VARINT || (head->type == TM_WIRE_LEN && head->value <= SMALL_FIELD);

    fits = fits && put_varint(to, TM_WIRE_KEY(head->number, head->type)) && put_varint(to, head->value);
    if (fits && head->type == TM_WIRE_LEN) {
        const struct tm_wire view = tm_reader_peek(w, (size_t)head->value);

        fits = put_bytes(to, view.at, (size_t)(view.end - view.at));
    }
    if (!fits)
        to->length = before;
    return fits;
}

struct tm_wire tm_hlo_compact(struct tm_reader *w, uint64_t end, uint8_t *room, struct tm_hlo_compacted *facts)
{
    struct tm_hlo_text to = { .at = (char *)room, .room = HLO_BUFFER };
    struct tm_head head;
    bool damaged = false;

    *facts = (struct tm_hlo_compacted){ .shape_at = 0 };
    while (tm_hlo_next_field(w, end, &head, &damaged)) {
        if (head.number == IN_SHAPE)
            facts->shape_at = tm_reader_offset(w);
        if (!copy_field(w, &head, &to) && head.number != IN_LITERAL && head.number != IN_CONFIG)
            facts->is_cut = true;
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(w, head.value);
    }
    facts->is_damaged = damaged;
    facts->damaged_at = damaged ? head.offset : 0;
    return (struct tm_wire){ room, room + to.length };
}
