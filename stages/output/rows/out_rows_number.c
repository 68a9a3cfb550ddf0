/* SPDX-License-Identifier: Apache-2.0 */
/* Which number, which name and which place each process and each thread of a host gets.  Who asks for a number first
 * has it: an index tells who did; the others take the next free one.  Places come from a sort.  Memory: the sort and
 * the index are bounded and spill. */
#include <stdio.h>
#include <string.h>

#include "pipeline/redact.h"
#include "stages/output/rows/out_rows_private.h"

enum { NAME_MOST = 4096 };

tm_status tm_next_free_number(struct tm_run *run, struct tm_index *taken, uint64_t base, int32_t *next, int32_t *number)
{
    const void *row;
    tm_status st;

    for (;;) {
        if (*next == INT32_MAX)
            return tm_fail(&run->error, TM_ERR_LIMIT, -1, "no number is left for another process or thread");
        st = tm_index_get(taken, base | (uint64_t)*next, &row);
        if (st != TM_OK || !row)
            break;
        ++*next;
    }
    *number = (*next)++;
    return st;
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

/* What a track tells of its process. */
static tm_status take_track(struct tm_out_rows *r, const struct tm_track *track)
{
    const enum process_group group = group_of(track);
    const uint64_t count = tm_rows_count(r->processes);
    struct out_process *p;

    for (uint64_t i = count; i <= track->process; i++) {
        static const struct out_process none = { .group = GROUP_UNUSED, .next_tid = TM_FIRST_FREE_NUMBER,
                                                 .device = TM_NONE };
        const tm_status st = tm_rows_append(r->processes, &none);

        if (st != TM_OK)
            return st;
    }
    p = tm_rows_change(r->processes, track->process);
    if (!p)
        return r->run->error.status;
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
    return TM_OK;
}

static tm_status take_tracks(struct tm_out_rows *r)
{
    struct out_process own = { .group = GROUP_OURS, .next_tid = TM_FIRST_FREE_NUMBER, .device = TM_NONE,
                               .name = r->name_own };

    r->track_count = tm_rows_count(r->trace->tracks);
    for (uint64_t i = 0; i < r->track_count; i++) {
        const struct tm_track *const at = tm_rows_at(r->trace->tracks, i);
        struct tm_track track;
        tm_status st;

        if (!at)
            return r->run->error.status;
        track = *at;
        st = take_track(r, &track);
        if (st != TM_OK)
            return st;
    }
    r->own_process = (uint32_t)tm_rows_count(r->processes);
    return tm_rows_append(r->processes, &own);
}

/* The number that a process wishes for; 0 = any. */
static int32_t wanted_pid(struct tm_out_rows *r, const struct out_process *p)
{
    if (p->group == GROUP_OURS)
        return 0;
    if (r->trace->origin == TM_ORIGIN_XSPACE)
        return ++r->planes;
    return is_number(p->id) ? (int32_t)p->id : 0;
}

static tm_status put_earlier_pids(struct tm_out_rows *r, struct tm_index *taken)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < tm_rows_count(r->pids) && st == TM_OK; i++) {
        const int32_t *const pid = tm_rows_at(r->pids, i);

        if (!pid)
            return r->run->error.status;
        st = tm_index_put(taken, &(struct taken_number){ (uint64_t)*pid, UINT64_MAX });
    }
    return st;
}

/* Rank of each process, in the order of `places`, and what number it wishes for. */
static tm_status rank_processes(struct tm_out_rows *r, struct tm_sorter *places, struct tm_index *taken)
{
    const void *next;
    tm_status st = put_earlier_pids(r, taken);

    while (st == TM_OK) {
        const struct process_place *place;
        struct out_process *p;

        st = tm_sorter_next(places, &next);
        if (st != TM_OK || !next)
            break;
        place = next;
        p = tm_rows_change(r->processes, place->process);
        if (!p)
            return r->run->error.status;
        p->rank = r->ranks++;
        p->pid = wanted_pid(r, p);
        if (p->device != TM_NONE && r->device_process[p->device] == r->own_process)
            r->device_process[p->device] = place->process;
        if (p->pid)
            st = tm_index_put(taken, &(struct taken_number){ (uint64_t)p->pid, place->process });
    }
    return st == TM_OK ? tm_index_finish(taken) : st;
}

/* "/device:GPU:0 \u00b7 host0": viewers shorten a long name in its middle, and names of hosts often begin alike. */
static tm_status name_process(struct tm_out_rows *r, tm_strid *name)
{
    char full[NAME_MOST + sizeof(TM_OF) + sizeof(r->trace->host_name)], host[sizeof(r->trace->host_name)];
    size_t length;
    const char *text;
    tm_status st;

    if (!r->names_hosts)
        return TM_OK;
    st = tm_names_text(r->names, *name, NAME_MOST, &text, &length);
    if (st != TM_OK)
        return st;
    memcpy(full, text, length);
    st = tm_redact_host(r->run->redactor, host, sizeof(host), r->trace->host_name);
    if (st != TM_OK)
        return st;
    length += (size_t)snprintf(full + length, sizeof(full) - length, "%s%s", length ? TM_OF : "", host);
    return tm_names_put(r->names, full, length, name);
}

