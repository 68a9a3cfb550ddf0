/* SPDX-License-Identifier: Apache-2.0 */
/* The first reading of an XSpace: where the planes and lines lie, what the metadata tables say.
 * Memory: one read buffer, the tables (which spill).  Each plane is walked three times, because its name decides
 * how the rest is read and statistics are named in a table that comes last; walking skips lines by their length.
 * source: tensorflow.profiler.XSpace; the order of fields on the wire is not relied on. */
#include <stdio.h>

#include <xxhash.h>

#include "stages/input/xspace/xspace_private.h"
#include "stages/resolve/classes.h"

/* clang-format off */
enum {
    SCAN_BUFFER = 256 << 10,
    PLANES_MOST = 1 << 16, /* a row of half a KiB each; real profiles have under a hundred */
    SPACE_PLANE = 1, SPACE_ERRORS = 2, SPACE_WARNINGS = 3, SPACE_HOSTNAMES = 4,
    PLANE_ID = 1, PLANE_NAME = 2, PLANE_LINE = 3, PLANE_EVENT_METADATA = 4, PLANE_STAT_METADATA = 5, PLANE_STAT = 6,
    LINE_ID = 1, LINE_NAME = 2, LINE_TIMESTAMP = 3, LINE_EVENT = 4, LINE_DURATION = 9, LINE_DISPLAY_ID = 10,
    LINE_DISPLAY_NAME = 11,
    LINE_NAME_MOST = 4096, /* of a name, to tell the sort of its line */
};
/* clang-format on */

static const int64_t epoch_ns = (int64_t)1e17; /* 1973: no profile is that long */

/* Where a plane's name was seen first. */
struct process_slot {
    struct tm_key name;
    uint64_t plane; /* plus one; 0 = empty */
};

enum { PROCESS_SLOTS = 1024 /* a power of two; real profiles have under a hundred planes */ };

struct scan {
    struct tm_xspace *x;
    struct tm_run *run;
    struct tm_trace *trace;
    uint8_t *buffer;                /* of the windows: one at a time */
    uint8_t *inner_buffer;          /* for a walk inside a walk */
    struct process_slot *processes; /* a cache: what falls out of it stays a process of its own */
    bool is_cut;                    /* the field that was read last runs past the end of its part */
};

/* Bytes of a short LEN field at the window's place; the window steps over them. */
static tm_status take_bytes(struct scan *s, struct tm_reader *w, uint64_t length, struct tm_wire *view)
{
    const uint64_t most = length < SCAN_BUFFER ? length : SCAN_BUFFER;
    const tm_status st = tm_reader_peek(w, (size_t)most, view);

    if (st == TM_OK && most < length)
        tm_tally_add(&s->run->tallies, TM_TALLY_LONG_VALUE, 1);
    return st;
}

/* The next field of a part; false at its end or where it is damaged. */
static tm_status next_field(struct scan *s, struct tm_reader *w, struct tm_head *head, const char *where, bool *more)
{
    bool damaged;
    const tm_status st = tm_reader_head(w, head, more, &damaged);

    s->is_cut = damaged;
    if (st != TM_OK || !*more || !damaged)
        return st;
    tm_trace_damage(s->trace, "%s (byte %llu)", where, (unsigned long long)head->offset);
    tm_tally_add(&s->run->tallies, TM_TALLY_CUT_SHORT, w->end - head->offset);
    /* A field that runs past the end still begins with what is there: its reader sees the end by itself. */
    *more = head->type == TM_WIRE_LEN && head->value > 0 && tm_reader_offset(w) < w->end &&
            tm_reader_offset(w) > head->offset;
    if (*more)
        head->value = w->end - tm_reader_offset(w);
    return TM_OK;
}

static tm_status put_name(struct scan *s, const struct tm_wire *view, tm_strid *name)
{
    return tm_names_put_st(s->trace->names, (const char *)view->at, (size_t)(view->end - view->at), name);
}

