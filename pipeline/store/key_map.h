/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_KEY_MAP_H
#define TM_KEY_MAP_H

#include "pipeline/store/groups.h"

/* Numbers for keys, from 0 on in the order in which they are first asked for: exact for any number of keys, where
 * struct tm_names may give a second one.  Past its memory keys lie in sorted runs in a spill file.
 * A key is a family and a member of it.  Members lie side by side, so ids that are numbers are put in as families of
 * those that follow each other: the number without its last bits, and these.  Whatever else is a key is a family of its
 * own. */
enum { TM_KEY_MEMBER_BITS = 5 };
struct tm_key_map;

struct tm_key_map *tm_key_map_new(struct tm_run *run, enum tm_account account, size_t memory_bytes) TM_MUST_USE;
void tm_key_map_free(struct tm_key_map *map);

/* The number of a key; of one that is new, the number of keys so far.  member: below 1 << TM_KEY_MEMBER_BITS */
tm_status tm_key_map_number(struct tm_key_map *map, struct tm_key family, uint32_t member,
                            uint64_t *number) TM_MUST_USE;

#endif
