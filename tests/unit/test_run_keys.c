/* SPDX-License-Identifier: Apache-2.0 */
/* What paths tell: by their look, by a template, by labels. */
#include <time.h>

#include "pipeline/nightly/manifest.h"
#include "tests/support/test_run.h"

/* What discovery tells: in the evening of 2026-11-20. */
#define FOUND_NS INT64_C(1795204800000000000)

static int64_t time_of(const char *text)
{
    struct tm t = { .tm_year = 0 };

    assert_non_null(strptime(text, "%Y-%m-%dT%H:%M:%S", &t));
    return (int64_t)timegm(&t) * 1000000000;
}

static const struct {
    const char *path, *job, *night, *when /* NULL = as discovery tells it */, *revision, *training;
    int64_t step;
} looks[] = {
    /* clang-format off */
    /* as JAX writes it */
    { "plugins/profile/2026_11_21_03_04_05", "logs", "2026-11-21", "2026-11-21T03:04:05", "", "", -1 },
    { "llama/plugins/profile/2026_11_21_03_04_05", "llama", "2026-11-21", "2026-11-21T03:04:05", "", "", -1 },
    { "llama/plugins/profile/2026_11_21_03_04_05_warm", "llama/warm", "2026-11-21", "2026-11-21T03:04:05", "", "", -1 },
    { "2026_11_21_03_04_05", "logs", "2026-11-21", "2026-11-21T03:04:05", "", "", -1 },
    { "", "logs", "2026-11-20", NULL, "", "", -1 },
    { "plugins/profile", "logs", "2026-11-20", NULL, "", "", -1 },
    { "plugins/profiles", "plugins/profiles", "2026-11-20", NULL, "", "", -1 },
    { "profile/plugins", "profile/plugins", "2026-11-20", NULL, "", "", -1 },
    /* nights */
    { "llama/2026-11-20/run", "llama/run", "2026-11-20", NULL, "", "", -1 },
    { "llama/2026-11-01/run", "llama/run", "2026-11-01", "2026-11-01T00:00:00", "", "", -1 },
    { "llama/20261101", "llama", "2026-11-01", "2026-11-01T00:00:00", "", "", -1 },
    { "llama/2026_11_01", "llama", "2026-11-01", "2026-11-01T00:00:00", "", "", -1 },
    { "nightly-2026-11-01/llama", "nightly/llama", "2026-11-01", "2026-11-01T00:00:00", "", "", -1 },
    { "2026-11-01_llama", "llama", "2026-11-01", "2026-11-01T00:00:00", "", "", -1 },
    { "20261101-0203/llama", "llama", "2026-11-01", "2026-11-01T02:03:00", "", "", -1 },
    { "2026-11-01T02:03:04Z/llama", "llama", "2026-11-01", "2026-11-01T02:03:04", "", "", -1 },
    { "llama/2026/11/01/run", "llama/run", "2026-11-01", "2026-11-01T00:00:00", "", "", -1 },
    { "2026-11-01/llama/plugins/profile/2026_11_02_00_30_00", "llama", "2026-11-01", "2026-11-02T00:30:00", "", "", -1 },
    { "2026-11-01/llama/2026-11-05", "llama", "2026-11-01", "2026-11-01T00:00:00", "", "", -1 },
    { "llama/2026-11-19", "llama", "2026-11-19", NULL, "", "", -1 },
    /* no nights */
    { "llama/2026-13-01", "llama/2026-13-01", "2026-11-20", NULL, "", "", -1 },
    { "llama/2026-06-31", "llama/2026-06-31", "2026-11-20", NULL, "", "", -1 },
    { "llama/202611010", "llama/202611010", "2026-11-20", NULL, "", "", -1 },
    { "llama/12345678", "llama/12345678", "2026-11-20", NULL, "", "", -1 },
    { "llama/a-2026-11-01-b", "llama/a-2026-11-01-b", "2026-11-20", NULL, "", "", -1 },
    { "llama/x2026-11-01", "llama/x2026-11-01", "2026-11-20", NULL, "", "", -1 },
    { "llama/2026/11", "llama/2026/11", "2026-11-20", NULL, "", "", -1 },
    /* steps */
    { "exp3/step_1000", "exp3", "2026-11-20", NULL, "", "exp3", 1000 },
    { "exp3/step-1000", "exp3", "2026-11-20", NULL, "", "exp3", 1000 },
    { "exp3/step1000", "exp3", "2026-11-20", NULL, "", "exp3", 1000 },
    { "exp3/Step_0000", "exp3", "2026-11-20", NULL, "", "exp3", 0 },
    { "exp3/ckpt_20", "exp3", "2026-11-20", NULL, "", "exp3", 20 },
    { "exp3/checkpoint-20", "exp3", "2026-11-20", NULL, "", "exp3", 20 },
    { "exp3/iter_7", "exp3", "2026-11-20", NULL, "", "exp3", 7 },
    { "exp3/iteration_7", "exp3", "2026-11-20", NULL, "", "exp3", 7 },
    { "exp3/global_step_7", "exp3", "2026-11-20", NULL, "", "exp3", 7 },
    { "exp3-step_7", "exp3", "2026-11-20", NULL, "", "exp3", 7 },
    { "step_7", "logs", "2026-11-20", NULL, "", "logs", 7 },
    { "llama/2026-11-01/ab12cd3/lr_1e-4/step_70/plugins/profile/2026_11_01_05_00_00", "llama/lr_1e-4", "2026-11-01",
      "2026-11-01T05:00:00", "ab12cd3", "llama/2026-11-01/ab12cd3/lr_1e-4", 70 },
    { "exp3/step_10/step_20", "exp3/step_20", "2026-11-20", NULL, "", "exp3", 10 },
    /* no steps */
    { "exp3/step", "exp3/step", "2026-11-20", NULL, "", "", -1 },
    { "exp3/misstep_7", "exp3/misstep_7", "2026-11-20", NULL, "", "", -1 },
    { "exp3/2262-04-11_23-50-00", "exp3", "2262-04-11", "2262-04-11T00:00:00", "", "", -1 }, /* the last day of 64 bits */
    { "exp3/2262-04-12", "exp3/2262-04-12", "2026-11-20", NULL, "", "", -1 },
    { "exp3/step_99999999999999999999", "exp3/step_99999999999999999999", "2026-11-20", NULL, "", "", -1 },
    { "exp3/step_-5", "exp3/step_-5", "2026-11-20", NULL, "", "", -1 },
    /* revisions */
    { "llama/3f2a91c", "llama", "2026-11-20", NULL, "3f2a91c", "", -1 },
    { "llama/g3f2a91c", "llama", "2026-11-20", NULL, "3f2a91c", "", -1 },
    { "llama/git-3f2a91c", "llama", "2026-11-20", NULL, "3f2a91c", "", -1 },
    { "llama/rev-1234567", "llama", "2026-11-20", NULL, "1234567", "", -1 },
    { "llama/sha-gabcdefa", "llama", "2026-11-20", NULL, "abcdefa", "", -1 },
    { "llama/v1.2-14-g2414721", "llama", "2026-11-20", NULL, "2414721", "", -1 },
    { "llama/0123456789abcdef0123456789abcdef01234567", "llama", "2026-11-20", NULL,
      "0123456789abcdef0123456789abcdef01234567", "", -1 },
    { "llama/3f2a91c/7e1d003", "llama/7e1d003", "2026-11-20", NULL, "3f2a91c", "", -1 },
    /* no revisions */
    { "llama/defaced", "llama/defaced", "2026-11-20", NULL, "", "", -1 },
    { "llama/1234567", "llama/1234567", "2026-11-20", NULL, "", "", -1 },
    { "llama/3f2a91", "llama/3f2a91", "2026-11-20", NULL, "", "", -1 },
    { "llama/0123456789abcdef0123456789abcdef012345678", "llama/0123456789abcdef0123456789abcdef012345678", "2026-11-20",
      NULL, "", "", -1 },
    { "llama/3f2a91cx", "llama/3f2a91cx", "2026-11-20", NULL, "", "", -1 },
    { "llama/rev-", "llama/rev-", "2026-11-20", NULL, "", "", -1 },
    /* any bytes: what is not shown stays distinct by a hash */
    { "a\nb/c\x7f", "a?b/c?-46171ebe38492823", "2026-11-20", NULL, "", "", -1 },
    { "\xff\xfe/x", "?" "?/x-4c213c1aff8968e8", "2026-11-20", NULL, "", "", -1 },
    { "caf\xc3\xa9", "caf\xc3\xa9", "2026-11-20", NULL, "", "", -1 },
    { "//a///b//", "a/b", "2026-11-20", NULL, "", "", -1 },
    /* clang-format on */
};

