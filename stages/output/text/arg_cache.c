/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments by template, one after the other: see arg_cache.h. */
#include "stages/output/text/arg_cache.h"

static_assert(TM_ARG_CACHE_TEMPLATES % 2 == 0 && !(TM_TEMPLATE_CORRELATION % TM_ARG_CACHE_TEMPLATES),
              "the flag of a template is no part of its place");

void tm_arg_cache_put(struct tm_arg_cache *c, uint32_t template, const struct tm_cached_args *args,
                      const uint8_t *bytes)
{
    const size_t align = _Alignof(struct tm_cached_args);
    const size_t whole = (sizeof(*args) + args->length + align - 1) / align * align;

    if (whole > TM_ARG_CACHE_BYTES - c->used) {
        memset(c->at, 0, sizeof(c->at));
        c->used = 0;
    }
    struct tm_cached_args *const kept = (struct tm_cached_args *)(void *)(c->room + c->used);

    *kept = *args;
    memcpy(kept->bytes, bytes, args->length);
    c->at[template % TM_ARG_CACHE_TEMPLATES] = (uint32_t)c->used + 1;
    c->used += whole;
}
