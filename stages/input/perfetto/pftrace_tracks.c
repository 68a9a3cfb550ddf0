/* SPDX-License-Identifier: Apache-2.0 */
/* From track descriptors to planes, lines and devices.  A process or a thread is identified by its ids, regardless of
 * the number of its track; other tracks belong to the process of their nearest ancestor that has one, or are a process
 * with the name of their root.  Memory: tables that spill. */
#include "stages/input/perfetto/pftrace_tracks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/store/hash.h"
#include "pipeline/store/rows.h"
#include "stages/resolve/classes.h"

enum {
    NAME_MOST = 4096,
    ANCESTORS_MOST = 100, /* as the importer has it; also where tracks are their own ancestors */
};

#define OF "\xc2\xb7" /* a dot between blanks: before this program's name, and before that of a host */
#define OURS " " OF " tracemill"

/* Fields of TrackDescriptor and of what it has inside. */
/* clang-format off */
enum {
    TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8,
    TRACK_STATIC_NAME = 10, TRACK_RANK = 12, TRACK_ATRACE_NAME = 13
};
enum { PROCESS_PID = 1, PROCESS_CMDLINE = 2, PROCESS_SORT = 3, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_SORT = 3, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, COUNTER_TIMES = 4, COUNTER_INCREMENTAL = 5, COUNTER_UNIT_NAME = 6 };
enum { TREE_PROCESSES = 1, TREE_THREADS = 2, TREE_PID = 1, TREE_CMDLINE = 3, TREE_TID = 1, TREE_NAME = 2, TREE_TGID = 3 };
/* clang-format on */

struct process {
    int64_t pid, order;
    tm_strid name;
    bool has_pid;
    /* set at the end */
    uint32_t host, device;
    struct tm_process_class class;
};

tm_status tm_pftrace_tracks_open(struct tm_pftrace_tracks *t, struct tm_trace *trace)
{
    struct tm_run *const run = trace->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_METADATA);

    *t = (struct tm_pftrace_tracks){ .run = run, .trace = trace };
    t->numbers = tm_key_map_new(run, TM_ACCOUNT_METADATA, share / 16);
    t->thread_numbers = tm_key_map_new(run, TM_ACCOUNT_METADATA, share / 32);
    t->process_numbers = tm_key_map_new(run, TM_ACCOUNT_METADATA, share / 32);
    t->tracks = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct tm_pftrace_track), share / 16);
    t->threads = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(uint32_t), share / 64);
    t->processes = tm_rows_new(run, TM_ACCOUNT_METADATA, sizeof(struct process), share / 32);
    return run->error.status;
}

void tm_pftrace_tracks_close(struct tm_pftrace_tracks *t)
{
    if (!t->run)
        return;
    tm_key_map_free(t->numbers);
    tm_key_map_free(t->thread_numbers);
    tm_key_map_free(t->process_numbers);
    tm_rows_free(t->tracks);
    tm_rows_free(t->threads);
    tm_rows_free(t->processes);
    *t = (struct tm_pftrace_tracks){ .run = NULL };
}

/* --- numbers --- */

enum key_of { KEY_TRACK, KEY_THREAD, KEY_FLOWS, KEY_ASYNC, KEY_PID, KEY_ROOT };

static uint64_t number_of(struct tm_key_map *map, enum key_of what, uint64_t high, uint64_t low)
{
    const uint64_t parts[] = { (uint64_t)what, high, low >> TM_KEY_MEMBER_BITS };

    return tm_key_map_number(map, tm_hash_key(parts, sizeof(parts)), (uint32_t)low & ((1U << TM_KEY_MEMBER_BITS) - 1));
}

static uint32_t track_of(struct tm_pftrace_tracks *t, enum key_of what, uint64_t high, uint64_t low)
{
    const uint64_t number = number_of(t->numbers, what, high, low);

    if (number < tm_rows_count(t->tracks) || tm_failed(t->run))
        return (uint32_t)number;
    if (number >= TM_NONE)
        (void)tm_fail(&t->run->error, TM_ERR_LIMIT, -1, "the trace has more than %u tracks", TM_NONE - 1);
    tm_rows_append(t->tracks,
                   &(struct tm_pftrace_track){ .uuid = low, .holder = TM_NONE, .unit_times = 1, .last_ns = INT64_MIN });
    tm_rows_append(t->trace->tracks, &(struct tm_track){ .device = TM_NONE, .thread = TM_NONE });
    return (uint32_t)number;
}

