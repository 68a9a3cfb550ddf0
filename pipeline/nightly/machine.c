/* SPDX-License-Identifier: Apache-2.0 */
/* Cores and memory.  A control group holds what is below it to its limits, so every one from ours up to the root counts:
 * cpu.max and memory.max of version 2, cpu.cfs_quota_us and memory.limit_in_bytes of version 1
 * (https://docs.kernel.org/admin-guide/cgroup-v2.html, cgroup-v1/memory.html).  What a group holds of files counts as
 * free as far as it was not used lately: the kernel drops it first. */
#include "pipeline/nightly/machine.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/quantity.h"

enum { PATH_BYTES = 4096, LINE_BYTES = 4352, MIB = 1 << 20 };

/* --- files of one number, or of many --- */

static FILE *open_file(const char *root, const char *folder, const char *name)
{
    char path[PATH_BYTES];
    const int n = snprintf(path, sizeof(path), "%s%s%s%s", root, folder, name[0] ? "/" : "", name);

    return n >= 0 && n < PATH_BYTES ? fopen(path, "re") : NULL;
}

/* The numbers at the begin of a file.  out: how many there are */
static size_t read_numbers(const char *root, const char *folder, const char *name, uint64_t *numbers, size_t most)
{
    FILE *file = open_file(root, folder, name);
    char line[128] = "";
    const char *at = line;
    size_t count = 0;

    if (!file)
        return 0;
    if (!fgets(line, sizeof(line), file))
        line[0] = '\0';
    (void)fclose(file);
    while (count < most && tm_take_digits(&at, &numbers[count])) {
        count++;
        at += *at == ' ';
    }
    return count;
}

/* The number behind a word at the begin of a line: "inactive_file 4096", "MemAvailable:  12 kB". */
static bool read_named(const char *root, const char *folder, const char *name, const char *word, uint64_t *number)
{
    FILE *file = open_file(root, folder, name);
    const size_t length = strlen(word);
    char line[256];
    bool is_found = false;

    if (!file)
        return false;
    while (!is_found && fgets(line, sizeof(line), file)) {
        const char *at = line + length;

        if (strncmp(line, word, length) != 0 || (*at != ' ' && *at != ':'))
            continue;
        at += strspn(at, ": \t");
        is_found = tm_take_digits(&at, number);
    }
    (void)fclose(file);
    return is_found;
}

/* --- control groups --- */

static void lower_cores(struct tm_machine *machine, uint64_t quota, uint64_t period)
{
    const uint64_t cores = period ? quota / period : 0;

    if (period && cores < machine->cores)
        machine->cores = cores ? (unsigned)cores : 1;
}

static void lower_memory(struct tm_machine *machine, uint64_t bytes)
{
    if (bytes < machine->memory_bytes)
        machine->memory_bytes = bytes;
}

static void lower_group_memory(struct tm_machine *machine, const char *root, const char *folder, uint64_t limit,
                               const char *usage, const char *inactive)
{
    uint64_t used = 0, droppable = 0;

    (void)read_numbers(root, folder, usage, &used, 1);
    (void)read_named(root, folder, "memory.stat", inactive, &droppable);
    used -= droppable < used ? droppable : used;
    lower_memory(machine, limit > used ? limit - used : 0);
}

static void look_at_v2(struct tm_machine *machine, const char *root, const char *folder)
{
    uint64_t numbers[2];

    if (read_numbers(root, folder, "cpu.max", numbers, 2) == 2)
        lower_cores(machine, numbers[0], numbers[1]);
    if (read_numbers(root, folder, "memory.max", numbers, 1) == 1)
        lower_group_memory(machine, root, folder, numbers[0], "memory.current", "inactive_file");
}

static void look_at_v1_cpu(struct tm_machine *machine, const char *root, const char *folder)
{
    uint64_t quota, period;

    if (read_numbers(root, folder, "cpu.cfs_quota_us", &quota, 1) == 1 && /* "-1" is no number: no limit */
        read_numbers(root, folder, "cpu.cfs_period_us", &period, 1) == 1)
        lower_cores(machine, quota, period);
}

