/* SPDX-License-Identifier: Apache-2.0 */
/* The sections on the hosts: what they cost the devices, what they waited for, what their functions and threads did,
 * and what ran on them that could have run on a device. */
#include "reports/body/cells.h"
#include "reports/body/sections.h"
#include "reports/findings/ask.h"

enum { SYNC_ROWS = 8, CALL_ROWS = 10, ANNOTATION_ROWS = 8, THREAD_ROWS = 12, FALLBACK_ROWS = 8, TRIP_ROWS = 5 };

static void say_rest(struct tm_body *body, size_t listed, size_t shown, const struct tm_value *rest)
{
    const long long left = (long long)(listed - shown) + (long long)tm_int(tm_get(rest, "rows"));

    if (left > 0)
        tm_old_say(body, TM_TONE_QUIET, "%lld more; up to --rows of them are in summary.json.", left);
}

static size_t shown_of(const struct tm_value *rows, size_t most)
{
    return tm_length(rows) < most ? tm_length(rows) : most;
}

/* --- host --- */

static void say_facts(struct tm_body *body, const struct tm_value *host)
{
    const struct tm_value *launches = tm_get(host, "launches"), *delay = tm_get(host, "launch_delay");
    const struct tm_value *empty = tm_get(host, "queue_empty"), *sync = tm_get(host, "sync");

    tm_facts(body);
    tm_fact_pct(body, "Host overhead", tm_get(host, "overhead_pct"));
    tm_fact_time(body, "Host overhead, time", tm_get(host, "overhead_ps"));
    if (tm_fact_has(body, "Launches", launches)) {
        tm_fact_count(body, "Launches", tm_get(launches, "count"));
        if (tm_has(tm_get(launches, "per_step"))) {
            tm_fact_begin(body, "Launches per step");
            tm_cell_figure(body, tm_get(launches, "per_step"), "");
        }
    }
    if (tm_has(delay)) {
        tm_fact_time(body, "Launch delay, median", tm_get(delay, "p50_ps"));
        tm_fact_time(body, "Launch delay, 95th percentile", tm_get(delay, "p95_ps"));
        tm_fact_time(body, "Launch delay, longest", tm_get(delay, "max_ps"));
        if (tm_int(tm_get(delay, "negative")) > 0)
            tm_fact_count(body, "Launches after their work", tm_get(delay, "negative"));
    }
    if (tm_has(empty)) {
        tm_fact_time(body, "Nothing launched, time", tm_get(empty, "total_ps"));
        tm_fact_pct(body, "Nothing launched, of the window", tm_get(empty, "share_pct"));
    }
    if (tm_fact_has(body, "Waits", sync)) {
        tm_fact_count(body, "Waits", tm_get(sync, "count"));
        tm_fact_time(body, "Waits, time", tm_get(sync, "total_ps"));
    }
    tm_body_end_table(body);
}

