/* SPDX-License-Identifier: Apache-2.0 */
/* What the process has from the system: memory, standard streams, signals.
 *
 * The figures behind --stats, and the settings of jemalloc where the program is linked to it. */
#include "pipeline/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipeline/options.h"
#include "pipeline/platform.h"
#include "pipeline/run.h"

#ifdef TM_HAVE_JEMALLOC
#include <jemalloc/jemalloc.h>

/* clang-format off */
/* Resident memory is what --memory promises, so it takes precedence over the last bit of speed:
 * narenas:1           the program has one thread that allocates; more arenas only spread it out
 * dirty_decay_ms:100  free pages go back to the system after a moment for reuse: windows of tens
 *                     of megabytes are released between phases, and the next phase must not come
 *                     on top of them
 * muzzy_decay_ms:0    no second state of half given back pages, which still count as resident
 * lg_tcache_max:12    the thread's cache keeps small blocks only (4 KiB): pages of 16 and 64 KiB
 *                     do not linger in it
 * The name is jemalloc's: it reads its options from this variable when the program starts. */
/* clang-format on */
extern const char *malloc_conf;
const char *malloc_conf = "narenas:1,dirty_decay_ms:100,muzzy_decay_ms:0,lg_tcache_max:12";

/* The heap of a small report is no larger than a few huge pages, so it keeps small ones. */
enum { LARGE_INPUT_BYTES = 1 << 20 };

static extent_hooks_t heap_hooks;
static extent_alloc_t *allocate_extent; /* jemalloc's; NULL = the heap has small pages */

static void *allocate_huge(extent_hooks_t *hooks, void *at, size_t bytes, size_t alignment, bool *is_zero,
                           bool *is_committed, unsigned arena)
{
    void *const extent = allocate_extent(hooks, at, bytes, alignment, is_zero, is_committed, arena);

    if (extent)
        (void)madvise(extent, bytes, MADV_HUGEPAGE);
    return extent;
}

void tm_memory_expect_input(uint64_t bytes)
{
    extent_hooks_t *hooks = NULL;
    size_t size = sizeof(hooks);

    if (bytes < LARGE_INPUT_BYTES || allocate_extent || mallctl("arena.0.extent_hooks", &hooks, &size, NULL, 0) != 0)
        return;
    heap_hooks = *hooks;
    allocate_extent = hooks->alloc;
    heap_hooks.alloc = allocate_huge;
    hooks = &heap_hooks;
    (void)mallctl("arena.0.extent_hooks", NULL, NULL, (void *)&hooks, sizeof(hooks));
}

static uint64_t read_figure(const char *name)
{
    size_t value = 0, bytes = sizeof(value);

    return mallctl(name, &value, &bytes, NULL, 0) == 0 ? value : 0;
}

static void read_jemalloc(struct tm_memory_stats *out)
{
    uint64_t epoch = 1;

    (void)mallctl("epoch", NULL, NULL, &epoch, sizeof(epoch)); /* or the figures would be old ones */
    out->allocated_bytes = read_figure("stats.allocated");
    out->active_bytes = read_figure("stats.active");
    out->resident_bytes = read_figure("stats.resident");
}
#else
static void read_jemalloc(struct tm_memory_stats *out)
{
    (void)out;
}

void tm_memory_expect_input(uint64_t bytes)
{
    (void)bytes;
}
#endif

void tm_memory_stats(struct tm_memory_stats *out)
{
    struct rusage usage;

    *out = (struct tm_memory_stats){ 0 };
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        out->peak_resident_bytes = (uint64_t)usage.ru_maxrss * 1024; /* Linux counts in KiB */
    read_jemalloc(out);
}

static double mib(uint64_t bytes)
{
    return (double)bytes / TM_MIB;
}

static void print_memory(const struct tm_run *run, FILE *to)
{
    struct tm_memory_stats memory;

    tm_memory_stats(&memory);
    fprintf(to, "memory, peak      %12.1f MiB of %.0f MiB\n", mib(memory.peak_resident_bytes),
            mib(run->budget.limit_bytes));
    if (memory.resident_bytes != 0)
        fprintf(to, "jemalloc, at end  %12.1f MiB resident, %.1f MiB active, %.1f MiB allocated\n",
                mib(memory.resident_bytes), mib(memory.active_bytes), mib(memory.allocated_bytes));
    fprintf(to, "spilled           %12.1f MiB\n", mib(run->budget.spilled_bytes));
    fprintf(to, "account              peak MiB   share MiB\n");
    for (int i = 0; i < TM_ACCOUNT_COUNT; i++) {
        const enum tm_account account = (enum tm_account)i;

        fprintf(to, "  %-16s %11.2f %11.2f\n", tm_account_name[i], mib(run->budget.peak_bytes[i]),
                mib(tm_budget_share(&run->budget, account)));
    }
}

void tm_stats_print(const struct tm_run *run, double cpu_seconds, FILE *to)
{
    fprintf(to, "events            %12" PRIu64 "\n", run->events_read);
    fprintf(to, "bytes read        %12" PRIu64 "\n", run->bytes_read);
    fprintf(to, "CPU seconds       %12.3f\n", cpu_seconds);
    if (cpu_seconds > 0)
        fprintf(to, "events per second %12.0f (of CPU time)\n", (double)run->events_read / cpu_seconds);
    print_memory(run, to);
}

/* The standard streams: whether somebody reads them, and whether everything went out. */

