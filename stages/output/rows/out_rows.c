/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for the writers, each written once in a file, and series of counters.  Memory: tables
 * that spill; lanes come in chunks that double, so that any lane of any track is found by two lookups. */
#include "stages/output/export/exporter.h"

#include <math.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/redact.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/hash.h"
#include "pipeline/store/sorter.h"
#include "stages/output/derived/derived.h"
#include "stages/output/trace_writer.h"

#define TM_OF " \u00b7 "
#define TM_OF_OURS TM_OF "tracemill"

enum {
    TM_FIRST_FREE_NUMBER = 1000001, /* of a pid or tid that the file does not give, or gives twice */
    TM_FIRST_PLANE = 1001,          /* pid of the first plane: a thread with the number of its process is taken for its
                                       main thread, and lines have small ones */
    TM_SIDE_PIDS = 100000000,       /* numbers of the processes of one run, where a file has two */
    TM_LANE_CHUNKS = 12,            /* of 1, 2, 4 ... lanes: all but the first one of TM_LANES_MOST */
    TM_OWN_RANKS = 8,               /* places before the threads of a process: our own rows and counters */
};

static_assert(1 << TM_LANE_CHUNKS == TM_LANES_MOST, "chunks hold all lanes");

/* A process of the trace, or ours, which is the last one. */
struct out_process {
    int64_t id, order; /* as the file has them */
    tm_strid name;
    int32_t pid, next_tid; /* next_tid: perhaps free */
    uint32_t device;       /* the first one of its tracks; TM_NONE = none */
    uint32_t file;         /* that has its row */
    uint32_t rank;         /* among the processes of the output */
    uint8_t group;         /* enum process_group */
};

enum process_group { GROUP_OURS, GROUP_DEVICE, GROUP_HOST, GROUP_REST, GROUP_UNUSED };

/* A track, or a row of our own. */
struct out_thread {
    tm_strid name;
    uint32_t process;
    int32_t tid;   /* 0: nothing is on it */
    uint32_t rank; /* among those of its process */
    uint32_t file;
    uint32_t lanes; /* row of `chunks`; 0 = none yet */
    uint8_t sort;   /* enum tm_out_sort */
};

struct out_lane {
    int32_t tid; /* 0 = not used yet */
    uint32_t file;
};

/* The positions in `lanes` where lanes 1, 2 to 3, 4 to 7 ... of a thread start, plus 1; 0 = nowhere yet. */
struct lane_chunks {
    uint64_t at[TM_LANE_CHUNKS];
};

/* A number that is in use: of a process, or of a thread of one (tid_key). */
struct taken_number {
    uint64_t key;
    uint64_t owner;
};

static inline uint64_t tid_key(uint32_t process, int64_t tid)
{
    return (uint64_t)process << 32 | (uint64_t)tid;
}

static inline bool is_number(int64_t id)
{
    return id > 0 && id <= INT32_MAX;
}

/* The places of our own rows and counters in our own process: those of all devices of one kind are together, so devices
 * can be compared.  What shows how a device works is in the device's own process, before its threads, if it has one. */
enum own_place { PLACE_STEPS, PLACE_GAPS, PLACE_BUSY, PLACE_QUEUE, PLACE_WORK };

enum {
    PLACE_VERDICT,
    PLACE_FINDINGS,                                          /* a row for each severity */
    PLACE_ALL_BUSY = PLACE_FINDINGS + TM_DERIVED_SEVERITIES, /* of all devices together */
    PLACE_ALL_IDLE,                                          /* by cause */
    PLACE_HOST_STEPS = PLACE_ALL_IDLE + TM_CAUSES_MOST,
    PLACE_DEVICES
};

static_assert(1 + (int)TM_WORK_COUNT < (int)TM_OWN_RANKS, "they come before the threads");

static inline uint32_t own_rank(const struct tm_out_rows *r, uint32_t device, enum own_place place)
{
    return PLACE_DEVICES + (uint32_t)place * r->device_count + device;
}

/* Assigns a number, a name and a place to each process and each thread of a host.  The first request for a number gets
 * it (an index has these); the others take the next free one.  Places come from a sort.  Memory: the sort and the index
 * are bounded and spill. */

enum { NAME_MOST = 4096, SIDE_MOST = 256 };

/* The next number from *next on that is not in `taken`. */
static int32_t next_free_number(struct tm_run *run, struct tm_index *taken, uint64_t base, int32_t *next)
{
    while (*next < INT32_MAX && tm_index_get(taken, base | (uint64_t)*next))
        ++*next;
    if (*next < INT32_MAX)
        return (*next)++;
    (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "no number is left for another process or thread");
    return 0;
}

/* --- processes --- */

/* A process on its way through the sort. */
struct process_place {
    int64_t order;
    uint32_t device, process;
    uint8_t group;
};