static tm_status read_plane_name(struct scan *s, struct tm_plane *plane)
{
    struct tm_reader w;
    struct tm_head head;
    bool more = true;
    tm_status st = TM_OK;

    tm_reader_init(&w, s->x->input, s->buffer, SCAN_BUFFER, plane->begin, plane->end);
    plane->device = TM_NONE;
    plane->side = TM_SIDE_OTHER;
    while (st == TM_OK) {
        bool damaged;
        struct tm_wire view;
        int64_t ordinal = 0;
        enum tm_device_kind kind = TM_DEVICE_GPU;
        const char *text;
        size_t length;

        st = tm_reader_head(&w, &head, &more, &damaged); /* damage is noted by the next walk */
        if (st != TM_OK || !more || damaged)
            break;
        if (head.number != PLANE_NAME || head.type != TM_WIRE_LEN) {
            if (head.type == TM_WIRE_LEN)
                tm_reader_skip(&w, head.value);
            continue;
        }
        st = take_bytes(s, &w, head.value, &view);
        if (st != TM_OK || (st = put_name(s, &view, &plane->name)) != TM_OK)
            break;
        text = (const char *)view.at;
        length = (size_t)(view.end - view.at);
        plane->side = (uint8_t)tm_side_of_plane(text, length, &kind, &ordinal);
        plane->device_kind = (uint8_t)kind;
        plane->is_environment = length == 16 && !memcmp(text, "Task Environment", 16);
        plane->is_metadata = length == 14 && !memcmp(text, "/host:metadata", 14);
        plane->accelerator = (uint8_t)tm_accelerator_of_plane(text, length);
        if (plane->side == TM_SIDE_DEVICE)
            st = tm_trace_device(s->trace, kind, ordinal, text, length, &plane->device);
        tm_reader_skip(&w, head.value);
    }
    return st;
}

/* Planes of the same name are one process: a writer may give one in parts. */
static tm_status find_process(struct scan *s, uint64_t number, struct tm_plane *plane)
{
    struct process_slot *slot;
    struct tm_name name;
    const tm_status st = tm_names_info_st(s->trace->names, plane->name, &name);

    if (st != TM_OK)
        return st;
    slot = &s->processes[name.hash.low & (PROCESS_SLOTS - 1)];
    if (!slot->plane || !tm_is_same_key(slot->name, name.hash))
        *slot = (struct process_slot){ name.hash, number + 1 };
    plane->process = (uint32_t)(slot->plane - 1);
    return TM_OK;
}

/* The place of a line: of a device its number, else how many its process had before it. */
static tm_status place_line(struct scan *s, const struct tm_plane *plane, struct tm_track *track)
{
    const bool is_device = plane->side == TM_SIDE_DEVICE;
    struct tm_plane *process;

    track->process = plane->process;
    track->process_order = plane->process;
    process = tm_rows_change(s->x->planes, track->process);
    if (!process)
        return s->run->error.status;
    track->order = is_device ? track->id : (int64_t)process->lines;
    process->lines++;
    return TM_OK;
}

/* What sort of line it is, when its name and its id are known: they come in any order. */
static tm_status tell_line(struct scan *s, const struct tm_plane *plane, struct tm_track *track)
{
    const char *text;
    size_t length;
    const tm_status st = tm_names_text_st(s->trace->names, track->name, LINE_NAME_MOST, &text, &length);

    if (st == TM_OK)
        track->line = (uint8_t)tm_line_of(track->side, plane->device_kind, text, length, track->id);
    return st;
}

/* What tells a timeline: texts by their hashes, because a text may have several handles. */
struct timeline {
    struct tm_key plane_name, name;
    int64_t id;
};

static tm_status timeline_of(struct scan *s, const struct tm_track *track, struct timeline *timeline)
{
    struct tm_name plane_name, name;
    const int64_t id = track->id;
    const tm_strid line = track->name;
    tm_status st = tm_names_info_st(s->trace->names, track->plane_name, &plane_name);

    if (st == TM_OK)
        st = tm_names_info_st(s->trace->names, line, &name);
    if (st == TM_OK)
        *timeline = (struct timeline){ plane_name.hash, name.hash, id };
    return st;
}

/* Lines of the same id and name in planes of the same name are one timeline: a writer may give it in parts.  The
 * slot of a timeline, and the track in it if it is this one's. */
