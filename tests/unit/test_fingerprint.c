/* SPDX-License-Identifier: Apache-2.0 */
/* What makes work be done again: another file, other options; and what does not. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "pipeline/files.h"
#include "pipeline/nightly/manifest.h"
#include "tests/support/test_folder.h"

static const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

/* A file of so many bytes, of which one is another, at a time of its own. */
static void put_file(size_t bytes, size_t other_at, time_t seconds)
{
    const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
    const int fd = open(path_of("f"), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    if (other_at < bytes)
        assert_int_equal(pwrite(fd, "x", 1, (off_t)other_at), 1);
    assert_int_equal(futimens(fd, times), 0);
    assert_int_equal(close(fd), 0);
}

static void files_differ_by_size_time_and_both_ends(void **state)
{
    static const struct {
        size_t bytes, other_at;
        time_t seconds;
        bool same; /* as the first */
    } cases[] = {
        { 1 << 20, SIZE_MAX, 5, true },
        { 1 << 20, SIZE_MAX, 6, false },
        { (1 << 20) + 1, SIZE_MAX, 5, false },
        { 1 << 20, 0, 5, false },
        { 1 << 20, (64 << 10) - 1, 5, false },
        { 1 << 20, 64 << 10, 5, true }, /* amid: its time would tell */
        { 1 << 20, (1 << 20) - 1, 5, false },
        { 1 << 20, (1 << 20) - (64 << 10), 5, false },
        { 0, SIZE_MAX, 5, false },
    };
    char first[TM_FINGERPRINT_BYTES] = "", other[TM_FINGERPRINT_BYTES];
    struct tm_run run;
    uint64_t bytes;
    int64_t mtime_ns;

    (void)state;
    test_run_init(&run);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put_file(cases[i].bytes, cases[i].other_at, cases[i].seconds);
        assert_int_equal(tm_file_fingerprint(&run, path_of("f"), &bytes, &mtime_ns, other), TM_OK);
        assert_int_equal(bytes, cases[i].bytes);
        assert_int_equal(mtime_ns, (int64_t)cases[i].seconds * 1000000000);
        assert_int_equal(strspn(other, "0123456789abcdef"), 16);
        if (i == 0)
            memcpy(first, other, sizeof(first));
        assert_int_equal(strcmp(first, other) == 0, cases[i].same);
    }
    assert_int_equal(tm_file_fingerprint(&run, path_of("none"), &bytes, &mtime_ns, other), TM_ERR_INPUT);
    test_run_init(&run);
    assert_int_equal(tm_file_fingerprint(&run, folder, &bytes, &mtime_ns, other), TM_ERR_INPUT);
}

static void a_time_that_64_bits_do_not_hold_is_the_last_one(void **state)
{
    const struct stat cases[] = {
        { .st_mtim = { 9223372036, 854775807 } },
        { .st_mtim = { 9223372036, 854775808 } },
        { .st_mtim = { 1LL << 62, 5 } },
        { .st_mtim = { -(1LL << 62), 5 } },
        { .st_mtim = { -1, 5 } },
    };
    const int64_t ns[] = { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MIN, -999999995 };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(tm_file_time_ns(&cases[i]), ns[i]);
}

/* --- options --- */

/* Options of a batch that are nothing of one report: where and how it is worked, and what is made of all of them. */
static const enum tm_option_index without[] = {
    TM_OPTION_OUTPUT,     TM_OPTION_GATE,          TM_OPTION_BASELINE,     TM_OPTION_JUNIT,
    TM_OPTION_MARKDOWN,   TM_OPTION_MANIFEST,      TM_OPTION_JOBS,         TM_OPTION_SHARD,
    TM_OPTION_ITEM,       TM_OPTION_LEASE,         TM_OPTION_ITEM_TIMEOUT, TM_OPTION_RETRY,
    TM_OPTION_KEYS,       TM_OPTION_LABEL,         TM_OPTION_OPENMETRICS,  TM_OPTION_SLURM,
    TM_OPTION_KUBERNETES, TM_OPTION_IMAGE,         TM_OPTION_MOUNT,        TM_OPTION_TASKS,
    TM_OPTION_SBATCH,     TM_OPTION_DRY_RUN,       TM_OPTION_KEEP,         TM_OPTION_FORCE,
    TM_OPTION_JSON,       TM_OPTION_MEMORY,        TM_OPTION_TMP,          TM_OPTION_STATS,
    TM_OPTION_QUIET,      TM_OPTION_COLOR,         TM_OPTION_CONFIG,       TM_OPTION_VERSION,
    TM_OPTION_HELP,       TM_OPTION_RAISE_LIMITS,  TM_OPTION_FOLLOW_LINKS, TM_OPTION_FAIL_ON_REGRESSION,
    TM_OPTION_NIGHT_OF,   TM_OPTION_SERIES_BY,     TM_OPTION_CONFIRM,      TM_OPTION_FETCH,
    TM_OPTION_LISTING,    TM_OPTION_FETCH_TIMEOUT, TM_OPTION_STORE,        TM_OPTION_MIRROR,
    TM_OPTION_REMOVE,
};