static int compare_processes(const void *a, const void *b)
{
    const struct process_place *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

static enum process_group group_of(const struct tm_track *track)
{
    if (track->side == TM_SIDE_DEVICE && track->device != TM_NONE)
        return GROUP_DEVICE;
    return track->side == TM_SIDE_HOST ? GROUP_HOST : GROUP_REST;
}

/* Information about its process in a track. */
static void take_track(struct tm_out_rows *r, const struct tm_track *track)
{
    const enum process_group group = group_of(track);
    const uint64_t count = tm_rows_count(r->processes);
    struct out_process *p;

    for (uint64_t i = count; i <= track->process && !tm_failed(r->run); i++) {
        static const struct out_process none = { .group = GROUP_UNUSED,
                                                 .next_tid = TM_FIRST_FREE_NUMBER,
                                                 .device = TM_NONE };

        tm_rows_append(r->processes, &none);
    }
    p = tm_rows_change(r->processes, track->process);
    if (p->group == GROUP_UNUSED) {
        p->id = track->process_id;
        p->order = track->process_order;
    }
    if (group < p->group)
        p->group = (uint8_t)group;
    if (group == GROUP_DEVICE && track->device < p->device)
        p->device = track->device;
    if (!p->name)
        p->name = track->plane_name;
}

static void take_tracks(struct tm_out_rows *r)
{
    struct out_process own = {
        .group = GROUP_OURS,
        .next_tid = TM_FIRST_FREE_NUMBER,
        .device = TM_NONE,
        .name = r->has_verdict || !r->names_hosts ? r->name_own : r->name_host,
    };

    r->track_count = tm_rows_count(r->trace->tracks);
    for (uint64_t i = 0; i < r->track_count && !tm_failed(r->run); i++) {
        const struct tm_track track = *(const struct tm_track *)tm_rows_at(r->trace->tracks, i);

        take_track(r, &track);
    }
    r->own_process = (uint32_t)tm_rows_count(r->processes);
    tm_rows_append(r->processes, &own);
}

/* The number that a process requests; 0 = any. */
static int32_t wanted_pid(struct tm_out_rows *r, const struct out_process *p)
{
    if (p->group == GROUP_OURS || r->side)
        return 0;
    if (r->trace->origin == TM_ORIGIN_XSPACE)
        return ++r->planes;
    return is_number(p->id) ? (int32_t)p->id : 0;
}

static void put_earlier_pids(struct tm_out_rows *r, struct tm_index *taken)
{
    for (uint64_t i = 0; i < tm_rows_count(r->pids); i++) {
        const int32_t *const pid = tm_rows_at(r->pids, i);

        tm_index_put(taken, &(struct taken_number){ (uint64_t)*pid, UINT64_MAX });
    }
}

/* Rank of each process, in the order of `places`, and the number that it requests. */
static void rank_processes(struct tm_out_rows *r, struct tm_sorter *places, struct tm_index *taken)
{
    const struct process_place *place;

    put_earlier_pids(r, taken);
    while ((place = tm_sorter_next(places))) {
        struct out_process *const p = tm_rows_change(r->processes, place->process);

        p->rank = r->side ? 2 * r->ranks++ + r->side->number : r->ranks++; /* of two runs those alike are together */
        p->pid = wanted_pid(r, p);
        if (p->device != TM_NONE && r->device_process[p->device] == r->own_process)
            r->device_process[p->device] = place->process;
        if (p->pid)
            tm_index_put(taken, &(struct taken_number){ (uint64_t)p->pid, place->process });
    }
    tm_index_finish(taken);
}

/* "/device:GPU:0 \u00b7 host0": viewers shorten a long name in its middle, and names of hosts often start alike.  Of
 * two runs "/device:GPU:0 \u00b7 base", or "... \u00b7 host0 \u00b7 base". */
static tm_strid name_process(struct tm_out_rows *r, tm_strid name)
{
    char full[NAME_MOST + 2 * sizeof(TM_OF) + sizeof(r->trace->host_name) + SIDE_MOST],
        host[sizeof(r->trace->host_name)];
    size_t length;
    const char *text;

    if (!r->names_hosts && !r->side)
        return name;
    text = tm_names_text(r->names, name, NAME_MOST, &length);
    memcpy(full, text, length);
    if (r->names_hosts) {
        (void)tm_redact_host(r->run->redactor, host, sizeof(host), r->trace->host_name);
        length += (size_t)snprintf(full + length, sizeof(full) - length, "%s%s", length ? TM_OF : "", host);
    }
    if (r->side)
        length += (size_t)snprintf(full + length, sizeof(full) - length, "%s%.*s", length ? TM_OF : "", SIDE_MOST - 1,
                                   r->side->label);
    return tm_names_put(r->names, full, length);
}

/* The first request keeps its number. */
static void number_processes(struct tm_out_rows *r, struct tm_sorter *places, struct tm_index *taken)
{
    const struct process_place *place;

    tm_sorter_rewind(places);
    while ((place = tm_sorter_next(places))) {
        struct out_process *const p = tm_rows_change(r->processes, place->process);
        const struct taken_number *const first = tm_index_get(taken, (uint64_t)p->pid);

        if (!p->pid || !first || first->owner != place->process)
            p->pid = next_free_number(r->run, taken, 0, &r->next_pid);
        tm_rows_append(r->pids, &p->pid);
        p->name = name_process(r, p->name);
    }
}

static void place_processes(struct tm_out_rows *r, struct tm_sorter *places)
{
    for (uint64_t i = 0; i < tm_rows_count(r->processes); i++) {
        const struct out_process *const p = tm_rows_at(r->processes, i);
        const struct process_place place = { p->order, p->device, (uint32_t)i, p->group };

        if (p->group != GROUP_UNUSED)
            tm_sorter_push(places, &place);
    }
    tm_sorter_finish(places);
}

static void order_processes(struct tm_out_rows *r)
{
    struct tm_sorter *const places =
        tm_sorter_new(r->run, TM_ACCOUNT_MODEL, sizeof(struct process_place), r->memory_bytes / 4, compare_processes);
    struct tm_index *const taken =
        tm_index_new(r->run, TM_ACCOUNT_MODEL, sizeof(struct taken_number), r->memory_bytes / 8, TM_INDEX_FIRST, NULL);

    r->device_count = r->trace->device_count;
    for (uint32_t i = 0; i < r->device_count; i++)
        r->device_process[i] = r->own_process;
    if (places && taken) {
        place_processes(r, places);
        rank_processes(r, places, taken);
        number_processes(r, places, taken);
    }
    tm_sorter_free(places);
    tm_index_free(taken);
}

/* --- threads --- */

struct thread_place {
    int64_t order;
    uint32_t process, track;
    int64_t id;
    uint8_t sort; /* enum tm_track_sort */
};

static int compare_threads(const void *a, const void *b)
{
    const struct thread_place *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->sort != y->sort)
        return x->sort < y->sort ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->track > y->track) - (x->track < y->track);
}

