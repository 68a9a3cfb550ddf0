/* SPDX-License-Identifier: Apache-2.0 */
/* Data: copies that the device waits for (summary.transfers, summary.total), and device memory (summary.memory). */
#include <string.h>

#include "pipeline/store/bounded_sum.h"
#include "reports/findings/finding.h"

/* --- copies ---
 * Per direction, repeated in every step, from pageable memory, and round trips between host and device.  The potential
 * savings are the exposed copy time, in the finding for its direction: a copy that overlaps with a kernel costs no time
 * in the window.  The other findings show which of these copies are avoidable and claim no time. */

#define BYTES_PER_MIB 1048576.0

static const struct tm_value *row_of(const struct tm_findings *all, const char *direction)
{
    return tm_find(tm_path(all->summary, "transfers.by_direction"), "direction", direction);
}

/* The total of the sweep, which exists even without a table of copies. */
static int64_t exposed_of(const struct tm_findings *all, const char *direction)
{
    const struct tm_value *swept = tm_get(tm_path(all->summary, "total.exposed_by_direction_ps"), direction);

    if (!tm_has(swept))
        swept = tm_get(row_of(all, direction), "exposed_ps");
    return tm_clamp_to_window(all, tm_int(swept));
}

/* The path of a device's part of it. */
enum { DIRECTION_PATH_BYTES = 48 };

static const char *path_of(char out[DIRECTION_PATH_BYTES], const char *direction)
{
    (void)snprintf(out, DIRECTION_PATH_BYTES, "exposed_by_direction_ps.%s", direction);
    return out;
}

static void emit_copies(struct tm_finding *f, const struct tm_value *row)
{
    const int64_t count = tm_int(tm_get(row, "count"));
    const struct tm_value *bytes = tm_get(row, "bytes"), *rate = tm_get(row, "mean_bandwidth");

    if (count <= 0)
        return;
    if (tm_has(tm_get(row, "total_ps")))
        tm_finding_emit(f, "copies", row);
    if (tm_has(bytes))
        tm_finding_emit_with(f, "copied_bytes", row, tm_given_double("mean_bytes", tm_double(bytes) / (double)count));
    else
        tm_finding_emit(f, "no_sizes", NULL);
    if (tm_has(rate) && tm_double(rate) > 0)
        tm_finding_emit(f, "copy_rate", row);
}

static void emit_largest(struct tm_findings *all, struct tm_finding *f, const char *direction)
{
    const struct tm_value *largest = tm_path(all->summary, "transfers.largest");
    int said = 0;

    for (size_t i = 0; i < tm_length(largest); i++) {
        const struct tm_value *copy = tm_at(largest, i);
        const char *device = tm_text(tm_get(copy, "device"));

        if (strcmp(tm_text(tm_get(copy, "direction")), direction) != 0)
            continue;
        if (said++ < 2)
            tm_finding_emit(f, "copy", copy);
        tm_finding_where(f, tm_int(tm_get(copy, "begin_ps")), tm_int(tm_get(copy, "dur_ps")), device);
    }
}

static void find_direction(struct tm_findings *all, const char *direction, const char *id)
{
    const int64_t exposed_ps = exposed_of(all, direction);
    char path[DIRECTION_PATH_BYTES];
    struct tm_finding *f;

    if (!tm_is_worth_mention_on(all, exposed_ps, path_of(path, direction)))
        return;
    f = tm_finding_of_idle(all, id, exposed_ps, 0, path);
    tm_finding_emit_with(f, "nothing_beside", NULL, tm_given_int("exposed_ps", exposed_ps),
                         tm_given_double("share_pct", tm_share_pct(exposed_ps, all->window_ps)));
    tm_finding_emit_scope(all, f, path);
    emit_copies(f, row_of(all, direction));
    emit_largest(all, f, direction);
}

/* Is a row of transfers.repeated in this direction, and large enough? */
static bool is_repeated(const struct tm_findings *all, const struct tm_value *row, const char *direction)
{
    return strcmp(tm_text(tm_get(row, "direction")), direction) == 0 &&
           tm_double(tm_get(row, "bytes")) >= tm_limit_of(all, TM_LIMIT_REPEATED_SIZE) * BYTES_PER_MIB;
}

/* Repeated copies in a direction: their time, at most what is exposed.  The finding for the direction claims it. */
static void find_repeated(struct tm_findings *all, const char *direction, const char *id)
{
    const struct tm_value *rows = tm_path(all->summary, "transfers.repeated");
    const int64_t exposed_ps = exposed_of(all, direction);
    char path[DIRECTION_PATH_BYTES];
    struct tm_finding *f = NULL;
    int64_t total_ps = 0;

    for (size_t i = 0; i < tm_length(rows); i++) {
        if (is_repeated(all, tm_at(rows, i), direction))
            total_ps = tm_sum_times(total_ps, tm_int(tm_get(tm_at(rows, i), "total_ps")));
    }
    if (total_ps > exposed_ps)
        total_ps = exposed_ps;
    if (!tm_is_worth_mention_on(all, total_ps, path_of(path, direction)))
        return;
    f = tm_finding_of_share(all, id, total_ps, path);
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (is_repeated(all, row, direction))
            tm_finding_emit(f, "repeated_copies", row);
    }
}