static tm_status find_timeline(struct scan *s, const struct tm_track *track, struct tm_timeline_slot **slot,
                               bool *found)
{
    struct timeline own, other;
    uint64_t hash;
    tm_status st = timeline_of(s, track, &own);

    *found = false;
    if (st != TM_OK)
        return st;
    hash = XXH3_64bits(&own, sizeof(own));
    *slot = &s->x->timelines[hash & (TM_TIMELINE_SLOTS - 1)];
    if ((*slot)->track && (*slot)->hash == hash) {
        const struct tm_track *row = tm_rows_at(s->trace->tracks, (*slot)->track - 1);

        st = row ? timeline_of(s, row, &other) : s->run->error.status;
        *found = st == TM_OK && !memcmp(&own, &other, sizeof(own));
    }
    (*slot)->hash = hash;
    return st;
}

/* Hang a further part behind the last one of its track. */
static tm_status chain_line(struct scan *s, uint64_t number, const struct tm_track *track,
                            const struct tm_line_row *line)
{
    const uint64_t added = tm_rows_count(s->x->more_lines) + 1;
    struct tm_line_row *first = tm_rows_change(s->x->lines, number), *last;
    struct tm_track *row = tm_rows_change(s->trace->tracks, number);

    if (!first || !row)
        return s->run->error.status;
    row->events += track->events;
    last = first->last ? tm_rows_change(s->x->more_lines, first->last - 1) : first;
    if (!last)
        return s->run->error.status;
    last->next = added;
    first->last = added;
    if (line->end - line->begin > first->longest)
        first->longest = line->end - line->begin;
    return tm_rows_append_st(s->x->more_lines, line);
}

static tm_status add_line(struct scan *s, const struct tm_track *track, struct tm_line_row *line)
{
    const uint64_t number = tm_rows_count(s->trace->tracks);
    struct tm_timeline_slot *slot;
    bool found;
    tm_status st = find_timeline(s, track, &slot, &found);

    s->trace->events += track->events;
    if (st != TM_OK || found)
        return st == TM_OK ? chain_line(s, slot->track - 1, track, line) : st;
    if (number >= TM_NONE)
        return tm_fail(&s->run->error, TM_ERR_LIMIT, -1, "the trace has more than %u lines", TM_NONE - 1);
    slot->track = number + 1;
    line->longest = line->end - line->begin;
    st = tm_rows_append_st(s->trace->tracks, track);
    return st == TM_OK ? tm_rows_append_st(s->x->lines, line) : st;
}

/* Fields of a line that nothing here is made of.  Of another type they are something else: an event, before a byte changed. */
static bool is_passed_over(const struct tm_head *head)
{
    if (head->number == LINE_DURATION || head->number == LINE_DISPLAY_ID)
        return head->type == TM_WIRE_VARINT;
    return head->number == LINE_DISPLAY_NAME && head->type == TM_WIRE_LEN;
}

/* One line: its head, how many events it has, where it lies.  Its events are skipped by their lengths. */
static tm_status scan_line(struct scan *s, uint64_t plane_number, struct tm_reader *w)
{
    const struct tm_plane *plane = tm_rows_at(s->x->planes, plane_number);
    struct tm_line_row line = { .begin = tm_reader_offset(w), .end = w->end, .plane = plane_number };
    struct tm_track track = { .device = TM_NONE, .thread = TM_NONE };
    tm_status st = TM_OK;

    if (!plane)
        return s->run->error.status;
    track.plane_name = plane->name;
    track.side = plane->side;
    track.device = plane->device;
    track.accelerator = plane->accelerator;
    for (;;) {
        struct tm_head head;
        struct tm_wire view;
        bool more;

        while (tm_reader_take(w, TM_WIRE_KEY(LINE_EVENT, TM_WIRE_LEN), &view))
            track.events++;
        st = next_field(s, w, &head, "the data ends inside a line", &more);
        if (st != TM_OK || !more)
            break;
        if (head.type == TM_WIRE_LEN && head.number == LINE_EVENT) {
            track.events += !s->is_cut; /* of one that is cut nothing can be trusted */
        } else if (head.type == TM_WIRE_LEN && head.number == LINE_NAME) {
            st = take_bytes(s, w, head.value, &view);
            if (st == TM_OK)
                st = put_name(s, &view, &track.name);
            if (st != TM_OK)
                break;
        } else if (head.number == LINE_ID && head.type == TM_WIRE_VARINT) {
            track.id = (int64_t)head.value;
        } else if (head.number == LINE_TIMESTAMP && head.type == TM_WIRE_VARINT) {
            line.timestamp_ns = (int64_t)head.value;
        } else if (!is_passed_over(&head)) {
            tm_tally_add(&s->run->tallies, TM_TALLY_UNKNOWN_FIELD, 1);
        }
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(w, head.value);
    }
    if (track.accelerator)
        tm_tally_add(&s->run->tallies, TM_TALLY_UNKNOWN_DEVICE, track.events);
    if (st == TM_OK)
        st = tell_line(s, plane, &track);
    if (st == TM_OK)
        st = place_line(s, plane, &track);
    return st == TM_OK ? add_line(s, &track, &line) : st;
}

