/* SPDX-License-Identifier: Apache-2.0 */
/* `split`: writes a run in parts that a viewer can open, with an index as JSON and HTML.  Parts get their names one by
 * one, the index last; a failure removes the parts. */
#include "pipeline/commands/commands.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/engine/conversion.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/files.h"
#include "pipeline/options.h"
#include "pipeline/redact.h"
#include "pipeline/run.h"
#include "reports/media.h"
#include "stages/output/export/exporter.h"

#define TM_SPLIT_INDEX "index.json"
#define TM_SPLIT_PAGE "index.html"
#define TM_SPLIT_OVERVIEW "overview.pftrace"
#define TM_SPLIT_SCHEMA "tracemill.split"

/* A run in parts: one file after the other, each whole when it gets its name. */

enum { OVERVIEW_LEAST = 20 * 1000 /* slices */ };

struct tm_split_parts {
    struct tm_conversion *c;
    const struct tm_trace_format *format;
    const char *folder;
    struct tm_rows *written; /* struct tm_written, in the order of their numbers */
    /* what is being written */
    struct tm_split_borders borders;
    struct tm_trace_output out;
    struct tm_out_file *file; /* NULL = none */
    struct tm_written part;
    struct tm_written overview;    /* its name is "" where there is none */
    struct tm_kept_overview *kept; /* NULL = none is wanted */
    bool is_small;                 /* it probably becomes a single part */
};

/* Decides when a part is full.  Steps are visited in sequence as parts are written, without additional memory. */

enum {
    END_BYTES = 64,   /* at most, what ends a slice that is open */
    OPEN_BYTES = 512, /* the minimum size assumed for a slice that is not written yet */
    EVENT_LEAST_BYTES = 4 << 10,
    EVENT_MOST_BYTES = 1 << 20, /* kept free for the next event, and the end of the file */
    EVENT_SHARE = 16,           /* of the limit, between these */
    REPEATS_MOST = 8,           /* times as much as is new in a part */
};

void tm_split_borders_init(struct tm_split_borders *b, struct tm_run *run, const struct tm_options *options,
                           const struct tm_trace_writer_type *type)
{
    *b = (struct tm_split_borders){
        .run = run, .options = options, .writes_ends = type->writes_ends, .border_ps = INT64_MAX, .is_fresh = true
    };
}

/* A time of the host on the output's clock; what does not fit, no event reaches. */
static int64_t output_time(const struct tm_split_borders *b, int64_t ps)
{
    int64_t time_ps;

    return tm_clock_at(&b->clock, ps, &time_ps) ? time_ps : INT64_MAX;
}

/* --- steps --- */

/* When a step starts, on the output's clock.  out: INT64_MAX if there is no such step */
static int64_t step_begin(struct tm_split_borders *b, uint64_t ordinal)
{
    const struct tm_step_mark *mark;

    if (ordinal >= tm_rows_count(b->steps->marks))
        return INT64_MAX;
    mark = tm_rows_at(b->steps->marks, ordinal);
    return output_time(b, mark->start_ps);
}

/* The first border after a time. */
static int64_t next_border(struct tm_split_borders *b, int64_t time_ps)
{
    const struct tm_options *o = b->options;
    uint64_t ordinal;
    int64_t border_ps;

    if (o->by == TM_BY_TIME) {
        const int64_t passed = time_ps < b->zero_ps ? 0 : (time_ps - b->zero_ps) / o->by_time_ps + 1;

        if (__builtin_mul_overflow(passed, o->by_time_ps, &border_ps) ||
            __builtin_add_overflow(border_ps, b->zero_ps, &border_ps))
            return INT64_MAX;
        return border_ps;
    }
    b->border_step = UINT64_MAX;
    if (o->by != TM_BY_STEP)
        return INT64_MAX;
    /* The next multiple of the steps per part that have started. */
    ordinal = b->begun ? (b->begun - 1) / o->by_steps : 0;
    if (__builtin_mul_overflow(ordinal + 1, o->by_steps, &ordinal))
        return INT64_MAX;
    b->border_step = ordinal < tm_rows_count(b->steps->marks) ? ordinal : UINT64_MAX;
    return step_begin(b, ordinal);
}

