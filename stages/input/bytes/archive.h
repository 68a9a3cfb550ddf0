/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_ARCHIVE_H
#define TM_ARCHIVE_H

#include "pipeline/discover.h"
#include "pipeline/run.h"

/* Members of tar and zip archives, read in place: nothing is extracted, no name of an archive becomes a path, and links
 * are reported, not followed (pipeline/discover.c finds the target member).  A tar may be compressed with gzip or zstd;
 * it is then read from its start for each member.  Buffers and decoders are in the account `input`: 0.3 MiB; 0.8 MiB
 * for a gzip; 1.1 MiB and the window for a zstd. libarchive's memory is outside the ledger: for a tar under 0.1 MiB,
 * and at most 1 MiB for a long name; for a zip 0.3 MiB and its directory, about three times its size in the file, at
 * most TM_ARCHIVE_DIRECTORY_MOST of it.
 * source: POSIX pax (ustar, pax interchange), GNU tar manual (long names), PKWARE APPNOTE 6.3 (zip) */
enum { TM_ARCHIVE_MEMBERS_MOST = 1000000, TM_ARCHIVE_DIRECTORY_MOST = 16 << 20, TM_MEMBER_NAME_MOST = 4095 };

/* Members that are read in archive order are read in one pass.  A member before the last one read takes another pass
 * from the start; the total of all passes of a run is limited to this much: some minutes. */
enum { TM_ARCHIVE_AGAIN_MEMBERS_MOST = 16 << 20 };

/* Whether what a gzip or zstd wraps is a tar.  If that is damaged, its reader will report it. */
tm_status tm_archive_is_wrapped_tar(struct tm_run *run, const char *path, bool *is_tar) TM_MUST_USE;

/* Give all members to `take`, in order.  A tm_list_members for tm_discover_members.
 * out:    listing  a damaged archive gives the members before the damage, and listing->problem says so
 * errors: TM_ERR_INPUT  not a member could be read
 *         TM_ERR_LIMIT  more than TM_ARCHIVE_MEMBERS_MOST members, or a longer directory
 *         and whatever `take` returns, which ends it */
tm_status tm_archive_list(struct tm_run *run, const char *path, tm_take_member *take, void *to,
                          struct tm_listing *listing) TM_MUST_USE;

/* A member that is read once from its start to its end. */
struct tm_archive_member;

/* Open a member.
 * in:     path      must live until it is closed
 *         name      from tm_archive_list, of a regular member
 *         position  likewise; 0 = unknown: the last one of that name, for which the archive is read twice
 * owns:   the caller owns *member, tm_archive_close releases it; NULL after a failure
 * errors: TM_ERR_INPUT  no such member, not a regular file, encrypted, a zip member that is neither stored nor
 *         deflated, or the archive cannot be read up to there; TM_ERR_LIMIT  of memory, and of the data skipped by
 *         repeated passes */
tm_status tm_archive_open(struct tm_archive_member **member, struct tm_run *run, const char *path, const char *name,
                          uint64_t position);

/* The next bytes of the member, as they were put into the archive.
 * out:    got     1 to `bytes`; 0 at the end, which damage may bring early: see tm_archive_problem
 * errors: TM_ERR_INPUT  the archive cannot be read, or packs the member in a way that is unknown; TM_ERR_LIMIT of
 * holes */
tm_status tm_archive_read(struct tm_archive_member *member, void *to, size_t bytes, size_t *got);

/* What is wrong with the member, known at its end; NULL = nothing. */
const char *tm_archive_problem(const struct tm_archive_member *member);
int64_t tm_archive_modified_ns(const struct tm_archive_member *member);
uint64_t tm_archive_bytes(const struct tm_archive_member *member); /* as recorded in the archive, which may be wrong */

/* The archive stays open for the next member, until tm_close_left_open.  NULL allowed. */
void tm_archive_close(struct tm_archive_member *member);

enum { TM_ZIP_PROBLEM_BYTES = 200 };

/* Whether the directory of a zip and the headers before its members agree: name, method, sizes and CRC of each member,
 * and no two members in one place.  libarchive uses the directory, other programs use the headers: a zip in which
 * they differ is two archives in one.  Costs a small read for each member.  Memory: 0.3 MiB of the account `input`, and
 * a sorter of the account `sort` where members are not in the order of the directory.
 * in:     bytes    of the file
 *         problem  TM_ZIP_PROBLEM_BYTES; "" = they agree
 * errors: TM_ERR_INPUT  it cannot be read; TM_ERR_LIMIT, TM_ERR_OUTPUT of memory and the spill file
 * source: PKWARE APPNOTE 6.3.10, 4.3.7 (header), 4.3.12 (directory), 4.3.14 to 4.3.16 (its end), 4.5.3 (zip64) */
tm_status tm_zip_check(struct tm_run *run, int fd, uint64_t bytes, const char *shown, char *problem) TM_MUST_USE;

#endif