uint32_t tm_pftrace_track(struct tm_pftrace_tracks *t, uint64_t uuid)
{
    return track_of(t, KEY_TRACK, 0, uuid);
}

uint32_t tm_pftrace_flows(struct tm_pftrace_tracks *t)
{
    const uint32_t number = track_of(t, KEY_FLOWS, 0, 0);

    ((struct tm_pftrace_track *)tm_rows_change(t->tracks, number))->kind = TM_PFTRACE_FLOWS;
    return number;
}

uint32_t tm_pftrace_async(struct tm_pftrace_tracks *t, uint32_t of)
{
    const struct tm_pftrace_track owner = *(const struct tm_pftrace_track *)tm_rows_at(t->tracks, of);
    const uint32_t number = track_of(t, KEY_ASYNC, 0, (uint64_t)owner.pid);
    struct tm_pftrace_track *const row = tm_rows_change(t->tracks, number);

    row->kind = TM_PFTRACE_ASYNC;
    row->pid = owner.pid;
    return number;
}

/* The track that represents a thread: the first one that is declared for it. */
static uint32_t thread_track(struct tm_pftrace_tracks *t, int64_t pid, int64_t tid, uint32_t number)
{
    const uint64_t thread = number_of(t->thread_numbers, KEY_THREAD, (uint64_t)pid, (uint64_t)tid);
    uint32_t *first;

    if (tm_failed(t->run))
        return number;
    if (thread >= tm_rows_count(t->threads))
        tm_rows_resize(t->threads, thread + 1);
    first = tm_rows_change(t->threads, thread);
    if (!*first)
        *first = number + 1;
    return *first - 1;
}

uint32_t tm_pftrace_thread(struct tm_pftrace_tracks *t, int64_t pid, int64_t tid)
{
    const uint32_t number = track_of(t, KEY_THREAD, (uint64_t)pid, (uint64_t)tid);
    const uint32_t first = thread_track(t, pid, tid, number);
    struct tm_pftrace_track *const row = tm_rows_change(t->tracks, number);

    row->kind = TM_PFTRACE_THREAD;
    row->pid = pid;
    row->tid = tid;
    row->holder = first == number ? TM_NONE : first;
    return first;
}

static struct process *process_of_pid(struct tm_pftrace_tracks *t, int64_t pid, uint64_t *number)
{
    struct process *process;

    *number = number_of(t->process_numbers, KEY_PID, 0, (uint64_t)pid);
    if (*number >= tm_rows_count(t->processes))
        tm_rows_resize(t->processes, *number + 1);
    process = tm_rows_change(t->processes, *number);
    process->pid = pid;
    process->has_pid = true;
    return process;
}

/* --- descriptors --- */

static tm_strid put_text(struct tm_pftrace_tracks *t, const struct tm_field *field)
{
    return tm_names_put(t->trace->names, (const char *)field->bytes, (size_t)field->value);
}

/* A descriptor as it is on the wire. */
struct declared {
    uint64_t uuid, parent;
    tm_strid name, owner_name, unit; /* owner: of a process or a thread */
    int64_t pid, tid, order;
    uint64_t unit_times;
    enum tm_pftrace_kind kind;
    bool has_order, is_incremental;
};

static void read_process(struct tm_pftrace_tracks *t, struct tm_wire bytes, struct declared *d)
{
    struct tm_field field;

    d->kind = TM_PFTRACE_PROCESS;
    while (tm_wire_next(&bytes, &field)) {
        if (field.key == TM_WIRE_KEY(PROCESS_PID, TM_WIRE_VARINT))
            d->pid = (int32_t)field.value;
        else if (field.key == TM_WIRE_KEY(PROCESS_NAME, TM_WIRE_LEN) ||
                 (field.key == TM_WIRE_KEY(PROCESS_CMDLINE, TM_WIRE_LEN) && !d->owner_name))
            d->owner_name = put_text(t, &field);
        else if (field.key == TM_WIRE_KEY(PROCESS_SORT, TM_WIRE_VARINT) && !d->has_order)
            d->order = (int32_t)field.value;
    }
    tm_pftrace_check_end(t->run, &bytes);
}

