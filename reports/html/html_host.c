/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of the page on the hosts, and on what ran there that could have run on a device. */
#include "reports/findings/ask.h"
#include "reports/html/html_page.h"

enum { SHOWN_ROWS = 100 };

/* --- host --- */

static void write_facts(struct tm_page *page, const struct tm_value *host)
{
    tm_page_facts(page);
    tm_page_fact_value(page, "Host overhead", TM_CELL_PCT, tm_get(host, "overhead_pct"));
    tm_page_fact_value(page, "Idle time laid to the host", TM_CELL_TIME, tm_get(host, "overhead_ps"));
    tm_page_fact_value(page, "Launches", TM_CELL_COUNT, tm_path(host, "launches.count"));
    tm_page_fact_value(page, "Launches per step", TM_CELL_NUMBER, tm_path(host, "launches.per_step"));
    tm_page_fact_value(page, "Launch to begin, median", TM_CELL_TIME, tm_path(host, "launch_delay.p50_ps"));
    tm_page_fact_value(page, "Launch to begin, 95th percentile", TM_CELL_TIME, tm_path(host, "launch_delay.p95_ps"));
    tm_page_fact_value(page, "Launch to begin, longest", TM_CELL_TIME, tm_path(host, "launch_delay.max_ps"));
    tm_page_fact_value(page, "Begun before their launch (clock skew)", TM_CELL_COUNT,
                       tm_path(host, "launch_delay.negative"));
    tm_page_fact_value(page, "Idle with nothing launched", TM_CELL_TIME, tm_path(host, "queue_empty.total_ps"));
    tm_page_fact_value(page, "Idle with nothing launched, of the window", TM_CELL_PCT,
                       tm_path(host, "queue_empty.share_pct"));
    tm_page_fact_value(page, "Waits for the device", TM_CELL_COUNT, tm_path(host, "sync.count"));
    tm_page_fact_value(page, "Time in waits", TM_CELL_TIME, tm_path(host, "sync.total_ps"));
    tm_page_end_facts(page);
}

static void write_syncs(struct tm_page *page, const struct tm_value *sync)
{
    static const struct tm_html_column columns[] = {
        { "Wait", "name", TM_CELL_NAME },
        { "In function", "caller", TM_CELL_NAME },
        { "In annotation", "annotation", TM_CELL_NAME },
        { "Count", "count", TM_CELL_COUNT },
        { "Time", "total_ps", TM_CELL_TIME },
        { "Longest", "longest_ps", TM_CELL_TIME },
        { "At", "longest_begin_ps", TM_CELL_MOMENT },
        { "Host", "host", TM_CELL_HOST },
    };

    tm_page_table(page, &(struct tm_html_table){ .caption = "Where the host waited for the device or for a result",
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = tm_get(sync, "rows"),
                                                 .most = SHOWN_ROWS,
                                                 .rest = tm_get(sync, "rest"),
                                                 .sortable = true });
}

static void write_calls(struct tm_page *page, const struct tm_value *rows, const struct tm_value *rest,
                        const char *caption)
{
    static const struct tm_html_column columns[] = {
        { "Name", "name", TM_CELL_NAME },
        { "Count", "count", TM_CELL_COUNT },
        { "Self", "self_ps", TM_CELL_TIME },
        { "Total", "total_ps", TM_CELL_TIME },
    };

    tm_page_table(page, &(struct tm_html_table){ .caption = caption,
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = rows,
                                                 .most = SHOWN_ROWS,
                                                 .sortable = true,
                                                 .filterable = true });
    if (tm_int(tm_get(rest, "rows")) > 0)
        tm_page_note(page, "%lld more names are not in the summary.", (long long)tm_int(tm_get(rest, "rows")));
}

static void write_threads(struct tm_page *page, const struct tm_value *host)
{
    static const struct tm_html_column columns[] = {
        { "Thread", "name", TM_CELL_NAME },    { "Host", "host", TM_CELL_HOST },
        { "Busy", "busy_ps", TM_CELL_TIME },   { "Share", "share_pct", TM_CELL_PCT },
        { "Events", "events", TM_CELL_COUNT }, { "Ops", "ops", TM_CELL_COUNT },
        { "In ops", "op_ps", TM_CELL_TIME },   { "First", "first_ps", TM_CELL_MOMENT },
        { "Last", "last_ps", TM_CELL_MOMENT },
    };
    const struct tm_value *rest = tm_get(host, "threads_rest");

    tm_page_table(page, &(struct tm_html_table){ .caption = "Threads of the hosts",
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = tm_get(host, "threads"),
                                                 .most = SHOWN_ROWS,
                                                 .sortable = true });
    if (tm_int(tm_get(rest, "rows")) > 0)
        tm_page_note(page, "%lld more threads are not in the summary.", (long long)tm_int(tm_get(rest, "rows")));
}

