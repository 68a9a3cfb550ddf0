/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PART_NAME_H
#define TM_PART_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Names of the parts of a split: one plain part of a path, and safe as an address: "part-0001-host.pftrace". */
enum { TM_PART_NAME_BYTES = 256 };

/* Whether a name is one that a part can have: nothing else is linked to, or removed. */
bool tm_is_part_name(const char *name);

/* The begin of a name.  in: number  from 1 */
void tm_part_name_begin(char *name, size_t bytes, unsigned number);
/* Put a host or a device behind it, whatever it is called. */
void tm_part_name_add(char *name, size_t bytes, const char *text);

#endif
