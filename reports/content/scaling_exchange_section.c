/* SPDX-License-Identifier: Apache-2.0 */
/* What the devices exchange by their number, and how evenly they work. */
#include "reports/content/say.h"

static void say_exchange(const struct tm_content *content)
{
    static const struct tm_column columns[] = {
        { "Devices", "devices", TM_CELL_COUNT },
        { "Collectives", "collective_ps", TM_CELL_TIME },
        { "Exposed", "parts.exposed_collective_ps", TM_CELL_TIME },
        { "Overlap", "overlap_pct", TM_CELL_PCT },
        { "Bytes", "collective_bytes", TM_CELL_BYTES },
        { "Imbalance", "imbalance_pct", TM_CELL_PCT },
        { "Spread of a step", "spread_pct", TM_CELL_PCT },
    };

    tm_say_table(content, &(struct tm_table){ .id = "exchange",
                                              .caption = "Per step and device",
                                              TM_COLUMNS(columns),
                                              .rows = tm_of(content, "points"),
                                              .paper_rows = 64 });
}

static const char *nothing(const struct tm_value *scaling)
{
    static const char *const keys[] = { "collective_ps", "imbalance_pct" };
    const struct tm_value *points = tm_get(scaling, "points");

    for (size_t i = 0; i < tm_length(points); i++)
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
            if (tm_double(tm_get(tm_at(points, i), keys[k])) > 0)
                return "";
    return "the devices exchange nothing, and none is slower than the others";
}

const struct tm_section tm_exchange_section = { "exchange", "Collectives and balance", "points",
                                                say_exchange, nothing };