static bool has_row(uint8_t sort)
{
    return sort == TM_TRACK_THREAD || sort == TM_TRACK_LOOSE || sort == TM_TRACK_ASYNC;
}

/* Every track gets its row; a row without a number is sorted, one with a number requests it. */
static void take_thread(struct tm_out_rows *r, uint32_t number, const struct tm_track *track, struct tm_sorter *places)
{
    const struct out_thread row = { .name = track->name,
                                    .process = track->process,
                                    .sort = track->sort == TM_TRACK_THREAD ? TM_OUT_THREAD : TM_OUT_ROW };
    const bool by_number = group_of(track) == GROUP_DEVICE;
    const struct thread_place place = { .order = by_number ? track->id : track->order,
                                        .process = track->process,
                                        .track = number,
                                        .id = track->id,
                                        .sort = track->sort };
    const struct taken_number wish = { tid_key(track->process, track->id), number };

    tm_rows_append(r->threads, &row);
    if (has_row(track->sort))
        tm_sorter_push(places, &place);
    if (track->sort == TM_TRACK_THREAD && is_number(track->id))
        tm_index_put(r->tids, &wish);
}

static void number_thread(struct tm_out_rows *r, const struct thread_place *place, uint32_t rank)
{
    struct out_thread *const thread = tm_rows_change(r->threads, place->track);
    const struct taken_number *first = NULL;

    thread->rank = rank;
    if (place->sort == TM_TRACK_THREAD && is_number(place->id))
        first = tm_index_get(r->tids, tid_key(place->process, place->id));
    if (first && first->owner == place->track) {
        thread->tid = (int32_t)place->id;
        return;
    }
    struct out_process *const owner = tm_rows_change(r->processes, place->process);

    thread->tid = next_free_number(r->run, r->tids, tid_key(place->process, 0), &owner->next_tid);
}

static void number_threads(struct tm_out_rows *r, struct tm_sorter *places)
{
    uint32_t process = TM_NONE, rank = 0;
    const struct thread_place *place;

    tm_sorter_finish(places);
    while ((place = tm_sorter_next(places))) {
        rank = place->process == process ? rank + 1 : TM_OWN_RANKS;
        process = place->process;
        number_thread(r, place, rank);
    }
}

static void order_threads(struct tm_out_rows *r)
{
    struct tm_sorter *const places =
        tm_sorter_new(r->run, TM_ACCOUNT_MODEL, sizeof(struct thread_place), r->memory_bytes / 4, compare_threads);

    r->tids =
        tm_index_new(r->run, TM_ACCOUNT_MODEL, sizeof(struct taken_number), r->memory_bytes / 4, TM_INDEX_FIRST, NULL);
    for (uint64_t i = 0; i < r->track_count && !tm_failed(r->run); i++) {
        const struct tm_track track = *(const struct tm_track *)tm_rows_at(r->trace->tracks, i);

        take_thread(r, (uint32_t)i, &track, places);
    }
    if (places && r->tids) {
        tm_index_finish(r->tids);
        number_threads(r, places);
    }
    tm_sorter_free(places);
}

/* --- rows of our own, after the tracks: see tm_out_rows_derived --- */

