/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_MET_LISTS_H
#define TM_MET_LISTS_H

#include <string.h>

#include "pipeline/arguments.h"
#include "pipeline/run.h"

/* Lists of arguments that were made lately, with the bytes of the input that they were made from, part by part: a part
 * is an argument as the input has it.  A program runs the same kernels again and again, and what such an event says
 * differs from what the one before of its name said in a number or two: what is the same is copied, a run of parts at
 * once.  A part ends with bytes that end it in any text (a length before it, or a comma behind it), so that equal bytes
 * mean the same, and what they mean must not change while the table is there.
 * Memory: a table of fixed size; what falls out of it is made anew: nothing else changes. */
struct tm_met_lists;

enum { TM_MET_PARTS = 24, TM_MET_LIST_BYTES = 256 };

struct tm_met_part {
    uint16_t from_end, list_end; /* where it ends in the input's bytes, in the list */
    uint16_t spared_end;         /* as tm_arguments_builder.spared grew up to there */
};

struct tm_met_list {
    uint64_t key;
    uint8_t credit; /* grows by an event that is mostly the same, shrinks by others; 0 = free */
    uint8_t count;  /* of parts; 0 = it could not be kept */
    struct tm_met_part parts[TM_MET_PARTS];
    uint8_t list[TM_MET_LIST_BYTES];
    uint8_t from[];
};

/* in:     from_most  bytes of the input that a list may be made from; longer ones are not kept
 * errors: NULL, with the error in run->error */
struct tm_met_lists *tm_met_lists_new(struct tm_run *run, size_t from_most) TM_MUST_USE;
void tm_met_lists_free(struct tm_met_lists *lists); /* tolerates NULL */

/* One event's turn, in the caller's memory. */
struct tm_met_turn {
    struct tm_met_list *list;        /* NULL: neither of the others */
    const uint8_t *from;             /* the event's bytes */
    size_t list_begin, spared_begin; /* of the builder */
    uint32_t part, made;             /* the next one; those that were not copied */
    bool is_learning;                /* parts are noted */
};

/* An event begins.
 * in: key   whose events are like each other
 *     from  its bytes, which stay until the turn ends
 *     b     where its parts go, at the top of a list */
void tm_met_begin(struct tm_met_lists *lists, uint64_t key, const uint8_t *from, const struct tm_arguments_builder *b,
                  struct tm_met_turn *turn);

size_t tm_met_copy_run(struct tm_met_turn *turn, const uint8_t *at, size_t length, struct tm_arguments_builder *b);

/* Put in what comes next as far as it came before.
 * in:  at, length  the rest of the event's bytes
 * out: how many of them that was: whole parts */
static inline size_t tm_met_copy(struct tm_met_turn *turn, const uint8_t *at, size_t length,
                                 struct tm_arguments_builder *b)
{
    const bool is_there = turn->list && !turn->is_learning && turn->part < turn->list->count;

    return is_there ? tm_met_copy_run(turn, at, length, b) : 0;
}

/* A part that ends at `end` was put in by the caller. */
static inline void tm_met_note(struct tm_met_turn *turn, const uint8_t *end, const struct tm_arguments_builder *b)
{
    if (turn->is_learning && turn->part < TM_MET_PARTS)
        turn->list->parts[turn->part] =
            (struct tm_met_part){ (uint16_t)(end - turn->from), (uint16_t)(b->used - turn->list_begin),
                                  (uint16_t)(b->spared - turn->spared_begin) };
    turn->part++;
    turn->made++;
}

/* The event has ended, at the end of the part that was noted last. */
void tm_met_end(struct tm_met_lists *lists, struct tm_met_turn *turn, const uint8_t *end,
                const struct tm_arguments_builder *b);

#endif
