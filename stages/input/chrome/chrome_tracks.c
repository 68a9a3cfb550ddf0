/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and threads of a Chrome trace, and the plane, device, and line of each.  Their names may come after their
 * events, so events go to numbered tracks, whose identity is determined at the end.
 * source: docs/classes.md; the processes of JAX's writer are the planes of its XSpace (XPlane names) */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stages/input/chrome/chrome_maker.h"
#include "stages/resolve/classes.h"

enum { NAME_MOST = 4096, ACCELERATOR_MOST = 64 };

tm_status tm_chrome_tracks_open(struct tm_chrome_tracks *t, struct tm_trace *trace)
{
    struct tm_run *run = trace->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_METADATA);

    *t = (struct tm_chrome_tracks){ .run = run, .trace = trace };
    t->process_numbers = tm_key_map_new(run, TM_ACCOUNT_METADATA, share / 8);
    t->track_numbers = tm_key_map_new(run, TM_ACCOUNT_METADATA, share / 4);
    t->processes = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_chrome_process), share / 32);
    t->tracks = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_chrome_track), share / 16);
    return t->process_numbers && t->track_numbers && t->processes && t->tracks ? TM_OK : run->error.status;
}

void tm_chrome_tracks_close(struct tm_chrome_tracks *t)
{
    if (!t->run)
        return;
    tm_key_map_free(t->process_numbers);
    tm_key_map_free(t->track_numbers);
    tm_rows_free(t->processes);
    tm_rows_free(t->tracks);
    *t = (struct tm_chrome_tracks){ .run = NULL };
}

/* --- numbers of processes and tracks --- */

/* The identity of a process or a thread; of a string of any length its hash. */
struct id_key {
    uint64_t kind, high, low;
};

/* For a device, whose streams are identified by their events, instead of a process. */
enum { ID_OF_DEVICE = 1 << 8 /* + enum tm_chrome_sort */ };

/* Which of two numbers is cut to a family (struct tm_key_map). */
enum cut_of { CUT_THREAD, CUT_PROCESS, CUT_BOTH };

struct track_key {
    uint64_t sort, cut;
    int64_t ordinal;
    struct id_key process, thread;
};

/* The number without its last `without` bits. */
static struct id_key key_of(const struct tm_json_id *id, unsigned without)
{
    XXH128_hash_t hash;

    switch (id->kind) {
    case TM_JSON_NUMBER:
        return (struct id_key){ TM_JSON_NUMBER, id->is_unsigned, (uint64_t)id->number >> without };
    case TM_JSON_TEXT:
        hash = XXH3_128bits(id->text.at, id->text.length);
        return (struct id_key){ TM_JSON_TEXT, hash.high64, hash.low64 };
    default:
        return (struct id_key){ TM_JSON_NO_ID, 0, 0 };
    }
}

/* Where an id is among the numbers that follow each other (struct tm_key_map). */
static uint32_t member_of(const struct tm_json_id *id)
{
    return id->kind == TM_JSON_NUMBER ? (uint32_t)id->number & ((1U << TM_KEY_MEMBER_BITS) - 1) : 0;
}

static tm_strid put_id_text(struct tm_chrome_tracks *t, const struct tm_json_id *id)
{
    return id->kind == TM_JSON_TEXT ? tm_names_put(t->trace->names, id->text.at, id->text.length) : 0;
}

static struct tm_json_id without_text(const struct tm_json_id *id)
{
    return (struct tm_json_id){ .kind = id->kind, .is_unsigned = id->is_unsigned, .number = id->number };
}

static uint64_t process_of(struct tm_chrome_tracks *t, const struct tm_json_id *id)
{
    struct tm_chrome_process row = { .id = without_text(id), .device = TM_NONE };
    const struct id_key key = key_of(id, TM_KEY_MEMBER_BITS);
    const uint64_t process = tm_key_map_number(t->process_numbers, tm_hash_key(&key, sizeof(key)), member_of(id));

    if (process >= tm_rows_count(t->processes)) {
        row.id_text = put_id_text(t, id);
        tm_rows_append(t->processes, &row);
    }
    return process;
}

/* The number of a device whose streams are identified by their events: it is among those of the processes, with an
 * unused row. */
static uint64_t number_of_device(struct tm_chrome_tracks *t, enum tm_chrome_sort sort, int64_t ordinal)
{
    const struct tm_chrome_process row = { .device = TM_NONE };
    const struct id_key key = { ID_OF_DEVICE + (uint64_t)sort, 0, (uint64_t)ordinal };
    const uint64_t number = tm_key_map_number(t->process_numbers, tm_hash_key(&key, sizeof(key)), 0);

    if (number >= tm_rows_count(t->processes))
        tm_rows_append(t->processes, &row);
    return number;
}

