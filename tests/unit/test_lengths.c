/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/lengths.h"

#include <stdlib.h>

#include "tests/support/test_run.h"

enum { COUNT = 80000 }; /* more groups than words can number */

enum shape { FEW, MANY, ONE, FALLING, WIDE, MIXED, OFTEN, SHAPES };

static struct tm_length make(enum shape shape, uint64_t i, uint64_t *state)
{
    const uint64_t any = next_number(state);

    switch (shape) {
    case FEW:
        return (struct tm_length){ any % 7, 1000 + (any >> 32) % 300, 1 };
    case MANY:
        return (struct tm_length){ any % 300 * UINT64_C(0x9e3779b97f4a7c15), any >> 24, 1 };
    case ONE:
        return (struct tm_length){ 5, 5, 3 };
    case FALLING:
        return (struct tm_length){ 0, COUNT - i, 1 };
    case MIXED: /* some fit into words, some do not; the same number both ways */
        return (struct tm_length){ any % 5000, (any >> 32) % 40 << (any >> 40) % 50, any % 9 ? 1 : 200 + any % 300 };
    case OFTEN: /* more often than a word can tell */
        return (struct tm_length){ any % 3, 77, 1 + any % 256 };
    default:
        return (struct tm_length){ any, next_number(state), 1 + any % 4 };
    }
}

static int by_group_and_value(const void *a, const void *b)
{
    const struct tm_length *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static size_t fold(struct tm_length *rows, size_t count)
{
    size_t n = 0;

    qsort(rows, count, sizeof(*rows), by_group_and_value);
    for (size_t i = 0; i < count; i++) {
        if (n && by_group_and_value(&rows[n - 1], &rows[i]) == 0)
            rows[n - 1].count += rows[i].count;
        else
            rows[n++] = rows[i];
    }
    return n;
}

static struct tm_length *make_all(enum shape shape, size_t count)
{
    struct tm_length *rows = test_malloc(count * sizeof(*rows));
    uint64_t state = 7;

    for (uint64_t i = 0; i < count; i++)
        rows[i] = make(shape, i, &state);
    return rows;
}

static void assert_read(struct tm_lengths *lengths, const struct tm_length *rows, size_t count)
{
    const struct tm_length *length;

    tm_lengths_finish(lengths);
    for (size_t i = 0; i < count; i++) {
        length = tm_lengths_next(lengths);
        assert_non_null(length);
        assert_memory_equal(length, &rows[i], sizeof(*length));
    }
    length = tm_lengths_next(lengths);
    assert_null(length);
}

/* The same in spans, in which a number may come in several pieces. */
static void assert_read_in_spans(struct tm_lengths *lengths, const struct tm_length *rows, size_t count)
{
    struct tm_length_span span;
    uint64_t seen = 0;
    size_t at = 0;

    tm_lengths_finish(lengths);
    while (tm_lengths_next_span(lengths, &span)) {
        assert_true(span.words ? span.count > 0 : span.count == 1);
        for (size_t i = 0; i < span.count; i++) {
            assert_true(at < count);
            assert_int_equal(span.group, rows[at].group);
            assert_int_equal(tm_length_span_value(&span, i), rows[at].value);
            seen += tm_length_span_count(&span, i);
            assert_true(seen <= rows[at].count);
            if (seen == rows[at].count) {
                at++;
                seen = 0;
            }
        }
    }
    assert_int_equal(at, count);
}

/* The row that holds the length at a rank of all.  in: ends  of the ranks of each row */
static size_t find_row(const uint64_t *ends, size_t count, uint64_t rank)
{
    size_t begin = 0, end = count;

    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;

        if (ends[middle] <= rank)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Groups come in their order, and their ranks in the order of their numbers, whichever rank is asked first. */
static void assert_ranks(struct tm_lengths *lengths, const struct tm_length *rows, size_t count)
{
    uint64_t *ends = test_malloc(count * sizeof(*ends));
    struct tm_length_span span;
    uint64_t seen = 0;

    for (size_t i = 0; i < count; i++)
        ends[i] = rows[i].count + (i ? ends[i - 1] : 0);
    tm_lengths_finish_spans(lengths);
    while (tm_lengths_next_span(lengths, &span)) {
        const uint64_t total = tm_length_span_total(&span);
        const uint64_t ranks[] = { total / 2, 0, total - 1, total - 1 - total / 20, total / 3 };

        for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
            const size_t row = find_row(ends, count, seen + ranks[i]);

            assert_true(row < count);
            assert_int_equal(span.group, rows[row].group);
            assert_int_equal(tm_length_span_at_rank(&span, ranks[i]), rows[row].value);
        }
        seen += total;
    }
    assert_int_equal(seen, ends[count - 1]);
    test_free(ends);
}

static void each_number_comes_once_in_order_in_every_memory(void **state)
{
    static const size_t memories[] = { 0, 20 << 10, 1 << 20, 64 << 20 };

    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        struct tm_length *rows = make_all((enum shape)shape, COUNT);
        struct tm_lengths *lengths[4];
        struct tm_run run;

        test_run_init(&run);
        for (size_t m = 0; m < 4; m++) {
            lengths[m] = tm_lengths_new(&run, TM_ACCOUNT_TABLES, memories[m]);
            assert_non_null(lengths[m]);
            for (size_t i = 0; i < COUNT; i++)
                tm_lengths_add(lengths[m], rows[i].group, rows[i].value, rows[i].count);
        }
        const size_t count = fold(rows, COUNT);

        for (size_t m = 0; m < 4; m++) {
            assert_ranks(lengths[m], rows, count);
            assert_ranks(lengths[m], rows, count);
            assert_read(lengths[m], rows, count);
            assert_ranks(lengths[m], rows, count);
            assert_read(lengths[m], rows, count); /* finishing again begins again */
            assert_read_in_spans(lengths[m], rows, count);
            tm_lengths_free(lengths[m]);
        }
        test_free(rows);
        assert_ledger_is_even(&run);
    }
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = tm_length_word_key(*(const uint64_t *)a), y = tm_length_word_key(*(const uint64_t *)b);

    return (x > y) - (x < y);
}

