/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_EMIT_H
#define TM_EMIT_H

#include "pipeline/error.h"
#include "reports/content/content.h"

/* Functions that sections use to produce their content. */

const struct tm_value *tm_of(const struct tm_content *content, const char *path); /* of the summary */

/* Zeroed memory for data that is too large for the stack.  out: NULL: the run has failed */
void *tm_content_take(const struct tm_content *content, size_t bytes);
void tm_content_give(const struct tm_content *content, void *room, size_t bytes); /* in: room  NULL = none */

void tm_emit_subheading(const struct tm_content *content, const char *text);
/* A paragraph, formatted, cut at 2 KiB. */
void tm_emit(const struct tm_content *content, enum tm_tone tone, const char *format, ...) TM_PRINTF(3, 4);
void tm_emit_charts(const struct tm_content *content, enum tm_chart_kind kind);
void tm_emit_detail_charts(const struct tm_content *content, enum tm_chart_kind kind); /* omitted in brief sections */

/* A table; nothing if it has no rows.  One that repeats a chart is left out if there are charts. */
void tm_emit_table(const struct tm_content *content, const struct tm_table *table);

/* Facts: members of one object of the summary; paths that do not exist are left out, nulls follow
 * with their reasons.
 * in:     id       as of a table
 *         at       path of the object; "" = the document itself
 *         columns  as of a table: tm_table.shows */
void tm_emit_facts(const struct tm_content *content, const char *id, const char *at, const char *columns);
void tm_emit_columns(const struct tm_content *content, const char *id, const struct tm_column *columns, size_t count,
                     const char *at);

/* The findings of the document, after a remark on their order. in: none  the text if there are none */
void tm_emit_findings(const struct tm_content *content, const char *none, const char *order);

/* "Title: not recorded (why)" as a paragraph.  out: true when the value is null or missing */
bool tm_emit_missing(const struct tm_content *content, const struct tm_value *value, const char *title);

/* The same for several null parts of an object: those with the same reason in one sentence.
 * in:     parts  { path, title }, a row each */
void tm_emit_nulls(const struct tm_content *content, const struct tm_value *object, const char *const (*parts)[2],
                   size_t count);

/* `why` if the summary has 0 or an empty list at that path; otherwise "".  For tm_section.nothing. */
const char *tm_if_none(const struct tm_value *summary, const char *path, const char *why);

/* The run has several hosts. */
bool tm_has_hosts(const struct tm_content *content);

/* Sections of a report, and the shared sections of the other documents; their other sections are in their own files. */
extern const struct tm_section tm_steps_section, tm_devices_section, tm_gaps_section, tm_path_section, tm_ops_section,
    tm_scopes_section, tm_kernels_section, tm_fusion_section, tm_programs_section, tm_occupancy_section,
    tm_roofline_section, tm_transfers_section, tm_collectives_section, tm_balance_section, tm_sharding_section,
    tm_host_section, tm_fallback_section, tm_compile_section, tm_memory_section, tm_coverage_section, tm_checks_section,
    tm_missing_section, tm_definitions_section, tm_provenance_section;
extern const struct tm_section tm_missing_compared_section, tm_missing_scaled_section, tm_missing_checked_section,
    tm_missing_night_section;

/* The table of the runs that a side of a comparison, or a point of a scaling study, is made of.
 * in: list  "sides[0].runs" */
void tm_emit_runs(const struct tm_content *content, const char *id, const char *caption, const char *list);

#endif
