/* SPDX-License-Identifier: Apache-2.0 */
/* The first pass over an XSpace: finds the planes and lines, and reads the metadata tables.  Memory: one read buffer,
 * the tables (which spill).  Each plane is visited three times, because its name determines how the rest is read and
 * statistics are named in a table that comes last; lines are skipped by their length.
 *
 * Writers put the id, the name, and the time of a line before its events.  With trace.skims_lines, only these are read
 * of a line, so a file is read once, by the survey, and not twice.  The survey checks what the scan would have found
 * after the first event; in a file that is damaged or unusual there, trace.is_misread is set, and the caller starts
 * again without it.
 * source: tensorflow.profiler.XSpace; does not depend on the order of fields on the wire. */
#include <stdio.h>

#include <xxhash.h>

#include "stages/input/xspace/xspace_private.h"
#include "stages/resolve/classes.h"

/* clang-format off */
enum {
    SCAN_BUFFER = 256 << 10,
    SKIM_BUFFER = 16 << 10,
    PLANES_MOST = 1 << 16, /* a row of half a KiB each; real profiles have under a hundred */
    SPACE_PLANE = 1, SPACE_ERRORS = 2, SPACE_WARNINGS = 3, SPACE_HOSTNAMES = 4,
    PLANE_ID = 1, PLANE_NAME = 2, PLANE_LINE = 3, PLANE_EVENT_METADATA = 4, PLANE_STAT_METADATA = 5, PLANE_STAT = 6,
    LINE_NAME_MOST = 4096, /* of a name, to determine the kind of its line */
};
/* clang-format on */

static const int64_t epoch_ns = (int64_t)1e17; /* 1973: no profile is that long */

/* The first position of a plane's name. */
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
    struct process_slot *processes; /* a cache: what falls out of it stays its own process */
    uint64_t events;                /* of the lines that were read to their end */
    bool is_cut;                    /* the field that was read last runs past the end of its part */
};

/* Bytes of a short LEN field at the window's place; the window steps over them. */
static struct tm_wire take_bytes(struct scan *s, struct tm_reader *w, uint64_t length)
{
    const uint64_t most = length < w->buffer_bytes ? length : w->buffer_bytes;

    if (most < length && w->buffer_bytes == SKIM_BUFFER)
        s->trace->is_misread = true;
    else if (most < length)
        tm_tally_add(&s->run->tallies, TM_TALLY_LONG_VALUE, 1);
    return tm_reader_peek(w, (size_t)most);
}

/* The next field of a part; false at its end or if it is damaged. */
static bool next_field(struct scan *s, struct tm_reader *w, struct tm_head *head, const char *where)
{
    bool damaged;
    const bool more = tm_reader_head(w, head, &damaged);

    s->is_cut = damaged;
    if (!more || !damaged)
        return more;
    tm_trace_damage(s->trace, "%s (byte %llu)", where, (unsigned long long)head->offset);
    tm_tally_add(&s->run->tallies, TM_TALLY_CUT_SHORT, w->end - head->offset);
    /* A field that extends beyond the end is opened with the available bytes: its reader detects the end itself. */
    if (head->type != TM_WIRE_LEN || head->value == 0 || tm_reader_offset(w) >= w->end ||
        tm_reader_offset(w) <= head->offset)
        return false;
    head->value = w->end - tm_reader_offset(w);
    return true;
}

static tm_strid put_name(struct scan *s, struct tm_wire view)
{
    return tm_names_put(s->trace->names, (const char *)view.at, (size_t)(view.end - view.at));
}

static void take_plane_name(struct scan *s, struct tm_plane *plane, struct tm_wire view)
{
    const char *const text = (const char *)view.at;
    const size_t length = (size_t)(view.end - view.at);
    enum tm_device_kind kind = TM_DEVICE_GPU;
    int64_t ordinal = 0;

    plane->name = put_name(s, view);
    plane->side = (uint8_t)tm_side_of_plane(text, length, &kind, &ordinal);
    plane->device_kind = (uint8_t)kind;
    plane->is_environment = length == 16 && !memcmp(text, "Task Environment", 16);
    plane->is_metadata = length == 14 && !memcmp(text, "/host:metadata", 14);
    plane->accelerator = (uint8_t)tm_accelerator_of_plane(text, length);
    if (plane->side == TM_SIDE_DEVICE &&
        tm_trace_device(s->trace, kind, ordinal, text, length, &plane->device) != TM_OK)
        plane->device = TM_NONE;
}

