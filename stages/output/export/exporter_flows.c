/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows: those that the file has, and those from calls to what they launched.  Where a begin is left out, so are its
 * ends: such arrows are kept until their end comes, in a table of fixed size (256 KiB of `tables`, once there is one);
 * past it, ends are written without a begin, which readers count and leave out. */
#include "stages/output/export/exporter_private.h"

#include <string.h>

#include "pipeline/groups.h"
#include "pipeline/hash.h"

/* --- the set of lost ones: linear probing, holes are closed --- */

enum { PLACES = 2 * TM_LOST_FLOWS_MOST };

static size_t home_of(const struct tm_lost_flows *lost, uint64_t id)
{
    return (size_t)tm_hash_mix(id, lost->seed) & (PLACES - 1);
}

static size_t find_place(const struct tm_lost_flows *lost, uint64_t id)
{
    size_t at = home_of(lost, id);

    while (lost->ids[at] && lost->ids[at] != id)
        at = (at + 1) & (PLACES - 1);
    return at;
}

static bool is_lost(const struct tm_lost_flows *lost, uint64_t id)
{
    return lost->count && lost->ids[find_place(lost, id)] == id;
}

static tm_status lose(struct tm_exporter *e, uint64_t id)
{
    struct tm_lost_flows *const lost = &e->lost;
    size_t at;

    if (!lost->ids) {
        lost->ids = tm_take(&e->run->budget, TM_ACCOUNT_TABLES, PLACES * sizeof(*lost->ids), &e->run->error);
        lost->seed = tm_hash_seed(lost);
    }
    if (!lost->ids)
        return e->run->error.status;
    at = find_place(lost, id);
    if (lost->ids[at] == id || lost->count == TM_LOST_FLOWS_MOST)
        return TM_OK;
    lost->ids[at] = id;
    lost->count++;
    return TM_OK;
}

static void find_again(struct tm_lost_flows *lost, uint64_t id)
{
    size_t hole;

    if (!is_lost(lost, id))
        return;
    hole = find_place(lost, id);
    lost->count--;
    for (size_t at = (hole + 1) & (PLACES - 1); lost->ids[at]; at = (at + 1) & (PLACES - 1)) {
        const size_t home = home_of(lost, lost->ids[at]);

        /* What lies behind the hole moves into it, unless its home is between them. */
        if (((at - home) & (PLACES - 1)) >= ((at - hole) & (PLACES - 1))) {
            lost->ids[hole] = lost->ids[at];
            hole = at;
        }
    }
    lost->ids[hole] = 0;
}

void tm_exporter_forget_flows(struct tm_exporter *e)
{
    tm_give(&e->run->budget, TM_ACCOUNT_TABLES, e->lost.ids, PLACES * sizeof(*e->lost.ids));
    e->lost = (struct tm_lost_flows){ .ids = NULL };
}

/* --- the arrows that show in the present file --- */

enum { SEED = 1 }; /* fixed: what is forgotten shows in the counts */

void tm_exporter_begin_arrows(struct tm_exporter *e)
{
    memset(e->begun, 0, TM_ARROW_SETS * sizeof(*e->begun));
}

static uint64_t *set_of(const struct tm_exporter *e, uint64_t id)
{
    return e->begun[tm_hash_mix(id, SEED) % TM_ARROW_SETS];
}

/* out: whether it was known.  It is the last one that will be forgotten. */
static bool use_arrow(struct tm_exporter *e, uint64_t id, bool may_begin)
{
    uint64_t *const set = set_of(e, id);
    size_t way = 0;
    bool is_known;

    while (way < TM_ARROW_WAYS - 1 && set[way] != id)
        way++;
    is_known = set[way] == id;
    if (!is_known && !may_begin)
        return false;
    memmove(set + 1, set, way * sizeof(*set));
    set[0] = id;
    return is_known;
}

void tm_exporter_count_launch(struct tm_exporter *e, uint64_t flow)
{
    e->counts.arrows += flow && use_arrow(e, flow, true);
}