tm_status tm_split_borders_begin_host(struct tm_split_borders *b, const struct tm_trace *trace,
                                      const struct tm_clock *clock, int64_t zero_ps)
{
    b->trace = trace;
    b->steps = &trace->steps;
    b->clock = *clock;
    b->zero_ps = zero_ps;
    b->first_ps = output_time(b, trace->first_ps);
    b->begun = 0;
    b->is_fresh = true;
    while (b->begun < tm_rows_count(b->steps->marks) && step_begin(b, b->begun) <= b->first_ps)
        b->begun++;
    b->border_ps = next_border(b, b->first_ps);
    return b->run->error.status;
}

/* Until when a device works on the last step before the border, on the host's clock. */
static int64_t work_end(const struct tm_split_borders *b, uint32_t device)
{
    const struct tm_step_row *row;

    if (!b->steps->rows || !b->border_step || !b->trace->devices[device].activities)
        return INT64_MIN;
    row = tm_rows_at(b->steps->rows, b->trace->devices[device].first_step_row + b->border_step - 1);
    return row->activities ? row->last_ps : INT64_MIN;
}

/* Work belongs to its step, whenever the device does it.  What has no step belongs to the part by its time: on a device after
 * the work of the part. */
bool tm_split_borders_is_later(struct tm_split_borders *b, const struct tm_track *track, int64_t start_ps,
                               uint32_t step)
{
    if (b->border_ps == INT64_MAX)
        return false;
    if (step != TM_NONE)
        return step >= b->border_step;
    if (output_time(b, start_ps) < b->border_ps)
        return false;
    return !track || !tm_is_of_device(track) || start_ps >= work_end(b, track->device);
}

/* --- limits --- */

static uint64_t bytes_to_keep_free(const struct tm_split_borders *b, const struct tm_export_counts *counts,
                                   uint64_t raw_bytes, uint64_t open_spans)
{
    uint64_t event = b->options->part_bytes / EVENT_SHARE;
    uint64_t each = END_BYTES;

    event = event < EVENT_LEAST_BYTES ? EVENT_LEAST_BYTES : event > EVENT_MOST_BYTES ? EVENT_MOST_BYTES : event;
    if (!b->writes_ends) {
        each = counts->slices ? 2 * (raw_bytes / counts->slices) : 0;
        each = each < OPEN_BYTES ? OPEN_BYTES : each;
    }
    return event + open_spans * each;
}

/* Where much is open, or there are many counters, parts that a limit ends would repeat more and more. */
static bool has_enough_new(const struct tm_split_borders *b, const struct tm_export_counts *counts)
{
    const uint64_t repeated = counts->pieces + b->counters_before;

    return (counts->slices + counts->counters - repeated) >= repeated / REPEATS_MOST;
}

bool tm_split_borders_want(struct tm_split_borders *b, const struct tm_export_counts *counts, uint64_t raw_bytes,
                           size_t open_spans, int64_t time_ps)
{
    const struct tm_options *o = b->options;

    if (b->is_fresh) {
        b->is_fresh = false;
        b->counters_before = counts->counters;
    }
    /* What is at its start does not end it: parts would be empty forever. */
    if (tm_failed(b->run) || (counts->slices <= counts->pieces && counts->counters <= b->counters_before)) {
        if (o->by == TM_BY_NAME) /* it starts here anyway */
            b->border_ps = INT64_MAX;
        return false;
    }
    if (time_ps >= b->border_ps && !b->follows_work)
        return true;
    return has_enough_new(b, counts) &&
           (counts->slices >= o->part_events ||
            raw_bytes + bytes_to_keep_free(b, counts, raw_bytes, open_spans) > o->part_bytes);
}

tm_status tm_split_borders_end_part(struct tm_split_borders *b, int64_t time_ps, uint64_t *first, uint64_t *count)
{
    const uint64_t before = b->begun ? b->begun - 1 : 0;
    const uint64_t steps = tm_rows_count(b->steps->marks);
    uint64_t begun = b->begun;

    while (begun < steps && step_begin(b, begun) < time_ps)
        begun++;
    *first = before;
    *count = begun - before;
    while (begun < steps && step_begin(b, begun) <= time_ps)
        begun++;
    b->begun = begun;
    b->border_ps = next_border(b, time_ps);
    b->is_fresh = true;
    return b->run->error.status;
}

/* The files that may be overwritten.  An older index is recognized by its first lines and read line by line: this
 * program wrote it, so each part is on its own line.  Only names that parts can have are ever removed. */

enum { LINE_BYTES = 4096, PATH_BYTES = 8192 };

static void path_of(char path[PATH_BYTES], const char *folder, const char *name)
{
    (void)snprintf(path, PATH_BYTES, "%.4095s/%.4000s", folder, name);
}

