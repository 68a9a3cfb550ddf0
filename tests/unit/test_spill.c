/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/store/rows.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test_run.h"

static int count_files(const char *folder)
{
    DIR *dir = opendir(folder);
    int n = 0;

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    (void)closedir(dir);
    return n;
}

static void what_is_appended_reads_back(void **state)
{
    struct tm_run run;
    struct tm_spill spill;
    uint64_t first, second;
    char text[16] = "";

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_spill_open(&spill, &run), TM_OK);
    assert_int_equal(tm_spill_append(&spill, "hello ", 6, &first), TM_OK);
    assert_int_equal(tm_spill_append(&spill, "world", 5, &second), TM_OK);
    assert_int_equal(first, 0);
    assert_int_equal(second, 6);
    assert_int_equal(tm_spill_write(&spill, "J", 1, 0), TM_OK);
    assert_int_equal(tm_spill_read(&spill, text, 11, 0), TM_OK);
    assert_string_equal(text, "Jello world");
    assert_int_equal(spill.bytes, 11);
    assert_int_equal(run.budget.spilled_bytes, 12);
    tm_spill_close(&spill);
}

static void bytes_past_the_old_end_are_zero_after_a_resize(void **state)
{
    struct tm_run run;
    struct tm_spill spill;
    char text[8];

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_spill_open(&spill, &run), TM_OK);
    assert_int_equal(tm_spill_append(&spill, "abcdef", 6, NULL), TM_OK);
    assert_int_equal(tm_spill_resize(&spill, 2), TM_OK);
    assert_int_equal(tm_spill_resize(&spill, 8), TM_OK);
    assert_int_equal(tm_spill_read(&spill, text, 8, 0), TM_OK);
    assert_memory_equal(text, "ab\0\0\0\0\0\0", 8);
    tm_spill_forget(&spill, 0, 8);
    assert_int_equal(spill.bytes, 8);
    tm_spill_close(&spill);
}

static void a_spill_file_is_private_and_has_no_name(void **state)
{
    char folder[] = "/var/tmp/test-spill-XXXXXX";
    struct tm_run run;
    struct tm_spill spill;
    struct stat info;

    (void)state;
    test_run_init(&run);
    assert_non_null(mkdtemp(folder));
    run.spill_dir = folder;
    const int before = count_files(folder);

    assert_int_equal(tm_spill_open(&spill, &run), TM_OK);
    assert_int_equal(count_files(folder), before);
    assert_int_equal(fstat(spill.fd, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(info.st_nlink, 0);
    assert_true((fcntl(spill.fd, F_GETFD) & FD_CLOEXEC) != 0);
    tm_spill_close(&spill);
    assert_int_equal(rmdir(folder), 0);
}

static void closing_tolerates_zeroed_and_closed_ones(void **state)
{
    struct tm_run run;
    struct tm_spill zeroed = { 0 }, spill;

    (void)state;
    test_run_init(&run);
    tm_spill_close(&zeroed);
    assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    assert_int_equal(tm_spill_open(&spill, &run), TM_OK);
    tm_spill_close(&spill);
    tm_spill_close(&spill);
}

static void a_full_disk_is_told_with_folder_and_free_bytes(void **state)
{
    struct tm_run run;
    struct tm_spill spill;
    struct rlimit old, tiny;
    char block[4096] = "";

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_spill_open(&spill, &run), TM_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tiny = (struct rlimit){ .rlim_cur = 1000, .rlim_max = old.rlim_max };
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
    const tm_status status = tm_spill_append(&spill, block, sizeof(block), NULL);

    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, TM_ERR_OUTPUT);
    assert_non_null(strstr(run.error.what, "'/var/tmp'"));
    assert_non_null(strstr(run.error.what, "4096 bytes"));
    assert_non_null(strstr(run.error.hint, "ulimit -f")); /* another folder does not help */
    tm_spill_close(&spill);

    /* /dev/full stands for a disk without room. */
    struct tm_run second;
    struct tm_spill full = { .run = &second, .fd = open("/dev/full", O_RDWR | O_CLOEXEC) };

    test_run_init(&second);
    if (full.fd < 0)
        skip();
    assert_int_equal(tm_spill_append(&full, block, sizeof(block), NULL), TM_ERR_OUTPUT);
    assert_non_null(strstr(second.error.what, "bytes are free"));
    tm_spill_close(&full);
}

static void a_file_cut_short_by_others_is_noticed(void **state)
{
    struct tm_run run;
    struct tm_spill spill;
    char text[6];

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_spill_open(&spill, &run), TM_OK);
    assert_int_equal(tm_spill_append(&spill, "abcdef", 6, NULL), TM_OK);
    assert_int_equal(ftruncate(spill.fd, 3), 0);
    assert_int_equal(tm_spill_read(&spill, text, 6, 0), TM_ERR_OUTPUT);
    assert_non_null(strstr(run.error.what, "shorter"));
    tm_spill_close(&spill);
}

