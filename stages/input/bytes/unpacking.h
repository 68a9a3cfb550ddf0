/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_UNPACKING_H
#define TM_UNPACKING_H

#include <protobuf-c/protobuf-c.h>

#include "pipeline/run.h"

/* protobuf-c has one answer for a message that is damaged and for memory that ended: its allocator is asked which it was.
 *     message = ..._unpack(tm_unpacking_begin(&unpacking), ...);
 *     if (!message)
 *         return tm_unpacking_refused(&unpacking, run);
 * A message may be freed without it. */
struct tm_unpacking {
    ProtobufCAllocator allocator;
    bool memory_ended;
};

ProtobufCAllocator *tm_unpacking_begin(struct tm_unpacking *unpacking);

/* What a message that was not unpacked means: counted as a bad field, or TM_ERR_LIMIT. */
tm_status tm_unpacking_refused(const struct tm_unpacking *unpacking, struct tm_run *run) TM_MUST_USE;

#endif