/* The value of a line `"KEY": "VALUE"` or `"KEY": "VALUE",`, made a string in place; NULL = it is another line. */
static char *value_of(char *line, const char *key)
{
    char *at = line + strspn(line, " ");
    const size_t length = strlen(key);
    char *end;

    if (at[0] != '"' || strncmp(at + 1, key, length) != 0 || strncmp(at + 1 + length, "\": \"", 4) != 0)
        return NULL;
    at += length + 5;
    end = strchr(at, '"');
    if (!end)
        return NULL;
    *end = '\0';
    return at;
}

static FILE *open_index(const char *folder)
{
    char path[PATH_BYTES], line[LINE_BYTES];
    const char *schema;
    bool has_line = true;
    FILE *file;

    path_of(path, folder, TM_SPLIT_INDEX);
    file = fopen(path, "rbe");
    if (!file)
        return NULL;
    for (int i = 0; i < 2 && has_line; i++)
        has_line = fgets(line, sizeof(line), file) != NULL;
    schema = has_line ? value_of(line, "schema") : NULL; /* on the second one */
    if (schema && strcmp(schema, TM_SPLIT_SCHEMA) == 0)
        return file;
    (void)fclose(file);
    return NULL;
}

static bool is_empty(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool any = false;

    if (!dir)
        return errno == ENOENT;
    while (!any && (entry = readdir(dir)) != NULL)
        any = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(dir);
    return !any;
}

