/* SPDX-License-Identifier: Apache-2.0 */
/* `open`: a report and its trace in the browser of this machine, served by the program itself (pipeline/serve.h).  A
 * run is first analyzed into a temporary folder, which is removed with the program. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/atomic_file.h"
#include "pipeline/commands/commands.h"
#include "pipeline/doc/doc.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/process.h"
#include "pipeline/serve.h"
#include "stages/input/bytes/input_file.h"

#define REPORT "report.html"
#define TRACE "trace.pftrace"
#define SUMMARY "summary.json"

/* Pages that may have a trace beside them; they are served as the report.  That of a split trace has parts, too. */
static const struct page {
    const char *name, *trace;
    bool has_parts;
} pages[] = { { REPORT, TRACE, false },
              { "compare.html", "compare.pftrace", false },
              { "index.html", "overview.pftrace", true } };

enum { PAGES = sizeof(pages) / sizeof(pages[0]) };

extern const char tm_served_html[], tm_served_js[], tm_served_css[]; /* reports/html/served */
extern char **environ;

/* What the page and its report may do.  The report may be somebody else's: it runs its own script, but reaches
 * nothing. */
static const char page_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; frame-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
static const char report_policy[] =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/* The rows that are pinned and expanded in Perfetto: of a run, or of a comparison.  The names of the analysis end with the host
 * where there are several, and names of two runs with theirs.  Of several hosts, all rows but the verdict and the
 * findings stay in the analysis of each host, and so do facts without a cost: pinned rows should leave room for the
 * others.  A link to a place of one device pins the rows of that device instead (page.js). */
#define PINNED                                                                                                         \
    "^((Analysis|Comparison|(critical|warning) findings) \u00b7 tracemill( \u00b7 .*)?"                                \
    "|(busy share|step difference|step time, .*|host steps|[a-z]+:[0-3] (steps|idle gaps)) \u00b7 tracemill)$"
#define EXPANDED "^(Analysis|Host analysis|Comparison) \u00b7 tracemill( \u00b7 .*)?$"

/* Where Perfetto's page may fetch a trace from. */
enum { LINK_PORT = 9001, LINK_BYTES = 4096 };

#define SHARED "trace"

enum { FILES_MOST = 8 + TM_SPLIT_PARTS_MOST };

struct opened {
    struct tm_run *run;
    const struct tm_options *options;
    char folder[TM_PLACE_BYTES], title[TM_PLACE_BYTES];
    struct tm_guarded_folder made; /* fd -1 = nothing was made */
    struct tm_served_file files[FILES_MOST];
    size_t file_count;
    int parts; /* folder of the parts; -1 = there are none */
    char part_names[TM_SPLIT_PARTS_MOST][TM_PART_NAME_BYTES];
    size_t part_count;
    char trace[TM_PLACE_BYTES]; /* "" = there is none */
    bool has_report;
};

/* --- what is served --- */

static void add_text(struct opened *o, const char *name, const char *type, const char *policy, const char *text)
{
    o->files[o->file_count++] = (struct tm_served_file){
        .name = name, .type = type, .policy = policy, .bytes = text, .size = strlen(text), .fd = -1
    };
}

/* out: false: there is no such regular file */
static bool add_file(struct opened *o, const char *path, const char *name, const char *type, const char *policy)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat info;

    if (fd < 0)
        return false;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        (void)close(fd);
        return false;
    }
    o->files[o->file_count++] = (struct tm_served_file){
        .name = name, .type = type, .policy = policy, .size = (uint64_t)info.st_size, .fd = fd
    };
    return true;
}

static const char *url_of(const struct opened *o)
{
    return o->options->perfetto_url ? o->options->perfetto_url : TM_PERFETTO_URL;
}