static void read_thread(struct tm_pftrace_tracks *t, struct tm_wire bytes, struct declared *d)
{
    struct tm_field field;

    d->kind = TM_PFTRACE_THREAD;
    while (tm_wire_next(&bytes, &field)) {
        if (field.key == TM_WIRE_KEY(THREAD_PID, TM_WIRE_VARINT))
            d->pid = (int32_t)field.value;
        else if (field.key == TM_WIRE_KEY(THREAD_TID, TM_WIRE_VARINT))
            d->tid = (int64_t)field.value;
        else if (field.key == TM_WIRE_KEY(THREAD_NAME, TM_WIRE_LEN))
            d->owner_name = put_text(t, &field);
        else if (field.key == TM_WIRE_KEY(THREAD_SORT, TM_WIRE_VARINT) && !d->has_order)
            d->order = (int32_t)field.value;
    }
    tm_pftrace_check_end(t->run, &bytes);
}

static void read_counter(struct tm_pftrace_tracks *t, struct tm_wire bytes, struct declared *d)
{
    static const char *const units[] = { NULL, "ns", "count", "bytes" };
    struct tm_field field;

    d->kind = TM_PFTRACE_COUNTER;
    while (tm_wire_next(&bytes, &field)) {
        if (field.key == TM_WIRE_KEY(COUNTER_UNIT, TM_WIRE_VARINT) && field.value &&
            field.value < sizeof(units) / sizeof(units[0]))
            d->unit = tm_names_put_string(t->trace->names, units[field.value]);
        else if (field.key == TM_WIRE_KEY(COUNTER_UNIT_NAME, TM_WIRE_LEN))
            d->unit = put_text(t, &field);
        else if (field.key == TM_WIRE_KEY(COUNTER_TIMES, TM_WIRE_VARINT) && field.value)
            d->unit_times = field.value;
        else if (field.key == TM_WIRE_KEY(COUNTER_INCREMENTAL, TM_WIRE_VARINT))
            d->is_incremental = field.value != 0;
    }
    tm_pftrace_check_end(t->run, &bytes);
}

static void read_field(struct tm_pftrace_tracks *t, const struct tm_field *field, struct declared *d)
{
    switch (field->key) {
    case TM_WIRE_KEY(TRACK_UUID, TM_WIRE_VARINT):
        d->uuid = field->value;
        break;
    case TM_WIRE_KEY(TRACK_PARENT, TM_WIRE_VARINT):
        d->parent = field->value;
        break;
    case TM_WIRE_KEY(TRACK_NAME, TM_WIRE_LEN):
    case TM_WIRE_KEY(TRACK_STATIC_NAME, TM_WIRE_LEN):
    case TM_WIRE_KEY(TRACK_ATRACE_NAME, TM_WIRE_LEN):
        d->name = put_text(t, field);
        break;
    case TM_WIRE_KEY(TRACK_RANK, TM_WIRE_VARINT):
        d->order = (int32_t)field->value;
        d->has_order = true;
        break;
    case TM_WIRE_KEY(TRACK_PROCESS, TM_WIRE_LEN):
        read_process(t, tm_wire_of(field), d);
        break;
    case TM_WIRE_KEY(TRACK_THREAD, TM_WIRE_LEN):
        read_thread(t, tm_wire_of(field), d);
        break;
    case TM_WIRE_KEY(TRACK_COUNTER, TM_WIRE_LEN):
        read_counter(t, tm_wire_of(field), d);
        break;
    default:
        break;
    }
}

/* A row that an earlier conversion computed: "steps \u00b7 tracemill", in a file of several hosts with one of them. */
static bool is_ours(struct tm_pftrace_tracks *t, tm_strid name)
{
    size_t length;
    const char *const text = tm_names_text(t->trace->names, name, NAME_MOST, &length);
    const char *const found = memmem(text, length, OURS, strlen(OURS));
    const size_t left = found ? length - (size_t)(found - text) - strlen(OURS) : 0;

    return found && (!left || (left > 4 && memcmp(found + strlen(OURS), " " OF " ", 4) == 0));
}

