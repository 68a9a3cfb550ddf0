/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_DISCOVER_H
#define TM_DISCOVER_H

#include <stdbool.h>

#include "pipeline/run.h"

/* Resolves an INPUT argument: a file, a run folder, a log directory with run folders at any depth, or an archive of one
 * of these.  A run folder contains trace files with these names, each also with .gz or .zst:
 *     HOST.xplane.pb, HOST.trace.json, WORKER.TIME.pt.trace.json, perfetto_trace.json
 * Other files called *.json or *.pb also count if their first bytes are those of a trace.
 * The best file of each host is read: xplane.pb, which is exact, else trace.json. perfetto_trace.json, which JAX writes
 * from the trace.json of a single host, is read only if it is alone.
 * All results live in the account `model`. */
enum tm_found_kind { /* the better ones first */
                     TM_FOUND_XPLANE,
                     TM_FOUND_TRACE_JSON,
                     TM_FOUND_PERFETTO_JSON,
                     TM_FOUND_COPY, /* has the same content as one that is read, compressed or with losses: never
                                     * read both */
                     TM_FOUND_FILE, /* named itself, or alone in an archive: its content decides */
};

struct tm_input; /* stages/input/bytes/input_file.h */

struct tm_found_file {
    char *path;        /* for opening: the file, or the archive that it is in */
    char *member;      /* its name in the archive at `path`; NULL = the file at `path` itself */
    char *target;      /* the member that holds its content, if it is a link to one; NULL = itself */
    uint64_t position; /* of the member that holds it in its archive, from 1; 0 = not a member */
    uint64_t listed;   /* private: position of the name, of a link that of the link */
    char *problem;     /* of its archive, reported with one file of each run; NULL = none */
    char *host; /* file name without its ending, cleaned; at most TM_HOST_MOST bytes; one of its kind in the run */
    uint64_t bytes;
    int64_t mtime_ns;
    int64_t ctime_ns; /* of a file in a folder; 0 = unknown */
    char *version;    /* of an object in a bucket: another one when it changes; NULL = unknown */
    enum tm_found_kind kind;
    struct tm_input *opened; /* stdin, which comes only once, where its kind was examined; borrowed; NULL = open it */
};

struct tm_found_run {
    char *name;                  /* last part of the folder, or its path below the argument where two share that */
    char *folder;                /* as reached from the argument; a file: the file itself */
    int64_t when_ns;             /* of the date in its name (YYYY_MM_DD_hh_mm_ss), else mtime_ns: gives the order */
    int64_t mtime_ns;            /* of its newest file */
    uint64_t bytes;              /* of all its files */
    struct tm_found_file *files; /* by kind, host, name (bytewise) */
    size_t all_count;            /* of files */
    size_t file_count;           /* the first ones: those to be read */
    size_t capacity;             /* private */
};

/* Files that could have belonged to a run but do not, by reason. */
struct tm_left_out {
    uint64_t lost_links; /* links of archives whose targets are missing or that form a cycle */
    uint64_t special;    /* members that are devices, pipes or sockets */
    uint64_t replaced;   /* members replaced by a later one of the same name */
    uint64_t hidden;     /* members with names of traces in folders whose name starts with a dot */
    uint64_t not_traces; /* files called *.json or *.pb whose first bytes are not those of a trace */
    uint64_t unseen;     /* files beyond TM_DISCOVER_SNIFFS_MOST, which may be traces */
};

struct tm_found {
    struct tm_run *run;
    struct tm_found_run *runs; /* oldest first */
    size_t run_count;
    uint64_t folders;    /* that were searched */
    uint64_t unreadable; /* folders that could not be, and files */
    uint64_t links;      /* to folders and traces, that point outside the folder and were not followed */
    uint64_t too_deep;   /* folders below TM_DISCOVER_DEPTH_MOST, which were not searched */
    uint64_t unnamed;    /* members of archives whose names are too long or unusable */
    uint64_t damaged;    /* archives that could be read only at the start */
    struct tm_left_out left_out;
    size_t capacity; /* private */
};

enum { TM_DISCOVER_DEPTH_MOST = 32, TM_DISCOVER_ENTRIES_MOST = 1000000, TM_HOST_MOST = 127 };

