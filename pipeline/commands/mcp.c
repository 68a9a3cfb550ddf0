/* SPDX-License-Identifier: Apache-2.0 */
/* `mcp`: brief, show, query and others as tools of the Model Context Protocol, over stdin and stdout.  A message is one
 * line of JSON-RPC 2.0.  Each call of a tool is a process of this program, so that a damaged profile ends that process
 * and nothing else; its answer is cut at ANSWER_BYTES.
 * source: Model Context Protocol, revision 2025-06-18: lifecycle, stdio transport, tools */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "pipeline/commands/commands.h"
#include "pipeline/engine/outputs.h"
#include "pipeline/numbers.h"
#include "pipeline/platform.h"
#include "pipeline/strings.h"

enum {
    MESSAGE_BYTES = 1 << 20, /* the longest message that is read */
    ANSWER_BYTES = 48 << 10, /* the longest answer of a tool */
    ERROR_BYTES = 4 << 10,
    ARGUMENTS_MOST = 16,
    PATHS_MOST = 2,
    ROWS_USUAL = 50,
    CALL_SECONDS = 600,
};

/* Codes of JSON-RPC 2.0. */
enum { PARSE_ERROR = -32700, INVALID_REQUEST = -32600, METHOD_NOT_FOUND = -32601, INVALID_PARAMS = -32602 };

static const char REVISION[] = "2025-06-18";
static const char INSTRUCTIONS[] = "tracemill diagnoses profiles of JAX, PyTorch and TPU runs. Start with brief: "
                                   "verdict, key figures and the five largest "
                                   "findings with advice. show prints any table or figure by name; query runs SQL over "
                                   "events and tables (schema lists them). "
                                   "Times are integers in picoseconds unless a unit is printed. A figure that is null "
                                   "was not recorded: the reason is beside it.";

/* --- tools --- */

enum parameter_kind {
    OPERAND, /* an operand as it is */
    PATH,    /* an operand: a path below the root */
    OPTION,  /* --NAME VALUE */
    ROWS,    /* --NAME N, ROWS_USUAL by default */
};

struct parameter {
    const char *name, *help;
    enum parameter_kind kind;
    bool is_required;
};

struct tool {
    const char *name, *title, *help;
    const char *verb;
    struct parameter parameter[8];
};

/* clang-format off */
#define RUN_PARAMETER { "run", "A profile, a log directory, the folder of a report, a summary.json, or a database that query kept.", PATH, true }

static const struct tool tools[] = {
    { "list", "List runs", "Runs in a log directory, the newest first: names, dates, hosts, sizes.", "list",
      { { "logdir", "A folder with profiles at any depth.", PATH, true } } },
    { "brief", "Diagnose a run", "What slows a run down, in at most 8 KB: verdict, what was read, step time and its parts, "
      "critical path, key figures, the five largest findings with evidence and advice, checks.", "brief",
      { RUN_PARAMETER,
        { "name", "Which run of a log directory (--run).", OPTION, false } } },
    { "compare", "Compare two runs", "What changed from one run to another, whether it is significant, and the causes, in at most 8 KB.",
      "brief",
      { { "base", "The run to compare with.", PATH, true },
        { "new", "The run that changed.", PATH, true } } },
    { "show", "Show a table or a figure", "One table or figure of a run by name or path; without `what` the list of what there is. Says how "
      "many rows and how much time it left out.", "show",
      { RUN_PARAMETER,
        { "what", "A name or path: kernels, ops, steps, gaps, findings, figures, host.threads, steps.median_ps, step_time; "
          "of a profile with compiled programs also programs, hlo.buffers, hlo.peak, and hlo with an op.", OPERAND, false },
        { "op", "With `what` hlo: an instruction, fusion.3 or jit_train_step/fusion.3. Lists it with its operands, users, and fusion body.", OPERAND,
          false },
        { "where", "A condition on rows: self_share_pct > 5 and not name ~ \"copy\". Numbers may have units: 10us, 5%, 1GiB.", OPTION, false },
        { "sort", "Fields to sort by, -FIELD for the largest first: -total_ps.", OPTION, false },
        { "fields", "Fields to print: name,total_ps.", OPTION, false },
        { "top", "Rows at most.", ROWS, false } } },
    { "query", "Run SQL", "One SELECT (SQLite) over events, args, launches, gaps, steps, kernels, ops, scopes, collectives, transfers, "
      "devices, threads, findings, figures. TABLE_ms has times in milliseconds.", "query",
      { RUN_PARAMETER,
        { "sql", "The statement.", OPERAND, true },
        { "top", "Rows at most.", ROWS, false } } },
    { "schema", "Tables of query", "The tables, or the columns of one with units, meaning, and three questions with their SQL.", "schema",
      { { "table", "Which table.", OPERAND, false } } },
    { "inspect", "What a profile holds", "Planes, tracks, events, problems, and what to change in the profiling.", "inspect",
      { { "run", "A profile or a log directory.", PATH, true } } },
};
/* clang-format on */

