/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows whose begin is known: sets of a few numbers each, found by the number.  The seed is fixed, since what is
 * forgotten shows in the file. */
#include "stages/output/chrome_json/chrome_flows.h"

#include <string.h>

#include "pipeline/hash.h"

enum { SEED = 1 };

uint64_t tm_chrome_flow_span(uint64_t row, int64_t begin_ps)
{
    return tm_hash_mix((uint64_t)begin_ps, row);
}

void tm_chrome_flows_clear(struct tm_chrome_flows *flows)
{
    memset(flows, 0, sizeof(*flows));
}

static size_t set_of(uint64_t flow)
{
    return tm_hash_mix(flow, SEED) % TM_CHROME_FLOW_SETS;
}

void tm_chrome_flows_begin(struct tm_chrome_flows *flows, uint64_t flow, uint64_t span)
{
    struct tm_chrome_flow *const set = flows->sets[set_of(flow)];
    size_t way = 0;

    while (way < TM_CHROME_FLOW_WAYS - 1 && set[way].flow && set[way].flow != flow)
        way++;
    const struct tm_chrome_flow known = set[way].flow == flow
        ? set[way]
        : (struct tm_chrome_flow){ .flow = flow, .first = span, .id = ++flows->ids };

    memmove(set + 1, set, way * sizeof(*set));
    set[0] = known;
}

const struct tm_chrome_flow *tm_chrome_flows_find(const struct tm_chrome_flows *flows, uint64_t flow)
{
    const struct tm_chrome_flow *const set = flows->sets[set_of(flow)];

    for (size_t way = 0; way < TM_CHROME_FLOW_WAYS; way++)
        if (set[way].flow == flow)
            return &set[way];
    return NULL;
}
