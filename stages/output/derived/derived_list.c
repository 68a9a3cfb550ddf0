/* SPDX-License-Identifier: Apache-2.0 */
/* What all makers of computed rows share: the list that receives a row and its arguments, and the length of the
 * stretches of time that counters are cut into. */
#include "stages/output/derived/derived.h"

struct tm_arguments_builder *tm_derived_list(struct tm_derived *d)
{
    tm_arguments_begin(&d->list, d->names, d->buffer, sizeof(d->buffer));
    return &d->list;
}

void tm_derived_push(struct tm_derived *d, const struct derived_row *row)
{
    const struct tm_arguments list = tm_arguments_end(&d->list);
    struct derived_row full = *row;

    full.arguments_at = tm_rows_count(d->bytes);
    full.arguments_length = (uint32_t)list.length;
    tm_rows_append_many(d->bytes, list.bytes, list.length);
    tm_sorter_push(d->sorter, &full);
}

int64_t tm_derived_stretch_length(int64_t window_ps, int64_t most)
{
    const int64_t least_ps = window_ps / most + (window_ps % most != 0);
    int64_t length_ps = 1000000; /* 1 us */

    for (int i = 0; length_ps < least_ps; i++)
        length_ps = i % 3 == 1 ? length_ps / 2 * 5 : length_ps * 2;
    return length_ps;
}
