/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_COMPILE_PROGRAMS_H
#define TM_COMPILE_PROGRAMS_H

#include "pipeline/doc/doc.h"
#include "pipeline/partial.h"
#include "pipeline/store/rows.h"
#include "pipeline/trace.h"

/* The programs whose HLO is in the profiles, for the section compile: with which shapes a function was compiled.
 * A compile tells only the name of what it made; a program only its name and a number that counts up.  So the last
 * program of a name is what the last compile of that name made, and so on backwards, host by host. */
struct tm_compiled;

/* errors: NULL; run->error has the failure, here and below */
struct tm_compiled *tm_compiled_new(struct tm_run *run, size_t memory_bytes) TM_MUST_USE;
void tm_compiled_free(struct tm_compiled *programs); /* tolerates NULL */

/* Take the programs of a host.  in: host  its number among those of the stage */
void tm_compiled_take(struct tm_compiled *programs, const struct tm_trace *trace, uint32_t host);

void tm_compiled_save(struct tm_compiled *programs, struct tm_partial_writer *w);
void tm_compiled_load(struct tm_compiled *programs, struct tm_partial_reader *r);

/* A compile whose program is looked for. */
struct tm_made {
    int64_t start_ps;
    uint64_t row;    /* the caller's number of it */
    tm_strid module; /* its name: "jit_step", "PjitFunction(step)" */
    uint32_t host;
};

/* Takes the shapes that a compile was for. */
typedef void tm_take_shapes(void *to, uint64_t row, tm_strid shapes);

/* Sort the programs, and find those that the compiles made.  Where there are more compiles of a function than programs,
 * nothing tells which one made what, and none is told.
 * in: compiles  struct tm_made, in any order */
void tm_compiled_match(struct tm_compiled *programs, struct tm_names *names, struct tm_rows *compiles,
                       tm_take_shapes *take, void *to);

/* After that: put the programs of functions that have several into `section`, as "programs"; of the first host that
 * has several, and `most` of them at most. */
void tm_compiled_add_list(struct tm_compiled *programs, struct tm_names *names, uint64_t most,
                          struct tm_value *section);

uint64_t tm_compiled_count(const struct tm_compiled *programs);

/* Put a text of shapes into `to`, as "shapes"; one that is very long is cut in the middle. */
void tm_compiled_add_shapes(struct tm_names *names, tm_strid shapes, struct tm_value *to);

#endif