/* The walks over a plane: first for its lines and the names of statistics, then for the rest. */
enum walk { WALK_LINES, WALK_EVENTS, WALK_NONE };

/* Which walk takes a field. */
static enum walk walk_of(uint32_t field)
{
    if (field == PLANE_LINE || field == PLANE_STAT_METADATA)
        return WALK_LINES;
    return field == PLANE_EVENT_METADATA || field == PLANE_STAT ? WALK_EVENTS : WALK_NONE;
}

/* Take a LEN field of a plane; the window stands at its bytes and stays there. */
static tm_status take_field(struct scan *s, uint64_t plane, struct tm_reader *w, const struct tm_head *head)
{
    const bool is_cut = s->is_cut;
    bool is_damaged = false;
    struct tm_reader inside;
    struct tm_wire view;
    tm_status st;

    if (head->number == PLANE_STAT) {
        st = take_bytes(s, w, head->value, &view);
        return st == TM_OK ? tm_xspace_plane_stat(s->x, plane, &view) : st;
    }
    st = tm_reader_inside(&inside, w, head->value, s->inner_buffer, SCAN_BUFFER);
    if (st != TM_OK)
        return st;
    if (head->number == PLANE_LINE)
        return scan_line(s, plane, &inside);
    st = head->number == PLANE_STAT_METADATA ? tm_xspace_stat_entry(s->x, plane, &inside, &is_damaged)
                                             : tm_xspace_event_entry(s->x, plane, &inside, &is_damaged);
    if (is_damaged && !is_cut) /* that it is cut was told */
        tm_tally_add(&s->run->tallies, TM_TALLY_BAD_FIELD, 1);
    return st;
}

static tm_status walk_plane(struct scan *s, uint64_t number, uint64_t begin, uint64_t end, enum walk walk)
{
    struct tm_reader w;
    tm_status st = TM_OK;

    tm_reader_init(&w, s->x->input, s->buffer, SCAN_BUFFER, begin, end);
    while (st == TM_OK) {
        struct tm_head head;
        bool more, damaged = false, is_known;

        st = walk == WALK_LINES ? next_field(s, &w, &head, "the data ends inside a plane", &more)
                                : tm_reader_head(&w, &head, &more, &damaged);
        if (st != TM_OK || !more)
            break;
        if (damaged) { /* noted by the first walk */
            if (head.type != TM_WIRE_LEN || tm_reader_offset(&w) == head.offset)
                break;
            head.value = w.end - tm_reader_offset(&w);
        }
        is_known =
            head.type == TM_WIRE_LEN ? head.number > PLANE_ID && head.number <= PLANE_STAT : head.number == PLANE_ID;
        if (walk == WALK_LINES && !is_known)
            tm_tally_add(&s->run->tallies, TM_TALLY_UNKNOWN_FIELD, 1);
        if (head.type != TM_WIRE_LEN)
            continue;
        if (walk == walk_of(head.number))
            st = take_field(s, number, &w, &head);
        tm_reader_skip(&w, head.value);
    }
    return st;
}

static tm_status read_message(struct scan *s, struct tm_reader *w, const struct tm_head *head)
{
    struct tm_wire view;
    const tm_status st = take_bytes(s, w, head->value, &view);

    if (st != TM_OK)
        return st;
    if (head->number == SPACE_HOSTNAMES) {
        if (!s->trace->environment.host[0])
            tm_clean_text(s->trace->environment.host, sizeof(s->trace->environment.host), (const char *)view.at,
                          (size_t)(view.end - view.at));
        return TM_OK;
    }
    tm_tally_add(&s->run->tallies, TM_TALLY_PROFILER_WARNING, 1);
    if (s->x->warn)
        s->x->warn(s->x->warn_to, (const char *)view.at, (size_t)(view.end - view.at));
    return TM_OK;
}

