/* SPDX-License-Identifier: Apache-2.0 */
/* How many jobs a machine carries: control groups of both versions, Slurm, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "pipeline/nightly/batch.h"
#include "tests/support/test_folder.h"

static const char *const variables[] = { "SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU" };
static unsigned cores; /* of this machine, for this process */

static void put(const char *name, const char *text)
{
    char path[400];

    (void)snprintf(path, sizeof(path), "%s%s", folder, name);
    for (char *at = path + strlen(folder) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0777);
        *at = '/';
    }
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        (void)unsetenv(variables[i]);
    if (make_folder(state) != 0)
        return -1;
    cores = tm_machine_look(folder).cores;
    return 0;
}

static int end(void **state)
{
    char command[128];

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -rf '%.64s'", folder);
    return system(command); /* NOLINT: a folder of this test */
}

static void without_anything_the_cores_are_those_of_the_process(void **state)
{
    (void)state;
    assert_true(cores >= 1);
    assert_true(tm_machine_look(folder).memory_bytes == UINT64_MAX);
    put("/proc/meminfo", "MemTotal:       24684084 kB\nMemFree:          100 kB\nMemAvailable:    2097152 kB\n");
    assert_true(tm_machine_look(folder).memory_bytes == (uint64_t)2 << 30);
}

static void the_least_of_a_group_and_those_above_counts(void **state)
{
    (void)state;
    put("/proc/meminfo", "MemAvailable:    8388608 kB\n");
    put("/proc/self/cgroup", "0::/outer/inner\n");
    put("/sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
    assert_int_equal(tm_machine_look(folder).cores, cores);
    put("/sys/fs/cgroup/outer/cpu.max", "100000 100000\n");
    assert_int_equal(tm_machine_look(folder).cores, 1);
    put("/sys/fs/cgroup/outer/cpu.max", "50000 100000\n"); /* half a core is one worker */
    assert_int_equal(tm_machine_look(folder).cores, 1);
    put("/sys/fs/cgroup/outer/memory.max", "1073741824\n");
    assert_true(tm_machine_look(folder).memory_bytes == (uint64_t)1 << 30);
    put("/sys/fs/cgroup/outer/memory.current", "805306368\n");
    assert_true(tm_machine_look(folder).memory_bytes == (uint64_t)256 << 20);
    put("/sys/fs/cgroup/outer/memory.stat", "anon 1\nactive_file 268435456\ninactive_file 536870912\n");
    assert_true(tm_machine_look(folder).memory_bytes == (uint64_t)768 << 20);
    put("/sys/fs/cgroup/outer/memory.current", "9805306368\n"); /* over its limit */
    assert_true(tm_machine_look(folder).memory_bytes == 0);
}

static void version_1_tells_the_same(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "9:name=systemd:/\n4:memory:/job/7\n2:cpu,cpuacct:/job/7\n");
    put("/sys/fs/cgroup/memory/job/7/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    assert_int_equal(tm_machine_look(folder).cores, cores);
    assert_true(tm_machine_look(folder).memory_bytes == UINT64_MAX);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n"); /* as seen from inside a container */
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "100000\n");
    assert_int_equal(tm_machine_look(folder).cores, 1);
    assert_true(tm_machine_look(folder).memory_bytes == (uint64_t)512 << 20);
}

static void slurm_tells_what_the_task_has(void **state)
{
    (void)state;
    (void)setenv("SLURM_CPUS_PER_TASK", "1", 1);
    (void)setenv("SLURM_MEM_PER_CPU", "700", 1);
    assert_int_equal(tm_machine_look(folder).cores, 1);
    assert_true(tm_machine_look(folder).memory_bytes == (uint64_t)700 << 20);
    (void)setenv("SLURM_MEM_PER_NODE", "600", 1);
    assert_true(tm_machine_look(folder).memory_bytes == (uint64_t)600 << 20);
    (void)setenv("SLURM_MEM_PER_NODE", "0", 1); /* all of it */
    (void)setenv("SLURM_MEM_PER_CPU", "okapi", 1);
    assert_true(tm_machine_look(folder).memory_bytes == UINT64_MAX);
}

static void more_jobs_than_memory_is_for_are_refused(void **state)
{
    const size_t memory = (size_t)256 << 20;
    struct tm_run run;
    unsigned jobs = 0;

    (void)state;
    (void)setenv("SLURM_MEM_PER_NODE", "700", 1); /* two times 256 and 48 MiB */
    test_run_init(&run);
    assert_int_equal(tm_jobs_choose(&run, 2, memory, false, &jobs), TM_OK);
    assert_int_equal(jobs, 2);
    assert_int_equal(tm_jobs_choose(&run, 0, memory, false, &jobs), TM_OK);
    assert_int_equal(jobs, cores < 2 ? cores : 2);
    assert_int_equal(tm_jobs_choose(&run, 3, memory, true, &jobs), TM_OK);
    assert_int_equal(jobs, 3);
    assert_int_equal(tm_jobs_choose(&run, 3, memory, false, &jobs), TM_ERR_USAGE);
    assert_non_null(strstr(run.error.what, "304 MiB"));
    assert_non_null(strstr(run.error.what, "700 MiB"));
    assert_non_null(strstr(run.error.hint, "--jobs 2"));
    test_run_init(&run);
    (void)setenv("SLURM_MEM_PER_NODE", "100", 1); /* one has to work */
    assert_int_equal(tm_jobs_choose(&run, 0, memory, false, &jobs), TM_OK);
    assert_int_equal(jobs, 1);
    assert_int_equal(tm_jobs_choose(&run, 1, memory, false, &jobs), TM_OK);
    (void)unsetenv("SLURM_MEM_PER_NODE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_anything_the_cores_are_those_of_the_process, begin, end),
        cmocka_unit_test_setup_teardown(the_least_of_a_group_and_those_above_counts, begin, end),
        cmocka_unit_test_setup_teardown(version_1_tells_the_same, begin, end),
        cmocka_unit_test_setup_teardown(slurm_tells_what_the_task_has, begin, end),
        cmocka_unit_test_setup_teardown(more_jobs_than_memory_is_for_are_refused, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
