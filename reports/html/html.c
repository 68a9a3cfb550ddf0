/* SPDX-License-Identifier: Apache-2.0 */
/* report.html: the frame of the page, its top, and the walk over the sections.  The page carries
 * everything it needs. */
#include "reports/html/html.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "reports/format/format.h"
#include "reports/format/shown_names.h"
#include "reports/html/assets.h"
#include "reports/html/html_head.h"
#include "reports/html/html_page.h"

enum { CHART_WIDTH = 760, FULL_NAMES_BYTES = 320 << 10, TEXT_BYTES = 512 };

/* Append to a text of fixed size; what does not fit is cut. */
static void TM_PRINTF(2, 3) append(char *text, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text + used, TEXT_BYTES - used, format, list);
    va_end(list);
}

/* --- the top --- */

static void put_banner(struct tm_page *page)
{
    const struct tm_value *files = tm_path(page->summary, "input.files");
    int partial = 0;

    if (!tm_is(tm_path(page->summary, "input.partial")))
        return;
    for (size_t i = 0; i < tm_length(files); i++)
        partial += tm_is(tm_get(tm_at(files, i), "partial"));
    tm_htmlw_class(&page->w, "div", "banner");
    tm_htmlw_attr(&page->w, "role", "note");
    tm_htmlw_open(&page->w, "p");
    tm_htmlw_element(&page->w, "strong", NULL, "The input is damaged or incomplete.");
    tm_htmlw_text(&page->w, " The figures cover what could be read");
    if (partial > 0)
        tm_htmlw_printf(&page->w, "; partial files: %d of %zu", partial, tm_length(files));
    tm_htmlw_text(&page->w, ". ");
    tm_htmlw_open(&page->w, "a");
    tm_htmlw_attr(&page->w, "href", "#coverage");
    tm_htmlw_text(&page->w, "What is missing");
    for (int i = 0; i < 3; i++) /* a, p, banner */
        tm_htmlw_close(&page->w);
}

static void put_hosts(struct tm_page *page)
{
    const struct tm_value *hosts = tm_path(page->summary, "input.hosts");
    char text[TEXT_BYTES] = "";

    for (size_t i = 0; i < tm_length(hosts); i++)
        append(text, "%s%.100s", i ? ", " : "", tm_text(tm_at(hosts, i)));
    if (tm_is_named_as_run(page->summary))
        return;
    tm_page_fact(page, tm_length(hosts) == 1 ? "Host" : "Hosts", text[0] ? text : "not recorded");
}

static void put_devices(struct tm_page *page)
{
    const struct tm_value *models = tm_path(page->summary, "environment.devices");
    char text[TEXT_BYTES] = "", count[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(models); i++) {
        const struct tm_value *model = tm_at(models, i), *name = tm_get(model, "model");
        const struct tm_value *used = tm_get(model, "used"), *all = tm_get(model, "count");

        append(text, "%s%s × %.100s", i ? ", " : "",
               tm_format_count(count, tm_int(tm_has(used) ? used : all)),
               tm_has(name) ? tm_text(name) : tm_text(tm_get(model, "kind")));
        if (tm_has(used) && tm_has(all) && tm_int(used) != tm_int(all))
            append(text, " (of %s)", tm_format_count(count, tm_int(all)));
    }
    if (!text[0] && tm_length(tm_get(page->summary, "devices")) > 0)
        append(text, "%zu", tm_length(tm_get(page->summary, "devices")));
    tm_page_fact(page, "Devices used", text[0] ? text : "none with activity");
}

static void put_versions(struct tm_page *page)
{
    static const char *const versions[][2] = {
        { "jax", "JAX" },
        { "jaxlib", "jaxlib" },
        { "cuda", "CUDA" },
        { "driver", "driver" },
        { "rocm", "ROCm" },
        { "libtpu", "libtpu" },
        { "cuda_runtime", "CUDA runtime" },
    };
    const struct tm_value *host = tm_path(page->summary, "environment.hosts[0]");
    char text[TEXT_BYTES] = "", value[TM_FORMAT_BYTES];

    if (strcmp(tm_text(tm_get(host, "framework")), "pytorch") == 0)
        append(text, "PyTorch (its version is not recorded)");
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        if (tm_has(tm_get(host, versions[i][0])))
            append(text, "%s%s %.60s", text[0] ? ", " : "", versions[i][1],
                   tm_page_value(TM_CELL_WORD, tm_get(host, versions[i][0]), value));
    if (text[0])
        tm_page_fact(page, "Versions", text);
    else
        tm_page_fact_value(page, "Versions", TM_CELL_WORD, tm_get(host, "jax"));
}

