/* SPDX-License-Identifier: Apache-2.0 */
/* Late arrivals, computed from matched collectives.  No device can leave an all-reduce before the last one has arrived:
 * collectives of this kind that do not overlap on all their devices are not the same one, or the clocks differ.  This
 * first verifies the clocks of several hosts; if they do not agree, only devices of one host are compared.  If these do
 * not overlap either, nothing is reported about them. */
#include "stages/figures/skew.h"

#include <stdlib.h>
#include <string.h>

#include "stages/figures/figure_rows.h"

/* One of the collectives with the latest arrivals. */
struct late_row {
    int64_t skew_ps, start_ps, first_begin_ps; /* starts of the last and the first device, in their hosts' times */
    uint64_t block, ordinal;
    uint32_t subgroup, last, first;
};

enum { SKEW_WORST = 20 };

struct coming;

struct adding {
    struct skew *k;
    struct matches *m;
    struct skew_sums *sums;
    struct instances from;
    struct coming *order; /* of the instance, in which they came */
    uint64_t shown;       /* instances that were passed to an observer */
};

/* --- sums --- */

/* One device of an instance, in the order in which they came; of two that came at once, the one with the smaller number
 * first. */
struct coming {
    int64_t start_ps; /* as all hosts count it */
    const struct joined *row;
};

static int by_start(const void *a, const void *b)
{
    const struct coming *x = a, *y = b;

    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return (x->row->member > y->row->member) - (x->row->member < y->row->member);
}

/* The last one is the first by number of those that came last. */
static const struct coming *put_in_order(struct adding *a)
{
    const struct instances *it = &a->from;
    uint32_t last = it->count - 1;

    for (uint32_t i = 0; i < it->count; i++)
        a->order[i] = (struct coming){ tm_skew_shared(it, &it->rows[i], it->rows[i].start_ps), &it->rows[i] };
    qsort(a->order, it->count, sizeof(*a->order), by_start);
    while (last && a->order[last - 1].start_ps == a->order[last].start_ps)
        last--;
    return &a->order[last];
}

/* Passes an instance to the observer of the analysis. */
static void show_members(struct adding *a, int64_t last_ps)
{
    const struct tm_settings *const settings = a->k->settings;
    const struct block *const block = tm_rows_at(a->m->blocks, a->from.rows[0].block);

    a->shown++;
    for (uint32_t i = 0; i < a->from.count && !tm_failed(a->k->run); i++) {
        const struct joined *const row = a->order[i].row;
        const struct tm_run_member *const member = &a->k->members.rows[row->member];
        const struct tm_matched_collective shown = {
            .number = a->shown,
            .host = member->host,
            .device = member->index,
            .start_ps = row->start_ps,
            .end_ps = row->end_ps,
            .last_ps = tm_sum_times(row->start_ps, last_ps - a->order[i].start_ps),
            .group = block->group,
            .devices = a->from.count,
            .is_last = i + 1 == a->from.count,
            .is_start = row->is_start,
        };

        (void)settings->take_matched(settings->matched_taker, &shown); /* its failure is that of the run */
    }
}

static void add_members(struct adding *a, int64_t last_ps)
{
    struct skew_sums *sums = a->sums;

    for (uint32_t i = 0; i < a->from.count; i++) {
        const struct joined *row = a->order[i].row;
        struct member_sums *member = &sums->members[row->member];
        const int64_t late_ps = a->order[i].start_ps - a->order[0].start_ps, wait_ps = last_ps - a->order[i].start_ps;
        const struct matched matched = { .serial = row->serial,
                                         .last_ps = tm_sum_times(row->start_ps, wait_ps),
                                         .end_ps = row->end_ps,
                                         .row = row->row,
                                         .member = row->member,
                                         .is_start = row->is_start,
                                         .is_chosen = row->is_chosen };

        tm_sorter_push(sums->rows, &matched);
        if (!row->is_chosen)
            continue;
        member->count++;
        member->late_ps = tm_sum_times(member->late_ps, late_ps);
        member->late_max_ps = late_ps > member->late_max_ps ? late_ps : member->late_max_ps;
        member->wait_ps = tm_sum_times(member->wait_ps, wait_ps);
        sums->wait_ps = tm_sum_times(sums->wait_ps, wait_ps);
    }
}

/* While some devices wait, those that have not arrived cause the wait in equal parts: the waits caused by several late
 * devices add up to the waits of the others.  The last one gets the remainder of the division. */
