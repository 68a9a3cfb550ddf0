/* SPDX-License-Identifier: Apache-2.0 */
/* The program on one file with damage after damage: a process per case, forked from this one, so that a hundred thousand
 * cases take minutes, and a crash, an endless loop or memory without end are those of one case.
 *
 *   damage [-s SUMMARY] [-w WRITTEN] [-c SECONDS] FILE -- ARGUMENTS <CASES     arguments as of tracemill, which name FILE
 *
 * FILE is damaged in place and whole again at the end.  Each line of CASES is a case: "cut LENGTH", "set PLACE BYTE",
 * "whole".  Each gives a line of JSON:
 *   wrote    whether WRITTEN was there
 *   status   the exit status; 128 + N: ended by signal N (SIGXCPU, SIGALRM: it did not end)
 *   events, partial, digest, tallies   of SUMMARY, which goes away: events_read and input.partial, a hash of all members
 *            but `tool`, `input` and `coverage`, a hash of the tallies; null where there is none
 *   devices  of SUMMARY: a hash of each device's row, without what refers to the window that all devices share
 *   out      a hash of what was printed, and of WRITTEN, a file or a folder of files, which go away
 *   rss_kib, cpu_ms   what the process took at most
 *   said     the first line on stderr; "sanitizer": true where one spoke */
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xxhash.h>

/* The program's own, called by another name: this one is `main`. */
int tracemill_main(int argc, char **argv);
#define main tracemill_main
#include "pipeline/main.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { SAID_BYTES = 240, CASE_BYTES = 128, WORD_BYTES = 4, ARGUMENTS_MOST = 32 };

struct text {
    char *at;
    size_t length, room;
};

struct job {
    int fd, out, err; /* FILE, what is printed */
    const char *summary, *written;
    unsigned seconds;
    struct text whole, text; /* FILE as it was; what is looked at, again and again */
    int argument_count;
    char **arguments;
};

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static void read_all(int fd, struct text *to)
{
    const off_t size = lseek(fd, 0, SEEK_END);

    to->length = 0;
    if (size < 0)
        give_up("damage: seek");
    if ((size_t)size + 1 > to->room) {
        to->room = (size_t)size + (64 << 10);
        to->at = realloc(to->at, to->room);
    }
    if (!to->at || pread(fd, to->at, (size_t)size, 0) != (ssize_t)size)
        give_up("damage: read");
    to->length = (size_t)size;
    to->at[size] = '\0';
}

/* ---- one process ---- */

static void play(const struct job *job)
{
    const struct rlimit cpu = { .rlim_cur = job->seconds, .rlim_max = job->seconds + 1 };

    if (dup2(job->out, STDOUT_FILENO) < 0 || dup2(job->err, STDERR_FILENO) < 0 || setrlimit(RLIMIT_CPU, &cpu) != 0)
        _exit(125);
    (void)alarm(10 * job->seconds);
    exit(tracemill_main(job->argument_count, job->arguments));
}

static int status_of(struct job *job, struct rusage *usage)
{
    int ended;
    pid_t child;

    if (ftruncate(job->out, 0) != 0 || ftruncate(job->err, 0) != 0 || lseek(job->out, 0, SEEK_SET) != 0 ||
        lseek(job->err, 0, SEEK_SET) != 0)
        give_up("damage: memory");
    (void)fflush(stdout);
    child = fork();
    if (child < 0)
        give_up("damage: fork");
    if (child == 0)
        play(job);
    if (wait4(child, &ended, 0, usage) != child)
        give_up("damage: wait");
    return WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
}

/* ---- what it left ---- */

/* A member of the top level of a document that is printed with two spaces for a level: its text up to the next one.
 * out: NULL = no more */
static const char *next_member(const char *at, size_t *length)
{
    const char *const begin = at ? strstr(at, "\n  \"") : NULL, *end;

    if (!begin)
        return NULL;
    end = begin + 1;
    do
        end = strstr(end, "\n  ");
    while (end && (end[3] == ' ' || end[3] == ']' || end[3] == '}') && end++);
    *length = end ? (size_t)(end - begin) : strlen(begin);
    return begin;
}

static bool is_member(const char *member, const char *key)
{
    const size_t length = strlen(key);

    return strncmp(member + 4, key, length) == 0 && member[4 + length] == '"';
}

