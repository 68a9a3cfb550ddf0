/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CONFIGS_H
#define TM_CONFIGS_H

#include <stddef.h>

#include <xxhash.h>

#include "pipeline/trace.h"

/* Interning of launch facts.  A set-associative cache of bounded size maps the hash of what a config was made
 * from to its row in trace->configs; what falls out of the cache gets a second row of equal content when it comes
 * again, which is why configs are compared by their content's hash and never by their row. */
struct tm_configs;

/* in:     trace  its configs made; must outlive the cache
 * errors: NULL, with the error in run->error */
struct tm_configs *tm_configs_new(struct tm_trace *trace) TM_MUST_USE;
void tm_configs_free(struct tm_configs *configs); /* tolerates NULL */

bool tm_configs_have(const struct tm_configs *configs, uint64_t hash, uint32_t *row);
/* Make a row.  hash: of what it was made from */
tm_status tm_configs_put(struct tm_configs *configs, uint64_t hash, const struct tm_config *config,
                         uint32_t *row) TM_MUST_USE;

/* Of a config whose hash is 0; without the bytes behind the last member, which may hold anything. */
static inline uint64_t tm_config_hash(const struct tm_config *config)
{
    return XXH3_64bits(config, offsetof(struct tm_config, level) + sizeof(config->level));
}
static_assert(offsetof(struct tm_config, level) == offsetof(struct tm_config, ordinal) + sizeof(uint32_t) + 9,
              "the members lie side by side: what is hashed has no holes");

#endif
