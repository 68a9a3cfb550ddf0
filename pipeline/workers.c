/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of processes.  The driver waits for their stderr output, for the end of that stream, which is the end of the
 * process, and for deadlines.  It needs a slot for each concurrent process, however many pieces of work there are.
 * Only the driver's own thread may call fork here: the program has no others. */
#include "pipeline/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pipeline/platform.h"
#include "pipeline/run.h"
#include "pipeline/strings.h"

/* Cores and memory.  A control group limits everything below it, so every group from ours up to the root counts:
 * cpu.max and memory.max of version 2, cpu.cfs_quota_us and memory.limit_in_bytes of version 1
 * (https://docs.kernel.org/admin-guide/cgroup-v2.html, cgroup-v1/memory.html).  A group's file cache counts as free if
 * it was not used recently: the kernel drops it first. */

enum { PATH_BYTES = 4096, LINE_BYTES = 4352, MIB = 1 << 20 };

/* --- files of one number, or of many --- */

static FILE *open_file(const char *root, const char *folder, const char *name)
{
    char path[PATH_BYTES];
    const int n = snprintf(path, sizeof(path), "%s%s%s%s", root, folder, name[0] ? "/" : "", name);

    return n >= 0 && n < PATH_BYTES ? fopen(path, "re") : NULL;
}

/* The numbers at the start of a file.  out: how many there are */
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

/* The number after a word at the start of a line: "inactive_file 4096", "MemAvailable:  12 kB". */
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

    if (read_numbers(root, folder, "cpu.cfs_quota_us", &quota, 1) == 1 && /* "-1" is not a number: no limit */
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

/* Memory is reported in MiB (https://slurm.schedmd.com/sbatch.html). */
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

enum {
    SAID_BYTES = 4096,
    JOBS_MOST = 1024,
    DRAIN_BYTES = 16 << 10,
    GRACE_MS = 3000, /* from SIGTERM to SIGKILL */
    REAP_MS = 5,     /* its stderr ended: the process is about to */
    TICK_MS = 1000,
    FORK_ATTEMPTS = 20,
    FORK_WAIT_MS = 100,
};

struct slot {
    pid_t pid; /* 0 = free */
    int fd;    /* of its stderr; -1 = it has ended */
    size_t index, said_bytes;
    int64_t stop_ms, kill_ms; /* when to stop it, when to kill it; INT64_MAX = never */
    bool is_late;
    char said[SAID_BYTES];
};

struct tm_work_pool {
    struct tm_run *run;
    struct tm_work work; /* its jobs: as many as there are slots */
    struct slot *slots;
    struct pollfd *polled;
    size_t running;
    size_t next; /* piece that starts */
    int64_t tick_ms;
    sigset_t before; /* the signals that waited before */
};

/* --- signals of the driver --- */

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

enum { ENDS = sizeof(ends) / sizeof(ends[0]) };

static volatile sig_atomic_t asked_to_end; /* the signal; 0 = none */

static void note_end(int number)
{
    asked_to_end = number;
}

struct kept_signals {
    struct sigaction action[ENDS], of_children;
    sigset_t mask;
};

/* From here on they are noted, and come only while the driver waits.  What was ignored stays ignored. */
static void keep_signals(struct kept_signals *kept)
{
    struct sigaction noted = { .sa_handler = note_end };
    const struct sigaction usual = { .sa_handler = SIG_DFL };
    sigset_t held;

    asked_to_end = 0;
    (void)sigemptyset(&held);
    for (size_t i = 0; i < ENDS; i++)
        (void)sigaddset(&held, ends[i]);
    (void)sigprocmask(SIG_BLOCK, &held, &kept->mask);
    for (size_t i = 0; i < ENDS; i++)
        if (sigaction(ends[i], NULL, &kept->action[i]) == 0 && kept->action[i].sa_handler != SIG_IGN)
            (void)sigaction(ends[i], &noted, NULL);
    /* If the parent process had set it to be ignored, the exit status of a process would be lost. */
    (void)sigaction(SIGCHLD, &usual, &kept->of_children);
}

static void restore_signals(const struct kept_signals *kept)
{
    for (size_t i = 0; i < ENDS; i++)
        (void)sigaction(ends[i], &kept->action[i], NULL);
    (void)sigaction(SIGCHLD, &kept->of_children, NULL);
    (void)sigprocmask(SIG_SETMASK, &kept->mask, NULL);
}

/* --- the new process --- */

uint64_t tm_work_data_bytes(size_t memory_bytes)
{
    return 2 * (uint64_t)memory_bytes + ((uint64_t)1 << 28);
}

/* What the process has of it from the driver: the manifest, and what a sanitizer has set aside.  0 = not known */
static uint64_t data_bytes_now(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    char line[256] = "";
    const char *at = line;
    uint64_t pages = 0;

    if (!file)
        return 0;
    if (!fgets(line, sizeof(line), file))
        line[0] = '\0';
    (void)fclose(file);
    for (int i = 0; i < 6; i++, at += *at == ' ') /* the sixth number: data and stack */
        if (!tm_take_digits(&at, &pages))
            return 0;
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit_data(size_t memory_bytes)
{
    const rlim_t most = (rlim_t)(data_bytes_now() + tm_work_data_bytes(memory_bytes));
    struct rlimit limit;

    if (getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most)
        limit.rlim_cur = most;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most)
        limit.rlim_max = most;
    (void)setrlimit(RLIMIT_DATA, &limit);
}

static void close_from(int first)
{
    const long most = sysconf(_SC_OPEN_MAX);

    if (close_range((unsigned)first, ~0u, 0) == 0)
        return;
    for (int fd = first; fd < (most > 0 && most < 65536 ? most : 65536); fd++)
        (void)close(fd);
}

/* A root file system that contains only the program has no /dev/null. */
static int open_nothing(void)
{
    const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    return fd >= 0 ? fd : memfd_create("nothing", MFD_CLOEXEC);
}

static bool take_places(int output, int said)
{
    const int nothing = open_nothing();

    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(output < 0 ? nothing : output, STDOUT_FILENO) < 0 ||
        dup2(said, STDERR_FILENO) < 0)
        return false;
    close_from(STDERR_FILENO + 1);
    return true;
}