/* Figures of a device that depend on when others were active, or came to its collectives. */
static bool is_of_window(const char *member, size_t length)
{
    /* clang-format off */
    static const char *const keys[] = { "\"window_begin_ps\"", "\"window_end_ps\"", "\"span_ps\"", "\"idle_ps\"",
                                        "\"lead_ps\"", "\"trail_ps\"", "\"utilization_pct\"", "\"utilization\"",
                                        "\"gaps\"", "\"steps\"", "\"aliases\"", "\"exposed_wait_ps\"",
                                        "\"exposed_move_ps\"", "\"exposed_unmatched_ps\"", "\"why\"" };
    /* clang-format on */

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (length > strlen(keys[i]) && strncmp(member, keys[i], strlen(keys[i])) == 0)
            return true;
    return false;
}

/* The hash of one row, which begins behind its brace.  out: where it ends */
static const char *hash_row(const char *at, XXH64_hash_t *hash)
{
    static const char indent[] = "\n      \"";

    *hash = 0;
    while (strncmp(at, indent, sizeof(indent) - 1) == 0) {
        const char *const member = at + sizeof(indent) - 2;
        const char *end = member;

        do
            end = strchr(end, '\n');
        while (end && strncmp(end, "\n    }", 6) != 0 && strncmp(end, indent, sizeof(indent) - 1) != 0 && end++);
        if (!end)
            break;
        if (!is_of_window(member, (size_t)(end - member))) /* a comma at the end is there with every key but the last */
            *hash ^= XXH3_64bits(member, (size_t)(end - member));
        at = end;
    }
    return at;
}

static void print_devices(const char *member, size_t length)
{
    const char *const after = member + length, *at = member;
    const char *separator = "";

    (void)fputs("\"devices\":[", stdout);
    while ((at = strstr(at, "\n    {")) && at < after) {
        XXH64_hash_t hash;

        at = hash_row(at + 6, &hash);
        (void)printf("%s\"%016" PRIx64 "\"", separator, (uint64_t)hash);
        separator = ",";
    }
    (void)fputs("],", stdout);
}

static void print_summary(struct job *job)
{
    FILE *const file = job->summary ? fopen(job->summary, "r") : NULL;
    XXH64_hash_t digest = 0, tallies = 0;
    const char *found, *partial = "false";
    uint64_t events = 0;
    size_t length = 0;

    if (!file) {
        (void)fputs("\"events\":null,\"partial\":null,\"digest\":null,\"tallies\":null,", stdout);
        return;
    }
    read_all(fileno(file), &job->text);
    (void)fclose(file);
    (void)unlink(job->summary);
    for (const char *member = next_member(job->text.at, &length); member;
         member = next_member(member + length, &length)) {
        const bool is_input = is_member(member, "input"), is_coverage = is_member(member, "coverage");

        if (is_input && (found = strstr(member, "\n    \"partial\": ")) && found < member + length)
            partial = strncmp(found + 16, "true", 4) == 0 ? "true" : "false";
        if (is_coverage && (found = strstr(member, "\"events_read\": ")) && found < member + length)
            events = strtoull(found + 15, NULL, 10);
        if (is_coverage && (found = strstr(member, "\"tallies\": ")) && found < member + length)
            tallies = XXH3_64bits(found, length - (size_t)(found - member));
        if (is_member(member, "devices"))
            print_devices(member, length);
        if (!is_input && !is_coverage && !is_member(member, "tool"))
            digest ^= XXH3_64bits(member, length);
    }
    (void)printf("\"events\":%" PRIu64 ",\"partial\":%s,\"digest\":\"%016" PRIx64 "\",\"tallies\":\"%016" PRIx64 "\",",
                 events, partial, (uint64_t)digest, (uint64_t)tallies);
}

static void print_said(struct job *job)
{
    static const char *const sanitizers[] = { "Sanitizer", "runtime error:" };
    bool has_spoken = false;

    read_all(job->err, &job->text);
    for (size_t i = 0; i < sizeof(sanitizers) / sizeof(*sanitizers); i++)
        has_spoken = has_spoken || memmem(job->text.at, job->text.length, sanitizers[i], strlen(sanitizers[i]));
    (void)printf("\"sanitizer\":%s,\"said\":\"", has_spoken ? "true" : "false");
    for (size_t i = 0; i < SAID_BYTES && i < job->text.length && (has_spoken || job->text.at[i] != '\n'); i++) {
        const char c = job->text.at[i];

        (void)putchar(c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c);
    }
    (void)fputs("\"}\n", stdout);
}