/* "host steps \u00b7 tracemill \u00b7 base": the rows of two runs that are pinned together. */
static tm_strid name_own_row(struct tm_out_rows *r, tm_strid name)
{
    char full[TM_OWN_NAME_BYTES + sizeof(TM_OF) + SIDE_MOST];
    size_t length;
    const char *text;

    if (!r->side)
        return name;
    text = tm_names_text(r->names, name, TM_OWN_NAME_BYTES, &length);
    length =
        (size_t)snprintf(full, sizeof(full), "%.*s" TM_OF "%.*s", (int)length, text, SIDE_MOST - 1, r->side->label);
    return tm_names_put(r->names, full, length);
}

static void add_own_row(struct tm_out_rows *r, uint32_t process, tm_strid name, uint32_t rank)
{
    struct out_thread row = { .name = name_own_row(r, name), .process = process, .rank = rank, .sort = TM_OUT_ROW };
    struct out_process *const owner = tm_rows_change(r->processes, process);

    row.tid = next_free_number(r->run, r->tids, tid_key(process, 0), &owner->next_tid);
    tm_rows_append(r->threads, &row);
}

/* Find the devices that their process does not identify. */
static void find_sharing_devices(struct tm_out_rows *r)
{
    for (uint32_t i = 0; i < r->device_count; i++) {
        r->device_shares[i] = r->device_process[i] == r->own_process;
        for (uint32_t k = 0; k < i; k++)
            if (r->device_process[k] == r->device_process[i])
                r->device_shares[i] = r->device_shares[k] = true;
    }
}

/* Append as much of a text as fits.  For each value of a computed counter: printf takes several times as long.
 * in: at  < size: bytes before it.  out: bytes with it, without the null byte that is put after it */
static size_t append(char *to, size_t size, size_t at, const char *text)
{
    const size_t room = size - 1 - at, length = strnlen(text, room);

    memcpy(to + at, text, length);
    to[at + length] = '\0';
    return at + length;
}

void tm_out_rows_name_of_device(const struct tm_out_rows *r, uint32_t device, bool is_ours, const char *what,
                                char *name, size_t size)
{
    const char *id = "", *slash;
    size_t used;

    if (device < r->device_count && (is_ours || r->device_shares[device])) {
        id = r->trace->devices[device].id;
        slash = strrchr(id, '/');
        id = slash ? slash + 1 : id;
    }
    used = append(name, size, 0, id);
    used = append(name, size, used, *id ? " " : "");
    used = append(name, size, used, what);
    used = append(name, size, used, TM_OF_OURS);
    if (!is_ours || !r->names_hosts)
        return;
    (void)snprintf(name + used, size - used, "%s", r->of_host);
}

/* A row of the host, not of a device of it. */
static void add_host_row(struct tm_out_rows *r, const char *what, uint32_t place)
{
    char text[TM_OWN_NAME_BYTES];

    tm_out_rows_name_of_device(r, TM_NONE, true, what, text, sizeof(text));
    add_own_row(r, r->own_process, tm_names_put_string(r->names, text), place);
}

static void add_device_row(struct tm_out_rows *r, uint32_t device, const char *what, enum own_place place)
{
    char text[TM_OWN_NAME_BYTES];

    tm_out_rows_name_of_device(r, device, true, what, text, sizeof(text));
    add_own_row(r, r->own_process, tm_names_put_string(r->names, text), own_rank(r, device, place));
}

void tm_out_rows_add_work(struct tm_out_rows *r, const struct tm_derived_work_row *row)
{
    const uint32_t process = tm_out_rows_device_process(r, row->device);
    const bool is_ours = process == r->own_process;
    char text[TM_OWN_NAME_BYTES], what[TM_OWN_NAME_BYTES];
    size_t length;
    const char *const name = tm_names_text(r->names, row->name, sizeof(what) / 2, &length);

    (void)snprintf(what, sizeof(what), "%.*s", (int)length, name);
    tm_out_rows_name_of_device(r, row->device, is_ours, what, text, sizeof(text));
    add_own_row(r, process, tm_names_put_string(r->names, text),
                is_ours ? own_rank(r, row->device, PLACE_WORK) : 1 + row->work);
}

static void add_launches(struct tm_out_rows *r, uint32_t device)
{
    const uint32_t process = r->device_process[device];
    const bool is_ours = process == r->own_process;
    char text[TM_OWN_NAME_BYTES];

    tm_out_rows_name_of_device(r, device, is_ours, "launches", text, sizeof(text));
    add_own_row(r, process, tm_names_put_string(r->names, text), is_ours ? own_rank(r, device, PLACE_QUEUE) : 0);
}

static void add_own_rows(struct tm_out_rows *r)
{
    static const char *const findings_name[TM_DERIVED_SEVERITIES] = {
        [TM_DERIVED_CRITICAL] = "critical findings",
        [TM_DERIVED_WARNING] = "warning findings",
        [TM_DERIVED_INFO] = "info findings",
    };
    char host[sizeof(r->trace->host_name)];

    (void)tm_redact_host(r->run->redactor, host, sizeof(host), r->trace->host_name);
    (void)snprintf(r->of_host, sizeof(r->of_host), TM_OF "%s", host);
    find_sharing_devices(r);
    for (uint32_t i = 0; i < r->device_count; i++) {
        add_device_row(r, i, "steps", PLACE_STEPS);
        add_device_row(r, i, "idle gaps", PLACE_GAPS);
    }
    add_host_row(r, "host steps", PLACE_HOST_STEPS);
    for (uint32_t i = 0; i < TM_DERIVED_SEVERITIES; i++)
        add_host_row(r, findings_name[i], PLACE_FINDINGS + i);
    add_host_row(r, "verdict", PLACE_VERDICT);
    for (uint32_t i = 0; i < r->device_count; i++)
        add_launches(r, i);
}

