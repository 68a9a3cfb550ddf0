/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that group the work of a device by what the program calls it, as xprof draws them:
 *
 *     modules   |        jit_train_step        |  |        jit_train_step ...
 *     scopes    |   forward    |   backward    |
 *               | layer_0 | layer_1 | layer_1  |
 *     streams   |k|k| k | k |k|k|k | k | k |k|k|     (recorded)
 *
 * Activities that follow each other and have the same name become one span, from the first start to the last end.  It
 * ends with its step, and where the device is idle for longer than --gap-min, so no span hides a gap that is shown.
 * A level of scopes whose spans hold fewer than LEVEL_LEAST activities on average, over the first LOOK_ACTIVITIES of a
 * device, is left out: it repeats the streams, and would cost as much as they do.
 * What all events of a call site share (path, module, op, source line) is looked up once for each.
 *
 * Collectives have a row for each communicator.  When the run has been read and collectives are matched, each of them
 * gets its parts, "waiting" until the last device arrives and "moving" from there on, and arrows in the order of
 * arrival.
 *
 * Memory: the account `model`: a fixed struct for each device of the current host, a table of call sites, and a row for
 * each row of the viewer, which spill. */
#include <stdio.h>
#include <string.h>

#include "pipeline/numbers.h"
#include "pipeline/store/hash.h"
#include "stages/figures/scopes.h"
#include "stages/figures/skew.h"
#include "stages/output/derived/derived.h"

/* --- what all makers of computed rows share: the list that receives a row and its arguments, and the length of the
 * stretches of time that counters are cut into --- */

struct tm_arguments_builder *tm_derived_list(struct tm_derived *d)
{
    tm_arguments_begin(&d->list, d->names, d->buffer, sizeof(d->buffer));
    return &d->list;
}

void tm_derived_push(struct tm_derived *d, const struct derived_row *row)
{
    const struct tm_arguments list = tm_arguments_end(&d->list);
    struct derived_row full = *row;

    full.arguments_at = tm_rows_count(d->bytes);
    full.arguments_length = (uint32_t)list.length;
    tm_rows_append_many(d->bytes, list.bytes, list.length);
    tm_sorter_push(d->sorter, &full);
}

int64_t tm_derived_stretch_length(int64_t window_ps, int64_t most)
{
    const int64_t least_ps = window_ps / most + (window_ps % most != 0);
    int64_t length_ps = 1000000; /* 1 us */

    for (int i = 0; length_ps < least_ps; i++)
        length_ps = i % 3 == 1 ? length_ps / 2 * 5 : length_ps * 2;
    return length_ps;
}

enum {
    LEVELS_MOST = 12, /* scopes of a path; what is deeper is in the last one */
    LOOK_ACTIVITIES = 1024,
    LEVEL_LEAST = 4,
    SITES = 2048,            /* a power of two */
    COMMUNICATORS_MOST = 16, /* of a device; more share a row */
    NAME_BYTES = 160,
    ROWS_PAGE = 4 << 10,
    ROWS_MOST = UINT16_MAX,
};

/* A span that may grow. */
struct stretch {
    tm_strid name; /* 0 = none is open */
    int64_t start_ps, end_ps, busy_ps;
    uint64_t count;
};

/* Facts that the events of a call site share. */
struct work_site {
    uint64_t site; /* 0 = free */
    tm_strid module, op, source;
    uint32_t depth;
    tm_strid levels[LEVELS_MOST];
};

/* For collectives. */
struct collective_site {
    uint64_t site;
    tm_strid name, group;
    uint64_t bytes;
};

struct device_work {
    uint32_t rows[TM_WORK_COLLECTIVES]; /* numbers; TM_NONE = none yet */
    uint32_t works;                     /* that are made for it: bits */
    uint32_t step;
    int64_t end_ps; /* the latest of its activities so far */
    struct stretch module, op, source, scopes[LEVELS_MOST];
    uint32_t depth;
    uint32_t depth_most;                            /* levels that are made */
    uint32_t activities;                            /* until the look */
    uint32_t held[LEVELS_MOST], spans[LEVELS_MOST]; /* at each level: activities, spans that started */
};