/* An end whose begin was lost is not written: each one that is has its begin, but perhaps in the part before. */
static void count_flow(struct tm_exporter *e, const struct tm_out_flow *flow)
{
    const bool is_begin = flow->kind == TM_FLOW_BEGIN;
    const bool is_known = e->may_cut && use_arrow(e, flow->id, is_begin);

    e->counts.arrow_ends++;
    e->counts.arrows += !is_begin && (is_known || !e->is_cut);
}

/* --- arrows of the file --- */

/* Hosts count their arrows by themselves. */
static uint64_t id_of(const struct tm_exporter *e, uint64_t correlation)
{
    const uint64_t id = e->trace->host ? tm_hash_mix(correlation, e->trace->host) : correlation;

    return id ? id : 1;
}

tm_status tm_exporter_lose_flow(struct tm_exporter *e, const struct tm_event *event)
{
    const uint64_t id = id_of(e, event->record.correlation);

    if (event->record.kind == TM_FLOW_BEGIN)
        return lose(e, id);
    if (event->record.kind == TM_FLOW_END)
        find_again(&e->lost, id);
    return TM_OK;
}

static tm_status drop(struct tm_exporter *e, const struct tm_event *event, enum tm_tally tally)
{
    tm_tally_add(&e->run->tallies, tally, 1);
    return tm_exporter_lose_flow(e, event);
}

tm_status tm_exporter_take_flow(struct tm_exporter *e, const struct tm_export_item *item)
{
    const struct tm_record *const record = &item->event->record;
    const bool is_begin = record->kind == TM_FLOW_BEGIN;
    struct tm_argument argument;
    struct tm_out_row row;
    struct tm_out_flow flow = { .row = &row, .time_ps = item->begin_ps, .id = id_of(e, record->correlation),
                                .name = record->name ? record->name : e->no_name, .kind = record->kind };
    uint32_t lane;
    tm_status st;

    flow.is_enclosed = record->kind != TM_FLOW_END ||
                       tm_arguments_find(item->event->own, TM_ARGUMENT_ENCLOSED, &argument);
    if (!is_begin && record->flags & TM_FLAG_OPEN)
        return drop(e, item->event, TM_TALLY_FLOW_NOT_BEGUN);
    if (!is_begin && is_lost(&e->lost, flow.id))
        return drop(e, item->event, TM_TALLY_FLOW_WITHOUT_SPAN);
    lane = item->number == TM_NONE ? UINT32_MAX : tm_lanes_innermost(e->lanes, item->number);
    if (lane == UINT32_MAX && (flow.is_enclosed || item->number == TM_NONE))
        return drop(e, item->event, TM_TALLY_FLOW_WITHOUT_SPAN);
    find_again(&e->lost, flow.id);
    st = tm_exporter_category(e, item->event, &flow.category);
    if (st == TM_OK)
        st = tm_out_rows_use(e->rows, e->writer, item->number, flow.is_enclosed ? lane : 0, &row, &e->counts.rows);
    count_flow(e, &flow);
    return st == TM_OK ? e->writer->type->flow(e->writer, &flow) : st;
}

/* --- from launches to activities --- */

/* Drivers count their calls: such ids stay small, since two events bear each; others are a hash. */
static uint64_t launch_id(uint64_t host, uint64_t correlation)
{
    const uint64_t parts[] = { host, correlation };

    if (correlation >> 40 == 0 && host <= UINT16_MAX)
        return host << 40 | correlation;
    return tm_hash_key(parts, sizeof(parts)).low | UINT64_C(1) << 62;
}

uint64_t tm_exporter_launch_arrow(const struct tm_exporter *e, const struct tm_track *track,
                                  const struct tm_event *event)
{
    const bool is_launched = event->launch_track != TM_NONE && track->line != TM_LINE_TPU_OPS;
    uint64_t id;

    if (e->has_arrows || !event->record.correlation)
        return 0;
    if (!is_launched && event->record.class != TM_CLASS_LAUNCH && track->line != TM_LINE_TPU_MODULES)
        return 0;
    id = launch_id(e->trace->host, event->record.correlation);
    __builtin_prefetch(set_of(e, id), 1); /* it is counted when the event is written */
    return id;
}
