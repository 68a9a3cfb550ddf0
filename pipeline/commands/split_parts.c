/* SPDX-License-Identifier: Apache-2.0 */
/* Parts by hosts, devices, borders.  An exporter writes the parts of one device, or of everything, host by host, so
 * that rows have the same numbers whatever is written; by device, the events are put in order again for each.  Memory:
 * one exporter, one writer and one file at a time; a row for each part, which spill. */
#include "pipeline/commands/split_parts.h"

#include <string.h>

#include "pipeline/commands/split_folder.h"
#include "pipeline/part_name.h"
#include "pipeline/redact.h"
#include "pipeline/version.h"

enum { LIST_BYTES = 256 << 10 };

/* --- one part --- */

static void name_part(struct tm_split_parts *p)
{
    const size_t ending = strlen(p->format->ending) + 1;
    const size_t room = sizeof(p->part.name) - ending;

    tm_part_name_begin(p->part.name, room, (unsigned)tm_rows_count(p->written) + 1);
    if (p->c->inputs.host_count > 1)
        tm_part_name_add(p->part.name, room, p->part.host);
    if (p->part.device[0])
        tm_part_name_add(p->part.name, room, p->part.device);
    memcpy(p->part.name + strlen(p->part.name), p->format->ending, ending);
}

static tm_status open_part(struct tm_split_parts *p)
{
    struct tm_run *run = p->c->run;

    if (tm_rows_count(p->written) >= TM_PARTS_MOST) {
        (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "cannot split into more than %d parts", TM_PARTS_MOST);
        tm_hint(&run->error, "let parts be larger: --max-events, --max-size, --by");
        return TM_ERR_LIMIT;
    }
    name_part(p);
    p->file = tm_out_file_open(run, p->folder, p->part.name, p->format->is_gzip);
    return p->file ? TM_OK : run->error.status;
}

/* What is not on the list could not be taken away again. */
static tm_status list_part(struct tm_split_parts *p)
{
    const tm_status st = tm_rows_append(p->written, &p->part);

    if (st != TM_OK)
        tm_split_folder_remove(p->folder, p->part.name);
    return st;
}

/* The file gets its name; a part without anything in it goes away.
 * in: until_ps  where it ends; INT64_MAX = with its host */
static tm_status close_part(struct tm_split_parts *p, const struct tm_export_counts *counts, int64_t until_ps)
{
    struct tm_written *part = &p->part;
    tm_status st = tm_split_borders_end_part(&p->borders, until_ps, &part->first_step, &part->step_count);

    tm_trace_output_tell(&p->out, counts, part);
    if (st == TM_OK && (counts->slices || counts->counters || counts->arrow_ends)) {
        st = tm_out_file_commit(p->file, &part->bytes);
        if (st == TM_OK)
            st = list_part(p);
    }
    tm_out_file_free(p->file);
    p->file = NULL;
    return st;
}

static bool wants_cut(void *to, const struct tm_export_counts *counts, uint64_t raw_bytes, size_t open_spans,
                      int64_t time_ps)
{
    struct tm_split_parts *p = to;

    return tm_split_borders_want(&p->borders, counts, raw_bytes, open_spans, time_ps);
}

static tm_status next_file(void *to, const struct tm_export_counts *counts, int64_t time_ps, struct tm_out_file **next)
{
    struct tm_split_parts *p = to;
    tm_status st = close_part(p, counts, time_ps);

    if (st == TM_OK)
        st = open_part(p);
    *next = p->file;
    return st;
}

/* --- all parts --- */

static tm_status open_writer(struct tm_split_parts *p, bool has_device, uint32_t device)
{
    const struct tm_export_options choice = { .has_device = has_device, .device = device, .wants_cut = wants_cut,
                                              .next_file = next_file, .to = p };

    return tm_trace_output_open(&p->out, p->c, p->format, &choice);
}

static void close_writer(struct tm_split_parts *p)
{
    tm_trace_output_close(&p->out);
    tm_out_file_free(p->file);
    p->file = NULL;
}

/* in: device  of the host; TM_NONE = what lies on none; looked at where parts are by device */
static tm_status begin_part_list(struct tm_split_parts *p, const struct tm_trace *trace, uint32_t device)
{
    struct tm_written *part = &p->part;

    *part = (struct tm_written){ .bytes = 0 };
    if (p->c->options->by == TM_BY_DEVICE && device == TM_NONE)
        (void)snprintf(part->device, sizeof(part->device), "host");
    else if (p->c->options->by == TM_BY_DEVICE && device < trace->device_count)
        (void)snprintf(part->device, sizeof(part->device), "%s:%lld", tm_device_kind_name[trace->devices[device].kind],
                       (long long)trace->devices[device].ordinal);
    return tm_redact_host(p->c->run->redactor, part->host, sizeof(part->host), trace->host_name);
}

static tm_status write_host(struct tm_split_parts *p, uint32_t number, uint32_t device)
{
    const int64_t offset_ps = p->c->clocks[number].offset_ps;
    struct tm_host_run *host;
    tm_status st = tm_conversion_host(p->c, number, &host);

    if (st != TM_OK)
        return st;
    st = begin_part_list(p, &host->trace, device);
    if (st == TM_OK)
        st = tm_split_borders_begin_host(&p->borders, &host->trace, offset_ps);
    if (st == TM_OK)
        st = open_part(p);
    if (st == TM_OK)
        st = tm_trace_output_begin_file(&p->out, p->file);
    if (st == TM_OK)
        st = tm_conversion_events(p->c, number, p->out.exporter);
    if (st == TM_OK)
        st = tm_trace_output_end_file(&p->out);
    return st == TM_OK ? close_part(p, tm_exporter_counts(p->out.exporter), INT64_MAX) : st;
}