enum { TOOLS = sizeof(tools) / sizeof(tools[0]) };

static const char *option_of(const struct parameter *p)
{
    return strcmp(p->name, "name") == 0 ? "run" : p->name;
}

/* --- messages --- */

struct server {
    char root[PATH_MAX];
    char line[MESSAGE_BYTES + 2];
    char answer[ANSWER_BYTES + 1], error[ERROR_BYTES + 1];
};

static void send_line(cJSON *message)
{
    char *const text = cJSON_PrintUnformatted(message);

    if (text)
        (void)printf("%s\n", text);
    (void)fflush(stdout);
    cJSON_free(text);
    cJSON_Delete(message);
}

/* owns: result  is given away */
static void reply(const cJSON *id, cJSON *result)
{
    cJSON *const message = cJSON_CreateObject();

    (void)cJSON_AddStringToObject(message, "jsonrpc", "2.0");
    (void)cJSON_AddItemToObject(message, "id", id ? cJSON_Duplicate(id, true) : cJSON_CreateNull());
    (void)cJSON_AddItemToObject(message, "result", result);
    send_line(message);
}

static void reply_error(const cJSON *id, int code, const char *text)
{
    cJSON *const message = cJSON_CreateObject();
    cJSON *error;

    (void)cJSON_AddStringToObject(message, "jsonrpc", "2.0");
    (void)cJSON_AddItemToObject(message, "id", id ? cJSON_Duplicate(id, true) : cJSON_CreateNull());
    error = cJSON_AddObjectToObject(message, "error");
    (void)cJSON_AddNumberToObject(error, "code", code);
    (void)cJSON_AddStringToObject(error, "message", text);
    send_line(message);
}

static void initialize(const cJSON *id)
{
    cJSON *const result = cJSON_CreateObject();
    cJSON *info;

    (void)cJSON_AddStringToObject(result, "protocolVersion", REVISION);
    (void)cJSON_AddObjectToObject(cJSON_AddObjectToObject(result, "capabilities"), "tools");
    info = cJSON_AddObjectToObject(result, "serverInfo");
    (void)cJSON_AddStringToObject(info, "name", "tracemill");
    (void)cJSON_AddStringToObject(info, "version", TM_VERSION);
    (void)cJSON_AddStringToObject(result, "instructions", INSTRUCTIONS);
    reply(id, result);
}

static void add_tool(cJSON *list, const struct tool *tool)
{
    cJSON *const item = cJSON_CreateObject(), *schema, *properties, *required, *hints;

    (void)cJSON_AddItemToArray(list, item);
    (void)cJSON_AddStringToObject(item, "name", tool->name);
    (void)cJSON_AddStringToObject(item, "title", tool->title);
    (void)cJSON_AddStringToObject(item, "description", tool->help);
    schema = cJSON_AddObjectToObject(item, "inputSchema");
    (void)cJSON_AddStringToObject(schema, "type", "object");
    properties = cJSON_AddObjectToObject(schema, "properties");
    required = cJSON_AddArrayToObject(schema, "required");
    for (const struct parameter *p = tool->parameter; p->name; p++) {
        cJSON *const property = cJSON_AddObjectToObject(properties, p->name);

        (void)cJSON_AddStringToObject(property, "type", p->kind == ROWS ? "integer" : "string");
        (void)cJSON_AddStringToObject(property, "description", p->help);
        if (p->kind == ROWS)
            (void)cJSON_AddNumberToObject(property, "default", ROWS_USUAL);
        if (p->is_required)
            (void)cJSON_AddItemToArray(required, cJSON_CreateString(p->name));
    }
    (void)cJSON_AddBoolToObject(schema, "additionalProperties", false);
    hints = cJSON_AddObjectToObject(item, "annotations");
    (void)cJSON_AddBoolToObject(hints, "readOnlyHint", true);
    (void)cJSON_AddBoolToObject(hints, "openWorldHint", false);
}

static void list_tools(const cJSON *id)
{
    cJSON *const result = cJSON_CreateObject();
    cJSON *const list = cJSON_AddArrayToObject(result, "tools");

    for (size_t i = 0; i < TOOLS; i++)
        add_tool(list, &tools[i]);
    reply(id, result);
}

