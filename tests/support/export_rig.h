/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEST_EXPORT_RIG_H
#define TM_TEST_EXPORT_RIG_H

/* For the unit tests of what lies between ordered events and the writers of traces: a made-up trace, and a writer that
 * notes each call as a line of text.  Rows are called by their name, lanes NAME+1, NAME+2 ...; times are picoseconds:
 *     process PID NAME @ORDER        thread PID/TID NAME @ORDER (also lane, row)    counter PID NAME [UNIT]
 *     begin ROW NAME BEGIN-END       end ROW END       instant ROW NAME TIME        value ROW TIME VALUE
 *     arrow KIND ROW TIME #ID        file N            close
 * behind begin, end and instant: (CATEGORY) #FLOW [MARKS] {ARGUMENTS}, where there are any; a writer without ends has
 * span ROW NAME BEGIN-END instead of begin and end. */
#include <stdio.h>

#include "stages/output/export/exporter.h"
#include "tests/support/test_run.h"

enum { RIG_DEVICES = 4 };

struct recorder {
    struct tm_trace_writer writer; /* first: it is cast to it */
    struct tm_names *names;
    FILE *to; /* NULL: only counted */
    char *text;
    size_t text_bytes;
    uint64_t calls, files;
    bool tells_rows; /* rows have lines too */
};

struct export_rig {
    struct tm_run *run;
    struct tm_names *names;
    struct tm_trace trace;
    struct tm_device devices[RIG_DEVICES];
    struct recorder recorder;
};

extern const struct tm_trace_writer_type recorder_with_ends, recorder_without_ends;

/* in: type  one of the two.  Refusals of memory are off meanwhile. */
void export_rig_init(struct export_rig *rig, struct tm_run *run, const struct tm_trace_writer_type *type);
void export_rig_free(struct export_rig *rig);
/* What was written since the last time, as lines; valid until the next call. */
const char *export_rig_lines(struct export_rig *rig);
tm_strid export_rig_name(struct export_rig *rig, const char *name);

/* out: the number of the track */
uint32_t export_rig_track(struct export_rig *rig, const struct tm_track *track, const char *process, const char *name);
/* A device of a kind and an ordinal; ids begin with "h0/". */
uint32_t export_rig_device(struct export_rig *rig, enum tm_device_kind kind, int64_t ordinal);

/* An event of a track: class other, no device, no step, no launch. */
struct tm_event export_rig_event(struct export_rig *rig, uint32_t track, enum tm_kind kind, const char *name,
                                 int64_t start_ps, int64_t dur_ps);

#endif
