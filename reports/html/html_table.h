/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_HTML_TABLE_H
#define TM_HTML_TABLE_H

#include "reports/chart/chart.h"
#include "reports/html/htmlw.h"

/* Write a drawing as an inline <svg>.  Colours and fonts are classes of the page's style sheet
 * (palette.h), so the drawing follows light, dark and print; groups become <title> tooltips.  The
 * title is the accessible name. */
void tm_svg_write(struct tm_htmlw *w, const struct tm_chart *chart);

#endif