static void add_causes(struct adding *a, const struct coming *last)
{
    const uint32_t count = a->from.count;
    struct member_sums *members = a->sums->members;
    uint64_t waiting = 0;
    int64_t caused_ps = 0, rest_ps = 0;

    for (uint32_t i = 1; i < count; i++) {
        const int64_t gap_ps = a->order[i].start_ps - a->order[i - 1].start_ps;
        int64_t wait_ps;

        waiting += a->order[i - 1].row->is_chosen;
        if (__builtin_mul_overflow(gap_ps, (int64_t)waiting, &wait_ps))
            wait_ps = INT64_MAX;
        caused_ps = tm_sum_times(caused_ps, wait_ps / (count - i));
        rest_ps = tm_sum_times(rest_ps, wait_ps % (count - i));
        members[a->order[i].row->member].caused_ps =
            tm_sum_times(members[a->order[i].row->member].caused_ps, caused_ps);
    }
    members[last->row->member].caused_ps = tm_sum_times(members[last->row->member].caused_ps, rest_ps);
}

/* Where two came last, neither is the only cause. */
static void add_last(struct adding *a, const struct coming *last)
{
    const uint32_t count = a->from.count;
    struct member_sums *sums = &a->sums->members[last->row->member];
    int64_t alone_ps;

    if (__builtin_mul_overflow(a->order[count - 1].start_ps - a->order[count - 2].start_ps, (int64_t)count - 1,
                               &alone_ps))
        alone_ps = INT64_MAX;
    sums->last_count++;
    sums->alone_ps = tm_sum_times(sums->alone_ps, alone_ps);
}

/* in:     is_meeting  all of its devices must be in it at once */
static void add_instance(struct adding *a, bool is_meeting)
{
    struct skew_sums *sums = a->sums;
    const struct coming *last = put_in_order(a), *first = a->order;
    const int64_t skew_ps = last->start_ps - first->start_ps;
    const struct late_row row = { .skew_ps = skew_ps,
                                  .start_ps = last->row->start_ps,
                                  .first_begin_ps = first->row->start_ps,
                                  .block = last->row->block,
                                  .ordinal = last->row->ordinal,
                                  .subgroup = last->row->subgroup,
                                  .last = last->row->member,
                                  .first = first->row->member };

    add_members(a, last->start_ps);
    if (a->k->settings && a->k->settings->take_matched)
        show_members(a, last->start_ps);
    if (!tm_skew_has_chosen(&a->from))
        return;
    if (is_meeting && sums->path.meetings)
        tm_skew_path_take(&sums->path, &a->from, last->start_ps);
    sums->matched++;
    sums->incomplete += a->from.group_size > a->from.count;
    sums->late_ps = tm_sum_times(sums->late_ps, skew_ps);
    sums->max_ps = skew_ps > sums->max_ps ? skew_ps : sums->max_ps;
    tm_sorter_push(sums->lengths, &skew_ps);
    if (!skew_ps)
        return;
    add_causes(a, last);
    add_last(a, last);
    tm_top_rows_add(sums->worst, &row);
}

static void leave_unmatched(struct adding *a)
{
    for (uint32_t i = 0; i < a->from.count; i++)
        a->sums->unmatched = tm_sum_counts(a->sums->unmatched, a->from.rows[i].is_chosen);
}

static void add_instances(struct adding *a)
{
    tm_skew_rewind(&a->from);
    while (tm_skew_next_instance(&a->from, a->sums->clock.is_aligned)) {
        bool has_to = false, does = false, fits = true;

        if (a->from.count > 1)
            tm_skew_look_at_overlap(&a->from, &has_to, &does, &fits);
        if (a->from.count > 1 && fits && (does || !has_to))
            add_instance(a, has_to);
        else
            leave_unmatched(a);
    }
    tm_sorter_finish(a->sums->lengths);
    tm_top_rows_sort(a->sums->worst);
}

/* --- all of it --- */

static int latest_first(const void *a, const void *b)
{
    const struct late_row *x = a, *y = b;
    const int order = tm_skew_order(x->block, y->block, x->subgroup, y->subgroup, x->ordinal, y->ordinal);

    if (x->skew_ps != y->skew_ps)
        return x->skew_ps > y->skew_ps ? -1 : 1;
    return order ? order : (x->last > y->last) - (x->last < y->last);
}

static int by_serial(const void *a, const void *b)
{
    const struct matched *x = a, *y = b;

    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    return (x->serial > y->serial) - (x->serial < y->serial);
}

