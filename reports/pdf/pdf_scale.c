/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/pdf/pdf_scale.h"

#include <stdio.h>
#include <string.h>

#include "reports/format/mark_signs.h"
#include "reports/pdf/pdf_text.h"

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
