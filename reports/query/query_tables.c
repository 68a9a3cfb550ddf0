/* SPDX-License-Identifier: Apache-2.0 */
/* The SQL tables: their columns, and their rows from the summary. pipeline/doc/summary_*fields.c declares the columns
 * of the summary's lists; this file declares those of events. */
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "pipeline/database.h"
#include "pipeline/strings.h"
#include "reports/query/query.h"
#include "reports/show/show.h"

enum { SQL_BYTES = 64 << 10 };

/* clang-format off */

static const struct tm_doc_field event_fields[] = {
    { "id", TM_DOC_INTEGER, .title = "Number of the event", .help = "Joins `args.event`." },
    { "host", TM_DOC_HOST, .title = "Host" },
    { "device", TM_DOC_DEVICE | TM_DOC_OR_NULL, .title = "Device", .help = "Of device activity; null for host events." },
    { "process", TM_DOC_NAME, .title = "Process, or plane of the profile" },
    { "thread", TM_DOC_NAME, .title = "Thread, stream or line" },
    { "name", TM_DOC_NAME, .title = "Name" },
    { "class", TM_DOC_WORD, .title = "Class", .help = "kernel, collective, copy, memset, launch, sync, compile, input, python ... "
      "(docs/classes.md)." },
    { "category", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Category", .help = "`cat` of Chrome JSON." },
    { "kind", TM_DOC_WORD, .title = "Kind", .words = "span|instant|counter" },
    { "start_ps", TM_DOC_MOMENT, .title = "Start" },
    { "dur_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Duration", .help = "Null for instants and counters." },
    { "end_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "End" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step", .help = "Number of the step that the event belongs to, by launch; "
      "joins `steps.number`." },
    { "analyzed", TM_DOC_BOOL | TM_DOC_OR_NULL, .title = "Counts in the figures", .help = "1 for device activity of the analyzed "
      "steps; null for host events." },
    { "op", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "HLO op" },
    { "module", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Program" },
    { "scope", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Framework path" },
    { "source", TM_DOC_PATH | TM_DOC_OR_NULL, .title = "Source line" },
    { "grid", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Grid", .help = "\"128,1,1\"." },
    { "block", TM_DOC_WORD | TM_DOC_OR_NULL, .title = "Block" },
    { "registers", TM_DOC_COUNT | TM_DOC_OR_NULL, .title = "Registers per thread" },
    { "shared_bytes", TM_DOC_BYTES | TM_DOC_OR_NULL, .title = "Shared memory" },
    { "occupancy_pct", TM_DOC_SHARE | TM_DOC_OR_NULL, .title = "Occupancy" },
    { "direction", TM_DOC_DIRECTION | TM_DOC_OR_NULL, .title = "Direction of a copy" },
    { "correlation", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Correlation id" },
    { "launch", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Launch", .help = "Joins `launches.id` of the same host." },
    { "launch_start_ps", TM_DOC_MOMENT | TM_DOC_OR_NULL, .title = "Start of the launch call" },
    { "launch_dur_ps", TM_DOC_TIME | TM_DOC_OR_NULL, .title = "Duration of the launch call" },
    { "value", TM_DOC_NUMBER | TM_DOC_OR_NULL, .title = "Value of a counter" },
    { .key = NULL },
};

static const struct tm_doc_field arg_fields[] = {
    { "event", TM_DOC_INTEGER, .title = "Event", .help = "Joins `events.id`." },
    { "key", TM_DOC_NAME, .title = "Name of the argument" },
    { "value", TM_DOC_VALUE, .title = "Value" },
    { "type", TM_DOC_WORD, .title = "Type", .words = "text|integer|real|true|false" },
    { .key = NULL },
};

static const struct tm_doc_field gap_fields[] = {
    { "host", TM_DOC_HOST, .title = "Host" },
    { "device", TM_DOC_DEVICE, .title = "Device" },
    { "start_ps", TM_DOC_MOMENT, .title = "Start" },
    { "dur_ps", TM_DOC_TIME, .title = "Duration" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step", .help = "In which the gap ends." },
    { "cause", TM_DOC_CAUSE, .title = "Cause", .help = "The cause with the largest part of the gap." },
    { "before_event", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Activity before" },
    { "after_event", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Activity after" },
    { "host_event", TM_DOC_NAME | TM_DOC_OR_NULL, .title = "Host event during the gap" },
    { .key = NULL },
};

static const struct tm_doc_field launch_fields[] = {
    { "host", TM_DOC_HOST, .title = "Host" },
    { "id", TM_DOC_INTEGER, .title = "Launch", .help = "Joins `events.launch` of the same host." },
    { "start_ps", TM_DOC_MOMENT, .title = "Start of the call" },
    { "dur_ps", TM_DOC_TIME, .title = "Duration of the call" },
    { "first_start_ps", TM_DOC_MOMENT, .title = "Start of its first activity" },
    { "delay_ps", TM_DOC_CHANGE, .title = "Launch latency", .help = "From the start of the call to the start of its first activity." },
    { "activities", TM_DOC_COUNT, .title = "Activities" },
    { "activity_ps", TM_DOC_TIME, .title = "Time of its activities" },
    { "correlation", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Correlation id" },
    { "step", TM_DOC_INTEGER | TM_DOC_OR_NULL, .title = "Step" },
    { .key = NULL },
};

const struct tm_query_table tm_query_tables[] = {
    { "events", NULL, TM_QUERY_EVENTS, "Every event of the profile: device activity, host calls, annotations, counters.",
      event_fields,
      { { "Which kernels run longest on the first device in step 3?",
          "select name, count(*) as n, sum(dur_ps) / 1e9 as ms from events where class = 'kernel' and step = 3 and device = "
          "(select min(device) from events) group by name order by ms desc limit 10" },
        { "How much host time goes to each class of event, thread by thread?",
          "select host, thread, class, count(*) as n, sum(dur_ps) / 1e9 as ms from events where device is null group by 1, 2, 3 "
          "order by ms desc limit 20" },
        { "Which device activity was launched more than a millisecond before it started?",
          "select device, name, step, (start_ps - launch_start_ps) / 1e9 as delay_ms from events where start_ps - "
          "launch_start_ps > 1e9 order by delay_ms desc limit 20" } } },
    { "args", NULL, TM_QUERY_ARGS, "Arguments of events, one row each; members of nested objects by their own names.", arg_fields,
      { { "Which arguments do events have, and how often?",
          "select key, type, count(*) as n from args group by key, type order by n desc" },
        { "How many bytes does each kind of copy move?",
          "select e.name, a.key, count(*) as n from args a join events e on e.id = a.event where e.class = 'copy' group by 1, 2 "
          "order by n desc" },
        { "Which events carry a given HLO op as an argument?",
          "select e.name, count(*) as n, sum(e.dur_ps) / 1e9 as ms from args a join events e on e.id = a.event where a.key = "
          "'hlo_op' group by 1 order by ms desc limit 10" } } },
    { "launches", NULL, TM_QUERY_EVENTS, "Host calls that launched device activity.", launch_fields,
      { { "What is the launch latency by step?",
          "select step, count(*) as n, avg(delay_ps) / 1e6 as mean_us, max(delay_ps) / 1e6 as max_us from launches group by step" },
        { "Which calls took longest?",
          "select host, id, dur_ps / 1e6 as us, activities, step from launches order by dur_ps desc limit 10" },
        { "How many activities does one call launch?",
          "select activities, count(*) as calls from launches group by activities order by activities" } } },
    { "gaps", NULL, TM_QUERY_GAPS, "Idle gaps of devices, from --gap-min on (10us by default), with their causes.", gap_fields,
      { { "What causes the idle time, by device?",
          "select device, cause, count(*) as n, sum(dur_ps) / 1e9 as ms from gaps group by 1, 2 order by ms desc" },
        { "Which host events do devices wait for?",
          "select host_event, cause, count(*) as n, sum(dur_ps) / 1e9 as ms from gaps group by 1, 2 order by ms desc limit 10" },
        { "What are the longest gaps, and what follows them?",
          "select device, step, dur_ps / 1e9 as ms, cause, before_event, after_event from gaps order by dur_ps desc limit 10" } } },
    { "steps", "steps", TM_QUERY_SUMMARY, "Steps: the first and the slowest of a long run.", NULL,
      { { "Which steps are slowest?",
          "select number, period_ps / 1e9 as ms, warmup from steps order by period_ps desc limit 10" },
        { "What is the mean step time without warm-up?",
          "select count(*) as n, avg(period_ps) / 1e9 as mean_ms from steps where complete = 1 and warmup = 0" },
        { "Which steps are not complete?", "select number, host from steps where complete = 0" } } },
    { "kernels", "kernels", TM_QUERY_SUMMARY, "Kernels, copies, fills and collectives by name, launch configuration and op.", NULL,
      { { "Which kernels take most of the time?",
          "select name, sum(count) as n, sum(total_ps) / 1e9 as ms from kernels group by name order by ms desc limit 10" },
        { "Which kernels have low occupancy and cost more than 1 ms?",
          "select name, occupancy_pct, total_ps / 1e9 as ms from kernels where occupancy_pct < 25 and total_ps > 1e9 order by ms "
          "desc" },
        { "How is the time split by category?",
          "select category, sum(total_ps) / 1e9 as ms from kernels group by category order by ms desc" } } },
    { "ops", "ops", TM_QUERY_SUMMARY, "Operations of the compiled programs.", NULL,
      { { "Which operations have most self time?",
          "select name, category, self_ps / 1e9 as self_ms, source from ops order by self_ps desc limit 10" },
        { "How is the self time split by category?",
          "select category, count(*) as ops, sum(self_ps) / 1e9 as self_ms from ops group by category order by self_ms desc" },
        { "Which source lines cost most?",
          "select source, sum(self_ps) / 1e9 as self_ms from ops group by source order by self_ms desc limit 10" } } },
    { "scopes", "scopes", TM_QUERY_SUMMARY, "Device time by framework scope, a tree by path.", NULL,
      { { "Which scopes have most self time?",
          "select path, self_ps / 1e9 as self_ms from scopes order by self_ps desc limit 10" },
        { "What do the outermost scopes cost?",
          "select name, total_ps / 1e9 as ms from scopes where depth = (select min(depth) from scopes) order by total_ps desc" },
        { "How many scopes are there at each depth?", "select depth, count(*) as n from scopes group by depth" } } },
    { "collectives", "collectives", TM_QUERY_SUMMARY, "Communication between devices, by kind and message size.", NULL,
      { { "Which collectives are least overlapped with compute?",
          "select kind, message_bytes, exposed_ps / 1e9 as exposed_ms, total_ps / 1e9 as ms from collectives order by exposed_ps "
          "desc" },
        { "How much time does each kind take?",
          "select kind, sum(count) as n, sum(total_ps) / 1e9 as ms from collectives group by kind order by ms desc" },
        { "Which messages are small?",
          "select kind, message_bytes, count from collectives where message_bytes < 1048576 order by count desc" } } },
    { "transfers", "transfers", TM_QUERY_SUMMARY, "Copies by direction.", NULL,
      { { "How many bytes move in each direction, and at what cost?",
          "select direction, count, bytes, exposed_ps / 1e9 as exposed_ms from transfers order by exposed_ps desc" },
        { "What is the effective bandwidth?",
          "select direction, bytes / (total_ps / 1e12) / 1e9 as gb_per_s from transfers where total_ps > 0" },
        { "How large is a copy on average?",
          "select direction, bytes * 1.0 / count as mean_bytes from transfers where count > 0" } } },
    { "devices", "devices", TM_QUERY_SUMMARY, "Devices with activity.", NULL,
      { { "How busy is each device?",
          "select id, busy_ps * 100.0 / (busy_ps + idle_ps) as busy_pct, idle_ps / 1e9 as idle_ms from devices order by busy_pct" },
        { "What does each device wait for?",
          "select id, compute_ps / 1e9 as compute_ms, exposed_collective_ps / 1e9 as collective_ms, exposed_copy_ps / 1e9 as "
          "copy_ms from devices" },
        { "Which models are there?", "select model, count(*) as devices from devices group by model" } } },
    { "threads", "host.threads", TM_QUERY_SUMMARY, "Host threads.", NULL,
      { { "Which threads have most events?", "select host, name, events from threads order by events desc limit 10" },
        { "How many threads does each host have?", "select host, count(*) as threads from threads group by host" },
        { "Which threads recorded nothing?", "select host, name from threads where events = 0" } } },
    { "findings", "findings", TM_QUERY_SUMMARY, "Findings: what slows the run down, with potential savings.", NULL,
      { { "What is worth fixing first?",
          "select id, severity, title, at_stake_ps / 1e9 as savings_ms from findings order by at_stake_ps desc" },
        { "How many findings of each severity are there?",
          "select severity, count(*) as n from findings group by severity" },
        { "Is the run limited by its input pipeline?", "select title, at_stake_ps / 1e9 as savings_ms from findings where id like "
          "'%input%'" } } },
    { "figures", "figures", TM_QUERY_SUMMARY, "Single figures of the summary by their paths.", NULL,
      { { "What are the figures of the steps?", "select path, value, unit from figures where path like 'steps.%'" },
        { "What is the device utilization?",
          "select path, value, unit from figures where path like '%utilization%'" },
        { "Which figures are not recorded?", "select path, title from figures where value is null" } } },
};

/* clang-format on */

const size_t tm_query_table_count = sizeof(tm_query_tables) / sizeof(tm_query_tables[0]);

/* --- columns --- */

struct walk {
    tm_query_each *each;
    void *to;
};

static void name_column(void *to, const char *path, const struct tm_doc_field *field)
{
    const struct walk *const w = to;
    char name[TM_DATABASE_NAME_BYTES];

    tm_database_name(name, path);
    w->each(w->to, name, path, field);
}

/* The list of a table in a summary, or its fields alone in an empty one. */
static bool find_list(struct tm_run *run, struct tm_show_table *list, const struct tm_value *summary,
                      const struct tm_query_table *table)
{
    *list = (struct tm_show_table){ .path = "" };
    return tm_show_find(run, list, summary, table->list) == TM_OK;
}

void tm_query_columns(struct tm_run *run, const struct tm_query_table *table, tm_query_each *each, void *to)
{
    struct walk w = { each, to };
    struct tm_show_table *list;
    struct tm_doc *empty;

    if (table->fields) {
        tm_show_walk(table->fields, "", name_column, &w);
        return;
    }
    list = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*list), &run->error);
    empty = tm_doc_new(run);
    if (list && empty) {
        tm_add_string(tm_doc_root(empty), "schema", "tracemill.summary");
        if (find_list(run, list, tm_doc_root(empty), table))
            tm_show_walk(list->fields, "", name_column, &w);
        tm_show_close(list);
    }
    tm_doc_free(empty);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, list, list ? sizeof(*list) : 0);
}

/* --- tables --- */

struct sql {
    char *text;
    size_t used;
    size_t columns, times;
};

static void add_sql(struct sql *sql, const char *format, ...) TM_PRINTF(2, 3);

static void add_sql(struct sql *sql, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(sql->text + sql->used, SQL_BYTES - sql->used, format, args);
    va_end(args);
    sql->used += n > 0 && (size_t)n < SQL_BYTES - sql->used ? (size_t)n : 0;
}

static bool is_text(const struct tm_doc_field *field)
{
    return (field->shape & TM_DOC_LIST) || tm_doc_is_text(tm_doc_kind_of(field));
}

const char *tm_query_type(const struct tm_doc_field *field)
{
    const enum tm_doc_kind kind = tm_doc_kind_of(field);

    if (kind == TM_DOC_VALUE)
        return "";
    if (is_text(field))
        return "TEXT";
    return kind == TM_DOC_BOOL || (*tm_doc_unit(kind) && strcmp(tm_doc_unit(kind), "%") != 0) || kind == TM_DOC_COUNT ||
                   kind == TM_DOC_INTEGER
               ? "INTEGER"
               : "REAL";
}

static void declare_column(void *to, const char *name, const char *path, const struct tm_doc_field *field)
{
    struct sql *const sql = to;

    (void)path;
    add_sql(sql, "%s\"%s\" %s", sql->columns++ ? ", " : "", name, tm_query_type(field));
}

static bool is_time(const struct tm_doc_field *field)
{
    return strcmp(tm_doc_unit(tm_doc_kind_of(field)), "ps") == 0 && !(field->shape & TM_DOC_LIST);
}

/* For total_ps, total_ms; for idle_ps_host, idle_ms_host. */
static void select_column(void *to, const char *name, const char *path, const struct tm_doc_field *field)
{
    struct sql *const sql = to;
    const char *const unit = strstr(name, "_ps");

    (void)path;
    add_sql(sql, "%s\"%s\"", sql->columns++ ? ", " : "", name);
    if (!is_time(field) || !unit)
        return;
    sql->times++;
    add_sql(sql, ", \"%s\" / 1e9 AS \"%.*s_ms%s\"", name, (int)(unit - name), name, unit + 3);
}

void tm_query_create(struct tm_run *run, struct sqlite3 *db)
{
    struct sql sql = { .text = tm_take(&run->budget, TM_ACCOUNT_MODEL, SQL_BYTES, &run->error) };

    for (size_t i = 0; sql.text && i < tm_query_table_count && !tm_failed(run); i++) {
        const struct tm_query_table *const table = &tm_query_tables[i];

        if (table->list) {
            sql.used = sql.columns = 0;
            add_sql(&sql, "CREATE TABLE %s(", table->name);
            tm_query_columns(run, table, declare_column, &sql);
            add_sql(&sql, ")");
            tm_database_do(run, db, sql.text);
        }
        sql.used = sql.columns = sql.times = 0;
        add_sql(&sql, "CREATE VIEW %s_ms AS SELECT ", table->name);
        tm_query_columns(run, table, select_column, &sql);
        add_sql(&sql, " FROM %s", table->name);
        if (sql.times)
            tm_database_do(run, db, sql.text);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, sql.text, sql.text ? SQL_BYTES : 0);
}

/* --- rows --- */

struct filling {
    struct tm_run *run;
    sqlite3_stmt *put;
    const struct tm_value *row;
    int column;
    char *list; /* SQL_BYTES: a list as JSON */
};

static void count_column(void *to, const char *name, const char *path, const struct tm_doc_field *field)
{
    (void)name;
    (void)path;
    (void)field;
    ++*(int *)to;
}

/* A list of texts or numbers as a JSON array, for json_each(). */
static void bind_list(struct filling *f, const struct tm_value *list)
{
    FILE *const to = fmemopen(f->list, SQL_BYTES, "w");
    long length;

    if (!to) {
        (void)sqlite3_bind_null(f->put, f->column);
        return;
    }
    tm_value_print_line(list, to);
    (void)fflush(to);
    length = ftell(to);
    (void)fclose(to);
    if (length > 0 && length < SQL_BYTES) {
        length -= f->list[length - 1] == '\n';
        (void)sqlite3_bind_text(f->put, f->column, f->list, (int)length, SQLITE_TRANSIENT);
    } else {
        (void)sqlite3_bind_null(f->put, f->column);
    }
}

static void bind_value(void *to, const char *name, const char *path, const struct tm_doc_field *field)
{
    struct filling *const f = to;
    const struct tm_value *const value = tm_path(f->row, path);

    (void)name;
    (void)field;
    f->column++;
    switch (tm_type_of(value)) {
    case TM_BOOL:
        (void)sqlite3_bind_int64(f->put, f->column, tm_is(value));
        break;
    case TM_INT:
        (void)sqlite3_bind_int64(f->put, f->column, tm_int(value));
        break;
    case TM_DOUBLE:
        (void)sqlite3_bind_double(f->put, f->column, tm_double(value));
        break;
    case TM_STRING:
        (void)sqlite3_bind_text(f->put, f->column, tm_text(value), -1, SQLITE_STATIC);
        break;
    case TM_ARRAY:
        bind_list(f, value);
        break;
    default:
        (void)sqlite3_bind_null(f->put, f->column);
    }
}

static sqlite3_stmt *prepare_put(struct tm_run *run, struct sqlite3 *db, const struct tm_query_table *table)
{
    char sql[TM_DATABASE_NAME_BYTES + 2 * TM_SHOW_COLUMNS + 64];
    int columns = 0;
    size_t used;

    tm_query_columns(run, table, count_column, &columns);
    used = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES(", table->name);
    for (int i = 0; i < columns && used + 4 < sizeof(sql); i++) {
        sql[used++] = '?';
        sql[used++] = i + 1 < columns ? ',' : ')';
    }
    sql[used] = '\0';
    return tm_database_prepare(run, db, sql);
}

static void fill_table(struct filling *f, struct sqlite3 *db, const struct tm_value *summary,
                       const struct tm_query_table *table, struct tm_show_table *list)
{
    struct walk w = { bind_value, f };

    f->put = prepare_put(f->run, db, table);
    if (f->put && find_list(f->run, list, summary, table)) {
        for (size_t i = 0; i < tm_length(list->rows) && !tm_failed(f->run); i++) {
            f->row = tm_at(list->rows, i);
            f->column = 0;
            tm_show_walk(list->fields, "", name_column, &w);
            tm_database_put(f->run, f->put);
        }
    }
    tm_show_close(list);
    (void)sqlite3_finalize(f->put);
}

void tm_query_fill(struct tm_run *run, struct sqlite3 *db, const struct tm_value *summary, uint32_t wanted)
{
    struct filling f = { .run = run, .list = tm_take(&run->budget, TM_ACCOUNT_MODEL, SQL_BYTES, &run->error) };
    struct tm_show_table *const list = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*list), &run->error);

    for (size_t i = 0; f.list && list && i < tm_query_table_count && !tm_failed(run); i++)
        if (tm_query_tables[i].list && (wanted >> i & 1))
            fill_table(&f, db, summary, &tm_query_tables[i], list);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, f.list, f.list ? SQL_BYTES : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, list, list ? sizeof(*list) : 0);
}
