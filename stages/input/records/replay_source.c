/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks are read one after the other where they count, so one of them is being kept at a time.  A track is in the store
 * as a whole, or what is there is not used. */
#include "stages/input/records/replay_source.h"

#include "stages/input/records/record_store.h"

struct replay_source {
    struct tm_source source; /* first: a tm_source is cast to it */
    struct tm_source *inner;
    struct tm_record_store *store;
    const struct replay_cursor *keeper; /* whose records go to the store, or NULL */
    bool is_broken;                     /* some track is in the store in part: nothing is read from there any more */
};

struct replay_cursor {
    struct tm_cursor base;   /* first */
    struct tm_cursor *inner; /* NULL: the records come from the store */
    struct tm_record_place place;
    bool is_begun;
};

static struct replay_source *source_of(const struct replay_cursor *c)
{
    return (struct replay_source *)c->base.source;
}

static void close_track(struct tm_cursor *cursor)
{
    struct replay_cursor *const c = (struct replay_cursor *)cursor;
    struct replay_source *s;

    if (!c)
        return;
    s = source_of(c);
    if (s->keeper == c) {
        s->keeper = NULL;
        s->is_broken = true;
    }
    if (c->inner)
        s->inner->type->close(c->inner);
    else
        tm_record_store_end(&c->place);
    tm_give(&s->source.trace->run->budget, TM_ACCOUNT_INPUT, c, sizeof(*c));
}

/* Whether all of a track is in the store. */
static tm_status is_kept(const struct replay_source *s, uint64_t track, bool *kept)
{
    struct tm_stored_track known;
    const tm_status st = tm_record_store_track(s->store, track, &known);

    *kept = known.count && !(s->keeper && s->keeper->base.track == track) && !s->is_broken;
    return st;
}

static struct tm_cursor *open_track(struct tm_source *source, uint64_t track, size_t buffer_bytes)
{
    struct replay_source *const s = (struct replay_source *)source;
    struct tm_run *const run = source->trace->run;
    struct replay_cursor *const c = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*c), &run->error);
    bool kept;
    tm_status st;

    if (!c)
        return NULL;
    c->base = (struct tm_cursor){ .source = source, .track = track };
    st = is_kept(s, track, &kept);
    if (st == TM_OK && kept) {
        st = tm_record_store_begin(s->store, track, &c->place);
    } else if (st == TM_OK) {
        c->inner = s->inner->type->open(s->inner, track, buffer_bytes);
        st = c->inner ? TM_OK : run->error.status;
    }
    if (st == TM_OK)
        return &c->base;
    close_track(&c->base);
    return NULL;
}

/* The first record of a reading of the inner source is asked for: does it count? */
static void begin(struct replay_cursor *c)
{
    struct replay_source *const s = source_of(c);

    c->is_begun = true;
    c->inner->counts = c->base.counts;
    if (c->base.counts && !s->keeper && !s->is_broken)
        s->keeper = c;
}

static tm_status next_and_keep(struct replay_cursor *c, struct tm_raw_record *raw, bool *more)
{
    struct replay_source *const s = source_of(c);
    tm_status st;

    if (!c->is_begun)
        begin(c);
    st = s->inner->type->next(c->inner, raw, more);
    if (st != TM_OK || s->keeper != c)
        return st;
    if (*more)
        return tm_record_store_add(s->store, raw);
    s->keeper = NULL;
    return TM_OK;
}

static tm_status next_record(struct tm_cursor *cursor, struct tm_raw_record *raw, bool *more)
{
    struct replay_cursor *const c = (struct replay_cursor *)cursor;

    return c->inner ? next_and_keep(c, raw, more) : tm_record_store_next(&c->place, raw, more);
}

static tm_status own_arguments(struct tm_cursor *cursor, struct tm_raw_record *raw)
{
    struct replay_cursor *const c = (struct replay_cursor *)cursor;
    uint8_t *bytes;

    return c->inner ? source_of(c)->inner->type->own(c->inner, raw) : tm_record_store_own(&c->place, raw, &bytes);
}

static void free_source(struct tm_source *source)
{
    struct replay_source *const s = (struct replay_source *)source;

    tm_record_store_free(s->store);
    s->inner->type->free(s->inner);
    tm_give(&source->trace->run->budget, TM_ACCOUNT_INPUT, s, sizeof(*s));
}

static const struct tm_source_type replay_source_type = {
    .name = "replay",
    .open = open_track,
    .next = next_record,
    .own = own_arguments,
    .close = close_track,
    .free = free_source,
};

tm_status tm_replay_source_new(struct tm_source *inner, struct tm_source **source)
{
    struct tm_run *const run = inner->trace->run;
    struct replay_source *const s = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*s), &run->error);

    *source = NULL;
    if (!s) {
        inner->type->free(inner);
        return run->error.status;
    }
    *s = (struct replay_source){ .source = { &replay_source_type, inner->trace }, .inner = inner };
    s->store = tm_record_store_new(inner->trace);
    if (!s->store) {
        free_source(&s->source);
        return run->error.status;
    }
    *source = &s->source;
    return TM_OK;
}
