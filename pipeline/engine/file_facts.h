/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FILE_FACTS_H
#define TM_FILE_FACTS_H

#include "pipeline/discover.h"
#include "pipeline/doc/doc.h"
#include "pipeline/partial.h"
#include "pipeline/redact.h"
#include "pipeline/run.h"
#include "pipeline/trace.h"
#include "stages/figures/device_profiles.h"
#include "stages/input/bytes/input_file.h"
#include "stages/output/trace_writer.h"

/* What is told of a file that was read: in the summary, by `inspect`, and in the partial of a run. */

enum { TM_PROBLEMS_MOST = 4, TM_CONTENT_HASH_BYTES = 20 };

struct tm_file_facts {
    char host[128]; /* "" = it is of no host */
    char path[16384];
    char format[16]; /* "xspace", "chrome_json", "pprof" */
    char xxh3[TM_CONTENT_HASH_BYTES];
    char wrapping[8]; /* "none", "gzip", "zstd" */
    char problems[TM_PROBLEMS_MOST][2048];
    char notes[1][512];
    uint32_t problem_count, note_count;
    uint64_t bytes, inflated_bytes, events;
    int64_t origin_us;
    int64_t clock_ns;                      /* what the clock of its host read at time 0; 0 = not told, or of no host */
    int64_t first_ps;                      /* its first event, after time 0 */
    bool is_gzip, is_archived, is_partial; /* is_archived: a member of an archive; is_partial: cut short or damaged */
};

/* Which of them are told where. */
enum tm_facts_place { TM_FACTS_SUMMARY = 1, TM_FACTS_INSPECT = 2 };

/* What tells a file from others: its XXH3-64.  in: input  all of it has been read */
void tm_file_facts_fingerprint(const struct tm_input *input, char text[TM_CONTENT_HASH_BYTES]);

/* A file that was read.
 * in: input  all of it has been read
 *     trace  NULL = it holds none, and is of no host */
void tm_file_facts_take(struct tm_file_facts *facts, const struct tm_input *input, const struct tm_found_file *found,
                        const struct tm_trace *trace, uint64_t events);

/* Add them as an element of a list. */
void tm_file_facts_add(const struct tm_file_facts *facts, enum tm_facts_place place, struct tm_value *list);

/* Inside a section of a partial that is open.
 * in: file  an element of the list of the summary;  host  as its file is called; NULL = it is of no host */
void tm_file_facts_save(struct tm_partial_writer *w, const struct tm_value *file, const char *host);
tm_status tm_file_facts_load(struct tm_partial_reader *r, struct tm_file_facts *facts) TM_MUST_USE;

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

/* Read a device memory profile, from its bytes to the tables.
 * out:    facts  of the file
 * errors: as of tm_input_open and tm_pprof_read */
tm_status tm_memory_file_read(struct tm_run *run, struct tm_names *names, const struct tm_found_file *found,
                              struct tm_device_profiles *profiles, struct tm_file_facts *facts) TM_MUST_USE;

#endif