/* What the page's script has to know. */
static void add_facts(struct opened *o)
{
    struct tm_doc *const doc = tm_failed(o->run) ? NULL : tm_doc_new(o->run);
    const char *const slash = strrchr(o->trace, '/');
    int fd;

    if (!doc)
        return;
    fd = memfd_create("facts.json", MFD_CLOEXEC);
    if (fd < 0) {
        (void)tm_fail_system(&o->run->error, TM_ERR_LIMIT, -1, errno, "cannot create a file in memory");
        tm_doc_free(doc);
        return;
    }
    tm_add_string(tm_doc_root(doc), "title", o->title);
    tm_add_string(tm_doc_root(doc), "ui", url_of(o));
    tm_add_string(tm_doc_root(doc), "pinned", PINNED);
    tm_add_string(tm_doc_root(doc), "expanded", EXPANDED);
    tm_add_bool(tm_doc_root(doc), "report", o->has_report);
    if (*o->trace) {
        tm_add_string(tm_doc_root(doc), "file", slash ? slash + 1 : o->trace);
        tm_add_string(tm_doc_root(doc), "path", o->trace);
    }
    tm_doc_print(doc, o->run, fd);
    tm_doc_free(doc);
    o->files[o->file_count++] = (struct tm_served_file){
        .name = "facts.json", .type = "application/json", .size = (uint64_t)lseek(fd, 0, SEEK_END), .fd = fd
    };
}

static void join(char path[TM_PLACE_BYTES], const char *folder, const char *name)
{
    (void)snprintf(path, TM_PLACE_BYTES, "%s/%s", folder, name);
}

static void add_trace(struct opened *o, const char *path)
{
    char real[PATH_MAX];

    if (!add_file(o, path, SHARED, "application/octet-stream", NULL))
        return;
    (void)snprintf(o->trace, sizeof(o->trace), "%s", realpath(path, real) ? real : path);
}

static void add_part(void *to, const char *name)
{
    struct opened *const o = to;

    memcpy(o->part_names[o->part_count], name, strlen(name) + 1); /* tm_is_part_name */
    o->files[o->file_count++] = (struct tm_served_file){
        .name = o->part_names[o->part_count++], .type = "application/octet-stream", .fd = o->parts, .is_in_folder = true
    };
}

static void add_report(struct opened *o, const char *folder, const struct page *page)
{
    char path[TM_PLACE_BYTES];

    join(path, folder, page->name);
    o->has_report = add_file(o, path, REPORT, "text/html; charset=utf-8", report_policy);
    join(path, folder, page->trace);
    add_trace(o, path);
    if (!page->has_parts)
        return;
    o->parts = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o->parts >= 0)
        (void)tm_split_folder_list(folder, add_part, o);
    if (*o->trace || !o->part_count)
        return;
    join(path, folder, o->part_names[0]);
    add_trace(o, path);
}

/* --- existing reports --- */

static bool is_there(const char *folder, const struct page *page)
{
    char path[TM_PLACE_BYTES];
    struct stat info;

    join(path, folder, page->name);
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    return !page->has_parts || tm_split_folder_list(folder, NULL, NULL);
}

static void name_after(struct opened *o, const char *path)
{
    char real[PATH_MAX];
    const char *const whole = realpath(path, real) ? real : path, *const slash = strrchr(whole, '/');

    (void)snprintf(o->title, sizeof(o->title), "%s", slash && slash[1] ? slash + 1 : whole);
}

static enum tm_file_kind kind_of(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    uint8_t head[4096];
    const ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

    if (fd >= 0)
        (void)close(fd);
    return n > 0 ? tm_kind_of(head, (size_t)n) : TM_FILE_UNKNOWN;
}

static const struct page *page_of(const char *name)
{
    for (size_t i = 0; i < PAGES; i++)
        if (strcmp(name, pages[i].name) == 0)
            return &pages[i];
    return NULL;
}

