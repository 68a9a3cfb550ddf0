/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of several hosts on one.  No device can leave an all-reduce before the last one has arrived, and all leave
 * it together: the ends of matched collectives show what the clocks of two hosts read at the same moment.  A robust
 * line through them is the offset and the drift of a host.  The recorded start of a profile is kept where the line
 * agrees with it, and used where there is none.  Memory: a sample of the ends of some hosts at a time, of fixed size.
 * */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stages/figures/figure_rows.h"
#include "stages/figures/skew.h"

/* --- instances --- */

static bool is_same(const struct joined *a, const struct joined *b)
{
    return a->block == b->block && a->subgroup == b->subgroup && a->ordinal == b->ordinal;
}

bool tm_skew_has_chosen(const struct instances *it)
{
    for (uint32_t i = 0; i < it->count; i++)
        if (it->rows[i].is_chosen)
            return true;
    return false;
}

static uint32_t host_of(const struct instances *it, const struct joined *row)
{
    return it->k->members.rows[row->member].host;
}

static void read_joined(struct instances *it)
{
    const struct joined *row = tm_sorter_next(it->m->joined);

    it->has_next = row != NULL;
    if (row)
        it->next = *row;
}

void tm_skew_rewind(struct instances *it)
{
    tm_sorter_rewind(it->m->joined);
    read_joined(it);
}

bool tm_skew_next_instance(struct instances *it, bool is_across)
{
    for (it->count = 0; it->has_next; read_joined(it)) {
        if (it->count &&
            (!is_same(&it->next, it->rows) || (!is_across && host_of(it, &it->next) != host_of(it, it->rows))))
            break;
        it->rows[it->count++] = it->next;
    }
    return it->count != 0;
}

int64_t tm_skew_shared(const struct instances *it, const struct joined *row, int64_t time_ps)
{
    int64_t at_ps;

    if (tm_clock_at(&it->hosts[host_of(it, row)].clock, time_ps, &at_ps))
        return at_ps;
    return time_ps < 0 ? INT64_MIN : INT64_MAX;
}

void tm_skew_look_at_overlap(struct instances *it, bool *has_to, bool *does, bool *fits)
{
    const struct block *block = tm_rows_at(it->m->blocks, it->rows[0].block);
    int64_t latest_start_ps = INT64_MIN, first_end_ps = INT64_MAX;

    it->group_size = block->group_size;
    *fits = !block->group_size || it->count <= block->group_size;
    *has_to = block->kind == TM_ALL_REDUCE || block->kind == TM_ALL_GATHER || block->kind == TM_REDUCE_SCATTER ||
              block->kind == TM_ALL_TO_ALL;
    for (uint32_t i = 0; i < it->count; i++) {
        const int64_t start_ps = tm_skew_shared(it, &it->rows[i], it->rows[i].start_ps);
        const int64_t stop_ps = tm_skew_shared(it, &it->rows[i], it->rows[i].end_ps);

        *has_to &= !it->rows[i].is_start && stop_ps > start_ps;
        latest_start_ps = start_ps > latest_start_ps ? start_ps : latest_start_ps;
        first_end_ps = stop_ps < first_end_ps ? stop_ps : first_end_ps;
    }
    *does = latest_start_ps < first_end_ps;
}

static bool is_across_hosts(const struct instances *it)
{
    return host_of(it, &it->rows[0]) != host_of(it, &it->rows[it->count - 1]);
}

void tm_skew_count_overlap(struct instances *it, bool is_across, bool only_hosts, struct overlap *overlap)
{
    *overlap = (struct overlap){ .checked = 0 };
    tm_skew_rewind(it);
    while (tm_skew_next_instance(it, is_across)) {
        bool has_to, does, fits;

        if (it->count == 1 || (only_hosts && !is_across_hosts(it)) || !tm_skew_has_chosen(it))
            continue;
        tm_skew_look_at_overlap(it, &has_to, &does, &fits);
        if (has_to && fits) {
            overlap->checked++;
            overlap->overlapping += does;
        }
    }
}

/* --- recorded starts --- */

#define DAY_US ((int64_t)86400 * 1000000)

