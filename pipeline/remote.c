/* SPDX-License-Identifier: Apache-2.0 */
/* Objects in buckets, through helper programs.  A helper is a child with a pipe for what it writes and one for its
 * messages; both are read in one loop, so neither fills up.  It ends when this process does: a signal is sent to it then,
 * and, if it has processes of its own that would not notice, a second child sends one to all of them. */
#include "pipeline/remote.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pipeline/discover.h"
#include "pipeline/doc/doc.h"
#include "pipeline/files.h"
#include "pipeline/platform.h"
#include "pipeline/strings.h"

/* --- addresses --- */

enum { SCHEME_BYTES = 5 /* "gs://" */, WORDS_MOST = 64, WORDS_BYTES = 3 * TM_REMOTE_URI_MOST };

static bool is_google(const char *uri)
{
    return uri[0] == 'g';
}

const char *tm_remote_key(const char *uri)
{
    const char *const slash = strchr(uri + SCHEME_BYTES, '/');

    return slash ? slash + 1 : "";
}

static size_t bucket_bytes(const char *uri)
{
    return strcspn(uri + SCHEME_BYTES, "/");
}

/* --- commands --- */

enum act { FETCH, LISTING, FETCH_FOLDER, STORE, STORE_FOLDER, REMOVE, ACTS };

static const char *const act_names[ACTS] = { "fetch", "list", "fetch", "store", "store", "remove objects below" };
static const char *const act_options[ACTS] = { "--fetch", "--listing", "--fetch", "--store", "--store", "--remove" };

#define FOLDER_PLACEHOLDER "{folder}"

/* What a helper that removes objects reads from its stdin. */
enum request {
    ADDRESSES, /* one a line */
    NAMES,     /* below the address, one a line */
    S3_KEYS    /* JSON of DeleteObjects */
};

/* The programs in the order in which they are looked for.  {key} of a listing is the prefix. */
static const struct known_helper {
    const char *program;
    bool globs;             /* takes * ? [ in a name for a pattern */
    bool fails_for_missing; /* to remove an object that does not exist is an error */
    bool fetches_missing;   /* sends nothing of an object that does not exist, with status 0 */
    bool prints_refusals;   /* of objects that cannot be removed, with status 0; "None" if there are none */
    bool has_processes;     /* which outlive it if it is killed; it never asks for a password on the terminal */
    enum request request;
    const char *google[ACTS]; /* by enum act; NULL = it cannot */
    const char *s3[ACTS];
} known_helpers[] = {
    { .program = "gcloud",
      .globs = true,
      .fails_for_missing = true,
      .has_processes = true,
      .request = ADDRESSES,
      .google = { [FETCH] = "gcloud storage cat {uri}",
                  [LISTING] = "gcloud storage objects list gs://{bucket}/{key}** "
                              "--format=json(name,size,generation,update_time,noncurrent_time)",
                  [FETCH_FOLDER] = "gcloud storage rsync --recursive {uri} {folder}",
                  [STORE] = "gcloud storage cp - {uri}",
                  [STORE_FOLDER] = "gcloud storage cp --recursive {folder}/* {uri}/",
                  [REMOVE] = "gcloud storage rm --read-paths-from-stdin" } },
    { .program = "aws",
      .prints_refusals = true,
      .request = S3_KEYS,
      .s3 = { [FETCH] = "aws s3 cp --only-show-errors {uri} -",
              [LISTING] = "aws s3api list-objects-v2 --bucket {bucket} --prefix {key} --output json --query "
                          "Contents[].{name:Key,size:Size,version:ETag,modified:LastModified}",
              [FETCH_FOLDER] = "aws s3 sync --no-progress {uri} {folder}",
              [STORE] = "aws s3 cp --only-show-errors - {uri}",
              [STORE_FOLDER] = "aws s3 cp --recursive --no-progress {folder} {uri}",
              [REMOVE] = "aws s3api delete-objects --bucket {bucket} --delete file:///dev/stdin --output text --query "
                         "Errors[0].Code" } },
    { .program = "rclone",
      .fetches_missing = true,
      .request = NAMES,
      .google = { [FETCH] = "rclone cat :gcs,env_auth:{bucket}/{key}",
                  [LISTING] =
                      "rclone lsjson -R --files-only --no-mimetype --use-server-modtime :gcs,env_auth:{bucket}/{key}",
                  [FETCH_FOLDER] = "rclone copy -v :gcs,env_auth:{bucket}/{key} {folder}",
                  [STORE] = "rclone rcat :gcs,env_auth:{bucket}/{key}",
                  [STORE_FOLDER] = "rclone copy -v --no-traverse --ignore-times {folder} :gcs,env_auth:{bucket}/{key}",
                  [REMOVE] = "rclone delete --files-from-raw - :gcs,env_auth:{bucket}/{key}" },
      .s3 = { [FETCH] = "rclone cat :s3,env_auth:{bucket}/{key}",
              [LISTING] =
                  "rclone lsjson -R --files-only --no-mimetype --use-server-modtime :s3,env_auth:{bucket}/{key}",
              [FETCH_FOLDER] = "rclone copy -v :s3,env_auth:{bucket}/{key} {folder}",
              [STORE] = "rclone rcat :s3,env_auth:{bucket}/{key}",
              [STORE_FOLDER] = "rclone copy -v --no-traverse --ignore-times {folder} :s3,env_auth:{bucket}/{key}",
              [REMOVE] = "rclone delete --files-from-raw - :s3,env_auth:{bucket}/{key}" } },
};

