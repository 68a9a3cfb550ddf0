/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_STAGE_SHORT_NAME_H
#define TM_STAGE_SHORT_NAME_H

#include "pipeline/names.h"

/* A kernel's name without the number that XLA puts behind it: "loop_add_fusion_12" and "loop_add_fusion.3" are
 * "loop_add_fusion".  Names of 1 KiB or more stay as they are.
 * out: *to  handle of the short name; `name` itself where there is no number */
tm_status tm_short_kernel_name(struct tm_names *names, tm_strid name, tm_strid *to) TM_MUST_USE;

#endif
