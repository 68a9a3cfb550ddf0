/* SPDX-License-Identifier: Apache-2.0 */
/* Places of the document, and what leads to them: bookmarks, the page of contents, links. */
#include "reports/pdf/pdf_page.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <hpdf.h>

#include "pipeline/run.h"
#include "pipeline/strings.h"
#include "reports/chart/chart.h"

enum { CONTENTS_PAGE = 1 };

static const double above = 10, contents_title = 16, number_room = 26, dot_gap = 3.2;

/* Long ones are cut between two characters. */
static void copy_title(struct tm_pdf_place *place, const char *title)
{
    size_t n = strlen(title);

    n = n < sizeof(place->title) ? n : sizeof(place->title) - 1;
    while (n > 0 && ((unsigned char)title[n] & 0xc0) == 0x80)
        n--;
    memcpy(place->title, title, n);
    place->title[n] = 0;
}

void tm_pdf_add_place(struct tm_pdf *pdf, int level, const char *section, size_t finding, const char *title)
{
    struct tm_pdf_place *place = &pdf->place[pdf->places];

    if (!tm_pdf_is_drawing(pdf) || pdf->places == TM_PDF_PLACES_MOST)
        return;
    *place = (struct tm_pdf_place){
        .section = section, .finding = finding, .level = level, .page = pdf->page_at, .y = pdf->y
    };
    tm_pdf_encode_outside(pdf, pdf->text, TM_PDF_CELL_BYTES, title);
    copy_title(place, pdf->text);
    pdf->places++;
}

void tm_pdf_add_link(struct tm_pdf *pdf, const struct tm_pdf_box *box, const char *section, size_t finding)
{
    if (!tm_pdf_is_drawing(pdf) || pdf->links == TM_PDF_LINKS_MOST)
        return;
    pdf->link[pdf->links++] =
        (struct tm_pdf_link){ .section = section, .finding = finding, .page = pdf->page_at, .box = *box };
}

void tm_pdf_add_file_link(struct tm_pdf *pdf, const struct tm_pdf_box *box, const char *path)
{
    if (tm_pdf_is_drawing(pdf) && pdf->links < TM_PDF_LINKS_MOST)
        pdf->link[pdf->links++] = (struct tm_pdf_link){ .path = path, .page = pdf->page_at, .box = *box };
}

void tm_pdf_keep_contents_page(struct tm_pdf *pdf)
{
    tm_pdf_new_page(pdf);
}

/* --- what leads to a place --- */

/* A destination that keeps the reader's zoom, for which libharu has no function.
 * in: y  upwards from the bottom of the page */
static void aim(HPDF_Destination place, double y)
{
    HPDF_Real zoom;

    (void)HPDF_Destination_SetXYZ(place, 0, (HPDF_REAL)y, 1);
    zoom = HPDF_Array_GetItem(place, 4, HPDF_OCLASS_REAL);
    if (zoom)
        (void)HPDF_Real_SetValue(zoom, 0); /* as it is */
}

static HPDF_Destination aim_at(struct tm_pdf *pdf, const struct tm_pdf_place *place)
{
    HPDF_Page page = HPDF_GetPageByIndex(pdf->doc, (HPDF_UINT)place->page);
    HPDF_Destination to = page ? HPDF_Page_CreateDestination(page) : NULL;

    if (to)
        aim(to, pdf->page_height - place->y + above);
    return to;
}

static const struct tm_pdf_place *find(const struct tm_pdf *pdf, const struct tm_pdf_link *link)
{
    for (size_t i = 0; i < pdf->places; i++) {
        const struct tm_pdf_place *place = &pdf->place[i];

        if (link->finding ? place->finding == link->finding
                          : place->section && link->section && strcmp(place->section, link->section) == 0)
            return place;
    }
    return NULL;
}

static HPDF_Rect rect_of(const struct tm_pdf *pdf, const struct tm_pdf_box *box)
{
    return (HPDF_Rect){ .left = (HPDF_REAL)box->x,
                        .right = (HPDF_REAL)(box->x + box->width),
                        .bottom = (HPDF_REAL)(pdf->page_height - box->y - box->height),
                        .top = (HPDF_REAL)(pdf->page_height - box->y) };
}

static void make_file_link(struct tm_pdf *pdf, const struct tm_pdf_link *file)
{
    HPDF_Page page = HPDF_GetPageByIndex(pdf->doc, (HPDF_UINT)file->page);
    HPDF_Annotation link = page ? HPDF_Page_CreateURILinkAnnot(page, rect_of(pdf, &file->box), file->path) : NULL;

    if (link)
        TM_PDF_CALL(pdf, HPDF_LinkAnnot_SetBorderStyle(link, 0, 0, 0));
}

static void make_link(struct tm_pdf *pdf, int page, const struct tm_pdf_box *box, const struct tm_pdf_place *place)
{
    const HPDF_Rect rect = rect_of(pdf, box);
    HPDF_Destination to = aim_at(pdf, place);
    HPDF_Annotation link =
        to ? HPDF_Page_CreateLinkAnnot(HPDF_GetPageByIndex(pdf->doc, (HPDF_UINT)page), rect, to) : NULL;

    if (link)
        TM_PDF_CALL(pdf, HPDF_LinkAnnot_SetBorderStyle(link, 0, 0, 0));
}

