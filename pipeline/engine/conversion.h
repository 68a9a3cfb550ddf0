/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CONVERSION_H
#define TM_CONVERSION_H

#include "pipeline/engine/analysis.h"
#include "pipeline/engine/outputs.h"
#include "stages/output/export/exporter.h"
#include "stages/output/trace_writer.h"

/* A run that is converted, for any format and number of files: its inputs, its computed rows, its clock.  The input is
 * first read for the analysis.  A single host stays open for writing; several hosts are read again, and their tallies
 * count once. */

struct tm_conversion {
    struct tm_run *run;
    const struct tm_options *options;
    struct tm_inputs inputs;
    struct tm_names *names;
    struct tm_derived *derived;   /* NULL = nothing is computed */
    struct tm_host_run host;      /* that is open; run NULL = none */
    struct tm_host_clock *clocks; /* of each host */
    int64_t epoch_ns;             /* what the clock of the recording read at time 0 of the output; 0 = not known */
    bool is_bare;            /* no output reads arguments: events come without them, from the records that are kept */
    bool is_read;            /* all of the input has been read once */
    bool arguments_are_read; /* and all arguments */
    /* What the output says about itself. */
    struct tm_trace_facts facts;
    struct tm_trace_facts alone; /* of the one host of a file; list NULL = a file has all hosts */
    /* Damage, known when everything was read. */
    struct tm_file_facts *file; /* of the file that is being read */
    char problem[2600];         /* of the first damaged file, with its path */
    uint64_t damaged_files;
    /* Events come in parts: as in struct tm_events_in_parts; NULL = by time. */
    bool (*is_later)(void *to, const struct tm_track *track, int64_t start_ps, uint32_t step);
    void *to_later;
};

/* Find the inputs.
 * in:     act       "convert", for messages
 *         is_plain  compute nothing: --plain, or a format without computed rows
 * owns:   the caller; tm_conversion_close releases it, also after a failure
 * errors: as in tm_inputs_find; TM_ERR_USAGE for inputs that cannot be converted: partials, device memory profiles,
 *         stdin together with others */
tm_status tm_conversion_open(struct tm_conversion *c, struct tm_run *run, const struct tm_options *options,
                             const char *act, bool is_plain);
void tm_conversion_close(struct tm_conversion *c); /* tolerates a zeroed one */

/* Compute the rows beside the events, if wanted, and read the clocks; after this the events can be written. */
tm_status tm_conversion_prepare(struct tm_conversion *c);
/* The same if the caller runs the analysis: first its observer, then its result.  Also with --plain. */
void tm_conversion_observe(struct tm_conversion *c, struct tm_observer *observer);
tm_status tm_conversion_take_summary(struct tm_conversion *c, const struct tm_value *summary);

/* The run's name as it is shown: with --redact its pseudonym, when the input was read. */
enum { TM_SHOWN_RUN_BYTES = 4096 };

tm_status tm_conversion_run_name(const struct tm_conversion *c, char name[TM_SHOWN_RUN_BYTES]);

/* Options of a writer: its clock and facts. */
struct tm_writer_options tm_conversion_writer(const struct tm_conversion *c, bool is_gzip);

/* A host that is to be written: scanned and surveyed.
 * owns:   the conversion; valid until another one is requested */
tm_status tm_conversion_host(struct tm_conversion *c, uint32_t number, struct tm_host_run **host);
/* Give all its events to an exporter, from begin_host to end_host. */
tm_status tm_conversion_events(struct tm_conversion *c, uint32_t number, struct tm_exporter *exporter);

/* --strict, once everything was read. */
tm_status tm_conversion_judge(const struct tm_conversion *c, const char *act);
/* What was not written, on stderr.  out: TM_PARTIAL if the input was damaged, else TM_OK */
tm_status tm_conversion_warn(const struct tm_conversion *c);

