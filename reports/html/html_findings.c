/* SPDX-License-Identifier: Apache-2.0 */
/* What the summary says about itself: the figures with their judgements, the findings, the
 * definitions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/format/format.h"
#include "reports/format/platforms.h"
#include "reports/format/shown_names.h"
#include "reports/html/html_page.h"
#include "reports/content/terms.h"

enum { FINDINGS_MOST = 100, WHERE_MOST = 10, ID_BYTES = 40, TERM_BYTES = 320 };

/* Ids of the page are made of numbers, never of texts. */
static char *definition_id(char *out, size_t kpi)
{
    (void)snprintf(out, ID_BYTES, "definition-%zu", kpi);
    return out;
}

/* --- figures --- */

/* "> 80 %" where more is better, "< 25 %" where less is; a limit at which both meet stands alone
 * for good. */
static void put_limit(struct tm_page *page, const struct tm_value *kpi, const char *key)
{
    const struct tm_value *good = tm_get(kpi, "good"), *bad = tm_get(kpi, "bad"),
                          *limit = tm_get(kpi, key);
    const bool is_good = limit == good, more_is_better = tm_double(good) > tm_double(bad);
    char text[TM_FORMAT_BYTES];
    const char *sign = is_good == more_is_better ? "> " : "< ";

    tm_htmlw_class(&page->w, "td", tm_has(limit) ? "n" : "n none");
    if (tm_type_of(limit) == TM_STRING)
        tm_htmlw_text(&page->w, tm_text(limit));
    else if (!tm_has(limit))
        tm_htmlw_text(&page->w, "–");
    else
        tm_htmlw_printf(&page->w, "%s%s", is_good && tm_double(good) == tm_double(bad) ? "" : sign,
                        tm_format_limit(text, tm_double(limit), tm_text(tm_get(kpi, "unit"))));
    tm_htmlw_close(&page->w);
}

static void put_kpi_value(struct tm_page *page, const struct tm_value *kpi)
{
    const struct tm_value *value = tm_get(kpi, "value");
    const char *why = tm_text(tm_get(kpi, "why"));
    char text[TM_FORMAT_BYTES];

    if (tm_has(value)) {
        tm_htmlw_class(&page->w, "td", "n");
        tm_htmlw_element(&page->w, "span", "value",
                         tm_format_unit(text, tm_double(value), tm_text(tm_get(kpi, "unit"))));
        tm_page_kpi_marks(page, kpi);
        tm_htmlw_close(&page->w);
        return;
    }
    if (why[0] == 0)
        why = tm_why(value);
    tm_htmlw_class(&page->w, "td", "prose none");
    tm_page_not_recorded(page, why);
    tm_htmlw_close(&page->w);
}

static void put_kpi(struct tm_page *page, const struct tm_value *kpi, size_t number)
{
    char href[ID_BYTES + 1] = "#";
    const char *title = tm_text(tm_get(kpi, "title"));

    if (title[0] == 0)
        title = tm_text(tm_get(kpi, "id"));
    tm_htmlw_open(&page->w, "tr");
    tm_htmlw_open(&page->w, "th");
    tm_htmlw_attr(&page->w, "scope", "row");
    tm_htmlw_open(&page->w, "a");
    definition_id(href + 1, number);
    tm_htmlw_attr(&page->w, "href", href);
    tm_htmlw_text(&page->w, title);
    tm_htmlw_close(&page->w);
    tm_htmlw_close(&page->w);
    put_kpi_value(page, kpi);
    tm_htmlw_open(&page->w, "td");
    tm_page_band(page, tm_text(tm_get(kpi, "band")));
    tm_htmlw_close(&page->w);
    put_limit(page, kpi, "good");
    put_limit(page, kpi, "bad");
    tm_htmlw_close_line(&page->w);
}