static int by_length(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void read_matches(struct adding *a)
{
    struct skew_sums *sums = a->sums;

    tm_skew_align(&a->from, sums->hosts, &sums->clock);
    tm_skew_count_overlap(&a->from, sums->clock.is_aligned, false, &sums->overlap);
    if (tm_skew_is_believed(&sums->overlap)) {
        if (sums->clock.is_aligned && sums->clock.hosts > 1)
            tm_skew_path_open(&sums->path, a->k);
        add_instances(a);
        if (sums->path.meetings)
            tm_skew_path_conclude(&sums->path, a->k);
        return;
    }
    tm_skew_rewind(&a->from);
    while (tm_skew_next_instance(&a->from, false))
        leave_unmatched(a);
}

void tm_skew_add_up(struct skew *k, struct matches *m, struct skew_sums *sums)
{
    struct tm_run *run = k->run;
    struct adding a = { .k = k, .m = m, .sums = sums };
    const size_t rows_bytes = k->members.count * sizeof(*a.from.rows);
    const size_t order_bytes = k->members.count * sizeof(*a.order);

    *sums = (struct skew_sums){ .unmatched = m->unmatched };
    sums->members = tm_take(&run->budget, TM_ACCOUNT_MODEL, k->members.count * sizeof(*sums->members), &run->error);
    sums->lengths =
        tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(int64_t), collectives_memory(run, SKEW_LENGTHS), by_length);
    sums->rows =
        tm_sorter_new(run, TM_ACCOUNT_TABLES, sizeof(struct matched), collectives_memory(run, SKEW_MATCHED), by_serial);
    sums->worst = tm_top_rows_new(run, TM_ACCOUNT_TABLES, sizeof(struct late_row), SKEW_WORST,
                                  collectives_memory(run, SKEW_ROWS), latest_first);
    a.from.rows = tm_take(&run->budget, TM_ACCOUNT_MODEL, rows_bytes, &run->error);
    sums->hosts = tm_take(&run->budget, TM_ACCOUNT_MODEL, k->clock_count * sizeof(*sums->hosts), &run->error);
    a.from.k = k;
    a.from.m = m;
    a.from.hosts = sums->hosts;
    a.order = tm_take(&run->budget, TM_ACCOUNT_MODEL, order_bytes, &run->error);
    if (!tm_failed(run)) {
        read_matches(&a);
        tm_sorter_finish(sums->rows);
    }
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a.from.rows, a.from.rows ? rows_bytes : 0);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, a.order, a.order ? order_bytes : 0);
}

void tm_skew_free_sums(struct skew *k, struct skew_sums *sums)
{
    tm_give(&k->run->budget, TM_ACCOUNT_MODEL, sums->members,
            sums->members ? k->members.count * sizeof(*sums->members) : 0);
    tm_give(&k->run->budget, TM_ACCOUNT_MODEL, sums->hosts, sums->hosts ? k->clock_count * sizeof(*sums->hosts) : 0);
    tm_skew_path_free(&sums->path, k);
    tm_sorter_free(sums->lengths);
    tm_sorter_free(sums->rows);
    tm_top_rows_free(sums->worst);
}

/* Builds collectives.skew from the arrivals. */

/* A device is an outlier if it is this many times as late as the mean of the others and is the last one more often than
 * if they took turns. */
enum { STANDS_OUT = 2 };

const char *tm_skew_why_none(const struct skew *k)
{
    uint32_t devices = 0;

    for (uint32_t i = 0; i < k->members.count; i++)
        devices += k->presences[i].count != 0;
    if (!devices)
        return "no collectives in the analyzed steps";
    return devices == 1 ? "one device ran collectives" : NULL;
}

const char *tm_skew_why_not_matched(const struct skew *k, const struct skew_sums *sums)
{
    const struct clock_check *clock = &sums->clock;

    if (!tm_sorter_count(k->arrivals))
        return "sends and receives do not record their participants";
    if (!tm_skew_is_believed(&sums->overlap))
        return "the devices' collectives at the same position do not overlap: they are not the same collective";
    if (clock->hosts > 1 && clock->overlap.checked && !clock->is_aligned)
        return "the clocks of the hosts do not agree: collectives of several hosts do not overlap";
    if (clock->hosts > 1 && clock->why && !clock->overlap.checked)
        return clock->why;
    return "no collective of one device has a counterpart on another";
}

static void add_overlap(const struct overlap *overlap, const char *why, struct tm_value *to)
{
    tm_add_uint(to, "checked", overlap->checked);
    if (overlap->checked)
        tm_add_double(to, "overlapping_pct", 100.0 * (double)overlap->overlapping / (double)overlap->checked);
    else
        tm_add_null(to, "overlapping_pct", why);
}