static void find_pageable(struct tm_findings *all)
{
    const struct tm_value *pageable = tm_path(all->summary, "transfers.pageable");
    const int64_t pageable_ps = tm_int(tm_get(pageable, "total_ps"));
    const double share = tm_double(tm_get(pageable, "share_pct"));
    const int64_t exposed_ps = tm_clamp_to_window(all, tm_sum_times(exposed_of(all, "h2d"), exposed_of(all, "d2h")));
    const int64_t stake_ps = pageable_ps < exposed_ps ? pageable_ps : exposed_ps;
    struct tm_finding *f;

    if (share < tm_limit_of(all, TM_LIMIT_PAGEABLE_SHARE) || !tm_is_worth_mention_on(all, stake_ps, "exposed_copy_ps"))
        return;
    f = tm_finding_of_share(all, "transfer_pageable", stake_ps, "exposed_copy_ps");
    tm_finding_emit(f, "all", pageable);
}

static void find_ping_pong(struct tm_findings *all)
{
    const int64_t count = tm_int(tm_path(all->summary, "transfers.ping_pong.count"));
    const int64_t chosen = tm_int(tm_path(all->summary, "steps.chosen"));
    const double per_step = (double)count / (double)(chosen > 0 ? chosen : 1);
    const int64_t h2d_ps = exposed_of(all, "h2d"), d2h_ps = exposed_of(all, "d2h");
    const int64_t half_ps = h2d_ps < d2h_ps ? h2d_ps : d2h_ps; /* a round trip has both directions */
    const int64_t stake_ps = tm_clamp_to_window(all, tm_sum_times(half_ps, half_ps));
    struct tm_finding *f;

    if (count < 2 || per_step < tm_limit_of(all, TM_LIMIT_PING_PONG) ||
        !tm_is_worth_mention_on(all, stake_ps, "exposed_copy_ps"))
        return;
    f = tm_finding_of_share(all, "transfer_ping_pong", stake_ps, "exposed_copy_ps");
    tm_finding_emit_with(f, "trips", NULL, tm_given_double("per_step", per_step));
    tm_finding_emit_with(f, "exposed", NULL, tm_given_int("exposed_ps", tm_sum_times(h2d_ps, d2h_ps)));
}

void tm_find_transfers(struct tm_findings *all)
{
    find_direction(all, "h2d", "transfer_h2d");
    find_direction(all, "d2h", "transfer_d2h");
    find_direction(all, "p2p", "transfer_p2p");
    find_direction(all, "d2d", "transfer_d2d");
    find_direction(all, "other", "transfer_other");
    find_repeated(all, "h2d", "transfer_repeated_h2d");
    find_repeated(all, "d2h", "transfer_repeated_d2h");
    find_pageable(all);
    find_ping_pong(all);
}

/* --- memory ---
 * Growth, many small buffers, near the limit, spikes, fragmentation.  They cost no time until memory is exhausted, so
 * their severity is fixed. */

#define PS_PER_MS 1000000000LL
enum { STEPS_LEAST = 4 };
static void find_near_limit(struct tm_findings *all, const struct tm_value *allocator)
{
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_PEAK_MEMORY];
    const struct tm_value *peak_pct = tm_get(allocator, "peak_pct");
    const double pct = tm_double(peak_pct);
    char a[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!tm_has(peak_pct) || !kpi->has_bands || pct < kpi->good)
        return;
    f = tm_finding_of_fact(all, "memory_near_limit");
    if (pct > kpi->bad)
        tm_finding_case(f, "full");
    tm_finding_argument(f, "share", "%s", tm_format_pct(a, pct));
    tm_finding_value(f, pct, "%");
    tm_finding_limit(f, kpi->good);
    tm_finding_emit(f, "peak", allocator);
    tm_finding_emit_rows(f, "holder", tm_get(allocator, "holders"), 3, 0);
    tm_finding_where(f, tm_int(tm_get(allocator, "peak_at_ps")), PS_PER_MS, tm_text(tm_get(allocator, "host")));
}

