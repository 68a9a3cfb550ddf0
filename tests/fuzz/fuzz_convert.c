/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes through `convert` and `split`: open with arguments, analysis (of some), the exporter with
 * a writer, as a whole or in parts of a few slices: all of that as the fuzzer chooses (see fuzz_choices.h).  What is written never gets a name; what is looked for are
 * errors that the sanitizers see, endless loops, parts without an end, and memory that is kept.
 * Seeds: the recorded profiles, and what tests/fuzz/make_seeds.py makes. */

#include "pipeline/engine/conversion.h"
#include "tests/fuzz/fuzz_job.h"
#include "tests/fuzz/fuzz_mutate.h"

enum { PARTS_MOST = 100000 /* an input of 16 KiB has fewer slices and values */ };

static struct fuzz_choices choices;

/* Where parts end, and the one that is being written. */
struct parts {
    struct tm_run *run;
    struct tm_out_file *file;
    uint64_t every; /* slices and values */
    uint64_t begun, count;
};

static bool wants_cut(void *to, const struct tm_export_counts *counts, uint64_t raw_bytes, size_t open_spans,
                      int64_t time_ps)
{
    struct parts *const parts = to;
    const uint64_t written = counts->slices + counts->counters;

    (void)raw_bytes;
    (void)open_spans;
    (void)time_ps;
    if (!parts->begun)
        parts->begun = written + 1;
    return written >= parts->begun - 1 + parts->every;
}

static struct tm_out_file *next_file(void *to, const struct tm_export_counts *counts, int64_t time_ps)
{
    struct parts *const parts = to;

    (void)time_ps;
    if (counts->first_ps != INT64_MAX && counts->first_ps > counts->last_ps)
        abort();
    if (++parts->count > PARTS_MOST)
        abort();
    tm_out_file_free(parts->file);
    parts->file = tm_out_file_open(parts->run, FUZZ_FOLDER, "part", false);
    parts->begun = 0;
    return parts->file;
}

static tm_status write_hosts(struct tm_conversion *c, struct tm_trace_writer *writer, struct tm_exporter *exporter,
                             struct tm_out_file *file)
{
    tm_status st = TM_OK;

    writer->type->begin_file(writer, file);
    tm_exporter_begin_file(exporter);
    for (uint32_t i = 0; i < c->inputs.host_count && st == TM_OK; i++)
        st = tm_conversion_events(c, i, exporter);
    if (st == TM_OK)
        writer->type->end_file(writer);
    return c->run->error.status;
}

/* in: every  a part ends after so many slices and values; 0 = never */
static tm_status write_trace(struct tm_conversion *c, const struct tm_trace_writer_type *type, uint64_t every)
{
    struct parts parts = { .run = c->run, .every = every };
    const struct tm_writer_options options = tm_conversion_writer(c, false);
    struct tm_export_options export = { .derived = c->derived,
                                        .names_hosts = c->inputs.host_count > 1,
                                        .wants_cut = every ? wants_cut : NULL,
                                        .next_file = next_file,
                                        .to = &parts };
    struct tm_exporter *exporter = NULL;
    tm_status st = TM_OK;

    parts.file = tm_out_file_open(c->run, FUZZ_FOLDER, "whole", false);
    export.writer = parts.file ? type->open(c->run, c->names, &options) : NULL;
    if (export.writer)
        exporter = tm_exporter_new(c->run, c->names, &export);
    st = exporter ? write_hosts(c, export.writer, exporter, parts.file) : c->run->error.status;
    tm_exporter_free(exporter);
    if (export.writer)
        type->free(export.writer);
    tm_out_file_free(parts.file);
    return st;
}

/* A table of slices has no parts. */
static void convert(struct tm_run *run, struct tm_options *options)
{
    static const struct tm_trace_writer_type *const types[] = { &tm_perfetto_writer, &tm_chrome_json_writer,
                                                                &tm_csv_writer };
    const uint8_t *const chosen = choices.bytes;
    const struct tm_trace_writer_type *const type = types[chosen[0] % 3];
    struct tm_conversion c = { .run = NULL };
    tm_status st;

    options->args = (enum tm_args_level)(chosen[1] % 3);
    st = tm_conversion_open(&c, run, options, "convert", chosen[2] % 4);
    if (st == TM_OK)
        st = tm_conversion_prepare(&c);
    if (st == TM_OK)
        (void)!write_trace(&c, type, type == &tm_csv_writer || chosen[3] % 2 ? 0 : 1 + chosen[3] / 2 % 16);
    tm_conversion_close(&c);
}

static void use_file(const char *path, size_t size)
{
    char text[64], *inputs[] = { text };
    struct tm_options options;
    struct tm_run run;

    (void)size;
    (void)snprintf(text, sizeof(text), "%s", path);
    fuzz_run_init(&run);
    if (fuzz_options(&options, inputs, &run.error) == TM_OK)
        convert(&run, &options);
    fuzz_run_end(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices = fuzz_choices_take(data, &size);
    fuzz_with_file(data, size, use_file);
    return 0;
}
