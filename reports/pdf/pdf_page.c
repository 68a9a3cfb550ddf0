/* SPDX-License-Identifier: Apache-2.0 */
/* The document, its pages and shapes on them.  All measures derive from the size of the paper. */
#include "reports/pdf/pdf_page.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hpdf.h>

#include "pipeline/options.h"
#include "pipeline/run.h"
#include "reports/chart/chart.h"
#include "reports/content/content.h"
#include "reports/format/format.h"
#include "reports/media.h"

static const double side_margin = 50, top_margin = 64, bottom_margin = 58, edge_width = 3, edge_gap = 9;

enum { FULL = 255 }; /* of a part of a colour */

/* libharu reports every failure here and goes on; the first one counts. */
static void on_error(HPDF_STATUS error, HPDF_STATUS detail, void *user)
{
    struct tm_pdf *pdf = user;

    if (tm_failed(pdf->run))
        return;
    if (error == HPDF_FAILD_TO_ALLOC_MEM)
        (void)tm_fail(&pdf->run->error, TM_ERR_LIMIT, -1, "cannot make the PDF report: no memory is left");
    else if (error == HPDF_FILE_OPEN_ERROR)
        (void)tm_fail_system(&pdf->run->error, TM_ERR_LIMIT, -1, (int)detail,
                             "cannot make the PDF report: no file for its font");
    else
        (void)tm_fail(&pdf->run->error, TM_ERR_LIMIT, -1,
                      "cannot make the PDF report: a limit of the PDF library was reached");
    tm_hint(&pdf->run->error, "choose the other reports with --format html,json,text");
}

/* --- fonts --- */

