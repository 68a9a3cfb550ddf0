/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ARGUMENT_TEMPLATES_H
#define TM_ARGUMENT_TEMPLATES_H

#include <stdint.h>
#include <string.h>

#include "pipeline/arguments.h"
#include "pipeline/run.h"

/* Argument lists that are equal except for a few integers.  All events of a call site share one set of arguments and
 * differ in a correlation id or a count:
 *     correlation_id 1650, kernel_details "regs:40 ...", hlo_op "fusion.46"
 *     correlation_id 9066, kernel_details "regs:40 ...", hlo_op "fusion.46"
 * The list is stored once, as a template with holes.  A record has the number of its template (TM_FLAG_TEMPLATE), and
 * its own arguments are the values of the holes, except for the correlation id, which the record has anyway: usually
 * nothing instead of a hundred bytes.  Writers cache their output of a template and copy it.  A template lives until
 * all of them are freed.  If there is no room for another one, lists are stored unchanged.  Memory: `input`,
 * fixed. */
enum {
    TM_ARGUMENT_HOLES = 16,
    TM_TEMPLATE_LIST_MOST = 1024, /* bytes of a list that becomes a template */
    TM_TEMPLATE_NUMBERS_MOST = 64 /* bytes of the numbers of one event */
};

/* In the number of a template: its first hole is the correlation id of the record. */
#define TM_TEMPLATE_CORRELATION (UINT32_C(1) << 31)

struct tm_argument_template {
    const uint8_t *list; /* with 0 in the holes */
    uint16_t length, holes;
    uint16_t hole_at[TM_ARGUMENT_HOLES]; /* offsets of the zeros */
};

struct tm_argument_templates;

/* errors: NULL, with the error in run->error */
struct tm_argument_templates *tm_argument_templates_new(struct tm_run *run) TM_MUST_USE;
void tm_argument_templates_free(struct tm_argument_templates *t); /* tolerates NULL */

const struct tm_argument_template *tm_argument_template(const struct tm_argument_templates *t, uint32_t number);

/* A template for lists like this one.
 * in:     holes  bit n: the n-th node is an integer that varies
 *         flags  0, or TM_TEMPLATE_CORRELATION
 * out:    its number; 0: it does not get one */
uint32_t tm_argument_templates_add(struct tm_argument_templates *t, struct tm_arguments list, uint64_t holes,
                                   uint32_t flags);

/* Express a list by a template.  A new list becomes a template when it occurs again: with a hole for the correlation id
 * if that suffices for most events of the name, else with holes for all integers at its top level.
 * in:     correlation  of the record; 0 = none
 *         numbers      TM_TEMPLATE_NUMBERS_MOST bytes
 * out:    the template, and *list is the values of its holes, in `numbers`; 0: there is none, and the list is
 * unchanged */
uint32_t tm_argument_templates_take(struct tm_argument_templates *t, tm_strid name, uint64_t correlation,
                                    struct tm_arguments *list, uint8_t *numbers);

/* Numbers that keep coming with a template get one in which they are fixed: its records have no arguments of their own,
 * and so have a signature.  Half of the events of an XSpace are launches with a device id in front of their correlation
 * id: with the device in the template, a launch is stored in 12 bytes instead of 67.
 * in:     numbers  the values of the holes, as tm_argument_templates_take returns them
 * out:    the template, of which the correlation id is the only hole; 0: there is none, or not yet */
uint32_t tm_argument_templates_fix(struct tm_argument_templates *t, uint32_t template, struct tm_arguments numbers,
                                   uint64_t correlation);

/* The list itself.
 * in:     numbers  the values of the holes
 *         whole    TM_TEMPLATE_WHOLE_MOST bytes
 * out:    in `whole` */
enum { TM_TEMPLATE_WHOLE_MOST = TM_TEMPLATE_LIST_MOST + 10 * TM_ARGUMENT_HOLES };
struct tm_arguments tm_arguments_whole(const struct tm_argument_templates *t, uint32_t template,
                                       struct tm_arguments numbers, uint64_t correlation, uint8_t *whole);

/* A number of an event, as stored in holes: the shortest varint of its two's complement. */
static inline uint8_t *tm_put_hole(uint8_t *to, int64_t number)
{
    uint64_t left = (uint64_t)number;

    for (; left >= 0x80; left >>= 7)
        *to++ = (uint8_t)(left | 0x80);
    *to++ = (uint8_t)left;
    return to;
}

static inline const uint8_t *tm_take_hole(const uint8_t *from, uint64_t *number)
{
    uint64_t value = *from & 0x7f;

    for (unsigned shift = 7; *from++ & 0x80; shift += 7)
        value |= (uint64_t)(*from & 0x7f) << shift;
    *number = value;
    return from;
}

/* The numbers of all holes, one after the other.
 * in: room  10 bytes more than there may be of the others */
static inline const uint8_t *tm_hole_numbers(uint32_t template, struct tm_arguments numbers, uint64_t correlation,
                                             uint8_t room[TM_TEMPLATE_NUMBERS_MOST + 10])
{
    if (!(template & TM_TEMPLATE_CORRELATION))
        return numbers.bytes;
    uint8_t *const to = tm_put_hole(room, (int64_t)correlation);

    if (numbers.length)
        memcpy(to, numbers.bytes, numbers.length);
    return room;
}

#endif
