/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FILTER_H
#define TM_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/error.h"

/* --filter, each given as often as wanted; an event has to pass every kind, and of one kind any of those given:
 *     time=1.5s:2s      lies in that time after the first event; spans are cut at its ends; either end may be left out
 *     device=gpu:0      lies on that device (also "HOST/gpu:0", "gpu", "host" for all that lies on none)
 *     step=3:7          belongs to a step of that ordinal, from 0, up to but not 7 (step=3: that one); what belongs to
 *                       no step by itself: lies in the time of one of them
 *     name=GLOB         *, ? and [a-z] as in a shell; name!=GLOB: not of that name
 *     min=10us          lasts that long (instants, counters and arrows are not asked)
 *     class=kernel      is of that class (docs/classes.md)
 *     track=GLOB        lies on a row of that name */
enum { TM_FILTER_TERMS = 64 };

enum tm_filter_kind {
    TM_FILTER_TIME,
    TM_FILTER_DEVICE,
    TM_FILTER_STEP,
    TM_FILTER_NAME,
    TM_FILTER_NOT_NAME,
    TM_FILTER_MIN,
    TM_FILTER_CLASS,
    TM_FILTER_TRACK,
    TM_FILTER_KINDS
};

struct tm_filter_term {
    uint8_t kind;       /* enum tm_filter_kind */
    int64_t begin, end; /* TIME in ps, STEP in ordinals, [begin, end): an end that was left out is 0, or INT64_MAX;
                              MIN: begin, in ps */
    const char *text;   /* DEVICE, NAME, NOT_NAME, TRACK; CLASS too: begin is its number */
};

struct tm_filter {
    struct tm_filter_term terms[TM_FILTER_TERMS];
    size_t count;
};

/* Add what one --filter says.
 * in:     origin  as of tm_option_read
 * owns:   *filter keeps text
 * errors: TM_ERR_USAGE, with what would be right */
tm_status tm_filter_read(struct tm_filter *filter, const char *text, const char *origin,
                         struct tm_error *error) TM_MUST_USE;

/* Patterns as a shell has them, for whole texts: '*' any bytes, '?' one character, [a-z] one byte of these, [!a-z] one
 * byte of others, '\' takes what follows as it is.  '/' and a '.' at the begin are nothing special. */

/* What is wrong with a pattern, as a clause; NULL = nothing. */
const char *tm_glob_wrong(const char *pattern);

/* in:     pattern  nothing is wrong with it
 *         text     length bytes, any
 * The time is bounded by the product of both lengths. */
bool tm_glob_fits(const char *pattern, const char *text, size_t length);

#endif
