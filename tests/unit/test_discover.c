/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/discover.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test_run.h"

static char root[64];

/* By names alone. */
static tm_status by_names(struct tm_run *run, const char *input, struct tm_found *found)
{
    return tm_discover(run, input, NULL, found);
}

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
    if (by_names(&run, path, &found) != TM_OK)
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
    assert_int_equal(by_names(&run, path, &found), status);
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
        assert_int_equal(by_names(&run, below_root(path), &ranks[i]), TM_OK);
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
    refused(root, TM_ERR_INPUT, "1 are too deep");
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
    make_file("p/other/vm.xplane.pb", 10, 2000000000);         /* in 2033 */
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
    assert_non_null(strstr(run.error.what, "25 runs found: 2026_01_02_03_04_24 "));
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
    assert_int_equal(tm_discover_all(&run, inputs, 2, by_names, &found), TM_OK);
    assert_int_equal(found.run_count, 3);
    assert_string_equal(found.runs[0].name, "2026_01_01_00_00_00");
    assert_string_equal(found.runs[1].name, below_root("a/2026_01_02_03_04_05"));
    assert_string_equal(found.runs[2].name, below_root("b/2026_01_02_03_04_05"));
    forget();
    assert_int_equal(tm_discover_all(&run, inputs, 3, by_names, &found), TM_ERR_INPUT);
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
    assert_int_equal(by_names(&run, root, &found), TM_ERR_LIMIT);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_MODEL] < 2 * tm_budget_share(&run.budget, TM_ACCOUNT_MODEL) + 4096);
    forget();
}

/* ---- which files of a run are read ---- */

static const struct tm_found_file *file_called(const char *name)
{
    const struct tm_found_run *const r = &found.runs[0];

    for (size_t i = 0; i < r->all_count; i++) {
        size_t length;

        if (strcmp(tm_last_part(r->files[i].member ? r->files[i].member : r->files[i].path, &length), name) == 0)
            return &r->files[i];
    }
    fail_msg("no file '%s'", name);
    return NULL;
}

static void assert_read(const char *name, const char *host, enum tm_found_kind kind)
{
    const struct tm_found_file *const file = file_called(name);

    assert_int_equal(file->kind, kind);
    assert_string_equal(file->host, host);
    assert_true((size_t)(file - found.runs[0].files) < found.runs[0].file_count);
}

static void assert_copy(const char *name)
{
    const struct tm_found_file *const file = file_called(name);

    assert_int_equal(file->kind, TM_FOUND_COPY);
    assert_true((size_t)(file - found.runs[0].files) >= found.runs[0].file_count);
}

static void of_each_host_the_best_file_is_read(void **state)
{
    (void)state;
    make_file("run/a.trace.json.gz", 10, 1000);
    make_file("run/a.xplane.pb.zst", 10, 1000);
    make_file("run/b.trace.json", 10, 1000);
    make_file("run/b.trace.json.gz", 10, 1000);
    make_file("run/b.trace.json.zst", 10, 1000);
    make_file("run/c.xplane.pb", 10, 1000);
    make_file("run/perfetto_trace.json.gz", 10, 1000);
    discover(root);
    assert_int_equal(found.runs[0].file_count, 3);
    assert_int_equal(found.runs[0].all_count, 7);
    assert_read("a.xplane.pb.zst", "a", TM_FOUND_XPLANE);
    assert_read("b.trace.json", "b", TM_FOUND_TRACE_JSON);
    assert_read("c.xplane.pb", "c", TM_FOUND_XPLANE);
    assert_copy("a.trace.json.gz");
    assert_copy("b.trace.json.gz");
    assert_copy("b.trace.json.zst");
    assert_copy("perfetto_trace.json.gz");
    forget();
}

static void the_perfetto_json_is_read_where_it_is_alone(void **state)
{
    (void)state;
    make_file("run/perfetto_trace.json.gz", 10, 1000);
    make_file("run/perfetto_trace.json.zst", 10, 1000);
    discover(root);
    assert_int_equal(found.runs[0].file_count, 1);
    assert_read("perfetto_trace.json.gz", "perfetto_trace", TM_FOUND_PERFETTO_JSON);
    assert_copy("perfetto_trace.json.zst");
    forget();
    make_file("run/vm.trace.json.gz", 10, 1000); /* the same data, as JAX wrote it first */
    discover(root);
    assert_int_equal(found.runs[0].file_count, 1);
    assert_read("vm.trace.json.gz", "vm", TM_FOUND_TRACE_JSON);
    assert_copy("perfetto_trace.json.gz");
    forget();
}