struct device_rows {
    uint32_t works;
    int64_t gap_min_ps;
    struct tm_rows *rows; /* struct tm_derived_work_row, host by host */
    uint64_t first_row;   /* of the current host */
    uint32_t asked_host;
    uint64_t asked_count;
    uint64_t asked_first; /* of the host that was requested last */
    bool is_limited;      /* some row has a depth_most */
    /* of the current host */
    struct device_work *devices;
    uint32_t device_count;
    struct work_site sites[SITES];
    struct collective_site collectives[SITES];
};

void tm_derived_choose_work(struct tm_derived *d, uint32_t works, int64_t gap_min_ps)
{
    const uint32_t known = works & ((1u << TM_WORK_COUNT) - 1);
    struct device_rows *const w = known ? tm_take(&d->run->budget, TM_ACCOUNT_MODEL, sizeof(*w), &d->run->error) : NULL;

    if (!w)
        return;
    d->work = w;
    w->works = known;
    w->gap_min_ps = gap_min_ps;
    w->rows = tm_rows_new_paged(d->run, TM_ACCOUNT_MODEL, sizeof(struct tm_derived_work_row), 0, ROWS_PAGE);
}

static void free_devices(struct tm_derived *d)
{
    struct device_rows *const w = d->work;

    tm_give(&d->run->budget, TM_ACCOUNT_MODEL, w->devices, w->device_count * sizeof(*w->devices));
    w->devices = NULL;
    w->device_count = 0;
}

void tm_device_rows_free(struct tm_derived *d)
{
    if (!d->work)
        return;
    free_devices(d);
    tm_rows_free(d->work->rows);
    tm_give(&d->run->budget, TM_ACCOUNT_MODEL, d->work, sizeof(*d->work));
    d->work = NULL;
}

/* --- rows --- */

static const char *const work_name[TM_WORK_COUNT] = {
    [TM_WORK_MODULES] = "XLA modules",  [TM_WORK_SCOPES] = "scopes",           [TM_WORK_OPS] = "HLO ops",
    [TM_WORK_SOURCES] = "source lines", [TM_WORK_COLLECTIVES] = "collectives",
};

static bool is_same_name(const struct tm_derived *d, tm_strid a, tm_strid b)
{
    return a == b || (a && b && tm_is_same_key(tm_names_info(d->names, a).hash, tm_names_info(d->names, b).hash));
}

static const struct tm_derived_work_row *row_at(struct tm_derived *d, uint64_t number)
{
    return tm_rows_at(d->work->rows, number);
}

static uint32_t add_row(struct tm_derived *d, uint32_t host, uint32_t device, enum tm_derived_work work, tm_strid name)
{
    struct device_rows *const w = d->work;
    const struct tm_derived_work_row row = { host, device, work, UINT32_MAX, name };
    const uint64_t number = tm_rows_count(w->rows) - w->first_row;

    if (number >= ROWS_MOST)
        return TM_NONE;
    tm_rows_append(w->rows, &row);
    return (uint32_t)number;
}

const struct tm_derived_work_row *tm_derived_work_row(struct tm_derived *d, uint32_t host, uint32_t number)
{
    struct device_rows *const w = d->work;
    const uint64_t count = w ? tm_rows_count(w->rows) : 0;
    const struct tm_derived_work_row *row;

    if (!count)
        return NULL;
    if (host != w->asked_host || tm_rows_count(w->rows) != w->asked_count) {
        w->asked_host = host;
        w->asked_count = count;
        w->asked_first = 0;
        while (w->asked_first < count && row_at(d, w->asked_first)->host < host)
            w->asked_first++;
    }
    row = w->asked_first + number < count ? row_at(d, w->asked_first + number) : NULL;
    return row && row->host == host ? row : NULL;
}

bool tm_device_rows_show(struct tm_derived *d, const struct derived_row *row)
{
    const struct tm_derived_work_row *on;

    if (!d->work->is_limited)
        return true;
    on = tm_derived_work_row(d, row->host, row->row);
    return !on || row->depth < on->depth_most;
}