void tm_pdf_set_text(struct tm_pdf *pdf, HPDF_Dict in, const char *key, const char *text)
{
    HPDF_BYTE wide[2 + 2 * TM_PDF_CELL_BYTES];
    const size_t length = strlen(text);
    HPDF_UINT bytes = 0;

    wide[bytes++] = 0xfe; /* which byte of each pair is the first */
    wide[bytes++] = 0xff;
    for (size_t i = 0; i < length && bytes < sizeof(wide);) {
        uint32_t code = '?';
        const size_t n = tm_utf8_next(text + i, length - i, &code);

        i += n ? n : 1;
        wide[bytes++] = (HPDF_BYTE)(code >> 8);
        wide[bytes++] = (HPDF_BYTE)code;
    }
    TM_PDF_CALL(pdf, HPDF_Dict_Add(in, key, HPDF_Binary_New(pdf->doc->mmgr, wide, bytes)));
}

/* A tree of two levels, its branches folded. */
static void make_bookmarks(struct tm_pdf *pdf)
{
    HPDF_Outline parent = NULL;

    for (size_t i = 0; i < pdf->places && !tm_failed(pdf->run); i++) {
        const struct tm_pdf_place *place = &pdf->place[i];
        HPDF_Outline mark = HPDF_CreateOutline(pdf->doc, place->level > 0 ? parent : NULL, "", NULL);
        HPDF_Destination to = aim_at(pdf, place);

        if (!mark || !to)
            return; /* the handler of errors was told */
        tm_pdf_set_text(pdf, mark, "Title", place->title);
        TM_PDF_CALL(pdf, HPDF_Outline_SetDestination(mark, to));
        TM_PDF_CALL(pdf, HPDF_Outline_SetOpened(mark, HPDF_FALSE));
        if (place->level == 0)
            parent = mark;
    }
}

/* --- contents --- */

static bool is_listed(const struct tm_pdf_place *place)
{
    return place->page > CONTENTS_PAGE && (place->section || place->finding);
}

static struct tm_pdf_style style_of(const struct tm_pdf_place *place)
{
    struct tm_pdf_style style = place->level == 0 ? tm_pdf_strong : tm_pdf_body;

    style.size = place->level == 0 ? 9 : 8.2;
    return style;
}

/* Dots between the title and the number of the page. */
static void draw_dots(struct tm_pdf *pdf, double from, double to, double y)
{
    if (to - from < 2 * dot_gap)
        return;
    tm_pdf_stroke(pdf, TM_ROLE_GRID, 0.7);
    tm_pdf_dash(pdf, "[1 3]");
    tm_pdf_move_to(pdf, from, y);
    tm_pdf_line_to(pdf, to, y);
    tm_pdf_end_path(pdf, false);
    tm_pdf_dash(pdf, "[]");
}

static void draw_entry(struct tm_pdf *pdf, const struct tm_pdf_place *place, double height)
{
    const struct tm_pdf_style style = style_of(place);
    const double x = pdf->left + (place->level > 0 ? 14 : 0), baseline = pdf->y + style.size;
    char number[16];

    tm_pdf_encode_prose(pdf, pdf->text, TM_PDF_CELL_BYTES, place->title);
    tm_pdf_fit(pdf, &style, pdf->text, pdf->right - number_room - x, 1);
    tm_pdf_text_at(pdf, &style, x, baseline, pdf->text);
    (void)snprintf(number, sizeof(number), "%d", place->page + 1);
    draw_dots(pdf, x + tm_pdf_width(pdf, &style, pdf->text, strlen(pdf->text)) + 2 * dot_gap,
              pdf->right - tm_pdf_width(pdf, &style, number, strlen(number)) - dot_gap, baseline - 0.5);
    tm_pdf_text_right(pdf, &style, pdf->right, baseline, number);
    make_link(pdf, CONTENTS_PAGE, &(struct tm_pdf_box){ x, pdf->y - 1, pdf->right - x, height }, place);
    pdf->y += height;
}

/* Sections and findings; of the findings only as many as there is room for. */
static void draw_contents(struct tm_pdf *pdf)
{
    struct tm_pdf_style title = tm_pdf_strong;
    const double section_height = 17, finding_height = 13;
    double sections = 0;
    int level = 0;

    title.size = contents_title;
    tm_pdf_turn_to(pdf, CONTENTS_PAGE);
    if (!tm_pdf_is_drawing(pdf) || pdf->page_at != CONTENTS_PAGE)
        return;
    pdf->y = pdf->top;
    tm_pdf_text_at(pdf, &title, pdf->left, pdf->y + title.size, "Contents");
    pdf->y += 34;
    for (size_t i = 0; i < pdf->places; i++)
        sections += is_listed(&pdf->place[i]) && pdf->place[i].level == 0;
    for (size_t i = 0; i < pdf->places; i++) {
        const struct tm_pdf_place *place = &pdf->place[i];

        sections -= is_listed(place) && place->level == 0;
        if (is_listed(place) && place->level == 0) {
            pdf->y += level > 0 ? 3 : 0;
            draw_entry(pdf, place, section_height);
            level = 0;
        } else if (is_listed(place) && tm_pdf_left_on_page(pdf) > sections * section_height + 2 * finding_height) {
            draw_entry(pdf, place, finding_height);
            level = 1;
        }
    }
}

void tm_pdf_finish_places(struct tm_pdf *pdf)
{
    const bool was_full = pdf->is_full;

    pdf->is_full = false;
    draw_contents(pdf);
    make_bookmarks(pdf);
    for (size_t i = 0; i < pdf->links && !tm_failed(pdf->run); i++) {
        const struct tm_pdf_place *place = find(pdf, &pdf->link[i]);

        if (pdf->link[i].path)
            make_file_link(pdf, &pdf->link[i]);
        else if (place)
            make_link(pdf, pdf->link[i].page, &pdf->link[i].box, place);
    }
    pdf->is_full = was_full;
}