/* The host that a process of an own file is named after: "/device:GPU:0 \u00b7 host1".
 * out: *base  bytes of the name before it */
static uint32_t host_of(struct tm_pftrace_tracks *t, tm_strid name, size_t *base)
{
    size_t length;
    const char *const text = tm_names_text(t->trace->names, name, NAME_MOST, &length);
    const char *at = NULL;
    char host[NAME_MOST];
    tm_strid id;

    *base = length;
    for (size_t i = 0; i + 4 < length; i++)
        if (memcmp(text + i, " " OF " ", 4) == 0)
            at = text + i;
    if (!at || !t->is_own)
        return 0;
    *base = (size_t)(at - text);
    memcpy(host, at + 4, length - *base - 4);
    id = tm_names_put(t->trace->names, host, length - *base - 4);
    for (uint32_t i = 0; i < t->host_count; i++)
        if (tm_names_are_same(t->trace->names, t->hosts[i], id))
            return i;
    if (t->host_count == sizeof(t->hosts) / sizeof(t->hosts[0]))
        return t->host_count - 1;
    t->hosts[t->host_count] = id;
    return t->host_count++;
}

/* What follows from the tracks around it, if they are declared already, as in files of this program.
 * in: parent  a copy of its row */
static void take_relations(struct tm_pftrace_tracks *t, uint32_t number, struct tm_pftrace_track *row,
                           const struct tm_pftrace_track *parent, uint32_t parent_number)
{
    const bool is_lane = t->is_own && row->kind == TM_PFTRACE_PLAIN && parent && parent->kind == TM_PFTRACE_THREAD &&
                         tm_names_are_same(t->trace->names, parent->name, row->name);
    uint32_t first = number;

    row->is_computed = t->is_own && ((parent && parent->is_computed) || is_ours(t, row->name));
    if (parent)
        row->host = parent->host;
    if (row->kind == TM_PFTRACE_THREAD)
        first = thread_track(t, row->pid, row->tid, number);
    else if (is_lane)
        first = parent->holder == TM_NONE ? parent_number : parent->holder;
    row->holder = first == number ? TM_NONE : first;
    row->is_lane = is_lane;
}

static void set_name(struct tm_pftrace_tracks *t, tm_strid *name, tm_strid wanted)
{
    if (!wanted)
        return;
    if (*name && !tm_names_are_same(t->trace->names, *name, wanted))
        tm_tally_add(&t->run->tallies, TM_TALLY_RENAMED, 1);
    *name = wanted;
}

/* A process names all tracks that have its pid. */
static void declare_process(struct tm_pftrace_tracks *t, const struct declared *d)
{
    uint64_t number;
    struct process *const process = process_of_pid(t, d->pid, &number);
    tm_strid name = process->name;

    process->order = d->order;
    set_name(t, &name, d->owner_name ? d->owner_name : d->name);
    ((struct process *)tm_rows_change(t->processes, number))->name = name;
}

void tm_pftrace_declare(struct tm_pftrace_tracks *t, struct tm_wire bytes)
{
    struct declared d = { .kind = TM_PFTRACE_PLAIN, .unit_times = 1 };
    struct tm_pftrace_track row, parent;
    struct tm_field field;
    uint32_t number, parent_number;
    size_t base;

    while (tm_wire_next(&bytes, &field))
        read_field(t, &field, &d);
    tm_pftrace_check_end(t->run, &bytes);
    if (!d.uuid && d.kind == TM_PFTRACE_PLAIN) /* of the trace itself: how rows are ordered */
        return;
    number = tm_pftrace_track(t, d.uuid);
    parent_number = d.parent && d.parent != d.uuid ? tm_pftrace_track(t, d.parent) : number;
    if (tm_failed(t->run))
        return;
    row = *(const struct tm_pftrace_track *)tm_rows_at(t->tracks, number);
    parent = *(const struct tm_pftrace_track *)tm_rows_at(t->tracks, parent_number);
    row.kind = (uint8_t)d.kind;
    row.parent = d.parent == d.uuid ? 0 : d.parent;
    row.order = d.order;
    row.unit = d.unit;
    row.unit_times = d.unit_times;
    row.is_incremental = d.is_incremental;
    if (d.kind == TM_PFTRACE_PROCESS || d.kind == TM_PFTRACE_THREAD) {
        row.pid = d.pid;
        row.tid = d.tid;
    }
    set_name(t, &row.name, d.kind == TM_PFTRACE_THREAD || d.kind == TM_PFTRACE_PROCESS ? d.owner_name : d.name);
    if (d.kind == TM_PFTRACE_PROCESS) {
        declare_process(t, &d);
        row.host = host_of(t, row.name, &base);
    }
    take_relations(t, number, &row, parent_number == number ? NULL : &parent, parent_number);
    if (!tm_failed(t->run))
        *(struct tm_pftrace_track *)tm_rows_change(t->tracks, number) = row;
}