static void put_window(struct tm_page *page)
{
    const struct tm_value *window = tm_get(page->summary, "window"),
                          *hosts = tm_get(window, "hosts");
    const struct tm_value *first = tm_at(hosts, 0);
    const char *mode = tm_text(tm_get(window, "mode"));
    char text[TEXT_BYTES] = "", begin[TM_FORMAT_BYTES], span[TM_FORMAT_BYTES];

    if (!tm_has(tm_get(first, "span_ps"))) {
        tm_page_fact_value(page, "Window", TM_CELL_TIME, first ? tm_get(first, "span_ps") : window);
        return;
    }
    append(text, "%s from %s", tm_format_time(span, tm_int(tm_get(first, "span_ps"))),
           tm_format_moment(begin, tm_int(tm_get(first, "begin_ps"))));
    if (strcmp(mode, "steps") == 0)
        append(text, ", chosen steps");
    else if (strcmp(mode, "all") == 0)
        append(text, ", all activity");
    else if (strcmp(mode, "session") == 0)
        append(text, ", the session");
    if (tm_length(hosts) > 1)
        append(text, "; first of %zu hosts", tm_length(hosts));
    tm_page_fact(page, "Window", text);
}

static void put_step_fact(struct tm_page *page)
{
    const struct tm_value *steps = tm_get(page->summary, "steps"),
                          *median = tm_get(steps, "median_ps");
    char text[TEXT_BYTES] = "", chosen[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES],
         time[TM_FORMAT_BYTES];

    if (!tm_has(tm_get(steps, "count"))) {
        tm_page_fact_value(page, "Steps", TM_CELL_COUNT,
                           tm_has(steps) ? tm_get(steps, "count") : steps);
        return;
    }
    append(text, "%s of %s", tm_format_count(chosen, tm_int(tm_get(steps, "chosen"))),
           tm_format_count(count, tm_int(tm_get(steps, "count"))));
    if (tm_has(median))
        append(text, ", median %s", tm_format_time(time, tm_int(median)));
    tm_page_fact(page, "Steps", text);
}

static void put_date(struct tm_page *page)
{
    const struct tm_value *begin = tm_path(page->summary, "environment.hosts[0].begin_ns");
    char text[TM_FORMAT_BYTES];

    if (tm_has(begin) && tm_format_date(text, tm_int(begin))[0])
        tm_page_fact(page, "Profiled", text);
}

static void put_top(struct tm_page *page)
{
    const char *run = tm_text(tm_path(page->summary, "input.run"));
    const char *platform = tm_text(tm_path(page->summary, "environment.platform"));
    char shown[TEXT_BYTES], cut[4 * 96 + 1];

    tm_htmlw_class(&page->w, "header", "page top");
    put_banner(page);
    tm_htmlw_element(&page->w, "p", "brand", "tracemill report");
    (void)tm_format_visible(shown, sizeof(shown), run, strlen(run));
    (void)tm_format_middle(cut, sizeof(cut), shown, 96);
    tm_htmlw_element(&page->w, "h1", NULL, cut[0] ? cut : "Profile");
    tm_page_facts(page);
    put_hosts(page);
    put_devices(page);
    if (strcmp(platform, "none") == 0)
        tm_page_fact(page, "Platform", "no device");
    else
        tm_page_fact_value(page, "Platform", TM_CELL_WORD,
                           tm_path(page->summary, "environment.platform"));
    put_versions(page);
    put_window(page);
    put_step_fact(page);
    put_date(page);
    tm_page_end_facts(page);
    tm_htmlw_close_line(&page->w);
}

/* --- verdict, links, sections --- */