enum { PAGE_BYTES = 4096, LANE_PLACES = 64 /* in the order of a process, for each thread */, SMALL_LANES = 16 };

static const int64_t after_threads = INT64_C(2000000000);

struct tm_out_rows *tm_out_rows_new(struct tm_run *run, struct tm_names *names, bool names_hosts, size_t memory_bytes)
{
    struct tm_out_rows *const r = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*r), &run->error);

    if (!r)
        return NULL;
    r->run = run;
    r->names = names;
    r->names_hosts = names_hosts;
    r->memory_bytes = memory_bytes;
    r->file = 1;
    r->next_pid = TM_FIRST_FREE_NUMBER;
    r->planes = TM_FIRST_PLANE - 1;
    r->pids = tm_rows_new_paged(run, TM_ACCOUNT_MODEL, sizeof(int32_t), memory_bytes / 32, PAGE_BYTES);
    r->name_own = tm_names_put_string(names, "Analysis" TM_OF_OURS);
    r->name_host = tm_names_put_string(names, "Host analysis" TM_OF_OURS);
    if (!tm_failed(run))
        return r;
    tm_out_rows_free(r);
    return NULL;
}

static void end_host(struct tm_out_rows *r)
{
    tm_rows_free(r->processes);
    tm_rows_free(r->threads);
    tm_rows_free(r->chunks);
    tm_rows_free(r->lanes);
    tm_index_free(r->tids);
    r->processes = r->threads = r->chunks = r->lanes = NULL;
    r->tids = NULL;
}

void tm_out_rows_set_side(struct tm_out_rows *r, const struct tm_export_side *side)
{
    r->side = side;
    r->next_pid += (int32_t)side->number * TM_SIDE_PIDS;
}

void tm_out_rows_free(struct tm_out_rows *r)
{
    if (!r)
        return;
    end_host(r);
    tm_rows_free(r->pids);
    tm_give(&r->run->budget, TM_ACCOUNT_MODEL, r, sizeof(*r));
}

void tm_out_rows_begin_host(struct tm_out_rows *r, const struct tm_trace *trace, bool has_verdict)
{
    const size_t part = r->memory_bytes / 16;
    static const struct lane_chunks none;

    end_host(r);
    memset(r->near, 0, sizeof(r->near)); /* numbers are the host's */
    r->trace = trace;
    r->has_verdict = has_verdict;
    r->processes = tm_rows_new(r->run, TM_ACCOUNT_MODEL, sizeof(struct out_process), 2 * part);
    r->threads = tm_rows_new(r->run, TM_ACCOUNT_MODEL, sizeof(struct out_thread), 4 * part);
    r->chunks = tm_rows_new_paged(r->run, TM_ACCOUNT_MODEL, sizeof(struct lane_chunks), part, PAGE_BYTES);
    r->lanes = tm_rows_new_paged(r->run, TM_ACCOUNT_MODEL, sizeof(struct out_lane), part / 2, PAGE_BYTES);
    if (!r->processes || !r->threads || !r->chunks || !r->lanes)
        return;
    tm_rows_append(r->chunks, &none);
    take_tracks(r);
    order_processes(r);
    order_threads(r);
    if (!tm_failed(r->run))
        add_own_rows(r);
}

void tm_out_rows_begin_file(struct tm_out_rows *r)
{
    memset(r->near, 0, sizeof(r->near));
    r->file++;
}

uint64_t tm_out_rows_derived(const struct tm_out_rows *r, enum tm_derived_sort sort, uint32_t device)
{
    const uint64_t of_host = r->track_count + 2 * (uint64_t)r->device_count;

    assert(sort == TM_DERIVED_STEP || sort == TM_DERIVED_GAP || sort == TM_DERIVED_FACTS);
    if (sort == TM_DERIVED_FACTS)
        return of_host + 1 + TM_DERIVED_SEVERITIES;
    return device < r->device_count ? r->track_count + 2 * (uint64_t)device + (sort == TM_DERIVED_GAP) : of_host;
}

uint64_t tm_out_rows_finding(const struct tm_out_rows *r, enum tm_derived_severity severity)
{
    return r->track_count + 2 * (uint64_t)r->device_count + 1 + (uint64_t)severity;
}

uint64_t tm_out_rows_work(const struct tm_out_rows *r, uint32_t row)
{
    return tm_out_rows_launches(r, r->device_count) + row;
}

uint64_t tm_out_rows_launches(const struct tm_out_rows *r, uint32_t device)
{
    return tm_out_rows_derived(r, TM_DERIVED_FACTS, TM_NONE) + 1 + device;
}