/* An event without a thread is on the one that has the number of its process, as in viewers. */
static const struct tm_json_id *thread_of(const struct tm_chrome_event *event)
{
    return event->tid.kind ? &event->tid : &event->pid;
}

static bool has_device(enum tm_chrome_sort sort)
{
    return sort == TM_CHROME_DEVICE || sort == TM_CHROME_UNKNOWN_DEVICE;
}

static void make_track(struct tm_chrome_tracks *t, const struct tm_chrome_event *event, enum tm_chrome_sort sort,
                       int64_t ordinal)
{
    const struct tm_track track = { .device = TM_NONE, .thread = TM_NONE };
    struct tm_chrome_track row = { .ordinal = ordinal, .sort = (uint8_t)sort };
    struct tm_category category;

    row.number = row.process = process_of(t, &event->pid);
    if (sort == TM_CHROME_UNKNOWN_DEVICE && tm_category_of(event->cat.at, event->cat.length, &category))
        row.accelerator = (uint8_t)category.accelerator;
    if (has_device(sort))
        row.number = number_of_device(t, sort, ordinal);
    if (tm_chrome_has_thread(sort)) {
        row.thread = without_text(thread_of(event));
        row.thread_text = put_id_text(t, thread_of(event));
    }
    if (tm_rows_count(t->tracks) >= TM_NONE)
        (void)tm_fail(&t->run->error, TM_ERR_LIMIT, -1, "the trace has more than %u tracks", TM_NONE - 1);
    tm_rows_append(t->tracks, &row);
    tm_rows_append(t->trace->tracks, &track);
}

/* Processes of a thread each, and threads of a process, mostly have ascending numbers: the larger one of the two is
 * assumed to be that.  out: the member */
static uint32_t put_thread(struct track_key *key, const struct tm_json_id *process, const struct tm_json_id *thread)
{
    const bool are_numbers = process->kind == TM_JSON_NUMBER && thread->kind == TM_JSON_NUMBER;
    const bool are_same = are_numbers && process->number == thread->number;
    const bool by_process = are_numbers ? thread->number < process->number : process->kind == TM_JSON_NUMBER;

    key->cut = are_same ? CUT_BOTH : by_process ? CUT_PROCESS : CUT_THREAD;
    key->process = key_of(process, key->cut == CUT_THREAD ? 0 : TM_KEY_MEMBER_BITS);
    key->thread = key_of(thread, key->cut == CUT_PROCESS ? 0 : TM_KEY_MEMBER_BITS);
    return member_of(by_process ? process : thread);
}

static uint32_t find_track(struct tm_chrome_tracks *t, const struct tm_chrome_event *event, enum tm_chrome_sort sort,
                           int64_t ordinal)
{
    struct track_key key = { .sort = (uint64_t)sort };
    uint32_t member = 0;
    uint64_t number;

    if (has_device(sort)) {
        key.ordinal = ordinal;
        if (tm_chrome_has_thread(sort)) {
            key.thread = key_of(thread_of(event), TM_KEY_MEMBER_BITS);
            member = member_of(thread_of(event));
        }
    } else if (tm_chrome_has_thread(sort)) {
        member = put_thread(&key, &event->pid, thread_of(event));
    } else if (sort != TM_CHROME_FLOW) {
        key.process = key_of(&event->pid, TM_KEY_MEMBER_BITS);
        member = member_of(&event->pid);
    }
    number = tm_key_map_number(t->track_numbers, tm_hash_key(&key, sizeof(key)), member);
    if (number == tm_rows_count(t->tracks))
        make_track(t, event, sort, ordinal);
    return (uint32_t)number;
}

static uint32_t sort_of_id(const struct tm_json_id *id)
{
    return (uint32_t)id->kind << 1 | id->is_unsigned;
}

static inline bool is_near(const struct tm_near_track *near, const struct tm_near_track *wanted)
{
    return near->is_used && near->process == wanted->process && near->thread == wanted->thread &&
           near->ordinal == wanted->ordinal && near->sorts == wanted->sorts;
}