/* Limits of one search: files whose content is examined; links of an archive that are followed although their names are
 * not those of traces; and the length of a chain of links. */
enum { TM_DISCOVER_SNIFFS_MOST = 100000, TM_DISCOVER_LINKS_MOST = 10000, TM_DISCOVER_HOPS_MOST = 8 };

/* What the first bytes of a file are. */
enum tm_sniffed { TM_SNIFFED_OTHER, TM_SNIFFED_XSPACE, TM_SNIFFED_TRACE_JSON };

/* errors: TM_ERR_INPUT  it cannot be read, which the search counts; any other one ends the search */
typedef tm_status tm_sniff_path(struct tm_run *run, const char *path, enum tm_sniffed *sniffed);

/* Find the runs behind an argument.  Folders whose name starts with a dot are not searched.  Links are followed if they
 * lead to a place in the folder (run->links_root), or anywhere with run->follow_links.  Each folder is searched once,
 * even if several paths lead to it.
 * in:     input  a path; "-" is a file
 *         sniff  detects contents by their first bytes; NULL = only names count
 * out:    found  at least one run; if the argument is a file: one run with that file
 * owns:   the caller owns it; tm_found_free releases it, also after a failure
 * errors: TM_ERR_INPUT  nothing there, or a folder without any profile (says what was searched)
 *         TM_ERR_LIMIT  more than TM_DISCOVER_ENTRIES_MOST entries, or the account's share is used up */
tm_status tm_discover(struct tm_run *run, const char *input, tm_sniff_path *sniff, struct tm_found *found);

/* Whether a path leads through links to a place outside a folder.  in: root  without links.  out: errno where it
 * cannot be followed, else 0 */
int tm_leads_out(const char *root, const char *path, bool *leads_out) TM_MUST_USE;

/* A member of an archive, as listed. */
struct tm_member {
    const char *name;  /* as it is in the archive; not a path of this machine */
    uint64_t position; /* among all members, from 1 */
    uint64_t bytes;    /* unpacked, as recorded in the archive */
    int64_t mtime_ns;
    bool is_regular;  /* a file with its own content: not a folder, link, or device */
    bool is_special;  /* a device, a pipe, a socket */
    const char *link; /* the target of the link, as stored in the archive; NULL = not a link */
    bool is_hard;     /* the link is the name of a member; else it starts at the folder of the link */
    /* Detect the content, while the member is being listed; NULL = not possible. errors: as in tm_sniff_path */
    tm_status (*sniff)(const struct tm_member *member, enum tm_sniffed *sniffed);
    void *of; /* of the caller that lists it */
};

typedef tm_status tm_take_member(void *to, const struct tm_member *member);

/* What a list reports at its end. */
struct tm_listing {
    uint64_t members;
    uint64_t unnamed;  /* members dropped because their names cannot be used */
    char problem[256]; /* the archive is damaged, and members may be missing; "" = it is complete */
};

typedef tm_status tm_list_members(struct tm_run *run, const char *path, tm_take_member *take, void *to,
                                  struct tm_listing *listing);

/* Find the runs in an archive.  Names are compared unchanged, without leading dots and slashes.  Of several members
 * with the same name, the last one counts.  Folders whose name starts with a dot are skipped.  A link to a member of
 * the archive is that member under another name; links that lead elsewhere are counted.
 * in:     list  provides the members of an archive
 * out:    found  as in tm_discover; if the archive has only one file, without a folder or with another name: that file
 * errors: TM_ERR_INPUT  no profile is in it (says how many members were examined); those of `list` */
tm_status tm_discover_members(struct tm_run *run, const char *path, tm_list_members *list, struct tm_found *found);

/* Find the runs behind the address of an object in a bucket, or of a prefix (pipeline/remote.h).  An address that ends
 * like a trace is an object, and not looked up.  Below a prefix only names decide what is a trace.
 * errors: as of tm_discover */
tm_status tm_discover_objects(struct tm_run *run, const char *uri, struct tm_found *found);
bool tm_is_object_name(const char *uri); /* by its ending */
/* The same, but every object is looked up, so that its size and version are known. */
tm_status tm_discover_listed(struct tm_run *run, const char *uri, struct tm_found *found);

/* What finds the runs of one argument: tm_discover, or one that knows archives too. */
typedef tm_status tm_discover_one(struct tm_run *run, const char *input, struct tm_found *found);

