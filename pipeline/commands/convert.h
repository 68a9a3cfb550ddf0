/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CONVERT_H
#define TM_CONVERT_H

#include "pipeline/engine/conversion.h"

/* Write all hosts of a run into one file.
 * in:     c       prepared
 * out:    *file   not committed; the caller frees it, also after a failure
 *         written without its bytes, which are known when it is committed
 * errors: of the input, of the output, limits */
tm_status tm_convert_into(struct tm_conversion *c, const struct tm_trace_format *format, const char *folder,
                          const char *name, struct tm_out_file **file, struct tm_written *written) TM_MUST_USE;

#endif
