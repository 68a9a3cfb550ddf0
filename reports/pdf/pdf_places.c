/* SPDX-License-Identifier: Apache-2.0 */
/* Places of the document, and references to them: bookmarks, the table of contents, links. */
#include "reports/pdf/pdf_page.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <hpdf.h>

#include "pipeline/run.h"
#include "pipeline/strings.h"
#include "reports/chart/chart.h"

enum { CONTENTS_COLUMNS = 4 };

static const double above = 10, contents_title = 20, entry_height = 10.5, column_gap = 12, number_room = 14,
                    entry_size = 7.6;

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

/* --- references to places --- */

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

/* A tree of two levels, with folded branches. */
static void make_bookmarks(struct tm_pdf *pdf)
{
    HPDF_Outline parent = NULL;

    for (size_t i = 0; i < pdf->places && !tm_failed(pdf->run); i++) {
        const struct tm_pdf_place *place = &pdf->place[i];
        HPDF_Outline mark = HPDF_CreateOutline(pdf->doc, place->level > 0 ? parent : NULL, "", NULL);
        HPDF_Destination to = aim_at(pdf, place);

        if (!mark || !to)
            return; /* the error handler was called */
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
    return place->page > 0 && place->section && place->level == 0;
}

static double height_of(size_t entries)
{
    return contents_title + (double)((entries + CONTENTS_COLUMNS - 1) / CONTENTS_COLUMNS) * entry_height;
}

double tm_pdf_contents_height(const struct tm_pdf *pdf)
{
    size_t entries = 0;

    if (pdf->front.is_slight)
        return 0; /* a few pages, the first of them without its own end */
    for (size_t i = 0; i < pdf->document->section_count; i++)
        entries += tm_section_is_due(pdf->document->sections[i], pdf->summary);
    return height_of(entries);
}

static void draw_entry(struct tm_pdf *pdf, const struct tm_pdf_place *place, double x, double width)
{
    struct tm_pdf_style style = tm_pdf_body;
    char number[16];

    style.role = TM_ROLE_SERIES;
    style.size = entry_size;
    tm_pdf_encode(pdf, pdf->text, TM_PDF_CELL_BYTES, place->title);
    tm_pdf_fit(pdf, &style, pdf->text, width - number_room, 1);
    tm_pdf_text_at(pdf, &style, x, pdf->y + style.size, pdf->text);
    (void)snprintf(number, sizeof(number), "%d", place->page + 1);
    tm_pdf_text_right(pdf, &tm_pdf_quiet, x + width, pdf->y + style.size, number);
    make_link(pdf, 0, &(struct tm_pdf_box){ x, pdf->y - 1, width, entry_height }, place);
}

/* The sections, in columns from the top; bookmarks have them if the page is full. */
static void draw_contents(struct tm_pdf *pdf)
{
    const double width = (tm_pdf_column(pdf) - (CONTENTS_COLUMNS - 1) * column_gap) / CONTENTS_COLUMNS;
    size_t entries = 0, each, at = 0;

    for (size_t i = 0; i < pdf->places; i++)
        entries += is_listed(&pdf->place[i]);
    if (entries == 0 || pdf->front.is_slight || pdf->front_end + height_of(entries) > pdf->bottom)
        return;
    tm_pdf_turn_to(pdf, 0);
    if (!tm_pdf_is_drawing(pdf))
        return;
    each = (entries + CONTENTS_COLUMNS - 1) / CONTENTS_COLUMNS;
    tm_pdf_begin_artifact(pdf); /* bookmarks and links use it */
    tm_pdf_text_at(pdf, &tm_pdf_strong, pdf->left, pdf->front_end + tm_pdf_strong.size, "Contents");
    for (size_t i = 0; i < pdf->places; i++) {
        if (!is_listed(&pdf->place[i]))
            continue;
        pdf->y = pdf->front_end + contents_title - 6 + (double)(at % each) * entry_height;
        draw_entry(pdf, &pdf->place[i], pdf->left + (double)(at / each) * (width + column_gap), width);
        at++;
    }
    tm_pdf_end_artifact(pdf);
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
