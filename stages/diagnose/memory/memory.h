/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MEMORY_H
#define TM_MEMORY_H

#include "pipeline/stage.h"

/* The devices' memory, allocator by allocator: capacity, peak and what held it, curve, spikes.  Writes the section
 * memory.  source: docs/metrics.md, "Memory" */
extern const struct tm_stage_type tm_memory_stage;

/* Allocations below this many bytes are small ones. */
enum { TM_SMALL_ALLOCATION_BYTES = 64 << 10 };

#endif
