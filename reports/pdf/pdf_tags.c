/* SPDX-License-Identifier: Apache-2.0 */
/* The structure of the document, for readers that read it aloud or reflow it: headings, paragraphs, and figures with
 * what they show in words.  libharu has no functions for it, and keeps every object in memory until the document is
 * written: so a table is tagged as a whole on each page, not by rows and cells.  What is at the edges of pages is an
 * artifact. Source: ISO 32000-1, 14.7 (logical structure) and 14.8 (tagged PDF). */
#include "reports/pdf/pdf_page.h"

#include <stdio.h>
#include <string.h>

#include <hpdf.h>

#include "reports/chart/chart.h"

enum { OPERATOR_BYTES = 48 };

static const char *const names[] = {
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
    /* Now, and not when the pages are there: what is in no dictionary is not freed after a failure. */
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

/* The element that the content from here on is of. */
static HPDF_Dict open_element(struct tm_pdf *pdf, enum tm_pdf_tag tag)
{
    struct tm_pdf_tags *const tags = &pdf->tags;
    HPDF_Dict element = new_dict(pdf, "StructElem");

    TM_PDF_CALL(pdf, HPDF_Dict_AddName(element, "S", names[tag]));
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
    if (instead && tm_pdf_is_sound(pdf)) {
        tm_pdf_encode_outside(pdf, pdf->text, TM_PDF_CELL_BYTES, instead);
        tm_pdf_set_text(pdf, element, "Alt", pdf->text);
    }
    (void)snprintf(text, sizeof(text), "/%s <</MCID %d>> BDC\n", names[tag], tags->count++);
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
