/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of the document, colors and shapes on them, its structure, its places and references to these.
 *
 * This file writes the operators itself, instead of calling libharu's function for each: those clear a buffer, format
 * each number by repeated division, set what is already set, and copy the result a byte at a time.
 * Source: ISO 32000-1, annex A (operators). */
#include "reports/pdf/pdf_page.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <hpdf.h>

#include "pipeline/deflate.h"
#include "pipeline/numbers.h"
#include "pipeline/run.h"
#include "pipeline/strings.h"
#include "reports/chart/chart.h"
#include "reports/content/content.h"
#include "reports/media.h"

static const double edge_width = 3, edge_gap = 9;

enum { FULL = 255 }; /* of a part of a color */

const char tm_pdf_face_key[TM_PDF_FACES][3] = { "F1", "F2", "F3" };

bool tm_pdf_is_sound(const struct tm_pdf *pdf)
{
    return !tm_failed(pdf->run) && HPDF_GetError(pdf->doc) == HPDF_OK;
}

/* --- operators --- */

static void hand_over(struct tm_pdf *pdf)
{
    struct tm_pdf_content *content = &pdf->content;

    if (content->used > 0)
        TM_PDF_CALL(pdf, HPDF_Stream_Write(((HPDF_PageAttr)pdf->page->attr)->stream, (const HPDF_BYTE *)content->bytes,
                                           (HPDF_UINT)content->used));
    content->used = 0;
}

/* The graphics state of the next page is unknown. */
static void leave_page(struct tm_pdf *pdf)
{
    hand_over(pdf);
    pdf->content.has_fill = pdf->content.has_stroke = pdf->content.has_font = false;
}

void tm_pdf_put(struct tm_pdf *pdf, const char *bytes, size_t length)
{
    struct tm_pdf_content *content = &pdf->content;

    if (sizeof(content->bytes) - content->used < length)
        hand_over(pdf);
    memcpy(content->bytes + content->used, bytes, length);
    content->used += length;
}

/* With three decimals a document would be 2 to 8 % smaller, but a reader that positions glyphs at quarters of a pixel
 * would move some of them. */
enum { DECIMALS = 5 };

void tm_pdf_operate(struct tm_pdf *pdf, const char *name, const double *operands, size_t count)
{
    const size_t bytes = strlen(name);
    char line[TM_PDF_OPERANDS * (TM_FIXED_TEXT + 1) + 8], *end = line;

    for (size_t i = 0; i < count; i++) {
        end += tm_fixed_text(end, operands[i], DECIMALS);
        *end++ = ' ';
    }
    memcpy(end, name, bytes);
    end[bytes] = '\n';
    tm_pdf_put(pdf, line, (size_t)(end - line) + bytes + 1);
}

/* --- pages --- */

bool tm_pdf_is_drawing(const struct tm_pdf *pdf)
{
    return !tm_failed(pdf->run) && pdf->page && !pdf->is_full;
}

/* The part of the card's edge that is on this page. */
static void draw_edge(struct tm_pdf *pdf)
{
    if (pdf->has_edge && pdf->y > pdf->edge_y)
        tm_pdf_rect(pdf, pdf->edge,
                    &(struct tm_pdf_box){ pdf->left - edge_gap, pdf->edge_y, edge_width, pdf->y - pdf->edge_y });
}

void tm_pdf_new_page(struct tm_pdf *pdf)
{
    if (tm_failed(pdf->run) || pdf->is_full)
        return;
    const bool goes_on = pdf->tags.is_open;
    const enum tm_pdf_tag tag = pdf->tags.tag;

    draw_edge(pdf);
    tm_pdf_end_tag(pdf);
    if (pdf->pages == TM_PDF_PAGES) {
        pdf->is_full = true;
        return;
    }
    leave_page(pdf);
    pdf->page = HPDF_AddPage(pdf->doc);
    if (!pdf->page || tm_failed(pdf->run))
        return;
    TM_PDF_CALL(pdf, HPDF_Dict_Add(HPDF_Dict_GetItem(pdf->page, "Resources", HPDF_OCLASS_DICT), "Font", pdf->fonts));
    TM_PDF_CALL(pdf, HPDF_Page_SetWidth(pdf->page, (HPDF_REAL)pdf->page_width));
    TM_PDF_CALL(pdf, HPDF_Page_SetHeight(pdf->page, (HPDF_REAL)pdf->page_height));
    pdf->page_at = pdf->pages++;
    pdf->y = pdf->edge_y = pdf->top;
    tm_pdf_tags_new_page(pdf);
    if (goes_on)
        tm_pdf_begin_tag(pdf, tag, NULL);
}

