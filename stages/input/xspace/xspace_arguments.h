/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_XSPACE_ARGUMENTS_H
#define TM_XSPACE_ARGUMENTS_H

#include "stages/input/records/met_lists.h"
#include "stages/input/xspace/xspace_private.h"

/* Statistics as arguments (pipeline/arguments.h): the key is the statistic's name, whole numbers, numbers and texts
 * keep their kind.  What cannot be told is said in words: a statistic without a name is `stat ID`, a text that a table
 * lacks `(no text ID)`, bytes that are no text `(N bytes)`, a text longer than 64 KiB likewise. */

/* What the table of a plane calls an id.  It does not change once the tables were read. */
enum { TM_XARGUMENTS_KEYS = 256, TM_XARGUMENTS_TEXTS = 1024 };
struct tm_xarguments_name {
    uint64_t plane;
    int64_t id;
    tm_strid name; /* 0 = free */
};

/* Where the lists of a source are made, one at a time. */
struct tm_xspace_arguments {
    uint8_t list[TM_ARGUMENTS_MOST];
    struct tm_xarguments_name keys[TM_XARGUMENTS_KEYS];   /* what statistics are called */
    struct tm_xarguments_name texts[TM_XARGUMENTS_TEXTS]; /* what values refer to */
    struct tm_met_lists *lists;                           /* by plane and metadata */
    tm_strid long_name, display_name;                     /* the keys of that name */
};

/* in: x  its trace keeps arguments.  owns: x->arguments, freed with tm_xarguments_free */
tm_status tm_xarguments_make(struct tm_xspace *x) TM_MUST_USE;
void tm_xarguments_free(struct tm_xspace *x); /* tolerates that there are none */

/* Begin a list in x->arguments; the one before is gone. */
void tm_xarguments_begin(struct tm_xspace *x, struct tm_arguments_builder *b);

/* Put in the statistic of `length` bytes at the window's place, which stays. */
tm_status tm_xarguments_stat(struct tm_xspace *x, uint64_t plane, struct tm_reader *w, uint64_t length,
                             struct tm_arguments_builder *b) TM_MUST_USE;
/* All statistics of an event: of its bytes; of one that may be of any length, read through the scratch memory. */
tm_status tm_xarguments_event(struct tm_xspace *x, uint64_t plane, int64_t metadata_id, struct tm_wire bytes,
                              struct tm_arguments_builder *b) TM_MUST_USE;
tm_status tm_xarguments_long_event(struct tm_xspace *x, uint64_t plane, uint64_t begin, uint64_t end,
                                   struct tm_arguments_builder *b) TM_MUST_USE;

/* What an event's metadata is called beside the name that its records have.
 * in: name  of the metadata.  display  0 = none.  shows_display: records are named with it */
tm_status tm_xarguments_names(struct tm_xspace *x, tm_strid name, tm_strid display, bool shows_display,
                              struct tm_arguments_builder *b) TM_MUST_USE;

#endif