void tm_html_figures(struct tm_page *page)
{
    static const char *const titles[] = { "Figure", "Value", "Judgement", "Good", "Bad" };
    static const bool right[] = { false, true, false, true, true };
    const struct tm_value *kpis = tm_get(page->summary, "kpis");

    tm_htmlw_class(&page->w, "div", "scroll");
    tm_htmlw_attr(&page->w, "role", "region");
    tm_htmlw_attr(&page->w, "aria-label", "Figures and their judgements");
    tm_htmlw_attr_int(&page->w, "tabindex", 0);
    tm_htmlw_class(&page->w, "table", "kpis");
    tm_htmlw_element(&page->w, "caption", NULL,
                     "Figures of the chosen steps; each links to its definition. Between good and "
                     "bad lies warning.");
    tm_htmlw_open(&page->w, "thead");
    tm_htmlw_open(&page->w, "tr");
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        tm_htmlw_open(&page->w, "th");
        tm_htmlw_attr(&page->w, "scope", "col");
        if (right[i])
            tm_htmlw_attr(&page->w, "class", "n");
        tm_htmlw_text(&page->w, titles[i]);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
    tm_htmlw_open(&page->w, "tbody");
    for (size_t i = 0; i < tm_length(kpis); i++)
        if (tm_kpi_is_for_run(tm_at(kpis, i)))
            put_kpi(page, tm_at(kpis, i), i);
    for (int i = 0; i < 3; i++) /* tbody, table, region */
        tm_htmlw_close(&page->w);
}

/* --- findings --- */

static void put_text(struct tm_page *page, const char *element, const char *text)
{
    tm_htmlw_open(&page->w, element);
    tm_page_text(page, text);
    tm_htmlw_close(&page->w);
}

/* Advice of the program: what stands between backticks is code. */
static void put_advice(struct tm_page *page, const char *element, const char *text)
{
    tm_htmlw_open(&page->w, element);
    for (bool code = false; *text; code = !code) {
        const size_t length = strcspn(text, "`");
        const bool closed = text[length] != 0;

        if (code && closed) {
            tm_htmlw_open(&page->w, "code");
            tm_htmlw_printf(&page->w, "%.*s", (int)length, text);
            tm_htmlw_close(&page->w);
        } else if (length > 0 || code) {
            tm_htmlw_printf(&page->w, "%s%.*s", code ? "`" : "", (int)length, text);
        }
        text += length + closed;
    }
    tm_htmlw_close(&page->w);
}

typedef void put_fn(struct tm_page *page, const char *element, const char *text);

static void put_list(struct tm_page *page, const char *element, const char *title,
                     const struct tm_value *texts, put_fn *put)
{
    if (tm_length(texts) == 0)
        return;
    tm_htmlw_element(&page->w, "h4", NULL, title);
    tm_htmlw_open(&page->w, element);
    for (size_t i = 0; i < tm_length(texts); i++)
        put(page, "li", tm_text(tm_at(texts, i)));
    tm_htmlw_close(&page->w);
}

static int64_t to_ns(int64_t ps)
{
    return ps / 1000 - (ps % 1000 < 0);
}

/* What has to be added to times so that they are those of the file; false: of several files with clocks of their own.
 */
static bool clock_of(const struct tm_page *page, int64_t *origin_ns)
{
    const struct tm_value *files = tm_path(page->summary, "input.files");
    const int64_t first_us = tm_int(tm_get(tm_at(files, 0), "origin_us"));
    const int64_t most_ns = INT64_MAX / 2; /* year 2116 */

    for (size_t i = 1; i < tm_length(files); i++)
        if (tm_int(tm_get(tm_at(files, i), "origin_us")) != first_us)
            return false;
    return !__builtin_mul_overflow(first_us, (int64_t)1000, origin_ns) && *origin_ns < most_ns && *origin_ns > -most_ns;
}

static void put_condition(struct tm_page *page, int64_t begin_ns, int64_t end_ns)
{
    tm_htmlw_class(&page->w, "code", "range");
    tm_htmlw_printf(&page->w, "ts between %lld and %lld", (long long)begin_ns, (long long)end_ns);
    tm_htmlw_close(&page->w);
    tm_htmlw_text(&page->w, " ");
}

/* Time ranges, as people read them and as a condition for the SQL page of Perfetto. */
static void put_where(struct tm_page *page, const struct tm_value *where)
{
    char begin[TM_FORMAT_BYTES], length[TM_FORMAT_BYTES];
    int64_t origin_ns = 0;
    const bool has_clock = clock_of(page, &origin_ns);

    if (tm_length(where) == 0)
        return;
    tm_htmlw_element(&page->w, "h4", NULL,
                     has_clock ? "Where to look (the condition is for Perfetto's SQL page; nanoseconds)"
                               : "Where to look");
    tm_htmlw_class(&page->w, "ul", "where");
    for (size_t i = 0; i < tm_length(where) && i < WHERE_MOST; i++) {
        const struct tm_value *range = tm_at(where, i);
        const int64_t from = tm_int(tm_get(range, "begin_ps")),
                      to = tm_int(tm_get(range, "end_ps"));
        const char *device = tm_shown_device(page->summary, tm_text(tm_get(range, "device")));

        tm_htmlw_open(&page->w, "li");
        if (has_clock)
            put_condition(page, origin_ns + to_ns(from), origin_ns + to_ns(to) + (to % 1000 > 0));
        tm_htmlw_printf(&page->w, "at %s, for %s%s", tm_format_moment(begin, from),
                        to >= from && (from >= 0 || to < INT64_MAX + from)
                            ? tm_format_time(length, to - from)
                            : "?",
                        device[0] ? ", " : "");
        tm_page_name(page, device);
        tm_htmlw_close_line(&page->w);
    }
    tm_htmlw_close(&page->w);
    if (tm_length(where) > WHERE_MOST)
        tm_page_note(page, "%zu more ranges in summary.json.", tm_length(where) - WHERE_MOST);
}

