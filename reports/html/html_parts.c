/* SPDX-License-Identifier: Apache-2.0 */
/* index.html of a split trace: its source, the parts as a table with a bar for the time of each, and instructions. 
 * Links are only made for names that a part can have. */
#include "reports/media.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/atomic_file.h"
#include "pipeline/doc/doc.h"
#include "reports/content/content.h"
#include "reports/format/format.h"
#include "reports/html/html_page.h"

enum { BAR_WIDTH = 200, BAR_HEIGHT = 10, BAR_LEAST = 1 };

struct parts_page {
    struct tm_htmlw w;
    const struct tm_value *list, *parts;
    int64_t begin_ns, end_ns;               /* of all parts */
    bool has_hosts, has_devices, has_steps; /* columns */
};

static void survey_parts(struct parts_page *p)
{
    p->begin_ns = INT64_MAX;
    p->end_ns = INT64_MIN;
    for (size_t i = 0; i < tm_length(p->parts); i++) {
        const struct tm_value *part = tm_at(p->parts, i);
        const int64_t begin_ns = tm_int(tm_get(part, "begin_ns")), end_ns = tm_int(tm_get(part, "end_ns"));

        p->begin_ns = begin_ns < p->begin_ns ? begin_ns : p->begin_ns;
        p->end_ns = end_ns > p->end_ns ? end_ns : p->end_ns;
        p->has_devices |= tm_has(tm_get(part, "device"));
        p->has_steps |= tm_has(tm_get(part, "steps"));
    }
    p->has_hosts = tm_length(tm_get(p->list, "hosts")) > 1;
}

/* --- facts --- */

static void put_fact(struct parts_page *p, const char *label, const char *value)
{
    tm_htmlw_open(&p->w, "div");
    tm_htmlw_element(&p->w, "dt", NULL, label);
    tm_htmlw_element(&p->w, "dd", NULL, value);
    tm_htmlw_close(&p->w);
}

static void put_total(struct parts_page *p, const char *label, const char *key)
{
    char text[TM_FORMAT_BYTES];

    put_fact(p, label, tm_format_count(text, tm_int(tm_get(tm_get(p->list, "total"), key))));
}

/* Nanoseconds as a time. */
static const char *time_text(char text[TM_FORMAT_BYTES], int64_t ns)
{
    int64_t ps;

    return tm_format_time(text, __builtin_mul_overflow(ns, 1000, &ps) ? INT64_MAX : ps);
}

static void put_facts(struct parts_page *p)
{
    const struct tm_value *total = tm_get(p->list, "total");
    char text[TM_FORMAT_BYTES];

    tm_htmlw_class(&p->w, "dl", "facts");
    put_total(p, "Parts", "parts");
    put_total(p, "Slices", "slices");
    put_total(p, "Counter values", "counters");
    put_total(p, "Arrows", "arrows");
    put_fact(p, "Duration", time_text(text, tm_length(p->parts) ? p->end_ns - p->begin_ns : 0));
    put_fact(p, "Size", tm_format_bytes(text, tm_double(tm_get(total, "bytes"))));
    put_fact(p, "Max slices per part", tm_format_count(text, tm_int(tm_get(p->list, "max_events"))));
    put_fact(p, "Max size per part, before compression",
             tm_format_bytes(text, tm_double(tm_get(p->list, "max_bytes"))));
    tm_htmlw_close_line(&p->w);
}

static void put_top(struct parts_page *p)
{
    const char *run = tm_text(tm_get(p->list, "run"));

    tm_htmlw_class(&p->w, "header", "page top");
    tm_htmlw_element(&p->w, "p", "brand", "tracemill split");
    if (tm_is(tm_get(p->list, "partial"))) {
        tm_htmlw_open_with(&p->w, "div", "class", "banner", "role", "note", NULL);
        tm_htmlw_open(&p->w, "p");
        tm_htmlw_element(&p->w, "strong", NULL, "The input is damaged or incomplete.");
        tm_htmlw_text(&p->w, " The parts contain what could be read.");
        tm_htmlw_close(&p->w);
        tm_htmlw_close_line(&p->w);
    }
    tm_htmlw_element(&p->w, "h1", NULL, run[0] ? run : "trace");
    put_facts(p);
    tm_htmlw_close_line(&p->w);
}

/* --- the table --- */

/* in: class_name  NULL = none */
static void put_head_cell(struct parts_page *p, const char *class_name, const char *text)
{
    tm_htmlw_open_with(&p->w, "th", "scope", "col", NULL);
    if (class_name)
        tm_htmlw_attr(&p->w, "class", class_name);
    tm_htmlw_text(&p->w, text);
    tm_htmlw_close(&p->w);
}