uint32_t tm_chrome_track_of(struct tm_chrome_tracks *t, const struct tm_chrome_event *event, enum tm_chrome_sort sort,
                            int64_t ordinal)
{
    const struct tm_json_id *thread = thread_of(event);
    const struct tm_near_track wanted = {
        .process = tm_json_id_number(&event->pid),
        .thread = tm_json_id_number(thread),
        .ordinal = has_device(sort) ? ordinal : 0,
        .sorts = sort_of_id(&event->pid) << 16 | sort_of_id(thread) << 8 | (uint32_t)sort,
    };
    const uint64_t mixed = (wanted.thread ^ wanted.process << 8 ^ (uint64_t)wanted.sorts << 32) * 0x9e3779b97f4a7c15u;
    struct tm_near_track *const near = &t->near[mixed >> 58], *const other = &t->near[mixed >> 58 ^ 1];

    static_assert(TM_CHROME_NEAR == 1 << (64 - 58), "the place is the highest bits of the hash");
    if (is_near(near, &wanted))
        return near->track;
    if (is_near(other, &wanted))
        return other->track;
    const uint32_t track = find_track(t, event, sort, ordinal);

    if (near->is_used)
        *other = *near;
    *near = wanted;
    near->track = track;
    near->is_used = true;
    return track;
}

void tm_chrome_pair_stream(struct tm_chrome_tracks *t, uint32_t thread, uint32_t stream)
{
    if (!((const struct tm_chrome_track *)tm_rows_at(t->tracks, thread))->stream)
        ((struct tm_chrome_track *)tm_rows_change(t->tracks, thread))->stream = stream + 1;
}

/* --- names --- */

/* Another name than before is reported; the same again is not. */
static void set_name(struct tm_chrome_tracks *t, tm_strid *name, tm_strid wanted)
{
    if (*name && *name != wanted)
        tm_tally_add(&t->run->tallies, TM_TALLY_RENAMED, 1);
    *name = wanted;
}

static tm_strid put_fact(struct tm_chrome_tracks *t, const struct tm_chrome_event *event, enum tm_stat stat)
{
    const struct tm_fact_maker maker = { .trace = t->trace };

    return tm_facts_text(&maker, &event->facts, stat);
}

static struct tm_chrome_process *change_process(struct tm_chrome_tracks *t, const struct tm_chrome_event *event)
{
    const uint64_t number = process_of(t, &event->pid);

    return tm_rows_change(t->processes, number);
}

static struct tm_chrome_track *change_thread(struct tm_chrome_tracks *t, const struct tm_chrome_event *event)
{
    const uint32_t track = tm_chrome_track_of(t, event, TM_CHROME_THREAD, 0);

    return tm_rows_change(t->tracks, track);
}

static void name_process(struct tm_chrome_tracks *t, const struct tm_chrome_event *event, enum tm_stat stat)
{
    const tm_strid name = put_fact(t, event, stat);
    struct tm_chrome_process *const process = change_process(t, event);

    if (name)
        set_name(t, stat == TM_STAT_NAME ? &process->name : &process->labels, name);
}

static void name_thread(struct tm_chrome_tracks *t, const struct tm_chrome_event *event)
{
    const tm_strid name = put_fact(t, event, TM_STAT_NAME);
    struct tm_chrome_track *const thread = change_thread(t, event);

    if (name)
        set_name(t, &thread->name, name);
}

void tm_chrome_take_metadata(struct tm_chrome_tracks *t, const struct tm_chrome_event *event)
{
    tm_tally_add(&t->run->tallies, TM_TALLY_METADATA_EVENT, 1);
    if (tm_facts_have(&event->facts, TM_STAT_SORT_INDEX) && tm_json_text_is(event->name, "process_sort_index"))
        change_process(t, event)->order = event->facts.ints[TM_STAT_SORT_INDEX];
    else if (tm_facts_have(&event->facts, TM_STAT_SORT_INDEX) && tm_json_text_is(event->name, "thread_sort_index"))
        change_thread(t, event)->order = event->facts.ints[TM_STAT_SORT_INDEX];
    else if (tm_json_text_is(event->name, "process_name"))
        name_process(t, event, TM_STAT_NAME);
    else if (tm_json_text_is(event->name, "process_labels"))
        name_process(t, event, TM_STAT_LABELS);
    else if (tm_json_text_is(event->name, "thread_name"))
        name_thread(t, event);
}

/* --- the end: what is what --- */

/* A device that is recognized by its process's name, but not analyzed. */
static enum tm_accelerator accelerator_of(struct tm_chrome_tracks *t, const struct tm_chrome_process *process)
{
    char name[ACCELERATOR_MOST];
    size_t length, labels_length;
    const char *text = tm_names_text(t->trace->names, process->name, sizeof(name), &length);