/* --- a call --- */

struct call {
    char *words[ARGUMENTS_MOST + 2];
    size_t count;
    char path[PATHS_MOST][PATH_MAX];
    size_t paths;
    char option[ARGUMENTS_MOST][32];
    size_t options;
    char rows[TM_INT_TEXT + 1];
    char wrong[512]; /* what is wrong with the arguments; "" = nothing */
};

static void add_word(struct call *c, const char *word)
{
    if (c->count < ARGUMENTS_MOST)
        c->words[c->count++] = (char *)(uintptr_t)word; /* execve does not change it */
}

/* A path that links and ".." leave below the root. */
static void add_path(struct server *s, struct call *c, const char *text)
{
    const size_t length = strlen(s->root);
    char whole[PATH_MAX], *const to = c->path[c->paths];
    const int n = *text == '/' ? snprintf(whole, sizeof(whole), "%s", text)
                               : snprintf(whole, sizeof(whole), "%s/%s", s->root, text);

    if (n < 0 || (size_t)n >= sizeof(whole) || !realpath(whole, to)) {
        (void)snprintf(c->wrong, sizeof(c->wrong), "cannot open '%.200s': %s", text, strerror(errno));
        return;
    }
    if (strcmp(s->root, "/") != 0 && (strncmp(to, s->root, length) != 0 || (to[length] && to[length] != '/'))) {
        (void)snprintf(c->wrong, sizeof(c->wrong), "'%.200s' is outside of the folder that --root allows", text);
        return;
    }
    c->paths++;
    add_word(c, to);
}

static void add_option(struct call *c, const char *name, const char *value)
{
    char *const option = c->option[c->options++];

    (void)snprintf(option, sizeof(c->option[0]), "--%s", name);
    add_word(c, option);
    add_word(c, value);
}

static void add_parameter(struct server *s, struct call *c, const struct parameter *p, const cJSON *value)
{
    if (p->kind == ROWS) {
        if (value && (!cJSON_IsNumber(value) || value->valuedouble < 1 || value->valuedouble > TM_ROWS_MOST)) {
            (void)snprintf(c->wrong, sizeof(c->wrong), "'%s' has to be an integer from 1 to %d", p->name, TM_ROWS_MOST);
            return;
        }
        c->rows[tm_int_text(c->rows, value ? (int64_t)value->valuedouble : ROWS_USUAL)] = '\0';
        add_option(c, option_of(p), c->rows);
        return;
    }
    if (!value) {
        if (p->is_required)
            (void)snprintf(c->wrong, sizeof(c->wrong), "'%s' is missing", p->name);
        return;
    }
    if (!cJSON_IsString(value)) {
        (void)snprintf(c->wrong, sizeof(c->wrong), "'%s' has to be a string", p->name);
        return;
    }
    if (p->kind == PATH)
        add_path(s, c, value->valuestring);
    else if (p->kind == OPTION)
        add_option(c, option_of(p), value->valuestring);
    else if (*value->valuestring == '-')
        (void)snprintf(c->wrong, sizeof(c->wrong), "'%s' cannot begin with '-'", p->name);
    else
        add_word(c, value->valuestring);
}

static void read_arguments(struct server *s, struct call *c, const struct tool *tool, const cJSON *arguments)
{
    const cJSON *each;

    cJSON_ArrayForEach(each, arguments)
    {
        const struct parameter *p = tool->parameter;

        while (p->name && strcmp(p->name, each->string) != 0)
            p++;
        if (!p->name) {
            (void)snprintf(c->wrong, sizeof(c->wrong), "there is no argument '%.100s'", each->string);
            return;
        }
    }
    add_word(c, "tracemill");
    add_word(c, tool->verb);
    for (const struct parameter *p = tool->parameter; p->name && !*c->wrong; p++)
        add_parameter(s, c, p, cJSON_GetObjectItemCaseSensitive(arguments, p->name));
}

/* What a process writes, up to this many bytes; the rest is read and dropped.  out: false: it has closed the pipe */
static bool read_some(int fd, char *to, size_t *used, size_t most)
{
    char rest[4096];
    const bool has_room = *used < most;
    const ssize_t n = has_room ? read(fd, to + *used, most - *used) : read(fd, rest, sizeof(rest));

    if (n > 0 && has_room)
        *used += (size_t)n;
    return n > 0 || (n < 0 && errno == EINTR);
}

