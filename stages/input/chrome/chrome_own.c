/* SPDX-License-Identifier: Apache-2.0 */
/* What an event says of itself goes along with its record, where that is asked for.
 * A flow names a process and a thread, and lies on what the file draws there.  That may be a stream of ours: PyTorch
 * gives an end of a flow the process and thread of the activity that it stands behind, at the time of its begin.  Where
 * that activity does not stand before it, any stream that was met under these numbers is taken, whatever the order
 * of the file; so a thread knows its stream at the end, and the place is put right when the flow is read. */
#include "stages/input/chrome/chrome_maker.h"

static bool is_same_time(const struct tm_json_time *a, const struct tm_json_time *b)
{
    return a->us == b->us && a->ps == b->ps;
}

/* Something lies on a thread, or on a stream that the file draws there. */
static tm_status note_track(struct tm_chrome_maker *m, const struct tm_chrome_event *e, enum tm_chrome_sort sort,
                            uint32_t track)
{
    struct tm_chrome_lately *const lately = &m->lately;
    tm_status st = TM_OK;

    *lately = (struct tm_chrome_lately){ .is_any = true, .thread = track, .track = track, .ts = e->ts };
    if (sort != TM_CHROME_THREAD) {
        st = tm_chrome_track_of(m->tracks, e, TM_CHROME_THREAD, 0, &lately->thread);
        if (st == TM_OK)
            st = tm_chrome_pair_stream(m->tracks, lately->thread, track);
    }
    return st;
}

static tm_status find_place(struct tm_chrome_maker *m, const struct tm_chrome_event *e, struct tm_record *flow,
                            uint32_t *place)
{
    const struct tm_chrome_lately *const lately = &m->lately;
    const tm_status st = tm_chrome_track_of(m->tracks, e, TM_CHROME_THREAD, 0, place);

    if (st == TM_OK && lately->is_any && lately->thread == *place && is_same_time(&lately->ts, &e->ts)) {
        *place = lately->track;
        flow->flags |= TM_FLAG_PLACED;
    }
    return st;
}

tm_status tm_chrome_take_own(struct tm_chrome_maker *m, const struct tm_chrome_event *event, enum tm_chrome_sort sort,
                             struct tm_raw_record *raw)
{
    struct tm_record *const r = &raw->record;
    struct tm_chrome_words words = {
        .name = r->name,
        .has_category = event->has & TM_CHROME_CAT && event->cat.length && r->kind != TM_END, /* its begin has it */
        /* Arguments of counters are values, and those of flows are not written. */
        .takes_members = !tm_is_flow(r) && sort != TM_CHROME_COUNTER,
        .is_joined = sort == TM_CHROME_ASYNC || sort == TM_CHROME_FLOW || sort == TM_CHROME_COUNTER,
    };
    tm_status st = TM_OK;

    words.has_id = words.is_joined && r->kind != TM_END;
    words.is_converted = m->header->is_converted;
    words.has_texts_only = m->header->has_highres_ticks; /* JAX */
    if (tm_is_flow(r)) {
        st = find_place(m, event, r, &words.place);
        words.has_place = true;
        words.is_enclosed = r->kind != TM_FLOW_END || event->has & TM_CHROME_BIND_ENCLOSING;
    } else if (tm_chrome_has_thread(sort)) {
        st = note_track(m, event, sort, r->track);
    }
    return st == TM_OK ? tm_chrome_arguments_take(m->arguments, event, &words, &raw->own) : st;
}

tm_status tm_chrome_finish_own(void *to, const struct tm_record *record, uint8_t *bytes, size_t length)
{
    struct tm_trace *const trace = to;
    struct tm_argument place;
    const struct tm_track *track;

    if (!tm_is_flow(record) || record->flags & TM_FLAG_PLACED)
        return TM_OK;
    if (!tm_arguments_find((struct tm_arguments){ bytes, length }, TM_ARGUMENT_PLACE, &place) ||
        place.value >= tm_rows_count(trace->tracks))
        return TM_OK;
    track = tm_rows_at(trace->tracks, place.value);
    if (!track)
        return trace->run->error.status;
    if (track->stream)
        tm_arguments_move_place(bytes, length, track->stream - 1);
    return TM_OK;
}