/* A process or a thread as the system lists it: names for those that no descriptor names. */
static void take_tree_entry(struct tm_pftrace_tracks *t, struct tm_wire bytes, bool is_thread)
{
    struct tm_field field;
    int64_t id = 0, group = 0;
    tm_strid name = 0;

    while (tm_wire_next(&bytes, &field)) {
        if (field.key == TM_WIRE_KEY(TREE_PID, TM_WIRE_VARINT))
            id = (int32_t)field.value;
        else if (is_thread && field.key == TM_WIRE_KEY(TREE_TGID, TM_WIRE_VARINT))
            group = (int32_t)field.value;
        else if (!name && field.key == TM_WIRE_KEY(is_thread ? TREE_NAME : TREE_CMDLINE, TM_WIRE_LEN))
            name = put_text(t, &field);
    }
    tm_pftrace_check_end(t->run, &bytes);
    if (!name || tm_failed(t->run))
        return;
    if (is_thread) {
        struct tm_pftrace_track *const row = tm_rows_change(t->tracks, tm_pftrace_thread(t, group, id));

        row->name = row->name ? row->name : name;
    } else {
        uint64_t number;
        struct process *const process = process_of_pid(t, id, &number);

        process->name = process->name ? process->name : name;
    }
}

void tm_pftrace_take_processes(struct tm_pftrace_tracks *t, struct tm_wire bytes)
{
    struct tm_field field;

    while (tm_wire_next(&bytes, &field) && !tm_failed(t->run))
        if (field.key == TM_WIRE_KEY(TREE_PROCESSES, TM_WIRE_LEN) ||
            field.key == TM_WIRE_KEY(TREE_THREADS, TM_WIRE_LEN))
            take_tree_entry(t, tm_wire_of(&field), field.key >> TM_WIRE_TYPE_BITS == TREE_THREADS);
    tm_pftrace_check_end(t->run, &bytes);
}

/* --- the end: processes --- */

static bool has_process(const struct tm_pftrace_track *row)
{
    return row->kind == TM_PFTRACE_PROCESS || row->kind == TM_PFTRACE_THREAD || row->kind == TM_PFTRACE_ASYNC;
}

/* The nearest ancestor that is a process or a thread, else the outermost one.  The search ends
 * even if a track is its own ancestor. */
static struct tm_pftrace_track ancestor_of(struct tm_pftrace_tracks *t, const struct tm_pftrace_track *of)
{
    struct tm_pftrace_track at = *of;

    for (int i = 0; i < ANCESTORS_MOST && !has_process(&at) && at.parent; i++)
        at = *(const struct tm_pftrace_track *)tm_rows_at(t->tracks, tm_pftrace_track(t, at.parent));
    return at;
}

/* The process of a track; its row is made. */
static uint64_t process_of(struct tm_pftrace_tracks *t, const struct tm_pftrace_track *row)
{
    const struct tm_pftrace_track ancestor = ancestor_of(t, row);
    struct process *process;
    uint64_t number;

    if (has_process(&ancestor)) {
        (void)process_of_pid(t, ancestor.pid, &number);
        return number;
    }
    number = number_of(t->process_numbers, KEY_ROOT, 0, ancestor.parent ? 0 : ancestor.uuid);
    if (number >= tm_rows_count(t->processes)) {
        tm_rows_resize(t->processes, number + 1);
        process = tm_rows_change(t->processes, number);
        process->name = ancestor.name ? ancestor.name : tm_names_put_string(t->trace->names, "(no process)");
        process->order = ancestor.order;
    }
    return number;
}