void tm_html_host(struct tm_page *page)
{
    static const struct tm_html_column stretches[] = {
        { "Device", "device", TM_CELL_DEVICE },
        { "Begin", "begin_ps", TM_CELL_MOMENT },
        { "Length", "dur_ps", TM_CELL_TIME },
    };
    const struct tm_value *host = tm_get(page->summary, "host");

    write_facts(page, host);
    write_syncs(page, tm_get(host, "sync"));
    write_calls(page, tm_get(host, "python"), tm_get(host, "python_rest"),
                "Python functions by the time that is their own");
    write_calls(page, tm_get(host, "annotations"), tm_get(host, "annotations_rest"),
                "Annotations by the time that is their own");
    write_threads(page, host);
    tm_page_table(page, &(struct tm_html_table){ .caption = "The longest stretches with nothing launched",
                                                 TM_TABLE_COLUMNS(stretches),
                                                 .rows = tm_path(host, "queue_empty.longest") });
}

/* --- CPU fallback --- */

static void write_sort(struct tm_page *page, const struct tm_value *sort, const char *caption)
{
    static const struct tm_html_column columns[] = {
        { "Name", "name", TM_CELL_NAME },      { "Kind", "kind", TM_CELL_WORD },
        { "Op", "op", TM_CELL_NAME },          { "Count", "count", TM_CELL_COUNT },
        { "Time", "total_ps", TM_CELL_TIME },  { "Longest", "longest_ps", TM_CELL_TIME },
        { "At", "begin_ps", TM_CELL_MOMENT },
    };

    tm_page_table(page, &(struct tm_html_table){ .caption = caption,
                                                 TM_TABLE_COLUMNS(columns),
                                                 .rows = tm_get(sort, "rows"),
                                                 .most = SHOWN_ROWS,
                                                 .rest = tm_get(sort, "rest"),
                                                 .sortable = true });
}

void tm_html_fallback(struct tm_page *page)
{
    static const struct tm_html_column trips[] = {
        { "Device", "device", TM_CELL_DEVICE },          { "Begin", "begin_ps", TM_CELL_MOMENT },
        { "Length", "dur_ps", TM_CELL_TIME },          { "Bytes", "bytes", TM_CELL_BYTES },
        { "On the host", "host_event", TM_CELL_NAME },
    };
    const struct tm_value *fallback = tm_get(page->summary, "fallback");

    if (tm_ask_is_without_fallback(page->summary)) {
        tm_page_note(page, TM_NO_FALLBACK);
        return;
    }
    tm_page_facts(page);
    tm_page_fact_value(page, "Calls back to the host", TM_CELL_COUNT, tm_path(fallback, "callbacks.count"));
    tm_page_fact_value(page, "Time in calls back", TM_CELL_TIME, tm_path(fallback, "callbacks.total_ps"));
    tm_page_fact_value(page, "Operations run on the host", TM_CELL_COUNT, tm_path(fallback, "cpu_ops.count"));
    tm_page_fact_value(page, "Device operations that work with the host", TM_CELL_COUNT,
                       tm_path(fallback, "host_ops.count"));
    tm_page_fact_value(page, "Round trips over the host", TM_CELL_COUNT, tm_path(fallback, "round_trips.count"));
    tm_page_fact_value(page, "Idle time in round trips", TM_CELL_TIME, tm_path(fallback, "round_trips.host_ps"));
    tm_page_end_facts(page);
    write_sort(page, tm_get(fallback, "callbacks"), "Calls of the program back to the host");
    write_sort(page, tm_get(fallback, "cpu_ops"), "Operations that ran on the host");
    write_sort(page, tm_get(fallback, "host_ops"), "Operations of the device that work with the host");
    tm_page_table(page, &(struct tm_html_table){ .caption = "The longest round trips over the host",
                                                 TM_TABLE_COLUMNS(trips),
                                                 .rows = tm_path(fallback, "round_trips.longest") });
}
