/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of the sides beside each other. */
#include "reports/content/say.h"
#include "reports/content/side_columns.h"

static void say_devices(const struct tm_content *content)
{
    const struct tm_value *devices = tm_of(content, "devices");
    struct tm_side_columns columns = { .columns = 0 }, balance = { .columns = 0 };

    tm_side_columns_add(&columns, "Device", "name", TM_CELL_NAME);
    tm_side_columns_add_sides(&columns, content->summary, "busy", "values", TM_CELL_TIME);
    tm_side_columns_add_changes(&columns, content->summary, "Change", "change_ps", TM_CELL_TIME | TM_CHANGE);
    tm_side_columns_add_changes(&columns, content->summary, "In percent", "pct", TM_CELL_PCT | TM_CHANGE);
    tm_side_columns_add_changes(&columns, content->summary, "p", "p", TM_CELL_NUMBER | TM_WIDE);
    tm_side_columns_add_changes(&columns, content->summary, "Told from noise", "significant", TM_CELL_WORD);
    tm_side_columns_add_sides(&columns, content->summary, "computing", "compute", TM_CELL_TIME | TM_WIDE);
    tm_say_table(content, &(struct tm_table){ .id = "devices",
                                              .caption = "Busy time per step",
                                              .column = columns.column,
                                              .columns = columns.columns,
                                              .rows = tm_get(devices, "rows") });
    tm_side_columns_add_sides(&balance, content->summary, "imbalance", "imbalance_pct", TM_CELL_PCT);
    tm_say_facts(content, "compared-balance", balance.column, balance.columns, devices);
}

const struct tm_section tm_compared_devices_section = { "devices", "Devices", "devices", say_devices, NULL };
