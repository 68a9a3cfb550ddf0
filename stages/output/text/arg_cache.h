/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ARG_CACHE_H
#define TM_ARG_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pipeline/argument_templates.h"
#include "pipeline/trace.h"

/* A writer's output for each template of arguments: bytes in its format, with places for the numbers.  An event is
 * written by copying them, with 30 instructions per number and 10 per 32 bytes, instead of 200 per argument.  When the
 * space is used up, the cache is cleared.  Memory: fixed, a part of the writer's. */
enum {
    TM_ARG_CACHE_TEMPLATES = 1 << 13,
    TM_ARG_CACHE_BYTES = 512 << 10,
    TM_CACHED_ARGS_MOST = 16 << 10, /* bytes of one */
    TM_ARG_CACHE_COPIED = 32,       /* that are copied at once: the last time more than there are */
};

struct tm_cached_hole {
    uint16_t end;    /* of the bytes before its number */
    uint8_t is_left; /* out: --args leaves its argument out */
    uint8_t back;    /* for the writer: how far before its number a field is that depends on it */
};

struct tm_cached_args {
    uint16_t length, holes; /* length: bytes */
    uint32_t count;         /* of arguments */
    struct tm_cached_hole hole[TM_ARGUMENT_HOLES];
    uint8_t bytes[];
};

struct tm_arg_cache {
    const struct tm_argument_templates *templates; /* whose they are, of which host */
    uint32_t host;
    size_t used;                         /* of the room */
    uint32_t at[TM_ARG_CACHE_TEMPLATES]; /* by template: where it is, and 1; 0 = nowhere */
    _Alignas(struct tm_cached_args) uint8_t room[TM_ARG_CACHE_BYTES + TM_ARG_CACHE_COPIED];
};

/* Forget the output for templates of another host. */
static inline void tm_arg_cache_turn(struct tm_arg_cache *c, const struct tm_trace *trace)
{
    if (c->templates == trace->templates && c->host == trace->host)
        return;
    memset(c->at, 0, sizeof(c->at));
    c->templates = trace->templates;
    c->host = trace->host;
    c->used = 0;
}

/* out: NULL: it has no output yet */
static inline const struct tm_cached_args *tm_arg_cache_find(const struct tm_arg_cache *c, uint32_t template)
{
    const uint32_t at = c->at[template % TM_ARG_CACHE_TEMPLATES];

    return at ? (const struct tm_cached_args *)(const void *)(c->room + at - 1) : NULL;
}

/* in: to  room for TM_ARG_CACHE_COPIED bytes more */
static inline uint8_t *tm_arg_cache_copy(uint8_t *to, const uint8_t *from, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += TM_ARG_CACHE_COPIED)
        memcpy(to + done, from + done, TM_ARG_CACHE_COPIED);
    return to + bytes;
}

#endif
