/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ZIP_CHECK_H
#define TM_ZIP_CHECK_H

#include "pipeline/run.h"

enum { TM_ZIP_PROBLEM_BYTES = 200 };

/* Whether the directory of a zip and the headers before its members agree: name, method, sizes and CRC of each member,
 * and no two members in one place.  libarchive goes by the directory, other programs by the headers: a zip in which
 * they differ is two archives in one.  Costs a small read for each member.  Memory: 0.3 MiB of the account `input`, and
 * a sorter of the account `sort` where members are not in the order of the directory.
 * in:     bytes    of the file
 *         problem  TM_ZIP_PROBLEM_BYTES; "" = they agree
 * errors: TM_ERR_INPUT  it cannot be read; TM_ERR_LIMIT, TM_ERR_OUTPUT of memory and the spill file
 * source: PKWARE APPNOTE 6.3.10, 4.3.7 (header), 4.3.12 (directory), 4.3.14 to 4.3.16 (its end), 4.5.3 (zip64) */
tm_status tm_zip_check(struct tm_run *run, int fd, uint64_t bytes, const char *shown, char *problem) TM_MUST_USE;

#endif