static int64_t seconds_now(void)
{
    return (int64_t)(tm_clock_ns() / 1000000000);
}

/* Read both pipes until they close, or the time is over.  out: false: it took too long */
static bool gather(struct server *s, int out, int err, size_t *out_used, size_t *err_used)
{
    struct pollfd fds[2] = { { .fd = out, .events = POLLIN }, { .fd = err, .events = POLLIN } };
    const int64_t until = seconds_now() + CALL_SECONDS;

    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        const int64_t left = until - seconds_now();

        if (left <= 0)
            return false;
        if (poll(fds, 2, (int)(left * 1000)) < 0 && errno != EINTR)
            return false;
        if (fds[0].revents && !read_some(out, s->answer, out_used, ANSWER_BYTES))
            fds[0].fd = -1;
        if (fds[1].revents && !read_some(err, s->error, err_used, ERROR_BYTES))
            fds[1].fd = -1;
        fds[0].revents = fds[1].revents = 0;
    }
    return true;
}

/* Cut a string inside which a character may have been cut. */
static void end_text(char *text, size_t used, size_t most)
{
    while (used == most && used && ((unsigned char)text[used - 1] & 0xc0) == 0x80)
        used--;
    if (used == most && used && (unsigned char)text[used - 1] >= 0xc0)
        used--;
    text[used] = '\0';
}

