/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SHARED_FIELDS_H
#define TM_SHARED_FIELDS_H

#include "pipeline/doc/doc_fields.h"

/* Tables that one file has and another one uses. */
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

/* In all documents: what wrote them, what the user says of them, where a finding can be looked at. */
extern const struct tm_doc_field tm_doc_tool[];
extern const struct tm_doc_field tm_doc_report[];
extern const struct tm_doc_field tm_doc_where[];
/* A run of a comparison, or of a scaling study. */
extern const struct tm_doc_field tm_doc_compared_run[];

#endif
