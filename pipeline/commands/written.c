/* SPDX-License-Identifier: Apache-2.0 */
/* A file that was written, as members of a document and as a line. */
#include "pipeline/commands/written.h"

#include <inttypes.h>
#include <string.h>

#include "reports/format/format.h"

/* Bytes that an importer takes for itself, for a slice, and for an argument of one. */
enum { VIEWER_BYTES = 60000000, SLICE_BYTES = 210, ARGUMENT_BYTES = 50 };

uint64_t tm_written_viewer_bytes(const struct tm_written *w)
{
    return VIEWER_BYTES + w->counts.slices * SLICE_BYTES + w->arguments * ARGUMENT_BYTES;
}

void tm_written_add(const struct tm_written *w, struct tm_value *to)
{
    const struct tm_export_counts *counts = &w->counts;
    const bool is_empty = counts->first_ps > counts->last_ps;
    struct tm_value *steps;

    tm_add_text(to, "file", w->name, strlen(w->name));
    tm_add_uint(to, "bytes", w->bytes);
    tm_add_uint(to, "raw_bytes", w->raw_bytes);
    tm_add_uint(to, "slices", counts->slices);
    tm_add_uint(to, "pieces", counts->pieces);
    tm_add_uint(to, "counters", counts->counters);
    tm_add_uint(to, "arrows", counts->arrows);
    tm_add_uint(to, "arguments", w->arguments);
    tm_add_uint(to, "rows", counts->rows);
    tm_add_int(to, "begin_ns", is_empty ? 0 : tm_out_ns(counts->first_ps));
    tm_add_int(to, "end_ns", is_empty ? 0 : tm_out_ns(counts->last_ps));
    if (w->step_count) {
        steps = tm_add_object(to, "steps");
        tm_add_uint(steps, "first", w->first_step);
        tm_add_uint(steps, "count", w->step_count);
    } else {
        tm_add_null(to, "steps", "no step of one host lies in it");
    }
    if (w->host[0])
        tm_add_text(to, "host", w->host, strlen(w->host));
    else
        tm_add_null(to, "host", "it holds all hosts");
    if (w->device[0])
        tm_add_string(to, "device", w->device);
    else
        tm_add_null(to, "device", "it holds all devices");
    tm_add_uint(to, "viewer_bytes_estimate", tm_written_viewer_bytes(w));
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

void tm_written_print(const struct tm_written *w, const char *folder, FILE *to)
{
    const size_t length = folder ? strlen(folder) : 0;
    const char *slash = length && folder[length - 1] != '/' ? "/" : "";
    char path[2 * 4096], name[TM_WRITTEN_NAME_BYTES], slices[TM_FORMAT_BYTES], counters[TM_FORMAT_BYTES],
        arrows[TM_FORMAT_BYTES], bytes[TM_FORMAT_BYTES];

    (void)tm_format_visible(path, sizeof(path), folder ? folder : "", length);
    (void)tm_format_visible(name, sizeof(name), w->name, strlen(w->name));
    (void)fprintf(to, "%s%s%s  %s slice%s, %s counter%s, %s arrow%s, %s\n", path, slash, name,
                  tm_format_count(slices, (int64_t)w->counts.slices), plural(w->counts.slices),
                  tm_format_count(counters, (int64_t)w->counts.counters), plural(w->counts.counters),
                  tm_format_count(arrows, (int64_t)w->counts.arrows), plural(w->counts.arrows),
                  tm_format_bytes(bytes, (double)w->bytes));
}