/* A worker whose driver has ended is useless. */
static void end_with(pid_t driver)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != driver)
        (void)raise(SIGTERM);
}

static _Noreturn void begin(const struct tm_work_pool *pool, const struct kept_signals *kept, size_t index, int said,
                            pid_t driver)
{
    const int output = pool->work.output ? pool->work.output(pool->work.of, index) : -1;
    int status = TM_ERR_LIMIT;

    restore_signals(kept);
    end_with(driver);
    if (take_places(output, said)) {
        limit_data(pool->work.memory_bytes);
        status = pool->work.work(pool->work.of, index);
        (void)fflush(stderr);
    }
    _exit(status);
}

/* --- the pool --- */

static int64_t now_ms(void)
{
    return (int64_t)(tm_clock_ns() / 1000000);
}

/* out: 0, or errno */
static int start(struct tm_work_pool *pool, const struct kept_signals *kept, struct slot *slot, size_t index)
{
    const int64_t time_ms = pool->work.time_ps / 1000000000;
    const pid_t driver = getpid();
    int ways[2];
    pid_t pid;

    if (pipe2(ways, O_CLOEXEC) != 0)
        return errno;
    (void)fcntl(ways[0], F_SETFL, O_NONBLOCK);
    (void)fflush(NULL); /* what waits in buffers would be written twice */
    pid = fork();
    if (pid == 0)
        begin(pool, kept, index, ways[1], driver);

    const int problem = pid < 0 ? errno : 0;

    (void)close(ways[1]);
    if (problem) {
        (void)close(ways[0]);
        return problem;
    }
    *slot = (struct slot){ .pid = pid,
                           .fd = ways[0],
                           .index = index,
                           .kill_ms = INT64_MAX,
                           .stop_ms = pool->work.time_ps ? now_ms() + (time_ms ? time_ms : 1) : INT64_MAX };
    pool->running++;
    return 0;
}

/* Keep the start of its output and discard the rest piece by piece: a process that writes endlessly is stopped at its
 * deadline.  The pipe is closed at its end. */
static void listen_to(struct slot *slot)
{
    char rest[DRAIN_BYTES];

    for (;;) {
        const size_t room = SAID_BYTES - 1 - slot->said_bytes;
        const ssize_t n =
            room ? read(slot->fd, slot->said + slot->said_bytes, room) : read(slot->fd, rest, sizeof(rest));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            (void)close(slot->fd);
            slot->fd = -1;
            return;
        }
        if (!room)
            return;
        slot->said_bytes += (size_t)n;
    }
}

static struct tm_outcome outcome_of(const struct slot *slot, int status)
{
    struct tm_outcome outcome = { .said = slot->said };

    outcome.kind = slot->is_late && !(WIFEXITED(status) && WEXITSTATUS(status) == 0) ? TM_OUTCOME_TIME
                   : WIFEXITED(status)                                               ? TM_OUTCOME_EXIT
                                                                                     : TM_OUTCOME_SIGNAL;
    outcome.number = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    return outcome;
}

/* out: false: it has not ended yet */
static bool reap(struct tm_work_pool *pool, struct slot *slot, struct tm_outcome *outcome)
{
    int status = 0;
    pid_t pid;

    do
        pid = waitpid(slot->pid, &status, WNOHANG);
    while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return false;
    if (pid < 0)
        status = SIGKILL; /* somebody else has waited for it: nothing is known about it */
    if (slot->fd >= 0)
        listen_to(slot);
    if (slot->fd >= 0)
        (void)close(slot->fd);
    slot->said[slot->said_bytes] = '\0';
    *outcome = outcome_of(slot, status);
    slot->pid = 0;
    pool->running--;
    return true;
}

