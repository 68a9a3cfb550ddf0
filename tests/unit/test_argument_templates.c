/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of arguments by their templates: what goes in comes out again, whatever the numbers are. */
#include "pipeline/argument_templates.h"

#include "pipeline/store/names.h"
#include "tests/support/test_run.h"

struct rig {
    struct tm_run run;
    struct tm_names *names;
    struct tm_argument_templates *templates;
    uint8_t list[4096];
};

static uint32_t no_traits(const char *text, size_t length)
{
    (void)text;
    (void)length;
    return 0;
}

static void open_rig(struct rig *rig)
{
    test_run_init(&rig->run);
    rig->names = tm_names_new(&rig->run, 1 << 20, no_traits);
    rig->templates = tm_argument_templates_new(&rig->run);
    assert_non_null(rig->names);
    assert_non_null(rig->templates);
}

static void close_rig(struct rig *rig)
{
    tm_argument_templates_free(rig->templates);
    tm_names_free(rig->names);
    assert_ledger_is_even(&rig->run);
}

/* {id: first, text: text, size: second} */
static struct tm_arguments make_list(struct rig *rig, int64_t first, const char *text, int64_t second)
{
    struct tm_arguments_builder b;

    tm_arguments_begin(&b, rig->names, rig->list, sizeof(rig->list));
    tm_put_int(&b, tm_names_put_string(rig->names, "id"), first);
    tm_put_text(&b, tm_names_put_string(rig->names, "text"), text, strlen(text));
    tm_put_int(&b, tm_names_put_string(rig->names, "size"), second);
    return tm_arguments_end(&b);
}

static void assert_whole(const struct rig *rig, uint32_t template, struct tm_arguments own, uint64_t correlation,
                         struct tm_arguments expected)
{
    uint8_t bytes[TM_TEMPLATE_WHOLE_MOST];
    const struct tm_arguments whole =
        template ? tm_arguments_whole(rig->templates, template, own, correlation, bytes) : own;

    assert_int_equal(whole.length, expected.length);
    assert_memory_equal(whole.bytes, expected.bytes, expected.length);
}

static const int64_t numbers[] = { 0, 1, -1, 63, 64, 127, 128, -128, 1 << 20, INT64_MAX, INT64_MIN, 300 };

enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static void a_list_that_comes_again_has_a_template(void **state)
{
    struct rig rig;
    uint8_t holes[TM_TEMPLATE_NUMBERS_MOST];
    uint32_t template = 0;

    (void)state;
    open_rig(&rig);
    for (int i = 0; i < NUMBERS; i++) {
        const struct tm_arguments list = make_list(&rig, numbers[i], "the same", numbers[NUMBERS - 1 - i]);
        struct tm_arguments own = list;
        const uint32_t taken = tm_argument_templates_take(rig.templates, 7, 0, &own, holes);

        if (i == 0) {
            assert_ptr_equal(own.bytes, list.bytes);
            assert_int_equal(taken, 0);
            continue;
        }
        assert_true(taken != 0 && !(taken & TM_TEMPLATE_CORRELATION));
        assert_true(!template || taken == template);
        template = taken;
        assert_whole(&rig, taken, own, 0, list);
    }
    for (int i = 0; i < 2; i++) {
        struct tm_arguments other = make_list(&rig, 1, "another", 2);
        const uint32_t taken = tm_argument_templates_take(rig.templates, 7, 0, &other, holes);

        assert_true(i ? taken > template : !taken);
    }
    close_rig(&rig);
}

/* Where nothing but the id varies, an event needs no numbers of its own; where more does, all become holes. */
static void the_correlation_id_is_not_kept_twice(void **state)
{
    struct rig rig;
    uint8_t holes[TM_TEMPLATE_NUMBERS_MOST];
    int with_id = 0, with_all = 0;

    (void)state;
    open_rig(&rig);
    for (int i = 1; i < 100; i++) {
        const struct tm_arguments list = make_list(&rig, 1000 + i, "same", 5);
        struct tm_arguments own = list;
        const uint32_t taken = tm_argument_templates_take(rig.templates, 7, (uint64_t)(1000 + i), &own, holes);

        assert_true(!taken || (taken & TM_TEMPLATE_CORRELATION && !own.length));
        assert_whole(&rig, taken, own, (uint64_t)(1000 + i), list);
        with_id += taken != 0;
    }
    assert_int_equal(with_id, 98);
    for (int i = 1; i < 400; i++) {
        const struct tm_arguments list = make_list(&rig, 1000 + i, "other", 10 * i);
        struct tm_arguments own = list;
        const uint32_t taken = tm_argument_templates_take(rig.templates, 8, (uint64_t)(1000 + i), &own, holes);

        assert_whole(&rig, taken, own, (uint64_t)(1000 + i), list);
        with_all += taken && !(taken & TM_TEMPLATE_CORRELATION);
    }
    assert_true(with_all > 300);
    close_rig(&rig);
}