/* out: why they cannot be compared; NULL = each host has one */
static const char *find_recorded(const struct skew *k, struct host_alignment *hosts)
{
    const struct host_clock *clocks = k->clocks;
    int64_t first = INT64_MAX;

    for (uint32_t i = 0; i < k->clock_count; i++) {
        if (clocks[i].base == CLOCK_UNKNOWN || clocks[i].base != clocks[0].base)
            return "the profiles have no common clock for their start times";
        first = clocks[i].at < first ? clocks[i].at : first;
    }
    for (uint32_t i = 0; i < k->clock_count; i++) {
        const int64_t unit_ps = clocks[i].base == CLOCK_EPOCH ? 1000 : 1000000;
        int64_t apart;

        if (__builtin_sub_overflow(clocks[i].at, first, &apart) || apart > DAY_US * (1000000 / unit_ps))
            return "the profiles start more than a day apart";
        hosts[i].recorded_ps = apart * unit_ps;
    }
    for (uint32_t i = 0; i < k->clock_count; i++)
        hosts[i].has_recorded = true;
    return NULL;
}

static void use_recorded(struct host_alignment *host)
{
    host->clock = (struct tm_clock){ .offset_ps = host->recorded_ps };
    host->method = host->has_recorded ? TM_CLOCK_RECORDED : TM_CLOCK_ASSUMED;
}

/* --- the line of a host --- */

enum {
    FIT_POINTS = 256, /* kept of a host; a power of two */
    FIT_HOSTS = 32,   /* at a time */
    FIT_LEAST = 4,
    FIT_DRIFT_LEAST = 16, /* points */
    FIT_ROUNDS = 3,
    FIT_KEPT_PCT = 70,  /* of the points are near the line, or there is none */
    FIT_SURE = 4,       /* standard errors that a drift is away from 0 */
    FIT_LEAST_PS = 1000 /* traces record nanoseconds */
};

static const double drift_most = 1e-3; /* no clock is that wrong */

/* The end of a collective: of the host, and minus that what its partner reads, on the clock of the reference. */
struct fit_point {
    int64_t at_ps, to_ps;
};

/* Points of one host: every `stride`-th that came, so that any number of collectives is spread over the whole run. */
struct fit {
    uint32_t host, count;
    uint64_t seen, stride;
    int64_t anchor_ps; /* the largest uncertainty of those that it was compared with */
    struct fit_point points[FIT_POINTS];
    double values[FIT_POINTS], rests[FIT_POINTS];
};

static void add_point(struct fit *fit, struct fit_point point)
{
    if (fit->seen++ % fit->stride)
        return;
    if (fit->count == FIT_POINTS) {
        for (uint32_t i = 0; i < FIT_POINTS / 2; i++)
            fit->points[i] = fit->points[2 * i];
        fit->count = FIT_POINTS / 2;
        fit->stride *= 2;
    }
    fit->points[fit->count++] = point;
}

static int by_time(const void *a, const void *b)
{
    const struct fit_point *x = a, *y = b;

    if (x->at_ps != y->at_ps)
        return x->at_ps < y->at_ps ? -1 : 1;
    return (x->to_ps > y->to_ps) - (x->to_ps < y->to_ps);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The smallest of the values that this share of them does not exceed.  They are sorted. */
static double quantile(double *values, uint32_t count, unsigned pct)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[(count * pct + 99) / 100 - 1];
}

/* y = level + slope * x, x and y counted from the middle point */
struct line {
    double level, slope;
    double level_error, slope_error; /* standard errors */
    double spread;                   /* 95% of the points that are kept are as near */
    uint32_t kept;
};

static double x_of(const struct fit *fit, uint32_t i)
{
    return (double)(fit->points[i].at_ps - fit->points[fit->count / 2].at_ps);
}

static double y_of(const struct fit *fit, uint32_t i)
{
    return (double)(fit->points[i].to_ps - fit->points[fit->count / 2].to_ps);
}

/* Slopes between points half of the run apart: their median does not follow outliers. */
static double median_slope(struct fit *fit)
{
    const uint32_t half = fit->count / 2;
    uint32_t count = 0;

    for (uint32_t i = 0; i + half < fit->count; i++) {
        const double x = x_of(fit, i + half) - x_of(fit, i);

        if (x > 0)
            fit->values[count++] = (y_of(fit, i + half) - y_of(fit, i)) / x;
    }
    return count ? quantile(fit->values, count, 50) : 0;
}

