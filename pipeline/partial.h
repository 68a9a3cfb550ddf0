/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_PARTIAL_H
#define TM_PARTIAL_H

#include <stdbool.h>

#include "pipeline/store/names.h"

/* The partial of a run: the complete state of the stages after its hosts are read, so partials of hosts and shards
 * merge to exactly the result of one process.  A file of sections in a fixed order, followed by a checksum.
 * source: schemas/PARTIAL.md */
#define TM_PARTIAL_MAGIC "TRACEMILL PARTIAL 9\n"
enum { TM_PARTIAL_MAGIC_BYTES = 20 };

/* The name of a host of the run, by its number. */
typedef const char *tm_partial_host(const void *of, uint32_t host);

/* --- writing --- */

/* Sections are collected in a spill file, because their lengths are known only at their ends.  Failures are recorded in
 * run->error, and later calls are ignored; tm_partial_write checks it. */
struct tm_partial_writer;

/* in:     names    of the run: handles are written as strings, each string once; no name may be added while sections
 *         are written
 *         host, of names of hosts
 *         names and hosts must live until the last section has ended
 * owns:   the caller owns the result, tm_partial_writer_free releases it (NULL allowed)
 * errors: NULL, with the error in run->error */
struct tm_partial_writer *tm_partial_writer_new(struct tm_run *run, struct tm_names *names, tm_partial_host *host,
                                                const void *of) TM_MUST_USE;
void tm_partial_writer_free(struct tm_partial_writer *w);

void tm_partial_begin(struct tm_partial_writer *w, const char *section);
tm_status tm_partial_end(struct tm_partial_writer *w);
tm_status tm_partial_writer_status(const struct tm_partial_writer *w); /* of the run */

void tm_partial_put_u8(struct tm_partial_writer *w, unsigned value); /* below 256 */
void tm_partial_put_u32(struct tm_partial_writer *w, uint32_t value);
void tm_partial_put_u64(struct tm_partial_writer *w, uint64_t value);
void tm_partial_put_i64(struct tm_partial_writer *w, int64_t value);
/* In 1 to 10 bytes, the fewer the smaller the number is. */
void tm_partial_put_packed(struct tm_partial_writer *w, uint64_t value);
void tm_partial_put_double(struct tm_partial_writer *w, double value);
/* A struct or array of 64-bit numbers, of this many. */
void tm_partial_put_words(struct tm_partial_writer *w, const void *first, size_t count);
void tm_partial_put_text(struct tm_partial_writer *w, const char *text); /* shorter than 4 GiB */
void tm_partial_put_name(struct tm_partial_writer *w, tm_strid name);
/* An id that starts with the name of its host, which may have another name where it is read. */
void tm_partial_put_id(struct tm_partial_writer *w, uint32_t host, const char *id);
/* The host, and the id of one of its devices. */
void tm_partial_put_device(struct tm_partial_writer *w, uint32_t host, const char *id);
/* Is this the first time in the section that rows of this table, identified by its address, are written?  Then their
 * layout has to be written before them.  There are at most TM_PARTIAL_TABLES_MOST in a section. */
enum { TM_PARTIAL_TABLES_MOST = 32 };
bool tm_partial_begin_table(struct tm_partial_writer *w, const void *table);

/* Copy all sections, between the magic number and the checksum.
 * errors: TM_ERR_OUTPUT */
tm_status tm_partial_write(struct tm_partial_writer *w, FILE *to);

/* --- reading --- */

struct tm_partial_reader;

/* Whether a file starts as a partial of any version does; false also where it cannot be read. */
bool tm_partial_is(const char *path);

/* Open a partial and check that it is complete. Its position is before the first section.
 * owns:   the caller owns the result, tm_partial_close releases it (NULL allowed)
 * errors: NULL, with the error in run->error: TM_ERR_INPUT  cannot be read, of another version, damaged;
 * TM_ERR_LIMIT */
struct tm_partial_reader *tm_partial_open(struct tm_run *run, const char *path) TM_MUST_USE;
/* The same of an open file, which stays the caller's.  in: name  for messages */
struct tm_partial_reader *tm_partial_open_file(struct tm_run *run, int fd, const char *name) TM_MUST_USE;