static void name_process(struct tm_pftrace_tracks *t, struct process *process)
{
    char text[64];

    if (process->name || !process->has_pid)
        return;
    (void)snprintf(text, sizeof(text), "process %" PRId64, process->pid);
    process->name = tm_names_put_string(t->trace->names, text);
}

static void finish_process(struct tm_pftrace_tracks *t, uint64_t number)
{
    struct process process = *(const struct process *)tm_rows_at(t->processes, number);
    const char *name;
    size_t length;

    name_process(t, &process);
    process.host = host_of(t, process.name, &length);
    name = tm_names_text(t->trace->names, process.name, NAME_MOST, NULL);
    process.device = TM_NONE;
    process.class = tm_class_of_process(name, length, tm_accelerator_of_process(name, length, "", 0, false));
    t->has_planes |= process.class.is_plane && process.class.side != TM_SIDE_OTHER;
    *(struct process *)tm_rows_change(t->processes, number) = process;
}

/* Number the devices of several hosts consecutively. */
static void number_devices(struct tm_pftrace_tracks *t)
{
    int64_t *const first = t->first_ordinal;
    const uint64_t count = tm_rows_count(t->processes);

    for (uint64_t i = 0; i < count && t->host_count > 1; i++) {
        const struct process *const p = tm_rows_at(t->processes, i);

        if (p->class.side == TM_SIDE_DEVICE && p->class.ordinal < TM_DEVICES_MOST &&
            p->class.ordinal + 1 > first[p->host + 1])
            first[p->host + 1] = p->class.ordinal + 1;
    }
    for (uint32_t i = 1; i < t->host_count; i++)
        first[i] += first[i - 1];
    for (uint64_t i = 0; i < count && !tm_failed(t->run); i++) {
        struct process process = *(const struct process *)tm_rows_at(t->processes, i);
        const char *name;
        size_t length;

        if (process.class.side != TM_SIDE_DEVICE)
            continue;
        process.class.ordinal += first[process.host];
        name = tm_names_text(t->trace->names, process.name, NAME_MOST, &length);
        if (tm_trace_device(t->trace, (enum tm_device_kind)process.class.device_kind, process.class.ordinal, name,
                            length, &process.device) != TM_OK)
            return;
        *(struct process *)tm_rows_change(t->processes, i) = process;
    }
}

/* --- the end: tracks --- */

static tm_strid name_thread(struct tm_pftrace_tracks *t, const struct tm_pftrace_track *row)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "thread %" PRId64, row->tid);
    return row->name ? row->name : tm_names_put_string(t->trace->names, text);
}

/* "GPU 1": the device of a stream, as the conversion of PyTorch's traces names it. */
static bool ordinal_in_name(struct tm_pftrace_tracks *t, const struct process *process, int64_t *ordinal)
{
    size_t length;
    const char *const text = tm_names_text(t->trace->names, process->name, NAME_MOST, &length);
    char name[NAME_MOST] = "GPU";

    if (length < 5 || memcmp(text, "GPU ", 4) != 0)
        return false;
    memcpy(name + 3, text + 4, length - 4);
    return tm_is_gpu_process(name, length - 1, ordinal);
}

/* A stream whose events are on a device. */
static void finish_stream(struct tm_pftrace_tracks *t, const struct tm_pftrace_track *row,
                          const struct process *process, struct tm_track *track)
{
    int64_t ordinal = row->given_ordinal;
    char text[64];

    (void)ordinal_in_name(t, process, &ordinal);
    (void)snprintf(text, sizeof(text), "GPU %" PRId64, ordinal);
    track->sort = TM_TRACK_THREAD;
    track->name = name_thread(t, row);
    track->accelerator = row->accelerator;
    if (row->accelerator)
        return;
    track->side = TM_SIDE_DEVICE;
    track->line = TM_LINE_STREAM;
    if (tm_trace_device(t->trace, TM_DEVICE_GPU, ordinal, text, strlen(text), &track->device) != TM_OK)
        track->device = TM_NONE;
}

