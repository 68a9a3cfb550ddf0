/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/names.h"

#include <stdlib.h>

#include "tests/support/test_run.h"

static const size_t memories[] = { 0, 64 << 10, 1 << 20, 64 << 20 };
enum { MEMORIES = sizeof(memories) / sizeof(memories[0]) };

static uint32_t first_letter(const char *text, size_t length)
{
    return length != 0 ? (uint32_t)(unsigned char)text[0] : 1000;
}

static void assert_text(struct tm_names *names, tm_strid id, const char *expected)
{
    const char *text;
    size_t length;

    text = tm_names_text(names, id, 0, &length);
    assert_int_equal(length, strlen(expected));
    assert_string_equal(text, expected);
}

static void the_same_text_has_the_same_handle(void **state)
{
    struct tm_run run;
    tm_strid a, b, c, empty;

    (void)state;
    test_run_init(&run);
    struct tm_names *names = tm_names_new(&run, 1 << 20, NULL);

    assert_non_null(names);
    a = tm_names_put(names, "fusion.1", 8);
    b = tm_names_put(names, "fusion.2", 8);
    c = tm_names_put(names, "fusion.1 and more", 8);
    empty = tm_names_put(names, NULL, 0);
    assert_int_equal(a, c);
    assert_int_not_equal(a, b);
    assert_int_equal(empty, 0);
    assert_text(names, a, "fusion.1");
    assert_text(names, b, "fusion.2");
    assert_text(names, 0, "");
    tm_names_free(names);
    assert_ledger_is_even(&run);
}

static void handles_know_hash_length_and_traits(void **state)
{
    struct tm_run run;
    struct tm_name info, other;
    tm_strid id;

    (void)state;
    test_run_init(&run);
    struct tm_names *names = tm_names_new(&run, 1 << 20, first_letter);

    assert_non_null(names);
    id = tm_names_put(names, "kernel", 6);
    info = tm_names_info(names, id);
    assert_int_equal(info.length, 6);
    assert_int_equal(info.traits, 'k');
    other = tm_names_info(names, 0);
    assert_int_equal(other.length, 0);
    assert_int_equal(other.traits, 1000);
    assert_true(info.hash.low != other.hash.low);
    tm_names_free(names);
}

/* However it is put in, and whether it came lately. */
static void texts_that_come_often_have_the_same_handle(void **state)
{
    struct tm_run run;
    char text[32];
    tm_strid id, often;
    uint32_t traits;

    (void)state;
    for (size_t i = 0; i < MEMORIES; i++) {
        test_run_init(&run);
        struct tm_names *names = tm_names_new(&run, memories[i], first_letter);

        assert_non_null(names);
        for (int k = 0; k < 12000; k++) {
            (void)snprintf(text, sizeof(text), "%c %d", 'a' + k % 26, k % 5000 / 2);
            often = tm_names_put_often(names, text, strlen(text), &traits);
            assert_int_equal(traits, text[0]);
            assert_text(names, often, text);
            id = tm_names_put(names, text, strlen(text));
            assert_int_equal(id, often);
        }
        often = tm_names_put_often(names, NULL, 0, &traits);
        assert_int_equal(often, 0);
        assert_int_equal(traits, 1000);
        tm_names_free(names);
        assert_ledger_is_even(&run);
    }
}

static void texts_are_cut_at_the_wanted_length(void **state)
{
    struct tm_run run;
    const char *text;
    size_t length;
    tm_strid id;

    (void)state;
    test_run_init(&run);
    struct tm_names *names = tm_names_new(&run, 1 << 20, NULL);

    assert_non_null(names);
    id = tm_names_put(names, "abcdef", 6);
    for (size_t most = 1; most < 9; most++) {
        text = tm_names_text(names, id, most, &length);
        assert_int_equal(length, most < 6 ? most : 6);
        assert_memory_equal(text, "abcdef", length);
        assert_int_equal(text[length], '\0');
    }
    tm_names_free(names);
}

static void bytes_that_are_not_utf8_are_tallied_and_kept(void **state)
{
    struct tm_run run;
    const char *text;
    size_t length;
    tm_strid id;

    (void)state;
    test_run_init(&run);
    struct tm_names *names = tm_names_new(&run, 1 << 20, NULL);

    assert_non_null(names);
    for (int i = 0; i < 3; i++)
        id = tm_names_put(names, "a\xff\0b", 4);
    assert_int_equal(run.tallies.count[TM_TALLY_INVALID_UTF8], 1);
    text = tm_names_text(names, id, 0, &length);
    assert_int_equal(length, 4);
    assert_memory_equal(text, "a\xff\0b", 5);
    id = tm_names_put(names, "\xc3\xa9", 2);
    assert_int_equal(run.tallies.count[TM_TALLY_INVALID_UTF8], 1);
    tm_names_free(names);
}