static void files_of_pytorch_are_the_ranks_of_a_run(void **state)
{
    (void)state;
    make_file("log/worker0.1623143566756.pt.trace.json.gz", 10, 1000);
    make_file("log/worker0.1623143999999.pt.trace.json.gz", 10, 1000); /* a second cycle */
    make_file("log/worker1.1623143566999.pt.trace.json", 10, 1000);
    make_file("log/worker1.1623143566999.pt.trace.json.gz", 10, 1000);
    make_file("log/vm_1234.pt.trace.json", 10, 1000);
    make_file("log/77.pt.trace.json", 10, 1000);
    discover(root);
    assert_int_equal(found.run_count, 1);
    assert_string_equal(found.runs[0].name, "log");
    assert_int_equal(found.runs[0].file_count, 5);
    assert_read("worker0.1623143566756.pt.trace.json.gz", "worker0", TM_FOUND_TRACE_JSON);
    assert_read("worker0.1623143999999.pt.trace.json.gz", "worker0#4", TM_FOUND_TRACE_JSON);
    assert_read("worker1.1623143566999.pt.trace.json", "worker1", TM_FOUND_TRACE_JSON);
    assert_read("vm_1234.pt.trace.json", "vm_1234", TM_FOUND_TRACE_JSON);
    assert_read("77.pt.trace.json", "77", TM_FOUND_TRACE_JSON);
    assert_copy("worker1.1623143566999.pt.trace.json.gz");
    forget();
    discover(below_root("log/worker1.1623143566999.pt.trace.json.gz"));
    assert_string_equal(found.runs[0].files[0].host, "worker1");
    forget();
}

/* ---- names that content decides of ---- */

static tm_status sniff_path(struct tm_run *one, const char *path, enum tm_sniffed *sniffed)
{
    if (strstr(path, "locked"))
        return tm_fail(&one->error, TM_ERR_INPUT, -1, "it is locked");
    *sniffed = strstr(path, "rank")    ? TM_SNIFFED_TRACE_JSON
               : strstr(path, "space") ? TM_SNIFFED_XSPACE
                                       : TM_SNIFFED_OTHER;
    return TM_OK;
}

static void files_of_plain_names_are_told_by_content(void **state)
{
    (void)state;
    make_file("plain/a/rank0.json", 9, 1000);
    make_file("plain/a/rank1.json.gz", 9, 1000);
    make_file("plain/a/rank1.json", 9, 1000);
    make_file("plain/a/config.json", 9, 1000);
    make_file("plain/a/rank2.txt", 9, 1000);
    make_file("plain/b/space.pb.zst", 9, 2000);
    make_file("plain/b/rank0.json", 9, 2000);
    make_file("plain/b/locked.pb", 9, 2000);
    make_file("plain/c/vm.trace.json", 9, 3000);
    make_file("plain/c/rank5.json", 9, 3000);
    discover(below_root("plain")); /* by names alone */
    assert_int_equal(found.run_count, 1);
    forget();
    test_run_init(&run);
    assert_int_equal(tm_discover(&run, below_root("plain"), sniff_path, &found), TM_OK);
    assert_int_equal(found.run_count, 3);
    assert_int_equal(found.runs[0].file_count, 2);
    assert_int_equal(found.runs[0].all_count, 3);
    assert_read("rank0.json", "rank0", TM_FOUND_TRACE_JSON);
    assert_read("rank1.json", "rank1", TM_FOUND_TRACE_JSON);
    assert_copy("rank1.json.gz");
    assert_int_equal(found.runs[1].file_count, 1);
    assert_string_equal(found.runs[1].files[0].host, "space");
    assert_int_equal(found.runs[1].files[0].kind, TM_FOUND_XPLANE);
    assert_int_equal(found.runs[2].file_count, 2);
    assert_int_equal(found.left_out.not_traces, 1);
    assert_int_equal(found.unreadable, 1);
    forget();
}

