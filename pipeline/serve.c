/* SPDX-License-Identifier: Apache-2.0 */
/* One thread, one poll over the listening socket and at most SERVED_MOST connections, which each answer one request and
 * are closed.  A connection that sends no request, or takes no bytes, for some seconds is closed too, so that idle
 * ones do not keep others out.
 * source: RFC 9110 and 9112 as far as a browser needs them; RFC 9110 14.1.2 for a single range */
#include "pipeline/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SERVED_MOST = 24,    /* connections */
    ALIVE_MOST = 8,      /* of them those that stay open */
    TOKEN_BYTES = 32,    /* hexadecimal digits */
    ANSWER_BYTES = 1536, /* the head of an answer */
    PIECE_BYTES = 64 << 10,
    REQUEST_MS = 10000,
    PROGRESS_MS = 30000,
    CLOSED_MS = 3000, /* after the last page was closed: it may be loaded again */
    PING_MS = 15000,
};

/* --- requests --- */

static bool is_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("!#$%&'*+-.^_`|~", c);
}

/* A decimal number of at most 18 digits.  out: how many digits; 0 = none, or too many */
static size_t read_digits(const char *at, const char *end, uint64_t *value)
{
    size_t n = 0;

    *value = 0;
    while (at + n < end && at[n] >= '0' && at[n] <= '9' && n < 19)
        *value = *value * 10 + (uint64_t)(at[n++] - '0');
    return n == 19 ? 0 : n;
}

/* "bytes=A-B", "bytes=A-", "bytes=-N"; several ranges and unreadable ones are ignored: the answer is the whole file. */
static void read_range(const char *at, const char *end, struct tm_http_request *r)
{
    uint64_t first = UINT64_MAX, last = UINT64_MAX;
    size_t n;

    if (end - at < 7 || memcmp(at, "bytes=", 6) != 0)
        return;
    at += 6;
    n = read_digits(at, end, &first);
    if (!n && *at != '-')
        return;
    first = n ? first : UINT64_MAX;
    at += n;
    if (at == end || *at++ != '-')
        return;
    if (at < end) {
        n = read_digits(at, end, &last);
        if (!n || at + n != end)
            return;
    } else if (first == UINT64_MAX) {
        return;
    }
    if (first != UINT64_MAX && last < first)
        return;
    r->has_range = true;
    r->first = first;
    r->last = last;
}

static bool is_named(const char *name, size_t length, const char *wanted)
{
    return length == strlen(wanted) && strncasecmp(name, wanted, length) == 0;
}

/* out: 200, or the status of a refusal */
static int read_field(const char *at, const char *end, struct tm_http_request *r, bool *has_host)
{
    const char *const name = at;
    size_t length;
    uint64_t number;

    while (at < end && is_token(*at))
        at++;
    length = (size_t)(at - name);
    if (!length || at == end || *at != ':')
        return 400; /* folded lines too */
    at++;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    for (const char *c = at; c < end; c++)
        if ((unsigned char)*c < 0x20 && *c != '\t')
            return 400;
    if (is_named(name, length, "host")) {
        if (*has_host)
            return 400;
        *has_host = true;
        r->host = at;
        r->host_length = (size_t)(end - at);
    } else if (is_named(name, length, "range")) {
        r->has_range = false;
        read_range(at, end, r);
    } else if (is_named(name, length, "transfer-encoding")) {
        return 400; /* nothing here has a body */
    } else if (is_named(name, length, "content-length")) {
        if (read_digits(at, end, &number) != (size_t)(end - at) || number)
            return 400;
    }
    return 200;
}

/* METHOD /PATH HTTP/1.x */
static int read_line(const char *at, const char *end, struct tm_http_request *r)
{
    const char *const method = at;
    size_t length;

    while (at < end && is_token(*at))
        at++;
    length = (size_t)(at - method);
    if (!length || at == end || *at != ' ')
        return 400;
    r->is_head = length == 4 && memcmp(method, "HEAD", 4) == 0;
    if (!r->is_head && !(length == 3 && memcmp(method, "GET", 3) == 0))
        return 405;
    at++;
    if (at == end || *at != '/')
        return 400;
    r->path = ++at;
    while (at<end && * at> ' ' && *at < 0x7f && *at != '?' && *at != '#')
        at++;
    r->path_length = (size_t)(at - r->path);
    while (at<end && * at> ' ' && *at < 0x7f)
        at++;
    if (end - at != 9 || memcmp(at, " HTTP/", 6) != 0)
        return 400;
    return memcmp(at + 6, "1.1", 3) == 0 || memcmp(at + 6, "1.0", 3) == 0 ? 200 : 505;
}