uint32_t tm_out_rows_own_process(const struct tm_out_rows *r)
{
    return r->own_process;
}

uint32_t tm_out_rows_device_process(const struct tm_out_rows *r, uint32_t device)
{
    return device < r->device_count ? r->device_process[device] : r->own_process;
}

/* --- the identity of a row --- */

/* Small where it can be, since each event carries it; what does not fit is a hash with the first bit set. */
static uint64_t uuid_of(const struct tm_out_rows *r, enum tm_out_sort sort, uint64_t number, uint64_t lane)
{
    const uint64_t host = r->trace->host + (r->side ? r->side->first_host : 0);
    const bool is_thread = sort == TM_OUT_THREAD;

    if (sort != TM_OUT_COUNTER && lane < SMALL_LANES && number <= UINT32_MAX && host <= UINT16_MAX)
        return (((host << 32 | number) * SMALL_LANES | lane) << 1 | is_thread) + 2;
    const uint64_t parts[] = { host, sort, number, lane };

    return tm_hash_key(parts, sizeof(parts)).low | UINT64_C(1) << 63;
}

static uint64_t uuid_of_thread(const struct tm_out_rows *r, uint64_t number, uint32_t lane)
{
    return uuid_of(r, TM_OUT_THREAD, number, lane);
}

/* --- writing them --- */

static void write_row(struct tm_trace_writer *writer, const struct tm_out_row *row, uint64_t *rows)
{
    ++*rows;
    writer->type->row(writer, row);
}

/* out: a copy */
static struct out_process use_process(struct tm_out_rows *r, struct tm_trace_writer *writer, uint32_t number,
                                      uint64_t *rows)
{
    const struct out_process process = *(const struct out_process *)tm_rows_at(r->processes, number);
    struct tm_out_row row = { .sort = number == r->own_process ? TM_OUT_GROUP : TM_OUT_PROCESS };

    if (process.file == r->file)
        return process;
    ((struct out_process *)tm_rows_change(r->processes, number))->file = r->file;
    row.uuid = uuid_of(r, TM_OUT_PROCESS, number, 0);
    row.pid = process.pid;
    row.order = process.rank;
    row.name = row.process = process.name;
    write_row(writer, &row, rows);
    return process;
}

/* The row of a lane past the first one; made with its own number where it is used for the first time. */
static struct out_lane *find_lane(struct tm_out_rows *r, uint64_t number, uint32_t lane)
{
    const unsigned chunk = 31 - (unsigned)__builtin_clz(lane);
    struct out_thread *const thread = tm_rows_change(r->threads, number);
    struct lane_chunks *chunks;

    if (!thread->lanes) {
        static const struct lane_chunks none;

        thread->lanes = (uint32_t)tm_rows_count(r->chunks);
        tm_rows_append(r->chunks, &none);
    }
    chunks = tm_rows_change(r->chunks, thread->lanes);
    if (!chunks->at[chunk]) {
        chunks->at[chunk] = tm_rows_count(r->lanes) + 1;
        tm_rows_resize(r->lanes, tm_rows_count(r->lanes) + (UINT64_C(1) << chunk));
    }
    return tm_rows_change(r->lanes, chunks->at[chunk] - 1 + lane - (1u << chunk));
}

/* Make the row of a thread that of one of its lanes. */
static void use_lane(struct tm_out_rows *r, struct tm_trace_writer *writer, uint64_t number, uint32_t lane,
                     uint32_t process, struct tm_out_row *row, uint64_t *rows)
{
    struct out_lane *const found = find_lane(r, number, lane);
    bool is_new;

    if (!found->tid) {
        struct out_process *const owner = tm_rows_change(r->processes, process);

        found->tid = next_free_number(r->run, r->tids, tid_key(process, 0), &owner->next_tid);
    }
    is_new = found->file != r->file;
    found->file = r->file;
    row->sort = TM_OUT_LANE;
    if (process != r->own_process) /* lanes of findings are beside each other, not folded into the first one */
        row->parent = row->uuid;
    row->uuid = uuid_of_thread(r, number, lane);
    row->lane = lane;
    row->tid = found->tid;
    row->order += lane < LANE_PLACES ? lane : LANE_PLACES - 1;
    if (is_new)
        write_row(writer, row, rows);
}

static void make_row(struct tm_out_rows *r, struct tm_trace_writer *writer, uint64_t number, uint32_t lane,
                     struct tm_out_row *row, uint64_t *rows)
{
    struct out_thread *const found = tm_rows_change(r->threads, number);
    const struct out_thread thread = *found;
    struct out_process process;

    found->file = r->file;
    process = use_process(r, writer, thread.process, rows);
    *row = (struct tm_out_row){
        .uuid = uuid_of_thread(r, number, 0),
        .parent = uuid_of(r, TM_OUT_PROCESS, thread.process, 0),
        .sort = thread.sort,
        .pid = process.pid,
        .tid = thread.tid,
        .name = thread.name,
        .process = process.name,
        .order = (int64_t)thread.rank * LANE_PLACES,
    };
    if (number == tm_out_rows_derived(r, TM_DERIVED_FACTS, TM_NONE))
        row->uuid = row->parent;
    if (thread.file != r->file)
        write_row(writer, row, rows);
    if (lane)
        use_lane(r, writer, number, lane, thread.process, row, rows);
}

