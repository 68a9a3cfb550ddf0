/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_UNZSTD_H
#define TM_UNZSTD_H

#include "stages/input/bytes/inflate.h"

/* The largest window that a frame may ask for under a ledger: 1 MiB times a power of two, at most two thirds of the
 * share of the account `input`.  2 MiB (what `zstd` writes) with the least memory there may be, 16 MiB with 256. */
uint64_t tm_unzstd_window_most(const struct tm_budget *budget);

/* Whether a file begins as a zstd does: with a frame, or with one that is to be skipped. */
bool tm_unzstd_is_zstd(const uint8_t *first, size_t length);

/* What the first frame asks for; 0 = it does not begin here. */
uint64_t tm_unzstd_window(const uint8_t *first, size_t length);

/* A decoder of zstd: several frames, frames to be skipped among them.  A frame whose check fails is given out as it
 * is, and the next one is read.  What libzstd takes is of the account `input`: 0.5 MiB and the window of the frame.
 * errors: NULL, with the error in run->error.  Its run: TM_ERR_LIMIT where a frame needs a larger window */
struct tm_decoder *tm_unzstd_new(struct tm_run *run) TM_MUST_USE;

#endif