int tm_http_parse(const char *bytes, size_t length, struct tm_http_request *request)
{
    const char *at = bytes;
    const char *const end = bytes + length;
    bool is_first = true, has_host = false;

    *request = (struct tm_http_request){ .path = "", .host = "" };
    while (at < end) {
        const char *const feed = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = feed;
        int status;

        if (!feed)
            break;
        if (line_end > at && line_end[-1] == '\r')
            line_end--;
        if (line_end == at && is_first)
            return 400;
        if (line_end == at)
            return has_host ? 200 : 400;
        status = is_first ? read_line(at, line_end, request) : read_field(at, line_end, request, &has_host);
        if (status != 200)
            return status;
        is_first = false;
        at = feed + 1;
    }
    return length >= TM_HTTP_HEAD_BYTES ? 431 : 0;
}

/* --- connections --- */

enum state { FREE, READING, ANSWERING, ALIVE };

struct connection {
    int fd;
    enum state state;
    int64_t until_ms; /* it is closed then, or has its ping */
    size_t in_length, head_length, head_sent;
    const struct tm_served_file *file; /* NULL = an answer without a body */
    int body, opened;                  /* opened: for this answer, to be closed; -1 = none */
    uint64_t size, at, end;
    char in[TM_HTTP_HEAD_BYTES], head[ANSWER_BYTES];
};

struct loop {
    const struct tm_server *server;
    int listener;
    unsigned port;
    char token[TOKEN_BYTES + 1];
    int64_t now_ms, closed_ms; /* closed: when the last page went; 0 = one is open, or none was yet */
    size_t alive;
    struct connection connections[SERVED_MOST];
    char piece[PIECE_BYTES];
};

static int64_t clock_ms(void)
{
    return (int64_t)(tm_clock_ns() / 1000000);
}

static void close_body(struct connection *c)
{
    if (c->opened >= 0)
        (void)close(c->opened);
    c->opened = -1;
}

/* out: false: there is no such regular file any more */
static bool open_body(struct connection *c)
{
    struct stat info;

    c->body = c->file->fd;
    c->size = c->file->size;
    if (!c->file->is_in_folder)
        return true;
    c->body = c->opened = openat(c->file->fd, c->file->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (c->opened < 0 || fstat(c->opened, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    c->size = (uint64_t)info.st_size;
    return true;
}

static void close_connection(struct loop *l, struct connection *c)
{
    if (c->state == ALIVE && --l->alive == 0)
        l->closed_ms = l->now_ms;
    (void)close(c->fd);
    close_body(c);
    c->state = FREE;
}

static const char *reason_of(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 206:
        return "Partial Content";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 416:
        return "Range Not Satisfiable";
    case 431:
        return "Request Header Fields Too Large";
    case 503:
        return "Service Unavailable";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Bad Request";
    }
}

static bool is_shared(const struct loop *l, const struct tm_served_file *file)
{
    return file && l->server->origin && strcmp(file->name, l->server->shared) == 0;
}

static void answer(struct loop *l, struct connection *c, int status, const char *type, uint64_t length,
                   const char *more)
{
    const int n = snprintf(c->head, sizeof(c->head),
                           "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %llu\r\n%sCache-Control: no-store\r\n"
                           "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
                           "Cross-Origin-Resource-Policy: %s\r\nX-Frame-Options: SAMEORIGIN\r\n"
                           "Connection: close\r\n\r\n",
                           status, reason_of(status), type, (unsigned long long)length, more,
                           is_shared(l, c->file) ? "cross-origin" : "same-origin");

    c->head_length = n > 0 && (size_t)n < sizeof(c->head) ? (size_t)n : 0;
    c->head_sent = 0;
    c->state = ANSWERING;
    c->until_ms = l->now_ms + PROGRESS_MS;
}

static void refuse(struct loop *l, struct connection *c, int status)
{
    c->file = NULL;
    answer(l, c, status, "text/plain", 0, status == 405 ? "Allow: GET, HEAD\r\n" : "");
}

/* Everything is compared, so the time does not reveal how much of it was right. */
static bool has_token(const struct loop *l, const struct tm_http_request *r)
{
    unsigned char differs = 0;

    if (r->path_length <= TOKEN_BYTES || r->path[TOKEN_BYTES] != '/')
        return false;
    for (size_t i = 0; i < TOKEN_BYTES; i++)
        differs |= (unsigned char)(r->path[i] ^ l->token[i]);
    return !differs;
}

static bool is_own_host(const struct loop *l, const struct tm_http_request *r)
{
    static const char *const names[] = { "127.0.0.1", "localhost" };
    char text[32];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(text, sizeof(text), "%s:%u", names[i], l->port);
        if (is_named(r->host, r->host_length, text))
            return true;
    }
    return false;
}

static const struct tm_served_file *find_file(const struct loop *l, const char *name, size_t length)
{
    for (size_t i = 0; i < l->server->file_count; i++) {
        const struct tm_served_file *const file = &l->server->files[i];

        if (strlen(file->name) == length && memcmp(file->name, name, length) == 0)
            return file;
    }
    return NULL;
}

static void answer_file(struct loop *l, struct connection *c, const struct tm_http_request *r)
{
    const struct tm_served_file *const file = c->file;
    const char *const policy = file->policy ? file->policy : "";
    char more[768], range[96] = "", allowed[TM_ORIGIN_BYTES + 64] = "";
    int status = 200;

    if (is_shared(l, file))
        (void)snprintf(allowed, sizeof(allowed), "Access-Control-Allow-Origin: %.*s\r\n", TM_ORIGIN_BYTES,
                       l->server->origin);

    c->at = 0;
    c->end = c->size;
    if (r->has_range) {
        const bool is_suffix = r->first == UINT64_MAX;
        const uint64_t first = !is_suffix ? r->first : r->last < c->size ? c->size - r->last : 0;
        const uint64_t last = is_suffix || r->last >= c->size ? c->size - 1 : r->last;

        if (!c->size || first >= c->size || (is_suffix && !r->last)) {
            (void)snprintf(range, sizeof(range), "Content-Range: bytes */%llu\r\n", (unsigned long long)c->size);
            c->file = NULL;
            answer(l, c, 416, "text/plain", 0, range);
            return;
        }
        status = 206;
        c->at = first;
        c->end = last + 1;
        (void)snprintf(range, sizeof(range), "Content-Range: bytes %llu-%llu/%llu\r\n", (unsigned long long)first,
                       (unsigned long long)last, (unsigned long long)c->size);
    }
    (void)snprintf(more, sizeof(more), "Accept-Ranges: bytes\r\n%s%s%s%.350s%s", range, allowed,
                   file->policy ? "Content-Security-Policy: " : "", policy, file->policy ? "\r\n" : "");
    answer(l, c, status, file->type, c->end - c->at, more);
    if (r->is_head)
        c->file = NULL;
}

/* A page uses it to signal that it is open. */
static void answer_alive(struct loop *l, struct connection *c)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
                               "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n: open\n\n";

    if (l->alive == ALIVE_MOST || send(c->fd, head, sizeof(head) - 1, MSG_NOSIGNAL) != (ssize_t)sizeof(head) - 1) {
        refuse(l, c, 503);
        return;
    }
    l->alive++;
    l->closed_ms = 0;
    c->state = ALIVE;
    c->until_ms = l->now_ms + PING_MS;
}