static double rest_of(const struct fit *fit, const struct line *line, uint32_t i)
{
    return y_of(fit, i) - line->level - line->slope * x_of(fit, i);
}

/* How far a point may be from the line: three standard deviations, which the median distance shows. */
static double reach_of(struct fit *fit, const struct line *line)
{
    for (uint32_t i = 0; i < fit->count; i++)
        fit->rests[i] = fabs(rest_of(fit, line, i));
    return fmax(3 * 1.4826 * quantile(fit->rests, fit->count, 50), FIT_LEAST_PS);
}

/* Least squares over the points that are near the line. */
static void refine(struct fit *fit, bool drifts, struct line *line)
{
    const double reach = reach_of(fit, line);
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, squares = 0;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < fit->count; i++) {
        if (fabs(rest_of(fit, line, i)) > reach)
            continue;
        n++;
        sx += x_of(fit, i);
        sy += y_of(fit, i);
    }
    for (uint32_t i = 0; i < fit->count; i++) {
        const double x = x_of(fit, i) - sx / n;

        if (fabs(rest_of(fit, line, i)) > reach)
            continue;
        sxx += x * x;
        sxy += x * (y_of(fit, i) - sy / n);
    }
    struct line next = { .slope = drifts && sxx > 0 ? sxy / sxx : 0 };

    next.level = sy / n - next.slope * sx / n;
    for (uint32_t i = 0; i < fit->count; i++) {
        if (fabs(rest_of(fit, line, i)) > reach)
            continue;
        const double rest = rest_of(fit, &next, i);

        squares += rest * rest;
        fit->values[kept++] = fabs(rest);
    }
    next.kept = kept;
    next.spread = quantile(fit->values, kept, 95);
    squares /= fmax(n - 2, 1);
    next.slope_error = drifts && sxx > 0 ? sqrt(squares / sxx) : 0;
    next.level_error = sqrt(squares / n);
    *line = next;
}

static struct line fit_line(struct fit *fit, bool drifts)
{
    struct line line = { .slope = drifts ? median_slope(fit) : 0 };

    for (uint32_t i = 0; i < fit->count; i++)
        fit->values[i] = rest_of(fit, &line, i);
    line.level = quantile(fit->values, fit->count, 50);
    for (int i = 0; i < FIT_ROUNDS; i++)
        refine(fit, drifts, &line);
    return line;
}

static double length_of(const struct fit *fit)
{
    return x_of(fit, fit->count - 1) - x_of(fit, 0);
}

/* The level of all points, or with a drift if that is certain. */
static struct line best_line(struct fit *fit)
{
    const struct line level = fit_line(fit, false);
    struct line line;

    if (fit->count < FIT_DRIFT_LEAST)
        return level;
    line = fit_line(fit, true);
    return fabs(line.slope) < drift_most && fabs(line.slope) > FIT_SURE * line.slope_error &&
                   fabs(line.slope) * length_of(fit) > 2 * FIT_LEAST_PS
               ? line
               : level;
}

static int64_t uncertainty_of(const struct fit *fit, const struct line *line)
{
    const double half = fmax(-x_of(fit, 0), x_of(fit, fit->count - 1));
    const double ps = fmax(line->spread, FIT_LEAST_PS) + 2 * line->level_error + 2 * line->slope_error * half;

    return ps < 1e17 ? tm_sum_times((int64_t)ceil(ps), fit->anchor_ps) : INT64_MAX;
}

/* The host's clock at its time 0, according to the line. */
static struct tm_clock clock_of(const struct fit *fit, const struct line *line)
{
    const struct fit_point *middle = &fit->points[fit->count / 2];
    struct tm_clock clock = { .drift_q40 = (int64_t)llround(line->slope * 1099511627776.0) };

    clock.offset_ps =
        middle->to_ps + (int64_t)llround(line->level) - (int64_t)(((__int128)middle->at_ps * clock.drift_q40) >> 40);
    return clock;
}

static int64_t difference_at(const struct tm_clock *clock, int64_t recorded_ps, int64_t at_ps)
{
    int64_t shared_ps, difference_ps;

    return tm_clock_at(clock, at_ps, &shared_ps) && !__builtin_sub_overflow(shared_ps, at_ps, &difference_ps)
               ? difference_ps - recorded_ps
               : INT64_MAX;
}