/* The checksum of its content: the same file has the same. */
uint64_t tm_partial_sum(const struct tm_partial_reader *r);
void tm_partial_close(struct tm_partial_reader *r);

/* The destination of names, and the hosts of the run in the partial: `first` and the ones after it. */
void tm_partial_bind(struct tm_partial_reader *r, struct tm_names *names, tm_partial_host *host, const void *of,
                     uint32_t first, uint32_t count);
/* Which devices of the run the current section holds, as its stage numbers them: `first` and the ones after it. */
void tm_partial_bind_devices(struct tm_partial_reader *r, uint32_t first, uint32_t count);
uint32_t tm_partial_first_device(const struct tm_partial_reader *r);
struct tm_names *tm_partial_names(const struct tm_partial_reader *r);
uint32_t tm_partial_first_host(const struct tm_partial_reader *r);
uint32_t tm_partial_host_count(const struct tm_partial_reader *r);
/* Copied, cut and terminated, into a field of fixed size. */
void tm_partial_copy_host(const struct tm_partial_reader *r, uint32_t host, char *to, size_t to_bytes);

/* The next section has to be the named one, and has to be read to its end.  errors: TM_ERR_INPUT */
void tm_partial_enter(struct tm_partial_reader *r, const char *section);
void tm_partial_leave(struct tm_partial_reader *r);
void tm_partial_finish(struct tm_partial_reader *r); /* there are no more sections */

/* What is read is untrusted.  After a failure of the run everything reads as 0 or "", so that one check after a row is
 * enough. */
bool tm_partial_is_ok(const struct tm_partial_reader *r);
tm_status tm_partial_status(const struct tm_partial_reader *r); /* likewise of the run */
/* errors: TM_ERR_INPUT with the place; the first failure wins */
tm_status tm_partial_damaged(struct tm_partial_reader *r, const char *what);

/* As tm_partial_begin_table; where the layout that follows is not that of the table, another version wrote it. */
bool tm_partial_enter_table(struct tm_partial_reader *r, const void *table);
tm_status tm_partial_refuse_layout(struct tm_partial_reader *r); /* errors: TM_ERR_INPUT; the first failure wins */
uint32_t tm_partial_u32(struct tm_partial_reader *r);
uint64_t tm_partial_u64(struct tm_partial_reader *r);
int64_t tm_partial_i64(struct tm_partial_reader *r);
uint64_t tm_partial_packed(struct tm_partial_reader *r);
double tm_partial_double(struct tm_partial_reader *r);
bool tm_partial_bool(struct tm_partial_reader *r);
int64_t tm_partial_time(struct tm_partial_reader *r); /* a length of time: not negative */
/* An index, enumerator or count of 8, 32 or 64 bits: below `limit`, else the partial is damaged. */
uint8_t tm_partial_below_u8(struct tm_partial_reader *r, uint32_t limit);
uint32_t tm_partial_below_u32(struct tm_partial_reader *r, uint64_t limit);
uint64_t tm_partial_below_u64(struct tm_partial_reader *r, uint64_t limit);
void tm_partial_words(struct tm_partial_reader *r, void *first, size_t count);
/* A string of less than to_bytes bytes. */
void tm_partial_text(struct tm_partial_reader *r, char *to, size_t to_bytes);
tm_strid tm_partial_name(struct tm_partial_reader *r);
void tm_partial_id(struct tm_partial_reader *r, uint32_t host, char *to, size_t to_bytes);
uint32_t tm_partial_run_host(struct tm_partial_reader *r);   /* a host of the partial: its number in the run */
uint32_t tm_partial_run_device(struct tm_partial_reader *r); /* a device of the section: its number in the run */
uint32_t tm_partial_run_device_or_none(struct tm_partial_reader *r); /* the same, or TM_NONE */
/* A host and the id of one of its devices.  out: the number of the host in the run */
uint32_t tm_partial_device(struct tm_partial_reader *r, char *id, size_t id_bytes);

#endif