/* A file in memory with the bytes of a font, since libharu reads fonts from files alone.  out: -1 = errno tells */
static int open_font_file(const struct tm_pdf_asset *asset)
{
    const int fd = memfd_create("font", MFD_CLOEXEC);
    size_t done = 0;

    while (fd >= 0 && done < asset->length) {
        const ssize_t n = write(fd, asset->bytes + done, asset->length - done);

        if (n <= 0 && errno != EINTR) {
            (void)close(fd);
            return -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return fd;
}

/* libharu keeps the file open for itself. */
static void load_font(struct tm_pdf *pdf, enum tm_pdf_face face)
{
    const int fd = open_font_file(&tm_pdf_assets[face]);
    char path[32];

    if (fd < 0 || !tm_pdf_font_open(&pdf->font[face], &tm_pdf_assets[face])) {
        (void)tm_fail_system(&pdf->run->error, TM_ERR_LIMIT, -1, errno,
                             "cannot make the PDF report: no file for its font");
    } else {
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (access(path, R_OK) != 0) {
            (void)tm_fail_system(&pdf->run->error, TM_ERR_LIMIT, -1, errno,
                                 "cannot make the PDF report: no file for its font: '%s'", path);
            tm_hint(&pdf->run->error, "mount /proc, or choose the other reports with --format html,json,text");
        }
        const char *name = tm_failed(pdf->run) ? NULL : HPDF_LoadTTFontFromFile(pdf->doc, path, HPDF_TRUE);

        if (name)
            tm_pdf_spread_map(pdf->doc, name);
        pdf->face[face] = name ? HPDF_GetFont(pdf->doc, name, "UTF-8") : NULL;
        if (pdf->face[face])
            tm_pdf_map_characters(pdf->face[face]);
    }
    if (fd >= 0)
        (void)close(fd);
}

/* --- document --- */

static void set_paper(struct tm_pdf *pdf, enum tm_paper paper)
{
    pdf->page_width = paper == TM_PAPER_LETTER ? 612 : 595.28;
    pdf->page_height = paper == TM_PAPER_LETTER ? 792 : 841.89;
    pdf->left = side_margin;
    pdf->right = pdf->page_width - side_margin;
    pdf->top = top_margin;
    pdf->bottom = pdf->page_height - bottom_margin;
}

void tm_pdf_begin(struct tm_pdf *pdf, enum tm_paper paper)
{
    set_paper(pdf, paper);
    pdf->doc = HPDF_New(on_error, pdf);
    if (!pdf->doc) {
        on_error(HPDF_FAILD_TO_ALLOC_MEM, 0, pdf);
        return;
    }
    (void)HPDF_SetCompressionMode(pdf->doc, HPDF_COMP_ALL);
    (void)HPDF_UseUTFEncodings(pdf->doc);
    (void)HPDF_SetCurrentEncoder(pdf->doc, "UTF-8"); /* of document information */
    pdf->encoder = !tm_failed(pdf->run) ? HPDF_GetEncoder(pdf->doc, "UTF-8") : NULL;
    if (pdf->encoder)
        tm_pdf_set_encoding(pdf->encoder);
    for (int face = 0; face < TM_PDF_FACES && !tm_failed(pdf->run); face++)
        load_font(pdf, (enum tm_pdf_face)face);
}

void tm_pdf_complete(struct tm_pdf *pdf)
{
    if (HPDF_GetError(pdf->doc) != HPDF_NOERROR)
        on_error(HPDF_GetError(pdf->doc), 0, pdf);
    for (int face = 0; face < TM_PDF_FACES && !tm_failed(pdf->run); face++) {
        size_t glyphs;
        uint8_t *used = tm_pdf_used_glyphs(pdf->face[face], &glyphs);

        if (used)
            tm_pdf_font_add_components(&pdf->font[face], used, glyphs);
    }
}

void tm_pdf_end(struct tm_pdf *pdf)
{
    if (pdf->doc)
        HPDF_Free(pdf->doc);
    pdf->doc = NULL;
    pdf->page = NULL;
}

/* --- pages --- */

bool tm_pdf_is_drawing(const struct tm_pdf *pdf)
{
    return !tm_failed(pdf->run) && pdf->page && !pdf->is_full;
}

/* The edge of the card as far as it reaches on this page. */
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
    draw_edge(pdf);
    if (pdf->pages == TM_PDF_PAGES) {
        pdf->is_full = true;
        return;
    }
    pdf->page = HPDF_AddPage(pdf->doc);
    if (tm_failed(pdf->run))
        return;
    TM_PDF_CALL(pdf, HPDF_Page_SetWidth(pdf->page, (HPDF_REAL)pdf->page_width));
    TM_PDF_CALL(pdf, HPDF_Page_SetHeight(pdf->page, (HPDF_REAL)pdf->page_height));
    pdf->page_at = pdf->pages++;
    pdf->y = pdf->edge_y = pdf->top;
}

void tm_pdf_turn_to(struct tm_pdf *pdf, int page)
{
    if (tm_failed(pdf->run) || page >= pdf->pages)
        return;
    pdf->page = HPDF_GetPageByIndex(pdf->doc, (HPDF_UINT)page);
    pdf->page_at = page;
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

/* --- colours --- */

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

static float part_of(enum tm_role role, int shift, double share)
{
    const double part = (double)(tm_palette[role].light >> shift & FULL) / FULL;

    return (float)(1 - share * (1 - part));
}

/* The same mixed with white.  in: share  of the colour, 0 to 1 */
static void pdf_tint(struct tm_pdf *pdf, enum tm_role role, double share)
{
    TM_PDF_CALL(pdf, HPDF_Page_SetRGBFill(pdf->page, part_of(role, 16, share), part_of(role, 8, share),
                                          part_of(role, 0, share)));
}

void tm_pdf_fill(struct tm_pdf *pdf, enum tm_role role)
{
    pdf_tint(pdf, role, 1);
}

void tm_pdf_stroke(struct tm_pdf *pdf, enum tm_role role, double thickness)
{
    TM_PDF_CALL(pdf, HPDF_Page_SetRGBStroke(pdf->page, part_of(role, 16, 1), part_of(role, 8, 1), part_of(role, 0, 1)));
    TM_PDF_CALL(pdf, HPDF_Page_SetLineWidth(pdf->page, (HPDF_REAL)thickness));
}

/* --- shapes --- */

void tm_pdf_tinted_rect(struct tm_pdf *pdf, enum tm_role role, double share, const struct tm_pdf_box *box)
{
    if (!tm_pdf_is_drawing(pdf))
        return;
    pdf_tint(pdf, role, share);
    TM_PDF_CALL(pdf,
                HPDF_Page_Rectangle(pdf->page, (HPDF_REAL)box->x, (HPDF_REAL)(pdf->page_height - box->y - box->height),
                                    (HPDF_REAL)box->width, (HPDF_REAL)box->height));
    TM_PDF_CALL(pdf, HPDF_Page_Fill(pdf->page));
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
    TM_PDF_CALL(pdf, HPDF_Page_MoveTo(pdf->page, (HPDF_REAL)pdf->left, (HPDF_REAL)(pdf->page_height - y)));
    TM_PDF_CALL(pdf, HPDF_Page_LineTo(pdf->page, (HPDF_REAL)right, (HPDF_REAL)(pdf->page_height - y)));
    TM_PDF_CALL(pdf, HPDF_Page_Stroke(pdf->page));
}

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

static HPDF_Destination aim_at(struct tm_pdf *pdf, const struct tm_pdf_place *place)
{
    HPDF_Page page = HPDF_GetPageByIndex(pdf->doc, (HPDF_UINT)place->page);
    HPDF_Destination to = page ? HPDF_Page_CreateDestination(page) : NULL;

    if (to)
        tm_pdf_aim(to, pdf->page_height - place->y + above);
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

/* A tree of two levels, its branches folded. */
static void make_bookmarks(struct tm_pdf *pdf)
{
    HPDF_Outline parent = NULL;

    for (size_t i = 0; i < pdf->places && !tm_failed(pdf->run); i++) {
        const struct tm_pdf_place *place = &pdf->place[i];
        HPDF_Outline mark = HPDF_CreateOutline(pdf->doc, place->level > 0 ? parent : NULL, place->title, pdf->encoder);
        HPDF_Destination to = aim_at(pdf, place);

        if (!mark || !to)
            return; /* the handler of errors was told */
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
    static const HPDF_UINT16 dots[] = { 1, 3 };

    if (to - from < 2 * dot_gap)
        return;
    tm_pdf_stroke(pdf, TM_ROLE_GRID, 0.7);
    TM_PDF_CALL(pdf, HPDF_Page_SetDash(pdf->page, dots, 2, 0));
    TM_PDF_CALL(pdf, HPDF_Page_MoveTo(pdf->page, (HPDF_REAL)from, (HPDF_REAL)(pdf->page_height - y)));
    TM_PDF_CALL(pdf, HPDF_Page_LineTo(pdf->page, (HPDF_REAL)to, (HPDF_REAL)(pdf->page_height - y)));
    TM_PDF_CALL(pdf, HPDF_Page_Stroke(pdf->page));
    TM_PDF_CALL(pdf, HPDF_Page_SetDash(pdf->page, NULL, 0, 0));
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

const double tm_pdf_kpi_height = 15;

/* Parts of the column: where they begin or end. */
static const double value_end = 0.37, scale_begin = 0.40, scale_end = 0.58, word_begin = 0.605, rest_begin = 0.70;

static const double scale_height = 5, part_gap = 1, marker_width = 2.4, marker_over = 2.6, pale = 0.3;

/* Bad, warning, good from left to right; the part of the value is in full colour. */
static void draw_scale(struct tm_pdf *pdf, const struct tm_key_figure *kpi, double y)
{
    static const enum tm_role roles[] = { TM_ROLE_BAD, TM_ROLE_WARNING, TM_ROLE_GOOD };
    static const char *const bands[] = { "bad", "warning", "good" };
    const double x = pdf->left + scale_begin * tm_pdf_column(pdf);
    const double width = (scale_end - scale_begin) * tm_pdf_column(pdf), part = (width - 2 * part_gap) / 3;

    for (int i = 0; i < 3; i++)
        tm_pdf_tinted_rect(pdf, roles[i], strcmp(bands[i], kpi->band) == 0 ? 0.85 : pale,
                           &(struct tm_pdf_box){ x + i * (part + part_gap), y, part, scale_height });
    tm_pdf_rect(pdf, TM_ROLE_PAPER,
                &(struct tm_pdf_box){ x + kpi->place * (width - marker_width) - 1, y - marker_over, marker_width + 2,
                                      scale_height + 2 * marker_over });
    tm_pdf_rect(pdf, TM_ROLE_TEXT,
                &(struct tm_pdf_box){ x + kpi->place * (width - marker_width), y - marker_over, marker_width,
                                      scale_height + 2 * marker_over });
}

/* The judgement and its limits, "bad", "good > 80 %, bad < 50 %". */
static void draw_words(struct tm_pdf *pdf, const struct tm_key_figure *kpi, double baseline)
{
    struct tm_pdf_style word = tm_pdf_strong;
    const double width = tm_pdf_column(pdf);
    char limits[4 * TM_FORMAT_BYTES] = "", see[TM_FORMAT_BYTES] = "";

    if (kpi->finding)
        (void)snprintf(see, sizeof(see), "; finding %zu", kpi->finding);
    word.role = tm_pdf_role_of_tone(tm_tone_of(kpi->band));
    tm_pdf_encode(pdf, pdf->cell[0], TM_PDF_CELL_BYTES, kpi->band);
    tm_pdf_fit(pdf, &word, pdf->cell[0], (rest_begin - word_begin) * width - 4, 1);
    tm_pdf_text_at(pdf, &word, pdf->left + word_begin * width, baseline, pdf->cell[0]);
    if (*kpi->good || *kpi->bad)
        (void)snprintf(limits, sizeof(limits), "%s%s%s%s%s%s", *kpi->good ? "good " : "", kpi->good,
                       *kpi->good && *kpi->bad ? ", " : "", *kpi->bad ? "bad " : "", kpi->bad, see);
    tm_pdf_encode(pdf, pdf->cell[0], TM_PDF_CELL_BYTES, limits);
    tm_pdf_fit(pdf, &tm_pdf_quiet, pdf->cell[0], (1 - rest_begin) * width, 1);
    tm_pdf_text_at(pdf, &tm_pdf_quiet, pdf->left + rest_begin * width, baseline, pdf->cell[0]);
}

static void draw_why(struct tm_pdf *pdf, const struct tm_key_figure *kpi, double baseline)
{
    const char *why = *kpi->why ? kpi->why : "no limit is set for it";

    tm_pdf_encode(pdf, pdf->cell[0], TM_PDF_CELL_BYTES, why);
    tm_pdf_fit(pdf, &tm_pdf_quiet, pdf->cell[0], (1 - scale_begin) * tm_pdf_column(pdf), 1);
    tm_pdf_text_at(pdf, &tm_pdf_quiet, pdf->left + scale_begin * tm_pdf_column(pdf), baseline, pdf->cell[0]);
}

void tm_pdf_kpi(struct tm_pdf *pdf, const struct tm_key_figure *kpi)
{
    const double width = tm_pdf_column(pdf), baseline = pdf->y + 10;
    const struct tm_pdf_style *value_style = kpi->has_value ? &tm_pdf_strong : &tm_pdf_quiet;
    char sign[TM_SIGN_BYTES], value[TM_FORMAT_BYTES + TM_SIGN_BYTES];

    (void)snprintf(value, sizeof(value), "%s%s", kpi->has_value ? kpi->value : "not recorded",
                   kpi->has_value ? tm_sign_of_kpi(sign, pdf->summary, kpi->kpi) : "");
    tm_pdf_encode(pdf, pdf->cell[0], TM_PDF_CELL_BYTES, value);
    tm_pdf_encode(pdf, pdf->cell[1], TM_PDF_CELL_BYTES, kpi->title);
    tm_pdf_fit(pdf, &tm_pdf_body, pdf->cell[1],
               value_end * width - tm_pdf_width(pdf, value_style, pdf->cell[0], strlen(pdf->cell[0])) - 6, 1);
    tm_pdf_text_at(pdf, &tm_pdf_body, pdf->left, baseline, pdf->cell[1]);
    tm_pdf_text_right(pdf, value_style, pdf->left + value_end * width, baseline, pdf->cell[0]);
    if (kpi->place >= 0 && *kpi->band)
        draw_scale(pdf, kpi, baseline - scale_height - 0.6);
    if (*kpi->band && (kpi->place >= 0 || (kpi->has_value && !*kpi->why)))
        draw_words(pdf, kpi, baseline);
    else
        draw_why(pdf, kpi, baseline);
    pdf->y += tm_pdf_kpi_height;
    tm_pdf_rule(pdf, TM_ROLE_GRID, 0.4, pdf->y - 1, pdf->right);
}