static void paths_are_read_by_their_look(void **state)
{
    const struct tm_options options = { .inputs = NULL };

    (void)state;
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        struct tm_run_keys keys;

        assert_true(tm_run_keys_read(&keys, "/data/logs", looks[i].path, FOUND_NS, &options));
        print_message("%s\n", looks[i].path);
        assert_string_equal(keys.job, looks[i].job);
        assert_string_equal(keys.night, looks[i].night);
        assert_int_equal(keys.when_ns, looks[i].when ? time_of(looks[i].when) : FOUND_NS);
        assert_string_equal(keys.revision, looks[i].revision);
        assert_string_equal(keys.training, looks[i].training);
        assert_int_equal(keys.step, looks[i].step);
        assert_string_equal(keys.label, "");
        assert_true(tm_is_night(keys.night));
    }
}

static void templates_say_what_parts_are(void **state)
{
    static const struct {
        const char *template, *path, *job, *night, *revision, *label, *training;
        int64_t step;
        bool fits;
    } cases[] = {
        { "{job}/{night}/{revision}", "llama/2026-11-01/main", "llama", "2026-11-01", "main", "", "", -1, true },
        { "{job}/{night}", "llama/20261101/plugins/profile/2026_11_01_02_00_00", "llama", "2026-11-01", "", "", "", -1,
          true },
        { "{night}/{job}/{job}", "2026-11-01/llama/7b/anything/3f2a91c", "llama/7b", "2026-11-01", "3f2a91c", "", "",
          -1, true },
        { "{}/{job}", "3f2a91c/llama/step_5", "llama", "2026-11-20", "", "", "3f2a91c/llama", 5, true },
        { "{label}/run-{step}", "warm/run-70", "logs", "2026-11-20", "", "warm", "warm", 70, true },
        { "{job}-{night}", "my-job-2026-11-01", "my-job", "2026-11-01", "", "", "", -1, true },
        { "{job}_{revision}_{step}", "a_b_main_7", "a", "2026-11-20", "b_main", "", "", 7, true },
        { "nightly/{job}", "nightly/x/y", "x", "2026-11-20", "", "", "", -1, true },
        { "v{}.{}/{job}", "v1.2/x", "x", "2026-11-20", "", "", "", -1, true },
        { "/{job}/", "x", "x", "2026-11-20", "", "", "", -1, true },
        /* and where they do not fit, the look does */
        { "nightly/{job}", "weekly/x", "weekly/x", "2026-11-20", "", "", "", -1, false },
        { "{job}/{night}", "llama/today", "llama/today", "2026-11-20", "", "", "", -1, false },
        { "{job}/{night}", "llama", "llama", "2026-11-20", "", "", "", -1, false },
        { "{job}/run-{step}", "llama/run-x", "llama/run-x", "2026-11-20", "", "", "", -1, false },
        { "{night}", "2026-11-01x", "2026-11-01x", "2026-11-20", "", "", "", -1, false },
        { "{job}-", "x", "x", "2026-11-20", "", "", "", -1, false },
    };
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct tm_options options = { .keys = cases[i].template };
        struct tm_run_keys keys;

        print_message("%s of %s\n", cases[i].template, cases[i].path);
        assert_int_equal(tm_run_keys_check(&run, &options), TM_OK);
        assert_int_equal(tm_run_keys_read(&keys, "/data/logs", cases[i].path, FOUND_NS, &options), cases[i].fits);
        assert_string_equal(keys.job, cases[i].job);
        assert_string_equal(keys.night, cases[i].night);
        assert_string_equal(keys.revision, cases[i].revision);
        assert_string_equal(keys.label, cases[i].label);
        assert_int_equal(keys.step, cases[i].step);
        if (cases[i].training[0])
            assert_string_equal(keys.training, cases[i].training);
    }
}

