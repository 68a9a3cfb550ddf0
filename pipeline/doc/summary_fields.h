/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SUMMARY_FIELDS_H
#define TM_SUMMARY_FIELDS_H

#include "pipeline/doc/doc_fields.h"

/* Tables of the summary that one of its files has and another one uses. */
extern const struct tm_doc_field tm_doc_window[];
extern const struct tm_doc_field tm_doc_steps[];
extern const struct tm_doc_field tm_doc_devices[];
extern const struct tm_doc_field tm_doc_unused[];
extern const struct tm_doc_field tm_doc_total[];
extern const struct tm_doc_field tm_doc_gaps[];
extern const struct tm_doc_field tm_doc_kernels[];
extern const struct tm_doc_field tm_doc_fusion[];
extern const struct tm_doc_field tm_doc_occupancy[];
extern const struct tm_doc_field tm_doc_programs[];
extern const struct tm_doc_field tm_doc_transfers[];
extern const struct tm_doc_field tm_doc_ops[];
extern const struct tm_doc_field tm_doc_scopes[];
extern const struct tm_doc_field tm_doc_collectives[];
extern const struct tm_doc_field tm_doc_host[];
extern const struct tm_doc_field tm_doc_compile[];
extern const struct tm_doc_field tm_doc_memory[];
extern const struct tm_doc_field tm_doc_roofline[];
extern const struct tm_doc_field tm_doc_balance[];
extern const struct tm_doc_field tm_doc_fallback[];
extern const struct tm_doc_field tm_doc_rest[];
extern const struct tm_doc_field tm_doc_place[];

#endif