const struct tm_out_row *tm_out_rows_make(struct tm_out_rows *r, struct tm_trace_writer *writer, uint64_t number,
                                          uint32_t lane, uint64_t *rows)
{
    struct near_row *const near = tm_near_row(r, number, lane);

    make_row(r, writer, number, lane, &near->row, rows);
    near->key = tm_near_key(number, lane);
    return &near->row;
}

/* in: counter  computed */
static uint32_t counter_rank(const struct tm_out_rows *r, const struct tm_counter_row *counter)
{
    switch ((enum tm_counter_order)counter->order) {
    case TM_COUNTER_ALL_BUSY:
        return PLACE_ALL_BUSY;
    case TM_COUNTER_ALL_IDLE:
        return PLACE_ALL_IDLE + counter->device;
    case TM_COUNTER_BUSY:
        return own_rank(r, counter->device, PLACE_BUSY);
    default:
        return counter->process == r->own_process ? own_rank(r, counter->device, PLACE_QUEUE) : 0;
    }
}

const struct tm_out_row *tm_out_rows_use_counter(struct tm_out_rows *r, struct tm_trace_writer *writer,
                                                 struct tm_counter_row *counter, uint64_t *rows)
{
    struct out_process process;

    if (counter->file == r->file)
        return &counter->row;
    process = use_process(r, writer, counter->process, rows);
    counter->file = r->file;
    counter->row = (struct tm_out_row){
        .uuid = uuid_of(r, TM_OUT_COUNTER, counter->process, counter->hash),
        .parent = uuid_of(r, TM_OUT_PROCESS, counter->process, 0),
        .sort = TM_OUT_COUNTER,
        .pid = process.pid,
        .name = counter->name,
        .process = process.name,
        .unit = counter->unit,
        .order = after_threads,
    };
    if (counter->order != TM_COUNTER_RECORDED)
        counter->row.order = (int64_t)counter_rank(r, counter) * LANE_PLACES;
    write_row(writer, &counter->row, rows);
    return &counter->row;
}

/* Series of counters: their identity, their names, and the last value of each, which a part starts with.
 * Memory: `model`: a table of numbers of at most 2 * TM_SERIES_MOST places, and rows that spill. */

enum { SLOTS_FIRST = 256, ROWS_BYTES = 64 << 10, SERIES_NAME_MOST = 1024 };

struct tm_series {
    struct tm_counter_row row;
    struct tm_counter_value last;
    uint64_t number; /* of its row, and 1; 0 = it is not kept: past TM_SERIES_MOST */
};

/* --- the table --- */

