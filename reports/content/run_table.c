/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/content/run_table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "reports/content/content.h"
#include "reports/content/emit.h"

/* in: at  path of the run in a row */
#define RUN_COLUMNS(at)                                                                                                \
    { "Run", at "run", TM_CELL_NAME }, { "Platform", at "platform", TM_CELL_WORD },                                    \
        { "Device", at "device_model", TM_CELL_NAME }, { "Devices", at "devices", TM_CELL_COUNT },                     \
        { "Hosts", at "hosts", TM_CELL_COUNT | TM_WIDE }, { "Steps", at "steps.chosen", TM_CELL_COUNT },               \
        { "Median step", at "steps.median_ps", TM_CELL_TIME }, { "Variation", at "steps.cv_pct", TM_CELL_PCT },        \
        { "Measured", at "measured_ps", TM_CELL_TIME | TM_GIVEN },                                                     \
        { "Damaged", at "partial", TM_CELL_WORD | TM_RARE }, { "Framework", at "framework", TM_CELL_WORD | TM_WIDE },  \
        { "Read from", at "kind", TM_CELL_WORD | TM_WIDE },                                                            \
        { "Fingerprint", at "fingerprint", TM_CELL_NAME | TM_WIDE }, { "Path", at "path", TM_CELL_NAME },

void tm_emit_runs(const struct tm_content *content, const char *id, const char *caption, const struct tm_value *runs)
{
    static const struct tm_column columns[] = { RUN_COLUMNS("") };

    tm_emit_table(content, &(struct tm_table){
                               .id = id, .caption = caption, TM_COLUMNS(columns), .rows = runs, .paper_rows = 16 });
}

void tm_emit_single_runs(const struct tm_content *content, const char *id, const char *caption,
                         const struct tm_value *sides)
{
    static const struct tm_column columns[] = { { "Label", "label", TM_CELL_NAME }, RUN_COLUMNS("runs[0].") };

    tm_emit_table(content, &(struct tm_table){
                               .id = id, .caption = caption, TM_COLUMNS(columns), .rows = sides, .paper_rows = 64 });
}

enum { LABEL_CHARS = 24 };

size_t tm_side_count(const struct tm_value *comparison)
{
    return tm_length(tm_get(comparison, "sides"));
}

const char *tm_side_label(const struct tm_value *comparison, size_t side, char *out)
{
    const char *label = tm_text(tm_get(tm_at(tm_get(comparison, "sides"), side), "label"));
    char shown[256];

    (void)tm_format_visible(shown, sizeof(shown), label, strlen(label));
    (void)tm_format_middle(out, TM_SIDE_TITLE_BYTES, shown, LABEL_CHARS);
    return out;
}

void tm_side_columns_add(struct tm_side_columns *to, const char *title, const char *key, unsigned shape)
{
    const size_t at = to->columns;

    if (at == TM_TABLE_COLUMNS_MOST)
        return;
    (void)snprintf(to->title[at], TM_SIDE_TITLE_BYTES, "%s", title);
    (void)snprintf(to->key[at], TM_SIDE_KEY_BYTES, "%s", key);
    to->column[at] = (struct tm_column){ to->title[at], to->key[at], shape };
    to->columns++;
}

void tm_side_columns_add_sides(struct tm_side_columns *to, const struct tm_value *comparison, const char *what,
                               const char *key, unsigned shape)
{
    for (size_t i = 0; i < tm_side_count(comparison); i++) {
        char label[TM_SIDE_TITLE_BYTES], title[2 * TM_SIDE_TITLE_BYTES], path[TM_SIDE_KEY_BYTES];

        (void)snprintf(title, sizeof(title), "%s%s%.60s", tm_side_label(comparison, i, label), *what ? ", " : "", what);
        (void)snprintf(path, sizeof(path), "%.30s[%zu]", key, i);
        tm_side_columns_add(to, title, path, shape);
    }
}

void tm_side_columns_add_changes(struct tm_side_columns *to, const struct tm_value *comparison, const char *title,
                                 const char *key, unsigned shape)
{
    const size_t sides = tm_side_count(comparison);

    for (size_t i = 1; i < sides; i++) {
        char label[TM_SIDE_TITLE_BYTES], whole[2 * TM_SIDE_TITLE_BYTES], path[TM_SIDE_KEY_BYTES];

        (void)snprintf(whole, sizeof(whole), "%s, %c%.60s", tm_side_label(comparison, i, label),
                       tolower((unsigned char)*title), title + 1);
        (void)snprintf(path, sizeof(path), "changes[%zu].%.30s", i - 1, key);
        tm_side_columns_add(to, sides == 2 ? title : whole, path, shape);
    }
}