/* Who asked first keeps its number. */
static tm_status number_processes(struct tm_out_rows *r, struct tm_sorter *places, struct tm_index *taken)
{
    const void *next, *row;
    tm_status st = tm_sorter_rewind(places);

    while (st == TM_OK) {
        struct out_process *p;
        uint32_t number;

        st = tm_sorter_next(places, &next);
        if (st != TM_OK || !next)
            break;
        number = ((const struct process_place *)next)->process;
        p = tm_rows_change(r->processes, number);
        if (!p)
            return r->run->error.status;
        st = tm_index_get(taken, (uint64_t)p->pid, &row);
        if (st == TM_OK && (!p->pid || !row || ((const struct taken_number *)row)->owner != number))
            st = tm_next_free_number(r->run, taken, 0, &r->next_pid, &p->pid);
        if (st == TM_OK)
            st = tm_rows_append(r->pids, &p->pid);
        if (st == TM_OK)
            st = name_process(r, &p->name);
    }
    return st;
}

static tm_status place_processes(struct tm_out_rows *r, struct tm_sorter *places)
{
    tm_status st = TM_OK;

    for (uint64_t i = 0; i < tm_rows_count(r->processes) && st == TM_OK; i++) {
        const struct out_process *const p = tm_rows_at(r->processes, i);
        struct process_place place;

        if (!p)
            return r->run->error.status;
        place = (struct process_place){ p->order, p->device, (uint32_t)i, p->group };
        if (p->group != GROUP_UNUSED)
            st = tm_sorter_push(places, &place);
    }
    return st == TM_OK ? tm_sorter_finish(places) : st;
}

