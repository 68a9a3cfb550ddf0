/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, feeding and closing a trace writer, the same for one file and for parts. */
#include "pipeline/commands/trace_output.h"

#include "stages/output/redact/redacting_writer.h"

tm_status tm_trace_output_open(struct tm_trace_output *out, const struct tm_conversion *c,
                               const struct tm_trace_format *format, const struct tm_export_options *choice)
{
    const struct tm_writer_options options = tm_conversion_writer(c, format->is_gzip);
    const struct tm_filter *filter = &c->options->filter;
    struct tm_export_options export = *choice;

    *out = (struct tm_trace_output){ .writer = format->type->open(c->run, c->names, &options) };
    if (out->writer && c->run->redactor)
        out->writer = tm_redacting_writer_new(c->run, c->names, c->run->redactor, out->writer);
    if (!out->writer)
        return c->run->error.status;
    export.writer = out->writer;
    export.filter = filter->count ? filter : NULL;
    export.derived = c->derived;
    export.names_hosts = c->inputs.host_count > 1;
    out->exporter = tm_exporter_new(c->run, c->names, &export);
    return out->exporter ? TM_OK : c->run->error.status;
}

void tm_trace_output_close(struct tm_trace_output *out)
{
    tm_exporter_free(out->exporter);
    if (out->writer)
        out->writer->type->free(out->writer);
    *out = (struct tm_trace_output){ .writer = NULL };
}

tm_status tm_trace_output_begin_file(struct tm_trace_output *out, struct tm_out_file *file)
{
    const tm_status st = out->writer->type->begin_file(out->writer, file);

    if (st == TM_OK)
        tm_exporter_begin_file(out->exporter);
    return st;
}

tm_status tm_trace_output_end_file(struct tm_trace_output *out)
{
    return out->writer->type->end_file(out->writer);
}

void tm_trace_output_tell(struct tm_trace_output *out, const struct tm_export_counts *counts,
                          struct tm_written *written)
{
    written->counts = *counts;
    written->arguments = out->writer->arguments - out->arguments_before;
    written->raw_bytes = out->writer->type->raw_bytes(out->writer);
    out->arguments_before = out->writer->arguments;
}