/* ---- members of archives ---- */

/* Names; NULL = the end; a folder begins with '>', a device with '|'; "a -> b" is a symbolic link, "a => b" a hard one. */
static const char *members[64];
static unsigned listings;
static const char *members_problem; /* NULL = none */

/* What is called so is a trace. */
static tm_status sniff_member(const struct tm_member *member, enum tm_sniffed *sniffed)
{
    struct tm_run *const one = member->of;

    *sniffed = strstr(member->name, "rank")    ? TM_SNIFFED_TRACE_JSON
               : strstr(member->name, "space") ? TM_SNIFFED_XSPACE
                                               : TM_SNIFFED_OTHER;
    return strstr(member->name, "locked") ? tm_fail(&one->error, TM_ERR_INPUT, -1, "it is locked") : TM_OK;
}

static tm_status give_member(struct tm_run *one, size_t i, tm_take_member *take, void *to)
{
    const char *const text = members[i], *arrow = strstr(text, " -> ");
    const bool is_hard = !arrow && strstr(text, " => "), is_bare = text[0] != '>' && text[0] != '|';
    char name[256];
    struct tm_member m = { .name = name,
                           .position = i + 1,
                           .bytes = 10 + i,
                           .mtime_ns = 1000 + (int64_t)i,
                           .is_special = text[0] == '|',
                           .is_hard = is_hard,
                           .sniff = sniff_member,
                           .of = one };

    arrow = is_hard ? strstr(text, " => ") : arrow;
    (void)snprintf(name, sizeof(name), "%.*s", arrow ? (int)(arrow - text) : (int)strlen(text) - !is_bare,
                   text + !is_bare);
    m.link = arrow ? arrow + 4 : NULL;
    m.is_regular = is_bare && !arrow;
    return take(to, &m);
}

static tm_status list_members(struct tm_run *one, const char *path, tm_take_member *take, void *to,
                              struct tm_listing *listing)
{
    tm_status st = TM_OK;

    (void)path;
    listings++;
    *listing = (struct tm_listing){ .unnamed = 2 };
    for (size_t i = 0; members[i] && st == TM_OK; i++) {
        listing->members++;
        st = give_member(one, i, take, to);
    }
    if (members_problem)
        (void)snprintf(listing->problem, sizeof(listing->problem), "%s", members_problem);
    return st;
}

/* in: names  ended by NULL */
static tm_status discover_in(const char *const *names)
{
    size_t i = 0;

    for (; names[i]; i++)
        members[i] = names[i];
    members[i] = NULL;
    listings = 0;
    test_run_init(&run);
    return tm_discover_members(&run, "dir/logs.tar.gz", list_members, &found);
}

#define discovered(...) assert_int_equal(discover_in((const char *const[]){ __VA_ARGS__, NULL }), TM_OK)

static void runs_are_found_in_an_archive(void **state)
{
    char name[TM_FOUND_NAME_BYTES];

    (void)state;
    discovered("./logs/plugins/profile/2026_11_20_20_37_30/b.xplane.pb", ">./logs/plugins/", "./logs/notes.txt",
               "./logs/plugins/profile/2026_11_20_20_37_31/a.xplane.pb",
               "./logs/plugins/profile/2026_11_20_20_37_30/a.xplane.pb",
               "./logs/plugins/profile/2026_11_20_20_37_30/a.trace.json.gz", "top.xplane.pb",
               "./logs/plugins/profile/2026_11_20_20_37_30/.a.xplane.pb", "__MACOSX/._vm.xplane.pb",
               ".hidden/run/a.xplane.pb", ">logs/link/a.xplane.pb");
    assert_int_equal(found.run_count, 3);
    assert_int_equal(found.unnamed, 2);
    assert_int_equal(found.damaged, 0);
    assert_string_equal(found.runs[0].name, "logs"); /* what lies beside the folders */
    assert_string_equal(found.runs[0].folder, "dir/logs.tar.gz");
    assert_string_equal(found.runs[1].name, "2026_11_20_20_37_30");
    assert_string_equal(found.runs[1].folder, "dir/logs.tar.gz/logs/plugins/profile/2026_11_20_20_37_30");
    assert_int_equal(found.runs[1].file_count, 2);
    assert_int_equal(found.runs[1].all_count, 3);
    assert_string_equal(found.runs[1].files[1].host, "b");
    assert_string_equal(found.runs[1].files[1].path, "dir/logs.tar.gz");
    assert_string_equal(found.runs[1].files[1].member, "./logs/plugins/profile/2026_11_20_20_37_30/b.xplane.pb");
    assert_string_equal(tm_found_name(&found.runs[1].files[1], name),
                        "dir/logs.tar.gz/logs/plugins/profile/2026_11_20_20_37_30/b.xplane.pb");
    assert_int_equal(found.runs[1].files[1].position, 1);
    assert_int_equal(found.runs[1].files[0].position, 5);
    assert_int_equal(found.runs[1].files[0].bytes, 14);
    assert_null(found.runs[1].files[0].problem);
    assert_int_equal(found.runs[1].mtime_ns, 1005);
    forget();
}