/* A format that traces are written in, by the ending of a file's name. */
struct tm_trace_format {
    const char *ending;
    const struct tm_trace_writer_type *type;
    bool is_gzip;
    bool shows_derived; /* has a place for computed rows */
    bool is_archive;    /* a file of that format for each host */
};

/* NULL = the name has none of the endings, or nothing before it. */
const struct tm_trace_format *tm_trace_format_of(const char *name);

/* --zstd fits the format; a note says who can read it.  errors: TM_ERR_USAGE */
void tm_check_zstd(struct tm_run *run, const struct tm_options *options, const struct tm_trace_format *format,
                   const char *name);

/* A writer with what feeds it: for one file, or for several ones after each other. */
struct tm_trace_output {
    struct tm_trace_writer *writer;
    struct tm_trace_writer *overview; /* inside of it; NULL = everything is written */
    struct tm_trace_writer *aligned;  /* likewise */
    struct tm_exporter *exporter;
    uint64_t arguments_before; /* that the writer wrote in reported files */
};

/* in:     c       prepared; must outlive it
 *         choice  what to write, and where files end; the fields that are the same for all outputs of c are filled in
 * owns:   the caller; tm_trace_output_close releases it, also after a failure */
tm_status tm_trace_output_open(struct tm_trace_output *out, const struct tm_conversion *c,
                               const struct tm_trace_format *format, const struct tm_export_options *choice);
void tm_trace_output_close(struct tm_trace_output *out); /* tolerates zeroed memory */

/* The first file starts; the exporter starts those that follow. */
tm_status tm_trace_output_begin_file(struct tm_trace_output *out, struct tm_out_file *file);
/* The last one ends. */
tm_status tm_trace_output_end_file(struct tm_trace_output *out);
/* What is in a file that has ended: counts, arguments and bytes before compression. */
void tm_trace_output_tell(struct tm_trace_output *out, const struct tm_export_counts *counts,
                          struct tm_written *written);

/* Write all hosts of a run into one file.
 * in:     c       prepared
 * out:    *file   not committed; the caller frees it, also after a failure
 *         written without its bytes, which are known when it is committed
 * errors: of the input, of the output, limits */
tm_status tm_convert_into(struct tm_conversion *c, const struct tm_trace_format *format, const char *folder,
                          const char *name, struct tm_out_file **file, struct tm_written *written);

/* The same, where the format is an archive: trace_archive.c. */
tm_status tm_convert_into_archive(struct tm_conversion *c, const struct tm_trace_format *format, const char *folder,
                                  const char *name, struct tm_out_file **file, struct tm_written *written);

/* Write the overview that was kept, as the overview of the run's parts.  out: as of tm_convert_into */
tm_status tm_convert_kept(struct tm_conversion *c, struct tm_kept_overview *kept, const struct tm_step_parts *parts,
                          const char *folder, const char *name, struct tm_out_file **file, struct tm_written *written);

/* Two runs in one trace, aligned by their steps: compared_trace.c. */
struct tm_compared_trace;

struct tm_compared_input {
    const char *path, *label;
    const struct tm_value *summary;
};

/* Which steps are written, and where: analyzed ones of the same number, else by their order.
 * in:     input  base and new; their paths must outlive the result
 * errors: NULL, with the error in run->error: TM_ERR_INPUT  no steps to pair */
struct tm_compared_trace *tm_compared_trace_plan(struct tm_run *run,
                                                 const struct tm_compared_input input[2]) TM_MUST_USE;
void tm_compared_trace_free(struct tm_compared_trace *t); /* tolerates NULL */
/* Its steps, as the document of the comparison lists them.  in: name  of its file */
void tm_compared_trace_describe(const struct tm_compared_trace *t, const char *name, struct tm_value *comparison);
/* in:     options  of the comparison: what to write of events, and how many
 * out:    as in tm_convert_into */
tm_status tm_compared_trace_write(struct tm_compared_trace *t, const struct tm_options *options, const char *folder,
                                  const char *name, struct tm_out_file **file, struct tm_written *written);

#endif
