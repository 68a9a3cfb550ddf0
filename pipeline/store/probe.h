/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PROBE_H
#define TM_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/error.h"

/* Open tables.  Their owners keep the slots, of any form, a power of two of them, and never fill them; the search is the
 * same: from the home of a key on, to the slot that is its own or empty.  It is compiled into each that asks, with its
 * answer to what the key's slot is. */
typedef bool tm_probe_ends(const void *slot, const void *key);

/* in:     home   a hash of the key; its lowest bits count
 *         count  of slots, each of slot_bytes
 *         ends   whether a slot is empty or the key's
 * out:    the slot of the key, or the empty one where it belongs */
TM_INLINE void *tm_probe(void *slots, size_t count, size_t slot_bytes, uint64_t home, const void *key,
                         tm_probe_ends *ends)
{
    for (;; home++) {
        char *const slot = (char *)slots + (home & (count - 1)) * slot_bytes;

        if (ends(slot, key))
            return slot;
    }
}

#endif