static bool is_within(int64_t ps, int64_t most_ps)
{
    return ps <= most_ps && ps >= -most_ps;
}

static void use_fit(struct fit *fit, struct host_alignment *host)
{
    struct line line;
    struct tm_clock clock;

    host->is_tried = true;
    use_recorded(host);
    if (fit->count < FIT_LEAST)
        return;
    qsort(fit->points, fit->count, sizeof(*fit->points), by_time);
    line = best_line(fit);
    if ((uint64_t)line.kept * 100 < (uint64_t)fit->count * FIT_KEPT_PCT)
        return;
    clock = clock_of(fit, &line);
    host->points = fit->seen;
    host->uncertainty_ps = uncertainty_of(fit, &line);
    host->is_placed = true;
    host->difference_ps = difference_at(&clock, host->recorded_ps, fit->points[fit->count / 2].at_ps);
    if (host->has_recorded &&
        is_within(difference_at(&clock, host->recorded_ps, fit->points[0].at_ps), host->uncertainty_ps) &&
        is_within(difference_at(&clock, host->recorded_ps, fit->points[fit->count - 1].at_ps), host->uncertainty_ps)) {
        host->method = TM_CLOCK_CONFIRMED;
        return;
    }
    host->method = TM_CLOCK_COLLECTIVES;
    host->clock = clock;
}

/* --- all hosts --- */

/* Hosts are aligned with the reference, then others with those. */
struct aligning {
    struct instances *it;
    struct host_alignment *hosts;
    struct fit *fits; /* FIT_HOSTS of them */
    uint32_t fit_count;
};

/* One host in an instance: its rows from `first` up to `end`. */
struct part {
    uint32_t host, first, end;
};

static bool next_part(const struct instances *it, struct part *part)
{
    part->first = part->end;
    if (part->first >= it->count)
        return false;
    part->host = host_of(it, &it->rows[part->first]);
    while (part->end < it->count && host_of(it, &it->rows[part->end]) == part->host)
        part->end++;
    return true;
}

static int64_t end_of(const struct instances *it, const struct part *part)
{
    __int128 sum_ps = 0;

    for (uint32_t i = part->first; i < part->end; i++)
        sum_ps += it->rows[i].end_ps;
    return (int64_t)(sum_ps / (part->end - part->first));
}

/* The next instance of several hosts in which all of them have to be at once. */
static bool next_linking(struct instances *it)
{
    while (tm_skew_next_instance(it, true)) {
        bool has_to, does, fits;

        if (it->count == 1 || !is_across_hosts(it))
            continue;
        tm_skew_look_at_overlap(it, &has_to, &does, &fits);
        if (has_to && fits)
            return true;
    }
    return false;
}

static void find_links(struct aligning *a)
{
    tm_skew_rewind(a->it);
    while (next_linking(a->it)) {
        struct part part = { .end = 0 };

        while (next_part(a->it, &part))
            a->hosts[part.host].is_linked = true;
    }
}

/* The points of a host; NULL = it has its clock, or comes in a later round. */
static struct fit *points_of(struct aligning *a, uint32_t host)
{
    struct host_alignment *to = &a->hosts[host];

    if (to->is_placed || to->is_tried)
        return NULL;
    if (to->slot < a->fit_count && a->fits[to->slot].host == host)
        return &a->fits[to->slot];
    if (a->fit_count == FIT_HOSTS)
        return NULL;
    to->slot = a->fit_count++;
    a->fits[to->slot] = (struct fit){ .host = host, .stride = 1 };
    return &a->fits[to->slot];
}

static void add_points(struct aligning *a)
{
    struct part part = { .end = 0 }, anchor = { .end = 0 };
    int64_t anchor_ps;

    while (next_part(a->it, &anchor))
        if (a->hosts[anchor.host].is_placed)
            break;
    if (anchor.first >= a->it->count || !tm_clock_at(&a->hosts[anchor.host].clock, end_of(a->it, &anchor), &anchor_ps))
        return;
    while (next_part(a->it, &part)) {
        struct fit *fit = points_of(a, part.host);
        struct fit_point point = { .at_ps = end_of(a->it, &part) };

        if (!fit || __builtin_sub_overflow(anchor_ps, point.at_ps, &point.to_ps))
            continue;
        if (a->hosts[anchor.host].uncertainty_ps > fit->anchor_ps)
            fit->anchor_ps = a->hosts[anchor.host].uncertainty_ps;
        add_point(fit, point);
    }
}