static void in_an_archive_the_last_of_a_name_counts(void **state)
{
    (void)state;
    discovered("run/a.xplane.pb", "run/b/c.xplane.pb", "./run/a.xplane.pb", "run/b.xplane.pb", "/run/a.xplane.pb");
    assert_int_equal(found.run_count, 2);
    assert_string_equal(found.runs[1].name, "run");
    assert_int_equal(found.runs[1].all_count, 2);
    assert_int_equal(found.runs[1].files[0].position, 5);
    forget();
}

static void names_that_lead_out_of_an_archive_stay_names(void **state)
{
    char name[TM_FOUND_NAME_BYTES];

    (void)state;
    discovered("../../etc/a.xplane.pb", "/etc/b.xplane.pb");
    assert_int_equal(found.run_count, 2);
    assert_string_equal(tm_found_name(&found.runs[0].files[0], name), "dir/logs.tar.gz/../../etc/a.xplane.pb");
    assert_string_equal(tm_found_name(&found.runs[1].files[0], name), "dir/logs.tar.gz/etc/b.xplane.pb");
    forget();
}

static void an_archive_of_one_file_is_that_file(void **state)
{
    (void)state;
    discovered("vm.xplane.pb");
    assert_int_equal(found.runs[0].files[0].kind, TM_FOUND_FILE);
    assert_string_equal(found.runs[0].name, "vm");
    assert_string_equal(found.runs[0].files[0].member, "vm.xplane.pb");
    forget();
    discovered(">out/", "out/trace.json", "./out/trace.json"); /* put in twice */
    assert_int_equal(found.run_count, 1);
    assert_int_equal(found.runs[0].files[0].kind, TM_FOUND_FILE);
    assert_string_equal(found.runs[0].files[0].host, "trace");
    assert_int_equal(found.runs[0].files[0].position, 3);
    forget();
    discovered("out/2026_01_02_03_04_05/odd.pb");
    assert_string_equal(found.runs[0].name, "2026_01_02_03_04_05");
    forget();
    discovered("run/vm.xplane.pb"); /* a run folder */
    assert_int_equal(found.runs[0].files[0].kind, TM_FOUND_XPLANE);
    assert_string_equal(found.runs[0].name, "run");
    forget();
}

/* The run of that name has one file, which is read from that member. */
static void assert_target(const char *run_name, const char *member, const char *target, uint64_t position)
{
    for (size_t i = 0; i < found.run_count; i++) {
        const struct tm_found_file *const file = &found.runs[i].files[0];

        if (strcmp(found.runs[i].name, run_name) != 0)
            continue;
        assert_int_equal(found.runs[i].all_count, 1);
        assert_string_equal(file->member, member);
        assert_string_equal(file->target ? file->target : file->member, target);
        assert_int_equal(file->position, position);
        assert_int_equal(file->bytes, 9 + position);
        return;
    }
    fail_msg("no run %s", run_name);
}

