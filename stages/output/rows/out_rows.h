/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OUT_ROWS_H
#define TM_OUT_ROWS_H

#include "pipeline/index.h"
#include "stages/output/derived/derived.h"
#include "stages/output/export/lanes.h"
#include "stages/output/trace_writer.h"

/* The rows of a host's trace in the viewer: numbers, names and order of its processes and threads, and which of them
 * the present file has.  docs/convert.md, "Rows".  Numbers depend on the trace and on the hosts before it, never on
 * what is written; only lanes, and those of one process among themselves, get theirs when they are first used.
 * Memory: `model`; a compact row for each track, which spills. */
struct tm_out_rows;

/* in:     names_hosts   the names of processes begin with that of their host
 *         memory_bytes  for everything
 * errors: NULL, with the error in run->error */
struct tm_out_rows *tm_out_rows_new(struct tm_run *run, struct tm_names *names, bool names_hosts,
                                    size_t memory_bytes) TM_MUST_USE;
void tm_out_rows_free(struct tm_out_rows *r); /* tolerates NULL */

/* The rows of another host; those of the one before are forgotten, but not that their numbers are taken.
 * owns: keeps trace until the next one */
tm_status tm_out_rows_begin_host(struct tm_out_rows *r, const struct tm_trace *trace) TM_MUST_USE;
/* Nothing has been written in the present file. */
void tm_out_rows_begin_file(struct tm_out_rows *r);

/* A row is told by a number: that of its track; those of what was worked out come behind. */
uint64_t tm_out_rows_derived(const struct tm_out_rows *r, enum tm_derived_sort sort, uint32_t device);
/* The number of the process that a device's tracks are of; the program's own where there is none. */
uint32_t tm_out_rows_device_process(const struct tm_out_rows *r, uint32_t device);

/* What a row or a counter of a device, worked out, is called: "idle gaps \u00b7 tracemill", or where its process is not
 * its own "cpu:1 idle gaps \u00b7 tracemill".
 * in:     size  TM_OWN_NAME_BYTES */
enum { TM_OWN_NAME_BYTES = 256 };

void tm_out_rows_name_of_device(const struct tm_out_rows *r, uint32_t device, const char *what, char *name,
                                size_t size);

/* Something is to be written on a row: its process, the row and the lane are written before, where the file does not
 * have them yet.
 * out: *row; *rows  grows by how many were written */
tm_status tm_out_rows_use(struct tm_out_rows *r, struct tm_trace_writer *writer, uint64_t number, uint32_t lane,
                          struct tm_out_row *row, uint64_t *rows) TM_MUST_USE;

/* A counter of a process. */
struct tm_counter_row {
    uint64_t hash; /* of what tells it from others of its process; never the same for two of them */
    tm_strid name, unit;
    uint32_t process;
    uint32_t device; /* of what was worked out; of others anything */
    uint32_t file;   /* of tm_out_rows: 0 at first */
    uint8_t order;   /* enum tm_counter_order */
};

enum tm_counter_order { TM_COUNTER_QUEUE, TM_COUNTER_BUSY, TM_COUNTER_RECORDED };

tm_status tm_out_rows_use_counter(struct tm_out_rows *r, struct tm_trace_writer *writer, struct tm_counter_row *counter,
                                  struct tm_out_row *row, uint64_t *rows) TM_MUST_USE;

/* A row that the present file has, ready to be used again: the same few are used for each event, twice. */
enum { TM_NEAR_ROWS = 64 };

struct near_row {
    uint64_t number;
    uint32_t lane;
    uint32_t file; /* that has it; 0 = free */
    uint32_t host;
    struct tm_out_row row;
};

struct tm_out_rows {
    struct tm_run *run;
    struct tm_names *names;
    const struct tm_trace *trace;
    bool names_hosts;
    size_t memory_bytes;
    uint32_t file;        /* counts up from 1 */
    struct tm_rows *pids; /* int32_t: those that earlier hosts have */
    int32_t next_pid;     /* perhaps free */
    int32_t planes;       /* pid of the last one of all hosts so far */
    uint32_t ranks;       /* of processes of all hosts so far */
    /* of the present host */
    struct tm_rows *processes, *threads, *chunks, *lanes;
    struct tm_index *tids; /* struct taken_number: threads that have their own number */
    uint64_t track_count;
    uint32_t device_count, own_process;
    uint32_t device_process[TM_DEVICES_MOST];
    bool device_shares[TM_DEVICES_MOST]; /* its process is that of other devices too, or of none */
    struct near_row near[TM_NEAR_ROWS];
    /* names of ours */
    tm_strid name_own, name_verdict, name_findings, name_host_steps;
};

#endif
