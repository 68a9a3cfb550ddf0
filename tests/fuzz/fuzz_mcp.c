/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what a client writes to `mcp`, line by line.  Beside what the sanitizers see: a reply that is no line of JSON,
 * and a tool that gets a path outside of --root.  The processes that tools start are this program:
 * it looks at their paths and prints them.  Seeds: messages of all kinds, written into the folder $TM_FUZZ_SEEDS. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <string.h>

#include "pipeline/commands/commands.h"
#include "tests/fuzz/fuzz_job.h"

extern const struct tm_verb tm_mcp_verb;
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define ROOT "/tmp/tracemill-fuzz-mcp"

#define OUTSIDE ROOT ".outside" /* made by a process that got a wrong path; a text would be guessed and sent as an id */

#define CALL(name, arguments)                                                                                          \
    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"" name                             \
    "\",\"arguments\":" arguments "}}\n"

static const char *const seeds[] = {
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\","
    "\"capabilities\":{},"
    "\"clientInfo\":{\"name\":\"x\",\"version\":\"1\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
    "initialized\"}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/"
    "list\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n",
    CALL("brief", "{\"run\":\"run\"}"),
    CALL("show", "{\"run\":\"run\",\"what\":\"ops\",\"top\":5,\"where\":\"self_ps > 1\"}"),
    CALL("query", "{\"run\":\"run\",\"sql\":\"select 1\"}"),
    CALL("compare", "{\"base\":\"run\",\"new\":\"../../etc/passwd\"}"),
    CALL("inspect", "{\"run\":\"/etc/passwd\"}"),
    CALL("brief", "{\"run\":\"link\"}"),
    CALL("brief", "{\"run\":\"--root=/\"}"),
    CALL("schema", "{\"table\":\"--json\"}"),
    CALL("nothing", "[]"),
    "[]\n{}\nnull\n{\"id\":{}}\n\n\r\nnot json\n",
    "{\"jsonrpc\":\"2.0\",\"id\":1e400,\"method\":\"\\u0000\"}\n",
};

/* A process of a tool: paths are below the root, and nothing else begins with a '/'. */
static void be_a_tool(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        const bool is_below = strncmp(argv[i], ROOT, strlen(ROOT)) == 0 &&
                              (argv[i][strlen(ROOT)] == '/' || argv[i][strlen(ROOT)] == '\0');

        if (strncmp(argv[i - 1], "--", 2) != 0 && argv[i][0] == '/' && !is_below)
            (void)mkdir(OUTSIDE, 0700);
        (void)puts(argv[i]);
    }
    (void)fflush(stdout);
    _exit(0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const verbs[] = { "list", "brief", "compare", "show", "query", "schema", "inspect" };
    const char *const folder = getenv("TM_FUZZ_SEEDS");
    char path[4096];

    for (size_t i = 0; *argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (strcmp((*argv)[1], verbs[i]) == 0)
            be_a_tool(*argc, *argv);
    (void)rmdir(OUTSIDE);
    (void)mkdir(ROOT, 0700);
    (void)mkdir(ROOT "/run", 0700);
    FUZZ_REQUIRE(symlink("/etc", ROOT "/link") == 0 || errno == EEXIST);
    for (size_t i = 0; folder && i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        FILE *to;

        (void)snprintf(path, sizeof(path), "%s/mcp-%zu", folder, i);
        to = fopen(path, "wb");
        if (to) {
            (void)fputs(seeds[i], to);
            (void)fclose(to);
        }
    }
    return 0;
}

static void check_replies(char *text)
{
    for (char *line = text, *end; *line; line = end + 1) {
        struct tm_run run;
        struct tm_doc *doc;

        end = strchr(line, '\n');
        FUZZ_REQUIRE(end != NULL);
        fuzz_run_init(&run);
        doc = tm_doc_new(&run);
        FUZZ_REQUIRE(doc && tm_doc_read(doc, tm_doc_root(doc), line, (size_t)(end - line), "reply") == TM_OK);
        FUZZ_REQUIRE(strcmp(tm_text(tm_get(tm_doc_root(doc), "jsonrpc")), "2.0") == 0);
        tm_doc_free(doc);
        fuzz_run_end(&run);
    }
}

static char *serve(const char *path)
{
    char root[] = ROOT, *inputs[] = { root }, *text;
    struct tm_options options = { .root = root, .inputs = inputs };
    struct tm_run run;
    const int in = open(path, O_RDONLY | O_CLOEXEC), out = memfd_create("replies", MFD_CLOEXEC),
              kept = dup(STDOUT_FILENO);
    off_t length;

    FUZZ_REQUIRE(in >= 0 && out >= 0 && kept >= 0);
    FUZZ_REQUIRE(dup2(in, STDIN_FILENO) == STDIN_FILENO && fflush(stdout) == 0 &&
                 dup2(out, STDOUT_FILENO) == STDOUT_FILENO);
    clearerr(stdin);
    rewind(stdin);
    fuzz_run_init(&run);
    FUZZ_REQUIRE(tm_mcp_verb.run(&run, &options) == TM_OK);
    fuzz_run_end(&run);
    FUZZ_REQUIRE(fflush(stdout) == 0 && dup2(kept, STDOUT_FILENO) == STDOUT_FILENO);
    length = lseek(out, 0, SEEK_END);
    text = calloc(1, (size_t)length + 1);
    FUZZ_REQUIRE(text && pread(out, text, (size_t)length, 0) == length);
    (void)close(in);
    (void)close(out);
    (void)close(kept);
    return text;
}

static void use_file(const char *path, size_t size)
{
    char *const text = serve(path);

    (void)size;
    FUZZ_REQUIRE(access(OUTSIDE, F_OK) != 0);
    check_replies(text);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_with_file(data, size, use_file);
    return 0;
}
