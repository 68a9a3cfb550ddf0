/* SPDX-License-Identifier: Apache-2.0 */
/* An open table, at most half full. */
#include "pipeline/sites.h"

#include <string.h>

enum { LEAST_BITS = 8, MOST_BITS = 16 };

tm_status tm_sites_init(struct tm_sites *sites, struct tm_run *run, enum tm_account account, size_t memory_bytes)
{
    *sites = (struct tm_sites){ .run = run, .account = account, .bits = LEAST_BITS };
    while (sites->bits < MOST_BITS && (sizeof(*sites->slots) << (sites->bits + 1)) <= memory_bytes)
        sites->bits++;
    sites->seed = tm_hash_seed(sites);
    sites->slots = tm_take(&run->budget, account, sizeof(*sites->slots) << sites->bits, &run->error);
    return sites->slots ? TM_OK : run->error.status;
}

void tm_sites_release(struct tm_sites *sites)
{
    if (!sites->run)
        return;
    tm_give(&sites->run->budget, sites->account, sites->slots, sizeof(*sites->slots) << sites->bits);
    *sites = (struct tm_sites){ .run = NULL };
}

struct tm_sites_slot *tm_sites_add(struct tm_sites *sites, const struct tm_site *site, struct tm_sites_slot *slot)
{
    bool is_new;

    if (2 * (uint64_t)sites->used >= (uint64_t)1 << sites->bits) {
        memset(sites->slots, 0, sizeof(*sites->slots) << sites->bits);
        sites->used = 0;
        return tm_sites_at(sites, site, &is_new); /* the table is empty now: no third turn */
    }
    sites->used++;
    *slot = (struct tm_sites_slot){ .name_and_config = site->name_and_config, .rest = site->rest,
                                    .traits = site->traits, .number = ++sites->run->last_site };
    return slot;
}
