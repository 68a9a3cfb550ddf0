/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/media.h"

#include <string.h>

#include "reports/content/content.h"
#include "tests/support/test_run.h"

static void headings_are_paths_units_and_unique(void **state)
{
    static const struct tm_column columns[] = {
        { "Kernel", "name", TM_DOC_NAME },
        { "Total", "total_ps", TM_DOC_TIME },
        { "To device", "exposed.h2d", TM_DOC_TIME },
        { "Outside", "outside.total_ps", TM_DOC_TIME },
        { "Share", "share_pct", TM_DOC_PERCENT },
        { "Mean bandwidth", "mean_bandwidth", TM_DOC_RATE },
        { "FLOP per second", "flop_rate", TM_DOC_FLOP_RATE },
        { "Cause", "", TM_DOC_CAUSE },
        { "1st quarter", "quarters_bytes[0]", TM_DOC_BYTES },
        { "Copied", "bytes", TM_DOC_BYTES },
        { "Again", "share_pct", TM_DOC_PERCENT },
        { "\xe4\xb8\xad", "", TM_DOC_WORD },
    };
    /* clang-format off */
    static const char *const keys[] = {
        "name",  "total_ps",      "h2d_ps", "outside_total_ps", "share_pct", "mean_bandwidth_bytes_per_s", "flop_rate_per_s",
        "cause", "quarters_bytes_0", "bytes", "share_pct_2", "column",
    };
    /* clang-format on */
    const struct tm_table table = { TM_COLUMNS(columns) };
    char made[sizeof(columns) / sizeof(columns[0])][TM_CSV_KEY_BYTES];

    (void)state;
    tm_csv_keys(made, &table);
    for (size_t i = 0; i < table.columns; i++)
        assert_string_equal(made[i], keys[i]);
}

static void long_paths_fit(void **state)
{
    static char path[300];
    const struct tm_column columns[] = { { "A", path, TM_DOC_RATE }, { "B", path, TM_DOC_RATE } };
    const struct tm_table table = { TM_COLUMNS(columns) };
    char keys[2][TM_CSV_KEY_BYTES];

    (void)state;
    memset(path, 'x', sizeof(path) - 1);
    tm_csv_keys(keys, &table);
    assert_string_equal(keys[0] + strlen(keys[0]) - 12, "_bytes_per_s");
    assert_string_not_equal(keys[0], keys[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headings_are_paths_units_and_unique),
        cmocka_unit_test(long_paths_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