static void read_plane_name(struct scan *s, struct tm_plane *plane)
{
    struct tm_reader w;
    struct tm_head head;
    bool damaged;

    tm_reader_init(&w, s->x->input, s->buffer, SCAN_BUFFER, plane->begin, plane->end);
    plane->device = TM_NONE;
    plane->side = TM_SIDE_OTHER;
    while (tm_reader_head(&w, &head, &damaged) && !damaged) { /* damage is noted by the next walk */
        if (head.number == PLANE_NAME && head.type == TM_WIRE_LEN)
            take_plane_name(s, plane, take_bytes(s, &w, head.value));
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&w, head.value);
    }
}

/* Planes of the same name are one process: a writer may give one in parts. */
static void find_process(struct scan *s, uint64_t number, struct tm_plane *plane)
{
    const struct tm_key name = tm_names_info(s->trace->names, plane->name).hash;
    struct process_slot *const slot = &s->processes[name.low & (PROCESS_SLOTS - 1)];

    if (!slot->plane || !tm_is_same_key(slot->name, name))
        *slot = (struct process_slot){ name, number + 1 };
    plane->process = (uint32_t)(slot->plane - 1);
}

/* The place of a line: of a device its number, else how many its process had before it. */
static void place_line(struct scan *s, const struct tm_plane *plane, struct tm_track *track)
{
    const bool is_device = plane->side == TM_SIDE_DEVICE;
    struct tm_plane *process;

    track->process = plane->process;
    track->process_order = plane->process;
    process = tm_rows_change(s->x->planes, track->process);
    track->order = is_device ? track->id : (int64_t)process->lines;
    process->lines++;
}

/* The kind of line, when its name and its id are known: they come in any order. */
static void tell_line(struct scan *s, const struct tm_plane *plane, struct tm_track *track)
{
    size_t length;
    const char *const text = tm_names_text(s->trace->names, track->name, LINE_NAME_MOST, &length);

    track->line = (uint8_t)tm_line_of(track->side, plane->device_kind, text, length, track->id);
}

/* The identity of a timeline: strings by their hashes, because a string may have several handles. */
struct timeline {
    struct tm_key plane_name, name;
    int64_t id;
};

static struct timeline timeline_of(struct scan *s, const struct tm_track *track)
{
    const struct tm_track copy = *track; /* a row may be evicted while names are examined */

    return (struct timeline){ tm_names_info(s->trace->names, copy.plane_name).hash,
                              tm_names_info(s->trace->names, copy.name).hash, copy.id };
}

/* Lines of the same id and name in planes of the same name are one timeline: a writer may give it in parts.  The
 * slot of a timeline, and the track in it if it is this one's. */
static struct tm_timeline_slot *find_timeline(struct scan *s, const struct tm_track *track, bool *found)
{
    const struct timeline own = timeline_of(s, track);
    const uint64_t hash = XXH3_64bits(&own, sizeof(own));
    struct tm_timeline_slot *const slot = &s->x->timelines[hash & (TM_TIMELINE_SLOTS - 1)];

    *found = false;
    if (slot->track && slot->hash == hash) {
        const struct timeline other = timeline_of(s, tm_rows_at(s->trace->tracks, slot->track - 1));

        *found = !memcmp(&own, &other, sizeof(own));
    }
    slot->hash = hash;
    return slot;
}

/* Append a further part to the last one of its track. */
static void chain_line(struct scan *s, uint64_t number, const struct tm_track *track, const struct tm_line_row *line)
{
    const uint64_t added = tm_rows_count(s->x->more_lines) + 1;
    struct tm_line_row *const first = tm_rows_change(s->x->lines, number);
    struct tm_line_row *const last = first->last ? tm_rows_change(s->x->more_lines, first->last - 1) : first;

    ((struct tm_track *)tm_rows_change(s->trace->tracks, number))->events += track->events;
    last->next = added;
    first->last = added;
    if (line->end - line->begin > first->longest)
        first->longest = line->end - line->begin;
    tm_rows_append(s->x->more_lines, line);
}

static void add_line(struct scan *s, const struct tm_track *track, struct tm_line_row *line)
{
    const uint64_t number = tm_rows_count(s->trace->tracks);
    bool found;
    struct tm_timeline_slot *const slot = find_timeline(s, track, &found);

    s->events += track->events;
    if (found) {
        chain_line(s, slot->track - 1, track, line);
        return;
    }
    if (number >= TM_NONE)
        (void)tm_fail(&s->run->error, TM_ERR_LIMIT, -1, "the trace has more than %u lines", TM_NONE - 1);
    slot->track = number + 1;
    line->longest = line->end - line->begin;
    tm_rows_append(s->trace->tracks, track);
    tm_rows_append(s->x->lines, line);
}