void tm_pdf_turn_to(struct tm_pdf *pdf, int page)
{
    if (tm_failed(pdf->run) || page >= pdf->pages)
        return;
    tm_pdf_end_tag(pdf);
    leave_page(pdf);
    pdf->page = HPDF_GetPageByIndex(pdf->doc, (HPDF_UINT)page);
    pdf->page_at = page;
}

void tm_pdf_finish_pages(struct tm_pdf *pdf)
{
    if (pdf->page) {
        tm_pdf_end_tag(pdf);
        leave_page(pdf);
    }
}

double tm_pdf_left_on_page(const struct tm_pdf *pdf)
{
    return pdf->bottom - pdf->y;
}

double tm_pdf_column(const struct tm_pdf *pdf)
{
    return pdf->right - pdf->left;
}

void tm_pdf_reserve(struct tm_pdf *pdf, double height)
{
    if (!pdf->page || tm_pdf_left_on_page(pdf) < height)
        tm_pdf_new_page(pdf);
}

void tm_pdf_begin_card(struct tm_pdf *pdf, enum tm_role role)
{
    pdf->has_edge = true;
    pdf->edge = role;
    pdf->edge_y = pdf->y;
    pdf->left += edge_gap;
}

void tm_pdf_end_card(struct tm_pdf *pdf)
{
    draw_edge(pdf);
    pdf->has_edge = false;
    pdf->left -= edge_gap;
}

/* --- colors --- */

enum tm_role tm_pdf_role_of_tone(enum tm_tone tone)
{
    switch (tone) {
    case TM_TONE_GOOD:
        return TM_ROLE_GOOD;
    case TM_TONE_WARNING:
        return TM_ROLE_WARNING;
    case TM_TONE_BAD:
    case TM_TONE_CRITICAL:
        return TM_ROLE_BAD;
    case TM_TONE_INFO:
    case TM_TONE_UNKNOWN:
        return TM_ROLE_UNKNOWN;
    case TM_TONE_QUIET:
        return TM_ROLE_QUIET;
    default:
        return TM_ROLE_TEXT;
    }
}

/* A color mixed with white.  in: name  of the operator; share  of the color, 0 to 1 */
static void set_colour(struct tm_pdf *pdf, const char *name, enum tm_role role, double share)
{
    double part[3];

    for (int i = 0; i < 3; i++)
        part[i] = 1 - share * (1 - (double)(tm_palette[role].light >> (16 - 8 * i) & FULL) / FULL);
    tm_pdf_operate(pdf, name, part, 3);
}

static void fill_with(struct tm_pdf *pdf, enum tm_role role, double share)
{
    struct tm_pdf_content *content = &pdf->content;

    if (content->has_fill && content->fill == role && content->fill_share == share)
        return;
    content->has_fill = true;
    content->fill = role;
    content->fill_share = share;
    set_colour(pdf, "rg", role, share);
}

void tm_pdf_fill(struct tm_pdf *pdf, enum tm_role role)
{
    fill_with(pdf, role, 1);
}

void tm_pdf_stroke(struct tm_pdf *pdf, enum tm_role role, double thickness)
{
    struct tm_pdf_content *content = &pdf->content;

    if (!content->has_stroke || content->stroke != role)
        set_colour(pdf, "RG", role, 1);
    if (!content->has_stroke || content->thickness != thickness)
        TM_PDF_PUT(pdf, "w", thickness);
    content->has_stroke = true;
    content->stroke = role;
    content->thickness = thickness;
}