    memcpy(name, text, length);
    text = tm_names_text(t->trace->names, process->labels, sizeof(name), &labels_length);
    return tm_accelerator_of_process(name, length, text, labels_length, t->has_ascend);
}

/* Names of other processes matter only if one process is Ascend's hardware. */
static void look_for_ascend(struct tm_chrome_tracks *t)
{
    for (uint64_t i = 0; i < tm_rows_count(t->processes) && !t->has_ascend; i++) {
        const struct tm_chrome_process process = *(const struct tm_chrome_process *)tm_rows_at(t->processes, i);

        t->has_ascend = accelerator_of(t, &process) == TM_ACCELERATOR_ASCEND;
    }
}

static void finish_process(struct tm_chrome_tracks *t, uint64_t number)
{
    struct tm_chrome_process process = *(const struct tm_chrome_process *)tm_rows_at(t->processes, number);
    const enum tm_accelerator accelerator = accelerator_of(t, &process);
    size_t length;
    const char *const text = tm_names_text(t->trace->names, process.name, NAME_MOST, &length);

    process.class = tm_class_of_process(text, length, accelerator);
    t->has_planes |= process.class.is_plane && process.class.side != TM_SIDE_OTHER;
    if (process.class.side == TM_SIDE_DEVICE &&
        tm_trace_device(t->trace, (enum tm_device_kind)process.class.device_kind, process.class.ordinal, text, length,
                        &process.device) != TM_OK)
        return;
    *(struct tm_chrome_process *)tm_rows_change(t->processes, number) = process;
}

/* A name for what the file leaves without one. */
static tm_strid name_after_id(struct tm_chrome_tracks *t, const char *what, const struct tm_json_id *id,
                              tm_strid id_text)
{
    char text[64];
    int used;

    if (id_text)
        return id_text;
    if (id->kind == TM_JSON_TEXT)
        used = snprintf(text, sizeof(text), "%s \"\"", what);
    else
        used = id->is_unsigned ? snprintf(text, sizeof(text), "%s %" PRIu64, what, (uint64_t)id->number)
                               : snprintf(text, sizeof(text), "%s %" PRId64, what, id->number);
    return tm_names_put(t->trace->names, text, (size_t)used);
}

/* PyTorch calls all processes alike, and labels them: "python (GPU 0)". */
static tm_strid name_plane(struct tm_chrome_tracks *t, const struct tm_chrome_process *process)
{
    char text[2 * NAME_MOST];
    const char *part;
    size_t length, used;

    if (!process->name)
        return name_after_id(t, "process", &process->id, process->id_text);
    if (!process->labels)
        return process->name;
    part = tm_names_text(t->trace->names, process->name, NAME_MOST / 2, &length);
    memcpy(text, part, length);
    memcpy(text + length, " (", 2);
    used = length + 2;
    part = tm_names_text(t->trace->names, process->labels, NAME_MOST / 2, &length);
    memcpy(text + used, part, length);
    text[used + length] = ')';
    return tm_names_put(t->trace->names, text, used + length + 1);
}

/* The file's name for a device with the number of its process: "AIU 0", "XPU 1".
 * out:    false: it does not have that form, and text is as it was */
static bool name_device(struct tm_chrome_tracks *t, const struct tm_chrome_process *owner, int64_t ordinal, char *text,
                        size_t room)
{
    char number[32];
    const size_t digits = (size_t)snprintf(number, sizeof(number), " %" PRId64, ordinal);
    size_t length, letters = 0;
    const char *const label = tm_names_text(t->trace->names, owner->labels, room - 1, &length);

    while (letters < length && label[letters] >= 'A' && label[letters] <= 'Z')
        letters++;
    if (!letters || length != letters + digits || memcmp(label + letters, number, digits) != 0)
        return false;
    memcpy(text, label, length);
    text[length] = '\0';
    return true;
}

/* A stream of a device that is identified by its events (PyTorch, rocprof): "GPU 0", "stream 7". */
static void finish_stream(struct tm_chrome_tracks *t, const struct tm_chrome_track *row,
                          const struct tm_chrome_process *owner, struct tm_track *track)
{
    char text[64];

    if (!name_device(t, owner, row->ordinal, text, sizeof(text)))
        (void)snprintf(text, sizeof(text), "GPU %" PRId64, row->ordinal);
    track->plane_name = tm_names_put_string(t->trace->names, text);
    track->name = name_after_id(t, "stream", &row->thread, row->thread_text);
    track->accelerator = row->accelerator;
    if (row->sort == TM_CHROME_UNKNOWN_DEVICE)
        return;
    track->side = TM_SIDE_DEVICE;
    track->line = TM_LINE_STREAM;
    if (tm_trace_device(t->trace, TM_DEVICE_GPU, row->ordinal, text, strlen(text), &track->device) != TM_OK)
        track->device = TM_NONE;
}