static void bytes_that_are_not_utf8_are_tallied_for_each_host(void **state)
{
    struct tm_run run;
    uint32_t traits;

    (void)state;
    test_run_init(&run);
    struct tm_names *names = tm_names_new(&run, 1 << 20, NULL);

    assert_non_null(names);
    for (uint64_t host = 0; host < 3; host++) {
        tm_names_begin_host(names);
        for (int i = 0; i < 3; i++)
            assert_int_not_equal(tm_names_put_often(names, "a\xff", 2, &traits), 0);
        assert_int_equal(run.tallies.count[TM_TALLY_INVALID_UTF8], host + 1);
    }
    tm_names_free(names);
}

static void write_name(char *name, uint64_t i)
{
    (void)snprintf(name, 64, "fusion_%llu_of_%llx", (unsigned long long)i,
                   (unsigned long long)(i * UINT64_C(0x9e3779b97f4a7c15)));
}

static void many_texts_read_back_in_every_memory(void **state)
{
    enum { MANY = 40000 };
    static tm_strid ids[MANY];
    char name[64];

    (void)state;
    for (size_t m = 0; m < MEMORIES; m++) {
        struct tm_run run;
        uint64_t seed = 5;

        test_run_init(&run);
        struct tm_names *names = tm_names_new(&run, memories[m], NULL);

        assert_non_null(names);
        for (uint64_t i = 0; i < MANY; i++) {
            write_name(name, i);
            ids[i] = tm_names_put(names, name, strlen(name));
        }
        for (uint64_t i = 0; i < MANY; i++) {
            const uint64_t which = next_number(&seed) % MANY;
            struct tm_name before, after;
            struct tm_key hashes[3];
            tm_strid again;
            bool are_same;

            write_name(name, which);
            assert_text(names, ids[which], name);
            again = tm_names_put(names, name, strlen(name));
            before = tm_names_info(names, ids[which]);
            after = tm_names_info(names, again);
            assert_memory_equal(&before.hash, &after.hash, sizeof(before.hash));
            tm_names_hashes(names, (tm_strid[]){ again, 0, ids[which] }, 3, hashes);
            assert_memory_equal(&hashes[0], &before.hash, sizeof(hashes[0]));
            assert_memory_equal(&hashes[2], &before.hash, sizeof(hashes[2]));
            assert_memory_not_equal(&hashes[1], &before.hash, sizeof(hashes[1]));
            are_same = tm_names_are_same(names, again, ids[which]);
            assert_true(are_same);
            are_same = tm_names_are_same(names, again, ids[(which + 1) % MANY]);
            assert_false(are_same);
            if (memories[m] > (32 << 20))
                assert_int_equal(again, ids[which]);
        }
        if (memories[m] >= 1 << 20)
            assert_true(run.budget.peak_bytes[TM_ACCOUNT_NAMES] <= memories[m]);
        tm_names_free(names);
        assert_ledger_is_even(&run);
    }
}

static void a_note_stays_with_its_text_in_every_memory(void **state)
{
    enum { NAMES = 20000 };
    char name[64];

    (void)state;
    for (size_t m = 0; m < MEMORIES; m++) {
        struct tm_run run;
        uint16_t note;

        test_run_init(&run);
        struct tm_names *names = tm_names_new(&run, memories[m], NULL);

        assert_non_null(names);
        for (tm_strid i = 1; i <= NAMES; i++) {
            tm_strid id;

            write_name(name, i);
            id = tm_names_put(names, name, strlen(name));
            assert_int_equal(id, i);
            note = tm_names_note(names, id);
            assert_int_equal(note, 0);
            if (i % 3)
                tm_names_set_note(names, id, (uint16_t)i);
        }
        for (tm_strid i = 1; i <= NAMES; i++) {
            write_name(name, i);
            assert_text(names, i, name);
            note = tm_names_note(names, i);
            assert_int_equal(note, i % 3 ? (uint16_t)i : 0);
        }
        tm_names_free(names);
        assert_ledger_is_even(&run);
    }
}

static void a_text_longer_than_a_page_works(void **state)
{
    enum { LONG = 300000 };
    struct tm_run run;
    const char *text;
    size_t length;
    tm_strid id;

    (void)state;
    test_run_init(&run);
    struct tm_names *names = tm_names_new(&run, 4 << 20, NULL);
    char *name = malloc(LONG);

    assert_non_null(names);
    assert_non_null(name);
    for (size_t i = 0; i < LONG; i++)
        name[i] = (char)('a' + i % 23);
    id = tm_names_put(names, name, LONG);
    for (int i = 0; i < 20; i++) { /* drive it out of the cache */
        name[0] = (char)('A' + i);
        (void)tm_names_put(names, name, LONG);
    }
    name[0] = 'a';
    text = tm_names_text(names, id, 0, &length);
    assert_int_equal(length, LONG);
    assert_memory_equal(text, name, LONG);
    assert_int_equal(text[LONG], '\0');
    free(name);
    tm_names_free(names);
    assert_ledger_is_even(&run);
}

