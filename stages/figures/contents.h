/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CONTENTS_H
#define TM_CONTENTS_H

#include "pipeline/stage.h"

/* What a trace holds, for `inspect`: per host its steps, devices, lines and most frequent names.  Writes an array
 * `contents`, an element per host:
 *     {"host", "steps": {"source", "count", "chosen", "warmup", "incomplete"},
 *      "devices": [{"name", "kind", "model", "activities", "first_ps", "last_ps", "has_collapsed_graphs"}],
 *      "lines": [{"plane", "line", "id", "kind", "events", "first_ps", "last_ps"}], "line_count", "empty_lines",
 *      "more_lines": {"count", "events"},
 *      "names": [{"name", "class", "count", "total_ps"}], "name_count"} */
extern const struct tm_stage_type tm_contents_stage;

#endif
