/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/formats.h"

#include "tests/support/test_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "stages/figures/device_profiles.h"
#include "tests/support/memory_file.h"
#include "tests/support/xspace_builder.h"

/* --- profiles by hand --- */

/* The strings of all of them, by number. */
enum text {
    NONE,
    ALLOCATIONS,
    COUNT,
    SPACE,
    BYTES,
    KIND,
    BUFFER,
    DEVICE,
    GPU,
    ONES,
    JAX_FILE,
    INIT,
    MAIN,
    OWN_FILE,
    FLAX,
    FLAX_FILE,
    TEXTS
};
/* clang-format off */
static const char *const texts[TEXTS] = {
    "", "allocations", "count", "space", "bytes", "kind", "buffer", "device", "cuda:0", "ones",
    "/v/site-packages/jax/_src/numpy/array_creation.py", "init", "main", "/home/a/train.py", "apply",
    "/v/site-packages/flax/core.py",
};
/* clang-format on */

static void put_inside(struct xb_bytes *to, uint32_t field, struct xb_bytes *inside)
{
    xb_chunk(to, field, inside->at, inside->length);
    xb_free(inside);
}

static void put_pair(struct xb_bytes *to, uint32_t field, uint64_t one, uint64_t two)
{
    struct xb_bytes pair = { .at = NULL };

    xb_number(&pair, 1, one);
    xb_number(&pair, 2, two);
    put_inside(to, field, &pair);
}

static void put_function(struct xb_bytes *to, uint64_t id, enum text name, enum text file)
{
    struct xb_bytes function = { .at = NULL };

    xb_number(&function, 1, id);
    xb_number(&function, 2, name);
    xb_number(&function, 4, file);
    put_inside(to, 5, &function);
}

/* A location of the same number as its function. */
static void put_location(struct xb_bytes *to, uint64_t id, uint64_t line)
{
    struct xb_bytes location = { .at = NULL };

    xb_number(&location, 1, id);
    put_pair(&location, 4, id, line);
    put_inside(to, 4, &location);
}

static void put_sample(struct xb_bytes *to, const uint8_t *stack, uint64_t count, uint64_t bytes)
{
    struct xb_bytes sample = { .at = NULL };

    for (; *stack; stack++)
        xb_number(&sample, 1, *stack);
    xb_number(&sample, 2, count);
    xb_number(&sample, 2, bytes);
    put_pair(&sample, 3, KIND, BUFFER);
    put_pair(&sample, 3, DEVICE, GPU);
    put_inside(to, 2, &sample);
}

static void put_tables(struct xb_bytes *to)
{
    put_function(to, 1, ONES, JAX_FILE);
    put_function(to, 2, INIT, OWN_FILE);
    put_function(to, 3, MAIN, OWN_FILE);
    put_function(to, 4, FLAX, FLAX_FILE);
    for (uint64_t id = 1; id <= 4; id++)
        put_location(to, id, 10 * id);
    for (int i = 0; i < TEXTS; i++)
        xb_chunk(to, 6, texts[i], strlen(texts[i]));
}

static struct xb_bytes make_profile(void)
{
    static const uint8_t own[] = { 1, 4, 2, 3, 0 }, of_library[] = { 1, 4, 0 }, unknown[] = { 9, 0 };
    struct xb_bytes profile = { .at = NULL };

    put_pair(&profile, 1, ALLOCATIONS, COUNT);
    put_pair(&profile, 1, SPACE, BYTES);
    put_sample(&profile, own, 2, 1000);
    put_sample(&profile, of_library, 1, 300);
    put_sample(&profile, own, 1, 24);
    put_sample(&profile, unknown, 1, 6);
    put_tables(&profile);
    return profile;
}

/* --- reading them --- */

struct reading {
    struct tm_run run;
    struct tm_input input;
    struct tm_names *names;
    struct tm_device_profiles *profiles;
    struct tm_doc *doc;
    struct tm_pprof_damage damage;
};

static tm_status read_profile(struct reading *r, const struct xb_bytes *bytes)
{
    tm_status st;

    r->names = tm_names_new(&r->run, tm_budget_share(&r->run.budget, TM_ACCOUNT_NAMES), NULL);
    r->profiles = r->names ? tm_device_profiles_new(&r->run, r->names) : NULL;
    r->doc = r->profiles ? tm_doc_new(&r->run) : NULL;
    st = r->doc ? memory_input(&r->input, &r->run, bytes->at, bytes->length) : r->run.error.status;
    if (st == TM_OK)
        st = tm_device_profiles_begin(r->profiles, "memory.prof");
    if (st == TM_OK)
        st = tm_pprof_read(&r->run, &r->input, r->names, tm_device_profiles_take, r->profiles, &r->damage);
    if (st == TM_OK)
        st = tm_device_profiles_end(r->profiles);
    if (st == TM_OK)
        st = tm_device_profiles_report(r->profiles, tm_doc_root(r->doc));
    return st == TM_OK ? tm_doc_status(r->doc) : st;
}