static void make_slots(struct tm_exporter *e, size_t count)
{
    struct tm_series_table *const t = &e->series;
    uint32_t *const slots = tm_take(&e->run->budget, TM_ACCOUNT_MODEL, count * sizeof(*slots), &e->run->error);

    if (!slots)
        return;
    for (uint64_t i = 0; i < tm_rows_count(t->rows); i++) {
        const struct tm_series *const series = tm_rows_at(t->rows, i);
        size_t at = (size_t)tm_hash_mix(series->row.hash, t->seed) & (count - 1);

        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    tm_give(&e->run->budget, TM_ACCOUNT_MODEL, t->slots, t->slot_count * sizeof(*t->slots));
    t->slots = slots;
    t->slot_count = count;
}

void tm_exporter_begin_counters(struct tm_exporter *e)
{
    tm_exporter_end_counters(e);
    memset(e->counters, 0, sizeof(e->counters));
    e->series.seed = tm_hash_seed(&e->series);
    e->series.rows = tm_rows_new_paged(e->run, TM_ACCOUNT_MODEL, sizeof(struct tm_series), ROWS_BYTES, PAGE_BYTES);
    make_slots(e, SLOTS_FIRST);
}

void tm_exporter_end_counters(struct tm_exporter *e)
{
    tm_rows_free(e->series.rows);
    tm_give(&e->run->budget, TM_ACCOUNT_MODEL, e->series.slots, e->series.slot_count * sizeof(*e->series.slots));
    e->series = (struct tm_series_table){ .rows = NULL };
}

/* The slot of a hash: of its series, or free. */
static size_t find_slot(struct tm_exporter *e, uint64_t hash)
{
    const struct tm_series_table *const t = &e->series;
    size_t slot = (size_t)tm_hash_mix(hash, t->seed) & (t->slot_count - 1);

    while (t->slots[slot] && ((const struct tm_series *)tm_rows_at(t->rows, t->slots[slot] - 1))->row.hash != hash)
        slot = (slot + 1) & (t->slot_count - 1);
    return slot;
}

/* --- their identity --- */

static uint64_t hash_counter(struct tm_exporter *e, const struct tm_counter_key *c)
{
    const uint64_t parts[5] = {
        (uint64_t)c->process << 8 | c->order,
        tm_names_info(e->names, c->name).hash.low,
        tm_names_info(e->names, c->key).hash.low,
        c->id ? tm_hash_key(c->id, c->id_length).low : 0,
        c->suffix ? tm_hash_key(c->suffix, strlen(c->suffix)).low : 0,
    };

    return tm_hash_key(parts, sizeof(parts)).low;
}

struct text {
    size_t length;
    char bytes[3 * SERIES_NAME_MOST + 8];
};

static void add(struct text *to, const char *text, size_t length)
{
    const size_t room = sizeof(to->bytes) - to->length;

    length = length < SERIES_NAME_MOST ? length : SERIES_NAME_MOST;
    length = length < room ? length : room;
    memcpy(to->bytes + to->length, text, length);
    to->length += length;
}

static void add_name(struct tm_exporter *e, struct text *to, tm_strid name)
{
    size_t length;
    const char *const text = tm_names_text(e->names, name, SERIES_NAME_MOST, &length);

    add(to, text, length);
}

static tm_strid name_counter(struct tm_exporter *e, const struct tm_counter_key *c)
{
    struct text text = { .length = 0 };

    add_name(e, &text, c->name);
    if (c->id) {
        add(&text, " [", 2);
        add(&text, c->id, c->id_length);
        add(&text, "]", 1);
    }
    if (c->key) {
        add(&text, " ", 1);
        add_name(e, &text, c->key);
    }
    if (c->suffix)
        add(&text, c->suffix, strlen(c->suffix));
    return tm_names_put(e->names, text.bytes, text.length);
}

/* --- writing --- */

/* The series of a counter; made if there is none, and kept as long as there is room. */
static struct tm_series *find_series(struct tm_exporter *e, const struct tm_counter_key *c, struct tm_series *fresh)
{
    struct tm_series_table *const t = &e->series;
    size_t slot;

    fresh->row.hash = hash_counter(e, c);
    slot = find_slot(e, fresh->row.hash);
    if (t->slots[slot])
        return tm_rows_change(t->rows, t->slots[slot] - 1);
    fresh->row.process = c->process;
    fresh->row.device = c->device;
    fresh->row.unit = c->unit;
    fresh->row.order = c->order;
    fresh->last.value = NAN;
    fresh->row.name = name_counter(e, c);
    if (tm_rows_count(t->rows) == TM_SERIES_MOST)
        return fresh;
    fresh->number = tm_rows_count(t->rows) + 1;
    tm_rows_append(t->rows, fresh);
    if (tm_failed(e->run))
        return fresh;
    t->slots[slot] = (uint32_t)fresh->number;
    if (tm_rows_count(t->rows) * 2 > t->slot_count)
        make_slots(e, t->slot_count * 2);
    return tm_rows_change(t->rows, tm_rows_count(t->rows) - 1);
}

static void write_value(struct tm_exporter *e, struct tm_series *series, int64_t time_ps, const struct tm_event *event,
                        bool is_repeated)
{
    const struct tm_out_counter counter = {
        .row = tm_out_rows_use_counter(e->rows, e->writer, &series->row, &e->counts.rows),
        .time_ps = time_ps,
        .value = series->last.value,
        .whole = series->last.whole,
        .is_whole = series->last.is_whole,
        .is_repeated = is_repeated,
        .trace = event ? e->trace : NULL,
        .start_ps = event ? event->record.start_ps : 0,
    };

    e->counts.counters++;
    tm_exporter_note_time(e, time_ps);
    e->writer->type->counter(e->writer, &counter);
}

static bool is_same(const struct tm_counter_value *a, const struct tm_counter_value *b)
{
    return a->is_whole == b->is_whole && (a->is_whole ? a->whole == b->whole : a->value == b->value);
}

uint64_t tm_exporter_count(struct tm_exporter *e, const struct tm_counter_key *c, const struct tm_counter_value *value,
                           int64_t time_ps)
{
    struct tm_series fresh = { .number = 0 };
    struct tm_series *const series = find_series(e, c, &fresh);

    if (c->only_changes && is_same(&series->last, value))
        return series->number;
    if (!series->number && e->may_cut)
        tm_tally_add(&e->run->tallies, TM_TALLY_COUNTER_NOT_REPEATED, 1);
    series->last = *value;
    write_value(e, series, time_ps, c->event, false);
    return series->number;
}

void tm_exporter_count_again(struct tm_exporter *e, uint64_t number, const struct tm_counter_value *value,
                             int64_t time_ps)
{
    struct tm_series *const series = tm_rows_change(e->series.rows, number - 1);

    series->last = *value;
    write_value(e, series, time_ps, NULL, false);
}

void tm_exporter_repeat_counters(struct tm_exporter *e, int64_t time_ps)
{
    for (uint64_t i = 0; i < tm_rows_count(e->series.rows) && !tm_failed(e->run); i++)
        write_value(e, tm_rows_change(e->series.rows, i), time_ps, NULL, true);
}