static void say_syncs(struct tm_body *body, const struct tm_value *sync)
{
    static const struct tm_body_column columns[] = {
        { "Time", "total_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Count", "count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Wait", "name", TM_COLUMN_NAME, tm_cell_text },
        { "In function", "caller", TM_COLUMN_NAME, tm_cell_text_or_blank },
        { "In annotation", "annotation", TM_COLUMN_NAME, tm_cell_text_or_blank },
        { "Longest", "longest_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "At", "longest_begin_ps", TM_COLUMN_NUMBER, tm_cell_moment },
    };
    const struct tm_value *rows = tm_get(sync, "rows");
    const size_t shown = shown_of(rows, SYNC_ROWS);

    if (!shown)
        return;
    body->form->subheading(body->to, "Where the host waited for the device or for a result");
    tm_body_rows(body, TM_COLUMNS(columns), rows, shown);
    say_rest(body, tm_length(rows), shown, tm_get(sync, "rest"));
}

static void say_calls(struct tm_body *body, const struct tm_value *rows, const struct tm_value *rest, const char *intro,
                      const char *title, size_t most)
{
    const struct tm_body_column columns[] = {
        { "Self", "self_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Total", "total_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Count", "count", TM_COLUMN_NUMBER, tm_cell_count },
        { title, "name", TM_COLUMN_NAME, tm_cell_text },
    };
    const size_t shown = shown_of(rows, most);

    if (!shown)
        return;
    body->form->subheading(body->to, intro);
    tm_body_rows(body, TM_COLUMNS(columns), rows, shown);
    say_rest(body, tm_length(rows), shown, rest);
}

static void cell_main(struct tm_body *body, const struct tm_value *is_main)
{
    tm_sheet_text(body->sheet, tm_is(is_main) ? "main" : "");
}

static void say_threads(struct tm_body *body, const struct tm_value *host)
{
    static const struct tm_body_column columns[] = {
        { "Busy", "busy_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Share", "share_pct", TM_COLUMN_NUMBER, tm_cell_pct },
        { "Events", "events", TM_COLUMN_NUMBER, tm_cell_count },
        { "Ops", "ops", TM_COLUMN_NUMBER, tm_cell_count },
        { "In ops", "op_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Thread", "name", TM_COLUMN_NAME, tm_cell_text },
        { "", "is_main", TM_COLUMN_WORD, cell_main },
        { "Host", "host", TM_COLUMN_NAME, tm_cell_host }, /* the last one: left out where there is one host */
    };
    const size_t count = sizeof(columns) / sizeof(columns[0]) - (tm_length(tm_get(host, "windows")) > 1 ? 0 : 1);
    const struct tm_value *rows = tm_get(host, "threads");
    const size_t shown = shown_of(rows, THREAD_ROWS);

    if (!shown)
        return;
    body->form->subheading(body->to, "The busiest threads");
    tm_body_rows(body, columns, count, rows, shown);
    say_rest(body, tm_length(rows), shown, tm_get(host, "threads_rest"));
}

void tm_section_host(struct tm_body *body)
{
    const struct tm_value *host = tm_old_of(body, "host");

    if (tm_old_say_missing(body, host, "Host"))
        return;
    say_facts(body, host);
    say_syncs(body, tm_get(host, "sync"));
    say_calls(body, tm_get(host, "python"), tm_get(host, "python_rest"),
              "Python functions by the time that is their own", "Function", CALL_ROWS);
    say_calls(body, tm_get(host, "annotations"), tm_get(host, "annotations_rest"),
              "Annotations by the time that is their own", "Annotation", ANNOTATION_ROWS);
    say_threads(body, host);
}

/* --- CPU fallback --- */

static void say_fallback(struct tm_body *body, const struct tm_value *sort, const char *intro,
                         const struct tm_body_column *columns, size_t count)
{
    const struct tm_value *rows = tm_get(sort, "rows");
    const size_t shown = shown_of(rows, FALLBACK_ROWS);

    if (!shown)
        return;
    body->form->subheading(body->to, intro);
    tm_body_rows(body, columns, count, rows, shown);
    say_rest(body, tm_length(rows), shown, tm_get(sort, "rest"));
}

static void say_trips(struct tm_body *body, const struct tm_value *trips)
{
    static const struct tm_body_column columns[] = {
        { "Time", "dur_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "At", "begin_ps", TM_COLUMN_NUMBER, tm_cell_moment },
        { "Bytes", "bytes", TM_COLUMN_NUMBER, tm_cell_bytes },
        { "Device", "device", TM_COLUMN_NAME, tm_cell_device },
        { "On the host", "host_event", TM_COLUMN_NAME, tm_cell_text_or_blank },
    };
    const struct tm_value *rows = tm_get(trips, "longest");
    const size_t shown = shown_of(rows, TRIP_ROWS);

    if (!shown)
        return;
    body->form->subheading(body->to,
                           "The longest stretches between a copy to the host and a copy back, the device idle");
    tm_body_rows(body, TM_COLUMNS(columns), rows, shown);
}

static void say_fallback_facts(struct tm_body *body, const struct tm_value *fallback)
{
    static const struct {
        const char *key, *label, *time_label;
    } sorts[] = { { "callbacks", "Calls back to the host", "Calls back to the host, time" },
                  { "cpu_ops", "Operations run on the host", "Operations run on the host, time" },
                  { "host_ops", "Device operations that work with the host",
                    "Device operations with the host, time" } };
    const struct tm_value *trips = tm_get(fallback, "round_trips");

    tm_facts(body);
    for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++) {
        const struct tm_value *sort = tm_get(fallback, sorts[i].key);

        if (!tm_fact_has(body, sorts[i].label, sort))
            continue;
        tm_fact_count(body, sorts[i].label, tm_get(sort, "count"));
        if (tm_int(tm_get(sort, "count")) > 0)
            tm_fact_time(body, sorts[i].time_label, tm_get(sort, "total_ps"));
    }
    if (tm_fact_has(body, "Round trips over the host", trips)) {
        tm_fact_count(body, "Round trips over the host", tm_get(trips, "count"));
        if (tm_int(tm_get(trips, "count")) > 0)
            tm_fact_time(body, "Round trips, idle time", tm_get(trips, "host_ps"));
    }
    tm_body_end_table(body);
}

void tm_section_fallback(struct tm_body *body)
{
    static const struct tm_body_column calls[] = {
        { "Time", "total_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Count", "count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Kind", "kind", TM_COLUMN_WORD, tm_cell_text },
        { "Function", "name", TM_COLUMN_NAME, tm_cell_text },
        { "Longest", "longest_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "At", "begin_ps", TM_COLUMN_NUMBER, tm_cell_moment },
    };
    static const struct tm_body_column operations[] = {
        { "Time", "total_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "Count", "count", TM_COLUMN_NUMBER, tm_cell_count },
        { "Operation", "name", TM_COLUMN_NAME, tm_cell_text },
        { "Longest", "longest_ps", TM_COLUMN_NUMBER, tm_cell_time },
        { "At", "begin_ps", TM_COLUMN_NUMBER, tm_cell_moment },
    };
    const struct tm_value *fallback = tm_old_of(body, "fallback");

    if (tm_old_say_missing(body, fallback, "CPU fallback"))
        return;
    if (tm_ask_is_without_fallback(body->summary)) {
        body->form->paragraph(body->to, TM_TONE_PLAIN, TM_NO_FALLBACK);
        return;
    }
    say_fallback_facts(body, fallback);
    say_fallback(body, tm_get(fallback, "callbacks"), "Calls of the program back to the host", TM_COLUMNS(calls));
    say_fallback(body, tm_get(fallback, "cpu_ops"), "Operations that ran on the host", TM_COLUMNS(operations));
    say_fallback(body, tm_get(fallback, "host_ops"), "Operations of the device that work with the host",
                 TM_COLUMNS(operations));
    say_trips(body, tm_get(fallback, "round_trips"));
}
