/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TRACE_OUTPUT_H
#define TM_TRACE_OUTPUT_H

#include "pipeline/commands/conversion.h"
#include "pipeline/commands/trace_format.h"
#include "pipeline/commands/written.h"

/* A writer with what feeds it: for one file, or for several ones after each other. */
struct tm_trace_output {
    struct tm_trace_writer *writer;
    struct tm_exporter *exporter;
    uint64_t arguments_before; /* that the writer wrote in files that were told of */
};

/* in:     c       prepared; must outlive it
 *         choice  what of it is written, and where files end; what is the same for all outputs of c is filled in
 * owns:   the caller; tm_trace_output_close releases it, also after a failure */
tm_status tm_trace_output_open(struct tm_trace_output *out, const struct tm_conversion *c,
                               const struct tm_trace_format *format,
                               const struct tm_export_options *choice) TM_MUST_USE;
void tm_trace_output_close(struct tm_trace_output *out); /* tolerates zeroed memory */

/* The first file begins; the exporter begins those that follow. */
tm_status tm_trace_output_begin_file(struct tm_trace_output *out, struct tm_out_file *file) TM_MUST_USE;
/* The last one ends. */
tm_status tm_trace_output_end_file(struct tm_trace_output *out) TM_MUST_USE;
/* What is in a file that has ended: counts, arguments and bytes before compression. */
void tm_trace_output_tell(struct tm_trace_output *out, const struct tm_export_counts *counts,
                          struct tm_written *written);

#endif