static void finish_line(struct tm_pftrace_tracks *t, const struct tm_pftrace_track *row, const struct process *process,
                        struct tm_track *track)
{
    const char *text;
    size_t length;

    track->sort = TM_TRACK_THREAD;
    track->device = process->device;
    track->name = row->kind == TM_PFTRACE_THREAD || !row->name ? name_thread(t, row) : row->name;
    text = tm_names_text(t->trace->names, track->name, NAME_MOST, &length);
    tm_classify_thread(&process->class, t->has_planes, text, length, track);
}

static void finish_other(struct tm_pftrace_tracks *t, const struct tm_pftrace_track *row, const struct process *process,
                         struct tm_track *track)
{
    static const struct {
        uint8_t sort;
        const char *name;
    } kinds[] = {
        [TM_PFTRACE_UNDECLARED] = { TM_TRACK_LOOSE, "(no thread)" },
        [TM_PFTRACE_PROCESS] = { TM_TRACK_LOOSE, "(no thread)" },
        [TM_PFTRACE_PLAIN] = { TM_TRACK_LOOSE, "(no name)" },
        [TM_PFTRACE_COUNTER] = { TM_TRACK_COUNTERS, "(counters)" },
        [TM_PFTRACE_FLOWS] = { TM_TRACK_FLOWS, "(flows)" },
        [TM_PFTRACE_ASYNC] = { TM_TRACK_ASYNC, "(async)" },
    };
    const bool has_own_name = (row->kind == TM_PFTRACE_PLAIN || row->kind == TM_PFTRACE_COUNTER) && row->name;

    if (row->kind == TM_PFTRACE_PLAIN && !t->has_planes && !t->is_own &&
        process->class.side == TM_SIDE_HOST) { /* like a thread */
        track->side = TM_SIDE_HOST;
        track->line = TM_LINE_HOST;
    }
    track->sort = kinds[row->kind].sort;
    track->name = has_own_name ? row->name : tm_names_put_string(t->trace->names, kinds[row->kind].name);
    track->unit = row->unit;
}

static void finish_track(struct tm_pftrace_tracks *t, uint64_t number)
{
    const struct tm_pftrace_track row = *(const struct tm_pftrace_track *)tm_rows_at(t->tracks, number);
    const uint64_t process_number = process_of(t, &row);
    const struct process process = *(const struct process *)tm_rows_at(t->processes, process_number);
    struct tm_track track = { .device = TM_NONE, .thread = TM_NONE, .side = TM_SIDE_OTHER, .line = TM_LINE_OTHER };
    struct tm_track *to;

    track.id = row.kind == TM_PFTRACE_THREAD ? row.tid : 0;
    track.process_id = process.pid;
    track.process_order = process.order;
    track.order = row.order;
    track.process = (uint32_t)process_number;
    track.plane_name = process.name;
    if (row.has_given_device)
        finish_stream(t, &row, &process, &track);
    else if (row.kind == TM_PFTRACE_THREAD || (row.kind == TM_PFTRACE_PLAIN && process.class.side == TM_SIDE_DEVICE))
        finish_line(t, &row, &process, &track);
    else
        finish_other(t, &row, &process, &track);
    to = tm_rows_change(t->trace->tracks, number);
    track.events = to->events;
    *to = track;
    if (track.accelerator)
        tm_tally_add(&t->run->tallies, TM_TALLY_UNKNOWN_DEVICE, track.events);
}

void tm_pftrace_tracks_finish(struct tm_pftrace_tracks *t)
{
    const uint64_t count = tm_rows_count(t->tracks);

    for (uint64_t i = 0; i < count && !tm_failed(t->run); i++) {
        const struct tm_pftrace_track row = *(const struct tm_pftrace_track *)tm_rows_at(t->tracks, i);

        (void)process_of(t, &row);
    }
    for (uint64_t i = 0; i < tm_rows_count(t->processes) && !tm_failed(t->run); i++)
        finish_process(t, i);
    if (!tm_failed(t->run))
        number_devices(t);
    for (uint64_t i = 0; i < count && !tm_failed(t->run); i++)
        finish_track(t, i);
    if (!tm_failed(t->run))
        tm_trace_order_devices(t->trace);
}
