/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SITES_H
#define TM_SITES_H

#include "pipeline/hash.h"
#include "pipeline/run.h"

/* Numbers for what is the same in many events: the same name, launch facts, device, class.  A program runs the same
 * few thousand kernels again and again, so what is worked out for one of them is remembered under its number
 * (pipeline/front.h), and an event needs one look-up for all stages.  Memory: a table of fixed size; when it is full
 * it is emptied, and what comes again gets a new number.  A number is never given twice in a run, so whoever remembers
 * something under an old one does not find it any more: nothing wrong, only forgotten. */

/* All that a site is made of; compared as a whole. */
struct tm_site {
    uint64_t name_and_config; /* name << 32 | config */
    uint64_t rest;            /* device << 32 | flags << 16 | class << 8 | level << 4 | direction */
};

struct tm_sites_slot {
    struct tm_site site;
    uint64_t number; /* 0 = empty */
};

struct tm_sites {
    struct tm_run *run;
    enum tm_account account;
    struct tm_sites_slot *slots;
    uint32_t bits;   /* 1 << bits slots */
    uint32_t used;   /* of them */
    uint64_t seed;
};

/* owns:   the caller releases it with tm_sites_release (a zeroed one is tolerated)
 * errors: of the ledger */
tm_status tm_sites_init(struct tm_sites *sites, struct tm_run *run, enum tm_account account,
                        size_t memory_bytes) TM_MUST_USE;
void tm_sites_release(struct tm_sites *sites);

/* A site that is not in the table; slot: where it belongs. */
uint64_t tm_sites_add(struct tm_sites *sites, const struct tm_site *site, struct tm_sites_slot *slot);

/* The number of a site, from 1 on. */
static inline uint64_t tm_sites_number(struct tm_sites *sites, const struct tm_site *site)
{
    const uint64_t mask = ((uint64_t)1 << sites->bits) - 1;
    const uint64_t mixed = tm_hash_mix(site->name_and_config ^ (site->rest << 23 | site->rest >> 41), sites->seed);

    for (uint64_t i = mixed >> (64 - sites->bits);; i = (i + 1) & mask) {
        struct tm_sites_slot *slot = &sites->slots[i];

        if (!slot->number)
            return tm_sites_add(sites, site, slot);
        if (slot->site.name_and_config == site->name_and_config && slot->site.rest == site->rest)
            return slot->number;
    }
}

#endif