enum { HELPER_COUNT = sizeof(known_helpers) / sizeof(known_helpers[0]) };

static const char *command_of(const struct known_helper *known, const char *uri, enum act act)
{
    return is_google(uri) ? known->google[act] : known->s3[act];
}

/* Whether a program is in a folder of PATH. */
static bool is_installed(const char *program)
{
    const char *at = getenv("PATH");
    char path[TM_REMOTE_URI_MOST];

    while (at && *at) {
        const size_t length = strcspn(at, ":");
        const int n = snprintf(path, sizeof(path), "%.*s/%s", (int)length, at, program);

        if (length && n > 0 && (size_t)n < sizeof(path) && access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* What a failure is. */
static tm_status status_of(enum act act)
{
    return act >= STORE ? TM_ERR_OUTPUT : TM_ERR_INPUT;
}

static tm_status refuse_missing(struct tm_run *run, enum act act, const char *uri, const char *name)
{
    const char *const programs = is_google(uri) ? "gcloud or rclone" : "aws or rclone";

    (void)tm_fail(&run->error, status_of(act), -1, "cannot %s %s: no program for it is installed (%s)", act_names[act],
                  name, programs);
    if (act == FETCH)
        tm_hint(&run->error,
                "install one, pass a command with --fetch, or pipe the object: '%s %.200s%s | tracemill "
                "report -'",
                is_google(uri) ? "gcloud storage cat" : "aws s3 cp", name, is_google(uri) ? "" : " -");
    else
        tm_hint(&run->error, "install one, or pass a command with %s", act_options[act]);
    return run->error.status;
}

/* The command of an option; NULL = none */
static const char *own_command(const struct tm_run *run, enum act act)
{
    const struct tm_helpers *const given = &run->helpers;
    const char *const commands[ACTS] = { given->fetch, given->listing, given->fetch,
                                         given->store, given->store,   given->remove };

    return commands[act];
}

/* The program whose command is used; NULL = none of these */
static const struct known_helper *find_known(const struct tm_run *run, enum act act, const char *uri)
{
    for (size_t i = 0; i < HELPER_COUNT && !own_command(run, act); i++)
        if (command_of(&known_helpers[i], uri, act) && is_installed(known_helpers[i].program))
            return &known_helpers[i];
    return NULL;
}

/* The command for an address.  out: NULL with the error set */
static const char *choose_command(struct tm_run *run, enum act act, const char *uri, const char *name)
{
    const char *const own = own_command(run, act);
    const struct known_helper *known;

    if (own && act == STORE && strstr(own, FOLDER_PLACEHOLDER)) {
        (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1,
                      "cannot store %s with a command for folders: the file system of OUT has no hard links", name);
        tm_hint(&run->error, "pass a command without " FOLDER_PLACEHOLDER " with --store");
        return NULL;
    }
    if (own)
        return own;
    known = find_known(run, act, uri);
    if (!known) {
        (void)refuse_missing(run, act, uri, name);
        return NULL;
    }
    if (!known->globs || !strpbrk(uri, "*?["))
        return command_of(known, uri, act);
    (void)tm_fail(&run->error, status_of(act), -1, "cannot %s %s: %s takes *, ? and [ for a pattern", act_names[act],
                  name, known->program);
    tm_hint(&run->error, "pass another command with %s", act_options[act]);
    return NULL;
}

/* A command as the words of a child: blanks separate them, quotes keep them.  Placeholders are replaced in the words,
 * so an address is never more than one. */
struct words {
    char *word[WORDS_MOST + 1]; /* NULL after the last one */
    size_t count, used;
    char text[WORDS_BYTES];
};

static bool put_bytes(struct words *w, const char *bytes, size_t length)
{
    if (length >= sizeof(w->text) - w->used)
        return false;
    memcpy(w->text + w->used, bytes, length);
    w->used += length;
    return true;
}

/* What placeholders represent. */
struct subject {
    const char *uri, *folder;
};

/* The value of the placeholder that is here.  out: its length; 0 = there is none */
static size_t take_placeholder(const char *at, const struct subject *of, const char **value, size_t *length)
{
    static const char *const names[] = { "{uri}", "{bucket}", "{key}", FOLDER_PLACEHOLDER };
    const char *const values[] = { of->uri, of->uri + SCHEME_BYTES, tm_remote_key(of->uri), of->folder };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!values[i] || strncmp(at, names[i], strlen(names[i])) != 0)
            continue;
        *value = values[i];
        *length = i == 1 ? bucket_bytes(of->uri) : strlen(values[i]);
        return strlen(names[i]);
    }
    return 0;
}

/* One word of the command.  out: where it ends; NULL = it is too long, or a quote is open */
static const char *put_word(struct words *w, const char *at, const struct subject *of)
{
    char quote = 0;

    for (; *at && (quote || *at != ' ');) {
        const char *value = at;
        size_t length = 1;
        size_t taken = take_placeholder(at, of, &value, &length);

        if (!taken && (quote ? *at == quote : *at == '\'' || *at == '"')) {
            quote = quote ? 0 : *at;
            at++;
            continue;
        }
        if (!put_bytes(w, value, length))
            return NULL;
        at += taken ? taken : 1;
    }
    return quote || !put_bytes(w, "", 1) ? NULL : at;
}

static tm_status make_words(struct words *w, struct tm_run *run, const char *command, const struct subject *of)
{
    const char *at = command + strspn(command, " ");

    w->count = w->used = 0;
    while (at && *at && w->count < WORDS_MOST) {
        const char *const first = at;
        char *const word = w->text + w->used;

        w->word[w->count++] = word;
        at = put_word(w, at, of);
        if (at && *word == '-' && *first == '{')
            return tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot run '%s': a name that starts with '-' is not a word",
                           command);
        at = at ? at + strspn(at, " ") : NULL;
    }
    w->word[w->count] = NULL;
    if (!at || *at || w->count == 0) {
        (void)tm_fail(&run->error, TM_ERR_USAGE, -1, "cannot run '%s': it is empty, too long, or a quote is not closed",
                      command);
        return TM_ERR_USAGE;
    }
    return TM_OK;
}

