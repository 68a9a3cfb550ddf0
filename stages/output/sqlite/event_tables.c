/* SPDX-License-Identifier: Apache-2.0 */
/* Events into a database.  An event is a row of numbers; its name, class, launch facts etc. are one row of
 * call_sites, found by the number that the resolver gave them (struct tm_event.site), and its place one row of tracks.
 * Both are looked up in direct-mapped caches: what was evicted is stored again under a new number, which costs room and
 * changes no answer.  Memory: fixed, besides the page cache of SQLite. */
#include "stages/output/sqlite/event_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "pipeline/database.h"
#include "stages/output/text/json_arguments.h"

enum { SITES_KNOWN = 1 << 14, TRACKS_KNOWN = 1 << 10, NAME_MOST = 16 << 10, SHAPE_BYTES = 64 };

/* clang-format off */
static const char tables[] =
    "CREATE TABLE tracks(id INTEGER PRIMARY KEY, host TEXT, process TEXT, thread TEXT);"
    "CREATE TABLE call_sites(id INTEGER PRIMARY KEY, device TEXT, name TEXT, class TEXT, category TEXT, op TEXT,"
    " module TEXT, scope TEXT, source TEXT, grid TEXT, block TEXT, registers INTEGER, shared_bytes INTEGER,"
    " occupancy_pct REAL, direction TEXT);"
    "CREATE TABLE event_rows(id INTEGER PRIMARY KEY, track INTEGER, site INTEGER, kind INTEGER, start_ps INTEGER,"
    " dur_ps INTEGER, step INTEGER, analyzed INTEGER, correlation INTEGER, launch INTEGER, launch_start_ps INTEGER,"
    " launch_dur_ps INTEGER, value REAL, args TEXT);"
    "CREATE TABLE gaps(host TEXT, device TEXT, start_ps INTEGER, dur_ps INTEGER, step INTEGER, cause TEXT,"
    " before_event TEXT, after_event TEXT, host_event TEXT);"
    "CREATE VIEW events AS SELECT e.id, t.host, s.device, t.process, t.thread, s.name, s.class, s.category,"
    " CASE e.kind WHEN 0 THEN 'span' WHEN 1 THEN 'instant' ELSE 'counter' END AS kind, e.start_ps, e.dur_ps,"
    " e.start_ps + e.dur_ps AS end_ps, e.step, e.analyzed, s.op, s.module, s.scope, s.source, s.grid, s.block,"
    " s.registers, s.shared_bytes, s.occupancy_pct, s.direction, e.correlation, e.launch, e.launch_start_ps,"
    " e.launch_dur_ps, e.value FROM event_rows e JOIN call_sites s ON s.id = e.site JOIN tracks t ON t.id = e.track;"
    "CREATE VIEW args AS SELECT e.id AS event, j.key, j.atom AS value, j.type FROM event_rows e, json_tree(e.args) j"
    " WHERE j.atom IS NOT NULL;"
    "CREATE VIEW launches AS SELECT t.host, e.launch AS id, e.launch_start_ps AS start_ps, e.launch_dur_ps AS dur_ps,"
    " min(e.start_ps) AS first_start_ps, min(e.start_ps) - e.launch_start_ps AS delay_ps, count(*) AS activities,"
    " sum(e.dur_ps) AS activity_ps, min(e.correlation) AS correlation, min(e.step) AS step FROM event_rows e"
    " JOIN tracks t ON t.id = e.track WHERE e.launch IS NOT NULL GROUP BY t.host, e.launch;";
/* clang-format on */

enum { KIND_SPAN, KIND_INSTANT, KIND_COUNTER };

struct known_site {
    uint64_t site; /* 0 = none */
    uint32_t host;
    tm_strid name, category;
    int64_t id;
};

struct known_track {
    uint64_t uuid; /* 0 = none */
    int64_t id;
};

struct event_tables {
    struct tm_trace_writer base;
    struct tm_names *names;
    sqlite3 *db;
    sqlite3_stmt *put_track, *put_site, *put_event;
    enum tm_args_level args;
    int64_t tracks, sites, events;
    const struct tm_trace *trace; /* of `step` */
    uint32_t ordinal;
    int64_t step; /* number of that ordinal */
    struct known_track known_tracks[TRACKS_KNOWN];
    struct known_site known_sites[SITES_KNOWN];
    char text[TM_UTF8_REPLACEMENT_BYTES * NAME_MOST];
    struct tm_json_text json;
};

