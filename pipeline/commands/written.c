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

/* Where a file lies. */
static void print_place(FILE *to, const char *folder, const char *name)
{
    const size_t length = folder ? strlen(folder) : 0;
    char shown_folder[2 * 4096], shown_name[TM_WRITTEN_NAME_BYTES];

    (void)tm_format_visible(shown_folder, sizeof(shown_folder), folder ? folder : "", length);
    (void)tm_format_visible(shown_name, sizeof(shown_name), name, strlen(name));
    (void)fprintf(to, "%s%s%s  ", shown_folder, length && folder[length - 1] != '/' ? "/" : "", shown_name);
}

/* "2 slices, " */
static void print_count(FILE *to, uint64_t count, const char *what)
{
    char text[TM_FORMAT_BYTES];

    (void)fprintf(to, "%s%s%s, ", tm_format_count(text, (int64_t)count), what, tm_format_plural(count));
}

void tm_written_print(const struct tm_written *w, const char *folder, FILE *to)
{
    char bytes[TM_FORMAT_BYTES];

    print_place(to, folder, w->name);
    print_count(to, w->counts.slices, " slice");
    if (w->counts.counters)
        print_count(to, w->counts.counters, " counter value");
    if (w->counts.arrows)
        print_count(to, w->counts.arrows, " arrow");
    (void)fprintf(to, "%s\n", tm_format_bytes(bytes, (double)w->bytes));
}

void tm_written_print_page(const char *folder, const char *name, uint64_t parts, FILE *to)
{
    char text[TM_FORMAT_BYTES];

    print_place(to, folder, name);
    (void)fprintf(to, "lists %s part%s\n", tm_format_count(text, (int64_t)parts), tm_format_plural(parts));
}
