/* SPDX-License-Identifier: Apache-2.0 */
/* Interning of launch facts.  A set-associative cache of bounded size maps the hash of what a config was made
 * from to its row; what falls out of the cache gets a second row of equal content when it comes again, which is
 * why configs are compared by their content's hash and never by their row. */
#include "stages/input/xspace_private.h"

static struct tm_config_slot *set_of(const struct tm_xspace *x, uint64_t hash)
{
    const size_t sets = x->config_slot_count / TM_CONFIG_CACHE_WAYS;

    return x->config_slots + (hash & (sets - 1)) * TM_CONFIG_CACHE_WAYS;
}

bool tm_config_cached(const struct tm_xspace *x, uint64_t hash, uint32_t *row)
{
    const struct tm_config_slot *set = set_of(x, hash);

    for (int way = 0; way < TM_CONFIG_CACHE_WAYS; way++)
        if (set[way].config && set[way].hash == hash) {
            *row = set[way].config;
            return true;
        }
    return false;
}

tm_status tm_config_intern(struct tm_xspace *x, uint64_t hash, const struct tm_config *config, uint32_t *row)
{
    struct tm_rows *configs = x->source.trace->configs;
    struct tm_config_slot *set = set_of(x, hash);
    const uint64_t next = tm_rows_count(configs);
    tm_status st;

    if (next >= TM_NONE)
        return tm_fail(&x->source.trace->run->error, TM_ERR_LIMIT, -1,
                       "the trace has more than %u different launch configurations", TM_NONE - 1);
    st = tm_rows_append(configs, config);
    if (st != TM_OK)
        return st;
    for (int way = TM_CONFIG_CACHE_WAYS - 1; way > 0; way--)
        set[way] = set[way - 1];
    set[0] = (struct tm_config_slot){ hash, (uint32_t)next };
    *row = (uint32_t)next;
    return TM_OK;
}