/* --- spans --- */

static void push(struct tm_derived *d, uint32_t device, enum tm_derived_work work, uint8_t depth,
                 struct stretch *stretch)
{
    struct device_work *const at = &d->work->devices[device];
    struct derived_row row = { .start_ps = stretch->start_ps,
                               .end_ps = stretch->end_ps,
                               .name = stretch->name,
                               .host = d->host.number,
                               .device = device,
                               .of_step = at->step == TM_NONE ? 0 : at->step + 1,
                               .depth = depth,
                               .sort = TM_DERIVED_WORK };
    struct tm_arguments_builder *list;

    stretch->name = 0;
    if (at->rows[work] == TM_NONE)
        at->rows[work] = add_row(d, d->host.number, device, work, tm_names_put_string(d->names, work_name[work]));
    if (at->rows[work] == TM_NONE)
        return;
    row.row = (uint16_t)at->rows[work];
    list = tm_derived_list(d);
    tm_put_uint(list, d->keys[KEY_ACTIVITIES], stretch->count);
    tm_put_int(list, d->keys[KEY_BUSY_NS], tm_out_ns(stretch->busy_ps));
    tm_derived_push(d, &row);
}

static void close_stretch(struct tm_derived *d, uint32_t device, enum tm_derived_work work, uint8_t depth,
                          struct stretch *stretch)
{
    if (stretch->name)
        push(d, device, work, depth, stretch);
}

static void close_scopes(struct tm_derived *d, uint32_t device, uint32_t depth)
{
    struct device_work *const at = &d->work->devices[device];

    while (at->depth > depth) {
        at->depth--;
        close_stretch(d, device, TM_WORK_SCOPES, (uint8_t)at->depth, &at->scopes[at->depth]);
    }
}

static void close_all(struct tm_derived *d, uint32_t device)
{
    struct device_work *const at = &d->work->devices[device];

    close_scopes(d, device, 0);
    close_stretch(d, device, TM_WORK_MODULES, 0, &at->module);
    close_stretch(d, device, TM_WORK_OPS, 0, &at->op);
    close_stretch(d, device, TM_WORK_SOURCES, 0, &at->source);
}

static void grow(struct stretch *stretch, tm_strid name, const struct tm_record *r)
{
    const int64_t end_ps = r->start_ps + r->dur_ps;

    if (!stretch->name)
        *stretch = (struct stretch){ .name = name, .start_ps = r->start_ps, .end_ps = end_ps };
    stretch->end_ps = end_ps > stretch->end_ps ? end_ps : stretch->end_ps;
    stretch->busy_ps += r->dur_ps;
    stretch->count++;
}

/* The span of this name grows, or another one starts. */
static void go_on(struct tm_derived *d, uint32_t device, enum tm_derived_work work, struct stretch *stretch,
                  tm_strid name, const struct tm_record *r)
{
    if (!(d->work->devices[device].works & 1u << work))
        return;
    if (stretch->name && !is_same_name(d, stretch->name, name))
        push(d, device, work, 0, stretch);
    if (name)
        grow(stretch, name, r);
}

/* An activity is `depth` scopes deep, of which the first `common` were open. */
static void look_at_levels(struct device_work *at, uint32_t common, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++) {
        at->held[i]++;
        at->spans[i] += i >= common;
    }
    if (++at->activities < LOOK_ACTIVITIES)
        return;
    for (uint32_t i = 0; i < LEVELS_MOST && at->depth_most == LEVELS_MOST; i++)
        if (at->held[i] < (uint64_t)LEVEL_LEAST * at->spans[i])
            at->depth_most = i;
    if (!at->depth_most)
        at->works &= ~(1u << TM_WORK_SCOPES);
}