static void hard_links_are_what_they_lead_to(void **state)
{
    (void)state;
    discovered("a/vm.xplane.pb", "b/vm.xplane.pb => a/vm.xplane.pb", "c/vm.xplane.pb => ./a/vm.xplane.pb",
               "d/vm.xplane.pb => b/vm.xplane.pb", "e/vm.xplane.pb => blobs/1", "blobs/1", "f/vm.xplane.pb => gone",
               "g/vm.xplane.pb => ../../etc/vm.xplane.pb");
    assert_int_equal(found.run_count, 5);
    assert_target("a", "a/vm.xplane.pb", "a/vm.xplane.pb", 1);
    assert_target("b", "b/vm.xplane.pb", "a/vm.xplane.pb", 1);
    assert_target("c", "c/vm.xplane.pb", "a/vm.xplane.pb", 1);
    assert_target("d", "d/vm.xplane.pb", "a/vm.xplane.pb", 1);
    assert_target("e", "e/vm.xplane.pb", "blobs/1", 6);
    assert_int_equal(found.left_out.lost_links, 2);
    forget();
    discovered("a/vm.xplane.pb", "b/vm.xplane.pb => a/vm.xplane.pb");
    assert_int_equal(found.run_count, 2);
    assert_int_equal(listings, 1); /* what is known already is not looked for */
    forget();
    /* an older content of the name: the link was put in when that was the content */
    discovered("a/vm.xplane.pb", "b/vm.xplane.pb => a/vm.xplane.pb", "a/vm.xplane.pb",
               "d/vm.xplane.pb -> ../a/vm.xplane.pb", "x/1", "c/vm.xplane.pb => x/1", "x/1");
    assert_target("b", "b/vm.xplane.pb", "a/vm.xplane.pb", 1);
    assert_target("c", "c/vm.xplane.pb", "x/1", 5);
    assert_target("d", "d/vm.xplane.pb", "a/vm.xplane.pb", 3);
    assert_int_equal(found.left_out.replaced, 1);
    forget();
}

static void symbolic_links_are_followed_inside_an_archive(void **state)
{
    (void)state;
    discovered(
        "top/a/vm.xplane.pb", "top/b/vm.xplane.pb -> ../a/vm.xplane.pb", "top/c/vm.xplane.pb -> .././a//vm.xplane.pb",
        "top/d/vm.xplane.pb -> /top/a/vm.xplane.pb", "top/e/vm.xplane.pb -> ../../../top/a/vm.xplane.pb",
        "top/f/vm.xplane.pb -> ../b/vm.xplane.pb", "top/g/vm.xplane.pb -> ../way/vm.xplane.pb", "top/way -> other",
        "top/other -> a", "top/h/vm.xplane.pb -> vm.xplane.pb", "top/i/vm.xplane.pb -> ../j/vm.xplane.pb",
        "top/j/vm.xplane.pb -> ../i/vm.xplane.pb", "top/k/vm.xplane.pb -> ../way", "top/l -> /data/l", "top/m -> n");
    assert_int_equal(found.run_count, 5);
    assert_target("a", "top/a/vm.xplane.pb", "top/a/vm.xplane.pb", 1);
    assert_target("b", "top/b/vm.xplane.pb", "top/a/vm.xplane.pb", 1);
    assert_target("c", "top/c/vm.xplane.pb", "top/a/vm.xplane.pb", 1);
    assert_target("f", "top/f/vm.xplane.pb", "top/a/vm.xplane.pb", 1);
    assert_target("g", "top/g/vm.xplane.pb", "top/a/vm.xplane.pb", 1);
    assert_int_equal(found.left_out.lost_links, 7); /* d, e, h, i, j, k, and the folder l */
    assert_true(listings <= 2 + TM_DISCOVER_HOPS_MOST);
    forget();
}

static void a_chain_of_links_has_an_end(void **state)
{
    enum { MOST = TM_DISCOVER_HOPS_MOST };
    char text[MOST + 2][64];
    const char *names[MOST + 4] = { "z/0" };

    (void)state;
    for (int more = 0; more < 2; more++) {
        for (int i = 0; i < MOST + more; i++) {
            (void)snprintf(text[i], sizeof(text[i]), "z/%d -> %d", i + 1, i);
            names[i + 1] = text[i];
        }
        (void)snprintf(text[MOST + 1], sizeof(text[MOST + 1]), "a/vm.xplane.pb -> ../z/%d", MOST + more);
        names[MOST + more + 1] = text[MOST + 1];
        names[MOST + more + 2] = NULL;
        assert_int_equal(discover_in(names), TM_OK); /* a lost one leaves the only file */
        assert_int_equal(found.left_out.lost_links, more);
        assert_string_equal(found.runs[0].name, more ? "0" : "a");
        forget();
    }
}

