/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TRACE_FACTS_H
#define TM_TRACE_FACTS_H

#include "pipeline/redact.h"
#include "pipeline/run.h"
#include "pipeline/trace.h"
#include "stages/output/trace_writer.h"

/* What a trace file says of itself: the run, the tool, the hosts' environments.  A table of a fixed size, in the
 * account `model`: what does not fit is left out. */
struct tm_trace_facts {
    struct tm_out_fact *list; /* `count` of them */
    size_t count;
    struct tm_trace_fact_text *texts;
};

/* owns: tm_trace_facts_free releases it, also after a failure */
tm_status tm_trace_facts_make(struct tm_trace_facts *facts, struct tm_run *run) TM_MUST_USE;
void tm_trace_facts_free(struct tm_trace_facts *facts, struct tm_run *run); /* tolerates zeroed memory */

/* Facts of the run. */
void tm_trace_facts_add_run(struct tm_trace_facts *facts, enum tm_args_level args, const char *run_name);
/* Facts of a host; of the first few hosts only.
 * in: path      of the file that it was read from
 *     is_only   else its name stands before the keys */
void tm_trace_facts_add_host(struct tm_trace_facts *facts, const struct tm_trace *trace, const char *path,
                             bool is_only);

/* Pseudonyms for what names them, hosts before keys too; once, when all are there. */
tm_status tm_trace_facts_redact(struct tm_trace_facts *facts, struct tm_redactor *redactor) TM_MUST_USE;

#endif