bool tm_terminal_has_colors(const struct tm_options *options, FILE *stream)
{
    const char *const refused = getenv("NO_COLOR");
    const char *const terminal = getenv("TERM");

    if (options->color != TM_COLOR_AUTO)
        return options->color == TM_COLOR_ALWAYS;
    return !(refused && refused[0]) && terminal && strcmp(terminal, "dumb") != 0 && isatty(fileno(stream));
}

bool tm_terminal_reader_is_gone(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO };

    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

void tm_terminal_keep_numbers(void)
{
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
        /* Reading only: what is written to a stdout that was closed fails, as it should. */
        if (fcntl(number, F_GETFD) < 0 && open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
    }
}

tm_status tm_terminal_finish(struct tm_error *error)
{
    const bool failed_before = ferror(stdout) != 0;
    const bool is_gone = tm_terminal_reader_is_gone();

    errno = 0;
    if (fclose(stdout) == 0 && !failed_before)
        return TM_OK;
    if (errno == EPIPE || is_gone)
        return TM_OK;
    if (errno)
        return tm_fail_system(error, TM_ERR_OUTPUT, -1, errno, "cannot write to standard output");
    return tm_fail(error, TM_ERR_OUTPUT, -1, "cannot write to standard output: the output is incomplete");
}

/* A fixed table of paths that the signal handler unlinks.  A slot is `used` only while its path is
 * complete, so the handler may come at any moment; it calls nothing but async-signal-safe functions
 * (signal-safety(7)). */

static struct {
    char path[TM_SIGNAL_PATH_BYTES];
    volatile sig_atomic_t used;
} guarded[TM_SIGNAL_PATHS];

static struct tm_guarded_folder *volatile guarded_folder;

static volatile sig_atomic_t guarded_group;

void tm_guarded_folder_remove(const struct tm_guarded_folder *folder)
{
    for (int i = 0; i < folder->count; i++)
        (void)unlinkat(folder->fd, folder->name[i], 0);
    (void)rmdir(folder->path);
}

static void remove_incomplete(void)
{
    for (size_t i = 0; i < TM_SIGNAL_PATHS; i++) {
        if (guarded[i].used)
            (void)unlink(guarded[i].path);
    }
    if (guarded_folder)
        tm_guarded_folder_remove(guarded_folder);
}

/* What the process prints when it passes its deadline. */
static const char *deadline_text;
static size_t deadline_bytes;

static void end_at_deadline(int number)
{
    (void)number;
    remove_incomplete();
    if (write(STDERR_FILENO, deadline_text, deadline_bytes) < 0)
        _exit(TM_ERR_OUTPUT);
    _exit(TM_ERR_LIMIT);
}

void tm_signals_deadline(uint64_t ns, const char *text)
{
    const struct itimerval after = { .it_value = { .tv_sec = (time_t)(ns / 1000000000),
                                                   .tv_usec = (suseconds_t)(ns / 1000 % 1000000) } };
    const struct sigaction action = { .sa_handler = end_at_deadline };

    deadline_text = text;
    deadline_bytes = strlen(text);
    if (sigaction(SIGALRM, &action, NULL) == 0)
        (void)setitimer(ITIMER_REAL, &after, NULL);
}

static void end_by_signal(int number)
{
    if (guarded_group && kill(-guarded_group, number) == 0) {
        while (waitpid(guarded_group, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    remove_incomplete();
    /* SA_RESETHAND gave the signal its default meaning back; the handler still blocks it. */
    sigset_t only;

    (void)sigemptyset(&only);
    (void)sigaddset(&only, number);
    (void)raise(number);
    (void)sigprocmask(SIG_UNBLOCK, &only, NULL);
    _exit(128 + number); /* the first process of a container is not ended by a default action */
}

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

void tm_signals_install(void)
{
    struct sigaction action = { .sa_handler = end_by_signal, .sa_flags = (int)SA_RESETHAND };
    struct sigaction before;

    (void)sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        /* what a shell or nohup had ignored stays ignored */
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(ends[i], &action, NULL);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
}

void tm_signals_hold(sigset_t *before)
{
    sigset_t held;

    (void)sigemptyset(&held);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        (void)sigaddset(&held, ends[i]);
    (void)sigprocmask(SIG_BLOCK, &held, before);
}

void tm_signals_let(const sigset_t *before)
{
    (void)sigprocmask(SIG_SETMASK, before, NULL);
}

void tm_signals_guard(const char *path)
{
    const size_t bytes = strlen(path) + 1;

    if (bytes > TM_SIGNAL_PATH_BYTES)
        return;
    for (size_t i = 0; i < TM_SIGNAL_PATHS; i++) {
        if (guarded[i].used)
            continue;
        memcpy(guarded[i].path, path, bytes);
        atomic_signal_fence(memory_order_seq_cst);
        guarded[i].used = 1;
        return;
    }
}

void tm_signals_release(const char *path)
{
    for (size_t i = 0; i < TM_SIGNAL_PATHS; i++) {
        if (guarded[i].used && strcmp(guarded[i].path, path) == 0)
            guarded[i].used = 0;
    }
}

void tm_signals_guard_group(pid_t group)
{
    guarded_group = group;
}

void tm_signals_guard_folder(struct tm_guarded_folder *folder)
{
    atomic_signal_fence(memory_order_seq_cst);
    guarded_folder = folder;
}

void tm_signals_release_folder(void)
{
    guarded_folder = NULL;
}
