/* SPDX-License-Identifier: Apache-2.0 */
/* Findings: the first ones in a line each, and all of them in full. */
#include <stdio.h>

#include "reports/content/finding_places.h"
#include "reports/content/front.h"
#include "reports/html/html_page.h"
#include "reports/html/html_words.h"

enum { FIRST_MOST = 3, UNFOLDED_MOST = 8, FINDINGS_MOST = 100, WHERE_MOST = 5 };

static enum tm_tone tone_of(const struct tm_value *finding)
{
    return tm_tone_of(tm_text(tm_get(finding, "severity")));
}

/* --- on the first screen --- */

/* "80.6 % of the window, 1.35 s of device time" */
static void put_short_stake(struct tm_page *page, const struct tm_value *finding)
{
    char time[TM_FORMAT_BYTES], part[TM_FORMAT_BYTES];

    if (!*tm_finding_time(time, finding))
        return;
    tm_htmlw_class(&page->w, "span", "stake");
    if (*tm_finding_part(part, finding))
        tm_htmlw_printf(&page->w, "%s, ", part);
    tm_htmlw_printf(&page->w, "%s of %s", time, page->document->stake_of);
    tm_htmlw_close(&page->w);
}

/* in: behind  what follows it */
static void put_file_anchor(struct tm_page *page, const struct tm_value *finding, const char *behind)
{
    const char *path = tm_finding_link(finding);

    if (!path)
        return;
    tm_htmlw_open(&page->w, "a");
    tm_htmlw_attr(&page->w, "href", path);
    tm_page_text(page, tm_text(tm_path(finding, "link.title")));
    tm_htmlw_close(&page->w);
    tm_htmlw_text(&page->w, behind);
}