static void put_verdict(struct tm_page *page)
{
    static const char *const severities[] = { "good", "warning", "bad" };
    const struct tm_value *verdict = tm_get(page->summary, "verdict");
    const char *text = tm_text(tm_get(verdict, "text")),
               *severity = tm_text(tm_get(verdict, "severity"));
    char class_name[32] = "verdict";

    if (!text[0])
        return;
    for (size_t i = 0; i < sizeof(severities) / sizeof(severities[0]); i++)
        if (strcmp(severities[i], severity) == 0)
            (void)snprintf(class_name, sizeof(class_name), "verdict %s", severities[i]);
    tm_htmlw_class(&page->w, "div", "page");
    tm_htmlw_class(&page->w, "section", class_name);
    tm_htmlw_attr(&page->w, "aria-label", "Verdict");
    tm_htmlw_open(&page->w, "p");
    tm_page_text(page, text);
    tm_htmlw_close(&page->w);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_links(struct tm_page *page)
{
    tm_htmlw_class(&page->w, "nav", "sections");
    tm_htmlw_attr(&page->w, "aria-label", "Sections");
    tm_htmlw_open(&page->w, "ul");
    for (size_t i = 0; i < tm_html_section_count; i++) {
        char href[32];

        if (!tm_html_is_written(page, &tm_html_sections[i]))
            continue;
        (void)snprintf(href, sizeof(href), "#%s", tm_html_sections[i].id);
        tm_htmlw_open(&page->w, "li");
        tm_htmlw_open(&page->w, "a");
        tm_htmlw_attr(&page->w, "href", href);
        tm_htmlw_text(&page->w, tm_html_sections[i].title);
        tm_htmlw_close(&page->w);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_sections(struct tm_page *page)
{
    tm_htmlw_class(&page->w, "main", "page");
    tm_htmlw_attr(&page->w, "id", "main");
    for (size_t i = 0; i < tm_html_section_count; i++) {
        const struct tm_html_section *section = &tm_html_sections[i];

        if (!tm_html_is_written(page, section))
            continue;
        tm_htmlw_open(&page->w, "section");
        tm_htmlw_attr(&page->w, "id", section->id);
        tm_htmlw_open(&page->w, "h2");
        tm_htmlw_text(&page->w, section->title);
        tm_page_section_marks(page, section->key);
        tm_htmlw_close(&page->w);
        page->section = section->id;
        section->write(page);
        page->section = NULL;
        tm_htmlw_close_line(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

static void put_footer(struct tm_page *page)
{
    const struct tm_value *tool = tm_get(page->summary, "tool"),
                          *gap_min = tm_path(page->summary, "gaps.gap_min_ps");
    const char *mode = tm_text(tm_path(page->summary, "window.mode"));
    char text[TM_FORMAT_BYTES];

    tm_htmlw_class(&page->w, "footer", "page");
    tm_htmlw_open(&page->w, "p");
    tm_htmlw_printf(&page->w, "Made by %s %s from the summary %s, version %s.",
                    tm_text(tm_get(tool, "name")), tm_text(tm_get(tool, "version")),
                    tm_text(tm_get(page->summary, "schema")),
                    tm_format_count(text, tm_int(tm_get(page->summary, "schema_version"))));
    if (mode[0])
        tm_htmlw_printf(&page->w, " Window: %s.", mode);
    if (tm_has(gap_min))
        tm_htmlw_printf(&page->w, " Gaps are listed from %s.",
                        tm_format_time(text, tm_int(gap_min)));
    tm_htmlw_text(
        &page->w,
        " Every figure is in summary.json, in exact units, with the thresholds that were used.");
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_page(struct tm_page *page)
{
    tm_html_head(&page->w, tm_text(tm_path(page->summary, "input.run")), "tracemill report", true);
    tm_htmlw_open(&page->w, "body");
    tm_htmlw_class(&page->w, "a", "skip");
    tm_htmlw_attr(&page->w, "href", "#main");
    tm_htmlw_text(&page->w, "Skip to the figures");
    tm_htmlw_close_line(&page->w);
    put_top(page);
    put_verdict(page);
    put_links(page);
    put_sections(page);
    put_footer(page);
    tm_htmlw_open(&page->w, "script");
    tm_htmlw_verbatim(&page->w, tm_asset_script.bytes, tm_asset_script.length);
    tm_htmlw_close_line(&page->w);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

tm_status tm_html_write(struct tm_run *run, const struct tm_doc *doc, FILE *to)
{
    struct tm_page page = {
        .w.to = to, .run = run, .summary = tm_doc_root(doc), .full_bytes_left = FULL_NAMES_BYTES
    };
    tm_status status;

    tm_chart_init(&page.chart, run, CHART_WIDTH);
    put_page(&page);
    status = tm_chart_status(&page.chart);
    tm_chart_free(&page.chart);
    if (status == TM_OK && (fflush(to) != 0 || ferror(to)))
        status = tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot write the HTML report: %s",
                         strerror(errno));
    return status;
}
