/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/discover.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test_run.h"

static char root[64];

/* Remove what is in a folder, and the folder; links are not followed. */
static void remove_tree(const char *path)
{
    DIR *const dir = opendir(path);
    const struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        char below[4096];

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        assert_true(snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) < (int)sizeof(below));
        if (entry->d_type == DT_DIR) {
            assert_int_equal(chmod(below, 0700), 0);
            remove_tree(below);
        } else {
            assert_int_equal(unlink(below), 0);
        }
    }
    assert_int_equal(closedir(dir), 0);
    assert_int_equal(rmdir(path), 0);
}

static int make_root(void **state)
{
    (void)state;
    (void)snprintf(root, sizeof(root), "/var/tmp/tracemill-discover-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    remove_tree(root);
    return 0;
}

static const char *below_root(const char *path)
{
    static char text[4096];

    (void)snprintf(text, sizeof(text), "%s/%s", root, path);
    return text;
}

/* A file of so many bytes and so many seconds after the epoch, with the folders that it needs. */
static void make_file(const char *path, size_t bytes, time_t seconds)
{
    char whole[4096];
    const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
    int fd;

    (void)snprintf(whole, sizeof(whole), "%s/%s", root, path);
    for (char *slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(whole, 0700);
        *slash = '/';
    }
    fd = open(whole, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    assert_int_equal(futimens(fd, times), 0);
    assert_int_equal(close(fd), 0);
}

static struct tm_run run;
static struct tm_found found;

static void discover(const char *path)
{
    test_run_init(&run);
    if (tm_discover(&run, path, &found) != TM_OK)
        fail_msg("%s", run.error.what);
}

static void forget(void)
{
    tm_found_free(&found);
    tm_found_free(&found);
    assert_ledger_is_even(&run);
}

static void refused(const char *path, tm_status status, const char *words)
{
    test_run_init(&run);
    assert_int_equal(tm_discover(&run, path, &found), status);
    if (!strstr(run.error.what, words))
        fail_msg("'%s' has no '%s'", run.error.what, words);
    assert_true(run.error.hint[0] != '\0');
    forget();
}

static void runs_are_found_at_any_depth(void **state)
{
    (void)state;
    make_file("train/plugins/profile/2026_11_20_20_37_30/b.xplane.pb", 20, 1000);
    make_file("train/plugins/profile/2026_11_20_20_37_30/a.xplane.pb", 10, 1000);
    make_file("train/plugins/profile/2026_11_20_20_37_30/a.trace.json.gz", 5, 3000);
    make_file("ckpt/profiler_traces/vm.xplane.pb.gz", 7, 2000);
    make_file("tensorboard_logs/4gpu_2026/dp_trace/2026_11_21_00_00_00/perfetto_trace.json.gz", 9, 500);
    make_file("tensorboard_logs/4gpu_2026/events.out.tfevents.1", 9, 9000);
    make_file("xplane.pb", 1, 1);
    make_file(".hidden/c.xplane.pb", 1, 1);
    make_file("train/.xplane.pb", 1, 1);
    discover(root);
    assert_int_equal(found.run_count, 3);
    assert_int_equal(found.unreadable, 0);

    assert_string_equal(found.runs[0].name, "profiler_traces"); /* no date: by its newest file */
    assert_int_equal(found.runs[0].files[0].kind, TM_FOUND_XPLANE);
    assert_string_equal(found.runs[0].files[0].host, "vm");

    assert_string_equal(found.runs[1].name, "2026_11_20_20_37_30");
    assert_int_equal(found.runs[1].file_count, 2);
    assert_int_equal(found.runs[1].all_count, 3);
    assert_int_equal(found.runs[1].bytes, 35);
    assert_int_equal(found.runs[1].mtime_ns, 3000 * INT64_C(1000000000));
    assert_string_equal(found.runs[1].files[0].host, "a");
    assert_int_equal(found.runs[1].files[0].bytes, 10);
    assert_string_equal(found.runs[1].files[1].host, "b");
    assert_int_equal(found.runs[1].files[2].kind, TM_FOUND_COPY);

    assert_string_equal(found.runs[2].name, "2026_11_21_00_00_00");
    assert_int_equal(found.runs[2].files[0].kind, TM_FOUND_PERFETTO_JSON);
    assert_int_equal(found.runs[2].file_count, 1);
    forget();
}

static void a_run_folder_and_a_file_are_runs(void **state)
{
    (void)state;
    make_file("2026_01_02_03_04_05/vm.xplane.pb", 10, 1000);
    make_file("loose/host 1.xplane.pb.gz", 10, 1000);
    make_file("loose/.profile", 10, 1000);
    discover(below_root("2026_01_02_03_04_05/"));
    assert_int_equal(found.run_count, 1);
    assert_string_equal(found.runs[0].name, "2026_01_02_03_04_05");
    forget();
    discover(below_root("2026_01_02_03_04_05/vm.xplane.pb"));
    assert_int_equal(found.run_count, 1);
    assert_string_equal(found.runs[0].name, "2026_01_02_03_04_05");
    assert_int_equal(found.runs[0].files[0].kind, TM_FOUND_FILE);
    assert_string_equal(found.runs[0].files[0].host, "vm");
    assert_int_equal(found.runs[0].files[0].bytes, 10);
    forget();
    discover(below_root("loose/host 1.xplane.pb.gz"));
    assert_string_equal(found.runs[0].name, "host 1");
    forget();
    discover(below_root("loose/.profile"));
    assert_string_equal(found.runs[0].files[0].host, ".profile");
    forget();
    discover("-");
    assert_string_equal(found.runs[0].files[0].host, "stdin");
    assert_string_equal(found.runs[0].files[0].path, "-");
    forget();
    assert_int_equal(chdir(below_root("loose")), 0);
    discover("."); /* takes its name from where it is */
    assert_string_equal(found.runs[0].name, "loose");
    forget();
    assert_int_equal(chdir("/"), 0);
}

static void a_compressed_copy_is_not_read_as_well(void **state)
{
    (void)state;
    make_file("run/vm.xplane.pb", 10, 1000);
    make_file("run/vm.xplane.pb.gz", 5, 1000);
    make_file("run/vm.xplane.pb-2.xplane.pb", 5, 1000); /* sorts between them */
    make_file("run/other.xplane.pb.gz", 5, 1000);
    discover(root);
    assert_int_equal(found.runs[0].all_count, 4);
    assert_int_equal(found.runs[0].file_count, 3);
    assert_string_equal(found.runs[0].files[0].host, "other");
    assert_string_equal(found.runs[0].files[1].host, "vm");
    assert_non_null(strstr(found.runs[0].files[1].path, "/run/vm.xplane.pb"));
    assert_int_equal(found.runs[0].files[3].kind, TM_FOUND_COPY);
    assert_non_null(strstr(found.runs[0].files[3].path, "/run/vm.xplane.pb.gz"));
    forget();
}

static void hosts_are_cleaned_and_distinct(void **state)
{
    (void)state;
    make_file("run/a\x01.xplane.pb", 10, 1000);
    make_file("run/a\x02.xplane.pb", 10, 1000);
    make_file("run/a\x03.xplane.pb", 10, 1000);
    make_file("run/a?#2.xplane.pb", 10, 1000);
    discover(root);
    assert_int_equal(found.runs[0].file_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_null(strpbrk(found.runs[0].files[i].host, "\x01\x02\x03"));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(found.runs[0].files[i].host, found.runs[0].files[k].host);
    }
    forget();
}

static void files_of_several_places_get_hosts_of_their_own(void **state)
{
    struct tm_found ranks[3];
    struct tm_found_file *files[3];

    (void)state;
    test_run_init(&run);
    for (int i = 0; i < 3; i++) {
        char path[64];

        (void)snprintf(path, sizeof(path), "rank%d/vm.xplane.pb", i);
        make_file(path, 10, 1000);
        assert_int_equal(tm_discover(&run, below_root(path), &ranks[i]), TM_OK);
        files[i] = &ranks[i].runs[0].files[0];
    }
    assert_int_equal(tm_distinct_hosts(&run, files, 3), TM_OK);
    assert_string_equal(files[0]->host, "vm");
    assert_string_equal(files[1]->host, "vm#2");
    assert_string_equal(files[2]->host, "vm#3");
    for (int i = 0; i < 3; i++)
        tm_found_free(&ranks[i]);
    assert_ledger_is_even(&run);
}

static void long_hosts_stay_distinct(void **state)
{
    char names[3][200];

    (void)state;
    for (int i = 0; i < 3; i++) { /* alike as far as a host goes */
        (void)snprintf(names[i], sizeof(names[i]), "run/%0170d.xplane.pb", 0);
        names[i][160] = (char)('a' + i);
        make_file(names[i], 10, 1000);
    }
    discover(root);
    assert_int_equal(found.runs[0].file_count, 3);
    for (int i = 0; i < 3; i++)
        assert_true(strlen(found.runs[0].files[i].host) <= TM_HOST_MOST);
    assert_string_not_equal(found.runs[0].files[0].host, found.runs[0].files[1].host);
    assert_string_not_equal(found.runs[0].files[1].host, found.runs[0].files[2].host);
    assert_string_not_equal(found.runs[0].files[0].host, found.runs[0].files[2].host);
    forget();
}

static void links_are_followed_once(void **state)
{
    (void)state;
    make_file("logs/2026_01_02_03_04_05/vm.xplane.pb", 10, 1000);
    assert_int_equal(symlink("2026_01_02_03_04_05", below_root("logs/latest")), 0);
    assert_int_equal(symlink("..", below_root("logs/loop")), 0);
    assert_int_equal(symlink("nowhere", below_root("logs/dangling")), 0);
    assert_int_equal(symlink("nowhere", below_root("logs/dangling.xplane.pb")), 0);
    discover(root);
    assert_int_equal(found.run_count, 1);
    assert_string_equal(found.runs[0].name, "2026_01_02_03_04_05");
    assert_int_equal(found.folders, 3);
    forget();
    discover(below_root("logs/latest"));
    assert_string_equal(found.runs[0].name, "latest");
    forget();
}

static void what_is_too_deep_is_counted(void **state)
{
    char path[4096] = "";

    (void)state;
    for (int i = 0; i < TM_DISCOVER_DEPTH_MOST; i++)
        strcat(path, "d/");
    strcat(path, "vm.xplane.pb");
    make_file(path, 10, 1000);
    discover(root);
    assert_int_equal(found.run_count, 1);
    assert_int_equal(found.too_deep, 0);
    forget();
    remove_tree(root);
    assert_int_equal(mkdir(root, 0700), 0);
    memmove(path + 2, path, strlen(path) + 1);
    make_file(path, 10, 1000);
    refused(root, TM_ERR_INPUT, "1 lie too deep");
}

static void a_folder_without_a_profile_says_what_was_searched(void **state)
{
    (void)state;
    make_file("a/b/events.out.tfevents.1", 10, 1000);
    refused(root, TM_ERR_INPUT, "looked for *.xplane.pb");
    refused(root, TM_ERR_INPUT, "in 3 folders");
    refused(below_root("a/b"), TM_ERR_INPUT, "in 1 folder");
    refused(below_root("missing"), TM_ERR_INPUT, "No such file");
    if (geteuid() != 0) { /* root may read everything */
        assert_int_equal(chmod(below_root("a/b"), 0), 0);
        refused(root, TM_ERR_INPUT, "1 could not be read");
        refused(below_root("a/b"), TM_ERR_INPUT, "Permission denied");
    }
}

static void runs_of_one_name_are_called_by_their_path(void **state)
{
    const struct tm_found_run *chosen;

    (void)state;
    make_file("train/plugins/profile/2026_01_02_03_04_05/vm.xplane.pb", 10, 1000);
    make_file("eval/plugins/profile/2026_01_02_03_04_05/vm.xplane.pb", 10, 1000);
    make_file("eval/plugins/profile/2026_01_02_03_04_06/vm.xplane.pb", 10, 1000);
    discover(root);
    assert_int_equal(found.run_count, 3);
    assert_string_equal(found.runs[0].name, "eval/plugins/profile/2026_01_02_03_04_05");
    assert_string_equal(found.runs[1].name, "train/plugins/profile/2026_01_02_03_04_05");
    assert_string_equal(found.runs[2].name, "2026_01_02_03_04_06");
    assert_int_equal(tm_choose_run(&run, &found, "2026_01_02_03_04_05", false, &chosen), TM_ERR_USAGE);
    assert_non_null(strstr(run.error.what, "2 runs are called '2026_01_02_03_04_05'"));
    forget();
}

static void the_latest_run_is_chosen_by_date_then_by_time(void **state)
{
    const struct tm_found_run *chosen;

    (void)state;
    make_file("p/2026_01_02_03_04_05/vm.xplane.pb", 10, 5000);
    make_file("p/2026_01_02_03_04_06/vm.xplane.pb", 10, 1000);
    discover(root);
    assert_int_equal(tm_choose_run(&run, &found, NULL, true, &chosen), TM_OK);
    assert_string_equal(chosen->name, "2026_01_02_03_04_06");
    forget();
    make_file("p/other/vm.xplane.pb", 10, 2000000000); /* in 2033 */
    make_file("p/2026_13_02_03_04_06/vm.xplane.pb", 10, 1000); /* no date */
    discover(root);
    assert_string_equal(found.runs[0].name, "2026_13_02_03_04_06");
    assert_int_equal(tm_choose_run(&run, &found, NULL, true, &chosen), TM_OK);
    assert_string_equal(chosen->name, "other");
    forget();
}

static void several_runs_need_a_choice(void **state)
{
    const struct tm_found_run *chosen;
    char path[64];

    (void)state;
    for (int i = 0; i < 25; i++) {
        (void)snprintf(path, sizeof(path), "p/2026_01_02_03_04_%02d/vm.xplane.pb", i);
        make_file(path, 10, 1000);
    }
    discover(root);
    assert_int_equal(tm_choose_run(&run, &found, NULL, false, &chosen), TM_ERR_USAGE);
    assert_null(chosen);
    assert_non_null(strstr(run.error.what, "there are 25 runs, and one is needed: 2026_01_02_03_04_24, "));
    assert_non_null(strstr(run.error.what, " more"));
    assert_non_null(strstr(run.error.hint, "--latest"));
    assert_non_null(strstr(run.error.hint, "--run"));
    memset(&run.error, 0, sizeof(run.error));
    assert_int_equal(tm_choose_run(&run, &found, "2026_01_02_03_04_07/", false, &chosen), TM_OK);
    assert_string_equal(chosen->name, "2026_01_02_03_04_07");
    assert_int_equal(tm_choose_run(&run, &found, below_root("p/2026_01_02_03_04_08"), true, &chosen), TM_OK);
    assert_string_equal(chosen->name, "2026_01_02_03_04_08");
    assert_int_equal(tm_choose_run(&run, &found, "nightly", true, &chosen), TM_ERR_USAGE);
    assert_non_null(strstr(run.error.what, "no run is called 'nightly'; there are: "));
    forget();
}

static void several_inputs_make_one_list(void **state)
{
    char *inputs[3] = { 0 };

    (void)state;
    make_file("a/2026_01_02_03_04_05/vm.xplane.pb", 10, 1000);
    make_file("b/2026_01_02_03_04_05/vm.xplane.pb", 10, 1000);
    make_file("b/2026_01_01_00_00_00/vm.xplane.pb", 10, 1000);
    inputs[0] = strdup(below_root("a"));
    inputs[1] = strdup(below_root("b"));
    inputs[2] = strdup(below_root("missing"));
    test_run_init(&run);
    assert_int_equal(tm_discover_all(&run, inputs, 2, tm_discover, &found), TM_OK);
    assert_int_equal(found.run_count, 3);
    assert_string_equal(found.runs[0].name, "2026_01_01_00_00_00");
    assert_string_equal(found.runs[1].name, below_root("a/2026_01_02_03_04_05"));
    assert_string_equal(found.runs[2].name, below_root("b/2026_01_02_03_04_05"));
    forget();
    assert_int_equal(tm_discover_all(&run, inputs, 3, tm_discover, &found), TM_ERR_INPUT);
    forget();
    for (int i = 0; i < 3; i++)
        free(inputs[i]);
}

static void more_than_the_share_is_a_limit(void **state)
{
    char path[64];

    (void)state;
    for (int i = 0; i < 400; i++) {
        (void)snprintf(path, sizeof(path), "p/%d/vm.xplane.pb", i);
        make_file(path, 10, 1000);
    }
    test_run_init(&run);
    run.budget.limit_bytes = 100 * 4096;
    assert_int_equal(tm_discover(&run, root, &found), TM_ERR_LIMIT);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_MODEL] <
                2 * tm_budget_share(&run.budget, TM_ACCOUNT_MODEL) + 4096);
    forget();
}

