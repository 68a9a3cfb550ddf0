/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_OUT_ROWS_H
#define TM_OUT_ROWS_H

#include "stages/output/derived/derived.h"
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
#define TM_OF " \u00b7 "
#define TM_OF_OURS TM_OF "tracemill"
void tm_out_rows_name_of_device(const struct tm_out_rows *r, uint32_t device, const char *what, char *name,
                                size_t size);

/* Something is to be written on a row: its process, the row and the lane are written before, where the file does not
 * have them yet.
 * out: *row; *rows  grows by how many were written */
tm_status tm_out_rows_use(struct tm_out_rows *r, struct tm_trace_writer *writer, uint64_t number, uint32_t lane,
                          struct tm_out_row *row, uint64_t *rows) TM_MUST_USE;

/* A counter of a process. */
struct tm_counter_row {
    uint64_t hash;     /* of what tells it from others of its process; never the same for two of them */
    tm_strid name, unit;
    uint32_t process;
    uint32_t device;   /* of what was worked out; of others anything */
    uint32_t file;     /* of tm_out_rows: 0 at first */
    uint8_t order;     /* enum tm_counter_order */
};
enum tm_counter_order { TM_COUNTER_QUEUE, TM_COUNTER_BUSY, TM_COUNTER_RECORDED };
tm_status tm_out_rows_use_counter(struct tm_out_rows *r, struct tm_trace_writer *writer, struct tm_counter_row *counter,
                                  struct tm_out_row *row, uint64_t *rows) TM_MUST_USE;

#endif