void tm_event_tables_create(struct tm_run *run, struct sqlite3 *db)
{
    tm_database_do(run, db, tables);
}

static struct event_tables *writer_of(struct tm_trace_writer *w)
{
    return (struct event_tables *)w;
}

/* --- values --- */

/* Copied by SQLite, since another text will replace this one; without memory for that the column would be NULL. */
static void bind_copy(struct tm_run *run, sqlite3_stmt *statement, int column, const char *text, int length)
{
    if (sqlite3_bind_text(statement, column, text, length, SQLITE_TRANSIENT) != SQLITE_OK && !tm_failed(run))
        (void)tm_database_fail(run, sqlite3_db_handle(statement));
}

static void bind_name(struct event_tables *w, sqlite3_stmt *statement, int column, tm_strid name)
{
    const char *text;
    size_t length;

    if (!name) {
        (void)sqlite3_bind_null(statement, column);
        return;
    }
    text = tm_names_text(w->names, name, NAME_MOST, &length);
    length = tm_out_utf8(w->text, text, length < NAME_MOST ? length : NAME_MOST);
    bind_copy(w->base.run, statement, column, w->text, (int)length);
}

static void bind_word(sqlite3_stmt *statement, int column, const char *text)
{
    if (text && *text)
        (void)sqlite3_bind_text(statement, column, text, -1, SQLITE_STATIC);
    else
        (void)sqlite3_bind_null(statement, column);
}

static void bind_number(sqlite3_stmt *statement, int column, bool is_known, int64_t number)
{
    if (is_known)
        (void)sqlite3_bind_int64(statement, column, number);
    else
        (void)sqlite3_bind_null(statement, column);
}

/* "128,1,1" */
static void bind_shape(struct tm_run *run, sqlite3_stmt *statement, int column, const uint32_t shape[3])
{
    char text[SHAPE_BYTES];
    const int n = snprintf(text, sizeof(text), "%" PRIu32 ",%" PRIu32 ",%" PRIu32, shape[0], shape[1], shape[2]);

    if (shape[0] | shape[1] | shape[2])
        bind_copy(run, statement, column, text, n);
    else
        (void)sqlite3_bind_null(statement, column);
}

/* --- what events share --- */

static int64_t track_of(struct event_tables *w, const struct tm_trace *trace, const struct tm_out_row *row)
{
    struct known_track *const known = &w->known_tracks[row->uuid % TRACKS_KNOWN];

    if (known->uuid == row->uuid)
        return known->id;
    *known = (struct known_track){ row->uuid, ++w->tracks };
    (void)sqlite3_bind_int64(w->put_track, 1, known->id);
    bind_word(w->put_track, 2, trace ? trace->host_name : NULL);
    bind_name(w, w->put_track, 3, row->process);
    bind_name(w, w->put_track, 4, row->name);
    tm_database_put(w->base.run, w->put_track);
    return known->id;
}

static void bind_site(struct event_tables *w, const struct tm_trace *trace, const struct tm_event *of, tm_strid name,
                      tm_strid category)
{
    sqlite3_stmt *const s = w->put_site;
    const struct tm_config *const config = of->config;
    const bool is_copy = of->record.class == TM_CLASS_COPY && of->direction < TM_DIRECTION_COUNT;

    (void)sqlite3_bind_int64(s, 1, w->sites);
    bind_word(s, 2, of->device != TM_NONE ? trace->devices[of->device].id : NULL);
    bind_name(w, s, 3, name);
    bind_word(s, 4, tm_class_name[of->record.class]);
    bind_name(w, s, 5, category);
    bind_name(w, s, 6, config->hlo_op);
    bind_name(w, s, 7, config->module);
    bind_name(w, s, 8, config->op);
    bind_name(w, s, 9, config->source);
    bind_shape(w->base.run, s, 10, config->grid);
    bind_shape(w->base.run, s, 11, config->block);
    bind_number(s, 12, config->has_kernel, config->registers);
    bind_number(s, 13, config->has_kernel, (int64_t)config->shared_bytes);
    if (config->occupancy_milli || config->has_achieved)
        (void)sqlite3_bind_double(s, 14, config->occupancy_milli / 1000.0);
    else
        (void)sqlite3_bind_null(s, 14);
    bind_word(s, 15, is_copy ? tm_direction_name[of->direction] : NULL);
}