/* All hosts that run collectives with those that have a clock, or with hosts that got one from them. */
static void spread(struct aligning *a)
{
    do {
        a->fit_count = 0;
        tm_skew_rewind(a->it);
        while (next_linking(a->it))
            add_points(a);
        for (uint32_t i = 0; i < a->fit_count; i++)
            use_fit(&a->fits[i], &a->hosts[a->fits[i].host]);
    } while (a->fit_count && !tm_failed(a->it->k->run));
}

/* The host that started first of those that are linked and have no clock yet.  out: TM_NONE = there is none */
static uint32_t next_reference(const struct aligning *a)
{
    uint32_t first = TM_NONE;

    for (uint32_t i = 0; i < a->it->k->clock_count; i++) {
        const struct host_alignment *host = &a->hosts[i];

        if (host->is_linked && !host->is_placed && !host->is_tried &&
            (first == TM_NONE || host->recorded_ps < a->hosts[first].recorded_ps))
            first = i;
    }
    return first;
}

/* out: false = a host has no clock */
static bool place_all(struct aligning *a)
{
    const uint32_t count = a->it->k->clock_count;
    uint32_t host = next_reference(a);

    for (bool is_first = true; host != TM_NONE && !tm_failed(a->it->k->run); host = next_reference(a)) {
        use_recorded(&a->hosts[host]);
        a->hosts[host].is_placed = a->hosts[host].is_tried = true;
        if (is_first)
            a->hosts[host].method = TM_CLOCK_REFERENCE;
        is_first = false;
        spread(a);
    }
    for (uint32_t i = 0; i < count; i++)
        if (a->hosts[i].method == TM_CLOCK_ASSUMED)
            return false;
    return true;
}

static bool do_overlap(struct instances *it, struct clock_check *check)
{
    tm_skew_count_overlap(it, true, true, &check->overlap);
    return check->overlap.checked && tm_skew_is_believed(&check->overlap);
}

static void align(struct aligning *a, struct clock_check *check)
{
    const uint32_t count = a->it->k->clock_count;
    const char *why = find_recorded(a->it->k, a->hosts);

    for (uint32_t i = 0; i < count; i++)
        use_recorded(&a->hosts[i]);
    find_links(a);
    if (place_all(a)) {
        check->is_aligned = do_overlap(a->it, check);
    } else {
        check->why = why;
        return;
    }
    if (!check->is_aligned && !why) { /* what is recorded may be right where the ends are not on a line */
        for (uint32_t i = 0; i < count; i++) {
            use_recorded(&a->hosts[i]);
            a->hosts[i].points = 0;
        }
        check->is_aligned = do_overlap(a->it, check);
    }
    if (!check->overlap.checked)
        check->why = "no collective requires devices of several hosts at the same time";
}

static uint32_t hosts_of(const struct skew *k)
{
    uint32_t hosts = 0;

    for (uint32_t i = 0, last = TM_NONE; i < k->members.count; i++) {
        if (!k->presences[i].count || k->members.rows[i].host == last)
            continue;
        last = k->members.rows[i].host;
        hosts++;
    }
    return hosts;
}

void tm_skew_align(struct instances *it, struct host_alignment *hosts, struct clock_check *check)
{
    struct tm_run *run = it->k->run;
    struct aligning a = { .it = it, .hosts = hosts };
    const size_t bytes = FIT_HOSTS * sizeof(*a.fits);

    check->hosts = hosts_of(it->k);
    if (check->hosts < 2) {
        check->why = "one host";
        return;
    }
    a.fits = tm_take(&run->budget, TM_ACCOUNT_MODEL, bytes, &run->error);
    if (!tm_failed(run))
        align(&a, check);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a.fits, a.fits ? bytes : 0);
    if (!check->is_aligned)
        memset(hosts, 0, it->k->clock_count * sizeof(*hosts));
}
