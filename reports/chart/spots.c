/* SPDX-License-Identifier: Apache-2.0 */
/* Names beside dots.  See spots.h. */
#include "reports/chart/spots.h"

#include <math.h>

static const double text_height = 10;

static bool covers(const struct tm_spot *text, const struct tm_spots *spots)
{
    for (int i = 0; i < spots->labels; i++) {
        const struct tm_spot *label = &spots->label[i];

        if (fabs(label->y - text->y) < text_height && text->x < label->x + label->width &&
            label->x < text->x + text->width)
            return true;
    }
    for (int i = 0; i < spots->dots; i++) {
        const struct tm_spot *dot = &spots->dot[i];

        if (dot->x + dot->width > text->x && dot->x - dot->width < text->x + text->width &&
            dot->y + dot->width > text->y - text_height && dot->y - dot->width < text->y)
            return true;
    }
    return false;
}

void tm_spots_block(struct tm_spots *spots, struct tm_spot text)
{
    if (spots->labels < TM_SPOT_NAMES_MOST)
        spots->label[spots->labels++] = text;
}

void tm_spots_name(struct tm_chart *chart, struct tm_spots *spots, int dot, const char *name)
{
    const struct tm_spot *at = &spots->dot[dot];
    struct tm_spot text = { .y = at->y + 3, .width = tm_chart_text_width(name, TM_TEXT_SMALL) };

    for (int side = 0; side < 2 && spots->labels < TM_SPOT_NAMES_MOST; side++) {
        text.x = side == 0 ? at->x + at->width + 3 : at->x - at->width - 3 - text.width;
        if (text.x < spots->left || text.x + text.width > spots->right || covers(&text, spots))
            continue;
        tm_spots_block(spots, text);
        tm_chart_string(chart, TM_ROLE_TEXT, TM_TEXT_SMALL, TM_ANCHOR_START, text.x, text.y, name);
        return;
    }
}