/* A launch has a list for each op that it is called for: many that are new at first, and then none. */
static void a_name_of_many_lists_is_trusted_again(void **state)
{
    enum { LISTS = 50, TURNS = 200 };
    struct rig rig;
    uint8_t holes[TM_TEMPLATE_NUMBERS_MOST];
    int with_id = 0;

    (void)state;
    open_rig(&rig);
    for (int i = 0; i < 200; i++) { /* lists that never come again */
        struct tm_arguments list = make_list(&rig, 5000 + i, "text", 100 + i);

        (void)tm_argument_templates_take(rig.templates, 7, (uint64_t)(5000 + i), &list, holes);
    }
    for (int i = 0; i < LISTS * TURNS; i++) {
        struct tm_arguments own = make_list(&rig, 10000 + i, "op", i % LISTS);
        const uint32_t taken = tm_argument_templates_take(rig.templates, 7, (uint64_t)(10000 + i), &own, holes);

        with_id += i > LISTS * TURNS / 2 && taken & TM_TEMPLATE_CORRELATION;
    }
    assert_true(with_id > LISTS * TURNS / 2 - LISTS);
    close_rig(&rig);
}

static void only_the_numbers_that_vary_are_holes(void **state)
{
    struct rig rig;
    uint32_t templates[3];

    (void)state;
    open_rig(&rig);
    for (int i = 0; i < 3; i++) {
        const struct tm_arguments list = make_list(&rig, 40 + i, "text", 7);

        templates[i] = tm_argument_templates_add(rig.templates, list, 1 << 0, TM_TEMPLATE_CORRELATION);
        assert_int_equal(templates[i], templates[0]);
        assert_true(templates[i] & TM_TEMPLATE_CORRELATION);
        assert_whole(&rig, templates[i], (struct tm_arguments){ NULL, 0 }, (uint64_t)(40 + i), list);
    }
    assert_int_equal(tm_argument_template(rig.templates, templates[0])->holes, 1);
    /* Other holes, another flag, another number that is not one: each is a template of its own. */
    assert_true(tm_argument_templates_add(rig.templates, make_list(&rig, 40, "text", 7), 1 << 2, 0) != templates[0]);
    assert_true(tm_argument_templates_add(rig.templates, make_list(&rig, 40, "text", 7), 1 << 0, 0) != templates[0]);
    assert_true(tm_argument_templates_add(rig.templates, make_list(&rig, 40, "text", 8), 1 << 0,
                                          TM_TEMPLATE_CORRELATION) != templates[0]);
    /* A text is no hole, and neither is what there is not. */
    assert_int_equal(tm_argument_templates_add(rig.templates, make_list(&rig, 40, "text", 7), 1 << 1, 0), 0);
    assert_int_equal(tm_argument_templates_add(rig.templates, make_list(&rig, 40, "text", 7), 1 << 3, 0), 0);
    close_rig(&rig);
}

/* The device of a launch, in front of its correlation id: of each of them a template, and no numbers for an event. */
static void numbers_that_keep_coming_are_fixed(void **state)
{
    enum { DEVICES = 4, TURNS = 20 };
    struct rig rig;
    uint8_t holes[TM_TEMPLATE_NUMBERS_MOST];
    uint32_t fixed[DEVICES] = { 0 }, all;

    (void)state;
    open_rig(&rig);
    all = tm_argument_templates_add(rig.templates, make_list(&rig, 0, "launch", 1), 1 << 0 | 1 << 2, 0);
    assert_true(all != 0);
    for (int i = 0; i < DEVICES * TURNS; i++) {
        const int device = i % DEVICES;
        const int64_t id = 1000 + 7 * i;
        uint8_t *const end = tm_put_hole(tm_put_hole(holes, device), id);
        const struct tm_arguments own = { holes, (size_t)(end - holes) };
        const uint32_t taken = tm_argument_templates_fix(rig.templates, all, own, (uint64_t)id);

        assert_true(i / DEVICES < 3 ? !taken : taken && taken & TM_TEMPLATE_CORRELATION);
        assert_true(!fixed[device] || taken == fixed[device]);
        fixed[device] = taken;
        assert_whole(&rig, taken ? taken : all, taken ? (struct tm_arguments){ .length = 0 } : own, (uint64_t)id,
                     make_list(&rig, device, "launch", id));
    }
    assert_true(fixed[0] != fixed[1] && fixed[1] != fixed[2] && fixed[2] != fixed[3]);
    close_rig(&rig);
}

