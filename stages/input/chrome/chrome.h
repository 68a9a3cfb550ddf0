/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHROME_H
#define TM_CHROME_H

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
tm_status tm_chrome_scan(struct tm_trace *trace, struct tm_input *input, struct tm_source **source) TM_MUST_USE;

#endif
