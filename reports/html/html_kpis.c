/* SPDX-License-Identifier: Apache-2.0 */
/* Key figures as cards: the value, its judgement in word and sign, and where it lies on a scale of bad, warning, good.
 * Outside its band a figure links to the finding with its savings, or says why it costs nothing and has no color.
 * Figures without a value share one line. */
#include "reports/content/kpi.h"
#include "reports/html/html_page.h"
#include "reports/html/html_words.h"

/* The scale, in units of its view box. */
enum { SCALE_WIDTH = 300, SCALE_HEIGHT = 16, SCALE_GAP = 3, BAR_Y = 8, BAR_HEIGHT = 6, MARKER = 6, BANDS = 3 };

static void put_segment(struct tm_page *page, int band, bool has_value)
{
    static const char *const full[BANDS] = { "f-bad", "f-warning", "f-good" };
    static const char *const dim[BANDS] = { "f-bad dim", "f-warning dim", "f-good dim" };
    const int width = SCALE_WIDTH / BANDS;

    tm_htmlw_class(&page->w, "rect", has_value ? full[band] : dim[band]);
    tm_htmlw_attr_int(&page->w, "x", band * width);
    tm_htmlw_attr_int(&page->w, "y", BAR_Y);
    tm_htmlw_attr_int(&page->w, "width", band + 1 < BANDS ? width - SCALE_GAP : width);
    tm_htmlw_attr_int(&page->w, "height", BAR_HEIGHT);
    tm_htmlw_leaf(&page->w);
}

/* A triangle that points down at the value. */
static void put_marker(struct tm_page *page, double x)
{
    x = x < MARKER ? MARKER : x > SCALE_WIDTH - MARKER ? SCALE_WIDTH - MARKER : x;
    tm_htmlw_class(&page->w, "polygon", "f-text");
    tm_htmlw_begin_points(&page->w, "points");
    tm_htmlw_point(&page->w, x - MARKER, 0);
    tm_htmlw_point(&page->w, x + MARKER, 0);
    tm_htmlw_point(&page->w, x, BAR_Y - 1);
    tm_htmlw_end_points(&page->w);
    tm_htmlw_leaf(&page->w);
}

/* The words beside it say the same, so it is hidden from readers of the screen. */
static void put_scale(struct tm_page *page, const struct tm_key_figure *kpi)
{
    const enum tm_tone tone = tm_tone_of(kpi->band);

    tm_htmlw_class(&page->w, "svg", "scale");
    tm_htmlw_attr(&page->w, "aria-hidden", "true");
    tm_htmlw_begin_points(&page->w, "viewBox");
    tm_htmlw_point(&page->w, 0, 0);
    tm_htmlw_point(&page->w, SCALE_WIDTH, SCALE_HEIGHT);
    tm_htmlw_end_points(&page->w);
    put_segment(page, 0, tone == TM_TONE_BAD);
    put_segment(page, 1, tone == TM_TONE_WARNING);
    put_segment(page, 2, tone == TM_TONE_GOOD);
    put_marker(page, kpi->place * SCALE_WIDTH);
    tm_htmlw_close(&page->w);
}

static void put_limits(struct tm_page *page, const struct tm_key_figure *kpi)
{
    if (!*kpi->good && !*kpi->bad)
        return;
    tm_htmlw_class(&page->w, "p", "limits");
    if (*kpi->bad) {
        tm_htmlw_open(&page->w, "span");
        tm_htmlw_printf(&page->w, "bad %s", kpi->bad);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_text(&page->w, " ");
    if (*kpi->good) {
        tm_htmlw_open(&page->w, "span");
        tm_htmlw_printf(&page->w, "good %s", kpi->good);
        tm_htmlw_close(&page->w);
    }
    tm_htmlw_close(&page->w);
}

static void open_definition(struct tm_page *page, const struct tm_key_figure *kpi, size_t index)
{
    tm_page_open_link(page, "definition", (int)index);
    tm_htmlw_attr(&page->w, "class", "term");
    tm_htmlw_attr(&page->w, "title", kpi->definition);
    tm_htmlw_text(&page->w, kpi->title);
    tm_htmlw_close(&page->w);
}

static void put_card(struct tm_page *page, const struct tm_key_figure *kpi, size_t index)
{
    const enum tm_tone tone = tm_tone_of(kpi->band);

    tm_htmlw_open(&page->w, "li");
    tm_htmlw_class(&page->w, "p", "title");
    open_definition(page, kpi, index);
    tm_htmlw_close(&page->w);
    tm_htmlw_class(&page->w, "p", "figure");
    tm_htmlw_element(&page->w, "span", "value", kpi->value);
    tm_page_kpi_marks(page, kpi->kpi);
    tm_htmlw_text(&page->w, " ");
    if (kpi->finding) {
        tm_page_open_link(page, "finding", (int)kpi->finding);
        tm_htmlw_attr(&page->w, "title",
                      tm_text(tm_get(tm_at(tm_get(page->summary, "findings"), kpi->finding - 1), "title")));
        tm_page_band(page, tone);
        tm_htmlw_close(&page->w);
    } else if (*kpi->band) {
        tm_page_band(page, tone);
    }
    tm_htmlw_close(&page->w);
    if (kpi->place >= 0 && *kpi->band)
        put_scale(page, kpi);
    put_limits(page, kpi);
    if (!*kpi->band)
        tm_htmlw_element(&page->w, "p", "why", kpi->why);
    tm_htmlw_close_line(&page->w);
}

/* Cards for the figures that have a value; the others are gathered. */
static void put_cards(struct tm_page *page, struct tm_missing *missing, struct tm_missing *unjudged)
{
    struct tm_key_figure kpi;
    size_t cards = 0;

    for (size_t i = 0; i < tm_kpi_count(page->summary); i++) {
        tm_kpi_at(&kpi, page->summary, i);
        if (!kpi.has_value) {
            tm_missing_add(missing, kpi.title, kpi.why);
            continue;
        }
        if (*kpi.why && *kpi.band)
            tm_missing_add(unjudged, kpi.title, kpi.why);
        if (cards++ == 0)
            tm_htmlw_class(&page->w, "ul", "kpis");
        put_card(page, &kpi, i);
    }
    if (cards > 0)
        tm_htmlw_close_line(&page->w);
}

void tm_page_kpis(struct tm_page *page)
{
    struct tm_missing missing = { .count = 0 }, unjudged = { .count = 0 };

    if (tm_kpi_count(page->summary) == 0)
        return;
    tm_htmlw_open(&page->w, "section");
    tm_htmlw_attr(&page->w, "id", "figures");
    tm_htmlw_element(&page->w, "h2", NULL, "Key figures");
    put_cards(page, &missing, &unjudged);
    tm_page_missing(page, "Not recorded", &missing);
    tm_page_missing(page, "Not judged", &unjudged);
    tm_htmlw_close_line(&page->w);
}