static void take_request(struct loop *l, struct connection *c, const struct tm_http_request *r)
{
    const char *const name = r->path + TOKEN_BYTES + 1;

    if (!is_own_host(l, r) || !has_token(l, r)) {
        refuse(l, c, 403);
        return;
    }
    const size_t length = r->path_length - TOKEN_BYTES - 1;

    if (is_named(name, length, "alive") && !r->is_head) {
        answer_alive(l, c);
        return;
    }
    c->file = find_file(l, name, length);
    if (c->file && open_body(c))
        answer_file(l, c, r);
    else
        refuse(l, c, 404);
}

static bool is_later(ssize_t n)
{
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static void read_request(struct loop *l, struct connection *c)
{
    struct tm_http_request request;
    const ssize_t n = recv(c->fd, c->in + c->in_length, sizeof(c->in) - c->in_length, 0);
    int status;

    if (is_later(n))
        return;
    if (n <= 0) {
        close_connection(l, c);
        return;
    }
    c->in_length += (size_t)n;
    status = tm_http_parse(c->in, c->in_length, &request);
    if (status == 200)
        take_request(l, c, &request);
    else if (status)
        refuse(l, c, status);
}

/* out: < 0: as of send; 0: the file has become shorter */
static ssize_t send_body(struct loop *l, const struct connection *c)
{
    const struct tm_served_file *const file = c->file;
    const uint64_t left = c->end - c->at;
    ssize_t n = (ssize_t)(left < PIECE_BYTES ? left : PIECE_BYTES);

    if (file->bytes)
        return send(c->fd, file->bytes + c->at, (size_t)n, MSG_NOSIGNAL);
    n = pread(c->body, l->piece, (size_t)n, (off_t)c->at);
    return n > 0 ? send(c->fd, l->piece, (size_t)n, MSG_NOSIGNAL) : 0;
}

static void write_answer(struct loop *l, struct connection *c)
{
    ssize_t n;

    if (c->head_sent < c->head_length) {
        n = send(c->fd, c->head + c->head_sent, c->head_length - c->head_sent, MSG_NOSIGNAL);
        if (is_later(n))
            return;
        if (n > 0)
            c->head_sent += (size_t)n;
    } else if (c->file && c->at < c->end) {
        n = send_body(l, c);
        if (is_later(n))
            return;
        if (n > 0)
            c->at += (uint64_t)n;
    } else {
        if (is_shared(l, c->file) && c->end == c->size)
            l->closed_ms = l->now_ms;
        (void)shutdown(c->fd, SHUT_WR);
        close_connection(l, c);
        return;
    }
    if (n <= 0)
        close_connection(l, c);
    else
        c->until_ms = l->now_ms + PROGRESS_MS;
}

/* An open page sends nothing; only its end can be read. */
static void look_at_alive(struct loop *l, struct connection *c)
{
    char ignored[256];
    const ssize_t n = recv(c->fd, ignored, sizeof(ignored), 0);

    if (!is_later(n) && n <= 0)
        close_connection(l, c);
}

static void pass_time(struct loop *l, struct connection *c)
{
    if (c->until_ms > l->now_ms)
        return;
    if (c->state != ALIVE || send(c->fd, ":\n\n", 3, MSG_NOSIGNAL) != 3)
        close_connection(l, c);
    else
        c->until_ms = l->now_ms + PING_MS;
}

static void accept_one(struct loop *l)
{
    struct connection *c = l->connections;
    int fd;

    while (c->state != FREE)
        c++; /* there is one: otherwise no process listens */
    fd = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    c->fd = fd;
    c->state = READING;
    c->in_length = 0;
    c->file = NULL;
    c->opened = -1;
    c->until_ms = l->now_ms + REQUEST_MS;
}

/* --- the loop --- */

static void wait_and_serve(struct loop *l)
{
    struct pollfd polled[SERVED_MOST + 1];
    struct connection *of[SERVED_MOST + 1];
    nfds_t count = 0;
    size_t used = 0;

    for (struct connection *c = l->connections; c < l->connections + SERVED_MOST; c++) {
        if (c->state == FREE)
            continue;
        used++;
        of[count] = c;
        polled[count++] = (struct pollfd){ .fd = c->fd, .events = c->state == ANSWERING ? POLLOUT : POLLIN };
    }
    if (used < SERVED_MOST) {
        of[count] = NULL;
        polled[count++] = (struct pollfd){ .fd = l->listener, .events = POLLIN };
    }
    if (poll(polled, count, 500) < 0)
        count = 0; /* a signal that was stopped */
    l->now_ms = clock_ms();
    for (nfds_t i = 0; i < count; i++) {
        if (!polled[i].revents)
            continue;
        if (!of[i])
            accept_one(l);
        else if (of[i]->state == READING)
            read_request(l, of[i]);
        else if (of[i]->state == ANSWERING)
            write_answer(l, of[i]);
        else
            look_at_alive(l, of[i]);
    }
    for (struct connection *c = l->connections; c < l->connections + SERVED_MOST; c++)
        if (c->state != FREE)
            pass_time(l, c);
}

static bool listen_somewhere(struct loop *l)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                   .sin_port = htons(l->server->port) };
    socklen_t size = sizeof(address);
    const int again = 1;

    l->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (l->listener < 0)
        return false;
    (void)setsockopt(l->listener, SOL_SOCKET, SO_REUSEADDR, &again, sizeof(again)); /* a port that was used just now */
    if (bind(l->listener, (const struct sockaddr *)&address, sizeof(address)) != 0 || listen(l->listener, 16) != 0 ||
        getsockname(l->listener, (struct sockaddr *)&address, &size) != 0) {
        (void)close(l->listener);
        return false;
    }
    l->port = ntohs(address.sin_port);
    return true;
}

