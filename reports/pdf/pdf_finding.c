/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/pdf/pdf_finding.h"

#include <stdio.h>
#include <string.h>

#include "reports/content/finding_places.h"
#include "reports/pdf/pdf_places.h"
#include "reports/pdf/pdf_text.h"

enum { LISTED_LINES = 12, LISTED_PLACES = 3, NUMBER_BYTES = 24 };

static const double label_room = 66, part_gap = 3, card_gap = 13, first_lines = 34, title_lines = 2;

static const struct tm_pdf_style title_style = { .face = TM_PDF_BOLD, .size = 10, .role = TM_ROLE_TEXT };

/* The word at the left of what follows. */
static void put_label(struct tm_pdf *pdf, const char *label)
{
    pdf->y += part_gap;
    tm_pdf_reserve(pdf, 2 * tm_pdf_leading(&tm_pdf_body));
    tm_pdf_text_at(pdf, &tm_pdf_label, pdf->left, pdf->y + tm_pdf_body.size, label);
}

static void put_prose(struct tm_pdf *pdf, const char *text)
{
    tm_pdf_encode_prose(pdf, pdf->text, sizeof(pdf->text), text);
    tm_pdf_wrapped(pdf, &tm_pdf_body, label_room, pdf->text);
}

static void put_lines(struct tm_pdf *pdf, const char *label, const struct tm_value *list, bool is_numbered)
{
    const size_t n = tm_length(list), shown = n < LISTED_LINES ? n : LISTED_LINES;
    char sign[NUMBER_BYTES] = "\xe2\x80\xa2";

    for (size_t i = 0; i < shown; i++) {
        if (i == 0)
            put_label(pdf, label);
        tm_pdf_reserve(pdf, tm_pdf_leading(&tm_pdf_body));
        if (is_numbered)
            (void)snprintf(sign, sizeof(sign), "%zu.", i + 1);
        if (n > 1)
            tm_pdf_text_at(pdf, &tm_pdf_label, pdf->left + label_room - 11, pdf->y + tm_pdf_body.size, sign);
        put_prose(pdf, tm_text(tm_at(list, i)));
    }
    if (n > shown) {
        (void)snprintf(pdf->text, sizeof(pdf->text), "and %zu more, in %s.html", n - shown,
                       pdf->document->file);
        tm_pdf_wrapped(pdf, &tm_pdf_quiet, label_room, pdf->text);
    }
}

static void put_place(struct tm_pdf *pdf, const struct tm_value *where, bool is_first)
{
    struct tm_place place;

    tm_place_make(&place, pdf->summary, where);
    put_label(pdf, is_first ? "Where to look" : "");
    tm_pdf_encode(pdf, pdf->text, sizeof(pdf->text), place.text);
    tm_pdf_wrapped(pdf, &tm_pdf_body, label_room, pdf->text);
    if (!*place.sql)
        return;
    tm_pdf_encode(pdf, pdf->text, sizeof(pdf->text), place.sql);
    tm_pdf_wrapped(pdf, &tm_pdf_code, label_room, pdf->text);
}

static void put_section_link(struct tm_pdf *pdf, const struct tm_value *finding)
{
    const struct tm_section *section = tm_section_of_finding(pdf->summary, finding);
    struct tm_pdf_style style = tm_pdf_body;

    if (!section)
        return;
    style.role = TM_ROLE_SERIES;
    put_label(pdf, "More");
    (void)snprintf(pdf->text, sizeof(pdf->text), "Section \xe2\x80\x9c%s\xe2\x80\x9d", section->title);
    tm_pdf_add_link(pdf,
                    &(struct tm_pdf_box){ pdf->left + label_room, pdf->y,
                                          tm_pdf_width(pdf, &style, pdf->text, strlen(pdf->text)),
                                          tm_pdf_leading(&style) },
                    section->id, 0);
    tm_pdf_wrapped(pdf, &style, label_room, pdf->text);
}

static void put_file_link(struct tm_pdf *pdf, const struct tm_value *finding)
{
    const char *path = tm_finding_link(finding);
    struct tm_pdf_style style = tm_pdf_body;

    if (!path)
        return;
    style.role = TM_ROLE_SERIES;
    put_label(pdf, "Report");
    tm_pdf_encode(pdf, pdf->text, sizeof(pdf->text), path);
    tm_pdf_add_file_link(pdf,
                         &(struct tm_pdf_box){ pdf->left + label_room, pdf->y, pdf->right - pdf->left - label_room,
                                               tm_pdf_leading(&style) },
                         path);
    tm_pdf_wrapped(pdf, &style, label_room, pdf->text);
}

double tm_pdf_finding_least(const struct tm_pdf *pdf)
{
    return title_lines * tm_pdf_leading(&title_style) + 2 * tm_pdf_leading(&tm_pdf_strong) + first_lines +
           (pdf->y > pdf->top ? card_gap : 0);
}

/* "critical: potential savings 1.51 s of device time, 80.6 % of the window" */
static void put_stake(struct tm_pdf *pdf, const struct tm_value *finding, enum tm_role role)
{
    const char *severity = tm_text(tm_get(finding, "severity"));
    struct tm_pdf_style style = tm_pdf_strong;
    char stake[TM_FINDING_BYTES], line[TM_FINDING_BYTES + NUMBER_BYTES];

    style.role = role;
    tm_finding_stake(stake, finding);
    (void)snprintf(line, sizeof(line), "%.16s%s%s", severity, *severity && *stake ? ": " : "", stake);
    tm_pdf_encode(pdf, pdf->text, sizeof(pdf->text), line);
    tm_pdf_wrapped(pdf, &style, 0, pdf->text);
}

void tm_pdf_finding(struct tm_pdf *pdf, const struct tm_value *finding, size_t number)
{
    const enum tm_role role = tm_pdf_role_of_tone(tm_tone_of(tm_text(tm_get(finding, "severity"))));
    const struct tm_value *where = tm_get(finding, "where");
    const char *cause = tm_text(tm_get(finding, "cause"));
    char title[TM_FINDING_BYTES];

    (void)snprintf(title, sizeof(title), "%zu.  %s", number, tm_text(tm_get(finding, "title")));
    tm_pdf_begin_card(pdf, role);
    tm_pdf_add_place(pdf, 1, NULL, number, title);
    tm_pdf_encode_prose(pdf, pdf->text, sizeof(pdf->text), title);
    tm_pdf_wrapped(pdf, &title_style, 0, pdf->text);
    put_stake(pdf, finding, role);
    put_lines(pdf, "Evidence", tm_get(finding, "evidence"), false);
    if (*cause) {
        put_label(pdf, "Cause");
        put_prose(pdf, cause);
    }
    put_lines(pdf, "What to do", tm_get(finding, "fix"), true);
    for (size_t i = 0; i < tm_length(where) && i < LISTED_PLACES; i++)
        put_place(pdf, tm_at(where, i), i == 0);
    put_file_link(pdf, finding);
    put_section_link(pdf, finding);
    tm_pdf_end_card(pdf);
    pdf->y += card_gap;
}
