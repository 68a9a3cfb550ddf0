/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/diagnose/longest.h"

#include <string.h>

/* --- one --- */

static bool is_longer(const struct tm_longest *a, const struct tm_longest *b)
{
    if (a->dur_ps != b->dur_ps)
        return a->dur_ps > b->dur_ps;
    if (a->host != b->host)
        return a->host < b->host;
    return a->begin_ps < b->begin_ps;
}

void tm_longest_merge(struct tm_longest *into, const struct tm_longest *from)
{
    if (is_longer(from, into))
        *into = *from;
}

void tm_longest_save(struct tm_partial_writer *w, const struct tm_longest *longest)
{
    tm_partial_put_i64(w, longest->dur_ps);
    tm_partial_put_i64(w, longest->begin_ps);
    tm_partial_put_u32(w, longest->host);
}

void tm_longest_load(struct tm_partial_reader *r, struct tm_longest *longest)
{
    longest->dur_ps = tm_partial_time(r);
    longest->begin_ps = tm_partial_i64(r);
    longest->host = tm_partial_run_host(r);
}

/* --- several --- */

static int order(const struct tm_stretch *a, const struct tm_stretch *b)
{
    if (a->dur_ps != b->dur_ps)
        return a->dur_ps > b->dur_ps ? -1 : 1;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->begin_ps != b->begin_ps)
        return a->begin_ps < b->begin_ps ? -1 : 1;
    return strcmp(a->device, b->device);
}

void tm_stretches_add(struct tm_stretch *list, uint32_t *count, uint32_t most, const struct tm_stretch *stretch)
{
    uint32_t at = *count;

    while (at && order(stretch, &list[at - 1]) < 0)
        at--;
    if (at == most)
        return;
    if (*count < most)
        ++*count;
    memmove(&list[at + 1], &list[at], (*count - 1 - at) * sizeof(*list));
    list[at] = *stretch;
}

void tm_stretch_save(struct tm_partial_writer *w, const struct tm_stretch *stretch)
{
    tm_partial_put_device(w, stretch->host, stretch->device);
    tm_partial_put_i64(w, stretch->begin_ps);
    tm_partial_put_i64(w, stretch->dur_ps);
}

void tm_stretch_load(struct tm_partial_reader *r, struct tm_stretch *stretch)
{
    stretch->host = tm_partial_device(r, stretch->device, sizeof(stretch->device));
    stretch->begin_ps = tm_partial_i64(r);
    stretch->dur_ps = tm_partial_time(r);
}