static void labels_win(void **state)
{
    const struct tm_options options = {
        .labels = { .text = { "job=j", "night=2026-10-31", "revision=main", "warm run" }, .count = 4 }
    };
    struct tm_run run;
    struct tm_run_keys keys;

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_run_keys_check(&run, &options), TM_OK);
    assert_true(tm_run_keys_read(&keys, "/data/logs", "llama/2026-11-01/3f2a91c/step_4", FOUND_NS, &options));
    assert_string_equal(keys.job, "j");
    assert_string_equal(keys.night, "2026-10-31");
    assert_int_equal(keys.when_ns, time_of("2026-10-31T00:00:00"));
    assert_string_equal(keys.revision, "main");
    assert_string_equal(keys.label, "warm run");
    assert_int_equal(keys.step, 4);
}

static void other_labels_are_kept_by_key(void **state)
{
    const struct tm_options options = { .labels = { .text = { "pool=b\"c", "lr=0.1", "warm" }, .count = 3 } };
    struct tm_run run;
    struct tm_run_keys keys;

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_run_keys_check(&run, &options), TM_OK);
    assert_true(tm_run_keys_read(&keys, "/data/logs", "llama/2026-11-01", FOUND_NS, &options));
    assert_string_equal(keys.labels, "{\"lr\":\"0.1\",\"pool\":\"b\\\"c\"}");
    assert_string_equal(keys.label, "warm");
}