static tm_status order_processes(struct tm_out_rows *r)
{
    struct tm_sorter *const places = tm_sorter_new(r->run, TM_ACCOUNT_MODEL, sizeof(struct process_place),
                                                   r->memory_bytes / 4, compare_processes);
    struct tm_index *const taken = tm_index_new(r->run, TM_ACCOUNT_MODEL, sizeof(struct taken_number),
                                                r->memory_bytes / 8, TM_INDEX_FIRST, NULL);
    tm_status st = places && taken ? place_processes(r, places) : r->run->error.status;

    r->device_count = r->trace->device_count;
    for (uint32_t i = 0; i < r->device_count; i++)
        r->device_process[i] = r->own_process;
    if (st == TM_OK)
        st = rank_processes(r, places, taken);
    if (st == TM_OK)
        st = number_processes(r, places, taken);
    tm_sorter_free(places);
    tm_index_free(taken);
    return st;
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

/* Every track gets its row; what has to be placed goes into the sort, what has a number asks for it. */
static tm_status take_thread(struct tm_out_rows *r, uint32_t number, const struct tm_track *track,
                             struct tm_sorter *places)
{
    const struct out_thread row = { .name = track->name, .process = track->process,
                                    .sort = track->sort == TM_TRACK_THREAD ? TM_OUT_THREAD : TM_OUT_ROW };
    const bool by_number = group_of(track) == GROUP_DEVICE;
    const struct thread_place place = { .order = by_number ? track->id : track->order, .process = track->process,
                                        .track = number, .id = track->id, .sort = track->sort };
    const struct taken_number wish = { tid_key(track->process, track->id), number };
    tm_status st = tm_rows_append(r->threads, &row);

    if (st == TM_OK && has_row(track->sort))
        st = tm_sorter_push(places, &place);
    if (st == TM_OK && track->sort == TM_TRACK_THREAD && is_number(track->id))
        st = tm_index_put(r->tids, &wish);
    return st;
}

static tm_status number_thread(struct tm_out_rows *r, const struct thread_place *place, uint32_t rank)
{
    struct out_thread *const thread = tm_rows_change(r->threads, place->track);
    struct out_process *owner;
    const void *row = NULL;
    tm_status st = TM_OK;

    if (!thread)
        return r->run->error.status;
    thread->rank = rank;
    if (place->sort == TM_TRACK_THREAD && is_number(place->id))
        st = tm_index_get(r->tids, tid_key(place->process, place->id), &row);
    if (st == TM_OK && row && ((const struct taken_number *)row)->owner == place->track) {
        thread->tid = (int32_t)place->id;
        return TM_OK;
    }
    owner = st == TM_OK ? tm_rows_change(r->processes, place->process) : NULL;
    return owner ? tm_next_free_number(r->run, r->tids, tid_key(place->process, 0), &owner->next_tid, &thread->tid)
                 : r->run->error.status;
}

static tm_status number_threads(struct tm_out_rows *r, struct tm_sorter *places)
{
    uint32_t process = TM_NONE, rank = 0;
    const void *next;
    tm_status st = tm_sorter_finish(places);

    while (st == TM_OK) {
        const struct thread_place *place;

        st = tm_sorter_next(places, &next);
        if (st != TM_OK || !next)
            break;
        place = next;
        rank = place->process == process ? rank + 1 : TM_OWN_RANKS;
        process = place->process;
        st = number_thread(r, place, rank);
    }
    return st;
}

static tm_status order_threads(struct tm_out_rows *r)
{
    struct tm_sorter *const places = tm_sorter_new(r->run, TM_ACCOUNT_MODEL, sizeof(struct thread_place),
                                                   r->memory_bytes / 4, compare_threads);
    tm_status st;

    r->tids = tm_index_new(r->run, TM_ACCOUNT_MODEL, sizeof(struct taken_number), r->memory_bytes / 4, TM_INDEX_FIRST,
                           NULL);
    st = places && r->tids ? TM_OK : r->run->error.status;
    for (uint64_t i = 0; i < r->track_count && st == TM_OK; i++) {
        const struct tm_track *const at = tm_rows_at(r->trace->tracks, i);
        struct tm_track track;

        if (!at) {
            st = r->run->error.status;
            break;
        }
        track = *at;
        st = take_thread(r, (uint32_t)i, &track, places);
    }
    if (st == TM_OK)
        st = tm_index_finish(r->tids);
    if (st == TM_OK)
        st = number_threads(r, places);
    tm_sorter_free(places);
    return st;
}

/* --- rows of ours, behind the tracks: see tm_out_rows_derived --- */

static tm_status add_own_row(struct tm_out_rows *r, uint32_t process, tm_strid name, uint32_t rank)
{
    struct out_thread row = { .name = name, .process = process, .rank = rank, .sort = TM_OUT_ROW };
    struct out_process *const owner = tm_rows_change(r->processes, process);
    tm_status st = owner ? tm_next_free_number(r->run, r->tids, tid_key(process, 0), &owner->next_tid, &row.tid)
                         : r->run->error.status;

    return st == TM_OK ? tm_rows_append(r->threads, &row) : st;
}

/* Whose process tells nothing of it. */
static void find_sharing_devices(struct tm_out_rows *r)
{
    for (uint32_t i = 0; i < r->device_count; i++) {
        r->device_shares[i] = r->device_process[i] == r->own_process;
        for (uint32_t k = 0; k < i; k++)
            if (r->device_process[k] == r->device_process[i])
                r->device_shares[i] = r->device_shares[k] = true;
    }
}

void tm_out_rows_name_of_device(const struct tm_out_rows *r, uint32_t device, const char *what, char *name,
                                size_t size)
{
    const char *id = "", *slash;

    if (device < r->device_count && r->device_shares[device]) {
        id = r->trace->devices[device].id;
        slash = strrchr(id, '/');
        id = slash ? slash + 1 : id;
    }
    (void)snprintf(name, size, "%s%s%s" TM_OF_OURS, id, *id ? " " : "", what);
}

static tm_status add_device_row(struct tm_out_rows *r, uint32_t device, const char *what, enum own_place place)
{
    char text[TM_OWN_NAME_BYTES];
    tm_strid name;
    tm_status st;

    tm_out_rows_name_of_device(r, device, what, text, sizeof(text));
    st = tm_names_put(r->names, text, strlen(text), &name);
    return st == TM_OK ? add_own_row(r, r->device_process[device], name, tm_own_rank(r, device, place)) : st;
}

static tm_status add_own_rows(struct tm_out_rows *r)
{
    tm_status st = TM_OK;

    find_sharing_devices(r);
    for (uint32_t i = 0; i < r->device_count && st == TM_OK; i++) {
        st = add_device_row(r, i, "steps", PLACE_STEPS);
        if (st == TM_OK)
            st = add_device_row(r, i, "idle gaps", PLACE_GAPS);
    }
    if (st == TM_OK)
        st = add_own_row(r, r->own_process, r->name_host_steps, PLACE_HOST_STEPS);
    if (st == TM_OK)
        st = add_own_row(r, r->own_process, r->name_findings, PLACE_FINDINGS);
    return st == TM_OK ? add_own_row(r, r->own_process, r->name_verdict, PLACE_VERDICT) : st;
}

tm_status tm_out_rows_number(struct tm_out_rows *r)
{
    tm_status st = take_tracks(r);

    if (st == TM_OK)
        st = order_processes(r);
    if (st == TM_OK)
        st = order_threads(r);
    return st == TM_OK ? add_own_rows(r) : st;
}
