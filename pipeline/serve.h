/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_SERVE_H
#define TM_SERVE_H

#include "pipeline/run.h"

/* Files for a browser on this machine: HTTP/1.1 on 127.0.0.1, GET and HEAD.  Only a list of names made beforehand can
 * be requested.  Each address starts with a random token, and a request for
 * another host than the server's own is refused, so that other web pages can get in neither by guessing nor by DNS
 * rebinding. */

enum { TM_HTTP_HEAD_BYTES = 8 << 10 /* the longest request */, TM_ORIGIN_BYTES = 256 };

/* A request as received; the slices are views into its bytes. */
struct tm_http_request {
    bool is_head;
    const char *path; /* after the first '/', without the query */
    size_t path_length;
    const char *host;
    size_t host_length;
    bool has_range;
    uint64_t first,
        last; /* of the range; last: UINT64_MAX = to the end; a suffix: first = UINT64_MAX, last = its length */
};

/* Read a request.
 * out: 0: it continues; 200: *request is whole; else the status that it is refused with: 400, 405, 431, 505 */
int tm_http_parse(const char *bytes, size_t length, struct tm_http_request *request);

/* What can be requested, by its exact name. */
struct tm_served_file {
    const char *name;   /* "" = the page itself */
    const char *type;   /* Content-Type */
    const char *policy; /* Content-Security-Policy; NULL = none */
    const char *bytes;  /* NULL: those of fd */
    uint64_t size;
    int fd;
    bool is_in_folder; /* fd is a folder: the file of that name in it is opened for each answer, whatever its size */
};

struct tm_server {
    const struct tm_served_file *files;
    size_t file_count;
    uint16_t port; /* 0 = any */
    /* Pages of this origin may read the file `shared`; once all of it has been sent, the server ends.  NULL = none */
    const char *origin;
    const char *shared;
    /* Called once, when requests are taken.  in: address  "http://127.0.0.1:PORT/TOKEN/" */
    void (*is_ready)(void *to, const char *address);
    void *to;
};

/* Serve until the page is closed: it holds the answer to `alive` open, and the server ends some seconds after the last
 * of these connections has closed, or after `shared` was sent.  Signals end the process as they always do.
 * errors: TM_ERR_OUTPUT  no local address is available; TM_ERR_LIMIT no memory */
tm_status tm_serve(struct tm_run *run, const struct tm_server *server);

#endif