static void go_on_scopes(struct tm_derived *d, uint32_t device, const struct work_site *site, const struct tm_record *r)
{
    struct device_work *const at = &d->work->devices[device];
    uint32_t common = 0;

    if (!(at->works & 1u << TM_WORK_SCOPES))
        return;
    while (common < at->depth && common < site->depth && is_same_name(d, at->scopes[common].name, site->levels[common]))
        common++;
    close_scopes(d, device, common);
    if (at->activities < LOOK_ACTIVITIES)
        look_at_levels(at, common, site->depth);
    at->depth = site->depth < at->depth_most ? site->depth : at->depth_most;
    for (uint32_t i = 0; i < at->depth; i++)
        grow(&at->scopes[i], site->levels[i], r);
}

/* --- call sites --- */

/* The pass, where the path says which, and the scopes in it. */
static void read_scopes(struct tm_derived *d, tm_strid id, struct work_site *site)
{
    struct tm_scope_path path;
    size_t length;
    const char *const text = tm_names_text(d->names, id, TM_SCOPE_PATH_MOST, &length);
    char copy[TM_SCOPE_PATH_MOST];

    memcpy(copy, text, length); /* the names may move when one is added */
    tm_scope_path_read(copy, length, &path);
    if (path.pass != TM_PASS_OTHER)
        site->levels[site->depth++] = tm_names_put_string(d->names, tm_scope_pass_name[path.pass]);
    for (uint32_t i = 0; i < path.depth && site->depth < LEVELS_MOST; i++)
        site->levels[site->depth++] = tm_names_put(d->names, copy + path.parts[i].at, path.parts[i].length);
}

static const struct work_site *site_of(struct tm_derived *d, const struct tm_event *event)
{
    struct work_site *const site = &d->work->sites[event->site & (SITES - 1)];
    const struct tm_config *const config = event->config;
    const struct tm_hlo_op *hlo;
    tm_strid path = config->op;

    if (site->site == event->site)
        return site;
    *site = (struct work_site){
        .site = event->site, .module = config->module, .op = config->hlo_op, .source = config->source
    };
    if (!tm_trace_hlo(d->trace, config, &hlo) && hlo) {
        path = hlo->path ? hlo->path : path;
        site->module = site->module ? site->module : hlo->module;
        site->source = site->source ? site->source : hlo->source;
    }
    if (path && d->work->devices[event->device].works & 1u << TM_WORK_SCOPES)
        read_scopes(d, path, site);
    return site;
}

/* --- collectives --- */

static const struct collective_site *collective_of(struct tm_derived *d, const struct tm_event *event)
{
    static const char *const parts[] = {
        [TM_TPU_START] = " start", [TM_TPU_WAIT] = " wait", [TM_TPU_HOST_WAIT] = " wait"
    };
    struct collective_site *const site = &d->work->collectives[event->site & (SITES - 1)];
    struct tm_collective_facts facts;
    char text[NAME_BYTES], bytes[TM_FORMAT_BYTES] = "";
    const char *part;

    if (site->site == event->site)
        return site;
    facts = tm_collective_facts(d->trace, event);
    part = event->config->tpu_part < sizeof(parts) / sizeof(parts[0]) ? parts[event->config->tpu_part] : NULL;
    if (facts.message_bytes)
        (void)tm_format_bytes(bytes, (double)facts.message_bytes);
    (void)snprintf(text, sizeof(text), "%s%s%s%s", tm_collective_kind_name[facts.kind], part ? part : "",
                   *bytes ? " " : "", bytes);
    *site = (struct collective_site){ .site = event->site,
                                      .name = tm_names_put_string(d->names, text),
                                      .group = facts.group_ranks ? facts.group_ranks
                                               : facts.group     ? facts.group
                                                                 : facts.replica_groups,
                                      .bytes = facts.message_bytes };
    return site;
}