/* A trace for Perfetto, or a report with the trace beside it.  out: false: it is a run */
static bool find_written(struct opened *o, const char *path)
{
    struct stat info;
    const struct page *page;
    enum tm_file_kind kind;
    const char *slash;

    if (o->options->input_count != 1 || stat(path, &info) != 0)
        return false;
    if (S_ISDIR(info.st_mode)) {
        for (size_t i = 0; i < PAGES; i++) {
            if (!is_there(path, &pages[i]))
                continue;
            name_after(o, path);
            add_report(o, path, &pages[i]);
            return true;
        }
        return false;
    }
    kind = S_ISREG(info.st_mode) ? kind_of(path) : TM_FILE_UNKNOWN;
    if (kind == TM_FILE_PERFETTO || kind == TM_FILE_OWN_PERFETTO ||
        (kind == TM_FILE_GZIP && tm_has_ending(path, ".pftrace.gz"))) {
        name_after(o, path);
        add_trace(o, path);
        return true;
    }
    slash = strrchr(path, '/');
    page = page_of(slash ? slash + 1 : path);
    if (kind != TM_FILE_HTML || !page)
        return false;
    (void)snprintf(o->folder, sizeof(o->folder), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    if (!*o->folder)
        (void)snprintf(o->folder, sizeof(o->folder), "/");
    if (!is_there(o->folder, page))
        return false;
    name_after(o, o->folder);
    add_report(o, o->folder, page);
    return true;
}

/* --- a run --- */

static tm_status take_title(void *to, const struct tm_value *summary)
{
    struct opened *const o = to;

    (void)snprintf(o->title, sizeof(o->title), "%s", tm_text(tm_path(summary, "input.run")));
    return TM_OK;
}

static void make_folder(struct opened *o)
{
    struct tm_run *const run = o->run;

    (void)snprintf(o->folder, sizeof(o->folder), "%s/tracemill-open-XXXXXX", run->spill_dir ? run->spill_dir : "/tmp");
    if (!mkdtemp(o->folder)) {
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot make a folder in '%s'",
                             run->spill_dir ? run->spill_dir : "/tmp");
        return;
    }
    o->made.path = o->folder;
    o->made.fd = open(o->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    static const char *const names[] = { REPORT, TRACE, SUMMARY };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        memcpy(o->made.name[i], names[i], strlen(names[i]) + 1);
    o->made.count = sizeof(names) / sizeof(names[0]);
    tm_signals_guard_folder(&o->made);
}

/* errors: TM_PARTIAL  of a damaged input */
static tm_status analyze(struct opened *o)
{
    const struct tm_report_taker taker = { take_title, o };
    struct tm_options options = *o->options;
    tm_status st;

    make_folder(o);
    if (tm_failed(o->run))
        return o->run->error.status;
    options.output = o->folder;
    options.formats = TM_FORMAT_HTML | TM_FORMAT_JSON | TM_FORMAT_PERFETTO;
    options.json = false;
    options.quiet = true;
    st = tm_report_make(o->run, &options, &taker);
    if (!tm_failed(o->run))
        add_report(o, o->folder, &pages[0]);
    return st;
}

/* --- the browser --- */

/* $BROWSER, else xdg-open: by the path, without a shell.  What it prints is not for our streams. */
static bool start_browser(const char *address)
{
    const char *const chosen = getenv("BROWSER");
    const char *const program = chosen && *chosen ? chosen : "xdg-open";
    char *const argv[] = { (char *)(uintptr_t)program, (char *)(uintptr_t)address, NULL };
    posix_spawn_file_actions_t actions;
    bool is_started;
    pid_t pid;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    is_started = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
                 posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                 posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                 posix_spawnp(&pid, program, &actions, NULL, argv, environ) == 0;
    (void)posix_spawn_file_actions_destroy(&actions);
    return is_started;
}

/* --perfetto-link: Perfetto fetches the trace itself, as by the link that jax.profiler.trace prints.
 * source: https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui */
static void make_link(const struct opened *o, const char *address, char link[LINK_BYTES])
{
    static const char commands[] = "[{\"id\":\"dev.perfetto.ExpandTracksByRegex\",\"args\":[\"" EXPANDED "\"]},"
                                   "{\"id\":\"dev.perfetto.PinTracksByRegex\",\"args\":[\"" PINNED "\"]}]";
    size_t used =
        (size_t)snprintf(link, LINK_BYTES, "%.1024s/#!/?url=%s" SHARED "&startupCommands=", url_of(o), address);

    for (const char *at = commands; *at; at++) {
        const bool is_plain =
            strchr("-_.~", *at) || (*at >= '0' && *at <= '9') || ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z');

        used += (size_t)snprintf(link + used, LINK_BYTES - used, is_plain ? "%c" : "%%%02X", (unsigned char)*at);
    }
}

static void is_ready(void *to, const char *own_address)
{
    const struct opened *const o = to;
    char link[LINK_BYTES];
    const char *const address = o->options->perfetto_link ? link : own_address;

    if (o->options->perfetto_link)
        make_link(o, own_address, link);
    (void)printf("%s\n", address);
    (void)fflush(stdout);
    if (!o->options->no_browser && !start_browser(address))
        (void)fputs("tracemill: note: no browser could be started: open the address in one\n", stderr);
    if (!o->options->quiet)
        (void)fputs(
            o->options->perfetto_link
                ? "tracemill: serving on this machine only, until Perfetto has the trace; press Ctrl-C to stop\n"
                : "tracemill: serving on this machine only; close the page or press Ctrl-C to stop\n",
            stderr);
}

/* --- the verb --- */

/* The origin of an address: without its path. */
static void share_trace(const struct opened *o, struct tm_server *server, char origin[TM_ORIGIN_BYTES])
{
    const char *const url = url_of(o), *const host = strstr(url, "://");

    (void)snprintf(origin, TM_ORIGIN_BYTES, "%.*s", host ? (int)(host - url) + 3 + (int)strcspn(host + 3, "/") : 0,
                   url);
    server->port = LINK_PORT;
    server->origin = origin;
    server->shared = SHARED;
    if (!*o->trace && !tm_failed(o->run)) {
        (void)tm_fail(&o->run->error, TM_ERR_INPUT, -1, "cannot open '%s' in Perfetto: there is no trace beside it",
                      o->options->inputs[0]);
        tm_hint(&o->run->error, "write one with 'tracemill report RUN --format html,perfetto'");
    }
}

static tm_status run_open(struct tm_run *run, const struct tm_options *options)
{
    static struct opened opened;
    struct opened *const o = &opened;
    struct tm_server server = { .files = o->files, .is_ready = is_ready, .to = o };
    char origin[TM_ORIGIN_BYTES];
    tm_status st = TM_OK;

    o->run = run;
    o->options = options;
    o->made.fd = o->parts = -1;
    add_text(o, "", "text/html; charset=utf-8", page_policy, tm_served_html);
    add_text(o, "served.js", "text/javascript; charset=utf-8", NULL, tm_served_js);
    add_text(o, "served.css", "text/css; charset=utf-8", NULL, tm_served_css);
    if (!find_written(o, options->inputs[0]))
        st = analyze(o);
    add_facts(o);
    server.file_count = o->file_count;
    if (options->perfetto_link)
        share_trace(o, &server, origin);
    if (!tm_failed(run))
        tm_serve(run, &server);
    for (size_t i = 0; i < o->file_count; i++)
        if (o->files[i].fd >= 0 && !o->files[i].is_in_folder)
            (void)close(o->files[i].fd);
    if (o->parts >= 0)
        (void)close(o->parts);
    if (o->made.path) {
        tm_signals_release_folder();
        tm_guarded_folder_remove(&o->made);
        if (o->made.fd >= 0)
            (void)close(o->made.fd);
    }
    return tm_failed(run) ? run->error.status : st;
}

/* clang-format off */
const struct tm_verb tm_open_verb = {
    .name = "open",
    .summary = "show a run in the browser, with links from the report to its places in Perfetto",
    .usage = "RUN|FILE|REPORT [--no-browser] [OPTION...]",
    .description =
        "Serves a report and its trace on 127.0.0.1 and opens the browser. Each finding, and each row of a table that says when it starts (steps, idle gaps, kernels and others), has a link that opens the trace at that place at https://ui.perfetto.dev, with the rows of the analysis pinned. The trace goes from the page to the Perfetto tab inside the browser; nothing is uploaded.\n"
        "INPUT is what report reads, which is analyzed first; a folder with a report.html, or that file, with trace.pftrace beside it (report --format html,perfetto); the same of a comparison, compare.html and compare.pftrace (compare --format html,perfetto); the folder of a split trace, or its index.html, each of whose parts then has such a link; or a trace for Perfetto (.pftrace). The server answers on this machine only, at an address with a random token, and ends when the page is closed or with Ctrl-C. --no-browser prints the address and serves. --perfetto-link opens Perfetto without a page of its own; it fetches the trace from 127.0.0.1:9001, the only port of this machine that https://ui.perfetto.dev may read, and the server ends when it has it.",
    .examples =
        "tracemill open logdir --latest           analyze the newest run and show it\n"
        "tracemill open run.report                an existing report\n"
        "tracemill open run.split                 the parts of a split trace\n"
        "tracemill open run.pftrace --perfetto-link    the trace alone; Perfetto fetches it\n"
        "tracemill open run.pftrace --no-browser  print the address: over ssh, forward its port\n",
    .bit = TM_FOR_OPEN,
    .flags = TM_VERB_SPILLS,
    .least = 1,
    .most = SIZE_MAX,
    .run = run_open,
};
/* clang-format on */