/* The planes of the file, and what the profiler says of itself. */
static tm_status find_planes(struct scan *s)
{
    struct tm_reader w;
    tm_status st = TM_OK;

    tm_reader_init(&w, s->x->input, s->buffer, SCAN_BUFFER, 0, s->x->input->bytes);
    while (st == TM_OK) {
        struct tm_head head;
        bool more;

        st = next_field(s, &w, &head, "the data ends inside the file's list of planes", &more);
        if (st != TM_OK || !more)
            break;
        if (head.type == TM_WIRE_LEN && head.number == SPACE_PLANE) {
            const struct tm_plane plane = { .begin = tm_reader_offset(&w), .end = tm_reader_offset(&w) + head.value };

            if (tm_rows_count(s->x->planes) == PLANES_MOST)
                st = tm_fail(&s->run->error, TM_ERR_LIMIT, (int64_t)head.offset, "the profile has more than %d planes",
                             PLANES_MOST);
            else if (head.value) /* one without bytes holds nothing */
                st = tm_rows_append_st(s->x->planes, &plane);
        } else if (head.type == TM_WIRE_LEN && head.number >= SPACE_ERRORS && head.number <= SPACE_HOSTNAMES) {
            st = read_message(s, &w, &head);
        } else {
            tm_tally_add(&s->run->tallies, TM_TALLY_UNKNOWN_FIELD, 1);
        }
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&w, head.value);
    }
    return st;
}

/* What was stepped over before a place is read for the fingerprint now, so that what follows need not be read again
 * for it. */
static tm_status see_all(struct scan *s, uint64_t end)
{
    const struct tm_input *const input = s->x->input;
    tm_status st = TM_OK;

    while (st == TM_OK && tm_input_unseen(input) < end && tm_input_unseen(input) < input->bytes) {
        const uint64_t left = end - tm_input_unseen(input);
        size_t got;

        st = tm_input_read(input, s->buffer, left < SCAN_BUFFER ? (size_t)left : SCAN_BUFFER, tm_input_unseen(input),
                           &got);
    }
    return st;
}

static tm_status scan_planes(struct scan *s)
{
    const uint64_t planes = tm_rows_count(s->x->planes);
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < planes && st == TM_OK; i++) {
        struct tm_plane *plane = tm_rows_change(s->x->planes, i);
        uint64_t begin, end;

        if (!plane)
            return s->run->error.status;
        st = read_plane_name(s, plane);
        if (st == TM_OK)
            st = find_process(s, i, plane);
        begin = plane->begin;
        end = plane->end;
        if (st == TM_OK)
            st = see_all(s, begin);
        if (st == TM_OK)
            st = walk_plane(s, i, begin, end, WALK_LINES);
    }
    if (st == TM_OK)
        st = tm_index_finish_st(s->x->stats);
    for (uint64_t i = 0; i < planes && st == TM_OK; i++) {
        const struct tm_plane *plane = tm_rows_at(s->x->planes, i);

        if (!plane)
            return s->run->error.status;
        st = walk_plane(s, i, plane->begin, plane->end, WALK_EVENTS);
    }
    return st == TM_OK ? tm_index_finish_st(s->x->events) : st;
}

/* Files that were not normalized count line times from the epoch: find what to subtract from times after it. */
static tm_status find_times(struct scan *s, struct tm_rows *lines, int64_t *earliest, int64_t *latest)
{
    for (uint64_t i = 0; i < tm_rows_count(lines); i++) {
        const struct tm_line_row *line = tm_rows_at(lines, i);

        if (!line)
            return s->run->error.status;
        if (line->timestamp_ns < *earliest && line->timestamp_ns > epoch_ns)
            *earliest = line->timestamp_ns;
        if (line->timestamp_ns > *latest)
            *latest = line->timestamp_ns;
    }
    return TM_OK;
}

