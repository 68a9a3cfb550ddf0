/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/input/records/configs.h"

#include "pipeline/run.h"

enum {
    WAYS = 4,
    SLOTS_LEAST = 1 << 10, /* powers of two */
    SLOTS_MOST = 1 << 17,
};

struct slot {
    uint64_t hash;
    uint32_t config; /* 0 = empty: row 0 is nobody's */
};

struct tm_configs {
    struct tm_trace *trace;
    struct slot *slots;
    size_t count; /* a power of two */
};

struct tm_configs *tm_configs_new(struct tm_trace *trace)
{
    struct tm_run *run = trace->run;
    const size_t share = tm_budget_share(&run->budget, TM_ACCOUNT_METADATA);
    struct tm_configs *configs = tm_take(&run->budget, TM_ACCOUNT_METADATA, sizeof(*configs), &run->error);

    if (!configs)
        return NULL;
    configs->trace = trace;
    configs->count = SLOTS_LEAST;
    while (configs->count * 2 * sizeof(struct slot) <= share / 8 && configs->count < SLOTS_MOST)
        configs->count *= 2;
    configs->slots = tm_take(&run->budget, TM_ACCOUNT_METADATA, configs->count * sizeof(struct slot), &run->error);
    if (configs->slots)
        return configs;
    tm_configs_free(configs);
    return NULL;
}

void tm_configs_free(struct tm_configs *configs)
{
    struct tm_budget *budget;

    if (!configs)
        return;
    budget = &configs->trace->run->budget;
    tm_give(budget, TM_ACCOUNT_METADATA, configs->slots, configs->slots ? configs->count * sizeof(struct slot) : 0);
    tm_give(budget, TM_ACCOUNT_METADATA, configs, sizeof(*configs));
}

static struct slot *set_of(const struct tm_configs *configs, uint64_t hash)
{
    return configs->slots + (hash & (configs->count / WAYS - 1)) * WAYS;
}

bool tm_configs_have(const struct tm_configs *configs, uint64_t hash, uint32_t *row)
{
    const struct slot *set = set_of(configs, hash);

    for (int way = 0; way < WAYS; way++)
        if (set[way].config && set[way].hash == hash) {
            *row = set[way].config;
            return true;
        }
    return false;
}

tm_status tm_configs_put(struct tm_configs *configs, uint64_t hash, const struct tm_config *config, uint32_t *row)
{
    struct tm_trace *trace = configs->trace;
    struct slot *set = set_of(configs, hash);
    const uint64_t next = tm_rows_count(trace->configs);
    tm_status st;

    if (next >= TM_NONE)
        return tm_fail(&trace->run->error, TM_ERR_LIMIT, -1,
                       "the trace has more than %u different launch configurations", TM_NONE - 1);
    st = tm_rows_append(trace->configs, config);
    if (st != TM_OK)
        return st;
    for (int way = WAYS - 1; way > 0; way--)
        set[way] = set[way - 1];
    set[0] = (struct slot){ hash, (uint32_t)next };
    *row = (uint32_t)next;
    return TM_OK;
}
