/* SPDX-License-Identifier: Apache-2.0 */
/* The figures behind --stats, and the settings of jemalloc where the program is linked to it. */
#include "pipeline/memory_stats.h"

#include <inttypes.h>
#include <sys/resource.h>

#ifdef TM_HAVE_JEMALLOC
#include <jemalloc/jemalloc.h>

/* clang-format off */
/* Resident memory is what --memory promises, so it goes before the last bit of speed:
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