static tm_status discover_once(struct tm_run *one)
{
    struct tm_found all;
    const tm_status st = tm_discover(one, root, &all);

    tm_found_free(&all);
    return st;
}

static void refused_memory_is_a_clean_error(void **state)
{
    (void)state;
    make_file("p/2026_01_02_03_04_05/vm.xplane.pb", 10, 1000);
    make_file("q/2026_01_02_03_04_05/a\x01.xplane.pb", 10, 1000);
    make_file("q/2026_01_02_03_04_05/a\x02.xplane.pb", 10, 1000);
    refuse_each_request(discover_once);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_a_folder(runs_are_found_at_any_depth),
        in_a_folder(a_run_folder_and_a_file_are_runs),
        in_a_folder(a_compressed_copy_is_not_read_as_well),
        in_a_folder(hosts_are_cleaned_and_distinct),
        in_a_folder(files_of_several_places_get_hosts_of_their_own),
        in_a_folder(long_hosts_stay_distinct),
        in_a_folder(links_are_followed_once),
        in_a_folder(what_is_too_deep_is_counted),
        in_a_folder(a_folder_without_a_profile_says_what_was_searched),
        in_a_folder(runs_of_one_name_are_called_by_their_path),
        in_a_folder(the_latest_run_is_chosen_by_date_then_by_time),
        in_a_folder(several_runs_need_a_choice),
        in_a_folder(several_inputs_make_one_list),
        in_a_folder(more_than_the_share_is_a_limit),
        in_a_folder(refused_memory_is_a_clean_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