static void begin(struct reading *r)
{
    memset(r, 0, sizeof(*r));
    test_run_init(&r->run);
}

static void end(struct reading *r)
{
    tm_doc_free(r->doc);
    tm_device_profiles_free(r->profiles);
    tm_names_free(r->names);
    tm_input_close(&r->input);
    assert_ledger_is_even(&r->run);
}

static const struct tm_value *get(const struct reading *r, const char *path)
{
    char whole[96];

    (void)snprintf(whole, sizeof(whole), "device_profiles[0].%s", path);
    return tm_path(tm_doc_root(r->doc), whole);
}

static void assert_site(const struct reading *r, int at, const char *function, const char *source, int64_t bytes)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "sites[%d].function", at);
    assert_string_equal(tm_text(get(r, path)), function);
    (void)snprintf(path, sizeof(path), "sites[%d].source", at);
    assert_string_equal(tm_text(get(r, path)), source);
    (void)snprintf(path, sizeof(path), "sites[%d].bytes", at);
    assert_int_equal(tm_int(get(r, path)), bytes);
}

static void what_is_held_is_laid_to_the_users_own_code(void **state)
{
    struct xb_bytes bytes = make_profile();
    struct reading r;

    (void)state;
    begin(&r);
    assert_int_equal(read_profile(&r, &bytes), TM_OK);
    assert_int_equal(r.input.kind, TM_FILE_PPROF);
    assert_false(r.damage.is_damaged);
    assert_int_equal(tm_int(get(&r, "total_count")), 5);
    assert_int_equal(tm_int(get(&r, "total_bytes")), 1330);
    assert_int_equal(tm_length(get(&r, "sites")), 3);
    assert_site(&r, 0, "init", "/home/a/train.py:20", 1024);
    assert_site(&r, 1, "apply", "/v/site-packages/flax/core.py:40", 300);
    assert_site(&r, 2, "", "", 6);
    assert_int_equal(tm_length(get(&r, "sites[0].stack")), 3); /* what was called, the site, its caller */
    assert_string_equal(tm_text(get(&r, "sites[0].stack[0]")), "apply (/v/site-packages/flax/core.py:40)");
    assert_string_equal(tm_text(get(&r, "sites[0].stack[2]")), "main (/home/a/train.py:30)");
    assert_string_equal(tm_text(get(&r, "kinds[0].kind")), "buffer");
    assert_int_equal(tm_int(get(&r, "kinds[0].count")), 5);
    assert_string_equal(tm_text(get(&r, "devices[0].device")), "cuda:0");
    assert_int_equal(r.run.tallies.count[TM_TALLY_NO_METADATA], 1);
    end(&r);
    xb_free(&bytes);
}

static void cut_anywhere_it_ends_cleanly(void **state)
{
    struct xb_bytes bytes = make_profile();
    int64_t before = 0;

    (void)state;
    for (size_t length = 1; length < bytes.length; length++) {
        const struct xb_bytes cut = { .at = bytes.at, .length = length };
        struct reading r;
        tm_status st;

        begin(&r);
        st = read_profile(&r, &cut);
        assert_true(st == TM_OK || st == TM_ERR_INPUT);
        if (st == TM_OK) {
            assert_true(tm_int(get(&r, "total_bytes")) >= before);
            before = tm_int(get(&r, "total_bytes"));
        }
        end(&r);
    }
    assert_int_equal(before, 1330);
    xb_free(&bytes);
}

/* Any byte turned over: read or refused, never worse. */
static void changed_anywhere_it_ends_cleanly(void **state)
{
    struct xb_bytes bytes = make_profile();

    (void)state;
    for (size_t at = 0; at < bytes.length; at++)
        for (int bit = 0; bit < 8; bit++) {
            struct reading r;
            tm_status st;

            bytes.at[at] ^= (uint8_t)(1 << bit);
            begin(&r);
            st = read_profile(&r, &bytes);
            assert_true(st == TM_OK || st == TM_ERR_INPUT);
            end(&r);
            bytes.at[at] ^= (uint8_t)(1 << bit);
        }
    xb_free(&bytes);
}

static void values_past_all_measure_stay_at_the_largest_number(void **state)
{
    static const uint8_t own[] = { 2, 0 };
    struct xb_bytes bytes = { .at = NULL };
    struct reading r;

    (void)state;
    put_pair(&bytes, 1, ALLOCATIONS, COUNT);
    put_pair(&bytes, 1, SPACE, BYTES);
    for (int i = 0; i < 4; i++)
        put_sample(&bytes, own, 1, INT64_MAX);
    put_sample(&bytes, own, 1, (uint64_t)-5); /* counts nothing */
    put_tables(&bytes);
    begin(&r);
    assert_int_equal(read_profile(&r, &bytes), TM_OK);
    assert_true(tm_double(get(&r, "total_bytes")) >= 1.8e19);
    assert_int_equal(tm_int(get(&r, "total_count")), 5);
    assert_int_equal(r.run.tallies.count[TM_TALLY_BAD_FIELD], 1);
    end(&r);
    xb_free(&bytes);
}