static void put_stake(struct tm_page *page, const struct tm_value *finding)
{
    const struct tm_value *stake = tm_get(finding, "at_stake_ps"),
                          *share = tm_get(finding, "share_pct");
    const struct tm_value *value = tm_get(finding, "value"), *limit = tm_get(finding, "limit");
    const char *unit = tm_text(tm_get(finding, "unit"));
    const bool repeats = strcmp(unit, "%") == 0 && fabs(tm_double(value) - tm_double(share)) < 0.05;
    char text[TM_FORMAT_BYTES];

    tm_htmlw_class(&page->w, "p", "stake");
    tm_page_band(page, tm_text(tm_get(finding, "severity")));
    if (tm_int(stake) > 0)
        tm_htmlw_printf(&page->w, " · %s at stake", tm_format_time(text, tm_int(stake)));
    if (tm_int(stake) > 0 && tm_has(share))
        tm_htmlw_printf(&page->w, ", %s of the window", tm_format_pct(text, tm_double(share)));
    if (tm_has(value) && !repeats)
        tm_htmlw_printf(&page->w, " · measured %s", tm_format_unit(text, tm_double(value), unit));
    if (tm_has(value) && tm_has(limit))
        tm_htmlw_printf(&page->w, ", limit %s", tm_format_limit(text, tm_double(limit), unit));
    tm_htmlw_close_line(&page->w);
}

static void put_finding(struct tm_page *page, const struct tm_value *finding)
{
    const char *severity = tm_text(tm_get(finding, "severity")),
               *cause = tm_text(tm_get(finding, "cause"));

    tm_htmlw_class(&page->w, "article",
                   strcmp(severity, "bad") == 0       ? "finding bad"
                   : strcmp(severity, "warning") == 0 ? "finding warning"
                                                      : "finding");
    put_text(page, "h3", tm_text(tm_get(finding, "title")));
    put_stake(page, finding);
    put_list(page, "ul", "Evidence", tm_get(finding, "evidence"), put_text);
    if (cause[0]) {
        tm_htmlw_element(&page->w, "h4", NULL, "Cause");
        put_advice(page, "p", cause);
    }
    put_list(page, tm_length(tm_get(finding, "fix")) > 1 ? "ol" : "ul", "What to do",
             tm_get(finding, "fix"), put_advice);
    put_where(page, tm_get(finding, "where"));
    tm_htmlw_close_line(&page->w);
}

void tm_html_findings(struct tm_page *page)
{
    const struct tm_value *findings = tm_get(page->summary, "findings");

    if (tm_length(findings) == 0)
        tm_page_note(page, "No rule found anything worth a change.");
    else
        tm_page_note(
            page,
            "By time at stake: the most that mending this one thing could save. Facts without it come last.");
    for (size_t i = 0; i < tm_length(findings) && i < FINDINGS_MOST; i++)
        put_finding(page, tm_at(findings, i));
    if (tm_length(findings) > FINDINGS_MOST)
        tm_page_note(page, "%zu more in summary.json.", tm_length(findings) - FINDINGS_MOST);
}

/* --- definitions --- */

static void put_term(struct tm_page *page, const char *id, const char *term, const char *text)
{
    tm_htmlw_open(&page->w, "dt");
    if (id)
        tm_htmlw_attr(&page->w, "id", id);
    tm_htmlw_text(&page->w, term);
    tm_htmlw_close(&page->w);
    tm_htmlw_open(&page->w, "dd");
    tm_page_text(page, text);
    tm_htmlw_close(&page->w);
}