/* --- a helper that runs --- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* In the child. */
static void run_child(char *const *word, int in, int out, int err, pid_t parent)
{
    static const char text[] = "cannot run it: ";
    sigset_t none;
    const char *reason;

    (void)sigemptyset(&none);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(err, STDERR_FILENO) < 0)
        _exit(127);
    (void)execvp(word[0], word);
    reason = strerror(errno);
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)!write(STDERR_FILENO, reason, strlen(reason));
    _exit(127);
}

/* In a second child: wait for the end of the parent, then end all processes of the helper. */
static void watch(pid_t helper, pid_t parent)
{
    sigset_t all, ends;
    int got;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGTERM);
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0)
        _exit(0);
    (void)close_range(0, ~0u, 0);
    if (getppid() == parent)
        (void)sigwait(&ends, &got);
    (void)kill(-helper, SIGTERM);
    _exit(0);
}

/* The helper gets a process group, which it would otherwise share with this process. */
static void start_watch(struct tm_helper *h)
{
    const pid_t parent = getpid();

    (void)setpgid(h->pid, h->pid);
    h->watch = fork();
    if (h->watch == 0)
        watch(h->pid, parent);
}

static void end_watch(struct tm_helper *h)
{
    if (h->watch > 0) {
        (void)kill(h->watch, SIGKILL);
        while (waitpid(h->watch, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    h->watch = 0;
}

/* in: path  of its stdin
 * out: errno; 0 = it runs */
static int start_child(struct tm_helper *h, char *const *word, const char *path)
{
    const int in = h->in = open(path, O_RDONLY | O_CLOEXEC);
    const pid_t parent = getpid();
    int out[2] = { -1, -1 }, err[2] = { -1, -1 }, problem = 0;

    if (in < 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
        problem = errno;
    if (!problem) {
        h->pid = fork();
        if (h->pid == 0 && h->has_processes)
            (void)setpgid(0, 0);
        if (h->pid == 0)
            run_child(word, in, out[1], err[1], parent);
        problem = h->pid < 0 ? errno : 0;
    }
    h->pid = problem ? 0 : h->pid;
    close_fd(&out[1]);
    close_fd(&err[1]);
    h->out = out[0];
    h->err = err[0];
    if (!problem && h->has_processes)
        start_watch(h);
    return problem;
}

/* in: path  of its stdin; of the folder to store, or to fetch to */
static tm_status start_helper(struct tm_helper *h, struct tm_run *run, enum act act, const char *path, const char *uri,
                              const char *name)
{
    const struct subject of = { uri, act == STORE_FOLDER || act == FETCH_FOLDER ? path : NULL };
    const struct known_helper *const known = find_known(run, act, uri);
    struct words words;
    const char *command, *program;
    size_t length;
    int problem;

    *h = (struct tm_helper){ .run = run,
                             .act = act_names[act],
                             .failure = status_of(act),
                             .uri = uri,
                             .name = name,
                             .has_processes = known && known->has_processes,
                             .in = -1,
                             .out = -1,
                             .err = -1 };
    command = choose_command(run, act, uri, name);
    if (!command || make_words(&words, run, command, &of))
        return run->error.status;
    program = tm_last_part(words.word[0], &length);
    tm_clean_text(h->program, sizeof(h->program), program, length);
    problem = start_child(h, words.word, of.folder ? "/dev/null" : path);
    return problem ? tm_fail_system(&run->error, status_of(act), -1, problem, "cannot run %s", h->program) : TM_OK;
}

/* Keep the end of what it says. */
static void take_said(struct tm_helper *h)
{
    char some[TM_REMOTE_SAID_BYTES / 2];
    const ssize_t got = read(h->err, some, sizeof(some));
    size_t keep, length;

    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) {
        close_fd(&h->err);
        return;
    }
    length = (size_t)got;
    keep = sizeof(h->said) - 1 - length;
    keep = h->said_bytes < keep ? h->said_bytes : keep;
    memmove(h->said, h->said + h->said_bytes - keep, keep);
    memcpy(h->said + keep, some, length);
    h->said_bytes = keep + length;
    h->said[h->said_bytes] = '\0';
}

/* The last line that starts with a word.  out: NULL = there is none */
static char *find_line(char *text, const char *word)
{
    const size_t length = strlen(word);
    char *found = NULL;

    while (text) {
        found = strncmp(text, word, length) == 0 ? text : found;
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return found;
}

/* The reason that it wrote: the last line without blanks around; or that of an error, which gcloud may end with a colon
 * and continue in the next line, and after which it may write advice.  Cuts what it said. */
static const char *find_reason(struct tm_helper *h)
{
    char *line, *error;
    size_t length;

    while (h->said_bytes > 0 && strchr(" \r\n\t", h->said[h->said_bytes - 1]))
        h->said[--h->said_bytes] = '\0';
    error = find_line(h->said, "ERROR: ");
    line = strrchr(h->said, '\n');
    if (!error)
        return line ? line + 1 : h->said;
    length = strcspn(error, "\n");
    if (error[length] && error[length - 1] == ':') {
        error[length] = ' ';
        length += strcspn(error + length, "\n");
    }
    error[length] = '\0';
    return error;
}

/* Whether it is worth another try is the caller's decision: like a file that a disk did not return. */
static tm_status refuse(struct tm_helper *h, const char *how)
{
    struct tm_error *const error = &h->run->error;
    const char *const said = find_reason(h);
    char clean[256];

    tm_clean_text(clean, sizeof(clean), said, strlen(said));
    (void)tm_fail(error, h->failure, -1, "cannot %s %s: %s %s%s%s", h->act, h->name, h->program, how,
                  said[0] ? ": " : "", clean);
    error->problem = error->problem ? error->problem : EIO;
    return h->failure;
}

/* Wait for it, and read its last messages. */
static tm_status end_helper(struct tm_helper *h)
{
    char how[64];
    int ended = 0;
    pid_t pid;

    close_fd(&h->out);
    while (h->err >= 0)
        take_said(h);
    end_watch(h);
    do {
        pid = waitpid(h->pid, &ended, 0);
    } while (pid < 0 && errno == EINTR);
    if (pid >= 0 && WIFEXITED(ended) && WEXITSTATUS(ended) == 0) {
        h->pid = 0;
        return TM_OK;
    }
    if (h->has_processes)
        (void)kill(-h->pid, SIGTERM);
    h->pid = 0;
    if (pid >= 0 && WIFSIGNALED(ended))
        (void)snprintf(how, sizeof(how), "was ended by signal %d", WTERMSIG(ended));
    else
        (void)snprintf(how, sizeof(how), "failed with status %d", pid < 0 ? -1 : WEXITSTATUS(ended));
    return refuse(h, how);
}

void tm_helper_stop(struct tm_helper *h)
{
    if (!h->run)
        return;
    close_fd(&h->in);
    close_fd(&h->out);
    close_fd(&h->err);
    end_watch(h);
    if (h->pid > 0) {
        (void)kill(h->has_processes ? -h->pid : h->pid, SIGTERM);
        while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    *h = (struct tm_helper){ .run = NULL };
}

static int wait_ms(const struct tm_helper *h)
{
    const int64_t ms = h->run->helpers.wait_ps / 1000000000;

    return h->run->helpers.wait_ps <= 0 ? -1 : ms < 1 ? 1 : ms > INT32_MAX ? INT32_MAX : (int)ms;
}

/* Whether it has read more of its stdin since the last question: a helper that stores says nothing meanwhile. */
static bool has_read(struct tm_helper *h)
{
    const off_t at = lseek(h->in, 0, SEEK_CUR);
    const bool is_further = at > h->in_at;

    h->in_at = is_further ? at : h->in_at;
    return is_further;
}

/* Wait until it has written something, or has closed its stdout.  Messages are not progress. */
static tm_status wait_for_output(struct tm_helper *h)
{
    const int most = wait_ms(h);
    char how[64];

    for (;;) {
        struct pollfd fds[] = { { .fd = h->out, .events = POLLIN }, { .fd = h->err, .events = POLLIN } };
        const int ready = poll(fds, 2, most);

        if (ready < 0 && errno != EINTR)
            return tm_fail_system(&h->run->error, h->failure, -1, errno, "cannot wait for %s", h->program);
        if (ready == 0 && !has_read(h)) {
            (void)snprintf(how, sizeof(how), "%s nothing for %.3g seconds",
                           h->failure == TM_ERR_OUTPUT ? "took" : "sent", most / 1000.0);
            (void)refuse(h, how);
            tm_hint(&h->run->error, "try again, or raise --fetch-timeout");
            return h->run->error.status;
        }
        if (ready > 0 && fds[1].revents)
            take_said(h);
        if (ready > 0 && fds[0].revents)
            return TM_OK;
    }
}

tm_status tm_helper_read(struct tm_helper *h, void *to, size_t bytes, size_t *got)
{
    *got = 0;
    while (*got < bytes && h->out >= 0) {
        ssize_t some;

        if (wait_for_output(h))
            return h->run->error.status;
        some = read(h->out, (char *)to + *got, bytes - *got);
        if (some < 0 && errno == EINTR)
            continue;
        if (some < 0)
            return tm_fail_system(&h->run->error, h->failure, -1, errno, "cannot read from %s", h->program);
        if (some == 0)
            return end_helper(h) || h->bytes || !h->may_be_missing
                       ? h->run->error.status
                       : refuse(h, "sent nothing: the object does not exist, or is empty");
        *got += (size_t)some;
        h->bytes += (uint64_t)some;
    }
    return TM_OK;
}

tm_status tm_fetch_start(struct tm_helper *h, struct tm_run *run, const char *uri, const char *name)
{
    const struct known_helper *known;

    *h = (struct tm_helper){ .run = run, .in = -1, .out = -1, .err = -1 };
    if (!bucket_bytes(uri) || !tm_remote_key(uri)[0])
        return tm_fail(&run->error, TM_ERR_INPUT, -1, "cannot fetch %s: it is not the address of an object", name);
    known = find_known(run, FETCH, uri);
    start_helper(h, run, FETCH, "/dev/null", uri, name);
    h->may_be_missing = known && known->fetches_missing;
    return run->error.status;
}

/* What it says on the way is read, and tells that it works. */
static tm_status run_helper(struct tm_run *run, enum act act, const char *path, const char *uri)
{
    char name[TM_ERROR_TEXT / 2], block[256];
    struct tm_helper h = { .run = NULL };
    size_t got = 1;

    (void)snprintf(name, sizeof(name), "'%.200s'", uri);
    if (!start_helper(&h, run, act, path, uri, name))
        while (got > 0 && !tm_helper_read(&h, block, sizeof(block), &got))
            ;
    tm_helper_stop(&h);
    return run->error.status;
}

tm_status tm_fetch_folder(struct tm_run *run, const char *folder, const char *uri)
{
    return run_helper(run, FETCH_FOLDER, folder, uri);
}

tm_status tm_store_object(struct tm_run *run, const char *path, const char *uri)
{
    return run_helper(run, STORE, path, uri);
}

tm_status tm_store_folder(struct tm_run *run, const char *folder, const char *uri)
{
    return run_helper(run, STORE_FOLDER, folder, uri);
}

/* Whether a program that is installed takes the names as they are. */
static bool known_takes(const struct tm_run *run, enum act act, const char *folder, const char *uri)
{
    const struct known_helper *const known = find_known(run, act, uri);

    return known && (!known->globs || (!strpbrk(folder, "*?[") && !strpbrk(uri, "*?[")));
}

bool tm_fetch_takes_folders(const struct tm_run *run, const char *folder, const char *uri)
{
    return known_takes(run, FETCH_FOLDER, folder, uri);
}

bool tm_store_takes_folders(const struct tm_run *run, const char *folder, const char *uri)
{
    return run->helpers.store ? strstr(run->helpers.store, FOLDER_PLACEHOLDER) != NULL
                              : known_takes(run, STORE_FOLDER, folder, uri);
}

/* --- listing --- */

/* Splits what a helper prints into objects: a JSON array of them, or one after the other. */
struct splitting {
    struct tm_helper *h;
    tm_take_object *take;
    void *to;
    const char *prefix; /* of names that are below it, with a slash at its end if it needs one */
    unsigned depth;     /* of open brackets around the object that is collected, and in it */
    bool in_string, is_escaped, is_row;
    size_t used;
    char row[32 << 10];
};

static const char *text_of(const struct tm_value *row, const char *const *names, char number[32])
{
    for (; *names; names++) {
        const struct tm_value *const v = tm_get(row, *names);

        if (tm_type_of(v) == TM_STRING)
            return tm_text(v);
        if (tm_type_of(v) == TM_INT) {
            (void)snprintf(number, 32, "%" PRId64, tm_int(v));
            return number;
        }
    }
    return "";
}

/* 2026-11-28T10:15:00.123Z, or with +00:00.  out: 0 = it is not a time */
static int64_t time_of(const char *text)
{
    struct tm when = { .tm_isdst = 0 };
    const char *at = strptime(text, "%Y-%m-%dT%H:%M:%S", &when);
    int64_t ns = 0, scale = 100000000, hours, minutes = 0;
    char sign;

    if (!at)
        return 0;
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9'; at++, scale /= 10)
            ns += (*at - '0') * scale;
    }
    sign = *at;
    if (sign == '+' || sign == '-') {
        hours = (at[1] - '0') * 10 + (at[1] ? at[2] - '0' : 0);
        at += strlen(at) >= 3 ? 3 : strlen(at);
        at += *at == ':';
        if (at[0] && at[1])
            minutes = (at[0] - '0') * 10 + at[1] - '0';
        ns -= (sign == '+' ? 1 : -1) * (hours * 60 + minutes) * INT64_C(60000000000);
    }
    return (int64_t)timegm(&when) * INT64_C(1000000000) + ns;
}

static tm_status take_row(struct splitting *s)
{
    static const char *const keys[] = { "name", "Key", "Path", NULL };
    static const char *const sizes[] = { "size", "Size", NULL };
    static const char *const versions[] = { "version", "ETag", "generation", NULL };
    static const char *const times[] = { "modified", "LastModified", "ModTime", "update_time", NULL };
    static const char *const ends[] = { "noncurrent_time", NULL };
    struct tm_run *const run = s->h->run;
    struct tm_doc *const doc = tm_doc_new(run);
    const struct tm_value *row;
    char key[TM_REMOTE_URI_MOST], number[5][32];
    struct tm_object object;
    int length;

    if (!doc)
        return run->error.status;
    if (!tm_doc_read(doc, tm_doc_root(doc), s->row, s->used, "the list of objects")) {
        const char *name, *size;

        row = tm_doc_root(doc);
        name = text_of(row, keys, number[0]);
        size = text_of(row, sizes, number[1]);
        object = (struct tm_object){ .key = key,
                                     .modified_ns = time_of(text_of(row, times, number[3])),
                                     .version = text_of(row, versions, number[2]) };
        length = snprintf(key, sizeof(key), "%s%s", tm_has(tm_get(row, "Path")) ? s->prefix : "", name);
        if (name[0] && length > 0 && (size_t)length < sizeof(key) && tm_take_digits(&size, &object.bytes) &&
            !text_of(row, ends, number[4])[0])
            (void)s->take(s->to, &object);
    }
    tm_doc_free(doc);
    return run->error.status;
}

static tm_status refuse_row(struct splitting *s, const char *reason)
{
    return tm_fail(&s->h->run->error, TM_ERR_INPUT, -1, "cannot list %s: the output of %s %s", s->h->name,
                   s->h->program, reason);
}

static tm_status split_byte(struct splitting *s, char c)
{
    const bool opens = !s->in_string && (c == '{' || c == '['), closes = !s->in_string && (c == '}' || c == ']');

    if (!s->is_row && c == '{') {
        s->is_row = true;
        s->depth = 0;
        s->used = 0;
    }
    if (!s->is_row)
        return strchr(" \t\r\n,[]", c) || strchr("null", c) ? TM_OK : refuse_row(s, "is not a JSON list of objects");
    if (s->used == sizeof(s->row))
        return refuse_row(s, "has too long an entry");
    s->row[s->used++] = c;
    if (s->in_string && s->is_escaped)
        s->is_escaped = false;
    else if (s->in_string && c == '\\')
        s->is_escaped = true;
    else if (c == '"')
        s->in_string = !s->in_string;
    s->depth += opens;
    s->depth -= closes;
    if (s->depth > 0)
        return TM_OK;
    s->is_row = false;
    return take_row(s);
}

static tm_status split_all(struct splitting *s, const char *bytes, size_t length)
{
    tm_status st = TM_OK;

    for (size_t i = 0; i < length && !st; i++)
        st = split_byte(s, bytes[i]);
    return st;
}

tm_status tm_remote_list(struct tm_run *run, const char *uri, tm_take_object *take, void *to)
{
    struct splitting *const s = tm_take(&run->budget, TM_ACCOUNT_INPUT, sizeof(*s), &run->error);
    const char *const key = tm_remote_key(uri);
    char name[TM_ERROR_TEXT / 2], prefix[TM_REMOTE_URI_MOST + 1], block[4096];
    struct tm_helper h = { .run = NULL };
    size_t got = 1;

    if (!s)
        return run->error.status;
    (void)snprintf(prefix, sizeof(prefix), "%s%s", key, key[0] && !tm_has_ending(key, "/") ? "/" : "");
    (void)snprintf(name, sizeof(name), "'%.200s'", uri);
    s->h = &h;
    s->take = take;
    s->to = to;
    s->prefix = prefix;
    if (!start_helper(&h, run, LISTING, "/dev/null", uri, name)) {
        while (!tm_failed(run) && got > 0) {
            if (!tm_helper_read(&h, block, sizeof(block), &got))
                (void)split_all(s, block, got);
        }
        if (!tm_failed(run) && s->is_row)
            (void)refuse_row(s, "ends inside an object");
    }
    tm_helper_stop(&h);
    tm_give(&run->budget, TM_ACCOUNT_INPUT, s, sizeof(*s));
    return run->error.status;
}

/* --- remove --- */

bool tm_remove_has_helper(const struct tm_run *run)
{
    return run->helpers.remove || !run->helpers.store;
}

static void put_json_string(FILE *to, const char *text)
{
    for (; *text; text++)
        tm_json_put_byte(to, (unsigned char)*text);
}

/* The names in a file, one a line, as a helper reads them. */
static void put_request(FILE *to, FILE *names, enum request request, const char *uri)
{
    const char *const key = tm_remote_key(uri);
    char name[TM_REMOTE_URI_MOST];

    if (request == S3_KEYS)
        (void)fputs("{\"Objects\":[", to);
    for (size_t count = 0; fgets(name, sizeof(name), names); count++) {
        name[strcspn(name, "\n")] = '\0';
        if (request != S3_KEYS) {
            (void)fprintf(to, "%s%s%s\n", request == NAMES ? "" : uri, request == NAMES ? "" : "/", name);
            continue;
        }
        (void)fprintf(to, "%s{\"Key\":\"", count ? "," : "");
        put_json_string(to, key);
        put_json_string(to, key[0] ? "/" : "");
        put_json_string(to, name);
        (void)fputs("\"}", to);
    }
    if (request == S3_KEYS)
        (void)fputs("],\"Quiet\":true}\n", to);
}

static tm_status write_request(struct tm_run *run, const char *path, const char *names, enum request request,
                               const char *uri)
{
    FILE *const from = fopen(names, "re"), *const to = from ? fopen(path, "we") : NULL;
    bool is_written = false;

    if (to) {
        put_request(to, from, request, uri);
        is_written = !ferror(from) && !ferror(to);
        is_written = fclose(to) == 0 && is_written;
    }
    if (!is_written)
        (void)tm_fail_system(&run->error, TM_ERR_OUTPUT, -1, errno, "cannot write '%s'", path);
    if (from)
        (void)fclose(from);
    return run->error.status;
}

/* Start the helper, and read what it prints to the end. */
static tm_status request_removal(struct tm_run *run, const struct known_helper *known, const char *request,
                                 const char *uri)
{
    char name[TM_ERROR_TEXT / 2], answer[256], rest[256], clean[256];
    struct tm_helper h = { .run = NULL };
    size_t got = 0, more = 1;

    (void)snprintf(name, sizeof(name), "'%.200s'", uri);
    if (!start_helper(&h, run, REMOVE, request, uri, name) && !tm_helper_read(&h, answer, sizeof(answer) - 1, &got))
        while (more > 0 && !tm_helper_read(&h, rest, sizeof(rest), &more))
            ;
    while (got > 0 && strchr(" \r\n\t", answer[got - 1]))
        got--;
    answer[got] = '\0';
    if (!tm_failed(run) && known && known->prints_refusals && got > 0 && strcmp(answer, "None") != 0) {
        tm_clean_text(clean, sizeof(clean), answer, got);
        (void)tm_fail(&run->error, TM_ERR_OUTPUT, -1, "cannot remove objects below %s: %s refused: %s", name,
                      known->program, clean);
    }
    tm_helper_stop(&h);
    return run->error.status;
}

/* Looks for objects that should have been removed. */
struct remaining {
    char *text;                          /* the names, each with a NUL behind it */
    char *names[TM_REMOTE_REMOVED_MOST]; /* sorted */
    size_t count, prefix_bytes;
    bool is_any;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static tm_status find_remaining(void *to, const struct tm_object *object)
{
    struct remaining *const r = to;
    const char *const name = object->key + r->prefix_bytes;

    if (strlen(object->key) > r->prefix_bytes && bsearch(&name, r->names, r->count, sizeof(r->names[0]), by_name))
        r->is_any = true;
    return TM_OK;
}

static void sort_names(struct remaining *r, size_t bytes)
{
    for (char *at = r->text, *const end = r->text + bytes; at < end && r->count < TM_REMOTE_REMOVED_MOST; at++) {
        r->names[r->count++] = at;
        at += strcspn(at, "\n");
        *at = '\0';
    }
    qsort(r->names, r->count, sizeof(r->names[0]), by_name);
}

/* After a failure: whether the bucket has none of the objects any more, and it is none. */
static bool are_gone(struct tm_run *run, FILE *names, const char *uri)
{
    const struct tm_error failure = run->error;
    struct remaining r = { .is_any = true };
    char prefix[TM_REMOTE_URI_MOST + 2];
    struct stat info;
    size_t bytes;

    if (!names || fstat(fileno(names), &info) != 0)
        return false;
    run->error = (struct tm_error){ .status = TM_OK };
    bytes = (size_t)info.st_size + 1;
    r.text = tm_take(&run->budget, TM_ACCOUNT_INPUT, bytes, &run->error);
    if (r.text) {
        const size_t got = fread(r.text, 1, bytes - 1, names);

        r.text[got] = '\0';
        r.is_any = false;
        sort_names(&r, got);
        (void)snprintf(prefix, sizeof(prefix), "%s/", uri);
        r.prefix_bytes = strlen(tm_remote_key(prefix));
        tm_remote_list(run, prefix, find_remaining, &r);
        tm_give(&run->budget, TM_ACCOUNT_INPUT, r.text, bytes);
    }
    if (tm_failed(run) || r.is_any)
        run->error = failure;
    return !tm_failed(run);
}

tm_status tm_remove_objects(struct tm_run *run, const char *names, const char *uri)
{
    const struct known_helper *const known = find_known(run, REMOVE, uri);
    char request[TM_REMOTE_URI_MOST + 16];
    FILE *file;

    (void)snprintf(request, sizeof(request), "%s.request", names);
    if (write_request(run, request, names, known ? known->request : ADDRESSES, uri) ||
        !request_removal(run, known, request, uri) || !known || !known->fails_for_missing)
        return run->error.status;
    file = fopen(names, "re");
    (void)are_gone(run, file, uri);
    if (file)
        (void)fclose(file);
    return run->error.status;
}