/* -1 is what XLA writes for a size that it does not know, times the count. */
static void sizes_that_are_not_known_are_no_damage(void **state)
{
    static const uint8_t own[] = { 2, 0 }, of_library[] = { 4, 0 };
    struct xb_bytes bytes = { .at = NULL };
    struct reading r;

    (void)state;
    put_pair(&bytes, 1, ALLOCATIONS, COUNT);
    put_pair(&bytes, 1, SPACE, BYTES);
    put_sample(&bytes, own, 1, 100);
    put_sample(&bytes, own, 1, (uint64_t)-1);
    put_sample(&bytes, of_library, 3, (uint64_t)-3);
    put_sample(&bytes, of_library, 3, (uint64_t)-1);
    put_tables(&bytes);
    begin(&r);
    assert_int_equal(read_profile(&r, &bytes), TM_OK);
    assert_int_equal(tm_int(get(&r, "total_count")), 8);
    assert_int_equal(tm_int(get(&r, "total_bytes")), 100);
    assert_site(&r, 0, "init", "/home/a/train.py:20", 100);
    assert_string_equal(tm_text(get(&r, "sites[1].function")), "apply");
    assert_int_equal(tm_int(get(&r, "sites[1].count")), 6);
    assert_false(tm_has(get(&r, "sites[1].bytes")));
    assert_false(tm_has(get(&r, "sites[1].share_pct")));
    assert_int_equal(r.run.tallies.count[TM_TALLY_UNKNOWN_SIZE], 3);
    assert_int_equal(tm_tally_losses(&r.run.tallies, TM_TALLY_FOR_FIGURES), 0);
    end(&r);
    xb_free(&bytes);
}

static void a_profile_of_time_is_refused(void **state)
{
    struct xb_bytes bytes = { .at = NULL };
    struct reading r;

    (void)state;
    put_pair(&bytes, 1, ALLOCATIONS, COUNT);
    put_tables(&bytes);
    begin(&r);
    assert_int_equal(read_profile(&r, &bytes), TM_ERR_INPUT);
    assert_non_null(strstr(r.run.error.what, "without memory sizes"));
    end(&r);
    xb_free(&bytes);
}

static void code_belongs_to_the_user_a_library_or_jax(void **state)
{
    static const struct {
        const char *file;
        enum tm_code_owner owner;
    } rows[] = {
        { "/home/a/train.py", TM_CODE_USER },
        { "/home/a/microjax/src/microjax/multipole.py", TM_CODE_USER },
        { "/home/a/jax/examples/mnist.py", TM_CODE_USER },
        { "<ipython-input-3-0a1b>", TM_CODE_USER },
        { "/tmp/ipykernel_7/123.py", TM_CODE_USER },
        { "/v/lib/python3.12/site-packages/optax/_src/base.py", TM_CODE_LIBRARY },
        { "/usr/lib/python3.12/functools.py", TM_CODE_LIBRARY },
        { "<frozen importlib._bootstrap>", TM_CODE_LIBRARY },
        { "/v/lib/python3.12/site-packages/jax/_src/pjit.py", TM_CODE_RUNTIME },
        { "/v/lib/python3.12/site-packages/jax/experimental/shard_map.py", TM_CODE_RUNTIME },
        { "/work/jax/jax/_src/pjit.py", TM_CODE_RUNTIME },
        { "external/xla/xla/pjrt/c/api.cc", TM_CODE_RUNTIME },
        { "", TM_CODE_RUNTIME },
        { "/v/lib/python3.12/site-packages/jax/_src/traceback_util.py", TM_CODE_WRAPPER },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (tm_code_owner_of(rows[i].file, strlen(rows[i].file)) != rows[i].owner)
            fail_msg("'%s' is not %d", rows[i].file, (int)rows[i].owner);
}

static tm_status read_all(struct tm_run *run)
{
    struct xb_bytes bytes = make_profile();
    struct reading r = { .run = *run };
    const tm_status st = read_profile(&r, &bytes);

    tm_doc_free(r.doc);
    tm_device_profiles_free(r.profiles);
    tm_names_free(r.names);
    tm_input_close(&r.input);
    xb_free(&bytes);
    *run = r.run;
    return st;
}

static void each_refused_request_for_memory_ends_cleanly(void **state)
{
    (void)state;
    refuse_each_request(read_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held_is_laid_to_the_users_own_code),
        cmocka_unit_test(cut_anywhere_it_ends_cleanly),
        cmocka_unit_test(changed_anywhere_it_ends_cleanly),
        cmocka_unit_test(values_past_all_measure_stay_at_the_largest_number),
        cmocka_unit_test(sizes_that_are_not_known_are_no_damage),
        cmocka_unit_test(a_profile_of_time_is_refused),
        cmocka_unit_test(code_belongs_to_the_user_a_library_or_jax),
        cmocka_unit_test(each_refused_request_for_memory_ends_cleanly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
