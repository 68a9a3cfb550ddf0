/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of processes.  The driver waits for what they say on their stderr, for its end, which is theirs, and for the
 * time at which one has to be stopped.  Its memory is a slot for each process at once, however many pieces there are.
 * Only the driver's own thread may call fork here: the program has no others. */
#include "pipeline/batch/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pipeline/quantity.h"

enum {
    SAID_BYTES = 4096,
    JOBS_MOST = 1024,
    DRAIN_BYTES = 16 << 10,
    GRACE_MS = 3000,  /* from SIGTERM to SIGKILL */
    REAP_MS = 5,      /* its stderr ended: the process is about to */
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

struct pool {
    struct tm_run *run;
    const struct tm_work *work;
    struct slot *slots;
    struct pollfd *polled;
    size_t running;
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
    /* Where whoever started the driver had it ignored, the outcome of a process would be lost. */
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

static bool take_places(int said)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0 ||
        dup2(said, STDERR_FILENO) < 0)
        return false;
    close_from(STDERR_FILENO + 1);
    return true;
}

/* A worker whose driver has ended works for nobody. */
static void end_with(pid_t driver)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != driver)
        (void)raise(SIGTERM);
}

static _Noreturn void begin(const struct pool *pool, const struct kept_signals *kept, size_t index, int said,
                            pid_t driver)
{
    int status = TM_ERR_LIMIT;

    restore_signals(kept);
    end_with(driver);
    if (take_places(said)) {
        limit_data(pool->work->memory_bytes);
        status = pool->work->work(pool->work->of, index);
        (void)fflush(stderr);
    }
    _exit(status);
}

/* --- the pool --- */

static int64_t now_ms(void)
{
    struct timespec now = { .tv_sec = 0 };

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* out: 0, or errno */
static int start(struct pool *pool, const struct kept_signals *kept, struct slot *slot, size_t index)
{
    const int64_t time_ms = pool->work->time_ps / 1000000000;
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
    *slot = (struct slot){ .pid = pid, .fd = ways[0], .index = index, .kill_ms = INT64_MAX,
                           .stop_ms = pool->work->time_ps ? now_ms() + (time_ms ? time_ms : 1) : INT64_MAX };
    pool->running++;
    return 0;
}

/* Keep the begin of what it says; the rest goes nowhere, a piece at a time: who never stops is stopped when its time is
 * up.  At its end the pipe is closed. */
static void listen_to(struct slot *slot)
{
    char rest[DRAIN_BYTES];

    for (;;) {
        const size_t room = SAID_BYTES - 1 - slot->said_bytes;
        const ssize_t n = room ? read(slot->fd, slot->said + slot->said_bytes, room) : read(slot->fd, rest, sizeof(rest));

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
                   : WIFEXITED(status)                                              ? TM_OUTCOME_EXIT
                                                                                     : TM_OUTCOME_SIGNAL;
    outcome.number = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    return outcome;
}

/* out: false: it has not ended yet */
static bool reap(struct pool *pool, struct slot *slot, struct tm_outcome *outcome)
{
    int status = 0;
    pid_t pid;

    do
        pid = waitpid(slot->pid, &status, WNOHANG);
    while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return false;
    if (pid < 0)
        status = SIGKILL; /* somebody else has waited for it: nothing is known of it */
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

/* Until something is said, or ends, or is to be done. */
static void wait_for_news(struct pool *pool)
{
    const int64_t now = now_ms();
    int64_t until = pool->work->tick ? pool->tick_ms : INT64_MAX;
    nfds_t count = 0;

    for (unsigned i = 0; i < pool->work->jobs; i++) {
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

/* What has ended is told. */
static tm_status take_news(struct pool *pool, bool is_told)
{
    const int64_t now = now_ms();
    tm_status st = TM_OK;

    for (unsigned i = 0; i < pool->work->jobs && st == TM_OK; i++) {
        struct slot *slot = &pool->slots[i];
        struct tm_outcome outcome;

        if (!slot->pid)
            continue;
        if (slot->fd >= 0)
            listen_to(slot);
        if (slot->fd < 0 && reap(pool, slot, &outcome)) {
            if (is_told)
                st = pool->work->ended(pool->work->of, slot->index, &outcome);
            continue;
        }
        press(slot, now);
    }
    if (is_told && pool->work->tick && now >= pool->tick_ms) {
        pool->work->tick(pool->work->of);
        pool->tick_ms = now + TICK_MS;
    }
    return st;
}

static struct slot *free_slot(const struct pool *pool)
{
    for (unsigned i = 0; i < pool->work->jobs; i++)
        if (!pool->slots[i].pid)
            return &pool->slots[i];
    return NULL;
}

/* Begin as many as there is place for.  Where the system has no process left, those that run are waited for. */
static tm_status fill(struct pool *pool, const struct kept_signals *kept, size_t *next)
{
    const struct timespec pause = { .tv_nsec = FORK_WAIT_MS * 1000000L };
    struct slot *slot;
    int attempts = 0;

    while (*next < pool->work->count && !asked_to_end && (slot = free_slot(pool)) != NULL) {
        const int problem = start(pool, kept, slot, *next);

        if (!problem) {
            ++*next;
            attempts = 0;
            continue;
        }
        if (pool->running)
            return TM_OK;
        if (++attempts == FORK_ATTEMPTS)
            return tm_fail_system(&pool->run->error, TM_ERR_LIMIT, -1, problem, "cannot start a process");
        (void)nanosleep(&pause, NULL);
    }
    return TM_OK;
}

static void end_all(struct pool *pool)
{
    for (unsigned i = 0; i < pool->work->jobs; i++)
        if (pool->slots[i].pid)
            pool->slots[i].stop_ms = 0;
    while (pool->running) {
        (void)take_news(pool, false);
        if (pool->running)
            wait_for_news(pool);
    }
}

static tm_status work_all(struct pool *pool, const struct kept_signals *kept)
{
    size_t next = 0;
    tm_status st = TM_OK;

    do {
        st = fill(pool, kept, &next);
        if (st == TM_OK && pool->running) {
            wait_for_news(pool);
            st = take_news(pool, true);
        }
    } while (st == TM_OK && !asked_to_end && (pool->running || next < pool->work->count));
    end_all(pool);
    return st;
}

tm_status tm_work_all(struct tm_run *run, const struct tm_work *work)
{
    const unsigned jobs = work->jobs < JOBS_MOST ? (work->jobs ? work->jobs : 1) : JOBS_MOST;
    struct tm_work limited = *work;
    struct pool pool = { .run = run, .work = &limited, .tick_ms = now_ms() + TICK_MS };
    struct kept_signals kept;
    tm_status st;

    limited.jobs = work->count < jobs ? (unsigned)work->count : jobs;
    if (!limited.jobs)
        return TM_OK;
    pool.slots = tm_take(&run->budget, TM_ACCOUNT_MODEL, limited.jobs * sizeof(*pool.slots), &run->error);
    pool.polled = pool.slots
                      ? tm_take(&run->budget, TM_ACCOUNT_MODEL, limited.jobs * sizeof(*pool.polled), &run->error)
                      : NULL;
    keep_signals(&kept);
    pool.before = kept.mask;
    st = pool.polled ? work_all(&pool, &kept) : run->error.status;
    tm_give(&run->budget, TM_ACCOUNT_MODEL, pool.polled, pool.polled ? limited.jobs * sizeof(*pool.polled) : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, pool.slots, pool.slots ? limited.jobs * sizeof(*pool.slots) : 0);
    restore_signals(&kept);
    if (asked_to_end)
        (void)raise(asked_to_end);
    return st;
}
