/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/record.h"

#include <ctype.h>

#include "tests/support/test_run.h"

static void assert_names(const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        assert_non_null(names[i]);
        for (const char *c = names[i]; *c != '\0'; c++)
            assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_');
        for (int j = 0; j < i; j++)
            assert_string_not_equal(names[i], names[j]);
    }
}

static void every_class_and_direction_has_a_name_of_its_own(void **state)
{
    (void)state;
    assert_names(tm_class_name, TM_CLASS_COUNT);
    assert_names(tm_direction_name, TM_DIRECTION_COUNT);
    assert_string_equal(tm_class_name[TM_CLASS_TPU_OP], "tpu_op");
    assert_string_equal(tm_direction_name[TM_OTHER_DIRECTION], "other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_class_and_direction_has_a_name_of_its_own),
    };

    return cmocka_run_group_tests_name("record_names", tests, NULL, NULL);
}