void tm_pdf_dash(struct tm_pdf *pdf, const char *pattern)
{
    tm_pdf_put(pdf, pattern, strlen(pattern));
    tm_pdf_put(pdf, " 0 d\n", 5);
}

/* --- shapes --- */

void tm_pdf_move_to(struct tm_pdf *pdf, double x, double y)
{
    TM_PDF_PUT(pdf, "m", x, pdf->page_height - y);
}

void tm_pdf_line_to(struct tm_pdf *pdf, double x, double y)
{
    TM_PDF_PUT(pdf, "l", x, pdf->page_height - y);
}

void tm_pdf_end_path(struct tm_pdf *pdf, bool is_filled)
{
    tm_pdf_put(pdf, is_filled ? "f\n" : "S\n", 2);
}

/* Four curves, from the left upwards. */
void tm_pdf_disc(struct tm_pdf *pdf, enum tm_role role, double x, double y, double radius)
{
    static const double to[][2] = { { 0, 1 }, { 1, 0 }, { 0, -1 }, { -1, 0 } };
    const double bend = 0.552 * radius, up = pdf->page_height - y;
    double from_x = -1, from_y = 0;

    tm_pdf_fill(pdf, role);
    TM_PDF_PUT(pdf, "m", x - radius, up);
    for (size_t i = 0; i < sizeof(to) / sizeof(to[0]); i++) {
        const double to_x = to[i][0], to_y = to[i][1];

        TM_PDF_PUT(pdf, "c", x + radius * from_x + bend * to_x, up + radius * from_y + bend * to_y,
                   x + radius * to_x + bend * from_x, up + radius * to_y + bend * from_y, x + radius * to_x,
                   up + radius * to_y);
        from_x = to_x;
        from_y = to_y;
    }
    tm_pdf_end_path(pdf, true);
}

void tm_pdf_tinted_rect(struct tm_pdf *pdf, enum tm_role role, double share, const struct tm_pdf_box *box)
{
    if (!tm_pdf_is_drawing(pdf))
        return;
    fill_with(pdf, role, share);
    TM_PDF_PUT(pdf, "re", box->x, pdf->page_height - box->y - box->height, box->width, box->height);
    tm_pdf_end_path(pdf, true);
}

void tm_pdf_rect(struct tm_pdf *pdf, enum tm_role role, const struct tm_pdf_box *box)
{
    tm_pdf_tinted_rect(pdf, role, 1, box);
}

void tm_pdf_rule(struct tm_pdf *pdf, enum tm_role role, double thickness, double y, double right)
{
    if (!tm_pdf_is_drawing(pdf))
        return;
    tm_pdf_stroke(pdf, role, thickness);
    tm_pdf_move_to(pdf, pdf->left, y);
    tm_pdf_line_to(pdf, right, y);
    tm_pdf_end_path(pdf, false);
}

/* --- streams --- */

/* libharu's own deflate is a fifth of the cost of a short report: zlib at level 6, initialized for each stream. 
 * Therefore it writes streams unchanged, and they are deflated beforehand. */

/* As a dictionary is written: libharu takes away the filter of a stream that it does not deflate. */
static HPDF_STATUS put_filter(HPDF_Dict dictionary, HPDF_Stream to)
{
    (void)dictionary;
    return HPDF_Stream_WriteStr(to, "/Filter /FlateDecode\012");
}

static void gather(HPDF_Stream stream, uint8_t *to)
{
    for (HPDF_UINT i = 0, n; i < HPDF_MemStream_GetBufCount(stream); i++, to += n) {
        const HPDF_BYTE *piece = HPDF_MemStream_GetBufPtr(stream, i, &n);

        memcpy(to, piece, n);
    }
}