/* Whether the rest of a line is left to the survey: its events come next.  It will count them. */
static bool leaves_rest(struct scan *s, const struct tm_plane *plane, struct tm_reader *w, struct tm_track *track,
                        struct tm_line_row *line)
{
    struct tm_wire next;

    if (!s->trace->skims_lines || plane->accelerator)
        return false;
    next = tm_reader_peek(w, 1);
    if (next.at == next.end || *next.at != TM_WIRE_KEY(TM_XLINE_EVENT, TM_WIRE_LEN))
        return false;
    track->events = 1;
    line->skimmed_to = tm_reader_offset(w);
    return true;
}

/* One line: its head, how many events it has, where it is.  Its events are skipped by their lengths. */
static void scan_line(struct scan *s, uint64_t plane_number, struct tm_reader *w)
{
    const struct tm_plane *plane = tm_rows_at(s->x->planes, plane_number);
    struct tm_line_row line = {
        .begin = tm_reader_offset(w), .end = w->end, .plane = plane_number, .skimmed_to = UINT64_MAX
    };
    struct tm_track track = { .device = TM_NONE, .thread = TM_NONE };

    track.plane_name = plane->name;
    track.side = plane->side;
    track.device = plane->device;
    track.accelerator = plane->accelerator;
    while (!leaves_rest(s, plane, w, &track, &line)) {
        struct tm_head head;
        struct tm_wire event;

        while (tm_reader_take(w, TM_WIRE_KEY(TM_XLINE_EVENT, TM_WIRE_LEN), &event))
            track.events++;
        if (!next_field(s, w, &head, "the data ends inside a line"))
            break;
        if (head.type == TM_WIRE_LEN && head.number == TM_XLINE_EVENT) {
            track.events += !s->is_cut; /* of one that is cut nothing can be trusted */
        } else if (head.type == TM_WIRE_LEN && head.number == TM_XLINE_NAME) {
            track.name = put_name(s, take_bytes(s, w, head.value));
        } else if (head.number == TM_XLINE_ID && head.type == TM_WIRE_VARINT) {
            track.id = (int64_t)head.value;
        } else if (head.number == TM_XLINE_TIMESTAMP && head.type == TM_WIRE_VARINT) {
            line.timestamp_ns = (int64_t)head.value;
        } else if (!tm_xspace_passes_over(&head)) {
            tm_tally_add(&s->run->tallies, TM_TALLY_UNKNOWN_FIELD, 1);
        }
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(w, head.value);
    }
    if (track.accelerator)
        tm_tally_add(&s->run->tallies, TM_TALLY_UNKNOWN_DEVICE, track.events);
    tell_line(s, plane, &track);
    place_line(s, plane, &track);
    add_line(s, &track, &line);
}

/* The walks over a plane: first for its lines and the names of statistics, then for the rest. */
enum walk { WALK_LINES, WALK_EVENTS, WALK_NONE };

/* The walk that takes a field. */
static enum walk walk_of(uint32_t field)
{
    if (field == PLANE_LINE || field == PLANE_STAT_METADATA)
        return WALK_LINES;
    return field == PLANE_EVENT_METADATA || field == PLANE_STAT ? WALK_EVENTS : WALK_NONE;
}

/* Take a LEN field of a plane; the window is at its bytes and stays there. */
static void take_field(struct scan *s, uint64_t plane, struct tm_reader *w, const struct tm_head *head)
{
    const bool is_cut = s->is_cut;
    bool is_damaged = false;
    struct tm_reader inside;

    if (head->number == PLANE_STAT) {
        const struct tm_wire view = take_bytes(s, w, head->value);

        tm_xspace_plane_stat(s->x, plane, &view);
        return;
    }
    tm_reader_inside(&inside, w, head->value, s->inner_buffer,
                     head->number == PLANE_LINE && s->trace->skims_lines ? SKIM_BUFFER : SCAN_BUFFER);
    if (head->number == PLANE_LINE)
        scan_line(s, plane, &inside);
    else if (head->number == PLANE_STAT_METADATA)
        tm_xspace_stat_entry(s->x, plane, &inside, &is_damaged);
    else
        tm_xspace_event_entry(s->x, plane, &inside, &is_damaged);
    if (is_damaged && !is_cut) /* the truncation was reported */
        tm_tally_add(&s->run->tallies, TM_TALLY_BAD_FIELD, 1);
}

