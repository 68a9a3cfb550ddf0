/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DISCOVER_PRIVATE_H
#define TM_DISCOVER_PRIVATE_H

#include "pipeline/discover.h"

/* What the walk over folders and the list of an archive share: blocks of the account, names, and how the files of one
 * folder become a run. */

/* --- memory: of the account `model`, within its share --- */

void *tm_find_take(struct tm_run *run, size_t bytes) TM_MUST_USE;
char *tm_find_copy(struct tm_run *run, const char *text, size_t length) TM_MUST_USE;
void tm_find_give(struct tm_run *run, char *text); /* NULL allowed */
/* Make room for one more row; *capacity is in rows. */
tm_status tm_find_grow(struct tm_run *run, void **rows, size_t count, size_t *capacity, size_t row_bytes) TM_MUST_USE;

/* --- names --- */

/* What the name of a trace file tells. */
struct tm_trace_name {
    enum tm_found_kind kind;
    size_t host_length; /* of its begin: the host */
    size_t data_length; /* as well: alike in files that hold the same data in another form */
    bool compressed;
};

bool tm_trace_name_read(const char *name, struct tm_trace_name *told);
/* The same of the names of which content decides: kind is what most such files are. */
bool tm_plain_name_read(const char *name, struct tm_trace_name *told);
/* out: false  it is no trace */
bool tm_sniffed_kind(enum tm_sniffed sniffed, enum tm_found_kind *kind);
/* Length of `name` without `ending`, or 0 where it has another one or nothing is left. */
size_t tm_name_without(const char *name, size_t length, const char *ending);
/* The date that profilers name run folders after: YYYY_MM_DD_hh_mm_ss, then nothing, '_', '-' or '.'. */
bool tm_run_date(const char *name, size_t length, int64_t *ns);
char *tm_find_host(struct tm_run *run, const char *name, size_t length) TM_MUST_USE; /* a copy, cleaned */

/* --- links of archives --- */

enum { TM_MEMBER_PATH_BYTES = 4096 };

/* A name as the path from the top of the archive, without "." and "..".
 * in:  folder  where it begins, "" = the top
 * out: false  it leads out of the archive, or is too long */
bool tm_member_normalize(char out[TM_MEMBER_PATH_BYTES], const char *folder, const char *name);

/* Whether a link may lead to something in its archive. */
bool tm_member_stays_inside(const struct tm_member *link);

/* A link to be resolved. */
struct tm_member_link {
    struct tm_found_file file; /* target, position, bytes, mtime_ns and kind are known when it is resolved */
    uint64_t position;         /* of a hard link; else 0 */
    bool is_plain;             /* its name does not say that it is a trace: kind is by content, COPY = it is none */
    bool is_lost;
    /* private */
    char *wanted, *next;
    uint64_t next_position;
    unsigned hops, hit;
};

struct tm_member_links {
    struct tm_run *run;
    const char *path;
    tm_list_members *list;
    struct tm_member_link *rows;
    size_t count, capacity;
    struct tm_member_link **order; /* private: those that are wanted, by name */
    size_t wanted;
    uint64_t sniffed_at;           /* private: the member whose content was looked at last in this listing */
    enum tm_sniffed sniffed;
    uint64_t unreadable;           /* out: targets that could not be read */
};

/* in: file  of the link; it is the list's from then on, also after a failure */
tm_status tm_member_links_add(struct tm_member_links *l, const struct tm_found_file *file,
                              const struct tm_member *member, bool is_plain) TM_MUST_USE;
/* Find what they lead to, among files that are known already, else in the archive, which is listed once for each hop.
 * in: files  are put into another order */
tm_status tm_member_links_resolve(struct tm_member_links *l, struct tm_found_file *files, size_t count) TM_MUST_USE;
void tm_member_links_free(struct tm_member_links *l);

/* --- files and runs --- */

/* Add a file to a run; it is the run's from then on, also after a failure.
 * in:     file  path and host: NULL where there was no memory for them */
tm_status tm_run_add(struct tm_run *run, struct tm_found_run *r, const struct tm_found_file *file) TM_MUST_USE;
/* The files of a folder are complete: put them in order, and move the run to those that were found.
 * in:     name  the run's, owned by it from now on; NULL where there was no memory for it */
tm_status tm_run_keep(struct tm_found *found, struct tm_found_run *r, const char *folder, char *name) TM_MUST_USE;
/* A run of one file that was named itself.  in: r  with that file; it is moved as well */
tm_status tm_run_keep_file(struct tm_found *found, struct tm_found_run *r) TM_MUST_USE;
void tm_run_free(struct tm_run *run, struct tm_found_run *r);
void tm_found_file_free(struct tm_run *run, struct tm_found_file *file);
/* The host in the name of a file that was named itself; any name will do. */
char *tm_file_host(struct tm_run *run, const char *path) TM_MUST_USE;
/* Runs that share a name are called by their path below the root.  Then all are put in the order of time. */
tm_status tm_runs_order(struct tm_found *found, const char *root) TM_MUST_USE;

#endif
