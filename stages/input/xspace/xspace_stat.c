/* SPDX-License-Identifier: Apache-2.0 */
/* A statistic too large to be at hand as a whole: its heads are read through a small window, its value is not. */
#include "stages/input/xspace/xspace_stat.h"

enum { WINDOW_BYTES = 64 };

tm_status tm_xstat_find(const struct tm_input *input, uint64_t begin, uint64_t end, struct tm_xstat_place *place)
{
    uint8_t window[WINDOW_BYTES];
    struct tm_reader w;

    *place = (struct tm_xstat_place){ .value = { .type = TM_WIRE_END } };
    tm_reader_init(&w, input, window, sizeof(window), begin, end);
    for (;;) {
        struct tm_head head;
        bool more, damaged;
        const tm_status st = tm_reader_head(&w, &head, &more, &damaged);

        if (st != TM_OK || !more)
            return st;
        if (head.number == TM_XSTAT_ID && head.type == TM_WIRE_VARINT && !damaged) {
            place->id = (int64_t)head.value;
        } else if (head.number <= TM_XSTAT_REF && (head.type == TM_WIRE_LEN || !damaged)) {
            place->value = head;
            place->value_at = tm_reader_offset(&w);
            if (damaged)
                place->value.value = end - place->value_at;
        }
        if (damaged)
            return TM_OK;
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&w, head.value);
    }
}