static void a_night_can_start_at_any_local_time(void **state)
{
    static const struct {
        const char *night_of, *path, *night;
    } cases[] = {
        { "06:00", "job/2026_11_20_23_00_00", "2026-11-20" },
        { "06:00", "job/2026_11_21_01_00_00", "2026-11-20" },
        { "06:00", "job/2026_11_21_06_00_00", "2026-11-21" },
        { "Europe/Berlin, 18:00", "job/2026_11_20_16_59_59", "2026-11-19" }, /* UTC + 1 */
        { "Europe/Berlin, 18:00", "job/2026_11_20_17_00_00", "2026-11-20" },
        { "Europe/Berlin, 18:00", "job/2026_07_20_16_00_00", "2026-07-20" }, /* UTC + 2 */
        { "Asia/Tokyo", "job/2026_11_20_15_00_00", "2026-11-21" },
        { "06:00", "job/2026-11-21/2026_11_21_01_00_00", "2026-11-21" }, /* the folder says it */
        { "06:00", "job/2026_03_01_01_00_00", "2026-02-28" },
    };
    static const char *const refused[] = { "25:00", "06:60", "6:00", "Nowhere/Land, 06:00", "../../etc/passwd", "" };
    struct tm_run run;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct tm_options options = { .night_of = cases[i].night_of };
        struct tm_run_keys keys;

        test_run_init(&run);
        assert_int_equal(tm_run_keys_check(&run, &options), TM_OK);
        (void)tm_run_keys_read(&keys, "/data/logs", cases[i].path, FOUND_NS, &options);
        assert_string_equal(keys.night, cases[i].night);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        const struct tm_options options = { .night_of = refused[i] };

        test_run_init(&run);
        assert_int_equal(tm_run_keys_check(&run, &options), TM_ERR_USAGE);
    }
}