static void look_at_v1_memory(struct tm_machine *machine, const char *root, const char *folder)
{
    uint64_t limit;

    if (read_numbers(root, folder, "memory.limit_in_bytes", &limit, 1) == 1 && limit < UINT64_MAX / 4)
        lower_group_memory(machine, root, folder, limit, "memory.usage_in_bytes", "total_inactive_file");
}

typedef void look_at_group(struct tm_machine *machine, const char *root, const char *folder);

/* The group and all above it. */
static void look_up(struct tm_machine *machine, const char *root, const char *mount, const char *group,
                    look_at_group *look)
{
    char folder[PATH_BYTES];
    const size_t least = strlen(mount);
    const int n = snprintf(folder, sizeof(folder), "%s%s", mount, group);

    if (n < 0 || n >= PATH_BYTES)
        return;
    for (;;) {
        char *slash;

        look(machine, root, folder);
        slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < least)
            return;
        *slash = '\0';
    }
}

static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* Lines of /proc/self/cgroup: "0::/a/b" of version 2, "4:cpu,cpuacct:/a/b" of version 1. */
static void look_at_groups(struct tm_machine *machine, const char *root)
{
    FILE *file = open_file(root, "/proc/self/cgroup", "");
    char line[LINE_BYTES];

    while (file && fgets(line, sizeof(line), file)) {
        char *const first = strchr(line, ':');
        char *const second = first ? strchr(first + 1, ':') : NULL;

        if (!second)
            continue;
        *second = '\0';
        const char *const words = first + 1, *const group = second + 1;

        second[1 + strcspn(group, "\n")] = '\0';
        if (!words[0]) {
            look_up(machine, root, "/sys/fs/cgroup", group, look_at_v2);
            look_up(machine, root, "/sys/fs/cgroup/unified", group, look_at_v2);
        }
        if (has_word(words, "cpu")) {
            look_up(machine, root, "/sys/fs/cgroup/cpu", group, look_at_v1_cpu);
            look_up(machine, root, "/sys/fs/cgroup/cpu,cpuacct", group, look_at_v1_cpu);
        }
        if (has_word(words, "memory"))
            look_up(machine, root, "/sys/fs/cgroup/memory", group, look_at_v1_memory);
    }
    if (file)
        (void)fclose(file);
}

/* --- Slurm --- */

static bool read_variable(const char *name, uint64_t *number)
{
    const char *at = getenv(name);

    return at && tm_take_digits(&at, number) && *at == '\0' && *number > 0;
}

/* Memory is told in MiB (https://slurm.schedmd.com/sbatch.html). */
static void look_at_slurm(struct tm_machine *machine)
{
    uint64_t cpus, mib;

    if (read_variable("SLURM_CPUS_PER_TASK", &cpus) && cpus < machine->cores)
        machine->cores = (unsigned)cpus;
    if (read_variable("SLURM_MEM_PER_NODE", &mib) && mib < UINT64_MAX / MIB)
        lower_memory(machine, mib * MIB);
    if (read_variable("SLURM_MEM_PER_CPU", &mib) && mib < UINT64_MAX / MIB / machine->cores)
        lower_memory(machine, mib * MIB * machine->cores);
}

/* --- all of it --- */

static unsigned allowed_cores(void)
{
    cpu_set_t cores;
    int count = 0;

    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof(cores), &cores) == 0)
        count = CPU_COUNT(&cores);
    return count > 0 ? (unsigned)count : 1;
}

struct tm_machine tm_machine_look(const char *root)
{
    struct tm_machine machine = { .cores = allowed_cores(), .memory_bytes = UINT64_MAX };
    uint64_t kib;

    if (read_named(root, "/proc/meminfo", "", "MemAvailable", &kib))
        lower_memory(&machine, kib * 1024);
    look_at_groups(&machine, root);
    look_at_slurm(&machine);
    return machine;
}