/* Another value for each of the others. */
static const struct {
    enum tm_option_index index;
    const char *text;
} with[] = {
    { TM_OPTION_FORMAT, "json" },  { TM_OPTION_NOTE, "n" },         { TM_OPTION_PAPER, "letter" },
    { TM_OPTION_STEPS, "all" },    { TM_OPTION_STEPS, "1:" },       { TM_OPTION_STEPS, "1:5" },
    { TM_OPTION_SKIP_STEPS, "3" }, { TM_OPTION_WINDOW, "session" }, { TM_OPTION_GAP_MIN, "11us" },
    { TM_OPTION_ROWS, "20" },      { TM_OPTION_STRICT, "yes" },     { TM_OPTION_THRESHOLDS, "/dev/null" },
};

static const char *fingerprint_of(const struct tm_options *options)
{
    static char text[TM_FINGERPRINT_BYTES];
    struct tm_run run;

    test_run_init(&run);
    assert_int_equal(tm_options_fingerprint(&run, options, text), TM_OK);
    return text;
}

static void set_option(struct tm_options *options, enum tm_option_index index, const char *text)
{
    struct tm_error error = { .status = TM_OK };

    assert_int_equal(tm_option_read(&tm_option_table[index], text, "it", options, &error), TM_OK);
}

static void set_defaults(struct tm_options *options)
{
    *options = (struct tm_options){ .inputs = NULL };
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        if (tm_option_table[i].fallback)
            set_option(options, (enum tm_option_index)i, tm_option_table[i].fallback);
    }
}

static void options_of_a_report_count_and_others_do_not(void **state)
{
    struct tm_options options;
    char usual[TM_FINGERPRINT_BYTES];

    (void)state;
    set_defaults(&options);
    memcpy(usual, fingerprint_of(&options), sizeof(usual));
    for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
        set_defaults(&options);
        set_option(&options, with[i].index, with[i].text);
        print_message("--%s %s\n", tm_option_table[with[i].index].name, with[i].text);
        assert_string_not_equal(fingerprint_of(&options), usual);
    }
    set_defaults(&options);
    options.output = options.manifest = options.keys = options.junit = options.tmp = "x";
    options.memory_bytes *= 2;
    options.jobs = 9;
    options.quiet = options.force = options.retry = options.stats = true;
    assert_string_equal(fingerprint_of(&options), usual);
}

static void every_option_of_a_batch_is_one_or_the_other(void **state)
{
    const tm_verb_bits batch =
        TM_FOR_BATCH | TM_FOR_BATCH_SCAN | TM_FOR_BATCH_RUN | TM_FOR_BATCH_MERGE | TM_FOR_BATCH_SUBMIT;

    (void)state;
    for (size_t i = 0; i < TM_OPTION_COUNT; i++) {
        bool is_with = false, is_without = false;

        for (size_t k = 0; k < sizeof(with) / sizeof(with[0]); k++)
            is_with |= with[k].index == i;
        for (size_t k = 0; k < sizeof(without) / sizeof(without[0]); k++)
            is_without |= without[k] == i;
        if (tm_option_table[i].verbs & batch & ~TM_FOR_BATCH_SCAN)
            print_message("--%s\n", tm_option_table[i].name);
        assert_false(is_with && is_without);
        if (tm_option_table[i].verbs & batch)
            assert_true(is_with || is_without);
    }
}

static void thresholds_count_by_their_content(void **state)
{
    struct tm_options options;
    char before[TM_FINGERPRINT_BYTES];
    struct tm_run run;

    (void)state;
    set_defaults(&options);
    options.thresholds = path_of("f");
    put_file(100 << 10, 5, 5);
    memcpy(before, fingerprint_of(&options), sizeof(before));
    put_file(100 << 10, 5, 6);
    assert_string_equal(fingerprint_of(&options), before);
    put_file(100 << 10, 50 << 10, 6);
    assert_string_not_equal(fingerprint_of(&options), before);
    options.thresholds = "/nowhere";
    test_run_init(&run);
    assert_int_equal(tm_options_fingerprint(&run, &options, before), TM_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_that_64_bits_do_not_hold_is_the_last_one),
        cmocka_unit_test_setup_teardown(files_differ_by_size_time_and_both_ends, make_folder, remove_folder),
        cmocka_unit_test(options_of_a_report_count_and_others_do_not),
        cmocka_unit_test(every_option_of_a_batch_is_one_or_the_other),
        cmocka_unit_test_setup_teardown(thresholds_count_by_their_content, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