static void members_that_are_left_out_are_counted(void **state)
{
    (void)state;
    discovered("run/vm.xplane.pb", "|dev/null", "|run/p.xplane.pb", ".store/vm.xplane.pb", "run/._vm.xplane.pb",
               "run/config.json", "run/locked.json", "linked/rank0.json => run/config.json");
    assert_int_equal(found.run_count, 1);
    assert_int_equal(found.left_out.special, 2);
    assert_int_equal(found.left_out.hidden, 1);
    assert_int_equal(found.left_out.not_traces, 2);
    assert_int_equal(found.unreadable, 1);
    assert_int_equal(found.left_out.lost_links, 0);
    forget();
}

static void members_of_plain_names_are_told_by_content(void **state)
{
    (void)state;
    discovered("a/rank0.json", "a/rank1.json.gz", "a/rank1.json", "a/config.json", "b/space.pb", "b/rank0.json",
               "c/rank7.json => a/rank0.json", "d/link.json -> ../blobs/rank9", "blobs/rank9");
    assert_int_equal(found.run_count, 4);
    for (size_t i = 0; i < found.run_count; i++) {
        const struct tm_found_run *const r = &found.runs[i];
        const bool two = r->name[0] == 'a';

        assert_int_equal(r->file_count, two ? 2 : 1); /* beside an XSpace, JSON is made of it */
        assert_int_equal(r->all_count, r->name[0] == 'a' ? 3 : r->name[0] == 'b' ? 2 : 1);
        assert_int_equal(r->files[0].kind, r->name[0] == 'b' ? TM_FOUND_XPLANE : TM_FOUND_TRACE_JSON);
        assert_string_equal(r->files[0].host, two                 ? "rank0"
                                              : r->name[0] == 'b' ? "space"
                                              : r->name[0] == 'c' ? "rank7"
                                                                  : "link");
    }
    assert_int_equal(found.left_out.not_traces, 1);
    forget();
}

static void an_archive_without_a_profile_is_refused(void **state)
{
    (void)state;
    assert_int_equal(discover_in((const char *const[]){ "a.txt", ">b/", "b/c.txt", NULL }), TM_ERR_INPUT);
    assert_non_null(strstr(run.error.what, "no profile in 'dir/logs.tar.gz'"));
    assert_non_null(strstr(run.error.what, "among 3 members"));
    assert_true(run.error.hint[0] != '\0');
    forget();
    assert_int_equal(discover_in((const char *const[]){ NULL }), TM_ERR_INPUT);
    forget();
}

static void a_damaged_archive_is_told_with_each_run(void **state)
{
    (void)state;
    members_problem = "the archive is damaged";
    discovered("one/a.xplane.pb", "one/b.xplane.pb", "two/a.xplane.pb");
    assert_int_equal(found.damaged, 1);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(found.runs[i].files[0].problem, members_problem);
    assert_null(found.runs[0].files[1].problem);
    forget();
    discovered("vm.xplane.pb");
    assert_string_equal(found.runs[0].files[0].problem, members_problem);
    forget();
    assert_int_equal(discover_in((const char *const[]){ "a.txt", "b.txt", NULL }), TM_ERR_INPUT);
    assert_non_null(strstr(run.error.what, members_problem));
    forget();
    members_problem = NULL;
}

static tm_status discover_members_once(struct tm_run *one)
{
    struct tm_found all;
    const tm_status st = tm_discover_members(one, "x.zip", list_members, &all);

    tm_found_free(&all);
    return st;
}

static void memory_refused_for_members_is_a_clean_error(void **state)
{
    (void)state;
    members_problem = "damaged";
    discovered("three/a.xplane.pb => one/b", "three/rank.json -> ../four/x/b.xplane.pb", "four/x -> ../one",
               "one/b.xplane.pb -> b", "one/b");
    forget();
    refuse_each_request(discover_members_once);
    discovered("one/a\x01.xplane.pb", "one/a\x02.xplane.pb", "two/a.xplane.pb", "two/a.xplane.pb",
               "two/one/b.xplane.pb");
    forget();
    refuse_each_request(discover_members_once);
    discovered("vm.xplane.pb");
    forget();
    refuse_each_request(discover_members_once);
    members_problem = NULL;
}