/* in: has_device  only what lies on that device of each host; TM_NONE = on none */
static tm_status write_hosts(struct tm_split_parts *p, bool has_device, uint32_t device, uint32_t *most_devices)
{
    tm_status st = open_writer(p, has_device, device);

    for (uint32_t i = 0; i < p->c->inputs.host_count && st == TM_OK; i++) {
        st = write_host(p, i, device);
        if (st == TM_OK && p->c->host.trace.device_count > *most_devices)
            *most_devices = p->c->host.trace.device_count;
    }
    close_writer(p);
    return st;
}

tm_status tm_split_parts_write(struct tm_split_parts *p, struct tm_conversion *c, const struct tm_trace_format *format,
                               const char *folder)
{
    const bool by_device = c->options->by == TM_BY_DEVICE;
    uint32_t devices = 0;
    tm_status st;

    *p = (struct tm_split_parts){ .c = c, .format = format, .folder = folder };
    p->written = tm_rows_new(c->run, TM_ACCOUNT_MODEL, sizeof(struct tm_written), LIST_BYTES);
    if (!p->written)
        return c->run->error.status;
    tm_split_borders_init(&p->borders, c->run, c->options, format->type);
    st = write_hosts(p, by_device, TM_NONE, &devices);
    for (uint32_t i = 0; by_device && i < devices && st == TM_OK; i++)
        st = write_hosts(p, true, i, &devices);
    return st;
}

void tm_split_parts_free(struct tm_split_parts *p)
{
    tm_rows_free(p->written);
    p->written = NULL;
}

void tm_split_parts_remove(struct tm_split_parts *p)
{
    for (uint64_t i = 0; i < tm_rows_count(p->written); i++) {
        const struct tm_written *part = tm_rows_at(p->written, i);

        if (part)
            tm_split_folder_remove(p->folder, part->name);
    }
}

/* --- the list --- */

static void add_total(struct tm_written *total, const struct tm_written *part)
{
    struct tm_export_counts *to = &total->counts;

    total->bytes += part->bytes;
    total->raw_bytes += part->raw_bytes;
    to->slices += part->counts.slices;
    to->pieces += part->counts.pieces;
    to->counters += part->counts.counters;
    to->arrows += part->counts.arrows;
    total->arguments += part->arguments;
}

static void add_sums(const struct tm_written *total, uint64_t parts, struct tm_value *to)
{
    tm_add_uint(to, "parts", parts);
    tm_add_uint(to, "bytes", total->bytes);
    tm_add_uint(to, "raw_bytes", total->raw_bytes);
    tm_add_uint(to, "slices", total->counts.slices);
    tm_add_uint(to, "pieces", total->counts.pieces);
    tm_add_uint(to, "counters", total->counts.counters);
    tm_add_uint(to, "arrows", total->counts.arrows);
    tm_add_uint(to, "arguments", total->arguments);
}

static tm_status add_names(const struct tm_split_parts *p, struct tm_value *root)
{
    char name[TM_SHOWN_RUN_BYTES];
    tm_status st = tm_conversion_run_name(p->c, name);
    struct tm_value *hosts;

    tm_add_text(root, "run", name, strlen(name));
    hosts = tm_add_array(root, "hosts");
    for (uint32_t i = 0; i < p->c->inputs.host_count && st == TM_OK; i++) {
        st = tm_redact_host(p->c->run->redactor, name, sizeof(name), p->c->inputs.hosts[i]->host);
        tm_add_text(hosts, NULL, name, strlen(name));
    }
    return st;
}

static tm_status add_settings(const struct tm_split_parts *p, struct tm_value *root)
{
    static const char *const by[] = { "limits", "step", "device", "time" };
    const struct tm_options *o = p->c->options;
    struct tm_value *to = tm_add_object(root, "tool");
    tm_status st;

    tm_add_string(to, "name", "tracemill");
    tm_add_string(to, "version", TM_VERSION);
    st = add_names(p, root);
    tm_add_string(root, "format", p->format->ending + 1);
    tm_add_string(root, "by", by[o->by]);
    tm_add_uint(root, "max_events", o->part_events);
    tm_add_uint(root, "max_bytes", o->part_bytes);
    tm_add_int(root, "epoch_ns", p->c->epoch_ns);
    tm_add_bool(root, "partial", p->c->damaged_files > 0);
    return st;
}

tm_status tm_split_parts_add(const struct tm_split_parts *p, struct tm_value *root)
{
    const uint64_t count = tm_rows_count(p->written);
    struct tm_written total = { .bytes = 0 };
    struct tm_value *sums, *list;
    tm_status st;

    tm_add_string(root, "schema", TM_SPLIT_SCHEMA);
    tm_add_int(root, "schema_version", 1);
    st = add_settings(p, root);
    if (st != TM_OK)
        return st;
    sums = tm_add_object(root, "total");
    list = tm_add_array(root, "parts");
    for (uint64_t i = 0; i < count; i++) {
        const struct tm_written *part = tm_rows_at(p->written, i);

        if (!part)
            return p->c->run->error.status;
        add_total(&total, part);
        tm_written_add(part, tm_add_object(list, NULL));
    }
    add_sums(&total, count, sums);
    return TM_OK;
}

tm_status tm_split_parts_print(const struct tm_split_parts *p, FILE *to)
{
    for (uint64_t i = 0; i < tm_rows_count(p->written); i++) {
        const struct tm_written *part = tm_rows_at(p->written, i);

        if (!part)
            return p->c->run->error.status;
        tm_written_print(part, p->folder, to);
    }
    tm_written_print_page(p->folder, TM_SPLIT_PAGE, tm_rows_count(p->written), to);
    return TM_OK;
}