static void pack(struct tm_pdf *pdf, struct tm_block_deflater *deflater, HPDF_Dict of)
{
    const size_t bytes = of->stream->size;
    uint8_t *plain = tm_take(&pdf->run->budget, TM_ACCOUNT_MODEL, 2 * bytes, &pdf->run->error);
    size_t packed = 0;

    if (plain) {
        gather(of->stream, plain);
        packed = tm_block_deflate(deflater, plain, bytes, plain + bytes, bytes);
    }
    if (packed > 0) {
        HPDF_MemStream_FreeData(of->stream);
        TM_PDF_CALL(pdf, HPDF_Stream_Write(of->stream, plain + bytes, (HPDF_UINT)packed));
        of->write_fn = put_filter;
    }
    tm_give(&pdf->run->budget, TM_ACCOUNT_MODEL, plain, 2 * bytes);
}

void tm_pdf_pack_streams(struct tm_pdf *pdf)
{
    struct tm_block_deflater *deflater = tm_failed(pdf->run) ? NULL : tm_block_deflater_new(pdf->run);

    for (HPDF_UINT i = 0; deflater && tm_pdf_is_sound(pdf) && i < pdf->doc->xref->entries->count; i++) {
        HPDF_XrefEntry entry = HPDF_Xref_GetEntry(pdf->doc->xref, i);
        HPDF_Dict object = entry->obj;

        if (object && (object->header.obj_class & HPDF_OCLASS_ANY) == HPDF_OCLASS_DICT && object->stream)
            pack(pdf, deflater, object);
    }
    tm_block_deflater_free(deflater);
}

/* --- structure ---
 *
 * For software that reads the document aloud or reflows it: headings, paragraphs, and figures with an alternative
 * text.  libharu has no functions for it, and keeps every object in memory until the document is written, so a table
 * is tagged as a whole on each page, not by rows and cells.  Lines at the edges of pages are artifacts.
 * Source: ISO 32000-1, 14.7 (logical structure) and 14.8 (tagged PDF). */

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

enum { OPERATOR_BYTES = 48 };

static const char *const tag_name[] = {
    [TM_PDF_TAG_TITLE] = "H1", [TM_PDF_TAG_SECTION] = "H2",    [TM_PDF_TAG_HEADING] = "H3",
    [TM_PDF_TAG_TEXT] = "P",   [TM_PDF_TAG_FIGURE] = "Figure",
};

static HPDF_Dict new_dict(struct tm_pdf *pdf, const char *type)
{
    HPDF_Dict dict = tm_pdf_is_sound(pdf) ? HPDF_Dict_New(pdf->doc->mmgr) : NULL;

    TM_PDF_CALL(pdf, HPDF_Xref_Add(pdf->doc->xref, dict));
    TM_PDF_CALL(pdf, HPDF_Dict_AddName(dict, "Type", type));
    return dict;
}

static HPDF_Array new_array(struct tm_pdf *pdf)
{
    return tm_pdf_is_sound(pdf) ? HPDF_Array_New(pdf->doc->mmgr) : NULL;
}

void tm_pdf_tags_begin(struct tm_pdf *pdf)
{
    struct tm_pdf_tags *const tags = &pdf->tags;
    HPDF_Dict marks, parents;

    tags->root = new_dict(pdf, "StructTreeRoot");
    tags->document = new_dict(pdf, "StructElem");
    tags->parts = new_array(pdf);
    tags->pages = new_array(pdf);
    marks = tm_pdf_is_sound(pdf) ? HPDF_Dict_New(pdf->doc->mmgr) : NULL;
    TM_PDF_CALL(pdf, HPDF_Dict_AddBoolean(marks, "Marked", HPDF_TRUE));
    TM_PDF_CALL(pdf, HPDF_Dict_Add(pdf->doc->catalog, "MarkInfo", marks));
    TM_PDF_CALL(pdf, HPDF_Dict_Add(pdf->doc->catalog, "StructTreeRoot", tags->root));
    TM_PDF_CALL(pdf, HPDF_Dict_AddName(tags->document, "S", "Document"));
    TM_PDF_CALL(pdf, HPDF_Dict_Add(tags->document, "P", tags->root));
    TM_PDF_CALL(pdf, HPDF_Dict_Add(tags->document, "K", tags->parts));
    TM_PDF_CALL(pdf, HPDF_Dict_Add(tags->root, "K", tags->document));
    /* Now, and not when the pages exist: objects that are in no dictionary are not freed after a failure. */
    parents = tm_pdf_is_sound(pdf) ? HPDF_Dict_New(pdf->doc->mmgr) : NULL;
    TM_PDF_CALL(pdf, HPDF_Dict_Add(parents, "Nums", tags->pages));
    TM_PDF_CALL(pdf, HPDF_Dict_Add(tags->root, "ParentTree", parents));
}