static void put_head_row(struct parts_page *p)
{
    tm_htmlw_open(&p->w, "thead");
    tm_htmlw_open(&p->w, "tr");
    put_head_cell(p, NULL, "Part");
    if (p->has_hosts)
        put_head_cell(p, NULL, "Host");
    if (p->has_devices)
        put_head_cell(p, NULL, "Device");
    put_head_cell(p, NULL, "Time range");
    put_head_cell(p, "n", "Start");
    put_head_cell(p, "n", "Duration");
    if (p->has_steps)
        put_head_cell(p, "n", "Steps");
    put_head_cell(p, "n", "Slices");
    put_head_cell(p, "n", "Counters");
    put_head_cell(p, "n", "Arrow ends");
    put_head_cell(p, "n", "Size");
    put_head_cell(p, "n", "Viewer memory (estimated)");
    tm_htmlw_close(&p->w);
    tm_htmlw_close_line(&p->w);
}

static void put_link(struct parts_page *p, const char *name)
{
    tm_htmlw_open_with(&p->w, "th", "class", "name", "scope", "row", NULL);
    if (tm_is_part_name(name)) {
        tm_htmlw_open_with(&p->w, "a", "href", name, "download", name, NULL);
        tm_htmlw_text(&p->w, name);
        tm_htmlw_close(&p->w);
    } else {
        tm_htmlw_text(&p->w, name);
    }
    tm_htmlw_close(&p->w);
}

static void put_rect(struct parts_page *p, double x, double width, const char *opacity)
{
    tm_htmlw_open(&p->w, "rect");
    tm_htmlw_attr_number(&p->w, "x", x);
    tm_htmlw_attr_int(&p->w, "y", 0);
    tm_htmlw_attr_number(&p->w, "width", width);
    tm_htmlw_attr_int(&p->w, "height", BAR_HEIGHT);
    tm_htmlw_attr(&p->w, "fill", "currentColor");
    tm_htmlw_attr(&p->w, "fill-opacity", opacity);
    tm_htmlw_leaf(&p->w);
}

/* The part of the whole time that it covers. */
static void put_bar(struct parts_page *p, int64_t begin_ns, int64_t end_ns)
{
    const double whole = (double)p->end_ns - (double)p->begin_ns;
    const double scale = whole > 0 ? BAR_WIDTH / whole : 0;
    double x = ((double)begin_ns - (double)p->begin_ns) * scale;
    double width = ((double)end_ns - (double)begin_ns) * scale;

    width = width < BAR_LEAST ? BAR_LEAST : width;
    x = x > BAR_WIDTH - width ? BAR_WIDTH - width : x;
    tm_htmlw_open(&p->w, "td");
    tm_htmlw_open(&p->w, "svg");
    tm_htmlw_attr_int(&p->w, "width", BAR_WIDTH);
    tm_htmlw_attr_int(&p->w, "height", BAR_HEIGHT);
    tm_htmlw_attr(&p->w, "aria-hidden", "true");
    put_rect(p, 0, BAR_WIDTH, "0.1");
    put_rect(p, x, width, "0.7");
    tm_htmlw_close(&p->w);
    tm_htmlw_close(&p->w);
}

static void put_count(struct parts_page *p, const struct tm_value *count)
{
    char text[TM_FORMAT_BYTES];

    tm_htmlw_element(&p->w, "td", "n", tm_format_count(text, tm_int(count)));
}

static void put_steps(struct parts_page *p, const struct tm_value *steps)
{
    const int64_t first = tm_int(tm_get(steps, "first")), count = tm_int(tm_get(steps, "count"));

    tm_htmlw_class(&p->w, "td", "n");
    if (!tm_has(steps))
        tm_htmlw_text(&p->w, "–");
    else if (count == 1)
        tm_htmlw_printf(&p->w, "%" PRId64, first);
    else
        tm_htmlw_printf(&p->w, "%" PRId64 " to %" PRId64, first, first + count - 1);
    tm_htmlw_close(&p->w);
}

static void put_part(struct parts_page *p, const struct tm_value *part)
{
    const int64_t begin_ns = tm_int(tm_get(part, "begin_ns")), end_ns = tm_int(tm_get(part, "end_ns"));
    char text[TM_FORMAT_BYTES];

    tm_htmlw_open(&p->w, "tr");
    put_link(p, tm_text(tm_get(part, "file")));
    if (p->has_hosts)
        tm_htmlw_element(&p->w, "td", NULL, tm_text(tm_get(part, "host")));
    if (p->has_devices)
        tm_htmlw_element(&p->w, "td", NULL, tm_text(tm_get(part, "device")));
    put_bar(p, begin_ns, end_ns);
    tm_htmlw_element(&p->w, "td", "n", time_text(text, begin_ns - p->begin_ns));
    tm_htmlw_element(&p->w, "td", "n", time_text(text, end_ns - begin_ns));
    if (p->has_steps)
        put_steps(p, tm_get(part, "steps"));
    put_count(p, tm_get(part, "slices"));
    put_count(p, tm_get(part, "counters"));
    put_count(p, tm_get(part, "arrows"));
    tm_htmlw_element(&p->w, "td", "n", tm_format_bytes(text, tm_double(tm_get(part, "bytes"))));
    tm_htmlw_element(&p->w, "td", "n", tm_format_bytes(text, tm_double(tm_get(part, "viewer_bytes_estimate"))));
    tm_htmlw_close_line(&p->w);
}

