/* SPDX-License-Identifier: Apache-2.0 */
/* Finding events that were seen before, for processors that have BMI: one instruction packs a number, instead of
 * twenty. */
#ifdef __x86_64__
#include <immintrin.h>

#include "stages/input/xspace/xspace_known.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("bmi,bmi2"))), apply_to = function)
#else
#pragma GCC target("bmi,bmi2")
#endif

static inline uint64_t pack_at_once(uint64_t bytes)
{
    return _pext_u64(bytes, UINT64_C(0x7f7f7f7f7f7f7f7f));
}

static struct tm_xresult *find_at_once(struct tm_xknown *known, struct tm_xkin *kin, const struct tm_wire *bytes,
                                       struct tm_xhead *head, int64_t numbers[TM_STAT_COUNT])
{
    return find_known(known, kin, bytes, head, numbers, pack_at_once);
}

static void take_at_once(struct tm_xknown *known, struct tm_xevents *events)
{
    take_known(known, events, pack_at_once);
}

const struct tm_xfinder tm_xknown_finder_bmi2 = { find_at_once, take_at_once };

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
