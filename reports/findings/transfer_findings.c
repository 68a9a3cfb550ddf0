/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that the device waits for (summary.transfers, summary.total): per direction, repeated in
 * every step, from pageable memory, and back and forth between host and device.  What is at stake
 * is exposed copy time, in the finding on its direction: a copy beside a kernel costs nothing that the window shows.
 * The others say which of these copies need not be, without counting their time once more. */
#include <string.h>

#include "pipeline/bounded_sum.h"
#include "reports/findings/finding.h"

#define BYTES_PER_MIB 1048576.0

static const struct tm_value *row_of(const struct tm_findings *all, const char *direction)
{
    const struct tm_value *rows = tm_path(all->summary, "transfers.by_direction");

    for (size_t i = 0; i < tm_length(rows); i++) {
        if (strcmp(tm_text(tm_get(tm_at(rows, i), "direction")), direction) == 0)
            return tm_at(rows, i);
    }
    return NULL;
}

/* The sweep's figure, which there is without a table of copies too. */
static int64_t exposed_of(const struct tm_findings *all, const char *direction)
{
    const struct tm_value *swept =
        tm_get(tm_path(all->summary, "total.exposed_by_direction_ps"), direction);

    if (!tm_has(swept))
        swept = tm_get(row_of(all, direction), "exposed_ps");
    return tm_clamp_to_window(all, tm_int(swept));
}

/* Where a device has that of it. */
enum { DIRECTION_PATH_BYTES = 48 };

static const char *path_of(char out[DIRECTION_PATH_BYTES], const char *direction)
{
    (void)snprintf(out, DIRECTION_PATH_BYTES, "exposed_by_direction_ps.%s", direction);
    return out;
}

static void say_copies(struct tm_finding *f, const struct tm_value *row)
{
    const int64_t count = tm_int(tm_get(row, "count"));
    const struct tm_value *bytes = tm_get(row, "bytes"), *rate = tm_get(row, "mean_bandwidth");
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], c[TM_FORMAT_BYTES];

    if (count <= 0)
        return;
    if (tm_has(tm_get(row, "total_ps")))
        tm_finding_say(f, "%s copies take %s in all.", tm_format_count(a, count),
                       tm_format_time(b, tm_int(tm_get(row, "total_ps"))));
    if (tm_has(bytes))
        tm_finding_say(f, "They move %s, %s each on average.", tm_format_bytes(b, tm_double(bytes)),
                       tm_format_bytes(c, tm_double(bytes) / (double)count));
    else
        tm_finding_say(f, "Their sizes are not recorded.");
    if (tm_has(rate) && tm_double(rate) > 0)
        tm_finding_say(f, "They reach %s on average.", tm_format_rate(a, tm_double(rate)));
}

static void say_exposed(struct tm_findings *all, struct tm_finding *f, int64_t exposed_ps)
{
    char a[TM_FORMAT_BYTES], b[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES];

    tm_finding_say(f, "In %s of %s of device time (%s) nothing but these copies runs.",
                   tm_format_time(a, exposed_ps), tm_format_time(b, all->window_ps),
                   tm_format_pct(pct, tm_share_pct(exposed_ps, all->window_ps)));
}