static int64_t site_of(struct event_tables *w, const struct tm_trace *trace, const struct tm_event *of, tm_strid name,
                       tm_strid category)
{
    struct known_site *const known = &w->known_sites[of->site % SITES_KNOWN];

    if (known->site == of->site && known->host == trace->host && known->name == name && known->category == category)
        return known->id;
    *known = (struct known_site){ of->site, trace->host, name, category, ++w->sites };
    bind_site(w, trace, of, name, category);
    tm_database_put(w->base.run, w->put_site);
    return known->id;
}

/* The number of a step, as in the table of steps. */
static int64_t step_number(const struct tm_trace *trace, uint32_t ordinal)
{
    const struct tm_step_mark *const mark =
        ordinal < tm_rows_count(trace->steps.marks) ? tm_rows_at(trace->steps.marks, ordinal) : NULL;

    return mark ? mark->number : (int64_t)ordinal;
}

static void bind_step(struct event_tables *w, const struct tm_trace *trace, uint32_t ordinal)
{
    if (ordinal != TM_NONE && (w->trace != trace || w->ordinal != ordinal)) {
        w->trace = trace;
        w->ordinal = ordinal;
        w->step = step_number(trace, ordinal);
    }
    bind_number(w->put_event, 7, ordinal != TM_NONE, w->step);
}

/* --- events --- */

/* The arguments as one JSON object, NULL if there are none, or more than the buffer holds. */
static void bind_arguments(struct event_tables *w, const struct tm_out_event *event)
{
    struct tm_text_sink *const sink = &w->json.sink;

    sink->used = 0;
    if (w->args == TM_ARGS_NONE || !tm_json_arguments(&w->json, event, w->args, "{")) {
        (void)sqlite3_bind_null(w->put_event, 14);
        return;
    }
    tm_sink_put(sink, "}", 1);
    if (sink->passed) {
        tm_tally_add(&w->base.run->tallies, TM_TALLY_LONG_ARGUMENTS, 1);
        (void)sqlite3_bind_null(w->put_event, 14);
    } else {
        (void)sqlite3_bind_text(w->put_event, 14, sink->bytes, (int)sink->used, SQLITE_STATIC);
    }
    sink->passed = 0;
}

static void put_event(struct tm_trace_writer *base, const struct tm_out_event *event)
{
    struct event_tables *const w = writer_of(base);
    const struct tm_event *const of = event->of;
    sqlite3_stmt *const s = w->put_event;
    bool has_launch;

    if (!of || !event->trace || tm_failed(base->run))
        return;
    has_launch = of->launch && of->launch_track != TM_NONE;
    (void)sqlite3_bind_int64(s, 1, ++w->events);
    (void)sqlite3_bind_int64(s, 2, track_of(w, event->trace, event->row));
    (void)sqlite3_bind_int64(s, 3, site_of(w, event->trace, of, event->name, event->category));
    (void)sqlite3_bind_int64(s, 4, event->is_instant ? KIND_INSTANT : KIND_SPAN);
    (void)sqlite3_bind_int64(s, 5, of->record.start_ps);
    bind_number(s, 6, !event->is_instant, of->record.dur_ps);
    bind_step(w, event->trace, of->step);
    bind_number(s, 8, of->level != TM_LEVEL_NONE, of->chosen);
    bind_number(s, 9, of->record.flags & TM_FLAG_CORRELATION, (int64_t)of->record.correlation);
    bind_number(s, 10, has_launch, (int64_t)of->launch);
    bind_number(s, 11, has_launch, of->launch_start_ps);
    bind_number(s, 12, has_launch, of->launch_dur_ps);
    (void)sqlite3_bind_null(s, 13);
    bind_arguments(w, event);
    tm_database_put(base->run, s);
}

static void put_counter(struct tm_trace_writer *base, const struct tm_out_counter *counter)
{
    struct event_tables *const w = writer_of(base);
    struct tm_event of = { .device = TM_NONE, .config = &(const struct tm_config){ .hash = 0 } };
    sqlite3_stmt *const s = w->put_event;

    if (!counter->trace || tm_failed(base->run))
        return;
    of.record.class = TM_CLASS_COUNTER;
    of.site = UINT64_C(1) << 63 | counter->row->name; /* no event has that number */
    (void)sqlite3_clear_bindings(s);
    (void)sqlite3_bind_int64(s, 1, ++w->events);
    (void)sqlite3_bind_int64(s, 2, track_of(w, counter->trace, counter->row));
    (void)sqlite3_bind_int64(s, 3, site_of(w, counter->trace, &of, counter->row->name, 0));
    (void)sqlite3_bind_int64(s, 4, KIND_COUNTER);
    (void)sqlite3_bind_int64(s, 5, counter->start_ps);
    (void)sqlite3_bind_double(s, 13, counter->is_whole ? (double)counter->whole : counter->value);
    tm_database_put(base->run, s);
}

