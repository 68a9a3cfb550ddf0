/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as the writers want them, made from what out_rows_number.c found, each written once in a file.  Memory: tables
 * that spill; lanes come in chunks that double, so that any lane of any track is found by two look-ups. */
#include "stages/output/rows/out_rows.h"

#include <string.h>

#include "pipeline/groups.h"
#include "stages/output/rows/out_rows_private.h"

enum { PAGE_BYTES = 4096, LANE_PLACES = 64 /* in the order of a process, for each thread */,
       SMALL_LANES = 16 };
static const int64_t after_threads = INT64_C(2000000000);

static tm_status put_names(struct tm_out_rows *r)
{
    tm_status st = tm_names_put_string(r->names, "Analysis" TM_OF_OURS, &r->name_own);

    if (st == TM_OK)
        st = tm_names_put_string(r->names, "verdict" TM_OF_OURS, &r->name_verdict);
    if (st == TM_OK)
        st = tm_names_put_string(r->names, "host steps" TM_OF_OURS, &r->name_host_steps);
    return st == TM_OK ? tm_names_put_string(r->names, "findings" TM_OF_OURS, &r->name_findings) : st;
}

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
    if (r->pids && put_names(r) == TM_OK)
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

void tm_out_rows_free(struct tm_out_rows *r)
{
    if (!r)
        return;
    end_host(r);
    tm_rows_free(r->pids);
    tm_give(&r->run->budget, TM_ACCOUNT_MODEL, r, sizeof(*r));
}

tm_status tm_out_rows_begin_host(struct tm_out_rows *r, const struct tm_trace *trace)
{
    const size_t part = r->memory_bytes / 16;
    static const struct lane_chunks none;
    tm_status st;

    end_host(r);
    memset(r->near, 0, sizeof(r->near)); /* numbers are the host's */
    r->trace = trace;
    r->processes = tm_rows_new(r->run, TM_ACCOUNT_MODEL, sizeof(struct out_process), 2 * part);
    r->threads = tm_rows_new(r->run, TM_ACCOUNT_MODEL, sizeof(struct out_thread), 4 * part);
    r->chunks = tm_rows_new_paged(r->run, TM_ACCOUNT_MODEL, sizeof(struct lane_chunks), part, PAGE_BYTES);
    r->lanes = tm_rows_new_paged(r->run, TM_ACCOUNT_MODEL, sizeof(struct out_lane), part / 2, PAGE_BYTES);
    if (!r->processes || !r->threads || !r->chunks || !r->lanes)
        return r->run->error.status;
    st = tm_rows_append(r->chunks, &none);
    return st == TM_OK ? tm_out_rows_number(r) : st;
}

void tm_out_rows_begin_file(struct tm_out_rows *r)
{
    r->file++;
}

uint64_t tm_out_rows_derived(const struct tm_out_rows *r, enum tm_derived_sort sort, uint32_t device)
{
    const uint64_t of_host = r->track_count + 2 * (uint64_t)r->device_count;

    switch (sort) {
    case TM_DERIVED_STEP:
        return device < r->device_count ? r->track_count + 2 * (uint64_t)device : of_host;
    case TM_DERIVED_GAP:
        return device < r->device_count ? r->track_count + 2 * (uint64_t)device + 1 : of_host;
    case TM_DERIVED_FACTS:
        return of_host + 2;
    default:
        return of_host + 1;
    }
}

uint32_t tm_out_rows_device_process(const struct tm_out_rows *r, uint32_t device)
{
    return device < r->device_count ? r->device_process[device] : r->own_process;
}

/* --- what tells a row from all others --- */