static void the_folder_is_chosen_in_order(void **state)
{
    char folder[] = "/var/tmp/test-spill-XXXXXX";
    struct tm_run run;

    (void)state;
    assert_non_null(mkdtemp(folder));
    test_run_init(&run);
    assert_int_equal(tm_spill_choose_dir(&run, folder, "/nowhere"), TM_OK);
    assert_string_equal(run.spill_dir, folder);
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    assert_int_equal(tm_spill_choose_dir(&run, NULL, "/nowhere"), TM_OK);
    assert_string_equal(run.spill_dir, folder);
    assert_int_equal(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
    assert_int_equal(tm_spill_choose_dir(&run, NULL, "/nowhere"), TM_OK);
    assert_string_equal(run.spill_dir, "/var/tmp");
    assert_int_equal(setenv("TMPDIR", "", 1), 0);
    assert_int_equal(tm_spill_choose_dir(&run, NULL, NULL), TM_OK);
    assert_string_equal(run.spill_dir, "/var/tmp");
    assert_int_equal(rmdir(folder), 0);
}

static void a_wanted_folder_that_cannot_be_written_is_an_error(void **state)
{
    struct tm_run run;

    (void)state;
    test_run_init(&run);
    assert_int_equal(tm_spill_choose_dir(&run, "/nowhere/at/all", "."), TM_ERR_OUTPUT);
    assert_non_null(strstr(run.error.what, "'/nowhere/at/all'"));
}

static void a_memory_folder_is_used_only_if_asked_for(void **state)
{
    struct tm_run run;

    (void)state;
    if (access("/dev/shm", W_OK) != 0)
        skip();
    test_run_init(&run);
    assert_int_equal(setenv("TMPDIR", "/dev/shm", 1), 0);
    assert_int_equal(tm_spill_choose_dir(&run, NULL, NULL), TM_OK);
    assert_string_equal(run.spill_dir, "/var/tmp");
    assert_int_equal(tm_spill_choose_dir(&run, "/dev/shm", NULL), TM_OK);
    assert_string_equal(run.spill_dir, "/dev/shm");
    assert_int_equal(unsetenv("TMPDIR"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_appended_reads_back),
        cmocka_unit_test(bytes_past_the_old_end_are_zero_after_a_resize),
        cmocka_unit_test(a_spill_file_is_private_and_has_no_name),
        cmocka_unit_test(closing_tolerates_zeroed_and_closed_ones),
        cmocka_unit_test(a_full_disk_is_told_with_folder_and_free_bytes),
        cmocka_unit_test(a_file_cut_short_by_others_is_noticed),
        cmocka_unit_test(the_folder_is_chosen_in_order),
        cmocka_unit_test(a_wanted_folder_that_cannot_be_written_is_an_error),
        cmocka_unit_test(a_memory_folder_is_used_only_if_asked_for),
    };

    return cmocka_run_group_tests_name("spill", tests, NULL, NULL);
}