static tm_status list_many(struct tm_run *one, const char *path, tm_take_member *take, void *to,
                           struct tm_listing *listing)
{
    tm_status st = TM_OK;

    (void)one;
    (void)path;
    *listing = (struct tm_listing){ .members = 1000000 };
    for (uint64_t i = 0; i < 1000000 && st == TM_OK; i++) {
        char name[64];
        const struct tm_member m = { .name = name, .position = i + 1, .is_regular = true };

        (void)snprintf(name, sizeof(name), "run%llu/vm.xplane.pb", (unsigned long long)i);
        st = take(to, &m);
    }
    return st;
}

/* More members of plain names than are looked into, and more links of such names than are kept. */
static tm_status list_plain(struct tm_run *one, const char *path, tm_take_member *take, void *to,
                            struct tm_listing *listing)
{
    const uint64_t files = TM_DISCOVER_SNIFFS_MOST + 3, links = TM_DISCOVER_LINKS_MOST + 4;
    struct tm_member m = { .sniff = sniff_member, .of = one };
    tm_status st = TM_OK;

    (void)path;
    *listing = (struct tm_listing){ .members = files + links };
    for (uint64_t i = 0; i < files + links && st == TM_OK; i++) {
        char name[64];

        (void)snprintf(name, sizeof(name), "%s%u.json", i == 0 || i >= files ? "rank" : "config", (unsigned)i);
        m.name = name;
        m.position = i + 1;
        m.is_regular = i < files;
        m.is_hard = !m.is_regular;
        m.link = m.is_hard ? "rank0.json" : NULL;
        st = take(to, &m);
    }
    return st;
}

static void what_is_not_looked_into_is_counted(void **state)
{
    (void)state;
    for (uint64_t times = 1; times <= 2; times++) {
        test_run_init(&run);
        run.limit_times = times;
        assert_int_equal(tm_discover_members(&run, "x.tar", list_plain, &found), TM_OK);
        assert_int_equal(found.left_out.unseen, times == 1 ? 7 : 0);
        assert_int_equal(found.left_out.not_traces, TM_DISCOVER_SNIFFS_MOST + (times == 1 ? -1 : 2));
        assert_int_equal(found.runs[0].all_count, TM_DISCOVER_LINKS_MOST + (times == 1 ? 1 : 5));
        forget();
    }
}

static void more_members_than_the_share_is_a_limit(void **state)
{
    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_discover_members(&run, "x.zip", list_many, &found), TM_ERR_LIMIT);
    assert_true(run.budget.peak_bytes[TM_ACCOUNT_MODEL] < 3 * tm_budget_share(&run.budget, TM_ACCOUNT_MODEL));
    forget();
}

static tm_status discover_once(struct tm_run *one)
{
    struct tm_found all;
    const tm_status st = by_names(one, root, &all);

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
        in_a_folder(of_each_host_the_best_file_is_read),
        in_a_folder(the_perfetto_json_is_read_where_it_is_alone),
        in_a_folder(files_of_pytorch_are_the_ranks_of_a_run),
        cmocka_unit_test(runs_are_found_in_an_archive),
        cmocka_unit_test(in_an_archive_the_last_of_a_name_counts),
        cmocka_unit_test(names_that_lead_out_of_an_archive_stay_names),
        cmocka_unit_test(an_archive_of_one_file_is_that_file),
        cmocka_unit_test(files_of_plain_names_are_told_by_content),
        cmocka_unit_test(hard_links_are_what_they_lead_to),
        cmocka_unit_test(symbolic_links_are_followed_inside_an_archive),
        cmocka_unit_test(a_chain_of_links_has_an_end),
        cmocka_unit_test(members_that_are_left_out_are_counted),
        cmocka_unit_test(members_of_plain_names_are_told_by_content),
        cmocka_unit_test(an_archive_without_a_profile_is_refused),
        cmocka_unit_test(a_damaged_archive_is_told_with_each_run),
        cmocka_unit_test(memory_refused_for_members_is_a_clean_error),
        cmocka_unit_test(what_is_not_looked_into_is_counted),
        cmocka_unit_test(more_members_than_the_share_is_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