/* The hash of a file, which goes away; 0 = there is none. */
static XXH64_hash_t take_file(struct job *job, int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    read_all(fd, &job->text);
    (void)close(fd);
    (void)unlinkat(folder, name, 0);
    return XXH3_64bits_withSeed(job->text.at, job->text.length, XXH3_64bits(name, strlen(name)));
}

/* The hash of WRITTEN, a file or a folder of them; 0 = there is none. */
static XXH64_hash_t take_written(struct job *job)
{
    DIR *const folder = job->written ? opendir(job->written) : NULL;
    XXH64_hash_t hash = 0;

    if (!folder)
        return job->written ? take_file(job, AT_FDCWD, job->written) : 0;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        if (entry->d_type == DT_REG)
            hash ^= take_file(job, dirfd(folder), entry->d_name);
    (void)closedir(folder);
    return hash;
}

static void print_case(struct job *job)
{
    struct rusage usage;
    const int status = status_of(job, &usage);
    const long cpu_ms = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
                        (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;

    const XXH64_hash_t written = take_written(job);

    (void)printf("{\"status\":%d,\"wrote\":%s,", status, written ? "true" : "false");
    print_summary(job);
    read_all(job->out, &job->text);
    (void)printf("\"out\":\"%016" PRIx64 "\",\"rss_kib\":%ld,\"cpu_ms\":%ld,",
                 (uint64_t)(XXH3_64bits(job->text.at, job->text.length) ^ written), usage.ru_maxrss, cpu_ms);
    print_said(job);
}

/* ---- damage ---- */

static void put_back(struct job *job, size_t from)
{
    const size_t length = job->whole.length - from;

    if (pwrite(job->fd, job->whole.at + from, length, (off_t)from) != (ssize_t)length)
        give_up("damage: write");
}

static void cut(struct job *job, size_t length)
{
    if (length > job->whole.length || ftruncate(job->fd, (off_t)length) != 0)
        give_up("damage: cut");
    print_case(job);
    put_back(job, length);
}

static void set_byte(struct job *job, size_t place, unsigned value)
{
    const uint8_t byte = (uint8_t)value;

    if (place >= job->whole.length || pwrite(job->fd, &byte, 1, (off_t)place) != 1)
        give_up("damage: write");
    print_case(job);
    if (pwrite(job->fd, job->whole.at + place, 1, (off_t)place) != 1)
        give_up("damage: write");
}

static void play_cases(struct job *job)
{
    char line[CASE_BYTES];

    while (fgets(line, sizeof(line), stdin)) {
        if (strncmp(line, "cut ", WORD_BYTES) == 0) {
            cut(job, strtoull(line + WORD_BYTES, NULL, 10));
        } else if (strncmp(line, "set ", WORD_BYTES) == 0) {
            char *value;
            const size_t place = strtoull(line + WORD_BYTES, &value, 10);

            set_byte(job, place, (unsigned)strtoul(value, NULL, 10));
        } else {
            print_case(job);
        }
    }
}

int main(int argc, char **argv)
{
    static char *arguments[ARGUMENTS_MOST + 2];
    struct job job = { .seconds = 20, .arguments = arguments };
    int option;

    while ((option = getopt(argc, argv, "+s:w:c:")) != -1) {
        if (option == 's')
            job.summary = optarg;
        else if (option == 'w')
            job.written = optarg;
        else if (option == 'c')
            job.seconds = (unsigned)strtoul(optarg, NULL, 10);
        else
            return 2;
    }
    if (argc - optind < 3 || argc - optind > ARGUMENTS_MOST || strcmp(argv[optind + 1], "--") != 0)
        return 2;
    job.fd = open(argv[optind], O_RDWR | O_CLOEXEC);
    job.out = memfd_create("out", MFD_CLOEXEC);
    job.err = memfd_create("err", MFD_CLOEXEC);
    if (job.fd < 0 || job.out < 0 || job.err < 0)
        give_up("damage: open");
    read_all(job.fd, &job.whole);
    arguments[0] = argv[0];
    for (job.argument_count = 1; argv[optind + 1 + job.argument_count]; job.argument_count++)
        arguments[job.argument_count] = argv[optind + 1 + job.argument_count];
    optind = 0; /* the program reads a command line of its own */
    play_cases(&job);
    free(job.whole.at);
    free(job.text.at);
    return 0;
}