static const char *const method_words[TM_CLOCK_METHODS] = { [TM_CLOCK_ASSUMED] = "none",
                                                            [TM_CLOCK_RECORDED] = "recorded",
                                                            [TM_CLOCK_CONFIRMED] = "confirmed",
                                                            [TM_CLOCK_COLLECTIVES] = "collectives",
                                                            [TM_CLOCK_REFERENCE] = "reference" };

static void add_host_clock(const struct host_alignment *host, struct tm_value *to)
{
    const char *why = host->method == TM_CLOCK_REFERENCE ? "the other hosts are aligned with it"
                                                         : "no collectives with other hosts show it";

    tm_add_string(to, "method", method_words[host->method]);
    tm_add_int(to, "offset_ps", host->clock.offset_ps);
    tm_add_double(to, "drift_ppm", tm_clock_ppm(&host->clock));
    if (host->points)
        tm_add_int(to, "uncertainty_ps", host->uncertainty_ps);
    else
        tm_add_null(to, "uncertainty_ps", why);
    tm_add_uint(to, "points", host->points);
    if (host->points && host->has_recorded)
        tm_add_int(to, "difference_ps", host->difference_ps);
    else
        tm_add_null(to, "difference_ps", host->points ? "its start is not recorded" : why);
}

static void add_clock_check(const struct skew *k, const struct skew_sums *sums, const struct tm_value *names,
                            struct tm_value *skew)
{
    const struct clock_check *clock = &sums->clock;
    struct tm_value *to = tm_add_object(skew, "clock"), *offsets, *list;
    const char *why = clock->why ? clock->why : "the clocks of the hosts do not agree";

    tm_add_uint(to, "hosts", clock->hosts);
    if (clock->overlap.checked)
        tm_add_bool(to, "aligned", clock->is_aligned);
    else
        tm_add_null(to, "aligned", clock->why);
    add_overlap(&clock->overlap, clock->why, to);
    if (!clock->is_aligned) {
        tm_add_null(to, "offsets_ps", why);
        tm_add_null(to, "list", why);
        return;
    }
    offsets = tm_add_array(to, "offsets_ps");
    for (uint32_t i = 0; i < k->clock_count; i++)
        tm_add_int(offsets, NULL, sums->hosts[i].clock.offset_ps);
    list = tm_add_array(to, "list");
    for (uint32_t i = 0; i < k->clock_count; i++) {
        struct tm_value *host = tm_add_object(list, NULL);

        tm_add_string(host, "host", tm_text(tm_at(names, i)));
        add_host_clock(&sums->hosts[i], host);
    }
}

/* The member that is an outlier; TM_NONE = none is. */
static uint32_t find_straggler(const struct skew *k, const struct skew_sums *sums)
{
    const struct member_sums *m = sums->members;
    unsigned __int128 others_ps = 0;
    uint32_t latest = TM_NONE, others = 0;

    for (uint32_t i = 0; i < k->members.count; i++) {
        if (!m[i].count)
            continue;
        if (latest == TM_NONE || m[i].late_ps > m[latest].late_ps)
            latest = i;
        others_ps += (uint64_t)m[i].late_ps;
        others++;
    }
    if (others < 2 || !m[latest].late_ps || m[latest].last_count <= m[latest].count / others)
        return TM_NONE;
    others_ps -= (uint64_t)m[latest].late_ps;
    others--;
    return (unsigned __int128)(uint64_t)m[latest].late_ps * others >= STANDS_OUT * others_ps ? latest : TM_NONE;
}

static void add_skew_members(const struct skew *k, const struct skew_sums *sums, struct tm_value *skew)
{
    struct tm_value *list = tm_add_array(skew, "members");

    for (uint32_t i = 0; i < k->members.count; i++) {
        const struct member_sums *m = &sums->members[i];
        struct tm_value *to;

        if (!k->presences[i].count)
            continue;
        to = tm_add_object(list, NULL);
        tm_add_string(to, "device", k->members.rows[i].device);
        tm_add_uint(to, "count", m->count);
        tm_add_uint(to, "last_count", m->last_count);
        tm_add_int(to, "late_ps", m->late_ps);
        tm_add_int(to, "late_max_ps", m->late_max_ps);
        tm_add_int(to, "wait_ps", m->wait_ps);
        tm_add_int(to, "caused_ps", m->caused_ps);
        if (sums->wait_ps > 0)
            tm_add_double(to, "caused_pct", 100.0 * (double)m->caused_ps / (double)sums->wait_ps);
        else
            tm_add_null(to, "caused_pct", "no device waits for another");
        tm_add_int(to, "alone_ps", m->alone_ps);
        tm_add_int(to, "collective_ps", k->presences[i].collective_ps);
    }
}