tm_status tm_split_folder_check(struct tm_run *run, const char *folder, bool force)
{
    char path[PATH_BYTES];
    FILE *index;

    if (tm_failed(run) || tm_check_folder(run, folder))
        return run->error.status;
    path_of(path, folder, TM_SPLIT_INDEX);
    tm_guard_output(run, path, "the list of the parts");
    path_of(path, folder, TM_SPLIT_PAGE);
    tm_guard_output(run, path, "the page of the parts");
    path_of(path, folder, TM_SPLIT_OVERVIEW);
    tm_guard_output(run, path, "the overview of the parts");
    if (tm_failed(run) || force || is_empty(folder))
        return run->error.status;
    index = open_index(folder);
    if (index) {
        (void)fclose(index);
        return TM_OK;
    }
    (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot split into '%s': the folder is not empty", folder);
    tm_hint(&run->error, "set another folder with -o, or write to this one with --force");
    return TM_ERR_OUTPUT;
}

/* Remove a part; one that is missing is fine. */
static void split_folder_remove(const char *folder, const char *name)
{
    char path[PATH_BYTES];

    path_of(path, folder, name);
    (void)unlink(path);
}

/* in: removes  false: see that none of them is an input */
static void go_through_listed(struct tm_run *run, const char *folder, FILE *index, bool removes)
{
    char line[LINE_BYTES], path[PATH_BYTES];

    rewind(index);
    while (!tm_failed(run) && fgets(line, sizeof(line), index)) {
        const char *name = value_of(line, "file");

        if (!name || !tm_is_part_name(name))
            continue;
        path_of(path, folder, name);
        if (removes)
            split_folder_remove(folder, name);
        else
            tm_guard_check(run, path);
    }
    if (ferror(index))
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot read '%s/%s'", folder, TM_SPLIT_INDEX);
}

bool tm_split_folder_list(const char *folder, void (*take)(void *to, const char *name), void *to)
{
    FILE *const index = open_index(folder);
    char line[LINE_BYTES];

    if (!index)
        return false;
    for (unsigned count = 0; take && count < TM_SPLIT_PARTS_MOST && fgets(line, sizeof(line), index);) {
        const char *const name = value_of(line, "file");

        if (!name || !tm_is_part_name(name))
            continue;
        take(to, name);
        count++;
    }
    (void)fclose(index);
    return true;
}

tm_status tm_split_folder_clear(struct tm_run *run, const char *folder)
{
    char path[PATH_BYTES];
    FILE *index = tm_failed(run) ? NULL : open_index(folder);

    if (!index)
        return run->error.status;
    path_of(path, folder, TM_SPLIT_INDEX);
    go_through_listed(run, folder, index, false);
    if (!tm_failed(run) && unlink(path) != 0)
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot remove '%s'", path);
    go_through_listed(run, folder, index, true);
    if (!tm_failed(run)) {
        split_folder_remove(folder, TM_SPLIT_PAGE);
        split_folder_remove(folder, TM_SPLIT_OVERVIEW);
    }
    (void)fclose(index);
    return run->error.status;
}

/* Parts by hosts, devices, borders.  An exporter writes the parts of one device, or of everything, host by host, so
 * that rows have the same numbers whatever is written; by device, the events are put in order again for each.  Memory:
 * one exporter, one writer and one file at a time; a row for each part, which spill. */

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

static void open_part(struct tm_split_parts *p)
{
    struct tm_run *run = p->c->run;

    if (tm_rows_count(p->written) >= TM_SPLIT_PARTS_MOST) {
        (void)tm_fail(&run->error, TM_ERR_LIMIT, -1, "cannot split into more than %d parts", TM_SPLIT_PARTS_MOST);
        tm_hint(&run->error, "make parts larger: --max-events, --max-size, --by");
    }
    name_part(p);
    p->file = tm_failed(run) ? NULL : tm_out_file_open(run, p->folder, p->part.name, p->format->is_gzip);
}

/* What is not on the list could not be removed again. */
static void list_part(struct tm_split_parts *p)
{
    tm_rows_append(p->written, &p->part);
    if (tm_failed(p->c->run))
        split_folder_remove(p->folder, p->part.name);
}

/* The file gets its name; a part without anything in it is removed.
 * in: until_ps  where it ends; INT64_MAX = with its host */
static void close_part(struct tm_split_parts *p, const struct tm_export_counts *counts, int64_t until_ps)
{
    struct tm_written *part = &p->part;

    tm_split_borders_end_part(&p->borders, until_ps, &part->first_step, &part->step_count);
    tm_trace_output_tell(&p->out, counts, part);
    if (!tm_failed(p->c->run) && (counts->slices || counts->counters || counts->arrow_ends) &&
        !tm_out_file_commit(p->file, &part->bytes))
        list_part(p);
    tm_out_file_free(p->file);
    p->file = NULL;
}

static bool wants_cut(void *to, const struct tm_export_counts *counts, uint64_t raw_bytes, size_t open_spans,
                      int64_t time_ps)
{
    struct tm_split_parts *p = to;

    return tm_split_borders_want(&p->borders, counts, raw_bytes, open_spans, time_ps);
}

/* An event that ends a part starts. */
static void at_border(void *to, int64_t time_ps)
{
    struct tm_split_parts *const p = to;

    p->borders.border_ps = time_ps;
}

static bool is_later(void *to, const struct tm_track *track, int64_t start_ps, uint32_t step)
{
    struct tm_split_parts *const p = to;

    return tm_split_borders_is_later(&p->borders, track, start_ps, step);
}

static struct tm_out_file *next_file(void *to, const struct tm_export_counts *counts, int64_t time_ps)
{
    struct tm_split_parts *p = to;

    close_part(p, counts, time_ps);
    open_part(p);
    return tm_failed(p->c->run) ? NULL : p->file;
}

/* --- all parts --- */

/* Whether the calls that write the parts make the overview too: where each event is written once, as start and end, and in
 * time order, which those of parts by step are not.  Not where probably none is needed: if there are several parts after
 * all, the events are read again for it. */
static bool has_overview_beside(const struct tm_split_parts *p)
{
    return p->format->type->writes_ends && p->c->options->by != TM_BY_DEVICE && !p->borders.follows_work &&
           !p->is_small;
}

static void open_writer(struct tm_split_parts *p, bool has_device, uint32_t device)
{
    const struct tm_export_options choice = {
        .has_device = has_device,
        .device = device,
        .kept = has_overview_beside(p) ? p->kept : NULL,
        .wants_cut = wants_cut,
        .next_file = next_file,
        .border = p->c->options->by == TM_BY_NAME ? p->c->options->by_name : NULL,
        .at_border = at_border,
        .part_end_ps = p->borders.follows_work ? &p->borders.border_ps : NULL,
        .to = p,
    };

    tm_trace_output_open(&p->out, p->c, p->format, &choice);
}

static void close_writer(struct tm_split_parts *p)
{
    tm_trace_output_close(&p->out);
    tm_out_file_free(p->file);
    p->file = NULL;
}

/* in: device  of the host; TM_NONE = what is on none; looked at where parts are by device */
static void begin_part_list(struct tm_split_parts *p, const struct tm_trace *trace, uint32_t device)
{
    struct tm_written *part = &p->part;

    *part = (struct tm_written){ .bytes = 0 };
    if (p->c->options->by == TM_BY_DEVICE && device == TM_NONE)
        (void)snprintf(part->device, sizeof(part->device), "host");
    else if (p->c->options->by == TM_BY_DEVICE && device < trace->device_count)
        (void)snprintf(part->device, sizeof(part->device), "%s:%lld", tm_device_kind_name[trace->devices[device].kind],
                       (long long)trace->devices[device].ordinal);
    tm_redact_host(p->c->run->redactor, part->host, sizeof(part->host), trace->host_name);
}

/* Two fifths of the slices of a part: where parts are small because the viewer has little memory, so is the overview. */
static uint64_t overview_slices(const struct tm_options *options)
{
    const uint64_t share = options->part_events / 5 * 2;

    if (share < OVERVIEW_LEAST)
        return OVERVIEW_LEAST;
    return share < TM_OVERVIEW_SLICES ? share : TM_OVERVIEW_SLICES;
}

static void begin_overview_host(struct tm_split_parts *p, uint32_t number, const struct tm_host_run *host)
{
    tm_kept_overview_begin_host(p->kept, &host->trace, &p->c->clocks[number].to_output,
                                overview_slices(p->c->options) / p->c->inputs.host_count);
}

static void write_host(struct tm_split_parts *p, uint32_t number, uint32_t device)
{
    struct tm_host_run *host;

    if (tm_conversion_host(p->c, number, &host))
        return;
    begin_part_list(p, &host->trace, device);
    tm_split_borders_begin_host(&p->borders, &host->trace, &p->c->clocks[number].to_output,
                                tm_host_clocks_first(p->c->clocks, p->c->inputs.host_count));
    open_part(p);
    if (!p->file || tm_trace_output_begin_file(&p->out, p->file))
        return;
    if (p->kept && has_overview_beside(p))
        begin_overview_host(p, number, host);
    tm_conversion_events(p->c, number, p->out.exporter);
    if (tm_failed(p->c->run) || tm_trace_output_end_file(&p->out))
        return;
    close_part(p, tm_exporter_counts(p->out.exporter), INT64_MAX);
}

/* in: has_device  only what is on that device of each host; TM_NONE = on none */
static void write_hosts(struct tm_split_parts *p, bool has_device, uint32_t device, uint32_t *most_devices)
{
    open_writer(p, has_device, device);
    for (uint32_t i = 0; i < p->c->inputs.host_count && !tm_failed(p->c->run); i++) {
        write_host(p, i, device);
        if (p->c->host.trace.device_count > *most_devices)
            *most_devices = p->c->host.trace.device_count;
    }
    close_writer(p);
}

/* Slices that are computed come in addition to the events. */
static bool is_small_run(const struct tm_conversion *c)
{
    return c->inputs.host_count == 1 && c->options->by == TM_BY_LIMITS && !c->options->overview &&
           tm_trace_events(&c->host.trace) < c->options->part_events / 3 * 2;
}

/* Write all parts into an existing folder.
 * in:     c      prepared
 * owns:   the caller; split_parts_free releases it, also after a failure
 * errors: of the input, of the output; TM_ERR_LIMIT beyond TM_SPLIT_PARTS_MOST parts */
static void split_parts_write(struct tm_split_parts *p, struct tm_conversion *c, const struct tm_trace_format *format,
                              const char *folder)
{
    const bool by_device = c->options->by == TM_BY_DEVICE;
    uint32_t devices = 0;

    *p = (struct tm_split_parts){ .c = c, .format = format, .folder = folder, .is_small = is_small_run(c) };
    if (tm_failed(c->run))
        return;
    p->written = tm_rows_new(c->run, TM_ACCOUNT_MODEL, sizeof(struct tm_written), LIST_BYTES);
    if (p->written && !c->options->no_overview)
        p->kept = tm_kept_overview_new(c->run, c->names);
    if (tm_failed(c->run))
        return;
    tm_split_borders_init(&p->borders, c->run, c->options, format->type);
    p->borders.follows_work = c->options->by == TM_BY_STEP;
    c->is_later = p->borders.follows_work ? is_later : NULL;
    c->to_later = p;
    write_hosts(p, by_device, TM_NONE, &devices);
    c->is_later = NULL;
    for (uint32_t i = 0; by_device && i < devices && !tm_failed(c->run); i++)
        write_hosts(p, true, i, &devices);
}

/* --- the overview --- */

/* Where the search for the part of a step continues: steps are nearly in order. */
struct step_search {
    const struct tm_split_parts *parts;
    uint64_t at; /* the part that was found last */
    char text[2 * sizeof(((struct tm_written *)0)->name) + 8];
};

static bool holds_step(const struct step_search *s, uint64_t at, const char *host, uint32_t ordinal)
{
    const struct tm_written *const part = tm_rows_at(s->parts->written, at);

    return ordinal >= part->first_step && ordinal - part->first_step < part->step_count &&
           strcmp(part->host, host) == 0;
}

static const char *part_of_step(void *to, const char *of_host, uint32_t ordinal)
{
    struct step_search *const s = to;
    const uint64_t count = tm_rows_count(s->parts->written);
    char host[sizeof(((struct tm_written *)0)->host)], first[sizeof(((struct tm_written *)0)->name)];
    uint64_t last;

    tm_redact_host(s->parts->c->run->redactor, host, sizeof(host), of_host);
    while (s->at && s->at < count && holds_step(s, s->at - 1, host, ordinal))
        s->at--;
    for (uint64_t i = 0; i < count && (s->at >= count || !holds_step(s, s->at, host, ordinal)); i++)
        s->at = s->at + 1 < count ? s->at + 1 : 0;
    if (s->at >= count || !holds_step(s, s->at, host, ordinal))
        return NULL;
    for (last = s->at; last + 1 < count && holds_step(s, last + 1, host, ordinal);)
        last++;
    (void)snprintf(first, sizeof(first), "%s", ((const struct tm_written *)tm_rows_at(s->parts->written, s->at))->name);
    if (last == s->at)
        (void)snprintf(s->text, sizeof(s->text), "%s", first);
    else
        (void)snprintf(s->text, sizeof(s->text), "%s to %s", first,
                       ((const struct tm_written *)tm_rows_at(s->parts->written, last))->name);
    return s->text;
}

/* From another pass over the events. */
static void make_overview(struct tm_split_parts *p)
{
    const struct tm_export_options choice = { .is_overview = true, .kept = p->kept };
    struct tm_conversion *const c = p->c;
    struct tm_trace_output out;
    struct tm_host_run *host;

    if (!tm_trace_output_open(&out, c, tm_trace_format_of(TM_SPLIT_OVERVIEW), &choice))
        tm_trace_output_begin_file(&out, NULL);
    for (uint32_t i = 0; i < c->inputs.host_count && !tm_failed(c->run); i++) {
        if (!tm_conversion_host(c, i, &host))
            begin_overview_host(p, i, host);
        if (!tm_failed(c->run))
            tm_conversion_events(c, i, out.exporter);
    }
    tm_trace_output_close(&out);
}

static void write_overview(struct tm_split_parts *p)
{
    struct tm_conversion *const c = p->c;
    struct step_search search = { .parts = p };
    struct tm_out_file *file = NULL;

    if (tm_failed(c->run) || !p->kept || (!c->options->overview && tm_rows_count(p->written) < 2))
        return;
    if (!has_overview_beside(p))
        make_overview(p);
    tm_convert_kept(c, p->kept, &(struct tm_step_parts){ .find = part_of_step, .to = &search }, p->folder,
                    TM_SPLIT_OVERVIEW, &file, &p->overview);
    if (!tm_failed(c->run))
        tm_out_file_commit(file, &p->overview.bytes);
    tm_out_file_free(file);
}

static void split_parts_free(struct tm_split_parts *p)
{
    tm_kept_overview_free(p->kept);
    tm_rows_free(p->written);
    p->written = NULL;
    p->kept = NULL;
}

/* Remove what was written. */
static void split_parts_remove(struct tm_split_parts *p)
{
    split_folder_remove(p->folder, TM_SPLIT_OVERVIEW);
    for (uint64_t i = 0; i < tm_rows_count(p->written); i++) {
        const struct tm_written *part = tm_rows_at(p->written, i);

        if (part->name[0])
            split_folder_remove(p->folder, part->name);
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
    to->launches += part->counts.launches;
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
    tm_add_uint(to, "launches", total->counts.launches);
    tm_add_uint(to, "counters", total->counts.counters);
    tm_add_uint(to, "arrows", total->counts.arrows);
    tm_add_uint(to, "arguments", total->arguments);
}

static void add_names(const struct tm_split_parts *p, struct tm_value *root)
{
    char name[TM_SHOWN_RUN_BYTES];
    struct tm_value *hosts;

    tm_conversion_run_name(p->c, name);
    tm_add_text(root, "run", name, strlen(name));
    hosts = tm_add_array(root, "hosts");
    for (uint32_t i = 0; i < p->c->inputs.host_count; i++) {
        tm_redact_host(p->c->run->redactor, name, sizeof(name), p->c->inputs.hosts[i]->host);
        tm_add_text(hosts, NULL, name, strlen(name));
    }
}

static void add_settings(const struct tm_split_parts *p, struct tm_value *root)
{
    static const char *const by[] = { "limits", "step", "device", "time", "name" };
    const struct tm_options *o = p->c->options;
    struct tm_value *to = tm_add_object(root, "tool");

    tm_add_string(to, "name", "tracemill");
    tm_add_string(to, "version", TM_VERSION);
    add_names(p, root);
    tm_add_string(root, "format", p->format->ending + 1);
    tm_add_string(root, "by", by[o->by]);
    tm_add_uint(root, "max_events", o->part_events);
    tm_add_uint(root, "max_bytes", o->part_bytes);
    tm_add_int(root, "epoch_ns", p->c->epoch_ns);
    tm_add_bool(root, "partial", p->c->damaged_files > 0);
}

static void add_overview(const struct tm_split_parts *p, struct tm_value *root)
{
    const struct tm_written *const overview = &p->overview;
    struct tm_value *to;

    if (!overview->name[0]) {
        tm_add_null(root, "overview", p->c->options->no_overview ? "--no-overview" : "there is one part");
        return;
    }
    to = tm_add_object(root, "overview");
    tm_add_string(to, "file", overview->name);
    tm_add_uint(to, "bytes", overview->bytes);
    tm_add_uint(to, "raw_bytes", overview->raw_bytes);
    tm_add_uint(to, "slices", overview->counts.slices);
}

/* The list of the parts, as defined by schemas/split.schema.json, and as lines. */
static void split_parts_add(const struct tm_split_parts *p, struct tm_value *root)
{
    const uint64_t count = tm_rows_count(p->written);
    struct tm_written total = { .bytes = 0 };
    struct tm_value *sums, *list;

    tm_add_string(root, "schema", TM_SPLIT_SCHEMA);
    tm_add_int(root, "schema_version", 1);
    add_settings(p, root);
    add_overview(p, root);
    sums = tm_add_object(root, "total");
    list = tm_add_array(root, "parts");
    for (uint64_t i = 0; i < count; i++) {
        const struct tm_written *part = tm_rows_at(p->written, i);

        add_total(&total, part);
        tm_written_add(part, tm_add_object(list, NULL));
    }
    add_sums(&total, count, sums);
}

static void split_parts_print(const struct tm_split_parts *p, FILE *to)
{
    if (p->overview.name[0])
        (void)fprintf(to, "%s/%s  the whole run: open it first\n", p->folder, p->overview.name);
    for (uint64_t i = 0; i < tm_rows_count(p->written); i++)
        tm_written_print(tm_rows_at(p->written, i), p->folder, to);
    tm_written_print_page(p->folder, TM_SPLIT_PAGE, tm_rows_count(p->written), to);
}

/* The format of the parts: what was chosen for reports elsewhere than on the command line does not count. */
static const struct tm_trace_format *choose_format(struct tm_run *run, const struct tm_options *options)
{
    const struct tm_setting *setting = &options->settings->of[TM_OPTION_FORMAT];
    const bool is_json = options->formats == TM_FORMAT_JSON;

    if (setting->origin == TM_ORIGIN_FLAG && !is_json && options->formats != TM_FORMAT_PFTRACE) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot use '%s' for --format: parts are pftrace or json",
                      setting->text);
        tm_hint(&run->error, "write '--format pftrace' or '--format json'");
    }
    return tm_trace_format_of(is_json ? "part.json" : "part.pftrace");
}