static void put_table(struct parts_page *p)
{
    tm_htmlw_class(&p->w, "main", "page");
    tm_htmlw_open(&p->w, "section");
    tm_htmlw_element(&p->w, "h2", NULL, "Parts");
    tm_htmlw_class(&p->w, "div", "scroll");
    tm_htmlw_open(&p->w, "table");
    tm_htmlw_element(&p->w, "caption", NULL,
                     "Times are relative to the first event of all parts; steps are counted from 0. The memory is an "
                     "estimate.");
    put_head_row(p);
    tm_htmlw_open(&p->w, "tbody");
    for (size_t i = 0; i < tm_length(p->parts); i++)
        put_part(p, tm_at(p->parts, i));
    for (int i = 0; i < 3; i++) /* tbody, table, div */
        tm_htmlw_close(&p->w);
    tm_htmlw_close_line(&p->w);
}

/* --- what to do with them --- */

static void put_step_of_use(struct parts_page *p, const char *what, const char *code, const char *then)
{
    tm_htmlw_open(&p->w, "li");
    tm_htmlw_text(&p->w, what);
    if (code[0])
        tm_htmlw_element(&p->w, "code", NULL, code);
    tm_htmlw_text(&p->w, then);
    tm_htmlw_close_line(&p->w);
}

static void put_overview(struct parts_page *p, const char *file)
{
    tm_htmlw_open(&p->w, "li");
    tm_htmlw_text(&p->w, "Start with ");
    tm_htmlw_open_with(&p->w, "a", "href", file, "download", "", NULL);
    tm_htmlw_text(&p->w, file);
    tm_htmlw_close(&p->w);
    tm_htmlw_text(&p->w,
                  ": it shows the whole run, with short slices merged, and each step names the part that has it.");
    tm_htmlw_close_line(&p->w);
}

static void put_use(struct parts_page *p)
{
    const bool is_json = strcmp(tm_text(tm_get(p->list, "format")), "json") == 0;

    tm_htmlw_open(&p->w, "section");
    tm_htmlw_element(&p->w, "h2", NULL, "How to open them");
    tm_htmlw_open(&p->w, "ul");
    if (tm_has(tm_get(p->list, "overview")))
        put_overview(p, tm_text(tm_path(p->list, "overview.file")));
    put_step_of_use(p, "With links from this list: ", "tracemill open FOLDER", " serves it on this machine.");
    put_step_of_use(p, "In a browser: open ", "ui.perfetto.dev",
                    " and drop a part onto it. The file does not leave this machine.");
    put_step_of_use(p, "If a part is too large for the browser's memory: run ",
                    "trace_processor server http part-0001.pftrace",
                    ", then open the same page, which connects to it.");
    if (!is_json)
        put_step_of_use(p, "To restore the whole trace: ", "cat part-*.pftrace > whole.pftrace",
                        ", with the slices that were cut into pieces.");
    put_step_of_use(p, "A slice that was open at a cut is in both parts, each up to the cut, with the argument ",
                    "tracemill_cut", "; its full duration is in its arguments. Arrows are shown only within a part.");
    put_step_of_use(p, "The same list for programs: ", "index.json", ".");
    tm_htmlw_close(&p->w);
    tm_htmlw_close(&p->w);
    tm_htmlw_close_line(&p->w);
}

static void put_footer(struct parts_page *p)
{
    const struct tm_value *tool = tm_get(p->list, "tool");

    tm_htmlw_class(&p->w, "footer", "page");
    tm_htmlw_open(&p->w, "p");
    tm_htmlw_printf(&p->w, "Created by %s %s.", tm_text(tm_get(tool, "name")), tm_text(tm_get(tool, "version")));
    tm_htmlw_close(&p->w);
    tm_htmlw_close_line(&p->w);
}

tm_status tm_html_parts_write(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    struct parts_page p = { .w.to = to, .list = tm_doc_root(doc) };

    p.parts = tm_get(p.list, "parts");
    survey_parts(&p);
    tm_html_head(&p.w, tm_text(tm_get(p.list, "run")), "tracemill split", &tm_asset_parts_script);
    tm_htmlw_open(&p.w, "body");
    put_top(&p);
    put_table(&p);
    put_use(&p);
    put_footer(&p);
    tm_html_script(&p.w, &tm_asset_parts_script);
    tm_htmlw_close(&p.w);
    tm_htmlw_close_line(&p.w);
    if (fflush(to) != 0 || ferror(to))
        return tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write the page of the parts");
    return TM_OK;
}