static void say_largest(struct tm_findings *all, struct tm_finding *f, const char *direction)
{
    const struct tm_value *largest = tm_path(all->summary, "transfers.largest");
    char bytes[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], begin[TM_FORMAT_BYTES],
        name[TM_SHORT_NAME_BYTES];
    int said = 0;

    for (size_t i = 0; i < tm_length(largest); i++) {
        const struct tm_value *copy = tm_at(largest, i);
        const char *device = tm_text(tm_get(copy, "device"));

        if (strcmp(tm_text(tm_get(copy, "direction")), direction) != 0)
            continue;
        if (said++ < 2)
            tm_finding_say(f, "%s in %s at %s on %s.",
                           tm_format_bytes(bytes, tm_double(tm_get(copy, "bytes"))),
                           tm_format_time(time, tm_int(tm_get(copy, "dur_ps"))),
                           tm_format_moment(begin, tm_int(tm_get(copy, "begin_ps"))),
                           tm_finding_device(f, name, tm_get(copy, "device")));
        tm_finding_where(f, tm_int(tm_get(copy, "begin_ps")), tm_int(tm_get(copy, "dur_ps")),
                         device);
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
    say_exposed(all, f, exposed_ps);
    tm_finding_say_scope(all, f, path);
    say_copies(f, row_of(all, direction));
    say_largest(all, f, direction);
}

/* Does a row of transfers.repeated count: large enough, and between host and device? */
static bool is_repeated(const struct tm_findings *all, const struct tm_value *row,
                        const char *direction)
{
    return strcmp(tm_text(tm_get(row, "direction")), direction) == 0 &&
           tm_double(tm_get(row, "bytes")) >=
               tm_limit_of(all, TM_LIMIT_REPEATED_SIZE) * BYTES_PER_MIB;
}

/* What the repeated copies of a direction take, but not more than is exposed there: the finding on the direction has
 * it at stake. */
static void find_repeated(struct tm_findings *all, const char *direction, const char *id)
{
    const struct tm_value *rows = tm_path(all->summary, "transfers.repeated");
    const int64_t exposed_ps = exposed_of(all, direction);
    char count[TM_FORMAT_BYTES], bytes[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES],
        per_step[TM_FORMAT_BYTES], path[DIRECTION_PATH_BYTES];
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
    f = tm_finding_of_share(all, id, TM_INFO, total_ps, path);
    for (size_t i = 0; i < tm_length(rows); i++) {
        const struct tm_value *row = tm_at(rows, i);

        if (is_repeated(all, row, direction))
            tm_finding_say(f, "%s copies of %s, %s per step, %s in all.",
                           tm_format_count(count, tm_int(tm_get(row, "count"))),
                           tm_format_bytes(bytes, tm_double(tm_get(row, "bytes"))),
                           tm_format_number(per_step, tm_double(tm_get(row, "per_step"))),
                           tm_format_time(time, tm_int(tm_get(row, "total_ps"))));
    }
}

static void find_pageable(struct tm_findings *all)
{
    const struct tm_value *pageable = tm_path(all->summary, "transfers.pageable");
    const int64_t pageable_ps = tm_int(tm_get(pageable, "total_ps"));
    const double share = tm_double(tm_get(pageable, "share_pct"));
    const int64_t exposed_ps =
        tm_clamp_to_window(all, tm_sum_times(exposed_of(all, "h2d"), exposed_of(all, "d2h")));
    const int64_t stake_ps = pageable_ps < exposed_ps ? pageable_ps : exposed_ps;
    char count[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES], pct[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (share < tm_limit_of(all, TM_LIMIT_PAGEABLE_SHARE) || !tm_is_worth_mention_on(all, stake_ps, "exposed_copy_ps"))
        return;
    f = tm_finding_of_share(all, "transfer_pageable", TM_INFO, stake_ps, "exposed_copy_ps");
    tm_finding_say(f, "%s copies from or to pageable memory take %s, %s of the copy time.",
                   tm_format_count(count, tm_int(tm_get(pageable, "count"))),
                   tm_format_time(time, pageable_ps), tm_format_pct(pct, share));
}

static void find_ping_pong(struct tm_findings *all)
{
    const int64_t count = tm_int(tm_path(all->summary, "transfers.ping_pong.count"));
    const int64_t chosen = tm_int(tm_path(all->summary, "steps.chosen"));
    const double per_step = (double)count / (double)(chosen > 0 ? chosen : 1);
    const int64_t h2d_ps = exposed_of(all, "h2d"), d2h_ps = exposed_of(all, "d2h");
    const int64_t half_ps = h2d_ps < d2h_ps ? h2d_ps : d2h_ps; /* each trip has both halves */
    const int64_t stake_ps = tm_clamp_to_window(all, tm_sum_times(half_ps, half_ps));
    char text[TM_FORMAT_BYTES], each[TM_FORMAT_BYTES], time[TM_FORMAT_BYTES];
    struct tm_finding *f;

    if (count < 2 || per_step < tm_limit_of(all, TM_LIMIT_PING_PONG) ||
        !tm_is_worth_mention_on(all, stake_ps, "exposed_copy_ps"))
        return;
    f = tm_finding_of_share(all, "transfer_ping_pong", TM_INFO, stake_ps, "exposed_copy_ps");
    tm_finding_say(f,
                   "%s times a copy to the host is answered by a copy of the same size to the "
                   "device, %s times per step.",
                   tm_format_count(text, count), tm_format_number(each, per_step));
    tm_finding_say(f, "%s of copies to the host and to the device have nothing beside them.",
                   tm_format_time(time, tm_sum_times(h2d_ps, d2h_ps)));
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