/* --- the list and the page --- */

static tm_status write_list(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    return tm_doc_print(doc, run, fileno(to));
}

typedef tm_status write_doc(struct tm_run *run, const struct tm_doc *doc, FILE *to);

static void write_file(struct tm_run *run, const struct tm_doc *doc, struct tm_atomic_file *file, const char *folder,
                       const char *name, write_doc *write)
{
    if (tm_atomic_open(file, run, folder, name))
        return;
    (void)write(run, doc, file->stream);
    if (fflush(file->stream) != 0)
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write '%s'", file->path);
}

/* Both or none, as far as one rename after the other can be. */
TM_NOT_INLINE void write_index(struct tm_run *run, const struct tm_doc *doc, const char *folder)
{
    struct tm_atomic_file page = { .stream = NULL }, list = { .stream = NULL };

    write_file(run, doc, &page, folder, TM_SPLIT_PAGE, tm_html_parts_write);
    write_file(run, doc, &list, folder, TM_SPLIT_INDEX, write_list);
    if (!tm_atomic_commit(&page) && tm_atomic_commit(&list))
        split_folder_remove(folder, TM_SPLIT_PAGE);
    tm_atomic_abort(&page);
    tm_atomic_abort(&list);
}

static void tell(const struct tm_split_parts *parts, const struct tm_doc *doc)
{
    const struct tm_conversion *c = parts->c;

    if (c->options->json)
        tm_doc_print(doc, c->run, STDOUT_FILENO);
    else if (!c->options->quiet)
        split_parts_print(parts, stdout);
}