void tm_pdf_tags_new_page(struct tm_pdf *pdf)
{
    struct tm_pdf_tags *const tags = &pdf->tags;

    tags->count = 0;
    tags->of_page = new_array(pdf);
    TM_PDF_CALL(pdf, HPDF_Array_AddNumber(tags->pages, pdf->page_at));
    TM_PDF_CALL(pdf, HPDF_Array_Add(tags->pages, tags->of_page));
    TM_PDF_CALL(pdf, HPDF_Dict_AddNumber(pdf->page, "StructParents", pdf->page_at));
    TM_PDF_CALL(pdf, HPDF_Dict_AddName(pdf->page, "Tabs", "S"));
}

static void put_operator(struct tm_pdf *pdf, const char *text)
{
    tm_pdf_put(pdf, text, strlen(text));
}

/* The element of the following content. */
static HPDF_Dict open_element(struct tm_pdf *pdf, enum tm_pdf_tag tag)
{
    struct tm_pdf_tags *const tags = &pdf->tags;
    HPDF_Dict element = new_dict(pdf, "StructElem");

    TM_PDF_CALL(pdf, HPDF_Dict_AddName(element, "S", tag_name[tag]));
    TM_PDF_CALL(pdf, HPDF_Dict_Add(element, "P", tags->document));
    TM_PDF_CALL(pdf, HPDF_Dict_Add(element, "Pg", pdf->page));
    TM_PDF_CALL(pdf, HPDF_Dict_AddNumber(element, "K", tags->count));
    TM_PDF_CALL(pdf, HPDF_Array_Add(tags->parts, element));
    TM_PDF_CALL(pdf, HPDF_Array_Add(tags->of_page, element));
    return element;
}

void tm_pdf_begin_tag(struct tm_pdf *pdf, enum tm_pdf_tag tag, const char *instead)
{
    struct tm_pdf_tags *const tags = &pdf->tags;
    char text[OPERATOR_BYTES];
    HPDF_Dict element;

    if (tags->is_open)
        tm_pdf_end_tag(pdf);
    if (!tm_pdf_is_drawing(pdf) || tags->is_artifact)
        return;
    element = open_element(pdf, tag);
    if (instead && tm_pdf_is_sound(pdf))
        tm_pdf_set_text(pdf, element, "Alt", instead);
    (void)snprintf(text, sizeof(text), "/%s <</MCID %d>> BDC\n", tag_name[tag], tags->count++);
    put_operator(pdf, text);
    tags->is_open = true;
    tags->tag = tag;
}

void tm_pdf_end_tag(struct tm_pdf *pdf)
{
    if (pdf->tags.is_open)
        put_operator(pdf, "EMC\n");
    pdf->tags.is_open = false;
}

void tm_pdf_begin_artifact(struct tm_pdf *pdf)
{
    tm_pdf_end_tag(pdf);
    put_operator(pdf, "/Artifact BMC\n");
    pdf->tags.is_artifact = true;
}

void tm_pdf_end_artifact(struct tm_pdf *pdf)
{
    put_operator(pdf, "EMC\n");
    pdf->tags.is_artifact = false;
}

void tm_pdf_tags_finish(struct tm_pdf *pdf)
{
    TM_PDF_CALL(pdf, HPDF_Dict_AddNumber(pdf->tags.root, "ParentTreeNextKey", pdf->pages));
}

/* --- places of the document --- */

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

/* --- bookmarks, and the table of contents --- */

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