/* "a|b|c" as "a, b, c". */
static const char *list_labels(char out[TERM_BYTES], const char *labels)
{
    size_t used = 0;

    for (; *labels && used + 3 < TERM_BYTES; labels++) {
        out[used++] = *labels == '|' ? ',' : *labels;
        if (*labels == '|')
            out[used++] = ' ';
    }
    out[used] = 0;
    return out;
}

static void put_words(struct tm_page *page)
{
    static const char *const words[][2] = {
        { "Window",
          "From the first to the last activity of a host's devices within the chosen steps." },
        { "Chosen steps",
          "Complete steps that are not warm-up. What was left out is listed with the steps." },
        { "Period of a step", "From the end of the last activity of the step before to the end of "
                              "its own last activity on the device." },
        { "Busy and idle", "Busy is the time in which at least one activity ran; idle is the rest "
                           "of the device's span. Both add up to the span." },
        { "Exposed",
          "Time of a collective or a copy during which nothing computed on that device." },
        { "Gap", "A maximal stretch without activity on a device. Its time is laid to what the "
                 "launching thread of the host did meanwhile." },
        { "Not recorded", "The profile does not hold what the figure needs; the reason stands "
                          "beside it. It does not mean 0." },
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        put_term(page, NULL, words[i][0], words[i][1]);
}

/* The figures and columns of a section. */
static void put_terms_of(struct tm_page *page, const struct tm_html_section *section)
{
    bool any = false;

    for (size_t i = 0; i < tm_term_count; i++) {
        char id[ID_BYTES], label[TERM_BYTES];

        if (strcmp(tm_terms[i].section, section->id) != 0)
            continue;
        if (!any) {
            tm_page_subheading(page, section->title);
            tm_htmlw_class(&page->w, "dl", "terms");
        }
        any = true;
        (void)snprintf(id, sizeof(id), "term-%zu", i);
        put_term(page, id, list_labels(label, tm_terms[i].labels), tm_terms[i].text);
    }
    if (any)
        tm_htmlw_close_line(&page->w);
}

void tm_html_definitions(struct tm_page *page)
{
    const struct tm_value *kpis = tm_get(page->summary, "kpis");
    char id[ID_BYTES];

    tm_htmlw_class(&page->w, "dl", "terms");
    for (size_t i = 0; i < tm_length(kpis); i++) {
        const struct tm_value *kpi = tm_at(kpis, i);
        const char *title = tm_text(tm_get(kpi, "title"));

        if (tm_kpi_is_for_run(kpi))
            put_term(page, definition_id(id, i), title[0] ? title : tm_text(tm_get(kpi, "id")),
                 tm_text(tm_get(kpi, "definition")));
    }
    put_words(page);
    tm_htmlw_close_line(&page->w);
    for (size_t i = 0; i < tm_html_section_count; i++)
        if (tm_html_is_written(page, &tm_html_sections[i]))
            put_terms_of(page, &tm_html_sections[i]);
}

/* --- what is not there --- */

/* The heading of a part of the summary, where the page has one for it. */
static const char *title_of(const char *key)
{
    for (size_t i = 0; i < tm_html_section_count; i++)
        if (tm_html_sections[i].key && strcmp(tm_html_sections[i].key, key) == 0)
            return tm_html_sections[i].title;
    return key;
}

static void put_missing(struct tm_page *page, const char *title, const char *why)
{
    tm_htmlw_open(&page->w, "li");
    tm_htmlw_printf(&page->w, "%s%s%s", title, why[0] ? ": " : "", why);
    tm_htmlw_close_line(&page->w);
}

/* Sections that the input cannot support: null in the summary, with a reason, or not there at all.
 */
void tm_html_missing(struct tm_page *page)
{
    bool any = false;

    tm_htmlw_open(&page->w, "ul");
    for (size_t i = 0; i < tm_length(page->summary); i++) {
        if (tm_has(tm_value_at(page->summary, i)) || !tm_section_is_for_run(tm_key_at(page->summary, i), page->summary))
            continue;
        put_missing(page, title_of(tm_key_at(page->summary, i)),
                    tm_why(tm_value_at(page->summary, i)));
        any = true;
    }
    for (size_t i = 0; i < tm_html_section_count; i++) {
        const char *key = tm_html_sections[i].key;

        if (!key || tm_get(page->summary, key) || !tm_section_is_for_run(key, page->summary))
            continue;
        put_missing(page, tm_html_sections[i].title, "");
        any = true;
    }
    if (!any)
        put_missing(page, "Nothing: every section has its figures", "");
    tm_htmlw_close(&page->w);
}
