/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/records/facts.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/argument_text.h"
#include "tests/support/test_run.h"

/* Parts are "K=N;": argument K, a letter, of the number N. */
enum { FROM_MOST = 200, LIST_ROOM = 4096, TEXT = 2048 };

struct maker {
    struct tm_run run;
    struct tm_names *names;
    struct tm_met_lists *lists;
    struct tm_arguments_builder builder;
    uint8_t list[LIST_ROOM];
    uint32_t made; /* of the event before: parts that were read */
};

static void begin_test(struct maker *m)
{
    *m = (struct maker){ .made = 0 };
    test_run_init(&m->run);
    m->names = tm_names_new(&m->run, 1 << 20, NULL);
    m->lists = tm_met_lists_new(&m->run, FROM_MOST);
    assert_non_null(m->names);
    assert_non_null(m->lists);
}

static void end_test(struct maker *m)
{
    tm_met_lists_free(m->lists);
    tm_names_free(m->names);
    assert_ledger_is_even(&m->run);
}

static const uint8_t *put_part(struct maker *m, const uint8_t *at)
{
    int number, bytes;

    assert_int_equal(sscanf((const char *)at + 1, "=%d;%n", &number, &bytes), 1);
    tm_put_int(&m->builder, tm_names_put(m->names, (const char *)at, 1), number);
    return at + 1 + bytes;
}

/* in: room  of the list */
static struct tm_arguments make(struct maker *m, uint64_t key, const char *event, size_t room)
{
    const uint8_t *at = (const uint8_t *)event, *const end = at + strlen(event);
    struct tm_met_turn turn;

    tm_arguments_begin(&m->builder, m->names, m->list, room);
    tm_put_event_text(&m->builder, TM_ARGUMENT_CATEGORY, "c", 1); /* something stands before them */
    tm_met_begin(m->lists, key, at, &m->builder, &turn);
    while (at < end) {
        at += tm_met_copy(&turn, at, (size_t)(end - at), &m->builder);
        if (at == end)
            break;
        at = put_part(m, at);
        tm_met_note(&turn, at, &m->builder);
    }
    tm_met_end(m->lists, &turn, end, &m->builder);
    m->made = turn.made;
    return tm_arguments_end(&m->builder);
}

static void check_text(struct maker *m, uint64_t key, const char *event)
{
    char text[TEXT], expected[TEXT] = "cat='c'";
    size_t used = strlen(expected);

    for (const char *at = event; *at; at = strchr(at, ';') + 1)
        used += (size_t)snprintf(expected + used, sizeof(expected) - used, " %c:%d", *at, atoi(at + 2));
    arguments_as_text(text, sizeof(text), m->names, make(m, key, event, LIST_ROOM));
    assert_string_equal(text, expected);
}

/* in: made  parts that have to be read */
static void check(struct maker *m, uint64_t key, const char *event, uint32_t made)
{
    check_text(m, key, event);
    if (m->made != made)
        fail_msg("of '%s' %u parts were read, not %u", event, m->made, made);
}

static void what_is_the_same_is_not_read_again(void **state)
{
    struct maker m;

    (void)state;
    begin_test(&m);
    check(&m, 1, "a=1;b=2;c=3;d=4;e=5;", 5);
    check(&m, 1, "a=1;b=2;c=3;d=4;e=5;", 0);
    check(&m, 1, "a=9;b=2;c=3;d=4;e=5;", 1);
    check(&m, 1, "a=1;b=2;c=3;d=4;e=5000;", 1);
    check(&m, 1, "a=1;b=20000;c=3;d=44;e=5;", 2);
    check(&m, 1, "a=1;b=2;", 0);
    check(&m, 1, "a=1;b=2;c=3;d=4;e=5;f=6;g=7;", 2);
    check(&m, 1, "", 0);
    check(&m, 2, "a=1;b=2;c=3;d=4;e=5;", 5);
    end_test(&m);
}