void tm_left_out_add(struct tm_left_out *to, const struct tm_left_out *from);
/* The runs behind several arguments, in one list; runs with the same name are named by their full path. */
tm_status tm_discover_all(struct tm_run *run, char *const *inputs, size_t count, tm_discover_one *discover,
                          struct tm_found *found);
void tm_found_free(struct tm_found *found); /* tolerates a zeroed one */

/* Choose one run.
 * in:     wanted  --run: a run's name or folder, or the last part of its folder if that is unique; NULL = not given
 *         latest  --latest: the most recent one
 * errors: TM_ERR_USAGE  several runs and no choice, or `wanted` matches none or several: lists them */
tm_status tm_choose_run(struct tm_run *run, const struct tm_found *found, const char *wanted, bool latest,
                        const struct tm_found_run **chosen);

/* Make the hosts of files from several places distinct: the second file of one host gets "host#2", the number
 * being its place among the files.  The first one keeps its name. */
tm_status tm_distinct_hosts(struct tm_run *run, struct tm_found_file *const *files, size_t count);

/* What a file is called: its path, or that of the archive and then the member's: a view into either argument. */
enum { TM_FOUND_NAME_BYTES = 8192 + 8 };

const char *tm_found_name(const struct tm_found_file *file, char name[TM_FOUND_NAME_BYTES]);

/* A member's name without "./" and "/" at its start: a view into it. */
const char *tm_member_path(const char *name);

/* The length of an archive's name without its endings. */
size_t tm_archive_name_length(const char *name, size_t length);

/* The last part of a path, without slashes at its end: a view into it, with its length. */
const char *tm_last_part(const char *path, size_t *length);

/* What the walk over folders and the list of an archive share: blocks of the account, names, and how the files of one
 * folder become a run. */

/* --- memory: of the account `model`, within its share --- */

void *tm_find_take(struct tm_run *run, size_t bytes) TM_MUST_USE;
char *tm_find_copy(struct tm_run *run, const char *text, size_t length) TM_MUST_USE;
void tm_find_give(struct tm_run *run, char *text); /* NULL allowed */
/* Make room for one more row; *capacity is in rows. */
tm_status tm_find_grow(struct tm_run *run, void **rows, size_t count, size_t *capacity, size_t row_bytes);

/* --- names --- */

/* Information from the name of a trace file. */
struct tm_trace_name {
    enum tm_found_kind kind;
    size_t host_length; /* of its start: the host */
    size_t data_length; /* as well: alike in files that hold the same data in another form */
    bool compressed;
};

bool tm_trace_name_read(const char *name, struct tm_trace_name *told);
/* The same for names whose files are classified by content: kind is what most such files are. */
bool tm_plain_name_read(const char *name, struct tm_trace_name *told);
/* Length of `name` without `ending`, or 0 if it has another one or nothing is left. */
size_t tm_name_without(const char *name, size_t length, const char *ending);
char *tm_find_host(struct tm_run *run, const char *name, size_t length) TM_MUST_USE; /* a copy, cleaned */

/* --- links of archives --- */

/* --- files and runs --- */

/* Add a file to a run; it is the run's from then on, also after a failure.
 * in:     file  path and host: NULL if there was no memory for them */
tm_status tm_run_add(struct tm_run *run, struct tm_found_run *r, const struct tm_found_file *file);

/* The files of a folder are complete: put them in order, and move the run to those that were found.
 * in:     name  the run's, owned by it from now on; NULL if there was no memory for it */
tm_status tm_run_keep(struct tm_found *found, struct tm_found_run *r, const char *folder, char *name);
/* A run of one file that was named itself.  in: r  with that file; it is moved as well */
tm_status tm_run_keep_file(struct tm_found *found, struct tm_found_run *r);
void tm_run_free(struct tm_run *run, struct tm_found_run *r);
void tm_found_file_free(struct tm_run *run, struct tm_found_file *file);
/* The host in the name of a file that was named itself; any name will do. */
char *tm_file_host(struct tm_run *run, const char *path) TM_MUST_USE;
/* Runs that share a name are called by their path below the root.  Then all are put in time order. */
tm_status tm_runs_order(struct tm_found *found, const char *root);

#endif