/* Small where it can be, since each event bears it; what does not fit is a hash with the first bit set. */
static uint64_t uuid_of(const struct tm_out_rows *r, enum tm_out_sort sort, uint64_t number, uint64_t lane)
{
    const uint64_t host = r->trace->host;
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

static tm_status write_row(struct tm_trace_writer *writer, const struct tm_out_row *row, uint64_t *rows)
{
    ++*rows;
    return writer->type->row(writer, row);
}

/* out: process  a copy */
static tm_status use_process(struct tm_out_rows *r, struct tm_trace_writer *writer, uint32_t number,
                             struct out_process *process, uint64_t *rows)
{
    const struct out_process *const found = tm_rows_at(r->processes, number);
    struct tm_out_row row = { .sort = number == r->own_process ? TM_OUT_GROUP : TM_OUT_PROCESS };
    struct out_process *change;

    if (!found)
        return r->run->error.status;
    *process = *found;
    if (process->file == r->file)
        return TM_OK;
    change = tm_rows_change(r->processes, number);
    if (!change)
        return r->run->error.status;
    change->file = r->file;
    row.uuid = uuid_of(r, TM_OUT_PROCESS, number, 0);
    row.pid = process->pid;
    row.order = process->rank;
    row.name = row.process = process->name;
    return write_row(writer, &row, rows);
}

/* The row of a lane past the first one; made with a number of its own where it is used for the first time. */
static tm_status find_lane(struct tm_out_rows *r, uint64_t number, uint32_t lane, struct out_lane **found)
{
    const unsigned chunk = 31 - (unsigned)__builtin_clz(lane);
    struct out_thread *thread = tm_rows_change(r->threads, number);
    struct lane_chunks *chunks;
    tm_status st = TM_OK;

    if (thread && !thread->lanes) {
        static const struct lane_chunks none;

        thread->lanes = (uint32_t)tm_rows_count(r->chunks);
        st = tm_rows_append(r->chunks, &none);
    }
    chunks = thread && st == TM_OK ? tm_rows_change(r->chunks, thread->lanes) : NULL;
    if (!chunks)
        return r->run->error.status;
    if (!chunks->at[chunk]) {
        chunks->at[chunk] = tm_rows_count(r->lanes) + 1;
        st = tm_rows_resize(r->lanes, tm_rows_count(r->lanes) + (UINT64_C(1) << chunk));
    }
    *found = st == TM_OK ? tm_rows_change(r->lanes, chunks->at[chunk] - 1 + lane - (1u << chunk)) : NULL;
    return *found ? TM_OK : r->run->error.status;
}

/* Make the row of a thread that of one of its lanes. */
static tm_status use_lane(struct tm_out_rows *r, struct tm_trace_writer *writer, uint64_t number, uint32_t lane,
                          uint32_t process, struct tm_out_row *row, uint64_t *rows)
{
    struct out_lane *found;
    struct out_process *owner;
    bool is_new;
    tm_status st = find_lane(r, number, lane, &found);

    if (st == TM_OK && !found->tid) {
        owner = tm_rows_change(r->processes, process);
        st = owner ? tm_next_free_number(r->run, r->tids, tid_key(process, 0), &owner->next_tid, &found->tid)
                   : r->run->error.status;
    }
    if (st != TM_OK)
        return st;
    is_new = found->file != r->file;
    found->file = r->file;
    row->sort = TM_OUT_LANE;
    row->parent = row->uuid;
    row->uuid = uuid_of_thread(r, number, lane);
    row->lane = lane;
    row->tid = found->tid;
    row->order += lane < LANE_PLACES ? lane : LANE_PLACES - 1;
    return is_new ? write_row(writer, row, rows) : TM_OK;
}

static tm_status make_row(struct tm_out_rows *r, struct tm_trace_writer *writer, uint64_t number, uint32_t lane,
                          struct tm_out_row *row, uint64_t *rows)
{
    struct out_thread *const found = tm_rows_change(r->threads, number);
    struct out_process process;
    struct out_thread thread;
    tm_status st;

    if (!found)
        return r->run->error.status;
    thread = *found;
    found->file = r->file;
    st = use_process(r, writer, thread.process, &process, rows);
    *row = (struct tm_out_row){
        .uuid = uuid_of_thread(r, number, 0), .parent = uuid_of(r, TM_OUT_PROCESS, thread.process, 0),
        .sort = thread.sort, .pid = process.pid, .tid = thread.tid, .name = thread.name,
        .process = process.name, .order = (int64_t)thread.rank * LANE_PLACES,
    };
    if (number == tm_out_rows_derived(r, TM_DERIVED_FACTS, TM_NONE))
        row->uuid = row->parent;
    if (st == TM_OK && thread.file != r->file)
        st = write_row(writer, row, rows);
    return st == TM_OK && lane ? use_lane(r, writer, number, lane, thread.process, row, rows) : st;
}

tm_status tm_out_rows_use(struct tm_out_rows *r, struct tm_trace_writer *writer, uint64_t number, uint32_t lane,
                          struct tm_out_row *row, uint64_t *rows)
{
    struct near_row *const near = &r->near[(number * 5 + lane) % TM_NEAR_ROWS];
    tm_status st = TM_OK;

    if (near->file != r->file || near->number != number || near->lane != lane || near->host != r->trace->host) {
        st = make_row(r, writer, number, lane, &near->row, rows);
        near->number = number;
        near->lane = lane;
        near->host = r->trace->host;
        near->file = st == TM_OK ? r->file : 0;
    }
    *row = near->row;
    return st;
}

tm_status tm_out_rows_use_counter(struct tm_out_rows *r, struct tm_trace_writer *writer, struct tm_counter_row *counter,
                                  struct tm_out_row *row, uint64_t *rows)
{
    struct out_process process;
    const tm_status st = use_process(r, writer, counter->process, &process, rows);
    const bool is_new = counter->file != r->file;

    if (st != TM_OK)
        return st;
    counter->file = r->file;
    *row = (struct tm_out_row){
        .uuid = uuid_of(r, TM_OUT_COUNTER, counter->process, counter->hash),
        .parent = uuid_of(r, TM_OUT_PROCESS, counter->process, 0), .sort = TM_OUT_COUNTER, .pid = process.pid,
        .name = counter->name, .process = process.name, .unit = counter->unit, .order = after_threads,
    };
    if (counter->order != TM_COUNTER_RECORDED)
        row->order = (int64_t)tm_own_rank(r, counter->device, PLACE_COUNTERS + counter->order) * LANE_PLACES;
    return is_new ? write_row(writer, row, rows) : TM_OK;
}