static void walk_plane(struct scan *s, uint64_t number, uint64_t begin, uint64_t end, enum walk walk)
{
    struct tm_reader w;

    tm_reader_init(&w, s->x->input, s->buffer, SCAN_BUFFER, begin, end);
    while (!tm_failed(s->run)) {
        struct tm_head head;
        bool damaged = false, is_known;

        if (!(walk == WALK_LINES ? next_field(s, &w, &head, "the data ends inside a plane")
                                 : tm_reader_head(&w, &head, &damaged)))
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
            take_field(s, number, &w, &head);
        tm_reader_skip(&w, head.value);
    }
}

static void read_message(struct scan *s, struct tm_reader *w, const struct tm_head *head)
{
    const struct tm_wire view = take_bytes(s, w, head->value);

    if (head->number == SPACE_HOSTNAMES) {
        if (!s->trace->environment.host[0])
            tm_clean_text(s->trace->environment.host, sizeof(s->trace->environment.host), (const char *)view.at,
                          (size_t)(view.end - view.at));
        return;
    }
    tm_tally_add(&s->run->tallies, TM_TALLY_PROFILER_WARNING, 1);
    if (s->x->warn && !tm_failed(s->run))
        s->x->warn(s->x->warn_to, (const char *)view.at, (size_t)(view.end - view.at));
}

/* The planes of the file, and what the profiler says about itself. */
static void find_planes(struct scan *s)
{
    struct tm_reader w;
    struct tm_head head;

    tm_reader_init(&w, s->x->input, s->buffer, SCAN_BUFFER, 0, s->x->input->bytes);
    while (!tm_failed(s->run) && next_field(s, &w, &head, "the data ends inside the file's list of planes")) {
        if (head.type == TM_WIRE_LEN && head.number == SPACE_PLANE) {
            const struct tm_plane plane = { .begin = tm_reader_offset(&w), .end = tm_reader_offset(&w) + head.value };

            if (tm_rows_count(s->x->planes) == PLANES_MOST)
                (void)tm_fail(&s->run->error, TM_ERR_LIMIT, (int64_t)head.offset, "the profile has more than %d planes",
                              PLANES_MOST);
            else if (head.value) /* one without bytes holds nothing */
                tm_rows_append(s->x->planes, &plane);
        } else if (head.type == TM_WIRE_LEN && head.number >= SPACE_ERRORS && head.number <= SPACE_HOSTNAMES) {
            read_message(s, &w, &head);
        } else {
            tm_tally_add(&s->run->tallies, TM_TALLY_UNKNOWN_FIELD, 1);
        }
        if (head.type == TM_WIRE_LEN)
            tm_reader_skip(&w, head.value);
    }
}

static void scan_planes(struct scan *s)
{
    const uint64_t planes = tm_rows_count(s->x->planes);

    for (uint64_t i = 0; i < planes && !tm_failed(s->run); i++) {
        struct tm_plane *plane = tm_rows_change(s->x->planes, i);
        uint64_t begin, end;

        read_plane_name(s, plane);
        find_process(s, i, plane);
        begin = plane->begin;
        end = plane->end;
        if (!s->trace->skims_lines)
            (void)!tm_input_approach(s->x->input, begin, s->buffer, SCAN_BUFFER);
        walk_plane(s, i, begin, end, WALK_LINES);
    }
    tm_index_finish(s->x->stats);
    for (uint64_t i = 0; i < planes && !tm_failed(s->run); i++) {
        const struct tm_plane *plane = tm_rows_at(s->x->planes, i);

        walk_plane(s, i, plane->begin, plane->end, WALK_EVENTS);
    }
    tm_index_finish(s->x->events);
}

/* Files that were not normalized count line times from the epoch: find what to subtract from times after it. */
static void find_times(struct tm_rows *lines, int64_t *earliest, int64_t *latest)
{
    for (uint64_t i = 0; i < tm_rows_count(lines); i++) {
        const struct tm_line_row *line = tm_rows_at(lines, i);

        if (line->timestamp_ns < *earliest && line->timestamp_ns > epoch_ns)
            *earliest = line->timestamp_ns;
        if (line->timestamp_ns > *latest)
            *latest = line->timestamp_ns;
    }
}