static void list_parts(const struct tm_split_parts *parts, struct tm_doc *doc, const char *folder)
{
    struct tm_run *run = parts->c->run;

    tm_doc_end_reading(doc);
    split_parts_add(parts, tm_doc_root(doc));
    if (run->redactor)
        tm_redaction_save(run, parts->c->options, folder);
    write_index(run, doc, folder);
}

TM_NOT_INLINE void split_into(struct tm_conversion *c, const struct tm_trace_format *format, const char *folder)
{
    struct tm_run *run = c->run;
    struct tm_split_parts parts;
    struct tm_doc *doc;

    if (tm_failed(run))
        return;
    tm_make_folder(run, folder);
    tm_split_folder_clear(run, folder);
    tm_progress_phase(&run->progress, "writing", 0);
    split_parts_write(&parts, c, format, folder);
    write_overview(&parts);
    tm_conversion_judge(c, "split");
    tm_progress_end(&run->progress);
    tm_host_close(&c->host); /* the list may have its memory */
    doc = tm_failed(run) ? NULL : tm_doc_new(run);
    if (doc)
        list_parts(&parts, doc, folder);
    if (tm_failed(run))
        split_parts_remove(&parts);
    else
        tell(&parts, doc);
    tm_doc_free(doc);
    split_parts_free(&parts);
}

