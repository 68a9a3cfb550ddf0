/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_FILE_FACTS_H
#define TM_FILE_FACTS_H

#include "pipeline/discover.h"
#include "pipeline/doc.h"
#include "pipeline/partial.h"
#include "pipeline/trace.h"
#include "stages/input/bytes/input_file.h"

/* What is told of a file that was read: in the summary, by `inspect`, and in the partial of a run. */

enum { TM_PROBLEMS_MOST = 4, TM_CONTENT_HASH_BYTES = 20 };

struct tm_file_facts {
    char host[128];      /* "" = it is of no host */
    char path[16384];
    char format[16];     /* "xspace", "chrome_json", "pprof" */
    char xxh3[TM_CONTENT_HASH_BYTES];
    char wrapping[8];    /* "none", "gzip", "zstd" */
    char problems[TM_PROBLEMS_MOST][2048];
    char notes[1][512];
    uint32_t problem_count, note_count;
    uint64_t bytes, inflated_bytes, events;
    int64_t origin_us;
    int64_t clock_ns;    /* what the clock of its host read at time 0; 0 = not told, or of no host */
    int64_t first_ps;    /* its first event, after time 0 */
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
void tm_file_facts_problem(struct tm_file_facts *facts, const char *text); /* more than fit are left out */

/* Add them as an element of a list. */
void tm_file_facts_add(const struct tm_file_facts *facts, enum tm_facts_place place, struct tm_value *list);

/* Inside a section of a partial that is open.
 * in: file  an element of the list of the summary;  host  as its file is called; NULL = it is of no host */
void tm_file_facts_save(struct tm_partial_writer *w, const struct tm_value *file, const char *host);
tm_status tm_file_facts_load(struct tm_partial_reader *r, struct tm_file_facts *facts) TM_MUST_USE;

#endif