static void find_origin(struct scan *s)
{
    const int64_t begin_ns = (int64_t)s->trace->environment.begin_ns;
    int64_t earliest = INT64_MAX, latest = INT64_MIN;

    find_times(s->x->lines, &earliest, &latest);
    find_times(s->x->more_lines, &earliest, &latest);
    if (earliest != INT64_MAX)
        s->x->origin_ns = begin_ns > epoch_ns && begin_ns <= earliest ? begin_ns : earliest - earliest % 1000000000;
    else if (begin_ns > 0 && begin_ns <= latest) /* a clock that does not count from the epoch */
        s->x->origin_ns = begin_ns;
    s->trace->clock_ns = s->x->origin_ns ? s->x->origin_ns : begin_ns > 0 && begin_ns <= INT64_MAX / 2 ? begin_ns : 0;
}

/* A damaged file without a single readable event is not a profile.  Files that went through something that takes
 * bytes for text have the replacement character (U+FFFD) instead of what was not UTF-8. */
static void refuse_damaged(struct scan *s)
{
    const struct tm_trace *trace = s->trace;
    unsigned replaced = 0;
    size_t got = 0;

    if (!trace->partial || s->events || tm_input_read(s->x->input, s->buffer, 4096, 0, &got) != TM_OK)
        return;
    for (size_t i = 0; i + 3 <= got; i++)
        replaced += !memcmp(s->buffer + i, "\xef\xbf\xbd", 3);
    if (replaced > 2)
        tm_hint(&s->run->error, "its bytes were replaced as if they were text: copy the file again in binary mode");
    else
        tm_hint(&s->run->error, "copy the file again, or record a new profile");
    (void)tm_fail(&s->run->error, TM_ERR_INPUT, -1, "the profile is damaged, and no event can be read: %s",
                  trace->problem);
}

static void make_tables(struct tm_xspace *x, struct tm_run *run)
{
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_METADATA);
    const size_t longest = tm_budget_part(&run->budget, TM_ACCOUNT_METADATA) / 8;

    x->scratch_bytes = longest < TM_LARGEST_NAME ? longest : TM_LARGEST_NAME; /* 64 KiB at the very least */
    tm_signatures_init(&x->signatures, run, tm_budget_share(&run->budget, TM_ACCOUNT_INPUT) / 16);
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
}

tm_status tm_xspace_scan(struct tm_trace *trace, const struct tm_input *input,
                         void (*warn)(void *to, const char *text, size_t length), void *to, struct tm_source **source)
{
    struct tm_run *run = trace->run;
    struct scan s = { .run = run, .trace = trace };
    struct tm_xspace *x = tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(*x), &run->error);

    *source = NULL;
    if (!x)
        return run->error.status;
    x->source = (struct tm_source){ &tm_xspace_source_type, trace, &x->signatures };
    x->input = input;
    x->warn = warn;
    x->warn_to = to;
    s.x = x;
    *source = &x->source;
    make_tables(x, run);
    if (trace->keeps_arguments)
        tm_xarguments_make(x);
    s.buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, SCAN_BUFFER, &run->error);
    s.inner_buffer = tm_take(&run->budget, TM_ACCOUNT_INPUT, SCAN_BUFFER, &run->error);
    s.processes = tm_take(&run->budget, TM_ACCOUNT_INPUT, PROCESS_SLOTS * sizeof(*s.processes), &run->error);
    if (!tm_failed(run)) {
        find_planes(&s);
        scan_planes(&s);
    }
    trace->is_misread |= trace->skims_lines && trace->partial;
    if (!tm_failed(run) && !trace->is_misread) {
        refuse_damaged(&s);
        find_origin(&s);
    }
    x->spare_window = s.buffer;
    x->spare_bytes = s.buffer ? SCAN_BUFFER : 0;
    tm_give(&run->budget, TM_ACCOUNT_INPUT, s.inner_buffer, SCAN_BUFFER);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, s.processes, PROCESS_SLOTS * sizeof(*s.processes));
    if (trace->is_misread)
        return run->error.status;
    if (!tm_failed(run)) {
        tm_hlo_read(x->hlo);
        tm_hlo_join_all(x->hlo);
        x->clock = tm_device_clock_read(trace, tm_xspace_read_clock, x);
    }
    if (tm_failed(run))
        return run->error.status;
    if (trace->environment.jax[0])
        (void)snprintf(trace->environment.framework, sizeof(trace->environment.framework), "jax");
    if (!tm_rows_count(x->planes))
        return tm_fail(&run->error, TM_ERR_INPUT, 0, "no plane of the profile can be read");
    tm_tally_add(&run->tallies, TM_TALLY_DUPLICATE_METADATA,
                 tm_index_duplicate_count(x->stats) + tm_index_duplicate_count(x->events));
    return TM_OK;
}
