/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/pdf/pdf_facts.h"

#include <math.h>
#include <string.h>

#include "reports/pdf/pdf_text.h"

enum { LEAST_TO_SPLIT = 5, WRAPS_MOST = 1, VALUE_LINES = 3 };

static const double gap = 24, label_gap = 10, label_most = 0.7, value_least = 70, row_gap = 1.6, below = 7;

static double width_of(struct tm_pdf *pdf, const struct tm_pdf_style *style, const char *text)
{
    tm_pdf_encode(pdf, pdf->cell[0], TM_PDF_CELL_BYTES, text);
    return tm_pdf_width(pdf, style, pdf->cell[0], strlen(pdf->cell[0]));
}

void tm_pdf_facts_make(struct tm_pdf *pdf, struct tm_pdf_facts *facts, const struct tm_sheet *sheet)
{
    const double half = (tm_pdf_column(pdf) - gap) / 2;
    double label = 0;
    int wraps = 0;

    for (int r = 0; r < sheet->rows; r++)
        label = fmax(label, width_of(pdf, &tm_pdf_label, sheet->text[r][0]) + label_gap);
    for (int r = 0; r < sheet->rows; r++)
        wraps += label + width_of(pdf, &tm_pdf_body, sheet->text[r][1]) > half;
    *facts = (struct tm_pdf_facts){ .sheet = sheet, .columns = 1, .rows = sheet->rows };
    if (sheet->rows >= LEAST_TO_SPLIT && wraps <= WRAPS_MOST && label + value_least <= half) {
        facts->columns = 2;
        facts->rows = (sheet->rows + 1) / 2;
    }
    facts->width = facts->columns == 2 ? half : tm_pdf_column(pdf);
    facts->label = fmin(label, facts->width * label_most);
}

double tm_pdf_facts_least(const struct tm_pdf_facts *facts)
{
    return (facts->rows + 1) * (tm_pdf_leading(&tm_pdf_body) + row_gap);
}

/* out: its height */
static double draw_fact(struct tm_pdf *pdf, const struct tm_pdf_facts *facts, int row, double x)
{
    struct tm_pdf_style style = tm_pdf_body;
    const struct tm_pdf_box box = { x + facts->label, pdf->y, facts->width - facts->label, 0 };
    char *text = pdf->cell[0];

    style.role = tm_pdf_role_of_tone((enum tm_tone)facts->sheet->tone[row][1]);
    tm_pdf_encode_prose(pdf, text, TM_PDF_CELL_BYTES, facts->sheet->text[row][1]);
    tm_pdf_fit(pdf, &style, text, box.width, VALUE_LINES);
    tm_pdf_encode(pdf, pdf->cell[1], TM_PDF_CELL_BYTES, facts->sheet->text[row][0]);
    tm_pdf_fit(pdf, &tm_pdf_label, pdf->cell[1], facts->label - label_gap, 1);
    tm_pdf_text_at(pdf, &tm_pdf_label, x, pdf->y + tm_pdf_body.size, pdf->cell[1]);
    return tm_pdf_text_in(pdf, &style, &box, text);
}

void tm_pdf_facts_draw(struct tm_pdf *pdf, const struct tm_pdf_facts *facts)
{
    for (int r = 0; r < facts->rows && tm_pdf_is_drawing(pdf); r++) {
        double height;

        tm_pdf_reserve(pdf, VALUE_LINES * tm_pdf_leading(&tm_pdf_body));
        height = draw_fact(pdf, facts, r, pdf->left);
        if (facts->columns == 2 && r + facts->rows < facts->sheet->rows)
            height = fmax(height, draw_fact(pdf, facts, r + facts->rows, pdf->left + facts->width + gap));
        pdf->y += height + row_gap;
    }
    pdf->y += below;
}
