/* SPDX-License-Identifier: Apache-2.0 */
/* An open table, at most half full.  It grows with what is in it, so that few sites lie in few pages. */
#include "pipeline/sites.h"

#include <string.h>

enum { LEAST_BITS = 8, MOST_BITS = 16 };

static size_t bytes_of(const struct tm_sites *sites)
{
    return sizeof(*sites->slots) << sites->bits;
}

tm_status tm_sites_init(struct tm_sites *sites, struct tm_run *run, enum tm_account account, size_t memory_bytes)
{
    *sites = (struct tm_sites){ .run = run, .account = account, .bits = LEAST_BITS, .most_bits = LEAST_BITS };
    /* while it grows there are two */
    while (sites->most_bits < MOST_BITS && 3 * (sizeof(*sites->slots) << sites->most_bits) <= memory_bytes)
        sites->most_bits++;
    sites->seed = tm_hash_seed(sites);
    sites->slots = tm_take(&run->budget, account, bytes_of(sites), &run->error);
    return sites->slots ? TM_OK : run->error.status;
}

void tm_sites_release(struct tm_sites *sites)
{
    if (!sites->run)
        return;
    tm_give(&sites->run->budget, sites->account, sites->slots, sites->slots ? bytes_of(sites) : 0);
    *sites = (struct tm_sites){ .run = NULL };
}

static inline struct tm_site site_of(const struct tm_sites_slot *slot)
{
    return (struct tm_site){ slot->name_and_config, slot->rest, slot->traits };
}

/* Twice the slots. */
static tm_status grow(struct tm_sites *sites)
{
    struct tm_sites_slot *const old = sites->slots;
    const size_t old_bytes = bytes_of(sites), count = (size_t)1 << sites->bits;
    struct tm_sites_slot *const larger =
        tm_take(&sites->run->budget, sites->account, 2 * old_bytes, &sites->run->error);

    if (!larger)
        return sites->run->error.status;
    sites->slots = larger;
    sites->bits++;
    for (size_t i = 0; i < count; i++) {
        const struct tm_site site = site_of(&old[i]);

        if (old[i].number)
            *tm_sites_find(sites, &site) = old[i];
    }
    tm_give(&sites->run->budget, sites->account, old, old_bytes);
    return TM_OK;
}

struct tm_sites_slot *tm_sites_add(struct tm_sites *sites, const struct tm_site *site, struct tm_sites_slot *slot)
{
    if (2 * (uint64_t)sites->used >= (uint64_t)1 << sites->bits) {
        if (sites->bits < sites->most_bits) {
            if (grow(sites) != TM_OK)
                return NULL;
        } else {
            memset(sites->slots, 0, bytes_of(sites));
            sites->used = 0;
        }
        slot = tm_sites_find(sites, site);
    }
    sites->used++;
    *slot = (struct tm_sites_slot){ .name_and_config = site->name_and_config, .rest = site->rest,
                                    .traits = site->traits, .number = ++sites->run->last_site };
    return slot;
}
