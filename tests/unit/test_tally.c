/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/run.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void every_tally_has_a_name_of_its_own_and_one_sentence(void **state)
{
    (void)state;
    for (int i = 0; i < TM_TALLY_COUNT; i++) {
        const struct tm_tally_info *info = &tm_tally_info[i];

        assert_non_null(info->name);
        assert_non_null(info->help);
        for (const char *c = info->name; *c != '\0'; c++)
            assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '-');
        assert_true(isupper((unsigned char)info->help[0]));
        assert_int_equal(info->help[strlen(info->help) - 1], '.');
        for (int j = 0; j < i; j++)
            assert_string_not_equal(info->name, tm_tally_info[j].name);
    }
}

static void losses_are_the_sum_of_the_tallies_of_that_level(void **state)
{
    struct tm_tallies tallies = { { 0 } };
    uint64_t figures = 0, traces = 0;

    (void)state;
    assert_int_equal(tm_tally_losses(&tallies, TM_TALLY_FOR_FIGURES), 0);
    for (int i = 0; i < TM_TALLY_COUNT; i++) {
        const uint64_t n = 1000000 + (uint64_t)i * (uint64_t)i;

        tm_tally_add(&tallies, (enum tm_tally)i, n);
        if (tm_tally_info[i].level == TM_TALLY_LOSS)
            traces += n;
        if (tm_tally_info[i].level != TM_TALLY_NOTE)
            figures += n;
    }
    assert_true(traces > 0 && traces < figures);
    assert_int_equal(tm_tally_losses(&tallies, TM_TALLY_FOR_FIGURES), figures);
    assert_int_equal(tm_tally_losses(&tallies, TM_TALLY_FOR_TRACES), traces);
}

static void what_only_figures_lack_is_no_loss_of_a_trace(void **state)
{
    static const enum tm_tally kept[] = { TM_TALLY_UNKNOWN_DEVICE, TM_TALLY_MISSING_DURATION, TM_TALLY_NO_METADATA };

    (void)state;
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        assert_true(tm_tally_is_loss(kept[i], TM_TALLY_FOR_FIGURES));
        assert_false(tm_tally_is_loss(kept[i], TM_TALLY_FOR_TRACES));
    }
    assert_true(tm_tally_is_loss(TM_TALLY_CLOCK_OUTLIER, TM_TALLY_FOR_TRACES));
    assert_false(tm_tally_is_loss(TM_TALLY_OTHER_PHASE, TM_TALLY_FOR_FIGURES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tally_has_a_name_of_its_own_and_one_sentence),
        cmocka_unit_test(losses_are_the_sum_of_the_tallies_of_that_level),
        cmocka_unit_test(what_only_figures_lack_is_no_loss_of_a_trace),
    };

    return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
