/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that are chosen to meet in one place of a table, by who knows how it is made but not its seed: they cost no more than
 * others.  Each set of keys is one that met, all of it, in tables without a secret. */
#include <stdlib.h>
#include <time.h>

#include <xxhash.h>

#include "pipeline/doc/doc.h"
#include "pipeline/store/groups.h"
#include "pipeline/store/hash.h"
#include "pipeline/store/names.h"
#include "pipeline/store/sorter.h"
#include "tests/support/test_run.h"

enum { KEYS = 100000, TRIES = 3, MEMORY = 64 << 20 };
#define MOST_TIMES 3.0
#define SLACK_S 0.02 /* of the clock, and of others on the machine */

typedef struct tm_key make_key(uint64_t i);
typedef void use_keys(make_key *make);

static struct tm_key any_key(uint64_t i)
{
    return tm_hash_key(&i, sizeof(i));
}

/* Halves that cancel out, as they stand and rotated. */
static struct tm_key same_sum(uint64_t i)
{
    return (struct tm_key){ i, i ^ 0x5555 };
}

static struct tm_key same_rotated_sum(uint64_t i)
{
    return (struct tm_key){ i, (i << 29 | i >> 35) ^ 0x5555 };
}

/* What a multiplication leaves alone: numbers of which only the highest bits differ. */
static struct tm_key high_bits(uint64_t i)
{
    return (struct tm_key){ i << 40, i << 44 };
}

/* What tm_hash_mix makes to multiples of 2^40, with the seed 0. */
static uint64_t unmixed(uint64_t mixed)
{
    const uint64_t first = UINT64_C(0xd6e8feb86659fd93), second = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t back_first = first, back_second = second, h = mixed ^ mixed >> 32;

    for (int i = 0; i < 5; i++) { /* Newton: each round doubles the bits that are right */
        back_first *= 2 - first * back_first;
        back_second *= 2 - second * back_second;
    }
    h *= back_second;
    return (h ^ h >> 32) * back_first;
}

static struct tm_key same_without_seed(uint64_t i)
{
    return (struct tm_key){ 0, unmixed(i) };
}

static void fold(void *into, const void *from)
{
    (void)into;
    (void)from;
}

static void fill_groups(make_key *make)
{
    struct tm_run run;
    struct tm_groups *groups;

    test_run_init(&run);
    groups = tm_groups_new(&run, TM_ACCOUNT_TABLES, sizeof(struct tm_key), MEMORY, fold);
    assert_non_null(groups);
    for (uint64_t i = 0; i < KEYS; i++) {
        const struct tm_key key = make(i);

        tm_groups_add(groups, &key);
    }
    tm_groups_free(groups);
}

static void fill_map(make_key *make)
{
    struct tm_run run;
    struct tm_key_map *map;

    test_run_init(&run);
    map = tm_key_map_new(&run, TM_ACCOUNT_METADATA, MEMORY);
    assert_non_null(map);
    for (uint64_t i = 0; i < KEYS; i++)
        (void)tm_key_map_number(map, make(i), 0);
    tm_key_map_free(map);
}

static void fill_index(make_key *make)
{
    struct tm_run run;
    struct tm_index *index;

    test_run_init(&run);
    index = tm_index_new(&run, TM_ACCOUNT_TABLES, sizeof(uint64_t), MEMORY, TM_INDEX_FIRST, NULL);
    assert_non_null(index);
    for (uint64_t i = 0; i < KEYS; i++)
        tm_index_put(index, &(uint64_t){ make(i).low });
    tm_index_finish(index);
    for (uint64_t i = 0; i < KEYS; i++)
        assert_non_null(tm_index_get(index, make(i).low));
    tm_index_free(index);
}

/* ---- what it costs ---- */

static double seconds_of(use_keys *use, make_key *make)
{
    double least = 0;

    for (int i = 0; i < TRIES; i++) {
        const clock_t began = clock();

        use(make);
        const double took = (double)(clock() - began) / CLOCKS_PER_SEC;

        least = i == 0 || took < least ? took : least;
    }
    return least;
}

static void assert_cheap(use_keys *use, make_key *make)
{
    const double others = seconds_of(use, any_key), these = seconds_of(use, make);

    if (these > MOST_TIMES * others + SLACK_S)
        fail_msg("%.3f s, other keys %.3f s", these, others);
}

static void assert_table_is_cheap(use_keys *use)
{
    assert_cheap(use, same_sum);
    assert_cheap(use, same_rotated_sum);
    assert_cheap(use, high_bits);
    assert_cheap(use, same_without_seed);
}

static void chosen_keys_of_groups_cost_no_more(void **state)
{
    (void)state;
    assert_table_is_cheap(fill_groups);
}

static void chosen_keys_of_a_map_cost_no_more(void **state)
{
    (void)state;
    assert_table_is_cheap(fill_map);
}

static void chosen_keys_of_an_index_cost_no_more(void **state)
{
    (void)state;
    assert_table_is_cheap(fill_index);
}

/* ---- members of a document ---- */

enum { MEMBERS = 3000, PLACES = 1 << 13 };
struct word {
    char text[24];
};

/* Texts: of which any, or all that meet where XXH3 without a seed tells the place among PLACES. */
static struct word *make_words(bool meet)
{
    struct word *const words = calloc(MEMBERS, sizeof(*words));
    size_t count = 0;

    assert_non_null(words);
    for (uint64_t i = 0; count < MEMBERS; i++) {
        const int length = snprintf(words[count].text, sizeof(words[count].text), "k%llx", (unsigned long long)i);

        if (!meet || XXH3_64bits(words[count].text, (size_t)length) % PLACES == 0)
            count++;
    }
    return words;
}

static double seconds_of_words(const struct word *words)
{
    struct tm_run run;
    struct tm_doc *doc;
    double took;
    clock_t began;

    test_run_init(&run);
    doc = tm_doc_new(&run);
    assert_non_null(doc);
    began = clock();
    for (size_t i = 0; i < MEMBERS; i++)
        tm_add_int(tm_doc_root(doc), words[i].text, 1);
    took = (double)(clock() - began) / CLOCKS_PER_SEC;
    assert_int_equal(tm_doc_status(doc), TM_OK);
    tm_doc_free(doc);
    return took;
}

static void chosen_members_of_a_document_cost_no_more(void **state)
{
    struct word *const any = make_words(false), *const meet = make_words(true);
    double others = 1e9, these = 1e9;

    (void)state;
    for (int i = 0; i < TRIES; i++) {
        const double a = seconds_of_words(any), b = seconds_of_words(meet);

        others = a < others ? a : others;
        these = b < these ? b : these;
    }
    if (these > MOST_TIMES * others + SLACK_S / 4)
        fail_msg("%.3f s, other members %.3f s", these, others);
    free(any);
    free(meet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_keys_of_groups_cost_no_more),
        cmocka_unit_test(chosen_keys_of_a_map_cost_no_more),
        cmocka_unit_test(chosen_keys_of_an_index_cost_no_more),
        cmocka_unit_test(chosen_members_of_a_document_cost_no_more),
    };

    return cmocka_run_group_tests_name("hash floods", tests, NULL, NULL);
}
