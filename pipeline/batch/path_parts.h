/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PATH_PARTS_H
#define TM_PATH_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a part of a path looks like: a date, a training step, a revision. */

struct tm_path_part {
    const char *text;
    size_t length;
};

/* A date in a part, at its begin or its end: 2026-11-21, 2026_11_21, 20261121, and a time behind it. */
struct tm_part_date {
    char night[11];      /* "2026-11-21" */
    int64_t midnight_ns; /* since 1970, as if it were UTC */
    int64_t time_ns;     /* of the day; -1 = not told */
    struct tm_path_part rest; /* what is beside the date and the time; may be empty */
};
bool tm_part_date(struct tm_path_part part, struct tm_part_date *date);
/* The same of a part that begins with a date.  out: how many bytes it takes, 0 = it does not */
size_t tm_part_date_head(struct tm_path_part part, struct tm_part_date *date);
/* The parts year, month and day. */
bool tm_part_date_of_three(const struct tm_path_part parts[3], struct tm_part_date *date);

/* A step of a training run: step_1000, step-1000, step1000, also of iter, iteration, ckpt, checkpoint, and behind other
 * words.  out: rest  those words; may be empty */
bool tm_part_step(struct tm_path_part part, int64_t *step, struct tm_path_part *rest);

/* A revision: 7 to 40 hexadecimal digits, of which one is a letter and one is none; the letter may be missing behind
 * "git-", "rev-", "sha-" or "commit-"; v1.2-14-g2414721, too.  out: of it the digits */
bool tm_part_revision(struct tm_path_part part, struct tm_path_part *digits);

/* Digits only.  out: false also past 2^63 - 1 */
bool tm_part_number(struct tm_path_part part, int64_t *number);
bool tm_part_is(struct tm_path_part part, const char *word);
/* It ends so, and there is something before it. */
bool tm_part_has_ending(struct tm_path_part part, const char *ending);

#endif