static tm_status find_origin(struct scan *s)
{
    const int64_t begin_ns = (int64_t)s->trace->environment.begin_ns;
    int64_t earliest = INT64_MAX, latest = INT64_MIN;
    tm_status st = find_times(s, s->x->lines, &earliest, &latest);

    if (st == TM_OK)
        st = find_times(s, s->x->more_lines, &earliest, &latest);
    if (earliest != INT64_MAX)
        s->x->origin_ns = begin_ns > epoch_ns && begin_ns <= earliest ? begin_ns : earliest - earliest % 1000000000;
    else if (begin_ns > 0 && begin_ns <= latest) /* a clock that does not count from the epoch */
        s->x->origin_ns = begin_ns;
    s->trace->clock_ns = s->x->origin_ns ? s->x->origin_ns : begin_ns > 0 && begin_ns <= INT64_MAX / 2 ? begin_ns : 0;
    return st;
}

/* A damaged file of which not one event can be read is no profile.  Files that went through something that takes
 * bytes for text bear the replacement character (U+FFFD) in place of what was not UTF-8. */
static tm_status refuse_damaged(struct scan *s)
{
    const struct tm_trace *trace = s->trace;
    unsigned replaced = 0;
    size_t got = 0;
    tm_status st;

    if (!trace->partial || trace->events)
        return TM_OK;
    st = tm_input_read(s->x->input, s->buffer, 4096, 0, &got);
    for (size_t i = 0; st == TM_OK && i + 3 <= got; i++)
        replaced += !memcmp(s->buffer + i, "\xef\xbf\xbd", 3);
    if (st != TM_OK)
        return st;
    if (replaced > 2)
        tm_hint(&s->run->error, "its bytes were replaced as if they were text: copy the file again in binary mode");
    else
        tm_hint(&s->run->error, "copy the file again, or take the profile again");
    return tm_fail(&s->run->error, TM_ERR_INPUT, -1, "the profile is damaged, and not one event can be read: %s",
                   trace->problem);
}

static tm_status make_tables(struct tm_xspace *x, struct tm_run *run)
{
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_METADATA);
    const size_t longest = tm_budget_part(&run->budget, TM_ACCOUNT_METADATA) / 8;

    x->scratch_bytes = longest < TM_LARGEST_NAME ? longest : TM_LARGEST_NAME; /* 64 KiB at the very least */
    x->known = tm_xknown_new(x);
    x->configs = tm_configs_new(x->source.trace);
    x->hlo = tm_hlo_new(x->source.trace, x->input);
    x->scratch = tm_take(&run->budget, TM_ACCOUNT_METADATA, x->scratch_bytes, &run->error);
    x->planes = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_plane), share / 16);
    x->lines = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_line_row), share / 16);
    x->more_lines = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_line_row), share / 32);
    x->timelines = tm_take(&run->budget, TM_ACCOUNT_METADATA, TM_TIMELINE_SLOTS * sizeof(*x->timelines), &run->error);
    x->stats = tm_index_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_stat_row), share / 8, TM_INDEX_LAST, NULL);
    x->events = tm_index_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_event_row), share / 4, TM_INDEX_LAST, NULL);
    return x->known && x->configs && x->hlo && x->scratch && x->planes && x->lines && x->more_lines && x->timelines &&
                   x->stats && x->events
               ? TM_OK
               : run->error.status;
}