static void finish_thread(struct tm_chrome_tracks *t, const struct tm_chrome_track *row,
                          const struct tm_chrome_process *process, struct tm_track *track)
{
    const char *text;
    size_t length;

    track->device = process->device;
    track->name = row->name ? row->name : name_after_id(t, "thread", &row->thread, row->thread_text);
    text = tm_names_text(t->trace->names, track->name, NAME_MOST, &length);
    tm_classify_thread(&process->class, t->has_planes, text, length, track);
}

/* Its position among the others, which no name determines. */
static void place_track(const struct tm_chrome_track *row, const struct tm_chrome_process *owner,
                        struct tm_track *track)
{
    static const uint8_t sorts[] = {
        [TM_CHROME_THREAD] = TM_TRACK_THREAD,         [TM_CHROME_DEVICE] = TM_TRACK_THREAD,
        [TM_CHROME_UNKNOWN_DEVICE] = TM_TRACK_THREAD, [TM_CHROME_LOOSE] = TM_TRACK_LOOSE,
        [TM_CHROME_ASYNC] = TM_TRACK_ASYNC,           [TM_CHROME_FLOW] = TM_TRACK_FLOWS,
        [TM_CHROME_COUNTER] = TM_TRACK_COUNTERS,
    };

    track->id = row->thread.number;
    track->process_id = owner->id.number;
    track->process_order = owner->order;
    track->order = row->order;
    track->process = (uint32_t)row->number;
    track->sort = sorts[row->sort];
    track->stream = row->stream;
}

static void finish_track(struct tm_chrome_tracks *t, uint64_t number)
{
    static const char *const names[] = {
        [TM_CHROME_LOOSE] = "(no thread)",
        [TM_CHROME_ASYNC] = "(async)",
        [TM_CHROME_FLOW] = "(flows)",
        [TM_CHROME_COUNTER] = "(counters)",
    };
    const struct tm_chrome_track row = *(const struct tm_chrome_track *)tm_rows_at(t->tracks, number);
    const struct tm_chrome_process owner = *(const struct tm_chrome_process *)tm_rows_at(t->processes, row.process);
    struct tm_track track = { .device = TM_NONE, .thread = TM_NONE, .side = TM_SIDE_OTHER, .line = TM_LINE_OTHER };
    struct tm_track *to;

    place_track(&row, &owner, &track);
    if (has_device((enum tm_chrome_sort)row.sort))
        finish_stream(t, &row, &owner, &track);
    else
        track.plane_name = name_plane(t, &owner);
    if (row.sort == TM_CHROME_THREAD)
        finish_thread(t, &row, &owner, &track);
    else if (names[row.sort])
        track.name = tm_names_put_string(t->trace->names, names[row.sort]);
    to = tm_rows_change(t->trace->tracks, number);
    track.events = to->events;
    *to = track;
    if (track.accelerator)
        tm_tally_add(&t->run->tallies, TM_TALLY_UNKNOWN_DEVICE, track.events);
}

/* Give what the document says about a device to the one with its ordinal. */
static void take_properties(struct tm_trace *trace, const struct tm_chrome_device *from)
{
    for (uint32_t i = 0; i < trace->device_count; i++) {
        struct tm_device *d = &trace->devices[i];

        if (d->kind != TM_DEVICE_GPU || d->ordinal != from->id)
            continue;
        (void)snprintf(d->model, sizeof(d->model), "%s", from->name);
        d->memory_bytes = from->memory_bytes;
        d->core_count = from->core_count;
        d->capability_major = from->capability_major;
        d->capability_minor = from->capability_minor;
    }
}

void tm_chrome_tracks_finish(struct tm_chrome_tracks *t, const struct tm_chrome_header *header)
{
    look_for_ascend(t);
    for (uint64_t i = 0; i < tm_rows_count(t->processes) && !tm_failed(t->run); i++)
        finish_process(t, i);
    for (uint64_t i = 0; i < tm_rows_count(t->tracks) && !tm_failed(t->run); i++)
        finish_track(t, i);
    if (!tm_failed(t->run))
        tm_trace_order_devices(t->trace);
    for (uint32_t i = 0; i < header->device_count; i++)
        take_properties(t->trace, &header->devices[i]);
}