static void put_first(struct tm_page *page, const struct tm_value *finding, int number)
{
    const struct tm_value *fix = tm_at(tm_get(finding, "fix"), 0);

    tm_htmlw_open(&page->w, "li");
    tm_page_band(page, tone_of(finding));
    tm_page_open_link(page, "finding", number);
    tm_page_text(page, tm_text(tm_get(finding, "title")));
    tm_htmlw_close(&page->w);
    put_short_stake(page, finding);
    if (*tm_text(fix) || tm_finding_link(finding)) {
        tm_htmlw_class(&page->w, "span", "fix");
        put_file_anchor(page, finding, ". ");
        tm_page_advice(page, tm_text(fix));
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

void tm_page_first_findings(struct tm_page *page)
{
    const struct tm_value *findings = tm_get(page->summary, "findings");
    const size_t count = tm_length(findings);
    size_t pick[FIRST_MOST], first = tm_front_findings(page->summary, FIRST_MOST, pick);

    if (count == 0)
        return;
    tm_htmlw_class(&page->w, "section", "first");
    tm_htmlw_element(&page->w, "h2", NULL, page->document->findings_title);
    tm_htmlw_open(&page->w, "ol");
    for (size_t i = 0; i < first; i++)
        put_first(page, tm_at(findings, pick[i]), (int)pick[i] + 1);
    tm_htmlw_close_line(&page->w);
    if (count > first) {
        tm_htmlw_class(&page->w, "p", "note");
        tm_page_open_link(page, "findings", -1);
        tm_htmlw_printf(&page->w, "All %zu findings", count);
        tm_htmlw_close(&page->w);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

/* --- in full --- */

static void put_fixes(struct tm_page *page, const struct tm_value *texts)
{
    if (tm_length(texts) == 0)
        return;
    tm_htmlw_element(&page->w, "h4", NULL, "What to do");
    tm_htmlw_open(&page->w, tm_length(texts) > 1 ? "ol" : "ul");
    for (size_t i = 0; i < tm_length(texts); i++) {
        tm_htmlw_open(&page->w, "li");
        tm_page_advice(page, tm_text(tm_at(texts, i)));
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

static void put_evidence(struct tm_page *page, const struct tm_value *texts)
{
    if (tm_length(texts) == 0)
        return;
    tm_htmlw_element(&page->w, "h4", NULL, "Evidence");
    tm_htmlw_open(&page->w, "ul");
    for (size_t i = 0; i < tm_length(texts); i++) {
        tm_htmlw_open(&page->w, "li");
        tm_page_text(page, tm_text(tm_at(texts, i)));
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

static void put_cause(struct tm_page *page, const char *cause)
{
    if (!*cause)
        return;
    tm_htmlw_element(&page->w, "h4", NULL, "Cause");
    tm_htmlw_open(&page->w, "p");
    tm_page_advice(page, cause);
    tm_htmlw_close_line(&page->w);
}

static void put_place(struct tm_page *page, const struct tm_value *where)
{
    struct tm_place place;

    tm_place_make(&place, page->summary, where);
    tm_htmlw_open(&page->w, "li");
    tm_htmlw_open(&page->w, "span");
    tm_page_text(page, place.text);
    tm_htmlw_close(&page->w);
    if (*place.sql) {
        tm_htmlw_class(&page->w, "code", "copy");
        tm_htmlw_text(&page->w, place.sql);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close_line(&page->w);
}

static void put_places(struct tm_page *page, const struct tm_value *where)
{
    const size_t count = tm_length(where);

    if (count == 0)
        return;
    tm_htmlw_element(&page->w, "h4", NULL, "Where to look");
    tm_htmlw_class(&page->w, "ul", "where");
    for (size_t i = 0; i < count && i < WHERE_MOST; i++)
        put_place(page, tm_at(where, i));
    tm_htmlw_close(&page->w);
    if (count > WHERE_MOST)
        tm_htmlw_printf(&page->w, "%zu more ranges in %s.", count - WHERE_MOST,
                        page->document->data);
}

static void put_more(struct tm_page *page, const struct tm_section *section)
{
    if (!section)
        return;
    tm_htmlw_class(&page->w, "p", "more");
    tm_htmlw_text(&page->w, "More: ");
    tm_page_open_link(page, section->id, -1);
    tm_htmlw_text(&page->w, section->title);
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
}

static void put_file_link(struct tm_page *page, const struct tm_value *finding)
{
    if (!tm_finding_link(finding))
        return;
    tm_htmlw_class(&page->w, "p", "more");
    put_file_anchor(page, finding, "");
    tm_htmlw_close_line(&page->w);
}

static void put_card(struct tm_page *page, const struct tm_value *finding, int number)
{
    char class_name[32], stake[TM_FINDING_BYTES];

    (void)snprintf(class_name, sizeof(class_name), "finding %s", tm_tone_class(tone_of(finding)));
    tm_htmlw_class(&page->w, "article", class_name);
    tm_page_id(page, "finding", number);
    tm_htmlw_open(&page->w, "h3");
    tm_page_band(page, tone_of(finding));
    tm_htmlw_text(&page->w, " ");
    tm_page_text(page, tm_text(tm_get(finding, "title")));
    tm_htmlw_close(&page->w);
    if (*tm_finding_stake(stake, finding))
        tm_htmlw_element(&page->w, "p", "stake", stake);
    tm_htmlw_class(&page->w, "div", "why");
    tm_htmlw_open(&page->w, "div");
    put_evidence(page, tm_get(finding, "evidence"));
    put_cause(page, tm_text(tm_get(finding, "cause")));
    tm_htmlw_close(&page->w);
    tm_htmlw_open(&page->w, "div");
    put_fixes(page, tm_get(finding, "fix"));
    tm_htmlw_close(&page->w);
    tm_htmlw_close_line(&page->w);
    put_places(page, tm_get(finding, "where"));
    put_file_link(page, finding);
    put_more(page, tm_section_of_finding(page->summary, finding));
    tm_htmlw_close_line(&page->w);
}

/* Of many findings those without potential savings, which come last, wait in a fold. */
static void open_fold(struct tm_page *page, size_t left)
{
    tm_htmlw_class(&page->w, "details", "lower");
    tm_htmlw_open(&page->w, "summary");
    tm_htmlw_printf(&page->w, "%zu more without an estimate", left);
    tm_htmlw_close_line(&page->w);
    page->in_fold = true;
}

void tm_page_finding(void *to, const struct tm_value *finding, size_t number)
{
    struct tm_page *page = to;
    const size_t count = tm_length(tm_get(page->summary, "findings"));
    const bool is_fact = tm_int(tm_get(finding, "at_stake_ps")) <= 0;

    if (number > FINDINGS_MOST)
        return;
    if (!page->in_fold && is_fact && count > UNFOLDED_MOST && number > FIRST_MOST)
        open_fold(page, count - number + 1);
    put_card(page, finding, (int)number);
}

void tm_page_end_findings(struct tm_page *page)
{
    const size_t count = tm_length(tm_get(page->summary, "findings"));

    if (page->in_fold)
        tm_htmlw_close_line(&page->w);
    page->in_fold = false;
    if (count > FINDINGS_MOST) {
        tm_htmlw_class(&page->w, "p", "note");
        tm_htmlw_printf(&page->w, "%zu more in %s.", count - FINDINGS_MOST, page->document->data);
        tm_htmlw_close_line(&page->w);
    }
}
