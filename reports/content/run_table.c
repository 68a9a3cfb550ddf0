/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/run_table.h"

#include "reports/content/say.h"

/* in: at  path of the run in a row */
#define RUN_COLUMNS(at)                                                                            \
    { "Run", at "run", TM_CELL_NAME }, { "Platform", at "platform", TM_CELL_WORD },                \
        { "Device", at "device_model", TM_CELL_NAME }, { "Devices", at "devices", TM_CELL_COUNT }, \
        { "Hosts", at "hosts", TM_CELL_COUNT | TM_WIDE },                                          \
        { "Steps", at "steps.chosen", TM_CELL_COUNT },                                             \
        { "Median step", at "steps.median_ps", TM_CELL_TIME },                                     \
        { "Variation", at "steps.cv_pct", TM_CELL_PCT },                                           \
        { "Measured", at "measured_ps", TM_CELL_TIME | TM_GIVEN },                                 \
        { "Damaged", at "partial", TM_CELL_WORD | TM_RARE },                                       \
        { "Framework", at "framework", TM_CELL_WORD | TM_WIDE },                                   \
        { "Read from", at "kind", TM_CELL_WORD | TM_WIDE },                                        \
        { "Fingerprint", at "fingerprint", TM_CELL_NAME | TM_WIDE },                               \
        { "Path", at "path", TM_CELL_NAME },

void tm_say_runs(const struct tm_content *content, const char *id, const char *caption,
                 const struct tm_value *runs)
{
    static const struct tm_column columns[] = { RUN_COLUMNS("") };

    tm_say_table(
        content,
        &(struct tm_table){
            .id = id, .caption = caption, TM_COLUMNS(columns), .rows = runs, .paper_rows = 16 });
}

void tm_say_single_runs(const struct tm_content *content, const char *id, const char *caption,
                        const struct tm_value *sides)
{
    static const struct tm_column columns[] = { { "Label", "label", TM_CELL_NAME },
                                                RUN_COLUMNS("runs[0].") };

    tm_say_table(
        content,
        &(struct tm_table){
            .id = id, .caption = caption, TM_COLUMNS(columns), .rows = sides, .paper_rows = 64 });
}
