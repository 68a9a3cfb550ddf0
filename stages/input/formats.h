/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FORMATS_H
#define TM_FORMATS_H

#include "pipeline/source.h"
#include "stages/input/bytes/input_file.h"

/* A Chrome trace in JSON as a source of records: JAX's *.trace.json.gz and perfetto_trace.json.gz, PyTorch's
 * profiles, and any other.  The file is read once; its records then lie in a store by track. */

/* Read a Chrome trace and fill the trace's dictionary, as tm_xspace_scan does; also trace->note, which says what a
 * copy of a profile lacks.
 * in:     trace    run, host and host_name set; names, tracks, configs and messages made
 *         input    open; it is streamed
 * owns:   *source is the caller's, freed by (*source)->type->free; trace must outlive it
 * errors: TM_ERR_INPUT   not one event could be read
 *         TM_ERR_LIMIT, TM_ERR_OUTPUT from the tables */
tm_status tm_chrome_scan(struct tm_trace *trace, struct tm_input *input, struct tm_source **source);

/* The XSpace of one host (*.xplane.pb) as a source of records.  Scanning reads the file once for the extents of
 * the lines and the metadata tables; cursors then walk the lines on the wire.  Nothing is unpacked as a whole.
 * source: tensorflow.profiler.XSpace (tsl/profiler/protobuf/xplane.proto); schemas/xplane.proto */

/* Scan an XSpace and fill the trace's dictionary: names, tracks, devices (all of them, with activities 0),
 * configs, environment; sets trace->partial where the file is cut short.
 * in:     trace    run, host and host_name set; names, tracks and configs made
 *         warn     called for every warning and error that the profiler left in the file; may be NULL
 * owns:   *source is the caller's, freed by (*source)->type->free; input and trace must outlive it
 * errors: TM_ERR_INPUT   not one plane could be read
 *         TM_ERR_LIMIT, TM_ERR_OUTPUT from the tables */
tm_status tm_xspace_scan(struct tm_trace *trace, const struct tm_input *input,
                         void (*warn)(void *to, const char *text, size_t length), void *to, struct tm_source **source);

#endif
