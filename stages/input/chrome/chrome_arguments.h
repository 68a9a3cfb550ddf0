/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_CHROME_ARGUMENTS_H
#define TM_CHROME_ARGUMENTS_H

#include "pipeline/arguments.h"
#include "stages/input/chrome/chrome_reader.h"

/* From the args object of an event, as it is written, to a list of arguments: what keeps_arguments asks for.  Keys
 * and long texts become names; the same key twice stays twice; whole numbers of 64 bits are integers, other numbers
 * stay as they are written, NaN and Infinity become texts.  Memory: two buffers of fixed size, a table of keys, and
 * one of lists that were made lately. */
struct tm_chrome_arguments;

/* What goes along with the arguments because it belongs to the event. */
struct tm_chrome_words {
    bool has_category, has_id, has_place, is_enclosed;
    bool takes_members;  /* members of the event that have no place elsewhere become arguments of their names */
    bool is_joined;      /* by its id, which has its place there */
    bool is_converted;   /* our writer made it: spans have members that are arrows, which are made anew */
    bool has_texts_only; /* the writer makes texts of all numbers: a text that is a whole number becomes one again */
    uint32_t place;      /* the track on which a flow lies */
    tm_strid name;       /* events of one name are taken to be like each other */
};

/* errors: NULL, with the error in run->error */
struct tm_chrome_arguments *tm_chrome_arguments_new(struct tm_run *run, struct tm_names *names) TM_MUST_USE;
void tm_chrome_arguments_free(struct tm_chrome_arguments *a); /* tolerates NULL */

/* in:     event  its args as tm_chrome_next gives them: checked, with TM_JSON_PADDING bytes that can be loaded behind;
 *                its category where words->has_category, its id where words->has_id
 * out:    *list  valid until the next call.  What does not fit is tallied: LONG_ARGUMENTS, once for the event; so are
 *                NUL_IN_ARGUMENTS, and UNWRITTEN_MEMBER
 * errors: of the names */
tm_status tm_chrome_arguments_take(struct tm_chrome_arguments *a, const struct tm_chrome_event *event,
                                   const struct tm_chrome_words *words, struct tm_arguments *list) TM_MUST_USE;

#endif
