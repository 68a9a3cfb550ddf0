/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/kpi.h"

#include <stdio.h>
#include <string.h>

#include "reports/format/platforms.h"

size_t tm_kpi_count(const struct tm_value *summary)
{
    const struct tm_value *kpis = tm_get(summary, "kpis");
    size_t n = 0, known = 0;

    for (size_t i = 0; i < tm_length(kpis); i++) {
        n += tm_kpi_is_for_run(tm_at(kpis, i));
        known += tm_has(tm_get(tm_at(kpis, i), "value"));
    }
    return known > 0 ? n : 0;
}

/* The throughput of the run comes before what it is made of. */
static int rank_of(const struct tm_value *kpi)
{
    const char *id = tm_text(tm_get(kpi, "id"));

    if (strcmp(id, "model_flop_utilization") == 0)
        return tm_has(tm_get(kpi, "value")) ? 0 : 2;
    return strcmp(id, "step_time") == 0 ? 1 : 2;
}

static const struct tm_value *kpi_of(const struct tm_value *summary, size_t index)
{
    const struct tm_value *kpis = tm_get(summary, "kpis");

    for (int rank = 0; rank <= 2; rank++)
        for (size_t i = 0; i < tm_length(kpis); i++)
            if (tm_kpi_is_for_run(tm_at(kpis, i)) && rank_of(tm_at(kpis, i)) == rank && index-- == 0)
                return tm_at(kpis, i);
    return NULL;
}

static size_t finding_of(const struct tm_value *summary, const struct tm_value *kpi)
{
    const char *id = tm_text(tm_get(kpi, "finding"));
    const struct tm_value *findings = tm_get(summary, "findings");

    for (size_t i = 0; *id && i < tm_length(findings); i++)
        if (strcmp(tm_text(tm_get(tm_at(findings, i), "id")), id) == 0)
            return i + 1;
    return 0;
}

/* Outside its band, without a finding, and the reason is known: such a figure is drawn neutral. */
static bool is_neutral(const struct tm_key_figure *kpi)
{
    return kpi->finding == 0 && *kpi->why && (strcmp(kpi->band, "warning") == 0 || strcmp(kpi->band, "bad") == 0);
}

/* "> 80 %" where more is better, "< 25 %" where less is; where both limits meet, that of good stands alone. */
static void make_limit(char *out, const struct tm_value *kpi, bool is_good)
{
    const struct tm_value *good = tm_get(kpi, "good"), *bad = tm_get(kpi, "bad"), *limit = is_good ? good : bad;
    const bool more_is_better = tm_double(good) > tm_double(bad), is_met = tm_double(good) == tm_double(bad);
    const char *const sign = is_good && is_met ? "" : is_good == more_is_better ? "> " : "< ";
    char text[TM_FORMAT_BYTES];

    out[0] = 0;
    if (tm_type_of(limit) == TM_STRING)
        (void)snprintf(out, TM_FORMAT_BYTES, "%s", tm_text(limit));
    else if (tm_has(limit))
        (void)snprintf(out, TM_FORMAT_BYTES, "%s%.40s", sign,
                       tm_format_limit(text, tm_double(limit), tm_text(tm_get(kpi, "unit"))));
}

/* Linear between the limits, and beyond them by the same measure, up to the ends of the scale. */
static double place_of(const struct tm_value *kpi)
{
    const struct tm_value *good = tm_get(kpi, "good"), *bad = tm_get(kpi, "bad"), *value = tm_get(kpi, "value");
    const double between = tm_double(good) - tm_double(bad);
    double place;

    if (!tm_has(value) || !tm_has(good) || !tm_has(bad) || tm_type_of(good) == TM_STRING || between == 0)
        return -1;
    place = 1.0 / 3 + (tm_double(value) - tm_double(bad)) / between / 3;
    return place < 0 ? 0 : place > 1 ? 1 : place;
}

void tm_kpi_at(struct tm_key_figure *out, const struct tm_value *summary, size_t index)
{
    const struct tm_value *kpi = kpi_of(summary, index), *value = tm_get(kpi, "value");
    const char *why = tm_text(tm_get(kpi, "why"));

    *out = (struct tm_key_figure){
        .kpi = kpi,
        .id = tm_text(tm_get(kpi, "id")),
        .title = tm_text(tm_get(kpi, "title")),
        .definition = tm_text(tm_get(kpi, "definition")),
        .band = tm_text(tm_get(kpi, "band")),
        .why = *why || tm_has(value) ? why : tm_why(value),
        .has_value = tm_has(value),
        .place = place_of(kpi),
    };
    if (!*out->title)
        out->title = out->id;
    if (out->has_value)
        (void)tm_format_unit(out->value, tm_double(value), tm_text(tm_get(kpi, "unit")));
    out->finding = finding_of(summary, kpi);
    if (is_neutral(out))
        out->band = "";
    make_limit(out->good, kpi, true);
    make_limit(out->bad, kpi, false);
}