static bool make_token(struct loop *l)
{
    uint8_t bytes[TOKEN_BYTES / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return false;
    for (size_t i = 0; i < sizeof(bytes); i++)
        (void)snprintf(l->token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

tm_status tm_serve(struct tm_run *run, const struct tm_server *server)
{
    struct loop *const l = tm_take(&run->budget, TM_ACCOUNT_TABLES, sizeof(*l), &run->error);
    char address[96];

    if (!l)
        return run->error.status;
    l->server = server;
    if (!make_token(l) || !listen_somewhere(l)) {
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno,
                             server->port ? "cannot serve on 127.0.0.1:%u" : "cannot serve on 127.0.0.1", server->port);
        tm_give(&run->budget, TM_ACCOUNT_TABLES, l, sizeof(*l));
        return run->error.status;
    }
    (void)snprintf(address, sizeof(address), "http://127.0.0.1:%u/%s/", l->port, l->token);
    server->is_ready(server->to, address);
    l->now_ms = clock_ms();
    while (!l->closed_ms || l->now_ms - l->closed_ms < CLOSED_MS)
        wait_and_serve(l);
    for (struct connection *c = l->connections; c < l->connections + SERVED_MOST; c++)
        if (c->state != FREE)
            close_connection(l, c);
    (void)close(l->listener);
    tm_give(&run->budget, TM_ACCOUNT_TABLES, l, sizeof(*l));
    return TM_OK;
}
