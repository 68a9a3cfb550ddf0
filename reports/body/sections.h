/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_BODY_SECTIONS_H
#define TM_BODY_SECTIONS_H

#include "reports/body/body.h"

/* One function per section of a printed report, listed in tm_old_sections. */
void tm_section_findings(struct tm_body *body);
void tm_section_steps(struct tm_body *body);
void tm_section_devices(struct tm_body *body);
void tm_section_gaps(struct tm_body *body);
void tm_section_kernels(struct tm_body *body);
void tm_section_ops(struct tm_body *body);
void tm_section_roofline(struct tm_body *body);
void tm_section_fusion(struct tm_body *body);
void tm_section_programs(struct tm_body *body);
void tm_section_occupancy(struct tm_body *body);
void tm_section_transfers(struct tm_body *body);
void tm_section_collectives(struct tm_body *body);
void tm_section_balance(struct tm_body *body);
void tm_section_scopes(struct tm_body *body);
void tm_section_host(struct tm_body *body);
void tm_section_fallback(struct tm_body *body);
void tm_section_compile(struct tm_body *body);
void tm_section_memory(struct tm_body *body);
void tm_section_environment(struct tm_body *body);
void tm_section_quality(struct tm_body *body);

/* Kernels, or where there are none operations, by the sort of their work. */
void tm_say_categories(struct tm_body *body);

#endif
