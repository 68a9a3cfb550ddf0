/* SPDX-License-Identifier: Apache-2.0 */
/* collectives.skew out of the arrivals. */
#include "stages/diagnose/collectives/skew_private.h"
#include "stages/diagnose/name_cell.h"

/* A device stands out that comes this many times as late as the mean of the others, and is the last one more often than
 * if they took turns. */
enum { STANDS_OUT = 2 };

const char *why_no_skew(const struct skew *k)
{
    uint32_t devices = 0;

    for (uint32_t i = 0; i < k->members.count; i++)
        devices += k->presences[i].count != 0;
    if (!devices)
        return "no collectives in the analyzed steps";
    return devices == 1 ? "one device ran collectives" : NULL;
}

const char *why_not_matched(const struct skew *k, const struct skew_sums *sums)
{
    const struct clock_check *clock = &sums->clock;

    if (!tm_sorter_count(k->arrivals))
        return "sends and receives do not tell who takes part";
    if (!is_believed(&sums->overlap))
        return "what the devices ran at the same place does not overlap: it is not the same collective";
    if (clock->hosts > 1 && clock->overlap.checked && !clock->is_aligned)
        return "the clocks of the hosts do not agree: collectives of several hosts do not overlap";
    if (clock->hosts > 1 && clock->why && !clock->overlap.checked)
        return clock->why;
    return "no collective of one device has its counterpart on another";
}

static void add_overlap(const struct overlap *overlap, const char *why, struct tm_value *to)
{
    tm_add_uint(to, "checked", overlap->checked);
    if (overlap->checked)
        tm_add_double(to, "overlapping_pct", 100.0 * (double)overlap->overlapping / (double)overlap->checked);
    else
        tm_add_null(to, "overlapping_pct", why);
}

static void add_clock_check(const struct skew *k, const struct skew_sums *sums, struct tm_value *skew)
{
    const struct clock_check *clock = &sums->clock;
    struct tm_value *to = tm_add_object(skew, "clock"), *offsets;

    tm_add_uint(to, "hosts", clock->hosts);
    if (clock->overlap.checked)
        tm_add_bool(to, "aligned", clock->is_aligned);
    else
        tm_add_null(to, "aligned", clock->why);
    add_overlap(&clock->overlap, clock->why, to);
    if (!clock->is_aligned) {
        tm_add_null(to, "offsets_ps", clock->why ? clock->why : "the clocks of the hosts do not agree");
        return;
    }
    offsets = tm_add_array(to, "offsets_ps");
    for (uint32_t i = 0; i < k->clock_count; i++)
        tm_add_int(offsets, NULL, sums->offsets_ps[i]);
}

/* The member that stands out; TM_NONE = none does. */
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

static void add_members(const struct skew *k, const struct skew_sums *sums, struct tm_value *skew)
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

static tm_status add_name(const struct skew *k, struct tm_value *to, const char *key, tm_strid id)
{
    return tm_add_name_cut(to, key, k->names, id, 0, "not recorded");
}

static tm_status add_worst_row(const struct skew *k, struct matches *m, const struct late_row *row,
                               struct tm_value *list)
{
    const struct block *block = tm_rows_at(m->blocks, row->block);
    struct tm_value *to = tm_add_object(list, NULL);
    tm_status st;

    if (!block)
        return k->run->error.status;
    tm_add_string(to, "kind", tm_collective_kind_name[block->kind]);
    st = add_name(k, to, "name", block->name);
    if (st == TM_OK)
        st = add_name(k, to, "group", block->group);
    if (block->step == TM_NO_STEP)
        tm_add_null(to, "step", "in no step");
    else
        tm_add_int(to, "step", block->step);
    tm_add_uint(to, "ordinal", row->ordinal + 1);
    tm_add_int(to, "skew_ps", row->skew_ps);
    tm_add_string(to, "last", k->members.rows[row->last].device);
    tm_add_int(to, "begin_ps", row->begin_ps);
    tm_add_string(to, "first", k->members.rows[row->first].device);
    tm_add_int(to, "first_begin_ps", row->first_begin_ps);
    return st;
}

/* The smallest length that at least `pct` percent do not pass (nearest rank), for two percentages in order. */
static tm_status add_percentiles(struct skew_sums *sums, struct tm_value *skew)
{
    static const struct { const char *key; unsigned pct; } rows[] = { { "p50_ps", 50 }, { "p95_ps", 95 } };
    const void *length = NULL;
    uint64_t seen = 0;
    int64_t value = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const uint64_t n = sums->matched, rank = n / 100 * rows[i].pct + (n % 100 * rows[i].pct + 99) / 100;

        for (; seen < rank; seen++) {
            const tm_status st = tm_sorter_next(sums->lengths, &length);

            if (st != TM_OK)
                return st;
            value = *(const int64_t *)length;
        }
        tm_add_int(skew, rows[i].key, value);
    }
    return TM_OK;
}

static tm_status add_figures(const struct skew *k, struct matches *m, struct skew_sums *sums, struct tm_value *skew)
{
    const uint32_t straggler = find_straggler(k, sums);
    struct tm_value *list;
    tm_status st;

    tm_add_int(skew, "late_ps", sums->late_ps);
    tm_add_int(skew, "wait_ps", sums->wait_ps);
    st = add_percentiles(sums, skew);
    tm_add_int(skew, "max_ps", sums->max_ps);
    add_clock_check(k, sums, skew);
    if (straggler == TM_NONE)
        tm_add_null(skew, "straggler", "no device stands out");
    else
        tm_add_string(skew, "straggler", k->members.rows[straggler].device);
    add_members(k, sums, skew);
    list = tm_add_array(skew, "worst");
    for (uint64_t i = 0; st == TM_OK && i < tm_top_rows_count(sums->worst); i++)
        st = add_worst_row(k, m, tm_top_rows_at(sums->worst, i), list);
    return st;
}

static void add_nothing(const struct skew *k, const struct skew_sums *sums, struct tm_value *skew)
{
    static const char *const figures[] = { "late_ps", "wait_ps", "p50_ps", "p95_ps", "max_ps" };
    const char *why = why_not_matched(k, sums);

    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        tm_add_null(skew, figures[i], why);
    add_clock_check(k, sums, skew);
    tm_add_null(skew, "straggler", why);
    add_members(k, sums, skew);
    (void)tm_add_array(skew, "worst");
}

tm_status report_skew(struct skew *k, struct matches *m, struct skew_sums *sums,
                      struct tm_value *section)
{
    struct tm_value *skew = tm_add_object(section, "skew");

    tm_add_uint(skew, "communicators", m->communicators);
    tm_add_uint(skew, "matched", sums->matched);
    tm_add_uint(skew, "unmatched", sums->unmatched);
    tm_add_uint(skew, "incomplete", sums->incomplete);
    add_overlap(&sums->overlap, "no collective in which all devices have to be at once", skew);
    if (sums->matched)
        return add_figures(k, m, sums, skew);
    add_nothing(k, sums, skew);
    return TM_OK;
}