/* Harmless while memory has room. */
static void find_spikes(struct tm_findings *all, const struct tm_value *allocator)
{
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_PEAK_MEMORY];
    const struct tm_value *spikes = tm_get(allocator, "spikes"), *peak_pct = tm_get(allocator, "peak_pct");
    const int64_t count = tm_int(tm_get(allocator, "spike_count")); /* the list has the largest ones */
    struct tm_finding *f;

    if (tm_length(spikes) == 0 || !tm_has(peak_pct) || !kpi->has_bands || tm_double(peak_pct) < kpi->good)
        return;
    f = tm_finding_of_fact(all, "memory_spikes");
    if (tm_double(peak_pct) > kpi->bad)
        tm_finding_case(f, "full");
    tm_finding_value(f, (double)count, "count");
    tm_finding_emit(f, "count", allocator);
    for (size_t i = 0; i < tm_length(spikes) && i < TM_WHERE_MOST; i++) {
        const struct tm_value *spike = tm_at(spikes, i);

        if (i < 3)
            tm_finding_emit(f, "spike", spike);
        tm_finding_where(f, tm_int(tm_get(spike, "begin_ps")), PS_PER_MS, tm_text(tm_get(allocator, "host")));
    }
}

/* Reported only for an allocator that is nearly full, like spikes. */
static void find_fragmentation(struct tm_findings *all, const struct tm_value *allocator)
{
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_PEAK_MEMORY];
    const struct tm_value *fragmentation = tm_get(allocator, "fragmentation_pct"),
                          *peak_pct = tm_get(allocator, "peak_pct");
    struct tm_finding *f;

    if (!tm_has(fragmentation) || tm_double(fragmentation) < tm_limit_of(all, TM_LIMIT_FRAGMENTATION) ||
        !tm_has(peak_pct) || !kpi->has_bands || tm_double(peak_pct) < kpi->good)
        return;
    f = tm_finding_of_fact(all, "memory_fragmentation");
    tm_finding_value(f, tm_double(fragmentation), "%");
    tm_finding_limit(f, tm_limit_of(all, TM_LIMIT_FRAGMENTATION));
    tm_finding_emit(f, "all", allocator);
}

/* --- from step to step --- */

/* Bytes leaked per step; 0 = not known.  Counts buffers allocated and never freed in each of the first three quarters
 * of the profile: a buffer allocated once, or still live at the end, is not growth. */
