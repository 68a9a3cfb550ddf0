/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FORMATS_H
#define TM_FORMATS_H

#include "pipeline/source.h"
#include "pipeline/store/names.h"
#include "stages/input/bytes/input_file.h"

/* A Chrome trace in JSON as a source of records: JAX's *.trace.json.gz and perfetto_trace.json.gz, PyTorch's
 * profiles, and any other.  The file is read once; its records then are in a store by track. */

/* Read a Chrome trace and fill the trace's dictionary, as tm_xspace_scan does; also trace->note, which says what a
 * copy of a profile lacks.
 * in:     trace    run, host and host_name set; names, tracks, configs and messages made
 *         input    open; it is streamed
 * owns:   *source is the caller's, freed by (*source)->type->free; trace must outlive it
 * errors: TM_ERR_INPUT   not one event could be read
 *         TM_ERR_LIMIT, TM_ERR_OUTPUT from the tables */
tm_status tm_chrome_scan(struct tm_trace *trace, struct tm_input *input, struct tm_source **source);

/* A Perfetto trace (*.pftrace, *.perfetto-trace) as a source of records: its track events, read once as a stream.  A
 * trace that this program wrote gives the records it was made from, without the computed rows.
 * in, owns, errors: as in tm_chrome_scan */
tm_status tm_pftrace_scan(struct tm_trace *trace, struct tm_input *input, struct tm_source **source);

/* The XSpace of one host (*.xplane.pb) as a source of records.  Scanning reads the file once for the extents of
 * the lines and the metadata tables; cursors then walk the lines on the wire.  Nothing is unpacked as a whole.
 * source: tensorflow.profiler.XSpace (tsl/profiler/protobuf/xplane.proto); schemas/xplane.proto */

/* Scan an XSpace and fill the trace's dictionary: names, tracks, devices (all of them, with activities 0),
 * configs, environment; sets trace->partial if the file is truncated.
 * in:     trace    run, host and host_name set; names, tracks and configs made
 *         warn     called for every warning and error that the profiler left in the file; may be NULL
 * owns:   *source is the caller's, freed by (*source)->type->free; input and trace must outlive it
 * errors: TM_ERR_INPUT   not one plane could be read
 *         TM_ERR_LIMIT, TM_ERR_OUTPUT from the tables */
tm_status tm_xspace_scan(struct tm_trace *trace, const struct tm_input *input,
                         void (*warn)(void *to, const char *text, size_t length), void *to, struct tm_source **source);

/* A device memory profile: what a device held at one moment, and the code that allocated it
 * (jax.profiler.save_device_memory_profile; the format is pprof's).  It has no times.
 * source: github.com/google/pprof, proto/profile.proto; schemas/profile.proto */

/* The owner of a function's code, from its file: the closest to the user first. */
enum tm_code_owner {
    TM_CODE_USER,
    TM_CODE_LIBRARY,
    TM_CODE_RUNTIME /* JAX and XLA */,
    TM_CODE_OWNERS,
    TM_CODE_WRAPPER = TM_CODE_OWNERS /* JAX's wrapper of every call, which is left out */
};

struct tm_frame {
    tm_strid function, file; /* 0 = not recorded */
    int64_t line;            /* 0 = not recorded */
};

enum { TM_FRAMES_MOST = 8 };

/* Memory that one stack of calls holds. */
struct tm_memory_sample {
    uint64_t count, bytes;
    bool is_unsized;       /* its size is unknown: bytes is 0 */
    tm_strid kind, device; /* strings of the labels, "buffer" and "executable"; 0 = no such label */
    /* The site is the innermost frame of the user's own code; without any that of a library; else the innermost. */
    struct tm_frame frames[TM_FRAMES_MOST]; /* from the inside: what the site called, the site, its callers */
    uint32_t frame_count, site;             /* site: its place in frames */
};

typedef tm_status tm_take_memory_sample(void *to, const struct tm_memory_sample *sample);

/* What is wrong with a partly readable profile. */
struct tm_pprof_damage {
    bool is_damaged;
    char problem[256]; /* in words; the first damage */
};

/* Read a profile and pass on its samples, in file order.
 * in:     input  held (tm_input_hold)
 *         names  receives the strings
 * errors: TM_ERR_INPUT  it counts no bytes, or the meaning of its values is lost; TM_ERR_OUTPUT, TM_ERR_LIMIT; the
 *         status of `take` */
tm_status tm_pprof_read(struct tm_run *run, const struct tm_input *input, struct tm_names *names,
                        tm_take_memory_sample *take, void *to, struct tm_pprof_damage *damage);

/* in: file  path of the source, as in the profile */
enum tm_code_owner tm_code_owner_of(const char *file, size_t length);

#endif