/* --- the writer --- */

static void skip_row(struct tm_trace_writer *w, const struct tm_out_row *row)
{
    (void)w;
    (void)row;
}

static void skip_arrow(struct tm_trace_writer *w, const struct tm_out_flow *flow)
{
    (void)w;
    (void)flow;
}

static uint64_t raw_bytes(const struct tm_trace_writer *w)
{
    (void)w;
    return 0;
}

static void free_writer(struct tm_trace_writer *base)
{
    struct event_tables *const w = writer_of(base);

    if (!w)
        return;
    (void)sqlite3_finalize(w->put_track);
    (void)sqlite3_finalize(w->put_site);
    (void)sqlite3_finalize(w->put_event);
    tm_give(&base->run->budget, TM_ACCOUNT_TABLES, w, sizeof(*w));
}

static const struct tm_trace_writer_type event_tables_type = {
    .writes_ends = true,
    .row = skip_row,
    .begin = put_event,
    .instant = put_event,
    .counter = put_counter,
    .flow = skip_arrow,
    .raw_bytes = raw_bytes,
    .free = free_writer,
};

struct tm_trace_writer *tm_event_tables_writer_new(struct tm_run *run, struct tm_names *names, struct sqlite3 *db,
                                                   enum tm_args_level args)
{
    struct event_tables *const w = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*w), &run->error);

    if (!w)
        return NULL;
    w->base = (struct tm_trace_writer){ .type = &event_tables_type, .run = run };
    w->names = names;
    w->db = db;
    w->args = args;
    tm_json_init(&w->json, names, false);
    tm_sink_begin(&w->json.sink, NULL);
    w->put_track = tm_database_prepare(run, db, "INSERT INTO tracks VALUES(?1, ?2, ?3, ?4)");
    w->put_site = tm_database_prepare(run, db,
                                      "INSERT INTO call_sites VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
                                      " ?12, ?13, ?14, ?15)");
    w->put_event = tm_database_prepare(run, db,
                                       "INSERT INTO event_rows VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
                                       " ?12, ?13, ?14)");
    if (!tm_failed(run))
        return &w->base;
    free_writer(&w->base);
    return NULL;
}

/* --- gaps --- */

void tm_gap_table_open(struct tm_gap_table *gaps, struct tm_run *run, struct tm_names *names, struct sqlite3 *db)
{
    *gaps = (struct tm_gap_table){ .run = run, .names = names };
    gaps->put = tm_database_prepare(run, db, "INSERT INTO gaps VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
}

void tm_gap_table_add(struct tm_gap_table *gaps, const struct tm_idle_gap *gap)
{
    static const int columns[] = { 7, 8, 9 };
    const tm_strid named[] = { gap->before, gap->after, gap->host_event };
    sqlite3_stmt *const s = gaps->put;

    if (tm_failed(gaps->run))
        return;
    bind_word(s, 1, gaps->trace->host_name);
    bind_word(s, 2, gaps->trace->devices[gap->device].id);
    (void)sqlite3_bind_int64(s, 3, gap->start_ps);
    (void)sqlite3_bind_int64(s, 4, gap->end_ps - gap->start_ps);
    bind_number(s, 5, gap->step != TM_NONE, gap->step != TM_NONE ? step_number(gaps->trace, gap->step) : 0);
    bind_word(s, 6, gap->part_names[gap->cause]);
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        size_t length = 0;
        const char *const text = named[i] ? tm_names_text(gaps->names, named[i], NAME_MOST, &length) : NULL;

        if (text)
            bind_copy(gaps->run, s, columns[i], text, (int)(length < NAME_MOST ? length : NAME_MOST));
        else
            (void)sqlite3_bind_null(s, columns[i]);
    }
    tm_database_put(gaps->run, s);
}

void tm_gap_table_close(struct tm_gap_table *gaps)
{
    (void)sqlite3_finalize(gaps->put);
    gaps->put = NULL;
}