static double growth_of(const struct tm_findings *all, const struct tm_value *allocator)
{
    const struct tm_value *kept = tm_get(allocator, "kept"), *quarters = tm_get(kept, "quarters_bytes");
    const int64_t steps = tm_int(tm_path(all->summary, "steps.count"));
    double sum = 0, least = 0, most = 0;

    if (steps < STEPS_LEAST || tm_query_is_session(all->summary) || tm_int(tm_get(kept, "count")) < steps)
        return 0;
    for (size_t i = 0; i + 1 < tm_length(quarters); i++) {
        const double bytes = tm_double(tm_at(quarters, i));

        sum += bytes;
        least = i == 0 || bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    return 4 * least >= most ? sum / (0.75 * (double)steps) : 0;
}

static void find_growth(struct tm_findings *all, const struct tm_value *allocator)
{
    const double growth = growth_of(all, allocator), capacity = tm_double(tm_get(allocator, "capacity_bytes"));
    const double room = capacity - tm_double(tm_get(allocator, "peak_bytes"));
    const bool is_known = tm_has(tm_get(allocator, "capacity_bytes")) && room > 0;
    const struct tm_value *kept = tm_get(allocator, "kept");
    const int64_t kept_count = tm_int(tm_get(kept, "count")), steps = tm_int(tm_path(all->summary, "steps.count"));
    char a[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!(growth > 0))
        return;
    f = tm_finding_of_fact(all, "memory_growth");
    if (is_known && room / growth <= tm_limit_of(all, TM_LIMIT_STEPS_TO_FULL))
        tm_finding_case(f, "soon_full");
    tm_finding_argument(f, "bytes", "%s", tm_format_bytes(a, growth));
    tm_finding_value(f, growth, "bytes");
    tm_finding_emit_with(f, "kept", allocator,
                         tm_given_double("per_step", (double)kept_count / (double)(steps > 0 ? steps : 1)));
    tm_finding_emit(f, "quarters", allocator);
    if (tm_has(tm_get(kept, "op")) || tm_has(tm_get(kept, "shape")))
        tm_finding_emit(f, "largest", kept);
    if (is_known)
        tm_finding_emit_with(f, "full", NULL, tm_given_double("room_bytes", room),
                             tm_given_int("steps", tm_whole(room / growth)));
}

/* TensorFlow's "gpu_host_bfc" allocates host memory for transfers, not device memory. */
static double rank_small(const struct tm_value *allocator)
{
    if (strstr(tm_text(tm_get(allocator, "name")), "host"))
        return -1;
    return tm_double(tm_get(allocator, "small_allocations"));
}

/* PyTorch's allocator is exempt: its small blocks are common and cheap. */
static void find_small_allocations(struct tm_findings *all, const struct tm_value *allocator)
{
    const int64_t small = rank_small(allocator) < 0 ? 0 : tm_int(tm_get(allocator, "small_allocations"));
    const int64_t count = tm_int(tm_get(allocator, "allocations")),
                  steps = tm_int(tm_path(all->summary, "steps.count"));
    const double per_step = (double)small / (double)(steps > 0 ? steps : 1);
    struct tm_finding *f;

    if (per_step < tm_limit_of(all, TM_LIMIT_SMALL_ALLOCATIONS) || all->audience & TM_FOR_TORCH || steps < 2 ||
        tm_query_is_session(all->summary))
        return;
    f = tm_finding_of_fact(all, "memory_allocations");
    tm_finding_value(f, per_step, "count");
    tm_finding_limit(f, tm_limit_of(all, TM_LIMIT_SMALL_ALLOCATIONS));
    tm_finding_emit_with(f, "count", allocator,
                         tm_given_double("per_step", (double)count / (double)(steps > 0 ? steps : 1)),
                         tm_given_int("small", small),
                         tm_given_double("share_pct", count > 0 ? 100 * (double)small / (double)count : 0));
    if (tm_has(tm_get(allocator, "allocations_per_s")))
        tm_finding_emit(f, "rate", allocator);
}

static double rank_peak(const struct tm_value *allocator)
{
    const struct tm_value *pct = tm_get(allocator, "peak_pct");

    return tm_has(pct) ? tm_double(pct) : -1;
}

static double rank_spikes(const struct tm_value *allocator)
{
    return tm_length(tm_get(allocator, "spikes")) ? rank_peak(allocator) : -1;
}

static double rank_fragmentation(const struct tm_value *allocator)
{
    const struct tm_value *pct = tm_get(allocator, "fragmentation_pct");

    /* the most fragmented of the full ones */
    return tm_has(pct) ? rank_peak(allocator) * tm_double(pct) : -1;
}

static bool is_near_limit(const struct tm_findings *all)
{
    const struct tm_threshold *kpi = &all->thresholds->kpi[TM_KPI_PEAK_MEMORY];
    const struct tm_value *fullest = tm_highest_row(tm_path(all->summary, "memory.allocators"), rank_peak);

    return fullest && kpi->has_bands && rank_peak(fullest) > kpi->bad;
}

/* The call site that holds the most in a device memory profile.  Not a problem unless memory is short. */
static void find_holders(struct tm_findings *all, const struct tm_value *profile)
{
    const struct tm_value *sites = tm_get(profile, "sites"), *first = tm_at(sites, 0);
    const bool is_program = strcmp(tm_text(tm_get(first, "kind")), "executable") == 0;
    char name[TM_SHORT_NAME_BYTES], place[TM_SHORT_NAME_BYTES], share[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (!tm_has(tm_get(first, "share_pct")))
        return;
    f = tm_finding_of_fact(all, "memory_holders");
    if (is_near_limit(all))
        tm_finding_case(f, "full");
    if (is_program)
        tm_finding_case(f, "programs");
    tm_finding_argument(f, "share", "%s", tm_row_pct(share, first, "share_pct"));
    tm_finding_argument(f, "holder", "%s", tm_row_name(name, first, "function"));
    tm_finding_argument(f, "place", "%.80s", tm_short_name(place, tm_file_of(tm_text(tm_get(first, "source")))));
    tm_finding_value(f, tm_double(tm_get(first, "share_pct")), "%");
    tm_finding_emit_with(
        f, "all", profile,
        tm_given_int("places", (int64_t)tm_length(sites) + tm_int(tm_path(profile, "rest.sites.rows"))));
    for (size_t i = 0; i < tm_length(sites) && i < 3; i++)
        if (tm_has(tm_get(tm_at(sites, i), "bytes")))
            tm_finding_emit(f, "site", tm_at(sites, i));
}

/* The profile with the most bytes. */
static double rank_profile(const struct tm_value *profile)
{
    return tm_double(tm_get(profile, "total_bytes"));
}

void tm_find_memory(struct tm_findings *all)
{
    const struct tm_value *list = tm_path(all->summary, "memory.allocators");
    const struct tm_value *profiles = tm_path(all->summary, "memory.device_profiles"), *grown = NULL;

    if (tm_length(profiles) > 0)
        find_holders(all, tm_highest_row(profiles, rank_profile));

    if (tm_length(list) == 0)
        return;
    for (size_t i = 0; i < tm_length(list); i++)
        grown = !grown || growth_of(all, tm_at(list, i)) > growth_of(all, grown) ? tm_at(list, i) : grown;
    find_growth(all, grown);
    find_small_allocations(all, tm_highest_row(list, rank_small));
    find_near_limit(all, tm_highest_row(list, rank_peak));
    find_spikes(all, tm_highest_row(list, rank_spikes));
    find_fragmentation(all, tm_highest_row(list, rank_fragmentation));
}