static void add_name(const struct skew *k, struct tm_value *to, const char *key, tm_strid id)
{
    tm_add_name_cut(to, key, k->names, id, 0, "not recorded");
}

static void add_worst_row(const struct skew *k, struct matches *m, const struct late_row *row, struct tm_value *list)
{
    const struct block block = *(const struct block *)tm_rows_at(m->blocks, row->block);
    struct tm_value *to = tm_add_object(list, NULL);

    tm_add_string(to, "kind", tm_collective_kind_name[block.kind]);
    add_name(k, to, "name", block.name);
    add_name(k, to, "group", block.group);
    if (block.step == TM_NO_STEP)
        tm_add_null(to, "step", "outside the steps");
    else
        tm_add_int(to, "step", block.step);
    tm_add_uint(to, "ordinal", row->ordinal + 1);
    tm_add_int(to, "skew_ps", row->skew_ps);
    tm_add_string(to, "last", k->members.rows[row->last].device);
    tm_add_int(to, "begin_ps", row->start_ps);
    tm_add_string(to, "first", k->members.rows[row->first].device);
    tm_add_int(to, "first_begin_ps", row->first_begin_ps);
}

/* The smallest length that at least `pct` percent do not pass (nearest rank), for two percentages in order. */
static void add_percentiles(struct skew_sums *sums, struct tm_value *skew)
{
    static const struct {
        const char *key;
        unsigned pct;
    } rows[] = { { "p50_ps", 50 }, { "p95_ps", 95 } };
    const int64_t *length = NULL;
    uint64_t seen = 0;
    int64_t value = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const uint64_t n = sums->matched, rank = n / 100 * rows[i].pct + (n % 100 * rows[i].pct + 99) / 100;

        for (; seen < rank && (length = tm_sorter_next(sums->lengths)); seen++)
            value = *length;
        tm_add_int(skew, rows[i].key, value);
    }
}

static const char *why_no_path(const struct clock_check *clock)
{
    if (clock->hosts < 2)
        return "the collectives are those of one host: see its critical path";
    return clock->is_aligned ? NULL : clock->why ? clock->why : "the clocks of the hosts do not agree";
}

static void add_figures(const struct skew *k, struct matches *m, struct skew_sums *sums, const struct tm_value *names,
                        struct tm_value *skew)
{
    const uint32_t straggler = find_straggler(k, sums);
    struct tm_value *list;

    tm_add_int(skew, "late_ps", sums->late_ps);
    tm_add_int(skew, "wait_ps", sums->wait_ps);
    add_percentiles(sums, skew);
    tm_add_int(skew, "max_ps", sums->max_ps);
    add_clock_check(k, sums, names, skew);
    if (straggler == TM_NONE)
        tm_add_null(skew, "straggler", "no device is an outlier");
    else
        tm_add_string(skew, "straggler", k->members.rows[straggler].device);
    add_skew_members(k, sums, skew);
    list = tm_add_array(skew, "worst");
    for (uint64_t i = 0; i < tm_top_rows_count(sums->worst); i++)
        add_worst_row(k, m, tm_top_rows_at(sums->worst, i), list);
    tm_skew_path_report(&sums->path, k, why_no_path(&sums->clock), skew);
}

static void add_nothing(const struct skew *k, const struct skew_sums *sums, const struct tm_value *names,
                        struct tm_value *skew)
{
    static const char *const figures[] = { "late_ps", "wait_ps", "p50_ps", "p95_ps", "max_ps" };
    const char *why = tm_skew_why_not_matched(k, sums);

    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        tm_add_null(skew, figures[i], why);
    add_clock_check(k, sums, names, skew);
    tm_add_null(skew, "straggler", why);
    add_skew_members(k, sums, skew);
    (void)tm_add_array(skew, "worst");
    tm_skew_path_report(&sums->path, k, why, skew);
}

void tm_skew_report(struct skew *k, struct matches *m, struct skew_sums *sums, const struct tm_value *names,
                    struct tm_value *section)
{
    struct tm_value *skew = tm_add_object(section, "skew");

    tm_add_uint(skew, "communicators", m->communicators);
    tm_add_uint(skew, "matched", sums->matched);
    tm_add_uint(skew, "unmatched", sums->unmatched);
    tm_add_uint(skew, "incomplete", sums->incomplete);
    add_overlap(&sums->overlap, "no collective requires all devices at the same time", skew);
    if (sums->matched)
        add_figures(k, m, sums, names, skew);
    else
        add_nothing(k, sums, names, skew);
}