/* Run the program itself.  out: its status, s->answer and s->error; -1: why is in s->error */
static int run_process(struct server *s, char *const *words)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    int out[2] = { -1, -1 }, err[2] = { -1, -1 }, status = -1;
    size_t out_used = 0, err_used = 0;
    bool is_in_time;
    pid_t pid = -1;

    if (pipe(out) != 0 || pipe(err) != 0 || posix_spawn_file_actions_init(&actions) != 0) {
        (void)snprintf(s->error, sizeof(s->error), "cannot run a process: %s", strerror(errno));
        return -1;
    }
    (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    for (int i = 0; i < 2; i++) {
        (void)posix_spawn_file_actions_addclose(&actions, out[i]);
        (void)posix_spawn_file_actions_addclose(&actions, err[i]);
    }
    errno = posix_spawn(&pid, TM_OWN_PROGRAM, &actions, NULL, words, environ);
    if (errno != 0)
        (void)snprintf(s->error, sizeof(s->error), "cannot run a process: %s", strerror(errno));
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(out[1]);
    (void)close(err[1]);
    if (pid > 0) {
        is_in_time = gather(s, out[0], err[0], &out_used, &err_used);
        end_text(s->answer, out_used, ANSWER_BYTES);
        end_text(s->error, err_used, ERROR_BYTES);
        if (!is_in_time)
            (void)kill(pid, SIGTERM);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        if (!is_in_time)
            (void)snprintf(s->error, sizeof(s->error), "it took longer than %d seconds", CALL_SECONDS);
    }
    (void)close(out[0]);
    (void)close(err[0]);
    if (pid <= 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void add_content(cJSON *content, const char *text)
{
    cJSON *const item = cJSON_CreateObject();

    (void)cJSON_AddItemToArray(content, item);
    (void)cJSON_AddStringToObject(item, "type", "text");
    (void)cJSON_AddStringToObject(item, "text", text);
}

/* A run that fails is a result of the tool, with its message, so that the caller can correct the call. */
static void reply_call(struct server *s, const cJSON *id, int status)
{
    cJSON *const result = cJSON_CreateObject();
    cJSON *const content = cJSON_AddArrayToObject(result, "content");
    const bool is_done = status == TM_OK || status == TM_PARTIAL;

    if (*s->answer)
        add_content(content, s->answer);
    if (strlen(s->answer) >= ANSWER_BYTES - 4)
        add_content(content, "(cut: ask for fewer rows or columns)");
    if (*s->error)
        add_content(content, s->error);
    if (!*s->answer && !*s->error)
        add_content(content, is_done ? "(nothing)" : "it ended without a message");
    (void)cJSON_AddBoolToObject(result, "isError", !is_done);
    reply(id, result);
}

static void call_tool(struct server *s, const cJSON *id, const cJSON *params)
{
    const cJSON *const name = cJSON_GetObjectItemCaseSensitive(params, "name");
    const cJSON *const arguments = cJSON_GetObjectItemCaseSensitive(params, "arguments");
    struct call *const c = cJSON_malloc(sizeof(*c));
    const struct tool *tool = tools;

    while (tool < tools + TOOLS && (!cJSON_IsString(name) || strcmp(name->valuestring, tool->name) != 0))
        tool++;
    if (!c || tool == tools + TOOLS || (arguments && !cJSON_IsObject(arguments))) {
        reply_error(id, INVALID_PARAMS,
                    tool == tools + TOOLS ? "there is no such tool" : "arguments have to be an object");
        cJSON_free(c);
        return;
    }
    *c = (struct call){ .count = 0 };
    s->answer[0] = s->error[0] = '\0';
    read_arguments(s, c, tool, arguments);
    if (*c->wrong) {
        (void)snprintf(s->error, sizeof(s->error), "%s", c->wrong);
        reply_call(s, id, TM_ERR_USAGE);
    } else {
        c->words[c->count] = NULL;
        reply_call(s, id, run_process(s, c->words));
    }
    cJSON_free(c);
}

/* --- the server --- */

static void take_message(struct server *s, const cJSON *message)
{
    const cJSON *const id = cJSON_GetObjectItemCaseSensitive(message, "id");
    const cJSON *const method = cJSON_GetObjectItemCaseSensitive(message, "method");
    const cJSON *const params = cJSON_GetObjectItemCaseSensitive(message, "params");

    if (!cJSON_IsObject(message) || !cJSON_IsString(method)) {
        if (!cJSON_GetObjectItemCaseSensitive(message, "result") && !cJSON_GetObjectItemCaseSensitive(message, "error"))
            reply_error(id, INVALID_REQUEST, "a message is an object with a method");
        return;
    }
    if (!id) /* a notification: nothing of it needs an answer */
        return;
    if (strcmp(method->valuestring, "initialize") == 0)
        initialize(id);
    else if (strcmp(method->valuestring, "ping") == 0)
        reply(id, cJSON_CreateObject());
    else if (strcmp(method->valuestring, "tools/list") == 0)
        list_tools(id);
    else if (strcmp(method->valuestring, "tools/call") == 0)
        call_tool(s, id, params);
    else
        reply_error(id, METHOD_NOT_FOUND, "there is no such method");
}

/* Read a line, whatever its length and bytes.
 * out:    *why why it is not a message; NULL = it may be one
 * errors: false at the end of the input */
static bool read_line(struct server *s, const char **why)
{
    size_t used = 0;
    bool is_long = false;
    int c;

    while ((c = getchar()) != EOF && c != '\n') {
        if (used + 1 < sizeof(s->line))
            s->line[used++] = (char)c;
        else
            is_long = true;
    }
    if (used && s->line[used - 1] == '\r')
        used--;
    s->line[used] = '\0';
    *why = is_long ? "the message is too long" : strlen(s->line) != used ? "this is not JSON" : NULL;
    return c != EOF || used != 0;
}

static void serve(struct server *s)
{
    const char *why;

    while (read_line(s, &why)) {
        cJSON *const message = why ? NULL : cJSON_Parse(s->line);

        if (!why && !*s->line)
            continue;
        if (message)
            take_message(s, message);
        else
            reply_error(NULL, PARSE_ERROR, why ? why : "this is not JSON");
        cJSON_Delete(message);
    }
}

static tm_status run_mcp(struct tm_run *run, const struct tm_options *options)
{
    struct server *const s = tm_take(&run->budget, TM_ACCOUNT_MODEL, sizeof(*s), &run->error);
    const char *const root = options->root ? options->root : ".";

    if (!s)
        return run->error.status;
    if (!realpath(root, s->root))
        (void)tm_fail_system(&run->error, TM_ERR_USAGE, -1, errno, "cannot use '%s' for --root", root);
    else
        serve(s);
    tm_give(&run->budget, TM_ACCOUNT_MODEL, s, sizeof(*s));
    return tm_finish_stdout(run, run->error.status);
}

/* clang-format off */
const struct tm_verb tm_mcp_verb = {
    .name = "mcp",
    .summary = "serve brief, show, query and others to coding agents (Model Context Protocol on stdio)",
    .usage = "[--root DIR]",
    .description =
        "A server of the Model Context Protocol on stdin and stdout: a client starts it and calls its tools, list, brief, compare,"
        " show, query, schema and inspect. Answers are the texts of the verbs, at most 48 KB. Paths are read below --root only, the"
        " working folder if not given; nothing is written, and no network is used.",
    .examples =
        "tracemill mcp --root /data/profiles    as the command of a server in a client's settings\n",
    .bit = TM_FOR_MCP,
    .flags = TM_VERB_PRINTS,
    .least = 0,
    .most = 0,
    .run = run_mcp,
};
/* clang-format on */
