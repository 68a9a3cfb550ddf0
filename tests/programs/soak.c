/* SPDX-License-Identifier: Apache-2.0 */
/* Report after report in one process, by the function that a process of a batch calls, and what the process holds after
 * each.
 *
 *   soak [-n REPORTS] [-l BYTES] FOLDER INPUT...     -l: lose so many bytes with each, to see whether that is noticed
 *
 * Inputs come in turn, and with each round of them the next list of formats.  FOLDER is written again and again.  A line
 * for each report, of numbers with tabs between them: status of tm_report_make, bytes in the ledger, resident KiB, bytes
 * allocated, open files, mappings, threads. */
#include <dirent.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef TM_HAVE_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

#include "pipeline/commands/commands.h"
#include "pipeline/options.h"
#include "pipeline/process.h"
#include "pipeline/store/rows.h"

static const uint32_t rounds[] = {
    TM_FORMAT_JSON,
    TM_FORMAT_HTML | TM_FORMAT_JSON | TM_FORMAT_TEXT,
    TM_FORMAT_PDF,
    TM_FORMAT_MARKDOWN | TM_FORMAT_CSV | TM_FORMAT_COLLAPSED,
    TM_FORMAT_PARTIAL | TM_FORMAT_JSON,
    TM_FORMAT_PERFETTO,
};
enum { ROUNDS = sizeof(rounds) / sizeof(*rounds) };

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- what the process holds ---- */

/* Without what the allocator keeps at hand for the next one who asks. */
static uint64_t allocated_bytes(void)
{
    struct tm_memory_stats stats;

#ifdef TM_HAVE_JEMALLOC
    (void)mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
#endif
    tm_memory_stats(&stats);
    return stats.allocated_bytes ? stats.allocated_bytes : (uint64_t)mallinfo2().uordblks;
}

static uint64_t resident_kib(void)
{
    FILE *const file = fopen("/proc/self/statm", "r");
    char line[128], *rest;

    if (!file || !fgets(line, sizeof(line), file))
        give_up("soak: statm");
    (void)fclose(file);
    (void)strtoull(line, &rest, 10); /* the whole */
    return strtoull(rest, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

/* Entries of a folder of /proc. */
static unsigned count_entries(const char *path)
{
    DIR *const folder = opendir(path);
    unsigned count = 0;

    if (!folder)
        give_up(path);
    while (readdir(folder))
        count++;
    (void)closedir(folder);
    return count - 2; /* . and .. */
}

static unsigned count_mappings(void)
{
    FILE *const file = fopen("/proc/self/maps", "r");
    unsigned count = 0;

    if (!file)
        give_up("soak: maps");
    for (int c = getc(file); c != EOF; c = getc(file))
        count += c == '\n';
    (void)fclose(file);
    return count;
}

static uint64_t ledger_bytes(const struct tm_run *run)
{
    uint64_t bytes = 0;

    for (int i = 0; i < TM_ACCOUNT_COUNT; i++)
        bytes += run->budget.used_bytes[i];
    return bytes;
}

/* ---- one report ---- */

static tm_status report(struct tm_run *run, const char *folder, char *input, uint32_t formats)
{
    static struct tm_setting_set settings;
    struct tm_options options = { .input_count = 0 };
    tm_status st;

    tm_settings_init(&settings);
    st = tm_settings_apply(&settings, &options, &run->error);
    options.inputs = &input;
    options.input_count = 1;
    options.output = folder;
    options.formats = formats;
    options.quiet = true;
    tm_budget_init(&run->budget, options.memory_bytes);
    return st == TM_OK ? tm_report_make(run, &options, NULL) : st;
}

/* Memory that nobody gives back, on purpose: only the last of it is known. */
static void lose(size_t bytes)
{
    static void *volatile last;

    if (bytes)
        last = malloc(bytes);
    if (bytes && last)
        memset(last, 1, bytes);
}

int main(int argc, char **argv)
{
    static struct tm_run run;
    unsigned long reports = 1, lost_bytes = 0;
    FILE *told;
    int option;

    while ((option = getopt(argc, argv, "n:l:")) != -1) {
        if (option == 'n')
            reports = strtoul(optarg, NULL, 10);
        else if (option == 'l')
            lost_bytes = strtoul(optarg, NULL, 10);
        else
            return 2;
    }
    if (argc - optind < 2)
        return 2;
    told = fdopen(dup(STDOUT_FILENO), "w");
    if (!told || !freopen("/dev/null", "w", stdout))
        give_up("soak: stdout");
    for (unsigned long i = 0; i < reports; i++) {
        const unsigned long inputs = (unsigned long)(argc - optind - 1);
        tm_status st;

        run = (struct tm_run){ .spill_dir = argv[optind], .quiet = true };
        tm_progress_init(&run.progress, true);
        st = report(&run, argv[optind], argv[(unsigned long)optind + 1 + i % inputs], rounds[i / inputs % ROUNDS]);
        lose(lost_bytes);
        (void)fprintf(told, "%d\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%u\t%u\t%u\n", (int)st, ledger_bytes(&run),
                      resident_kib(), allocated_bytes(), count_entries("/proc/self/fd"), count_mappings(),
                      count_entries("/proc/self/task"));
    }
    return fclose(told) == 0 ? 0 : 1;
}