/* "collectives {{0,1},{2,3}}": each communicator of a device has a row; the last one is for all further ones. */
static uint32_t row_of_group(struct tm_derived *d, uint32_t host, uint32_t device, tm_strid group, bool may_add)
{
    struct device_rows *const w = d->work;
    const uint64_t count = tm_rows_count(w->rows);
    char text[NAME_BYTES];
    size_t length = 0;
    uint32_t found = 0, last = TM_NONE, first_number = 0;
    const char *const of = group ? tm_names_text(d->names, group, NAME_BYTES / 2, &length) : "";
    tm_strid name;

    (void)snprintf(text, sizeof(text), "%s%s%.*s", work_name[TM_WORK_COLLECTIVES], length ? " " : "", (int)length, of);
    name = tm_names_put_string(d->names, text);
    for (uint64_t i = 0; i < count; i++) {
        const struct tm_derived_work_row row = *row_at(d, i);

        first_number = row.host < host ? (uint32_t)i + 1 : first_number;
        if (row.host != host || row.device != device || row.work != TM_WORK_COLLECTIVES)
            continue;
        last = (uint32_t)i - first_number;
        if (is_same_name(d, row.name, name))
            return last;
        found++;
    }
    if (!may_add && found < COMMUNICATORS_MOST) /* of an unnamed group */
        return found == 1 ? last : TM_NONE;
    if (found == COMMUNICATORS_MOST)
        return last;
    if (found == COMMUNICATORS_MOST - 1)
        name = tm_names_put_string(d->names, "collectives, other groups");
    return add_row(d, host, device, TM_WORK_COLLECTIVES, name);
}

static void take_collective(struct tm_derived *d, const struct tm_event *event)
{
    const struct tm_record *const r = &event->record;
    const struct collective_site *const site = collective_of(d, event);
    const uint32_t number = row_of_group(d, d->host.number, event->device, site->group, true);
    const struct derived_row row = { .start_ps = r->start_ps,
                                     .end_ps = r->start_ps + r->dur_ps,
                                     .name = site->name,
                                     .host = d->host.number,
                                     .device = event->device,
                                     .of_step = event->step == TM_NONE ? 0 : event->step + 1,
                                     .row = (uint16_t)number,
                                     .sort = TM_DERIVED_WORK };
    struct tm_arguments_builder *list;

    if (number == TM_NONE)
        return;
    list = tm_derived_list(d);
    if (r->name)
        tm_put_name(list, d->keys[KEY_OP], r->name);
    if (site->group)
        tm_put_name(list, d->keys[KEY_RANKS], site->group);
    if (site->bytes)
        tm_put_uint(list, d->keys[KEY_BYTES], site->bytes);
    tm_derived_push(d, &row);
}

static void push_part(struct tm_derived *d, const struct tm_matched_collective *m, struct derived_row *row,
                      const char *name, int64_t end_ps)
{
    struct tm_arguments_builder *const list = tm_derived_list(d);

    row->name = tm_names_put_string(d->names, name);
    row->end_ps = end_ps;
    tm_put_uint(list, d->keys[KEY_DEVICES], m->devices);
    tm_put_bool(list, d->keys[KEY_LAST], m->is_last);
    tm_derived_push(d, row);
    row->start_ps = end_ps;
    row->flow = 0; /* the arrow is at the arrival */
}

/* Its parts.  Numbers of arrows differ from those of launches, which are below 2^56 or have bit 62. */
void tm_device_rows_take_matched(struct tm_derived *d, const struct tm_matched_collective *m)
{
    struct derived_row row = { .start_ps = m->start_ps,
                               .host = m->host,
                               .device = m->device,
                               .flow = m->number | UINT64_C(1) << 61,
                               .depth = 1,
                               .sort = TM_DERIVED_WORK };
    const int64_t last_ps = m->last_ps < m->end_ps ? m->last_ps : m->end_ps;
    uint32_t number;

    if (!d->work || !(d->work->works & 1u << TM_WORK_COLLECTIVES))
        return;
    number = row_of_group(d, m->host, m->device, m->group, false);
    if (number == TM_NONE)
        return;
    row.row = (uint16_t)number;
    if (last_ps > m->start_ps)
        push_part(d, m, &row, "waiting", last_ps);
    if (m->end_ps > last_ps)
        push_part(d, m, &row, m->is_start ? "starting" : "moving", m->end_ps);
}

/* --- a host --- */