static uint64_t *make_words(enum shape shape, size_t count)
{
    const uint64_t groups = 1 << TM_LENGTH_GROUP_BITS, values = UINT64_C(1) << TM_LENGTH_VALUE_BITS;
    struct tm_length *rows = make_all(shape, count);
    uint64_t *words = test_malloc(count * sizeof(*words));

    for (size_t i = 0; i < count; i++)
        words[i] =
            tm_length_word((uint32_t)(rows[i].group % groups), rows[i].value % values, 1 + (rows[i].count - 1) % 256);
    test_free(rows);
    return words;
}

/* Every key has its words in one place, all but the last of them full, and the right count. */
static void assert_folded(const uint64_t *words, size_t left, const uint64_t *expected, size_t count)
{
    size_t at = 0;

    for (size_t i = 0; i < count;) {
        const uint64_t key = tm_length_word_key(expected[i]);
        uint64_t seen = 0, told = 0;

        for (; i < count && tm_length_word_key(expected[i]) == key; i++)
            seen += tm_length_word_count(expected[i]);
        for (; at < left && tm_length_word_key(words[at]) == key; at++) {
            assert_true(told % (1 << TM_LENGTH_COUNT_BITS) == 0);
            told += tm_length_word_count(words[at]);
        }
        assert_int_equal(told, seen);
    }
    assert_int_equal(at, left);
}

static void check_sort(enum shape shape, size_t count, size_t scratch_count)
{
    uint64_t *words = make_words(shape, count + 1), *expected = make_words(shape, count + 1);
    uint64_t *scratch = test_malloc((scratch_count + 1) * sizeof(*scratch));

    qsort(expected, count, sizeof(*expected), by_key);
    assert_folded(words, tm_lengths_sort(words, count, scratch, scratch_count), expected, count);
    test_free(words);
    test_free(expected);
    test_free(scratch);
}

static void lists_are_sorted_and_folded_with_any_scratch(void **state)
{
    static const size_t scratch_counts[] = { 0, 1, 49, 100, 130, 5000 };

    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        for (size_t i = 0; i < sizeof(scratch_counts) / sizeof(scratch_counts[0]); i++) {
            for (size_t count = 0; count < 130; count++)
                check_sort((enum shape)shape, count, scratch_counts[i]);
            check_sort((enum shape)shape, COUNT, scratch_counts[i]);
        }
    }
}

/* In traces most lengths come again: they need no more room, and no disk. */
static void numbers_that_come_again_are_not_spilled(void **state)
{
    struct tm_run run;
    uint64_t seed = 1;

    (void)state;
    test_run_init(&run);
    struct tm_lengths *lengths = tm_lengths_new(&run, TM_ACCOUNT_TABLES, 1 << 20);

    for (uint64_t i = 0; i < 500000; i++) {
        const struct tm_length row = make(FEW, i, &seed);

        tm_lengths_add(lengths, row.group, row.value, row.count);
    }
    assert_int_equal(run.budget.spilled_bytes, 0);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= 1 << 20);
    tm_lengths_free(lengths);
    assert_ledger_is_even(&run);
}