static void press(struct slot *slot, int64_t now)
{
    if (now >= slot->kill_ms) {
        (void)kill(slot->pid, SIGKILL);
        slot->kill_ms = INT64_MAX;
    } else if (now >= slot->stop_ms) {
        (void)kill(slot->pid, SIGTERM);
        slot->is_late = true;
        slot->stop_ms = INT64_MAX;
        slot->kill_ms = now + GRACE_MS;
    }
}

/* Until there is output, a process ends, or a deadline is due. */
static void wait_for_news(struct tm_work_pool *pool)
{
    const int64_t now = now_ms();
    int64_t until = pool->work.tick ? pool->tick_ms : INT64_MAX;
    nfds_t count = 0;

    for (unsigned i = 0; i < pool->work.jobs; i++) {
        const struct slot *slot = &pool->slots[i];
        const int64_t next = slot->stop_ms < slot->kill_ms ? slot->stop_ms : slot->kill_ms;

        if (!slot->pid)
            continue;
        if (slot->fd >= 0)
            pool->polled[count++] = (struct pollfd){ .fd = slot->fd, .events = POLLIN };
        else if (now + REAP_MS < until)
            until = now + REAP_MS;
        until = next < until ? next : until;
    }

    const int64_t left = until == INT64_MAX ? -1 : until > now ? until - now : 0;
    const struct timespec timeout = { .tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000 };

    (void)ppoll(pool->polled, count, left < 0 ? NULL : &timeout, &pool->before);
}

/* What has ended is reported. */
static tm_status take_news(struct tm_work_pool *pool, bool is_told)
{
    const int64_t now = now_ms();
    tm_status st = TM_OK;

    for (unsigned i = 0; i < pool->work.jobs && st == TM_OK; i++) {
        struct slot *slot = &pool->slots[i];
        struct tm_outcome outcome;

        if (!slot->pid)
            continue;
        if (slot->fd >= 0)
            listen_to(slot);
        if (slot->fd < 0 && reap(pool, slot, &outcome)) {
            if (is_told)
                st = pool->work.ended(pool->work.of, slot->index, &outcome);
            continue;
        }
        press(slot, now);
    }
    if (is_told && pool->work.tick && now >= pool->tick_ms) {
        pool->work.tick(pool->work.of);
        pool->tick_ms = now + TICK_MS;
    }
    return st;
}

static struct slot *free_slot(const struct tm_work_pool *pool)
{
    for (unsigned i = 0; i < pool->work.jobs; i++)
        if (!pool->slots[i].pid)
            return &pool->slots[i];
    return NULL;
}

/* Start as many as there are slots for. If the system cannot create another process, wait for those that run. */
static tm_status fill(struct tm_work_pool *pool, const struct kept_signals *kept)
{
    bool is_wanted = false; /* the next one: asked once, however many attempts it takes */
    const struct timespec pause = { .tv_nsec = FORK_WAIT_MS * 1000000L };
    struct slot *slot;
    int attempts = 0;

    while (pool->next < pool->work.count && !asked_to_end && (slot = free_slot(pool)) != NULL) {
        if (!is_wanted && pool->work.wants && !pool->work.wants(pool->work.of, pool->next)) {
            pool->next++;
            if (tm_failed(pool->run))
                break;
            continue;
        }
        is_wanted = true;

        const int problem = start(pool, kept, slot, pool->next);

        if (!problem) {
            pool->next++;
            attempts = 0;
            is_wanted = false;
            continue;
        }
        if (pool->running)
            return TM_OK;
        if (++attempts == FORK_ATTEMPTS)
            return tm_fail_system(&pool->run->error, TM_ERR_LIMIT, -1, problem, "cannot start a process");
        (void)nanosleep(&pause, NULL);
    }
    return pool->run->error.status;
}

static void end_all(struct tm_work_pool *pool)
{
    for (unsigned i = 0; i < pool->work.jobs; i++)
        if (pool->slots[i].pid)
            pool->slots[i].stop_ms = 0;
    while (pool->running) {
        (void)take_news(pool, false);
        if (pool->running)
            wait_for_news(pool);
    }
}

/* Until all have ended, or one call failed, or a signal came; the rest is ended. */
static tm_status work_all(struct tm_work_pool *pool, const struct kept_signals *kept)
{
    tm_status st = TM_OK;

    do {
        st = fill(pool, kept);
        if (st == TM_OK && pool->running) {
            wait_for_news(pool);
            st = take_news(pool, true);
        }
    } while (st == TM_OK && !asked_to_end && (pool->running || pool->next < pool->work.count));
    end_all(pool);
    return st;
}