static void a_text_too_long_for_the_memory_can_be_read_in_part(void **state)
{
    enum { LONG = 300000 };
    struct tm_run run;
    size_t length;
    tm_strid id;

    (void)state;
    test_run_init(&run);
    struct tm_names *names = tm_names_new(&run, 0, NULL);
    char *name = calloc(1, LONG);

    assert_non_null(names);
    assert_non_null(name);
    id = tm_names_put(names, name, LONG);
    free(name);
    (void)tm_names_text(names, id, 4096, &length);
    assert_int_equal(length, 4096);
    assert_string_equal(tm_names_text(names, id, 0, NULL), "");
    assert_int_equal(run.error.status, TM_ERR_LIMIT);
    tm_names_free(names);
    assert_ledger_is_even(&run);
}

static void a_text_stays_while_others_are_put_in(void **state)
{
    struct tm_run run;
    const char *text;
    size_t length;
    tm_strid id;
    char name[64];

    (void)state;
    test_run_init(&run);
    struct tm_names *names = tm_names_new(&run, 0, NULL);

    assert_non_null(names);
    id = tm_names_put(names, "stays", 5);
    text = tm_names_text(names, id, 0, &length);
    for (uint64_t i = 0; i < 20000; i++) {
        write_name(name, i);
        (void)tm_names_put(names, name, strlen(name));
    }
    assert_string_equal(text, "stays");
    tm_names_free(names);
}

static tm_status use_names(struct tm_run *run)
{
    struct tm_names *names = tm_names_new(run, 0, NULL);
    char name[1000];

    if (!names)
        return run->error.status;
    memset(name, 'x', sizeof(name));
    for (uint64_t i = 0; i < 5000; i++) {
        write_name(name, i);
        (void)tm_names_put(names, name, sizeof(name));
    }
    for (uint64_t i = 0; i < 5000 && !tm_failed(run); i += 100)
        assert_non_null(tm_names_text(names, (tm_strid)i, 0, NULL));
    tm_names_free(names);
    return run->error.status;
}

static void each_refused_request_ends_clean(void **state)
{
    (void)state;
    refuse_each_request(use_names);
}

/* What a text of 256 bytes may hold so that XXH3-128 takes no notice of it: where four bytes of a lane are those of its
 * secret, the product of the two halves is 0, and of the other half only the sum over all stripes counts. */
static void make_alike(char text[256], char first, char second)
{
    static const uint8_t secret[] = { 0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c };

    memset(text, 'x', 256);
    memcpy(text, secret, 4);
    memcpy(text + 64, secret + 8, 4);
    text[4] = first;
    text[68] = second;
}

static void texts_that_were_made_to_have_one_hash_are_refused(void **state)
{
    char text[256], alike[256];
    struct tm_key hashes[2];
    struct tm_run run;
    struct tm_names *names;
    tm_strid id, again;

    (void)state;
    make_alike(text, 1, 5);
    make_alike(alike, 2, 4);
    hashes[0] = tm_hash_key(text, sizeof(text));
    hashes[1] = tm_hash_key(alike, sizeof(alike));
    assert_true(tm_is_same_key(hashes[0], hashes[1]));
    test_run_init(&run);
    names = tm_names_new(&run, 1 << 20, NULL);
    assert_non_null(names);
    id = tm_names_put(names, text, sizeof(text));
    again = tm_names_put(names, text, sizeof(text));
    assert_int_equal(id, again);
    assert_int_equal(tm_names_put(names, alike, sizeof(alike)), 0);
    assert_int_equal(tm_names_status(names), TM_ERR_INPUT);
    tm_names_free(names);
    assert_ledger_is_even(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_text_has_the_same_handle),
        cmocka_unit_test(handles_know_hash_length_and_traits),
        cmocka_unit_test(texts_that_come_often_have_the_same_handle),
        cmocka_unit_test(texts_are_cut_at_the_wanted_length),
        cmocka_unit_test(bytes_that_are_not_utf8_are_tallied_and_kept),
        cmocka_unit_test(bytes_that_are_not_utf8_are_tallied_for_each_host),
        cmocka_unit_test(many_texts_read_back_in_every_memory),
        cmocka_unit_test(a_note_stays_with_its_text_in_every_memory),
        cmocka_unit_test(a_text_longer_than_a_page_works),
        cmocka_unit_test(a_text_too_long_for_the_memory_can_be_read_in_part),
        cmocka_unit_test(a_text_stays_while_others_are_put_in),
        cmocka_unit_test(each_refused_request_ends_clean),
        cmocka_unit_test(texts_that_were_made_to_have_one_hash_are_refused),
    };

    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
