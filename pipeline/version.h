/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_VERSION_H
#define TM_VERSION_H

#define TM_VERSION "0.1.0"

/* Version of how figures are defined (docs/metrics.md): of a summary, of the result and the row of a run in a history.
 * Figures of different versions are never compared with each other. */
enum { TM_SUMMARY_VERSION = 2 };

#endif