static void close_pool(struct tm_work_pool *pool)
{
    struct tm_budget *const budget = &pool->run->budget;

    tm_give(budget, TM_ACCOUNT_MODEL, pool->polled, pool->polled ? pool->work.jobs * sizeof(*pool->polled) : 0);
    tm_give(budget, TM_ACCOUNT_MODEL, pool->slots, pool->slots ? pool->work.jobs * sizeof(*pool->slots) : 0);
    tm_give(budget, TM_ACCOUNT_MODEL, pool, sizeof(*pool));
}

/* out: NULL: see the run's error */
static struct tm_work_pool *open_pool(struct tm_run *run, const struct tm_work *work)
{
    const unsigned wanted = work->jobs < JOBS_MOST ? (work->jobs ? work->jobs : 1) : JOBS_MOST;
    const unsigned jobs = work->count < wanted ? (unsigned)work->count : wanted;
    struct tm_work_pool *const pool = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*pool), &run->error);

    if (!pool)
        return NULL;
    *pool = (struct tm_work_pool){ .run = run, .work = *work, .tick_ms = now_ms() + TICK_MS };
    pool->work.jobs = jobs;
    if (jobs)
        pool->slots = tm_take(&run->budget, TM_ACCOUNT_MODEL, jobs * sizeof(*pool->slots), &run->error);
    if (pool->slots)
        pool->polled = tm_take(&run->budget, TM_ACCOUNT_MODEL, jobs * sizeof(*pool->polled), &run->error);
    if (!tm_failed(run))
        return pool;
    close_pool(pool);
    return NULL;
}

static void end_driver_if_asked(void)
{
    if (asked_to_end)
        (void)raise(asked_to_end);
}

tm_status tm_work_all(struct tm_run *run, const struct tm_work *work)
{
    struct tm_work_pool *const pool = open_pool(run, work);
    struct kept_signals kept;
    tm_status st;

    if (!pool)
        return run->error.status;
    keep_signals(&kept);
    pool->before = kept.mask;
    st = work_all(pool, &kept);
    close_pool(pool);
    restore_signals(&kept);
    end_driver_if_asked();
    return st;
}

struct tm_work_pool *tm_work_begin(struct tm_run *run, const struct tm_work *work)
{
    struct tm_work_pool *const pool = open_pool(run, work);
    struct kept_signals kept;

    if (!pool)
        return NULL;
    keep_signals(&kept);
    pool->before = kept.mask;
    if (fill(pool, &kept) != TM_OK || asked_to_end)
        end_all(pool);
    restore_signals(&kept);
    end_driver_if_asked();
    if (!tm_failed(run))
        return pool;
    close_pool(pool);
    return NULL;
}

bool tm_work_is_over(const struct tm_work_pool *pool)
{
    bool is_over = true;

    for (unsigned i = 0; i < pool->work.jobs; i++) {
        siginfo_t info = { .si_pid = 0 };

        if (pool->slots[i].pid && waitid(P_PID, (id_t)pool->slots[i].pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
            is_over &= info.si_pid != 0;
    }
    return is_over;
}

tm_status tm_work_end(struct tm_work_pool *pool)
{
    struct tm_run *const run = pool->run;
    struct kept_signals kept;
    tm_status st = run->error.status;

    keep_signals(&kept);
    pool->before = kept.mask;
    if (st == TM_OK)
        st = work_all(pool, &kept);
    else
        end_all(pool);
    close_pool(pool);
    restore_signals(&kept);
    end_driver_if_asked();
    return st;
}

/* How many processes work at once. */

tm_status tm_jobs_choose(struct tm_run *run, uint64_t wanted, size_t memory_bytes, bool is_forced, unsigned *jobs)
{
    const struct tm_machine machine = tm_machine_look("");
    const uint64_t each = (uint64_t)memory_bytes + (uint64_t)TM_PROCESS_MIB * TM_MIB;
    const uint64_t fit = machine.memory_bytes / each ? machine.memory_bytes / each : 1;

    *jobs = (unsigned)(wanted ? wanted : machine.cores < fit ? machine.cores : fit);
    if (!wanted || wanted <= fit || is_forced)
        return TM_OK;
    (void)tm_fail(&run->error, TM_ERR_USAGE, -1,
                  "cannot process %u traces at once: each takes up to %llu MiB, and %llu MiB are available, enough "
                  "for %llu",
                  *jobs, (unsigned long long)(each / TM_MIB), (unsigned long long)(machine.memory_bytes / TM_MIB),
                  (unsigned long long)fit);
    tm_hint(&run->error, "use '--jobs %llu' or a smaller --memory; --force continues anyway", (unsigned long long)fit);
    return TM_ERR_USAGE;
}