static void what_cannot_be_used_is_refused_with_a_hint(void **state)
{
    static const struct {
        const char *keys, *label, *what, *hint;
    } cases[] = {
        { "{jbo}", NULL, "there is no key 'jbo'", "did you mean '{job}'?" },
        { "{nothing at all}", NULL, "there is no key 'nothing at all'", "keys are {job}" },
        { "{job", NULL, "a '{' has no '}'", "describe each folder" },
        { "job}", NULL, "a '}' has no '{'", "describe each folder" },
        { "{job}{night}", NULL, "nothing between two keys", "describe each folder" },
        { "{night}/{night}", NULL, "a key occurs twice", "describe each folder" },
        { "a/b", NULL, "it has no key", "describe each folder" },
        { "{}/{}", NULL, "it has no key", "describe each folder" },
        { "/", NULL, "it has no key", "describe each folder" },
        { "{}.{}.{}.{}.{}.{}.{}.{}.{job}", NULL, "too many keys", "describe each folder" },
        { NULL, "jbo=x", "there is no key 'jbo'", "did you mean 'job=x'?" },
        { NULL, "l r=0.1", "there is no key 'l r'", "label=l r=0.1" },
        { NULL, "job=", "it is empty", "" },
        { NULL, "night=yesterday", "it is not a date", "night=2026-11-21" },
        { NULL, "night=2026-02-30", "it is not a date", "night=2026-11-21" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tm_options options = { .keys = cases[i].keys };
        struct tm_run run;

        if (cases[i].label)
            options.labels = (struct tm_texts){ .text = { cases[i].label }, .count = 1 };
        test_run_init(&run);
        assert_int_equal(tm_run_keys_check(&run, &options), TM_ERR_USAGE);
        assert_non_null(strstr(run.error.what, cases[i].what));
        assert_non_null(strstr(run.error.hint, cases[i].hint));
    }
}

static void long_paths_stay_distinct(void **state)
{
    const struct tm_options options = { .inputs = NULL };
    char path[2][8000];
    struct tm_run_keys keys[2];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        memset(path[i], 'x', sizeof(path[i]));
        path[i][sizeof(path[i]) - 2] = (char)('0' + i);
        path[i][sizeof(path[i]) - 1] = '\0';
        assert_true(tm_run_keys_read(&keys[i], "/data", path[i], FOUND_NS, &options));
        assert_int_equal(strlen(keys[i].job), TM_KEY_BYTES - 1);
    }
    assert_string_not_equal(keys[0].job, keys[1].job);
}

static void what_is_not_shown_stays_distinct(void **state)
{
    static const char *const paths[] = {
        "job",     "job?",    "job\x01", "job\x02", "job\xe2\x80\x8b", "job\xe2\x80\x8c",
        "job\xff", "job\xfe", "Job",     "job ",    "j\xe2\x80\xaeob", "job\xc2\x9b"
    };
    enum { COUNT = sizeof(paths) / sizeof(paths[0]) };
    const struct tm_options options = { .inputs = NULL };
    struct tm_run_keys keys[COUNT];

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(tm_run_keys_read(&keys[i], "/data", paths[i], FOUND_NS, &options));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(keys[i].job, keys[j].job);
    }
    assert_string_equal(keys[0].job, "job");
    assert_string_equal(keys[1].job, "job?");
    assert_memory_equal(keys[2].job, "job?-", 5);
    assert_int_equal(strlen(keys[2].job), 4 + 17);
}

static void times_are_told_apart_from_times_of_copying(void **state)
{
    const struct tm_options options = { .inputs = NULL };
    struct tm_run_keys keys;

    (void)state;
    assert_true(tm_run_keys_read(&keys, "/data", "x", -5, &options)); /* a time before there were times */
    assert_string_equal(keys.night, "1970-01-01");
    assert_true(tm_run_keys_read(&keys, "/data", "x", INT64_MAX, &options));
    assert_true(tm_is_night(keys.night));
    assert_true(tm_run_keys_read(&keys, "/", "", FOUND_NS, &options));
    assert_string_equal(keys.job, "profiles");
    /* the night after a day belongs to it, what comes later does not */
    assert_true(tm_run_keys_read(&keys, "/data", "2026-11-20", time_of("2026-11-21T05:00:00"), &options));
    assert_int_equal(keys.when_ns, time_of("2026-11-21T05:00:00"));
    assert_true(tm_run_keys_read(&keys, "/data", "2026-11-20", time_of("2026-11-22T00:00:00"), &options));
    assert_int_equal(keys.when_ns, time_of("2026-11-20T00:00:00"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_read_by_their_look),
        cmocka_unit_test(templates_say_what_parts_are),
        cmocka_unit_test(labels_win),
        cmocka_unit_test(other_labels_are_kept_by_key),
        cmocka_unit_test(a_night_can_start_at_any_local_time),
        cmocka_unit_test(what_cannot_be_used_is_refused_with_a_hint),
        cmocka_unit_test(long_paths_stay_distinct),
        cmocka_unit_test(what_is_not_shown_stays_distinct),
        cmocka_unit_test(times_are_told_apart_from_times_of_copying),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
