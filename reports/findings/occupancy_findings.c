/* SPDX-License-Identifier: Apache-2.0 */
/* How full the kernels keep the device (summary.occupancy): kernels that leave the multiprocessors half empty, last
 * waves of blocks, and grids with fewer blocks than the device has multiprocessors.  Products of matrices are no case
 * of low occupancy: they keep their data in registers and shared memory, and are fast with few warps. */
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "reports/findings/finding.h"

enum { ROWS_NAMED = 4 };

static bool is_product(const struct tm_value *row)
{
    const char *category = tm_text(tm_get(row, "category"));

    return strcmp(category, "gemm/dot") == 0 || strcmp(category, "convolution") == 0 ||
           strcmp(category, "attention") == 0;
}

static bool is_limited_by(const struct tm_value *row, const char *limiter)
{
    return strcmp(tm_text(tm_get(row, "limiter")), limiter) == 0;
}

/* --- low occupancy --- */

/* What a kernel would win if its time fell as its occupancy rose to the limit: an upper bound. */
static int64_t low_stake(const struct tm_findings *all, const struct tm_value *row)
{
    const double aim = all->thresholds->kpi[TM_KPI_OCCUPANCY].good;
    const double occupancy = tm_double(tm_get(row, "occupancy_pct"));

    if (is_product(row) || is_limited_by(row, "grid") || occupancy >= aim)
        return 0;
    return tm_whole(tm_double(tm_get(row, "total_ps")) * (aim - occupancy) / aim);
}

static const char *words_of(const struct tm_value *row)
{
    static const struct { const char *limiter, *words; } table[] = {
        { "registers", ", limited by its registers" },
        { "shared_memory", ", limited by its shared memory" },
        { "block_size", ", limited by the size of its blocks" },
        { "grid", ", as its grid has no more blocks" },
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (is_limited_by(row, table[i].limiter))
            return table[i].words;
    }
    return "";
}

static void say_low(struct tm_finding *f, const struct tm_value *row)
{
    const struct tm_value *op = tm_get(row, "op");
    char name[TM_SHORT_NAME_BYTES], path[TM_SHORT_NAME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES],
        c[TM_FORMAT_BYTES];

    tm_finding_say(f, "'%s'%s%s: %s, %s of the kernel time, occupancy %s%s (block %s, %lld registers, %lld bytes of "
                      "shared memory).",
                   tm_short_name(name, tm_text(tm_get(row, "name"))), tm_has(op) ? " of " : "",
                   tm_has(op) ? tm_short_name(path, tm_text(op)) : "",
                   tm_format_time(a, tm_int(tm_get(row, "total_ps"))),
                   tm_format_pct(b, tm_double(tm_get(row, "share_pct"))),
                   tm_format_pct(c, tm_double(tm_get(row, "occupancy_pct"))), words_of(row),
                   tm_has(tm_get(row, "block")) ? tm_text(tm_get(row, "block")) : "not recorded",
                   (long long)tm_int(tm_get(row, "registers")), (long long)tm_int(tm_get(row, "shared_bytes")));
}

static void find_low(struct tm_findings *all)
{
    const struct tm_value *rows = tm_path(all->summary, "occupancy.low");
    int64_t stake_ps = 0;
    int said = 0;
    char mean[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!all->thresholds->kpi[TM_KPI_OCCUPANCY].has_bands || all->thresholds->kpi[TM_KPI_OCCUPANCY].good <= 0)
        return;
    for (size_t i = 0; i < tm_length(rows); i++)
        stake_ps = tm_sum_times(stake_ps, low_stake(all, tm_at(rows, i)));
    if (!tm_is_worth_mention(all, stake_ps))
        return;
    f = tm_finding_of_time(all, "occupancy_low", stake_ps);
    tm_finding_value(f, tm_double(tm_path(all->summary, "occupancy.mean_pct")), "%");
    tm_finding_limit(f, all->thresholds->kpi[TM_KPI_OCCUPANCY].good);
    tm_finding_say(f, "Occupancy is %s on average, weighted by time.",
                   tm_format_pct(mean, tm_double(tm_path(all->summary, "occupancy.mean_pct"))));
    for (size_t i = 0; i < tm_length(rows) && said < ROWS_NAMED; i++) {
        if (low_stake(all, tm_at(rows, i)) == 0)
            continue;
        say_low(f, tm_at(rows, i));
        said++;
    }
}

/* --- waves --- */

/* Only what loses much of its own time: every kernel has some last wave. */
static int64_t tail_stake(const struct tm_findings *all, const struct tm_value *row)
{
    const bool fills_once = tm_double(tm_get(row, "waves")) >= 1;

    return fills_once && tm_double(tm_get(row, "tail_pct")) >= tm_limit_of(all, TM_LIMIT_TAIL)
               ? tm_int(tm_get(row, "lost_ps"))
               : 0;
}

static void say_waves(struct tm_finding *f, const struct tm_value *row)
{
    char name[TM_SHORT_NAME_BYTES], a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES];

    tm_finding_say(f, "'%s': %.2f waves of blocks (grid %s), %s of its %s lost, %s.",
                   tm_short_name(name, tm_text(tm_get(row, "name"))), tm_double(tm_get(row, "waves")),
                   tm_text(tm_get(row, "grid")), tm_format_pct(a, tm_double(tm_get(row, "tail_pct"))),
                   tm_format_time(b, tm_int(tm_get(row, "total_ps"))),
                   tm_format_time(c, tm_int(tm_get(row, "lost_ps"))));
}

static void find_tail(struct tm_findings *all)
{
    const struct tm_value *rows = tm_path(all->summary, "occupancy.tail.rows");
    int64_t stake_ps = 0;
    int said = 0;
    struct tm_finding *f;

    for (size_t i = 0; i < tm_length(rows); i++)
        stake_ps = tm_sum_times(stake_ps, tail_stake(all, tm_at(rows, i)));
    if (!tm_is_worth_mention(all, stake_ps))
        return;
    f = tm_finding_of_time(all, "occupancy_tail", stake_ps);
    for (size_t i = 0; i < tm_length(rows) && said < ROWS_NAMED; i++) {
        if (tail_stake(all, tm_at(rows, i)) == 0)
            continue;
        say_waves(f, tm_at(rows, i));
        said++;
    }
}

static void find_small_grid(struct tm_findings *all)
{
    const int64_t idle_ps = tm_int(tm_path(all->summary, "occupancy.tail.idle_multiprocessors_ps"));
    const struct tm_value *rows = tm_path(all->summary, "occupancy.tail.rows");
    int said = 0;
    char a[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!tm_is_worth_mention(all, idle_ps))
        return;
    f = tm_finding_of_time(all, "occupancy_small_grid", idle_ps);
    tm_finding_say(f, "Multiprocessors without a block: as much as %s of the whole device.",
                   tm_format_time(a, idle_ps));
    for (size_t i = 0; i < tm_length(rows) && said < ROWS_NAMED; i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (!tm_has(tm_get(row, "waves")) || tm_double(tm_get(row, "waves")) >= 1)
            continue;
        say_waves(f, row);
        said++;
    }
}

void tm_find_occupancy(struct tm_findings *all)
{
    find_low(all);
    find_tail(all);
    find_small_grid(all);
}