/* Numbers that are new each time get no templates, and neither do those that do not fit in a word. */
static void numbers_that_are_new_stay_with_their_event(void **state)
{
    struct rig rig;
    uint8_t holes[TM_TEMPLATE_NUMBERS_MOST];
    uint32_t all;

    (void)state;
    open_rig(&rig);
    all = tm_argument_templates_add(rig.templates, make_list(&rig, 0, "text", 1), 1 << 0 | 1 << 2, 0);
    for (int i = 0; i < 5000; i++) {
        uint8_t *const end = tm_put_hole(tm_put_hole(holes, i), -i);

        assert_int_equal(tm_argument_templates_fix(rig.templates, all,
                                                   (struct tm_arguments){ holes, (size_t)(end - holes) }, 1 << 20),
                         0);
    }
    for (int i = 0; i < 10; i++) {
        uint8_t *const end = tm_put_hole(tm_put_hole(holes, INT64_MAX), 5);

        assert_int_equal(
            tm_argument_templates_fix(rig.templates, all, (struct tm_arguments){ holes, (size_t)(end - holes) }, 9), 0);
    }
    close_rig(&rig);
}

static void where_there_is_no_room_lists_stay_as_they_are(void **state)
{
    struct rig rig;
    uint8_t holes[TM_TEMPLATE_NUMBERS_MOST];
    int with = 0, without = 0;

    (void)state;
    open_rig(&rig);
    for (int i = 0; i < 20000; i++) {
        char text[32];

        (void)snprintf(text, sizeof(text), "text %d", i);
        const struct tm_arguments list = make_list(&rig, i, text, -i);

        struct tm_arguments own = list;

        assert_int_equal(tm_argument_templates_take(rig.templates, 7, 0, &own, holes), 0);
        const uint32_t taken = tm_argument_templates_take(rig.templates, 7, 0, &own, holes);

        with += taken != 0;
        without += taken == 0;
        assert_whole(&rig, taken, own, 0, list);
    }
    assert_true(with > 50 && without > 50);
    for (int k = 0; k < TM_ACCOUNT_COUNT; k++)
        assert_true(rig.run.budget.peak_bytes[k] <= tm_budget_share(&rig.run.budget, (enum tm_account)k));
    close_rig(&rig);
}

static void too_long_a_list_gets_no_template(void **state)
{
    struct rig rig;
    struct tm_arguments_builder b;
    uint8_t holes[TM_TEMPLATE_NUMBERS_MOST];

    (void)state;
    open_rig(&rig);
    for (int many = 0; many < 2; many++) {
        tm_arguments_begin(&b, rig.names, rig.list, sizeof(rig.list));
        if (many)
            for (int i = 0; i <= TM_ARGUMENT_HOLES; i++)
                tm_put_int(&b, tm_names_put_string(rig.names, "n"), i);
        for (int i = 0; i < 80 && !many; i++)
            tm_put_text(&b, tm_names_put_string(rig.names, "t"), "fourteen bytes", 14);
        struct tm_arguments list = tm_arguments_end(&b);

        for (int i = 0; i < 3; i++)
            assert_int_equal(tm_argument_templates_take(rig.templates, 7, 0, &list, holes), 0);
        assert_int_equal(tm_argument_templates_add(rig.templates, list, many ? 0xffffff >> 7 : 0, 0), 0);
    }
    close_rig(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_that_comes_again_has_a_template),
        cmocka_unit_test(the_correlation_id_is_not_kept_twice),
        cmocka_unit_test(a_name_of_many_lists_is_trusted_again),
        cmocka_unit_test(only_the_numbers_that_vary_are_holes),
        cmocka_unit_test(numbers_that_keep_coming_are_fixed),
        cmocka_unit_test(numbers_that_are_new_stay_with_their_event),
        cmocka_unit_test(where_there_is_no_room_lists_stay_as_they_are),
        cmocka_unit_test(too_long_a_list_gets_no_template),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