/* A part that is missing or new shifts the others: they are read. */
static void other_parts_are_read(void **state)
{
    struct maker m;

    (void)state;
    begin_test(&m);
    check(&m, 1, "a=1;b=2;c=3;d=4;", 4);
    check(&m, 1, "b=2;c=3;d=4;", 3);
    check(&m, 1, "a=1;x=2;b=2;c=3;d=4;", 4);
    check(&m, 1, "a=1;b=2;c=3;d=4;", 0);
    end_test(&m);
}

static void events_that_have_changed_are_learned_anew(void **state)
{
    uint32_t turns = 0;
    struct maker m;

    (void)state;
    begin_test(&m);
    check(&m, 1, "a=1;b=2;c=3;d=4;", 4);
    do
        (void)make(&m, 1, "e=1;f=2;g=3;h=4;", LIST_ROOM);
    while (m.made && ++turns < 20);
    assert_in_range(turns, 2, 10); /* one odd event does not drive it out */
    check(&m, 1, "e=1;f=2;g=3;h=4;", 0);
    end_test(&m);
}

/* More keys than places: none is lost, and what comes often stays known. */
static void keys_share_the_places(void **state)
{
    uint32_t made = 0;
    struct maker m;

    (void)state;
    begin_test(&m);
    for (int i = 0; i < 20000; i++) {
        char event[64];
        const int key = i % 4 ? i % 8 : 1000 + i;

        (void)snprintf(event, sizeof(event), "a=%d;b=%d;c=3;", key, key);
        check_text(&m, (uint64_t)key, event);
        made += i % 4 ? m.made : 0;
    }
    assert_in_range(made, 1, 3000); /* of 45,000 */
    end_test(&m);
}

static void what_is_too_long_is_not_kept(void **state)
{
    char event[TEXT];
    size_t used = 0;
    struct maker m;

    (void)state;
    begin_test(&m);
    for (int i = 0; i <= TM_MET_PARTS; i++)
        used += (size_t)snprintf(event + used, sizeof(event) - used, "a=%d;", i % 10);
    for (int i = 0; i < 20; i++)
        check(&m, 1, event, TM_MET_PARTS + 1);
    used = 0;
    for (int i = 0; i < 20; i++)
        used += (size_t)snprintf(event + used, sizeof(event) - used, "a=%09d;", i);
    assert_true(used > FROM_MOST);
    for (int i = 0; i < 20; i++)
        check(&m, 2, event, 20);
    end_test(&m);
}

/* What fits does not depend on whether it was met before. */
static void a_full_list_ends_where_it_did(void **state)
{
    static const char event[] = "a=1;b=2;c=3;d=400;e=5;f=600;g=7;h=8;";
    struct maker m, fresh;

    (void)state;
    begin_test(&m);
    check(&m, 1, event, 8);
    for (size_t room = 32; room < 200; room++) {
        struct tm_arguments list = make(&m, 1, event, room), other;

        begin_test(&fresh);
        other = make(&fresh, 1, event, room);
        assert_int_equal(list.length, other.length);
        assert_memory_equal(list.bytes, other.bytes, list.length);
        assert_int_equal(m.builder.is_cut, fresh.builder.is_cut);
        end_test(&fresh);
    }
    end_test(&m);
}

/* One that was cut is not what comes of it where there is room. */
static void what_was_cut_is_not_kept(void **state)
{
    static const char event[] = "a=1;b=2;c=3;d=4;";
    struct maker m;

    (void)state;
    begin_test(&m);
    (void)make(&m, 1, event, 48);
    assert_true(m.builder.is_cut);
    check(&m, 1, event, 4);
    end_test(&m);
}

static tm_status open_and_close(struct tm_run *run)
{
    struct tm_met_lists *const lists = tm_met_lists_new(run, FROM_MOST);

    tm_met_lists_free(lists);
    return lists ? TM_OK : run->error.status;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(open_and_close);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_the_same_is_not_read_again),
        cmocka_unit_test(other_parts_are_read),
        cmocka_unit_test(events_that_have_changed_are_learned_anew),
        cmocka_unit_test(keys_share_the_places),
        cmocka_unit_test(what_is_too_long_is_not_kept),
        cmocka_unit_test(a_full_list_ends_where_it_did),
        cmocka_unit_test(what_was_cut_is_not_kept),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