/* The default name: from the input, or from its pseudonym, whose key is known after the input was read. */
TM_NOT_INLINE void find_fallback(struct tm_conversion *c, char folder[TM_PLACE_BYTES])
{
    char run_name[TM_SHOWN_RUN_BYTES];

    if (tm_failed(c->run))
        return;
    tm_conversion_run_name(c, run_name);
    tm_default_name(folder, c->run, c->options, run_name, ".split", true);
    tm_split_folder_check(c->run, folder, c->options->force);
}

static tm_status run_split(struct tm_run *run, const struct tm_options *options)
{
    struct tm_conversion conversion;
    const struct tm_trace_format *format = choose_format(run, options);
    char fallback[TM_PLACE_BYTES];
    const char *const folder = options->output ? options->output : fallback;
    tm_status st;

    tm_check_zstd(run, options, format, "part-0001.json");
    if (options->output)
        tm_split_folder_check(run, folder, options->force);
    if (options->redact)
        tm_redaction_begin(run, options);
    tm_conversion_open(&conversion, run, options, "split", options->plain);
    if (!options->output && !run->redactor)
        find_fallback(&conversion, fallback);
    tm_conversion_prepare(&conversion);
    if (!options->output && run->redactor)
        find_fallback(&conversion, fallback);
    tm_conversion_judge(&conversion, "split"); /* what is known before anything is written */
    split_into(&conversion, format, folder);
    st = tm_conversion_warn(&conversion);
    tm_conversion_close(&conversion);
    if (options->redact)
        tm_redaction_end(run);
    return st;
}

/* clang-format off */
const struct tm_verb tm_split_verb = {
    .name = "split",
    .summary = "split a trace that is too large for a viewer into smaller parts",
    .usage = "INPUT... [-o DIR] [OPTION...]",
    .description =
        "Writes a trace like convert, but in parts that each open on their own: a part ends before it exceeds --max-events slices or --max-size bytes, and at the boundaries set by --by. A slice that is open at a cut is in both parts and marked. index.html and index.json list the parts; an older split in the folder is replaced. A small trace becomes a single part. With several parts, overview.pftrace shows the whole run, and each step in it names the part that has it.\n"
        "All parts share one clock and the same rows: 'cat part-*.pftrace > whole.pftrace' joins them again.",
    .examples =
        "tracemill split huge.trace.json.gz -o parts    parts that any browser can open\n"
        "tracemill split logdir --latest --by step=10    ten steps per part\n"
        "tracemill split run.xplane.pb --by device --format json    parts per device, as JSON\n",
    .bit = TM_FOR_SPLIT,
    .flags = TM_VERB_SPILLS | TM_VERB_TRACES,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_split,
};
/* clang-format on */
