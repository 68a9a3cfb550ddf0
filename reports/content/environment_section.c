/* SPDX-License-Identifier: Apache-2.0 */
/* Environment: versions of what ran, and the devices that it had. */
#include <inttypes.h>
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "reports/content/say.h"

enum { COLUMNS_MOST = 16 };

/* What no row knows is no news here: there are many versions, and no program has all of them. */
static bool is_known(const struct tm_value *rows, const char *key)
{
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_cell cell = tm_cell_of_value(TM_CELL_WORD, tm_get(tm_at(rows, i), key));
        const enum tm_type type = tm_type_of(cell.value);

        if (!tm_cell_is_empty(&cell) && type != TM_ARRAY && type != TM_OBJECT)
            return true;
    }
    return false;
}

/* out: known  the columns that some row has; returned: how many */
static size_t choose(struct tm_column known[COLUMNS_MOST], const struct tm_column *columns, size_t count,
                     const struct tm_value *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < count && n < COLUMNS_MOST; i++)
        if (is_known(rows, columns[i].key))
            known[n++] = columns[i];
    return n;
}

static void say_hosts(const struct tm_content *content, const struct tm_value *hosts)
{
    static const struct tm_column columns[] = {
        { "Host", "host", TM_CELL_NAME },
        { "Framework", "framework", TM_CELL_WORD },
        { "Rank", "rank", TM_CELL_WORD },
        { "Ranks in the job", "world_size", TM_CELL_WORD },
        { "JAX", "jax", TM_CELL_WORD },
        { "jaxlib", "jaxlib", TM_CELL_WORD },
        { "Platform version", "platform_version", TM_CELL_NAME },
        { "CUDA", "cuda", TM_CELL_WORD },
        { "CUDA runtime", "cuda_runtime", TM_CELL_WORD },
        { "Driver", "driver", TM_CELL_WORD },
        { "ROCm", "rocm", TM_CELL_WORD },
        { "libtpu", "libtpu", TM_CELL_WORD },
        { "Process", "process_id", TM_CELL_WORD | TM_WIDE },
        { "Profile options", "profile_options", TM_CELL_NAME | TM_WIDE },
    };
    struct tm_column known[COLUMNS_MOST];
    const size_t n = choose(known, TM_FACTS(columns), hosts);

    if (tm_length(hosts) == 1)
        tm_say_facts(content, "environment-host", known, n, tm_at(hosts, 0));
    else if (n > 0)
        tm_say_table(content, &(struct tm_table){ .id = "environment-hosts",
                                                  .caption = "Hosts and versions",
                                                  .column = known,
                                                  .columns = n,
                                                  .rows = hosts,
                                                  .paper_rows = 32 });
}

static void say_dates(const struct tm_content *content, const struct tm_value *hosts)
{
    const struct tm_value *first = tm_at(hosts, 0);
    char begin[TM_FORMAT_BYTES] = "", end[TM_FORMAT_BYTES] = "";

    if (tm_has(tm_get(first, "begin_ns")))
        tm_format_date(begin, tm_int(tm_get(first, "begin_ns")));
    if (tm_has(tm_get(first, "end_ns")))
        tm_format_date(end, tm_int(tm_get(first, "end_ns")));
    if (*begin && *end && strcmp(begin, end) != 0)
        tm_say(content, TM_TONE_PLAIN, "The profile was taken from %s to %s.", begin, end);
    else if (*begin)
        tm_say(content, TM_TONE_PLAIN, "The profile was taken at %s.", begin);
}

/* By which clock the times of TPUs are. */
static void say_clocks(const struct tm_content *content, const struct tm_value *hosts)
{
    int64_t devices = 0, own = 0, jumps = 0, largest_ps = 0;
    char jump[TM_FORMAT_BYTES], count[TM_FORMAT_BYTES];

    for (size_t i = 0; i < tm_length(hosts); i++) {
        const struct tm_value *const clock = tm_get(tm_at(hosts, i), "tpu_clock");
        const int64_t host_largest_ps = tm_int(tm_get(clock, "largest_jump_ps"));

        devices = tm_sum_times(devices, tm_int(tm_get(clock, "devices")));
        own = tm_sum_times(own, tm_int(tm_get(clock, "own")));
        jumps = tm_sum_times(jumps, tm_int(tm_get(clock, "jumps")));
        largest_ps = host_largest_ps > largest_ps ? host_largest_ps : largest_ps;
    }
    if (devices > own)
        tm_say(content, TM_TONE_QUIET,
               "Times of %" PRId64 " of %" PRId64 " TPUs are as the profiler worked them out: times by their own clock are "
               "missing.",
               devices - own, devices);
    if (jumps)
        tm_say(content, TM_TONE_QUIET,
               "Times of TPUs are by their own clock. The recorded times jump against it %s times, by up to %s.",
               tm_format_count(count, jumps), tm_format_time(jump, largest_ps));
}

static void say_devices(const struct tm_content *content, const struct tm_value *devices)
{
    static const struct tm_column columns[] = {
        { "Model", "model", TM_CELL_NAME },
        { "Vendor", "vendor", TM_CELL_WORD },
        { "Kind", "kind", TM_CELL_WORD },
        { "Number", "count", TM_CELL_COUNT },
        { "Used", "used", TM_CELL_COUNT },
        { "Cores", "core_count", TM_CELL_COUNT },
        { "Memory", "memory_bytes", TM_CELL_BYTES },
        { "Memory bandwidth", "memory_bandwidth_bytes", TM_CELL_RATE },
        { "Peak TFLOP/s", "peak_tflops", TM_CELL_NUMBER },
    };

    struct tm_column known[COLUMNS_MOST];
    const size_t n = choose(known, TM_FACTS(columns), devices);

    if (n > 0)
        tm_say_table(content, &(struct tm_table){ .id = "environment-devices",
                                                  .caption = "Devices",
                                                  .column = known,
                                                  .columns = n,
                                                  .rows = devices });
}

static void say_environment(const struct tm_content *content)
{
    const struct tm_value *environment = tm_of(content, "environment"), *hosts = tm_get(environment, "hosts"),
                          *devices = tm_get(environment, "devices");

    say_hosts(content, hosts);
    say_dates(content, hosts);
    say_clocks(content, hosts);
    say_devices(content, devices);
}

static const char *nothing(const struct tm_value *summary)
{
    const bool is_any = tm_length(tm_path(summary, "environment.hosts")) > 0 ||
                        tm_length(tm_path(summary, "environment.devices")) > 0;

    return is_any ? "" : "the profile says nothing about its hosts and devices";
}

const struct tm_section tm_environment_section = { "environment", "Environment", "environment", say_environment,
                                                   nothing };
