/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_LINKS_H
#define TM_LINKS_H

#include <stdbool.h>

/* Is it a path below the folder of the document, of characters that mean nothing else in any medium?  [A-Za-z0-9._/-], not
 * absolute, no "..": so it has no scheme, no host, no query, and leads nowhere else. */
bool tm_link_is_safe(const char *path);

#endif