tm_status tm_xspace_scan(struct tm_trace *trace, const struct tm_input *input,
                         void (*warn)(void *to, const char *text, size_t length), void *to, struct tm_source **source)
{
    struct tm_run *run = trace->run;
    struct scan s = { .run = run, .trace = trace };
    struct tm_xspace *x = tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(*x), &run->error);
    tm_status st;

    *source = NULL;
    if (!x)
        return run->error.status;
    x->source = (struct tm_source){ &tm_xspace_source_type, trace };
    x->input = input;
    x->warn = warn;
    x->warn_to = to;
    s.x = x;
    *source = &x->source;
    st = make_tables(x, run);
    if (st == TM_OK && trace->keeps_arguments)
        st = tm_xarguments_make(x);
    s.buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, SCAN_BUFFER, &run->error);
    s.inner_buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, SCAN_BUFFER, &run->error);
    s.processes = tm_take(&run->budget, TM_ACCOUNT_INPUT, PROCESS_SLOTS * sizeof(*s.processes), &run->error);
    if (st == TM_OK && (!s.buffer || !s.inner_buffer || !s.processes))
        st = run->error.status;
    if (st == TM_OK)
        st = find_planes(&s);
    if (st == TM_OK)
        st = scan_planes(&s);
    if (st == TM_OK)
        st = refuse_damaged(&s);
    if (st == TM_OK)
        st = find_origin(&s);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, s.buffer, SCAN_BUFFER);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, s.inner_buffer, SCAN_BUFFER);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, s.processes, PROCESS_SLOTS * sizeof(*s.processes));
    if (st == TM_OK)
        st = tm_hlo_read(x->hlo);
    if (st == TM_OK)
        st = tm_hlo_join_all(x->hlo);
    if (st == TM_OK)
        st = tm_device_clock_read(trace, tm_xspace_read_clock, x, &x->clock);
    if (st == TM_OK && trace->environment.jax[0])
        (void)snprintf(trace->environment.framework, sizeof(trace->environment.framework), "jax");
    if (st == TM_OK && !tm_rows_count(x->planes))
        st = tm_fail(&run->error, TM_ERR_INPUT, 0, "not one plane of the profile can be read");
    if (st == TM_OK)
        tm_tally_add(&run->tallies, TM_TALLY_DUPLICATE_METADATA,
                     tm_index_duplicate_count(x->stats) + tm_index_duplicate_count(x->events));
    return st;
}

/* The plane /host:metadata has an entry per compiled program: a statistic `Hlo Proto` holds its bytes, which may be
 * hundreds of megabytes.  Only where they lie is noted.  Which program it is, `program_id` says, else the number in
 * the entry's name, else the program itself; the id of the entry may be another number. */

enum { NAME_MOST = 4096 };

tm_status tm_xspace_program_stat(struct tm_xspace *x, uint64_t plane, uint64_t begin, uint64_t end,
                                 struct tm_program_entry *entry)
{
    struct tm_xstat_place stat;
    const char *text = "";
    size_t length = 0;
    tm_strid name = 0;
    tm_status st = tm_xstat_find(x->input, begin, end, &stat);

    if (st == TM_OK)
        st = tm_xspace_ref(x, plane, stat.id, &name);
    if (st == TM_OK)
        st = tm_names_text_st(x->source.trace->names, name, 16, &text, &length);
    if (st != TM_OK)
        return st;
    if (stat.value.type == TM_WIRE_LEN && length == 9 && !memcmp(text, "Hlo Proto", 9)) {
        entry->program.begin = stat.value_at;
        entry->program.end = stat.value_at + stat.value.value;
        entry->found = true;
    } else if (stat.value.type == TM_WIRE_VARINT && length == 10 && !memcmp(text, "program_id", 10)) {
        entry->program.id = (int64_t)stat.value.value;
        entry->program.has_id = true;
    }
    return TM_OK;
}

/* The number at the end of "jit_step(12)", which may take 64 bits.  out: *length  of what stands before it */
static bool number_in_name(const char *text, size_t *length, int64_t *id)
{
    uint64_t number = 0;
    size_t at = *length;

    if (at < 3 || text[at - 1] != ')')
        return false;
    for (at--; at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9';)
        at--;
    if (at == 0 || text[at - 1] != '(' || at == *length - 1)
        return false;
    for (size_t i = at; i < *length - 1; i++)
        if (__builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, (unsigned)(text[i] - '0'), &number))
            return false;
    *length = at - 1;
    *id = (int64_t)number;
    return true;
}

tm_status tm_xspace_add_program(struct tm_xspace *x, tm_strid name, struct tm_program_entry *entry)
{
    struct tm_hlo_program *program = &entry->program;
    char copy[NAME_MOST];
    const char *text;
    size_t length;
    int64_t id;
    tm_status st = tm_names_text_st(x->source.trace->names, name, sizeof(copy), &text, &length);

    if (st != TM_OK)
        return st;
    memcpy(copy, text, length); /* putting a text in may move it */
    if (number_in_name(copy, &length, &id) && !program->has_id) {
        program->id = id;
        program->has_id = true;
    }
    st = tm_names_put_st(x->source.trace->names, copy, length, &program->name);
    return st == TM_OK ? tm_hlo_add(x->hlo, program) : st;
}