static void many_numbers_keep_to_their_memory(void **state)
{
    struct tm_run run;
    uint64_t seed = 1;

    (void)state;
    test_run_init(&run);
    struct tm_lengths *lengths = tm_lengths_new(&run, TM_ACCOUNT_TABLES, 512 << 10);

    for (uint64_t i = 0; i < 1000000; i++)
        tm_lengths_add(lengths, i % 3, next_number(&seed), 1);
    tm_lengths_finish(lengths);
    assert_non_null(tm_lengths_next(lengths));
    assert_true(run.budget.spilled_bytes > 24000000 / 2);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= 512 << 10);
    tm_lengths_free(lengths);
    assert_ledger_is_even(&run);
}

enum { MANY_GROUPS = 100000 };

/* More groups than there are numbers for, each with a place of its own; at small memories numbers begin anew, and what
 * places remember is lost. */
static void places_may_be_lost(void **state)
{
    static const size_t memories[] = { 0, 20 << 10, 256 << 10, 64 << 20 };
    struct tm_length *expected = test_malloc(MANY_GROUPS * sizeof(*expected));
    tm_length_place *places = test_malloc(MANY_GROUPS * sizeof(*places));

    (void)state;
    for (size_t m = 0; m < 4; m++) {
        struct tm_run run;

        test_run_init(&run);
        struct tm_lengths *lengths = tm_lengths_new(&run, TM_ACCOUNT_TABLES, memories[m]);
        const size_t groups = m < 2 ? MANY_GROUPS / 20 : MANY_GROUPS;

        for (size_t i = 0; i < groups; i++) {
            expected[i] = (struct tm_length){ i * 3, i % 1000 ? i : UINT64_MAX - i, 2 };
            places[i] = 0;
        }
        for (size_t i = 0; i < 2 * groups; i++) {
            const struct tm_length *e = &expected[i % groups];

            tm_lengths_add_at(lengths, &places[i % groups], e->group, e->value);
        }
        assert_read(lengths, expected, groups);
        assert_read_in_spans(lengths, expected, groups);
        tm_lengths_free(lengths);
        assert_ledger_is_even(&run);
    }
    test_free(expected);
    test_free(places);
}

/* What a word tells takes 8 bytes, so that three times as many stay in memory. */
static void numbers_of_40_bits_take_8_bytes(void **state)
{
    struct tm_run run;
    uint64_t seed = 1;

    (void)state;
    test_run_init(&run);
    struct tm_lengths *lengths = tm_lengths_new(&run, TM_ACCOUNT_TABLES, 8 << 20);

    for (uint64_t i = 0; i < 600000; i++)
        tm_lengths_add(lengths, i % 1000, next_number(&seed) >> 24, 1);
    assert_int_equal(run.budget.spilled_bytes, 0);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_TABLES] <= 8 << 20);
    tm_lengths_free(lengths);
    assert_ledger_is_even(&run);
}

static tm_status use_lengths(struct tm_run *run, size_t memory)
{
    struct tm_lengths *lengths = tm_lengths_new(run, TM_ACCOUNT_TABLES, memory);
    uint64_t seed = 3;

    if (!lengths)
        return run->error.status;
    for (int i = 0; i < 20000; i++)
        tm_lengths_add(lengths, (uint64_t)i % 40, next_number(&seed) >> (i % 64 ? 24 : 0), 1);
    tm_lengths_finish(lengths);
    while (tm_lengths_next(lengths))
        ;
    tm_lengths_free(lengths);
    return run->error.status;
}

static tm_status use_in_memory(struct tm_run *run)
{
    return use_lengths(run, 8 << 20);
}

static tm_status use_on_disk(struct tm_run *run)
{
    return use_lengths(run, 16 << 10);
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(use_in_memory);
    refuse_each_request(use_on_disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_comes_once_in_order_in_every_memory),
        cmocka_unit_test(lists_are_sorted_and_folded_with_any_scratch),
        cmocka_unit_test(numbers_that_come_again_are_not_spilled),
        cmocka_unit_test(many_numbers_keep_to_their_memory),
        cmocka_unit_test(places_may_be_lost),
        cmocka_unit_test(numbers_of_40_bits_take_8_bytes),
        cmocka_unit_test(each_refused_request_ends_clean),
    };

    return cmocka_run_group_tests_name("lengths", tests, NULL, NULL);
}