/* What the file already has, because another program added it, is not added again. */
static uint32_t recorded_works(const struct tm_derived *d, const struct tm_track *track)
{
    const struct {
        const char *name;
        uint32_t works;
    } known[] = {
        { "XLA Modules", 1u << TM_WORK_MODULES },
        { "XLA Ops", 1u << TM_WORK_OPS },
        { "Framework Name Scope", 1u << TM_WORK_SCOPES },
        { "Source code", 1u << TM_WORK_SOURCES },
    };
    size_t length;
    const char *text;

    if (track->side != TM_SIDE_DEVICE || !track->events || !track->name)
        return 0;
    text = tm_names_text(d->names, track->name, NAME_BYTES, &length);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (length >= strlen(known[i].name) && memcmp(text, known[i].name, strlen(known[i].name)) == 0)
            return known[i].works;
    return 0;
}

void tm_device_rows_begin_host(struct tm_derived *d, const struct tm_trace *trace)
{
    struct device_rows *const w = d->work;

    if (!w)
        return;
    w->first_row = tm_rows_count(w->rows);
    memset(w->sites, 0, sizeof(w->sites));
    memset(w->collectives, 0, sizeof(w->collectives));
    w->devices = tm_take(&d->run->budget, TM_ACCOUNT_MODEL, trace->device_count * sizeof(*w->devices), &d->run->error);
    if (!w->devices)
        return;
    w->device_count = trace->device_count;
    for (uint32_t i = 0; i < w->device_count; i++) {
        w->devices[i].works = trace->devices[i].kind == TM_DEVICE_CPU ? 0 : w->works;
        w->devices[i].step = TM_NONE;
        w->devices[i].depth_most = LEVELS_MOST;
        for (int k = 0; k < TM_WORK_COLLECTIVES; k++)
            w->devices[i].rows[k] = TM_NONE;
    }
    for (uint64_t i = 0; i < tm_rows_count(trace->tracks) && !tm_failed(d->run); i++) {
        const struct tm_track track = *(const struct tm_track *)tm_rows_at(trace->tracks, i);

        if (track.device < w->device_count)
            w->devices[track.device].works &= ~recorded_works(d, &track);
    }
}

void tm_device_rows_take(struct tm_derived *d, const struct tm_event *event)
{
    struct device_rows *const w = d->work;
    const struct tm_record *const r = &event->record;
    struct device_work *at;
    const struct work_site *site;

    if (!w || event->level == TM_LEVEL_NONE || event->device >= w->device_count)
        return;
    at = &w->devices[event->device];
    if (r->start_ps - at->end_ps > w->gap_min_ps || event->step != at->step) {
        close_all(d, event->device);
        at->step = event->step;
    }
    at->end_ps = r->start_ps + r->dur_ps > at->end_ps ? r->start_ps + r->dur_ps : at->end_ps;
    if (event->level == TM_LEVEL_COLLECTIVE && at->works & 1u << TM_WORK_COLLECTIVES)
        take_collective(d, event);
    if (event->level != TM_LEVEL_COMPUTE && event->level != TM_LEVEL_CONTAINER)
        return;
    site = site_of(d, event);
    go_on(d, event->device, TM_WORK_MODULES, &at->module, site->module, r);
    go_on_scopes(d, event->device, site, r);
    go_on(d, event->device, TM_WORK_OPS, &at->op, site->op, r);
    go_on(d, event->device, TM_WORK_SOURCES, &at->source, site->source, r);
}

/* Levels that were made before the check are not shown either. */
static void limit_scopes(struct tm_derived *d, uint32_t device)
{
    struct device_rows *const w = d->work;
    const struct device_work *const at = &w->devices[device];
    struct tm_derived_work_row *row;

    if (at->depth_most == LEVELS_MOST || at->rows[TM_WORK_SCOPES] == TM_NONE)
        return;
    row = tm_rows_change(w->rows, w->first_row + at->rows[TM_WORK_SCOPES]);
    row->depth_most = at->depth_most;
    w->is_limited = true;
}

void tm_device_rows_end_host(struct tm_derived *d)
{
    if (!d->work)
        return;
    for (uint32_t i = 0; i < d->work->device_count && !tm_failed(d->run); i++) {
        close_all(d, i);
        limit_scopes(d, i);
    }
    free_devices(d);
}
