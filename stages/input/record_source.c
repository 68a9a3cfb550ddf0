/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/record_source.h"

enum { OPEN_MOST = 64 }; /* spans open at once on one track that overlaps are looked for in */

struct record_source {
    struct tm_source source; /* first: a tm_source is cast to it */
    struct tm_record_store *store;
    tm_finish_record *finish;
    void *to;
};

struct record_cursor {
    struct tm_cursor base; /* first: a tm_cursor is cast to it */
    struct record_source *s;
    struct tm_record_place place;
    struct tm_track track;
    struct tm_record before;
    bool has_before;
    uint32_t open;             /* how many of: */
    int64_t end_ps[OPEN_MOST]; /* of the spans that the place lies in, outer ones first */
};

static void count(struct record_cursor *c, enum tm_tally tally)
{
    tm_tally_add(&c->s->source.trace->run->tallies, tally, 1);
}

/* Asynchronous spans, flows and counters lie beside each other by their nature. */
static bool nests(const struct tm_record *r)
{
    return r->class != TM_CLASS_ASYNC && r->class != TM_CLASS_FLOW && r->class != TM_CLASS_COUNTER;
}

static void look_at_order(struct record_cursor *c, const struct tm_record *r)
{
    const int64_t end_ps = r->start_ps + r->dur_ps;

    if (!nests(r))
        return;
    if (c->has_before && r->start_ps == c->before.start_ps && r->dur_ps == c->before.dur_ps &&
        r->name == c->before.name)
        count(c, TM_TALLY_REPEATED_EVENT);
    c->before = *r;
    c->has_before = true;
    if (r->kind != TM_SPAN)
        return;
    while (c->open && c->end_ps[c->open - 1] <= r->start_ps)
        c->open--;
    if (c->open && end_ps > c->end_ps[c->open - 1])
        count(c, TM_TALLY_OVERLAPPING_SPAN);
    if (c->open < OPEN_MOST)
        c->end_ps[c->open++] = end_ps;
}

static void close_cursor(struct tm_cursor *cursor)
{
    struct record_cursor *c = (struct record_cursor *)cursor;

    if (!c)
        return;
    tm_record_store_end(&c->place);
    tm_give(&c->s->source.trace->run->budget, TM_ACCOUNT_INPUT, c, sizeof(*c));
}

/* The buffer is a block of the store, whatever its size is asked to be. */
static struct tm_cursor *open_cursor(struct tm_source *source, uint64_t track, size_t buffer_bytes)
{
    struct tm_run *run = source->trace->run;
    struct record_cursor *c = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*c), &run->error);
    const struct tm_track *row = c ? tm_rows_at(source->trace->tracks, track) : NULL;

    (void)buffer_bytes;
    if (!c)
        return NULL;
    c->base = (struct tm_cursor){ .source = source, .track = track };
    c->s = (struct record_source *)source;
    if (row) {
        c->track = *row;
        if (tm_record_store_begin(c->s->store, track, &c->place) == TM_OK)
            return &c->base;
    }
    close_cursor(&c->base);
    return NULL;
}

static tm_status next_record(struct tm_cursor *cursor, struct tm_raw *raw, bool *more)
{
    struct record_cursor *c = (struct record_cursor *)cursor;
    const tm_status st = tm_record_store_next(&c->place, raw, more);

    if (st != TM_OK || !*more)
        return st;
    c->s->finish(c->s->to, &c->track, raw);
    if (c->base.counts)
        look_at_order(c, &raw->record);
    return TM_OK;
}

static void free_source(struct tm_source *source)
{
    struct record_source *s = (struct record_source *)source;

    if (!s)
        return;
    tm_record_store_free(s->store);
    tm_give(&source->trace->run->budget, TM_ACCOUNT_INPUT, s, sizeof(*s));
}

static const struct tm_source_type record_source_type = {
    .name = "records",
    .open = open_cursor,
    .next = next_record,
    .close = close_cursor,
    .free = free_source,
};

tm_status tm_record_source_new(struct tm_trace *trace, struct tm_record_store *store, tm_finish_record *finish,
                               void *to, struct tm_source **source)
{
    struct tm_run *run = trace->run;
    struct record_source *s = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*s), &run->error);

    *source = NULL;
    if (!s)
        return run->error.status;
    *s = (struct record_source){ .source = { &record_source_type, trace }, .store = store, .finish = finish, .to = to };
    *source = &s->source;
    return TM_OK;
}
